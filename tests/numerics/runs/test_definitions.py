"""What a function uses, and its fingerprint: it changes with the computation and with nothing else."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lemmata.numerics.runs import definitions
from lemmata.numerics.runs.definitions import fingerprint, uses

HELPERS = """
import json
from small_other import factor

SCALE = 2


def inner(x):
    first = second = factor(x)
    return SCALE * x * first + (lambda second: second)(second)


def unused(x):
    return json.dumps(x)


class Table:
    def row(self):
        return inner(1)
"""
WORK = """
from small_helpers import inner, Table


def work(x: int) -> int:
    '''Some words.'''
    from small_late import late

    return inner(x) + late(x)


def with_table():
    return Table()
"""
FILES = {
    "small_work": WORK,
    "small_helpers": HELPERS,
    "small_other": "import math\n\n\ndef factor(x):\n    return math.gcd(x, 6)\n",
    "small_late": "def late(x):\n    return x\n",
}
WITHIN = tuple(FILES)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in FILES:
        sys.modules.pop(name, None)
    _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    definitions._module.cache_clear()
    definitions._source.cache_clear()
    definitions._steps.cache_clear()
    definitions._texts.cache_clear()


def _fingerprint(name: str = "work") -> str:
    for module in FILES:
        sys.modules.pop(module, None)
    _forget()
    return fingerprint(getattr(importlib.import_module("small_work"), name), WITHIN)


def test_uses_follow_helpers_constants_and_local_imports_to_other_packages(folder: Path) -> None:
    found = uses(folder / "small_work.py", "work", WITHIN)
    names = {(path.stem, name) for path, name in found.definitions}
    assert names == {
        ("small_work", "work"),
        ("small_helpers", "inner"),
        ("small_helpers", "SCALE"),
        ("small_other", "factor"),
        ("small_late", "late"),
    }
    assert found.leaves == {"math"}
    stopped = uses(folder / "small_work.py", "work", ("small_work",))
    assert stopped.leaves == {"small_helpers.inner", "small_late.late"}


def test_methods_of_a_class_belong_to_it(folder: Path) -> None:
    names = {name for _, name in uses(folder / "small_work.py", "with_table", WITHIN).definitions}
    assert {"Table", "inner", "SCALE", "factor"} <= names


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("small_work", "inner(x) + late", "inner(x) - late", True),
        ("small_helpers", "SCALE = 2", "SCALE = 3", True),
        ("small_helpers", "SCALE * x", "SCALE + x", True),
        ("small_helpers", "first = second =", "first = x\n    second =", True),
        ("small_helpers", "* first + (lambda", "* second + (lambda", True),
        ("small_helpers", "(second)\n", "(first)\n", True),
        ("small_other", "import math\n", "import cmath as math\n", True),
        ("small_other", "6", "7", True),
        ("small_late", "return x", "return -x", True),
        ("small_helpers", "json.dumps(x)", "json.dumps([x])", False),
        ("small_work", "Some words.", "Other words.", False),
        ("small_work", "x: int", "x: float", False),
        ("small_work", "    return inner", "    # why\n    return inner", False),
        ("small_helpers", "first", "kept", False),
    ],
)
def test_fingerprint_changes_with_the_computation_alone(
    folder: Path, file: str, old: str, new: str, changes: bool
) -> None:
    before = _fingerprint()
    path = folder / f"{file}.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert (_fingerprint() != before) == changes
    assert len(before) == 16


@pytest.mark.parametrize(("origin", "name"), [("small_other", "factor"), ("small_late", "late")])
def test_a_moved_helper_changes_no_fingerprint(folder: Path, origin: str, name: str) -> None:
    """It leaves its module for another, from which the others import it now."""
    before = _fingerprint()
    (folder / "small_new.py").write_text(FILES[origin])
    (folder / f"{origin}.py").write_text("")
    for file in ("small_work", "small_helpers"):
        path = folder / f"{file}.py"
        path.write_text(path.read_text().replace(f"from {origin} import", "from small_new import"))
    for module in (*FILES, "small_new"):
        sys.modules.pop(module, None)
    _forget()
    work = importlib.import_module("small_work").work
    assert fingerprint(work, (*WITHIN, "small_new")) == before
    assert fingerprint(work, WITHIN) != before


def test_functions_that_cannot_be_found_are_refused() -> None:
    with pytest.raises(ValueError, match="a function at the top level of a file"):
        fingerprint(lambda: 1, WITHIN)
