"""The norms by which the document measures its transformers, of the layers of the vocabulary.

There a matrix acts on columns, and its norm is the largest absolute column sum: in the row convention of this library,
the largest absolute sum of what one coordinate of the stream is sent to. The norm (C.1) of a transformer adds, over its
layers, max_h max(||W_Q||_1, ||W_K||_1) + sum_h ||W_V||_1 for attention and ||W_1||_1 + ||W_2||_1 for MLPs. A layer of
multiplication is measured by (3.18), the largest norm of its matrices.

Source: deep-icgd, definition-9 (C.1) and lemma-5 (3.18).
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.stream import Directions
from lemmata.numerics.exact.systems import Array


@singledispatch
def column_norm(layer: Any) -> Any:
    """The contribution of a layer to the norm (C.1), or (3.18) of a layer of multiplication; biases are left out.

    Raises:
        TypeError: for a layer that the document does not measure.
    """
    raise TypeError(f"The norms (C.1) and (3.18) do not speak of a {type(layer).__name__}.")


def largest_column_sum(matrix: Array) -> Any:
    """||W||_1 of the document, for W of shape (d, e) in the row convention."""
    return max(sum(abs(x) for x in row) for row in matrix.tolist())


@column_norm.register
def _(layer: AttentionLayer) -> Any:
    sums = [[largest_column_sum(part.weight) for part in (h.query, h.key, h.value)] for h in layer.heads]
    return max(max(query, key) for query, key, _ in sums) + sum(value for _, _, value in sums)


@column_norm.register
def _(layer: FeedForward) -> Any:
    return sum(largest_column_sum(affine.weight) for affine in layer.layers)


@column_norm.register
def _(layer: Multiplication) -> Any:
    return max(largest_column_sum(matrix) for part in layer.arrays() for matrix in part)


@column_norm.register
def _(layer: StoredAttention) -> Any:
    parts = [_family_sums(family) for family in layer.families]
    return max(query_or_key for query_or_key, _ in parts) + sum(values for _, values in parts)


@column_norm.register
def _(layer: StoredFeedForward) -> Any:
    first, second, _ = unit_norms(layer)
    return first + second


@column_norm.register
def _(layer: StoredMultiplication) -> int:
    return max(_multiplicity(row) for part in (layer.query, layer.key) for row in part)


def unit_norms(layer: StoredFeedForward) -> tuple[Any, Any, Any]:
    """||W_1||_1, ||W_2||_1, and the largest row sum of W_1 in the column convention: the inputs of one unit."""
    sums: dict[int, Any] = {}
    for coordinate, weight in zip(
        layer.source.coordinates.ravel().tolist(), layer.weights.ravel().tolist(), strict=True
    ):
        sums[coordinate] = sums.get(coordinate, 0) + abs(weight)
    rows = [sum(abs(weight) for weight in row) for row in layer.weights.tolist()]
    return max(sums.values()), max(abs(c) for c in layer.coefficients.tolist()), max(rows)


def _family_sums(family: HeadFamily) -> tuple[Any, Any]:
    """The largest ||W_Q||_1 or ||W_K||_1 of a head, and the sum of all ||W_V||_1."""
    uses, of_one = _multiplicity(family.query), int((family.query.coordinates == family.one.coordinates).sum())
    pairs = zip(family.slopes.tolist(), family.offsets.tolist(), strict=True)
    query = max(max(abs(slope) * uses, abs(slope) * of_one + abs(offset)) for slope, offset in pairs)
    values = sum(abs(c) for c in family.coefficients.tolist()) * _multiplicity(family.source)
    return max(query, _multiplicity(family.key + family.one)), values


def _multiplicity(directions: Directions) -> int:
    """How often the most frequent direction occurs."""
    return int(np.unique(directions.coordinates, return_counts=True)[1].max())
