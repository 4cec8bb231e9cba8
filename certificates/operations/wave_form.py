"""The quadratic form that shows that waves alone are paid the most, for weights of triangles (ext-T11).

For weights that satisfy the conditions of ext-T8 the payoff T of u, v, w is W times the product of the parts of each
pair {chi, chi^-} of characters, plus W R(u, v, w), where R sees three different pairs only. In the coordinates
e = w - u*v, where u*v is the product pair by pair, and s = the parts u_k v_l with k != l,

    |w|^2 + |u|^2 |v|^2 - 2 T(u, v, w)/W = |e|^2 + |s|^2 - 2 sum e_c R_ijc s_ij - 2 sum (u_i v_j)*_c R_klc s_il s_kj,

the last sum over i, j, c in one pair and k, l in two other ones: u_i v_j u_k v_l is s_il s_kj. If the right side is
positive definite as a quadratic form in (e, s), T < W |u||v||w| but for waves (proofs/triangles.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm, prod
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import group_elements
from lemmata.numerics.exact.definite import proved_positive_definite
from lemmata.numerics.exact.precision import precision

__all__ = ["ball_form", "only_waves", "pair_angles", "wave_form"]

BITS = 64
"""Of the balls."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def pair_angles(orders: Sequence[int]) -> tuple[Integers, int]:
    """One character of each pair, as the numbers t of its values exp(2 pi i t/m), shape (N, n), and m.

    Raises:
        ValueError: as `group_elements`, and for a group of even order, which has characters that are real.
    """
    elements = group_elements(orders)
    if any(order % 2 == 0 for order in orders):
        raise ValueError(f"Pairs of characters need a group of odd order, not one with the factors {list(orders)}.")
    exponent = lcm(*orders)
    values = (elements * (exponent // np.array(orders))) @ elements.T % exponent
    first = [k for k in range(1, len(elements)) if tuple(elements[k]) < tuple(-elements[k] % np.array(orders))]
    return values[first], exponent


def wave_form(orders: Sequence[int], weights: NDArray[Any]) -> Floats:
    """The matrix of the form in floats, shape (2N + 4N(N - 1), 2N + 4N(N - 1)), N = (n - 1)/2.

    Args:
        orders: of the cyclic factors of a group of odd order n.
        weights: of the triples, shape (n, n, n), indices a, b, d, up to their sum; 0 at d = 0.

    Raises:
        ValueError: as `pair_angles`, and for weights of another shape or without a positive sum.
    """
    numbers, exponent = pair_angles(orders)
    angles = 2 * np.pi * np.arange(exponent) / exponent
    basis = np.stack([np.cos(angles[numbers]), np.sin(angles[numbers])], axis=1).reshape(-1, numbers.shape[1])
    form = _payoff(orders, np.asarray(weights, float)) / float(np.sum(weights))
    n = len(form)
    mixed = np.einsum("abc,ia,jb,kc->ijk", form, basis, basis, basis, optimize=True) * (4 * (n - 1) / n)
    return _placed(mixed, float)


def only_waves(orders: Sequence[int], weights: Integers) -> bool:
    """Whether balls prove the form positive definite; False denies nothing.

    Args:
        orders, weights: as for `wave_form`, the weights integers.

    Raises:
        ValueError: as `wave_form`.
    """
    with precision(BITS):
        return proved_positive_definite(ball_form(orders, weights))


def ball_form(orders: Sequence[int], weights: Integers) -> NDArray[Any]:
    """The matrix of `wave_form` in balls of the precision that is set, for integer weights.

    Raises:
        ValueError: as `wave_form`.
    """
    numbers, exponent = pair_angles(orders)
    n = numbers.shape[1]
    form = _payoff(orders, weights.astype(object))
    angles = [arb(2 * t) / exponent for t in range(exponent)]
    rows = [[one(angles[t]) for t in row] for row in numbers for one in (arb.cos_pi, arb.sin_pi)]
    basis, size = arb_mat(rows), len(rows)
    parts: Any = form
    for _ in range(3):  # the axis in front becomes the last one
        flat = arb_mat(parts.reshape(n, -1).tolist())
        shape = (size, *parts.shape[1:])
        parts = np.moveaxis(np.array((basis * flat).entries(), object).reshape(shape), 0, -1)
    factor = arb(4 * (n - 1)) / (n * int(weights.astype(object).sum()))
    return _placed(parts * factor, arb)


def _payoff(orders: Sequence[int], weights: NDArray[Any]) -> NDArray[Any]:
    """The sum of q (u_a v_b w_{a+b} - u_a v_b w_{a+b+d}) as an array over u, v, w."""
    elements, sizes = group_elements(orders), np.array(orders)
    n = len(elements)
    if weights.shape != (n, n, n) or not weights.sum() > 0:
        raise ValueError(f"The weights need the shape {(n, n, n)} and a positive sum, not the shape {weights.shape}.")
    steps = np.array([prod(orders[i + 1 :]) for i in range(len(orders))])
    plus = (elements[:, None] + elements[None]) % sizes @ steps
    form = np.zeros((n, n, n), weights.dtype)
    a, b = np.indices((n, n))
    form[a, b, plus] += weights.sum(axis=2)
    for d in range(1, n):
        form[a, b, plus[plus, d]] -= weights[:, :, d]
    return form


@dataclass(frozen=True)
class _Coordinates:
    """Where e_c and s_ij stand, for 2N real parts i = 2k, 2k + 1 of the pairs k.

    Attributes:
        pair: of each real part, shape (2N,).
        place: of s_ij, shape (2N, 2N); -1 where i and j are of one pair.
        size: of (e, s).
    """

    pair: Integers
    place: Integers
    size: int

    @classmethod
    def of(cls, parts: int) -> _Coordinates:
        pair = np.arange(parts) // 2
        mixed = pair[:, None] != pair[None]
        place = np.full((parts, parts), -1)
        place[mixed] = parts + np.arange(mixed.sum())
        return cls(pair, place, parts + int(mixed.sum()))


def _placed(mixed: NDArray[Any], number: Any) -> NDArray[Any]:
    """The matrix for R, of whose entries those at three different pairs are read; ``number`` makes its entries."""
    places = _Coordinates.of(len(mixed))
    pair, place = places.pair, places.place
    k, l, c = np.nonzero(
        (pair[:, None, None] != pair[None, :, None])
        & (pair[None, :, None] != pair[None, None])
        & (pair[:, None, None] != pair[None, None])
    )
    half = np.zeros((places.size, places.size), object if number is not float else float)
    if number is not float:
        half[:] = number(0)
    np.add.at(half, (c, place[k, l]), -mixed[k, l, c])
    for x in (0, 1):  # u*v at c has the parts (cos, cos) less (sin, sin), or (cos, sin) and (sin, cos)
        i, j = 2 * pair[c] + x, 2 * pair[c] + (x + c) % 2
        sign = np.where((x == 1) & (c % 2 == 0), -1, 1)
        np.add.at(half, (place[i, l], place[k, j]), -mixed[k, l, c] * sign)
    whole = half + half.T
    whole[np.diag_indices(places.size)] += number(1)
    return whole
