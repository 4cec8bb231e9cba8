"""The front door: every name resolves, says what it is, and costs nothing until it is used."""

import ast
import inspect
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lemmata as lm

HEAVY = ("numpy", "flint", "scipy", "sympy", "numba", "torch", "cvxpy", "matplotlib", "rich", "typer")
ROOMS = [name for name in lm.__all__ if inspect.ismodule(getattr(lm, name))]
PUBLIC = [(lm, name) for name in lm.__all__] + [
    (room, name) for room in [import_module(f"lemmata.{name}") for name in ROOMS] for name in room.__all__
]


@pytest.mark.parametrize(("space", "name"), PUBLIC, ids=[f"{space.__name__}.{name}" for space, name in PUBLIC])
def test_every_name_resolves_and_has_a_summary(space, name):
    value = getattr(space, name)
    summary, *rest = (inspect.getdoc(value) or "").splitlines()
    assert 10 < len(summary) <= 120
    assert not rest or not rest[0]  # one line, then a blank one
    assert name in space.__doc__  # the docstring of the namespace is its table of contents


def test_the_names_of_a_room_stand_under_the_title_of_their_module():
    titles = [line for line in (lm.capacity.__doc__ or "").splitlines() if line and not line.startswith(" ")]
    module = sys.modules[lm.capacity.perceptron_norm.__module__]
    assert (module.__doc__ or "no title").partition("\n")[0] in titles


def test_the_table_of_contents_names_nothing_else():
    lines = [line for line in (lm.__doc__ or "").splitlines() if line.startswith("    ")]
    names = {word.strip(",") for line in lines for word in line.split()}
    assert names >= set(lm.__all__)
    assert len(lm.__all__) == len(set(lm.__all__))
    assert len(set(lm.__all__) - set(ROOMS)) <= 52  # beside the rooms: a new name goes to a room
    assert set(dir(lm)) == {*lm.__all__, "__version__"}
    exec("from lemmata import *", star := {})
    assert set(star) - {"__builtins__"} == set(lm.__all__)


def test_type_checkers_see_the_names_that_python_finds():
    tree = ast.parse(Path(lm.__file__).read_text(encoding="utf-8"))
    [block] = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {}
    for line in block.body[:-1]:
        assert isinstance(line, ast.ImportFrom)
        for alias in line.names:
            assert alias.asname == alias.name  # a re-export
            seen[alias.name] = line.module
    assert set(seen) == set(lm.__all__)
    assert ast.unparse(block.body[-1]) == "__version__: str"
    for name, module in seen.items():
        assert getattr(lm, name) is getattr(import_module(module), name)


def test_importing_it_imports_nothing_heavy():
    code = "import lemmata, sys, json; dir(lemmata); print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert "lemmata" in loaded
    assert not set(HEAVY) & set(loaded)
    assert {name for name in loaded if name.startswith("lemmata.")} == set()


def test_a_name_loads_its_share_only():
    code = "import lemmata as lm, sys, json; lm.statement('turing:theorem-4.1'); print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert not set(HEAVY) & set(loaded)


def test_unknown_names_are_met_with_close_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'certfy'; close to it are certify, .*\.$"):
        lm.certfy  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'eigenvalues'; help\(lemmata\) lists what there is\."):
        lm.eigenvalues  # type: ignore[attr-defined] # noqa: B018
    assert not hasattr(lm, "_hidden")
    assert not hasattr(lm, "__wrapped__")
