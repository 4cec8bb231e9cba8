"""Codes of concrete weights (A.10, 4.10, corollary 4.9, theorem A.17): rebuilt from the code alone, and counted.

The oracles replay codes with fractions or floats of their own, and count codes as digits of a number.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.capacity.blocks import AttentionBlock
from lemmata.certificates.capacity.compression import (
    capacity_in_bits,
    compress_head,
    exact_head_matrices,
    rebuild_head,
    verify_head_code,
)
from lemmata.certificates.capacity.linear_codes import (
    CodeError,
    MatrixCode,
    VectorCode,
    decode_matrix,
    decode_vector,
    encode_matrix,
    encode_vector,
    verify_matrix_code,
    verify_vector_code,
)
from lemmata.certificates.capacity.network_codes import compress_network, rebuild_network, verify_network_code
from lemmata.certificates.capacity.norms import layer_norms, token_norm
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.learning.deep_capacity import deep_capacity
from lemmata.numerics.learning.linear_capacity import linear_capacity, perceptron_steps, printed_linear_capacity
from lemmata.theorems.evidence import check


def fractions(array: Any) -> np.ndarray:
    flat = [fraction(x) if isinstance(x, fmpq) else Fraction(int(x)) for x in np.ravel(array)]
    return np.array(flat, dtype=object).reshape(np.shape(array))


def drawn_vector(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """A vector of up to 5 integers, up to 12 points, and an error."""
    rng = np.random.default_rng(seed)
    d, N = int(rng.integers(1, 6)), int(rng.integers(1, 13))
    w, X = rng.integers(-6, 7, d), rng.integers(-3, 4, (N, d))
    X[0, 0] = max(X[0, 0], 1)
    return w, X, int(rng.integers(1, 7))


def replayed(code: VectorCode, X: np.ndarray) -> np.ndarray:
    """The vector of a code whose steps never leave the ball, by the printed rule; None beyond the ball."""
    w, radius = fractions(X[0]) * 0, max(int(x @ x) for x in X)
    for i, sign in code.steps:
        w = w - fraction(code.eps) / radius * sign * fractions(X[i])
        if w @ w > int(code.squared_norm.p):
            return np.array([])
    return w


@check(
    "variable-creation:lemma-A.10",
    grade="sampled",
    target="printed",
    cases="400 random integer instances, seeds 0-399 (10,000 at full effort): d <= 5, N <= 12, eps <= 6",
)
def test_perceptrons_never_exceed_their_steps(effort):
    tight = outside = 0
    count = effort.pick(quick=400, full=10_000)
    for seed in range(count):
        w, X, eps = drawn_vector(seed)
        B2, R2 = int(w @ w), max(int(x @ x) for x in X)
        code = encode_vector(w, X, eps)
        most = max(math.ceil(Fraction(B2 * R2, eps**2)) - 1, 0)
        assert code.limit == most >= len(code.steps)
        assert code.bits == len(format((2 * len(X) + 1) ** most - 1, "b")) if most else code.bits == 0
        rebuilt = fractions(decode_vector(code.with_integer(code.to_integer()), X))
        assert max(abs(X @ (rebuilt - w))) <= eps
        assert rebuilt @ rebuilt <= B2
        plain = replayed(code, X)
        outside += not plain.size
        assert not plain.size or plain.tolist() == rebuilt.tolist()
        tight += len(code.steps) == most > 0
    assert tight > 0
    assert outside < count / 10


@check(
    "variable-creation:lemma-A.10",
    grade="exact",
    target="printed",
    cases="w = (-4, 4) on the points (0, 1), (3, -2), (1, -2), eps = 1/2: every vector on the way, B^2 = 32, 33",
)
def test_vectors_on_the_way_stay_in_the_ball():
    w, X = np.array([-4, 4]), np.array([[0, 1], [3, -2], [1, -2]])
    lengths = []
    for squared_norm in (32, 33):
        code = encode_vector(w, X, "1/2", squared_norm=squared_norm)
        prefixes = [replace(code, steps=code.steps[:k]) for k in range(len(code.steps) + 1)]
        vectors = [fractions(decode_vector(prefix, X)) for prefix in prefixes]
        distances = [(v - w) @ (v - w) for v in vectors]
        assert all(a - b > Fraction(1, 4) / 13 for a, b in pairwise(distances))
        lengths.append(max(v @ v for v in vectors))
    assert 31 < lengths[0] <= 32 < lengths[1] < 33  # without a bound the vectors leave the ball of w


@check(
    "variable-creation:lemma-A.10",
    grade="exact",
    target="printed",
    cases="orthonormal points in d = 1, 4, 9, 16, 36 dimensions: steps and length of the code, with equality",
)
@pytest.mark.parametrize("root", [1, 2, 3, 4, 6])
def test_orthonormal_points_meet_the_number_of_steps(root):
    d, norm = root**2, fmpq(1001, 1000) * root
    w = [fmpq(1001, 1000)] * d  # (B R/eps)^2 = 1.002001 d
    code = encode_vector(w, np.eye(d, dtype=int), 1)
    assert sorted(code.steps) == [(i, -1) for i in range(d)]
    assert len(code.steps) == code.limit == d == perceptron_steps(norm, 1, 1)
    assert code.bits == digits(2 * d + 1, d)
    assert abs(linear_capacity(norm, 1, 1, d) / arb(2).log() - code.bits) <= 1
    assert linear_capacity(norm, 1, 1, d) <= printed_linear_capacity(norm, 1, 1, d)


@check(
    "variable-creation:lemma-A.10",
    grade="sampled",
    target="printed",
    supporting=True,
    cases="30 random codes, seeds 0-29: every other symbol in the place of each of the first four",
)
@pytest.mark.parametrize("seed", range(30))
def test_codes_with_one_symbol_changed_are_rejected(seed):
    w, X, eps = drawn_vector(seed)
    code = encode_vector(w, X, eps)
    for k, step in enumerate(code.steps[:4]):
        for other in ((i, sign) for i in range(len(X)) for sign in (1, -1)):
            if other != step:
                with pytest.raises(CodeError):
                    verify_vector_code(replace(code, steps=(*code.steps[:k], other, *code.steps[k + 1 :])), w, X)


def two_stages(code: MatrixCode, points: np.ndarray) -> float:
    """ceil((B/e_1)^2) log2(d + 1) + (B R/e_2)^2 log2(2 N + 1)."""
    B, first, second = (float(x.p) / float(x.q) for x in (code.norm, code.row_error, code.error))
    R = max(np.linalg.norm(points, axis=1))
    picks = math.ceil(B**2 / first**2 * (1 - 1e-12))
    return picks * math.log2(len(code.picks) + 1) + (B * R / second) ** 2 * math.log2(2 * len(points) + 1)


@check(
    "variable-creation:lemma-4.10",
    grade="sampled",
    target="corrected",
    cases="25 random integer matrices, seeds 0-24 (400 at full effort), up to 4 x 4, on up to 10 points",
)
def test_matrices_are_rebuilt_within_the_error_and_the_length(effort):
    for seed in range(effort.pick(quick=25, full=400)):
        rng = np.random.default_rng(seed)
        rows, d, N = (int(rng.integers(1, top)) for top in (5, 5, 11))
        W, X = rng.integers(-4, 5, (rows, d)), rng.integers(-2, 3, (N, d))
        W[0, 0], X[0, 0] = 3, 2
        eps = int(rng.integers(1, 5))
        code = encode_matrix(W, X, eps)
        rebuilt = to_float(decode_matrix(code, X))
        norms, largest = np.linalg.norm(W, axis=1), max(np.linalg.norm(X, axis=1))
        assert np.linalg.norm(X @ (rebuilt - W).T, axis=1).max() <= eps * (1 + 1e-9)
        assert verify_matrix_code(code, W, X, eps) <= eps**2
        assert np.linalg.norm(rebuilt, axis=1).sum() <= norms.sum() * (1 + 1e-6)
        split = [float(x.p) / float(x.q) for x in (code.row_error, code.error)]
        assert abs(split[1] + largest * split[0] - eps) < 1e-5 * eps
        assert code.draws == math.ceil(fraction(code.norm) ** 2 / fraction(code.row_error) ** 2)
        for n, row in zip(code.picks, code.rows, strict=True):
            share = fraction(code.error) ** 2 * Fraction(n, max(sum(code.picks), 1))
            assert row.squared_norm == (code.norm * n / code.draws) ** 2
            assert n == 0 or share * Fraction(999_999, 1_000_000) < fraction(row.eps) ** 2 <= share
        assert code.bits == digits(rows + 1, code.draws) + sum(digits(2 * N + 1, row.limit) for row in code.rows)
        assert code.bits <= two_stages(code, X) * (1 + 1e-5) + rows + 1


def fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def digits(base: int, count: int) -> int:
    """The bits of a number of so many digits."""
    return (base**count - 1).bit_length()


@check(
    "variable-creation:corollary-4.9",
    grade="sampled",
    target="corrected",
    cases="3 random heads with weights -1, 0, 1, seeds 0-2 (60 at full effort), d = 3, T = 4, m = 3, eps = 1, 1/2",
)
def test_heads_are_rebuilt_within_the_error_and_the_capacity(effort):
    moved = 0
    for seed in range(effort.pick(quick=3, full=60)):
        head, X = drawn_head(seed)
        for eps in (1.0, 0.5):
            code = compress_head(head, X, fmpq(int(2 * eps), 2))
            largest = largest_gap(head, rebuild_head(code, X), X)
            assert largest <= eps
            assert abs(float(verify_head_code(code, head, X).mid()) - largest) < 1e-9
            moved += largest > 0
            N, limit = X.shape[0] * X.shape[1], code.scores.limit
            assert code.bits == digits(2 * N + 1, limit) + code.values.bits
            bound = capacity_in_bits(head, X, fmpq(int(2 * eps), 2))
            assert code.bits <= bound
            assert abs(float(bound.mid()) / capacity_by_hand(head, X, eps) - 1) < 1e-6
            reach = np.linalg.norm(X @ to_float(exact_head_matrices(head)[1]), axis=-1).max()
            parts = fraction(code.scores.eps) * Fraction(reach), fraction(code.values.error)
            radius = np.linalg.norm(X, axis=-1).max()
            assert abs(float(sum(parts)) + radius * float(fraction(code.values.row_error)) - eps) < 1e-5
    assert moved > 0


def capacity_by_hand(head: Head, X: np.ndarray, eps: float) -> float:
    """The corrected corollary 4.9 with its constants, in float64; spectral norms are bounded to parts in 10^9."""
    W_QK, W_V = (to_float(part) for part in exact_head_matrices(head))
    B, N = np.linalg.norm(X, axis=-1).max(), X.shape[0] * X.shape[1]
    a, b = math.log(W_V.shape[1] + 1), math.log(2 * N + 1)
    scores = min(np.linalg.norm(W_QK), np.linalg.norm(W_QK, axis=1).sum()) * B**2
    values = 2 * np.linalg.norm(W_V, axis=0).sum() * B
    rate = np.linalg.norm(W_V, ord=2) * B
    parts = (scores**2 * b * rate**2) ** (1 / 3) + (values**2 * ((a ** (1 / 3) + b ** (1 / 3)) ** 3 + a)) ** (1 / 3)
    return parts**3 / eps**2 / math.log(2)


def drawn_head(seed: int) -> tuple[Head, np.ndarray]:
    rng = np.random.default_rng(seed)
    query, key, value = (rng.integers(-1, 2, (3, 2)) for _ in range(3))
    query[0, 0] = key[1, 0] = value[2, 0] = 1
    X = rng.integers(-1, 2, (3, 4, 3))
    X[0, 0] = 1
    return Head(query, key, value, causal=False), X  # type: ignore[arg-type]


def largest_gap(head: Head, other: Head, X: np.ndarray) -> float:
    """The largest distance of the outputs at token 0, by the formula in float64."""
    outputs = []
    for one in (head, other):
        W_QK, W_V = (to_float(part) for part in exact_head_matrices(one))
        scores = np.einsum("id,de,ite->it", X[:, 0], W_QK, X)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        outputs.append(np.einsum("it,itd,de->ie", p / p.sum(axis=1, keepdims=True), X, W_V))
    return float(np.linalg.norm(outputs[0] - outputs[1], axis=1).max())


@check(
    "variable-creation:remark-A.2.4",
    grade="sampled",
    target="printed",
    supporting=True,
    cases="4 random heads, seeds 0-3, on sequences of 3 symbols with positions and on numbers in [0, 1]; m = 2, T = 4",
)
@pytest.mark.parametrize("seed", range(4))
def test_the_capacity_of_heads_does_not_see_the_domain(seed):
    rng = np.random.default_rng(seed)
    positions = np.eye(4, dtype=int)[:, :2] - np.eye(4, dtype=int)[:, 2:]
    symbols = np.eye(3, dtype=int)[rng.integers(0, 3, (2, 4))]
    categorical = np.concatenate([symbols, np.broadcast_to(positions, (2, 4, 2))], axis=2)
    numbers = rng.integers(0, 9, (2, 4, 1)) / 8
    places = np.broadcast_to(positions, (2, 4, 2))
    continuous = np.concatenate([numbers, 1 - numbers, 0 * numbers, places], axis=2)
    continuous[0, 0, :2] = (1, 0)  # the longest tokens of both samples have the norm sqrt 2
    query, key, value = (rng.integers(-1, 2, (5, 2)) for _ in range(3))
    value[0, 0] = 1
    head = Head(query, key, value, causal=False)  # type: ignore[arg-type]
    assert capacity_in_bits(head, categorical, 1).overlaps(capacity_in_bits(head, continuous, 1))
    for X in (categorical, continuous):
        code = compress_head(head, X, 1)
        assert largest_gap(head, rebuild_head(code, X), X) <= 1
        assert code.bits <= capacity_in_bits(head, X, 1)


@check(
    "variable-creation:theorem-A.17",
    grade="sampled",
    target="corrected",
    cases="2 networks of 1 and 2 blocks of width 2, near the identity and a rotation, on 2 tokens, eps = 1/4, 1/2",
)
@pytest.mark.parametrize(("seed", "depth", "eps"), [(13, 1, fmpq(1, 4)), (8, 2, fmpq(1, 2))])
def test_networks_are_rebuilt_within_the_error_and_the_capacity(seed, depth, eps):
    rng, blocks = np.random.default_rng(seed), []
    for _ in range(depth):
        query, key = (rng.integers(-5, 6, (2, 2)) / (3 * depth) for _ in range(2))
        value, mixing = (part + rng.integers(-1, 2, (2, 2)) / 3 for part in (np.eye(2), np.array([[0, 1], [-1, 0]])))
        blocks.append(AttentionBlock(query, key, value, mixing, activation="identity"))
    X = rng.integers(-2, 3, (2, 2, 2))[:1] / 3
    code = compress_network(blocks, X, eps)
    rebuilt = rebuild_network(code, X)
    largest = max(np.linalg.norm(run(blocks, g) - run(rebuilt, g), axis=1).max() for g in X)
    assert 0 < largest <= float(eps.p) / float(eps.q)
    assert abs(float(verify_network_code(code, blocks, X).mid()) - largest) < 1e-9
    norms = [layer_norms(b.value, b.score, b.mixing) for b in blocks]
    bound = deep_capacity(norms, readout=1, tokens=token_norm(X), samples=1, length=2, width=2)
    counted = sum(
        digits(2 * 4 + 1, b.scores.limit)
        + sum(digits(3, c.draws) + sum(digits(2 * 2 + 1, r.limit) for r in c.rows) for c in (b.values, b.mixing))
        for b in code.blocks
    )
    assert 0 < code.bits == counted <= bound.bound(eps) / arb(2).log()


def run(blocks: list[AttentionBlock], g: np.ndarray) -> np.ndarray:
    """The network in float64, by its formula."""
    for block in blocks:
        W_Q, W_K, W_V, W_C = (to_float(part) for part in (block.query, block.key, block.value, block.mixing))
        weights = np.exp(g @ W_Q @ W_K.T @ g.T)
        mixed = in_the_ball(weights / weights.sum(axis=1, keepdims=True) @ g @ W_V)
        g = in_the_ball((np.maximum(mixed, 0) if block.activation == "relu" else mixed) @ W_C)
    return g


def in_the_ball(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
