"""Exact arithmetic in cyclotomic fields: roots of unity, cosines, and all square roots of rationals.

    >>> cosine(1, 5), sqrt_rational(5)
    >>> as_radicals(cosine(1, 5))          # {1: -1/4, 5: 1/4}
    >>> cosine(1, 5) == (sqrt_rational(5) - 1) / 4
    True

Values are `Cyclotomic` elements, polynomials modulo a cyclotomic polynomial in python-flint. Zero tests and
equality are exact; signs of real elements are decided by ball arithmetic after an exact zero test. Elements
work in NumPy object arrays under +, -, *, /, integer powers, comparisons, `@` and `np.sum`; `exact_matmul` is
the fast matrix product.
"""

from numbers import Integral

from flint import fmpq_poly

from lemmata.numerics.exact.cyclotomic import field
from lemmata.numerics.exact.cyclotomic.element import Cyclotomic, make
from lemmata.numerics.exact.cyclotomic.field import FieldError
from lemmata.numerics.exact.cyclotomic.products import exact_matmul
from lemmata.numerics.exact.cyclotomic.radicals import as_radicals, radical_string, sqrt_rational, to_sympy
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq

__all__ = [
    "Cyclotomic",
    "FieldError",
    "as_radicals",
    "cosine",
    "exact_matmul",
    "radical_string",
    "rational",
    "root_of_unity",
    "sine",
    "sqrt_rational",
    "to_sympy",
]


def _validated(a: int, n: int) -> tuple[int, int]:
    if not isinstance(a, Integral) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"a = {a!r} and n = {n!r} do not define an angle 2 pi a/n: give integers with n >= 1.")
    return int(a), int(n)


def rational(q: RationalLike) -> Cyclotomic:
    """The rational number q as a Cyclotomic of order 1.

    Raises:
        ValueError: if q is not an int, Fraction, fmpz or fmpq.
    """
    value = as_fmpq(q)
    if value is None:
        raise ValueError(f"The number {q!r} is not rational: give int, Fraction, flint.fmpz or flint.fmpq.")
    return make(1, fmpq_poly([value]))


def root_of_unity(a: int, n: int) -> Cyclotomic:
    """The root of unity e^{2 pi i a/n}.

    Raises:
        ValueError: if a or n is not an integer, n < 1, or the field is too large.
    """
    return make(*field.root_in_field(*_validated(a, n)))


def cosine(a: int, n: int) -> Cyclotomic:
    """The cosine cos(2 pi a/n).

    Raises:
        ValueError: as `root_of_unity`.
    """
    a, n = _validated(a, n)
    return (root_of_unity(a, n) + root_of_unity(-a, n)) / 2


def sine(a: int, n: int) -> Cyclotomic:
    """The sine sin(2 pi a/n), an element of order dividing lcm(n, 4).

    Raises:
        ValueError: as `root_of_unity`.
    """
    a, n = _validated(a, n)
    return cosine(4 * a - n, 4 * n)  # sin t = cos(t - pi/2)
