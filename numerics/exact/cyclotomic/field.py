"""Polynomials modulo cyclotomic polynomials: the machine room of `lemmata.numerics.exact.cyclotomic.numbers`.

An element of Q(zeta_N), zeta_N = e^{2 pi i/N}, is a polynomial in zeta_N of degree below phi(N). Orders
N = 2 mod 4 never occur: Q(zeta_2m) = Q(zeta_m) for odd m, because zeta_2m = -zeta_m^{(m+1)/2}; such an order
is replaced by m.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from math import gcd

from flint import acb, arb, fmpq, fmpq_poly, fmpz, fmpz_poly

from lemmata.numerics.exact.precision import precision

# Phi_N has up to N coefficients and every product is reduced by it: beyond this order the arithmetic stalls.
MAXIMUM_ORDER = 20_000
"""The largest order of a field that is supported."""


class FieldError(ValueError):
    """A number lies in no cyclotomic field of supported order."""


@cache
def modulus(order: int) -> fmpq_poly:
    """The cyclotomic polynomial Phi_order.

    Raises:
        FieldError: if the order is not between 1 and MAXIMUM_ORDER.
    """
    if not 1 <= order <= MAXIMUM_ORDER:
        raise FieldError(
            f"The cyclotomic field of order {order} is out of reach: orders from 1 to {MAXIMUM_ORDER} are supported."
        )
    return fmpq_poly(fmpz_poly.cyclotomic(order))


@cache
def prime_divisors(n: int) -> tuple[int, ...]:
    """The distinct primes that divide n >= 1, ascending."""
    return tuple(int(p) for p, _ in fmpz(n).factor())


@lru_cache(maxsize=65536)
def root_in_field(exponent: int, n: int) -> tuple[int, fmpq_poly]:
    """The order and the polynomial of e^{2 pi i exponent/n}, in the smallest field that contains it."""
    common = gcd(exponent, n)
    exponent, n = exponent // common % (n // common), n // common
    sign, modulus_of_n = 1, modulus(n if n % 4 != 2 else n // 2)
    if n % 4 == 2:  # then the exponent is odd: e^{2 pi i a/(2m)} = -e^{2 pi i (a+m)/(2m)}, and a + m is even
        n //= 2
        exponent, sign = (exponent + n) // 2 % n, -1
    return n, fmpq_poly([0] * exponent + [sign]) % modulus_of_n


def spread(polynomial: fmpq_poly, step: int, order: int) -> fmpq_poly:
    """The sum of c_e zeta_order^(e step), reduced, for the coefficients c_e of `polynomial`.

    With step = M/N it lifts from Q(zeta_N) to Q(zeta_M); with gcd(step, order) = 1 it is an automorphism of
    Q(zeta_order).
    """
    numerators = [fmpz(0)] * order
    for exponent, c in enumerate(polynomial.numer().coeffs()):
        numerators[exponent * step % order] += c
    return fmpq_poly(numerators, polynomial.denom()) % modulus(order)


def _descend(order: int, polynomial: fmpq_poly, p: int) -> tuple[int, fmpq_poly] | None:
    """The same element with one factor p less in the order, or None if it does not lie in that field."""
    coefficients = polynomial.coeffs()
    if order % (p * p) == 0:
        # Phi_N(x) = Phi_{N/p}(x^p): 1, zeta, ..., zeta^{p-1} is a basis over Q(zeta_{N/p}), so the element
        # lies in the smaller field exactly if only exponents divisible by p occur.
        if any(c != 0 for e, c in enumerate(coefficients) if e % p):
            return None
        smaller, kept = order // p, fmpq_poly(coefficients[::p])
        if smaller % 4 != 2:
            return smaller, kept
        m = smaller // 2  # zeta_2m = -zeta_m^{(m+1)/2}
        return m, spread(fmpq_poly([-c if e % 2 else c for e, c in enumerate(kept.coeffs())]), (m + 1) // 2, m)
    # N = p M with p not dividing M: zeta_N^e = zeta_p^a zeta_M^b with a = e/M mod p and b = e/p mod M. The
    # only linear relation of 1, zeta_p, ..., zeta_p^{p-1} over Q(zeta_M) is that their sum vanishes, so sum_a
    # x_a zeta_p^a lies in Q(zeta_M) exactly if x_1 = ... = x_{p-1}, and then it equals x_0 - x_1.
    M = order // p
    to_a, to_b = pow(M, -1, p), pow(p, -1, M)
    parts = [[fmpq(0)] * M for _ in range(p)]
    for e, c in enumerate(coefficients):
        parts[e * to_a % p][e * to_b % M] += c
    x = [fmpq_poly(part) % modulus(M) for part in parts]
    return (M, x[0] - x[1]) if all(part == x[1] for part in x[2:]) else None


def minimal_form(order: int, polynomial: fmpq_poly) -> tuple[int, fmpq_poly]:
    """The element written in the smallest cyclotomic field that contains it; the order is then its conductor.

    Greedy descent finds it, because the intersection of Q(zeta_a) and Q(zeta_b) is Q(zeta_gcd(a, b)).
    """
    for p in prime_divisors(order):
        while order % p == 0:
            smaller = _descend(order, polynomial, p)
            if smaller is None:
                break
            order, polynomial = smaller
    return order, polynomial


@lru_cache(maxsize=256)
def _root_ball(order: int, bits: int) -> acb:
    with precision(bits):
        sine, cosine = arb.sin_cos_pi_fmpq(fmpq(2, order))
        return acb(cosine, sine)


def evaluate(order: int, polynomial: fmpq_poly, bits: int) -> acb:
    """A ball that contains the complex number, computed with `bits` bits."""
    with precision(bits):
        if polynomial.degree() <= 0:
            return acb(polynomial[0])
        return polynomial.numer()(_root_ball(order, bits)) / polynomial.denom()


@cache
def trace_of_power(exponent: int, order: int) -> fmpq:
    """The average of zeta_order^exponent over all automorphisms: mu(d)/phi(d), d the order of that power."""
    d = order // gcd(exponent, order)
    return fmpq(fmpz(d).moebius_mu(), fmpz(d).euler_phi())


def mean_conjugate(order: int, coefficients: Iterable[fmpq]) -> fmpq:
    """The average of all Galois conjugates (the trace divided by the degree), a rational number."""
    return sum((c * trace_of_power(e, order) for e, c in enumerate(coefficients)), fmpq(0))
