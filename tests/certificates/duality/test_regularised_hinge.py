"""The least regularised hinge loss: against closed forms, brute force and descent; edits and bad input are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from lemmata.certificates.duality.hinge_loss import least_hinge_loss
from lemmata.certificates.duality.regularised_hinge import least_regularised_loss, regularised_loss, verify

TABLE, LABELS, LAW = np.array([[Q(1), Q(0)], [Q(1), Q(1)], [Q(-1), Q(2)]]), [1, -1, 1], [Q(1, 2), Q(1, 4), Q(1, 4)]


@pytest.mark.parametrize(("penalty", "least"), [(Q(2), Q(3, 4)), (Q(1, 2), Q(1, 4)), (Q(1, 9), Q(1, 18))])
def test_one_input_in_closed_form(penalty: Q, least: Q) -> None:
    """min of (1 - w)_+ + lambda w^2/2: lambda/2 at w = 1 for lambda <= 1, else 1 - 1/(2 lambda) at w = 1/lambda."""
    certificate = least_regularised_loss([[Q(1)]], [1], [Q(1)], penalty)
    assert certificate.gap == 0
    assert certificate.upper == least
    assert certificate.weights == (min(Q(1), 1 / penalty),)


def test_no_point_of_a_grid_is_better() -> None:
    certificate = least_regularised_loss(TABLE, LABELS, LAW, Q(1, 10))
    assert certificate.gap == 0
    grid = [Q(a, 4) for a in range(-12, 13)]
    values = [regularised_loss(TABLE, LABELS, LAW, Q(1, 10), [a, b]) for a in grid for b in grid]
    assert certificate.upper < min(values) < certificate.upper + Q(1, 20)


def test_a_small_penalty_comes_near_the_plain_hinge_loss() -> None:
    table = np.array([[1, 0], [1, 0], [0, 1]])
    plain = least_hinge_loss(table, [1, -1, 1], LAW)
    certificate = least_regularised_loss(table, [1, -1, 1], LAW, Q(1, 10**4))
    assert plain.value < certificate.lower <= certificate.upper < plain.value + Q(1, 10**3)
    assert regularised_loss(table, [1, -1, 1], LAW, 0, plain.readout) == plain.value


def test_dependent_features_leave_a_narrow_bracket() -> None:
    rows = np.array([[1.0, 1.0], [1.0, 1.0], [0.5, 0.5], [-0.3, -0.3]])
    certificate = least_regularised_loss(rows, [1, 1, -1, 1], [0.25] * 4, Q(1, 20))
    assert 0 <= certificate.gap < Q(1, 10**6)
    verify(rows, [1, 1, -1, 1], [0.25] * 4, Q(1, 20), certificate)


GOOD = least_regularised_loss(TABLE, LABELS, LAW, Q(1, 4))
TINY = Q(1, 2**90)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lower": GOOD.lower + TINY}, "The multipliers prove the lower bound"),
        ({"upper": GOOD.upper - TINY}, "The weights prove the upper bound"),
        ({"weights": (GOOD.weights[0] + TINY, GOOD.weights[1])}, "The weights prove the upper bound"),
        ({"multipliers": (LAW[0] + TINY, *GOOD.multipliers[1:])}, r"Multiplier 0 is .*, outside of \[0, 1/2\]"),
        ({"multipliers": (-TINY, *GOOD.multipliers[1:])}, "Multiplier 0 is"),
        ({"multipliers": GOOD.multipliers[1:]}, "2 weights and 3 multipliers, not 2 and 2"),
        ({"weights": (*GOOD.weights, Q(0))}, "2 weights and 3 multipliers, not 3 and 3"),
        ({"lower": float("nan")}, "A certificate must hold integers or Fractions, not nan"),
        ({"weights": (0.5, 0.5)}, "A certificate must hold integers or Fractions"),
    ],
)
def test_edited_certificates_are_refused(change: dict[str, Any], message: str) -> None:
    verify(TABLE, LABELS, LAW, Q(1, 4), GOOD)
    with pytest.raises(ValueError, match=message):
        verify(TABLE, LABELS, LAW, Q(1, 4), replace(GOOD, **change))


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ((TABLE[0], LABELS, LAW, 1), r"must have the shape \(inputs, D\)"),
        ((TABLE, LABELS[1:], LAW, 1), "with a label and a weight for each input"),
        ((TABLE, [1, 0, 1], LAW, 1), "The labels must be 1 or -1"),
        ((TABLE, LABELS, [-1, 1, 1], 1), "the weights of the law at least 0"),
        ((TABLE, LABELS, LAW, 0), "The penalty must be positive: without it, use least_hinge_loss"),
        ((TABLE, LABELS, LAW, -1), "The penalty must not be negative, but it is -1"),
        ((np.full((3, 1), np.inf), LABELS, LAW, 1), "The numbers must be finite, not inf"),
        ((np.full((3, 1), 1j), LABELS, LAW, 1), "is not exact"),
    ],
)
def test_bad_problems_are_refused(problem: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        least_regularised_loss(*problem)


def test_other_numbers_of_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="There must be 2 weights, one for each feature, not 1"):
        regularised_loss(TABLE, LABELS, LAW, 1, [1])


def test_a_solver_that_finds_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cvxpy.Problem.solve", lambda *_, **__: None)
    with pytest.raises(ValueError, match="The solver found no solution"):
        least_regularised_loss(TABLE, LABELS, LAW, 1)
