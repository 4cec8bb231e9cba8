"""Which functions of the library a test reaches: read off the source, through the helpers that the test uses.

A check that decides a statement has to run what the statement is about. Plain arithmetic (`numerics.exact`) and the
running of long work (`numerics.runs`) do not count, since any test may use them whatever it is about.
"""

from pathlib import Path

from numerics.runs.definitions import uses

LIBRARY = ("constructions", "certificates", "numerics")
"""The packages that hold what statements are about."""
PLAIN = ("numerics.exact", "numerics.runs")
"""Rooms of the library that every test may use without saying anything of a statement."""


def reached(path: Path, test: str) -> frozenset[str]:
    """The names of the library that a test function reaches, such as ``constructions.groups.cyclic.network``.

    Args:
        path: the file of the test.
        test: its name, with its class in front if it has one (``TestX::test_y``).
    """
    leaves = uses(path, test.split("::")[0], within=("theorems",)).leaves
    return frozenset(
        name
        for name in leaves
        if name.partition(".")[0] in LIBRARY and not any(name == room or name.startswith(f"{room}.") for room in PLAIN)
    )
