"""`lemmata certify` on character tables, and `lemmata check` on both kinds of certificates."""

import json
from pathlib import Path

import pytest

import lemmata as lm
from lemmata.certificates import character_table_kernel
from lemmata.certificates.groups import character_table_certificate
from lemmata.numerics.groups.names import gap_available
from tests.certificates.given_character_tables import FILES, document_bytes
from tests.lemmata.commands.runner import run

TABLE = str(FILES / "S4.json")


def test_a_table_is_certified_under_its_condition():
    code, output, error = run("certify", "--characters", TABLE)
    assert (code, error) == (0, "")
    assert "S4: the product (a, b) -> ab, by a character table alone" in output
    assert (
        'IF the table called "S4" is the character table of a group of order 24 (class sizes and power maps)' in output
    )
    assert "maximum margin 1/(72 + 9*sqrt(2) + 162*sqrt(6))" in output
    assert "3a 3 3 real 1/8" in output
    assert "character_table_kernel.py has checked every line" in output
    by_elements = run("certify", "S4")[1]
    assert "maximum margin 1/(72 + 9*sqrt(2) + 162*sqrt(6))" in by_elements


def test_complex_characters_are_listed_by_orbits():
    code, output, _ = run("certify", "--characters", str(FILES / "C7_C3.json"), "--factors", "3")
    assert code == 0
    assert "3a and 3b 3 6 complex" in output
    assert "(a_1, .., a_3) -> a_1 ... a_3" in output


def test_files_of_both_kinds_are_checked(tmp_path):
    given, group = tmp_path / "given.json", tmp_path / "group.json"
    assert run("certify", "--characters", TABLE, "--out", str(given))[0] == 0
    assert run("certify", "S3", "--out", str(group))[0] == 0
    code, output, _ = run("check", str(given), str(group), str(given))
    assert code == 0
    assert output.count('valid: IF the table called "S4"') == 2
    assert 'valid: group of order 6 called "S3"' in output
    forged = json.loads(given.read_text())
    forged["table"]["class_sizes"][1] += 1
    given.write_text(json.dumps(forged))
    code, output, _ = run("check", str(group), str(given))
    assert code == 1
    assert "invalid: table.class_sizes: add up to 25, not to the order 24" in output
    given.write_text('"lemmata/table-margin"')
    assert run("check", str(given), str(group))[0] == 2


def test_json_and_standard_output(tmp_path):
    code, output, _ = run("certify", "--characters", TABLE, "--json")
    found = json.loads(output)
    assert code == 0
    assert found["table"] == {"name": "S4", "order": "24", "classes": 5}
    assert found["margin"]["exact"] == "1/(72 + 9*sqrt(2) + 162*sqrt(6))"
    assert sum(entry["share"] for entry in found["irreps"]) == pytest.approx(1)
    assert sum(entry["share"] for entry in found["classes"]) == pytest.approx(1)
    code, output, error = run("certify", "--characters", TABLE, "--out", "-")
    assert code == 0
    assert output.encode() + b"\n" == document_bytes("S4")
    assert "maximum margin" in error


REFUSALS = [
    (("certify",), "There is nothing to certify"),
    (("certify", "--table", TABLE), f"--table is called --characters now: --characters {TABLE}"),
    (("certify", "--characters", "op:max:3"), "op:max:3 is an operation, not a character table"),
    (("certify", "--characters", "S3"), "S3 is a group, not a character table"),
    (("certify", "--characters", "Monster"), "its character table, without its elements: ctbl:M"),
    (("certify", "S3", "--characters", TABLE), "Give a group or --characters, not both"),
    (("certify", "--characters", TABLE, "--network", "x.npz"), "A character table alone gives no network"),
    (("certify", "--characters", "nothing.json"), "nothing.json: No such file or directory"),
    (("certify", "--characters", TABLE, "--factors", "1"), "should be greater than or equal to 2"),
    (("certify", "--characters", TABLE, "--factors", "65"), "should be less than or equal to 64"),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSALS)
def test_bad_input_is_refused_with_exit_code_2(arguments, sentence):
    code, output, error = run(*arguments)
    assert (code, output) == (2, "")
    assert sentence in error


def test_nothing_is_written_for_what_is_no_table(tmp_path):
    file = json.loads((FILES / "S4.json").read_text())
    file["characters"][3][3] = 3
    wrong, target = tmp_path / "wrong.json", tmp_path / "certificate.json"
    wrong.write_text(json.dumps(file))
    code, output, error = run("certify", "--characters", str(wrong), "--out", str(target))
    assert (code, output) == (2, "")
    assert "is not the character table of a group: table.characters: rows" in error
    assert not target.exists()
    file["characters"][3][3] = 0.5
    wrong.write_text(json.dumps(file))
    assert "0.5 is not an integer" in run("certify", "--characters", str(wrong), "--out", str(target))[2]
    assert not target.exists()


def test_what_the_kernel_refuses_is_not_claimed(monkeypatch, tmp_path):
    plain = character_table_certificate.CharacterTableMarginCertificate.enclosure
    monkeypatch.setattr(
        character_table_certificate.CharacterTableMarginCertificate,
        "enclosure",
        lambda self, digits=30: plain(self, digits)[:1] * 2,
    )
    target = tmp_path / "certificate.json"
    code, output, error = run("certify", "--characters", TABLE, "--out", str(target))
    assert (code, output) == (2, "")
    assert "The kernel refuses the certificate that was found, and nothing is claimed: margin.upper" in error
    assert not target.exists()


def test_a_table_has_no_second_opinion_by_gap(tmp_path, monkeypatch):
    given = tmp_path / "given.json"
    given.write_bytes(document_bytes("S4"))
    monkeypatch.setattr("lemmata.numerics.groups.names.gap_interpreter", lambda purpose="": None)
    code, output, _ = run("check", "--with-gap", str(given))
    assert code == 2
    assert "GAP was not asked: a table alone gives it no group" in output


def test_the_python_interface(tmp_path):
    certificate = lm.certify_character_table(TABLE, factors=3)
    assert certificate.factors == 3
    assert lm.check(certificate)
    assert lm.check(certificate).reason.startswith('IF the table called "S4"')
    lm.save(certificate, tmp_path / "given.json")
    assert lm.check(tmp_path / "given.json")
    document = lm.document_of(certificate, digits=5)
    assert lm.check(document)
    document["factors"] = 2
    assert lm.check(document).status == "invalid"
    assert character_table_kernel.check((tmp_path / "given.json").read_bytes())


@pytest.mark.skipif(gap_available(), reason="the extra gap is installed")
def test_the_library_of_tables_needs_gap():
    code, output, error = run("certify", "ctbl:M")
    assert (code, output) == (2, "")
    assert "Tables of the character table library need GAP, which is an optional extra: pip install" in error
    code, output, error = run("characters", "--out", "nowhere")
    assert (code, output) == (2, "")
    assert "Tables of the character table library need GAP" in error
    assert not Path("nowhere").exists()


@pytest.mark.skipif(not gap_available(), reason="the extra gap is not installed")
def test_tables_of_the_library(tmp_path):
    code, output, _ = run("certify", "ctbl:M11")
    assert code == 0
    assert "1/(239580*sqrt(15) + 396000*sqrt(33) + 495000*sqrt(66))" in output
    assert "no table called 'M25'. Close to it are" in run("certify", "ctbl:M25")[2]
    names = ("--name", "M11", "--name", "Alt(2)", "--name", "Symmetric(6)")
    code, output, _ = run("characters", "--out", str(tmp_path), "--jobs", "1", *names)
    assert code == 0
    assert "refused: Alt(2): " in output
    assert "2 of 3 tables certified, each on the condition that it is the character table of a group" in output
    written = json.loads((tmp_path / "tables.json").read_text())
    assert [entry["name"] for entry in written["entries"]] == ["Alt(2)", "Symmetric(6)", "M11"]
    committed = {entry["name"]: entry for entry in lm.groups.committed_survey()["entries"]}
    assert all(committed[entry["name"]] == entry for entry in written["entries"])
