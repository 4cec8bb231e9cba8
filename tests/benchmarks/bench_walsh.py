"""Speed of the Walsh-Hadamard transform beside the plain loop, SciPy, NumPy, and the time to copy the vector."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numba
import numpy as np
import pytest
import scipy.linalg
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.numerics.fourier.walsh import walsh_hadamard_inplace
from tests.numerics.fourier.test_walsh import numpy_twin

LARGE, PASSES = 24, 4  # 1 + ceil((24 - 12)/4) passes through memory
SMALL = 12


@numba.njit
def plain_loop(x: np.ndarray) -> None:
    half = 1
    while half < x.shape[0]:
        for start in range(0, x.shape[0], 2 * half):
            for i in range(start, start + half):
                a, b = x[i], x[i + half]
                x[i] = a + b
                x[i + half] = a - b
        half *= 2


def best_times(actions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The shortest time of each action in seconds, interleaved, so that all see the same load of the machine."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            start = perf_counter()
            action()
            times[name].append(perf_counter() - start)
    return {name: min(values) for name, values in times.items()}


def test_large_transform_against_the_bandwidth(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """n = 24 in place: the time for each pass through memory as a multiple of the time to copy the vector once."""
    source = np.random.default_rng(24).normal(size=2**LARGE)
    x, y, z, copied = source.copy(), source.copy(), source.copy(), np.empty_like(source)
    walsh_hadamard_inplace(x)
    plain_loop(y)
    assert (x == y).all()
    times = best_times(
        {
            "copy": lambda: np.copyto(copied, source),
            "blocked": lambda: (np.copyto(x, source), walsh_hadamard_inplace(x)),
            "plain loop": lambda: (np.copyto(y, source), plain_loop(y)),
            "NumPy": lambda: numpy_twin(z),
        },
        rounds=5,
    )
    copy = times["copy"]
    blocked, plain = times["blocked"] - copy, times["plain loop"] - copy
    with capsys.disabled():
        print(
            f"\nWalsh-Hadamard n={LARGE} float64: {1e3 * blocked:.0f} ms in {PASSES} passes, copy {1e3 * copy:.1f} ms "
            f"({2 * source.nbytes / copy / 1e9:.0f} GB/s): factor {blocked / copy / PASSES:.2f} per pass; "
            f"plain loop {plain / blocked:.1f} times slower, NumPy {times['NumPy'] / blocked:.1f} times slower"
        )
    benchmark(walsh_hadamard_inplace, np.zeros(2**LARGE))


def test_small_transform_against_the_matrix(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """n = 12 beside scipy.linalg.hadamard(2^12) @ f, with the matrix already built."""
    f = np.random.default_rng(12).normal(size=2**SMALL)
    matrix = scipy.linalg.hadamard(2**SMALL).astype(np.float64)
    x = f.copy()
    times = best_times(
        {
            "blocked": lambda: (np.copyto(x, f), walsh_hadamard_inplace(x)),
            "matrix": lambda: matrix @ f,
            "NumPy": lambda: numpy_twin(f),
        },
        rounds=25,
    )
    with capsys.disabled():
        print(
            f"\nWalsh-Hadamard n={SMALL} float64: {1e6 * times['blocked']:.0f} us, "
            f"matrix product {times['matrix'] / times['blocked']:.0f} times slower, "
            f"NumPy {times['NumPy'] / times['blocked']:.0f} times slower"
        )
    benchmark(walsh_hadamard_inplace, np.zeros(2**SMALL))
