"""Exact numbers and balls, in arrays."""

from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.cyclotomic.numbers import radical_string
from lemmata.numerics.exact.numbers import as_exact, to_float

__all__ = ["as_exact", "precision", "radical_string", "to_float"]
