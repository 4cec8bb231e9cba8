"""Norms of weights: against NumPy, of heads and layers, and input that is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from lemmata.certificates.capacity.norms import (
    frobenius_norm,
    head_norms,
    layer_norms,
    pq_norm,
    spectral_norm,
    token_norm,
)


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape)


def middle(ball: arb) -> float:
    return float(ball.mid())


def test_norms_are_those_of_numpy() -> None:
    M = drawn(4, 6)
    assert middle(spectral_norm(M)) == pytest.approx(np.linalg.norm(M, 2), rel=1e-8)
    assert spectral_norm(M) >= np.linalg.norm(M, 2)
    assert middle(frobenius_norm(M)) == pytest.approx(np.linalg.norm(M))
    assert middle(pq_norm(M, 2, 1)) == pytest.approx(np.linalg.norm(M, axis=0).sum())
    assert middle(pq_norm(M, 1, math.inf)) == pytest.approx(np.linalg.norm(M, 1))
    assert middle(pq_norm(M, 3, 2)) == pytest.approx(np.linalg.norm(np.linalg.norm(M, 3, axis=0)))
    assert middle(token_norm(drawn(3, 4, 6))) == pytest.approx(np.linalg.norm(drawn(3, 4, 6), axis=-1).max())
    assert middle(token_norm(drawn(6))) == pytest.approx(np.linalg.norm(drawn(6)))
    root = np.array([[arb(2).sqrt(), arb(0)], [arb(0), arb(1)]], dtype=object)
    assert arb(2).sqrt() <= spectral_norm(root) <= arb("1.41422")


def test_layers_have_six_norms() -> None:
    W_V, W_QK, W_C = drawn(5, 2), drawn(5, 5), drawn(2, 5)
    norms = layer_norms(W_V, W_QK, W_C)
    assert middle(norms.score) == pytest.approx(np.linalg.norm(W_QK, 2), rel=1e-8)
    assert middle(norms.score_rows) == pytest.approx(np.linalg.norm(W_QK))
    assert middle(norms.output_columns) == pytest.approx(np.linalg.norm(W_C, axis=0).sum())
    assert middle(norms.output) == pytest.approx(np.linalg.norm(W_C, 2), rel=1e-8)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_entries_are_finite(bad: float) -> None:
    M = drawn(2, 2)
    M[0, 1] = bad
    for function in (spectral_norm, frobenius_norm, token_norm):
        with pytest.raises(ValueError, match=r"finite|enclosure"):
            function(M)


def test_shapes_fit() -> None:
    with pytest.raises(ValueError, match=r"A matrix has the shape \(rows, columns\), .* not \(3,\)"):
        spectral_norm(np.ones(3))
    with pytest.raises(ValueError, match="at least one entry"):
        frobenius_norm(np.ones((0, 3)))
    with pytest.raises(ValueError, match=r"The tokens have the shape \(..., d\), .* not \(0, 3\)"):
        token_norm(np.ones((0, 3)))
    with pytest.raises(ValueError, match=r"The tokens have the shape \(..., d\), .* not \(\)"):
        token_norm(1)
    with pytest.raises(ValueError, match=r"W_QK has d columns, but the shapes are \(2, 2\), \(3, 3\)"):
        head_norms(np.ones((2, 2)), np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"W_C \(k, d\), not \(3, 2\) and \(3, 3\)"):
        layer_norms(np.ones((3, 2)), np.ones((3, 3)), np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"rational number >= 1"):
        pq_norm(np.ones((2, 2)), 0, 1)
