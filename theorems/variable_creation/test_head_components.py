"""What the capacity bounds of heads allow besides (section 4.4.2): positions, residual connections, several heads.

The claims are proved in proofs/head_components.md.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.capacity.norms import head_norms, pq_norm, token_norm
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head, merged_head
from lemmata.constructions.networks.projection import BallProjection
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.attention_capacity import (
    HeadNorms,
    head_capacity,
    multi_head_capacity,
    positional_capacity,
)
from lemmata.numerics.learning.deep_capacity import LayerNorms, layer_amplification
from lemmata.numerics.learning.linear_capacity import linear_capacity
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

ID = "variable-creation:remark-4.4.2b"


def unit(i: int, width: int = 3) -> np.ndarray:
    return as_exact([int(i == j) for j in range(width)])


def marked(i: int, T: int) -> np.ndarray:
    """A query token e_2 and T tokens, of which token i is e_1 and the others are 0."""
    return np.array([unit(1)] + [unit(0) * int(t == i) for t in range(T)], dtype=object)


def reader(T: int) -> tuple[np.ndarray, np.ndarray]:
    """W_QK = log(4 T) e_2 e_1^T and W_V = e_3 e_1^T, as balls."""
    zero = as_balls(np.zeros((3, 3), dtype=int))
    scores, values = zero.copy(), zero.copy()
    scores[1, 0], values[2, 0] = arb(4 * T).log(), arb(1)
    return scores, values


@check(
    ID,
    grade="enclosed",
    target="corrected",
    cases="T = 1, ..., 6: all 2^T signs as positions, by the forward pass; T = 2^k, k <= 40, by the closed form",
)
@proof_steps("head_components.md: 2")
def test_trained_positions_cost_a_number_linear_in_the_length():
    """Positions of norm 1 shatter T contexts of T + 1 tokens in three dimensions: log N >= T log 2 at eps < 3/5.

    W_QK has the norm log(4 T), the margin is (4 T - (T - 1))/(5 T). For large T that is above what holds for every
    given P, so the claim that given positions cost a logarithm does not extend to trained ones.
    """
    with precision(128):
        for T in range(1, 7):
            scores, values = reader(T)
            head = merged_head(scores, values, causal=False)
            for signs in product((1, -1), repeat=T):
                P = np.array([unit(0) * 0] + [unit(2) * y for y in signs], dtype=object)
                assert token_norm(P) == 1
                for i, y in enumerate(signs):
                    z = as_balls(marked(i, T) + P)
                    assert y * head(z[:1], memory=z)[0, 0] >= fmpq(3 * T + 1, 5 * T) - arb(2) ** -100
        found = []
        for k in range(1, 41):
            T = 2**k
            norms = HeadNorms(1, 1, arb(4 * T).log())
            given = positional_capacity(norms, tokens=1, positions=1, samples=T, length=T + 1, width=3)
            found.append(T * arb(2).log() / given.bound(fmpq(1, 2)))
        assert found[-1] > 10**3
        assert all(later > earlier for earlier, later in pairwise(found[8:]))


@check(
    ID,
    grade="sampled",
    target="corrected",
    cases="20 random rational heads (seeds 0, ..., 19) of width 3, T = 1, ..., 4; other weights and other tokens",
)
@proof_steps("head_components.md: 4")
@pytest.mark.parametrize("seed", range(20))
def test_residual_connections_add_one_to_the_slope_and_nothing_to_covers(seed):
    """x + f(X): heads with other weights are as far apart as without x; with other tokens farther by max ||x - x'||."""
    rng = np.random.default_rng(seed)
    T = 1 + seed % 4

    def drawn(*shape: int) -> Any:
        return as_exact(rng.integers(-9, 10, shape)) / 8

    X, Y = drawn(T, 3), drawn(T, 3)
    heads = [
        Head(Affine(drawn(3, 3)), Affine(drawn(3, 3)), Affine(drawn(3, 3)), causal=False).map(as_balls) for _ in "ab"
    ]
    with precision(128):
        plain, residual = (
            [AttentionLayer((head,), kind)(as_balls(X)) for head in heads]  # type: ignore[arg-type]
            for kind in ("sum", "residual")
        )
        assert all(abs(x) < arb("1e-25") for x in ((residual[0] - residual[1]) - (plain[0] - plain[1])).ravel())
        assert all(abs(x) < arb("1e-25") for x in (residual[0] - plain[0] - as_balls(X)).ravel())
        layers = [AttentionLayer((heads[0],), kind) for kind in ("sum", "residual")]  # type: ignore[arg-type]
        without, with_it = (token_norm(layer(as_balls(X)) - layer(as_balls(Y))) for layer in layers)
        assert with_it <= without + token_norm(X - Y) + arb(2) ** -60
        slope = layer_amplification(LayerNorms(*[1 + seed] * 6))
        assert (slope + 1) <= slope * (1 + 1 / arb(1 + seed))


@check(
    ID,
    grade="enclosed",
    target="corrected",
    cases="H = 1, ..., 16 equal heads of six tuples of norms; 20 tokens, inside and outside of the ball",
)
@proof_steps("head_components.md: 5, 6")
def test_several_heads_cost_a_power_and_projections_keep_tokens_in_the_ball():
    with precision(128):
        for numbers in ((1, 1, 1), (1, 2, 3), (3, 2, 1), (5, "1/7", 2), ("1/9", "1/9", 40), (0, 1, 1)):
            norms = HeadNorms(*numbers)
            at = {"tokens": 2, "samples": 5, "length": 6, "width": 4}
            single = head_capacity(norms, **at).constant
            for H in range(1, 17):
                assert abs(multi_head_capacity([norms] * H, **at).constant / single - H**3) < arb("1e-20")
        tokens = as_exact([[i % 7 - 3, i % 5 - 2, i % 11 - 5] for i in range(1, 21)]) / 4
        projected = BallProjection(3)(as_balls(tokens))
        assert token_norm(projected) <= 1 + arb(2) ** -60
        assert token_norm(tokens) > 1
        sizes = [arb(x @ x).sqrt() for x in tokens]
        for x, size, row in zip(tokens, sizes, projected, strict=True):
            assert all(abs(a / size.max(arb(1)) - b) < arb("1e-25") for a, b in zip(as_balls(x), row, strict=True))


@counterexample(ID, grade="enclosed")
@proof_steps("head_components.md: 3")
def test_positions_in_the_printed_class_cost_a_logarithm(record: Record):
    """Columns of norm <= 1, as printed: the positions above, of norm 1 each, are outside of it for T >= 2.

    Inside, sum ||p_t||^2 <= d, so that d^2/r^2 log(2 T d + 1) covers all P up to r in every token: no linear cost.
    """
    for T in (2, 9, 100):
        P = np.array([unit(2)] * T, dtype=object)
        assert token_norm(P) == 1
        assert pq_norm(P, 2, float("inf")).contains(arb(T).sqrt())
    d, r = 4, fmpq(1, 3)
    for k in range(10, 60, 10):
        size = linear_capacity(2, 1, r / 2, 2**k * d)  # ||P||_F <= 2, each coordinate up to r/2, each row up to r
        assert size <= (d / r) ** 2 * arb(2 * 2**k * d + 1).log()
        assert k < 20 or size < 2**k * arb(2).log() / 100
    P = as_exact(np.eye(8, d, dtype=int))
    record.hypothesis(
        "||P||_(2,inf) <= 1, as printed, of the first four unit rows", pq_norm(P, 2, float("inf")), "<=", 1
    )
    size = linear_capacity(2, 1, r / 2, 2**50 * d)
    record.violated("a linear cost: log N(1/3) >= T log 2/100 at T = 2^50", size, ">=", 2**50 * arb(2).log() / 100)
    flat = LayerNorms(1, 1, 1, 1, fmpq(1, 1000), fmpq(1, 1000))
    record.hypothesis("B_V >= 1", flat.value, ">=", 1)
    slope = layer_amplification(flat)
    record.violated(
        "a residual connection changes a slope by a constant: slope + 1 <= 100 slope", slope + 1, "<=", 100 * slope
    )
    norms = head_norms(reader(5)[1], reader(5)[0])
    assert norms.value_columns == 1
