"""Faults over all rooms: what may be drawn, which tests meet one, what is counted, and the committed fates."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.mutants import everywhere
from tests.mutants.everywhere import CRITERION, FATES, FEW, FINGERPRINTS, Judge, drawn, files_met, files_to_change
from tests.mutants.extras import needs_operators
from tests.mutants.results import load
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
    found = files_met("constructions/sparse/compiler.py", ROOT, FEW)
    assert len(found) == FEW
    assert found[0] == "tests/constructions/sparse/test_compiler.py"
    assert all(one.startswith("theorems/variable_creation/") for one in found[1:])
    assert everywhere.RESULTS in files_met("theorems/qstr/experiments/samples.py", ROOT, FEW)


class Stub:
    """A worker whose tests fail as it is told; ``always`` are those that fail without a fault as well."""

    def __init__(self, tree: Path, failing: list[str], always: set[str]) -> None:
        self.tree, self.failing, self.always = tree, failing, always

    def run(self, request: Any) -> dict[str, Any]:
        if request.stop:
            failed = [one for one in self.failing if one not in request.without][:1]
        else:
            failed = [one for one in request.files if one in self.always]
        return {"failed": failed, "status": int(bool(failed)), "reason": "why", "late": False}


@pytest.mark.parametrize(
    ("failing", "always", "status", "by"),
    [
        ([], set(), "survived", ""),
        (["a"], set(), "killed", "a"),
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
    fate = judge.fate(mutant, FEW)
    assert (fate["status"], fate["by"]) == (status, by)
    assert (tmp_path / "a.py").read_text() == "x = 1\n"


@needs_operators
def test_a_seed_draws_the_same_faults_again() -> None:
    found = drawn("1", 2, ROOT)
    assert found == drawn("1", 2, ROOT)
    assert found != drawn("2", 2, ROOT)
    assert all(isinstance(one, Mutant) and one.before != one.after for one in found)


def test_every_committed_fate_is_told_to_its_end() -> None:
    """The faults are the first ones of the draw; one that was not seen is seen now, or has a sentence."""
    fates = load(FATES)
    assert fates["criterion"] == CRITERION
    assert 0 < len(fates["mutants"]) <= fates["drawn"]
    for one in fates["mutants"]:
        assert one["first"]["status"] in ("killed", "timeout", "survived")
        told = [name for name in ("later", "equivalent", "open") if one.get(name)]
        assert len(told) == (one["first"]["status"] != "killed"), one
        assert one.get("later", {"status": "killed"})["status"] == "killed"
