"""The block of in-context gradient descent: number systems, torch, the fast path, the table, and what it refuses.

That the block is gradient descent is checked in theorems/deep_icgd (test_block, test_theorem_1).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from certificates.descent import certify_step
from constructions.descent.block import DescentBlock, gradient_descent_block
from constructions.descent.bounds import (
    approximate_activation,
    box_arrays,
    largest_value,
    preactivation_bounds,
)
from constructions.descent.fast import fast_trajectory
from constructions.descent.layout import PromptLayout
from constructions.networks.relu_attention import ReluAttentionLayer
from constructions.networks.sparse_layers import MlpLayer, MultiplicationLayer
from numerics.descent.backpropagation import forward, projected_step, risk_gradient
from numerics.descent.piecewise import descend, piecewise_table
from numerics.exact.balls import as_balls
from numerics.exact.numbers import as_exact, to_float
from numerics.functions.interpolation import interpolant
from numerics.functions.relu_sums import (
    ReluSum,
    affine,
    constant,
    identity,
    piecewise_linear,
    relu_derivative,
    ridge,
    squared_loss_derivative,
)
from numerics.functions.smooth import SmoothFunction, exponential, sigmoid, softplus, tanh

SEEDS = st.integers(0, 10**6)
BOX = ("-1/2", "1/2")
WIDTHS = (2, 3, 4, 1)


def tanh_block(pieces: int = 8, n: int = 3, widths: tuple[int, ...] = WIDTHS, step: object = "1/2") -> DescentBlock:
    sums = approximate_activation(widths, tanh, BOX, 1, pieces=pieces)
    return gradient_descent_block(widths, n, step, *sums, squared_loss_derivative(), BOX, 1, 1)


BLOCK = tanh_block()
"""Three layers, three examples."""


def data(rng: np.random.Generator, block: DescentBlock, n: int = 3, batch: tuple[int, ...] = ()) -> tuple[Any, ...]:
    k = block.layout.widths
    return (
        rng.uniform(-1, 1, (*batch, n + 1, k[0])),
        rng.uniform(-1, 1, (*batch, n, k[-1])),
        rng.uniform(-0.5, 0.5, (*batch, block.layout.weight_count)),
    )


def exact_data(rng: np.random.Generator, block: DescentBlock, n: int = 3) -> tuple[Any, ...]:
    return tuple(as_exact((array * 64).astype(np.int64)) / fmpq(64) for array in data(rng, block, n))


# ---- number systems, torch, heads as matrices


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
    assert BLOCK.to_torch(torch.float32)(torch.tensor(z, dtype=torch.float32)).dtype == torch.float32
    module(torch.tensor(z)).square().sum().backward()
    gradients = [parameter.grad for parameter in module.parameters()]
    assert len(gradients) == 3 * 4 + 2 + 3 * 3 + 3 + 2
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
        if isinstance(layer, ReluAttentionLayer):
            expected = z + sum((layer.head(number)(z) for number in range(layer.heads)), start=0 * z)
        elif isinstance(layer, MlpLayer):
            first, second = layer.matrices()
            hidden = z @ first
            expected = z + np.where((hidden > 0).astype(bool), hidden, 0 * hidden) @ second
        else:
            assert isinstance(layer, MultiplicationLayer)
            expected = z
            for number in range(layer.heads):
                Q, K, V = (matrix.astype(object) for matrix in layer.head(number))
                expected = expected + ((z @ Q) * (z @ K)).sum(axis=1)[:, None] * (z @ V)
        z = layer(z)
        assert (z == expected).all()


def test_summaries_count_heads_and_name_blocks() -> None:
    M1, M2, M3 = BLOCK.activation.units, BLOCK.derivative.units, BLOCK.loss_derivative.units
    summaries, units, scratch = BLOCK.summaries(), 3 + 4 + 1, 3 * 8 + 1
    weights = 2 * 3 + 3 * 4 + 4
    assert [s.number for s in summaries] == list(range(1, 11))
    assert [s.heads for s in summaries] == [
        *(3 * M1, 4 * M1, M1, units * M2, M3, 1, 4, 3, 2 * units, 2 * weights + 2 * scratch)
    ]
    assert summaries[1].reads == ("w2", "p1", "1")
    assert summaries[1].writes == ("p2",)
    assert summaries[3].writes == ("r'0", "r'1", "r'2")
    assert summaries[4].reads == ("y", "p3", "1", "t")
    assert summaries[6].reads == ("w3", "r'1", "s3")
    assert summaries[8].writes == ("w1", "w2", "w3")
    assert [s.norm for s in summaries[5:8]] == [1, 1, 1]
    table = BLOCK.table()
    assert len(table.splitlines()) == 12
    assert f"width {BLOCK.layout.stream.width}, {sum(s.heads for s in summaries)} heads" in table
    assert BLOCK.to_float().table() == table


# ---- the fast path


@given(SEEDS)
def test_table_of_a_piecewise_linear_function(seed: int) -> None:
    rng = np.random.default_rng(seed)
    knots = sorted(set(rng.integers(-8, 9, size=5).tolist()) | {-9, 9})
    values = [Fraction(int(v), 4) for v in rng.integers(-9, 10, size=len(knots))]
    function = piecewise_linear(knots, values)
    points = np.concatenate([rng.uniform(-12, 12, 50), knots])
    np.testing.assert_allclose(piecewise_table(function)(points), function(points), rtol=0, atol=1e-11)


@pytest.mark.parametrize("function", [identity(), constant(2), affine(2, 1), relu_derivative("1/1000")], ids=str)
def test_tables_of_functions_with_few_kinks(function: ReluSum) -> None:
    points = np.linspace(-2, 2, 401)
    np.testing.assert_allclose(piecewise_table(function)(points), function(points), rtol=0, atol=1e-12)


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


def test_compiled_loop_agrees_with_reference_back_propagation() -> None:
    """Without the block: `descend` against `numerics.descent.backpropagation`, both in float64."""
    rng, layout = np.random.default_rng(5), PromptLayout((3, 2, 2))
    r, dr = piecewise_linear([-1, 0, 1], [-1, 0, 2]), piecewise_linear([-1, 1], [1, 2])
    w, X, Y = rng.normal(size=layout.weight_count), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    gradient = risk_gradient(
        [V.tolist() for V in layout.matrices(w)],
        X.tolist(),
        Y.tolist(),
        lambda t: t if t < 0 else 2 * t,
        lambda t: (t + 3) / 2,
        lambda t, y: t - y,
    )
    moved = projected_step([V.tolist() for V in layout.matrices(w)], gradient, 0.3, lambda j, k, b: (-0.25, 1.0))
    lower, upper = np.full_like(w, -0.25), np.ones_like(w)
    tables = piecewise_table(r), piecewise_table(dr)
    result = descend(
        layout.widths, w[None], X[None], Y[None], tables, squared_loss_derivative(), 0.3, (lower, upper), 1
    )
    expected = layout.flatten([np.array(V) for V in moved])
    assert {-0.25, 1.0} < set(expected.tolist())  # both walls are met, and the inside
    np.testing.assert_allclose(result[0, 0], expected, rtol=0, atol=1e-12)


# ---- the layout and the prompt


def test_layout_names_all_coordinates() -> None:
    layout = PromptLayout((2, 3, 1))
    assert list(layout.stream.sizes) == ["x", "y", "w1", "w2", "p1", "p2", "r'0", "r'1", "g", "s2", "s1", "1", "t"]
    assert layout.stream.width == 2 + 2 * 1 + 9 + 3 * 4 + 2
    z = layout.encode([[1, 2], [3, 4]], [[5]], range(6, 15))
    assert z.tolist() == [
        [1, 2, 5, *range(6, 15), *[0] * 13, 1, 1],
        [3, 4, 0, *range(6, 15), *[0] * 13, 1, 0],
    ]
    assert all(isinstance(entry, fmpq) for entry in z.ravel())
    assert layout.encode([[1.0, 2], [3, 4]], [[5]], range(6, 15)).dtype == np.float64
    assert layout.encode(as_balls([[1, 2], [3, 4]]), [[5]], range(6, 15))[0, 0] == arb(1)
    w = np.arange(9)
    assert (layout.flatten(layout.matrices(w)) == w).all()
    assert layout.weight_rows(2).tolist() == [[9, 10, 11]]


@pytest.mark.parametrize("widths", [(), (2,), (2, 0), (2, 1.5), (2, True), (-1, 2), 3, None, ("2", 1)])
def test_bad_widths_are_refused(widths: Any) -> None:
    with pytest.raises(ValueError, match="widths"):
        PromptLayout(widths)


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


# ---- the test token


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


# ---- the builder


GOOD: dict[str, Any] = {
    "widths": (2, 3, 1),
    "examples": 3,
    "step_size": "1/2",
    "activation": identity(),
    "derivative": constant(1),
    "loss_derivative": squared_loss_derivative(),
    "box": (-1, 1),
    "input_bound": 1,
    "label_bound": 1,
}


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either pieces"),
        ({"pieces": 3, "error": "1/10"}, "either pieces"),
        ({"error": 0}, "error, the largest error of the sums of ReLUs, must be positive"),
        ({"error": "-1/10"}, "must be positive"),
        ({"pieces": 0}, "pieces"),
    ],
)
def test_bad_approximations_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        approximate_activation(WIDTHS, tanh, BOX, 1, **options)


def test_approximations_meet_their_error_on_a_radius_that_suffices() -> None:
    sums = approximate_activation(WIDTHS, tanh, BOX, 1, error="1/50")
    assert all(f.error <= fmpq(1, 50) for f in sums)
    block = gradient_descent_block(WIDTHS, 3, 1, *sums, squared_loss_derivative(), BOX, 1, 1)
    assert max(block.preactivations) <= sums[0].radius
    assert block.mask_bound >= 1


@pytest.mark.parametrize("pieces", [1, 2, 8, 32])
@pytest.mark.parametrize("widths", [(2, 1), (2, 3, 1), (2, 3, 3, 1), (1, 2, 1, 3, 2)], ids=str)
@pytest.mark.parametrize("function", [softplus, tanh, sigmoid], ids=lambda f: f.name)
def test_coarse_sums_cover_their_own_arguments(function: SmoothFunction, widths: tuple[int, ...], pieces: int) -> None:
    """Above a convex activation its interpolant has larger values, and so leads to larger arguments, than it has."""
    sums = approximate_activation(widths, function, (-1, 1), 1, pieces=pieces)
    block = gradient_descent_block(widths, 1, 1, *sums, squared_loss_derivative(), (-1, 1), 1, 1)
    radius = sums[0].radius
    assert radius is not None
    assert max(block.preactivations) <= radius
    true, _ = preactivation_bounds(block.layout, (-1, 1), 1, lambda rho: function.bound(-rho, rho))
    assert max(true) <= radius
    if pieces == 1:  # and of every mixture of the two
        assert certify_step(block, function).gradient_error > 0


@pytest.mark.parametrize("error", ["1/2", "1/50"])
def test_sums_with_an_error_cover_their_own_arguments(error: str) -> None:
    sums = approximate_activation((2, 3, 3, 1), softplus, (-1, 1), 1, error=error)
    gradient_descent_block((2, 3, 3, 1), 1, 1, *sums, squared_loss_derivative(), (-1, 1), 1, 1)


def test_too_few_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="pieces = 2 are too few for exp"):
        approximate_activation((2, 3, 3, 1), exponential, ("-1/3", "1/3"), 1, pieces=2)
    with pytest.raises(ValueError, match="too large for exact arithmetic"):
        approximate_activation((2, 3, 3, 3, 1), exponential, (-1, 1), 1, pieces=8)


def test_inputs_that_are_all_zero_need_no_room() -> None:
    sums = approximate_activation((2, 3, 1), tanh, (-1, 1), 0, pieces=4)
    gradient_descent_block((2, 3, 1), 1, 1, *sums, squared_loss_derivative(), (-1, 1), 0, 1)


def test_steps_must_be_positive() -> None:
    floats = BLOCK.to_float()
    z = floats.prompt(*data(np.random.default_rng(7), BLOCK))
    with pytest.raises(ValueError, match="steps must be an integer >= 1"):
        floats.trajectory(z, 0)
    with pytest.raises(ValueError, match="examples must be an integer >= 1"):
        BLOCK.effective_step_size(0)
    assert BLOCK.effective_step_size(3) == BLOCK.step_size


def test_boxes_with_ends_of_their_own() -> None:
    layout = PromptLayout((1, 2))
    lower, upper = box_arrays(layout, ([-1, 0], "1/2"))
    assert lower.tolist() == [-1, 0]
    assert upper.tolist() == [fmpq(1, 2)] * 2
    radii, outputs = preactivation_bounds(layout, ([-1, 0], "1/2"), 3, lambda rho: rho)
    assert radii == [3]
    assert outputs == [3, 3]
    layout = PromptLayout((2, 1, 2))
    for box in (([-3, 1, 0, -1], [-2, 2, 0, 4]), ([2, -2, 0, -4], [3, -1, 0, 1])):  # either end may be the larger
        radii, _ = preactivation_bounds(layout, box, 1, lambda rho: rho)
        assert radii == [5, 20]


def test_largest_value_is_found_inside_and_at_either_end() -> None:
    hat = largest_value(piecewise_linear([-1, 0, 1], [0, 3, 0]))
    assert [hat(fmpq(k, 2)) for k in (1, 2, 6, 10)] == [3, 3, 6, 12]
    for slope in (2, -2):
        assert largest_value(affine(slope, 1))(fmpq(3)) == 7
    assert largest_value(piecewise_linear([-2, 0, 1], [-5, 0, 1]))(fmpq(2)) == 5


def test_reference_back_propagation_refuses_bad_shapes() -> None:
    functions: Any = (abs, abs, min)
    with pytest.raises(ValueError, match="as many labels as inputs"):
        risk_gradient([[[1]]], [[1]], [], *functions)
    with pytest.raises(ValueError, match="rows of V_2 must have length 1"):
        risk_gradient([[[1]], [[1, 2]]], [[1]], [[1]], *functions)
    with pytest.raises(ValueError, match="all labels length 1"):
        risk_gradient([[[1]]], [[1]], [[1, 2]], *functions)
    assert forward([[[2]], [[3]]], [1], abs) == [[1], [2], [6]]
