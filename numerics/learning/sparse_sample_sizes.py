"""How many strings are enough to learn a sparse function by one head and a ReLU perceptron: what differs is counted.

The class: at the class token one head averages one number of each token, and a perceptron follows,

    f(b) = Phi(sum_x p_x v(x)),    p = softmax of scores q(x) over all tokens x of the string b,

with q and v linear in the tokens, scores of any size, |v| <= 1, and Phi Lambda-Lipschitz, such as a ReLU perceptron of
any width and depth with a residual connection whose slopes are at most Lambda. Means are to be known within eps.

*Scores.* Two tokens of one string differ by less than c, or the lower one does not count: T of them have the share
T e^-c. Differences in the same interval of length eta, for all 2 T^2 pairs, make means differ by eta/2 + 4 T e^-c. The
2 T^2 (2 ceil(c/eta) + 3) hyperplanes of ends of intervals cut the D dimensions of scores, up to a constant, into

    sum_(i <= D) binomial(2 T^2 (2 ceil(c/eta) + 3), i)

parts at most, however large scores are. *By position:* if scores do not depend on the symbol, the head does not attend
to the class token, and values depend on the symbol alone, then those within c of the largest score are at most s arcs
of the circle below, 2 sum_(k <= s) binomial(T, 2 k) sets, and scores on them a ball: (1 + 2 c/eta)^(2 s) points, for
eta/2 + 2 T e^-c. Values are two numbers then, which Phi takes over.

*Values* within y: a unit ball in the supremum norm, (1 + 2/y)^D' points in D' dimensions.

*The perceptron.* Only where its sign is sure matters: with eps = eta/2 + 4 T e^-c + y (or without y) and cells of width
h of [-1, 1], h + 2 eps < gamma/Lambda, each cell says +, - or nothing, and runs of one sign are kept apart by at least
g = ceil((2 gamma/Lambda - 2 eps)/h) - 2 cells that say nothing. The number of such words is counted.

*Learning.* With N choices of all of this, fixed before the sample, every f of the class with margins of at least gamma
on m independent examples has an error of at most e, for all f at once with probability 1 - delta, as soon as
(1 - e)^m N <= delta.

*Positions on a circle.* If the token of position t holds the cosines and sines of k t 2 pi/T, k = 1, ..., s, then the
scores may be any trigonometric polynomial of degree s. One that has maxima at the s positions that f reads, i log 2 at
the i-th, and -S or less elsewhere makes the shares of these positions proportional to 2^i, so that the mean of the
bits +-1 tells all 2^s words apart; equal scores count the ones. So one head computes every sparse function.

Source: variable-creation, ext-learning (not in the document): proofs/sparse_learning.md there; proposition-4.12.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb, fmpq

from lemmata.numerics.exact.balls import checked_bound
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import ceiling, positive_number
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.entropy import deviation_bound
from lemmata.numerics.learning.perceptron_capacity import perceptron_rademacher

__all__ = [
    "CircleScores",
    "ReaderClass",
    "SparseSampleSize",
    "arc_count",
    "ball_log_cover",
    "circle_scores",
    "norm_sample_size",
    "occam_sample_size",
    "part_count",
    "sparse_sample_size",
    "word_count",
]

BITS = 192
PARTS = 64
"""gamma/Lambda is divided in 64ths among the width of cells and twice the error of means, which take 63 of them."""
SHARES = 16
"""The error of means is divided in 16ths between scores and values, and what scores have in 32nds: one for tails."""
ERROR = fmpq(1, 16)
"""What the head takes from the margin 1 of a network on a circle."""


def ball_log_cover(dimension: int, ratio: object) -> arb:
    """D log(1 + 2 R/r): no more points of a ball of radius R in D dimensions are more than r apart, in any norm.

    Args:
        dimension: D >= 0.
        ratio: R/r >= 0.

    Raises:
        ValueError: for other numbers.
    """
    D = checked_integer("The dimension", dimension, 0)
    return D * (1 + 2 * checked_bound("The quotient of the radii", ratio)).log()


def part_count(planes: int, dimension: int) -> int:
    """sum_(i <= D) binomial(M, i): M hyperplanes cut D dimensions into no more parts.

    Raises:
        ValueError: for negative numbers.
    """
    M, D = checked_integer("The number of hyperplanes", planes, 0), checked_integer("The dimension", dimension, 0)
    return sum(math.comb(M, i) for i in range(D + 1))


def arc_count(length: int, arcs: int) -> int:
    """2 sum_(k <= s) binomial(T, 2 k): sets of T positions on a circle that are at most s arcs, and some more.

    Raises:
        ValueError: if T < 1 or s < 0.
    """
    T, s = checked_integer("The length T", length, 1), checked_integer("The number of arcs", arcs, 0)
    return 2 * sum(math.comb(T, 2 * k) for k in range(s + 1))


def word_count(cells: int, gap: int) -> int:
    """Words of +, - and 0 of this length in which runs of one sign have at least g zeros between them.

    Raises:
        ValueError: if the length is negative or g < 1.
    """
    n, g = checked_integer("The number of cells", cells, 0), checked_integer("The number of zeros", gap, 1)
    free, run, short = 1, 0, [0] * (g - 1)  # may begin a run; are in one; have had 1, ..., g - 1 zeros since one
    for _ in range(n):
        *waiting, enough = run, *short
        free, run, short = free + enough, run + 2 * free, waiting
    return free + run + sum(short)


@dataclass(frozen=True)
class ReaderClass:
    """One head that averages one number, and a Lipschitz function of the mean, with a margin; see the module.

    Attributes:
        length: T, the number of tokens besides the class token.
        harmonics: s, of the positions on a circle.
        slope: Lambda > 0.
        margin: gamma > 0, that networks are to have on the sample.
        by_position: whether scores depend on positions alone, and values on symbols.

    Raises:
        ValueError: for numbers out of range.
    """

    length: int
    harmonics: int
    slope: fmpq
    margin: fmpq
    by_position: bool = False

    def __post_init__(self) -> None:
        checked_integer("The length T", self.length, 1)
        checked_integer("The number s of harmonics", self.harmonics, 1)
        object.__setattr__(self, "slope", positive_number("slope Lambda", self.slope))
        object.__setattr__(self, "margin", positive_number("margin gamma", self.margin))

    def log_covers(self, part: int, share: int) -> dict[str, arb]:
        """The logarithms of the numbers of choices for scores, values and perceptron.

        Args:
            part: k, of the error of means, eps = (k/64) gamma/Lambda, 1 <= k <= 31; cells are (63 - 2 k)/64 wide.
            share: j, of the error of values, y = (j/16) eps, 1 <= j <= 15; not used by position.

        Raises:
            ValueError: for other parts.
        """
        k = checked_integer("The part", part, 1)
        j = 0 if self.by_position else checked_integer("The share", share, 1)
        if not (2 * k < PARTS - 1 and j < SHARES):
            raise ValueError("Nothing is left for the cells of the perceptron, or for the scores.")
        T, s, unit = self.length, self.harmonics, self.margin / self.slope
        eps, width = unit * fmpq(k, PARTS), unit * fmpq(PARTS - 1 - 2 * k, PARTS)
        words = word_count(int((2 / width).ceil()), int((2 * (unit - eps) / width).ceil()) - 2)
        rest = eps * fmpq(SHARES - j, SHARES)
        step, tails = rest * fmpq(31, 16), 2 if self.by_position else 4
        depth = arb(32 * tails * T / rest).log()
        if self.by_position:
            scores = arb(arc_count(T, s)).log() + ball_log_cover(2 * s, depth / step)
            values = arb(0)
        else:
            scores = arb(part_count(2 * T**2 * (2 * ceiling(depth / step) + 3), 2 * s + 2)).log()
            values = ball_log_cover(2 * s + 3, 1 / (eps * fmpq(j, SHARES)))
        return {"scores": scores, "values": values, "perceptron": arb(words).log()}

    def divided(self) -> dict[str, arb]:
        """The same for the best of all parts and shares."""
        shares = [1] if self.by_position else range(1, SHARES)
        each = [self.log_covers(k, j) for k in range(1, PARTS // 2) for j in shares]
        return min(each, key=lambda one: sum(float(size.mid()) for size in one.values()))


def occam_sample_size(log_cover: object, error: object, delta: object) -> int:
    """The least m with log N + m log(1 - e) <= log delta, rounded up where balls leave it open.

    Args:
        log_cover: log N >= 0, at a radius below half of the margin, in the supremum over all inputs.
        error: e, in (0, 1).
        delta: the probability of failure, in (0, 1).

    Raises:
        ValueError: for other numbers.
    """
    log_size = checked_bound("The log-size of the cover", log_cover)
    e, failure = _probability("error", error), _probability("probability of failure delta", delta)
    return max(1, ceiling((log_size - failure.log()) / -(-e).log1p()))


@dataclass(frozen=True)
class CircleScores:
    """The scores of a head on a circle that reads any s of T positions.

    Attributes:
        gap: S: scores are at least 0 at the positions that are read, and at most -S elsewhere.
        factor: K, of the product of 1 - cos of the distances to these positions.
        slope: Lambda, of the perceptron.
        margin: gamma, of the network at every string.
    """

    gap: arb
    factor: arb
    slope: int
    margin: fmpq


def circle_scores(sparsity: int, length: int, *, symmetric: bool = False) -> CircleScores:
    """The numbers of the head that reads s positions of T on a circle, whichever they are.

    With n = 2^s nodes, or s + 1 if symmetric, Lambda = n - 1 is also the weight of the positions that are read, and the
    mean is within 1/(16 Lambda) of its node for S = log(32 (T + 1 - s)). With u_j = 1 - cos(2 pi j/T) and c_k = u_1 u_1
    u_2 u_2 ... (k factors), K = S/c_s + log(2) s (s - 1)/(2 u_1 c_(s-1)), without the second summand if symmetric.

    Args:
        sparsity: s >= 1.
        length: T > s.
        symmetric: whether the function counts the ones alone.

    Raises:
        ValueError: for other numbers.
    """
    s = checked_integer("The number s of positions that are read", sparsity, 1)
    T = checked_integer("The length T", length, s + 1)
    with precision(BITS):
        S = arb(2 * (T + 1 - s) / ERROR).log()
        factor = S / _product(s, T)
        if not symmetric:
            factor += arb(2).log() * fmpq(s * (s - 1), 2) / (_near(1, T) * _product(s - 1, T))
        slope = s if symmetric else 2**s - 1
        return CircleScores(S, factor, slope, 1 - ERROR)


@dataclass(frozen=True)
class SparseSampleSize:
    """How many strings are enough, and for what.

    Attributes:
        samples: m.
        log_covers: of the parts scores, values and perceptron.
        readers: the class.
    """

    samples: int
    log_covers: Mapping[str, arb]
    readers: ReaderClass

    @property
    def log_cover(self) -> arb:
        """log N, of all parts."""
        return sum(self.log_covers.values(), start=arb(0))


def sparse_sample_size(
    sparsity: int, length: int, *, error: object, delta: object, symmetric: bool = False, by_position: bool = False
) -> SparseSampleSize:
    """How many strings are enough to learn every s-sparse Boolean function of T bits, whatever their distribution is.

    The class has tokens on a circle: 2 s + 2 dimensions of scores up to a constant, 2 s + 3 of values, Lambda of
    `circle_scores`. It holds a network with margin 15/16 for every function, and every network of the class with
    margins of at least 15/16 on m strings has at most the error e on new ones, with probability 1 - delta.

    Args:
        sparsity: s >= 1.
        length: T > s.
        error: e, in (0, 1).
        delta: the probability of failure, in (0, 1).
        symmetric: of functions that count ones alone, with their smaller class.
        by_position: of heads that attend by position and average symbols, a smaller class again.

    Raises:
        ValueError: for other numbers.

    Source: variable-creation, ext-learning.
    """
    found = circle_scores(sparsity, length, symmetric=symmetric)
    with precision(BITS):
        readers = ReaderClass(int(length), int(sparsity), fmpq(found.slope), found.margin, by_position)
        covers = readers.divided()
        samples = occam_sample_size(sum(covers.values(), start=arb(0)), error, delta)
    return SparseSampleSize(samples, covers, readers)


def norm_sample_size(sparsity: int, length: int, *, error: object, delta: object, symmetric: bool = False) -> int:
    """The same by norms, chaining and the ramp loss: a bound whose dimension is free, and far larger at short lengths.

    The class has orthonormal positions, one head with ||W_QK|| <= Q and a ReLU perceptron with a residual connection of
    the path norm W (ext-perceptron): those that compute all s-sparse functions with margin 15/16. m is the least power
    of 2 at which the deviation of the ramp loss of slope 16/15 is at most e, so that the error of networks with these
    margins on the sample is, too.

    Args and errors as `sparse_sample_size`.
    """
    found = circle_scores(sparsity, length, symmetric=symmetric)
    e = _probability("error", error)
    s, T, n = int(sparsity), int(length), found.slope + 1
    with precision(BITS):
        tops = [found.gap + (0 if symmetric else i * arb(2).log()) for i in range(s)]
        Q = sum((top**2 for top in tops), start=arb(0)).sqrt()
        read = arb(3).sqrt() * found.slope * (2 * n - 2)
        token = arb(3).sqrt()
        for exponent in range(1, 400):
            m = 2**exponent
            rad = perceptron_rademacher([Q], read, tokens=token, samples=m, length=T + 1, residual=False)
            if deviation_bound(rad, m, delta, lipschitz=1 / arb(found.margin), form="sharp") <= e:
                return m
    raise ValueError(f"An error of {error} takes more than 2^400 strings by this bound.")


def _near(j: int, T: int) -> arb:
    """u_j = 1 - cos(2 pi j/T)."""
    return 1 - arb.cos_pi(arb(fmpq(2 * j, T)))


def _product(k: int, T: int) -> arb:
    """c_k: the product of the k smallest 1 - cos of distances of different positions from one position."""
    result = arb(1)
    for j in range(2, k + 2):
        result *= _near(j // 2, T)
    return result


def _probability(name: str, value: object) -> arb:
    result = checked_bound(f"The {name}", value, positive=True)
    if not result < 1:
        raise ValueError(f"The {name} must lie in (0, 1), not {value}.")
    return result
