"""Faults planted in complexities, indicators, networks and comparators: the deciding checks of the chapter see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pytest
from flint import arb, fmpq

from constructions.recurrent import indicator
from constructions.recurrent.indicator import IndicatorFunction, indicator_function
from numerics.recurrent.complexities import complexity, smooth_complexity
from theorems.evidence import MARK
from theorems.rnn_sgd import test_complexities, test_indicator


@dataclass(frozen=True)
class Fault:
    """A fault, planted as an attribute of its owner, and the deciding check that must see it, with its arguments."""

    name: str
    statement: str
    module: ModuleType
    check: str
    owner: Any
    attribute: str
    faulty: Any
    arguments: dict[str, Any]


def scaled(function: Callable[..., Any], factor: object) -> Callable[..., Any]:
    """The function with its values multiplied by a factor."""
    return lambda *arguments, **named: function(*arguments, **named) * factor


def with_changed_terms(change: Callable[[Any], Any]) -> Callable[..., IndicatorFunction]:
    """The constructor of H with every term changed."""

    def faulty(*arguments: Any) -> IndicatorFunction:
        function = indicator_function(*arguments)
        return replace(function, terms=tuple(change(term) for term in function.terms))

    return faulty


WEIGHTS, LEVEL = IndicatorFunction.weights, indicator.clipping_level

FAULTS = [
    *(
        Fault(
            name,
            "lemma-5.1",
            test_indicator,
            "test_the_mean_is_the_polynomial",
            test_indicator,
            "indicator_function",
            with_changed_terms(change),
            {"degree": degree},
        )
        for name, change, degree in (
            ("a weight larger by a fiftieth", lambda t: replace(t, rational=t.rational * fmpq(51, 50)), 3),
            ("the sign of a weight", lambda t: replace(t, rational=-t.rational), 4),
            ("one power of S too few", lambda t: replace(t, power=t.power - 1), 5),
            ("even terms without a partner", lambda t: replace(t, paired=False), 2),
        )
    ),
    *(
        Fault(
            name,
            "lemma-5.1",
            test_indicator,
            "test_quadrature_gives_the_polynomial",
            owner,
            attribute,
            faulty,
            {"coefficients": [0, 0, 1], "variance": fmpq(2), "partner": partner},
        )
        for name, owner, attribute, faulty, partner in (
            (
                "weights larger by a fiftieth",
                IndicatorFunction,
                "weights",
                lambda f: [w * fmpq(51, 50) for w in WEIGHTS(f)],
                "linear",
            ),
            (
                "the sign's factor larger by a fiftieth",
                indicator,
                "_sign_factor",
                scaled(indicator._sign_factor, fmpq(51, 50)),
                "sign",
            ),
            ("Hermite polynomials of the wrong kind", indicator, "hermite", lambda i, z: z**i, "sign"),
        )
    ),
    Fault(
        "levels at half their height",
        "lemma-5.1",
        test_indicator,
        "test_the_clipped_function_is_bounded_and_near",
        test_indicator,
        "clipping_level",
        lambda degree, epsilon: LEVEL(degree, epsilon) / 2,
        {"coefficients": [0, 1], "variance": fmpq(2), "constant": 25},
    ),
    Fault(
        "levels at ten times their height",
        "lemma-5.1",
        test_indicator,
        "test_the_clipped_function_is_bounded_and_near",
        test_indicator,
        "clipping_level",
        lambda degree, epsilon: LEVEL(degree, epsilon) * 10,
        {"coefficients": [0, 1], "variance": fmpq(2), "constant": 25},
    ),
    Fault(
        "the smooth complexity larger",
        "def-complexity",
        test_complexities,
        "test_between_the_complexities",
        test_complexities,
        "smooth_complexity",
        scaled(smooth_complexity, arb(fmpq(5, 4))),
        {},
    ),
    Fault(
        "the complexity without its first sum",
        "def-complexity",
        test_complexities,
        "test_between_the_complexities",
        test_complexities,
        "complexity",
        lambda phi, radius, *rest: (
            complexity(phi, radius, *rest) - complexity(phi, radius, arb("0.999999999999"), *rest[1:])
        ),
        {},
    ),
    Fault(
        "the complexity of a larger radius",
        "example-2.1",
        test_complexities,
        "test_truncated_series_within_the_corrected_power",
        test_complexities,
        "complexity",
        lambda phi, radius, *rest: complexity(phi, 3 * radius, *rest),
        {"name": "tanh", "radius": 1},
    ),
]


def decided_by(function: Any) -> set[str]:
    """The statements that a test decides."""
    marks = [mark.args[0] for mark in getattr(function, "pytestmark", []) if mark.name == MARK]
    return {evidence.statement for evidence in marks if not evidence.supporting}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.statement}-{fault.name.replace(' ', '_')}")
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(fault.module, fault.check)
    assert f"rnn-sgd:{fault.statement}" in decided_by(function)
    function(**fault.arguments)
    monkeypatch.setattr(fault.owner, fault.attribute, fault.faulty)
    with pytest.raises(AssertionError):
        function(**fault.arguments)
