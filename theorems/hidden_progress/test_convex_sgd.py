"""Theorem B.6: stochastic gradient descent without projection on a convex F, from 0 with step M/(rho sqrt T).

The bound needs an expectation over the noise, which the printed form leaves out, and it is on the T iterates
u^(0), ..., u^(T-1) at which gradients are taken. Proof: each step satisfies the identity

    <v_t, u_t - u*> = (|u_t - u*|^2 - |u_{t+1} - u*|^2)/(2 eta) + (eta/2) |v_t|^2,

its sum telescopes to at most M^2/(2 eta) + eta rho^2 T/2 = M rho sqrt T, and E<v_t, u_t - u*> >= E F(u_t) - F(u*) by
convexity.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from theorems.evidence import check, counterexample


@check("hidden-progress:theorem-B.6", grade="symbolic", target="corrected")
def test_the_identity_of_one_step_and_the_best_rate() -> None:
    """In each coordinate; and M^2/(2 eta) + eta rho^2 T/2 = M rho sqrt(T) at eta = M/(rho sqrt(T))."""
    u, v, best, eta = sp.symbols("u v u_star eta")
    gap = v * (u - best) - ((u - best) ** 2 - (u - eta * v - best) ** 2) / (2 * eta) - eta * v**2 / 2
    assert sp.simplify(gap) == 0
    m, rho, t = sp.symbols("M rho T", positive=True)
    rate = m / (rho * sp.sqrt(t))
    assert sp.simplify(m**2 / (2 * rate) + rate * rho**2 * t / 2 - m * rho * sp.sqrt(t)) == 0


@st.composite
def piecewise_linear(draw: st.DrawFn) -> list[tuple[int, int]]:
    """A convex F(u) = max_i (a_i u + b_i) on the line, as pairs (a_i, b_i)."""
    small = st.integers(-3, 3)
    return draw(st.lists(st.tuples(small, small), min_size=1, max_size=4))


def _value(pieces: list[tuple[int, int]], u: Fraction) -> Fraction:
    return max(a * u + b for a, b in pieces)


def _subgradient(pieces: list[tuple[int, int]], u: Fraction) -> int:
    return next(a for a, b in pieces if a * u + b == _value(pieces, u))


@check("hidden-progress:theorem-B.6", grade="exact", target="corrected")
@given(pieces=piecewise_linear(), spread=st.integers(0, 3))
def test_the_mean_over_all_noise(pieces: list[tuple[int, int]], spread: int) -> None:
    """T = 4 steps on the line, v = gradient +- spread: all 2^4 paths, exactly; M = 1, rho the largest possible |v|."""
    steps = 4  # its root is rational
    rho = max(abs(a) for a, _ in pieces) + spread
    if rho == 0:
        return
    rate = Fraction(1, rho * math.isqrt(steps))
    total = Fraction(0)
    for noise in product((-spread, spread), repeat=steps):
        u = Fraction(0)
        for sign in noise:
            total += _value(pieces, u)
            u -= rate * (_subgradient(pieces, u) + sign)
    mean = total / (steps * 2**steps)
    ends = [Fraction(-1), Fraction(1)]
    crossings = [Fraction(d - b, a - c) for a, b in pieces for c, d in pieces if a != c]
    least = min(_value(pieces, u) for u in ends + [u for u in crossings if abs(u) <= 1])
    assert mean <= least + Fraction(rho, math.isqrt(steps))


@counterexample("hidden-progress:theorem-B.6", grade="exact")
def test_without_the_expectation_it_fails() -> None:
    """F(u) = u, M = 1, v in {3, -1} with mean F' = 1, rho = 3, T = 16: on the path v = -1, of
    probability 2^-16, the average is above F(u*) + 3/4; the printed sum is over t = 1, ..., 16.
    """
    rate = Fraction(1, 12)
    path = [t * rate for t in range(17)]
    assert sum(path[1:]) / 16 == Fraction(17, 24) > -1 + Fraction(3, 4)
    assert sum(path[:16]) / 16 > -1 + Fraction(3, 4)


@check("hidden-progress:theorem-B.6", grade="exact", target="corrected", supporting=True)
def test_a_smaller_bound_fails() -> None:
    """F(u) = -u, M = rho = T = 1: the mean of F over the one iterate u = 0 is 0 = F(u*) + M rho/sqrt(T), attained."""
    mean, least = _value([(-1, 0)], Fraction(0)), _value([(-1, 0)], Fraction(1))
    assert mean == least + 1
    assert mean > least + Fraction(99, 100)
