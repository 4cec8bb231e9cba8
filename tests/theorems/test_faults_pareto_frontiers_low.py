"""Faults planted in what the lower bound and the second layer are checked with: the deciding checks see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from certificates.duality import span_fit
from numerics.parity import lower_bound
from theorems.evidence import MARK
from theorems.pareto_frontiers import test_kernel_bound, test_lower_bound


@dataclass(frozen=True)
class Fault:
    """A fault: a replacement of an attribute, for a deciding check of a statement, called with the arguments."""

    name: str
    statement: str
    module: ModuleType
    check: str
    owner: Any
    attribute: str
    faulty: Any
    arguments: dict[str, Any] = field(default_factory=dict)


STEP, COEFFICIENTS, SIGNS = lower_bound._step, lower_bound._coefficients, lower_bound._signs
SIZES, BOUND = lower_bound._sets_of_size, test_lower_bound.view_bound
SAMPLES, QUERIES = test_lower_bound.gradient_samples, test_lower_bound.query_samples
SEARCH, BASIS = test_lower_bound.query_search, span_fit._independent_columns


def without_one_column(table: Any) -> Any:
    columns = BASIS(table).transpose().tolist()
    return type(table.numerators)(columns[:-1] or columns).transpose()


NETWORK = {"n": 8, "k": 3, "width": 2, "seed": 0, "record_property": lambda *_: None}
FAULTS = [
    Fault(
        "steps longer by a fiftieth",
        "def-sq-sgd",
        test_lower_bound,
        "test_the_two_trajectories_are_those_of_the_definition",
        lower_bound,
        "_step",
        lambda descent, theta, gradient: STEP(descent, theta, gradient * 1.02),
        {"seed": 0, "decay": 0.0},
    ),
    Fault(
        "the decay forgotten",
        "def-sq-sgd",
        test_lower_bound,
        "test_the_two_trajectories_are_those_of_the_definition",
        lower_bound,
        "_step",
        lambda descent, theta, gradient: theta - descent.rate * gradient,
        {"seed": 0, "decay": 0.1},
    ),
    Fault(
        "the sign of the target flipped",
        "def-sq-sgd",
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
]


def decided_by(function: Callable[..., Any]) -> set[str]:
    """The statements that a test decides."""
    marks = [mark.args[0] for mark in getattr(function, "pytestmark", []) if mark.name == MARK]
    return {evidence.statement for evidence in marks if not evidence.supporting}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.statement}-{fault.name.replace(' ', '_')}")
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(fault.module, fault.check)
    assert f"pareto-frontiers:{fault.statement}" in decided_by(function)
    function(**fault.arguments)
    monkeypatch.setattr(fault.owner, fault.attribute, fault.faulty)
    with pytest.raises(AssertionError):
        function(**fault.arguments)
