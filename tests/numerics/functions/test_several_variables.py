"""Sums of ReLUs for functions of several variables: exact superpositions, certified draws, refused input."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from flint import fmpq

import lemmata as lm
from lemmata.numerics.functions.interpolation import square
from lemmata.numerics.functions.relu_sums import absolute_value, identity, relu, relu_derivative
from lemmata.numerics.functions.several_variables import (
    deviation_bound,
    extension,
    sum_bounds,
    superposition,
    thinned,
    units_within,
)


def test_a_superposition_is_the_weighted_sum_exactly() -> None:
    f = superposition([(2, absolute_value(), (1, 1)), ("-1/3", relu(), (0, 2))], 1)
    for x, y in product((fmpq(-1), fmpq(1, 3), fmpq(1)), repeat=2):
        value = f(*(np.array([z], dtype=object) for z in (x, y))).tolist()[0]
        assert value == 2 * abs(x + y) - max(2 * y, fmpq(0)) / 3
    assert (f.arity, f.radius, f.error) == (2, 1, 0)
    assert f.weight == 2 * 4 + fmpq(2, 3)


def test_errors_of_profiles_add_up_with_their_weights() -> None:
    f = superposition([(3, square(1, 4), ("1/2", "1/2")), (-1, square(1, 4), (1, 0))], 1)
    assert f.error == 4 * square(1, 4).error


def test_a_deviation_is_bounded_for_any_cells() -> None:
    f, g = (superposition([(1, one, (1, 0)), (1, one, (0, 1))], 2) for one in (absolute_value(), relu()))
    largest = fmpq(4)  # |x| + |y| - x_+ - y_+ = x_- + y_-
    bounds = [deviation_bound(f, g, cells) for cells in (1, 5, 40)]
    assert all(bound >= largest for bound in bounds)
    assert bounds[2] < bounds[1] < bounds[0]
    assert bounds[2] < largest * fmpq(12, 10)


def test_a_draw_is_certified_and_keeps_the_weight() -> None:
    f = superposition([(1, absolute_value(), (1, 0)), (-1, absolute_value(), (0, 1))], 1)
    drawn = lm.functions.thinned(f, 50, 20, 0)
    assert drawn.weight == f.weight
    assert drawn.units <= f.units
    x = np.random.default_rng(0).uniform(-1, 1, (2, 500))
    assert np.abs(drawn(*x) - f(*x)).max() <= float(drawn.error)
    other = thinned(f, 50, 20, 1)
    assert other.coefficients.tolist() != drawn.coefficients.tolist()
    one = thinned(f, 1, 20, 0)
    assert (one.units, one.weight) == (1, f.weight)


def test_bad_input_is_refused() -> None:
    f = superposition([(1, absolute_value(), (1, 0))], 1)
    with pytest.raises(ValueError, match="one part or more, with directions of one length"):
        superposition([], 1)
    with pytest.raises(ValueError, match="one part or more, with directions of one length"):
        superposition([(1, relu(), (1, 0)), (1, relu(), (1,))], 1)
    with pytest.raises(ValueError, match="without a window"):
        superposition([(1, relu_derivative("1/9"), (1, 0))], 1)
    with pytest.raises(ValueError, match="may reach 2 in size"):
        superposition([(1, square(1, 4), (1, 1))], 1)
    with pytest.raises(ValueError, match="sums of as many variables"):
        deviation_bound(f, identity(), 3)
    with pytest.raises(ValueError, match="one of them with a radius"):
        deviation_bound(identity(), relu(), 3)
    for cells in (0, 3000):
        with pytest.raises(ValueError, match=r"cells\^k must be between 1 and"):
            deviation_bound(f, f, cells)
    with pytest.raises(ValueError, match="needs units and a radius"):
        thinned(identity(), 3, 2, 0)
    with pytest.raises(ValueError, match="needs units and a radius"):
        thinned(f, 0, 2, 0)
    with pytest.raises(ValueError, match="needs units and a radius"):
        thinned(replace(f, coefficients=f.coefficients[:0], directions=f.directions[:0]), 3, 2, 0)
    with pytest.raises(ValueError, match="order must be an integer >= 1"):
        extension(0)
    for variables in (0, 65, True, "2"):
        with pytest.raises(ValueError, match="variables must be an integer from 1 to 64"):
            sum_bounds(variables)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="error"):
        units_within(1, 0, 2)
    with pytest.raises(ValueError, match="size"):
        sum_bounds(2).units_for(0, 1)
