"""Wrong networks, representations, weights, bounds and certificates of maximum margins: deciding checks see them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.game.margin_game import MarginGame
from lemmata.certificates.kernel import ViolatedError
from lemmata.certificates.operations.relaxed_groups import quaternionic_moments
from lemmata.numerics.groups.tables import symmetric
from lemmata.numerics.operations.families import named_operation
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name

CHAPTER = "theorems.feature_emergence"
Change = Callable[[Any], Any]


def planted(statement: str, check: str, title: str, place: str, wrong: Change, /, **given: Any) -> Fault:
    """`wrong` makes the faulty one of what stands at `place`: a name of the module of the check, or of any other."""
    where, _, name = check.partition(".")
    module = resolve_name(f"lemmata.{CHAPTER}.test_{where}")
    path, _, attribute = place.rpartition(".")
    owner = resolve_name(f"lemmata.{path}") if path else module
    return Fault(title, statement, module, name, owner, attribute, wrong(getattr(owner, attribute)), given)


def fed(change: Callable[..., tuple[Any, ...]], **options: Any) -> Change:
    """A function that is given other arguments."""
    return lambda right: lambda *given, **known: right(*change(*given), **{**known, **options})


def out(change: Change) -> Change:
    """A function whose result is changed."""
    return lambda right: changed(right, change)


def rolled(part: str, places: int = 1) -> Change:
    """A network one part of whose neurons is that of other neurons."""
    return out(lambda network: replace(network, **{part: np.roll(getattr(network, part), places, axis=0)}))


def planes(change: Change) -> Change:
    """The matrices of all representations of degree 2 changed."""
    return out(lambda found: [replace(R, matrices=change(R.matrices)) if R.degree == 2 else R for R in found])


def overlooking(text: str) -> Change:
    """A verdict that does not name some violations."""
    return out(lambda found: replace(found, violations=tuple(x for x in found.violations if not x.startswith(text))))


def with_t(factor: Fraction) -> Change:
    """A proof of another t."""
    return out(lambda found: replace(found, proof=replace(found.proof, t=found.proof.t * factor)))


BACKWARDS = planes(lambda R: R.transpose(0, 2, 1))
NEGATED = out(lambda network: replace(network, readout=np.vstack([-network.readout[:1], network.readout[1:]])))
ROLLED = rolled("readout")
UNALIGNED = out(lambda found: [*found[:-1], (*found[-1][:2], found[-1][2] + Fraction(1, 2))])
UNIFORM = fed(lambda group, tau: (group, np.array([fmpq(int(x != 0), len(tau) - 1) for x in tau], dtype=object)))
UNSIGNED = out(lambda rows: np.repeat(rows[::2], 2, axis=0))
IRREPS, COORDINATES = f"{CHAPTER}.small_groups.real_irreps", f"{CHAPTER}.group_coordinates.real_irreps"
PHASES, SADDLE = "constructions.groups.cyclic.phase_triples", "certificates.saddle"
PAIRS, RUN, GROUP = "library_saddle_pairs", {"effort": Effort("quick")}, {"group": symmetric(3)}
EVEN = {"orders": (8,), "missing": ((0, 0), (1, 1))}
# fmt: off
FAULTS = [
    planted("theorem-7.1", "vanishing_penalty.test_the_loss_lies_between_its_bounds_which_are_attained",
            "examples and labels exchanged", "loss_range", fed(lambda margin, N, K: (margin, K, N + 1))),
    planted("lemma-7.2", f"{PAIRS}.test_the_verdict_accepts_exactly_the_max_margin_networks_of_two_labels",
            "a verifier that always says yes", "judge", overlooking("")),
    planted("definition-7.3.2", f"{PAIRS}.test_the_verdict_names_exactly_the_broken_conditions",
            "condition C.1 overlooked", "judge", overlooking("(C.1)")),
    planted("lemma-7.6", f"{PAIRS}.test_the_verdict_accepts_exactly_the_max_margin_networks_of_three_labels",
            "a bound 2 per cent too large", "judge", fed(lambda net, tau, bound: (net, tau, bound * fmpq(51, 50)))),
    planted("lemma-7.5", f"{PAIRS}.test_networks_that_maximise_the_expected_margin_use_optimal_neurons",
            "weights out of balance", "constructions.networks.homogeneous.HomogeneousNetwork.weights",
            out(lambda found: (found[0] * 1.02, found[1] / 1.02**2)), labels=3),
    planted("identity-7.1", "library_neurons.test_the_neurons_of_one_frequency_answer_a_plus_b",
            "readouts of another frequency", "modular_addition_network", rolled("readout", 6), p=5),
    planted("lemma-D.6.1b", "library_neurons.test_every_neuron_of_the_network_is_optimal",
            "phases that are not aligned", PHASES, UNALIGNED, p=3, per_frequency=8),
    planted("lemma-D.6.1a", "fourier_of_networks.test_expected_margin_kernel_agrees_with_the_transform",
            "v and w exchanged", "expected_class_margins", fed(lambda u, v, w, *r: (u, w, v, *r)), n=3, seed=0),
    planted("construction-D.6.2", "modular_addition.test_outputs_of_the_printed_network",
            "phases that are not aligned", PHASES, UNALIGNED, p=3),
    planted("theorem-7.7", "modular_addition.test_network_and_class_weights_certify_each_other",
            "readouts of other neurons", f"{SADDLE}.groups.modular_addition_network", ROLLED, n=5, per_frequency=8),
    planted("theorem-7.0", "dense_network.test_the_margin_is_positive_and_below_the_maximum",
            "another table", "memorising_network", fed(lambda table: (np.roll(table, 1),)), p=3, balanced=True),
    planted("construction-D.4", "dense_network.test_all_tables_of_order_two",
            "rows and columns exchanged", "memorising_weights", fed(lambda table: (table.T,))),
    planted("theorem-7.8", "sparse_parity.test_the_network_attains_the_bound_exactly",
            "the bound of another size", f"{SADDLE}.parity.parity_bound", fed(lambda k: (k + 1,)), n=3, k=2),
    planted("lemma-D.7a", "library_neurons.test_every_neuron_of_the_parity_network_attains_the_bound",
            "a pattern of the wrong sign", "sparse_parity_network", NEGATED, n=3, k=2),
    planted("theorem-D.5", "representations.test_squares_of_the_degrees_add_up_to_the_order",
            "a representation left out", IRREPS, out(lambda found: found[:-1]), name="S_3"),
    planted("table-D.1", "characters_of_groups.test_corrected_table_of_S_5_is_orthonormal_and_complete",
            "the standard row as printed", "symmetric_characters",
            out(lambda found: replace(found, values=found.values[[0, 5, 2, 3, 4, 1, 6]]))),
    planted("lemma-D.10", "characters_of_groups.test_basis_vectors_have_the_four_properties",
            "a skew basis", IRREPS, planes(lambda R: R * np.array([[1, 2], [fmpq(1, 2), 1]])), name="S_3"),
    planted("lemma-D.11", "group_neurons.test_cross_term_has_blocks",
            "products in the wrong order", COORDINATES, BACKWARDS, **GROUP),
    planted("lemma-D.13", "group_neuron_bound.test_rank_one_neurons_attain_the_bound",
            "u and v exchanged", "rank_one_neuron", out(lambda found: (found[1], found[0], found[2])), **GROUP),
    planted("lemma-D.14", "group_class_weights.test_equalising_weights", "the printed sign",
            "certificates.game.equalising.condition_sums", out(lambda sums: -sums), name="S3"),
    planted("lemma-D.14", "group_class_weights.test_equalising_weights", "the trivial representation in the condition",
            "certificates.game.equalising.condition_sums", out(lambda sums: sums + 1), name="S3"),
    planted("lemma-D.15", "group_networks.test_character_network",
            "pairs without their sign", "real_type_neurons", UNSIGNED, **GROUP),
    planted("lemma-D.16", "group_networks.test_all_wrong_labels_tie",
            "masses of other neurons", f"{SADDLE}.groups.group_network", rolled("masses"), **GROUP),
    planted("theorem-7.9", "group_networks.test_maximum_margin",
            "pairs without their sign", "constructions.groups.real_type.real_type_neurons", UNSIGNED, **GROUP),
    planted("theorem-7.9", "group_networks.test_every_class_and_every_representation_is_tight",
            "uniform class weights", f"{SADDLE}.groups.class_function_weights", UNIFORM, **GROUP),
    planted("lemma-D.9.1", "group_neurons.test_the_explicit_network_uses_every_representation",
            "readouts of other neurons", f"{SADDLE}.groups.group_network", ROLLED, **GROUP),
    planted("theorem-D.9.2", "group_class_weights.test_sub_table_of_a5",
            "masses in another order", "verify", out(lambda found: replace(found, eps=found.eps[::-1]))),
    planted("ext-E1", "universal_margin.test_networks_for_two_factors_attain_the_value",
            "readouts of other neurons", f"{SADDLE}.products.product_of_factors_network", ROLLED, name="Z_3"),
    planted("ext-E2", "closed_form_range."
            "test_the_closed_masses_tie_all_classes_and_only_the_closed_class_weights_tie_all_rows",
            "class weights in another order", "equalising_class_weights", out(lambda found: found[::-1]), name="S3"),
    planted("ext-E3", "closed_form_range.test_formulas_of_theorem_7_7_and_of_elementary_abelian_groups",
            "abelian groups taken for cyclic ones", "abelian_margin", fed(lambda factors: ([int(np.prod(factors))],))),
    planted("ext-E4", "width_of_s3.test_twelve_neurons_attain_the_maximum",
            "phases of five neurons", "TURNS", lambda turns: [2 * turn for turn in turns]),
    planted("ext-E5", "all_optimal_group_networks.test_max_margin_network_of_the_quaternion_group_takes_two_values",
            "a neuron of the wrong sign", "quaternion_group_network", NEGATED),
    planted("ext-E6", "regularised_optimum.test_losses_to_all_printed_digits", "the optimum of another penalty",
            "regularised_optimum", fed(lambda table, penalty: (table, 1.02 * float(penalty))),
            name="Z7", penalty="1e-3", loss="0.32684560", ratio=1.0),
    planted("ext-E7", "neuron_bound_of_all_types.test_expected_margin_is_a_sum_over_representations",
            "products in the wrong order", IRREPS, BACKWARDS, name="S_3"),
    planted("ext-T1", "tables_bounds.test_symmetries_keep_margins", "the symmetries of another table",
            "operation_symmetries", fed(lambda table: (named_operation("a+b", 3),)), name="max on 3"),
    planted("ext-T1", "tables_bounds.test_gram_matrices_satisfy_the_identity",
            "t 2 per cent too small", "rounded_bound", with_t(Fraction(49, 50)), name="degree 4"),
    planted("ext-T2", "tables_three_labels.test_networks_of_few_neurons_meet_the_bound",
            "outputs of other neurons", "plane_network", rolled("w"), **RUN),
    planted("ext-T2", "tables_three_labels.test_sums_of_products", "outputs of other products",
            "product_decomposition", out(lambda found: (found[0][::-1], found[1])), size=3, terms=2),
    planted("ext-T3", "tables_groups.test_gaps_of_extraspecial_groups",
            "the game of the margin itself", "RelaxedGame", lambda right: MarginGame, **RUN),
    planted("ext-T3", "tables_groups.test_quaternionic_sum_of_squares_reaches_the_dimension",
            "pseudo-moments for a sum of squares", "quaternionic_gram", lambda right: quaternionic_moments, **RUN),
    planted("ext-T4", "tables_gaps.test_pseudo_moments_by_their_definition", "moments of z for those of x",
            "certificates.operations.pseudo_moments.PseudoMoments.fourth_moment",
            lambda right: property(lambda moments: moments.output_moment), number=0),
    planted("ext-T5", "tables_unseen.test_networks_obey_the_inequality", "the wrong label taken for the right one",
            "relaxed_unseen", fed(lambda given, cell, label, wrong, *rest: (given, cell, wrong, label, *rest)),
            name="Z_3 without (0, 0), right against 1"),
    planted("ext-T6", "tables_products.test_what_all_networks_say_of_a_missing_product", "proofs of other labels",
            "documents", out(lambda all_: {name: one | {"parts": one["parts"][::-1]} for name, one in all_.items()}),
            name="Z_2^2"),
    planted("ext-T7", "tables_gaps.test_degree_four_is_exact_on_four_rows_and_columns",
            "t 2 per cent too large", "rounded_bound", with_t(Fraction(51, 50)), name="2 x 2"),
    planted("ext-T8", "triangles.test_gradients_at_waves_say_no_less_and_no_more", "laws without midpoints",
            "SIX_POINTS", lambda right: right[:3], n=5, rank=100),
    planted("ext-T8", "triangles.test_gradients_at_waves_say_no_less_and_no_more", "midpoints of other sides",
            "triangle_law", fed(lambda orders, q, point: (orders, q, (point[0], min(point)))), n=7, rank=246),
    planted("ext-T9", "triangles.test_weights_without_one_cell_by_counting", "one weight moved to the next triple",
            "one_cell_weights", out(lambda found: (np.roll(found[0], 1, axis=0), found[1])), orders=(7,)),
    planted("ext-T9", "triangles.test_weights_without_one_cell_by_counting", "the uniform weights",
            "one_cell_weights", out(lambda found: (np.full_like(found[0], found[1]), found[1])), orders=(11,)),
    planted("ext-T9", "triangles.test_the_form_by_frequencies", "the weights of no missing cell",
            "one_cell_weights", out(lambda found: (np.ones_like(found[0]), found[1])), orders=(11,)),
    planted("ext-T9", "triangles.test_the_constants_of_the_bound", "the constants of the next order",
            "wave_bounds", fed(lambda n: (n + (2 if n % 6 == 5 else 4),))),
    planted("ext-T10", "triangles.test_generic_cells_decide_all_others", "a positive weight where (0, 0) is met",
            "one_cell_weights", out(lambda found: (found[0] + 1, found[1])), orders=(11,)),
    planted("ext-T11", "missing_cells.test_the_form_is_what_is_missing_to_the_norm", "half of R in the form",
            "wave_form", out(lambda form: (form + np.eye(len(form))) / 2), orders=(9,), missing=((0, 0), (1, 1))),
    planted("ext-T11", "missing_cells.test_the_form_of_any_weights", "uniform weights moved by one step",
            "exact_weights", out(lambda found: np.roll(found, 1, axis=0)), orders=(3, 3), missing=((0, 0),)),
    planted("ext-T11", "missing_cells.test_margins_at_the_triples_decide", "a rank that is always full",
            "margins_decide", out(lambda _: True), orders=(9,), missing=((0, 0), (1, 1))),
    planted("ext-T12", "missing_cells.test_committed_weights_meet_the_conditions", "one weight is larger by 1",
            "committed_forced", out(lambda found: found | {"rows": [
                row | ({"weights": [row["weights"][0] + 1, *row["weights"][1:]]} if "weights" in row else {})
                for row in found["rows"]]})),
    planted("ext-T12", "missing_cells.test_every_set_of_cells_is_of_a_kind_that_is_there", "a kind is left out",
            "committed_forced", out(lambda found: found | {"rows": [row for row in found["rows"]
                if row["missing"] != [[0, 0], [1, 2], [3, 6]]]}), n=7, count=3),
    planted("ext-T12", "missing_cells.test_committed_rows_show_their_verdicts", "every row is forced",
            "checked_row", out(lambda _: "forced")),
    planted("ext-T13", "latin_squares.test_uniform_weights_leave_products_alone", "the bound of the order above",
            "latin_square_bound", fed(lambda n: (n + 1,))),
    planted("ext-T13", "latin_squares.test_only_the_exclusive_or_attains_the_bound_among_groups", "a bound 1 % larger",
            "latin_square_bound", out(lambda square: square * Fraction(51, 50))),
    planted("ext-T13", "latin_squares.test_groups_of_odd_order", "the bound of the order below",
            "latin_square_bound", fed(lambda n: (n - 1,))),
    planted("ext-T13", "latin_squares.test_signs_tell_labels_apart_only_in_the_exclusive_or", "no table is a group",
            "group_of_operation", out(lambda _: None)),
    planted("ext-T13", "latin_squares.test_the_network_of_a_projective_space", "units that add up",
            "steiner_network", out(lambda network: replace(network, v=abs(network.v), w=abs(network.w))), n=7),
    planted("ext-T13", "latin_squares.test_a_network_above_every_group", "addition, not the third point",
            "steiner_square", out(lambda square: named_operation("a+b", square.rows)), n=15),
    planted("ext-T13", "latin_squares.test_a_network_above_every_group", "all masses equal",
            "steiner_network", out(lambda found: replace(found, masses=np.full_like(found.masses, Fraction(1)))), n=15),
    planted("ext-T14", "exclusive_or.test_weights_without_one_cell_by_counting", "a weight of the lines less by 1",
            "exclusive_or_weights", out(lambda q: np.where(q == q.shape[0] - 3, q - 1, q)), n=8),
    planted("ext-T14", "exclusive_or.test_the_form_by_characters", "the weights of no missing cell",
            "exclusive_or_weights", out(lambda q: np.full_like(q, q.shape[0] - 2)), n=8),
    planted("ext-T14", "exclusive_or.test_the_constants_of_the_bound", "the constants of the next order",
            "exclusive_or_bounds", fed(lambda n: (2 * n,))),
    planted("ext-T14", "exclusive_or.test_margins_where_a_and_b_are_not_0_decide_all_others", "no weight is 0",
            "exclusive_or_weights", out(np.ones_like), n=8),
    planted("ext-T15", "even_orders.test_gradients_at_waves_say_no_less_and_no_more", "conditions of another group",
            "triangle_conditions", fed(lambda orders, cells: ((4,), cells)), orders=(2, 2), rank=42),
    planted("ext-T15", "even_orders.test_the_form_of_the_weights", "weights of other steps",
            "exact_root_weights", out(lambda q: replace(q, whole=q.whole[::-1])), **EVEN),
    planted("ext-T15", "even_orders.test_the_form_is_what_is_missing_to_the_norm", "half of R in the form",
            "wave_form", out(lambda form: (form + np.eye(len(form))) / 2), **EVEN),
    planted("ext-T15", "even_orders.test_margins_at_the_triples_decide", "a rank that is always full",
            "margins_decide", out(lambda _: True), **EVEN),
    planted("ext-T15", "even_orders.test_committed_weights_meet_the_conditions", "one root is larger by 1",
            "committed_forced", out(lambda found: found | {"rows": [
                row | ({"roots": [row["roots"][0] + 1, *row["roots"][1:]]} if "roots" in row else {})
                for row in found["rows"]]})),
    planted("ext-T15", "even_orders.test_every_set_of_two_cells_is_of_a_kind_that_is_there", "a kind is left out",
            "committed_forced", out(lambda found: found | {"rows": found["rows"][:-1]}), n=10),
    planted("ext-T15", "even_orders.test_committed_rows_show_their_verdicts", "every row is forced",
            "checked_row", out(lambda _: "forced")),
    planted("ext-T16", "latin_squares.test_products_of_networks_of_maximum_margin", "neurons of one kind of the two",
            "product_network", out(lambda found: replace(found, v=abs(found.v)))),
    planted("ext-T16", "latin_squares.test_a_margin_that_depends_on_the_roles", "one document for both",
            "atlas_row", fed(lambda _: ("latin:6:reduced:54",))),
    planted("ext-T16", "latin_squares.test_which_squares_to_order_7_have_the_largest_margin", "a class is missing",
            "latin_square_classes", out(lambda found: found[:-1]), effort=Effort("quick")),
    planted("ext-T16", "latin_squares.test_which_squares_to_order_7_have_the_largest_margin", "addition modulo 7",
            "steiner_square", out(lambda square: named_operation("a+b", square.rows)), effort=Effort("quick")),
    planted("ext-T16", "latin_squares.test_balanced_weights_are_weights_in_all_roles", "all weights are balanced",
            "is_balanced", out(lambda _: True), n=5),
    planted("ext-T16", "latin_squares.test_the_largest_margins_of_order_7", "a class without a document",
            "atlas_rows", out(lambda rows: list(rows)[1:]), effort=Effort("quick")),
    planted("ext-T16", "latin_squares.test_the_largest_margins_of_order_7", "half of the roles",
            "roles", out(lambda found: list(found)[:3]), effort=Effort("quick")),
    planted("ext-T17", "biases.test_invariant_weights_pay_for_no_bias", "a residual of one side",
            "residual", out(abs), name="Z5"),
    planted("ext-T17", "biases.test_triangles_pay_for_no_bias", "weights in another order",
            "exact_weights", out(lambda found: found[::-1]), orders=(7,), missing=((0, 0),)),
    planted("ext-T17", "biases.test_best_neurons_have_no_bias_where_it_is_not_paid", "another table",
            "parse_operation", fed(lambda _: ("op:a*b:5",)), name="Z5", gain=1),
    planted("ext-T17", "biases.test_a_column_gains_by_a_bias", "two labels that are one",
            "residual", out(np.zeros_like)),
    planted("ext-T18", "divisible_by_three.test_weights_by_counting", "uniform weights for steps of order 3",
            "one_cell_weights", out(lambda found: (np.where(np.arange(9) % 3, *found), found[1])), orders=(9,)),
    planted("ext-T18", "divisible_by_three.test_weights_by_counting", "one weight moved to the next triple",
            "one_cell_weights", out(lambda found: (np.roll(found[0], 1, axis=0), found[1])), orders=(3, 3)),
    planted("ext-T18", "divisible_by_three.test_the_form_by_characters", "the weights of no missing cell",
            "one_cell_weights", out(lambda found: (np.ones_like(found[0]), found[1])), orders=(9,)),
    planted("ext-T18", "divisible_by_three.test_the_constants_of_the_bound", "the constants of the next order",
            "wave_bounds", fed(lambda n: (n + 6,))),
    planted("ext-T18", "divisible_by_three.test_relations_match_characters_one_to_one", "the bound of the next order",
            "wave_bounds", fed(lambda n: (n + 6,)), orders=(9,)),
    planted("ext-T18", "divisible_by_three.test_order_nine", "the weights of one step alone",
            "one_cell_weights", out(lambda found: (np.where(np.arange(9) == 1, found[0], 0), found[1])), orders=(9,)),
    planted("ext-T18", "divisible_by_three.test_generic_cells_decide_all_others", "no weight is 0",
            "one_cell_weights", out(lambda found: (found[0] + 1, found[1])), orders=(9,)),
    planted("ext-T19", "even_order_one_cell.test_weights_by_counting", "roots moved to the next triple",
            "even_cell_weights", out(lambda q: replace(q, root=np.roll(q.root, 1, axis=0))), orders=(18,)),
    planted("ext-T19", "even_order_one_cell.test_weights_by_counting", "whole parts moved to the next step",
            "even_cell_weights", out(lambda q: replace(q, whole=np.roll(q.whole, 1, axis=2))), orders=(2, 10)),
    planted("ext-T19", "even_order_one_cell.test_the_form_by_characters", "the weights of no missing cell",
            "even_cell_weights", out(lambda q: replace(q, whole=np.ones_like(q.whole))), orders=(8,)),
    planted("ext-T19", "even_order_one_cell.test_the_constants_of_the_bound", "the constants of the next order",
            "even_wave_bounds", fed(lambda n, real: (n + real, real))),
    planted("ext-T19", "even_order_one_cell.test_generic_cells_decide_all_others", "half of the weights are 0",
            "even_cell_weights", out(lambda q: replace(q, whole=0 * q.whole, root=np.tril(q.root.T).T)), orders=(18,)),
    planted("experiment-D.2.1", "experiments.test_modular_addition_31", "a penalty of another power",
            f"{CHAPTER}.experiments.training.train_on_group", fed(lambda *given: given, penalty=("cubic", 1e-4)),
            record_property=print),
]
# fmt: on


def clear_caches() -> None:
    """Forget what was made without a fault, or with it."""
    for name in [name for name in sys.modules if name.startswith(f"lemmata.{CHAPTER}")]:
        for value in vars(sys.modules[name]).values():
            getattr(value, "cache_clear", int)()


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(clear_caches)
    pairs = resolve_name(f"lemmata.{CHAPTER}.test_{PAIRS}")
    games = pairs.games  # every tenth of them will do
    monkeypatch.setattr(pairs, "games", lambda labels, step=1, *given: games(labels, 10 * step, *given))
    fresh = replace(fault, arguments=lambda: clear_caches() or fault.arguments)
    assert_seen(fresh, "feature-emergence", monkeypatch, (ViolatedError,))
