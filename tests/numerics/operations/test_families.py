"""Tables of named operations, beside Python's own arithmetic; formulas that are none."""

import math
from contextlib import suppress
from operator import add, mul, sub

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.groups.tables import symmetric
from lemmata.numerics.operations.expressions import MAX_DEPTH, parse_formula
from lemmata.numerics.operations.families import (
    NAMED_FORMULAS,
    ORDER_OPERATIONS,
    conjugation_operation,
    group_operation,
    named_operation,
)
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import MISSING

BY_HAND = {
    "add:3": ["0 1 2", "1 2 0", "2 0 1"],
    "sub:3": ["0 2 1", "1 0 2", "2 1 0"],
    "sub:4": ["0 3 2 1", "1 0 3 2", "2 1 0 3", "3 2 1 0"],
    "mul:4": ["0 0 0 0", "0 1 2 3", "0 2 0 2", "0 3 2 1"],
    "div:5": ["- 0 0 0 0", "- 1 3 2 4", "- 2 1 4 3", "- 3 4 1 2", "- 4 2 3 1"],
    "div:4": ["- 0 - 0", "- 1 - 3", "- 2 - 2", "- 3 - 1"],
    "max:3": ["0 1 2", "1 1 2", "2 2 2"],
    "min:3": ["0 0 0", "0 1 1", "0 1 2"],
    "gcd:4": ["1 1 1 1", "1 2 1 2", "1 1 3 1", "1 2 1 4"],
    "lcm:4": ["1 2 3 4", "2 2 6 4", "3 6 3 12", "4 4 12 4"],
}
"""Labels by name, row a and column b; a dash where there is none. Modulo n the first row is that of a = 0."""


@pytest.mark.parametrize(
    ("formula", "function"),
    [
        ("add", add),
        ("mul", mul),
        ("a-b", sub),
        ("a^2+b^2", lambda a, b: a * a + b * b),
        ("a^2 + ab + b**2", lambda a, b: a * a + a * b + b * b),
        ("-a+2(b-1)^2", lambda a, b: -a + 2 * (b - 1) ** 2),
        ("3ab - (a+b)(a-b) + 10", lambda a, b: 3 * a * b - (a + b) * (a - b) + 10),
        ("a^0b^12", lambda a, b: b**12),
    ],
)
@pytest.mark.parametrize("n", [2, 5, 6])
def test_formulas(formula, function, n):
    table = named_operation(formula, n)
    assert table.values == tuple(tuple(function(a, b) % n for b in range(n)) for a in range(n))
    assert table.label_count == n


@pytest.mark.parametrize("formula", ["a/b", "a*b^-1", "div", "a b^(-1)", "(ab^-2)*b"])
def test_quotients_are_missing_where_they_are_not_defined(formula):
    for n in (5, 6):
        table = named_operation(formula, n)
        for a in range(n):
            for b in range(n):
                value = table.values[a][b]
                if math.gcd(b, n) > 1:
                    assert value == MISSING
                else:
                    assert value * b % n == a


def test_operations_of_order_and_divisors():
    assert named_operation("max", 4).values == tuple(tuple(max(a, b) for b in range(4)) for a in range(4))
    assert named_operation("min", 4).values == tuple(tuple(min(a, b) for b in range(4)) for a in range(4))
    for name, function in (("gcd", math.gcd), ("lcm", math.lcm)):
        table = named_operation(name, 6)
        assert table.row_names == ("1", "2", "3", "4", "5", "6")
        for a in range(6):
            for b in range(6):
                assert int(table.label_names[table.values[a][b]]) == function(a + 1, b + 1)


@pytest.mark.parametrize("text", BY_HAND)
def test_named_operations_are_those_written_by_hand(text):
    table = parse_operation(f"op:{text}")
    written = [["-" if label == MISSING else table.label_names[label] for label in row] for row in table.values]
    assert [" ".join(row) for row in written] == BY_HAND[text]
    first = 1 if text[:3] in ("gcd", "lcm") else 0
    assert table.row_names == table.column_names == tuple(str(first + i) for i in range(table.rows))


def test_every_named_operation_is_written_by_hand():
    assert {text.partition(":")[0] for text in BY_HAND} == set(NAMED_FORMULAS) | set(ORDER_OPERATIONS)


def test_the_table_of_a_group_composes_permutations():
    group = symmetric(3)
    table = group_operation(group)
    for a, one in enumerate(group.elements):
        for b, other in enumerate(group.elements):
            assert group.elements[table.values[a][b]] == tuple(one[other[x]] for x in range(3))
    assert any(table.values[a][b] != table.values[b][a] for a in range(6) for b in range(6))


def test_conjugation_composes_permutations():
    group = symmetric(3)
    table = conjugation_operation(group)
    for a, one in enumerate(group.elements):
        for b, other in enumerate(group.elements):
            image = group.elements[table.values[a][b]]
            assert all(image[one[x]] == one[other[x]] for x in range(3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at the end: a, b, an integer"),
        ("a^^2", "at character 3, '\\^': an integer is missing"),
        ("a+", "at the end: a, b, an integer"),
        ("a+c", "at character 3, 'c'"),
        ("(a", "at the end: a closing parenthesis"),
        ("a)b", "at character 2, '\\)': this is left over"),
        ("a^b", "at character 3, 'b': an integer is missing"),
        ("a--b", "at character 3, '-'"),
        ("__import__('os')", "at character 1, '_'"),
        ("a+1234567890123456789", "at character 3, '1': integers have at most"),
        ("(" * (MAX_DEPTH + 1) + "a", "nested at most"),
        ("a^" + "(" * 2000, "at most 1000 characters"),
        ("a^" + "(" * 900, "nested at most"),
        ("²", "at character 1"),
    ],
)
def test_what_is_no_formula(text, message):
    with pytest.raises(ValueError, match=message):
        parse_formula(text)


@given(st.text(alphabet="ab0123456789+-*/^() cx_", max_size=40))
def test_any_text_is_a_formula_or_refused(text):
    with suppress(ValueError):
        assert parse_formula(text)(2, 3, 5) in {None, 0, 1, 2, 3, 4}


@pytest.mark.parametrize("n", [1, 0, -3, True, 2.0, 10**6])
def test_sizes_that_are_refused(n):
    with pytest.raises(ValueError, match="2 to 5000 elements"):
        named_operation("a+b", n)


def test_an_operation_that_is_defined_nowhere():
    with pytest.raises(ValueError, match="defined nowhere modulo 4"):
        named_operation("(a+b)/2", 4)
