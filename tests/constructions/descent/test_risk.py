"""The block for a general risk: its number systems, its table and its refusals."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmata.constructions.descent.layout import RiskLayout
from lemmata.constructions.descent.risk import RiskDescentBlock, risk_descent_block
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.functions.relu_sums import piecewise_linear, relu, ridge, squared_loss_derivative

SUMS = [ridge(piecewise_linear([-2, 0, 2], [-2, 0, 1]), v) for v in ([1, 0, 1, -1], [1, 1, "1/2", 0])]


def block(**changes: Any) -> RiskDescentBlock:
    arguments: dict[str, Any] = {
        "sizes": (1, 1),
        "examples": 3,
        "step_size": "1/2",
        "gradient": SUMS,
        "box": (-1, ["1/2", 1]),
        "input_bound": 2,
        "label_bound": 1,
    }
    return risk_descent_block(**(arguments | changes))


def data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, (4, 1)), rng.uniform(-1, 1, (3, 1)), rng.uniform(-1, 0.5, 2)


def test_float_step_is_projected_descent_and_torch_agrees() -> None:
    run, (x, y, w) = block().to_float(), data(0)
    z = run.prompt(x, y, w)
    slopes = [w[0] + x[:-1, 0] - y[:, 0], w[0] + w[1] + x[:-1, 0] / 2]
    gradient = np.array([np.where(t > 0, t / 2, t).mean() for t in slopes])
    assert run.weights(run(z)) == pytest.approx(np.clip(w - gradient / 2, -1, [0.5, 1]))
    assert run.to_torch()(torch.from_numpy(z)).detach().numpy() == pytest.approx(run(z))
    assert len(run.trajectory(z, 3)) == 4
    batch = run.prompt(np.stack([x, -x]), np.stack([y, y]), w)
    assert run(batch)[0] == pytest.approx(run(z))


def test_layers_read_and_write_what_they_should() -> None:
    step = block()
    stream = step.layout.stream
    writes = [stream.names(np.flatnonzero(layer.write_mask())) for layer in step.layers]
    assert writes == [("G",), ("w",), ("G",), ("w",)]
    assert stream.width == 1 + 1 + 2 + 2 + 1 + 1
    assert step.mask == fmpq(2 * 2**20 + 2, 2**20)
    assert len(step.table().rows) == 4
    assert float(block(gradient=SUMS).gradient_error) == 0


def test_trajectory_error_sums_the_growth() -> None:
    from dataclasses import replace

    step = block(gradient=[replace(f, error=fmpq(k, 10)) for f, k in zip(SUMS, (3, 4), strict=True)])
    assert float(step.gradient_error) == pytest.approx(0.5)
    assert float(step.trajectory_error(3, 2)) == pytest.approx(0.5 * 0.5 * (1 + 2 + 4))
    assert float(step.trajectory_error(2, 0)) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="not negative"):
        step.trajectory_error(3, -1)
    with pytest.raises(ValueError, match="steps"):
        step.trajectory_error(0, 1)


def test_short_format_with_a_large_mask_is_refused() -> None:
    with pytest.raises(ValueError, match="use float64"):
        block(input_bound=10**8).to_torch(dtype=torch.float32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"examples": 0}, "examples must be an integer >= 1"),
        ({"step_size": 0}, "step_size must be positive"),
        ({"label_bound": -1}, "the bounds >= 0"),
        ({"gradient": []}, "integers >= 1"),
        ({"sizes": (0, 1)}, "integers >= 1"),
        ({"gradient": [squared_loss_derivative()] * 2}, "Entry 0 of the gradient must be a ReluSum of 4 variables"),
        ({"gradient": [SUMS[0], relu()]}, "Entry 1 of the gradient must be a ReluSum of 4 variables"),
        ({"gradient": [SUMS[0], SUMS[1].on(1)]}, "outside the interval of radius 1"),
        ({"box": (1, -1)}, "The box is empty"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        block(**changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y, w: (3 * x, y, w), "The inputs must be at most input_bound"),
        (lambda x, y, w: (x, 3 * y, w), "The labels must be at most label_bound"),
        (lambda x, y, w: (x, y, w + 2), "The start must lie in the box"),
        (lambda x, y, w: (x[1:], y[1:], w), "The block was built for 3 examples, but the prompt has 2"),
        (lambda x, y, w: (x, y, w[:1]), "The start of the weights must have shape"),
        (lambda x, y, w: (x, y[:2], w), "A prompt needs inputs"),
    ],
)
def test_bad_prompts_are_refused(change: Any, message: str) -> None:
    x, y, w = data(1)
    x[-1] = 2.0
    y[0] = 1.0
    with pytest.raises(ValueError, match=message):
        block().to_float().prompt(*change(x, y, w))


def test_layouts_know_their_sizes() -> None:
    layout = RiskLayout(2, 3, 4)
    assert (layout.data_sizes, layout.weight_count, layout.stream.width) == ((2, 3), 4, 15)
    z = layout.encode(np.zeros((3, 2)), np.ones((2, 3)), np.arange(4.0))
    assert layout.weights(z).tolist() == [[0, 1, 2, 3]] * 3
    assert to_float(z[..., -1]).tolist() == [1, 1, 0]
