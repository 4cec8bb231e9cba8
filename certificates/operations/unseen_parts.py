"""Exact proofs about an unseen cell: from the floats of a program to integers, and from one cell or label to others."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt, log2

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs_template import template
from lemmata.certificates.operations.rounding import KINDS, RoundedProof, UnseenPart, rounded_part
from lemmata.certificates.operations.unseen_networks import LeaningNetwork
from lemmata.certificates.operations.unseen_programs import UnseenRelaxation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries

__all__ = ["exact_network", "exact_part", "moved_network", "moved_part", "part_value"]

IntArray = NDArray[np.int64]

BITS, LARGEST_BITS = 44, 60
"""Of the denominator of multipliers, and of the largest integers."""
WEIGHT_BITS = 14
"""Of the denominator of probabilities that are not multiples of a simple fraction."""
NETWORK_BITS = 36
"""Of the coordinates of unit neurons, as integers."""


def exact_part(given: Operation, relaxation: UnseenRelaxation) -> tuple[UnseenPart, tuple[int, ...]]:
    """The exact proof that a relaxation leads to, and its integer weights of the wrong labels.

    Raises:
        ValueError: for numbers that are not finite, or a matrix that is too far from a proof.
    """
    weights = _rounded_weights(relaxation.weights)
    found = relaxation.relaxation
    size = float(np.sum(np.abs(relaxation.multipliers))) + found.t + 1
    if not np.isfinite(size):
        raise ValueError("The multipliers of the program are not finite; nothing can be rounded.")
    part = rounded_part(
        given,
        relaxation.cell,
        relaxation.label,
        weights,
        1 if relaxation.wrong is None else -1,
        relaxation.multipliers,
        found.kind,
        found.matrix,
        found.t,
        found.t_prime,
        bits=min(BITS, LARGEST_BITS - ceil(log2(size * sum(weights)))),
    )
    return part, weights


def _rounded_weights(weights: NDArray[np.float64]) -> tuple[int, ...]:
    """Integers proportional to probabilities: exactly equal ones for equal shares, else of `WEIGHT_BITS`."""
    kept = weights > 1e-9
    if np.ptp(weights[kept]) < 1e-7:
        return tuple(int(x) for x in kept)
    return tuple(int(x) for x in np.rint(np.where(kept, weights, 0.0) * (1 << WEIGHT_BITS)))


def part_value(part: UnseenPart, threshold: Fraction) -> float:
    """What the part proves of the difference for all networks of at least the threshold, in units of the threshold."""
    square = part.proof.square
    root = Fraction(isqrt((square.numerator << 512) // square.denominator) + 1, 1 << 256)
    gain = threshold * Fraction(sum(part.multipliers), part.denominator)
    return float((gain - root) / threshold)


def moved_part(
    part: UnseenPart, given: Operation, symmetries: OperationSymmetries, permutation: IntArray
) -> UnseenPart:
    """The proof for the image of a question under a symmetry of the given cells; degree 4 or 6 only.

    Raises:
        ValueError: for a plane, whose variables are no labels.
    """
    kind = next(kind for kind, name in KINDS.items() if name == part.proof.kind)
    multipliers = np.empty(len(part.multipliers), object)
    multipliers[symmetries.on_triples(permutation)] = part.multipliers  # type: ignore[arg-type]
    image = template(given.rows, given.columns, given.label_count, kind).image(permutation)
    matrix = np.empty_like(part.proof.matrix)
    matrix[np.ix_(image, image)] = part.proof.matrix
    proof = part.proof
    moved = RoundedProof(proof.kind, proof.t, proof.t_prime, proof.denominator, matrix, proof.loss)
    return UnseenPart(tuple(multipliers.tolist()), part.denominator, moved)


def exact_network(leaning: LeaningNetwork) -> OperationNetwork:
    """The integer network next to a found one, without neurons of next to no mass."""
    network = leaning.network.floats()
    kept = network.masses > 1e-13
    neurons = np.rint(np.concatenate([network.u, network.v, network.w], axis=1)[kept] * 2.0**NETWORK_BITS)
    exact = np.array([[int(x) for x in row] for row in neurons], object)
    A = network.u.shape[1]
    N = A + network.v.shape[1]
    masses = np.array([Fraction(int(p)) for p in np.rint(network.masses[kept] * 2.0**60)], object)
    return OperationNetwork(exact[:, :A], exact[:, A:N], exact[:, N:], masses)


def moved_network(network: OperationNetwork, permutation: IntArray) -> OperationNetwork:
    """The image of a network under a symmetry of the table: its neurons are renamed, rows, columns and labels alike."""
    A, B = network.u.shape[1], network.v.shape[1]
    joined = np.concatenate([network.u, network.v, network.w], axis=1)
    moved = np.empty_like(joined)
    moved[:, permutation] = joined
    return OperationNetwork(moved[:, :A], moved[:, A : A + B], moved[:, A + B :], network.masses)
