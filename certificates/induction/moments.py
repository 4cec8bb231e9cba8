"""The mean output of a class, and how far outputs are from it: what a worst case over the class cannot tell.

All sequences of a class are equally probable, so that the loss needs means over the class. The output is D = d + R,
R = sum_j e_j v_j / sum_j e_j, where d and all e_j, v_j lie in intervals. Numbers e'_j, v'_j inside them depend on the
last symbols at the position j alone, so that the first and second moments of N = sum e'_j v'_j and S = sum e'_j over a
class are sums over paths, known but for rounding. Section 5 of PROOF.md makes of them the mean of D over the class, to
within what the intervals allow, and the mean square of its distance from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.certificates.induction.cells import BITS, outwards
from lemmata.certificates.induction.intervals import lower_end, upper_end
from lemmata.certificates.induction.kernels import least_totals, sums_of_squares
from lemmata.numerics.exact.balls import ball_max, ball_min
from lemmata.numerics.exact.precision import precision

__all__ = ["Terms", "class_means"]

FloatArray = NDArray[np.float64]

ROUNDING = 2.0**-42
"""How much of itself a sum over a class may be off; see `sums_of_squares`."""
LEAST = 2.0**-200
"""Errors are taken to be no smaller, so that no product of them underflows."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What a head of the last layer sums up, after a query with given last symbols.

    Attributes:
        e, v: intervals by position, last symbols and number of symbols 1 before them, shapes (t, 2^known, t, 2).
        front: e and v of the rows in front of all tokens, shape (2, r, 2).
    """

    e: FloatArray
    v: FloatArray
    front: FloatArray


def class_means(
    t: int,
    known: int,
    final: int,
    heads: Sequence[Terms],
    around: FloatArray,
    count: NDArray[np.int64],
    outputs: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The mean output and the mean square of its distance from there, for the classes that end with given symbols.

    Args:
        t, known, final: as for `lemmata.certificates.induction.kernels.extreme_ratios`.
        heads: those of the last layer.
        around: d lies in this interval, shape (t, t, 2).
        count: the number of sequences of each class, shape (t, t); 0 where nothing is asked for.
        outputs: D lies in this interval, shape (t, t, 2).

    Returns:
        means: an interval that holds the mean of D, shape (t, t, 2).
        squares: at least the mean of (D - c)^2, c = (means[0] + means[1])/2 in floats, shape (t, t).
        Both are NaN where outputs are, and follow from them where nothing else is known.
    """
    means, squares = outputs.copy(), np.full((t, t), np.nan)
    sums = [_Sums.of(t, known, final, head) for head in heads]
    with precision(BITS):
        for place in map(tuple, np.argwhere((count > 0) & np.isfinite(outputs).all(axis=-1))):
            ends = outputs[place].tolist()
            exactly = arb(1, ROUNDING) / int(count[place])
            parts = [one.found(place, exactly) for one in sums]
            known_parts = [part for part in parts if part is not None]
            found = _joined(around[place].tolist(), known_parts) if len(known_parts) == len(parts) else None
            if found is not None:
                inner = outwards(found.mean - found.error, found.mean + found.error)
                means[place] = max(ends[0], inner[0]), min(ends[1], inner[1])
            c = arb(float((means[place][0] + means[place][1]) / 2))
            root = ball_max([abs(arb(end) - c) for end in ends])
            if found is not None:
                root = ball_min([root, found.root + abs(found.centre - c)])
            squares[place] = outwards(root**2, root**2)[1]
    return means, squares


@dataclass(frozen=True)
class _Found:
    """The mean of D is `mean` but for `error`; the root of the mean of (D - centre)^2 is at most `root`."""

    mean: arb
    error: arb
    centre: arb
    root: arb


def _joined(around: Sequence[float], parts: Sequence[_Found]) -> _Found:
    """The same for the sum of d, which lies in an interval, and of all heads."""
    low, high = map(arb, around)
    half, zero = (low + high) / 2, arb(0)
    width = high - half
    return _Found(
        mean=half + sum((part.mean for part in parts), start=zero),
        error=width + sum((part.error for part in parts), start=zero),
        centre=half + sum((part.centre for part in parts), start=zero),
        root=width + sum((part.root for part in parts), start=zero),
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """What all classes with the same last symbols share, for one head.

    Attributes:
        base: what is to be added to the values v'.
        share: e_j is at most this part of itself away from e'_j.
        ranges: between these the values v' of each symbol lie; rows in front count as those of the symbol 0.
        sums: over each class, as `sums_of_squares` gives them.
        totals: the least sums of e_j, or less.
    """

    base: float
    share: float
    ranges: tuple[tuple[arb, arb], ...]
    sums: FloatArray
    totals: FloatArray

    @classmethod
    def of(cls, t: int, known: int, final: int, head: Terms) -> _Sums:
        """From the terms of a head; arguments as for `class_means`."""
        e, v = (
            np.concatenate([own.reshape(-1, 2), front]) for own, front in zip((head.e, head.v), head.front, strict=True)
        )
        base = float(np.nanmin(v)) - 1.0
        weight, value = (e[:, 0] + e[:, 1]) / 2, (v[:, 0] + v[:, 1]) / 2 - base
        exact: Any = base + value
        off = np.maximum(_distance(e, weight, weight), LEAST)
        wrong = np.maximum(_distance(v, lower_end(exact), upper_end(exact)), LEAST)
        symbol = np.broadcast_to((np.arange(2**known) & 1)[:, None], head.e.shape[:-1]).ravel()
        symbol = np.concatenate([symbol, np.zeros(head.front.shape[1], dtype=np.int64)])
        terms = np.stack(
            [weight * value, weight, off * (symbol == 0), off * (symbol == 1), _up(e[:, 1] * wrong)], axis=-1
        )
        tokens, front = np.split(terms, [head.e[..., 0].size])
        tokens = tokens.reshape(*head.e.shape[:-1], -1)
        tokens[0] += front.sum(axis=0)
        with np.errstate(divide="ignore"):
            share = float(np.nanmax(_up(off / e[:, 0])))
        return cls(
            base,
            share,
            tuple(_range(value[symbol == s]) for s in (0, 1)),
            sums_of_squares(t, known, final, tokens),
            least_totals(t, known, final, head.e, head.front),
        )

    def found(self, place: tuple[int, ...], exactly: arb) -> _Found | None:
        """Of R over a class, from sums times `exactly`; None where nothing is known."""
        if not np.isfinite(self.share) or not self.totals[place] > 0.0 or not np.isfinite(self.sums[place]).all():
            return None
        return self._found([float(one) * exactly for one in self.sums[place]], arb(float(self.totals[place])))

    def _found(self, X: list[arb], least: arb) -> _Found:
        """From the means of N, S, the errors of e by symbol, those of v, all their squares and N S, over a class.

        Args:
            X: these.
            least: S, and the same sum of the true e_j, is at least this.
        """
        N, S, *errors = X[:5]
        NN, SS, *squares, NS = X[5:]
        rho, S_0 = (N / S).mid(), S.mid()
        distances = [ball_max([abs(low - rho), abs(high - rho)]) for low, high in self.ranges]
        G, GG = N - rho * S, NN - 2 * rho * NS + rho**2 * SS
        spread = _root(GG) / least
        rest = ball_max(distances) * (SS - 2 * S_0 * S + S_0**2) / S_0**2
        shift = G / S_0 - (NS - rho * SS - S_0 * G) / S_0**2

        def allowed(errors: list[arb]) -> arb:
            """What the intervals allow, from means or roots of mean squares of the three errors."""
            by_symbol = sum((a * b for a, b in zip(distances, errors[:2], strict=True)), start=errors[2])
            return by_symbol / least + self.share * spread

        centre = self.base + rho
        return _Found(
            mean=centre + shift,
            error=allowed(errors) + abs(rest),
            centre=centre,
            root=spread + allowed([_root(x) for x in squares]),
        )


def _root(x: arb) -> arb:
    """The root of the largest number of a ball, which is a mean square."""
    return x.upper().max(arb(0)).sqrt()


def _distance(interval: FloatArray, low: Any, high: Any) -> FloatArray:
    """At least the distance of a number between low and high from any of the interval, shape of low."""
    return _up(np.maximum(interval[..., 1] - low, high - interval[..., 0]))


def _up(x: Any) -> Any:
    return upper_end(x)


def _range(values: FloatArray) -> tuple[arb, arb]:
    return arb(float(np.nanmin(values))), arb(float(np.nanmax(values)))
