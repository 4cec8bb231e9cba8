"""The written proofs: numbered steps, and every test that a step cites exists and is evidence in its chapter."""

import ast
import functools
import re
from pathlib import Path

import pytest

from lemmata.theorems.ledger import THEOREMS, load_ledger

PROOFS = sorted(THEOREMS.glob("*/proofs/*.md"))
STEP = re.compile(r"^(\d+)\. ", re.MULTILINE)
CITED = re.compile(r"^\s*Check: `?(theorems/\S+?\.py)::(\w+)`?\s*$", re.MULTILINE)
NAMED = re.compile(r"Check:")


@functools.cache
def _tests(path: Path) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def _is_evidence(node: ast.FunctionDef) -> bool:
    names = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
    return bool(names & {"check", "counterexample"})


def faults(text: str, root: Path, chapter: str) -> list[str]:
    """What is wrong with a proof of a chapter: its numbering, or the tests that it cites."""
    found = []
    numbers = [int(number) for number in STEP.findall(text)]
    if numbers != list(range(1, len(numbers) + 1)) or not numbers:
        found.append(f"The steps are numbered {numbers}, not 1, 2, ....")
    cited = CITED.findall(text)
    if len(cited) != len(NAMED.findall(text)):
        found.append("A line 'Check: theorems/<chapter>/test_x.py::test_y' is malformed.")
    for file, test in cited:
        path = root / file
        if not file.startswith(f"theorems/{chapter}/") or not path.is_file():
            found.append(f"There is no file {file} in the chapter {chapter}.")
        elif test not in _tests(path):
            found.append(f"There is no test {test} in {file}.")
        elif not _is_evidence(_tests(path)[test]):
            found.append(f"The test {test} in {file} carries no evidence.")
    if not cited:
        found.append("No step is tied to a check.")
    return found


@pytest.mark.parametrize("path", PROOFS, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_proofs_have_numbered_steps_that_are_tied_to_checks(path: Path) -> None:
    assert not faults(path.read_text(encoding="utf-8"), THEOREMS.parent, path.parents[1].name)


def test_every_proof_belongs_to_a_statement_that_names_it() -> None:
    named = {
        (chapter.name, statement.proof): statement.id
        for chapter in load_ledger().chapters
        for statement in chapter.statements
        if statement.proof is not None
    }
    assert {(path.parents[1].name, path.name) for path in PROOFS} == set(named)
    for (chapter, name), identity in named.items():
        assert identity in (THEOREMS / chapter / "proofs" / str(name)).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. One.\n3. Two.\n   Check: theorems/small/test_a.py::test_a\n", "numbered [1, 3]"),
        ("Words.\n   Check: theorems/small/test_a.py::test_a\n", "numbered []"),
        ("1. One.\n   Check: theorems/small/test_a.py::test_b\n", "There is no test test_b in"),
        ("1. One.\n   Check: theorems/small/test_b.py::test_a\n", "There is no file theorems/small/test_b.py"),
        ("1. One.\n   Check: theorems/other/test_a.py::test_a\n", "There is no file theorems/other/test_a.py"),
        ("1. One.\n   Check: theorems/small/test_a.py::test_plain\n", "carries no evidence"),
        ("1. One.\n   Check: test_a\n", "is malformed"),
        ("1. One.\n", "No step is tied to a check"),
        ("1. One.\n   Check: theorems/small/test_a.py::test_a\n2. Two.\n", None),
    ],
)
def test_faulty_proofs_are_found(tmp_path: Path, text: str, message: str | None) -> None:
    folder = tmp_path / "theorems" / "small"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text("@check('x')\ndef test_a(): pass\n\ndef test_plain(): pass\n")
    found = faults(text, tmp_path, "small")
    assert (not found) if message is None else any(message in one for one in found)
