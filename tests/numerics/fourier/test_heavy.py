"""Large Fourier coefficients from values at chosen points, against the transform of the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.heavy import heavy_coefficients, samples_needed
from lemmata.numerics.fourier.walsh import walsh_hadamard


@pytest.mark.parametrize("seed", range(4))
def test_all_large_and_no_small_coefficients(seed: int) -> None:
    n, t = 6, 0.4
    rng = np.random.default_rng(seed)
    table = np.sign(sign_inputs(n) @ rng.normal(size=n) + 0.1)
    coefficients = np.abs(walsh_hadamard(table)) / 2**n

    def function(x: np.ndarray) -> np.ndarray:
        return table[((1 - x) // 2) @ (1 << np.arange(n))]

    found = heavy_coefficients(function, n, t, rng=rng)
    assert set(np.flatnonzero(coefficients >= t)) <= set(found)
    assert all(coefficients[T] >= t / 2 for T in found)
    assert found == sorted(found)
    assert found


@pytest.mark.parametrize("n", [1, 10, 62])
def test_the_sample_size_is_that_of_hoeffding(n: int) -> None:
    m = samples_needed(n, 0.5, 0.01)
    assert n * 8 / 0.25 * 2 * np.exp(-m * 0.5**4 / 32) <= 0.01 < n * 8 / 0.25 * 2 * np.exp(-(m - 1) * 0.5**4 / 32)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda rng: heavy_coefficients(lambda x: x[:, 0], 63, 0.5, rng=rng), "n <= 62"),
        (lambda rng: heavy_coefficients(lambda x: x[:, 0], 3, 0.0, rng=rng), "t <= 1"),
        (lambda rng: heavy_coefficients(lambda x: x[:, 0], 3, 0.5, delta=1.0, rng=rng), "delta < 1"),
        (lambda rng: heavy_coefficients(lambda x: np.full(len(x), np.nan), 3, 0.5, rng=rng), "in \\[-1, 1\\]"),
        (lambda rng: heavy_coefficients(lambda x: x[:, 0], 3, 1e-4, rng=rng), r"points, needs 7695308286\d\d\.\d GiB"),
        (lambda rng: samples_needed(3, 0.0, 0.1), "t <= 1"),
        (lambda rng: heavy_coefficients(lambda x: 2 * x[:, 0], 3, 0.5, rng=rng), "in \\[-1, 1\\]"),
        (lambda rng: heavy_coefficients(lambda x: x, 3, 0.5, rng=rng), "numbers in"),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action(np.random.default_rng(0))
