"""Young's orthogonal form: the irreducible representations of S_n on standard tableaux.

For a partition of n, the basis consists of the standard tableaux T. With c_T(i) = column - row of the entry i
and the axial distance r = c_T(i+1) - c_T(i), the transposition s_i = (i, i+1) acts by

    s_i T = (1/r) T + sqrt(1 - 1/r^2) T',

where T' is T with i and i+1 exchanged; it is standard unless r = +-1, where its coefficient vanishes. The
blocks [[1/r, q], [q, -1/r]], q = sqrt(1 - 1/r^2), are symmetric and orthogonal.
"""

import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational

Partition = tuple[int, ...]
Tableau = tuple[int, ...]  # row of each of the entries 1..n, in order


def partitions(n: int, largest: int | None = None) -> Iterator[Partition]:
    """The partitions of n in decreasing lexicographic order: (n) first, (1, .., 1) last."""
    if n == 0:
        yield ()
        return
    for first in range(n if largest is None else min(n, largest), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def standard_tableaux(shape: Partition) -> list[Tableau]:
    """The standard tableaux of a shape, each as the rows of the entries 1..n: remove n from every corner."""
    if not shape:
        return [()]
    found: list[Tableau] = []
    for row, length in enumerate(shape):
        if row + 1 == len(shape) or shape[row + 1] < length:  # the end of this row is a corner
            smaller = (*shape[:row], length - 1, *shape[row + 1 :])
            found += [(*t, row) for t in standard_tableaux(tuple(part for part in smaller if part))]
    return found


def _contents(tableau: Tableau) -> list[int]:
    """The column minus the row of every entry; the column is the number of earlier entries in the row."""
    return [tableau[:i].count(row) - row for i, row in enumerate(tableau)]


@cache
def _exact_entries(r: int) -> tuple[Any, Any]:
    return rational(fmpq(1, r)), sqrt_rational(fmpq(r * r - 1, r * r))


def young_orthogonal_form(shape: Partition, exact: bool = False) -> list[npt.NDArray[Any]]:
    """The matrices of the transpositions (i, i+1), i = 1..n-1, each (d, d), symmetric and orthogonal.

    Args:
        shape: a partition of n >= 2, parts positive and decreasing.
        exact: Cyclotomic entries instead of float64.

    Raises:
        ValueError: if `shape` is not such a partition.
    """
    if sum(shape) < 2 or min(shape) < 1 or any(a < b for a, b in pairwise(shape)):
        raise ValueError(f"The shape must be a partition of n >= 2 in decreasing order; got {shape}.")
    tableaux = standard_tableaux(shape)
    index = {tableau: t for t, tableau in enumerate(tableaux)}
    d = len(tableaux)
    matrices: list[npt.NDArray[Any]] = []
    for i in range(sum(shape) - 1):
        matrix = np.full((d, d), rational(0) if exact else 0.0)
        for t, tableau in enumerate(tableaux):
            contents = _contents(tableau)
            r = contents[i + 1] - contents[i]
            diagonal, beside = _exact_entries(r) if exact else (1 / r, math.sqrt((r * r - 1) / (r * r)))
            matrix[t, t] = diagonal
            if abs(r) > 1:
                exchanged = (*tableau[:i], tableau[i + 1], tableau[i], *tableau[i + 2 :])
                matrix[index[exchanged], t] = beside
        matrices.append(matrix)
    return matrices
