"""Interval arithmetic in float64 for Numba kernels: every result contains all values that the operands allow.

IEEE 754 rounds each sum, product and quotient correctly: a result x differs from the true value by at most 2^-53 |x|
(1 + 2^-52), or by 2^-1075 near zero. `down` and `up` move it by 2^-51 |x| + 2^-1000 outwards, which leaves room for the
rounding of that operation too. Numba contracts nothing unless it is told to.

`EXP_TABLE` and `exp_low`, `exp_high` enclose the exponential without the system's library, so that bounds come out
alike everywhere. With n the integer next to 64 x, r = x - n/64 is exact (64 x is; both terms are multiples of the last
digit of 64 x, and the difference is at most 1/2 + 2^-40), and exp(x) = exp(n/64) exp(r). The table holds exp(n/64) to
2^-53; the Taylor polynomial of degree 6 errs by |r|^7/7! (1.01) < 2^-61 relatively, its evaluation by 2^-53 for the
last sum and below 2^-56 for what is inside, and the product by 2^-53: less than 4 x 2^-53 in all, and the bounds give
8 x 2^-53.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from flint import arb, fmpq
from numba import njit
from numpy.typing import NDArray

from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array

__all__ = [
    "EXP_RANGE",
    "EXP_TABLE",
    "add",
    "as_intervals",
    "down",
    "exp_high",
    "exp_low",
    "interval_dot",
    "interval_sum",
    "lower_end",
    "multiply",
    "up",
    "upper_end",
]

_OUTWARDS = 2.0**-51
_TINY = 2.0**-1000
_GRID = 64
EXP_RANGE = 60
"""The largest modulus of an argument of the exponential; beyond it the bounds are 0 and infinity."""


def _exponentials() -> NDArray[np.float64]:
    with precision(128):
        places = range(-EXP_RANGE * _GRID, EXP_RANGE * _GRID + 1)
        return np.array([float(to_float([arb(fmpq(n, _GRID)).exp()])[0]) for n in places])


EXP_TABLE = _exponentials()


def as_intervals(balls: Array) -> NDArray[np.float64]:
    """Balls as intervals of float64, shape (..., 2), lower ends first.

    Raises:
        ValueError: if a ball is not finite.
    """
    result = np.empty((*balls.shape, 2))
    for index in np.ndindex(balls.shape):
        ball: Any = balls[index]
        if not ball.is_finite():
            raise ValueError(f"The ball {ball} is not finite, so no interval of float64 contains it.")
        middle = float(ball.mid())
        radius = float(ball.rad()) * (1 + 2.0**-40)
        result[index] = down(down(middle) - radius), up(up(middle) + radius)
    return result


@njit(cache=True)
def down(x: float) -> float:
    """A number below the true value of which x is the rounded one."""
    return x - (np.abs(x) * _OUTWARDS + _TINY)


@njit(cache=True)
def up(x: float) -> float:
    """A number above the true value of which x is the rounded one."""
    return x + (np.abs(x) * _OUTWARDS + _TINY)


@njit(cache=True)
def add(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """The sum of two intervals."""
    return down(a[0] + b[0]), up(a[1] + b[1])


@njit(cache=True)
def multiply(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """The product of two intervals."""
    p, q, r, s = a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]
    return down(min(p, q, r, s)), up(max(p, q, r, s))


# The same for arrays, which would be compiled for every shape.
lower_end: Any = down.py_func
upper_end: Any = up.py_func


def interval_sum(a: Any, b: Any) -> Any:
    """The sums of intervals, arrays of shapes (..., 2)."""
    total = a + b
    return np.stack([lower_end(total[..., 0]), upper_end(total[..., 1])], axis=-1)


def interval_dot(a: Any, b: Any) -> Any:
    """sum_g a_g b_g of intervals, shape (..., 2) for shapes (..., G, 2)."""
    ends = [a[..., i] * b[..., j] for i in (0, 1) for j in (0, 1)]
    low, high = lower_end(np.minimum.reduce(ends)), upper_end(np.maximum.reduce(ends))
    total = np.zeros((*low.shape[:-1], 2))
    for g in range(low.shape[-1]):
        total = interval_sum(total, np.stack([low[..., g], high[..., g]], axis=-1))
    return total


@njit(cache=True)
def _exp(x: float, table: NDArray[np.float64]) -> float:
    n = floor(64.0 * x + 0.5)
    r = x - n / 64.0
    # exp(r) = 1 + r (1 + r/2 (1 + r/3 (1 + r/4 (1 + r/5 (1 + r/6)))))
    inner = 1.0 + r * (1.0 / 3.0) * (1.0 + r * 0.25 * (1.0 + r * 0.2 * (1.0 + r * (1.0 / 6.0))))
    return table[int(n) + (len(table) - 1) // 2] * (1.0 + r * (1.0 + r * 0.5 * inner))


@njit(cache=True)
def exp_low(x: float, table: NDArray[np.float64]) -> float:
    """A lower bound of exp(x)."""
    if not x >= -60.0:
        return 0.0
    return _exp(min(x, 60.0), table) * (1.0 - 2.0**-50)


@njit(cache=True)
def exp_high(x: float, table: NDArray[np.float64]) -> float:
    """An upper bound of exp(x)."""
    if not x <= 60.0:
        return np.inf
    return _exp(max(x, -60.0), table) * (1.0 + 2.0**-50)
