"""Attention-only transformers from files: what is recognised, the same function by plain loops, and what is refused."""

import math
import re

import numpy as np
import pytest
import torch

from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.attention_checkpoints import attention_only, load_attention_only
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer_norm import LayerNorm
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.networks.transformer_lens import lens_tokens, lens_weights
from tests.constructions.networks.test_transformer_lens import reference_forward

RANDOM = np.random.default_rng(5)
VOCABULARY, WIDTH, HEADS, KEY, PLACES = 4, 6, 3, 2, 9


def hooked(layers=2, rng=RANDOM):
    """Random weights by the names of a HookedTransformer."""
    state = {
        "embed.W_E": rng.normal(size=(VOCABULARY, WIDTH)),
        "pos_embed.W_pos": rng.normal(size=(PLACES, WIDTH)),
        "unembed.W_U": rng.normal(size=(WIDTH, VOCABULARY)),
        "unembed.b_U": np.zeros(VOCABULARY),
    }
    for n in range(layers):
        for name in "QKV":
            state[f"blocks.{n}.attn.W_{name}"] = rng.normal(size=(HEADS, WIDTH, KEY))
            state[f"blocks.{n}.attn.b_{name}"] = np.zeros((HEADS, KEY))
        state[f"blocks.{n}.attn.W_O"] = rng.normal(size=(HEADS, KEY, WIDTH))
        state[f"blocks.{n}.attn.b_O"] = np.zeros(WIDTH)
        state[f"blocks.{n}.attn.mask"] = np.tril(np.ones((PLACES, PLACES), dtype=bool))
        state[f"blocks.{n}.attn.IGNORE"] = np.array(-np.inf)
    return state


def loops(state, tokens, scale):
    """The logits of one sequence of token ids, number by number."""
    stream = [[float(e + p) for e, p in zip(state["embed.W_E"][a], row, strict=True)]
              for a, row in zip(tokens, state["pos_embed.W_pos"], strict=False)]  # fmt: skip
    for n in range(2):
        W_Q, W_K, W_V, W_O = (state[f"blocks.{n}.attn.W_{name}"] for name in "QKVO")
        added = [[0.0] * WIDTH for _ in tokens]
        for h in range(HEADS):
            q, k, v = (
                [[sum(z[i] * W[h, i, m] for i in range(WIDTH)) for m in range(KEY)] for z in stream]
                for W in (W_Q, W_K, W_V)
            )
            for i in range(len(tokens)):
                masses = [math.exp(scale * sum(q[i][m] * k[j][m] for m in range(KEY))) for j in range(i + 1)]
                mixed = [sum(masses[j] * v[j][m] for j in range(i + 1)) / sum(masses) for m in range(KEY)]
                for d in range(WIDTH):
                    added[i][d] += sum(mixed[m] * W_O[h, m, d] for m in range(KEY))
        stream = [[a + b for a, b in zip(z, more, strict=True)] for z, more in zip(stream, added, strict=True)]
    W_U = state["unembed.W_U"]
    return [[sum(z[d] * W_U[d, out] for d in range(WIDTH)) for out in range(VOCABULARY)] for z in stream]


def test_a_hooked_transformer_is_the_function_of_its_weights():
    state, tokens = hooked(), [2, 0, 3, 3, 1, 0, 2]
    found = attention_only(state)
    assert found.tokens == (0, 1, 2, 3)
    assert (found.left_out, found.length) == (0, PLACES)
    expected = np.array(loops(state, tokens, KEY**-0.5))
    assert np.abs(found.model(np.array(tokens) + 1) - expected).max() < 1e-12 * np.abs(expected).max()
    told = np.array(loops(state, tokens, 0.3))
    assert np.abs(attention_only(state, scale=0.3).model(np.array(tokens) + 1) - told).max() < 1e-12
    assert np.abs(told - expected).max() > 0.01


def test_tokens_in_front_are_no_symbols_and_have_positions():
    state = hooked()
    found = attention_only(state, bos=[3, 1], symbols=2)
    assert found.tokens == (0, 2)
    assert (found.left_out, found.length) == (2, PLACES - 2)
    expected = np.array(loops(state, [3, 1, 2, 2, 0], KEY**-0.5))[2:, [0, 2]]
    assert np.abs(found.model([2, 2, 1]) - expected).max() < 1e-12 * np.abs(expected).max()


def test_the_names_of_linear_maps_and_an_export_of_ours():
    head = bayesian_ngram_head(2, 2, 12.0, 5.0).transformer
    weights = lens_weights(head, 10)
    x = np.array([[1, 2, 2, 1, 2, 1, 1], [2, 2, 1, 1, 1, 2, 1]])
    found = attention_only(weights.parameters, heads=1, bos=[2, 3])
    tokens = lens_tokens(head, x).numpy()
    assert np.abs(found.model(x) - reference_forward(weights, tokens)[0][:, 2:]).max() < 1e-12
    assert np.abs(found.model(x) - head(x)).max() < 1e-12
    state = hooked()
    flat = {
        f"blocks.{n}.attn.{short}.weight": np.concatenate(
            list(state[f"blocks.{n}.attn.W_{short.upper()}"]), axis=axis
        ).T
        for n in range(2)
        for short, axis in (("q", 1), ("k", 1), ("v", 1), ("o", 0))
    }
    ends = {"embed.weight": state["embed.W_E"], "pos_embed.weight": state["pos_embed.W_pos"]}
    both = (
        attention_only({**flat, **ends, "unembed.weight": state["unembed.W_U"].T}, heads=HEADS),
        attention_only(state),
    )
    assert np.abs(both[0].model([1, 4, 3, 3]) - both[1].model([1, 4, 3, 3])).max() < 1e-12


def own(outputs, relative):
    """A random transformer of ours: three heads in a first layer of two forms, one in the second."""

    def head(m):
        maps = [Affine(RANDOM.normal(size=(5, size))) for size in (m, m, 2 if outputs else 5)]
        out = Affine(RANDOM.normal(size=(2, 5))) if outputs else None
        return Head(*maps, temperature_squared=m, output=out, relative_keys=RANDOM.normal(size=(relative, m)))

    sizes = ((3, 3), (3, 3)) if outputs else ((3, 3, 2), (4,))
    layers = tuple(AttentionLayer(tuple(map(head, some))) for some in sizes)
    return Transformer(RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(2, 5)), layers, RANDOM.normal(size=(5, 3)))


@pytest.mark.parametrize("suffix", [".pt", ".npz"])
@pytest.mark.parametrize(("outputs", "relative"), [(False, 4), (False, 0), (True, 4)])
def test_what_to_torch_writes_is_read_back(tmp_path, outputs, relative, suffix):
    source = own(outputs, relative)
    module = source.to_torch()
    state = {f"model.{name}": tensor for name, tensor in module.state_dict().items()}
    file = tmp_path / f"model{suffix}"
    if suffix == ".pt":
        torch.save({"state_dict": state}, file)
    else:
        np.savez(file, **{name: tensor.numpy() for name, tensor in state.items()})
    found = load_attention_only(file, heads=2 if outputs else None)
    x = RANDOM.integers(1, 4, (4, 7))
    assert np.abs(found.model(x) - module(torch.from_numpy(x)).detach().numpy()).max() < 1e-12
    assert [len(layer.heads) for layer in found.model.layers] == ([2, 2] if outputs else [3, 1])
    assert found.length == 16


def test_single_precision_is_read_as_it_is():
    source = own(False, 4)
    state = {name: part.numpy() for name, part in source.to_torch(dtype=torch.float32).state_dict().items()}
    found = attention_only(state)
    assert found.model.embedding.dtype == np.float64
    assert np.array_equal(found.model.embedding, source.embedding.astype(np.float32).astype(np.float64))


def without(name):
    return {key: array for key, array in hooked().items() if key != name}


def stacked(layer):
    head = ngram_head(2, 3, 9.0, 4.0).transformer
    module = Transformer(head.embedding, head.prefix, (*head.layers, layer), head.readout).to_torch()
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"blocks.0.ln1.w": np.ones(WIDTH)}, "it has LayerNorm (blocks.0.ln1.w)"),
        ({"ln_final.w": np.ones(WIDTH), "ln_final.b": np.zeros(WIDTH)}, "LayerNorm (ln_final.w, ln_final.b)"),
        ({"blocks.0.mlp.W_in": np.ones((WIDTH, 9)), "blocks.0.mlp.b_in": np.zeros(9)}, "an MLP (blocks.0.mlp.W_in"),
        ({"blocks.1.attn.rotary_sin": np.ones((PLACES, KEY))}, "rotary positions"),
        ({"blocks.0.attn.mask": np.ones((PLACES, PLACES), dtype=bool)}, "is no causal mask"),
        ({"embed.W_E": np.ones((VOCABULARY, WIDTH), dtype=int)}, "embed.W_E holds numbers of type int64"),
        ({"embed.W_E": np.full((VOCABULARY, WIDTH), np.nan)}, "not finite"),
        ({"embed.W_E": np.ones(VOCABULARY)}, "must have 2 axes, not the shape (4,)"),
        ({"embed.W_E": np.ones((VOCABULARY, WIDTH + 1))}, "are those of one width, not of [6, 7]"),
        ({"blocks.0.attn.W_K": np.ones((HEADS + 1, WIDTH, KEY))}, "different numbers of heads"),
        ({"blocks.0.attn.W_K": np.ones((HEADS, WIDTH, KEY + 1))}, "b_K must have the shape (3, 3), not (3, 2)"),
        ({"blocks.3.attn.W_Q": np.ones((HEADS, WIDTH, KEY))}, "must be 0, 1, ..., not [0, 1, 3]"),
        ({"blocks.0.attn.W_R": np.ones((HEADS, WIDTH, KEY))}, "there are others. Found: blocks.0.attn.W_R (3, 6, 2)"),
    ],
)  # fmt: skip
def test_other_models_are_refused(change, said):
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        attention_only({**hooked(), **change})
    assert ("Train it without LayerNorm" in str(refused.value)) == ("LayerNorm" in said)


def test_layer_norm_that_was_folded_in_is_refused():
    """Centred as TransformerLens does it: no tensor is left of the LayerNorm, but the function divides by a size."""
    state = hooked()
    writing = ["embed.W_E", "pos_embed.W_pos", *(f"blocks.{n}.attn.W_O" for n in range(2))]
    centred = {name: state[name] - state[name].mean(axis=-1, keepdims=True) for name in writing}
    rounded = {name: array.astype(np.float32) for name, array in centred.items()}
    for some in (centred, rounded):
        with pytest.raises(ValueError, match=r"folded into the weights \(LNPre\).*normalization_type=None"):
            attention_only({**state, **some})
    for name in writing:
        found = attention_only({**state, **{other: centred[other] for other in writing if other != name}})
        assert found.model.symbols == VOCABULARY


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ({}, "These are no weights of an attention-only transformer. Found: nothing. Accepted: names of lm.to_torch"),
        ({"fc1.0": np.ones((2, 2))}, "Found: fc1.0 (2, 2). Accepted"),
        (without("blocks.1.attn.W_V"), "blocks.1.attn.W_V is missing. Found: "),
        (without("unembed.W_U"), "unembed.W_U is missing"),
        ({"embed.W_E": np.ones((3, 2)), "unembed.W_U": np.ones((2, 3))}, "must be 0, 1, ..., not none"),
        (stacked(FeedForward((Affine(np.eye(9)),), residual=True)), "an MLP (layers.2.layers.0.weight)"),
        (stacked(LayerNorm(np.ones(9), np.zeros(9))), "LayerNorm (layers.2.gain, layers.2.shift)"),
    ],
)
def test_what_is_missing_or_not_known_is_named(tensors, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        attention_only(tensors)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"heads": 2}, "blocks.0.attn has 3 heads, not 2"),
        ({"symbols": 5}, "4 tokens have an embedding and an output; at least 2 symbols are needed, not 5"),
        ({"symbols": 1}, "The number of symbols"),
        ({"scale": 0.0}, "must be positive and finite, not 0.0"),
        ({"scale": math.inf}, "must be positive and finite, not inf"),
        ({"bos": [4]}, "tokens 0, ..., 3, not 4"),
        ({"bos": [0, 1, 2]}, "1 tokens have an embedding and an output"),
        ({"bos": [0] * PLACES}, "There are 9 positions, too few for a token after 9 in front"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        attention_only(hooked(), **options)


def test_the_number_of_heads_is_asked_for_where_names_leave_it_open():
    state = {name: tensor.numpy() for name, tensor in own(True, 0).to_torch().state_dict().items()}
    with pytest.raises(ValueError, match=r"do not say how many heads lie side by side in layers\.0\.heads\.0\.query"):
        attention_only(state)
    with pytest.raises(ValueError, match="cannot be cut into 5 heads"):
        attention_only(state, heads=5)
    linear = lens_weights(ngram_head(2, 2, 9.0, 4.0).transformer, 6).parameters
    with pytest.raises(ValueError, match="do not say how many heads lie side by side"):
        attention_only(linear)


def test_errors_name_the_file(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"other\.npz: These are no weights"):
        load_attention_only(tmp_path / "other.npz")
    (tmp_path / "broken.pt").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"broken\.pt is no file of weights that torch reads safely"):
        load_attention_only(tmp_path / "broken.pt")
