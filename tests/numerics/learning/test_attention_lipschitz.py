"""Formulas of Lipschitz constants of attention: values at rational places, balls, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.learning.attention_lipschitz import (
    block_error,
    entry_sum,
    head_change,
    infinity_to_one,
    input_constants,
    largest_row_norm,
    readout_error,
    softmax_distance,
    softmax_jacobian,
)


def close(a: Any, b: Any) -> bool:
    return bool(abs(a - arb(b)) < arb("1e-13"))


def test_jacobians_keep_the_numbers_of_the_weights() -> None:
    exact = softmax_jacobian([Fraction(1, 3), Fraction(2, 3)])
    assert exact.tolist() == [[Fraction(2, 9), Fraction(-2, 9)], [Fraction(-2, 9), Fraction(2, 9)]]
    assert np.allclose(softmax_jacobian(np.array([0.25, 0.75])), [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]])
    assert softmax_jacobian([1]).tolist() == [[0]]


@pytest.mark.parametrize("weights", [[], [[0.5, 0.5]]])
def test_weights_are_one_row(weights: Any) -> None:
    with pytest.raises(ValueError, match="one row of numbers"):
        softmax_jacobian(weights)


def test_norms_of_a_matrix() -> None:
    J = [[1, -2], [3, 4]]
    assert entry_sum(J) == 10
    assert infinity_to_one(J) == 8  # signs (1, 1): 1 + 7; signs (1, -1): 3 + 1
    assert infinity_to_one([[2, -3]]) == 5
    enclosed = infinity_to_one(as_balls(J))
    assert isinstance(enclosed, arb)
    assert enclosed.contains(arb(8))


@pytest.mark.parametrize("matrix", [[1, 2], np.ones((2, 17)), np.ones((2, 0))])
def test_signs_are_tried_for_small_matrices(matrix: Any) -> None:
    with pytest.raises(ValueError, match="All signs are tried"):
        infinity_to_one(matrix)


def test_distances_of_softmaxes() -> None:
    assert close(softmax_distance([0, fmpq(2)]), 2 * arb(fmpq(1, 2)).tanh())
    assert close(softmax_distance([-1, 1, fmpq(1, 3)]), 2 * arb(fmpq(1, 2)).tanh())
    assert softmax_distance([3]).is_zero()


@pytest.mark.parametrize("change", [[], [[1]], [1.0, float("nan")], [float("inf"), 0.0]])
def test_changes_of_scores_are_finite_rows(change: Any) -> None:
    with pytest.raises(ValueError, match=r"one row|finite"):
        softmax_distance(change)


def test_rows_of_balls_around_zero() -> None:
    """The squares of such balls as products are negative in part, so that their root would be NaN."""
    around = arb(0, fmpq(1, 8))
    norm = largest_row_norm(np.array([[around, around]], dtype=object))
    assert norm.is_finite()
    assert norm.contains(arb(0))
    assert norm.upper() < fmpq(1, 5)
    assert close(largest_row_norm([[3, 4], [0, -1]]), 5)
    assert close(largest_row_norm(np.array([[0.6, 0.8]])), 1)


@pytest.mark.parametrize("matrix", [[1, 2], np.zeros((0, 2)), [[float("inf")]], [[float("nan")]]])
def test_rows_are_those_of_a_finite_matrix(matrix: Any) -> None:
    with pytest.raises(ValueError, match=r"largest row|finite"):
        largest_row_norm(matrix)


def test_constants_scale_with_tokens_and_values() -> None:
    """f(c Z; A, M) = f(Z; c A, c^2 M): the constants of the tokens are invariant, the values count once."""
    one, other = input_constants(2, fmpq(3, 16), 2, fmpq(1, 7)), input_constants(2, fmpq(3, 64), 4, fmpq(1, 14))
    for name in ("printed", "halved", "sharp"):
        assert close(getattr(one, name), getattr(other, name))
        assert close(getattr(input_constants(6, fmpq(3, 16), 2, fmpq(1, 7)), name), 3 * getattr(one, name))
    assert close(input_constants(1, 1).sharp, 1 + arb(2).sqrt())
    assert close(input_constants(1, 0).sharp, 1)


def test_bounds_by_hand() -> None:
    assert close(head_change(1, 2, 3, 4, 5, 6), 132)
    assert close(block_error(1, 1, 1, fmpq(3, 4), 1, [0, 0, 0]), 2)
    assert close(block_error(1, 2, 3, 0, 1, [1, 1, 1], printed=True), 1 + 2 * (3 + 6 + 1))
    assert close(readout_error(2, 3, 4), 10)


BAD: list[Any] = [-1, float("nan"), float("inf"), "-1/2"]


@pytest.mark.parametrize("bad", BAD)
def test_norms_are_finite_and_not_negative(bad: Any) -> None:
    for call in (
        lambda: input_constants(bad, 1),
        lambda: input_constants(1, bad),
        lambda: input_constants(1, 1, 1, bad),
        lambda: head_change(1, 1, bad, 1, 1, 1),
        lambda: head_change(1, 1, 1, 1, 1, bad),
        lambda: block_error(1, 1, 1, bad, 1, [1, 1, 1]),
        lambda: block_error(1, 1, 1, 1, 1, [1, bad, 1]),
        lambda: readout_error(1, bad, 1),
    ):
        with pytest.raises(ValueError, match=r"not negative|finite"):
            call()


@pytest.mark.parametrize("radius", [0, -1])
def test_the_radius_is_positive(radius: Any) -> None:
    with pytest.raises(ValueError, match=r"positive|not negative"):
        input_constants(1, 1, radius)


def test_a_block_has_three_changes() -> None:
    with pytest.raises(ValueError, match="three changes"):
        block_error(1, 1, 1, 1, 1, [1, 1])
