"""Numba kernels of `lemmata.numerics.margins.evaluation`; arguments are validated there.

The kernels of the group task are serial on purpose. They take a tenth of the time of the two-threaded matrix
product that runs between them; were they parallel, the threads of Numba and BLAS, both of which spin while
idle, would wait for each other's time slices in every block, which costs ten to fifty times what it saves.
"""

import numpy as np
import numpy.typing as npt
from numba import njit, prange

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def squares(ut: FloatArray, vt: FloatArray, start: int, out: FloatArray) -> None:
    """Fill out[r, i] = (u_i(a) + v_i(b))^2 for the points a n + b = start + r."""
    n = vt.shape[0]
    for r in range(out.shape[0]):
        a, b = divmod(start + r, n)
        for i in range(out.shape[1]):
            t = ut[a, i] + vt[b, i]
            out[r, i] = t * t


# Outputs are finite here, and the sign of zero does not matter: these two promises let min and max vectorise.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def reduce_rows(f: FloatArray, right: IntArray, low: FloatArray, high: FloatArray) -> None:
    """Fill low and high (rows,) with the smallest and largest f[right] - f[wrong] of every row of f."""
    for r in range(f.shape[0]):
        x = right[r]
        largest, smallest = -np.inf, np.inf
        for c in range(x):
            largest, smallest = max(largest, f[r, c]), min(smallest, f[r, c])
        for c in range(x + 1, f.shape[1]):
            largest, smallest = max(largest, f[r, c]), min(smallest, f[r, c])
        low[r], high[r] = f[r, x] - largest, f[r, x] - smallest


@njit(cache=True, nogil=True)
def reduce_classes(f: FloatArray, right: IntArray, wrong_class: IntArray, low: FloatArray, high: FloatArray) -> None:
    """Update the extremes per class with f[x] - f[c] at wrong_class[x, c] = class of x c^-1, x = right[r]."""
    for r in range(f.shape[0]):
        x = right[r]
        for c in range(f.shape[1]):
            k, difference = wrong_class[x, c], f[r, x] - f[r, c]
            low[k] = min(low[k], difference)
            high[k] = max(high[k], difference)


@njit(cache=True, parallel=True)
def class_margin_means(u: FloatArray, v: FloatArray, targets: FloatArray, table: IntArray) -> FloatArray:
    """Mean over (a, b) of (u(a) + v(b))^2 targets(ab) for every neuron."""
    m, n = u.shape
    result = np.empty(m)
    for i in prange(m):
        total = 0.0
        for a in range(n):
            for b in range(n):
                t = u[i, a] + v[i, b]
                total += t * t * targets[i, table[a, b]]
        result[i] = total / (n * n)
    return result


@njit(cache=True)
def parity_is_negative(index: int, mask: int) -> bool:
    """Whether the product of the coordinates in `mask` is -1 at the input `index`."""
    bits, odd = index & mask, False
    while bits:
        bits &= bits - 1
        odd = not odd
    return odd


@njit(cache=True, parallel=True)
def parity_extremes(
    low: FloatArray, high: FloatArray, weights: FloatArray, degree: int, mask: int
) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """Smallest and largest margin, with their inputs, among the 2^l inputs of every row of `high`."""
    m, width = low.shape
    rows = high.shape[0]
    smallest, largest = np.empty(rows), np.empty(rows)
    where_smallest, where_largest = np.empty(rows, np.int64), np.empty(rows, np.int64)
    for r in prange(rows):
        outputs, powers = np.zeros(width), np.empty(width)
        for i in range(m):
            shift, weight = high[r, i], weights[i]
            powers[:] = weight
            for _ in range(degree):
                for j in range(width):
                    powers[j] *= low[i, j] + shift
            outputs += powers
        for j in range(width):
            if parity_is_negative(r * width + j, mask):
                outputs[j] = -outputs[j]
        first, last = np.argmin(outputs), np.argmax(outputs)
        smallest[r], where_smallest[r] = outputs[first], r * width + first
        largest[r], where_largest[r] = outputs[last], r * width + last
    return smallest, where_smallest, largest, where_largest


@njit(cache=True, parallel=True)
def parity_margin_means(low: FloatArray, high: FloatArray, weights: FloatArray, degree: int, mask: int) -> FloatArray:
    """Mean over all inputs of y weight (hidden . x)^degree for every neuron."""
    m, width = low.shape
    rows = high.shape[0]
    result = np.empty(m)
    for i in prange(m):
        total = 0.0
        for r in range(rows):
            part = 0.0  # row by row, so that the rounding error grows with rows + width only
            for j in range(width):
                power, base = 1.0, low[i, j] + high[r, i]
                for _ in range(degree):
                    power *= base
                part += -power if parity_is_negative(r * width + j, mask) else power
            total += part
        result[i] = weights[i] * (total / (rows * width))
    return result
