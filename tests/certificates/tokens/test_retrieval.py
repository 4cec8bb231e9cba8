"""Suprema of retrieval errors against prompts, also the worst ones, and what the certificate refuses."""

import dataclasses

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.tokens.retrieval import certify_retrieval, label_bound, printed_bound, retrieval_bound
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.tokens.attention import retrieval_attention, retrieval_transformer
from lemmata.constructions.tokens.transformer import query_key_head, token_stream
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.tokens.codes import (
    PositionCodes,
    extremal_codes,
    field_codes,
    orthonormal_codes,
    random_sign_codes,
)
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import max_link
from lemmata.numerics.tokens.prompts import Prompts, draw_prompts

FAMILIES = {"extremal": extremal_codes(7), "field": field_codes(7), "random": random_sign_codes(7, 20, 3)}


def errors(layer, prompts, codes):
    """The distances of the heads' x-blocks from the tokens, shape (n, N, q), in floats."""
    z = encode(prompts, codes, system="float")
    outputs = layer.to_float()(z).reshape(*z.shape[:2], prompts.sparsity, -1)[..., : prompts.dimension]
    return np.linalg.norm(outputs - to_float(prompts.selected()), axis=-1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_supremum_is_attained_and_not_exceeded(family):
    codes, d, q = FAMILIES[family], 3, 2
    layer = retrieval_attention(d, q, codes, fmpq(9, 2))
    certificate = certify_retrieval(layer, token_stream(d, q, codes.dimension), codes, 2)
    worst = [float(error.mid()) for error in certificate.errors]
    prompts = draw_prompts(20, 7, d, q, law="sphere", seed=1)
    prompts = Prompts(prompts.tokens * 2 / np.sqrt(d), prompts.indices)
    found = errors(layer, prompts, codes).max(axis=(0, 1))
    assert (found <= np.array(worst) + 1e-12).all()
    for head, t in enumerate(certificate.worst):
        tokens = np.zeros((1, 7, d))
        tokens[:, :, 0] = -2
        tokens[:, t, 0] = 2
        attained = errors(layer, Prompts(tokens, np.full((1, 7, q), t)), codes)[0, 0, head]
        assert attained == pytest.approx(worst[head], rel=1e-12)


def test_bounds_in_closed_form():
    codes, d, q, alpha = extremal_codes(7), 3, 2, fmpq(9, 2)
    certificate = certify_retrieval(
        retrieval_attention(d, q, codes, alpha), token_stream(d, q, codes.dimension), codes, 2
    )
    margin = alpha * fmpq(3, 4)
    assert certificate.margins == (margin, margin)
    assert certificate.error.overlaps(retrieval_bound(7, 2, margin))
    assert retrieval_bound(7, 2, margin) < printed_bound(7, d, q, 2, alpha)
    ratio = retrieval_bound(7, 2, margin) / printed_bound(7, d, q, 2, alpha)
    leak = (-arb(margin)).exp()
    assert ratio.overlaps(6 / (7 * (1 + 6 * leak)))
    assert retrieval_bound(1, 2, 1) == 0


def test_labels():
    link = max_link([[1, 2], [0, -1]], [[3, 0], [1, 1]])
    codes = field_codes(9)
    network = retrieval_transformer(link, codes, radius=3, error=fmpq(1, 10))
    certificate = certify_retrieval(network.attention, network.stream, codes, 3)
    assert label_bound(link, certificate) < fmpq(1, 10)
    prompts = draw_prompts(1, 9, 2, 2, law="rational", seed=2)
    with precision(100):
        found = network.to_balls()(encode(prompts, codes, system="ball"))
        assert all(
            abs(a - b) < label_bound(link, certificate) for a, b in zip(found[0], prompts.labels(link)[0], strict=True)
        )


def test_other_layers_are_refused():
    codes = orthonormal_codes(3)
    stream = token_stream(1, 2, 3)
    layer = retrieval_attention(1, 2, codes, 2)

    def refused(heads, radius=1):
        with pytest.raises(ValueError, match=r"heads|Head|radius"):
            certify_retrieval(AttentionLayer(heads, combination="concatenate"), stream, codes, radius)

    first, second = layer.heads
    refused((first,))
    refused((second, first))
    refused(layer.heads, 0)
    reading = query_key_head(stream, {("index_1", "position"): 2 * np.eye(3, dtype=int), ("x", "x"): [[1]]})
    refused((reading, second))
    for change in ({"causal": True}, {"weigh": "hardmax"}, {"value": np.zeros((10, 10), int)}):
        refused((dataclasses.replace(first, **change), second))
    assert certify_retrieval(layer, stream, codes, 1).margins == (1, 1)


def test_codes_that_collide_are_not_told_apart():
    codes = PositionCodes(np.array([[1, 0], [0, 1], [1, 0]]), 1)
    certificate = certify_retrieval(retrieval_attention(1, 1, codes, 50), token_stream(1, 1, 2), codes, 1)
    assert certificate.margins == (0,)
    assert certificate.error > 0.999
