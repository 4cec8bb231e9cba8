"""The written proofs of a chapter: numbered steps, each with the tests that check it, written by a command.

The tests are the source: one that checks steps 1 and 5 of `proofs/circuits.md` says so,

    @proof_steps("circuits.md: 1, 5")

and the lines ``Check: file::test`` that end each step follow from all of these, in the order of files and lines:

    python -m lemmata.theorems.proofs induction_heads --write

A step that is an argument alone ends with a line ``Check: none``, which is written by hand.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lemmata.numerics.runs.files import write_atomically
from lemmata.theorems.citations import step_checks
from lemmata.theorems.ledger import Chapter, Statement, load_ledger

__all__ = ["checked_steps", "proof_errors", "with_checks"]

COMMAND = "python -m lemmata.theorems.proofs {} --write"
NONE = "Check: none"
_STEP = re.compile(r"(\d+)\. ")
_CHECK = re.compile(r"\s*Check:")


def checked_steps(chapter: Chapter, statement: Statement) -> dict[int, tuple[str, ...]]:
    """The steps of the written proof that a statement names, by number, each with the tests that check it.

    Raises:
        ValueError: if the decorators of the tests cannot be read.
    """
    if statement.proof is None or chapter.folder is None:
        return {}
    text = (Path(chapter.folder) / "proofs" / statement.proof).read_text(encoding="utf-8")
    tests = _tests_of(Path(chapter.folder)).get(statement.proof, {})
    return {number: tuple(tests.get(number, ())) for number, _, _ in _steps(text.splitlines())}


def with_checks(text: str, tests: Mapping[int, Sequence[str]]) -> str:
    """A proof with a line ``Check: file::test`` for each test, at the end of the step that it checks, and no others.

    Args:
        text: the proof; its lines ``Check: none`` stay.
        tests: those that check a step, by its number.
    """
    lines = [line for line in text.splitlines() if line.strip() == NONE or not _CHECK.match(line)]
    for number, _, end in reversed(_steps(lines)):
        indent = " " * len(f"{number}. ")
        lines[end:end] = [f"{indent}Check: {test}" for test in tests.get(number, ())]
    return "".join(f"{line}\n" for line in lines)


def proof_errors(chapter: Chapter) -> Iterator[str]:
    """A sentence for each rule that the written proofs of a chapter, or the tests that name their steps, break.

    Raises:
        ValueError: if the decorators of the tests cannot be read.
    """
    if chapter.folder is None:
        return
    folder = Path(chapter.folder)
    paths = {path.name: path for path in sorted((folder / "proofs").glob("*.md"))}
    numbers = {name: [one for one, _, _ in _steps(_lines(path))] for name, path in paths.items()}
    for one in step_checks(folder):
        if one.proof not in paths:
            yield f"{one.node} names the proof {one.proof}, which is not in {chapter.name}/proofs."
        elif one.step not in numbers[one.proof]:
            yield f"{one.node} names step {one.step} of {one.proof}, whose steps end with {len(numbers[one.proof])}."
        elif not one.evidence:
            yield f"{one.node} names steps of {one.proof} and is evidence for no statement of {chapter.name}."
    found = _tests_of(folder)
    for name, path in paths.items():
        for error in _errors_of(path.read_text(encoding="utf-8"), found.get(name, {}), chapter.name):
            yield f"{chapter.name}/proofs/{name}: {error}"


def _errors_of(text: str, tests: Mapping[int, Sequence[str]], chapter: str) -> Iterator[str]:
    lines = text.splitlines()
    steps = _steps(lines)
    numbers = [number for number, _, _ in steps]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        yield f"the steps are numbered {numbers}, not 1, 2, ...."
        return
    if not tests:
        yield "no test names a step of it (@proof_steps)."
    for number, start, end in steps:
        argued = NONE in (line.strip() for line in lines[start:end])
        if argued and number in tests:
            yield f"step {number} says '{NONE}', but {tests[number][0]} checks it."
        elif not argued and number not in tests:
            yield f"no test names step {number} (@proof_steps): one has to, or the step ends with '{NONE}'."
    if text != with_checks(text, tests):
        yield f"its lines 'Check: ...' are not those of the tests: {COMMAND.format(chapter)} writes them."


def _steps(lines: Sequence[str]) -> list[tuple[int, int, int]]:
    """Number, first line and end of each step: before the next step, a heading, or a paragraph that is not indented."""
    found = []
    starts = [(index, int(match[1])) for index, line in enumerate(lines) if (match := _STEP.match(line))]
    for start, number in starts:
        end = start + 1
        for index in range(start + 1, len(lines)):
            line = lines[index]
            if _STEP.match(line) or line.startswith("#") or (line[:1].strip() and not lines[index - 1].strip()):
                break
            if line.strip():
                end = index + 1
        found.append((number, start, end))
    return found


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _tests_of(folder: Path) -> dict[str, dict[int, list[str]]]:
    """The tests of a chapter by the proof and the step that they check."""
    found: dict[str, dict[int, list[str]]] = {}
    for one in step_checks(folder):
        found.setdefault(one.proof, {}).setdefault(one.step, []).append(one.node)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status is 1 if a proof breaks a rule."""
    parser = argparse.ArgumentParser(
        prog="python -m lemmata.theorems.proofs", description="Compare the checks of written proofs with the tests."
    )
    parser.add_argument("chapter", nargs="*", help="the name of a folder; all chapters of this toolkit unless given")
    parser.add_argument("--write", action="store_true", help="write the lines 'Check: ...' of each step")
    asked = parser.parse_args(arguments)
    chapters = {one.name: one for one in load_ledger().chapters if one.folder is not None}
    if unknown := sorted(set(asked.chapter) - set(chapters)):
        parser.error(f"there is no chapter {', '.join(unknown)}; the chapters are {', '.join(chapters)}")
    errors: list[str] = []
    for name in asked.chapter or chapters:
        folder = Path(str(chapters[name].folder))
        found = _tests_of(folder)
        for path in sorted((folder / "proofs").glob("*.md")) if asked.write else ():
            old = path.read_text(encoding="utf-8")
            new = with_checks(old, found.get(path.name, {}))
            if new != old:
                write_atomically(new.encode("utf-8"), path)
        errors += proof_errors(chapters[name])
    print("\n".join(errors), end="\n" if errors else "")
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main())
