"""Character tables of families of groups for every size: abelian, dihedral and dicyclic groups.

The tables are written from the lists of irreducible representations; no group is enumerated. The maximum margins of
these families have closed forms, which use no table (`certificates.game.closed_form`), so that either can be checked
against the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from certificates.characters.tables import CharacterTable, cyclic_characters, product_characters
from numerics.exact.cyclotomic.numbers import cosine, rational, root_of_unity

__all__ = [
    "abelian_characters",
    "check_at_least",
    "check_cyclic_orders",
    "dicyclic_characters",
    "dihedral_characters",
]


def abelian_characters(factors: Sequence[int]) -> CharacterTable:
    """The table of Z_f1 x Z_f2 x .., for the given orders f >= 2 of the cyclic factors."""
    check_cyclic_orders(factors)
    return reduce(product_characters, map(cyclic_characters, factors))


def dihedral_characters(n: int) -> CharacterTable:
    """The table of the dihedral group of order 2n, n >= 3: r^n = t^2 = 1, t r t = r^-1.

    Classes: r^0, r^1, .., r^floor(n/2), then the reflections t (for even n those r^k t with even and with odd k).
    """
    check_at_least(n, 3, "dihedral group of order 2n")
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
    check_at_least(m, 2, "dicyclic group of order 4m")
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


def check_at_least(value: int, least: int, what: str) -> None:
    """The check that the parameter of a family is an integer of at least ``least``; ``ValueError`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"The {what} needs an integer of at least {least}, not {value!r}.")
