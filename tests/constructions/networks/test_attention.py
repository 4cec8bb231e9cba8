"""The shared attention layers against loops over indices, in three number systems and in torch; what they refuse."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from constructions.networks.legacy_attention import AttentionHead, AttentionLayer
from constructions.networks.stream import ResidualStream
from constructions.networks.transformer import AttentionTransformer, checked_tokens
from numerics.exact.balls import as_balls, precision
from numerics.exact.cyclotomic.numbers import sqrt_rational
from numerics.exact.numbers import as_exact, to_float

EPS = 2.0**-53
SEEDS = st.integers(0, 10**6)


def integers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-3, 4, size=shape)


def random_head(seed: int, d: int = 3, m: int = 2, e: int = 3, rows: int = 3, **options: Any) -> AttentionHead:
    rng = np.random.default_rng(seed)
    return AttentionHead(
        integers(rng, d, m), integers(rng, d, m), integers(rng, d, e), integers(rng, rows, m), 5, **options
    )


def random_transformer(seed: int, combination: Any = "residual", **options: Any) -> AttentionTransformer:
    """Two layers of two heads over three symbols, width 3, one prefix row; integer weights."""
    rng = np.random.default_rng(seed)
    layers = [
        AttentionLayer(tuple(random_head(seed + 10 * number + h, **options) for h in range(2)), "residual")
        for number in range(2)
    ]
    layers[1] = replace(layers[1], combination=combination)
    width = 3 if combination == "residual" else 6
    return AttentionTransformer(integers(rng, 3, 3), integers(rng, 1, 3), tuple(layers), integers(rng, width, 2))


def score_by_loops(head: AttentionHead, z: Any, i: int, j: int) -> Any:
    weights_q, weights_k, table = (array.tolist() for array in (head.query, head.key, head.table))
    total: Any = 0
    for b in range(len(weights_q[0])):
        query = sum(z[i][a] * weights_q[a][b] for a in range(len(z[i])))
        key = sum(z[j][a] * weights_k[a][b] for a in range(len(z[j])))
        if 0 <= i - j < len(table):
            key = key + table[i - j][b]
        total = total + query * key
    return total


def head_by_loops(head: AttentionHead, z: Any) -> list[list[Any]]:
    """Softmax in balls, hard attention in rationals, from the definition."""
    outputs, value = [], head.value.tolist()
    for i in range(len(z)):
        visible = range(i + 1 if head.causal else len(z))
        scores = [score_by_loops(head, z, i, j) for j in visible]
        if head.normalisation == "hardmax":
            weights: list[Any] = [fmpq(int(s == max(scores)), scores.count(max(scores))) for s in scores]
        else:
            terms = [(arb(s) / arb(head.temperature_squared).sqrt()).exp() for s in scores]
            weights = [term / sum(terms, arb(0)) for term in terms]
        values = [[sum(row[a] * value[a][b] for a in range(len(row))) for b in range(3)] for row in z]
        outputs.append(
            [sum((w * values[j][b] for w, j in zip(weights, visible, strict=True)), arb(0)) for b in range(3)]
        )
    return outputs


class TestResidualStream:
    def test_blocks_lie_one_after_the_other(self) -> None:
        stream = ResidualStream({"a": 2, "b": 1, "c": 3})
        assert stream.width == 6
        assert [stream[name] for name in "abc"] == [slice(0, 2), slice(2, 3), slice(3, 6)]

    def test_matrices_map_block_to_block(self) -> None:
        stream = ResidualStream({"a": 2, "b": 1})
        assert stream.matrix({("a", "b"): [[5], [7]]}).tolist() == [[0, 0, 5], [0, 0, 7], [0, 0, 0]]
        assert stream.rows(2, {"b": [[1], [2]]}).tolist() == [[0, 0, 1], [0, 0, 2]]
        assert stream.readout(2, {"b": [[1, 2]]}).tolist() == [[0, 0], [0, 0], [1, 2]]

    def test_unknown_blocks_and_bad_sizes_are_refused(self) -> None:
        with pytest.raises(ValueError, match="no block 'x'; the blocks are a"):
            ResidualStream({"a": 2})["x"]
        for sizes in ({}, {"a": 0}, {"a": 1.5}):
            with pytest.raises(ValueError, match="sizes >= 1"):
                ResidualStream(sizes)  # type: ignore[arg-type]


class TestHead:
    @given(seed=SEEDS, T=st.integers(1, 5), rows=st.integers(0, 7), causal=st.booleans())
    def test_hard_attention_equals_the_loops_exactly(self, seed: int, T: int, rows: int, causal: bool) -> None:
        head = random_head(seed, rows=rows, normalisation="hardmax", causal=causal)
        z = integers(np.random.default_rng(seed + 1), T, 3)
        exact = head.map(as_exact)(as_exact(z))
        expected = head_by_loops(head, z.tolist())
        assert all(
            arb(a) == b or b.contains(a)
            for x, y in zip(exact, expected, strict=True)
            for a, b in zip(x, y, strict=True)
        )
        float64 = head.map(to_float)(z.astype(float))
        # attention k/n and the sum of T products, each correctly rounded
        allowed = (T + 2) * EPS * (np.abs(z) @ np.abs(head.value)).max(initial=0)
        assert np.all(np.abs(float64 - to_float(exact)) <= allowed)

    @given(seed=SEEDS, T=st.integers(1, 5), rows=st.integers(0, 7), causal=st.booleans())
    def test_softmax_in_balls_equals_the_loops(self, seed: int, T: int, rows: int, causal: bool) -> None:
        head = random_head(seed, rows=rows, causal=causal)
        z = integers(np.random.default_rng(seed + 1), T, 3)
        with precision(200):
            expected = head_by_loops(head, z.tolist())
            balls = head.map(as_balls)(as_balls(z))
        for row, oracle in zip(balls, expected, strict=True):
            for a, b in zip(row, oracle, strict=True):
                assert a.overlaps(b)
                assert a.rad() < 1e-40

    @given(seed=SEEDS, T=st.integers(1, 6), causal=st.booleans())
    def test_float_softmax_is_within_its_rounding_of_the_loops(self, seed: int, T: int, causal: bool) -> None:
        """Scores are exact integers. Logits carry 3 roundings (root, quotient, shift), the rest T + 3 on each path."""
        head = random_head(seed, causal=causal)
        z = integers(np.random.default_rng(seed + 1), T, 3)
        expected = to_float(head_by_loops(head, z.tolist()))
        largest = max(abs(score_by_loops(head, z.tolist(), i, j)) for i in range(T) for j in range(T)) / math.sqrt(5)
        relative = math.expm1(2 * 4 * largest * EPS) + (2 * T + 8) * EPS
        allowed = 2 * relative * (np.abs(z) @ np.abs(head.value)).max()
        assert np.all(np.abs(head.map(to_float)(z.astype(float)) - expected) <= allowed)

    def test_huge_logits_do_not_overflow_the_softmax(self) -> None:
        head = AttentionHead(*(np.eye(2) * 1e100 for _ in range(2)), value=np.eye(2))
        assert head(np.eye(2)).tolist() == [[1, 0], [0, 1]]

    def test_scores_that_overflow_are_refused(self) -> None:
        head = AttentionHead(*(np.eye(2) * 1e200 for _ in range(2)), value=np.eye(2))
        with pytest.raises(ValueError, match="overflows float64"):
            head(np.eye(2))

    def test_integer_weights_do_not_wrap_around(self) -> None:
        """Scores near 2^96, which int64 cannot hold."""
        big = np.array([[2**32]])
        head = AttentionHead(big, np.array([[1]]), np.array([[1]]), normalisation="hardmax")
        z = np.array([[2**32 + 1], [2**32]])
        assert head.scores(z)[1].tolist() == [2**96 + 2**64, 2**96]
        assert head.attention(z)[1].tolist() == [1, 0]

    def test_ties_of_algebraic_numbers_are_decided_exactly(self) -> None:
        """The scores at the second token are sqrt 8 and 2 sqrt 2: equal, which no float can tell."""
        root = np.array([[sqrt_rational(8)], [2 * sqrt_rational(2)]], dtype=object)
        head = AttentionHead(np.ones((1, 1), int), np.ones((1, 1), int), np.ones((1, 1), int), normalisation="hardmax")
        weights = head.map(as_exact).attention(root)
        assert weights[1].tolist() == [fmpq(1, 2), fmpq(1, 2)]

    def test_exact_softmax_and_doubtful_ties_are_refused(self) -> None:
        one = np.ones((1, 1), dtype=int)
        with pytest.raises(ValueError, match="not rational"):
            AttentionHead(one, one, one).map(as_exact)(as_exact([[1], [2]]))
        hard = AttentionHead(one, one, one, normalisation="hardmax")
        with pytest.raises(ValueError, match="rounding may make or break a tie"):
            hard.map(to_float)(np.array([[0.1], [0.2]]))
        with pytest.raises(ValueError, match="rounding may make or break a tie"):
            hard.map(to_float)(np.array([[2.0**30], [2.0**30]]))
        third = arb(1) / 3
        balls = np.array([[third], [third]], dtype=object)
        with pytest.raises(ValueError, match="undecided"):
            hard(balls)
        apart = hard(np.array([[third], [arb(2)]], dtype=object))
        assert apart[1, 0] == 2

    def test_bad_heads_are_refused(self) -> None:
        eye = np.eye(2)
        with pytest.raises(ValueError, match="the shapes are"):
            AttentionHead(eye, np.eye(3), eye)
        with pytest.raises(ValueError, match="the shapes are"):
            AttentionHead(eye, eye, eye, np.zeros((4, 3)))
        for temperature in (0, -1, 2.5, True):
            with pytest.raises(ValueError, match="temperature_squared"):
                AttentionHead(eye, eye, eye, temperature_squared=temperature)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="softmax or hardmax"):
            AttentionHead(eye, eye, eye, normalisation="relu")  # type: ignore[arg-type]


class TestTransformer:
    @given(seed=SEEDS, t=st.integers(1, 4), combination=st.sampled_from(["residual", "concatenate"]))
    def test_layers_add_to_the_stream_or_concatenate(self, seed: int, t: int, combination: Any) -> None:
        transformer = random_transformer(seed, combination, normalisation="hardmax")
        x = np.random.default_rng(seed).integers(1, 4, size=t)
        z = [*transformer.prefix.tolist(), *(transformer.embedding[s - 1].tolist() for s in x)]
        for layer in transformer.layers:
            parts = [head_by_loops(head, [[fmpq(a) for a in row] for row in z]) for head in layer.heads]
            rounded = [[[fmpq(int((b * 27720).unique_fmpz()), 27720) for b in row] for row in part] for part in parts]
            if layer.combination == "residual":
                z = [
                    [sum(c, fmpq(0)) for c in zip(row, *new, strict=True)]
                    for row, *new in zip(z, *rounded, strict=True)
                ]
            else:
                z = [[c for row in rows for c in row] for rows in zip(*rounded, strict=True)]
            break  # the second layer sees thirds and so on; its own sum is tested by the composition below
        assert np.array_equal(transformer.stream(x, 1), np.array(z, dtype=object))
        composed = transformer.layers[1](transformer.stream(x, 1))[1:] @ transformer.readout
        assert np.array_equal(transformer(x), composed)

    @given(seed=SEEDS, t=st.integers(1, 5))
    def test_batches_agree_with_single_sequences(self, seed: int, t: int) -> None:
        x = np.random.default_rng(seed).integers(1, 4, size=(2, 2, t))
        hard = random_transformer(seed, normalisation="hardmax")
        assert np.array_equal(hard(x)[1, 0], hard(x[1, 0]))
        soft = random_transformer(seed).to_float()
        np.testing.assert_array_equal(soft(x).shape, (2, 2, t, 2))
        assert all(value.contains(fmpq(0)) for value in (soft_balls(seed, x[1]) - soft_balls(seed, x)[1]).ravel())

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

    def test_torch_parameters_are_trainable_and_padded(self) -> None:
        module = random_transformer(1).to_torch(context=8, dtype=torch.float32)
        parameters = dict(module.named_parameters())
        assert parameters["layers.0.0.relative_keys"].shape == (8, 2)
        assert {p.dtype for p in parameters.values()} == {torch.float32}
        module(torch.tensor([[1, 2, 3, 1]])).square().sum().backward()
        assert all(p.grad is not None for p in parameters.values())
        assert any(bool(p.grad.abs().sum() > 0) for p in parameters.values() if p.grad is not None)

    def test_torch_refuses_hard_attention_and_empty_contexts(self) -> None:
        with pytest.raises(ValueError, match="no gradient"):
            random_transformer(1).hard().to_torch()
        with pytest.raises(ValueError, match="at least one token"):
            random_transformer(1).to_torch(0)

    def test_number_systems_widen_and_weights_are_frozen(self) -> None:
        exact = random_transformer(1)
        assert exact.arithmetic == "exact"
        assert exact.to_float().arithmetic == "float"
        assert exact.to_balls().arithmetic == "ball"
        assert replace(exact, readout=to_float(exact.readout)).arithmetic == "float"
        assert replace(exact, readout=exact.readout * arb("0.5")).arithmetic == "ball"
        with pytest.raises(ValueError, match="read-only"):
            exact.embedding[0, 0] = 1

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
        assert checked_tokens(np.array([3, 1], dtype=np.uint8), 3).dtype == np.int64

    def test_widths_that_do_not_fit_are_refused(self) -> None:
        t = random_transformer(1)
        with pytest.raises(ValueError, match="The prefix has width 2"):
            replace(t, prefix=np.zeros((1, 2), dtype=int))
        with pytest.raises(ValueError, match="The heads of layer 1 do not fit"):
            replace(t, embedding=np.zeros((3, 4), dtype=int), prefix=np.zeros((1, 4), dtype=int))
        with pytest.raises(ValueError, match="The heads of layer 2 do not fit"):
            replace(t, layers=(t.layers[0], AttentionLayer((random_head(1, e=2),))))
        with pytest.raises(ValueError, match="The readout reads 5"):
            replace(t, readout=np.zeros((5, 2), dtype=int))
        with pytest.raises(ValueError, match="must be embedding"):
            replace(t, embedding=np.zeros(3))
        with pytest.raises(ValueError, match="at least one head"):
            AttentionLayer(())
        for bad in (np.full((3, 2), np.nan), np.full((3, 2), arb("nan"), dtype=object)):
            with pytest.raises(ValueError, match="must be finite"):
                replace(t, readout=bad)


def soft_balls(seed: int, x: np.ndarray) -> np.ndarray:
    return random_transformer(seed).to_balls()(x)
