"""Majority and Half (appendix C.2.3) and Lemma C.12: their Fourier coefficients, exactly.

The oracles are sums over all inputs in integers, and Krawtchouk sums, which count the inputs of each weight. Maj has
sign(0) = -1 as in the text, so that Maj = 2 * 1{sum > 0} - 1 for every number of inputs.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.numerics.fourier.boolean import half_coefficient, majority_coefficient, threshold_coefficient
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


def _inputs(n: int) -> np.ndarray:
    return 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


def _majority(x: np.ndarray) -> np.ndarray:
    return np.where(x.sum(axis=1) > 0, 1, -1)


def _krawtchouk(values: list[int], degree: int) -> fmpq:
    """The coefficient of a symmetric function from its values at inputs with 0, ..., n entries -1."""
    n = len(values) - 1
    total = 0
    for w, value in enumerate(values):
        inner = sum((-1) ** i * comb(degree, i) * comb(n - degree, w - i) for i in range(min(degree, w) + 1))
        total += value * inner
    return fmpq(total, 2**n)


# ---- the definitions


@check("pareto-frontiers:definition-maj-half", grade="exact", target="corrected")
@proof_steps("under-sparse-gradients.md: 1")
@pytest.mark.parametrize("n", range(1, 10))
def test_coefficients_by_sums_over_all_inputs(n: int) -> None:
    """At every set, whose size alone decides; for odd n the discrete derivative of Maj_n is Half_(n-1)."""
    x = _inputs(n)
    majority, half = _majority(x), (x.sum(axis=1) == 0).astype(np.int64)
    for T in range(2**n):
        members = [i for i in range(n) if T >> i & 1]
        chi = x[:, members].prod(axis=1)
        constant = 1 if not members else 0
        assert fmpq(int(majority @ chi), 2**n) == 2 * threshold_coefficient(n, len(members)) - constant
        if n % 2 == 0:
            assert fmpq(int(half @ chi), 2**n) == half_coefficient(n, len(members))
        elif n - 1 in members:
            derivative = (_majority(_with_last(n, 1)) - _majority(_with_last(n, -1))) // 2
            others = _inputs(n - 1)[:, [i for i in members if i < n - 1]].prod(axis=1)
            assert fmpq(int(derivative @ others), 2 ** (n - 1)) == half_coefficient(n - 1, len(members) - 1)


def _with_last(n: int, value: int) -> np.ndarray:
    rest = _inputs(n - 1)
    return np.concatenate([rest, np.full((len(rest), 1), value)], axis=1)


@counterexample("pareto-frontiers:definition-maj-half", grade="exact")
@proof_steps("under-sparse-gradients.md: 1")
@pytest.mark.parametrize("n", [3, 5, 7])
def test_a_sum_of_all_n_signs_is_not_the_derivative(n: int, record: Record) -> None:
    """For odd n a sum of n signs is never 0, whatever stands for the n-th: the printed Half would vanish."""
    derivative = (_majority(_with_last(n, 1)) - _majority(_with_last(n, -1))) // 2
    for last in (1, -1):
        printed = (_with_last(n, last).sum(axis=1) == 0).astype(np.int64)
        assert not printed.any()
    assert derivative.sum() == comb(n - 1, (n - 1) // 2) > 0
    if n == 3:
        record.no_hypotheses("a definition for every number of signs")
        record.violated(
            "Half is the derivative of Maj_3: at how many of 4 inputs each is 1",
            derivative.sum(),
            "=",
            printed.sum(),
        )


@check("pareto-frontiers:definition-maj-half", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("n", [2, 4, 6, 8])
def test_for_even_n_the_derivative_is_another_function(n: int) -> None:
    """It is 1{sum of the others = 1}, as sign(0) = -1, and Half needs an even number of signs."""
    derivative = (_majority(_with_last(n, 1)) - _majority(_with_last(n, -1))) // 2
    assert np.array_equal(derivative, (_inputs(n - 1).sum(axis=1) == 1).astype(np.int64))


# ---- Lemma C.12


@check("pareto-frontiers:lemma-C.12", grade="exact", target="corrected")
@proof_steps("under-sparse-gradients.md: 2, 3")
@pytest.mark.parametrize("m", [*range(22), 40])
def test_closed_form_equals_krawtchouk_sums(m: int) -> None:
    """All j <= m: the closed form of the text with the factor 4^-m, the coefficients of the library, and the sums."""
    half = [int(2 * w == 2 * m) for w in range(2 * m + 1)]
    majority = [1 if 2 * w < 2 * m + 1 else -1 for w in range(2 * m + 2)]
    for j in range(m + 1):
        closed = fmpq((-1) ** j * comb(m, j) * comb(2 * m, m), comb(2 * m, 2 * j) * 4**m)
        assert half_coefficient(2 * m, 2 * j) == closed == _krawtchouk(half, 2 * j)
        assert majority_coefficient(2 * m + 1, 2 * j + 1) == closed == _krawtchouk(majority, 2 * j + 1)
        if j < m:
            assert half_coefficient(2 * m, 2 * j + 1) == 0 == _krawtchouk(half, 2 * j + 1)
        assert majority_coefficient(2 * m + 1, 2 * j) == 0 == _krawtchouk(majority, 2 * j)


@check("pareto-frontiers:lemma-C.12", grade="exact", target="corrected", supporting=True)
@proof_steps("under-sparse-gradients.md: 2")
@pytest.mark.parametrize("m", [0, 1, 2, 5, 9])
def test_sum_over_all_sets_of_one_size_at_a_balanced_input(m: int) -> None:
    """Step 2 of the proof: e_2j of m signs +1 and m signs -1 is the coefficient of y^2j in (1 - y^2)^m."""
    y = sp.symbols("y")
    generating = sp.Poly((1 + y) ** m * (1 - y) ** m, y)
    assert generating == sp.Poly((1 - y**2) ** m, y)
    for j in range(m + 1):
        assert generating.coeff_monomial(y ** (2 * j)) == (-1) ** j * comb(m, j)


@counterexample("pareto-frontiers:lemma-C.12", grade="exact")
def test_without_the_power_of_four_a_probability_is_two(record: Record) -> None:
    """m = 1, j = 0: Half_2 has the mean P[x_1 + x_2 = 0] = 1/2, printed 2; so for every m >= 1, j = 0 (above 1)."""
    m, j = 1, 0
    mean = fmpq(int((_inputs(2 * m).sum(axis=1) == 0).sum()), 4)
    assert mean == fmpq(1, 2)
    record.hypothesis("m >= j", m, ">=", j)
    printed = fmpq((-1) ** j * comb(m, j) * comb(2 * m, m), comb(2 * m, 2 * j))
    record.violated("the coefficient is the printed one", mean, "=", printed)
    assert all(comb(2 * m, m) > 1 for m in range(1, 30))


@check("pareto-frontiers:lemma-C.12", grade="exact", target="corrected", supporting=True)
@proof_steps("under-sparse-gradients.md: 4, 5")
@pytest.mark.parametrize("n", [*range(1, 40), 100, 101])
def test_ratio_of_consecutive_coefficients(n: int) -> None:
    """For odd t it is -t/(n-t-1) at odd n, and -t/(n-t) at even n, where Maj_n(t) = (n-t)/n Maj_(n-1)(t)."""
    values = [1 if n > 2 * w else -1 for w in range(n + 1)]
    for t in range(1, n + 1, 2):
        assert 2 * threshold_coefficient(n, t) == _krawtchouk(values, t)
        if t + 2 <= n:
            ratio = threshold_coefficient(n, t + 2) / threshold_coefficient(n, t)
            assert ratio == fmpq(-t, n - t - n % 2)
        if n % 2 == 0:
            assert 2 * threshold_coefficient(n, t) == fmpq(n - t, n) * majority_coefficient(n - 1, t)


@check("pareto-frontiers:lemma-C.12", grade="symbolic", target="corrected", supporting=True)
@proof_steps("under-sparse-gradients.md: 5")
def test_ratios_follow_from_the_closed_form() -> None:
    """For all m and j: quotients of binomials, with t = 2j + 1 and n = 2m + 1, and the factor (n-t)/n for even n."""
    m, j, N, t = sp.symbols("m j N t", positive=True)
    step = -(m - j) / (j + 1)  # of (-1)^j C(m, j)
    step *= (2 * j + 1) * (2 * j + 2) / ((2 * m - 2 * j) * (2 * m - 2 * j - 1))  # of 1/C(2m, 2j)
    odd = -t / (N - t - 1)
    assert sp.cancel(step - odd.subs({N: 2 * m + 1, t: 2 * j + 1})) == 0
    even = (N - t - 2) / (N - t) * odd.subs(N, N - 1)
    assert sp.cancel(even + t / (N - t)) == 0
