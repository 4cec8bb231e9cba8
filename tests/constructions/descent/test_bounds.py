"""Ranges on a box of weights, and sums of ReLUs that are certified on them."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq

from lemmata.certificates.descent import certify_step
from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.bounds import (
    approximate_activation,
    box_arrays,
    largest_value,
    preactivation_bounds,
)
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.numerics.functions.relu_sums import (
    affine,
    piecewise_linear,
    squared_loss_derivative,
)
from lemmata.numerics.functions.smooth import SmoothFunction, exponential, sigmoid, softplus, tanh
from tests.constructions.descent.blocks import BOX, WIDTHS


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
