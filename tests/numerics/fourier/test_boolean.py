"""Exact spectra against brute force over {-1, 1}^n, the Walsh-Hadamard transform, and Krawtchouk sums; refusals."""

from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.fourier.boolean import (
    half_coefficient,
    half_spectrum,
    majority_coefficient,
    majority_limit,
    majority_spectrum,
    majority_weight,
    majority_weight_limit,
    symmetric_spectrum,
    threshold_coefficient,
)
from lemmata.numerics.fourier.walsh import walsh_hadamard

quick = settings(max_examples=40, deadline=None)


def inputs(n: int) -> np.ndarray:
    """All of {-1, 1}^n, in the order of the index bits: shape (2^n, n)."""
    return 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


def sign(x: int) -> int:
    return (x > 0) - (x < 0)


@pytest.mark.parametrize("n", [1, 3, 5, 7, 9])
def test_majority_by_brute_force(n: int) -> None:
    """Direct sums over the inputs, at every degree and at two different sets of that degree."""
    for k in range(n + 1):
        for members in {tuple(range(k)), tuple(range(n - k, n))}:
            total = sum(sign(sum(x)) * prod(x[i] for i in members) for x in product((1, -1), repeat=n))
            assert majority_coefficient(n, k) == fmpq(total, 2**n)


def test_closed_forms_equal_walsh_hadamard_transforms_at_every_set() -> None:
    for n in range(14):
        sums = inputs(n).sum(axis=1)
        sizes = [T.bit_count() for T in range(2**n)]
        table, closed = (np.sign(sums), majority_spectrum(n)) if n % 2 else (sums == 0, half_spectrum(n))
        assert [fmpq(int(t), 2**n) for t in walsh_hadamard(table)] == [closed[size] for size in sizes]


@pytest.mark.parametrize("n", [1, 2, 3, 30, 61, 200, 201])
def test_spectra_equal_single_coefficients_and_krawtchouk_sums(n: int) -> None:
    if n % 2:
        spectrum, coefficient = majority_spectrum(n), majority_coefficient
        table = [sign(n - 2 * m) for m in range(n + 1)]
    else:
        spectrum, coefficient = half_spectrum(n), half_coefficient
        table = [int(2 * m == n) for m in range(n + 1)]
    assert spectrum == [coefficient(n, k) for k in range(n + 1)] == symmetric_spectrum(table)


def test_thousands_of_inputs_satisfy_parseval() -> None:
    n = 2001
    spectrum = majority_spectrum(n)
    weights = [comb(n, k) * x * x for k, x in enumerate(spectrum)]
    assert sum(weights, fmpq(0)) == 1
    assert weights[3] == majority_weight(n, 3) > weights[5] > 0 == weights[4]
    half = half_spectrum(n - 1)  # E Half^2 = E Half
    assert sum((comb(n - 1, k) * x * x for k, x in enumerate(half)), fmpq(0)) == half[0]


@quick
@given(st.lists(st.fractions(max_denominator=50), min_size=1, max_size=8))
def test_symmetric_spectrum_equals_the_transform_of_the_table(values: list) -> None:
    n = len(values) - 1
    table = np.array([values[x.bit_count()] for x in range(2**n)], dtype=object)
    transform = walsh_hadamard(table)
    spectrum = symmetric_spectrum(values)
    assert [t / 2**n for t in transform] == [spectrum[T.bit_count()] for T in range(2**n)]
    assert symmetric_spectrum(values, [n, 0]) == [spectrum[n], spectrum[0]]


@pytest.mark.parametrize("n", [*range(14), 50, 101])
def test_thresholds_equal_krawtchouk_sums(n: int) -> None:
    """n even or odd, with sign(0) = -1; coefficients of degree 0 to n."""
    spectrum = symmetric_spectrum([int(n > 2 * m) for m in range(n + 1)])
    assert [threshold_coefficient(n, t) for t in range(n + 1)] == spectrum
    if n % 2:
        assert [2 * x for x in spectrum[1:]] == majority_spectrum(n)[1:]


def test_limits_of_majority_coefficients() -> None:
    """Approached from above, within t^2/n of the value; the weight limits by an independent expression, t = 1 to 13."""
    for t in range(1, 14, 2):
        weights = [majority_weight(n, t) for n in (t, t + 2, 201, 2001)]
        assert weights == sorted(weights, reverse=True)
        assert majority_weight_limit(t) < weights[-1] < majority_weight_limit(t) * (1 + fmpq(t * t, 2001))
        squares = [n**t * majority_coefficient(n, t) ** 2 for n in (t, 201, 2001)]
        square = majority_limit(t) ** 2
        assert all(square < x for x in squares)
        assert squares[-1] < square * (1 + fmpq(2 * t * t, 2001))
        assert (square / prod(range(1, t + 1))).overlaps(majority_weight_limit(t))
    assert majority_limit(1).overlaps((2 / arb.pi()).sqrt())
    assert majority_weight_limit(3).overlaps(1 / (3 * arb.pi()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: threshold_coefficient(-1, 0), "n >= 0 inputs, not -1"),
        (lambda: threshold_coefficient(4, 5), "not of degree 5"),
        (lambda: majority_limit(2), "no coefficient of degree 2"),
        (lambda: majority_weight_limit(-1), "no coefficient of degree -1"),
        (lambda: majority_coefficient(4, 1), "odd number of inputs, not 4"),
        (lambda: majority_spectrum(0), "odd number of inputs, not 0"),
        (lambda: majority_weight(5, 6), "degree 0 to 5, not of degree 6"),
        (lambda: half_coefficient(3, 1), "an even n >= 0, not 3"),
        (lambda: half_spectrum(-2), "an even n >= 0, not -2"),
        (lambda: half_coefficient(4, -1), "not of degree -1"),
        (lambda: symmetric_spectrum([]), "at least one"),
        (lambda: symmetric_spectrum([1, 0.5]), "float is not exact"),
        (lambda: symmetric_spectrum([1, 2], [2]), "not of degree 2"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
