"""Linear equations in integers, solved exactly near given numbers."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpz_mat

__all__ = ["solved_near"]


def solved_near(system: list[list[int]], near: list[Fraction]) -> list[Fraction] | None:
    """A solution of linear equations whose free unknowns are those given; None without a solution.

    Args:
        system: for each equation the coefficients of the unknowns, then the right side.
        near: a number for each unknown.
    """
    reduced, denominator, rank = fmpz_mat(system).rref()
    unknowns = len(near)
    solution = list(near)
    for i in range(rank):
        row = [int(reduced[i, j]) for j in range(unknowns + 1)]
        pivot = next(j for j, entry in enumerate(row) if entry)
        if pivot == unknowns:
            return None
        rest = sum((entry * near[j] for j, entry in enumerate(row[:-1]) if entry and j != pivot), Fraction(0))
        solution[pivot] = (row[-1] - rest) / int(denominator)
    return solution
