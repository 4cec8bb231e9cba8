"""Upper bounds of the margin of an operation of three arguments by sums of squares.

For multipliers q on the tests of a table the mean of the differences of outputs is sum_k w_k T_k(x) with cubic forms
T_k, x = (u, v, s). The program finds the least t, over all q at once, for which

    |x|^(2r) (t |x|^4 - 2 sum_k z_k T_k(x) + t |x|^2 |z|^2),    r = 0 or 1: degree 4 + 2r,

is a sum of squares of combinations of the monomials of degree 2 + r in x, and of degree 1 + r times z_k; then |T(x)| <=
t |x|^3 and no margin is above `TERNARY_FACTOR` t. All x are in the span of `ternary_kernel.basis`, which is enough
(TERNARY_FORMAT.md). Since sum_k T_k = 0, z has C - 1 orthonormal coordinates here; t times |z|^2 of the last one is
added afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import null_space

from lemmata.certificates import ternary_kernel
from lemmata.certificates.operations.forms import monomials, multinomials
from lemmata.certificates.operations.programs import OperationProgramError
from lemmata.certificates.operations.programs_cones import solve_cones
from lemmata.certificates.operations.programs_form import ConeData, block_rows
from lemmata.certificates.operations.rounding import GramIdentity, least_shift, rounded_multipliers
from lemmata.numerics.operations.ternary import TernaryOperation
from lemmata.numerics.runs.threads import one_thread

__all__ = ["TERNARY_FACTOR", "TernaryBound", "TernaryRelaxation", "relaxed_ternary", "rounded_ternary"]

Floats = NDArray[np.float64]

TERNARY_FACTOR = 3 * sqrt(3) / 16
"""max r^3 s over r^2 + s^2 = 1: what the best split of the norm of a neuron between x and w leaves."""
ACCURACY, LIMIT = 1e-11, 80
"""Of the interior point method, and of its iterations."""
MAX_ORDER = 150
"""Of the Gram matrix: a step costs up to the sixth power of it."""


@dataclass(frozen=True, eq=False)
class TernaryRelaxation:
    """Multipliers and a matrix that prove an upper bound, up to the rounding of floating point.

    Attributes:
        q: the multipliers of the tests, at least 0, of sum 1, shape (T,).
        degree: 4 or 6.
        t: of the program; the bound is `TERNARY_FACTOR` t.
        matrix: the Gram matrix in the monomials of `ternary_kernel.monomials`.
    """

    q: Floats
    degree: int
    t: float
    matrix: Floats

    @property
    def bound(self) -> float:
        """The margin of every network of norm 1 is at most this."""
        return TERNARY_FACTOR * self.t


@dataclass(frozen=True, eq=False)
class TernaryBound:
    """A proof in integers (TERNARY_FORMAT.md) that no margin is above the root of `square`.

    Attributes:
        multipliers: nonnegative integers, one for each test.
        degree: 4 or 6.
        t, t_prime: fractions.
        denominator: of the entries of the matrix.
        matrix: symmetric, of integers.
    """

    multipliers: tuple[int, ...]
    degree: int
    t: Fraction
    t_prime: Fraction
    denominator: int
    matrix: NDArray

    @property
    def square(self) -> Fraction:
        """27/256 t t'."""
        return ternary_kernel.SPLIT * self.t * self.t_prime


@one_thread()
def relaxed_ternary(table: TernaryOperation, degree: int = 4) -> TernaryRelaxation:
    """The least bound of the maximum margin of a table that a sum of squares of a degree proves.

    Raises:
        ValueError: for a degree other than 4 and 6, and a table whose program is beyond `MAX_ORDER`.
        OperationProgramError: when the solver gives no bound.
    """
    if degree not in (4, 6):
        raise ValueError(f"A proof for three arguments has the degree 4 or 6, not {degree}.")
    r = (degree - 4) // 2
    n, c = table.size - 2, table.labels - 1
    listed = _monomials(n, c, r)
    order = len(listed)
    if order > MAX_ORDER:
        raise ValueError(
            f"The program of degree {degree} of this table has the order {order}; at most {MAX_ORDER} is accepted. It "
            f"grows with the number of elements, {table.size} in all, and of labels, {table.labels}."
        )
    vectors = np.array(ternary_kernel.basis(table.values.shape), float)
    lengths = np.linalg.norm(vectors, axis=1)
    ones = np.full((1, table.labels), table.labels**-0.5)
    apart = np.concatenate([null_space(ones).T, ones])
    number: dict[tuple[int, ...], int] = {}
    moment_of = np.array([[number.setdefault(tuple(sorted(a + b)), len(number)) for b in listed] for a in listed])
    moments = list(number)
    scale = _scale(n, c, r)
    norm = np.bincount(np.diag(moment_of), weights=scale**2, minlength=len(moments)).astype(float)
    columns = _columns(table, vectors / lengths.reshape(-1, 1), apart[:c], number, r)
    tests = len(table.tests[1])
    data = ConeData(
        norm,
        np.zeros(len(moments)),
        columns,
        np.zeros(tests),
        np.zeros(tests, np.int64),
        _gaussian(moments, norm, n),
        ((order, block_rows(moment_of, scale, len(moments))),),
    )
    solution = solve_cones(data, "interior", accuracy=ACCURACY, limit=LIMIT)
    q, gram = np.maximum(solution.multipliers, 0), solution.grams[0]
    if not np.isfinite(gram).all() or not np.isfinite(q).all() or not q.any():
        raise OperationProgramError(f"The interior point method gave no bound: {solution.status}.")
    q /= q.sum()
    found = np.bincount(moment_of.ravel(), weights=(np.outer(scale, scale) * gram).ravel(), minlength=len(moments))
    t = float(norm @ (found - columns @ q) / (norm @ norm))
    return TernaryRelaxation(q, degree, t, _whole(gram, t, lengths, apart, r))


def rounded_ternary(table: TernaryOperation, relaxation: TernaryRelaxation) -> TernaryBound:
    """The proof in integers that a relaxation leads to: a little is added to t such that the kernel accepts it.

    Raises:
        ValueError: for a relaxation so far from a proof that no t serves.
    """
    multipliers = rounded_multipliers(relaxation.q)
    unit, r = sum(multipliers), (relaxation.degree - 4) // 2
    given = ternary_kernel.Table(table.document())
    forms = [
        {m: coefficient * unit for m, coefficient in form.items()}
        for form in ternary_kernel.cubic_forms(given, list(multipliers))
    ]
    start = round(relaxation.t * unit)
    expected = ternary_kernel.target(given, forms, unit, Fraction(start), Fraction(start), r)
    vector = ternary_kernel.monomials(given, r)
    symmetric = (relaxation.matrix + relaxation.matrix.T) / 2
    P = GramIdentity.of(vector).gram({m: int(coefficient) for m, coefficient in expected.items()}, symmetric * unit)
    lengths = [sum(x * x for x in e) for e in ternary_kernel.basis(table.values.shape)]
    n, weights = len(lengths), []
    for m in vector:
        pure = tuple(i for i in m if i < n)
        times = ternary_kernel.multinomial(pure)
        weights.append(times * prod(lengths[i] for i in pure))
    slack = least_shift(P, np.array(weights))
    if start + slack <= 0:
        raise ValueError("The matrix leads to no proof: t must be positive.")
    t = Fraction(start + slack, unit)
    return TernaryBound(multipliers, relaxation.degree, t, t, unit, P + slack * np.diag(np.array(weights)))


def _monomials(n: int, labels: int, r: int) -> list[tuple[int, ...]]:
    return [*monomials(n, 2 + r), *((*m, n + k) for m in monomials(n, 1 + r) for k in range(labels))]


def _scale(n: int, labels: int, r: int) -> Floats:
    """The square roots of the coefficients of the squares of the monomials in |x|^(2r) (|x|^4 + |x|^2 |z|^2)."""
    beside = np.repeat(multinomials(monomials(n, 1 + r)), labels)
    return np.sqrt(np.concatenate([multinomials(monomials(n, 2 + r)), beside]).astype(float))


def _columns(
    table: TernaryOperation, unit: Floats, apart: Floats, number: dict[tuple[int, ...], int], r: int
) -> sparse.csr_array:
    """The coefficients of -2 |x|^(2r) (u_a + v_b + s_c)^3 (z_y - z_k) for each test, shape (moments, T)."""
    cells, own, other = table.tests
    n = len(unit)
    forms = unit[:, cells].sum(axis=2)  # (n, T): the linear form of each cell
    signs = apart[:, own] - apart[:, other]
    result = np.zeros((len(number), len(own)))
    cubic = monomials(n, 3)
    for m, times in zip(cubic, multinomials(cubic), strict=True):
        value = -2.0 * times * forms[list(m)].prod(axis=0)
        for factor in [(i, i) for i in range(n)] if r else [()]:
            for k, sign in enumerate(signs):
                result[number[tuple(sorted((*m, *factor, n + k)))]] += value * sign
    return sparse.csr_array(result)


def _gaussian(moments: list[tuple[int, ...]], norm: Floats, n: int) -> Floats:
    """The moments of independent Gaussian variables, scaled so that their pairing with the norm is 1.

    Those of z have the variance that makes both parts of the norm weigh the same.
    """
    of_power = {0: 1.0, 1: 0.0, 2: 1.0, 3: 0.0, 4: 3.0, 5: 0.0, 6: 15.0}
    values = np.array([prod(of_power[m.count(i)] for i in set(m)) for m in moments])
    mixed = np.array([m[-1] >= n for m in moments])
    values[mixed] *= (norm * values)[~mixed].sum() / (norm * values)[mixed].sum()
    return values / (norm @ values)


def _whole(gram: Floats, t: float, lengths: Floats, apart: Floats, r: int) -> Floats:
    """The Gram matrix in the integer basis and in all z, from that of the program: t for the last coordinate of z."""
    n, C = len(lengths), len(apart)
    listed = _monomials(n, C, r)
    turned = t * np.diag(_scale(n, C, r) ** 2)
    kept = np.array([m[-1] < n + C - 1 for m in listed])
    scale = _scale(n, C - 1, r)
    turned[np.ix_(kept, kept)] = np.outer(scale, scale) * gram
    count = len(monomials(n, 2 + r))
    turn = np.eye(len(listed))
    turn[count:, count:] = np.kron(np.eye(len(monomials(n, 1 + r))), apart)
    stretch = np.array([prod(lengths[i] for i in m if i < n) for m in listed])
    return stretch[:, None] * (turn.T @ turned @ turn) * stretch
