"""Faults planted in the library: the deciding checks of the chapter on sparse variable creation have to see them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq

import constructions.sparse.memorising as memorising
from theorems.evidence import MARK
from theorems.variable_creation import test_memorising

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
SEEN = (AssertionError, pytest.fail.Exception, ValueError)
"""What a failing check raises: an assertion, an error that did not come, or a certificate that refuses."""


def seen(statements: str, plant: Plant, test: Callable[..., None], *arguments: Any, patch: Patch) -> None:
    """The test decides the statements, passes as it is, and fails once the fault is planted."""
    marks = [mark.args[0] for mark in getattr(test, "pytestmark", []) if mark.name == MARK]
    decided = {one.statement for one in marks if one.kind == "check" and not one.supporting}
    assert {f"variable-creation:{name}" for name in statements.split()} <= decided
    test(*arguments)
    plant(patch)
    with pytest.raises(SEEN):
        test(*arguments)


# ---- the memorising perceptron


def _set(module: Any, name: str, value: Any) -> Plant:
    return lambda patch: patch.setattr(module, name, value)


def _lookup(**changes: Any) -> Plant:
    build = memorising._lookup
    return lambda patch: patch.setattr(memorising, "_lookup", lambda *parts, **known: build(*parts, **known | changes))


BUMPS = {
    "signs of a step": _set(memorising, "SIGNS", (1, -1, 1, -1)),
    "a plateau that is too wide": _set(memorising, "SHIFTS", (2, 1, -1, -3)),
    "a plateau that is shifted": _set(memorising, "SHIFTS", (3, 2, 0, -1)),
}
LAYERS = {
    "printed slopes": _lookup(slopes=(1, 1, -1, -1), shifts=(2, 1, 2, 1)),
    "a threshold that is too high": _lookup(biases=(fmpq(-3), fmpq(-4))),
    "a second ramp that is twice as high": _lookup(scale=fmpq(2)),
}


@pytest.mark.parametrize("fault", BUMPS)
def test_wrong_bumps_are_seen(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_ramps_and_bumps_at_all_breakpoints
    seen("construction-A.25nu", BUMPS[fault], check, Fraction(1, 2), patch=monkeypatch)


@pytest.mark.parametrize("fault", BUMPS | LAYERS)
def test_wrong_layers_are_seen_on_cubes(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_the_network_has_its_values_on_whole_cubes
    seen("lemma-A.25", (BUMPS | LAYERS)[fault], check, 2, 4, Fraction(1, 2), patch=monkeypatch)


@pytest.mark.parametrize("fault", ["signs of a step", *LAYERS])
def test_wrong_layers_are_seen_in_symmetric_functions(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_symmetric_functions_from_a_monotone_one
    seen("lemma-A.22", (BUMPS | LAYERS)[fault], check, 3, patch=monkeypatch)


@pytest.mark.parametrize("fault", ["signs of a step", *LAYERS])
def test_wrong_layers_are_seen_in_all_functions(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_all_functions_from_an_injective_one
    seen("lemma-A.23", (BUMPS | LAYERS)[fault], check, 2, patch=monkeypatch)


@pytest.mark.parametrize("fault", BUMPS)
def test_wrong_bumps_are_seen_on_a_line(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_one_hidden_layer_on_a_line_and_the_output_map_as_first_layer
    seen("remark-A.25", BUMPS[fault], check, patch=monkeypatch)
