"""Faults planted in the library: the deciding checks of the chapter on Turing machines have to see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import lemmata.certificates.margins.all_layer as all_layer
import lemmata.certificates.margins.attack as attack
import lemmata.certificates.margins.turing as machine_margins
import lemmata.constructions.circuits.relu as relu
import lemmata.constructions.networks.head as heads
import lemmata.constructions.turing.compiler as compiler
import lemmata.constructions.turing.evaluators.exact as exact
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.constructions.turing.machine import TuringMachine
from lemmata.theorems.evidence import MARK
from lemmata.theorems.plugin import Effort
from lemmata.theorems.turing import (
    test_approximation,
    test_circuit_layers,
    test_circuits,
    test_corrections,
    test_every_digit,
    test_learning_bounds,
    test_machine_certificate,
    test_machine_layers,
    test_margin_terms,
    test_small_machines,
    test_stability,
    test_theorem_4_1,
    test_toy_product,
    test_transformer,
    test_turing_machines,
)

QUICK = Effort("quick")
Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
SEEN = (AssertionError, pytest.fail.Exception)
"""What a failing check raises: an assertion, or an error that was expected and did not come."""


def seen(statements: str, plant: Plant, test: Callable[..., None], *arguments: Any, patch: Patch) -> None:
    """The test decides the statements, and fails once the fault is planted."""
    marks = [mark.args[0] for mark in getattr(test, "pytestmark", []) if mark.name == MARK]
    decided = {one.statement for one in marks if one.kind == "check" and not one.supporting}
    assert {f"turing:{name}" for name in statements.split()} <= decided
    plant(patch)
    with pytest.raises(SEEN):
        test(*arguments)


# ---- the machine


def _arrays(change: Callable[[Any], Any]) -> Plant:
    arrays = TuringMachine.arrays
    return lambda patch: patch.setattr(TuringMachine, "arrays", lambda machine: change(arrays(machine)))


MACHINE = {
    "states rotated": _arrays(lambda t: ((t[0] + 1) % len(t[0]), t[1], t[2])),
    "moves reversed": _arrays(lambda t: (t[0], t[1], -t[2])),
    "symbols exchanged": _arrays(lambda t: (t[0], 1 - t[1], t[2])),
}


@pytest.mark.parametrize("fault", MACHINE)
def test_a_wrong_machine_is_seen_in_its_runs(fault: str, monkeypatch: Patch) -> None:
    check = test_small_machines.test_all_machines_of_one_running_state_give_their_answer
    statements = "theorem-4.1 construction-assembled setup-C.1 lemma-C.1"
    seen(statements, MACHINE[fault], check, "two-way", patch=monkeypatch)


# ---- layers of ReLUs


def _layers(builder: str, name: str, change: Callable[[Any, np.ndarray, np.ndarray], None]) -> Plant:
    """The first map of one layer changed in place: `change` gets the stream, the weight and the bias."""
    build = getattr(compiler, builder)

    def faulty(layout: TuringLayout, *arguments: Any) -> Any:
        built = build(layout, *arguments)
        listed = [built] if isinstance(built, DecoderLayer) else built
        changed = [_changed(layer, layout) if layer.name == name else layer for layer in listed]
        return changed[0] if isinstance(built, DecoderLayer) else changed

    def _changed(layer: DecoderLayer, layout: TuringLayout) -> DecoderLayer:
        (first,) = layer.feed_forward.layers
        weight, bias = first.weight.copy(), first.bias.copy()
        change(layout.stream, weight, bias)
        return replace(layer, feed_forward=FeedForward((replace(first, weight=weight, bias=bias),)))

    return lambda patch: patch.setattr(compiler, builder, faulty)


def _set(array: np.ndarray, place: Any, value: Any) -> None:
    array[place] = value


LAYERS = {
    "a pair without its threshold": (
        "lemma-C.1",
        _layers("transition_layers", "C.1a", lambda s, w, b: _set(b, s["aux"].start, 0)),
    ),
    "the extra state to another state": (
        "lemma-C.1",
        _layers("transition_layers", "C.1b", lambda s, w, b: _set(w, (s["aux"].start, s["st"].start), 1)),
    ),
    "a carry that ignores the move": (
        "lemma-C.2",
        _layers("head_layers", "C.2a", lambda s, w, b: _set(w, (s["q"].start + 1, s["aux"].start), 0)),
    ),
    "a carry with another threshold": (
        "lemma-C.2",
        _layers("head_layers", "C.2a", lambda s, w, b: _set(b, s["aux"].start, b[s["aux"].start] + 1)),
    ),
    "a borrow that adds lower digits": (
        "lemma-C.2",
        _layers("head_layers", "C.2a", lambda s, w, b: _set(w, s["pos2"], abs(w[s["pos2"]]))),
    ),
    "a half that forgets the carry": (
        "lemma-C.2",
        _layers("head_layers", "C.2b", lambda s, w, b: _set(w, (s["aux"].start, s["aux"].start), 0)),
    ),
    "a digit lost": (
        "lemma-C.2",
        _layers("head_layers", "C.2c", lambda s, w, b: _set(w, (s["aux"].start, s["pos3"].start), 0)),
    ),
    "input in the place of the written symbol": (
        "lemma-C.8",
        _layers("choice_layers", "C.8a", lambda s, w, b: _set(w, (s["scr4"].start, s["aux"].start + 1), 0)),
    ),
    "the blank forgotten": ("lemma-C.8", _layers("choice_layers", "C.8c", lambda s, w, b: _set(w, s["aux"], 0))),
}


@pytest.mark.parametrize("fault", LAYERS)
def test_a_wrong_unit_is_seen_bit_by_bit(fault: str, monkeypatch: Patch) -> None:
    statement, plant = LAYERS[fault]
    check = test_every_digit.test_every_unit_is_a_boolean_function_of_the_bits_that_it_reads
    seen(statement, plant, check, 3, patch=monkeypatch)


@pytest.mark.parametrize("fault", ["a carry that ignores the move", "a borrow that adds lower digits"])
def test_a_wrong_adder_is_seen_on_all_cells(fault: str, monkeypatch: Patch) -> None:
    seen(
        "lemma-C.2", LAYERS[fault][1], test_machine_layers.test_head_moves_by_one_modulo_the_range, 3, patch=monkeypatch
    )


def test_a_weight_that_depends_on_the_number_of_digits_is_seen(monkeypatch: Patch) -> None:
    """The carry of the highest digit reads the lowest one twice, from four digits on."""

    def change(stream: Any, weight: np.ndarray, bias: np.ndarray) -> None:
        if stream.sizes["pos2"] > 3:
            weight[stream["pos2"].stop - 1, stream["aux"].start] = 2

    plant = _layers("head_layers", "C.2a", change)
    check = test_every_digit.test_units_of_a_digit_are_the_same_for_every_number_of_digits
    seen("lemma-C.2", plant, check, 4, patch=monkeypatch)


def test_a_layer_that_forgets_what_it_keeps_is_seen(monkeypatch: Patch) -> None:
    plant = _layers("copy_layer", "C.6", lambda s, w, b: _set(w, s["scr1"], 0))
    check = test_every_digit.test_layers_with_attention_hand_on_what_they_keep
    seen("construction-assembled", plant, check, 2, patch=monkeypatch)


def test_a_rounding_with_other_thresholds_is_seen(monkeypatch: Patch) -> None:
    """34/100 in the place of 1/3."""
    rounding = compiler.rounding_layers
    check = test_every_digit.test_every_layer_ends_with_the_rounding_that_keeps_bits

    def plant(patch: Patch) -> None:
        patch.setattr(compiler, "rounding_layers", lambda width, threshold: rounding(width, fmpq(34, 100)))

    seen("construction-assembled", plant, check, 1, patch=monkeypatch)


# ---- attention


def _match(change: Callable[[Any], Any]) -> Plant:
    match = TuringLayout.match

    def faulty(*arguments: Any, **options: Any) -> Any:
        return change(match(*arguments, **options))

    return lambda patch: patch.setattr(TuringLayout, "match", faulty)


def _null(by: int) -> Plant:
    def change(head: heads.Head) -> heads.Head:
        key = head.null_key.copy()
        key[-1] += by
        return replace(head, null=(key, head.null_value))

    return _match(change)


def _key(change: Callable[[np.ndarray], np.ndarray]) -> Plant:
    return _match(lambda head: replace(head, key=replace(head.key, weight=change(head.key.weight))))


HEADS = {
    "the null pair scores one more": _null(1),
    "the null pair scores one less": _null(-1),
    "digits of the key in the wrong order": _key(lambda w: np.hstack([w[:, -2::-1], w[:, -1:]])),
    "keys of zeros and ones": _key(lambda w: w // 2),
    "one digit left out": _key(lambda w: w * (np.arange(w.shape[1]) > 0)),
}


@pytest.mark.parametrize("fault", HEADS)
def test_a_wrong_head_is_seen_digit_by_digit(fault: str, monkeypatch: Patch) -> None:
    check = test_every_digit.test_every_compared_digit_adds_one_or_minus_one
    seen("claim-C.4 claim-C.5 claim-C.6 lemma-C.7", HEADS[fault], check, 3, patch=monkeypatch)


@pytest.mark.parametrize("fault", HEADS)
def test_a_wrong_head_is_seen_in_the_search(fault: str, monkeypatch: Patch) -> None:
    check = test_every_digit.test_the_search_finds_the_last_of_every_set_of_visits
    seen("claim-C.4 claim-C.5 claim-C.6 lemma-C.3", HEADS[fault], check, 3, patch=monkeypatch)


def test_a_null_pair_that_ties_is_seen_by_theorem_4_1(monkeypatch: Patch) -> None:
    check = test_theorem_4_1.test_scores_that_differ_differ_by_one_and_tied_values_are_equal
    seen("theorem-4.1", HEADS["the null pair scores one more"], check, 1, 1, 2, patch=monkeypatch)


def test_too_few_digits_are_seen(monkeypatch: Patch) -> None:
    """ceil(log2 T), as printed."""

    def plant(patch: Patch) -> None:
        patch.setattr(test_theorem_4_1, "needed_bits", lambda T, *_: max(T - 1, 0).bit_length())

    seen("theorem-4.1", plant, test_theorem_4_1.test_times_and_cells_have_different_codes, patch=monkeypatch)


def test_codes_with_the_lowest_digit_first_are_seen(monkeypatch: Patch) -> None:
    binary = TuringLayout.binary

    def plant(patch: Patch) -> None:
        patch.setattr(TuringLayout, "binary", lambda layout, number: binary(layout, number)[::-1])

    check = test_small_machines.test_all_machines_of_one_running_state_give_their_answer
    seen("setup-C.1 construction-assembled", plant, check, "two-way", patch=monkeypatch)


# ---- margins


TERMS = [
    "lambda/mu_0",
    "sigma_zeta/mu_0",
    "sigma_theta",
    "sigma_xi",
    "1/(2 kappa_theta)",
    "sigma_zeta/(2 kappa_theta lambda)",
    "sigma_h/(2 kappa_xi lambda)",
    "sigma_zeta/(4 lambda mu kappa_xi)",
    "1/(4 mu kappa_xi)",
]


def _scaled_terms(names: Iterable[str]) -> Plant:
    """The terms of theorem D.6 of these names 2 per cent too large."""
    bound = all_layer.margin_bound

    def faulty(*arguments: Any) -> Any:
        result = bound(*arguments)
        terms = {name: term * 51 / 50 if name in names else term for name, term in result.terms.items()}
        return replace(result, terms=terms, value=min(all_layer.lower_end(term) for term in terms.values()))

    return lambda patch: patch.setattr(test_margin_terms, "margin_bound", faulty)


@pytest.mark.parametrize("term", TERMS)
def test_a_moved_term_of_theorem_d_6_is_seen(term: str, monkeypatch: Patch) -> None:
    check = test_margin_terms.test_the_bound_is_the_largest_radius_that_the_induction_allows
    seen("theorem-D.6 lemma-D.9", _scaled_terms([term]), check, patch=monkeypatch)


def test_a_moved_base_case_is_seen(monkeypatch: Patch) -> None:
    plant = _scaled_terms(["lambda/mu_0", "sigma_zeta/mu_0"])
    seen("lemma-D.7", plant, test_margin_terms.test_the_base_case_is_closed_by_its_terms, patch=monkeypatch)


@pytest.mark.parametrize("term", ["sigma_zeta/(2 kappa_theta lambda)", *TERMS[6:8], "sigma_theta", "sigma_xi"])
def test_a_moved_inductive_step_is_seen(term: str, monkeypatch: Patch) -> None:
    check = test_margin_terms.test_the_inductive_step_is_closed_by_its_terms
    seen("lemma-D.8", _scaled_terms([term]), check, patch=monkeypatch)


@pytest.mark.parametrize("constant", ["mu_0", "mu", "kappa_theta", "kappa_xi", "lam"])
def test_a_moved_constant_of_a_layer_is_seen(constant: str, monkeypatch: Patch) -> None:
    """2 per cent too large."""
    constants = all_layer.circuit_constants

    def faulty(*arguments: Any) -> Any:
        found = constants(*arguments)
        return replace(found, **{constant: getattr(found, constant) * 51 / 50})

    def plant(patch: Patch) -> None:
        patch.setattr(test_margin_terms, "circuit_constants", faulty)

    check = test_margin_terms.test_the_constants_of_networks_whose_norms_are_known
    seen("condition-D.3", plant, check, test_margin_terms.Q(1, 4), patch=monkeypatch)


@pytest.mark.parametrize("place", [0, 1])
def test_a_moved_constant_of_a_step_of_a_machine_is_seen(place: int, monkeypatch: Patch) -> None:
    """kappa_theta lambda, or mu, 2 per cent too small: in the step itself, and in the certificate that uses it."""
    constants = machine_margins.step_constants

    def faulty(*arguments: Any) -> Any:
        found = constants(*arguments)
        return None if found is None else tuple(x * 49 / 50 if i == place else x for i, x in enumerate(found))

    def plant(patch: Patch) -> None:
        patch.setattr(machine_margins, "step_constants", faulty)
        patch.setattr(test_machine_certificate, "step_constants", faulty)

    seen("theorem-4.1", plant, test_machine_certificate.test_the_joint_constants_of_a_step, patch=monkeypatch)
    check = test_machine_certificate.test_the_certificate_uses_the_derived_constants
    seen("theorem-4.1", plant, check, 2, 3, 3, patch=monkeypatch)


def test_attention_to_all_positions_is_seen_by_the_joint_inequality(monkeypatch: Patch) -> None:
    def plant(patch: Patch) -> None:
        patch.setattr(heads, "hard_weights", lambda row, *_: [fmpq(1, len(row))] * len(row))

    check = test_stability.test_the_joint_inequality_holds_for_hard_attention_with_ties
    seen("definition-D.2", plant, check, patch=monkeypatch)


def test_sharing_within_a_layer_is_seen(monkeypatch: Patch) -> None:
    def plant(patch: Patch) -> None:
        patch.setattr(attack, "_check_sharing", lambda *_: None)

    check = test_margin_terms.test_equal_parameters_may_be_shared_across_layers_and_not_within_one
    seen("definition-D.5", plant, check, patch=monkeypatch)


def test_a_target_that_is_wrong_already_is_seen(monkeypatch: Patch) -> None:
    def plant(patch: Patch) -> None:
        patch.setattr(attack.MarginTarget, "__post_init__", lambda target: None)

    check = test_learning_bounds.test_targets_have_a_margin_exactly_where_they_are_right
    seen("definition-all-layer-margin", plant, check, patch=monkeypatch)


def test_a_margin_that_is_off_is_seen_by_the_toy_product(monkeypatch: Patch) -> None:
    """By a hundredth."""
    margin = attack.MarginTarget.exact_margin

    def plant(patch: Patch) -> None:
        patch.setattr(
            attack.MarginTarget, "exact_margin", lambda t, delta: margin(t, delta) - test_margin_terms.Q(1, 100)
        )

    seen("toy-product", plant, test_toy_product.test_the_printed_perturbation_is_an_exact_flip, patch=monkeypatch)


# ---- circuits


def _gates(change: Callable[[Any, Any], Any]) -> Plant:
    """The two affine layers of the gates changed."""
    build = relu._gate_layers

    def faulty(*arguments: Any) -> Any:
        return change(*build(*arguments))

    return lambda patch: patch.setattr(relu, "_gate_layers", faulty)


GATES = {
    "biases of the first layer one too large": _gates(lambda f, g: (replace(f, bias=f.bias + 1), g)),
    "signs of the first layer flipped": _gates(lambda f, g: (replace(f, weight=-f.weight), g)),
    "no bias after OR": _gates(lambda f, g: (f, replace(g, bias=0 * g.bias))),
}


@pytest.mark.parametrize("fault", GATES)
def test_wrong_gates_are_seen(fault: str, monkeypatch: Patch) -> None:
    seen("lemma-B.1", GATES[fault], test_circuits.test_every_gate_is_two_relu_layers, patch=monkeypatch)
    networks = test_margin_terms.test_networks_of_all_circuits_of_two_gates
    seen("lemma-3.2 lemma-B.1", GATES[fault], networks, "none", patch=monkeypatch)
    seen("theorem-3.1 definition-D.1", GATES[fault], networks, "steps", patch=monkeypatch)
    gadgets = test_circuit_layers.test_the_gadgets_of_the_library_are_the_printed_ones
    seen("proposition-B.2", GATES[fault], gadgets, patch=monkeypatch)


def _rounding(scale: fmpq) -> Plant:
    """A rounding whose slope is scaled."""
    build = relu.rounding

    def faulty(*arguments: Any) -> FeedForward:
        first, second = build(*arguments).layers
        return FeedForward((first, replace(second, weight=second.weight * scale)))

    def plant(patch: Patch) -> None:
        for module in (relu, test_corrections, test_toy_product):
            patch.setattr(module, "rounding", faulty)

    return plant


def test_a_moved_slope_of_the_rounding_is_seen(monkeypatch: Patch) -> None:
    plant = _rounding(fmpq(51, 50))
    corners = test_circuit_layers.test_roundings_of_circuit_networks_act_on_every_coordinate_alone
    networks = test_margin_terms.test_networks_of_all_circuits_of_two_gates
    seen("proposition-3.4", plant, test_corrections.test_round_is_a_difference_of_two_relus, patch=monkeypatch)
    seen("correction-elementwise", plant, corners, patch=monkeypatch)
    seen("definition-D.1 condition-D.4", plant, networks, "layers", patch=monkeypatch)
    seen(
        "claim-3.5",
        plant,
        test_toy_product.test_the_rounding_of_the_library_is_one_from_two_thirds_on,
        patch=monkeypatch,
    )


def test_a_larger_norm_is_seen(monkeypatch: Patch) -> None:
    """Lemma 3.3 and theorem 3.1: operator norms of 4/3 of their size, and 1-norms of a network that is too large."""
    norm = all_layer.operator_norm

    def plant(patch: Patch) -> None:
        patch.setattr(all_layer, "operator_norm", lambda weight: 4 * norm(weight) / 3)
        patch.setattr(relu, "_one_norm", lambda layer, one_norm=relu._one_norm: one_norm(layer) + 1)

    margins = test_circuit_layers.test_the_certified_margin_of_wide_circuits
    sizes = test_circuit_layers.test_sizes_of_networks_of_all_circuits_of_two_gates
    seen("lemma-3.3 theorem-3.1", plant, margins, patch=monkeypatch)
    seen("theorem-3.1 correction-elementwise", plant, sizes, patch=monkeypatch)


def _negated(circuit: Any) -> Any:
    """The circuit with a NOT gate after its output."""
    gate = relu.BooleanGate("NOT", (circuit.output,))
    return type(circuit)(circuit.inputs, (*circuit.layers, (gate,)), 0)


def test_a_circuit_with_another_output_is_seen(monkeypatch: Patch) -> None:
    layered = test_circuits.layered

    def plant(patch: Patch) -> None:
        patch.setattr(test_circuits, "layered", lambda circuit: _negated(layered(circuit)))

    seen(
        "definition-circuits",
        plant,
        test_circuits.test_every_small_circuit_is_layered_by_id_gates,
        QUICK,
        patch=monkeypatch,
    )


# ---- machines and learning


def test_a_simulator_that_writes_late_is_seen(monkeypatch: Patch) -> None:
    simulate = test_turing_machines.simulate

    def faulty(*arguments: Any, **options: Any) -> Any:
        run = simulate(*arguments, **options)
        return replace(run, written=[-1, *run.written[:-1]])

    def plant(patch: Patch) -> None:
        patch.setattr(test_turing_machines, "simulate", faulty)

    check = test_turing_machines.test_symbol_is_that_of_the_last_visit_or_of_the_input_or_blank
    seen("outline-4.2", plant, check, patch=monkeypatch)


def test_a_tape_that_begins_elsewhere_is_seen(monkeypatch: Patch) -> None:
    simulate = test_turing_machines.simulate

    def faulty(*arguments: Any, **options: Any) -> Any:
        run = simulate(*arguments, **options)
        shift = options["left_end"] == "stay"
        return replace(run, heads=[head + shift for head in run.heads])

    def plant(patch: Patch) -> None:
        patch.setattr(test_turing_machines, "simulate", faulty)

    check = test_turing_machines.test_without_a_move_off_the_tape_all_conventions_agree
    seen("definition-tm", plant, check, patch=monkeypatch)


def test_an_evaluator_without_the_heads_is_seen(monkeypatch: Patch) -> None:
    def plant(patch: Patch) -> None:
        patch.setattr(exact._Head, "attend", lambda head, z, memory: (z, None))

    seen("definition-transformer", plant, test_transformer.test_forward_pass_is_the_printed_one, 0, patch=monkeypatch)


LEARNING: dict[str, tuple[str, Any, str, Callable[..., None], tuple[Any, ...]]] = {
    "complexity": (
        "definition-approx",
        test_learning_bounds,
        "rademacher_complexity",
        test_learning_bounds.test_rademacher_complexity_of_all_small_classes,
        (),
    ),
    "bound of the minimiser": (
        "proposition-2.2",
        test_learning_bounds,
        "erm_bound",
        test_learning_bounds.test_the_bound_of_the_minimiser_from_its_parts,
        (),
    ),
    "size of covers": (
        "fact-covering",
        test_learning_bounds,
        "log_cover_size",
        test_learning_bounds.test_the_size_of_covers_and_the_chaining_bound_from_their_parts,
        (),
    ),
    "chaining": (
        "fact-covering",
        test_learning_bounds,
        "chaining_bound",
        test_learning_bounds.test_the_size_of_covers_and_the_chaining_bound_from_their_parts,
        (),
    ),
    "sparse means": (
        "fact-covering",
        test_learning_bounds,
        "sparse_average",
        test_learning_bounds.test_means_of_picks_are_near_every_point_of_a_grid,
        (),
    ),
    "error bound": (
        "lemma-2.3",
        test_learning_bounds,
        "margin_error_bound",
        test_learning_bounds.test_the_error_bound_of_the_margin_from_its_parts,
        (),
    ),
    "Occam's sample size": (
        "definition-2.1",
        test_approximation,
        "occam_sample_size",
        test_approximation.test_a_surrogate_that_knows_the_targets_meets_the_definition_with_few_examples,
        (2,),
    ),
}


@pytest.mark.parametrize("quantity", LEARNING)
def test_a_moved_quantity_of_learning_is_seen(quantity: str, monkeypatch: Patch) -> None:
    """2 per cent too large."""
    statement, module, name, check, arguments = LEARNING[quantity]
    function = getattr(module, name)

    def scaled(*given: Any, **options: Any) -> Any:
        value = function(*given, **options)
        return value * 51 // 50 if isinstance(value, int) else value * 51 / 50

    seen(statement, lambda patch: patch.setattr(module, name, scaled), check, *arguments, patch=monkeypatch)
