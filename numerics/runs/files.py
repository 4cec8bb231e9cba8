"""Files that are never half written."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(data: bytes, path: str | Path) -> None:
    """Write bytes to a file, which afterwards has the old content or the new one, never a part.

    A symbolic link stays one, and the file that it names is written. What is no regular file, such as a device or a
    pipe, cannot be replaced: it gets the bytes.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        target.write_bytes(data)
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
