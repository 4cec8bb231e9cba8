"""Reports in terminals of 40 and of 80 columns: no number and no name is cut off, and none is broken in a table."""

import re
from io import StringIO

import pytest
from rich.console import Console
from typer.testing import CliRunner

import lemmata.commands.console
from lemmata.cli import COMMANDS, app
from lemmata.reports.tables import fits, plain_table, print_fields, print_table

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
REPORTS = (
    ("certify", "S3", "--evaluate", "0"),
    ("certify", "S4", "--evaluate", "0"),
    ("certify", "op:max:2"),
    ("unseen", "op:add:3", "--cells", "without:(0,0)", "--out", "OUT"),
    ("path", "S3", "--lambda", "1e-4"),
    ("parity", "5", "3"),
    ("frontier", "50", "6", "--width", "1000", "--samples", "10000"),
    (
        "capacity",
        "--samples",
        "1000",
        "--length",
        "50",
        "--width",
        "8",
        "--value-columns",
        "2",
        "--value",
        "1",
        "--scores",
        "3",
    ),
    ("circuit", "--truth-table", "0110"),
    ("sparse", "12", "2,5,7", "01101001"),
    ("turing", "palindromes", "--steps", "12", "--input", "aba"),
    ("ledger", "--verdict", "refuted"),
    ("show", "feature-emergence:theorem-7.9"),
    ("show", "qstr:theorem-1"),
    ("experiment", "list"),
    ("experiment", "show", "parity-progress"),
)


def numbers(text):
    """The decimals of more than three digits in a text, with whatever stands around them until a blank."""
    return sorted(re.findall(r"\d\.\d{3,}(?:e[+-]?\d+)?", text))


def set_width(monkeypatch, width):
    """A terminal of that width, also for consoles that exist and have read another one from the environment."""
    monkeypatch.setenv("COLUMNS", str(width))
    for console in (lemmata.commands.console.out, lemmata.commands.console.err):
        monkeypatch.setattr(console, "_width", width)


def test_nothing_is_cut(monkeypatch, tmp_path):
    for command in REPORTS:
        arguments = [str(tmp_path) if part == "OUT" else part for part in command]
        shown = {}
        for width in (40, 80, 400):
            set_width(monkeypatch, width)
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, result.output
            assert ELLIPSIS not in result.output, command
            shown[width] = result.stdout
        if command[1] not in ("op:max:2", "op:add:3"):  # these search anew
            assert numbers(shown[40]) == numbers(shown[400]), command
            assert numbers(shown[80]) == numbers(shown[400]), command
        if command[:2] in (("certify", "S3"), ("certify", "S4")):
            roots = [shown[width].count("sqrt(") for width in shown]
            assert roots[0] == roots[1] == roots[2] > 0, command
    assert lemmata.commands.console.out.width == 400


@pytest.mark.parametrize("width", [40, 80])
def test_help_names_every_option_in_full(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for words in ([], *([name] for name in COMMANDS), ["experiment", "run"]):
        output = CliRunner().invoke(app, [*words, "--help"]).output
        assert ELLIPSIS not in output, words
        assert "--help" in output
        assert all(len(line.rstrip()) <= width for line in output.splitlines())
    assert "--evaluate" in CliRunner().invoke(app, ["certify", "--help"]).output


def test_the_tape_of_a_machine_fits(monkeypatch):
    for width in (40, 80):
        set_width(monkeypatch, width)
        output = CliRunner().invoke(app, ["turing", "bb4", "--steps", "107", "--trace", "9"]).stdout
        rows = [line for line in output.splitlines() if "[" in line and "]" in line]
        assert len(rows) == 10
        assert all(len(line) <= width for line in rows)
        assert len(rows[0].split()[-1]) == (13 if width == 40 else 33)


def console(width):
    return Console(width=width, file=StringIO(), record=True, highlight=False)


def sample():
    table = plain_table("id", "margin", "about")
    table.add_row("deep-icgd:construction-F2", "0.0236049693104906987498147357555", "a network of [b]four[/b] neurons")
    table.add_row("", "0.5", "")
    return table


def test_a_row_is_a_sentence_where_the_table_does_not_fit():
    out = console(40)
    print_table(out, sample())
    assert out.export_text().splitlines() == [
        "deep-icgd:construction-F2: margin 0.0236049693104906987498147357555, about a network of four neurons",
        "deep-icgd:construction-F2: margin 0.5",
    ]


@pytest.mark.parametrize(("width", "prose", "whole"), [(120, (), True), (85, (), False), (85, ("about",), True)])
def test_only_words_are_broken_in_a_table(width, prose, whole):
    out = console(width)
    assert fits(out, sample(), prose=prose) is whole
    print_table(out, sample(), prose=prose)
    text = out.export_text()
    assert ("\N{BOX DRAWINGS LIGHT HORIZONTAL}" in text) is whole
    assert "0.0236049693104906987498147357555" in text
    assert "deep-icgd:construction-F2" in text
    assert ELLIPSIS not in text


def test_a_long_word_is_not_split_in_words_beside_long_ones():
    table = plain_table("id", "about", "provided")
    table.add_row("x:1", "many short words and " * 5 + "onewordofthirtyoneletters_______", "many short words and " * 9)
    for width in range(30, 120):
        out = console(width)
        print_table(out, table, prose=["about", "provided"])
        assert "onewordofthirtyoneletters_______" in out.export_text()


def test_fields_keep_their_numbers():
    fields = [("at least", "0.0236049693104906987498147357555"), ("grade", "exact, proved from both sides, and so on")]
    out = console(40)
    print_fields(out, fields, indent="  ")
    lines = [line.rstrip() for line in out.export_text().splitlines()]
    assert lines == [
        "  at least: 0.0236049693104906987498147357555",
        "  grade     exact, proved from both",
        "            sides, and so on",
    ]


@pytest.mark.parametrize("prose", [(), ("about",)])
def test_numbers_and_names_are_whole_at_every_width(prose):
    for width in range(30, 130):
        out = console(width)
        print_table(out, sample(), prose=prose)
        text = out.export_text()
        assert "0.0236049693104906987498147357555" in text
        assert "deep-icgd:construction-F2" in text
        assert ELLIPSIS not in text
        if not prose:
            assert "a network of four neurons" in text


def test_fields_are_whole_at_every_width():
    for width in range(30, 80):
        out = console(width)
        print_fields(out, [("maximum margin", "0.0236049693104906987498147357555"), ("grade", "exact")])
        assert "0.0236049693104906987498147357555" in out.export_text()


def test_words_keep_room_enough_to_be_read():
    table = plain_table("id", "about")
    table.add_row("x:1", "a b c d e f g h i j k l m n o p q r s t u v w x y z")
    fitting = [width for width in range(10, 60) if fits(console(width), table, prose=["about"])]
    assert fitting == list(range(min(fitting), 60))
    assert min(fitting) - len("x:1") in range(15, 22)
