"""How small a function H with a prescribed mean over blurred half-spaces can be: a linear program and its dual.

Let H be any bounded function of a Gaussian vector that depends on alpha = <w, a> and the last coordinate beta alone,
with

    |E[1{<a, x> + n >= 0} H] - Phi(t)| <= eps    for all unit x with last coordinate 1/2 and t = <w, x> in [-T, T].

For weights mu_t on finitely many t, with P_t(alpha, beta) = N((t alpha + beta/2)/sqrt(3/4 - t^2 + sigma^2)) the mean of
the indicator, sum_t mu_t Phi(t) - eps sum_t |mu_t| <= E[H sum_t mu_t P_t] <= sup|H| E|sum_t mu_t P_t|, so that

    sup|H| >= (sum_t mu_t Phi(t) - eps sum_t |mu_t|) / E|sum_t mu_t P_t|.

The weights come from the program on a grid (HiGHS), whose optimum is near the true one; the bound is then computed for
these weights, rounded to rationals, with an upper estimate of the mean in the denominator: on every cell of a fine grid
the value at the midpoint, its slope times half a side, and the largest second derivative; beyond the grid sum |mu_t|.
Rounding is accounted for by a share of 10^-9, and cancellation between the mu_t by 10^-12 sum |mu_t|, both far above
2^-53 times the number of terms. So the bound needs no trust in the program.

Source: rnn-sgd, lemma-5.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import bmat, csr_matrix, identity
from scipy.special import ndtr

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.rationals import RationalLike, as_fraction

__all__ = ["IndicatorSize", "least_supremum", "supremum_bound"]

Floats = NDArray[np.float64]
REACH = 8.0
"""Where the fine grid ends: P[|alpha| or |beta| > 8] < 3e-15."""
ROUNDING, CANCELLATION = 1e-9, 1e-12


@dataclass(frozen=True)
class IndicatorSize:
    """A lower bound of sup|H| and the weights that prove it.

    Attributes:
        points: the t with weights.
        weights: mu_t, rationals.
        lower: the proved bound, which `supremum_bound` computes again from points and weights.
        optimum: the optimum of the program on the coarse grid, an estimate of the least supremum.
    """

    points: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    lower: float
    optimum: float


def least_supremum(
    coefficients: Sequence[RationalLike],
    variance: RationalLike,
    epsilon: RationalLike,
    reach: RationalLike,
    points: int = 35,
) -> IndicatorSize:
    """The program on a grid, and the bound that its dual solution proves.

    Args:
        coefficients: those of the polynomial Phi, exact.
        variance: sigma^2 >= 0.
        epsilon: eps >= 0.
        reach: T in (0, 0.866), at most sqrt(3)/2.
        points: how many t, equally spaced in [-T, T], at least 3.

    Raises:
        ValueError: for numbers out of range, or if the program has no solution.
    """
    count = checked_integer("The number of points", points, 3)
    phi, noise, eps, end = _checked(coefficients, variance, epsilon, reach)
    ts = [end * (2 * i - count + 1) / (count - 1) for i in range(count)]
    grid = np.linspace(-5, 5, 41)
    half = (grid[1] - grid[0]) / 2
    mass = ndtr(grid + half) - ndtr(grid - half)
    means = np.array([_mean(float(t), float(noise), grid[:, None], grid[None, :]).ravel() for t in ts])
    rows = csr_matrix(means * np.outer(mass, mass).ravel())
    size = len(grid) ** 2
    cells, column = identity(size), csr_matrix(np.ones((size, 1)))
    matrix = bmat([[rows, None], [-rows, None], [cells, -column], [-cells, -column]], format="csr")
    values = np.array([float(_value(phi, t)) for t in ts])
    right = np.concatenate([values + float(eps), float(eps) - values, np.zeros(2 * size)])
    cost = np.zeros(size + 1)
    cost[-1] = 1
    found = cast(
        "Any",
        linprog(cost, A_ub=matrix, b_ub=right, bounds=[(None, None)] * size + [(0, None)], method="highs"),
    )
    if not found.success:
        raise ValueError(
            f"The program on the grid was not solved ({found.message}): take fewer points, a larger eps or a smaller "
            "Phi."
        )
    dual = found.ineqlin.marginals[:count] - found.ineqlin.marginals[count : 2 * count]
    used = [i for i in range(count) if abs(dual[i]) > 1e-7 * max(np.abs(dual).max(), 1e-300)]
    chosen = tuple(ts[i] for i in used)
    weights = tuple(Fraction(dual[i]).limit_denominator(10**6) for i in used)
    return IndicatorSize(
        chosen, weights, supremum_bound(coefficients, variance, epsilon, chosen, weights), float(found.fun)
    )


def supremum_bound(
    coefficients: Sequence[RationalLike],
    variance: RationalLike,
    epsilon: RationalLike,
    points: Sequence[RationalLike],
    weights: Sequence[RationalLike],
    cells: int = 2000,
) -> float:
    """The lower bound of sup|H| that weights on some t prove; 0 if they prove nothing.

    Args:
        coefficients: those of Phi.
        variance: sigma^2 >= 0.
        epsilon: eps >= 0.
        points: the t, with |t| < sqrt(3)/2.
        weights: mu_t, one for each point.
        cells: the number of cells of the fine grid in each direction.

    Raises:
        ValueError: for numbers out of range, or another number of weights than of points.
    """
    ts, masses = [as_fraction(t) for t in points], [as_fraction(m) for m in weights]
    if len(ts) != len(masses) or not ts:
        raise ValueError(f"Every point has one weight, at least one: not {len(ts)} points and {len(masses)} weights.")
    phi, noise, eps, _ = _checked(coefficients, variance, epsilon, max(abs(t) for t in ts) or Fraction(1, 2))
    gain = sum((m * _value(phi, t) - eps * abs(m) for t, m in zip(ts, masses, strict=True)), Fraction(0))
    if gain <= 0:
        return 0.0
    total = float(sum(abs(m) for m in masses))
    mean = _mean_modulus(ts, masses, float(noise), cells)
    return float(gain) / (mean * (1 + ROUNDING) + CANCELLATION * total) * (1 - ROUNDING)


def _mean_modulus(ts: Sequence[Fraction], masses: Sequence[Fraction], noise: float, cells: int) -> float:
    """An upper estimate of E|sum mu_t P_t|, but for rounding."""
    edges = np.linspace(-REACH, REACH, cells + 1)
    side, middle, mass = edges[1] - edges[0], (edges[1:] + edges[:-1]) / 2, np.diff(ndtr(edges))
    value = np.zeros((cells, cells))
    slopes, bend = [np.zeros((cells, cells)), np.zeros((cells, cells))], 0.0
    for t, m in zip(map(float, ts), map(float, masses), strict=True):
        scale = math.sqrt(0.75 - t * t + noise)
        z = (t * middle[:, None] + middle[None, :] / 2) / scale
        density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        value += m * ndtr(z)
        slopes[0] += m * t / scale * density
        slopes[1] += m / (2 * scale) * density
        bend += abs(m) * 0.25 * ((abs(t) + 0.5) / scale) ** 2  # sup |N''| = e^(-1/2)/sqrt(2 pi) < 0.25
    largest = np.abs(value) + (np.abs(slopes[0]) + np.abs(slopes[1])) * side / 2 + bend * (side / 2) ** 2 / 2
    outside = sum(abs(float(m)) for m in masses) * 4 * float(ndtr(-REACH))
    return float(mass @ largest @ mass) + outside


def _mean(t: float, noise: float, alpha: Floats, beta: Floats) -> Floats:
    """P_t(alpha, beta)."""
    return ndtr((t * alpha + beta / 2) / math.sqrt(0.75 - t * t + noise))


def _value(phi: Sequence[Fraction], t: Fraction) -> Fraction:
    return sum((c * t**i for i, c in enumerate(phi)), Fraction(0))


def _checked(
    coefficients: Sequence[RationalLike], variance: RationalLike, epsilon: RationalLike, reach: RationalLike
) -> tuple[list[Fraction], Fraction, Fraction, Fraction]:
    phi, noise, eps, end = (
        [as_fraction(c) for c in coefficients],
        as_fraction(variance),
        as_fraction(epsilon),
        as_fraction(reach),
    )
    if not phi or noise < 0 or eps < 0 or not end > 0 or end * end >= Fraction(3, 4):
        raise ValueError(
            "Needed are coefficients of Phi, a variance >= 0, an accuracy eps >= 0 and |t| < sqrt(3)/2, not "
            f"{len(phi)} coefficients, {noise}, {eps} and {end}."
        )
    return phi, noise, eps, end
