"""The modules that translate constructions to torch, found by name when they are needed.

A translator imports the types that it translates, and torch, which is slow to import. So a type does not import its
translator: it asks here, and no circle of imports arises.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["translator"]


def translator(module: str) -> Any:
    """The module of constructions with this name, such as ``networks.torch``, imported now."""
    return import_module(f"constructions.{module}")
