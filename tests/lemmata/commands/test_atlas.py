"""`lemmata atlas`: what it shows and writes, and what it refuses."""

import hashlib
import json

import pytest

from lemmata.certificates.atlas import build
from lemmata.certificates.atlas.catalogue import works
from tests.lemmata.commands.runner import run


def test_the_sections_are_shown():
    code, output, error = run("atlas")
    assert (code, error) == (0, "")
    for word in ("groups", "sporadic", "operations", "tables", "unseen", "machines", "319", "lemmata check FILE"):
        assert word in output


def test_a_section_lists_its_rows():
    code, output, _ = run("atlas", "--section", "machines")
    assert code == 0
    assert "bb5, 47176870 steps" in output
    code, output, _ = run("atlas", "--section", "groups", "--json")
    rows = json.loads(output)
    assert len(rows) == 319
    assert {row["section"] for row in rows} == {"groups"}


def test_a_row_says_what_is_proved_and_how_it_is_checked():
    code, output, _ = run("atlas", "--row", "Q8")
    assert code == 0
    for words in ("SmallGroup(8,4)", "1/(33*sqrt(6))", "exact", "lemmata/group-margin", "emergence:theorem-D.9.2"):
        assert words in output
    assert "none: There is no format for margins of machines" in run("atlas", "--row", "turing-bb4-107")[1]
    assert "right, from the margin" in run("atlas", "--row", "op:add:5 without (0,0), at (0,0)")[1]


@pytest.mark.parametrize("name", ["Q8", "M11", "op:max:3", "012/120/201", "op:add:3 without (0,0), at (0,0)"])
def test_the_certificate_of_a_row_is_written_and_accepted(tmp_path, name):
    file = tmp_path / "row.json"
    code, output, _ = run("atlas", "--row", name, "--out", str(file), "--json")
    assert code == 0
    assert json.loads(output)["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    code, output, _ = run("check", str(file))
    assert (code, ": valid: " in output) == (0, True)
    file.write_bytes(file.read_bytes().replace(b'"lower":"', b'"lower":"9', 1))
    file.write_bytes(file.read_bytes().replace(b'"threshold":"0.0', b'"threshold":"0.9', 1))
    assert run("check", str(file))[0] in (1, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--row", "Q9"), "The atlas has no row 'Q9'"),
        (("--row", "turing-bb4-107", "--out", "FILE"), "has no document: There is no format"),
        (("--row", "Q8", "--section", "groups"), "leave out --section and --anew"),
        (("--row", "Q8", "--out", "-", "--json"), "leave out --json"),
        (("--section", "rings"), "There is no section 'rings'"),
        (("--section", "rings", "--out", "FILE"), "There is no section 'rings'"),
        (("--anew",), "name a folder with --out"),
    ],
)
def test_what_is_refused(tmp_path, arguments, words):
    given = [str(tmp_path / "file") if one == "FILE" else one for one in arguments]
    code, output, error = run("atlas", *given)
    assert (code, output) == (2, "")
    assert words in error
    assert not list(tmp_path.rglob("*.json"))


def test_a_folder_is_a_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    code, _, error = run("atlas", "--out", str(tmp_path / "file"))
    assert code == 2
    assert "is a file; name a folder" in error
    assert (tmp_path / "file").read_text() == "mine"


def test_a_section_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "works", lambda: [work for work in works() if work.key == "turing-counter-16"])
    code, output, _ = run("atlas", "--out", str(tmp_path), "--section", "machines", "--jobs", "1", "--json")
    assert code == 0
    totals = json.loads(output)
    assert (totals["rows"], totals["documents"], len(totals["without"])) == (1, 0, 1)
    table = json.loads((tmp_path / "atlas.json").read_text())
    assert table["origin"]["command"] == "lemmata atlas --out DIR --section machines"
    assert [path.name for path in tmp_path.glob("*.tar.xz")] == []


def test_totals_are_those_of_the_rows(tmp_path, monkeypatch):
    """Seconds are summed over rows with a document, and rounded after they are summed."""
    rows = [
        {"name": "a", "sha256": "1", "grade": "exact", "seconds": 1.24, "reason": None},
        {"name": "b", "sha256": "2", "grade": "enclosed", "seconds": 2.33, "reason": None},
        {"name": "c", "sha256": None, "grade": "exact", "seconds": 100.0, "reason": "no format"},
        {"name": "d", "sha256": "3", "grade": "exact", "seconds": None, "reason": None},
        {"name": "e", "sha256": "4", "grade": "exact", "seconds": 0.0, "reason": None},
    ]
    table = {"groups": rows[:2], "machines": rows[2:]}
    monkeypatch.setattr(build, "build_atlas", lambda *_, **__: (table, {}))
    monkeypatch.setattr(build, "write_atlas", lambda *_: None)
    code, output, _ = run("atlas", "--out", str(tmp_path), "--jobs", "1", "--json")
    assert code == 0
    assert json.loads(output) == {
        "rows": 5,
        "documents": 4,
        "kept": 0,
        "exact": 4,
        "without": {"c": "no format"},
        "seconds": 3.6,
        "atlas": str(tmp_path / "atlas.json"),
    }
    _, output, _ = run("atlas", "--out", str(tmp_path), "--jobs", "1")
    assert "5 rows, 4 with a document that its kernel has accepted now, 0 of them found and 4 computed" in output
    assert "4 are exact; all checks together took 3.6 s" in output
    assert "without a document: c: no format" in output
