"""`lemmata.numerics.parity.batch_noise`: values by hand, a bound that falls with the sizes, and bad input."""

from __future__ import annotations

import pytest
from flint import arb, fmpq

from lemmata.numerics.parity.batch_noise import noise_tail, noisy_moment, short_batch, short_logarithm, short_loss_bound

SIZES = (60_001, 2, fmpq(1, 10), 62, 10**16, 10**8)


def test_values_by_hand() -> None:
    """n = 3, k = 2: xi_1 = 1/2. 2^2 exp(-B s/16), and 1/8 + 1/16 + 1/4 + 4/(4 B/4)."""
    assert noise_tail(3, 8, 2).overlaps(4 * (-arb(1)).exp())
    assert abs(noisy_moment(3, 2, 100, fmpq(1, 2)) - fmpq(7, 16) - fmpq(1, 25)) < 1e-12
    assert short_logarithm(3, 2, fmpq(1, 2)).overlaps(arb(128 * 4 * 4 * 6).log())
    assert abs(short_batch(3, 2, fmpq(1, 2)) / (2**16 * 3 * arb(128 * 4 * 4 * 6).log()) - 1) < 1e-12


def test_larger_sizes_have_smaller_bounds() -> None:
    few = short_loss_bound(*SIZES)
    n, k, epsilon, width, batch, steps = SIZES
    assert short_loss_bound(n, k, epsilon, 2 * width, batch, steps).width < few.width
    assert short_loss_bound(n, k, epsilon, width, 2 * batch, steps).batch < few.batch
    assert short_loss_bound(n, k, epsilon, width, batch, 2 * steps).regret < few.regret


def test_the_mean_is_over_one_layer_less_than_there_are_steps() -> None:
    """The regret at the best rate falls like 1/sqrt(T - 1), for even and for odd T."""
    regrets = {steps: short_loss_bound(*SIZES[:-1], steps).regret for steps in (2, 3, 4, 5)}
    for steps in (3, 4, 5):
        assert (regrets[2] / regrets[steps]).overlaps(arb(steps - 1).sqrt())


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({0: 60_000}, "odd and above"),
        ({1: 3}, "k must be even"),
        ({2: fmpq(1, 2)}, "below 1/2"),
        ({3: 63}, "even width"),
        ({3: 4}, "even width"),
        ({4: 0}, "a batch"),
        ({5: 1}, "two steps"),
        ({0: 101}, "too few"),
    ],
)
def test_bad_sizes_are_refused(changes: dict, match: str) -> None:
    sizes = [changes.get(i, value) for i, value in enumerate(SIZES)]
    with pytest.raises(ValueError, match=match):
        short_loss_bound(*sizes)


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        noisy_moment(3, 2, 0, fmpq(0))
