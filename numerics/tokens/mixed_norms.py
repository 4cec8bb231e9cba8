"""Mixed norms of matrices: the r-norm of the vector of the p-norms of the columns.

They are submultiplicative in this form: ||A B||_(r,s) <= ||A||_(r,p) ||B||_(q,s) for 1/p + 1/q = 1.

Source: qstr, lemma-39 (proofs/mixed-norms.md of that chapter).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.balls import as_balls, ball_max
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import require_finite

Exponent = int | str | fmpq | Literal["inf"]
"""A number >= 1, or "inf" for the largest absolute value."""


def conjugate(p: Exponent) -> fmpq | Literal["inf"]:
    """The exponent q with 1/p + 1/q = 1.

    Raises:
        ValueError: if p is neither a number >= 1 nor "inf".
    """
    exponent = _exponent(p)
    if exponent == "inf":
        return fmpq(1)
    return "inf" if exponent == 1 else exponent / (exponent - 1)


def mixed_norm(matrix: ArrayLike | Sequence[Any], p: Exponent, r: Exponent) -> arb:
    """The norm ||A||_(p,r) as a ball: the p-norm of every column, and the r-norm of these.

    Args:
        matrix: A, shape (rows, columns), of exact numbers, floats or balls.
        p: for the columns.
        r: for the vector of their norms.

    Raises:
        ValueError: for another shape, no entry, entries that are not finite, or exponents below 1.
    """
    table = as_balls(matrix)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"A mixed norm is that of a matrix with rows and columns, not of the shape {table.shape}.")
    require_finite("the matrix", table)
    inner, outer = _exponent(p), _exponent(r)
    return _norm([_norm(column.tolist(), inner) for column in table.T], outer)


def _norm(entries: list[arb], exponent: fmpq | Literal["inf"]) -> arb:
    sizes = [abs(x) for x in entries]
    if exponent == "inf":
        return ball_max(sizes)
    if exponent == 1:
        return sum(sizes, start=arb(0))
    if exponent == 2:
        return sum((x * x for x in sizes), start=arb(0)).sqrt()
    powers = [arb(0) if x == 0 else x ** arb(exponent) for x in sizes]
    total = sum(powers, start=arb(0))
    return total if total == 0 else total ** (1 / arb(exponent))


def _exponent(p: Exponent) -> fmpq | Literal["inf"]:
    if p == "inf":
        return "inf"
    [value] = as_exact([p]).tolist()
    if not isinstance(value, fmpq) or value < 1:
        raise ValueError(f'An exponent of a norm is a rational number >= 1 or "inf", not {p!r}.')
    return value
