"""Walsh-Hadamard transforms: Fourier analysis on {-1, 1}^n.

Convention: a function on {-1, 1}^n is a vector of length N = 2^n; bit i of the index x is set exactly if x_i = -1.
A set T of coordinates is the index with the bits of T. Then
chi_T(x) = prod_{i in T} x_i = (-1)^{number of common bits of T and x}, and

    transform[T] = sum_x f(x) chi_T(x),    f(x) = 2^{-n} sum_T transform[T] chi_T(x).

In matrix form this is scipy.linalg.hadamard(2^n) @ f. The Fourier coefficient E[f chi_T] is transform[T]/2^n.

A vector longer than the cache passes through it as seldom as possible: 12 levels of butterflies at once in blocks of
2^12 numbers (32 KiB), then 4 levels at a time on tiles of 16 rows, 1 + ceil((n - 12)/4) passes in all. Two levels are
done in one sweep, so that a number is loaded half as often. Every number takes part in the same additions, level by
level, as in the plain loop, so that the results agree to the last bit.
"""

from typing import Any

import numba
import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.runs.memory import require_memory

_BLOCK = 2**12  # numbers of a block that stays in the first cache
_ROWS = 16  # rows of a tile: 4 levels for each later pass through memory
_WIDTH = 2048  # numbers in a row of a tile


@numba.njit(cache=True)
def _four_numbers(x: np.ndarray, i: int, half: int) -> None:
    """The levels half and 2 half on the numbers at i, i + half, i + 2 half, i + 3 half."""
    a, b, c, d = x[i], x[i + half], x[i + 2 * half], x[i + 3 * half]
    p, q, r, s = a + b, a - b, c + d, c - d
    x[i] = p + r
    x[i + half] = q + s
    x[i + 2 * half] = p - r
    x[i + 3 * half] = q - s


@numba.njit(cache=True)
def _two_levels(x: np.ndarray, start: int, half: int, width: int) -> None:
    """The levels half and 2 half on the four rows of this width at start, start + half, start + 2 half, ..."""
    for i in range(start, start + width):
        _four_numbers(x, i, half)


@numba.njit(cache=True)
def _one_level(x: np.ndarray, start: int, half: int, width: int) -> None:
    for i in range(start, start + width):
        a, b = x[i], x[i + half]
        x[i] = a + b
        x[i + half] = a - b


@numba.njit(cache=True)
def _tile(x: np.ndarray, start: int, half: int, rows: int, width: int) -> None:
    """The levels half, 2 half, ..., half rows/2 on the rows of this width at start + r half, r < rows."""
    step = 1
    while 4 * step <= rows:
        for first in range(0, rows, 4 * step):
            for r in range(first, first + step):
                _two_levels(x, start + r * half, step * half, width)
        step *= 4
    if 2 * step <= rows:
        for first in range(0, rows, 2 * step):
            for r in range(first, first + step):
                _one_level(x, start + r * half, step * half, width)


@numba.njit(cache=True)
def _first_four_levels(x: np.ndarray, start: int, stop: int) -> None:
    """Levels 1 to 8 of blocks of 16 numbers: constant steps, which the compiler unrolls."""
    for block in range(start, stop, 16):
        for i in range(block, block + 16, 4):
            _four_numbers(x, i, 1)
        for i in range(block, block + 4):
            _four_numbers(x, i, 4)


@numba.njit(cache=True)
def _butterflies(x: np.ndarray) -> None:
    size = x.shape[0]
    block = min(size, _BLOCK)
    one, sixteen = int(np.int64(1)), int(np.int64(16))  # literals would compile the tiles for each of them as well
    for start in range(0, size, block):
        if block < 16:
            _tile(x, start, one, block, one)
            continue
        _first_four_levels(x, start, start + block)
        half = sixteen
        while half < block:
            rows = min(4, block // half)
            for i in range(start, start + block, rows * half):
                _tile(x, i, half, rows, half)
            half *= rows
    half = block
    while half < size:
        rows, width = min(_ROWS, size // half), min(_WIDTH, half)
        for start in range(0, size, rows * half):
            for column in range(start, start + half, width):
                _tile(x, column, half, rows, width)
        half *= rows


@numba.njit(cache=True)
def _halves_of_absolute_sum(x: np.ndarray) -> tuple[Any, Any]:
    """The pair (h, l) with sum |x_i| = 2^32 h + l, for int64 x: |-2^63| and the sum both exceed int64."""
    high = low = np.uint64(0)
    for value in x:
        magnitude = np.uint64(value) if value >= 0 else np.uint64(0) - np.uint64(value)
        high += magnitude >> np.uint64(32)
        low += magnitude & np.uint64(0xFFFFFFFF)
    return high, low


def _check_length(x: NDArray[Any]) -> None:
    size = x.shape[0] if x.ndim == 1 else 0
    if size == 0 or size & (size - 1):
        raise ValueError(f"The shape {x.shape} is no function on {{-1, 1}}^n: give a vector of length 2^n, n >= 0.")


def _absolute_sum(x: NDArray[np.int64]) -> int:
    """The sum of the |x_i|, exactly, for fewer than 2^32 numbers."""
    high, low = _halves_of_absolute_sum(x)
    return (int(high) << 32) + int(low)


def walsh_hadamard_inplace(x: NDArray[Any]) -> None:
    """Overwrite x, of shape (2^n,), by its transform in N log2 N additions.

    Every intermediate value is a signed sum of distinct entries, hence at most sum |x_i| in absolute value.

    Raises:
        ValueError: if x is not a writeable contiguous vector of float64 or int64 of length 2^n, or, for int64, if
            sum |x_i| exceeds 2^63 - 1, so that an entry of the transform could overflow.
    """
    if not isinstance(x, np.ndarray) or x.dtype not in (np.float64, np.int64):
        kind = x.dtype if isinstance(x, np.ndarray) else type(x).__name__
        raise ValueError(f"The transform in place works on arrays of float64 or int64, not on {kind}.")
    _check_length(x)
    if not (x.flags.c_contiguous and x.flags.writeable):
        raise ValueError(
            "The array is read-only or not contiguous: the transform in place needs a writeable, contiguous one."
        )
    if x.dtype == np.int64 and (total := _absolute_sum(x)) > np.iinfo(np.int64).max:
        raise ValueError(
            f"The absolute values sum to {total} > 2^63 - 1, so the transform could overflow int64: "
            "use float64, or an object array for exact integers of any size."
        )
    _butterflies(x)


def walsh_hadamard(x: ArrayLike) -> NDArray[Any]:
    """The transform of a vector of length 2^n, as a new array.

    Args:
        x: (2^n,) floats (returned as float64), integers or booleans (returned as int64, exact), or an object array of
            exact numbers or balls (returned likewise; slow, so for small n).

    Raises:
        ValueError: if the length is no power of two, the dtype is none of these, int64 could overflow, or the result
            does not fit in the memory of the machine (saying how much it needs).
    """
    values = np.asarray(x)
    _check_length(values)
    require_memory(8 * values.size, f"The transform of {values.size} numbers")
    if values.dtype == object:
        return _object_transform(values)
    if values.dtype.kind not in "biuf" or (values.dtype.kind == "f" and values.dtype.itemsize > 8):
        raise ValueError(f"The dtype {values.dtype} is not supported: give real floats, integers, or exact objects.")
    if values.dtype == np.uint64 and np.any(values > np.uint64(np.iinfo(np.int64).max)):
        raise ValueError("An entry exceeds 2^63 - 1: use an object array for exact integers of any size.")
    result = np.array(values, dtype=np.float64 if values.dtype.kind == "f" else np.int64, order="C")
    walsh_hadamard_inplace(result)
    return result


def inverse_walsh_hadamard(x: ArrayLike) -> NDArray[Any]:
    """The inverse transform, f(x) = 2^{-n} sum_T x[T] chi_T(x), as a new array; dtypes as in `walsh_hadamard`.

    For integers the result is exact, as int64.

    Raises:
        ValueError: as `walsh_hadamard`; or if x has an integer dtype and is not the transform of an integer vector.
    """
    values = walsh_hadamard(x)
    n = values.shape[0]
    require_memory(8 * n, f"The inverse transform of {n} numbers")
    if values.dtype == object:
        return values * (arb(1) / n if _has_balls(values) else fmpq(1, n))  # 1/n is a power of two: no rounding
    if values.dtype == np.int64:
        remainders = np.flatnonzero(values % n)
        if len(remainders):
            raise ValueError(
                f"Entry {remainders[0]} of the inverse is {values[remainders[0]]}/{n}, not an integer: "
                "give floats, or an object array for exact fractions."
            )
        return values // n
    return values / n


def _has_balls(values: NDArray[np.object_]) -> bool:
    return any(isinstance(v, arb) for v in values)


def _object_transform(values: NDArray[np.object_]) -> NDArray[np.object_]:
    result = as_balls(values) if _has_balls(values) else as_exact(values)
    half = 1
    while half < result.shape[0]:
        pairs = result.reshape(-1, 2, half)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return result
