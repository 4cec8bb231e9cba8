"""What a table can show: each relation that the kernel checks, and a table that violates it first."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.certificates.given_character_tables import NAMES, given_table, relations

Edit = Callable[[dict[str, Any]], None]

GROUPS = [*NAMES, "Z2", "S3", "Z2^3", "Dic3", "D4xS3", "PSL(2,7)", "Z12", "2-^(1+4)", "S6"]


@pytest.mark.parametrize("name", GROUPS)
def test_tables_of_groups_violate_nothing(name):
    assert relations(given_table(name)) == ""


def put(part: str, *path: Any) -> Edit:
    """The edit that puts the last argument at the path of the others."""

    def edit(table: dict[str, Any]) -> None:
        place = table[part]
        for key in path[:-2]:
            place = place[key]
        place[path[-2]] = path[-1]

    return edit


def both(*edits: Edit) -> Edit:
    """One edit after the other."""

    def edit(table: dict[str, Any]) -> None:
        for one in edits:
            one(table)

    return edit


def swapped_columns(i: int, j: int) -> Edit:
    """The edit that swaps two columns of values, and nothing else."""

    def edit(table: dict[str, Any]) -> None:
        for row in table["characters"]:
            row[i], row[j] = row[j], row[i]

    return edit


def row_of_fifth_roots(table: dict[str, Any]) -> None:
    """Rows that the Galois group permutes, and columns that it does not."""
    roots = {0: 1, 1: "E(5)", 2: "E(5)^2", 3: "E(5)^3", 4: "E(5)^4"}
    minus = {1: "-E(5)", 2: "-E(5)^2", 3: "-E(5)^3", 4: "-E(5)^4"}
    table["characters"] = [[1] * 5, *([1, roots[a], minus[a], roots[3 * a % 5], roots[4 * a % 5]] for a in range(1, 5))]


def without_power(p: int) -> Edit:
    """The edit that removes a power map."""
    return lambda table: table["powers"].pop(str(p))


def copied_column(source: int, target: int) -> Edit:
    """The edit that copies a column of values."""

    def edit(table: dict[str, Any]) -> None:
        for row in table["characters"]:
            row[target] = row[source]

    return edit


FALSE = [
    ("S4", put("class_sizes", 0, 2), r"table.class_sizes\[0\]: must be 1"),
    ("S4", put("class_sizes", 1, 4), r"table.class_sizes: add up to 25, not to the order 24"),
    ("S4", lambda table: table.update(order=25), r"table.class_sizes: add up to 24, not to the order 25"),
    ("S4", put("class_sizes", slice(None), [1, 3, 6, 7, 7]), r"table.class_sizes\[3\]: 7 does not divide the order 24"),
    ("S4", put("characters", 2, 0, 5), r"table.characters\[2\]\[0\]: the degree 5 does not divide the order 24"),
    ("S4", put("characters", 3, 0, 2), r"the squares of the degrees add up to 19, not to the order 24"),
    ("S4", put("characters", 0, 2, -1), r"the trivial character, a row of ones, is missing"),
    ("S4", put("characters", 3, 3, 1), r"table.characters\[3\]\[3\]: times the class size, is no multiple of the deg"),
    ("C7_C3", put("characters", 2, 3, "E(9)"), r"a conjugate of the value 1\*E\(9\)\^1 does not occur"),
    ("S4", put("characters", 1, slice(None), [1] * 5), r"table.characters: a row occurs twice"),
    ("S4", copied_column(2, 4), r"table.characters: a column occurs twice"),
    ("SL2_3", put("characters", 2, 2, 1), r"table.characters: no row is conjugate to row 1"),
    ("Z5", row_of_fifth_roots, r"table.characters: no column is conjugate to column"),
    ("SL2_3", both(put("class_sizes", 5, 2), put("class_sizes", 1, 3)), r"\[5\]: differs from that of the conjugate"),
    ("Z8", put("indicators", 7, 1), r"table.indicators\[4\]: differs from that of the conjugate row 7"),
    ("S4", put("powers", "2", 0, 3), r"table.powers\[2\]\[0\]: must be 0, the identity"),
    ("S4", put("powers", "2", 1, 2), r"powers\[2\]\[1\]: the size of class 2 does not divide that of class 1"),
    ("S4", put("powers", "3", 4, 2), r"table.powers\[2\]\[4\]: does not commute with the power map for 3"),
    ("SL2_3", put("powers", "2", 3, 0), r"table.powers\[2\]\[2\]: does not commute with the Galois group"),
    ("Q8", swapped_columns(1, 4), r"table.characters: rows 0 and 1 have the inner product 1/4"),
    ("M11", put("characters", 4, 4, 0), r"table.characters: rows \d and \d have the inner product"),
    ("S4", put("indicators", 3, -1), r"table.indicators\[3\]: is 1 by the squares"),
    ("A5", put("powers", "2", slice(None), [0, 0, 2, 3, 4]), r"the symmetric square of row 1 has row 1 1/2 times"),
    ("A5", put("powers", "5", slice(None), [0, 1, 2, 3, 4]), r"table.powers\[5\]\[3\]: does not fit the values of row"),
    ("A5", both(without_power(2), put("powers", "7", [0, 1, 2, 3, 4])), r"powers\[7\]\[3\]: does not fit the values"),
    ("S4", put("powers", "3", 3, 3), r"table.powers: class 3 has elements of order 1"),
    ("C7_C3", both(put("indicators", 1, 1), put("indicators", 2, 1)), r"is 1 for a row that is not real"),
    ("S4", both(without_power(2), put("indicators", 3, 0)), r"is 0 for a row that is real"),
    ("S4", both(without_power(2), put("indicators", 0, -1)), r"table.indicators: class \d has -\d+ square roots"),
]


@pytest.mark.parametrize(("name", "edit", "line"), FALSE, ids=[f"{i}-{case[0]}" for i, case in enumerate(FALSE)])
def test_the_first_violated_relation_is_named(name, edit, line):
    table = given_table(name)
    edit(table)
    found = relations(table)
    assert re.search(line, found), found


def test_an_exterior_square_that_is_none():
    # D_4 x Z_2: squares that are 1 or the central involution z make chi(g^2) = 2 S(g) for a linear S
    table = given_table("D4xZ2")
    rows, degrees = table["characters"], [row[0] for row in table["characters"]]
    two, other = (rows[R] for R in range(10) if degrees[R] == 2)
    z = next(C for C in range(1, 10) if two[C] == other[C] == -2)
    linear = next(
        row for row in rows if row[0] == row[z] == 1 and [a * s for a, s in zip(two, row, strict=True)] == other
    )
    table["powers"]["2"] = [0 if value == 1 else z for value in linear]
    # the linear row first, then those of degree 2: the others would not fit the squares either
    table["characters"] = [linear, *sorted((row for row in rows if row is not linear), key=lambda row: -row[0])]
    table["indicators"] = [1 if row[0] == 1 else 0 for row in table["characters"]]
    assert re.search(r"powers\[2\]: the exterior square of row 1 has row 0 -1 times", relations(table))


def test_elements_whose_order_does_not_divide_that_of_their_centraliser():
    # the four classes of elements of order 3 of 3^2:2 have congruent columns; a chain of cubes makes 81 of the order 9
    table = given_table("perm:(1,2,3);(4,5,6);(1,2)(4,5)")
    threes = [C for C, size in enumerate(table["class_sizes"]) if size == 2]
    assert table["order"] == 18
    assert len(threes) == 4
    for C, image in zip(threes, [0, *threes], strict=False):
        table["powers"]["3"][C] = image
    line = rf"table.powers: the order 27 of elements of class {threes[2]} does not divide that of their centraliser"
    assert re.search(line, relations(table))
