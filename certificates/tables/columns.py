"""Explicit networks of maximum margin for a table, by column generation.

Averaged over the symmetries of the table, networks of norm 1 are probability measures over neurons, and each neuron is
a *column*: its answers averaged over each orbit of triples. The restricted linear program over the columns at hand
gives masses and multipliers q of the orbits; `pricing` finds neurons that do better against q. Alone this converges
slowly, because q jumps and because the best neurons move with q. So q takes Newton steps from the best q so far: near
it, the value of every local maximum is a smooth convex function of q whose gradient is its column and whose Hessian is
known, and the quadratic program that minimises the largest of these models over probability vectors is solved for the
next q; a step that fails adds its columns and is tried again, shorter (a bundle method). The multipliers of the
semidefinite program are the natural start: their maximisers are the neurons of an optimal network.

Nothing here is a proof: the margin of the network found is evaluated by others, in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import clarabel as clarabel_module
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from certificates.tables.pricing import best_outputs, climb, distinct, polish, random_starts
from numerics.tables.table import Table

__all__ = ["FoundNetwork", "Symmetries", "best_network"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT = 2 / (3 * np.sqrt(3))  # the largest |u + v|^2-form times w on unit neurons, where |x|^2 = 2/3 and |w|^2 = 1/3


LINEAR_PROGRAM_ATTEMPTS = (("highs-ds", 1e-10), ("highs-ds", 1e-9), ("highs-ipm", 1e-9), ("highs", 1e-7))
"""The methods and tolerances of HiGHS that are tried in turn: tight ones sometimes end without an answer."""

clarabel: Any = clarabel_module  # compiled, without type stubs


class Symmetries(Protocol):
    """What is used of the symmetries of a table (`numerics.tables.symmetries`)."""

    def triple_orbits(self) -> Integers:
        """The number of the orbit of each triple, shape (T,)."""
        ...

    def elements(self, limit: int) -> object:
        """The permutations of the |A| + |B| + C points, if there are at most ``limit``."""
        ...


@dataclass(frozen=True)
class Columns:
    """The linear algebra of columns: triples, their orbits, forms and answers, all in units of `UNIT`."""

    table: Table
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

    def forms(self, masses: Floats) -> Floats:
        """The forms M (C, N, N) of multipliers given by the mass of each orbit."""
        a, b, y, c = self.indices
        q = masses[self.orbits] / self.counts[self.orbits]
        M = np.zeros((self.table.label_count, self.table.size, self.table.size))
        for k, sign in ((y, 1.0), (c, -1.0)):
            for i, j in ((a, a), (b, b), (a, b), (b, a)):
                np.add.at(M, (k, i, j), sign * q)
        return M


@dataclass(frozen=True, eq=False)
class FoundNetwork:
    """A network found for a table, and the multipliers at which it was found.

    Attributes:
        table: the table.
        x, w: the neurons before they are spread over the symmetries, |x|^2 = 2/3 and |w|^2 = 1/3, (m, N) and (m, C).
        masses: theirs, (m,), of sum 1.
        margin: the smallest margin of the network that is spread over all symmetries.
        q: the best multipliers found, (T,), constant on orbits, of sum 1.
        bound: the largest answer to q that pricing found: the margin of no network is larger if pricing missed nothing.
        rounds: of column generation.
        symmetries: those used, or None.
    """

    table: Table
    x: Floats
    w: Floats
    masses: Floats
    margin: float
    q: Floats
    bound: float
    rounds: int
    symmetries: Symmetries | None

    @property
    def gap(self) -> float:
        """(bound - margin) / margin, infinite if no positive margin was found."""
        return (self.bound - self.margin) / self.margin if self.margin > 0 else np.inf


def best_network(
    table: Table,
    *,
    start_q: NDArray | None = None,
    symmetries: Symmetries | None = None,
    seed: int = 0,
    starts: int = 64,
    rounds: int = 60,
    tolerance: float = 1e-9,
) -> FoundNetwork:
    """The network of the largest margin found.

    Args:
        table: the table.
        start_q: multipliers to begin with, (T,): those of the semidefinite program if at hand; uniform by default.
        symmetries: of the table; q and networks are averaged over them.
        seed: of the random starts of pricing.
        starts: the number of random starts of a round.
        rounds: at most so many.
        tolerance: the relative gap to `FoundNetwork.bound` at which the search ends.

    Raises:
        ValueError: for multipliers of another shape, negative or with sum 0.
    """
    T = len(table.triples)
    orbits = np.arange(T) if symmetries is None else np.asarray(symmetries.triple_orbits(), np.int64)
    columns = Columns(table, orbits)
    if start_q is None:
        start = np.full(T, 1 / T)
    else:
        start = np.asarray(start_q, float)
        if start.shape != (T,) or not np.isfinite(start).all() or start.min() < -1e-6 or not start.sum() > 0:
            raise ValueError(
                f"The multipliers to start with must be {T} nonnegative numbers, one for each triple, not all 0."
            )
        start = np.maximum(start, 0.0) / np.maximum(start, 0.0).sum()
    search = _Search(columns, np.bincount(orbits, start).astype(float), starts, np.random.default_rng(seed))
    count = 0
    while count < rounds and not search.closed(tolerance):
        search.step()
        count += 1
    x, w, masses = search.support()
    return FoundNetwork(
        table,
        x * np.sqrt(2 / 3),
        w * np.sqrt(1 / 3),
        masses,
        UNIT * float((masses @ columns.of(x, w)).min()),
        search.best_q[orbits] / columns.counts[orbits],
        UNIT * search.best_value,
        count,
        symmetries,
    )


class _Search:
    """The state of column generation: neurons at hand, the linear program over them, the best multipliers."""

    def __init__(self, columns: Columns, q: Floats, starts: int, rng: np.random.Generator) -> None:
        self.columns, self.starts, self.rng = columns, starts, rng
        N, C = columns.table.size, columns.table.label_count
        self.x, self.w, self.H = np.empty((0, N)), np.empty((0, C)), np.empty((0, len(q)))
        self.best_q, self.best_value = q, np.inf
        self.damping = 0.0
        self.p = np.empty(0)
        self.price(q, starts)
        self.solve()

    def closed(self, tolerance: float) -> bool:
        """Whether the margin reaches the best value of the multipliers, and many more starts find nothing better."""
        if self.best_value - self.value > tolerance * self.best_value:
            return False
        found = self.price(self.best_q, self.starts)
        if found <= self.best_value * (1 + tolerance):
            return True
        self.best_value = found
        return False

    def price(self, q: Floats, starts: int) -> float:
        """The largest answer to q that is found; the neurons found become columns, and q the best if it is."""
        M = self.columns.forms(q)
        begin = [random_starts(M, starts, self.rng)]
        if len(self.x):
            begin.append(self.x[np.argsort(-(self.H @ q))[: self.starts]])
        x, values = climb(M, np.concatenate(begin), rounds=10, tolerance=1e-5)
        x = _best(x, values, 0.9, 1e-4)
        x, values = climb(M, x, rounds=30, tolerance=1e-9)
        x, values = polish(M, _best(x, values, 0.95, 1e-5))
        x = _best(x, values, 0.95, 1e-9)
        w, values = best_outputs(M, x)
        self.x, self.w = np.concatenate([x, self.x]), np.concatenate([w, self.w])
        self.H = np.concatenate([self.columns.of(x, w), self.H])
        self.p = np.concatenate([np.zeros(len(x)), self.p])
        top = float(values[0])
        if top < self.best_value:
            self.best_q, self.best_value = q, top
        return top

    def solve(self) -> None:
        """The linear program over the columns: masses, value, multipliers."""
        self.p, self.value, self.q = _masses(self.H)

    def step(self) -> None:
        """One Newton step from the best multipliers; where it gains little, one of plain column generation."""
        before = self.best_value
        predicted, q = self.newton()
        gain = before - self.price(q, self.starts // 4)
        if gain > 0.1 * (before - predicted):
            self.damping /= 10
        else:
            self.damping = max(10 * self.damping, 1e-3)
        self.solve()
        if gain < 0.5 * (before - self.value):
            self.price(self.q, self.starts // 4)
            self.solve()
        self.forget()

    def forget(self, keep: int = 400) -> None:
        """Drop old columns without mass that answer worst to the best multipliers."""
        if len(self.x) <= keep:
            return
        answers = self.H @ self.best_q + 10 * (self.p > 0)
        kept = np.sort(np.argsort(-answers)[:keep])
        self.x, self.w, self.H, self.p = self.x[kept], self.w[kept], self.H[kept], self.p[kept]

    def newton(self) -> tuple[float, Floats]:
        """The value that the model predicts, and its multipliers."""
        q0 = self.best_q
        M = self.columns.forms(q0)
        support = np.flatnonzero(self.p > 1e-12)
        x, values = climb(M, self.x[support], rounds=30, tolerance=1e-9)
        x, values = polish(M, x)
        w = best_outputs(M, x)[0]
        hessian = np.zeros((len(q0), len(q0)))
        for i, mass in enumerate(self.p[support]):
            hessian += mass * _curvature(self.columns, M, x[i], w[i], values[i])
        size = np.trace(hessian) / len(q0) if len(q0) else 1.0
        hessian += self.damping * max(size, 1e-6) * np.eye(len(q0))
        H = np.concatenate([self.H, self.columns.of(x, w)])
        return _model_minimum(H, hessian, q0, self.best_value)

    def support(self) -> tuple[Floats, Floats, Floats]:
        """x, w and masses of the neurons of the solution."""
        kept = np.flatnonzero(self.p > 1e-14)
        return self.x[kept], self.w[kept], self.p[kept] / self.p[kept].sum()


def _best(x: Floats, values: Floats, share: float, apart: float) -> Floats:
    """The distinct vectors with at least this share of the largest value, the best first."""
    order = np.argsort(-values)
    order = order[values[order] >= share * values[order[0]]]
    return x[order][distinct(x[order], apart)]


def _masses(H: Floats) -> tuple[Floats, float, Floats]:
    """The masses p (m,), the value and the multipliers (orbits,) of max_p min_o (p H)_o."""
    m, orbits = H.shape
    scale = float(np.abs(H).max())
    A = np.concatenate([-H.T / scale, np.ones((orbits, 1))], axis=1)
    problem = {
        "c": np.concatenate([np.zeros(m), [-1.0]]),
        "A_ub": A,
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
    p /= p.sum()
    q = np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0)
    return p, float((p @ H).min()), q / q.sum()


def _curvature(columns: Columns, M: Floats, x: Floats, w: Floats, value: float) -> Floats:
    """The Hessian in q of the value of the local maximum (x, w) of w . x^T M(q) x on two spheres."""
    N, C = len(x), len(w)
    K = np.zeros((N + C, N + C))
    Mx = M @ x
    K[:N, :N] = 2 * np.tensordot(w, M, 1) - 2 * value * np.eye(N)
    K[:N, N:] = 2 * Mx.T
    K[N:, :N] = 2 * Mx
    K[N:, N:] = -value * np.eye(C)
    project = np.eye(N + C)
    project[:N, :N] -= np.outer(x, x)
    project[N:, N:] -= np.outer(w, w)
    K = project @ K @ project
    eigenvalues, vectors = np.linalg.eigh(-K)
    strength = np.where(eigenvalues > 1e-6 * value, 1 / np.maximum(eigenvalues, 1e-6 * value), 0.0)
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
    B = (columns.averaging.T @ gradient) @ project @ vectors
    return (B * strength) @ B.T


def _model_minimum(H: Floats, hessian: Floats, centre: Floats, value: float) -> tuple[float, Floats]:
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
