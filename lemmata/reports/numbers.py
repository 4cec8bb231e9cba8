"""Numbers as every report prints them."""

from __future__ import annotations

from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, as_radicals, radical_string

__all__ = ["exact_string"]


def exact_string(value: Cyclotomic) -> str:
    """An exact real number as a sum of square roots, or a dash where it is none."""
    return "-" if as_radicals(value) is None else radical_string(value)
