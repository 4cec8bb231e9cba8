"""The programs of column generation: columns, the linear program for masses, the Newton model for multipliers.

All numbers are in units of 2/(3 sqrt 3): neurons have |x| = |w| = 1 here, where x = (u, v).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from lemmata.certificates.operations.pricing import best_outputs, climb, polish, random_starts
from lemmata.numerics.operations.operation import Operation

__all__ = ["Columns", "SquarePrices", "curvature", "model_minimum", "optimal_masses"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LINEAR_PROGRAM_ATTEMPTS = (("highs-ds", 1e-10), ("highs-ds", 1e-9), ("highs-ipm", 1e-9), ("highs", 1e-7))
"""The methods and tolerances of HiGHS that are tried in turn: tight ones sometimes end without an answer."""


@dataclass(frozen=True)
class Columns:
    """The linear algebra of columns: triples, their orbits, forms and answers, all in units of `UNIT`."""

    table: Operation
    orbits: Integers

    @cached_property
    def indices(self) -> tuple[Integers, Integers, Integers, Integers]:
        """a, |A| + b, y and c of the triples, each (T,)."""
        a, b, c = np.array(self.table.triples, np.int64).T
        return a, self.table.rows + b, self.table.array()[a, b], c

    @cached_property
    def counts(self) -> Floats:
        """The sizes of the orbits."""
        return np.bincount(self.orbits).astype(float)

    @cached_property
    def averaging(self) -> sparse.csr_array:
        """The matrix (T, orbits) that averages over orbits."""
        T = len(self.orbits)
        return sparse.csr_array((1 / self.counts[self.orbits], (np.arange(T), self.orbits)))

    def of(self, x: Floats, w: Floats) -> Floats:
        """The columns (m, orbits) of neurons with unit x (m, N) and unit w (m, C)."""
        a, b, y, c = self.indices
        answers = (x[:, a] + x[:, b]) ** 2 * (w[:, y] - w[:, c])
        return np.asarray(answers @ self.averaging)

    def prices(self, masses: Floats) -> SquarePrices:
        """Those of multipliers given by the mass of each orbit."""
        return SquarePrices(self, self.forms(masses))

    def forms(self, masses: Floats) -> Floats:
        """The forms M (C, N, N) of multipliers given by the mass of each orbit."""
        a, b, y, c = self.indices
        q = masses[self.orbits] / self.counts[self.orbits]
        M = np.zeros((self.table.label_count, self.table.size, self.table.size))
        for k, sign in ((y, 1.0), (c, -1.0)):
            for i, j in ((a, a), (b, b), (a, b), (b, a)):
                np.add.at(M, (k, i, j), sign * q)
        return M


@dataclass(frozen=True)
class SquarePrices:
    """The value of a neuron (`lemmata.certificates.operations.column_search.Prices`): |(x^T M_k x)_k|, forms M."""

    columns: Columns
    M: Floats

    def starts(self, count: int, rng: np.random.Generator) -> Floats:
        """Half of them random, half the best ones for random w."""
        return random_starts(self.M, count, rng)

    def climb(self, x: Floats, *, rounds: int, tolerance: float) -> tuple[Floats, Floats]:
        """By turns the best w and the best x."""
        return climb(self.M, x, rounds=rounds, tolerance=tolerance)

    def polish(self, x: Floats) -> tuple[Floats, Floats]:
        """Newton's method on the sphere."""
        return polish(self.M, x)

    def outputs(self, x: Floats) -> tuple[Floats, Floats]:
        """w = (x^T M_k x)_k / value."""
        return best_outputs(self.M, x)

    def curvature(self, x: Floats, w: Floats, value: float) -> Floats:
        """As `curvature`."""
        return curvature(self.columns, self.M, x, w, value)


def optimal_masses(H: Floats, size: float) -> tuple[Floats, float, Floats]:
    """The masses p (m,), the value and the multipliers (orbits,) of max_p min_o (p H)_o, whose value is about size."""
    m, orbits = H.shape
    problem = {
        "c": np.concatenate([np.zeros(m), [-1.0]]),
        "A_ub": np.concatenate([-H.T / size, np.ones((orbits, 1))], axis=1),
        "b_ub": np.zeros(orbits),
        "A_eq": np.concatenate([np.ones(m), [0.0]])[None],
        "b_eq": [1.0],
        "bounds": [(0, None)] * m + [(None, None)],
    }
    answer = None
    for method, feasibility in LINEAR_PROGRAM_ATTEMPTS:
        options = {"primal_feasibility_tolerance": feasibility, "dual_feasibility_tolerance": feasibility}
        answer = linprog(**problem, method=method, options=options)
        if answer.success:
            break
    if answer is None or not answer.success:
        raise RuntimeError(f"The linear program over {m} neurons was not solved by HiGHS: {answer and answer.message}")
    p = np.maximum(answer.x[:-1], 0.0)
    q = np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0)
    p = _balanced(H, p / p.sum(), q)
    return p, float((p @ H).min()), q / q.sum()


def _balanced(H: Floats, p: Floats, q: Floats) -> Floats:
    """The masses with equal answers in the orbits that bind, where that gains: HiGHS leaves its tolerance between."""
    binding = np.flatnonzero(q > 1e-9 * q.max())
    support = np.flatnonzero(p > 0)
    equations = np.concatenate([H[np.ix_(support, binding)].T, -np.ones((len(binding), 1))], axis=1)
    equations = np.concatenate([equations, np.concatenate([np.ones(len(support)), [0.0]])[None]])
    solution = np.concatenate([p[support], [(p @ H).min()]])
    right = np.concatenate([np.zeros(len(binding)), [1.0]])
    solution = solution + np.linalg.lstsq(equations, right - equations @ solution, rcond=1e-12)[0]
    new = np.zeros_like(p)
    new[support] = np.maximum(solution[:-1], 0.0)
    new /= new.sum()
    return new if (new @ H).min() > (p @ H).min() else p


def curvature(columns: Columns, M: Floats, x: Floats, w: Floats, value: float) -> Floats:
    """The Hessian in q of the value of the local maximum (x, w) of w . x^T M(q) x on two spheres."""
    N, C = len(x), len(w)
    K = np.zeros((N + C, N + C))
    Mx = M @ x
    K[:N, :N] = 2 * np.tensordot(w, M, 1) - 2 * value * np.eye(N)
    K[:N, N:] = 2 * Mx.T
    K[N:, :N] = 2 * Mx
    K[N:, N:] = -value * np.eye(C)
    a, b, y, c = columns.indices
    T = len(a)
    t = np.arange(T)
    gradient = np.zeros((T, N + C))
    z = x[a] + x[b]
    d = w[y] - w[c]
    gradient[t, a] += 2 * z * d
    gradient[t, b] += 2 * z * d
    gradient[t, N + y] += z * z
    gradient[t, N + c] -= z * z
    return response(K, columns.averaging.T @ gradient, x, w, value)


def response(K: Floats, gradient: Floats, x: Floats, w: Floats, value: float) -> Floats:
    """The Hessian in q of the value of a local maximum, from second derivatives on the two spheres.

    Args:
        K: in (x, w), with the multipliers of |x| = |w| = 1, shape (N + C, N + C).
        gradient: in (x, w), of the value's derivative in each multiplier, shape (multipliers, N + C).
        x, w, value: the maximum.
    """
    N, C = len(x), len(w)
    project = np.eye(N + C)
    project[:N, :N] -= np.outer(x, x)
    project[N:, N:] -= np.outer(w, w)
    K = project @ K @ project
    eigenvalues, vectors = np.linalg.eigh(-K)
    strength = np.where(eigenvalues > 1e-6 * value, 1 / np.maximum(eigenvalues, 1e-6 * value), 0.0)
    B = gradient @ project @ vectors
    return (B * strength) @ B.T


def model_minimum(H: Floats, hessian: Floats, centre: Floats, value: float) -> tuple[float, Floats]:
    """The least value and the minimiser over the simplex of max_i H_i.q + (q - c)^T hessian (q - c) / 2."""
    m, n = H.shape
    size = n + 1
    P = sparse.block_diag([hessian / value, sparse.csc_array((1, 1))], format="csc")
    linear = np.concatenate([-hessian @ centre / value, [1.0]])
    rows = np.zeros((1 + n + m, size))
    rows[0, :n] = 1.0
    rows[1 : 1 + n, :n] = -np.eye(n)
    rows[1 + n :, :n] = H / value
    rows[1 + n :, n] = -1.0
    right = np.zeros(1 + n + m)
    right[0] = 1.0
    clarabel: Any = import_module("clarabel")  # of the extra `solvers`; an extension module without types
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings, name, 1e-11)
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n + m)]
    solver = clarabel.DefaultSolver(
        sparse.triu(P, format="csc"), linear, sparse.csc_matrix(rows), right, cones, settings
    )
    q = np.maximum(np.array(solver.solve().x[:n]), 0.0)
    q /= q.sum()
    d = q - centre
    return float((H @ q).max() + d @ hessian @ d / 2), q
