"""The Elman network and the comparator: bad input, balls, the shared cell, and torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.constructions.recurrent.comparator import comparator, conditional_mean, window_probability
from lemmata.constructions.recurrent.concepts import (
    Part,
    TargetFunction,
    input_sequence,
    lag_networks,
    null_sequence,
    padded,
)
from lemmata.constructions.recurrent.elman import (
    ElmanNetwork,
    UndecidedError,
    back,
    constant_patterns,
    linear_change,
    random_elman,
    trace,
    weighted_gradient,
)
from lemmata.constructions.recurrent.indicator import indicator_function
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact

AXIS = as_exact([1, 0])
NETWORK = ElmanNetwork(as_exact([[1, -2], [3, 1]]), as_exact([[1, 0, 2], [0, 1, -1]]), as_exact([[1, 1]]))
TOKENS = as_exact([[0, 0, 1], [1, 1, 0], [1, -1, 0]])


def part(
    source: int = 2, target: int = 3, output: int = 0, coefficients: tuple = (0, 1), direction: object = AXIS
) -> Part:
    return Part(source, target, output, coefficients, np.asarray(direction))


def test_the_outputs_are_those_of_the_shared_layer_and_of_torch() -> None:
    run = trace(NETWORK, TOKENS)
    assert (NETWORK.layer()(TOKENS) == run.outputs).all()
    module = NETWORK.layer().to_torch()
    found = module(torch.tensor(TOKENS.astype(float)))
    assert np.allclose(found.detach().numpy(), run.outputs.astype(float))


def test_balls_contain_the_exact_trace() -> None:
    balls = ElmanNetwork(as_balls(NETWORK.state), as_balls(NETWORK.token), as_balls(NETWORK.readout))
    run, exact = trace(balls, as_balls(TOKENS)), trace(NETWORK, TOKENS)
    assert all(b.contains(arb(e)) for b, e in zip(run.outputs.ravel(), exact.outputs.ravel(), strict=True))
    wide = TOKENS.copy().astype(object)
    wide[1, 0] = arb("0 +/- 100")
    with pytest.raises(UndecidedError, match="undecided"):
        trace(balls, wide)


def test_segments() -> None:
    change = as_exact([[1, 0], [0, 1]])
    assert constant_patterns(NETWORK, TOKENS, change, fmpq(1, 1000))
    assert not constant_patterns(NETWORK, TOKENS, 100 * change, fmpq(1000))
    with pytest.raises(ValueError, match="positive end"):
        constant_patterns(NETWORK, TOKENS, change, 0)


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="has W of shape"):
        ElmanNetwork(np.eye(2), np.ones((3, 1)), np.ones((1, 2)))
    with pytest.raises(ValueError, match="has W of shape"):
        ElmanNetwork(np.zeros((0, 0)), np.ones((0, 1)), np.ones((1, 0)))
    with pytest.raises(ValueError, match="tokens of shape"):
        trace(NETWORK, TOKENS[:, :2])
    run = trace(NETWORK, TOKENS)
    with pytest.raises(ValueError, match="W' has the shape"):
        linear_change(NETWORK, run, np.eye(3))
    with pytest.raises(ValueError, match="one weight for each output"):
        weighted_gradient(NETWORK, run, np.ones((3, 2)))
    for start, end in ((0, 1), (2, 1), (1, 4)):
        with pytest.raises(ValueError, match="Back goes from"):
            back(NETWORK, run, start, end)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((0, 2, 1), "width m"), ((20_001, 2, 1), "GiB"), ((3, 0, 1), "token"), ((3, 1, 0), "outputs")],
)
def test_bad_sizes_are_refused(sizes: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        random_elman(*sizes, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": 1}, "goes from a token"),
        ({"target": 2}, "goes from a token"),
        ({"output": -1}, "goes from a token"),
        ({"coefficients": (1, 1)}, r"Phi\(0\) = 0"),
        ({"coefficients": (0, 0.5)}, "exact coefficients"),
        ({"direction": as_exact([1, 1])}, "last coordinate"),
        ({"direction": as_exact([2, 0])}, "norm 1"),
        ({"direction": np.array([0.9, 0.0])}, "norm 1"),
        ({"direction": as_exact([1])}, "d_x >= 2"),
    ],
)
def test_bad_parts_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        part(**changes)


def test_bad_targets_are_refused() -> None:
    for length, outputs, parts, message in (
        (2, 1, (part(),), "length L"),
        (3, 0, (part(),), "outputs d"),
        (3, 1, (), "at least one part"),
        (3, 1, (part(), part(direction=as_exact([1, 0, 0]))), "one width"),
        (3, 1, (part(target=4),), "does not fit"),
    ):
        with pytest.raises(ValueError, match=message):
            TargetFunction(length, outputs, parts)
    with pytest.raises(ValueError, match="have the shape"):
        TargetFunction(3, 1, (part(),))(as_exact([[1, 0], [1, 0]]))
    with pytest.raises(ValueError, match="lags"):
        lag_networks(4, [AXIS[None]], [as_exact([[1]])], (0, 1))
    with pytest.raises(ValueError, match="rational norms"):
        lag_networks(3, [as_exact([[1, 1, 0]])], [as_exact([[1]])], (0, 1))


@pytest.mark.parametrize("epsilon", [0, 1, fmpq(3, 2), -0.5])
def test_input_scales_out_of_range_are_refused(epsilon: object) -> None:
    with pytest.raises(ValueError, match="eps_x must lie"):
        null_sequence(3, 2, epsilon)
    with pytest.raises(ValueError, match="eps_x must lie"):
        input_sequence(as_exact([[1, 0]]), epsilon)


def test_bad_inputs_are_refused() -> None:
    with pytest.raises(ValueError, match="L >= 3"):
        input_sequence(np.zeros((0, 2)), 0.5)
    with pytest.raises(ValueError, match="floating point"):
        input_sequence(np.ones((1, 2)), fmpq(1, 2))
    for vector in ([0.5], [], [2], [fmpq(4, 5), fmpq(4, 5)]):
        with pytest.raises(ValueError, match="norm at most 1"):
            padded(vector)  # pyright: ignore[reportArgumentType]


def test_a_comparator_needs_floats_that_fit() -> None:
    target = TargetFunction(3, 1, (part(),))
    with pytest.raises(ValueError, match="float64"):
        comparator(NETWORK, target, 0.5, 0.1)
    network = random_elman(10, 4, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="inputs of width 2"):
        comparator(network, target, 0.5, 0.1)
    with pytest.raises(ValueError, match="positive width"):
        window_probability(0, 1)


def test_the_conditional_mean_refuses_what_it_cannot_integrate() -> None:
    state, function = np.ones(3), indicator_function([0, 1], 0)
    with pytest.raises(ValueError, match="degree 0"):
        conditional_mean(indicator_function([0, 1], 0, "sign", far=1), state, state, 0.5, 0.1, 0.1)
    clipped = conditional_mean(function.clipped([1.0]), state, state, 0.5, 0.1, 0.1)
    assert clipped.contains(conditional_mean(function, state, state, 0.5, 0.1, 0.1))
    assert clipped.rad() > 0.5
    for epsilon, t in ((0.0, 0.1), (1.0, 0.1), (0.5, 0.9)):
        with pytest.raises(ValueError, match="Needed are"):
            conditional_mean(function, state, state, epsilon, t, 0.1)
