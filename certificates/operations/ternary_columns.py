"""Networks of large margin for an operation of three arguments, by the column generation of two.

For multipliers q the value of a neuron with |x| = |w| = 1 is w . T(x), where T_k(x) = sum over cells of
R_k (u_a + v_b + s_c)^3; the best w is T(x)/|T(x)|. All numbers are in units of `TERNARY_FACTOR`. Nothing here is a
proof: the margin of the network found is evaluated by others, in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import response
from lemmata.certificates.operations.column_search import Search
from lemmata.numerics.operations.ternary import TernaryOperation
from lemmata.numerics.runs.threads import one_thread

__all__ = ["TernaryColumns", "TernaryNetwork", "TernaryPrices", "best_ternary_network"]

Floats = NDArray[np.float64]

COORDINATE_BITS, MASS_BITS = 36, 60
"""Of integer neurons and of their masses: the margin loses about 2^-36 of it, squared where it is a maximum."""
STILL = 1e9
"""Times the value: with so large a multiple of x a step that does not gain is at a maximum."""
NO_MASS = 1e-14
"""Of the mass of all neurons."""


@dataclass(frozen=True, eq=False)
class TernaryNetwork:
    """A network of integer neurons omega_i with masses p_i: the mass p_i / sum p is at omega_i / |omega_i|.

    Attributes:
        neurons: (u, v, s, w), each a list of N + C integers.
        masses: positive integers.
    """

    neurons: tuple[tuple[int, ...], ...]
    masses: tuple[int, ...]

    def margin(self, table: TernaryOperation) -> Fraction:
        """The least difference of outputs at the tests of a table, exactly; neurons must fit the table."""
        cells, own, other = (part.tolist() for part in table.tests)
        N, sums = table.size, [Fraction(0)] * len(own)
        for neuron, mass in zip(self.neurons, self.masses, strict=True):
            share = Fraction(mass, sum(x * x for x in neuron) ** 2)
            for i, (cell, y, k) in enumerate(zip(cells, own, other, strict=True)):
                sums[i] += share * sum(neuron[j] for j in cell) ** 3 * (neuron[N + y] - neuron[N + k])
        return min(sums) / sum(self.masses)


@dataclass(frozen=True)
class TernaryColumns:
    """The columns of neurons: their answers to all tests (`lemmata.certificates.operations.column_search.Answers`)."""

    table: TernaryOperation

    @cached_property
    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The coordinates of x that each given cell adds up, (cells, 3), and the number of the cell of each test."""
        cells, number = np.unique(self.table.tests[0], axis=0, return_inverse=True)
        return cells, number.ravel()

    def of(self, x: Floats, w: Floats) -> Floats:
        """The answers (m, T) of neurons with unit x (m, N) and unit w (m, C)."""
        cells, own, other = self.table.tests
        return x[:, cells].sum(axis=2) ** 3 * (w[:, own] - w[:, other])

    def prices(self, masses: Floats) -> TernaryPrices:
        """Those of multipliers."""
        cells, number = self.cells
        _, own, other = self.table.tests
        R = np.zeros((len(cells), self.table.labels))
        np.add.at(R, (number, own), masses)
        np.add.at(R, (number, other), -masses)
        return TernaryPrices(self, R)


@dataclass(frozen=True)
class TernaryPrices:
    """The value of a neuron: |T(x)|, from R of shape (cells, C)."""

    columns: TernaryColumns
    R: Floats

    @cached_property
    def places(self) -> Floats:
        """Which coordinates each cell adds up, shape (cells, N)."""
        cells = self.columns.cells[0]
        result = np.zeros((len(cells), self.columns.table.size))
        np.put_along_axis(result, cells, 1.0, axis=1)
        return result

    def starts(self, count: int, rng: np.random.Generator) -> Floats:
        """Random ones."""
        x = rng.normal(size=(count, self.columns.table.size))
        return x / np.linalg.norm(x, axis=1)[:, None]

    def outputs(self, x: Floats) -> tuple[Floats, Floats]:
        """w = T(x)/value."""
        T = (x @ self.places.T) ** 3 @ self.R
        values = np.linalg.norm(T, axis=1)
        return T / np.where(values > 0, values, 1.0)[:, None], values

    def climb(self, x: Floats, *, rounds: int, tolerance: float) -> tuple[Floats, Floats]:
        """Steps along the gradient plus a multiple of x; a step that does not gain doubles the multiple."""
        w, values = self.outputs(x)
        shift = np.zeros(len(x))
        for _ in range(4 * rounds):
            z = x @ self.places.T
            trial = (z * z * (w @ self.R.T)) @ self.places + shift[:, None] * x
            trial /= np.maximum(np.linalg.norm(trial, axis=1), 1e-300)[:, None]
            new_w, new = self.outputs(trial)
            better = new > values
            gained = np.where(better, (new - values) / np.maximum(new, 1e-300), 0.0)
            shift = np.where(better, 0.7 * shift, np.clip(2 * shift, values, STILL * values))
            x, w = np.where(better[:, None], trial, x), np.where(better[:, None], new_w, w)
            values = np.where(better, new, values)
            if (better | (shift >= STILL * values)).all() and gained.max() <= tolerance:
                break
        return x, values

    def polish(self, x: Floats) -> tuple[Floats, Floats]:
        """Newton's method on the sphere for |T|^2/2; a step that does not gain is not taken."""
        identity = np.eye(x.shape[1])
        values = self.outputs(x)[1]
        for _ in range(5):
            z = x @ self.places.T
            T = z**3 @ self.R
            J = 3 * np.einsum("mg,gk,gi->mki", z * z, self.R, self.places, optimize=True)
            size = (values * values)[:, None, None]
            second = 6 * np.einsum("mg,gi,gj->mij", z * (T @ self.R.T), self.places, self.places, optimize=True)
            project = identity - x[:, :, None] * x[:, None, :]
            hessian = project @ (np.swapaxes(J, 1, 2) @ J + second - 3 * size * identity) @ project
            # the direction of x itself is made definite; flat directions of a continuum of maxima take no step
            hessian -= np.maximum(size, 1e-12 * size.max()) * (x[:, :, None] * x[:, None, :] + 1e-9 * identity)
            gradient = np.einsum("mki,mk->mi", J, T) - 3 * size[:, :, 0] * x
            trial = x + np.linalg.solve(hessian, -gradient[:, :, None])[:, :, 0]
            trial /= np.linalg.norm(trial, axis=1)[:, None]
            new = self.outputs(trial)[1]
            better = new > values
            if not better.any():
                break
            x, values = np.where(better[:, None], trial, x), np.where(better, new, values)
        return x, values

    def curvature(self, x: Floats, w: Floats, value: float) -> Floats:
        """As `lemmata.certificates.operations.column_program.response`."""
        N, C = len(x), len(w)
        cells, own, other = self.columns.table.tests
        z = self.places @ x
        K = np.zeros((N + C, N + C))
        K[:N, :N] = 6 * (self.places.T * (z * (self.R @ w))) @ self.places - 3 * value * np.eye(N)
        K[:N, N:] = 3 * (self.places.T * (z * z)) @ self.R
        K[N:, :N] = K[:N, N:].T
        K[N:, N:] = -value * np.eye(C)
        tests, sums = np.arange(len(own)), x[cells].sum(axis=1)
        gradient = np.zeros((len(own), N + C))
        for place in cells.T:
            gradient[tests, place] += 3 * sums * sums * (w[own] - w[other])
        gradient[tests, N + own] += sums**3
        gradient[tests, N + other] -= sums**3
        return response(K, gradient, x, w, value)


@one_thread()
def best_ternary_network(
    table: TernaryOperation, q: Floats, *, seed: int = 0, starts: int = 128, rounds: int = 40, tolerance: float = 1e-10
) -> TernaryNetwork:
    """The network of the largest margin found, its neurons rounded to integers.

    Args:
        table: the table.
        q: multipliers to begin with, (T,), of sum 1: those of `relaxed_ternary`.
        seed: of the random starts.
        starts: the number of random starts of a round.
        rounds: at most so many; fewer if eight of them gain next to nothing near the end.
        tolerance: the relative gap, between the margin and the best answer to multipliers, at which the search ends.
    """
    sizes = table.size, table.labels
    search = Search(TernaryColumns(table), sizes, np.asarray(q, float), starts, np.random.default_rng(seed))
    count = 0
    while count < rounds and not search.closed(tolerance) and not search.stuck():
        search.step()
        count += 1
    x, w, masses = search.support()
    unit = np.concatenate([x * sqrt(3) / 2, w / 2], axis=1)
    neurons = np.rint(unit * 2.0**COORDINATE_BITS).astype(np.int64)
    whole = np.rint(masses / masses.sum() * 2.0**MASS_BITS).astype(np.int64)
    kept = (whole > NO_MASS * 2.0**MASS_BITS) & neurons.any(axis=1)
    return TernaryNetwork(tuple(map(tuple, neurons[kept].tolist())), tuple(whole[kept].tolist()))
