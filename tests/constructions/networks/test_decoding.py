"""The decoder with kept keys and values against the whole sequence, computed anew at every step by loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.decoding import decode
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.projection import BallProjection
from lemmata.constructions.networks.recurrent import RecurrentLayer, elman_cell
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.numbers import as_exact, to_float

SEEDS = st.integers(0, 10**6)


def times(row: Any, matrix: Any) -> list[Any]:
    return [sum(row[i] * matrix[i][j] for i in range(len(row))) for j in range(len(matrix[0]))]


def head_by_loops(head: Head, tokens: list[list[Any]]) -> list[Any]:
    """The output at the last token, which sees all of them and the null pair."""
    weights = {name: getattr(head, name).weight.tolist() for name in ("query", "key", "value")}
    query, last = times(tokens[-1], weights["query"]), len(tokens) - 1
    scores, values = [], []
    if head.null is not None:
        scores.append(sum(a * b for a, b in zip(query, head.null[0].tolist(), strict=True)))
        values.append(head.null[1].tolist())
    for j, token in enumerate(tokens):
        key = times(token, weights["key"])
        if last - j < len(head.relative_keys):
            key = [a + b for a, b in zip(key, head.relative_keys[last - j].tolist(), strict=True)]
        scores.append(sum(a * b for a, b in zip(query, key, strict=True)))
        values.append(times(token, weights["value"]))
    if head.weigh == "hardmax":
        ties = [score == max(scores) for score in scores]
        p: list[Any] = [fmpq(int(tie), sum(ties)) for tie in ties]
    else:
        exponentials = [math.exp(score) if isinstance(score, float) else score.exp() for score in scores]
        p = [weight / sum(exponentials) for weight in exponentials]
    return [sum(share * value[b] for share, value in zip(p, values, strict=True)) for b in range(len(values[0]))]


def stack_by_loops(layers: list[Any], tokens: list[list[Any]]) -> list[list[Any]]:
    """All outputs of the stack, token by token."""
    for layer in layers:
        result = []
        for i, token in enumerate(tokens):
            if isinstance(layer, AttentionLayer):
                parts = [head_by_loops(head, tokens[: i + 1]) for head in layer.heads]
                result.append([sum(entries) for entries in zip(token, *parts, strict=True)])
            elif isinstance(layer, BallProjection):
                square = sum(x * x for x in token)
                norm = math.sqrt(square) if isinstance(square, float) else square.sqrt()
                result.append([x * layer.radius / norm for x in token] if norm > layer.radius else token)
            else:
                hidden = [x if x > 0 else 0 * x for x in times(token, layer.layers[0].weight.tolist())]
                result.append([a + b for a, b in zip(token, hidden, strict=True)])
        tokens = result
    return tokens


def random_stack(seed: int, weigh: Any) -> list[Any]:
    rng = np.random.default_rng(seed)

    def integers(*shape: int) -> np.ndarray:
        return as_exact(rng.integers(-2, 3, size=shape)) / fmpq(2)

    def head(null: bool) -> Head:
        pair = (integers(2), integers(3)) if null else None
        maps = Affine(integers(3, 2)), Affine(integers(3, 2)), Affine(integers(3, 3))
        return Head(*maps, weigh, relative_keys=integers(2, 2), null=pair)

    attention = [AttentionLayer((head(True), head(False))) for _ in range(2)]
    return [attention[0], FeedForward((Affine(integers(3, 3)),), residual=True), attention[1]]


def halved(output: Any, step: int) -> Any:
    """The next token: the output, halved, and the number of the step in the last coordinate."""
    token = output * fmpq(1, 2) if output.dtype == object else output / 2
    token[..., -1] = step
    return token


@given(seed=SEEDS, length=st.integers(1, 3))
def test_hard_decoder_equals_the_whole_sequence_exactly(seed: int, length: int) -> None:
    layers = random_stack(seed, "hardmax")
    start = as_exact(np.random.default_rng(seed + 1).integers(-2, 3, size=(length, 3)))
    outputs = decode(layers, start, 4, halved)
    tokens = start.tolist()
    for step in range(4):
        expected = stack_by_loops(layers, tokens)[-1]
        assert outputs[step].tolist() == expected
        tokens.append(halved(np.array([expected], dtype=object), step)[0].tolist())


@given(seed=SEEDS, length=st.integers(1, 3))
def test_soft_decoder_in_balls_encloses_the_whole_sequence(seed: int, length: int) -> None:
    layers = [*random_stack(seed, "softmax"), BallProjection(3, 2)]
    with precision(600):
        start = as_balls(np.random.default_rng(seed + 1).integers(-2, 3, size=(length, 3)))
        outputs = decode([layer.map(as_balls) for layer in layers], start, 4, halved)
        tokens = start.tolist()
        for step in range(4):
            expected = stack_by_loops(layers, tokens)[-1]
            for ball, value in zip(outputs[step], expected, strict=True):
                assert ball.overlaps(value)
                assert ball.rad() + value.rad() < 1e-20
            tokens.append(halved(np.array([expected], dtype=object), step)[0].tolist())


@given(seed=SEEDS, length=st.integers(1, 3))
def test_float_decoder_equals_one_pass_over_its_own_tokens(seed: int, length: int) -> None:
    """Weights of at most 1/8 and tokens of norm 1: all numbers are below 5, a pass has at most 60 roundings on a path
    and multiplies errors by at most 25, on both sides: 2 * 25 * 60 * 5 * 2^-53 < 2e-12.
    """
    layers = [*(layer.map(lambda part: to_float(part) / 8) for layer in random_stack(seed, "softmax"))]
    layers.append(BallProjection(3, 1))
    start = np.random.default_rng(seed + 1).integers(-2, 3, size=(length, 3)) / 4
    outputs = decode(layers, start, 4)
    tokens = np.concatenate([start, outputs])
    for step in range(4):
        expected = stack_by_loops(layers, tokens[: length + step].tolist())[-1]
        assert np.abs(outputs[step] - np.array(expected)).max() <= 2e-12
    batch = decode(layers, np.stack([start, -start]), 4)
    assert np.abs(batch[0] - outputs).max() <= 4e-7  # 25^4 times the above, for the errors of four steps
    assert np.abs(batch[1] - decode(layers, -start, 4)).max() <= 4e-7


def test_attention_to_an_encoder_and_the_feed_back() -> None:
    """One key a coordinate: the decoder copies the memory token that its own token names, and names the next one."""
    eye = np.eye(3, dtype=int)
    cross = Head(4 * eye, eye, eye, "hardmax", causal=False)  # type: ignore[arg-type]
    memory = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    outputs = decode(
        [lambda z: cross(z, memory)], np.array([[1, 0, 0]]), 4, lambda output, step: np.roll(output, 1, -1)
    )
    assert outputs.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_what_is_no_decoder_is_refused() -> None:
    eye = np.eye(2)
    head = Head(eye, eye, eye)  # type: ignore[arg-type]
    start = np.zeros((1, 2))
    with pytest.raises(ValueError, match="looks ahead"):
        decode([AttentionLayer((Head(eye, eye, eye, causal=False),))], start, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one step"):
        decode([AttentionLayer((head,))], start, 0)
    with pytest.raises(ValueError, match="at least one token"):
        decode([AttentionLayer((head,))], start[:0], 1)
    with pytest.raises(TypeError, match="A Head is no map of single tokens"):
        decode([head], start, 1)
    with pytest.raises(TypeError, match="A RecurrentLayer is no map"):
        decode([RecurrentLayer(elman_cell(eye, eye))], start, 1)
    with pytest.raises(ValueError, match="proven gap"):
        decode([AttentionLayer((Head(eye, eye, eye, "hardmax"),))], start, 1)  # type: ignore[arg-type]
