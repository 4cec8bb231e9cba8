"""The exact hinge loss and 0-1 error of a ReLU network on a sparse parity with thousands of inputs.

If every row of the first layer is constant on S, a_i, and the rows agree outside of S up to factors, c_i v, then the
output depends on two independent numbers only: the sum s of the relevant signs, and t = v . (irrelevant signs). The
law of t is a convolution of one two-point law per irrelevant input: with integer weights, the coefficients of
prod_j (z^v_j + z^-v_j), which equal weights make a power of a polynomial. The loss is then a sum over pairs (s, t), in
exact arithmetic.

Source: hidden-progress, lemma-B.4 (whose good neurons have this shape if their irrelevant signs agree).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.fourier.gaps import support_indices
from lemmata.numerics.parity.signed_sums import signed_sum_law

__all__ = ["ParityLosses", "parity_losses"]


@dataclass(frozen=True)
class ParityLosses:
    """The hinge loss E (1 - chi_S f)_+ and the error P[chi_S f <= 0]."""

    hinge: fmpq
    error: fmpq


def parity_losses(
    hidden: ArrayLike, bias: ArrayLike, readout: ArrayLike, support: Iterable[int], output_bias: object = 0
) -> ParityLosses:
    """The losses of f(x) = sum_i u_i (w_i . x + b_i)_+ + c on the label chi_S(x), over all 2^n inputs.

    Args:
        hidden: the rows w_i, shape (r, n), like all weights exact rational numbers.
        bias: shape (r,).
        readout: shape (r,).
        support: S.
        output_bias: c.

    Raises:
        ValueError: for shapes that do not fit, numbers that are not exact and rational, a support that is no nonempty
            set of inputs, a row that is not constant on S, rows that are not multiples of one another outside of S, or
            as `signed_sum_law`.
    """
    W, b, u = (as_exact(np.asarray(part)) for part in (hidden, bias, readout))
    if W.ndim != 2 or 0 in W.shape or not b.shape == u.shape == W.shape[:1]:
        raise ValueError(
            f"The shapes must be hidden (r, n), bias (r,), readout (r,), not {W.shape}, {b.shape}, {u.shape}."
        )
    c = as_exact([output_bias])[0]
    if not all(isinstance(number, fmpq) for number in [*W.ravel(), *b, *u, c]):
        raise ValueError("The weights must be exact rational numbers.")
    inside = list(support_indices(W.shape[1], support))
    slopes, factors, irrelevant = _reduced(W, inside)
    # everything in integers: pre-activations in units of 1/scale, read-out and output in units of 1/unit
    scale = common_denominator([*slopes, *factors, *b])
    unit = common_denominator([*u, c])
    rows = [tuple(int((x * scale).p) for x in row) for row in zip(slopes, factors, b, strict=True)]
    weights = [int((x * unit).p) for x in u]
    constant, one = int((c * unit).p) * scale, scale * unit
    k = len(inside)
    hinge, errors = 0, 0
    for t, count in signed_sum_law(irrelevant).items():
        for m in range(k + 1):
            before = (a * (2 * m - k) + factor * t + start for a, factor, start in rows)
            output = sum((w * z for w, z in zip(weights, before, strict=True) if z > 0), constant)
            margin = -output if (k - m) % 2 else output
            mass = count * math.comb(k, m)
            errors += mass if margin <= 0 else 0
            hinge += mass * (one - margin) if margin < one else 0
    return ParityLosses(fmpq(hinge, one * 2 ** W.shape[1]), fmpq(errors, 2 ** W.shape[1]))


def _reduced(W: NDArray[np.object_], inside: list[int]) -> tuple[list[fmpq], list[fmpq], list[int]]:
    """The a_i, the c_i, and the integer vector v, with the rows a_i on S and c_i v outside."""
    outside = np.setdiff1d(np.arange(W.shape[1]), inside)
    slopes = W[:, inside[0]].tolist()
    for i, slope in enumerate(slopes):
        if not np.all(W[i, inside] == slope):
            raise ValueError(f"Row {i} is not constant on the support.")
    rest = W[:, outside]
    leading = next((row for row in rest if np.any(row != 0)), None)
    if leading is None:
        return slopes, [fmpq(0)] * len(slopes), [0] * len(outside)
    common = common_denominator(leading)
    entries = [int((x * common).p) for x in leading]
    divisor = math.gcd(*entries)
    v = [entry // divisor for entry in entries]
    pivot = next(j for j, entry in enumerate(v) if entry)
    factors = [row[pivot] / v[pivot] for row in rest]
    exact = as_exact(np.array(v))
    for i, factor in enumerate(factors):
        if not np.all(rest[i] == exact * factor):
            raise ValueError(f"Row {i} is no multiple of the others outside of the support.")
    return slopes, factors, v
