"""Where neurons see a parity: the bound in small cases by hand, and what is refused; the proof's checks do the rest."""

import pytest
from flint import fmpq

from lemmata.numerics.parity.seen_parity import seen_share, spread_share, step_spread


def test_small_cases() -> None:
    assert [spread_share(2, spread) for spread in range(6)] == [1, 1, 1, *(fmpq(p, 8) for p in (6, 6)), fmpq(5, 8)]
    # the second smallest of S = {0, 1, 2} is 2, and three inputs outside are no smaller
    assert seen_share([9, -2, 1, 2, 3, -5, 1], [0, 1, 2]) == min(1, 2 * spread_share(2, 3))
    assert seen_share([0, 0] + [1] * 9, [0, 1]) == spread_share(2, 9)
    # two inputs of 3 or more, three of -3 or less
    assert step_spread([3, -3, 4, 3, 2, -3, -4, -5], [0, 1]) == 2
    # without the first of S the second smallest is that of the last two
    assert step_spread([0, 1, 2, 2, -2, 1], [0, 1, 2], ones=[0]) == 1


@pytest.mark.parametrize(
    ("support", "ones", "said"),
    [
        ([0], [], "only 1"),
        ([0, 7], [], "different indices"),
        ([0, 0], [], "different indices"),
        ([0, 1], [0], "only 1"),
    ],
)
def test_what_is_refused(support: list[int], ones: list[int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        step_spread([1, 2, 3], support, ones)
    if not ones:
        with pytest.raises(ValueError, match=said):
            seen_share([1, 2, 3], support)
