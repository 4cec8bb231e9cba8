"""The error recursion: bad input, and no bound without errors."""

from dataclasses import replace

import pytest
from flint import arb

from lemmata.numerics.descent.errors import (
    LayerBounds,
    LossBounds,
    gradient_error,
    gradient_lipschitz,
    trajectory_error,
)

ONE = arb(1)


LAYER = LayerBounds(2, *(8 * [ONE]))


LOSS = LossBounds(ONE, ONE, ONE)


def test_bad_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="layers must not be empty"):
        gradient_error([], LOSS, 1)
    with pytest.raises(ValueError, match="slope of layer 2 must be nonnegative"):
        gradient_error([LAYER, replace(LAYER, slope=arb(-1))], LOSS, 1)
    with pytest.raises(ValueError, match="inputs must be nonnegative"):
        gradient_lipschitz([LAYER], LOSS, -1)
    with pytest.raises(ValueError, match="eta must be nonnegative"):
        trajectory_error([1], "-1/2", 1)
    with pytest.raises(ValueError, match="step_errors must be nonnegative"):
        trajectory_error([1, -1], 1, 1)


def test_no_errors_no_bound() -> None:
    exact = replace(LAYER, error=arb(0), slope_error=arb(0))
    assert gradient_error([exact, exact], replace(LOSS, error=arb(0)), 1).gradient == 0
    assert trajectory_error([0, 0, 0], "1/10", 5) == [0, 0, 0, 0]
