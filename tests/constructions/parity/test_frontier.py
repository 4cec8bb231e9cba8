"""`lemmata.constructions.parity.frontier`: coverage against enumeration, least sizes, a real step, bad input."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.parity import frontier, frontier_runs
from lemmata.constructions.parity.bias_grids import odd_kink_grid, ramp_labels, solve_readout
from lemmata.constructions.parity.frontier import (
    SparseStart,
    frontier_point,
    hidden_samples,
    printed_sizes,
    proof_sizes,
    sparse_start,
    usable_sparsities,
)
from lemmata.constructions.parity.frontier_runs import enough_samples
from lemmata.constructions.parity.over_sparse import SparseInitialization, over_sparse_step, sample_gradients
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.parity.lower_bound import view_bound
from lemmata.numerics.parity.queries import gradient_samples
from lemmata.numerics.parity.sparse_neurons import (
    GradientValues,
    even_sparse_values,
    over_sparse_neuron,
    over_sparse_values,
    sparse_gradient,
    under_sparse_neuron,
)

HUNDREDTH = fmpq(1, 100)


def enumerated(share: Fraction, biases: int, pairs: int, copies: int) -> Fraction:
    """The probability by adding up the multinomial law over all counts of good pairs at the biases."""
    total = Fraction(0)
    for counts in itertools.product(range(copies, pairs + 1), repeat=biases):
        rest = pairs - sum(counts)
        if rest >= 0:
            ways = math.factorial(pairs) // math.prod(math.factorial(c) for c in (*counts, rest))
            total += ways * (share / biases) ** sum(counts) * (1 - share) ** rest
    return total


@pytest.mark.parametrize(("n", "k", "s"), [(20, 2, 7), (12, 4, 2), (15, 4, 11), (40, 4, 39), (30, 4, 2), (20, 6, 4)])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_coverage_is_that_of_the_multinomial_law(n: int, k: int, s: int, copies: int) -> None:
    start = sparse_start(n, k, s)
    share = Fraction(int(start.good.p), int(start.good.q))
    for pairs in (0, 1, 3, 5, 9) if start.biases < 6 else (0, 6, 7):
        exact = enumerated(share, start.biases, pairs, copies)
        ball = start.coverage(pairs, copies)
        with precision(256):
            assert ball.overlaps(arb(fmpq(exact.numerator, exact.denominator)))
        assert ball.rad() < arb(10) ** -50


def test_good_probabilities_are_those_of_all_neurons() -> None:
    for n, k, s in ((9, 2, 5), (9, 4, 2), (10, 2, 7)):
        rows = list(itertools.combinations(range(n), s))
        inside = set(range(k))
        good = sum(inside <= set(row) or set(row) <= inside for row in rows)
        assert sparse_start(n, k, s).good == fmpq(good, len(rows))


@pytest.mark.parametrize(
    ("n", "k", "s", "copies"), [(20, 2, 7, 1), (50, 4, 2, 1), (50, 4, 25, 3), (300, 6, 101, 1), (300, 20, 18, 2)]
)
def test_sizes_are_the_least_ones(n: int, k: int, s: int, copies: int) -> None:
    start = sparse_start(n, k, s)
    width, samples = frontier_point(start, HUNDREDTH, copies)
    assert width % 2 == 0
    with precision(600):
        assert start.coverage(width // 2, copies) >= fmpq(199, 200) > start.coverage(width // 2 - 1, copies)
    assert start.missed(width // 2, samples) <= fmpq(1, 200) + fmpq(1, 10**12)  # balls of 53 bits
    fewer = samples - max(1, samples // 10**12)
    assert start.missed(width // 2, fewer) > fmpq(1, 200)


def test_one_step_at_these_sizes_finds_the_support() -> None:
    """Twenty starts and samples at n = 12, k = 2, s = 7, failing with probability 1/20 each: at most six fail.

    Six or more failures of twenty, with probability 1/20 each, have a chance below 1/3000.
    """
    n, k, s = 12, 2, 7
    start = sparse_start(n, k, s)
    width, samples = frontier_point(start, fmpq(1, 20))
    failures = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.permuted(np.tile(np.arange(n) < s, (width // 2, 1)), axis=1).astype(np.int64)
        before = SparseInitialization(
            rows, np.array([fmpq(-3, 8)] * len(rows), dtype=object), rng.choice([-1, 1], size=len(rows))
        )
        x = rng.choice([-1, 1], size=(samples, n))
        after = over_sparse_step(before, range(k), sample_gradients(before, x, x[:, :k].prod(axis=1)))
        good = rows[:, :k].all(axis=1)
        found = (after.hidden != 0) == (np.arange(n) < k)
        failures += not (good.any() and found[good].all())
    assert failures < 6


def test_a_tenth_of_the_samples_is_too_few() -> None:
    """The same step with a tenth of the samples leaves irrelevant weights in most starts: the bound is no idle one."""
    n, k, s = 12, 2, 7
    start = sparse_start(n, k, s)
    _, samples = frontier_point(start, fmpq(1, 20))
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        before = SparseInitialization(
            np.tile(np.arange(n) < s, (1, 1)).astype(np.int64), np.array([fmpq(-3, 8)], dtype=object), np.array([1])
        )
        x = rng.choice([-1, 1], size=(samples // 100, n))
        after = over_sparse_step(before, range(k), sample_gradients(before, x, x[:, :k].prod(axis=1)))
        missed += bool(((after.hidden != 0) != (np.arange(n) < k)).any())
    assert missed > 10


def test_every_point_lies_above_the_lower_bound_and_below_the_constants_of_the_proofs() -> None:
    for n, k in ((20, 2), (50, 4), (50, 6), (101, 8), (200, 4)):
        usable = usable_sparsities(n, k)
        assert usable
        for s in usable:
            start = sparse_start(n, k, s)
            width, samples = frontier_point(start, HUNDREDTH)
            assert samples > hidden_samples(n, k, width)
            if not start.in_theorems:
                with pytest.raises(ValueError, match="odd number s of ones"):
                    proof_sizes(start, fmpq(1, 10), HUNDREDTH)
                with pytest.raises(ValueError, match="odd number s of ones"):
                    printed_sizes(start, fmpq(1, 10), HUNDREDTH)
                continue
            if start.regime == "over" or 4 * abs(start.values.irrelevant) <= abs(start.values.relevant):
                proof = proof_sizes(start, fmpq(1, 10), HUNDREDTH)
                assert proof.samples > samples
                assert 2 * proof.width > width
            if start.regime == "over":
                proof = proof_sizes(start, fmpq(1, 10), HUNDREDTH)
                printed = printed_sizes(start, fmpq(1, 10), HUNDREDTH)
                assert printed.samples > 10**6 * proof.samples
                assert printed.least_s is not None
                assert printed.least_s > n


def test_printed_sizes_are_those_of_the_formulas() -> None:
    """Once more in floats, at k = 4, with the norm 11952.8 of the read-out that the catalogue has."""
    n, k, s, eps, delta = 50, 4, 21, 0.1, 0.01
    start = sparse_start(n, k, s)
    found = printed_sizes(start, "0.1", "0.01")
    width = 20 * k * (2 * n / s) ** k * math.log(2 * k / delta)
    assert width <= found.width <= width + 2
    norm, per_bias = 11952.8, found.width * float(arb(start.good)) / k
    eta = 1 / (2 * k * abs(float(arb(start.values.relevant))))
    tau = min(eps / (4 * norm * k * per_bias * n * eta), 1 / (16 * eta * k * n))
    assert math.isclose(found.samples, 4 / tau**2 * math.log(4 * n * found.width / delta), rel_tol=1e-4)
    assert found.least_s is not None
    assert math.isclose(found.least_s, 4 * k * per_bias * norm**2 / eps**2, rel_tol=1e-4)
    needed = 100 * norm**2 / eps**2 * (math.sqrt(8 * k * per_bias) + 1 / norm) ** 2
    assert found.steps is not None
    assert math.isclose(found.steps / math.log(found.steps), needed, rel_tol=1e-4)
    with pytest.raises(ValueError, match="printed without constants"):
        printed_sizes(sparse_start(n, k, 2), "0.1", "0.01")


def test_a_sparsity_is_accepted_where_a_truncation_leaves_the_support() -> None:
    """By the exact gradient of a good neuron; usable are those for which half of the relevant gradient serves."""
    for n, k in ((11, 2), (14, 4), (15, 6), (14, 3), (21, 5), (9, 3), (12, 5)):
        accepted, half = [], []
        for s in {*range(1, n + 1)} - {k}:
            neuron = under_sparse_neuron(n, range(s), fmpq(1, 2 * n)) if s < k else over_sparse_neuron(n, range(s))
            g = [abs(v) for v in sparse_gradient(neuron, range(k)).tolist()]
            relevant, others = (g[s:k], g[k:]) if s < k else (g[:k], g[k:])
            if min(relevant) > max(others, default=0):
                accepted.append(s)
                start = sparse_start(n, k, s)
                assert max(others, default=0) + start.tolerance == start.threshold <= min(relevant) - start.tolerance
                if start.threshold == min(relevant) / 2:
                    half.append(s)
            else:
                with pytest.raises(ValueError, match=r"no truncation tells|is 0 at every input|odd number s"):
                    sparse_start(n, k, s)
        assert set(usable_sparsities(n, k)) == set(half) - ({k - 1} if k % 2 == 0 else set())
        assert set(half) < set(accepted) or k == 2


def test_the_lower_bound_falls_with_each_resource() -> None:
    base = hidden_samples(100, 6, 100)
    assert base > hidden_samples(100, 6, 200) > hidden_samples(100, 6, 200, 3)
    assert base > hidden_samples(100, 6, 100, delta=fmpq(1, 10))
    assert base == math.floor(math.comb(100, 6) / 2 / 10_000 * math.log(80_000))


@pytest.mark.parametrize(("n", "k", "width", "steps"), [(100, 6, 50, 1), (60, 8, 400, 3), (40, 10, 7, 20)])
def test_the_lower_bound_is_that_of_the_proposition(n: int, k: int, width: int, steps: int) -> None:
    """tau from its square, rounded: all but delta/2 of the parities are hidden, and gradients as accurate as it needs.

    With one sample in a thousand more, tau is smaller and the guarantee is below 1 - delta/2.
    """
    delta, weights = fmpq(1, 4), width * n
    line = hidden_samples(n, k, width, steps, delta)
    assert line > 10_000
    for samples, hidden in ((line, True), (line + line // 1000, False)):
        square = 8 * math.log(2 * weights * steps / 0.125) / samples
        tau = fmpq(round(math.sqrt(square) * 2**50), 2**50)
        assert abs(gradient_samples(weights, steps, delta / 2, tau, 0) - samples) <= 1 + samples // 10**6
        assert (view_bound(n, k, weights, steps, tau) > 1 - delta / 2 - fmpq(1, 10**6)) is hidden


def test_a_lost_factor_in_the_share_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the printed lower bound (s/2n)^k in place of the probability, the coverage is another."""
    monkeypatch.setattr(frontier, "good_probability", lambda n, k, s: fmpq(s, 2 * n) ** k)
    with pytest.raises(AssertionError):
        test_good_probabilities_are_those_of_all_neurons()


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ((20, 3, 9), "For an odd k = 3 a neuron with an odd number s = 9"),
        ((20, 5, 3), "never ties, so that the small weights decide nothing. Take an even s and an even n"),
        ((21, 5, 2), "an odd parity shows only where all inputs tie"),
        ((20, 6, 3), "Take an even s, or s = 5, which shows the one missing input"),
        ((20, 3, 4), "Their signs do, being opposite"),
        ((20, 0, 9), "a number k >= 2 of inputs, not 0"),
        ((4, 4, 3), "must be above k = 4"),
        ((3, 4, 2), "must be above k = 4"),
        ((5000, 4, 51), "at most 4096"),
        ((500, 66, 2), "k <= 64 relevant inputs"),
        ((20, 4, 4), "At s = k = 4"),
        ((20, 4, 21), "1 <= s < 4 ones or 4 < s <= 20, not 21"),
        ((20, 4, 0), "1 <= s < 4 ones or 4 < s <= 20, not 0"),
        ((20, 4, 7), "Truncation can for s in 2, 10, 11, 12, 13"),
        ((8, 6, 2), "for others, as much or more"),
    ],
)
def test_bad_sizes_are_refused(sizes: tuple[int, int, int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        sparse_start(*sizes)


def test_bad_numbers_are_refused() -> None:
    start = sparse_start(20, 2, 7)
    for delta in (0, 1, fmpq(3, 2), 0.1, "x"):
        with pytest.raises(ValueError, match="delta must be a rational number"):
            frontier_point(start, delta)
        with pytest.raises(ValueError, match="delta must be a rational number"):
            hidden_samples(20, 2, 4, delta=delta)
    for sizes in (proof_sizes, printed_sizes):
        with pytest.raises(ValueError, match="epsilon must be"):
            sizes(start, 2, HUNDREDTH)
    for call in (lambda: start.coverage(-1), lambda: start.coverage(3, 0), lambda: start.samples(0, HUNDREDTH),
                 lambda: start.missed(0, 1), lambda: start.missed(1, 0), lambda: hidden_samples(9, 2, 0),
                 lambda: hidden_samples(9, 2, 1, 0), lambda: hidden_samples(2, 3, 1)):  # fmt: skip
        with pytest.raises(ValueError, match=r"must be an integer >=|needs k <= n"):
            call()


@pytest.mark.parametrize(("k", "s"), [(3, 8), (3, 10), (5, 12), (2, 6), (4, 10), (4, 11)])
def test_every_parity_shows_in_neurons_of_even_sparsity(k: int, s: int) -> None:
    """Correlations of the parity times an input with the step of the sum, on all inputs of a good neuron."""
    inputs = np.array(list(itertools.product((1, -1), repeat=s)))
    steps = {size: inputs[:, :size].sum(axis=1) > 0 for size in (s - 1, s)}
    entries = {
        size: [Fraction(int((inputs[:, :k].prod(axis=1) * inputs[:, i] * step).sum()), 2**s) for i in (0, k)]
        for size, step in steps.items()
    }
    values = over_sparse_values(s, k) if s % 2 else even_sparse_values(s, k)
    assert entries[s] == [Fraction(int(g.p), int(g.q)) for g in (values.relevant, values.irrelevant)]
    assert abs(entries[s][1] / entries[s][0]) == (Fraction(k, s - k) if k % 2 else Fraction(k - 1, s - k + 1 - s % 2))
    if k % 2:
        assert entries[s - 1] == [0, 0]


@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_odd_parities_have_a_read_out(k: int) -> None:
    grid = odd_kink_grid(k)
    readout = solve_readout(k, grid)
    assert len(grid) == (k + 1) // 2
    assert [readout(z) for z in range(-k, k + 1, 2)] == ramp_labels(k)
    assert [abs(v) for v in readout.plus] == [4 * k] * (k // 2) + [2 * k]  # slopes +-2k between the kinks
    with pytest.raises(ValueError, match="make the system square"):
        solve_readout(k, grid[:-1])
    with pytest.raises(ValueError, match="every interval needs a kink"):
        solve_readout(k, [fmpq(-1, 2)] * len(grid))


def test_one_step_and_a_read_out_compute_an_odd_parity() -> None:
    """n = 11, k = 3, s = 10 on all inputs: at the proved width each bias has a good pair; its ramps are the parity."""
    n, k, s = 11, 3, 10
    start, grid = sparse_start(n, k, s), odd_kink_grid(k)
    width, _ = frontier_point(start, HUNDREDTH)
    rng = np.random.default_rng(5)
    rows = rng.permuted(np.tile(np.arange(n) < s, (width // 2, 1)), axis=1).astype(np.int64)
    at = rng.integers(0, len(grid), size=len(rows))
    x = np.array(list(itertools.product((1, -1), repeat=n)))
    y = x[:, :k].prod(axis=1)
    active = x @ rows.T > 0  # -1 < biases <= 0 and even sums
    gradients = (active * y[:, None]).T @ x / len(x)
    relevant = float(arb(start.values.relevant))
    kept = np.where(np.abs(gradients) > abs(relevant) / 2, gradients, 0) / (2 * k * relevant)
    readout = solve_readout(k, grid)
    output = np.zeros(len(x))
    for j, bias in enumerate(map(float, map(arb, grid))):
        first = np.flatnonzero(rows[:, :k].all(axis=1) & (at == j))[0]
        before = x @ kept[first]
        output += float(arb(readout.plus[j])) * np.maximum(before + bias, 0)
        output += float(arb(readout.minus[j])) * np.maximum(bias - before, 0)
    assert np.allclose(output, y, atol=1e-9)


def test_runs_find_fewer_samples_than_are_proved_and_fail_with_far_fewer() -> None:
    for n, k, s in ((12, 2, 7), (12, 2, 8), (9, 4, 2), (10, 3, 2)):
        start = sparse_start(n, k, s)
        width, samples = frontier_point(start, HUNDREDTH)
        found = enough_samples(start, width // 2, samples, runs=5)
        assert found is not None
        assert samples / 20 < found <= samples
        assert enough_samples(start, width // 2, samples // 100, runs=5) is None
    assert enough_samples(start, 10**6, 10**9) is None
    with pytest.raises(ValueError, match="number of runs"):
        enough_samples(start, 1, 1, 0)


@pytest.mark.parametrize(("n", "k", "s"), [(12, 2, 7), (9, 4, 2)])
def test_runs_differ_and_count_exactly(n: int, k: int, s: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More runs ask for more samples; in pieces of other sizes the sums in float32 are the same."""
    start = sparse_start(n, k, s)
    width, samples = frontier_point(start, HUNDREDTH)
    one, many = (enough_samples(start, width // 2, samples, runs) for runs in (1, 8))
    assert one is not None
    assert many is not None
    assert one < many
    monkeypatch.setattr(frontier_runs, "_ACTIVE", 97 * width)
    assert enough_samples(start, width // 2, samples, 8) == many


@pytest.mark.parametrize(("n", "k", "s"), [(7, 2, 5), (8, 2, 6), (8, 3, 6), (7, 4, 2), (8, 4, 2), (8, 3, 2), (7, 4, 3)])
def test_runs_compare_with_the_gradient_of_the_population(n: int, k: int, s: int) -> None:
    start = SparseStart(n, k, s, "under" if s < k else "over", fmpq(1), 1, GradientValues(fmpq(1), fmpq(0)))
    ones = np.array([[i in row for i in range(n)] for row in itertools.combinations(range(n), s)])
    found = frontier_runs._gradients(start, ones)
    x = np.array(list(itertools.product((1, -1), repeat=n)))
    weights = np.where(ones, 1, 1 / (2 * n) if s < k else 0)
    active = x @ weights.T > 1e-9
    assert np.allclose(found, (active * x[:, :k].prod(axis=1)[:, None]).T @ x / len(x), atol=1e-12)
