"""Matrix products over cyclotomic fields through one product of big-integer matrices."""

from math import lcm

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_mat, fmpz_poly

from lemmata.numerics.exact.cyclotomic import field
from lemmata.numerics.exact.cyclotomic.element import EXACT, Cyclotomic, common_order, make
from lemmata.numerics.exact.rationals import as_fmpq

_ZERO = fmpq(0)
_SPARSE = 16
"""A product and a sum of two numbers take about sixteen times as long alone as in a product of matrices."""


def exact_matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A @ B for matrices of exact numbers, much faster than NumPy's object product.

    Each row of A and each column of B is cleared of denominators. The entries, integer polynomials in zeta_N
    of degree below d = phi(N), are evaluated at 2^b (Kronecker substitution), and FLINT multiplies the
    integer matrices. An entry of the product, before reduction modulo Phi_N, has coefficients of absolute
    value at most q d max|A| max|B| < 2^{b-1}, so that its digits in base 2^b, taken in [-2^{b-1}, 2^{b-1}),
    are the coefficients.

    Args:
        A: (p, q) of ints, fmpz, fmpq, Fractions, Cyclotomic (object array), or of a NumPy integer type.
        B: (q, r), likewise.

    Returns:
        (p, r) object array: Cyclotomic if either factor contains one, else fmpq.

    Raises:
        ValueError: if the shapes do not fit, or an entry is not an exact number.
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"Shapes {A.shape} and {B.shape} do not fit: give a (p, q) and a (q, r) matrix.")
    (p, q), r = A.shape, B.shape[1]
    left, right = _entries(A, "A"), _entries(B, "B")
    orders = {x.order for x in (*left, *right) if isinstance(x, Cyclotomic)}
    if not orders:
        return _rational_product(left, right, (p, q, r))
    order = common_order(*sorted(orders))
    d = field.modulus(order).degree()
    rows, row_denominators = _integer_polynomials([left[i * q : (i + 1) * q] for i in range(p)], order)
    columns, column_denominators = _integer_polynomials([right[j::r] for j in range(r)], order)
    bound = q * d * _height(rows) * _height(columns)
    bits = bound.bit_length() + 1
    base = fmpz(1) << bits
    packed_A = fmpz_mat(p, q, [x(base) for row in rows for x in row])
    packed_Bt = fmpz_mat(r, q, [x(base) for column in columns for x in column])
    product = (packed_A * packed_Bt.transpose()).entries()
    unpack = _Unpacker(bits, 2 * d - 1)
    phi = field.modulus(order)
    result = np.empty((p, r), dtype=object)
    for i in range(p):
        for j in range(r):
            denominator = row_denominators[i] * column_denominators[j]
            result[i, j] = make(order, fmpq_poly(unpack(int(product[i * r + j])), denominator) % phi)
    return result


class _Unpacker:
    """A reader of the `count` digits of an integer in base 2^bits, taken in [-2^{bits-1}, 2^{bits-1})."""

    def __init__(self, bits: int, count: int) -> None:
        half = 1 << (bits - 1)
        self.half, self.mask, self.shifts = half, 2 * half - 1, [bits * e for e in range(count)]
        self.offset = sum(half << shift for shift in self.shifts)

    def __call__(self, packed: int) -> list[int]:
        raised = packed + self.offset  # every digit raised by 2^{bits-1}: now all digits are non-negative
        return [((raised >> shift) & self.mask) - self.half for shift in self.shifts]


def _entries(M: np.ndarray, name: str) -> list[Cyclotomic | fmpq]:
    given = M.ravel().tolist()
    if EXACT.issuperset(map(type, given)):
        return given
    entries: list[Cyclotomic | fmpq] = []
    for index, x in enumerate(given):
        exact = x if isinstance(x, Cyclotomic | fmpq) else as_fmpq(x)
        if exact is None:
            i, j = divmod(index, M.shape[1])
            raise ValueError(
                f"Entry [{i}, {j}] of {name} is {x!r} of type {type(x).__name__}, no exact number: "
                "give int, Fraction, flint.fmpz, flint.fmpq or Cyclotomic."
            )
        entries.append(exact)
    return entries


def _rational_product(left: list, right: list, shape: tuple[int, int, int]) -> np.ndarray:
    """The product by FLINT, or, where most entries on the right are 0, as in weights, of the others alone."""
    p, q, r = shape
    rows = {k: row for k in range(q) if (row := [(j, x) for j, x in enumerate(right[k * r : (k + 1) * r]) if x])}
    result = np.empty(p * r, dtype=object)
    if _SPARSE * sum(map(len, rows.values())) > q * r:
        result[:] = (fmpq_mat(p, q, left) * fmpq_mat(q, r, right)).entries()
        return result.reshape(p, r)
    entries: list[fmpq] = []
    for i in range(p):
        sums = [_ZERO] * r
        for k, row in rows.items():
            if x := left[i * q + k]:
                for j, y in row:
                    sums[j] += x * y
        entries += sums
    result[:] = entries
    return result.reshape(p, r)


def _integer_polynomials(vectors: list, order: int) -> tuple[list[list[fmpz_poly]], list[int]]:
    """Each vector lifted to one order and multiplied by its common denominator; and these denominators."""
    polynomials, denominators = [], []
    for vector in vectors:
        lifted = [x.lifted(order) if isinstance(x, Cyclotomic) else fmpq_poly([x]) for x in vector]
        denominator = lcm(*(int(x.denom()) for x in lifted))
        denominators.append(denominator)
        polynomials.append([x.numer() * (denominator // int(x.denom())) for x in lifted])
    return polynomials, denominators


def _height(vectors: list[list[fmpz_poly]]) -> int:
    """An upper bound of all absolute values of coefficients: the next power of two."""
    return 1 << max((abs(x.height_bits()) for vector in vectors for x in vector), default=0)
