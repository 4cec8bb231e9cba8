"""Covers of the losses of the all-layer margin, and the Rademacher complexity that they bound (proof of lemma 2.3).

The chain, each link checked below and valid for every architecture:

- rho(theta, x, y) is the distance of theta from the set of parameters that are wrong on (x, y), so it is 1-Lipschitz in
  theta, and the ramp loss clip(1 - rho/gamma, 0, 1) is (1/gamma)-Lipschitz: |dist(a) - dist(b)| <= |a - b| by the
  triangle inequality. A cover of the parameters of radius gamma u covers the losses in the supremum norm with radius u.
- Maurey: the means of k vectors among 0 and +-alpha e_j cover {||theta||_1 <= alpha} with radius alpha/sqrt(k), because
  the expected squared distance of k independent picks with mean theta is (alpha ||theta||_1 - ||theta||^2)/k. Hence
  ln N(u) <= ceil(alpha^2/(gamma u)^2) ln(2 p + 1); printed with log p and a floor, which is 0 at p = 1, and at p = 2
  for gamma u just below alpha.
- Massart: E max_(v in V) <xi, v> <= r sqrt(2 ln |V|) for vectors of norm <= r, from cosh s <= exp(s^2/2).
- Chaining over the radii 2^-j (`lemmata.numerics.learning.covers`): Rad is at most
  4/n + 12 sqrt(2) (alpha/gamma) sqrt(ln(2 p + 1)/n) ln n, the order (alpha/gamma) sqrt(log p/n) log n that is printed.
"""

from __future__ import annotations

from fractions import Fraction as Q
from itertools import pairwise, product

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.learning.covers import (
    chaining_bound,
    dudley_bound,
    log_cover_size,
    maurey_cover,
    ramp_loss,
    sparse_average,
)
from lemmata.numerics.learning.generalisation import rademacher_complexity
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

SEEDS = st.integers(0, 2**32)


def _picks(p: int) -> np.ndarray:
    """The vectors 0, +e_j, -e_j, shape (2 p + 1, p)."""
    eye = np.eye(p, dtype=int)
    return as_exact(np.vstack([np.zeros((1, p), dtype=int), eye, -eye]))


def _point(seed: int, p: int) -> np.ndarray:
    """A rational vector with ||theta||_1 <= 1."""
    rng = np.random.default_rng(seed)
    parts = rng.integers(-6, 7, size=p)
    return as_exact([Q(int(x), int(np.abs(parts).sum() + rng.integers(1, 4))) for x in parts])


@check("turing:fact-covering", grade="sampled", target="corrected", supporting=True, cases="points drawn by Hypothesis")
@proof_steps("sample_size.md: 8")
@given(SEEDS, st.integers(1, 3), st.integers(1, 3))
def test_the_expected_distance_of_random_picks(seed, p, k):
    """E |mean of k picks - theta|^2 = (||theta||_1 - |theta|^2)/k <= 1/k, over all (2 p + 1)^k tuples of picks.

    +-e_j is drawn with probability |theta_j|, and 0 with the rest. For every k: the picks are independent with mean
    theta, so the variance is that of one pick, E |v|^2 - |theta|^2, divided by k.
    """
    theta, picks = _point(seed, p), _picks(p)
    zero = fmpq(0)
    chances = [1 - sum(abs(x) for x in theta), *(max(x, zero) for x in theta), *(max(-x, zero) for x in theta)]
    expected = zero
    for chosen in product(range(2 * p + 1), repeat=k):
        gap = sum(picks[i] for i in chosen) / k - theta
        weight = fmpq(1)
        for i in chosen:
            weight *= chances[i]
        expected += weight * gap.dot(gap)
    one_norm = sum((abs(x) for x in theta), start=zero)
    assert expected == (one_norm - theta.dot(theta)) / k <= fmpq(1, k)


@check("turing:fact-covering", grade="sampled", target="corrected", supporting=True, cases="points drawn by Hypothesis")
@proof_steps("sample_size.md: 8")
@given(SEEDS, st.integers(1, 8), st.integers(1, 20))
def test_the_greedy_mean_is_within_the_radius(seed, p, k):
    """It is an element of the cover, at squared distance <= (||theta||_1 - |theta|^2)/k."""
    theta = _point(seed, p)
    mean = sparse_average(theta, k)
    gap = mean - theta
    assert gap.dot(gap) <= (sum(abs(x) for x in theta) - theta.dot(theta)) / k
    assert all((k * x).q == 1 for x in mean)
    assert sum(abs(x) for x in mean) <= 1
    assert (sparse_average(3 * theta, k, alpha=3) == 3 * mean).all()


@check("turing:fact-covering", grade="exact", target="corrected", supporting=True)
@proof_steps("sample_size.md: 8")
@pytest.mark.parametrize(("p", "k", "size"), [(1, 2, 5), (2, 3, 25), (3, 4, 129), (4, 4, 321)])
def test_whole_covers(p, k, size):
    """The number of different means is below (2 p + 1)^k, and a rational grid of the ball is covered."""
    cover = maurey_cover(p, k)
    assert len(cover) == size <= (2 * p + 1) ** k
    steps = 6
    grid = [np.array(x) for x in product(range(-steps, steps + 1), repeat=p) if sum(map(abs, x)) <= steps]
    near = to_float(cover)
    worst = fmpq(0)
    for x in grid:
        best = cover[np.argmin(((near - x / steps) ** 2).sum(axis=1))]
        gap = best - as_exact(x) / steps
        worst = max(worst, gap.dot(gap))
    assert 0 < worst <= fmpq(1, k)


@counterexample("turing:fact-covering", grade="enclosed")
@proof_steps("sample_size.md: 9")
def test_the_printed_exponent_is_zero_where_one_ball_is_not_enough(record: Record, length: int = 1):
    """p = 2, radius 9/10 alpha: alpha^2 ln 2/(gamma u)^2 = .856 < 1, so that the floor is 0 and N = exp(O(0)) = 1.

    alpha e_1 and -alpha e_1 are at distance 2 alpha, and two points of one ball at most 9/5 alpha. For p = 1 the
    exponent is 0 at every radius. Repaired: ceil(alpha^2/(gamma u)^2) ln(2 p + 1) > 0.
    """
    radius = Q(9, 10)
    exponent = arb(2).log() / arb(fmpq(81, 100))
    assert exponent < 1
    assert 2 * radius < 2
    assert arb(1).log() == 0  # p = 1
    assert log_cover_size(1, 1, 1, 1) > 4  # radius 1/2, p = 1, corrected: 4 ln 3
    ends = as_exact([[length, 0], [-length, 0]])  # alpha e_1 and -alpha e_1
    record.hypothesis(
        "the points lie in the ball of radius alpha = 1", max(sum(map(abs, row)) for row in ends.tolist()), "<=", 1
    )
    record.hypothesis("p = 2: alpha^2 ln p/(gamma u)^2 < 1 at gamma u = 9/10, so that its floor is 0", exponent, "<", 1)
    gap = (ends[0] - ends[1]).dot(ends[0] - ends[1])
    record.violated(
        "exp(O(0)) = 1 ball of this radius is a cover: squared distance in it <= (2 gamma u)^2",
        gap,
        "<=",
        (2 * radius) ** 2,
    )


@check("turing:fact-covering", grade="symbolic", target="corrected", supporting=True)
@proof_steps("sample_size.md: 10")
def test_massart():
    """For V of N vectors with |v| <= r: s E max <xi, v> <= ln(sum_v E exp(s <xi, v>)) <= ln N + s^2 r^2/2, any s > 0.

    The factors cosh(s v_i) are at most exp(s^2 v_i^2/2), term by term in the series: (2 m)! >= 2^m m!, as the quotient
    of consecutive quotients is (2 m + 1)(2 m + 2)/(2 (m + 1)) = 2 m + 1 >= 1. At s = sqrt(2 ln N)/r it is
    E max <= r sqrt(2 ln N).
    """
    m, s, r, size = sp.symbols("m s r L", positive=True)
    assert sp.simplify((2 * m + 1) * (2 * m + 2) / (2 * (m + 1)) - (2 * m + 1)) == 0
    bound = size / s + s * r**2 / 2  # size = ln N
    best = sp.sqrt(2 * size) / r
    assert sp.simplify(bound.subs(s, best) - r * sp.sqrt(2 * size)) == 0
    assert sp.simplify(sp.diff(bound, s).subs(s, best)) == 0


@check("turing:fact-covering", grade="symbolic", target="corrected", supporting=True)
@proof_steps("sample_size.md: 11")
def test_chaining_is_below_the_closed_form():
    """At J = ceil(log2 n) every term is at most 6 sqrt(2) kappa sqrt(L/n), with kappa = alpha/gamma, L = ln(2 p + 1).

    ln N_j + ln N_(j-1) <= 2 ceil(4^j kappa^2) L <= 4 4^j kappa^2 L, since ceil(t) <= 2 t for t > 1 (and for t <= 1 the
    cover has one element and the term is 0). J <= 2 ln n for n >= 2: for 2^m < n <= 2^(m+1), J = m + 1, and
    2 m ln 2 >= m + 1 for m >= 3; n = 2, 3, 5 give 1 <= 1.38, 2 <= 2.19, 3 <= 3.21. And 2^-J <= 1/n.
    """
    kappa, L, n, j = sp.symbols("kappa L n j", positive=True)
    term = 3 * 2**-j * sp.sqrt(2 * 4 * 4**j * kappa**2 * L / n)
    assert sp.simplify(term - 6 * sp.sqrt(2) * kappa * sp.sqrt(L / n)) == 0
    m = sp.symbols("m", nonnegative=True)
    assert sp.expand(2 * (m + 3) * sp.log(2) - (m + 4)).coeff(m) == 2 * sp.log(2) - 1
    assert 2 * arb(2).log() > 1
    assert 6 * arb(2).log() > 4
    assert all(2 * arb(n).log() > steps for n, steps in ((2, 1), (3, 2), (5, 3)))


@check("turing:fact-covering", grade="enclosed", target="corrected", supporting=True)
@proof_steps("sample_size.md: 11")
@pytest.mark.parametrize(("alpha", "gamma", "p"), [(1, 1, 1), (1, 1, 2), (20, 3, 1000), (Q(1, 2), 5, 7)])
def test_the_bounds_are_ordered_and_decrease(alpha, gamma, p):
    """chaining <= closed form for n = 2, ..., 200 and powers of 10; chaining decreases; it is below 1 for large n."""
    sizes = [*range(2, 201), *(10**e for e in range(3, 13))]
    values = [chaining_bound(n, alpha, gamma, p) for n in sizes]
    assert all(value < dudley_bound(n, alpha, gamma, p) for value, n in zip(values, sizes, strict=True))
    assert not any(later > earlier for earlier, later in pairwise(values))
    assert values[-1] < 0.01


def _ramp_losses(alpha: Q, gamma: Q, steps: int, inputs: list[tuple[int, int]]) -> np.ndarray:
    """Ramp losses of F(x, theta) = <theta, x>, y = 1, over a grid of {||theta||_1 <= alpha} in R^2, rational.

    For x = e_1, e_2 and their negatives the all-layer margin is max(<theta, x>, 0).
    """
    rows = []
    for a, b in product(range(-steps, steps + 1), repeat=2):
        if abs(a) + abs(b) <= steps:
            margins = [max(Q(a * x + b * y, steps) * alpha, Q(0)) for x, y in inputs]
            rows.append([as_fraction(ramp_loss(rho, gamma)) for rho in margins])
    return np.array(rows, dtype=object)


@check("turing:fact-covering", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("gamma", [Q(1), Q(1, 2)])
def test_exact_complexities_of_linear_functions_lie_below_the_bound(gamma):
    """p = 2, F(x, theta) = <theta, x> on e_1, e_2, -e_1: the exact complexity of a grid of losses is below the bound.

    Supporting: the bound is far above the complexity at these sizes.
    """
    inputs = [(1, 0), (0, 1), (-1, 0)]
    losses = _ramp_losses(Q(1), gamma, 4, inputs)
    masses = [Q(1, 3)] * 3
    for n in (2, 6, 12):
        value = rademacher_complexity(losses, masses, n)
        assert 0 < arb(value) < chaining_bound(n, 1, fmpq(gamma.numerator, gamma.denominator), 2)


@check("turing:fact-covering", grade="sampled", target="corrected", supporting=True, cases="points drawn by Hypothesis")
@proof_steps("sample_size.md: 7")
@given(SEEDS, st.integers(1, 4), st.integers(1, 6))
def test_distances_and_ramp_losses_are_lipschitz(seed, divisor, count):
    """|dist(a, B) - dist(b, B)| <= |a - b| for finite sets B; clip(1 - rho/gamma) then changes by <= |a - b|/gamma.

    For every set B in every dimension: dist(a) <= |a - c| <= |a - b| + |b - c| for all c in B, by the triangle
    inequality. Exact here on the line, where distances are rational.
    """
    rng = np.random.default_rng(seed)
    a, b = as_exact([Q(int(x), 7) for x in rng.integers(-30, 31, size=2)])
    wrong = as_exact([Q(int(x), 5) for x in rng.integers(-30, 31, size=count)])
    gamma = fmpq(int(rng.integers(1, 9)), divisor)

    def rho(t: fmpq) -> fmpq:
        return min(abs(t - w) for w in wrong)

    def ramp(t: fmpq) -> fmpq:
        return max(fmpq(0), min(fmpq(1), 1 - rho(t) / gamma))

    assert abs(rho(a) - rho(b)) <= abs(a - b)
    assert abs(ramp(a) - ramp(b)) <= abs(a - b) / gamma
    assert ramp(wrong[0]) == 1
    assert (ramp(a) == 0) == (rho(a) >= gamma)
