"""Refuse work that needs more memory than the machine has, before it starts.

An allocation beyond the memory often succeeds, and the process is killed when it is written; so the need is compared
with what the operating system reports.
"""

from __future__ import annotations

import os
from pathlib import Path

ALWAYS_THERE = 2**24
"""Bytes; whether these are available is not asked, which would take longer than most work of that size."""


def available_memory() -> int:
    """The bytes that can be allocated without swapping: MemAvailable of Linux, elsewhere all physical memory."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def require_memory(needed: int, purpose: str) -> None:
    """Refuse work that needs more bytes than are available.

    Args:
        needed: bytes.
        purpose: what needs them, as the subject of the sentence: "The transform of 2^40 numbers".

    Raises:
        ValueError: saying how much is needed and how much there is.
    """
    if needed > ALWAYS_THERE and needed > (available := available_memory()):
        raise ValueError(
            f"{purpose} needs {needed / 2**30:.1f} GiB of memory, but {available / 2**30:.1f} GiB are available."
        )
