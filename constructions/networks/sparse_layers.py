"""Token-wise layers that act on single coordinates: the MLP without output ReLU, and element-wise multiplication.

Rows are tokens (row-vector convention). On a stream z of shape (..., T, d)

    MlpLayer             z + relu(z W_1) W_2                                      (def-8),
    MultiplicationLayer  z_i + sum_m <z_i W_Q^m, z_i W_K^m> z_i W_V^m              (def-6, "EWML"),

where the latter is a cubic polynomial in the token, without ReLU, and no other token takes part. The units and heads
that are needed read a handful of coordinates each, so both layers store which ones; `matrices` and `head` give the
dense weights, which a reader can inspect and the tests multiply out.

Source: deep-icgd, def-5, def-6 and def-8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from constructions.networks.feed_forward import relu
from constructions.networks.stream import Coordinates, ResidualStream, block_names
from numerics.exact.systems import Array


@dataclass(frozen=True, eq=False)
class MlpLayer:
    """One hidden layer of U ReLU units with a residual and no bias (the stream has a coordinate 1 for that).

    Unit u adds coefficient_u relu(sum_b weight_ub z[read_ub]) to the coordinate target_u.

    Attributes:
        reads: coordinates, shape (U, m).
        weights: shape (U, m).
        targets: coordinates, shape (U,).
        coefficients: shape (U,).
        width: d, the dimension of the stream.

    Raises:
        ValueError: if the shapes do not fit, there is no unit, or a coordinate lies outside the stream.
    """

    reads: Coordinates
    weights: Array
    targets: Coordinates
    coefficients: Array
    width: int

    def __post_init__(self) -> None:
        for name in ("reads", "targets"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        for name in ("weights", "coefficients"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        units = (len(self.coefficients),)
        if self.reads.ndim != 2 or self.weights.shape != self.reads.shape or self.targets.shape != units:
            raise ValueError(
                "An MLP needs reads (U, m), weights (U, m), targets (U,) and coefficients (U,), but the shapes are "
                f"{self.reads.shape}, {self.weights.shape}, {self.targets.shape}, {self.coefficients.shape}."
            )
        if self.reads.shape[0] != units[0] or not units[0]:
            raise ValueError(
                f"An MLP needs as many rows of reads as coefficients, but has {len(self.reads)}, {units[0]}."
            )
        _check_range(self.width, self.reads, self.targets)

    @property
    def units(self) -> int:
        """U, the number of hidden units."""
        return len(self.coefficients)

    def matrices(self) -> tuple[Array, Array]:
        """W_1 of shape (d, U) and W_2 of shape (U, d)."""
        first = np.zeros((self.width, self.units), dtype=self.weights.dtype)
        second = np.zeros((self.units, self.width), dtype=self.coefficients.dtype)
        for unit in range(self.units):
            for coordinate, weight in zip(self.reads[unit], self.weights[unit], strict=True):
                first[coordinate, unit] = first[coordinate, unit] + weight
            second[unit, self.targets[unit]] = self.coefficients[unit]
        return first, second

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d)."""
        arguments = (z[..., self.reads] * self.weights).sum(axis=-1)
        written = relu(arguments) * self.coefficients
        result = np.array(z)
        np.add.at(result, (..., self.targets), written)  # pyright: ignore[reportArgumentType]
        return result

    def norms(self) -> tuple[Any, Any, Any]:
        """||W_1||_1, ||W_2||_1 (largest absolute column sums as in def-9), and the largest row sum of W_1.

        In the document's column convention a column of W_1 collects what one coordinate of the stream feeds into all
        units, and a row the inputs of one unit.
        """
        sums: dict[int, Any] = {}
        for coordinate, weight in zip(self.reads.ravel().tolist(), self.weights.ravel().tolist(), strict=True):
            sums[coordinate] = sums.get(coordinate, 0) + abs(weight)
        rows = [sum(abs(weight) for weight in row) for row in self.weights.tolist()]
        return max(sums.values()), max(abs(c) for c in self.coefficients.tolist()), max(rows)

    def norm(self) -> Any:
        """||W_1||_1 + ||W_2||_1, the contribution of the layer to (C.1)."""
        first, second, _ = self.norms()
        return first + second

    def parameters(self) -> int:
        """The number of non-zero weights."""
        return sum(int(np.count_nonzero(array != 0)) for array in (self.weights, self.coefficients))

    def reads_from(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that units read with a weight other than 0."""
        return block_names(stream, [self.reads[(self.weights != 0).astype(bool)]])

    def writes_to(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that units write."""
        return block_names(stream, [self.targets])

    def map(self, convert: Callable[[Array], Array]) -> MlpLayer:
        """The layer with its numbers converted."""
        return replace(self, weights=convert(self.weights), coefficients=convert(self.coefficients))


@dataclass(frozen=True, eq=False)
class MultiplicationLayer:
    """H heads of element-wise multiplication, each with weights 0 and 1.

    Head h adds <z_i[query_h], z_i[key_h]> z_i[source_h] to the coordinate target_h of the same token.

    Attributes:
        query: coordinates, shape (H, m).
        key: coordinates, shape (H, m).
        source: coordinates, shape (H,).
        target: coordinates, shape (H,).
        width: d, the dimension of the stream.

    Raises:
        ValueError: if the shapes do not fit, there is no head, or a coordinate lies outside the stream.
    """

    query: Coordinates
    key: Coordinates
    source: Coordinates
    target: Coordinates
    width: int

    def __post_init__(self) -> None:
        for name in ("query", "key", "source", "target"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        q, k, s, t = self.query.shape, self.key.shape, self.source.shape, self.target.shape
        if len(q) != 2 or q != k or s != q[:1] or t != s or not s[0]:
            raise ValueError(
                f"Multiplication heads need query (H, m), key (H, m), source (H,), target (H,), not {q}, {k}, {s}, {t}."
            )
        _check_range(self.width, self.query, self.key, self.source, self.target)

    @property
    def heads(self) -> int:
        """The number of heads."""
        return len(self.target)

    def head(self, number: int) -> tuple[Array, Array, Array]:
        """W_Q of shape (d, m), W_K of shape (d, m) and W_V of shape (d, d), entries 0 and 1.

        Raises:
            ValueError: if there is no such head.
        """
        if not 0 <= number < self.heads:
            raise ValueError(f"The layer has heads 0..{self.heads - 1}, not {number}.")
        m = self.query.shape[1]
        query, key = np.zeros((self.width, m), dtype=np.int64), np.zeros((self.width, m), dtype=np.int64)
        value = np.zeros((self.width, self.width), dtype=np.int64)
        query[self.query[number], np.arange(m)] = 1
        key[self.key[number], np.arange(m)] = 1
        value[self.source[number], self.target[number]] = 1
        return query, key, value

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d)."""
        products = (z[..., self.query] * z[..., self.key]).sum(axis=-1)
        result = np.array(z)
        written = products * z[..., self.source]
        np.add.at(result, (..., self.target), written)  # pyright: ignore[reportArgumentType]
        return result

    def norm(self) -> int:
        """The largest ||W_Q||_1, ||W_K||_1 or ||W_V||_1, the norm (3.18): how often a head uses one coordinate."""
        rows = [row for part in (self.query, self.key) for row in part]
        return max(int(np.unique(row, return_counts=True)[1].max()) for row in rows)

    def parameters(self) -> int:
        """The number of ones in all matrices."""
        return 2 * self.query.size + self.heads

    def reads_from(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that the heads read."""
        return block_names(stream, [self.query.ravel(), self.key.ravel(), self.source])

    def writes_to(self, stream: ResidualStream) -> tuple[str, ...]:
        """The names of the blocks that the heads write."""
        return block_names(stream, [self.target])


def _check_range(width: int, *coordinates: Coordinates) -> None:
    lowest, highest = min(int(c.min()) for c in coordinates), max(int(c.max()) for c in coordinates)
    if lowest < 0 or highest >= width:
        raise ValueError(f"The coordinates {lowest}..{highest} do not lie in a stream of width {width}.")
