"""The pytest plugin of the ledger, run as users run it, on a copy of `theorems` with planted tests and faults."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lemmata.theorems.faults import FILE
from lemmata.theorems.judgement import FILE as JUDGED
from lemmata.theorems.ledger import THEOREMS, catalogue_ids, chapter_of
from lemmata.theorems.plugin import LedgerRun
from lemmata.theorems.records import FILE as RECORDS

HEADER = """
import os
import numpy
import pytest
from hypothesis import given, settings, strategies as st
from lemmata.constructions.turing.machine import parse_machine
from lemmata.theorems.evidence import check, counterexample

def library():
    return parse_machine("1RB1LB_1LA1RZ")
"""
SOUND = (
    HEADER
    + """
@check("turing:theorem-3.1", grade="symbolic", target="printed", cases="n = 1, 2, 3")
@pytest.mark.parametrize("n", [1, 2, 3])
@given(k=st.integers())
@check("turing:theorem-4.1", grade="numeric", target="corrected", cases="all that were drawn")
def test_holds(n, k):
    assert n and library()

@counterexample("turing:theorem-4.1", grade="exact")
@counterexample("turing:theorem-D.6", grade="enclosed")
def test_false():
    pass

class TestMore:
    @check("turing:theorem-3.1", grade="sampled", target="printed", supporting=True)
    def test_control(self, effort, record_property):
        record_property("ratio", numpy.float64(0.5))
        record_property("run", (1, numpy.arange(2), "a<b"))
        assert effort.pick(quick=1, full=2) == effort.pick(quick=1, full=2, deep=2)
        assert settings.default.max_examples == effort.pick(quick=30, full=300, deep=3000)
        assert settings.default.derandomize
"""
)
SOUND_VERDICTS = {"turing:theorem-3.1": "holds", "turing:theorem-4.1": "repaired", "turing:theorem-D.6": "refuted"}


@dataclass(frozen=True)
class Project:
    """A copy of the package `theorems` whose statements are all open, except those set by `verdicts`."""

    root: Path

    def verdicts(self, verdicts: Mapping[str, str], *, without: str = "") -> None:
        """Write the ledgers of all chapters; `without` is an id to leave out."""
        tables: dict[str, list[str]] = {}
        for name in catalogue_ids():
            verdict = verdicts.get(name, "open")
            extra = {"open": 'reason = "Not checked."', "repaired": 'erratum = "No."', "refuted": 'erratum = "No."'}
            if name != without:
                tables.setdefault(chapter_of(name), []).append(
                    f'[[statement]]\nid = "{name}"\nkind = "lemma"\ntitle = "Title"\nstatement = "Claim."\n'
                    f'where = "Lemma"\nverdict = "{verdict}"\n{extra.get(verdict, "")}\n'
                    + ("" if verdict in ("open", "context") else 'reach = "cases"\n')
                )
        for chapter, statements in tables.items():
            head = f'chapter = "{chapter}"\ntitle = "Title"\ndocument = "Document"\n'
            folder = self.root / "theorems" / chapter
            (folder / "ledger.toml").write_text(head + "\n".join(statements))
            for kept in (FILE, RECORDS, JUDGED):  # of the checks of the real ledger
                (folder / kept).unlink(missing_ok=True)
            flags = {"repaired": " false", "refuted": " false"}
            frozen = (name for name in catalogue_ids() if chapter_of(name) == chapter)
            (folder / "catalogue.txt").write_text(
                "".join(f"{name}{flags.get(verdicts.get(name, ''), '')}\n" for name in frozen)
            )

    def write(self, file: str, text: str) -> None:
        """Write a test file, relative to the root."""
        (self.root / file).parent.mkdir(exist_ok=True)
        (self.root / file).write_text(text, encoding="utf-8")

    def run(self, *arguments: str, also: Path | None = None) -> tuple[int, str]:
        """Run pytest and return its exit status and its output; ``also`` is a folder of further packages."""
        plugins = ("cacheprovider", "nbmake", "benchmark")
        return self.program("-m", "pytest", "-q", *(f"-pno:{plugin}" for plugin in plugins), *arguments, also=also)

    def program(self, *arguments: str, also: Path | None = None) -> tuple[int, str]:
        """Run Python with these arguments."""
        # Where one of these is set, pytest prints the errors whole in the closing summary too, hence twice.
        environment = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
        result = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={
                **environment,
                "PYTHONPATH": os.pathsep.join(map(str, [self.root, *([also] if also else []), THEOREMS.parent])),
                "PYTEST_ADDOPTS": "",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )
        return result.returncode, result.stdout

    def judged(self, file: str) -> dict[str, Any]:
        """Return the content of a ledger JSON file, without the times, which no two runs share."""
        data = json.loads((self.root / file).read_text(encoding="utf-8"))
        for chapter in data["chapters"]:
            for statement in chapter["statements"]:
                for check in statement["checks"]:
                    assert check.pop("seconds") >= 0
        return data


@pytest.fixture
def project(tmp_path: Path) -> Project:
    shutil.copytree(
        THEOREMS,
        tmp_path / "theorems",
        ignore=shutil.ignore_patterns("test_*.py", "__pycache__", "ledger.toml", "proofs"),
    )
    package = tmp_path / "lemmata"
    package.mkdir()
    for path in (THEOREMS.parent / "lemmata").iterdir():
        if path.name not in ("theorems", "__pycache__"):
            (package / path.name).symlink_to(path)
    (package / "theorems").symlink_to("../theorems")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    copy = Project(tmp_path)
    copy.verdicts(SOUND_VERDICTS)
    copy.write("theorems/turing/test_sound.py", SOUND)
    return copy


def test_a_drawn_fault_that_nothing_sees_and_a_step_without_a_check_fail_a_whole_chapter(project: Project) -> None:
    fault = {"file": "a.py", "line": 1, "operator": "o", "before": "x", "after": "y", "seen": "own"}
    faults = [fault | {"statement": name} for name in SOUND_VERDICTS for _ in range(6)]
    faults[0]["seen"] = "nothing"
    document = {"version": "", "seed": 1, "why": {}, "faults": faults}
    (project.root / "theorems" / "turing" / FILE).write_text(json.dumps(document))
    project.write("theorems/turing/proofs/a.md", "1. One.\n   Check: none\n2. Two.\n")
    status, output = project.run("theorems/turing")
    assert status == 1
    error, *of_proof = [line for line in output.splitlines() if line.startswith("LEDGER ERROR")]
    assert "turing/proofs/a.md: no test names step 2 (@proof_steps)" in of_proof[-1]
    assert f"{faults[0]['statement']}: a fault in a.py ('x' became 'y') is seen by no test" in error
    status, output = project.run("theorems/turing/test_sound.py")
    assert status == 0, output


def test_sound_run_writes_the_same_ledger_serially_and_in_parallel(project: Project) -> None:
    status, output = project.run("theorems", "--ledger-json=a.json")
    assert status == 0, output
    assert "ledger of the theorems, effort quick" in output
    assert "LEDGER ERROR" not in output
    assert max(map(len, output.splitlines())) <= 100
    rows = [line.split() for line in output.splitlines()]
    #       name all holds repaired refuted open context undecided failed | all proof cases scaled, then
    #       name all symbolic exact enclosed numeric sampled failed
    all_ = len(catalogue_ids())
    total = f"total {all_} 1 1 1 {all_ - 3} · · · · · 3 ·"
    for row in ("turing 45 1 1 1 42 · · · · · 3 ·", "turing 5 1 1 1 1 1 0", total):
        assert row.split() in rows

    data = project.judged("a.json")
    assert (data["format"], data["version"], data["effort"]) == ("lemmata/ledger", 2, "quick")
    assert data["partial"] == []
    assert data["commit"] is None  # the copy is no checkout
    assert data["date"][:2] == "20"
    statements = {one["id"]: one for chapter in data["chapters"] for one in chapter["statements"]}
    assert sorted(statements) == sorted(catalogue_ids())
    assert statements["turing:theorem-3.1"]["grade"] == "symbolic"
    assert statements["turing:theorem-4.1"]["grade"] == "numeric"
    first, control = statements["turing:theorem-3.1"]["checks"]
    assert first == {
        "test": "theorems/turing/test_sound.py::test_holds",
        "file": "theorems/turing/test_sound.py",
        "line": 1
        + SOUND.splitlines().index(
            '@check("turing:theorem-3.1", grade="symbolic", target="printed", cases="n = 1, 2, 3")'
        ),
        "grade": "symbolic",
        "target": "printed",
        "kind": "check",
        "supporting": False,
        "covers": "n = 1, 2, 3",
        "outcome": "passed",
        "cases": 3,
        "measured": [],
    }
    assert (control["test"], control["supporting"]) == ("theorems/turing/test_sound.py::TestMore::test_control", True)
    assert control["measured"] == [
        {"case": "", "name": "ratio", "value": 0.5},
        {"case": "", "name": "run", "value": [1, [0, 1], "a<b"]},
    ]

    status, output = project.run("theorems", "-n2", "--ledger-json=b.json")
    assert status == 0, output
    assert project.judged("b.json") == data


def test_one_chapter_at_higher_effort_still_lists_every_statement(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(project.root)
    status, output = project.run(str(link / "theorems" / "turing"), "--effort=full", "--ledger-json=a.json")
    assert status == 0, output
    assert "total" not in output
    data = project.judged("a.json")
    assert data["effort"] == "full"
    assert data["totals"]["statements"] == len(catalogue_ids())


def test_verdicts_without_passing_evidence_fail_the_run(project: Project) -> None:
    ids = [name for name in catalogue_ids() if name.startswith("qstr:")][:5]
    project.verdicts(
        {
            "turing:theorem-3.1": "repaired",  # checked as printed only
            "turing:theorem-4.1": "holds",  # but a counterexample passes
            "turing:theorem-D.6": "refuted",  # in order
            **dict(zip(ids, ("holds", "holds", "refuted", "holds", "holds"), strict=True)),
        }
    )
    skipped, xfailed, nothing, case, supporting = ids
    project.write(
        "theorems/qstr/test_weak.py",
        HEADER
        + f"""
@check("{skipped}", grade="exact", target="printed", cases="n = 1")
def test_skipped():
    pytest.skip("no time") and library()

@check("{xfailed}", grade="exact", target="printed", cases="n = 1")
@pytest.mark.xfail
def test_xfailed():
    assert not library()

@check("{case}", grade="exact", target="printed", cases="n = 0, 1")
@pytest.mark.parametrize("n", [0, 1])
def test_case(n):
    assert n and library()

@check("{supporting}", grade="exact", target="printed", supporting=True)
def test_supporting():
    pass
""",
    )
    status, output = project.run("theorems", "--ledger-json=a.json")
    assert status == 1
    errors = {line for line in output.splitlines() if line.startswith("LEDGER ERROR")}
    weak = "theorems/qstr/test_weak.py::"
    printed = "but no deciding check of the printed form passed"
    assert errors == {
        f"LEDGER ERROR {skipped} is marked holds, {printed} ({weak}test_skipped skipped).",
        f"LEDGER ERROR {skipped} is not decided here: {weak}test_skipped did not run, or was skipped.",
        f"LEDGER ERROR {xfailed} is marked holds, {printed} ({weak}test_xfailed xfailed).",
        f"LEDGER ERROR {case} is marked holds, {printed} ({weak}test_case failed).",
        f"LEDGER ERROR {supporting} is marked holds, {printed} ({weak}test_supporting is supporting only).",
        f"LEDGER ERROR {nothing} is marked refuted, but no deciding counterexample to the printed form passed "
        "(there is none).",
        "LEDGER ERROR turing:theorem-3.1 is marked repaired, but no deciding counterexample to the printed form "
        "passed (there is none).",
        "LEDGER ERROR turing:theorem-3.1 is marked repaired, but no deciding check of the corrected form passed "
        "(there is none).",
        f"LEDGER ERROR turing:theorem-4.1 is marked holds, {printed} (there is none).",
        "LEDGER ERROR turing:theorem-4.1 is marked holds, but theorems/turing/test_sound.py::test_false is a passing "
        "counterexample to it.",
    }
    failed = ", ".join(sorted((case, xfailed)))
    assert output.splitlines()[-1] == f"Statements with a deciding check that failed: {failed}."
    data = project.judged("a.json")
    assert data["totals"]["outcomes"]["skipped"] == 1
    judged = {one["id"]: (one["verdict"], one["claimed"]) for one in data["chapters"][5]["statements"]}
    assert judged[case] == judged[xfailed] == ("failed", "holds")
    assert judged[skipped] == ("undecided", "holds")
    assert judged[supporting] == ("holds", "holds")
    assert data["totals"]["verdicts"]["failed"] == 2


def test_reach_that_is_not_earned_fails_the_run_and_algebra_decides_nothing(project: Project) -> None:
    """With a known-false statement set to holds, and `assert 1 + 1 == 2` for evidence."""
    project.verdicts({**SOUND_VERDICTS, "turing:lemma-2.3": "holds"})
    project.write(
        "theorems/turing/test_algebra.py",
        HEADER
        + '@check("turing:lemma-2.3", grade="exact", target="printed")\n'
        + "def test_algebra():\n    assert 1 + 1 == 2\n",
    )
    status, output = project.run("theorems/turing")
    assert status == 1
    name = "theorems/turing/test_algebra.py::test_algebra"
    assert f"LEDGER ERROR turing:lemma-2.3 has the reach cases, but {name} does not say which" in output
    assert f"LEDGER ERROR turing:lemma-2.3 is decided by {name}, which runs no code of the library" in output
    catalogue = project.root / "theorems" / "turing" / "catalogue.txt"
    catalogue.write_text(catalogue.read_text().replace("turing:lemma-2.3\n", "turing:lemma-2.3 false\n"))
    status, output = project.run("theorems/turing")
    assert status == 4
    assert "turing:lemma-2.3 is false as printed says catalogue.txt, but its erratum has vanished." in output


def test_partial_runs_say_so_in_the_files(project: Project) -> None:
    status, output = project.run("theorems/turing/test_sound.py", "--ledger-json=a.json")
    assert status == 0, output
    assert len(project.judged("a.json")["partial"]) == 9


def test_a_chapter_of_another_package_is_found_and_judged(project: Project, tmp_path: Path) -> None:
    """A package outside this repository, installed by its entry point alone."""
    theirs = tmp_path / "site"
    information = theirs / "theirs-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[lemmata.chapters]\nknots = knots\n")
    folder = theirs / "knots"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "catalogue.txt").write_text("knots:theorem-1\nknots:theorem-2 false\n")
    entry = (
        '[[statement]]\nid = "knots:theorem-{0}"\nkind = "theorem"\ntitle = "T"\nstatement = "Claim."\nwhere = "T"\n'
    )
    (folder / "ledger.toml").write_text(
        'chapter = "knots"\ntitle = "Knots"\ndocument = "A paper"\n'
        + entry.format(1)
        + 'verdict = "holds"\nreach = "cases"\n'
        + entry.format(2)
        + 'verdict = "refuted"\nreach = "cases"\nerratum = "No."\n'
    )
    tests = '@check("knots:theorem-1", grade="exact", target="printed", cases="n = 1")\ndef test_a():\n    library()\n'
    tests += '@counterexample("knots:theorem-2", grade="exact")\ndef test_b():\n    pass\n'
    (folder / "test_knots.py").write_text(HEADER + tests)
    status, output = project.run("--pyargs", "knots", "--ledger-json=a.json", also=theirs)
    assert status == 0, output
    data = project.judged("a.json")
    chapter = data["chapters"][-1]
    assert (chapter["name"], [one["verdict"] for one in chapter["statements"]]) == ("knots", ["holds", "refuted"])
    assert chapter["statements"][0]["checks"][0]["file"] == "knots/test_knots.py"
    assert "knots" not in data["partial"]
    assert "turing" in data["partial"]
    (folder / "test_knots.py").write_text(HEADER + tests.replace("n = 1", "n = 1, 2") + "def test_c():\n    pass\n")
    status, output = project.run("--pyargs", "knots", also=theirs)
    assert status != 0
    assert "test_c carries no evidence: a test in knots says which statement it is about" in output


def test_missing_evidence_alone_fails_a_run_in_which_every_test_passes_or_none_exists(project: Project) -> None:
    project.verdicts({"turing:lemma-2.3": "holds"})
    status, output = project.run("theorems/turing")
    assert status == 1
    assert "5 passed" in output
    assert "LEDGER ERROR turing:lemma-2.3 is marked holds" in output
    (name, *_) = (one for one in catalogue_ids() if one.startswith("rnn-sgd:"))
    project.verdicts({name: "holds"})
    status, output = project.run("theorems/rnn_sgd")
    assert status == 1
    assert f"LEDGER ERROR {name} is marked holds" in output


@pytest.mark.parametrize(
    "selection",
    [
        ["theorems/turing", "-k", "false"],
        ["theorems/turing", "-k", "false", "-n1"],
        ["theorems/turing", "--ignore=theorems/turing/test_other.py"],
        ["theorems/turing/test_sound.py"],
        ["theorems/turing/test_sound.py::test_false"],
    ],
    ids=" ".join,
)
def test_partial_runs_do_not_miss_evidence(project: Project, selection: list[str]) -> None:
    project.verdicts({"turing:lemma-2.3": "holds", "turing:theorem-4.1": "repaired"})
    status, output = project.run(*selection)
    assert status == 0, output
    assert "Run in part, so that missing evidence is not looked for: turing." in output


def test_stopping_at_the_first_failure_reports_that_failure_alone(project: Project) -> None:
    project.write(
        "theorems/turing/test_first.py",
        HEADER + '@check("turing:lemma-2.3", grade="exact", target="printed")\ndef test_open():\n    assert False\n',
    )
    status, output = project.run("theorems/turing", "-x")
    assert status == 1
    assert "LEDGER ERROR" not in output
    assert "1 failed" in output


def test_misplaced_and_missing_evidence_is_a_collection_error(project: Project) -> None:
    plain = "\n@pytest.mark.parametrize('n', [1, 2])\ndef test_plain(n): pass\n"
    method = "\nclass TestX:\n    def test_in(self): pass\n"
    mark = '\n@check("{0}", grade="exact", target="printed")\n'
    twice = mark.format("turing:theorem-3.1") * 2 + "def test_twice(): pass\n"
    elsewhere = mark.format("turing:theorem-3.1") + "def test_elsewhere(): pass\n"
    raw = "\n@pytest.mark.evidence('turing:theorem-3.1')\ndef test_raw(): pass\n"
    unknown = mark.format("turing:theorem-3.7") + "def test_unknown(): pass\n"
    project.write("theorems/turing/test_a.py", HEADER + plain + twice + raw)
    project.write("theorems/qstr/test_b.py", HEADER + elsewhere)
    project.write("theorems/qstr/test_e.py", HEADER + method)
    project.write("tests/test_c.py", HEADER + elsewhere)
    project.write("theorems/turing/test_d.py", HEADER + unknown)
    project.write("a.json", "kept")
    status, output = project.run("--ledger-json=a.json", "theorems", "tests")
    assert status == 2
    for message in (
        "theorems/turing/test_a.py::test_plain carries no evidence: a test in theorems/turing says which",
        "theorems/qstr/test_e.py::TestX::test_in carries no evidence",
        "theorems/turing/test_a.py::test_twice is given twice as check of the printed form of turing:theorem-3.1.",
        "theorems/turing/test_a.py::test_raw: give evidence with the decorators check and counterexample",
        "theorems/qstr/test_b.py::test_elsewhere is evidence for turing:theorem-3.1 and belongs in theorems/turing.",
        "tests/test_c.py::test_elsewhere is evidence for turing:theorem-3.1 and belongs in theorems/turing.",
        "ValueError: There is no statement 'turing:theorem-3.7' in the catalogue; close ids are turing:theorem-3.1",
    ):
        assert message in output, message
    assert output.count("test_plain carries no evidence") == 1
    assert "a.json was not written, because the run did not finish." in output
    assert (project.root / "a.json").read_text() == "kept"


def test_malformed_ledger_stops_theorem_runs_before_they_start(project: Project) -> None:
    project.verdicts(SOUND_VERDICTS, without="turing:theorem-4.1")
    project.write("tests/test_c.py", "def test_c(): pass\n")
    status, output = project.run("theorems/turing/test_sound.py")
    assert status == 4
    assert "The statement turing:theorem-4.1 of catalogue.txt is missing from the ledgers." in output
    assert "passed" not in output
    status, output = project.run("tests")
    assert (status, "ledger of the theorems" in output) == (0, False)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--ledger-json=nowhere/a.json", "--ledger-json: the folder {0}/nowhere does not exist."),
        ("--ledger-json=theorems", "--ledger-json: {0}/theorems is a folder, and a file is wanted."),
    ],
)
def test_impossible_output_files_are_refused_before_the_run(project: Project, option: str, message: str) -> None:
    status, output = project.run("theorems", option)
    assert status == 4
    assert message.format(project.root.resolve()) in output
    assert "passed" not in output


@pytest.mark.parametrize("more", [[], ["-n1"]], ids=["serial", "parallel"])
def test_a_path_that_does_not_exist_is_refused_in_one_sentence(project: Project, more: list[str]) -> None:
    status, output = project.run("theorems", "theorems/turing/test_lost.py", *more)
    assert status == 4
    lost = project.root.resolve() / "theorems/turing/test_lost.py"
    assert output.strip() == f"ERROR: There is no file or folder {lost}."


@pytest.mark.parametrize(
    ("more", "says"),
    [([], "ERROR: not found: "), (["-n1"], "The workers refuse what pytest was given: without -n it says why.")],
    ids=["serial", "parallel"],
)
def test_a_test_that_does_not_exist_is_no_error_of_the_ledger(project: Project, more: list[str], says: str) -> None:
    status, output = project.run("theorems/qstr", "theorems/turing/test_sound.py::test_lost", *more)
    assert status == 4
    assert says in output
    assert "LEDGER ERROR" not in output
    assert "ledger of the theorems" not in output


def test_a_test_that_kills_its_worker_is_a_failed_check(project: Project) -> None:
    project.write(
        "theorems/turing/test_crash.py",
        HEADER
        + '@check("turing:proposition-2.2", grade="exact", target="printed", cases="n = 1")\n'
        + "def test_crash():\n    os._exit(3) or library()\n",
    )
    project.verdicts({**SOUND_VERDICTS, "turing:proposition-2.2": "holds"})
    status, output = project.run("theorems", "-n1")
    assert status == 1
    assert "(theorems/turing/test_crash.py::test_crash failed)" in output
    assert output.count("LEDGER ERROR") == 1


@pytest.mark.parametrize(("outcome", "noted"), [("passed", "xpassed"), ("skipped", "xfailed")])
def test_what_was_expected_to_fail_is_noted_by_what_it_did(outcome, noted):
    run = LedgerRun(config=None)  # type: ignore[arg-type]
    report = pytest.TestReport("a::b", ("a", 1, "b"), {}, outcome, None, "call")
    report.wasxfail = "known"  # type: ignore[attr-defined]
    run.pytest_runtest_logreport(report)
    assert run.outcomes == {"a::b": [noted]}


@pytest.mark.parametrize("text", ["def test_a(): pass\n", "1 / 0\n"], ids=["collected", "not collected"])
def test_the_garbage_collector_is_afterwards_as_it_was(project: Project, text: str) -> None:
    """Whoever runs pytest in a program of their own gets back its thresholds, and objects that can be collected."""
    project.write("tests/test_c.py", f"import gc\nassert not gc.isenabled()\n{text}")
    project.write(
        "program.py",
        "import gc, pytest\n"
        "gc.set_threshold(500, 7, 8)\n"
        "during = []\n"
        "class Look:\n"
        "    def pytest_unconfigure(self): during.append((gc.get_freeze_count() > 0, gc.get_threshold()))\n"
        "pytest.main(['--lemmata', '-pno:cacheprovider', 'tests/test_c.py'], plugins=[Look()])\n"
        "print('during', during[-1], 'after', gc.isenabled(), gc.get_threshold(), gc.get_freeze_count())\n",
    )
    _, output = project.program("program.py")
    assert "during (True, (20000, 7, 8)) after True (500, 7, 8) 0" in output
