"""Certified losses of a trained induction head: all sequences one by one, or a compact proof by classes.

`enumerate_losses` runs the tables of the model (`tables`) on all 2^t sequences in interval arithmetic. `bound_losses`
proves a bound at a cost that is polynomial in t: sequences are sorted by their numbers of steps of every kind and their
last symbols, and the output and its mean are bounded on each class by dynamic programming. `PROOF.md` has the argument.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.certificates.induction.cells import Cells, Judgement, Start, judge
from lemmata.certificates.induction.intervals import EXP_RANGE, EXP_TABLE, as_intervals, lower_end, upper_end
from lemmata.certificates.induction.kernels import all_outputs, window_counts
from lemmata.certificates.induction.layers import layers_for
from lemmata.certificates.induction.moments import class_means
from lemmata.certificates.induction.tables import CircuitTables, tables_for
from lemmata.certificates.induction.windows import Known, ones_before, sum_of_ratios
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
    "refine_losses",
    "sequence_cells",
]

FloatArray = NDArray[np.float64]

MOST_SEQUENCES = 20
"""The largest t for which all sequences are run."""
LONGEST = 62
"""The largest t of a compact proof: numbers of sequences are 64-bit integers."""
WIDEST = 10
REFINEMENTS = ((2, 1), (3, 4), (4, 8))
"""Window and blocks of one try after the other."""
CLOSE = 1 / 5
"""How well the excess over Bayes shall be known: half of the interval, as a share of its middle."""
BITS = 128


@dataclass(frozen=True)
class LossCertificate:
    """Proven bounds on a model at the last of t positions, with what the proof cost.

    Attributes:
        t: the number of symbols before the prediction.
        method: "sequences" or "classes".
        window: the number of last symbols that a compact proof knows at every position; t if all sequences were run.
        grid: the number of output values that a compact proof tries; 0 if all sequences were run.
        blocks: the number of parts in which a compact proof takes the symbols before the window of the last token.
        proved: the bounds.
        cells: the number of sequences, or of classes.
        operations: how often the inner loop runs: scores of layer 2, or steps of the dynamic programme.
        seconds: by the clock.
    """

    t: int
    method: str
    window: int
    grid: int
    blocks: int
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
    return LossCertificate(t, "sequences", t, 0, 1, judge(cells), 2**t, t * 2**t, time.perf_counter() - begun)


def bound_losses(
    model: Transformer | CircuitTables,
    t: int,
    window: int = 3,
    grid: int = 32,
    blocks: int = 1,
    start: Start = "stationary",
) -> LossCertificate:
    """The loss of one or two layers of attention over two symbols, bounded by classes of sequences.

    Args:
        model: as `lemmata.certificates.induction.layers.layers_for` takes it.
        t: from window + 1 to 62.
        window: how many of the last symbols are known at every token, from 2 to 10; the cost is about 4^window t^3.
        grid: the number of output values that are tried, at least 2.
        blocks: into how many parts the numbers of symbols 2 before the window of the last token are divided, at least
            1; the cost is proportional.
        start: the law of the first symbol.

    Raises:
        ValueError: for other arguments; as `layers_for`.
    """
    begun = time.perf_counter()
    cells = class_cells(model, t, window, grid, blocks)
    inner = sum(2 ** min(j, window - 1) * 2 * (j * (j + 1) // 2) for j in range(1, t))
    heads = 1 if isinstance(model, CircuitTables) else len(model.layers[-1].heads)
    operations = heads * min(blocks, t - window + 1) * (2 * grid + 2) * 2**window * inner
    proved = judge(cells, start)
    return LossCertificate(
        t, "classes", window, grid, blocks, proved, len(cells.count), operations, time.perf_counter() - begun
    )


def refine_losses(
    model: Transformer | CircuitTables, t: int, grid: int = 32, start: Start = "stationary"
) -> LossCertificate:
    """The same, by wider windows and more blocks until the excess over Bayes is known to within a fifth of its middle.

    There are three tries at most, and no further one where the last shortened the interval by less than a tenth: then
    what is not known are the means of layer 1, of which a wider window tells little.

    Args:
        model, grid, start: as for `bound_losses`.
        t: from 3 to 62.

    Raises:
        ValueError: as `bound_losses`.
    """
    (window, blocks), *others = REFINEMENTS
    found = bound_losses(model, t, window, grid, blocks, start)
    for window, blocks in others:
        low, high = found.proved.gap
        if (high - low) / 2 <= CLOSE * (high + low) / 2 or window >= t:
            break
        found = bound_losses(model, t, window, grid, blocks, start)
        if found.proved.gap[1] - found.proved.gap[0] > 0.9 * (high - low):
            break
    return found


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


def class_cells(model: Transformer | CircuitTables, t: int, window: int = 3, grid: int = 32, blocks: int = 1) -> Cells:
    """One cell for each class of sequences; arguments and errors as for `bound_losses`."""
    window = checked_integer("The window", window, 2)
    t, grid = checked_integer("The number of symbols t", t, 1), checked_integer("The grid", grid, 2)
    blocks = checked_integer("The number of blocks", blocks, 1)
    if window > WIDEST or not window < t <= LONGEST:
        raise ValueError(
            f"A compact proof needs 2 <= window <= {WIDEST} and window < t <= {LONGEST}, not {window}, {t}."
        )
    layers = layers_for(model, t)
    known = Known.of(layers, window)
    columns: list[tuple[NDArray[Any], ...]] = []
    for final in range(2**window):
        count, ones = window_counts(t, window, final), ones_before(t, window, final)
        last = final & 1
        for first, end in pairwise(np.linspace(0, t - window + 1, blocks + 1).astype(int).tolist()):
            if first == end:
                continue
            inside = np.where((first <= ones) & (ones < end), count, 0)
            heads = known.terms(final, first, end)
            low, high = sum_of_ratios(t, window, final, grid, heads)
            around = known.direct[final, np.clip(ones, 0, t - window)]
            outputs = np.stack([lower_end(low + around[..., 0]), upper_end(high + around[..., 1])], axis=-1)
            means, squares = class_means(t, window, final, heads, around, inside, outputs)
            stays, changes = some = np.nonzero(inside)
            begin = np.where((changes % 2 == 0), last, 1 - last)
            rows = begin + 1, np.full(len(stays), final), stays, changes
            columns.append((*rows, *(part[some] for part in (inside, outputs, means, squares))))
    return Cells(t, *(np.concatenate(column) for column in zip(*columns, strict=True)))


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
