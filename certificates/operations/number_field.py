"""Real number fields found from decimals: minimal polynomials, elements and exact linear algebra over them.

A number is known as an integer, 2^bits times it up to some rounding. Its minimal polynomial, and its coefficients in
the powers of a generator, are short vectors of lattices (LLL). What is found here is a guess, which is believed only
after every equation that it should satisfy was checked exactly, by the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm

from flint import fmpq, fmpq_poly, fmpz_mat, fmpz_poly

__all__ = ["Element", "NumberField", "field_of", "minimal_polynomial"]

Element = fmpq_poly
"""A number of a field: a polynomial in the generator, of degree below that of the field."""

GUARD = 200
"""Bits of a number that are not trusted."""
DEGREES = (4, 8, 16)
"""Of the polynomials that are tried, one after the other."""
SURE = 0.7
"""A relation is believed if its coefficients have together at most this share of the bits that a random one needs."""


@dataclass(frozen=True, eq=False)
class NumberField:
    """Q(theta).

    Attributes:
        polynomial: the integers c_0, ..., c_(d-1), 1 of the monic minimal polynomial of theta.
        theta: 2^bits times the generator, a positive number, as an integer.
        bits: of `theta` and of all numbers that are compared with it.
    """

    polynomial: tuple[int, ...]
    theta: int
    bits: int

    @property
    def degree(self) -> int:
        """d."""
        return len(self.polynomial) - 1

    @cached_property
    def modulus(self) -> fmpq_poly:
        """The minimal polynomial."""
        return fmpq_poly(list(self.polynomial))

    @cached_property
    def powers(self) -> list[int]:
        """2^bits theta^i."""
        powers = [1 << self.bits]
        for _ in range(self.degree - 1):
            powers.append((powers[-1] * self.theta) >> self.bits)
        return powers

    def times(self, *factors: Element) -> Element:
        """A product."""
        product = fmpq_poly([1])
        for factor in factors:
            product = (product * factor) % self.modulus
        return product

    def dot(self, a: Sequence[Element], b: Sequence[Element]) -> Element:
        """sum a_i b_i."""
        return sum((x * y for x, y in zip(a, b, strict=True) if x != 0 and y != 0), fmpq_poly([0])) % self.modulus

    def inverse(self, a: Element) -> Element:
        """1/a.

        Raises:
            ZeroDivisionError: for zero.
        """
        if a == 0:
            raise ZeroDivisionError("Zero has no inverse.")
        common, factor, _ = a.xgcd(self.modulus)
        return (factor / common[0]) % self.modulus

    def value(self, a: Element) -> int:
        """2^bits a, up to some rounding."""
        numerator = a.numer()
        return sum(int(c) * power for c, power in zip(numerator.coeffs(), self.powers, strict=False)) // int(a.denom())

    def to_float(self, a: Element) -> float:
        """a, rounded."""
        return float(fraction_of(self.value(a), self.bits))

    def element(self, number: int) -> Element | None:
        """The element near 2^-bits times an integer that has small coefficients, or None."""
        d = self.degree
        for bits in ((self.bits - GUARD) >> halvings for halvings in (3, 2, 1, 0)):
            shift = self.bits - bits
            rows = [[int(i == j) for j in range(d + 1)] + [v >> shift] for i, v in enumerate([number, *self.powers])]
            short = fmpz_mat(rows).lll()
            first, *others = (int(short[0, j]) for j in range(d + 1))
            size = max(abs(first), *map(abs, others)).bit_length()
            if first and size * (d + 2) < SURE * bits:
                found = fmpq_poly([fmpq(-c, first) for c in others])
                if abs(self.value(found) - number).bit_length() < GUARD // 2 + size:
                    return found
        return None

    def solve(self, system: list[list[Element]], right: list[Element]) -> list[Element] | None:
        """The only solution of linear equations; None where there is none, or more than one."""
        d, n = self.degree, len(system[0])
        rows = []
        for equation, b in zip(system, right, strict=True):
            blocks = [self._multiplication(a) for a in equation]
            for i in range(d):
                row = [entry for block in blocks for entry in block[i]] + [b[i]]
                common = lcm(*(int(entry.q) for entry in row))
                rows.append([int(entry * common) for entry in row])
        reduced, denominator, rank = fmpz_mat(rows).rref()
        if rank != n * d or any(reduced[i, i] == 0 for i in range(rank)):
            return None
        solution = [fmpq(int(reduced[i, n * d]), int(denominator)) for i in range(n * d)]
        return [fmpq_poly(solution[j * d : (j + 1) * d]) for j in range(n)]

    def _multiplication(self, a: Element) -> list[list[fmpq]]:
        """The matrix of the multiplication by a in the powers of theta, by rows."""
        columns, power = [], a
        for _ in range(self.degree):
            columns.append([power[i] for i in range(self.degree)])
            power = self.times(power, fmpq_poly([0, 1]))
        return [list(row) for row in zip(*columns, strict=True)]

    def nullspace(self, matrix: list[list[Element]]) -> list[list[Element]]:
        """A basis of the vectors v with matrix v = 0, in echelon form."""
        n, rest, pivots = len(matrix[0]), [list(row) for row in matrix], []
        for column in range(n):
            r = len(pivots)
            k = next((i for i in range(r, len(rest)) if rest[i][column] != 0), None)
            if k is None:
                continue
            rest[r], rest[k] = rest[k], rest[r]
            inverse = self.inverse(rest[r][column])
            rest[r] = [self.times(entry, inverse) for entry in rest[r]]
            for i, row in enumerate(rest):
                if i != r and (factor := row[column]) != 0:
                    rest[i] = [a - self.times(factor, b) for a, b in zip(row, rest[r], strict=True)]
            pivots.append(column)
        basis = []
        for column in (c for c in range(n) if c not in pivots):
            vector = [fmpq_poly([int(c == column)]) for c in range(n)]
            for i, pivot in enumerate(pivots):
                vector[pivot] = -rest[i][column]
            basis.append(vector)
        return basis


def fraction_of(number: int, bits: int) -> fmpq:
    """2^-bits times an integer, of which only the leading bits are kept."""
    dropped = max(number.bit_length() - 120, 0)
    return fmpq(number >> dropped, 1) * fmpq(2) ** (dropped - bits)


def minimal_polynomial(number: int, bits: int, degrees: Sequence[int] = DEGREES) -> tuple[int, ...] | None:
    """The integers c_0, ..., c_d, c_d > 0, of the polynomial of which 2^-bits times an integer is a zero, or None."""
    powers = [1 << bits]
    for _ in range(max(degrees)):
        powers.append((powers[-1] * number) >> bits)
    whole = bits - GUARD
    attempts = [(degree, min(whole, 260 + 40 * degree + 8 * degree**2)) for degree in degrees]
    for degree, used in (*attempts, (max(degrees), whole)):
        rows = [[int(i == j) for j in range(degree + 1)] + [powers[i] >> (bits - used)] for i in range(degree + 1)]
        short = fmpz_mat(rows).lll()
        relation = [int(short[0, j]) for j in range(degree + 1)]
        if max(map(abs, relation)).bit_length() * (degree + 1) >= SURE * used:
            continue
        values = []
        for factor, _ in fmpz_poly(relation).factor()[1]:
            coefficients = [int(c) for c in factor.coeffs()]
            rest = sum(c * power for c, power in zip(coefficients, powers, strict=False))
            values.append((abs(rest).bit_length(), coefficients))
        rest, coefficients = min(values)
        if rest < GUARD:
            return tuple(c if coefficients[-1] > 0 else -c for c in coefficients)
    return None


def field_of(numbers: Sequence[int], bits: int) -> tuple[NumberField, list[Element]] | None:
    """A field that holds 2^-bits times some integers, and these as its elements, or None where none is recognised."""
    polynomials = [minimal_polynomial(number, bits) for number in numbers]
    if any(polynomial is None for polynomial in polynomials):
        return None
    candidates = [(p, number) for p, number in zip(polynomials, numbers, strict=True) if p is not None]
    polynomial, generator = min(candidates, key=lambda one: _rank(one[0]))
    while True:
        field = _generated(polynomial, generator, bits)
        elements = []
        for number in numbers:
            element = field.element(number)
            if element is None:
                break
            elements.append(element)
        if len(elements) == len(numbers):
            return field, elements
        missing = numbers[len(elements)]
        sums = [factor * generator + missing for factor in (1, -1, 2)]
        larger = [(p, one) for one in sums if (p := minimal_polynomial(one, bits)) and len(p) > len(polynomial)]
        if not larger:
            return None
        polynomial, generator = min(larger, key=lambda one: _rank(one[0]))


def _generated(polynomial: tuple[int, ...], number: int, bits: int) -> NumberField:
    """The field of a number, generated by an integer multiple that is a positive algebraic integer."""
    d, leading = len(polynomial) - 1, polynomial[-1]
    monic = [c * leading ** (d - 1 - i) for i, c in enumerate(polynomial[:-1])]
    if number < 0:
        monic = [c * (-1) ** (d - i) for i, c in enumerate(monic)]
    return NumberField((*monic, 1), abs(number) * leading, bits)


def _rank(polynomial: tuple[int, ...]) -> tuple[int, int]:
    """Generators of large degree are best, and then of small coefficients."""
    d, leading = len(polynomial) - 1, polynomial[-1]
    return -d, max(abs(c) * leading ** (d - 1 - i) for i, c in enumerate(polynomial[:-1]))
