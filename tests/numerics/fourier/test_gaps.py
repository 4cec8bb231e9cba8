"""Fourier gaps: by definition, for majority, and for sinusoids against enumeration."""

from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.gaps import fourier_gap, majority_gap, sinusoid_coefficient, sinusoid_gap

quick = settings(max_examples=40, deadline=None)


@quick
@given(st.integers(1, 6), st.data())
def test_gap_of_a_table_by_definition(n: int, data: Any) -> None:
    table = data.draw(st.lists(st.integers(-9, 9), min_size=2**n, max_size=2**n))
    S = data.draw(st.sets(st.integers(0, n - 1), min_size=1))

    def coefficient(T: set[int]) -> fmpq:
        points = sign_inputs(n).tolist()
        return fmpq(sum(f * prod(x[i] for i in T) for f, x in zip(table, points, strict=True)), 2**n)

    below = [abs(coefficient(S - {i})) for i in S]
    above = [abs(coefficient(S | {j})) for j in range(n) if j not in S]
    report = fourier_gap(table, S)
    assert (report.weakest_below, report.strongest_below) == (min(below), max(below))
    assert report.strongest_above == max(above, default=0)
    assert report.gap == min(below) - max(above, default=fmpq(0))
    assert report.relaxed_gap == max(below) - max(above, default=fmpq(0))
    # the floats are dyadic with few bits, so float64 is exact here
    assert fourier_gap(np.array(table, dtype=float), S).gap == float(int(report.gap.p)) / int(report.gap.q)
    assert fourier_gap(np.array([fmpq(f, 3) for f in table], dtype=object), S).gap == report.gap / 3


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in (1, 3, 5, 7, 9) for k in range(1, n + 1)])
def test_majority_gap_equals_that_of_its_table(n: int, k: int) -> None:
    table = np.sign(sign_inputs(n).sum(axis=1))
    for S in list(combinations(range(n), k))[::7]:
        assert fourier_gap(table, S) == majority_gap(n, k)
    if n >= k + 1 and k % 2 == 0 and n > 2 * k:
        assert majority_gap(n, k).gap > 0
        table[0] = -table[0]  # one flipped value is seen
        assert fourier_gap(table, range(k)) != majority_gap(n, k)


@quick
@given(st.integers(1, 6), st.integers(0, 2**32))
def test_sinusoids_against_enumeration(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, phase = rng.normal(size=n), float(rng.normal())
    points = sign_inputs(n)
    table = np.sin(points @ weights + phase)
    S = rng.permutation(n)[: rng.integers(1, n + 1)].tolist()
    # table: an argument of size A = sum|w| + |phase| is off by at most (n+1) 2^-53 A, the sine by 2^-52 more; the mean
    # of 2^n values adds n 2^-53 of their mean magnitude, at most 1
    tolerance = 2.0**-53 * ((n + 1) * (np.abs(weights).sum() + abs(phase)) + 2 + n)
    for T in ([], S, list(range(n))):
        direct = float(np.mean(table * points[:, T].prod(axis=1)))
        assert abs(float(sinusoid_coefficient(weights, phase, T)) - direct) <= tolerance
    enclosed, sampled = sinusoid_gap(weights, phase, S), fourier_gap(table, S)
    for name in ("weakest_below", "strongest_below", "strongest_above", "gap", "relaxed_gap"):
        assert abs(float(getattr(enclosed, name)) - getattr(sampled, name)) <= 2 * tolerance


def test_sinusoid_gap_formula_and_sign() -> None:
    """c (min |cot| - max |tan|), positive below pi/4; n = 10^4 is no trouble."""
    n, S = 10_000, (3, 500)
    weights = np.random.default_rng(1).choice([-1.0, 1.0], size=n) / np.sqrt(n)
    report = sinusoid_gap(weights, "1/3", S)
    a = abs(arb(float(abs(weights[0]))))  # all magnitudes are equal
    c = (arb(1) / 3).cos() * a.sin() ** 2 * a.cos() ** (n - 2)
    assert report.gap.overlaps(c * (a.cot() - a.tan()))
    assert report.gap > 0
    assert sinusoid_gap([1.2, 0.1, 1.3, 0.2], 0, (0, 1)).gap < 0  # |tan 1.3| > |cot 1.2|
    zero = sinusoid_gap([0.0, 0.3, 0.2], "1/2", (0, 1))  # a vanishing weight needs no division
    assert zero.weakest_below.is_zero()
    assert zero.strongest_below > 0
    assert zero.strongest_above.is_zero()
    # sin is odd and k odd: nothing is left without a phase; with all inputs in S nothing is above
    assert sinusoid_gap([0.1, 0.2, 0.3, 0.4], 0, (0, 1, 2)).strongest_below.is_zero()
    assert sinusoid_gap([0.1, 0.2], 0, (0, 1)).strongest_above.is_zero()
    assert sinusoid_coefficient([0.5], 0, []).is_zero()
    quarter = sinusoid_coefficient([arb.pi() / 2], 0, [0])
    assert quarter.contains(1)
    assert quarter.rad() < 2.0**-40
    assert not report.gap.overlaps(sinusoid_gap(weights, "1/4", S).gap)  # another phase is seen


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: majority_gap(6, 2), "odd number of inputs, not 6"),
        (lambda: majority_gap(5, 6), "1 to 5 elements, not 6"),
        (lambda: majority_gap(5, 0), "1 to 5 elements, not 0"),
        (lambda: fourier_gap([1, 2, 3], [0]), "length 2\\^n"),
        (lambda: fourier_gap([1.0, np.nan], [0]), "NaN or infinity"),
        (lambda: fourier_gap([1, 2, 3, 4], []), "non-empty set"),
        (lambda: fourier_gap([1, 2, 3, 4], [2]), "from 0 to 1"),
        (lambda: fourier_gap([1, 2, 3, 4], [1, 1]), "different indices"),
        (lambda: sinusoid_gap([[1.0]], 0, [0]), "shape \\(1, 1\\)"),
        (lambda: sinusoid_gap([1.0, float("nan")], 0, [0]), "no enclosure"),
        (lambda: sinusoid_gap([1.0], 0, []), "non-empty set"),
        (lambda: sinusoid_coefficient([1.0], 0, [1]), "from 0 to 0"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
