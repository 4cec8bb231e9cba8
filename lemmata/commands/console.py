"""What every command of the command line shares: the two consoles, and how input is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

__all__ = ["err", "out", "refusals"]

out = Console(highlight=False, emoji=False)  # :a: in op:a:9 is no emoji
err = Console(stderr=True, highlight=False, emoji=False)


@contextmanager
def refusals() -> Iterator[None]:
    """The conversion of input that is refused into one sentence on stderr and exit code 2."""
    try:
        yield
    except (ValueError, OSError, MemoryError) as error:
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.strerror else str(error)
        err.print(f"[red]error[/red]: {escape(reason or 'not enough memory')}", soft_wrap=True)
        raise typer.Exit(2) from error
