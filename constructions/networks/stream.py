"""The residual stream: named blocks of coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.exact.systems import Array


@dataclass(frozen=True)
class ResidualStream:
    """Named blocks of coordinates of a residual stream, in order, with their sizes.

    Raises:
        ValueError: if a size is not a positive integer, or there is no block.
    """

    sizes: Mapping[str, int]

    def __post_init__(self) -> None:
        if not self.sizes or any(not isinstance(size, int | np.integer) or size < 1 for size in self.sizes.values()):
            raise ValueError(f"A residual stream needs blocks of integer sizes >= 1, not {dict(self.sizes)}.")

    @property
    def width(self) -> int:
        """The dimension d, the sum of the sizes."""
        return sum(self.sizes.values())

    def __getitem__(self, name: str) -> slice:
        """The coordinates of a block, as a slice."""
        if name not in self.sizes:
            raise ValueError(f"There is no block {name!r}; the blocks are {', '.join(self.sizes)}.")
        names = list(self.sizes)
        start = sum(self.sizes[other] for other in names[: names.index(name)])
        return slice(start, start + self.sizes[name])

    def matrix(self, blocks: Mapping[tuple[str, str], ArrayLike]) -> Array:
        """The (d, d) matrix that maps block ``source`` to block ``target`` by blocks[source, target], else 0."""
        result = np.zeros((self.width, self.width), dtype=object)
        for (source, target), block in blocks.items():
            result[self[source], self[target]] = block
        return result

    def rows(self, count: int, blocks: Mapping[str, ArrayLike]) -> Array:
        """``count`` vectors of the stream, shape (count, d): blocks[name] of shape (count, size), else 0."""
        result = np.zeros((count, self.width), dtype=object)
        for name, block in blocks.items():
            result[:, self[name]] = block
        return result

    def readout(self, outputs: int, blocks: Mapping[str, ArrayLike]) -> Array:
        """The (d, outputs) matrix that reads block ``name`` by blocks[name] of shape (size, outputs), else 0."""
        return self.rows(outputs, {name: np.asarray(block).T for name, block in blocks.items()}).T


Coordinates = NDArray[np.int64]


def block_names(stream: ResidualStream, coordinates: Iterable[Sequence[int] | NDArray[np.int64]]) -> tuple[str, ...]:
    """The names of the blocks that hold the coordinates, in the order of the stream."""
    used = np.unique(np.concatenate([np.asarray(part, dtype=np.int64) for part in coordinates]))
    ends = np.cumsum(list(stream.sizes.values()))
    numbers = np.unique(np.searchsorted(ends, used, side="right"))
    names = list(stream.sizes)
    return tuple(names[number] for number in numbers)
