"""Fourier transforms against their defining sums, and exact against floating point."""

import cmath
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import cosine, root_of_unity, sqrt_rational
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.fourier.cyclic import dft, exact_dft, folded_power

shapes = st.lists(st.integers(1, 7), min_size=1, max_size=3).filter(lambda s: np.prod(s) <= 60).map(tuple)
quick = settings(max_examples=40, deadline=None)


def integers_of(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, size=shape)


def by_definition(f: np.ndarray) -> np.ndarray:
    result = np.empty(f.shape, dtype=complex)
    for j in product(*map(range, f.shape)):
        result[j] = sum(
            f[k] * cmath.exp(-2j * cmath.pi * sum(a * b / n for a, b, n in zip(j, k, f.shape, strict=True)))
            for k in product(*map(range, f.shape))
        )
    return result


# Each of the at most 60 summands is at most 9, and the angle of its phase is at most 2 pi (6 + 6 + 6) * 6/7 < 120 with
# 6 roundings: error below 60 * 9 * 120 * 6 * 2^-53 < 1e-10; numpy's FFT is far below that.
TOLERANCE = 1e-10


@quick
@given(shapes, st.integers(0, 2**32))
def test_transforms_are_the_defining_sums(shape: tuple[int, ...], seed: int) -> None:
    f = integers_of(shape, seed)
    expected = by_definition(f)
    exact = exact_dft(f)
    assert np.max(np.abs(exact.astype(complex) - expected)) < TOLERANCE
    if f.ndim == 1:
        assert np.max(np.abs(dft(f) - expected)) < TOLERANCE


def test_the_sign_of_the_exponent() -> None:
    delta = [0, 1, 0, 0, 0]
    assert exact_dft(delta)[1] == root_of_unity(-1, 5)
    assert exact_dft(delta)[1] != root_of_unity(1, 5)
    assert abs(dft(delta)[1] - complex(root_of_unity(-1, 5))) < TOLERANCE


def test_batches_transform_the_last_axis() -> None:
    f = integers_of((3, 5), 0)
    assert np.allclose(dft(f)[1], by_definition(f[1]), rtol=0, atol=TOLERANCE)


def test_exact_transform_of_irrational_functions() -> None:
    f = np.array([sqrt_rational(2), fmpq(1, 3), cosine(1, 7)], dtype=object)
    hat = exact_dft(f)
    assert hat[0] == sqrt_rational(2) + fmpq(1, 3) + cosine(1, 7)
    assert sum(h * h.conjugate() for h in hat) == 3 * sum(x * x for x in as_exact(f))  # Parseval


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
def test_folded_power_of_pure_cosines(n: int) -> None:
    k = np.arange(n)
    for j in range(n // 2 + 1):
        power = folded_power(3.5 * np.cos(2 * np.pi * j * k / n + (0.3 if 0 < 2 * j < n else 0.0)))
        assert power.shape == (n // 2 + 1,)
        expected = np.zeros(n // 2 + 1)
        expected[j] = 1
        # relative errors of at most 10 * 8 roundings in each amplitude
        assert np.max(np.abs(power - expected)) < 80 * 2.0**-53


@quick
@given(st.integers(1, 12), st.integers(0, 2**32), st.sampled_from([1.0, 1e300, 1e-300]))
def test_folded_power_is_a_share_of_the_energy(n: int, seed: int, scale: float) -> None:
    u = np.random.default_rng(seed).normal(size=(2, n))
    power = folded_power(u * scale)
    spectrum = np.array([by_definition(row) for row in u])
    for row in range(2):
        energy = n * np.sum(u[row] ** 2)
        for j in range(n // 2 + 1):
            folded = sum(abs(spectrum[row, i]) ** 2 for i in {j, (n - j) % n})
            assert abs(power[row, j] - folded / energy) < TOLERANCE


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: folded_power([[1.0, 2.0], [0.0, 0.0]]), r"Vector \[1\] is zero"),
        (lambda: folded_power([1.0, np.nan]), "not finite"),
        (lambda: folded_power([1j, 0]), "complex"),
        (lambda: folded_power([]), r"shape \(0,\)"),
        (lambda: dft(1.0), r"shape \(\)"),
        (lambda: dft(as_exact([1, 2])), "use exact_dft"),
        (lambda: exact_dft([0.5, 1]), "not exact"),
        (lambda: exact_dft(np.empty((2, 0), dtype=object)), "at least one element"),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
