"""Masses of representations: what sums to 1 up to the rounding of the masses, and what does not."""

import numpy as np
import pytest

from lemmata.constructions.groups.masses import mass_shares

EPS = float(np.finfo(np.float64).eps)
NAMES = ["a", "b", "c"]


@pytest.mark.parametrize("error", [0.0, 2 * EPS, -2 * EPS])
def test_a_sum_within_rounding_of_1_is_accepted(error):
    """Three masses may miss 1 by 3 eps."""
    masses = [0.5, 0.25, 0.25 + error]
    assert mass_shares(NAMES, masses) == masses


@pytest.mark.parametrize("error", [4 * EPS, 1e-12, 1e-9, 1e-3])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_beyond_rounding_of_1_is_refused(error, sign):
    masses = [0.5, 0.25, 0.25 + sign * error]
    with pytest.raises(ValueError, match="with sum 1"):
        mass_shares(NAMES, masses)
    with pytest.raises(ValueError, match="with sum 1"):
        mass_shares(NAMES, dict(zip(NAMES, masses, strict=True)))


@pytest.mark.parametrize("mass", [-EPS, -1e-300, float("nan")])
def test_a_mass_that_is_not_at_least_0_is_refused(mass):
    with pytest.raises(ValueError, match=">= 0"):
        mass_shares(NAMES, [0.5, 0.5, mass])
