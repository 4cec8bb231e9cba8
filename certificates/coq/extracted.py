"""The checker of Coq as a program of its own: extracted to OCaml, compiled, and asked about documents.

Coq writes the function `accepted` of Decide.v as OCaml; `ocaml/main.ml` reads a document, asks that function and prints
the claim of what it has read. Integers are the binary numbers of Coq, so that none overflows.
Needs ``ocamlopt``, with which Coq was built, and no library.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lemmata.certificates.coq.compiler import (
    THEORY,
    CoqRefusalError,
    checked_theorem,
    coqc,
    modules_of,
    theory,
    theory_mark,
    whole_stack,
)
from lemmata.certificates.coq.source import CoqTerms

__all__ = ["Decision", "checker_mark", "decide", "document_words", "extracted_checker", "find_ocaml"]

MODULES = modules_of("From Lemmata Require Import Value.")
SOURCES = (THEORY / "Decide.v", THEORY / "ocaml" / "main.ml")
EXTRACTION = """From Coq Require Import ZArith Extraction ExtrOcamlBasic.
From Lemmata Require Import Decide.
Extraction "decide.ml" accepted Z.add Z.mul Z.opp Z.div_eucl.
Check (accepted_sound : forall d, accepted d = true -> claimed d).
Print Assumptions accepted_sound.
"""
"""Of the types only booleans, pairs, lists and options become those of OCaml, which have the same constructors."""
PROGRAM = "checker"


@dataclass(frozen=True)
class Decision:
    """What the program said about a document.

    Attributes:
        accepted: whether all checks hold.
        table: that it has read, as in Statement.v.
        statement: the claim about it, in the same words.
        processor_seconds: of its run.
    """

    accepted: bool
    table: str
    statement: str
    processor_seconds: float


def find_ocaml() -> str:
    """The path of ``ocamlopt``.

    Raises:
        ValueError: where it is not installed.
    """
    program = shutil.which("ocamlopt")
    if program is None:
        raise ValueError(
            "There is no program ocamlopt here: install OCaml (the package ocaml of Debian and Ubuntu; no library is "
            "needed)."
        )
    return program


def extracted_checker(
    folder: Path, build: Path | None = None, progress: Callable[[str, float], None] | None = None
) -> Path:
    """The program in a folder, extracted and compiled there by every call.

    Args:
        folder: gets the files of OCaml too; made if missing.
        build: for compiled theories (`theory`).
        progress: called with the name and the seconds of each file of the theory that has been compiled.

    Raises:
        ValueError: where ``coqc`` or ``ocamlopt`` is not installed.
        CoqRefusalError: when Coq does not accept the theory, or on more axioms than those of its real numbers, and when
            OCaml does not accept the program.
        OSError: for a folder that cannot be written.
    """
    ocamlopt = find_ocaml()
    compiled = theory(MODULES, build, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".ocaml-", dir=folder) as scratch:
        room = shutil.copytree(compiled, Path(scratch) / "theory")
        for source in SOURCES:
            shutil.copy(source, room)
        (room / "Extract.v").write_text(EXTRACTION, encoding="ascii")
        coqc(room / "Decide.v", room)
        checked_theorem(coqc(room / "Extract.v", room))
        command = [ocamlopt, "-o", PROGRAM, "decide.mli", "decide.ml", "main.ml"]
        done = subprocess.run(command, cwd=room, capture_output=True, text=True)
        if done.returncode:
            raise CoqRefusalError(f"OCaml does not accept the extracted checker: {' '.join(done.stderr.split())}")
        for name in ("decide.ml", "main.ml", PROGRAM):
            (room / name).replace(folder / name)
    return folder / PROGRAM


def checker_mark() -> str:
    """A hash of all sources of the program, and of the version of Coq."""
    whole = hashlib.sha256((theory_mark(MODULES) + EXTRACTION).encode())
    for source in SOURCES:
        whole.update(source.read_bytes())
    return whole.hexdigest()[:16]


def document_words(value: Any) -> list[str]:
    """`CoqTerms.decided` as the words that main.ml reads: a list begins with its length."""
    if isinstance(value, Fraction):
        return [str(value.numerator), str(value.denominator)]
    if isinstance(value, list | tuple):
        words = [word for one in value for word in document_words(one)]
        return [str(len(value)), *words] if isinstance(value, list) else words
    return [str(value)]


def decide(program: Path, terms: CoqTerms, time_limit: float | None = None) -> Decision:
    """What the program says about a document; that it has read another claim than the document has is an error.

    Args:
        program: `extracted_checker`.
        terms: of the document (`lemmata.certificates.coq.source.coq_terms`).
        time_limit: in seconds.

    Raises:
        ValueError: when it takes too long, cannot read the document, or has not enough stack or memory for it.
        CoqRefusalError: when what it has read is another claim.
    """
    before = os.times()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document"
        path.write_text(" ".join(document_words(terms.decided)) + "\n", encoding="ascii")
        try:
            done = subprocess.run(
                [program, path], capture_output=True, text=True, timeout=time_limit, preexec_fn=whole_stack
            )
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"The extracted checker did not finish within {time_limit:g} seconds.") from error
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    if (
        done.returncode not in (0, 1)
        or (lines := done.stdout.splitlines())[0] != ("accepted", "refused")[done.returncode]
    ):
        reason = done.stderr.strip() or f"it ended with status {done.returncode}"
        raise ValueError(f"The extracted checker decides nothing: {reason}")
    decision = Decision(done.returncode == 0, lines[1], lines[2], spent)
    if (decision.table, decision.statement) != (terms.claim.table, terms.claim.statement):
        raise CoqRefusalError("The extracted checker has read another claim than that of the document.")
    return decision
