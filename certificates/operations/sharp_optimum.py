"""The optimum of a table to thousands of bits, by Newton's method on the equations of optimality.

With q >= 0 of sum 1 constant on the orbits of triples, M_k the forms of sum q h, and neurons x_i of length 1 with
shares p_i, an optimal pair satisfies, where phi^2 = 27/4 gamma^2,

    sum_k M_k(x_i) M_k x_i = phi^2 x_i,    sum_i p_i sum_k H_k(x_i) M_k(x_i) = phi^2 on each orbit with q > 0,

H the forms of the mean of h over the orbit. The orbits with q > 0 and the neurons are those of a certificate. First
steps are taken in floating point (least squares: where optima are not isolated it goes to a near one); then the inverse
stays as it is, the equations are evaluated in integers, and each step gains as many bits as the first ones reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import Columns, optimal_masses
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries

__all__ = ["SharpOptimum", "fixed", "refined", "sharp_optimum"]

Floats = NDArray[np.float64]
Fixed = NDArray[Any]
"""Numbers times 2^bits, as Python integers."""

USED = 1e-5
"""An orbit is used if its multiplier is above this share of the mean."""
LOOSE, TIGHT = 1e-4, 1e-9
"""How far answers and margins may be from the best, in the rounded certificate and after Newton's steps."""
RANK = 1e-6
"""Smaller singular values, relative to the largest, count as zero."""
SHARP = 120
"""Bits that the residuals may have at the end."""


@dataclass(frozen=True, eq=False)
class SharpOptimum:
    """An optimal pair, in integers times 2^-bits.

    Attributes:
        table, symmetries: the table, and those that everything is averaged over.
        used: the orbits of triples with a positive multiplier, (o,).
        counts: their sizes, (o,).
        forms: the sum of the forms of h over each of them, (o, C, N, N), integers.
        square: phi^2.
        multipliers: of each triple in each orbit, (o,), of sum 1 over all triples.
        points: x_i, (m, N), before they are spread over the symmetries.
        freedom: the dimension of the optima near this one.
        bits: of the fixed point.
    """

    table: Operation
    symmetries: OperationSymmetries
    used: NDArray[np.int64]
    counts: NDArray[np.int64]
    forms: NDArray[np.int64]
    square: int
    multipliers: Fixed
    points: Fixed
    freedom: int
    bits: int

    def matrices(self) -> Fixed:
        """M_k, (C, N, N)."""
        return np.tensordot(self.multipliers, self.forms.astype(object), 1)

    def floats(self) -> tuple[Floats, float]:
        """M_k and phi^2, rounded."""
        matrices, shift = self.matrices(), self.bits - 60
        rounded = np.array([int(z) >> shift for z in matrices.flat], float).reshape(matrices.shape) / 2.0**60
        return rounded, (self.square >> shift) / 2.0**60


def fixed(numbers: Floats, bits: int) -> Fixed:
    """Floats times 2^bits, as integers."""
    return np.vectorize(lambda x: int(x * 2.0**60) << (bits - 60), otypes=[object])(numbers)


def sharp_optimum(
    table: Operation,
    symmetries: OperationSymmetries,
    q: Floats,
    network: OperationNetwork,
    *,
    bits: int,
) -> SharpOptimum | None:
    """The optimum near the multipliers and the network of a certificate, or None where Newton's method fails.

    Args:
        table: the table.
        symmetries: of the table; q is constant on their orbits.
        q: multipliers, (T,).
        network: that is optimal up to about 10^-7.
        bits: of the fixed point.
    """
    orbits = np.asarray(symmetries.triple_orbits(), np.int64)
    columns = Columns(table, orbits)
    x = np.concatenate([np.asarray(network.u, float), np.asarray(network.v, float)], axis=1)
    w = np.asarray(network.w, float)
    points = _representatives(x, w, np.asarray(symmetries.elements(), np.int64))
    weights: Floats = np.bincount(orbits, np.asarray(q, float) / float(np.sum(q))).astype(np.float64)
    for tolerance in (LOOSE, TIGHT):
        system = _selected(columns, weights, points, tolerance)
        if system is None:
            return None
        equations, unknowns = system
        unknowns, inverse, freedom = equations.polished(unknowns)
        multipliers, points, _, _ = equations.parts(unknowns)
        points = points / np.linalg.norm(points, axis=1)[:, None]
        weights = np.zeros(len(weights))
        weights[equations.used] = multipliers * equations.counts
        if weights.min() < 0:
            return None
    found = refined(equations.residuals, inverse, fixed(unknowns, bits), bits)
    if found is None:
        return None
    multipliers, points, _, square = equations.parts(found)
    used, counts = equations.used, equations.counts
    return SharpOptimum(table, symmetries, used, counts, equations.forms, square, multipliers, points, freedom, bits)


def refined(residuals: Any, inverse: Floats, unknowns: Fixed, bits: int) -> Fixed | None:
    """The zero near some unknowns of equations in fixed point, with a fixed inverse of their derivative, or None."""
    best = bits
    for _ in range(bits):
        rest = residuals(unknowns, bits)
        size = max(abs(int(r)) for r in rest).bit_length()
        if size <= SHARP // 2:
            return unknowns
        if size >= best:
            return unknowns if size <= SHARP else None
        best = size
        shift = max(size - 50, 0)
        step = inverse @ np.array([float(int(r) >> shift) for r in rest])
        unknowns = unknowns - np.array([(int(s * 2**20) << shift) >> 20 for s in step], object)
    return None


def _representatives(x: Floats, w: Floats, permutations: NDArray[np.int64]) -> Floats:
    """Unit x of neurons, one of each orbit under the symmetries."""
    x = x / np.linalg.norm(x, axis=1)[:, None]
    neurons = np.concatenate([x, w / np.linalg.norm(w, axis=1)[:, None]], axis=1)
    flipped = np.concatenate([-x, neurons[:, x.shape[1] :]], axis=1)
    left, found = np.arange(len(x)), []
    while len(left):
        images = np.empty(permutations.shape)
        images[np.arange(len(permutations))[:, None], permutations] = neurons[left[0]]
        found.append(x[left[0]])
        near = [min(np.abs(images - one[i]).max(axis=1).min() for one in (neurons, flipped)) < 1e-6 for i in left]
        left = left[~np.array(near)]
    return np.array(found)


@dataclass(frozen=True, eq=False)
class _Equations:
    """The equations of optimality for some orbits; unknowns are multipliers, points, shares and phi^2 in a row."""

    used: NDArray[np.int64]
    counts: NDArray[np.int64]
    forms: NDArray[np.int64]
    size: int

    def parts(self, unknowns: Fixed) -> tuple[Any, Any, Any, Any]:
        """Multipliers (o,), points (m, N), shares (m,) and phi^2."""
        o, N = len(self.used), self.size
        m = (len(unknowns) - o - 1) // (N + 1)
        return unknowns[:o], unknowns[o : o + m * N].reshape(m, N), unknowns[o + m * N : -1], unknowns[-1]

    def residuals(self, unknowns: Fixed, bits: int) -> Fixed:
        """The left sides of the equations, in fixed point."""
        q, x, p, square = self.parts(unknowns)
        forms, one = self.forms.astype(object), 1 << bits
        matrices = np.tensordot(q, forms, 1)
        stationary, lengths, means = [], [], -square * self.counts.astype(object)
        for point, share in zip(x, p, strict=True):
            images = (matrices @ point) >> bits
            outputs = (images @ point) >> bits
            stationary.append((outputs @ images - square * point) >> bits)
            lengths.append(((point @ point) >> bits) - one)
            answers = (((forms @ point) @ point >> bits) @ outputs) >> bits
            means = means + ((share * answers) >> bits)
        sums = [self.counts.astype(object) @ q - one, sum(p) - one]
        return np.concatenate([*stationary, lengths, means, sums])

    def derivative(self, unknowns: Floats) -> Floats:
        """The derivative of the equations, in floats."""
        q, x, p, square = self.parts(unknowns)
        (m, N), o = x.shape, len(self.used)
        matrices = np.tensordot(q, self.forms, 1)
        result = np.zeros((m * N + m + o + 2, len(unknowns)))
        means = slice(m * N + m, m * N + m + o)
        for a, (point, share) in enumerate(zip(x, p, strict=True)):
            images, by_orbit = matrices @ point, self.forms @ point
            outputs, answers = images @ point, by_orbit @ point
            rows, columns = slice(a * N, (a + 1) * N), slice(o + a * N, o + (a + 1) * N)
            result[rows, :o] = (answers @ images + np.einsum("k,oki->oi", outputs, by_orbit)).T
            curvature = 2 * images.T @ images + np.einsum("k,kij->ij", outputs, matrices)
            result[rows, columns] = curvature - square * np.eye(N)
            result[rows, -1] = -point
            result[m * N + a, columns] = 2 * point
            result[means, :o] += share * answers @ answers.T
            result[means, columns] = 2 * share * (np.einsum("oki,k->oi", by_orbit, outputs) + answers @ images)
            result[means, o + m * N + a] = answers @ outputs
        result[means, -1] = -self.counts
        result[-2, :o] = self.counts
        result[-1, o + m * N : -1] = 1
        return result

    def polished(self, unknowns: Floats) -> tuple[Floats, Floats, int]:
        """The unknowns after steps of Gauss and Newton, the inverse of the derivative there, and its defect."""
        left = np.zeros((0, 0))
        defect = 0
        for _ in range(12):
            rest = self.residuals(fixed(unknowns, 200), 200).astype(float) / 2.0**200
            left, defect = _inverse(self.derivative(unknowns))
            step = left @ rest
            unknowns = unknowns - step
            if np.abs(step).max() < 1e-14:
                break
        return unknowns, left, defect


def _inverse(matrix: Floats) -> tuple[Floats, int]:
    """The pseudo-inverse, and by how much the rank is less than the number of columns."""
    U, sizes, V = np.linalg.svd(matrix, full_matrices=False)
    kept = sizes > RANK * sizes[0]
    return (V[kept].T / sizes[kept]) @ U[:, kept].T, matrix.shape[1] - int(kept.sum())


def _selected(columns: Columns, weights: Floats, points: Floats, tolerance: float) -> tuple[_Equations, Floats] | None:
    """The equations of the orbits and points that are used, and unknowns near a zero; None without an optimum."""
    matrices = columns.forms(weights)
    outputs = np.einsum("kij,ai,aj->ak", matrices, points, points)
    lengths = np.linalg.norm(outputs, axis=1)
    good = lengths > (1 - tolerance) * lengths.max()
    points, outputs, lengths = points[good], outputs[good], lengths[good]
    answers = columns.of(points, outputs / lengths[:, None])
    shares, value, _ = optimal_masses(answers, float(lengths.max()))
    if value < (1 - tolerance) * lengths.max():
        return None
    slack = shares @ answers / value - 1
    counts = columns.counts
    relative = weights / counts * counts.sum()
    used = np.flatnonzero((relative > USED) & (slack < 10 * tolerance))
    kept = shares > 1e-7
    unit = np.eye(len(weights))
    forms = np.array([np.rint(columns.forms(unit[o]) * counts[o]) for o in used], np.int64)
    sizes = counts[used].astype(np.int64)
    q = weights[used] / weights[used].sum() / sizes
    unknowns = np.concatenate([q, points[kept].ravel(), shares[kept] / shares[kept].sum(), [lengths.max() ** 2]])
    return _Equations(used, sizes, forms, points.shape[1]), unknowns
