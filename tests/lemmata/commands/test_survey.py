"""`lemmata survey`: what it refuses, and what it says of tables that fail."""

from io import StringIO

import pytest
from rich.console import Console

from lemmata.commands import survey
from tests.lemmata.commands.runner import run


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("all", "There is no family 'all'"),
        ("operations:1", "has 0 tables"),
        ("classes:1x1", "has 0 tables"),
        ("classes:9x9", "at most 32 cells"),
        ("random:4x4:4:1:99999999999", "from 1 to 1000000"),
    ],
)
def test_families_that_are_refused(tmp_path, family, words):
    code, output, error = run("survey", "--out", str(tmp_path / "out"), "--family", family, "--jobs", "1")
    assert (code, output) == (2, "")
    assert words in error
    assert not (tmp_path / "out" / "operations.json").exists()


def test_tables_that_fail_are_named(tmp_path):
    code, output, error = run("survey", "--out", str(tmp_path), "--family", "random:0x2:4:1:1", "--jobs", "1")
    assert (code, output) == (1, "")
    assert "A table has at least one row and one column" in error
    assert "1 tables failed; the same command runs these again" in " ".join(error.split())
    assert not (tmp_path / "operations.json").exists()


@pytest.mark.parametrize("width", [40, 100])
def test_no_number_is_cut_off(monkeypatch, width):
    console = Console(width=width, file=StringIO(), record=True)
    monkeypatch.setattr(survey, "out", console)
    totals = {"tables": 1000, "exact": 12, "closed": 998, "left": 2, "widest": 2.1e-3, "degree_4": 34, "excess": 4e-5}
    survey._print_totals({"random:4x4:4:1:1000": totals})
    text = console.export_text()
    numbers = ("1000", "12", "998", "2", "2.1e-03", "34", "4.0e-05")
    words = text.replace(",", " ").split()
    assert "random:4x4:4:1:1000" in text
    assert all(number in words for number in numbers)
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
