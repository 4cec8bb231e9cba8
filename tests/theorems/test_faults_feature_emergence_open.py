"""Faults planted in the bounds for vanishing penalties and in training: the deciding checks have to see them."""

from __future__ import annotations

import inspect
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.fourier.cyclic import folded_power
from lemmata.numerics.margins import group_descent, vanishing_penalty
from lemmata.numerics.margins.evaluation import group_margins
from lemmata.theorems.feature_emergence import test_experiments, test_vanishing_penalty, test_width_of_s3
from lemmata.theorems.feature_emergence.experiments import training
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

TWELVE = "test_twelve_neurons_attain_the_maximum"
SPAN = "test_outputs_of_random_optimal_neurons_span_fifty_five_dimensions"
RANGE = "test_the_loss_lies_between_its_bounds_which_are_attained"
SHARE = "test_the_share_of_the_margin_is_the_least_that_the_comparison_allows"
MULTIPLE = "test_the_loss_of_the_multiple_is_that_of_the_max_margin_network"
PARTS = "test_the_bound_from_its_parts"
CASES: dict[str, dict[str, Any]] = {
    RANGE: {},
    SHARE: {"N": 4, "K": 9, "size": 20.0},
    MULTIPLE: {"n": 3, "r": Fraction(2)},
    PARTS: {},
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
    *edited(
        PARTS,
        "margin_share_bound",
        ("a single example in the size", "least_size(examples, ", "least_size(1, "),
        ("a single example in the share", "margin_share(size, examples, ", "margin_share(size, 1, "),
        ("two labels in the share", "margin_share(size, examples, labels)", "margin_share(size, examples, 2)"),
        ("a size 2 per cent larger", "margin_share(size, ex", "margin_share(arb(51) / 50 * size, ex"),
    ),
]

TRAINED = [
    Fault(name, "experiment-D.2.1", test_experiments, "test_modular_addition_31", owner, attribute, faulty)
    for name, owner, attribute, faulty in (
        (
            "slopes 2 per cent larger",
            group_descent,
            "_block",
            rewritten(group_descent._block, "back = logits @ w", "back = logits @ w * np.float32(1.02)"),
        ),
        (
            "a ReLU with a slope below zero",
            group_descent,
            "_block",
            rewritten(group_descent._block, "back *= pre > 0", "back *= pre > -1"),
        ),
        (
            "a penalty with half its slope",
            training,
            "train_on_group",
            rewritten(group_descent.train_on_group, "single(2 * size)", "single(1 * size)"),
        ),
        (
            "powers of one frequency alone",
            training,
            "folded_power",
            lambda rows: folded_power(rows) / 2,
        ),
    )
]

MARGIN, IRREPS, MARGINS = closed_form_margin, real_irreps, group_margins


def skewed(turn: Any) -> Any:
    """The representations, with the matrices of degree 2 changed."""

    def faulty(group: Any) -> list[Any]:
        found: list[Any] = []
        for R in IRREPS(group):
            found.append(R if R.degree == 1 else SimpleNamespace(degree=2, matrices=turn(np.array(R.matrices))))
        return found

    return faulty


def one_turned(matrices: Any) -> Any:
    """One matrix turned by a tenth."""
    matrices[1] = matrices[1] @ np.array([[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]])
    return matrices


def reducible(matrices: Any) -> Any:
    """The trivial and the sign representation side by side."""
    return np.array([np.diag([1.0, np.linalg.det(matrix)]) for matrix in matrices])


WIDTH = [
    Fault(name, "ext-E4", test_width_of_s3, check, test_width_of_s3, attribute, faulty)
    for name, check, attribute, faulty in (
        ("a margin 2 per cent larger", TWELVE, "closed_form_margin", lambda game: MARGIN(game) * fmpq(51, 50)),
        ("a matrix that is turned", TWELVE, "real_irreps", skewed(one_turned)),
        ("a reducible representation", SPAN, "real_irreps", skewed(reducible)),
        ("phases of another group", TWELVE, "TURNS", (Fraction(3, 10), Fraction(1, 20), Fraction(2, 10))),
        (
            "margins 2 per cent smaller",
            TWELVE,
            "group_margins",
            lambda *given: SimpleNamespace(minimum=0.98 * MARGINS(*given).minimum),
        ),
    )
]


@pytest.mark.parametrize("fault", [*FAULTS, *TRAINED, *WIDTH], ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    if "record_property" in inspect.signature(getattr(fault.module, fault.check)).parameters:
        fault = replace(fault, arguments={"record_property": lambda name, value: None})
    assert_seen(fault, "feature-emergence", monkeypatch)
