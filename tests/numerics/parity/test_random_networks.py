"""`lemmata.numerics.parity.random_networks`: values by hand, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lemmata.numerics.parity.random_networks import correlation_bound, correlation_limit, linear_tail


def test_values_by_hand() -> None:
    """W = ((3, 4), (0, 12)), u = (1, -1), b = (1, 2): W^T u = (3, -8), columns 3 and 16. n = 50, r = 4: 4/(5 - 2)."""
    bound = correlation_bound([[3, 4], [0, 12]], [1, 2], [1, -1])
    assert bound == pytest.approx(2 * 16 / (math.sqrt(73) - 3))
    assert float(correlation_limit(50, 4, 1, 1)) == pytest.approx(4 / 3)
    assert float(linear_tail(48)) == pytest.approx(math.exp(-2))


def test_nothing_is_proved_where_biases_hide_the_rest() -> None:
    assert correlation_bound(np.ones((1, 4)), [5.0], [1.0]) == math.inf


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="shapes must be"):
        correlation_bound(np.ones((2, 4)), [1.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="a >= 1"):
        correlation_limit(50, 4, 0.5, 1)
    with pytest.raises(ValueError, match="too many"):
        correlation_limit(8, 4, 1, 1)
    with pytest.raises(ValueError, match="at least one input"):
        linear_tail(0)
