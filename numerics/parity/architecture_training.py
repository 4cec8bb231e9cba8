"""SGD on the architectures with which sparse parities are learned, compiled: many short runs of small networks.

Settings (i) to (xv) and the two of width k, for the parity of the first k of n signs:

- (i) (ii) (iii): u . relu(Wx + b) + c of widths 10, 100, 1000; (iv) (v) (vi) the same with z^k; (*i) (*ii) of width k;
- (vii) to (x): u s(w.x + b) + c with one neuron, s the k-zigzag, the oscillating polynomial of degree k, a triangle
  wave, a sinusoid; (xi) to (xiv): s(w.x + b) alone;
- (xv): the PolyNet prod_i (w_i.x + b_i).

The two waves take 2 z, with which (1/2) 1_S is a solution; on all other single neurons it is 1_S. A step is

    theta <- theta - eta grad

on B fresh samples, with the hinge loss (1 - yf)_+, the square (y - f)^2 or the logistic loss log(1 + e^(-yf)). Inputs
are signs: the products with W and the gradient are added up from the tables of
`lemmata.numerics.parity.compiled_training`. Sums run over lanes in a fixed order, and sines and exponentials are taken
in float64 and rounded, so that the same seed gives the same bits on every machine.

Source: hidden-progress, section 5.3 and appendix B.4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lemmata.numerics.parity.compiled_training import _LANES, _draw, _forward, _next, _signs, _tiled, _untile, _update
from lemmata.numerics.parity.training import Initialization, Network, initial_network

__all__ = ["ARCHITECTURES", "Architecture", "ArchitectureRun", "initial_architecture", "train_architecture"]

Activation = Literal["relu", "power", "zigzag", "polynomial", "wave", "sine", "product"]
Loss = Literal["hinge", "square", "logistic"]
Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]

_RELU, _POWER, _ZIGZAG, _POLYNOMIAL, _WAVE, _SINE, _PRODUCT = range(7)
_HINGE, _SQUARE, _LOGISTIC = range(3)
_FIRST = 64  # held-out samples that are looked at first


@dataclass(frozen=True)
class Architecture:
    """One setting.

    Attributes:
        activation: of the neurons; "product" multiplies k of them.
        width: the number of neurons; 0 stands for k.
        second_layer: whether the readout u and the bias c of the output are trained; else they are 1 and 0.
    """

    activation: Activation
    width: int
    second_layer: bool = True


_NEURONS: tuple[Activation, ...] = ("zigzag", "polynomial", "wave", "sine")

ARCHITECTURES: dict[str, Architecture] = {
    "i": Architecture("relu", 10),
    "ii": Architecture("relu", 100),
    "iii": Architecture("relu", 1000),
    "iv": Architecture("power", 10),
    "v": Architecture("power", 100),
    "vi": Architecture("power", 1000),
    **{name: Architecture(s, 1) for name, s in zip(("vii", "viii", "ix", "x"), _NEURONS, strict=True)},
    **{name: Architecture(s, 1, False) for name, s in zip(("xi", "xii", "xiii", "xiv"), _NEURONS, strict=True)},
    "xv": Architecture("product", 0, False),
    "*i": Architecture("relu", 0),
    "*ii": Architecture("power", 0),
}
"""The settings by their numbers in the document, without the transformer (*iii)."""


@dataclass
class ArchitectureRun:
    """The records of a run.

    Attributes:
        converged: the first checked step without an error on the held-out sample, or None.
        accuracy: at the checks, on part of the held-out sample; empty if it is not recorded.
    """

    converged: int | None = None
    accuracy: list[float] = field(default_factory=list)


def initial_architecture(
    name: str, n: int, k: int, rng: np.random.Generator, init: Initialization = "uniform"
) -> Network:
    """The random parameters of a setting, with the scales of `initial_network`.

    Raises:
        ValueError: for an unknown setting, and as `initial_network`.
    """
    if name not in ARCHITECTURES:
        raise ValueError(f"There is no setting {name!r}: the settings are {', '.join(ARCHITECTURES)}.")
    setting = ARCHITECTURES[name]
    network = initial_network(n, k, setting.width or k, rng, "relu", init)
    if not setting.second_layer:
        network.readout[:], network.output_bias[:] = 1, 0
    return network


def train_architecture(
    name: str,
    network: Network,
    steps: int,
    rng: np.random.Generator,
    *,
    batch: int = 32,
    rate: float = 0.1,
    loss: Loss = "hinge",
    check_every: int = 10,
    held_out: int = 2**13,
    recorded: int = 0,
) -> ArchitectureRun:
    """The course of training the parameters of a setting in place, until the held-out sample is right.

    Args:
        name: the setting, as in `ARCHITECTURES`.
        network: its parameters, from `initial_architecture`; the parity is that of the ``degree`` first inputs.
        steps: at most so many.
        rng: of the held-out sample and of the seed of the batches, in this order.
        batch: B.
        rate: eta.
        loss: the loss.
        check_every: steps between two checks.
        held_out: the size of the held-out sample.
        recorded: on how many of the held-out samples the accuracy is recorded at each check, 0 for none.

    Raises:
        ValueError: for an unknown setting or loss, a network of another width, sizes below 1, more recorded than held
            out samples, or a rate that is not positive and finite.
    """
    setting, n, k = _checked(name, network, min(steps, batch, check_every, held_out), rate, loss)
    if not 0 <= recorded <= held_out:
        raise ValueError(f"Between 0 and {held_out} of the held-out samples can be recorded, not {recorded}.")
    codes, labels = _draw(rng, n, k, held_out)
    seed = np.array([rng.integers(0, 2**64, dtype=np.uint64)], dtype=np.uint64)
    kind = get_args(Activation).index(setting.activation)
    state, shape = _tiled(network), _shape(kind, k)
    form = (kind, len(network.hidden), shape)
    run = ArchitectureRun()
    for done in range(0, steps, check_every):
        count = min(check_every, steps - done)
        _descend(*state, *form, n, k, seed, count, batch, rate, get_args(Loss).index(loss), setting.second_layer)
        if recorded:
            wrong, _ = _wrong(*state, *form, codes[:recorded], labels[:recorded], False)
            run.accuracy.append(1 - wrong / recorded)
        wrong, finite = _wrong(*state, *form, codes, labels, True)
        if not finite:
            break  # diverged
        if wrong == 0:
            run.converged = done + count
            break
    _untile(state, network)
    return run


def _checked(name: str, network: Network, least: int, rate: float, loss: str) -> tuple[Architecture, int, int]:
    """The setting, n and k, or a refusal of what `train_architecture` does not accept."""
    if name not in ARCHITECTURES or loss not in get_args(Loss):
        raise ValueError(
            f"The settings are {', '.join(ARCHITECTURES)} and the losses {', '.join(get_args(Loss))}: {name}, {loss}."
        )
    setting, k = ARCHITECTURES[name], network.degree
    if len(network.hidden) != (setting.width or k):
        raise ValueError(f"Setting ({name}) has {setting.width or k} neurons for k = {k}, not {len(network.hidden)}.")
    if least < 1 or not 0 < rate < math.inf:
        raise ValueError(f"Sizes must be at least 1 and the rate positive and finite, not {least} and {rate}.")
    return setting, network.hidden.shape[1], k


def _shape(kind: int, k: int) -> NDArray[np.float64]:
    """k, and for the oscillating polynomial its coefficients: those through (2m - k, (-1)^(k - m)), m = 0..k."""
    if kind != _POLYNOMIAL:
        return np.array([k], dtype=np.float64)
    nodes = np.arange(-k, k + 1, 2, dtype=np.float64)
    values = (-1.0) ** ((k - nodes) / 2)
    coefficients = np.linalg.solve(np.vander(nodes, increasing=True), values)
    return np.concatenate([[k], coefficients])


@njit(cache=True, nogil=True)
def _neuron(kind: int, shape: NDArray[np.float64], z: float) -> tuple[float, float]:
    """The value and the slope of the activation of a single neuron, in float64; at a kink the slope on the right."""
    k = int(shape[0])
    if kind == _SINE:
        phase = math.pi / 2 * (2 * z + 1 - k)
        return math.sin(phase), math.pi * math.cos(phase)
    if kind == _WAVE:
        phase = (2 * z - k) / 4
        phase -= math.floor(phase)
        return abs(4 * phase - 2) - 1, 2.0 if phase >= 0.5 else -2.0
    if kind == _ZIGZAG:
        piece = min(max(math.floor((z + k) / 2), 0), k - 1)
        sign = 1.0 if (k - piece) % 2 == 0 else -1.0
        return sign * (1 - (z + k - 2 * piece)), -sign
    value, slope = 0.0, 0.0
    for i in range(k, -1, -1):
        slope = slope * z + value
        value = value * z + shape[1 + i]
    return value, slope


@njit(cache=True, nogil=True)
def _product(z: Floats, g: Floats, s: int, k: int) -> float:
    """The product of k values, and in g the products of the others."""
    for j in range(k):
        others = np.float32(1)
        for i in range(k):
            if i != j:
                others *= z[s, i]
        g[s, j] = others
    return g[s, 0] * z[s, 0]


@njit(cache=True, nogil=True)
def _bend(kind: int, width: int, shape: NDArray[np.float64], z: Floats, g: Floats) -> None:
    """Replace the pre-activations z of one tile by values, and fill g with slopes; lanes beyond the width stay 0."""
    count, tile = z.shape
    k = int(shape[0])
    for s in range(count):
        if kind == _RELU:
            for j in range(tile):
                g[s, j] = np.float32(1) if z[s, j] > 0 else np.float32(0)
                z[s, j] = max(z[s, j], np.float32(0))
        elif kind == _POWER:
            for j in range(tile):
                power = np.float32(1)
                for _ in range(k - 1):
                    power *= z[s, j]
                g[s, j] = np.float32(k) * power
                z[s, j] *= power
        else:
            for j in range(width):
                value, slope = _neuron(kind, shape, z[s, j])
                z[s, j], g[s, j] = value, slope


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
        if kind == _PRODUCT:
            for s in range(len(x)):
                f[s] = _product(values, slopes, s, width)
            return
        _bend(kind, width, shape, values, slopes)
        for s in range(len(x)):
            for block in range(len(weights) // _LANES):
                for lane in range(_LANES):
                    lanes[s, lane] += weights[block * _LANES + lane] * values[s, block * _LANES + lane]
    for s in range(len(x)):
        f[s] = c[0]
        for lane in range(_LANES):
            f[s] += lanes[s, lane]


@njit(cache=True, nogil=True)
def _wrong(
    W: Floats, b: Floats, u: Floats, c: Floats, kind: int, width: int, shape: NDArray[np.float64],
    codes: Codes, labels: Floats, until_found: bool,
) -> tuple[int, bool]:  # fmt: skip
    """The number of errors (or 1 as soon as a block of samples has one), and whether all outputs are finite."""
    tiles, _, tile = W.shape
    z, g = np.zeros((tiles, 256, tile), np.float32), np.zeros((tiles, 256, tile), np.float32)
    f = np.empty(256, np.float32)
    wrong, start, finite = 0, 0, True
    while start < len(labels):
        stop = min(len(labels), start + (_FIRST if start == 0 else 256))
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
def _fresh(k: int, seed: NDArray[np.uint64], x: Codes, y: Floats) -> None:
    """Fill x with random signs, four to a code, and y with the parities of the first k."""
    word = np.uint64(0)
    for s in range(len(y)):
        for g in range(x.shape[1]):
            if g % 16 == 0:
                word = _next(seed)
            x[s, g] = word & np.uint64(15)
            word >>= np.uint64(4)
        y[s] = 1
        for i in range(k):
            if (x[s, i // 4] >> (i % 4)) & 1 == 0:
                y[s] = -y[s]


@njit(cache=True, nogil=True)
def _pull(loss: int, f: float, y: float) -> float:
    """Minus the derivative of the loss in f, 0 at the kink of the hinge."""
    if loss == _HINGE:
        return y if y * f < 1 else 0.0
    if loss == _SQUARE:
        return 2 * (y - f)
    return y / (1 + math.exp(y * f))


@njit(cache=True, nogil=True)
def _move(
    z: Floats, g: Floats, b: Floats, u: Floats, active: NDArray[np.int64], d: Floats, count: int, readout: bool,
    delta: Floats,
) -> None:  # fmt: skip
    """Step the biases and the readout of one tile, and keep the derivatives delta of its active samples."""
    tile = len(b)
    du = np.zeros(tile, np.float32)
    for a in range(count):
        s, pull = active[a], d[a]
        for j in range(tile):
            du[j] += pull * z[s, j]
        for j in range(tile):
            delta[a, j] = pull * u[j] * g[s, j]
        for j in range(tile):
            b[j] += delta[a, j]
    delta[count : -(-count // 4) * 4] = 0
    if readout:
        for j in range(tile):
            u[j] += du[j]


@njit(cache=True, nogil=True)
def _descend(
    W: Floats, b: Floats, u: Floats, c: Floats, kind: int, width: int, shape: NDArray[np.float64], n: int, k: int,
    seed: NDArray[np.uint64], count: int, batch: int, rate: float, loss: int, readout: bool,
) -> None:  # fmt: skip
    """Make steps of SGD in place on fresh samples."""
    tiles, padded, tile = W.shape
    groups = -(-batch // 4)
    x, y = np.empty((batch, padded // 4), np.uint8), np.empty(batch, np.float32)
    z, g = np.zeros((tiles, batch, tile), np.float32), np.zeros((tiles, batch, tile), np.float32)
    f, delta, signs = (
        np.empty(batch, np.float32),
        np.zeros((4 * groups, tile), np.float32),
        np.empty((groups, n), np.uint8),
    )
    active, d = np.empty(batch, np.int64), np.empty(batch, np.float32)
    for _ in range(count):
        _fresh(k, seed, x, y)
        _evaluate(W, b, u, c, kind, width, shape, x, z, g, f)
        found, dc = 0, np.float32(0)
        for s in range(batch):
            pull = _pull(loss, f[s], y[s])
            if pull != 0:
                active[found] = s
                d[found] = rate * pull / batch
                dc += d[found]
                found += 1
        if found == 0:
            continue
        _signs(x, active, found, n, signs)
        for t in range(tiles):
            _move(z[t], g[t], b[t], u[t], active, d, found, readout, delta)
            _update(W[t], delta, signs, -(-found // 4), np.float32(1))
        if readout:
            c[0] += dc
