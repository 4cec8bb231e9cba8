"""One sentence for arguments that must be integers: sizes, lengths and orders."""

from __future__ import annotations

import numpy as np

__all__ = ["checked_integer"]


def checked_integer(name: str, value: object, least: int) -> int:
    """`value` as a Python int, if it is an integer (no bool, no float) of at least `least`; NumPy integers are taken.

    Raises:
        ValueError: if it is not; the sentence has the name and the value in it.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, not {value!r}.")
    return int(value)
