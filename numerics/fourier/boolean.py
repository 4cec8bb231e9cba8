"""Exact Fourier spectra of symmetric Boolean functions: majority, the indicator of a vanishing sum, and any other.

Convention of `lemmata.numerics.fourier.walsh`: hat f(T) = E[f(x) chi_T(x)] over uniform x in {-1, 1}^n, chi_T(x) =
prod_{i in T} x_i.

For a symmetric f the coefficient depends on |T| alone. For majority, Maj_n(x) = sign(sum x) with n odd, and
Half_n(x) = 1{sum x = 0} with n even, there is a closed form. A coordinate i of T is integrated out first: the half
difference of Maj_n in x_i is Half_{n-1} of the others, so that hat Maj_n(k) = hat Half_{n-1}(k-1) for odd k (and 0 for
even k, because Maj_n is odd). With n = 2m,

    hat Half_n(2j) = (-1)^j C(m, j)/C(2m, 2j) C(2m, m)/4^m,    hat Half_n(2j+2)/hat Half_n(2j) = -(2j+1)/(2m-2j-1).

For even n the sum can vanish. With sign(0) = 0 the sign of a sum of n signs is the mean over i of the sign of the sum
without x_i (where the sum is 0 these cancel), so that its coefficient of odd degree t is (n-t)/n hat Maj_(n-1)(t), and
1{sum x > 0} = (1 + sign(sum x) - Half_n)/2.

Source: O'Donnell, Analysis of Boolean Functions, section 5.3; pareto-frontiers, lemma-C.12.
"""

from collections.abc import Iterable, Sequence
from math import comb
from typing import Any

from flint import arb, fmpq, fmpz_poly

from lemmata.numerics.exact.numbers import exact_number

__all__ = [
    "half_coefficient",
    "half_spectrum",
    "majority_coefficient",
    "majority_limit",
    "majority_spectrum",
    "majority_weight",
    "majority_weight_limit",
    "symmetric_spectrum",
    "threshold_coefficient",
]


def _check_degree(n: int, degree: int) -> None:
    if not 0 <= degree <= n:
        raise ValueError(f"A function of {n} inputs has coefficients of degree 0 to {n}, not of degree {degree}.")


def _check_half(n: int) -> None:
    if n < 0 or n % 2:
        raise ValueError(f"Half_n = 1{{sum x = 0}} vanishes unless n is even: give an even n >= 0, not {n}.")


def check_majority(n: int) -> None:
    """Refuse an even number of inputs, for which majority is not defined.

    Raises:
        ValueError: unless n is odd and positive.
    """
    if n < 1 or n % 2 == 0:
        raise ValueError(
            f"Majority needs an odd number of inputs, not {n}: for an even number the sum can be 0 and has no sign."
        )


def half_coefficient(n: int, degree: int) -> fmpq:
    """The coefficient E[1{sum x = 0} chi_T(x)] for |T| = degree, exactly.

    Args:
        n: number of inputs, even.
        degree: |T|, from 0 to n; the coefficient is 0 for odd degrees.

    Raises:
        ValueError: if n is odd or negative, or the degree is not in 0..n.
    """
    _check_half(n)
    _check_degree(n, degree)
    if degree % 2:
        return fmpq(0)
    m, j = n // 2, degree // 2
    return fmpq((-1) ** j * comb(m, j) * comb(n, m), comb(n, degree) * 2**n)


def majority_coefficient(n: int, degree: int) -> fmpq:
    """The coefficient xi = E[sign(sum x) chi_T(x)] for |T| = degree, exactly.

    Args:
        n: number of inputs, odd.
        degree: |T|, from 0 to n; the coefficient is 0 for even degrees.

    Raises:
        ValueError: if n is even or negative, or the degree is not in 0..n.
    """
    check_majority(n)
    _check_degree(n, degree)
    return half_coefficient(n - 1, degree - 1) if degree % 2 else fmpq(0)


def threshold_coefficient(n: int, degree: int) -> fmpq:
    """The coefficient E[1{sum x > 0} chi_T(x)] for |T| = degree and n signs, n even or odd, exactly.

    Majority with sign(0) = -1 is 2 * 1{sum x > 0} - 1.

    Args:
        n: number of inputs, at least 0.
        degree: |T|, from 0 to n.

    Raises:
        ValueError: if n is negative, or the degree is not in 0..n.
    """
    if n < 0:
        raise ValueError(f"A threshold has n >= 0 inputs, not {n}.")
    _check_degree(n, degree)
    constant = fmpq(1 if degree == 0 else 0)
    if n % 2:
        return (constant + majority_coefficient(n, degree)) / 2
    sign = fmpq(n - degree, n) * majority_coefficient(n - 1, degree) if degree % 2 else fmpq(0)
    return (constant + sign - half_coefficient(n, degree)) / 2


def majority_limit(degree: int) -> arb:
    """An enclosure of sqrt(2/pi) (t-2)!!, the limit of n^(t/2) |hat Maj_n(t)| for odd n -> oo and odd t = degree.

    It is approached from above, so that |hat Maj_n(t)| > n^(-t/2) times it for all odd n >= t.

    Raises:
        ValueError: if the degree is even or negative (the coefficients of even degree vanish).
    """
    _check_odd_degree(degree)
    product = 1
    for factor in range(degree - 2, 0, -2):
        product *= factor
    return (2 / arb.pi()).sqrt() * product


def majority_weight_limit(degree: int) -> arb:
    """An enclosure of rho(t) = 2/(pi t 2^(t-1)) C(t-1, (t-1)/2), the limit of the weight of Maj_n at odd t = degree.

    The weight decreases to it in n (pareto-frontiers, lemma-C.3).

    Raises:
        ValueError: as `majority_limit`.
    """
    _check_odd_degree(degree)
    return 2 * comb(degree - 1, (degree - 1) // 2) / (arb.pi() * degree * 2 ** (degree - 1))


def _check_odd_degree(degree: int) -> None:
    if degree < 1 or degree % 2 == 0:
        raise ValueError(f"Majority has no coefficient of degree {degree}: give an odd degree of at least 1.")


def half_spectrum(n: int) -> list[fmpq]:
    """All coefficients of Half_n by degree 0..n, through the ratio of consecutive ones.

    Raises:
        ValueError: if n is odd or negative.
    """
    _check_half(n)
    spectrum = [fmpq(0)] * (n + 1)
    spectrum[0] = fmpq(comb(n, n // 2), 2**n)
    for degree in range(0, n, 2):
        spectrum[degree + 2] = spectrum[degree] * fmpq(-(degree + 1), n - degree - 1)
    return spectrum


def majority_spectrum(n: int) -> list[fmpq]:
    """All coefficients of Maj_n by degree 0..n; n in the thousands takes well under a second.

    Raises:
        ValueError: if n is even or negative.
    """
    check_majority(n)
    return [fmpq(0), *(x if degree % 2 == 0 else fmpq(0) for degree, x in enumerate(half_spectrum(n - 1)))]


def majority_weight(n: int, degree: int) -> fmpq:
    """The Fourier weight C(n, degree) xi^2 of Maj_n at one degree; the weights of all degrees sum to 1.

    Raises:
        ValueError: as `majority_coefficient`.
    """
    return comb(n, degree) * majority_coefficient(n, degree) ** 2


def symmetric_spectrum(values: Sequence[Any], degrees: Iterable[int] | None = None) -> list[fmpq]:
    """The coefficients of any symmetric function, by Krawtchouk sums (slower than a closed form).

    sum of chi_T over the inputs with m entries -1 is the coefficient of z^m in (1-z)^|T| (1+z)^(n-|T|).

    Args:
        values: (n+1,) the value at inputs with m = 0, ..., n entries -1: integers, Fractions, strings or fmpq.
        degrees: the wanted |T|, in 0..n; all if None.

    Returns:
        One coefficient per wanted degree.

    Raises:
        ValueError: if there are no values, one is not rational, or a degree is not in 0..n.
    """
    if len(values) == 0:
        raise ValueError("A symmetric function of n >= 0 inputs has n + 1 values, so give at least one.")
    table = []
    for m, value in enumerate(values):
        number = exact_number(value)
        if not isinstance(number, fmpq):
            raise ValueError(f"Value {m} is {value!r}: a rational number is needed.")
        table.append(number)
    n = len(table) - 1
    spectrum = []
    for degree in range(n + 1) if degrees is None else degrees:
        _check_degree(n, degree)
        counts = fmpz_poly([1, -1]) ** degree * fmpz_poly([1, 1]) ** (n - degree)
        spectrum.append(sum((f * counts[m] for m, f in enumerate(table) if f != 0), fmpq(0)) / 2**n)
    return spectrum
