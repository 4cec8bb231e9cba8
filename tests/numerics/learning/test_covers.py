"""Covers of balls in the 1-norm: sparse averages, grids, and what is refused."""

from __future__ import annotations

from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.learning.covers import (
    chaining_bound,
    dudley_bound,
    log_cover_size,
    margin_free_bound,
    margin_sample_size,
    maurey_cover,
    sparse_average,
)


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 12))
def test_sparse_averages_come_close(seed: int, p: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-5, 6, size=p)
    theta = [Q(int(x), max(1, int(np.abs(weights).sum()))) for x in weights]
    mean = sparse_average(theta, k)
    gap = sum((a - fmpq(b.numerator, b.denominator)) ** 2 for a, b in zip(mean, theta, strict=True))
    assert gap <= fmpq(1, k)
    assert sum(abs(x) for x in mean) <= 1
    assert all((x * k).q == 1 for x in mean)  # a mean of k of the vectors


def test_covers_cover_a_grid() -> None:
    cover = to_float(maurey_cover(2, 3, alpha=2))
    assert len(cover) == 25
    steps = np.arange(-20, 21) / 10
    grid = np.array([(x, y) for x in steps for y in steps if abs(x) + abs(y) <= 2 + 1e-9])
    distance = np.sqrt(((grid[:, None] - cover) ** 2).sum(axis=2)).min(axis=1)
    assert distance.max() <= 2 / np.sqrt(3)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: maurey_cover(0, 1), "p, k >= 1"),
        (lambda: sparse_average([2], 1), "<= 1"),
        (lambda: log_cover_size(0, 1, 0, 1), "must be positive"),
        (lambda: log_cover_size(-1, 1, 1, 1), ">= 0"),
        (lambda: chaining_bound(0, 1, 1, 1), "at least 1"),
        (lambda: chaining_bound(1, 1, 1, 0), "one parameter"),
        (lambda: dudley_bound(1, 1, 1, 1), "n >= 2"),
        (lambda: margin_sample_size(Q(1, 10), 1, 1, 3, eps=Q(1, 10)), "never falls"),
        (lambda: margin_free_bound(5, 1, -1, 1), "scale"),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
