"""Sums of waves: arithmetic, signs of frequencies, and refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.functions.smooth import identity, sine
from lemmata.numerics.functions.waves import WaveSum, damping, fitted_waves, lipschitz_waves, wave


def test_frequencies_of_either_sign_are_one_wave() -> None:
    f = wave([0, -2], 3, 5, 1) + wave([0, 2], 1, 1, 1)
    assert dict(f.terms) == {(0, 2): (4, -4)}
    assert f.size == 8
    assert abs(f(1, fmpq(1, 2)) - (4 * arb(1).cos() - 4 * arb(1).sin())) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_products_and_directions_are_those_of_the_functions(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def draw(k: int) -> WaveSum:
        numbers = rng.integers(-3, 4, (3, k + 2)).tolist()
        parts = [wave(row[:k], row[k], row[k + 1], 2) for row in numbers]
        return parts[0] + parts[1] + parts[2]

    f, g, h = draw(2), draw(2), draw(1)
    z = (fmpq(3, 4), fmpq(-5, 4))
    assert abs((f * g)(*z) - f(*z) * g(*z)) < 1e-12
    assert abs(h.along([1, -1], 1)(*z) - h(z[0] - z[1])) < 1e-12
    assert abs(f.scaled("-1/3")(*z) * 3 + f(*z)) < 1e-12


def test_sum_of_relus_passes_through_the_knots_and_keeps_a_constant() -> None:
    sums = (wave([0, 0], 3, 1, 1) + wave([1, 1], 0, 2, 1)).relu_sum("1/2")
    for i in range(-4, 5):
        assert float(sums(fmpq(i, 4), fmpq(i, 4))) == pytest.approx(3 + 2 * np.sin(i / 2), abs=1e-11)
    assert sums.radius == 1


def test_fit_of_a_wave_is_the_wave() -> None:
    fit = fitted_waves(sine, 1, 1, 2, 1)
    assert float(fit.terms[(fmpq(1),)][1]) == pytest.approx(1, abs=1e-6)
    assert fit.error < fmpq(1, 2**11)
    assert lipschitz_waves(lambda z: fmpq(2), [0], 1, 3)(fmpq(1, 3)).mid() == pytest.approx(2)
    assert abs(damping(3, 0) - 1) < 1e-12


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: wave([1], 1, 1, 0), "radius must be positive"),
        (lambda: WaveSum({(fmpq(-1),): (fmpq(1), fmpq(0))}, 1, fmpq(1)), "the first that is not 0 positive"),
        (lambda: WaveSum({}, 1, fmpq(1), fmpq(-1)), "error >= 0"),
        (lambda: wave([1], 1, 1, 1) + wave([1], 1, 1, 2), "Sums on one cube can be joined"),
        (lambda: wave([1], 1, 1, 1) * wave([1, 1], 1, 1, 1), "Sums on one cube can be joined"),
        (lambda: wave([1], 1, 1, 1).along([1, 1], 1), "must stay in"),
        (lambda: wave([1, 1], 1, 1, 1).along([1, 1], 1), "one variable"),
        (lambda: wave([1], 0, 0, 1).relu_sum(1), "All amplitudes are 0"),
        (lambda: wave([1], 1, 0, 1).relu_sum(0), "distance must be positive"),
        (lambda: fitted_waves(identity, 1, 1, 0, 1), "count must be >= 1"),
        (lambda: fitted_waves(identity, 1, 1, 2, 2), "parity 0 or 1"),
        (lambda: lipschitz_waves(lambda z: z, [-1], 1, 2), "must be at least one and >= 0"),
        (lambda: lipschitz_waves(lambda z: z, [1], 1, 0), "degree >= 1"),
    ],
)
def test_bad_input_is_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()
