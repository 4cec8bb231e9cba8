"""Corollary A.1 with constants: the root mean square of the inverse all-layer margins bounds the error.

The proof is in proofs/inverse-margins.md. With probability 1 - delta every theta of the 1-norm ball has

    error <= 6 sqrt(2) alpha sqrt(ln(2 p + 1)/n) sqrt(mean of 1/rho_i^2) + 2 (ln(1/delta) + 2 ln(1 + log2 n))/n.

So the corollary holds with max(1, log p) in place of log p, and with a remainder of order (log(1/delta) + log log n)/n,
below the printed one. With log p it fails for p = 1.
"""

from __future__ import annotations

import math
from fractions import Fraction as Q
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.exact.numbers import exact_number
from lemmata.numerics.learning.covers import maurey_cover, sparse_average
from lemmata.numerics.learning.inverse_margins import (
    inverse_margin_bound,
    log_centres,
    margin_scale_bound,
    margins_bound,
    relative_deviation,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

A1 = "turing:corollary-A.1"


def _binomial(n: int, count: int, probability: Q) -> Q:
    return math.comb(n, count) * probability**count * (1 - probability) ** (n - count)


@check(
    A1, grade="exact", target="corrected", cases="n = 1, 2, 12, 30, 200; probabilities j/20; delta = 1/2, 1/10, 1/100"
)
@proof_steps("inverse-margins.md: 2")
@pytest.mark.parametrize("n", [1, 2, 12, 30, 200])
@pytest.mark.parametrize("delta", [Q(1, 2), Q(1, 10), Q(1, 100)])
def test_relative_deviations_of_binomial_counts(n: int, delta: Q) -> None:
    """Step 2: the exact probability that a share is so small that the bound fails is at most delta.

    The remainder cannot be halved twice: with a quarter of it, the bound fails with probability above delta.
    """
    bounds = [relative_deviation(Q(count, n), 0, n, delta) for count in range(n + 1)]
    worst = Q(0)
    for j in range(21):
        probability = Q(j, 20)
        low = [count for count in range(n + 1) if not bounds[count] >= exact_number(probability)]
        worst = max(worst, sum((_binomial(n, count, probability) for count in low), start=Q(0)))
    assert worst <= delta
    if n >= 12 and delta <= Q(1, 10):
        quarter = Q(math.floor(float(bounds[0]) / 4 * 1000), 1000)
        assert (1 - quarter) ** n > delta


@check(A1, grade="exact", target="corrected", cases="p = 1, 2, 3; k = 0, 1, 2; all points of a grid of the ball")
@proof_steps("inverse-margins.md: 1")
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_centres_are_within_half_of_gamma(p: int, k: int) -> None:
    """Step 1: means of 2^k picks, N_k at most, come within alpha/2^(k/2) = gamma_k/2; 0 alone does for k = 0."""
    if k == 0:
        assert log_centres(k, p) == 0
        return
    centres = maurey_cover(p, 2**k, 3)
    assert len(centres) <= round(float(log_centres(k, p).exp())) == (2 * p + 1) ** (2**k)
    for steps in product(range(-6, 7), repeat=p):
        if sum(map(abs, steps)) <= 6:
            theta = [Q(s, 2) for s in steps]
            near = sparse_average(theta, 2**k, 3)
            assert any(np.array_equal(near, centre) for centre in centres)
            assert sum((x - exact_number(y)) ** 2 for x, y in zip(near, theta, strict=True)) <= fmpq(9, 2**k)


@check(A1, grade="enclosed", target="corrected", cases="80 samples of margins (seed 0), p up to 10^6")
@proof_steps("inverse-margins.md: 5")
def test_the_best_scale_is_below_the_closed_form() -> None:
    """Steps 4 and 5: for even, uneven, tiny, huge, infinite margins the closed form is at least min(1, best scale)."""
    random = np.random.default_rng(0)
    small = 0
    for _ in range(80):
        scale, spread = int(10 ** random.uniform(0, 4)), random.choice([0.0, 0.5, 3.0])
        values: list[Q | None] = [Q(max(1, int(scale * math.exp(spread * z))), 50) for z in random.normal(size=4)]
        values = [*values, None][: int(random.integers(1, 6))]
        copies = [int(10 ** random.uniform(0, 2)) + 1 for _ in values]
        sample = [rho for rho, count in zip(values, copies, strict=True) for _ in range(count)]
        terms = [count / rho**2 for rho, count in zip(values, copies, strict=True) if rho is not None]
        square = sum(terms, start=Q(0)) / len(sample)
        p, alpha, delta = int(10 ** random.uniform(0, 6)), Q(int(10 ** random.uniform(0, 2)), 7), Q(1, 20)
        closed, best = (
            inverse_margin_bound(len(sample), alpha, p, square, delta),
            margins_bound(sample, alpha, p, delta),
        )
        assert closed >= 1 or best <= closed
        small += bool(closed < 1)
    assert small > 10


@check(A1, grade="enclosed", target="corrected", cases="p = 1; n = 3000, 4000; all margins equal, best scales k = 2, 4")
@proof_steps("inverse-margins.md: 5")
@pytest.mark.parametrize(("n", "rho", "k"), [(3000, Q(6, 5), 2), (4000, Q(11, 20), 4)])
def test_small_margins_need_a_small_scale(n: int, rho: Q, k: int) -> None:
    """Step 5, where alpha = 1 and the margins rho lie just above gamma_k: no larger scale says anything."""
    sample = [rho] * n
    closed, best = inverse_margin_bound(n, 1, 1, 1 / rho**2), margins_bound(sample, 1, 1)
    assert best <= closed < fmpq(1, 2)
    assert best.overlaps(margin_scale_bound(sample, 1, 1, k, Q(1, 100)))
    assert margin_scale_bound(sample, 1, 1, k - 1, Q(1, 100)) > 2


@check(A1, grade="numeric", target="corrected", cases="n = 2, 10^3, 10^9; alpha = 1/3, 5; p = 1, 10^6; S^2 = 0, 1/4, 9")
@proof_steps("inverse-margins.md: 3, 5")
def test_the_bounds_from_their_parts() -> None:
    """Both formulas once more, in another arithmetic; and the count of margins below gamma_k at ties."""
    for n, alpha, p, square in product((2, 10**3, 10**9), (Q(1, 3), Q(5)), (1, 10**6), (Q(0), Q(1, 4), Q(9))):
        delta = Q(1, 50)
        main = 6 * mp.sqrt(2) * mp.mpf(alpha.numerator) / alpha.denominator
        main *= mp.sqrt(mp.log(2 * p + 1) / n) * mp.sqrt(mp.mpf(square.numerator) / square.denominator)
        expected = main + 2 * (mp.log(50) + 2 * mp.log(1 + mp.log(n, 2))) / n
        assert float(inverse_margin_bound(n, alpha, p, square, delta)) == pytest.approx(float(expected), rel=1e-12)
    sample = [1, 2, Q(3, 2), None, 4]  # alpha = 2: gamma = 4, sqrt 8, 2, sqrt 2, 1, ...
    for k, low in enumerate([4, 3, 3, 1, 1, 0]):
        size = 0 if k == 0 else 2**k * math.log(2 * 3 + 1)
        expected = 2 * low / 5 + 2 * (size + math.log((k + 1) * (k + 2) / 0.02)) / 5
        assert float(margin_scale_bound(sample, 2, 3, k, Q(1, 50))) == pytest.approx(expected, rel=1e-12)


@check(A1, grade="exact", target="corrected", supporting=True, cases="n = 20, 100, 1000; delta = 1/10, 1/100")
@proof_steps("inverse-margins.md: 3")
def test_an_unseen_point_stays_below_the_bound() -> None:
    """A parameter that is wrong on one point b alone, of probability eta: unseen with probability (1 - eta)^n.

    All margins on the sample are infinite. Wherever eta exceeds the bound, b is seen with probability 1 - delta.
    """
    for n, delta in product((20, 100, 1000), (Q(1, 10), Q(1, 100))):
        bound = margins_bound([None] * n, 1, 1, delta)
        exceeding = [Q(j, 500) for j in range(1, 500) if not bound >= exact_number(Q(j, 500))]
        assert exceeding
        assert all((1 - eta) ** n <= delta for eta in exceeding)


@counterexample(
    A1,
    grade="exact",
    cases="p = 1, k = 8 points, all samples of n = 2; for every n with k = 100 n points by the same words",
)
@proof_steps("inverse-margins.md: 6")
def test_for_one_parameter_the_printed_main_term_is_zero(record: Record, learned: int = 1000) -> None:
    """F(x, theta) = (2 bit_x(floor(theta/2)) - 1) dist(theta, 2 Z), theta in [0, 2^(k+1)] shifted to |theta| <= 2^k.

    At the odd integers every labelling of the k points occurs, with margin rho >= 1 at every point: the sign changes at
    even integers only. So after any n examples, some theta without a mistake on them errs on all the other points:
    error >= 1 - n/k. Printed, with log p = 0, the error would be O((log(1/delta) + log n)/sqrt(n)) with probability
    1 - delta, at k = 100 n too, where it is 0.99 or more; for large n that fails for every constant. The corrected
    bound grows with alpha = 2^k and is no contradiction: its main term alone exceeds 1.
    """
    k, n = 8, 2
    cells = {tuple(cell >> x & 1 for x in range(k)): cell for cell in range(2**k)}
    assert len(cells) == 2**k
    for seen in product(range(k), repeat=n):
        wrong = tuple(1 if x in seen else 0 for x in range(k))  # the target is 1 everywhere
        theta = 2 * cells[wrong] + 1
        assert all((theta - 1) // 2 >> x & 1 == 1 for x in seen)
        assert sum(1 - bit for bit in wrong) >= k - n
        assert 0 <= theta - 1 < theta + 1 <= 2 ** (k + 1)  # no even integer within distance 1 on either side
    remainder = inverse_margin_bound(n, 2**k, 1, 0)  # at infinite margins the main term is 0
    assert inverse_margin_bound(n, 2**k, 1, 1) - remainder > 1
    # the largest alpha/rho below 1 at which a sample of that size could say anything needs n > 72 ln 3 (alpha/rho)^2
    assert inverse_margin_bound(10**4, 2**k, 1, 1) - inverse_margin_bound(10**4, 2**k, 1, 0) > 1
    assert 0 < inverse_margin_bound(10**4, 1, 1, 1) - inverse_margin_bound(10**4, 1, 1, 0) < 1

    # the printed bound: n = 1000 examples, k = 100 n points, the target 1, the parameter that is right on the n alone
    n, p = 1000, 1
    k = 100 * n
    cell = 2**learned - 1  # bits 1 at the first n points, 0 at the others
    theta = 2 * cell + 1  # in [0, 2^(k+1)], an odd integer
    right = sum((theta - 1) // 2 >> x & 1 for x in range(n))
    distance = min(theta % 2, 2 - theta % 2)  # from the even integers, where the sign may change
    printed = 0 * arb(2) ** k * arb(p).log() + (arb(100).log() + arb(n).log()) / arb(n).sqrt()
    record.hypothesis("|theta - 2^k| <= alpha = 2^k: theta > 0 has at most k + 1 bits", theta.bit_length(), "<=", k + 1)
    record.hypothesis("no mistake on the n = 1000 examples", n - right, "=", 0)
    record.hypothesis("all margins on the sample are at least 1", distance, ">=", 1)
    record.hypothesis("the printed main term has the factor log p = 0", arb(p).log(), "=", 0)
    record.violated(
        "error <= 0 + (ln(1/delta) + ln n)/sqrt(n), delta = 1/100 (a larger constant needs a larger n)",
        1 - Q(n, k),
        "<=",
        printed,
    )
