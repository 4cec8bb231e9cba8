"""Bad input of the bounds from inverse margins. (What they bound: theorems/turing/test_inverse_margins.py.)"""

from __future__ import annotations

import pytest

from lemmata.numerics.learning.inverse_margins import (
    inverse_margin_bound,
    log_centres,
    margin_scale_bound,
    margins_bound,
    relative_deviation,
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: relative_deviation(2, 0, 5, "1/2"), "share must lie in"),
        (lambda: relative_deviation(1, 0, 5, 1), "delta in"),
        (lambda: relative_deviation(1, 0, 0, "1/2"), "sample size"),
        (lambda: log_centres(-1, 3), "scale k"),
        (lambda: log_centres(1, 0), "number of parameters"),
        (lambda: margins_bound([], 1, 1), "margins of a sample"),
        (lambda: margins_bound([-1], 1, 1), "margins of a sample"),
        (lambda: margins_bound([1], 0, 1), "alpha must be positive"),
        (lambda: inverse_margin_bound(1, 1, 1, 1), "sample size"),
        (lambda: inverse_margin_bound(5, 1, 1, -1), "must not be negative"),
    ],
)
def test_bad_input_is_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_infinite_margins_leave_the_remainder_alone() -> None:
    assert float(margins_bound([None] * 100, 7, 50)) == pytest.approx(
        2 * float(-relative_deviation(0, 0, 100, "1/200")) / -2
    )


def test_margins_up_to_twice_the_radius_count_at_their_scale() -> None:
    """At the scale k = 2 a margin of alpha is low, one that is half a per cent larger is not."""
    low, high = (margin_scale_bound([margin] * 9, 1, 3, 2, "1/100") for margin in (1, "201/200"))
    assert high < low
