"""Faults planted in the library: the deciding checks of the chapter on Turing machines have to see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as Q
from importlib import import_module
from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.certificates.capacity.decoder_shattering import RecallingDecoder
from lemmata.certificates.margins.all_layer import lower_end
from lemmata.constructions.circuits import relu
from lemmata.constructions.circuits.boolean import BooleanGate
from lemmata.constructions.networks import head as heads
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.turing import compiler
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.numerics.learning.covers import dudley_bound
from lemmata.theorems.plugin import Effort
from lemmata.theorems.turing import compiled_layers
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name

QUICK, TINY, AND = Effort("quick"), Q(1, 10**6), (BooleanGate("AND", (0, 1)),)
REFUSALS: Any = (pytest.fail.Exception,)
"""What a check raises where an error was expected and did not come."""


def fault(name: str, statement: str, where: str, what: str | tuple[Any, str], wrong: Any, /, **given: Any) -> Fault:
    """A fault: the module and the check that see it, the name replaced, there or elsewhere, and wrong made of right."""
    place, check = where.split()
    module = import_module(f"lemmata.theorems.turing.test_{place}")
    owner, attribute = (module, what) if isinstance(what, str) else what
    return Fault(name, statement, module, f"test_{check}", owner, attribute, wrong(getattr(owner, attribute)), given)


def result(change: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda right: changed(right, change)


def layer(name: str, change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A compiled machine with another layer of this name."""
    return result(lambda t: replace(t, layers=tuple(change(t, one) if one.name == name else one for one in t.layers)))


def first(*names: str) -> Callable[..., Any]:
    """A compiled machine that has these layers before all others."""
    return result(lambda t: replace(t, layers=sorted(t.layers, key=lambda one: (*names, one.name).index(one.name))))


def exchanged(name: str, block: str) -> Callable[..., Any]:
    """A compiled machine of which one layer takes the first two coordinates of a block for each other."""

    def change(t: Any, one: Any) -> Any:
        reads, *rest = one.feed_forward.layers
        weight, start = reads.weight.copy(), t.layout.stream[block].start
        weight[[start, start + 1]] = weight[[start + 1, start]]
        return replace(one, feed_forward=FeedForward((replace(reads, weight=weight), *rest)))

    return layer(name, change)


def visits(t: Any, head: Any) -> Any:
    """The head of claim C.4, with the values of another."""
    own = compiled_layers.layer_named(t, "C.4").self_attention
    assert own is not None
    return replace(own, value=head.value)


COMPILED = (compiled_layers, "compile_turing_machine")
SEARCH = "every_digit the_search_finds_the_last_of_every_set_of_visits"
SMALL = "small_machines halting_machines_of_two_running_states_give_their_answer"
DIRECT = "direct_circuits the_conditions_of_every_step_unit_by_unit"
RADIUS = "margin_terms the_bound_is_the_largest_radius_that_the_induction_allows"
NETWORKS = "margin_terms networks_of_all_circuits_of_two_gates"

FAULTS = [
    # machines
    fault("two pairs exchanged", "lemma-C.1", "every_digit every_unit_is_a_boolean_function_of_the_bits_that_it_reads",
          COMPILED, exchanged("C.1b", "aux"), bits=3),
    fault("left for right", "lemma-C.2", "machine_layers head_moves_by_one_modulo_the_range", COMPILED,
          exchanged("C.2a", "q"), bits=3),
    fault("a null pair that ties", "claim-C.4", SEARCH, (TuringLayout, "match"),
          result(lambda head: replace(head, null=(head.null_key + (head.null_key > 0), head.null_value))), bits=3),
    fault("the lowest digit first", "claim-C.5", SEARCH, (compiler, "search_layer"),
          lambda right: lambda layout, j: right(layout, layout.bits - 1 - j), bits=3),
    fault("the symbol of any visit", "claim-C.6", SEARCH, COMPILED,
          layer("C.6", lambda t, one: replace(one, self_attention=visits(t, one.self_attention))), bits=3),
    fault("the symbol before the time", "lemma-C.3", SEARCH, COMPILED, first("C.4", "C.6"), bits=3),
    fault("cells before the head", "lemma-C.7", "attention_layers input_symbol_is_looked_up_for_all_cells_and_lengths",
          COMPILED, layer("C.7", lambda t, one: replace(one, cross_attention=visits(t, one.cross_attention))), bits=2),
    fault("input before what was written", "lemma-C.8", "machine_layers written_symbol_wins_over_input_and_blank",
          "compile_turing_machine", exchanged("C.8a", "scr4"), symbols=2),
    fault("the input before the move", "construction-assembled", SMALL, "compile_turing_machine", first("C.7"),
          rule="stay", effort=QUICK),
    fault("the printed code", "setup-C.1", "transformer time_code_of_the_next_input_is_that_of_the_next_time",
          (TuringTransformer, "beta"), lambda right: lambda t, time: right(t, max(time - 1, 0))),
    fault("no extra state", "setup-C.1", "transformer extra_state_reads_the_first_symbol", "compile_turing_machine",
          result(lambda t: replace(t, start=t.layout.vector({"st": [1, 0, 0, 0], "sym1": [1, 0, 0]})))),
    fault("no memory", "definition-transformer", "transformer forward_pass_is_the_printed_one", "EXACT",
          lambda right: replace(right, evaluate=lambda t, *given: right.evaluate(
              replace(t, layers=tuple(replace(one, self_attention=None) for one in t.layers)), *given)), number=2),
    fault("the first visit", "outline-4.2", "turing_machines symbol_is_that_of_the_last_visit_or_of_the_input_or_blank",
          "last_visits", lambda _: lambda at: [at.index(x) + 1 if x in at[:i] else 0 for i, x in enumerate(at)]),
    fault("a tape with an end", "definition-tm", "turing_machines without_a_move_off_the_tape_all_conventions_agree",
          "simulate", lambda right: lambda *given, **known: right(*given, **(known | {"left_end": "stay"}))),
    fault("attention that stays hard", "remark-4.1", "transformer_precision softmax_keeps_a_margin",
          (TuringTransformer, "softened"), lambda _: lambda t, _sharpness: t, effort=QUICK),
    fault("labels in the other order", "remark-4.1", "shattering_decoders all_labellings_of_the_words_are_realised",
          (RecallingDecoder, "start"), lambda right: lambda decoder, labels: right(decoder, labels[::-1]), n=1, T=3),
    # circuits
    fault("NOT at the end", "definition-circuits", "circuits every_small_circuit_is_layered_by_id_gates", "layered",
          result(lambda c: replace(c, layers=(*c.layers, (BooleanGate("NOT", (c.output,)),)), output=0)), effort=QUICK),
    fault("AND for OR", "proposition-B.2", "circuit_layers the_gadgets_of_the_library_are_the_printed_ones",
          "circuit_network", lambda right: lambda c, kind: right(replace(c, layers=(AND,)), kind)),
    fault("columns in the other order", "lemma-B.1", "circuit_layers all_layers_of_two_gates", "circuit_network",
          lambda right: lambda c, *given, **known: right(replace(c, layers=(c.layers[0][::-1],)), *given, **known)),
    fault("a head that is 2 z", "lemma-3.2", NETWORKS, "circuit_network",
          result(lambda net: replace(net, head=Affine(net.head.weight, 0 * net.head.bias))), corrections="none"),
    fault("a longer network", "theorem-3.1", "circuit_layers sizes_of_networks_of_all_circuits_of_two_gates",
          "circuit_network", lambda right: lambda c, *given: right(c.deepened(c.depth + 1), *given)),
    fault("tokens that do not move", "theorem-3.1", DIRECT, "circuit_loads",
          lambda right: lambda network, rho, _: right(network, rho, TINY), name="alternating"),
    fault("a margin 2 per cent larger", "lemma-3.3", DIRECT, "direct_circuit_bound",
          result(lambda bound: replace(bound, value=bound.value * 51 / 50)), name="alternating"),
    fault("quarters", "correction-elementwise",
          "circuit_layers roundings_of_circuit_networks_act_on_every_coordinate_alone",
          (relu, "rounding"), lambda right: lambda live, _low, _high, *given: right(live, *relu.QUARTERS, *given)),
    fault("a rounding that ends above 1", "definition-D.1", NETWORKS, (relu, "rounding"),
          lambda right: lambda live, low, high, *given: right(live, high, 2 * high, *given), corrections="layers"),
    # margins
    fault("another machine", "theorem-4.1", "direct_margin the_conditions_of_every_layer_from_their_digits", "loads",
          lambda right: lambda _, *radii: right(compiled_layers.compiled(3, left_end="stay"), *radii),
          states=2, symbols=3, bits=3),
    fault("no radius refused", "theorem-4.1", "machine_certificate the_joint_constants_of_a_step", "step_constants",
          result(lambda found: found or (arb(1), arb(1)))),
    fault("the base case like other steps", "lemma-D.7", "margin_terms the_base_case_is_closed_by_its_terms",
          "margin_bound", lambda right: lambda c: right(replace(c, mu_0=c.kappa_theta))),
    fault("errors that do not grow", "lemma-D.8", "margin_terms the_inductive_step_is_closed_by_its_terms",
          "margin_bound", lambda right: lambda c: right(replace(c, mu=Q(1)))),
    fault("no matter what sigma_h", "lemma-D.9", RADIUS, "margin_bound",
          lambda right: lambda c: right(replace(c, sigma_h=1 / TINY))),
    fault("the largest term", "theorem-D.6", RADIUS, "margin_bound",
          result(lambda bound: replace(bound, value=max(map(lower_end, bound.terms.values()))))),
    fault("weights that do not move", "condition-D.3", "margin_terms the_constants_of_networks_whose_norms_are_known",
          "circuit_constants", lambda right: lambda network, *_: right(network, TINY, TINY), sigma=Q(1, 4)),
    fault("all sharing allowed", "definition-D.5",
          "margin_terms equal_parameters_may_be_shared_across_layers_and_not_within_one", "circuit_target",
          lambda right: lambda network, x, *_: right(network, x)),
    fault("attention to all", "definition-D.2", "stability the_joint_inequality_holds_for_hard_attention_with_ties",
          (heads, "hard_weights"), lambda _: lambda row, *_: [fmpq(1, len(row))] * len(row)),
    fault("the network's own label", "definition-all-layer-margin",
          "learning_bounds targets_have_a_margin_exactly_where_they_are_right", "MarginTarget",
          lambda right: lambda theta, output, _: right(theta, output, int(output(theta) > 0))),
    # learning
    fault("a failure that never happens", "definition-2.1",
          "approximation a_surrogate_that_knows_the_targets_meets_the_definition_with_few_examples",
          "consistent_failure_probability", result(lambda _: fmpq(0)), bits=2),
    fault("negatives too", "definition-approx", "learning_bounds rademacher_complexity_of_all_small_classes",
          "rademacher_complexity", lambda right: lambda f, *law: right([*f, *([-x for x in g] for g in f)], *law)),
    fault("the printed constants", "proposition-2.2", "learning_bounds the_bound_of_the_minimiser_from_its_parts",
          "erm_bound", lambda right: lambda *given, **known: right(*given, **(known | {"constants": "printed"}))),
    fault("the closed form", "fact-covering",
          "learning_bounds the_size_of_covers_and_the_chaining_bound_from_their_parts",
          "chaining_bound", lambda _: dudley_bound),
    fault("no eps", "lemma-2.3", "learning_bounds the_error_bound_of_the_margin_from_its_parts", "margin_error_bound",
          lambda right: lambda *given, **_: right(*given)),
    fault("the remainder alone", "corollary-A.1", "inverse_margins the_bounds_from_their_parts", "inverse_margin_bound",
          lambda right: lambda n, alpha, p, _, *delta: right(n, alpha, p, 0, *delta)),
    fault("one layer less", "remark-comparison", "sign_patterns the_bounds_from_their_parts", "network_log_growth",
          lambda right: lambda n, p, w, d: right(n, p, w, max(d - 1, 1))),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "turing", monkeypatch, REFUSALS)
