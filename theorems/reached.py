"""Which functions of the library a test reaches: read off the source, through the helpers that the test uses.

A check that decides a statement has to run what the statement is about. Plain arithmetic (`numerics.exact`) and the
running of long work (`numerics.runs`) do not count, since any test may use them whatever it is about.
"""

import functools
from pathlib import Path

from numerics.runs.definitions import uses
from theorems.ledger import THEOREMS

LIBRARY = ("constructions", "certificates", "numerics")
"""The packages that hold what statements are about."""
PLAIN = ("numerics.exact", "numerics.runs")
"""Rooms of the library that every test may use without saying anything of a statement."""


@functools.cache
def reached(path: Path, test: str) -> frozenset[str]:
    """The names of the library that a test function reaches, such as ``constructions.groups.cyclic.network``.

    A chapter of another package has a library of its own: that package, and the front door of this toolkit.

    Args:
        path: the file of the test.
        test: its name, with its class in front if it has one (``TestX::test_y``).
    """
    leaves = uses(path, test.split("::")[0], within=("theorems",)).leaves
    own = path.is_relative_to(THEOREMS)
    library = LIBRARY if own else (*LIBRARY, "lemmata", path.parent.name)
    return frozenset(
        name
        for name in leaves
        if name.partition(".")[0] in library and not any(name == room or name.startswith(f"{room}.") for room in PLAIN)
    )
