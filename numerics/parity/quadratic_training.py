"""SGD from end to end on deep networks with the activation z^2 that learn a sparse parity, compiled.

The network is f(x) = u . z_(L-1) + c with z_0 = x and z_i = (W_i z_(i-1) + b_i)^2, the label the product of the first k
of n signs, the loss the hinge loss, and every step goes down the mean gradient of fresh samples in all parameters.

The arrays of a network are padded with zeros to shapes (layers, width, fan-in) and (layers, width). A neuron of the
padding has z = 0 and weights 0 above and below it, so that nothing ever moves it. All sums run in one fixed order and
the signs come from the generator SplitMix64: the same seed gives the same bits on every machine.

Source: hidden-progress, construction-layerwise (appendix B.3.7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lemmata.numerics.parity.compiled_training import next_word

__all__ = ["QuadraticLayers", "QuadraticRun", "initial_quadratic", "quadratic_accuracy", "train_quadratic"]

Floats = NDArray[np.float64]
_ALL = 12  # up to so many inputs the accuracy is that on all 2^n inputs
_BITS = 63  # signs that one word gives; its top bit is not used


@dataclass
class QuadraticLayers:
    """The parameters of a network, changed in place by training.

    Attributes:
        weights: W_i, shape (layers, width, fan-in), padded with zeros.
        bias: b_i, shape (layers, width), padded with zeros.
        readout: u, shape (width,), padded with zeros.
        output_bias: c, shape (1,).
        widths: the widths n, r_1, ..., r_(L-1) without padding.
        learn_output_bias: whether c moves.
    """

    weights: Floats
    bias: Floats
    readout: Floats
    output_bias: Floats
    widths: tuple[int, ...]
    learn_output_bias: bool

    def layers(self) -> list[tuple[Floats, Floats]]:
        """The pairs (W_i, b_i) without padding."""
        shapes = zip(self.widths[1:], self.widths[:-1], strict=True)
        return [(self.weights[i, :r, :s], self.bias[i, :r]) for i, (r, s) in enumerate(shapes)]


@dataclass(frozen=True)
class QuadraticRun:
    """What became of a run.

    Attributes:
        converged: the first checked step with accuracy 1, or None.
        accuracy: at the last check; 0 for outputs that are no numbers.
        best: the largest accuracy of all checks.
    """

    converged: int | None
    accuracy: float
    best: float


def initial_quadratic(
    n: int, widths: Sequence[int], rng: np.random.Generator, *, output_bias: bool = True
) -> QuadraticLayers:
    """A network with all parameters uniform in +-1/sqrt(fan-in), as frameworks have it.

    Args:
        n: the number of inputs.
        widths: r_1, ..., r_(L-1), at least one.
        rng: of the parameters, layer by layer, weights before biases.
        output_bias: whether there is an output bias; else it is 0 and stays so.

    Raises:
        ValueError: for sizes below 1 or no hidden layer.
    """
    if n < 1 or not widths or min(widths) < 1:
        raise ValueError(f"A network needs an input and hidden layers of width 1 or more, not n = {n} and {widths}.")
    sizes = (n, *widths)
    width = max(widths)
    W, b = np.zeros((len(widths), width, max(sizes[:-1]))), np.zeros((len(widths), width))
    for i, (r, s) in enumerate(zip(sizes[1:], sizes[:-1], strict=True)):
        W[i, :r, :s] = rng.uniform(-1, 1, size=(r, s)) / math.sqrt(s)
        b[i, :r] = rng.uniform(-1, 1, size=r) / math.sqrt(s)
    u = np.zeros(width)
    u[: sizes[-1]] = rng.uniform(-1, 1, size=sizes[-1]) / math.sqrt(sizes[-1])
    c = rng.uniform(-1, 1, size=1) / math.sqrt(sizes[-1]) * output_bias
    return QuadraticLayers(W, b, u, c, sizes, output_bias)


def train_quadratic(
    network: QuadraticLayers,
    k: int,
    steps: int,
    rng: np.random.Generator,
    *,
    batch: int = 32,
    rate: float = 0.01,
    check_every: int = 1000,
    held_out: int = 8192,
) -> QuadraticRun:
    """Train a network in place until its accuracy is 1 at a check, or for so many steps.

    Args:
        network: changed in place.
        k: the parity is that of the first k inputs.
        steps: at most so many.
        rng: of the held-out samples and then of the seed of the batches.
        batch: B.
        rate: eta.
        check_every: steps between two checks.
        held_out: the size of the sample of the accuracy; with at most 12 inputs all 2^n are taken in its place.

    Raises:
        ValueError: unless 1 <= k <= n <= 63, the counts are at least 1 and the rate is positive and finite.
    """
    n = network.widths[0]
    if not 1 <= k <= n <= _BITS:
        raise ValueError(f"A parity of k of n inputs needs 1 <= k <= n <= {_BITS} here, not k = {k} and n = {n}.")
    if min(steps, batch, check_every, held_out) < 1 or not 0 < rate < math.inf:
        raise ValueError("steps, batch, check_every and held_out must be at least 1, and the rate positive and finite.")
    words = np.arange(2**n, dtype=np.uint64) if n <= _ALL else rng.integers(0, 2**n, size=held_out, dtype=np.uint64)
    seed = np.array([rng.integers(0, 2**64, dtype=np.uint64)], dtype=np.uint64)
    sizes = np.array(network.widths)
    best = accuracy = 0.0
    for done in range(0, steps, check_every):
        count = min(check_every, steps - done)
        _descend(
            network.weights, network.bias, network.readout, network.output_bias, sizes, k, seed, count, batch, rate,
            network.learn_output_bias,
        )  # fmt: skip
        accuracy = quadratic_accuracy(network, k, words)
        best = max(best, accuracy)
        if accuracy == 1:
            return QuadraticRun(done + count, accuracy, best)
    return QuadraticRun(None, accuracy, best)


def quadratic_accuracy(network: QuadraticLayers, k: int, words: NDArray[np.uint64]) -> float:
    """The share of inputs at which the sign of f is the parity of the first k; f = 0 counts as an error.

    Args:
        network: of n inputs.
        k: the size of the parity.
        words: the inputs, bit i of a word for x_i = -1 where it is 1.
    """
    sizes = np.array(network.widths)
    right = _right(network.weights, network.bias, network.readout, network.output_bias, sizes, k, words)
    return float(right) / len(words)


@njit(cache=True, nogil=True)
def _forward(
    W: Floats, b: Floats, u: Floats, c: Floats, sizes: NDArray[np.int64], word: np.uint64, k: int, a: Floats, z: Floats
) -> tuple[float, float]:
    """The label and the output at one input; fills the pre-activations a and the activations z, z[0] = x."""
    y = 1.0
    for i in range(sizes[0]):
        sign = 1.0 - 2.0 * float((word >> np.uint64(i)) & np.uint64(1))
        z[0, i] = sign
        if i < k:
            y *= sign
    layers = len(sizes) - 1
    for h in range(layers):
        for r in range(sizes[h + 1]):
            total = b[h, r]
            for s in range(sizes[h]):
                total += W[h, r, s] * z[h, s]
            a[h, r] = total
            z[h + 1, r] = total * total
    f = c[0]
    for r in range(sizes[layers]):
        f += u[r] * z[layers, r]
    return y, f


@njit(cache=True, nogil=True)
def _right(
    W: Floats, b: Floats, u: Floats, c: Floats, sizes: NDArray[np.int64], k: int, words: NDArray[np.uint64]
) -> int:
    """The number of inputs with y f > 0."""
    width = max(W.shape[2], W.shape[1])
    a, z = np.zeros((len(sizes), width)), np.zeros((len(sizes), width))
    right = 0
    for word in words:
        y, f = _forward(W, b, u, c, sizes, word, k, a, z)
        if y * f > 0:
            right += 1
    return right


@njit(cache=True, nogil=True)
def _descend(
    W: Floats, b: Floats, u: Floats, c: Floats, sizes: NDArray[np.int64], k: int, state: NDArray[np.uint64],
    steps: int, batch: int, rate: float, learn_output_bias: bool,
) -> None:  # fmt: skip
    """So many steps on fresh batches, in place."""
    layers = len(sizes) - 1
    width = max(W.shape[2], W.shape[1])
    a, z = np.zeros((layers + 1, width)), np.zeros((layers + 1, width))
    back = np.zeros((layers + 1, width))
    dW, db, du = np.zeros(W.shape), np.zeros(b.shape), np.zeros(u.shape)
    for _ in range(steps):
        dW[:], db[:], du[:], dc = 0.0, 0.0, 0.0, 0.0
        for _ in range(batch):
            y, f = _forward(W, b, u, c, sizes, next_word(state), k, a, z)
            if not y * f < 1:
                continue
            dc -= y
            for r in range(sizes[layers]):
                du[r] -= y * z[layers, r]
                back[layers, r] = -y * u[r]  # the derivative in z_layers
            for h in range(layers - 1, -1, -1):
                for s in range(sizes[h]):
                    back[h, s] = 0.0
                for r in range(sizes[h + 1]):
                    delta = back[h + 1, r] * 2.0 * a[h, r]
                    db[h, r] += delta
                    for s in range(sizes[h]):
                        dW[h, r, s] += delta * z[h, s]
                        back[h, s] += delta * W[h, r, s]
        step = rate / batch
        W -= step * dW
        b -= step * db
        u -= step * du
        if learn_output_bias:
            c[0] -= step * dc
