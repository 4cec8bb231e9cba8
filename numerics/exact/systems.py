"""The number systems: float64, exact numbers, balls; one definition for the whole library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from numerics.exact.balls import as_balls
from numerics.exact.cyclotomic.numbers import exact_matmul
from numerics.exact.numbers import as_exact, to_float

Arithmetic = Literal["float", "exact", "ball"]


Array = NDArray[Any]


def number_system(arrays: Iterable[Array]) -> Arithmetic:
    """The widest number system among the arrays: balls, else floats, else exact numbers."""
    kinds: set[type] = set()
    for array in arrays:
        kinds |= {type(entry) for entry in array.flat} if array.dtype == object else {array.dtype.type}
    if arb in kinds:
        return "ball"
    return "float" if any(issubclass(kind, float | np.floating) for kind in kinds) else "exact"


def conversion(system: Arithmetic) -> Callable[[ArrayLike], Array]:
    """The function that converts arrays to a number system."""
    return {"float": to_float, "exact": as_exact, "ball": as_balls}[system]


def power(z: Array, exponent: int) -> Array:
    """z^exponent element by element, exponent >= 1; for balls by multiplication, since `**` loses those that hold 0.

    FLINT raises a ball to a number by logarithms if the ball contains 0 and no integer exponent is seen, which gives
    NaN.
    """
    if number_system([z]) != "ball":
        return z**exponent
    result = z
    for _ in range(exponent - 1):
        result = result * z
    return result


def product(z: Array, weights: Array) -> Array:
    """z @ weights for z of shape (..., T, d) and weights (d, e)."""
    return matrix_product(z.reshape(-1, z.shape[-1]), weights).reshape(*z.shape[:-1], weights.shape[1])


def batched_product(a: Array, b: Array) -> Array:
    """a @ b over leading axes, (..., T, S) and (..., S, e)."""
    if a.dtype != object or a.ndim == 2:
        return matrix_product(a, b)
    result = np.empty((*a.shape[:-1], b.shape[-1]), dtype=object)
    for index in np.ndindex(a.shape[:-2]):
        result[index] = matrix_product(a[index], b[index])
    return result


def matrix_product(a: Array, b: Array) -> Array:
    """a @ b for matrices: exactly for exact numbers, else as NumPy multiplies."""
    if number_system([a, b]) == "exact":
        return exact_matmul(a, b)
    with np.errstate(over="ignore", invalid="ignore"):  # a head refuses scores that are not finite
        return np.matmul(a, b)
