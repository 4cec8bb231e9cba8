"""SGD on an Elman network in its recurrent matrix alone, compiled: forward, backward and step in time O(L m^2).

With h_0 = 0, g_l = W h_(l-1) + A x_l, h_l = relu(g_l), y_l = B h_l, a step on one sequence with labels y*_l takes

    W <- W - eta sum_(l >= 2) a_l h_(l-1)^T,    a_l = D_l (W^T a_(l+1) + lambda B^T G'(lambda y_l, y*_l)),

the gradient of sum_(l >= 3) |lambda y_l - y*_l|_2, a loss of the class that the document asks for. A and B stay as they
are. W is held by columns, so that both products and the step run over the columns of active units alone, about half of
them: additions run over units, or over lanes side by side, which compilers vectorise without reordering, so that the
same seed gives the same bits on every machine. The derivative of relu at 0 is taken as 0.

`lemmata.constructions.recurrent.elman.weighted_gradient` is the plain form of the same gradient.

Source: rnn-sgd, definition-3.3, definition-objective and theorem-1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["ElmanColumns", "elman_columns", "elman_gradient", "elman_steps"]

_LANES = 16
FIRST_LABEL = 2
"""The place of the first output that is trained, l = 3, from 0."""

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ElmanColumns:
    """The matrices of an Elman network of width m by columns, in one precision.

    Attributes:
        state: the columns of W, shape (m, m): ``state[j, k]`` is W_kj; changed in place by `elman_steps`.
        token: the columns of A, shape (d_x + 1, m).
        readout: the rows of B, shape (d, m).
    """

    state: Floats
    token: Floats
    readout: Floats


def elman_columns(state: Floats, token: Floats, readout: Floats, dtype: type = np.float32) -> ElmanColumns:
    """Copies of W (m, m), A (m, d_x + 1) and B (d, m), as the compiled steps take them.

    Raises:
        ValueError: for shapes that do not fit, or another type than float32 or float64.
    """
    m = len(state)
    if np.shape(state) != (m, m) or np.ndim(token) != 2 or np.ndim(readout) != 2 or not m:
        raise ValueError(f"W has the shape (m, m) and A and B are matrices, not {np.shape(state)}.")
    if len(token) != m or np.shape(readout)[1] != m or dtype not in (np.float32, np.float64):
        raise ValueError(
            f"A has {m} rows and B {m} columns, as W has, in float32 or float64; not {np.shape(token)}, "
            f"{np.shape(readout)} and {dtype}."
        )
    return ElmanColumns(
        *(np.ascontiguousarray(part, dtype=dtype) for part in (np.array(state).T, np.array(token).T, np.array(readout)))
    )


def elman_gradient(network: ElmanColumns, tokens: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The outputs y_1, ..., y_L, shape (L, d), and the gradient in W of sum_l <c_l, y_l> by columns, shape (m, m).

    Args:
        network: the matrices.
        tokens: x_1, ..., x_L, shape (L, d_x + 1).
        weights: c, shape (L, d).

    Raises:
        ValueError: for shapes that do not fit.
    """
    _check(network, np.shape(tokens)[1:], np.shape(weights), len(tokens))
    kind = network.state.dtype
    result = np.empty_like(network.state)
    outputs = _gradient(
        network.state, network.token, network.readout, tokens.astype(kind), weights.astype(kind), result
    )
    return outputs, result


def elman_steps(
    network: ElmanColumns, tokens: Floats, labels: Floats, rate: float, scale: float = 1.0
) -> NDArray[np.float64]:
    """One step of SGD on each sequence in turn, and the objectives before the steps, shape (n,).

    Args:
        network: the matrices; W is changed in place.
        tokens: n sequences, shape (n, L, d_x + 1), L >= 3.
        labels: y*, shape (n, L, d); those of the first two tokens are not used.
        rate: eta > 0.
        scale: lambda > 0, on the outputs.

    Raises:
        ValueError: for shapes that do not fit, L < 3, or numbers that are not positive and finite.
    """
    if np.ndim(tokens) != 3 or tokens.shape[1] < 3:
        raise ValueError(f"Sequences have the shape (n, L, d_x + 1) with L >= 3, not {np.shape(tokens)}.")
    if np.shape(labels)[:1] != tokens.shape[:1]:
        raise ValueError(f"There are {len(tokens)} sequences and {len(labels)} sequences of labels.")
    _check(network, tokens.shape[2:], np.shape(labels)[1:], tokens.shape[1])
    if not 0 < rate < math.inf or not 0 < scale < math.inf:
        raise ValueError(f"The rate and the scale of the outputs are positive and finite, not {rate} and {scale}.")
    kind = network.state.dtype.type
    return _steps(
        network.state,
        network.token,
        network.readout,
        tokens.astype(kind),
        labels.astype(kind),
        kind(rate),
        kind(scale),
    )


def _check(network: ElmanColumns, width: tuple[int, ...], weights: tuple[int, ...], length: int) -> None:
    if width != (len(network.token),) or weights != (length, len(network.readout)):
        raise ValueError(
            f"The network reads tokens of width {len(network.token)} and has {len(network.readout)} outputs for each "
            f"of {length} tokens, not tokens of width {width} and labels of shape {weights}."
        )


@njit(cache=True, nogil=True)
def _add_columns(g: Floats, columns: Floats, used: NDArray[np.int64], count: int, h: Floats) -> None:
    """g += sum of h_j times column j over the used j, four at a time."""
    m = len(g)
    for first in range(0, count - count % 4, 4):
        a, b, c, d = used[first], used[first + 1], used[first + 2], used[first + 3]
        p, q, r, s = h[a], h[b], h[c], h[d]
        for k in range(m):
            g[k] += (p * columns[a, k] + q * columns[b, k]) + (r * columns[c, k] + s * columns[d, k])
    for place in range(count - count % 4, count):
        a = used[place]
        p = h[a]
        for k in range(m):
            g[k] += p * columns[a, k]


@njit(cache=True, nogil=True)
def _forward(
    columns: Floats, token: Floats, x: Floats, states: Floats, used: NDArray[np.int64], counts: NDArray[np.int64]
) -> None:
    """Fill h_1, ..., h_L, and list the active units of each."""
    m = len(columns)
    counts[0] = 0
    for l in range(len(x)):
        g = states[l + 1]
        g[:] = 0
        for i in range(len(token)):
            v = x[l, i]
            for k in range(m):
                g[k] += v * token[i, k]
        _add_columns(g, columns, used[l], counts[l], states[l])
        count = 0
        for k in range(m):
            if g[k] > 0:
                used[l + 1, count] = k
                count += 1
            else:
                g[k] = 0
        counts[l + 1] = count


@njit(cache=True, nogil=True)
def _dot(a: Floats, b: Floats, lanes: Floats) -> Any:
    """<a, b>, 16 sums side by side and then in a fixed order."""
    m = len(a)
    lanes[:] = 0
    whole = m - m % _LANES
    for start in range(0, whole, _LANES):
        for lane in range(_LANES):
            lanes[lane] += a[start + lane] * b[start + lane]
    for k in range(whole, m):
        lanes[k - whole] += a[k] * b[k]
    for half in (8, 4, 2, 1):
        for lane in range(half):
            lanes[lane] += lanes[lane + half]
    return lanes[0]


@njit(cache=True, nogil=True)
def _backward(
    columns: Floats,
    readout: Floats,
    weights: Floats,
    states: Floats,
    used: NDArray[np.int64],
    counts: NDArray[np.int64],
    rows: Floats,
) -> None:
    """Fill a_L, ..., a_2 (``rows[l - 1]`` is a_l)."""
    length, m = rows.shape
    lanes = np.empty(_LANES, rows.dtype)
    rows[:] = 0
    for l in range(length, 1, -1):
        a = rows[l - 1]
        for s in range(len(readout)):
            c = weights[l - 1, s]
            if c != 0:
                for k in range(m):
                    a[k] += c * readout[s, k]
        for k in range(m):
            if not states[l, k] > 0:
                a[k] = 0
        if l > 2:
            for place in range(counts[l - 1]):
                j = used[l - 1, place]
                rows[l - 2, j] = _dot(columns[j], a, lanes)


@njit(cache=True, nogil=True)
def _outputs(readout: Floats, states: Floats, y: Floats) -> None:
    lanes = np.empty(_LANES, y.dtype)
    for l in range(len(y)):
        for s in range(len(readout)):
            y[l, s] = _dot(readout[s], states[l + 1], lanes)


@njit(cache=True, nogil=True)
def _add_outer(columns: Floats, states: Floats, rows: Floats, factor: Any) -> None:
    """columns[j] += factor sum_(l >= 2) h_(l-1)[j] a_l."""
    length, m = rows.shape
    for j in range(m):
        for l in range(2, length + 1):
            v = factor * states[l - 1, j]
            if v != 0:
                for k in range(m):
                    columns[j, k] += v * rows[l - 1, k]


@njit(cache=True, nogil=True)
def _gradient(columns: Floats, token: Floats, readout: Floats, x: Floats, weights: Floats, result: Floats) -> Floats:
    length, m = len(x), len(columns)
    states, rows = np.zeros((length + 1, m), x.dtype), np.empty((length, m), x.dtype)
    used, counts = np.empty((length + 1, m), np.int64), np.zeros(length + 1, np.int64)
    y = np.empty((length, len(readout)), x.dtype)
    _forward(columns, token, x, states, used, counts)
    _outputs(readout, states, y)
    _backward(columns, readout, weights, states, used, counts, rows)
    result[:] = 0
    _add_outer(result, states, rows, x.dtype.type(1))
    return y


@njit(cache=True, nogil=True)
def _steps(
    columns: Floats, token: Floats, readout: Floats, tokens: Floats, labels: Floats, rate: Any, scale: Any
) -> NDArray[np.float64]:
    count, length, m, d = len(tokens), tokens.shape[1], len(columns), len(readout)
    states, rows = np.zeros((length + 1, m), columns.dtype), np.empty((length, m), columns.dtype)
    used, counts = np.empty((length + 1, m), np.int64), np.zeros(length + 1, np.int64)
    y, weights = np.empty((length, d), columns.dtype), np.zeros((length, d), columns.dtype)
    losses = np.zeros(count)
    for n in range(count):
        _forward(columns, token, tokens[n], states, used, counts)
        _outputs(readout, states, y)
        for l in range(FIRST_LABEL, length):
            square = 0.0
            for s in range(d):
                away = np.float64(scale * y[l, s] - labels[n, l, s])
                square += away * away
            size = math.sqrt(square)
            losses[n] += size
            for s in range(d):
                away = np.float64(scale * y[l, s] - labels[n, l, s])
                weights[l, s] = scale * away / size if size > 0 else 0.0
        _backward(columns, readout, weights, states, used, counts, rows)
        _add_outer(columns, states, rows, -rate)
    return losses
