"""Classes of tables up to isotopy, counted a second time by Burnside's lemma; canonical forms; tables of groups."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import gcd, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.groups.tables import group_from_table
from lemmata.numerics.operations.classes import canonical_form, group_of_operation, isotopy_classes
from lemmata.numerics.operations.isotopy import isotopism
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.numerics.operations.symmetries import operation_symmetries, transposed


def cycle_lengths(images):
    seen, lengths = set(), Counter()
    for start in range(len(images)):
        length, point = 0, start
        while point not in seen:
            seen.add(point)
            length, point = length + 1, images[point]
        if length:
            lengths[length] += 1
    return lengths


def burnside(rows, columns, labels):
    """The number of classes of functions from the cells to at most so many labels, by the fixed points of renamings.

    A renaming of cells with cycles of length l and one of labels with cycles of length m fix prod_l (number of labels
    on cycles whose length divides l) functions.
    """
    place = [[a * columns + b for b in range(columns)] for a in range(rows)]
    cells, total = Counter(), Fraction(0)
    for r, c in product(permutations(range(rows)), permutations(range(columns))):
        moved = [[place[a][b] for b in c] for a in r]
        for order in (moved, list(zip(*moved, strict=True))) if rows == columns else (moved,):
            cells[tuple(sorted(cycle_lengths([p for line in order for p in line]).items()))] += 1
    names = Counter(tuple(sorted(cycle_lengths(k).items())) for k in permutations(range(labels)))
    for (of_cells, one), (of_labels, other) in product(cells.items(), names.items()):
        fixed = prod(
            sum(m * times for m, times in of_labels if gcd(m, length) == m) ** count for length, count in of_cells
        )
        total += Fraction(one * other * fixed, sum(cells.values()) * sum(names.values()))
    assert total.denominator == 1
    return int(total)


@pytest.mark.parametrize(
    ("shape", "count"), [((2, 2), 6), ((2, 3), 36), ((3, 2), 36), ((3, 3), 441), ((1, 4), 4), ((2, 4), 185)]
)
def test_counts_of_classes(shape, count):
    """36 of 2 x 3, and 358 of 3 x 3 with four or more labels."""
    found = isotopy_classes(*shape)
    cells = shape[0] * shape[1]
    assert len(found) == count
    by_labels = Counter(table.label_count for table in found)
    for labels in range(2, min(cells, 7) + 1):
        assert by_labels[labels] == burnside(*shape, labels) - burnside(*shape, labels - 1)
        assert len(isotopy_classes(*shape, labels)) == by_labels[labels]
    if shape == (3, 3):
        assert sum(times for labels, times in by_labels.items() if labels >= 4) == 358


@pytest.mark.parametrize("shape", [(2, 2), (1, 4)])
def test_classes_are_different_and_cover_every_table(shape):
    found = isotopy_classes(*shape)
    forms = {canonical_form(table) for table in found}
    assert len(forms) == len(found)
    for values in product(range(3), repeat=shape[0] * shape[1]):
        rows = [list(values[a * shape[1] : (a + 1) * shape[1]]) for a in range(shape[0])]
        if len(used := sorted(set(values))) >= 2:
            table = Operation.of([[used.index(v) for v in row] for row in rows])
            assert canonical_form(table) in forms


def test_forms_of_classes_of_3x3_are_different():
    found = isotopy_classes(3, 3, 3)
    assert len({canonical_form(table) for table in found}) == len(found) == 71


def test_orbits_have_the_size_that_symmetries_say():
    """Sum over classes of 2^9 labellings of 3 x 3 cells: |renamings| / |symmetries| = 2^9 - 2 with two labels."""
    assert (
        sum(Fraction(6 * 6 * 2 * 2, operation_symmetries(table).order) for table in isotopy_classes(3, 3, 2))
        == 2**9 - 2
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2), "rows, columns and at least two labels"),
        ((2, 2, 1), "at least two labels"),
        ((4, 4), "There are 10480142147 labellings of 4 x 4 cells and 1152 renamings"),
    ],
)
def test_shapes_that_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        isotopy_classes(*arguments)


def renamed(table, random, swap):
    r, c, k = (list(range(size)) for size in (table.rows, table.columns, table.label_count))
    for names in (r, c, k):
        random.shuffle(names)
    values = [[0] * table.columns for _ in range(table.rows)]
    for a, row in enumerate(table.values):
        for b, label in enumerate(row):
            values[r[a]][c[b]] = MISSING if label == MISSING else k[label]
    result = Operation.of(values, labels=table.label_count, name=table.name)
    return Operation.of(transposed(result).values, labels=table.label_count, name=table.name) if swap else result


EXAMPLES = (
    "Z5",
    "S3",
    "Z2^3",
    "op:mul:6",
    "op:a/b:5",
    "latin:7:1",
    "op:max:5",
    "random:4x3:4:1",
    "conj:S3",
    "op:a-b:4",
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(EXAMPLES), st.sampled_from([None, "fraction:0.7:1"]), st.randoms(use_true_random=False))
def test_renaming_does_not_change_the_form(name, cells, random):
    table = parse_operation(name, cells)
    form = canonical_form(table)
    assert canonical_form(renamed(table, random, table.rows == table.columns and random.random() < 0.5)) == form
    assert canonical_form(form) == form
    assert any(isotopism(other, form) is not None for other in (table, transposed(table)))


def test_tables_of_different_classes_have_different_forms():
    """The four reduced squares of order 4 are those of two groups: three times Z_4 and once Z_2^2."""
    forms = Counter(canonical_form(parse_operation(f"latin:4:reduced:{k}")).values for k in range(1, 5))
    assert sorted(forms.values()) == [1, 3]
    assert {canonical_form(parse_operation(name)).values for name in ("Z4", "Z2^2")} == set(forms)
    five = {canonical_form(parse_operation(f"latin:5:reduced:{k}")).values for k in range(1, 57)}
    assert len(five) == 2  # the classes of Latin squares of order 5


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["Z5", "S3", "Q8", "Z2^3", "Z7"]), st.randoms(use_true_random=False))
def test_groups_are_recognised_under_any_names(name, random):
    table = parse_operation(name)
    found = group_of_operation(renamed(table, random, random.random() < 0.5))
    assert found is not None
    original = group_from_table(table.array())
    assert len(found.classes) == len(original.classes)
    assert sorted(orders(found)) == sorted(orders(original))


def orders(group):
    for g in range(group.order):
        power, order = g, 1
        while power != group.identity:
            power, order = int(group.table[power, g]), order + 1
        yield order


def test_what_is_no_group():
    assert group_of_operation(parse_operation("op:a-b:7")).order == 7  # isotopic to addition
    assert group_of_operation(parse_operation("op:2a+3b+1:7")).order == 7
    for name in ("op:mul:5", "op:2a+b:4", "latin:6:2", "random:3x4:3:1", "latin:5:reduced:2"):
        assert group_of_operation(parse_operation(name)) is None
    assert group_of_operation(parse_operation("Z5", "without:(0,0)")) is None
    assert group_of_operation(Operation.of([[0, 1], [1, 0]], labels=3)) is None


def test_shapes_of_too_many_cells_are_refused_at_once():
    with pytest.raises(ValueError, match=r"at most 32 cells; 300 x 300 are 90000"):
        isotopy_classes(300, 300)
