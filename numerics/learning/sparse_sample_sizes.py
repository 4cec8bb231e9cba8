"""How many strings are enough to learn a sparse function by one head and a ReLU perceptron: weights are counted.

The class: at the class token one head averages one number of each token, and a perceptron follows,

    f(b) = Phi(sum_x p_x v(x)),    p = softmax of scores q(x) over all tokens x of the string b,

with q and v linear in the tokens, |v| <= 1, q between two numbers 2 R apart, and Phi Lambda-Lipschitz, such as a ReLU
perceptron of any width and depth with a residual connection whose slopes are at most Lambda. Its values are cut off at
-1 and 1, which changes no sign.

*Counting.* Scores up to a constant are a ball of radius R in half their range, in D dimensions; values a unit ball in
the supremum norm, in D' dimensions. A ball of radius R in D dimensions has at most (1 + 2 R/r)^D points that are more
than r apart, in whatever norm. Lambda-Lipschitz functions on [-1, 1] with values in it are r-near to one of
ceil(1/r) 2^ceil(2 Lambda/r) zigzags of slopes Lambda and -Lambda. So for radii x, y, z the class has a cover of radius
x + y + z in the supremum over *all* strings, of log-size

    D log(1 + 2 R Lambda/x) + D' log(1 + 2 Lambda/y) + ceil(2 Lambda/z) log 2 + log ceil(1/z).

*Learning.* If x + y + z < gamma/2, every f of the class with margins y_i f(x_i) >= gamma on m independent examples has
an error of at most e, for all f at once with probability 1 - delta, as soon as (1 - e)^m N <= delta.

*Positions on a circle.* If the token of position t holds the cosines and sines of k t 2 pi/T, k = 1, ..., s, then the
scores may be any trigonometric polynomial of degree s. One that has maxima at the s positions that f reads, i log 2 at
the i-th, and -S or less elsewhere makes the shares of these positions proportional to 2^i, so that the mean of the
bits +-1 tells all 2^s words apart; equal scores count the ones. So one head computes every sparse function.

Source: variable-creation, ext-learning (not in the document): proofs/sparse_learning.md there; proposition-4.12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from lemmata.numerics.exact.balls import checked_bound
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import ceiling
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.entropy import deviation_bound
from lemmata.numerics.learning.perceptron_capacity import perceptron_rademacher

__all__ = [
    "CircleScores",
    "ReaderClass",
    "SparseSampleSize",
    "ball_log_cover",
    "circle_scores",
    "lipschitz_cover",
    "norm_sample_size",
    "occam_sample_size",
    "sparse_sample_size",
]

BITS = 192
PARTS = 64
"""A radius is divided among the three parts in 64ths, of which they take 63, so that they stay below it."""
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


def lipschitz_cover(slope: object, radius: object) -> tuple[int, int]:
    """(steps, starts): Lambda-Lipschitz functions from [-1, 1] to [-1, 1] are r-near to one of starts 2^steps zigzags.

    A zigzag starts at -1 + (2 j + 1) r, j < ceil(1/r), and has on each of ceil(2 Lambda/r) intervals of length r/Lambda
    (the last may be shorter) the slope Lambda or -Lambda.

    Raises:
        ValueError: for a slope that is negative, a radius that is not positive, or numbers that are not finite.
    """
    steepness = checked_bound("The slope Lambda", slope)
    r = checked_bound("The radius", radius, positive=True)
    return ceiling(2 * steepness / r), ceiling(1 / r)


@dataclass(frozen=True)
class ReaderClass:
    """One head that averages one number, and a Lipschitz function of the mean; see the module.

    Attributes:
        score_dimension: D, of the scores up to a constant.
        half_range: R >= 0, half of the largest difference of two scores.
        value_dimension: D', of the values.
        slope: Lambda > 0.

    Raises:
        ValueError: for numbers out of range or not finite.
    """

    score_dimension: int
    half_range: Any
    value_dimension: int
    slope: Any

    def __post_init__(self) -> None:
        for name in ("score_dimension", "value_dimension"):
            object.__setattr__(self, name, checked_integer(f"The {name}".replace("_", " "), getattr(self, name), 0))
        object.__setattr__(self, "half_range", checked_bound("The half range R of the scores", self.half_range))
        object.__setattr__(self, "slope", checked_bound("The slope Lambda", self.slope, positive=True))

    def log_covers(self, scores: object, values: object, perceptron: object) -> dict[str, arb]:
        """The log-sizes of the covers of the three parts, which move outputs by at most these radii.

        Raises:
            ValueError: for radii that are not positive and finite.
        """
        x, y = (checked_bound("A radius", one, positive=True) for one in (scores, values))
        steps, starts = lipschitz_cover(self.slope, perceptron)
        return {
            "scores": ball_log_cover(self.score_dimension, self.half_range * self.slope / x),
            "values": ball_log_cover(self.value_dimension, self.slope / y),
            "perceptron": steps * arb(2).log() + arb(starts).log(),
        }

    def divided(self, radius: object) -> dict[str, arb]:
        """The same for the best of the divisions of a radius in 64ths, of which the parts take 63.

        Raises:
            ValueError: for a radius that is not positive and finite.
        """
        r = checked_bound("The radius", radius, positive=True)
        each = [self.log_covers(*[r * part / PARTS] * 3) for part in range(1, PARTS)]
        splits = [(i, j, PARTS - 1 - i - j) for i in range(1, PARTS - 2) for j in range(1, PARTS - 1 - i)]
        sizes = {name: [0.0, *(float(one[name].mid()) for one in each)] for name in each[0]}
        best = min(splits, key=lambda split: sum(sizes[name][part] for name, part in zip(sizes, split, strict=True)))
        return {name: each[part - 1][name] for name, part in zip(sizes, best, strict=True)}


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
        half_range: R >= half of the range of the scores.
        slope: Lambda, of the perceptron.
        margin: gamma, of the network at every string.
    """

    gap: arb
    factor: arb
    half_range: arb
    slope: int
    margin: fmpq


def circle_scores(sparsity: int, length: int, *, symmetric: bool = False) -> CircleScores:
    """The numbers of the head that reads s positions of T on a circle, whichever they are.

    With n = 2^s nodes, or s + 1 if symmetric, Lambda = n - 1 is also the weight of the positions that are read, and the
    mean is within 1/(16 Lambda) of its node for S = log(32 (T + 1 - s)). With u_j = 1 - cos(2 pi j/T) and c_k = u_1 u_1
    u_2 u_2 ... (k factors), K = S/c_s + log(2) s (s - 1)/(2 u_1 c_(s-1)), without the second summand if symmetric, and
    R = (2^s K + (s - 1) log 2)/2, or 2^s K/2.

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
        factor, top = S / _product(s, T), arb(0)
        if not symmetric:
            top = (s - 1) * arb(2).log()
            factor += arb(2).log() * fmpq(s * (s - 1), 2) / (_near(1, T) * _product(s - 1, T))
        slope = s if symmetric else 2**s - 1
        return CircleScores(S, factor, (2**s * factor + top) / 2, slope, 1 - ERROR)


@dataclass(frozen=True)
class SparseSampleSize:
    """How many strings are enough, and for what.

    Attributes:
        samples: m.
        log_covers: of the parts scores, values and perceptron.
        readers: the class.
        margin: gamma: the networks of the class that are meant have margins of at least this on the sample.
    """

    samples: int
    log_covers: Mapping[str, arb]
    readers: ReaderClass
    margin: fmpq

    @property
    def log_cover(self) -> arb:
        """log N, of all parts."""
        return sum(self.log_covers.values(), start=arb(0))


def sparse_sample_size(
    sparsity: int, length: int, *, error: object, delta: object, symmetric: bool = False
) -> SparseSampleSize:
    """How many strings are enough to learn every s-sparse Boolean function of T bits, whatever their distribution is.

    The class has tokens on a circle: 2 s + 2 dimensions of scores up to a constant, 2 s + 3 of values, R and Lambda of
    `circle_scores`. It holds a network with margin 15/16 for every function, and every network of the class with
    margins of at least 15/16 on m strings has at most the error e on new ones, with probability 1 - delta.

    Args:
        sparsity: s >= 1.
        length: T > s.
        error: e, in (0, 1).
        delta: the probability of failure, in (0, 1).
        symmetric: of functions that count ones alone, with their smaller class.

    Raises:
        ValueError: for other numbers.

    Source: variable-creation, ext-learning.
    """
    found = circle_scores(sparsity, length, symmetric=symmetric)
    s = int(sparsity)
    with precision(BITS):
        readers = ReaderClass(2 * s + 2, found.half_range, 2 * s + 3, found.slope)
        covers = readers.divided(arb(found.margin) / 2)
        samples = occam_sample_size(sum(covers.values(), start=arb(0)), error, delta)
    return SparseSampleSize(samples, covers, readers, found.margin)


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
