"""Turing machines as transformers: compile, run in four evaluators, compare with the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import fmpq

from lemmata.constructions.turing.compiler import THIRD, TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.machine import (
    NAMED_MACHINES,
    LeftEnd,
    TuringMachine,
    machine_from_table,
    parse_machine,
)

if TYPE_CHECKING:
    from lemmata.constructions.turing.evaluators.run import TransformerRun
    from lemmata.constructions.turing.invariants import Violation
    from lemmata.numerics.turing.simulator import Run

__all__ = ["compile_machine", "machine", "reference_run", "run_machine", "violations"]

Word = str | Sequence[int]
Rules = Mapping[tuple[str, str], tuple[str, str, int | str]]


def machine(description: str | Rules | TuringMachine, **options: Any) -> TuringMachine:
    """The Turing machine of a name, of a text in the busy-beaver format, or of a table of rules.

        lm.machine("palindromes")        # or counter, bb2, bb3, bb4, bb5
        lm.machine("1RB1LB_1LA1RZ")      # the format of the busy-beaver community
        lm.machine({("s", a): ("yes" if a == "1" else "no", a, "R") for a in "_12"},
                   start="s", blank="_", accept=["yes"], reject=["no"])

    Args:
        description: one of these, or a machine, which is returned as it is. A table of rules maps (state, symbol) to
            (new state, written symbol, move), the move being -1, +1, "L" or "R".
        options: for a table of rules: start, blank, accept, reject, left_end, name; as for
            `lemmata.constructions.turing.machine.machine_from_table`.

    Raises:
        ValueError: naming what is wrong in the text or the table.
        TypeError: for options without a table of rules.
    """
    if isinstance(description, Mapping):
        return machine_from_table(description, **options)
    if options:
        raise TypeError(f"The options {', '.join(options)} belong to a table of rules, not to {description!r}.")
    if isinstance(description, TuringMachine):
        return description
    if description in NAMED_MACHINES:
        return NAMED_MACHINES[description]()
    try:
        return parse_machine(description)
    except ValueError as error:
        raise ValueError(f"{error} Nor is it one of the names {', '.join(NAMED_MACHINES)}.") from None


def compile_machine(
    description: str | TuringMachine,
    steps: int,
    *,
    max_length: int | None = None,
    bits: int | None = None,
    left_end: LeftEnd | None = None,
    threshold: fmpq = THIRD,
    wrap: bool = False,
) -> TuringTransformer:
    """The transformer that runs a Turing machine for so many time steps; its weights are exact.

        lm.compile_machine("bb4", steps=107)

    The same as `lemmata.constructions.turing.compiler.compile_turing_machine`, for anything that `machine` takes but a
    table.

    Args:
        description: a name, a text in the busy-beaver format, or a machine.
        steps: the number T >= 1 of time steps.
        max_length: the longest input; as long as the steps if None.
        bits: the number P of digits of a position; as many as are needed if None.
        left_end: what is left of the first cell: "refuse", "stay" or "two-way"; the rule of the machine if None.
        threshold: of the rounding in every layer, between 0 and 1/2.
        wrap: allow so few digits that positions repeat, as the text has it.

    Raises:
        ValueError: as for `machine`, and for a number of steps or an option that is out of range.
    """
    return compile_turing_machine(
        machine(description),
        steps,
        max_length=max_length,
        bits=bits,
        left_end=left_end,
        threshold=threshold,
        wrap=wrap,
    )


def run_machine(
    transformer: TuringTransformer,
    words: Word | Sequence[Word] = (),
    evaluator: Literal["dense", "exact", "indexed", "torch"] = "dense",
    *,
    hidden: bool = False,
    softmax: float | None = None,
) -> TransformerRun:
    """The run of a compiled machine, by its weights alone.

    Args:
        transformer: from `compile_machine`.
        words: one input word, or a sequence of words. A word is a string of one-letter symbols or a sequence of numbers
            of symbols; the empty word is the default.
        evaluator: "dense" (float64, all steps attend to all steps before), "exact" (rationals), "torch" (the module
            of `to_torch`), or "indexed" (the same weights, with an index of the steps by cell: long runs go on in
            machine code, in about a microsecond for each step or less).
        hidden: keep the outputs of all layers.
        softmax: sharpness (inverse temperature) of softmax attention in place of hard attention; "dense" and "torch".

    Returns:
        For a batch of B words, and with B = 1 for one word, a run with ``states``, ``symbols`` and ``heads``, shape
        (B, T + 1), ``predictions``, shape (B,), and ``hidden``, shape (B, T + 1, layers, width), or None.

    Raises:
        ValueError: for an unknown evaluator, softmax attention where it cannot be evaluated, symbols that the machine
            does not have, more memory than is allowed, and weights for which floats cannot tell whether scores of hard
            attention tie.
    """
    from lemmata.constructions.turing.evaluators.registry import EVALUATORS

    if evaluator not in EVALUATORS:
        raise ValueError(f"There is no evaluator {evaluator!r}: they are {', '.join(EVALUATORS)}.")
    weights = transformer if softmax is None else transformer.softened(softmax)
    return EVALUATORS[evaluator].run(weights, _encoded(transformer.machine, words), hidden=hidden)


def _encoded(machine: TuringMachine, words: Word | Sequence[Word]) -> list[tuple[int, ...]]:
    """The words as numbers of symbols; one word is a batch of one."""
    alone = isinstance(words, str) or all(isinstance(letter, int | np.integer) for letter in words)
    batch = [words] if alone else list(words)
    return [machine.encode(word) if isinstance(word, str) else tuple(word) for word in batch]  # type: ignore[arg-type]


def reference_run(transformer: TuringTransformer, word: Word = ()) -> Run:
    """The run of the machine by the reference simulator, on the tape for which the transformer was compiled.

    The same as `lemmata.constructions.turing.invariants.reference_run`, which knows no weights: ``states`` and
    ``heads`` have T + 1 entries, ``written`` and ``last_visit`` too, 0 standing for a cell that was never visited.

    Args:
        transformer: from `compile_machine`; the machine and the number T of steps are taken from it.
        word: a string of one-letter symbols or a sequence of numbers of symbols.
    """
    from lemmata.constructions.turing.invariants import reference_run as run  # Numba is slow to import

    return run(transformer, _encoded(transformer.machine, word)[0])


def violations(
    transformer: TuringTransformer, word: Word, hidden: Any, *, tolerance: float = 0.0, limit: int = 20
) -> list[Violation]:
    """The first entries of the layers of a run that are not what the proof says they are; empty if all is right.

    What they must be is computed by the simulator alone; the same as
    `lemmata.constructions.turing.invariants.violations`.

    Args:
        transformer: the machine as it was compiled.
        word: the input word.
        hidden: the outputs of all layers, shape (T + 1, layers, width): ``run.hidden[0]`` of `run_machine`.
        tolerance: how far an entry may be from 0 or 1; 0 for exact runs.
        limit: the number of violations after which the comparison ends.

    Returns:
        Violations with ``time``, ``layer``, ``block``, ``index``, ``expected`` and ``found``.
    """
    from lemmata.constructions.turing.invariants import violations as compare  # Numba is slow to import

    return compare(transformer, _encoded(transformer.machine, word)[0], hidden, tolerance=tolerance, limit=limit)
