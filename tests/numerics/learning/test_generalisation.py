"""Exact learning quantities against enumeration of every sample; refusals."""

from __future__ import annotations

from fractions import Fraction as Q
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.learning.covers import (
    margin_error_bound,
    margin_sample_size,
)
from lemmata.numerics.learning.generalisation import (
    circuit_count,
    consistent_failure_probability,
    erm_bound,
    erm_failure_probability,
    occam_sample_size,
    rademacher_complexity,
    seen_set_probabilities,
    turing_machine_count,
)

MASSES = [Q(1, 2), Q(1, 3), Q(1, 6)]


def samples(n: int) -> list[tuple[tuple[int, ...], Q]]:
    """Every ordered sample of n points with its probability."""
    return [(s, prod((MASSES[i] for i in s), start=Q(1))) for s in product(range(3), repeat=n)]


def random_table(seed: int, rows: int) -> list[list[Q]]:
    rng = np.random.default_rng(seed)
    return [[Q(int(x), 4) for x in row] for row in rng.integers(-4, 5, size=(rows, 3))]


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 3))
def test_rademacher_complexity_equals_the_sum_over_samples_and_signs(seed: int, rows: int, n: int) -> None:
    table = random_table(seed, rows)
    total = sum(
        p * max(sum(s * row[i] for s, i in zip(signs, sample, strict=True)) for row in table) / (n * 2**n)
        for sample, p in samples(n)
        for signs in product([1, -1], repeat=n)
    )
    assert rademacher_complexity(table, MASSES, n) == fmpq(total.numerator, total.denominator)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 5))
def test_failure_of_empirical_minimisers_equals_the_sum_over_samples(seed: int, rows: int, n: int) -> None:
    table = [[abs(x) for x in row] for row in random_table(seed, rows)]
    errors = [Q(i, 4) for i in range(rows)]
    total = Q(0)
    for sample, p in samples(n):
        losses = [sum(row[i] for i in sample) for row in table]
        total += p * any(loss == min(losses) and e > Q(1, 4) for loss, e in zip(losses, errors, strict=True))
    assert erm_failure_probability(table, errors, MASSES, n, Q(1, 4)) == fmpq(total.numerator, total.denominator)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_sets_of_points_seen(n: int) -> None:
    law = seen_set_probabilities(MASSES, n)
    for code in range(8):
        total = sum((p for s, p in samples(n) if set(s) == {i for i in range(3) if code >> i & 1}), start=Q(0))
        assert law[code] == fmpq(total.numerator, total.denominator)
    mistakes = [[0, 0, 0], [0, 0, 1], [1, 1, 0]]
    errors = [0, Q(1, 6), Q(5, 6)]
    by_sets = consistent_failure_probability(mistakes, errors, MASSES, n, Q(1, 7))
    assert by_sets == erm_failure_probability(mistakes, errors, MASSES, n, Q(1, 7))


def test_counts_and_sample_sizes() -> None:
    assert occam_sample_size(256, Q(1, 10)) == 102
    machines = [turing_machine_count(4, 3), turing_machine_count(8, 4), turing_machine_count(20, 4)]
    assert [occam_sample_size(count, Q(1, 10)) for count in machines] == [486, 1486, 4356]
    assert turing_machine_count(1, 1) == 6
    assert circuit_count(2, 2) == (2 * 5) * (3 * 6)
    n = margin_sample_size(Q(1, 10), 1, 1, 3)
    assert margin_error_bound(n, 1, 1, 3) < 0.1000001
    assert margin_error_bound(n - 1, 1, 1, 3) > 0.1


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: rademacher_complexity([[1, 2]], [Q(1, 2), Q(1, 3)], 2), "sum 1"),
        (lambda: rademacher_complexity([[1, 2]], [0.5, 0.5], 2), "not exact"),
        (lambda: rademacher_complexity([[1]], [Q(1, 2), Q(1, 2)], 2), "shape"),
        (lambda: rademacher_complexity([[1, 2]], [Q(1, 2), Q(1, 2)], 0), "integer >= 1"),
        (lambda: rademacher_complexity([[0] * 8], [Q(1, 8)] * 8, 40), "fewer points"),
        (lambda: erm_failure_probability([[0] * 8], [0], [Q(1, 8)] * 8, 100, 0), "fewer points"),
        (lambda: erm_failure_probability([[0]], [0, 1], [1], 1, 0), "1 errors"),
        (lambda: consistent_failure_probability([[1]], [1], [1], 1, 0), "make none"),
        (lambda: consistent_failure_probability([[Q(1, 2)]], [1], [1], 1, 0), "0 or 1"),
        (lambda: seen_set_probabilities([Q(1, 17)] * 17, 1), "at most 16"),
        (lambda: erm_bound(0, 1, delta=1), "in \\(0, 1\\)"),
        (lambda: erm_bound(0, 1, constants="best"), "'printed' or 'sharp'"),  # type: ignore[arg-type]
        (lambda: occam_sample_size(0, Q(1, 2)), "at least one target"),
        (lambda: turing_machine_count(0, 2), "at least one state"),
        (lambda: circuit_count(2, 0), "at least one input"),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
