"""Faults in the forms and programs of tables: wrong values that a deciding check of ext-T1 or ext-T2 has to see."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lemmata.certificates.tables import forms, programs
from lemmata.certificates.tables.programs_template import Template
from lemmata.theorems.feature_emergence import test_tables_bounds as bounds
from lemmata.theorems.feature_emergence import test_tables_three_labels as three_labels
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten


class LouderTarget(Template):
    """The part of the target without t, 2 % too large."""

    @cached_property
    def target(self) -> Any:  # type: ignore[override]
        return 1.02 * Template.target.func(self)


class FlatScale(Template):
    """x_i x_j with the weight of x_i^2."""

    @cached_property
    def scale(self) -> NDArray[np.float64]:  # type: ignore[override]
        own = Template.scale.func(self)
        return np.where(own == np.sqrt(2), 1.0, own)


class EqualHalves(Template):
    """y_1^2 with the weight of y_0^2 in the plane program."""

    @cached_property
    def scale(self) -> NDArray[np.float64]:  # type: ignore[override]
        own = Template.scale.func(self)
        return np.where(own == np.sqrt(3), 1.0, own)


PAYOFFS = ("ext-T1", bounds, "test_payoffs_are_quadratic_forms")
LENGTH = ("ext-T2", three_labels, "test_the_plane_program_is_the_largest_length")
MARGINS = ("ext-T2", three_labels, "test_known_margins_are_between_the_bounds")
WHOLE, ADDITION = {"name": "whole"}, {"name": "Z_3"}

FAULTS = [
    Fault(
        "the wrong label is not subtracted",
        *PAYOFFS,
        bounds,
        "residual",
        rewritten(forms.residual, "[a, b, c] -= value", "[a, b, c] -= 0 * value"),
        WHOLE,
    ),
    Fault(
        "squares of columns are lost",
        *PAYOFFS,
        bounds,
        "form_matrices",
        rewritten(forms.form_matrices, "tensor.sum(axis=0).T", "0 * tensor.sum(axis=0).T"),
        WHOLE,
    ),
    Fault(
        "twice the mixed terms",
        *PAYOFFS,
        bounds,
        "form_matrices",
        rewritten(forms.form_matrices, "= tensor.transpose(2, 0, 1)", "= 3 * tensor.transpose(2, 0, 1)"),
        WHOLE,
    ),
    Fault(
        "the sum of two matrices is their difference",
        *LENGTH,
        three_labels,
        "plane_matrices",
        rewritten(forms.plane_matrices, "matrices[0] + matrices[1]", "matrices[0] - 0.98 * matrices[1]"),
    ),
    Fault(
        "phi of the plane is 2 per cent too large",
        *LENGTH,
        programs,
        "scaled_phi",
        rewritten(forms.scaled_phi, "t / sqrt(2)", "1.02 * t / sqrt(2)"),
    ),
    Fault("the target of the plane is 2 per cent too large", *LENGTH, programs, "template", LouderTarget),
    Fault("the halves of the plane weigh the same", *LENGTH, programs, "template", EqualHalves),
    Fault(
        "the split of a neuron is 2 per cent off",
        *MARGINS,
        programs,
        "NEURON_FACTOR",
        1.02 * forms.NEURON_FACTOR,
        ADDITION,
    ),
    Fault("the norm is flat", *MARGINS, programs, "template", FlatScale, ADDITION),
    Fault(
        "the wrong label counts 2 per cent less",
        *MARGINS,
        programs,
        "_triple_tensors",
        rewritten(programs._triple_tensors, "[1.0, -1.0]", "[1.0, -0.98]"),
        ADDITION,
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_the_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "feature-emergence", monkeypatch)
