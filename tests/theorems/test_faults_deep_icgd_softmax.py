"""Faults planted in what settles the statements on softmax attention and scores: deciding checks have to see them."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb

from constructions.descent import contextual
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten
from theorems.deep_icgd import test_contextual


def contextual_fault(name: str, old: str, new: str, family: str = "both signs") -> Fault:
    check = "test_attention_is_a_contextual_mapping_on_extreme_families"
    faulty = rewritten(contextual.contextual_attention, old, new)
    return Fault(
        name, "lemma-17", test_contextual, check, test_contextual, "contextual_attention", faulty, {"name": family}
    )


def _separation(factor: Any, power: Any) -> property:
    def value(mapping: contextual.ContextualMapping) -> arb:
        T = mapping.sharpness * mapping.largest
        return factor * arb(mapping.shift / mapping.largest / T) * (-power * arb(T * mapping.spread)).exp()

    return property(value)


FAULTS = [
    contextual_fault("scores 2 % too near", "3 / (nearest", "fmpq(147, 50) / (nearest"),
    contextual_fault("scores 2 % too far", "3 / (nearest", "fmpq(153, 50) / (nearest"),
    contextual_fault("gaps left out of the sharpness", "3 / (nearest * least)", "3 / least", "near tokens"),
    contextual_fault("sizes left out of the sharpness", "3 / (nearest * least)", "3 / nearest", "a token near 0"),
    contextual_fault("the largest gap", "nearest = min(", "nearest = max(", "a token near 0"),
    contextual_fault("the least place without its sign", "min(map(abs, places))", "abs(places[0])"),
    contextual_fault("the largest place without its sign", "max(map(abs, places))", "places[0]", "near tokens"),
    contextual_fault("the shift 2 % too large", "epsilon / 4\n", "epsilon * 51 / 200\n"),
    contextual_fault("the shift not divided", "shift / largest\n", "shift\n"),
    contextual_fault("the spread of two tokens", "places[-1] - places[0]", "places[1] - places[0]", "near tokens"),
    contextual_fault("scores that ignore the attending token", "Affine(c * column)", "Affine(0 * column)"),
    contextual_fault("a causal head", "causal=False", "causal=True"),
    contextual_fault("hard attention", "causal=False", 'causal=False, weigh="hardmax"'),
    *(
        Fault(
            name,
            "lemma-17",
            test_contextual,
            "test_attention_is_a_contextual_mapping_on_extreme_families",
            contextual.ContextualMapping,
            "separation",
            _separation(factor, power),
            {"name": "both signs"},
        )
        for name, factor, power in (
            ("a bound 2 % too large", arb(51) / 25, 1),
            ("a bound with twice the exponent", 2, 2),
            ("a bound with 0.98 of the exponent", 2, arb(49) / 50),
        )
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "deep-icgd", monkeypatch)
