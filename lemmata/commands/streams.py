"""The standard streams of the command line: what cannot be printed ends a command with a sentence, never a traceback.

A stream in ASCII shows every other character as Python writes it, such as \\u2264. A standard output that is full
ends the command with the status 2; one whose reader has gone, as in ``lemmata ledger | head``, with 141, as the shell
reports of every program that writes on. What cannot be said on the standard error is not said.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any

__all__ = ["CLOSED", "guarded_streams"]

CLOSED = 141
"""The status of a command whose reader has gone: 128 + SIGPIPE."""


class _Guarded:
    """A stream whose writes and flushes call ``lost`` in place of raising an OSError; all else is the stream's."""

    def __init__(self, stream: Any, lost: Any) -> None:
        self._stream, self._lost = stream, lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def buffer(self) -> _Guarded:
        return _Guarded(self._stream.buffer, self._lost)

    def write(self, data: Any) -> int:
        try:
            return self._stream.write(data)
        except OSError as error:
            self._lost(error)
            return len(data)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._lost(error)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """The standard streams, guarded; the output is flushed at the end, so that its loss is noticed."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, TextIOWrapper):  # and nothing that somebody has put there
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = _Guarded(before[0], _end), _Guarded(before[1], lambda error: None)  # type: ignore[assignment]
    try:
        yield
        sys.stdout.flush()
    finally:
        with suppress(OSError):
            before[0].flush()
        sys.stdout, sys.stderr = before


def _end(error: OSError) -> None:
    """The end of a command whose output is lost; what is still in the buffer goes nowhere."""
    with suppress(OSError, AttributeError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    if isinstance(error, BrokenPipeError):
        raise SystemExit(CLOSED) from error
    sys.stderr.write(f"error: the standard output: {error.strerror}\n")
    raise SystemExit(2) from error
