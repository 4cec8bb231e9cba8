"""Faults planted in the library: the checks of packings and of the lower bounds for other networks have to see them."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import pytest
from flint import arb, fmpq

import numerics.learning.packings as packings
import numerics.tokens.mixed_norms as mixed_norms
from tests.theorems.planted_faults import Fault, assert_seen, fault_name
from theorems.plugin import Effort
from theorems.qstr import test_mixed_norms, test_packings


def _changed(function: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function whose result is changed."""
    return lambda *given, **known: change(function(*given, **known))


def _scaled(function: Callable[..., Any], factor: str) -> Callable[..., Any]:
    return _changed(function, lambda value: value * arb(factor))


# ---- packings and norms

MEANS = "test_means_are_counted"
ELLIPSOIDS = "test_the_bounds_of_ellipsoids_are_their_formulas"
ESTIMATE = "test_the_estimate_of_the_number_of_means"
LONGER = _changed(packings._distance, lambda eps: eps * fmpq(51, 50))
SHORTER = _changed(packings._distance, lambda eps: eps * fmpq(49, 50))
LINE = "test_volumes_are_sharp_on_a_line"
DIFFERENT = "test_points_of_a_packing_have_different_means"


def _packing(name: str, check: str, attribute: str, faulty: Any, module: Any = packings, **arguments: Any) -> Fault:
    return Fault(name, "lemma-41", test_packings, check, module, attribute, faulty, arguments)


def _of_test(name: str, check: str, factor: str) -> Fault:
    """A bound that is scaled."""
    return _packing(f"{name} times {factor}", check, name, _scaled(getattr(packings, name), factor), test_packings)


def _roots(squared_axes: Any) -> list[fmpq]:
    return [s * fmpq(51, 50) for s in squared_axes]


PACKINGS = [
    _packing("means without the origin", MEANS, "comb", lambda n, k: comb(n - 1, k)),
    _packing("distances that are too short for means", MEANS, "_distance", SHORTER),
    _packing("distances that are too long for volumes", LINE, "_distance", LONGER, pieces=3),
    _packing("distances that are too long for ellipsoids", ELLIPSOIDS, "_distance", LONGER),
    _packing("squares of axes that are too large", ELLIPSOIDS, "_squared_axes", _roots),
    _packing(
        "packings that are too dense",
        DIFFERENT,
        "_distance",
        _changed(packings._distance, lambda eps: eps / 2),
        d=1,
        effort=Effort("quick"),
    ),
    *(_of_test("sparse_estimate", ESTIMATE, factor) for factor in ("0.98", "1.02")),
    *(_of_test("ellipsoid_bound", ELLIPSOIDS, factor) for factor in ("0.98", "1.02")),
    *(_of_test("ellipsoid_estimate", ELLIPSOIDS, factor) for factor in ("0.98", "1.02")),
]


def _norm(name: str, check: str, attribute: str, faulty: Any, module: Any = mixed_norms, **arguments: Any) -> Fault:
    return Fault(name, "lemma-39", test_mixed_norms, check, module, attribute, faulty, arguments)


HAND = "test_norms_by_hand"
NORMS = [
    _norm("norms two per cent too large", HAND, "_norm", _scaled(mixed_norms._norm, "1.02")),
    _norm("norms without the last column", HAND, "as_balls", _changed(mixed_norms.as_balls, lambda A: A[:, :-1])),
    _norm("norms of rows", HAND, "as_balls", _changed(mixed_norms.as_balls, lambda A: A.T)),
    _norm(
        "exponents that are not conjugate",
        "test_equality_for_aligned_matrices",
        "conjugate",
        lambda p: p,
        test_mixed_norms,
        p=3,
        r=2,
        s=3,
    ),
]


@pytest.mark.parametrize("fault", [*PACKINGS, *NORMS], ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "qstr", monkeypatch)
