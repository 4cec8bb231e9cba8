"""Faults planted in the tables of operations: the deciding checks of ext-T1 to ext-T7 have to see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import lemmata.certificates.operation_kernel as operation_kernel
import lemmata.certificates.tables.forms as forms
import lemmata.certificates.tables.neurons as neurons
import lemmata.certificates.tables.plane_networks as plane_networks
import lemmata.certificates.tables.programs as programs
import lemmata.certificates.tables.pseudo_moments as pseudo_moments
import lemmata.certificates.tables.relaxed_groups as relaxed_groups
import lemmata.certificates.tables.rounding as rounding
import lemmata.certificates.tables.unseen_parts as unseen_parts
import lemmata.certificates.tables.unseen_programs as unseen_programs
import lemmata.numerics.tables.symmetries as symmetries
from lemmata.certificates.game.margin_game import MarginGame
from lemmata.certificates.kernel import ViolatedError
from lemmata.theorems.feature_emergence import test_tables_bounds as bounds
from lemmata.theorems.feature_emergence import test_tables_gaps as gap_checks
from lemmata.theorems.feature_emergence import test_tables_groups as groups
from lemmata.theorems.feature_emergence import test_tables_products as products
from lemmata.theorems.feature_emergence import test_tables_three_labels as three
from lemmata.theorems.feature_emergence import test_tables_unseen as unseen
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

QUICK = {"effort": Effort("quick")}
PseudoMoments, RoundedProof = pseudo_moments.PseudoMoments, rounding.RoundedProof


def _turned_symmetries(table: Any) -> Any:
    """The symmetries with the images of two labels exchanged in one generator, unchecked."""
    found = TABLE_SYMMETRIES(table)
    first = list(found.generators[0])
    first[-1], first[-2] = first[-2], first[-1]
    object.__setattr__(found, "generators", (tuple(first), *found.generators[1:]))
    return found


TABLE_SYMMETRIES, ROUNDED_BOUND, EXACT_PART = (
    symmetries.table_symmetries,
    rounding.rounded_bound,
    unseen_parts.exact_part,
)


def _lowered(*given: Any, **named: Any) -> Any:
    """The proof with t 2 per cent too small."""
    found = ROUNDED_BOUND(*given, **named)
    return replace(found, proof=replace(found.proof, t=found.proof.t / Fraction(102, 100)))


def _raised(*given: Any, **named: Any) -> Any:
    found = ROUNDED_BOUND(*given, **named)
    return replace(found, proof=replace(found.proof, t=found.proof.t * Fraction(102, 100)))


def _lowered_part(*given: Any, **named: Any) -> Any:
    part, weights = EXACT_PART(*given, **named)
    return replace(part, proof=replace(part.proof, t=part.proof.t / Fraction(102, 100) ** 2)), weights


def _more_multipliers(*given: Any, **named: Any) -> Any:
    part, weights = EXACT_PART(*given, **named)
    return replace(part, multipliers=tuple(51 * x // 50 for x in part.multipliers)), weights


def _method(owner: type, name: str, old: str, new: str) -> Any:
    """A method or property with one piece of its source replaced."""
    found = owner.__dict__[name]
    function = found.fget if isinstance(found, property) else found
    assert function is not None
    return rewritten(function, old, new)  # the source of a property has its decorator, so that this is one, too


WHOLE, DEGREE_4, MEET = {"name": "whole"}, {"name": "degree 4"}, "test_networks_of_few_neurons_meet_the_bound"
ASKED = {"name": "Z_3 without (0, 0), right against 1"}

FAULTS = [
    Fault(
        "the right label counted twice", "ext-T1", bounds, "test_payoffs_are_quadratic_forms", bounds, "residual",
        rewritten(forms.residual, "table.values[a][b]] += value", "table.values[a][b]] += 2 * value"), WHOLE,
    ),
    Fault(
        "no u_a v_b below the diagonal", "ext-T1", bounds, "test_payoffs_are_quadratic_forms", bounds, "form_matrices",
        rewritten(forms.form_matrices, "tensor.transpose(2, 1, 0)", "0 * tensor.transpose(2, 1, 0)"), WHOLE,
    ),
    Fault(
        "a label that is not moved rightly", "ext-T1", bounds, "test_symmetries_keep_margins", bounds,
        "table_symmetries", _turned_symmetries, {"name": "addition modulo 3"},
    ),
    Fault(
        "wrong labels with no sign", "ext-T1", bounds, "test_no_multipliers_have_the_form_zero", bounds, "residual",
        rewritten(forms.residual, "table.values[a][b]] += value", "table.values[a][b]] += 0 * value"), WHOLE,
    ),
    Fault(
        "t 2 per cent too small", "ext-T1", bounds, "test_gram_matrices_satisfy_the_identity", bounds,
        "rounded_bound", _lowered, DEGREE_4,
    ),
    Fault(
        "28 for 27", "ext-T1", bounds, "test_networks_stay_below_the_bounds", RoundedProof, "square",
        _method(RoundedProof, "square", "(4, 27)", "(4, 28)"), DEGREE_4,
    ),
    Fault(
        "margins 2 per cent too large", "ext-T1", bounds, "test_networks_stay_below_the_bounds", neurons, "_below",
        rewritten(neurons._below, "coefficient * Fraction(root", "Fraction(51, 50) * coefficient * Fraction(root"),
        DEGREE_4,
    ),
    Fault(
        "sqrt 2 of the plane 2 per cent off", "ext-T2", three, "test_the_plane_program_is_the_largest_length",
        programs, "scaled_phi", rewritten(forms.scaled_phi, "t / sqrt(2)", "t / sqrt(2) / 1.02"),
    ),
    Fault(
        "an output at another angle", "ext-T2", three, MEET, three, "plane_network",
        rewritten(plane_networks.plane_network, "-cosine - sine / sqrt(3)", "-cosine - sine / 2"), QUICK,
    ),
    Fault(
        "masses without their angle", "ext-T2", three, MEET, three, "plane_network",
        rewritten(plane_networks.plane_network, "(squares * lengths**2 * outputs)", "(lengths**2 * outputs)"), QUICK,
    ),
    Fault(
        "no vectors of the Schur complement", "ext-T2", three, "test_sums_of_products", three,
        "product_decomposition",
        rewritten(plane_networks.product_decomposition, "positive = rest_values > ", "positive = rest_values > 1e9 + "),
        {"size": 3, "terms": 4},
    ),
    Fault(
        "slopes 2 per cent off", "ext-T2", three, "test_sums_of_products", three, "product_decomposition",
        rewritten(plane_networks.product_decomposition, "len(slopes)), slopes)", "len(slopes)), 1.02 * slopes)"),
        {"size": 3, "terms": 2},
    ),
    Fault(
        "28 for 27", "ext-T2", three, "test_known_margins_are_between_the_bounds", RoundedProof, "square",
        _method(RoundedProof, "square", "(4, 27)", "(4, 28)"), {"name": "Z_3"},
    ),
    Fault(
        "the true dimension", "ext-T3", groups, "test_gaps_of_extraspecial_groups", relaxed_groups,
        "relaxed_dimension", rewritten(relaxed_groups.relaxed_dimension, "degree + 3", "2 * degree"), QUICK,
    ),
    Fault(
        "d + 2 for d + 3", "ext-T3", groups, "test_quaternionic_pseudo_moments_reach_the_dimension", groups,
        "relaxed_dimension", rewritten(relaxed_groups.relaxed_dimension, "degree + 3", "degree + 2"), QUICK,
    ),
    Fault(
        "d + 4 for d + 3", "ext-T3", groups, "test_quaternionic_sum_of_squares_reaches_the_dimension", groups,
        "relaxed_dimension", rewritten(relaxed_groups.relaxed_dimension, "degree + 3", "degree + 4"), QUICK,
    ),
    Fault(
        "degree 2 seen as 5", "ext-T3", groups, "test_the_program_is_exact_without_quaternionic_degree_four",
        relaxed_groups, "relaxed_dimension",
        rewritten(relaxed_groups.relaxed_dimension, "degree >= 4", "degree >= 2"),
    ),
    Fault(
        "complex types at half their dimension", "ext-T3", groups, "test_the_solver_finds_the_value_of_the_game",
        relaxed_groups, "relaxed_dimension",
        rewritten(relaxed_groups.relaxed_dimension, "if indicator == 1", "if indicator >= 0"), QUICK,
    ),
    Fault(
        "another trace of fourth order", "ext-T3", groups, "test_quaternionic_pseudo_moments_reach_the_dimension",
        groups, "quaternionic_moments",
        rewritten(relaxed_groups.quaternionic_moments, "2 * m * m + 1", "2 * m * m + 2"), QUICK,
    ),
    Fault(
        "mixed moments that are too large", "ext-T3", groups, "test_pseudo_moments_on_the_group_of_order_32", groups,
        "quaternionic_moments",
        rewritten(relaxed_groups.quaternionic_moments, "Fraction(m, common)]", "Fraction(51 * m, 50 * common)]"),
    ),
    Fault(
        "a sum of squares with another weight", "ext-T3", groups,
        "test_quaternionic_sum_of_squares_reaches_the_dimension", groups, "quaternionic_gram",
        rewritten(relaxed_groups.quaternionic_gram, "gamma * Fraction(m + 1, 8 * m)", "gamma * Fraction(m, 8 * m)"),
        QUICK,
    ),
    Fault(
        "the dimensions of the margin", "ext-T3", groups, "test_gaps_of_extraspecial_groups", groups, "RelaxedGame",
        MarginGame, QUICK,
    ),
    Fault(
        "products counted once", "ext-T4", gap_checks, "test_pseudo_moments_by_their_definition", PseudoMoments,
        "output", _method(PseudoMoments, "output", "2 * Y[row]", "Y[row]"), {"number": 0},
    ),
    Fault(
        "fourth moments of one coordinate alone", "ext-T4", gap_checks, "test_pseudo_moments_by_their_definition",
        PseudoMoments, "fourth_moment",
        _method(PseudoMoments, "fourth_moment", "self.matrix[i][j] for i in squares for j in squares",
                "self.matrix[i][i] for i in squares"), {"number": 0},
    ),
    Fault(
        "26 for 27 below", "ext-T4", gap_checks, "test_degree_four_is_above_the_margin", PseudoMoments,
        "bound_square", _method(PseudoMoments, "bound_square", "27 * self", "26 * self"),
    ),
    Fault(
        "one output left out", "ext-T4", gap_checks, "test_pseudo_moments_by_their_definition", PseudoMoments,
        "output_moment", _method(PseudoMoments, "output_moment", "range(self.labels)", "range(1, self.labels)"),
        {"number": 1},
    ),
    Fault(
        "28 for 27 above", "ext-T4", gap_checks, "test_degree_four_is_above_the_margin", operation_kernel,
        "upper_square", rewritten(operation_kernel.upper_square, "(4, 27)", "(4, 28)"),
    ),
    Fault(
        "t 2 per cent too small", "ext-T5", unseen, "test_two_sides_meet_at_a_cell_that_is_not_given", unseen,
        "exact_part", _lowered_part, QUICK,
    ),
    Fault(
        "multipliers 2 per cent too large", "ext-T5", unseen, "test_two_sides_meet_at_a_cell_that_is_not_given",
        unseen, "exact_part", _more_multipliers, QUICK,
    ),
    Fault(
        "the difference with another sign", "ext-T5", unseen, "test_networks_obey_the_inequality", unseen,
        "relaxed_unseen",
        rewritten(unseen_programs.relaxed_unseen, "fixed=-difference(", "fixed=difference("), ASKED,
    ),
    Fault(
        "28 for 27", "ext-T5", unseen, "test_two_sides_meet_at_a_cell_that_is_not_given", RoundedProof, "square",
        _method(RoundedProof, "square", "(4, 27)", "(4, 28)"), QUICK,
    ),
    Fault(
        "products counted once", "ext-T6", products, "test_what_all_networks_say_of_a_missing_product",
        operation_kernel, "forms", rewritten(operation_kernel.forms, "2 * entry", "entry"), {"name": "Z_4"},
    ),
    Fault(
        "thresholds 2 per cent too high", "ext-T6", products, "test_what_all_networks_say_of_a_missing_product",
        operation_kernel, "check_part",
        rewritten(operation_kernel.check_part, "document.threshold * ", "Fraction(51, 50) * document.threshold * "),
        {"name": "Z_2^2"},
    ),
    Fault(
        "26 for 27", "ext-T6", products, "test_what_all_networks_say_of_a_missing_product", operation_kernel,
        "check_part", rewritten(operation_kernel.check_part, "Fraction(4, 27)", "Fraction(4, 26)"), {"name": "Z_3"},
    ),
    Fault(
        "margins 2 per cent too small", "ext-T6", products, "test_what_all_networks_say_of_a_missing_product",
        neurons, "_below",
        rewritten(neurons._below, "coefficient * Fraction(root", "Fraction(49, 50) * coefficient * Fraction(root"),
        {"name": "Z_2"},
    ),
    Fault(
        "rows that see columns with another weight", "ext-T7", gap_checks, "test_one_direction_is_idle", gap_checks,
        "form_matrices", rewritten(forms.form_matrices, "tensor.sum(axis=0).T", "2 * tensor.sum(axis=0).T"),
        {"name": "2 x 2"},
    ),
    Fault(
        "28 for 27", "ext-T7", gap_checks, "test_degree_four_is_exact_on_four_rows_and_columns", RoundedProof,
        "square", _method(RoundedProof, "square", "(4, 27)", "(4, 28)"), {"name": "1 x 3"},
    ),
    Fault(
        "t 2 per cent too large", "ext-T7", gap_checks, "test_degree_four_is_exact_on_four_rows_and_columns",
        gap_checks, "rounded_bound", _raised, {"name": "2 x 2"},
    ),
]  # fmt: skip


@pytest.fixture(autouse=True)
def without_caches() -> Iterator[None]:
    """Nothing that was made without a fault is used with it, nor the other way round."""
    yield
    bounds.rounded.cache_clear()
    unseen.asked.cache_clear()


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = fault.arguments

    def fresh() -> Any:
        bounds.rounded.cache_clear()
        unseen.asked.cache_clear()
        return arguments

    assert_seen(
        replace(fault, arguments=fresh),
        "feature-emergence",
        monkeypatch,
        (ViolatedError, pseudo_moments.PseudoMomentError),
    )
