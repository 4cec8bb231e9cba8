"""Losses in floats, fractions and balls, against torch."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from flint import arb, fmpq

from lemmata.numerics.learning.losses import LOSSES, PRINTED_CORRELATION

TORCH = {
    "cross_entropy": lambda y, f: torch.nn.functional.softplus(-y * f),
    "square": lambda y, f: (y - f) ** 2,
    "hinge": lambda y, f: torch.relu(1 - y * f),
    "correlation": lambda y, f: -y * f,
}


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("y", [1, -1])
@pytest.mark.parametrize("f", [-40.0, -1.5, -0.25, 0.0, 0.75, 3.0, 40.0])
def test_values_and_slopes_are_those_of_torch(name: str, y: int, f: float) -> None:
    at = torch.tensor(f, dtype=torch.float64, requires_grad=True)
    value = TORCH[name](y, at)
    value.backward()
    assert at.grad is not None
    assert LOSSES[name].value(y, f) == pytest.approx(value.item(), rel=1e-14, abs=1e-300)
    assert LOSSES[name].slope(y, f) == pytest.approx(at.grad.item(), rel=1e-14, abs=1e-300)
    ball = LOSSES[name].value(y, arb(f))
    assert abs(ball - arb(value.item())) < arb("1e-13")
    assert abs(LOSSES[name].slope(y, arb(f)) - arb(at.grad.item())) < arb("1e-13")


def test_large_margins_do_not_overflow() -> None:
    loss = LOSSES["cross_entropy"]
    assert loss.value(1, -1e6) == 1e6
    assert loss.slope(1, -1e6) == -1
    assert loss.value(1, 1e6) == 0 == loss.slope(1, 1e6)


@pytest.mark.parametrize("number", [Fraction, fmpq])
def test_rational_losses_stay_rational(number: type) -> None:
    f = number(1, 3)
    expected = {"square": ((4, 9), (-4, 3)), "hinge": ((2, 3), (-1, 1)), "correlation": ((-1, 3), (-1, 1))}
    for name, (value, slope) in expected.items():
        found = LOSSES[name]
        assert found.value(1, f) == number(*value)
        assert found.slope(1, f) == number(*slope)
        assert isinstance(found.slope(1, f), number)
    assert LOSSES["hinge"].slope(1, number(1)) == 0 == LOSSES["hinge"].value(1, number(2))


def test_the_printed_loss_is_the_opposite() -> None:
    for y in (1, -1):
        assert PRINTED_CORRELATION.value(y, 3) == -LOSSES["correlation"].value(y, 3)
        assert PRINTED_CORRELATION.slope(y, 3) == -LOSSES["correlation"].slope(y, 3)


def test_a_ball_around_the_kink_is_refused() -> None:
    with pytest.raises(ValueError, match="sign of the ball"):
        LOSSES["hinge"].value(1, arb(1, fmpq(1, 10)))
