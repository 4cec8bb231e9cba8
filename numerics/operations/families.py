"""Tables of named operations: formulas modulo n, maxima and divisors, groups and conjugation in them.

The labels of a formula modulo n are all n residues, those that it never takes included: a network has an output for
each of them. So are the elements of a group those of its conjugation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.operations.expressions import parse_formula
from lemmata.numerics.operations.operation import MISSING, Operation

__all__ = ["NAMED_FORMULAS", "ORDER_OPERATIONS", "conjugation_operation", "group_operation", "named_operation"]

NAMED_FORMULAS = {"add": "a+b", "sub": "a-b", "mul": "a*b", "div": "a/b"}
"""Names of formulas modulo n."""

ORDER_OPERATIONS: dict[str, tuple[Callable[[int, int], int], int]] = {
    "max": (max, 0),
    "min": (min, 0),
    "gcd": (math.gcd, 1),
    "lcm": (math.lcm, 1),
}
"""Operations on n integers in order, and the first of the integers: 0, ..., n - 1 or 1, ..., n."""

MAX_SIDE = 5000  # rows of a named table: 25 million cells


def named_operation(operation: str, n: int) -> Operation:
    """The table of an operation on n elements.

    Args:
        operation: a formula in a and b modulo n, such as "a^2+ab+b^2", "a-b" or "a*b^-1"; its name in
            `NAMED_FORMULAS`; or one of `ORDER_OPERATIONS`: max and min of 0, ..., n - 1, and gcd and lcm of 1, ..., n,
            whose labels are the values that occur.
        n: at least 2.

    Cells in which a formula is not defined, such as a/0, are missing. The labels of a formula are all residues.

    Raises:
        ValueError: for n below 2 or too large, what is no formula, and one that is defined nowhere.
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 2 <= n <= MAX_SIDE:
        raise ValueError(f"An operation has a table on 2 to {MAX_SIDE} elements; got {n!r}.")
    n, name = int(n), f"op:{operation.strip()}:{n}"
    if (ordered := ORDER_OPERATIONS.get(operation.strip())) is not None:
        function, first = ordered
        elements = range(first, first + n)
        values = [[function(a, b) for b in elements] for a in elements]
        occurring = sorted({value for row in values for value in row})
        number = {value: label for label, value in enumerate(occurring)}
        names = tuple(map(str, elements))
        cells = tuple(tuple(number[value] for value in row) for row in values)
        return Operation(cells, tuple(map(str, occurring)), names, names, name)
    formula = parse_formula(NAMED_FORMULAS.get(operation.strip(), operation))
    residues = [[formula(a, b, n) for b in range(n)] for a in range(n)]
    if all(value is None for row in residues for value in row):
        raise ValueError(f"{operation!r} is defined nowhere modulo {n}, so that it has no table.")
    return Operation.of([[MISSING if v is None else v for v in row] for row in residues], labels=n, name=name)


def group_operation(group: FiniteGroup) -> Operation:
    """The Cayley table of a group: (a, b) -> ab."""
    return _of_elements(group, group.table.tolist(), group.name)


def conjugation_operation(group: FiniteGroup) -> Operation:
    """The table of (a, b) -> a b a^-1 in a group; its labels are all elements."""
    values = group.table[group.table, group.inverse[:, None]]
    return _of_elements(group, values.tolist(), f"conj:{group.name}")


def _of_elements(group: FiniteGroup, values: list[list[int]], name: str) -> Operation:
    names = tuple(str(element) for element in group.elements)
    return Operation(tuple(map(tuple, values)), names, names, names, name)
