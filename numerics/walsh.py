"""Walsh-Hadamard transforms: Fourier analysis on {-1, 1}^n.

Convention: a function on {-1, 1}^n is a vector of length N = 2^n; bit i of the index x is set exactly if x_i = -1.
A set T of coordinates is the index with the bits of T. Then
chi_T(x) = prod_{i in T} x_i = (-1)^{number of common bits of T and x}, and

    transform[T] = sum_x f(x) chi_T(x),    f(x) = 2^{-n} sum_T transform[T] chi_T(x).

In matrix form this is scipy.linalg.hadamard(2^n) @ f. The Fourier coefficient E[f chi_T] is transform[T]/2^n.
"""

from typing import Any

import numba
import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from numerics.balls import as_balls
from numerics.exact import as_exact


@numba.njit(cache=True)
def _butterflies(x: np.ndarray) -> None:
    half = 1
    while half < x.shape[0]:
        for start in range(0, x.shape[0], 2 * half):
            for i in range(start, start + half):
                a, b = x[i], x[i + half]
                x[i] = a + b
                x[i + half] = a - b
        half *= 2


def _check_length(x: NDArray[Any]) -> None:
    size = x.shape[0] if x.ndim == 1 else 0
    if size == 0 or size & (size - 1):
        raise ValueError(f"The shape {x.shape} is no function on {{-1, 1}}^n: give a vector of length 2^n, n >= 0.")


def _absolute_sum(x: NDArray[np.int64]) -> int:
    """sum |x_i|, exactly: |-2^63| and the sum both exceed int64, so it adds unsigned halves (N < 2^32)."""
    bits = x.view(np.uint64)
    magnitudes = np.where(x < 0, np.uint64(0) - bits, bits)
    low = np.sum(magnitudes & np.uint64(0xFFFFFFFF), dtype=np.uint64)
    return (int(np.sum(magnitudes >> np.uint64(32), dtype=np.uint64)) << 32) + int(low)


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
        ValueError: if the length is no power of two, the dtype is none of these, or int64 could overflow.
    """
    values = np.asarray(x)
    _check_length(values)
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
