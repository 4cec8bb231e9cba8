"""Numbers that are computed again: when they count as the same, and when one is decided against a threshold.

Bit for bit the same on every processor are integers, exact numbers, quotients of two integers, and floats from
compiled loops without BLAS. A float that went through BLAS, LAPACK, vectorised functions or torch is not: the order of
additions, fused products and the last digits of a logarithm depend on the processor.

How far apart two honest computations of a number of a summary may lie (`ROUNDING`): it is made from committed results,
which are the same everywhere, by at most 2^12 additions and products and by logarithms, roots and quantile functions,
each of which errs by at most 2^-50 of its value (four units in the last place); then perhaps by one least squares fit
of a line, whose columns are scaled to norm 1 and have a condition number below 2^7. So its relative error is below
2^(12 - 50 + 7) = 2^-31, and two such numbers differ by less than 2^-30. A number near zero that is the difference of
large ones is no such number: summarise what is subtracted, or round the difference.

Results that are committed with five significant digits are the same where what they are rounded from differs by less
than 10^-5 of its value, but for numbers on the boundary between two roundings, which then differ by one unit of the
fifth digit: less than `FIFTH_DIGIT`, which every change of the fourth digit exceeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["FIFTH_DIGIT", "ROUNDING", "above", "below", "close_calls", "first_difference"]

ROUNDING = 2.0**-30
"""How far two computations of one number may lie apart, relative to its size: see the head of this module."""

FIFTH_DIGIT = 1 / 10_000.5
"""Above one unit of the fifth significant digit, which is at most 1/10001 of the larger number (1.0000 and 1.0001), and
below one of the fourth, which is at least 1/10000 of it (9.999 and 10.00)."""

_CALLS: ContextVar[list[str] | None] = ContextVar("_CALLS", default=None)


def _apart(first: float, second: float, tolerance: float) -> bool:
    """Whether two floats differ by more than the tolerance, relative to the larger one; infinities and NaN exactly."""
    if not (math.isfinite(first) and math.isfinite(second)):
        return not (first == second or (math.isnan(first) and math.isnan(second)))
    return abs(first - second) > tolerance * max(abs(first), abs(second))


def first_difference(
    now: Any, kept: Any, tolerance: float = ROUNDING, where: str = "", begins: bool = False
) -> str | None:
    """Where two JSON values first differ, as a sentence; None if they agree.

    Structure, keys, texts, integers and truth values have to agree exactly, floats to the tolerance (0: bit for bit).

    Args:
        now: what was computed again.
        kept: what it is compared with.
        tolerance: how far two floats may lie apart, relative to the larger one.
        where: the place of both, which the sentence begins with.
        begins: whether lists of what is computed now may be shorter, and its dictionaries have fewer keys.
    """
    place = where or "the whole"
    if isinstance(now, dict) and isinstance(kept, dict):
        odd = [key for key in (*(() if begins else kept), *now) if (key in now) != (key in kept)]
        if odd:
            return f"{place}: {odd[0]!r} is {'missing now' if odd[0] in kept else 'new'}"
        pairs = [(f"{where}[{key!r}]", now[key], kept[key]) for key in kept if key in now]
    elif isinstance(now, list) and isinstance(kept, list):
        if len(now) > len(kept) or (len(now) < len(kept) and not begins):
            return f"{place}: {len(now)} entries now, {len(kept)} before"
        pairs = [(f"{where}[{i}]", *both) for i, both in enumerate(zip(now, kept, strict=False))]
    else:
        if type(now) is float and type(kept) is float:
            same = not _apart(now, kept, tolerance)
        else:
            same = type(now) is type(kept) and now == kept
        return None if same else f"{place}: {now!r} now, {kept!r} before"
    found = (first_difference(first, second, tolerance, inner, begins) for inner, first, second in pairs)
    return next((difference for difference in found if difference), None)


def below(number: float, threshold: float) -> bool:
    """Whether a number is less than a threshold by more than its rounding error.

    False for a number within the tolerance of the threshold, whichever side it seems to be on: `close_calls` names it.
    Only for floats with rounding errors; counts and quotients of counts are compared as they are.
    """
    if _apart(number, threshold, ROUNDING):
        return bool(number < threshold)
    calls = _CALLS.get()
    if calls is not None:
        calls.append(f"{float(number)!r} against {float(threshold)!r}")
    return False


def above(number: float, threshold: float) -> bool:
    """Whether a number exceeds a threshold by more than its rounding error: see `below`."""
    return below(threshold, number)


@contextmanager
def close_calls() -> Iterator[list[str]]:
    """Collect the comparisons of `below` and `above` that rounding errors leave undecided."""
    calls: list[str] = []
    token = _CALLS.set(calls)
    try:
        yield calls
    finally:
        _CALLS.reset(token)
