"""Finite classes against direct enumeration of signs and samples, and against the law of signed counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning.finite_classes import (
    class_table,
    deviation_failure_probability,
    empirical_rademacher,
    largest_deviation,
    sample_distances,
    sample_law,
)
from lemmata.numerics.learning.generalisation import rademacher_complexity

TABLE = [[1, 0, 2], [0, 1, -1], [3, "-1/2", 0]]
MASSES = ["1/2", "1/3", "1/6"]


def test_rademacher_by_direct_enumeration():
    rows = as_exact(TABLE)
    sums = [max(sum(s * x for s, x in zip(xi, row, strict=True)) for row in rows) for xi in product((1, -1), repeat=3)]
    assert empirical_rademacher(TABLE) == sum(sums, start=fmpq(0)) / 8 / 3


def test_counts_are_repeated_points():
    repeated = as_exact(TABLE)[:, [0, 0, 1, 1, 1]]
    assert empirical_rademacher(TABLE, [2, 3, 0]) == empirical_rademacher(repeated)


def test_the_mean_over_samples_is_the_complexity_of_the_distribution():
    mean = sum((q * empirical_rademacher(TABLE, counts) for counts, q in sample_law(MASSES, 4)), start=fmpq(0))
    assert mean == rademacher_complexity(TABLE, MASSES, 4)


def test_samples_have_probability_one_in_all():
    law = list(sample_law(MASSES, 5))
    assert len(law) == 21
    assert sum((q for _, q in law), start=fmpq(0)) == 1


def test_distances_of_numbers_and_vectors():
    assert sample_distances(TABLE).tolist() == [[0, 3, 2], [3, 0, 3], [2, 3, 0]]
    vectors = np.array([[[3, 4], [0, 0]], [[0, 0], [1, 1]]])
    assert sample_distances(vectors, norm="euclidean")[0, 1] == 25
    assert sample_distances(vectors, norm="sum")[0, 1] == 7
    assert sample_distances(vectors, norm="maximum")[0, 1] == 4
    assert sample_distances(vectors * fmpq(1, 2), norm="euclidean")[0, 1] == fmpq(25, 4)


def test_the_largest_deviation_by_hand():
    assert largest_deviation([[0, 1]], ["1/2", "1/2"], [2, 1]) == fmpq(1, 6)
    assert largest_deviation([[0, 1], [1, 3]], ["1/4", "3/4"], [1, 0]) == fmpq(3, 2)


def test_the_failure_probability_of_a_fair_coin_is_a_binomial_tail():
    def beyond(limit):
        return lambda rad: arb(limit) + 0 * arb(rad)

    flat = [[0, 0]]
    assert deviation_failure_probability([[0, 1]], flat, ["1/2", "1/2"], 4, beyond("0.3")) == fmpq(2, 16)
    assert deviation_failure_probability([[0, 1]], flat, ["1/2", "1/2"], 4, beyond("0.2")) == fmpq(10, 16)
    assert deviation_failure_probability([[0, 1]], flat, ["1/2", "1/2"], 4, beyond("0.5001")) == 0


def test_undecided_deviations_are_refused():
    with pytest.raises(ValueError, match="undecided"):
        deviation_failure_probability([[0, 1]], [[0, 0]], ["1/2", "1/2"], 1, lambda _: arb("0.5", 0.01))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[1, 2], [3]], "all rows of one length"),
        ([[0.5, 1]], "exact numbers"),
        ([], "not empty"),
        ([1, 2], "not an array of shape"),
        ([[[1, 2]]], "not an array of shape"),
    ],
)
def test_bad_tables_are_refused(table, words):
    with pytest.raises(ValueError, match=words):
        class_table(table)


def test_other_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="The norm is one of"):
        sample_distances(TABLE, norm="nuclear")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="counts"):
        empirical_rademacher(TABLE, [1, 2])
    with pytest.raises(ValueError, match="counts"):
        empirical_rademacher(TABLE, [0, 0, 0])
    with pytest.raises(ValueError, match="sums of signs"):
        empirical_rademacher([[1] * 30])
    with pytest.raises(ValueError, match="probabilities"):
        largest_deviation(TABLE, ["1/2", "1/2"], [1, 1, 1])
    with pytest.raises(ValueError, match="sum 1"):
        list(sample_law(["1/2", "1/3"], 2))
    with pytest.raises(ValueError, match="samples up to order"):
        sample_law(["1/10"] * 10, 50)
    with pytest.raises(ValueError, match="one shape"):
        deviation_failure_probability([[0, 1]], [[0]], ["1/2", "1/2"], 1, arb)
    with pytest.raises(ValueError, match="differ by more than"):
        deviation_failure_probability([[0, 1], [1, 1]], [[0, 0], [0, 0]], ["1/2", "1/2"], 1, arb)
    with pytest.raises(ValueError, match="differ by more than 2 times"):
        deviation_failure_probability([[0], ["201/100"]], [[0], [1]], [1], 1, arb, lipschitz=2)
