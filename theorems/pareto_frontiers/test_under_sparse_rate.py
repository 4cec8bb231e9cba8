"""With a fixed multiple of n^(k-s-1) samples no few neurons make the parity after one step, whatever the step is.

The proof (proofs/under-sparse-rate.md) bounds the share of the signs outside of S at which a neuron sees the parity at
all, by the number of inputs whose weights are no smaller than the second smallest of S, which no rate, decay or
truncation makes few. Without ones (s = 0) at most 2k neurons are different: the bound holds for all subnetworks.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil, comb

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.under_sparse import UnderSparseStart, under_sparse_step
from lemmata.numerics.parity.seen_parity import seen_share, spread_share, step_spread
from lemmata.numerics.parity.sparse_neurons import under_sparse_neuron, under_sparse_values
from lemmata.numerics.parity.sparse_samples import sampled_counts
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.theorems.evidence import check, proof_steps

ENTRY = "pareto-frontiers:ext-few-neurons"


# ---- what a neuron sees


@check(ENTRY, grade="exact", target="printed", cases="k = 2, 3, 4, n = 9 to 100: random integer weights, all inputs")
@proof_steps("under-sparse-rate.md: 1")
@pytest.mark.parametrize(("n", "k"), [(9, 2), (10, 2), (40, 3), (100, 4)])
def test_a_neuron_sees_the_parity_at_few_inputs(n: int, k: int) -> None:
    """The share of z with a mean of phi chi_S that is not 0, by the law of w.z in integers, is at most the bound.

    Equal weights attain it for k = 2 and odd n. Relevant weights above all others together are seen at every z.
    """
    rng = np.random.default_rng([n, k])
    S = sorted(rng.permutation(n)[:k].tolist())
    x = sign_inputs(k).astype(np.int64)
    label = x.prod(axis=1)

    def shares(w: list[int], *biases: int) -> list[fmpq]:
        law, own = Counter({0: 1}), x @ np.array([w[i] for i in S])
        for step in (w[i] for i in range(n) if i not in S):
            law = sum((Counter({a + sign * step: count for a, count in law.items()}) for sign in (1, -1)), Counter())
        return [
            fmpq(sum(count for a, count in law.items() if label @ np.maximum(own + a + b, 0) != 0), 2 ** (n - k))
            for b in biases
        ]

    below, draws = 0, 24 if n < 100 else 8
    for _ in range(draws):
        w = rng.integers(-4, 5, n).tolist()
        for i in S[1:]:
            w[i] = int(rng.integers(-2, 3))
        w[S[0]] *= int(rng.integers(1, 6))  # the largest relevant weight does not matter
        bound = seen_share(w, S)
        below += bool(bound < 1)
        assert max(shares(w, -3, 0, 1, 4)) <= bound
    assert below > draws / 4
    equal = [1] * n
    if k == 2 and n % 2:
        assert shares(equal, 0)[0] == seen_share(equal, S) == fmpq(2 * comb(n - 2, (n - 2) // 2), 2 ** (n - 2))
    if k % 2 == 0:
        large = [n if i in S else 1 for i in range(n)]
        assert shares(large, 0)[0] == seen_share(large, S) == 1


@check(ENTRY, grade="numeric", target="printed", cases="(n, k, s) = (15, 2, 0): one sample")
@proof_steps("under-sparse-rate.md: 2")
def test_the_best_read_out_of_some_neurons_stays_below_the_bound(n: int = 15) -> None:
    """Least squares on all inputs, for one to four neurons after a step: the squared correlation, at most P.

    The columns are divided by their norms; the projection errs by less than 1e-9 as long as their singular values are
    above 1e-4, which is asserted. With the weights of the parity in place of theirs the correlation is 1, above P.
    """
    k, S, x = 2, (0, 1), sign_inputs(n).astype(float)
    start = UnderSparseStart(n, k, np.zeros((2, 0), dtype=np.int64), np.arange(2), np.ones(2), fmpq(1, 2 * n))
    counts = sampled_counts(start.neurons, S, 2 * n, np.random.default_rng(n))
    step = under_sparse_step(start, counts.astype(object) * fmpq(1, 2 * n), gamma=fmpq(0))
    label, constant = x[:, list(S)].prod(axis=1), np.full((len(x), 1), 2.0 ** (-n / 2))
    tight = 0
    for chosen in ([0], [2], [0, 1], [0, 2], [0, 1, 2, 3]):
        bound = sum((seen_share(step.network.hidden[j].tolist(), S) for j in chosen), fmpq(0))
        features = np.stack([_outputs(step.network.hidden[j], step.network.bias[j], x) for j in chosen], axis=1)
        assert _correlation(features, label, constant) <= float(int(bound.p) / int(bound.q)) + 1e-9
        tight += bool(bound < 1)
    assert tight >= 2
    ideal = np.stack([_outputs(np.array([1, 1] + [0] * (n - 2)), b, x) for b in (1, -1)], axis=1)
    assert _correlation(ideal, label, constant) > 1 - 1e-9


def _outputs(weights: np.ndarray, bias: object, x: np.ndarray) -> np.ndarray:
    """A neuron on all inputs, up to a positive factor that makes its norm 1."""
    w, b = np.array([_float(w) for w in weights]), _float(bias)
    values = np.maximum(x @ w + b, 0)
    return values / np.linalg.norm(values)


def _float(value: object) -> float:
    number = fmpq(value) if isinstance(value, int) else value
    return int(number.p) / int(number.q) if isinstance(number, fmpq) else float(number)  # type: ignore[arg-type]


def _correlation(features: np.ndarray, label: np.ndarray, constant: np.ndarray) -> float:
    """max E[f chi]^2/E[f^2] over combinations f of the features and the constant."""
    basis, sizes, _ = np.linalg.svd(np.concatenate([features, constant], axis=1), full_matrices=False)
    assert sizes.min() > 1e-4
    return float(((basis.T @ label) ** 2).sum() / (label**2).sum())


# ---- no step makes the other weights small


@check(ENTRY, grade="exact", target="printed", cases="(n, k, s) = (15, 2, 0), (17, 4, 0), (17, 4, 2), two samples")
@proof_steps("under-sparse-rate.md: 3")
@pytest.mark.parametrize(("n", "k", "s"), [(15, 2, 0), (17, 4, 0), (17, 4, 2)])
def test_no_rate_decay_or_truncation_leaves_S_alone(n: int, k: int, s: int) -> None:
    """Every truncation that differs, rates of both signs, and decays from none to all, at neurons good and bad.

    So many inputs outside of S have at least the second smallest weight of S \\ S', in rational numbers. A step that
    leaves no more than these is the last; and the gradients of the law, which single S out, give 0.
    """
    S = tuple(range(k))
    m, epsilon = 4 * n ** (k - s - 1) // k, fmpq(1, 2 * n)

    def one_neuron(ones: tuple[int, ...]) -> UnderSparseStart:
        return UnderSparseStart(n, k, np.array([ones], dtype=np.int64), np.array([0]), np.ones(1), epsilon)

    for seed, ones in product(range(2), (S[:s], tuple(range(n - s, n)))):
        start = one_neuron(ones)
        counts = sampled_counts(start.neurons, S, m, np.random.default_rng([n, k, s, seed]))
        spread = step_spread(counts[0].tolist(), S, ones)
        estimate = counts.astype(object) * fmpq(1, m)
        sizes = sorted({abs(value) for value in estimate[0]} | {fmpq(0)})
        for gamma, decay in product(sizes, (fmpq(0), fmpq(9, 10), fmpq(1))):
            for rate in (fmpq(-1), fmpq(1, 100), fmpq(1), fmpq(100)):
                network = under_sparse_step(start, estimate, gamma=gamma, rate=rate, decay=decay).network
                for w in network.hidden:
                    second = sorted(abs(w[i]) for i in S if i not in ones)[1]
                    found = sum(1 for i in range(k, n) if i not in ones and abs(w[i]) >= second)
                    assert found >= spread
    good = one_neuron(S[:s])
    assert step_spread(good.population_gradient(S)[0].tolist(), S, S[:s]) == 0
    made = [0] * s + [3] * (k - s) + [5] * (n - k - 2) + [-5] * 2
    hidden = under_sparse_step(good, np.array([made], dtype=object), gamma=fmpq(0), rate=epsilon / 8, decay=fmpq(0))
    found = [sum(1 for i in range(k, n) if abs(w[i]) >= abs(w[s])) for w in hidden.network.hidden]
    assert step_spread(made, S, S[:s]) == min(found) == 2


@check(ENTRY, grade="exact", target="printed", supporting=True, cases="(n, k, s) = (9, 4, 2), (11, 4, 2), (9, 4, 0)")
@proof_steps("under-sparse-rate.md: 4")
@pytest.mark.parametrize(("n", "k", "s"), [(9, 4, 2), (11, 4, 2), (9, 4, 0)])
def test_where_a_neuron_is_active_tells_nothing_of_two_inputs(n: int, k: int, s: int) -> None:
    """On all inputs: E[h] = 1/2, E[h x_i x_j] = 0, and the largest |E[chi_S h x_i]| in and outside of S."""
    x, values = sign_inputs(n).astype(np.int64), under_sparse_values(n, k, s)
    for inside in range(s + 1):
        ones = [*range(inside), *range(n - s + inside, n)]
        small = [i for i in range(n) if i not in ones]
        p, q = x[:, ones].sum(axis=1), x[:, small].sum(axis=1)
        h = (p > 0) | ((p == 0) & (q > 0))
        assert (x.T @ (h[:, None] * x) == np.eye(n, dtype=np.int64) * 2 ** (n - 1)).all()
        means = (x[:, :k].prod(axis=1) * h) @ x
        relevant = max(abs(int(means[i])) for i in small if i < k)
        other = max(abs(int(means[i])) for i in small if i >= k)
        assert fmpq(relevant, 2**n) <= abs(values.relevant)
        assert fmpq(other, 2**n) <= abs(values.irrelevant)
        assert inside < s or fmpq(relevant, 2**n) == abs(values.relevant) > 0


@check(ENTRY, grade="exact", target="printed", supporting=True, cases="all even s < k <= 40")
@proof_steps("under-sparse-rate.md: 5, 7")
def test_the_powers_of_n_add_up() -> None:
    """(s-t)/(k-t-1) is at most s/(k-1) < 1 for all t, half of eta stays below (k-1-s)/(8(k-1)), omega_N < N^(-1/2)."""
    for k in range(2, 42, 2):
        for s in range(0, k, 2):
            rates = [fmpq(s - t, k - t - 1) for t in range(s + 1)]
            assert max(rates) == rates[0] == fmpq(s, k - 1) < 1
            alpha = fmpq(k - 1 - s, 8 * (k - 1))
            beta = (1 + rates[0] * 9) / 10
            assert rates[0] < beta < 1
            assert 0 < (1 - beta) / 4 / 2 < alpha
    for spread in (1, 2, 3, 10, 101, 1000):
        assert spread_share(4, spread) == min(fmpq(1), 8 * fmpq(comb(spread, spread // 2), 2**spread))
        assert arb(fmpq(comb(spread, spread // 2), 2**spread)) < 1 / arb(spread).sqrt()


@check(ENTRY, grade="exact", target="printed", supporting=True, cases="sums of 101 to 1601 signs, sets of n^(1/2)")
@proof_steps("under-sparse-rate.md: 6")
@pytest.mark.parametrize("n", [101, 401, 1601])
def test_a_part_of_the_inputs_decides_few_neurons(n: int) -> None:
    """P[q and q_R have different signs], by the laws of both sums in integers, below (sqrt(L) + 1)/sqrt(n - L)."""
    part = int(n**0.5)
    rest, changed = n - part, 0
    for minus in range(part + 1):
        inner = part - 2 * minus
        for other in range(rest + 1):
            outer = rest - 2 * other
            if (inner + outer > 0) != (outer > 0):
                changed += comb(part, minus) * comb(rest, other)
    probability = arb(fmpq(changed, 2**n))
    assert 0.05 * (n**-0.25) < probability < (arb(part).sqrt() + 1) / arb(rest).sqrt()


@check(ENTRY, grade="exact", target="printed", supporting=True, cases="k = 2, 4: all signs of affine functions")
@proof_steps("under-sparse-rate.md: 8")
@pytest.mark.parametrize(("k", "size"), [(2, 1), (4, 3)])
def test_signs_of_affine_functions_are_far_from_the_parity(k: int, size: int) -> None:
    """Weights up to 3 make every threshold function of four inputs; the largest correlation is omega_(k-1)."""
    x = sign_inputs(k).astype(np.int64)
    label, found = x.prod(axis=1), set()
    for w in product(range(-size, size + 1), repeat=k):
        values = x @ np.array(w)
        for b in range(-k * size - 1, k * size + 2):
            found.add(tuple((values + b > 0).tolist()))
    assert len(found) == {2: 14, 4: 1882}[k]
    best = max(abs(int((2 * np.array(g) - 1) @ label)) for g in found)
    assert fmpq(best, 2**k) == fmpq(comb(k - 1, (k - 1) // 2), 2 ** (k - 1))


# ---- the printed number of samples


@check(ENTRY, grade="sampled", target="printed", cases="k = 2, s = 0, n = 4001, m = n/k samples, 24 times")
@proof_steps("under-sparse-rate.md: 7, 8")
def test_no_subnetwork_correlates_by_half(record_property) -> None:
    """The bound sqrt(2k p) of the correlation with the parity, for all rates, decays, truncations and output weights.

    At most 2k neurons differ, each with the share p, which the sample gives. It stays below 1/2 with a positive
    probability, at 99 % confidence; that this tends to 1, for every multiple and every s, is the proof.
    """
    n, k, s, repeats = 4001, 2, 0, 24
    m = ceil(Fraction(n, k) ** (k - s - 1))
    neuron, reached = under_sparse_neuron(n, range(s), fmpq(1, 2 * n)), 0
    for seed in range(repeats):
        counts = sampled_counts([neuron], range(k), m, np.random.default_rng([n, seed]))[0]
        squared = 2 * k * spread_share(k, step_spread(counts.tolist(), range(k), neuron.ones))
        reached += bool(squared >= fmpq(1, 4))
    found = proportion_interval(reached, repeats, 0.99)
    record_property("share of samples that the bound allows a correlation of 1/2", [found.low, found.high])
    assert found.high < 0.9
