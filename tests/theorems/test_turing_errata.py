"""Every erratum of the chapter on Turing machines has a test that shows what fails in print, and one of the repair.

The last two columns name modules of theorems/turing, without "test_".

| erratum | what fails in print | shown by | repaired form |
|---|---|---|---|
| E1 | hard attention with ties is not nice (theorem 4.1) | transformer_precision, stability | stability, theorem_4_1 |
| E2 | a constant first output cannot hold the first symbol | transformer | transformer |
| E3 | ceil(log2 T) position bits are too few | transformer | transformer, theorem_4_1 |
| E4 | the head that stays at the left end is not simulated | turing_machines | turing_machines, machine_layers |
| E5 | the width has no room for pairs and moves | transformer | theorem_4_1 |
| E6 | (D.1) corrects the wrong layer | corrections | corrections |
| E7 | (C.3) gives the code of the wrong time | transformer | machine_runs |
| E8 | the proof of claim C.5; codes of C.3, C.7 | attention_layers | attention_layers |
| E9 | the norm of a circuit network is not at most s | circuits | circuits |
| E10 | NOT on the diagonal | circuits | circuits |
| E11 | eps in lemma 2.3 must be O(eps) | sample_size | sample_size |
| E12 | log p is 0 for p = 1 | sample_size, covering, inverse_margins | sample_size, covering |
| E13 | a correct prediction may have margin 0 | margins | margins |
| E14 | encoder outputs and h_0 are not corrected | transformer_precision | theorem_4_1 |
| E15 | a two-layer f_0 has no global Lipschitz constant | stability | stability |
| E16 | definition 2.1 lets the loss know the targets | approximation (a remark) | approximation |
| E17 | the order of the remainder in corollary A.1 (a reading) | sample_size | sample_size, inverse_margins |
| E18 | lemma 3.3 without 2 z - 1: margin 0 where the circuit is false | circuit_layers | circuit_layers |
| E19 | products of operator norms that do not grow with the depth | sign_patterns | comparison |
"""

from __future__ import annotations

import importlib
from typing import NamedTuple

import pytest

from lemmata.theorems.evidence import MARK, Evidence
from lemmata.theorems.ledger import load_ledger


class Erratum(NamedTuple):
    """The statement, the tests of the printed form and those of the repair, as module.function without "test_"."""

    statement: str
    shown: tuple[str, ...]
    repaired: tuple[str, ...]


ERRATA = {
    "E1": Erratum(
        "condition-D.3",
        (
            "transformer_precision.tied_visits_make_perturbed_attention_discontinuous",
            "stability.hard_attention_with_ties_is_not_nice",
        ),
        (
            "stability.the_joint_inequality_holds_for_hard_attention_with_ties",
            "theorem_4_1.the_radii_keep_the_scores_apart",
        ),
    ),
    "E2": Erratum(
        "setup-C.1",
        ("transformer.constant_first_output_cannot_hold_the_first_symbol",),
        ("transformer.extra_state_reads_the_first_symbol",),
    ),
    "E3": Erratum(
        "setup-C.1",
        (
            "transformer.printed_number_of_bits_is_too_small",
            "transformer.long_input_gets_a_wrong_answer_with_few_bits",
        ),
        ("transformer.enough_bits_for_every_position", "theorem_4_1.times_and_cells_have_different_codes"),
    ),
    "E4": Erratum(
        "definition-tm",
        ("turing_machines.textbook_machine_that_stays_at_the_left_end_is_not_simulated",),
        (
            "turing_machines.without_a_move_off_the_tape_all_conventions_agree",
            "machine_layers.stay_variant_keeps_the_head_on_the_first_cell",
        ),
    ),
    "E5": Erratum(
        "setup-C.1", ("transformer.printed_width_cannot_hold_the_pairs",), ("theorem_4_1.every_norm_is_at_most_n",)
    ),
    "E6": Erratum(
        "definition-D.1",
        ("corrections.the_printed_recursion_corrects_the_wrong_layer",),
        ("corrections.the_corrected_network_computes_the_uncorrected_one",),
    ),
    "E7": Erratum(
        "setup-C.1",
        ("transformer.time_code_of_the_next_input_is_that_of_the_next_time",),
        ("machine_runs.random_machines_over_the_rationals",),
    ),
    "E8": Erratum(
        "claim-C.5",
        (
            "attention_layers.printed_case_two_is_false_for_68_triples_of_four_bits",
            "attention_layers.query_without_a_visit_is_minus_one_and_not_zero",
            "attention_layers.codes_of_zeros_and_ones_do_not_single_out_the_cell",
            "attention_layers.claim_c_5_as_the_last_layer_copies_no_symbol",
        ),
        (
            "attention_layers.guessed_digit_is_right_exactly_if_a_visit_has_it",
            "attention_layers.scores_count_the_digits_that_agree",
        ),
    ),
    "E9": Erratum(
        "theorem-3.1",
        ("circuits.one_or_gate_has_norm_five_and_size_three",),
        ("circuits.norms_of_networks_are_linear_in_the_number_of_gates",),
    ),
    "E10": Erratum(
        "lemma-B.1",
        ("circuits.not_on_the_diagonal_negates_the_wrong_bit",),
        ("circuits.every_gate_is_two_relu_layers",),
    ),
    "E11": Erratum(
        "lemma-2.3",
        (
            "sample_size.no_surrogate_separates_targets_that_agree_on_the_sample",
            "sample_size.the_ramp_loss_of_the_margin_fails_on_a_rare_set",
        ),
        ("sample_size.a_sample_size_of_the_stated_form_is_enough",),
    ),
    "E12": Erratum(
        "lemma-2.3",
        (
            "sample_size.one_parameter_with_every_labeling_of_many_points",
            "covering.the_printed_exponent_is_zero_where_one_ball_is_not_enough",
            "inverse_margins.for_one_parameter_the_printed_main_term_is_zero",
        ),
        ("sample_size.a_sample_size_of_the_stated_form_is_enough", "covering.whole_covers"),
    ),
    "E13": Erratum(
        "definition-all-layer-margin",
        ("margins.a_correct_discontinuous_network_has_margin_zero",),
        ("margins.positive_margins_predict_correctly_and_conversely_where_f_is_continuous",),
    ),
    "E14": Erratum(
        "theorem-4.1",
        ("transformer_precision.encoder_outputs_and_first_input_pass_through_no_correction",),
        ("theorem_4_1.the_margin_of_every_machine_is_one_over_a_polynomial",),
    ),
    "E15": Erratum(
        "condition-D.3",
        ("stability.a_two_layer_first_step_has_no_lipschitz_constant_over_all_parameters",),
        ("stability.the_constants_of_relu_layers_and_roundings",),
    ),
    "E16": Erratum(
        "definition-2.1",
        ("approximation.a_surrogate_that_knows_the_targets_meets_the_definition_with_few_examples",),
        ("approximation.counting_beats_the_sample_sizes_of_the_theorems",),
    ),
    "E17": Erratum(
        "corollary-A.1",
        ("sample_size.the_remainder_is_no_low_order_term_in_n",),
        ("sample_size.a_bound_for_all_margins_at_once", "inverse_margins.the_bounds_from_their_parts"),
    ),
    "E18": Erratum(
        "lemma-3.3",
        ("circuit_layers.without_the_head_the_margin_is_zero_where_the_circuit_is_false",),
        ("circuit_layers.the_certified_margin_of_wide_circuits",),
    ),
    "E19": Erratum(
        "remark-comparison",
        ("sign_patterns.the_product_of_norms_of_identity_chains_does_not_grow",),
        ("comparison.every_layer_with_a_gate_of_two_inputs_multiplies_the_norms_by_root_two",),
    ),
}
BESIDE = ("E1", "E4", "E8", "E9", "E10", "E14", "E15", "E16", "E17", "E19")
"""Errors of proofs, remarks and readings, the statement standing: shown by checks, not by counterexamples."""


def evidence(name: str) -> list[Evidence]:
    """What the decorators of a test say; fails if there is no such test."""
    module, function = name.split(".")
    test = getattr(importlib.import_module(f"lemmata.theorems.turing.test_{module}"), f"test_{function}")
    return [mark.args[0] for mark in test.pytestmark if mark.name == MARK]


@pytest.mark.parametrize("name", ERRATA)
def test_erratum_is_shown_and_repaired(name):
    erratum = ERRATA[name]
    shown = [one for test in erratum.shown for one in evidence(test)]
    assert f"turing:{erratum.statement}" in {one.statement for one in shown}
    for test in erratum.shown:
        kinds = {one.kind for one in evidence(test)}
        assert kinds == ({"check"} if name in BESIDE else {"counterexample"})
    for test in erratum.repaired:
        assert all(one.kind == "check" for one in evidence(test))
        assert evidence(test)


def test_all_are_listed_and_every_counterexample_belongs_to_one():
    assert list(ERRATA) == [f"E{i}" for i in range(1, 20)]
    assert all(f"| {name} |" in str(__doc__) for name in ERRATA)
    statements = {f"turing:{one.statement}" for one in ERRATA.values()}
    statements |= {e.statement for one in ERRATA.values() for test in one.shown for e in evidence(test)}
    repaired = {one.id for one in load_ledger().statements() if one.verdict in ("repaired", "refuted")}
    repaired = {name for name in repaired if name.startswith("turing:")}
    assert len(repaired) == 7
    assert repaired <= statements
