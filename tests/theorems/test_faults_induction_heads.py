"""Faults planted in the library: the deciding checks of the statements on induction heads have to see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.circuits.arithmetic import Circuit, Gate
from lemmata.constructions.induction import curriculum
from lemmata.constructions.induction.head import CountingHead
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.numerics.markov import minimal_trajectory
from lemmata.numerics.markov.minimal_gradient import v_gradient, w_gradient
from lemmata.theorems.evidence import MARK
from lemmata.theorems.induction_heads import (
    printed_updates,
    test_affine_readout,
    test_all_lengths,
    test_circuits,
    test_experiments,
    test_first_step,
    test_induction_head,
    test_linear_regime,
    test_many_states,
    test_preliminaries,
    test_reference_losses,
    test_second_step,
    test_strategies,
    test_symmetric_chains,
    test_trajectory,
    test_transformer,
    test_two_step_limits,
    test_two_steps,
)
from lemmata.theorems.plugin import Effort

Change = Callable[[Any], Any]


FIXTURES = {"effort": Effort("quick"), "record_property": lambda name, value: None}


@dataclass(frozen=True)
class Fault:
    """A function of the library, as a module names it, wrapped by `change`, and the deciding checks that must fail."""

    where: Any
    name: str
    change: Change
    module: ModuleType
    checks: dict[str, tuple[str, ...]]
    arguments: dict[str, Any] = field(default_factory=dict)
    clear: tuple[Any, ...] = ()


def after(change: Change) -> Change:
    """Wrap a function: what it returns is changed."""
    return lambda function: lambda *args, **kwargs: change(function(*args, **kwargs))


def times(factor: Any) -> Change:
    return after(lambda value: value * factor)


def moved_entry(index: tuple[int, ...], factor: Any) -> Change:
    """Change one entry of the array that a function returns."""

    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array[index] = array[index] * factor
        return array

    return after(change)


def with_heads(*heads: Change | None) -> Change:
    """Change the heads of layer 1 of a counting head; None drops one."""

    def change(head: CountingHead) -> CountingHead:
        first, second = head.transformer.layers
        kept = tuple(f(part) for f, part in zip(heads, first.heads, strict=False) if f is not None)
        layers = (AttentionLayer(kept), second)
        return replace(head, transformer=replace(head.transformer, layers=layers))

    return after(change)


def looks_two_back(head: Head) -> Head:
    return replace(head, relative_keys=np.concatenate([head.relative_keys[:1] * 0, head.relative_keys]))


def one_prior_row_less(head: CountingHead) -> CountingHead:
    prefix = head.transformer.prefix.copy()
    prefix[-1] = prefix[-1] * 0
    return replace(head, transformer=replace(head.transformer, prefix=prefix))


def without_match(head: CountingHead) -> CountingHead:
    first, second = head.transformer.layers
    blind = replace(second.heads[0], key=replace(second.heads[0].key, weight=second.heads[0].key.weight * 0))
    return replace(head, transformer=replace(head.transformer, layers=(first, AttentionLayer((blind,)))))


def other_row(function: Any) -> Any:
    """Relative keys at the distance i - j + 1 in place of i - j."""
    return lambda head, *args: function(looks_two_back(head), *args)


def smoothed_by_half(function: Any) -> Any:
    return lambda x, k, prior=1: function(x, k, np.asarray(prior) / 2)


def extra_gate(circuit: Circuit) -> Circuit:
    return replace(circuit, gates=(*circuit.gates, *[Gate("+", (0, 0))] * (2 * circuit.size)))


def no_decay(function: Any) -> Any:
    return lambda tensor, v, W, rates, decays=None: function(tensor, v, W, rates)


def all_at_once(function: Any) -> Any:
    """Every step of a descent takes the first rate."""
    return lambda tensor, v, W, rates, decays=None: function(tensor, v, W, [rates[0]] * len(rates), decays)


def transposed(function: Any) -> Any:
    return lambda v, W: function(v, np.asarray(W).T)


def reversed_places(function: Any) -> Any:
    return lambda v, W: function(np.roll(np.asarray(v), 1), W)


def swapped_operations(function: Any) -> Any:
    def call(circuit: Circuit, x: Any) -> Any:
        gates = tuple(Gate({"+": "*", "*": "+"}.get(g.operation, g.operation), g.operands) for g in circuit.gates)
        return function(replace(circuit, gates=gates), x)

    return call


BOTH = ("proposition-E.3", "proposition-8.5")
CHAIN = test_first_step.CHAINS[0]
SEVEN, PERCENT = fmpq(7), fmpq(101, 100)
LIMIT = "test_exact_logits_at_a_fixed_position_approach_the_limit"
SPREAD = {"spread": test_two_step_limits.Fraction(1, 10)}
SIZE = {"k": 2, "quick": 6, "full": 6}

FAULTS = {
    # two steps
    "rates of the descent times 7": Fault(
        minimal_trajectory, "v_gradient", times(SEVEN), test_two_step_limits, {LIMIT: BOTH}, SPREAD
    ),
    "rates of the curriculum times 7, W": Fault(
        curriculum, "w_gradient", times(SEVEN), test_two_step_limits, {LIMIT: BOTH}, SPREAD
    ),
    "rates of the curriculum times 7, v": Fault(
        curriculum,
        "v_gradient",
        times(SEVEN),
        test_two_steps,
        {"test_two_steps_are_two_gradient_steps_over_all_sequences": BOTH},
        {"t": 3},
    ),
    "no weight decay in the descent": Fault(
        test_two_step_limits, "trajectory", no_decay, test_two_step_limits, {LIMIT: BOTH}, SPREAD
    ),
    "the limit of the first step 2 % too large": Fault(
        test_two_step_limits,
        "first_step_limit",
        times(1.02),
        test_two_step_limits,
        {"test_limit_of_the_first_step_has_the_leading_constants": ("proposition-E.3",)},
    ),
    "rates of the long second step times 7": Fault(
        test_two_step_limits,
        "long_second_step",
        after(lambda model: MinimalModel(model.v * 7, model.W)),
        test_two_step_limits,
        {"test_logits_at_a_fixed_position_approach_the_limit": BOTH},
    ),
    "the long second step with v_2 moved by 1 %": Fault(
        test_two_steps,
        "long_second_step",
        after(lambda model: MinimalModel(np.where(np.arange(len(model.v)) == 1, 1.01, 1) * model.v, model.W)),
        test_two_steps,
        {"test_long_form_agrees_with_the_exact_weights": ("proposition-E.3",)},
    ),
    "a long second step without unigram part": Fault(
        test_two_step_limits,
        "long_second_step",
        after(lambda model: MinimalModel(model.v * (model.v > model.v.max() / 100), model.W)),
        test_two_step_limits,
        {"test_expected_logits_at_a_proportional_position": ("proposition-E.3",)},
        {"tau": 1.0, "w": 1.0},
    ),
    "moments of the spread off": Fault(
        curriculum,
        "spread_moments",
        moved_entry((2,), PERCENT),
        test_two_steps,
        {"test_two_steps_are_two_gradient_steps_over_all_sequences": BOTH},
        {"t": 3},
    ),
    # gradients of the first two steps
    "one entry of the flat tensor 1 % too large": Fault(
        test_first_step,
        "flat_tensor",
        moved_entry((1, 0, 0), PERCENT),
        test_first_step,
        {
            "test_averaged_first_step_in_Q_plus_Q_ln2": ("lemma-E.1", "lemma-E.1d", "lemma-E.1f"),
            "test_averaged_first_step_is_the_average_over_all_sequences": ("lemma-E.1",),
        },
        {"length": 5},
    ),
    "off-diagonal entries of the flat tensor 1 % too large": Fault(
        test_all_lengths,
        "flat_tensor",
        moved_entry((0, 0, 1), PERCENT),
        test_all_lengths,
        {"test_formulas_give_the_gradients_of_the_tensor": ("lemma-E.1h", "lemma-E.1e", "lemma-E.1", "lemma-8.4")},
        {"t": 7},
    ),
    "the leading constant of W 5 % too large": Fault(
        test_first_step,
        "w_gradient",
        times(fmpq(21, 20)),
        test_first_step,
        {"test_rest_beyond_the_leading_order_of_w_is_linear_in_t": ("lemma-E.1e",)},
        {"length": 150},
    ),
    "the gradient of v of a third too large": Fault(
        test_first_step,
        "v_gradient",
        times(fmpq(4, 3)),
        test_first_step,
        {"test_rest_beyond_the_leading_order_of_v_is_bounded": ("lemma-E.1f",)},
        {"length": 80},
    ),
    "the tensor of a chain transposed": Fault(
        test_linear_regime,
        "chain_tensor",
        after(lambda C: C.transpose(0, 2, 1)),
        test_linear_regime,
        {"test_population_gradient_is_the_printed_sum": ("lemma-E.1b",)},
        {"P": CHAIN, "t": 3},
    ),
    "one entry of the tensor of a chain 1 % too large": Fault(
        test_first_step,
        "chain_tensor",
        moved_entry((0, 0, 0), PERCENT),
        test_first_step,
        {
            "test_printed_w_gradient_is_the_average_over_all_sequences": ("lemma-E.1d",),
            "test_printed_v_gradient_is_the_average_over_all_sequences": ("lemma-E.1f",),
        },
        {"P": CHAIN, "length": 3},
    ),
    "the tensor of a chain with its places reversed": Fault(
        test_second_step,
        "chain_tensor",
        after(lambda C: C[::-1]),
        test_second_step,
        {"test_second_step_is_the_average_over_all_sequences": ("lemma-E.1g",)},
        {"P": CHAIN, "t": 3},
    ),
    "the threshold 0.2 % too large": Fault(
        test_second_step,
        "dominance_threshold",
        times(1.002),
        test_second_step,
        {
            "test_second_coordinate_dominates_exactly_above_the_threshold": ("lemma-E.1h", "lemma-E.1", "lemma-8.4"),
        },
        {"t": 12},
        clear=(test_second_step.threshold,),
    ),
    "the powers of the chain with a sign flipped": Fault(
        printed_updates,
        "beta_gamma",
        after(lambda pair: (pair[0], [pair[1][0], [-x for x in pair[1][1]]])),
        test_first_step,
        {"test_powers_of_the_chain_and_the_stationary_law": ("lemma-E.1c",)},
    ),
    "symmetric chains with the signs exchanged": Fault(
        test_symmetric_chains,
        "symmetric_tensor",
        after(lambda C: C[:, ::-1]),
        test_symmetric_chains,
        {"test_first_step_on_symmetric_chains_over_all_sequences": ("corollary-E.2",)},
        {"t": 4},
    ),
    "positions of the flat tensor moved by one": Fault(
        test_trajectory,
        "flat_tensor",
        after(lambda C: np.roll(C, 1, axis=0)),
        test_trajectory,
        {"test_second_layer_first_then_a_comb_of_even_positions": ("observation-8.4",)},
        {"t": 12, "rate": fmpq(8)},
    ),
    # the minimal model and its loss
    "the minimal model with W transposed": Fault(
        test_linear_regime,
        "MinimalModel",
        transposed,
        test_linear_regime,
        {"test_matrix_form_on_all_pairs_of_unit_weights": ("definition-minimal",)},
        {"k": 2, "t": 3},
    ),
    "the minimal model with v moved by one place": Fault(
        test_linear_regime,
        "MinimalModel",
        reversed_places,
        test_linear_regime,
        {
            "test_matrix_form_on_all_pairs_of_unit_weights": ("definition-minimal",),
        },
        {"k": 2, "t": 3},
    ),
    "the bigram solution with its weight one place on": Fault(
        test_linear_regime,
        "bigram_minimal_model",
        after(lambda model: MinimalModel(np.roll(model.v, 1), model.W)),
        test_linear_regime,
        {"test_model_expresses_bigram_and_unigram_counts": ("fact-8.3",)},
        {"k": 2, "t": 4},
    ),
    "logits of the minimal model 1 % too large": Fault(
        MinimalModel,
        "__call__",
        times(PERCENT),
        test_linear_regime,
        {"test_margin_of_the_lemma_keeps_all_hinges_active": ("lemma-E.1a",)},
        {"k": 2, "t": 3},
    ),
    "a sum over positions in place of their mean": Fault(
        test_transformer,
        "chain_tensor",
        times(3),
        test_transformer,
        {"test_population_loss_of_the_minimal_model_by_its_definition_and_by_the_tensor": ("definition-loss",)},
        {"k": 2, "t": 3},
    ),
    # heads
    "layer 1 looks two tokens back": Fault(
        test_induction_head,
        "ngram_head",
        with_heads(looks_two_back),
        test_induction_head,
        {
            "test_with_a_zero_row_in_front_the_hard_limit_is_the_bigram_frequency": (
                "proposition-8.2",
                "construction-8.2a",
            ),
            "test_attention_of_the_second_layer_looks_different_if_only_the_first_layer_does": ("figure-8.2",),
        },
        SIZE,
    ),
    "layer 2 compares nothing": Fault(
        test_induction_head,
        "ngram_head",
        after(without_match),
        test_induction_head,
        {
            "test_with_a_zero_row_in_front_the_hard_limit_is_the_bigram_frequency": (
                "proposition-8.2",
                "construction-8.2a",
            )
        },
        SIZE,
    ),
    "one row of the prior missing": Fault(
        test_induction_head,
        "bayesian_ngram_head",
        after(one_prior_row_less),
        test_induction_head,
        {"test_with_prior_rows_the_hard_limit_is_the_posterior_mean": ("construction-8.2a",)},
        SIZE,
    ),
    "one pseudo-count missing": Fault(
        test_induction_head,
        "bayesian_ngram_head",
        after(one_prior_row_less),
        test_induction_head,
        {"test_repeated_prior_rows_give_any_integer_dirichlet_prior": ("construction-8.2a",)},
        {"pseudo_counts": (2, 1)},
    ),
    "the second previous-token head dropped": Fault(
        test_induction_head,
        "ngram_head",
        with_heads(lambda head: head, None),
        test_induction_head,
        {"test_ngram_heads_give_frequencies_and_posterior_means": ("construction-8.2c",)},
        {"n": 3, "k": 2, "quick": 6, "full": 6},
    ),
    "the error bound a fifth too small": Fault(
        CountingHead,
        "error_bound",
        times(0.8),
        test_induction_head,
        {"test_bound_holds_on_all_short_sequences": ("construction-8.2a",)},
        {"build": test_induction_head.ngram_head, "scales": (400, 5)},
    ),
    "certified scales a third as large": Fault(
        test_induction_head,
        "scales_for",
        after(lambda scales: tuple(max(1, c // 3) for c in scales)),
        test_induction_head,
        {"test_certified_scales_bring_outputs_within_the_tolerance": ("construction-8.2a", "proposition-8.2")},
        {"tolerance": 1e-6},
    ),
    "relative keys one row on": Fault(
        Head,
        "scores",
        other_row,
        test_transformer,
        {
            "test_scores_depend_on_positions_through_their_difference_only": ("definition-transformer",),
        },
    ),
    "relative keys one row on, in the encoding": Fault(
        Head,
        "scores",
        other_row,
        test_linear_regime,
        {"test_positional_scores_contain_the_query_matrix": ("observation-8.4",)},
        {"seed": 0},
    ),
    "the read-out shifts one logit only": Fault(
        test_affine_readout,
        "with_affine_readout",
        lambda function: lambda head, slope, shift: function(head, slope, shift * fmpq(102, 100)),
        test_affine_readout,
        {"test_block_of_ones_turns_y_into_a_y_plus_b": ("claim-8.2b",)},
        {"k": 2},
    ),
    # strategies, priors, losses
    "bigrams smoothed by one half": Fault(
        test_strategies,
        "bigram",
        smoothed_by_half,
        test_strategies,
        {"test_bigram_strategy_is_the_posterior_mean": ("est-bigram",)},
        {"k": 2, "t": 4, "prior": (1, 1)},
    ),
    "unigrams smoothed by one half": Fault(
        test_strategies,
        "unigram",
        smoothed_by_half,
        test_strategies,
        {"test_add_one_frequencies_are_bayes_for_independent_symbols": ("est-unigram",)},
        {"k": 2, "t": 4, "prior": (1, 1)},
    ),
    "evidence of one start doubled": Fault(
        test_strategies,
        "stationary_evidence",
        lambda function: lambda x: function(x) * (1 + int(x[0] == 1)),
        test_strategies,
        {
            "test_probabilities_of_all_sequences_add_up_to_one": ("definition-iclmc",),
            "test_sequences_are_stationary": ("definition-iclmc",),
            "test_expected_differences_are_summable": ("remark-8.1",),
        },
        {"t": 4},
    ),
    "the entropy of the stationary law 0.1 % too large": Fault(
        test_strategies,
        "stationary_entropy",
        times(1.001),
        test_strategies,
        {"test_expected_differences_are_summable": ("remark-8.1",)},
    ),
    "averages over the flat prior 1 % too large": Fault(
        test_strategies,
        "flat_average",
        times(PERCENT),
        test_strategies,
        {"test_moments_of_the_density": ("claim-stationary",)},
    ),
    "moments of a Dirichlet law 1 % too large": Fault(
        test_many_states,
        "dirichlet_moment",
        times(PERCENT),
        test_many_states,
        {"test_moments_of_one_row": ("claim-stationary",)},
        {"states": 3},
    ),
    "the entropy rate 0.1 % too large": Fault(
        test_reference_losses,
        "entropy_rate",
        times(1.001),
        test_reference_losses,
        {"test_closed_forms_against_rigorous_quadrature": ("table-E.5",)},
    ),
    "divergences in bits": Fault(
        test_reference_losses,
        "kl_divergence",
        times(1 / np.log(2)),
        test_reference_losses,
        {"test_sampled_losses": ("table-E.5",)},
        {"k": 3, "n": 2, "t": 100},
    ),
    "rows of the prior not uniform": Fault(
        test_reference_losses,
        "dirichlet_chains",
        after(lambda P: 0.98 * P + 0.02 / P.shape[-1]),
        test_reference_losses,
        {"test_sampled_losses": ("table-E.5",)},
        {"k": 2, "n": 2, "t": 100},
    ),
    # preliminaries
    "sums and products exchanged in a circuit": Fault(
        Circuit,
        "__call__",
        swapped_operations,
        test_preliminaries,
        {"test_one_parameter_selects_any_of_countably_many_circuits": ("claim-P.3",)},
    ),
    "gates added to the gradient": Fault(
        test_circuits,
        "gradient",
        after(extra_gate),
        test_circuits,
        {"test_gradients_of_all_small_circuits_cost_at_most_three_more_gates_per_gate": ("claim-P.4",)},
    ),
    "the two-layer network with sums for products": Fault(
        Circuit,
        "__call__",
        swapped_operations,
        test_circuits,
        {
            "test_the_two_layer_network_is_a_circuit_with_the_stated_parameters": ("definition-P.2",),
            "test_without_activation_the_network_is_linear_in_the_input": ("definition-P.2",),
        },
        {"d_in": 2, "d_hidden": 3},
    ),
    "descent on the printed correlation loss": Fault(
        test_preliminaries,
        "train_polynet",
        after(lambda run: replace(run, weights=2 - run.weights)),
        test_preliminaries,
        {"test_training_with_the_corrected_correlation_loss_raises_the_agreement": ("definition-P.5",)},
        {"steps": 10, "batch": 1},
    ),
    "one rate for all steps": Fault(
        test_preliminaries,
        "trajectory",
        all_at_once,
        test_preliminaries,
        {"test_rates_of_a_descent_are_numbered_from_0_to_T_minus_1": ("definition-P.5",)},
    ),
    # figures
    "the minimal model starts from v = 2/t": Fault(
        test_experiments.PHASES.work.__globals__,
        "minimal_model",
        after(lambda model: doubled(model)),
        test_experiments,
        {"test_weights_of_the_minimal_model_before_convergence": ("figure-8.4b",)},
    ),
}


def doubled(model: Any) -> Any:
    model.v.data *= 2
    return model


def deciding(function: Any, statement: str) -> bool:
    """Whether a test decides a statement: by a check that is not supporting."""
    marks = [mark.args[0] for mark in getattr(function, "pytestmark", []) if mark.name == MARK]
    return any(e.statement == statement and e.kind == "check" and not e.supporting for e in marks)


def call(test: Any, arguments: dict[str, Any]) -> None:
    """Call a test with those of the arguments and fixtures that it takes."""
    inner = getattr(getattr(test, "hypothesis", None), "inner_test", None)
    code = test.__code__ if inner is None else None
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    test(**{name: (FIXTURES | arguments)[name] for name in names})


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_turn_the_deciding_checks_red(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    if isinstance(fault.where, dict):
        monkeypatch.setitem(fault.where, fault.name, fault.change(fault.where[fault.name]))
    else:
        monkeypatch.setattr(fault.where, fault.name, fault.change(getattr(fault.where, fault.name)))
    for cached in fault.clear:
        cached.cache_clear()
    try:
        for check, statements in fault.checks.items():
            test = getattr(fault.module, check)
            assert all(deciding(test, f"induction-heads:{statement}") for statement in statements)
            with pytest.raises((AssertionError, ValueError)):
                call(test, fault.arguments)
    finally:
        for cached in fault.clear:
            cached.cache_clear()


@pytest.mark.parametrize(
    "name", ["rates of the descent times 7", "layer 1 looks two tokens back", "relative keys one row on"]
)
def test_without_a_fault_these_calls_pass(name: str) -> None:
    fault = FAULTS[name]
    for check in fault.checks:
        call(getattr(fault.module, check), fault.arguments)


def test_rates_times_seven_in_all_gradients_miss_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The descent and the curriculum agree with each other then: the limit, which is computed apart, does not."""
    for module in (minimal_trajectory, curriculum):
        monkeypatch.setattr(module, "v_gradient", times(SEVEN)(v_gradient))
        monkeypatch.setattr(module, "w_gradient", times(SEVEN)(w_gradient))
    with pytest.raises(AssertionError):
        call(test_two_step_limits.test_exact_logits_at_a_fixed_position_approach_the_limit, SPREAD)
