"""Scalar functions with rigorous derivatives: values, Taylor coefficients and sup bounds on intervals, in balls.

A `SmoothFunction` is given once, as a formula in `flint.arb_series`; python-flint's power series then differentiate it
as often as needed, at points or on whole balls, with every rounding enclosed. `SmoothFunction.bound` encloses the
supremum of a derivative on an interval from above by bisection.

The library of activations: `identity`, `tanh`, `sigmoid`, `softplus`, `sine`, `exponential`, `gelu`, `log_cosh`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush

from flint import arb, arb_series, ctx, fmpq

from lemmata.numerics.exact.precision import precision

ENCLOSURE_BITS = 128
"""The bits of the balls in which functions are enclosed before they are rounded to rationals."""
_MOST_PARTS = 20_000
_FLOOR = fmpq(1, 2**64)
_SLACK = fmpq(17, 16)
_MOST_BITS, _LEAST_EXPONENT = 2**16, -4096  # of the rationals that bound balls; others are too long for flint


@dataclass(frozen=True)
class SmoothFunction:
    """A smooth scalar function (or one of its derivatives), given by its formula on power series.

    Attributes:
        name: how to call it in messages.
        series: the formula; maps an `arb_series` x to g(x), whatever the truncation order.
        order: which derivative of the formula this function is (0: the formula itself).
    """

    name: str
    series: Callable[[arb_series], arb_series]
    order: int = 0

    def derivative(self) -> SmoothFunction:
        """The derivative, as a function of the same kind."""
        return replace(self, name=f"{self.name}'", order=self.order + 1)

    def jet(self, x: arb, count: int = 0) -> list[arb]:
        """The enclosures of g(x), g'(x), ..., the derivative number `count`, for all points of the ball x.

        Raises:
            ValueError: if one of them has no finite enclosure there.
        """
        length = self.order + count + 1
        with _series_length(length):
            taylor = self.series(arb_series([x, arb(1)], length))
        derivatives, factorial = [], arb(1)
        for i in range(length):
            factorial = factorial * max(i, 1)
            if i >= self.order:
                derivatives.append(arb(taylor[i]) * factorial)
        if not all(value.is_finite() for value in derivatives):
            raise ValueError(f"The function {self.name} or one of its derivatives is not finite on the interval {x}.")
        return derivatives

    def __call__(self, x: arb) -> arb:
        """The enclosure of g(x)."""
        return self.jet(x)[0]

    def bound(self, lower: object, upper: object, order: int = 0, resolution: fmpq = _FLOOR) -> fmpq:
        """A rational B with sup |g^(order)| <= B <= 17/16 sup |g^(order)| + resolution on [lower, upper].

        The upper estimate (B is not too large) is given up after 20000 bisections; B stays an upper bound.

        Args:
            lower: the left end, an exact number (int, Fraction, string or fmpq).
            upper: the right end, likewise.
            order: which derivative.
            resolution: the absolute accuracy, below which nothing is refined.

        Raises:
            ValueError: if the interval is empty, or g is not finite on it.
        """
        a, b = rational(lower, "lower"), rational(upper, "upper")
        if a > b:
            raise ValueError(f"The interval [{a}, {b}] is empty: lower must be at most upper.")
        with precision(ENCLOSURE_BITS):
            self.jet(arb(a), order)
            attained, parts = fmpq(0), []

            def push(lo: fmpq, hi: fmpq) -> None:
                nonlocal attained
                middle = (lo + hi) / 2
                attained = max(attained, _lower(self.jet(arb(middle), order)[order]))
                heappush(parts, (-_upper_on(self, lo, hi, order), lo, hi))

            push(a, b)
            for _ in range(_MOST_PARTS):
                largest, lo, hi = parts[0]
                if a == b or (largest != _UNKNOWN and -largest <= _SLACK * attained + resolution):
                    break
                heappop(parts)
                push(lo, (lo + hi) / 2)
                push((lo + hi) / 2, hi)
        if parts[0][0] == _UNKNOWN:
            raise ValueError(f"The function {self.name} is not finite on the interval [{a}, {b}].")
        return -parts[0][0]


_UNKNOWN = -fmpq(2**200)
"""The key of a part of the interval on which no finite enclosure was found yet: it is bisected first."""


def rational(x: object, what: str) -> fmpq:
    """An exact number as fmpq.

    Raises:
        ValueError: if x is no int, Fraction, string such as "1/3", or fmpq; the message names `what`.
    """
    if isinstance(x, fmpq):
        return x
    if isinstance(x, bool) or not isinstance(x, int | str | Fraction):
        raise ValueError(f"{what} must be an exact number (int, Fraction, string such as '1/3', fmpq), not {x!r}.")
    try:
        value = Fraction(x)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{what} must be an exact number, and {x!r} is none.") from None
    return fmpq(value.numerator, value.denominator)


def positive_rational(x: object, what: str) -> fmpq:
    """An exact positive number as fmpq.

    Raises:
        ValueError: as `rational`, or if x <= 0; the message names `what`.
    """
    value = rational(x, what)
    if value <= 0:
        raise ValueError(f"{what} must be positive, not {value}.")
    return value


def upper_rational(x: arb) -> fmpq:
    """A rational that is at least every point of the ball |x|; 2^-4096 for the balls below that.

    Raises:
        ValueError: if it would exceed 2^(2^16).
    """
    bound = _dyadic(x.abs_upper())
    return fmpq(1, 2**-_LEAST_EXPONENT) if bound is None else bound


def interval_ball(lower: fmpq, upper: fmpq) -> arb:
    """A ball that contains [lower, upper]."""
    return arb((lower + upper) / 2, arb((upper - lower) / 2).upper()) + arb(0, arb(upper).rad())


def _lower(x: arb) -> fmpq:
    return _dyadic(x.abs_lower()) or fmpq(0)


def _dyadic(x: arb) -> fmpq | None:
    """The number x >= 0 without a radius; None below 2^-4096; ValueError above 2^(2^16)."""
    mantissa, exponent = x.man_exp()
    size = int(exponent) + int(mantissa).bit_length()
    if size > _MOST_BITS:
        raise ValueError(f"A bound of about 2^{size} is too large for exact arithmetic: use a smaller interval.")
    return fmpq(mantissa) * fmpq(2) ** int(exponent) if mantissa == 0 or size > _LEAST_EXPONENT else None


def _upper_on(function: SmoothFunction, lo: fmpq, hi: fmpq, order: int) -> fmpq:
    """An upper bound of sup |g^(order)| on [lo, hi] from one enclosure, by its value and by the mean value form."""
    try:
        whole = function.jet(interval_ball(lo, hi), order + 1)
    except ValueError:
        return -_UNKNOWN
    middle = function.jet(arb((lo + hi) / 2), order)[order]
    by_mean_value = upper_rational(middle) + upper_rational(whole[order + 1]) * (hi - lo) / 2
    return min(upper_rational(whole[order]), by_mean_value)


@contextmanager
def _series_length(length: int) -> Iterator[None]:
    before = ctx.cap
    ctx.cap = length
    try:
        yield
    finally:
        ctx.cap = before


def _tanh(x: arb_series) -> arb_series:
    return 1 - 2 / ((2 * x).exp() + 1)


def _softplus(x: arb_series) -> arb_series:
    """The softplus log(1 + e^x); for x > 0 as x + log(1 + e^-x), the same number, with narrower enclosures."""
    return x + (1 + (-x).exp()).log() if arb(x[0]).mid() > 0 else (1 + x.exp()).log()


tanh = SmoothFunction("tanh", _tanh)
sigmoid = SmoothFunction("sigmoid", lambda x: 1 / (1 + (-x).exp()))
softplus = SmoothFunction("softplus", _softplus)
sine = SmoothFunction("sin", lambda x: x.sin())
exponential = SmoothFunction("exp", lambda x: x.exp())
log_cosh = SmoothFunction("log cosh", lambda x: ((x.exp() + (-x).exp()) / 2).log())
gelu = SmoothFunction("gelu", lambda x: x * (1 + (x * (arb(1) / 2).sqrt()).erf()) / 2)
identity = SmoothFunction("identity", lambda x: x)
