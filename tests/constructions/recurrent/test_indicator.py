"""Functions H of a Gaussian vector: number systems, clipping, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.recurrent.indicator import (
    Partner,
    clipping_error,
    clipping_level,
    hermite,
    indicator_function,
)
from lemmata.numerics.exact.balls import as_balls


def test_hermite_polynomials() -> None:
    z = np.array([fmpq(1, 2), fmpq(-3)], dtype=object)
    assert hermite(0, z).tolist() == [1, 1]
    assert hermite(4, z).tolist() == [z**4 - 6 * z**2 + 3 for z in (fmpq(1, 2), fmpq(-3))]


@pytest.mark.parametrize("partner", ["linear", "sign"])
def test_balls_contain_the_floats(partner: Partner) -> None:
    function = indicator_function([1, -2, 3, fmpq(1, 2)], fmpq(1, 3), partner)
    alpha, beta = np.array([0.25, -1.5]), np.array([0.5, -2.0])
    for cut in (function, function.clipped([1.0, 2.0, 1.0])):
        floats, balls = cut(alpha, beta), cut(as_balls(alpha), as_balls(beta))
        assert all(abs(arb(f) - b) < arb("1e-12") for f, b in zip(floats, balls, strict=True))


def test_each_term_is_cut_at_its_own_level() -> None:
    """At alpha = 1.5 a term is gone with the level 1 and whole with the level 2; terms add up."""
    at = np.array([1.5]), np.array([0.5])
    both = indicator_function([0, -2, 3], 1)
    alone = indicator_function([0, -2], 1), indicator_function([0, 0, 3], 1)
    assert both.clipped([2.0, 1.0])(*at) == alone[0](*at)
    assert both.clipped([1.0, 2.0])(*at) == alone[1](*at)
    assert alone[0](*at) != alone[1](*at)


def test_undecided_cases_are_refused() -> None:
    function = indicator_function([0, 0, 1], 1, "sign").clipped([1.0])
    near, wide = as_balls([2]), np.array([arb("0 +/- 2")], dtype=object)
    with pytest.raises(ValueError, match="undecided"):
        function(near, wide)
    with pytest.raises(ValueError, match="undecided"):
        function(wide, near)


BAD = [
    ([], 1, "linear", "exact coefficients"),
    ([0.5], 1, "linear", "exact coefficients"),
    ([0, 1], -1, "linear", "exact variance"),
    ([0, 1], 0.5, "linear", "exact variance"),
    ([0, 1], 1, "cosine", "partner"),
]


@pytest.mark.parametrize(("coefficients", "variance", "partner", "message"), BAD)
def test_bad_input_is_refused(coefficients: list, variance: object, partner: Partner, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        indicator_function(coefficients, variance, partner)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("levels", [[], [1.0, 2.0], [0.0], [float("inf")]])
def test_bad_levels_are_refused(levels: list[float]) -> None:
    with pytest.raises(ValueError, match="levels"):
        indicator_function([0, 1], 1).clipped(levels)


def test_unbounded_functions_have_no_supremum() -> None:
    with pytest.raises(ValueError, match="unbounded"):
        indicator_function([0, 1], 1).supremum()
    with pytest.raises(ValueError, match="unbounded"):
        indicator_function([0, 0, 1], 1, "linear").clipped([1.0]).supremum()
    with pytest.raises(ValueError, match="Nothing"):
        clipping_error(indicator_function([0, 1], 1))
    assert indicator_function([fmpq(3, 2)], 1).supremum() == 3


@pytest.mark.parametrize(("degree", "epsilon"), [(0, "1/2"), (1, 0), (1, 1)])
def test_bad_levels_of_accuracy_are_refused(degree: int, epsilon: object) -> None:
    with pytest.raises(ValueError, match="clipping level"):
        clipping_level(degree, epsilon)
