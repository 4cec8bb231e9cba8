"""The class `Cyclotomic` of exact elements of cyclotomic fields, with arithmetic, comparisons and enclosures.

An element is a polynomial in zeta_N modulo Phi_N (`lemmata.numerics.exact.cyclotomic.field`); elements of different
orders meet in the field of the least common multiple. Import the class from
`lemmata.numerics.exact.cyclotomic.numbers`, where the constructors are.
"""

import numbers
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm

from flint import acb, arb, fmpq, fmpq_poly, fmpz

from lemmata.numerics.exact.cyclotomic import field
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq


def _operand(value: object) -> "fmpq | None":
    """A rational operand, or None for a foreign type; refuses inexact numbers."""
    q = as_fmpq(value)
    if q is None and isinstance(value, numbers.Number | arb | acb):
        raise TypeError(
            f"A Cyclotomic number is exact and does not mix with {value!r} of type {type(value).__name__}: "
            "use int, Fraction, flint.fmpz, flint.fmpq or Cyclotomic, "
            "or leave exact arithmetic with float(x), x.ball() or x.enclosure()."
        )
    return q


def _coefficient(value: object) -> fmpq:
    try:
        q = as_fmpq(Fraction(value) if isinstance(value, str) else value)
    except (ValueError, ZeroDivisionError):
        q = None
    if q is None:
        raise ValueError(
            f"The coefficient {value!r} is not a rational number: "
            "give int, Fraction, flint.fmpz, flint.fmpq, or a string such as '1/2'."
        )
    return q


class Cyclotomic:
    """An exact element of a cyclotomic field Q(zeta_N), zeta_N = e^{2 pi i/N}; immutable.

    `Cyclotomic(order, coefficients)` is sum_e coefficients[e] zeta_order^e, for rational numbers (or strings
    such as "1/2") in any number. Arithmetic, comparisons and equality accept int, fmpz, fmpq and Fraction,
    and elements of other orders, which are lifted to the least common multiple; a float raises TypeError. The
    same number has the same hash in every field that it is written in, and a rational element hashes like the
    rational number. Elements work in NumPy object arrays.

    Raises:
        ValueError: if the order is not an integer from 1 to 20 000, or a coefficient is not rational.
    """

    __slots__ = ("_minimal", "_order", "_polynomial", "_real")
    _order: int
    _polynomial: fmpq_poly
    _minimal: tuple[int, fmpq_poly] | None
    _real: bool | None

    def __new__(cls, order: int, coefficients: Sequence[RationalLike | str]) -> "Cyclotomic":
        """The element with these coefficients; see the class."""
        if isinstance(order, bool) or not isinstance(order, int) or order < 1:
            raise ValueError(f"The order {order!r} is not valid: give an integer of at least 1.")
        entries = [_coefficient(c) for c in coefficients]
        if order % 4 != 2:
            return make(order, field.spread(fmpq_poly(entries), 1, order))
        total = make(1, fmpq_poly(0))
        for e, c in enumerate(entries):
            total = total + make(*field.root_in_field(e, order)) * c
        return total

    # ---- what the element is

    @property
    def order(self) -> int:
        """The order N of the field Q(zeta_N) in which it is written; never 2 mod 4, and 1 for a rational number."""
        return self._order

    @property
    def minimal_order(self) -> int:
        """The conductor: the smallest N with the element in Q(zeta_N)."""
        return self._minimal_form()[0]

    @property
    def coefficients(self) -> tuple[str, ...]:
        """The phi(order) coordinates in the basis 1, zeta, zeta^2, ... as strings "p/q", ready for JSON."""
        return tuple(str(self._polynomial[e]) for e in range(field.modulus(self._order).degree()))

    def _minimal_form(self) -> tuple[int, fmpq_poly]:
        if self._minimal is None:
            self._minimal = field.minimal_form(self._order, self._polynomial)
        return self._minimal

    def minimal(self) -> "Cyclotomic":
        """The same number, written in the smallest cyclotomic field that contains it."""
        return make(*self._minimal_form())

    def lifted(self, order: int) -> fmpq_poly:
        """The polynomial of the element in zeta_order, reduced modulo Phi_order.

        Raises:
            ValueError: if `order` is not a multiple of the element's own order.
        """
        if order % self._order:
            raise ValueError(f"An element of order {self._order} cannot be lifted to order {order}: give a multiple.")
        if order == self._order or self._order == 1:
            return self._polynomial
        return field.spread(self._polynomial, order // self._order, order)

    def is_rational(self) -> bool:
        """Whether the number is rational (exactly)."""
        return self._polynomial.degree() <= 0

    def to_fmpq(self) -> fmpq:
        """The rational number that the element is.

        Raises:
            ValueError: if the element is not rational.
        """
        if not self.is_rational():
            raise ValueError(f"{self} is not rational: use x.is_rational() first, or enclose it with x.ball().")
        return self._polynomial[0]

    def __reduce__(self) -> tuple[type["Cyclotomic"], tuple[int, tuple[str, ...]]]:
        return Cyclotomic, (self._order, self.coefficients)

    def __repr__(self) -> str:
        return f"Cyclotomic({self})"

    def __str__(self) -> str:
        text = str(self._polynomial)
        return text if self._order == 1 else text.replace("x", f"z{self._order}")

    # ---- arithmetic

    def __pos__(self) -> "Cyclotomic":
        return self

    def __neg__(self) -> "Cyclotomic":
        return make(self._order, -self._polynomial)

    def __add__(self, other: object) -> "Cyclotomic":
        if isinstance(other, Cyclotomic):
            order, x, y = aligned(self, other)
            return make(order, x + y)
        q = _operand(other)
        return NotImplemented if q is None else make(self._order, self._polynomial + q)

    __radd__ = __add__

    def __sub__(self, other: object) -> "Cyclotomic":
        if isinstance(other, Cyclotomic):
            order, x, y = aligned(self, other)
            return make(order, x - y)
        q = _operand(other)
        return NotImplemented if q is None else make(self._order, self._polynomial - q)

    def __rsub__(self, other: object) -> "Cyclotomic":
        q = _operand(other)
        return NotImplemented if q is None else make(self._order, q - self._polynomial)

    def __mul__(self, other: object) -> "Cyclotomic":
        if isinstance(other, Cyclotomic):
            order, x, y = aligned(self, other)
            product = x * y
            return make(order, product if order == 1 else product % field.modulus(order))
        q = _operand(other)
        return NotImplemented if q is None else make(self._order, self._polynomial * q)

    __rmul__ = __mul__

    def inverse(self) -> "Cyclotomic":
        """The inverse 1/x.

        Raises:
            ZeroDivisionError: if the element is 0.
        """
        if not self:
            raise ZeroDivisionError("The Cyclotomic number 0 has no inverse.")
        # Phi is irreducible, so the greatest common divisor of x and Phi is 1 = s x + t Phi.
        return make(self._order, self._polynomial.xgcd(field.modulus(self._order))[1])

    def __truediv__(self, other: object) -> "Cyclotomic":
        if isinstance(other, Cyclotomic):
            return self * other.inverse()
        q = _operand(other)
        if q is None:
            return NotImplemented
        if q == 0:
            raise ZeroDivisionError(f"{self} cannot be divided by 0.")
        return make(self._order, self._polynomial / q)

    def __rtruediv__(self, other: object) -> "Cyclotomic":
        q = _operand(other)
        return NotImplemented if q is None else self.inverse() * q

    def __pow__(self, exponent: object) -> "Cyclotomic":
        if not isinstance(exponent, int | numbers.Integral | fmpz):
            raise TypeError(f"The exponent {exponent!r} is not an integer: only integer powers are supported.")
        n = int(exponent)
        square = self if n >= 0 else self.inverse()
        n, result = abs(n), None
        while n:
            if n & 1:
                result = square if result is None else result * square
            n >>= 1
            if n:
                square = square * square
        return make(1, fmpq_poly(1)) if result is None else result

    def galois(self, k: int) -> "Cyclotomic":
        """The Galois conjugate under zeta -> zeta^k, zeta the root of unity of the element's `order`.

        Raises:
            ValueError: if k shares a factor with the order.
        """
        if gcd(k, self._order) != 1:
            raise ValueError(
                f"zeta -> zeta^{k} is no automorphism in order {self._order}: k must be coprime to the order."
            )
        return make(self._order, field.spread(self._polynomial, k, self._order))

    def mean_conjugate(self) -> fmpq:
        """The average of all Galois conjugates: the trace over the rational numbers, divided by the degree."""
        return field.mean_conjugate(self._order, self._polynomial.coeffs())

    def conjugate(self) -> "Cyclotomic":
        """The complex conjugate."""
        return self if self._order == 1 or self._real else self.galois(-1)

    @property
    def real(self) -> "Cyclotomic":
        """The real part, an element of the same field."""
        return (self + self.conjugate()) / 2

    @property
    def imag(self) -> "Cyclotomic":
        """The imaginary part, an element of the field of order lcm(order, 4)."""
        return (self - self.conjugate()) * make(*field.root_in_field(-1, 4)) / 2

    # ---- equality and order

    def __bool__(self) -> bool:
        return not self._polynomial.is_zero()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Cyclotomic):
            _, x, y = aligned(self, other)
            return x == y
        q = _operand(other)
        return NotImplemented if q is None else self.is_rational() and self._polynomial[0] == q

    def __hash__(self) -> int:
        order, polynomial = self._minimal_form()
        # fmpq, fmpz, int and Fraction hash alike, so that equal rational numbers of any type do
        return hash(polynomial[0]) if order == 1 else hash((order, *polynomial.coeffs()))

    def is_real(self) -> bool:
        """Whether the number is real (exactly: it equals its conjugate)."""
        if self._real is None:
            self._real = self._order == 1 or self.galois(-1)._polynomial == self._polynomial
        return self._real

    def _require_real(self, purpose: str) -> None:
        if not self.is_real():
            raise ValueError(f"{self} is not real, so it has no {purpose}: take x.real or x.imag first.")

    def sign(self) -> int:
        """The sign, -1, 0 or 1, exactly: a test for zero, then balls of growing precision until one excludes 0.

        Raises:
            ValueError: if the number is not real.
        """
        self._require_real("sign")
        if not self:
            return 0
        bits = 64
        while True:
            ball = field.evaluate(self._order, self._polynomial, bits).real
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            bits *= 2

    def _sign_against(self, other: object) -> int | None:
        if not isinstance(other, Cyclotomic) and _operand(other) is None:
            return None
        return (self - other).sign()

    def __lt__(self, other: object) -> bool:
        sign = self._sign_against(other)
        return NotImplemented if sign is None else sign < 0

    def __le__(self, other: object) -> bool:
        sign = self._sign_against(other)
        return NotImplemented if sign is None else sign <= 0

    def __gt__(self, other: object) -> bool:
        sign = self._sign_against(other)
        return NotImplemented if sign is None else sign > 0

    def __ge__(self, other: object) -> bool:
        sign = self._sign_against(other)
        return NotImplemented if sign is None else sign >= 0

    # ---- numbers near the element

    def enclosure(self, prec: int = 128) -> acb:
        """A complex ball that contains the number, computed with `prec` bits."""
        return field.evaluate(self._order, self._polynomial, prec)

    def ball(self, prec: int = 128) -> arb:
        """A real ball that contains the number, computed with `prec` bits.

        Raises:
            ValueError: if the number is not real.
        """
        self._require_real("real enclosure")
        return self.enclosure(prec).real

    def __float__(self) -> float:
        """The number with relative error at most 2^-53 + 2^-60 (unless it underflows).

        The midpoint of a ball with at least 62 accurate bits is rounded to nearest.

        Raises:
            ValueError: if the number is not real.
            OverflowError: if it exceeds the range of floats.
        """
        self._require_real("float")
        if self.is_rational():
            q = self._polynomial[0]
            return int(q.p) / int(q.q)
        bits = 128
        while (ball := field.evaluate(self._order, self._polynomial, bits).real).rel_accuracy_bits() < 62:
            bits *= 2
        mantissa, exponent = (int(part) for part in ball.mid().man_exp())
        return mantissa / 2**-exponent if exponent < 0 else float(mantissa * 2**exponent)

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag))


EXACT = frozenset((fmpq, Cyclotomic))
"""The types of exact numbers to which all others are converted."""


def make(order: int, polynomial: fmpq_poly) -> Cyclotomic:
    """The element of a polynomial that is reduced modulo Phi_order already (order not 2 mod 4)."""
    element = object.__new__(Cyclotomic)
    element._order = order if polynomial.degree() > 0 else 1
    element._polynomial = polynomial
    element._minimal = element._real = None
    return element


def aligned(x: Cyclotomic, y: Cyclotomic) -> tuple[int, fmpq_poly, fmpq_poly]:
    """The order of one common field, and the polynomials of x and of y in it."""
    if x._order == y._order:
        return x._order, x._polynomial, y._polynomial
    order = common_order(x._order, y._order)
    return order, x.lifted(order), y.lifted(order)


@lru_cache(maxsize=4096)
def common_order(*orders: int) -> int:
    """The order of the smallest cyclotomic field that contains the fields of the given orders.

    Raises:
        ValueError: if it exceeds the largest supported order.
    """
    order = lcm(*orders)
    field.modulus(order)
    return order
