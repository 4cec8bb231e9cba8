"""The proofs beside the modules cite checks, modules and files that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from lemmata import certificates

ROOT = Path(certificates.__file__).resolve().parents[1]
PROOFS = sorted((ROOT / "certificates").rglob("*.md"))


def defined_tests() -> set[str]:
    """The names of all test functions of the repository."""
    modules = [path for folder in ("tests", "theorems") for path in (ROOT / folder).rglob("test_*.py")]
    return {name for path in modules for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)}


def resolves(dotted: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            target = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            target = getattr(target, name, None)
        return target is not None
    return False


@pytest.mark.parametrize("path", PROOFS, ids=lambda path: path.name)
def test_what_a_proof_cites_exists(path):
    text = path.read_text(encoding="utf-8")
    files = re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|md))", text)
    names = re.findall(r"`(?:[\w/]+\.py::)?(test_\w+)`", text)
    modules = re.findall(r"`(lemmata(?:\.\w+)+)`", text)
    assert [name for name in files if not (ROOT / name).exists() and not (path.parent / name).exists()] == []
    assert [name for name in names if name not in defined_tests()] == []
    assert [name for name in modules if not resolves(name)] == []
    assert files or names or modules


def test_every_proof_is_cited_by_a_module_beside_it():
    for path in PROOFS:
        assert any(path.name in module.read_text() for module in path.parent.glob("*.py")), path.name


def test_dead_citations_are_seen():
    assert resolves("lemmata.certificates.game.faces.optimal_faces")
    assert not resolves("lemmata.certificates.game.faces.optimal_facets")
    assert not resolves("lemmata.certificates.games")
    assert "test_dead_citations_are_seen" in defined_tests()
