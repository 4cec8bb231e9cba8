"""Linear algebra on one thread: on small matrices, and on busy machines, the threads of BLAS cost more than they do."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["one_thread"]

NAMES = tuple(f"{vendor}openblas_{{}}_num_threads{width}" for vendor in ("scipy_", "") for width in ("64_", ""))


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which the OpenBLAS libraries of NumPy and SciPy use one thread; does nothing where none is found."""
    libraries = _libraries(_loaded())
    before = [get() for get, _ in libraries]
    for _, put in libraries:
        put(1)
    try:
        yield
    finally:
        for (_, put), count in zip(libraries, before, strict=True):
            put(count)


def _loaded() -> frozenset[str]:
    """The files of OpenBLAS that this process has mapped, on systems that say so."""
    maps = Path("/proc/self/maps")
    try:
        lines = maps.read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(line.split(maxsplit=5)[-1] for line in lines if "openblas" in line)


@cache
def _libraries(files: frozenset[str]) -> tuple[tuple[Any, Any], ...]:
    """The functions of each library that read and set the number of its threads."""
    found = []
    for file in sorted(files):
        library = ctypes.CDLL(file)
        for name in NAMES:
            if hasattr(library, name.format("set")):
                found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                break
    return tuple(found)
