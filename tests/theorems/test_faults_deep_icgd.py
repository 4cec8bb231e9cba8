"""Faults planted in the update layer of the block: the deciding checks of theorems 1, 4 and 5 have to see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flint import fmpq

from constructions.descent import block, layers
from theorems.deep_icgd import test_theorem_1_block as decided
from theorems.evidence import MARK

STATEMENTS = ("deep-icgd:theorem-1", "deep-icgd:theorem-4", "deep-icgd:theorem-5")
FAULTS: dict[str, fmpq] = {"the sign flipped": fmpq(-1), "the rate scaled by 51/50": fmpq(51, 50)}


def deciding_check(statement: str) -> Callable[..., None]:
    """The deciding check of the corrected form, found by its mark."""
    found = [
        function
        for name, function in vars(decided).items()
        if name.startswith("test_")
        for mark in getattr(function, "pytestmark", [])
        if mark.name == MARK and mark.args[0].statement == statement and not mark.args[0].supporting
    ]
    assert len(found) == 1
    return found[0]


def record(name: str, value: Any) -> None:
    """Takes the place of `record_property`."""


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("widths", [(2, 2), (2, 2, 1), (1, 1, 1, 1)], ids=str)
def test_without_a_fault_the_check_passes(statement: str, widths: tuple[int, ...]) -> None:
    deciding_check(statement)(widths, record)


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("widths", [(2, 2), (2, 2, 1), (1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_update_is_seen(
    statement: str, widths: tuple[int, ...], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(layout: Any, step_size: fmpq, examples: int) -> Any:
        return layers.update_layer(layout, step_size * FAULTS[fault], examples)

    monkeypatch.setattr(block, "update_layer", faulty)
    with pytest.raises(AssertionError):
        deciding_check(statement)(widths, record)
