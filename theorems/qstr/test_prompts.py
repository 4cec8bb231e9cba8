"""The data of token regression: prompts, moments, links, position codes, the embedding, and the risks.

The general statements are proved in proofs/prompts.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.integrate import quad

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.tokens.transformer import network_link
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.tokens.codes import (
    PositionCodes,
    extremal_codes,
    field_codes,
    orthonormal_codes,
    random_sign_codes,
    sign_code_dimension,
)
from lemmata.numerics.tokens.encoding import encode, radius
from lemmata.numerics.tokens.gaussian import norm_moment
from lemmata.numerics.tokens.links import ReluLink, linear_link, max_link, mean_link, squared_norm_link
from lemmata.numerics.tokens.prompts import Prompts, averaged_risk, draw_prompts, pointwise_risk, population_risk
from lemmata.theorems.evidence import check, proof_steps

U, V = np.array([[1, -2], [3, 1]]), np.array([[0, 2], [-1, 1]])
NETWORK = FeedForward(
    (
        Affine(np.array([[1, 0, -1], [2, 1, 1], [0, -3, 1], [1, 1, -2]]), np.array([1, 0, -1])),
        Affine(np.array([[2], [-1], [1]])),
    ),
    activations=("relu", "identity"),
)


def fractions(tokens: Array) -> list[list[Fraction]]:
    return [[Fraction(int(x.p), int(x.q)) for x in token] for token in tokens.tolist()]


def linear(u: Array, tokens: list[list[Fraction]]) -> Fraction:
    return sum((int(u[m, r]) * tokens[m][r] for m, r in np.ndindex(u.shape)), Fraction(0))


def network_by_sums(tokens: list[list[Fraction]]) -> Fraction:
    flat = [x for token in tokens for x in token]
    W, b, a = NETWORK.layers[0].weight, NETWORK.layers[0].bias, NETWORK.layers[1].weight[:, 0]
    hidden = [
        max(sum((int(W[i, m]) * x for i, x in enumerate(flat)), Fraction(int(b[m]))), Fraction(0)) for m in range(3)
    ]
    return sum((int(c) * x for c, x in zip(a, hidden, strict=True)), Fraction(0))


Link = Callable[[Array], Array]
LINKS = ("linear", "mean", "maximum", "ReLU network", "squared norms")


def link_and_sums(name: str) -> tuple[Link, Callable[[list[list[Fraction]]], Any]]:
    """A link of two tokens in two dimensions, and the same by sums over fractions."""
    made: dict[str, tuple[Callable[[], Link], Callable[[list[list[Fraction]]], Any]]] = {
        "linear": (lambda: linear_link(U), lambda x: linear(U, x)),
        "mean": (lambda: mean_link(2, [2, -1]), lambda x: linear(np.array([[2, -1]] * 2), x) / 2),
        "maximum": (lambda: max_link(U, V), lambda x: max(linear(U, x), linear(V, x))),
        "ReLU network": (lambda: network_link(NETWORK, 2), network_by_sums),
        "squared norms": (lambda: squared_norm_link, lambda x: sum(c * c for token in x for c in token) - 4),
    }
    link, by_sums = made[name]
    return link(), by_sums


def all_prompts() -> Prompts:
    """All 729 choices of two indices at each of three positions, on rational tokens."""
    indices = np.array(list(product(range(3), repeat=6))).reshape(-1, 3, 2)
    tokens = as_exact([[1, -3], [2, 5], [-4, 1]]) * fmpq(1, 2)
    shifts = as_exact(np.arange(len(indices)) % 5)[:, None, None] * fmpq(1, 3)
    return Prompts(tokens + shifts, indices)


@check(
    "qstr:definition-2",
    grade="exact",
    target="printed",
    cases="N = 3, q = 2, d = 2: all 729 choices of indices, repeated ones too; five links; rational tokens",
)
@pytest.mark.parametrize("name", LINKS)
def test_labels_are_the_link_at_the_indices(name):
    """By a loop over positions; simple prompts have one label; relabelled prompts have relabelled labels."""
    link, by_sums = link_and_sums(name)
    prompts = all_prompts()
    labels = prompts.labels(link)
    assert labels.shape == (729, 3)
    for n in range(729):
        tokens = fractions(prompts.tokens[n])
        wanted = [by_sums([tokens[j] for j in prompts.indices[n, i]]) for i in range(3)]
        assert [Fraction(int(y.p), int(y.q)) for y in labels[n]] == wanted
    simple = [n for n in range(729) if len({tuple(t) for t in prompts.indices[n].tolist()}) == 1]
    assert len(simple) == 9
    for n in range(729):
        assert Prompts(prompts.tokens[n : n + 1], prompts.indices[n : n + 1]).simple == (n in simple)
    assert all(len(set(labels[n].tolist())) == 1 for n in simple)
    for order in permutations(range(3)):
        assert (prompts.relabelled(order).labels(link)[:, list(order)] == labels).all()


@check(
    "qstr:definition-2",
    grade="exact",
    target="printed",
    cases="N = 3, q = 2, d = 2: all 729 choices of indices; a token that is not meant is changed; simple draws",
)
def test_only_the_indices_matter_and_simple_draws_share_them():
    prompts = all_prompts()
    link, _ = link_and_sums("ReLU network")
    labels = prompts.labels(link)
    for k in range(3):
        changed = prompts.tokens.copy()
        changed[:, k] += fmpq(7, 2)
        meant = (prompts.indices == k).any(axis=-1)
        again = Prompts(changed, prompts.indices).labels(link)
        assert (again[~meant] == labels[~meant]).all()
        assert (again[meant] != labels[meant]).any()
    drawn = draw_prompts(50, 7, 2, 2, law="rational", simple=True, seed=1)
    assert drawn.simple
    assert (drawn.labels(link) == drawn.labels(link)[:, :1]).all()
    assert len({tuple(t[0]) for t in drawn.indices.tolist()}) > 20
    assert not draw_prompts(50, 7, 2, 2, law="rational", seed=1).simple
    three = draw_prompts(4, 5, 3, 2, law="rational", seed=2)  # two tokens in three dimensions
    squares = [[sum(c * c for t in ts for c in three.tokens[n, t]) - 6 for ts in three.indices[n]] for n in range(4)]
    assert three.labels(squared_norm_link).tolist() == squares


# ---- moments


@check("qstr:assumption-1", grade="numeric", target="printed", cases="d = 1, ..., 12, 100, 1000; r = 1, 5/4, ..., 30")
@proof_steps("prompts.md: 1")
@pytest.mark.parametrize("d", [*range(1, 13), 100, 1000])
def test_gaussian_tokens_meet_the_moment_bound_with_constant_1(d):
    """E |x|^r <= (d r)^(r/2) in balls; the moments against even ones, which are products, and against quadrature."""
    for k in range(4, 121):
        r = fmpq(k, 4)
        moment = norm_moment(d, r)
        assert moment <= (arb(d) * arb(r)) ** (arb(r) / 2)
        if r.q == 1 and r.p % 2 == 0:
            assert moment.overlaps(arb(math.prod(d + 2 * j for j in range(int(r.p) // 2))))
            assert moment.rel_accuracy_bits() > 30
        elif d <= 12 and k % 7 == 0:
            power = k / 4 + d - 1

            def density(x: float, power: float = power) -> float:
                return x**power * math.exp(-x * x / 2) / (2 ** (d / 2 - 1) * math.gamma(d / 2))

            top = math.sqrt(power)
            value = (
                quad(density, 0, top, epsabs=0, epsrel=1e-11)[0]
                + quad(density, top, top + 20, epsabs=0, epsrel=1e-11)[0]
            )
            assert float(moment.mid()) == pytest.approx(value, rel=1e-8)
    assert norm_moment(d, 1) ** 2 >= (arb(d) - 1) * (1 - arb(1) / 10**6) if d > 1 else True  # r = 1 is nearly tight


@check(
    "qstr:assumption-1",
    grade="exact",
    target="printed",
    supporting=True,
    cases="k = qd = 1, ..., 30; r = 2, 4, ..., 20",
)
@proof_steps("prompts.md: 2")
def test_quadratic_labels_meet_the_moment_bound_with_s_2():
    """E y^r <= (2 r^2)^(r/2) for y = (chi^2_k - k)/sqrt(k): exact even moments from cumulants."""
    for k in range(1, 31):
        moments = [Fraction(1), Fraction(0)]
        for n in range(2, 21):
            cumulants = [
                Fraction(2 ** (m - 1) * math.factorial(m - 1) * k) if m > 1 else Fraction(0) for m in range(n + 1)
            ]
            parts = (math.comb(n - 1, m - 1) * cumulants[m] * moments[n - m] for m in range(1, n + 1))
            moments.append(sum(parts, Fraction(0)))
        for r in range(2, 21, 2):
            assert moments[r] / Fraction(k) ** (r // 2) <= Fraction(2 * r * r) ** (r // 2)


# ---- links


@check(
    "qstr:assumption-2",
    grade="numeric",
    target="printed",
    cases="linear, mean, maximum, a ReLU network: q = d = 2, 200 rational tuples of tokens; r_a, r_w; factors 1/3, 5",
)
@proof_steps("prompts.md: 3")
@pytest.mark.parametrize("name", ["linear", "mean", "maximum", "ReLU network"])
def test_links_that_are_relu_networks_have_no_error(name):
    """eps = 0 with |a| = r_a/sqrt(m) and |(W, b)|_F = sqrt(m) r_w; (W, b) -> c (W, b), a -> a/c keeps r_a r_w."""
    link, by_sums = link_and_sums(name)
    assert isinstance(link, ReluLink)
    tokens = draw_prompts(200, 2, 2, 1, law="rational", seed=3).tokens
    values = link(tokens)
    for x, y in zip(tokens, values, strict=True):
        assert Fraction(int(y.p), int(y.q)) == by_sums(fractions(x))
    m = link.width
    a, W, b = (as_exact(part) for part in (link.output, link.weight, link.bias))
    squares = [float(Fraction(int(s.p), int(s.q))) for s in ((a * a).sum(), (W * W).sum() + (b * b).sum())]
    assert link.output_radius**2 / m == pytest.approx(squares[0], rel=1e-12)
    assert link.weight_radius**2 * m == pytest.approx(squares[1], rel=1e-12)
    assert link.lipschitz_bound**2 == pytest.approx(squares[0] * squares[1], rel=1e-12)
    for c in (fmpq(1, 3), fmpq(5)):
        scaled = ReluLink(a / c, W * c, b * c)
        assert (scaled(tokens) == values).all()
        assert scaled.lipschitz_bound == pytest.approx(link.lipschitz_bound, rel=1e-12)
        assert scaled.weight_radius != pytest.approx(link.weight_radius, rel=1e-3)


def zigzag(teeth: int) -> tuple[list[Fraction], list[Fraction]]:
    """Thresholds and slopes of a sum of ReLUs on [0, 1] that rises and falls `teeth` times with slopes 1 and -1."""
    return [Fraction(k, 2 * teeth) for k in range(2 * teeth)], [Fraction(1)] + [
        Fraction(2 * (-1) ** k) for k in range(1, 2 * teeth)
    ]


@check(
    "qstr:remark-assumption-2-rates",
    grade="exact",
    target="printed",
    supporting=True,
    cases="k = 1; P = 1, 2, 4, 8 zigzags with slopes 1 and -1; eps = 1/256",
)
def test_summand_by_summand_the_neurons_grow_as_the_square_of_P():
    """P zigzags of height 4 sqrt(eps)/P: their sum has the range 4 sqrt(eps), so that no constant is sqrt(eps)-close.

    Written out summand by summand they take P^2/(4 sqrt(eps)) neurons, while the printed rate for k = 1 is P/sqrt(eps).
    Whether neurons that read several summands could do with fewer is left open.
    """
    root, counts = Fraction(1, 16), {}
    for P in (1, 2, 4, 8):
        teeth = P / (8 * root)
        thresholds, slopes = zigzag(int(teeth))
        a = as_exact([fmpq(s.numerator, s.denominator) for s in slopes] * P)
        W = np.zeros((len(a), 1, P), dtype=int)
        for number in range(len(a)):
            W[number, 0, number // len(slopes)] = 1
        link = ReluLink(a, W, as_exact([fmpq(-t.numerator, t.denominator) for t in thresholds] * P))
        counts[P] = link.width
        top = as_exact([[fmpq(1, int(2 * teeth))] * P])  # every summand at its first top, 1/(2 teeth) = 4 sqrt(eps)/P
        assert link(top) == 4 * fmpq(root.numerator, root.denominator)
        assert link(top * 2) == 0
        assert link(top * 3) == link(top)
    assert counts == {P: P * P / (4 * root) for P in counts}


# ---- position codes


def violation_probability(dimension: int) -> Fraction:
    """P(|<omega, omega'>| > 1/2) for two uniform sign vectors: the agreements are binomial."""
    low = sum(math.comb(dimension, k) for k in range(dimension + 1) if 2 * abs(2 * k - dimension) > dimension)
    return Fraction(low, 2**dimension)


@check(
    "qstr:assumption-3",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="d_e = floor(5 ln N), N = 25, 33, 100, 10^4, 10^6; 20 draws at N = 100",
)
@proof_steps("prompts.md: 5")
def test_the_codes_of_the_experiments_violate_the_assumption():
    """The constant in Theta(log N) matters: the 5 of the experiments is too small.

    P(no violating pair) <= 1/(expected number of them), by Chebyshev: pairs are pairwise independent.
    """
    expected = {}
    for N in (25, 33, 100, 10**4, 10**6):
        expected[N] = math.comb(N, 2) * violation_probability(math.floor(5 * math.log(N)))
    assert float(expected[100]) == pytest.approx(52.6, abs=0.05)
    assert expected[25] > 6
    assert 1 / expected[100] < Fraction(1, 50)
    assert 1 / expected[10**4] < Fraction(1, 10**4)
    assert 1 / expected[10**6] < Fraction(1, 10**6)
    found = []
    for seed in range(20):
        codes = random_sign_codes(100, 23, seed)
        found.append(len(codes.violations()))
        with pytest.raises(ValueError, match="correlations between -1/2 and 1/2, but numbers"):
            codes.require_near_orthogonal()
    # the pairs are pairwise independent, so that the variance is below the mean
    assert abs(sum(found) / 20 - float(expected[100])) < 5 * math.sqrt(float(expected[100]) / 20)


@check(
    "qstr:assumption-3",
    grade="exact",
    target="printed",
    cases="N = 2, 3, 10, 100, 1000, 10^6; delta = 1/2, 1/100, 10^-6",
)
@proof_steps("prompts.md: 4")
@pytest.mark.parametrize("N", [2, 3, 10, 100, 1000, 10**6])
def test_a_multiple_of_the_logarithm_suffices(N):
    """The exact union bound over pairs is at most delta, and d_e >= 8 ln(N(N-1)/delta) is met by the least integer."""
    for delta in (Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)):
        d = sign_code_dimension(N, float(delta))
        assert math.comb(N, 2) * violation_probability(d) <= delta
        wanted = 8 * (arb(N * (N - 1)) / arb(fmpq(delta.numerator, delta.denominator))).log()
        assert d - 1 < wanted <= d
        assert d <= 1 + 16 * math.log(N) + 8 * math.log(1 / delta)  # Theta(log N)


@check(
    "qstr:assumption-3",
    grade="exact",
    target="printed",
    cases="N = 3, ..., 80: orthonormal, all correlations 1/2, Reed-Solomon by Hadamard; 30 draws, delta = 1/1000",
)
@proof_steps("prompts.md: 4")
def test_codes_that_meet_the_assumption_by_construction():
    """Every pair by integer sums; with two-sided bounds, so that antipodes are out and 1/2 is in."""
    families = [make(N) for N in (3, 17, 40) for make in (orthonormal_codes, extremal_codes, field_codes)]
    families += [field_codes(80), field_codes(20, 4, 3)]
    families += [random_sign_codes(12, sign_code_dimension(12, 1e-3), seed) for seed in range(30)]
    for codes in families:
        rows = codes.vectors.tolist()
        largest = 0
        for i, v in enumerate(rows):
            assert sum(x * x for x in v) == codes.square
            for w in rows[:i]:
                largest = max(largest, abs(sum(x * y for x, y in zip(v, w, strict=True))))
        assert 2 * largest <= codes.square
        assert codes.coherence == fmpq(largest, codes.square)
        assert codes.violations() == []
    assert extremal_codes(9).coherence == fmpq(1, 2)
    assert PositionCodes(np.array([[1, 0], [-1, 0]]), 1).violations() == [(0, 1, fmpq(-1))]
    assert PositionCodes(np.array([[1, 1, 1, 1, 1], [1, 1, 1, 1, -1]]), 5).violations() == [(0, 1, fmpq(3, 5))]


# ---- the embedding


@check(
    "qstr:construction-encoding",
    grade="numeric",
    target="printed",
    cases="(d, q) = (4, 1), (8, 2), (2, 2), (3, 12) for attention; also (3, 2), (1, 4) without the factor; N = 12",
)
@proof_steps("prompts.md: 6")
@pytest.mark.parametrize(
    ("d", "q", "variant"),
    [
        (4, 1, "attention"),
        (8, 2, "attention"),
        (2, 2, "attention"),
        (3, 12, "attention"),
        (3, 2, "recurrent"),
        (1, 4, "recurrent"),
    ],
)
def test_the_embedding_and_its_length(d, q, variant):
    """Block by block over the rationals; |enc|^2 = d(q+1)/q, or q + 1, and r_z."""
    N = 12
    prompts = draw_prompts(2, N, d, q, law="rational", seed=d * q)
    for codes in (orthonormal_codes(N), extremal_codes(N), field_codes(N)):
        z = encode(prompts, codes, variant)
        factor = Fraction(math.isqrt(d * q), q) if variant == "attention" else Fraction(1)
        assert variant == "recurrent" or factor**2 == Fraction(d, q)
        root = math.isqrt(codes.square)
        scaled = [
            [fmpq(factor.numerator * x, factor.denominator * root) for x in row] for row in codes.vectors.tolist()
        ]
        assert z.shape == (2, N, d + (q + 1) * codes.dimension)
        square = fmpq(d * (q + 1), q) if variant == "attention" else fmpq(q + 1)
        for n, i in np.ndindex(2, N):
            wanted = list(prompts.tokens[n, i]) + scaled[i]
            for t in prompts.indices[n, i]:
                wanted += scaled[t]
            assert z[n, i].tolist() == wanted
            assert (z[n, i, d:] ** 2).sum() == square
            assert (z[n, i] ** 2).sum() == (prompts.tokens[n, i] ** 2).sum() + square
        assert np.abs(encode(prompts, codes, variant, "float") - to_float(z)).max() < 1e-12
        balls = encode(prompts, codes, variant, "ball")
        assert all(
            ball.overlaps(arb(x)) and ball.rad() < 1e-12 for ball, x in zip(balls.ravel(), z.ravel(), strict=True)
        )
        assert radius(2.5, d, q, variant) == pytest.approx(
            math.sqrt(6.25 + float(Fraction(int(square.p), int(square.q))))
        )


# ---- risks


def guesses_and_labels() -> tuple[Array, Array]:
    rng = np.random.default_rng(8)
    return as_exact(rng.integers(-6, 7, (2, 3))) / 2, as_exact(rng.integers(-6, 7, (2, 3))) / 3


@check("qstr:definition-risks", grade="exact", target="printed", cases="N = 2, n = 1: one prompt, predictions (1, 0)")
@proof_steps("prompts.md: 7")
def test_the_risks_differ_on_simple_prompts():
    """Equal labels do not make the numbers equal: N = 2, labels 1, predictions (1, 0), risks 0 at the first and 1/2."""
    prompts = Prompts(as_exact([[[1], [0]]]), np.zeros((1, 2, 1), dtype=int))
    assert prompts.simple
    labels = prompts.labels(linear_link([[1]]))
    assert labels.tolist() == [[1, 1]]
    predictions = as_exact([[1, 0]])
    assert pointwise_risk(predictions, labels, [0]) == 0
    assert averaged_risk(predictions, labels) == fmpq(1, 2)


@check(
    "qstr:definition-risks",
    grade="exact",
    target="printed",
    cases="rational predictions, n = 2, N = 3: all positions",
)
@proof_steps("prompts.md: 7")
def test_the_risks_agree_in_the_mean_and_for_constant_errors():
    """R_n averages to R_(n,N) over j; both are equal if the errors do not depend on the position; R over a law."""
    predictions, labels = guesses_and_labels()
    squares = [
        [(Fraction(int(a.p), int(a.q)) - Fraction(int(b.p), int(b.q))) ** 2 for a, b in zip(*rows, strict=True)]
        for rows in zip(predictions, labels, strict=True)
    ]
    risks = [pointwise_risk(predictions, labels, j) for j in product(range(3), repeat=2)]
    for found, (i, j) in zip(risks, product(range(3), repeat=2), strict=True):
        assert Fraction(int(found.p), int(found.q)) == (squares[0][i] + squares[1][j]) / 2
    average = averaged_risk(predictions, labels)
    assert Fraction(int(average.p), int(average.q)) == sum(map(sum, squares)) / 6
    assert sum(risks) / 9 == average
    assert len(set(risks)) > 1
    shifted = labels + as_exact([[fmpq(1, 2)], [fmpq(-3)]])
    assert {pointwise_risk(shifted, labels, j) for j in product(range(3), repeat=2)} == {averaged_risk(shifted, labels)}
    p = [fmpq(1, 4), fmpq(3, 4)]
    risk = population_risk(predictions, labels, as_exact(p))
    assert Fraction(int(risk.p), int(risk.q)) == (sum(squares[0]) + 3 * sum(squares[1])) / 12
