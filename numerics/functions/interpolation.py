"""Smooth functions as sums of ReLUs: piecewise-linear interpolants with rigorous errors.

The knots are rational; the values there are enclosed in balls and rounded. With L_2 = sup |g''| an interpolant of knot
distance h has error <= L_2 h^2 / 8, so that M = O(eps^(-1/2)) units reach the error eps. `sup_error` bounds |f - g| for
any sum f of one argument and any smooth function g. Products come from squares: 4 x y = (x + y)^2 - (x - y)^2.

Source: deep-icgd, construction-1d, construction-product.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from flint import arb, fmpq, fmpz

from lemmata.numerics.exact.precision import precision
from lemmata.numerics.functions.relu_sums import ReluSum, piecewise_linear, ridge
from lemmata.numerics.functions.smooth import (
    ENCLOSURE_BITS,
    SmoothFunction,
    interval_ball,
    positive_rational,
    upper_rational,
)

_CELLS_PER_PIECE = 16
_MOST_CELLS = 2**17


def square(radius: object, pieces: int) -> ReluSum:
    """The interpolant S of z^2 on [-R, R] at the knots i R / pieces: z^2 <= S <= z^2 + h^2 / 4 with h = R / pieces.

    S is even and S(0) = 0; 2 pieces units. On [a, b] one has S - z^2 = (z - a)(b - z).

    Raises:
        ValueError: if radius <= 0 or pieces < 1.
    """
    R, h = positive_rational(radius, "radius"), _step(radius, pieces)
    knots = [h * i for i in range(-pieces, pieces + 1)]
    return replace(piecewise_linear(knots, [t * t for t in knots]), radius=R, error=h * h / 4)


def multiplication(radius: object, pieces: int) -> ReluSum:
    """The function (x, y) -> (S(x + y) - S(x - y)) / 4 of 4 pieces units, exactly 0 if x = 0 or y = 0.

    It is off x y by at most h^2 / 16 for |x|, |y| <= R, with h = 2 R / pieces.

    Raises:
        ValueError: if radius <= 0 or pieces < 1.
    """
    R = positive_rational(radius, "radius")
    S = square(2 * R, pieces)
    plus, minus = ridge(S, (1, 1)), ridge(S, (1, -1))
    c = np.concatenate([plus.coefficients, -minus.coefficients]) / fmpq(4)
    return ReluSum(c, np.concatenate([plus.directions, minus.directions]), radius=R, error=S.error / 4)


def interpolant(function: SmoothFunction, radius: object, pieces: int) -> ReluSum:
    """The piecewise-linear interpolant at the knots i R / pieces, |i| <= pieces, with its certified error.

    At most 1 + 2 pieces units. The values are rounded to multiples of a power of 2 far below the error.

    Raises:
        ValueError: if radius <= 0, pieces < 1, or the function is not finite on [-radius, radius].
    """
    R, h = positive_rational(radius, "radius"), _step(radius, pieces)
    knots = [h * i for i in range(-pieces, pieces + 1)]
    size = function.bound(-R, R, 2) * h**2 / 8
    return _interpolate(function, R, knots, size / 256)


def interpolant_within(function: SmoothFunction, radius: object, error: object) -> ReluSum:
    """A piecewise-linear interpolant with certified sup-error <= error on [-radius, radius], of few knots.

    Greedily from 0 outwards, each piece is made as long as its own bound sup |g''| h^2 / 8 allows, so that the number
    of pieces is about the integral of sqrt(|g''| / (8 error)). No sum with p pieces does much better: on a piece of
    length h every affine function is off by at least inf |g''| h^2 / 16, so that sqrt(2) is all there is to gain.

    Raises:
        ValueError: if radius <= 0, error <= 0, the function is not finite on [-radius, radius], or the error needs more
            than 2^17 cells.
    """
    R, eps = positive_rational(radius, "radius"), positive_rational(error, "error")
    budget = eps * fmpq(27, 32)  # times 17/16, plus 1/32 of resolution and 1/256 of rounding: below eps
    uniform = int(((function.bound(-R, R, 2) * R * R / (8 * budget)) + 1).ceil().sqrtrem()[0]) + 1
    count = max(_CELLS_PER_PIECE, _CELLS_PER_PIECE * uniform)
    if count > _MOST_CELLS:
        raise ValueError(f"error = {eps} needs about {uniform} pieces per side, more than {_MOST_CELLS // 16}.")
    knots = sorted({side * t for side in (-1, 1) for t in _greedy_knots(function, R, side, count, budget)})
    result = _interpolate(function, R, knots, eps / 256)
    assert result.error <= eps
    return result


def sup_error(candidate: ReluSum, function: SmoothFunction) -> fmpq:
    """An upper bound of |f - g| on [-R, R], for the sum f with its radius R and any smooth function g.

    On each piece [a, b] of f the error e = f - g satisfies |e| <= max(|e(a)|, |e(b)|) + sup |g''| (b-a)^2 / 8. The sup
    is resolved up to 1/16 of itself, and no finer than 1/32 of the error that the candidate claims.

    Raises:
        ValueError: if f has several arguments, no radius, or a window; or g is not finite on [-R, R].
    """
    if candidate.arity != 1 or candidate.radius is None or candidate.excluded is not None:
        raise ValueError("sup_error needs a sum of one argument with a radius and without an excluded window.")
    knots = [-candidate.radius, *candidate.breakpoints(), candidate.radius]
    values = candidate(np.array(knots, dtype=object)).tolist()
    with precision(ENCLOSURE_BITS):
        off = [upper_rational(arb(v) - function(arb(t))) for t, v in zip(knots, values, strict=True)]
    largest = fmpq(0)
    for i, (a, b) in enumerate(pairwise(knots)):
        weight = (b - a) ** 2 / 8
        curvature = function.bound(a, b, 2, max(candidate.error / 32 / weight, fmpq(1, 2**64)))
        largest = max(largest, max(off[i], off[i + 1]) + curvature * weight)
    return largest


def _step(radius: object, pieces: int) -> fmpq:
    """The distance of the knots i R / pieces."""
    if isinstance(pieces, bool) or not isinstance(pieces, int) or pieces < 1:
        raise ValueError(f"pieces, the number of pieces on each side of 0, must be an integer >= 1, not {pieces!r}.")
    return positive_rational(radius, "radius") / pieces


def _interpolate(function: SmoothFunction, radius: fmpq, knots: list[fmpq], rounding: fmpq) -> ReluSum:
    """The interpolant at the knots, its values rounded by at most about `rounding`."""
    bits = 8
    while rounding > 0 and fmpq(1, 2**bits) > rounding:
        bits += 1
    with precision(ENCLOSURE_BITS + bits):
        values = [_rounded(function(arb(t)), bits) for t in knots]
    sum_of_relus = replace(piecewise_linear(knots, values), radius=radius, error=256 * rounding)
    return replace(sum_of_relus, error=sup_error(sum_of_relus, function))


def _rounded(ball: arb, bits: int) -> fmpq:
    """The multiple of 2^-bits nearest to the middle of the ball, the larger one of two."""
    mantissa, exponent = ball.mid().man_exp()
    scaled = fmpq(mantissa) * fmpq(2) ** (int(exponent) + bits)
    return fmpq((scaled + fmpq(1, 2)).floor(), fmpz(2) ** bits)


def _greedy_knots(function: SmoothFunction, radius: fmpq, side: int, count: int, budget: fmpq) -> list[fmpq]:
    """The places 0 = t_0 < t_1 < ... = radius: knots at side * t_i leave an error of at most `budget` on each piece."""
    width = radius / count
    with precision(ENCLOSURE_BITS):
        curvature = []
        for i in range(count):
            near, far = side * i * width, side * (i + 1) * width
            low, high = min(near, far), max(near, far)
            try:
                curvature.append(upper_rational(function.jet(interval_ball(low, high), 2)[2]))
            except ValueError:  # the one enclosure of the cell is not finite: bisect
                curvature.append(function.bound(low, high, 2))
    knots, start, largest = [fmpq(0)], 0, fmpq(0)
    for i, bound in enumerate(curvature):
        extended = max(largest, bound)
        if i > start and extended * ((i + 1 - start) * width) ** 2 / 8 > budget:
            knots.append(i * width)
            start, extended = i, bound
        largest = extended
    return [*knots, radius]
