"""Section 3: padded inputs, sequences, target functions, counting, the losses.

The padding is that of footnote 3 for tokens whose norm is at most 1 with the coordinate 1/2 included. The losses named
as examples are in the class up to the factor of footnote 4, and with the distance, not its square. The class of targets
needs no condition on the last coordinate of w, although lemma 5.1 has one: its function H extends. The proofs are in
`proofs/conventions.md` and `proofs/linearisation.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from lemmata.constructions.recurrent.concepts import (
    Part,
    TargetFunction,
    input_sequence,
    interaction,
    lag_networks,
    null_sequence,
    padded,
)
from lemmata.constructions.recurrent.elman import ElmanNetwork, random_elman, trace
from lemmata.constructions.recurrent.indicator import Partner, indicator_function
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.exact.linear import inverse
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.recurrent.complexities import complexity, polynomial, smooth_complexity
from lemmata.numerics.recurrent.losses import clipped_square, cross_entropy, distance, scaled_cross_entropy
from lemmata.theorems.evidence import check, proof_steps

DATA = "rnn-sgd:definition-data"
CLASS = "rnn-sgd:definition-concept-class"
LOSS = "rnn-sgd:definition-loss"
PYTHAGOREAN = (
    (0, 0),
    (1, 0),
    (Fraction(3, 5), Fraction(4, 5)),
    (Fraction(1, 2), Fraction(-1, 3)),
    (Fraction(-1, 7), 0),
)


@check(DATA, grade="exact", target="printed", cases="5 vectors of the plane, of norm 0 to 1")
@proof_steps("conventions.md: 1")
@pytest.mark.parametrize("z", PYTHAGOREAN, ids=str)
def test_padding_has_norm_one(z: tuple[Fraction, ...]) -> None:
    """Norm 1 and last coordinate 1/2, in the field of the roots; <(w, 0, 0), x*> = (sqrt 3/2) <w, z>.

    It is the printed padding of the token ((sqrt 3/2) z, 1/2): the root of 1 - |token|^2 as the second last coordinate.
    Without the scale, beside the root of 1 - |z|^2, the coordinate 1/2 makes the square of the norm 5/4.
    """
    x = padded(z)
    assert (x * x).sum() == 1
    assert x[-1] == fmpq(1, 2)
    assert all(entry * 2 == sqrt_rational(3) * v for entry, v in zip(x, as_exact(list(z)), strict=False))
    assert x[-2] >= 0
    token = np.delete(x, len(x) - 2)
    assert x[-2] * x[-2] == 1 - (token * token).sum()
    unscaled = x[:-1] * x[:-1] * fmpq(4, 3)  # the squares of (z, sqrt(1 - |z|^2))
    assert unscaled.sum() + x[-1] * x[-1] == fmpq(5, 4)


@check("rnn-sgd:definition-3.2", grade="exact", target="printed", cases="L = 3, ..., 7, eps_x = 1/2, 1/10")
@proof_steps("linearisation.md: 6")
@pytest.mark.parametrize("epsilon", [fmpq(1, 2), fmpq(1, 10)])
def test_both_sequences_are_normalised(epsilon: fmpq) -> None:
    """|x_1| = 1 and |x_l| = eps_x for the actual sequence of padded inputs and for the null sequence."""
    for length in range(3, 8):
        inputs = np.stack([padded(PYTHAGOREAN[l % 5]) for l in range(length - 2)])
        for sequence in (input_sequence(inputs, epsilon), null_sequence(length, 4, epsilon)):
            squares = [(row * row).sum() for row in sequence]
            assert squares == [1] + [epsilon * epsilon] * (length - 1)
        assert (input_sequence(inputs, epsilon)[1:-1, :-1] == inputs * epsilon).all()
        assert (input_sequence(inputs, epsilon)[1:-1, -1] == 0).all()
        assert null_sequence(length, 4, epsilon)[:, -1].tolist() == [1] + [epsilon] * (length - 1)


@check(
    "rnn-sgd:definition-3.3",
    grade="sampled",
    target="printed",
    cases="m = 800, d = 200, d_x + 1 = 300 (seed 1); 20 rational networks of width 5 (seeds 0 to 19)",
)
def test_the_network_and_its_initialisation() -> None:
    """Entries of W and A of variance 2/m, those of B of variance 1/d, normal and not paired; the forward pass.

    Means, variances and fourth moments lie within five standard errors: the variances within 2 %, since there are
    160,000 entries or more. A standard deviation of 2/m in the place of the variance would be 20 times too small.
    """
    network = random_elman(800, 300, 200, np.random.default_rng(1))
    for part, variance in ((network.state, 2 / 800), (network.token, 2 / 800), (network.readout, 1 / 200)):
        error = 5 / math.sqrt(part.size)
        assert abs(float((part**2).mean()) / variance - 1) < math.sqrt(2) * error < 0.02
        assert abs(float(part.mean())) < math.sqrt(variance) * error
        assert abs(float((part**4).mean()) / variance**2 - 3) < math.sqrt(96) * error
    above = np.triu_indices(800, 1)
    assert abs(float((network.state[above] * network.state.T[above]).mean())) < 2 / 800 * 5 / math.sqrt(len(above[0]))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        W, A, B = (as_exact(rng.integers(-3, 4, size=shape)) for shape in ((5, 5), (5, 2), (2, 5)))
        x = as_exact(rng.integers(-3, 4, size=(4, 2)))
        h = as_exact(np.zeros(5, dtype=int))
        outputs = ElmanNetwork(W, A, B).layer()(x)
        for l in range(4):
            h = np.array([max(v, fmpq(0)) for v in W @ h + A @ x[l]], dtype=object)
            assert (outputs[l] == B @ h).all()


@check(
    "rnn-sgd:remark-3.4",
    grade="exact",
    target="printed",
    cases="20 rational networks of width 5, L = 4 (seeds 0 to 19)",
)
@proof_steps("linearisation.md: 5")
def test_remarks_on_the_input() -> None:
    """eps_x scales A; x_1 acts like a start h_0 with W h_0 = A x_1; y_j sees x_j through A and D_j alone."""
    started = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        W, A, B = (as_exact(rng.integers(-3, 4, size=shape)) for shape in ((5, 5), (5, 2), (2, 5)))
        x, network = as_exact(rng.integers(-3, 4, size=(4, 2))), ElmanNetwork(W, A, B)
        epsilon = fmpq(1, 3)
        assert (trace(network, epsilon * x).outputs == trace(ElmanNetwork(W, epsilon * A, B), x).outputs).all()
        other = x.copy()
        other[3] = -x[3]
        first, second = trace(network, x), trace(network, other)
        assert (first.states[:4] == second.states[:4]).all()
        before = [W @ first.states[3] + A @ token[3] for token in (x, other)]
        assert (before[0] - before[1] == 2 * (A @ x[3])).all()
        assert (first.states[0] == 0).all()
        if W_inverse_exists(W):
            started += 1
            h = inverse(W) @ (A @ x[0])
            for l in range(4):
                g = W @ h + (A @ x[l] if l else 0)
                h = np.array([max(v, fmpq(0)) for v in g], dtype=object)
                assert (B @ h == first.outputs[l]).all()
    assert started >= 15


def W_inverse_exists(W: np.ndarray) -> bool:
    return abs(np.linalg.det(W.astype(float))) > 0.5  # an integer


def _exact_inputs(length: int, width: int, seed: int) -> np.ndarray:
    """Integer stand-ins for x*_2, ..., x*_(L-1): a target function is defined for all vectors."""
    return as_exact(np.random.default_rng(seed).integers(-5, 6, size=(length - 2, width)))


def _target() -> TargetFunction:
    axis, mixed = as_exact([1, 0, 0]), as_exact([Fraction(3, 5), Fraction(4, 5), 0])
    parts = (
        Part(2, 4, 0, (0, 1), axis),  # pyright: ignore[reportArgumentType]
        Part(3, 4, 1, (0, 0, -2), mixed),  # pyright: ignore[reportArgumentType]
        Part(2, 4, 1, (0, 1, 0, fmpq(1, 2)), axis),  # pyright: ignore[reportArgumentType]
        Part(4, 5, 0, (0, 0, 0, 0, 3), mixed),  # pyright: ignore[reportArgumentType]
    )
    return TargetFunction(5, 2, parts)


@check(
    CLASS,
    grade="exact",
    target="printed",
    cases="a target with four parts, 30 inputs (seeds 0 to 29), all pairs of tokens",
)
@proof_steps("conventions.md: 2")
def test_targets_add_up_over_the_tokens() -> None:
    """The values by fractions, all mixed second differences 0; and a product of two tokens is found out."""
    target = _target()
    for seed in range(30):
        x, y = _exact_inputs(5, 3, seed), _exact_inputs(5, 3, 100 + seed)
        a, b, c = ([Fraction(int(v.p)) for v in row] for row in x)
        mixed = [(3 * v[0] + 4 * v[1]) / 5 for v in (b, c)]
        expected = [[0, 0], [0, 0], [0, 0], [a[0], -2 * mixed[0] ** 2 + a[0] + a[0] ** 3 / 2], [3 * mixed[1] ** 4, 0]]
        assert [[Fraction(int(v.p), int(v.q)) for v in row] for row in target(x)] == expected
        for pair in ((0, 1), (0, 2), (1, 2)):
            assert not interaction(target, x, y, pair).any()
    x, y = as_exact([[1, 0, 0]] * 3), as_exact([[2, 0, 0]] * 3)
    assert interaction(lambda z: z[0] * z[1], x, y, (0, 1)).any()


@check(
    CLASS,
    grade="numeric",
    target="printed",
    cases="w = (3/5, 4/5) and (0, 1), three polynomials, sigma^2 = 0, 2, three t, both partners",
)
@proof_steps("conventions.md: 3")
@pytest.mark.parametrize("partner", ["linear", "sign"])
@pytest.mark.parametrize("coefficients", [[0, 1], [1, 2, -1], [0, 0, 1, 4]], ids=str)
def test_directions_with_a_last_coordinate(coefficients: list[int], partner: Partner) -> None:
    """The mean is Phi(<w, x>) on target, and tends to Phi(0) off target, by quadrature, which is 1 once."""
    points, weights = np.polynomial.legendre.leggauss(300)
    alpha, half = 14 * points, 6.5 * (points + 1)
    beta = np.concatenate([half, -half])
    density = [np.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in (alpha, beta)]
    first, second = 14 * weights * density[0], np.tile(6.5 * weights, 2) * density[1]
    grid = np.meshgrid(alpha, beta, indexing="ij")
    for rest, last in ((fmpq(3, 5), fmpq(4, 5)), (fmpq(0), fmpq(1))):
        shifted = _shifted(coefficients, rest, last)
        for variance in (0, 2):
            function = indicator_function(shifted, variance, partner, far=coefficients[0])
            values = function(*grid)
            assert abs(first @ values @ second - 2 * coefficients[0]) < 1e-9
            for t in (-0.8, 0.1, 0.8):
                argument = float(rest.p) / float(rest.q) * t + float(last.p) / float(last.q) / 2
                wanted = sum(c * argument**k for k, c in enumerate(coefficients))
                for gamma_variance, expected, tolerance in (
                    (variance, wanted, 1e-9),
                    (10**12, coefficients[0], 1e-4),
                ):
                    tau = math.sqrt(0.75 - t * t + gamma_variance)
                    assert (
                        abs(first @ (values * ndtr((t * grid[0] + grid[1] / 2) / tau)) @ second - expected) < tolerance
                    )


def _shifted(coefficients: list[int], rest: fmpq, last: fmpq) -> list[fmpq]:
    """The coefficients of Psi(t) = Phi(rest t + last/2)."""
    powers = [
        [math.comb(k, i) * rest**i * (last / 2) ** (k - i) for i in range(k + 1)] for k in range(len(coefficients))
    ]
    return [
        sum((c * row[i] for c, row in zip(coefficients, powers, strict=True) if i < len(row)), fmpq(0))
        for i in range(len(coefficients))
    ]


@check(
    CLASS,
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="four polynomials, four w with last coordinates from 0 to 1, K = 25, S = 1, 3; eps from 1/2 to 10^-40",
)
@proof_steps("conventions.md: 3")
@pytest.mark.parametrize("coefficients", [[0, 1], [0, 2, -1], [0, 0, 1, 4], [0] * 9 + [1]], ids=str)
def test_complexities_of_shifted_polynomials(coefficients: list[int]) -> None:
    """C_s(Psi, S) <= C_s(Phi, 3 S/2) and C_eps(Psi, S) <= C_eps(Phi, 3 S)."""
    phi = polynomial(coefficients)
    for rest, last in ((1, 0), (fmpq(3, 5), fmpq(4, 5)), (fmpq(4, 5), fmpq(-3, 5)), (0, 1)):
        psi = polynomial(_shifted(coefficients, fmpq(rest), fmpq(last)))
        for S in (1, 3):
            assert smooth_complexity(psi, S, 25) <= smooth_complexity(phi, fmpq(3 * S, 2), 25)
            for epsilon in (fmpq(1, 2), fmpq(1, 1000), fmpq(1, 10**40)):
                assert complexity(psi, S, epsilon, 25) <= complexity(phi, 3 * S, epsilon, 25)


@check(
    "rnn-sgd:example-3.5",
    grade="exact",
    target="printed",
    cases="L = 5, p = 3, d = 2, phi of degree 3; 20 inputs (seeds 0 to 19)",
)
@proof_steps("conventions.md: 4")
def test_networks_per_lag_are_targets() -> None:
    """F*_j = sum_(i < j) A_(j-i) phi(V_(j-i) x_i), by fractions, against the target function of its parts."""
    hidden = [
        as_exact(V)
        for V in (
            [[3, 4, 0], [0, 2, 0], [-1, 0, 0]],
            [[5, 12, 0], [1, 0, 0], [0, -3, 0]],
            [[8, -6, 0], [0, 1, 0], [7, 24, 0]],
        )
    ]
    readouts = [as_exact(A) for A in ([[1, -2, 3], [0, 1, 1]], [[2, 0, -1], [1, 1, 1]], [[1, 1, 0], [3, -1, 2]])]
    coefficients = (0, 1, -2, fmpq(1, 3))
    target = lag_networks(5, hidden, readouts, coefficients)
    assert len(target.parts) == 3 * 2 * (3 + 2 + 1)
    for seed in range(20):
        x = _exact_inputs(5, 3, seed)
        for j in range(3, 6):
            total = as_exact([0, 0])
            for i in range(2, j):
                z = hidden[j - i - 1] @ x[i - 2]
                total = total + readouts[j - i - 1] @ (z - 2 * z**2 + z**3 / 3)
            assert (target(x)[j - 1] == total).all()


@check("rnn-sgd:example-3.5", grade="numeric", target="printed", supporting=True, cases="in float64, 20 inputs")
def test_networks_per_lag_in_floats() -> None:
    """The target in floats is the exact one rounded: some 40 products of numbers below 100."""
    hidden = [as_exact([[3, 4, 0], [0, 2, 0]]), as_exact([[5, 12, 0], [0, -3, 0]])]
    readouts = [as_exact([[1, -2]]), as_exact([[2, -1]])]
    target = lag_networks(4, hidden, readouts, (0, 1, -2, fmpq(1, 3)))
    rounded = replace(target, parts=tuple(replace(part, direction=to_float(part.direction)) for part in target.parts))
    for seed in range(20):
        x = _exact_inputs(4, 3, seed)
        difference = rounded(to_float(x)).astype(float) - to_float(target(x))
        assert np.abs(difference).max() < 1e-9


@check("rnn-sgd:example-3.6", grade="exact", target="printed", cases="a^n b^m for n, m <= 5")
@proof_steps("conventions.md: 5")
def test_counting() -> None:
    """With Phi(z) = 2 z/sqrt 3 and w = (1, 0) the last output is n - m; in units of sqrt 3/2 it is a linear part."""
    half_root = sqrt_rational(fmpq(3, 4))
    for n in range(1, 6):
        for m in range(1, 6):
            length = n + m + 2
            parts = tuple(Part(i, length, 0, (0, 2), as_exact([1, 0])) for i in range(2, length))  # pyright: ignore[reportArgumentType]
            target = TargetFunction(length, 1, parts)
            tokens = np.array([[half_root, fmpq(1, 2)]] * n + [[-half_root, fmpq(1, 2)]] * m, dtype=object)
            assert all((row * row).sum() == 1 for row in tokens)
            assert target(tokens)[-1, 0] == sqrt_rational(3) * (n - m)  # 2z, so sqrt 3 for each


def _slope(loss: Callable[[np.ndarray], float], y: np.ndarray, direction: np.ndarray) -> float:
    return abs(loss(y + 1e-6 * direction) - loss(y - 1e-6 * direction)) / 2e-6


@check(LOSS, grade="sampled", target="printed", cases="Hypothesis draws: d = 2, ..., 6, |y| up to 40")
@proof_steps("conventions.md: 6")
@given(st.integers(0, 2**32))
def test_losses_of_the_class(seed: int) -> None:
    """Slopes at most 1, convexity at a midpoint, at most 1 in modulus at 0, and gradients that are the slopes."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    label = rng.standard_normal(d)
    label = label / max(1.0, float(np.linalg.norm(label)))
    chosen = int(rng.integers(d))
    losses: list[Callable[[np.ndarray], tuple[float, np.ndarray]]] = [
        lambda y: distance(y, label),
        lambda y: clipped_square(y, label),
        lambda y: scaled_cross_entropy(y, chosen),
    ]
    y, z, direction = rng.standard_normal((3, d)) * rng.choice([0.1, 1.0, 10.0])
    direction = direction / np.linalg.norm(direction)
    for loss in losses:
        value, gradient = loss(y)
        assert np.linalg.norm(gradient) <= 1 + 1e-12
        assert abs(value - loss(z)[0]) <= np.linalg.norm(y - z) + 1e-9
        assert loss((y + z) / 2)[0] <= (value + loss(z)[0]) / 2 + 1e-9
        assert abs(loss(np.zeros(d))[0]) <= 1 + 1e-12
        away = float(np.linalg.norm(y - label))
        if abs(away - 1) > 1e-3 and away > 1e-3:
            assert abs(_slope(lambda v, loss=loss: loss(v)[0], y, direction) - abs(gradient @ direction)) < 1e-4


@check(
    LOSS,
    grade="numeric",
    target="printed",
    cases="cross-entropy at d = 2, ..., 5, the distance and its clipped square at 0.5, 2 and 10",
)
@proof_steps("conventions.md: 6")
def test_the_scale_and_the_clipping_are_needed() -> None:
    """Slope sqrt 2 of the cross-entropy far out, log d at 0, both divided by max(sqrt 2, log d); the distance.

    The square grows by 2|y - y*| + 1 over a step of length 1, beyond every bound, whatever divides it.
    """
    for d in range(2, 6):
        far = np.full(d, -30.0)
        far[0], far[1] = -10.0, 10.0
        _, gradient = cross_entropy(far, 0)
        assert abs(np.linalg.norm(gradient) - math.sqrt(2)) < 1e-8  # sqrt 2/(1 + e^20) = 2.9e-9
        value, scale = cross_entropy(np.zeros(d), 1)[0], max(math.sqrt(2), math.log(d))
        assert abs(value - math.log(d)) <= (d + 1) * 2.0**-52  # d exponentials, a sum, a logarithm
        for y in (far, np.zeros(d), np.arange(d) / 3):
            raw, slopes = cross_entropy(y, 0)
            scaled, divided = scaled_cross_entropy(y, 0)
            assert abs(scaled * scale - raw) < 1e-12 * (1 + abs(raw))
            assert np.abs(divided * scale - slopes).max() < 1e-12
    label = np.array([0.6, -0.8])
    for away in (0.5, 2.0, 10.0):
        y = label + away * np.array([0.8, 0.6])
        assert abs(distance(y, label)[0] - away) < 1e-12
        assert np.abs(distance(y, label)[1] - np.array([0.8, 0.6])).max() < 1e-12
        assert abs(clipped_square(y, label)[0] - (away**2 / 2 if away <= 1 else away - 0.5)) < 1e-12
        further = distance(y + np.array([0.8, 0.6]), label)[0]
        assert abs(further**2 - away**2 - (2 * away + 1)) < 1e-10
