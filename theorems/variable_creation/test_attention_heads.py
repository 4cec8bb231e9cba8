"""Attention heads and layers as defined (4.3, 4.4), softmax truncation (A.24), averages and Hahn's limitation (4.5).

The general statements are proved in proofs/softmax.md.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.sparse.network import certify_sparse
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.sparse.compiler import compile_sparse
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.variable_creation.written_out import softmax


def integers(*shape: int, seed: int = 0, low: int = -2, high: int = 3) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).integers(low, high, shape)


def made(query: np.ndarray, key: np.ndarray, value: np.ndarray, **options: Any) -> Head:
    """The head of three matrices."""
    return Head(Affine(query), Affine(key), Affine(value), **options)


def near(a: arb, b: arb) -> bool:
    return bool(abs(a - b) < arb("1e-20"))


def head_by_definition(head: Head, z: np.ndarray, X: np.ndarray, norm: Any) -> list[Any]:
    """phi_out(phi_in(X)^T Norm(Score(x_1, z), ..., Score(x_T, z))), entry by entry."""
    W_Q, W_K, W_V = (as_exact(part.weight) for part in (head.query, head.key, head.value))
    query = [sum(z[i] * W_Q[i, m] for i in range(len(z))) for m in range(W_Q.shape[1])]
    keys = [[sum(x[i] * W_K[i, m] for i in range(len(x))) for m in range(W_K.shape[1])] for x in X]
    shares = norm([sum(a * b for a, b in zip(query, key, strict=True)) for key in keys])
    rows = [[sum(x[i] * W_V[i, m] for i in range(len(x))) for m in range(W_V.shape[1])] for x in X]
    mixed = [sum(share * row[m] for share, row in zip(shares, rows, strict=True)) for m in range(W_V.shape[1])]
    if head.output is None:
        return mixed
    W_O = as_exact(head.output.weight)
    return [sum(mixed[m] * W_O[m, j] for m in range(len(mixed))) for j in range(W_O.shape[1])]


def largest_share(scores: list[Any]) -> list[Any]:
    return [fmpq(score == max(scores), scores.count(max(scores))) for score in scores]


@check(
    "variable-creation:definition-4.3",
    grade="enclosed",
    target="printed",
    cases="20 random integer heads with d = 3, k = 2, T = 1, ..., 4; softmax and hard maximum; all orders of tokens",
)
@pytest.mark.parametrize("seed", range(20))
def test_heads_are_the_definition_and_do_not_see_the_order(seed):
    T = 1 + seed % 4
    parts = [integers(3, 2, seed=3 * seed + i) for i in range(3)]
    head = made(*parts, output=Affine(integers(2, 3, seed=seed)), causal=False)
    z, X = integers(1, 3, seed=seed), integers(T, 3, seed=seed)
    hard = made(*parts, weigh="hardmax", output=head.output, causal=False).map(as_exact)
    assert hard(as_exact(z), memory=as_exact(X))[0].tolist() == head_by_definition(head, z[0], X, largest_share)
    with precision(128):
        expected = head_by_definition(head, z[0], X, largest_share)
        assert all(
            near(a, arb(b))
            for a, b in zip(hard.map(as_balls)(as_balls(z), memory=as_balls(X))[0], expected, strict=True)
        )
        expected = head_by_definition(head, as_balls(z)[0], as_balls(X), softmax)
        for order in permutations(range(T)):
            found = head.map(as_balls)(as_balls(z), memory=as_balls(X[list(order)]))[0]
            assert all(near(a, b) for a, b in zip(found, expected, strict=True))


@check(
    "variable-creation:definition-4.4",
    grade="enclosed",
    target="printed",
    cases="20 random integer layers with d = 3, k = 1, 2, T = 1, ..., 4, ReLU and identity; one order of tokens each",
)
@pytest.mark.parametrize("seed", range(20))
def test_layers_are_the_definition_head_by_head(seed):
    T, k = 1 + seed % 4, 1 + seed % 2
    parts = [integers(3, k, seed=3 * seed + i) for i in range(3)]
    W_C, X = integers(k, 3, seed=seed), integers(T, 3, seed=seed)
    name: Any = ("relu", "identity")[seed % 2]
    head = made(*parts, causal=False)
    layer = (
        AttentionLayer((head,), "sum"),
        FeedForward((Affine.identity(k), Affine(W_C)), activations=(name, "identity")),
    )
    with precision(128):
        found = layer[1].map(as_balls)(layer[0].map(as_balls)(as_balls(X)))
        for tau in range(T):
            mixed = head_by_definition(head, as_balls(X)[tau], as_balls(X), softmax)
            mixed = [part.max(arb(0)) for part in mixed] if name == "relu" else mixed
            expected = [sum((mixed[m] * int(W_C[m, j]) for m in range(k)), start=arb(0)) for j in range(3)]
            assert all(near(a, b) for a, b in zip(found[tau], expected, strict=True))
        order = np.random.default_rng(seed).permutation(T)
        again = layer[1].map(as_balls)(layer[0].map(as_balls)(as_balls(X[order])))
        assert all(near(a, b) for a, b in zip(again.ravel(), found[order].ravel(), strict=True))


@check(
    "variable-creation:definition-4.4s",
    grade="enclosed",
    target="printed",
    cases="T = 1, ..., 5, d = 3, zero scores, and random scores against the definition over T + 1 tokens",
)
@pytest.mark.parametrize("T", range(1, 6))
def test_the_class_token_attends_to_itself_too(T):
    X, start, w = integers(T, 3, seed=T), integers(1, 3, seed=9), integers(3, seed=8)
    z = np.concatenate([start, X])
    value = integers(3, 3, seed=7)
    flat = AttentionLayer((made(np.zeros((3, 1), int), np.zeros((3, 1), int), value, causal=False),), "sum", "first")
    with precision(128):
        found = (flat.map(as_balls)(as_balls(z)) @ w)[0]
        assert near(found, arb(int(z.sum(axis=0) @ value @ w)) / (T + 1))
        head = made(integers(3, 2, seed=1), integers(3, 2, seed=2), value, causal=False)
        expected = head_by_definition(head, as_balls(z)[0], as_balls(z), softmax)
        found = AttentionLayer((head,), "sum", "first").map(as_balls)(as_balls(z))[0]
        assert all(near(a, b) for a, b in zip(found, expected, strict=True))


@check(
    "variable-creation:lemma-A.24",
    grade="enclosed",
    target="printed",
    cases="T = 1, ..., 6, all s, 40 random draws with R = -1, 0, 3/2, 8, seeds 0 to 39, hidden scores among them, and "
    "the extreme scores R and 0 for all of these",
)
@proof_steps("softmax.md: 1, 2")
def test_truncated_softmax_is_close():
    """The difference of the library's weights with all and with the first s scores, against 2(T-s)/(s e^R)."""
    head = made(np.eye(1, dtype=int), np.eye(1, dtype=int), np.eye(1, dtype=int), causal=False)
    met = 0
    with precision(128):
        for T in range(1, 7):
            for s, R, seed in product(range(1, T + 1), (fmpq(-1), fmpq(0), fmpq(3, 2), fmpq(8)), range(-1, 40)):
                if seed >= 0 and seed % 6 != T - 1:
                    continue
                rng = np.random.default_rng(max(seed, 0))
                steps = [fmpq(int(a), 4) for a in rng.integers(0, 9, T)]
                z = [R + a for a in steps[:s]] + [-a for a in steps[s:]]
                z = [R] * s + [fmpq(0)] * (T - s) if seed < 0 else z
                visible = np.ones(T, dtype=bool)
                visible[s:] = seed % 3 != 0 or rng.integers(0, 2, T - s).astype(bool)
                scores = as_balls(np.array([z], dtype=object))
                whole = head.weights(scores, visible[None])
                first = head.weights(scores, np.arange(T)[None] < s)
                difference = sum((abs(a - b) for a, b in zip(whole[0], first[0], strict=True)), start=arb(0))
                bound = 2 * arb(T - s) / (s * arb(R).exp())
                assert difference <= bound + arb("1e-30")
                assert bound < 2 * T / arb(R).exp()
                outer = sum((arb(x).exp() for x, seen in zip(z[s:], visible[s:], strict=True) if seen), start=arb(0))
                inner = sum((arb(x).exp() for x in z[:s]), start=arb(0))
                assert near(difference, 2 * outer / (inner + outer))
                met += seed < 0 and bool(difference > bound * arb("0.99")) and s < T
    assert met > 0


@check(
    "variable-creation:remark-4.5b",
    grade="enclosed",
    target="corrected",
    cases="zero scores, T = 1, ..., 8, d = 3; with a class token in the context the mean of T + 1",
)
@proof_steps("selection.md: 10")
@pytest.mark.parametrize("T", range(1, 9))
def test_zero_scores_average(T):
    X, value, zero = integers(T, 3, seed=T), integers(3, 2, seed=1), np.zeros((3, 2), dtype=int)
    head = made(zero, zero, value, causal=False)
    with precision(128):
        found = head.map(as_balls)(as_balls(X))
        for row in found:
            assert all(near(a, arb(int(b)) / T) for a, b in zip(row, (X @ value).sum(axis=0), strict=True))
        start = integers(1, 3, seed=4)
        (row,) = head.map(as_balls)(as_balls(start), memory=as_balls(np.concatenate([start, X])))
        total = ((X.sum(axis=0) + start[0]) @ value).tolist()
        assert all(near(a, arb(b) / (T + 1)) for a, b in zip(row, total, strict=True))


@check(
    "variable-creation:remark-4.5c",
    grade="enclosed",
    target="printed",
    cases="scores within S = 1/2, 1, 2; T = 10, 20, ..., 160; the head that attains the largest weight, and its effect",
)
@proof_steps("softmax.md: 3")
def test_the_effect_of_one_token_vanishes_at_fixed_norms():
    """Weight e^(2S)/(e^(2S) + T - 1) of one token with score S among those with -S; a flipped value moves by 2."""
    with precision(128):
        for S in (fmpq(1, 2), fmpq(1), fmpq(2)):
            head = made(np.array([[0], [0], [1]]), np.array([[1], [0], [0]]), np.array([[0], [1], [0]]), causal=False)
            effects = []
            for T in (10, 20, 40, 80, 160):
                X = as_exact(np.tile([[-1, 0, 0]], (T, 1)))
                X[:, 0] *= S
                X[0] = as_exact([S, 1, 0])
                other = X.copy()
                other[0, 1] = -other[0, 1]
                query = as_balls(as_exact([[0, 0, 1]]))
                a, b = (head.map(as_balls)(query, memory=as_balls(x))[0, 0] for x in (X, other))
                weight = arb(2 * S).exp() / (arb(2 * S).exp() + T - 1)
                assert near(a - b, 2 * weight)
                effects.append(a - b)
                assert effects[-1] <= 2 * arb(2 * S).exp() / T
            assert all(b < a for a, b in pairwise(effects))


@check(
    "variable-creation:remark-4.5c",
    grade="enclosed",
    target="printed",
    cases="one bit read, T = 10, 100, ..., 10^5, trainable positions",
)
@proof_steps("softmax.md: 5")
def test_logarithmic_norms_keep_the_effect():
    """The compiled head puts 1 - gamma/8 or more on one token at every length; its R grows like log T."""
    for exponent in range(1, 6):
        T = 10**exponent
        network = compile_sparse(sparse_function(T, (T // 2,), [-1, 1]), inputs="trainable")
        certificate = certify_sparse(network)
        assert certificate.values.tolist() == [-1, 1]
        assert certificate.off_mass <= fmpq(1, 8)
        with precision(128):
            others = arb(T - 1) / (arb(network.sharpness).exp() + T)
            assert near(arb(certificate.off_mass), others)
        assert network.sharpness <= arb(8 * T).log() + arb(1) / 1024
