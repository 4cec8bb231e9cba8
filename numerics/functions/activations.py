"""The ReLU and the GeLU of arrays in any number system, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.numerics.exact.numbers import sign_of
from lemmata.numerics.exact.systems import Array, number_system

__all__ = ["gelu", "relu"]


def relu(z: Array) -> Array:
    """max(z, 0) element by element: correctly for floats and exact numbers, as an enclosure for balls.

    Raises:
        ValueError: if an element has no sign (a cyclotomic number that is not real).
    """
    if z.dtype != object:
        return np.maximum(z, 0)
    result = np.empty(z.shape, dtype=object)
    result.ravel()[:] = [_relu(x) for x in z.ravel().tolist()]
    return result


def gelu(z: Array) -> Array:
    """x times the normal distribution function at x, element by element, for floats and balls.

    Raises:
        ValueError: for exact numbers, whose GeLU is not rational.
    """
    if z.dtype == np.float64:
        from scipy.special import ndtr  # slow to import, and needed here alone

        return z * ndtr(z)
    if number_system([z]) == "exact":
        raise ValueError("A GeLU is not rational: use balls or float64.")
    result = np.empty(z.shape, dtype=object)
    half_root = (arb(1) / 2).sqrt()
    result.ravel()[:] = [x * (-x * half_root).erfc() / 2 for x in z.ravel().tolist()]
    return result


def _relu(x: Any) -> Any:
    if isinstance(x, fmpq):  # what most exact numbers are, decided without a look at all other types
        return x if x > 0 else 0 * x
    if isinstance(x, arb):
        return x.max(arb(0))
    if isinstance(x, float):
        return max(x, 0.0)
    return x if sign_of(x) > 0 else 0 * x
