"""Faults planted in heads, circuits, gradients, curricula and strategies: deciding checks turn red with each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.induction.head import CountingHead
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.log_two import LogTwo
from lemmata.theorems.induction_heads import test_affine_readout as readout
from lemmata.theorems.induction_heads import test_all_lengths as lengths
from lemmata.theorems.induction_heads import test_circuits as circuits
from lemmata.theorems.induction_heads import test_experiments as runs
from lemmata.theorems.induction_heads import test_figures as figures
from lemmata.theorems.induction_heads import test_first_step as first
from lemmata.theorems.induction_heads import test_induction_head as heads
from lemmata.theorems.induction_heads import test_linear_regime as regime
from lemmata.theorems.induction_heads import test_one_layer as one_layer
from lemmata.theorems.induction_heads import test_preliminaries as section
from lemmata.theorems.induction_heads import test_reference_losses as losses
from lemmata.theorems.induction_heads import test_second_step as second
from lemmata.theorems.induction_heads import test_single_head as single
from lemmata.theorems.induction_heads import test_strategies as tasks
from lemmata.theorems.induction_heads import test_symmetric_chains as symmetric
from lemmata.theorems.induction_heads import test_transformer as network
from lemmata.theorems.induction_heads import test_two_step_limits as limits
from lemmata.theorems.induction_heads import test_two_steps as steps
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name, scaled

EFFORT, RECORD = {"effort": Effort("quick")}, {"record_property": lambda *_: None}
SIZE = {"k": 2, "quick": 6, "full": 6, **EFFORT}
CHAIN, FIRST = {"P": first.CHAINS[0], "t": 3}, {"P": first.CHAINS[0], "length": 3}

ROWS: list[Any] = [
    ("the printed head", "proposition-8.2", heads, "with_a_zero_row_in_front_the_hard_limit_is_the_bigram_frequency",
     "ngram_head", lambda f: lambda n, k: heads.printed_induction_head(k), SIZE),
    ("scales a third as large", "proposition-8.2", heads, "certified_scales_bring_outputs_within_the_tolerance",
     "scales_for", lambda f: changed(f, lambda scales: [c // 3 for c in scales]), {"tolerance": 1e-6, **EFFORT}),
    ("losses of sequences that are longer by one", "definition-loss", network,
     "certified_losses_add_up_to_the_loss_of_the_definition", "enumerate_losses",
     lambda f: lambda model, t: f(model, t + 1), {"t": 3}),
    ("the losses of another head", "definition-loss", network,
     "certified_losses_add_up_to_the_loss_of_the_definition", "enumerate_losses",
     lambda f: lambda model, t: f(trained_head(2).model, t), {"t": 3}),
    ("a row of the prior missing", "construction-8.2a", heads, "repeated_prior_rows_give_any_integer_dirichlet_prior",
     "bayesian_ngram_head",
     lambda f: changed(f, lambda h: replace(h, transformer=replace(h.transformer, prefix=h.transformer.prefix[:-1]))),
     {"pseudo_counts": (2, 1)}),
    ("bigrams for trigrams", "construction-8.2c", heads, "ngram_heads_give_frequencies_and_posterior_means",
     "ngram_head", lambda f: lambda n, k: f(n - 1, k), {"n": 3, **SIZE}),
    ("slope and shift exchanged", "claim-8.2b", readout, "block_of_ones_turns_y_into_a_y_plus_b",
     "with_affine_readout", lambda f: lambda head, slope, shift: f(head, shift, slope), {"k": 2}),
    ("a sequence counted twice", "claim-8.2d", one_layer, "no_single_head_decides_the_bigrams_of_six_tokens",
     "CERTIFICATE", lambda found: replace(found, multipliers={**found.multipliers, "111221": 2})),
    ("derivatives exchanged", "claim-P.4", circuits,
     "gradients_of_all_small_circuits_cost_at_most_three_more_gates_per_gate", "gradient",
     lambda f: changed(f, lambda circuit: replace(circuit, outputs=circuit.outputs[::-1])), EFFORT),
    ("one rate for all steps", "definition-P.5", section, "rates_of_a_descent_are_numbered_from_0_to_T_minus_1",
     "trajectory", lambda f: lambda tensor, v, W, rates: f(tensor, v, W, rates[:1] * 3)),
    ("a uniform start", "definition-iclmc", tasks, "sequences_are_stationary", "stationary_evidence",
     lambda f: lambda x: LogTwo(tasks.independent_start_evidence(x, (1, 1)) / 2)),
    ("unigrams", "est-bigram", tasks, "bigram_strategy_is_the_posterior_mean", "bigram", lambda f: tasks.unigram,
     {"k": 2, "t": 4, "prior": (1, 1)}),
    ("the entropy of the stationary law", "table-E.5", losses, "closed_forms_against_rigorous_quadrature",
     "entropy_rate", lambda f: losses.stationary_entropy),
    ("the unigram solution", "fact-8.3", regime, "model_expresses_bigram_and_unigram_counts", "bigram_minimal_model",
     lambda f: regime.unigram_minimal_model, {"k": 2, "t": 4}),
    ("the tensor transposed", "lemma-E.1b", regime, "population_gradient_is_the_printed_sum", "chain_tensor",
     lambda f: changed(f, lambda tensor: tensor.transpose(0, 2, 1)), CHAIN),
    ("states exchanged", "lemma-E.1c", first, "stationary_law_is_no_eigenvector_of_lambda", "chain_stationary_law",
     lambda f: changed(f, np.flip)),
    ("the tensor of another length", "lemma-E.1", first, "averaged_first_step_is_the_average_over_all_sequences",
     "flat_tensor", lambda f: lambda t: f(t + 1)[:t], {"length": 5}),
    ("a gradient transposed", "lemma-E.1d", first, "printed_w_gradient_is_the_average_over_all_sequences",
     "w_gradient", lambda f: changed(f, np.transpose), FIRST),
    ("the last position first", "lemma-E.1f", first, "printed_v_gradient_is_the_average_over_all_sequences",
     "v_gradient", lambda f: changed(f, np.flip), FIRST),
    ("the last position first", "lemma-E.1g", second, "second_step_is_the_average_over_all_sequences",
     "chain_tensor", lambda f: changed(f, np.flipud), CHAIN),
    ("the threshold of the next length", "lemma-E.1h", lengths, "thresholds_of_all_lengths_from_10_to_150",
     "dominance_threshold", lambda f: lambda t, *bits: f(t + 1, *bits), RECORD),
    ("the last position first", "lemma-8.4", lengths, "formulas_give_the_gradients_of_the_tensor", "flat_tensor",
     lambda f: changed(f, np.flipud), {"t": 7}),
    ("states exchanged", "corollary-E.2", symmetric, "first_step_on_symmetric_chains_over_all_sequences",
     "symmetric_tensor", lambda f: changed(f, np.fliplr), {"t": 4}),
    ("no decay", "proposition-8.5", steps, "two_steps_are_two_gradient_steps_over_all_sequences", "two_step_models",
     lambda f: changed(f, lambda m: (m[0], MinimalModel(m[0].v + m[1].v, m[0].W + m[1].W))), {"t": 3}),
    ("states exchanged", "proposition-E.3", limits, "limit_of_the_first_step_has_the_leading_constants",
     "first_step_limit", lambda f: changed(f, np.flipud)),
    ("the peak one place on", "proposition-E.3", steps, "long_form_agrees_with_the_exact_weights", "long_second_step",
     lambda f: changed(f, lambda model: MinimalModel(np.roll(model.v, 1), model.W))),
    ("the printed curve", "figure-E.2", figures, "data_are_gradients_over_all_sequences", "step_figures",
     lambda f: changed(f, lambda data: replace(data, corrected=data.printed)), {"t": 3}),
    ("the tokens before not asked for", "figure-8.5", single,
     "one_head_in_each_layer_is_better_than_bigrams_and_worse_than_trigrams", "single_trigram_head",
     lambda f: lambda: f(beta=0)),
    ("every loss has a plateau", "figure-8.5", runs, "four_stages_at_the_printed_sizes_and_single_heads_below_bigrams",
     "rests_at", lambda f: lambda run, line: True, RECORD),
]  # fmt: skip

FAULTS = [
    Fault("a bound a fifth too small", "construction-8.2a", heads, "test_bound_holds_on_all_short_sequences",
          CountingHead, "error_bound", scaled(CountingHead.error_bound, 0.8),
          {"build": heads.ngram_head, "scales": (400, 5)}),
    Fault("layers in another order", "definition-transformer", network, "test_forward_pass_is_that_of_8_4_and_8_5",
          Transformer, "to_balls", changed(Transformer.to_balls, lambda soft: replace(soft, layers=soft.layers[::-1])),
          {"seed": 1, "x": [1, 2, 2, 1]}),
]  # fmt: skip
FAULTS += [
    Fault(name, statement, module, f"test_{check}", module, attribute, wrong(getattr(module, attribute)), *arguments)
    for name, statement, module, check, attribute, wrong, *arguments in ROWS
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "induction-heads", monkeypatch, (ValueError,) if fault.attribute == "CERTIFICATE" else ())
