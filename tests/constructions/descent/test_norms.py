"""The norms of the document: of stored forms, of the layers for which they stand, and of matrices taken out of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.descent.norms import column_norm, unit_norms
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward
from lemmata.numerics.exact.numbers import as_exact
from tests.constructions.networks.random_layers import (
    EVERY,
    random_attention,
    random_multiplication,
    random_units,
)

SEEDS = st.integers(0, 10**6)


def norm(matrix: np.ndarray) -> Any:
    """Column-vector convention: the norm of W^T is the largest absolute row sum of W."""
    return max(sum(abs(x) for x in row) for row in matrix.tolist())


@given(SEEDS)
def test_norm_of_attention_is_that_of_the_matrices(seed: int) -> None:
    layer = random_attention(seed)
    heads = [layer.head(number) for number in range(layer.head_count)]
    largest = max(max(norm(head.query.weight), norm(head.key.weight)) for head in heads)
    assert column_norm(layer) == largest + sum(norm(head.value.weight) for head in heads)
    assert column_norm(layer.dense()) == column_norm(layer)


def test_norm_of_a_source_that_is_read_twice() -> None:
    one = EVERY[[5]]
    family = HeadFamily(EVERY[[0]], EVERY[[1]], one, EVERY[[3, 3, 4]], EVERY[[0, 1, 2]], *as_exact([[1], [0], [-2]]))
    assert column_norm(StoredAttention((family,))) == 1 + 2 * 2


@given(SEEDS)
def test_norms_of_the_mlp(seed: int) -> None:
    """Where no unit reads a coordinate twice, these are the norms of the matrices, transposed to columns."""
    layer = random_units(seed)
    if any(len(set(row)) < 3 for row in layer.source.coordinates.tolist()):
        return
    first, second = (affine.weight for affine in layer.dense().layers)
    column, coefficient, row = unit_norms(layer)
    assert column == max(sum(abs(x) for x in line) for line in first.tolist())
    assert coefficient == max(sum(abs(x) for x in line) for line in second.tolist())
    assert row == max(sum(abs(x) for x in line) for line in first.T.tolist())
    assert column_norm(layer) == column + coefficient == column_norm(layer.dense())
    assert layer.count == int(np.count_nonzero(first != 0)) + int(np.count_nonzero(second != 0))


@given(SEEDS)
def test_norm_of_multiplication_is_that_of_the_matrices(seed: int) -> None:
    layer = random_multiplication(seed)
    matrices = [matrix for part in layer.dense().arrays() for matrix in part]
    largest = max(int(matrix.sum(axis=1).max()) for matrix in matrices)
    assert column_norm(layer) == largest == column_norm(layer.dense())


def test_norm_of_other_layers_is_refused() -> None:
    units = StoredFeedForward(EVERY[[[0]]], as_exact([[-3]]), EVERY[[1]], as_exact([2]))
    assert column_norm(units) == 5
    with pytest.raises(TypeError, match="do not speak of a Affine"):
        column_norm(Affine(np.eye(2)))
