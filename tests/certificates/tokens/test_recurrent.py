"""Bounds for recurrent networks: reports, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from flint import arb

from lemmata.certificates.tokens.recurrent import (
    check_recurrent,
    least_recurrent_risk,
    least_squared_norm,
    least_width,
    printed_bounds,
)


def test_reports_name_what_cannot_be_true() -> None:
    fine = check_recurrent(100, 100, 20, 200, 1.5, "1/1000")
    assert fine.failures == ()
    weak = check_recurrent(1000, 1000, "1/100", 1, 1, "1/100")
    assert [line.split()[0] for line in weak.failures] == ["L^2", "The"]
    assert weak.least_risk > arb("0.9")
    wrong = check_recurrent(10, 2, 20, 200, 1, "1/100")
    assert "no matrix with d_h rows" in wrong.failures[-1]
    useless = check_recurrent(10, 2, 20, 2, 1, 1)
    assert useless.failures == (
        "The risk is not certainly below (N - 1)/N, which the network 0 has: the bounds say nothing.",
    )
    assert useless.least_norm == useless.least_width == 0
    assert check_recurrent(4, 10**6, 100, 4, 1, "3/4").failures == useless.failures
    assert check_recurrent(4, 10**6, 100, 4, 1, "0.74").failures == ()
    assert check_recurrent(4, 400, 100, "399.9", 1, "1/10").failures == ()
    assert "no matrix with d_h rows" in check_recurrent(4, 400, 100, "400.1", 1, "1/10").failures[-1]


def test_a_larger_risk_needs_less() -> None:
    risks = ["0", "1/100", "1/10", "1/2", "9/10"]
    for needed in (
        [least_squared_norm(50, risk) for risk in risks],
        [least_width(50, 3, risk) for risk in risks],
    ):
        assert all(one > other for one, other in pairwise(needed))
    assert least_recurrent_risk(50, 1000) == 0
    assert least_recurrent_risk(50, 0) > arb("0.95")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: least_squared_norm(1, 0), "must be an integer >= 2, not 1"),
        (lambda: least_squared_norm(10, 1), r"risks below \(N - 1\)/N = 9/10, not for 1"),
        (lambda: least_squared_norm(10, -1), "finite numbers >= 0, not -1"),
        (lambda: least_squared_norm(10, float("nan")), "nan"),
        (lambda: least_width(10, 0, 0), "no width is enough"),
        (lambda: least_recurrent_risk(10, arb("inf")), "finite numbers >= 0"),
        (lambda: check_recurrent(0, 1, 1, 1, 1, 0), "The number of tokens must be an integer >= 1"),
        (lambda: check_recurrent(2, 0, 1, 1, 1, 0), "The width must be an integer >= 1"),
        (lambda: printed_bounds(2, 3, 0, 1), "the printed bound of the width is infinite"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
