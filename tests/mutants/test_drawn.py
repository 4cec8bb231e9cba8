"""Faults drawn for statements: the operators, where they are drawn, what is kept, what the ledger says of them."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from lemmata.theorems import faults as drawn_faults
from lemmata.theorems.faults import FILE, DrawnFault, Faults, fault_errors, load_faults, tally
from lemmata.theorems.ledger import Chapter, Statement, load_ledger
from tests.mutants.choice import Chosen, Record
from tests.mutants.drawn import _entry, as_text, keyed, may_be_seen
from tests.mutants.extras import needs_operators
from tests.mutants.reach import version_of
from tests.mutants.sample import Mutant, mutants_at, places_of, replanted
from tests.mutants.stages import fates, own_tests
from tests.mutants.statements import Own, draw, own_checks
from tests.mutants.trial import planted, trials
from tests.mutants.workers import ROOT, Request, Worker, copy_of_the_tree

MODULE = '''"""A module."""


def value(x, rows):
    total = x - 3 * x + 7
    first = rows[0]
    kept = rows[x + 1 : 2], {"a": 1}["a"]
    return abs(total)


def other(x):
    return x
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {"numerics/__init__.py": "", "numerics/small.py": MODULE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def changes(tree: Path, family: str) -> set[tuple[str, str]]:
    places = [one for one in places_of("numerics/small.py", tree) if one.family == family]
    chance = random.Random(0)
    return {(one.before, one.after) for place in places for one in mutants_at("r", place, tree, chance)}


@needs_operators
def test_a_value_times_a_factor(tree: Path) -> None:
    total = "total = x - 3 * x + 7"
    assert changes(tree, "TimesFactor") == {
        (total, "total = ((x - 3 * x + 7) * 51 / 50)"),
        (total, "total = x - ((3 * x) * 51 / 50) + 7"),
        ("return abs(total)", "return ((abs(total)) * 51 / 50)"),
    }


@needs_operators
def test_a_dropped_term(tree: Path) -> None:
    sums = {after for before, after in changes(tree, "DropTerm") if before.startswith("total")}
    assert sums == {"total = (-3 * x + 7)", "total = (x + 7)", "total = (x - 3 * x)"}


@needs_operators
def test_a_moved_index(tree: Path) -> None:
    assert changes(tree, "MoveIndex") == {("first = rows[0]", "first = rows[0 - 1]")}


def record(lines: dict[str, list[int]], decides: dict[str, list[str]], failed: tuple[str, ...] = ()) -> Record:
    tests = dict.fromkeys(decides, 1.0)
    file = "theorems/qstr/test_attention.py"
    return Record(file, tests, frozenset(failed), 0.5, {"numerics/small.py": lines}, decides)


A, B, C = (f"theorems/qstr/test_attention.py::test_{name}" for name in "abc")


def test_the_deciding_checks_of_a_statement_with_their_lines() -> None:
    known = [record({A: [5, 6], B: [8], C: [12]}, {A: ["s"], B: ["s", "t"], C: []}, failed=(A,))]
    own = own_checks(known, ["s", "t", "u"], ROOT)
    assert own["s"].tests == own["t"].tests == {B: 1.0}
    assert own["s"].lines == {"numerics/small.py": {8}}
    assert own["u"] == Own()


def test_compiled_functions_count_where_the_names_of_a_test_lead() -> None:
    test = "theorems/hidden_progress/test_polynet_sgd.py::test_runs_reach_error_zero"
    known = [Record(test.split("::")[0], {test: 1.0}, frozenset(), 0.0, {}, {test: ["s"]})]
    assert "numerics/parity/polynet_sgd.py" in own_checks(known, ["s"], ROOT)["s"].lines


@needs_operators
def test_a_draw_keeps_to_the_lines_and_prefers_what_a_statement_has_of_its_own(tree: Path) -> None:
    own = {"s": Own({A: 1.0}, {"numerics/small.py": {5, 8}})}
    own |= {f"t{k}": Own({A: 1.0}, {"numerics/small.py": {5}}) for k in range(200)}
    lines = Counter(one.line for seed in range(20) for one in draw(own, ["s"], tree, seed, 1)["s"])
    assert set(lines) <= {5, 8}
    assert lines[8] >= 18
    (six,) = draw(own, ["s"], tree, 1, 6).values()
    assert draw(own, ["s"], tree, 1, 6)["s"] == six
    assert len({one.code for one in six}) == len(six) == 6
    assert draw({"s": Own()}, ["s"], tree, 1) == {"s": []}


def test_fates_are_kept_while_the_mutant_and_its_tests_are_the_same(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "theorems" / "qstr").mkdir(parents=True)
    (tree / "theorems" / "qstr" / "test_attention.py").touch()
    ran = []

    class Copy:
        def __init__(self, tree: Path) -> None:
            self.tree = tree

    def trials(worker: object, mutants: list[Mutant], plan: object) -> list[dict[str, str]]:
        ran.extend(one.after for one in mutants)
        return [{"status": "killed", "by": A} for _ in mutants]

    monkeypatch.setattr("tests.mutants.stages.trials", trials)
    entry = {"room": "s", "file": "numerics/small.py", "line": 12, "column": 0, "operator": "o"}
    known = {"theorems/qstr/test_attention.py": record({}, {A: ["s"]})}
    own = Own({A: 1.0})

    def run(after: str) -> None:
        mutant = replanted(entry | {"before": "return x", "after": after}, tree)
        workers = [Copy(tree)]
        found = fates(
            {"one": mutant}, lambda _: own_tests(own, known), workers, tmp_path / "log", report=lambda _: None
        )  # type: ignore[arg-type]
        assert found["one"]["status"] == "killed"

    for after in ("return -x", "return -x", "return 0"):
        run(after)
    assert ran == ["return -x", "return 0"]
    (tree / "theorems" / "qstr" / "test_attention.py").write_text("changed")
    run("return 0")
    assert len(ran) == 3


def test_functions_are_exchanged_in_memory_and_what_survives_meets_the_changed_file(tree: Path) -> None:
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n")
    (tree / "lemmata").mkdir()
    (tree / "lemmata" / "__init__.py").touch()
    (tree / "lemmata" / "numerics").symlink_to("../numerics")
    (tree / "test_small.py").write_text(
        "from lemmata.numerics.small import other\n\nAT_IMPORT = other(2)\n\n\n"
        "def test_other():\n    assert other(3) == 3\n\n\ndef test_import():\n    assert AT_IMPORT == 2\n"
    )
    entry = {"room": "s", "file": "numerics/small.py", "line": 12, "column": 0, "operator": "o", "before": "return x"}
    changed = ["return -x", "return x if x == 3 else 0", "return x + 0", "return 10 ** 10 ** 10 ** 10"]
    mutants = [replanted(entry | {"after": one}, tree) for one in changed]
    names = [f"test_small.py::{name}" for name in ("test_other", "test_import")]
    plan = Chosen(("test_small.py",), dict.fromkeys(names, 0.1), 0.2, True)
    with pytest.MonkeyPatch.context() as patch, Worker(tree, ["pytest"]) as worker:
        patch.setattr("tests.mutants.trial.COMPILING", 1.0)
        found = trials(worker, mutants, plan)
    assert [one["status"] for one in found] == ["killed", "killed", "survived", "timeout"]
    assert [one["by"] for one in found[:2]] == names
    assert (tree / "numerics" / "small.py").read_text() == MODULE


def fault(seen: str = "own", **more: str) -> DrawnFault:
    return DrawnFault("qstr:lemma-11", "a.py", 3, "o", "x", "y", seen, **more)


def test_the_counts_and_the_file(tmp_path: Path) -> None:
    all_of_them = [fault(), fault("chapter"), fault("nothing", equivalent="it is"), fault("nothing", later="own")]
    all_of_them.append(fault("nothing", open="not run"))
    assert (one := tally(all_of_them)) == drawn_faults.Tally(5, 2, 3, 1, 1)
    assert str(one) == "2 of 5 drawn faults are seen by its own checks, 3 by any test; 1 change nothing; 1 are open"
    written = Faults("abc", 1, {"qstr:lemma-11": "it is hard"}, tuple(all_of_them))
    (tmp_path / FILE).write_text(as_text(written), encoding="utf-8")
    assert load_faults(tmp_path) == written
    assert [key for key, one in keyed(all_of_them).items() if may_be_seen(one)] == [
        "qstr:lemma-11#1",
        "qstr:lemma-11#4",
    ]


def chapter(verdict: str = "holds") -> Chapter:
    one = Statement("qstr:lemma-11", "lemma", "t", "s", "w", verdict)
    return Chapter("qstr", "t", "d", (one,), Path("qstr"))


@pytest.mark.parametrize(
    ("faults", "why", "verdict", "said"),
    [
        ([fault()] * 6, "", "holds", ""),
        ([fault()] * 5 + [fault("nothing", equivalent="it is")], "", "holds", ""),
        ([fault()] * 5, "", "holds", "5 faults are drawn for it, not 6"),
        ([fault()] * 5, "few lines", "holds", ""),
        ([fault()] * 4 + [fault("chapter")] * 2, "", "holds", "its own checks see 4 of 6 faults"),
        ([fault()] * 4 + [fault("chapter")] * 2, "two are of speed", "holds", ""),
        ([fault()] * 4 + [fault("chapter"), fault("nothing", equivalent="it is")], "", "holds", ""),
        ([fault()] * 5 + [fault("nothing", open="not run")], "a sentence", "holds", "is seen by no test"),
        ([fault()] * 5 + [fault("nothing")], "a sentence", "holds", "is seen by no test"),
        ([fault()] * 5 + [fault("nothing", later="suite")], "", "holds", ""),
        ([fault()] * 6, "", "open", "the ledger does not call it decided"),
    ],
)
def test_what_the_ledger_says_of_too_few_and_of_unseen_faults(
    faults: list[DrawnFault], why: str, verdict: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Faults("abc", 1, {"qstr:lemma-11": why} if why else {}, tuple(faults))
    monkeypatch.setattr(drawn_faults, "load_faults", lambda folder: given)
    errors = fault_errors(chapter(verdict))
    assert len(errors) == bool(said)
    assert all(said in one for one in errors)


def test_the_committed_faults_have_no_errors() -> None:
    chapters = [one for one in load_ledger().chapters if one.folder is not None and load_faults(one.folder)]
    assert len(chapters) >= 9
    assert [error for one in chapters for error in fault_errors(one)] == []


SAMPLE = 4


def test_a_sample_of_the_committed_faults_is_seen_again(tmp_path: Path) -> None:
    """Others for each version of the checks; faults whose lines or whose test have changed since are passed over."""
    found = [one for chapter in load_ledger().chapters if chapter.folder for one in _committed(chapter.folder)]
    folders = sorted({str(Path(_test(one)).parent) for one in found})
    files = [str(path.relative_to(ROOT)) for name in folders for path in (ROOT / name).glob("*.py")]
    random.Random(version_of(ROOT, files)).shuffle(found)
    copy_of_the_tree(tmp_path)
    seen = 0
    with Worker(tmp_path, ["pytest", "numpy", "hypothesis"]) as worker:
        for one in found:
            try:
                mutant = replanted(_entry(one), ROOT)
            except ValueError:
                continue
            test = one.later_by if one.later else one.by
            if f"def {test.rpartition('::')[2]}(" not in (ROOT / _test(one)).read_text(encoding="utf-8"):
                continue
            request = Request([test], 300, stop=True)
            with planted(tmp_path, mutant):
                answer = worker.run(request)
            assert answer is None or answer["failed"], f"{one} is no longer seen by {test}"
            seen += 1
            if seen == SAMPLE:
                return
    pytest.fail(f"only {seen} of {len(found)} committed faults could be planted: draw them again (tests.mutants.drawn)")


def _committed(folder: Path) -> list[DrawnFault]:
    """The faults of a chapter that deciding checks see, and not by running out of time."""
    found = load_faults(folder)
    assert found is not None
    return [one for one in found.faults if one.now == "own" and "(time)" not in f"{one.by}{one.later_by}"]


def _test(fault: DrawnFault) -> str:
    """The file of the test that saw a fault."""
    return (fault.later_by if fault.later else fault.by).split("::")[0]
