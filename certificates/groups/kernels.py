"""Which of the kernels is for which file."""

from __future__ import annotations

from pathlib import Path

from certificates import kernel, operation_kernel, table_kernel

__all__ = ["kernel_of"]

PROGRAMS = {
    table_kernel.FORMAT: table_kernel.__file__,
    operation_kernel.MARGIN: operation_kernel.__file__,
    operation_kernel.UNSEEN: operation_kernel.__file__,
}
"""The program for each format but that of groups."""


def kernel_of(file: Path) -> str:
    """The program that checks a file: the one for its format, and `certificates.kernel` for the rest.

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
