"""Where the packages lie that pytest is asked to run by their names."""

from importlib.util import find_spec
from pathlib import Path

__all__ = ["package_folder"]


def package_folder(name: str) -> Path | None:
    """The folder or file of a package or module that ``--pyargs`` names; None if there is none."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    origin = Path(spec.origin).resolve()
    return origin.parent if spec.submodule_search_locations else origin
