"""Character tables from representations: the traces of their exact matrices, one class after the other.

The columns are the classes of the group in its own order. A class is named after its smallest element, as a
mathematician writes it: cycles of the points 1..n for permutations, powers of r and t for dihedral groups. The
constructor of `CharacterTable` proves orthogonality, so that a missing or repeated representation is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lemmata.certificates.characters.tables import CharacterTable
from lemmata.constructions.groups.products import TypedIrrep
from lemmata.constructions.representations.orthogonal import Representation
from lemmata.numerics.exact.cyclotomic.numbers import rational
from lemmata.numerics.groups.permutations import cycle_notation
from lemmata.numerics.groups.tables import Family, FiniteGroup

__all__ = ["characters_of", "typed_characters"]


def characters_of(group: FiniteGroup, irreps: Sequence[Representation]) -> CharacterTable:
    """The table of a group from all its irreducible representations, given with exact matrices.

    The representations may come in any order; the trivial one is moved to the front.

    Raises:
        ValueError: when a representation has floating-point matrices or belongs to another group, or when the traces do
            not form a character table.
    """
    rows = []
    for irrep in irreps:
        if not irrep.exact:
            raise ValueError(f"Representation {irrep.name} has floating-point matrices; exact ones are needed.")
        if irrep.group != group:
            raise ValueError(
                f"Representation {irrep.name} belongs to {irrep.group}, whose multiplication table is not that of "
                f"{group}."
            )
        traces = [sum(irrep.matrices[C[0]][i, i] for i in range(irrep.degree)) for C in group.classes]
        rows.append((irrep.name, traces))
    rows.sort(key=lambda row: not all(value == 1 for value in row[1]))
    return _table(group, rows)


def typed_characters(irreps: Sequence[TypedIrrep]) -> CharacterTable:
    """The table of a group from all its nontrivial irreducible representations by type, with exact entries.

    Of each conjugate pair one is given. Row 0 is trivial.

    Raises:
        ValueError: naming the first violated property of a table: if a representation is missing, it is not square.
    """
    group = irreps[0].group
    heads = [int(C[0]) for C in group.classes]
    rows: list[tuple[str, list[Any]]] = [("1", [rational(1)] * len(heads))]
    for R in irreps:
        blocks = 2 * R.entries[heads][..., 0] if R.kind == "quaternionic" else R.entries[heads]
        values = [value + rational(0) for value in np.trace(blocks, axis1=1, axis2=2)]
        rows.append((R.name, values))
        if R.kind == "complex":
            rows.append((f"conj {R.name}", [value.conjugate() for value in values]))
    return _table(group, rows)


def _table(group: FiniteGroup, rows: Sequence[tuple[str, list[Any]]]) -> CharacterTable:
    """The table with these named rows of values at the classes of the group."""
    heads = [int(C[0]) for C in group.classes]
    return CharacterTable(
        group.name,
        np.array([values for _, values in rows], dtype=object),
        tuple(len(C) for C in group.classes),
        tuple(int(group.class_of[group.squaring[g]]) for g in heads),
        tuple(int(group.class_of[group.inverse[g]]) for g in heads),
        tuple(_element_name(group.elements[g], group.family) for g in heads),
        tuple(name for name, _ in rows),
    )


def _element_name(label: Any, family: Family | None) -> str:
    """How a mathematician writes the element with this label in a group of this family."""
    kind = None if family is None else family[0]
    if kind in ("symmetric", "alternating"):
        return "e" if list(label) == sorted(label) else cycle_notation(label).replace(",", " ")
    if kind == "dihedral":
        rotation, reflection = label
        powers = ["" if rotation == 0 else "r" if rotation == 1 else f"r^{rotation}", "t" if reflection else ""]
        return " ".join(power for power in powers if power) or "e"
    if kind == "elementary_abelian":
        return "".join(map(str, label))
    if family is not None and kind == "product":
        return f"({', '.join(map(_element_name, label, family[1:]))})"
    return str(label)
