"""Faults planted in gaps, training and statistics: the deciding checks on experiments with parities see them."""

from __future__ import annotations

from typing import Any

import pytest

from numerics.fourier import gaps
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten
from theorems.hidden_progress import test_sinusoid_gaps
from theorems.plugin import Effort

QUICK = Effort("quick")
GAP, MAJORITY = gaps.sinusoid_gap, gaps.majority_gap
DRAWN: dict[str, Any] = {"law": "gaussian", "k": 4, "effort": QUICK, "record_property": lambda name, value: None}

FAULTS = [
    *(
        Fault(
            name,
            "experiment-B.8-left",
            test_sinusoid_gaps,
            "test_relaxed_gaps_of_random_sinusoids",
            test_sinusoid_gaps,
            "sinusoid_gap",
            rewritten(GAP, old, new),
            DRAWN,
        )
        for name, old, new in (
            (
                "the sines larger by a fiftieth",
                "sine_product, cosine_product = arb(1)",
                "sine_product, cosine_product = arb(51) / 50",
            ),
            ("the cosines larger by a fiftieth", "= arb(1), arb(1)", "= arb(1), arb(51) / 50"),
            ("the phase a quarter turn off", "len(chosen) - 1)", "len(chosen))"),
            ("the irrelevant sine forgotten", "abs(sines[j] * rest * sine_product)", "abs(rest * sine_product)"),
            ("the relevant cosine forgotten", "abs(cosines[i] * rest", "abs(rest"),
        )
    ),
    Fault(
        "the gap of signs larger by a fiftieth",
        "experiment-B.8-left",
        test_sinusoid_gaps,
        "test_gaps_of_signs_are_comparable_at_every_length",
        test_sinusoid_gaps,
        "sinusoid_gap",
        rewritten(GAP, "= arb(1), arb(1)", "= arb(1), arb(51) / 50"),
        {"k": 2},
    ),
    Fault(
        "the gap of majority larger by a fiftieth",
        "experiment-B.8-left",
        test_sinusoid_gaps,
        "test_gaps_of_signs_are_comparable_at_every_length",
        test_sinusoid_gaps,
        "majority_gap",
        rewritten(MAJORITY, "abs(majority_coefficient(n, k - 1))", "51 * abs(majority_coefficient(n, k - 1)) / 50"),
        {"k": 2},
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch)
