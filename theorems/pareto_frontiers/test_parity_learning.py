"""The task, its statistical limit, the algorithm at its start, and the two ends of the over-sparse frontier.

The limits are proved for all sizes in proofs/statistical-limit.md and proofs/frontier-ends.md.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from math import ceil, comb, log2

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.certificates.duality.hinge_loss import least_hinge_loss
from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.bias_grids import offset_grid, ramp_labels, ramp_law
from lemmata.constructions.parity.over_sparse import draw_over_sparse, population_gradients, sample_gradients
from lemmata.constructions.parity.over_sparse_sizes import over_sparse_sizes
from lemmata.constructions.parity.two_layer import relu_network
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.numerics.parity.good_neurons import good_probability
from lemmata.numerics.parity.queries import empirical_answers, query_search
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

# ---- the task


@check(
    "pareto-frontiers:definition-parity", grade="exact", target="printed", cases="n = 1, ..., 6, all S and all inputs"
)
def test_a_parity_is_the_xor_of_its_bits() -> None:
    """chi_S has one coefficient, at S; a network classifies it without error; parities of other sets differ from it."""
    for n in range(1, 7):
        bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
        x = sign_inputs(n)
        assert np.array_equal(x, (-1) ** bits)
        for k in range(1, n + 1):
            for S in combinations(range(n), k):
                xor = np.bitwise_xor.reduce(bits[:, S], axis=1)
                labels = (-1) ** xor
                assert np.array_equal(labels, x[:, S].prod(axis=1))
                transform = walsh_hadamard(labels)
                assert np.flatnonzero(transform).tolist() == [sum(1 << i for i in S)]
                assert np.array_equal(walsh_hadamard(as_exact(labels)), transform)
                assert all(np.array_equal(relu_network(n, S, output_bias=one)(x), labels) for one in (True, False))


# ---- the statistical limit


def _exact(answer: Callable[..., list[float]]) -> Callable[..., list[float]]:
    """The oracle that says whether a parity fits all examples."""
    return lambda asked: [float(value == 1) for value in answer(asked)]


@counterexample("pareto-frontiers:fact-statistical-limit", grade="enclosed", cases="k = n/2, n = 2^4, 2^8, 2^12")
@proof_steps("statistical-limit.md: 5")
def test_for_half_of_the_inputs_the_logarithm_is_missing(record: Record) -> None:
    """log C(n, n/2) <= n log 2, while k log n = (n/2) log n: the quotient tends to 0 like 1/log n."""
    quotients = []
    for power in (4, 8, 12):
        n = 2**power
        quotient = arb(comb(n, n // 2)).log() / (n // 2 * arb(n).log())
        assert quotient <= 2 * arb(2).log() / arb(n).log()
        quotients.append(quotient)
    assert all(before > after for before, after in pairwise(quotients))
    assert quotients[-1] < arb("0.17")
    record.hypothesis("1 <= k", 1, "<=", n // 2)
    record.hypothesis("k <= n", n // 2, "<=", n)
    record.violated("log C(n,k)/(k log n) keeps its order from n = 16 to 4096", quotients[-1], ">=", quotients[0] / 2)


@check("pareto-frontiers:fact-statistical-limit", grade="symbolic", target="corrected", supporting=True)
@proof_steps("statistical-limit.md: 4")
def test_bounds_of_the_number_of_parities() -> None:
    """(n/k)^k <= C(n,k) <= n^k: (n-i)/(k-i) - n/k = i (n-k)/(k (k-i)) >= 0 for i < k <= n."""
    n, k, i = sp.symbols("n k i")
    assert sp.cancel((n - i) / (k - i) - n / k - i * (n - k) / (k * (k - i))) == 0
    for size in range(1, 40):
        for degree in range(1, size + 1):
            assert fmpq(size, degree) ** degree <= comb(size, degree) <= size**degree


@check(
    "pareto-frontiers:fact-statistical-limit",
    grade="sampled",
    target="corrected",
    cases="(n, k) = (10, 3), (12, 2), delta = 1/10: 60 samples each at log2(N/delta) and at log2(N) - 3 (seed n)",
)
@proof_steps("statistical-limit.md: 1, 2")
@pytest.mark.parametrize(("n", "k"), [(10, 3), (12, 2)])
def test_exhaustive_search_around_the_limit(n: int, k: int) -> None:
    """Enough samples: one parity fits, in at least 90 of 100 draws; three fewer than log2 N: hardly ever."""
    rng = np.random.default_rng(n)
    sets = list(combinations(range(n), k))
    enough = ceil(log2(len(sets) * 10))

    def found(m: int) -> int:
        successes = 0
        for _ in range(60):
            S = sets[rng.integers(len(sets))]
            x = rng.choice([-1, 1], (m, n))
            answer = empirical_answers(x, x[:, S].prod(axis=1))
            fitting = [T for T in sets if answer([T])[0] == 1]
            assert S in fitting
            if len(fitting) == 1:
                successes += 1
                assert query_search(_exact(answer), sets).found == S
        return successes

    assert found(enough) >= 50  # below with probability 10^-5 if the share is at least 9/10
    assert found(int(log2(len(sets))) - 3) <= 10


# ---- the algorithm


@counterexample("pareto-frontiers:definition-algorithm", grade="exact", cases="k = 2")
def test_the_printed_grid_is_empty_for_two_inputs(record: Record, s: int = 5) -> None:
    n, k = 9, 2
    printed = offset_grid(k, first=1)
    record.hypothesis("k is even: k mod 2", k % 2, "=", 0)
    record.hypothesis("k <= s", k, "<=", s)
    record.hypothesis("s < n", s, "<", n)
    record.violated("there is a bias to draw: the number of biases", len(printed), ">=", 1)
    with pytest.raises(ValueError, match="printed grid is empty for k = 2"):
        draw_over_sparse(n, s, printed, 4, np.random.default_rng(0))


@check(
    "pareto-frontiers:definition-algorithm",
    grade="exact",
    target="corrected",
    cases="(n, k, s) = (6, 2, 5) and (8, 4, 7), 6 pairs (seed n): all inputs, and one sample of 9 (n = 6)",
)
@pytest.mark.parametrize(("n", "k", "s"), [(6, 2, 5), (8, 4, 7)])
def test_the_network_starts_at_zero_with_the_slope_of_the_labels(n: int, k: int, s: int) -> None:
    """f = 0 on the cube, every hinge is active, and the gradient of the loss is -u_i E[y 1{w_i.x + b_i > 0} x].

    The derivative of the exact loss of the whole network by its own definition; the hinge is linear near f = 0.
    """
    rng = np.random.default_rng(n)
    drawn = draw_over_sparse(n, s, offset_grid(k), 6, rng)
    network, cube = drawn.network(), sign_inputs(n)
    assert not np.any(network(cube))
    assert np.array_equal(network.hidden[:6], network.hidden[6:])
    assert np.array_equal(network.readout[:6], -network.readout[6:])
    S = tuple(range(k))
    whole = sample_gradients(drawn, cube, cube[:, S].prod(axis=1))
    assert np.array_equal(whole, population_gradients(drawn, S))
    x, y = rng.choice([-1, 1], (9, n)), rng.choice([-1, 1], 9)
    gradients, step = sample_gradients(drawn, x, y), fmpq(1, 1000)
    inputs = as_exact(x)

    def loss(hidden: np.ndarray) -> fmpq:
        before = inputs @ hidden.T + network.bias
        before[before < 0] = fmpq(0)
        outputs = before @ network.readout
        return sum((max(1 - int(t) * f, fmpq(0)) for t, f in zip(y, outputs, strict=True)), fmpq(0)) / 9

    start = loss(network.hidden)
    assert start == 1
    for i in range(6):
        for j in range(n):
            moved = np.array(network.hidden)
            moved[i, j] += step
            assert (loss(moved) - start) / step == -int(drawn.signs[i]) * gradients[i, j]


# ---- s = k


@check("pareto-frontiers:remark-exact-sparsity", grade="exact", target="printed", supporting=True)
def test_a_neuron_that_is_the_support() -> None:
    """At s = k a neuron is 1_S with probability 1/C(n,k); its features need biases of the scale of the sum.

    With weights 1 and the biases of the scheme, between -1/2 and 0, all kinks lie between 0 and 1/2, so that a read-out
    is affine in the sum from 2 on: for k = 6 and 8 none computes the parity. Biases 2k times as large serve.
    """
    for n, k in [(6, 2), (9, 4), (12, 6)]:
        assert good_probability(n, k, k) == fmpq(1, comb(n, k))
    for k in (4, 6, 8):
        losses = []
        for scale in (1, 2 * k):
            biases = [scale * b for b in offset_grid(k)]
            table = np.array(
                [
                    [fmpq(1), *(max(z + b, fmpq(0)) for b in biases), *(max(b - z, fmpq(0)) for b in biases)]
                    for z in range(-k, k + 1, 2)
                ],
                dtype=object,
            )
            losses.append(least_hinge_loss(table, ramp_labels(k), ramp_law(k)).value)
        assert (losses[0] == 0) == (k == 4)
        assert losses[1] == 0


# ---- the two ends of the frontier


@check(
    "pareto-frontiers:fact-interpolation",
    grade="enclosed",
    target="printed",
    cases="k = 2, 4, s = n/2, n = 202, 2002, 20002: sizes with truncation; k = 2, n = 30000, 60000: without",
)
@proof_steps("frontier-ends.md: 1, 3")
def test_a_linear_sparsity() -> None:
    """The width is bounded. Without truncation the theorem asks for m of the order n^(k+1) log n, as printed.

    With truncation, which the text mentions for the other end, m/(n^(k-1) log n) is bounded here too.
    """
    for k in (2, 4):
        widths, shares, printed = [], [], []
        for n in (202, 2002, 20002):
            s = n // 2 if (n // 2) % 2 else n // 2 + 1
            sizes = over_sparse_sizes(n, k, s, fmpq(1, 5), fmpq(1, 100))
            widths.append(sizes.width)
            shares.append(arb(sizes.samples) / (n ** (k - 1) * arb(n).log()))
            printed.append(arb(sizes.samples) / n ** (k + 1))
        assert max(widths) <= 2**k * 4 * k * 10
        assert max(widths) < min(widths) * 1.5
        assert all(before > after > before * fmpq(3, 4) for before, after in pairwise(shares))
        assert all(after < before / 50 for before, after in pairwise(printed))
    grid = offset_grid(2, fmpq(31, 32))
    first, second = (
        over_sparse_sizes(n, 2, n // 2 + 1, fmpq(2, 5), fmpq(1, 100), grid, truncate=False) for n in (30000, 60000)
    )
    assert first.width == second.width
    growth = 8 * arb(60000 * second.width).log() / arb(30000 * first.width).log()  # n^3 log(nr)
    assert abs(arb(fmpq(second.samples, first.samples)) / growth - 1) < arb("0.03")


@check(
    "pareto-frontiers:fact-interpolation",
    grade="enclosed",
    target="printed",
    cases="(k, s) = (2, 9), (4, 17), n = 10^3, 10^5, 10^7: sizes with truncation; k = 2, s = 13065: without",
)
@proof_steps("frontier-ends.md: 1, 3, 4")
def test_a_constant_sparsity() -> None:
    """With truncation m grows like log n and the width like n^k; without it m grows like n^2 log n."""
    for k, s in [(2, 9), (4, 17)]:
        sizes = [over_sparse_sizes(n, k, s, fmpq(1, 5), fmpq(1, 100)) for n in (10**3, 10**5, 10**7)]
        first, second, third = (size.samples for size in sizes)
        assert abs(fmpq(third - second, second - first) - 1) < fmpq(1, 100)  # equal steps of log n
        for before, after in pairwise(sizes):
            assert abs(fmpq(after.width, before.width) / 100**k - 1) < fmpq(1, 20)
    grid = offset_grid(2, fmpq(7, 8))
    plain = [
        over_sparse_sizes(n, 2, 13065, fmpq(2, 5), fmpq(1, 100), grid, truncate=False) for n in (10**6, 10**7, 10**8)
    ]
    for before, after in pairwise(plain):
        assert 100 < fmpq(after.samples, before.samples) < 130  # n^2 log n
        assert abs(fmpq(after.width, before.width) / 100 - 1) < fmpq(1, 100)  # n^k
