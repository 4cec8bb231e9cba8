"""The probability of good neurons against enumeration, the least constant of the gradient, bad input."""

from itertools import combinations, product
from math import comb

import pytest
from flint import arb, fmpq

from lemmata.numerics.parity.good_neurons import (
    balance_probability,
    check_over_sparse,
    good_pairs,
    good_probability,
    gradient_floor,
)
from lemmata.numerics.parity.sparse_neurons import over_sparse_values


@pytest.mark.parametrize(("n", "k", "s"), [(5, 2, 3), (8, 4, 5), (9, 0, 3), (7, 3, 3), (6, 2, 6)])
def test_the_probability_counts_subsets(n: int, k: int, s: int) -> None:
    good = sum(set(range(k)) <= set(ones) for ones in combinations(range(n), s))
    assert good_probability(n, k, s) == fmpq(good, comb(n, s))


def test_the_floor_lies_below_every_gradient_and_is_approached() -> None:
    for k in (2, 4, 6, 8):
        ratios = [
            arb(abs(over_sparse_values(s, k).relevant)) * arb(comb(s, k - 1)).sqrt() / gradient_floor(k)
            for s in (k + 1, 4 * k + 1, 1001)
        ]
        assert all(ratio > 1 for ratio in ratios)
        assert ratios[-1] < arb("1.02") < ratios[0]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [((9, 3, 7), "even number k"), ((9, 2, 4), "odd number s"), ((9, 4, 3), "k < s <= n"), ((5, 2, 7), "k < s <= n")],
)
def test_sizes_out_of_range_are_refused(sizes: tuple[int, int, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_over_sparse(*sizes)


def test_bad_probabilities_are_refused() -> None:
    with pytest.raises(ValueError, match="0 <= k <= s <= n"):
        good_probability(4, 3, 2)
    with pytest.raises(ValueError, match="even number k"):
        gradient_floor(3)


@pytest.mark.parametrize(("pairs", "levels", "low", "high"), [(6, 2, 1, 2), (5, 3, 0, 1), (4, 1, 2, 3), (3, 2, 2, 5)])
def test_balance_counts_all_outcomes(pairs: int, levels: int, low: int, high: int) -> None:
    hit, total = fmpq(2, 9), fmpq(0)
    for outcome in product(range(levels + 1), repeat=pairs):
        if all(low <= outcome.count(j) <= high for j in range(levels)):
            missed = outcome.count(levels)
            total += hit ** (pairs - missed) * (1 - levels * hit) ** missed
    found = balance_probability(pairs, hit, levels, low, high)
    assert found.contains(arb(total))
    assert found.rad() < 1e-12


def test_the_number_of_pairs_is_the_least() -> None:
    for n, k, s in [(20, 2, 9), (40, 4, 17)]:
        pairs, levels = good_pairs(n, k, s, k // 2, fmpq(1, 10)), k // 2
        bound = 8 * arb(20 * levels).log()
        mean = arb(good_probability(n, k, s)) / levels
        assert pairs * mean >= bound > (pairs - 1) * mean


def test_bad_counts_are_refused() -> None:
    for call, words in [
        (lambda: balance_probability(3, fmpq(2, 3), 2, 0, 1), "levels \\* hit <= 1"),
        (lambda: balance_probability(3, 0.5, 1, 0, 1), "rational"),
        (lambda: balance_probability(3, fmpq(1, 3), 2, 2, 1), "low >= 0 to high"),
        (lambda: good_pairs(9, 2, 7, 0, fmpq(1, 2)), "at least one level"),
        (lambda: good_pairs(9, 2, 7, 1, 2), "delta in"),
        (lambda: good_pairs(9, 2, 6, 1, fmpq(1, 2)), "odd number s"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
