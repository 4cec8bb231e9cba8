"""The layers that all recurrent networks for token regression share: their streams, first layer and linear ends.

A network reads states (none, or a transition's own, or those of both directions of a read-out), and behind them an
encoded token with the blocks of `lemmata.numerics.tokens.encoding`. Hidden layers carry the sum of two states along as
its positive and its negative part.

Source: qstr, equations (C.3) to (C.9), proposition-26 and proposition-28.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import ActivationName, FeedForward
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, matrix_product
from lemmata.numerics.tokens.encoding import block_sizes
from lemmata.numerics.tokens.links import ReluLink

__all__ = [
    "Layout",
    "activations",
    "carried",
    "copy_map",
    "first_layer",
    "joined",
    "spread_map",
    "update_minus",
    "value_map",
    "with_link",
]

LARGEST = 4 * 10**6
"""The entries that the weights of a first layer may have."""


@dataclass(frozen=True)
class Layout:
    """The sizes d, q and d_e of the problem, and the names of the states that a network reads before the token."""

    dimension: int
    sparsity: int
    code_dimension: int
    states: tuple[str, ...]

    @staticmethod
    def of(dimension: int, sparsity: int, code_dimension: int, *states: str) -> Layout:
        """The layout with checked sizes.

        Raises:
            ValueError: for sizes that are no positive integers.
        """
        names = ("The dimension of tokens", "The sparsity q", "The dimension of the codes")
        given = zip(names, (dimension, sparsity, code_dimension), strict=True)
        d, q, n = (checked_integer(name, value, 1) for name, value in given)
        return Layout(d, q, n, states)

    @property
    def slots(self) -> int:
        """q d, the width of a state."""
        return self.sparsity * self.dimension

    @property
    def read(self) -> ResidualStream:
        """The input: states, then the encoded token."""
        blocks = block_sizes(self.dimension, self.sparsity, self.code_dimension)
        return ResidualStream(dict.fromkeys(self.states, self.slots) | blocks)

    def stream(self, blocks: Mapping[str, int], kept: bool) -> ResidualStream:
        """A hidden layer: its own blocks, and the kept sum of the states in its two parts, if any."""
        return ResidualStream(dict(blocks) | ({"kept+": self.slots, "kept-": self.slots} if kept else {}))

    def positions(self) -> list[str]:
        """The blocks of the q codes that are pointed to."""
        return [f"index_{number}" for number in range(1, self.sparsity + 1)]


def first_layer(layout: Layout, inner: FeedForward) -> tuple[Affine, ResidualStream]:
    """sigma(+-x), the hidden units of the inner products, and sigma(+-(sum of the states)) if there are read-outs."""
    kept = len(layout.states) == 2
    units = inner.layers[0]
    pairs = {f"pair_{l}": units.outputs for l in range(1, layout.sparsity + 1)}
    into = layout.stream({"x+": layout.dimension, "x-": layout.dimension} | pairs, kept)
    read = layout.read
    _require_size(read.width * into.width)
    eye, n = np.eye(layout.dimension, dtype=np.int64), layout.code_dimension
    blocks: dict[tuple[str, str], Any] = {("x", "x+"): eye, ("x", "x-"): -eye}
    for name, index in zip(pairs, layout.positions(), strict=True):
        blocks |= {("position", name): units.weight[:n], (index, name): units.weight[n:]}
    if kept:
        both = np.eye(layout.slots, dtype=np.int64)
        blocks |= {(state, f"kept{sign}"): both if sign == "+" else -both for state in layout.states for sign in "+-"}
    bias = into.rows(1, dict.fromkeys(pairs, units.offset[None]))[0]
    return Affine(as_exact(read.matrix(blocks, into)), as_exact(bias)), into


def value_map(layout: Layout, inner: FeedForward, before: ResidualStream) -> tuple[Affine, ResidualStream]:
    """The map A_1 of the first hidden layer to (x, the inner products, the sum of the states)."""
    kept = "kept+" in before.sizes
    into = ResidualStream(
        {"x": layout.dimension, "products": layout.sparsity} | ({"kept": layout.slots} if kept else {})
    )
    eye = np.eye(layout.dimension, dtype=np.int64)
    last = inner.layers[1]
    blocks: dict[tuple[str, str], Any] = {("x+", "x"): eye, ("x-", "x"): -eye}
    for l in range(layout.sparsity):
        blocks[f"pair_{l + 1}", "products"] = last.weight * np.eye(layout.sparsity, dtype=np.int64)[l]
    blocks |= carried(layout, before, {"kept": 1})
    constant = into.rows(1, {"products": np.broadcast_to(last.offset, (1, layout.sparsity))})[0]
    return Affine(as_exact(before.matrix(blocks, into)), as_exact(constant)), into


def carried(layout: Layout, before: ResidualStream, targets: Mapping[str, int]) -> dict[tuple[str, str], Any]:
    """The blocks that carry the sum of the states, times a number for each target; none if it is not there."""
    eye = np.eye(layout.slots, dtype=np.int64)
    if "kept+" in before.sizes:
        pairs = [("kept+", 1), ("kept-", -1)]
    elif "kept" in before.sizes:
        pairs = [("kept", 1)]
    else:
        return {}
    return {(source, target): sign * factor * eye for source, sign in pairs for target, factor in targets.items()}


def joined(first: Affine, second: Affine) -> Affine:
    """The composition of two affine maps, exact."""
    weight = matrix_product(as_exact(first.weight), as_exact(second.weight))
    bias = matrix_product(as_exact(first.offset)[None], as_exact(second.weight))[0] + as_exact(second.offset)
    return Affine(weight, bias)


def copy_map(layout: Layout) -> Array:
    """The map of x to its q copies, shape (d, q d)."""
    return np.tile(np.eye(layout.dimension, dtype=np.int64), (1, layout.sparsity))


def spread_map(layout: Layout) -> Array:
    """The map of one number for each slot to all coordinates of the slot, shape (q, q d)."""
    return np.repeat(np.eye(layout.sparsity, dtype=np.int64), layout.dimension, axis=1)


def update_minus(layout: Layout, before: ResidualStream) -> Affine:
    """The differences of the two parts of the update, plus the sum of the states where there is one."""
    eye = np.eye(layout.slots, dtype=np.int64)
    into = ResidualStream({"update": layout.slots})
    blocks: dict[tuple[str, str], Any] = {("update+", "update"): eye, ("update-", "update"): -eye}
    return Affine(as_exact(before.matrix(blocks | carried(layout, before, {"update": 1}), into)))


def _require_size(entries: int) -> None:
    if entries > LARGEST:
        raise ValueError(
            f"The first layer would have {entries:,} entries, not at most {LARGEST:,}: take codes of a smaller "
            "dimension, a larger error, or sign codes."
        )


def with_link(layout: Layout, layers: Sequence[Affine], link: ReluLink) -> FeedForward:
    """The layers with their last map followed by the link, its neurons balanced: W/c and c a, c = ceil(sqrt m)."""
    if (link.sparsity, link.dimension) != (layout.sparsity, layout.dimension):
        raise ValueError(
            f"The link takes {link.sparsity} tokens of dimension {link.dimension}, but the network holds "
            f"{layout.sparsity} of dimension {layout.dimension}."
        )
    balance = math.isqrt(link.width - 1) + 1
    weight = as_exact(link.weight.reshape(link.width, -1)).T / balance
    inner = Affine(weight, as_exact(link.bias) / balance)
    outer = Affine(as_exact(link.output)[:, None] * balance)
    return FeedForward((*layers[:-1], joined(layers[-1], inner), outer), activations=activations(len(layers) + 1))


def activations(count: int) -> tuple[ActivationName, ...]:
    """The ReLU after all of the layers but the last."""
    hidden: tuple[ActivationName, ...] = ("relu",) * (count - 1)
    return (*hidden, "identity")
