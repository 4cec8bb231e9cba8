"""Packings of balls and ellipsoids: how many points at distance at least eps they hold, bounded, and examples.

A packing of a set has pairwise distances >= eps; it has at most as many points as any of these bounds says.

- Euclidean unit ball of R^d: (1 + 2/eps)^d, by volume.
- Ball of the 1-norm in R^d: C(2 d + k, k) with k = ceil(4/eps^2), by sparse averages
  (`lemmata.numerics.learning.covers`): each point is closer than eps/2 to a mean of k of the vectors 0, e_j, -e_j, and
  no two points to the same one. The logarithm is at most 8 (1 + ln(1 + 2 d eps^2))/eps^2. The Euclidean ball has no
  such bound: its packings grow exponentially in d.
- Ellipsoid with semi-axes s_i: the product of (35/6) s_i/eps over the axes s_i >= 2 eps/5, by volume after the others
  are dropped. The logarithm is at most (25/4) ln(7/3) sum_i s_i^2/eps^2, whatever the dimension.

A largest packing with distances >= eps leaves no point of the set at distance >= eps from all of its points. So the
same bounds hold for the number of balls of radius eps that cover the set.

Source: qstr, lemma-41 and proposition-35 (proofs/packings.md of that chapter).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb
from typing import Any, Literal

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning.generalisation import Exact, Table

__all__ = [
    "ellipsoid_bound",
    "ellipsoid_estimate",
    "greedy_packing",
    "least_squared_distance",
    "minimal_vectors",
    "sparse_bound",
    "sparse_estimate",
    "volume_bound",
]

Integers = NDArray[np.int64]


def minimal_vectors(lattice: Literal["D4", "E8"]) -> Integers:
    """The shortest vectors of a lattice in integer coordinates: shape (24, 4) of norm sqrt 2, (240, 8) of norm sqrt 8.

    D4 has the integer vectors of even sum; E8, doubled, the integer vectors of equal parity with a sum divisible by 4.

    Raises:
        ValueError: for another lattice.
    """
    if lattice not in ("D4", "E8"):
        raise ValueError(f"The lattices with a table of shortest vectors are D4 and E8, not {lattice!r}.")
    d, size = (4, 1) if lattice == "D4" else (8, 2)
    rows = []
    for i, j in combinations(range(d), 2):
        for first, second in product((size, -size), repeat=2):
            row = [0] * d
            row[i], row[j] = first, second
            rows.append(row)
    if lattice == "E8":
        rows += [list(signs) for signs in product((1, -1), repeat=8) if sum(signs) % 4 == 0]
    return np.array(rows, dtype=np.int64)


def least_squared_distance(points: Table) -> Any:
    """The least squared distance between two of the points, exactly; shape (points, d) of exact numbers.

    Raises:
        ValueError: for fewer than two points, another shape, or floats.
    """
    table = as_exact(points)
    if table.ndim != 2 or len(table) < 2:
        raise ValueError(f"Distances need at least two points, in the rows of a table, not the shape {table.shape}.")
    gram = table @ table.T
    squares = gram.diagonal()
    return min(squares[i] + squares[j] - 2 * gram[i, j] for i, j in combinations(range(len(table)), 2))


def volume_bound(d: int, eps: Exact) -> fmpq:
    """(1 + 2/eps)^d, which no packing of the Euclidean unit ball of R^d exceeds (attained for d = 1 if 2/eps is whole).

    Raises:
        ValueError: if d < 1 or eps <= 0.
    """
    return (1 + 2 / _distance(d, eps)) ** d


def sparse_bound(d: int, eps: Exact) -> int:
    """C(2 d + k, k) with k = ceil(4/eps^2), which no packing of the ball of the 1-norm of R^d exceeds.

    Raises:
        ValueError: as `volume_bound`.
    """
    k = int((4 / _distance(d, eps) ** 2).ceil())
    return comb(2 * d + k, k)


def sparse_estimate(d: int, eps: Exact) -> arb:
    """(1 + ln(1 + 2 d eps^2))/eps^2; eight times it bounds the logarithm of `sparse_bound` for eps <= 2.

    Raises:
        ValueError: as `volume_bound`.
    """
    square = _distance(d, eps) ** 2
    return (1 + arb(1 + 2 * d * square).log()) / square


def ellipsoid_bound(squared_axes: Sequence[Exact], eps: Exact) -> arb:
    """The sum of ln((35/6) s_i/eps) over the axes s_i >= 2 eps/5, which bounds the logarithm of any packing.

    Args:
        squared_axes: the squares s_i^2 of the semi-axes, exact; 0 for directions in which the ellipsoid is flat.
        eps: the least distance.

    Raises:
        ValueError: if an entry is negative, none is given, or eps <= 0.
    """
    squares, square = _squared_axes(squared_axes), _distance(len(squared_axes), eps) ** 2
    kept = [s for s in squares if 25 * s >= 4 * square]
    return sum((arb(fmpq(35, 6) ** 2 * s / square).log() / 2 for s in kept), start=arb(0))


def ellipsoid_estimate(squared_axes: Sequence[Exact], eps: Exact) -> arb:
    """(25/4) ln(7/3) sum_i s_i^2/eps^2, which is at least `ellipsoid_bound`, with equality at s_i = 2 eps/5.

    Raises:
        ValueError: as `ellipsoid_bound`.
    """
    squares, square = _squared_axes(squared_axes), _distance(len(squared_axes), eps) ** 2
    return arb(fmpq(25, 4) * sum(squares, start=fmpq(0)) / square) * arb(fmpq(7, 3)).log()


def greedy_packing(points: Table, eps: Exact) -> list[int]:
    """The numbers of the points that are at distance >= eps from all that were taken before, exactly.

    Args:
        points: shape (points, d) of exact numbers, looked at in order.
        eps: the least distance.

    Raises:
        ValueError: for another shape, floats, or eps <= 0.
    """
    table = as_exact(points)
    if table.ndim != 2:
        raise ValueError(f"Points stand in the rows of a table, which does not have the shape {table.shape}.")
    square = _distance(1, eps) ** 2
    taken: list[int] = []
    for i, point in enumerate(table):
        if all(((point - table[j]) ** 2).sum() >= square for j in taken):
            taken.append(i)
    return taken


def _distance(d: int, eps: Exact) -> fmpq:
    [value] = as_exact([eps]).tolist()
    if d < 1 or not value > 0:
        raise ValueError(f"A packing needs a dimension d >= 1 and a distance eps > 0, not {d} and {eps}.")
    return value


def _squared_axes(squared_axes: Sequence[Exact]) -> list[fmpq]:
    squares = as_exact(list(squared_axes)).tolist()
    if not squares or any(s < 0 for s in squares):
        raise ValueError("An ellipsoid has at least one axis, and no square of an axis is negative.")
    return squares
