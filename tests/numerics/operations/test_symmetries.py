"""Symmetries of tables, beside a search of all permutations of the rows, the columns and the labels."""

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.operations.isotopy import carries, isotopism
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, is_symmetry, operation_symmetries, transposed
from tests.numerics.operations.test_classes import renamed


@st.composite
def tables(draw, most=3):
    rows, columns, labels = draw(st.integers(1, most)), draw(st.integers(1, most)), draw(st.integers(2, most))
    cell = st.integers(MISSING, labels - 1)
    values = draw(st.lists(st.lists(cell, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    values[0][0] = max(values[0][0], 0)
    return Operation.of(values, labels=labels)


def brute_force(table):
    """All symmetries, by trying every one: a cell (a, b) goes to (r[a], c[b]), with the swap to (r[b], c[a])."""
    rows, columns, labels = table.rows, table.columns, table.label_count
    found = set()
    for swap in (False, True) if rows == columns else (False,):
        for r, c, k in product(*(permutations(range(size)) for size in (rows, columns, labels))):
            if all(
                (table.values[r[b]][c[a]] if swap else table.values[r[a]][c[b]])
                == (MISSING if label == MISSING else k[label])
                for a, row in enumerate(table.values)
                for b, label in enumerate(row)
            ):
                first, second = r, tuple(rows + image for image in c)
                if swap:  # the column b becomes the row r[b], the row a becomes the column c[a]
                    first, second = second, first
                found.add((*first, *second, *(rows + columns + image for image in k)))
    return found


@settings(max_examples=60, deadline=None)
@given(tables())
def test_all_symmetries_of_small_tables(table):
    symmetries = operation_symmetries(table)
    expected = brute_force(table)
    assert symmetries.order == len(expected)
    assert {tuple(element) for element in symmetries.elements().tolist()} == expected
    assert symmetries.has_swap == any(element[0] >= table.rows for element in expected)


def by_first_occurrence(rows):
    """Rows of labels, renamed in the order of their first occurrence, which two rows share if renaming labels does."""
    first = np.argmax(rows[:, :, None] == rows[:, None, :], axis=2)  # where the label of a cell stands first
    return np.where(rows == MISSING, MISSING, first)


def count_by_lines(table):
    """The number of symmetries: orders of rows and columns after which the table is the same up to names of labels."""
    values = table.array()
    orders = [np.array(list(permutations(range(size)))) for size in values.shape]
    moved = [values[:, c] for c in orders[1]]  # one table for every order of the columns
    original = by_first_occurrence(values.reshape(1, -1))
    count = 0
    for part in moved if table.rows != table.columns else [*moved, *(values.T[:, c] for c in orders[1])]:
        strings = part[orders[0]].reshape(len(orders[0]), -1)
        count += int((by_first_occurrence(strings) == original).all(axis=1).sum())
    return count * factorial(table.label_count - len(set(values.ravel().tolist()) - {MISSING}))


@settings(max_examples=60, deadline=None)
@given(tables(most=4))
def test_numbers_of_symmetries_of_tables_of_up_to_4_rows(table):
    assert operation_symmetries(table).order == count_by_lines(table)


@pytest.mark.parametrize("name", ["op:mul:5", "op:a^2+b^2:5", "op:a/b:5", "op:min:5", "op:a^2b:5", "latin:5:1", "Z5"])
def test_numbers_of_symmetries_of_operations(name):
    assert operation_symmetries(parse_operation(name)).order == count_by_lines(parse_operation(name))


def test_the_number_of_symmetries_of_conjugation():
    """Points that were picked from one class, one after the other, without any effect on the rest stay apart."""
    assert operation_symmetries(parse_operation("conj:S3")).order == count_by_lines(parse_operation("conj:S3"))


@settings(max_examples=30, deadline=None)
@given(tables())
def test_orbits_of_triples_points_and_cells(table):
    symmetries = operation_symmetries(table)
    half = table.rows

    def image(g, triple):
        a, b, c = triple
        first, second = g[a], g[half + b]
        first, second = (first, second) if first < half else (second, first)
        return first, second - half, g[table.size + c] - table.size

    everything = brute_force(table)
    orbits = symmetries.triple_orbits()
    assert len(orbits) == len(table.triples)
    for number, triple in zip(orbits, table.triples, strict=True):
        reached = {image(g, triple) for g in everything}
        assert reached == {t for t, other in zip(table.triples, orbits, strict=True) if other == number}
    points = symmetries.point_orbits()
    for p in range(len(points)):
        assert {g[p] for g in everything} == set(np.flatnonzero(points == points[p]).tolist())


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("Z5", 2 * 5**2 * 4),  # translations on both sides, automorphisms, the swap
        ("Z13", 2 * 13**2 * 12),
        ("Z2^3", 2 * 8**2 * 168),
        ("S3", 2 * 6**2 * 6),  # with a -> a^-1, b -> b^-1 and the swap
        ("Q8", 2 * 8**2 * 24),
        ("op:mul:7", 2 * 6**2 * 2),  # the products of units, and zero
        ("op:mul:13", 2 * 12**2 * 4),
        ("op:max:4", 2),
    ],
)
def test_orders_that_are_known(name, order):
    symmetries = operation_symmetries(parse_operation(name))
    assert symmetries.order == order
    assert symmetries.has_swap


def test_labels_without_a_cell_are_permuted():
    assert operation_symmetries(Operation.of([[0, 1], [1, 0]], labels=5)).order == 8 * factorial(3)
    assert operation_symmetries(Operation.of([[0] * 8] * 8, labels=3)).order == 2 * factorial(8) ** 2 * 2


def test_missing_cells_are_kept():
    cyclic = parse_operation("Z5")
    symmetries = operation_symmetries(cyclic.without([(0, 0)]))
    assert symmetries.order == 8  # those of the cyclic group that fix the cell: automorphisms and the swap
    assert symmetries.triple_orbits().max() < len(cyclic.triples)


def test_what_is_no_symmetry():
    table = parse_operation("op:mul:5")
    identity = tuple(range(15))
    assert is_symmetry(table, identity)
    moved = (1, 0, *identity[2:])
    assert not is_symmetry(table, moved)
    with pytest.raises(ValueError, match="Generator 0 is not a symmetry"):
        OperationSymmetries(table, (moved,))
    with pytest.raises(ValueError, match="bijection of the points"):
        is_symmetry(table, (0, *identity[:-1]))
    with pytest.raises(ValueError, match="more than the 10 that are listed"):
        operation_symmetries(table).elements(10)


def test_every_symmetry_holds_on_every_triple():
    table = parse_operation("op:mul:7")
    symmetries = operation_symmetries(table)
    for generator in symmetries.generators:
        moved = symmetries.on_triples(generator)
        assert sorted(moved.tolist()) == list(range(len(table.triples)))
        for (a, b, c), number in zip(table.triples, moved, strict=True):
            first, second = generator[a], generator[table.rows + b]
            first, second = (first, second) if first < table.rows else (second, first)
            assert table.triples[number] == (first, second - 7, generator[14 + c] - 14)
            assert generator[14 + table.values[a][b]] - 14 == table.values[first][second - 7]


@settings(max_examples=40, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_renamed_tables_are_isotopic(table, random):
    other = renamed(table, random, swap=False)
    found = isotopism(table, other)
    assert found is not None
    assert carries(table, other, found)
    assert transposed(transposed(table)) == table


def test_tables_that_are_not_isotopic():
    assert isotopism(parse_operation("Z4"), parse_operation("Z2^2")) is None
    assert isotopism(parse_operation("Z4"), parse_operation("Z5")) is None
    assert isotopism(Operation.of([[0, 1, 1]]), Operation.of([[0, 1, 1]], labels=3)) is None


def test_a_group_that_is_too_large_to_list_leaves_a_subgroup():
    table = Operation.of([[0, 1]], labels=11)  # nine labels stand in no cell
    whole = operation_symmetries(table)
    assert whole.order == 2 * factorial(9)
    some = whole.listable()
    assert 1 < some.order <= 2000
    assert len(some.elements()) == some.order
    assert set(some.generators) <= set(whole.generators)
    assert whole.listable(limit=10**6) is whole
    assert whole.listable(limit=1, few=1).order == 1
