"""Character tables of families of groups for every size: abelian, dihedral, dicyclic and symmetric groups.

The tables are written from the lists of irreducible representations, and that of S_n by the Murnaghan-Nakayama rule; no
group is enumerated. The maximum margins of the first three families have closed forms, which use no table
(`lemmata.certificates.game.closed_form`), so that either can be checked against the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, reduce
from math import factorial
from typing import Any

import numpy as np
from flint import fmpq

from lemmata.certificates.characters.tables import CharacterTable, product_characters
from lemmata.constructions.representations.young import Partition, partitions
from lemmata.numerics.exact.cyclotomic.numbers import cosine, rational, root_of_unity
from lemmata.numerics.exact.integers import checked_integer

__all__ = [
    "abelian_characters",
    "check_cyclic_orders",
    "cyclic_characters",
    "dicyclic_characters",
    "dihedral_characters",
    "symmetric_characters",
]


def cyclic_characters(n: int) -> CharacterTable:
    """The table of Z_n, n >= 2: chi_j(a) = exp(2 pi i j a / n), classes in the order 0, 1, .., n-1."""
    if n < 2:
        raise ValueError(f"The cyclic group needs order n >= 2, but n = {n}.")
    roots = [root_of_unity(a, n) for a in range(n)]
    values = np.array([[roots[j * a % n] for a in range(n)] for j in range(n)], dtype=object)
    return CharacterTable(
        f"Z{n}",
        values,
        (1,) * n,
        tuple(2 * a % n for a in range(n)),
        tuple(-a % n for a in range(n)),
        tuple(str(a) for a in range(n)),
        tuple(f"chi_{j}" for j in range(n)),
    )


def abelian_characters(factors: Sequence[int]) -> CharacterTable:
    """The table of Z_f1 x Z_f2 x .., for the given orders f >= 2 of the cyclic factors."""
    check_cyclic_orders(factors)
    return reduce(product_characters, map(cyclic_characters, factors))


def dihedral_characters(n: int) -> CharacterTable:
    """The table of the dihedral group of order 2n, n >= 3: r^n = t^2 = 1, t r t = r^-1.

    Classes: r^0, r^1, .., r^floor(n/2), then the reflections t (for even n those r^k t with even and with odd k).
    """
    checked_integer("n of the dihedral group of order 2n", n, 3)
    powers = range(n // 2 + 1)
    reflections = 1 if n % 2 else 2
    rows: list[tuple[str, list[Any]]] = [
        ("A1", [1] * (len(powers) + reflections)),
        ("A2", [1] * len(powers) + [-1] * reflections),
    ]
    if n % 2 == 0:
        signs = [(-1) ** k for k in powers]
        rows += [("B1", [*signs, 1, -1]), ("B2", [*signs, -1, 1])]
    for j in range(1, (n + 1) // 2):
        rows.append((f"E{j}", [2 * cosine(j * k % n, n) for k in powers] + [0] * reflections))
    return CharacterTable(
        f"D{n}",
        np.array([values for _, values in rows], dtype=object),
        (*(1 if 2 * k % n == 0 else 2 for k in powers), *[n // reflections] * reflections),
        (*(_folded(2 * k, n) for k in powers), *[0] * reflections),
        tuple(range(len(powers) + reflections)),
        (*map(_power("r"), powers), *["t", "r t"][:reflections]),
        tuple(name for name, _ in rows),
    )


def dicyclic_characters(m: int) -> CharacterTable:
    """The table of the dicyclic group of order 4m, m >= 2: a^2m = 1, x^2 = a^m, x^-1 a x = a^-1.

    Classes: a^0, a^1, .., a^m, then x a^k with even k and with odd k. The representation E_j of degree 2, with
    character 2 cos(pi j k/m) at a^k, is of real type for even j and of quaternionic type for odd j.
    """
    checked_integer("m of the dicyclic group of order 4m", m, 2)
    powers = range(m + 1)
    signs = [(-1) ** k for k in powers]
    image = root_of_unity(1, 4) if m % 2 else rational(1)  # of x where a goes to -1, because x^2 = a^m
    rows: list[tuple[str, list[Any]]] = [
        ("A1", [1] * (m + 3)),
        ("A2", [1] * (m + 1) + [-1, -1]),
        ("B1", [*signs, image, -image]),
        ("B2", [*signs, -image, image]),
    ]
    rows += [(f"E{j}", [2 * cosine(j * k % (2 * m), 2 * m) for k in powers] + [0, 0]) for j in range(1, m)]
    return CharacterTable(
        f"Dic{m}",
        np.array([values for _, values in rows], dtype=object),
        (*(1 if k % m == 0 else 2 for k in powers), m, m),
        (*(_folded(2 * k, 2 * m) for k in powers), m, m),
        (*powers, *((m + 2, m + 1) if m % 2 else (m + 1, m + 2))),  # (x a^k)^-1 = x a^(k + m)
        (*map(_power("a"), powers), "x", "x a"),
        tuple(name for name, _ in rows),
    )


def symmetric_characters(n: int) -> CharacterTable:
    """The table of S_n, n >= 2, by the Murnaghan-Nakayama rule.

    Rows are partitions in decreasing lexicographic order (so row 0 is trivial), columns cycle types in increasing
    order (so column 0 is the identity). All values are integers.
    """
    if n < 2:
        raise ValueError(f"The symmetric group needs n >= 2, but n = {n}.")
    shapes = list(partitions(n))
    types = shapes[::-1]
    index = {cycle_type: column for column, cycle_type in enumerate(types)}
    values = np.array(
        [[fmpq(_murnaghan_nakayama(shape, cycle_type)) for cycle_type in types] for shape in shapes],
        dtype=object,
    )
    return CharacterTable(
        f"S{n}",
        values,
        tuple(_class_size(cycle_type) for cycle_type in types),
        tuple(index[_squared_type(cycle_type)] for cycle_type in types),
        tuple(range(len(types))),
        tuple(_power_notation(cycle_type) for cycle_type in types),
        tuple(str(list(shape)) for shape in shapes),
    )


def _folded(k: int, n: int) -> int:
    """The representative of {k, -k} modulo n in 0..floor(n/2)."""
    return min(k % n, -k % n)


def _power(letter: str) -> Callable[[int], str]:
    """The names of the powers of a generator."""
    return lambda k: "e" if k == 0 else letter if k == 1 else f"{letter}^{k}"


def check_cyclic_orders(factors: Sequence[int]) -> None:
    """The check that the orders of cyclic factors are integers >= 2, at least one; ``ValueError`` otherwise."""
    if not factors or any(isinstance(f, bool) or not isinstance(f, int | np.integer) or f < 2 for f in factors):
        raise ValueError(f"The orders of the cyclic factors must be integers >= 2, at least one, not {factors!r}.")


@cache
def _murnaghan_nakayama(shape: Partition, cycle_type: Partition) -> int:
    """chi_shape(cycle_type): remove rim hooks of length cycle_type[0] in all ways, with signs.

    In the set of first-column hook lengths {shape_i + rows - 1 - i} a rim hook of length l is removed by lowering
    one number by l onto a free place; the sign counts the numbers that are passed.
    """
    if not cycle_type:
        return 1
    length, rest = cycle_type[0], cycle_type[1:]
    hooks = [part + len(shape) - 1 - i for i, part in enumerate(shape)]
    total = 0
    for hook in hooks:
        target = hook - length
        if target < 0 or target in hooks:
            continue
        passed = sum(target < other < hook for other in hooks)
        lowered = sorted((target if other == hook else other for other in hooks), reverse=True)
        smaller = tuple(value - (len(hooks) - 1 - i) for i, value in enumerate(lowered))
        total += (-1) ** passed * _murnaghan_nakayama(tuple(p for p in smaller if p), rest)
    return total


def _class_size(cycle_type: Partition) -> int:
    centraliser = 1
    for part in set(cycle_type):
        count = cycle_type.count(part)
        centraliser *= part**count * factorial(count)
    return factorial(sum(cycle_type)) // centraliser


def _squared_type(cycle_type: Partition) -> Partition:
    halves = [half for part in cycle_type for half in ((part,) if part % 2 else (part // 2, part // 2))]
    return tuple(sorted(halves, reverse=True))


def _power_notation(cycle_type: Partition) -> str:
    return " ".join(f"{part}^{cycle_type.count(part)}" for part in sorted(set(cycle_type), reverse=True))
