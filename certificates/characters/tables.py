"""Exact character tables: what the max-margin certificate of a group is computed from, and checks that it is one.

A table holds, for the conjugacy classes of a finite group, their sizes, the class of the square and of the inverse
of an element, and the values of the complex irreducible characters as exact numbers (``flint.fmpq`` or
``lemmata.numerics.exact.cyclotomic.numbers.Cyclotomic``). The constructor refuses whatever violates a theorem about
character tables and names the first violation. Passing these tests is necessary, not sufficient, for being the table of
a group: a certificate computed from a bare table is conditional on it.

Sources: sections 7.6.1 and D.8 (definitions D.1 to D.6, theorems D.5, D.8, D.9) of the dissertation on combinatorial
tasks as model systems of deep learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq

from lemmata.certificates.characters.integral_products import IntegralProducts
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, exact_matmul, rational

__all__ = ["CharacterTable", "product_characters"]


@dataclass(frozen=True, eq=False)
class CharacterTable:
    """The character table of a finite group of order ``order >= 2``.

    ``values`` has shape (K, K): row R is an irreducible character, row 0 the trivial one; column C is a class,
    column 0 the identity. ``class_sizes``, ``squares`` (class of g^2), ``inverses`` (class of g^-1) have length K.

    Raises:
        ValueError: naming the first violated property.
    """

    name: str
    values: np.ndarray
    class_sizes: tuple[int, ...]
    squares: tuple[int, ...]
    inverses: tuple[int, ...]
    class_names: tuple[str, ...]
    irrep_names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _as_field_elements(self.values))
        _refuse_wrong_shapes(self)
        _refuse_wrong_degrees(self)
        _refuse_wrong_maps(self)
        _refuse_wrong_orthogonality(self)
        _refuse_wrong_squares(self)

    @property
    def order(self) -> int:
        """Number of group elements."""
        return sum(self.class_sizes)

    @cached_property
    def degrees(self) -> tuple[int, ...]:
        """Degrees d_R = chi_R(e), one per row."""
        return tuple(int(value.to_fmpq().p) for value in self.values[:, 0])

    @cached_property
    def rows(self) -> IntegralProducts:
        """The values by number, for arithmetic that treats equal values once and needs no common field."""
        return IntegralProducts(self.values)

    @cached_property
    def conjugates(self) -> tuple[int, ...]:
        """For each row R the row of the complex-conjugate character; ``ValueError`` if a row has none."""
        row_of = {row.tobytes(): R for R, row in enumerate(self.rows.ids)}
        found = [row_of.get(row.tobytes()) for row in self.rows.ids[:, list(self.inverses)]]
        if None in found:
            raise ValueError(f"The complex conjugate of {self.irrep_names[found.index(None)]} is missing in the table.")
        return tuple(R for R in found if R is not None)

    @cached_property
    def indicators(self) -> tuple[int, ...]:
        """Frobenius-Schur indicators (1/n) sum_g chi_R(g^2): +1 real, 0 complex, -1 quaternionic type."""
        return tuple(int(value.to_fmpq().p) for value in _indicator_elements(self))

    def is_totally_orthogonal(self) -> bool:
        """Whether every irreducible representation is of real type, the setting of theorem 7.9."""
        return all(indicator == 1 for indicator in self.indicators)


def _as_field_elements(values: np.ndarray) -> np.ndarray:
    """The table with every entry a ``Cyclotomic``; refuse floats and other inexact entries."""
    array = np.array(values, dtype=object)
    result = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        if isinstance(value, Cyclotomic):
            result[index] = value
        elif isinstance(value, int | np.integer | Fraction | fmpq):
            result[index] = rational(int(value) if isinstance(value, np.integer) else value)
        else:
            raise ValueError(
                f"A character table is exact: entry {index} is {value!r} of type {type(value).__name__}, "
                "but integers, fractions and cyclotomic numbers are accepted."
            )
    result.setflags(write=False)
    return result


def _refuse_wrong_shapes(table: CharacterTable) -> None:
    """The check of the sizes of all parts, of integers, and of the sizes of classes."""
    count = len(table.class_sizes)
    if table.values.shape != (count, count):
        raise ValueError(
            f"A table of {count} classes needs {count} x {count} values, but has shape {table.values.shape}."
        )
    for label, entries in (
        ("squares", table.squares),
        ("inverses", table.inverses),
        ("class_names", table.class_names),
        ("irrep_names", table.irrep_names),
    ):
        if len(entries) != count:
            raise ValueError(f"{label} must have one entry per class ({count}), but has {len(entries)}.")
    for label, entries in (
        ("class_sizes", table.class_sizes),
        ("squares", table.squares),
        ("inverses", table.inverses),
    ):
        for column, entry in enumerate(entries):
            if not isinstance(entry, int | np.integer):
                raise ValueError(f"{label} must hold integers, but entry {column} is {entry!r}.")
    if count < 2:
        raise ValueError("A certificate needs a group with at least 2 elements; this table has one class.")
    if table.class_sizes[0] != 1 or min(table.class_sizes) < 1:
        raise ValueError(f"Class sizes must be positive with the identity first, but are {table.class_sizes}.")
    for size in table.class_sizes:
        if sum(table.class_sizes) % size:
            raise ValueError(f"Class sizes must divide the group order {sum(table.class_sizes)}, but {size} does not.")


def _refuse_wrong_degrees(table: CharacterTable) -> None:
    """The check that degrees are positive integers, row 0 is trivial, and the squares of degrees add up to n."""
    for row, value in enumerate(table.values[:, 0]):
        if not value.is_rational() or value.to_fmpq().q != 1 or value.to_fmpq() < 1:
            raise ValueError(
                f"The degree of character {row} ({table.irrep_names[row]}) must be a positive integer, but is {value}."
            )
    for column, value in enumerate(table.values[0]):
        if value != 1:
            raise ValueError(f"Row 0 must be the trivial character, but its value on class {column} is {value}.")
    total = sum(degree**2 for degree in table.degrees)
    if total != table.order:
        raise ValueError(f"The squares of the degrees must add up to the group order {table.order}, but give {total}.")


def _refuse_wrong_maps(table: CharacterTable) -> None:
    """The check that squares and inverses are maps of classes, and values at inverse classes are conjugate."""
    count = len(table.class_sizes)
    for label, entries in (("squares", table.squares), ("inverses", table.inverses)):
        if any(not 0 <= entry < count for entry in entries) or entries[0] != 0:
            raise ValueError(f"{label} must map classes 0..{count - 1} to such classes and fix class 0: {entries}.")
    wrong = np.argwhere(table.rows.conjugate_ids(-1) != table.rows.ids[:, list(table.inverses)])
    if wrong.size:
        row, column = (int(i) for i in wrong[0])
        raise ValueError(
            f"Character {row} ({table.irrep_names[row]}) must take conjugate values on class {column} and "
            f"on the class {table.inverses[column]} of its inverses."
        )


def _inner_products(table: CharacterTable, power: int, classes: Sequence[int]) -> np.ndarray:
    """n <f_R, chi_S> = sum_C |C| f_R(C) conj(chi_S(C)), f_R(C) = chi_R(classes[C])^power, shape (K, K), exactly.

    Modulo one prime where that decides (integers, quickly), else (wrong tables, huge numbers) in the common field.
    """
    products = table.rows.products(table.class_sizes, table.inverses, power, list(classes))
    if products is not None:
        return products
    sizes = np.array(table.class_sizes, dtype=object)
    conjugates = table.values[:, list(table.inverses)]
    return exact_matmul(table.values[:, list(classes)] ** power, (sizes * conjugates).T)


def _refuse_wrong_orthogonality(table: CharacterTable) -> None:
    """The check of theorem D.8: (1/n) sum_C |C| chi_R(C) conj(chi_S(C)) = [R = S]."""
    order = table.order
    for (row, other), product in np.ndenumerate(_inner_products(table, 1, range(len(table.class_sizes)))):
        if product != (order if row == other else 0):
            raise ValueError(
                f"Characters {row} ({table.irrep_names[row]}) and {other} ({table.irrep_names[other]}) violate "
                f"orthogonality: their inner product is {product}/{order}."
            )


def _indicator_elements(table: CharacterTable) -> list[Cyclotomic]:
    return [rational(0) + total / fmpq(table.order) for total in _inner_products(table, 1, table.squares)[:, 0]]


def _refuse_wrong_squares(table: CharacterTable) -> None:
    """The check that no indicator is wrong, and that symmetric and exterior squares are characters.

    The symmetric and the exterior square of R have the characters (chi(g)^2 +- chi(g^2))/2; their inner products with
    all irreducible characters are non-negative integers.
    """
    for row, indicator in enumerate(_indicator_elements(table)):
        real = all(value.is_real() for value in table.values[row])
        if indicator not in ((1, -1) if real else (0,)):
            raise ValueError(
                f"The map of squares gives character {row} ({table.irrep_names[row]}) the indicator {indicator}; "
                f"a {'real' if real else 'non-real'} character has {'+1 or -1' if real else '0'}."
            )
    products = _inner_products(table, 2, range(len(table.class_sizes)))
    of_squares = _inner_products(table, 1, table.squares)
    double = 2 * table.order
    for sign, power in ((1, "symmetric"), (-1, "exterior")):
        for (row, other), total in np.ndenumerate(products + sign * of_squares):
            if type(total) is int and total >= 0 and total % double == 0:
                continue
            multiplicity = rational(0) + total / fmpq(double)
            if not multiplicity.is_rational() or multiplicity.to_fmpq().q != 1 or multiplicity.to_fmpq() < 0:
                raise ValueError(
                    f"The map of squares is wrong: character {other} ({table.irrep_names[other]}) would occur "
                    f"{multiplicity} times in the {power} square of character {row} ({table.irrep_names[row]})."
                )


def product_characters(first: CharacterTable, second: CharacterTable) -> CharacterTable:
    """The table of the direct product; its irreducible characters are the products."""
    k = len(second.class_sizes)
    left, right = IntegralProducts(first.values), IntegralProducts(second.values)
    products = np.array([[x * y for y in right.distinct] for x in left.distinct], dtype=object)
    values = products[left.ids[:, None, :, None], right.ids[None, :, None, :]]

    def paired(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
        return tuple(a * k + b for a in left for b in right)

    return CharacterTable(
        f"{first.name}x{second.name}",
        values.reshape(len(left.ids) * k, -1),
        tuple(a * b for a in first.class_sizes for b in second.class_sizes),
        paired(first.squares, second.squares),
        paired(first.inverses, second.inverses),
        tuple(f"({a}, {b})" for a in first.class_names for b in second.class_names),
        tuple(f"{a} x {b}" for a in first.irrep_names for b in second.irrep_names),
    )
