"""The block of in-context gradient descent: number systems, torch, matrices, the table, and the test token.

That the block is gradient descent is checked in theorems/deep_icgd (test_block, test_theorem_1).
"""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.networks.stored import StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.functions.relu_sums import (
    ReluSum,
    constant,
    identity,
    squared_loss_derivative,
)
from tests.constructions.descent.blocks import BLOCK, GOOD, data, exact_data, tanh_block


def test_float_and_balls_agree_with_rationals() -> None:
    """Every ball contains the exact number after every layer; float64 errs by 1e-13 (100 roundings of numbers < 10)."""
    arrays = exact_data(np.random.default_rng(0), BLOCK)
    exact, floats, balls = BLOCK, BLOCK.to_float(), BLOCK.to_balls()
    stages = zip(
        exact.stages(exact.prompt(*arrays)),
        floats.stages(floats.prompt(*map(to_float, arrays))),
        balls.stages(balls.prompt(*arrays)),
        strict=True,
    )
    widest = 0.0
    for z, near, enclosed in stages:
        np.testing.assert_allclose(near, to_float(z), rtol=0, atol=1e-13)
        for ball, number in zip(enclosed.ravel().tolist(), z.ravel().tolist(), strict=True):
            assert isinstance(ball, arb)
            assert (ball * int(number.q)).contains(int(number.p))
            widest = max(widest, float(ball.rad()))
    assert 0 < widest < 1e-10


def test_torch_has_the_same_weights_and_can_be_trained() -> None:
    floats = BLOCK.to_float()
    z = floats.prompt(*data(np.random.default_rng(1), BLOCK, batch=(2,)))
    module = BLOCK.to_torch()
    np.testing.assert_allclose(module(torch.tensor(z)).detach().numpy(), floats(z), rtol=0, atol=1e-13)
    assert BLOCK.to_torch(dtype=torch.float32)(torch.tensor(z, dtype=torch.float32)).dtype == torch.float32
    module(torch.tensor(z)).square().sum().backward()
    gradients = [parameter.grad for parameter in module.parameters()]
    attention = [layer.families for layer in BLOCK.layers if isinstance(layer, StoredAttention)]
    runs = sum(len(list(groupby(families, lambda family: len(family.query)))) for families in attention)
    assert (len(attention), runs) == (5, 3 + 3 + 1)  # forward, derivatives at three widths of queries, update
    assert len(gradients) == 3 * runs + 2 + 3 * 3 + 2
    assert all(gradient is not None for gradient in gradients)


def test_torch_refuses_matrices_that_would_not_fit() -> None:
    with pytest.raises(ValueError, match="entries as matrices"):
        gradient_descent_block(
            (40, 40, 40), 1, 1, identity(), constant(1), squared_loss_derivative(), ("-1/8", "1/8"), 1, 1
        ).to_torch()


def test_layers_are_the_sums_of_their_matrices() -> None:
    """Layer by layer: all heads taken out as matrices in the named coordinates, and multiplied out."""
    block = tanh_block(pieces=2)
    z = block.prompt(*exact_data(np.random.default_rng(2), block))
    for layer in block.layers:
        if isinstance(layer, StoredAttention):
            expected = z + sum((layer.head(number)(z) for number in range(layer.head_count)), start=0 * z)
        elif isinstance(layer, StoredFeedForward):
            first, second = (affine.weight for affine in layer.dense().layers)
            hidden = z @ first
            expected = z + np.where((hidden > 0).astype(bool), hidden, 0 * hidden) @ second
        else:
            assert isinstance(layer, StoredMultiplication)
            expected = z
            for matrices in zip(*layer.dense().arrays(), strict=True):
                Q, K, V = (matrix.astype(object) for matrix in matrices)
                expected = expected + ((z @ Q) * (z @ K)).sum(axis=1)[:, None] * (z @ V)
        z = layer(z)
        assert (z == expected).all()


def test_summaries_count_heads_and_name_blocks() -> None:
    M1, M2, M3 = BLOCK.activation.units, BLOCK.derivative.units, BLOCK.loss_derivative.units
    summaries, units, scratch = BLOCK.table().rows, 3 + 4 + 1, 3 * 8 + 1
    weights = 2 * 3 + 3 * 4 + 4
    assert [s.number for s in summaries] == list(range(1, 11))
    assert [s.heads + s.units for s in summaries] == [
        *(3 * M1, 4 * M1, M1, units * M2, M3, 1, 4, 3, 2 * units, 2 * weights + 2 * scratch)
    ]
    assert summaries[1].reads == ("w2", "p1", "1")
    assert summaries[1].writes == ("p2",)
    assert summaries[3].writes == ("r'0", "r'1", "r'2")
    assert summaries[4].reads == ("y", "p3", "1", "t")
    assert summaries[6].reads == ("w3", "r'1", "s3")
    assert summaries[8].writes == ("w1", "w2", "w3")
    assert [s.norm for s in summaries[5:8]] == [1, 1, 1]
    assert [s.kind for s in summaries if s.units] == ["MLP", "MLP"]
    table = str(BLOCK.table())
    assert len(table.splitlines()) == 12
    assert f"width {BLOCK.layout.stream.width}, {sum(s.heads for s in summaries)} heads" in table
    assert str(BLOCK.to_float().table()) == table


def test_answer_leaves_the_examples_alone() -> None:
    """y of the examples, and everything else but p(1..N), is what it was; |p(N)| comes near its bound."""
    block = gradient_descent_block(**{**GOOD, "widths": (2, 2, 1)})
    rng = np.random.default_rng(8)
    for sign in (1, -1):
        w = as_exact([1, 1, 1, 1, sign, sign])
        x = as_exact(rng.integers(3, 5, (4, 2))) / fmpq(4)
        z = block.prompt(x, as_exact([["1/3"], ["-1/5"], [1]]), w)
        after = z
        for layer in block.answer_layers():
            after = layer(after)
        stream = block.layout.stream
        expected = z.copy()
        expected[-1, stream["y"]] = 2 * sign * sum(x[-1].tolist(), fmpq(0))
        expected[:, stream["p1"].start : stream["p2"].stop] = after[:, stream["p1"].start : stream["p2"].stop]
        assert (after == expected).all()
        assert (block.answer(z) == expected[-1, stream["y"]]).all()


def test_mask_exceeds_all_that_it_hides() -> None:
    """The loss reads the constant alone (R >= 1 is needed), or an output at its bound (no rounding down), exactly."""
    one = ReluSum(as_exact([1]), as_exact([[0, 0, 1]]))
    output = ReluSum(as_exact([1]), as_exact([[1, 0, 0]]))
    for loss, bound in ((one, "1/4"), (output, "4/3"), (output, "1/3")):
        changes = {"widths": (1, 1), "loss_derivative": loss, "input_bound": bound, "label_bound": "1/8"}
        block = gradient_descent_block(**{**GOOD, **changes})
        assert block.mask_bound > max(fmpq(1), as_exact([bound])[0])
        z = block.prompt(as_exact([[0], [0], [0], [bound]]), as_exact([[0]] * 3), as_exact([1]))
        *_, before, _, _, _ = block.stages(z)
        assert (before[-1, block.layout.stream["g"]] == 0).all()
        assert (block.weights(block(z)) == 1).all()
