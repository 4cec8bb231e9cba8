"""What is read off the sources of the tests is what pytest sees, for every chapter; decorators that cannot be read."""

import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lemmata.theorems import citations
from lemmata.theorems.evidence import MARK, Evidence
from lemmata.theorems.ledger import THEOREMS, load_ledger

WITH_TESTS = sorted({path.parent.name for path in THEOREMS.glob("*/test_*.py")})


def marked(owner: object, prefix: str = "") -> Iterator[tuple[str, Evidence]]:
    """The evidence that the functions of a module or class carry when it is imported."""
    for name, value in vars(owner).items():
        if isinstance(value, type) and name.startswith("Test"):
            yield from marked(value, f"{name}::")
        elif name.startswith("test_"):
            yield from ((prefix + name, mark.args[0]) for mark in getattr(value, "pytestmark", []) if mark.name == MARK)


@pytest.mark.parametrize("chapter", WITH_TESTS)
def test_the_sources_cite_what_pytest_sees(chapter: str) -> None:
    read: Counter[tuple[str, str, Evidence]] = Counter()
    for entry in next(one for one in load_ledger().chapters if one.name == chapter).statements:
        read.update((one.file, one.test, one.evidence) for one in citations.citations(entry.id))
    seen: Counter[tuple[str, str, Evidence]] = Counter()
    for path in sorted((THEOREMS / chapter).glob("test_*.py")):
        module = importlib.import_module(f"lemmata.theorems.{chapter}.{path.stem}")
        file = path.relative_to(THEOREMS.parent).as_posix()
        seen.update((file, test, evidence) for test, evidence in marked(module))
    assert seen
    assert read == seen


@pytest.mark.parametrize(
    ("decorator", "message"),
    [
        ("check(*NAMES, grade='exact', target='printed')", None),
        ("check(NAME + '7', grade='exact', target='printed', cases=f'{2}')", None),
        ("check(one(), grade='exact', target='printed')", "cannot be read"),
        ("check(UNKNOWN, grade='exact', target='printed')", "cannot be read"),
        ("check(*range(3), grade='exact', target='printed')", "cannot be read"),
        ("check('turing:theorem-3.1', grade=GRADE, target='printed')", "cannot be read"),
    ],
)
def test_decorators_that_cannot_be_read_are_named(tmp_path: Path, decorator: str, message: str | None) -> None:
    names = 'NAME = "turing:lemma-D."\nNAMES = ("turing:theorem-3.1", NAME + "8")\n'
    folder = tmp_path / "turing"
    folder.mkdir()
    (folder / "test_some.py").write_text(f"{names}\n@{decorator}\ndef test_a():\n    pass\n")
    if message is None:
        (first, *_) = citations._of_folder(folder)
        assert (first.test, first.line) == ("test_a", 4)
        assert len(citations._of_folder(folder)) == (2 if "*" in decorator else 1)
    else:
        with pytest.raises(ValueError, match=message):
            citations._of_folder(folder)
