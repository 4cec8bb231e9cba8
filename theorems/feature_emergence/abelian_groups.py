"""Abelian groups as products of cyclic ones, element by element: what the checks of missing cells count with.

Nothing here is shared with the library, which works on arrays of numbered elements.
"""

from __future__ import annotations

from itertools import product
from math import isqrt, lcm

import numpy as np
from numpy.typing import NDArray

__all__ = ["AbelianGroup", "Element", "Orders"]

Orders = tuple[int, ...]
"""Of the cyclic factors."""
Element = tuple[int, ...]
"""An element, or a character."""


class AbelianGroup:
    """A product of cyclic groups: elements as tuples, numbered in their order."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.elements: list[Element] = list(product(*map(range, orders)))
        self.n = len(self.elements)
        self.number = {e: i for i, e in enumerate(self.elements)}
        self.half = {self.sum((2, e)): e for e in self.elements}
        self.exponent = lcm(*orders)

    def sum(self, *terms: tuple[int, Element]) -> Element:
        """A combination of elements with integer factors."""
        return tuple(sum(f * e[i] for f, e in terms) % m for i, m in enumerate(self.orders))

    def turn(self, character: Element, element: Element) -> int:
        """The value of a character, as an exponent of a root of unity of the order `exponent`."""
        return sum(x * y * self.exponent // m for x, y, m in zip(character, element, self.orders, strict=True)) % (
            self.exponent
        )

    def characters(self) -> NDArray[np.complex128]:
        """The values of all characters, rows, at all elements, rounded; shape (n, n)."""
        turns = [[self.turn(k, a) for a in self.elements] for k in self.elements]
        return np.exp(2j * np.pi * np.array(turns) / self.exponent)

    def characters_modulo(self, bound: int) -> tuple[int, list[list[int]]]:
        """A prime p above the bound, 1 modulo the exponent, and the characters in F_p."""
        p = next(p for p in range(bound + self.exponent - bound % self.exponent + 1, 2**62, self.exponent) if _prime(p))
        root = next(
            x
            for x in (pow(g, (p - 1) // self.exponent, p) for g in range(2, p))
            if all(pow(x, i, p) != 1 for i in range(1, self.exponent))
        )
        powers = [pow(root, i, p) for i in range(self.exponent)]
        return p, [[powers[self.turn(k, a)] for a in self.elements] for k in self.elements]

    def points(self, a: Element, b: Element, d: Element) -> tuple[tuple[Element, Element], ...]:
        """The corners and the midpoints of the sides."""
        p, q, r, s = (self.sum((1, x), (1, y)) for x, y in product((a, b), (d, self.half[d])))
        return (a, b), (p, b), (a, r), (q, b), (a, s), (q, s)


def _prime(p: int) -> bool:
    """Trial division."""
    return p > 1 and all(p % x for x in range(2, isqrt(p) + 1))
