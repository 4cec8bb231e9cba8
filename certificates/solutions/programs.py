"""Programs over the rationals with equations and a cone, their duals, and the exact test of a point.

A program is

    min c.z + d   such that   E z = f   and   G z + h lies in K,

with K a product of half-lines and of cones of positive semidefinite matrices, which are written with all their entries,
row by row. For u free and v in K with E'u + G'v = c, every feasible z has

    c.z + d = u.E z + v.G z + d = u.f + v.(G z + h) - v.h + d >= u.f - v.h + d,

since K is its own dual. So the least value of h.v - u.f - d over these (u, v), a program of the same form, is minus the
best lower bound, and each of its points is a proof of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm

from flint import fmpq, fmpq_mat

__all__ = ["ConeProgram", "Vector", "block_matrices", "dual", "is_feasible", "is_semidefinite", "recession"]

Vector = tuple[fmpq, ...]


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """The program of the module.

    Attributes:
        cost: c, n numbers.
        offset: d.
        equations: E, shape (r, n).
        right: f, r numbers.
        rows: G, shape (k, n); the rows of a matrix come with all its entries, and are symmetric.
        shift: h, k numbers.
        lines: the number of half-lines, which are the first rows of G.
        orders: of the matrices, in the order of the rows that follow.

    Raises:
        ValueError: for shapes that do not fit.
    """

    cost: Vector
    offset: fmpq
    equations: fmpq_mat
    right: Vector
    rows: fmpq_mat
    shift: Vector
    lines: int
    orders: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        n, count = len(self.cost), self.lines + sum(order**2 for order in self.orders)
        shapes = (self.equations.nrows(), self.equations.ncols()), (self.rows.nrows(), self.rows.ncols())
        if shapes != ((len(self.right), n), (len(self.shift), n)) or count != len(self.shift):
            raise ValueError(
                f"A program in {n} variables has equations ({len(self.right)}, {n}) and rows ({count}, {n}), but the "
                f"shapes are {shapes[0]} and {shapes[1]}, with {len(self.shift)} shifts."
            )

    def value(self, point: Sequence[fmpq]) -> fmpq:
        """c.z + d."""
        return sum((a * b for a, b in zip(self.cost, point, strict=True)), start=self.offset)

    def residuals(self, point: Sequence[fmpq]) -> list[fmpq]:
        """E z - f."""
        return [a - b for a, b in zip(_product(self.equations, point), self.right, strict=True)]

    def image(self, point: Sequence[fmpq]) -> list[fmpq]:
        """G z + h."""
        return [a + b for a, b in zip(_product(self.rows, point), self.shift, strict=True)]

    @cached_property
    def independent(self) -> list[int]:
        """Numbers of equations that generate all of them."""
        reduced, found = self.equations.transpose().rref()
        return [next(j for j in range(reduced.ncols()) if reduced[i, j] != 0) for i in range(found)]


def dual(program: ConeProgram) -> ConeProgram:
    """The program whose feasible points prove lower bounds: minus their values.

    Its variables are u, then the multipliers of the half-lines, then the lower triangles of the matrices, row by row.
    """
    n, free = len(program.cost), len(program.right)
    columns = [[program.equations[i, j] for j in range(n)] for i in range(free)]
    cost, places = [-f for f in program.right], []  # of each row of G: the variable that is its multiplier
    for i in range(program.lines):
        places.append(len(columns))
        columns.append([program.rows[i, j] for j in range(n)])
        cost.append(program.shift[i])
    start = program.lines
    for order in program.orders:
        lower: dict[tuple[int, int], int] = {}
        for i in range(order):
            for j in range(i + 1):
                lower[i, j] = lower[j, i] = len(columns)
                row, twice = start + i * order + j, 1 if i == j else 2
                columns.append([twice * program.rows[row, m] for m in range(n)])
                cost.append(twice * program.shift[row])
        places += [lower[i, j] for i in range(order) for j in range(order)]
        start += order**2
    size = len(columns)
    rows = fmpq_mat(len(places), size)
    for i, place in enumerate(places):
        rows[i, place] = fmpq(1)
    equations = fmpq_mat(n, size, [columns[j][i] for i in range(n) for j in range(size)])
    zeros = (fmpq(0),) * len(places)
    return ConeProgram(
        tuple(cost), -program.offset, equations, program.cost, rows, zeros, program.lines, program.orders
    )


def recession(program: ConeProgram) -> ConeProgram:
    """The directions in which one can go on forever, scaled to lower the value by 1: E z = 0, G z in K, c.z = -1.

    One direction of the dual proves that a program has no feasible point; one of a program with a feasible point proves
    that it is unbounded.
    """
    n, r = len(program.cost), len(program.right)
    entries = [program.equations[i, j] for i in range(r) for j in range(n)] + list(program.cost)
    right = (*(fmpq(0),) * r, fmpq(-1))
    zeros = (fmpq(0),) * len(program.shift)
    return ConeProgram(
        (fmpq(0),) * n,
        fmpq(0),
        fmpq_mat(r + 1, n, entries),
        right,
        program.rows,
        zeros,
        program.lines,
        program.orders,
    )


def is_feasible(program: ConeProgram, point: Sequence[fmpq]) -> bool:
    """Whether E z = f and G z + h lies in K, decided in exact arithmetic.

    Raises:
        ValueError: for a point of another length.
    """
    if len(point) != len(program.cost):
        raise ValueError(f"A point has {len(program.cost)} coordinates, not {len(point)}.")
    if any(program.residuals(point)):
        return False
    image = program.image(point)
    return min(image[: program.lines], default=fmpq(0)) >= 0 and all(
        is_semidefinite(matrix) for matrix in block_matrices(program, image)
    )


def block_matrices(program: ConeProgram, image: Sequence[fmpq]) -> Iterator[list[list[fmpq]]]:
    """The matrices in G z + h, one after the other."""
    start = program.lines
    for order in program.orders:
        yield [list(image[start + i * order : start + (i + 1) * order]) for i in range(order)]
        start += order**2


def is_semidefinite(matrix: Sequence[Sequence[fmpq]]) -> bool:
    """Whether a matrix of rational numbers is symmetric and positive semidefinite.

    The elimination is that of Bareiss, in integers: each pivot is positive, or zero with a column of zeros.
    """
    n = len(matrix)
    if any(matrix[i][j] != matrix[j][i] for i in range(n) for j in range(i)):
        return False
    unit = lcm(*(int(x.q) for row in matrix for x in row))
    M = [[int(x.p) * (unit // int(x.q)) for x in row] for row in matrix]
    previous = 1
    for k in range(n):
        pivot = M[k][k]
        if pivot < 0 or (pivot == 0 and any(M[i][k] for i in range(k + 1, n))):
            return False
        if pivot:
            for i in range(k + 1, n):
                for j in range(k + 1, i + 1):
                    M[i][j] = M[j][i] = (pivot * M[i][j] - M[i][k] * M[j][k]) // previous
            previous = pivot
    return True


def _product(matrix: fmpq_mat, point: Sequence[fmpq]) -> list[fmpq]:
    if not matrix.nrows() or not matrix.ncols():
        return [fmpq(0)] * matrix.nrows()
    column = matrix * fmpq_mat(len(point), 1, list(point))
    return [column[i, 0] for i in range(column.nrows())]
