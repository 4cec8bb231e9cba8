"""Theorem 5.7 (full statement): the plateau of a disjoint PolyNet that starts from Gaussian weights.

Let m = n' - 1 >= 1 irrelevant weights u_i in each of k >= 3 blocks and the relevant v_i(0) be independent N(0, 1), and
condition on prod v_i(0) > 0. For every 0 < delta < 1, with probability 1 - delta - k 0.8^m, for all gamma in (0, 1/2),

    1 - T(1/2 - gamma)/T(0) <= (1024 log(k/delta)/(3m))^(k/2-1) (2 gamma)^(2/k-1).

With delta = (n')^-p this is the statement, for fixed k: the probability is 1 - O((n')^-p) for any p, and the logarithm
is what O~ hides. The text's proof reaches 1 - 1/poly(k) only, and needs the theorem of Berry and Esseen.

1. The conditioning changes no law: signs and sizes of the v_i(0) are independent, and so are the u_i.
2. P(|N| > x) <= exp(-x^2/2). So with probability 1 - delta all v_i(0)^2 <= A := 2 log(k/delta), and A > 2.
3. P(|N| >= 1/4) > 4/5. So the number of entries of u_i of size 1/4 at least is at most m/2 with probability at most
   (2 sqrt(4/5 1/5))^m = 0.8^m. Otherwise Littlewood and Offord's inequality (`test_signed_sums`) with more than m/2
   entries and C(m', m'/2)/2^m' <= sqrt(2/(3m')) (`test_polynet_flow`) says P(|u_i.z| <= v) <= (4v + 1) 2/sqrt(3m).
4. By the error formula err >= 1/2 - (1/2) prod_i P(|u_i.z_i| <= v_i). Let q be the growth of the squares. As v_i <=
   sqrt(A + q), the error is at least 1/2 - gamma while sqrt(A + q) <= (X - 1)/4, X = (sqrt(3m)/2) (2 gamma)^(1/k); so
   T(1/2 - gamma) is not before q = c := ((X - 1)/4)^2 - A, if c >= 0.
5. If X^2 < 128 A, the claimed right side (128 A/X^2)^(k/2-1) is above 1, and there is nothing to show. Else X >= 2, so
   (X - 1)/4 >= X/8, and c >= X^2/64 - A >= X^2/128.
6. The time between two growths is the integral of 1/(2 prod sqrt(g + v_i(0)^2)), between g^(-k/2)/2 and
   (g + A)^(-k/2)/2. So at q = c the time left is at most c^(1-k/2)/(k-2), and the whole is at least A^(1-k/2)/(k-2):
   the share left is at most (A/c)^(k/2-1) <= (128 A/X^2)^(k/2-1).
7. (128 A/X^2)^(k/2-1) = (512 A/(3m))^(k/2-1) (2 gamma)^(2/k-1).

T(0) is the blow-up; with the first time of error 0 in its place the share left is smaller still.
"""

from __future__ import annotations

import math
from itertools import product
from math import comb

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.parity.polynet_error import polynet_error
from lemmata.numerics.parity.polynet_flow import arithmetic_mean, blow_up_time, growth_time
from lemmata.numerics.parity.signed_sums import signed_sum_counts
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

STATEMENT = "hidden-progress:theorem-5.7-full"


@check(STATEMENT, grade="symbolic", target="printed", supporting=True)
@proof_steps("polynet-plateau.md: 9")
def test_the_tail_of_the_normal_law() -> None:
    """Step 2: erfc(y) <= exp(-y^2) for y >= 0, as P(|N| > x) = erfc(x/sqrt 2).

    The difference exp(-y^2) - erfc(y) is 0 at 0 and at infinity, and its derivative 2 exp(-y^2) (1/sqrt(pi) - y)
    changes its sign once, from + to -. With x^2 = A a union bound over k blocks gives k exp(-A/2) = delta.
    """
    y, k, delta = sp.symbols("y k delta", positive=True)
    difference = sp.exp(-(y**2)) - sp.erfc(y)
    assert sp.simplify(sp.diff(difference, y) - 2 * sp.exp(-(y**2)) * (1 / sp.sqrt(sp.pi) - y)) == 0
    assert difference.subs(y, 0) == 0
    assert sp.limit(difference, y, sp.oo) == 0
    assert sp.simplify(k * sp.exp(-(2 * sp.log(k / delta)) / 2) - delta) == 0
    assert 2 * arb(3).log() > 2  # A >= 2 log 3


@check(STATEMENT, grade="enclosed", target="printed", supporting=True)
@proof_steps("polynet-plateau.md: 10")
def test_most_weights_are_not_small() -> None:
    """Step 3: P(|N| >= 1/4) > 4/5 in balls; P(Bin(m, p) <= m/2) <= (2 sqrt(p(1-p)))^m for p >= 1/2, here at p = 4/5.

    For j <= m/2, p^j (1-p)^(m-j) = (p(1-p))^(m/2) ((1-p)/p)^(m/2-j) <= (p(1-p))^(m/2), and the binomials sum to 2^m at
    most; p(1-p) falls in p. Exactly for m <= 60; and a share of small weights that is too large breaks the bound.
    """
    assert (arb(1) / 4 / arb(2).sqrt()).erfc() > arb(4) / 5
    p = fmpq(4, 5)
    assert 4 * p * (1 - p) == fmpq(8, 10) ** 2
    for m in range(1, 61):
        tail = sum((comb(m, j) * p**j * (1 - p) ** (m - j) for j in range(m // 2 + 1)), fmpq(0))
        assert tail <= p**m  # (2 sqrt(4/25))^m = (4/5)^m
    q = fmpq(7, 10)
    assert sum((comb(60, j) * q**j * (1 - q) ** (60 - j) for j in range(31)), fmpq(0)) > p**60


@check(STATEMENT, grade="symbolic", target="printed", supporting=True)
@proof_steps("polynet-plateau.md: 11, 12")
def test_the_chain_of_inequalities() -> None:
    """Steps 3 and 5 to 7, in X, A, m, k and gamma as positive symbols."""
    X, A, m, k, gamma = sp.symbols("X A m k gamma", positive=True)
    # 3: more than m/2 entries, and floor(v/(1/4)) + 1 <= 4v + 1
    assert sp.simplify(sp.sqrt(2 / (3 * m / 2)) - 2 / sp.sqrt(3 * m)) == 0
    # 4: k equal factors at the end of the plateau give 2 gamma
    threshold = sp.sqrt(3 * m) / 2 * (2 * gamma) ** (1 / k)
    assert sp.simplify(threshold * 2 / sp.sqrt(3 * m) - (2 * gamma) ** (1 / k)) == 0
    # 5: with X = 2 + s, (X - 1)/4 - X/8 = s/8; and with X^2 = 128 A + s, X^2/64 - A - X^2/128 = s/128
    s = sp.symbols("s", nonnegative=True)
    assert sp.expand((X - 1) / 4 - X / 8).subs(X, 2 + s).expand() == s / 8
    assert sp.expand((128 * A + s) / 64 - A - (128 * A + s) / 128) == s / 128
    # 6: the integrals from c and from 0 to infinity
    c = sp.symbols("c", positive=True)
    antiderivative = -((X + A) ** (1 - k / 2)) / (k - 2)
    assert sp.simplify(sp.diff(antiderivative, X) - (X + A) ** (-k / 2) / 2) == 0
    assert sp.simplify((c ** (1 - k / 2) / A ** (1 - k / 2)) / (A / c) ** (k / 2 - 1)) == 1
    # 7: X^2 = (3m/4) (2 gamma)^(2/k), and the logarithms of both sides, linear in a = log A, b = log m, g = log 2 gamma
    assert sp.simplify(threshold**2 / (3 * m / 4 * (2 * gamma) ** (2 / k))) == 1
    a, b, g = sp.symbols("a b g", real=True)
    left = (k / 2 - 1) * (sp.log(128) + a - (sp.log(sp.Rational(3, 4)) + b + 2 * g / k))
    right = (k / 2 - 1) * (sp.log(sp.Rational(512, 3)) + a - b) + (2 / k - 1) * g
    assert sp.simplify(sp.expand(sp.expand_log(left - right, force=True))) == 0


@check(
    STATEMENT,
    grade="sampled",
    target="printed",
    cases="k = 3, 4, 6, five Gaussian starts each (seed 57), growths 1, 10, 100, 10^4",
)
@proof_steps("polynet-plateau.md: 11")
@pytest.mark.parametrize("k", [3, 4, 6])
def test_the_share_of_time_left(k: int) -> None:
    """Step 6 on Gaussian draws (rounded to thousandths), by rigorous quadrature, at growths c from 1 to 10^4."""
    rng = np.random.default_rng([57, k])
    for _ in range(5):
        initial = [fmpq(round(1000 * x) or 1, 1000) for x in rng.normal(size=k)]
        initial[0] *= 1 if np.prod([float(arb(v)) for v in initial]) > 0 else -1
        largest = max(arb(v * v) for v in initial)
        total = blow_up_time(initial)
        assert growth_time(initial, fmpq(1, 2)) < growth_time(initial, 1)
        for c in (1, 10, 100, 10**4):
            left = 1 - growth_time(initial, c) / total
            assert left <= (arithmetic_mean(initial) / c) ** (arb(k) / 2 - 1)
            assert arithmetic_mean(initial) <= largest
            assert not left <= (arithmetic_mean(initial) / (c * 10**4)) ** (arb(k) / 2 - 1)


@check(
    STATEMENT,
    grade="sampled",
    target="printed",
    cases="10 draws of 60 Gaussian weights (seed 58), v = 0, 1/2, ..., 11/2",
)
@proof_steps("polynet-plateau.md: 10")
def test_sums_of_gaussian_weights_spread(effort: Effort) -> None:
    """Steps 3 and 4 on draws of m = 60 Gaussian weights, rounded to multiples of 1/16, at v = 0, 1/2, ..., 11/2.

    Every draw has more than m/2 entries of size 1/4 at least, and the bound is attained up to a factor 8.
    """
    m, rng = 60, np.random.default_rng(58)
    closest = arb(0)
    for _ in range(effort.pick(quick=10, full=60)):
        u = [int(a) for a in np.rint(16 * rng.normal(size=m))]
        assert sum(abs(a) >= 4 for a in u) > m / 2
        counts = signed_sum_counts(u)
        second, fourth = (sum(count * total**power for total, count in counts.items()) for power in (2, 4))
        squares = sum(a * a for a in u)
        assert sum(counts.values()) == 2**m
        assert all(counts[-total] == count for total, count in counts.items())
        assert second == 2**m * squares  # the moments of a sum of independent signs
        assert fourth == 2**m * (3 * squares**2 - 2 * sum(a**4 for a in u))
        for twice in range(0, 12):
            inside = fmpq(sum(count for total, count in counts.items() if abs(total) <= 8 * twice), 2**m)
            bound = (2 * twice + 1) * 2 / (3 * arb(m)).sqrt()
            assert inside <= bound
            closest = closest.max(arb(inside) / bound)
    assert closest > arb(1) / 8


@check(
    STATEMENT,
    grade="sampled",
    target="printed",
    cases="k = 3, m = 9, five draws of Gaussian weights (seed 59), all eight patterns of signs, growths 0, 1, 10",
)
def test_the_error_of_gaussian_weights_by_enumeration() -> None:
    """Step 4: err >= 1/2 - (1/2) prod P(|u_i.z_i| <= |v_i|) at prod v_i > 0, whatever the signs are; the laws of the
    sums from all 2^9 sign vectors. At prod v_i < 0 the error is on the other side of a half."""
    m, k, rng = 9, 3, np.random.default_rng(59)
    z = sign_inputs(m)
    for _ in range(5):
        u = np.rint(16 * rng.normal(size=(k, m))).astype(int)
        starts = np.rint(16 * rng.normal(size=k)).astype(int)
        sums = z @ u.T
        for growth in (0, 1, 10):
            sizes = [math.isqrt(256 * growth + int(v) ** 2) for v in starts]  # rounded to sixteenths
            inside = [fmpq(int(np.sum(np.abs(sums[:, i]) <= sizes[i])), 2**m) for i in range(k)]
            for signs in product((1, -1), repeat=k):
                v = [s * size for s, size in zip(signs, sizes, strict=True)]
                some = [(int(np.sum(v[i] + sums[:, i] > 0)), int(np.sum(v[i] + sums[:, i] < 0))) for i in range(k)]
                right = sum(
                    math.prod(pair[(1 - s) // 2] for pair, s in zip(some, outputs, strict=True))
                    for outputs in product((1, -1), repeat=k)
                    if math.prod(outputs) == 1
                )
                error = polynet_error([fmpq(x, 16) for x in v], [[fmpq(int(a), 16) for a in row] for row in u])
                assert error == 1 - fmpq(right, 2 ** (k * m))
                half = inside[0] * inside[1] * inside[2] / 2
                if math.prod(signs) > 0:
                    assert error >= fmpq(1, 2) - half
                else:
                    assert error >= fmpq(1, 2)
