"""Networks of at least a given margin that lean as far as possible one way at a cell that was never seen.

Over all networks of norm 1 whose margins are at least g0, maximise the least of some differences of outputs at one
cell: a linear program over the masses of neurons, solved by column generation. It takes every difference and every
margin in its mean over the symmetries that fix the question, and prices neurons by
`lemmata.certificates.operations.pricing`. Its value is attained by the network found; its multipliers are where the
semidefinite program proves that no network leans further. An optimum that is found by pricing from starts is an
experiment, the network itself is evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from lemmata.certificates.operations.forms import form_matrices, form_values, residual
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.pricing import climb, distinct, random_starts
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, swaps

__all__ = ["LeaningNetwork", "leaning_network", "mass_program"]

Floats = NDArray[np.float64]

TOLERANCES = (1e-10, 1e-9, 1e-7)
"""Of the linear solver, tried in turn: tight ones sometimes end without an answer."""


@dataclass(frozen=True, eq=False)
class LeaningNetwork:
    """A network that leans one way at a cell, and the multipliers of the linear program that found it.

    Attributes:
        network: of norm 1, with margins of at least the floor.
        value: the least of the differences that were maximised.
        bound: what no network exceeds if the last pricing found the best neuron; an experiment, not a proof.
        multipliers: lambda >= 0, one per triple of the table.
        weights: of the differences, nonnegative, of sum 1.
        rounds: of pricing.
    """

    network: OperationNetwork
    value: float
    bound: float
    multipliers: Floats
    weights: Floats
    rounds: int


def leaning_network(
    table: Operation,
    differences: Floats,
    floor: float,
    start: OperationNetwork,
    symmetries: OperationSymmetries,
    *,
    enough: float = np.inf,
    hopeless: float = -np.inf,
    rounds: int = 80,
    starts: int = 60,
    seed: int = 0,
) -> LeaningNetwork:
    """The network with margins of at least ``floor`` that maximises the least of some differences, as far as found.

    Args:
        table: the given cells.
        differences: tensors, shape (K, A, B, C); the symmetries must permute them.
        floor: the least margin g0 > 0.
        start: a network of margin at least ``floor``.
        symmetries: of the table, that take the set of the differences to itself.
        enough: stop at this value.
        hopeless: stop when no neuron found lets the value reach this one.
        rounds, starts: of pricing at most, and climbs in each one.
        seed: of the starts.

    Raises:
        ValueError: when the margin of ``start`` is below the floor by more than rounding.
        ArithmeticError: when the linear solver fails.
    """
    if start.margin(table) < floor * (1 - 1e-12):
        raise ValueError(f"The starting network has the margin {start.margin(table)}, less than the floor {floor}.")
    rng = np.random.default_rng(seed)
    problem = _Averaged.of(table, differences, symmetries)
    unit = start.floats()
    neurons = np.concatenate([unit.u, unit.v, unit.w], axis=1)
    leaning = problem.priced(problem.rows[problem.margins :].sum(axis=0), neurons, starts, rng)
    neurons = np.concatenate([neurons, leaning])
    number = 0
    while True:
        number += 1
        masses, value, dual, level = mass_program(problem.columns(neurons), problem.margins, floor)
        found = problem.priced(np.tensordot(dual, problem.rows, 1), neurons[masses > 0], starts, rng)
        gain = float((dual @ problem.columns(found)).max(initial=-np.inf)) - level
        bound = value + max(gain, 0.0)
        if value >= enough or bound <= hopeless or gain <= 1e-8 * floor or number >= rounds:
            break
        neurons = np.concatenate([neurons[masses > 1e-12], found, neurons[(masses <= 1e-12)][-200:]])
    return LeaningNetwork(
        _lifted(problem.expanded(neurons[masses > 0], masses[masses > 0]), unit, table, floor),
        value,
        bound,
        problem.spread(dual),
        problem.weights(dual),
        number,
    )


def _lifted(network: OperationNetwork, start: OperationNetwork, table: Operation, floor: float) -> OperationNetwork:
    """The network with a share of another one, of larger margin, that makes up for what the linear solver leaves."""
    margin, larger = network.margin(table), start.margin(table)
    if margin >= floor or larger <= floor:
        return network
    share = (floor - margin) / (larger - margin)
    u, v, w = (np.concatenate(pair) for pair in ((network.u, start.u), (network.v, start.v), (network.w, start.w)))
    masses = np.r_[(1 - share) * network.masses / network.masses.sum(), share * start.masses / start.masses.sum()]
    return OperationNetwork(u, v, w, masses)


@dataclass(frozen=True, eq=False)
class _Averaged:
    """The linear functionals of neurons in the program, in their means over a group.

    Attributes:
        rows: tensors, first the means of the margins over orbits of triples, then those of orbits of differences.
        margins: the number of orbits of triples.
        triple_orbit, difference_orbit: the number of the orbit of every triple, and of every difference.
        elements: of the group, as permutations of the points.
    """

    table: Operation
    rows: Floats
    margins: int
    triple_orbit: NDArray[np.int64]
    difference_orbit: NDArray[np.int64]
    elements: NDArray[np.int64]

    @classmethod
    def of(cls, table: Operation, differences: Floats, symmetries: OperationSymmetries) -> _Averaged:
        triple_orbit, elements = symmetries.triple_orbits(), symmetries.elements()
        margins = [
            residual(table, np.where(triple_orbit == o, 1.0 / np.sum(triple_orbit == o), 0.0))
            for o in range(triple_orbit.max() + 1)
        ]
        means = np.mean([[_moved(table, g, tensor) for g in elements] for tensor in differences], axis=1)
        kept = _first_equals(means)
        rows = np.concatenate([np.array(margins), means[np.unique(kept)]])
        return cls(table, rows, len(margins), triple_orbit, np.unique(kept, return_inverse=True)[1], elements)

    def columns(self, neurons: Floats) -> Floats:
        """The values of the rows at unit neurons (m, N + C), shape (rows, m)."""
        size = self.table.size
        x, w = neurons[:, :size], neurons[:, size:]
        sums = (x[:, : self.table.rows, None] + x[:, None, self.table.rows :]) ** 2
        return np.einsum("rabk,mab,mk->rm", self.rows, sums, w, optimize=True)

    def priced(self, tensor: Floats, known: Floats, starts: int, rng: np.random.Generator) -> Floats:
        """Good unit neurons against a tensor, from random starts and from known neurons; shape (m, N + C)."""
        forms, size = form_matrices(tensor), self.table.size
        x = known[:, :size]
        x = x[np.linalg.norm(x, axis=1) > 1e-6]
        begin = np.concatenate([random_starts(forms, starts, rng), x[rng.permutation(len(x))[:starts]]])
        ends, values = climb(forms, begin)
        order = np.argsort(-values)
        ends, values = ends[order], values[order]
        chosen = distinct(ends)[:40]
        ends, values = ends[chosen], values[chosen]
        ends, values = ends[values > 0], values[values > 0]
        ends = ends / np.linalg.norm(ends, axis=1)[:, None]
        w = form_values(forms, ends)
        w = w / np.linalg.norm(w, axis=1)[:, None]
        return np.concatenate([ends * np.sqrt(2 / 3), w * np.sqrt(1 / 3)], axis=1)

    def spread(self, dual: Floats) -> Floats:
        """The multipliers of the triples, from those of their orbits."""
        return (dual[: self.margins] / np.bincount(self.triple_orbit))[self.triple_orbit]

    def weights(self, dual: Floats) -> Floats:
        """The weights of the differences, from those of their orbits."""
        return (dual[self.margins :] / np.bincount(self.difference_orbit))[self.difference_orbit]

    def expanded(self, neurons: Floats, masses: Floats) -> OperationNetwork:
        """The network of all images of some neurons under the group, each with its share of the mass."""
        inverse = np.argsort(self.elements, axis=1)
        images = neurons[:, inverse].reshape(-1, neurons.shape[1])
        shares = np.repeat(masses / len(self.elements), len(self.elements))
        _, first, place = np.unique(np.round(images, 10), axis=0, return_index=True, return_inverse=True)
        summed = np.bincount(place.ravel(), weights=shares)
        A, N = self.table.rows, self.table.size
        return OperationNetwork(images[first, :A], images[first, A:N], images[first, N:], summed)


def _moved(table: Operation, permutation: NDArray[np.int64], tensor: Floats) -> Floats:
    """The image of a tensor (A, B, C) under a permutation of the points."""
    A, N = table.rows, table.size
    moved = np.empty_like(tensor)
    rows, columns, labels = permutation[:A], permutation[A:N], permutation[N:] - N
    if swaps(table, permutation):  # type: ignore[arg-type]
        moved[np.ix_(columns, rows - A, labels)] = tensor.transpose(1, 0, 2)
    else:
        moved[np.ix_(rows, columns - A, labels)] = tensor
    return moved


def _first_equals(tensors: Floats) -> NDArray[np.int64]:
    """For every tensor the number of the first one that equals it up to rounding."""
    flat = tensors.reshape(len(tensors), -1)
    return np.array([np.flatnonzero(np.abs(flat - row).max(axis=1) < 1e-9)[0] for row in flat])


def mass_program(columns: Floats, margins: int, floor: float) -> tuple[Floats, float, Floats, float]:
    """Masses p >= 0 of sum 1 that maximise the least difference with margins of at least the floor.

    Returns:
        The masses (m,), the value, the multipliers of all rows, and the level that no column exceeds.

    Raises:
        ArithmeticError: when the linear solver fails.
    """
    rows, m = columns.shape
    scaled = columns / floor  # of order 1, because the tolerances of the solver are absolute
    cost = np.r_[np.zeros(m), -1.0]
    upper = np.c_[-scaled, np.r_[np.zeros(margins), np.ones(rows - margins)]]
    limit = np.r_[np.full(margins, -1.0), np.zeros(rows - margins)]
    for feasibility in TOLERANCES:
        solved = linprog(
            cost,
            upper,
            limit,
            np.r_[np.ones(m), 0.0][None],
            [1.0],
            [(0, None)] * m + [(None, None)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": feasibility, "dual_feasibility_tolerance": feasibility},
        )
        if solved.status == 0:
            return _read(solved, m, floor)
    raise ArithmeticError(
        f"The linear program over {m} neurons failed at every tolerance; give a starting network of larger margin."
    )


def _read(solved: Any, m: int, floor: float) -> tuple[Floats, float, Floats, float]:
    masses = np.maximum(solved.x[:m], 0.0)
    dual = np.maximum(-solved.ineqlin.marginals, 0.0)
    return masses / masses.sum(), floor * float(solved.x[m]), dual, -floor * float(solved.eqlin.marginals[0])
