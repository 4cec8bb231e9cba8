"""Full-batch gradient descent on one-hidden-layer homogeneous networks.

The model is f(x) = sum_i (u_i . x)^k w_i; the objective is the mean cross-entropy plus penalty * ||theta||^nu with
||theta||_{2,nu}^nu = sum_i ||(u_i, w_i)||_2^nu and nu = k + 1. Gradients are written out; the tests compare them with
automatic differentiation.

Source: feature-emergence, experiments D.2 (with the power r = nu).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.functions.powers import integer_power

__all__ = ["Descent", "descend", "doubling_rate", "objective_and_gradient"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Descent:
    """The end of a run: weights ``hidden`` (m, D), ``readout`` (m, L), last objective, and what was recorded."""

    hidden: Floats
    readout: Floats
    objective: float
    records: tuple[Any, ...]


def doubling_rate(initial: float, doublings: Sequence[int]) -> Callable[[int], float]:
    """The learning rate that starts at ``initial`` and doubles at each of the given (sorted) steps."""
    steps = sorted(doublings)
    return lambda step: initial * 2.0 ** bisect_right(steps, step)


def objective_and_gradient(
    inputs: Floats, labels: NDArray[np.int64], hidden: Floats, readout: Floats, degree: int, penalty: float
) -> tuple[float, Floats, Floats]:
    """The objective and its gradients with respect to ``hidden`` (m, D) and ``readout`` (m, L).

    ``inputs`` (N, D), ``labels`` (N,) in range(L). The cross-entropy is evaluated with the largest logit subtracted.
    """
    points = len(labels)
    pre = inputs @ hidden.T
    lower = integer_power(pre, degree - 1)
    power = lower * pre
    logits = power @ readout
    logits -= logits.max(axis=1, keepdims=True)
    shifted = logits[np.arange(points), labels].copy()
    exponentials = np.exp(logits)
    sums = exponentials.sum(axis=1)
    loss = float(np.mean(np.log(sums) - shifted))
    slope = exponentials / sums[:, None]
    slope[np.arange(points), labels] -= 1.0
    slope /= points
    squares = np.einsum("ij,ij->i", hidden, hidden) + np.einsum("ij,ij->i", readout, readout)
    nu = degree + 1
    loss += penalty * float(np.sum(squares ** (nu / 2)))
    shrink = penalty * nu * squares[:, None] ** ((nu - 2) / 2)
    grad_readout = power.T @ slope + shrink * readout
    grad_hidden = (slope @ readout.T * (degree * lower)).T @ inputs + shrink * hidden
    return loss, grad_hidden, grad_readout


def descend(
    inputs: Floats,
    labels: NDArray[np.int64],
    hidden: Floats,
    readout: Floats,
    degree: int,
    *,
    penalty: float,
    steps: int,
    rate: Callable[[int], float],
    record_every: int = 0,
    record: Callable[[int, Floats, Floats], Any] | None = None,
) -> Descent:
    """The end of ``steps`` steps of gradient descent from the given weights, which are not modified.

    ``record(step, hidden, readout)`` is called after every ``record_every`` steps; its results are returned.

    Raises:
        ValueError: for shapes that do not fit and for a run that diverges (naming the step).
    """
    if inputs.shape[1] != hidden.shape[1] or len(hidden) != len(readout) or len(inputs) != len(labels):
        raise ValueError(
            f"Shapes must be inputs (N, D), labels (N,), hidden (m, D), readout (m, L), but are {inputs.shape}, "
            f"{labels.shape}, {hidden.shape}, {readout.shape}."
        )
    hidden, readout = hidden.copy(), readout.copy()
    records: list[Any] = []
    objective = np.inf
    for step in range(steps):
        objective, grad_hidden, grad_readout = objective_and_gradient(inputs, labels, hidden, readout, degree, penalty)
        if not np.isfinite(objective):
            raise ValueError(f"The objective is not finite at step {step}: the learning rate is too large.")
        hidden -= rate(step) * grad_hidden
        readout -= rate(step) * grad_readout
        if record is not None and record_every and (step + 1) % record_every == 0:
            records.append(record(step + 1, hidden, readout))
    return Descent(hidden, readout, float(objective), tuple(records))
