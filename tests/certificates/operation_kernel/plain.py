"""What a proof in a document says, evaluated again: forms at points, and signs of eigenvalues from Descartes' rule.

Nothing here is shared with the kernel, which compares coefficients and factors matrices.
"""

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import prod
from typing import Any

from flint import fmpz_mat

Document = dict[str, Any]


def symmetric(triangle: Sequence[Sequence[int]]) -> list[list[int]]:
    """The whole matrix of a lower triangle."""
    n = len(triangle)
    return [[triangle[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def signature(triangle: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    """How many eigenvalues are positive, zero, negative: the characteristic polynomial has real roots alone."""
    coefficients = [int(c) for c in fmpz_mat(symmetric(triangle)).charpoly().coeffs()]
    zero = next(i for i, c in enumerate(coefficients) if c)

    def changes(values: list[int]) -> int:
        signs = [c > 0 for c in values if c]
        return sum(one != other for one, other in pairwise(signs))

    positive, negative = changes(coefficients), changes([c * (-1) ** i for i, c in enumerate(coefficients)])
    assert positive + zero + negative == len(triangle)
    return positive, zero, negative


def triples(table: Document) -> list[tuple[int, int, int, int]]:
    """All (a, b, y, c): the given cells (a, b) with their label y, and each other label c."""
    values, labels = table["values"], range(table["labels"])
    return [
        (a, b, y, c) for a, row in enumerate(values) for b, y in enumerate(row) if y != -1 for c in labels if c != y
    ]


def margin_form(table: Document, weights: Sequence[int]) -> Any:
    """The function (x, k) -> M_k(x): the mean of (u_a + v_b)^2 ([k = y] - [k = c]) over triples with these weights."""
    rows, total = len(table["values"]), sum(weights)
    weighted = list(zip(triples(table), weights, strict=True))

    def form(x: Sequence[int], k: int) -> Fraction:
        found = sum(w * (x[a] + x[rows + b]) ** 2 * ((k == y) - (k == c)) for (a, b, y, c), w in weighted)
        return Fraction(found, total)

    return form


def satisfies_identity(table: Document, proof: Document, form: Any, points: int = 6) -> bool:
    """Whether the matrix is that of the polynomial that is to be a sum of squares, or has the blocks of a plane.

    A polynomial of degree at most 6 that is not zero vanishes at a random point of 2^60 values for each variable with
    probability below 2^-57 (Schwartz, Zippel). A plane is compared exactly, by polarisation.
    """
    N, C = len(table["values"]) + len(table["values"][0]), table["labels"]
    P, unit = symmetric(proof["matrix"]), proof["denominator"]
    t, t_prime = Fraction(proof["t"]), Fraction(proof["t_prime"])
    if proof["kind"] == "plane":
        basis = [[int(i == j) for j in range(N)] for i in range(N)]

        def polar(i: int, j: int, sign: int) -> Fraction:
            def value(x: list[int]) -> Fraction:
                return form(x, 0) + sign * form(x, 1)

            both = [one + other for one, other in zip(basis[i], basis[j], strict=True)]
            return (value(both) - value(basis[i]) - value(basis[j])) / 2

        return (C <= 3 and t_prime * 2 == t and len(P) == 2 * N) and all(
            Fraction(P[i][j], unit) == t * (i == j) + polar(i, j, -1)
            and Fraction(P[N + i][N + j], unit) == 3 * (t * (i == j) - polar(i, j, -1))
            and Fraction(P[N + i][j] + P[N + j][i], unit) == 6 * polar(i, j, 1)
            for i, j in product(range(N), repeat=2)
        )
    r = {"degree 4": 0, "degree 6": 1}[proof["kind"]]
    source = random.Random(31)
    for _ in range(points):
        x, z = ([source.randrange(2**60) for _ in range(n)] for n in (N, C))
        m = [prod(one) for one in combinations_with_replacement(x, 2 + r)]
        m += [prod(one) * k for one in combinations_with_replacement(x, r) for k in z]
        if len(m) != len(P):
            return False
        left = sum(a * sum(p * b for p, b in zip(row, m, strict=True)) for a, row in zip(m, P, strict=True))
        norm = sum(a * a for a in x)
        bracket = t * norm**2 - 2 * sum(k * form(x, i) for i, k in enumerate(z)) + t_prime * sum(k * k for k in z)
        if Fraction(left, unit) != norm**r * bracket:
            return False
    return True
