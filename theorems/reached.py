"""Which functions of the library a test reaches: read off the source, through the helpers that the test uses.

A check that decides a statement has to run what the statement is about. Plain arithmetic (`lemmata.numerics.exact`) and
the running of long work (`lemmata.numerics.runs`) do not count, since any test may use them whatever it is about.
"""

import functools
from pathlib import Path

from lemmata.numerics.runs.definitions import belongs, uses
from lemmata.theorems.ledger import THEOREMS

LIBRARY = ("lemmata.constructions", "lemmata.certificates", "lemmata.numerics")
"""The packages that hold what statements are about."""
PLAIN = ("lemmata.numerics.exact", "lemmata.numerics.runs", "lemmata.theorems")
"""What every test may use without saying anything of a statement: two rooms of the library, and the ledger itself."""


@functools.cache
def reached(path: Path, test: str) -> frozenset[str]:
    """The names of the library that a test function reaches, such as ``lemmata.constructions.groups.cyclic.network``.

    A chapter of another package has a library of its own: that package, and the front door of this toolkit.

    Args:
        path: the file of the test.
        test: its name, with its class in front if it has one (``TestX::test_y``).
    """
    leaves = uses(path, test.split("::")[0], within=("lemmata.theorems",)).leaves
    own = path.is_relative_to(THEOREMS)
    library = LIBRARY if own else (*LIBRARY, "lemmata", path.parent.name)
    return frozenset(name for name in leaves if belongs(name, library) and not belongs(name, PLAIN))
