"""The gradient flow of a disjoint PolyNet under the correlation loss, solved by quadrature.

Only the relevant weights v_1, ..., v_k move: dv_i/dt = prod_{j != i} v_j. Hence every v_i^2 grows by the same q(t),
with q' = 2 prod_i sqrt(q + v_i(0)^2) when prod v_i(0) > 0, and the time at which q reaches c is

    t(c) = int_0^c dg / (2 prod_i sqrt(g + v_i(0)^2)).

With g = 1/s^2 - 1 the integral is one of an analytic function, also up to the blow-up c = infinity, which exists for
k > 2:

    t(c) = int_{1/sqrt(1+c)}^1 s^(k-3) prod_i (1 - s^2 + v_i(0)^2 s^2)^(-1/2) ds.

It is enclosed rigorously, by the adaptive integration of balls.

From v_i(0) = 1 the flow is v = (1 - (k-2) t)^(-1/(k-2)), so that the share of the time to the blow-up that has passed
at v is 1 - v^(2-k), a rational number. With all irrelevant weights +-1 the error stays above 1/2 - gamma for most of
it.

Source: hidden-progress, equation-B.7, lemma-B.8, equation-B.8, corollary-B.10 and theorem-5.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

from flint import acb, arb, fmpq

from lemmata.numerics.exact.numbers import as_exact

__all__ = [
    "arithmetic_mean",
    "blow_up_time",
    "geometric_mean",
    "growth_time",
    "plateau_end",
    "plateau_share",
    "squares",
]


def squares(initial: Sequence[Any]) -> list[fmpq]:
    """The squares v_i(0)^2 of rational initial weights whose product is positive.

    Raises:
        ValueError: if there is no weight, one is zero or not an exact rational number, or the product is negative.
    """
    weights = as_exact(list(initial)).tolist() if len(initial) else []
    if not weights or not all(isinstance(v, fmpq) for v in weights):
        raise ValueError(f"The initial weights must be at least one exact rational number, not {list(initial)}.")
    if any(v == 0 for v in weights) or sum(v < 0 for v in weights) % 2:
        raise ValueError(f"The product of the initial weights must be positive, but they are {weights}.")
    return [v * v for v in weights]


def arithmetic_mean(initial: Sequence[Any]) -> arb:
    """The arithmetic mean v_a = (1/k) sum v_i(0)^2."""
    a = squares(initial)
    return arb(sum(a, fmpq(0)) / len(a))


def geometric_mean(initial: Sequence[Any]) -> arb:
    """The geometric mean v_g = (prod v_i(0)^2)^(1/k)."""
    a = squares(initial)
    product = fmpq(1)
    for square in a:
        product *= square
    return arb(product).root(len(a))


def growth_time(initial: Sequence[Any], growth: Any) -> arb:
    """The time t(c) at which q = v_i^2 - v_i(0)^2 reaches c.

    Args:
        initial: v_1(0), ..., v_k(0), exact rationals with positive product, k >= 1.
        growth: c >= 0, rational or a ball.

    Raises:
        ValueError: if c is not certainly >= 0, or for initial weights that `squares` refuses.
    """
    c = growth if isinstance(growth, arb) else arb(as_exact([growth])[0])
    if not c >= 0:
        raise ValueError(f"The growth must be at least 0, not {growth}.")
    return _time(squares(initial), 1 / (1 + c).sqrt())


def blow_up_time(initial: Sequence[Any]) -> arb:
    """The time at which all weights become infinite.

    Raises:
        ValueError: for k <= 2, where they stay finite, or for initial weights that `squares` refuses.
    """
    a = squares(initial)
    if len(a) <= 2:
        raise ValueError(f"The flow blows up for k > 2 blocks only, not for k = {len(a)}.")
    return _time(a, arb(0))


def plateau_end(irrelevant: int, k: int, gamma: fmpq) -> int:
    """The relevant weight v at which the error falls below 1/2 - gamma, all irrelevant weights being +-1.

    It is the smallest value b of |S| with P(|S| <= b)^k > 2 gamma, for the sum S of m = ``irrelevant`` signs: where v
    is no value of S the error is (1 - P(|S| < v)^k)/2. If b is below 1, the initial weight, there is no plateau.

    Raises:
        ValueError: unless m >= 1, k >= 1 and 0 < gamma < 1/2, gamma rational.
    """
    exact = isinstance(gamma, fmpq | Fraction | int)
    if irrelevant < 1 or k < 1 or not exact or not 0 < gamma < fmpq(1, 2):
        raise ValueError(
            f"A plateau needs m >= 1 irrelevant weights, k >= 1 blocks and a rational gamma in (0, 1/2), not "
            f"m = {irrelevant}, k = {k} and gamma = {gamma}."
        )
    m, inside, b = irrelevant, 0, irrelevant % 2 - 2
    while fmpq(inside, 2**m) ** k <= 2 * gamma:
        b += 2
        inside += comb(m, (m + b) // 2) * (1 if b == 0 else 2)
    return b


def plateau_share(irrelevant: int, k: int, gamma: fmpq, *, until_zero_error: bool = False) -> fmpq:
    """The ratio T(1/2 - gamma)/T(0) from v = 1, exactly: the share of the time that the flow spends on its plateau.

    Args:
        irrelevant: m = n' - 1 weights +-1 in each block.
        k: the number of blocks.
        gamma: rational.
        until_zero_error: whether T(0) is the first time of error 0, at v = m, and not the blow-up.

    Raises:
        ValueError: for k < 3 (nothing blows up), m < 2 with ``until_zero_error`` (the error is 0 from the start), or as
            `plateau_end`.
    """
    if k < 3 or (until_zero_error and irrelevant < 2):
        raise ValueError(
            "The ratio needs k >= 3 blocks, and m >= 2 irrelevant weights if it ends at error 0, "
            f"not k = {k} and m = {irrelevant}."
        )
    share = 1 - fmpq(1, max(1, plateau_end(irrelevant, k, gamma)) ** (k - 2))
    return share / (1 - fmpq(1, irrelevant ** (k - 2))) if until_zero_error else share


def _time(a: list[fmpq], start: arb) -> arb:
    """The integral int_start^1 s^(k-3) prod (1 - s^2 + a_i s^2)^(-1/2) ds, for start in [0, 1]."""
    exponent = len(a) - 3

    def integrand(s: acb, analytic: bool) -> acb:
        value = s**exponent if exponent >= 0 else 1 / s ** (-exponent)
        for square in a:
            value = value * (1 - s * s + square * s * s).rsqrt(analytic=analytic)
        return value

    return acb.integral(integrand, acb(start), acb(1)).real
