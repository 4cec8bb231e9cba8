"""The number systems: float64, exact numbers, balls; one definition for the whole library.

Floating dtypes and Python floats are floats, `flint.arb` is a ball, and integers (of any dtype or type), rational and
`Cyclotomic` numbers are exact. Integers fit every system. What else is mixed, a layer computes in the widest system
(`number_system`), and a network that holds its weights in one system refuses (`common_system`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from flint import arb, fmpq, fmpz
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.cyclotomic.element import Cyclotomic
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.numbers import as_exact, to_float

Arithmetic = Literal["float", "exact", "ball"]
Array = NDArray[Any]


_INTEGERS = (int, np.bool_, np.integer, fmpz)
_FLOATS = (float, np.floating)
_ACCEPTED = "floats, or exact numbers (int, Fraction, fmpz, fmpq, Cyclotomic), or arb balls"


def number_system(arrays: Iterable[Array]) -> Arithmetic:
    """The widest number system among the arrays: balls, else floats, else exact numbers."""
    kinds: set[type] = set()
    for array in arrays:
        kinds |= _types(array)
    if arb in kinds:
        return "ball"
    return "float" if any(issubclass(kind, _FLOATS) for kind in kinds) else "exact"


def common_system(named: Mapping[str, Array]) -> Arithmetic:
    """The one number system of all arrays; integers fit every one, and are exact where all are integers.

    Raises:
        ValueError: naming the arrays, for numbers of no system, floats beside exact numbers or balls, and Cyclotomic
            numbers beside balls.
    """
    types = {name: _types(array) for name, array in named.items()}
    for name, kinds in types.items():
        foreign = [
            kind for kind in kinds if not issubclass(kind, (*_INTEGERS, *_FLOATS, Fraction, fmpq, Cyclotomic, arb))
        ]
        if foreign:
            listed = ", ".join(sorted(kind.__name__ for kind in foreign))
            raise ValueError(f"{name} must hold real numbers, not {listed}; accepted are {_ACCEPTED}.")

    def holding(*wanted: type) -> list[str]:
        return [name for name, kinds in types.items() if any(issubclass(kind, wanted) for kind in kinds)]

    floats, cyclotomic, balls = holding(*_FLOATS), holding(Cyclotomic), holding(arb)
    others = [name for name in types if name in {*holding(Fraction, fmpq), *cyclotomic, *balls}]
    if floats and others:
        raise ValueError(
            f"{', '.join(floats)} in floating point cannot be combined with the exact numbers or balls of "
            f"{', '.join(others)}: convert the one or the other."
        )
    if balls and cyclotomic:
        raise ValueError(
            f"{', '.join(cyclotomic)} with Cyclotomic numbers cannot be combined with the balls of {', '.join(balls)}: "
            "convert the former by as_balls."
        )
    return "ball" if balls else "float" if floats else "exact"


def in_one_system(named: Mapping[str, ArrayLike]) -> tuple[dict[str, Array], Arithmetic]:
    """Copies of the arrays in their `common_system`, read-only, and that system.

    Raises:
        ValueError: naming the array and the places, as `common_system`, for numbers that are not finite, and for
            Cyclotomic numbers that are not real.
    """
    arrays = {name: np.asarray(part) for name, part in named.items()}
    system = common_system(arrays)
    result = {name: conversion(system)(part) for name, part in arrays.items()}
    for name, part in result.items():
        require_finite(name, part)
        nonreal = _places(part, lambda x: isinstance(x, Cyclotomic) and not x.is_real())
        if nonreal:
            raise ValueError(f"Numbers must be real, but {name} is not at {listing(nonreal)}.")
        part.flags.writeable = False
    return result, system


def require_finite(name: str, array: Array) -> None:
    """ValueError that names the array and where it has NaN or infinity, if it has."""
    if array.dtype != object:
        bad: list[Any] = [tuple(index) for index in np.argwhere(~np.isfinite(array)).tolist()]
    else:
        bad = _places(array, lambda x: isinstance(x, arb) and not x.is_finite())
    if bad and not array.ndim:
        raise ValueError(f"All numbers must be finite, but {name} is {array}.")
    if bad:
        raise ValueError(f"All numbers must be finite, but {name} has NaN or infinity at {listing(bad)}.")


def _places(array: Array, predicate: Callable[[Any], bool]) -> list[tuple[int, ...]]:
    """The indices of the objects for which the predicate holds; none in an array of another dtype than object."""
    if array.dtype != object:
        return []
    found = [position for position, x in enumerate(array.ravel().tolist()) if predicate(x)]
    return [tuple(int(i) for i in np.unravel_index(position, array.shape)) for position in found]


def exact_values(name: str, numbers: ArrayLike | Sequence[Any]) -> Array:
    """The numbers exactly, floats by their binary values: for bounds on what a machine holds, not on what was meant.

    Raises:
        ValueError: naming the array, for floats that are not finite; as `as_exact` for balls and other types.
    """
    array = np.asarray(numbers)
    if array.dtype.kind != "f":
        return as_exact(numbers)
    require_finite(name, array)
    result = np.empty(array.shape, dtype=object)
    for index, x in np.ndenumerate(array):
        result[index] = fmpq(*float(x).as_integer_ratio())
    return result


def listing(items: Sequence[Any]) -> str:
    """Up to five items, and how many more there are."""
    more = f" and {len(items) - 5} more" if len(items) > 5 else ""
    return ", ".join(str(item) for item in items[:5]) + more


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
    if z.ndim == 2:
        return matrix_product(z, weights)
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
    """a @ b for matrices: exactly for exact numbers, else as NumPy multiplies.

    Raises:
        ValueError: for floats that meet exact numbers, and other pairs of numbers without a product.
    """
    if a.dtype == np.float64 == b.dtype:  # the usual case: no look at the entries
        return a.dot(b) if a.ndim == b.ndim == 2 else np.matmul(a, b)
    try:
        return exact_matmul(a, b) if number_system([a, b]) == "exact" else np.matmul(a, b)
    except TypeError:
        raise mixed_numbers(a, b) from None


def mixed_numbers(*arrays: Array) -> ValueError:
    """The sentence for arrays whose numbers have no product, as floats and exact ones."""
    kinds = " and ".join(sorted({kind.__name__ for array in arrays for kind in _types(array)}))
    return ValueError(
        f"Numbers of different systems meet ({kinds}), as where floats are given to an exact network: convert the "
        "inputs by as_exact, or the network to floats."
    )


def _types(array: Array) -> set[type]:
    return {type(entry) for entry in array.flat} if array.dtype == object else {array.dtype.type}
