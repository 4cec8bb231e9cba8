"""Families that realise every labelling of their points, with margins: circle heads, sinusoids, heads of signs.

Points z_1, ..., z_n are shattered with margin mu at a threshold c if every labelling y in {1, -1}^n has a function of
the class with y_i (f(z_i) - c) >= mu for all i. Two functions of different labellings then differ by 2 mu or more at
some point, so that the logarithm of every covering number at a radius below mu is at least n ln 2, proper or not.

- `CircleFamily`: heads of width 3 on n = floor(log2 T) sequences of T tokens (cos(2 pi t/T), sin(2 pi t/T), bit i of
  t). The key R (cos(2 pi s/T), sin(2 pi s/T), 0) gives the token at distance u from s the weight p_u proportional to
  exp(R (cos(2 pi u/T) - 1)), so that the output at sequence i is p_0 at least if bit i of s is 1, and 1 - p_0 at most
  if it is 0: margin p_0 - 1/2 at the threshold 1/2. At R = T^2, p_0 >= 1/(1 + sqrt(pi/8)) for every T.
- `sinusoid_points`, `sinusoid_parameter`: x_j = 2^-j and alpha = pi (1 + sum over labels -1 of 2^l). Modulo 2, alpha
  x_j/pi is r or 1 + r with 0 < r < 1, by the label, as the terms l > j are even and those l < j have sum 1 - 2^(1-j)
  at most.
- `SignFamily`: heads of width d = m + 2 with ||W_QK||_F = ||W_QK^T||_(2,1) = R sqrt(m) on m sequences of 3 tokens.
  Sequence i has the tokens B (3/5 e_i, 4/5, 0) and B (-3/5 e_i, -4/5, 0) and the token B e_d, which attends. The
  scores are s y_i, -s y_i and 0 with s = 3/5 R B^2, the output is y_i 4/5 B B_V 2 sinh(s)/(2 cosh(s) + 1).

Source: variable-creation, proposition 4.8, remark in section 4.4.2; corollary 4.9 for the heads of signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.constructions.networks.head import Head, merged_head
from lemmata.numerics.exact.balls import as_balls, decided_less
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, positive_number

Array = NDArray[Any]

LARGEST_LABELLINGS = 2**16
"""Labellings that an exhaustive check may run through."""
KEY_SHARE, VALUE_SHARE = fmpq(3, 5), fmpq(4, 5)
"""The parts of a token of unit norm in `SignFamily` that the key and the value read: a Pythagorean pair."""


@dataclass(frozen=True)
class CircleFamily:
    """Attention heads of width 3 that shatter floor(log2 T) sequences of length T.

    Attributes:
        length: T, at least 1.
        scale: R, exact and positive; T^2 if it is None.

    Raises:
        ValueError: if T is no positive integer, or R not exact and positive.
    """

    length: int
    scale: Any = None

    def __post_init__(self) -> None:
        T = checked_integer("The length T", self.length, 1)
        R = as_exact([T * T if self.scale is None else self.scale])[0]
        if not R > 0:
            raise ValueError(f"The scale R of the keys must be positive, not {self.scale}.")
        object.__setattr__(self, "length", T)
        object.__setattr__(self, "scale", R)

    @property
    def points(self) -> int:
        """n = floor(log2 T), how many sequences are shattered."""
        return self.length.bit_length() - 1

    @cached_property
    def weights(self) -> list[arb]:
        """p_0, ..., p_(T-1): the attention to the token u steps after s, for every s alike."""
        exponents = [self.scale * (self._turn(u)[0] - 1) for u in range(self.length)]
        terms = [exponent.exp() for exponent in exponents]
        return [term / sum(terms, start=arb(0)) for term in terms]

    @property
    def margin(self) -> arb:
        """p_0 - 1/2, which bounds the distance of all outputs from the threshold 1/2 below."""
        return self.weights[0] - fmpq(1, 2)

    def bit(self, t: int, i: int) -> int:
        """Bit i = 1, ..., n of t, the first being the most significant of n."""
        return t >> (self.points - i) & 1

    def sequence(self, i: int) -> Array:
        """X^(i) as balls, shape (T, 3), i = 1, ..., n. Its token 0 is (1, 0, 0) for every i."""
        return np.array([[*self._turn(t), arb(self.bit(t, i))] for t in range(self.length)], dtype=object)

    def key(self, s: int) -> Array:
        """w_QK for s, as balls, shape (3,)."""
        return np.array([*(self.scale * x for x in self._turn(s)), arb(0)], dtype=object)

    def head(self, s: int) -> Head:
        """The self-attention head with W_QK^T x_0 = w_QK and W_V = (0, 0, 1)^T; token 0 attends."""
        scores = np.full((3, 3), arb(0), dtype=object)
        scores[0] = self.key(s)
        return merged_head(scores, as_balls([[0], [0], [1]]), causal=False)

    def output(self, s: int, i: int) -> arb:
        """f(X^(i)) for the head of s, from the weights p_u."""
        shares = (self.weights[(t - s) % self.length] for t in range(self.length) if self.bit(t, i))
        return sum(shares, start=arb(0))

    def certify(self) -> arb:
        """The margin, once it is known to be positive: then the heads s < 2^n shatter the n sequences at 1/2.

        Raises:
            ValueError: if p_0 <= 1/2, so that the argument fails, or this is undecided at the working precision.
        """
        if not decided_less(fmpq(1, 2), self.weights[0]):
            raise ValueError(f"The keys of scale {self.scale} leave the token of s a weight of {self.weights[0]} only.")
        return self.margin

    def _turn(self, t: int) -> tuple[arb, arb]:
        angle = arb(fmpq(2 * t, self.length))
        return angle.cos_pi(), angle.sin_pi()


def sinusoid_points(count: int) -> Array:
    """The points x_j = 2^-j, j = 1, ..., n, exact, shape (n,).

    Raises:
        ValueError: if n is no integer >= 1.
    """
    n = checked_integer("The number of points", count, 1)
    return np.array([fmpq(1, 2**j) for j in range(1, n + 1)], dtype=object)


def sinusoid_parameter(labels: Sequence[int]) -> int:
    """alpha/pi, for which sin(alpha x_j) has the sign of label j at every x_j = 2^-j.

    Raises:
        ValueError: if there are no labels, or one is not 1 or -1.
    """
    return 1 + sum(2**l for l, y in enumerate(_labels(labels), start=1) if y < 0)


def sinusoid_sign(turns: fmpq | int) -> int:
    """The sign of sin(pi q) for a rational number q, exactly: 1, 0 or -1."""
    q = as_exact([turns])[0]
    rest = q - 2 * (q / 2).floor()  # in [0, 2)
    return 0 if rest in (0, 1) else 1 if rest < 1 else -1


def certify_sinusoids(count: int) -> int:
    """How many labellings of the n points are realised: all 2^n, each decided exactly.

    Raises:
        ValueError: if n < 1, there are more than `LARGEST_LABELLINGS` labellings, or one is not realised.
    """
    points = sinusoid_points(count)
    realised = 0
    for labels in _all_labels(len(points)):
        turns = sinusoid_parameter(labels)
        signs = [sinusoid_sign(turns * x) for x in points]
        if signs != list(labels):
            raise ValueError(f"alpha = {turns} pi gives the signs {signs} and not {list(labels)}.")
        realised += 1
    return realised


@dataclass(frozen=True)
class SignFamily:
    """2^m attention heads that show every pattern of signs on m sequences of 3 tokens, with one margin.

    Attributes:
        points: m, the number of sequences; tokens have the width m + 2.
        key_scale: R, exact and positive; W_QK has one row, R y, so that ||W_QK||_F = ||W_QK^T||_(2,1) = R sqrt(m).
        token_norm: B_X, exact and positive, the norm of every token.
        value_norm: B_V, exact and positive; W_V has one entry, so that all its norms are B_V.

    Raises:
        ValueError: if m is no integer >= 1, or a number not exact and positive.
    """

    points: int
    key_scale: Any = 4
    token_norm: Any = 1
    value_norm: Any = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", checked_integer("The number of sequences m", self.points, 1))
        for name in ("key_scale", "token_norm", "value_norm"):
            object.__setattr__(self, name, positive_number(name.replace("_", " "), getattr(self, name)))

    @property
    def width(self) -> int:
        """d = m + 2."""
        return self.points + 2

    @property
    def squared_key_norm(self) -> fmpq:
        """B_QK^2 = R^2 m, the square of ||W_QK||_F and of ||W_QK^T||_(2,1)."""
        return self.key_scale**2 * self.points

    @property
    def score(self) -> fmpq:
        """s = 3/5 R B_X^2, the size of the scores."""
        return KEY_SHARE * self.key_scale * self.token_norm**2

    @property
    def margin(self) -> arb:
        """The size of every output: 4/5 B_X B_V 2 sinh(s)/(2 cosh(s) + 1)."""
        s = arb(self.score)
        return VALUE_SHARE * self.token_norm * self.value_norm * 2 * s.sinh() / (2 * s.cosh() + 1)

    @property
    def log_covering_number(self) -> arb:
        """m ln 2, a lower bound on ln N(eps) for every radius eps below the margin, for improper covers as well."""
        return self.points * arb(2).log()

    def sequence(self, i: int) -> Array:
        """Sequence i = 1, ..., m, exact, shape (3, m + 2); its token 2 attends."""
        tokens = np.full((3, self.width), fmpq(0), dtype=object)
        tokens[0, i - 1], tokens[1, i - 1] = KEY_SHARE, -KEY_SHARE
        tokens[0, -2], tokens[1, -2] = VALUE_SHARE, -VALUE_SHARE
        tokens[2, -1] = fmpq(1)
        return tokens * self.token_norm

    def matrices(self, labels: Sequence[int]) -> tuple[Array, Array]:
        """W_QK, shape (m + 2, m + 2), with scores <W_QK x_t, x_tau>, and W_V, exact, of the head with these signs.

        Raises:
            ValueError: if the labels are not m signs 1 or -1.
        """
        signs = _labels(labels)
        if len(signs) != self.points:
            raise ValueError(f"There must be {self.points} labels, not {len(signs)}.")
        scores = np.full((self.width, self.width), fmpq(0), dtype=object)
        scores[-1, : self.points] = [self.key_scale * y for y in signs]
        values = np.full((self.width, self.width), fmpq(0), dtype=object)
        values[-2, 0] = self.value_norm
        return scores, values

    def output(self, labels: Sequence[int], i: int) -> arb:
        """The first coordinate of the output of that head at sequence i, by the forward pass of the head in balls."""
        scores, values = self.matrices(labels)
        tokens = as_balls(self.sequence(i))
        return merged_head(as_balls(scores), as_balls(values), causal=False)(tokens[2:], memory=tokens)[0, 0]

    def certify(self) -> arb:
        """The least distance of all outputs from 0, once all signs are known to be right, for all 2^m labellings.

        Raises:
            ValueError: for more than `LARGEST_LABELLINGS` outputs, or a sign that is wrong or undecided.
        """
        if self.points * 2**self.points > LARGEST_LABELLINGS:
            raise ValueError(f"All labellings of {self.points} sequences are too many to be checked one by one.")
        least = None
        for labels in _all_labels(self.points):
            for i, y in enumerate(labels, start=1):
                signed = y * self.output(labels, i)
                if not decided_less(0, signed):
                    raise ValueError(f"The head of {labels} has the output {y * signed} at sequence {i}.")
                least = signed if least is None else least.min(signed)
        return least  # type: ignore[return-value]


def largest_sign_family(
    squared_key_norm: object, token_norm: object, *, score: object = 2, value_norm: object = 1
) -> SignFamily:
    """The largest family of signs with ||W_QK||_F <= B_QK, tokens of norm B_X, and scores of a given size s.

    m = floor((3/5 B_QK B_X^2/s)^2) sequences are shattered, so that ln N(eps) grows like (B_QK B_X^2)^2.

    Args:
        squared_key_norm: B_QK^2, exact and positive.
        token_norm: B_X, exact and positive.
        score: s, exact and positive.
        value_norm: B_V, exact and positive.

    Raises:
        ValueError: for numbers that are not exact and positive, or norms so small that m = 0.
    """
    B, s = positive_number("token norm", token_norm), positive_number("score", score)
    R = s / (KEY_SHARE * B**2)
    m = int((positive_number("squared key norm", squared_key_norm) / R**2).floor())
    if m < 1:
        raise ValueError(
            f"Keys of squared norm {squared_key_norm} reach the score {score} on no sequence: it takes {R**2}."
        )
    return SignFamily(m, R, B, value_norm)


def _labels(labels: Sequence[int]) -> list[int]:
    if not len(labels) or any(y not in (1, -1) for y in labels):
        raise ValueError(f"Labels are a sequence of 1 and -1 that is not empty, not {labels}.")
    return [int(y) for y in labels]


def _all_labels(count: int) -> Iterator[tuple[int, ...]]:
    if 2**count > LARGEST_LABELLINGS:
        raise ValueError(f"There are 2^{count} labellings, more than {LARGEST_LABELLINGS:,}.")
    return product((1, -1), repeat=count)
