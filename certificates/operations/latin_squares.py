"""What the margins of all Latin squares of one order are at most, and a network for those of projective spaces.

The bound is that of the uniform weights on all triples: the form that they give is 2/(n (n - 1)) sum u_a v_b w_y(a, b)
for w of sum 0, and every matrix w_y(a, b) has the Frobenius norm sqrt(n) |w| (ext-T13 of the chapter feature_emergence,
proofs/latin-squares.md). Where some optimal weights are positive on all triples, nothing is lost when a network of
maximum margin is reduced to its products u_a v_b w_c (ext-T16).
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.numerics.operations.squares import steiner_square

__all__ = ["latin_square_bound", "product_network", "steiner_network"]

MASS_BITS = 64


def latin_square_bound(n: int) -> Fraction:
    """The square of 2/(3 sqrt(3) sqrt(n) (n - 1)), which no Latin square of order n has a larger margin than.

    Raises:
        ValueError: for an order below 2.
    """
    if n < 2:
        raise ValueError(f"A Latin square with a margin has at least two labels; got the order {n}.")
    return Fraction(4, 27 * n * (n - 1) ** 2)


def steiner_network(n: int) -> OperationNetwork:
    """An exact network for `steiner_square` of order n, of margin 2 (n + 1)/(3 sqrt(3) n (n sqrt(n) + n + 1)) nearly.

    One neuron chi(a), chi(b), chi(c) for each of the n nontrivial characters of Z_2^k; and for each element e two
    neurons that are 1 or -1 at e alone, whose sum counts in the cell (e, e) only, where the others are silent. The
    masses have the ratio n sqrt(n) : (n + 1)/2, its root rounded to 64 bits.

    Raises:
        ValueError: as `steiner_square`.
    """
    vectors = np.arange(1, len(steiner_square(n).values) + 1)
    ones = np.array([[(x & y).bit_count() for y in vectors.tolist()] for x in vectors.tolist()])
    characters, units = (1 - 2 * (ones % 2)).astype(object), np.eye(n, dtype=object)
    root = Fraction(isqrt(n**3 << (2 * MASS_BITS)), 1 << MASS_BITS)
    masses = [root] * n + [Fraction(n + 1, 2)] * (2 * n)
    return OperationNetwork(
        np.concatenate([characters, units, units]),
        np.concatenate([characters, units, -units]),
        np.concatenate([characters, units, -units]),
        np.array(masses, object),
    )


def product_network(network: OperationNetwork) -> OperationNetwork:
    """The network in floats that says the products u_a v_b w_c of another one and no squares, each as cheap as it can.

    Each neuron loses the means of its three parts, and becomes two of equal lengths of the parts, (u, v, w) and
    (u, -v, -w), with masses such that together they say a multiple of u_a v_b w_c, the same for all neurons.
    """
    unit = network.floats()
    parts = [part - part.mean(axis=1, keepdims=True) for part in (unit.u, unit.v, unit.w)]
    lengths = [np.linalg.norm(part, axis=1) for part in parts]
    masses = unit.masses * np.prod(lengths, axis=0)
    kept = masses > 0
    u, v, w = (part[kept] / length[kept, None] for part, length in zip(parts, lengths, strict=True))
    return OperationNetwork(
        np.concatenate([u, u]), np.concatenate([v, -v]), np.concatenate([w, -w]), np.tile(masses[kept], 2)
    )
