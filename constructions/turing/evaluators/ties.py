"""Ties of hard attention in floating point: decided as exact arithmetic would decide them, or refused.

Scores tie or not by what the exact weights and tokens are, and floats only come near:

- if query map, key map and null key consist of integers and the tokens are bits up to `NEAR`, the exact scores are
  integers, and a float score stands for the nearest one;
- otherwise a score that is further below the largest one than rounding can account for does not tie with it. What is
  closer is computed again in rational numbers, from the weights as they are and the bits of the tokens.

Where a close score belongs to tokens that are no bits the step is refused.

Source: turing, definition-transformer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.rationals import as_fraction

__all__ = ["NEAR", "TieRule"]

Floats = NDArray[Any]
Codes = NDArray[np.int8]

NEAR = {"float64": 2.0**-38, "float32": 2.0**-13}
"""How far a token may be from bits, by the type of the numbers that it was computed with."""

NO_BIT = -1


@dataclass(frozen=True, eq=False)
class TieRule:
    """How one head of hard attention decides its ties.

    Attributes:
        integral: whether the query map, the key map and the null key consist of integers.
        error: the most, to first order, that a score moves when all coordinates of the tokens move by ``near``.
        near: see `NEAR`.
        query_reads, key_reads: the coordinates that the maps read.
        head: with the weights as they are.
    """

    integral: bool
    error: float
    near: float
    query_reads: NDArray[np.int64]
    key_reads: NDArray[np.int64]
    head: Head

    @staticmethod
    def of(head: Head, dtype: str = "float64") -> TieRule:
        """The rule of a head with a null pair, whose scores are computed in "float64" or "float32"."""
        query, key, null = head.query.map(to_float), head.key.map(to_float), to_float(head.null_key)
        parts = (query.weight, query.offset, key.weight, key.offset, null)
        sums = [np.abs(part.weight).sum(axis=0) for part in (query, key)]
        largest_key = np.maximum(sums[1] + np.abs(key.offset), np.abs(null))
        stretch = float(sums[0] @ largest_key + (sums[0] + np.abs(query.offset)) @ sums[1])
        query_reads, key_reads = (np.flatnonzero(part.read_mask()) for part in (query, key))
        integral = all(bool((part == np.rint(part)).all()) for part in parts)
        return TieRule(integral, NEAR[dtype] * stretch, NEAR[dtype], query_reads, key_reads, head)

    def query_codes(self, tokens: Floats) -> Codes:
        """The bits that the query map reads of tokens (..., d), -1 for what is no bit."""
        return self._codes(tokens[..., self.query_reads])

    def key_codes(self, tokens: Floats) -> Codes:
        """The bits that the key map reads of tokens (..., d), -1 for what is no bit."""
        return self._codes(tokens[..., self.key_reads])

    def _codes(self, values: Floats) -> Codes:
        return np.where(np.abs(values) <= self.near, 0, np.where(np.abs(values - 1) <= self.near, 1, NO_BIT)).astype(
            np.int8
        )

    def ties(self, scores: Floats, query_codes: Codes, key_codes: Codes, where: str) -> NDArray[np.bool_]:
        """Which scores tie with the largest one, shape (B, n + 1), those of the null pair first.

        Args:
            scores: shape (B, n + 1); minus infinity for tokens that are not seen.
            query_codes: shape (B, .), as `query_codes` gives them.
            key_codes: shape (B, n, .), as `key_codes` gives them.
            where: the time and the layer, for the error.

        Raises:
            ValueError: if a score is so close to the largest one that floats cannot tell whether they tie.
        """
        below = scores.max(axis=-1, keepdims=True) - scores
        if self.integral and self.error < 1 / 8 and (query_codes >= 0).all() and (key_codes >= 0).all():
            return below < 1 / 2  # of integers, each known to 1/8 and the differences to 1/4
        close = below <= 2 * self.error
        for b in np.flatnonzero(close.sum(axis=-1) > 1):
            found = np.flatnonzero(close[b])
            rows = key_codes[b, found[found > 0] - 1]
            if (query_codes[b] < 0).any() or (rows < 0).any():
                raise ValueError(
                    f"{where}: the largest scores are closer than floats can tell apart, and their tokens are no bits, "
                    "so that nothing proves whether they tie: use the exact evaluator."
                )
            exact = self._exact(query_codes[b], rows, null=found[0] == 0)
            close[b, found] = [score == max(exact) for score in exact]
        return close

    def _exact(self, query_code: Codes, key_codes: Codes, null: bool) -> list[Fraction]:
        """The scores of the null pair, if asked for, and of the tokens with these bits."""
        query = _mapped(self.head.query, self.query_reads, query_code)
        known = dict[bytes, Fraction]()
        for code in key_codes:
            if code.tobytes() not in known:
                key = _mapped(self.head.key, self.key_reads, code)
                known[code.tobytes()] = sum((q * k for q, k in zip(query, key, strict=True)), start=Fraction(0))
        scores = [known[code.tobytes()] for code in key_codes]
        if null:
            key = [_fraction(x) for x in self.head.null_key.tolist()]
            scores.insert(0, sum((q * k for q, k in zip(query, key, strict=True)), start=Fraction(0)))
        return scores


def _mapped(affine: Affine, reads: NDArray[np.int64], code: Codes) -> list[Fraction]:
    """The map of the token with these bits at the coordinates that it reads, exactly."""
    columns = affine.weight[reads[code == 1]].T.tolist()
    return [
        _fraction(bias) + sum(map(_fraction, column), start=Fraction(0))
        for bias, column in zip(affine.offset.tolist(), columns, strict=True)
    ]


def _fraction(x: Any) -> Fraction:
    """The number that a weight is, binary fractions included."""
    return Fraction(x) if isinstance(x, float) else as_fraction(x)
