"""Faults planted in complexities, indicators, networks, comparators and training: deciding checks turn red."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.recurrent import comparator as build
from lemmata.constructions.recurrent.comparator import Comparator, comparator, conditional_mean
from lemmata.constructions.recurrent.concepts import input_sequence, interaction, lag_networks, null_sequence
from lemmata.constructions.recurrent.elman import (
    ElmanNetwork,
    back,
    linear_change,
    random_elman,
    trace,
    weighted_gradient,
)
from lemmata.constructions.recurrent.indicator import bounded_indicator, clipping_level, indicator_function
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.recurrent.complexities import complexity, taylor
from lemmata.numerics.recurrent.gram_schmidt import gram_schmidt
from lemmata.numerics.recurrent.losses import cross_entropy
from lemmata.numerics.recurrent.rectified_norm import first_column_vector, stretch
from lemmata.theorems.plugin import Effort
from lemmata.theorems.rnn_sgd import test_comparator as matrix
from lemmata.theorems.rnn_sgd import test_complexities as sums
from lemmata.theorems.rnn_sgd import test_conventions as section
from lemmata.theorems.rnn_sgd import test_coupling as coupling
from lemmata.theorems.rnn_sgd import test_geometry as start
from lemmata.theorems.rnn_sgd import test_indicator as lemma
from lemmata.theorems.rnn_sgd import test_linearisation as linear
from lemmata.theorems.rnn_sgd import test_rectified_norm as norm
from lemmata.theorems.rnn_sgd import test_slopes as slopes
from lemmata.theorems.rnn_sgd import test_training as sgd
from lemmata.theorems.rnn_sgd.experiments import training
from lemmata.theorems.rnn_sgd.experiments.training import random_target
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name, given_otherwise, scaled

QUICK = {"effort": Effort("quick")}

FAULTS = [
    Fault("even terms without a partner", "lemma-5.1", lemma, "test_the_mean_is_the_polynomial", lemma,
          "indicator_function", changed(indicator_function, lambda function: replace(
              function, terms=tuple(replace(term, paired=False) for term in function.terms))), {"degree": 2}),
    Fault("levels at half their height", "lemma-5.1", lemma, "test_the_clipped_function_is_bounded_and_near", lemma,
          "clipping_level", scaled(clipping_level, 0.5), {"coefficients": [0, 1], "variance": fmpq(2), "constant": 25}),
    Fault("twice the radius", "fact-sample-complexity", sums, "test_sizes_for_polynomials_are_polynomials", sums,
          "complexity", lambda phi, radius, accuracy: complexity(phi, 2 * radius, accuracy)),
    Fault("the other complexity", "definition-complexity", sums, "test_powers", sums, "smooth_complexity",
          lambda phi, radius: complexity(phi, radius, fmpq(1, 1000)), {"degree": 2}),
    Fault("a series without its last term", "example-2.1", sums, "test_taylor_polynomials_are_near", sums, "taylor",
          lambda name, degree: taylor(name, degree - 1)),
    Fault("the printed padding", "definition-data", section, "test_padding_has_norm_one", section, "padded",
          lambda z: as_exact([*z, 0, fmpq(1, 2)]), {"z": (1, 0)}),
    Fault("tokens from the last to the first", "definition-3.2", section, "test_both_sequences_are_normalised", section,
          "input_sequence", changed(input_sequence, lambda tokens: tokens[::-1]), {"epsilon": fmpq(1, 2)}),
    Fault("a symmetric W", "definition-3.3", section, "test_the_network_and_its_initialisation", section,
          "random_elman", changed(random_elman, lambda n: replace(n, state=(n.state + n.state.T) / 2**0.5))),
    Fault("lags reversed", "example-3.5", section, "test_networks_per_lag_are_targets", section, "lag_networks",
          lambda length, hidden, readouts, c: lag_networks(length, hidden, readouts[::-1], c)),
    Fault("no interaction ever", "definition-concept-class", section, "test_targets_add_up_over_the_tokens", section,
          "interaction", scaled(interaction, 0)),
    Fault("a loss without its scale", "definition-loss", section, "test_losses_of_the_class", section,
          "scaled_cross_entropy", cross_entropy, {"seed": 3}),
    Fault("patterns from the last to the first", "definition-4.1", linear, "test_states_are_those_of_the_patterns",
          linear, "trace", changed(trace, lambda run: replace(run, active=run.active[::-1]))),
    Fault("every segment is certified", "definition-pseudo-network", linear,
          "test_the_linear_network_is_the_derivative", linear, "constant_patterns", lambda *_: True),
    Fault("two per cent of the change missing", "step-1-coupling", linear,
          "test_the_linear_network_is_the_derivative", linear, "linear_change", scaled(linear_change, fmpq(49, 50))),
    Fault("climbing along a gradient transposed", "step-1-coupling", coupling,
          "test_the_largest_error_found_falls_with_the_width", coupling, "weighted_gradient",
          changed(weighted_gradient, np.transpose)),
    Fault("a network that moves half as far", "step-1-coupling", coupling,
          "test_the_largest_error_found_falls_with_the_width", ElmanNetwork, "moved",
          given_otherwise(ElmanNetwork.moved, lambda network, change: (network, change / 2))),
    Fault("the change of another matrix", "definition-pseudo-network", linear,
          "test_the_recursion_is_the_sum_over_back", linear, "linear_change",
          lambda network, run, change: linear_change(network, run, change.T)),
    Fault("a gradient transposed", "definition-objective", linear, "test_the_gradient_is_the_adjoint", linear,
          "weighted_gradient", changed(weighted_gradient, np.transpose)),
    Fault("the certificate of another vector", "footnote-2", norm, "test_a_certificate_from_below", norm, "stretch",
          lambda W, x: stretch(W, -x), {"seed": 0}),
    Fault("no ascent", "footnote-2", norm, "test_the_norm_is_not_the_root_of_two", norm, "stretched_vector",
          lambda W, steps: first_column_vector(W), {"seed": 1}),
    Fault("coordinates reversed", "definition-null-sequence", matrix, "test_the_null_sequence_is_near", matrix,
          "null_sequence", changed(null_sequence, lambda tokens: tokens[:, ::-1])),
    Fault("vectors of other tokens", "definition-5.3", matrix, "test_the_matrix_is_that_of_the_definition", matrix,
          "comparator", changed(comparator, lambda found: replace(found, vectors=found.vectors[::-1])), {"seed": 0}),
    Fault("a comparator clipped elsewhere", "lemma-5.2", matrix, "test_the_function_is_within_its_range", matrix,
          "comparator", lambda network, target, scale, window, accuracy: comparator(
              network, target, scale, window, accuracy**2)),
    Fault("the mean at the other side", "lemma-5.2", matrix, "test_the_mean_over_fresh_rows", matrix,
          "conditional_mean", lambda f, null, h, scale, t, window: conditional_mean(f, null, h, scale, -t, window),
          {"power": 1}),
    Fault("vectors of other tokens", "lemma-5.4", slopes, "test_the_expansion", slopes, "comparator",
          changed(comparator, lambda found: replace(found, vectors=found.vectors[::-1]))),
    Fault("vectors twice as long", "lemma-5.4", slopes, "test_the_expansion", slopes, "comparator",
          changed(comparator, lambda found: replace(found, vectors=2 * found.vectors))),
    Fault("a function for more noise", "definition-5.3", matrix, "test_the_matrix_is_that_of_the_definition", build,
          "bounded_indicator", lambda c, variance, accuracy: bounded_indicator(c, variance + 1, accuracy), {"seed": 0}),
    Fault("the comparator of half the window", "claim-G.1", start, "test_the_norm_of_the_comparator", start,
          "comparator", lambda network, target, scale, window: comparator(network, target, scale, window / 2), QUICK),
    Fault("a smaller bound", "claim-G.1", start, "test_the_norm_of_the_comparator", Comparator, "norm_bound",
          scaled(Comparator.norm_bound, 0.98), QUICK),
    Fault("another order", "definition-notation", start, "test_gram_schmidt_is_exact", start, "gram_schmidt",
          lambda vectors: gram_schmidt(vectors[::-1])),
    Fault("patterns of the step before", "fact-init-geometry", start, "test_backward_vectors_keep_their_length", start,
          "back", lambda n, run, *ends: back(n, replace(run, active=np.roll(run.active, 1, axis=0)), *ends), QUICK),
    Fault("rows that are not fresh", "fact-init-geometry", start, "test_a_few_fresh_rows_change_little", start,
          "random_elman", lambda width, tokens, outputs, _: random_elman(
              width, tokens, outputs, np.random.default_rng(0)), QUICK),
    Fault("a target without its last part", "fact-position-adaptivity", sgd, "test_positions_are_told_apart", training,
          "random_target", changed(random_target, lambda target: replace(target, parts=target.parts[:-1])),
          {**QUICK, "record_property": lambda *_: None}),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "rnn-sgd", monkeypatch)
