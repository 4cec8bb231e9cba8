"""Files that are never half written."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(data: bytes, path: str | Path) -> None:
    """Write bytes to a file, which afterwards has the old content or the new one, never a part.

    A symbolic link stays one, and the file that it names is written. What is no regular file, such as a device or a
    pipe, cannot be replaced: it gets the bytes.

    Raises:
        OSError: if it cannot be written; it names the file that was asked for.
    """
    try:
        _replace(data, Path(os.path.realpath(path)))
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _replace(data: bytes, target: Path) -> None:
    if target.exists() and not target.is_file() and not target.is_dir():
        target.write_bytes(data)
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    with _undisturbed():
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A block that an interrupt (SIGINT) does not end: it takes effect afterwards, whatever its effect is."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # only the main thread handles signals, and may say how
        return
    interrupts: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupts:
            signal.raise_signal(signal.SIGINT)
