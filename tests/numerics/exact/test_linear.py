"""The exact solver against FLINT and SymPy, and its refusals."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpq_mat
from hypothesis import assume, given
from hypothesis import strategies as st
from sympy.polys.matrices import DomainMatrix

from lemmata.numerics.exact.cyclotomic.numbers import cosine, rational, root_of_unity, sqrt_rational, to_sympy
from lemmata.numerics.exact.linear import rank, solve_unique


def exact(rows):
    """Return a nested list of exact numbers as an object array, whatever their types."""
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return array


rationals = st.fractions(min_value=-4, max_value=4, max_denominator=5)


@st.composite
def square_systems(draw):
    size = draw(st.integers(1, 5))
    matrix = [[draw(rationals) for _ in range(size)] for _ in range(size)]
    right = [draw(rationals) for _ in range(size)]
    return matrix, right


@given(square_systems())
def test_rational_square_systems_agree_with_flint(system):
    matrix, right = system
    size = len(right)
    as_flint = fmpq_mat(size, size, [fmpq(x.numerator, x.denominator) for row in matrix for x in row])
    if as_flint.det() == 0:
        with pytest.raises(ValueError, match="is not determined"):
            solve_unique(exact(matrix), np.array(right, dtype=object))
        return
    column = fmpq_mat(size, 1, [fmpq(x.numerator, x.denominator) for x in right])
    expected = as_flint.solve(column)
    assert list(solve_unique(exact(matrix), np.array(right, dtype=object))) == expected.entries()


@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6), st.booleans())
def test_overdetermined_systems_agree_with_the_ranks(unknowns, surplus, seed, consistent):
    """Rank of the matrix and of the augmented matrix decide which of the three answers is right."""
    rng = random.Random(seed)
    equations = unknowns + surplus
    matrix = [[rng.randint(-2, 2) for _ in range(unknowns)] for _ in range(equations)]
    solution = [Fraction(rng.randint(-6, 6), rng.randint(1, 4)) for _ in range(unknowns)]
    right = [sum((a * x for a, x in zip(row, solution, strict=True)), Fraction(0)) for row in matrix]
    if not consistent:
        right[rng.randrange(equations)] += 1
    plain = sympy.Matrix(matrix)
    augmented = plain.row_join(sympy.Matrix([sympy.Rational(x.numerator, x.denominator) for x in right]))
    arguments = np.array(matrix), np.array(right, dtype=object)
    if plain.rank() < unknowns:
        with pytest.raises(ValueError, match="no unique solution: unknown"):
            solve_unique(*arguments)
    elif augmented.rank() > unknowns:
        with pytest.raises(ValueError, match=r"no solution: equation \d+ contradicts"):
            solve_unique(*arguments)
    else:
        expected = [fmpq(x.numerator, x.denominator) for x in solution]
        assert list(solve_unique(*arguments)) == expected


def test_cyclotomic_system_agrees_with_sympy():
    """A system over Q(sqrt 2, sqrt 5): the solution of SymPy, in radicals, is the same real number."""
    phi, root = 2 * cosine(1, 5), sqrt_rational(2)
    matrix = exact([[phi, root, 1], [1, phi - root, fmpq(1, 2)], [root, 3, phi]])
    right = np.array([rational(1), root, phi * root], dtype=object)
    found = solve_unique(matrix, right)
    for row, value in zip(matrix, right, strict=True):
        assert sum((a * x for a, x in zip(row, found, strict=True)), start=rational(0)) == value
    golden, two = (sympy.sqrt(5) - 1) / 2, sympy.sqrt(2)
    system = [[golden, two, 1, 1], [1, golden - two, sympy.Rational(1, 2), two], [two, 3, golden, golden * two]]
    domain = DomainMatrix.from_Matrix(sympy.Matrix(system), extension=True).to_field()
    expected = domain[:, :3].lu_solve(domain[:, 3:]).to_Matrix()
    for value, other in zip(found, expected, strict=True):
        assert sympy.expand(to_sympy(value) - other) == 0


def test_complex_system():
    """Fourier inversion on Z_6: the solution of sum_k zeta^(jk) x_k = [j = 1] is zeta^(-k)/6."""
    zeta = root_of_unity(1, 6)
    matrix = exact([[zeta ** (j * k % 6) for k in range(6)] for j in range(6)])
    right = np.array([rational(int(j == 1)) for j in range(6)], dtype=object)
    assert list(solve_unique(matrix, right)) == [zeta ** (-k % 6) / 6 for k in range(6)]


def test_pivots_are_searched_below_a_zero():
    matrix = np.array([[0, 0, 1], [0, 2, 1], [3, 1, 1]])
    assert list(solve_unique(matrix, np.array([1, 3, 5]))) == [1, 1, 1]


def test_the_arguments_stay_as_they_were():
    matrix, right = exact([[fmpq(2), fmpq(1)], [fmpq(1), fmpq(1)]]), np.array([fmpq(1), fmpq(0)], dtype=object)
    before = matrix.copy(), right.copy()
    solve_unique(matrix, right)
    assert np.array_equal(matrix, before[0])
    assert np.array_equal(right, before[1])


def test_the_contradicting_equation_is_named_by_its_original_index():
    """Equation 0 has a zero pivot and is swapped down; the message names it by its place in the input."""
    matrix, right = np.array([[0], [1]]), np.array([7, 2])
    with pytest.raises(ValueError, match="equation 0 contradicts"):
        solve_unique(matrix, right)


@pytest.mark.parametrize(
    ("matrix", "right", "message"),
    [
        (np.array([1, 2]), np.array([1, 2]), "two axes"),
        (np.eye(2, dtype=int), np.array([1, 2, 3]), r"shape \(2,\)"),
        (np.eye(2, dtype=int), np.array([[1], [2]]), r"shape \(2,\)"),
        (np.array([[1.0]]), np.array([1]), r"Entry \(0, 0\) .* float"),
        (np.array([[1]]), np.array([0.5]), r"Entry \(0, 1\) .* float"),
        (np.array([[1, 2]]), np.array([1]), "unknown 1 is not determined"),
        (np.array([[0], [0]]), np.array([1, 0]), "unknown 0 is not determined"),
    ],
)
def test_refusals(matrix, right, message):
    with pytest.raises(ValueError, match=message):
        solve_unique(matrix, right)


@given(square_systems())
def test_a_planted_error_in_the_right_hand_side_moves_the_solution(system):
    """Negative control: two right-hand sides never share a solution."""
    matrix, right = system
    plain = exact(matrix)
    assume(sympy.Matrix(matrix).det() != 0)
    moved = np.array([right[0] + 1, *right[1:]], dtype=object)
    assert list(solve_unique(plain, np.array(right, dtype=object))) != list(solve_unique(plain, moved))


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3), st.integers(0, 10**6))
def test_rank_agrees_with_flint(rows, columns, inner, seed):
    """Products of thin factors have small rank; FLINT eliminates by its own route."""
    rng = random.Random(seed)
    left = np.array([[rng.randint(-3, 3) for _ in range(inner)] for _ in range(rows)]).reshape(rows, inner)
    thin = np.array([[rng.randint(-3, 3) for _ in range(columns)] for _ in range(inner)])
    matrix = left.astype(int) @ thin.reshape(inner, columns).astype(int)
    expected = fmpq_mat(rows, columns, [fmpq(int(x)) for x in matrix.flat]).rank()
    assert rank(matrix) == rank(matrix.T) == expected


def test_rank_over_a_cyclotomic_field():
    """The matrix of 1, sqrt 2 is singular over the reals although no rational combination of its rows vanishes."""
    root, zeta = sqrt_rational(2), root_of_unity(1, 5)
    assert rank(exact([[1, root], [root, 2]])) == 1
    assert rank(exact([[1, root], [root, 3]])) == 2
    vandermonde = exact([[zeta ** (j * k % 5) for k in range(5)] for j in range(5)])
    assert rank(vandermonde) == 5
    vandermonde[4] = vandermonde[0] + zeta * vandermonde[1]
    assert rank(vandermonde) == 4


def test_rank_refuses_floats_and_vectors():
    with pytest.raises(ValueError, match="float"):
        rank(np.eye(2))
    with pytest.raises(ValueError, match="two axes"):
        rank(np.arange(3))
