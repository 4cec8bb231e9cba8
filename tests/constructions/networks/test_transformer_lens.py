"""The induction heads as a TransformerBridge: the same outputs and attention, refusals.

The exported weights are run twice: by `reference_forward`, the attention-only computation of TransformerLens written in
NumPy, and by TransformerLens itself where the optional extra is installed.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lemmata
from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head, printed_induction_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.transformer_lens import LensWeights, lens_tokens, lens_weights, to_transformer_lens


def installed() -> bool:
    try:
        from transformer_lens.model_bridge import TransformerBridge
    except ImportError:
        return False
    return hasattr(TransformerBridge, "boot_native")


needs_lens = pytest.mark.skipif(not installed(), reason="TransformerLens 4 is not installed.")
HEADS = {
    "printed": printed_induction_head(2, 7.0),
    "bigrams": ngram_head(2, 3, 12.0, 5.0),
    "Bayes": bayesian_ngram_head(2, 2, 12.0, 5.0),
    "trigrams": ngram_head(3, 2, 12.0, 5.0),
    "Bayes, 4-grams": bayesian_ngram_head(4, 2, 12.0, 5.0, (1, 3)),
}


def reference_forward(weights: LensWeights, tokens):
    """Logits and attention patterns by layer, as TransformerLens documents the model of these settings.

    embed[token] + pos_embed[place]; in every block each head adds pattern (z q + b) o, with pattern the softmax of
    (z q + b)(z k + b)^T / sqrt(d_head) over the places up to its own, and the block adds the bias of o; no layer norm
    and no MLP; then unembed. Linear maps are stored as (out, in), and the outputs of q, k, v run over the heads first.
    """
    settings, parameters = weights.settings, dict(weights.parameters)
    assert settings["attn_only"]
    assert settings["normalization_type"] is None
    assert settings["positional_embedding_type"] == "standard"
    assert settings.get("use_attn_scale", True)
    T, d, dh, heads = tokens.shape[1], settings["d_model"], settings["d_head"], settings["n_heads"]
    assert settings["n_ctx"] >= T

    def take(name, *shape):
        array = parameters.pop(name)
        assert array.shape == shape
        return array

    def linear(z, name, out, into):
        return z @ take(f"{name}.weight", out, into).T + take(f"{name}.bias", out)

    z, patterns = take("embed.weight", settings["d_vocab"], d)[tokens], []
    z = z + take("pos_embed.weight", settings["n_ctx"], d)[:T]
    for n in range(settings["n_layers"]):
        block = f"blocks.{n}.attn."
        q, key, v = (
            linear(z, block + name, heads * dh, d).reshape(len(z), T, heads, dh).transpose(0, 2, 1, 3) for name in "qkv"
        )
        scores = q @ key.transpose(0, 1, 3, 2) / np.sqrt(dh)
        scores = np.where(np.tril(np.ones((T, T), dtype=bool)), scores, -np.inf)
        pattern = np.exp(scores - scores.max(axis=-1, keepdims=True))
        pattern /= pattern.sum(axis=-1, keepdims=True)
        patterns.append(pattern)
        mixed = (pattern @ v).transpose(0, 2, 1, 3).reshape(len(z), T, heads * dh)
        z = z + linear(mixed, f"{block}o", d, heads * dh)
    logits = linear(z, "unembed", settings["d_vocab_out"], d)
    assert not parameters  # every exported parameter is one of the model
    return logits, patterns


@pytest.mark.parametrize("name", list(HEADS))
def test_exported_weights_compute_the_head_by_the_documented_forward_pass(name):
    """All lengths up to the context, all layers and heads; needs no TransformerLens.

    Tolerance: float64 on both sides. Scores are at most (n-1) c2^2 + c1 < 100, sums of fewer than 100 products: errors
    below 100 * 100 * 2^-53 each, hence relative errors of the weights, and errors of averages of numbers up to 1,
    below 1e-11.
    """
    head = HEADS[name]
    weights = lens_weights(head.transformer, 12)
    rng = np.random.default_rng(0)
    prefix = len(head.transformer.prefix)
    for t in (1, 2, 7, 12):
        x = rng.integers(1, head.transformer.symbols + 1, size=(5, t))
        tokens = lens_tokens(head.transformer, x).numpy()
        logits, patterns = reference_forward(weights, tokens)
        assert np.abs(logits[:, prefix:] - head(x)).max() < 1e-11
        for layer, (found, own) in enumerate(zip(patterns, head.transformer.layers, strict=True)):
            z = head.transformer.stream(x, layer)
            for h, part in enumerate(own.heads):
                assert np.abs(found[:, h] - part.attention(z)).max() < 1e-11
    assert np.ptp(head(x)) > 0.1
    # negative controls: each matrix of the attention, and the positions, in reverse order
    for changed in ("pos_embed", "blocks.0.attn.q", "blocks.0.attn.v", "blocks.1.attn.k", "unembed"):
        changed += ".weight"
        moved = {**weights.parameters, changed: np.flip(weights.parameters[changed], axis=0)}
        wrong, _ = reference_forward(replace(weights, parameters=moved), tokens)
        assert np.abs(wrong[:, prefix:] - head(x)).max() > 1e-3


@needs_lens
@pytest.mark.parametrize("name", list(HEADS))
def test_export_has_the_same_outputs_and_attention(name):
    """All lengths up to the context; tolerance as in the test before."""
    head = HEADS[name]
    model = to_transformer_lens(head.transformer, 12)
    rng = np.random.default_rng(0)
    prefix = len(head.transformer.prefix)
    for t in (1, 2, 7, 12):
        x = rng.integers(1, head.transformer.symbols + 1, size=(5, t))
        logits, cache = model.run_with_cache(lens_tokens(head.transformer, x))
        assert np.abs(logits[:, prefix:].detach().numpy() - head(x)).max() < 1e-11
        for layer, own in enumerate(head.transformer.layers):
            z = head.transformer.stream(x, layer)
            for h, part in enumerate(own.heads):
                assert np.abs(cache["pattern", layer][:, h].detach().numpy() - part.attention(z)).max() < 1e-11
    assert np.ptp(head(x)) > 0.1
    # negative controls: the positions in reverse order, the scores larger by a fiftieth
    tokens = lens_tokens(head.transformer, x)
    for name, change in (("pos_embed.weight", lambda a: a.flip(0)), ("blocks.1.attn.q.weight", lambda a: a * 1.02)):
        wrong = to_transformer_lens(head.transformer, 12)
        wrong.load_state_dict({key: change(a) if key == name else a for key, a in wrong.state_dict().items()})
        assert np.abs(wrong(tokens)[:, prefix:].detach().numpy() - head(x)).max() > 1e-4


@needs_lens
def test_the_snippet_of_the_guide_runs_and_its_comments_are_true():
    guide = (Path(lemmata.__file__).parent / "site" / "pages" / "machines.md").read_text(encoding="utf-8")
    blocks = [b for b in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "to_transformer_lens" in b]
    assert len(blocks) == 1
    names = {"lm": lemmata}
    exec(compile(blocks[0], "machines.md", "exec"), names)
    pattern = names["cache"]["pattern", 1][0, 0, -1].detach().numpy()
    assert np.abs(pattern - [0, 0, 0, 1, 0, 0]).max() < 0.003
    assert np.abs(names["logits"][:, 1:].detach().numpy() - names["head"]([1, 2, 3, 1, 2])).max() < 1e-11


def test_what_cannot_be_exported_is_refused():
    head = HEADS["bigrams"]
    with pytest.raises(ValueError, match="at least one token, not 0"):
        lens_weights(head.transformer, 0)
    with pytest.raises(ValueError, match="hard or not causal"):
        lens_weights(head.hard().transformer, 5)
    first, second = head.transformer.layers
    moved = replace(head.transformer, layers=(second, first))
    with pytest.raises(ValueError, match="after the first layer"):
        lens_weights(moved, 5)
    query = first.heads[0].query.weight.copy()
    query[0, 0] += 1.0
    uneven = replace(first, heads=(replace(first.heads[0], query=Affine(query)),))
    with pytest.raises(ValueError, match="depend on the token"):
        lens_weights(replace(head.transformer, layers=(uneven, second)), 5)
    width = head.transformer.width
    biased = replace(first.heads[0], value=Affine(first.heads[0].value.weight, np.ones(width)))
    with pytest.raises(ValueError, match="biases, a null pair or an output map"):
        lens_weights(replace(head.transformer, layers=(replace(first, heads=(biased,)), second)), 5)
    with pytest.raises(ValueError, match="Layer 1 does not add heads to a residual stream"):
        lens_weights(replace(head.transformer, layers=(FeedForward((Affine(np.eye(width)),)), first, second)), 5)
    with pytest.raises(ValueError, match="Absolute positions are not exported"):
        lens_weights(replace(head.transformer, positions=np.zeros((5, width))), 5)
    with pytest.raises(ValueError, match="read at them by a matrix"):
        lens_weights(replace(head.transformer, read="first"), 5)


@pytest.mark.skipif(installed(), reason="TransformerLens is installed.")
def test_missing_package_is_named():
    with pytest.raises(ImportError, match="transformer-lens>=4,<5"):
        to_transformer_lens(HEADS["bigrams"].transformer, 5)


def test_tokens_of_the_export():
    head = HEADS["Bayes"]
    assert lens_tokens(head.transformer, [2, 1]).tolist() == [[2, 3, 1, 0]]
    with pytest.raises(ValueError, match=r"integers 1, ..., 2"):
        lens_tokens(head.transformer, [3])
