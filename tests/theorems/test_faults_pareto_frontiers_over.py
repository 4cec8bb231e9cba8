"""Faults planted in over-sparse neurons, steps, grids and sizes: the deciding checks of the statements see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from flint import arb, fmpq

from theorems.evidence import MARK
from theorems.pareto_frontiers import test_good_neurons as good


class Quick:
    """Takes the place of the fixture `effort`."""

    def pick(self, *, quick: Any, **_: Any) -> Any:
        return quick


@dataclass(frozen=True)
class Fault:
    """A fault: a replacement of an attribute, for a deciding check of a statement, called with the arguments."""

    name: str
    statement: str
    module: ModuleType
    check: str
    owner: Any
    attribute: str
    faulty: Any
    arguments: Callable[[], dict[str, Any]] = field(default=dict)


VALUES, GRADIENT = good.over_sparse_values, good.sparse_gradient


def first_size() -> dict[str, Any]:
    return {"n": 11, "k": 2, "s": 9}


FAULTS = [
    Fault(
        "draws with replacement",
        "lemma-C.2",
        good,
        "test_the_probability_of_a_good_neuron",
        good,
        "good_probability",
        lambda n, k, s: fmpq(s, n) ** k,
    ),
    Fault(
        "the irrelevant value with the wrong sign",
        "lemma-C.3",
        good,
        "test_gradients_of_good_neurons",
        good,
        "over_sparse_values",
        lambda s, k: type(VALUES(s, k))(VALUES(s, k).relevant, -VALUES(s, k).irrelevant),
        first_size,
    ),
    Fault(
        "the irrelevant value larger by a fiftieth",
        "lemma-C.3",
        good,
        "test_the_ratio_of_the_two_values",
        good,
        "over_sparse_values",
        lambda s, k: type(VALUES(s, k))(VALUES(s, k).relevant, VALUES(s, k).irrelevant * fmpq(51, 50)),
        lambda: {"effort": Quick()},
    ),
    Fault(
        "a constant that some sizes undercut",
        "lemma-C.3",
        good,
        "test_the_constant_kappa_is_the_infimum",
        good,
        "gradient_floor",
        lambda k, floor=good.gradient_floor: floor(k) * arb("1.02"),
    ),
    Fault(
        "a bad neuron with the gradient of a good one",
        "lemma-C.4",
        good,
        "test_gradients_of_bad_neurons",
        good,
        "sparse_gradient",
        lambda neuron, support: GRADIENT(neuron, support) + VALUES(9, 2).irrelevant,
        first_size,
    ),
]


def decides(function: Any, statement: str) -> bool:
    marks = [mark.args[0] for mark in getattr(function, "pytestmark", []) if mark.name == MARK]
    return any(one.statement == f"pareto-frontiers:{statement}" and not one.supporting for one in marks)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.statement}: {fault.name}")
def test_a_deciding_check_sees_the_fault(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(fault.module, fault.check)
    assert decides(function, fault.statement), "the check must decide the statement"
    function(**fault.arguments())  # passes without the fault
    monkeypatch.setattr(fault.owner, fault.attribute, fault.faulty)
    with pytest.raises((AssertionError, ValueError)):
        function(**fault.arguments())
