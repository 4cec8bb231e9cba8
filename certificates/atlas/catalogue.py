"""What is in the atlas: every row by its key, in sections, and how its document is found.

The list depends on nothing that is computed: all groups of order below 64 are counted by `GROUP_COUNTS`, the sporadic
groups are 26 and the Tits group, and the rest are the tables, cells and machines that are named here or in committed
surveys. What has no document has a row all the same, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lemmata.certificates.operations.survey import family
from lemmata.certificates.operations.unseen_survey import committed_verdicts
from lemmata.numerics.groups.lists import GROUP_COUNTS

__all__ = ["ORDERS", "SECTIONS", "SPORADIC", "Item", "Section", "Work", "catalogue", "works"]

ORDERS = range(1, 64)
"""Of the groups that are all in the atlas."""

# fmt: off
SPORADIC = {
    "M11": "M11", "M12": "M12", "J1": "J1", "M22": "M22", "J2": "J2", "M23": "M23", "HS": "HS", "J3": "J3",
    "M24": "M24", "McL": "McL", "He": "He", "Ru": "Ru", "Suz": "Suz", "ON": "O'N", "Co3": "Co3", "Co2": "Co2",
    "Fi22": "Fi22", "HN": "HN", "Ly": "Ly", "Th": "Th", "Fi23": "Fi23", "Co1": "Co1", "J4": "J4", "F3+": "Fi24'",
    "B": "B (Baby Monster)", "M": "M (Monster)", "2F4(2)'": "2F4(2)' (Tits group)",
}
# fmt: on
"""The names of the sporadic groups in the character table library, and their usual ones, by ascending order."""

MACHINES: tuple[tuple[str, int, str | None], ...] = (
    ("bb2", 6, ""),
    ("bb3", 21, ""),
    ("bb4", 107, None),
    ("bb5", 47_176_870, None),
    ("palindromes", 12, "aba"),
    ("palindromes", 64, None),
    ("counter", 16, None),
)
"""Names of machines, steps for which they are compiled, and the word at which the margin is asked; None for all words
that the machine decides. Runs on one word are attacked too, in exact arithmetic, which takes short ones."""


# fmt: off
EXACT = frozenset(
    (
        "op:a*b:2", "op:a/b:2", "op:a^2+ab+b^2:2", "op:max:2", "op:gcd:2", "op:a*b:3", "op:a^2+ab+b^2:3", "op:a+b:4",
        "op:a-b:4", "op:a+b:5", "op:a-b:5", "op:a+b:6", "op:a-b:6", "op:a+b:7", "op:a-b:7", "group:S3", "00/01",
        "00/11", "01/23", "000/001", "000/011", "000/111", "001/001", "001/010", "001/011", "001/110", "012/012",
        "012/120", "000/000/001", "000/000/011", "000/000/111", "000/001/010", "000/001/011", "000/001/111",
        "000/011/011", "000/012/021", "000/111/222", "001/001/110", "001/022/121", "001/112/220", "012/345/678",
        "latin:5:reduced:1", "latin:5:reduced:15", "latin:6:reduced:1", "latin:6:reduced:2", "latin:6:reduced:5",
        "latin:6:reduced:34", "latin:6:reduced:41", "latin:6:reduced:225", "latin:6:reduced:244",
        "latin:6:reduced:1746", "latin:7:steiner",
    )
)
# fmt: on
"""The names of operations, tables and Latin squares whose margin is recognised as an algebraic number."""

REDUCED = {
    5: (1, 15),
    6: (1, 2, 5, 6, 34, 35, 39, 41, 52, 53, 54, 225, 226, 235, 238, 244, 1746),
}
"""The reduced Latin squares of an order that are the first of their class, up to swap of the arguments, by number."""
LATIN_SAMPLE = ("latin:7:steiner",)
"""Of order 7: the square of the projective plane."""

# fmt: off
SEVEN = (
    1, 2, 3, 6, 19, 20, 21, 22, 25, 26, 27, 52, 577, 578, 580, 582, 583, 584, 587, 590, 597, 598, 641, 642, 647, 648,
    649, 650, 652, 653, 656, 657, 658, 659, 660, 662, 663, 667, 682, 685, 688, 689, 692, 693, 694, 695, 698, 699, 701,
    703, 705, 709, 715, 722, 742, 743, 744, 746, 747, 749, 750, 801, 840, 841, 842, 848, 853, 1011, 2120, 2122, 2128,
    2159, 2227, 2689, 2690, 2691, 2694, 2695, 2696, 2699, 2700, 2710, 2755, 2756, 2757, 2759, 2761, 2762, 2763, 2765,
    2779, 2797, 2806, 2809, 2813, 2814, 2829, 2830, 2831, 2832, 2854, 2856, 2860, 2863, 2877, 2878, 2896, 2900, 5285,
    5287, 5330, 5332, 5334, 5336, 5339, 5342, 5344, 5345, 5355, 5357, 5358, 5360, 5365, 5383, 5386, 5396, 5413, 5573,
    5580, 5815, 5871, 6030, 13513, 13515, 13523, 13641, 13672, 13980, 14008, 14020, 15815, 168149, 168155, 170278,
    172003, 2494573, 3097895,
)
# fmt: on
"""The reduced Latin squares of order 7 that are the first of their class up to names and roles, by number."""


@dataclass(frozen=True)
class Section:
    """A part of the atlas.

    Attributes:
        title: a heading.
        what: what its rows are and what their documents prove, in a sentence or two.
        format: of its documents; None where there are none.
        statements: ids of statements of the ledger that it belongs to.
        theory: documents of `certificates` with the theorem behind the bounds, without their ending.
    """

    title: str
    what: str
    format: str | None
    statements: tuple[str, ...] = ()
    theory: tuple[str, ...] = ()


GROUP_STATEMENTS = (
    "feature-emergence:theorem-7.7",
    "feature-emergence:theorem-7.9",
    "feature-emergence:theorem-D.9.2",
)
SECTIONS = {
    "groups": Section(
        "All groups of order below 64",
        "The maximum margin of learning the product of two elements, for every group up to isomorphism. The document "
        "holds the group by generating permutations, its characters, and the masses and weights that prove each other.",
        "lemmata/group-margin",
        GROUP_STATEMENTS,
        ("FORMAT", "game/UNIVERSAL_MARGIN"),
    ),
    "sporadic": Section(
        "Sporadic groups",
        "The same margin from the character table alone, on the condition that it is the table of the group.",
        "lemmata/table-margin",
        GROUP_STATEMENTS,
        ("CHARACTER_TABLE_FORMAT", "game/UNIVERSAL_MARGIN"),
    ),
    "operations": Section(
        "Operations",
        "The operations modulo n that the literature on delayed generalisation studies, and a few larger tables: a "
        "network with integer weights attains the lower bound, a sum of squares in integers proves the upper one.",
        "lemmata/operation-margin",
        (),
        ("OPERATION_FORMAT", "operations/OPERATION_MARGIN"),
    ),
    "tables": Section(
        "All small tables",
        "One table of every class up to renaming of rows, columns and labels and swap of the arguments, of shapes "
        "2 x 2, 2 x 3 and 3 x 3; a table is written by its rows.",
        "lemmata/operation-margin",
        (),
        ("OPERATION_FORMAT", "operations/OPERATION_MARGIN"),
    ),
    "latin": Section(
        "Latin squares",
        "All Latin squares of the orders 5 and 6 up to renaming of rows, columns and labels and swap of the arguments: "
        "2 and 17 classes, of 2 and 22 without swaps. latin:5:reduced:15 is Z5, latin:6:reduced:1 is Z6, "
        "latin:6:reduced:34 is S3. Of order 7 the square of the projective plane alone, whose margin is the largest of "
        "that order.",
        "lemmata/operation-margin",
        ("feature-emergence:ext-T13", "feature-emergence:ext-T16"),
        ("OPERATION_FORMAT", "operations/OPERATION_MARGIN"),
    ),
    "latin7": Section(
        "All Latin squares of order 7",
        "One Latin square of order 7 of every class up to renaming and exchange of rows, columns and labels: 147, of "
        "564 up to renaming alone. The multipliers are balanced, so that the upper bound holds for all roles of rows, "
        "columns and labels (ext-T16); the lower bound is that of a network found quickly. latin:7:reduced:3097895 is "
        "Z7, latin:7:reduced:52 the square of the projective plane.",
        "lemmata/operation-margin",
        ("feature-emergence:ext-T16",),
        ("OPERATION_FORMAT", "operations/OPERATION_MARGIN"),
    ),
    "exact": Section(
        "Exact margins of tables",
        "Operations, small tables and Latin squares whose margin was recognised as an algebraic number, and both of "
        "whose sides hold exactly in a number field; the row of the same table above encloses it. A margin of degree "
        "above 4 is given by the polynomial that it satisfies. Most tables have optima in fields of a degree beyond "
        "what is searched, 16, and are not here; those that are exact above are not repeated. lemmata atlas --section "
        "exact --anew --out DIR finds all of them again.",
        "lemmata/algebraic-margin",
        (),
        ("ALGEBRAIC_FORMAT", "operations/OPERATION_MARGIN"),
    ),
    "unseen": Section(
        "Cells that were never seen",
        "What every network of nearly maximum margin on the given cells says of one that is not given: right, wrong, "
        "or both, two such networks that disagree. One set of missing cells of every kind up to symmetries, but for "
        "some kinds of addition modulo 6 and 7 that were not computed.",
        "lemmata/unseen-cell",
        (),
        ("OPERATION_FORMAT", "operations/OPERATION_MARGIN"),
    ),
    "machines": Section(
        "Turing machines",
        "How far all weights of the transformer that runs a machine may move before an answer changes (the all-layer "
        "margin). These rows have no document: the bound is enclosed in ball arithmetic when the command of the row "
        "runs, and lemmata check has nothing to read.",
        None,
        ("turing:theorem-4.1", "turing:theorem-D.6"),
    ),
}


@dataclass(frozen=True)
class Item:
    """A row that there must be: its key, section and name, and what its document must be about.

    Attributes:
        settings: for the section ``groups`` order and number, ``sporadic`` the name of the table, ``operations``,
            ``tables``, ``latin`` and ``latin7`` a name or rows of labels, ``unseen`` a table, the missing cells and the
            cell, ``machines`` a machine, steps and a word.
    """

    key: str
    section: str
    name: str
    settings: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Work:
    """Rows whose documents are computed together: one, or the cells that are missing from one table."""

    key: str
    items: tuple[Item, ...]


def catalogue() -> tuple[Item, ...]:
    """Every row of the atlas, by sections."""
    return tuple(item for work in works() for item in work.items)


def works() -> tuple[Work, ...]:
    """The rows by what is computed together, in the order of the atlas."""
    alone = [*_groups(), *_sporadic(), *_tables("operations", "operations:7", "large")]
    alone += _tables("tables", "classes:2x2", "classes:2x3", "classes:3x3")
    alone += _latin()
    alone += _exact(alone)
    return (*(Work(item.key, (item,)) for item in alone), *_unseen(), *(Work(one.key, (one,)) for one in _machines()))


def _groups() -> Iterator[Item]:
    for order in ORDERS:
        for number in range(1, GROUP_COUNTS[order - 1] + 1):
            settings = {"order": order, "number": number}
            yield Item(f"small-{order}-{number}", "groups", f"SmallGroup({order},{number})", settings)


def _sporadic() -> Iterator[Item]:
    for table, name in SPORADIC.items():
        yield Item(f"ctbl-{_plain(table)}", "sporadic", name, {"table": table})


def _tables(section: str, *families: str) -> Iterator[Item]:
    for one in families:
        for key, settings in family(one).items():
            rows = settings.get("values", ())
            yield Item(key, section, settings.get("name") or "/".join("".join(map(str, row)) for row in rows), settings)


def _latin() -> Iterator[Item]:
    classes = (f"latin:{order}:reduced:{number}" for order, numbers in REDUCED.items() for number in numbers)
    for name in (*classes, *LATIN_SAMPLE):
        yield Item(name.replace(":", "-"), "latin", name, {"name": name})
    for name in (f"latin:7:reduced:{number}" for number in SEVEN):
        yield Item(name.replace(":", "-"), "latin7", name, {"name": name})


def _exact(tables: list[Item]) -> list[Item]:
    known = [item for item in tables if item.name in EXACT]
    return [Item(f"exact-{item.key}", "exact", f"{item.name} exactly", item.settings) for item in known]


def _unseen() -> Iterator[Work]:
    for row in committed_verdicts()["rows"]:
        table = str(row["table"])
        key = f"{table.replace(':', '-')}-{'-'.join(f'{a}.{b}' for a, b in row['missing'])}"
        without = ", ".join(f"({a},{b})" for a, b in row["missing"])
        items = []
        for cell in row["cells"]:
            a, b = cell["cell"]
            settings = {"table": table, "missing": row["missing"], "cell": [a, b]}
            items.append(Item(f"{key}-at-{a}.{b}", "unseen", f"{table} without {without}, at ({a},{b})", settings))
        yield Work(key, tuple(items))


def _machines() -> Iterator[Item]:
    for name, steps, word in MACHINES:
        key = f"turing-{name}-{steps}" + (f"-{word or 'blank'}" if word is not None else "")
        at = "" if word is None else f", at the word {word}" if word else ", at the empty word"
        settings = {"machine": name, "steps": steps, "word": word}
        yield Item(key, "machines", f"{name}, {steps} steps{at}", settings)


def _plain(name: str) -> str:
    """A name as part of a file name: + is written plus, and what is neither letter nor digit is left out."""
    return re.sub(r"[^A-Za-z0-9]", "", name.replace("+", "plus"))
