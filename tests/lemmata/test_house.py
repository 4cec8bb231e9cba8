"""Files and folders of the user with the name of one of our packages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lemmata

ROOT = Path(lemmata.__file__).parents[1]
INSTALLED = "import sys; sys.path.append({root!r}); "  # behind the working directory, as after pip install
EDITABLE = """
import sys
from importlib.machinery import PathFinder
class Editable:  # behind all folders, as after pip install --editable
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [{root!r}]) if path is None else None
sys.meta_path = [finder for finder in sys.meta_path if getattr(finder, "__name__", "") != "_EditableFinder"]
sys.meta_path.append(Editable)  # in place of the one that may be installed here
"""
COMMAND = "from lemmata.cli import app; app(['--version'])"


def run(folder: Path, code: str, *options: str, **environment: str) -> tuple[int, str]:
    """The exit code of Python in a folder and the last line that it prints."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *options, *(["-c", code] if code else [])]
    done = subprocess.run(command, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


def hide(folder: Path, name: str, kind: str) -> Path:
    """A folder with a package, an empty folder, or a module of a given name."""
    if kind == "module":
        (folder / f"{name}.py").write_text("x = 1\n")
        return folder / f"{name}.py"
    (folder / name).mkdir()
    if kind == "package":
        (folder / name / "__init__.py").write_text("")
    return folder / name


@pytest.mark.parametrize("kind", ["package", "module"])
@pytest.mark.parametrize("name", ["numerics", "theorems"])
@pytest.mark.parametrize("layout", [INSTALLED, EDITABLE], ids=["installed", "editable"])
def test_what_hides_a_package_is_named(tmp_path, name, kind, layout):
    place = hide(tmp_path, name, kind).resolve()
    sentence = f"{re.escape(str(place))} hides the package {name} of Lemmata, .*: rename it, or run Python from another"
    for code in ("import lemmata", COMMAND):
        status, line = run(tmp_path, layout.format(root=str(ROOT)) + code)
        assert status != 0
        assert re.search(sentence, line)


@pytest.mark.parametrize("kind", ["package", "module"])
def test_so_does_the_command_line(tmp_path, kind):
    place = hide(tmp_path, "numerics", kind).resolve()
    status, line = run(tmp_path, "", "-m", "lemmata", "--version", PYTHONPATH=str(ROOT))
    assert status != 0
    assert f"{place} hides the package numerics of Lemmata" in line


def test_an_empty_folder_hides_nothing_or_is_named(tmp_path):
    place = hide(tmp_path, "numerics", "empty").resolve()
    status, line = run(tmp_path, INSTALLED.format(root=str(ROOT)) + COMMAND)
    assert (status, line) == (0, f"lemmata {lemmata.__version__}")
    status, line = run(tmp_path, EDITABLE.format(root=str(ROOT)) + "import lemmata")
    assert status != 0
    assert f"{place} hides the package numerics of Lemmata" in line


def test_other_folders_are_no_concern_of_ours(tmp_path):
    hide(tmp_path, "experiments", "package")
    assert run(tmp_path, INSTALLED.format(root=str(ROOT)) + COMMAND) == (0, f"lemmata {lemmata.__version__}")


RUNNING = {
    "numerics/parity/architecture_training.py": {"ArchitectureRun"},
    "numerics/parity/compiled_training.py": {"CompiledRun"},
    "numerics/parity/quadratic_training.py": {"QuadraticLayers"},
    "numerics/parity/sinusoidal_neuron.py": {"SinusoidalNeurons", "NeuronCourses"},
    "numerics/parity/training.py": {"Network", "TrainingRun"},
    "numerics/turing/simulator.py": {"Tape"},
    "constructions/turing/evaluators/dense.py": {"_Memory"},
    "constructions/turing/evaluators/exact.py": {"_Layer"},
    "constructions/turing/evaluators/indexed.py": {"IndexedRun"},
    "constructions/turing/evaluators/indexed_program.py": {"_Map"},
    "constructions/turing/evaluators/outcomes.py": {"Outcome"},
    "constructions/turing/evaluators/sessions.py": {"IndexedSession"},
    "certificates/tables/programs_interior.py": {"_Point"},
    "theorems/variable_creation/experiments/training.py": {"Course"},
}
"""What changes while something runs; all other data are frozen."""


def thawed(text: str) -> set[str]:
    """The dataclasses of a module without ``frozen=True``."""
    found = re.findall(r"^ *@(?:dataclasses\.)?dataclass(.*)\n(?: *@.*\n)*^ *class (\w+)", text, re.MULTILINE)
    return {name for words, name in found if "frozen=True" not in words}


def test_data_are_frozen_but_what_runs():
    assert thawed("@dataclass(frozen=False)\n@final\nclass A: ...\n@dataclasses.dataclass\nclass B: ...\n") == {
        "A",
        "B",
    }
    assert thawed("@dataclass(frozen=True)\nclass A: ...\nclass B: ...\n") == set()
    found = {}
    for package in ("numerics", "constructions", "certificates", "theorems", "lemmata"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if classes := thawed(path.read_text(encoding="utf-8")):
                found[path.relative_to(ROOT).as_posix()] = classes
    assert found == RUNNING
