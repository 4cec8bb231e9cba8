"""Random units with given moments, and networks of ridges: means over draws, and what is refused."""

import numpy as np
import pytest

from lemmata.numerics.functions.ridges import moment_units, ridge_network


def test_few_units_have_the_moments_and_their_mean_is_the_measure():
    """2000 draws: the means of masses of size 1 at 12 points, at most 4 of them used, up to 6 standard errors."""
    rng = np.random.default_rng(0)
    points, masses = rng.standard_normal((12, 3)), rng.random(12) + 0.1
    draws = np.array([moment_units(points, masses, rng) for _ in range(2000)])
    assert (draws >= 0).all()
    assert (np.count_nonzero(draws, axis=1) <= 4).all()
    assert np.allclose(draws.sum(axis=1), masses.sum())
    assert np.allclose(draws @ points, masses @ points)
    assert (np.abs(draws.mean(axis=0) - masses) < 6 * draws.std(axis=0) / np.sqrt(2000)).all()
    assert draws.std(axis=0).min() > 0.1


def test_the_cells_cover_the_circle():
    """A constant density in the plane: its total, and relu integrated over the circle and [-1, 1] at the centre."""
    net = ridge_network(2, lambda theta, u: np.ones(len(u)), 2, 100.0, inner=4)
    assert net.a.sum() == pytest.approx(4 * np.pi, rel=1e-2)
    assert net.mean(np.zeros((1, 2)))[0] == pytest.approx(np.pi, rel=1e-2)
    assert net(np.zeros((1, 2)))[0] == pytest.approx(np.pi, rel=0.2)


def test_what_is_refused():
    def one(theta, u):
        return np.ones(len(u))

    with pytest.raises(ValueError, match="budget must be positive"):
        ridge_network(2, one, 0, 0.0)
    with pytest.raises(ValueError, match="dimension"):
        ridge_network(1, one, 0, 1.0)
