"""The steps that theorem 5.8 demands: the fixed point of the printed inequality, and what is refused."""

import math

import pytest

from lemmata.theorems.hidden_progress.polynet_steps import proved_steps


def test_proved_steps_are_the_fixed_point() -> None:
    assert [proved_steps(2, block, 0.05, 0.1) for block in (1, 2, 3)] == [242, 24_371, 150_700]
    steps = proved_steps(3, 4, 0.01, 0.05)
    excess = [s - 6 * math.log(24 * s / 0.05) * math.log(600) * 10**5 for s in (steps - 1, steps)]
    assert excess[0] < 0 <= excess[1]
    steps = proved_steps(3, 4, 0.01, 0.05, printed=False)
    excess = [s - 12 * math.log(24 * s / 0.05) * math.log(300) * 10**5 for s in (steps - 1, steps)]
    assert excess[0] < 0 <= excess[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2, 0.1, 0.1), "k >= 1 blocks"),
        ((2, 0, 0.1, 0.1), "k >= 1 blocks"),
        ((2, 2, 0.5, 0.1), "epsilon must be"),
        ((2, 2, 0.1, 1.0), "delta in"),
    ],
)
def test_bad_sizes(arguments: tuple[int, int, float, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        proved_steps(*arguments)


def test_steps_beyond_the_range_of_floats() -> None:
    with pytest.raises(ValueError, match=r"exceeds 10\^308"):
        proved_steps(200, 10**6, 0.1, 0.1)
