"""The memory that the evaluators of a Turing-machine transformer need, and the one place that refuses too much."""

from __future__ import annotations

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.layout import TuringLayout

MEMORY_LIMIT = 8 * 2**30
"""The bytes above which an evaluator that looks back at all steps refuses to begin, unless told otherwise."""

INDEX_LIMIT = 16 * 2**30
"""The same for the indexed evaluator."""

ENTRY_BYTES = 400
"""Of a nonzero entry of a key or a value, as a fraction in a dictionary: measured, rounded up."""

_MOST_INDEXED_STEPS = 2**31 - 1  # the index keeps times in 32 bits


def refuse_memory(needed: int, limit: int, steps: int, words: int, evaluator: str) -> None:
    """ValueError, saying how many bytes a run needs, if these are more than the limit."""
    if needed > limit:
        size = f"{needed / 2**30:.1f} GiB" if needed < 2**100 else f"more than 2^{needed.bit_length() - 31} GiB"
        batch = f" on {words} words" if words > 1 else ""
        raise ValueError(
            f"{steps} steps{batch} need {size} in the {evaluator} evaluator; {limit / 2**30:.1f} GiB are allowed: use "
            f"fewer steps{'' if evaluator == 'indexed' else ' or the indexed evaluator'}."
        )


def refuse_index(steps: int, layout: TuringLayout, limit: int = INDEX_LIMIT) -> None:
    """ValueError if the index of so many steps does not fit; needs no weights."""
    refuse_memory(index_memory(steps, layout), limit, steps, 1, "indexed")
    if steps >= _MOST_INDEXED_STEPS:
        raise ValueError(f"The indexed evaluator runs fewer than {_MOST_INDEXED_STEPS} steps, not {steps}.")


def dense_memory(transformer: TuringTransformer, words: int, hidden: bool) -> int:
    """The bytes of keys and values of all steps, outputs, and all hidden layers, in float64."""
    heads = [layer.self_attention for layer in transformer.layers if layer.self_attention is not None]
    layout = transformer.layout
    per_step = sum(head.key_dimension + head.outputs for head in heads) + layout.width + layout.symbols + layout.bits
    per_step += transformer.layout.width * len(transformer.layers) if hidden else 0
    read = sum(int(head.key.read_mask().sum()) for head in heads)  # bits, for ties
    return words * (transformer.steps + 1) * (8 * per_step + read)


def exact_memory(transformer: TuringTransformer, words: int, hidden: bool) -> int:
    """About the bytes of all outputs, and of a key and a value of one word for every step and head."""
    layout, times = transformer.layout, transformer.steps + 1
    outputs = 8 * words * times * (layout.symbols + layout.bits)
    outputs += 8 * words * times * layout.width * (1 + (len(transformer.layers) if hidden else 0))
    return outputs + ENTRY_BYTES * times * (layout.bits + 2) * (4 * layout.bits + 4)


def indexed_memory(transformer: TuringTransformer, words: int, hidden: bool) -> int:
    """The bytes of the index and the records of one run, of the results of all, and of all hidden layers."""
    streams = len(transformer.layers) * transformer.layout.width if hidden else 0
    per_step = 34 + 2 * streams + words * (48 + streams)
    return index_memory(transformer.steps, transformer.layout) + (transformer.steps + 1) * per_step


def index_memory(steps: int, layout: TuringLayout) -> int:
    """The bytes of the index of a run at most: per step, and one entry for every cell that has a code.

    Memory that is never written is not taken: cells that the head does not visit count here, but cost nothing.
    """
    payload = 1 if layout.symbols <= 8 else 8
    return (steps + 2) * (4 + payload) + 4 * 2**layout.bits
