"""The recipe for exact object arrays: how they are made, recognised, signed, and turned into floats.

An exact array holds integers (`int`, `flint.fmpz`), rational numbers (`flint.fmpq`, `fractions.Fraction`) or
`Cyclotomic` numbers. The constructors here produce `fmpq` and `Cyclotomic` only, because these mix with each
other; a `Fraction` does not mix with an `fmpq`.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.cyclotomic.element import EXACT, Cyclotomic
from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq


def _elements(array: ArrayLike | Sequence[Any]) -> NDArray[np.object_]:
    """The array with Python objects as elements (NumPy scalars become Python numbers).

    A list goes to objects directly: NumPy would turn the floats of [0.1, "1/2"] into strings.
    """
    return array.astype(object) if isinstance(array, np.ndarray) else np.array(array, dtype=object)


def _map(function: Callable[[object], object], array: NDArray[np.object_]) -> NDArray[np.object_]:
    """The values of a function at every element; `function` may raise ValueError, which then names the position."""
    result = np.empty(array.size, dtype=object)
    for position, element in enumerate(array.ravel().tolist()):
        try:
            result[position] = function(element)
        except ValueError as error:
            index = [int(i) for i in np.unravel_index(position, array.shape)]
            where = f"Element {index}" if index else "The number"
            raise ValueError(f"{where} is {element!r}: {error}") from None
    return result.reshape(array.shape)


def exact_number(x: object) -> fmpq | Cyclotomic:
    """The exact number x as `fmpq` or `Cyclotomic`; see `as_exact`.

    Raises:
        ValueError: if x is not exact.
    """
    if isinstance(x, Cyclotomic):
        return x
    if isinstance(x, str):
        try:
            x = Fraction(x)
        except (ValueError, ZeroDivisionError):
            raise ValueError("a string must look like '3', '-2/7' or '0.25'.") from None
    q = as_fmpq(x)
    if q is None:
        raise ValueError(
            f"a {type(x).__name__} is not exact; give int, Fraction, string, flint.fmpz, flint.fmpq or Cyclotomic."
        )
    return q


def as_exact(array: ArrayLike | Sequence[Any]) -> NDArray[np.object_]:
    """An object array of `fmpq` from integers, Fractions, strings such as "-2/7"; `Cyclotomic` elements stay.

    Floats are refused, also those that happen to be integers: 0.1 is not the number that its author meant.

    Args:
        array: any shape (nested lists work too); a 0-d array for a single number.

    Raises:
        ValueError: if an element is not exact, with its position.
    """
    elements = _elements(array)
    if EXACT.issuperset(map(type, elements.flat)):  # nothing to convert: arrays that the library made
        return elements.copy()
    return _map(exact_number, elements)


def positive_number(name: str, value: object) -> fmpq:
    """The exact number, once it is known to be positive.

    Raises:
        ValueError: if it is not; "The", the name and the value stand in the sentence.
    """
    number = as_exact([value])[0]
    if not number > 0:
        raise ValueError(f"The {name} must be positive, not {value}.")
    return number


def is_exact(array: ArrayLike | Sequence[Any]) -> bool:
    """Whether all elements are exact: integer dtype, or objects int, fmpz, fmpq, Fraction, Cyclotomic."""
    values = np.asarray(array)
    if values.dtype.kind != "O":
        return values.dtype.kind in "iu"
    return all(isinstance(x, Cyclotomic) or as_fmpq(x) is not None for x in values.ravel().tolist())


def _float_element(x: object) -> object:
    if isinstance(x, float | Cyclotomic | LogTwo):
        return float(x)
    if isinstance(x, arb):
        if not x.is_finite():
            raise ValueError("the ball is not finite, so no float is near it.")
        return _float_element(exact_midpoint(x))
    q = as_fmpq(x)
    if q is None:
        raise ValueError(f"a {type(x).__name__} is not a real number of the library.")
    return int(q.p) / int(q.q)


def exact_midpoint(ball: arb) -> fmpq:
    """The midpoint of a finite ball, which is a binary fraction; of a ball of radius zero its value."""
    mantissa, exponent = ball.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def ceiling(ball: arb) -> int:
    """An integer that is at least every point of a finite ball: its upper end, rounded up."""
    return int(exact_midpoint(ball.upper().ceil()))


def to_float(array: ArrayLike | Sequence[Any]) -> NDArray[np.float64]:
    """The array in float64, each element computed by itself. Shape unchanged.

    Error, for elements x of magnitude at least 2^-1022 (below it, add 2^-1075):
    - integers and rationals: |to_float(x) - x| <= 2^-53 |x| (correctly rounded);
    - real Cyclotomic numbers: <= (2^-53 + 2^-60) |x|, zero exactly;
    - numbers of Q[ln 2]: <= 2^-52 |x|, zero exactly;
    - balls: <= radius + 2^-53 |midpoint|;
    - float dtypes of up to 64 bits: 0.

    Raises:
        ValueError: if an element is no real number, not finite as a ball, or beyond the range of float64.
    """
    values = np.asarray(array)
    if values.dtype.kind in "biu" or (values.dtype.kind == "f" and values.dtype.itemsize <= 8):
        return values.astype(np.float64)

    def convert(x: object) -> object:
        try:
            return _float_element(x)
        except OverflowError:
            raise ValueError("its magnitude is beyond the range of float64.") from None

    return _map(convert, _elements(values)).astype(np.float64)


def sign_of(x: RationalLike | Cyclotomic | arb) -> int:
    """The exact sign of a number, -1, 0 or 1.

    Raises:
        ValueError: if x is a ball that contains 0 and is not exactly 0 (undecided), a Cyclotomic that is not real, or
            no exact number at all (a float's sign may be rounding).
    """
    if isinstance(x, Cyclotomic):
        return x.sign()
    if isinstance(x, arb):
        if x > 0:
            return 1
        if x < 0:
            return -1
        if x.is_zero():
            return 0
        raise ValueError(f"The sign of the ball {x} is undecided: compute it with more bits, or exactly.")
    q = as_fmpq(x)
    if q is None:
        raise ValueError(
            f"{x!r} of type {type(x).__name__} has no exact sign: "
            "give int, Fraction, flint.fmpz, flint.fmpq, Cyclotomic or arb."
        )
    return (q > 0) - (q < 0)
