"""Recurrent networks that carry all tokens in a bounded state: as words of a code, or one beside the other.

**Codebook.** The states are words of a Reed-Solomon code over F_Q, Q = 2^a, with Q/2 terms, whose symbols are replaced
by Hadamard words: vectors of Q^2 entries +-1/Q of length 1. The numbers s_k = <u, x_k> of the tokens before a position
are rounded to 2^b midpoints of [-B, B]; their b bits stand in the slot k of the message, and the bits of the others are
0. The code is linear over F_2, so that another token multiplies the word by that of its slot alone, sign by sign, which
one layer of ReLUs does exactly:

    h' = |h + e| - 1/Q        for h, e with entries +-1/Q.

The backward cell does the same from the right. Two different words have an inner product of at most 1/2 - 1/Q (see
`lemmata.numerics.groups.codes`), hence a distance of at least sqrt(1 + 2/Q); so the map from words to the number of a
slot has a Lipschitz constant of at most 2 B, and so has its extension to all vectors (`lipschitz_extension`). With
U = (I, I) the operator norm is sqrt 2 for every number N of tokens; the width is Q^2, of the order of (N b)^2. Other
binary linear codes with distances of at least D/4 do as well, down to a width D of the order of N b (`sign_layer`).

**Storing.** The state holds s_k/r in coordinate k, projected on the unit ball: exact while |s| <= r. With r about
2 sqrt N it has the width N and the Lipschitz constant r.

Source: qstr, construction-codebook-rnn and proposition-8 (proofs/recurrent-lower-bound.md of that chapter).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array, exact_values
from lemmata.numerics.groups.codes import hadamard_words, reed_solomon_words
from lemmata.numerics.groups.finite_fields import MAX_FIELD_ORDER, finite_field

__all__ = [
    "Codebook",
    "codebook_layer",
    "codebook_order",
    "lipschitz_extension",
    "quantisation_error",
    "sign_layer",
    "storing_layer",
    "storing_radius",
]

Integers = NDArray[np.int64]
LARGEST_LAYER = 32
"""The order Q up to which the layer is given with its weights; they are 8 Q^4 numbers."""


def codebook_order(length: int, bits: int) -> int:
    """The least Q = 2^a, a >= 1, with (Q/2) a >= N b: then Q/2 symbols of a bits hold N numbers of b bits.

    Raises:
        ValueError: if N or b is below 1.
    """
    if length < 1 or bits < 1:
        raise ValueError(f"A codebook holds N >= 1 numbers of b >= 1 bits, not {length} numbers of {bits} bits.")
    a = 1
    while 2 ** (a - 1) * a < length * bits:
        a += 1
    return 2**a


@dataclass(frozen=True, eq=False)
class Codebook:
    """The codebook network for prompts of N tokens.

    Attributes:
        length: N.
        bits: b, for every number.
        bound: B, a positive rational: numbers outside of [-B, B] are rounded to the outermost midpoints.

    Raises:
        ValueError: for N, b < 1, B <= 0, or a field beyond the largest one with tables.
    """

    length: int
    bits: int
    bound: Any = 3

    def __post_init__(self) -> None:
        [bound] = as_exact([self.bound]).tolist()
        if not bound > 0:
            raise ValueError(f"The numbers of a codebook lie in [-B, B] with B > 0, not {self.bound}.")
        object.__setattr__(self, "bound", bound)
        if self.order > MAX_FIELD_ORDER:
            raise ValueError(
                f"{self.length} numbers of {self.bits} bits need a field of {self.order} elements, but the largest has "
                f"{MAX_FIELD_ORDER}."
            )

    @cached_property
    def order(self) -> int:
        """Q."""
        return codebook_order(self.length, self.bits)

    @property
    def width(self) -> int:
        """d_h = Q^2."""
        return self.order**2

    @property
    def step(self) -> fmpq:
        """The distance 2 B/2^b of neighbouring midpoints."""
        return 2 * self.bound / fmpq(2) ** self.bits

    @property
    def squared_lipschitz(self) -> fmpq:
        """The square of the Lipschitz constant of the read-out: (2 B - step)^2/(1 + 2/Q), below (2 B)^2."""
        return (2 * self.bound - self.step) ** 2 / (1 + fmpq(2, self.order))

    def quantise(self, values: ArrayLike) -> Integers:
        """The numbers 0, ..., 2^b - 1 of the midpoints nearest to the values, of their shape.

        Raises:
            ValueError: for floats that are not finite, or balls.
        """
        array = exact_values("the values", values)
        scaled = [(x + self.bound) / self.step for x in array.ravel().tolist()]
        cells = np.array([int(x.floor()) for x in scaled], dtype=object).reshape(array.shape)
        return np.clip(cells, 0, 2**self.bits - 1).astype(np.int64)

    def midpoints(self, numbers: ArrayLike) -> Array:
        """The midpoints -B + (m + 1/2) step of the numbers m, exact, of their shape."""
        m = np.asarray(numbers)
        return as_exact(m) * self.step + (self.step / 2 - self.bound)

    def words(self, numbers: Integers) -> Integers:
        """The sign words of the slots alone, shape (N, Q^2), for one number m in each slot, shape (N,).

        Raises:
            ValueError: for another shape, or numbers out of range.
        """
        m = np.asarray(numbers)
        if m.shape != (self.length,) or m.dtype.kind not in "iu" or m.min() < 0 or m.max() >= 2**self.bits:
            raise ValueError(f"A codebook takes {self.length} numbers from 0 to {2**self.bits - 1}.")
        messages = np.stack([self._message(k, int(number)) for k, number in enumerate(m)])
        return hadamard_words(reed_solomon_words(messages, self.order), self.order).reshape(self.length, self.width)

    def states(self, numbers: Integers) -> tuple[Integers, Integers]:
        """Q times the forward and the backward states at every position, signs, shape (N, Q^2) each.

        They are those of `codebook_layer` on the tokens `words(numbers) / Q`, without its weights.
        """
        words = self.words(numbers)
        start = np.ones((1, self.width), dtype=np.int64)
        forward = np.cumprod(np.concatenate([start, words[:-1]]), axis=0)
        backward = np.cumprod(np.concatenate([start, words[:0:-1]]), axis=0)[::-1]
        return forward, backward

    def decode(self, word: Integers) -> Integers:
        """The numbers of all slots of a word of the code, given by its signs, shape (Q^2,): shape (N,).

        The bits of a symbol are the signs at the places 2^j of its Hadamard word; the coefficients of a polynomial p of
        degree below Q - 1 over F_Q are m_i = sum_(x != 0) p(x) x^(-i), since the other powers sum to 0.

        Raises:
            ValueError: for anything but a word of the code.
        """
        field, Q = finite_field(self.order), self.order
        signs = np.asarray(word)
        if signs.shape != (self.width,) or not np.isin(signs, (-1, 1)).all():
            raise ValueError(f"A word of the code has {self.width} signs.")
        powers = 2 ** np.arange(Q.bit_length() - 1)
        symbols = (1 - signs.reshape(Q, Q)[:, powers]) // 2 @ powers
        message = np.zeros(Q // 2, dtype=np.int64)
        inverse = np.ones(Q - 1, dtype=np.int64)  # x^(-i) for x = 1, ..., Q - 1
        for i in range(Q // 2):
            message[i] = np.bitwise_xor.reduce(field.mul[symbols[1:], inverse])
            inverse = field.mul[inverse, field.inverse[1:Q]]
        if not (hadamard_words(reed_solomon_words(message, Q), Q).ravel() == signs).all():
            raise ValueError("The signs are no word of the code.")
        stream = (message[:, None] >> np.arange(len(powers)) & 1).ravel()[: self.length * self.bits]
        return stream.reshape(self.length, self.bits) @ 2 ** np.arange(self.bits)

    def predict(self, values: ArrayLike, indices: ArrayLike) -> Array:
        """What the network says at every position j of the label s_(t_j), exact: read from the states, or from x_j.

        Args:
            values: s, shape (N,), exact numbers or floats, which count with their binary values.
            indices: t, integers 0, ..., N - 1, shape (N,).

        Raises:
            ValueError: for other shapes, or indices out of range.
        """
        s, t = exact_values("the values", values), np.asarray(indices)
        N = self.length
        if s.shape != (N,) or t.shape != (N,) or t.dtype.kind not in "iu" or t.min() < 0 or t.max() >= N:
            raise ValueError(f"A prompt has {N} values and {N} indices from 0 to {N - 1}.")
        forward, backward = self.states(self.quantise(s))
        result = np.empty(N, dtype=object)
        for j, index in enumerate(t.tolist()):
            if index == j:
                result[j] = s[j]
            else:
                word = forward[j] if index < j else backward[j]
                result[j] = self.midpoints(self.decode(word))[index]
        return result

    def _message(self, slot: int, number: int) -> Integers:
        """The symbols of the message whose only bits are those of one slot, shape (Q/2,)."""
        a = self.order.bit_length() - 1
        result = np.zeros(self.order // 2, dtype=np.int64)
        for j in range(self.bits):
            place = slot * self.bits + j
            result[place // a] |= (number >> j & 1) << place % a
        return result


def codebook_layer(order: int) -> RecurrentLayer:
    """The `sign_layer` of the codebook over F_Q, whose tokens are the words of the slots over Q: of width Q^2.

    Args:
        order: Q, a power of two.

    Raises:
        ValueError: for another order, or one above `LARGEST_LAYER`.
    """
    if order < 2 or order & (order - 1) or order > LARGEST_LAYER:
        raise ValueError(f"The weights are given for the powers of two 2, ..., {LARGEST_LAYER}, not for {order}.")
    return sign_layer(order**2, order)


def sign_layer(width: int, scale: int) -> RecurrentLayer:
    """The two cells h -> |h + e| - 1/r that multiply words of entries +-1/r, for any binary linear code.

    The states are those before a token, forward beside backward; clipped to the cube of the entries -1/r, ..., 1/r,
    which lies in the unit ball. The first state is the word of the empty message.

    Args:
        width: D, the length of the words.
        scale: r, with r^2 >= D.

    Raises:
        ValueError: if D < 1 or r^2 < D.
    """
    D, r = checked_integer("The length of the words", width, 1), checked_integer("The scale", scale, 1)
    if r * r < D:
        raise ValueError(f"Words of {D} entries +-1/{r} do not lie in the unit ball: give a scale with r^2 >= {D}.")
    unit = fmpq(1, r)
    eye = as_exact(np.eye(D, dtype=np.int64))
    add = Affine(np.block([[eye, -eye], [eye, -eye]]))
    sizes = Affine(np.concatenate([eye, eye]), np.full(D, -unit, dtype=object))
    cell = RecurrentCell(
        FeedForward((add, sizes), activations=("relu", "identity")),
        bound=Clipping(D, -unit, unit),
        initial=np.full(D, unit, dtype=object),
    )
    return RecurrentLayer(cell, cell, moment="before")


def storing_radius(length: int) -> int:
    """The least even integer r >= 2 sqrt(N - 1) for which the network that stores all numbers is made; N >= 2.

    Raises:
        ValueError: if N < 2.
    """
    if length < 2:
        raise ValueError(f"There is nothing to store in prompts of {length} tokens.")
    return 2 * (isqrt(length - 2) + 1)


def storing_layer(length: int) -> RecurrentLayer:
    """The two cells h -> P(h + e/r), P the projection on the unit ball, whose token k is s_k in coordinate k, else 0.

    The states are those before a token, forward beside backward, of width N each.

    Raises:
        ValueError: if N < 2.
    """
    unit = fmpq(1, storing_radius(length))
    eye = as_exact(np.eye(length, dtype=np.int64))
    cell = RecurrentCell(Affine(np.concatenate([0 * eye, eye * unit])), residual=True, bound=BallProjection(length))
    return RecurrentLayer(cell, cell, moment="before")


def lipschitz_extension(
    anchors: ArrayLike, values: ArrayLike, constant: float, points: ArrayLike
) -> NDArray[np.float64]:
    """The function min_i (values_i + L |x - anchor_i|) in float64: L-Lipschitz, and values_i at anchor i if they allow.

    Args:
        anchors: shape (n, d).
        values: shape (n,), with differences of at most L times the distances of the anchors.
        constant: L >= 0.
        points: x, shape (m, d).

    Returns:
        Shape (m,).

    Raises:
        ValueError: for shapes that do not fit, or a negative constant.
    """
    a, y, x = (to_float(part) for part in (anchors, values, points))
    if a.ndim != 2 or y.shape != a.shape[:1] or x.ndim != 2 or x.shape[1] != a.shape[1] or not constant >= 0:
        raise ValueError(
            f"An extension needs anchors (n, d), values (n,), points (m, d) and a constant >= 0, not the shapes "
            f"{a.shape}, {y.shape}, {x.shape} and {constant}."
        )
    return np.array([(y + constant * np.linalg.norm(a - point, axis=1)).min() for point in x])


def quantisation_error(bits: int, bound: Any) -> arb:
    """E (s - Q(s))^2 for a standard normal s and the midpoint rule with 2^b cells on [-B, B], as a ball.

    The outermost cells reach to infinity.

    Raises:
        ValueError: if b < 1 or B <= 0.
    """
    book = Codebook(1, bits, bound)
    count = 2**bits
    edges = [arb(-book.bound + book.step * k) for k in range(1, count)]
    density = [arb(0), *((-(x * x) / 2).exp() / (2 * arb.pi()).sqrt() for x in edges), arb(0)]
    below = [arb(0), *((1 + (x / arb(2).sqrt()).erf()) / 2 for x in edges), arb(1)]
    total = arb(1)
    for k, midpoint in enumerate(book.midpoints(np.arange(count)).tolist()):
        total += midpoint * midpoint * (below[k + 1] - below[k]) - 2 * midpoint * (density[k] - density[k + 1])
    return total
