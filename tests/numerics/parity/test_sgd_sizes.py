"""`lemmata.numerics.parity.sgd_sizes`: bad input, and a bound that falls with the sizes."""

from __future__ import annotations

import pytest
from flint import fmpq

from lemmata.numerics.parity.sgd_sizes import feature_moment, regret_bound, sgd_loss_bound


def test_larger_sizes_have_smaller_bounds() -> None:
    few = sgd_loss_bound(1_500_001, 4, fmpq(1, 10), 400, 10**30, 10**8)
    many = sgd_loss_bound(1_500_001, 4, fmpq(1, 10), 400, 2 * 10**30, 10**9)
    assert many.regret < few.regret
    assert many.batch < few.batch
    assert many.total < few.total


def test_the_best_rate_makes_both_parts_equal() -> None:
    assert regret_bound(fmpq(4), fmpq(9), fmpq(1, 15), 100) == 2 * fmpq(4) / (2 * fmpq(1, 15) * 100)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="k must be even"):
        feature_moment(9, 3, fmpq(0))
    with pytest.raises(ValueError, match="odd and above"):
        feature_moment(10, 4, fmpq(0))
    with pytest.raises(ValueError, match="k must be even"):
        sgd_loss_bound(1_500_001, 3, fmpq(1, 10), 400, 10**30, 10**8)
    with pytest.raises(ValueError, match="even width"):
        sgd_loss_bound(1_500_001, 4, fmpq(1, 10), 401, 10**30, 10**8)
    with pytest.raises(ValueError, match="too few"):
        sgd_loss_bound(1001, 4, fmpq(1, 10), 400, 10**30, 10**8)
