"""Exact numbers in the ring Q[ln 2], with decided signs.

Averages over two-state Markov chains with uniform transition probabilities are numbers q + r ln 2 with rational q, r
(`lemmata.numerics.markov.flat`); products of them are polynomials in ln 2. As ln 2 is transcendental
(Hermite-Lindemann), a polynomial in ln 2 with rational coefficients is zero only if all coefficients are: equality is
decided by comparing coefficients, and the sign of a number that is not zero by ball arithmetic with growing precision.
This matters: q and r ln 2 cancel more heavily with every step of the chain, so that float64 soon has no correct digit
left.
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq, fmpq_poly

from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq

__all__ = ["LN2", "LogTwo"]

_START_BITS = 128


class LogTwo:
    """An element c_0 + c_1 ln 2 + c_2 (ln 2)^2 + ... of Q[ln 2]; immutable and hashable.

    `LogTwo(q)` is a rational number, `LogTwo(q, r)` is q + r ln 2, and more arguments are the coefficients of higher
    powers. Arithmetic and comparisons mix with int, fmpz, fmpq and Fraction; a float raises TypeError. Division is by
    rational numbers only (the ring is no field; for a quotient of two elements divide their balls). Elements work in
    NumPy object arrays.

    Raises:
        ValueError: if a coefficient is not rational.
    """

    __slots__ = ("_polynomial",)
    _polynomial: fmpq_poly

    def __init__(self, *coefficients: RationalLike) -> None:
        values = []
        for position, c in enumerate(coefficients):
            value = as_fmpq(c)
            if value is None:
                raise ValueError(
                    f"The coefficient {c!r} of (ln 2)^{position} is not a rational number: "
                    "give int, Fraction, flint.fmpz or flint.fmpq."
                )
            values.append(value)
        self._polynomial = fmpq_poly(values)

    # ---- what the element is

    @property
    def coefficients(self) -> tuple[fmpq, ...]:
        """The rational coefficients of 1, ln 2, (ln 2)^2, ... up to the last that is not zero; empty for zero."""
        return tuple(self._polynomial.coeffs())

    @property
    def degree(self) -> int:
        """The degree as a polynomial in ln 2; -1 for zero, at most 0 for a rational number."""
        return self._polynomial.degree()

    def ball(self, prec: int) -> arb:
        """A ball with the value inside, computed with `prec` bits (the radius grows with the coefficients)."""
        with precision(prec):
            return _enclosure(self._polynomial)

    def sign(self) -> int:
        """The sign, -1, 0 or 1; always decided, because a number that is not zero has coefficients that are not."""
        if self.degree < 0:
            return 0
        bits = _START_BITS
        while True:
            ball = self.ball(bits)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            bits *= 2

    def __float__(self) -> float:
        """The value with a relative error below 2^-52; zero exactly."""
        if self.degree < 0:
            return 0.0
        bits = _START_BITS
        while (ball := self.ball(bits)).rel_accuracy_bits() < 60:
            bits *= 2
        return float(ball.mid())

    # ---- arithmetic

    def __add__(self, other: Any) -> LogTwo:
        p = _operand(other)
        return NotImplemented if p is None else _make(self._polynomial + p)

    __radd__ = __add__

    def __sub__(self, other: Any) -> LogTwo:
        p = _operand(other)
        return NotImplemented if p is None else _make(self._polynomial - p)

    def __rsub__(self, other: Any) -> LogTwo:
        p = _operand(other)
        return NotImplemented if p is None else _make(p - self._polynomial)

    def __mul__(self, other: Any) -> LogTwo:
        p = _operand(other)
        return NotImplemented if p is None else _make(self._polynomial * p)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> LogTwo:
        p = _operand(other)
        if p is None:
            return NotImplemented
        if p.degree() > 0:
            raise ValueError(
                f"Division by {other} leaves the ring Q[ln 2]: divide by rational numbers, or divide balls."
            )
        if p.degree() < 0:
            raise ZeroDivisionError("Division by zero in Q[ln 2].")
        return _make(self._polynomial / p[0])

    def __neg__(self) -> LogTwo:
        return _make(-self._polynomial)

    def __pos__(self) -> LogTwo:
        return self

    def __abs__(self) -> LogTwo:
        return -self if self.sign() < 0 else self

    def __pow__(self, exponent: int) -> LogTwo:
        if isinstance(exponent, bool) or not isinstance(exponent, int) or exponent < 0:
            raise ValueError(f"The exponent {exponent!r} is not valid in Q[ln 2]: give an integer of at least 0.")
        return _make(self._polynomial**exponent)

    # ---- comparisons

    def __eq__(self, other: object) -> bool:
        p = _operand(other)
        return NotImplemented if p is None else self._polynomial == p

    def __hash__(self) -> int:
        if self.degree <= 0:
            return hash(self._polynomial[0])
        return hash(("LogTwo", tuple((int(c.p), int(c.q)) for c in self.coefficients)))

    def __lt__(self, other: Any) -> bool:
        p = _operand(other)
        return NotImplemented if p is None else _make(self._polynomial - p).sign() < 0

    def __le__(self, other: Any) -> bool:
        p = _operand(other)
        return NotImplemented if p is None else _make(self._polynomial - p).sign() <= 0

    def __gt__(self, other: Any) -> bool:
        p = _operand(other)
        return NotImplemented if p is None else _make(self._polynomial - p).sign() > 0

    def __ge__(self, other: Any) -> bool:
        p = _operand(other)
        return NotImplemented if p is None else _make(self._polynomial - p).sign() >= 0

    def __repr__(self) -> str:
        return f"LogTwo({', '.join(str(c) for c in self.coefficients)})"

    def __str__(self) -> str:
        powers = ["", "*ln2"] + [f"*ln2^{n}" for n in range(2, self.degree + 1)]
        terms = [f"{c}{power}" for c, power in zip(self.coefficients, powers, strict=False) if c != 0]
        return " + ".join(terms) if terms else "0"


def _enclosure(polynomial: fmpq_poly) -> arb:
    """The value at ln 2 by Horner's rule, in the current precision."""
    log, total = arb.const_log2(), arb(0)
    for c in reversed(polynomial.coeffs()):
        total = total * log + arb(c)
    return total


def _make(polynomial: fmpq_poly) -> LogTwo:
    element = object.__new__(LogTwo)
    element._polynomial = polynomial
    return element


def _operand(other: object) -> fmpq_poly | None:
    """The operand as a polynomial in ln 2, or None for a foreign type."""
    if isinstance(other, LogTwo):
        return other._polynomial
    value = as_fmpq(other)
    return None if value is None else fmpq_poly([value])


LN2 = LogTwo(0, 1)
"""The number ln 2."""
