"""Pseudo-moments: exact matrices are checked, a solver's are rounded, and what proves nothing is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import fmpz_mat

from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.certificates.operations.pseudo_moments import (
    PseudoMomentError,
    PseudoMoments,
    _positive_definite,
    rounded_pseudo_moments,
)
from lemmata.numerics.operations.operation import Operation

Matrix = list[list[int]]


@cache
def _of_measure() -> tuple[PseudoMoments, list[tuple[int, ...]]]:
    """The sums of products of the monomials over random integer points: a measure, so that all is known directly."""
    rng = np.random.default_rng(3)
    points = [tuple(int(x) for x in rng.integers(-9, 10, 4 + 3)) for _ in range(40)]
    vectors = [[x[i] * x[j] for i, j in combinations_with_replacement(range(4), 2)] + list(x[4:]) for x in points]
    matrix = tuple(tuple(sum(m[i] * m[j] for m in vectors) for j in range(13)) for i in range(13))
    return PseudoMoments(2, 2, 3, matrix), points


def test_moments_of_a_measure_are_pseudo_moments() -> None:
    moments, points = _of_measure()
    table = Operation.of([[0, 1], [2, 0]])
    assert moments.fourth_moment == sum(sum(x * x for x in point[:4]) ** 2 for point in points)
    assert moments.output_moment == sum(sum(z * z for z in point[4:]) for point in points)
    assert moments.margins(table) == {
        (a, b, c): sum((p[a] + p[2 + b]) ** 2 * (p[4 + y] - p[4 + c]) for p in points)
        for (a, b, c) in table.triples
        for y in [table.values[a][b]]
    }


def _changed(change: Callable[[Matrix], object]) -> tuple[tuple[int, ...], ...]:
    rows = [list(row) for row in _of_measure()[0].matrix]
    change(rows)
    return tuple(map(tuple, rows))


def _asymmetric(rows: Matrix) -> None:
    rows[0][12] += 1


def _inconsistent(rows: Matrix) -> None:  # x_0 x_0 by x_1 x_1 and x_0 x_1 by itself are the same moment
    rows[0][4] += 1
    rows[4][0] += 1


def _indefinite(rows: Matrix) -> None:
    rows[12][12] = 1


def _rational(rows: Matrix) -> None:
    rows[12][12] = Fraction(rows[12][12])  # pyright: ignore[reportArgumentType, reportCallIssue]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_asymmetric, "not symmetric"),
        (_inconsistent, "another value elsewhere"),
        (_indefinite, "not positive definite"),
        (_rational, "Python integers"),
        (lambda rows: rows.pop(), "13 rows and columns"),
        (lambda rows: rows[5].pop(), "13 rows and columns"),
    ],
)
def test_what_is_no_matrix_of_pseudo_moments_is_refused(change: Callable[[Matrix], object], says: str) -> None:
    with pytest.raises(PseudoMomentError, match=says):
        PseudoMoments(2, 2, 3, _changed(change))


def test_pseudo_moments_are_held_against_tables_of_their_sizes_and_need_positive_margins() -> None:
    moments, _ = _of_measure()
    with pytest.raises(PseudoMomentError, match="the table has 2, 2 and 4"):
        moments.margins(Operation.of([[0, 1], [2, 3]]))
    with pytest.raises(PseudoMomentError, match="no positive margin"):
        moments.bound_square(Operation.of([[0, 1], [2, 0]]))


@pytest.mark.parametrize("n", [2, 3])
def test_where_the_program_is_exact_pseudo_moments_reach_the_margin_and_not_more(n: int) -> None:
    """Addition modulo 2 and 3, whose margin is known in closed form."""
    table = Operation.of([[(a + b) % n for b in range(n)] for a in range(n)])
    found = rounded_pseudo_moments(table, relaxed_margin(table, kind=4))
    known = _margin_of_addition(n)
    assert known * (1 - 1e-6) <= float(found.bound_square(table)) ** 0.5 <= known


def _margin_of_addition(n: int) -> float:
    """2 / (3 sqrt(3n) S'), S' = 1 for n = 2 and sqrt 2 (n - 1) for odd n (ext-E3)."""
    return 2 / (3 * (3 * n) ** 0.5 * (1 if n == 2 else 2**0.5 * (n - 1)))


def test_only_relaxations_of_degree_4_are_rounded() -> None:
    table = Operation.of([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="those of degree 4, not of the program 'plane'"):
        rounded_pseudo_moments(table, relaxed_margin(table, kind="plane"))


def test_definiteness_is_decided_by_all_leading_minors():
    """Against determinants by flint: small entries, so that many matrices are singular or nearly so."""
    rng = np.random.default_rng(3)
    answers = []
    for size in (1, 2, 3, 4) * 100:
        root = rng.integers(-2, 3, (size, size))
        matrix = (root @ root.T - rng.integers(0, 2) * np.diag(rng.integers(0, 2, size))).tolist()
        minors = [int(fmpz_mat([row[:order] for row in matrix[:order]]).det()) for order in range(1, size + 1)]
        answers.append(_positive_definite(matrix))
        assert answers[-1] == (min(minors) > 0)
    assert 100 < sum(answers) < 300
    assert _positive_definite([[10**30, 10**30 - 1], [10**30 - 1, 10**30 - 1]])
    assert not _positive_definite([[10**30, 10**30], [10**30, 10**30]])
    assert not _positive_definite([[1, 2], [2, 4]])
    assert _positive_definite([[1, 1], [1, 2]])
