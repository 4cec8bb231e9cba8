"""Classes of sequences with enclosed outputs, and what they say about the loss, the Bayes predictor and counting.

The data: two-state chains with uniform transition probabilities and stationary start, as in
`lemmata.numerics.markov.bayes`. The loss at the last of t positions is E KL(true row of x_t || prediction of x_(t+1))
in nats: the expected -ln(prediction) less the entropy rate. A cell is a set of sequences with one first symbol, the
same last symbols and the same number of steps of every kind, so that all have the same evidence and the same counts,
and an interval for the model's difference D of logits. With Z_1, Z_2 the evidences of the sequence followed by 1 and by
2, the cell contributes to the loss, for each of its sequences,

    f(D) = Z_1 ln(1 + e^D) + Z_2 ln(1 + e^-D),

which is convex in D with its minimum at the Bayes predictor D* = ln(Z_2/Z_1): the largest value is at an end of the
interval, the least at the point next to D*. Where the mean of D over a cell is known better, so is the mean of f.

Or the first symbol is uniform and independent of the rows: then the evidence is half the product over both rows of
a! b!/(a + b + 1)!, a and b its numbers of steps, the Bayes prediction is counting with plus one, and in place of the
entropy rate stands the mean of -sum r ln r over the row r of x_t, (psi(A + 1) - psi(a_j + 1)) a_j/A summed over j, with
a_j = 1 + the number of steps from x_t to j and A = a_1 + a_2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, inf
from typing import Literal

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.certificates.induction.intervals import down, up
from lemmata.numerics.exact.balls import ball_max, ball_min
from lemmata.numerics.exact.numbers import exact_midpoint
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.markov.enclosed import enclosed_extensions
from lemmata.numerics.markov.losses import entropy_rate

__all__ = ["BITS", "Bounds", "Cells", "Judgement", "Start", "judge", "outwards"]

BITS = 128
Bounds = tuple[float, float]
"""A number lies between these two, ends included."""
Start = Literal["stationary", "uniform"]
"""The law of the first symbol: that of the chain, or 1/k for each."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Disjoint sets of sequences of t symbols over {1, 2} that together are all of them.

    Attributes:
        t: the length.
        first: x_1, shape (C,).
        endings: the last symbols, less 1, as binary digits of a number, x_t the least significant, shape (C,).
        stays: the number n_11 of steps from 1 to 1, shape (C,).
        changes: the number of changes, shape (C,).
        count: the number of sequences, shape (C,).
        outputs: D of all of them lies in this interval, shape (C, 2).
        means: the mean of D over them lies in this interval, within outputs, shape (C, 2), or None if that is all.
        squares: at least the mean of (D - c)^2 over them, c the middle of means in floats, shape (C,), with means.

    Raises:
        ValueError: if the sequences are not 2^t in number, or an interval is empty or not finite.
    """

    t: int
    first: NDArray[np.int64]
    endings: NDArray[np.int64]
    stays: NDArray[np.int64]
    changes: NDArray[np.int64]
    count: NDArray[np.int64]
    outputs: NDArray[np.float64]
    means: NDArray[np.float64] | None = None
    squares: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if sum(self.count.tolist()) != 2**self.t:
            raise ValueError(
                f"The cells hold {sum(self.count.tolist())} sequences of {self.t} symbols, not 2^{self.t}."
            )
        intervals = [self.outputs] if self.means is None else [self.outputs, self.means]
        if not all(np.isfinite(one).all() and (one[:, 0] <= one[:, 1]).all() for one in intervals):
            raise ValueError("Every cell needs a finite interval of outputs, lower end first.")

    @property
    def last(self) -> NDArray[np.int64]:
        """x_t, shape (C,)."""
        return (self.endings & 1) + 1


@dataclass(frozen=True)
class Judgement:
    """What cells prove, in nats; all pairs are rigorous bounds, rounded outwards.

    Attributes:
        loss: of the model.
        bayes: of the exact Bayes predictor, which no model beats.
        bigram: of counting with plus one.
        gap: the expected divergence of the Bayes prediction from the model's, loss - bayes.
        mean_distance: the expected total-variation distance of the model's prediction from counting with plus one.
        largest_distance: its largest value over all sequences.
    """

    loss: Bounds
    bayes: Bounds
    bigram: Bounds
    gap: Bounds
    mean_distance: Bounds
    largest_distance: Bounds


def judge(cells: Cells, start: Start = "stationary") -> Judgement:
    """The losses and distances that follow from the cells, by ball arithmetic, for a law of the first symbol."""
    with precision(BITS):
        zero = arb(0)
        loss, bayes, bigram, mean = [zero, zero], zero, zero, [zero, zero]
        largest: list[arb] = [zero, zero]
        classes, members = _classes(cells, start)
        rate = entropy_rate() if start == "stationary" else zero
        for one, kind in zip(classes, members, strict=True):
            rate += one.row_entropy * int(cells.count[kind].sum())
            bayes += one.best_cost * int(cells.count[kind].sum())
            bigram += one.bigram_cost * int(cells.count[kind].sum())
            for cell in kind:
                count = int(cells.count[cell])
                low, high = (arb(float(end)) for end in cells.outputs[cell])
                costs, off = [_cost(*one.evidence, end) for end in (low, high)], _distances(low, high, one.bigram)
                least, most = off
                bounds = _nearest(one, low, high, costs), ball_max(costs)
                if cells.means is not None and cells.squares is not None:
                    bounds, off = _by_means(
                        one, (low, high), cells.means[cell], float(cells.squares[cell]), bounds[1], off
                    )
                loss = [total + bound * count for total, bound in zip(loss, bounds, strict=True)]
                share = sum(one.evidence, start=zero) * count
                mean = [total + share * bound for total, bound in zip(mean, off, strict=True)]
                largest = [ball_max([largest[0], least]), ball_max([largest[1], most])]
        return Judgement(
            loss=outwards(loss[0] - rate, loss[1] - rate),
            bayes=outwards(bayes - rate, bayes - rate),
            bigram=outwards(bigram - rate, bigram - rate),
            gap=outwards(loss[0] - bayes, loss[1] - bayes),
            mean_distance=outwards(mean[0], mean[1], 0.0),
            largest_distance=outwards(largest[0], largest[1], 0.0),
        )


def _nearest(one: _Class, low: arb, high: arb, costs: Sequence[arb]) -> arb:
    """f at the point of an interval next to D*, where it is least; costs are those of the ends."""
    return costs[1] if high < one.best else costs[0] if low > one.best else one.best_cost


def _by_means(
    one: _Class, outputs: tuple[arb, arb], mean: NDArray[np.float64], square: float, most: arb, off: tuple[arb, arb]
) -> tuple[tuple[arb, arb], tuple[arb, arb]]:
    """Bounds on the mean of f over a cell, and of |sigma(D) - counted|, from the mean of D and of (D - c)^2.

    f is convex, f'' = (Z_1 + Z_2) sigma', and sigma' is largest at the output next to 0.

    Args:
        most: f is at most this.
        off: between these |sigma(D) - counted| lies.
    """
    (Z_1, Z_2), q = one.evidence, arb(square)
    low, high, c = (arb(float(x)) for x in (*mean, (mean[0] + mean[1]) / 2))
    least = _nearest(one, low, high, [_cost(Z_1, Z_2, end) for end in (low, high)])
    law = 1 / (1 + (-c).exp())
    slope = Z_1 * law - Z_2 * (1 - law)
    tangent = _cost(Z_1, Z_2, c) + ball_max([slope * (low - c), slope * (high - c)])
    flat = arb(0) if outputs[0] <= 0 <= outputs[1] else ball_min([abs(end) for end in outputs])
    steepest = 1 / (2 + flat.exp() + (-flat).exp())
    middle, around = abs(law - one.bigram), q.sqrt() * steepest
    distances = ball_max([off[0], middle - around]), ball_min([off[1], middle + around])
    return (least, ball_min([most, tangent + (Z_1 + Z_2) * steepest / 2 * q])), distances


def _cost(one: arb, two: arb, D: arb) -> arb:
    """Z_1 ln(1 + e^D) + Z_2 ln(1 + e^-D)."""
    return one * (1 + D.exp()).log() + two * (1 + (-D).exp()).log()


@dataclass(frozen=True)
class _Class:
    """What sequences with the same counts share.

    Attributes:
        evidence: Z_1 and Z_2.
        best: D* of the Bayes predictor.
        best_cost: f(D*).
        bigram: the probability of the symbol 2 that counting with plus one gives.
        bigram_cost: f there.
        row_entropy: what a sequence adds to the mean of -sum r ln r; 0 for a stationary start, whose entropy rate is
            known.
    """

    evidence: tuple[arb, arb]
    best: arb
    best_cost: arb
    bigram: arb
    bigram_cost: arb
    row_entropy: arb


def _classes(cells: Cells, start: Start) -> tuple[list[_Class], list[NDArray[np.int64]]]:
    """The classes of sequences with the same counts, and the numbers of their cells."""
    keys = np.stack([cells.first, cells.last, cells.stays, cells.changes], axis=1)
    different, number = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(number.ravel()[order])) + 1)
    return [_class(cells.t, start, *map(int, key)) for key in different], members


def _class(t: int, start: Start, first: int, last: int, stays: int, changes: int) -> _Class:
    repeated = stays if last == 1 else t - 1 - stays - changes
    leaving = changes // 2  # changes alternate, and the last one led to the last symbol
    repeat = arb(repeated + 1) / (repeated + leaving + 2)
    bigram = 1 - repeat if last == 1 else repeat
    entropy = arb(0)
    if start == "stationary":
        one, two = (Z[0] for Z in enclosed_extensions(t - 1, first, np.array([stays]), np.array([changes])))
    else:
        own, other = (repeated, leaving), (t - 1 - repeated - changes, changes - leaving)
        evidence = arb(_row_evidence(*own) * _row_evidence(*other) / 2)
        one, two = evidence * (1 - bigram), evidence * bigram
        whole = arb(sum(own) + 3).digamma()
        shares = [(arb(n + 1) / (sum(own) + 2), arb(n + 2).digamma()) for n in own]
        entropy = evidence * sum((share * (whole - part) for share, part in shares), start=arb(0))
    best = (two / one).log()
    cost = -two * bigram.log() - one * (1 - bigram).log()
    return _Class((one, two), best, _cost(one, two, best), bigram, cost, entropy)


def _row_evidence(a: int, b: int) -> fmpq:
    """The mean of r^a (1 - r)^b for a uniform r, a! b!/(a + b + 1)!."""
    return fmpq(factorial(a) * factorial(b), factorial(a + b + 1))


def _distances(low: arb, high: arb, counted: arb) -> tuple[arb, arb]:
    """The least and the largest |sigma(D) - counted| over the interval; 0 is the least where it is undecided."""
    ends = [1 / (1 + (-D).exp()) - counted for D in (low, high)]
    most = ball_max([abs(end) for end in ends])
    if ends[0] > 0:
        return ends[0], most
    return (-ends[1], most) if ends[1] < 0 else (arb(0), most)


def outwards(low: arb, high: arb, least: float = -inf) -> Bounds:
    """A float below all of the one ball, but not below `least`, and one above all of the other."""
    lower, upper = low.lower(), high.upper()
    return max(down(_float(lower)), least), up(_float(upper))


def _float(point: arb) -> float:
    exact = exact_midpoint(point)
    return int(exact.p) / int(exact.q)
