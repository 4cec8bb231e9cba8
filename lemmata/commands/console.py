"""What commands of the command line share: the two consoles, how input is refused, where a certificate goes."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread, Timer, main_thread
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.text import Text

from lemmata.numerics.runs.files import write_atomically

__all__ = [
    "STANDARD_OUTPUT",
    "deliver",
    "deliver_picture",
    "echo_json",
    "err",
    "interruptible",
    "out",
    "refusals",
    "working",
]

STANDARD_OUTPUT = Path("-")
PATIENCE = 5.0

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


@contextmanager
def working(what: str) -> Iterator[Status]:
    """A block of work that may take long: a spinner with a text, which it may update.

    Where the standard error is no terminal, the text is a line after `PATIENCE` seconds, and again whenever twice as
    many have passed.
    """
    began, ended = time.monotonic(), Event()

    def say(status: Status) -> None:
        after = PATIENCE
        while not ended.wait(max(0.0, after - (time.monotonic() - began))):
            err.print(Text.from_markup(f"{status.status} ({after:.0f} s)"), soft_wrap=True)
            after *= 2

    with err.status(escape(what)) as status:
        if not err.is_terminal:
            Thread(target=say, args=(status,), daemon=True).start()
        try:
            yield status
        finally:
            ended.set()


@contextmanager
def interruptible(stopped: Callable[[], str]) -> Iterator[None]:
    """A block that an interrupt ends with a sentence and the status 130, as soon as Python sees it.

    Python drops an exception that is raised while an object is destroyed. An interrupt that is lost so (a client of
    Dask destroys many objects) comes again a moment later.
    """
    before, hook = signal.signal(signal.SIGINT, signal.default_int_handler), sys.unraisablehook

    def again(dropped: sys.UnraisableHookArgs) -> None:
        if dropped.exc_type is KeyboardInterrupt:
            Timer(0.01, signal.pthread_kill, [main_thread().ident, signal.SIGINT]).start()  # it ends a wait, too
        else:
            hook(dropped)

    sys.unraisablehook = again
    try:
        yield
    except KeyboardInterrupt as interrupt:
        err.print(escape(stopped()), soft_wrap=True)
        raise typer.Exit(130) from interrupt
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)


def deliver(
    data: bytes,
    out_file: Path | None,
    as_json: bool,
    summary: Callable[[], dict[str, Any]],
    report: Callable[[Console], None],
) -> None:
    """The summary as JSON, or the report; and then the certificate where it was wanted, in a file or on the output.

    Raises:
        OSError: for a file that cannot be written, when the result has been shown.
    """
    if as_json:
        typer.echo(json.dumps(summary(), indent=2))
    else:
        report(err if out_file == STANDARD_OUTPUT else out)  # the certificate alone on the standard output
    if out_file == STANDARD_OUTPUT:
        sys.stdout.buffer.write(data)
    elif out_file is not None:
        write_atomically(data, out_file)
        if not as_json:
            out.print(
                escape(f"Certificate written to {out_file}; check it with: lemmata check {out_file}"), soft_wrap=True
            )


def deliver_picture(picture: Path | None, draw: Callable[[Path], None], as_json: bool) -> None:
    """The picture of a result that has been shown, if one is wanted, and where it is; exit 2 if it cannot be drawn."""
    if picture is None:
        return
    with refusals():
        draw(picture)
    if not as_json:
        out.print(escape(f"picture in {picture}"), soft_wrap=True)


def echo_json(value: Any) -> None:
    """Texts of the ledger as JSON, in which every character stands for itself where the output can show it."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    typer.echo(json.dumps(value, indent=1, ensure_ascii=not encoding.startswith("utf")))
