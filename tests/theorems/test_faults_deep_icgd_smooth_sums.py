"""Faults planted in sums of ReLUs for functions of several variables: deciding checks of Lemma 7 have to see them."""

from __future__ import annotations

from typing import Any

import pytest

from lemmata.numerics.functions import several_variables
from lemmata.theorems.deep_icgd import test_smooth_sums
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

NETWORKS = ("test_networks_from_profiles", {"k": 2, "derivative": False, "n": 16})
ODD = ("test_networks_from_profiles", {"k": 1, "derivative": True, "n": 1})
WEIGHTS = ("test_weights_of_networks_from_profiles", {"k": 1, "derivative": False, "n": 1})
DRAWN = ("test_few_units_of_a_network_suffice", {"k": 1, "share": "1/2", "cells": 400, "effort": Effort("quick")})
MEAN = ("test_draws_have_the_network_as_their_mean", {})
UNITS = ("test_the_number_of_units_makes_failure_unlikely", {"k": 2, "x": 7})
CONTINUED = ("test_continuation_keeps_all_derivatives", {"s": 3})
CONSTANTS = ("test_constants_of_the_lemma", {"k": 2})
ONE_VARIABLE = ("test_constants_of_the_lemma", {"k": 1})
LARGER = ("test_sums_on_larger_cubes", {})
Check = tuple[str, dict[str, Any]]


def fault(name: str, where: str, attribute: str, old: str, new: str, check: Check) -> Fault:
    """A fault in a function that the check itself calls ("check"), or that the library calls ("library")."""
    faulty = rewritten(getattr(several_variables, attribute), old, new)
    owner = test_smooth_sums if where == "check" else several_variables
    return Fault(name, "lemma-7", test_smooth_sums, check[0], owner, attribute, faulty, check[1])


FAULTS = [
    fault(
        "weights 2 % too large",
        "check",
        "superposition",
        "f.coefficients * weight",
        "f.coefficients * weight * fmpq(51, 50)",
        NETWORKS,
    ),
    fault(
        "weights without a sign",
        "check",
        "superposition",
        "f.coefficients * weight",
        "f.coefficients * abs(weight)",
        ODD,
    ),
    fault("directions negated", "check", "superposition", "direction, R))", "[-x for x in direction], R))", ODD),
    fault(
        "the last part dropped", "check", "superposition", " direction in parts]", " direction in parts[:-1]]", WEIGHTS
    ),
    fault("errors not weighed", "check", "superposition", "abs(weight) * f.error", "f.error", WEIGHTS),
    fault(
        "coefficients 2 % too small", "check", "thinned", "f.weight / units", "f.weight * fmpq(49, 50) / units", DRAWN
    ),
    fault("signs dropped", "check", "thinned", "(1 if f.coefficients[h] > 0 else -1)", "1", MEAN),
    fault("multiplicities dropped", "check", "thinned", "* int(counts[h])", "", DRAWN),
    fault(
        "a draw without regard to sizes",
        "check",
        "thinned",
        "sizes / sizes.sum()",
        "np.full(len(sizes), 1 / len(sizes))",
        MEAN,
    ),
    fault(
        "a draw by the roots of the sizes",
        "check",
        "thinned",
        "sizes / sizes.sum()",
        "sizes**0.5 / (sizes**0.5).sum()",
        MEAN,
    ),
    fault(
        "a draw that costs nothing", "check", "thinned", "f.error + deviation_bound(f, drawn, cells)", "f.error", DRAWN
    ),
    fault("a deviation at the centres alone", "check", "deviation_bound", " + slope * R / cells", "", DRAWN),
    fault(
        "a Lipschitz constant 2 % too small",
        "check",
        "deviation_bound",
        "slope * R / cells",
        "slope * R * fmpq(49, 50) / cells",
        DRAWN,
    ),
    fault(
        "centres at the corners",
        "check",
        "deviation_bound",
        "2 * np.arange(cells) + 1 - cells",
        "2 * np.arange(cells) - cells",
        DRAWN,
    ),
    fault("a Lipschitz constant with the intercept", "library", "_slope", "row[:-1]", "row", DRAWN),
    fault("rounding that costs nothing", "check", "deviation_bound", " + rounding", "", LARGER),
    fault("a slope on the unit cube", "check", "deviation_bound", "slope * R / cells", "slope / cells", LARGER),
    fault("centres in the unit cube", "check", "deviation_bound", "float(R) * (2", "(2", LARGER),
    fault("the larger of two cubes", "check", "deviation_bound", "min(radii)", "max(radii)", LARGER),
    fault("rounding on the unit cube", "check", "deviation_bound", "max(R, fmpq(1))", "fmpq(1)", LARGER),
    fault("a claim on the unit cube", "check", "superposition", "radius=R", "radius=fmpq(1)", LARGER),
    fault("half of the error twice", "check", "units_within", "8 * arb", "4 * arb", UNITS),
    fault("2 % fewer units", "check", "units_within", "8 * arb", "arb('7.84') * arb", UNITS),
    fault("one unit fewer", "check", "units_within", ".floor()) + 1", ".floor())", UNITS),
    fault("a coarser net", "check", "units_within", "(4 * C / eps)", "(2 * C / eps)", UNITS),
    fault("a net in one variable", "check", "units_within", " ** variables", "", UNITS),
    fault("one tail of two", "check", "units_within", "(2 * N).log()", "N.log()", UNITS),
    fault("nodes 2 % too far", "check", "extension", "fmpq(2 * i, order)", "fmpq(51 * i, 25 * order)", CONTINUED),
    fault("one node fewer", "check", "extension", "range(order + 1)", "range(order)", CONTINUED),
    fault("extrapolation to 49/50", "check", "extension", "(1 + other)", "(fmpq(49, 50) + other)", CONTINUED),
    fault("nodes of another length", "library", "extension", "fmpq(2 * i, order)", "fmpq(3 * i, 2 * order)", CONSTANTS),
    fault("the printed number of derivatives", "check", "sum_bounds", "(k + 4) // 2", "(k + 2) // 2", CONSTANTS),
    fault("the lowest order dropped", "check", "sum_bounds", "highest + lowest", "highest", CONSTANTS),
    fault("the volume of [-1, 1]^k", "check", "sum_bounds", "4**k", "2**k", CONSTANTS),
    fault("the whole energy", "check", "sum_bounds", "(highest + lowest)) / 2", "(highest + lowest))", CONSTANTS),
    fault("a power of 2 pi too much", "check", "sum_bounds", "** (1 - k)", "** (2 - k)", CONSTANTS),
    fault("half of the sphere", "check", "sum_bounds", "2 * pi.sqrt()", "pi.sqrt()", CONSTANTS),
    fault("directions of length 1 at the ends", "check", "sum_bounds", "root**3", "root", CONSTANTS),
    fault("14 for 12", "check", "sum_bounds", "14 * root", "12 * root", CONSTANTS),
    fault("no affine part", "check", "sum_bounds", "(w, 1 + 2 * k + w, units)", "(w, w, units)", CONSTANTS),
    fault(
        "a mass 2 % too small",
        "check",
        "sum_bounds",
        "(w, 1 + 2 * k + w, units)",
        "(w * arb('0.98'), 1 + 2 * k + w, units)",
        CONSTANTS,
    ),
    fault("units of a coarser net", "check", "sum_bounds", "(1 + 4 * w).log()", "(1 + 2 * w).log()", CONSTANTS),
    fault(
        "units without the logarithm of 2", "check", "sum_bounds", "8 * w**2 * (1 + k + ", "8 * w**2 * (k + ", CONSTANTS
    ),
    fault("units without the affine part", "check", "sum_bounds", "(2 * k + 2) / log_2 + ", "", ONE_VARIABLE),
    fault("a cut-off without derivatives", "library", "_continued", "comb(b, j) * y[j]", "(j == 0)", CONSTANTS),
    fault("Leibniz without binomials", "library", "_continued", "comb(b, j) * ", "", CONSTANTS),
    fault(
        "a cut-off half as steep",
        "library",
        "_continued",
        "slope = 2 * slope.derivative()",
        "slope = slope.derivative()",
        CONSTANTS,
    ),
    fault(
        "a continuation without its growth", "library", "_continued", "abs(alpha) * beta**j", "abs(alpha)", CONSTANTS
    ),
    fault("continuation weights with signs", "library", "_continued", "abs(alpha) * beta", "alpha * beta", CONSTANTS),
    fault("one variable fewer", "library", "_power", "range(exponent)", "range(exponent - 1)", CONSTANTS),
]


@pytest.mark.parametrize("one", FAULTS, ids=fault_name)
def test_a_fault_is_seen(one: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(one, "deep-icgd", monkeypatch)
