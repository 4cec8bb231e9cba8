"""Lemmata beside other projects: their folders have any names, and their tests run as they would without it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lemmata

ROOT = Path(lemmata.__file__).resolve().parents[1]
PACKAGES = ("numerics", "constructions", "certificates", "theorems")
THEIRS = """
import subprocess, sys

import numerics, theorems, certificates
from hypothesis import settings

import pytest

def test_their_packages_are_theirs():
    assert (numerics.x, theorems.x, certificates.x) == (1, 2, 3)

def test_their_profile_is_that_of_hypothesis(request, effort):
    assert effort == "theirs"
    alone = "from hypothesis import settings; print(settings())"
    alone = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True).stdout
    assert repr(settings()) == alone.strip()
    assert not [name for name in settings._profiles if name.startswith("lemmata")]
    assert "evidence" not in " ".join(request.config.getini("markers"))

def test_ours_is_ours():
    import lemmata as lm
    assert str(lm.certify("S3").value) == VALUE
"""
CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--effort", default="theirs")

@pytest.fixture
def effort(request):
    return request.config.getoption("effort")
"""


@pytest.fixture(scope="module")
def value() -> str:
    return str(lemmata.certify("S3").value)


@pytest.fixture
def project(tmp_path: Path, value: str) -> Path:
    """A project of somebody else, with packages that are called like ours."""
    for number, name in enumerate(("numerics", "theorems", "tests"), 1):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"x = {number}\n")
    (tmp_path / "certificates.py").write_text("x = 3\n")
    (tmp_path / "constructions").mkdir()  # empty
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "tests" / "test_theirs.py").write_text(THEIRS.replace("VALUE", repr(value)))
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of Python in a folder, with this toolkit behind everything that lies there."""
    left_out = ("PYTEST_ADDOPTS", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    command = [sys.executable, "-c", BEHIND.format(root=str(ROOT), arguments=list(arguments))]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


BEHIND = """
import runpy, sys
sys.path.append({root!r})
sys.argv = {arguments!r}
if sys.argv[0] == "-m":
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
else:
    exec(sys.argv[1])
"""


@pytest.mark.parametrize("where", ["at home", "in CI"])
def test_their_tests_run_as_without_us(project, where, monkeypatch):
    monkeypatch.setenv("CI", "true") if where == "in CI" else monkeypatch.delenv("CI", raising=False)
    done = run(project, "-m", "pytest", "-p", "no:cacheprovider", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert "ledger" not in done.stdout


def test_their_environment_may_lie_inside_their_project(project):
    packages = project / ".venv" / "lib" / "python3" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "lemmata").symlink_to(ROOT / "lemmata")
    done = run(project, "-m", "pytest", "-p", "no:cacheprovider", "-q")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["option", "line"])
def test_who_asks_gets_the_ledger(project, how):
    (project / "conftest.py").unlink()  # its option is ours now
    if how == "line":
        (project / "pytest.ini").write_text("[pytest]\nlemmata = true\n")
    asked = ("--lemmata",) if how == "option" else ()
    done = run(project, "-m", "pytest", "-p", "no:cacheprovider", "-q", *asked, "--ledger-json=ledger.json")
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: assert Effort(name='quick') == 'theirs'" in done.stdout
    assert json.loads((project / "ledger.json").read_text())["format"] == "lemmata/ledger"


def test_without_asking_there_are_no_options(project):
    done = run(project, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--ledger-json=ledger.json")
    assert done.returncode == 4
    assert "unrecognized arguments: --ledger-json" in done.stderr


def test_the_front_door_and_the_command_line_work_beside_them(project, value):
    done = run(project, "-c", "import lemmata as lm, numerics; print(lm.certify('S3').value, numerics.x)")
    assert (done.returncode, done.stdout.strip()) == (0, f"{value} 1"), done.stderr
    done = run(project, "-m", "lemmata", "certify", "S3", "--out", "s3.json")
    assert done.returncode == 0, done.stderr
    done = run(project, "-m", "lemmata", "check", "s3.json")
    assert "s3.json: valid: group of order 6" in done.stdout


def test_a_notebook_works_beside_them(project, value):
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": []}
    cell["source"] = (
        f"import lemmata as lm, numerics\nassert (str(lm.certify('S3').value), numerics.x) == ({value!r}, 1)"
    )
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    text = json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    (project / "notebook.ipynb").write_text(text)
    done = run(project, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--nbmake", "notebook.ipynb")
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_module_is_imported_under_two_names():
    """In this process, which has collected all tests where all are run."""
    names: dict[Path, list[str]] = {}
    for name, module in sys.modules.copy().items():
        file = getattr(module, "__file__", None)
        if file is not None and name != "__main__" and Path(file).resolve().is_relative_to(ROOT):
            names.setdefault(Path(file).resolve(), []).append(name)
    ours = {path: found for path, found in names.items() if "site-packages" not in path.parts}
    assert {path: found for path, found in ours.items() if len(found) > 1} == {}
    assert [name for found in ours.values() for name in found if name.partition(".")[0] in PACKAGES] == []
    assert any(found == ["lemmata"] for found in ours.values())


@pytest.mark.parametrize(
    "how", ["theorems/turing/test_circuits.py", "lemmata/theorems/turing", "lemmata.theorems.turing"]
)
def test_a_chapter_has_one_name_however_it_is_reached(how):
    code = (
        "import pytest, sys; "
        "status = pytest.main(sys.argv[1:]); "
        "found = sorted(name for name in sys.modules if 'turing.test_circuits' in name or name == 'theorems'); "
        "print(found, int(status))"
    )
    packages = ("--pyargs",) if "/" not in how else ()
    command = [sys.executable, "-c", code, "-q", "-p", "no:cacheprovider", "--collect-only", *packages, how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "['lemmata.theorems.turing.test_circuits'] 0", (
        done.stdout[-2000:] + done.stderr
    )
