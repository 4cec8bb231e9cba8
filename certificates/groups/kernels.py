"""Which of the kernels is for which file, and ``lemmata-check FILE...``, the six of them as one program.

Nothing here imports anything outside of the standard library, so that a file is checked by whoever has Python.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from lemmata.certificates import (
    algebraic_kernel,
    character_table_kernel,
    kernel,
    operation_kernel,
    solution_kernel,
    ternary_kernel,
)

__all__ = ["kernel_of", "main"]

PROGRAMS = {
    algebraic_kernel.FORMAT: algebraic_kernel.__file__,
    character_table_kernel.FORMAT: character_table_kernel.__file__,
    operation_kernel.MARGIN: operation_kernel.__file__,
    operation_kernel.UNSEEN: operation_kernel.__file__,
    solution_kernel.FORMAT: solution_kernel.__file__,
    ternary_kernel.FORMAT: ternary_kernel.__file__,
}
"""The program for each format but that of groups."""


def kernel_of(file: Path) -> str:
    """The program that checks a file: the one for its format, and `lemmata.certificates.kernel` for the rest.

    The text of a format occurs with its quotes nowhere else in a document: in other strings they are escaped. What
    cannot be read goes to the kernel of groups, which says so; so does a pipe, which can be read only once.
    """
    if not file.is_file():
        return kernel.__file__
    try:
        with file.open("rb") as opened:
            data = opened.read(kernel.MAX_BYTES + 1)
    except OSError:
        return kernel.__file__
    for text, program in PROGRAMS.items():
        if f'"{text}"'.encode() in data:
            return program
    return kernel.__file__


def main() -> None:
    """``lemmata-check FILE...``: a line per file, in order, and the worst exit status, as of each kernel."""
    if not sys.argv[1:] or sys.argv[1] in ("-h", "--help"):
        print("usage: lemmata-check FILE...\n\nCheck certificate files with the standard library of Python alone.")
        print("Exit status 0: every file is valid; 1: a claim is not proved; 2: a file is malformed.")
        raise SystemExit(0 if sys.argv[1:] else 2)
    checks = {
        algebraic_kernel.__file__: algebraic_kernel.check,
        character_table_kernel.__file__: character_table_kernel.check,
        operation_kernel.__file__: operation_kernel.check,
        solution_kernel.__file__: solution_kernel.check,
        ternary_kernel.__file__: ternary_kernel.check,
    }
    status = 0
    for program, names in groupby(sys.argv[1:], key=lambda name: kernel_of(Path(name))):
        status = max(status, kernel.main(list(names), checks.get(program, kernel.check)))
    raise SystemExit(status)
