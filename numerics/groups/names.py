"""Groups from what a user types: names, permutations, tables, and the small groups library."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from lemmata.numerics.groups.families import (
    FAMILIES,
    FAMILY_LETTERS,
    HUGE,
    MATHIEU,
    HugeOrderError,
    Recipe,
    product_recipe,
)
from lemmata.numerics.groups.gap_process import in_main_thread
from lemmata.numerics.groups.permutations import DEFAULT_LIMIT, PermutationGroup, parse_cycles
from lemmata.numerics.groups.tables import group_from_table

__all__ = [
    "ACCEPTED_NAMES",
    "gap_available",
    "gap_interpreter",
    "parse_group",
    "small_group_count",
    "small_group_structure",
]

MAX_CSV_ORDER = 5000  # a table of 25 million entries

ACCEPTED_NAMES = (
    "; ".join(help_text for _, _, help_text in FAMILIES)
    + "; powers such as Z2^3; direct products with x such as Z2xS3"
    + "; perm:GENERATORS such as perm:(1,2,3)(4,5);(1,2); table:FILE.csv (a Cayley table of the numbers 0..n-1)"
    + "; small:ORDER,NUMBER such as small:32,5 (the small groups library, with the extra gap)"
)


def _over_limit(name: str, order: str, limit: int) -> ValueError:
    return ValueError(
        f"The group {name} has order {order}, above the limit of {limit} elements; raise it with the argument limit of "
        f"parse_group (on the command line --limit), at a cost in memory and time that grows with the order."
    )


def _factor(text: str, name: str) -> Recipe:
    """The factor of a direct product that a text describes: a name, possibly to a power."""
    for pattern, build, _ in FAMILIES:
        if match := re.fullmatch(rf"{pattern}(?:\^(?P<power>\d{{1,9}}))?", text):
            arguments = match.groups()[:-1]
            power = int(match["power"] or 1)
            try:
                recipe = build(*arguments)
            except HugeOrderError:
                raise
            except ValueError as error:
                raise ValueError(f"There is no group {text!r}: {error}.") from error
            if power < 1:
                raise ValueError(f"There is no group {text!r}: the exponent must be at least 1.")
            if power > HUGE.bit_length():  # every factor has order at least 2
                raise HugeOrderError
            return product_recipe([recipe] * power)
    where = "" if text == name else f" in {name!r}"
    raise ValueError(
        f"There is no group named {text!r}{where} here{_suggestion(text)} Names look like Z7, D4, S5, Q8, PSL(2,7), "
        "M11, Z2xS3 or perm:(1,2,3)(4,5);(1,2); lemmata certify --help has all forms."
    )


def _suggestion(text: str) -> str:
    """What may have been meant: the name with the letters in their usual case, or Mathieu groups of like degree."""
    letters = re.match("[A-Za-z]*", text)[0]  # pyright: ignore[reportOptionalSubscript]
    usual = next((family for family in FAMILY_LETTERS if family.lower() == letters.lower()), letters)
    proposal = usual + text[len(letters) :]
    if any(re.fullmatch(rf"{pattern}(\^\d{{1,9}})?", proposal) for pattern, _, _ in FAMILIES):
        return f"; did you mean {proposal}?"
    near = get_close_matches(proposal, [f"M{degree}" for degree in MATHIEU])
    return f"; did you mean {' or '.join(near)}?" if near else "."


def _named(text: str, limit: int) -> PermutationGroup:
    name = re.sub(r"[\s_]", "", text).translate(str.maketrans("×{}", "x()"))
    try:
        recipe = product_recipe([_factor(factor, name) for factor in name.split("x")])
    except HugeOrderError as error:
        raise _over_limit(name, f"above 10^{len(str(HUGE)) - 1}", limit) from error
    if recipe.order > limit:
        raise _over_limit(name, str(recipe.order), limit)
    return PermutationGroup(tuple(recipe.generators()), name, limit)


def _from_cycles(text: str, limit: int) -> PermutationGroup:
    parts = [part for part in text.removeprefix("perm:").split(";") if part.strip()]
    if not parts:
        raise ValueError("After perm: come the generators in cycle notation, such as perm:(1,2,3)(4,5);(1,2).")
    degree = max(len(parse_cycles(part)) for part in parts)
    return PermutationGroup(tuple(parse_cycles(part, degree) for part in parts), re.sub(r"\s", "", text), limit)


def _from_csv(text: str, limit: int) -> PermutationGroup:
    path = Path(text.removeprefix("table:").strip())
    table: list[list[int]] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            for number, row in enumerate(csv.reader(file), start=1):
                if not row:
                    continue
                if len(table) == MAX_CSV_ORDER or len(row) > MAX_CSV_ORDER:
                    raise ValueError(f"The table in {path} is too large; tables are read up to order {MAX_CSV_ORDER}.")
                try:
                    table.append([int(entry) for entry in row])
                except ValueError as error:
                    raise ValueError(
                        f"Line {number} of the table in {path} must hold integers, separated by commas."
                    ) from error
                if len(row) != len(table[0]):
                    raise ValueError(
                        f"Line {number} of the table in {path} has {len(row)} entries and its first row "
                        f"{len(table[0])}; a Cayley table is square."
                    )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"The table {str(path)!r} cannot be read as a text file of comma-separated integers: {error}."
        ) from error
    if not table:
        raise ValueError(f"The table in {path} is empty; it must hold n rows of the numbers 0..n-1.")
    if len(table) > limit:
        raise _over_limit(text, str(len(table)), limit)
    try:
        group = group_from_table(table, text)
    except ValueError as error:
        raise ValueError(f"The table in {path} is not the Cayley table of a group of order n >= 2. {error}") from error
    return PermutationGroup.from_table(group, limit)


def gap_interpreter(purpose: str = "Groups of the small groups library need") -> Any:
    """The interface to GAP of the optional package passagemath-gap, for the main thread: see `in_main_thread`.

    Args:
        purpose: the beginning of the sentence that says what needs GAP, where it is missing.

    Raises:
        ValueError: without the package.
    """
    try:
        import_module("passagemath_gap")
        return import_module("sage.libs.gap.libgap").libgap
    except ImportError as error:
        raise ValueError(f"{purpose} GAP, which is an optional extra: pip install 'lemmata[gap]'.") from error


@in_main_thread
def gap_available() -> bool:
    """Whether the optional package that holds GAP is installed."""
    try:
        gap_interpreter()
    except ValueError:
        return False
    return True


@in_main_thread
def small_group_count(order: int) -> int:
    """The number of groups of an order, counted by the small groups library.

    Raises:
        ValueError: if GAP, or the library for this order, is not there.
    """
    libgap = gap_interpreter()
    if not libgap.SmallGroupsAvailable(order):
        raise ValueError(f"The small groups library of GAP does not contain the groups of order {order}.")
    return int(libgap.NumberSmallGroups(order))


@in_main_thread
def small_group_structure(order: int, number: int) -> str:
    """How GAP describes the structure of a group of the small groups library, such as ``(Z4 x Z2) : Z2``.

    Cyclic, dihedral and semidihedral groups are named as everywhere here: Z8, D4 of order 8, SD16. Groups that are
    not isomorphic may have the same description.

    Raises:
        ValueError: if GAP, or the library for this order, is not there.
    """
    small_group_count(order)
    libgap = gap_interpreter()
    described = str(libgap.StructureDescription(libgap.SmallGroup(order, number))).strip('"')
    described = re.sub(r"\bC(?=\d)", "Z", described).replace("QD", "SD")
    return re.sub(r"\bD(\d+)", lambda found: f"D{int(found[1]) // 2}", described)


# The regular representation on fewer points, which GAP finds many times faster than a representation of least degree
# (IsomorphismPermGroup); that one serves for orders whose regular representation is large.
_AS_PERMUTATIONS = """function( group )
    if IsPermGroup( group ) then return group; fi;
    if Size( group ) > 1000 then return Image( IsomorphismPermGroup( group ) ); fi;
    group := Image( RegularActionHomomorphism( group ) );
    return Image( SmallerDegreePermutationRepresentation( group : cheap ) );
end"""


@in_main_thread
def _from_small_groups_library(text: str, limit: int) -> PermutationGroup:
    match = re.fullmatch(r"small:(\d{1,9}),(\d{1,12})", re.sub(r"\s", "", text))
    if match is None:
        raise ValueError(f"A group of the small groups library is written small:ORDER,NUMBER; got {text!r}.")
    order, number = int(match[1]), int(match[2])
    if order < 2:
        raise ValueError(f"The group {match[0]} must have order at least 2 (the task needs a wrong label).")
    if order > limit:
        raise _over_limit(match[0], str(order), limit)
    available, libgap = small_group_count(order), gap_interpreter()
    if not 1 <= number <= available:
        raise ValueError(f"There are {available} groups of order {order}, numbered from 1; got {number}.")
    libgap.set_seed(1)  # the generators must not depend on what GAP did before
    group = libgap.eval(_AS_PERMUTATIONS)(libgap.SmallGroup(order, number))
    degree = int(libgap.LargestMovedPoint(group))
    generators = tuple(
        tuple(int(image) - 1 for image in libgap.ListPerm(g, degree)) for g in libgap.SmallGeneratingSet(group)
    )
    return PermutationGroup(generators, match[0], limit)


_PREFIXES: dict[str, Callable[[str, int], PermutationGroup]] = {
    "perm:": _from_cycles,
    "table:": _from_csv,
    "small:": _from_small_groups_library,
}


def parse_group(text: str, limit: int = DEFAULT_LIMIT) -> PermutationGroup:
    """The group that ``text`` describes, in one of the forms of ``ACCEPTED_NAMES``.

    Spaces and underscores in names are ignored and braces read as parentheses, so that ``Z_2 x S_3`` is ``Z2xS3`` and
    ``2_-^{1+4}`` is ``2-^(1+4)``.

    Raises:
        ValueError: for a name that is not accepted, parameters out of range, an order above ``limit``, a file that is
            not a Cayley table, and ``small:`` without GAP.
    """
    for prefix, build in _PREFIXES.items():
        if text.strip().startswith(prefix):
            return build(text.strip(), limit)
    return _named(text, limit)
