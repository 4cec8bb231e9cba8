"""Whether margins at some triples decide everything that a network of waves says (ext-T11).

If all neurons are waves, the difference between the outputs f(a, b)_c and gamma([c = a + b] - 1/n) is a combination of
the functions chi^i(a) chi^j(b) chi^-(c), chi != 1, with (i, j) among nine. A margin that is gamma at (a, b, d) is one
linear equation for its coefficients. That they have no common solution but 0 is shown by their rank modulo a prime.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import group_elements
from lemmata.numerics.exact.modular import prime_with_roots, root_of_order

__all__ = ["EXPONENTS", "margins_decide"]

EXPONENTS = ((0, 0), (2, 0), (-2, 0), (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""(i, j) of a wave: those of the square of Re(x chi(a)) + Re(y chi(b))."""
TIMES = 6
"""So many times more triples than coefficients are tried at most."""

Integers = NDArray[np.int64]


def margins_decide(orders: Sequence[int], weights: Integers) -> bool:
    """Whether margins of gamma at all triples of positive weight leave one network of waves only, by its outputs.

    The rank over the complex numbers is at least that modulo a prime p = 1 mod the exponent, with a root of unity of
    F_p for exp(2 pi i/exponent). False denies nothing.

    Args:
        orders: of the cyclic factors of a group.
        weights: of the triples (a, b, d), shape (n, n, n).

    Raises:
        ValueError: as `group_elements`, and for weights of another shape.
    """
    elements, exponent = group_elements(orders), lcm(*orders)
    n = len(elements)
    if weights.shape != (n, n, n):
        raise ValueError(f"The weights need the shape {(n, n, n)}, not {weights.shape}.")
    p = prime_with_roots(exponent)
    root = root_of_order(exponent, p)
    powers = np.array([pow(root, t, p) for t in range(exponent)], np.int64)
    pairing = (elements * (exponent // np.array(orders))) @ elements.T  # chi_k(x) is root^pairing[k, x]
    a, b, d = np.nonzero(weights > 0)
    chosen = np.random.default_rng(0).permutation(len(a))[: TIMES * len(EXPONENTS) * (n - 1)]
    a, b, d = a[chosen], b[chosen], d[chosen]
    columns = []
    for element, values in zip(elements[1:], pairing[1:], strict=True):
        turned = powers[-(values[a] + values[b]) % exponent]
        turned = (turned - powers[-(values[a] + values[b] + values[d]) % exponent]) % p
        # for elements of even order some of the nine functions may be one
        different = {tuple(np.outer((i, j), element).ravel() % np.tile(orders, 2)): (i, j) for i, j in EXPONENTS}
        columns += [powers[(i * values[a] + j * values[b]) % exponent] * turned % p for i, j in different.values()]
    unknown = len(columns)
    matrix = np.stack(columns, axis=1)
    return nmod_mat(len(a), unknown, matrix.ravel().tolist(), p).rank() == unknown
