"""The theory of tables, compiled once for all tests of a process; they are skipped where Coq is not installed."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from certificates.coq.compiler import modules_of, theory

MODULES = modules_of("From Lemmata Require Import Value.")

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="The command coqc of Coq 8.16 is not installed.")


@cache
def build(root: Path) -> Path:
    """A folder for compiled theories, with that of tables in it."""
    folder = Path(mkdtemp(dir=root))
    theory(MODULES, folder)
    return folder


@cache
def compiled(root: Path) -> Path:
    """The compiled theory of tables."""
    return theory(MODULES, build(root))
