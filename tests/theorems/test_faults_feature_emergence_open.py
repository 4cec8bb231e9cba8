"""Faults planted in the bounds for vanishing penalties: the deciding checks of theorem 7.1 have to see them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from numerics.margins import vanishing_penalty
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten
from theorems.feature_emergence import test_vanishing_penalty

RANGE = "test_the_loss_lies_between_its_bounds_which_are_attained"
SHARE = "test_the_share_of_the_margin_is_the_least_that_the_comparison_allows"
MULTIPLE = "test_the_loss_of_the_multiple_is_that_of_the_max_margin_network"
CASES: dict[str, dict[str, Any]] = {
    RANGE: {},
    SHARE: {"N": 4, "K": 9, "size": 20.0},
    MULTIPLE: {"n": 3, "r": Fraction(2)},
}


def edited(check: str, attribute: str, *edits: tuple[str, str, str]) -> list[Fault]:
    """Faults of one function: a name, a piece of its source, and what stands there instead."""
    function = getattr(vanishing_penalty, attribute)
    return [
        Fault(
            name,
            "theorem-7.1",
            test_vanishing_penalty,
            check,
            test_vanishing_penalty,
            attribute,
            rewritten(function, old, new),
            CASES[check],
        )
        for name, old, new in edits
    ]


FAULTS = [
    *edited(
        RANGE,
        "loss_range",
        ("a loss that is not a mean", "tail.log1p() / N", "tail.log1p()"),
        ("an example too many", "tail.log1p() / N", "tail.log1p() / (N + 1)"),
        ("a wrong label too few", "((K - 1) * tail)", "((K - 2) * tail)"),
        ("the right label among the wrong ones", "((K - 1) * tail)", "(K * tail)"),
        ("margins 2 per cent larger", "(-arb(margin)).exp()", "(-arb(margin) * 51 / 50).exp()"),
    ),
    *edited(
        SHARE,
        "margin_share",
        ("the examples", "-(N * (", "-(("),
        ("the right label among the wrong ones", "(K - 1) * (-arb", "K * (-arb"),
        ("a size 2 per cent larger", ".log() / size", ".log() * 50 / (51 * size)"),
        ("a size without its power", "(-arb(size)).exp()", "(-arb(size) / 2).exp()"),
        ("the wrong sign", "return -(", "return ("),
    ),
    *edited(
        MULTIPLE,
        "loss_of_best_multiple",
        ("the right label among the wrong ones", "((K - 1) * weight)", "(K * weight)"),
        ("the exponents exchanged", "arb(r / nu)", "arb(nu / r)"),
        ("a margin 2 per cent larger", "-weight.log() / best", "-weight.log() * 51 / (50 * best)"),
        ("no penalty", " + weight * (", " + 0 * ("),
    ),
    *edited(
        MULTIPLE,
        "least_size",
        ("the examples", "(N * loss", "(loss"),
        ("a loss 2 per cent smaller", "(N * loss", "(arb(49) / 50 * N * loss"),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "feature-emergence", monkeypatch)
