"""Theorem B.6: stochastic gradient descent without projection on a convex F, from 0 with step M/(rho sqrt T).

The bound needs an expectation over the noise, which the printed form leaves out, and it is on the T iterates
u^(0), ..., u^(T-1) at which gradients are taken. Proof: each step satisfies the identity

    <v_t, u_t - u*> = (|u_t - u*|^2 - |u_{t+1} - u*|^2)/(2 eta) + (eta/2) |v_t|^2,

its sum telescopes to at most M^2/(2 eta) + eta rho^2 T/2 = M rho sqrt T, and E<v_t, u_t - u*> >= E F(u_t) - F(u*) by
convexity.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.parity.two_layer import post_step_network
from lemmata.numerics.parity.training import Network, network_gradient
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


@check("hidden-progress:theorem-B.6", grade="symbolic", target="corrected", supporting=True)
@proof_steps("convex-sgd.md: 1, 2")
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


@check("hidden-progress:theorem-B.6", grade="sampled", target="corrected", supporting=True)
@proof_steps("convex-sgd.md: 4")
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


def _second_layer(k: int) -> tuple[Network, np.ndarray, np.ndarray]:
    """The frozen features of the repaired lemma B.4, with a second layer of zeros; one input for each number of +1s."""
    good = post_step_network(k, k)
    hidden, bias = good.hidden.astype(np.float32), good.bias.astype(np.float32)
    none = np.zeros(len(bias), dtype=np.float32)
    network = Network("relu", k, hidden, bias, none, np.zeros(1, dtype=np.float32))
    x = np.where(np.arange(k) < np.arange(k + 1)[:, None], 1, -1).astype(np.float32)
    return network, x, np.prod(x, axis=1)


@check(
    "hidden-progress:theorem-B.6",
    grade="sampled",
    target="corrected",
    cases="the second layer of k = 2, 4 on frozen features, T = 400, 40 runs each (seed 6)",
)
@proof_steps("convex-sgd.md: 4")
@pytest.mark.parametrize("k", [2, 4])
def test_the_second_layer_of_a_network(k: int) -> None:
    """F(u) = E hinge of u on frozen features, m uniform on 0, ..., k, v the gradient at one sample: the mean of F over
    the iterates is at most F(u*) + M rho/sqrt(T), and F(u*) = 0 at the readout of lemma B.4, whose norm is M.

    The mean over 40 runs is below the bound by more than six standard errors; ascent in place of descent exceeds it.
    Each v is -y times the features if y f < 1, and 0 beyond.
    """
    network, x, y = _second_layer(k)
    best = post_step_network(k, k).readout.astype(np.float32)
    features = np.maximum(x @ network.hidden.T + network.bias, 0)
    assert network_gradient(dataclasses.replace(network, readout=best / 2), x, y)[0] == 0  # half of 2 chi: margin 1
    radius, rho, steps = float(np.linalg.norm(best)) / 2, float(np.linalg.norm(features, axis=1).max()), 400
    bound = radius * rho / math.sqrt(steps)
    sides: set[bool] = set()
    for direction, within in ((1, True), (-1, False)):
        averages = []
        for seed in range(40):
            rng = np.random.default_rng([6, k, seed])
            u, iterates = np.zeros_like(best), []
            for m in rng.integers(0, k + 1, size=steps):
                iterates.append(u)
                now = dataclasses.replace(network, readout=u)
                v = network_gradient(now, x[m : m + 1], y[m : m + 1])[1][2]
                assert np.linalg.norm(v) <= rho * (1 + 1e-6)  # float32
                margin = float(y[m] * (features[m] @ u))
                if abs(margin - 1) > 1e-3:  # sums of five terms of size 100 at most, in float32
                    assert np.abs(v + y[m] * features[m] * (margin < 1)).max() < 1e-6
                    sides.add(margin < 1)
                u = u - np.float32(direction * radius / (rho * math.sqrt(steps))) * v
            averages.append(np.maximum(1 - y * (np.array(iterates) @ features.T), 0).mean())
        spread = 6 * float(np.std(averages)) / math.sqrt(len(averages))
        assert (np.mean(averages) + spread <= bound) == within
    assert sides == {True, False}


@counterexample("hidden-progress:theorem-B.6", grade="exact")
def test_without_the_expectation_it_fails(record: Record, gradients: tuple[int, int] = (3, -1)) -> None:
    """F(u) = u, M = 1, v in {3, -1} with mean F' = 1, rho = 3, T = 16: on the path v = -1, of
    probability 2^-16, the average is above F(u*) + 3/4; the printed sum is over t = 1, ..., 16.
    """
    radius, rho, steps = 1, 3, 16
    rate = Fraction(radius, rho * math.isqrt(steps))
    path = [-t * rate * gradients[1] for t in range(steps + 1)]
    record.hypothesis("E[v_t | u_t] = F'(u_t) = 1", Fraction(sum(gradients), 2), "=", 1)
    record.hypothesis("|v_t| <= rho, always", max(map(abs, gradients)), "<=", rho)
    record.hypothesis("eta^2 = M^2/(rho^2 T)", rate**2, "=", Fraction(radius**2, rho**2 * steps))
    record.hypothesis("the path has a positive probability", Fraction(1, 2**steps), ">", 0)
    bound = -radius + Fraction(radius * rho, math.isqrt(steps))
    record.violated(
        "the mean of F(u_t), t = 1, ..., T, is at most F(u*) + M rho/sqrt(T)", sum(path[1:]) / 16, "<=", bound
    )
    assert sum(path[1:]) / 16 == Fraction(17, 24) > -1 + Fraction(3, 4)
    assert sum(path[:16]) / 16 > -1 + Fraction(3, 4)


@check("hidden-progress:theorem-B.6", grade="exact", target="corrected", supporting=True)
@proof_steps("convex-sgd.md: 4")
def test_a_smaller_bound_fails() -> None:
    """F(u) = -u, M = rho = T = 1: the mean of F over the one iterate u = 0 is 0 = F(u*) + M rho/sqrt(T), attained."""
    mean, least = _value([(-1, 0)], Fraction(0)), _value([(-1, 0)], Fraction(1))
    assert mean == least + 1
    assert mean > least + Fraction(99, 100)
