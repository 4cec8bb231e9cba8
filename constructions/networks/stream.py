"""The residual stream: named blocks of coordinates, and directions that know the stream to which they belong.

A direction is a value: `stream.directions("pos1")` holds coordinates together with their stream, so that directions of
two streams cannot be joined, and a matrix from one stream into another says so (`ResidualStream.matrix`, ``into``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.systems import Array


@dataclass(frozen=True, eq=False)
class ResidualStream:
    """Named blocks of coordinates of a residual stream, in order, with their sizes; equal if these are equal.

    Raises:
        ValueError: if a size is not a positive integer, or there is no block.
    """

    sizes: Mapping[str, int]

    def __post_init__(self) -> None:
        if not self.sizes or any(not isinstance(size, int | np.integer) or size < 1 for size in self.sizes.values()):
            raise ValueError(f"A residual stream needs blocks of integer sizes >= 1, not {dict(self.sizes)}.")
        object.__setattr__(self, "sizes", MappingProxyType(dict(self.sizes)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResidualStream) and list(self.sizes.items()) == list(other.sizes.items())

    def __hash__(self) -> int:
        return hash(tuple(self.sizes.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return ResidualStream, (dict(self.sizes),)  # a read-only view cannot be pickled

    @cached_property
    def width(self) -> int:
        """The dimension d, the sum of the sizes."""
        return sum(self.sizes.values())

    def __getitem__(self, name: str) -> slice:
        """The coordinates of a block, as a slice."""
        if name not in self.sizes:
            raise ValueError(f"There is no block {name!r}; the blocks are {', '.join(self.sizes)}.")
        return self._slices[name]

    @cached_property
    def _slices(self) -> dict[str, slice]:
        ends = accumulate(self.sizes.values())
        return {name: slice(end - size, end) for (name, size), end in zip(self.sizes.items(), ends, strict=True)}

    def directions(self, *names: str) -> Directions:
        """The directions of the named blocks, one block after the other; of all blocks if none is named."""
        parts = [self[name] for name in names or self.sizes]
        return Directions(self, np.concatenate([np.arange(part.start, part.stop) for part in parts]))

    def names(self, coordinates: ArrayLike | Iterable[int]) -> tuple[str, ...]:
        """The names of the blocks that hold the coordinates, in the order of the stream."""
        ends = np.cumsum(list(self.sizes.values()))
        used = np.unique(np.asarray(coordinates, dtype=np.int64))
        names = list(self.sizes)
        return tuple(names[number] for number in np.unique(np.searchsorted(ends, used, side="right")))

    def matrix(
        self,
        blocks: Mapping[tuple[str, str], ArrayLike]
        | Mapping[tuple[Directions, Directions], ArrayLike]
        | Mapping[tuple[Place, Place], ArrayLike],
        into: ResidualStream | None = None,
    ) -> Array:
        """The (d, d') matrix that maps ``source`` to ``target`` by blocks[source, target], else 0.

        Args:
            blocks: arrays (size of source, size of target); sources and targets are names or directions, and what
                meets in one entry is added.
            into: the stream of the targets, of width d'; this one if None.

        Raises:
            ValueError: for directions of another stream, or names that do not exist.
        """
        target_stream = self if into is None else into
        result = np.zeros((self.width, target_stream.width), dtype=object)
        for (source, target), block in blocks.items():
            rows, columns = self._coordinates(source), target_stream._coordinates(target)
            result[np.ix_(rows, columns)] += np.broadcast_to(np.asarray(block), (len(rows), len(columns)))
        return result

    def rows(self, count: int, blocks: Mapping[str, ArrayLike] | Mapping[Directions, ArrayLike]) -> Array:
        """``count`` vectors of the stream, shape (count, d): blocks[part] of shape (count, size), else 0.

        Raises:
            ValueError: for directions of another stream, or names that do not exist.
        """
        result = np.zeros((count, self.width), dtype=object)
        for part, block in blocks.items():
            result[:, self._coordinates(part)] = block
        return result

    def readout(self, outputs: int, blocks: Mapping[str, ArrayLike]) -> Array:
        """The (d, outputs) matrix that reads block ``name`` by blocks[name] of shape (size, outputs), else 0."""
        return self.rows(outputs, {name: np.asarray(block).T for name, block in blocks.items()}).T

    def _coordinates(self, part: Place) -> NDArray[np.int64]:
        if isinstance(part, str):
            return np.arange(self.width)[self[part]]
        part.require(self)
        return part.coordinates.ravel()


@dataclass(frozen=True, eq=False)
class Directions:
    """Coordinates of one stream, in any shape; indexing selects, + joins.

    Attributes:
        stream: to which they belong.
        coordinates: integers 0, ..., d - 1, read-only.

    Raises:
        ValueError: if a coordinate lies outside the stream.
    """

    stream: ResidualStream
    coordinates: NDArray[np.int64]

    def __post_init__(self) -> None:
        coordinates = np.array(self.coordinates, dtype=np.int64)
        if coordinates.size and not (coordinates.min() >= 0 and coordinates.max() < self.stream.width):
            low, high = coordinates.min(), coordinates.max()
            raise ValueError(f"The coordinates {low}..{high} do not lie in a stream of width {self.stream.width}.")
        coordinates.flags.writeable = False
        object.__setattr__(self, "coordinates", coordinates)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the coordinates."""
        return self.coordinates.shape

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the blocks that hold them, in the order of the stream."""
        return self.stream.names(self.coordinates)

    @property
    def T(self) -> Directions:
        """The directions transposed."""
        return Directions(self.stream, self.coordinates.T)

    @staticmethod
    def stack(parts: Sequence[Directions], axis: int = 0) -> Directions:
        """Directions of one stream along a new axis, broadcast to one shape before.

        Raises:
            ValueError: if they belong to different streams, or have shapes that do not broadcast.
        """
        for part in parts:
            part.require(parts[0].stream)
        return Directions(
            parts[0].stream, np.stack(np.broadcast_arrays(*(part.coordinates for part in parts)), axis=axis)
        )

    def __len__(self) -> int:
        return len(self.coordinates)

    def __iter__(self) -> Iterator[Directions]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: Any) -> Directions:
        """The selected directions, as NumPy selects them."""
        return Directions(self.stream, np.asarray(self.coordinates[index]))

    def __add__(self, other: Directions) -> Directions:
        """Both one after the other, along the first axis.

        Raises:
            ValueError: if they belong to different streams.
        """
        other.require(self.stream)
        return Directions(self.stream, np.concatenate([self.coordinates, other.coordinates]))

    def reshape(self, *shape: int) -> Directions:
        """The same directions in another shape."""
        return Directions(self.stream, self.coordinates.reshape(shape))

    def broadcast(self, *shape: int) -> Directions:
        """The same directions as often as the shape needs them."""
        return Directions(self.stream, np.broadcast_to(self.coordinates, shape))

    def repeat(self, count: int) -> Directions:
        """Each entry of the first axis ``count`` times in a row."""
        return Directions(self.stream, np.repeat(self.coordinates, count, axis=0))

    def of(self, z: Array) -> Array:
        """The entries of stream vectors in these directions: shape (..., *shape) for z of shape (..., d).

        Raises:
            ValueError: if z has another width.
        """
        if z.shape[-1] != self.stream.width:
            raise ValueError(f"The vectors have {z.shape[-1]} coordinates, but the stream has {self.stream.width}.")
        return z[..., self.coordinates]

    def mask(self) -> NDArray[np.bool_]:
        """Which coordinates of the stream are among them, shape (d,)."""
        result = np.zeros(self.stream.width, dtype=bool)
        result[self.coordinates.ravel()] = True
        return result

    def require(self, stream: ResidualStream) -> None:
        """ValueError unless these directions belong to the stream."""
        if self.stream is not stream and self.stream != stream:
            mine, theirs = ", ".join(self.stream.sizes), ", ".join(stream.sizes)
            raise ValueError(f"These are directions of the stream ({mine}), but those of ({theirs}) are needed.")


Place = str | Directions
"""A part of a stream: the name of a block, or directions."""
