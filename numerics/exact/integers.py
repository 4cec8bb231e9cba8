"""Integers as arguments (sizes, lengths, orders), checked in one sentence, and the smallest that meets a condition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["checked_integer", "smallest_integer"]


def checked_integer(name: str, value: object, least: int) -> int:
    """The integer `value` as a Python int: no bool, no float, at least `least`; NumPy integers are taken.

    Raises:
        ValueError: if it is not; the sentence has the name and the value in it.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, not {value!r}.")
    return int(value)


def smallest_integer(least: int, enough: Callable[[int], bool]) -> int:
    """The smallest n >= least >= 1 with enough(n), for a condition that stays true: doubling, then bisection.

    It does not return if the condition is never true.
    """
    low, high = least - 1, least
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
