"""The activations of compiled training, with their slopes, and minus the derivatives of its losses.

- "relu" and "power", z^k, on all neurons of a tile at once;
- of single neurons, in float64 and rounded: the k-zigzag, the oscillating polynomial of degree k, a triangle wave and
  a sinusoid; the two waves take 2 z, with which (1/2) 1_S is a solution, the others have it at 1_S;
- the product of k neurons.

Losses are the hinge loss (1 - yf)_+, the square (y - f)^2 and the logistic loss log(1 + e^(-yf)).

Source: hidden-progress, section 5.3 and appendix B.4.1.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from flint import fmpq, fmpq_mat
from numba import njit
from numpy.typing import NDArray

from lemmata.numerics.exact.numbers import to_float

__all__ = ["HINGE", "PRODUCT", "RELU", "Activation", "Loss", "bend", "kind_of", "multiplied", "pull", "shape_of"]

Activation = Literal["relu", "power", "zigzag", "polynomial", "wave", "sine", "product"]
Loss = Literal["hinge", "square", "logistic"]
Floats = NDArray[np.float32]

RELU, _POWER, _ZIGZAG, _POLYNOMIAL, _WAVE, _SINE, PRODUCT = range(7)
HINGE, _SQUARE, _LOGISTIC = range(3)


def kind_of(activation: Activation) -> int:
    """The number of an activation in compiled code."""
    return get_args(Activation).index(activation)


def shape_of(activation: Activation, k: int) -> NDArray[np.float64]:
    """k, and for the oscillating polynomial its coefficients, solved for exactly and rounded once, so that they are the
    same on every machine: those through (2m - k, (-1)^(k - m)), m = 0..k."""
    if activation != "polynomial":
        return np.array([k], dtype=np.float64)
    size, nodes = k + 1, range(-k, k + 1, 2)
    powers = fmpq_mat(size, size, [fmpq(z) ** i for z in nodes for i in range(size)])
    values = fmpq_mat(size, 1, [(-1) ** ((k - z) // 2) for z in nodes])
    return np.array([k, *to_float(powers.solve(values).entries())])


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
def multiplied(z: Floats, g: Floats, s: int, k: int) -> float:
    """The product of k values, and in g the products of the others."""
    for j in range(k):
        others = np.float32(1)
        for i in range(k):
            if i != j:
                others *= z[s, i]
        g[s, j] = others
    return g[s, 0] * z[s, 0]


@njit(cache=True, nogil=True)
def bend(kind: int, width: int, shape: NDArray[np.float64], z: Floats, g: Floats) -> None:
    """Replace the pre-activations z of one tile by values, and fill g with slopes; lanes beyond the width stay 0.

    Not with those of the ReLU, which the values show: they are 1 where these are positive.
    """
    count, tile = z.shape
    k = int(shape[0])
    for s in range(count):
        if kind == RELU:
            for j in range(tile):
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
def pull(loss: int, f: float, y: float) -> float:
    """Minus the derivative of the loss in f, 0 at the kink of the hinge."""
    if loss == HINGE:
        return y if y * f < 1 else 0.0
    if loss == _SQUARE:
        return 2 * (y - f)
    return y / (1 + math.exp(y * f))
