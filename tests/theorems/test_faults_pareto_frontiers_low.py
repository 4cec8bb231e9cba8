"""Faults planted in what the lower bound and the second layer are checked with: the deciding checks see them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.duality import regularised_hinge, span_fit
from lemmata.numerics.learning import second_layer
from lemmata.numerics.parity import lower_bound
from lemmata.theorems.pareto_frontiers import test_cited_bounds, test_kernel_bound, test_lower_bound, test_second_layer
from tests.theorems.planted_faults import Fault, assert_seen, fault_name

STEP, COEFFICIENTS, SIGNS = lower_bound._step, lower_bound._coefficients, lower_bound._signs
SIZES, BOUND = lower_bound._sets_of_size, test_lower_bound.view_bound
SAMPLES, QUERIES = test_lower_bound.gradient_samples, test_lower_bound.query_samples
SEARCH, BASIS = test_lower_bound.query_search, span_fit._independent_columns

PRIMAL, DEVIATION = regularised_hinge._primal, test_second_layer.uniform_deviation
RUN = test_lower_bound.run_hidden
ITERATE, LEAST = test_second_layer.last_iterate_bound, test_second_layer.second_layer_sizes
DESCEND, EXACT, WEIGHT = second_layer._descend, second_layer._exact_descent, test_cited_bounds.majority_weight


def without_one_column(table: Any) -> Any:
    columns = BASIS(table).transpose().tolist()
    return type(table.numerators)(columns[:-1] or columns).transpose()


NETWORK = {"n": 8, "k": 3, "width": 2, "seed": 0, "record_property": lambda *_: None}
FAULTS = [
    Fault(
        "steps longer by a fiftieth",
        "definition-sq-sgd",
        test_lower_bound,
        "test_the_two_trajectories_are_those_of_the_definition",
        lower_bound,
        "_step",
        lambda descent, theta, gradient: STEP(descent, theta, gradient * 1.02),
        {"seed": 0, "decay": 0.0},
    ),
    Fault(
        "the decay forgotten",
        "definition-sq-sgd",
        test_lower_bound,
        "test_the_two_trajectories_are_those_of_the_definition",
        lower_bound,
        "_step",
        lambda descent, theta, gradient: theta - descent.rate * gradient,
        {"seed": 0, "decay": 0.1},
    ),
    Fault(
        "noise larger than tau by a fiftieth",
        "definition-sq-sgd",
        test_lower_bound,
        "test_the_two_trajectories_are_those_of_the_definition",
        test_lower_bound,
        "run_hidden",
        lambda descent, view, *rest: RUN(descent, replace(view, tau=view.tau * 1.02), *rest),
        {"seed": 0, "decay": 0.0},
    ),
    Fault(
        "the sign of the target flipped",
        "definition-sq-sgd",
        test_lower_bound,
        "test_the_two_trajectories_are_those_of_the_definition",
        lower_bound,
        "_signs",
        lambda n, members: -SIGNS(n, members),
        {"seed": 0, "decay": 0.0},
    ),
    Fault(
        "coefficients larger by a fiftieth",
        "lemma-C.1",
        test_lower_bound,
        "test_the_mean_squared_correlation",
        lower_bound,
        "_coefficients",
        lambda column, sets: COEFFICIENTS(column, sets) * fmpq(51, 50),
        {"n": 3, "seed": 0},
    ),
    Fault(
        "parities of another size",
        "lemma-C.1",
        test_lower_bound,
        "test_a_parity_as_derivative_attains_the_bound",
        lower_bound,
        "_sets_of_size",
        lambda n, k: SIZES(n, n - k if 0 < n - k < n else k)[: len(SIZES(n, k))],
        {"n": 3},
    ),
    Fault(
        "coefficients larger by a fiftieth",
        "proposition-6.3",
        test_lower_bound,
        "test_the_hidden_parities_of_networks",
        lower_bound,
        "_coefficients",
        lambda column, sets: COEFFICIENTS(column, sets) * 1.02,
        NETWORK,
    ),
    Fault(
        "gradients that are not rounded to the grid",
        "proposition-6.3",
        test_lower_bound,
        "test_the_hidden_parities_of_networks",
        lower_bound,
        "_rounded",
        lambda gradient: gradient,
        NETWORK,
    ),
    Fault(
        "the bound with 2 in place of 4",
        "proposition-6.3",
        test_lower_bound,
        "test_the_step_of_markov",
        test_lower_bound,
        "view_bound",
        lambda *sizes: (1 + BOUND(*sizes)) / 2,
        {"n": 5, "k": 2, "r": 2, "T": 1},
    ),
    Fault(
        "a twelfth of the samples",
        "assumption-6.2",
        test_lower_bound,
        "test_the_number_of_samples_of_the_remark",
        test_lower_bound,
        "gradient_samples",
        lambda *sizes: max(SAMPLES(*sizes) // 12, 1),
        {"tau": Fraction(1), "delta": Fraction(1, 4)},
    ),
    Fault(
        "fewer samples by a fiftieth",
        "assumption-6.2",
        test_lower_bound,
        "test_the_number_of_samples_of_the_remark",
        test_lower_bound,
        "gradient_samples",
        lambda *sizes: SAMPLES(*sizes) * 49 // 50,
        {"tau": Fraction(1), "delta": Fraction(1, 4)},
    ),
    Fault(
        "the last query left out",
        "fact-escapes",
        test_lower_bound,
        "test_exhaustive_search_with_constant_precision",
        test_lower_bound,
        "query_search",
        lambda answer, sets, parallel=1: SEARCH(answer, sets[:-1], parallel),
        {"n": 5, "k": 2},
    ),
    Fault(
        "fewer samples by a twentieth",
        "fact-escapes",
        test_lower_bound,
        "test_a_logarithmic_number_of_samples_finds_the_parity",
        test_lower_bound,
        "query_samples",
        lambda *sizes: QUERIES(*sizes) * 19 // 20,
        {"n": 12, "k": 3},
    ),
    Fault(
        "an eighth of the samples",
        "fact-escapes",
        test_lower_bound,
        "test_a_logarithmic_number_of_samples_finds_the_parity",
        test_lower_bound,
        "query_samples",
        lambda *sizes: QUERIES(*sizes) // 8,
        {"n": 12, "k": 3},
    ),
    Fault(
        "a feature left out",
        "fact-kernel-lower-bound",
        test_kernel_bound,
        "test_kernel_ridge_regression_on_every_parity",
        span_fit,
        "_independent_columns",
        without_one_column,
        {"n": 5, "k": 2, "m": 4, "q": 2},
    ),
    Fault(
        "labels of another parity",
        "fact-kernel-lower-bound",
        test_kernel_bound,
        "test_distances_as_least_squares",
        span_fit,
        "parity_labels",
        lambda members, n: np.roll(test_kernel_bound.parity(n, members), 1),
        {"d": 5},
    ),
    Fault(
        "the loss larger by a fiftieth",
        "lemma-C.7",
        test_second_layer,
        "test_the_lipschitz_bound_is_attained",
        regularised_hinge,
        "_primal",
        lambda *problem: PRIMAL(*problem) * Fraction(51, 50),
        {"t": Fraction(1, 40)},
    ),
    Fault(
        "the loss of the flipped labels",
        "lemma-C.7",
        test_second_layer,
        "test_the_loss_is_lipschitz_in_the_features",
        regularised_hinge,
        "_primal",
        lambda rows, p, decay, w: PRIMAL(rows, p, decay, [-x for x in w]),
        {"dimension": 2},
    ),
    Fault(
        "an eighth of the deviation",
        "lemma-C.8",
        test_second_layer,
        "test_the_probability_of_a_large_gap",
        test_second_layer,
        "uniform_deviation",
        lambda *sizes, sharp=False: DEVIATION(*sizes, sharp=sharp) / 8,
        {"m": 12, "radius": 4, "shift": Fraction(0), "record_property": lambda *_: None},
    ),
    *(
        Fault(
            name,
            statement,
            test_second_layer,
            "test_the_last_iterate_against_the_certified_minimum",
            owner,
            attribute,
            faulty,
            {"penalty": Fraction(1, 5), "seed": 1},
        )
        for statement in ("lemma-C.9", "claim-C.9-1234")
        for name, owner, attribute, faulty in (
            (
                "ascent in place of descent",
                second_layer,
                "_exact_descent",
                lambda rows, law, penalty, steps: EXACT(-rows, law, penalty, steps),
            ),
            (
                "a decay that is half as strong",
                second_layer,
                "_exact_descent",
                lambda rows, law, penalty, steps: EXACT(rows, law, penalty / 2, steps),
            ),
            (
                "ascent in the compiled loop",
                second_layer,
                "_descend",
                lambda rows, law, penalty, steps: DESCEND(-rows, law, penalty, steps),
            ),
        )
    ),
    Fault(
        "a bound smaller by a fiftieth",
        "claim-C.9-1234",
        test_second_layer,
        "test_the_last_iterate_against_the_certified_minimum",
        test_second_layer,
        "last_iterate_bound",
        lambda *sizes: ITERATE(*sizes) * fmpq(49, 50),
        {"penalty": Fraction(1, 5), "seed": 1},
    ),
    *(
        Fault(
            name,
            "lemma-C.9",
            test_second_layer,
            "test_the_repaired_lemma_end_to_end",
            test_second_layer,
            "second_layer_sizes",
            faulty,
            {"record_property": lambda *_: None},
        )
        for name, faulty in (
            ("fewer samples by a fiftieth", lambda *sizes: (LEAST(*sizes)[0] * 49 // 50, LEAST(*sizes)[1])),
            ("fewer steps by a fiftieth", lambda *sizes: (LEAST(*sizes)[0], LEAST(*sizes)[1] * 49 // 50)),
        )
    ),
    Fault(
        "a decay ten times as strong",
        "lemma-C.9",
        test_second_layer,
        "test_the_repaired_lemma_end_to_end",
        second_layer,
        "_descend",
        lambda rows, law, penalty, steps: DESCEND(rows, law, 10 * penalty, steps),
        {"record_property": lambda *_: None},
    ),
    Fault(
        "the weight larger by a fiftieth",
        "fact-cited-bounds",
        test_cited_bounds,
        "test_the_weights_of_majority",
        test_cited_bounds,
        "majority_weight",
        lambda s, v: WEIGHT(s, v) * fmpq(51, 50),
        {"s": 7},
    ),
    Fault(
        "half of the deviation",
        "fact-cited-bounds",
        test_cited_bounds,
        "test_the_quoted_bounds_follow_from_sharper_ones",
        test_cited_bounds,
        "uniform_deviation",
        lambda *sizes, sharp=False: DEVIATION(*sizes, sharp=sharp) / 2,
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "pareto-frontiers", monkeypatch)
