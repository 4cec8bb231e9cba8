"""Decoders that shatter n T words of length T: a lower bound on the VC dimension of recurrent computation.

The decoder is of the class F_(w,d,alpha,T) with hard attention and the binary code of the time as positions, of
P bits, 2^P > T. For every labelling b of the points (j, t), j = 1, ..., n, t = 1, ..., T, its start holds the numbers

    r_j = sum_t 2 b_jt 4^-(t+1)       (digits 0 and 2 to the base 4, the first one 0),

and nothing else depends on b. The word of (j, t) has the letter j at position t, and the letter 0, which embeds as 0,
elsewhere. At time i the attention to the word finds position i, the only one whose code has score P, and reads its
letter into s. Then the token-wise map takes

    bit_j = ReLU(3 r_j - 1/2) - ReLU(3 r_j - 3/2),   r_j <- 4 r_j - 2 bit_j,   out <- out + sum_j ReLU(bit_j + s_j - 1):

a first digit 0 means r_j <= 1/6 and bit 0, a first digit 2 means 1/2 <= r_j <= 2/3 and bit 1. At time i = 0, whatever
is read, all bits are 0; at time i they are the b_ji. So out ends as b_jt, and the prediction 2 out - 1 has its sign.

The width is max(4 n + 1, 2 n + 2 + P), the 1-norm at most 27 n + 6 P + 8; further layers that copy cost 3 (n + 2) each.
Hence VC >= n T, which is at least w T/8 for w >= 2 P + 12, while the number of parameters depends on T by P alone.

Source: turing, remark-4.1 (there by a citation for recurrent networks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.positions import binary_digits
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array

__all__ = ["RecallingDecoder"]

LARGEST_LABELLINGS = 2**16
"""Labellings that `RecallingDecoder.certify` may run through."""


@dataclass(frozen=True)
class RecallingDecoder:
    """The decoder above, for n letters and T steps.

    Attributes:
        letters: n, at least 1; the alphabet is 0, ..., n.
        steps: T, at least 1.

    Raises:
        ValueError: if one is no positive integer.
    """

    letters: int
    steps: int

    def __post_init__(self) -> None:
        for name in ("letters", "steps"):
            object.__setattr__(self, name, checked_integer(f"The number of {name}", getattr(self, name), 1))

    @property
    def bits(self) -> int:
        """P, the least with 2^P > T."""
        return self.steps.bit_length()

    @property
    def points(self) -> int:
        """n T, how many words are shattered."""
        return self.letters * self.steps

    @property
    def stream(self) -> int:
        """2 n + 2 + P: the registers r, the letter s, out, the constant 1, and the position."""
        return 2 * self.letters + 2 + self.bits

    @property
    def width(self) -> int:
        """w: the stream, or the 4 n + 1 hidden units of the token-wise map."""
        return max(self.stream, 4 * self.letters + 1)

    @property
    def one_norm_bound(self) -> int:
        """27 n + 6 P + 8: on the 1-norm of all parameters, whatever the labels."""
        return 27 * self.letters + 6 * self.bits + 8

    def words(self) -> Array:
        """The words of the points (j, t), in this order, shape (n T, T)."""
        n, T = self.letters, self.steps
        words = np.zeros((n, T, T), dtype=np.int64)
        for j in range(n):
            words[j, np.arange(T), np.arange(T)] = j + 1
        return words.reshape(n * T, T)

    def embedding(self) -> Array:
        """E, shape (n + 1, stream): the letter j as a one in s_j."""
        table = np.zeros((self.letters + 1, self.stream), dtype=np.int64)
        table[1:, self.letters : 2 * self.letters] = np.eye(self.letters, dtype=np.int64)
        return table

    def start(self, labels: Sequence[int]) -> Array:
        """The trainable first input for labels b_jt in {0, 1}, in the order of the points; exact, shape (stream,).

        Raises:
            ValueError: if the labels are not n T zeros and ones.
        """
        if len(labels) != self.points or not set(labels) <= {0, 1}:
            raise ValueError(f"There must be {self.points} labels 0 or 1, not {list(labels)}.")
        token = np.full(self.stream, fmpq(0), dtype=object)
        for j in range(self.letters):
            row = labels[j * self.steps : (j + 1) * self.steps]
            token[j] = sum((fmpq(2 * int(b), 4 ** (t + 1)) for t, b in enumerate(row, start=1)), start=fmpq(0))
        return token

    @cached_property
    def layer(self) -> DecoderLayer:
        """The one layer, exact; it does not depend on the labels."""
        n, P, size = self.letters, self.bits, self.stream
        place, out, one = np.arange(size - P, size), 2 * n, 2 * n + 1
        letters = np.arange(n, 2 * n)
        code = _zeros(size, P)
        code[place, np.arange(P)] = fmpq(2)
        signs = Affine(code, as_exact([-1] * P))
        value = _zeros(size, size)
        value[letters, letters] = fmpq(1)
        null = as_exact([0] * P), as_exact([0] * size)
        read = Head(signs, signs, Affine(value, as_exact([0] * size)), weigh="hardmax", null=null)
        first, shift = _zeros(size, 4 * n + 1), as_exact([0] * (4 * n + 1))
        second, lower = _zeros(4 * n + 1, 2 * n + 1), as_exact([0] * (2 * n + 1))
        third, last = _zeros(2 * n + 1, size), as_exact([0] * size)
        for j in range(n):
            low, high, register, letter = j, n + j, 2 * n + j, 3 * n + j
            first[j, [low, high, register]] = as_exact([3, 3, 1])
            first[n + j, letter] = fmpq(1)
            shift[low], shift[high] = -fmpq(1, 2), -fmpq(3, 2)
            second[[low, high, letter], j] = as_exact([1, -1, 1])
            lower[j] = -fmpq(1)
            second[[register, low, high], n + j] = as_exact([4, -2, 2])
            third[j, out] = third[n + j, j] = fmpq(1)
        first[out, 4 * n] = second[4 * n, 2 * n] = third[2 * n, out] = last[one] = fmpq(1)
        maps = Affine(first, shift), Affine(second, lower), Affine(third, last)
        return DecoderLayer("recall", None, read, FeedForward(maps))

    def predictions(self, starts: Array, words: Array) -> Array:
        """The predictions after T steps, shape (starts, words), exact: the sign says the label.

        Args:
            starts: first inputs, shape (starts, stream).
            words: shape (words, T).
        """
        n = self.letters
        codes = as_exact(binary_digits(np.arange(self.steps + 1), self.bits))
        positions = np.hstack([_zeros(self.steps + 1, self.stream - self.bits), codes])
        encoded = as_exact(self.embedding())[words] + positions[1:]
        z = np.broadcast_to(starts, (len(words), *starts.shape))  # all starts at once, as tokens that do not interact
        for step in range(self.steps + 1):
            z = self.layer(z + positions[step], z[..., :0, :], encoded)
        return (2 * z[..., 2 * n] - z[..., 2 * n + 1]).T

    def one_norm(self, labels: Sequence[int]) -> fmpq:
        """The 1-norm of all parameters: layer, embedding, start, and the 3 of the prediction."""
        extra = int(self.embedding().sum()) + sum(self.start(labels).tolist(), start=fmpq(0)) + 3
        return self.layer.one_norm + extra

    def certify(self) -> int:
        """The number n T of words that are shattered, once all 2^(n T) labellings are seen, exactly.

        Raises:
            ValueError: if there are more than `LARGEST_LABELLINGS`, a word gets a wrong label, or a norm is too large.
        """
        if self.points > LARGEST_LABELLINGS.bit_length() - 1:
            raise ValueError(f"There are 2^{self.points} labellings, more than {LARGEST_LABELLINGS}.")
        labels = np.arange(2**self.points)[:, None] >> np.arange(self.points) & 1
        starts = np.array([self.start(row.tolist()) for row in labels], dtype=object)
        if not np.array_equal(self.predictions(starts, self.words()), 2 * labels - 1):
            raise ValueError("A word gets a wrong label.")
        if not self.one_norm([1] * self.points) <= self.one_norm_bound:
            raise ValueError(f"The 1-norm exceeds {self.one_norm_bound}.")
        return self.points


def _zeros(*shape: int) -> Array:
    return np.full(shape, fmpq(0), dtype=object)
