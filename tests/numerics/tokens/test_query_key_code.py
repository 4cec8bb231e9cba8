"""Codes of query-key matrices: what is rebuilt, what a changed symbol does, and input that is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.tokens.query_key_code import Move, QueryKeyCode, decode_query_key, encode_query_key

MATRIX = as_exact([["1/2", 0, "-1/3"], ["1/5", "2/7", 1]])
QUERIES = as_exact([["3/5", "4/5"], [1, 0], ["-1/2", "1/3"]])
CODE = encode_query_key(MATRIX, QUERIES, fmpq(1, 10), norm=3, query_norm=1)


def _error(code: QueryKeyCode) -> fmpq:
    difference = (MATRIX - decode_query_key(code, QUERIES)).T @ QUERIES.T
    return max(sum((x * x for x in column), fmpq(0)) for column in difference.T)


def test_a_changed_symbol_changes_the_error_and_can_break_the_promise() -> None:
    assert _error(CODE) <= fmpq(1, 100)
    errors = [
        _error(replace(CODE, moves=(*CODE.moves[:k], move._replace(sign=-move.sign), *CODE.moves[k + 1 :])))
        for k, move in enumerate(CODE.moves)
    ]
    assert _error(CODE) not in errors
    assert max(errors) > fmpq(1, 100)


def test_the_order_of_the_symbols_does_not_matter() -> None:
    backwards = replace(CODE, moves=CODE.moves[::-1])
    assert np.all(decode_query_key(backwards, QUERIES) == decode_query_key(CODE, QUERIES))


@settings(max_examples=25, deadline=None)
@given(
    entries=st.lists(st.integers(-8, 8), min_size=6, max_size=6),
    points=st.lists(st.integers(-5, 5), min_size=4, max_size=4),
    parts=st.integers(1, 12),
)
def test_random_matrices(entries: list[int], points: list[int], parts: int) -> None:
    matrix, queries = as_exact(np.reshape(entries, (2, 3))) / 4, as_exact(np.reshape(points, (2, 2))) / 8
    code = encode_query_key(matrix, queries, fmpq(1, parts), norm=12, query_norm=1)
    difference = (matrix - decode_query_key(code, queries)).T @ queries.T
    assert max(sum(x * x for x in column) for column in difference.T) <= fmpq(1, parts**2)
    assert len(code.moves) <= 4 * (12 * parts) ** 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"eps": fmpq(0)}, "must be positive rational numbers"),
        ({"norm": fmpq(1)}, "norms of the columns add to more than 1"),
        ({"query_norm": fmpq(1, 2)}, "A query has a norm above the bound"),
        ({"queries": QUERIES[:, :1]}, "A matrix of shape"),
        ({"matrix": MATRIX[0]}, "A matrix of shape"),
        ({"matrix": np.array([[0.5], [0.5]])}, "a float is not exact"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, object], message: str) -> None:
    known = {"matrix": MATRIX, "queries": QUERIES, "eps": fmpq(1, 10), "norm": fmpq(3), "query_norm": fmpq(1)} | changes
    with pytest.raises(ValueError, match=message):
        encode_query_key(**known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("move", "message"),
    [(Move(9, 1, 0, 0), "names no query"), (Move(0, 1, 3, 0), "names no query"), (Move(0, 2, 0, 0), "has the sign 2")],
)
def test_symbols_that_mean_nothing_are_refused(move: Move, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode_query_key(replace(CODE, moves=(move,)), QUERIES)
