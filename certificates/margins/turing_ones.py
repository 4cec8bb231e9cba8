"""How many ones the tokens of a compiled Turing machine hold, layer by layer and block by block.

`lemma_ones` states what lemmas C.1 to C.8 say of every machine, word and time; `measured_ones` counts on given words,
which gives fewer, since times and cells of a short run have few ones in their codes. The certificate of
`lemmata.certificates.margins.turing_direct` takes either.

Source: turing, lemma-C.1 to lemma-C.8, condition-D.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.registry import EXACT
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array

__all__ = ["BlockOnes", "TokenOnes", "lemma_ones", "measured_ones"]


@dataclass(frozen=True)
class BlockOnes:
    """At most how many ones some tokens hold.

    Attributes:
        blocks: in each block of the stream; blocks that are left out hold none.
        total: in the whole token.
    """

    blocks: Mapping[str, int]
    total: int

    @staticmethod
    def of(blocks: Mapping[str, int]) -> BlockOnes:
        """The bounds of the blocks, and their sum."""
        return BlockOnes(blocks, sum(blocks.values()))


@dataclass(frozen=True)
class TokenOnes:
    """Bounds of the ones of all tokens of a run.

    Attributes:
        read: of the tokens that each layer reads, at all times.
        written: of the tokens that each layer hands on.
        encoded: of the encoder's outputs.
    """

    read: tuple[BlockOnes, ...]
    written: tuple[BlockOnes, ...]
    encoded: BlockOnes


def lemma_ones(transformer: TuringTransformer) -> TokenOnes:
    """The bounds that hold for every machine, word and time: one for a one-hot block, P for a block of digits.

    At most 4 P + 3 in all for P >= 3, after the last layer of the binary search.

    Raises:
        ValueError: for a layer that no lemma describes.
    """
    P = transformer.layout.bits
    found = {"st": 1, "sym2": 1, "pos1": P, "pos2": P, "pos3": P}
    kept = {name: found[name] for name in ("st", "sym2", "pos1", "pos2")}
    chosen = {"st": 1, "pos3": P, "scr1": 1, "scr2": 1, "aux": 1}
    table: dict[str, dict[str, int]] = {
        "C.1a": {"aux": 1, "pos1": P, "pos2": P},
        "C.1b": {**kept, "q": 1},
        "C.2 end": {**kept, "q": 1, "aux": 1},
        "C.2 stay": {**kept, "q": 1},
        "C.2a": {**kept, "aux": P},  # carries if the move is right, borrows if it is left
        "C.2b": {**kept, "aux": P},  # one of the two halves of a digit
        "C.2c": found,
        "C.4": {**found, "scr4": 1},
        "C.5": {**found, "scr4": 1, "scr3": P},
        "C.6": {**found, "scr4": 1, "scr1": 1},
        "C.7": {**found, "scr4": 2, "scr1": 1, "scr2": 1},
        "C.8a": chosen,
        "C.8b": chosen,
        "C.8c": {"st": 1, "sym1": 1, "pos2": P},
    }
    names = ["C.5" if layer.name.startswith("C.5 bit ") else layer.name for layer in transformer.layers]
    if unknown := sorted(set(names) - set(table)):
        raise ValueError(f"No lemma says how many ones a token holds after the layer {unknown[0]!r}: count them.")
    written = [BlockOnes.of(table[name]) for name in names]
    first = BlockOnes.of({**written[-1].blocks, "pos1": P})  # o_(i-1) + beta(i), and h_0 + beta(0)
    return TokenOnes((first, *written[:-1]), tuple(written), BlockOnes.of({"sym1": 1, "pos1": P}))


def measured_ones(transformer: TuringTransformer, words: Sequence[Sequence[int]]) -> TokenOnes:
    """The largest counts on the runs on some words, by the exact evaluator.

    Raises:
        ValueError: without a word, or if a token is no vector of bits.
    """
    if not words:
        raise ValueError("Ones are counted on the runs on at least one word.")
    beta = np.array([transformer.beta(time) for time in range(transformer.steps + 1)])
    tokens: list[list[Array]] = [[] for _ in range(len(transformer.layers) + 1)]
    encoded = [np.zeros((1, transformer.layout.width))]
    for word in words:
        hidden = EXACT.run(transformer, [word], hidden=True).hidden
        assert hidden is not None
        outputs = to_float(hidden[0])
        first = np.vstack([transformer.start, outputs[:-1, -1]]) + beta
        for number, rows in enumerate((first, *outputs.swapaxes(0, 1))):
            tokens[number].append(rows)
        encoded.append(transformer.encode(word).astype(float))
    counted = [_counted(transformer, np.vstack(rows)) for rows in tokens]
    return TokenOnes(tuple(counted[:-1]), tuple(counted[1:]), _counted(transformer, np.vstack(encoded)))


def _counted(transformer: TuringTransformer, rows: Array) -> BlockOnes:
    if not np.isin(rows, (0.0, 1.0)).all():
        raise ValueError("The certificate needs tokens that are vectors of bits, and a run met another one.")
    stream = transformer.layout.stream
    blocks = {name: int(rows[:, stream[name]].sum(1).max()) for name in stream.sizes}
    return BlockOnes(blocks, int(rows.sum(1).max()))
