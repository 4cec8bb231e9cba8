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

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from lemmata.certificates.operations.column_program import Columns
from lemmata.certificates.operations.column_search import Search
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.plane_moments import plane_neurons
from lemmata.numerics.operations.operation import Operation

__all__ = ["FoundNetwork", "Symmetries", "best_network", "integer_network", "neuron_images"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT = 2 / (3 * np.sqrt(3))  # the largest |u + v|^2-form times w on unit neurons, where |x|^2 = 2/3 and |w|^2 = 1/3
SKETCH = 400  # more than the rank of the neurons of one orbit on the triples, as a rule


class Symmetries(Protocol):
    """What is used of the symmetries of a table (`lemmata.numerics.operations.symmetries`)."""

    def triple_orbits(self) -> Integers:
        """The number of the orbit of each triple, shape (T,)."""
        ...

    def elements(self, limit: int = ...) -> Integers:
        """The permutations of the |A| + |B| + C points as their images, at most ``limit``, (order, |A| + |B| + C)."""
        ...


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

    table: Operation
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

    @property
    def network(self) -> OperationNetwork:
        """The network in floats, spread over the symmetries: its margin is `margin`."""
        neurons = np.concatenate([self.x, self.w], axis=1)
        return _network(self.table, *_spread(self.table, neurons, self.masses, self.symmetries))


def best_network(
    table: Operation,
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
        rounds: at most so many; fewer if eight of them gain next to nothing near the end.
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
    sizes, q = (table.size, table.label_count), np.bincount(orbits, start).astype(float)
    search = Search(columns, sizes, q, starts, np.random.default_rng(seed))
    if table.label_count <= 3:
        with suppress(RuntimeError):  # a solver that fails leaves the search to itself
            search.begin(*plane_neurons(columns))
    count = 0
    while count < rounds and not search.closed(tolerance) and not search.stuck():
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


def integer_network(found: FoundNetwork, bits: int = 36, *, few: int = 200) -> OperationNetwork:
    """The exact network of integer neurons near a found one: entries 2^bits times those of unit neurons, rounded.

    Masses are integers of sum about 2^60. The margin is smaller than the found one by about 2^-bits of it. The network
    is spread over the symmetries; if that makes more than ``few`` neurons, as many are dropped as the other outputs of
    all cells allow (Caratheodory: no more stay than the rank of the neurons on the triples, and one).

    Raises:
        ValueError: for bits outside of 1..200.
    """
    if not 1 <= bits <= 200:
        raise ValueError(f"Integer neurons need between 1 and 200 bits, not {bits}.")
    unit = np.concatenate([found.x, found.w], axis=1)
    neurons, masses = _spread(found.table, unit, found.masses, found.symmetries)
    if len(masses) > few:
        neurons, masses = _fewer(found.table, neurons, masses)
    neurons = np.rint(neurons * 2.0 ** min(bits, 60))
    kept = np.any(neurons, axis=1)
    neurons, masses = neurons[kept], masses[kept]
    shift = max(0, bits - 60)
    whole = np.rint(masses / masses.sum() * 2.0**60)
    kept = whole > 0
    exact = np.array([[int(x) << shift for x in row] for row in neurons[kept]], object)
    A, N = found.table.rows, found.table.size
    fractions = np.array([Fraction(int(p)) for p in whole[kept]], object)
    return OperationNetwork(exact[:, :A], exact[:, A:N], exact[:, N:], fractions)


def _network(table: Operation, neurons: Floats, masses: Floats) -> OperationNetwork:
    A, N = table.rows, table.size
    return OperationNetwork(neurons[:, :A], neurons[:, A:N], neurons[:, N:], masses)


def neuron_images(table: Operation, neuron: Floats, permutations: Integers) -> Floats:
    """The different images of a neuron (N + C,) under permutations of the points (order, N + C).

    A neuron (x, w) and (-x, w) have the same outputs, so of the two the one stays whose first entry is positive. Images
    that agree up to rounding come equally often, because the group is transitive on them.
    """
    N = table.size
    size = np.abs(neuron).max()
    images = np.empty(permutations.shape)
    images[np.arange(len(permutations))[:, None], permutations] = neuron
    x = images[:, :N]
    first = x[np.arange(len(x)), np.argmax(np.abs(x) > 1e-9 * size, axis=1)]
    images[:, :N] *= np.where(first < 0, -1.0, 1.0)[:, None]
    _, kept = np.unique(np.round(images / size, 9), axis=0, return_index=True)
    return images[kept]


def _spread(table: Operation, neurons: Floats, masses: Floats, symmetries: Symmetries | None) -> tuple[Floats, Floats]:
    """All images of neurons (m, N + C) under the symmetries, each once, and the masses shared equally among them."""
    if symmetries is None:
        return neurons, masses
    permutations = np.asarray(symmetries.elements(), np.int64)
    parts = [neuron_images(table, neuron, permutations) for neuron in neurons]
    shares = [np.full(len(part), mass / len(part)) for part, mass in zip(parts, masses, strict=True)]
    return np.concatenate(parts), np.concatenate(shares)


def _fewer(table: Operation, neurons: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Fewer of the unit neurons with other masses and the same margins: a basic solution of the equations for masses.

    The masses are those at hand if the linear program fails or its solution loses more than rounding.
    """
    N, T = table.size, len(table.triples)
    answers = Columns(table, np.arange(T)).of(neurons[:, :N], neurons[:, N:])
    rng = np.random.default_rng(0)
    # random combinations of the equations are as good as all of them if they are more than the rank
    sketch = answers if T <= SKETCH else answers @ rng.normal(size=(T, SKETCH))
    left, sizes, _ = np.linalg.svd(sketch, full_matrices=False)
    rank = int(np.sum(sizes > 1e-10 * sizes[0]))
    if rank == SKETCH:
        left, sizes, _ = np.linalg.svd(answers, full_matrices=False)
        rank = int(np.sum(sizes > 1e-10 * sizes[0]))
    equations = np.concatenate([left[:, :rank].T, np.ones((1, len(masses)))])
    target = equations @ masses
    cost = rng.random(len(masses))  # a generic vertex
    answer = linprog(cost, A_eq=equations, b_eq=target, method="highs-ds")
    if not answer.success:
        return neurons, masses
    kept = np.flatnonzero(answer.x > 1e-12)
    new = np.asarray(np.linalg.lstsq(equations[:, kept], target, rcond=None)[0], np.float64)
    if new.min() < 0 or (new @ answers[kept]).min() < (1 - 1e-10) * (masses @ answers).min():
        return neurons, masses
    return neurons[kept], new
