"""The induction heads as a HookedTransformer: the same outputs and attention; refusals; needs the optional extra."""

from dataclasses import replace

import numpy as np
import pytest

from constructions.induction.head import bayesian_ngram_head, ngram_head, printed_induction_head
from constructions.networks.transformer import AttentionTransformer
from constructions.networks.transformer_lens import lens_tokens, to_transformer_lens


def installed() -> bool:
    try:
        from transformer_lens import HookedTransformer  # noqa: F401
    except ImportError:
        return False
    return True


needs_lens = pytest.mark.skipif(not installed(), reason="TransformerLens 3 is not installed.")
HEADS = {
    "printed": printed_induction_head(2, 7.0),
    "bigrams": ngram_head(2, 3, 12.0, 5.0),
    "Bayes": bayesian_ngram_head(2, 2, 12.0, 5.0),
    "trigrams": ngram_head(3, 2, 12.0, 5.0),
    "Bayes, 4-grams": bayesian_ngram_head(4, 2, 12.0, 5.0, (1, 3)),
}


@needs_lens
@pytest.mark.parametrize("name", list(HEADS))
def test_export_has_the_same_outputs_and_attention(name):
    """All lengths up to the context; float64 on both sides, weights below 100: agreement to 1e-11."""
    head = HEADS[name]
    model = to_transformer_lens(head.transformer, 12)
    rng = np.random.default_rng(0)
    prefix = len(head.transformer.prefix)
    for t in (1, 2, 7, 12):
        x = rng.integers(1, head.transformer.symbols + 1, size=(5, t))
        logits, cache = model.run_with_cache(lens_tokens(head.transformer, x))
        assert np.abs(logits[:, prefix:].detach().numpy() - head(x)).max() < 1e-11
        first = head.transformer.layers[0].heads[0]
        weights = first.attention(head.transformer.embed(x))
        assert np.abs(cache["pattern", 0][:, 0].detach().numpy() - weights).max() < 1e-11
    assert np.ptp(head(x)) > 0.1
    # negative control: the positions in reverse order
    model.pos_embed.W_pos.data = model.pos_embed.W_pos.data.flip(0)
    assert np.abs(model(lens_tokens(head.transformer, x))[:, prefix:].detach().numpy() - head(x)).max() > 1e-3


def test_what_cannot_be_exported_is_refused():
    head = HEADS["bigrams"]
    with pytest.raises(ValueError, match="at least one token, not 0"):
        to_transformer_lens(head.transformer, 0)
    with pytest.raises(ValueError, match="hard or not causal"):
        to_transformer_lens(head.hard().transformer, 5)
    first, second = head.transformer.layers
    moved = AttentionTransformer(
        head.transformer.embedding, head.transformer.prefix, (second, first), head.transformer.readout
    )
    with pytest.raises(ValueError, match="after the first layer"):
        to_transformer_lens(moved, 5)
    query = first.heads[0].query.copy()
    query[0, 0] += 1.0
    uneven = replace(first, heads=(replace(first.heads[0], query=query),))
    with pytest.raises(ValueError, match="depend on the token"):
        to_transformer_lens(replace(head.transformer, layers=(uneven, second)), 5)


@pytest.mark.skipif(installed(), reason="TransformerLens is installed.")
def test_missing_package_is_named():
    with pytest.raises(ImportError, match="transformer-lens>=3,<4"):
        to_transformer_lens(HEADS["bigrams"].transformer, 5)


def test_tokens_of_the_export():
    head = HEADS["Bayes"]
    assert lens_tokens(head.transformer, [2, 1]).tolist() == [[2, 3, 1, 0]]
    with pytest.raises(ValueError, match=r"integers 1, ..., 2"):
        lens_tokens(head.transformer, [3])
