"""Codes of vectors, matrices and heads: they are rebuilt from the code alone, changed symbols are rejected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.capacity.compression import (
    compress_head,
    exact_head_matrices,
    rebuild_head,
    verify_head_code,
)
from lemmata.certificates.capacity.linear_codes import (
    CodeError,
    decode_matrix,
    decode_vector,
    encode_matrix,
    encode_vector,
    root_above,
    root_below,
    verify_matrix_code,
    verify_vector_code,
)
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.numbers import to_float


def instance(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    rng = np.random.default_rng(seed)
    d, N = int(rng.integers(1, 5)), int(rng.integers(1, 12))
    return rng.integers(-6, 7, d), rng.integers(-3, 4, (N, d)), int(rng.integers(1, 6))


@pytest.mark.parametrize("seed", range(40))
def test_vectors_are_rebuilt_from_their_codes(seed):
    w, X, eps = instance(seed)
    code = encode_vector(w, X, eps)
    rebuilt = decode_vector(code, X)
    assert abs(X @ (to_float(rebuilt) - w)).max() <= eps + 1e-9
    assert sum(x * x for x in rebuilt) <= int(w @ w)
    assert len(code.steps) <= code.limit
    assert verify_vector_code(code, w, X) == max(abs(x) for x in X @ (rebuilt - w))
    number = code.to_integer()
    assert number.bit_length() <= code.bits
    assert code.with_integer(number) == code


def test_vectors_beyond_the_ball_are_drawn_back():
    X = np.array([[0, 1], [3, -2], [1, -2]])
    w = np.array([-4, 4])
    drawn, free = (encode_vector(w, X, "1/2", squared_norm=size) for size in (32, 100))
    lengths = []
    for code in (drawn, free):
        prefixes = [replace(code, steps=code.steps[:k]) for k in range(len(code.steps) + 1)]
        lengths.append(max(sum(x * x for x in decode_vector(prefix, X)) for prefix in prefixes))
        assert verify_vector_code(code, w, X) <= fmpq(1, 2)
    assert lengths[0] <= 32 < lengths[1]


@pytest.mark.parametrize("d", [1, 4, 16, 49])
def test_orthonormal_points_take_every_step(d):
    code = encode_vector([fmpq(1001, 1000)] * d, np.eye(d, dtype=int), 1)
    assert len(code.steps) == code.limit == d


@pytest.mark.parametrize("seed", range(12))
def test_a_changed_symbol_is_rejected(seed):
    w, X, _ = instance(seed + 100)
    code = encode_vector(w, X, 4)
    for k in range(min(len(code.steps), 5)):
        for i in range(len(X)):
            for sign in (1, -1):
                if (i, sign) != code.steps[k]:
                    steps = (*code.steps[:k], (i, sign), *code.steps[k + 1 :])
                    with pytest.raises(CodeError):
                        verify_vector_code(replace(code, steps=steps), w, X)
    if code.steps:
        with pytest.raises(CodeError, match="above 4"):
            verify_vector_code(replace(code, steps=code.steps[:-1]), w, X)


def test_codes_of_other_points_are_rejected():
    w, X, eps = np.array([3, -4]), np.array([[1, 2], [2, 0]]), 1
    code = encode_vector(w, X, eps)
    with pytest.raises(CodeError, match="code is for 2 points"):
        decode_vector(code, X[:1])
    with pytest.raises(CodeError, match="code is for 2 points"):
        decode_vector(code, 2 * X)
    with pytest.raises(CodeError, match="a point and a sign"):
        decode_vector(replace(code, steps=((5, 1),)), X)


def test_numbers_that_are_no_codes_are_rejected():
    code = encode_vector([3, -4], [[1, 2], [2, 0]], 1)
    with pytest.raises(CodeError, match="no code"):
        code.with_integer(5)  # a stop before a step
    with pytest.raises(CodeError, match="no code"):
        code.with_integer(5 ** (code.limit + 1) - 1)
    with pytest.raises(ValueError, match="number of a code"):
        code.with_integer(-1)
    assert code.with_integer(0).steps == ()


@pytest.mark.parametrize("seed", range(6))
def test_matrices_are_rebuilt_from_their_codes(seed):
    rng = np.random.default_rng(seed)
    W, X = rng.integers(-4, 5, (3, 2)), rng.integers(-2, 3, (6, 2))
    W[0] = W[0] * (seed % 2)
    code = encode_matrix(W, X, 2)
    rebuilt = to_float(decode_matrix(code, X))
    errors = np.linalg.norm(X @ (rebuilt - W).T, axis=1)
    assert errors.max() <= 2 + 1e-9
    error = verify_matrix_code(code, W, X, 2)
    assert abs(float(error.p) / float(error.q) - errors.max() ** 2) < 1e-9
    assert np.linalg.norm(rebuilt, axis=1).sum() <= np.linalg.norm(W, axis=1).sum() * (1 + 1e-6)
    assert code.draws >= sum(code.picks)
    with pytest.raises(CodeError, match="not those of the code"):
        verify_matrix_code(code, W + 3, X, 2)
    if error:
        with pytest.raises(CodeError, match="above"):
            verify_matrix_code(code, W, X, root_below(error * fmpq(98, 100)))


@pytest.mark.parametrize(("W", "X"), [([[0, 0]], [[1, 2]]), ([[1, 2], [3, 4]], [[0, 0]])])
def test_matrices_without_effect_have_codes_of_no_bits(W, X):
    code = encode_matrix(W, X, 1)
    assert code.bits == 0
    assert not decode_matrix(code, X).any()
    assert verify_matrix_code(code, W, X, 1) == 0


def test_wrong_matrix_codes_are_rejected():
    W, X = np.array([[3, 1], [-2, 2]]), np.array([[1, 2], [2, 0], [-1, 1]])
    code = encode_matrix(W, X, 1)
    with pytest.raises(CodeError, match="picks"):
        decode_matrix(replace(code, picks=(code.draws + 1, 0)), X)
    with pytest.raises(CodeError, match="than the picks say"):
        decode_matrix(replace(code, picks=code.picks[::-1]), X)
    with pytest.raises(CodeError, match="shape"):
        verify_matrix_code(code, W[:1], X, 1)


def head_of(seed: int) -> tuple[Head, np.ndarray]:
    rng = np.random.default_rng(seed)
    head = Head(*(rng.integers(-1, 2, (3, 2)) for _ in range(3)), causal=False)  # type: ignore[arg-type]
    return head, rng.integers(-1, 2, (3, 4, 3))


def test_heads_are_rebuilt_from_their_codes():
    head, X = head_of(1)
    code = compress_head(head, X, 1, attends=1)
    rebuilt = rebuild_head(code, X)
    scores, values = (to_float(part) for part in exact_head_matrices(rebuilt))
    W_QK, W_V = (to_float(part) for part in exact_head_matrices(head))
    largest = 0.0
    for x in X:
        p, q = (np.exp(x @ W.T @ x[1]) for W in (W_QK, scores))
        largest = max(largest, float(np.linalg.norm(p / p.sum() @ x @ W_V - q / q.sum() @ x @ values)))
    assert abs(float(verify_head_code(code, head, X).mid()) - largest) < 1e-9
    assert 0 < largest <= 1


def test_float_weights_are_their_binary_values():
    rng = np.random.default_rng(0)
    head = Head(*(rng.normal(size=(2, 2)) for _ in range(3)), sharpness=0.5, causal=False)  # type: ignore[arg-type]
    X = rng.integers(-1, 2, (2, 3, 2))
    assert verify_head_code(compress_head(head, X, 2), head, X) <= 2


def test_heads_with_a_changed_symbol_are_rejected():
    head, X = head_of(1)
    code = compress_head(head, X, 1)
    i, sign = code.scores.steps[0]
    changed = replace(code.scores, steps=((i, -sign), *code.scores.steps[1:]))
    with pytest.raises(CodeError, match="Step 0"):
        verify_head_code(replace(code, scores=changed), head, X)
    longest = max(range(len(code.values.rows)), key=lambda j: len(code.values.rows[j].steps))
    row = code.values.rows[longest]
    flipped = replace(row, steps=tuple((i, -sign) for i, sign in row.steps))
    rows = tuple(flipped if j == longest else other for j, other in enumerate(code.values.rows))
    with pytest.raises(CodeError, match="not those of the code"):
        verify_head_code(replace(code, values=replace(code.values, rows=rows)), head, X)


@pytest.mark.parametrize("eps", [0, -1])
def test_errors_that_are_not_positive_are_refused(eps):
    with pytest.raises(ValueError, match="error eps"):
        encode_vector([1], [[1]], eps)
    with pytest.raises(ValueError, match="error eps"):
        encode_matrix([[1]], [[1]], eps)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="NaN or infinity"):
        encode_vector([float("nan")], [[1]], 1)
    with pytest.raises(ValueError, match="NaN or infinity"):
        encode_vector([1], [[float("inf")]], 1)
    with pytest.raises(ValueError, match="vector of length 2"):
        encode_vector([1], [[1, 2]], 1)
    with pytest.raises(ValueError, match="one length"):
        encode_vector([1], [[1, 2], [3]], 1)
    with pytest.raises(ValueError, match="not empty"):
        encode_vector([1], np.zeros((0, 1), dtype=int), 1)
    with pytest.raises(ValueError, match="squared norm of the vector"):
        encode_vector([2], [[1]], 1, squared_norm=3)
    with pytest.raises(ValueError, match="steps, more than"):
        encode_vector([1000], [[1]], "1/1000")
    with pytest.raises(ValueError, match="share"):
        encode_matrix([[1]], [[1]], 1, share=1)
    with pytest.raises(ValueError, match="do not act"):
        encode_matrix([[1, 2]], [[1]], 1)
    with pytest.raises(ValueError, match="picks, more than"):
        encode_matrix([[1000]], [[1]], 1)


def test_heads_without_a_code_are_refused():
    head, X = head_of(2)
    for other in (
        replace(head, causal=True),
        replace(head, weigh="hardmax"),
        replace(head, query=Affine(np.eye(3, 2, dtype=int), np.ones(2, dtype=int))),
        replace(head, output=Affine(np.eye(2, dtype=int))),
    ):
        with pytest.raises(ValueError, match="softmax head that sees all tokens"):
            compress_head(other, X, 1)
    for sample in (X[..., :2], X[0], X[:0], X[None]):
        with pytest.raises(ValueError, match="must have shape"):
            compress_head(head, sample, 1)
    with pytest.raises(ValueError, match="cannot attend"):
        compress_head(head, X, 1, attends=4)
    with pytest.raises(ValueError, match="values of the head"):
        compress_head(replace(head, value=Affine(np.zeros((3, 2), dtype=int))), X, 1)
    with pytest.raises(ValueError, match="share"):
        compress_head(head, X, 1, share=0)


def test_roots_are_bounds():
    for q in (fmpq(2), fmpq(1, 3), fmpq(10**12 + 1, 7), fmpq(1, 10**15)):
        low, high = root_below(q), root_above(q)
        assert low**2 <= q <= high**2
        assert high - low <= low / 2**19
    assert root_above(fmpq(9, 4)) == fmpq(3, 2)
    assert root_below(fmpq(0)) == root_above(fmpq(0)) == 0
