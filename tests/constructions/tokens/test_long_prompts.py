"""Blocked heads against the layer itself, on long prompts as well, and what they refuse."""

import dataclasses

import numpy as np
import pytest

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.tokens.attention import retrieval_attention
from lemmata.constructions.tokens.long_prompts import shown_tokens
from lemmata.constructions.tokens.separating import separating_attention
from lemmata.constructions.tokens.transformer import query_key_head, token_stream
from lemmata.numerics.tokens.codes import field_codes, orthonormal_codes, random_sign_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.prompts import Prompts, draw_prompts


def test_it_is_the_layer():
    prompts = draw_prompts(1, 30, 3, 2, seed=1)
    codes = orthonormal_codes(30)
    z = encode(prompts, codes)[0]
    stream = token_stream(3, 2, 30)
    nothing = AttentionLayer((query_key_head(stream, {}),), combination="concatenate")
    for layer in (retrieval_attention(3, 2, codes, 5), separating_attention(3, 2, codes).attention, nothing):
        wanted = layer.to_float()(z).reshape(30, layer.head_count, -1)[..., :3]
        assert np.abs(shown_tokens(layer, stream, z) - wanted).max() < 1e-12
        assert np.abs(shown_tokens(layer, stream, z, [7, 2]) - wanted[[7, 2]]).max() < 1e-12


def test_tokens_of_a_long_prompt_are_retrieved():
    N, d = 50_000, 2
    codes = random_sign_codes(N, 48, 0)
    rng = np.random.default_rng(0)
    prompts = Prompts(rng.uniform(-1, 1, (1, N, d)), rng.integers(0, N, (1, N, 1)))
    positions = np.array([0, 1, 25_000, N - 1])
    z = encode(prompts, codes)[0]
    found = shown_tokens(retrieval_attention(d, 1, codes, 40), token_stream(d, 1, 48), z, positions)
    for place, i in enumerate(positions):  # a plain sum for the few positions
        scores = 80 * codes.rows(prompts.indices[0, i]) @ codes.rows(np.arange(N)).T
        weights = np.exp(scores[0] - scores.max())
        assert np.abs(found[place, 0] - weights @ prompts.tokens[0] / weights.sum()).max() < 1e-10


def test_bad_input_is_refused():
    codes = field_codes(4)
    layer, stream = retrieval_attention(1, 1, codes, 2), token_stream(1, 1, codes.dimension)
    z = encode(draw_prompts(1, 4, 1, 1), codes)[0]
    with pytest.raises(ValueError, match=r"A prompt has the shape \(N, "):
        shown_tokens(layer, stream, z[:, 1:])
    with pytest.raises(ValueError, match=r"integers 0, \.\.\., 3"):
        shown_tokens(layer, stream, z, [4])
    z[1, 0] = np.nan
    with pytest.raises(ValueError, match="z has NaN or infinity at"):
        shown_tokens(layer, stream, z)
    causal = AttentionLayer((dataclasses.replace(layer.heads[0], causal=True),), combination="concatenate")
    with pytest.raises(ValueError, match="Head 1 must be merged"):
        shown_tokens(causal, stream, np.zeros_like(z))
