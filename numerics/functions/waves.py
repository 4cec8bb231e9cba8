"""Functions of several variables as sums of plane waves, and these as sums of ReLUs, with certified errors.

A `WaveSum` is sum_w a_w cos(w . z) + b_w sin(w . z) with rational frequencies w, and the error at which it stands for a
function on the cube [-R, R]^k. Waves are ridge functions, so that a piecewise-linear interpolant of each wave along its
own direction makes a sum of ReLUs of k variables, one hidden layer (`WaveSum.relu_sum`). Three ways to such sums:

    fitted_waves     a smooth function of one variable, fitted, with the error enclosed afterwards,
    products         of sums for different variables (or different linear forms, `WaveSum.along`), errors included,
    lipschitz_waves  any Lipschitz function of k variables, from its values on a grid of (N+1)^k points.

The last is the mean of the values, folded to an even function of period 2 pi in theta_i = beta z_i + pi/2, against the
positive kernel K(t) = 1 + 2 sum_m rho_m cos(mt) of Fejer and Korovkin in every variable,

    rho_m = sum_j a_j a_(j+m) / sum_j a_j^2,    a_j = sin((j+1) pi/(N+2)),  0 <= j <= N,

with sums over 2(N+1) places instead of integrals, which are exact for polynomials of degree N + 1. A positive mean is
off by the mean distance, at most pi^2/(2 (N+2)) in theta_i, so that the error is at most the sum of
Lip_i pi^2/(2 beta (N+2)).

Source: deep-icgd, theorem-6, definition-4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from operator import mul
from typing import Any

import numpy as np
from flint import arb, arb_series, fmpq

from lemmata.numerics.exact.precision import precision
from lemmata.numerics.functions.relu_sums import ReluSum, piecewise_linear, ridge
from lemmata.numerics.functions.smooth import (
    ENCLOSURE_BITS,
    SmoothFunction,
    positive_rational,
    rational,
    upper_rational,
)

Frequency = tuple[fmpq, ...]
Amplitudes = tuple[fmpq, fmpq]

_BITS = 40  # of rounded coefficients and values
_RESOLUTION = fmpq(1, 2**12)  # of the error of a fit
_SAMPLES = 20  # places of a fit for each of its coefficients


@dataclass(frozen=True, eq=False)
class WaveSum:
    """z -> sum_w a_w cos(w . z) + b_w sin(w . z) on [-R, R]^k, as good as its error says.

    Attributes:
        terms: (a_w, b_w) for every frequency w, whose first entry that is not 0 is positive.
        arity: k.
        radius: R > 0.
        error: an upper bound of the distance from the function that it stands for; 0 if it is that function.

    Raises:
        ValueError: if a frequency has another length or another sign, the radius is not positive, the error negative.
    """

    terms: Mapping[Frequency, Amplitudes]
    arity: int
    radius: fmpq
    error: fmpq = field(default_factory=fmpq)

    def __post_init__(self) -> None:
        if any(len(w) != self.arity or _signed(w) != w for w in self.terms):
            raise ValueError(f"The frequencies need {self.arity} entries each, the first that is not 0 positive.")
        if self.radius <= 0 or self.error < 0:
            raise ValueError(f"radius must be positive and error >= 0, not {self.radius}, {self.error}.")

    @property
    def size(self) -> fmpq:
        """The sum of |a_w| + |b_w|, a bound of all values."""
        return sum((abs(a) + abs(b) for a, b in self.terms.values()), fmpq(0))

    def __call__(self, *z: Any) -> arb:
        """The value at a point, a ball."""
        total, point = arb(0), [arb(t) for t in z]
        for w, (a, b) in self.terms.items():
            phase = sum((arb(f) * t for f, t in zip(w, point, strict=True)), arb(0))
            total += a * phase.cos() + b * phase.sin()
        return total

    def __add__(self, other: WaveSum) -> WaveSum:
        self._require(other)
        terms = dict(self.terms)
        _add(terms, other.terms)
        return replace(self, terms=terms, error=self.error + other.error)

    def __mul__(self, other: WaveSum) -> WaveSum:
        """The product; |f g - F G| <= |f| |g - G| + |G| |f - F| for sums f, g that stand for F, G."""
        self._require(other)
        terms: dict[Frequency, Amplitudes] = {}
        for (v, (a, b)), (w, (c, d)) in product(self.terms.items(), other.terms.items()):
            for sign in (1, -1):  # 2 cos v cos w = cos(v+w) + cos(v-w), and so on
                u = tuple(s + sign * t for s, t in zip(v, w, strict=True))
                cosine, sine = (a * c - sign * b * d) / 2, (b * c + sign * a * d) / 2
                _add(terms, {_signed(u): (cosine, sine if _signed(u) == u else -sine)})
        error = self.size * other.error + (other.size + other.error) * self.error
        return replace(self, terms=terms, error=error)

    def scaled(self, factor: object) -> WaveSum:
        """The sum times a rational number."""
        c = rational(factor, "factor")
        terms = {w: (c * a, c * b) for w, (a, b) in self.terms.items()}
        return replace(self, terms=terms, error=abs(c) * self.error)

    def along(self, direction: Sequence[object], radius: object) -> WaveSum:
        """The function z -> f(direction . z) on [-R, R]^k, R = radius, of a sum f of one variable.

        Raises:
            ValueError: if the sum has several variables, or direction . z may leave its interval.
        """
        c, R = tuple(rational(x, "direction") for x in direction), positive_rational(radius, "radius")
        if self.arity != 1 or sum(map(abs, c), fmpq(0)) * R > self.radius:
            raise ValueError(
                f"direction . z with |z_i| <= {R} must stay in [-{self.radius}, {self.radius}], one variable."
            )
        result = WaveSum({}, len(c), R, self.error)
        for (w,), (a, b) in self.terms.items():
            result = result + _wave([w * x for x in c], a, b, R)
        return result

    def relu_sum(self, distance: object) -> ReluSum:
        """A sum of ReLUs: every wave interpolated linearly at knots that are `distance` radians apart, or less.

        A wave a cos + b sin has a second derivative of at most |a| + |b|, so that its interpolant is off by at most
        (|a| + |b|) distance^2 / 8, and as much again as the values at the knots are rounded by.

        Raises:
            ValueError: if the distance is not positive, or all amplitudes are 0.
        """
        h = positive_rational(distance, "distance")
        parts, error = [], self.error
        for w, (a, b) in self.terms.items():
            if not (a or b):
                continue
            reach = self.radius * sum(map(abs, w), fmpq(0))
            if not reach:
                parts.append(_constant(a, self.arity))
                continue
            pieces = int((reach / h).ceil())
            knots = [reach * i / pieces for i in range(-pieces, pieces + 1)]
            with precision(ENCLOSURE_BITS):
                values = [_rounded(a * arb(t).cos() + b * arb(t).sin()) for t in knots]
            error += (abs(a) + abs(b)) * (reach / pieces) ** 2 / 8 + fmpq(1, 2**_BITS)
            profile = replace(piecewise_linear(knots, values), radius=reach)
            parts.append(ridge(profile, w, self.radius))
        if not parts:
            raise ValueError("All amplitudes are 0, so that no unit is left.")
        c, directions = (np.concatenate([getattr(s, name) for s in parts]) for name in ("coefficients", "directions"))
        return ReluSum(c, directions, radius=self.radius, error=error)

    def _require(self, other: WaveSum) -> None:
        if (self.arity, self.radius) != (other.arity, other.radius):
            raise ValueError(
                f"Sums on one cube can be joined, but these have {self.arity} and {other.arity} variables and the "
                f"radii {self.radius} and {other.radius}."
            )


def wave(frequency: Sequence[object], cosine: object, sine: object, radius: object) -> WaveSum:
    """The wave a cos(w . z) + b sin(w . z) on [-R, R]^k, exactly.

    Raises:
        ValueError: for numbers that are not exact, or radius <= 0.
    """
    w, a, b = [rational(x, "frequency") for x in frequency], rational(cosine, "cosine"), rational(sine, "sine")
    return _wave(w, a, b, positive_rational(radius, "radius"))


def fitted_waves(function: SmoothFunction, radius: object, base: object, count: int, parity: int) -> WaveSum:
    """An even (parity 0) or odd (1) function of one variable on [-R, R] by the frequencies 0, base, ..., count * base.

    The coefficients come from a least-squares fit in float64; the error is then enclosed rigorously. `base` below
    pi/(2R) leaves room around the interval, so that functions that are not periodic are approximated as well.

    Raises:
        ValueError: if radius or base is not positive, count < 1, or parity is neither 0 nor 1.
    """
    R, beta = positive_rational(radius, "radius"), positive_rational(base, "base")
    if count < 1 or parity not in (0, 1):
        raise ValueError(f"count must be >= 1 and parity 0 or 1, not {count}, {parity}.")
    multiples = range(parity, count + 1)
    places = float(R) * np.cos(np.pi * (np.arange(_SAMPLES * count) + 0.5) / (2 * _SAMPLES * count))
    columns = [(np.sin if parity else np.cos)(m * float(beta) * places) for m in multiples]
    values = [float(function(arb(float(t)))) for t in places]
    fit = np.linalg.lstsq(np.stack(columns, axis=1), np.array(values), rcond=None)[0]
    numbers = [fmpq(round(float(c) * 2**_BITS), 2**_BITS) for c in fit]

    def difference(x: arb_series) -> arb_series:
        total = function.series(x)
        for m, c in zip(multiples, numbers, strict=True):
            total = total - ((m * beta * x).sin() if parity else (m * beta * x).cos()) * c
        return total

    error = SmoothFunction(f"the error of {function.name}", difference).bound(-R, R, 0, _RESOLUTION)
    terms = {(m * beta,): (fmpq(0), c) if parity else (c, fmpq(0)) for m, c in zip(multiples, numbers, strict=True)}
    return WaveSum(terms, 1, R, error)


def lipschitz_waves(function: Callable[..., Any], lipschitz: Sequence[object], radius: object, degree: int) -> WaveSum:
    """A sum of waves for any Lipschitz function on [-R, R]^k, from its values at (N+1)^k points; see the module.

    With beta = 3/(2R) the error is at most pi^2/(3 (N+2)) R sum_i Lip_i, and what rounding adds.

    Args:
        function: k rationals to a rational or a ball.
        lipschitz: Lip_1, ..., Lip_k with |g(z) - g(z')| <= sum_i Lip_i |z_i - z'_i|.
        radius: R.
        degree: N >= 1.

    Raises:
        ValueError: for constants that are negative, radius <= 0, or N < 1.
    """
    R, constants = positive_rational(radius, "radius"), [rational(x, "lipschitz") for x in lipschitz]
    if not constants or min(constants) < 0 or degree < 1:
        raise ValueError(f"The constants must be at least one and >= 0, and degree >= 1, not {constants}, {degree}.")
    k, beta, total = len(constants), 3 / (2 * R), sum(constants, fmpq(0))
    with precision(ENCLOSURE_BITS):
        angles = [arb.pi() * (2 * j + 1) / (2 * (degree + 1)) for j in range(degree + 1)]
        places = [max(-R, min(R, _rounded((angle - arb.pi() / 2) / beta))) for angle in angles]
        values = np.empty((degree + 1,) * k, dtype=object)
        for index in np.ndindex(values.shape):
            values[index] = arb(function(*(places[j] for j in index)))
        transform = np.array(
            [
                [damping(degree, m) * (m * angle).cos() * (2 if m else 1) / (degree + 1) for angle in angles]
                for m in range(degree + 1)
            ],
            dtype=object,
        )
        for axis in range(k):
            values = np.moveaxis(np.tensordot(transform, values, axes=(1, axis)), 0, axis)
        numbers = np.vectorize(_rounded, otypes=[object])(values)
        lost = sum((upper_rational(c - arb(r)) for c, r in zip(values.ravel(), numbers.ravel(), strict=True)), fmpq(0))
        mean_distance = upper_rational(arb.pi() ** 2 / (2 * beta * (degree + 2)))
    terms: dict[Frequency, Amplitudes] = {}
    for index, c in np.ndenumerate(numbers):
        factors = (_folded(m * beta, m, i, k, R) for i, m in enumerate(index))
        _add(terms, reduce(mul, factors).scaled(c).terms)
    return WaveSum(terms, k, R, total * (mean_distance + fmpq(1, 2**_BITS)) + lost)


def damping(degree: int, m: int) -> arb:
    """rho_m of the kernel of degree N, 0 <= m <= N; rho_0 = 1 and rho_1 = cos(pi/(N+2))."""
    a = [(arb.pi() * (j + 1) / (degree + 2)).sin() for j in range(degree + 1)]
    return sum((x * y for x, y in zip(a, a[m:], strict=False)), arb(0)) / sum((x * x for x in a), arb(0))


def _folded(frequency: fmpq, m: int, variable: int, arity: int, radius: fmpq) -> WaveSum:
    """cos(m theta) with theta = beta z + pi/2, frequency = m beta: cos, -sin, -cos or sin of m beta z."""
    cosine, sine = ((1, 0), (0, -1), (-1, 0), (0, 1))[m % 4]
    w = [frequency if i == variable else fmpq(0) for i in range(arity)]
    return _wave(w, fmpq(cosine), fmpq(sine), radius)


def _wave(frequency: Sequence[fmpq], cosine: fmpq, sine: fmpq, radius: fmpq) -> WaveSum:
    w = tuple(frequency)
    return WaveSum({_signed(w): (cosine, sine if _signed(w) == w else -sine)}, len(w), radius)


def _add(terms: dict[Frequency, Amplitudes], more: Mapping[Frequency, Amplitudes]) -> None:
    for w, (a, b) in more.items():
        c, d = terms.get(w, (fmpq(0), fmpq(0)))
        terms[w] = (a + c, b + d)


def _constant(value: fmpq, arity: int) -> ReluSum:
    direction = np.full((1, arity + 1), fmpq(0), dtype=object)
    direction[0, -1] = fmpq(1)
    return ReluSum(np.array([value], dtype=object), direction)


def _signed(w: Frequency) -> Frequency:
    """w or -w, whichever has a positive entry first."""
    first = next((x for x in w if x), fmpq(0))
    return tuple(-x for x in w) if first < 0 else w


def _rounded(x: arb) -> fmpq:
    """A multiple of 2^-40 within 2^-40 of the ball, whose radius is far smaller."""
    whole = (arb(x) * 2**_BITS + arb(1) / 2).mid().floor().unique_fmpz()
    assert whole is not None
    return fmpq(whole, 2**_BITS)
