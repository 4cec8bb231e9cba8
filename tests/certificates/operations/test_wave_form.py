"""The form that shows that only waves are paid the most: floats against balls, and against the uniform weights."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.certificates.operations.triangles import one_cell_weights
from lemmata.certificates.operations.wave_form import exact_form, only_waves, pair_angles, wave_form


def uniform(n: int) -> np.ndarray:
    weights = np.ones((n, n, n), np.int64)
    weights[:, :, 0] = 0
    return weights


@pytest.mark.parametrize("orders", [(5,), (3, 3)], ids=str)
def test_uniform_weights_have_the_identity(orders: tuple[int, ...]) -> None:
    """R is 0 for them: nothing is paid at three different pairs."""
    n = int(np.prod(orders))
    form = wave_form(orders, uniform(n))
    N = (n - 1) // 2
    assert form.shape == (2 * N + 4 * N * (N - 1),) * 2
    assert np.abs(form - np.eye(len(form))).max() < 1e-12
    assert only_waves(orders, uniform(n))


def test_closed_weights() -> None:
    """Definite from 11 on; at 7 two eigenvalues are 0, and balls cannot decide."""
    assert only_waves((11,), one_cell_weights([11])[0])
    weights = one_cell_weights([7])[0]
    values = np.linalg.eigvalsh(wave_form((7,), weights))
    assert np.abs(values[:2]).max() < 1e-12
    assert values[2] > 0.4
    assert not only_waves((7,), weights)


def test_one_character_of_each_pair() -> None:
    numbers, exponent = pair_angles((3, 3))
    assert exponent == 3
    both = np.concatenate([numbers, -numbers % 3])
    assert len(np.unique(both, axis=0)) == 8


def test_a_real_character_is_a_pair_by_itself() -> None:
    numbers, exponent = pair_angles((2, 4))
    assert exponent == 4
    assert sorted(len({tuple(row), tuple(-row % 4)}) for row in numbers) == [1, 1, 1, 2, 2]
    weights = uniform(8)
    assert wave_form((2, 4), weights).shape == (7 + 49 - 3 - 2 * 4,) * 2


@pytest.mark.parametrize(
    ("orders", "weights", "words"),
    [
        ((5,), uniform(4), "shape"),
        ((5,), 0 * uniform(5), "positive sum"),
    ],
)
def test_what_is_refused(orders: tuple[int, ...], weights: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        wave_form(orders, weights)


def test_the_exact_form_is_for_odd_orders() -> None:
    exact = exact_form((3, 3), uniform(9))
    assert all(x == (i == j) for (i, j), x in np.ndenumerate(exact))
    with pytest.raises(ValueError, match="odd order"):
        exact_form((2, 4), uniform(8))
