"""SGD on single sinusoidal neurons that learn a sparse parity: many runs side by side.

The neuron is f(x) = sin(scale (w.x + b) + shift), without a second layer; the label is the product of the first k of n
signs, flipped with a probability. As |f| <= 1 the hinge loss is 1 - y f, and a step on B fresh samples is

    w <- w + rate mean[y scale cos(scale (w.x + b) + shift) x],    b <- b + rate mean[y scale cos(...)].

With `parity_shift` the neuron is the parity itself at b = 0 and w = (pi/2) / scale on the relevant inputs, 0 elsewhere.

Source: hidden-progress, settings (x) and (xiv) of section 5.3, experiment-5.3, experiment-B.8-right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["NeuronCourses", "SinusoidalNeurons", "initial_neurons", "parity_shift", "train_neurons"]

Floats = NDArray[np.float64]


@dataclass
class SinusoidalNeurons:
    """R neurons on n inputs: weights (R, n), biases (R,), and the scale and shift that all share."""

    weights: Floats
    biases: Floats
    scale: float
    shift: float

    def phases(self, x: Floats) -> Floats:
        """The angles scale (w.x + b) + shift, shape (R, B), for x of shape (R, B, n), or (B, n) for all neurons."""
        z = np.matmul(x, self.weights[:, :, None])[:, :, 0] if x.ndim == 3 else (x @ self.weights.T).T
        return self.scale * (z + self.biases[:, None]) + self.shift

    def outputs(self, x: Floats) -> Floats:
        """The outputs f(x), shape (R, B), for x as in `phases`."""
        return np.sin(self.phases(x))


@dataclass
class NeuronCourses:
    """The records at the checks; each entry of a list has a value for each of the R runs, `steps` one for all.

    Attributes:
        steps: the numbers of steps, beginning with 0.
        loss: the mean loss of the batches since the last check (1 at step 0).
        accuracy: on the validation sample.
        least_relevant: min over the relevant inputs of |w|.
        largest_irrelevant: max over the other inputs of |w|.
        movement: the norm max_i |w_i - w_i(0)| over all inputs.
        converged: the first checked step with validation accuracy 1, or None.
    """

    steps: list[int] = field(default_factory=list)
    loss: list[Floats] = field(default_factory=list)
    accuracy: list[Floats] = field(default_factory=list)
    least_relevant: list[Floats] = field(default_factory=list)
    largest_irrelevant: list[Floats] = field(default_factory=list)
    movement: list[Floats] = field(default_factory=list)
    converged: list[int | None] = field(default_factory=list)


def parity_shift(k: int) -> float:
    """The shift with which sin(pi s/2 + shift) is the parity of k signs with sum s."""
    return -math.pi / 2 * ((k - 1) % 4)


def initial_neurons(
    runs: int, n: int, k: int, rng: np.random.Generator, scale: float = math.pi / 2
) -> SinusoidalNeurons:
    """Neurons with weights and biases uniform in +-1/sqrt(n), shifted for the parity of k inputs.

    Raises:
        ValueError: unless runs >= 1, 1 <= k <= n and the scale is finite and positive.
    """
    if runs < 1 or not 1 <= k <= n or not 0 < scale < math.inf:
        raise ValueError(f"Give runs >= 1, 1 <= k <= n and a finite scale > 0, not {runs}, {k}, {n}, {scale}.")
    weights, biases = rng.uniform(-1, 1, size=(runs, n)), rng.uniform(-1, 1, size=runs)
    return SinusoidalNeurons(weights / math.sqrt(n), biases / math.sqrt(n), scale, parity_shift(k))


def train_neurons(
    neurons: SinusoidalNeurons,
    k: int,
    rng: np.random.Generator,
    *,
    steps: int,
    batch: int,
    rate: float,
    noise: float = 0.0,
    check_every: int = 100,
    validation: int = 2**11,
) -> NeuronCourses:
    """The courses of training all neurons in place, each on samples of its own, until all have converged.

    Args:
        neurons: changed in place.
        k: the parity is that of the first k inputs.
        rng: of all samples; the validation sample, which all share, is drawn first.
        steps: at most so many.
        batch: B.
        rate: of w and b.
        noise: the probability that a training label is flipped (1/2 leaves no signal); validation labels are right.
        check_every: steps between two checks.
        validation: size of the validation sample.

    Raises:
        ValueError: for sizes below 1, k outside 1..n, a rate that is not finite and positive, or noise outside
            [0, 1/2].
    """
    runs, n = neurons.weights.shape
    if min(steps, batch, check_every, validation) < 1 or not 1 <= k <= n:
        raise ValueError("steps, batch, check_every and validation must be at least 1, and k between 1 and n.")
    if not 0 < rate < math.inf or not 0 <= noise <= 0.5:
        raise ValueError(f"Give a finite rate > 0 and 0 <= noise <= 1/2, not {rate} and {noise}.")
    held = _signs(rng, (validation, n))
    start, courses = neurons.weights.copy(), NeuronCourses(converged=[None] * runs)
    _record(courses, neurons, start, k, 0, np.ones(runs), held)
    recent = np.zeros(runs)
    for step in range(1, steps + 1):
        x = _signs(rng, (runs, batch, n))
        y = np.prod(x[:, :, :k], axis=2)
        if noise:
            y = np.where(rng.random(y.shape) < noise, -y, y)
        recent += _descend(neurons, x, y, rate)
        if step % check_every == 0 or step == steps:
            since = step - courses.steps[-1]
            _record(courses, neurons, start, k, step, recent / since, held)
            recent[:] = 0
            if None not in courses.converged:
                break
    return courses


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Independent random signs."""
    count = math.prod(shape)
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-count // 8)), dtype=np.uint8), count=count)
    return (2.0 * bits.astype(np.float64) - 1.0).reshape(shape)


def _descend(neurons: SinusoidalNeurons, x: Floats, y: Floats, rate: float) -> Floats:
    """Make one step in place; the mean loss of each run before it."""
    phases = neurons.phases(x)
    pull = y * np.cos(phases) * (rate * neurons.scale / x.shape[1])
    neurons.weights += np.matmul(pull[:, None, :], x)[:, 0, :]
    neurons.biases += pull.sum(axis=1)
    return np.asarray(1.0 - np.mean(y * np.sin(phases), axis=1), dtype=np.float64)


def _record(
    courses: NeuronCourses, neurons: SinusoidalNeurons, start: Floats, k: int, step: int, loss: Floats, held: Floats
) -> None:
    sizes = np.abs(neurons.weights)
    courses.steps.append(step)
    courses.loss.append(loss.copy())
    courses.accuracy.append(np.mean(neurons.outputs(held) * np.prod(held[:, :k], axis=1) > 0, axis=1))
    courses.least_relevant.append(sizes[:, :k].min(axis=1))
    courses.largest_irrelevant.append(sizes[:, k:].max(axis=1, initial=0.0))
    courses.movement.append(np.abs(neurons.weights - start).max(axis=1))
    for run in np.flatnonzero(courses.accuracy[-1] == 1.0):
        if courses.converged[run] is None:
            courses.converged[run] = step
