"""Lemmas 29 to 34: covers of recurrent networks, truncated losses and what truncation costs, with explicit constants.

Truth is computed on small classes: distances of networks on samples, covering numbers by trying all centres, Rademacher
complexities and probabilities of deviations by enumeration. The proofs are in `proofs/recurrent-capacity.md`.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.constructions.tokens.recurrent import exact_network
from lemmata.numerics.exact.balls import decided_less, decided_less_equal
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning.finite_classes import (
    empirical_rademacher,
    largest_deviation,
    sample_distances,
    sample_law,
)
from lemmata.numerics.learning.recurrent_capacity import (
    RecurrentClass,
    class_log_cover,
    deviation_of_truncated_losses,
    drift,
    empirical_minimiser_bound,
    fourth_moment,
    log_cover,
    parameter_slope_squared,
    recurrent_log_cover,
    scaled_slope,
    truncated_rademacher_bound,
    truncation_level,
)
from lemmata.numerics.tokens.links import linear_link
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

COVER = "qstr:lemma-29"
COUNT = "qstr:lemma-30"
CLASS = "qstr:corollary-31"
LOSS = "qstr:lemma-32"
GAP = "qstr:corollary-33"
TAIL = "qstr:lemma-34"
LEARNED = "qstr:theorem-7"


def covering_number(distances: np.ndarray, radius: Any) -> int:
    """The least number of members within the radius of which all members lie, by trying all sets of centres."""
    near = distances <= radius
    for count in range(1, len(near) + 1):
        if any(near[list(centres)].any(axis=0).all() for centres in itertools.combinations(range(len(near)), count)):
            return count
    raise AssertionError


def affine(*rows: Any) -> Affine:
    return Affine(as_exact(np.array(rows, dtype=object)))


# ---- lemma 29


@check(
    COVER, grade="exact", target="corrected", cases="N = 1, ..., 12 and 40, alpha = 0, 1/N, 1/(3N): constant updates"
)
@proof_steps("recurrent-capacity.md: 1")
def test_the_drift_of_constant_updates() -> None:
    """f = alpha h + theta moves the state by the drift times theta exactly; below (e - 1) N for alpha <= 1/N."""
    for N in (*range(1, 13), 40):
        for alpha in (fmpq(0), fmpq(1, N), fmpq(1, 3 * N)):
            factor = drift(N, alpha)
            cell = RecurrentCell(affine([alpha], [1]), residual=True)
            states = cell.states(as_exact(np.full((N, 1), 3)))[:, 0]
            assert states[N - 1] == 3 * factor
            assert factor <= (1 + fmpq(1, N)) ** N * N - N
            assert decided_less_equal(arb(factor), (arb(1).exp() - 1) * N)


def recurrence(theta: Any, out: Any, radius: Any) -> RecurrentLayer:
    """h -> P(h + a h + b z), both ways, and yhat = |h_fw - c h_bw| + z/2 by two layers."""
    cells = [RecurrentCell(affine([a], [b]), residual=True, bound=BallProjection(1, radius)) for a, b in theta]
    first = affine([1, -1, 0, 0], [-out, out, 0, 0], [0, 0, 1, -1])
    readout = FeedForward((first, affine([1], [1], [fmpq(1, 2)], [fmpq(-1, 2)])), activations=("relu", "identity"))
    return RecurrentLayer(cells[0], cells[1], "before", True, readout)


@check(
    COVER,
    grade="exact",
    target="corrected",
    cases="classes of 4 x 4 x 3 networks, N = 3, 5; covers of 7 radii, all centres",
)
@proof_steps("recurrent-capacity.md: 2")
@pytest.mark.parametrize(("N", "seed"), [(3, 0), (3, 1), (5, 2)])
def test_covering_numbers_of_recurrent_networks(N: int, seed: int) -> None:
    """Member by member, and for the covers; the distances of transitions are those at the ends of their intervals."""
    rng, radius = np.random.default_rng(seed), 2
    moves = [
        (fmpq(int(a), 4 * N), fmpq(int(b), 6))
        for a, b in zip(rng.integers(-4, 5, 4), rng.integers(-6, 7, 4), strict=True)
    ]
    outs = [fmpq(k, 2) for k in (0, 1, 2)]
    z = as_exact(rng.integers(-4, 5, (3, N, 1))) / 2
    grid = np.array([(h, x) for h in (-radius, radius) for x in set(z.ravel().tolist())], dtype=object)
    transitions = np.array([[a * h + b * x for h, x in grid] for a, b in moves], dtype=object)
    corners = list(itertools.product((-radius, radius), repeat=2))
    readouts = np.array([[abs(h - c * k) for h, k in corners] for c in outs], dtype=object)
    members = list(itertools.product(range(4), range(4), range(3)))
    table = [recurrence((moves[i], moves[j]), outs[k], radius)(z).ravel().tolist() for i, j, k in members]
    whole, of_f, of_y = (sample_distances(values) for values in (table, transitions, readouts))
    # ||W_2|| ||W_1|| with W_2 = (1, 1) and the columns (1, -1), (-c, c): sqrt 2 sqrt(2 (1 + c^2)) <= 2 sqrt 2
    lipschitz = 2 * arb(2).sqrt()
    for (p, (i, j, k)), (r, (u, v, w)) in itertools.combinations(enumerate(members), 2):
        moved = lipschitz * drift(N, fmpq(1, N)) * (of_f[i, u] + of_f[j, v])
        assert decided_less_equal(arb(whole[p, r]), arb(of_y[k, w]) + moved)
    assert whole.max() > 1
    for eps in (fmpq(1, 4), fmpq(1, 2), fmpq(1), fmpq(2), fmpq(4), fmpq(8), fmpq(400)):

        def logarithm(distances: np.ndarray) -> Any:
            return lambda r: arb(covering_number(np.vectorize(arb)(distances), r)).log()

        bound = recurrent_log_cover(N, eps, lipschitz, logarithm(of_y), logarithm(of_f), logarithm(of_f))
        rows = whole[np.ix_(range(0, 48, 4), range(0, 48, 4))]
        assert decided_less_equal(arb(covering_number(rows, eps)).log(), bound + arb(2) ** -40)
        small = eps / (4 * arb(1).exp() * lipschitz * N)
        parts = covering_number(np.vectorize(arb)(of_y), eps / 2) * covering_number(np.vectorize(arb)(of_f), small) ** 2
        assert bound.overlaps(arb(parts).log())


@counterexample(COVER, grade="exact")
@proof_steps("recurrent-capacity.md: 3")
def test_the_norm_of_the_product_does_not_bound_the_cover(
    record: Record, readouts: tuple[int, int] = (1, 1), feedback: int = 0
) -> None:
    """W_1 = (1, -1), W_2 = (1, 1): the product is 0, the network |x|. Two transitions, 0 and 1, give outputs 0 and 1.

    So the class needs two balls of radius 1/4, but for C = 1/200 >= 0 one of radius eps/(4 e C N) > 1 holds both.
    """
    first, second = affine([1, -1]), affine(*([one] for one in readouts))
    readout = FeedForward((first, second), activations=("relu", "identity"))
    outputs = []
    for b in (0, 1):  # h_2 = h_1 + f(h_1, z_1), f = b constant, alpha = 0
        cell = RecurrentCell(Affine(as_exact([[feedback], [0]]), as_exact([b])), residual=True)
        outputs.append(readout(cell.states(as_exact([[0], [0]]))[1:2])[0, 0])
    assert outputs == [0, 1]
    N, eps, C = 2, Q(1, 4), Q(1, 200)
    needed = covering_number(np.abs(np.subtract.outer(outputs, outputs)), as_exact([eps])[0])
    radius = eps / (4 * Q(11, 4) * C * N)  # e < 11/4
    one = covering_number(np.array([[0, 1], [1, 0]]), radius)  # of the two transitions, 0 and 1
    product = first.weight @ second.weight
    record.hypothesis("the norm of the product of the read-out's weights is at most C", abs(product[0, 0]), "<=", C)
    record.hypothesis("the transitions do not depend on the state: 0 <= 1/N", abs(feedback), "<=", Q(1, N))
    record.violated("covering number <= 1 (one read-out) times that of the transitions", needed, "<=", one)


# ---- lemma 30


@check(COUNT, grade="exact", target="corrected", cases="L = 1, 2, 3 in closed form; R = 1/2, 1, 3, r = 0, 1, 5")
@proof_steps("recurrent-capacity.md: 4")
def test_the_slope_in_the_parameters_in_closed_form() -> None:
    for R, r in itertools.product((Q(1, 2), Q(1), Q(3)), (Q(0), Q(1), Q(5))):
        one, two = R * (r + 1), R * (R * (r + 1) + 1)
        expected = [r**2, R**2 * (r**2 + 1) + one**2, R**4 * (r**2 + 1) + R**2 * (one**2 + 1) + two**2]
        for L, value in enumerate(expected, start=1):
            assert parameter_slope_squared(L, R, r) == as_exact([value])[0]


@check(
    COUNT,
    grade="exact",
    target="corrected",
    cases="L = 1, ..., 5, R = 1/2, 1, 3, r = 0, 1, 5: networks of width 1 at the corner of the ball",
)
@proof_steps("recurrent-capacity.md: 4")
def test_the_slope_in_the_parameters_is_attained() -> None:
    """All weights and biases R, the input r: the squared gradient, by exact differences, is the bound, biases included.

    The output is linear in each parameter where all units are positive, so that its differences are derivatives.
    """
    for R, r, L in itertools.product((fmpq(1, 2), fmpq(1), fmpq(3)), (fmpq(0), fmpq(1), fmpq(5)), range(1, 6)):

        def value(moved: int, R: fmpq = R, r: fmpq = r, L: int = L) -> fmpq:
            numbers = [R + 1 if k == moved else R for k in range(2 * L - 1)]
            weights = [as_exact([[w]]) for w in numbers[:L]]
            return _net(weights, [as_exact([b]) for b in numbers[L:]])(as_exact([[r]]))[0, 0]

        gradient = [value(k) - value(-1) for k in range(2 * L - 1)]
        assert sum((x * x for x in gradient), fmpq(0)) == parameter_slope_squared(L, R, r)


@check(
    COUNT,
    grade="sampled",
    target="corrected",
    cases="L = 1, 2, 3, widths 2, 60 random pairs of parameters each, seed L, a third of them aligned; exact numbers",
)
@proof_steps("recurrent-capacity.md: 4")
@pytest.mark.parametrize("L", [1, 2, 3])
def test_networks_move_by_at_most_the_slope_times_their_parameters(L: int) -> None:
    rng, largest = np.random.default_rng(L), 0.0
    for number in range(60):
        R, r = fmpq(1 + number % 3), fmpq(1 + number % 2)
        weights = [_ball(rng, 1 if number < 20 else 2, 1 if number < 20 else 2, R, number < 20) for _ in range(L)]
        moved = [_ball(rng, len(w), len(w[0]), R, number < 20) for w in weights]
        biases, others = ([_ball(rng, 1, w.shape[1], R, number < 20)[0] for w in weights[:-1]] for _ in range(2))
        x = _ball(rng, 1, len(weights[0]), r, number < 20)
        gap = _net(weights, biases)(x) - _net(moved, others)(x)
        change = sum(
            (((v - w) ** 2).sum() for v, w in zip([*weights, *biases], [*moved, *others], strict=True)), fmpq(0)
        )
        assert (gap * gap).sum() <= parameter_slope_squared(L, R, r) * change
        if change:
            largest = max(largest, float((gap * gap).sum() / (parameter_slope_squared(L, R, r) * change)))
    assert largest > (0.99 if L == 1 else 0.2)


def _net(weights: list[Any], biases: list[Any]) -> FeedForward:
    layers = [Affine(w, b) for w, b in zip(weights, [*biases, np.zeros(0, dtype=np.int64)], strict=True)]
    return FeedForward(tuple(layers), activations=(*["relu"] * (len(weights) - 1), "identity"))  # type: ignore[arg-type]


def _ball(rng: np.random.Generator, rows: int, columns: int, radius: fmpq, full: bool) -> Any:
    """A matrix of a Frobenius norm of at most the radius; in one dimension near to it, positive."""
    if full:
        return as_exact([[radius - fmpq(int(rng.integers(0, 3)), 64)]])
    return as_exact(rng.integers(-4, 5, (rows, columns))) / 8 * radius


@check(
    COUNT,
    grade="exact",
    target="corrected",
    cases="p = L = 1: the packing numbers of x -> w x, R r/eps = 1, 2, 3, 5, 10",
)
@proof_steps("recurrent-capacity.md: 5")
def test_the_number_of_points_is_attained_on_a_line() -> None:
    """|w| <= R, |x| <= r: 2 R r/eps + 1 maps with distances of at least eps, no more with distances above it."""
    for R, r, eps in [(1, 1, Q(1)), (2, 1, Q(1)), (1, 3, Q(1)), (5, 1, Q(1)), (1, 2, Q(1, 5))]:
        count = int(2 * R * r / eps) + 1
        maps = [-R + k * eps / r for k in range(count)]
        assert max(maps) == R
        assert min(abs(v - w) * r for v, w in itertools.combinations(maps, 2)) == eps
        assert log_cover(1, 1, R, r, eps).overlaps(arb(count).log())
        assert log_cover(7, 1, R, r, eps).overlaps(7 * arb(count).log())


@check(COUNT, grade="numeric", target="corrected", cases="L = 1, ..., 4, 5 choices of (p, R, r, eps), written out")
@proof_steps("recurrent-capacity.md: 5")
def test_the_bound_is_the_formula() -> None:
    for L, (p, R, r, eps) in itertools.product(
        range(1, 5), [(1, 1, 1, 1), (5, 2, 3, Q(1, 7)), (9, 1, 0, 3), (4, 3, 1, Q(1, 100)), (2, 1, 9, Q(1, 2))]
    ):
        norm, square = float(r), 0.0
        for l in range(1, L + 1):
            square += R ** (2 * (L - l)) * (norm**2 + (l < L))
            norm = R * (norm + 1)
        expected = p * math.log(1 + 2 * math.sqrt(2 * L - 1) * R * math.sqrt(square) / eps)
        assert abs(float(log_cover(p, L, R, r, eps)) - expected) < 1e-12 * max(1, expected)


@counterexample(COUNT, grade="exact")
@proof_steps("recurrent-capacity.md: 6")
def test_the_radius_of_the_inputs_enters(record: Record, largest: int = 1) -> None:
    """R = eps = 1, x -> relu(w x) with w in [0, 1], |x| <= r: 2k + 1 maps at distances >= 3 for r = 6k."""
    for k in (1, 10, 1000):
        r = 6 * k
        slopes = [Q(largest * j, 2 * k) for j in range(2 * k + 1)]
        nets = [_net([as_exact([[w]]), as_exact([[1]])], [as_exact([0])]) for w in (slopes[0], slopes[1], slopes[-1])]
        at_r = [net(as_exact([[r]]))[0, 0] for net in nets]
        assert at_r == [0, 3 * largest, r * largest]
        gaps = [abs(max(v * r, Q(0)) - max(w * r, Q(0))) for v, w in itertools.pairwise(slopes)]
        assert min(gaps) == 3 * largest > 2  # no ball of radius 1 holds two of them
        assert decided_less_equal(arb(len(slopes)).log(), log_cover(2, 2, 1, r, 1))  # with the radius it holds
    record.hypothesis("the weights of the layers are at most R = 1", max(slopes), "<=", 1)
    record.hypothesis("|x| <= r, at x = r = 6000", r, "<=", r)
    least = arb(len(slopes)).log()
    record.violated("ln C <= p ln(1 + R^3/eps) with p = 2, R = eps = 1 and r = 6000", least, "<=", 2 * arb(2).log())


# ---- corollary 31, lemma 32, corollary 33


def two_layers(R: float, r: float) -> float:
    """The slope in the parameters for L = 2."""
    return math.sqrt(R**2 * (r**2 + 1) + (R * (r + 1)) ** 2)


def three_layers(R: float, r: float) -> float:
    """The same for L = 3."""
    one, two = R * (r + 1), R * (R * (r + 1) + 1)
    return math.sqrt(R**4 * (r**2 + 1) + R**2 * (one**2 + 1) + two**2)


@check(
    CLASS,
    grade="numeric",
    target="printed",
    cases="R = 2, N = 1, 10, 10^6, eps = 1, 1/100; with r_h and without",
)
@check(
    COVER, grade="numeric", target="corrected", cases="the three radii in closed form: N = 1, 10, 10^6, eps = 1, 1/100"
)
@check(
    LOSS,
    LEARNED,
    grade="numeric",
    target="printed",
    cases="the cover of R = 2, L = (2, 3), N = 1, 10, 10^6 in closed form, eps = 1, 1/100",
)
@proof_steps("recurrent-capacity.md: 2, 7, 9, 16")
def test_the_cover_of_a_class_is_the_product_of_three() -> None:
    """By floats, written out for L_h = 2 and L_y = 3; N enters once, for states of bounded size and without.

    Without r_h the scaled first layer of a transition has the norm (7/4) R M_1 + R^3 + R^2 = 33 for R = 2.
    """
    for N, eps, states in itertools.product((1, 10, 10**6), (1.0, 0.01), (2, None)):
        R = 2.0
        grown = 1.75 * N * R * R * (R + 1)
        H = grown if states is None else min(2.0, grown)
        slope = (33.0 + 33.0) if states is None else math.sqrt(3) * R * two_layers(R, H + R)
        of_f = 3 * math.log(1 + 2 * slope * 4 * math.e * R**3 * N / eps)
        of_y = 4 * math.log(1 + 2 * math.sqrt(5) * R * three_layers(R, 2 * H + R) * 2 / eps)
        networks = RecurrentClass(3, 4, 2, 3, 2, states)
        found = float(class_log_cover(networks, N, Q(eps).limit_denominator(1000)))
        assert abs(found - 2 * of_f - of_y) < 1e-9 * found
    growth = []
    for states in (2, None):
        far, near = (class_log_cover(RecurrentClass(3, 4, 2, 3, 2, states), N, 1) for N in (10**12, 10**9))
        growth.append(float(far - near))
    assert abs(growth[0] - 6 * math.log(1000)) < 1e-3
    assert abs(growth[1] - (6 + 4) * math.log(1000)) < 1e-3


def _scaled(weights: list[np.ndarray], biases: list[np.ndarray]) -> list[np.ndarray]:
    """W_1, W_2/|W_2|, ..., and W_1, b_l times the norms of all later layers, in the order (weights, biases)."""
    norms = [np.linalg.norm(w, 2) for w in weights]
    later = [math.prod(norms[l + 1 :]) for l in range(len(weights))]
    scaled = [weights[0] * later[0], *(w / norm for w, norm in zip(weights[1:], norms[1:], strict=True))]
    return [*scaled, *(b * t for b, t in zip(biases, later, strict=False))]


def _transition(parameters: list[np.ndarray], x: np.ndarray) -> np.ndarray:
    """The network of L weights and L - 1 biases, as rows."""
    depth = (len(parameters) + 1) // 2
    for weight, bias in zip(parameters[: depth - 1], parameters[depth:], strict=True):
        x = np.maximum(x @ weight + bias, 0)
    return x @ parameters[depth - 1]


@check(
    CLASS,
    grade="sampled",
    target="printed",
    cases="L = 1, 2, 3, N = 10 and 10^4, R = 2, states of 2 and tokens of 3 coordinates; 100 pairs, a third aligned",
)
@proof_steps("recurrent-capacity.md: 16")
@pytest.mark.parametrize("L", [1, 2, 3])
def test_scaled_transitions_move_by_at_most_their_slope(L: int) -> None:
    """Two networks of the class at a state of norm H = N reach: their distance over that of the scaled parameters.

    Scaling changes no network. In the plain parameters the slope grows with the state instead.
    """
    rng, R, reach, largest = np.random.default_rng(L), 2.0, 1.5, 0.0
    for N, number in itertools.product((10, 10**4), range(100)):
        aligned = number % 3 == 0
        draw = (lambda *shape: rng.random(shape)) if aligned else (lambda *shape: rng.standard_normal(shape))
        pair = []
        for _ in range(2):
            sizes = [5, *[3] * (L - 1), 2]
            weights = [draw(m, n) for m, n in itertools.pairwise(sizes)]
            weights = [w * (R / np.linalg.norm(w)) for w in weights]
            later = math.prod(np.linalg.norm(w, 2) for w in weights[1:])
            weights[0][:2] *= rng.uniform(0.5, 1) / (N * later * np.linalg.norm(weights[0][:2], 2))
            biases = [b * (R / np.linalg.norm(b)) for b in (draw(n) for n in sizes[1:-1])]
            pair.append((weights, biases))
        if aligned:  # the second network is near the first
            nudge = rng.uniform(0.98, 1)
            pair[1] = ([pair[0][0][0] * nudge, *pair[0][0][1:]], pair[0][1])
        x = np.concatenate([draw(2), draw(3)])
        x[:2] *= N * reach / np.linalg.norm(x[:2])
        x[2:] *= R / np.linalg.norm(x[2:])
        (first, second), plain = (_scaled(*one) for one in pair), [_transition([*w, *b], x) for w, b in pair]
        for one, wanted in zip((first, second), plain, strict=True):
            assert np.abs(_transition(one, x) - wanted).max() < 1e-9 * np.abs(wanted).max() + 1e-12
        bounds = [(slice(0, 2), 1 / N), (slice(2, 5), R**L)]
        change = max(np.linalg.norm((first[0] - second[0])[rows], 2) / bound for rows, bound in bounds)
        for l in range(1, L):
            change = max(change, float(np.linalg.norm(first[l] - second[l], 2)))
            change = max(change, float(np.linalg.norm(first[L - 1 + l] - second[L - 1 + l])) / R ** (L - l + 1))
        slope = float(scaled_slope(L, 2, 2, fmpq(3, 2)))
        gap = float(np.linalg.norm(plain[0] - plain[1]))
        assert gap <= slope * change * (1 + 1e-9)
        largest = max(largest, gap / (slope * change))
    assert largest > 0.05


FUNCTIONS = [[Q(int(v), 4) for v in row] for row in np.random.default_rng(8).integers(-8, 9, (9, 6))]
LABELS = [Q(int(v), 4) for v in np.random.default_rng(9).integers(-8, 9, 6)]


def cut(tau: Q) -> list[list[Q]]:
    return [[min((f - y) ** 2, tau) for f, y in zip(row, LABELS, strict=True)] for row in FUNCTIONS]


@check(
    LOSS,
    grade="numeric",
    target="printed",
    cases="9 functions on 6 points, tau = 1, 9/4, 16: distances, complexity, the formula",
)
@proof_steps("recurrent-capacity.md: 8")
def test_truncated_losses_of_a_finite_class() -> None:
    """The losses are 2 sqrt(tau)-Lipschitz, and the complexity is below the bound from the true covering numbers."""
    distances = sample_distances(FUNCTIONS)
    for tau, root in ((Q(1), Q(1)), (Q(9, 4), Q(3, 2)), (Q(16), Q(4))):
        losses = cut(tau)
        moved = sample_distances(losses)
        assert (moved <= 2 * as_exact([root])[0] * distances).all()
        found = empirical_rademacher(losses)
        logs = lambda r: arb(covering_number(np.vectorize(arb)(distances), r)).log()  # noqa: E731
        bound = truncated_rademacher_bound(logs, tau, 6)
        assert decided_less(arb(found), bound)
        cover = covering_number(np.vectorize(float)(distances), 1 / (2 * float(root) * math.sqrt(6)))
        assert abs(float(bound) - 1 / math.sqrt(6) - float(tau) * math.sqrt(2 * math.log(cover) / 6)) < 1e-12
        assert cover > 5
        n = 7  # covers of which the logarithm is 1/r show the radius
        rising = truncated_rademacher_bound(lambda r: 1 / r, tau, n)
        wanted = n**-0.5 + float(tau) * math.sqrt(2 * 2 * float(root) * n**0.5 / n)
        assert abs(float(rising) - wanted) < 1e-12


@check(
    LOSS,
    grade="enclosed",
    target="printed",
    cases="R = 2, 8, N, n, tau up to 10^8: at most 60 tau sqrt(p ln(R N n tau)/n)",
)
@proof_steps("recurrent-capacity.md: 9")
def test_the_complexity_is_of_the_claimed_order() -> None:
    """For depths 2 and 3, whatever the radius of the states; the logarithm is at least that of sqrt 2."""
    for R, N, n, tau in itertools.product((2, 8), (1, 10**4, 10**8), (1, 10**4, 10**8), (1, 10**4)):
        networks = RecurrentClass(3, 4, 2, 3, R)
        assert networks.parameters == 3 + 3 + 4
        bound = truncated_rademacher_bound(lambda r, k=networks, N=N: class_log_cover(k, N, r), tau, n)
        order = tau * (networks.parameters * arb(R * N * n * tau).log() / n).sqrt()
        assert decided_less(bound, 60 * order)


@check(
    GAP,
    grade="exact",
    target="printed",
    cases="9 functions, 6 points, 2 laws, n = 2, 4, delta = 1/2, 1/20: exact probabilities",
)
@proof_steps("recurrent-capacity.md: 10")
@pytest.mark.parametrize("n", [2, 4])
def test_the_deviation_of_a_finite_class(n: int) -> None:
    """The probability that some risk exceeds the empirical one by more than the bound, by enumeration."""
    tau = Q(9, 4)
    losses = cut(tau)
    for law in ([Q(1, 6)] * 6, [Q(1, 2), *[Q(1, 10)] * 5]):
        expected = sum((q * empirical_rademacher(losses, counts) for counts, q in sample_law(law, n)), fmpq(0))
        for delta in (Q(1, 2), Q(1, 20)):
            bound = deviation_of_truncated_losses(arb(expected), tau, n, 10**6, delta)
            failing = sum(
                (q for counts, q in sample_law(law, n) if decided_less(bound, arb(_excess(losses, law, counts)))),
                fmpq(0),
            )
            assert failing <= as_exact([delta])[0]
            assert largest_deviation(losses, law, counts_of_first(n)) > 0


def counts_of_first(n: int) -> tuple[int, ...]:
    return (n, 0, 0, 0, 0, 0)


def _excess(losses: Any, law: Any, counts: Any) -> fmpq:
    n = sum(counts)
    rows = [sum(((q - Q(c, n)) * v for q, c, v in zip(law, counts, row, strict=True)), Q(0)) for row in losses]
    return as_exact([max(rows)])[0]


@check(
    GAP,
    grade="exact",
    target="printed",
    cases="all functions to {0, 1} on 10^9 points, n = 10^6 different samples: gap 1 - 1/1000, complexity 1/2",
)
@proof_steps("recurrent-capacity.md: 10")
def test_no_smaller_multiple_of_the_complexity_serves() -> None:
    """0 on the n points seen and 1 elsewhere: the gap is (m - n)/m surely, Rad = 1/2 on different points."""
    rad = empirical_rademacher(as_exact(list(itertools.product((0, 1), repeat=4))))
    assert rad == fmpq(1, 2)  # E max(0, sum of signs where positive)/n, for every n
    m, n = 10**9, 10**6
    gap = 1 - fmpq(n, m)
    bound = deviation_of_truncated_losses(arb(rad), 1, n, 2, fmpq(1, 2))
    assert decided_less(arb(gap), bound)
    assert decided_less(bound, arb(gap) * fmpq(1003, 1000))


@check(GAP, grade="numeric", target="printed", cases="5 choices of (Rad, tau, n, N, delta), written out")
@proof_steps("recurrent-capacity.md: 10")
def test_the_deviation_is_the_formula() -> None:
    for rad, tau, n, N, delta in [
        (0.5, 1, 1, 1, 0.5),
        (0.1, 4, 100, 10, 0.01),
        (0, 9, 10**6, 10**3, 0.9),
        (2, 2, 7, 3, 1e-6),
        (1, 50, 3, 10**9, 0.1),
    ]:
        expected = 2 * rad + tau * math.sqrt(math.log(1 / delta) / (2 * n)) + n**-1.5 * N**-0.5 * tau
        found = deviation_of_truncated_losses(arb(rad), tau, n, N, arb(delta))
        assert abs(float(found) - expected) < 1e-12 * max(1, expected)


# ---- lemma 34


@check(TAIL, grade="numeric", target="printed", cases="R = 2, 4, L = 1, 2, s = 1, 2, n up to 10^6, written out")
@check(LEARNED, grade="numeric", target="printed", cases="tau: R = 2, 4, L = 1, 2, s = 1, 2, n up to 10^6, written out")
@proof_steps("recurrent-capacity.md: 12, 13")
def test_the_level_is_the_formula() -> None:
    for R, L, s, n in itertools.product((2, 4), (1, 2), (1, 2), (1, 100, 10**6)):
        D = 64 * R ** (4 * L) * ((3 * R + L) ** 4 + R**4) + 8 * 3**2 * 4 ** (2 * s)
        assert fourth_moment(R, L, 3, s) == D
        v = math.log(2 * n * D)
        expected = 4 * max((R**L * (3 * R + L + R * math.sqrt(v))) ** 2, 3 * math.e**2 * v**s)
        assert abs(float(truncation_level(R, L, n, 3, s)) - expected) < 1e-12 * expected
    assert float(truncation_level(1, 1, 10, 10**6, 2)) > 4 * 10**6 * math.e**2  # where the labels decide


@check(
    TAIL,
    grade="enclosed",
    target="printed",
    cases="|x| Gaussian, linear read-outs of slope R^L/2^L, R = 2, 5, 20, n up to 10^9",
)
@proof_steps("recurrent-capacity.md: 13")
def test_gaussian_errors_cut_at_the_level() -> None:
    """E(Delta^2 - tau)_+ in closed form for Gaussian Delta of the size that the class allows."""
    for R, L, n in itertools.product((2, 5, 20), (1, 2, 3), (1, 10, 10**4, 10**9)):
        size = arb(R) ** L / 2**L + 1
        tau = truncation_level(R, L, n)
        t = tau.sqrt() / size
        tail = (t / arb(2).sqrt()).erfc() / 2
        density = (-t * t / 2).exp() / (2 * arb.pi()).sqrt()
        lost = 2 * size**2 * ((1 - t * t) * tail + t * density)
        assert decided_less(lost, 1 / arb(n).sqrt())


@check(
    TAIL,
    grade="exact",
    target="printed",
    supporting=True,
    cases="200 random networks of depth 1, 2, 3 with norm R = 2, 3; aligned ones",
)
@proof_steps("recurrent-capacity.md: 11")
def test_outputs_are_bounded_by_the_norms() -> None:
    """|yhat| <= R^L (3 R + L + |x|) for states of norm <= R and z of norm^2 |x|^2 + q + 1, q + 1 <= R^2."""
    rng = np.random.default_rng(3)
    for number in range(200):
        L, R = 1 + number % 3, 2 + number % 2
        x, largest = float(rng.uniform(0, 9)), 0.0
        inputs = math.sqrt(2) * R + math.sqrt(x * x + R * R)
        norms = rng.dirichlet(np.ones(2 * L - 1)) * R * R
        value = inputs
        for l in range(L):  # aligned rank-one layers: the largest outputs
            value = math.sqrt(norms[l]) * value + (math.sqrt(norms[L + l]) if l < L - 1 else 0)
        largest = max(largest, value)
        assert largest <= R**L * (3 * R + L + x)


@check(TAIL, grade="exact", target="printed", supporting=True, cases="n = N = 1, which q < N excludes")
@proof_steps("recurrent-capacity.md: 14")
def test_one_prompt_of_one_token_says_nothing_about_its_dimension() -> None:
    """Why there have to be two tokens: for n = N = q = 1 and R = 2 log(nN) = 0 allows every d.

    x = sqrt(d) u with probability 1/2, else 0, and y = 0.
    E|x|^r = d^(r/2)/2 meets assumption 1 with C_x = 1. On the sample x = 0 the network relu(<u, x>)/2 has no error and
    is a minimiser; its risk is d/8, its truncated risk at most tau/2. So no tau that does not grow with d serves.
    """
    for tau in (10**2, 10**4, 10**8):
        d = 8 * tau + 16
        C = 1
        for r in (1, 2, 7):
            assert Q(1, 2) * d**r <= (C * d * r) ** r
        assert 3 * 1 * 0 + 1 + 1 <= 2**2  # 3 C_x e d log(nN) + q + 1 <= R^2
        risk, truncated = Q(1, 2) * Q(d, 4), Q(1, 2) * min(Q(d, 4), Q(tau))
        assert risk - truncated > 1
        assert Q(1, 4) + Q(1, 1) <= 4  # the squares of the two weights, 1/2 and 1: within R^2


# ---- theorem 7


def _class_of(N: int, n: int, code_dimension: int) -> tuple[RecurrentClass, int]:
    """The least integer R for the exact network of a linear link with d = 2, q = 1, Gaussian tokens, and its class."""
    bound = math.ceil(math.sqrt(6 * math.e * math.log(n * N)))  # r_x for d = 2, C_x = 1
    network = exact_network(2, 1, code_dimension, bound, linear_link([[1, 2]]))
    assert network.forward is not None
    assert network.readout is not None
    sizes = [sum(array.size for array in part.arrays()) for part in (network.forward, network.readout)]
    norm = float(sum((fmpq(x) ** 2 for array in network.arrays() for x in array.ravel().tolist()), fmpq(0))) ** 0.5
    ball: Any = network.forward.bound
    R = math.ceil(max(norm, math.sqrt(bound**2 + 2), float(ball.radius)))
    return RecurrentClass(sizes[0], sizes[1], 4, 5, R, R), R


@check(
    LEARNED,
    grade="numeric",
    target="printed",
    cases="d = 2, q = 1, codes for N = 64, 512, 32768, n = 10^4, 10^8, 10^12, 10^16",
)
@proof_steps("recurrent-capacity.md: 15")
def test_the_risk_of_minimisers_falls_with_the_root_of_the_samples_whatever_the_length() -> None:
    """The sum of its terms, and of the claimed order: sqrt(n) times it grows by logarithms only, in n and in N."""
    values = {}
    for N, codes in ((64, 16), (512, 64), (32768, 64)):
        for n in (10**4, 10**8, 10**12, 10**16):
            networks, R = _class_of(N, n, codes)
            terms = 0.0
            for tau in (arb(1), truncation_level(R, 5, n)):  # at tau = 1 the small terms are seen as well
                found = empirical_minimiser_bound(networks, fmpq(1, 100), n, N, arb(n) ** -1, tau)
                cover = float(class_log_cover(networks, N, 1 / (2 * (tau * n).sqrt())))
                size = float(tau)
                rad = n**-0.5 + size * math.sqrt(2 * cover / n)
                terms = 0.01 + 2 * rad + size * math.sqrt(math.log(n) / (2 * n)) + size * n**-1.5 * N**-0.5 + n**-0.5
                assert abs(float(found) - terms) < 1e-10 * terms
            values[N, n] = (terms - 0.01) * math.sqrt(n)
    for N in (64, 512, 32768):
        for n in (10**4, 10**8, 10**12):
            ratio = math.log(10**4 * n * N) / math.log(n * N)
            assert 1 < values[N, n * 10**4] / values[N, n] < ratio**8  # tau is of order R^12 and R^2 of order log(nN)
    for n in (10**4, 10**16):
        assert 1 < values[32768, n] / values[512, n] < (math.log(n * 32768) / math.log(n * 512)) ** 8
