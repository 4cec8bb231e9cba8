"""The packages beside this one, and what may stand in their place."""

import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["refuse_hidden_packages"]

PACKAGES = ("numerics", "constructions", "certificates", "theorems")


def refuse_hidden_packages() -> None:
    """The check that no file or folder of the user is found in place of a package of this toolkit.

    Their names are common words, and Python looks into the folder of a script, or the working directory, first.

    Raises:
        ImportError: with one sentence that names the file or folder, and says what to do.
    """
    root = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
        found = None if spec is None else spec.origin or next(iter(spec.submodule_search_locations or ()), None)
        if found is None:
            raise ImportError(f"The package {name} of Lemmata is missing: install Lemmata again.", name=name)
        place = Path(found).resolve()
        if place != root / name / "__init__.py":
            raise ImportError(
                f"{place.parent if place.stem == '__init__' else place} hides the package {name} of Lemmata, because "
                f"Python looks there first: rename it, or run Python from another folder.",
                name=name,
            )
