"""Attention of token regression: the definition, retrieval (lemma 11), averaging, dependence on W_QK (lemma 15).

The general statements are proved in proofs/attention.md.
"""

from __future__ import annotations

from itertools import product
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.tokens.few_heads import (
    few_heads_bound,
    printed_few_heads_bound,
    repeated_few_heads_bound,
)
from lemmata.certificates.tokens.lipschitz import attention_change, query_key_bound
from lemmata.certificates.tokens.retrieval import certify_retrieval, label_bound, printed_bound, retrieval_bound
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head, merged_head
from lemmata.constructions.tokens.attention import (
    averaging_attention,
    counting_attention,
    counting_embedding,
    lipschitz_ball,
    retrieval_attention,
    retrieval_transformer,
)
from lemmata.constructions.tokens.transformer import TokenTransformer, token_stream, token_transformer
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.tokens.codes import (
    PositionCodes,
    extremal_codes,
    field_codes,
    orthonormal_codes,
    random_sign_codes,
)
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import ReluLink, linear_link, mean_link
from lemmata.numerics.tokens.prompts import Prompts, draw_prompts
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


def integers(*shape: int, seed: int = 0, low: int = -2, high: int = 3) -> Array:
    return np.random.default_rng([seed, *shape]).integers(low, high, shape)


def norm(entries: Any) -> arb:
    return sum((x * x for x in entries), arb(0)).sqrt()


# ---- the definition


def transformer_by_definition(z: Array, W: Array, first: Array, bias: Array, last: Array) -> list[arb]:
    """The predictions at all positions, entry by entry, for query-key matrices W of shape (H, D, D)."""
    N, D = z.shape
    result = []
    for i in range(N):
        h: list[arb] = []
        for part in W:
            moved = [sum((z[i, a] * part[a, b] for a in range(D)), arb(0)) for b in range(D)]
            shares = [sum((moved[b] * z[j, b] for b in range(D)), arb(0)).exp() for j in range(N)]
            total = sum(shares, arb(0))
            h += [sum((shares[j] * z[j, b] for j in range(N)), arb(0)) / total for b in range(D)]
        hidden = [sum((h[a] * first[a, m] for a in range(len(h))), arb(int(bias[m]))) for m in range(len(bias))]
        result.append(sum((x.max(arb(0)) * last[m] for m, x in enumerate(hidden)), arb(0)))
    return result


CASES = [(2, 1, 2, 1), (1, 2, 1, 2), (2, 2, 2, 3)]
"""d, q, d_e, H."""


def small_transformer(d: int, q: int, e: int, H: int) -> tuple[TokenTransformer, tuple[Array, ...]]:
    stream = token_stream(d, q, e)
    D = stream.width
    parts = integers(H, D, D), integers(H * D, 3, seed=1), integers(3, seed=2), integers(3, seed=3, low=1)
    readout = FeedForward((Affine(parts[1], parts[2]), Affine(parts[3][:, None])), activations=("relu", "identity"))
    return token_transformer(stream, parts[0], readout), parts


@check(
    "qstr:definition-transformer",
    grade="enclosed",
    target="printed",
    cases="(d, q, d_e, H) = (2, 1, 2, 1), (1, 2, 1, 2), (2, 2, 2, 3), N = 4; one integer network and prompt each",
)
@pytest.mark.parametrize(("d", "q", "e", "H"), CASES)
def test_the_transformer_is_the_definition(d, q, e, H):
    """In balls against the sums, which have no residual, no scale, and the query on the left of W_QK."""
    network, (W, first, bias, last) = small_transformer(d, q, e, H)
    z = as_balls(as_exact(integers(4, network.stream.width, seed=7)) / 4)
    with precision(128):
        expected = transformer_by_definition(z, W, first, bias, last)
        found = network.to_balls()(z)
        assert all(a.overlaps(b) and abs(a - b) < arb("1e-20") for a, b in zip(found, expected, strict=True))
    assert len({str(x.mid()) for x in found}) > 1


@check(
    "qstr:definition-transformer",
    grade="enclosed",
    target="printed",
    cases="(d, q, d_e, H) = (2, 1, 2, 1), (1, 2, 1, 2), (2, 2, 2, 3), N = 4; one integer network and prompt each",
)
@pytest.mark.parametrize(("d", "q", "e", "H"), CASES)
def test_heads_average_the_tokens_do_not_see_their_order_and_factor(d, q, e, H):
    """|f| <= sqrt(H) max |z|; permuting the prompt permutes f; W_Q^T W_K = W gives the same head."""
    network, _ = small_transformer(d, q, e, H)
    layer = network.attention.to_balls()
    z = as_balls(integers(4, network.stream.width, seed=8))
    with precision(128):
        outputs = layer(z)
        largest = max((z * z).sum(axis=-1).tolist(), key=lambda x: x.mid())
        assert all(not square > H * largest for square in (outputs * outputs).sum(axis=-1))
        blocks = outputs.reshape(4, H, -1)
        for part in np.ndindex(4, H):  # coordinate by coordinate between the least and the largest of the tokens
            for x, column in zip(blocks[part], z.T, strict=True):
                values = [float(value.mid()) for value in column]
                assert min(values) - arb("1e-20") <= x <= max(values) + arb("1e-20")
        order = [2, 0, 3, 1]
        assert all(a.overlaps(b) for a, b in zip(layer(z[order]).ravel(), outputs[order].ravel(), strict=True))
        A, B = integers(z.shape[1], 3, seed=9), integers(z.shape[1], 3, seed=10)
        tokens = Affine.identity(z.shape[1])
        factored = Head(Affine(A), Affine(B), tokens, causal=False).to_balls()(z)
        merged = merged_head(A @ B.T, causal=False).to_balls()(z)
        assert all(a.overlaps(b) for a, b in zip(factored.ravel(), merged.ravel(), strict=True))
        assert max(float(x.rad()) for x in merged.ravel()) < 1e-20


# ---- lemma 11: retrieval


FAMILIES = {
    "field codes": (field_codes(16), 4, 1),
    "all correlations 1/2": (extremal_codes(12), 3, 2),
    "orthonormal": (orthonormal_codes(9), 2, 3),
}


def integer_link(d: int, q: int, m: int = 4) -> ReluLink:
    return ReluLink(integers(m, seed=q, low=1), integers(m, q, d, seed=d), integers(m, seed=d + q))


@check(
    "qstr:lemma-11",
    grade="enclosed",
    target="corrected",
    cases="(N, d, q) = (16, 4, 1), (12, 3, 2), (9, 2, 3) with three families of codes, r = 2, 20, error 1/10, 10^-6; "
    "all prompts with tokens in the ball",
)
@proof_steps("attention.md: 3, 4")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("r", [2, 20])
@pytest.mark.parametrize("error", [fmpq(1, 10), fmpq(1, 10**6)])
def test_the_construction_meets_all_bounds_of_the_lemma(family, r, error):
    """The certified supremum over all prompts is at most sqrt(eps), and the norms are those of the lemma."""
    codes, d, q = FAMILIES[family]
    link = integer_link(d, q)
    network = retrieval_transformer(link, codes, radius=r, error=error)
    certificate = certify_retrieval(network.attention, network.stream, codes, r)
    a, W, b = (as_exact(part) for part in (link.output, link.weight, link.bias))
    squares = (a * a).sum() * ((W * W).sum() + (b * b).sum())
    reach = arb(squares).sqrt() * norm(certificate.errors)  # the Lipschitz constant times the error of all tokens
    assert reach <= arb(error)
    assert label_bound(link, certificate).overlaps(reach)
    first, last = network.readout.layers
    assert (as_exact(last.weight) ** 2).sum() == (a * a).sum()
    assert (as_exact(first.weight) ** 2).sum() + (as_exact(first.bias) ** 2).sum() == (W * W).sum() + (b * b).sum()
    with precision(200):
        N = codes.count
        logarithm = (2 * arb(squares).sqrt() * r * N * arb(q).sqrt() / arb(error)).log()
        for head in network.attention.heads:
            columns = (as_exact(head.query.weight) ** 2).sum(axis=0)
            mixed = sum((arb(x).sqrt() for x in columns), arb(0))  # the 2-norm of every column, added up
            assert mixed <= arb(fmpq(2 * codes.dimension * q, d)) * logarithm
            assert mixed >= arb(fmpq(2 * codes.dimension * q, d)) * (logarithm - fmpq(1, N - 1))


@check(
    "qstr:lemma-11",
    grade="enclosed",
    target="corrected",
    cases="(N, d, q) = (16, 4, 1), (12, 3, 2), (9, 2, 3), three families of codes, r = 3, error 1/100; one prompt each",
)
@proof_steps("attention.md: 3")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_labels_of_the_construction(family):
    """The forward pass in balls against the link of the tokens, at all positions, indices repeated or not."""
    codes, d, q = FAMILIES[family]
    link = integer_link(d, q)
    prompts = draw_prompts(1, codes.count, d, q, law="rational", seed=q)
    network = retrieval_transformer(link, codes, radius=4, error=fmpq(1, 100)).to_balls()
    with precision(100):
        found = network(encode(prompts, codes, system="ball"))[0]
        wanted = prompts.labels(link)[0]
        errors = [abs(a - arb(b)) for a, b in zip(found, wanted, strict=True)]
        assert all(error < arb("1e-2") for error in errors)
        assert any(error > arb("1e-12") for error in errors)  # attention is soft, so that the error is not 0
    assert len(set(wanted.tolist())) > 1


@check(
    "qstr:lemma-11",
    grade="enclosed",
    target="corrected",
    cases="N = 3, 9, 20 codes with all correlations 1/2, (d, q) = (1, 1), (3, 2), alpha = 2, 5, 12",
)
@proof_steps("attention.md: 2")
@pytest.mark.parametrize("N", [3, 9, 20])
@pytest.mark.parametrize(("d", "q"), [(1, 1), (3, 2)])
def test_the_retrieval_bound_is_attained(N, d, q):
    """x_t = v, x_j = -v, all correlations 1/2: 2 r (N-1) e^-m / (1 + (N-1) e^-m), below 2 r N e^-m but close to it."""
    codes, r = extremal_codes(N), 3
    stream = token_stream(d, q, codes.dimension)
    tokens = as_exact(np.zeros((1, N, d), dtype=int))
    tokens[..., 0] = fmpq(-r)
    tokens[0, 1, 0] = fmpq(r)
    prompts = Prompts(tokens, np.full((1, N, q), 1))
    last = arb(0)
    for alpha in (2, 5, 12):
        layer = retrieval_attention(d, q, codes, fmpq(alpha))
        certificate = certify_retrieval(layer, stream, codes, r)
        with precision(128):
            margin = arb(fmpq(alpha * d, 2 * q))
            z = encode(prompts, codes, system="ball")
            found = [abs(head(z[:, :1], memory=z)[0, 0, 0] - r) for head in layer.to_balls().heads]
            leak = (N - 1) * (-margin).exp()
            for error in (*found, *certificate.errors):
                assert error.overlaps(2 * r * leak / (1 + leak))
                assert abs(error - 2 * r * leak / (1 + leak)) < arb("1e-10")
            assert retrieval_bound(N, r, margin).overlaps(found[0])
            assert found[0] < printed_bound(N, d, q, r, alpha)
            ratio = found[0] / printed_bound(N, d, q, r, alpha)
            assert ratio > last  # and tends to (N-1)/N as the temperature falls
            last = ratio
            assert ratio.overlaps(arb(fmpq(N - 1, N)) / (1 + leak))


@check(
    "qstr:lemma-11",
    grade="sampled",
    target="corrected",
    cases="300 random prompts (full: 10,000), N <= 16, d <= 4, q <= 3, four families of codes, tokens on a sphere",
)
@proof_steps("attention.md: 2")
def test_no_random_instance_exceeds_the_bound(effort, record_property):
    """The retrieval error against both bounds; repeated indices and random temperatures included."""
    rng = np.random.default_rng(11)
    worst = 0.0
    layers, each = effort.pick(quick=(30, 10), full=(500, 20))
    for _ in range(layers):
        N, d, q = int(rng.integers(2, 17)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
        q = min(q, N)
        codes = [
            field_codes(N),
            extremal_codes(N),
            orthonormal_codes(N),
            random_sign_codes(N, 36, int(rng.integers(99))),
        ][int(rng.integers(4))]
        if codes.violations():
            codes = field_codes(N)
        r, alpha = float(rng.uniform(0.1, 9)), float(rng.uniform(0, 6) * q / d)
        prompts = draw_prompts(each, N, d, q, law="sphere", seed=int(rng.integers(2**31)))
        prompts = Prompts(prompts.tokens * (r / sqrt(d)), prompts.indices)
        layer = retrieval_attention(d, q, codes, alpha).to_float()
        outputs = layer(encode(prompts, codes)).reshape(each, N, q, -1)[..., :d]
        error = np.linalg.norm(outputs - prompts.selected(), axis=-1).max()
        bound = 2 * r * N * exp(-alpha * d / (2 * q))
        leak = (N - 1) * exp(-alpha * d / q * (1 - float(codes.coherence.p) / float(codes.coherence.q)))
        assert error <= min(bound, 2 * r * leak / (1 + leak)) * (1 + 1e-9) + 1e-12  # rounding of scores up to 6
        worst = max(worst, error / bound)
    record_property("largest error over the printed bound", worst)
    assert worst > 0.1


@counterexample("qstr:lemma-11", grade="enclosed", cases="r_a = r_w = 1/1000, r_x = 1, N = 2, q = 1, eps = 1")
@proof_steps("attention.md: 5")
def test_the_norm_bound_can_be_negative(record: Record) -> None:
    """A link of tiny weights and a large eps: the logarithm is negative, and no matrix has a negative norm."""
    r_a, r_w, N, r = fmpq(1, 1000), fmpq(1, 1000), 2, 1
    link, codes = ReluLink(as_exact([r_a]), as_exact([[[r_w]]]), as_exact([0])), orthonormal_codes(N)
    logarithm = (2 * lipschitz_ball(link) * r * N).log()
    network = retrieval_transformer(link, codes, radius=r, error=1)  # W = 0 serves instead
    assert all((head.query.weight == 0).all() for head in network.attention.heads)
    certificate = certify_retrieval(network.attention, network.stream, codes, r)
    assert label_bound(link, certificate) <= 1
    square = (as_exact(link.weight) ** 2).sum()
    record.hypothesis("assumption 2, output: |a|^2 <= r_a^2/m", (as_exact(link.output) ** 2).sum(), "<=", r_a**2)
    record.hypothesis("assumption 2, hidden: |(W, b)|^2 <= m r_w^2", square, "<=", r_w**2)
    record.hypothesis("assumption 2: the squared error 0 of the link is at most eps", 0, "<=", 1)
    record.hypothesis("assumption 3: correlations of the codes", codes.coherence, "<=", fmpq(1, 2))
    record.hypothesis("q < N", link.sparsity, "<", N)
    least = min(arb(sum(x * x for x in head.query.weight.ravel())).sqrt() for head in network.attention.heads)
    record.violated("the norm of the zero matrix, the least of all, is at most the bound", least, "<=", 4 * logarithm)
    assert lipschitz_ball(link).overlaps(arb(r_a * r_w))


@check(
    "qstr:lemma-11",
    grade="numeric",
    target="corrected",
    supporting=True,
    cases="N = 4, 8, 16; alpha d/q = 8, 16, 24",
)
@proof_steps("attention.md: 2")
def test_the_error_against_length_temperature_and_heads():
    """Proportional to N - 1, falls as e^(-alpha d/(2q)); the number of heads enters through q alone."""
    errors = {}
    for N, s, q in product((4, 8, 16), (8, 16, 24), (1, 2)):
        codes = extremal_codes(N)
        layer = retrieval_attention(1, q, codes, fmpq(s * q))
        certificate = certify_retrieval(layer, token_stream(1, q, codes.dimension), codes, 1)
        errors[N, s, q] = float(certificate.error.mid())
    for N, s, q in errors:
        assert errors[N, s, q] == pytest.approx(errors[N, s, 1])
        leak = (N - 1) * exp(-s / 2)
        assert errors[N, s, q] == pytest.approx(2 * leak / (1 + leak), rel=1e-9)
    assert log(errors[8, 16, 1] / errors[8, 24, 1]) == pytest.approx(4, abs=0.01)


@check("qstr:lemma-11", "qstr:assumption-3", grade="exact", target="corrected", supporting=True, cases="N = 4, q = 2")
def test_codes_that_collide_and_a_missing_head_are_seen():
    """Two equal codes leave no margin, and are refused; without its last head the layer shows one index less."""
    vectors = np.eye(4, dtype=int)
    vectors[3] = vectors[0]
    collided = PositionCodes(vectors, 1)
    layer = retrieval_attention(2, 2, collided, fmpq(40))
    assert certify_retrieval(layer, token_stream(2, 2, 4), collided, 1).margins == (0, 0)
    with pytest.raises(ValueError, match="numbers 0 and 3 have 1"):
        retrieval_transformer(linear_link(np.ones((2, 2), int)), collided, radius=1, error=1)
    fewer = AttentionLayer(layer.heads[:1], combination="concatenate")
    with pytest.raises(ValueError, match="2 indices for each position, and 1 heads"):
        certify_retrieval(fewer, token_stream(2, 2, 4), orthonormal_codes(4), 1)
    codes = orthonormal_codes(4)
    tokens = as_exact(integers(1, 4, 2, seed=4))
    shown = []
    for second in range(4):  # what index 2 is makes no difference to the head that is left
        prompts = Prompts(tokens, np.array([[[1, second]] * 4]))
        z = encode(prompts, codes)
        head = retrieval_attention(2, 2, codes, fmpq(40), weigh="hardmax").heads[0]
        shown.append(head.map(as_exact)(z)[0, 0, :2].tolist())
    assert shown == [tokens[0, 1].tolist()] * 4


# ---- one head averages


@check(
    "qstr:remark-sparse-averaging",
    grade="enclosed",
    target="printed",
    cases="(N, d, q) = (10, 2, 3), (12, 1, 4), A = 8, 30; orthonormal codes, correlations 1/2; extreme tokens too",
)
@proof_steps("attention.md: 6")
@pytest.mark.parametrize(("N", "d", "q"), [(10, 2, 3), (12, 1, 4)])
@pytest.mark.parametrize("make", [orthonormal_codes, extremal_codes])
def test_one_head_gives_the_mean_of_different_tokens(N, d, q, make):
    """Error at most 2 r (N-q) / (q e^A + N - q), attained by x_t = v at the indices and -v elsewhere."""
    codes, r = make(N), 2
    for A in (8, 30):
        exact = averaging_attention(d, q, codes, fmpq(A * q * codes.square, d))
        assert exact.head_count == 1
        prompts = draw_prompts(1, N, d, q, law="rational", distinct=True, seed=N + A)
        extreme = as_exact(np.zeros((1, N, d), dtype=int))
        extreme[..., 0] = fmpq(-r)
        extreme[0, prompts.indices[0, 0], 0] = fmpq(r)
        with precision(160):
            layer = exact.to_balls()
            allowed = 2 * r * arb(N - q) / (q * arb(A).exp() + N - q)
            for tokens in (prompts.tokens, extreme):
                given = Prompts(tokens, prompts.indices)
                found = layer(encode(given, codes, system="ball"))[0, :, :d]
                mean = given.selected()[0].sum(axis=1) / q
                for i in range(N):
                    error = sum(((a - b) ** 2 for a, b in zip(found[i], mean[i], strict=True)), arb(0)).sqrt()
                    assert error <= allowed * arb(d).sqrt() + arb("1e-30")
            attained = abs(found[0, 0] - r)
            assert attained.overlaps(allowed)
            assert abs(attained - allowed) < arb("1e-20")
            direction = list(range(1, d + 1))
            labels = prompts.labels(mean_link(q, direction))[0]
            heads = layer(encode(prompts, codes, system="ball"))[0, :, :d] @ as_balls(direction)
            assert all(abs(a - arb(b)) <= allowed * 3 for a, b in zip(heads, labels, strict=True))


@check(
    "qstr:remark-sparse-averaging",
    grade="enclosed",
    target="printed",
    cases="(N, d, q) = (6, 2, 3), (4, 1, 8), all indices drawn independently, and one q times; gap 20, 60",
)
@proof_steps("attention.md: 7")
@pytest.mark.parametrize(("N", "d", "q"), [(6, 2, 3), (4, 1, 8)])
def test_one_head_gives_the_mean_also_of_repeated_tokens(N, d, q):
    """With the logarithms of the numbers n_ij in the embedding; the plain sum of scores is far from the mean."""
    rng = np.random.default_rng([N, q])
    tokens = as_exact(rng.integers(-8, 9, (1, N, d))) / 4
    indices = rng.integers(0, N, (1, N, q))
    indices[0, 0] = 1  # one token, q times
    prompts = Prompts(tokens, indices)
    codes = extremal_codes(N)
    for gap in (20, 60):
        with precision(160):
            z = counting_embedding(prompts, codes, gap, "ball")
            found = counting_attention(d, codes.dimension).to_balls()(z)[0, :, :d]
            mean = prompts.selected()[0].sum(axis=1) / q
            allowed = 2 * 2 * arb(N) * (-arb(gap)).exp() / q
            assert all(abs(a - arb(b)) <= allowed for a, b in zip(found.ravel(), mean.ravel(), strict=True))
    plain = averaging_attention(d, q, codes, fmpq(30 * q * codes.square, d)).to_float()(
        encode(prompts, codes, system="float")
    )
    assert np.abs(plain[0, :, :d] - to_float(mean)).max() > 0.05


@check(
    "qstr:remark-sparse-averaging",
    grade="exact",
    target="printed",
    supporting=True,
    cases="q <= 36, d = q, ..., q + 20",
)
@proof_steps("attention.md: 8")
def test_for_large_d_the_number_of_heads_grows_with_q():
    """1 - 3 H(q+d)/(qd) >= 1/2 for H <= q/12 <= d/12, and (1 - H/q)(1 - H/d) >= (1 - H/q)^2 for all H <= q <= d."""
    for q in range(1, 37):
        for d in range(q, q + 21):
            for H in range(1, q + 1):
                assert few_heads_bound(q, d, H) >= fmpq(q - H, q) ** 2
                assert q < 12 * H or 1 - 3 * (1 - printed_few_heads_bound(q, d, H)) >= fmpq(1, 2)
                assert q < 12 * H or repeated_few_heads_bound(q, d, H, q + 1) >= fmpq(1, 2)


# ---- lemma 15: the dependence on the query-key matrices


def layer_of(W: Array) -> AttentionLayer:
    return AttentionLayer(tuple(merged_head(part, causal=False) for part in W), combination="concatenate").to_balls()


def change_by_definition(first: Array, second: Array, z: Array, i: int) -> arb:
    """|f(p; Theta)_i - f(p; Theta')_i|, entry by entry."""
    N, D = z.shape
    rows = []
    for W in (first, second):
        shown: list[arb] = []
        for part in W:
            raw = [
                sum((z[i, a] * part[a, b] * z[j, b] for a in range(D) for b in range(D)), arb(0)).exp()
                for j in range(N)
            ]
            total = sum(raw, arb(0))
            shown += [sum((raw[j] * z[j, b] for j in range(N)), arb(0)) / total for b in range(D)]
        rows.append(shown)
    return norm([a - b for a, b in zip(*rows, strict=True)])


@check(
    "qstr:lemma-15",
    grade="enclosed",
    target="printed",
    cases="12 pairs of rational layers: H = 1, 2, 3, N = 2, ..., 5, D = 2, 3; differences of size 1/8 and 1",
)
@proof_steps("attention.md: 10")
@pytest.mark.parametrize("case", range(12))
def test_attention_moves_at_most_as_its_matrices(case):
    """The change against the sums, and below r^2 |(Theta - Theta')^T z|: half of the printed bound."""
    H, N, D = 1 + case % 3, 2 + case % 4, 2 + case % 2
    first = as_exact(integers(H, D, D, seed=case)) / 4
    second = first + as_exact(integers(H, D, D, seed=case + 50)) / (8 if case % 2 else 1)
    z = as_balls(as_exact(integers(N, D, seed=case, low=-4, high=5)) / 2)
    with precision(128):
        change, bound = (
            attention_change(layer_of(first), layer_of(second), z),
            query_key_bound(layer_of(first), layer_of(second), z),
        )
        r = max((norm(row) for row in z), key=lambda x: x.mid())
        for i in range(N):
            moved = [
                sum((z[i, a] * arb(W[a, b] - V[a, b]) for a in range(D)), arb(0))
                for W, V in zip(first, second, strict=True)
                for b in range(D)
            ]
            assert change[i].overlaps(change_by_definition(first, second, z, i))
            assert bound[i].overlaps(r * r * norm(moved))
            assert abs(bound[i] - r * r * norm(moved)) < arb("1e-20")
            assert change[i] <= bound[i] or not change[i] > 0
        assert any(x > 0 for x in change)


@check(
    "qstr:lemma-15",
    grade="enclosed",
    target="printed",
    cases="two opposite tokens in D = 1, 2, 4; differences 10^-2, 10^-6",
)
@proof_steps("attention.md: 10")
@pytest.mark.parametrize("D", [1, 2, 4])
def test_the_constant_1_is_attained_at_a_tie(D):
    """z and -z with tied scores: the ratio to r^2 |(W - W')^T z| tends to 1, so that the printed 2 can be 1."""
    v = np.arange(1, D + 1)
    z = as_balls(np.array([v, -v]))
    for size, least in ((fmpq(1, 100), "0.9"), (fmpq(1, 10**6), "0.999999")):
        second = as_exact(np.eye(D, dtype=int))[None] * size / int((v * v).sum())
        with precision(128):
            pair = layer_of(as_exact(np.zeros((1, D, D), dtype=int))), layer_of(second)
            change, bound = attention_change(*pair, z)[0], query_key_bound(*pair, z)[0]
            assert arb(least) < change / bound < 1
            assert change.overlaps(norm(v.tolist()) * arb(size).tanh())
