"""Transformers of token regression against sums over the definition, in every number system, and what they refuse."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.tokens.attention import (
    averaging_attention,
    counting_attention,
    counting_embedding,
    dual_codes,
    lipschitz_ball,
    retrieval_attention,
    retrieval_sharpness,
    retrieval_transformer,
)
from lemmata.constructions.tokens.separating import separating_attention
from lemmata.constructions.tokens.transformer import (
    TokenTransformer,
    network_link,
    query_key_head,
    readout_of,
    token_stream,
    token_transformer,
)
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.tokens.codes import PositionCodes, extremal_codes, field_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import ReluLink, linear_link, max_link
from lemmata.numerics.tokens.prompts import Prompts, draw_prompts


def test_heads_are_the_sums_of_the_definition():
    rng = np.random.default_rng(0)
    stream = token_stream(2, 1, 3)
    W = rng.normal(size=(2, stream.width, stream.width))
    readout = FeedForward((Affine(rng.normal(size=(16, 3))), Affine(np.ones((3, 1)))), activations=("relu", "identity"))
    network = token_transformer(stream, W, readout)
    z = rng.normal(size=(5, 8))
    for i in range(5):
        outputs = []
        for part in W:
            shares = [math.exp(z[i] @ part @ z[j]) for j in range(5)]
            outputs.append(sum(share * z[j] for j, share in enumerate(shares)) / sum(shares))
        hidden = np.maximum(np.concatenate(outputs) @ readout.layers[0].weight, 0)
        assert network(z)[i] == pytest.approx(hidden.sum(), rel=1e-12)


def test_hard_retrieval_is_exact_over_the_rationals():
    link = max_link([[1, 2], [0, -1]], [[3, 0], [1, 1]])
    prompts = draw_prompts(2, 16, 2, 2, law="rational", seed=1)
    codes = field_codes(16)
    network = retrieval_transformer(link, codes, radius=3, error=1, weigh="hardmax")
    exact = network.map(as_exact)(encode(prompts, codes))
    assert (exact == prompts.labels(link)).all()
    floats = network.to_float()(encode(prompts, codes, system="float"))
    assert np.abs(floats - to_float(exact)).max() < 1e-12


def test_the_sharpness_is_that_of_the_lemma():
    for ratio in (fmpq(7), fmpq(1, 100), 12.5):
        found = float(to_float([retrieval_sharpness(20, 3, 2, ratio)])[0])
        wanted = 4 / 3 * math.log(float(to_float([ratio])[0]) * 19)
        assert abs(found - max(wanted, 0)) < 1e-11
    assert retrieval_sharpness(1, 3, 2, 100) == 0
    link = linear_link([[3, 4]])
    assert abs(lipschitz_ball(link) - arb(2).sqrt() * arb(50).sqrt()) < 1e-12


@pytest.mark.parametrize("length", [2, 3, 20, 1000])
@pytest.mark.parametrize("ratio", [fmpq(101, 100), fmpq(3, 2), fmpq(7), fmpq(2**70)])
def test_the_sharpness_is_rounded_up_in_steps_of_2_to_the_minus_40(length, ratio):
    """Beside the logarithm of the decimals of Python, with 60 digits; no ratio times N - 1 is 1."""
    d, q = 3, 2
    found = retrieval_sharpness(length, d, q, ratio)
    assert (found * 2**40).q == 1
    with localcontext(prec=60):
        wanted = (Decimal(int(ratio.p)) / Decimal(int(ratio.q)) * (length - 1)).ln() * 2 * q / d * 2**40
        assert wanted <= int((found * 2**40).p) < wanted + 1


def test_there_is_no_sharpness_where_the_mean_will_do():
    """At ratio (N - 1) = 1 the logarithm is 0; above it is not."""
    assert retrieval_sharpness(20, 3, 2, fmpq(1, 19)) == 0
    assert retrieval_sharpness(20, 3, 2, fmpq(1, 20)) == 0
    assert retrieval_sharpness(20, 3, 2, fmpq(1, 19) + fmpq(1, 10**6)) > 0
    assert retrieval_sharpness(2, 3, 2, fmpq(1)) == 0
    assert retrieval_sharpness(2, 3, 2, fmpq(9, 8)) > 0


@pytest.mark.parametrize("weigh", ["softmax", "hardmax"])
@pytest.mark.parametrize(("error", "ratio"), [(fmpq(1, 2), 96), (96, 0.5)])
def test_the_retrieval_transformer_has_the_sharpness_of_its_link(weigh, error, ratio):
    """Four tokens with coefficient 1: r_a r_w = sqrt(2) sqrt(8) and sqrt(q) = 2, so the ratio is 2 4 3 2 / error."""
    codes = orthonormal_codes(5)
    link = linear_link([[1], [1], [1], [1]])
    network = retrieval_transformer(link, codes, radius=3, error=error, weigh=weigh)
    for head in network.attention.heads:
        entries = {float(to_float([entry])[0]) for entry in head.query.weight.flat}
        assert min(entries) == 0
        assert len(entries) == 2
        alpha = max(entries)
        assert 0 <= alpha - 8 * math.log(ratio * 4) < 2**-38
        assert (head.gap is None) == (weigh == "softmax")
        if head.gap is not None:  # scores are alpha d/q at the code of an index and 0 elsewhere
            codes_square = int(codes.vectors[0] @ codes.vectors[0])
            assert float(to_float([head.gap])[0]) == pytest.approx(alpha * 1 / (4 * codes_square), rel=1e-12)
    nothing = retrieval_transformer(linear_link([[0]]), codes, radius=3, error=1)
    assert not any(nothing.attention.heads[0].query.weight.flat)


def test_the_constant_of_a_link_counts_its_biases():
    """|a| = 5, |(W, b)|^2 = 1 + 4 + 4 + 16 + 9."""
    link = ReluLink(np.array([3, 4]), np.array([[[1], [2]], [[2], [4]]]), np.array([3, 0]))
    assert abs(lipschitz_ball(link) - 5 * arb(34).sqrt()) < 1e-12


@pytest.mark.parametrize("codes", [orthonormal_codes(4), extremal_codes(3)])
def test_one_hard_head_knows_how_far_apart_its_scores_are(codes):
    """They are alpha d/(q s) n_j: n_j of q indices are j, and s is the square of the integer codes."""
    d, q, alpha = 3, 2, 5
    square = int(codes.vectors[0] @ codes.vectors[0])
    (hard,) = averaging_attention(d, q, codes, alpha, weigh="hardmax").heads
    assert hard.gap == fmpq(alpha * d, q * square)
    (soft,) = averaging_attention(d, q, codes, alpha).heads
    assert soft.gap is None


def test_one_head_averages():
    prompts = draw_prompts(2, 9, 3, 4, distinct=True, seed=2)
    wanted = prompts.selected().mean(axis=-2)
    for codes in (orthonormal_codes(9), extremal_codes(9)):
        layer = averaging_attention(3, 4, codes, 4 * 40 * codes.square)
        assert np.abs(layer.to_float()(encode(prompts, codes))[..., :3] - wanted).max() < 1e-6
    repeated = draw_prompts(2, 9, 3, 4, seed=3)
    z = counting_embedding(repeated, extremal_codes(9), 40.0)
    found = counting_attention(3, 20).to_float()(z)[..., :3]
    assert np.abs(found - repeated.selected().mean(axis=-2)).max() < 1e-12
    exact = Prompts(as_exact(np.ones((1, 9, 3), int)), repeated.indices[:1])
    balls = counting_attention(3, 20).to_balls()(counting_embedding(exact, extremal_codes(9), 40, "ball"))
    assert all(abs(x - 1) < 1e-10 for x in balls[..., :3].ravel())


def test_dual_codes_select():
    codes = extremal_codes(4)
    assert (dual_codes(codes) @ codes.vectors.T == np.eye(4, dtype=int)).all()


@pytest.mark.parametrize(("d", "q", "N"), [(1, 5, 9), (2, 5, 8), (2, 2, 5), (3, 4, 4)])
def test_d_heads_give_all_tokens_and_how_often_they_are_meant(d, q, N):
    prompts = draw_prompts(1, N, d, q, law="rational", seed=q)
    codes = orthonormal_codes(N)
    network = separating_attention(d, q, codes, sharpness=40 * q)
    with precision(300):
        outputs = network.to_balls().attention(encode(prompts, codes, system="ball"))
        counts, tokens = network.decode(outputs)
    assert (counts == (prompts.indices[..., None] == np.arange(N)).sum(axis=-2)).all()
    assert all(abs(a - b) < 1e-30 for a, b in zip(tokens[0, 0].ravel(), prompts.tokens[0].ravel(), strict=True))
    assert all(x.overlaps(arb(y)) for x, y in zip(tokens[0, -1].ravel(), prompts.tokens[0].ravel(), strict=True))


def test_d_heads_in_float64_and_other_labels():
    prompts = draw_prompts(2, 7, 2, 3, law="rational", distinct=True, seed=5)
    codes = orthonormal_codes(7)
    network = separating_attention(2, 3, codes, sharpness=45).to_float()
    z = encode(prompts, codes, system="float")
    squares = (to_float(prompts.selected()) ** 2).sum(axis=-2)
    assert np.abs(network.label(z, lambda x: x * x) - squares).max() < 1e-9
    assert np.abs(network(z) - to_float(prompts.selected()).sum(axis=-2)).max() < 1e-9


def test_links_of_networks():
    network = FeedForward((Affine(np.arange(8).reshape(4, 2), np.array([1, -9])), Affine(np.array([[1], [-2]]))))
    with pytest.raises(ValueError, match="one ReLU layer and one linear output"):
        network_link(network, 2)
    network = FeedForward(network.layers, activations=("relu", "identity"))
    tokens = np.array([[1.0, -2.0], [3.0, 0.5]])
    assert network_link(network, 2)(tokens) == network(tokens.reshape(4))[0]
    with pytest.raises(ValueError, match="do not divide into 3 tokens"):
        network_link(network, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: retrieval_transformer(
                linear_link([[1]]), PositionCodes(np.array([[1, 1], [1, 1]]), 2), radius=1, error=1
            ),
            "numbers 0 and 1 have 1",
        ),
        (
            lambda: retrieval_transformer(linear_link([[1]]), orthonormal_codes(2), radius=0, error=1),
            "must be positive",
        ),
        (
            lambda: retrieval_transformer(linear_link([[1]]), orthonormal_codes(2), radius=1, error=0),
            "must be positive",
        ),
        (lambda: retrieval_sharpness(3, 1, 1, -1), "ratio of the radius and the error must be positive"),
        (lambda: retrieval_sharpness(3, 1, 1, 0), "ratio of the radius and the error must be positive"),
        (lambda: retrieval_sharpness(3, 1, 1, fmpq(-1, 2)), "ratio of the radius and the error must be positive"),
        (lambda: retrieval_sharpness(3, 1, 1, arb("inf")), "ratio of the radius and the error must be positive"),
        (lambda: retrieval_sharpness(0, 1, 1, 1), "number of tokens must be an integer"),
        (lambda: retrieval_sharpness(3, 0, 1, 1), "dimension of tokens must be an integer"),
        (lambda: retrieval_sharpness(3, 1, 0, 1), "sparsity q must be an integer"),
        (lambda: readout_of(linear_link([[1]]), token_stream(2, 1, 2)), "tokens of dimension 1, not 2"),
        (lambda: token_transformer(token_stream(1, 1, 1), np.ones((1, 2, 2)), None), r"shape \(H, 3, 3\)"),
        (lambda: averaging_attention(1, 1, field_codes(20), 1), "20 position codes of dimension 16 are linearly dep"),
        (lambda: counting_embedding(draw_prompts(1, 2, 1, 1), orthonormal_codes(2), 0.0), "gap must be positive"),
        (lambda: counting_embedding(draw_prompts(1, 2, 1, 1), orthonormal_codes(2), 1, "exact"), "Logarithms"),
        (lambda: separating_attention(1, 1, orthonormal_codes(2), slope=0), "slope must be positive"),
        (lambda: query_key_head(token_stream(1, 1, 1), {("x", "y"): [[1]]}), "no block 'y'"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_layers_that_do_not_fit_are_refused():
    stream = token_stream(1, 1, 2)
    layer = retrieval_attention(1, 1, orthonormal_codes(2), 1)
    readout = readout_of(linear_link([[1]]), stream)
    with pytest.raises(ValueError, match="are concatenated"):
        TokenTransformer(stream, AttentionLayer(layer.heads), readout)
    with pytest.raises(ValueError, match="The readout takes the 5 coordinates"):
        TokenTransformer(stream, layer, readout_of(linear_link([[1], [1]]), stream))


def test_prompts_and_outputs_that_do_not_fit_are_refused():
    network = retrieval_transformer(linear_link([[1]]), orthonormal_codes(2), radius=1, error=1).to_float()
    with pytest.raises(ValueError, match=r"The scores of a head of shape \(100000, 100000\) would take 74.5 GiB"):
        network(np.broadcast_to(np.zeros((1, 5)), (100_000, 5)))
    heads = separating_attention(2, 3, orthonormal_codes(3)).to_float()
    with pytest.raises(ValueError, match="outputs of 2 heads of width 14 have 28 coordinates, not 27"):
        heads.decode(np.ones((3, 27)))


def test_tokens_that_are_too_large_for_the_gain_are_refused():
    prompts = Prompts(np.array([[[30.0], [-40.0], [0.0]]]), np.array([[[0, 0], [1, 0], [2, 2]]]))
    codes = orthonormal_codes(3)
    network = separating_attention(1, 2, codes, sharpness=4).to_float()
    with pytest.raises(ValueError, match="too large for the gain 2"):
        network(encode(prompts, codes))
    steep = separating_attention(1, 2, codes, sharpness=10**4).to_float()
    with pytest.raises(ValueError, match="too small to be read in float64"):
        steep(encode(prompts, codes))
    codes = extremal_codes(3)
    with pytest.raises(ValueError, match="undecided"):
        separating_attention(1, 2, codes, sharpness=10**4).to_balls()(encode(prompts, codes, system="ball"))
