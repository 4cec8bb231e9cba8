"""The margins of a ReLU network on a parity at all 2^n inputs, one by one, in integers.

The weights are multiplied by their common denominators, and the inputs are taken in the order of a Gray code, in which
one sign changes at a time: n up to 24 takes seconds. It knows nothing of supports or sums, so it is an independent
check of any closed form for the outputs of a network.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.fourier.gaps import support_indices

__all__ = ["margin_range"]

_LIMIT = 2**62
_LARGEST = 40
"""Inputs beyond which the enumeration would take days."""


def margin_range(
    hidden: ArrayLike, bias: ArrayLike, readout: ArrayLike, support: Iterable[int], output_bias: object = 0
) -> tuple[fmpq, fmpq]:
    """The least and the largest value of chi_S(x) f(x) over all x in {-1, 1}^n, f(x) = sum_i u_i (w_i.x + b_i)_+ + c.

    Args:
        hidden: the rows w_i, shape (r, n), like all weights exact rational numbers.
        bias: shape (r,).
        readout: shape (r,).
        support: S.
        output_bias: c.

    Raises:
        ValueError: for shapes that do not fit, numbers that are not exact and rational, more than 40 inputs, or
            integers that could exceed 64 bits.
    """
    W, b, u = (as_exact(np.asarray(part)) for part in (hidden, bias, readout))
    if W.ndim != 2 or 0 in W.shape or not b.shape == u.shape == W.shape[:1]:
        raise ValueError(
            f"The shapes must be hidden (r, n), bias (r,), readout (r,), not {W.shape}, {b.shape}, {u.shape}."
        )
    n = W.shape[1]
    if n > _LARGEST:
        raise ValueError(f"All inputs of n <= {_LARGEST} signs can be tried one by one, not those of n = {n}.")
    c = as_exact([output_bias])[0]
    if not all(isinstance(number, fmpq) for number in [*W.ravel(), *b, *u, c]):
        raise ValueError("The weights must be exact rational numbers.")
    inside = np.zeros(n, dtype=np.bool_)
    inside[list(support_indices(n, support))] = True
    scale, unit = common_denominator([*W.ravel(), *b]), common_denominator([*u, c])
    rows, before, weights = _integers(W, scale), _integers(b, scale), _integers(u, unit)
    constant = int((c * unit * scale).p)
    largest = [sum(map(abs, row)) + abs(start) for row, start in zip(rows, before, strict=True)]
    if sum(abs(w) * size for w, size in zip(weights, largest, strict=True)) + abs(constant) >= _LIMIT:
        raise ValueError("The common denominators of the weights are too large for 64-bit integers.")
    low, high = _enumerate(
        np.array(rows, dtype=np.int64),
        np.array(before, dtype=np.int64),
        np.array(weights, dtype=np.int64),
        constant,
        inside,
    )
    return fmpq(int(low), scale * unit), fmpq(int(high), scale * unit)


def _integers(part: NDArray[np.object_], scale: int) -> list[Any]:
    return np.array([int((x * scale).p) for x in part.ravel()], dtype=object).reshape(part.shape).tolist()


@numba.njit(cache=True)
def _enumerate(
    rows: NDArray[np.int64],
    before: NDArray[np.int64],
    weights: NDArray[np.int64],
    constant: int,
    inside: NDArray[np.bool_],
) -> tuple[Any, Any]:
    width, n = rows.shape
    sums = before.copy()
    for i in range(width):
        sums[i] += rows[i].sum()
    columns = np.ascontiguousarray(rows.T)
    signs = np.ones(n, dtype=np.int64)
    label = 1
    low, high = np.int64(2**62), -np.int64(2**62)
    for code in range(1, 2**n + 1):
        output = constant
        for i in range(width):
            output += weights[i] * max(sums[i], 0)
        margin = label * output
        low, high = min(low, margin), max(high, margin)
        bit = 0
        while (code >> bit) & 1 == 0:
            bit += 1
        if bit == n:
            break
        if inside[bit]:
            label = -label
        change = -2 * signs[bit]
        signs[bit] = -signs[bit]
        for i in range(width):
            sums[i] += change * columns[bit, i]
    return low, high
