"""Square roots as cyclotomic numbers, and cyclotomic numbers as sums of square roots."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from flint import fmpq, fmpq_poly, fmpz

from lemmata.numerics.exact.cyclotomic import field
from lemmata.numerics.exact.cyclotomic.element import Cyclotomic, make
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq

if TYPE_CHECKING:
    import sympy


def sqrt_rational(q: RationalLike) -> Cyclotomic:
    """The square root of a rational number: the positive one for q > 0, i times a positive number for q < 0.

    The square root of a prime comes from its quadratic Gauss sum; the result is verified exactly (its square)
    and by ball arithmetic (its half-plane).

    Raises:
        ValueError: if q is not rational, or its square root lies in no supported cyclotomic field.
    """
    value = as_fmpq(q)
    if value is None:
        raise ValueError(f"The number {q!r} is not rational: give int, Fraction, flint.fmpz or flint.fmpq.")
    return _sqrt(int(value.p), int(value.q))


@lru_cache(maxsize=4096)
def _sqrt(numerator: int, denominator: int) -> Cyclotomic:
    if numerator == 0:
        return make(1, fmpq_poly(0))
    # sqrt(a/b) = sqrt(a b)/b, and a b = +-(square) * (product of the primes of odd exponent)
    factors = [(int(p), int(e)) for p, e in fmpz(abs(numerator) * denominator).factor()]
    scale = fmpq(prod(p ** (e // 2) for p, e in factors), denominator)
    odd = [p for p, e in factors if e % 2 == 1]
    # the Gauss sum of p = 3 mod 4 is i sqrt(p): collect the powers of i before multiplying, to stay in a
    # small field
    quarter_turns = (numerator < 0) - sum(p % 4 == 3 for p in odd)
    root = make(*field.root_in_field(quarter_turns, 4)) * scale
    for p in odd:
        root = root * _gauss_sum(p)
    if root * root != fmpq(numerator, denominator):
        raise ArithmeticError(f"The square of {root} is not {numerator}/{denominator}.")
    half_plane = root.imag if numerator < 0 else root
    return root if half_plane.sign() > 0 else -root


@lru_cache(maxsize=256)
def _gauss_sum(p: int) -> Cyclotomic:
    """The number sqrt(2) for p = 2; sum_k (k/p) zeta_p^k, which is sqrt(p) or i sqrt(p), for an odd prime p."""
    if p == 2:
        return make(*field.root_in_field(1, 8)) + make(*field.root_in_field(-1, 8))
    phi = field.modulus(p)
    return make(p, fmpq_poly([0] + [fmpz(k).jacobi(p) for k in range(1, p)]) % phi)


def _squarefree_radicands(order: int) -> list[int]:
    """All squarefree m >= 1 with sqrt(m) in Q(zeta_order)."""
    primes = [p for p in field.prime_divisors(order) if p > 2 or order % 8 == 0]
    products = [prod(chosen) for size in range(len(primes) + 1) for chosen in combinations(primes, size)]
    return sorted(m for m in products if order % 4 == 0 or m % 4 == 1)


def as_radicals(x: Cyclotomic | RationalLike) -> dict[int, fmpq] | None:
    """A real x = sum_m q_m sqrt(m) over squarefree m, as {m: q_m} without zeros; None if there is no such form.

    The square roots of different m are orthogonal for (y, z) -> mean(y z), the mean of all Galois conjugates,
    so q_m = mean(x sqrt(m))/m; the candidate is compared with x exactly, which decides whether x has this form.

    Raises:
        ValueError: if x is not real, or not an exact number.
    """
    element = _element(x)
    if not element.is_real():
        raise ValueError(f"{x} is not real: decompose its real and imaginary parts, x.real and x.imag.")
    element = element.minimal()
    radicals: dict[int, fmpq] = {}
    rebuilt = make(1, fmpq_poly(0))
    for m in _squarefree_radicands(element.order):
        root = _sqrt(m, 1)
        product = element * root
        q = field.mean_conjugate(product.order, product.lifted(product.order).coeffs()) / m
        if q != 0:
            radicals[m] = q
            rebuilt = rebuilt + root * q
    return radicals if rebuilt == element else None


def radical_string(x: Cyclotomic | RationalLike) -> str:
    """The text of x, such as "-1/2 + 2/3*sqrt(5)".

    Raises:
        ValueError: if x is not a real sum of square roots (see `as_radicals`).
    """
    radicals = as_radicals(x)
    if radicals is None:
        raise ValueError(f"{x} is not a rational combination of square roots: print it, or use to_sympy(x).")
    text = ""
    for m, q in radicals.items():
        size = abs(q)
        term = str(size) if m == 1 else f"sqrt({m})" if size == 1 else f"{size}*sqrt({m})"
        joint = (" - " if q < 0 else " + ") if text else ("-" if q < 0 else "")
        text += joint + term
    return text or "0"


def to_sympy(x: Cyclotomic | RationalLike) -> sympy.Expr:
    """The SymPy expression of x: square roots if possible, else cosines and sines of rational multiples of pi.

    Raises:
        ValueError: if x is not an exact number.
    """
    import sympy  # slow to import

    element = _element(x)
    radicals = as_radicals(element) if element.is_real() else None
    if radicals is not None:
        return sympy.Add(*(sympy.Rational(str(q)) * sympy.sqrt(m) for m, q in radicals.items()))
    element = element.minimal()
    angle = 2 * sympy.pi / element.order
    terms = []
    for e, c in enumerate(element.coefficients):
        imaginary = 0 if element.is_real() else sympy.I * sympy.sin(e * angle)
        terms.append(sympy.Rational(c) * (sympy.cos(e * angle) + imaginary))
    return sympy.Add(*terms)


def _element(x: Cyclotomic | RationalLike) -> Cyclotomic:
    if isinstance(x, Cyclotomic):
        return x
    q = as_fmpq(x)
    if q is None:
        raise ValueError(f"{x!r} is not an exact number: give Cyclotomic, int, Fraction, fmpz or fmpq.")
    return make(1, fmpq_poly([q]))
