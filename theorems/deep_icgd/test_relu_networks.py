"""ReLU networks: exact with a margin at the kink, impossible without.

The derivative of the ReLU is a step. A sum of ReLUs f is continuous, so |f(0) - 0| + |1 - f(0)| >= 1 bounds the larger
of its distances to the two one-sided limits of the step at 0: no such f is nearer than 1/2 in the sup-norm on [-R, R],
and the hypothesis of Theorem 1 (r' approximable for every eps) fails for the ReLU. With the derivative (relu(t) -
relu(t - delta)) / delta, which is exact off the window (0, delta), the block is exact if no argument lies in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.relu_sums import piecewise_linear, relu, relu_derivative, squared_loss_derivative
from lemmata.theorems.deep_icgd.instances import Instance, Scalars, rationals, reference_step
from lemmata.theorems.evidence import check, proof_steps

MARGIN_CASES = "40 draws, 10 for each N = 1, ..., 4: widths 2 to 4, d_y = 1, n = 2, ..., 5, delta = 1/10^6; seeded by N"

DELTA = fmpq(1, 10**6)


def true_relu(t: Any) -> Any:
    return t if t > 0 else 0 * t


def step(t: Any) -> fmpq:
    """The derivative, with the convention 0 at 0."""
    return fmpq(1) if t > 0 else fmpq(0)


def relu_instance(rng: np.random.Generator, depth: int) -> Instance:
    """A random ReLU network, d_x != d_y, in which every layer has a nonzero gradient; no argument in the window."""
    while True:
        widths = (int(rng.integers(2, 4)), *(int(k) for k in rng.integers(2, 5, size=depth - 1)), 1)
        sums = relu(), relu_derivative(DELTA), squared_loss_derivative()
        scalars = Scalars(sums, (true_relu, step, lambda t, y: t - y))
        n = int(rng.integers(2, 6))
        block = gradient_descent_block(widths, n, "1/2", *sums, (-1, 1), 1, 1)
        instance = Instance(
            block,
            scalars,
            rationals(rng, n + 1, widths[0]),
            rationals(rng, n, 1),
            rationals(rng, block.layout.weight_count),
        )
        if all(reference_step(instance, instance.start)[1]) and not in_window(instance):
            return instance


def in_window(instance: Instance) -> list[fmpq]:
    """The arguments of the activation in (0, delta), over all examples and layers."""
    found = []
    for x in instance.inputs[:-1]:
        p: Array = x
        for V in instance.block.layout.matrices(instance.start):
            arguments = V @ p
            found += [t for t in arguments.tolist() if 0 < t < DELTA]
            p = np.array([true_relu(t) for t in arguments], dtype=object)
    return found


@check("deep-icgd:construction-exact", grade="sampled", target="printed", cases=MARGIN_CASES)
@proof_steps("block.md: 8")
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_relu_networks_with_a_margin_are_exact(depth: int, effort: Any, record_property: Any) -> None:
    """Against back-propagation with the true step, with every layer's gradient nonzero.

    Together with the linear, affine and Huber cases (`test_block`, whose identities hold for any sums of ReLUs) these
    are all the exact cases that are claimed.
    """
    rng = np.random.default_rng([3, depth])
    zeros = 0
    for _ in range(effort.pick(quick=10, full=40)):
        instance = relu_instance(rng, depth)
        after, nonzero, _ = reference_step(instance, instance.start)
        assert all(nonzero)
        z = instance.prompt
        expected = z.copy()
        expected[..., instance.block.layout.all_weights.coordinates] = after
        assert (instance.block(z) == expected).all()
        zeros += int((after == 0).sum())
    record_property("instances", effort.pick(quick=10, full=40))


@check("deep-icgd:construction-exact", grade="exact", target="printed", supporting=True)
def test_an_argument_in_the_window_breaks_exactness() -> None:
    """Negative control: one layer, one weight, V x = delta/2; the block sees slope 1/2 where the true slope is 1.

    `prompt` refuses such data, so that the prompt is encoded without its checks.
    """
    sums = relu(), relu_derivative(DELTA), squared_loss_derivative()
    scalars = Scalars(sums, (true_relu, step, lambda t, y: t - y))
    block = gradient_descent_block((1, 1), 1, 1, *sums, (-1, 1), 1, 1)
    one = np.array([[fmpq(1)], [fmpq(1)]], dtype=object)
    instance = Instance(block, scalars, one, one[:1], np.array([DELTA / 2], dtype=object))
    assert in_window(instance) == [DELTA / 2]
    true, nonzero, _ = reference_step(instance, instance.start)
    assert all(nonzero)
    with pytest.raises(ValueError, match="argument of the derivative in layer 1 lies in the window"):
        _ = instance.prompt
    moved = block.weights(block(block.layout.encode(one, one[:1], instance.start))) - instance.start
    assert (2 * moved == true - instance.start).all()


@check("deep-icgd:theorem-1", "deep-icgd:theorem-4", grade="exact", target="printed", supporting=True)
@check("deep-icgd:theorem-5", grade="exact", target="printed", supporting=True)
def test_no_sum_of_relus_is_near_the_derivative_of_the_relu(effort: Any) -> None:
    """Why the theorems, which ask for r in C^4, do not speak of the ReLU networks of the abstract.

    The argument of the docstring at work on random sums, and on the best of them, which attains 1/2.
    """
    rng = np.random.default_rng(4)
    knots = [fmpq(i, 6) for i in range(-6, 7)]
    tiny = fmpq(1, 10**9)
    for _ in range(effort.pick(quick=30, full=300)):
        f = piecewise_linear(knots, [fmpq(int(v), 8) for v in rng.integers(-4, 13, size=13)])
        left, right = f(np.array([-tiny, tiny], dtype=object))
        at_zero = f(np.array([fmpq(0)], dtype=object))[0]
        assert max(abs(at_zero), abs(1 - at_zero)) >= fmpq(1, 2)
        # the distances at +-tiny tend to those at 0: slopes are at most 6 * 17/8 = 51/4
        assert max(abs(left), abs(1 - right)) >= fmpq(1, 2) - 13 * tiny
    half = piecewise_linear([-1, 1], [fmpq(1, 2), fmpq(1, 2)])
    assert half(np.array([-tiny, tiny], dtype=object)).tolist() == [fmpq(1, 2)] * 2


@check("deep-icgd:construction-exact", grade="exact", target="printed", supporting=True)
@proof_steps("block.md: 8")
@pytest.mark.parametrize("power", [1, 3, 6, 9])
def test_the_coefficient_sum_grows_like_1_over_delta(power: int) -> None:
    delta = fmpq(1, 10**power)
    assert relu_derivative(delta).weight == (2 + delta) / delta
