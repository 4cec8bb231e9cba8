"""Faults planted in the library: the deciding checks on recurrent networks for token regression have to see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import lemmata.constructions.tokens.budgeted as budgeted
import lemmata.constructions.tokens.recurrent as exact
import lemmata.constructions.tokens.recurrent_class as recurrent_class
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.recurrent import RecurrentLayer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning import recurrent_capacity as capacity
from lemmata.theorems.plugin import Effort
from lemmata.theorems.qstr import (
    test_recurrent_capacity,
    test_recurrent_gates,
    test_recurrent_networks,
    test_recurrent_upper_class,
)
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

NETWORKS, GATES, CLASS = test_recurrent_networks, test_recurrent_gates, test_recurrent_upper_class


def layered(build: Callable[..., FeedForward], number: int, name: str, change: Callable[[Any], Any]) -> Any:
    """The builder with one array of its network changed."""

    def faulty(*given: Any, **named: Any) -> FeedForward:
        network = build(*given, **named)
        layers = list(network.layers)
        layers[number] = replace(layers[number], **{name: change(as_exact(getattr(layers[number], name)))})
        return replace(network, layers=tuple(layers))

    return faulty


def scaled(factor: str) -> Callable[[Any], Any]:
    return lambda array: array * as_exact([factor])[0]


def _smaller_bound(build: Any) -> Any:
    """The bound of the tokens taken two per cent too small."""
    return lambda layout, bound, codes: build(layout, bound * fmpq(49, 50), codes)


def _states_after(layer: RecurrentLayer, z: Any) -> Any:
    return _STATES(replace(layer, moment="after"), z)


def _states_forward_twice(layer: RecurrentLayer, z: Any) -> Any:
    return (_STATES(layer, z)[0],) * 2


_STATES = RecurrentLayer.states
SMALL = NETWORKS.SMALL


def named(names: str, values: Any) -> dict[str, Any]:
    """The arguments of a check that is parametrised by these names."""
    return dict(zip(names.split(), values, strict=True))


SIGNS, UNITS = (named("name d q codes kind", SMALL[k]) for k in (1, 4))
BUDGET = named("d q r eps", NETWORKS.BUDGETS[1])
STATES = named("d q r eps", NETWORKS.BUDGETS[0])
COPY = {"r": 3, "eps": "1/4", "h": 2}
COPIES = {"d": 2, "q": 2, "r": 4, "eps": "1/3"}
FIRST = {"d": 2, "q": 3, "n": 2, "eps": "1/9"}
NORMS = {"norms": (9.3537, 1.25, 4.0), "alpha": 0.25}
QUICK = {"effort": Effort("quick")}


def _other_slots(layout: Any) -> Any:
    """The gate of a slot taken for the one before it."""
    return np.roll(np.repeat(np.eye(layout.sparsity, dtype=np.int64), layout.dimension, axis=1), 1, axis=0)


def _tripled_error(copy: Any) -> Any:
    """The copies of the document's network with three times the error that its budget gives them."""
    return lambda bound, error, **named: copy(bound, 3 * error, **named)


def _unbalanced(join: Any) -> Any:
    """The link as it is, without balanced neurons: sqrt(m_g) in its norm."""

    def faulty(layout: Any, layers: Any, link: Any) -> FeedForward:
        network = join(layout, layers, link)
        c = int(np.ceil(np.sqrt(link.width) - 1e-9))
        inner, outer = network.layers[-2:]
        changed = replace(inner, weight=inner.weight * c, bias=inner.bias * c), replace(outer, weight=outer.weight / c)
        return replace(network, layers=(*network.layers[:-2], *changed))

    return faulty


def _without_first_norm(transition: FeedForward, width: int) -> float:
    """The product of the norms of the later layers alone, as the document prints the factor."""
    return float(np.prod(transition.operator_norms[1:]))


def _second_weight(changed: Any) -> Any:
    """The second weight of the read-out two per cent too large."""

    def faulty(network: FeedForward, number: int, change: Any) -> FeedForward:
        result = changed(network, number, change)
        if number != 1 or result.layers[1].weight.shape[0] != 3:
            return result
        second = replace(result.layers[1], weight=result.layers[1].weight * fmpq(51, 50))
        return replace(result, layers=(result.layers[0], second, *result.layers[2:]))

    return faulty


EXACT_CHECK = "test_all_states_and_outputs_are_exact"
FAULTS = [
    Fault(
        "a bound too small",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        exact,
        "_exact_layers",
        _smaller_bound(exact._exact_layers),
        SIGNS,
    ),
    Fault(
        "products two per cent high",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        exact,
        "sign_inner_product",
        layered(exact.sign_inner_product, 1, "weight", scaled("51/50")),
        SIGNS,
    ),
    Fault(
        "products of general codes too high",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        exact,
        "inner_product",
        layered(exact.inner_product, 1, "weight", scaled("13/10")),
        UNITS,
    ),
    Fault(
        "slots in another order",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        exact,
        "spread_map",
        _other_slots,
        SIGNS,
    ),
    Fault(
        "states that hold the present",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        RecurrentLayer,
        "states",
        _states_after,
        SIGNS,
    ),
    Fault(
        "a width too many",
        "construction-exact-rnn",
        NETWORKS,
        "test_the_widths_are_those_of_the_construction",
        exact,
        "sign_inner_product",
        lambda n: exact.inner_product(n, 1),
    ),
    Fault(
        "one direction twice",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        RecurrentLayer,
        "states",
        _states_forward_twice,
        SIGNS,
    ),
    Fault(
        "a threshold of 0.49",
        "construction-psi",
        NETWORKS,
        "test_the_gate_is_the_indicator",
        NETWORKS,
        "gated_update",
        lambda x, p: exact.gated_update(x, p + fmpq(1, 100)),
    ),
    Fault(
        "a factor missing",
        "construction-psi",
        NETWORKS,
        "test_the_gate_is_the_indicator",
        NETWORKS,
        "gated_update",
        lambda x, p: exact.gated_update(x, p) / 2,
    ),
    Fault(
        "a rectifier that is too narrow",
        "construction-psi",
        NETWORKS,
        "test_exact_zeros_keep_the_error_bounded_and_small_ones_do_not",
        NETWORKS,
        "approximate_transition",
        layered(budgeted.approximate_transition, 2, "bias", scaled("2/5")),
    ),
    Fault(
        "a piece too few",
        "lemma-22",
        GATES,
        "test_inner_products_with_the_least_number_of_pieces",
        GATES,
        "pieces_for",
        lambda n, eps: max(1, budgeted.pieces_for(n, eps) - 1),
        {"n": 4},
    ),
    Fault(
        "products two per cent high",
        "lemma-22",
        GATES,
        "test_inner_products_with_the_least_number_of_pieces",
        GATES,
        "inner_product",
        layered(budgeted.inner_product, 1, "weight", scaled("51/50")),
        {"n": 2},
    ),
    Fault(
        "knots two per cent off",
        "lemma-22",
        GATES,
        "test_inner_products_with_the_least_number_of_pieces",
        GATES,
        "inner_product",
        layered(budgeted.inner_product, 0, "bias", scaled("51/50")),
        {"n": 2},
    ),
    Fault(
        "a slot that reads another code",
        "lemma-23",
        GATES,
        "test_the_first_layer_keeps_x_and_finds_all_products",
        GATES,
        "products_network",
        layered(budgeted.products_network, 0, "weight", lambda w: np.concatenate([w[:-4], w[-2:], w[-4:-2]])),
        FIRST,
    ),
    Fault(
        "x two per cent high",
        "lemma-23",
        GATES,
        "test_the_first_layer_keeps_x_and_finds_all_products",
        budgeted,
        "value_map",
        lambda layout, inner, before: (
            replace(_VALUES(layout, inner, before)[0], weight=_VALUES(layout, inner, before)[0].weight * fmpq(51, 50)),
            _VALUES(layout, inner, before)[1],
        ),
        FIRST,
    ),
    Fault(
        "a knot too few",
        "lemma-24",
        GATES,
        "test_gated_copies_attain_their_error",
        GATES,
        "gated_copy",
        layered(budgeted.gated_copy, 1, "weight", lambda a: np.concatenate([a[:1] * 0, a[1:]])),
        COPY,
    ),
    Fault(
        "copies two per cent high",
        "lemma-24",
        GATES,
        "test_gated_copies_attain_their_error",
        GATES,
        "gated_copy",
        layered(budgeted.gated_copy, 1, "weight", scaled("51/50")),
        COPY,
    ),
    Fault(
        "a slope two per cent high",
        "lemma-24",
        GATES,
        "test_gated_copies_attain_their_error",
        GATES,
        "gated_copy",
        layered(budgeted.gated_copy, 0, "weight", scaled("51/50")),
        COPY,
    ),
    Fault(
        "a threshold two per cent high",
        "lemma-25",
        GATES,
        "test_gated_copies_of_all_coordinates",
        budgeted,
        "gated_copy",
        layered(budgeted.gated_copy, 0, "bias", scaled("51/50")),
        COPIES,
    ),
    Fault(
        "slots in another order",
        "lemma-25",
        GATES,
        "test_gated_copies_of_all_coordinates",
        budgeted,
        "spread_map",
        _other_slots,
        COPIES,
    ),
    Fault(
        "copies beyond their budget",
        "proposition-26",
        NETWORKS,
        "test_the_transition_is_close_and_exactly_zero_elsewhere",
        budgeted,
        "gated_copy",
        _tripled_error(budgeted.gated_copy),
        BUDGET,
    ),
    Fault(
        "a rectifier that is too narrow",
        "proposition-26",
        NETWORKS,
        "test_the_transition_is_close_and_exactly_zero_elsewhere",
        NETWORKS,
        "approximate_transition",
        layered(budgeted.approximate_transition, 2, "bias", scaled("2/5")),
        BUDGET,
    ),
    Fault(
        "a last map that is too large",
        "proposition-26",
        NETWORKS,
        "test_norms_and_widths_are_below_polynomials",
        NETWORKS,
        "approximate_transition",
        layered(budgeted.approximate_transition, 3, "weight", scaled("51/50")),
    ),
    Fault(
        "errors cut to short tokens",
        "proposition-26",
        NETWORKS,
        "test_norms_and_widths_are_below_polynomials",
        budgeted,
        "_served",
        lambda bound, error: (bound, min(error, 2 * bound)),
    ),
    Fault(
        "states that hold the present",
        "corollary-27",
        NETWORKS,
        "test_states_with_errors_that_do_not_add_up",
        RecurrentLayer,
        "states",
        _states_after,
        STATES,
    ),
    Fault(
        "a rectifier that is too narrow",
        "corollary-27",
        NETWORKS,
        "test_states_with_errors_that_do_not_add_up",
        NETWORKS,
        "approximate_transition",
        layered(budgeted.approximate_transition, 2, "bias", scaled("2/5")),
        STATES,
    ),
    Fault(
        "a radius that is too small",
        "corollary-27",
        NETWORKS,
        "test_states_with_errors_that_do_not_add_up",
        NETWORKS,
        "recurrent_network",
        lambda f, y, r: exact.recurrent_network(f, y, r / 4),
        STATES,
    ),
    Fault(
        "a link two per cent high",
        "proposition-28",
        NETWORKS,
        "test_the_whole_network_stays_within_twice_the_error_of_the_link",
        exact,
        "with_link",
        layered(exact.with_link, -1, "weight", scaled("21/20")),
        QUICK,
    ),
    Fault(
        "a budget two per cent large",
        "proposition-28",
        NETWORKS,
        "test_the_budget_suffices_for_links_without_error",
        NETWORKS,
        "budget",
        lambda *given: tuple(part * fmpq(51, 50) for part in budgeted.budget(*given)),
        {"d": 2, "q": 1, "link": NETWORKS.linear_link([[2, -1]])},
    ),
    Fault(
        "a Lipschitz constant two per cent high",
        "proposition-28",
        NETWORKS,
        "test_the_budget_suffices_for_links_without_error",
        NETWORKS,
        "link_constant",
        lambda link: budgeted.link_constant(link) * fmpq(51, 50),
        {"d": 2, "q": 1, "link": NETWORKS.linear_link([[2, -1]])},
    ),
    Fault(
        "neurons that are not balanced",
        "proposition-28",
        NETWORKS,
        "test_norm_and_number_of_parameters_are_below_polynomials",
        budgeted,
        "with_link",
        _unbalanced(budgeted.with_link),
    ),
    Fault(
        "the printed factor",
        "definition-rnn-upper",
        CLASS,
        "test_the_rescaled_transition_has_the_constant",
        recurrent_class,
        "state_lipschitz",
        _without_first_norm,
        NORMS,
    ),
    Fault(
        "a constant two per cent high",
        "definition-rnn-upper",
        CLASS,
        "test_the_rescaled_transition_has_the_constant",
        CLASS,
        "with_state_lipschitz",
        lambda f, m, c: recurrent_class.with_state_lipschitz(f, m, 1.02 * c),
        NORMS,
    ),
    Fault(
        "states that hold the present",
        "definition-rnn-upper",
        CLASS,
        "test_the_network_is_the_recursion_of_the_definition",
        RecurrentLayer,
        "states",
        _states_after,
    ),
    Fault(
        "a second weight two per cent high",
        "construction-homogeneity",
        CLASS,
        "test_states_in_the_unit_ball_give_the_same_function",
        recurrent_class,
        "_layer_changed",
        _second_weight(recurrent_class._layer_changed),
    ),
]

CAPACITY = test_recurrent_capacity


def _times(function: Any, factor: str) -> Any:
    """The function with its value multiplied."""
    return lambda *given, **named: function(*given, **named) * as_exact([factor])[0]


def _slope_without_biases(depth: int, radius: Any, inputs: Any) -> Any:
    """Lambda^2 without the ones that belong to the biases."""
    bounds, R = capacity.layer_bounds(depth, radius, inputs), as_exact([radius])[0]
    return sum((R ** (2 * (depth - l)) * M * M for l, M in enumerate(bounds, start=1)), fmpq(0))


def _cover_of_one_direction(length: int, error: Any, lipschitz: Any, readout: Any, forward: Any, backward: Any) -> Any:
    return capacity.recurrent_log_cover(length, error, lipschitz, readout, forward, lambda r: 0 * r)


def _cover_without_halving(length: int, error: Any, lipschitz: Any, readout: Any, forward: Any, backward: Any) -> Any:
    return capacity.recurrent_log_cover(length, error, lipschitz, lambda r: readout(2 * r), forward, backward)


def _wider_cover(length: int, error: Any, *parts: Any) -> Any:
    """Radii two per cent too large."""
    return _PRODUCT(length, as_exact([error])[0] * fmpq(51, 50), *parts)


def _one_step_less(length: int, slope: Any) -> Any:
    return _DRIFT(max(1, length - 1), slope)


_DRIFT, _PRODUCT = capacity.drift, capacity.recurrent_log_cover
DEVIATION, LEVEL, COVER = "test_the_deviation_is_the_formula", "test_the_level_is_the_formula", "log_cover"
MEMBERS = "test_covering_numbers_of_recurrent_networks"
FAULTS += [
    Fault(
        "radii two per cent large",
        "lemma-29",
        CAPACITY,
        "test_the_cover_of_a_class_is_the_product_of_three",
        capacity,
        "recurrent_log_cover",
        _wider_cover,
    ),
    Fault("a step less", "lemma-29", CAPACITY, "test_the_drift_of_constant_updates", CAPACITY, "drift", _one_step_less),
    Fault(
        "two per cent less",
        "lemma-29",
        CAPACITY,
        "test_the_drift_of_constant_updates",
        CAPACITY,
        "drift",
        _times(_DRIFT, "49/50"),
    ),
    Fault(
        "one direction",
        "lemma-29",
        CAPACITY,
        MEMBERS,
        CAPACITY,
        "recurrent_log_cover",
        _cover_of_one_direction,
        {"N": 3, "seed": 0},
    ),
    Fault(
        "the whole radius for the read-out",
        "lemma-29",
        CAPACITY,
        MEMBERS,
        CAPACITY,
        "recurrent_log_cover",
        _cover_without_halving,
        {"N": 3, "seed": 0},
    ),
    Fault(
        "no biases",
        "lemma-30",
        CAPACITY,
        "test_the_slope_in_the_parameters_in_closed_form",
        CAPACITY,
        "parameter_slope_squared",
        _slope_without_biases,
    ),
    Fault(
        "no biases, in the cover",
        "lemma-30",
        CAPACITY,
        "test_the_bound_is_the_formula",
        capacity,
        "parameter_slope_squared",
        _slope_without_biases,
    ),
    Fault(
        "a cover two per cent small",
        "lemma-30",
        CAPACITY,
        "test_the_number_of_points_is_attained_on_a_line",
        CAPACITY,
        COVER,
        _times(capacity.log_cover, "49/50"),
    ),
    Fault(
        "a slope two per cent small",
        "lemma-30",
        CAPACITY,
        "test_the_bound_is_the_formula",
        capacity,
        "parameter_slope_squared",
        _times(capacity.parameter_slope_squared, "49/50"),
    ),
    Fault(
        "a cover two per cent small",
        "lemma-32",
        CAPACITY,
        "test_the_cover_of_a_class_is_the_product_of_three",
        capacity,
        COVER,
        _times(capacity.log_cover, "49/50"),
    ),
    Fault(
        "states half as large",
        "lemma-32",
        CAPACITY,
        "test_the_cover_of_a_class_is_the_product_of_three",
        capacity.RecurrentClass,
        "state_bound",
        _times(capacity.RecurrentClass.state_bound, "1/2"),
    ),
    Fault(
        "a complexity two per cent small",
        "lemma-32",
        CAPACITY,
        "test_truncated_losses_of_a_finite_class",
        CAPACITY,
        "truncated_rademacher_bound",
        _times(capacity.truncated_rademacher_bound, "49/50"),
    ),
    Fault(
        "a deviation two per cent small",
        "corollary-33",
        CAPACITY,
        DEVIATION,
        CAPACITY,
        "deviation_of_truncated_losses",
        _times(capacity.deviation_of_truncated_losses, "49/50"),
    ),
    Fault(
        "the complexity once",
        "corollary-33",
        CAPACITY,
        DEVIATION,
        CAPACITY,
        "deviation_of_truncated_losses",
        lambda rad, *more: capacity.deviation_of_truncated_losses(rad / 2, *more),
    ),
    Fault(
        "a level two per cent small",
        "lemma-34",
        CAPACITY,
        LEVEL,
        CAPACITY,
        "truncation_level",
        _times(capacity.truncation_level, "49/50"),
    ),
    Fault(
        "a moment two per cent small",
        "lemma-34",
        CAPACITY,
        LEVEL,
        CAPACITY,
        "fourth_moment",
        _times(capacity.fourth_moment, "49/50"),
    ),
    Fault(
        "a level that forgets the samples",
        "lemma-34",
        CAPACITY,
        LEVEL,
        CAPACITY,
        "truncation_level",
        lambda R, L, n, *more: capacity.truncation_level(R, L, 1, *more),
    ),
    Fault(
        "a cover two per cent small",
        "theorem-7",
        CAPACITY,
        "test_the_risk_of_minimisers_falls_with_the_root_of_the_samples_whatever_the_length",
        CAPACITY,
        "class_log_cover",
        _times(capacity.class_log_cover, "49/50"),
    ),
    *(
        Fault(
            f"{old} is {new or 'left out'}",
            "theorem-7",
            CAPACITY,
            "test_the_risk_of_minimisers_falls_with_the_root_of_the_samples_whatever_the_length",
            CAPACITY,
            "empirical_minimiser_bound",
            rewritten(capacity.empirical_minimiser_bound, old, new),
        )
        for old, new in (
            (" + 1 / arb(n).sqrt()\n", "\n"),
            ("1 / arb(n).sqrt()\n", "fmpq(51, 50) / arb(n).sqrt()\n"),
            ("arb(error) +", "arb(error) * fmpq(51, 50) +"),
            ("arb(error) + dev", "arb(error) + fmpq(49, 50) * dev"),
        )
    ),
]


def _lower_threshold(layout: Any, codes: Any) -> tuple[FeedForward, FeedForward]:
    """The gates of general codes that open from 3/5 on."""
    inner, gate = _GATES(layout, codes)
    bend, steps = gate.layers
    q = layout.sparsity
    bias = np.concatenate([bend.offset[:q] + fmpq(1, 40), bend.offset[q:] + fmpq(1, 40)])
    return inner, replace(gate, layers=(replace(bend, bias=bias), steps))


def _bias_of_full_size(layout: Any, layers: Any, link: Any) -> FeedForward:
    """The link with weights that are balanced and biases that are not."""
    return _LINKED(layout, layers, replace(link, bias=2 * as_exact(link.bias)))


def _constant_of_the_weights(link: Any) -> Any:
    return _CONSTANT(replace(link, bias=0 * as_exact(link.bias)))


_GATES, _LINKED, _CONSTANT = exact._gates, budgeted.with_link, budgeted.link_constant
_BIASED = named("d q link", (1, 1, NETWORKS.ReluLink(*map(np.array, ([2, -1, 1], [[[1]], [[-2]], [[1]]], [3, 1, -1])))))
FAULTS += [
    Fault(
        "a gate that opens too early",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        exact,
        "_gates",
        _lower_threshold,
        named("name d q codes kind", SMALL[-1]),
    ),
    Fault(
        "pieces for an error of a quarter",
        "construction-exact-rnn",
        NETWORKS,
        EXACT_CHECK,
        exact,
        "pieces_for",
        lambda n, eps: budgeted.pieces_for(n, 2 * eps),
        named("name d q codes kind", SMALL[-2]),
    ),
    Fault(
        "pieces for an error two per cent large",
        "lemma-22",
        GATES,
        "test_inner_products_with_the_least_number_of_pieces",
        GATES,
        "pieces_for",
        lambda n, eps: budgeted.pieces_for(n, eps * fmpq(51, 50)),
        {"n": 2},
    ),
    Fault(
        "no room beyond 1",
        "lemma-25",
        GATES,
        "test_gated_copies_of_all_coordinates",
        budgeted,
        "SLACK",
        fmpq(1, 16),
        {"d": 1, "q": 1, "r": 1, "eps": "1/40"},
    ),
    Fault(
        "biases that are not balanced",
        "proposition-28",
        NETWORKS,
        "test_the_budget_suffices_for_links_without_error",
        budgeted,
        "with_link",
        _bias_of_full_size,
        _BIASED,
    ),
    Fault(
        "a Lipschitz constant without biases",
        "proposition-28",
        NETWORKS,
        "test_the_budget_suffices_for_links_without_error",
        NETWORKS,
        "link_constant",
        _constant_of_the_weights,
        _BIASED,
    ),
    Fault(
        "a cover of twice the radius",
        "lemma-32",
        CAPACITY,
        "test_truncated_losses_of_a_finite_class",
        CAPACITY,
        "truncated_rademacher_bound",
        lambda cover, tau, n: capacity.truncated_rademacher_bound(lambda r: cover(2 * r), tau, n),
    ),
    Fault(
        "states half as large",
        "theorem-7",
        CAPACITY,
        "test_the_cover_of_a_class_is_the_product_of_three",
        capacity.RecurrentClass,
        "state_bound",
        _times(capacity.RecurrentClass.state_bound, "1/2"),
    ),
    Fault(
        "a level two per cent small",
        "theorem-7",
        CAPACITY,
        LEVEL,
        CAPACITY,
        "truncation_level",
        _times(capacity.truncation_level, "49/50"),
    ),
]
_VALUES = budgeted.value_map


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_the_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "qstr", monkeypatch)
