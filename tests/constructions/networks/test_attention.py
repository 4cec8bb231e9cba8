"""Attention layers: heads added or concatenated, all tokens or the first attending; their torch modules, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.numbers import as_exact, to_float
from tests.constructions.networks.head_loops import head_by_loops, integers, random_head, rich_head

SEEDS = st.integers(0, 10**6)
ROUNDING = 1e-9  # below 10^4 sums and products of numbers below 10^3, relative to the largest output


def close(module: Any, layer: Any, z: np.ndarray, **options: Any) -> bool:
    """Whether the torch module computes what the layer does in float64, of which one test says that it is right."""
    expected = layer.map(to_float)(z.astype(float))
    found = module(torch.tensor(z.astype(float)), **options).detach().numpy()
    expected = expected[..., -1:, :] if options.get("last") else expected
    return bool(np.abs(found - expected).max() <= ROUNDING * (1 + np.abs(expected).max()))


class TestLayer:
    @given(seed=SEEDS, T=st.integers(1, 4), combination=st.sampled_from(["residual", "sum", "concatenate"]))
    def test_heads_are_added_to_the_stream_or_concatenated(self, seed: int, T: int, combination: Any) -> None:
        heads = [random_head(seed + h, weigh="hardmax") for h in range(2)]
        z = integers(np.random.default_rng(seed), T, 3)
        parts = [np.array(head_by_loops(head, z.tolist()), dtype=object) for head in heads]
        expected = np.hstack(parts) if combination == "concatenate" else parts[0] + parts[1]
        expected = as_exact(z) + expected if combination == "residual" else expected
        assert np.array_equal(AttentionLayer(tuple(heads), combination).map(as_exact)(as_exact(z)), expected)

    @given(seed=SEEDS, T=st.integers(1, 4))
    def test_the_first_token_alone_attends_to_all(self, seed: int, T: int) -> None:
        head = random_head(seed, rows=0, weigh="hardmax", causal=False)
        z = integers(np.random.default_rng(seed), T, 3)
        layer = AttentionLayer((head,), attending="first")
        expected = as_exact(z[:1]) + np.array(head_by_loops(head, z.tolist())[:1], dtype=object)
        assert np.array_equal(layer.map(as_exact)(as_exact(z)), expected)
        soft = AttentionLayer((replace(head, weigh="softmax"),), attending="first")
        assert close(soft.to_torch(), soft, z)

    def test_printed_modules_name_the_blocks_of_single_heads(self) -> None:
        """A run of several heads is one module with the columns of all, whose blocks are those of the layer."""
        stream = ResidualStream({"a": 1, "b": 2})
        one, two, other = random_head(1), random_head(2), random_head(3, weigh="relu")
        single, several = (AttentionLayer(heads).to_torch(stream=stream) for heads in ((one, other), (one, two)))
        assert ["reads a, b" in repr(module) for module in single.heads] == [True, True]
        assert ["reads a, b" in repr(module) for module in several.heads] == [False]
        assert "reads a, b" in repr(several)

    def test_bad_layers_are_refused(self) -> None:
        head = random_head(1)
        with pytest.raises(ValueError, match="at least one head"):
            AttentionLayer(())
        with pytest.raises(ValueError, match="not 1 heads, 'mean' and 'all'"):
            AttentionLayer((head,), "mean")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"added have outputs of one width, not of the widths \[2, 3\]"):
            AttentionLayer((head, random_head(1, e=2)), "sum")
        with pytest.raises(ValueError, match=r"read one stream, but read tokens of widths \[3, 4\]"):
            AttentionLayer((head, random_head(1, d=4)), "concatenate")
        with pytest.raises(ValueError, match=r"on a stream of width 3 add vectors of widths \[2\]"):
            AttentionLayer((random_head(1, e=2),))
        for options in ({"rows": 0}, {"causal": False}):  # causal alone, relative keys alone
            with pytest.raises(ValueError, match="Where the first token alone attends"):
                AttentionLayer((random_head(1, **options),), attending="first")


class TestTorch:
    def layer(self, seed: int, **options: Any) -> AttentionLayer:
        """Five heads of three forms, in runs of two, one and two."""
        two = [random_head(seed + h, **options) for h in range(2)]
        one = [random_head(seed + 2, m=1, **options)]
        other = [random_head(seed + 3 + h, rows=0, sharpness=2, **options) for h in range(2)]
        return AttentionLayer((*two, *one, *other))

    @given(seed=SEEDS, T=st.integers(1, 5), causal=st.booleans())
    def test_heads_of_one_form_are_computed_together(self, seed: int, T: int, causal: bool) -> None:
        layer = self.layer(seed, causal=causal)
        z = integers(np.random.default_rng(seed), 2, T, 3)
        for combination in ("residual", "sum", "concatenate"):
            one = replace(layer, combination=combination)
            module: Any = one.to_torch()
            assert [len(run.source) for run in module.heads] == [2, 1, 2]
            assert close(module, one, z)
            assert close(module, one, z, last=True) or not causal

    @given(seed=SEEDS, T=st.integers(1, 5), weigh=st.sampled_from(["softmax", "relu"]))
    def test_rich_heads_together_and_read_back(self, seed: int, T: int, weigh: Any) -> None:
        """Biases, null pairs and output maps, of which those that are concatenated stay apart."""
        output = Affine(integers(np.random.default_rng(seed), 3, 3))
        heads = tuple(rich_head(seed + number, weigh, output=output) for number in range(3))
        z = integers(np.random.default_rng(seed), T, 3)
        for combination, runs in (("residual", 1), ("sum", 1), ("concatenate", 3)):
            layer = AttentionLayer(heads, combination)  # type: ignore[arg-type]
            module: Any = layer.to_torch()
            assert len(module.heads) == runs
            assert close(module, layer, z)
            again = module.to_layer()
            assert [len(a.arrays()) for a in again.heads] == [len(a.arrays()) for a in heads]
            assert all(np.array_equal(a, b) for a, b in zip(again.arrays(), layer.arrays(), strict=True))
            with torch.no_grad():
                for parameter in module.parameters():
                    parameter += 0.25
            assert close(module, module.to_layer(), z)
            inputs = integers(np.random.default_rng(seed + 1), 50, 5, 3)  # one alone may leave every ReLU at zero
            assert not close(module, layer, inputs)

    def test_biases_of_output_maps_are_added(self) -> None:
        heads = tuple(
            replace(random_head(h), output=Affine(np.eye(3, dtype=int), np.array([h, 1, 0]))) for h in range(1, 3)
        )
        layer, z = AttentionLayer(heads), integers(np.random.default_rng(0), 4, 3)
        module: Any = layer.to_torch()
        assert close(module, layer, z)
        assert module.heads[0].output.bias.tolist() == [3, 2, 0]
        assert close(module, module.to_layer(), z)

    def test_a_mask_for_every_sequence(self) -> None:
        """`visible` of shape (batch, T, n), for one head and for two together."""
        rng = np.random.default_rng(0)
        z, visible = integers(rng, 2, 4, 3).astype(float), rng.random((2, 4, 4)) < 0.5
        visible |= np.eye(4, dtype=bool)
        module: Any = self.layer(5).to_torch()
        for run in module.heads:
            expected = sum(head.map(to_float)(z, visible=visible) for head in run.source)
            found = run(torch.tensor(z), visible=torch.tensor(visible)).detach().numpy()
            assert np.abs(found - expected).max() < ROUNDING

    def test_relative_keys_have_no_memory(self) -> None:
        z = torch.zeros(3, 3, dtype=torch.float64)
        with pytest.raises(ValueError, match="attends to its own sequence"):
            random_head(1).to_torch()(z, memory=z)

    @given(seed=SEEDS, T=st.integers(1, 6), k=st.integers(1, 4), rows=st.integers(0, 8))
    def test_by_symbols_a_layer_computes_the_same(self, seed: int, T: int, k: int, rows: int) -> None:
        """One head, and two together, with biases and an output map; a batch of any shape."""
        rng = np.random.default_rng(seed)
        table, symbols = torch.tensor(integers(rng, k, 3).astype(float)), torch.tensor(rng.integers(0, k, (2, 3, T)))
        for count in (1, 2):
            options = {"null": None, "relative_keys": integers(rng, rows, 2), "output": Affine(integers(rng, 3, 3))}
            heads = [rich_head(seed + number, "softmax", **options) for number in range(count)]
            module: Any = AttentionLayer(tuple(heads)).to_torch()
            (run,) = module.heads
            assert torch.allclose(run.on_symbols(table, symbols), run(table[symbols]), rtol=1e-9, atol=ROUNDING)

    def test_by_symbols_what_needs_more_is_refused(self) -> None:
        table, symbols = torch.zeros(2, 3, dtype=torch.float64), torch.tensor([0, 1])
        null = (np.zeros(2), np.zeros(3))
        for head in (random_head(1, causal=False), random_head(1, weigh="relu"), random_head(1, null=null)):
            with pytest.raises(ValueError, match="Only causal softmax heads without a null pair"):
                head.to_torch().on_symbols(table, symbols)  # type: ignore[attr-defined]
