"""Bounds for vanishing penalties: values by hand, and bad input. (What they bound: theorems/feature_emergence.)"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

from lemmata.numerics.margins.vanishing_penalty import (
    least_size,
    loss_of_best_multiple,
    loss_range,
    margin_share,
    margin_share_bound,
)


def test_values_by_hand() -> None:
    low, high = loss_range(arb(0), 2, 5)
    assert float(low) == pytest.approx(math.log(2) / 2)
    assert float(high) == pytest.approx(math.log(5))
    # lambda = 1/4, gamma* = 1, r = nu: log(1 + 2/4) + log(4)/4
    assert float(loss_of_best_multiple(3, 1, Fraction(1, 4), 2, 2)) == pytest.approx(math.log(1.5) + math.log(4) / 4)
    assert float(margin_share(arb(7), 1, 2)) == pytest.approx(1)
    assert float(margin_share(arb(40), 5, 3)) == pytest.approx(1 - math.log(10) / 40)


def test_there_is_no_bound_at_large_penalties() -> None:
    assert least_size(10, 2, 1, Fraction(1, 2), 1, 1) is None
    assert margin_share_bound(10, 2, 1, Fraction(1, 2), 1, 1) is None
    bound = margin_share_bound(10, 2, 1, Fraction(1, 10**9), 1, 1)
    assert bound is not None
    assert 0 < float(bound) < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"examples": 0}, "number of examples"),
        ({"labels": 1}, "number of labels"),
        ({"gamma": 0}, "must be positive"),
        ({"penalty": 1}, "between 0 and 1"),
        ({"penalty": 0}, "between 0 and 1"),
        ({"power": 0}, "between 0 and 1"),
        ({"degree": -1}, "between 0 and 1"),
    ],
)
def test_bad_input_is_refused(change, message) -> None:
    good = {"examples": 3, "labels": 2, "gamma": 1, "penalty": Fraction(1, 100), "power": 1, "degree": 1}
    with pytest.raises(ValueError, match=message):
        margin_share_bound(**{**good, **change})


def test_sizes_must_be_positive() -> None:
    with pytest.raises(ValueError, match="size must be positive"):
        margin_share(arb(0), 3, 2)
