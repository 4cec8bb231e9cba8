"""Faults planted in what the chapter on token regression builds and certifies: the deciding checks must see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import floor, log
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq

import lemmata.numerics.functions.ridges as ridges
import lemmata.numerics.tokens.transformer_bounds as bounds
from lemmata.constructions.tokens.interpolation import SeparatingDirection
from lemmata.theorems.plugin import Effort
from lemmata.theorems.qstr import test_attention as att
from lemmata.theorems.qstr import test_experiments as runs
from lemmata.theorems.qstr import test_feed_forward_limits as ffn
from lemmata.theorems.qstr import test_few_heads as few
from lemmata.theorems.qstr import test_hierarchy as table
from lemmata.theorems.qstr import test_lipschitz as lipschitz
from lemmata.theorems.qstr import test_minimum_norm as least
from lemmata.theorems.qstr import test_mixed_norms as mixed
from lemmata.theorems.qstr import test_packings as pack
from lemmata.theorems.qstr import test_prompts as data
from lemmata.theorems.qstr import test_recurrent_capacity as rates
from lemmata.theorems.qstr import test_recurrent_class as lower
from lemmata.theorems.qstr import test_recurrent_gates as gates
from lemmata.theorems.qstr import test_recurrent_limits as memory
from lemmata.theorems.qstr import test_recurrent_networks as rnn
from lemmata.theorems.qstr import test_recurrent_upper_class as upper
from lemmata.theorems.qstr import test_remarks as clipped
from lemmata.theorems.qstr import test_transformer_covers as covers
from lemmata.theorems.qstr import test_transformer_risks as risks
from lemmata.theorems.qstr.experiments import samples, training
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name, skip_the_dearest

Change = Callable[[Any], Any]
QUICK = Effort("quick")


def seen(
    what: str, statement: str, module: ModuleType, check: str, name: str, wrong: Change, at: Any = None, /, **known: Any
) -> Fault:
    """A fault made of the right attribute of the module of the check, or of another place."""
    place = module if at is None else at
    return Fault(what, statement, module, f"test_{check}", place, name, wrong(getattr(place, name)), known)


@dataclass(frozen=True)
class Skewed:
    """A generator whose numbers are squares of uniform ones."""

    rng: np.random.Generator

    def random(self) -> float:
        """A number between 0 and 1, mostly a small one."""
        return self.rng.random() ** 2


def result(change: Change) -> Change:
    """Changes what a function returns."""
    return lambda function: changed(function, change)


def getter(value: Change) -> Change:
    """Another property in place of one."""
    return lambda _: property(value)


def layer(number: int, name: str, change: Change) -> Change:
    """Changes one array of a network that was built."""

    def faulty(network: Any) -> Any:
        layers = list(network.layers)
        layers[number] = replace(layers[number], **{name: change(getattr(layers[number], name))})
        return replace(network, layers=tuple(layers))

    return faulty


def part(name: str, change: Change) -> Change:
    """Changes one part of a network or a report."""
    return lambda whole: replace(whole, **{name: change(getattr(whole, name))})


def unbalanced(network: Any) -> Any:
    """The same function by two layers, the first with twice and the second with half the weights."""
    first = replace(network.layers[0], weight=2 * network.layers[0].weight, bias=2 * network.layers[0].bias)
    return replace(network, layers=(first, replace(network.layers[1], weight=network.layers[1].weight / 2)))


N3 = {"N": 3, "d": 2, "n": 2}
MIN = "construction-min-qd-heads"
TURNED = part("heads", lambda heads: heads[::-1])
SMALL = [dict(zip(("name", "d", "q", "codes", "kind"), case, strict=True)) for case in rnn.SMALL]
FIRST = part("heads", lambda heads: heads[:1])
SAME = part("heads", lambda heads: heads[:1] * len(heads))

FAULTS = [
    seen("tokens of the indices turned round", "definition-2", data, "labels_are_the_link_at_the_indices", "selected",
         result(lambda x: x[:, :, ::-1]), data.Prompts, name="linear"),
    seen("no maximum", "assumption-2", data, "links_that_are_relu_networks_have_no_error", "max_link",
         lambda f: lambda u, v: data.linear_link(u), name="maximum"),
    seen("codes that violate nothing", "assumption-3", data, "codes_that_meet_the_assumption_by_construction",
         "violations", result(lambda pairs: []), data.PositionCodes),
    seen("the printed dimension", "assumption-3", data, "a_multiple_of_the_logarithm_suffices", "sign_code_dimension",
         lambda f: lambda N, delta: floor(5 * log(N)), N=100),
    seen("codes before the token", "construction-encoding", data, "the_embedding_and_its_length", "encode",
         result(lambda z: np.roll(z, -8, axis=-1)), d=8, q=2, variant="attention"),
    seen("the average at every position", "definition-risks", data, "the_risks_differ_on_simple_prompts",
         "pointwise_risk", lambda f: lambda guesses, labels, j: data.averaged_risk(guesses, labels)),
    seen("queries for keys", "definition-transformer", att, "the_transformer_is_the_definition", "token_transformer",
         lambda f: lambda stream, W, readout: f(stream, W.swapaxes(1, 2), readout), d=1, q=2, e=1, H=2),
    seen("heads in another order", "lemma-11", att, "the_labels_of_the_construction", "retrieval_transformer",
         result(part("attention", TURNED)), family="all correlations 1/2"),
    seen("a certificate for a smaller ball", "lemma-11", att, "the_retrieval_bound_is_attained", "certify_retrieval",
         lambda f: lambda layer, stream, codes, r: f(layer, stream, codes, fmpq(r) / 2), N=9, d=3, q=2),
    seen("a head that retrieves", "remark-sparse-averaging", att, "one_head_gives_the_mean_of_different_tokens",
         "averaging_attention", lambda f: changed(att.retrieval_attention, FIRST), N=10, d=2, q=3,
         make=att.orthonormal_codes),
    seen("a bound for the first head", "lemma-15", att, "attention_moves_at_most_as_its_matrices", "query_key_bound",
         lambda f: lambda one, other, z: f(FIRST(one), FIRST(other), z), case=4),
    seen("tokens of mean 0", "lemma-40", few, "the_variance_of_a_squared_norm", "squared_norm_variance",
         lambda f: lambda mean, S: f(0 * mean, S), d=3, rank=1),
    seen("the printed bound", "proposition-3", few, "the_hidden_variance_is_that_of_the_projector", "few_heads_bound",
         lambda f: few.printed_few_heads_bound, q=3, d=3),
    seen("the view of one head", "proposition-3", few, "the_scores_of_a_hard_position_see_one_projection_for_each_head",
         "head_view", lambda f: lambda layer, *more: f(FIRST(layer), *more), q=3, d=3, H=2),
    seen("heads that retrieve one token", "proposition-21", few, "retrieving_some_of_the_tokens_attains_the_bound",
         "retrieval_attention", result(SAME), q=3, d=1, H=2, effort=QUICK),
    seen("heads in another order", MIN, few, "d_heads_determine_all_tokens_for_every_q", "separating_attention",
         result(part("attention", TURNED)), q=3, d=2, N=8),
    seen("another slope", MIN, few, "the_printed_decoding_has_the_error_of_the_leakage", "separating_attention",
         result(part("slope_square", lambda square: square / 4)), q=3, d=2, N=8),
    seen("twice the slope is read", "construction-block-moments", few,
         "d_heads_come_near_to_the_label_with_few_code_dimensions", "block_moments",
         result(part("slope_square", lambda square: square * 4)), d=2, m=2, k=4),
    seen("units drawn without their moments", "lemma-42", lipschitz, "few_units_stand_for_a_density_of_ridges",
         "moment_units", lambda f: lambda points, masses, rng: masses.sum() / 5 * rng.multinomial(
             5, masses / masses.sum()) if masses.any() else masses, ridges, effort=QUICK),
    seen("a coin with a preference", "lemma-42", lipschitz, "units_have_the_measure_as_their_mean", "moment_units",
         lambda f: lambda points, masses, rng: f(points, masses, Skewed(rng)), ridges),
    seen("tokens of one coordinate", "lemma-12", risks, "tail_is_attained", "safe_token_norm",
         lambda f: lambda tokens, d, scale: f(tokens, 1, scale)),
    seen("half the gain", "lemma-13", covers, "composed_covers_of_finite_classes", "lipschitz",
         getter(lambda networks: networks.outer * networks.inner / 2), covers.TransformerClass),
    seen("no biases", "lemma-14", covers, "sensitivity_of_the_readout", "reach",
         getter(lambda networks: arb(networks.heads).sqrt() * networks.embedding_norm), covers.TransformerClass),
    seen("a matrix of other queries", "lemma-16", covers, "codes_of_matrices", "decode_query_key",
         lambda f: lambda code, queries: f(code, queries[::-1])),
    seen("queries not counted", "lemma-16", covers, "covers_of_the_query_key_matrices", "query_key_cover",
         lambda f: lambda networks, eps, points: f(networks, eps, 1)),
    seen("no product of norms", "proposition-17", covers, "cover_of_the_class", "log_cover",
         lambda f: lambda networks, *more: f(replace(networks, outer=arb(1)), *more)),
    seen("covers in another order", "lemma-18", risks, "rademacher_bound_of_the_losses", "chained_rademacher",
         lambda f: lambda sizes, n: f(sizes[::-1], n), bounds),
    seen("the complexity once", "corollary-19", risks, "generalisation_gap", "generalisation_gap",
         lambda f: lambda *given: f(*given) - risks.truncated_rademacher(*given[:3])),
    seen("samples forgotten", "lemma-20", risks, "truncation_level_by_hand", "truncation_level",
         lambda f: lambda task, networks, n: f(task, networks, 1)),
    seen("every class accepted", "theorem-10", risks, "excess_risk_by_hand", "excess_risk",
         lambda f: lambda task, k, n, delta: f(task, replace(k, embedding_norm=task.embedding_norm(n)), n, delta)),
    seen("a Frobenius norm for a mixed one", "theorem-4", risks, "norm_ball", "norm_ball_class",
         result(lambda k: replace(k, query_key=k.query_key / arb(k.dimension).sqrt()))),
    seen("a code too few", "proof-theorem-10-to-4", risks, "bookkeeping_of_the_dimensions", "embedding_dimension",
         getter(lambda task: task.dimension + task.sparsity * task.encoding), bounds.TokenTask),
    seen("heads in another order", "theorem-1", table, "enough_heads_determine_the_tokens", "separating_attention",
         result(part("attention", TURNED))),
    seen("the depth forgotten", "table-1", table, "samples_of_the_recurrent_network_grow_with_a_power", "wide_samples",
         lambda f: lambda length, depth, risk: f(length, 2, risk)),
    seen("norms of rows", "lemma-39", mixed, "norms_by_hand", "mixed_norm",
         lambda f: lambda A, p, r: f(np.transpose(A), p, r)),
    seen("points that are too near", "lemma-41", pack, "points_of_a_packing_have_different_means", "greedy_packing",
         lambda f: lambda grid, eps: f(grid, eps / 2), d=1, effort=QUICK),
    seen("an input left out", "claim-ffn-span", ffn, "projecting_keeps_the_loss_and_shortens", "out_of_span",
         lambda f: lambda W, X: f(W, X[:-1]), **N3),
    seen("the certificate of fewer samples", "theorem-6", ffn, "the_average_over_directions_is_a_trace",
         "certify_feed_forward", lambda f: lambda X, N: f(X[:-1], N), **N3),
    seen("read-outs of other indices", "theorem-6", ffn, "the_matching_predictor_attains_the_bound",
         "matching_predictor", result(part("readout", lambda rows: rows[::-1])), **N3),
    seen("a longer row", "definition-5", ffn, "the_norm_of_all_parameters_has_a_least_value", "least_total_norm",
         result(lambda found: (found[0], 2 * found[1])), **N3),
    seen("every network accepted", "proposition-8", memory, "witnesses_meet_the_bounds", "check_recurrent",
         result(part("failures", lambda lines: ())), N=10**4),
    seen("bounds exchanged", "proposition-8", memory, "no_bound_with_the_operator_norm", "printed_bounds",
         result(lambda pair: pair[::-1]), b=5, B=3, risk="0.0036"),
    seen("states after the token", "proposition-35", memory, "the_storing_network_is_exact_inside_its_ball",
         "storing_layer", result(part("moment", lambda _: "after")), N=6),
    seen("a first state of zeros", "construction-codebook-rnn", memory, "the_shared_cell_computes_the_states",
         "codebook_layer", result(part("forward", part("initial", lambda state: 0 * state))), N=2, b=2, effort=QUICK),
    seen("labels in another order", "lemma-38", least, "networks_interpolate_on_a_line", "line_interpolant",
         lambda f: lambda z, y: f(np.sort(z), y), n=5),
    seen("every direction accepted", "lemma-37", least, "directions_that_are_found_separate", "separates",
         getter(lambda found: True), SeparatingDirection, n=6, d=3),
    seen("layers that are not balanced", "lemma-36", least, "gaussian_samples_are_interpolated",
         "interpolating_network", result(unbalanced), n=10, d=5),
    seen("weights that read a state", "theorem-9", least, "recurrent_networks_interpolate", "interpolating_recurrence",
         result(part("readout", layer(0, "weight", lambda w: np.roll(w, 1, axis=0)))), L=3),
    seen("codes that answer other indices", "ext-coded-interpolation", least,
         "codes_interpolate_with_a_norm_of_the_order_of_the_samples", "coded_readout",
         lambda f: lambda codes, t, y, L, d: f(codes, (t + 1) % codes.count, y, L, d), L=2, n=12),
    seen("the norm of one layer", "ext-coded-interpolation", least,
         "chances_of_different_indices_and_small_labels", "coded_norm", result(lambda size: size / 2), N=1000, n=5),
    seen("half of the squared errors", "remark-clipping", clipped,
         "with_clipping_small_risks_are_found_at_a_fast_rate", "fast_excess_risk", result(lambda bound: bound / 2)),
    seen("the constant of the covering", "proposition-8", memory, "constants_for_a_risk_of_one_hundredth",
         "least_squared_norm", result(lambda size: size / 29)),
    seen("a backward state that runs forward", "definition-rnn-lower", lower, "the_residual_network_is_a_member",
         "states", result(lambda states: (states[0], states[0])), lower.GeneralRecurrence, seed=0),
    seen("the printed factor", "definition-rnn-upper", upper, "the_rescaled_transition_has_the_constant",
         "with_state_lipschitz",
         lambda f: lambda t, m, c: f(t, m, c * upper.Affine(t.layers[0].weight[:m]).operator_norm),
         norms=upper.NORMS[1], alpha=0.25),
    seen("the second weight as it was", "construction-homogeneity", upper,
         "states_in_the_unit_ball_give_the_same_function", "with_unit_radius",
         lambda f: lambda k: part("readout", layer(1, "weight", lambda _: k.readout.layers[1].weight))(f(k))),
    seen("one direction", "lemma-29", rates, "covering_numbers_of_recurrent_networks", "recurrent_log_cover",
         lambda f: lambda *given: f(*given[:-1], lambda r: 0 * r), N=3, seed=0),
    seen("inputs of radius 0", "lemma-30", rates, "the_slope_in_the_parameters_in_closed_form",
         "parameter_slope_squared", lambda f: lambda L, R, r: f(L, R, 0)),
    seen("a cover of twice the radius", "lemma-32", rates, "truncated_losses_of_a_finite_class",
         "truncated_rademacher_bound", lambda f: lambda cover, *more: f(lambda r: cover(2 * r), *more)),
    seen("the complexity once", "corollary-33", rates, "the_deviation_is_the_formula",
         "deviation_of_truncated_losses", lambda f: lambda rad, *more: f(rad / 2, *more)),
    seen("samples forgotten", "lemma-34", rates, "the_level_is_the_formula", "truncation_level",
         lambda f: lambda R, L, n, *more: f(R, L, 1, *more)),
    seen("states of any size", "theorem-7", rates,
         "the_risk_of_minimisers_falls_with_the_root_of_the_samples_whatever_the_length", "empirical_minimiser_bound",
         lambda f: lambda k, *more: f(replace(k, states=None), *more)),
    seen("a gate that opens early", "construction-psi", rnn, "the_gate_is_the_indicator", "gated_update",
         lambda f: lambda x, p: f(x, p + fmpq(1, 100))),
    seen("a read-out turned round", "lemma-22", gates, "inner_products_with_the_least_number_of_pieces",
         "inner_product", result(layer(1, "weight", lambda a: a[::-1])), n=2),
    seen("a slot that reads another code", "lemma-23", gates, "the_first_layer_keeps_x_and_finds_all_products",
         "products_network", result(layer(0, "weight", lambda w: np.concatenate([w[:-4], w[-2:], w[-4:-2]]))),
         d=2, q=3, n=2, eps="1/9"),
    seen("a knot lost", "lemma-24", gates, "gated_copies_attain_their_error", "gated_copy",
         result(layer(1, "weight", lambda a: np.concatenate([0 * a[:1], a[1:]]))), r=3, eps="1/4", h=2),
    seen("slots in another order", "lemma-25", gates, "gated_copies_of_all_coordinates", "copies_network",
         result(layer(1, "weight", lambda a: np.roll(a, 2, axis=1))), d=2, q=2, r=4, eps="1/3"),
    seen("no rectifier", "proposition-26", rnn, "the_transition_is_close_and_exactly_zero_elsewhere",
         "approximate_transition", lambda f: lambda *given: f(*given, rectified=False), d=1, q=2, r=2, eps=fmpq(1, 4)),
    seen("a radius that is too small", "corollary-27", rnn, "states_with_errors_that_do_not_add_up",
         "recurrent_network", lambda f: lambda t, y, radius: f(t, y, radius / 4), d=1, q=1, r=1, eps=fmpq(1, 2)),
    seen("a read-out half as high again", "proposition-28", rnn,
         "the_whole_network_stays_within_twice_the_error_of_the_link", "budgeted_network",
         result(part("readout", layer(-1, "weight", lambda a: a * fmpq(3, 2)))), effort=QUICK),
    seen("gates of sign codes", "construction-exact-rnn", rnn, "all_states_and_outputs_are_exact", "exact_network",
         lambda f: lambda *given: f(*given[:-1], "sign"), **SMALL[8]),
    seen("states that hold the present", "construction-exact-rnn", rnn, "all_states_and_outputs_are_exact", "states",
         lambda f: lambda layer, z: f(replace(layer, moment="after"), z), rnn.RecurrentLayer, **SMALL[1]),
    seen("one layer without a rectifier", "figure-1", runs, "the_samples_of_the_architectures", "feed_forward_network",
         result(lambda net: torch.nn.Sequential(*net[:4], net[5])), samples, record_property=print),
    seen("tokens after the codes", "figure-2", runs, "a_trained_head_compares_index_codes_with_position_codes",
         "encode", result(lambda z: np.roll(z, -10, axis=-1)), training, effort=QUICK, record_property=print),
]  # fmt: skip


DEAREST = frozenset({"figure-2-tokens_after_the_codes", "lemma-42-units_drawn_without_their_moments"})


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch, effort: Effort) -> None:
    skip_the_dearest(fault, effort, DEAREST)
    assert_seen(fault, "qstr", monkeypatch)
