"""`lemmata certify` with tables of operations: what it prints, what it writes, and what it refuses."""

import json
import re
from fractions import Fraction
from math import sqrt

import pytest
from typer.testing import CliRunner

from lemmata.certificates.operations.certify import certify_operation
from lemmata.cli import app
from lemmata.commands import operations
from tests.lemmata.commands.runner import run

SMALL = "0,0\n0,1\n"  # one of the classes of 2 x 2 tables


@pytest.fixture
def small(tmp_path):
    file = tmp_path / "and.csv"
    file.write_text(SMALL)
    return file


def test_a_table_from_a_file_is_certified_and_checked(small, tmp_path):
    proof = tmp_path / "and.json"
    code, output, error = run("certify", f"table:{small}", "--out", str(proof))
    assert (code, error) == (0, "")
    assert "and.csv: 2 rows, 2 columns, 2 labels 2 symmetries, some of which swap rows and columns" in output
    assert "4 triples of a given cell and a wrong label, in 3 orbits" in output
    assert "valid: certificates/operation_kernel.py has checked every line, in" in output
    assert f"Certificate written to {proof}; check it with: lemmata check {proof}" in output
    document = json.loads(proof.read_text())
    for number in (document["margin"]["lower"], document["margin"]["upper"], document["gap"]):
        assert number in output
    assert document["proof"]["kind"] == "plane"
    code, output, _ = run("check", str(proof))
    assert code == 0
    assert 'valid: table of 2 rows, 2 columns and 2 labels called "and.csv"' in output
    document["margin"]["upper"] = document["margin"]["lower"]
    proof.write_text(json.dumps(document))
    assert run("check", str(proof))[0] == 1


def test_reports_fit_into_80_columns_without_colours(small):
    result = CliRunner().invoke(app, ["certify", f"table:{small}"])
    assert result.exit_code == 0
    assert max(len(line.rstrip()) for line in result.stdout.splitlines()) <= 80
    assert "\x1b" not in result.stdout


def test_json_of_a_part_of_a_table():
    result = CliRunner().invoke(app, ["certify", "op:max:3", "--cells", "without:(0,0)", "--json", "--digits", "9"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["table"] == {
        "name": "op:max:3 (8 of 9 cells)",
        "rows": 3,
        "columns": 3,
        "labels": 3,
        "given_cells": 8,
        "triples": 16,
    }
    assert found["symmetries"]["swap"] is True
    lower, upper = (Fraction(found["margin"][side]) for side in ("lower", "upper"))
    assert 0 < lower <= upper <= lower * (1 + Fraction(1, 10**6))
    assert len(found["margin"]["lower"].lstrip("0.")) == 9
    assert found["kernel"]["valid"] is True
    assert found["advice"] == []


def test_the_certificate_goes_to_the_standard_output(small):
    code, output, error = run("certify", f"table:{small}", "--out", "-")
    assert code == 0
    assert json.loads(output)["format"] == "lemmata/operation-margin"
    assert "and.csv" in error


def test_both_roads_agree_on_a_group():
    """The product of two residues modulo 3: sqrt(2/27)/(2 sqrt 3 sqrt 3) by the theorem on groups."""
    code, output, _ = run("certify", "Z3", "--json")
    assert code == 0
    exact = json.loads(output)["margin"]
    code, output, _ = run("certify", "Z3", "--degree", "plane", "--json")
    assert code == 0
    table = json.loads(output)["margin"]
    assert float(table["lower"]) <= float(exact["upper"])
    assert float(exact["lower"]) <= float(table["upper"]) <= float(exact["lower"]) * (1 + 1e-8)
    assert abs(float(exact["lower"]) - sqrt(2 / (27 * 3 * 2**2))) < 1e-15


@pytest.mark.parametrize("name", ["op:a-b:5", "op:2a+3b+1:5", "latin:5:reduced:15"])
def test_tables_of_groups_under_other_names_go_the_exact_road(name):
    code, output, error = run("certify", name, "--json")
    assert code == 0
    assert f"{name} is the table of a group of order 5 under some names of its rows, columns and labels" in error
    assert json.loads(output)["margin"]["exact"] == "1/(6*sqrt(30))"


def test_the_network_of_an_operation_is_written_and_measured(tmp_path):
    file = tmp_path / "n.npz"
    code, output, _ = run("certify", "op:max:3", "--network", str(file), "--json")
    assert code == 0
    bounds = json.loads(output)["margin"]
    code, output, _ = run("margin", str(file), "--operation", "op:max:3", "--json")
    assert code == 0
    found = json.loads(output)["margin"]
    assert float(bounds["lower"]) * (1 - 1e-9) < found < float(bounds["upper"])


def test_the_time_of_degree_6_is_an_option(monkeypatch):
    told = []

    def certified(table, **options):
        told.append(options["seconds"])
        options["progress"]("a proof")
        return certify_operation(table, kind="plane")

    monkeypatch.setattr(operations, "certify_operation", certified)
    assert run("certify", "op:max:3", "--seconds", "1.5")[0] == 0
    assert told == [1.5]
    assert run("certify", "op:max:3", "--seconds", "-1")[0] == 2
    assert "--seconds: for operations, not for groups" in run("certify", "Z3", "--seconds", "1")[2]


def test_a_cayley_table_in_a_file_is_a_group_as_before(tmp_path):
    file = tmp_path / "klein.csv"
    file.write_text("0,1,2,3\n1,0,3,2\n2,3,0,1\n3,2,1,0\n")
    code, output, error = run("certify", f"table:{file}", "--factors", "3")
    assert (code, error) == (0, "")
    assert "grade exact" in output
    names = tmp_path / "klein.json"
    names.write_text('[["c", "e"], ["e", "c"]]')
    code, output, error = run("certify", f"table:{names}")
    assert code == 0
    assert "group of order 2 under some names" in error
    assert "grade exact" in output


def test_advice_where_the_sides_do_not_meet(tmp_path):
    """Degree 4 is 3e-5 above the margin of this table; degree 6, which is taken by default, is not."""
    file = tmp_path / "gap.json"
    file.write_text("[[0, 0, 1], [0, 2, 3]]")
    code, output, _ = run("certify", f"table:{file}", "--degree", "4")
    assert code == 0
    gap = float(re.search(r"relative gap (\S+)", output)[1])
    assert 2.9e-5 < gap < 1e-3
    assert "gap above 1e-6: from four labels on degree 4 can be above the margin: take degree 6" in output
    assert "(--degree 6, --seconds N, --starts N, --seed N and --bits N turn these)" in output
    code, output, _ = run("certify", f"table:{file}")
    assert code == 0
    assert "sum of squares (degree 6)" in output
    assert "gap above" not in output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "It is empty"),
        ("0,1\n1\n", "line 2 has 1 entries and line 1 2"),
        ("0,0\n0,0\n", "at least two labels"),
        ("0\n", "at least two labels"),
        ("0,1.5\n1,0\n", "neither an integer nor a name"),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    file, proof = tmp_path / "t.csv", tmp_path / "proof.json"
    file.write_text(content)
    code, output, error = run("certify", f"table:{file}", "--out", str(proof))
    assert (code, output) == (2, "")
    assert message in error
    assert not proof.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("op:a+c:5",), "at character 3, 'c'"),
        (("op:max:3", "--cells", "without:(5,5)"), "no cell (5, 5)"),
        (("op:max:3", "--cells", "only:(0,0)"), "one given cell"),
        (("op:max:3", "--degree", "5"), "--degree accepts plane, 4, 6; got '5'"),
        (("op:mul:5", "--degree", "plane"), "at most three labels"),
        (("op:mul:40",), "a matrix of order 3280, whose floats take 0.08 GB and its program many times that"),
        (("op:mul:9", "--degree", "6"), "Degree 4 takes a smaller one"),
        (("op:mul:999",), "need 185.5 GB of memory"),
        (("op:max:3", "--factors", "3"), "has two factors, not 3"),
        (("op:a-b:5", "--factors", "3"), "has two factors, not 3"),
        (("op:max:3", "--network", "n.txt"), "name ends in .npz"),
        (("op:max:3", "--bits", "100"), "16 to 52 bits"),
        (("op:max:3", "--out", "-", "--json"), "leave out --json"),
        (("ctbl:M", "--cells", "without:(0,0)"), "not for character tables"),
        (("ctbl:M", "--bits", "20"), "--bits: for operations, not for character tables"),
        (("S3", "--seed", "0", "--starts", "4"), "--seed and --starts: for operations, not for groups"),
        (("table:none.csv",), "'none.csv' cannot be read"),
        (("latin:4:reduced:9",), "There are 4 reduced Latin squares"),
    ],
)
def test_input_that_is_refused(arguments, message):
    code, output, error = run("certify", *arguments)
    assert (code, output) == (2, "")
    assert message in error
    assert error.count("error:") == 1


def test_solvers_that_fail_are_an_error_and_nothing_is_written(monkeypatch, tmp_path, small):
    def fails(*_, **__):
        raise operations.OperationProgramError("No solver gave a bound; tried: interior.")

    monkeypatch.setattr(operations, "certify_operation", fails)
    proof = tmp_path / "proof.json"
    code, output, error = run("certify", f"table:{small}", "--out", str(proof))
    assert (code, output) == (2, "")
    assert "No solver gave a bound; tried: interior. On the command line --degree sets the degree." in error
    assert not proof.exists()


def test_a_formula_between_colons_is_no_picture():
    code, output, _ = run("certify", "op:a:2")
    assert code == 0
    assert output.startswith("op:a:2: 2 rows, 2 columns, 2 labels")
