"""Faults planted in the library: the checks of packings and of the lower bounds for other networks have to see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

import lemmata.certificates.tokens.feed_forward as feed_forward
import lemmata.certificates.tokens.minimum_norm as minimum_norm
import lemmata.certificates.tokens.recurrent as recurrent
import lemmata.constructions.tokens.codebook as codebook
import lemmata.constructions.tokens.general_recurrence as general
import lemmata.constructions.tokens.interpolation as interpolation
import lemmata.numerics.learning.packings as packings
import lemmata.numerics.tokens.mixed_norms as mixed_norms
from lemmata.constructions.networks.recurrent import RecurrentLayer
from lemmata.constructions.tokens.codebook import Codebook
from lemmata.numerics.exact.linear import solve_unique
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.groups.codes import hadamard_words, reed_solomon_words
from lemmata.theorems.plugin import Effort
from lemmata.theorems.qstr import (
    test_feed_forward_limits,
    test_minimum_norm,
    test_mixed_norms,
    test_packings,
    test_recurrent_class,
    test_recurrent_limits,
)
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten


def _changed(function: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function whose result is changed."""
    return lambda *given, **known: change(function(*given, **known))


def _scaled(function: Callable[..., Any], factor: str) -> Callable[..., Any]:
    return _changed(function, lambda value: value * arb(factor))


def _property(get: Callable[[Any], Any]) -> property:
    return property(get)


SQUARED: Any = Codebook.squared_lipschitz.fget  # type: ignore[attr-defined]

# ---- packings and norms

MEANS = "test_means_are_counted"
ELLIPSOIDS = "test_the_bounds_of_ellipsoids_are_their_formulas"
ESTIMATE = "test_the_estimate_of_the_number_of_means"
LONGER = _changed(packings._distance, lambda eps: eps * fmpq(51, 50))
SHORTER = _changed(packings._distance, lambda eps: eps * fmpq(49, 50))
LINE = "test_volumes_are_sharp_on_a_line"
DIFFERENT = "test_points_of_a_packing_have_different_means"


def _packing(name: str, check: str, attribute: str, faulty: Any, module: Any = packings, **arguments: Any) -> Fault:
    return Fault(name, "lemma-41", test_packings, check, module, attribute, faulty, arguments)


def _of_test(name: str, check: str, factor: str) -> Fault:
    """A bound that is scaled."""
    return _packing(f"{name} times {factor}", check, name, _scaled(getattr(packings, name), factor), test_packings)


def _roots(squared_axes: Any) -> list[fmpq]:
    return [s * fmpq(51, 50) for s in squared_axes]


PACKINGS = [
    _packing("means without the origin", MEANS, "comb", lambda n, k: comb(n - 1, k)),
    _packing("distances that are too short for means", MEANS, "_distance", SHORTER),
    _packing("distances that are too long for volumes", LINE, "_distance", LONGER, pieces=3),
    _packing("distances that are too long for ellipsoids", ELLIPSOIDS, "_distance", LONGER),
    _packing("squares of axes that are too large", ELLIPSOIDS, "_squared_axes", _roots),
    _packing(
        "packings that are too dense",
        DIFFERENT,
        "_distance",
        _changed(packings._distance, lambda eps: eps / 2),
        d=1,
        effort=Effort("quick"),
    ),
    *(_of_test("sparse_estimate", ESTIMATE, factor) for factor in ("0.98", "1.02")),
    *(_of_test("ellipsoid_bound", ELLIPSOIDS, factor) for factor in ("0.98", "1.02")),
    *(_of_test("ellipsoid_estimate", ELLIPSOIDS, factor) for factor in ("0.98", "1.02")),
]


def _norm(name: str, check: str, attribute: str, faulty: Any, module: Any = mixed_norms, **arguments: Any) -> Fault:
    return Fault(name, "lemma-39", test_mixed_norms, check, module, attribute, faulty, arguments)


HAND = "test_norms_by_hand"
NORMS = [
    _norm("norms two per cent too large", HAND, "_norm", _scaled(mixed_norms._norm, "1.02")),
    _norm("norms without the last column", HAND, "as_balls", _changed(mixed_norms.as_balls, lambda A: A[:, :-1])),
    _norm("norms of rows", HAND, "as_balls", _changed(mixed_norms.as_balls, lambda A: A.T)),
    _norm(
        "exponents that are not conjugate",
        "test_equality_for_aligned_matrices",
        "conjugate",
        lambda p: p,
        test_mixed_norms,
        p=3,
        r=2,
        s=3,
    ),
]


# ---- feed-forward networks

N3 = {"N": 3, "d": 2, "n": 2}


def _network(statement: str, name: str, check: str, attribute: str, faulty: Any, **arguments: Any) -> Fault:
    return Fault(name, statement, test_feed_forward_limits, check, feed_forward, attribute, faulty, arguments)


SPAN = feed_forward._span


def _span(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Wrong rows, or a wrong inverse of their Gram matrix."""
    return _changed(feed_forward._span, lambda found: change(*found))


def _without_the_last(basis: Any, inverse: Any) -> Any:
    return SPAN(basis[:-1])


TOO_LARGE = _span(lambda basis, inverse: (basis, inverse * fmpq(51, 50)))
AVERAGE = "test_the_average_over_directions_is_a_trace"
BRACKET = "test_the_worst_direction_is_bracketed"
MATCHING = "test_the_matching_predictor_attains_the_bound"
EQUALITY = "test_cases_of_equality"
PROJECTING = "test_projecting_keeps_the_loss_and_shortens"
TOTAL = "test_the_norm_of_all_parameters_has_a_least_value"
NETWORKS = [
    _network("theorem-6", "a projector two per cent too large", AVERAGE, "_span", TOO_LARGE, **N3),
    _network("theorem-6", "a projector too large in the bracket", BRACKET, "_span", TOO_LARGE, **N3),
    _network("theorem-6", "a projector too large in cases of equality", EQUALITY, "_span", TOO_LARGE),
    _network("theorem-6", "a sample that is left out", AVERAGE, "_span", _span(_without_the_last), **N3),
    Fault(
        "samples rounded down",
        "theorem-6",
        test_feed_forward_limits,
        EQUALITY,
        test_feed_forward_limits,
        "samples_needed",
        lambda N, d, risk: int((N * d * (1 - fmpq(*map(int, str(risk).split("/"))))).floor()),
    ),
    Fault(
        "a risk of half of the indices",
        "theorem-6",
        test_feed_forward_limits,
        MATCHING,
        test_feed_forward_limits,
        "linear_risk",
        _changed(feed_forward.linear_risk, lambda risk: risk / 2),
        N3,
    ),
    _network("claim-ffn-span", "a projector that is too large", PROJECTING, "_span", TOO_LARGE, **N3),
    _network("claim-ffn-span", "an input that is left out", PROJECTING, "_span", _span(_without_the_last), **N3),
    _network(
        "claim-ffn-span",
        "gradients outside of a wrong span",
        "test_gradients_lie_in_the_span",
        "_span",
        _span(_without_the_last),
        power=2,
    ),
    _network(
        "claim-ffn-span",
        "a wrong part outside in descent",
        "test_descent_shrinks_what_lies_outside",
        "_span",
        _span(_without_the_last),
        start="inside",
    ),
    _network(
        "definition-5",
        "a solution two per cent too long",
        TOTAL,
        "solve_unique",
        lambda A, y: solve_unique(A, y) * fmpq(51, 50),
        **N3,
    ),
    Fault(
        "half of the least norm",
        "definition-5",
        test_feed_forward_limits,
        TOTAL,
        test_feed_forward_limits,
        "least_total_norm",
        _changed(feed_forward.least_total_norm, lambda found: (found[0] / 2, found[1])),
        N3,
    ),
]


# ---- recurrent networks

RECURRENT = test_recurrent_limits
FORMULAS = "test_the_bounds_are_their_formulas"
HUNDREDTH = "test_constants_for_a_risk_of_one_hundredth"
STORING = "test_the_storing_network_is_exact_inside_its_ball"
SEQUENCE = "test_no_bound_with_the_operator_norm"
CELL = "test_the_shared_cell_computes_the_states"
PREDICTIONS = "test_predictions_are_the_rounded_labels"
FAR = "test_words_are_far_apart"
READOUTS = "test_read_outs_are_lipschitz"
ROUNDING = "test_the_error_of_rounding"


def _bounds(name: str, check: str, attribute: str, faulty: Any, **arguments: Any) -> list[Fault]:
    """A fault in the certificate, which both propositions have to see."""
    return [
        Fault(name, statement, RECURRENT, check, recurrent, attribute, faulty, arguments)
        for statement in ("proposition-8", "proposition-35")
    ]


def _codebook(name: str, check: str, attribute: str, faulty: Any, owner: Any = Codebook, **arguments: Any) -> Fault:
    return Fault(name, "construction-codebook-rnn", RECURRENT, check, owner, attribute, faulty, arguments)


def _best_with_all_tokens(length: int, risk: Any, bound: Any) -> arb:
    """N in place of N - 1."""
    return recurrent_best(length + 1, risk, bound)


def _other_cells(change: Callable[[RecurrentLayer], RecurrentLayer]) -> Callable[[int], RecurrentLayer]:
    return _changed(codebook.codebook_layer, change)


def _after(layer: RecurrentLayer) -> RecurrentLayer:
    return replace(layer, moment="after")


def _from_zero(layer: RecurrentLayer) -> RecurrentLayer:
    assert layer.forward is not None
    cell = replace(layer.forward, initial=0 * layer.forward.initial)
    return replace(layer, forward=cell)


recurrent_best = recurrent._best


def _reports(change: Callable[[Any], Any]) -> Callable[..., Any]:
    return _changed(recurrent.check_recurrent, change)


def _half_norm(report: Any) -> Any:
    return replace(report, norm=report.norm / 2)


def _less_width(report: Any) -> Any:
    return replace(report, least_width=report.least_width * arb("0.98"))


TWO = {"N": 2, "b": 2, "effort": Effort("quick")}
EIGHT = {"N": 8, "b": 4, "B": 3, "effort": Effort("quick")}
MEMORIES = [
    *_bounds(
        "a constant two per cent too large",
        FORMULAS,
        "_cover_constant",
        _scaled(recurrent._cover_constant, "1.02"),
        N=17,
    ),
    *_bounds(
        "a constant two per cent too small",
        FORMULAS,
        "_cover_constant",
        _scaled(recurrent._cover_constant, "0.98"),
        N=17,
    ),
    *_bounds("all tokens in place of the others", FORMULAS, "_best", _best_with_all_tokens, N=17),
    *(
        Fault(
            name, statement, RECURRENT, "test_witnesses_meet_the_bounds", RECURRENT, "check_recurrent", faulty, {"N": 8}
        )
        for statement in ("proposition-8", "proposition-35")
        for name, faulty in [
            ("reports of half the norm", _reports(_half_norm)),
            ("reports of a smaller width", _reports(_less_width)),
        ]
    ),
    *_bounds("a coarser grid", FORMULAS, "_GRID", 8, N=17),
    *_bounds("bounds of half the size", HUNDREDTH, "_best", _scaled(recurrent._best, "0.5")),
    *_bounds(
        "memories that are thought to be weak",
        "test_weak_memories_have_the_least_risk",
        "least_squared_norm",
        _scaled(recurrent.least_squared_norm, "300"),
        N=1000,
    ),
    *(
        Fault(name, "proposition-8", RECURRENT, check, owner, attribute, faulty, arguments)
        for name, check, owner, attribute, faulty, arguments in [
            (
                "a ball that is too small",
                STORING,
                RECURRENT,
                "storing_radius",
                _changed(codebook.storing_radius, lambda r: r // 2),
                {"N": 6},
            ),
            (
                "a ball that is larger than needed",
                STORING,
                RECURRENT,
                "storing_radius",
                _changed(codebook.storing_radius, lambda r: r + 2),
                {"N": 6},
            ),
            (
                "states after the token",
                STORING,
                RECURRENT,
                "storing_layer",
                _changed(codebook.storing_layer, _after),
                {"N": 6},
            ),
            (
                "widths of half the order",
                SEQUENCE,
                RECURRENT,
                "codebook_order",
                _changed(codebook.codebook_order, lambda Q: Q * 4),
                {"b": 5, "B": 3, "risk": "0.0036"},
            ),
            (
                "an error of rounding that is too large",
                SEQUENCE,
                RECURRENT,
                "quantisation_error",
                _scaled(codebook.quantisation_error, "1.05"),
                {"b": 5, "B": 3, "risk": "0.0036"},
            ),
        ]
    ),
    _codebook("states after the token", CELL, "codebook_layer", _other_cells(_after), RECURRENT, **TWO),
    _codebook("a first state of zeros", CELL, "codebook_layer", _other_cells(_from_zero), RECURRENT, **TWO),
    _codebook(
        "words with a symbol too many",
        FAR,
        "reed_solomon_words",
        lambda messages, order: reed_solomon_words(np.roll(np.pad(messages, ((0, 0), (0, 1))), 1, axis=1), order) ^ 1,
        codebook,
        order=4,
    ),
    _codebook(
        "words that repeat a symbol",
        FAR,
        "hadamard_words",
        lambda s, Q: hadamard_words(s // 2 * 2, Q),
        codebook,
        order=4,
    ),
    _codebook(
        "a step two per cent too long",
        PREDICTIONS,
        "step",
        _property(lambda book: book.bound / fmpq(2) ** book.bits * fmpq(51, 25)),
        **EIGHT,
    ),
    _codebook(
        "midpoints at the lower ends",
        PREDICTIONS,
        "midpoints",
        lambda book, m: as_exact(m) * book.step - book.bound,
        **EIGHT,
    ),
    _codebook(
        "an order that is too large",
        PREDICTIONS,
        "order",
        _property(lambda book: 2 * codebook.codebook_order(book.length, book.bits)),
        **EIGHT,
    ),
    _codebook(
        "a constant two per cent too large",
        READOUTS,
        "squared_lipschitz",
        _property(lambda book: SQUARED(book) * fmpq(26, 25)),
    ),
    _codebook(
        "a constant two per cent too small",
        READOUTS,
        "squared_lipschitz",
        _property(lambda book: SQUARED(book) * fmpq(24, 25)),
    ),
    _codebook(
        "an extension that is too steep",
        READOUTS,
        "lipschitz_extension",
        lambda anchors, values, L, points: codebook.lipschitz_extension(anchors, values, 1.5 * L, points),
        RECURRENT,
    ),
    *(
        _codebook(
            f"an error times {factor}",
            ROUNDING,
            "quantisation_error",
            _scaled(codebook.quantisation_error, factor),
            RECURRENT,
            b=3,
            B=2,
        )
        for factor in ("0.98", "1.02")
    ),
]


# ---- networks of least norm

LEAST = test_minimum_norm
ON_A_LINE = "test_networks_interpolate_on_a_line"
LENGTHS = "test_norms_on_a_line"
FOUND = "test_directions_that_are_found_separate"
GAPS = "test_probabilities_of_the_events"
GAUSSIAN = "test_gaussian_samples_are_interpolated"
INTERPOLATES = "test_recurrent_networks_interpolate"
CROSSING = "test_thresholds_are_where_the_norms_cross"
NEURONS = interpolation._neurons
BALANCE = interpolation._balance
BIG = {"N": 10**12, "L": 3}
DRAW = {"seed": 3, "n": 5, "spread": 4}


def _least(
    statement: str, name: str, check: str, attribute: str, faulty: Any, owner: Any = interpolation, **arguments: Any
) -> Fault:
    return Fault(name, statement, LEAST, check, owner, attribute, faulty, arguments)


def _wrong_neurons(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return _changed(NEURONS, lambda found: change(*found))


def _first_slope(a: Any, b: Any) -> Any:
    """The second neuron without the correction by the first label."""
    changed = a.copy()
    changed[1:2] = changed[1:2] + a[:1]
    return changed, b


SHIFTED = _wrong_neurons(lambda a, b: (a, np.concatenate([b[:1], b[1:] + fmpq(1, 50)])))
UNBALANCED = _changed(BALANCE, lambda alpha: alpha * fmpq(51, 50))
MINIMUM = [
    _least("lemma-38", "biases that are shifted", ON_A_LINE, "_neurons", SHIFTED, n=5),
    _least("lemma-38", "a first slope that is wrong", ON_A_LINE, "_neurons", _wrong_neurons(_first_slope), n=5),
    _least("lemma-38", "layers that are not balanced", LENGTHS, "_balance", UNBALANCED, **DRAW),
    _least("lemma-38", "no balance at all", LENGTHS, "_balance", lambda a, b, copies, v=None: fmpq(1), **DRAW),
    _least(
        "lemma-38",
        "a norm without biases",
        LENGTHS,
        "squared_norm",
        lambda network: sum(
            (x * x for array in network.arrays() if array.ndim > 1 for x in array.ravel()), start=fmpq(0)
        ),
        LEAST,
        **DRAW,
    ),
    _least(
        "lemma-37",
        "a gap two per cent too small",
        GAPS,
        "least_gap",
        _scaled(interpolation.least_gap, "0.98"),
        LEAST,
        n=10,
    ),
    _least(
        "lemma-37",
        "a gap two per cent too large",
        GAPS,
        "least_gap",
        _scaled(interpolation.least_gap, "1.02"),
        LEAST,
        n=10,
    ),
    _least(
        "lemma-37",
        "squares that are too small",
        FOUND,
        "square",
        _property(lambda found: (found.places**2).sum() * fmpq(3, 4)),
        interpolation.SeparatingDirection,
        n=6,
        d=3,
    ),
    _least(
        "lemma-37",
        "squares up to 3.06 n",
        FOUND,
        "separates",
        rewritten(interpolation.SeparatingDirection.separates.fget, "3 * n", "fmpq(153, 50) * n"),  # type: ignore[attr-defined]
        interpolation.SeparatingDirection,
        n=6,
        d=3,
    ),
    _least("lemma-37", "gaps that are not looked at", FOUND, "least_gap", lambda n: arb(0), n=40, d=4),
    _least(
        "lemma-37",
        "vectors that are not of length 1",
        FOUND,
        "unit_direction",
        _changed(interpolation.unit_direction, lambda v: v * fmpq(51, 50)),
        n=6,
        d=3,
    ),
    _least("lemma-36", "biases that are shifted", GAUSSIAN, "_neurons", SHIFTED, n=10, d=5),
    _least("lemma-36", "layers that are not balanced", GAUSSIAN, "_balance", UNBALANCED, n=10, d=5),
    *(
        _least(
            statement,
            f"a constant times {factor}",
            "test_the_constant_of_interpolation",
            "interpolation_constant",
            _scaled(minimum_norm.interpolation_constant, factor),
            minimum_norm,
        )
        for statement in ("lemma-36", "theorem-9")
        for factor in ("0.98", "1.02")
    ),
    _least("theorem-9", "biases that are shifted", INTERPOLATES, "_neurons", SHIFTED, L=3),
    _least(
        "theorem-9",
        "one copy of the read-out counted",
        INTERPOLATES,
        "_balance",
        lambda a, b, copies, v=None: BALANCE(a, b, 1, v),
        L=3,
    ),
    _least(
        "theorem-9",
        "the norm of a shallower network",
        CROSSING,
        "interpolation_norm",
        lambda n, L: minimum_norm.interpolation_constant() * n**3,
        minimum_norm,
        N=10**30,
        L=5,
    ),
    _least(
        "theorem-9",
        "a root of the wrong degree",
        CROSSING,
        "generalising_norm",
        lambda N, L, risk: L * minimum_norm.least_squared_norm(N, risk).root(L + 1),
        minimum_norm,
        **BIG,
    ),
    _least(
        "theorem-9",
        "one sample too many",
        CROSSING,
        "wide_samples",
        _changed(minimum_norm.wide_samples, lambda n: n + 1),
        LEAST,
        **BIG,
    ),
    _least(
        "theorem-9",
        "a width two per cent too large",
        CROSSING,
        "least_width",
        _scaled(recurrent.least_width, "1.02"),
        minimum_norm,
        **BIG,
    ),
    _least(
        "theorem-9",
        "a scale without the depth",
        CROSSING,
        "narrow_samples",
        rewritten(minimum_norm.narrow_samples, " / arb(L) ** (arb(L) / 2)", ""),
        LEAST,
        **BIG,
    ),
    _least(
        "theorem-9",
        "norms two per cent too large",
        CROSSING,
        "least_squared_norm",
        _scaled(recurrent.least_squared_norm, "1.02"),
        minimum_norm,
        **BIG,
    ),
]


# ---- the class of recurrent networks

RUN = general.GeneralRecurrence._run
OWN = "test_states_do_not_see_their_own_token"
RESIDUAL = "test_the_residual_network_is_a_member"
GATED = "test_gated_networks_are_members"


def _after_the_token(network: Any, step: Any, x: Any, t: Any, order: Any) -> Any:
    places = list(order)
    states = RUN(network, step, x, t, places)
    last = network.project(step(states[-1], x[places[-1]], t[places[-1]], places[-1]))
    return np.concatenate([states[1:], last[None]])


def _one_direction(network: Any, step: Any, x: Any, t: Any, order: Any) -> Any:
    return RUN(network, step, x, t, range(len(x)))


def _next_token(network: Any, step: Any, x: Any, t: Any, order: Any) -> Any:
    return RUN(network, step, np.roll(x, 1, axis=0), t, order)


def _without_projection(network: Any, step: Any, x: Any, t: Any, order: Any) -> Any:
    return RUN(replace(network, project=lambda h: h, radius=10**9), step, x, t, order)


CLASS = [
    Fault(
        name, "definition-rnn-lower", test_recurrent_class, check, general.GeneralRecurrence, "_run", faulty, arguments
    )
    for name, faulty in [
        ("states after the token", _after_the_token),
        ("a backward state that runs forward", _one_direction),
        ("tokens of other positions", _next_token),
    ]
    for check, arguments in [(OWN, {"seed": 0}), (RESIDUAL, {"seed": 0}), (GATED, {"kind": "GRU"})]
]
CLASS.append(
    Fault(
        "states without projection",
        "definition-rnn-lower",
        test_recurrent_class,
        RESIDUAL,
        general.GeneralRecurrence,
        "_run",
        _without_projection,
        {"seed": 0},
    )
)


@pytest.mark.parametrize("fault", [*PACKINGS, *NORMS, *NETWORKS, *MEMORIES, *MINIMUM, *CLASS], ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "qstr", monkeypatch)
