"""Bounds of the margin of a Latin square that hold for all roles of its rows, columns and labels.

Multipliers q of the triples are *balanced* if their residual tensor R[a, b, k] of
`lemmata.certificates.operations.forms` has sum 0 along every line. Then the squares of u and v cancel, a neuron is paid
2 sum R[a, b, k] u_a v_b w_k, and R with its axes permuted is the tensor of balanced multipliers of the square with
other roles: one proof bounds the margins of all six (step 14 of proofs/latin-squares.md). With u, v and w of sum 0 the
program has 756 unknowns for order 7, where degree 4 has many thousands without symmetries: half a second instead of two
minutes. Of the squares of orders 5 and 6 in the atlas 16 lose nothing by it but rounding, 3 at most three thousandths.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lemmata.certificates.operations.columns import best_network, integer_network
from lemmata.certificates.operations.document import Document, line_of, margin_document
from lemmata.certificates.operations.forms import monomials, residual
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import OperationProgramError
from lemmata.certificates.operations.programs_form import ConeData, block_rows
from lemmata.certificates.operations.programs_interior import solve_interior
from lemmata.certificates.operations.rounding import RoundedBound, rounded_proof
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from lemmata.numerics.runs.threads import one_thread

__all__ = ["balanced_bound", "balanced_document", "is_balanced"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ACCURACY, STEPS = 1e-7, 60
BITS = 30
"""Of the common denominator of multipliers and matrix: about 10^-5 of the bound are lost, and documents are small."""
NEURON_BITS, MASS_BITS = 12, 24
ROUNDS, STARTS, CLOSE = 3, 192, 1e-3
"""Of the search for a network: to close the gap takes minutes without symmetries; many starts come near it soonest."""


def balanced_document(table: Operation, *, rounds: int = ROUNDS) -> Document:
    """The certificate of a Latin square with balanced multipliers, which the kernel has accepted.

    Args:
        table: the square.
        rounds: of the search for a network, at most.

    Raises:
        ValueError: for a table that is no Latin square of an order from 3 on, and a network without a positive margin.
        OperationProgramError: if the program was not solved.
    """
    bound = balanced_bound(table)
    symmetries = operation_symmetries(table)
    found = best_network(
        table,
        start_q=np.array(bound.multipliers, float),
        symmetries=symmetries,
        starts=STARTS,
        rounds=rounds,
        tolerance=CLOSE,
    )
    network = integer_network(found, bits=NEURON_BITS)
    masses = np.array([Fraction(mass // 2 ** (60 - MASS_BITS)) for mass in network.masses], object)
    kept = masses > 0
    parts = (part[kept] for part in (network.u, network.v, network.w, masses))
    document = margin_document(table, OperationNetwork(*parts), bound)
    line_of(document)
    return document


def is_balanced(table: Operation, multipliers: Integers) -> bool:
    """Whether the residual tensor of integers, one for each of `table.triples`, has sum 0 along every line."""
    tensor = residual(table, multipliers)
    return not any(tensor.sum(axis=axis).any() for axis in range(3))


def balanced_bound(table: Operation) -> RoundedBound:
    """The proof in integers of the least bound that balanced multipliers and sums of squares of degree 4 give.

    Raises:
        ValueError: for a table that is no Latin square of an order from 3 on.
        OperationProgramError: if the program was not solved.
    """
    n = table.rows
    if n < 3 or (n, n) != (table.columns, table.label_count) or not _is_latin(table.array()):
        raise ValueError(f"Balanced multipliers are for Latin squares of an order from 3 on, not for {table.name}.")
    q, gram, s = _solved(table)
    multipliers = _rounded(table, q)
    whole = sum(multipliers)
    matrix = _in_all_monomials(gram, s, n)
    tensor = residual(table, np.array(multipliers, np.int64))
    return RoundedBound(multipliers, rounded_proof(tensor, whole, 4, matrix, s / 2, 2 * s))


def _is_latin(values: Integers) -> bool:
    return all((np.sort(lines, axis=1) == np.arange(len(values))).all() for lines in (values, values.T))


# ---- the program


def _centred(n: int) -> Floats:
    """An orthonormal basis of the vectors of sum 0, shape (n, n - 1)."""
    basis = np.tril(np.ones((n, n)), -1)[:, : n - 1]
    basis = np.eye(n)[:, : n - 1] * np.arange(n - 1, 0, -1) - basis
    return basis / np.linalg.norm(basis, axis=0)


@lru_cache(maxsize=4)
def _moments(n: int) -> tuple[Integers, Integers, int]:
    """Which moment the product of two monomials u_i v_j or z_k is, those of u_i v_j z_k, and how many there are.

    Indices run over the coordinates 0, ..., n - 2 of vectors of sum 0.
    """
    m = n - 1
    number: dict[tuple[tuple[int, ...], ...], int] = {}
    listed = [((i,), (j,), ()) for i in range(m) for j in range(m)] + [((), (), (k,)) for k in range(m)]
    products = [[tuple(tuple(sorted(a + b)) for a, b in zip(p, q, strict=True)) for q in listed] for p in listed]
    moment_of = np.array([[number.setdefault(product, len(number)) for product in row] for row in products])
    mixed = np.array([number[((i,), (j,), (k,))] for i in range(m) for j in range(m) for k in range(m)])
    return moment_of, mixed, len(number)


def _program(table: Operation) -> ConeData:
    """Minimise s such that s |u|^2 |v|^2 + s |z|^2 - 2 sum R u v z is a sum of squares of u_i v_j and z_k.

    The sums of R along lines are functionals of the multipliers, too: their dual variables stand behind the moments.
    """
    n = table.rows
    m = n - 1
    moment_of, mixed, count = _moments(n)
    order = len(moment_of)
    a, b, c = np.array(table.triples, np.int64).T
    centred = _centred(n)
    u, v, w = centred[a], centred[b], centred[table.array()[a, b]] - centred[c]
    tensors = np.zeros((count, len(a)))
    tensors[mixed] = -2 * np.einsum("ti,tj,tk->ijkt", u, v, w).reshape(m**3, -1)
    sums = [np.einsum("ti,tk->ikt", one, w).reshape(-1, len(a)) for one in (np.eye(n)[a], v)]
    columns = np.concatenate([tensors, *sums])
    more = len(columns) - count
    norm = np.bincount(np.diag(moment_of), minlength=count).astype(float)
    gaussian = np.where(norm > 0, 1.0, 0.0)
    gaussian[np.diag(moment_of)[m * m :]] = m  # both parts of the norm weigh the same
    start = np.concatenate([gaussian / (norm @ gaussian), np.zeros(more)])
    rows = sparse.hstack(
        [block_rows(moment_of, np.ones(order), count), sparse.csr_array((order * (order + 1) // 2, more))]
    )
    return ConeData(
        np.concatenate([norm, np.zeros(more)]),
        np.zeros(len(columns)),
        sparse.csr_array(columns),
        np.zeros(len(a)),
        np.zeros(len(a), np.int64),
        start,
        ((order, sparse.csr_array(rows)),),
    )


@one_thread()
def _solved(table: Operation) -> tuple[Floats, Floats, float]:
    """Multipliers of sum 1, the Gram matrix in centred coordinates, and s."""
    data = _program(table)
    found = solve_interior(data, data.start, accuracy=ACCURACY, limit=STEPS)
    if found.status != "solved":
        raise OperationProgramError(f"The program of balanced multipliers of {table.name} ended with: {found.status}.")
    q = np.maximum(found.multipliers, 0.0)
    s = float((data.weights - data.columns.T @ found.moments).min())
    return q / q.sum(), found.grams[0], s


def _in_all_monomials(gram: Floats, s: float, n: int) -> Floats:
    """The matrix of degree 4 of t |x|^4 - 2 sum z_k x'M_k x + t' |z|^2 for t = s/2 and t' = 2 s.

    This is twice the form of the program, for all u, v and z, plus s/2 (|u|^2 - |v|^2)^2.
    """
    centred = _centred(n)
    down = np.zeros((len(gram), n * n + n))  # to the centred coordinates
    m = n - 1
    down[: m * m, : n * n] = np.kron(centred, centred).T
    down[m * m :, n * n :] = centred.T
    form = 2 * (down.T @ gram @ down + s * (np.eye(n * n + n) - down.T @ down))
    listed = monomials(2 * n, 2)
    place = {one: i for i, one in enumerate(listed)}
    used = [place[a, n + b] for a in range(n) for b in range(n)] + [len(listed) + k for k in range(n)]
    matrix = np.zeros((len(listed) + n, len(listed) + n))
    matrix[np.ix_(used, used)] = form
    signs = np.zeros(len(matrix))
    signs[[place[i, i] for i in range(2 * n)]] = np.repeat([1.0, -1.0], n)
    return matrix + s / 2 * np.outer(signs, signs)


def _rounded(table: Operation, q: Floats) -> tuple[int, ...]:
    """Positive integers near 2^BITS q that are balanced exactly.

    The entries of R off the last row, column and label are rounded, and the others follow. That moves none of them by
    more than (n - 1)^3/2; as much is added to all multipliers before.
    """
    n = table.rows
    room = (n - 1) ** 3 // 2 + 1
    tensor = np.zeros((n, n, n), np.int64)
    tensor[:-1, :-1, :-1] = np.rint(residual(table, 2.0**BITS * q + room))[:-1, :-1, :-1]
    for axis in range(3):
        last = [slice(None)] * 3
        last[axis] = slice(n - 1, n)
        tensor[tuple(last)] = -tensor.sum(axis=axis, keepdims=True)
    return tuple(int(-tensor[triple]) for triple in table.triples)
