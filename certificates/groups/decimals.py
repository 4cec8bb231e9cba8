"""Decimals that enclose a positive real number, rounded outwards and as tight as their number of digits allows.

Numbers from 10^-6 on are written with all their places, smaller ones and integers with more digits than asked for with
an exponent, as in 1.5e-9. Every digit is proved: floors of rational numbers are computed exactly, floors of irrational
ones by balls whose precision is doubled until they decide.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, fmpq

from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.integers import checked_integer

__all__ = ["enclosing_decimals", "outward_decimals", "reciprocal_decimals"]


LONGEST_ZEROS = 6  # a number of 10^-6 has six zeros, counting that before the point; smaller ones get an exponent


def outward_decimals(low: fmpq, high: fmpq, digits: int) -> tuple[str, str]:
    """Decimals below ``low`` and above ``high``, rational, 0 < low <= high, as tight as ``digits`` digits allow.

    Both have as many places as ``low`` needs for that many significant digits, and the same exponent if any.

    Raises:
        ValueError: for ``digits`` below 1 and for numbers that are not positive.
    """
    if not low > 0:
        raise ValueError(f"Significant digits need a positive number, not {low}.")
    return enclosing_decimals(lambda places: _floor(low, places), lambda places: -_floor(-high, places), digits)


def reciprocal_decimals(low: dict[int, Fraction], high: dict[int, Fraction], digits: int) -> tuple[str, str]:
    """The largest decimal <= 1/low and the smallest >= 1/high with equally many places, as `outward_decimals`.

    ``low`` and ``high``, low >= high > 0, are sums q sqrt(m) given as {m: q} with squarefree m; no field that contains
    all these roots is formed.

    Raises:
        ValueError: for ``digits`` below 1.
    """
    return enclosing_decimals(
        lambda places: _floor_over(low, places, 1), lambda places: -_floor_over(high, places, -1), digits
    )


def enclosing_decimals(floor: Callable[[int], int], ceiling: Callable[[int], int], digits: int) -> tuple[str, str]:
    """The decimals floor(places) and ceiling(places) times 10^-places, for the number of places that serves.

    Both are functions of the number of places, as of numbers 0 < low <= high times 10^places; that number is the one
    with which low has ``digits`` significant digits.

    Raises:
        ValueError: for ``digits`` below 1.
    """
    digits = checked_integer("The number of significant digits", digits, 1)
    places = 0
    while (units := floor(places)) == 0 or len(str(units)) != digits:
        places += digits - len(str(units)) or 1  # 0 is written with one digit, but has none
    return _written(units, places, digits), _written(ceiling(places), places, digits)


def _floor(number: fmpq, places: int) -> int:
    """floor(number * 10^places)."""
    return int((number * fmpq(10) ** places).floor())


def _floor_over(sums: dict[int, Fraction], places: int, sign: int) -> int:
    """floor(sign * 10^places / sum q sqrt(m))."""
    if sums.keys() == {1}:
        return sign * Fraction(10) ** places // sums[1]

    def ball(bits: int) -> arb:
        with precision(bits):
            total = sum((arb(fmpq(q.numerator, q.denominator)) * arb(m).sqrt() for m, q in sums.items()), arb(0))
            return sign * arb(10) ** places / total

    return _floor_by_balls(ball, places)


def _floor_by_balls(ball: Callable[[int], arb], places: int) -> int:
    """The floor of an irrational number from its enclosure at any precision in bits."""
    bits = 64 + 4 * abs(places)
    while True:
        with precision(bits):
            floor = ball(bits).floor().unique_fmpz()
        if floor is not None:
            return int(floor)
        bits *= 2


def _written(units: int, places: int, digits: int) -> str:
    """units * 10^-places, units of ``digits`` digits or one more: in full from 10^-6 on, else with an exponent."""
    exponent = digits - 1 - places
    if places < 0 or exponent < -LONGEST_ZEROS:
        return f"{_with_point(units, digits - 1)}e{exponent}"
    return _with_point(units, places)


def _with_point(units: int, places: int) -> str:
    whole, fraction = divmod(units, 10**places)
    return f"{whole}.{fraction:0{places}d}" if places else str(whole)
