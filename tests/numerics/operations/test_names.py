"""Tables and parts of them from what a user types; every form of bad input."""

import json
from itertools import product

import numpy as np
import pytest

from lemmata.numerics.operations.classes import group_of_operation
from lemmata.numerics.operations.names import TABLE_PREFIXES, parse_operation, restricted
from lemmata.numerics.operations.operation import MISSING
from lemmata.numerics.operations.squares import random_latin_square, reduced_latin_squares
from lemmata.numerics.operations.symmetries import operation_symmetries


def test_names_and_their_tables():
    assert parse_operation("op:mul:7").values[3] == (0, 3, 6, 2, 5, 1, 4)
    assert parse_operation(" op: a^2 + b^2 : 5 ").values[2] == (4, 0, 3, 3, 0)
    assert parse_operation("group:Z3").values == parse_operation("Z3").values == ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    assert parse_operation("conj:Z3").values == ((0, 1, 2),) * 3
    assert parse_operation("conj:S3").name == "conj:S3"
    assert parse_operation("perm:(1,2)").rows == 2


@pytest.mark.parametrize(("n", "seed"), list(product((2, 3, 5, 8), (0, 1, 2))))
def test_random_latin_squares(n, seed):
    table = parse_operation(f"latin:{n}:{seed}")
    everything = list(range(n))
    assert all(sorted(line) == everything for line in (*table.values, *zip(*table.values, strict=True)))
    assert parse_operation(f"latin:{n}:{seed}") == table


def test_random_latin_squares_are_spread():
    """Of order 3 there are 12; 240 draws miss one with probability 12 (11/12)^240 < 1e-8."""
    assert len({parse_operation(f"latin:3:{seed}").values for seed in range(240)}) == 12


def test_random_latin_squares_of_order_4_are_uniform_on_classes():
    """144 of the 576 are tables of Z_2^2: a share of 1/4, five standard deviations of 1000 draws are 0.069."""
    drawn = [random_latin_square(4, seed) for seed in range(1000)]
    shares = [
        sum(len(set(group_of_operation(square).squaring.tolist())) == 1 for square in drawn) / 1000,
        *(sum(square.values[a][b] == c for square in drawn) / 1000 for a, b, c in product(range(4), repeat=3)),
    ]
    assert all(abs(share - 1 / 4) < 0.069 for share in shares)
    assert len({square.values for square in drawn}) > 420  # 474 expected


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 1), (4, 4), (5, 56)])
def test_reduced_latin_squares(n, count):
    """The counts of A000315 in the On-Line Encyclopedia of Integer Sequences."""
    squares = [square.values for square in reduced_latin_squares(n)]
    assert len(set(squares)) == len(squares) == count
    assert squares == sorted(squares)
    everything = list(range(n))
    for square in squares:
        assert all(sorted(line) == everything for line in (*square, *zip(*square, strict=True)))
        assert list(square[0]) == [row[0] for row in square] == everything
    assert parse_operation(f"latin:{n}:reduced:{count}").values == squares[-1]


def test_random_tables():
    table = parse_operation("random:3x4:5:7")
    assert (table.rows, table.columns, table.label_count) == (3, 4, 5)
    assert parse_operation("random:3x4:5:7") == table != parse_operation("random:3x4:5:8")
    labels = [label for seed in range(40) for row in parse_operation(f"random:3x4:5:{seed}").values for label in row]
    assert min(np.bincount(labels)) > 60  # 96 expected of each


def test_parts_of_a_table():
    whole = parse_operation("op:mul:5")
    assert parse_operation("op:mul:5", "without:(0,1),(2,2)").missing == ((0, 1), (2, 2))
    assert parse_operation("op:mul:5", "without:(0, 1); (2, 2)").missing == ((0, 1), (2, 2))
    assert parse_operation("op:mul:5", "only:(0,1),(2,2)").cells == ((0, 1), (2, 2))
    part = parse_operation("op:mul:5", "fraction:0.8:3")
    assert len(part.cells) == 20
    assert part.label_names == whole.label_names
    assert all(part.values[a][b] == whole.values[a][b] for a, b in part.cells)
    assert part == parse_operation("op:mul:5", "fraction:0.8:3")
    assert part.missing != parse_operation("op:mul:5", "fraction:0.8:4").missing
    assert parse_operation("op:mul:5", "fraction:1:3").values == whole.values
    assert part.name == "op:mul:5 (20 of 25 cells)"
    assert len(parse_operation("op:a/b:5", "fraction:.5:1").cells) == 10  # of the 20 that are defined


def test_cells_from_files(tmp_path):
    whole = parse_operation("S3")
    wanted = [(0, 1), (3, 4), (5, 5)]
    rows = [[whole.row_names[a], whole.column_names[b], whole.label_names[whole.values[a][b]]] for a, b in wanted]
    with_labels, without = tmp_path / "three.json", tmp_path / "two.csv"
    with_labels.write_text(json.dumps(rows))
    without.write_text("row,column\n" + "".join(f'"{row}","{column}"\n' for row, column, _ in rows))
    mask = np.zeros((6, 6), bool)
    mask[tuple(zip(*wanted, strict=True))] = True
    np.save(tmp_path / "mask.npy", mask)
    for file in (with_labels, without, tmp_path / "mask.npy"):
        assert restricted(whole, str(file)).cells == tuple(wanted)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0,0,0\n1,1,2\n", "The cell \\(1, 1\\) has the label 1 in the table op:mul:5 and 2 in .*contradict"),
        ("0,9\n", "has no cell \\(0, 9\\)"),
        ("0\n", "Line 1 of 'cells.csv' has 1 entries"),
        ("0,0\n0,\n", "Line 2 of 'cells.csv' names no row or no column"),
        ("0,1.5\n", "'1.5', which is neither an integer nor a name"),
        ("", "It is empty"),
        ("0,0\n", "one given cell; give at least two"),
    ],
)
def test_cells_that_are_refused(tmp_path, content, message):
    file = tmp_path / "cells.csv"
    file.write_text(content)
    with pytest.raises(ValueError, match=message):
        parse_operation("op:mul:5", str(file))


def test_a_cell_without_a_label_is_refused(tmp_path):
    file = tmp_path / "cells.csv"
    file.write_text("0,1\n1,0\n")
    with pytest.raises(ValueError, match="gives no label to the cell \\(1, 0\\)"):
        parse_operation("op:a/b:5", str(file))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("fraction:1.2:1", "a share of at most 1"),
        ("fraction:0.5", "written fraction:SHARE:SEED"),
        ("fraction:0.01:1", "no cell is left"),
        ("fraction:0.04:1", "has one given cell"),
        ("without:(0,1", "listed as \\(0,1\\),\\(2,2\\)"),
        ("without:(7,7)", "no cell \\(7, 7\\)"),
        ("only:(0,0)", "has one given cell"),
        ("nowhere.csv", "'nowhere.csv' are no file"),
        ("", "no file"),
    ],
)
def test_parts_that_are_refused(cells, message):
    with pytest.raises(ValueError, match=message):
        parse_operation("op:mul:5", cells)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("op:7", "written op:FORMULA:N"),
        ("op:mul:x", "written op:FORMULA:N"),
        ("op:mul:-3", "written op:FORMULA:N"),
        ("op:mul:1", "2 to 5000 elements"),
        ("op:a+c:7", "at character 3, 'c'"),
        ("op:mul:999", "996004998 triples .* need 185.5 GB of memory; up to 4 GB"),
        ("S7", "above the limit of 2000 elements"),
        ("S6", "need 69.4 GB"),
        ("random:5000x5000:99:1", "need 456.3 GB"),
        ("latin:1:1", "orders 2 to 60"),
        ("latin:61:1", "orders 2 to 60"),
        ("latin:8:reduced:1", "orders 2 to 7"),
        ("latin:4:reduced:5", "There are 4 reduced Latin squares of order 4"),
        ("latin:4:reduced:0", "numbered from 1; got 0"),
        ("latin:4", "written latin:N:SEED"),
        ("random:3x3:1:1", "at least two labels"),
        ("random:0x3:2:1", "this one is empty"),
        ("random:1x1:2:1", "one given cell; give at least two"),
        ("random:3:2:1", "written random:ROWSxCOLUMNS:LABELS:SEED"),
        ("conj:foo", "no group named 'foo'"),
        ("foo", "no group named 'foo'.*Tables look like .*table:FILE"),
        ("foo:bar", "Tables look like"),
        ("", "Tables look like"),
        ("table:x.txt", "end in .csv, .json or .npy"),
        ("table:nowhere.csv", "'nowhere.csv' cannot be read: No such file"),
        ("cells:nowhere.csv", "'nowhere.csv' cannot be read: No such file"),
    ],
)
def test_what_is_no_table(text, message):
    with pytest.raises(ValueError, match=message):
        parse_operation(text)


def test_every_prefix_is_described():
    from lemmata.numerics.operations.names import ACCEPTED_TABLES

    assert all(f"{prefix}:" in ACCEPTED_TABLES for prefix in TABLE_PREFIXES)


def test_conjugation_has_the_symmetries_of_the_group():
    """(a, b) -> (g a g^-1, g b g^-1) for all g, so at least 6 for S_3; no cell of a whole table is missing."""
    table = parse_operation("conj:S3")
    assert operation_symmetries(table).order % 6 == 0
    assert MISSING not in table.array()
