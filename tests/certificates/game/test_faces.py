"""Uniqueness of optimal masses and class weights: known cases, a second opinion, and faces built by hand."""

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import lemmata.certificates.game.faces as faces_module
from lemmata.certificates.characters.families import cyclic_characters, symmetric_characters
from lemmata.certificates.characters.integral_products import IntegralProducts
from lemmata.certificates.characters.tables import product_characters
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.faces import optimal_faces
from lemmata.certificates.game.margin_game import GameSolution, MarginGame, solve, verify
from lemmata.certificates.game.rational import RationalGame
from tests.certificates.character_tables import table_named

CASES = {
    # name: (mass dimension, class weight dimension)
    "Z2": (0, 0),
    "Z9": (0, 0),
    "Q8": (0, 0),
    "S5": (0, 0),
    "S6": (3, 0),
    "S7": (3, 0),
    "Z2xS5": (0, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_known_faces(name):
    faces = optimal_faces(solve(MarginGame(table_named(name))))
    assert (faces.mass_dimension, faces.class_weight_dimension) == CASES[name]
    assert faces.unique_masses == (CASES[name][0] == 0)
    assert faces.unique_class_weights == (CASES[name][1] == 0)
    assert [i for i, entry in enumerate(faces.interior.eps) if entry > 0] == list(faces.rows)
    assert [i for i, entry in enumerate(faces.interior.t) if entry > 0] == list(faces.columns)


def widths(solution: GameSolution) -> tuple[float, float]:
    """The largest spread of an entry over the optimal masses, and over the optimal class weights, by interior points.

    The polytopes are those of the definition, without complementary slackness.
    """
    payoff = solution.game.payoff() / float(solution.value)
    result = []
    for matrix in (payoff.T, 2 - payoff):  # 2 - payoff turns <= 1 into >= 1 for vectors of sum 1
        rows, size = matrix.shape
        spread = 0.0
        for objective in np.concatenate([np.eye(size), -np.eye(size)]).reshape(2, size, size).transpose(1, 0, 2):
            ends = [
                linprog(
                    -sense,
                    A_ub=-matrix,
                    b_ub=-np.full(rows, 1 - 1e-9),
                    A_eq=np.ones((1, size)),
                    b_eq=[1.0],
                    method="highs-ipm",
                ).fun
                for sense in objective
            ]
            spread = max(spread, -sum(ends))
        result.append(spread)
    return result[0], result[1]


@pytest.mark.parametrize("name", ["Q8", "S5", "S6", "S7", "Z2xS5", "Z3xS3"])
@pytest.mark.parametrize("factors", [2, 3])
def test_an_interior_point_solver_finds_the_same_faces(name, factors):
    solution = solve(MarginGame(table_named(name), factors))
    faces = optimal_faces(solution)
    spreads = widths(solution)
    # A unique vector spreads by what the slack 1e-9 lets through, times the condition of the square system (below 1e4
    # here); the faces of these groups are wider than 0.01.
    for spread, unique in zip(spreads, (faces.unique_masses, faces.unique_class_weights), strict=True):
        assert spread < 1e-4 if unique else spread > 0.01


def test_two_optimal_mass_vectors_of_s6_differ():
    """Non-uniqueness without any theory: two exact optimal pairs with different masses."""
    solution = solve(MarginGame(symmetric_characters(6)))
    inner = optimal_faces(solution).interior
    assert any(a != b for a, b in zip(solution.eps, inner.eps, strict=True))
    moved = verify(solution.game, solution.value, inner.eps, solution.t)
    assert moved.value == solution.value


@pytest.mark.parametrize("name", ["Z9", "Z12", "Q8", "S5"])
def test_strict_condition_means_everything_is_active_and_unique(name):
    """Where the closed form's class weights are positive it is the only optimum (the columns chi_R are independent)."""
    faces = optimal_faces(solve_table(table_named(name)))
    assert len(faces.rows) == len(faces.columns) == faces.active_rank == len(faces.interior.eps)


@given(st.integers(2, 9), st.integers(2, 4), st.integers(2, 4))
def test_abelian_groups_have_one_optimum(m, n, factors):
    table = product_characters(cyclic_characters(m), cyclic_characters(n))
    faces = optimal_faces(solve(MarginGame(table, factors)))
    assert faces.unique_masses
    assert faces.unique_class_weights


def test_an_interior_pair_is_its_own_answer():
    solution = solve(MarginGame(table_named("S6")))
    inner = optimal_faces(solution).interior
    again = optimal_faces(inner)
    assert again.interior is inner
    assert again.mass_dimension == 3
    assert sum(inner.eps) == fmpq(1)
    assert np.all(inner.eps >= 0)


@pytest.mark.parametrize(("name", "factors"), [("S6", 2), ("S6", 20), ("S7", 3), ("Z2xS5", 2), ("Z3xS3", 40)])
def test_the_interior_is_strictly_complementary_and_every_vertex_is_decided(name, factors):
    """No tolerance: every tied row and column is decided by an exact program, and found in the interior pair."""
    faces = optimal_faces(solve(MarginGame(table_named(name), factors)))
    inner = faces.interior
    assert inner.tight_rows == tuple(np.flatnonzero(inner.eps != 0))
    assert inner.tight_columns == tuple(np.flatnonzero(inner.t != 0))


def test_a_program_on_the_face_that_is_wrong_is_noticed(monkeypatch):
    """A vertex that lies outside of the optimal face does not pass `verify`; one that moves nothing is no answer."""
    solution = solve(MarginGame(symmetric_characters(6)))
    assert optimal_faces(solution).mass_dimension == 3
    exact = faces_module.masses_on_face
    with monkeypatch.context() as patch:
        patch.setattr(faces_module, "masses_on_face", lambda *args: exact(*args) * fmpq(10**30 - 1, 10**30))
        with pytest.raises(ValueError, match="The entries of mass eps must add up to 1"):
            optimal_faces(solution)
    with monkeypatch.context() as patch:
        patch.setattr(faces_module, "_with_mass", lambda *_: None)
        with pytest.raises(AssertionError, match="strictly complementary pairs exist"):
            optimal_faces(solution)
    with monkeypatch.context() as patch:
        patch.setattr(faces_module, "_with_mass", lambda pair, _: pair)
        with pytest.raises(AssertionError, match="every pair settles one more"):
            optimal_faces(solution)


def test_characters_that_galois_does_not_permute_ask_for_the_whole_game(monkeypatch):
    monkeypatch.setattr(IntegralProducts, "row_permutations", None)
    with pytest.raises(ValueError, match=r"does not permute the characters.*or play MarginGame on it"):
        solve(RationalGame(cyclic_characters(9)))
    assert solve(MarginGame(cyclic_characters(9))).gamma > 0
