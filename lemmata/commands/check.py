"""The command `lemmata check`: the kernel in a process of its own, on certificate files; on request GAP as well."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.certificates import (
    algebraic_kernel,
    character_table_kernel,
    operation_kernel,
    solution_kernel,
    ternary_kernel,
)
from lemmata.certificates.groups.kernels import kernel_of
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import AsJson

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Check certificate files with the kernel, a program of its own that trusts nothing.")
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="certificate files")],
    with_gap: Annotated[
        bool, typer.Option("--with-gap", help="ask GAP for a second opinion on each file (the optional extra gap)")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """A line per file; exit 0 when all are valid, 1 when one is invalid or GAP disagrees, 2 when one is malformed."""
    if as_json:
        if with_gap:
            with refusals():
                raise ValueError("--with-gap prints a report: leave out --json.")
        data, status = [], 0
        for program, some in groupby(files, key=kernel_of):
            asked = list(some)
            verdicts = _Verdicts(program, asked)
            data += [_as_data(file, line) for file, line in zip(asked, verdicts, strict=True)]
            status = max(status, verdicts.status)
        typer.echo(json.dumps(data, indent=2))
        raise typer.Exit(status)
    if with_gap:
        from lemmata.numerics.groups.names import gap_interpreter  # not imported where it is not wanted: start-up time

        with refusals():
            gap_interpreter("A second opinion needs")
    status = max(_ask_kernel(program, list(some)) for program, some in groupby(files, key=kernel_of))
    if with_gap:
        status = max(status, *map(_ask_gap, files))
    raise typer.Exit(status)


class _Verdicts:
    """The lines of a kernel on files as it prints them; ``status`` is its exit status once they have been read."""

    def __init__(self, program: str, files: list[Path]) -> None:
        self.command = [sys.executable, "-I", program, *(str(file) for file in files)]
        self.status = 0

    def __iter__(self) -> Iterator[str]:
        with subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield line.rstrip("\n")
        if process.returncode < 0:
            err.print(f"[red]error[/red]: the kernel was stopped by signal {-process.returncode}")
        self.status = process.returncode if process.returncode >= 0 else 2


def _as_data(file: Path, line: str) -> dict[str, str]:
    """The line of a kernel about a file, ``FILE: STATUS: REASON``, as data."""
    status, _, reason = line.removeprefix(f"{ascii(str(file))[1:-1]}: ").partition(": ")
    return {"file": str(file), "status": status, "reason": reason}


def _ask_kernel(program: str, files: list[Path]) -> int:
    """The exit status of a kernel, whose lines are printed."""
    verdicts = _Verdicts(program, files)
    for line in verdicts:
        path, colon, rest = escape(line).rpartition(": valid: ")
        if colon:
            out.print(f"{path}: [green]valid[/green]: {rest}", soft_wrap=True)
            continue
        text = escape(line)
        for word in ("invalid", "malformed"):
            text = text.replace(f": {word}: ", f": [red]{word}[/red]: ", 1)
        out.print(text, soft_wrap=True)
    return verdicts.status


def _ask_gap(file: Path) -> int:
    """The exit status of the second opinion on a file, of which a line is printed: 1 when GAP disagrees."""
    from lemmata.certificates.groups.format import load
    from lemmata.certificates.groups.second_opinion import second_opinion

    name = escape(ascii(str(file))[1:-1])
    reasons = {
        character_table_kernel.__file__: "a table alone gives it no group",
        **dict.fromkeys(
            (operation_kernel.__file__, algebraic_kernel.__file__, ternary_kernel.__file__),
            "it has a second opinion on groups, and none on tables of operations",
        ),
        solution_kernel.__file__: "it has a second opinion on groups, and none on programs",
    }
    if reason := reasons.get(kernel_of(file)):
        out.print(f"{name}: GAP was not asked: {reason}", soft_wrap=True)
        return 2
    try:
        document = load(file)
    except (ValueError, OSError):
        out.print(f"{name}: GAP was not asked: this is no certificate", soft_wrap=True)
        return 2
    with refusals(), err.status(f"asking GAP about {name}"):
        findings = second_opinion(document)
    wrong = [finding for finding in findings if not finding.agrees]
    if wrong:
        reasons = "; ".join(f"{finding.subject} (in GAP: {finding.detail})" for finding in wrong)
        out.print(f"{name}: [red]GAP disagrees[/red]: {escape(reasons)}", soft_wrap=True)
        return 1
    subjects = ", ".join(finding.subject for finding in findings[:-1])
    out.print(
        f"{name}: [green]GAP agrees[/green]: {subjects}; the closed form {findings[-1].detail}",
        soft_wrap=True,
    )
    return 0
