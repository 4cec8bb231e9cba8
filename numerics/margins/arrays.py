"""The loops of `lemmata.numerics.margins.loops` for groups, in whole arrays: for networks too small to compile.

Each function takes the arguments of its namesake there, performs the same operations on every entry, and gives the same
numbers to the last bit.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["reduce_classes", "reduce_rows", "squares"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def squares(ut: FloatArray, vt: FloatArray, start: int, out: FloatArray) -> None:
    """Fill out[r, i] = (u_i(a) + v_i(b))^2 for the points a n + b = start + r."""
    a, b = np.divmod(np.arange(start, start + len(out)), len(vt))
    np.square(ut[a] + vt[b], out=out)


def reduce_rows(f: FloatArray, right: IntArray, low: FloatArray, high: FloatArray) -> None:
    """Fill low and high (rows,) with the smallest and largest f[right] - f[wrong] of every row of f."""
    rows = np.arange(len(f))
    wrong, outputs = f.copy(), f[rows, right]
    wrong[rows, right] = -np.inf
    low[: len(f)] = outputs - wrong.max(axis=1)
    wrong[rows, right] = np.inf
    high[: len(f)] = outputs - wrong.min(axis=1)


def reduce_classes(f: FloatArray, right: IntArray, wrong_class: IntArray, low: FloatArray, high: FloatArray) -> None:
    """Update the extremes per class with f[x] - f[c] at wrong_class[x, c] = class of x c^-1, x = right[r]."""
    differences = f[np.arange(len(f)), right][:, None] - f
    np.minimum.at(low, wrong_class[right], differences)
    np.maximum.at(high, wrong_class[right], differences)
