"""Trained heads from tensors: the heads are those of the module, every tensor has a role, and the rest is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from lemmata.certificates.capacity.reading import read_trained
from lemmata.certificates.capacity.trained import measured_reader
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.torch import to_torch
from tests.constructions.networks.test_attention_checkpoints import hooked

FULL = {
    "emb.weight": torch.ones(3, 4),
    "pos": torch.ones(1, 5, 4),
    **{f"attn.{name}": value for name, value in nn.MultiheadAttention(4, 2).state_dict().items()},
    "readout.weight": torch.ones(2, 4),
    "readout.bias": torch.ones(2),
}


@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("bias", [False, True])
def test_heads_of_torch_are_the_module(heads: int, bias: bool) -> None:
    torch.manual_seed(heads)
    module = nn.MultiheadAttention(6, heads, bias=bias, batch_first=True).double()
    if bias:
        nn.init.normal_(module.in_proj_bias)
        nn.init.normal_(module.out_proj.bias)
    X = np.random.default_rng(0).normal(size=(5, 6))
    tensor = torch.tensor(X[None])
    expected = module(tensor, tensor, tensor)[0][0].detach().numpy()
    for reader in (read_trained(module), read_trained(module.state_dict(), heads=heads)):
        assert np.allclose(AttentionLayer(reader.heads, "sum")(X), expected)
        assert (reader.table, reader.readout, reader.residual) == (None, None, None)


def test_our_modules_are_read_too() -> None:
    rng = np.random.default_rng(1)
    parts = [Affine(rng.normal(size=(5, 2))) for _ in range(2)]
    head = Head(parts[0], parts[1], Affine(rng.normal(size=(5, 3))), sharpness=3, causal=False)
    X = rng.normal(size=(4, 5))
    layer = AttentionLayer((head, head), "sum")
    state = {f"model.1.{name}": value for name, value in to_torch(layer).state_dict().items()}
    found = read_trained(state, heads=2, scale=3)
    assert np.allclose(AttentionLayer(found.heads, "sum")(X), layer(X))
    with pytest.raises(ValueError, match="do not say by what their scores are multiplied"):
        read_trained(state, heads=2)


def test_every_tensor_has_a_role() -> None:
    reader = read_trained(FULL, heads=2, logit="1")
    assert reader.by_role() == {
        "heads": [f"attn.{name}" for name in ("in_proj_bias", "in_proj_weight", "out_proj.bias", "out_proj.weight")],
        "embedding": ["emb.weight"],
        "positions": ["pos"],
        "readout bias": ["readout.bias"],
        "readout": ["readout.weight"],
    }
    assert np.shape(reader.table) == (8, 4)
    assert reader.kinds == 3 * 6
    told = {"cls": torch.ones(4), "w": torch.ones(7, 4), **{n: t for n, t in FULL.items() if n != "emb.weight"}}
    with_token = read_trained(told, heads=2, logit="0", roles={"w": "embedding"})
    assert np.shape(with_token.table) == (1 + 7 + 5, 4)


def test_a_vector_is_no_table_of_tokens_and_two_tables_are_told_apart() -> None:
    """Were they taken for more tokens, a factor on the embedding, or what is added to it, would not count in full."""
    for name in ("scale_emb", "pos"):
        with pytest.raises(ValueError, match=rf"{name}, taken for .*, must have rows of 4 numbers, not \(4,\)"):
            read_trained({**FULL, name: torch.full((4,), 1e6)}, heads=2, logit="0")
    more = {**FULL, "type_embed.weight": torch.ones(2, 4)}
    with pytest.raises(ValueError, match=r"several embeddings, emb\.weight, type_embed\.weight: say which"):
        read_trained(more, heads=2, logit="0")
    told = read_trained(more, heads=2, logit="0", roles={"type_embed.weight": "embedding"})
    assert np.shape(told.table) == (2 + 3 + 5, 4)


def test_tensors_of_16_bits_are_read() -> None:
    state = {name: torch.tensor(array).bfloat16() for name, array in hooked(1, np.random.default_rng(4)).items()}
    same = {name: value.double() for name, value in state.items()}
    found, expected = (measured_reader(read_trained(one, logit="0")).named() for one in (state, same))
    assert {name: str(norm) for name, norm in found.items()} == {name: str(norm) for name, norm in expected.items()}


def test_a_hooked_transformer_is_read_with_its_stream() -> None:
    state = hooked(1, np.random.default_rng(4))
    reader = read_trained(state, logit="2-1")
    assert reader.residual is True
    assert len(reader.heads) == 3
    with pytest.raises(ValueError, match="heads that are added to the stream: they have a residual connection"):
        measured_reader(reader, residual=False)
    with pytest.raises(ValueError, match=r"2 layers of heads\. The theory of several layers is for"):
        read_trained(hooked(2, np.random.default_rng(4)), logit="0")
    state["blocks.0.attn.b_Q"] += 1
    assert measured_reader(read_trained(state, logit="2-1")).tokens > measured_reader(reader).tokens


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attn.in_proj_weight": torch.ones(11, 4)}, r"in_proj_weight must have the shape \(12, 4\), not \(11, 4\)"),
        ({"attn.in_proj_weight": torch.ones(12)}, r"must have the shape \(36, 12\), not \(12,\)"),
        ({"attn.out_proj.weight": torch.ones(4, 3)}, r"out_proj.weight must have the shape \(4, 4\), not \(4, 3\)"),
        ({"attn.in_proj_bias": torch.ones(4)}, r"in_proj_bias must have the shape \(12,\)"),
        ({"attn.in_proj_bias": torch.full((12,), math.nan)}, "in_proj_bias holds numbers that are not finite"),
        ({"pos": torch.full((5, 4), math.inf)}, "pos holds numbers that are not finite"),
        ({"attn.in_proj_bias": "text"}, "in_proj_bias of the state dict is no tensor of real floating-point numbers"),
        ({"pos": torch.ones(5, 4, dtype=torch.complex64)}, "pos of the state dict is no tensor of real floating"),
        ({"steps": torch.tensor(3)}, "steps of the state dict is no tensor of real floating-point numbers"),
        (
            {"b.query.weight": torch.ones(2, 2)},
            r"2 layers of heads, behind 'attn.', 'b.'. The theory of several layers",
        ),
        ({"attn.value.weight": torch.ones(4, 4)}, "tensors that no head has: value.weight"),
        ({"attn.bias_k": torch.ones(1, 1, 4)}, r"more tensors: unknown \(attn.bias_k\)"),
        ({"temperature": torch.ones(1)}, r"more tensors: unknown \(temperature\)"),
        ({"norm1.weight": torch.ones(4)}, r"more tensors: LayerNorm \(norm1.weight\)"),
        (
            {"linear1.weight": torch.ones(8, 4)},
            r"one hidden layer, a map from the stream and one back\. There are linear1",
        ),
        ({"mlp.head.weight": torch.ones(2, 4)}, r"more tensors: an MLP \(mlp.head.weight\)"),
        ({"pos": torch.ones(5, 3)}, r"pos, taken for positions, must have rows of 4 numbers, not \(5, 3\)"),
        ({"readout.bias": torch.ones(3)}, "bias of the readout must have 2 numbers"),
        ({"readout.weight": torch.ones(2, 5)}, r"readout.weight, taken for the readout, must have rows of 4 numbers"),
        ({"head.weight": torch.ones(2, 4)}, "must be one readout with at most one bias"),
        ({"w_pos": torch.ones(5, 4)}, "two tables of positions"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_trained({**FULL, **change}, heads=2, logit="0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"do not say how many heads lie side by side in them: give it \(--heads\)"),
        ({"heads": 3}, "in_proj_weight cannot be cut into 3 heads"),
        ({"heads": 2, "logit": None}, r"readout has 2 outputs, and the theory is for one number"),
        ({"heads": 2, "logit": "2"}, "outputs are 0, ..., 1"),
        ({"heads": 2, "logit": "1-2"}, "outputs are 0, ..., 1"),
        ({"heads": 2, "logit": "-1"}, "outputs are 0, ..., 1"),
        ({"heads": 2, "scale": -1.0}, "factor on the scores must be positive"),
        ({"heads": 2, "roles": {"x": "unused"}}, "There is no tensor x, but"),
        ({"heads": 2, "roles": {"pos": "place"}}, "role of a tensor is one of positions, token"),
    ],
)
def test_what_the_weights_do_not_say_is_asked_for(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_trained(FULL, **{"logit": "0", **options})


def test_a_square_readout_that_is_no_linear_layer_is_refused() -> None:
    state = {name: value for name, value in FULL.items() if not name.startswith("readout")}
    with pytest.raises(ValueError, match="readout is square, so that outputs may be its rows or its columns"):
        read_trained({**state, "readout": torch.ones(4, 4)}, heads=2, logit="0")


def test_there_must_be_heads() -> None:
    with pytest.raises(
        ValueError, match=r"There are no heads: no tensor is named in_proj_weight or query.weight, among x"
    ):
        read_trained({"x": torch.ones(2)})
    with pytest.raises(ValueError, match="Give a torch module, or tensors by name, not a list"):
        read_trained([])


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.TransformerEncoderLayer(4, 2, 8), r"not .*norm1 \(LayerNorm\)"),
        (nn.Sequential(nn.MultiheadAttention(4, 2), nn.LayerNorm(4, elementwise_affine=False)), r"1 \(LayerNorm\)"),
        (nn.Sequential(nn.MultiheadAttention(4, 2), nn.ReLU()), r"1 \(ReLU\)"),
        (nn.MultiheadAttention(4, 2, add_bias_kv=True), "without a null pair"),
        (nn.MultiheadAttention(4, 2, add_zero_attn=True), "without a null pair"),
        (nn.MultiheadAttention(4, 2, kdim=3, vdim=3), "no heads: no tensor is named in_proj_weight"),
    ],
)
def test_modules_that_the_theory_does_not_cover_are_refused(module: nn.Module, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_trained(module)


def test_a_module_says_how_many_heads_it_has() -> None:
    assert len(read_trained(nn.MultiheadAttention(4, 2)).heads) == 2
    with pytest.raises(ValueError, match="The module has 2 heads, not 1"):
        read_trained(nn.MultiheadAttention(4, 2), heads=1)
