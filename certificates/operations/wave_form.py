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
from flint import arb, arb_mat, fmpq
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import group_elements
from lemmata.numerics.exact.cyclotomic import numbers as cyclotomic
from lemmata.numerics.exact.definite import proved_positive_definite
from lemmata.numerics.exact.precision import precision

__all__ = ["ball_form", "exact_form", "only_waves", "pair_angles", "wave_form"]

BITS = 64
"""Of the balls."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def pair_angles(orders: Sequence[int]) -> tuple[Integers, int]:
    """One character of each pair, as the numbers t of its values exp(2 pi i t/m), shape (N, n), and m.

    A real character is a pair by itself: all its t are 0 or m/2.

    Raises:
        ValueError: as `group_elements`.
    """
    elements = group_elements(orders)
    exponent = lcm(*orders)
    values = (elements * (exponent // np.array(orders))) @ elements.T % exponent
    first = [k for k in range(1, len(elements)) if tuple(elements[k]) <= tuple(-elements[k] % np.array(orders))]
    return values[first], exponent


def wave_form(orders: Sequence[int], weights: NDArray[Any]) -> Floats:
    """The matrix of the form in floats; its order is K + the number of (i, j) in different pairs, for K real parts.

    Args:
        orders: of the cyclic factors of a group of order n.
        weights: of the triples, shape (n, n, n), indices a, b, d, up to their sum; 0 at d = 0.

    Raises:
        ValueError: as `pair_angles`, and for weights of another shape or without a positive sum.
    """
    parts = _Parts.of(orders)
    angles = 2 * np.pi / parts.exponent * parts.numbers
    basis = np.where(parts.sine[:, None], np.sin(angles), np.cos(angles))
    basis[parts.alone] /= np.sqrt(2)
    form = _payoff(orders, np.asarray(weights, float)) / float(np.sum(weights))
    n, r = len(form), 1 + int(parts.alone.sum())
    factor = (4 * (n - r) + 2 * np.sqrt(2) * (r - 1)) / n
    return _placed(np.einsum("abc,ia,jb,kc->ijk", form, basis, basis, basis, optimize=True) * factor, parts, float)


def only_waves(orders: Sequence[int], weights: NDArray[Any]) -> bool:
    """Whether balls prove the form positive definite; False denies nothing.

    Args:
        orders, weights: as for `wave_form`, the weights integers or balls.

    Raises:
        ValueError: as `wave_form`.
    """
    with precision(BITS):
        return proved_positive_definite(ball_form(orders, weights))


def ball_form(orders: Sequence[int], weights: NDArray[Any]) -> NDArray[Any]:
    """The matrix of `wave_form` in balls of the precision that is set, for weights that are integers or balls.

    Raises:
        ValueError: as `wave_form`.
    """
    parts = _Parts.of(orders)
    form, half = _payoff(orders, weights.astype(object)), arb(2).sqrt() / 2
    angles = [arb(2 * t) / parts.exponent for t in range(parts.exponent)]
    rows = []
    for numbers, sine, alone in zip(parts.numbers, parts.sine, parts.alone, strict=True):
        row = [angles[t].sin_pi() if sine else angles[t].cos_pi() for t in numbers]
        rows.append([x * half for x in row] if alone else row)
    basis, size, n = arb_mat(rows), len(rows), len(form)
    mixed: Any = form
    for _ in range(3):  # the axis in front becomes the last one
        flat = arb_mat(mixed.reshape(n, -1).tolist())
        shape = (size, *mixed.shape[1:])
        mixed = np.moveaxis(np.array((basis * flat).entries(), object).reshape(shape), 0, -1)
    r = 1 + int(parts.alone.sum())
    factor = (4 * (n - r) + 2 * (r - 1) * arb(2).sqrt()) / (n * weights.astype(object).sum())
    return _placed(mixed * factor, parts, arb)


def exact_form(orders: Sequence[int], weights: Integers) -> NDArray[Any]:
    """The matrix of `wave_form` in elements of a cyclotomic field, for integer weights: small groups of odd order only.

    Raises:
        ValueError: as `wave_form`, and for a group of even order.
    """
    parts = _Parts.of(orders)
    if parts.alone.any():
        raise ValueError(f"The exact form needs a group of odd order, not one with the factors {list(orders)}.")
    mixed, total = _payoff(orders, weights.astype(object)), int(weights.astype(object).sum())
    basis = np.array(
        [
            [cyclotomic.sine(t, parts.exponent) if turned else cyclotomic.cosine(t, parts.exponent) for t in row]
            for row, turned in zip(parts.numbers.tolist(), parts.sine, strict=True)
        ],
        object,
    )
    n = len(mixed)
    for _ in range(3):  # the axis in front becomes the last one
        mixed = np.moveaxis(np.tensordot(basis, mixed, axes=(1, 0)), 0, -1)
    return _placed(mixed * cyclotomic.rational(fmpq(4 * (n - 1), n * total)), parts, cyclotomic.rational)


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


@dataclass(frozen=True, eq=False)
class _Parts:
    """The real parts i of a function: cosine and sine of each pair of characters, and each real character.

    Attributes:
        exponent: m of `pair_angles`.
        numbers: the row of `pair_angles` of each part, shape (K, n).
        pair: of each part, shape (K,).
        alone: whether it is a real character.
        sine: whether it is a sine.
        place: of s_ij in (e, s), shape (K, K); -1 where i and j are of one pair.
        size: of (e, s).
    """

    exponent: int
    numbers: Integers
    pair: Integers
    alone: NDArray[np.bool_]
    sine: NDArray[np.bool_]
    place: Integers
    size: int

    @classmethod
    def of(cls, orders: Sequence[int]) -> _Parts:
        numbers, exponent = pair_angles(orders)
        real = np.all(2 * numbers % exponent == 0, axis=1)
        pair = np.repeat(np.arange(len(numbers)), np.where(real, 1, 2))
        sine = np.append(False, pair[1:] == pair[:-1])
        mixed = pair[:, None] != pair[None]
        place = np.full(mixed.shape, -1)
        place[mixed] = len(pair) + np.arange(mixed.sum())
        return cls(exponent, numbers[pair], pair, real[pair], sine, place, len(pair) + int(mixed.sum()))


def _placed(mixed: NDArray[Any], parts: _Parts, number: Any) -> NDArray[Any]:
    """The matrix for R, of whose entries those at three different pairs are read; ``number`` makes its entries."""
    pair, place = parts.pair, parts.place
    k, l, c = np.nonzero(
        (pair[:, None, None] != pair[None, :, None])
        & (pair[None, :, None] != pair[None, None])
        & (pair[:, None, None] != pair[None, None])
    )
    half = np.zeros((parts.size, parts.size), object if number is not float else float)
    if number is not float:
        half[:] = number(0)
    np.add.at(half, (c, place[k, l]), -mixed[k, l, c])
    cosine, kind = np.arange(len(pair)) - parts.sine, parts.sine.astype(int)
    for x in (0, 1):  # u*v at c has the parts (cos, cos) less (sin, sin), or (cos, sin) and (sin, cos)
        there = ~parts.alone[c] if x else np.full(len(c), True)  # a real character has the first of these alone
        k_, l_, c_ = k[there], l[there], c[there]
        i, j = cosine[c_] + x, cosine[c_] + (x + kind[c_]) % 2
        sign = np.where((x == 1) & (kind[c_] == 0), -1, 1)
        np.add.at(half, (place[i, l_], place[k_, j]), -mixed[k_, l_, c_] * sign)
    whole = half + half.T
    whole[np.diag_indices(parts.size)] += number(1)
    return whole
