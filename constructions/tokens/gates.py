"""Networks with one hidden layer: inner products of codes, and copies of a number that a gate lets through.

Inner products of w, v in R^(d_e), from their 2 d_e coordinates:

- of sign codes with |w|^2 = |v|^2 = 1, exactly: with s = sqrt(d_e) the number s |w_k + v_k| is 2 where the signs agree
  and 0 elsewhere, so that <w, v> = (1/d_e) sum_k s |w_k + v_k| - 1;
- of all vectors with coordinates in [-1, 1], up to d_e/(4 K^2): 4 w_k v_k is the difference of two squares, each of
  which is interpolated at 2 K + 1 knots on [-2, 2].

The gated copy 2 x relu(z - 1/2), for |x| <= r and |z| <= 1 + c. Put y = z - 1/2 and take a slope s > 0. Then

    (relu(y + s x)^2 - relu(y - s x)^2) / (2 s)

is exactly 2 x relu(y) where |y| >= s |x|, and elsewhere off by (s |x| - |y|)^2/(2 s) <= s r^2/2. Between the knots
0, h, 2 h, ... the interpolant of relu(u)^2 is too large by at most h^2/4, and the two errors have opposite signs. With
s = eps/r^2 and h = 2 eps/r both parts are at most eps/2, with 2 K hidden units, K = ceil(((1/2 + c) r/eps + 1)/2).

Source: qstr, lemma-22, lemma-24 and lemma-25 (with explicit networks in place of an existence theorem).
"""

from __future__ import annotations

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import rational_root
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.interpolation import multiplication
from lemmata.numerics.functions.smooth import positive_rational, rational

__all__ = ["gated_copy", "inner_product", "pieces_for", "sign_inner_product"]

LARGEST = 4 * 10**6
"""The weights that the first layer of a network may have."""


def sign_inner_product(dimension: int) -> FeedForward:
    """The inner product of two sign codes (+-1/sqrt(d_e))^(d_e), exact, with 2 d_e hidden units.

    Args:
        dimension: d_e, a square, so that the weights are rational.

    Raises:
        ValueError: for another dimension, or more than `LARGEST` weights.
    """
    n = checked_integer("The dimension of the codes", dimension, 1)
    root = rational_root(fmpq(n))
    if root is None:
        raise ValueError(f"Sign codes of dimension {n} hold an irrational root: take a square, or general codes.")
    _require_entries(2 * n, 2 * n)
    sums = np.tile(as_exact(np.eye(n, dtype=np.int64)) * root, (2, 1))
    return _two_layers(np.concatenate([sums, -sums], axis=1), [0] * (2 * n), [fmpq(1, n)] * (2 * n), constant=-1)


def pieces_for(dimension: int, error: object) -> int:
    """The least K with d_e/(4 K^2) <= error, the pieces of `inner_product` on each side of 0.

    Raises:
        ValueError: for a dimension below 1 or an error that is not positive.
    """
    n = checked_integer("The dimension of the codes", dimension, 1)
    quotient = fmpq(n) / (4 * positive_rational(error, "The error of the inner product"))
    least = int((quotient.ceil() - 1).sqrtrem()[0]) if quotient > 1 else 0
    return least + 1


def inner_product(dimension: int, pieces: int) -> FeedForward:
    """The inner product of vectors with coordinates in [-1, 1], up to d_e/(4 K^2), with 4 K d_e hidden units.

    Every row of the first layer has a 1-norm of at most 1, bias included.

    Args:
        dimension: d_e.
        pieces: K.

    Raises:
        ValueError: for numbers below 1, or more than `LARGEST` weights.
    """
    n, K = (
        checked_integer("The dimension of the codes", dimension, 1),
        checked_integer("The number of pieces", pieces, 1),
    )
    _require_entries(4 * K * n, 2 * n)
    one = multiplication(1, K)
    units = one.units
    weight = np.full((2 * n, n * units), fmpq(0), dtype=object)
    for k in range(n):
        weight[[k, n + k], k * units : (k + 1) * units] = one.directions[:, :2].T
    return _two_layers(weight, np.tile(one.directions[:, 2], n), np.tile(one.coefficients, n))


def gated_copy(bound: object, error: object, *, slack: object = 0, carried: object | None = None) -> FeedForward:
    """The function 2 x relu(z - 1/2) of (x, z), or h + 2 x relu(z - 1/2) of (h, x, z), up to the error.

    Args:
        bound: r, of |x|.
        error: eps, at most r (from there on 0 would do, since |2 x relu(z - 1/2)| <= r for |z| <= 1).
        slack: c >= 0; z lies in [-1 - c, 1 + c].
        carried: the bound of |h|, which enters only the scale of the rows; None if there is no h.

    Every row of the first layer has a 1-norm of at most 1/R and a bias of at most 1, for R = 1 + r + |h|, which is at
    least sqrt(1 + r^2 + |h|^2).

    Raises:
        ValueError: for numbers that are not exact or out of range, or more than `LARGEST` weights.
    """
    r, eps = positive_rational(bound, "The bound of x"), positive_rational(error, "The error of a gated copy")
    c, h = rational(slack, "slack"), rational(0 if carried is None else carried, "carried")
    if c < 0 or h < 0 or eps > r:
        raise ValueError(
            f"A gated copy has slack >= 0, a bound >= 0 of what it carries and an error of at most the bound {r} of x, "
            f"not {c}, {h} and {eps}."
        )
    s, step = eps / r**2, 2 * eps / r
    K = int((((fmpq(1, 2) + c) * r / eps + 1) / 2).ceil())
    _require_entries(2 * K, 3)
    scale = (1 + r + h) * (1 + s) + c
    rows, biases, readout = [], [], []
    for sign in (1, -1):
        for k in range(K):
            rows.append([0, sign * s / scale, 1 / scale])
            biases.append(-(fmpq(1, 2) + step * k) / scale)
            readout.append(sign * scale * (1 if k == 0 else 2) * step / (2 * s))
    if carried is not None:
        rows += [[1 / scale, 0, 0], [-1 / scale, 0, 0]]
        biases, readout = [*biases, 0, 0], [*readout, scale, -scale]
    weight = as_exact(rows).T
    return _two_layers(weight if carried is not None else weight[1:], biases, readout)


def _require_entries(units: int, inputs: int) -> None:
    if units * inputs > LARGEST:
        raise ValueError(
            f"The network would have {units:,} hidden units on {inputs:,} inputs, more than {LARGEST:,} weights: allow "
            "a larger error, or take codes of a smaller dimension."
        )


def _two_layers(weight: Array, bias: object, readout: object, *, constant: object = 0) -> FeedForward:
    """The network a . relu(z W + b) + c."""
    last = Affine(as_exact(readout)[:, None], as_exact([constant]))  # type: ignore[arg-type]
    return FeedForward((Affine(as_exact(weight), as_exact(bias)), last), activations=("relu", "identity"))  # type: ignore[arg-type]
