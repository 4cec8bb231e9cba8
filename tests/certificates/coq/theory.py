"""The theory of tables, compiled once for all processes of a run; tests are skipped where Coq is not installed."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from lemmata.certificates.coq.compiler import THEORY, coqc, modules_of, theory
from lemmata.certificates.coq.extracted import extracted_checker

MODULES = modules_of("From Lemmata Require Import Value.")

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="The command coqc of Coq 8.16 is not installed.")
has_ocaml = None not in (shutil.which("coqc"), shutil.which("ocamlopt"))
needs_ocaml = pytest.mark.skipif(
    not has_ocaml, reason="The commands coqc and ocamlopt, which make the extracted checker, are not both installed."
)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """A block in which no other process of the tests compiles into a folder: who waits finds what was compiled."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept(files: tuple[str, ...], request: pytest.FixtureRequest, temporary: pytest.TempPathFactory) -> Path:
    """The compiled files of a theory, which stay in pytest's cache until a source changes."""
    cache = getattr(request.config, "cache", None)  # pytest can be asked to have none
    folder = temporary.mktemp("theory") if cache is None else cache.mkdir("coq")
    with alone(folder):
        return theory(files, folder)


@cache
def build(root: Path) -> Path:
    """A folder for compiled theories, with that of tables in it.

    Args:
        root: pytest's folder for the temporary files of this process; those of all workers lie side by side.
    """
    folder = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "coq"
    folder.mkdir(exist_ok=True)
    with alone(folder):
        theory(MODULES, folder)
    return folder


@cache
def compiled(root: Path) -> Path:
    """The compiled theory of tables."""
    return theory(MODULES, build(root))


@cache
def compiled_with_symmetry(root: Path) -> Path:
    """The same, with the file on symmetries."""
    folder = Path(mkdtemp(dir=root))
    shutil.copytree(compiled(root), folder, dirs_exist_ok=True)
    source = shutil.copy(THEORY / "Symmetry.v", folder)
    coqc(Path(source), folder)
    return folder


@cache
def extracted(root: Path) -> Path:
    """The checker that is extracted to OCaml, made once."""
    folder = build(root)
    program = folder / "ocaml" / "checker"
    with alone(folder):
        return program if program.exists() else extracted_checker(program.parent, folder)
