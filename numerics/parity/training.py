"""SGD on small networks that learn a sparse parity: the runs behind training curves.

The label is the product of the first k of n signs. The networks are a two-layer MLP u . s(Wx + b) + c with s the ReLU
or a power, and a PolyNet prod_i (w_i . x + b_i); the loss is the hinge loss; step t is

    theta <- (1 - eta lambda) theta - eta grad

on B fresh samples, or on B of a fixed sample with replacement; weight decay spares the biases. The forward and backward
passes are written out in NumPy and float32, which at these sizes costs less than a framework does.

Source: hidden-progress, definition-GD, definition-MLP, section 5.3 and the experiments of appendix B.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.functions.powers import integer_power

__all__ = ["Network", "TrainingRun", "initial_network", "network_gradient", "network_output", "train_parity"]

Kind = Literal["relu", "power", "polynet"]
Initialization = Literal["uniform", "gaussian", "bernoulli", "sparse"]
Array = NDArray[np.float32]


@dataclass
class Network:
    """The parameters of a network: hidden W (r, n) and b (r,), readout u (r,) and c (1,) (unused by a PolyNet)."""

    kind: Kind
    degree: int
    hidden: Array
    bias: Array
    readout: Array
    output_bias: Array

    def parameters(self) -> tuple[Array, Array, Array, Array]:
        """The arrays W, b, u and c themselves."""
        return self.hidden, self.bias, self.readout, self.output_bias


@dataclass
class TrainingRun:
    """The records at the checked steps.

    Attributes:
        steps: the numbers of steps.
        accuracy: on the validation sample.
        loss: the mean hinge loss of the batches since the last check.
        train_accuracy: on the fixed sample; empty if samples are fresh.
        relevant_move: max over the relevant inputs of max_r |W - W(0)|.
        irrelevant_move: the same over the other inputs.
        converged: the first checked step with validation accuracy 1, or None.
    """

    steps: list[int] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    relevant_move: list[float] = field(default_factory=list)
    irrelevant_move: list[float] = field(default_factory=list)
    converged: int | None = None


def initial_network(
    n: int,
    k: int,
    width: int,
    rng: np.random.Generator,
    kind: Kind = "relu",
    init: Initialization = "uniform",
    ones: int = 2,
) -> Network:
    """A network with random weights, and biases uniform in +-1/sqrt(fan-in); a PolyNet has width k.

    The weights are uniform in +-1/sqrt(fan-in) as in PyTorch, Gaussian of variance 2/fan-in ("gaussian"), or random
    signs of size 1/sqrt(fan-in) ("bernoulli"). With "sparse" every hidden row has ``ones`` entries 1 at random places
    and else 0, and the readout is uniform (pareto-frontiers, experiment-sweep).

    Raises:
        ValueError: unless 1 <= k <= n, width >= 1, 1 <= ones <= n, and the kind and the initialization are known.
    """
    if not 1 <= k <= n or width < 1:
        raise ValueError(f"A parity of k of n inputs needs 1 <= k <= n and a width >= 1, not {k}, {n}, {width}.")
    if kind not in ("relu", "power", "polynet") or init not in get_args(Initialization):
        raise ValueError(
            f"The kinds are relu, power, polynet and the starts {', '.join(get_args(Initialization))}: {kind}, {init}."
        )
    if not 1 <= ones <= n:
        raise ValueError(f"A sparse row of {n} inputs has between 1 and {n} ones, not {ones}.")
    rows = k if kind == "polynet" else width

    def weights(shape: tuple[int, ...], fan_in: int) -> Array:
        bound = 1 / math.sqrt(fan_in)
        if init == "gaussian":
            return np.asarray(rng.normal(size=shape) * math.sqrt(2 / fan_in), dtype=np.float32)
        if init == "bernoulli":
            return (rng.choice([-bound, bound], size=shape)).astype(np.float32)
        return rng.uniform(-bound, bound, size=shape).astype(np.float32)

    def biases(count: int, fan_in: int) -> Array:
        return np.asarray(rng.uniform(-1, 1, size=count) / math.sqrt(fan_in), dtype=np.float32)

    hidden = _sparse_rows(rng, rows, n, ones) if init == "sparse" else weights((rows, n), n)
    return Network(kind, k, hidden, biases(rows, n), weights((rows,), rows), biases(1, rows))


def _sparse_rows(rng: np.random.Generator, rows: int, n: int, ones: int) -> Array:
    """Independent rows, each uniform among the vectors of zeros and ones with so many ones."""
    return (rng.permuted(np.tile(np.arange(n) < ones, (rows, 1)), axis=1)).astype(np.float32)


def network_output(network: Network, x: Array) -> Array:
    """The outputs f(x), shape (B,), for x of shape (B, n)."""
    z = x @ network.hidden.T + network.bias
    if network.kind == "polynet":
        return np.prod(z, axis=1, dtype=np.float32)
    s = np.maximum(z, 0) if network.kind == "relu" else integer_power(z, network.degree)
    return s @ network.readout + network.output_bias


def network_gradient(network: Network, x: Array, y: Array) -> tuple[float, tuple[Array, ...]]:
    """The mean hinge loss of a batch and its gradient in W, b, u and c; 0 at the kinks."""
    z = x @ network.hidden.T + network.bias
    if network.kind == "polynet":
        inner = np.stack(
            [np.prod(np.delete(z, i, axis=1), axis=1, dtype=np.float32) for i in range(z.shape[1])], axis=1
        )
        s, f = np.zeros_like(z), inner[:, 0] * z[:, 0]
    else:
        relu = network.kind == "relu"
        s = np.maximum(z, 0) if relu else integer_power(z, network.degree)
        slope = (
            (z > 0).astype(np.float32) if relu else np.float32(network.degree) * integer_power(z, network.degree - 1)
        )
        inner, f = slope * network.readout, s @ network.readout + network.output_bias
    slack = 1 - y * f
    d = np.where(slack > 0, -y, np.float32(0)) / np.float32(len(y))
    delta = inner * d[:, None]
    last = np.zeros_like(network.output_bias) if network.kind == "polynet" else d.sum(keepdims=True)
    gradient = (np.asarray(part, dtype=np.float32) for part in (delta.T @ x, delta.sum(axis=0), d @ s, last))
    return float(np.maximum(slack, 0).mean()), tuple(gradient)


def train_parity(
    network: Network,
    steps: int,
    batch: int,
    rate: float,
    rng: np.random.Generator,
    *,
    noise: float = 0.0,
    sample: int | None = None,
    decay: float = 0.0,
    check_every: int = 10,
    validation: int = 2**11,
    until_converged: bool = True,
) -> TrainingRun:
    """The course of training a network in place.

    Args:
        network: changed in place; the parity is that of its ``degree`` first inputs.
        steps: at most so many.
        batch: B.
        rate: eta.
        rng: of all samples; the validation sample is drawn first.
        noise: the probability that a training label is flipped (1/2 leaves no signal); validation labels are right.
        sample: the size of a fixed training sample, or None for fresh samples.
        decay: lambda.
        check_every: steps between two checks.
        validation: size of the validation sample.
        until_converged: whether to stop at the first check without an error.

    Raises:
        ValueError: for sizes below 1, a rate that is not positive, noise outside [0, 1/2], decay below 0, or any of
            them NaN or infinite.
    """
    _check_training(min(steps, batch, check_every, validation, sample or 1), sample, rate, noise, decay)
    draw = partial(_draw, rng, network.hidden.shape[1], network.degree)
    held, fixed = draw(validation, 0.0), None if sample is None else draw(sample, noise)
    start, run, recent = network.hidden.copy(), TrainingRun(), []
    for step in range(1, steps + 1):
        if fixed is None:
            x, y = draw(batch, noise)
        else:
            chosen = rng.integers(0, len(fixed[1]), size=batch)
            x, y = fixed[0][chosen], fixed[1][chosen]
        loss, gradient = network_gradient(network, x, y)
        recent.append(loss)
        _descend(network, gradient, rate, decay)
        if step % check_every and step < steps:
            continue
        _record(run, network, start, step, held, fixed, float(np.mean(recent)))
        recent = []
        if not math.isfinite(run.loss[-1]):
            break  # diverged
        if run.accuracy[-1] == 1.0 and run.converged is None:
            run.converged = step
            if until_converged:
                break
    return run


def _check_training(least: int, sample: int | None, rate: float, noise: float, decay: float) -> None:
    """Refuse what `train_parity` does not accept; ``least`` is the smallest of its counts."""
    if least < 1 or (sample is not None and sample < 1):
        raise ValueError("steps, batch, check_every, validation and sample must be at least 1.")
    if not 0 < rate < math.inf or not 0 <= noise <= 0.5 or not 0 <= decay < math.inf:
        raise ValueError(f"Give finite rate > 0, 0 <= noise <= 1/2, finite decay >= 0, not {rate}, {noise}, {decay}.")


def _draw(rng: np.random.Generator, n: int, k: int, count: int, flip: float) -> tuple[Array, Array]:
    """Random signs (count, n) and the parities of the first k, each flipped with a probability."""
    x = (rng.integers(0, 2, size=(count, n), dtype=np.int8) * 2 - 1).astype(np.float32)
    y = np.prod(x[:, :k], axis=1)
    return x, np.where(rng.random(count) < flip, -y, y) if flip else y


def _descend(network: Network, gradient: Iterable[Array], rate: float, decay: float) -> None:
    """Make one step of gradient descent in place; the decay shrinks W and u only."""
    for index, (parameter, g) in enumerate(zip(network.parameters(), gradient, strict=True)):
        shrink = decay if index in (0, 2) else 0.0
        parameter *= np.float32(1 - rate * shrink)
        parameter -= np.float32(rate) * g


def _record(
    run: TrainingRun,
    network: Network,
    start: Array,
    step: int,
    held: tuple[Array, Array],
    fixed: tuple[Array, Array] | None,
    loss: float,
) -> None:
    move = np.abs(network.hidden - start).max(axis=0)
    run.steps.append(step)
    run.loss.append(loss)
    run.accuracy.append(_accuracy(network, held))
    run.relevant_move.append(float(move[: network.degree].max()))
    run.irrelevant_move.append(float(move[network.degree :].max(initial=0.0)))
    if fixed is not None:
        run.train_accuracy.append(_accuracy(network, fixed))


def _accuracy(network: Network, labelled: tuple[Array, Array]) -> float:
    x, y = labelled
    return float(np.mean(network_output(network, x) * y > 0))
