"""The softmax block: dense matrices, number systems, the silent test token, bad input, removed parts; the quantiser."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmata.constructions.descent.quantiser import Quantizer
from lemmata.constructions.descent.softmax import SoftmaxDescentBlock, softmax_descent_block
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stored import StoredFeedForward
from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import ReluSum, constant, identity, leaky_relu, ridge, squared_loss_derivative
from lemmata.numerics.functions.smooth import tanh

WIDTHS = (2, 3, 1)


def linear_block(**changes: Any) -> SoftmaxDescentBlock:
    arguments = {
        "widths": WIDTHS,
        "examples": 2,
        "step_size": "1/10",
        "activation": identity(),
        "derivative": constant(1),
        "loss_derivative": squared_loss_derivative(),
        "box": (-1, 1),
        "input_bound": 1,
        "label_bound": 1,
        "product_pieces": 4,
    } | changes
    return softmax_descent_block(**arguments)


def data(seed: int, examples: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (examples + 1, 2)), rng.uniform(-1, 1, (examples, 1)), rng.uniform(-0.8, 0.8, 9)


def test_dense_matrices_are_the_layers() -> None:
    block = linear_block().to_float()
    z = block.prompt(*data(0))
    for layer in block.layers:
        after = layer(z)
        if isinstance(layer, StoredFeedForward):
            first, second = (affine.weight for affine in layer.dense().layers)
            assert np.allclose(after, z + np.maximum(z @ first, 0) @ second, rtol=0, atol=1e-11)
        z = after


def test_number_of_sublayers_and_one_attention() -> None:
    for widths in ((2, 1), (2, 3, 1), (1, 2, 2, 3)):
        block = linear_block(widths=widths)
        assert len(block.layers) == 4 * (len(widths) - 1) + 3
        assert sum(isinstance(layer, AttentionLayer) for layer in block.layers) == 1
        assert len(str(block.table()).splitlines()) == len(block.layers) + 2


def test_torch_has_the_same_weights_and_can_be_trained() -> None:
    """For a batch of prompts; without the values of its one head it changes nothing."""
    block = linear_block()
    floats, module = block.to_float(), block.to_torch()
    z = np.stack([floats.prompt(*data(seed)) for seed in (5, 6)])
    after = module(torch.tensor(z))
    np.testing.assert_allclose(after.detach().numpy(), floats(z), rtol=0, atol=1e-12)
    assert block.to_torch(dtype=torch.float32)(torch.tensor(z, dtype=torch.float32)).dtype == torch.float32
    after.square().sum().backward()
    gradients = [parameter.grad for parameter in module.parameters()]
    assert len(gradients) == 2 * (len(block.layers) - 1) + 3
    assert all(gradient is not None for gradient in gradients)
    with torch.no_grad():
        module[-2].heads[0].value.weight.zero_()  # without the step only the projection is left
    still = floats.weights(module(torch.tensor(z)).detach().numpy())
    assert np.array_equal(still, floats.weights(z))


def test_blocks_know_their_number_system() -> None:
    block = linear_block(product_pieces=1)
    assert [b.arithmetic for b in (block, block.to_float(), block.to_balls())] == ["exact", "float", "ball"]
    with pytest.raises(ValueError, match="to_float"):
        block.prompt(*data(0))
    with pytest.raises(ValueError, match="A softmax is not rational"):
        block(block.prompt(*(as_exact((64 * part).astype(np.int64)) / fmpq(64) for part in data(0))))


def test_balls_enclose_floats() -> None:
    block = linear_block(product_pieces=2)
    x, y, w = (np.vectorize(lambda v: fmpq(round(v * 64), 64), otypes=[object])(a) for a in data(1))
    with precision(128):
        balls = block.to_balls()
        enclosed = balls.weights(balls(block.prompt(x, y, w)))
    machine = block.to_float()
    floats = machine.weights(machine(machine.prompt(to_float(x), to_float(y), to_float(w))))
    for ball, value in zip(enclosed, floats, strict=True):
        assert abs(float(ball.mid()) - value) < 1e-11  # 10^4 roundings of numbers below 10
        assert float(ball.rad()) < 1e-30


def test_test_token_and_order_do_not_matter_and_scratch_is_cleared() -> None:
    block = linear_block().to_float()
    x, y, w = data(2)
    after = block(block.prompt(x, y, w))
    other = x.copy()
    other[-1] = [0.3, -0.9]
    changed = block(block.prompt(other, y, w))
    assert np.abs(block.weights(changed) - block.weights(after)).max() < 1e-14
    swapped = block(block.prompt(x[[1, 0, 2]], y[[1, 0]], w))
    assert np.abs(block.weights(swapped) - block.weights(after)).max() < 1e-14
    expected = block.prompt(x, y, np.clip(block.weights(after), -1, 1))
    assert np.array_equal(after, expected)  # all tokens hold the same weights, everything else is restored exactly


@pytest.mark.parametrize("widths", [(2, 1), (1, 3, 2), (2, 3, 1), (2, 2, 3, 2)], ids=str)
@pytest.mark.parametrize("box", [(-2, 1), ("-1/2", 3)], ids=str)
@pytest.mark.parametrize("bounds", [("3/2", "1/4"), ("1/4", 5)], ids=str)
@pytest.mark.parametrize("lopsided", [False, True])
def test_factors_stay_where_products_are_certified(
    widths: tuple[int, ...], box: Any, bounds: tuple[Any, Any], lopsided: bool
) -> None:
    """A product of 4 m units is certified for factors up to R = m h / 2; all corners of the data and of the box.

    With the identity as activation every bound of an argument is attained where all signs agree. The test token, whose
    outputs are as large as any, stays silent. Lopsided: a loss that is steeper on one side, and
    derivatives so small that the outputs are the largest factors of the gradient.
    """
    pieces, rng = 64 if lopsided else 4, np.random.default_rng(0)  # few pieces have errors larger than all factors
    limits: dict[str, Any] = {"input_bound": bounds[0], "label_bound": bounds[1]}
    if lopsided:
        limits |= {"derivative": constant("1/512"), "loss_derivative": ridge(leaky_relu(4), (1, -1))}
    block = linear_block(widths=widths, box=box, product_pieces=pieces, **limits)
    machine, base = block.to_float(), block.layout
    lower, upper = to_float(block.lower), to_float(block.upper)
    largest = np.where(-lower > upper, lower, upper)
    B_x, B_y = to_float([block.input_bound, block.label_bound])
    closest = 0.0
    for number in range(12):
        signs = [rng.choice([-1.0, 1.0], (rows, k)) for rows, k in ((3, widths[0]), (2, widths[-1]))]
        w = np.where(rng.random(base.weight_count) < 0.5, lower, upper) if number > 3 else largest
        x = B_x * (signs[0] if number > 3 else (-1.0) ** number * np.ones_like(signs[0]))
        y = B_y * (signs[1] if number > 3 else (-1.0) ** (number // 2) * np.ones_like(signs[1]))
        z = machine.prompt(x, y, w)
        for exact, layer in zip(block.layers, machine.layers, strict=True):
            if isinstance(exact, StoredFeedForward) and exact.source.shape[1] == 3:
                radius = 2 * pieces * float(to_float([exact.coefficients[0] * exact.weights[0, 0]])[0])
                factors = np.abs(exact.source[:, :2].of(z))
                assert factors.max() <= radius * (1 + 1e-12)
                closest = max(closest, factors.max() / radius)
            z = layer(z)
            assert (block.layout.block("g").of(z[-1]) == 0).all()
    assert closest > 0.99


def test_mask_exceeds_the_constant() -> None:
    """The derivative of the loss is the constant 1, outputs and labels are below 1: the test token stays silent."""
    one = ReluSum(as_exact([1]), as_exact([[0, 0, 1]]))
    limits = {"box": ("-1/4", "1/4"), "input_bound": "1/4", "label_bound": "1/4"}
    exact = linear_block(widths=(2, 1), loss_derivative=one, **limits)
    for largest in (fmpq(0), fmpq(1, 3), fmpq(7)):
        assert 0 < exact.checked_mask(largest) - max(largest, 1) <= fmpq(1, 2**19)
    block = exact.to_float()
    *_, before, _, _ = block.stages(block.prompt(np.full((3, 2), 0.25), np.full((2, 1), 0.25), np.full(2, 0.25)))
    assert (block.layout.block("g").of(before[:-1]) == 1).all()
    assert (block.layout.block("g").of(before[-1]) == 0).all()


def test_removed_parts_are_noticed() -> None:
    """A missing head, or units of a product taken away, change the step."""
    block = linear_block().to_float()
    z = block.prompt(*data(3))
    good = block.weights(block(z))
    attention = block.layers[-2]
    assert isinstance(attention, AttentionLayer)
    head = attention.heads[0]
    silent = AttentionLayer((replace(head, value=head.value.map(np.zeros_like)),))
    without_head = replace(block, layers=(*block.layers[:-2], silent, block.layers[-1]))
    assert np.array_equal(without_head.weights(without_head(z)), block.weights(z))
    first = block.layers[0]
    assert isinstance(first, StoredFeedForward)
    one_product = np.arange(first.unit_count) < 16
    lame = replace(first, coefficients=np.where(one_product, 0.0, first.coefficients))
    broken = replace(block, layers=(lame, *block.layers[1:]))
    assert np.abs(broken.weights(broken(z)) - good).max() > 1e-6


def test_bad_input_is_refused() -> None:
    for changes, message in [
        ({"widths": (2,)}, "N >= 1"),
        ({"examples": 0}, "examples must be"),
        ({"step_size": 0}, "step_size must be positive"),
        ({"product_pieces": 0}, "pieces"),
        ({"box": (1, -1)}, "box is empty"),
        ({"input_bound": -1}, "bounds >= 0"),
        ({"activation": interpolant(tanh, 1, 4)}, "argument of the activation in layer 1"),
        ({"derivative": interpolant(tanh, 3, 4)}, "argument of the derivative in layer 2"),
        ({"loss_derivative": ridge(identity(), (1, -1), 2)}, "output or label"),
        ({"loss_derivative": ridge(identity(), (1, -1), 30), "label_bound": 31}, "output or label"),
        ({"box": None}, "box must be a pair"),
        ({"product_pieces": 1.5}, "pieces"),
    ]:
        with pytest.raises(ValueError, match=message):
            linear_block(**changes)
    block = linear_block().to_float()
    x, y, w = data(4)
    with pytest.raises(ValueError, match="inputs must be at most"):
        block.prompt(2 * np.ones_like(x), y, w)
    with pytest.raises(ValueError, match="labels must be at most"):
        block.prompt(x, 2 * np.ones_like(y), w)
    for shift in (2, -2):
        with pytest.raises(ValueError, match="start must lie in the box"):
            block.prompt(x, y, w + shift)
    with pytest.raises(ValueError, match="inputs must be at most"):  # the test input alone
        block.prompt(np.concatenate([x[:-1], [[0, -1.5]]]), y, w)
    with pytest.raises(ValueError, match="built for 2 examples"):
        block.prompt(x[1:], y[1:], w)
    with pytest.raises(ValueError, match="steps must be"):
        block.trajectory(block.prompt(x, y, w), 0)


def test_quantizer_refuses_bad_parameters() -> None:
    with pytest.raises(ValueError, match="granularity"):
        Quantizer(fmpq(1), 0, fmpq(1, 2))
    with pytest.raises(ValueError, match="ramp <= 1 / granularity"):
        Quantizer(fmpq(1), 4, fmpq(1, 2))
    with pytest.raises(ValueError, match="bound must be positive"):
        Quantizer(fmpq(0), 4, fmpq(1, 4))
