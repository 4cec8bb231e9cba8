"""What the first gradient of a sparse neuron shows where the parity or the neuron has an odd size: values, order, step.

The oracle is the sum over all inputs in integers (NumPy); the values are those of the library, which the command
`lemmata frontier` uses.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.frontier import frontier_point, sparse_start
from lemmata.constructions.parity.frontier_runs import enough_samples
from lemmata.constructions.parity.one_step import one_step_network
from lemmata.constructions.parity.under_sparse import under_sparse_network
from lemmata.numerics.parity.sparse_neurons import (
    even_sparse_values,
    odd_under_sparse_values,
    sparse_gradient,
    under_sparse_neuron,
    under_sparse_values,
)
from lemmata.theorems.evidence import check, proof_steps

ENTRY = "pareto-frontiers:ext-odd-sizes"
SIZES = [(n, k, s) for n in range(3, 12) for k in range(2, n) for s in range(1, k) if k % 2 or s % 2]


def _gradient(n: int, k: int, ones: tuple[int, ...], epsilon: fmpq, bias: fmpq) -> list[fmpq]:
    """The gradient of a neuron on the parity of the first k inputs, over all inputs."""
    scale = int(epsilon.q) * int(bias.q)
    weights = np.full(n, int(epsilon * scale))
    weights[list(ones)] = scale
    x = sign_inputs(n)
    signal = x[:, :k].prod(axis=1) * (x @ weights + int(bias * scale) > 0)
    return [fmpq(int(total), 2**n) for total in signal @ x]


def _shown(n: int, k: int, s: int) -> bool:
    """Whether the statement says that a good neuron has a gradient."""
    return s == k - 1 if k % 2 == 0 else s % 2 == n % 2 == 0


@check(ENTRY, grade="exact", target="printed", cases="3 <= n <= 11, all k and s, all overlaps, all k biases")
@proof_steps("odd-sizes.md: 1, 2, 3, 4")
@pytest.mark.parametrize(("n", "k", "s"), SIZES)
def test_gradients_of_all_neurons(n: int, k: int, s: int) -> None:
    """Good neurons have the two values, with the sign of the bias; where the statement has none, all neurons have 0."""
    epsilon = fmpq(99, 50 * (2 * (n - s) + 1))  # just below the bound
    values = odd_under_sparse_values(n, k, s)
    assert (values.relevant != 0) == _shown(n, k, s)
    for theta in range(1 - k, k, 2):
        bias = -epsilon * fmpq(theta, 2 * k)
        turned = -1 if bias > 0 and k % 2 else 1
        for common in range(max(0, k + s - n), s + 1):
            ones = (*range(common), *range(k, k + s - common))
            g = _gradient(n, k, ones, epsilon, bias)
            assert g == sparse_gradient(under_sparse_neuron(n, ones, epsilon, bias), range(k)).tolist()
            if common == s:
                assert g[:s] == [0] * s
                assert set(g[s:k]) == {turned * values.relevant}
                assert set(g[k:]) == {turned * values.irrelevant}
            elif not _shown(n, k, s) or k % 2 == 0:
                assert not any(g)
    if k % 2 and values.relevant != 0:
        assert values.irrelevant / values.relevant == -fmpq(k - s, n - k)


@check(
    ENTRY, grade="enclosed", target="printed", cases="(k, s) = (3, 2), (5, 2), (5, 4), (7, 2), (9, 4), n = 1000, 4000"
)
@proof_steps("odd-sizes.md: 5")
@pytest.mark.parametrize(("k", "s"), [(3, 2), (5, 2), (5, 4), (7, 2), (9, 4)])
def test_an_odd_parity_costs_half_a_power_of_n_more(k: int, s: int) -> None:
    """|xi_rel| (n-s)^((k-s)/2) comes near its limit like 1/n; with that of an even k it is small, theirs not."""
    ties = fmpq(len([x for x in product((1, -1), repeat=s) if sum(x) == 0]), 2**s)
    double = 1
    for factor in range(k - s - 2, 0, -2):
        double *= factor
    limit = ties * double / (2 * arb.pi()).sqrt()
    off = []
    for n in (1000, 4000):
        size = arb(abs(odd_under_sparse_values(n, k, s).relevant))
        off.append(abs(size * arb(n - s) ** fmpq(k - s, 2) / limit - 1))
        below = arb(abs(under_sparse_values(n, k - 1, s).relevant)) if s < k - 1 else arb(0)
        assert size * arb(n - s) ** fmpq(k - s - 1, 2) < 2 * limit / arb(n - s).sqrt()
        assert s == k - 1 or below * arb(n - s) ** fmpq(k - s - 2, 2) > limit / k
    assert off[0] < fmpq(1, 20)
    assert off[1] < off[0] / 3


@check(ENTRY, grade="exact", target="printed", cases="nine sizes with n <= 10, all 2^n inputs")
@proof_steps("odd-sizes.md: 6")
@pytest.mark.parametrize(
    ("n", "k", "s"),
    [(6, 3, 2), (8, 3, 2), (10, 5, 2), (8, 5, 4), (10, 7, 6), (9, 4, 3), (8, 6, 5), (7, 2, 1), (10, 7, 4)],
)
def test_one_step_computes_the_parity(n: int, k: int, s: int) -> None:
    """The read-out is off by 2k(n-s) epsilon, and that is attained; the kept entries are S without the ones."""
    if (n, k, s) == (10, 7, 4):  # n = 2k - s: the irrelevant gradient is as large
        with pytest.raises(ValueError, match="no truncation tells them apart"):
            one_step_network(n, k, s, fmpq(1, 100))
        return
    S, epsilon = list(range(n - k, n)), fmpq(1, 8 * k * n)
    network = one_step_network(n, S, s, epsilon)
    x = sign_inputs(n)
    parity = x[:, S].prod(axis=1).tolist()
    errors = [abs(value - y) for value, y in zip(network(x).tolist(), parity, strict=True)]
    assert network.width == k
    assert max(errors) == 2 * k * (n - s) * epsilon < 1


@check(ENTRY, grade="exact", target="printed", supporting=True)
@proof_steps("odd-sizes.md: 6")
@pytest.mark.parametrize(("n", "k", "s"), [(7, 4, 2), (8, 4, 2), (9, 6, 4), (12, 6, 2)])
def test_even_sizes_take_the_step_of_the_theorem(n: int, k: int, s: int) -> None:
    ours, theirs = one_step_network(n, k, s, fmpq(1, 40)), under_sparse_network(n, k, s, fmpq(1, 40), exact=True)
    for name in ("hidden", "bias", "readout", "output_bias"):
        assert np.all(getattr(ours, name) == getattr(theirs, name))


@check(ENTRY, grade="exact", target="printed", supporting=True)
@proof_steps("odd-sizes.md: 6")
@pytest.mark.parametrize(("n", "k", "s"), [(8, 3, 2), (6, 3, 2), (10, 5, 2), (9, 4, 3), (14, 5, 4)])
def test_errors_below_the_tolerance_are_harmless(n: int, k: int, s: int) -> None:
    """Truncation keeps S without the ones where all entries are off by almost tau, the worst way; by more, not."""
    start = sparse_start(n, k, s)
    ones = tuple(range(s))
    g = np.array(_gradient(n, k, ones, fmpq(1, 2 * n), fmpq(0)), dtype=object)
    worst = np.array([-1 if s <= i < k else 1 for i in range(n)]) * np.array([1 if v >= 0 else -1 for v in g])
    for share, kept in ((fmpq(999, 1000), True), (fmpq(1001, 1000), False)):
        off = g + share * start.tolerance * worst
        assert ([i for i in range(n) if abs(off[i]) > start.threshold] == list(range(s, k))) is kept


@check(ENTRY, grade="sampled", target="printed", cases="(n, k, s) = (10, 3, 2), (9, 4, 3), delta = 1/10, ten seeds")
@proof_steps("odd-sizes.md: 7")
@pytest.mark.parametrize(("n", "k", "s"), [(10, 3, 2), (9, 4, 3)])
def test_the_sizes_of_the_proof_suffice_in_runs(n: int, k: int, s: int) -> None:
    """Ten starts and samples (seeds 0 to 9): the width of the proof has all kinks, all gradients are within tau."""
    start, delta = sparse_start(n, k, s), fmpq(1, 10)
    pairs = int(((k * arb(1 / start.good)) * arb(2 * k / delta).log()).ceil().upper().fmpz())
    assert start.coverage(pairs) >= 1 - delta / 2
    _, samples = frontier_point(start, delta)
    found = enough_samples(start, pairs, max(samples, start.samples(pairs, delta / 2)), 10)
    assert found is not None
    assert found > 1


@check(ENTRY, grade="exact", target="printed", cases="k = 3, 5, s up to 12: all inputs of the ones")
@proof_steps("odd-sizes.md: 8")
@pytest.mark.parametrize(("k", "s"), [(k, s) for k in (3, 5) for s in range(k + 1, 13)])
def test_above_k_odd_parities_show_where_the_ones_tie(k: int, s: int) -> None:
    """One value on S, one on the other ones, by sums; the first is the larger one from s > 2k on, and not before."""
    for bias in (fmpq(0), fmpq(-1, 2)):
        g = _gradient(s + 1, k, tuple(range(s)), fmpq(0), bias)
        assert g[s] == 0
        if s % 2:
            assert not any(g)
            continue
        values = even_sparse_values(s, k)
        assert set(g[:k]) == {values.relevant}
        assert set(g[k:s]) == {values.irrelevant}
        assert values.irrelevant / values.relevant == -fmpq(k, s - k)
        assert (values.gap > 0) == (s > 2 * k)


@check(ENTRY, grade="exact", target="printed", supporting=True)
@proof_steps("odd-sizes.md: 4")
def test_k_3_of_the_sweeps() -> None:
    """k = 3, s = 2, n = 20: -+C(18,9)/2^20 on the third input and 1/17 of that outside, for all three sets of ones."""
    values = odd_under_sparse_values(20, 3, 2)
    assert values.relevant == fmpq(48620, 2**20)
    assert values.irrelevant == -values.relevant / 17
    for ones in combinations(range(3), 2):
        g = _gradient(12, 3, ones, fmpq(1, 24), fmpq(0))
        assert [i for i in range(3) if g[i] != 0] == [i for i in range(3) if i not in ones]
