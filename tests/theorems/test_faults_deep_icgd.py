"""Faults planted in the layers of the block: the deciding checks of the statements on them have to see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from flint import fmpq

from lemmata.constructions.descent import block, layers
from lemmata.numerics.functions import relu_sums
from lemmata.theorems.deep_icgd import (
    test_layers,
    test_layers_update,
    test_softmax,
    test_theorem_1_block,
    test_theorem_2,
    test_trajectory,
)
from lemmata.theorems.evidence import MARK
from lemmata.theorems.plugin import Effort

UPDATES: dict[str, fmpq] = {"the sign flipped": fmpq(-1), "the rate scaled by 51/50": fmpq(51, 50)}
THEOREMS = [
    *(
        (f"deep-icgd:{name}", test_theorem_1_block, widths)
        for name in ("theorem-1", "theorem-4", "theorem-5")
        for widths in ((2, 2), (2, 2, 1), (1, 1, 1, 1))
    ),
    ("deep-icgd:theorem-2", test_theorem_2, (2, 2)),
]

NAMES = [f"{statement}-{widths}" for statement, _, widths in THEOREMS]


def deciding_check(statement: str, module: ModuleType, **arguments: Any) -> Callable[[], None]:
    """The deciding check of a statement in a module, found by its mark, as a call without arguments."""
    found = [
        function
        for name, function in vars(module).items()
        if name.startswith("test_")
        for mark in getattr(function, "pytestmark", [])
        if mark.name == MARK
        and mark.args[0].statement == statement
        and mark.args[0].kind == "check"
        and not mark.args[0].supporting
    ]
    assert len(found) == 1
    names = found[0].__code__.co_varnames[: found[0].__code__.co_argcount]
    fixtures = {"effort": Effort("quick"), "record_property": lambda name, value: None}
    return lambda: found[0](**{name: (fixtures | arguments)[name] for name in names})


@pytest.mark.parametrize(("statement", "module", "widths"), THEOREMS, ids=NAMES)
def test_without_a_fault_the_check_passes(statement: str, module: ModuleType, widths: tuple[int, ...]) -> None:
    deciding_check(statement, module, widths=widths)()


@pytest.mark.parametrize(("statement", "module", "widths"), THEOREMS, ids=NAMES)
@pytest.mark.parametrize("fault", UPDATES)
def test_a_fault_in_the_update_is_seen(
    statement: str, module: ModuleType, widths: tuple[int, ...], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(layout: Any, step_size: fmpq, examples: int) -> Any:
        return layers.update_layer(layout, step_size * UPDATES[fault], examples)

    monkeypatch.setattr(block, "update_layer", faulty)
    with pytest.raises(AssertionError):
        deciding_check(statement, module, widths=widths)()


# ---- the layers one by one


def scaled(f: relu_sums.ReluSum, factor: fmpq) -> relu_sums.ReluSum:
    return replace(f, coefficients=f.coefficients * factor)


def bent_head(*arguments: Any, **options: Any) -> Any:
    """A head whose scores are scaled by 21/20."""
    return HEAD(*arguments, **options, sharpness=fmpq(21, 20))


HEAD, DISTANCES = test_softmax.Head, test_trajectory.trajectory_error
GAIN, SHAPE = fmpq(6, 5), (4, 4, 1)
LAYERS: list[tuple[str, ModuleType, str, Callable[..., Any], dict[str, Any]]] = [
    *(
        (f"deep-icgd:{lemma}", test_layers, name, faulty, {"shape": SHAPE})
        for lemma in ("lemma-2", "lemma-9", "lemma-3", "lemma-10")
        for name, faulty in (
            ("forward_layer", lambda layout, j, f: layers.forward_layer(layout, j, scaled(f, GAIN))),
            ("derivative_layer", lambda layout, f: layers.derivative_layer(layout, scaled(f, 2 * GAIN))),
        )
    ),
    *(
        (f"deep-icgd:{lemma}", test_layers, "loss_gradient_layer", faulty, {})
        for lemma in ("lemma-4", "lemma-11")
        for faulty in (
            lambda layout, u, bound: layers.loss_gradient_layer(layout, u, bound * fmpq(9, 10)),
            lambda layout, u, bound: layers.loss_gradient_layer(layout, scaled(u, fmpq(51, 50)), bound),
        )
    ),
    *(
        (
            f"deep-icgd:{lemma}",
            test_layers,
            "error_layer",
            lambda layout, j: layers.error_layer(layout, max(j, 2)),
            {"shape": (2, 2, 1, 3, 2)},
        )
        for lemma in ("lemma-5", "lemma-12")
    ),
    (
        "deep-icgd:construction-update",
        test_layers_update,
        "update_layer",
        lambda layout, eta, n: layers.update_layer(layout, eta, n + 1),
        {"shape": (2, 3, 4)},
    ),
    (
        "deep-icgd:construction-proj",
        test_layers_update,
        "projection_layer",
        lambda layout, lower, upper: layers.projection_layer(layout, lower, upper * fmpq(51, 50)),
        {},
    ),
    (
        "deep-icgd:lemma-14",
        test_trajectory,
        "trajectory_error",
        lambda errors, eta, L: [d / 8 for d in DISTANCES(errors, eta, L)],
        {"seed": 0},
    ),
    ("deep-icgd:definition-11", test_softmax, "Head", bent_head, {"d": 2, "hidden": 3, "n": 3}),
    (
        "deep-icgd:definition-13",
        test_softmax,
        "Head",
        lambda query, key, value, causal: HEAD(query, query, value, weigh="hardmax", causal=causal),
        {},
    ),
]


@pytest.mark.parametrize(
    ("statement", "module", "name", "faulty", "arguments"),
    LAYERS,
    ids=[f"{statement}-{name}" for statement, _, name, _, _ in LAYERS],
)
def test_a_fault_in_a_layer_is_seen(
    statement: str,
    module: ModuleType,
    name: str,
    faulty: Callable[..., Any],
    arguments: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = deciding_check(statement, module, **arguments)
    run()
    monkeypatch.setattr(module, name, faulty)
    with pytest.raises(AssertionError):
        run()
