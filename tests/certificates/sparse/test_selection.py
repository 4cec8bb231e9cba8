"""Selections against a quadratic program in floating point, and what the check of a selection sees."""

from dataclasses import replace
from typing import Any

import cvxpy
import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.duality.farkas import Constraint, FarkasCertificate, decide
from lemmata.certificates.sparse.network import certify_sparse
from lemmata.certificates.sparse.selection import farkas_system, select, verify_selection
from lemmata.constructions.sparse.compiler import compile_sparse
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.positions import (
    CodedPositions,
    PositionTable,
    hadamard_positions,
    integral,
    orthonormal_positions,
    random_sign_positions,
)
from lemmata.numerics.exact.numbers import to_float

CASES = {
    "orthonormal": (orthonormal_positions(6), (1, 4)),
    "random signs": (random_sign_positions(20, 4, 0), (0, 1, 2)),
    "few dimensions": (random_sign_positions(12, 2, 3), (0, 5)),
    "Hadamard": (hadamard_positions(2), (0, 1, 2)),
    "Hadamard, impossible": (hadamard_positions(1), (0, 1)),
    "not of unit length": (PositionTable(np.array([[3, 0], [0, 1], [1, 1], [-2, 1]]), 1), (0, 1)),
    "dependent": (PositionTable(np.array([[1, 0, 0], [0, 1, 0], [2, -1, 0], [0, 0, 1]]), 1), (0, 1, 2)),
    "codes": (CodedPositions(64, 4, 3), (7, 30)),
}


def largest_margin(rows, read):
    """The distance of the affine hull of some rows from the convex hull of the others, by a quadratic program."""
    others = [t for t in range(len(rows)) if t not in read]
    affine, convex = cvxpy.Variable(len(read)), cvxpy.Variable(len(others), nonneg=True)
    distance = cvxpy.sum_squares(rows[list(read)].T @ affine - rows[others].T @ convex)
    sums: list[Any] = [cvxpy.sum(affine) == 1, cvxpy.sum(convex) == 1]
    program = cvxpy.Problem(cvxpy.Minimize(distance), sums)
    program.solve(solver="CLARABEL")
    return float(np.asarray(distance.value))


@pytest.mark.parametrize("name", CASES)
def test_the_margin_is_that_of_a_quadratic_program(name):
    positions, read = CASES[name]
    selection = select(positions, read)
    rows = to_float(positions.rows(np.arange(positions.count)))
    assert abs(float(selection.squared_margin) - largest_margin(rows, read)) < 1e-6
    verify_selection(positions, selection)


@pytest.mark.parametrize("name", CASES)
def test_possible_or_not_as_a_linear_program_decides(name):
    positions, read = CASES[name]
    rows = positions.rows(np.arange(positions.count)) * fmpq(positions.rows_denominator)
    system = []
    for t in range(positions.count):
        if t != read[0]:
            step = rows[read[0]] - rows[t]
            coefficients = {f"q{place}": int(x.p) for place, x in enumerate(step.tolist())}
            system.append(Constraint(f"{t}", coefficients, "=" if t in read else ">"))
    assert isinstance(decide(system), FarkasCertificate) != select(positions, read).possible


def test_what_refutes_a_selection_passes_the_plain_checker():
    positions, read = CASES["Hadamard, impossible"]
    constraints, certificate = farkas_system(positions, select(positions, read))
    assert {constraint.relation for constraint in constraints} == {"=", ">"}
    assert set(certificate.multipliers) == {constraint.name for constraint in constraints}
    with pytest.raises(ValueError, match="nothing is refuted"):
        farkas_system(positions, select(positions, (0,)))


def test_the_key_of_largest_margin_makes_a_network():
    positions, read = CASES["random signs"]
    key = select(positions, read).key
    function = sparse_function(20, read, [5, -1, 0, 2])
    best = compile_sparse(function, positions=positions, key=key)
    dual = compile_sparse(function, positions=positions)
    certify_sparse(best)
    norms = [network.squared_norms() for network in (best, dual)]
    assert norms[0]["W_Q"] * norms[0]["W_K"] < norms[1]["W_Q"] * norms[1]["W_K"]


FAULTS = {
    "do not add up to 1": lambda one: {"affine": (fmpq(1), *one.affine[1:-1], fmpq(1))},
    "not the difference": lambda one: {"key": 2 * one.key},
    "not those of a mean": lambda one: {"convex": {**dict.fromkeys((4, 5), fmpq(1)), 6: fmpq(-1)}},
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_wrong_selection_is_refused(message):
    positions, read = CASES["random signs"]
    selection = select(positions, read)
    with pytest.raises(ValueError, match=message):
        verify_selection(positions, replace(selection, **FAULTS[message](selection)))


def test_a_pair_that_is_not_the_closest_is_refused():
    positions = orthonormal_positions(3)
    selection = select(positions, (0,))
    a, p = positions.rows([0, 1])
    with pytest.raises(ValueError, match="Another position comes as close as 1, but the margin is 2"):
        verify_selection(positions, replace(selection, convex={1: fmpq(1)}, key=a - p))
    longer = select(positions, (0, 1))
    (b,) = positions.rows([2])
    with pytest.raises(ValueError, match="different scores"):
        verify_selection(positions, replace(longer, affine=(fmpq(1), fmpq(0)), key=a - b))


@pytest.mark.parametrize("read", [(0, 1), (2, 7), (3, 16)])
def test_where_the_dual_key_is_enough_there_is_a_margin(read):
    """Of Hadamard positions with the coherence 1/4 < 1/(2s - 1) = 1/3."""
    positions = hadamard_positions(2)
    rows = positions.rows(np.arange(positions.count))
    products = [abs((rows[i] * rows[t]).sum()) for i in read for t in range(positions.count) if t != i]
    assert 0 < max(products) < fmpq(1, 3)
    assert select(positions, read).possible


def test_the_printed_hypothesis_is_not_enough():
    gram = [[1, "-2/5", "3/10", "3/10"], ["-2/5", 1, "3/10", "3/10"], ["3/10", "3/10", 1, "-2/5"]]
    gram += [["3/10", "3/10", "-2/5", 1]]
    positions = PositionTable(*integral(gram))
    assert not select(positions, (0, 1)).possible
    assert fmpq(1, 3) < fmpq(2, 5) < fmpq(1, 2)


@pytest.mark.parametrize(
    ("read", "message"),
    [((0, 1, 2), "nothing to tell them from"), ((3,), "lie outside"), ((1, 1), "repeats"), ((), "there is none")],
)
def test_bad_indices_are_refused(read, message):
    with pytest.raises(ValueError, match=message):
        select(orthonormal_positions(3), read)
