"""Whether a table is that of a group with rows, columns and labels numbered in another way, and how.

A Latin square P is isotopic to the table of a group G if P[a, b] = gamma^-1(alpha(a) beta(b)) for bijections alpha,
beta and gamma. Take any row a_0 and column b_0: the product P[a, b_0] * P[a_0, b] = P[a, b] of labels has the unit
P[a_0, b_0], and is isomorphic to G if and only if P is isotopic to G (Albert's theorem: a loop that is isotopic to a
group is isomorphic to it). An isomorphism phi gives alpha(a) = phi(P[a, b_0]), beta(b) = phi(P[a_0, b]) and gamma =
phi. It is sought among images of generators, of the same orders and with as many elements that commute with them, and
verified on the whole table.

Source: A. A. Albert, Quasigroups I, Transactions of the American Mathematical Society 54 (1943), theorem 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.groups.tables import FiniteGroup

__all__ = ["Isotopism", "isotopism"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Isotopism:
    """Rows, columns and labels of a table as elements of a group, alpha(a) beta(b) = gamma(P[a, b]).

    Attributes:
        rows, columns, labels: alpha, beta, gamma, shape (n,) each.
    """

    rows: IntArray
    columns: IntArray
    labels: IntArray


def isotopism(found: ArrayLike, group: FiniteGroup) -> Isotopism | None:
    """How the table of labels ``found``, shape (n, n), is that of the group in another numbering; None if it is not."""
    P, n = np.asarray(found), len(group.table)
    everything = np.arange(n)
    if P.shape != (n, n) or any(
        (np.sort(P, axis=axis) != np.expand_dims(everything, 1 - axis)).any() for axis in (0, 1)
    ):
        return None
    rows, columns = P[:, 0], P[0]
    product = np.empty((n, n), dtype=np.int64)
    product[np.ix_(rows, columns)] = P
    try:
        loop = FiniteGroup(product)
    except ValueError:  # no group at all
        return None
    for phi in _homomorphisms(loop, group):
        if np.array_equal(group.table[np.ix_(phi, phi)], phi[loop.table]):
            return Isotopism(phi[rows], phi[columns], phi)
    return None


def _orders(group: FiniteGroup) -> IntArray:
    """The orders of all elements."""
    orders, powers = np.zeros(len(group.table), dtype=np.int64), np.arange(len(group.table))
    for k in range(1, len(group.table) + 1):
        orders[(powers == group.identity) & (orders == 0)] = k
        powers = group.table[powers, np.arange(len(powers))]
    return orders


def _kinds(group: FiniteGroup) -> IntArray:
    """The order of each element, then how many elements commute with it, in one number; isomorphisms keep both."""
    return _orders(group) * (len(group.table) + 1) + (group.table == group.table.T).sum(axis=1)


def _homomorphisms(source: FiniteGroup, target: FiniteGroup) -> Iterator[IntArray]:
    """Bijections that follow from images of generators, of equal kinds; that they are homomorphisms is not checked."""
    kinds, others = _kinds(source), _kinds(target)
    if not np.array_equal(np.sort(kinds), np.sort(others)):
        return

    def extended(chosen: list[tuple[int, int]]) -> Iterator[IntArray]:
        phi = _generated(source, target, chosen)
        if phi is None:
            return
        missing = np.flatnonzero(phi < 0)
        if not len(missing):
            yield phi
            return
        x = int(missing[kinds[missing].argmax()])
        for y in np.setdiff1d(np.flatnonzero(others == kinds[x]), phi):
            yield from extended([*chosen, (x, int(y))])

    yield from extended([])


def _generated(source: FiniteGroup, target: FiniteGroup, chosen: list[tuple[int, int]]) -> IntArray | None:
    """The map of the products of the chosen elements, -1 elsewhere; None if words disagree or images coincide."""
    phi = np.full(len(source.table), -1, dtype=np.int64)
    phi[source.identity] = target.identity
    queue = [source.identity]
    for a in queue:
        for x, y in chosen:
            c, image = int(source.table[a, x]), int(target.table[phi[a], y])
            if phi[c] < 0:
                phi[c] = image
                queue.append(c)
            elif phi[c] != image:
                return None
    return phi if len(set(phi[queue].tolist())) == len(queue) else None
