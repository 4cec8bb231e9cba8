"""Isotopy classes of Latin squares, counted by their symmetries and told apart by a search; projective spaces."""

from itertools import combinations
from math import factorial

import pytest

from lemmata.numerics.operations.classes import group_of_operation
from lemmata.numerics.operations.isotopy import isotopism
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.squares import latin_square_classes, reduced_latin_squares, steiner_square
from lemmata.numerics.operations.symmetries import operation_symmetries, transposed

SQUARES = {2: 2, 3: 12, 4: 576, 5: 161_280, 6: 812_851_200}
"""A002860 in the On-Line Encyclopedia of Integer Sequences."""
CLASSES = {2: (1, 1, 1), 3: (1, 1, 1), 4: (2, 2, 2), 5: (2, 2, 2), 6: (22, 17, 12)}
"""Up to names (A040082), up to names and swap of the arguments, and up to names and roles (A003090)."""


@pytest.mark.parametrize("n", SQUARES)
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
    swapped, turns = ({one.number: getattr(one, name) for one in classes} for name in ("swapped", "turned"))
    by_swap = {frozenset((number, other)) for number, other in swapped.items()}
    roles = [{start, turns[start], turns[turns[start]]} for start in turns]
    by_role = {frozenset(role | {swapped[one] for one in role}) for role in roles}
    assert (len(classes), len(by_swap), len(by_role)) == CLASSES[n]


def turned(table):
    """The square of the triples (b, y, a): columns become rows, labels columns, rows labels."""
    values = [[0] * table.rows for _ in range(table.rows)]
    for a, b in table.cells:
        values[b][table.values[a][b]] = a
    return Operation.of(values)


def test_orders_without_numbers_are_refused():
    for n in (1, 7):
        with pytest.raises(ValueError, match=f"orders 2 to 6; got {n}"):
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
