"""Tests of `lemmata.constructions.networks.decoder`: heads with a null pair and a memory, in a layer."""

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
from lemmata.constructions.networks.decoder import DecoderLayer, identity_attention
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch import to_torch
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.numbers import as_exact, to_float

SEEDS = st.integers(0, 10**6)


def random_head(seed: int, d: int = 3, m: int = 2, **options: Any) -> Head:
    rng = np.random.default_rng(seed)

    def affine(outputs: int) -> Affine:
        return Affine(rng.integers(-2, 3, size=(d, outputs)), rng.integers(-2, 3, size=outputs))

    parts = affine(m), affine(m), affine(d)
    null = rng.integers(-2, 3, size=m), rng.integers(-2, 3, size=d)
    return Head(*parts, null=null, **({"weigh": "hardmax", "gap": 1} | options))


def keeping(own: Head | None, cross: Head | None = None, width: int = 3) -> DecoderLayer:
    """A layer whose token-wise map is the identity."""
    return DecoderLayer(
        "layer", own, cross, FeedForward((Affine(np.eye(width, dtype=int)),), activations=("identity",))
    )


def head_by_loops(head: Head, z: list[Any], memory: list[list[int]]) -> list[fmpq]:
    """z and the mean of the values of all that score highest."""

    def affine(layer: Affine, x: list[Any]) -> list[Any]:
        W, b = layer.weight.tolist(), layer.bias.tolist()
        return [b[j] + sum(x[i] * W[i][j] for i in range(len(x))) for j in range(len(b))]

    query = affine(head.query, z)
    keys = [head.null_key.tolist(), *(affine(head.key, m) for m in memory)]
    values = [head.null_value.tolist(), *(affine(head.value, m) for m in memory)]
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    chosen = [v for s, v in zip(scores, values, strict=True) if s == max(scores)]
    return [fmpq(x) + fmpq(1, len(chosen)) * sum(v[c] for v in chosen) for c, x in enumerate(z)]


@given(seed=SEEDS, n=st.integers(0, 5))
def test_three_number_systems_and_torch_agree_with_loops(seed: int, n: int) -> None:
    layer = keeping(random_head(seed))
    head = layer.self_attention
    assert head is not None
    rng = np.random.default_rng(seed + 1)
    z, memory = rng.integers(-1, 2, size=(1, 3)), rng.integers(-1, 2, size=(n, 3))
    expected = head_by_loops(head, z[0].tolist(), memory.tolist())
    nothing = memory[:0]
    assert layer(as_exact(z), as_exact(memory), nothing)[0].tolist() == expected
    # scores are integers, so that ties within 1/2 are exact; a mean of at most six small integers is rounded
    found = layer.map(to_float)(z.astype(float), memory.astype(float), nothing.astype(float))
    assert np.abs(found - to_float(expected)).max() < 1e-13
    with precision(100):
        (balls,) = layer.map(as_balls)(as_balls(z), as_balls(memory), nothing)
    assert all(ball.overlaps(arb(x)) for ball, x in zip(balls, expected, strict=True))
    module: Any = to_torch(layer)
    tokens = torch.from_numpy(memory.astype(float))
    output = module(torch.from_numpy(z.astype(float)), (module.own.key(tokens), module.own.value(tokens)), None)
    assert np.abs(output.detach().numpy() - to_float(expected)).max() < 1e-13


@given(seed=SEEDS)
def test_both_attentions_are_added_one_after_the_other(seed: int) -> None:
    """The attention to the encoder reads the token after self-attention; the past is masked."""
    own, cross = random_head(seed), random_head(seed + 1)
    rng = np.random.default_rng(seed)
    z, encoded = rng.integers(-1, 2, size=(3, 3)), rng.integers(-1, 2, size=(2, 3))
    relu = DecoderLayer("layer", own, cross, FeedForward((Affine(np.eye(3, dtype=int)),)))
    found = relu(as_exact(z), as_exact(z), as_exact(encoded), past=np.tril(np.ones((3, 3), dtype=bool)))
    for i, row in enumerate(found.tolist()):
        middle = head_by_loops(own, z[i].tolist(), z[: i + 1].tolist())
        assert row == [max(x, fmpq(0)) for x in head_by_loops(cross, middle, encoded.tolist())]


@given(seed=SEEDS)
def test_batches_and_hidden_tokens(seed: int) -> None:
    """A padded memory with tokens that are not visible equals the shorter memory."""
    rng = np.random.default_rng(seed)
    for options in ({}, {"weigh": "softmax", "sharpness": 0.7}):
        layer = keeping(None, random_head(seed, **options)).map(to_float)
        z, memory = rng.normal(size=(2, 1, 3)), rng.normal(size=(2, 4, 3))
        visible = np.array([[[True, True, False, False]], [[True] * 4]])
        batch = layer(z, memory, memory, given=visible)
        np.testing.assert_allclose(batch[0], layer(z[0], z[0], memory[0, :2]), rtol=0, atol=1e-12)
        np.testing.assert_allclose(batch[1], layer(z[1], z[1], memory[1]), rtol=0, atol=1e-12)


def test_softmax_tends_to_the_hard_maximum() -> None:
    head = random_head(5)
    z, memory = np.array([[1.0, -1.0, 2.0]]), np.array([[1.0, 0, 1], [1, 0, 1], [0, 2, 0]])
    soft = replace(head, weigh="softmax", sharpness=200.0)
    np.testing.assert_allclose(soft.map(to_float)(z, memory), head.map(to_float)(z, memory), rtol=0, atol=1e-12)
    with precision(100):
        balls = replace(soft, sharpness=200)(as_balls(z), as_balls(memory))
    np.testing.assert_allclose(to_float(balls), head.map(to_float)(z, memory), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="softmax is not rational"):
        soft(as_exact(z.astype(int)), as_exact(memory.astype(int)))


def test_undecided_ties_of_balls_are_refused() -> None:
    one, zero = np.ones((1, 1), dtype=int), np.zeros(1, dtype=int)
    head = Head(one, one, one, weigh="hardmax", null=(zero, zero))  # type: ignore[arg-type]
    wide = np.array([[arb(0, "1e-5")]], dtype=object)
    with pytest.raises(ValueError, match="undecided"):
        keeping(head, width=1)(np.array([[arb(1)]], dtype=object), wide, wide)


def test_bad_heads_are_refused() -> None:
    head = random_head(1)
    for changes, message in [
        ({"null": (np.zeros(3), head.null_value)}, "the shapes are"),
        ({"value": Affine(np.eye(2), np.zeros(2))}, "the shapes are"),
        ({"weigh": "mean"}, "softmax, hardmax, relu"),
        ({"sharpness": 0.0}, "must be positive"),
        ({"gap": -1.0}, "must be positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            replace(head, **changes)  # type: ignore[arg-type]


def test_bad_layers_are_refused() -> None:
    head = random_head(1)
    relative = np.ones((2, head.key_dimension), dtype=int)
    for faulty, message in [
        (replace(head, null=None), "has a null pair"),
        (replace(head, relative_keys=relative), "no relative keys"),
        (replace(head, output=Affine(np.eye(3, dtype=int))), "no output map"),
        (random_head(1, d=4), "maps 4 to 4 coordinates in a layer of width 3"),
    ]:
        for parts in ((faulty, None), (None, faulty)):
            with pytest.raises(ValueError, match=message):
                keeping(*parts)
    with pytest.raises(ValueError, match="without a residual"):
        DecoderLayer("layer", head, None, FeedForward((Affine(np.eye(3, dtype=int)),), residual=True))
    with pytest.raises(ValueError, match="The head has no null pair"):
        _ = replace(head, null=None).null_key


def test_what_a_layer_reads_writes_and_drops() -> None:
    """A head that compares b with b and copies a to c; a map that keeps b and c, and puts the constant 1 into d."""
    stream = ResidualStream({"a": 1, "b": 1, "c": 1, "d": 1})
    compare = stream.readout(1, {"b": [[1]]})
    head = Head(compare, compare, stream.matrix({("a", "c"): 2}), weigh="hardmax", null=([1], np.zeros(4, int)))
    keep = Affine(stream.matrix({("b", "b"): 1, ("c", "c"): 1}), stream.rows(1, {"d": 1})[0])
    layer = DecoderLayer("copy", head, None, FeedForward((keep, Affine(np.eye(4, dtype=int)))))
    assert (layer.reads(stream), layer.writes(stream), layer.drops(stream)) == (("a", "b"), ("c", "d"), ("a",))
    assert (layer.attends_to, layer.head_count, layer.unit_count) == ("self", 1, 4)
    assert replace(layer, self_attention=None, cross_attention=head).attends_to == "encoder"
    alone = replace(layer, self_attention=None)
    assert (alone.reads(stream), alone.writes(stream), alone.attends_to) == ((), ("d",), "-")
    assert layer.one_norm == 1 + 1 + 2 + 1 + 3 + 4
    assert "reads a, b; writes c, d" in str(
        to_torch(replace(layer, self_attention=replace(head, gap=1)), stream=stream)
    )


def test_modules_need_the_memory_of_every_head() -> None:
    module = to_torch(keeping(identity_attention(3), identity_attention(3)))
    z = torch.zeros(1, 3, dtype=torch.float64)
    memory = (torch.zeros(0, 1, dtype=torch.float64), z[:0])
    assert (module(z, memory, memory) == z).all()
    for given_memories in ((None, memory), (memory, None)):
        with pytest.raises(ValueError, match="needs the keys and values of its memory"):
            module(z, *given_memories)
