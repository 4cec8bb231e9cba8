"""Tables of labels: what they hold, and what is no table."""

import pytest

from lemmata.numerics.operations.operation import MISSING, Operation

PARTIAL = Operation.of([[0, 1, 2], [1, MISSING, 0]])


def test_cells_triples_and_sizes():
    assert (PARTIAL.rows, PARTIAL.columns, PARTIAL.label_count, PARTIAL.size) == (2, 3, 3, 5)
    assert PARTIAL.cells == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2))
    assert PARTIAL.missing == ((1, 1),)
    assert PARTIAL.triples[:3] == ((0, 0, 1), (0, 0, 2), (0, 1, 0))
    assert len(PARTIAL.triples) == len(set(PARTIAL.triples)) == 10
    assert all(PARTIAL.values[a][b] not in (MISSING, c) for a, b, c in PARTIAL.triples)
    assert PARTIAL.array().tolist() == [[0, 1, 2], [1, -1, 0]]


def test_labels_without_a_cell_stay():
    fewer = PARTIAL.without([(0, 2)])
    assert fewer.label_count == 3
    assert fewer.missing == ((0, 2), (1, 1))
    assert Operation.of([[0, 1]], labels=4).label_count == 4


@pytest.mark.parametrize(
    ("values", "labels", "message"),
    [
        ([], None, "this one is empty"),
        ([[]], None, "this one is empty"),
        ([[0, 1], [1]], None, "row 1 has 1 cells"),
        ([[0, 0]], None, "at least two labels"),
        ([[MISSING, MISSING]], 2, "at least one given cell"),
        ([[0, 3]], 3, "Cell \\(0, 1\\) holds 3"),
        ([[0, -2], [1, 1]], None, "Cell \\(0, 1\\) holds -2"),
        ([[0, True]], 2, "holds True"),
    ],
)
def test_what_is_no_table(values, labels, message):
    with pytest.raises(ValueError, match=message):
        Operation.of(values, labels=labels)


def test_names_are_distinct():
    with pytest.raises(ValueError, match="2 rows need as many different names"):
        Operation(((0,), (1,)), ("0", "1"), ("a", "a"), ("x",))


@pytest.mark.parametrize(("cells", "message"), [([(2, 0)], "no cell \\(2, 0\\)"), (PARTIAL.cells, "one given cell")])
def test_cells_that_cannot_be_taken_away(cells, message):
    with pytest.raises(ValueError, match=message):
        PARTIAL.without(cells)
