"""Transformers: what they compute in three number systems and in torch, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.layer_norm import LayerNorm
from lemmata.constructions.networks.residual import Residual
from lemmata.constructions.networks.transformer import Transformer, token_numbers
from lemmata.numerics.exact.numbers import to_float
from tests.constructions.networks.head_loops import head_by_loops, integers, random_head

SEEDS = st.integers(0, 10**6)


def random_transformer(seed: int, combination: Any = "residual", **options: Any) -> Transformer:
    """Two layers of two heads over three symbols, width 3, one prefix row; integer weights."""
    rng = np.random.default_rng(seed)
    layers = [
        AttentionLayer(tuple(random_head(seed + 10 * number + h, **options) for h in range(2)), "residual")
        for number in range(2)
    ]
    layers[1] = replace(layers[1], combination=combination)
    width = 3 if combination == "residual" else 6
    return Transformer(integers(rng, 3, 3), integers(rng, 1, 3), tuple(layers), integers(rng, width, 2))


def pre_norm_transformer(seed: int) -> Transformer:
    """Over vectors of width 2, with positions, blocks with a normalisation in front, and affine maps at both ends."""
    rng = np.random.default_rng(seed)

    def affine(inputs: int, outputs: int) -> Affine:
        return Affine(rng.normal(size=(inputs, outputs)), rng.normal(size=outputs))

    norms = [LayerNorm(rng.normal(size=4), rng.normal(size=4)) for _ in range(3)]
    heads = tuple(random_head(seed + h, d=4, e=2, rows=0) for h in range(2))
    mlp = FeedForward((affine(4, 5), affine(5, 4)), activations=("gelu", "identity"))
    layers = (
        Residual((norms[0], AttentionLayer(heads, "concatenate"), affine(4, 4))),
        Residual((norms[1], mlp)),
        norms[2],
    )
    return Transformer(affine(2, 4), rng.normal(size=(1, 4)), layers, affine(4, 3), rng.normal(size=(5, 4)))


def class_token_transformer(seed: int) -> Transformer:
    """Signs as symbols, positions, and a class token that attends alone and is read as one number."""
    rng = np.random.default_rng(seed)
    heads = tuple(random_head(seed + h, rows=0, causal=False) for h in range(2))
    mlp = FeedForward((Affine(integers(rng, 3, 4)), Affine(integers(rng, 4, 3))), residual=True)
    parts = {"positions": integers(rng, 4, 3), "read": "first", "alphabet": (-1, 1)}
    layers = (AttentionLayer(heads, attending="first"), mlp)
    return Transformer(integers(rng, 2, 3), integers(rng, 1, 3), layers, integers(rng, 3), **parts)


class TestTransformer:
    @given(seed=SEEDS, t=st.integers(1, 4), combination=st.sampled_from(["residual", "concatenate"]))
    def test_layers_add_to_the_stream_or_concatenate(self, seed: int, t: int, combination: Any) -> None:
        transformer = random_transformer(seed, combination, weigh="hardmax")
        x = np.random.default_rng(seed).integers(1, 4, size=t)
        z = [*transformer.prefix.tolist(), *(transformer.embedding[s - 1].tolist() for s in x)]
        layer = transformer.layers[
            0
        ]  # the second sees thirds and so on; its own sum is tested by the composition below
        parts = [head_by_loops(head, [[fmpq(a) for a in row] for row in z]) for head in layer.heads]
        z = [[sum(c, fmpq(0)) for c in zip(row, *new, strict=True)] for row, *new in zip(z, *parts, strict=True)]
        assert np.array_equal(transformer.stream(x, 1), np.array(z, dtype=object))
        composed = transformer.layers[1](transformer.stream(x, 1))[1:] @ transformer.readout
        assert np.array_equal(transformer(x), composed)

    @given(seed=SEEDS, t=st.integers(1, 5))
    def test_batches_agree_with_single_sequences(self, seed: int, t: int) -> None:
        x = np.random.default_rng(seed).integers(1, 4, size=(2, 2, t))
        hard = random_transformer(seed, weigh="hardmax")
        assert np.array_equal(hard(x)[1, 0], hard(x[1, 0]))
        soft = random_transformer(seed).to_float()
        np.testing.assert_array_equal(soft(x).shape, (2, 2, t, 2))
        assert all(value.contains(fmpq(0)) for value in (soft_balls(seed, x[1]) - soft_balls(seed, x)[1]).ravel())

    def test_number_systems_widen_and_weights_are_frozen(self) -> None:
        exact = random_transformer(1)
        assert exact.arithmetic == "exact"
        assert exact.to_float().arithmetic == "float"
        assert exact.to_balls().arithmetic == "ball"
        assert replace(exact, readout=to_float(exact.readout)).arithmetic == "float"
        assert replace(exact, readout=exact.readout * arb("0.5")).arithmetic == "ball"
        with pytest.raises(ValueError, match="read-only"):
            exact.embedding[0, 0] = 1

    @pytest.mark.parametrize("seed", range(3))
    def test_vectors_as_tokens_positions_and_normalisation(self, seed: int) -> None:
        """Against NumPy, formula by formula; numbers below 10^3 and a few hundred roundings."""
        source = pre_norm_transformer(seed)
        x = np.random.default_rng(seed).normal(size=(4, 2))
        z = np.vstack([source.prefix, x @ source.embedding.weight + source.embedding.bias + source.positions[:4]])
        first, second, last = source.layers

        def norm(layer: LayerNorm, z: np.ndarray) -> np.ndarray:
            deviation = np.sqrt(z.var(axis=1, keepdims=True) + 1e-5)
            return (z - z.mean(axis=1, keepdims=True)) / deviation * layer.gain + layer.shift

        normal, attention, output = first.layers
        parts = [head(norm(normal, z)) for head in attention.heads]
        z = z + np.hstack(parts) @ output.weight + output.bias
        z = z + second.layers[1](norm(second.layers[0], z))
        expected = norm(last, z)[1:] @ source.readout.weight + source.readout.bias
        assert np.abs(source(x) - expected).max() < 1e-11
        for value, ball in zip(source(x).ravel(), source.to_balls()(x).ravel(), strict=True):
            assert abs(ball - float(value)) < 1e-9

    @pytest.mark.parametrize("seed", range(3))
    def test_a_class_token_alone_is_read(self, seed: int) -> None:
        """The same function with the head of all tokens attending, of which the first row is read."""
        source = class_token_transformer(seed)
        x = np.random.default_rng(seed).choice([-1, 1], size=(3, 4))
        everybody = replace(source, layers=(replace(source.layers[0], attending="all"), *source.layers[1:])).hard()
        assert np.array_equal(source.hard()(x), everybody(x))
        assert source.hard()(x).shape == (3,)
        rows = source.embedding[(x + 1) // 2] + source.positions
        assert np.array_equal(source.embed(x)[:, 1:], rows)

    def test_bad_tokens_are_refused(self) -> None:
        transformer = random_transformer(1).to_float()
        for x, message in [
            ([], "at least one token"),
            (np.zeros((2, 0), dtype=int), "at least one token"),
            (3, "at least one token"),
            ([1, 0, 2], r"holds \[0\]"),
            ([1, 4, -2], r"holds \[-2, 4\]"),
            ([1.0, 2.0], "must be integers"),
            ([True, True], "must be integers"),
            (["1"], "must be integers"),
        ]:
            with pytest.raises(ValueError, match=message):
                transformer(x)
        assert token_numbers(np.array([3, 1], dtype=np.uint8), range(1, 4)).dtype == np.int64
        assert token_numbers([7, -1], (-1, 0, 7)).tolist() == [2, 0]
        with pytest.raises(ValueError, match=r"integers -1, 1, but the sequence holds \[0\]"):
            class_token_transformer(1)([0, 1])
        with pytest.raises(ValueError, match="4 positions, too few for 5 tokens"):
            class_token_transformer(1)([1] * 5)
        with pytest.raises(ValueError, match="at least one token, a vector"):
            pre_norm_transformer(1)(np.ones(2))

    def test_widths_that_do_not_fit_are_refused(self) -> None:
        t = random_transformer(1)
        with pytest.raises(ValueError, match="The prefix has width 2"):
            replace(t, prefix=np.zeros((1, 2), dtype=int))
        with pytest.raises(ValueError, match="Layer 1 reads 3 coordinates, but the stream has 4"):
            replace(t, embedding=np.zeros((3, 4), dtype=int), prefix=np.zeros((1, 4), dtype=int))
        with pytest.raises(ValueError, match="Layer 2 reads 2 coordinates, but the stream has 3"):
            replace(t, layers=(t.layers[0], AttentionLayer((random_head(1, d=2, e=2),))))
        with pytest.raises(ValueError, match="The readout reads 5"):
            replace(t, readout=np.zeros((5, 2), dtype=int))
        with pytest.raises(ValueError, match="must be embedding"):
            replace(t, embedding=np.zeros(3))
        with pytest.raises(ValueError, match="with k, d >= 1"):
            replace(t, embedding=np.zeros((0, 3), dtype=int))
        for bad in (np.full((3, 2), np.nan), np.full((3, 2), arb("nan"), dtype=object)):
            with pytest.raises(ValueError, match="must be finite"):
                replace(t, readout=bad)

    def test_alphabets_positions_and_readings_that_do_not_fit_are_refused(self) -> None:
        t = random_transformer(1)
        for alphabet in ((1, 2), (1, 1, 2), (3, 2, 1)):
            with pytest.raises(ValueError, match="must be 3 integers in increasing order"):
                replace(t, alphabet=alphabet)
        with pytest.raises(ValueError, match="The table of positions has width 2"):
            replace(t, positions=np.zeros((4, 2), dtype=int))
        with pytest.raises(ValueError, match="not at 'last'"):
            replace(t, read="last")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="it alone can be read"):
            replace(class_token_transformer(1), read="tokens")


class TestTorch:
    @given(seed=SEEDS, t=st.integers(1, 5), combination=st.sampled_from(["residual", "concatenate"]))
    def test_torch_module_computes_the_same(self, seed: int, t: int, combination: Any) -> None:
        """Both are within 1e-11 of the ball enclosure: a few hundred roundings of numbers below 10^5."""
        transformer = random_transformer(seed, combination)
        x = np.random.default_rng(seed).integers(1, 4, size=(2, t))
        expected = to_float(transformer.to_balls()(x))
        scale = 1 + np.abs(expected).max()
        assert np.abs(transformer.to_float()(x) - expected).max() <= 1e-9 * scale
        for context in (None, t, t + 3):
            module = transformer.to_torch(context)
            assert np.abs(module(torch.tensor(x)).detach().numpy() - expected).max() <= 1e-9 * scale

    @given(seed=SEEDS, t=st.integers(1, 5), build=st.sampled_from([random_transformer, pre_norm_transformer]))
    def test_the_last_token_alone(self, seed: int, t: int, build: Any) -> None:
        transformer, rng = build(seed).to_float(), np.random.default_rng(seed)
        x = rng.integers(1, 4, size=(2, t)) if transformer.symbols else rng.normal(size=(2, t, 2))
        whole, last = (transformer.to_torch()(torch.tensor(x), last=flag).detach() for flag in (False, True))
        assert last.shape == (2, 1, whole.shape[-1])
        assert torch.allclose(last, whole[:, -1:], rtol=1e-9, atol=1e-9)

    @given(seed=SEEDS, t=st.integers(1, 5), context=st.sampled_from([None, 2, 7]), last=st.booleans())
    def test_by_symbol_it_computes_the_same(self, seed: int, t: int, context: Any, last: bool) -> None:
        """With a prefix row, whose stream counts as one more symbol."""
        transformer = random_transformer(seed)
        x = torch.tensor(np.random.default_rng(seed).integers(1, 4, size=(2, t)))
        modules = [transformer.to_torch(context, by_symbol=flag) for flag in (False, True)]
        expected, found = (module(x, last=last).detach() for module in modules)
        assert torch.allclose(found, expected, rtol=1e-9, atol=1e-9 * float(1 + expected.abs().max()))

    def test_by_symbol_what_depends_on_more_is_refused(self) -> None:
        for build in (pre_norm_transformer, class_token_transformer):
            with pytest.raises(ValueError, match="By symbols"):
                build(1).to_torch(by_symbol=True)

    @pytest.mark.parametrize("seed", range(3))
    def test_vectors_and_class_tokens(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for source, x in (
            (pre_norm_transformer(seed), rng.normal(size=(2, 4, 2))),
            (class_token_transformer(seed).to_float(), rng.choice([-1, 1], size=(2, 3, 4))),
        ):
            found = source.to_torch()(torch.tensor(x)).detach().numpy()
            assert np.abs(found - source(x)).max() <= 1e-9 * (1 + np.abs(found).max())

    @pytest.mark.parametrize("build", [random_transformer, pre_norm_transformer, class_token_transformer])
    def test_a_trained_module_is_read_back(self, build: Any) -> None:
        """All weights are parameters, and `to_layer` is the transformer whose parameters have moved."""
        source, rng = build(2), np.random.default_rng(2)
        module: Any = source.to_torch()
        assert sum(p.numel() for p in module.parameters()) == sum(a.size for a in source.arrays())
        again = module.to_layer()
        assert all(np.array_equal(a, b) for a, b in zip(again.arrays(), source.to_float().arrays(), strict=True))
        with torch.no_grad():
            for parameter in module.parameters():
                parameter += 0.1 * torch.tensor(rng.normal(size=parameter.shape))
        x = rng.choice(source.alphabet, size=(2, 4)) if source.symbols else rng.normal(size=(2, 4, 2))
        found = module(torch.tensor(x)).detach().numpy()
        assert np.abs(module.to_layer()(x) - found).max() <= 1e-9 * (1 + np.abs(found).max())
        assert np.abs(source.to_float()(x) - found).max() > 1e-3

    def test_torch_parameters_are_trainable_and_padded(self) -> None:
        module = random_transformer(1).to_torch(context=8, dtype=torch.float32)
        parameters = dict(module.named_parameters())
        assert parameters["layers.0.heads.0.relative_keys"].shape == (8, 2 * 2)  # of two heads
        assert {p.dtype for p in parameters.values()} == {torch.float32}
        module(torch.tensor([[1, 2, 3, 1]])).square().sum().backward()
        assert all(p.grad is not None for p in parameters.values())
        assert any(bool(p.grad.abs().sum() > 0) for p in parameters.values() if p.grad is not None)

    def test_torch_refuses_hard_attention_and_empty_contexts(self) -> None:
        with pytest.raises(ValueError, match="needs a proven gap"):
            random_transformer(1).hard().to_torch()
        with pytest.raises(ValueError, match="at least one token"):
            random_transformer(1).to_torch(0)

    def test_torch_refuses_symbols_that_are_not_in_the_alphabet(self) -> None:
        for source, bad in ((random_transformer(1), (0, 4)), (class_token_transformer(1), (-2, 0, 2))):
            for symbol in bad:
                with pytest.raises(ValueError, match=r"tokens (1, \.\.\., 3|-1, 1) only"):
                    source.to_torch()(torch.tensor([1, symbol]))


def soft_balls(seed: int, x: np.ndarray) -> np.ndarray:
    return random_transformer(seed).to_balls()(x)
