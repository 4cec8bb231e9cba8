"""Networks on tables with exact weights near those in floats, for the tests of this chapter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.numerics.operations.operation import Operation

__all__ = ["in_units", "listed_network"]


def in_units(u: np.ndarray, v: np.ndarray, w: np.ndarray, masses: np.ndarray, bits: int = 24) -> OperationNetwork:
    """The exact network of these weights, rounded, in units of 2^-bits, with the masses as they are."""
    first, second, last = (
        np.array([[round(float(x) * 2**bits) for x in row] for row in part], object) for part in (u, v, w)
    )
    return OperationNetwork(first, second, last, np.array([Fraction(float(p)) for p in masses], object))


def listed_network(document: dict[str, Any], table: Operation) -> OperationNetwork:
    """The exact network that a document lists, for a table."""
    weights = np.array(document["neurons"], object)
    masses = np.array([Fraction(mass) for mass in document["masses"]], object)
    parts = np.split(weights, [table.rows, table.size], axis=1)
    return OperationNetwork(parts[0], parts[1], parts[2], masses)
