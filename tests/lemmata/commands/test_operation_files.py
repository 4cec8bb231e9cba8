"""`lemmata check` and `lemmata explain` on certificates of operations, and of groups that are given by a table."""

import json

import pytest

from lemmata.certificates.operations.ternary_survey import cyclic_document
from lemmata.numerics.groups import names
from tests.certificates.given_character_tables import document_bytes
from tests.certificates.operation_documents import parity_document, unseen_bytes
from tests.lemmata.commands.runner import run


def test_certificates_of_operations_are_recognised(tmp_path):
    good, false = tmp_path / "good.json", tmp_path / "false.json"
    document = parity_document()
    good.write_text(json.dumps(document))
    document["network"]["masses"][0] = 2
    false.write_text(json.dumps(document))
    code, output, _ = run("check", str(good))
    assert code == 0
    assert 'valid: table of 2 rows, 2 columns and 2 labels called "addition mod 2"' in output
    code, output, _ = run("check", str(good), str(false))
    assert code == 1
    assert "invalid: network: at cell" in output


def test_a_margin_is_explained(tmp_path):
    file = tmp_path / "parity.json"
    document = parity_document()
    file.write_text(json.dumps(document))
    code, output, error = run("explain", str(file))
    assert (code, error) == (0, "")
    assert output.startswith("addition mod 2: 2 rows, 2 columns, 2 labels, 4 cells given")
    assert "maximum margin = 1/9*sqrt(6): at least 0.272165526975, at most 0.272165526976 (exact, proved" in output
    assert "at least: an explicit network of 2 neurons with integer weights has it" in output
    assert "at most: weights on 4 triples of a given cell and a wrong label, and a sum of squares (plane, a" in output
    assert "valid: table of 2 rows" in output
    document["proof"]["t"], document["proof"]["t_prime"] = "9/10", "9/20"
    file.write_text(json.dumps(document))
    code, output, _ = run("explain", str(file))
    assert code == 1
    assert output.startswith("invalid: proof.matrix[0][0]: is not that of tI + A")
    assert "maximum margin" not in output
    document["grade"] = 7
    file.write_text(json.dumps(document))
    code, output, error = run("explain", str(file))
    assert (code, output) == (2, "")
    assert f"error: {file} is no certificate: grade must be a string" in error.replace("\n", " ")


@pytest.mark.parametrize(
    ("verdict", "claim"),
    [
        ("right", "every network of that margin is right there"),
        ("wrong", "every network of that margin is wrong there"),
        ("both", "two networks of that margin differ: the first is right there, the second is wrong"),
    ],
)
def test_an_unseen_cell_is_explained(verdict, claim, tmp_path):
    file = tmp_path / "unseen.json"
    file.write_bytes(unseen_bytes(verdict))
    code, output, error = run("explain", str(file))
    assert (code, error) == (0, "")
    assert claim in output
    assert "which is not given and has the true label" in output
    assert (
        output.count("the difference of the outputs there is at least") == {"right": 2, "wrong": 1, "both": 0}[verdict]
    )
    assert ("the maximum margin is bounded by a sum of squares" in output) == (verdict == "both")


def test_a_group_that_is_given_by_a_table_is_explained_by_what_its_kernel_says(tmp_path):
    file = tmp_path / "given.json"
    file.write_bytes(document_bytes("S4"))
    code, output, error = run("explain", str(file))
    assert (code, error) == (0, "")
    assert output.startswith('valid: IF the table called "S4" is the character table of a group of order 24')


def test_gap_is_not_asked_about_operations(tmp_path, monkeypatch):
    monkeypatch.setattr(names, "gap_interpreter", lambda subject: None)  # as if it were there
    for document, what in ((parity_document(), "table of 2 rows"), (cyclic_document(2), "table of three arguments")):
        file = tmp_path / "parity.json"
        file.write_text(json.dumps(document))
        code, output, _ = run("check", "--with-gap", str(file))
        assert code == 2
        assert f"valid: {what}" in output
        assert "GAP was not asked: it has a second opinion on groups, and none on tables of operations" in output
