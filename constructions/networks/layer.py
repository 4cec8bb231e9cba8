"""What every layer of the shared vocabulary offers: its weights, their conversion, norms, and what it touches.

A layer, and a network of layers, is a frozen dataclass. Its weights are the NumPy arrays among its fields, also inside
of layers and tuples that its fields hold; numbers such as a sharpness, and coordinates held as `Directions`, are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Arithmetic, Array, number_system

Part = TypeVar("Part")


class Weights(Translated):
    """The base of all that has weights; see the docstring of this module."""

    def arrays(self) -> tuple[Array, ...]:
        """All weights, in the order of the fields."""
        return tuple(array for value in self._values() for array in _arrays(value))

    def map(self, convert: Callable[[Array], Array]) -> Self:
        """The same with every weight array converted, for instance by `as_exact`, `to_float` or `as_balls`."""
        return self.change(np.ndarray, convert)

    def to_float(self) -> Self:
        """The same in float64 (midpoints of balls)."""
        return self.map(to_float)

    def to_balls(self) -> Self:
        """The same in ball arithmetic, enclosed at the working precision (floats count as they are)."""
        return self.map(as_balls)

    def change(self, kind: type[Part], change: Callable[[Part], Part]) -> Self:
        """The same with every part of one kind changed, for instance every head, also inside of layers and tuples."""
        changes = {field.name: changed(getattr(self, field.name), kind, change) for field in fields(cast(Any, self))}
        return replace(cast(Any, self), **changes)

    @property
    def arithmetic(self) -> Arithmetic:
        """The widest number system among the weights."""
        return number_system(self.arrays())

    @property
    def one_norm(self) -> Any:
        """The sum of the absolute values of all weights, in their numbers."""
        return sum((abs(x) for array in self.arrays() for x in array.ravel().tolist()), start=0)

    @property
    def count(self) -> int:
        """The number of weights that are not zero."""
        return sum(int(np.count_nonzero(array != 0)) for array in self.arrays())

    def _values(self) -> Iterator[Any]:
        return (getattr(self, field.name) for field in fields(cast(Any, self)))


class Layer(Weights):
    """The base of all layers, and what tables say of them."""

    kind: ClassVar[str] = "layer"  # what tables call it

    def read_mask(self) -> Array:
        """Which coordinates of the stream reach a weight that is not zero, shape (d,), boolean; residuals left out."""
        raise NotImplementedError

    def write_mask(self) -> Array:
        """Which coordinates of the stream the layer writes, shape (d,), boolean; residuals left out."""
        raise NotImplementedError

    def reads(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that the layer reads, in the order of the stream."""
        return stream.names(np.flatnonzero(self.read_mask()))

    def writes(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that the layer writes, in the order of the stream."""
        return stream.names(np.flatnonzero(self.write_mask()))

    @property
    def head_count(self) -> int:
        """The number of heads, of attention or multiplication."""
        return 0

    @property
    def unit_count(self) -> int:
        """The number of hidden units of a token-wise map."""
        return 0

    def drop_mask(self) -> Array:
        """Which coordinates of the stream are 0 after the layer whatever they held, shape (d,), boolean."""
        return np.zeros_like(self.write_mask())  # a residual carries all of them on

    def drops(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks of which every coordinate is 0 after the layer, in the order of the stream."""
        dropped = self.drop_mask()
        return tuple(name for name in stream.sizes if dropped[stream[name]].all())


def changed(value: Any, kind: type[Part], change: Callable[[Part], Part]) -> Any:
    """The value with every part of one kind changed: the value itself, entries of tuples, fields of layers."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, Weights):
        return value.change(kind, change)
    return tuple(changed(part, kind, change) for part in value) if isinstance(value, tuple) else value


def _arrays(value: Any) -> Iterator[Array]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Weights):
        yield from value.arrays()
    elif isinstance(value, tuple):
        for part in value:
            yield from _arrays(part)
