"""Faults planted in the capacity bounds: deciding checks of the chapter on variable creation have to see them."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb, fmpq

import certificates.capacity.norms as norms
import numerics.learning.budgets as budgets
import numerics.learning.linear_capacity as linear
from tests.theorems.planted_faults import Fault, assert_seen, fault_name
from theorems.variable_creation import test_linear_covers as covers


def times(function: Any, factor: Any) -> Any:
    """The function with its value multiplied."""
    return lambda *given, **known: function(*given, **known) * factor


def plus(function: Any, term: Any) -> Any:
    """The function with a term added to its value."""
    return lambda *given, **known: function(*given, **known) + term


def split_with(change: Any) -> Any:
    """`optimal_split` with its parts changed."""
    original = budgets.optimal_split

    def faulty(*given: Any, **known: Any) -> budgets.BudgetSplit:
        found = original(*given, **known)
        return budgets.BudgetSplit(
            **{name: getattr(found, name) for name in ("cost", "radii", "shares")} | change(found)
        )

    return faulty


TWO_PERCENT = arb(51) / 50
LINEAR = {
    "a step too many": ("perceptron_steps", plus(linear.perceptron_steps, 1)),
    "a step too few": ("perceptron_steps", plus(linear.perceptron_steps, -1)),
    "no sign": ("vector_factor", lambda points: arb(2 * points).log()),
    "two percent": ("vector_factor", times(linear.vector_factor, TWO_PERCENT)),
}
ORTHONORMAL = ("test_orthonormal_points_take_all_steps_and_hold_all_signs", {"root": 3, "R": fmpq(2)})
COUNTED = ("test_the_codes_are_a_cover_of_the_counted_size", {"N": 2, "squared": 3})
FAULTS = [
    Fault(
        "columns for rows",
        "notation-4.2",
        covers,
        "test_norms_of_columns_and_of_tokens",
        covers,
        "token_norm",
        lambda X: norms.pq_norm(X, 2, float("inf")),
        {"seed": 1},
    ),
    Fault(
        "p and q exchanged",
        "notation-4.2",
        covers,
        "test_norms_of_columns_and_of_tokens",
        covers,
        "pq_norm",
        lambda X, p, q: norms.pq_norm(X, q, p),
        {"seed": 1},
    ),
    Fault(
        "two percent",
        "notation-4.2",
        covers,
        "test_norms_of_columns_and_of_tokens",
        norms,
        "_norm",
        times(norms._norm, TWO_PERCENT),
        {"seed": 1},
    ),
    Fault(
        "square roots for cube roots",
        "lemma-A.8",
        covers,
        "test_the_best_division_of_a_budget",
        budgets,
        "cube_root",
        lambda x: x.sqrt(),
        {"seed": 1},
    ),
    Fault(
        "a cost that is too small",
        "lemma-A.8",
        covers,
        "test_the_best_division_of_a_budget",
        covers,
        "optimal_split",
        split_with(lambda found: {"cost": found.cost / TWO_PERCENT}),
        {"seed": 1},
    ),
    Fault(
        "radii of other parts",
        "lemma-A.8",
        covers,
        "test_the_best_division_of_a_budget",
        covers,
        "optimal_split",
        split_with(lambda found: {"radii": found.radii[::-1]}),
        {"seed": 1},
    ),
    *[
        Fault(name, statement, covers, check, linear, attribute, faulty, arguments)
        for name, (attribute, faulty) in LINEAR.items()
        for statement in ("lemma-A.10", "fact-4.2lin")
        for check, arguments in (COUNTED,)
    ],
    Fault(
        "an error that is halved",
        "lemma-A.10",
        covers,
        ORTHONORMAL[0],
        covers,
        "perceptron_steps",
        lambda B, R, eps: linear.perceptron_steps(B, R, eps / 2),
        ORTHONORMAL[1],
    ),
    Fault(
        "printed constant",
        "lemma-A.10",
        covers,
        "test_the_printed_bound_is_a_weaker_one",
        covers,
        "printed_linear_capacity",
        times(linear.printed_linear_capacity, fmpq(35, 36)),
        {"B": 1, "R": 7, "eps": "1/10"},
    ),
    Fault(
        "no rounding of the averages",
        "lemma-4.10",
        covers,
        "test_the_closed_form_is_the_best_of_the_two_stages",
        linear,
        "map_factor",
        lambda d, N: (arb(d + 1).log().root(3) + arb(2 * N + 1).log().root(3)) ** 3,
        {"B": 2, "R": 3, "eps": "1/10"},
    ),
    Fault(
        "two percent",
        "lemma-4.10",
        covers,
        "test_the_closed_form_is_the_best_of_the_two_stages",
        linear,
        "map_factor",
        times(linear.map_factor, TWO_PERCENT),
        {"B": 2, "R": 3, "eps": "1/10"},
    ),
    Fault(
        "row radii of another budget",
        "lemma-4.10",
        covers,
        "test_the_closed_form_is_the_best_of_the_two_stages",
        linear,
        "optimal_split",
        lambda costs, rates, eps: budgets.optimal_split(costs, rates, eps * TWO_PERCENT),
        {"B": 2, "R": 3, "eps": "1/10"},
    ),
    Fault(
        "a power of the norm",
        "lemma-4.10",
        covers,
        "test_matrices_of_signs_are_below_the_bound_with_its_exponents",
        covers,
        "linear_map_capacity",
        lambda norm, radius, eps, points, outputs: (
            linear.linear_map_capacity(norm, radius, eps, points, outputs) / arb(norm)
        ),
        {"rows": 2, "root": 2},
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "variable-creation", monkeypatch)
