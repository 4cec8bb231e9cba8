"""The quaternions 1, i, j, k and their products, and the group Q_8 of these units with both signs.

The unit with number p is the p-th of 1, i, j, k. The product of two units is a unit up to sign, which two tables hold:
UNITS[p] UNITS[q] = PRODUCT_SIGN[p, q] UNITS[PRODUCT_INDEX[p, q]].
"""

from __future__ import annotations

import numpy as np

from lemmata.numerics.groups.tables import FiniteGroup

__all__ = ["CONJUGATION", "PRODUCT_INDEX", "PRODUCT_SIGN", "UNITS", "quaternion_group"]

UNITS = np.eye(4, dtype=np.int64)
"""The units in the basis 1, i, j, k, one in each row."""

PRODUCT_INDEX = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
"""The number of the product of two units without its sign, shape (4, 4)."""

PRODUCT_SIGN = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, -1, -1, 1], [1, 1, -1, -1]])
"""The sign of the product of two units, shape (4, 4)."""

CONJUGATION = np.array([1, -1, -1, -1])
"""The signs with which the coordinates of a quaternion are multiplied by conjugation, shape (4,)."""


def quaternion_group() -> FiniteGroup:
    """The group Q_8 with the elements 1, -1, i, -i, j, -j, k, -k."""
    unit, negative = np.divmod(np.arange(8), 2)
    signs = np.where(PRODUCT_SIGN[unit[:, None], unit] < 0, 1, 0) ^ negative[:, None] ^ negative
    table = 2 * PRODUCT_INDEX[unit[:, None], unit] + signs
    labels = tuple(sign + name for name in "1ijk" for sign in ("", "-"))
    return FiniteGroup(table, "Q8", labels)
