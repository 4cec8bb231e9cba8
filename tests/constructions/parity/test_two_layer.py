"""The parity networks against the product of the signs; float64 and torch against exact arithmetic; bad input."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.activations import (
    Activation,
    OscillatingPolynomial,
    Power,
    Ramp,
    Sinusoid,
    TriangleWave,
    Zigzag,
)
from lemmata.constructions.parity.polynet import PolyNet, polynet
from lemmata.constructions.parity.two_layer import (
    TwoLayerNetwork,
    neuron,
    post_step_network,
    power_network,
    relu_network,
)
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.exact.numbers import to_float

EPS = float(np.finfo(np.float64).eps)


@st.composite
def supports(draw: st.DrawFn) -> tuple[int, list[int]]:
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(n)))
    return n, order[: draw(st.integers(1, n))]


def activations(k: int) -> list[Activation]:
    return [Zigzag(k), OscillatingPolynomial(k), TriangleWave(4, k), Sinusoid(k)]


def parity(x: np.ndarray, support: list[int]) -> np.ndarray:
    return np.array([np.prod(row) for row in x[:, support]])


def networks(n: int, S: list[int], exact: bool) -> list[TwoLayerNetwork | PolyNet]:
    return [
        relu_network(n, S, exact=exact),
        relu_network(n, S, output_bias=False, exact=exact),
        power_network(n, S, exact=exact),
        polynet(n, S, exact=exact),
        *(neuron(n, S, activation, exact=exact) for activation in activations(len(S))),
    ]


def tolerance(network: TwoLayerNetwork | PolyNet, k: int) -> float:
    """A bound on the rounding errors of a float64 network that equals a parity of k signs, at sign inputs.

    The ramps, waves and products have dyadic numbers that fit 53 bits: no rounding. A sum of t products of p rounded
    factors is off by (p + t) EPS times the sum of the absolute values, where |s| <= k.
    """
    if isinstance(network, PolyNet):
        return 0.0
    if isinstance(network.activation, Power):  # the last node is rounded too: hence |s| + |b| for |s + b|, and 2k
        return (2 * k + network.width + 4) * EPS * float(abs(network.readout) @ (k + abs(network.bias)) ** k)
    if isinstance(network.activation, OscillatingPolynomial):
        sizes = np.abs(to_float(np.array(network.activation.coefficients))) @ float(k) ** np.arange(k + 1)
        return (3 * k + 3) * EPS * float(sizes)
    if isinstance(network.activation, Sinusoid):  # an argument of at most pi k is rounded twice
        return (np.pi * k + 1) * EPS
    return 0.0


@given(supports())
def test_all_constructions_equal_the_product_of_the_signs(case: tuple[int, list[int]]) -> None:
    n, S = case
    x = sign_inputs(n)
    for network in networks(n, S, exact=True):
        assert np.array_equal(network(x), parity(x, S))


@given(supports())
def test_float_and_torch_agree_with_exact_arithmetic(case: tuple[int, list[int]]) -> None:
    n, S = case
    x = sign_inputs(n)
    for exact, network in zip(networks(n, S, True), networks(n, S, False), strict=True):
        bound = tolerance(network, len(S))
        assert np.abs(network(x) - parity(x, S)).max() <= bound
        for source in (exact, network):
            module = source.to_torch()
            output = module(torch.as_tensor(x, dtype=torch.float64)).detach().numpy()
            assert np.abs(output - parity(x, S)).max() <= bound


@pytest.mark.parametrize("k", [2, 4, 6, 10])
@pytest.mark.parametrize("printed", [True, False])
def test_post_step_networks_agree_in_all_three_arithmetics(k: int, printed: bool) -> None:
    n = k + 3
    rng = np.random.default_rng(k)
    signs = rng.choice([-1, 1], size=(k + (not printed), n - k))
    S = rng.permutation(n)[:k].tolist()
    exact, network = (post_step_network(n, S, printed=printed, signs=signs, exact=e) for e in (True, False))
    x = rng.choice([-1, 1], size=(64, n))
    outputs = to_float(exact(x))
    # n + 2 terms below 2 in each neuron, times readouts whose absolute values sum to at most 8k^2
    bound = (n + 4) * EPS * 2 * 8 * k**2
    assert np.abs(network(x) - outputs).max() <= bound
    module = network.to_torch()
    assert np.abs(module(torch.as_tensor(x, dtype=torch.float64)).detach().numpy() - outputs).max() <= bound


def test_post_step_weights_stand_where_they_belong() -> None:
    signs = np.array([[1, -1, 1]] * 5)
    network = post_step_network(7, [5, 0, 3, 2], signs=signs, exact=True)
    relevant, irrelevant = fmpq(1, 8), fmpq(3, 8 * 3)
    row = [relevant, irrelevant, relevant, relevant, -irrelevant, relevant, irrelevant]
    assert all(neuron.tolist() == row for neuron in network.hidden)
    assert network.bias.tolist() == [fmpq(-1, 4), 0, fmpq(1, 4), fmpq(1, 2), fmpq(3, 4)]
    assert network.readout.tolist() == [32, -32, 32, -24, 8]


def test_torch_modules_are_trainable() -> None:
    module = relu_network(5, 3).to_torch()
    x = torch.randn(4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    module(x).sum().backward()
    gradients = {name: p.grad for name, p in module.named_parameters()}
    assert len(gradients) == 4
    assert all(g is not None and torch.isfinite(g).all() for g in gradients.values())


def test_batches_and_single_inputs() -> None:
    network = relu_network(3, [0, 2])
    x = sign_inputs(3).reshape(2, 4, 3)
    assert network(x).shape == (2, 4)
    assert network.features(x).shape == (2, 4, 2)
    assert network(x[0, 1]).shape == ()
    assert network(x[0, 1]) == network(x)[0, 1]
    assert relu_network(3, [0, 2], exact=True).exact
    assert not network.exact


def test_weights_are_copied_and_frozen() -> None:
    hidden = np.ones((1, 2))
    network = TwoLayerNetwork(hidden, np.zeros(1), np.ones(1), Ramp())
    hidden[0, 0] = 7
    assert network.hidden[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        network.hidden[0, 0] = 2
    with pytest.raises(FrozenInstanceError):
        network.bias = np.ones(1)  # type: ignore[misc]
    assert replace(network, readout=[Fraction(1, 2)], bias=[0], hidden=[[1, 1]], output_bias=0).readout[0] == fmpq(1, 2)


@pytest.mark.parametrize("build", [relu_network, power_network, polynet])
def test_numbers_are_floats_unless_exact_ones_are_asked_for(build: Any) -> None:
    assert build(3, [0, 2])(np.ones((1, 3), dtype=int)).dtype == np.float64
    assert build(3, [0, 2], exact=True)(np.ones((1, 3), dtype=int)).dtype == object


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: relu_network(3, 4), "1 <= k <= n"),
        (lambda: relu_network(3, 0), "1 <= k <= n"),
        (lambda: power_network(3, [0, 3]), "support must lie in 0..2"),
        (lambda: polynet(3, [1, 1]), "repeats"),
        (lambda: post_step_network(7, 3), "even number of indices"),
        (lambda: post_step_network(8, 4), "must be odd"),
        (lambda: post_step_network(7, 4, signs=np.ones((4, 3))), "signs must be"),
        (lambda: post_step_network(7, 4, signs=np.zeros((5, 3))), "signs must be"),
        (lambda: TwoLayerNetwork(np.ones((2, 3)), np.ones(3), np.ones(2), Ramp()), "shapes must be"),
        (lambda: TwoLayerNetwork(np.ones((0, 3)), np.ones(0), np.ones(0), Ramp()), "shapes must be"),
        (lambda: TwoLayerNetwork(np.ones((1, 1)), np.ones(1), np.ones(1), Ramp(), np.ones(1)), "shapes must be"),
        (lambda: TwoLayerNetwork(np.full((1, 1), np.nan), np.ones(1), np.ones(1), Ramp()), "hidden has NaN"),
        (
            lambda: TwoLayerNetwork(np.ones((1, 1)), np.ones(1), np.ones(1), Ramp(), fmpq(1)),
            "cannot be combined with the exact numbers",
        ),
        (lambda: PolyNet(np.ones((2, 3)), np.ones(3)), "shapes must be"),
        (lambda: PolyNet(np.array([[sqrt_rational(2)]]), [0]), "floats or rational numbers, but weights holds"),
        (lambda: PolyNet([[1]], np.array([arb(1)])), "floats or rational numbers, but weights holds"),
        (lambda: PolyNet(np.array([["a"]]), np.ones(1)), "weights must hold real numbers"),
        (lambda: relu_network(3, 2)(np.ones(4)), r"shape \(\.\.\., 3\)"),
        (lambda: relu_network(3, 2)(np.array([1, np.inf, 1])), "finite"),
        (lambda: relu_network(3, 2, exact=True)(np.ones(3)), "float is not exact"),
        (lambda: power_network(3, 3)(np.full(3, 1e200)), "returned NaN or infinity"),
        (lambda: polynet(3, 2)(1.0), r"shape \(\.\.\., 3\)"),
        (lambda: relu_network(1, 1, exact=True)(np.array([sqrt_rational(2)])), "rational"),
    ],
)
def test_bad_input_is_refused(build: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()  # type: ignore[operator]
