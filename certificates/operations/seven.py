"""Addition modulo 7 without one cell, where the form of ext-T11 is only semidefinite (ext-T12, proofs/triangles.md).

The weights of ext-T9 pay neurons that are no waves as much as waves: u = sum x_k c_k, v = u or -u, w with the parts
x_m^2 - x_k x_l, where c_1, c_2, c_3 are cosines and x_1 x_2 + x_1 x_3 + x_2 x_3 = 0. `margin_shares` are integers by
which the margins of every network are added up: waves give 0, these neurons less, and a network of maximum margin 0 at
least. So it has none of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.triangle_weights import conditions_met
from lemmata.certificates.operations.triangles import one_cell_weights
from lemmata.certificates.operations.wave_form import exact_form
from lemmata.certificates.operations.wave_networks import margins_decide
from lemmata.numerics.exact.definite import proved_positive_definite
from lemmata.numerics.exact.precision import precision

__all__ = ["form_is_semidefinite", "margin_shares", "null_vectors", "seven_weights"]

BITS = 64
"""Of the balls."""
SHARES = {
    (0, 1, 1): -6, (1, 2, 3): -4, (1, 2, 6): 4, (1, 3, 2): 4, (1, 3, 4): 2, (1, 6, 1): -3, (1, 6, 2): -2, (1, 6, 3): 5
}  # fmt: skip
"""Of a triple (a, b, d) and its images under (ta, tb, td), t = 1, ..., 6, and the exchange of a and b."""

Integers = NDArray[np.int64]


def seven_weights() -> Integers | None:
    """The weights of ext-T9 for n = 7, shape (7, 7, 7), if all that ext-T12 asks of them is so; (0, 0) is missing."""
    weights, _ = one_cell_weights((7,))
    shown = conditions_met((7,), weights, [(0, 0)]) and form_is_semidefinite(weights) and margins_decide((7,), weights)
    return weights if shown else None


def form_is_semidefinite(weights: Integers) -> bool:
    """Whether the form of weights for n = 7 is shown to be positive semidefinite and 0 at `null_vectors` alone.

    It is 0 there, exactly; and balls prove it positive definite where the first two of the three parts of e along
    cosines vanish, which leaves 0 of the null vectors.
    """
    form = exact_form((7,), weights)
    if any(x != 0 for x in (form @ null_vectors().T).ravel()):
        return False
    rest = np.delete(np.arange(len(form)), (0, 2))
    with precision(BITS):
        return proved_positive_definite(np.array([[form[i, j].ball(BITS) for j in rest] for i in rest]))


def null_vectors() -> Integers:
    """Two vectors (e, s) in the coordinates of `wave_form`: s_kl = -e_m along cosines, where e_1 + e_2 + e_3 = 0."""
    found = []
    for e in ((1, -1, 0), (0, 1, -1)):
        s = [
            -e[3 - k // 2 - l // 2] if k % 2 == l % 2 == 0 else 0
            for k in range(6)
            for l in range(6)
            if k // 2 != l // 2
        ]
        found.append([x for part in e for x in (part, 0)] + s)
    return np.array(found)


def margin_shares() -> Integers:
    """The integers by which margins are added up, shape (7, 7, 7), indices a, b, d."""
    shares = np.zeros((7, 7, 7), np.int64)
    for (a, b, d), share in SHARES.items():
        for t in range(1, 7):
            for x, y in ((a, b), (b, a)):
                shares[t * x % 7, t * y % 7, t * d % 7] = share
    return shares
