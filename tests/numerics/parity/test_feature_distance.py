"""`lemmata.numerics.parity.feature_distance`: the parts add up, and bad input is refused."""

from __future__ import annotations

import math

import pytest
from flint import fmpq

from lemmata.numerics.parity.feature_distance import (
    feature_distance,
    feature_range,
    irrelevant_weight,
    largest_ratio,
    noise_threshold,
)


def test_values_by_hand() -> None:
    """n = 9, k = 4, q = 1: D = 3/40 + 1/4; the distance at 10 is 10 D + 1/4, the range 1/2 + 1 + 5 D + |b| + 1/4."""
    assert irrelevant_weight(9, 4, fmpq(1)) == fmpq(13, 40)
    assert feature_distance(9, 4, fmpq(1), fmpq(10)) == fmpq(7, 2)
    assert feature_range(9, 4, fmpq(1), fmpq(-1, 2)) == fmpq(9, 4) + fmpq(13, 8)


def test_the_threshold_and_the_ratio_at_a_round_logarithm() -> None:
    epsilon = fmpq(round(8 * math.exp(-4.5) * 2**40), 2**40)
    assert noise_threshold(9, 4, fmpq(1, 2)) > noise_threshold(9, 4, fmpq(3, 4))
    assert abs(noise_threshold(9, 4, epsilon) - 9) < 1e-9
    assert abs(largest_ratio(9, 4, epsilon, fmpq(9, 2)) - 1) < 1e-9


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="k must be even"):
        irrelevant_weight(9, 3, fmpq(0))
    with pytest.raises(ValueError, match="odd and above"):
        noise_threshold(8, 4, fmpq(1, 2))
    with pytest.raises(ValueError, match="at least 0"):
        feature_distance(9, 4, fmpq(-1), fmpq(1))
    with pytest.raises(ValueError, match="between 0 and 1"):
        noise_threshold(9, 4, fmpq(1))
    with pytest.raises(ValueError, match="must be positive"):
        largest_ratio(9, 4, fmpq(1, 2), fmpq(0))
