"""Speed of the margin kernels, compared with the matrix products that the same machine reaches."""

from time import perf_counter

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.numerics.groups.tables import cyclic
from lemmata.numerics.margins.evaluation import group_margins, parity_margins

N, M = 113, 448


def test_group_margins_against_dgemm(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """All n^3 margins of a network for Z_113; prints the rate as a fraction of a square dgemm of as many flops."""
    rng = np.random.default_rng(113)
    u, v, w = rng.standard_normal((3, M, N))
    masses, group = rng.random(M), cyclic(N)
    side = round((M * N**3) ** (1 / 3))
    left, right = rng.standard_normal((2, side, side))
    group_margins(u, v, w, group, masses)
    ours, theirs = [], []
    for _ in range(25):  # interleaved, so that both see the same load of the machine
        start = perf_counter()
        np.dot(left, right)
        middle = perf_counter()
        group_margins(u, v, w, group, masses)
        theirs.append(2 * side**3 / (middle - start))
        ours.append(2 * M * N**3 / (perf_counter() - middle))
    ratio = max(ours) / max(theirs)  # the best rates: the rest is other load
    with capsys.disabled():
        print(
            f"\ngroup_margins n={N} m={M}: {max(ours) / 1e9:.1f} Gflop/s, "
            f"dgemm {max(theirs) / 1e9:.1f} Gflop/s, ratio {ratio:.2f}"
        )
    summary = benchmark(group_margins, u, v, w, group, masses)
    assert summary.minimum < summary.maximum


def test_parity_margins(benchmark: BenchmarkFixture) -> None:
    """All 2^16 inputs, 64 neurons, fourth powers."""
    rng = np.random.default_rng(16)
    hidden, readout = rng.standard_normal((64, 16)), rng.standard_normal((64, 2))
    summary = benchmark(parity_margins, hidden, readout, None, 4, [0, 5, 7, 15])
    assert summary.minimum < summary.maximum
