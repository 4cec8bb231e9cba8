"""Finite Fourier transforms on Z_n and on products of cyclic groups, in floats and exactly.

Convention, as in numpy.fft: hat f(j) = sum_k f(k) e^{-2 pi i j k/n}, without a factor, and
f(k) = (1/n) sum_j hat f(j) e^{+2 pi i j k/n}. On Z_{n1} x ... x Z_{nr}, the exponent has the sum of j_s k_s/n_s over
the axes in place of j k/n.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, root_of_unity
from lemmata.numerics.exact.numbers import as_exact


def _nonempty(f: ArrayLike) -> NDArray[np.generic]:
    values = np.asarray(f)
    if values.dtype.kind not in "biufc":
        raise ValueError(f"The dtype {values.dtype} is not numeric: use exact_dft for exact numbers.")
    if values.ndim == 0 or values.size == 0:
        raise ValueError(f"The shape {values.shape} is no function on Z_n: give an array with at least one element.")
    return values


def dft(f: ArrayLike) -> NDArray[np.complex128]:
    """The Fourier transform along the last axis, (..., n) -> (..., n); leading axes are a batch.

    Raises:
        ValueError: if the array is empty or not numeric.
    """
    return np.fft.fft(_nonempty(f))


def exact_dft(f: ArrayLike) -> NDArray[np.object_]:
    """The exact Fourier transform over all axes, by definition (quadratic time): (n1, ..., nr) -> the same shape.

    Args:
        f: exact numbers (see `lemmata.numerics.exact.numbers.as_exact`); r = 1 is the transform on Z_n.

    Returns:
        Object array of Cyclotomic.

    Raises:
        ValueError: if an element is not exact, or the array is empty.
    """
    values = as_exact(f)
    if values.ndim == 0 or values.size == 0:
        raise ValueError(f"The shape {values.shape} is no function on Z_n: give an array with at least one element.")
    for axis, n in enumerate(values.shape):
        roots = np.array([root_of_unity(-e, n) for e in range(n)], dtype=object)
        matrix = roots[np.outer(np.arange(n), np.arange(n)) % n]
        front = np.moveaxis(values, axis, 0)
        values = np.moveaxis(exact_matmul(matrix, front.reshape(n, -1)).reshape(front.shape), 0, axis)
    return values


def folded_power(u: ArrayLike) -> NDArray[np.float64]:
    """The share of each frequency in the energy of a real vector, with the frequencies j and n - j folded together.

    Entry j is (|hat u(j)|^2 + |hat u(n-j)|^2)/(n ||u||^2) for 0 < j < n/2, and |hat u(j)|^2/(n ||u||^2) for j = 0 and,
    if n is even, j = n/2. The entries sum to 1 (Parseval), and cos(2 pi j k/n + phase) has the value 1 at j.

    Args:
        u: (..., n) real; leading axes are a batch.

    Returns:
        (..., n//2 + 1), entries in [0, 1].

    Raises:
        ValueError: if u is empty, complex, not finite, or a vector of the batch is zero (its shares are undefined).
    """
    vectors = _nonempty(u)
    if vectors.dtype.kind == "c":
        raise ValueError("The vector is complex: frequencies j and -j fold together for real vectors only.")
    vectors = vectors.astype(np.float64)
    peaks = np.max(np.abs(vectors), axis=-1, keepdims=True)
    bad = np.argwhere(~(np.isfinite(peaks) & (peaks > 0))[..., 0])
    if len(bad):
        raise ValueError(
            f"Vector {bad[0].tolist()} is zero or not finite, so the shares of its frequencies are undefined: "
            "give nonzero finite vectors."
        )
    power = np.abs(np.fft.rfft(vectors / peaks)) ** 2  # scaled, so that no square under- or overflows
    n = vectors.shape[-1]
    power[..., 1 : (n + 1) // 2] *= 2
    return power / np.sum(power, axis=-1, keepdims=True)
