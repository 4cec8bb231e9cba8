"""The pytest plugin of the ledger, which `lemmata.pytest_plugin` loads in the projects that ask for it.

It gives tests the `effort` fixture and the matching Hypothesis profile, refuses theorem tests without
evidence, collects the outcomes (through the workers of pytest-xdist too), closes the run with a table of
verdicts, fails it when a verdict lacks its evidence, and writes the ledger as JSON or HTML.
"""

import dataclasses
import functools
import gc
import inspect
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest

from lemmata import theorems
from lemmata.numerics.runs.files import write_atomically
from lemmata.theorems.citations import citations
from lemmata.theorems.evidence import MARK, Evidence
from lemmata.theorems.faults import fault_errors
from lemmata.theorems.judgement import judgement_errors
from lemmata.theorems.ledger import (
    THEOREMS,
    Chapter,
    Ledger,
    LedgerError,
    Statement,
    chapter_folders,
    chapter_of,
    load_ledger,
)
from lemmata.theorems.origin import origin
from lemmata.theorems.places import package_folder
from lemmata.theorems.proofs import proof_errors
from lemmata.theorems.reached import reached
from lemmata.theorems.records import FILE as RECORDS
from lemmata.theorems.records import PROPERTY, Record, as_text, load_records, record_errors
from lemmata.theorems.summary import summary_table
from lemmata.theorems.verdicts import (
    Check,
    by_statement,
    contradictions,
    evidence_errors,
    merged_outcome,
    reach_errors,
    record,
)

ROOT = THEOREMS.parent
PACKAGE = Path(theorems.__file__).parent
"""The folder `THEOREMS` as a part of the package `lemmata`: through the link, in a checkout."""
EXAMPLES = {"quick": 30, "full": 300, "deep": 3000}
"""Hypothesis examples for each effort."""
_SELECTING_OPTIONS = ("ignore", "ignore_glob", "lf")
"""Options that leave out whole files; what leaves out single tests (-k, -m, ...) reports them as deselected."""
_SAME: Any = object()

_T = TypeVar("_T")


@dataclass(frozen=True)
class Effort:
    """How much work a test should do; `name` is quick, full or deep."""

    name: str

    def pick(self, *, quick: _T, full: _T = _SAME, deep: _T = _SAME) -> _T:
        """The value for this effort; `full` defaults to `quick`, `deep` to `full`."""
        full = quick if full is _SAME else full
        deep = full if deep is _SAME else deep
        return {"quick": quick, "full": full, "deep": deep}[self.name]


@pytest.fixture(scope="session")
def effort(pytestconfig: pytest.Config) -> Effort:
    """The effort of this run (`--effort`), to scale sizes: `effort.pick(quick=5, full=9)`."""
    return Effort(_effort_name(pytestconfig))


@pytest.fixture(scope="session")
def entries_of_the_ledger() -> Mapping[str, Statement]:
    """All entries by id, read once in a run."""
    return {one.id: one for one in load_ledger().statements()}


@pytest.fixture(name="record")
def recording(request: pytest.FixtureRequest, entries_of_the_ledger: Mapping[str, Statement]) -> Generator[Record]:
    """What the test records of the statements that it is evidence for: see `lemmata.theorems.records`."""
    item = request.node
    evidence = [mark.args[0] for mark in item.iter_markers(MARK)]
    name = item.nodeid.split("::", 1)[1]
    made = Record(
        f"{_cited(_resolved(item.path))}::{name}",
        {one.statement: entries_of_the_ledger[one.statement] for one in reversed(evidence)},
        tuple(one.statement for one in reversed(evidence) if one.kind == "counterexample"),
    )
    yield made
    made.finish()
    item.user_properties.append((PROPERTY, {"test": made.test, "facts": made.facts}))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ledger's command-line options."""
    group = parser.getgroup("lemmata")
    group.addoption(
        "--effort",
        choices=list(EXAMPLES),
        default="quick",
        help="how much the theorem tests try: quick (default), full or deep",
    )
    group.addoption("--write-records", action="store_true", help="commit the records of the counterexamples that run")
    group.addoption("--ledger-json", metavar="FILE", help="write the judged ledger to FILE as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, the Hypothesis profiles and the recorder of this run."""
    config.addinivalue_line("markers", f"{MARK}(evidence): what the test says about a statement of the ledger.")
    config.pluginmanager.register(LedgerRun(config), "lemmata-ledger-run")
    # Hypothesis takes noticeable time to import, so that only real runs pay for it.
    from hypothesis import settings

    for name, examples in EXAMPLES.items():
        settings.register_profile(
            f"lemmata-{name}", derandomize=True, deadline=None, max_examples=examples, print_blob=True
        )
    if not config.getoption("hypothesis_profile", None):
        settings.load_profile(f"lemmata-{_effort_name(config)}")


# -- one module, one name: the folder `theorems` of a checkout is the package `lemmata.theorems`, by a link


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect our folders without importing them as a package `theorems`."""
    return None if _in_the_package(path) is None else pytest.Dir.from_parent(parent, path=path)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Collect a test file of ours under the name that it has in the package."""
    return None if _in_the_package(module_path) is None else LinkedModule.from_parent(parent, path=module_path)


class LinkedModule(pytest.Module):
    """A test file of a chapter of ours, imported as part of the package."""

    def _getobj(self) -> ModuleType:
        """The module, as pytest imports the same file in the package: it takes the names of the folders."""
        path, self.path = self.path, _in_the_package(self.path) or self.path
        try:
            return super()._getobj()
        finally:
            self.path = path


def _in_the_package(path: Path) -> Path | None:
    """The place in the package of a file or folder of our chapters, however it was reached; None of others."""
    path = _resolved(path)
    return PACKAGE / path.relative_to(THEOREMS) if path.is_relative_to(THEOREMS) else None


class LedgerRun:
    """The ledger in one pytest run: collected evidence, outcomes, and what follows from them.

    Under pytest-xdist the workers collect the evidence and hand it over when they finish; the controller
    receives every test report, and it alone judges and writes.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.ledger: Ledger | None = None
        self.items: dict[str, dict[str, Any]] = {}
        self.deselected = False
        self.refused = False
        self.partial: list[str] = []
        self.outcomes: dict[str, list[str]] = {}
        self.seconds: dict[str, float] = {}
        self.measured: dict[str, list[tuple[str, Any]]] = {}
        self.records: dict[str, list[dict[str, Any]]] = {}
        self.errors: list[str] = []
        self.notes: list[str] = []

    # -- before the run

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Load the ledger when the run touches the theorems; check the paths of the run and of the output file."""
        if _is_worker(self.config):
            return
        lost = [str(path) for path, _ in _arguments(self.config) if _touches_chapters(path) and not path.exists()]
        if lost:  # said by us, since the workers of pytest-xdist refuse it without a word
            raise pytest.UsageError(f"There is no file or folder {', '.join(lost)}.")
        if _output_file(self.config) is not None or any(_touches_chapters(path) for path, _ in _arguments(self.config)):
            try:
                self.ledger = load_ledger()
            except LedgerError as error:
                raise pytest.UsageError(str(error)) from error

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Spare the garbage collector what stays to the end, since a look at all modules and tests takes half a second,
        and have it look seldom, until the end of the run."""
        running, thresholds, frozen = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()

        def restore() -> None:
            gc.set_threshold(*thresholds)
            if not frozen:  # else somebody around us froze objects, which stay so
                gc.unfreeze()

        self.config.add_cleanup(restore)
        gc.disable()
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.set_threshold(20_000)
            if running:
                gc.enable()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Turn a module with misplaced or missing evidence into a collection error that names every fault."""
        report = yield
        if report.passed:
            faults = [fault for item in report.result if isinstance(item, pytest.Item) for fault in _item_faults(item)]
            if faults:
                report.outcome = "failed"
                report.longrepr = "\n".join(dict.fromkeys(faults))
                report.result = []
        return report

    def pytest_deselected(self) -> None:
        """Remember that the run is partial."""
        self.deselected = True

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the evidence that each selected test carries, as plain data that xdist can send."""
        for item in session.items:
            evidence = [dataclasses.asdict(mark.args[0]) for mark in item.iter_markers(MARK)]
            if evidence and isinstance(item, pytest.Function):
                file = _cited(_resolved(item.path))
                name = item.nodeid.split("::", 1)[1].partition("[")[0]
                # iter_markers yields the decorator next to the function first.
                self.items[item.nodeid] = {
                    "test": f"{file}::{name}",
                    "file": file,
                    "line": _first_line(item),
                    "evidence": evidence[::-1],
                    "reached": sorted(reached(_resolved(item.path), name)),
                }

    # -- during the run

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Make what a test measured (`record_property`) plain data, which JSON and the workers' channel can carry."""
        report = yield
        report.user_properties = [(name, _plain(value)) for name, value in report.user_properties]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a test; of its setup and teardown only what went wrong or was skipped."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        outcome: str = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xpassed" if report.passed else "xfailed"
        if report.when == "call":
            self.measured[report.nodeid] = list(report.user_properties)
        if report.when == "teardown":
            made: Any
            for name, made in report.user_properties:
                if name == PROPERTY:
                    for statement, facts in made["facts"].items():
                        self.records.setdefault(statement, []).append({"test": made["test"], **facts})
        if report.when == "call" or outcome != "passed":
            self.outcomes.setdefault(report.nodeid, []).append(outcome)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker of pytest-xdist collected."""
        output = getattr(node, "workeroutput", {})
        self.refused = self.refused or output.get("exitstatus") == pytest.ExitCode.USAGE_ERROR
        sent = output.get("lemmata", {})
        self.items.update(sent.get("items", {}))
        self.deselected = self.deselected or sent.get("deselected", False)

    # -- after the run

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge the ledger, write it, and fail the session if a verdict lacks its evidence."""
        if _is_worker(self.config):
            output: dict[str, Any] = self.config.workeroutput  # pyright: ignore[reportAttributeAccessIssue]
            output["lemmata"] = {"items": self.items, "deselected": self.deselected}
            return
        finished = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self.ledger is None or self.config.getoption("collectonly"):
            return
        if self.refused:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            session.shouldfail = "The workers refuse what pytest was given: without -n it says why."
            return
        checks = self.checks()
        complete = exitstatus in finished and not session.shouldfail and not session.shouldstop
        self._judge(self.ledger, checks, self._whole_chapters() if complete else set())
        self._write(self.ledger, checks, written=exitstatus in finished)
        if self.errors and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_unconfigure(self) -> None:
        """Name the failed statements in the last line, which is what a reader sees first."""
        if self.ledger is not None and not _is_worker(self.config):
            groups = by_statement(self.checks())
            failed = [name for name, checks in groups.items() if any(check.fails for check in checks)]
            if failed:
                print(f"Statements with a deciding check that failed: {', '.join(sorted(failed))}.")

    def checks(self) -> list[Check]:
        """The collected evidence with its outcomes, parametrised tests merged into one."""
        cases: dict[str, list[str]] = {}
        for nodeid, item in self.items.items():
            cases.setdefault(item["test"], []).append(nodeid)
        checks = []
        for test, nodeids in cases.items():
            first = self.items[nodeids[0]]
            outcome = merged_outcome(merged_outcome(self.outcomes.get(nodeid, [])) for nodeid in nodeids)
            seconds = sum(self.seconds.get(nodeid, 0.0) for nodeid in nodeids)
            measured = tuple(
                (nodeid.partition("[")[2].removesuffix("]"), str(name), value)
                for nodeid in nodeids
                for name, value in self.measured.get(nodeid, ())
                if name != PROPERTY
            )
            place = test, first["file"], first["line"]
            checks += [
                Check(*place, Evidence(**one), outcome, seconds, len(nodeids), measured, tuple(first["reached"]))
                for one in first["evidence"]
            ]
        return checks

    def _whole_chapters(self) -> set[str]:
        """The chapters whose folder was run as a whole: no single test, file or other selection."""
        if self.deselected or any(self.config.getoption(option, None) for option in _SELECTING_OPTIONS):
            return set()
        folders = [path for path, whole in _arguments(self.config) if whole]
        return {
            chapter.name
            for chapter in chapter_folders()
            if any(folder == chapter or folder in chapter.parents for folder in folders)
        }

    def _judge(self, ledger: Ledger, checks: Sequence[Check], whole: set[str]) -> None:
        """Collect the errors: contradictions anywhere, missing evidence in the chapters of `whole`."""
        groups = by_statement(checks)
        for chapter in ledger.chapters:
            for statement in chapter.statements:
                of_statement = groups.get(statement.id, [])
                self.errors += contradictions(statement, of_statement) + reach_errors(statement, of_statement)
                if chapter.name in whole:
                    cited = [one.node for one in citations(statement.id) if not one.evidence.supporting]
                    self.errors += evidence_errors(statement, of_statement, cited)
            if chapter.name in whole:
                self.errors += [*fault_errors(chapter), *judgement_errors(chapter), *proof_errors(chapter)]
            self._judge_records(chapter, groups, whole=chapter.name in whole)
        self.partial = [chapter.name for chapter in ledger.chapters if chapter.name not in whole]
        begun = [name for name in self.partial if any(chapter_of(one) == name for one in groups)]
        if begun:
            self.notes.append(f"Run in part, so that missing evidence is not looked for: {', '.join(sorted(begun))}.")

    def _judge_records(self, chapter: Chapter, groups: Mapping[str, Sequence[Check]], *, whole: bool) -> None:
        """Compare the records of a chapter with the committed ones, or commit them."""
        names = [statement.id for statement in chapter.statements]
        made = {name: self.records[name] for name in names if name in self.records}
        checks = [check for name in names for check in groups.get(name, ())]
        passed = {check.test for check in checks if check.outcome == "passed"}
        if self.config.getoption("write_records") and chapter.folder is not None and (made or whole):
            kept = {} if whole else load_records(chapter.folder)
            merged = {
                name: [one for one in kept.get(name, ()) if one["test"].partition("[")[0] not in passed]
                + [one for one in made.get(name, ()) if one["test"].partition("[")[0] in passed]
                for name in names
            }
            write_atomically(as_text(merged, names).encode("utf-8"), chapter.folder / RECORDS)
            load_records.cache_clear()
            self.notes.append(f"Wrote {chapter.name}/{RECORDS}.")
        refuting = {
            name: [one.test for one in groups.get(name, ()) if one.decides and one.evidence.kind == "counterexample"]
            for name in names
        }
        self.errors += record_errors(chapter, made, passed, whole=whole, refuting=refuting)

    def _write(self, ledger: Ledger, checks: Sequence[Check], *, written: bool) -> None:
        """Write the requested file; a run that did not finish leaves it as it was."""
        path = _output_file(self.config)
        if path is None:
            return
        if not written:
            self.errors.append(f"{path} was not written, because the run did not finish.")
            return
        data = record(ledger, checks, effort=_effort_name(self.config), origin=origin(ROOT), partial=self.partial)
        try:
            write_atomically((json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode("utf-8"), path)
            self.notes.append(f"Wrote {path}.")
        except OSError as error:
            self.errors.append(f"{path} cannot be written: {error}.")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        """Close with the table of verdicts, then the errors of the ledger; with nothing where pytest was misused."""
        if self.ledger is None or self.config.getoption("collectonly") or self.refused:
            return
        if exitstatus == pytest.ExitCode.USAGE_ERROR and not self.errors:
            return
        data = record(self.ledger, self.checks(), effort=_effort_name(self.config), origin={}, partial=self.partial)
        paths = [path for path, _ in _arguments(self.config)]
        touched = {folder.name for folder in chapter_folders() if any(_reaches(path, folder) for path in paths)}
        chapters = [chapter for chapter in data["chapters"] if chapter["name"] in touched]
        terminalreporter.section(f"ledger of the theorems, effort {data['effort']}")
        if chapters:
            terminalreporter.write(summary_table(chapters, colour=terminalreporter.hasmarkup))
        for note in self.notes:
            terminalreporter.write_line(note)
        for error in self.errors:
            terminalreporter.write_line(f"LEDGER ERROR {error}", red=True)


def _effort_name(config: pytest.Config) -> str:
    """The value of `--effort`."""
    return str(config.getoption("effort"))


def _is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def _arguments(config: pytest.Config) -> list[tuple[Path, bool]]:
    """The paths that pytest was asked to run, each with whether it is a whole folder."""
    arguments = []
    packages = bool(config.getoption("pyargs", False))
    for argument in config.args:
        path, _, test = str(argument).partition("::")
        absolute = (config.invocation_params.dir / path).resolve()
        if packages and not absolute.exists() and (found := package_folder(path)) is not None:
            absolute = found
        arguments.append((absolute, not test and absolute.is_dir()))
    return arguments


def _touches_chapters(path: Path) -> bool:
    """Whether `path` is or lies in the theorems or a chapter of another package, or contains one."""
    return _reaches(path, THEOREMS) or any(_reaches(path, folder) for folder in chapter_folders())


@functools.cache
def _resolved(path: Path) -> Path:
    """A path without links: thousands of tests stand in one file."""
    return path.resolve()


@functools.cache
def _chapter_folder(path: Path) -> Path | None:
    """The folder of the chapter in which a file lies, or None."""
    return next((folder for folder in chapter_folders() if path.is_relative_to(folder)), None)


@functools.cache
def _cited(path: Path) -> str:
    """How a file is cited: relative to the folder that holds `theorems`, or to that which holds its chapter."""
    folder = _chapter_folder(path)
    base = ROOT if folder is None or folder.is_relative_to(THEOREMS) else folder.parent
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


def _reaches(path: Path, folder: Path) -> bool:
    """Whether `path` lies in `folder`, is it, or contains it."""
    return path.is_relative_to(folder) or folder.is_relative_to(path)


def _output_file(config: pytest.Config) -> Path | None:
    """The absolute path that `--ledger-json` names, or None.

    Raises:
        pytest.UsageError: its folder does not exist, or it is a folder itself.
    """
    value = config.getoption("--ledger-json")
    if value is None:
        return None
    path = (config.invocation_params.dir / value).resolve()
    if not path.parent.is_dir():
        raise pytest.UsageError(f"--ledger-json: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise pytest.UsageError(f"--ledger-json: {path} is a folder, and a file is wanted.")
    return path


def _item_faults(item: pytest.Item) -> list[str]:
    """What is wrong with the evidence of one collected test, as sentences."""
    where = item.nodeid.partition("[")[0]
    path = _resolved(item.path)
    folder = _chapter_folder(path)
    chapter = None if folder is None else folder.name
    place = "" if folder is None else f"{'theorems/' if folder.is_relative_to(THEOREMS) else ''}{chapter}"
    given = [argument for mark in item.iter_markers(MARK) for argument in mark.args or (None,)]
    evidence = [argument for argument in given if isinstance(argument, Evidence)]
    if len(evidence) < len(given):
        return [f"{where}: give evidence with the decorators check and counterexample of theorems.evidence."]
    if chapter is not None and not evidence:
        return [
            f"{where} carries no evidence: a test in {place} says which statement it is about, "
            "with @check or @counterexample of theorems.evidence (supporting=True where it decides nothing)."
        ]
    faults = [
        f"{where} is evidence for {one.statement} and belongs in theorems/{chapter_of(one.statement)}."
        for one in evidence
        if chapter_of(one.statement) != chapter
    ]
    roles = [(one.statement, one.kind, one.target) for one in evidence]
    faults += [
        f"{where} is given twice as {kind} of the {target} form of {statement}."
        for statement, kind, target in dict.fromkeys(role for role in roles if roles.count(role) > 1)
    ]
    return faults


def _plain(value: Any) -> Any:
    """A measured value without NumPy types: numbers and arrays as Python's own, tuples as lists."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _first_line(item: pytest.Function) -> int:
    """The first line of the test function with its decorators; looks through `hypothesis.given`."""
    function = getattr(getattr(item.obj, "hypothesis", None), "inner_test", item.obj)
    return inspect.unwrap(function).__code__.co_firstlineno
