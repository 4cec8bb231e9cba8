"""Without the extras: what the core does, and what is said where a package is missing."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lemmata
from lemmata.extras import EXTRAS, missing_extra

ROOT = Path(lemmata.__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {re.split(r"[>=<\[]", one)[0] for one in PROJECT["dependencies"]}
WITHOUT = """
import sys

class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Missing)
sys.path.insert(0, {root!r})
"""


def run(folder: Path, code: str, *arguments: str) -> tuple[int, str, str]:
    """Python without the packages of all extras."""
    start = WITHOUT.format(missing=sorted(EXTRAS), root=str(ROOT))
    command = [sys.executable, "-c", start + code, *arguments]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}  # to compile takes longer than what is tried here
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def lemmata_command(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """A command line without the packages of all extras."""
    return run(folder, "from lemmata.cli import main; main()", *arguments)


def test_the_core_certifies_checks_runs_machines_and_reads_the_ledger(tmp_path):
    for arguments, words in (
        (("certify", "S3", "--out", "s3.json"), "exact (proved, both sides are the same number)"),
        (("check", "s3.json"), "s3.json: valid: group of order 6"),
        (("explain", "s3.json"), "valid: the kernel built the group of order 6"),
        (("path", "S3"), "printed"),
        (("parity", "5", "2"), "accepted"),
        (("turing", "bb4", "--verify"), "halted after 107 steps"),
        (("show", "turing:theorem-4.1"), "turing:theorem-4.1"),
        (("ledger", "--chapter", "turing"), "turing:theorem-4.1"),
    ):
        status, output, error = lemmata_command(tmp_path, *arguments)
        assert status == 0, f"{arguments}: {output}{error}"
        assert words in output, arguments


def test_without_an_extra_a_command_says_which_one_it_needs(tmp_path):
    status, output, error = lemmata_command(tmp_path, "certify", "op:max:3", "--out", "max.json")
    assert (status, output) == (2, "")
    assert error == "error: This needs cvxpy, which the extra solvers brings: pip install 'lemmata[solvers]'.\n"
    assert list(tmp_path.iterdir()) == []


def test_so_does_a_name_of_the_front_door(tmp_path):
    status, _, error = run(tmp_path, "import lemmata as lm; lm.operations")
    assert status == 1
    assert error.endswith("This needs cvxpy, which the extra solvers brings: pip install 'lemmata[solvers]'.\n")


def test_other_missing_modules_are_no_matter_of_extras():
    assert missing_extra(ModuleNotFoundError("x", name="numerics")) is None
    assert missing_extra(ModuleNotFoundError("x")) is None


@pytest.mark.parametrize("package", EXTRAS)
def test_every_extra_brings_what_it_is_said_to_bring(package):
    """Dask comes with its scheduler."""
    brought = " ".join(PROJECT["optional-dependencies"][EXTRAS[package]])
    assert package in brought or package == "dask"
    assert package not in CORE


def test_the_core_is_small():
    assert {"llvmlite", "numba", "numpy", "python-flint", "rich", "scipy", "typer"} == CORE


def test_the_checkers_need_python_alone(tmp_path):
    lemmata.save(lemmata.certify("S3"), tmp_path / "s3.json")
    (tmp_path / "bad.json").write_text("{}")
    code = (
        "import sys; sys.path.append(" + repr(str(ROOT)) + "); "
        "from lemmata.certificates.groups.kernels import main\n"
        "try: main()\n"
        "finally: print({name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names - {'lemmata'})"
    )
    script = [sys.executable, "-S", "-c", code]
    done = subprocess.run([*script, "s3.json", "bad.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    first, second, loaded = done.stdout.splitlines()
    assert (done.returncode, loaded) == (2, "{'__main__'}")
    assert first.startswith("s3.json: valid: group of order 6")
    assert second.startswith("bad.json: malformed: ")
    none = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (none.returncode, none.stdout.splitlines()[0]) == (2, "usage: lemmata-check FILE...")
