"""The game as an exact linear program: many factors, weights that are far apart, and payoffs that are no group's."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from lemmata.certificates import kernel
from lemmata.certificates.characters.families import cyclic_characters
from lemmata.certificates.game.closed_form import abelian_margin, closed_form_margin
from lemmata.certificates.game.equalising import equalising_class_weights
from lemmata.certificates.game.faces import optimal_faces
from lemmata.certificates.game.margin_game import MarginGame, margin_scale, solve
from lemmata.certificates.game.programs import PayoffRows, class_weights_on_face, masses_on_face, optimal_pair
from lemmata.certificates.game.rational import RationalGame
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.document import document_of
from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from lemmata.numerics.exact.root_sums import RootSums
from lemmata.numerics.groups.names import parse_group
from tests.certificates.character_tables import table_named

FACTORS = [2, 20, 26, 40, 64]


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("name", ["Q8", "S4", "S5", "A5", "C7:C3", "Z9", "Z12", "S6", "SL(2,3)"])
def test_every_number_of_factors_is_exact(name: str, factors: int) -> None:
    certificate = certify_group(parse_group(name), factors)
    assert (certificate.grade, certificate.obstacle) == ("exact", None)
    solution = certificate.solution
    assert solution is not None
    if all(weight >= 0 for weight in equalising_class_weights(solution.game)):
        assert certificate.gamma == closed_form_margin(solution.game)
    lower, upper = (Fraction(decimal) for decimal in certificate.enclosure(20))
    assert lower <= certificate.gamma <= upper
    claim = kernel.check(json.dumps(document_of(certificate)).encode())
    assert f"{factors} factors" in claim


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("n", [2, 9, 63])
def test_cyclic_groups_by_their_closed_form(n: int, factors: int) -> None:
    """With all degrees 1 and s = 1/sqrt 2 for the complex characters: n/S with S = r - 1 + (n - r) 2^((k-1)/2)."""
    real = 1 if n % 2 else 2
    total = real - 1 + (n - real) * sqrt_rational(2) ** (factors - 1)
    gamma = certify_group(parse_group(f"Z{n}"), factors).gamma
    assert gamma == margin_scale(n, factors) * n / total
    if factors == 2:
        assert gamma == abelian_margin([n])


@pytest.mark.parametrize("factors", [26, 40, 64])
def test_the_quaternion_group_by_hand(factors: int) -> None:
    """w = (1, 1, 1, 2^k): the closed form n/S with S = 3 + 2 2^k."""
    certificate = certify_group(parse_group("Q8"), factors)
    assert certificate.value == fmpq(8, 3 + 2 ** (factors + 1))
    assert certificate.unique is True


@pytest.mark.parametrize("name", ["Z9", "A5", "Z3xS3"])
@pytest.mark.parametrize("factors", [2, 20])
def test_a_game_of_irrational_payoffs_has_the_value_of_its_folded_form(name: str, factors: int) -> None:
    """By orbits, and over the real field of the characters, which is the way of tables that do not fold."""
    game = MarginGame(table_named(name), factors)
    value = solve(RationalGame(game.table, factors)).value
    assert solve(game).value == value
    masses, _ = optimal_pair(PayoffRows(game.defects, RootSums(game.weights[None, :])))
    assert 1 / sum(masses * game.weights, start=rational(0)) == value


def payoffs(defects: list[list[int]], weights: list[int]) -> PayoffRows:
    return PayoffRows(np.array(defects, dtype=object), RootSums(np.array([weights], dtype=object)))


@given(st.integers(1, 5), st.integers(1, 5), st.data())
@settings(max_examples=60, deadline=None)
def test_any_payoffs_agree_with_a_floating_point_solver(rows: int, columns: int, data: st.DataObject) -> None:
    defects = [[data.draw(st.integers(0, 6)) for _ in range(columns)] for _ in range(rows)]
    weights = [data.draw(st.integers(1, 9)) for _ in range(rows)]
    if not all(any(column) for column in zip(*defects, strict=True)):
        with pytest.raises(ValueError, match="there is a column in which no row has a payoff"):
            optimal_pair(payoffs(defects, weights))
        return
    masses, class_weights = optimal_pair(payoffs(defects, weights))
    assert sum(masses * weights) == sum(class_weights.coordinates[0])
    result = linprog(weights, A_ub=-np.array(defects).T, b_ub=-np.ones(columns))
    assert float(sum(masses * weights)) == pytest.approx(result.fun, rel=1e-7)


@pytest.mark.parametrize("far", [1, 10**30, 10**400])
def test_the_largest_entries_of_a_face_however_far_apart_the_weights_are(far: int) -> None:
    """Rows 0 and 1 do the same, row 2 alone serves the last column: y_0 + y_1 = 1, y_2 = 1, u = (1, far)."""
    game = payoffs([[1, 0], [1, 0], [0, 1]], [1, 1, far])
    masses, class_weights = optimal_pair(game)
    assert class_weights.coordinates.tolist() == [[1, far]]
    assert masses.tolist()[2] == 1
    known = [R for R in range(3) if masses[R] > 0]
    for row in (0, 1):
        objective = np.array([int(row == R) for R in range(3)], dtype=object)
        moved = masses_on_face(game, (0, 1, 2), [0, 1], objective, known)
        assert moved.tolist() == [1 - row, row, 1]


def test_class_weights_on_a_face() -> None:
    """Two equal columns share the weight sqrt 2: u_0 + u_1 = sqrt 2."""
    game = PayoffRows(np.array([[1, 1]], dtype=object), RootSums(np.array([[1]], dtype=object), (2,)))
    for column in (0, 1):
        objective = np.array([int(column == C) for C in range(2)], dtype=object)
        found = class_weights_on_face(game, (0, 1), [0], objective)
        assert found.coordinates.tolist() == [[1 - column, column]]
        assert found.numbers()[column] == sqrt_rational(2)


def test_faces_with_many_factors_keep_their_dimensions() -> None:
    """The groups whose class weights or masses are not unique, at 2 and at 40 factors."""
    for name, factors, dimensions in [("Z2xS5", 2, (0, 2)), ("S6", 2, (3, 0)), ("Z9", 40, (0, 0))]:
        faces = optimal_faces(solve(MarginGame(table_named(name), factors)))
        assert (faces.mass_dimension, faces.class_weight_dimension) == dimensions
    assert optimal_faces(solve(MarginGame(cyclic_characters(12), 64))).unique_masses
