"""Lipschitz functions on a ball by two-layer ReLU networks, from plane waves, with small output weights.

Let f be L-Lipschitz with |f| <= L R on the ball of radius R in R^d, and X = L R/eps >= 1. A sum of W waves
A_w cos(w.z + p_w) (`lemmata.numerics.functions.waves.lipschitz_waves`, degree N) is within eps/2 of f for N + 2 >=
(2 pi^2/3) d X. Each wave is interpolated linearly in s = <w/|w|, z> at n + 1 knots from -R to R: its constant and its
first slope are spread over n equal units each, and every inner knot has a unit relu((s - t)/R). So no output weight is
large, and

    m <= 3 (W + 1) n,    sqrt(m) |a|_2 <= 12 d L R N sqrt(W + 1),    W <= 2^(d-1) (N + 1)^d,

with rows of norm at most 1/R and biases of size at most 1.

Source: qstr, lemma-42 (proofs/lipschitz.md of that chapter).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq
from lemmata.numerics.functions.waves import WaveSum

__all__ = ["ball_network", "sizes_for"]

Floats = NDArray[np.float64]


def sizes_for(dimension: int, ratio: RationalLike) -> tuple[int, int]:
    """The degree N of the waves and the number n of pieces for d and X = L R/eps.

    N is the least with N + 2 >= (2 pi^2/3) d X, n the least with n^2 >= 3.34 X d N sqrt(W), W = 2^(d-1) (N + 1)^d.

    Raises:
        ValueError: for d < 1, or X < 1 or not exact.
    """
    d, X = checked_integer("The dimension", dimension, 1), as_fmpq(ratio)
    if X is None or not X >= 1:
        raise ValueError(f"The ratio L R/eps is exact and at least 1, not {ratio}: beyond, the function 0 serves.")
    degree = int((arb.pi() ** 2 * 2 * d * X / 3).upper().ceil().fmpz()) - 2
    waves = arb(2 ** (d - 1) * (degree + 1) ** d)
    pieces = (arb("3.34") * X * d * degree * waves.sqrt()).sqrt().upper().ceil()
    return degree, int(pieces.fmpz())


def ball_network(waves: WaveSum, pieces: int) -> tuple[Floats, Floats, Floats]:
    """The network on the ball of the radius of the waves: a of shape (m,), W (m, d) and b (m,).

    Args:
        waves: a sum of waves on a cube, of which the ball is a part.
        pieces: n >= 1.

    Raises:
        ValueError: for n < 1.
    """
    n, R = checked_integer("The number of pieces", pieces, 1), float(waves.radius)
    knots = np.linspace(-R, R, n + 1)
    parts: list[tuple[Floats, Floats, Floats]] = []
    for frequency, amplitudes in waves.terms.items():
        w, (cosine, sine) = np.array([float(x) for x in frequency]), (float(x) for x in amplitudes)
        length = math.sqrt(float(sum((x * x for x in frequency), fmpq(0))))
        if length == 0:
            parts.append((np.full(n, cosine / n), np.zeros((n, waves.arity)), np.ones(n)))
            continue
        values = cosine * np.cos(length * knots) + sine * np.sin(length * knots)
        slopes = np.diff(values) * n / 2  # times R/R: of units relu((s - t)/R)
        output = np.concatenate([np.full(n, values[0] / n), np.full(n, slopes[0] / n), np.diff(slopes)])
        row = w / (length * R)
        weight = np.concatenate([np.zeros((n, waves.arity)), np.tile(row, (2 * n - 1, 1))])
        bias = np.concatenate([np.ones(2 * n), -knots[1:-1] / R])
        parts.append((output, weight, bias))
    a, W, b = (np.concatenate(some) for some in zip(*parts, strict=True))
    return a, W, b
