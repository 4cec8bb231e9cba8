"""Wrong networks, codes, bounds, certificates and printed forms of variable creation: a deciding check sees each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.capacity import blocks
from lemmata.certificates.sparse import exhaustive
from lemmata.certificates.sparse.network import SparseNetworkError
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.projection import Clipping
from lemmata.constructions.sparse import compact, compiler, histogram
from lemmata.constructions.sparse.memorising import printed_memorising_perceptron, ramp_network
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning import deep_capacity, entropy
from lemmata.theorems.plugin import Effort
from lemmata.theorems.variable_creation import instances
from lemmata.theorems.variable_creation import test_attention_heads as attend
from lemmata.theorems.variable_creation import test_compression as codes
from lemmata.theorems.variable_creation import test_deep_capacity as deep
from lemmata.theorems.variable_creation import test_experiments as runs
from lemmata.theorems.variable_creation import test_finite_classes as finite
from lemmata.theorems.variable_creation import test_head_capacity as heads
from lemmata.theorems.variable_creation import test_head_components as parts
from lemmata.theorems.variable_creation import test_histograms as symmetric
from lemmata.theorems.variable_creation import test_identification as learners
from lemmata.theorems.variable_creation import test_linear_covers as linear
from lemmata.theorems.variable_creation import test_lipschitz as slopes
from lemmata.theorems.variable_creation import test_memorising as memory
from lemmata.theorems.variable_creation import test_preliminaries as basics
from lemmata.theorems.variable_creation import test_representation as reps
from lemmata.theorems.variable_creation import test_selection as select
from lemmata.theorems.variable_creation import test_shattering as shatter
from lemmata.theorems.variable_creation import test_sparse_functions as sparse
from lemmata.theorems.variable_creation import test_sparse_learning as strings
from lemmata.theorems.variable_creation.experiments import curves, training
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name, scaled, skip_the_dearest

Change = Callable[..., Any]
QUICK = {"effort": Effort("quick")}
RUN: dict[str, Any] = QUICK | {"record_property": lambda *_: None}
HALF, MORE = fmpq(1, 2), fmpq(51, 50)
REFUSALS = (SparseNetworkError, pytest.fail.Exception)
"""The library's own verifier refuses, or an error that a check waits for does not come."""


def planted(what: str, statement: str, check: Any, name: str, wrong: Change, owner: Any = None, /, **at: Any) -> Fault:
    """A fault made of what has the name in the module of the check, or in the owner."""
    module = sys.modules[check.__module__]
    place = owner or module
    return Fault(what, statement, module, check.__name__, place, name, wrong(getattr(place, name)), at)


def given(change: Change = lambda *given: given, **other: Any) -> Change:
    """Another order or choice of arguments."""
    return lambda function: lambda *at, **known: function(*change(*at), **known | other)


def result(change: Change) -> Change:
    return lambda function: changed(function, change)


def field(name: str, change: Change) -> Change:
    """One field changed of an object that a function builds."""
    return result(lambda built: replace(built, **{name: change(getattr(built, name))}))


def compiled(part: str, change: Change) -> Change:
    """One matrix changed in every head of a compiled network."""
    changed_head = field(part, lambda layer: Affine(change(as_exact(layer.weight))))(lambda head: head)
    return result(lambda network: instances.with_heads(network, changed_head))


SHARPER = given(lambda head, scores, *visible: (head, scores * MORE, *visible))
BAG: dict[str, Any] = QUICK | {"inputs": "bag", "symmetric": False}
CUBES: dict[str, Any] = {"k": 2, "n": 4, "radius": Fraction(1, 2)}

# fmt: off
FAULTS = [
    planted("neurons reversed", "definition-3.1a", basics.test_recurrent_networks_are_circuits_once_they_are_unrolled,
            "recurrent_circuit", field("outputs", lambda nodes: nodes[::-1]), seed=1),
    planted("places reversed", "remark-3.1b", basics.test_one_gate_and_one_parameter_compute_all_functions_of_bits,
            "universal_circuit", field("constants", lambda numbers: (1, *numbers[:0:-1]))),
    planted("partial derivatives reversed", "fact-3.1c", basics.test_gradients_cost_at_most_four_times_the_circuit,
            "gradient", field("outputs", lambda nodes: nodes[::-1]), **QUICK),
    planted("the printed correlation", "definition-3.3a", basics.test_descent_on_every_loss_leads_to_the_label,
            "LOSSES", lambda losses: losses | {"correlation": basics.PRINTED_CORRELATION}, y=1),
    planted("rates one step late", "definition-3.3b", basics.test_iterates_of_descent,
            "descend", given(lambda c, t, b, rates, *more: (c, t, b, [*rates[1:], rates[0]], *more))),
    planted("a key towards the class token", "lemma-A.20b",
            reps.test_positions_in_the_plane_of_the_symbols_and_the_class_token, "_keys",
            result(lambda keys: keys * np.array([1, 1, -1])), compact, d=3, s=3, T=6, gamma=fmpq(1)),
    planted("three quarters of R", "lemma-A.20a", reps.test_one_position_opposite_to_the_class_token, "_sharpness",
            result(lambda R: R * fmpq(3, 4)), compact, d=3, s=1, T=6, gamma=fmpq(1)),
    planted("cubes too small", "lemma-A.25", memory.test_the_network_has_its_values_on_whole_cubes,
            "inner_memorising_perceptron", given(lambda x, f, radius: (x, f, radius * Fraction(49, 50))), **CUBES),
    # ---- finite classes and linear maps
    planted("centres outside", "definition-4.1", finite.test_covering_numbers_are_those_of_the_definition,
            "certify_cover", given(proper=False), **QUICK),
    planted("an absolute value", "definition-A.1", finite.test_rademacher_complexity_is_the_mean_of_the_maxima,
            "empirical_rademacher", given(lambda rows, *n: ([*rows, *([-x for x in row] for row in rows)], *n))),
    planted("the last fall forgotten", "lemma-A.2", finite.test_dudley_bounds_the_complexity_of_finite_classes,
            "covering_steps", result(lambda steps: steps[:-1]), seed=4, functions=6, points=1),
    planted("the corrected form", "corollary-A.3", finite.test_two_constants_have_a_negative_printed_bound,
            "rademacher_bound", given(form="corrected")),
    planted("the printed form", "theorem-A.4", finite.test_the_corrected_bound_fails_rarely_enough,
            "deviation_bound", given(form="printed"), m=1, share=HALF),
    planted("half of the complexity", "lemma-A.5", finite.test_generalisation_bounds_fail_rarely_enough,
            "rademacher_bound", lambda bound: scaled(bound, HALF), entropy, size=fmpq(1, 10), m=20),
    planted("no Lipschitz constant", "lemma-4.2", finite.test_generalisation_bounds_fail_rarely_enough,
            "generalisation_bound", given(lipschitz=1), size=fmpq(1, 10), m=20),
    planted("columns for tokens", "notation-4.2", linear.test_norms_of_columns_and_of_tokens,
            "token_norm", lambda _: lambda X: linear.pq_norm(X, 2, np.inf), seed=1),
    planted("radii of other parts", "lemma-A.8", linear.test_the_best_division_of_a_budget,
            "optimal_split", field("radii", lambda radii: radii[::-1]), seed=1),
    planted("a step too few", "fact-4.2lin", linear.test_the_codes_are_a_cover_of_the_counted_size,
            "perceptron_steps", result(lambda steps: steps - 1), N=2, squared=3),
    planted("a code without its last step", "lemma-A.10", codes.test_perceptrons_never_exceed_their_steps,
            "decode_vector", given(lambda code, X: (replace(code, steps=code.steps[:-1]), X)), **QUICK),
    planted("rows in another order", "lemma-4.10", codes.test_matrices_are_rebuilt_within_the_error_and_the_length,
            "decode_matrix", result(lambda rows: rows[::-1]), **QUICK),
    planted("the corrected form", "lemma-4.10", linear.test_the_printed_space_of_points_and_the_printed_logarithm_fail,
            "printed_linear_map_capacity", lambda _: lambda *at, constant=1: linear.linear_map_capacity(*at)),
    # ---- heads and layers
    planted("a class token that misses itself", "definition-4.4s", attend.test_the_class_token_attends_to_itself_too,
            "__call__", lambda call: lambda head, z, memory: call(head, z, memory[1:]), Head, T=3),
    planted("a sharper softmax", "lemma-A.24", attend.test_truncated_softmax_is_close, "weights", SHARPER, Head),
    planted("scores too far apart", "theorem-4.6", heads.test_the_radii_of_theorem_4_6_are_used_up,
            "head_radii", result(lambda radii: (radii[0] * MORE, radii[1])), small=fmpq(1, 100)),
    planted("scores transposed", "corollary-4.9", codes.test_heads_are_rebuilt_within_the_error_and_the_capacity,
            "rebuild_head", field("query", lambda scores: Affine(scores.weight.T)), **QUICK),
    planted("the corrected form", "corollary-4.9", heads.test_the_printed_power_of_the_tokens_fails_along_a_sequence,
            "printed_head_capacity", lambda _: lambda norms, form="", **at: heads.short_head_capacity(norms, **at)),
    planted("positions left out", "lemma-A.11", heads.test_positions_are_a_shift_of_the_tokens,
            "positional_capacity", given(positions=0), seed=1),
    planted("a head lost", "lemma-A.12", heads.test_heads_that_are_added_share_the_error,
            "multi_head_capacity", given(lambda norms: (norms[1:] or norms,)), seed=2),
    planted("the corrected form", "lemma-A.12", heads.test_the_printed_sum_of_heads_fails_along_a_sequence,
            "printed_multi_head_capacity", lambda _: heads.multi_head_capacity),
    planted("no residual", "remark-4.4.2b", parts.test_residual_connections_add_one_to_the_slope_and_nothing_to_covers,
            "AttentionLayer", given(lambda found, kind: (found, "sum")), seed=3),
    planted("labels exchanged", "remark-4.4.2a", shatter.test_sinusoids_shatter_any_number_of_points,
            "sinusoid_parameter", given(lambda labels: ([-y for y in labels],)), **QUICK),
    planted("keys of length T", "proposition-4.8", shatter.test_unbounded_heads_shatter_by_their_forward_pass,
            "CircleFamily", given(lambda T: (T, T)), **QUICK),
    planted("no projection", "definition-4.4.3", deep.test_blocks_are_the_definition_and_keep_tokens_in_the_ball,
            "BallProjection", lambda _: lambda width: lambda tokens: tokens, blocks, seed=5),
    planted("the corrected form", "theorem-4.11", deep.test_the_printed_power_of_the_tokens_fails_in_deep_networks,
            "printed_short_deep_capacity", lambda _: lambda *n, exponent=1, **at: deep.short_deep_capacity(*n, **at)),
    planted("layers reversed", "remark-4.11b", deep.test_spectral_norms_of_one_avoid_the_exponential,
            "contracted_amplifications", given(lambda layers: (layers[::-1],))),
    planted("earlier layers", "theorem-A.17", deep.test_the_deep_bound_is_the_best_division_along_the_recursion,
            "amplifications", given(order="earlier"), deep_capacity, seed=2),
    planted("blocks reversed", "theorem-A.17", codes.test_networks_are_rebuilt_within_the_error_and_the_capacity,
            "rebuild_network", result(lambda network: network[::-1]), seed=8, depth=2, eps=HALF),
    # ---- Lipschitz constants
    planted("a Jacobian without its diagonal", "lemma-A.6", slopes.test_maps_move_by_no_more_than_their_jacobians,
            "softmax_jacobian", lambda _: lambda p: -np.multiply.outer(p, p)),
    planted("a sharper softmax", "corollary-A.7", slopes.test_softmaxes_are_as_close_as_their_scores,
            "weights", SHARPER, Head),
    planted("a cube for the ball", "lemma-A.9", slopes.test_projections_are_the_nearest_points,
            "BallProjection", lambda _: lambda width: Clipping(width, -1, 1)),
    planted("no change of the values", "lemma-4.7", slopes.test_heads_with_other_scores_and_values,
            "head_change", given(lambda *at: (*at[:5], 0))),
    planted("an audit of one head alone", "lemma-A.13", slopes.test_the_constant_of_the_scores_is_sharp,
            "audit_weights", given(lambda one, other: (one, one))),
    planted("a constant that is not the best", "lemma-A.14", slopes.test_the_constant_of_the_tokens_is_sharp,
            "input_constants", result(lambda found: replace(found, sharp=found.halved)), b=fmpq(1)),
    planted("networks exchanged", "lemma-A.15", slopes.test_errors_behind_blocks,
            "block_errors", given(lambda one, other, X: (other, one, X))),
    planted("tokens outside of the ball let in", "lemma-A.15", slopes.test_tokens_outside_of_the_ball,
            "block_errors", lambda _: lambda *at: []),
    planted("no change of the read-out", "lemma-A.16", slopes.test_errors_of_readouts,
            "readout_error", given(lambda w, e, moved: (w, e, 0))),
    # ---- sparse functions
    planted("a ramp for the bump", "construction-A.25nu", memory.test_ramps_and_bumps_at_all_breakpoints,
            "bump_network", lambda _: lambda radius, centre=0: ramp_network(radius), radius=Fraction(1, 2)),
    planted("the printed network", "lemma-A.25", memory.test_the_network_has_its_values_on_whole_cubes,
            "memorising_perceptron", lambda _: printed_memorising_perceptron, **CUBES),
    planted("ranges from two corners alone", "lemma-A.25", memory.test_the_network_has_its_values_on_whole_cubes,
            "output_range", lambda _: lambda network, *ends: np.sort([network(end) for end in ends], 0), **CUBES),
    planted("half of the radius", "lemma-A.22", memory.test_symmetric_functions_from_a_monotone_one,
            "memorising_perceptron", given(lambda x, f, radius: (x, f, radius / 2)), s=3),
    planted("nodes reversed", "lemma-A.23", memory.test_all_functions_from_an_injective_one,
            "memorising_perceptron", given(lambda x, f, radius: (x[::-1], f, radius)), s=2),
    planted("the printed key", "lemma-A.19a", select.test_the_dual_key_has_the_claimed_scores,
            "dual_vectors", lambda _: lambda positions, read: positions.rows(list(read)), s=2),
    planted("the printed values", "lemma-A.19a", reps.test_one_head_selects_uniformly,
            "compile_sparse", compiled("value", lambda W: -W), number=1),
    planted("keys of other positions", "lemma-A.19b", reps.test_one_head_for_each_position,
            "compile_sparse", compiled("key", lambda W: np.roll(W, 1)), instances, number=0),
    planted("half the error", "lemma-A.20a", reps.test_trainable_positions_have_the_error_of_a_closed_form,
            "certify_sparse", field("error", lambda error: error / 2), s=1, T=12, gamma=fmpq(1)),
    planted("weak values", "lemma-A.20b", reps.test_trainable_positions_have_the_error_of_a_closed_form,
            "compile_sparse", compiled("value", lambda W: W / 2), instances, s=1, T=12, gamma=fmpq(1)),
    planted("a head lost", "lemma-A.21a", reps.test_a_bag_of_vectors_gives_one_number,
            "compile_sparse", compiled("output", lambda W: 0 * W), number=1),
    planted("weak queries", "lemma-A.21b", reps.test_a_bag_of_vectors_gives_all_bits,
            "compile_sparse", compiled("query", lambda W: W * 7 / 10), instances, number=1),
    planted("the next token's weights", "setup-A.2.1a", sparse.test_a_bag_does_not_depend_on_the_order_of_its_tokens,
            "weights", result(lambda shares: np.roll(shares, 1, axis=-1)), Head),
    planted("random signs that repeat", "setup-A.2.1b", select.test_families_lie_between_the_bounds,
            "random_sign_positions", field("numerators", lambda rows: rows[[0] * 2])),
    planted("one head of two", "setup-A.2.1c", sparse.test_the_network_is_the_formula_of_its_weights,
            "join", given(lambda *at: (*at[:2], at[2][:1])), AttentionLayer, inputs="trainable", symmetric=False),
    planted("the printed perceptron", "proposition-A.18", sparse.test_symmetric_functions_up_to_twelve_bits,
            "memorising_perceptron", lambda _: printed_memorising_perceptron, compiler, inputs="deterministic"),
    planted("values of other words", "proposition-A.18", sparse.test_all_strings_one_by_one,
            "hidden_on_cubes", result(lambda hidden: hidden[::-1]), exhaustive, **BAG),
    planted("a norm too small", "proposition-4.12", sparse.test_norms_of_heads_and_perceptrons,
            "squared_norms", result(lambda found: {**found, "w": found["w"] / MORE}), compiler.SparseNetwork, **BAG),
    planted("one zero more between runs", "ext-learning", strings.test_hyperplanes_arcs_and_words_are_counted,
            "word_count", given(lambda n, gap: (n, gap + 1))),
    planted("one dimension less", "ext-learning", strings.test_hyperplanes_arcs_and_words_are_counted,
            "part_count", given(lambda M, D: (M, D - 1))),
    planted("a sample of one half", "ext-learning", strings.test_consistent_functions_with_errors_are_rare,
            "occam_sample_size", result(lambda m: m // 2)),
    planted("a learner always right", "remark-4.5a", learners.test_success_is_at_most_the_number_of_label_rows,
            "identification_probability", lambda _: lambda *at: fmpq(1), T=4, s=2, most=2),
    planted("weak queries", "remark-4.5c", attend.test_logarithmic_norms_keep_the_effect,
            "compile_sparse", compiled("query", lambda W: W * 7 / 10)),
    # ---- trained networks
    planted("values of the next histogram", "remark-A.2.4", symmetric.test_one_head_and_the_histogram,
            "compile_histogram", given(lambda T, read, values: (T, read, [*values[1:], values[0]])),
            T=4, read=(1, 3), alphabet=4),
    planted("a position beside", "remark-A.2.4", symmetric.test_one_head_and_the_histogram,
            "compile_histogram", given(lambda T, read, values: (T, (0, *read[1:]), values)),
            T=4, read=(1, 3), alphabet=4),
    planted("counts for shares", "remark-A.2.4", symmetric.test_one_head_and_the_histogram, "memorising_perceptron",
            given(lambda nodes, *rest: (2 * nodes, *rest)), histogram, T=4, read=(1, 3), alphabet=4),
    planted("bits for symbols", "remark-A.2.4", symmetric.test_histograms_are_few, "histograms",
            given(lambda s, alphabet: (s, 2))),
    planted("nothing ambiguous", "experiment-fig4.2", runs.test_the_sample_that_is_needed_grows_with_the_logarithm,
            "consistent_conjunctions", lambda _: lambda *at: [()], training, **RUN),
    planted("logits exchanged", "experiment-fig4.3-left", runs.test_fewer_replicates_understand_the_small_sample,
            "predictions", result(lambda logits: logits[:, ::-1]), training, **RUN),
    planted("the next position", "experiment-fig4.3-right", runs.test_a_trained_head_looks_at_the_relevant_bits,
            "attention_weights", result(lambda shares: np.roll(shares, 1, axis=2)), curves, **RUN),
]
# fmt: on


DEAREST = frozenset(
    f"experiment-fig4.{name}"
    for name in ("3-left-logits_exchanged", "2-nothing_ambiguous", "3-right-the_next_position")
)


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch, effort: Effort) -> None:
    skip_the_dearest(fault, effort, DEAREST)
    assert_seen(fault, "variable-creation", monkeypatch, REFUSALS)
