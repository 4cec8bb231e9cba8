"""The steps of a one-layer attention network in float32, compiled: products, norms, and the mixing of tokens.

A token at position t shows one of two symbols, so that only 2T + 1 tokens differ, the last of them [CLS], whose output
alone is read. Its query gives each token a score per head; with e = exp(score) the mixed value of a string b is

    sum_t e_{t, b_t} V_{t, b_t} / sum_t e_{t, b_t},

and both sums are sums of rows of one table U = (e V, e), one row for each token. Four positions take 16 values, whose
rows are added up once per batch (`mix`), and the gradient takes the same way back (`unmix`).

Loops run over the last axis, which compilers vectorise without reordering a sum, and `exp` is written out: the same
seed gives the same bits on every machine.

Source: variable-creation, experiment-fig4.2 to experiment-fig4.4.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "adam_step",
    "add_columns",
    "exponentials",
    "gelu",
    "mix",
    "normalise",
    "normalise_back",
    "product",
    "transposed_product",
    "unmix",
]

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]

_EPSILON = np.float32(1e-5)  # of a layer norm
_HALF, _ONE = np.float32(0.5), np.float32(1)
_CUBIC, _SLOPE = np.float32(0.044715), np.float32(2 * np.sqrt(2 / np.pi))
_LOW, _HIGH = np.float32(-87), np.float32(88)
_LOG2_E, _ROUND = np.float32(1.4426950408889634), np.float32(12582912)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_C0, _C1, _C2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
_C3, _C4, _C5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)


@njit(cache=True, nogil=True)
def exponentials(x: Floats) -> None:
    """Replace a vector by its exponentials, to about 1e-7; arguments are cut to [-87, 88]."""
    bits = np.empty(len(x), np.int32)
    for j in range(len(x)):
        v = min(max(x[j], _LOW), _HIGH)
        n = (v * _LOG2_E + _ROUND) - _ROUND
        r = v - n * _LN2_HIGH - n * _LN2_LOW
        y = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _C5
        x[j] = y * r * r + r + _ONE
        bits[j] = (np.int32(n) + np.int32(127)) << np.int32(23)
    powers = bits.view(np.float32)
    for j in range(len(x)):
        x[j] *= powers[j]


@njit(cache=True, nogil=True)
def product(A: Floats, B: Floats, C: Floats) -> None:
    """C <- C + A B, four rows of A and two of B at a time."""
    rows, inner, n = A.shape[0], A.shape[1], B.shape[1]
    full = rows - rows % 4
    even = inner - inner % 2
    for i in range(0, full, 4):
        for k in range(0, even, 2):
            a, b, c, d = A[i, k], A[i + 1, k], A[i + 2, k], A[i + 3, k]
            e, f, g, h = A[i, k + 1], A[i + 1, k + 1], A[i + 2, k + 1], A[i + 3, k + 1]
            for j in range(n):
                p, q = B[k, j], B[k + 1, j]
                C[i, j] += a * p + e * q
                C[i + 1, j] += b * p + f * q
                C[i + 2, j] += c * p + g * q
                C[i + 3, j] += d * p + h * q
        for k in range(even, inner):
            for r in range(i, i + 4):
                for j in range(n):
                    C[r, j] += A[r, k] * B[k, j]
    for i in range(full, rows):
        for k in range(inner):
            for j in range(n):
                C[i, j] += A[i, k] * B[k, j]


@njit(cache=True, nogil=True)
def transposed_product(A: Floats, B: Floats, C: Floats) -> None:
    """C <- C + A^T B, four rows of A and B at a time."""
    rows, inner, n = A.shape[0], A.shape[1], B.shape[1]
    full = rows - rows % 4
    for i in range(0, full, 4):
        for k in range(inner):
            a, b, c, d = A[i, k], A[i + 1, k], A[i + 2, k], A[i + 3, k]
            for j in range(n):
                C[k, j] += (a * B[i, j] + b * B[i + 1, j]) + (c * B[i + 2, j] + d * B[i + 3, j])
    for i in range(full, rows):
        for k in range(inner):
            for j in range(n):
                C[k, j] += A[i, k] * B[i, j]


@njit(cache=True, nogil=True)
def add_columns(A: Floats, total: Floats) -> None:
    """Add the sum of the rows of A to a vector."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total[j] += A[i, j]


@njit(cache=True, nogil=True)
def normalise(x: Floats, scale: Floats, shift: Floats, normal: Floats, inverse: Floats, out: Floats) -> None:
    """Layer norm of every row: ``normal`` has mean 0 and variance about 1, ``inverse`` is 1 over the deviation."""
    d = np.float32(x.shape[1])
    for i in range(x.shape[0]):
        mean, square = np.float32(0), np.float32(0)
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= d
        for j in range(x.shape[1]):
            square += (x[i, j] - mean) * (x[i, j] - mean)
        inverse[i] = _ONE / np.sqrt(square / d + _EPSILON)
        for j in range(x.shape[1]):
            normal[i, j] = (x[i, j] - mean) * inverse[i]
            out[i, j] = normal[i, j] * scale[j] + shift[j]


@njit(cache=True, nogil=True)
def normalise_back(
    dout: Floats, normal: Floats, inverse: Floats, scale: Floats, dscale: Floats, dshift: Floats, dx: Floats
) -> None:
    """Add the gradients of a layer norm to those of its scale, its shift and its input."""
    d = np.float32(dout.shape[1])
    for i in range(dout.shape[0]):
        mean, slope = np.float32(0), np.float32(0)
        for j in range(dout.shape[1]):
            g = dout[i, j] * scale[j]
            mean += g
            slope += g * normal[i, j]
        mean /= d
        slope /= d
        for j in range(dout.shape[1]):
            dscale[j] += dout[i, j] * normal[i, j]
            dshift[j] += dout[i, j]
            dx[i, j] += (dout[i, j] * scale[j] - mean - normal[i, j] * slope) * inverse[i]


@njit(cache=True, nogil=True)
def gelu(a: Floats, value: Floats, slope: Floats) -> None:
    """The GeLU a s(2 sqrt(2/pi) (a + 0.044715 a^3)) with the logistic function s, which is its tanh form, and a'."""
    gate = np.empty(a.shape[1], np.float32)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            gate[j] = -_SLOPE * a[i, j] * (_ONE + _CUBIC * a[i, j] * a[i, j])
        exponentials(gate)
        for j in range(a.shape[1]):
            s = _ONE / (_ONE + gate[j])
            inner = _SLOPE * (_ONE + np.float32(3) * _CUBIC * a[i, j] * a[i, j])
            value[i, j] = a[i, j] * s
            slope[i, j] = s + a[i, j] * s * (_ONE - s) * inner


@njit(cache=True, nogil=True)
def _table(U: Floats, first: int, count: int, table: Floats) -> None:
    """The 16 sums of the rows of four positions from ``first``; bit i of the index is the symbol of position i."""
    table[:] = 0
    for code in range(16):
        for i in range(count):
            row = 2 * (first + i) + ((code >> i) & 1)
            for j in range(U.shape[1]):
                table[code, j] += U[row, j]


@njit(cache=True, nogil=True)
def mix(U: Floats, codes: Codes, T: int, N: Floats) -> None:
    """The sums N of the rows of all tokens of each string, [CLS] included."""
    table = np.empty((16, U.shape[1]), np.float32)
    for i in range(N.shape[0]):
        for j in range(N.shape[1]):
            N[i, j] = U[2 * T, j]
    for g in range(codes.shape[1]):
        _table(U, 4 * g, min(4, T - 4 * g), table)
        for i in range(N.shape[0]):
            code = codes[i, g]
            for j in range(N.shape[1]):
                N[i, j] += table[code, j]


@njit(cache=True, nogil=True)
def unmix(dN: Floats, codes: Codes, T: int, dU: Floats) -> None:
    """The gradient of `mix` in U: for each token the sum over the strings that have it."""
    table = np.empty((16, dU.shape[1]), np.float32)
    dU[:] = 0
    add_columns(dN, dU[2 * T])
    for g in range(codes.shape[1]):
        table[:] = 0
        for i in range(dN.shape[0]):
            code = codes[i, g]
            for j in range(dN.shape[1]):
                table[code, j] += dN[i, j]
        for code in range(16):
            for i in range(min(4, T - 4 * g)):
                row = 2 * (4 * g + i) + ((code >> i) & 1)
                for j in range(dU.shape[1]):
                    dU[row, j] += table[code, j]


@njit(cache=True, nogil=True)
def adam_step(
    theta: Floats, grad: Floats, first: Floats, second: Floats, keep: Floats, rate: np.float32, step: int,
    beta1: np.float32, beta2: np.float32,
) -> None:  # fmt: skip
    """One step of Adam with decoupled weight decay, keep = 1 - rate * decay by parameter; epsilon is 1e-8."""
    lift1 = np.float32(1 / (1 - np.float64(beta1) ** step))
    lift2 = np.float32(1 / (1 - np.float64(beta2) ** step))
    epsilon = np.float32(1e-8)
    for j in range(len(theta)):
        first[j] = beta1 * first[j] + (_ONE - beta1) * grad[j]
        second[j] = beta2 * second[j] + (_ONE - beta2) * grad[j] * grad[j]
        theta[j] = keep[j] * theta[j] - rate * (first[j] * lift1) / (np.sqrt(second[j] * lift2) + epsilon)
