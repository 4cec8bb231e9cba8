"""The named coordinates of the Turing-machine transformer, and the gadgets that write integer weights on them.

| block | size | holds |
|---|---|---|
| st | k + 1 | the state, one-hot; the last one is the extra state before step 0 |
| sym1, sym2 | A each | the symbol read, the symbol written, one-hot |
| pos1, pos2, pos3 | P each | the time, the head before the step, the head after it: binary, highest bit first |
| scr1, scr2 | A each | the symbol found by self-attention, by attention to the input |
| scr3 | P | the time of the last visit, as far as the binary search has got |
| scr4 | 3 | visited before? within the input? the next bit |
| q | 2 | the move: left, right |
| aux | max((k + 1) A, 2P, 3) | the pairs (state, symbol); carries and borrows; the choice of the symbol |

Source: turing, setup-C.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from constructions.networks.affine import Affine
from constructions.networks.decoder import DecoderAttention
from constructions.networks.feed_forward import FeedForward
from constructions.networks.stream import ResidualStream

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class TuringLayout:
    """The coordinates for k' states (the extra one included), A symbols and P position bits.

    Raises:
        ValueError: if one of the numbers is not positive.
    """

    states: int
    symbols: int
    bits: int

    @cached_property
    def stream(self) -> ResidualStream:
        """The residual stream; see the table at the head of this module."""
        k, A, P = self.states, self.symbols, self.bits
        sizes = {"st": k, "sym1": A, "sym2": A, "pos1": P, "pos2": P, "pos3": P, "scr1": A, "scr2": A, "scr3": P}
        return ResidualStream({**sizes, "scr4": 3, "q": 2, "aux": max(k * A, 2 * P, 3)})

    @property
    def width(self) -> int:
        """The width d of the stream, k' + 4A + 4P + 5 + max(k'A, 2P, 3)."""
        return self.stream.width

    def binary(self, number: int) -> Integers:
        """The last P binary digits of a number, most significant first: Bin(number) if it is below 2^P."""
        return np.array([number >> (self.bits - 1 - j) & 1 for j in range(self.bits)], dtype=np.int64)

    def vector(self, blocks: Mapping[str, ArrayLike]) -> Integers:
        """The vector with the given blocks, else 0."""
        return self.stream.rows(1, blocks)[0].astype(np.int64)

    def affine(
        self,
        blocks: Mapping[tuple[str, str], ArrayLike],
        bias: Mapping[str, ArrayLike] | None = None,
        copies: Iterable[str] = (),
    ) -> Affine:
        """The integer map that adds blocks[source, target] and the bias, and copies whole blocks; all else is 0."""
        matrix = self.stream.matrix(blocks).astype(np.int64)
        for name in copies:
            matrix[self.stream[name], self.stream[name]] += np.eye(self.stream.sizes[name], dtype=np.int64)
        return Affine(matrix, self.vector(bias or {}))

    def one(self, source: str, row: int, target: str, column: int) -> Integers:
        """The block with a single 1: coordinate ``row`` of the source goes to coordinate ``column`` of the target."""
        block = np.zeros((self.stream.sizes[source], self.stream.sizes[target]), dtype=np.int64)
        block[row, column] = 1
        return block

    def match(
        self,
        codes: Iterable[tuple[str, str, int]],
        value: Affine,
        guessed: str | None = None,
    ) -> DecoderAttention:
        """Attention to the tokens whose codes equal the query's; the null pair wins where none does.

        Query and keys are the +-1 codes 2 b - 1 of binary blocks, so that D matching digits score D and every wrong one
        costs 2; the null key scores D - 1.

        Args:
            codes: triples (block of the query, block of the key, n): their first n digits are compared.
            value: what the attended tokens add.
            guessed: if given, the digit of this block of the key that follows the last code must be 1.
        """
        pairs = list(codes)
        digits = sum(n for _, _, n in pairs) + (guessed is not None)
        query, key = (np.zeros((self.width, digits + 1), dtype=np.int64) for _ in range(2))
        column = 0
        for source, target, n in pairs:
            rows = np.arange(n)
            query[self.stream[source].start + rows, column + rows] = 2
            key[self.stream[target].start + rows, column + rows] = 2
            column += n
        query_bias, key_bias = (np.array([-1] * digits + [last], dtype=np.int64) for last in (1, 0))
        if guessed is not None:
            key[self.stream[guessed].start + pairs[-1][2], column] = 2
            query_bias[column] = 1
        null = np.array([0] * digits + [digits - 1], dtype=np.int64)
        nothing = np.zeros(self.width, dtype=np.int64)
        return DecoderAttention(Affine(query, query_bias), Affine(key, key_bias), value, null, nothing)

    def rounded(self, first: Affine, threshold: fmpq) -> FeedForward:
        """The three ReLU layers relu(z W + b) and the rounding of every coordinate; see `rounding_layers`."""
        return FeedForward((first, *rounding_layers(self.width, threshold)))


def rounding_layers(width: int, threshold: fmpq) -> tuple[Affine, Affine]:
    """Two ReLU layers that send x <= t to 0 and x >= 1 - t to 1, linearly in between: for t < 1/2, element by element.

    relu(s relu(x - t) - s relu(x - 1 + t)) with s = 1/(1 - 2t); of 1-norm 9 per coordinate for t = 1/3.

    Source: turing, proposition-3.4.
    """
    if not 0 < threshold < fmpq(1, 2):
        raise ValueError(f"The threshold of the rounding must lie between 0 and 1/2, not {threshold}.")
    slope = 1 / (1 - 2 * threshold)
    eye = np.eye(width, dtype=np.int64)
    down = eye.astype(object) * slope if slope.q != 1 else eye * int(slope.p)
    bias = np.array([-threshold] * width + [threshold - 1] * width, dtype=object)
    return (
        Affine(np.hstack([eye, eye]), bias),
        Affine(np.vstack([down, -down]), np.zeros(width, dtype=np.int64)),
    )
