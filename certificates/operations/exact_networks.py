"""Networks whose margin is exactly a rational multiple of one square root, where the best neurons have nice directions.

Tables with much symmetry, small ones and those of few labels often have best neurons (u, v, w) that are integer vectors
with small entries, beside continua of others. They are looked for among the integer vectors x = (u, v) of small entries
(all of them where these are few, and roundings of the neurons found): x is kept if it answers the best multipliers as
well as the best neuron does, if its best output direction is rational, and if |x|^2 = 2 |w|^2 for a rational multiple w
of that direction. A linear program then says whether the kept neurons suffice; its masses are rational if all |omega|
are rational multiples of the same root. What comes out is compared with nothing but exact arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import gcd, isqrt, lcm

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import Columns, optimal_masses
from lemmata.certificates.operations.columns import FoundNetwork, neuron_images
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.pricing import best_outputs

__all__ = ["exact_network"]

Floats = NDArray[np.float64]

MOST_VECTORS = 200_000
"""So many integer vectors are tried at most."""
DENOMINATOR = 10_000
"""The largest denominator of a mass before it is shared among images."""


def exact_network(found: FoundNetwork, *, largest: int = 4, tolerance: float = 1e-8) -> OperationNetwork | None:
    """An integer network with the margin of ``found`` whose least margin is exactly a rational times one root, or None.

    Args:
        found: a network that is optimal up to rounding.
        largest: the largest entry of x that is tried by rounding.
        tolerance: relative, for answers and margins that count as equal in the search. What is returned has a margin of
            at least 1 - tolerance times that of ``found``, evaluated exactly.
    """
    table = found.table
    orbits = np.arange(len(table.triples)) if found.symmetries is None else np.asarray(found.symmetries.triple_orbits())
    columns = Columns(table, orbits)
    forms = columns.forms(np.bincount(orbits, found.q).astype(float))
    vectors = _candidates(found, largest)
    lengths = np.linalg.norm(vectors, axis=1)
    w, values = best_outputs(forms, vectors / lengths[:, None])
    good = np.flatnonzero(values > (1 - tolerance) * values.max())
    neurons = [neuron for i in good if (neuron := _integer_neuron(vectors[i], w[i])) is not None]
    if not neurons:
        return None
    whole = np.array(neurons, float)
    x, w = whole[:, : table.size], whole[:, table.size :]
    H = columns.of(x / np.linalg.norm(x, axis=1)[:, None], w / np.linalg.norm(w, axis=1)[:, None])
    p, value, _ = optimal_masses(H, float(values.max()))
    if value < (1 - tolerance) * values.max():
        return None
    kept = np.flatnonzero(p > 1e-9)
    if found.symmetries is None:
        permutations = np.arange(table.size + table.label_count)[None]
    else:
        permutations = np.asarray(found.symmetries.elements(), np.int64)
    rows: list[list[int]] = []
    masses: list[Fraction] = []
    for i in kept:
        images = neuron_images(table, whole[i], permutations)
        rows += [[int(entry) for entry in image] for image in images]
        masses += [Fraction(float(p[i])).limit_denominator(DENOMINATOR) / len(images)] * len(images)
    entries = np.array(rows, object)
    A, N = table.rows, table.size
    network = OperationNetwork(entries[:, :A], entries[:, A:N], entries[:, N:], np.array(masses, object))
    if not _one_root(network) or float(network.lower_margin(table)) < (1 - tolerance) * found.margin:
        return None
    return network


def _candidates(found: FoundNetwork, largest: int) -> Floats:
    """Integer vectors x, not 0: all with entries up to 2, 1 where these are few, and roundings of the neurons found."""
    N = found.table.size
    vectors: set[tuple[int, ...]] = set()
    for entry in (2, 1):
        if (2 * entry + 1) ** N <= MOST_VECTORS:
            vectors.update(product(range(-entry, entry + 1), repeat=N))
            break
    for x in found.x:
        for entry in range(1, largest + 1):
            for pivot in x[np.abs(x) > 0.1 * np.abs(x).max()]:
                rounded = np.rint(entry * x / pivot)
                if np.abs(rounded).max() <= 4 * largest:
                    vectors.add(tuple(int(z) for z in rounded))
    whole = [x for x in vectors if next((z for z in x if z), 0) > 0 and gcd(*x) == 1]
    return np.array(sorted(whole), float).reshape(-1, N)


def _integer_neuron(x: Floats, w: Floats) -> list[int] | None:
    """The integer vector on the ray of (x, s w) with s > 0 and s^2 |w|^2 = |x|^2 / 2, if w is rational and s too."""
    ratios = [Fraction(float(z)).limit_denominator(60) for z in w / np.abs(w).max()]
    if np.abs(np.array([float(ratio) for ratio in ratios]) - w / np.abs(w).max()).max() > 1e-6:
        return None
    common = lcm(*(ratio.denominator for ratio in ratios))
    outputs = [int(ratio * common) for ratio in ratios]
    whole = [int(z) for z in x]
    square = Fraction(sum(z * z for z in whole), 2 * sum(z * z for z in outputs))
    above, below = isqrt(square.numerator), isqrt(square.denominator)
    if above**2 != square.numerator or below**2 != square.denominator:
        return None
    neuron = [below * z for z in whole] + [above * z for z in outputs]
    divisor = gcd(*neuron)
    return [z // divisor for z in neuron]


def _one_root(network: OperationNetwork) -> bool:
    """Whether all |omega| are rational multiples of one square root."""
    first, *others = {int(square) for square in network.squares()}
    return all(isqrt(first * other) ** 2 == first * other for other in others)
