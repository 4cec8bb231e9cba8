"""Character tables of the character table library of GAP (the optional extra ``gap``), as plain data.

A table is known by its name in the library, such as ``M`` (the Monster), ``2.B`` or ``L2(113)``; ``Symmetric(18)`` and
``Alternating(18)`` are computed by GAP for every degree. What comes back is text and integers, in the form of a file of
a table (certificates/CHARACTER_TABLE_FORMAT.md); nothing of it is checked here.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from typing import Any

from lemmata.numerics.groups.gap_process import in_main_thread
from lemmata.numerics.groups.names import gap_interpreter

__all__ = ["library_names", "library_table", "library_versions"]

MAX_DEGREE = 30  # of the symmetric and alternating groups whose tables are computed

_READ = """function(t)
    local primes;
    primes := PrimeDivisors(Size(t));
    return [String(Size(t)), List(SizesConjugacyClasses(t), String), ClassNames(t),
            List(Irr(t), chi -> List(ValuesOfClassFunction(chi), String)),
            primes, List(primes, p -> PowerMap(t, p)), Indicator(t, 2)];
end"""


@cache
def _library() -> Any:
    """GAP with the library loaded."""
    gap = gap_interpreter("Tables of the character table library need")
    if str(gap.eval('LoadPackage("ctbllib")')) != "true":
        raise ValueError(
            "This GAP has no character table library, a part of the optional extra: pip install 'lemmata[gap]'."
        )
    return gap


@in_main_thread
def library_versions() -> dict[str, str]:
    """The versions of GAP and of the character table library.

    Raises:
        ValueError: without GAP or the library.
    """
    gap = _library()
    return {
        "gap": str(gap.eval("GAPInfo.Version")),
        "ctbllib": str(gap.eval('PackageInfo("ctbllib")[1].Version')),
    }


@cache
@in_main_thread
def library_names(max_classes: int | None = None) -> tuple[str, ...]:
    """The names of all ordinary tables of the library that are no duplicates of others, with at most so many classes.

    Raises:
        ValueError: without GAP or the library.
    """
    limit = "" if max_classes is None else f", NrConjugacyClasses, [1..{max_classes}]"
    return tuple(str(name) for name in _library().eval(f"AllCharacterTableNames(IsDuplicateTable, false{limit})"))


@in_main_thread
def library_table(name: str) -> dict[str, Any]:
    """The table with a name of the library: order, class names and sizes, characters, power maps, indicators.

    Raises:
        ValueError: for a name that is not in the library, and without GAP or the library.
    """
    gap = _library()
    if not re.fullmatch(r"[ !#-\[\]-~]{1,200}", name):
        raise ValueError(f"A name of the character table library is printable text without quotes, not {name!r}.")
    if generic := re.fullmatch(r"(Symmetric|Alternating)\((\d{1,3})\)", name):
        if not 2 + (generic[1] == "Alternating") <= int(generic[2]) <= MAX_DEGREE:
            raise ValueError(f"The tables of {generic[1]}(n) are computed for n up to {MAX_DEGREE}; got {generic[2]}.")
        table = gap.eval(f'CharacterTable("{generic[1]}", {generic[2]})')
    else:
        table = gap.eval(f'CharacterTable("{name}")')
        if str(table) == "fail":
            close = get_close_matches(name, library_names(), n=3)
            hint = f" Close to it are {', '.join(close)}." if close else ""
            raise ValueError(f"The character table library has no table called {name!r}.{hint}")
    order, sizes, class_names, rows, primes, maps, indicators = gap.eval(_READ)(table)
    return {
        "name": name,
        "order": str(order),
        "class_names": [str(entry).upper() for entry in class_names],
        "class_sizes": [str(size) for size in sizes],
        "characters": [[str(value) for value in row] for row in rows],
        "powers": {str(p): [int(C) - 1 for C in images] for p, images in zip(primes, maps, strict=True)},
        "indicators": [int(indicator) for indicator in indicators],
    }
