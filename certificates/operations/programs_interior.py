"""An interior point method for the programs of tables, which uses that every entry of a moment matrix is one moment.

General solvers factor a matrix with a row for each entry of the Gram matrix. Here the Schur complement has a row for
each moment instead, of which there are much fewer, and is summed entry by entry (the direction is that of Helmberg,
Rendl, Vanderbei and Wolkowicz, Kojima, Shindoh and Hara, and Monteiro, with the predictor and corrector of Mehrotra).
The start is positive definite on both sides: the moments of a Gaussian, and a large multiple of the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from lemmata.certificates.operations.programs_effort import Effort
from lemmata.certificates.operations.programs_form import ConeData, lower_triangle

__all__ = ["InteriorPoint", "interior_work", "solve_interior"]

STEP = 0.97
"""The part of the way to the boundary that a step may go."""
REFINEMENTS = 10
"""Of every solution of the linear equations, whose matrix is nearly singular at the end: what stays violated costs the
bound, since t is raised for it."""


@dataclass(frozen=True)
class InteriorPoint:
    """Both sides of a program: moments, multipliers, Gram matrices, and how the method ended."""

    moments: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    grams: tuple[NDArray[np.float64], ...]
    status: str


@dataclass(frozen=True)
class _Block:
    """A block of the moment matrix: its rows as in `ConeData`, their transpose, and their entries for the kernel."""

    order: int
    rows: sparse.csr_array
    adjoint: sparse.csr_array
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, order: int, rows: sparse.csr_array) -> _Block:
        i, j = lower_triangle(order)
        half_root = np.where(i == j, 0.5, np.sqrt(0.5))
        return cls(order, rows, rows.T.tocsr(), rows.data * np.repeat(half_root, np.diff(rows.indptr)))

    def matrix(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        """The block of given moments."""
        i, j = lower_triangle(self.order)
        packed = (self.rows @ moments) / np.where(i == j, 1.0, np.sqrt(2))
        square = np.zeros((self.order, self.order))
        square[i, j] = square[j, i] = packed
        return square

    def pairing(self, square: NDArray[np.float64]) -> NDArray[np.float64]:
        """The products of the block of each single moment with a symmetric matrix."""
        i, j = lower_triangle(self.order)
        return self.adjoint @ (square[i, j] * np.where(i == j, 1.0, np.sqrt(2)))

    def add_schur(self, total: NDArray[np.float64], X: NDArray[np.float64], Y: NDArray[np.float64]) -> None:
        """Adds trace(E_a X E_b Y) for the blocks E_a, E_b of all moments."""
        X, Y = np.ascontiguousarray(X), np.ascontiguousarray(Y)
        _scatter(total, X, Y, self.rows.indptr.astype(np.int64), self.rows.indices.astype(np.int64), self.weights)


@numba.njit(cache=True)
def _scatter(
    total: NDArray[np.float64],
    X: NDArray[np.float64],
    Y: NDArray[np.float64],
    starts: NDArray[np.int64],
    moments: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> None:
    """Adds the Schur complement of a block whose triangle has few moments in each entry."""
    order = len(X)
    row = np.empty(len(total))
    p = 0
    for j in range(order):
        for i in range(j, order):
            row[:] = 0.0
            q = 0
            for l in range(order):
                xj, xi, yj, yi = X[j, l], X[i, l], Y[j, l], Y[i, l]
                for k in range(l, order):
                    value = X[j, k] * yi + xj * Y[i, k] + X[i, k] * yj + xi * Y[j, k]
                    for entry in range(starts[q], starts[q + 1]):
                        row[moments[entry]] += weights[entry] * value
                    q += 1
            for entry in range(starts[p], starts[p + 1]):
                total[moments[entry]] += weights[entry] * row
            p += 1


@dataclass
class _Point:
    """The variables of both sides."""

    L: NDArray[np.float64]
    nu: NDArray[np.float64]
    t: float
    X: list[NDArray[np.float64]]
    S: list[NDArray[np.float64]]
    lam: NDArray[np.float64]
    slack: NDArray[np.float64]

    def gap(self) -> float:
        """The sum of the products of both sides."""
        return float(self.lam @ self.slack + sum((x * s).sum() for x, s in zip(self.X, self.S, strict=True)))

    def moved(self, step: _Point, primal: float, dual: float) -> _Point:
        """This point after a step on each side."""
        return _Point(
            self.L + dual * step.L,
            self.nu + dual * step.nu,
            self.t + primal * step.t,
            [x + primal * d for x, d in zip(self.X, step.X, strict=True)],
            [s + dual * d for s, d in zip(self.S, step.S, strict=True)],
            self.lam + primal * step.lam,
            self.slack + dual * step.slack,
        )


def solve_interior(
    data: ConeData, start: NDArray[np.float64], *, accuracy: float, limit: int, effort: Effort | None = None
) -> InteriorPoint:
    """The solution of a program from moments whose matrix is positive definite, with norm . start = 1.

    Args:
        accuracy: the method stops when the gap is this part of the objective.
        limit: of the number of steps.
        effort: whose time limits the steps, and whose progress is told of them.
    """
    effort = effort or Effort()
    method = _Method(data)
    point = method.started(start)
    status = "limit of steps"
    for number in range(limit):
        gap = point.gap()
        effort.progress(f"step {number}, gap {gap:.0e}")
        if gap <= accuracy * (abs(point.t) + abs(data.weights @ point.lam)) and method.residual(point) < 1e-7:
            status = "solved"
            break
        if effort.seconds_left == 0:
            status = "limit of time"
            break
        following = method.step(point)
        if following is None or not np.isfinite(following.gap()):
            status = "no further step"
            break
        point = following
    return InteriorPoint(point.L, point.lam, tuple(point.X), status)


def interior_work(data: ConeData) -> float:
    """About how many multiplications one step takes."""
    moments = float(len(data.norm))
    blocks = sum(rows.nnz * (order**2 / 2 + moments) for order, rows in data.blocks)
    return moments**3 / 3 + blocks


class _Method:
    """The linear algebra of one program."""

    def __init__(self, data: ConeData) -> None:
        self.data = data
        self.blocks = [_Block.of(order, rows) for order, rows in data.blocks]
        groups = int(data.group.max(initial=-1)) + 1
        self.shares = (data.group[:, None] == np.arange(groups)).astype(float)
        self.F = data.columns.toarray()
        self.FG = np.vstack([self.F, self.shares.T])
        self.degree = len(data.weights) + sum(block.order for block in self.blocks)

    def started(self, L: NDArray[np.float64]) -> _Point:
        data = self.data
        sizes = self.shares.sum(axis=0)
        lam = np.where(data.group >= 0, 1 / np.maximum(sizes, 1)[np.maximum(data.group, 0)] if len(sizes) else 1.0, 1.0)
        rest = self.F @ lam + data.fixed
        size = 1e-3 + float(np.abs(rest).max(initial=0.0)) * 4
        X = [np.eye(block.order) * size for block in self.blocks]
        free = data.weights - self.F.T @ L
        nu = np.array([free[self.shares[:, g] > 0].min() - size for g in range(len(sizes))])
        slack = np.maximum(free - self.shares @ nu, size)
        return _Point(L, nu, size, X, [block.matrix(L) for block in self.blocks], lam, slack)

    def residuals(self, at: _Point) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
        data = self.data
        target = data.fixed + at.t * data.norm + self.F @ at.lam
        primal = target - sum(block.pairing(x) for block, x in zip(self.blocks, at.X, strict=True))
        shares = 1 - self.shares.T @ at.lam
        slack = data.weights - self.F.T @ at.L - self.shares @ at.nu - at.slack
        return primal, shares, slack, 1 - float(data.norm @ at.L)

    def residual(self, at: _Point) -> float:
        """The largest violation of an equation."""
        primal, shares, slack, norm = self.residuals(at)
        return max(abs(norm), *(float(np.abs(part).max(initial=0.0)) for part in (primal, shares, slack)))

    def step(self, at: _Point) -> _Point | None:
        """The next point, or None when the system can no longer be solved or no step is possible."""
        try:
            Y = [_inverse(s) for s in at.S]
            factor = self.factored(at, Y)
            affine = self.direction(at, Y, factor, 0.0, None)
            primal, dual = self.lengths(at, affine, 1.0)
            mu = at.gap() / self.degree
            after = at.moved(affine, primal, dual).gap() / self.degree
            sigma = min(1.0, max(after / mu, 0.0) ** 2) if min(primal, dual) > 0.1 else 0.8
            chosen = self.direction(at, Y, factor, sigma * mu, affine)
            primal, dual = self.lengths(at, chosen, STEP)
        except (linalg.LinAlgError, np.linalg.LinAlgError, ValueError):
            return None
        return None if max(primal, dual) < 1e-4 else at.moved(chosen, primal, dual)

    def factored(self, at: _Point, Y: list[NDArray[np.float64]]) -> tuple[NDArray[np.float64], bool]:
        """The Cholesky factor of the Schur complement in the moments and the groups."""
        moments = len(at.L)
        schur = np.zeros((moments, moments))
        for block, x, y in zip(self.blocks, at.X, Y, strict=True):
            block.add_schur(schur, x, y)
        whole = (self.FG * (at.lam / at.slack)) @ self.FG.T
        whole[:moments, :moments] += schur
        whole[np.diag_indices_from(whole)] *= 1 + 1e-14
        return linalg.cho_factor(whole, lower=True, overwrite_a=True)

    def applied(self, at: _Point, Y: list[NDArray[np.float64]], vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of the Schur complement with a vector, without its matrix."""
        moments = len(at.L)
        result = self.FG @ ((at.lam / at.slack) * (self.FG.T @ vector))
        for block, x, y in zip(self.blocks, at.X, Y, strict=True):
            result[:moments] += block.pairing(_symmetric(x @ block.matrix(vector[:moments]) @ y))
        return result

    def direction(
        self,
        at: _Point,
        Y: list[NDArray[np.float64]],
        factor: tuple[NDArray[np.float64], bool],
        mu: float,
        affine: _Point | None,
    ) -> _Point:
        """The solution of the linearised equations with products mu, corrected by the terms of second order."""
        data, moments = self.data, len(at.L)
        primal, shares, slack, norm = self.residuals(at)
        const_x = [mu * y - x for x, y in zip(at.X, Y, strict=True)]
        const_l = (mu - at.lam * slack) / at.slack - at.lam
        if affine is not None:
            const_x = [c - _symmetric(dx @ ds @ y) for c, dx, ds, y in zip(const_x, affine.X, affine.S, Y, strict=True)]
            const_l = const_l - affine.lam * affine.slack / at.slack
        pairings = sum(block.pairing(c) for block, c in zip(self.blocks, const_x, strict=True))
        right = np.concatenate([pairings - self.F @ const_l - primal, shares - self.shares.T @ const_l])
        border = np.concatenate([data.norm, np.zeros(len(at.nu))])

        both = linalg.cho_solve(factor, np.stack([right, border], axis=1))
        solution, dt = np.zeros(len(right)), 0.0
        rest, defect, last = right, norm, np.inf
        for _ in range(1 + REFINEMENTS):
            size = float(np.abs(rest).max())
            if not size < last / 2:
                break
            last = size
            first = linalg.cho_solve(factor, rest)
            part = float(data.norm @ first[:moments] - defect) / float(data.norm @ both[:moments, 1])
            solution, dt = solution + first - part * both[:, 1], dt + part
            rest = right - self.applied(at, Y, solution) - dt * border
            defect = norm - float(data.norm @ solution[:moments])
        dL, dnu = solution[:moments], solution[moments:]
        dS = [block.matrix(dL) for block in self.blocks]
        dslack = slack - self.F.T @ dL - self.shares @ dnu
        dX = [c - _symmetric(x @ ds @ y) for c, x, ds, y in zip(const_x, at.X, dS, Y, strict=True)]
        dlam = const_l + (at.lam / at.slack) * (slack - dslack)
        return _Point(dL, dnu, float(dt), dX, dS, dlam, dslack)

    def lengths(self, at: _Point, step: _Point, part: float) -> tuple[float, float]:
        """How far both sides stay positive, at most 1."""
        primal = min([_ratio(at.lam, step.lam), *map(_reach, at.X, step.X)])
        dual = min([_ratio(at.slack, step.slack), *map(_reach, at.S, step.S)])
        return min(1.0, part * primal), min(1.0, part * dual)


def _symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return (matrix + matrix.T) / 2


def _inverse(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    factor = linalg.solve_triangular(linalg.cholesky(matrix, lower=True), np.eye(len(matrix)), lower=True)
    return factor.T @ factor


def _reach(matrix: NDArray[np.float64], step: NDArray[np.float64]) -> float:
    """The largest a with matrix + a step positive semidefinite."""
    factor = linalg.cholesky(matrix, lower=True)
    half = linalg.solve_triangular(factor, step, lower=True)
    least = float(linalg.eigvalsh(linalg.solve_triangular(factor, half.T, lower=True), subset_by_index=(0, 0))[0])
    return 1e9 if least >= 0 else -1 / least


def _ratio(values: NDArray[np.float64], step: NDArray[np.float64]) -> float:
    falling = step < 0
    return float((values[falling] / -step[falling]).min(initial=1e9))
