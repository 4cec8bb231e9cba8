"""Pseudo-moments in integers: what the program of degree 4 cannot go below, whatever its multipliers.

A matrix Y of pseudo-moments is indexed by the monomials (x_i x_j with i <= j; z_0, ..., z_{C-1}), x = (u, v) of N
coordinates, in the order of the certificates of degree 4. It is positive semidefinite, and its entries at
(x_i x_j, x_k x_l) depend on the multiset {i, j, k, l} alone, as those of the moments of a measure would. If

    E (u_a + v_b)^2 (z_y - z_c) >= mu > 0      at every triple (a, b, c),

then no certificate of degree 4, for no multipliers, has a bound below 2/(3 sqrt 3) mu / sqrt(E|x|^4 E|z|^2)
(certificates/operations/OPERATION_MARGIN.md, step 20). Where a certificate of degree 6 is below that number, the
program of degree 4 has a gap at this table. `PseudoMoments` checks all of this in integers and knows nothing of the
solver that `rounded_pseudo_moments` rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from math import prod, sqrt
from statistics import fmean

import numpy as np

from lemmata.certificates.operations.programs import Relaxation
from lemmata.certificates.operations.programs_template import template
from lemmata.numerics.operations.operation import Operation, Triple

__all__ = ["PseudoMomentError", "PseudoMoments", "rounded_pseudo_moments"]

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

    def margins(self, table: Operation) -> dict[Triple, int]:
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

    def bound_square(self, table: Operation) -> Fraction:
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


def rounded_pseudo_moments(
    table: Operation, relaxation: Relaxation, *, bits: int = 36, slack: float = 2.0**-22
) -> PseudoMoments:
    """The pseudo-moments of a solver, rounded to integers.

    The moments of degree 4 in x and of degree 2 in z are normalised to 1 each before they are multiplied by 2^bits.
    What the solver and the rounding lack in definiteness is bought by a share `slack` of the moments of independent
    Gaussian variables.

    Args:
        table: the pseudo-moments are for its sizes.
        relaxation: of the table by degree 4.
        bits, slack: see above.

    Raises:
        ValueError: for a relaxation of another kind.
        PseudoMomentError: if the rounded matrix is not positive definite: more `slack` and more `bits` help.
    """
    if relaxation.kind != 4:
        raise ValueError(f"Pseudo-moments are those of degree 4, not of the program {relaxation.kind!r}.")
    pairs = list(combinations_with_replacement(range(table.size), 2))
    weights = template(table.rows, table.columns, table.label_count, 4).scale  # the solver's units of the monomials
    solved, inputs = relaxation.pseudo_moments / np.outer(weights, weights), len(pairs)
    squares = [position for position, (i, j) in enumerate(pairs) if i == j]
    lengths = sqrt(solved[np.ix_(squares, squares)].sum()), sqrt(np.trace(solved[inputs:, inputs:]))
    scale = np.repeat([1 / lengths[0], 1 / lengths[1]], [inputs, table.label_count])
    gaussian = {
        key: prod((1, 0, 1, 0, 3)[key.count(i)] for i in set(key)) / (table.size * (table.size + 2))
        for key in combinations_with_replacement(range(table.size), 4)
    }
    keys = [[tuple(sorted(first + second)) for second in pairs] for first in pairs]
    values: dict[Multiset, list[float]] = {}
    moments = (1 - slack) * solved * np.outer(scale, scale)
    for (i, j), value in np.ndenumerate(moments[:inputs, :inputs]):
        values.setdefault(keys[i][j], []).append(float(value))
    for (i, j), _ in np.ndenumerate(moments[:inputs, :inputs]):
        moments[i, j] = fmean(values[keys[i][j]]) + slack * gaussian[keys[i][j]]
    moments[inputs:, inputs:] += slack / table.label_count * np.eye(table.label_count)
    whole = np.rint((moments + moments.T) * 2.0 ** (bits - 1)).astype(np.int64)
    return PseudoMoments(table.rows, table.columns, table.label_count, tuple(map(tuple, whole.tolist())))
