"""``python -m tests.machines.interpreters``: the tests under every version of Python that this machine has.

    python -m tests.machines.interpreters [--only 3.13] [--paths theorems tests]

Each interpreter that is found on the path (``python3.12`` and so on) gets an environment of its own in build/, with the
pins of constraints.txt; the tests run there in a copy of the tracked files. A version that is not on this machine is
named, and nothing fails for it. pyproject.toml promises the versions under which all tests have passed, and no others.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.workers import ROOT, copy_of_the_tree

__all__ = ["VERSIONS", "promised"]

VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def promised() -> list[str]:
    """The versions of Python that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    prefix = "Programming Language :: Python :: 3."
    return [
        one.removeprefix("Programming Language :: Python :: ")
        for one in project["classifiers"]
        if one.startswith(prefix)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 if nothing failed under any interpreter, 1 if something did, 2 for an unknown version."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.machines.interpreters", description="Every version of Python."
    )
    parser.add_argument("--only", metavar="VERSION", help="one version, such as 3.13")
    parser.add_argument("--paths", nargs="+", default=["theorems", "tests"], help="what pytest runs")
    asked = parser.parse_args(arguments)
    if asked.only not in (None, *VERSIONS):
        print(f"error: {asked.only!r} is none of {', '.join(VERSIONS)}.", file=sys.stderr)
        return 2
    outcomes = {version: _under(version, asked.paths) for version in VERSIONS if asked.only in (None, version)}
    for version, outcome in outcomes.items():
        promise = "" if version in promised() else " (not promised in pyproject.toml)"
        print(f"Python {version}: {outcome or 'passed'}{promise}")
    return int(any(outcome not in (None, _ABSENT) for outcome in outcomes.values()))


_ABSENT = "not on this machine"


def _under(version: str, paths: Sequence[str]) -> str | None:
    """What went wrong under a version, None if nothing."""
    found = shutil.which(f"python{version}")
    asked = [found, "-c", "import sys; print(sys.executable)"] if found else []
    if not asked or subprocess.run(asked, capture_output=True).returncode:
        return _ABSENT
    environment = ROOT / "build" / f"python{version}"
    python = environment / "bin" / "python"
    with tempfile.TemporaryDirectory(prefix=f"lemmata-python{version}-") as scratch:
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(ROOT), scratch], check=True)
        copy_of_the_tree(Path(scratch))
        pip = [str(python), "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt"]
        for step in (
            [] if python.exists() else [str(found), "-m", "venv", str(environment)],
            [*pip, "pip", "setuptools", "wheel"],
            [*pip, "--no-build-isolation", "--editable", ".[test,site]"],
            [str(python), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", *paths],
        ):
            if step and subprocess.run(step, cwd=scratch).returncode:
                return f"failed at {' '.join(step[1:4])}"
    return None


if __name__ == "__main__":
    raise SystemExit(main())
