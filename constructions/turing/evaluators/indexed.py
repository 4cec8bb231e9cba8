"""The indexed evaluator of a Turing-machine transformer: a query of hard attention costs O(log T), not O(T).

It runs the weights themselves (`lemmata.constructions.turing.evaluators.indexed_program` reads them off, in integers)
and answers every hard-max query from an index over the past keys, which is exact whenever it answers at all: a query
for which the index could be wrong, a tie, or a stream that leaves {0, 1} raises an error
(`lemmata.numerics.turing.index`). The work of a step is the number of nonzero weights that are no mere copies: O(P^2)
for P = O(log T) position bits, of which there are P + 3 queries of O(P) each. A long run goes on in machine code, which
is made from the same program (`lemmata.numerics.turing.translation`). A run keeps 5 bytes per step (4 for the previous
visit of the same cell, 1 for the symbol written) and 4 bytes for each cell visited.

Source: turing, construction-assembled, outline-4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.indexed_program import cross_index, indexed_program, refuse_encoding
from lemmata.constructions.turing.evaluators.memory import INDEX_LIMIT, index_memory, refuse_index
from lemmata.constructions.turing.evaluators.run import UNREADABLE, TransformerRun, Words, recording_layer
from lemmata.numerics.turing.index import CrossIndex, DecoderProgram, Fault, Readout, Records, TimeIndex, run_decoder
from lemmata.numerics.turing.translation import Translation, run_translated, translated

Ints = NDArray[np.int64]

TRANSLATED_FROM = 20_000
"""The time from which a run goes on in machine code: as many steps are interpreted while a program is translated."""

_REASONS = {
    Fault.MAP_NOT_BINARY: "its token-wise map puts out a number that is neither 0 nor 1",
    Fault.ATTENTION_NOT_BINARY: "its attention leaves a number that is neither 0 nor 1",
    Fault.NO_GAP: "a key that is no full match could win, so that the index cannot answer the query",
    Fault.TIE: "a full match and the null pair tie",
    Fault.TIME_CODE: "the stream does not hold the digits of the time, as the index needs",
    Fault.POSITION_NOT_FREE: "the positional encoding meets a coordinate that is not 0",
}


@dataclass(frozen=True, eq=False)
class IndexedSteps:
    """What n consecutive steps put out, one entry each; -1 where a block of the output is not one-hot.

    Attributes:
        states: z_i, shape (n,).
        symbols: a_i, the symbol under the head.
        heads: l_i, the code of the head's cell (`start_cell` of the transformer is the cell at the beginning).
        last_visits: i', as the binary search in the layers found it.
        written: u_i, the symbol that the step wrote, as later steps find it.
        cells: the code of the cell where it did.
        answers: the classifier at the output, F(o_i), times ``scale``.
        scale: a positive integer, 1 for a classifier of integers.
        trace: the streams of all layers, after their attention and after their map, shape (n, layers, 2, d); or n = 0.
    """

    states: NDArray[np.int16]
    symbols: NDArray[np.int16]
    heads: Ints
    last_visits: NDArray[np.int32]
    written: NDArray[np.int16]
    cells: Ints
    answers: Ints
    scale: int
    trace: NDArray[np.uint8]


@dataclass(eq=False)
class IndexedRun:
    """A run in progress, changed by `advance_indexed`.

    Attributes:
        transformer: the weights.
        program, cross: what the kernels run, read off the weights and the input.
        index: the past keys, by place.
        stream: the output of the last step without its positional encoding, shape (d,).
        time: the number of the next time step; step 0 reads the first symbol.
        walked: links of the index followed beyond the last visit of a place; 0 as long as all searches go as proved.
        translation: the program in machine code, once the run is long enough.
    """

    transformer: TuringTransformer
    program: DecoderProgram
    cross: CrossIndex
    index: TimeIndex
    stream: Ints
    time: int = 0
    walked: int = 0
    translation: Translation | None = None


def start_indexed(
    transformer: TuringTransformer, word: Sequence[int] = (), memory_limit: int = INDEX_LIMIT
) -> IndexedRun:
    """A run on an input word of symbol indices, before step 0.

    Raises:
        ValueError: for weights that the index cannot answer, a word that cannot be encoded, more memory than allowed,
            or 2^31 steps and more.
    """
    refuse_index(transformer.steps, transformer.layout, memory_limit)
    program = indexed_program(transformer)
    if not np.isin(transformer.start, (0, 1)).all():
        raise ValueError("The indexed evaluator needs the first input h_0 to consist of zeros and ones.")
    index = TimeIndex(
        last=np.zeros(2 ** len(program.place), np.int32),
        previous=np.zeros(transformer.steps + 2, np.int32),
        payload=_payload(len(program.payload), transformer.steps + 2),
    )
    return IndexedRun(transformer, program, cross_index(transformer, word), index, transformer.start.astype(np.int64))


def _payload(bits: int, steps: int) -> NDArray[np.uint8] | NDArray[np.uint64]:
    return np.zeros(steps, np.uint8) if bits <= 8 else np.zeros(steps, np.uint64)


def advance_indexed(run: IndexedRun, steps: int, halting: bool = False, trace: bool = False) -> IndexedSteps:
    """Run at most so many further time steps, until T, or with ``halting`` until the classifier's answer is not 0.

    Raises:
        ValueError: where the index cannot answer or the stream is no longer binary, with the time and the layer.
    """
    refuse_encoding(run.transformer, run.program.time.tolist(), run.time)
    count = max(0, min(steps, run.transformer.steps + 1 - run.time))
    stream, layers = run.transformer.layout.stream, run.transformer.layers
    blocks = (stream.directions(name).coordinates for name in ("st", "sym1", "pos2", "scr3", "sym2", "pos2"))
    records = Records(
        states=np.empty(count, np.int16),
        symbols=np.empty(count, np.int16),
        places=np.empty(count, np.int64),
        visits=np.zeros(count, np.int32),
        written=np.full(count, UNREADABLE, np.int16),
        cells=np.full(count, UNREADABLE, np.int64),
        answers=np.empty(count, np.int64),
        trace=np.empty((count if trace else 0, len(layers), 2, stream.width), np.uint8),
    )
    readout = Readout(*blocks, visit_layer=recording_layer(run.transformer))
    done, fault, layer, coordinate = _advance(run, readout, halting, records)
    if fault:
        where = "" if coordinate < 0 else f" (coordinate {coordinate}, block {stream.names([coordinate])[0]})"
        raise ValueError(f"Time {run.time}, layer {layers[layer].name}{where}: {_REASONS[Fault(fault)]}.")
    return IndexedSteps(
        states=records.states[:done],
        symbols=records.symbols[:done],
        heads=records.places[:done],
        last_visits=records.visits[:done],
        written=records.written[:done],
        cells=records.cells[:done],
        answers=records.answers[:done],
        scale=run.program.answer_scale,
        trace=records.trace[:done],
    )


def _advance(run: IndexedRun, readout: Readout, halting: bool, records: Records) -> tuple[int, int, int, int]:
    """The steps done, a fault, its layer and its coordinate; long runs go on in machine code."""
    done, count, traced = 0, len(records.states), len(records.trace) > 0
    while done < count:
        stop = count if traced else min(count, done + max(TRANSLATED_FROM - run.time, 0))
        if stop == done:
            run.translation = run.translation or _translation(run, readout)
            steps, walked, refused = run_translated(
                run.translation, run.cross, run.index, run.stream, run.time, halting, _part(records, done, count)
            )
            run.time, run.walked, done = run.time + steps, run.walked + walked, done + steps
            if not refused:
                break
            stop = done + 1  # the interpreter knows why
        steps, fault, layer, coordinate, walked = run_decoder(
            run.program, run.cross, run.index, readout, run.stream, run.time, halting, _part(records, done, stop)
        )
        run.time, run.walked, done = run.time + steps, run.walked + walked, done + steps
        if fault or done < stop or (halting and records.answers[done - 1]):
            return done, fault, layer, coordinate
    return done, 0, 0, -1


def _translation(run: IndexedRun, readout: Readout) -> Translation:
    return translated(run.program, readout, len(run.stream), 8 * run.index.payload.itemsize)


def _part(records: Records, start: int, stop: int) -> Records:
    """The records of the steps from start to stop, and the whole trace."""
    return Records(
        records.states[start:stop],
        records.symbols[start:stop],
        records.places[start:stop],
        records.visits[start:stop],
        records.written[start:stop],
        records.cells[start:stop],
        records.answers[start:stop],
        records.trace,
    )


def run_indexed(transformer: TuringTransformer, word: Sequence[int] = (), trace: bool = False) -> IndexedSteps:
    """All time steps 0, ..., T on one word; see `start_indexed` and `advance_indexed` for errors."""
    return advance_indexed(start_indexed(transformer, word), transformer.steps + 1, trace=trace)


def evaluate_indexed(transformer: TuringTransformer, words: Words, hidden: bool) -> TransformerRun:
    """The runs on B >= 1 words, one after the other; see `start_indexed` and `advance_indexed` for errors."""
    allowed = index_memory(transformer.steps, transformer.layout)  # `Evaluator.run` has refused what is too much
    parts = list[IndexedSteps]()
    for word in words:
        run = start_indexed(transformer, word, allowed)
        parts.append(advance_indexed(run, transformer.steps + 1, trace=hidden))
    exact = np.vectorize(lambda n: fmpq(int(n), parts[0].scale), otypes="O")
    answers = np.array([part.answers for part in parts])
    return TransformerRun(
        states=np.array([part.states for part in parts], np.int64),
        symbols=np.array([part.symbols for part in parts], np.int64),
        heads=np.array([part.heads for part in parts]),
        written=np.array([part.written for part in parts], np.int64),
        cells=np.array([part.cells for part in parts]),
        answers=answers if parts[0].scale == 1 else exact(answers),
        hidden=np.array([part.trace[:, :, 1] for part in parts]) if hidden else None,
        smallest_gap=np.nan,
    )
