"""Tables from files: they come back as they were written, and everything else is refused in a sentence."""

import csv
import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lemmata.numerics.operations.files import read_operation
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import MISSING, Operation

NAMES = st.one_of(
    st.integers(-50, 50).map(str), st.sampled_from(["e", "(1,2)", "x y", 'a"b', "é", "-", "1,5", "None", "*a"])
)


@st.composite
def entries(draw):
    """Rows of names, None where a cell is not given, with at least two names."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    cell = st.one_of(NAMES, st.none())
    values = draw(st.lists(st.lists(cell, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    values[0][:2] = ["7", draw(NAMES.filter(lambda name: name != "7"))]
    return values


def labels_of(table: Operation):
    return [[None if v == MISSING else table.label_names[v] for v in row] for row in table.values]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries())
def test_files_come_back_as_they_were_written(tmp_path, values):
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["" if v is None else v for v in row] for row in values])
    (tmp_path / "t.json").write_text(json.dumps(values))
    np.save(tmp_path / "t.npy", np.array([["" if v is None else v for v in row] for row in values]))
    tables = [read_operation(tmp_path / f"t.{end}") for end in ("csv", "json", "npy")]
    assert all(labels_of(table) == values for table in tables)
    given_names = {v for row in values for v in row if v is not None}
    for table in tables:
        assert set(table.label_names) == given_names
        if all(name.lstrip("-").isdecimal() for name in given_names):
            assert list(map(int, table.label_names)) == sorted(map(int, given_names))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.text(alphabet='01,2 \n"\\*xe.[]{}:-', max_size=60).map(str.encode)))
@pytest.mark.parametrize("end", ["csv", "json", "npy"])
def test_any_file_is_a_table_or_refused(tmp_path, end, content):
    file = tmp_path / f"t.{end}"
    file.write_bytes(content)
    with suppress(ValueError):
        assert len(read_operation(file).label_names) >= 2


def test_names_of_rows_and_columns(tmp_path):
    file = tmp_path / "t.csv"
    for corner in ("*", "a\\b"):
        file.write_text(f"{corner},x,y\np,1,-1\nq,-1,1\n")
        table = read_operation(file)
        assert (table.row_names, table.column_names) == (("p", "q"), ("x", "y"))
        assert table.label_names == ("-1", "1")
        assert table.values == ((1, 0), (0, 1))
    file.write_text(",0,1\n0,1,2\n")  # an empty corner is a cell that is not given
    assert read_operation(file).values == ((MISSING, 0, 1), (0, 1, 2))


def test_integers_are_labels_by_value(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("\ufeff 01, 1 ,+1\n10,9,\n", encoding="utf-8")
    assert read_operation(file).label_names == ("1", "9", "10")
    assert read_operation(file).values == ((0, 0, 0), (2, 1, MISSING))


def test_json_objects(tmp_path):
    file = tmp_path / "t.json"
    fields = {"values": [[0, None], [2, 0]], "labels": [0, 1, 2], "rows": ["p", "q"], "columns": [5, 6], "name": "f"}
    file.write_text(json.dumps(fields))
    assert read_operation(file) == Operation(((0, -1), (2, 0)), ("0", "1", "2"), ("p", "q"), ("5", "6"), "f")


def test_arrays(tmp_path):
    file = tmp_path / "t.npy"
    values = parse_operation("op:a/b:3").array()
    np.save(file, np.where(values == MISSING, np.nan, values))
    assert read_operation(file).values == parse_operation("op:a/b:3").values
    np.save(file, np.array([[0, 2], [1, 0]]))
    assert labels_of(read_operation(file)) == [["0", "2"], ["1", "0"]]
    np.save(file, np.array([[0.0, np.nan], [-5.0, 0.0]]))
    assert labels_of(read_operation(file)) == [["0", None], ["-5", "0"]]


def test_lists_of_cells(tmp_path):
    file = tmp_path / "cells.csv"
    file.write_text("row,column,label\n0,10,x\n0,9,y\n2,9,x\n2,9,x\n")
    table = parse_operation(f"cells:{file}")
    assert table == Operation(((0, 1), (1, -1)), ("y", "x"), ("0", "2"), ("9", "10"), "cells.csv")  # by rows
    file.write_text("0,1,x\n0,1,y\n")
    with pytest.raises(ValueError, match="given twice, with the labels x and y, which contradict"):
        parse_operation(f"cells:{file}")
    file.write_text("0,1\n0,2,x\n")
    with pytest.raises(ValueError, match="The cell \\(0, 1\\) has no label"):
        parse_operation(f"cells:{file}")


@pytest.mark.parametrize(
    ("end", "content", "message"),
    [
        ("csv", b"", "It is empty"),
        ("csv", b"\n\n", "It is empty"),
        ("csv", b"0,1\n1\n", "line 2 has 1 entries and line 1 2"),
        ("csv", b"0,0\n0,0\n", "at least two labels"),
        ("csv", b",\n,\n", "at least two labels"),
        ("csv", b"0,1.5\n1,0\n", "Line 1 holds '1.5', which is neither an integer nor a name"),
        ("csv", b"0,nan\n1,0\n", "leave cells empty that are not given"),
        ("csv", b"0,1e3\n1,0\n", "neither an integer nor a name"),
        ("csv", b"0,a\x00\n1,0\n", "printable|separated by commas"),
        ("csv", b"\xff\xfe,1\n", "not a text of entries"),
        ("csv", b'"0,1\n', "not a text of entries"),
        ("csv", b"0," + b"x" * 300, "at most 200 printable characters"),
        ("csv", b"*,x,x\np,0,1\n", "different names"),
        ("csv", b"0," * 5000 + b"1\n", "at most 5000 rows and columns"),
        ("json", b"", "It is not JSON"),
        ("json", b"[[0, 1], [1]]", "row 1 has 1 cells"),
        ("json", b"[]", "this one is empty"),
        ("json", b"7", "a list of rows, or an object|a list of rows"),
        ("json", b'{"valves": []}', "without 'valves'"),
        ("json", b"[[0, 1.0]]", "Row 0 holds 1.0; labels are integers or names"),
        ("json", b"[[0, true]]", "Row 0 holds True; labels are integers or names"),
        ("json", b"[[0, [1]]]", "labels are integers or names"),
        ("json", b"[[0, 10000000000000000000]]", "more than 18 digits"),
        ("json", b'{"values": [[0, 3]], "labels": [0, 1]}', "Cell \\(0, 1\\) holds '3', which is not among the labels"),
        ("json", b'{"values": [[0, 1]], "labels": [0, 1, null]}', "names that are not blank"),
        ("json", b'{"values": [[0, 1]], "labels": 3}', "are a list of names"),
        ("json", b'{"values": [[0, 1]], "values": [[1, 0]]}', "gives one key twice"),
        ("csv", b"*,\x1b[31mx,y\np,0,1\nq,1,0\n", "printable characters"),
        ("csv", b"*,x,y\n\x1b]0;p,0,1\nq,1,0\n", "printable characters"),
        ("csv", b"*,x,y\n,0,1\nq,1,0\n", "need names that are not blank"),
        ("json", b'{"values": [[0, 1]], "name": 3}', "name of a table is a printable text"),
        ("json", b"[" * 100_000, "It is not JSON"),
        ("npy", b"0,1", "no array of numbers or texts"),
        ("npy", b"", "no array of numbers or texts"),
    ],
)
def test_what_is_no_table(tmp_path, end, content, message):
    file = tmp_path / f"t.{end}"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message) as refusal:
        read_operation(file)
    assert str(refusal.value).startswith("There is no table in 't.")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3, int), "two dimensions"),
        (np.zeros((0, 2), int), "this one is empty"),
        (np.array([[0, -1]]), "from 0 on; this one holds -1. For cells that are not given write an array of floats"),
        (np.array([[0.5, 1]]), "no integers"),
        (np.array([[np.inf, 1]]), "no integers"),
        (np.array([[True, False]]), "An array of bool holds no labels"),
        (np.array([[1j, 1]]), "holds no labels"),
        (np.array([[0, "x"]], object), "no array of numbers or texts"),
        (np.array([["0", "1.5"]]), "neither an integer nor a name"),
    ],
)
def test_arrays_that_are_refused(tmp_path, array, message):
    np.save(tmp_path / "t.npy", array, allow_pickle=True)
    with pytest.raises(ValueError, match=message):
        read_operation(tmp_path / "t.npy")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"end in \.csv, \.json or \.npy"):
        read_operation(tmp_path / "t.txt")
    with pytest.raises(ValueError, match="cannot be read"):
        read_operation(tmp_path / "none.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ValueError, match="cannot be read"):
        read_operation(tmp_path / "d.csv")


def test_a_file_without_commas_is_separated_by_semicolons(tmp_path):
    (tmp_path / "t.csv").write_text("0;1\n1;-1\n")
    assert labels_of(read_operation(tmp_path / "t.csv")) == [["0", "1"], ["1", "-1"]]
    (tmp_path / "t.csv").write_text('"a;b",0\n1,"a;b"\n')
    assert labels_of(read_operation(tmp_path / "t.csv")) == [["a;b", "0"], ["1", "a;b"]]


def test_minus_one_is_a_label_in_every_file_that_is_read(tmp_path):
    values = [["-1", "1"], ["1", "-1"]]
    (tmp_path / "t.csv").write_text("-1,1\n1,-1\n")
    (tmp_path / "t.json").write_text("[[-1, 1], [1, -1]]")
    np.save(tmp_path / "t.npy", np.array([[-1.0, 1], [1, -1]]))
    for end in ("csv", "json", "npy"):
        assert labels_of(read_operation(tmp_path / f"t.{end}")) == values


def test_names_that_are_integers_are_found_by_their_value(tmp_path):
    """A row called 01 is the row 1, in a table as in a list of cells."""
    (tmp_path / "t.csv").write_text("*,+1,02\n01,0,1\n2,1,0\n")
    table = read_operation(tmp_path / "t.csv")
    assert (table.row_names, table.column_names) == (("1", "2"), ("1", "2"))
    (tmp_path / "c.csv").write_text("01,2\n02,+2\n")
    assert parse_operation(f"table:{tmp_path / 't.csv'}", str(tmp_path / "c.csv")).cells == ((0, 1), (1, 1))
