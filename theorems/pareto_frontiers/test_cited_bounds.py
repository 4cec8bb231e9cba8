"""The external theorems that section C.2.2 uses: weights of majority, uniform deviations, descent, coefficients.

The weight W_v(s) = C(s,v) hat Maj_s(v)^2 decreases to rho(v) = (2/(pi v 2^(v-1))) C(v-1, (v-1)/2), and
W_v(s) <= (1 + 2 v/s) rho(v) for s > 2 v. The printed rho has 2^v for 2^(v-1): half of it, with which the upper bound
fails for every s.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.boolean import majority_weight, majority_weight_limit
from lemmata.numerics.learning.second_layer import last_iterate_bound, uniform_deviation
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

FACT = "pareto-frontiers:fact-cited-bounds"


def _weight_by_enumeration(s: int, v: int) -> fmpq:
    """The sum of squared coefficients of majority over the sets of v of s inputs, from E[Maj x_1 ... x_v]."""
    x = sign_inputs(s)
    coefficient = fmpq(int((np.sign(x.sum(axis=1)) * x[:, :v].prod(axis=1)).sum()), 2**s)
    return comb(s, v) * coefficient**2


@check(FACT, grade="exact", target="corrected", cases="s = 1, 3, ..., 13, all odd v <= s, against the cube")
@proof_steps("cited-bounds.md: 1, 8")
@pytest.mark.parametrize("s", range(1, 14, 2))
def test_the_weights_of_majority(s: int) -> None:
    """The library's weights on the cube; above rho(v), and at most (1 + 2 v/s) rho(v) for 2 v < s."""
    for v in range(1, s + 1, 2):
        weight = majority_weight(s, v)
        assert weight == _weight_by_enumeration(s, v)
        assert majority_weight_limit(v) < weight
        if 2 * v < s:
            assert weight < (1 + fmpq(2 * v, s)) * majority_weight_limit(v)


@check(FACT, grade="enclosed", target="corrected", cases="v = 1, 3, ..., 19, odd s from 2 v + 1 to 401")
@proof_steps("cited-bounds.md: 2, 3, 4")
def test_the_bounds_on_the_weights() -> None:
    """rho(v) < W_v(s) < (1 + 2 v/s) rho(v) <= 2 rho(v); both factors within a tenth of 1 at the end."""
    for v in range(1, 20, 2):
        rho = majority_weight_limit(v)
        for s in range(2 * v + 1, 402, 2):
            weight = majority_weight(s, v)
            assert rho < weight < (1 + fmpq(2 * v, s)) * rho
        assert majority_weight(401, v) < rho * arb("1.1")
        assert majority_weight_limit(v + 2) < rho


@check(FACT, grade="symbolic", target="corrected", supporting=True)
@proof_steps("cited-bounds.md: 3")
def test_the_upper_bound_for_all_sizes() -> None:
    """U(s) = W_v(s)/(1 + 2 v/s) increases in odd s > 2 v for every odd v; its limit is rho(v), so that it is below.

    With v = 2 j + 1 and s = 2 m + 1, m = 2 j + 1 + t, U(s+2)/U(s) - 1 is a quotient of polynomials in j, t >= 0 with
    positive coefficients. The quotient of the weights is compared with the library's.
    """
    m, j, t = sp.symbols("m j t", nonnegative=True)
    s, v = 2 * m + 1, 2 * j + 1
    # C(s+2, v)/C(s, v); C(m+1, j)/C(m, j); C(2m+2, 2j)/C(2m, 2j); C(2m+2, m+1)/(4 C(2m, m))
    outer = (s + 2) * (s + 1) / ((s + 2 - v) * (s + 1 - v))
    upper, lower = (m + 1) / (m + 1 - j), (2 * m + 2) * (2 * m + 1) / ((2 * m + 2 - 2 * j) * (2 * m + 1 - 2 * j))
    weights = outer * (upper / lower * (2 * m + 1) / (2 * m + 2)) ** 2
    for size, degree in [(9, 3), (15, 5), (31, 1)]:
        at = weights.subs({m: (size - 1) // 2, j: (degree - 1) // 2})
        assert fmpq(int(at.p), int(at.q)) == majority_weight(size + 2, degree) / majority_weight(size, degree)
    growth = weights * (1 + 2 * v / s) / (1 + 2 * v / (s + 2)) - 1
    numerator, denominator = sp.fraction(sp.cancel(growth.subs(m, 2 * j + 1 + t)))
    signs = [{sp.sign(c) for c in sp.Poly(sp.expand(part), j, t).coeffs()} for part in (numerator, denominator)]
    assert signs in ([{1}, {1}], [{-1}, {-1}])


@counterexample(FACT, grade="enclosed")
@proof_steps("cited-bounds.md: 5")
def test_half_of_rho_bounds_no_weight(record: Record) -> None:
    """C(s,v) hat Maj_s(v)^2 > 2 rho'(v) for rho'(v) = (2/(pi v 2^v)) C(v-1, (v-1)/2), v = 3, 5, 7, odd s < 120."""
    v, s, printed = 3, 7, arb(0)
    for v in (3, 5, 7):
        printed = 2 * fmpq(comb(v - 1, (v - 1) // 2), v * 2**v) / arb.pi()
        for s in range(2 * v + 1, 120, 2):
            assert majority_weight(s, v) > 2 * printed
    record.hypothesis("v is odd: v mod 2", v % 2, "=", 1)
    record.hypothesis("2v < s", 2 * v, "<", s)
    record.violated("C(s, v) hat Maj_s(v)^2 <= 2 rho(v)", majority_weight(s, v), "<=", 2 * printed)


@check(
    FACT,
    grade="enclosed",
    target="corrected",
    cases="B R = 1/2, 1, 5, 100, delta = 10^-9, 1/10, 1/2, 99/100, m = 1, 1000; T = 1, ..., 1000, R = 3, lambda = 1/7",
)
@proof_steps("cited-bounds.md: 6, 7")
def test_the_quoted_bounds_follow_from_sharper_ones() -> None:
    """(ii) The quoted deviation is above McDiarmid's; (iii) 100 R^2 (1 + log T)/(lambda T) above the last iterate's."""
    for norm in (fmpq(1, 2), fmpq(1), fmpq(5), fmpq(100)):
        for delta in (fmpq(1, 10**9), fmpq(1, 10), fmpq(1, 2), fmpq(99, 100)):
            for m in (1, 1000):
                quoted = (2 * norm + 1) * (2 * (2 / arb(delta)).log()).sqrt() / arb(m).sqrt()
                assert uniform_deviation(norm, m, delta).overlaps(quoted)
                assert uniform_deviation(norm, m, delta, sharp=True) < quoted
    for steps in range(1, 1001):
        assert last_iterate_bound(3, fmpq(1, 7), steps) < 100 * 9 * 7 * (1 + arb(steps).log()) / steps
