"""Gradient descent on one-hidden-layer networks for the product in a group, on all pairs or on random batches.

The network is f(a, b)[c] = sum_i s(u_i(a) + v_i(b)) w_i(c), with the square or the ReLU for s; the objective is the
mean cross-entropy over all n^2 pairs plus a penalty,

    lambda sum_i ||(u_i, v_i, w_i)||_2^3 ("cubic", the L_{2,3} norm to the third power) or
    lambda sum_i ||(u_i, v_i, w_i)||_2^2 ("square", the L_2 norm to the second power).

One-hot inputs are never formed: all pairs are worked off in blocks of a few rows of the table, which stay in the cache,
and the entries of a batch are gathered. Numbers are of the dtype of the weights. The tests compare the gradients with
those of `lemmata.numerics.margins.descent` and with automatic differentiation.

Source: feature-emergence, experiments D.2.1 and D.2.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTIVATIONS", "PENALTIES", "Activation", "GroupWeights", "Penalty", "group_gradient", "train_on_group"]

Activation = Literal["square", "relu"]
Penalty = Literal["cubic", "square"]
ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)
PENALTIES: tuple[Penalty, ...] = get_args(Penalty)

ROWS = 3
"""Rows of the table in one block: at 71 elements and 500 neurons it takes about half a megabyte."""

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class GroupWeights:
    """The weights u, v and w of m neurons on n elements, each of shape (n, m), of one floating-point type.

    Raises:
        ValueError: for other shapes or types.
    """

    u: Floats
    v: Floats
    w: Floats

    def __post_init__(self) -> None:
        shapes = {part.shape for part in self.parts}
        types = {part.dtype for part in self.parts}
        if len(shapes) > 1 or self.u.ndim != 2 or len(types) > 1 or self.u.dtype.kind != "f":
            raise ValueError(
                f"u, v and w must be arrays of one shape (elements, neurons) and one floating-point type, not {shapes} "
                f"of {types}."
            )

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """u, v and w."""
        return self.u, self.v, self.w

    def squares(self) -> Floats:
        """||(u_i, v_i, w_i)||_2^2 for every neuron, shape (m,)."""
        return sum(np.einsum("ai,ai->i", part, part) for part in self.parts)  # type: ignore[return-value]

    def doubles(self) -> GroupWeights:
        """The same weights in double precision."""
        return GroupWeights(*(part.astype(float) for part in self.parts))


def group_gradient(
    weights: GroupWeights, table: NDArray[np.int64], activation: Activation, batch: NDArray[np.int64] | None = None
) -> tuple[float, GroupWeights]:
    """The mean cross-entropy over all pairs, or over a batch of pairs, and its gradient; no penalty.

    Args:
        weights: of the network, for n elements.
        table: the multiplication table, shape (n, n).
        activation: "square" or "relu".
        batch: pairs (a, b), shape (size, 2), repetitions allowed; all n^2 pairs without it.

    Raises:
        ValueError: if the table does not fit, or the activation is unknown.
    """
    n, _ = weights.u.shape
    if table.shape != (n, n) or activation not in ACTIVATIONS:
        raise ValueError(
            f"The table must have the shape ({n}, {n}) of the weights, not {table.shape}, and the activation be one of "
            f"{ACTIVATIONS}, not {activation!r}."
        )
    if batch is not None:
        return _batch_gradient(weights, table, activation, batch)
    u, v, w = weights.parts
    readout = np.ascontiguousarray(w.T)
    slopes = GroupWeights(np.empty_like(u), np.zeros_like(v), np.zeros_like(w))
    loss = 0.0
    for start in range(0, n, ROWS):
        rows = u[start : start + ROWS]
        pre = (rows[:, None, :] + v).reshape(len(rows) * n, -1)
        part, back, forward = _block(pre, table[start : start + ROWS].ravel(), w, readout, activation)
        loss += part
        slopes.w[...] += forward
        back = back.reshape(len(rows), n, -1)
        slopes.u[start : start + ROWS] = back.sum(axis=1)
        slopes.v[...] += back.sum(axis=0)
    for part in slopes.parts:
        part /= n * n
    return loss / n**2, slopes


def _batch_gradient(
    weights: GroupWeights, table: NDArray[np.int64], activation: Activation, batch: NDArray[np.int64]
) -> tuple[float, GroupWeights]:
    u, v, w = weights.parts
    first, second = batch.T
    pre = u[first] + v[second]
    loss, back, forward = _block(pre, table[first, second], w, np.ascontiguousarray(w.T), activation)
    slopes = GroupWeights(np.zeros_like(u), np.zeros_like(v), forward)
    for slope, places in ((slopes.u, first), (slopes.v, second)):
        order = np.argsort(places, kind="stable")
        present, starts = np.unique(places[order], return_index=True)
        slope[present] = np.add.reduceat(back[order], starts, axis=0)
    for part in slopes.parts:
        part /= len(batch)
    return loss / len(batch), slopes


def _block(
    pre: Floats, labels: NDArray[np.int64], w: Floats, readout: Floats, activation: Activation
) -> tuple[float, Floats, Floats]:
    """The summed cross-entropy of some pairs, and its slopes at their preactivations and at w."""
    hidden = np.maximum(pre, 0) if activation == "relu" else pre * pre
    logits = hidden @ readout
    logits -= logits.max(axis=1, keepdims=True)
    places = np.arange(len(labels))
    right = logits[places, labels].sum(dtype=float)
    np.exp(logits, out=logits)
    sums = logits.sum(axis=1)
    loss = float(np.log(sums).sum(dtype=float) - right)
    logits /= sums[:, None]
    logits[places, labels] -= 1
    back = logits @ w
    back *= pre > 0 if activation == "relu" else 2 * pre
    return loss, back, logits.T @ hidden


def train_on_group(
    weights: GroupWeights,
    table: NDArray[np.int64],
    activation: Activation,
    *,
    penalty: tuple[Penalty, float],
    rate: Callable[[int], float],
    steps: int,
    record: Callable[[int, GroupWeights], Any] | None = None,
    record_at: tuple[int, ...] = (),
    batch_size: int | None = None,
    random: np.random.Generator | None = None,
) -> tuple[GroupWeights, list[Any]]:
    """The weights after ``steps`` steps of gradient descent, and what was recorded.

    ``record(step, weights)`` is called before the steps of ``record_at`` (0 is the start) and, if it is named there,
    at the end. With a batch size every step draws its pairs from ``random``, independently and with repetition.

    Args:
        weights: the start; not modified.
        table: the multiplication table.
        activation: "square" or "relu".
        penalty: its kind, "cubic" or "square", and lambda.
        rate: the learning rate of a step.
        steps: how many.
        record: what is recorded.
        record_at: when.
        batch_size: the number of pairs of a step; all pairs without it.
        random: the source of batches.

    Raises:
        ValueError: for an unknown penalty, for a batch size without a source of batches, and for a run that diverges
            (naming the step).
    """
    kind, size = penalty
    if kind not in PENALTIES:
        raise ValueError(f"The penalty must be one of {PENALTIES}, not {kind!r}.")
    if batch_size is not None and random is None:
        raise ValueError("Batches need a random generator.")
    now = GroupWeights(*(part.copy() for part in weights.parts))
    single = now.u.dtype.type
    records: list[Any] = []
    for step in range(steps + 1):
        if record is not None and step in record_at:
            records.append(record(step, now))
        if step == steps:
            break
        batch = None
        if batch_size is not None and random is not None:
            batch = random.integers(len(table), size=(batch_size, 2))
        loss, slopes = group_gradient(now, table, activation, batch)
        if not np.isfinite(loss):
            raise ValueError(f"The loss is not finite at step {step}: the learning rate is too large.")
        shrink = single(2 * size) if kind == "square" else single(3 * size) * np.sqrt(now.squares())
        for part, slope in zip(now.parts, slopes.parts, strict=True):
            slope += shrink * part
            slope *= single(rate(step))
            part -= slope
    return now, records
