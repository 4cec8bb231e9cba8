"""The degree-4 program written from its definition in CVXPY: an oracle without code of the library's programs."""

from __future__ import annotations

from itertools import combinations_with_replacement

import cvxpy as cp
import numpy as np

from lemmata.numerics.operations.operation import Operation


def plain_margin(table: Operation) -> float:
    """2 t / (3 sqrt 3) for the least t with t |x|^4 - 2 z.(x^T M_k(q) x) + t |z|^2 a sum of squares."""
    size, labels = table.size, table.label_count
    squares = list(combinations_with_replacement(range(size), 2))
    d = len(squares)
    gram = cp.Variable((d + labels, d + labels), PSD=True)
    q, t = cp.Variable(len(table.triples), nonneg=True), cp.Variable()
    constraints = [cp.sum(q) == 1, gram[d:, d:] == t * np.eye(labels)]
    mixed: dict[tuple[int, int, int], cp.Expression] = {}
    for value, (a, b, c) in zip(q, table.triples, strict=True):
        for i, j, weight in ((a, a, 1), (table.rows + b, table.rows + b, 1), (a, table.rows + b, 2)):
            for k, sign in ((table.values[a][b], 1), (c, -1)):
                mixed[i, j, k] = mixed.get((i, j, k), 0) + sign * weight * value
    for row, (i, j) in enumerate(squares):
        for k in range(labels):
            constraints.append(gram[row, d + k] == -mixed.get((i, j, k), 0))
    products: dict[tuple[int, ...], cp.Expression] = {}
    for row, left in enumerate(squares):
        for column, right in enumerate(squares):
            key = tuple(sorted(left + right))
            products[key] = products.get(key, 0) + gram[row, column]
    for key, expression in products.items():
        paired = key[0] == key[1] and key[2] == key[3]
        constraints.append(expression == (t if key[0] == key[3] else 2 * t) * paired)
    cp.Problem(cp.Minimize(t), constraints).solve(solver=cp.CLARABEL)
    return 2 * float(t.value) / (3 * np.sqrt(3))
