"""Faults planted in distances of features: the deciding checks on them see them."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq

import numerics.parity.feature_distance as distances
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten
from theorems.hidden_progress import test_learned_features

STEP: dict[str, Any] = {"n": 7, "k": 2}
TAILS: dict[str, Any] = {"k": 4, "epsilon": fmpq(1, 10)}

FAULTS = [
    *(
        Fault(
            name,
            "claim-B.4.4",
            test_learned_features,
            "test_tails_of_the_largest_deviations",
            test_learned_features,
            attribute,
            rewritten(getattr(distances, attribute), old, new),
            TAILS,
        )
        for name, attribute, old, new in (
            ("the noise larger by a fiftieth", "feature_distance", "* threshold +", "* threshold * fmpq(51, 50) +"),
            ("the noise smaller by a fiftieth", "feature_distance", "* threshold +", "* threshold * fmpq(49, 50) +"),
            ("the shift of the bias forgotten", "feature_distance", "+ ratio / k", ""),
            ("the threshold of the printed proof", "noise_threshold", "2 * n *", "n / arb(2) *"),
            ("the threshold larger by a fiftieth", "noise_threshold", "(2 * n *", "fmpq(51, 50) * (2 * n *"),
            ("epsilon forgotten", "noise_threshold", "2 * k / arb(epsilon)", "2 * k / arb(1)"),
            ("the accuracy larger by a fiftieth", "largest_ratio", "arb(delta) * k", "arb(delta) * k * fmpq(51, 50)"),
            ("the accuracy smaller by a fiftieth", "largest_ratio", "arb(delta) * k", "arb(delta) * k * fmpq(49, 50)"),
        )
    ),
    *(
        Fault(
            name,
            "claim-B.4.4",
            test_learned_features,
            "test_features_after_the_step",
            owner,
            attribute,
            rewritten(getattr(distances, attribute), old, new),
            STEP,
        )
        for name, owner, attribute, old, new in (
            ("the coefficient of order k + 1 larger", test_learned_features, "irrelevant_weight", "k - 1,", "k,"),
            (
                "the error of irrelevant weights forgotten",
                test_learned_features,
                "irrelevant_weight",
                "+ ratio / k",
                "",
            ),
            ("the irrelevant weights in the range", distances, "irrelevant_weight", "+ ratio / k", "+ ratio / (k + 1)"),
            ("one input less in the range", test_learned_features, "feature_range", "(n - k)", "(n - k - 1)"),
            (
                "the relevant weights at half",
                test_learned_features,
                "feature_range",
                "fmpq(1, 2) + ratio",
                "fmpq(1, 2)",
            ),
        )
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch)
