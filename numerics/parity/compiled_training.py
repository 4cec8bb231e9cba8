"""SGD on a two-layer network with inputs of signs, compiled: the loop of all settings, and the runs of ReLU networks.

The network is f(x) = u . relu(Wx + b) + c, the label the product of the first k of n signs, the loss the hinge loss,
and a step on B samples

    theta <- (1 - eta lambda) theta - eta grad

with weight decay on all parameters, biases included, as optimisers of frameworks have it.

Inputs are signs, so that both products of a step can be added up from tables. Four inputs take 16 values; the 16 sums
+-w_1 +-w_2 +-w_3 +-w_4 of four columns of W are made once per batch, and a sample then costs one addition for four
inputs. Likewise the gradient sum_b delta_b x_b^T takes the 16 signed sums of the rows delta of four samples, and one
addition for four samples. Additions run over neurons, which compilers vectorise without reordering: the same seed gives
the same bits on every machine. Neurons are padded with zeros to a multiple of 16, inputs to a multiple of 4.

The loop itself, `descend`, takes every activation and loss of `lemmata.numerics.parity.compiled_activations`, without
decay or a readout where a setting has none; `lemmata.numerics.parity.architecture_training` calls it for these, and
`lemmata.numerics.parity.training.network_gradient` is the plain form of a step.

Source: pareto-frontiers, experiment-sweep, experiment-lottery, figure-6.1, figure-6.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lemmata.numerics.parity.compiled_activations import HINGE, PRODUCT, RELU, bend, multiplied, pull, shape_of
from lemmata.numerics.parity.training import Network

__all__ = [
    "CompiledRun",
    "count_wrong",
    "descend",
    "draw_codes",
    "fill_batch",
    "next_word",
    "tiled",
    "train_compiled",
    "untile",
]

_LANES = 16  # neurons are padded to a multiple
_TILE = 128  # neurons whose tables are in the cache at once
_BLOCK = 256  # samples that are evaluated at once
_FIRST = 64  # held-out samples that are looked at first

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]
State = tuple[Floats, Floats, Floats, Floats]


@dataclass
class CompiledRun:
    """The records of a run at its checks.

    Attributes:
        steps: the numbers of steps.
        test_error: the share of errors on held-out samples.
        train_error: the same on the fixed sample; empty if samples are fresh.
        test_time: the first checked step with test error at most the threshold, or None.
        train_time: the same for the error on the fixed sample.
    """

    steps: list[int] = field(default_factory=list)
    test_error: list[float] = field(default_factory=list)
    train_error: list[float] = field(default_factory=list)
    test_time: int | None = None
    train_time: int | None = None


def train_compiled(
    network: Network,
    steps: int,
    rng: np.random.Generator,
    *,
    batch: int = 32,
    rate: float = 0.1,
    decay: float = 0.01,
    noise: float = 0.0,
    sample: int | None = None,
    check_every: int = 100,
    held_out: int = 10_000,
    threshold: float = 0.1,
    until_success: bool = True,
) -> CompiledRun:
    """The course of training a two-layer ReLU network in place, with the defaults of the sweep.

    Args:
        network: of kind "relu", changed in place; the parity is that of its ``degree`` first inputs.
        steps: at most so many.
        rng: of all samples: the held-out ones, the fixed ones, and the seed of the batches, in this order.
        batch: B.
        rate: eta.
        decay: lambda, on all parameters.
        noise: the probability that the label of a fresh sample is flipped; held-out labels are right.
        sample: the size of a fixed sample, from which batches are drawn with replacement, or None for fresh samples.
        check_every: steps between two checks.
        held_out: the size of the held-out sample.
        threshold: the error that counts as success.
        until_success: whether to stop at the first check at which the test error is at most the threshold.

    Raises:
        ValueError: for another kind of network, sizes below 1, a rate that is not positive, decay outside [0, 1/rate),
            a threshold outside [0, 1/2), or noise outside [0, 1/2] or on a fixed sample.
    """
    if not 0 <= noise <= 0.5 or (noise and sample is not None):
        raise ValueError(f"Give noise from 0 to 1/2, and 0 with a fixed sample, not {noise}.")
    _check(network, min(steps, batch, check_every, held_out, 1 if sample is None else sample), rate, decay, threshold)
    n, k = network.hidden.shape[1], network.degree
    held = draw_codes(rng, n, k, held_out)
    fixed = None if sample is None else draw_codes(rng, n, k, sample)
    seed = np.array([rng.integers(0, 2**64, dtype=np.uint64)], dtype=np.uint64)
    codes, labels = fixed if fixed is not None else (np.empty((0, held[0].shape[1]), np.uint8), np.empty(0, np.float32))
    state, run = tiled(network), CompiledRun()
    form = (RELU, len(network.hidden), shape_of("relu", k))
    step = float(np.float32(rate) / np.float32(batch)), 1.0, np.float32(1 - rate * decay), True
    for done in range(0, steps, check_every):
        count = min(check_every, steps - done)
        descend(*state, *form, codes, labels, n, k, seed, count, batch, noise, HINGE, *step)
        run.steps.append(done + count)
        run.test_error.append(count_wrong(*state, *form, *held, False)[0] / held_out)
        if run.test_time is None and run.test_error[-1] <= threshold:
            run.test_time = run.steps[-1]
        if fixed is not None:
            run.train_error.append(count_wrong(*state, *form, codes, labels, False)[0] / len(labels))
            if run.train_time is None and run.train_error[-1] <= threshold:
                run.train_time = run.steps[-1]
        if run.test_time is not None and until_success:
            break
    untile(state, network)
    return run


def _check(network: Network, least: int, rate: float, decay: float, threshold: float) -> None:
    """Refuse what `train_compiled` does not accept; ``least`` is the smallest of its counts."""
    if network.kind != "relu":
        raise ValueError(f"The compiled steps are those of a ReLU network, not of the kind {network.kind!r}.")
    if least < 1:
        raise ValueError("steps, batch, check_every, held_out and sample must be at least 1.")
    if not 0 < rate < math.inf or not 0 <= decay * rate < 1 or not 0 <= threshold < 0.5:
        raise ValueError(
            f"Give a finite rate > 0, 0 <= rate * decay < 1 and 0 <= threshold < 1/2, not {rate}, {decay}, {threshold}."
        )


def draw_codes(rng: np.random.Generator, n: int, k: int, count: int) -> tuple[Codes, Floats]:
    """Random inputs, four signs to a code (bit 1 for the sign +1), and the parities of the first k."""
    codes = rng.integers(0, 16, size=(count, -(-n // 4)), dtype=np.uint8)
    bits = (codes[:, np.arange(k) // 4] >> (np.arange(k) % 4).astype(np.uint8)) & 1
    return codes, (1 - 2 * ((k - bits.sum(axis=1, dtype=np.int64)) % 2)).astype(np.float32)


def tiled(network: Network) -> State:
    """W^T, b, u and c in tiles of neurons, shapes (tiles, n, tile) and (tiles, tile), padded with zeros."""
    r, n = network.hidden.shape
    tiles = -(-r // _TILE)
    tile = -(-r // (tiles * _LANES)) * _LANES
    W = np.zeros((tiles * tile, -(-n // 4) * 4), np.float32)
    b, u = np.zeros(tiles * tile, np.float32), np.zeros(tiles * tile, np.float32)
    W[:r, :n], b[:r], u[:r] = network.hidden, network.bias, network.readout
    columns = np.ascontiguousarray(W.reshape(tiles, tile, -1).transpose(0, 2, 1))
    return columns, b.reshape(tiles, tile), u.reshape(tiles, tile), network.output_bias.astype(np.float32)


def untile(state: State, network: Network) -> None:
    """Write the parameters back into a network."""
    r, n = network.hidden.shape
    W, b, u, c = state
    network.hidden[:] = W.transpose(0, 2, 1).reshape(-1, W.shape[1])[:r, :n]
    network.bias[:], network.readout[:], network.output_bias[:] = b.reshape(-1)[:r], u.reshape(-1)[:r], c


@njit(cache=True, nogil=True)
def next_word(state: NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits of the generator SplitMix64, of Steele, Lea and Flood (2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def fill_batch(
    codes: Codes, labels: Floats, n: int, k: int, state: NDArray[np.uint64], flip: float, x: Codes, y: Floats
) -> None:
    """Fill x and y with samples of a fixed sample, or with fresh ones, some labels flipped, if that is empty."""
    m = np.uint64(len(labels))
    for s in range(len(y)):
        if m > np.uint64(0):
            i = np.int64(((next_word(state) >> np.uint64(32)) * m) >> np.uint64(32))
            x[s] = codes[i]
            y[s] = labels[i]
            continue
        word = np.uint64(0)
        for g in range(x.shape[1]):
            if g % 16 == 0:
                word = next_word(state)
            x[s, g] = word & np.uint64(15)
            word >>= np.uint64(4)
        sign = np.float32(1)
        for i in range(k):
            if (x[s, i // 4] >> (i % 4)) & 1 == 0:
                sign = -sign
        if flip > 0 and np.float64(next_word(state) >> np.uint64(11)) < flip * 2.0**53:
            sign = -sign
        y[s] = sign


@njit(cache=True, nogil=True)
def _buffers(tile: int) -> tuple[Floats, Floats, Floats]:
    """Room for the sums of pairs of rows, and for two tables."""
    return np.empty((8, tile), np.float32), np.empty((16, tile), np.float32), np.empty((16, tile), np.float32)


@njit(cache=True, nogil=True)
def _table(rows: Floats, first: int, pairs: Floats, table: Floats) -> None:
    """The 16 signed sums of four rows; bit i of the index is the sign of row i."""
    tile = rows.shape[1]
    for half in range(2):
        row, p = first + 2 * half, 4 * half
        for j in range(tile):
            pairs[p + 3, j] = rows[row, j] + rows[row + 1, j]
        for j in range(tile):
            pairs[p + 1, j] = rows[row, j] - rows[row + 1, j]
        for j in range(tile):
            pairs[p, j] = -pairs[p + 3, j]
        for j in range(tile):
            pairs[p + 2, j] = -pairs[p + 1, j]
    for high in range(4):
        for low in range(4):
            for j in range(tile):
                table[4 * high + low, j] = pairs[low, j] + pairs[4 + high, j]


@njit(cache=True, nogil=True)
def _forward(W: Floats, b: Floats, x: Codes, z: Floats) -> None:
    """The pre-activations z = Wx + b of one tile, shape (samples, tile)."""
    pairs, first, second = _buffers(len(b))
    groups = x.shape[1]
    for s in range(len(x)):
        for j in range(len(b)):
            z[s, j] = b[j]
    for g in range(0, groups - 1, 2):
        _table(W, 4 * g, pairs, first)
        _table(W, 4 * g + 4, pairs, second)
        for s in range(len(x)):
            p, q = x[s, g], x[s, g + 1]
            for j in range(len(b)):
                z[s, j] += first[p, j] + second[q, j]
    if groups % 2:
        _table(W, 4 * groups - 4, pairs, first)
        for s in range(len(x)):
            p = x[s, groups - 1]
            for j in range(len(b)):
                z[s, j] += first[p, j]


@njit(cache=True, nogil=True)
def _evaluate(
    W: Floats, b: Floats, u: Floats, c: Floats, kind: int, width: int, shape: NDArray[np.float64],
    x: Codes, z: Floats, g: Floats, f: Floats,
) -> None:  # fmt: skip
    """The values z and slopes g of the neurons, shape (tiles, samples, tile), and the outputs f."""
    lanes = np.zeros((len(f), _LANES), np.float32)
    for t in range(len(W)):
        values, slopes, weights = z[t, : len(x)], g[t, : len(x)], u[t]
        _forward(W[t], b[t], x, values)
        if kind == PRODUCT:
            for s in range(len(x)):
                f[s] = multiplied(values, slopes, s, width)
            return
        bend(kind, width, shape, values, slopes)
        for s in range(len(x)):
            for block in range(len(weights) // _LANES):
                for lane in range(_LANES):
                    lanes[s, lane] += weights[block * _LANES + lane] * values[s, block * _LANES + lane]
    for s in range(len(x)):
        f[s] = c[0]
        for lane in range(_LANES):
            f[s] += lanes[s, lane]


@njit(cache=True, nogil=True)
def count_wrong(
    W: Floats, b: Floats, u: Floats, c: Floats, kind: int, width: int, shape: NDArray[np.float64],
    codes: Codes, labels: Floats, until_found: bool,
) -> tuple[int, bool]:  # fmt: skip
    """The number of errors (or 1 as soon as a block of samples has one), and whether all outputs are finite."""
    tiles, _, tile = W.shape
    z, g = np.zeros((tiles, _BLOCK, tile), np.float32), np.zeros((tiles, _BLOCK, tile), np.float32)
    f = np.empty(_BLOCK, np.float32)
    wrong, start, finite = 0, 0, True
    while start < len(labels):
        stop = min(len(labels), start + (_FIRST if start == 0 else _BLOCK))
        _evaluate(W, b, u, c, kind, width, shape, codes[start:stop], z, g, f)
        for s in range(stop - start):
            finite = finite and math.isfinite(f[s])
            if not f[s] * labels[start + s] > 0:
                wrong += 1
        start = stop
        if until_found and wrong > 0:
            return 1, finite
    return wrong, finite


@njit(cache=True, nogil=True)
def _signs(x: Codes, active: NDArray[np.int64], count: int, n: int, signs: Codes) -> None:
    """For every input its signs in groups of four active samples, as codes; missing samples count as negative."""
    signs[:] = 0
    for a in range(count):
        s = active[a]
        for i in range(n):
            signs[a // 4, i] |= ((x[s, i // 4] >> (i % 4)) & 1) << (a % 4)


@njit(cache=True, nogil=True)
def _update(W: Floats, delta: Floats, signs: Codes, groups: int, keep: np.float32) -> None:
    """W <- keep W + sum_a x_a delta_a^T in one tile, over groups of four active samples."""
    pairs, first, second = _buffers(W.shape[1])
    n, tile = signs.shape[1], W.shape[1]
    for i in range(n):
        for j in range(tile):
            W[i, j] *= keep
    for a in range(0, groups - 1, 2):
        _table(delta, 4 * a, pairs, first)
        _table(delta, 4 * a + 4, pairs, second)
        for i in range(n):
            p, q = signs[a, i], signs[a + 1, i]
            for j in range(tile):
                W[i, j] += first[p, j] + second[q, j]
    if groups % 2:
        _table(delta, 4 * groups - 4, pairs, first)
        for i in range(n):
            p = signs[groups - 1, i]
            for j in range(tile):
                W[i, j] += first[p, j]


@njit(cache=True, nogil=True)
def _move(
    kind: int, z: Floats, g: Floats, b: Floats, u: Floats, active: NDArray[np.int64], d: Floats, count: int,
    keep: np.float32, readout: bool, delta: Floats,
) -> None:  # fmt: skip
    """Step the biases and the readout of one tile, and keep the derivatives delta of its active samples."""
    tile = len(b)
    du = np.zeros(tile, np.float32)
    for j in range(tile):
        b[j] *= keep
    for a in range(count):
        s, slope = active[a], d[a]
        for j in range(tile):
            du[j] += slope * z[s, j]
        if kind == RELU:
            for j in range(tile):
                delta[a, j] = slope * u[j] * (np.float32(1) if z[s, j] > 0 else np.float32(0))
        else:
            for j in range(tile):
                delta[a, j] = slope * u[j] * g[s, j]
        for j in range(tile):
            b[j] += delta[a, j]
    delta[count : -(-count // 4) * 4] = 0
    if readout:
        for j in range(tile):
            u[j] = keep * u[j] + du[j]


@njit(cache=True, nogil=True)
def descend(
    W: Floats, b: Floats, u: Floats, c: Floats, kind: int, width: int, shape: NDArray[np.float64],
    codes: Codes, labels: Floats, n: int, k: int, state: NDArray[np.uint64], count: int, batch: int, flip: float,
    loss: int, rate: float, divisor: float, keep: np.float32, readout: bool,
) -> None:  # fmt: skip
    """Make steps of SGD in place; a sample moves the parameters by rate / divisor times minus its gradient."""
    groups, (tiles, padded, tile) = -(-batch // 4), W.shape
    x, y = np.empty((batch, padded // 4), np.uint8), np.empty(batch, np.float32)
    z, g = np.zeros((tiles, batch, tile), np.float32), np.zeros((tiles, batch, tile), np.float32)
    f = np.empty(batch, np.float32)
    delta, signs = np.zeros((4 * groups, tile), np.float32), np.empty((groups, n), np.uint8)
    active, d = np.empty(batch, np.int64), np.empty(batch, np.float32)
    for _ in range(count):
        fill_batch(codes, labels, n, k, state, flip, x, y)
        _evaluate(W, b, u, c, kind, width, shape, x, z, g, f)
        found, dc = 0, np.float32(0)
        for s in range(batch):
            size = pull(loss, f[s], y[s])
            if size != 0:
                active[found] = s
                d[found] = rate * size / divisor
                dc += d[found]
                found += 1
        if found == 0 and keep == 1:
            continue
        _signs(x, active, found, n, signs)
        for t in range(tiles):
            _move(kind, z[t], g[t], b[t], u[t], active, d, found, keep, readout, delta)
            _update(W[t], delta, signs, -(-found // 4), keep)
        if readout:
            c[0] = keep * c[0] + dc
