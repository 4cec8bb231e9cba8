"""Networks on tables with exact weights near those in floats, for the tests of this chapter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lemmata.certificates.operations.neurons import OperationNetwork

__all__ = ["in_units"]


def in_units(u: np.ndarray, v: np.ndarray, w: np.ndarray, masses: np.ndarray, bits: int = 24) -> OperationNetwork:
    """The exact network of these weights, rounded, in units of 2^-bits, with the masses as they are."""
    first, second, last = (
        np.array([[round(float(x) * 2**bits) for x in row] for row in part], object) for part in (u, v, w)
    )
    return OperationNetwork(first, second, last, np.array([Fraction(float(p)) for p in masses], object))
