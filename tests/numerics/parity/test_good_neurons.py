"""The probability of good neurons against enumeration, the least constant of the gradient, bad input."""

from itertools import combinations
from math import comb

import pytest
from flint import arb, fmpq

from numerics.parity.good_neurons import check_over_sparse, good_probability, gradient_floor
from numerics.parity.sparse_neurons import over_sparse_values


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
