"""Faults over all rooms: what may be drawn, which tests meet one, what is counted, and the committed fates."""

import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lemmata.site.mutants import everywhere_text
from tests.mutants import everywhere, server
from tests.mutants.everywhere import (
    CRITERION,
    DRAWS,
    ENOUGH,
    FEW,
    FINGERPRINTS,
    MANY,
    Judge,
    drawn,
    files_met,
    files_to_change,
    write_draw,
)
from tests.mutants.extras import needs_operators
from tests.mutants.results import as_text, load
from tests.mutants.sample import Mutant
from tests.mutants.workers import ROOT


def test_every_room_can_be_drawn_and_no_test() -> None:
    files = files_to_change(ROOT)
    for one in (
        "lemmata/site/picture.py",
        "lemmata/commands/atlas.py",
        "certificates/coq/factors.py",
        "theorems/rnn_sgd/experiments/training.py",
        "theorems/plugin.py",
        "numerics/runs/manifest.py",
    ):
        assert one in files
    assert not [one for one in files if Path(one).name.startswith("test_") or one.startswith("tests/")]


def test_the_mirror_of_a_module_comes_first_and_deciding_checks_next() -> None:
    found = files_met("constructions/sparse/compiler.py", ROOT)
    assert FEW <= len(found) <= MANY
    assert found[0] == "tests/constructions/sparse/test_compiler.py"
    assert [one.startswith("theorems/") for one in found[1:7]] == [True] * 5 + [False]
    assert len(files_met("numerics/groups/tables.py", ROOT)) == MANY
    assert everywhere.RESULTS in files_met("theorems/qstr/experiments/samples.py", ROOT)


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("lemmata/commands/experiment.py", "tests/theorems/test_experiments.py"),  # loaded by its name
        ("lemmata/site/entries.py", "tests/lemmata/site/test_site.py"),
        ("lemmata/reports/atlas.py", "tests/lemmata/commands/test_atlas.py"),
    ],
)
def test_what_a_command_loads_meets_the_tests_that_name_it(file: str, test: str) -> None:
    assert test in files_met(file, ROOT)


def test_a_run_that_waits_for_ever_is_given_up_and_one_that_computes_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE", 1.0)
    ended = []
    compute = "while __import__('time').process_time() < 2: pass"
    apart = f"import os, time\nif os.fork(): os.wait()\nelse:\n    os.setpgid(0, 0)\n    {compute}"
    for code in ("import time; time.sleep(60)", compute, apart):
        child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        ended.append(server.finished(child.pid, time.monotonic() + 60))
    assert ended == [False, True, True]


class Stub:
    """A worker whose tests fail as it is told; ``always`` are those that fail without a fault as well."""

    def __init__(self, tree: Path, failing: list[str], always: set[str], seconds: float = 1.0) -> None:
        self.tree, self.failing, self.always, self.seconds, self.met = tree, failing, always, seconds, list[int]()

    def run(self, request: Any) -> dict[str, Any]:
        if request.stop:
            self.met.append(len(request.files))
            failed = [one for one in self.failing if one not in request.without][:1]
        else:
            failed = [one for one in request.files if one in self.always]
        return {
            "failed": failed,
            "status": int(bool(failed)),
            "reason": "why",
            "late": False,
            "processor": self.seconds,
        }


@pytest.mark.parametrize(
    ("failing", "always", "status", "by"),
    [
        ([], set(), "survived", ""),
        (["a"], set(), "killed", "a"),
        (["(the interpreter)"], {"(the interpreter)"}, "killed", "(the interpreter)"),
        (["a", "b"], {"a"}, "killed", "b"),
        (["a"], {"a"}, "survived", ""),
        ([FINGERPRINTS], set(), "survived", ""),
    ],
)
def test_a_test_that_fails_anyway_sees_nothing(
    failing: list[str], always: set[str], status: str, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(everywhere, "files_met", lambda *_: ["test_a.py"])
    monkeypatch.setattr("tests.mutants.trial.compiled", lambda *_: [])
    mutant: Any = SimpleNamespace(file="a.py", code="x = 2\n")
    judge = Judge(Stub(tmp_path, failing, always))  # type: ignore[arg-type]
    fate = judge.fate(mutant)
    assert (fate["status"], fate["by"]) == (status, by)
    assert (tmp_path / "a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize(("seconds", "met"), [(1.0, [1, 2, 4]), (ENOUGH, [1, 2]), (ENOUGH + 1, [1])])
def test_a_fault_meets_all_its_files_unless_the_processor_is_spent(
    seconds: float, met: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(everywhere, "files_met", lambda *_: [f"test_{one}.py" for one in range(7)])
    monkeypatch.setattr("tests.mutants.trial.compiled", lambda *_: [])
    stub = Stub(tmp_path, [], set(), seconds)
    mutant: Any = SimpleNamespace(file="a.py", code="x = 2\n")
    fate = Judge(stub).fate(mutant)  # type: ignore[arg-type]
    assert stub.met == met
    assert fate == {"status": "survived", "by": "", "files": sum(met), "processor": round(seconds) * len(met)}


def test_what_is_said_of_a_fault_stays_when_the_draw_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "draw.json"
    first = {"file": "a.py", "first": {"status": "survived"}}
    path.write_text(as_text({"seed": "s", "drawn": 2, "criterion": 1, "mutants": [first | {"open": "why"}]}))
    write_draw(path, "s", 2, [first, {"file": "b.py", "first": {"status": "killed"}}])
    assert [one.get("open") for one in load(path)["mutants"]] == ["why", None]


@needs_operators
def test_a_seed_draws_the_same_faults_again() -> None:
    found = list(islice(drawn("1", ROOT), 2))
    assert found == list(islice(drawn("1", ROOT), 2))
    assert found != list(islice(drawn("2", ROOT), 2))
    assert all(isinstance(one, Mutant) and one.before != one.after for one in found)


def test_the_site_says_what_was_seen_and_what_became_of_the_others() -> None:
    told = [
        {"first": {"status": "killed"}},
        {"first": {"status": "timeout"}, "open": "no limit"},
        {"first": {"status": "survived"}, "later": {"status": "killed", "by": "test_a.py::test_b"}},
    ]
    place = {"file": "a.py", "line": 7, "before": "x = 1", "after": "x = 2"}
    mutants = [place | one for one in told]
    draw = {"seed": "0123456789abcdef", "drawn": 9, "criterion": 0.93, "met": "two files", "mutants": mutants}
    shown = everywhere_text([draw])
    assert "Seed `0123456789ab`, 3 of 9 faults run" in shown
    assert "1 were seen, 33 % [0, 91], where 93 % were asked for beforehand; 1 ran out of time and 1 survived" in shown
    assert "- `a.py`, line 7: out of time; open: no limit\n" in shown
    assert "- `a.py`, line 7: survived; seen today by `test_a.py::test_b`\n" in shown
    assert shown.count("- x = 1") == 2


@pytest.mark.parametrize("path", sorted(DRAWS.glob("*.json")), ids=lambda path: path.stem)
def test_every_committed_fate_is_told_to_its_end(path: Path) -> None:
    """The faults are the first ones of the draw; one that was not seen is seen now, or has a sentence."""
    draw = load(path)
    assert draw["criterion"] == CRITERION
    assert draw["seed"].startswith(path.stem)
    assert draw["met"]
    assert 0 < len(draw["mutants"]) <= draw["drawn"]
    for one in draw["mutants"]:
        assert one["first"]["status"] in ("killed", "timeout", "survived")
        told = [name for name in ("later", "equivalent", "gone", "open") if one.get(name)]
        assert len(told) == (one["first"]["status"] != "killed"), one
        assert one.get("later", {"status": "killed"})["status"] == "killed"
