"""Lemma C.10: the printed r' is never met, and the expected number of good neurons is (proofs/good-initializations.md).

The probability of an r'-good initialization is a finite sum, evaluated in balls.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.constructions.parity.bias_grids import offset_grid
from lemmata.constructions.parity.over_sparse import draw_over_sparse
from lemmata.numerics.parity.good_neurons import balance_probability, good_pairs, good_probability
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

PRINTED = [((40, 4, 17), 87.6, 2238.6), ((100, 4, 51), 87.6, 2641.9), ((100, 6, 25), 95.7, 5593.6)]
SIZES = [(20, 2, 9), (40, 4, 17), (100, 4, 51), (100, 6, 25), (60, 8, 33)]


def _limits(mean: fmpq) -> tuple[int, int]:
    """The integers from mean/2 to 2 mean."""
    return math.ceil(float(mean.p) / float(mean.q) / 2), math.floor(2 * float(mean.p) / float(mean.q))


@counterexample(
    "pareto-frontiers:lemma-C.10", grade="enclosed", cases="(40, 4, 17), (100, 4, 51), (100, 6, 25), delta = 1/10"
)
@proof_steps("good-initializations.md: 5")
@pytest.mark.parametrize(("size", "limit", "expected"), PRINTED)
def test_the_printed_number_is_far_below_the_mean(
    size: tuple[int, int, int], limit: float, expected: float, record: Record
) -> None:
    """At the printed width the probability of the printed event is below 10^-300, and should be 9/10."""
    n, k, s = size
    width = math.ceil(20 * k * (2 * n / s) ** k * math.log(20 * k))
    pairs = (width + 1) // 2
    r_prime = 2 * pairs * fmpq(s, 2 * n) ** k / (2 * k)
    levels = k // 2 - 1
    hit = good_probability(n, k, s) / levels
    mean = pairs * hit
    likely = balance_probability(pairs, hit, levels, *_limits(r_prime))
    if n == 40:
        needed = 20 * k * fmpq(2 * n, s) ** k * arb(20 * k).log()
        record.hypothesis("4k < s", 4 * k, "<", s)
        record.hypothesis("s <= n", s, "<=", n)
        record.hypothesis("r >= 20k (2n/s)^k log(2k/delta), delta = 1/10", 2 * pairs, ">=", needed)
        record.hypothesis("the printed biases: there is one", levels, ">=", 1)
        record.violated("with probability 1 - delta all |I_j| lie in [r'/2, 2r']", likely, ">=", fmpq(9, 10))
    assert likely < arb(10) ** -300
    assert abs(2 * float(r_prime.p) / float(r_prime.q) - limit) < 0.1
    assert abs(float(mean.p) / float(mean.q) - expected) < 1


@counterexample("pareto-frontiers:lemma-C.10", grade="symbolic", supporting=True)
@proof_steps("good-initializations.md: 4")
def test_the_mean_exceeds_the_printed_limit_everywhere() -> None:
    """E|I_j| / (2r') = 2^k p (n/s)^k k/(2K) with K <= k/2 biases: at least (3/2)^k, as (s-j)/(n-j) >= (3/4) s/n."""
    j, t, d = sp.symbols("j t d", nonnegative=True)
    s, n = 4 * j + t, 4 * j + t + d  # s >= 4j, n >= s
    difference = sp.expand(4 * n * (s - j) - 3 * s * (n - j))
    assert all(coefficient > 0 for coefficient in sp.Poly(difference, j, t, d).coeffs())
    for n, k, s in SIZES:
        ratio = 2**k * good_probability(n, k, s) * fmpq(n, s) ** k
        assert ratio >= fmpq(3, 2) ** k >= fmpq(9, 4)
    k = s = 8  # outside of s > 4k the mean can lie within the printed limits, r'/2 and 2r'
    ratio = fmpq(k, 2 * (k // 2 - 1)) * 2**k * good_probability(10**6, k, s) * fmpq(10**6, s) ** k
    assert fmpq(1, 4) < ratio < 1


@check(
    "pareto-frontiers:lemma-C.10",
    grade="enclosed",
    target="corrected",
    cases="(n, k, s) = (20, 2, 9), (40, 4, 17), (100, 4, 51), (100, 6, 25), (60, 8, 33), delta = .1, .01, least width",
)
@proof_steps("good-initializations.md: 3")
@pytest.mark.parametrize("size", SIZES)
def test_the_mean_itself_is_met(size: tuple[int, int, int]) -> None:
    """r' = (r/2) p/K with K = k/2 biases and r' >= 8 log(2K/delta); a tenth of the width would fail."""
    n, k, s = size
    levels = len(offset_grid(k))
    hit = good_probability(n, k, s) / levels
    for delta in (fmpq(1, 10), fmpq(1, 100)):
        pairs = good_pairs(n, k, s, levels, delta)
        assert pairs * arb(hit) >= 8 * arb(2 * levels / delta).log()
        assert balance_probability(pairs, hit, levels, *_limits(pairs * hit)) > 1 - delta
        few = pairs // 10
        assert balance_probability(few, hit, levels, *_limits(few * hit)) < 1 - delta


@check(
    "pareto-frontiers:lemma-C.10",
    grade="sampled",
    target="corrected",
    supporting=True,
)
@proof_steps("good-initializations.md: 1")
def test_drawn_initializations_are_balanced() -> None:
    """(n, k, s) = (20, 2, 9), delta = 1/10: 60 draws (seed 10) without failure, |I_j| counted in the drawn rows."""
    n, k, s = 20, 2, 9
    grid, rng = offset_grid(k), np.random.default_rng(10)
    pairs = good_pairs(n, k, s, len(grid), fmpq(1, 10))
    low, high = _limits(pairs * good_probability(n, k, s) / len(grid))
    for _ in range(60):
        drawn = draw_over_sparse(n, s, grid, pairs, rng)
        assert low <= int(drawn.good((3, 8)).sum()) <= high


@check("pareto-frontiers:lemma-C.10", grade="enclosed", target="corrected", supporting=True)
@proof_steps("good-initializations.md: 2")
def test_the_exponents_of_chernoff() -> None:
    """P(X <= mu/2) <= (e^(-1/2) 2^(1/2))^mu < e^(-mu/8), P(X >= 2 mu) <= (e/4)^mu < e^(-mu/3)."""
    assert arb(1) / 2 - arb(2).log() / 2 > arb(1) / 8
    assert arb(4).log() - 1 > arb(1) / 3
