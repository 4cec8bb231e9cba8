"""A proof of degree 4 whose bound is exactly the margin of an integer network, where multipliers are simple fractions.

At an optimum every neuron (x, w) of the network is a zero of the form t|x|^4 - 2 sum_k z_k x'M_k x + t'|z|^2, at
z = M(x)/t': its vector of monomials lies in the kernel of P. So P = U S U' with rational U, a basis of the vectors
orthogonal to these kernel vectors, and S is fixed by the identity of polynomials up to some free entries. These are
rounded from the floats of the relaxation, the others follow by exact linear algebra. t' is any fraction, t is what
makes t t' = 27/4 gamma^2. Whether P is positive semidefinite is for the kernel to say.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm, sqrt

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from lemmata.certificates.operations.exact_equations import solved_near
from lemmata.certificates.operations.forms import form_matrices, form_values, monomials, residual
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import Relaxation
from lemmata.certificates.operations.rounding import RoundedBound, RoundedProof, expected_coefficients, proof_order
from lemmata.numerics.operations.operation import Operation

__all__ = ["bound_at", "exact_bound"]

SIMPLE = 64
"""The largest denominator of a multiplier times the number of triples."""
LARGEST_ORDER = 64
"""Of the matrix: the exact elimination of the kernel has a limit of work."""
FREE_BITS = 12
"""Of the free entries of S."""


def exact_bound(table: Operation, network: OperationNetwork, relaxation: Relaxation) -> RoundedBound | None:
    """The proof that the margin of an exact network is the largest one, or None where this way does not lead to one.

    Args:
        table: the table.
        network: exact, with margins c sqrt(r) of one r.
        relaxation: of degree 4, at its optimum.

    Raises:
        ValueError: for a network in floats or a table of another shape.
    """
    square = _margin_square(table, network)
    simple = [Fraction(q * len(table.triples)).limit_denominator(SIMPLE) for q in relaxation.q.tolist()]
    unit = lcm(*(q.denominator for q in simple))
    if square is None or min(simple) < 0 or not any(simple):
        return None
    points = np.concatenate([network.u, network.v], axis=1)
    return bound_at(table, tuple(int(q * unit) for q in simple), square, points, relaxation)


def bound_at(
    table: Operation,
    multipliers: tuple[int, ...],
    square: Fraction,
    points: NDArray,
    relaxation: Relaxation,
    *,
    points_root: NDArray | None = None,
    root: int = 1,
) -> RoundedBound | None:
    """The proof by these multipliers that the square of the margin is at most ``square``, or None where there is none.

    Args:
        table: the table.
        multipliers: integers, one for each triple, none negative, not all zero.
        square: of the margin.
        points: x of the neurons of a network of that margin, shape (m, N), integers.
        relaxation: of degree 4, at its optimum.
        points_root: x is the point and this one times the square root of ``root``; by default 0.
        root: a positive integer.
    """
    order = proof_order(table.size, table.label_count, 4)
    if relaxation.kind != 4 or order > LARGEST_ORDER:
        return None
    total = sum(multipliers)
    product = Fraction(27, 4) * square
    t_prime = Fraction(sqrt(product)).limit_denominator(12)
    if t_prime == 0:
        return None
    t = product / t_prime
    tensor = residual(table, np.array(multipliers, object))
    beside = np.zeros_like(points) if points_root is None else points_root
    U = _complement(table, points, beside, root, tensor, total * t_prime)
    ratio = sqrt(t / t_prime)  # of the floats, where t = t'
    scales = np.repeat([sqrt(ratio), 1 / sqrt(ratio)], [order - table.label_count, table.label_count])
    P = _on_identity(U, relaxation.matrix * np.outer(scales, scales), _required(table, tensor, total, t, t_prime))
    if P is None:
        return None
    denominator = lcm(total, *(entry.denominator for entry in P.flat))
    whole = [[int(entry * denominator) for entry in row] for row in P]
    if max(denominator, *(abs(entry) for row in whole for entry in row)) >= 2**63:
        return None
    proof = RoundedProof("degree 4", t, t_prime, denominator, np.array(whole, np.int64), 0.0)
    return RoundedBound(multipliers, proof)


def _margin_square(table: Operation, network: OperationNetwork) -> Fraction | None:
    """The square of the least margin if all margins are rationals times one root, else None."""
    margins = network.exact_margins(table)
    roots = {root for margin in margins for root in margin}
    if len(roots) != 1:
        return None
    (root,) = roots
    least = min(margin.get(root, Fraction(0)) for margin in margins)
    return least * least * root if least > 0 else None


def _complement(
    table: Operation, points: NDArray, beside: NDArray, root: int, tensor: NDArray, scale: Fraction
) -> NDArray:
    """Integer columns that span the rational vectors orthogonal to the monomials of all neurons, shape (n, r).

    A neuron is x = x_0 + x_1 sqrt(root) with z = M(x)/t'; both parts of its vector of monomials are rational.
    """
    matrices = form_matrices(tensor)
    pairs = monomials(table.size, 2)
    rows = []
    for x, y in zip(points, beside, strict=True):
        mixed = [np.dot(x, matrix @ y) for matrix in matrices]
        one = [Fraction(int(x[i] * x[j] + root * y[i] * y[j])) for i, j in pairs]
        other = [Fraction(int(x[i] * y[j] + x[j] * y[i])) for i, j in pairs]
        one += [(a + root * b) / scale for a, b in zip(form_values(matrices, x), form_values(matrices, y), strict=True)]
        other += [2 * Fraction(int(value)) / scale for value in mixed]
        for row in (one, other) if any(y) else (one,):
            common = lcm(*(entry.denominator for entry in row))
            rows.append([int(entry * common) for entry in row])
    null, count = fmpz_mat(rows).nullspace()
    columns = np.array([[int(null[i, j]) for j in range(count)] for i in range(null.nrows())], object)
    return columns // np.gcd.reduce(columns, axis=0)


def _required(table: Operation, tensor: NDArray, total: int, t: Fraction, t_prime: Fraction) -> dict:
    """The coefficients of the identity, as fractions."""
    scaled = expected_coefficients(tensor, 0, 0, 0)
    result = {m: Fraction(coefficient, total) for m, coefficient in scaled.items()}
    for i, j in monomials(table.size, 2):
        result[i, i, j, j] = t * (1 if i == j else 2)
    for k in range(table.size, table.size + table.label_count):
        result[k, k] = t_prime
    return result


def _on_identity(U: NDArray, P: NDArray[np.float64], required: dict) -> NDArray | None:
    """U S U' near P that satisfies the identity exactly, as fractions; None where there is none."""
    n, r = U.shape
    inverse = np.linalg.pinv(U.astype(float))
    near = inverse @ P @ inverse.T
    pairs = [(a, b) for a in range(r) for b in range(a, r)]
    size = max(m[-1] for m in required) + 1
    labels = sum(len(m) == 2 for m in required)
    vector = [*monomials(size - labels, 2), *((k,) for k in range(size - labels, size))]
    number: dict[tuple[int, ...], int] = {}
    rows: dict[int, dict[int, int]] = {}
    products = [
        (number.setdefault(tuple(sorted(vector[i] + vector[j])), len(number)), i, j, 1 if i == j else 2)
        for i in range(n)
        for j in range(i + 1)
    ]
    for key, i, j, count in products:
        row = rows.setdefault(key, {})
        left, right = U[i], U[j]
        for column, (a, b) in enumerate(pairs):
            value = left[a] * right[b] + (left[b] * right[a] if a != b else 0)
            if value:
                row[column] = row.get(column, 0) + count * value
    common = lcm(*(value.denominator for value in required.values()))
    system = [
        [*(row.get(column, 0) for column in range(len(pairs))), int(required.get(m, Fraction(0)) * common)]
        for m, row in ((m, rows[key]) for m, key in number.items())
    ]
    solved = solved_near(system, [Fraction(round(near[a, b] * 2**FREE_BITS), 2**FREE_BITS) * common for a, b in pairs])
    if solved is None:
        return None
    S = np.zeros((r, r), object)
    for (a, b), value in zip(pairs, solved, strict=True):
        S[a, b] = S[b, a] = value / common
    return U @ S @ U.T + Fraction(0)
