"""Fewer than min(q, d) heads cannot: propositions 3 and 21, lemma 40; q heads can, and d heads where codes allow it.

The general statements are proved in proofs/few-heads.md. Positions count from 0 here, so that the random tokens are
those with the numbers i < ceil(N/2) - 1, and the hard positions the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from flint import arb, arb_mat, fmpq

from lemmata.certificates.tokens.few_heads import (
    block_diagonal_bound,
    conditioned_rank,
    few_heads_bound,
    head_view,
    hidden_variance,
    least_risk,
    printed_few_heads_bound,
    repeated_counts,
    repeated_few_heads_bound,
    repeated_variance,
)
from lemmata.certificates.tokens.retrieval import certify_retrieval
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.tokens.attention import averaging_attention, retrieval_attention
from lemmata.constructions.tokens.moments import block_moments
from lemmata.constructions.tokens.separating import separating_attention
from lemmata.constructions.tokens.transformer import query_key_head, token_stream
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.learning.packings import minimal_vectors
from lemmata.numerics.tokens.codes import PositionCodes, extremal_codes, linear_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.gaussian import squared_norm_variance
from lemmata.numerics.tokens.prompts import Prompts, draw_prompts
from lemmata.theorems.evidence import check, proof_steps

# ---- lemma 40


Polynomial = Mapping[tuple[int, ...], Fraction]


def multiplied(p: Polynomial, q: Polynomial) -> dict[tuple[int, ...], Fraction]:
    result: dict[tuple[int, ...], Fraction] = {}
    for (a, x), (b, y) in product(p.items(), q.items()):
        key = tuple(i + j for i, j in zip(a, b, strict=True))
        result[key] = result.get(key, Fraction(0)) + x * y
    return result


def gaussian_mean(p: Polynomial) -> Fraction:
    """E p(g) for independent standard Gaussians: E g^(2k) = 1 * 3 * ... * (2k - 1)."""
    total = Fraction(0)
    for exponents, value in p.items():
        if all(k % 2 == 0 for k in exponents):
            for k in exponents:
                for odd in range(1, k, 2):
                    value *= odd
            total += value
    return total


def squared_norm(mean: list[int], root: list[list[int]]) -> dict[tuple[int, ...], Fraction]:
    """|m + L g|^2 as a polynomial in g."""
    columns = len(root[0])
    zero = (0,) * columns
    total: dict[tuple[int, ...], Fraction] = {}
    for m, row in zip(mean, root, strict=True):
        linear = {zero: Fraction(m)} | {
            tuple(int(i == j) for i in range(columns)): Fraction(value) for j, value in enumerate(row)
        }
        for key, value in multiplied(linear, linear).items():
            total[key] = total.get(key, Fraction(0)) + value
    return total


@check(
    "qstr:lemma-40", grade="exact", target="printed", cases="d = 1, ..., 4; covariances L L^T of ranks 1, 2, 3; means"
)
@proof_steps("few-heads.md: 1")
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_variance_of_a_squared_norm(d, rank):
    """Against the expansion of |m + L g|^4 in Gaussian moments; singular covariances, mean 0 and others."""
    for shift in range(3):
        root = [[(3 * i + 5 * j + shift * i * j) % 7 - 3 for j in range(rank)] for i in range(d)]
        for mean in ([0] * d, [(i * i + shift) % 5 - 1 for i in range(d)]):
            p = squared_norm(mean, root)
            variance = gaussian_mean(multiplied(p, p)) - gaussian_mean(p) ** 2
            L = as_exact(root)
            found = squared_norm_variance(as_exact(mean), L @ L.T)
            assert found == fmpq(variance.numerator, variance.denominator)


# ---- what a position whose token is 0 sees


def data(q: int, d: int) -> tuple[int, ResidualStream]:
    """The length N = 2q + 2, so that exactly x_0, ..., x_(q-1) are random, and the stream with orthonormal codes."""
    return 2 * q + 2, token_stream(d, q, 2 * q + 2)


def hard_prompts(tokens: Array, q: int) -> Prompts:
    """Prompts of length 2q + 2 with the q given tokens, shape (n, q, d), then zeros; t = (0, ..., q - 1) everywhere."""
    n, _, d = tokens.shape
    x = np.concatenate([tokens, np.zeros((n, q + 2, d), dtype=tokens.dtype)], axis=1)
    return Prompts(x, np.broadcast_to(np.arange(q), (n, 2 * q + 2, q)).copy())


def integer_layer(stream: ResidualStream, heads: int, *, split: bool, seed: int = 0) -> AttentionLayer:
    """Heads with integer query-key matrices without a zero, or with zeros between data and positions (split)."""
    rng = np.random.default_rng([heads, seed])
    blocks = []
    for _ in range(heads):
        W = rng.integers(1, 4, (stream.width, stream.width)) * rng.choice([-1, 1], (stream.width, stream.width))
        if split:
            W[: stream.sizes["x"], stream.sizes["x"] :] = 0
            W[stream.sizes["x"] :, : stream.sizes["x"]] = 0
        every = {(a, b): W[stream[a], stream[b]] for a, b in product(stream.sizes, repeat=2)}
        blocks.append(query_key_head(stream, every))
    return AttentionLayer(tuple(blocks), combination="concatenate")


def hidden_direction(w: Array) -> Array | None:
    """A vector that is orthogonal to all rows of w, by elimination over the rationals; None if there is none."""
    rows = [[Fraction(int(x.p), int(x.q)) for x in row] for row in w.tolist()]
    d, pivots, used = len(rows[0]), [], 0
    for column in range(d):
        found = next((r for r in range(used, len(rows)) if rows[r][column]), None)
        if found is None:
            continue
        rows[used], rows[found] = rows[found], rows[used]
        rows[used] = [x / rows[used][column] for x in rows[used]]
        for r in range(len(rows)):
            if r != used:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[used], strict=True)]
        pivots.append(column)
        used += 1
    free = [column for column in range(d) if column not in pivots]
    if not free:
        return None
    result = [Fraction(0)] * d
    result[free[0]] = Fraction(1)
    for row, pivot in zip(rows, pivots, strict=False):
        result[pivot] = -row[free[0]]
    return as_exact([fmpq(x.numerator, x.denominator) for x in result])


def scores(layer: AttentionLayer, stream: ResidualStream, tokens: Array, q: int) -> list[Array]:
    """The exact scores of every head at the last position, which is hard."""
    z = encode(hard_prompts(tokens, q), orthonormal_codes(2 * q + 2), "recurrent")[0]
    return [head.scores(z[-1:], head.key(z))[0] for head in layer.heads]


@check("qstr:proposition-3", grade="exact", target="printed", cases="(q, d, H) = (2, 3, 1), (3, 3, 2), (5, 4, 3)")
@proof_steps("few-heads.md: 3")
@pytest.mark.parametrize(("q", "d", "H"), [(2, 3, 1), (3, 3, 2), (5, 4, 3)])
def test_the_scores_of_a_hard_position_see_one_projection_for_each_head(q, d, H):
    """Tokens moved orthogonally to the directions w keep all scores; moved otherwise they do not."""
    _, stream = data(q, d)
    layer = integer_layer(stream, H, split=False)
    tokens = as_exact([[[(2 * j + 3 * r) % 5 - 2 for r in range(d)] for j in range(q)]])
    z = encode(hard_prompts(tokens, q), orthonormal_codes(2 * q + 2), "recurrent")[0]
    view = head_view(layer, stream, z[-1])
    assert view.rank == H
    assert view.bound(q) == few_heads_bound(q, d, H)
    direction = hidden_direction(view.directions)
    assert direction is not None
    steps = as_exact(np.arange(1, q + 1))[:, None]
    before = scores(layer, stream, tokens, q)
    assert [x.tolist() for x in scores(layer, stream, tokens + steps * direction, q)] == [x.tolist() for x in before]
    moved = scores(layer, stream, tokens + steps * view.directions[0], q)
    assert any(x.tolist() != y.tolist() for x, y in zip(moved, before, strict=True))
    for h in range(H):  # the score is <w, x_j> and a constant
        for j in range(q):
            assert moved[h][j] - before[h][j] == (j + 1) * (view.directions[h] * view.directions[0]).sum()


def projector(vectors: list[list[Fraction]]) -> list[list[Fraction]]:
    """The orthogonal projector on the span of rational vectors, by Gram and Schmidt without roots."""
    n = len(vectors[0])
    result = [[Fraction(0)] * n for _ in range(n)]
    basis: list[tuple[list[Fraction], Fraction]] = []
    for vector in vectors:
        rest = list(vector)
        for other, square in basis:
            share = sum(a * b for a, b in zip(rest, other, strict=True)) / square
            rest = [a - share * b for a, b in zip(rest, other, strict=True)]
        square = sum((a * a for a in rest), Fraction(0))
        if square:
            basis.append((rest, square))
    for vector, square in basis:
        for i, j in product(range(n), repeat=2):
            result[i][j] += vector[i] * vector[j] / square
    return result


def seen_vectors(alpha: list[list[int]], w: list[list[int]]) -> list[list[Fraction]]:
    """The vectors of R^(qd), entry (j, r), whose products with x_1, ..., x_q the heads show."""
    q, d = len(alpha[0]), len(w[0])
    shown = [[Fraction(row[j] * (r == s)) for j in range(q) for s in range(d)] for row in alpha for r in range(d)]
    return shown + [[Fraction(row[s] * (j == i)) for j in range(q) for s in range(d)] for i in range(q) for row in w]


def weights_and_directions(q: int, d: int, H: int) -> tuple[list[list[int]], list[list[int]]]:
    return [[(h + 2) ** j for j in range(q)] for h in range(H)], [
        [(-1) ** r * (r + 1) ** h for r in range(d)] for h in range(H)
    ]


@check("qstr:proposition-3", grade="exact", target="printed", cases="all q, d <= 4 and H <= min(q, d); repeated heads")
@proof_steps("few-heads.md: 5, 6, 7")
@pytest.mark.parametrize(("q", "d"), list(product(range(1, 5), repeat=2)))
def test_the_hidden_variance_is_that_of_the_projector(q, d):
    """2 (q - r_a)(d - r_w) against Var |x|^2 with the covariance I - P, P projecting on all that is seen."""
    for H in range(min(q, d), q + d + 1):
        assert few_heads_bound(q, d, H) == 0
    for H in range(1, min(q, d) + 1):
        alpha, w = weights_and_directions(q, d, H)
        for weights, directions in ((alpha, w), ([alpha[0]] * H, w), (alpha, [w[0]] * H)):
            P = projector(seen_vectors(weights, directions))
            rest = [
                [fmpq(int(i == j)) - fmpq(x.numerator, x.denominator) for j, x in enumerate(row)]
                for i, row in enumerate(P)
            ]
            seen = sum(P[i][i] for i in range(q * d))
            assert conditioned_rank(weights, directions) == seen
            hidden = squared_norm_variance(as_exact([0] * (q * d)), as_exact(rest))
            assert hidden_variance(weights, directions) == hidden
        assert hidden_variance(alpha, w) == 2 * q * d * few_heads_bound(q, d, H) == 2 * (q - H) * (d - H)
        assert few_heads_bound(q, d, H) - printed_few_heads_bound(q, d, H) == fmpq(H * H, q * d)


def outputs_at_a_hard_position(layer: AttentionLayer, tokens: Array, q: int) -> tuple[Array, Array]:
    """The weights, (n, H, N), and the x-blocks, (n, H, d), that the outputs of all heads show at the last position."""
    N, d = 2 * q + 2, tokens.shape[-1]
    z = encode(hard_prompts(tokens, q), orthonormal_codes(N), "recurrent")
    shown = np.stack([head(z[:, -1:], memory=z)[:, 0] for head in layer.heads], axis=1)
    return shown[..., d : d + N], shown[..., :d]


def reading_layer(stream: ResidualStream, w: Array) -> AttentionLayer:
    """Heads with the scores <w_h, x_j> at every position: the constant functional of orthonormal codes times w_h."""
    ones = np.ones((stream.sizes["position"], 1))
    heads = [query_key_head(stream, {("position", "x"): ones * row}).to_float() for row in w]
    return AttentionLayer(tuple(heads), combination="concatenate")


def best_guess(weights: Array, blocks: Array, w: Array, q: int) -> Array:
    """E[sum_j |x_j|^2 | what the heads show], read off their outputs: shape (n,)."""
    _, H, d = blocks.shape
    logs = np.log(weights)
    shown = np.einsum("nhd,hd->nh", blocks, w)[..., None] + logs - (weights * logs).sum(axis=-1, keepdims=True)
    known = np.einsum("nhj,dh->njd", shown[..., :q], np.linalg.pinv(w))  # the projections of the x_j on the span of w
    rest = blocks - np.einsum("nhj,njd->nhd", weights[..., :q], known)
    A = weights[..., :q]
    combined = np.einsum("nhd,nhk,nkd->n", rest, np.linalg.inv(np.einsum("nhj,nkj->nhk", A, A)), rest)
    return (known**2).sum(axis=(1, 2)) + combined + (q - H) * (d - H)


@check(
    "qstr:proposition-3",
    grade="sampled",
    target="printed",
    cases="(q, d, H) = (2, 2, 1), (3, 2, 1), (3, 3, 2); 8,000 prompts each (full: 40,000), one seed; 5 standard errors",
)
@proof_steps("few-heads.md: 8")
@pytest.mark.parametrize(("q", "d", "H"), [(2, 2, 1), (3, 2, 1), (3, 3, 2)])
def test_heads_that_depend_on_the_data_attain_the_bound_and_no_readout_beats_it(q, d, H, effort):
    """The best predictor from the outputs has the risk (1 - H/q)(1 - H/d); a fitted readout is not below."""
    n = effort.pick(quick=8_000, full=40_000)
    rng = np.random.default_rng([q, d, H])
    _, stream = data(q, d)
    w = rng.standard_normal((H, d)) / 2
    tokens = rng.standard_normal((n, q, d))
    weights, blocks = outputs_at_a_hard_position(reading_layer(stream, w), tokens, q)
    labels = ((tokens**2).sum(axis=(1, 2)) - q * d) / sqrt(q * d)
    bound = 2 * float(few_heads_bound(q, d, H).p) / float(few_heads_bound(q, d, H).q)
    guess = (best_guess(weights, blocks, w, q) - q * d) / sqrt(q * d)
    errors = (guess - labels) ** 2
    assert abs(errors.mean() - bound) < 5 * errors.std() / sqrt(n)
    assert np.ptp(weights[:, 0, 0]) > 0.1  # the weights do depend on the data
    flat = np.concatenate(
        [blocks.reshape(n, -1), np.log(weights[..., :q]).reshape(n, -1), weights[..., :q].reshape(n, -1)], axis=1
    )
    features = np.concatenate([np.ones((n, 1)), flat, flat**2, guess[:, None]], axis=1)
    half = n // 2
    fitted = features[half:] @ np.linalg.lstsq(features[:half], labels[:half], rcond=None)[0]
    tested = (fitted - labels[half:]) ** 2
    assert tested.mean() > bound - 5 * tested.std() / sqrt(half)


@check("qstr:proposition-3", "qstr:proposition-21", grade="exact", target="printed", cases="N = 3, ..., 40, all q < N")
@proof_steps("few-heads.md: 2, 7")
def test_more_than_half_of_the_positions_are_hard():
    """q different tokens where so many are random; else repeated ones, and the printed bound with the constant 3."""
    for N in range(3, 41):
        hard = [i for i in range(1, N + 1) if 2 * i >= N]
        random = [i for i in range(1, N + 1) if 2 * i < N]
        share = fmpq(2 * len(hard), N)
        for q in range(1, N):
            counts = [0] * len(random)
            for index in range(q):
                counts[index % len(random)] += 1
            assert max(counts) <= 3
            assert [c for c in counts if c] == list(repeated_counts(q, N))
            if q <= len(random):
                assert least_risk(q, q + 1, 1, N) == share * few_heads_bound(q, q + 1, 1)
                assert least_risk(q, q + 1, 1, N) >= few_heads_bound(q, q + 1, 1)
            else:
                with pytest.raises(ValueError, match="fewer tokens are random"):
                    least_risk(q, q + 1, 1, N)
            for H, d in product({1, 2, 3, q // 4 + 1, q}, {1, 2, q, 4 * q}):
                left = sum(c * c for c in sorted(counts)[: max(0, len(counts) - H)])  # the most repeated are seen
                assert repeated_few_heads_bound(q, d, H, N) == share * max(0, d - H) * fmpq(left, d * q)
                assert repeated_few_heads_bound(q, d, H, N) >= 1 - 3 * (1 - printed_few_heads_bound(q, d, H))


@check(
    "qstr:proposition-3",
    grade="exact",
    target="printed",
    cases="N = 5, 6, 8, 9 and all q < N of which some are repeated; H = 1, 2; four values of what is seen",
)
@proof_steps("few-heads.md: 7")
@pytest.mark.parametrize("N", [5, 6, 8, 9])
def test_repeated_tokens_hide_at_least_the_smallest_counts(N):
    """Var sum c x^2 for what the weights do not show, expanded in Gaussian moments: least where they show 0."""
    for q, H in product(range((N + 1) // 2, N), (1, 2)):
        c = repeated_counts(q, N)
        k = len(c)
        smallest = 2 * sum(x * x for x in sorted(c)[: max(0, k - H)])
        weights = [[(h + 2) ** j for j in range(k)] for h in range(H)]
        P = projector([[Fraction(x) for x in row] for row in weights])
        rest = [[Fraction(int(i == j)) - x for j, x in enumerate(row)] for i, row in enumerate(P)]
        found = []
        for value in range(4):
            seen = [sum((P[i][j] * ((j + 1) * value % 3) for j in range(k)), Fraction(0)) for i in range(k)]
            total: dict[tuple[int, ...], Fraction] = {}
            for count, shift, row in zip(c, seen, rest, strict=True):
                linear = {(0,) * k: shift} | {tuple(int(i == j) for i in range(k)): x for j, x in enumerate(row)}
                for key, x in multiplied(linear, linear).items():
                    total[key] = total.get(key, Fraction(0)) + count * x
            found.append(gaussian_mean(multiplied(total, total)) - gaussian_mean(total) ** 2)
        variance = repeated_variance(weights, c)
        assert found[0] == Fraction(int(variance.p), int(variance.q))
        assert min(found) == found[0] >= smallest
        assert (found[0] > 0) == (k > H)
        assert len(set(c)) == 1 or k <= H or max(found) > found[0]  # equal counts: what is seen makes no difference
        most = sorted(range(k), key=lambda l: -c[l])[:H]
        assert repeated_variance(np.eye(k, dtype=int)[most], c) == smallest  # attained by retrieving the most repeated


@check(
    "qstr:proposition-3",
    "qstr:proposition-21",
    "qstr:remark-sparse-averaging",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="N = 4, H = 1: q = 2 with all t and d = 1, 2, 3; q = d = 8, 32 with four t",
)
@proof_steps("few-heads.md: 11")
@pytest.mark.parametrize(("q", "d"), [(2, 1), (2, 2), (2, 3), (8, 8), (32, 32)])
def test_with_one_random_token_one_head_is_enough(q, d):
    """Why q has to be small against N: at N = 4 one block-diagonal head shows the only random token, and its number.

    The bound 1 - C H(q+d)/(qd) tends to 1 for q = d and every C, and 1 - H/q is 1/2 at q = 2; the error is 0.
    """
    N, codes = 4, orthonormal_codes(4)
    every = (
        list(product(range(N), repeat=q))
        if q == 2
        else [(0,) * q, (1,) * q, (0, 1) * (q // 2), (0, 1, 2, 3) * (q // 4)]
    )
    layer = averaging_attention(d, q, codes, 40 * q).to_balls()
    assert layer.head_count == 1
    x = as_exact(np.zeros((1, N, d), dtype=int))
    x[0, 0] = as_exact([fmpq((7 * r) % 11 - 5, 4) for r in range(d)])
    gain = arb(fmpq(40 * d))
    with precision(128 + 120 * d):
        for first in range(0, len(every), N):
            prompts = Prompts(x, np.array([every[first : first + N]]))
            out = layer(encode(prompts, codes, system="ball"))[0]
            shown = out[:, d : d + N]
            p = shown / shown.sum(axis=-1, keepdims=True)
            logs = np.log(p)
            counts = (logs[:, 0] - logs.sum(axis=-1) / N) / gain + arb(fmpq(q, N))
            token = out[:, :d] / p[:, :1]
            guess = counts * ((token * token).sum(axis=-1) - d)
            labels = ((prompts.selected() ** 2).sum(axis=-1) - fmpq(d) * (prompts.indices == 0)).sum(axis=-1)[0]
            assert all(abs(a - arb(b)) < 1e-9 for a, b in zip(guess, labels, strict=True))
    assert few_heads_bound(2, 3, 1) > printed_few_heads_bound(2, 3, 1) > 0
    assert block_diagonal_bound(2, 1) == fmpq(1, 2)
    for C in (1, 10):  # along q = d = m the bound 1 - 2C/m tends to 1
        assert 1 - C * (1 - printed_few_heads_bound(64 * C, 64 * C, 1)) > fmpq(9, 10)


# ---- block-diagonal query-key matrices


@check(
    "qstr:proposition-21",
    grade="exact",
    target="printed",
    cases="(q, d, H) = (2, 1, 1), (3, 2, 2), (4, 3, 3), (2, 3, 1)",
)
@proof_steps("few-heads.md: 9")
@pytest.mark.parametrize(("q", "d", "H"), [(2, 1, 1), (3, 2, 2), (4, 3, 3), (2, 3, 1)])
def test_block_diagonal_heads_have_the_same_weights_for_all_tokens(q, d, H):
    """The scores of a hard position do not depend on the tokens, and what is hidden is 2 (q - H) d."""
    _, stream = data(q, d)
    layer = integer_layer(stream, H, split=True)
    found = []
    grids = [[[[(2 * j + 3 * r + k * (j + 1)) % 7 - 3 for r in range(d)] for j in range(q)]] for k in range(3)]
    for grid in grids:
        found.append([x.tolist() for x in scores(layer, stream, as_exact(grid), q)])
    assert found[0] == found[1] == found[2]
    assert any(len(set(row)) > 1 for row in found[0])
    z = encode(hard_prompts(as_exact(grids[0]), q), orthonormal_codes(2 * q + 2), "recurrent")[0]
    view = head_view(layer, stream, z[-1])
    assert view.rank == 0
    assert view.bound(q) == block_diagonal_bound(q, H)
    alpha, _ = weights_and_directions(q, d, H)
    P = projector(seen_vectors(alpha, [[0] * d]))
    trace = sum(P[i][i] for i in range(q * d))
    assert 2 * (q * d - trace) == hidden_variance(alpha, [[0] * d] * H) == 2 * q * d * block_diagonal_bound(q, H)


@check(
    "qstr:proposition-21",
    grade="sampled",
    target="printed",
    cases="(q, d, H) = (2, 1, 1), (3, 1, 2), (5, 2, 2), 4,000 prompts each (full: 20,000), one seed; 5 standard errors",
)
@proof_steps("few-heads.md: 10")
@pytest.mark.parametrize(("q", "d", "H"), [(2, 1, 1), (3, 1, 2), (5, 2, 2)])
def test_retrieving_some_of_the_tokens_attains_the_bound(q, d, H, effort):
    """H block-diagonal heads that retrieve H of q tokens, and their squared norms: the risk is 1 - H/q."""
    n, N = effort.pick(quick=4_000, full=20_000), 2 * q + 2
    tokens = np.random.default_rng([q, d]).standard_normal((n, q, d))
    heads = retrieval_attention(d, q, orthonormal_codes(N), 200 * q).to_float().heads[:H]
    z = encode(hard_prompts(tokens, q), orthonormal_codes(N))
    shown = [head(z[:, -1:], memory=z)[:, 0, :d] for head in heads]
    guess = (sum((part**2).sum(axis=-1) for part in shown) - H * d) / sqrt(q * d)
    labels = ((tokens**2).sum(axis=(1, 2)) - q * d) / sqrt(q * d)
    errors = (guess - labels) ** 2
    assert abs(errors.mean() - 2 * (1 - H / q)) < 5 * errors.std() / sqrt(n)


# ---- min(q, d) heads


def label_error(
    prompts: Prompts, codes: PositionCodes, sharpness: int, bits: int, slope: fmpq | int = 1
) -> tuple[arb, int]:
    """The largest error of (qd)^(-1/2) sum_l (|x|^2 - d) over all positions, read off the heads, and their number."""
    q, d = prompts.sparsity, prompts.dimension
    network = separating_attention(d, q, codes, sharpness=sharpness, slope=slope)
    with precision(bits):
        found = network.to_balls().label(encode(prompts, codes, system="ball"), lambda x: x * x).sum(axis=-1)
        wanted = (prompts.selected() ** 2).sum(axis=(-2, -1))
        errors = [abs(a - arb(b)) / arb(q * d).sqrt() for a, b in zip(found.ravel(), wanted.ravel(), strict=True)]
        return max(errors, key=lambda x: x.upper()), network.attention.head_count


MIN_HEADS = [(5, 1, 12), (3, 2, 8), (6, 2, 14), (5, 3, 12), (7, 1, 8)]


@check(
    "qstr:construction-min-qd-heads",
    grade="enclosed",
    target="printed",
    cases="(q, d, N) = (5, 1, 12), (3, 2, 8), (6, 2, 14), (5, 3, 12), (7, 1, 8), two rational prompts each, two slopes",
)
@proof_steps("few-heads.md: 12")
@pytest.mark.parametrize(("q", "d", "N"), MIN_HEADS)
def test_d_heads_determine_all_tokens_for_every_q(q, d, N):
    """d < q heads, errors of labels below 1e-9 enclosed; independent and distinct indices."""
    for distinct, slope in ((True, 1), (False, fmpq(2, 3))):
        prompts = draw_prompts(1, N, d, q, law="rational", distinct=distinct, seed=q * d)
        error, heads = label_error(prompts, orthonormal_codes(N), 60 * q, 256, slope)
        assert heads == d < q
        assert error < arb("1e-9")


@check(
    "qstr:construction-min-qd-heads",
    grade="enclosed",
    target="printed",
    cases="(q, d, N) = (5, 1, 12), (3, 2, 8), (6, 2, 14), A = 25, s = sqrt(d/q), |x| <= 2; one prompt each",
)
@proof_steps("few-heads.md: 13")
@pytest.mark.parametrize(("q", "d", "N"), MIN_HEADS[:3])
def test_the_printed_decoding_has_the_error_of_the_leakage(q, d, N):
    """o + (1/s)(log a_l - sum_m a_m log a_m) over the q indices: at most leak (B + |log Z|/s), which is not 0."""
    prompts = draw_prompts(1, N, d, q, law="rational", distinct=True, seed=q + d)
    codes = orthonormal_codes(N)
    network = separating_attention(d, q, codes, sharpness=fmpq(25 * q, d))
    assert network.gain == 25
    with precision(128):
        p, o = network.weights_of(network.to_balls().attention(encode(prompts, codes, system="ball")))
        s = arb(network.slope_square).sqrt()
        B = arb(2)
        leak = arb(N - q) / q * (-25 + 2 * s * B).exp()
        allowed = leak * (B + (arb(q).log() + s * B + 2 * leak) / s)
        assert allowed < arb("1e-8")
        worst = arb(0)
        for i, h in product(range(N), range(d)):
            t = prompts.indices[0, i]
            logs = [p[0, i, h, j].log() for j in t]
            mean = sum((p[0, i, h, j] * x for j, x in zip(t, logs, strict=True)), start=arb(0))
            for j, x in zip(t, logs, strict=True):
                error = abs(o[0, i, h] + (x - mean) / s - arb(prompts.tokens[0, j, h]))
                assert error <= allowed
                worst = worst.max(error)
        assert worst > allowed / 10**4  # the other tokens do leak


@check(
    "qstr:construction-min-qd-heads",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="d = 1, q = 5, N = 12: ONE head; 20 prompts in float64 as well",
)
@proof_steps("few-heads.md: 12")
def test_one_head_is_enough_for_five_scalar_tokens():
    """The label of proposition 3 with d = 1 < q = 5 and one head: error below 1e-9 enclosed at every position."""
    prompts = draw_prompts(2, 12, 1, 5, law="rational", distinct=True, seed=15)
    error, heads = label_error(prompts, orthonormal_codes(12), 300, 256)
    assert heads == 1
    assert error < arb("1e-9")
    many = draw_prompts(20, 12, 1, 5, distinct=True, seed=16)
    network = separating_attention(1, 5, orthonormal_codes(12), sharpness=200).to_float()
    found = network.label(encode(many, orthonormal_codes(12)), lambda x: x * x)[..., 0]
    assert np.abs(found - (many.selected() ** 2).sum(axis=(-2, -1))).max() < 1e-9


@check(
    "qstr:construction-min-qd-heads",
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="q, d <= 4; radii 10, 10^3",
)
@proof_steps("few-heads.md: 14")
def test_the_threshold_is_the_smaller_of_q_and_d():
    """Below min(q, d) heads the bound is positive; q heads retrieve with an error that tends to 0."""
    for q, d in product(range(1, 5), repeat=2):
        for H in range(1, 6):
            assert (few_heads_bound(q, d, H) > 0) == (min(q, d) > H)
    codes = orthonormal_codes(6)
    for radius in (10, 1000):
        sharpness = int(60 + 4 * log(radius))
        certificate = certify_retrieval(
            retrieval_attention(2, 2, codes, sharpness), token_stream(2, 2, 6), codes, radius
        )
        assert certificate.error < arb("1e-9")


@check("qstr:construction-min-qd-heads", grade="exact", target="printed", supporting=True, cases="d = 1, 2; q = 2")
@proof_steps("few-heads.md: 14")
def test_one_head_too_few_does_not_see_all_coordinates():
    """Without its last head the construction keeps a direction that no score of a hard position sees."""
    for d in (1, 2):
        network = separating_attention(d, 2, extremal_codes(6))
        prompts = hard_prompts(as_exact([[[fmpq(j + 1, r + 1) for r in range(d)] for j in range(2)]]), 2)
        z = encode(prompts, extremal_codes(6), "recurrent")[0]
        assert head_view(network.attention, network.stream, z[-1]).rank == d
        if d > 1:
            fewer = AttentionLayer(network.attention.heads[:-1], combination="concatenate")
            assert head_view(fewer, network.stream, z[-1]).rank == d - 1
            assert head_view(fewer, network.stream, z[-1]).bound(3) > 0


# ---- every q below N, and codes that are not independent


@check(
    "qstr:theorem-1",
    grade="exact",
    target="printed",
    cases="(q, d, H) = (2, 2, 1), (3, 4, 2), (4, 4, 3), N = q + 1; one integer layer each, two own tokens",
)
@proof_steps("few-heads.md: 15", "hierarchy.md: 2")
@pytest.mark.parametrize(("q", "d", "H"), [(2, 2, 1), (3, 4, 2), (4, 4, 3)])
def test_fewer_than_q_heads_leave_a_risk_for_every_q_below_the_length(q, d, H):
    """All tokens are random and position q asks for the q others: given its own token the heads see H directions."""
    N = q + 1
    layer, stream, codes = integer_layer(token_stream(d, q, N), H, split=False), token_stream(d, q, N), None
    codes = orthonormal_codes(N)
    directions = []
    for own in (1, -2):
        tokens = as_exact([[[(2 * j + 3 * r) % 5 - 2 for r in range(d)] for j in range(N)]])
        tokens[0, q] = as_exact([own * (r + 1) for r in range(d)])

        def found(tokens):
            z = encode(Prompts(tokens, np.broadcast_to(np.arange(q), (1, N, q)).copy()), codes, "recurrent")[0]
            return z, [head.scores(z[-1:], head.key(z))[0].tolist() for head in layer.heads]

        z, before = found(tokens)
        view = head_view(layer, stream, z[-1], given=True)
        directions.append(view.directions.tolist())
        assert view.rank == H < min(q, d)
        assert view.bound(q) == fmpq((q - H) * (d - H), q * d) > 0
        hidden = hidden_direction(view.directions)
        moved = tokens.copy()
        moved[0, :q] += as_exact(np.arange(1, q + 1))[:, None] * hidden
        assert found(moved)[1] == before
        moved = tokens.copy()
        moved[0, :q] += view.directions[0]
        assert all(
            after[j] - now[j] == (w * view.directions[0]).sum()
            for after, now, w in zip(found(moved)[1], before, view.directions, strict=True)
            for j in range(q)
        )
    assert directions[0] != directions[1]


@check(
    "qstr:theorem-1",
    grade="numeric",
    target="printed",
    cases="(q, d, H) = (2, 2, 1), (3, 4, 2), (4, 4, 3), N = q + 2, codes with correlations 0 and 1/2; one layer each",
)
@proof_steps("few-heads.md: 15", "hierarchy.md: 2")
@pytest.mark.parametrize("make", [orthonormal_codes, extremal_codes])
@pytest.mark.parametrize(("q", "d", "H"), [(2, 2, 1), (3, 4, 2), (4, 4, 3)])
def test_prompts_with_other_labels_look_the_same_to_fewer_than_q_heads(q, d, H, make):
    """Tokens moved by (I - P) Y (I - Pi) leave all that position q sees, but not the label; others do not.

    The directions are differences of scores, the weights those that the heads show: nothing else is asked for here.
    """
    N, rng = q + 2, np.random.default_rng([q, d, H])
    codes = make(N)
    layer = integer_layer(token_stream(d, q, codes.dimension), H, split=False).to_float()
    indices = np.broadcast_to(np.arange(q), (1, N, q)).copy()

    def embedded(tokens):
        return encode(Prompts(tokens[None], indices), codes, "recurrent")[0] / 8

    def seen(tokens):
        z = embedded(tokens)
        return np.stack([head(z[q : q + 1], memory=z)[0] for head in layer.heads])

    def scored(tokens):
        z = embedded(tokens)
        return np.stack([head.scores(z[q : q + 1], head.key(z))[0] for head in layer.heads])

    tokens = rng.standard_normal((N, d))
    slopes = np.zeros((H, q, d))
    for j, r in product(range(q), range(d)):
        moved = tokens.copy()
        moved[j, r] += 1
        change = scored(moved) - scored(tokens)
        slopes[:, j, r] = change[:, j]
        assert np.allclose(np.delete(change, j, axis=1), 0, atol=1e-9)
    assert np.allclose(slopes, slopes[:, :1], atol=1e-9)  # one direction for all tokens that are asked for
    weights = np.exp(scored(tokens) - scored(tokens).max(axis=1, keepdims=True))
    weights = (weights / weights.sum(axis=1, keepdims=True))[:, :q]
    free, hidden = (np.eye(rows.shape[1]) - np.linalg.pinv(rows) @ rows for rows in (weights, slopes[:, 0]))
    assert np.trace(free) == pytest.approx(q - H)
    assert np.trace(hidden) == pytest.approx(d - H)
    for _ in range(5):
        move = rng.standard_normal((q, d))
        for change, same in ((free @ move @ hidden, True), (move @ hidden, False), (free @ move, False)):
            moved = tokens.copy()
            moved[:q] += change
            assert np.allclose(seen(moved), seen(tokens), atol=1e-9) is same
            assert abs((moved[:q] ** 2).sum() - (tokens[:q] ** 2).sum()) > 1e-3


@check(
    "qstr:construction-min-qd-heads",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="N = 40 codes in 8 dimensions (shortest vectors of E8), d = H = 1, q = 11, 19; one integer network each",
)
@proof_steps("few-heads.md: 16")
@pytest.mark.parametrize("q", [11, 19])
def test_with_few_code_dimensions_one_head_does_not_determine_the_label(q):
    """The gradient of the label leaves the row space of the Jacobian of all that a hard position sees.

    Central differences of step 2^-150 in 400 bits: their error, of the order 2^-250, is far below the determinant.
    """
    N, step = 40, arb(2) ** -150
    lines = [row for row in minimal_vectors("E8").tolist() if row > [0] * 8]
    codes = PositionCodes(np.random.default_rng(8).permutation(lines)[:N], 8)
    assert not codes.violations()
    assert np.linalg.matrix_rank(codes.vectors[1:10] - codes.vectors[0]) == np.linalg.matrix_rank(codes.vectors) == 8
    stream, rng = token_stream(1, 1, 8), np.random.default_rng(q)
    layer = integer_layer(stream, 1, split=False, seed=q + 1)
    with precision(400):
        exact = as_exact(rng.integers(-8, 9, (1, N, 1))) / 4
        exact[0, q:] = fmpq(0)
        z = encode(Prompts(exact, np.zeros((1, N, 1), dtype=int)), codes, "recurrent", "ball")[0] / 8
        head = layer.to_balls().heads[0]

        def seen(j, by):
            moved = z.copy()
            moved[j, 0] += by
            return head(moved[-1:], memory=moved)[0][:9]  # the token and the position; the index is the same everywhere

        rows = [[*((seen(j, step) - seen(j, -step)) / (2 * step)), 2 * z[j, 0]] for j in range(10)]
        assert len(rows[0]) == 10 < q
        assert abs(arb_mat(rows).det()) > arb(2) ** -200


@check(
    "qstr:construction-min-qd-heads",
    grade="exact",
    target="printed",
    supporting=True,
    cases="q <= 30, d <= 6, r <= 12, H <= 8",
)
@proof_steps("few-heads.md: 16")
def test_numbers_shown_against_numbers_asked():
    """For q > H (d + r + 1) the multipliers are fewer than the equations that leave a token its d - 1 dimensions."""
    for q, d, r, H in product(range(1, 31), range(1, 7), range(1, 13), range(1, 9)):
        free = H * (d + r + 1) + q * (d - 1)
        assert (free < q * d) == (q > H * (d + r + 1))


BLOCKS = "qstr:construction-block-moments"


def checked_codes(bits: int, least: int = 0) -> PositionCodes:
    """Codes of as few dimensions as a search finds that have the correlations of assumption 3."""
    rng = np.random.default_rng(bits)
    for checks in range(max(0, least - bits - 1), 20):
        for _ in range(200):
            codes = linear_codes(bits, rng.integers(1, 2**bits, checks).tolist())
            if 2 * abs(codes.gram[0, 1:]).max() <= codes.square:
                return codes
    raise AssertionError("no codes found")


@check(
    BLOCKS,
    grade="enclosed",
    target="printed",
    cases="(d, q, N, d_e) = (1, 16, 64, 8), (2, 4, 16, 6), (3, 8, 32, 8); one rational prompt each, slopes 2^-8, 2^-16",
)
@pytest.mark.parametrize(("d", "m", "k"), [(1, 4, 6), (2, 2, 4), (3, 3, 5)])
@proof_steps("few-heads.md: 17")
def test_d_heads_come_near_to_the_label_with_few_code_dimensions(d, m, k):
    """Step 17: the error of every label is at most (2/3) s sum |x|^3 e^(s |x|) and the leakage, and it is not 0.

    It is (2/3) s sum x^3 up to (1/4) s^2 sum x^4 e^(s |x|), the next term of f.
    """
    N, q, codes = 2**k, 2**m, checked_codes(k)
    assert codes.violations() == []
    assert codes.dimension < N
    rng = np.random.default_rng([d, m, k])
    tokens = as_exact(rng.integers(-8, 9, (1, N, d))) / 4
    tokens[0, N // 2 - 1 :] = fmpq(0)
    prompts = Prompts(tokens, np.arange(q) + q * rng.integers(0, N // 2 // q, (1, N, 1)))
    asked = prompts.selected()[0]
    wanted = (asked**2).sum(axis=(-2, -1))
    worst = []
    for exponent in (8, 16):
        slope = fmpq(1, 2**exponent)
        network = block_moments(d, m, k, codes, gain=200 * q * codes.square, slope=slope)
        assert network.attention.head_count == d
        with precision(400):
            found = network.to_balls()(encode(prompts, codes, system="ball"))[0]
            s = arb(fmpq(d, q * codes.dimension)).sqrt() * slope
            sizes = [[abs(arb(x)) for x in row.ravel()] for row in asked]
            allowed = [sum(2 * s * x**3 * (s * x).exp() / 3 for x in row) for row in sizes]
            errors = [abs(a - arb(b)) for a, b in zip(found, wanted, strict=True)]
            assert all(e <= a + arb("1e-50") for e, a in zip(errors, allowed, strict=True))
            cubes = [sum(2 * s * arb(x) ** 3 / 3 for x in row.ravel()) for row in asked]
            rest = [sum((s * x * x) ** 2 * (s * x).exp() / 4 for x in row) for row in sizes]
            for value, square, cube, most in zip(found, wanted, cubes, rest, strict=True):
                assert abs(value - arb(square) - cube) <= most + arb("1e-50")
            worst.append(max(errors, key=lambda x: x.upper()))
    assert 0 < worst[1] < arb("1e-3")
    assert worst[1] < worst[0] / 100  # the error falls as the slope


@check(BLOCKS, grade="exact", target="printed", cases="N = 2^k, k = 10, 12, 14: one set of masks each")
@proof_steps("few-heads.md: 17")
@pytest.mark.parametrize("k", [10, 12, 14])
def test_few_parity_checks_are_enough(k):
    """Step 17: uniform masks, d_e <= k + 2 + 32 ln 2N, at most N/4, and correlations of at most 1/2 with code 0.

    Products of two codes are codes, so that these are all correlations.
    """
    dimension = k + 2 + int(32 * log(2 ** (k + 1)))
    codes = linear_codes(k, np.random.default_rng(k).integers(0, 2**k, dimension - k - 1).tolist())
    assert codes.count == 2**k
    assert codes.dimension == codes.square == dimension <= codes.count / 4
    assert (codes.vectors[0] == 1).all()
    for j in (1, 2, 2**k - 1):
        assert (codes.vectors[j] * codes.vectors == codes.vectors[np.arange(2**k) ^ j]).all()
    assert 2 * abs(codes.vectors[1:].sum(axis=1)).max() <= dimension


@check(BLOCKS, grade="exact", target="printed", cases="(d, q, N, d_e) = (1, 16, 64, 8), and d = 2 and 3 heads less one")
@proof_steps("few-heads.md: 18")
def test_what_is_never_attained_and_fewer_heads_than_d_do_not_come_near():
    """Step 18: q > d (d + r + 1) in the first case, and without its last head a network has the bound of step 7."""
    codes = checked_codes(6)
    rank = np.linalg.matrix_rank(codes.vectors)
    assert rank <= codes.dimension < 64
    assert 1 + rank + 1 < 16
    for d, m, k in ((2, 2, 4), (3, 3, 5)):
        codes, q = checked_codes(k, 9 if k == 4 else 16), 2**m
        assert codes.square in (9, 16)  # exact numbers ask for a rational length
        network = block_moments(d, m, k, codes, gain=5, slope=1)
        tokens = as_exact(np.arange(2**k * d).reshape(1, 2**k, d) % 5 - 2)
        tokens[0, 2 ** (k - 1) - 1 :] = fmpq(0)
        prompts = Prompts(tokens, np.broadcast_to(np.arange(q), (1, 2**k, q)).copy())
        z = encode(prompts, codes, "recurrent")[0]
        fewer = AttentionLayer(network.attention.heads[:-1], combination="concatenate")
        view = head_view(fewer, network.stream, z[-1])
        assert view.rank == d - 1
        assert view.bound(q) == few_heads_bound(q, d, d - 1) > 0
