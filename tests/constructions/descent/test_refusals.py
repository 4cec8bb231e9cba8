"""What the block of in-context gradient descent refuses: prompts, streams, and arguments of the builder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import (
    constant,
    identity,
    ridge,
    squared_loss_derivative,
)
from lemmata.numerics.functions.smooth import tanh
from tests.constructions.descent.blocks import BLOCK, GOOD, data, exact_data


@pytest.mark.parametrize(
    ("inputs", "labels", "start", "message"),
    [
        (np.zeros((4, 3)), np.zeros((3, 1)), np.zeros(22), r"inputs \(\.\.\., n\+1, 2\)"),
        (np.zeros((4, 2)), np.zeros((4, 1)), np.zeros(22), r"labels \(\.\.\., n, 1\)"),
        (np.zeros((1, 2)), np.zeros((0, 1)), np.zeros(22), "n >= 1"),
        (np.zeros(2), np.zeros((0, 1)), np.zeros(22), "n >= 1"),
        (np.zeros((4, 2)), np.zeros((3, 1)), np.zeros(21), "start of the weights"),
        (np.zeros((4, 2)), np.zeros((3, 1)), np.zeros((2, 22)), "start of the weights"),
        (np.ones((4, 2)) * 1.5, np.zeros((3, 1)), np.zeros(22), "inputs must be at most inputs?_bound = 1"),
        (np.ones((4, 2)) * np.nan, np.zeros((3, 1)), np.zeros(22), "inputs must be at most"),
        (np.zeros((4, 2)), np.ones((3, 1)) * -2, np.zeros(22), "labels must be at most"),
        (np.r_[np.zeros((3, 2)), [[0, -1.01]]], np.zeros((3, 1)), np.zeros(22), "the test input included"),
        (np.full((4, 2), np.inf), np.zeros((3, 1)), np.zeros(22), "inputs must be at most"),
        (np.zeros((4, 2)), np.full((3, 1), np.nan), np.zeros(22), "labels must be at most"),
        (np.zeros((4, 2)), np.zeros((3, 1)), np.full(22, np.nan), "start must lie in the box"),
        (np.zeros((4, 2)) + 0j, np.zeros((3, 1)), np.zeros(22), "complex"),
        ([["a", "b"]] * 4, np.zeros((3, 1)), np.zeros(22), "'a'"),
        (None, np.zeros((3, 1)), np.zeros(22), "None"),
        (np.zeros((4, 2)), np.zeros((3, 1)), np.full(22, 0.51), "start must lie in the box, but weight 0"),
        (np.zeros((4, 2)), np.zeros((3, 1)), np.r_[np.zeros(21), -0.6], "weight 21"),
    ],
)
def test_bad_prompts_are_refused(inputs: Any, labels: Any, start: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BLOCK.to_float().prompt(inputs, labels, start)


def test_streams_of_another_number_system_are_refused() -> None:
    arrays = data(np.random.default_rng(6), BLOCK)
    with pytest.raises(ValueError, match="to_float"):
        BLOCK.prompt(*arrays)
    with pytest.raises(ValueError, match="to_float"):
        BLOCK.to_float()(BLOCK.prompt(*exact_data(np.random.default_rng(6), BLOCK)))


@pytest.mark.parametrize("stream", [np.zeros((4, 3)), np.zeros(BLOCK.layout.stream.width), [[0.0]]], ids=np.shape)
def test_streams_of_another_shape_are_refused(stream: Any) -> None:
    with pytest.raises(ValueError, match=r"an array \(\.\.\., T, 52\)"):
        BLOCK.to_float()(stream)


def test_labels_have_a_bound_of_their_own() -> None:
    block = gradient_descent_block(**{**GOOD, "input_bound": 2, "label_bound": "1/2"})
    x, w = as_exact([[2, -2]] * 4), as_exact(["1/2"] * 9)
    block.prompt(x, as_exact([["1/2"]] * 3), w)
    with pytest.raises(ValueError, match="labels must be at most label_bound = 1/2"):
        block.prompt(x, as_exact([["51/100"]] * 3), w)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"widths": (2,)}, "N >= 1"),
        ({"widths": 2}, "widths must be a tuple"),
        ({"step_size": -1}, "step_size must be positive"),
        ({"step_size": float("nan")}, "step_size must be an exact number"),
        ({"box": None}, "box must be a pair"),
        ({"box": (-1, 0, 1)}, "box must be a pair"),
        ({"activation": abs}, "activation must be a ReluSum"),
        ({"derivative": tanh}, "derivative must be a ReluSum"),
        ({"loss_derivative": None}, "loss_derivative must be a ReluSum"),
        ({"widths": (1, 1), "loss_derivative": ridge(identity(), (1, -1), 3), "label_bound": 4}, "The output or label"),
        ({"examples": 0}, "examples must be an integer >= 1"),
        ({"examples": 1.0}, "examples"),
        ({"step_size": 0}, "step_size must be positive"),
        ({"step_size": 0.5}, "step_size must be an exact number"),
        ({"label_bound": -1}, "label_bound >= 0"),
        ({"input_bound": -1}, "input_bound"),
        ({"box": (1, -1)}, "box is empty"),
        ({"box": ([0, 0], 1)}, "lower end of the box"),
        ({"box": (-0.5, 1)}, "not exact"),
        ({"activation": squared_loss_derivative()}, "take 1 argument"),
        ({"loss_derivative": identity()}, "take 1 argument"),
        ({"derivative": constant(0)}, "at least one unit"),
        ({"activation": interpolant(tanh, 1, 2)}, "The argument of the activation in layer 1"),
        ({"derivative": interpolant(tanh, 5, 2)}, "The argument of the derivative in layer 2"),
        ({"loss_derivative": ridge(identity(), (1, -1), radius=2)}, "The output or label"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_blocks_are_refused(changes: dict[str, Any], message: str) -> None:
    gradient_descent_block(**GOOD)
    with pytest.raises(ValueError, match=message):
        gradient_descent_block(**{**GOOD, **changes})


def test_steps_must_be_positive() -> None:
    floats = BLOCK.to_float()
    z = floats.prompt(*data(np.random.default_rng(7), BLOCK))
    with pytest.raises(ValueError, match="steps must be an integer >= 1"):
        floats.trajectory(z, 0)
    with pytest.raises(ValueError, match="examples must be an integer >= 1"):
        BLOCK.effective_step_size(0)
    assert BLOCK.effective_step_size(3) == BLOCK.step_size
