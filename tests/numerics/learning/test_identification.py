"""The best learner of finitely many functions, against all learners, and what is refused."""

from itertools import product

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.learning import identification
from lemmata.numerics.learning.identification import conjunctions, identification_bound, identification_probability


@pytest.mark.parametrize(
    "table", [[[0, 1], [1, 0]], [[0, 1], [0, 0]], [[0, 1], [1, 0], [1, 1]], [[0, 2], [1, 2], [0, 2]]]
)
@pytest.mark.parametrize("masses", [None, [fmpq(1, 3), fmpq(2, 3)]])
def test_it_is_the_best_of_all_learners(table, masses):
    """One sample: every map from (point, label) to a function."""
    weights = [fmpq(1, 2)] * 2 if masses is None else masses
    seen = sorted({(x, row[x]) for row in table for x in range(2)})
    best = max(
        sum(
            (weights[x] for i, row in enumerate(table) for x in range(2) if guess[seen.index((x, row[x]))] == i),
            start=fmpq(0),
        )
        for guess in product(range(len(table)), repeat=len(seen))
    )
    assert identification_probability(table, 1, masses) == best / len(table)


def test_bounds_and_conjunctions():
    table = conjunctions(3, 2)
    assert table.shape == (3, 8)
    assert table.sum(axis=1).tolist() == [2, 2, 2]
    assert identification_probability(table, 0) == identification_bound(3, 0) == fmpq(1, 3)
    assert identification_bound(10, 2) == fmpq(2, 5)
    assert identification_bound(3, 2) == 1


def test_the_largest_enumeration_is_allowed(monkeypatch):
    monkeypatch.setattr(identification, "LARGEST_ENUMERATION", 8)
    assert identification_probability([[0, 1], [1, 0]], 3) == 1
    with pytest.raises(ValueError, match=r"2\^4 samples, more than 8"):
        identification_probability([[0, 1], [1, 0]], 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: identification_probability([0, 1], 1), r"shape \(functions, points\)"),
        (lambda: identification_probability([[0.5, 1]], 1), "labels are integers"),
        (lambda: identification_probability([[0, 1]], 1, [fmpq(1, 2), fmpq(1, 3)]), "must be nonnegative and add up"),
        (lambda: identification_probability(np.zeros((2, 200), int), 3), r"200\^3 samples, more than"),
        (lambda: identification_bound(0, 1), "number of functions must be an integer >= 1"),
        (lambda: conjunctions(3, 4), "no table of the conjunctions of 4 of 3 bits"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
