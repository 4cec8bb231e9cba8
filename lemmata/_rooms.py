"""What a room of the front door exports: whatever its module imports, which is the one list of its names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def exported(namespace: Mapping[str, Any]) -> list[str]:
    """The names of a module's namespace that do not begin with an underscore, sorted; pytest adds some with an @."""
    return sorted(name for name in namespace if name.isidentifier() and not name.startswith("_"))
