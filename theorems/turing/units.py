"""The weights of a compiled layer read as a list of units: what each one reads, by name, with which weight and bias.

`form` counts digits from the lowest, so that the forms of layers with different numbers P of digits can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.theorems.turing.compiled_layers import layer_named

Place = tuple[str, int]
"""A coordinate: its block and the place in it, from 0; digits have the highest first."""
DIGITS = ("pos1", "pos2", "pos3", "scr3")
"""The blocks of P digits."""


@dataclass(frozen=True)
class Unit:
    """relu(sum of weight times bit + bias): the places that are read, with their weights, and the bias."""

    weights: Mapping[Place, int]
    bias: int

    def __call__(self, bits: Mapping[Place, int]) -> int:
        """The value of the unit where the places that are named hold the given bits, and all others 0."""
        return max(sum(weight * bits.get(place, 0) for place, weight in self.weights.items()) + self.bias, 0)


def places(layout: TuringLayout) -> list[Place]:
    """The names of all coordinates, in their order."""
    return [(block, r) for block, size in layout.stream.sizes.items() for r in range(size)]


def units(transformer: TuringTransformer, name: str) -> dict[Place, Unit]:
    """The units of the first ReLU layer of the named layer, by the place that they write; those that are 0 left out."""
    return _units(transformer.layout, layer_named(transformer, name).feed_forward.layers[0])


def _units(layout: TuringLayout, layer: Affine) -> dict[Place, Unit]:
    names = places(layout)
    found = {}
    for column, place in enumerate(names):
        reads = {names[row]: int(layer.weight[row, column]) for row in np.flatnonzero(layer.weight[:, column])}
        if reads or layer.bias[column]:
            found[place] = Unit(reads, int(layer.bias[column]))
    return found


def form(layout: TuringLayout, place: Place, unit: Unit, *, flips: bool = False) -> tuple:
    """A unit with all digits counted from the lowest: what it writes, what it reads with which weight, and its bias.

    With ``flips`` the block aux holds two bits for every digit, else it is left as it is.
    """

    def below(one: Place) -> Place:
        block, r = one
        P = layout.bits
        if block in DIGITS:
            return block, P - 1 - r
        return (f"aux {r // P}", P - 1 - r % P) if flips and block == "aux" else one

    return below(place), frozenset((below(source), weight) for source, weight in unit.weights.items()), unit.bias


def compared_digits(transformer: TuringTransformer, head: Head) -> tuple[list[tuple[Unit, Unit]], Unit, int, int]:
    """The coordinates of query and key one by one; the last ones, of the null pair; and its two numbers.

    Returns:
        (query, key) of every coordinate but the last, as sums before any ReLU; the query of the last one; the bias of
        the key there, which reads nothing; and the last entry of K_0, the others being 0.
    """
    names = places(transformer.layout)

    def column(part: Affine, c: int) -> Unit:
        reads = {names[row]: int(part.weight[row, c]) for row in np.flatnonzero(part.weight[:, c])}
        return Unit(reads, int(part.bias[c]))

    pairs = [(column(head.query, c), column(head.key, c)) for c in range(head.key_dimension)]
    last_query, last_key = pairs.pop()
    assert head.null is not None
    assert not last_key.weights
    assert not head.null_key[:-1].any()
    return pairs, last_query, last_key.bias, int(head.null_key[-1])
