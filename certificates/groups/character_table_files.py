"""Character tables as files: JSON of the format ``lemmata/character-table`` (certificates/CHARACTER_TABLE_FORMAT.md).

A file gives class sizes and characters; class names, power maps and indicators where they are known. `table_of` adds
what follows from the rest and writes every value in its smallest cyclotomic field. What a table claims is checked by
`lemmata.certificates.character_table_kernel` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from lemmata.certificates import character_table_kernel, kernel
from lemmata.certificates.characters.dixon import atlas_names, character_table
from lemmata.certificates.groups.format import Document
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.groups.character_library import library_table
from lemmata.numerics.groups.permutations import PermutationGroup

__all__ = ["FORMAT", "VERSION", "group_file", "library_file", "read_character_table", "table_of", "value_text"]

FORMAT = "lemmata/character-table"
VERSION = 1
REQUIRED = ("class_sizes", "characters")
OPTIONAL = ("name", "order", "class_names", "powers", "indicators")
LONGEST_INTEGER = 10**15  # longer ones are written as text


def library_file(name: str) -> Document:
    """The table with a name of the character table library, as a file holds it.

    Raises:
        ValueError: as `lemmata.numerics.groups.character_library.library_table`.
    """
    return {"format": FORMAT, "version": VERSION, **library_table(name)}


def group_file(group: PermutationGroup) -> Document:
    """The table of a group whose elements are known, as a file holds it, with all power maps."""
    table, classes = character_table(group), group.classes
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": group.name,
        "order": _integer(group.order),
        "class_names": list(table.class_names),
        "class_sizes": [_integer(int(size)) for size in table.class_sizes],
        "characters": [[_text(value) for value in row] for row in table.values],
        "powers": {str(p): [int(C) for C in classes.power_map(p)] for p in kernel.prime_divisors(group.order)},
        "indicators": list(table.indicators),
    }


def read_character_table(path: str | Path) -> Document:
    """What a file holds: JSON, checked by `table_of`.

    Raises:
        ValueError: for what is no JSON text without fractions, or is too long.
        OSError: for an unreadable file.
    """
    with Path(path).open("rb") as file:
        data = file.read(kernel.MAX_BYTES + 1)
    try:
        return kernel.parse(data)
    except kernel.MalformedError as error:
        raise ValueError(f"The table in {path} cannot be read: {error}.") from error


def table_of(given: Any, where: str = "The table") -> Document:
    """The part ``table`` of a certificate, from what a file holds.

    The order is the sum of the class sizes, indicators come from the squares, names from the orders of elements.

    Raises:
        ValueError: for keys that are missing or unknown, parts of a wrong type or length, and indicators that are
            missing and cannot be derived. ``where`` begins the sentence.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{where} must be an object with the keys {', '.join(('format', 'version', *REQUIRED))}.")
    expected = {"format": FORMAT, "version": VERSION}
    for key, value in expected.items():
        if given.get(key) != value or isinstance(given.get(key), bool):
            raise ValueError(f"{where} must have the {key} {value!r}, but has {given.get(key)!r}.")
    if missing := [key for key in REQUIRED if key not in given]:
        raise ValueError(f"{where} has no {' and no '.join(missing)}.")
    if unknown := sorted(set(given) - {*expected, *REQUIRED, *OPTIONAL}, key=str):
        raise ValueError(f"{where} has the unknown key {unknown[0]!r}; known are {', '.join(REQUIRED + OPTIONAL)}.")
    try:
        return _completed(given, where)
    except kernel.MalformedError as error:
        raise ValueError(f"{where} cannot be used: {error}.") from error


def _completed(given: Mapping[str, Any], where: str) -> Document:
    sizes = kernel.entries(given["class_sizes"], "class_sizes", 2, character_table_kernel.MAX_CLASSES)
    sizes = [character_table_kernel.whole(size, f"class_sizes[{i}]", 1) for i, size in enumerate(sizes)]
    count = len(sizes)
    known: dict[Any, Any] = {}
    rows = [
        [
            _normalised(value, f"characters[{R}][{C}]", known)
            for C, value in enumerate(kernel.entries(row, f"characters[{R}]", count, count))
        ]
        for R, row in enumerate(kernel.entries(given["characters"], "characters", count, count))
    ]
    table: Document = {
        "name": given.get("name", "without a name"),
        "order": _integer(character_table_kernel.whole(given["order"], "order", 2) if "order" in given else sum(sizes)),
        "class_names": given.get("class_names", [str(i + 1) for i in range(count)]),
        "class_sizes": [_integer(size) for size in sizes],
        "characters": rows,
        "powers": given.get("powers", {}),
        "indicators": given.get("indicators", [0] * count),
    }
    parsed = character_table_kernel.Table(table)
    if "class_names" not in given and (orders := character_table_kernel.element_orders(parsed)):
        table["class_names"] = list(atlas_names(orders, "A"))
    if "indicators" not in given:
        table["indicators"] = _derived_indicators(parsed, where)
    return table


def _derived_indicators(table: character_table_kernel.Table, where: str) -> list[int]:
    """The indicators (1/n) sum_C |C| chi(C^2), from the map of squares; of a group of odd order 1, 0, .., 0."""
    means = character_table_kernel.galois_means(table)
    if table.order % 2:
        return [int(all(table.numbers[x] == (1, {0: 1}) for x in row)) for row in table.values]
    if 2 not in table.powers:
        raise ValueError(
            f"{where} has no indicators, and they cannot be derived: for a group of even order give indicators, or "
            'the class of the square of each class as powers["2"].'
        )
    found = []
    for R, row in enumerate(table.values):
        total = sum((size * means[row[C]] for size, C in zip(table.sizes, table.powers[2], strict=True)), Fraction(0))
        if total / table.order not in (-1, 0, 1):
            raise ValueError(
                f'{where} is not the character table of a group: by powers["2"] the indicator of row {R} is '
                f"{total / table.order}, not 1, 0 or -1."
            )
        found.append(int(total / table.order))
    return found


def _normalised(value: Any, where: str, known: dict[Any, Any]) -> int | str:
    """A value as an integer or text in the smallest cyclotomic field."""
    if type(value) is int:
        return _integer(value)
    if value not in known if isinstance(value, str) else True:
        order, terms = character_table_kernel.number(value, where)
        known[value] = value_text(order, terms)
    return known[value]


def value_text(order: int, terms: kernel.Terms) -> int | str:
    """The sum of c zeta^e, zeta = exp(2 pi i/order), as an integer or as text such as 2*E(5)+2*E(5)^4.

    The root of unity has the smallest possible order.
    """
    return _text(Cyclotomic(order, [terms.get(e, 0) for e in range(order)]))


def _text(value: Cyclotomic) -> int | str:
    minimal = value.minimal()
    coefficients = [int(c.p) for c in minimal.lifted(minimal.order).coeffs()]
    if minimal.order == 1:
        return _integer(sum(coefficients))  # no coefficient of zero
    return _written(minimal.order, coefficients)


def _written(order: int, coefficients: Sequence[int]) -> str:
    text = ""
    for e, c in enumerate(coefficients):
        if c:
            root = f"E({order})" + (f"^{e}" if e > 1 else "")
            size = str(abs(c)) if e == 0 else root if abs(c) == 1 else f"{abs(c)}*{root}"
            text += ("-" if c < 0 else "+" if text else "") + size
    return text


def _integer(x: int) -> int | str:
    return x if abs(x) < LONGEST_INTEGER else str(x)
