"""Layers with a residual connection around them: the sum, what tables say, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.residual import Residual
from lemmata.constructions.networks.stream import ResidualStream
from tests.constructions.networks.head_loops import integers, random_head


def block() -> Residual:
    """Two heads, concatenated, and mixed by an affine map."""
    rng = np.random.default_rng(0)
    heads = tuple(random_head(number, weigh="hardmax", e=2) for number in range(2))
    return Residual((AttentionLayer(heads, "concatenate"), Affine(integers(rng, 4, 3), integers(rng, 3))))


def test_the_input_is_added_to_the_composition() -> None:
    layer, z = block(), integers(np.random.default_rng(1), 5, 3)
    attention, output = layer.layers
    composed = np.hstack([head(z) for head in attention.heads]) @ output.weight + output.bias
    assert np.array_equal(layer(z), z + composed)
    assert (composed != 0).any()


def test_torch_and_back() -> None:
    mlp = Residual((FeedForward((Affine(np.eye(3)), Affine(2 * np.eye(3))), activations=("gelu", "identity")),))
    z = integers(np.random.default_rng(1), 5, 3).astype(float)
    module = mlp.to_torch()
    assert np.abs(module(torch.tensor(z)).detach().numpy() - mlp(z)).max() < 1e-14
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 1
    again = module.to_layer()  # type: ignore[operator]
    assert np.abs(module(torch.tensor(z)).detach().numpy() - again(z)).max() < 1e-12
    assert np.abs(again(z) - mlp(z)).max() > 1


def test_tables_see_the_first_and_the_last_layer() -> None:
    layer, stream = block(), ResidualStream({"a": 1, "b": 2})
    mlp = Residual((FeedForward((Affine(np.eye(3)[:, :1]), Affine(np.eye(3)[1:2]))),))
    assert (layer.head_count, layer.unit_count, mlp.head_count, mlp.unit_count) == (2, 0, 0, 1)
    assert (mlp.reads(stream), mlp.writes(stream), mlp.drops(stream)) == (("a",), ("b",), ())
    assert layer.count == sum(part.count for part in layer.layers)


def test_what_is_refused() -> None:
    eye = Affine(np.eye(3))
    with pytest.raises(ValueError, match="at least one layer"):
        Residual(())
    for layers in ((eye, Affine(np.eye(2))), (Affine(np.ones((3, 2))),)):
        with pytest.raises(ValueError, match="widths must fit"):
            Residual(layers)
    class_token = AttentionLayer((random_head(1, rows=0, causal=False),), attending="first")
    with pytest.raises(ValueError, match="first token alone attends"):
        Residual((class_token,))
