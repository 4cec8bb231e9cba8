"""Learners of conjunctions and parities, beside the enumeration of all samples."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.learning.sparse_learners import (
    agreement_probability,
    ambiguity_bound,
    balanced_probability,
    consistent_conjunctions,
    elimination_probability,
    parity_of,
    spanning_probability,
    surviving_bits,
)

HALF, THIRD = fmpq(1, 2), fmpq(1, 3)


def over_samples(T: int, s: int, m: int, p: fmpq, value: Callable[[np.ndarray, np.ndarray], int]) -> fmpq:
    """The expectation of a function of strings and labels over all samples; the conjunction has the first s bits."""
    total = fmpq(0)
    for rows in product(product((0, 1), repeat=T), repeat=m):
        x = np.array(rows, dtype=int).reshape(m, T)
        ones = int(x.sum())
        total += p**ones * (1 - p) ** (m * T - ones) * value(x, x[:, :s].all(axis=1).astype(int))
    return total


@pytest.mark.parametrize(
    ("T", "s", "m", "p"), [(3, 1, 3, THIRD), (3, 2, 4, HALF), (4, 2, 3, fmpq(3, 4)), (2, 2, 3, HALF)]
)
def test_success_of_elimination_by_enumeration(T: int, s: int, m: int, p: fmpq) -> None:
    found = over_samples(T, s, m, p, lambda x, y: int(surviving_bits(x, y) == list(range(s))))
    assert found == elimination_probability(T, s, m, p)


@pytest.mark.parametrize(("T", "s", "m", "p"), [(3, 1, 2, THIRD), (3, 2, 3, HALF), (4, 2, 3, fmpq(3, 4))])
def test_expected_number_of_rivals_by_enumeration(T: int, s: int, m: int, p: fmpq) -> None:
    rivals = over_samples(T, s, m, p, lambda x, y: len(consistent_conjunctions(x, y, s)) - 1)
    assert rivals == ambiguity_bound(T, s, m, p)
    several = over_samples(T, s, m, p, lambda x, y: int(len(consistent_conjunctions(x, y, s, 2)) > 1))
    assert several <= rivals
    assert 1 - several >= elimination_probability(T, s, m, p)


def test_consistent_conjunctions_by_trying_all() -> None:
    rng = np.random.default_rng(0)
    counts = set()
    for _ in range(200):
        x = (rng.random((6, 7)) < 0.75).astype(int)
        y = x[:, [1, 4, 5]].all(axis=1).astype(int)
        expected = [c for c in combinations(range(7), 3) if (x[:, list(c)].all(axis=1) == y).all()]
        assert consistent_conjunctions(x, y, 3) == expected
        assert consistent_conjunctions(x, y, 3, 2) == expected[:2]
        counts.add(min(len(expected), 3))
    assert counts == {1, 2, 3}


def test_agreement_by_enumeration_and_at_the_printed_probability() -> None:
    for s, o in ((1, 0), (2, 0), (2, 1), (3, 2), (3, 3)):
        a, b = range(s), range(s - o, 2 * s - o)
        mass = sum(
            (THIRD ** sum(x) * (1 - THIRD) ** (2 * s - o - sum(x))
             for x in product((0, 1), repeat=2 * s - o) if all(x[i] for i in a) == all(x[i] for i in b)), fmpq(0)
        )  # fmt: skip
        assert agreement_probability(s, o, THIRD) == mass
    p = balanced_probability(3)
    assert (p**3).overlaps(arb(0.5))
    assert [round(float(agreement_probability(3, o, p)), 4) for o in range(4)] == [0.5, 0.63, 0.7937, 1.0]


def test_the_kinds_of_numbers_agree() -> None:
    exact = elimination_probability(30, 3, 40, fmpq(4, 5))
    assert elimination_probability(30, 3, 40, arb(4) / 5).contains(exact)
    assert elimination_probability(30, 3, 40, 0.8) == pytest.approx(float(exact), rel=1e-12)
    assert ambiguity_bound(30, 3, 40, 0.8) == pytest.approx(float(ambiguity_bound(30, 3, 40, fmpq(4, 5))), rel=1e-12)


@pytest.mark.parametrize(("T", "m"), [(1, 0), (1, 2), (2, 1), (2, 3), (3, 3), (3, 4)])
def test_parities_are_determined_when_the_strings_span(T: int, m: int) -> None:
    """Over all sample matrices, against the parities that fit, tried one by one."""
    secret = list(range(1, T)) or [0]
    determined = 0
    for rows in product(product((0, 1), repeat=T), repeat=m):
        x = np.array(rows, dtype=int).reshape(m, T)
        y = x[:, secret].sum(axis=1) % 2
        fit = [c for r in range(T + 1) for c in combinations(range(T), r) if (x[:, list(c)].sum(axis=1) % 2 == y).all()]
        assert parity_of(x, y) == (list(fit[0]) if len(fit) == 1 else None)
        determined += len(fit) == 1
    assert fmpq(determined, 2 ** (T * m)) == spanning_probability(T, m)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="does not fit into strings of 2 bits"):
        elimination_probability(2, 3, 5, HALF)
    for p in (fmpq(0), fmpq(1), -0.5, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            ambiguity_bound(5, 2, 5, p)
    with pytest.raises(ValueError, match="share at most 2 bits, not 3"):
        agreement_probability(2, 3, HALF)
    for strings, labels in (([[0, 2]], [0]), ([[0, 1]], [0, 1]), ([0, 1], [0, 1]), ([[0, 1]], [3])):
        with pytest.raises(ValueError, match="zeros and ones"):
            surviving_bits(strings, labels)
    with pytest.raises(ValueError, match="No parity has these labels"):
        parity_of([[0, 0], [1, 0]], [1, 1])
    with pytest.raises(ValueError, match="number of samples"):
        spanning_probability(3, -1)
    with pytest.raises(ValueError, match="number of bits"):
        balanced_probability(0)
