"""What the two commands of the README do around the tests: links, the environment, the closing lines."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import lemmata

ROOT = Path(lemmata.__file__).resolve().parents[1]
PACKAGES = ("numerics", "constructions", "certificates", "theorems")


def program(path: Path, lines: str) -> None:
    """A program of a shell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout as an archive may leave it, with a program in place of each tool of the environment."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "lemmata").mkdir()
    for name in PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / "lemmata" / name).write_text(f"../{name}")  # what unpacking makes of a link, at times
    program(tmp_path / ".venv" / "bin" / "python", "echo python $* >> calls")
    program(
        tmp_path / ".venv" / "bin" / "pytest", "echo pytest $* >> calls; echo 'Statements that failed: a:b.'; exit 1"
    )
    return tmp_path


def make(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    """A target of the Makefile."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "--no-print-directory", target],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_environment_is_made_once_and_lost_links_again(checkout):
    done = make(checkout, "setup")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("Setting up the environment .venv, once")
    assert done.stdout.splitlines()[-1] == "The environment is ready. Try: .venv/bin/lemmata certify S3"
    assert "--editable .[develop]" in (checkout / "calls").read_text()
    for name in PACKAGES:
        assert (checkout / "lemmata" / name).readlink() == Path("..") / name
    assert make(checkout, "setup").stdout.splitlines() == done.stdout.splitlines()[-1:]


def test_when_theorems_fail_the_last_lines_say_which_and_that_the_environment_is_ready(checkout):
    done = make(checkout, "theorems")
    assert done.returncode != 0
    assert done.stdout.splitlines()[-2:] == [
        "Statements that failed: a:b.",
        "The environment is ready all the same: .venv/bin/lemmata certify S3",
    ]
    assert (checkout / "calls").read_text().splitlines()[-1].startswith("pytest -n 2 --dist worksteal theorems")


def test_links_that_are_there_stay(checkout):
    for name in PACKAGES:
        (checkout / "lemmata" / name).unlink()
        (checkout / "lemmata" / name).symlink_to(f"../{name}")
    before = [(checkout / "lemmata" / name).lstat().st_ino for name in PACKAGES]
    assert make(checkout, "setup").returncode == 0
    assert [(checkout / "lemmata" / name).lstat().st_ino for name in PACKAGES] == before
