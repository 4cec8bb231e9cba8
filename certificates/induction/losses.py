"""Certified losses of a trained induction head: all sequences one by one, or a compact proof by classes.

`enumerate_losses` runs the tables of the model (`tables`) on all 2^t sequences in interval arithmetic. `bound_losses`
proves a bound at a cost that is polynomial in t: sequences are sorted by their numbers of steps of every kind and their
last symbols, and the output and its mean are bounded on each class by dynamic programming. `PROOF.md` has the argument.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.certificates.induction.cells import Cells, Judgement, judge
from lemmata.certificates.induction.intervals import EXP_RANGE, EXP_TABLE, as_intervals, down, up
from lemmata.certificates.induction.kernels import (
    affine,
    all_outputs,
    extreme_ratios,
    token_terms,
    window_counts,
    window_masses,
)
from lemmata.certificates.induction.moments import class_means
from lemmata.certificates.induction.tables import CircuitTables, tables_for
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.precision import precision

__all__ = [
    "LONGEST",
    "MOST_SEQUENCES",
    "LossCertificate",
    "bound_losses",
    "class_cells",
    "enumerate_losses",
    "sequence_cells",
]

FloatArray = NDArray[np.float64]

MOST_SEQUENCES = 20
"""The largest t for which all sequences are run."""
LONGEST = 62
"""The largest t of a compact proof: numbers of sequences are 64-bit integers."""
WIDEST = 10
BITS = 128


@dataclass(frozen=True)
class LossCertificate:
    """Proven bounds on a model at the last of t positions, with what the proof cost.

    Attributes:
        t: the number of symbols before the prediction.
        method: "sequences" or "classes".
        window: the number of last symbols that a compact proof knows at every position; t if all sequences were run.
        grid: the number of output values that a compact proof tries; 0 if all sequences were run.
        proved: the bounds.
        cells: the number of sequences, or of classes.
        operations: how often the inner loop runs: scores of layer 2, or steps of the dynamic programme.
        seconds: by the clock.
    """

    t: int
    method: str
    window: int
    grid: int
    proved: Judgement
    cells: int
    operations: int
    seconds: float


def enumerate_losses(model: Transformer | CircuitTables, t: int) -> LossCertificate:
    """The loss of a two-layer attention-only model over two symbols, enclosed on all 2^t sequences.

    Args:
        model: as `circuit_tables` takes it, or its tables, changed or not.
        t: from 1 to 20.

    Raises:
        ValueError: for another t, or a model that `circuit_tables` refuses; for tables shorter than t; for scores of
            layer 2 that may exceed 60.
    """
    begun = time.perf_counter()
    cells = sequence_cells(model, t)
    return LossCertificate(t, "sequences", t, 0, judge(cells), 2**t, t * 2**t, time.perf_counter() - begun)


def bound_losses(model: Transformer | CircuitTables, t: int, window: int = 3, grid: int = 32) -> LossCertificate:
    """The loss of a two-layer attention-only model over two symbols, bounded by classes of sequences.

    Args:
        model: as for `enumerate_losses`.
        t: from window + 1 to 62.
        window: how many of the last symbols are known at every token, from 2 to 10; the cost is about 4^window t^3.
        grid: the number of output values that are tried, at least 2.

    Raises:
        ValueError: for other arguments, or as for `enumerate_losses`.
    """
    begun = time.perf_counter()
    cells = class_cells(model, t, window, grid)
    inner = sum(2 ** min(j, window - 1) * 2 * (j * (j + 1) // 2) for j in range(1, t))
    operations = (2 * grid + 2) * 2**window * inner
    return LossCertificate(
        t, "classes", window, grid, judge(cells), len(cells.count), operations, time.perf_counter() - begun
    )


def sequence_cells(model: Transformer | CircuitTables, t: int) -> Cells:
    """One cell for each of the 2^t sequences; arguments and errors as for `enumerate_losses`."""
    t = checked_integer("The number of symbols t", t, 1)
    if t > MOST_SEQUENCES:
        raise ValueError(f"All sequences are run for t <= {MOST_SEQUENCES}, not for t = {t}: use the compact proof.")
    parts = _intervals(model, t)
    return cells_of_sequences(t, all_outputs(t, *parts, EXP_TABLE))


def cells_of_sequences(t: int, outputs: FloatArray) -> Cells:
    """The cells of single sequences with enclosed differences of logits, shape (2^t, 2), in the order of numbers."""
    symbols = (np.arange(2**t)[:, None] >> np.arange(t - 1, -1, -1)) & 1
    earlier, later = symbols[:, :-1], symbols[:, 1:]
    return Cells(
        t,
        symbols[:, 0] + 1,
        np.arange(2**t),
        ((earlier == 0) & (later == 0)).sum(axis=1),
        (earlier != later).sum(axis=1),
        np.ones(2**t, dtype=np.int64),
        outputs,
    )


def class_cells(model: Transformer | CircuitTables, t: int, window: int = 3, grid: int = 32) -> Cells:
    """One cell for each class of sequences; arguments and errors as for `bound_losses`."""
    window = checked_integer("The window", window, 2)
    t, grid = checked_integer("The number of symbols t", t, 1), checked_integer("The grid", grid, 2)
    if window > WIDEST or not window < t <= LONGEST:
        raise ValueError(
            f"A compact proof needs 2 <= window <= {WIDEST} and window < t <= {LONGEST}, not {window}, {t}."
        )
    weights, pairs, steps, direct, copied = _intervals(model, t)
    masses = window_masses(t, window, weights)
    values = _value_grid(copied, grid)
    columns: list[tuple[NDArray[Any], ...]] = []
    for final in range(2**window):
        e, v = token_terms(t, window, final, masses, pairs, steps, copied, EXP_TABLE)
        ratios = extreme_ratios(t, window, final, values, e, v)
        count = window_counts(t, window, final)
        last = final & 1
        around = affine(direct[last], (masses[t - 1, final, 0], masses[t - 1, final, 1]))
        low, high = np.moveaxis(ratios, -1, 0)
        outputs = np.stack([down(low + around[0]), up(high + around[1])], axis=-1)
        means, squares = class_means(t, window, final, e, v, around, count, outputs)
        stays, changes = some = np.nonzero(count)
        first = np.where((changes % 2 == 0), last, 1 - last)
        rows = first + 1, np.full(len(stays), final), stays, changes
        columns.append((*rows, *(part[some] for part in (count, outputs, means, squares))))
    return Cells(t, *(np.concatenate(column) for column in zip(*columns, strict=True)))


def _value_grid(copied: FloatArray, grid: int) -> FloatArray:
    """Output values from below all that layer 2 copies to above them."""
    ends = [affine(copied[s], (m, m)) for s in range(2) for m in (0.0, 1.0)]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    margin = 1e-6 * (1 + abs(low) + abs(high))
    return np.linspace(low - margin, high + margin, grid)


def _intervals(
    model: Transformer | CircuitTables, t: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """The tables as intervals, exp(first) for first; common terms of the scores of layer 2 are left out.

    A softmax does not change if the scores of a token are all moved alike: by what depends on it alone.
    """
    tables = tables_for(model, t)
    with precision(BITS):
        first, steps = tables.first[:, :, :t], tables.steps[:, :t]
        weights = np.stack([_exponentials(row) for row in first])
        pairs = tables.pairs.copy()
        for s in range(2):
            pairs[s, :, 0] -= pairs[s, 0, 0]
            pairs[s, :, 1] -= pairs[s, 0, 1]
        largest = max(
            abs(pairs[s, other]).sum() + abs(steps[s, r]).sum()
            for s in range(2)
            for other in range(2)
            for r in range(t)
        )
    if not largest < EXP_RANGE:
        raise ValueError(
            f"The scores of layer 2 may be as large as {float(largest):.3g}; up to {EXP_RANGE} are handled."
        )
    parts = (weights, pairs, steps, tables.direct, tables.copied)
    weights, pairs, steps, direct, copied = (as_intervals(part) for part in parts)
    return weights, pairs, steps, direct, copied


def _exponentials(scores: NDArray[np.object_]) -> NDArray[np.object_]:
    """The exponentials of balls, divided by a common number so that the largest is about 1."""
    entries: Sequence[arb] = scores.ravel().tolist()
    shift = max(entry.mid() for entry in entries)
    result = np.array([(entry - shift).exp() for entry in entries], dtype=object)
    return result.reshape(scores.shape)
