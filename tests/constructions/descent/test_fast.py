"""The compiled loop against the forward pass of the block, in float64 and in rationals."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.fast import fast_trajectory
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import (
    ReluSum,
    constant,
    identity,
    ridge,
    squared_loss_derivative,
)
from lemmata.numerics.functions.smooth import tanh
from tests.constructions.descent.blocks import BLOCK, BOX, WIDTHS, data, exact_data


@pytest.mark.parametrize(
    "loss", [squared_loss_derivative(), ridge(interpolant(tanh, 3, 6), (1, -1))], ids=["half", "tanh"]
)
def test_fast_path_agrees_with_the_forward_pass(loss: ReluSum) -> None:
    """Five blocks with the box active, a batch of prompts, numbers of examples that the block was not built for."""
    block = gradient_descent_block(WIDTHS, 3, 5, BLOCK.activation, BLOCK.derivative, loss, BOX, 1, 1)
    floats, rng = block.to_float(), np.random.default_rng(3)
    for n in (3, 1, 6):
        arrays = data(rng, block, n, (2, 3))
        slow = np.array(floats.trajectory(floats.prompt(*arrays), 5))
        fast = fast_trajectory(block, *arrays, 5)
        np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)
        assert (np.abs(slow[-1]) == 0.5).any()
        assert (np.abs(slow[-1]) < 0.5).any()
        np.testing.assert_array_equal(fast_trajectory(floats, *arrays, 5, every=2), fast[[0, 2, 4]])
    one = data(rng, block)
    assert fast_trajectory(block, *one, 2).shape == (3, block.layout.weight_count)
    with pytest.raises(ValueError, match="every between 1 and steps"):
        fast_trajectory(block, *one, 2, every=3)
    for steps in (0, 1.5, "2", None):
        with pytest.raises(ValueError, match="steps must be >= 1"):
            fast_trajectory(block, *one, steps)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="start must lie in the box"):
        fast_trajectory(block, *one[:2], one[2] + 1, 2)


def test_fast_path_clips_to_either_end_of_the_box() -> None:
    box = ("-1/16", "1/2")
    block = gradient_descent_block(
        WIDTHS, 3, 40, BLOCK.activation, BLOCK.derivative, squared_loss_derivative(), box, 1, 1
    )
    x, y, w = data(np.random.default_rng(3), block, 3, (4,))
    slow = np.array(block.to_float().trajectory(block.to_float().prompt(x, y, w / 8), 2))
    np.testing.assert_allclose(fast_trajectory(block, x, y, w / 8, 2), slow, rtol=0, atol=1e-11)
    assert (slow[-1] == -0.0625).any()
    assert (slow[-1] > 0.0625).any()


def test_fast_path_agrees_with_exact_numbers() -> None:
    """Deep linear network, 3 steps: rationals against the compiled loop."""
    block = gradient_descent_block(
        (2, 3, 1), 3, "1/3", identity(), constant(1), squared_loss_derivative(), (-1, 1), 1, 1
    )
    arrays = exact_data(np.random.default_rng(4), block)
    exact = np.array([to_float(w) for w in block.trajectory(block.prompt(*arrays), 3)])
    np.testing.assert_allclose(fast_trajectory(block, *arrays, 3), exact, rtol=0, atol=1e-14)
