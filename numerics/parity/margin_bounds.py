"""Bounds on the margins of a ReLU network on a parity at all 2^n inputs, of any n: exact where few inputs matter.

For each choice of the signs x_S that the parity reads the other inputs move the i-th neuron by at most the sum of their
weights, sum_(j not in S) |W_ij|, whatever they are. So it stays between the values of the ReLU at two ends, and the
sum over the neurons encloses the output. Weights that training has made small outside of S cost little, and a positive
bound proves that no input of the 2^n is wrong. All numbers are rational, floats counting with their binary values.

`lemmata.numerics.parity.exhaustive` tries all inputs of n <= 40 one by one, and has the range itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any

from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.systems import exact_values
from lemmata.numerics.fourier.gaps import support_indices

__all__ = ["margin_bounds"]

_LARGEST = 16
"""Inputs of a parity, whose signs are all tried."""


def margin_bounds(
    hidden: ArrayLike | Sequence[Any],
    bias: ArrayLike | Sequence[Any],
    readout: ArrayLike | Sequence[Any],
    support: Iterable[int],
    output_bias: object = 0,
) -> tuple[fmpq, fmpq]:
    """Two numbers between which chi_S(x) f(x) lies for all x in {-1, 1}^n, f(x) = sum_i u_i (w_i.x + b_i)_+ + c.

    They are attained if no weight outside of S is other than 0.

    Args:
        hidden: the rows w_i, shape (r, n), exact rational numbers or finite floats.
        bias: shape (r,).
        readout: shape (r,).
        support: S, at most 16 inputs.
        output_bias: c.

    Raises:
        ValueError: for shapes that do not fit, other numbers, or a larger support.
    """
    W, b, u = exact_values("hidden", hidden), exact_values("bias", bias), exact_values("readout", readout)
    if W.ndim != 2 or 0 in W.shape or not b.shape == u.shape == W.shape[:1]:
        raise ValueError(
            f"The shapes must be hidden (r, n), bias (r,), readout (r,), not {W.shape}, {b.shape} and {u.shape}."
        )
    [c] = exact_values("output_bias", [output_bias])
    inside = list(support_indices(W.shape[1], support))
    if len(inside) > _LARGEST:
        raise ValueError(f"All signs of at most {_LARGEST} inputs of a parity are tried, not of {len(inside)}.")
    outside = [j for j in range(W.shape[1]) if j not in inside]
    reach = abs(W[:, outside]).sum(axis=1) if outside else 0 * b
    ends = []
    for signs in product((1, -1), repeat=len(inside)):
        label = prod(signs)
        centre = W[:, inside] @ signs + b
        low = high = label * c
        for at, move, weight in zip(centre, reach, label * u, strict=True):
            least, most = sorted((weight * max(at - move, fmpq(0)), weight * max(at + move, fmpq(0))))
            low, high = low + least, high + most
        ends.append((low, high))
    return min(low for low, _ in ends), max(high for _, high in ends)
