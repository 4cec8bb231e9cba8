"""How far random two-layer ReLU networks are from every parity, in terms of the numbers of inputs and neurons.

f(x) = u . relu(W x + b) + c, the entries of W independent of each other and of u and b, symmetric, of variance s^2, of
size at most a s and with E W_ij^4 <= 3 s^4; |b_i| <= B s. Uniform entries have a = sqrt(3), signs a = 1; a bias that is
uniform like the weights has B = sqrt(3). For every nonempty S and j in S, relu being 1-Lipschitz,

    |hat f(S)| <= E |f(x, x_j = 1) - f(x, x_j = -1)|/2 <= sum_i |u_i W_ij| <= |u| a s sqrt(r),

and the odd part of f is within |u| |b|/2 of (W^T u) . x/2, so that |f - c'|_2 >= (|W^T u| - |u| |b|)/2 for every c'.
Here |W^T u|^2 >= |u|^2 s^2 n/2 except with probability exp(-n/24).

Source: hidden-progress, unnumbered-random-search (observation 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

__all__ = ["correlation_bound", "correlation_limit", "linear_tail"]


def linear_tail(n: int) -> arb:
    """exp(-n/24), a bound on P(sum of n independent Y_j >= 0 is at most n/2) if E Y_j = 1 and E Y_j^2 <= 3.

    Raises:
        ValueError: unless n >= 1.
    """
    if n < 1:
        raise ValueError(f"A network has at least one input, not {n}.")
    return (-arb(n) / 24).exp()


def correlation_limit(n: int, width: int, largest: Any, bias: Any) -> arb:
    """2 a sqrt(r)/(sqrt(n/2) - B sqrt(r)): the correlation with every parity is at most that but for `linear_tail`.

    Args:
        n: the number of inputs.
        width: r.
        largest: a.
        bias: B.

    Raises:
        ValueError: for sizes below 1, a below 1 or B below 0 (a is at least 1, being a bound on a variable of variance
            1), or so many neurons that nothing is bounded.
    """
    if n < 1 or width < 1 or not largest >= 1 or not bias >= 0:
        raise ValueError(f"Give sizes of 1 or more, a >= 1 and B >= 0, not {n}, {width}, {largest} and {bias}.")
    root = arb(width).sqrt()
    below = (arb(n) / 2).sqrt() - bias * root
    if not below > 0:
        raise ValueError(f"{width} neurons are too many for {n} inputs: their biases may hide the linear part.")
    return 2 * largest * root / below


def correlation_bound(weights: ArrayLike, bias: ArrayLike, readout: ArrayLike) -> float:
    """A bound on |hat f(S)|/|f - E f|_2 over all nonempty S for a given network, infinite where nothing is proved.

    2 max_j sum_i |u_i W_ij|/(|W^T u| - sum_i |u_i b_i|), in floating point.

    Args:
        weights: W, shape (r, n).
        bias: b, shape (r,).
        readout: u, shape (r,).

    Raises:
        ValueError: if the shapes do not fit.
    """
    W, b, u = (np.asarray(part, dtype=float) for part in (weights, bias, readout))
    if W.ndim != 2 or b.shape != W.shape[:1] or u.shape != W.shape[:1]:
        raise ValueError(f"The shapes must be (r, n), (r,) and (r,), not {W.shape}, {b.shape} and {u.shape}.")
    below = float(np.linalg.norm(u @ W) - np.abs(u * b).sum())
    return float(2 * (np.abs(u) @ np.abs(W)).max() / below) if below > 0 else float("inf")
