"""ReLU attention: the score's ReLU divided by the number of tokens, in layers of many heads that share their forms.

Rows are tokens (row-vector convention, z W). A head maps z, of shape (T, d), to

    relu(S) / T  z W_V,      S_is = <z_i W_Q, z_s W_K>,

and a layer adds all its heads to z. The layers of `constructions.descent.block` have thousands of heads that come
in families: the heads of a `HeadFamily` share one bilinear form of the stream, B_is = <z_i[query], z_s[key]>, and the
coordinates that they move, and differ by three numbers,

    head h:   S_is = slope_h B_is + offset_h z_i[one] z_s[one],     value = coefficient_h z_s[source] -> [target],

so that a family writes (1/T) sum_s f(B_is) z_s[source] with the sum of ReLUs f = sum_h coefficient_h relu(slope_h t +
offset_h), as long as the coordinate `one` holds 1. Every head can be taken out as plain matrices (`head`); the layer is
evaluated family by family, which is the same sum in another order.

The vector form of the definition is meant; its printed matrix form has the queries and keys interchanged.

Source: deep-icgd, def-7 and def-9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from constructions.networks.feed_forward import relu
from constructions.networks.stream import Coordinates, ResidualStream, block_names
from numerics.exact.systems import Array

_CHUNK = 2**20  # numbers of float64 that the scores of a chunk of heads may take


@dataclass(frozen=True, eq=False)
class ReluHead:
    """One ReLU attention head, given by its matrices.

    Attributes:
        query: W_Q, shape (d, m).
        key: W_K, shape (d, m).
        value: W_V, shape (d, d).
    """

    query: Array
    key: Array
    value: Array

    def __call__(self, z: Array) -> Array:
        """The output of the head, shape (..., T, d), for z of shape (..., T, d)."""
        scores = np.matmul(np.matmul(z, self.query), np.swapaxes(np.matmul(z, self.key), -1, -2))
        return np.matmul(relu(scores), np.matmul(z, self.value)) / z.shape[-2]


@dataclass(frozen=True, eq=False)
class HeadFamily:
    """H heads with the same bilinear form and the same value up to a factor; see the docstring of the module.

    Attributes:
        query: coordinates of the token that attends, shape (m,).
        key: coordinates of the token that is attended, shape (m,).
        one: the coordinate that holds the constant 1.
        source: coordinates that are read from the attended token, shape (q,).
        target: coordinates that are written, shape (q,).
        slopes: shape (H,).
        offsets: shape (H,).
        coefficients: shape (H,).

    Raises:
        ValueError: if the shapes do not fit, or there is no head.
    """

    query: Coordinates
    key: Coordinates
    one: int
    source: Coordinates
    target: Coordinates
    slopes: Array
    offsets: Array
    coefficients: Array

    def __post_init__(self) -> None:
        for name in ("query", "key", "source", "target"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        for name in ("slopes", "offsets", "coefficients"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        shapes = {name: np.shape(getattr(self, name)) for name in ("slopes", "offsets", "coefficients")}
        if len(set(shapes.values())) > 1 or self.slopes.ndim != 1 or not len(self.slopes):
            raise ValueError(f"A family needs H >= 1 slopes, offsets and coefficients each, but has shapes {shapes}.")
        if self.query.shape != self.key.shape or self.source.shape != self.target.shape:
            raise ValueError(
                "A family pairs its query with its key coordinates and its source with its target coordinates, but has "
                f"{len(self.query)} and {len(self.key)}, {len(self.source)} and {len(self.target)} of them."
            )
        if len(set(self.target.tolist())) < len(self.target):
            raise ValueError(f"The target coordinates of a family must differ, but are {self.target.tolist()}.")

    def __len__(self) -> int:
        return len(self.slopes)

    def head(self, h: int, width: int) -> ReluHead:
        """Head h as matrices: key dimension m + 1, whose last component multiplies the constants."""
        m = len(self.query)
        query, key = np.zeros((width, m + 1), dtype=object), np.zeros((width, m + 1), dtype=object)
        value = np.zeros((width, width), dtype=object)
        query[self.query, np.arange(m)] = self.slopes[h]
        key[self.key, np.arange(m)] = 1
        query[self.one, m], key[self.one, m] = self.offsets[h], 1
        value[self.source, self.target] = self.coefficients[h]
        if self.slopes.dtype == np.float64:
            query, key, value = (matrix.astype(np.float64) for matrix in (query, key, value))
        return ReluHead(query, key, value)

    def attention(self, z: Array) -> Array:
        """sum_h coefficient_h relu(S_is) of all heads together, shape (..., T, T)."""
        form = np.matmul(z[..., self.query], np.swapaxes(z[..., self.key], -1, -2))
        ones = z[..., :, None, self.one] * z[..., None, :, self.one]
        step = max(1, _CHUNK // max(1, form.size)) if form.dtype == np.float64 else len(self)
        total: Any = 0
        for first in range(0, len(self), step):
            part = slice(first, first + step)
            scores = form[..., None] * self.slopes[part] + ones[..., None] * self.offsets[part]
            total = total + np.matmul(relu(scores), self.coefficients[part])
        return total

    def column_sums(self) -> tuple[Any, Any, list[Any]]:
        """The largest ||W_Q||_1 and ||W_K||_1 of a head, and all ||W_V||_1, in the norm of def-9.

        There a matrix acts on columns and its norm is the largest absolute column sum: the largest absolute sum of what
        one coordinate of the stream is sent to.
        """
        uses, of_one = _multiplicity(self.query), self.query.tolist().count(self.one)
        values = [abs(c) * _multiplicity(self.source) for c in self.coefficients.tolist()]
        pairs = zip(self.slopes.tolist(), self.offsets.tolist(), strict=True)
        query = max(max(abs(slope) * uses, abs(slope) * of_one + abs(offset)) for slope, offset in pairs)
        return query, _multiplicity(np.append(self.key, self.one)), values

    def map(self, convert: Callable[[Array], Array]) -> HeadFamily:
        """The family with its numbers converted."""
        return replace(
            self,
            slopes=convert(self.slopes),
            offsets=convert(self.offsets),
            coefficients=convert(self.coefficients),
        )


@dataclass(frozen=True, eq=False)
class ReluAttentionLayer:
    """Families of ReLU heads, all added to the stream.

    Attributes:
        families: at least one.
        width: d, the dimension of the stream.

    Raises:
        ValueError: if there is no family, or a coordinate lies outside the stream.
    """

    families: tuple[HeadFamily, ...]
    width: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", tuple(self.families))
        if not self.families:
            raise ValueError("A layer of ReLU attention needs at least one family of heads.")
        for family in self.families:
            used = np.concatenate([family.query, family.key, family.source, family.target, [family.one]])
            if used.min() < 0 or used.max() >= self.width:
                low, high = used.min(), used.max()
                raise ValueError(f"A head uses the coordinates {low}..{high} of a stream of width {self.width}.")

    @property
    def heads(self) -> int:
        """The number of heads."""
        return sum(len(family) for family in self.families)

    def head(self, number: int) -> ReluHead:
        """Head ``number`` = 0, ..., heads - 1 as matrices, families in order.

        Raises:
            ValueError: if there is no such head.
        """
        if not 0 <= number < self.heads:
            raise ValueError(f"The layer has heads 0..{self.heads - 1}, not {number}.")
        for family in self.families:
            if number < len(family):
                return family.head(number, self.width)
            number -= len(family)
        raise AssertionError("the families hold all heads")

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d)."""
        result = np.array(z)  # a copy: every head reads the stream before the layer
        for family in self.families:
            written = np.matmul(family.attention(z), z[..., family.source]) / z.shape[-2]
            result[..., family.target] = result[..., family.target] + written
        return result

    def norm(self) -> Any:
        """max over heads of max(||W_Q||_1, ||W_K||_1), plus the sum over heads of ||W_V||_1: (C.1) of def-9."""
        parts = [family.column_sums() for family in self.families]
        return max(max(query, key) for query, key, _ in parts) + sum(sum(values) for _, _, values in parts)

    def parameters(self) -> int:
        """The number of non-zero entries of all matrices W_Q, W_K, W_V."""
        total = 0
        for family in self.families:
            nonzero = [int(np.count_nonzero(a != 0)) for a in (family.slopes, family.offsets, family.coefficients)]
            m, q = len(family.query), len(family.source)
            total += m * nonzero[0] + nonzero[1] + (m + 1) * len(family) + q * nonzero[2]
        return total

    def reads_from(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that the heads read."""
        return block_names(stream, [c for f in self.families for c in (f.query, f.key, f.source, [f.one])])

    def writes_to(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that the heads write."""
        return block_names(stream, [family.target for family in self.families])

    def map(self, convert: Callable[[Array], Array]) -> ReluAttentionLayer:
        """The layer with its numbers converted."""
        return replace(self, families=tuple(family.map(convert) for family in self.families))


def _multiplicity(coordinates: Coordinates) -> int:
    """How often the most frequent coordinate occurs."""
    return int(np.unique(coordinates, return_counts=True)[1].max())
