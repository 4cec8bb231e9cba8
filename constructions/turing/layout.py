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

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import Directions, Place, ResidualStream

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

    def vector(self, blocks: Mapping[str, ArrayLike] | Mapping[Directions, ArrayLike]) -> Integers:
        """The vector with the given entries, by block or by directions, else 0."""
        return self.stream.rows(1, blocks)[0].astype(np.int64)

    def affine(
        self,
        blocks: Mapping[tuple[Place, Place], ArrayLike],
        bias: Mapping[str, ArrayLike] | Mapping[Directions, ArrayLike] | None = None,
        copies: Iterable[str] = (),
    ) -> Affine:
        """The integer map that adds blocks[source, target] and the bias, and copies whole blocks; all else is 0."""
        copied = [self.stream.directions(name) for name in copies]
        eyes = {(part, part): np.eye(len(part), dtype=np.int64) for part in copied}
        return Affine(self.stream.matrix({**blocks, **eyes}).astype(np.int64), self.vector(bias or {}))

    def match(
        self, compared: Iterable[tuple[Directions, Directions]], value: Affine, one: Directions | None = None
    ) -> Head:
        """Attention to the tokens whose digits equal the query's; the null pair, of value 0, wins where none does.

        Query and keys hold the digits b as the signs 2 b - 1. On a stream of bits D matching digits score D, every
        wrong one costs 2, and the null pair scores D - 1. So all scores are integers: they tie or differ by at least 1,
        which is the `gap` of the head.

        Args:
            compared: pairs (digits of the query, digits of the key), of equal lengths.
            value: what the attended tokens add.
            one: if given, a digit of the key that must be 1, whatever the query.
        """
        pairs = [pair for pair in compared if len(pair[0])]
        sizes = {f"digits {number}": len(mine) for number, (mine, _) in enumerate(pairs)}
        codes = ResidualStream({**sizes, **({} if one is None else {"one": 1}), "null": 1})
        signs = {codes.directions(name): pair for name, pair in zip(sizes, pairs, strict=True)}
        query = {(mine, code): 2 * np.eye(len(code), dtype=np.int64) for code, (mine, _) in signs.items()}
        key = {(theirs, code): 2 * np.eye(len(code), dtype=np.int64) for code, (_, theirs) in signs.items()}
        if one is not None:
            key[one, codes.directions("one")] = np.array([[2]])
        digits = codes.width - 1

        def mapped(blocks: Mapping[tuple[Directions, Directions], ArrayLike], bias: dict[str, int]) -> Affine:
            constants = dict.fromkeys(codes.sizes, -1) | bias
            weight = self.stream.matrix(blocks, into=codes)
            return Affine(weight.astype(np.int64), codes.rows(1, constants)[0].astype(np.int64))

        return Head(
            query=mapped(query, {"null": 1} if one is None else {"null": 1, "one": 1}),
            key=mapped(key, {"null": 0}),
            value=value,
            weigh="hardmax",
            null=(codes.rows(1, {"null": digits - 1})[0].astype(np.int64), np.zeros(self.width, dtype=np.int64)),
            gap=1,
        )


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
