"""Pseudo-moments in integers: what the program of degree 4 cannot go below, whatever its multipliers.

A matrix Y of pseudo-moments is indexed by the monomials (x_i x_j with i <= j; z_0, ..., z_{C-1}), x = (u, v) of N
coordinates, in the order of the certificates of degree 4. It is positive semidefinite, and its entries at
(x_i x_j, x_k x_l) depend on the multiset {i, j, k, l} alone, as those of the moments of a measure would. If

    E (u_a + v_b)^2 (z_y - z_c) >= mu > 0      at every triple (a, b, c),

then no certificate of degree 4, for no multipliers, has a bound below 2/(3 sqrt 3) mu / sqrt(E|x|^4 E|z|^2)
(certificates/tables/TABLE_MARGIN.md, step 20). Where a certificate of degree 6 is below that number, the program of
degree 4 has a gap at this table. `PseudoMoments` checks all of this in integers and knows nothing of the solver that
`find_pseudo_moments` asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from numerics.tables.table import Table, Triple

__all__ = ["PseudoMomentError", "PseudoMoments", "find_pseudo_moments"]

Multiset = tuple[int, ...]


class PseudoMomentError(ValueError):
    """A matrix is not one of pseudo-moments, or proves nothing about a table."""


@dataclass(frozen=True)
class PseudoMoments:
    """Pseudo-moments for tables of |A| rows, |B| columns and C labels.

    Attributes:
        rows, columns, labels: |A|, |B| and C.
        matrix: Y by rows, Python integers, of size N(N + 1)/2 + C with N = |A| + |B|.

    Raises:
        PseudoMomentError: for a matrix of another size, with entries that are not integers, that is not symmetric, not
            positive definite, or has different entries at one multiset {i, j, k, l}.
    """

    rows: int
    columns: int
    labels: int
    matrix: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        size = len(self.pairs) + self.labels
        Y = self.matrix
        if len(Y) != size or any(len(row) != size for row in Y):
            raise PseudoMomentError(f"The matrix of pseudo-moments must have {size} rows and columns.")
        if any(type(entry) is not int for row in Y for entry in row):
            raise PseudoMomentError("Pseudo-moments are Python integers.")
        if any(Y[i][j] != Y[j][i] for i in range(size) for j in range(i)):
            raise PseudoMomentError("The matrix of pseudo-moments is not symmetric.")
        known: dict[Multiset, int] = {}
        for i, first in enumerate(self.pairs):
            for j, second in enumerate(self.pairs):
                if known.setdefault(tuple(sorted(first + second)), Y[i][j]) != Y[i][j]:
                    raise PseudoMomentError(
                        f"The product of the monomials {first} and {second} has another value elsewhere in the matrix."
                    )
        if not _positive_definite(Y):
            raise PseudoMomentError("The matrix of pseudo-moments is not positive definite.")

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The monomials x_i x_j, i <= j, in the order of the rows of the matrix."""
        return tuple(combinations_with_replacement(range(self.rows + self.columns), 2))

    @cached_property
    def _position(self) -> dict[tuple[int, int], int]:
        return {pair: position for position, pair in enumerate(self.pairs)}

    @property
    def fourth_moment(self) -> int:
        """E |x|^4 = sum over i and j of E x_i^2 x_j^2."""
        squares = [self._position[i, i] for i in range(self.rows + self.columns)]
        return sum(self.matrix[i][j] for i in squares for j in squares)

    @property
    def output_moment(self) -> int:
        """E |z|^2."""
        start = len(self.pairs)
        return sum(self.matrix[start + k][start + k] for k in range(self.labels))

    def output(self, a: int, b: int, k: int) -> int:
        """E (u_a + v_b)^2 z_k."""
        column, row = self.rows + b, len(self.pairs) + k
        Y, position = self.matrix, self._position
        return Y[row][position[a, a]] + 2 * Y[row][position[a, column]] + Y[row][position[column, column]]

    def margins(self, table: Table) -> dict[Triple, int]:
        """E (u_a + v_b)^2 (z_y - z_c) at every triple of the table.

        Raises:
            PseudoMomentError: for a table of other sizes.
        """
        if (table.rows, table.columns, table.label_count) != (self.rows, self.columns, self.labels):
            raise PseudoMomentError(
                f"These pseudo-moments are for {self.rows} rows, {self.columns} columns and {self.labels} labels; the "
                f"table has {table.rows}, {table.columns} and {table.label_count}."
            )
        return {(a, b, c): self.output(a, b, table.values[a][b]) - self.output(a, b, c) for a, b, c in table.triples}

    def bound_square(self, table: Table) -> Fraction:
        """4 mu^2 / (27 E|x|^4 E|z|^2): the square of a number below which no bound of degree 4 on the margin is.

        Raises:
            PseudoMomentError: for a table of other sizes, and where a pseudo-margin is not positive.
        """
        least = min(self.margins(table).values())
        if least <= 0:
            raise PseudoMomentError("The pseudo-moments have no positive margin at some triple, so they prove nothing.")
        return Fraction(4 * least**2, 27 * self.fourth_moment * self.output_moment)


def _positive_definite(matrix: Sequence[Sequence[int]]) -> bool:
    """Whether a symmetric integer matrix is positive definite: all leading minors, by Bareiss' elimination."""
    rows, previous = [list(row) for row in matrix], 1
    for step in range(len(rows)):
        pivot = rows[step][step]
        if pivot <= 0:
            return False
        for i in range(step + 1, len(rows)):
            factor = rows[i][step]
            for j in range(step + 1, len(rows)):
                rows[i][j] = (rows[i][j] * pivot - factor * rows[step][j]) // previous
        previous = pivot
    return True


def find_pseudo_moments(table: Table, *, bits: int = 36, slack: float = 2.0**-22) -> PseudoMoments:
    """Pseudo-moments of nearly the largest margin, by a semidefinite program in floating point, rounded to integers.

    The moments of degree 4 in x and of degree 2 in z are normalised to 1 each before they are multiplied by 2^bits.
    What the solver and the rounding lack in definiteness is bought by a share `slack` of the moments of independent
    Gaussian variables.

    Raises:
        PseudoMomentError: if the solver fails, or the rounded matrix is not positive definite: more `slack` and more
            `bits` help.
    """
    pairs = list(combinations_with_replacement(range(table.size), 2))
    solved = _solve(table, pairs)
    size = len(pairs) + table.label_count
    gaussian: dict[Multiset, float] = {
        key: float(np.prod([{0: 1, 1: 0, 2: 1, 3: 0, 4: 3}[key.count(i)] for i in set(key)]))
        for key in combinations_with_replacement(range(table.size), 4)
    }
    total = table.size * (table.size + 2)  # E |x|^4 of independent Gaussian variables
    values: dict[Multiset, list[float]] = {}
    for i, first in enumerate(pairs):
        for j, second in enumerate(pairs):
            values.setdefault(tuple(sorted(first + second)), []).append(solved[i, j])
    scale = 2**bits
    moments = {
        key: round(scale * ((1 - slack) * float(np.mean(found)) + slack * gaussian[key] / total))
        for key, found in values.items()
    }
    mixed = (1 - slack) * solved
    for k in range(len(pairs), size):
        mixed[k, k] += slack / table.label_count
    matrix = [[round(scale * float(mixed[min(i, j), max(i, j)])) for j in range(size)] for i in range(size)]
    for i, first in enumerate(pairs):
        for j, second in enumerate(pairs):
            matrix[i][j] = moments[tuple(sorted(first + second))]
    return PseudoMoments(table.rows, table.columns, table.label_count, tuple(map(tuple, matrix)))


def _solve(table: Table, pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """The matrix of pseudo-moments of the largest least margin with E|x|^4 = E|z|^2 = 1, in floating point."""
    import cvxpy as cp  # slow to import, and needed for nothing else here

    size, x = len(pairs) + table.label_count, len(pairs)
    position = {pair: index for index, pair in enumerate(pairs)}
    Y, margin = cp.Variable((size, size), PSD=True), cp.Variable()
    first_place: dict[Multiset, tuple[int, int]] = {}
    constraints = []
    for i in range(x):
        for j in range(i, x):
            place = first_place.setdefault(tuple(sorted(pairs[i] + pairs[j])), (i, j))
            if place != (i, j):
                constraints.append(Y[i, j] == Y[place])
    squares = [position[i, i] for i in range(table.size)]
    constraints += [cp.sum(Y[squares][:, squares]) == 1, cp.trace(Y[x:, x:]) == 1]
    for a, b, c in table.triples:
        column = table.rows + b
        forms = ((position[a, a], 1), (position[a, column], 2), (position[column, column], 1))
        right, wrong = x + table.values[a][b], x + c
        constraints.append(sum(factor * (Y[right, i] - Y[wrong, i]) for i, factor in forms) >= margin)
    problem = cp.Problem(cp.Maximize(margin), constraints)
    problem.solve(solver=cp.CLARABEL)
    if Y.value is None:
        raise PseudoMomentError(f"The solver found no pseudo-moments; it reports {problem.status!r}.")
    return np.asarray(Y.value)
