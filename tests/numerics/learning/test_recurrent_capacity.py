"""Formulas for what recurrent networks can fit: how they grow, and what they refuse; the ledger has the rest."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.numerics.learning.recurrent_capacity import (
    RecurrentClass,
    class_log_cover,
    deviation_of_truncated_losses,
    drift,
    empirical_minimiser_bound,
    fourth_moment,
    layer_bounds,
    log_cover,
    recurrent_log_cover,
    truncated_rademacher_bound,
    truncation_level,
)

SMALL = RecurrentClass(3, 4, 2, 3, 2, 1)


def test_everything_grows_as_it_should() -> None:
    assert SMALL.parameters == 10
    assert SMALL.state_bound(100) == 1
    assert RecurrentClass(3, 4, 2, 3, 2).state_bound(100) == 7 * 100 * 2 * 6 // 4
    assert layer_bounds(3, 2, 1) == [1, 4, 10]
    assert drift(5, 0) == 4
    assert drift(1, 0) == 0
    assert log_cover(2, 1, 1, 1, 1) < log_cover(2, 1, 1, 1, fmpq(1, 2)) < log_cover(3, 1, 1, 1, fmpq(1, 2))
    assert class_log_cover(SMALL, 10, 1) < class_log_cover(SMALL, 20, 1) < class_log_cover(SMALL, 20, fmpq(1, 2))
    level = truncation_level(2, 3, 100)
    assert level < truncation_level(2, 3, 1000)
    assert empirical_minimiser_bound(SMALL, 0, 10**6, 10, fmpq(1, 10), level) < empirical_minimiser_bound(
        SMALL, 0, 10**4, 10, fmpq(1, 10), level
    )


REFUSED: list[tuple[Any, str]] = [
    (lambda: RecurrentClass(0, 1, 1, 1, 1), "The number transition_parameters must be an integer >= 1, not 0"),
    (lambda: RecurrentClass(1, 1, 1, 1, "1/2"), "The radius R must be a rational number >= 1, not 1/2"),
    (lambda: RecurrentClass(1, 1, 1, 1, 1, -1), "The radius r_h must be a rational number >= 0, not -1"),
    (lambda: layer_bounds(0, 1, 1), "The depth must be an integer >= 1, not 0"),
    (lambda: layer_bounds(1, 1, -1), "The bound of the inputs must be a rational number >= 0, not -1"),
    (lambda: log_cover(1, 1, 1, 1, 0), "The radius of a cover must be a positive finite number, not 0"),
    (lambda: drift(10**6, 1), "The drift over 1000000 tokens has too many digits"),
    (lambda: drift(3, -1), "The slope alpha must be a rational number >= 0, not -1"),
    (lambda: recurrent_log_cover(1, 1, 0, abs, abs, abs), "The Lipschitz constant of the read-out must be a positive"),
    (lambda: truncated_rademacher_bound(abs, fmpq(1, 2), 3), "The truncation tau must be at least 1, not 1/2"),
    (lambda: deviation_of_truncated_losses(arb(1), 1, 1, 1, 1), "delta must lie in"),
    (
        lambda: deviation_of_truncated_losses(arb(1), arb("nan"), 1, 1, fmpq(1, 2)),
        "tau must be a positive finite number",
    ),
    (lambda: fourth_moment(1, 1, -1), "The constant C_y must be a rational number >= 0, not -1"),
    (lambda: fourth_moment(1, 1, 1, 0), "The power s must be an integer >= 1, not 0"),
    (lambda: truncation_level(2, 1, 0), "The sample size must be an integer >= 1, not 0"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_bad_input_is_refused_in_a_sentence(case: int) -> None:
    build, message = REFUSED[case]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        build()
    assert message in str(error.value)
    assert str(error.value).endswith(".")
