"""Activations of parity networks: values off the integers, the alternating polynomial, and what has no meaning."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.parity.activations import (
    Activation,
    OscillatingPolynomial,
    Power,
    Sinusoid,
    TriangleWave,
    Zigzag,
    alternating_polynomial,
)
from lemmata.numerics.exact.numbers import to_float

EPS = float(np.finfo(np.float64).eps)


def activations(k: int) -> list[Activation]:
    return [Zigzag(k), OscillatingPolynomial(k), TriangleWave(4, k), Sinusoid(k)]


@given(st.integers(1, 9), st.fractions(-12, 12, max_denominator=24))
def test_activations_off_the_integers(k: int, z: Fraction) -> None:
    """Zigzag and wave are the linear interpolants of their neighbouring points; the sine is that of the float."""
    exact = np.array([fmpq(z.numerator, z.denominator)], dtype=object)
    below = 2 * ((z - k) // 2) + k
    inner = min(max(below, -k), k - 2)
    at_inner = (-1) ** (((k - inner) // 2) % 2)
    assert Zigzag(k)(exact)[0] == _as_fmpq(at_inner * (1 - (z - inner)))
    at_below = (-1) ** (((k - below) // 2) % 2)
    assert TriangleWave(4, k)(exact)[0] == _as_fmpq(at_below * (1 - (z - below)))
    sine = float(Sinusoid(k)(exact)[0])
    assert abs(sine - np.sin(np.pi / 2 * (float(z) + 1 - k))) <= EPS * (2 + np.pi * (12 + k))
    assert abs(Sinusoid(k)(np.array([float(z)]))[0] - sine) <= EPS * (2 + np.pi * (12 + k))
    for activation in activations(k)[:3:2]:
        assert activation(np.array([float(z)]))[0] == pytest.approx(
            float(to_float(activation(exact))[0]), abs=400 * EPS
        )


def _as_fmpq(z: Fraction | int) -> fmpq:
    return fmpq(Fraction(z).numerator, Fraction(z).denominator)


def test_the_alternating_polynomial_is_the_lagrange_interpolant() -> None:
    for k in range(1, 13):
        p = alternating_polynomial(k)
        for m in range(k + 1):
            assert sum(c * (2 * m - k) ** power for power, c in enumerate(p)) == (-1) ** (k - m)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Power(0), "degree of a power"),
        (lambda: Zigzag(0), "zigzag for k signs"),
        (lambda: OscillatingPolynomial(-1), "polynomial for k signs"),
        (lambda: TriangleWave(0, 1), "period of a wave"),
    ],
)
def test_activations_without_meaning_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()
