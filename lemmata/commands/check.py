"""The command `lemmata check`: the kernel in a process of its own, on certificate files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from certificates import kernel
from lemmata.commands.console import err, out

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Check certificate files with the kernel, a program of its own that trusts nothing.")
def check(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="certificate files")]) -> None:
    """A line per file; exit 0 when all are valid, 1 when one is invalid, 2 when one is malformed."""
    command = [sys.executable, "-I", kernel.__file__, *(str(file) for file in files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            path, colon, rest = escape(line.rstrip("\n")).rpartition(": valid: ")
            if colon:
                out.print(f"{path}: [green]valid[/green]: {rest}", soft_wrap=True)
                continue
            text = escape(line.rstrip("\n"))
            for word in ("invalid", "malformed"):
                text = text.replace(f": {word}: ", f": [red]{word}[/red]: ", 1)
            out.print(text, soft_wrap=True)
    if process.returncode < 0:
        err.print(f"[red]error[/red]: the kernel was stopped by signal {-process.returncode}")
    raise typer.Exit(process.returncode if process.returncode >= 0 else 2)
