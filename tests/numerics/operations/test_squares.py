"""Isotopy classes of Latin squares, counted by their symmetries and told apart by a search; projective spaces."""

from functools import cache
from itertools import combinations
from math import factorial
from random import Random

import numpy as np
import pytest

from lemmata.numerics.operations.classes import group_of_operation
from lemmata.numerics.operations.isotopy import isotopism
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.reduced_squares import (
    count_reduced,
    least_reduced,
    numbers_of,
    reduced_with_number,
    roles,
    switched_classes,
)
from lemmata.numerics.operations.squares import (
    latin_square_classes,
    random_latin_square,
    reduced_latin_square,
    reduced_latin_squares,
    steiner_square,
)
from lemmata.numerics.operations.symmetries import operation_symmetries, transposed

SQUARES = {2: 2, 3: 12, 4: 576, 5: 161_280, 6: 812_851_200, 7: 61_479_419_904_000}
"""A002860 in the On-Line Encyclopedia of Integer Sequences."""
CLASSES = {2: (1, 1, 1), 3: (1, 1, 1), 4: (2, 2, 2), 5: (2, 2, 2), 6: (22, 17, 12), 7: (564, 324, 147)}
"""Up to names (A040082), up to names and swap of the arguments, and up to names and roles (A003090)."""


@pytest.mark.parametrize("n", range(2, 7))
def test_classes_of_latin_squares(n):
    """Each has (n!)^3 renamings over its symmetries squares, which sum to all; no two of one size are isotopic."""
    classes = latin_square_classes(n)
    squares = list(reduced_latin_squares(n))
    tables = {one.number: squares[one.number - 1] for one in classes}
    total = 0
    for one in classes:
        symmetries = operation_symmetries(tables[one.number])
        assert symmetries.has_swap == (one.swapped == one.number)
        size, rest = divmod(factorial(n) ** 3 * (1 + symmetries.has_swap), symmetries.order)
        assert rest == 0
        assert size == one.reduced * factorial(n) * factorial(n - 1)
        total += size
        assert isotopism(transposed(tables[one.number]), tables[one.swapped]) is not None
        assert isotopism(turned(tables[one.number]), tables[one.turned]) is not None
    assert total == SQUARES[n]
    for one, other in combinations(classes, 2):
        if one.reduced == other.reduced:
            assert isotopism(tables[one.number], tables[other.number]) is None
    assert counts(classes) == CLASSES[n]


def counts(classes):
    """How many classes there are up to names, up to names and swap, and up to names and roles."""
    swapped, turns = ({one.number: getattr(one, name) for one in classes} for name in ("swapped", "turned"))
    by_swap = {frozenset((number, other)) for number, other in swapped.items()}
    roles = [{start, turns[start], turns[turns[start]]} for start in turns]
    by_role = {frozenset(role | {swapped[one] for one in role}) for role in roles}
    return len(classes), len(by_swap), len(by_role)


def test_classes_of_order_7(effort):
    """The members add up to all reduced squares, which are walked; some are looked at by the search for isotopisms."""
    if effort.pick(quick=True, full=False):
        pytest.skip("25 s: at --effort full")
    classes = latin_square_classes(7)
    assert counts(classes) == CLASSES[7]
    assert sum(one.reduced for one in classes) == count_reduced(7) == SQUARES[7] // (factorial(7) * factorial(6))
    symmetric = [one for one in classes if one.reduced <= 7 * factorial(7) // 4]
    tables = cache(lambda number: reduced_latin_square(7, number))
    for one in (*symmetric, *Random(7).sample(classes, 10)):
        symmetries = operation_symmetries(tables(one.number))
        assert symmetries.has_swap == (one.swapped == one.number)
        assert 7 * factorial(7) * (1 + symmetries.has_swap) == one.reduced * symmetries.order
        for moved, number in ((transposed, one.swapped), (turned, one.turned)):
            assert isotopism(moved(tables(one.number)), tables(number)) is not None
    for one, other in combinations(symmetric, 2):
        if one.reduced == other.reduced:
            assert isotopism(tables(one.number), tables(other.number)) is None


@pytest.mark.parametrize("n", [4, 6])
def test_classes_by_switches_are_those_by_renaming(n):
    """From the cyclic square; of order 5 no switch leads away from it."""
    found = switched_classes([np.add.outer(np.arange(n), np.arange(n)) % n])
    numbers = numbers_of(np.array([np.frombuffer(key, np.int64).reshape(n, n) for key in found]))
    members = [n * factorial(n) // symmetries for symmetries in found.values()]
    assert sorted(zip(numbers, members, strict=True)) == [(one.number, one.reduced) for one in latin_square_classes(n)]
    assert len(switched_classes([np.add.outer(np.arange(5), np.arange(5)) % 5])) == 1


def test_reduced_squares_by_number():
    """Against the generator; what is no reduced square has no number."""
    squares = []
    for n in range(2, 7):
        squares = [square.array() for square in reduced_latin_squares(n)]
        assert count_reduced(n) == len(squares)
        assert numbers_of(np.array(squares[::-1])) == list(range(len(squares), 0, -1))
        for number in {1, 2, len(squares) // 2, len(squares)} - {0}:
            found = reduced_with_number(n, number)
            assert found is None if number > len(squares) else (found == squares[number - 1]).all()
        assert reduced_with_number(n, len(squares) + 1) is None
    assert numbers_of(np.array([squares[3], squares[1], squares[3]])) == [4, 2, 4]
    for wrong in (squares[3][::-1], squares[3][:, ::-1], np.add.outer(np.arange(6), np.arange(6))):
        with pytest.raises(ValueError, match="first row and column are in order"):
            numbers_of(np.array([squares[3], wrong]))


def test_the_least_reduced_square_is_the_same_for_all_names_and_counts_symmetries():
    names = np.random.default_rng(1)
    for seed in range(5):
        square = random_latin_square(6, seed).array()
        least, symmetries = least_reduced(square)
        rows, columns, labels = (names.permutation(6) for _ in range(3))
        again, count = least_reduced(labels[square[rows][:, columns]])
        assert (again == least).all()
        assert count == symmetries
        table = Operation.of(square.tolist())
        order = operation_symmetries(table)
        assert order.order == symmetries * (1 + order.has_swap)
        first, second, *others = roles(square)
        assert (first == square).all()
        assert (second == turned(table).array()).all()
        assert len(others) == 4


def turned(table):
    """The square of the triples (b, y, a): columns become rows, labels columns, rows labels."""
    values = [[0] * table.rows for _ in range(table.rows)]
    for a, b in table.cells:
        values[b][table.values[a][b]] = a
    return Operation.of(values)


def test_orders_without_numbers_are_refused():
    for n in (1, 8):
        with pytest.raises(ValueError, match=f"orders 2 to 7; got {n}"):
            latin_square_classes(n)


def test_squares_of_projective_spaces():
    """Idempotent, and a, b and the third point of their line: each pair in one line; order 3 is a group."""
    for n in (3, 7, 15):
        table = parse_operation(f"latin:{n}:steiner")
        values = table.values
        assert all(sorted(line) == list(range(n)) for line in (*values, *zip(*values, strict=True)))
        assert all(values[a][a] == a for a in range(n))
        lines = {frozenset((a, b, values[a][b])) for a in range(n) for b in range(n) if a != b}
        assert {len(line) for line in lines} == {3}
        assert len(lines) == n * (n - 1) // 6
        assert (group_of_operation(table) is not None) == (n == 3)
    assert operation_symmetries(steiner_square(7)).order == 2 * 168
    for n in (1, 2, 5, 2047):
        with pytest.raises(ValueError, match=rf"have 3, 7, 15, .* points, here up to 1023; got {n}"):
            steiner_square(n)
