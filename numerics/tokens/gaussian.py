"""Moments of Gaussian vectors: the variance of a squared norm, and all moments of the norm.

    Var |x|^2 = 2 tr(S S) + 4 m^T S m          for x ~ N(m, S), S the covariance, which may be singular;
    E |x|^r = 2^(r/2) Gamma((d+r)/2) / Gamma(d/2)          for x ~ N(0, I_d).

Source: qstr, lemma-40 and assumption-1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.systems import conversion, number_system

__all__ = ["norm_moment", "squared_norm_variance"]


def squared_norm_variance(mean: ArrayLike, covariance: ArrayLike) -> Any:
    """Var |x|^2 for x ~ N(m, S), in the numbers of the arguments.

    Args:
        mean: m, shape (d,).
        covariance: S, symmetric, shape (d, d); that it is positive semidefinite is not checked.

    Raises:
        ValueError: for shapes that do not fit, or a matrix that is not symmetric.
    """
    m, S = np.asarray(mean), np.asarray(covariance)
    if m.ndim != 1 or S.shape != (m.size, m.size) or not m.size:
        raise ValueError(f"A Gaussian vector has a mean (d,) and a covariance (d, d), not {m.shape} and {S.shape}.")
    convert = conversion(number_system([m, S]))
    m, S = convert(m), convert(S)
    if not all(S[i, j] == S[j, i] for i, j in np.ndindex(S.shape) if i < j):
        raise ValueError("A covariance is symmetric.")
    return 2 * (S * S).sum() + 4 * (m * (S @ m)).sum()


def norm_moment(dimension: int, order: object) -> arb:
    """E |x|^r for a standard Gaussian x in d dimensions, enclosed.

    Args:
        dimension: d.
        order: r > -d, in any number system.

    Raises:
        ValueError: for another order.
    """
    d = checked_integer("The dimension", dimension, 1)
    r = as_balls(np.array([order], dtype=object))[0]
    if not r + d > 0:
        raise ValueError(f"The moment of the norm in {d} dimensions is finite for orders above -{d}, not for {order}.")
    half = arb(1) / 2
    return arb(2) ** (r * half) * (((r + d) * half).lgamma() - (arb(d) * half).lgamma()).exp()
