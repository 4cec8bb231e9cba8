import numpy as np
import pytest

from lemmata.certificates.operations.pricing import best_outputs, climb, distinct, polish, random_starts

Floats = np.ndarray


def random_forms(C: int, N: int, seed: int) -> Floats:
    M = np.random.default_rng(seed).normal(size=(C, N, N))
    return M + M.transpose(0, 2, 1)


def plain_climb(M: Floats, x: Floats, rounds: int = 200, tolerance: float = 1e-13) -> tuple[Floats, float]:
    """One climb in NumPy: alternations of the best output and the top eigenvector."""
    x, last, value = x / np.linalg.norm(x), -1.0, 0.0
    for _ in range(rounds):
        g = np.array([x @ form @ x for form in M])
        value = float(np.linalg.norm(g))
        if value - last <= tolerance * value:
            break
        last = value
        x = np.linalg.eigh(sum(a * form for a, form in zip(g / value, M, strict=True)))[1][:, -1]
    return x, value


def test_compiled_climbs_are_those_of_numpy():
    M = random_forms(4, 7, seed=1)
    starts = np.random.default_rng(2).normal(size=(12, 7))
    x, values = climb(M, starts)
    for start, got, value in zip(starts, x, values, strict=True):
        wanted, best = plain_climb(M, start)
        assert value == pytest.approx(best, rel=1e-12)
        assert abs(got @ wanted) == pytest.approx(1, abs=1e-9)
    _, few = climb(M, starts, rounds=3)
    assert few[0] == pytest.approx(plain_climb(M, starts[0], rounds=3)[1], rel=1e-12)


def test_the_best_climb_is_the_maximum_on_a_grid():
    """Three coordinates: the sphere by a fine grid of its angles, with a bound of what lies between grid points."""
    M = random_forms(3, 3, seed=5)
    polar, around = np.meshgrid(np.linspace(0, np.pi, 401), np.linspace(0, np.pi, 401))
    grid = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    grid = grid.reshape(-1, 3)
    largest = best_outputs(M, grid)[1].max()
    _, values = climb(M, random_starts(M, 20, np.random.default_rng(0)))
    assert largest <= values.max() * (1 + 1e-12)
    assert values.max() <= largest * (1 + 1e-4)  # second order in the mesh of 0.008


def test_polish_reaches_a_critical_point_and_never_loses():
    M = random_forms(5, 6, seed=3)
    rough, before = climb(M, random_starts(M, 10, np.random.default_rng(1)), rounds=12)
    x, after = polish(M, rough)
    assert (after >= before).all()
    w, values = best_outputs(M, x)
    assert np.allclose(values, after, rtol=1e-14)
    residual = np.einsum("mk,kij,mj->mi", w, M, x) - values[:, None] * x
    assert np.linalg.norm(residual, axis=1).max() < 1e-9 * values.max()
    moved, changed = polish(M, rough, steps=0)
    assert np.array_equal(moved, rough)
    assert np.array_equal(changed, best_outputs(M, rough)[1])


def test_polish_survives_maxima_that_are_no_points():
    """One form that is the identity: every x is a maximum."""
    x = random_starts(np.eye(4)[None], 6, np.random.default_rng(0))
    polished, values = polish(np.eye(4)[None], x)
    assert np.allclose(values, 1)
    assert np.allclose(np.linalg.norm(polished, axis=1), 1)


def test_vectors_that_differ_by_a_sign_are_one():
    vectors = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [1e-9, -1.0]])
    assert distinct(vectors).tolist() == [0, 2]


def test_bad_forms_and_starts_are_refused():
    M = random_forms(2, 3, seed=0)
    with pytest.raises(ValueError, match=r"forms \(C, N, N\)"):
        climb(M, np.ones((2, 4)))
    with pytest.raises(ValueError, match="finite"):
        climb(M * np.nan, np.ones((2, 3)))
    with pytest.raises(ValueError, match="no direction"):
        climb(M, np.zeros((1, 3)))
