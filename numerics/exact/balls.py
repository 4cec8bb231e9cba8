"""Rigorous real enclosures: object arrays of `flint.arb`, maxima, and comparisons that refuse to guess.

A ball is a midpoint and a radius; arithmetic on balls returns a ball that contains every possible result. NumPy's
ufuncs `np.exp`, `np.sqrt`, ... call the methods of the elements of an object array, so that plain NumPy code runs on
balls. Two traps: a comparison of overlapping balls is False both ways, so `np.maximum`, `np.max`, `sorted` and
`if a < b` are not rigorous (use `ball_max`, `decided_less`, `decided_less_equal`); and a float becomes the ball of
exactly its binary value, which for 0.1 is not 1/10 (give "1/10" or Fraction(1, 10)).
"""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.cyclotomic.element import Cyclotomic
from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.exact.numbers import exact_number
from lemmata.numerics.exact.precision import precision

__all__ = ["as_balls", "ball_max", "ball_min", "checked_bound", "decided_less", "decided_less_equal", "precision"]


def _ball(x: object) -> arb:
    if isinstance(x, arb):
        return x
    if isinstance(x, LogTwo):
        return x.ball(ctx.prec)
    if isinstance(x, float):
        if not math.isfinite(x):
            raise ValueError(f"The float {x} has no enclosure: give finite numbers.")
        return arb(x)
    try:
        exact = exact_number(x)
    except ValueError:
        raise ValueError(
            f"{x!r} of type {type(x).__name__} has no enclosure: give int, Fraction, string such as '1/3', "
            "finite float, flint.fmpz, flint.fmpq, flint.arb, LogTwo, or a real Cyclotomic."
        ) from None
    return exact.ball(ctx.prec) if isinstance(exact, Cyclotomic) else arb(exact)


def as_balls(array: ArrayLike | Sequence[Any], prec: int | None = None) -> NDArray[np.object_]:
    """The array with every element replaced by a ball that contains it; shape unchanged.

    Args:
        array: integers, Fractions, strings such as "1/3", finite floats (their exact binary value), fmpz, fmpq, real
            Cyclotomic numbers, LogTwo, or balls (kept as they are), in any shape.
        prec: bits of the conversion; the current working precision if None.

    Raises:
        ValueError: if an element is none of these.
    """
    values = array.astype(object) if isinstance(array, np.ndarray) else np.array(array, dtype=object)
    balls: dict[int, arb] = {}  # exact matrices hold few objects many times
    with precision(ctx.prec if prec is None else prec):
        for value in values.flat:
            if id(value) not in balls:
                balls[id(value)] = _ball(value)
    result = np.empty(values.size, dtype=object)
    result[:] = [balls[id(value)] for value in values.flat]
    return result.reshape(values.shape)


def checked_bound(name: str, value: object, *, positive: bool = False) -> arb:
    """The number as a ball: an exact number, a finite float (its binary value) or a finite ball, and not negative.

    Args:
        name: what it is, for the message.
        value: the number.
        positive: whether zero is refused as well.

    Raises:
        ValueError: if it is not; the sentence has the name and the value in it.
    """
    wanted = "a positive finite number" if positive else "a finite number >= 0"
    shown = value.item() if isinstance(value, np.generic) else value
    try:
        if isinstance(shown, bool | complex):
            raise ValueError
        ball: arb = as_balls([shown])[0]
    except (ValueError, TypeError):
        raise ValueError(f"{name} must be {wanted}, not {shown!r}.") from None
    if not ball.is_finite() or not (ball > 0 if positive else ball >= 0):
        raise ValueError(f"{name} must be {wanted}, not {shown!r}.")
    return ball


def _not_nan(balls: Iterable[arb], what: str) -> list[arb]:
    collected = list(balls)
    if not collected:
        raise ValueError(f"The {what} of no balls is undefined: give at least one.")
    for position, ball in enumerate(collected):
        if not isinstance(ball, arb) or ball.is_nan():
            raise ValueError(f"Element {position} is {ball!r}: the {what} needs balls (see as_balls) that are not NaN.")
    return collected


def ball_max(balls: Iterable[arb]) -> arb:
    """A ball that contains the maximum, also where it is undecided which element is the largest.

    Args:
        balls: any iterable; flatten an array with `.ravel()`.

    Raises:
        ValueError: if there is none, or one is NaN or no ball.
    """
    return reduce(arb.max, _not_nan(balls, "maximum"))


def ball_min(balls: Iterable[arb]) -> arb:
    """A ball that contains the minimum; see `ball_max`."""
    return reduce(arb.min, _not_nan(balls, "minimum"))


def _decide(true: bool, false: bool, a: arb, b: arb, relation: str) -> bool:
    if true == false:  # neither is certain (both cannot be)
        raise ValueError(f"Whether {a} {relation} {b} is undecided: compute the balls with more bits, or exactly.")
    return true


def decided_less(a: object, b: object) -> bool:
    """Whether a < b, for all points of the balls alike; a and b are balls or anything that `as_balls` accepts.

    Raises:
        ValueError: if it holds for some points and fails for others (or a ball is NaN).
    """
    x, y = _ball(a), _ball(b)
    return _decide(x < y, x >= y, x, y, "<")


def decided_less_equal(a: object, b: object) -> bool:
    """Whether a <= b, for all points of the balls alike; a and b as for `decided_less`.

    Raises:
        ValueError: if it holds for some points and fails for others (or a ball is NaN).
    """
    x, y = _ball(a), _ball(b)
    return _decide(x <= y, x > y, x, y, "<=")
