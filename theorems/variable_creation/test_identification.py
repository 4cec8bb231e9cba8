"""How many samples any learner needs (remark 4.5a): exact success of the best learner on small problems.

The general statement is proved in proofs/identification.md.
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.learning.identification import conjunctions, identification_bound, identification_probability
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


def by_guessing(table: np.ndarray, samples: int) -> fmpq:
    """The success of the learner that names the first function with the labels, averaged over functions and samples."""
    points = table.shape[1]
    right = 0
    for sample in product(range(points), repeat=samples):
        rows = [tuple(row) for row in table[:, list(sample)].tolist()]
        right += sum(rows.index(row) == i for i, row in enumerate(rows))
    return fmpq(right, len(table) * points**samples)


@check(
    "variable-creation:remark-4.5a",
    grade="exact",
    target="corrected",
    cases="conjunctions of s of T bits with uniform strings, (T, s, m) = (3, 1, 0..3), (3, 2, 0..3), (4, 2, 0..3), "
    "(5, 2, 0..2), (6, 3, 0..1); all samples",
)
@proof_steps("identification.md: 1")
@pytest.mark.parametrize(("T", "s", "most"), [(3, 1, 3), (3, 2, 3), (4, 2, 3), (5, 2, 2), (6, 3, 1)])
def test_success_is_at_most_the_number_of_label_rows(T, s, most):
    table = conjunctions(T, s)
    assert len(table) == comb(T, s) == len({tuple(row) for row in table.tolist()})
    strings = list(product((0, 1), repeat=T))
    expected = {tuple(int(all(x[i] for i in read)) for x in strings) for read in combinations(range(T), s)}
    assert {tuple(row) for row in table.tolist()} == expected
    previous = fmpq(0)
    for m in range(most + 1):
        success = identification_probability(table, m)
        assert success == by_guessing(table, m)
        assert previous <= success <= identification_bound(comb(T, s), m) == min(fmpq(1), fmpq(2**m, comb(T, s)))
        previous = success
    assert previous > fmpq(1, comb(T, s))


@check("variable-creation:remark-4.5a", grade="exact", target="corrected", supporting=True)
@proof_steps("identification.md: 3")
def test_the_number_of_conjunctions_grows_like_a_power():
    """binom(T, s) >= (T/s)^s, in integers."""
    for T in range(1, 60):
        for s in range(1, T + 1):
            assert comb(T, s) * s**s >= T**s


@counterexample("variable-creation:remark-4.5a", grade="exact")
@proof_steps("identification.md: 2")
def test_distributions_that_hide_the_difference_need_no_samples(record: Record, mass: fmpq = fmpq(1)):
    """All 10 conjunctions of 2 of 5 bits agree on the string of ones: with all mass there, each is 100% accurate.

    So distinct functions are not enough; they have to differ with positive probability.
    """
    table = conjunctions(5, 2)
    ones = table[:, -1]
    assert ones.tolist() == [1] * 10
    masses = [fmpq(0)] * 31 + [mass]
    accuracy = [sum(mass for x, mass in enumerate(masses) if table[0, x] == row[x]) for row in table]
    record.hypothesis("the functions are distinct", len({tuple(row) for row in table.tolist()}), "=", comb(5, 2))
    record.hypothesis("the masses of the strings add up to 1", sum(masses, start=fmpq(0)), "=", 1)
    record.violated("without a sample the accuracy stays below 1", min(accuracy), "<", 1)
    assert accuracy == [1] * 10
    assert identification_probability(table, 1, masses) == fmpq(1, 10)
