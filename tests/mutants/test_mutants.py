"""The mutation score: what may be mutated, how mutants are planted and put back, what is chosen, what is counted."""

import contextlib
import random
import subprocess

import pytest
from scipy import stats

from lemmata.site.mutants import mutants_table, rows, survivors_list
from tests.mutants.__main__ import main
from tests.mutants.choice import Record, chosen, compiled
from tests.mutants.extras import needs_coverage, needs_operators
from tests.mutants.reach import version_of
from tests.mutants.results import as_text, load, may_be_killed
from tests.mutants.sample import ROOMS, Place, files_of, mutants_at, places_of, replanted, sample
from tests.mutants.trial import planted, trial
from tests.mutants.workers import ROOT, Request, Worker, copy_of_the_tree, files_of_the_tree

MODULE = '''"""A module."""
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import name as a_type


@cache
def twice(x: int | None = 3) -> int | None:
    y: int | float = x + x
    if x == 0 and y > -1:
        return 0
    return y


def unused(x):
    return x - 1
'''
TESTS = """from lemmata.numerics.small import twice


def test_four():
    assert twice(2) == 4


def test_nothing():
    assert True
"""


@pytest.fixture
def tree(tmp_path):
    for name, text in {"numerics/__init__.py": "", "numerics/small.py": MODULE, "tests/test_small.py": TESTS}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("constructions", "certificates", "theorems", "lemmata"):
        (tmp_path / name).mkdir()
    (tmp_path / "lemmata" / "__init__.py").touch()
    (tmp_path / "lemmata" / "numerics").symlink_to("../numerics")
    return tmp_path


def planned(old, new):
    line = next(place for place, text in enumerate(MODULE.split("\n"), 1) if old in text)
    entry = {"room": "r", "file": "numerics/small.py", "line": line, "column": 0, "operator": "o"}
    return entry | {"before": old, "after": new}


@needs_operators
def test_annotations_caches_and_imports_for_types_are_no_places(tree):
    shown = [(place.line, place.family) for place in places_of("numerics/small.py", tree)]
    assert set(shown) == {
        (10, "NumberReplacer"),
        (11, "ReplaceBinaryOperator"),
        (12, "AddNot"),
        (12, "ReplaceComparisonOperator"),
        (12, "ReplaceAndWithOr"),
        (12, "ReplaceUnaryOperator"),
        (12, "NumberReplacer"),
        (13, "NumberReplacer"),
        (18, "ReplaceBinaryOperator"),
        (18, "NumberReplacer"),
        *((line, family) for line in (11, 18) for family in ("DropTerm", "TimesFactor")),
    }
    assert shown.count((12, "ReplaceComparisonOperator")) == 2


@needs_operators
def test_mutants_of_a_place_are_all_other_operators(tree):
    place = Place("numerics/small.py", 11, 23, "ReplaceBinaryOperator")
    assert place in places_of("numerics/small.py", tree)
    found = list(mutants_at("r", place, tree, random.Random(0)))
    assert {one.after for one in found} == {
        f"y: int | float = x {sign} x" for sign in ("-", "*", "/", "//", "%", "**", ">>", "<<", "|", "&", "^")
    }
    for one in found:
        assert one.code == MODULE.replace("x + x", one.after.removeprefix("y: int | float = "))
        assert one.before == "y: int | float = x + x"
        assert one.statement == (11, 11)
        assert not one.at_import


@needs_operators
def test_equality_never_becomes_identity(tree):
    place = next(one for one in places_of("numerics/small.py", tree) if one.family == "ReplaceComparisonOperator")
    found = [one.after for one in mutants_at("r", place, tree, random.Random(0))]
    assert len(found) == 5
    assert not any(" is " in text for text in found)


@needs_operators
def test_a_draw_is_the_same_for_the_same_seed_and_of_different_places(tree, monkeypatch):
    monkeypatch.setitem(ROOMS, "small", ("numerics/small.py",))
    (one, places), (two, _), (other, _) = (sample("small", 5, seed, tree) for seed in (1, 1, 2))
    assert one == two != other
    assert places == len(places_of("numerics/small.py", tree))
    assert len({(mutant.line, mutant.column, mutant.operator.split("_")[0]) for mutant in one}) == 5
    assert len(sample("small", 99, 1, tree)[0]) == places
    for mutant in one:
        compile(mutant.code, mutant.file, "exec")
        assert replanted(vars(mutant), tree).code == mutant.code


def test_every_module_is_in_one_room():
    listed = [name for room in ROOMS for name in files_of(room, ROOT)]
    assert len(listed) == len(set(listed))
    library = {
        name
        for name in files_of_the_tree()
        if name.endswith(".py")
        and name.startswith(("numerics/", "constructions/", "certificates/", "lemmata/"))
        and not name.startswith(("lemmata/site/", "lemmata/scaffold/template/"))
        and name.count("/") + (name.startswith("lemmata/") or "descent" in name or "kernel" in name) > 1
    }
    assert library <= set(listed)


def test_a_planted_file_is_put_back_with_its_time_and_machine_code(tree):
    """Numba keeps machine code by the text of one file, though it may hold functions of others."""
    folder = tree / "numerics"
    (folder / "fast.py").write_text("import numba\nfrom lemmata.numerics.small import twice\n")
    (folder / "slow.py").write_text("from lemmata.numerics.small import twice\n")
    assert compiled("numerics/small.py", tree) == ["numerics/small.py", "numerics/fast.py"]
    kept = {folder / "__pycache__" / f"{name}.py311.nbi": name.encode() for name in ("fast.run-3", "slow.run-3")}
    (folder / "__pycache__").mkdir(exist_ok=True)
    for path, content in kept.items():
        path.write_bytes(content)
    mutant = replanted(planned("x - 1", "x + 1"), tree)
    before = (folder / "small.py").stat().st_mtime_ns
    fast, slow = kept
    with contextlib.suppress(KeyboardInterrupt), planted(tree, mutant):
        assert (folder / "small.py").read_text() == MODULE.replace("x - 1", "x + 1")
        assert (folder / "small.py").stat().st_mtime_ns != before
        assert (fast.exists(), slow.exists()) == (False, True)
        fast.write_bytes(b"of the mutant")
        fast.with_suffix(".1.nbc").write_bytes(b"of the mutant")
        raise KeyboardInterrupt
    assert (folder / "small.py").read_text() == MODULE
    assert (folder / "small.py").stat().st_mtime_ns == before
    assert {path: path.read_bytes() for path in kept} == kept
    assert not fast.with_suffix(".1.nbc").exists()


def test_lines_that_are_gone_are_not_planted(tree):
    with pytest.raises(ValueError, match=r"no longer holds 'x - 7'; draw a new sample"):
        replanted(planned("x - 1", "x + 1") | {"before": "x - 7"}, tree)


def record(name, seconds, lines, failed=(), overhead=1.0):
    seconds = {f"{name}::{test}": cost for test, cost in seconds.items()}
    lines = {"numerics/small.py": {f"{name}::{test}": numbers for test, numbers in lines.items()}}
    return Record(name, seconds, frozenset(f"{name}::{test}" for test in failed), overhead, lines)


def test_the_choice_takes_what_executes_the_statement_and_the_cheapest_first(tree):
    known = [
        record("tests/test_dear.py", {"a": 6.0}, {"a": [11]}),
        record("tests/test_small.py", {"b": 3.0, "c": 1.0, "d": 0.5, "e": 0.1}, {"b": [11], "c": [11]}, failed=["e"]),
        record("tests/test_other.py", {"f": 0.1}, {"f": [18]}),
    ]
    mutant = replanted(planned("x + x", "x - x"), tree)
    plan = chosen(mutant, known, tree)
    assert plan.tests == [
        "tests/test_small.py::c",
        "tests/test_small.py::b",
        "tests/test_dear.py::a",
        "tests/test_small.py::d",
    ]
    assert plan.executed
    assert plan.seconds == pytest.approx(12.5)
    assert chosen(mutant, known, tree, budget=6.0).files == ("tests/test_small.py",)
    dear = record("tests/numerics/test_small.py", {"a": 50.0, "b": 20.0, "c": 30.0}, {"a": [11]})
    plan = chosen(mutant, [*known, dear], tree)
    assert plan.files == ("tests/numerics/test_small.py", "tests/test_small.py", "tests/test_dear.py")
    assert [name for name in plan.tests if name.startswith("tests/numerics")] == ["tests/numerics/test_small.py::a"]


def test_what_runs_at_import_is_met_by_all_that_import_it(tree):
    known = [record("tests/test_small.py", {"a": 1.0}, {}), record("tests/test_reload.py", {"b": 1.0}, {"b": [2]})]
    (tree / "tests" / "test_reload.py").write_text("import lemmata.numerics.small\n")
    mutant = replanted(planned("from functools", "from nowhere"), tree)
    assert mutant.at_import
    plan = chosen(mutant, known, tree)
    assert set(plan.files) == {"tests/test_reload.py", "tests/test_small.py"}
    assert not plan.executed


def test_what_mirrors_a_module_is_always_met(tree):
    known = [
        record("tests/test_other.py", {"a": 1.0}, {"a": [11]}),
        record("tests/numerics/test_small.py", {"b": 1.0}, {}),
        record("tests/numerics/test_large.py", {"c": 1.0}, {}),
    ]
    plan = chosen(replanted(planned("x + x", "x - x"), tree), known, tree)
    assert plan.files == ("tests/numerics/test_small.py", "tests/test_other.py")
    assert plan.tests == ["tests/test_other.py::a", "tests/numerics/test_small.py::b"]


def test_what_nothing_imports_is_met_by_the_tests_of_its_room(tree):
    known = [record("tests/numerics/test_large.py", {"a": 1.0}, {}), record("tests/lemmata/test_x.py", {"b": 1.0}, {})]
    plan = chosen(replanted(planned("x - 1", "x + 1"), tree), known, tree)
    assert plan.files == ("tests/numerics/test_large.py",)


def test_what_no_tracer_sees_is_met_by_the_tests_that_import_it(tree):
    known = [record("tests/test_small.py", {"a": 1.0}, {}), record("tests/test_other.py", {"b": 1.0}, {})]
    (tree / "tests" / "test_other.py").write_text("import os\n")
    plan = chosen(replanted(planned("x - 1", "x + 1"), tree), known, tree)
    assert plan.files == ("tests/test_small.py",)
    assert not plan.executed


@needs_operators
@needs_coverage
def test_the_command_keeps_what_is_done_and_writes_the_results(tree, tmp_path_factory, monkeypatch, capsys):
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tree, check=True)
    for room in list(ROOMS):
        monkeypatch.delitem(ROOMS, room)
    monkeypatch.setitem(ROOMS, "small", ("numerics/small.py",))
    folder = tmp_path_factory.mktemp("mutants")
    options = ["--size", "6", "--folder", str(folder), "--results", str(folder / "results.json")]

    def run(*more):
        assert main([*options, *more], tree, ["pytest", "coverage"]) == 0
        return capsys.readouterr()

    first = run("--write")
    assert "[6/6, " in first.err
    written = load(folder / "results.json")
    assert len(written["mutants"]) == 6
    fates = [(one["line"], one["first"]["status"]) for one in written["mutants"]]
    assert all(status == "survived" for line, status in fates if line in (10, 13, 18))
    assert "killed" in {status for _, status in fates}
    assert f"{100 * sum(status == 'killed' for _, status in fates) // 6} % [" in first.out
    second = run()
    assert "[" not in second.err
    assert second.out == first.out
    with (tree / "tests" / "test_small.py").open("a") as tests:
        tests.write("\n\ndef test_more():\n    from lemmata.numerics.small import unused\n\n")
        tests.write("    assert (unused(3), twice(), twice(0), twice(-1)) == (2, 6, 0, -2)\n")
    assert "after tests were added" in run("--again", "--write").out
    later = {one["line"]: one["later"]["status"] for one in load(folder / "results.json")["mutants"] if "later" in one}
    assert "killed" in later.values()
    assert (tree / "numerics" / "small.py").read_text() == MODULE


@needs_coverage
def test_mutants_are_killed_survive_and_run_out_of_time(tree, monkeypatch):
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n")
    with Worker(tree, ["pytest", "coverage"]) as worker:
        seen = worker.run(Request(["tests/test_small.py"], 60, cover=("numerics",)))
        assert seen is not None
        assert seen["failed"] == []
        lines = seen["lines"]["numerics/small.py"]
        assert set(lines) == {"tests/test_small.py::test_four"}
        assert {11, 12, 14} <= set(lines["tests/test_small.py::test_four"])
        known = [Record("tests/test_small.py", seen["seconds"], frozenset(), 0.0, seen["lines"])]

        def fate(old, new):
            mutant = replanted(planned(old, new), tree)
            return trial(worker, mutant, chosen(mutant, known, tree))

        killed = fate("x + x", "x - x")
        assert (killed["status"], killed["by"]) == ("killed", "tests/test_small.py::test_four")
        assert "assert 0 == 4" in killed["reason"]
        assert fate("x + x", "x * x")["status"] == "survived"  # two and two
        assert fate("from functools", "from nowhere")["status"] == "killed"
        assert fate("x + x", "__import__('os')._exit(0)")["status"] == "killed"
        monkeypatch.setattr("tests.mutants.trial.SLACK", 0.5)
        endless = fate("x + x", "exec('while True: pass')")
        assert (endless["status"], endless["by"]) == ("timeout", "tests/test_small.py::test_four")
        with planted(tree, replanted(planned("x + x", "__import__('time').sleep(60)"), tree)):
            assert worker.run(Request(["tests/test_small.py"], 1.0)) is None
        after = worker.run(Request(["tests/test_small.py"], 60))
        assert after is not None
        assert after["status"] == 0
    assert (tree / "numerics" / "small.py").read_text() == MODULE


def test_a_copy_has_the_files_that_git_does_not_ignore_and_their_times(tmp_path):
    root = tmp_path / "from"
    (root / "a").mkdir(parents=True)
    (root / "a" / "b.py").write_text("x = 1\n")
    (root / "new.py").write_text("")
    (root / "ignored.py").write_text("")
    (root / ".gitignore").write_text("ignored.py\n.gitignore\n")
    for words in (["init", "-q"], ["add", "a/b.py"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    copy_of_the_tree(tmp_path / "to", root)
    copied = {str(path.relative_to(tmp_path / "to")) for path in (tmp_path / "to").rglob("*") if path.is_file()}
    assert copied == {"a/b.py", "new.py"}
    assert (root / "a" / "b.py").stat().st_mtime_ns == (tmp_path / "to" / "a" / "b.py").stat().st_mtime_ns
    before = version_of(root, ["a/b.py"])
    (root / "a" / "b.py").write_text("x = 2\n")
    assert version_of(root, ["a/b.py"]) != before


def fated(room, first, **more):
    return {"room": room, "file": "a.py", "line": 3, "before": "x", "after": "y", "first": {"status": first}} | more


def test_the_shares_with_their_intervals():
    document = {
        "seed": 1,
        "places": {"one": 50, "two": 60},
        "mutants": [
            *[fated("one", "killed") for _ in range(6)],
            fated("one", "timeout"),
            fated("one", "survived", later={"status": "killed"}),
            fated("one", "survived", equivalent="nobody can see it"),
            fated("two", "survived"),
        ],
    }
    one, two, total = rows(document)
    assert (one.places, one.drawn, one.timeouts, one.equivalent) == (50, 9, 1, 1)
    assert (two.first.low, two.first.estimate) == (0.0, 0.0)
    assert (total.places, total.drawn) == (110, 10)
    exact = stats.binomtest(7, 9).proportion_ci(method="exact")
    assert (one.first.low, one.first.high) == pytest.approx((exact.low, exact.high))
    assert one.after is not None
    assert one.after.estimate == 1.0
    assert "| one | 50 | 9 | 77 % [39, 98] | 1 | 1 | 100 % [63, 100] |" in mutants_table(document)
    shown = survivors_list(document)
    assert shown.count("- `a.py`, line 3") == 2
    assert "equivalent, nobody can see it" in shown


def test_shares_are_never_rounded_up():
    document = {"seed": 1, "places": {"one": 999}, "mutants": [fated("one", "killed") for _ in range(299)]}
    document["mutants"].append(fated("one", "survived"))
    assert "| 99 % [98, 100] |" in mutants_table(document)


def test_the_file_has_one_mutant_per_line(tmp_path):
    document = {"seed": 1, "places": {"one": 2}, "mutants": [fated("one", "killed"), fated("one", "survived")]}
    path = tmp_path / "results.json"
    path.write_text(as_text(document), encoding="utf-8")
    assert load(path) == document
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4
    assert [may_be_killed(one) for one in document["mutants"]] == [False, True]
