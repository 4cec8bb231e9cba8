"""Directions of best outputs that are no outputs of the points of an optimum: simple ones, and all that a proof meets.

For multipliers that are best, x is a best neuron exactly if it is an eigenvector of w.M for the eigenvalue phi |w|, the
largest that there can be, and then M(x) is along w. Where best neurons form continua, those of vectors w of small
integers lie in small fields: that of phi^2, and of sqrt(|w|^2 phi^2). And the matrix of a proof has the monomials of
every best neuron in its kernel, also of those that no optimal network needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product
from math import gcd

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates import kernel
from lemmata.certificates.operations.column_program import Columns, optimal_masses
from lemmata.certificates.operations.sharp_optimum import Fixed, Floats, SharpOptimum
from lemmata.certificates.operations.special_points import sharp_point

__all__ = ["directions_of", "other_directions", "simple_directions"]

LARGEST, MOST_VECTORS = 12, 20_000
"""The largest entry of a simple direction, and how many are tried."""
ALONE = 3
"""Of networks whose |w|^2 have one squarefree part, so many are tried."""
CLOSE = 1e-9
"""Relative to the best answer."""
STARTS, STEPS = 200, 3000
"""Of ascents to best neurons."""
MOST_REFINED = 12
"""So many best neurons beyond the known ones are refined."""


def directions_of(optimum: SharpOptimum, points: Fixed) -> list[Fixed]:
    """The outputs of points, each direction once, with a largest entry of 1 or -1 in fixed point."""
    bits, matrices = optimum.bits, optimum.matrices()
    found: dict[tuple[float, ...], Fixed] = {}
    for x in points:
        outputs = ((matrices @ x >> bits) @ x) >> bits
        largest = max(abs(z) for z in outputs)
        w = np.array([(z << bits) // largest for z in outputs], object)
        found.setdefault(tuple(round((z >> (bits - 60)) / 2.0**60, 9) + 0.0 for z in w), w)
    return list(found.values())


def simple_directions(optimum: SharpOptimum) -> Iterator[list[Fixed]]:
    """Sets of directions of small integers whose neurons make an optimal network.

    The square root of |w|^2 phi^2 depends on the squarefree part of |w|^2: either all have the same one, or large ones
    are left out in turn as long as the others suffice.
    """
    pool, spaces = _simple_pool(optimum)
    classes = [sum(map(int, w * w)) // kernel.square_part(sum(map(int, w * w))) ** 2 for w in pool]
    columns = Columns(optimum.table, np.asarray(optimum.symmetries.triple_orbits(), np.int64))
    best = optimum.floats()[1] ** 0.5
    owners: list[int] = []
    points: list[Floats] = []
    for i, space in enumerate(spaces):
        pairs = list(combinations(space.T, 2))
        vectors = [*space.T, *(x + y for x, y in pairs), *(x - y for x, y in pairs)]
        points += [x / np.linalg.norm(x) for x in vectors]
        owners += [i] * len(vectors)
    if not points:
        return
    owner = np.array(owners)
    directions = np.array([w / np.linalg.norm(w.astype(float)) for w in pool], float)
    answers = columns.of(np.array(points), directions[owner])

    def enough(allowed: set[int]) -> list[Fixed] | None:
        """The directions of an optimal network with these squarefree parts, if there is one."""
        kept = np.flatnonzero([classes[i] in allowed for i in owner])
        shares, value, _ = optimal_masses(answers[kept], best) if len(kept) else (np.zeros(0), 0.0, None)
        if value < (1 - CLOSE) * best:
            return None
        return [_scaled(pool[i], optimum.bits) for i in sorted(set(owner[kept[shares > 1e-7]].tolist()))]

    least = set(classes)
    if enough(least) is None:
        return
    alone = [found for one in sorted(least) if (found := enough({one})) is not None]
    yield from alone[:ALONE]
    if not alone:
        for one in sorted(least, reverse=True):
            if enough(least - {one}) is not None:
                least.remove(one)
        if (found := enough(least)) is not None:
            yield found


def other_directions(
    optimum: SharpOptimum, used: Sequence[Fixed], preferred: Callable[[Fixed], bool] = lambda _: True
) -> list[Fixed]:
    """Directions whose best neurons have monomials beyond those of the used ones and of their images.

    Where best neurons form continua, simple ones come first, of these the preferred ones; then those of best neurons
    to which ascents lead and that Newton's method refines.
    """
    matrices, square = optimum.floats()
    span = _Span(optimum, matrices)
    for w in used:
        span.take(_space(matrices, _rounded(w, optimum.bits), square**0.5))
    pool, spaces = _simple_pool(optimum) if optimum.freedom else ([], [])
    simple = [(_scaled(w, optimum.bits), space) for w, space in zip(pool, spaces, strict=True)]
    beyond = [(w, space) for w, space in simple if span.beyond(space)]
    found = [w for w, space in sorted(beyond, key=lambda one: not preferred(one[0])) if span.take(space)]
    refined = 0
    for x in _best_neurons(matrices, square):
        if refined < MOST_REFINED and span.beyond(x[:, None]):
            refined += 1
            point = sharp_point(optimum, x)
            if point is not None:
                (w,) = directions_of(optimum, point[None])
                span.take(_space(matrices, _rounded(w, optimum.bits), square**0.5))
                found.append(w)
    return found


class _Span:
    """What the vectors (x_i x_j; M(x)) of some best neurons and of their images span."""

    def __init__(self, optimum: SharpOptimum, matrices: Floats) -> None:
        self.matrices = matrices
        self.permutations = np.asarray(optimum.symmetries.elements(), np.int64)
        self.basis = np.zeros((0, matrices.shape[1] * (matrices.shape[1] + 1) // 2 + len(matrices)))

    def lifts(self, space: Floats, permutations: NDArray[np.int64]) -> Floats:
        """The vectors of all pairs from a basis (N, e), and of their images under permutations, each of length 1."""
        N = len(space)
        upper = np.triu_indices(N)
        found = []
        for a, b in combinations_with_replacement(range(space.shape[1]), 2):
            x, y = space[:, a], space[:, b]
            outputs = np.einsum("kij,i,j->k", self.matrices, x, y)
            for g in permutations:
                both, moved = np.zeros((N, N)), np.zeros(len(outputs))
                both[np.ix_(g[:N], g[:N])] = np.outer(x, y) + np.outer(y, x)
                moved[g[N:] - N] = 2 * outputs
                found.append(np.concatenate([both[upper], moved]))
        lifts = np.array(found)
        return lifts / np.linalg.norm(lifts, axis=1)[:, None]

    def beyond(self, space: Floats) -> bool:
        """Whether a space has vectors that are not spanned."""
        rest = self.lifts(space, np.arange(self.permutations.shape[1])[None])
        return bool(np.abs(rest - rest @ self.basis.T @ self.basis).max() > 1e-5)

    def take(self, space: Floats) -> bool:
        """A space joins with its images; whether it was beyond."""
        if not self.beyond(space):
            return False
        lifts = self.lifts(space, self.permutations)
        _, sizes, rows = np.linalg.svd(np.concatenate([self.basis, lifts]), full_matrices=False)
        self.basis = rows[sizes > 1e-6 * sizes[0]]
        return True


def _simple_pool(optimum: SharpOptimum) -> tuple[list[NDArray], list[Floats]]:
    """Directions of small integers that are best, short ones first, and bases (N, e) of their neurons."""
    matrices, square = optimum.floats()
    C = len(matrices)
    largest = max(b for b in range(1, LARGEST + 1) if b == 1 or (2 * b + 1) ** (C - 1) <= MOST_VECTORS)
    if (2 * largest + 1) ** (C - 1) > MOST_VECTORS:
        return [], []
    entries = range(-largest, largest + 1)
    vectors = [(*w, -sum(w)) for w in product(entries, repeat=C - 1) if abs(sum(w)) <= largest and gcd(*w) == 1]
    vectors.sort(key=lambda w: (sum(z * z for z in w), w))
    pool, spaces = [], []
    for w in vectors:
        space = _space(matrices, np.array(w, float), square**0.5)
        if space.shape[1]:
            pool.append(np.array(w, object))
            spaces.append(space)
    return pool, spaces


def _space(matrices: Floats, w: Floats, best: float) -> Floats:
    """A basis (N, e) of the best neurons with outputs along w."""
    sizes, vectors = np.linalg.eigh(np.tensordot(w / np.linalg.norm(w), matrices, 1))
    return np.asarray(vectors[:, sizes > (1 - CLOSE) * best], np.float64)


def _best_neurons(matrices: Floats, square: float) -> Floats:
    """Best neurons (m, N) that ascents from random ones lead to."""
    x = np.random.default_rng(0).normal(size=(STARTS, matrices.shape[1]))
    x /= np.linalg.norm(x, axis=1)[:, None]
    for _ in range(STEPS):
        images = np.einsum("kij,aj->aki", matrices, x)
        outputs = np.einsum("aki,ai->ak", images, x)
        new = np.einsum("ak,aki->ai", outputs, images) + square / 2 * x
        new /= np.linalg.norm(new, axis=1)[:, None]
        moved, x = np.abs(new - x).max(), new
        if moved < 1e-13:
            break
    outputs = np.einsum("kij,ai,aj->ak", matrices, x, x)
    return x[(outputs * outputs).sum(axis=1) > (1 - CLOSE) * square]


def _rounded(w: Fixed, bits: int) -> Floats:
    return np.array([(int(z) >> (bits - 60)) / 2.0**60 for z in w])


def _scaled(w: NDArray, bits: int) -> Fixed:
    """A direction in integers, in fixed point with a largest entry of 1 or -1."""
    largest = max(abs(int(z)) for z in w)
    return np.array([(int(z) << bits) // largest for z in w], object)
