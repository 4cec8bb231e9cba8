"""Classes of sequences with enclosed outputs, and what they say about the loss, the Bayes predictor and counting.

The data: two-state chains with uniform transition probabilities and stationary start, as in
`lemmata.numerics.markov.bayes`. The loss at the last of t positions is E KL(true row of x_t || prediction of x_(t+1))
in nats: the expected -ln(prediction) less the entropy rate. A cell is a set of sequences with one first symbol, the
same last symbols and the same number of steps of every kind, so that all have the same evidence and the same counts,
and an interval for the model's difference D of logits. With Z_1, Z_2 the evidences of the sequence followed by 1 and by
2, the cell contributes to the loss, for each of its sequences,

    f(D) = Z_1 ln(1 + e^D) + Z_2 ln(1 + e^-D),

which is convex in D with its minimum at the Bayes predictor D* = ln(Z_2/Z_1): the largest value is at an end of the
interval, the least at the point next to D*.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.certificates.induction.intervals import down, up
from lemmata.numerics.exact.balls import ball_max
from lemmata.numerics.exact.numbers import exact_midpoint
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.markov.enclosed import enclosed_extensions
from lemmata.numerics.markov.losses import entropy_rate

__all__ = ["BITS", "Bounds", "Cells", "Judgement", "judge", "outwards"]

BITS = 128
Bounds = tuple[float, float]
"""A number lies between these two, ends included."""


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

    def __post_init__(self) -> None:
        if sum(self.count.tolist()) != 2**self.t:
            raise ValueError(
                f"The cells hold {sum(self.count.tolist())} sequences of {self.t} symbols, not 2^{self.t}."
            )
        if not np.isfinite(self.outputs).all() or (self.outputs[:, 0] > self.outputs[:, 1]).any():
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


def judge(cells: Cells) -> Judgement:
    """The losses and distances that follow from the cells, by ball arithmetic."""
    with precision(BITS):
        zero = arb(0)
        loss, bayes, bigram, mean = [zero, zero], zero, zero, [zero, zero]
        largest: list[arb] = [zero, zero]
        classes, members = _classes(cells)
        for one, kind in zip(classes, members, strict=True):
            bayes += one.best_cost * int(cells.count[kind].sum())
            bigram += one.bigram_cost * int(cells.count[kind].sum())
            for cell in kind:
                count = int(cells.count[cell])
                low, high = (arb(float(end)) for end in cells.outputs[cell])
                ends = _cost(*one.evidence, low), _cost(*one.evidence, high)
                loss[1] += ball_max(ends) * count
                loss[0] += (ends[1] if high < one.best else ends[0] if low > one.best else one.best_cost) * count
                least, most = _distances(low, high, one.bigram)
                share = sum(one.evidence, start=zero) * count
                mean = [mean[0] + share * least, mean[1] + share * most]
                largest = [ball_max([largest[0], least]), ball_max([largest[1], most])]
        rate = entropy_rate()
        return Judgement(
            loss=outwards(loss[0] - rate, loss[1] - rate),
            bayes=outwards(bayes - rate, bayes - rate),
            bigram=outwards(bigram - rate, bigram - rate),
            gap=outwards(loss[0] - bayes, loss[1] - bayes),
            mean_distance=outwards(mean[0], mean[1], 0.0),
            largest_distance=outwards(largest[0], largest[1], 0.0),
        )


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
    """

    evidence: tuple[arb, arb]
    best: arb
    best_cost: arb
    bigram: arb
    bigram_cost: arb


def _classes(cells: Cells) -> tuple[list[_Class], list[NDArray[np.int64]]]:
    """The classes of sequences with the same counts, and the numbers of their cells."""
    keys = np.stack([cells.first, cells.last, cells.stays, cells.changes], axis=1)
    different, number = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(number.ravel()[order])) + 1)
    return [_class(cells.t, *map(int, key)) for key in different], members


def _class(t: int, first: int, last: int, stays: int, changes: int) -> _Class:
    one, two = (Z[0] for Z in enclosed_extensions(t - 1, first, np.array([stays]), np.array([changes])))
    best = (two / one).log()
    repeated = stays if last == 1 else t - 1 - stays - changes
    leaving = changes // 2  # changes alternate, and the last one led to the last symbol
    repeat = arb(repeated + 1) / (repeated + leaving + 2)
    bigram = 1 - repeat if last == 1 else repeat
    return _Class((one, two), best, _cost(one, two, best), bigram, -two * bigram.log() - one * (1 - bigram).log())


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
