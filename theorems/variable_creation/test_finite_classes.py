"""Covering numbers, Rademacher complexity, Dudley's bound and uniform deviations (4.1, 4.2, A.1-A.5) on finite classes.

Covering numbers are certified, complexities and failure probabilities are rational numbers; the oracles enumerate
covers, signs and ordered samples from the definitions. The general statements are proved in proofs/generalisation.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
import sympy
from flint import arb, fmpq

from lemmata.certificates.capacity.covers import certify_cover, covering_steps
from lemmata.numerics.exact.balls import ball_max
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.learning.entropy import (
    CONSTANT,
    deviation_bound,
    entropy_bound,
    generalisation_bound,
    rademacher_bound,
)
from lemmata.numerics.learning.finite_classes import (
    deviation_failure_probability,
    empirical_rademacher,
    largest_deviation,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

Rows = list[list[Fraction]]
VALUES = (fmpq(0), fmpq(1), fmpq(101, 100))
FUNCTIONS = list(product(VALUES, repeat=2))


def least_cover(near: list[list[bool]]) -> int:
    """The least number of functions of the class that are near all of it, by trying all sets of centres."""
    everybody = range(len(near))
    for k in range(1, len(near) + 1):
        for centres in combinations(everybody, k):
            if all(any(near[c][f] for c in centres) for f in everybody):
                return k
    raise AssertionError


def random_class(seed: int, functions: int, points: int) -> np.ndarray:
    """Values k/8 in [-1, 1], one of them of size 1."""
    table = as_exact(np.random.default_rng([seed, functions, points]).integers(-8, 9, (functions, points))) / 8
    table[0, 0] = fmpq(1)
    return table


CLASSES = [(seed, 2 + seed % 5, 1 + seed % 4) for seed in range(12)]


# ---- definitions


@check(
    "variable-creation:definition-4.1",
    grade="exact",
    target="printed",
    cases="all 129 sets of 1, 2, 3 functions on two points with the values 0, 1, 101/100 (255 with 4 if --effort full)",
)
def test_covering_numbers_are_those_of_the_definition(effort):
    sizes = range(1, effort.pick(quick=4, full=5))
    for rows in (rows for size in sizes for rows in combinations(FUNCTIONS, size)):
        near = [[max(abs(a - b) for a, b in zip(f, g, strict=True)) <= 1 for g in rows] for f in rows]
        found = certify_cover(np.array(rows, dtype=object), 1)
        assert found.lower == found.size == least_cover(near)
        assert all(tuple(centre) in rows for centre in found.centres)


@check(
    "variable-creation:definition-4.1",
    grade="sampled",
    target="printed",
    cases="30 random classes of 6 functions of 3 points, values in the plane, seeds 0-9 with 3 norms, radius 3/2",
)
@pytest.mark.parametrize("norm", ["maximum", "sum", "euclidean"])
def test_covering_numbers_of_vector_valued_classes(norm):
    order = {"maximum": np.inf, "sum": 1, "euclidean": 2}[norm]
    for seed in range(10):
        values = np.random.default_rng(seed).integers(-3, 4, (6, 3, 2))
        distances = np.linalg.norm(values[:, None] - values[None], ord=order, axis=-1).max(axis=-1)
        found = certify_cover(as_exact(values) / 2, "3/2", norm=norm)
        assert found.lower == found.size == least_cover((distances < 3 + 1e-9).tolist())


@check(
    "variable-creation:definition-4.1",
    grade="sampled",
    target="printed",
    cases="10 random classes of 6 functions on 4 points, seeds 0-9; samples of 1, ..., 4 points, radius 1/2",
)
@pytest.mark.parametrize("seed", range(10))
def test_the_supremum_over_samples_is_attained_without_repetitions(seed):
    table = random_class(seed, 6, 4)
    sizes = {sample: certify_cover(table[:, list(sample)], "1/2").size for sample in subsets(4)}
    for m in (1, 2, 3, 4):
        best = max(sizes[tuple(sorted(set(sample)))] for sample in product(range(4), repeat=m))
        assert best == max(sizes[sample] for sample in subsets(4) if len(sample) == m)
        repeated = (0, *range(m - 1)) if m > 1 else (0,)
        assert certify_cover(table[:, list(repeated)], "1/2").size == sizes[tuple(sorted(set(repeated)))]


def subsets(points: int) -> list[tuple[int, ...]]:
    return [c for k in range(1, points + 1) for c in combinations(range(points), k)]


def mean_of_maxima(rows: list[tuple[Fraction, ...]]) -> Fraction:
    """Definition A.1, sign by sign."""
    m = len(rows[0])
    draws = [max(sum(s * x for s, x in zip(xi, row, strict=True)) for row in rows) for xi in product((1, -1), repeat=m)]
    return Fraction(sum(draws)) / 2**m / m


@check(
    "variable-creation:definition-A.1",
    grade="exact",
    target="printed",
    cases="all 378 classes of one or two functions on 3 points with the values -1, 0, 2/3; repeated points by counts",
)
def test_rademacher_complexity_is_the_mean_of_the_maxima():
    functions = list(product((Fraction(-1), Fraction(0), Fraction(2, 3)), repeat=3))
    for size in (1, 2):
        for rows in combinations(functions, size):
            found = empirical_rademacher(rows)
            assert (found.p, found.q) == mean_of_maxima(list(rows)).as_integer_ratio()
            assert found >= 0
            assert found == 0 if size == 1 else found == empirical_rademacher([[x + 5 for x in row] for row in rows])
    rows = [(Fraction(1), Fraction(-2)), (Fraction(1, 3), Fraction(4))]
    found = empirical_rademacher(rows, [3, 2])
    spread = [(row[0],) * 3 + (row[1],) * 2 for row in rows]
    assert (found.p, found.q) == mean_of_maxima(spread).as_integer_ratio()


# ---- Dudley's bound


@check("variable-creation:lemma-A.2", grade="enclosed", target="printed", supporting=True, cases="12 random classes")
@proof_steps("generalisation.md: 1")
@pytest.mark.parametrize(("seed", "functions", "points"), CLASSES)
def test_maxima_of_few_vectors_are_small(seed, functions, points):
    table = random_class(seed, functions, points)
    largest = max(sum((x * x for x in row), start=fmpq(0)) for row in table.tolist())
    assert arb(points * empirical_rademacher(table)) <= (2 * largest * arb(functions).log()).sqrt()


@check(
    "variable-creation:lemma-A.2",
    grade="numeric",
    target="printed",
    cases="12 random classes of 2, ..., 6 functions with values in [-1, 1] on 1, ..., 4 points, seeds 0-11",
)
@proof_steps("generalisation.md: 3")
@pytest.mark.parametrize(("seed", "functions", "points"), CLASSES)
def test_dudley_bounds_the_complexity_of_finite_classes(seed, functions, points):
    table = random_class(seed, functions, points)
    steps, complexity = covering_steps(table), arb(empirical_rademacher(table))
    bound = entropy_bound(steps, 1, points)
    assert complexity <= entropy_bound(steps, 1, points, offset=4, factor=CONSTANT, share="1/2")
    assert complexity <= 12 * bound
    assert CONSTANT == 12
    assert abs(float(bound.mid()) - least_objective(table)) < 1e-12


def least_objective(table: np.ndarray) -> float:
    """inf over delta of delta + integral of sqrt(log N/m) from delta to 1, with covers by enumeration."""
    rows = table.tolist()
    gaps = [[max(abs(a - b) for a, b in zip(f, g, strict=True)) for g in rows] for f in rows]
    radii = sorted({fmpq(0), fmpq(1), *(x for row in gaps for x in row if x < 1)})

    def root(radius: fmpq) -> float:
        return math.sqrt(math.log(least_cover([[x <= radius for x in row] for row in gaps])) / len(rows[0]))

    pieces = [float((b - a).p) / float((b - a).q) * root(a) for a, b in pairwise(radii)]
    return min(float(r.p) / float(r.q) + sum(pieces[k:]) for k, r in enumerate(radii))


@check(
    "variable-creation:lemma-A.2",
    grade="enclosed",
    target="printed",
    cases="all sign vectors on m = 1, 2, 3 points",
)
@proof_steps("generalisation.md: 3")
@pytest.mark.parametrize("points", [1, 2, 3])
def test_the_constant_of_dudley_is_at_least_six_fifths(points):
    table = list(product((1, -1), repeat=points))
    steps = covering_steps(table)
    assert steps == [(0, 2**points), (2, 1)]
    assert entropy_bound(steps, 1, points).overlaps(arb(2).log().sqrt())
    assert empirical_rademacher(table) == 1
    assert fmpq(6, 5) * entropy_bound(steps, 1, points) < 1


# ---- corollary A.3


def entropy_constant(steps: list[tuple[fmpq, int]]) -> arb:
    """The least C with ln N(eps) <= C/eps^2 for every eps: it is approached below the next radius."""
    return ball_max([radius**2 * arb(number).log() for (_, number), (radius, _) in pairwise(steps)] + [arb(0)])


@check("variable-creation:corollary-A.3", grade="symbolic", target="corrected", supporting=True)
@proof_steps("generalisation.md: 4")
def test_the_objective_is_least_where_the_proofs_say():
    A, K, d = sympy.symbols("A K delta", positive=True)
    for slope, factor, top, ratio in ((1, 1, A, A / K), (4, 12, A / 2, A / (6 * K))):
        objective = slope * d + factor * K * sympy.log(top / d)
        (least,) = sympy.solve(sympy.diff(objective, d), d)
        assert least == factor * K / slope
        assert sympy.diff(objective, d, 2).is_positive
        assert sympy.simplify(sympy.expand_log(objective.subs(d, least) - factor * K * (1 + sympy.log(ratio)))) == 0


@check(
    "variable-creation:corollary-A.3",
    grade="enclosed",
    target="corrected",
    cases="12 random classes, seeds 0-11, with the least C that is valid for each and 7 multiples, in both regimes",
)
@proof_steps("generalisation.md: 4")
@pytest.mark.parametrize(("seed", "functions", "points"), CLASSES)
def test_complexities_are_below_the_corrected_bound(seed, functions, points):
    table = random_class(seed, functions, points)
    steps, complexity = covering_steps(table), arb(empirical_rademacher(table))
    least = entropy_constant(steps)
    for factor in (1, 2, 4, 8, 16, 64, 256, 1024):
        assert complexity <= rademacher_bound(factor * least, 1, points)
        assert complexity <= rademacher_bound(factor * least, 1, points, form="sharp")
    with pytest.raises(ValueError, match=r"needs 0 < C <= A\^2 m"):
        rademacher_bound(points + 1, 1, points, form="printed")


def least_on_a_grid(C: float, A: float, m: int, slope: float, factor: float, top: float) -> float:
    """The least value of slope delta + factor K ln(top/delta), delta <= top, or slope top, on a fine grid."""
    delta = np.geomspace(1e-6, top, 200001)
    return float((slope * delta + factor * math.sqrt(C / m) * np.log(top / delta)).min())


@check(
    "variable-creation:corollary-A.3",
    grade="numeric",
    target="corrected",
    cases="C = 4^k, k = -5, ..., 14, A = 3, m = 100: the bound is c times the least objective, and A beyond C = A^2 m",
)
@proof_steps("generalisation.md: 4")
def test_the_corrected_bound_is_the_least_objective():
    # a geometric grid of ratio 1.00008 misses the least value, a factor exp(1) from 0 slope, by less than 1e-8 of it
    for k in range(-5, 15):
        C = 4.0**k
        found = float(rademacher_bound(fmpq(4) ** k, 3, 100).mid()) / 12
        assert abs(found - least_on_a_grid(C, 3, 100, 1, 1, 3)) < 1e-7 * found
        sharp = float(rademacher_bound(fmpq(4) ** k, 3, 100, form="sharp").mid())
        assert abs(sharp - min(3, least_on_a_grid(C, 3, 100, 4, 12, 1.5) if C < 25 else 3)) < 1e-7 * sharp


@counterexample("variable-creation:corollary-A.3", "variable-creation:lemma-A.5", grade="enclosed")
@proof_steps("generalisation.md: 5")
def test_two_constants_have_a_negative_printed_bound(record: Record, size: int = 1, losses: tuple[int, int] = (0, 1)):
    table = [[-size], [size]]
    steps = covering_steps(table)
    assert largest_deviation([[0], [1]], [1], [1]) >= 0
    for t in (1, 10, 1000):  # K = e^(1 + t), so that the bound is -c t e^(1 + t): below any number, whatever c is
        K = arb(1 + t).exp()
        assert entropy_constant(steps) <= K**2
        printed = K * (1 + (1 / K).log())
        assert printed < -t * 2.7
        valid = K**-2  # where the printed form is admitted, it is as printed: c sqrt(C/m) (1 + log(A sqrt(m/C)))
        assert rademacher_bound(7 * valid, 3, 7, constant=5, form="printed").overlaps(5 / K * (1 + (3 * K).log()))
        with pytest.raises(ValueError, match="below 0"):
            rademacher_bound(K**2, 1, 1, form="printed")
        if t == 1:
            complexity, deviation = empirical_rademacher(table), largest_deviation([[one] for one in losses], [1], [1])
            slope = fmpq(abs(losses[1] - losses[0]), abs(table[1][0] - table[0][0]))
            record.hypothesis("|f| <= A = 1", max(abs(row[0]) for row in table), "<=", 1)
            record.hypothesis("log N(eps) <= C/eps^2 for every eps, C = e^4", entropy_constant(steps), "<=", K**2)
            of = ["variable-creation:corollary-A.3", "variable-creation:lemma-A.5"]
            record.violated("R <= c sqrt(C/m) (1 + log(A sqrt(m/C))), c = 1", complexity, "<=", printed, of=of[0])
            record.hypothesis("the loss f -> (f + 1)/2 is 1-Lipschitz", slope, "<=", 1, of=of[1])
            both = 4 * printed + 2 * (arb(2).log() / 2).sqrt()
            record.violated("a deviation is at most the bound for delta = 1/2, c = 1", deviation, "<=", both, of=of[1])


# ---- theorem A.4, lemma A.5, lemma 4.2


def failure_by_samples(
    losses: Rows, values: Rows, masses: list[Fraction], m: int, bound: Callable[[Fraction], float]
) -> Fraction:
    """The probability over ordered samples that a deviation exceeds the bound."""
    failing = Fraction(0)
    for sample in product(range(len(masses)), repeat=m):
        risk = [sum(q * x for q, x in zip(masses, row, strict=True)) for row in losses]
        mean = [sum(row[i] for i in sample) / Fraction(m) for row in losses]
        rad = mean_of_maxima([tuple(row[i] for i in sample) for row in values])
        if max(abs(a - b) for a, b in zip(risk, mean, strict=True)) > bound(rad):
            failing += math.prod(masses[i] for i in sample)
    return failing


LOSSES = [[Fraction(0), Fraction(1), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4), Fraction(0)]]
SCORES = [[Fraction(0), Fraction(1), Fraction(1)], [Fraction(1, 2), Fraction(3, 4), Fraction(0)]]
MASSES = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


def shrunk(share: Fraction, m: int, delta: Fraction):
    """A share of the corrected bound, from the library and by hand."""

    def by_library(rad: fmpq) -> arb:
        return fmpq(share.numerator, share.denominator) * deviation_bound(rad, m, delta)

    def by_hand(rad: Fraction) -> float:
        return float(share) * (2 * float(rad) + 3 * math.sqrt(math.log(4 / float(delta)) / (2 * m)))

    return by_library, by_hand


@check(
    "variable-creation:theorem-A.4",
    grade="exact",
    target="corrected",
    cases="2 functions, 3 points, m = 1, ..., 4, delta = 1/10, 1/2: failures of 1/10, 1/5, 1/3 of the bound",
)
@proof_steps("generalisation.md: 9")
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_failure_probabilities_are_those_of_ordered_samples(m):
    seen = set()
    for delta in (Fraction(1, 10), Fraction(1, 2)):
        for share in (Fraction(1, 10), Fraction(1, 5), Fraction(1, 3)):
            by_library, by_hand = shrunk(share, m, delta)
            found = deviation_failure_probability(LOSSES, SCORES, MASSES, m, by_library)
            assert (found.p, found.q) == failure_by_samples(LOSSES, SCORES, MASSES, m, by_hand).as_integer_ratio()
            seen.add(str(found))
    assert seen != {"0"}


def corrected(m: int, delta: fmpq) -> Callable[[fmpq], arb]:
    return lambda rad: deviation_bound(rad, m, delta)


def sharp(m: int, delta: fmpq) -> Callable[[fmpq], arb]:
    return lambda rad: deviation_bound(rad, m, delta, form="sharp")


DELTAS = [fmpq(1, 100), fmpq(1, 10), fmpq(1, 2), fmpq(9, 10), fmpq(99, 100)]


@check(
    "variable-creation:theorem-A.4",
    grade="exact",
    target="corrected",
    cases="one function and two, losses 0 and 1, fair and unfair points, m = 1, 2, 5, 10, 20, 5 delta in [0.01, 0.99]",
)
@proof_steps("generalisation.md: 9")
@pytest.mark.parametrize("m", [1, 2, 5, 10, 20])
@pytest.mark.parametrize("share", [fmpq(1, 2), fmpq(1, 10)])
def test_the_corrected_bound_fails_rarely_enough(m, share):
    for losses, values in (([[0, 1]], [[0, 0]]), ([[0, 1], [1, 0]], [[0, 1], [1, 0]])):
        for delta in DELTAS:
            for bound in (corrected(m, delta), sharp(m, delta)):
                assert deviation_failure_probability(losses, values, [share, 1 - share], m, bound) <= delta


@check(
    "variable-creation:theorem-A.4",
    grade="numeric",
    target="corrected",
    cases="the bound at 36 points: L = 0, 1/2, 3, b = 1, 5, m = 1, 7, 1000, delta = 1/100, 99/100, Rademacher 1/7",
)
@proof_steps("generalisation.md: 9")
def test_the_corrected_bound_has_its_constants():
    for L, b, m, delta in product((0, fmpq(1, 2), 3), (1, 5), (1, 7, 1000), (fmpq(1, 100), fmpq(99, 100))):
        found = float(deviation_bound(fmpq(1, 7), m, delta, lipschitz=L, loss_bound=b).mid())
        slope, failure = float(to_float([L])[0]), float(to_float([delta])[0])
        assert abs(found - (2 * slope / 7 + 3 * b * math.sqrt(math.log(4 / failure) / (2 * m)))) < 1e-12 * found
        printed = float(deviation_bound(fmpq(1, 7), m, delta, lipschitz=L, loss_bound=b, form="printed").mid())
        assert abs(printed - (4 * slope / 7 + 2 * b * math.sqrt(-math.log(failure) / (2 * m)))) < 1e-12 * printed
        least = float(deviation_bound(fmpq(1, 7), m, delta, lipschitz=L, loss_bound=b, form="sharp").mid())
        assert abs(least - (2 * slope / 7 + 3 * b * math.sqrt(math.log(3 / failure) / (2 * m)))) < 1e-12 * found


@counterexample("variable-creation:theorem-A.4", "variable-creation:lemma-A.5", grade="exact")
@proof_steps("generalisation.md: 10")
def test_a_fair_coin_always_deviates(record: Record, losses: tuple[int, int] = (0, 1)):
    # One function: its Rademacher complexity is 0, and every C > 0 is valid. For odd m its deviation is 1/(2 m) at
    # least, and the printed bound is below that for delta > exp(-1/(8 m)): 0.8825 for m = 1.
    for m in (1, 3, 5, 11):
        delta = fmpq(1) - fmpq(1, 8 * m + 1)  # exp(-x) < 1/(1 + x) at x = 1/(8 m)
        assert coin_failure(delta, m) == 1 > delta
    assert coin_failure(fmpq(883, 1000), 1) == 1
    assert coin_failure(fmpq(882, 1000), 1) == 0
    assert covering_steps([[0, 0]]) == [(0, 1)]
    of = "variable-creation:theorem-A.4"
    chance = fmpq(99, 100)
    record.hypothesis("delta > 0", chance, ">", 0, of=of)
    record.hypothesis("the loss of the coin is bounded by b = 1", max(losses), "<=", 1, of=of)
    record.violated("the bound fails with probability at most delta", coin_failure(chance, 1), "<=", chance, of=of)


def coin_failure(delta: fmpq, m: int) -> fmpq:
    """The probability that the printed bound fails for one function with a fair loss in {0, 1}."""
    fair = ["1/2", "1/2"]
    return deviation_failure_probability(
        [[0, 1]], [[0, 0]], fair, m, lambda rad: deviation_bound(rad, m, delta, form="printed")
    )


@counterexample("variable-creation:lemma-4.2", grade="exact")
@proof_steps("generalisation.md: 12")
@pytest.mark.parametrize("constant", [1, 10, 1000])
def test_no_constants_save_the_informal_statement_near_probability_zero(record: Record, constant):
    # the deviation is 1/2 always, C = 0 is valid, and sqrt(log(1/delta)/m) tends to 0 as delta tends to 1
    delta = 1 - fmpq(1, 10 * constant**2)
    limit = constant * (1 / arb(delta)).log().sqrt()
    assert covering_steps([[0, 0]]) == [(0, 1)]
    assert empirical_rademacher([[0, 0]]) == 0
    fair = ["1/2", "1/2"]
    failure = deviation_failure_probability([[0, 1]], [[0, 0]], fair, 1, lambda rad: limit + arb(rad))
    assert failure == 1 > delta
    if constant == 1000:
        record.hypothesis("log N(eps) <= C/eps^2 with C = 0", arb(covering_steps([[0, 0]])[0][1]).log(), "<=", 0)
        record.hypothesis("delta > 0", delta, ">", 0)
        record.violated("1000 sqrt(log(1/delta)/m) fails with probability at most delta", failure, "<=", delta)


@check(
    "variable-creation:lemma-A.5",
    "variable-creation:lemma-4.2",
    grade="numeric",
    target="corrected",
    cases="classes of 2, 3 functions with values up to 1/100, 1/10, 1, the least C for all samples; m = 5, 20; 5 delta",
)
@proof_steps("generalisation.md: 11, 12")
@pytest.mark.parametrize("size", [fmpq(1, 100), fmpq(1, 10), fmpq(1)])
@pytest.mark.parametrize("m", [5, 20])
def test_generalisation_bounds_fail_rarely_enough(size, m):
    for values in ([[0, 1], [1, 0]], [[1, -1], [-1, 1], [0, 0]]):
        table = as_exact(values) * size
        losses = (table + size) / (2 * size)  # in [0, 1], Lipschitz with L = 1/(2 size)
        C = entropy_constant(covering_steps(table))
        for delta in DELTAS:
            bound = generalisation_bound(C, size, m, delta, lipschitz=1 / (2 * size))
            A, share = size_float(size), 1 / (2 * size_float(size))
            parts = 2 * share * 12 * min(A, k_log(C, A, m))
            root = 3 * math.sqrt(math.log(4 / size_float(delta)) / (2 * m))
            assert abs(float(bound.mid()) - parts - root) < 1e-12 * float(bound.mid())
            larger = float(generalisation_bound(C, size, m, delta, lipschitz=1 / (2 * size), loss_bound=5).mid())
            assert abs(larger - parts - 5 * root) < 1e-12 * larger  # for losses up to 5
            failure = deviation_failure_probability(
                losses, table, ["1/3", "2/3"], m, lambda rad, b=bound: b + 0 * arb(rad), lipschitz=1 / (2 * size)
            )
            assert failure <= delta


def size_float(x: fmpq) -> float:
    return float(x.p) / float(x.q)


def k_log(C: arb, A: float, m: int) -> float:
    """K (1 + ln^+(A/K)) in float64."""
    K = math.sqrt(float(C.mid()) / m)
    return K * (1 + max(0.0, math.log(A / K)))
