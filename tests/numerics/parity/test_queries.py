"""Search by statistical queries, and sample sizes."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from lemmata.numerics.parity.queries import empirical_answers, gradient_samples, query_samples, query_search

EVERY = list(combinations(range(6), 2))


def test_a_sample_answers_the_search() -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([-1, 1], size=(query_samples(6, 2, "1/100"), 6))
    search = query_search(empirical_answers(x, x[:, 1] * x[:, 4]), EVERY, parallel=4)
    assert search.found == (1, 4)
    assert search.rounds == 4
    assert query_search(empirical_answers(x, x[:, 1] * x[:, 4]), EVERY[:3]).found is None


def test_sample_sizes_are_the_formulas() -> None:
    assert query_samples(20, 3, "1/10", "1/4") == math.ceil(32 * math.log(20 * math.comb(20, 3)))
    assert gradient_samples(7, 3, "1/10", "1/2", 2) == math.ceil(8 * 9 * 4 * math.log(420))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: query_search(lambda asked: [0.0], []), "at least one set and one query a round, not 0 and 1"),
        (lambda: query_search(lambda asked: [0.0], EVERY, 0), "at least one set and one query a round"),
        (lambda: query_search(lambda asked: [], EVERY), "was asked 1 queries, but gave 0 answers"),
        (lambda: query_search(lambda asked: [1.0] * len(asked), EVERY, 9), "both exceed 1/2: their error is not below"),
        (lambda: empirical_answers(np.ones(3), np.ones(3)), r"A sample has shapes \(m, n\) and \(m,\)"),
        (lambda: empirical_answers(np.zeros((3, 2)), np.ones(3)), "must be 1 or -1"),
        (lambda: empirical_answers(np.ones((3, 2)), np.zeros(3)), "must be 1 or -1"),
        (lambda: empirical_answers(np.ones((3, 2)), np.ones(3))([(0, 2)]), "is no set of the inputs"),
        (lambda: query_samples(3, 4, "1/2"), "1 <= k <= n, not k = 4 and n = 3"),
        (lambda: query_samples(3, 2, 1), r"The failure probability must be in \(0, 1\)"),
        (lambda: gradient_samples(1, 1, "1/2", 0), "and tau positive, not 1/2 and 0"),
        (lambda: gradient_samples(0, 1, "1/2", 1), "There must be a parameter, a step and a bound >= 0"),
        (lambda: gradient_samples(1, 1, "1/2", 1, -1), "a bound >= 0"),
    ],
)
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
