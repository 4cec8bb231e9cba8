"""The largest correlation over a cone: against a solver, known cases, forged certificates, and bad input."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from lemmata.certificates.duality.cone_correlation import ConeCorrelation, best_correlation, verify_correlation


def centred(part: np.ndarray, masses: np.ndarray) -> np.ndarray:
    part = part - masses @ part / masses.sum()
    return part * (np.sqrt(masses)[:, None] if part.ndim == 2 else np.sqrt(masses))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), points=st.integers(3, 9), d=st.integers(1, 8))
def test_the_optimum_is_that_of_a_solver(seed: int, points: int, d: int) -> None:
    """Within 1e-9: the residual of SciPy's nonnegative least squares gives the correlation, too."""
    rng = np.random.default_rng(seed)
    features, target = rng.integers(-4, 5, (points, d)), rng.integers(-4, 5, points)
    masses = rng.integers(1, 4, points)
    target[0] += len(set(target.tolist())) == 1
    found = best_correlation(features, target, masses)
    verify_correlation(found, features, target, masses)
    t = centred(target.astype(float), masses)
    _, residual = nnls(centred(features.astype(float), masses), t)
    assert np.isclose(float(int(found.squared.p)) / int(found.squared.q), 1 - residual**2 / (t @ t), atol=1e-9)


def test_known_cases() -> None:
    """A feature equal to the target, its negative, one at an angle of 60 degrees, and two of which one is of no use."""
    target = [1, -1, 0]
    assert best_correlation([[1], [-1], [0]], target).squared == 1
    assert best_correlation([[-1], [1], [0]], target) == ConeCorrelation((fmpq(0),), fmpq(0))
    half = best_correlation([[1], [0], [-1]], target)
    assert half.squared == fmpq(1, 4)
    assert half.value.overlaps(half.value * 0 + fmpq(1, 2))
    assert best_correlation([[1, -1], [0, 1], [-1, 0]], target).coefficients == (fmpq(1, 2), fmpq(0))
    assert best_correlation([[1, 5], [0, 5], [-1, 5]], target).squared == fmpq(1, 4)


def test_forged_certificates_are_refused() -> None:
    features, target = [[1, 1], [0, -2], [-1, 0], [2, 1]], [1, -1, 0, 1]
    found = best_correlation(features, target)
    verify_correlation(found, features, target)
    c, squared = found.coefficients, found.squared
    for forged, message in (
        (replace(found, squared=squared * fmpq(51, 50)), "squared correlation is"),
        (replace(found, coefficients=(c[0], -c[1] - 1)), "is negative"),
        (replace(found, coefficients=(fmpq(0), fmpq(0))), "would raise the correlation"),
        (replace(found, coefficients=tuple(2 * x for x in c)), "not the projection"),
        (replace(found, coefficients=(1.0, 0.5)), "rational coefficients"),
        (replace(found, coefficients=c[:1]), "2 rational coefficients"),
    ):
        with pytest.raises(ValueError, match=message):
            verify_correlation(forged, features, target)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_correlation([1, 2], [1, 2]), "shapes must be"),
        (lambda: best_correlation([[1], [2]], [1, 2, 3]), "shapes must be"),
        (lambda: best_correlation([[1], [2]], [1, 2], [1]), "shapes must be"),
        (lambda: best_correlation([[1], [2]], [1, 1]), "target is constant"),
        (lambda: best_correlation([[1], [2]], [1, 2], [1, 0]), "masses must be positive"),
        (lambda: best_correlation([[0.5], [2.0]], [1, 2]), "float"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
