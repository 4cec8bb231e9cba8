"""Best neurons that symmetries fix, where best neurons are not isolated.

Where the neurons of largest answer |M(x)|/|x|^2 form continua, Newton's method ends anywhere on them. But a symmetry
of the table permutes them, and those with g x = x or g x = -x are often isolated among each other: these are the ones
with coordinates in a small field. They are found in floats in the spaces of one symmetry, or of two, and refined there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import Columns, optimal_masses
from lemmata.certificates.operations.exact_equations import echelon
from lemmata.certificates.operations.sharp_optimum import Fixed, Floats, SharpOptimum, fixed, refined

__all__ = ["sharp_point", "special_points"]

STARTS, STEPS = 12, 3000
"""Of the ascent in each space."""
SPACES = 400
"""At most so many are searched, small ones first."""
PAIRED = 40
"""Of so many spaces the intersections are searched too."""
CLOSE = 1e-7
"""Relative to the best answer."""


def special_points(optimum: SharpOptimum) -> Fixed | None:
    """Points (m, N) of an optimal network whose neurons symmetries fix up to sign; None where none is found."""
    table, symmetries = optimum.table, optimum.symmetries
    rounded, best = optimum.floats()
    found: list[tuple[Floats, NDArray[np.int64]]] = []
    rng = np.random.default_rng(0)
    for basis in _spaces(np.asarray(symmetries.elements(), np.int64)[:, : table.size]):
        for point in _isolated(np.einsum("ai,kij,bj->kab", basis, rounded, basis), basis, best, rng):
            if all(min(np.abs(point - x).max(), np.abs(point + x).max()) > 1e-6 for x, _ in found):
                found.append((point, basis))
    if not found:
        return None
    points = np.array([x for x, _ in found])
    points /= np.linalg.norm(points, axis=1)[:, None]
    outputs = np.einsum("kij,ai,aj->ak", rounded, points, points)
    lengths = np.linalg.norm(outputs, axis=1)
    columns = Columns(table, np.asarray(symmetries.triple_orbits(), np.int64))
    shares, value, _ = optimal_masses(columns.of(points, outputs / lengths[:, None]), float(lengths.max()))
    if value < (1 - CLOSE / 10) * lengths.max():
        return None
    refinements = [sharp_point(optimum, *found[i]) for i in np.flatnonzero(shares > 1e-7)]
    kept = [point for point in refinements if point is not None]
    return np.array(kept, object) if len(kept) == len(refinements) else None


def _spaces(permutations: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Integer bases (e, N) of the spaces g x = x and g x = -x, and of intersections of two, small ones first."""
    N = permutations.shape[1]
    projections: dict[tuple[float, ...], Floats] = {}

    def add(equations: Floats) -> None:
        _, sizes, rows = np.linalg.svd(equations)
        basis = rows[sizes < 1e-9]
        if len(basis):
            projection = basis.T @ basis
            projections.setdefault(tuple(np.round(projection, 6).ravel() + 0.0), projection)

    for g in permutations:
        if (g != np.arange(N)).any():
            matrix = np.zeros((N, N))
            matrix[g, np.arange(N)] = 1
            add(matrix - np.eye(N))
            add(matrix + np.eye(N))
    for one, other in combinations(list(projections.values())[:PAIRED], 2):
        add(np.concatenate([np.eye(N) - one, np.eye(N) - other]))
    for projection in sorted(projections.values(), key=np.trace)[:SPACES]:
        basis = echelon(projection)
        whole = np.rint(basis).astype(np.int64)
        if np.abs(basis - whole).max() < 1e-7:
            yield whole


def _isolated(forms: Floats, basis: NDArray[np.int64], best: float, rng: np.random.Generator) -> Iterator[Floats]:
    """Points (N,) of a space at which the answer is the best one, isolated there: by ascents from random ones."""
    gram = (basis @ basis.T).astype(float)
    factor = np.linalg.inv(np.linalg.cholesky(gram)).T  # orthonormal coordinates y, coefficients factor y
    forms = np.einsum("ca,kcd,db->kab", factor, forms, factor)
    size = len(gram)
    for _ in range(STARTS):
        y = rng.normal(size=size)
        y /= np.linalg.norm(y)
        for _ in range(STEPS):
            images = forms @ y
            new = (images @ y) @ images + best / 2 * y
            new /= np.linalg.norm(new)
            moved, y = np.abs(new - y).max(), new
            if moved < 1e-13:
                break
        images = forms @ y
        outputs = images @ y
        if outputs @ outputs < (1 - CLOSE) * best:
            continue
        curvature = 2 * images.T @ images + np.einsum("k,kab->ab", outputs, forms) - best * np.eye(size)
        tangent = np.linalg.svd(y[None])[2][1:]
        if size == 1 or np.abs(np.linalg.eigvalsh(tangent @ curvature @ tangent.T)).min() > 1e-5 * best:
            yield factor @ y @ basis


def sharp_point(optimum: SharpOptimum, point: Floats, basis: NDArray[np.int64] | None = None) -> Fixed | None:
    """The zero of M(x).M x = phi^2 |x|^2 x near a point, with one coordinate 1; None without one.

    Args:
        optimum: gives M and phi^2.
        point: (N,), a best neuron in floats.
        basis: (e, N), of the space in which it is looked for; by default all.
    """
    matrices, square, bits = optimum.matrices(), optimum.square, optimum.bits
    basis = np.eye(len(point), dtype=np.int64) if basis is None else basis
    B = basis.astype(object)
    forms = B @ matrices @ B.T
    gram = B @ B.T
    start = np.linalg.lstsq(basis.T.astype(float), point, rcond=None)[0]
    one = int(np.argmax(np.abs(start)))
    start /= start[one]
    free = [i for i in range(len(start)) if i != one]

    def whole(y: Fixed) -> Fixed:
        result = np.full(len(start), 1 << bits, object)
        result[free] = y
        return result

    def residuals(y: Fixed, bits: int) -> Fixed:
        x = whole(y)
        images, dual = (forms @ x) >> bits, gram @ x
        outputs, length = (images @ x) >> bits, (dual @ x) >> bits
        return (outputs @ images - (square * length >> bits) * dual) >> bits

    if free:
        rounded, s = optimum.floats()
        f, g = basis @ rounded @ basis.T, gram.astype(float)
        images, dual = f @ start, g @ start
        outputs, length = images @ start, dual @ start
        derivative = 2 * images.T @ images + np.einsum("k,kab->ab", outputs, f)
        derivative -= s * (length * g + 2 * np.outer(dual, dual))
        y = refined(residuals, np.linalg.pinv(derivative[:, free]), fixed(start[free], bits), bits)
        if y is None:
            return None
        return whole(y) @ B
    return whole(np.zeros(0, object)) @ B
