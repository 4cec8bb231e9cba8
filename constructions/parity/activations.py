"""Activations with which a single neuron, or a layer of them, draws the alternating values of a parity.

Each is a function of float64 arrays, of object arrays of fmpq, and of torch tensors, element by element.

Source: hidden-progress, appendix B.4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_poly

from lemmata.numerics.exact.cyclotomic.numbers import sine
from lemmata.numerics.functions.activations import relu


@dataclass(frozen=True)
class Ramp:
    """The ReLU z -> max(z, 0)."""

    def __call__(self, z: Any) -> Any:
        """The positive part max(z, 0)."""
        return _positive_part(z)


@dataclass(frozen=True)
class Power:
    """The activation z -> z^degree."""

    degree: int

    def __post_init__(self) -> None:
        _require(self.degree >= 1, f"The degree of a power must be at least 1, not {self.degree}.")

    def __call__(self, z: Any) -> Any:
        """The power z^degree."""
        return z**self.degree


@dataclass(frozen=True)
class Zigzag:
    """The piecewise linear function through (k, 1), (k-2, -1), ..., (-k, (-1)^k), its outer pieces extended.

    It has k linear pieces, with kinks at -k+2, ..., k-2.
    """

    k: int

    def __post_init__(self) -> None:
        _require(self.k >= 1, f"A zigzag for k signs needs k >= 1, not {self.k}.")

    def __call__(self, z: Any) -> Any:
        """The interpolated value."""
        m = (z + self.k) / 2
        first = (-1) ** self.k
        result = first - 2 * first * m
        for j in range(1, self.k):
            result = result - 4 * first * (-1) ** j * _positive_part(m - j)
        return result


@dataclass(frozen=True)
class OscillatingPolynomial:
    """The polynomial of degree k through (k, 1), (k-2, -1), ..., (-k, (-1)^k)."""

    k: int

    def __post_init__(self) -> None:
        _require(self.k >= 1, f"A polynomial for k signs needs k >= 1, not {self.k}.")

    @cached_property
    def coefficients(self) -> tuple[fmpq, ...]:
        """The coefficients of z^0, ..., z^k."""
        return alternating_polynomial(self.k)

    def __call__(self, z: Any) -> Any:
        """The polynomial at z."""
        exact = isinstance(z, np.ndarray) and z.dtype == object
        result: Any = 0 * z
        for coefficient in reversed(self.coefficients):
            result = result * z + (coefficient if exact else int(coefficient.p) / int(coefficient.q))
        return result


@dataclass(frozen=True)
class TriangleWave:
    """The wave of the given period that is +1 at crest + period * Z, -1 half-way between, and linear in between."""

    period: int
    crest: int

    def __post_init__(self) -> None:
        _require(self.period > 0, f"The period of a wave must be positive, not {self.period}.")

    def __call__(self, z: Any) -> Any:
        """The wave at z."""
        phase = (z - self.crest) / self.period
        return 1 - 4 * abs(phase - _floor((2 * phase + 1) / 2))


@dataclass(frozen=True)
class Sinusoid:
    """The function z -> sin(pi z / 2 + beta) with the phase beta = pi (1 - k) / 2, which is 1 at z = k.

    In exact arithmetic the values are fmpq where they are rational, as at all integers, and Cyclotomic elsewhere.
    """

    k: int

    def __call__(self, z: Any) -> Any:
        """The sine at z."""
        return _quarter_turn_sine(z + (1 - self.k))


Activation = Ramp | Power | Zigzag | OscillatingPolynomial | TriangleWave | Sinusoid


def alternating_polynomial(k: int) -> tuple[fmpq, ...]:
    """The coefficients p_0..p_k of the polynomial of degree k with p(2m - k) = (-1)^(k-m) for m = 0..k."""
    total = fmpq_poly([0])
    for m in range(k + 1):
        basis = fmpq_poly([(-1) ** (k - m)])
        for other in range(k + 1):
            if other != m:
                basis *= fmpq_poly([fmpq(k - 2 * other, 2 * (m - other)), fmpq(1, 2 * (m - other))])
        total += basis
    return tuple(total[power] for power in range(k + 1))


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _positive_part(z: Any) -> Any:
    return relu(z) if isinstance(z, np.ndarray) else z.relu()


def _floor(z: Any) -> Any:
    return np.floor(z) if isinstance(z, np.ndarray) else z.floor()


def _quarter_turn_sine(z: Any) -> Any:
    """The sine of z quarter turns, sin(pi z / 2)."""
    if not isinstance(z, np.ndarray):
        return (z * (math.pi / 2)).sin()
    if z.dtype != object:
        return np.sin(z * (np.pi / 2))
    result = np.empty(z.shape, dtype=object)
    for index, turns in np.ndenumerate(z):
        value = sine(int(turns.p), 4 * int(turns.q))
        result[index] = value.to_fmpq() if value.is_rational() else value
    return result
