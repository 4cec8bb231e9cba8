"""Faults planted in complexities, indicators, networks and comparators: the deciding checks of the chapter see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.constructions.recurrent import comparator, concepts, elman, indicator
from lemmata.constructions.recurrent.indicator import IndicatorFunction, clipping_error, indicator_function
from lemmata.numerics.recurrent import losses
from lemmata.numerics.recurrent.complexities import PowerSeries, complexity, polynomial, smooth_complexity, taylor
from lemmata.numerics.recurrent.rectified_norm import stretch
from lemmata.theorems.rnn_sgd import (
    test_comparator,
    test_complexities,
    test_conventions,
    test_indicator,
    test_linearisation,
    test_rectified_norm,
)
from tests.theorems.planted_faults import Fault, assert_seen, fault_name


def scaled(function: Callable[..., Any], factor: object) -> Callable[..., Any]:
    """The function with its values multiplied by a factor."""
    return lambda *arguments, **named: function(*arguments, **named) * factor


def with_changed_terms(change: Callable[[Any], Any]) -> Callable[..., IndicatorFunction]:
    """The constructor of H with every term changed."""

    def faulty(*arguments: Any) -> IndicatorFunction:
        function = indicator_function(*arguments)
        return replace(function, terms=tuple(change(term) for term in function.terms))

    return faulty


WEIGHTS, LEVEL, LARGEST = IndicatorFunction.weights, indicator.clipping_level, indicator._largest_hermite

FAULTS = [
    *(
        Fault(
            name,
            "lemma-5.1",
            test_indicator,
            "test_the_mean_is_the_polynomial",
            test_indicator,
            "indicator_function",
            with_changed_terms(change),
            {"degree": degree},
        )
        for name, change, degree in (
            ("a weight larger by a fiftieth", lambda t: replace(t, rational=t.rational * fmpq(51, 50)), 3),
            ("the sign of a weight", lambda t: replace(t, rational=-t.rational), 4),
            ("one power of S too few", lambda t: replace(t, power=t.power - 1), 5),
            ("even terms without a partner", lambda t: replace(t, paired=False), 2),
        )
    ),
    *(
        Fault(
            name,
            "lemma-5.1",
            test_indicator,
            "test_quadrature_gives_the_polynomial",
            owner,
            attribute,
            faulty,
            {"coefficients": [0, 0, 1], "variance": fmpq(2), "partner": partner},
        )
        for name, owner, attribute, faulty, partner in (
            (
                "weights larger by a fiftieth",
                IndicatorFunction,
                "weights",
                lambda f: [w * fmpq(51, 50) for w in WEIGHTS(f)],
                "linear",
            ),
            (
                "the sign's factor larger by a fiftieth",
                indicator,
                "_sign_factor",
                scaled(indicator._sign_factor, fmpq(51, 50)),
                "sign",
            ),
            ("Hermite polynomials of the wrong kind", indicator, "hermite", lambda i, z: z**i, "sign"),
        )
    ),
    Fault(
        "levels at half their height",
        "lemma-5.1",
        test_indicator,
        "test_the_clipped_function_is_bounded_and_near",
        test_indicator,
        "clipping_level",
        lambda degree, epsilon: LEVEL(degree, epsilon) / 2,
        {"coefficients": [0, 1], "variance": fmpq(2), "constant": 25},
    ),
    Fault(
        "levels at ten times their height",
        "lemma-5.1",
        test_indicator,
        "test_the_clipped_function_is_bounded_and_near",
        test_indicator,
        "clipping_level",
        lambda degree, epsilon: LEVEL(degree, epsilon) * 10,
        {"coefficients": [0, 1], "variance": fmpq(2), "constant": 25},
    ),
    *(
        Fault(
            name,
            "lemma-5.1",
            test_indicator,
            "test_clipping_keeps_the_mean",
            owner,
            attribute,
            faulty,
            {"coefficients": [0, 1], "level": 2.0},
        )
        for name, owner, attribute, faulty in (
            ("nothing is clipped", indicator, "_within", lambda alpha, _: abs(alpha) < float("inf")),
            ("a supremum that is too small", indicator, "_largest_hermite", scaled(LARGEST, fmpq(49, 50))),
            ("an error that is too small", test_indicator, "clipping_error", scaled(clipping_error, fmpq(49, 50))),
        )
    ),
    *(
        Fault(
            name,
            statement,
            test_complexities,
            "test_powers",
            test_complexities,
            attribute,
            scaled(function, arb(fmpq(49, 50))),
            {"degree": 2},
        )
        for name, statement, attribute, function in (
            (
                "the smooth complexity smaller by a fiftieth",
                "definition-complexity",
                "smooth_complexity",
                smooth_complexity,
            ),
            ("the complexity smaller by a fiftieth", "definition-complexity", "complexity", complexity),
            ("the complexity of a power smaller", "example-2.1", "complexity", complexity),
        )
    ),
    Fault(
        "a sine without its negative terms",
        "definition-complexity",
        test_complexities,
        "test_the_sums_of_the_sine",
        test_complexities,
        "sine_series",
        lambda: PowerSeries("half a sine", lambda i: fmpq(int(i % 4 == 1)), factorial=True),
        {},
    ),
    Fault(
        "Taylor coefficients of the wrong function",
        "example-2.1",
        test_complexities,
        "test_taylor_polynomials_are_near",
        test_complexities,
        "taylor",
        lambda name, degree: polynomial([taylor(name, degree).coefficient(i) / 2 for i in range(degree + 1)]),
        {},
    ),
    Fault(
        "the smooth complexity larger",
        "definition-complexity",
        test_complexities,
        "test_between_the_complexities",
        test_complexities,
        "smooth_complexity",
        scaled(smooth_complexity, arb(fmpq(5, 4))),
        {},
    ),
    Fault(
        "the complexity without its first sum",
        "definition-complexity",
        test_complexities,
        "test_between_the_complexities",
        test_complexities,
        "complexity",
        lambda phi, radius, *rest: (
            complexity(phi, radius, *rest) - complexity(phi, radius, arb("0.999999999999"), *rest[1:])
        ),
        {},
    ),
    Fault(
        "the complexity of a larger radius",
        "example-2.1",
        test_complexities,
        "test_truncated_series_within_the_corrected_power",
        test_complexities,
        "complexity",
        lambda phi, radius, *rest: complexity(phi, 3 * radius, *rest),
        {"name": "tanh", "radius": 1},
    ),
]

TRACE, CHANGE, PADDED = elman.trace, elman.linear_change, concepts.padded
COMPARATOR = comparator.comparator


def without_the_last_token(network: elman.ElmanNetwork, tokens: Any) -> elman.Trace:
    """The trace on tokens whose last one is 0."""
    changed = tokens.copy()
    changed[-1] = 0 * changed[-1]
    return TRACE(network, changed)


def with_the_patterns_reversed(network: elman.ElmanNetwork, tokens: Any) -> elman.Trace:
    """The trace with D_L, ..., D_1 in the place of D_1, ..., D_L."""
    run = TRACE(network, tokens)
    return replace(run, active=run.active[::-1])


def small_entries(width: int, tokens: int, outputs: int, rng: Any) -> elman.ElmanNetwork:
    """The initialisation with 2/m as the standard deviation of the state matrix."""
    network = elman.random_elman(width, tokens, outputs, rng)
    return replace(network, state=network.state * (2 / width) ** 0.5)


def larger_token_entries(width: int, tokens: int, outputs: int, rng: Any) -> elman.ElmanNetwork:
    """The initialisation with entries of A that are larger by a fiftieth."""
    network = elman.random_elman(width, tokens, outputs, rng)
    return replace(network, token=network.token * 1.02)


def paired_entries(width: int, tokens: int, outputs: int, rng: Any) -> elman.ElmanNetwork:
    """The initialisation with a symmetric state matrix: each entry is as it should be, but not independent."""
    network = elman.random_elman(width, tokens, outputs, rng)
    return replace(network, state=(network.state + network.state.T) / 2**0.5)


def with_an_inactive_row(*arguments: Any) -> comparator.Comparator:
    """The comparator with the rows of one unit left out."""
    found = COMPARATOR(*arguments)
    vectors = found.vectors.copy()
    vectors[:, abs(vectors).sum(axis=0).argmax()] = 0
    return replace(found, vectors=vectors)


def longer_first_token(length: int, width: int, epsilon: object) -> Any:
    """The null sequence with eps_x in its first token too."""
    result = concepts.null_sequence(length, width, epsilon)
    result[0, -1] = epsilon
    return result


NETWORK_FAULTS = [
    (
        "definition-4.1",
        test_linearisation,
        "test_states_are_those_of_the_patterns",
        "trace",
        without_the_last_token,
        {},
    ),
    (
        "definition-4.1",
        test_linearisation,
        "test_states_are_those_of_the_patterns",
        "trace",
        with_the_patterns_reversed,
        {},
    ),
    (
        "definition-pseudo-network",
        test_linearisation,
        "test_the_linear_network_is_the_derivative",
        "linear_change",
        lambda *a: CHANGE(*a) * fmpq(51, 50),
        {},
    ),
    (
        "definition-pseudo-network",
        test_linearisation,
        "test_the_recursion_is_the_sum_over_back",
        "back",
        lambda n, run, i, j: elman.back(n, run, i, max(i, j - 1)),
        {},
    ),
    (
        "definition-objective",
        test_linearisation,
        "test_the_gradient_is_the_adjoint",
        "weighted_gradient",
        lambda *a: -elman.weighted_gradient(*a),
        {},
    ),
    (
        "definition-objective",
        test_linearisation,
        "test_the_gradient_of_the_objective",
        "weighted_gradient",
        lambda *a: elman.weighted_gradient(*a) * 1.001,
        {"seed": 0},
    ),
    (
        "definition-data",
        test_conventions,
        "test_padding_has_norm_one",
        "padded",
        lambda z: PADDED(z) * fmpq(51, 50),
        {"z": (1, 0)},
    ),
    (
        "definition-3.2",
        test_conventions,
        "test_both_sequences_are_normalised",
        "null_sequence",
        longer_first_token,
        {"epsilon": fmpq(1, 2)},
    ),
    (
        "definition-3.2",
        test_conventions,
        "test_both_sequences_are_normalised",
        "input_sequence",
        lambda x, e: concepts.input_sequence(x, e / 2),
        {"epsilon": fmpq(1, 2)},
    ),
    ("definition-3.3", test_conventions, "test_the_network_and_its_initialisation", "random_elman", small_entries, {}),
    (
        "definition-3.3",
        test_conventions,
        "test_the_network_and_its_initialisation",
        "random_elman",
        larger_token_entries,
        {},
    ),
    ("definition-3.3", test_conventions, "test_the_network_and_its_initialisation", "random_elman", paired_entries, {}),
    (
        "definition-null-sequence",
        test_comparator,
        "test_the_null_sequence_is_near",
        "null_sequence",
        lambda *a: concepts.null_sequence(*a)[:, ::-1],
        {},
    ),
    (
        "footnote-2",
        test_rectified_norm,
        "test_a_certificate_from_below",
        "stretch",
        lambda W, x: stretch(W, x) * fmpq(51, 50),
        {"seed": 0},
    ),
    ("remark-3.4", test_conventions, "test_remarks_on_the_input", "trace", lambda n, x: TRACE(n, x + 1), {}),
    ("example-3.6", test_conventions, "test_counting", "Part", lambda i, *rest: concepts.Part(2, *rest), {}),
    (
        "example-3.5",
        test_conventions,
        "test_networks_per_lag_are_targets",
        "lag_networks",
        lambda n, V, A, c: concepts.lag_networks(n, V, A[::-1], c),
        {},
    ),
    (
        "definition-concept-class",
        test_conventions,
        "test_directions_with_a_last_coordinate",
        "indicator_function",
        lambda *a, far: indicator_function(*a),
        {"coefficients": [0, 1], "partner": "sign"},
    ),
    (
        "definition-loss",
        test_conventions,
        "test_losses_of_the_class",
        "scaled_cross_entropy",
        losses.cross_entropy,
        {"seed": 3},
    ),
    (
        "definition-loss",
        test_conventions,
        "test_losses_of_the_class",
        "distance",
        lambda y, l: tuple(v * 1.1 for v in losses.distance(y, l)),
        {"seed": 3},
    ),
    (
        "definition-5.3",
        test_comparator,
        "test_the_matrix_is_that_of_the_definition",
        "comparator",
        lambda n, t, e, c: COMPARATOR(n, t, e, c * 1.3),
        {"seed": 0},
    ),
    (
        "definition-5.3",
        test_comparator,
        "test_the_matrix_is_that_of_the_definition",
        "comparator",
        with_an_inactive_row,
        {"seed": 0},
    ),
    (
        "definition-null-sequence",
        test_comparator,
        "test_the_null_sequence_is_near",
        "null_sequence",
        longer_first_token,
        {},
    ),
    (
        "footnote-2",
        test_rectified_norm,
        "test_a_certificate_from_below",
        "stretch",
        lambda W, x: stretch(W, -x),
        {"seed": 0},
    ),
    (
        "footnote-2",
        test_rectified_norm,
        "test_nothing_found_is_above_the_bound",
        "stretch",
        lambda W, x: stretch(W, x) * fmpq(5, 4),
        {"seed": 0},
    ),
]

FAULTS += [
    Fault(f"{attribute} {number}", statement, module, name, module, attribute, faulty, arguments)
    for number, (statement, module, name, attribute, faulty, arguments) in enumerate(NETWORK_FAULTS)
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "rnn-sgd", monkeypatch)
