"""`lemmata circuit`."""

import json

import pytest
from typer.testing import CliRunner

from lemmata.cli import app

runner = CliRunner()


def test_a_file_is_compiled_verified_and_bounded(tmp_path):
    file = tmp_path / "circuit.txt"
    file.write_text("inputs x1, x2\ny = OR(AND(x1, NOT(x2)), AND(NOT(x1), x2))\n", encoding="utf-8")
    result = runner.invoke(app, ["circuit", str(file), "--attack", "10"])
    assert result.exit_code == 0
    assert "verified" in result.output
    assert "Margin: at least" in result.output
    assert "Margin at 10: at most" in result.output


@pytest.mark.parametrize("naive", [False, True])
def test_json(naive):
    result = runner.invoke(app, ["circuit", "--truth-table", "0110", "--json", "--quarters"] + ["--naive"] * naive)
    document = json.loads(result.output)
    assert document["verification"] == {"inputs": 4, "all_inputs": True, "layers": 4 if naive else 13, "fault": None}
    assert (document["margin"] is None) == naive
    assert len(document["layers"]) == document["circuit"]["depth"] - 1
    assert document["attack"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give either a FILE"),
        (["--truth-table", "012"], "entry 2 is '2'"),
        (["/no/such/file"], "No such file"),
        (["--truth-table", "01", "--attack", "01"], "word of 1 bits"),
    ],
)
def test_bad_input_exits_with_two(arguments, message):
    result = runner.invoke(app, ["circuit", *arguments])
    assert result.exit_code == 2
    assert message in result.output
