"""Stored forms: layers with so many zeros or repetitions that they are kept without their matrices.

Rows are tokens (row-vector convention, z W). Each form stands for a layer that `dense` gives, and computes the same
function, as the same sums in another order, of the same norm and count, with the same reads and writes:

    StoredAttention       an AttentionLayer of ReLU heads, z + sum_h relu(S^h) / T z W_V^h         (definition-7),
    StoredFeedForward     a FeedForward of one hidden layer, z + relu(z W_1) W_2                    (definition-8),
    StoredMultiplication  a Multiplication with entries 0 and 1                                     (definition-6).

The layers of `lemmata.constructions.descent.block` have thousands of ReLU heads in families that share one bilinear
form of the stream, B_is = <z_i[query], z_s[key]>, and the coordinates that they move, and differ by three numbers,

    head h:   S_is = slope_h B_is + offset_h z_i[one] z_s[one],     value = coefficient_h z_s[source] -> [target].

So a `HeadFamily` writes (1/T) sum_s f(B_is) z_s[source] with the sum of ReLUs f(t) = sum_h coefficient_h relu(slope_h t
+ offset_h), as long as the coordinate `one` holds 1.

Source: deep-icgd, definition-5 to definition-8; of definition-7 the vector form (its matrix form has queries and keys
    interchanged).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, ClassVar, cast

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.constructions.networks.stream import Directions, ResidualStream
from lemmata.numerics.exact.systems import Array, mixed_numbers
from lemmata.numerics.functions.activations import relu

_CHUNK = 2**20  # numbers of float64 that the scores of a chunk of heads may take


class Stored(Layer):
    """The base of stored forms: the directions among the fields belong to one stream, all other fields are weights."""

    def __post_init__(self) -> None:
        stream = self.stream
        for field in fields(cast(Any, self)):
            value = getattr(self, field.name)
            if isinstance(value, Directions):
                value.require(stream)
            else:
                object.__setattr__(self, field.name, np.asarray(value))

    @property
    def stream(self) -> ResidualStream:
        """The stream of all directions."""
        return next(value.stream for value in self._values() if isinstance(value, Directions))

    def _copy(self, z: Array) -> Array:
        if z.shape[-1] != self.stream.width:
            raise ValueError(f"The vectors have {z.shape[-1]} coordinates, but the stream has {self.stream.width}.")
        return np.array(z)


@dataclass(frozen=True, eq=False)
class HeadFamily(Stored):
    """H heads with the same bilinear form and the same value up to a factor; see the docstring of the module.

    Attributes:
        query: of the token that attends, shape (m,).
        key: of the token that is attended, shape (m,).
        one: the direction that holds the constant 1, shape (1,).
        source: what is read from the attended token, shape (q,).
        target: what is written, shape (q,).
        slopes, offsets, coefficients: shape (H,) each.

    Raises:
        ValueError: if the shapes do not fit, there is no head, or the directions belong to different streams.
    """

    query: Directions
    key: Directions
    one: Directions
    source: Directions
    target: Directions
    slopes: Array
    offsets: Array
    coefficients: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = {name: np.shape(getattr(self, name)) for name in ("slopes", "offsets", "coefficients")}
        if len(set(shapes.values())) > 1 or self.slopes.ndim != 1 or not len(self.slopes):
            raise ValueError(f"A family needs H >= 1 slopes, offsets and coefficients each, but has shapes {shapes}.")
        if self.query.shape != self.key.shape or self.source.shape != self.target.shape or self.one.shape != (1,):
            raise ValueError(
                "A family pairs its query with its key coordinates and its source with its target coordinates, and "
                f"has one constant, not {self.query.shape} and {self.key.shape}, {self.source.shape} and "
                f"{self.target.shape}, {self.one.shape} of them."
            )
        if len(set(self.target.coordinates.tolist())) < len(self.target):
            raise ValueError(f"The target coordinates of a family must differ, but are {self.target.coordinates}.")

    def __len__(self) -> int:
        return len(self.slopes)

    def head(self, number: int) -> Head:
        """Head ``number``, with key dimension m + 1, whose last component multiplies the constants."""
        d, m, numbers = self.stream.width, len(self.query), self.slopes.dtype
        query, key = np.zeros((d, m + 1), dtype=numbers), np.zeros((d, m + 1), dtype=numbers)
        value = np.zeros((d, d), dtype=numbers)
        query[self.query.coordinates, np.arange(m)] = self.slopes[number]
        query[self.one.coordinates, m] = self.offsets[number]
        key[(self.key + self.one).coordinates, np.arange(m + 1)] = 1
        value[self.source.coordinates, self.target.coordinates] = self.coefficients[number]
        return Head(Affine(query), Affine(key), Affine(value), weigh="relu", causal=False)

    def attention(self, z: Array) -> Array:
        """sum_h coefficient_h relu(S_is) of all heads together, shape (..., T, T)."""
        one = self.one.coordinates[0]
        form = np.matmul(z[..., self.query.coordinates], np.swapaxes(z[..., self.key.coordinates], -1, -2))
        ones = z[..., :, None, one] * z[..., None, :, one]
        step = max(1, _CHUNK // max(1, form.size)) if form.dtype == np.float64 else len(self)
        total: Any = 0
        for first in range(0, len(self), step):
            part = slice(first, first + step)
            scores = form[..., None] * self.slopes[part] + ones[..., None] * self.offsets[part]
            total = total + np.matmul(relu(scores), self.coefficients[part])
        return total

    def __call__(self, z: Array) -> Array:
        """What the heads add to the directions `target`, shape (..., T, q)."""
        return np.matmul(self.attention(z), z[..., self.source.coordinates]) / z.shape[-2]

    @property
    def one_norm(self) -> Any:
        """The sum of the absolute values of the entries of all matrices."""
        slopes, offsets, coefficients = (abs(part).sum() for part in self.arrays())
        m, q = len(self.query), len(self.source)
        return m * slopes + offsets + (m + 1) * len(self) + q * coefficients

    @property
    def count(self) -> int:
        """The number of entries of all matrices that are not zero."""
        return int(self.map(lambda numbers: (numbers != 0).astype(np.int64)).one_norm)

    def read_mask(self) -> Array:
        """The coordinates that reach a matrix entry that is not zero; those of a key always do."""
        result = (self.key + self.one).mask()
        for part, numbers in ((self.query, self.slopes), (self.source, self.coefficients)):
            result = result | part.mask() if (numbers != 0).any() else result
        return result

    def write_mask(self) -> Array:
        """The coordinates that a value which is not zero writes."""
        return self.target[: len(self.target) if (self.coefficients != 0).any() else 0].mask()


@dataclass(frozen=True, eq=False)
class StoredAttention(Stored):
    """Families of ReLU heads, all added to the stream: the stored form of an `AttentionLayer`.

    Attributes:
        families: at least one.

    Raises:
        ValueError: if there is no family, or they belong to different streams.
    """

    kind: ClassVar[str] = "attention"

    families: tuple[HeadFamily, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", tuple(self.families))
        if not self.families:
            raise ValueError("A layer of ReLU attention needs at least one family of heads.")
        for family in self.families:
            family.query.require(self.stream)

    @property
    def stream(self) -> ResidualStream:
        """The stream of all directions."""
        return self.families[0].stream

    @property
    def head_count(self) -> int:
        """The number of heads."""
        return sum(len(family) for family in self.families)

    def head(self, number: int) -> Head:
        """Head ``number`` = 0, ..., head_count - 1, families in order.

        Raises:
            ValueError: if there is no such head.
        """
        if not 0 <= number < self.head_count:
            raise ValueError(f"The layer has heads 0..{self.head_count - 1}, not {number}.")
        ends = np.cumsum([len(family) for family in self.families])
        family = int(np.searchsorted(ends, number, side="right"))
        return self.families[family].head(number - int(ends[family]))  # counted from the end of the family

    def dense(self) -> AttentionLayer:
        """The layer itself, with a `Head` for every head."""
        return AttentionLayer(tuple(self.head(number) for number in range(self.head_count)))

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d)."""
        result = self._copy(z)  # every head reads the stream before the layer
        for family in self.families:
            target = family.target.coordinates
            result[..., target] = result[..., target] + family(z)
        return result

    @property
    def one_norm(self) -> Any:
        """The sum of the absolute values of the entries of all matrices."""
        return sum(family.one_norm for family in self.families)

    @property
    def count(self) -> int:
        """The number of entries of all matrices that are not zero."""
        return sum(family.count for family in self.families)

    def read_mask(self) -> Array:
        """The coordinates that some head reads."""
        return reduce(np.logical_or, (family.read_mask() for family in self.families))

    def write_mask(self) -> Array:
        """The coordinates that some head writes."""
        return reduce(np.logical_or, (family.write_mask() for family in self.families))


@dataclass(frozen=True, eq=False)
class StoredFeedForward(Stored):
    """U ReLU units with a residual and without bias (the stream has a constant for that): a stored `FeedForward`.

    Unit u adds coefficient_u relu(sum_b weight_ub z[source_ub]) to the coordinate target_u. Norm and count are those of
    the numbers stored, which are more than those of W_1 if a unit has a source twice.

    Attributes:
        source: what the units read, shape (U, m).
        weights: shape (U, m).
        target: what they write, shape (U,).
        coefficients: shape (U,).

    Raises:
        ValueError: if the shapes do not fit, there is no unit, or the directions belong to different streams.
    """

    kind: ClassVar[str] = "MLP"

    source: Directions
    weights: Array
    target: Directions
    coefficients: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        s, w, t, c = self.source.shape, self.weights.shape, self.target.shape, self.coefficients.shape
        if len(s) != 2 or w != s or t != s[:1] or c != t or not s[0]:
            raise ValueError(
                "Stored units, U >= 1 of them, need source (U, m), weights (U, m), target (U,) and coefficients (U,), "
                f"but the shapes are {s}, {w}, {t}, {c}."
            )

    @property
    def unit_count(self) -> int:
        """U, the number of hidden units."""
        return len(self.coefficients)

    def beside(self, other: StoredFeedForward) -> StoredFeedForward:
        """The units of both layers in one; both must have as many sources per unit.

        Raises:
            ValueError: if they belong to different streams.
        """
        return StoredFeedForward(
            self.source + other.source,
            np.concatenate([self.weights, other.weights]),
            self.target + other.target,
            np.concatenate([self.coefficients, other.coefficients]),
        )

    def dense(self) -> FeedForward:
        """The layer itself, z + relu(z W_1) W_2 with W_1 of shape (d, U)."""
        first = np.zeros((self.stream.width, self.unit_count), dtype=self.weights.dtype)
        second = np.zeros((self.unit_count, self.stream.width), dtype=self.coefficients.dtype)
        units = np.arange(self.unit_count)
        np.add.at(first, (self.source.coordinates, units[:, None]), self.weights)
        second[units, self.target.coordinates] = self.coefficients
        return FeedForward((Affine(first), Affine(second)), residual=True, activations=("relu", "identity"))

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d)."""
        result = self._copy(z)
        try:
            arguments = (z[..., self.source.coordinates] * self.weights).sum(axis=-1)
        except TypeError:
            raise mixed_numbers(z, self.weights) from None
        written = relu(arguments) * self.coefficients
        np.add.at(result, (..., self.target.coordinates), written)  # pyright: ignore[reportArgumentType]
        return result

    def read_mask(self) -> Array:
        """The coordinates that units read with a weight other than 0."""
        return self.source[(self.weights != 0).astype(bool)].mask()

    def write_mask(self) -> Array:
        """The coordinates that units write with a coefficient other than 0."""
        return self.target[(self.coefficients != 0).astype(bool)].mask()


@dataclass(frozen=True, eq=False)
class StoredMultiplication(Stored):
    """H heads of element-wise multiplication with entries 0 and 1: the stored form of a `Multiplication`.

    Head h adds <z_i[query_h], z_i[key_h]> z_i[source_h] to the coordinate target_h of the same token.

    Attributes:
        query: shape (H, m).
        key: shape (H, m).
        source: shape (H,).
        target: shape (H,).

    Raises:
        ValueError: if the shapes do not fit, there is no head, or the directions belong to different streams.
    """

    kind: ClassVar[str] = "multiplication"

    query: Directions
    key: Directions
    source: Directions
    target: Directions

    def __post_init__(self) -> None:
        super().__post_init__()
        q, k, s, t = self.query.shape, self.key.shape, self.source.shape, self.target.shape
        if len(q) != 2 or q != k or s != q[:1] or t != s or not s[0]:
            raise ValueError(
                f"Multiplication heads need query (H, m), key (H, m), source (H,), target (H,), not {q}, {k}, {s}, {t}."
            )

    @property
    def head_count(self) -> int:
        """The number of heads."""
        return len(self.target)

    def dense(self) -> Multiplication:
        """The layer itself, with matrices of integers."""
        H, m, d = *self.query.shape, self.stream.width
        query, key = np.zeros((H, d, m), dtype=np.int64), np.zeros((H, d, m), dtype=np.int64)
        value, heads = np.zeros((H, d, d), dtype=np.int64), np.arange(H)
        query[heads[:, None], self.query.coordinates, np.arange(m)] = 1
        key[heads[:, None], self.key.coordinates, np.arange(m)] = 1
        value[heads, self.source.coordinates, self.target.coordinates] = 1
        return Multiplication(query, key, value)

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d)."""
        result = self._copy(z)
        products = (z[..., self.query.coordinates] * z[..., self.key.coordinates]).sum(axis=-1)
        written = products * z[..., self.source.coordinates]
        np.add.at(result, (..., self.target.coordinates), written)  # pyright: ignore[reportArgumentType]
        return result

    @property
    def one_norm(self) -> int:
        """The number of ones in all matrices."""
        return self.count

    @property
    def count(self) -> int:
        """The number of ones in all matrices."""
        return 2 * self.query.coordinates.size + self.head_count

    def read_mask(self) -> Array:
        """The coordinates that some head reads."""
        return np.any([part.mask() for part in (self.query, self.key, self.source)], axis=0)

    def write_mask(self) -> Array:
        """The coordinates that some head writes."""
        return self.target.mask()
