"""A code of a query-key matrix: a short sequence of symbols from which it is rebuilt, right on given queries up to eps.

For columns w_c with Euclidean norms adding to at most R and queries ||z_i||_2 <= r, column c has the level l with
R 4^(-l-1) < ||w_c|| <= R 4^-l and the accuracy e = eps 2^-l/2. Starting at zero, its estimate moves by (e/r^2) times
+z_i or -z_i for a query that it still misses by more than e. The symbol of a move is (i, sign, c, l). The accuracies
square to at most eps^2 in all, and there are at most 4 (R r/eps)^2 moves. Everything is rational, so the code is exact.

Source: qstr, lemma-16; theorems/qstr/proofs/transformer-generalisation.md, step 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.numbers import as_exact, is_exact
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq

__all__ = ["Move", "QueryKeyCode", "decode_query_key", "encode_query_key"]


class Move(NamedTuple):
    """A symbol: the query, the sign, the column and its level."""

    query: int
    sign: int
    column: int
    level: int


@dataclass(frozen=True)
class QueryKeyCode:
    """The code: symbols and what both sides know.

    Attributes:
        moves: the symbols.
        columns: how many columns the matrix has.
        norm: R, at least the sum of the norms of the columns.
        query_norm: r, at least the norm of every query.
        eps: the accuracy.
    """

    moves: tuple[Move, ...]
    columns: int
    norm: fmpq
    query_norm: fmpq
    eps: fmpq


def encode_query_key(
    matrix: ArrayLike, queries: ArrayLike, eps: RationalLike, *, norm: RationalLike, query_norm: RationalLike
) -> QueryKeyCode:
    """The code of a matrix, exact.

    Args:
        matrix: rational, shape (D, columns).
        queries: rational, shape (n, D).
        eps: the accuracy, positive: at most the error max_i ||(matrix - decoded)^T z_i||_2.
        norm: R.
        query_norm: r.

    Raises:
        ValueError: if shapes do not match, numbers are not rational or not positive, or R or r is too small.
    """
    theta, z = as_exact(matrix), as_exact(queries)
    if theta.ndim != 2 or z.ndim != 2 or theta.shape[0] != z.shape[1] or not theta.size or not z.size:
        raise ValueError(
            f"A matrix of shape (D, columns) and queries of shape (n, D) are needed, not {theta.shape} and {z.shape}."
        )
    if not (is_exact(theta) and is_exact(z)):
        raise ValueError("The code is exact: give matrices and queries of rational numbers.")
    total, bound, accuracy = (_positive(value) for value in (norm, query_norm, eps))
    if any(row @ row > bound**2 for row in z):
        raise ValueError(f"A query has a norm above the bound {query_norm}.")
    squares = [column @ column for column in theta.T]
    if sum((arb(square).sqrt() for square in squares), arb(0)) > total:
        raise ValueError(f"The norms of the columns add to more than {norm}.")
    moves = [
        move
        for c, square in enumerate(squares)
        if square != 0
        for move in _column_moves(theta[:, c], z, c, _level(square, total), accuracy, bound)
    ]
    return QueryKeyCode(tuple(moves), theta.shape[1], total, bound, accuracy)


def decode_query_key(code: QueryKeyCode, queries: ArrayLike) -> NDArray[np.object_]:
    """The matrix that the code stands for, exact, shape (D, columns); queries as for `encode_query_key`.

    Raises:
        ValueError: if a symbol names a query or a column that there is not, a sign other than 1 and -1, or a level < 0.
    """
    z = as_exact(queries)
    result = as_exact(np.zeros((z.shape[1], code.columns), dtype=int))
    for move in code.moves:
        if not (0 <= move.query < len(z) and 0 <= move.column < code.columns and move.level >= 0):
            raise ValueError(f"The symbol {tuple(move)} names no query, column or level of this code.")
        if move.sign not in (1, -1):
            raise ValueError(f"The symbol {tuple(move)} has the sign {move.sign}: signs are 1 and -1.")
        step = _accuracy(move.level, code.eps) / code.query_norm**2
        result[:, move.column] = result[:, move.column] + move.sign * step * z[move.query]
    return result


def _positive(value: RationalLike) -> fmpq:
    number = as_fmpq(value)
    if number is None or number <= 0:
        raise ValueError(f"The norms and eps must be positive rational numbers, not {value!r}.")
    return number


def _accuracy(level: int, eps: fmpq) -> fmpq:
    return eps / 2 ** (level + 1)


def _level(square: fmpq, total: fmpq) -> int:
    level = 0
    while square <= (total / 4 ** (level + 1)) ** 2:
        level += 1
    return level


def _column_moves(
    column: NDArray[np.object_], queries: NDArray[np.object_], index: int, level: int, eps: fmpq, bound: fmpq
) -> Sequence[Move]:
    accuracy = _accuracy(level, eps)
    left, moves = queries @ column, []
    while True:
        worst = max(range(len(left)), key=lambda i: abs(left[i]))
        if abs(left[worst]) <= accuracy:
            return moves
        sign = 1 if left[worst] > 0 else -1
        moves.append(Move(worst, sign, index, level))
        left = left - (sign * accuracy / bound**2) * (queries @ queries[worst])
