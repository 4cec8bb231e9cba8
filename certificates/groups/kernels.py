"""Which of the two kernels is for which file."""

from __future__ import annotations

from pathlib import Path

from certificates import kernel, table_kernel

__all__ = ["kernel_of"]


def kernel_of(file: Path) -> str:
    """The program that checks a file: `certificates.table_kernel` for its format, `certificates.kernel` for the rest.

    The text of the format occurs with its quotes nowhere else in a document: in other strings they are escaped. What
    cannot be read goes to the kernel of groups, which says so; so does a pipe, which can be read only once.
    """
    if not file.is_file():
        return kernel.__file__
    try:
        with file.open("rb") as opened:
            data = opened.read(kernel.MAX_BYTES + 1)
    except OSError:
        return kernel.__file__
    return (table_kernel if f'"{table_kernel.FORMAT}"'.encode() in data else kernel).__file__
