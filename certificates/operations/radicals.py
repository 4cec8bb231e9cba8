"""Exact margins as text: the positive root of a zero of a polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lemmata.certificates import kernel

__all__ = ["margin_in_radicals"]


def margin_in_radicals(polynomial: Sequence[int], lower: Fraction, upper: Fraction) -> str:
    """The positive root of the zero of a polynomial between two squares, in radicals if its degree is at most 2.

    For larger degrees it is what the number satisfies: "root of 4*g^6-g^2+1".

    Args:
        polynomial: c_0, ..., c_d, c_d != 0, for g^2.
        lower, upper: decimals on both sides of g.

    Raises:
        ValueError: for a polynomial of degree 0.
    """
    degree = len(polynomial) - 1
    if degree < 1:
        raise ValueError("A constant has no zero.")
    if degree == 1:
        square = Fraction(-polynomial[0], polynomial[1])
        whole = square.numerator * square.denominator
        part = kernel.square_part(whole)
        q, m = Fraction(part, square.denominator), whole // part**2
        return str(q) if m == 1 else f"{q}*sqrt({m})"
    if degree == 2:
        c, b, a = polynomial
        whole = b * b - 4 * a * c
        part = kernel.square_part(whole)
        middle, slope, m = Fraction(-b, 2 * a), abs(Fraction(part, 2 * a)), whole // part**2
        sign = "+" if middle < (lower**2 + upper**2) / 2 else "-"
        root = f"sqrt({m})" if slope == 1 else f"{slope}*sqrt({m})"
        return f"sqrt({middle}{sign}{root})"
    terms = [(c, 2 * i) for i, c in reversed(list(enumerate(polynomial))) if c]
    text = "+".join(f"{c}" if power == 0 else f"{c}*g^{power}" for c, power in terms)
    return f"root of {text}".replace("+-", "-")
