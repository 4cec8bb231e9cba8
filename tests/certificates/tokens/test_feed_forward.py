"""Certificates of feed-forward networks: what they accept, what they refuse."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.tokens.feed_forward import (
    _positive_definite,
    certify_feed_forward,
    least_total_norm,
    linear_risk,
    matching_predictor,
    out_of_span,
    samples_needed,
)
from lemmata.numerics.exact.numbers import as_exact


def test_floats_count_with_their_binary_values() -> None:
    X = np.random.default_rng(0).normal(size=(5, 12))
    by_floats = certify_feed_forward(X, 4)
    exact = certify_feed_forward(np.array([[Fraction(x) for x in row] for row in X.tolist()], dtype=object), 4)
    assert by_floats.lower == exact.lower
    assert by_floats.average == fmpq(7, 12)


def test_zero_and_dependent_inputs() -> None:
    nothing = certify_feed_forward(np.zeros((3, 6)), 3)
    assert nothing.rank == 0
    assert nothing.lower == nothing.upper == 1
    assert certify_feed_forward(np.ones((4, 6)), 3).rank == 1
    assert (matching_predictor(np.zeros((2, 4)), 2, [1, 1]).weights == 0).all()


def test_predictions_read_the_index() -> None:
    predictor = matching_predictor(np.eye(4, dtype=int), 2, [1, 2])
    assert predictor(0, np.array([3, 4, 5, 6])) == 11
    assert predictor(1, np.array([3, 4, 5, 6])) == 17
    assert linear_risk(predictor.weights, [1, 2]) == 0
    assert linear_risk(np.zeros((2, 4)), [0.6, 0.8]) == pytest.approx(1)


NORMAL = np.random.default_rng(0).normal(size=(3, 4))


def test_elimination_decides_definiteness() -> None:
    for rows, expected in [([[2, 1], [1, 1]], True), ([[1, 1], [1, 1]], False), ([[1, 2], [2, 1]], False)]:
        assert _positive_definite(as_exact(rows)) == expected
    assert not _positive_definite(as_exact([[0, 0], [0, 1]]))
    assert _positive_definite(as_exact([[3, 1, 1], [1, 2, 0], [1, 0, 1]]))
    assert not _positive_definite(as_exact([[3, 1, 3], [1, 2, 0], [3, 0, 3]]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: certify_feed_forward(np.zeros((0, 4)), 2), r"not of the shape \(0, 4\)"),
        (lambda: certify_feed_forward([1, 2], 2), r"not of the shape \(2,\)"),
        (lambda: certify_feed_forward([[1, 2, 3]], 2), "3 coordinates are not those of 2 tokens"),
        (lambda: certify_feed_forward([[1, 2]], 0), "not those of 0 tokens"),
        (lambda: certify_feed_forward([[1.0, np.nan]], 2), r"finite, but the table of rows has NaN .* at \(0, 1\)"),
        (lambda: certify_feed_forward([[1, 2]], 2, gap=0), "positive number, not 0"),  # type: ignore[arg-type]
        (lambda: certify_feed_forward(NORMAL, 2, gap="1/10" + 40 * "0"), "larger gap"),
        (lambda: certify_feed_forward(np.zeros((400, 400)), 2), "<= 4,000,000, not the shape"),
        (lambda: certify_feed_forward([[1, 2]], 1).risk([0, 0]), "is not 0"),
        (lambda: certify_feed_forward([[1, 2]], 1).risk([1]), r"its shape is \(1,\)"),
        (lambda: out_of_span([[1, 2, 3]], [[1, 2]]), r"width 2 does not have the shape \(1, 3\)"),
        (lambda: out_of_span([[np.inf, 2]], [[1, 2]]), "the weights has NaN or infinity"),
        (lambda: matching_predictor([[1, 2]], 2, [1, 1]), r"has the shape \(1,\), not \(2,\)"),
        (lambda: linear_risk([[1, 2]], [1]), r"do not have the shapes \(1, 2\), \(1,\)"),
        (lambda: least_total_norm([[1, 2], [2, 4]], [1, 1]), "The inputs are dependent"),
        (lambda: least_total_norm([[1, 2]], [1, 1]), "do not have the shapes"),
        (lambda: samples_needed(3, 2, 2), "A risk between 0 and 1"),
        (lambda: samples_needed(0, 2, 1), "N, d >= 1"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
