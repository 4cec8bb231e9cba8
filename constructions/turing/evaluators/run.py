"""What a run of the Turing-machine transformer returns, and how states, symbols and cells are read off its outputs.

Source: turing, setup-C.1, (C.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.turing.compiler import TuringTransformer
from constructions.turing.layout import Integers
from numerics.exact.systems import Array

UNREADABLE = -1

MEMORY_LIMIT = 8 * 2**30
"""The bytes above which an evaluator that looks back at all steps refuses to begin, unless told otherwise."""


def check_memory(needed: int, limit: int, steps: int, words: int, evaluator: str) -> None:
    """Refuse a run before it begins.

    Raises:
        ValueError: if it needs more bytes than the limit, saying how many.
    """
    if needed > limit:
        raise ValueError(
            f"{steps} steps on {words} words need {needed / 2**30:.1f} GiB in the {evaluator} evaluator; "
            f"{limit / 2**30:.1f} GiB are allowed: use fewer steps or the indexed evaluator."
        )


@dataclass(frozen=True, eq=False)
class TransformerRun:
    """The run on B words.

    Attributes:
        states, symbols, heads: the machine after each step 0, ..., T, shape (B, T + 1); -1 where the output is no code.
            The extra state does not occur in a run that is right.
        predictions: the classifier at time T, shape (B,): +1 accepts, -1 rejects, 0 has not halted.
        hidden: the outputs of all layers, shape (B, T + 1, layers, d), or None.
        smallest_gap: the least distance of the largest score from the next that does not tie, over all hard attentions
            (infinite if there was none); NaN if it was not recorded.
    """

    states: Integers
    symbols: Integers
    heads: Integers
    predictions: Array
    hidden: Array | None
    smallest_gap: Any


def decoded_run(transformer: TuringTransformer, outputs: Array, hidden: Array | None, gap: Any) -> TransformerRun:
    """The run with the decoder outputs o_0, ..., o_T of shape (B, T + 1, d), in any number system."""
    stream = transformer.layout.stream
    codes = _binary(outputs)
    readable = [_one_hot(codes[..., stream[name]]) for name in ("st", "sym1")]
    return TransformerRun(
        states=readable[0],
        symbols=readable[1],
        heads=_number(codes[..., stream["pos2"]]),
        predictions=outputs[:, -1] @ transformer.classifier,
        hidden=hidden,
        smallest_gap=gap,
    )


def _binary(outputs: Array) -> NDArray[np.int64]:
    """0 and 1 (within 10^-4, for float32), else -1."""
    values = outputs.astype(np.float64)
    near = np.rint(values)
    good = (np.abs(values - near) < 1e-4) & ((near == 0) | (near == 1))
    return np.where(good, near, UNREADABLE).astype(np.int64)


def _one_hot(codes: NDArray[np.int64]) -> Integers:
    good = (codes >= 0).all(axis=-1) & (codes.sum(axis=-1) == 1)
    return np.where(good, codes.argmax(axis=-1), UNREADABLE)


def _number(codes: NDArray[np.int64]) -> Integers:
    powers = 2 ** np.arange(codes.shape[-1])[::-1]
    return np.where((codes >= 0).all(axis=-1), codes @ powers, UNREADABLE)
