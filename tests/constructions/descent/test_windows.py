"""What a step refuses because it would silently be another step: arguments in excluded windows, coarse formats."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.fast import fast_trajectory
from lemmata.constructions.descent.softmax import softmax_descent_block
from lemmata.constructions.descent.torch import mask_rounding
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.functions.relu_sums import relu, relu_derivative, squared_loss_derivative

DELTA = fmpq(1, 100)
SUMS = relu(), relu_derivative(DELTA), squared_loss_derivative()
BOUNDS = (-2, 2), 1, 1
BLOCK = gradient_descent_block((1, 1), 1, 1, *SUMS, *BOUNDS)
SOFTMAX = softmax_descent_block((1, 1), 1, 1, *SUMS, *BOUNDS, 4)
ONE = as_exact([[1], [1]])


def prompt_of(block: Any, weight: fmpq, test_input: object = 1) -> Any:
    return block.prompt(as_exact([[1], [test_input]]), as_exact([[1]]), as_exact([weight]))


@pytest.mark.parametrize("block", [BLOCK, SOFTMAX], ids=["relu", "softmax"])
@pytest.mark.parametrize("system", ["exact", "float", "ball"])
def test_arguments_in_the_window_are_refused(block: Any, system: str) -> None:
    convert = to_float if system == "float" else as_exact
    block = {"exact": block, "float": block.to_float(), "ball": block.to_balls()}[system]
    for weight in (DELTA / 1000, DELTA / 2, DELTA * 999 / 1000):
        with pytest.raises(ValueError, match=r"argument of the derivative in layer 1 lies in the window \(0, 1/100\)"):
            block.prompt(convert(ONE), convert(ONE[:1]), convert(np.array([weight])))
    undecided = system == "ball" and block.layout.stream.sizes.get("z1")  # a ball around 0 is not decided to be <= 0
    for weight in (-DELTA, 2 * DELTA) if undecided else (-DELTA, 0 * DELTA, 2 * DELTA):
        block.prompt(convert(ONE), convert(ONE[:1]), convert(np.array([weight])))


def test_the_ends_of_the_window_belong_to_the_exact_part() -> None:
    assert BLOCK.weights(BLOCK(prompt_of(BLOCK, DELTA))).tolist() == [DELTA + (1 - DELTA) / 2]
    assert BLOCK.weights(BLOCK(prompt_of(BLOCK, fmpq(0)))).tolist() == [0]


def test_the_test_token_may_lie_in_the_window() -> None:
    z = prompt_of(BLOCK, fmpq(1, 2), DELTA)
    assert BLOCK.weights(BLOCK(z)).tolist() == [fmpq(3, 4)]


def test_second_layers_are_looked_at() -> None:
    block = gradient_descent_block((1, 1, 1), 1, 1, *SUMS, *BOUNDS)
    with pytest.raises(ValueError, match="derivative in layer 2"):
        block.prompt(ONE, ONE[:1], as_exact([1, DELTA / 2]))


def test_runs_that_come_into_the_window_are_refused() -> None:
    """x = 1, label -y: w = 1, then 1 - (1 + y)/2, which is delta/2 for y = 1 - delta."""
    block = gradient_descent_block((1, 1), 1, 1, *SUMS, *BOUNDS)
    labels = as_exact([[-(1 - DELTA)]])
    z = block.prompt(ONE, labels, as_exact([1]))
    assert block.trajectory(z, 1)[1].tolist() == [DELTA / 2]
    with pytest.raises(ValueError, match="lies in the window"):
        block.trajectory(z, 2)
    for every in (1, 2):
        with pytest.raises(ValueError, match="lies in the window"):
            fast_trajectory(block, ONE, labels, as_exact([1]), 2, every)
    assert fast_trajectory(block, ONE, labels, as_exact([1]), 1)[1] == pytest.approx(float(DELTA / 2))


@pytest.mark.parametrize("every", [1, 2, 3])
def test_long_runs_keep_their_records(every: int) -> None:
    """With and without windows the same records, in shape and value, in a batch."""
    x, y, w = np.ones((2, 3, 1)), np.ones((2, 2, 1)) * [[[0.5]], [[0.25]]], np.array([[1.0], [0.75]])
    block = gradient_descent_block((1, 1), 2, "1/2", *SUMS, *BOUNDS)
    found = fast_trajectory(block, x, y, w, 7, every)
    assert found.shape == (1 + 7 // every, 2, 1)
    machine = block.to_float()
    plain = np.array(machine.trajectory(machine.prompt(x, y, w), 7))
    np.testing.assert_allclose(found, plain[::every], rtol=0, atol=1e-14)


def test_short_formats_with_large_bounds_are_refused() -> None:
    for bound, refused in ((1, None), (10**3, UserWarning), (10**6, ValueError)):
        block = gradient_descent_block((1, 1), 1, 1, *SUMS, (-1, 1), bound, bound)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            block.to_torch()
            if refused is None:
                block.to_torch(dtype=torch.float32)
            else:
                with pytest.raises(
                    refused, match=r"In torch.float32 the mask .* may change the derivative of the loss"
                ):
                    block.to_torch(dtype=torch.float32)


def test_rounding_in_the_mask_is_bounded() -> None:
    """The derivative of the loss in float32 against exact numbers: within the bound, and not far below it."""
    block = gradient_descent_block((1, 1), 1, 1, *SUMS, (-1, 1), 10**3, 10**3)
    bound, worst = mask_rounding(block, torch.float32), 0.0
    with pytest.warns(UserWarning, match="mask"):
        module = block.to_torch(dtype=torch.float32)
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, y = rng.uniform(0, 1000, (2, 1)).astype(np.float32), rng.uniform(-1000, 1000, (1, 1)).astype(np.float32)
        z = torch.tensor(block.layout.encode(x, y, np.ones(1)), dtype=torch.float32)
        for layer in list(module.children())[:3]:  # output, derivatives, loss gradient
            z = layer(z)
        g = z[:, block.layout.stream["g"]].flatten().tolist()
        worst = max(worst, abs(g[0] - (float(x[0, 0]) - float(y[0, 0]))))
        assert g[1] == 0
    assert bound / 200 < worst <= bound
