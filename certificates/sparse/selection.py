"""Whether one head can attend uniformly to given positions and to no other: the key of largest margin, or why not.

A key q gives position t the score <q, v_t>. It selects I with the margin m if all scores on I are equal and all others
lie lower by m ||q|| or more. With the affine hull A of the v_i, i in I, and the convex hull C of the others,

    largest margin = distance of A and C.

For a in A and p in C the score of a is that on I, and that of p a mean of the others, so that m ||q|| <= <q, a - p> <=
||q|| ||a - p||; and the closest pair gives the key q = a - p with the margin ||a - p||. If A and C meet, no key selects
I, whatever its norm, and the coefficients of a common point are the proof: Farkas multipliers of the linear system.

The closest pair is found exactly, by Wolfe's algorithm for the point of least norm in a polytope (P. Wolfe, Finding the
nearest point in a polytope, 1976) over the rationals, on the differences to A. No tolerance occurs, and the number of
positions enters by one pass of inner products in each step. What is returned has been checked by `verify_selection`.

A coherence Delta of unit vectors below 1/(2 s - 1) is enough: with the dual key u, which is 1 on I, |<u, v_t>| is at
most s Delta/(1 - (s - 1) Delta) < 1 elsewhere.

Source: variable-creation, lemma-A.19a.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from lemmata.certificates.duality.inequalities import Constraint, FarkasCertificate, verify
from lemmata.constructions.sparse.functions import checked_indices
from lemmata.constructions.sparse.positions import Positions
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.linear import inverse, pivot_columns
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.exact.systems import Array

__all__ = ["Selection", "farkas_system", "select", "verify_selection"]


@dataclass(frozen=True, eq=False)
class Selection:
    """The closest points of the affine hull of the positions I and the convex hull of the others.

    Attributes:
        indices: I.
        affine: coefficients of sum 1 of the point a = sum_i affine[i] v_i of the affine hull, in the order of I.
        convex: nonnegative coefficients of sum 1 of the point p = sum_t convex[t] v_t, by position; others are 0.
        key: a - p, exact, shape (d,); it is 0 if no head can select I.
    """

    indices: tuple[int, ...]
    affine: tuple[fmpq, ...]
    convex: Mapping[int, fmpq]
    key: Array

    @property
    def possible(self) -> bool:
        """Whether some head selects I."""
        return bool((self.key != 0).any())

    @property
    def squared_margin(self) -> fmpq:
        """The square of the largest margin of a key of norm 1, exact; 0 if there is none."""
        return (self.key * self.key).sum()


def select(positions: Positions, indices: Iterable[int]) -> Selection:
    """The key of largest margin for the positions I, or the proof that there is none; see the module.

    Args:
        positions: exact vectors, of any length.
        indices: I, fewer than all positions.

    Raises:
        ValueError: for indices that are out of range or repeated, or if no position is left over.
    """
    read = checked_indices(positions.count, indices)
    if len(read) == positions.count:
        raise ValueError("All positions are selected, so that there is nothing to tell them from.")
    hull = _AffineHull(positions.rows(list(read)))
    others = np.ones(positions.count, dtype=bool)
    others[list(read)] = False
    corral, weights = _closest(positions, np.flatnonzero(others), hull)
    point = exact_matmul(weights[None, :], positions.rows(corral))[0]
    affine = hull.coefficients(point)
    convex = {t: weight for t, weight in zip(corral, weights.tolist(), strict=True) if weight != 0}
    result = Selection(read, tuple(affine.tolist()), convex, hull.residual(point))
    verify_selection(positions, result)
    return result


def verify_selection(positions: Positions, selection: Selection) -> None:
    """The check of a selection by its definition, exactly: the two points, and the scores of all positions.

    Raises:
        ValueError: naming the first line that fails.
    """
    read, others = list(selection.indices), list(selection.convex)
    if sum(selection.affine, start=fmpq(0)) != 1 or sum(selection.convex.values(), start=fmpq(0)) != 1:
        raise ValueError("The coefficients of a point do not add up to 1.")
    if set(read) & set(others) or any(weight < 0 for weight in selection.convex.values()):
        raise ValueError("The coefficients off the selected positions are not those of a mean.")
    a = exact_matmul(np.array([selection.affine], dtype=object), positions.rows(read))[0]
    p = exact_matmul(np.array([[*selection.convex.values()]], dtype=object), positions.rows(others))[0]
    if not (a - p == selection.key).all():
        raise ValueError("The key is not the difference of the two points.")
    products, unit = positions.products(selection.key)
    on = products[read]
    if not (on == on[0]).all():
        raise ValueError("The key gives the selected positions different scores.")
    rest = np.ones(positions.count, dtype=bool)
    rest[read] = False
    gap = (int(on[0]) - max(int(x) for x in products[rest])) * unit
    if selection.possible and gap < selection.squared_margin:
        raise ValueError(f"Another position comes as close as {gap}, but the margin is {selection.squared_margin}.")


def farkas_system(positions: Positions, selection: Selection) -> tuple[list[Constraint], FarkasCertificate]:
    """The linear conditions on a key over the positions of an impossible selection, and multipliers that refute them.

    The unknowns are the coordinates of the key; the plain checker of `lemmata.certificates.duality.inequalities` has
    accepted the pair. Positions whose coefficients are 0 are left out, which makes the claim stronger.

    Raises:
        ValueError: if a head can select the positions.
    """
    if selection.possible:
        raise ValueError("There is a key, so that nothing is refuted.")
    first, *rest = selection.indices
    scale = common_denominator([*selection.affine, *selection.convex.values()])
    constraints, multipliers = [], {}
    for t, weight in zip(rest, selection.affine[1:], strict=True):
        name = f"position {t} scores as position {first}"
        constraints.append(_difference(positions, name, t, first, "="))
        multipliers[name] = int((weight * scale).p)
    for t, weight in selection.convex.items():
        name = f"position {t} scores below position {first}"
        constraints.append(_difference(positions, name, first, t, ">"))
        multipliers[name] = int((weight * scale).p)
    certificate = FarkasCertificate(multipliers)
    verify(constraints, certificate)
    return constraints, certificate


def _difference(positions: Positions, name: str, i: int, j: int, relation: str) -> Constraint:
    """<q, v_i - v_j> relation 0, in integers: all are scaled alike, so that multipliers are not changed."""
    row = positions.rows(i) - positions.rows(j)
    scale = positions.rows_denominator
    coefficients = {f"q{number}": int((x * scale).p) for number, x in enumerate(row.tolist())}
    return Constraint(name, coefficients, relation)  # type: ignore[arg-type]


class _AffineHull:
    """The affine hull of rows; coordinates of the closest point of it."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        steps = rows[1:] - rows[0]
        self.free = pivot_columns(steps.T) if len(steps) else []
        self.steps = steps[self.free]
        self.gram = inverse(exact_matmul(self.steps, self.steps.T)) if self.free else None

    def coefficients(self, point: Array) -> Array:
        """Those of the closest point of the hull, of sum 1, shape (s,)."""
        result = as_exact(np.zeros(len(self.rows), dtype=np.int64))
        if self.gram is not None:
            shares = exact_matmul(self.gram, exact_matmul(self.steps, (point - self.rows[0])[:, None]))[:, 0]
            result[[place + 1 for place in self.free]] = shares
        result[0] = 1 - result.sum()
        return result

    def residual(self, point: Array) -> Array:
        """The closest point of the hull minus the point; orthogonal to the hull."""
        return exact_matmul(self.coefficients(point)[None, :], self.rows)[0] - point


def _closest(positions: Positions, others: Array, hull: _AffineHull) -> tuple[list[int], Array]:
    """The positions and weights of the mean of the others that is closest to the hull, by Wolfe's algorithm.

    The points are the residuals w_t of the others; <w_t, w> = <v_i, w> - <v_t, w> for w orthogonal to the hull. Each
    round shortens w; one that did not would be an error, which ends the search and is left to `verify_selection`.
    """
    corral, weights, shortest = [int(others[0])], as_exact([1]), None
    while True:
        w = hull.residual(exact_matmul(weights[None, :], positions.rows(corral))[0])
        products, _ = positions.products(w)
        best = int(others[np.argmax(products[others])])  # the smallest <w_t, w>
        length = (w * w).sum()
        longer = shortest is not None and length >= shortest
        if longer or length == 0 or products[best] == products[corral[0]] or best in corral:
            return corral, weights
        shortest = length
        corral, weights = [*corral, best], np.concatenate([weights, as_exact([0])])
        corral, weights = _minor_cycles(positions, hull, corral, weights)


def _minor_cycles(
    positions: Positions, hull: _AffineHull, corral: list[int], weights: Array
) -> tuple[list[int], Array]:
    """The corral without the points that keep its point of least norm outside, and the weights of that point."""
    while True:
        target = _affine_minimum(np.array([hull.residual(row) for row in positions.rows(corral)], dtype=object))
        if all(x > 0 for x in target.tolist()):
            return corral, target
        steps = [x / (x - y) for x, y in zip(weights.tolist(), target.tolist(), strict=True) if y <= 0 and x != y]
        step = min([fmpq(1), *steps])
        weights = weights + step * (target - weights)
        kept = [place for place, x in enumerate(weights.tolist()) if x > 0]
        corral, weights = [corral[place] for place in kept], weights[kept]


def _affine_minimum(points: Array) -> Array:
    """Coefficients of sum 1 of the point of least norm in the affine hull of independent points."""
    steps = points[1:] - points[0]
    if not len(steps):
        return as_exact([1])
    gram = inverse(exact_matmul(steps, steps.T))
    shares = -exact_matmul(gram, exact_matmul(steps, points[0][:, None]))[:, 0]
    return np.concatenate([[1 - shares.sum()], shares])
