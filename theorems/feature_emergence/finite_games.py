"""Max-margin problems with a finite dictionary of neurons, solved exactly by enumeration.

All that the lemmas of section 7.3 use of a unit neuron omega is the table of its logits phi(omega, x)[y]. A
dictionary of m unit neurons with rational tables therefore is a small model of the framework in which every
maximum is a linear program: with b = nu a network is a vector of masses mu >= 0 with sum at most 1 (mu_i =
lambda_i^nu), and

    f(x) = sum_i mu_i phi(omega_i, x).

The programs are solved here by listing all vertices of their polyhedra, in rational arithmetic, without any
solver: slow and plain, which is what an oracle should be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from operator import ge, mul
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

__all__ = [
    "FiniteGame",
    "binary_game",
    "binary_games",
    "expectation",
    "random_games",
    "simplex_grid",
    "tau_grid",
    "ternary_games",
    "vertices",
]


@dataclass(frozen=True, eq=False)
class FiniteGame:
    """A task with N points, L labels and m unit neurons: ``logits`` (m, N, L) of fmpq, ``labels`` (N,)."""

    logits: np.ndarray
    labels: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers (m, N, L) of neurons, points and labels."""
        m, N, L = self.logits.shape
        return m, N, L

    @cached_property
    def wrong(self) -> tuple[tuple[int, int], ...]:
        """The pairs (point, wrong label), point by point."""
        _, N, L = self.shape
        return tuple((x, label) for x in range(N) for label in range(L) if label != self.labels[x])

    @cached_property
    def payoff(self) -> np.ndarray:
        """psi(omega_i, x, y') = phi(omega_i, x)[y] - phi(omega_i, x)[y'], shape (m, number of pairs)."""
        columns = [self.logits[:, x, self.labels[x]] - self.logits[:, x, label] for x, label in self.wrong]
        return np.stack(columns, axis=1)

    def margins(self, masses: np.ndarray) -> list[Any]:
        """g(theta, x) for every point x, by definition: the correct logit minus the largest wrong one."""
        outputs = self.outputs(masses)
        return [
            row[label] - max(value for other, value in enumerate(row) if other != label)
            for row, label in zip(outputs, self.labels, strict=True)
        ]

    def outputs(self, masses: np.ndarray) -> np.ndarray:
        """f(x)[y], shape (N, L)."""
        m, N, L = self.shape
        return (masses @ self.logits.reshape(m, N * L)).reshape(N, L)

    def weighted_margins(self, masses: np.ndarray, tau: np.ndarray) -> list[Any]:
        """g'(theta, x) = f[y] - sum_y' tau(x)[y'] f[y'] for every point x; ``tau`` (N, L)."""
        return self._weighted(self.outputs(masses), tau)

    def neuron_values(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """E_q psi'(omega_i) for every neuron, from the neuron's own logits; shape (m,)."""
        return np.array([expectation(q, self._weighted(logits, tau)) for logits in self.logits], dtype=object)

    def _weighted(self, outputs: np.ndarray, tau: np.ndarray) -> list[Any]:
        """outputs[x][y] - sum_y' tau(x)[y'] outputs[x][y'] for every point x."""
        return [outputs[x, label] - tau[x] @ outputs[x] for x, label in enumerate(self.labels)]

    @cached_property
    def max_margin(self) -> tuple[Any, list[np.ndarray]]:
        """gamma* and the vertices of the set of all max-margin networks.

        Vertices of {(mu, v): mu >= 0, sum mu <= 1, psi^T mu >= v, v >= 0}; those with the largest v. Every
        max-margin network is a mixture of them.
        """
        m, pairs = self.payoff.shape
        rows = [
            *np.eye(m + 1, dtype=int),
            np.r_[-np.ones(m, dtype=int), 0],
            *np.c_[self.payoff.T, -np.ones(pairs, dtype=int)],
        ]
        right = [0] * (m + 1) + [-1] + [0] * pairs
        return _best(vertices(np.array(rows, dtype=object), right), sign=1)

    @cached_property
    def hardest(self) -> tuple[Any, list[np.ndarray]]:
        """min_Q max(0, max_i E_Q psi(omega_i)), and the vertices of the set of minimising Q.

        Q is a distribution on the pairs ``wrong``, in their order.
        """
        m, pairs = self.payoff.shape
        rows = [
            np.r_[np.ones(pairs, dtype=int), 0],
            *np.eye(pairs + 1, dtype=int),
            *np.c_[-self.payoff, np.ones(m, dtype=int)],
        ]
        right = [1] + [0] * (pairs + 1 + m)
        return _best(vertices(np.array(rows, dtype=object), right, equations=1), sign=-1)

    def largest_expected_margin(self, q: np.ndarray) -> Any:
        """max over all networks of mass <= 1 of E_q g(theta), the right-hand side of (7.2).

        Vertices of {(mu, s): mu >= 0, sum mu <= 1, s_x <= f(x)[y] - f(x)[y'] for all y'}, maximising q . s.
        """
        m, N, _ = self.shape
        rows = [np.r_[unit, np.zeros(N, dtype=int)] for unit in np.eye(m, dtype=int)]
        rows.append(np.r_[-np.ones(m, dtype=int), np.zeros(N, dtype=int)])
        for column, (x, _) in enumerate(self.wrong):
            rows.append(np.r_[self.payoff[:, column], -np.eye(N, dtype=int)[x]])
        right = [0] * m + [-1] + [0] * len(self.wrong)
        return max(expectation(q, point[m:]) for point in vertices(np.array(rows, dtype=object), right))

    def split(self, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q, tau) with q(x) tau(x)[y'] = Q(x, y'); tau is put on the first wrong label where q vanishes."""
        _, N, L = self.shape
        joint = np.full((N, L), fmpq(0), dtype=object)
        for weight, (x, label) in zip(Q, self.wrong, strict=True):
            joint[x, label] = weight * fmpq(1)
        q = joint.sum(axis=1)
        for x in range(N):
            if q[x] == 0:
                joint[x, 1 if self.labels[x] == 0 else 0] = fmpq(1)
            else:
                joint[x] /= q[x]
        return q, joint


def binary_game(payoff: np.ndarray) -> FiniteGame:
    """The game with two labels and psi = ``payoff`` (m, N); label 0 is correct, label 1 has the logit 0."""
    psi = np.asarray(payoff, dtype=object) * fmpq(1)
    return FiniteGame(np.stack([psi, psi * 0], axis=2), (0,) * psi.shape[1])


def ternary_game(payoff: np.ndarray) -> FiniteGame:
    """The game with three labels and psi = ``payoff`` (m, N, 2).

    The correct label of point x is x mod 3 and has the logit 0.
    """
    psi = np.asarray(payoff, dtype=object) * fmpq(1)
    m, N, _ = psi.shape
    logits = np.full((m, N, 3), fmpq(0), dtype=object)
    for x in range(N):
        logits[:, x, [label for label in range(3) if label != x % 3]] = -psi[:, x]
    return FiniteGame(logits, tuple(x % 3 for x in range(N)))


def simplex_grid(length: int, steps: int, full: bool) -> Iterator[np.ndarray]:
    """All vectors of multiples of 1/steps that are >= 0 and sum to 1 (``full``) or to at most 1."""
    for counts in product(range(steps + 1), repeat=length):
        if sum(counts) == steps or (not full and sum(counts) < steps):
            yield np.array([fmpq(count, steps) for count in counts], dtype=object)


def vertices(rows: np.ndarray, right: list[Any], equations: int = 0) -> list[np.ndarray]:
    """All vertices of {z: rows @ z >= right}, exactly: every square subsystem is solved and tested.

    ``rows`` (constraints, dimension). The first ``equations`` of them, which must be independent, hold with equality:
    every vertex solves a subsystem that contains them.
    """
    constraints, dimension = rows.shape
    table = [[fmpq(1) * entry for entry in row] for row in rows.tolist()]
    bounds = [fmpq(1) * entry for entry in right]
    every = fmpq_mat(constraints, dimension, [entry for row in table for entry in row])
    found: dict[tuple[Any, ...], np.ndarray] = {}
    for others in combinations(range(equations, constraints), dimension - equations):
        chosen = (*range(equations), *others)
        system = fmpq_mat(dimension, dimension, [entry for i in chosen for entry in table[i]])
        try:
            solution = system.solve(fmpq_mat(dimension, 1, [bounds[i] for i in chosen]))
        except ZeroDivisionError:  # the chosen constraints are dependent
            continue
        if all(map(ge, (every * solution).entries(), bounds)):
            point = solution.entries()
            found.setdefault(tuple((entry.p, entry.q) for entry in point), np.array(point, dtype=object))
    return list(found.values())


def expectation(weights: Any, values: Any) -> Any:
    """The sum of weights times values, as many of one as of the other; an exact zero for none."""
    assert len(weights) == len(values)
    return sum(map(mul, weights, values), start=fmpq(0))


def binary_games(values: range) -> Iterator[FiniteGame]:
    """All games of two neurons and two points with two labels and psi in ``values``."""
    for entries in product(values, repeat=4):
        yield binary_game(np.array(entries).reshape(2, 2))


def ternary_games(values: tuple[int, ...]) -> Iterator[FiniteGame]:
    """All games of two neurons and two points with three labels and psi in ``values``."""
    for entries in product(values, repeat=8):
        yield ternary_game(np.array(entries).reshape(2, 2, 2))


@st.composite
def random_games(draw: st.DrawFn, labels: int | None = None) -> FiniteGame:
    """Up to four neurons and three points, two or three labels (or as many as asked for).

    Small rationals, so that ties and gamma* = 0 occur.
    """
    m, N, L = draw(st.integers(1, 4)), draw(st.integers(1, 3)), labels or draw(st.integers(2, 3))
    entry = st.builds(fmpq, st.integers(-3, 3), st.integers(1, 3))
    entries = draw(st.lists(entry, min_size=m * N * L, max_size=m * N * L))
    correct = draw(st.lists(st.integers(0, L - 1), min_size=N, max_size=N))
    logits = np.array(entries, dtype=object).reshape(m, N, L)
    if draw(st.booleans()):  # otherwise gamma* = 0 would be the rule
        for x, label in enumerate(correct):
            logits[:, x, label] += 2
    return FiniteGame(logits, tuple(correct))


def tau_grid(game: FiniteGame, steps: int) -> Iterator[np.ndarray]:
    """All class weights on the wrong labels that are multiples of 1/steps, shape (N, L)."""
    _, N, L = game.shape
    for rows in product(list(simplex_grid(L - 1, steps, full=True)), repeat=N):
        tau = np.full((N, L), fmpq(0), dtype=object)
        for x, row in enumerate(rows):
            tau[x, [label for label in range(L) if label != game.labels[x]]] = row
        yield tau


def _best(points: list[np.ndarray], sign: int) -> tuple[Any, list[np.ndarray]]:
    """The best last coordinate, and the points that have it, without that coordinate."""
    best = max(sign * point[-1] for point in points)
    return sign * best, [point[:-1] for point in points if sign * point[-1] == best]
