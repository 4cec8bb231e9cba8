"""Reduced Latin squares, walked in order, and the classes of Latin squares that switches of cycles reach.

A square is *reduced* if its first row and first column are 0, ..., n - 1. Rows, columns and labels of every square can
be renamed such that it is; the least reduced square that it becomes names its class. Two rows of a square fall into
*cycles*, least sets of columns in which both have the same labels; to exchange the rows there alone gives another Latin
square. Such switches connect most squares of an order, not all: whether all classes were found is decided by counting
the reduced squares.

Source: I. M. Wanless, Cycle switches in Latin squares, Graphs Combin. 20 (2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import permutations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["count_reduced", "least_reduced", "numbers_of", "reduced_with_number", "roles", "switched_classes"]

Square = NDArray[np.int64]


@njit(cache=True)
def _following(square: Square, rows: Square, columns: Square, begun: bool) -> bool:
    """Makes a reduced square the next one in lexicographic order, the first one unless begun; False after the last.

    Bit c of ``rows[a]`` and ``columns[b]`` says that the label c is used there; cells that have no label hold -1.
    """
    n = len(square)
    a, b = (n - 1, n - 1) if begun else (1, 1)
    while True:
        label = square[a, b]
        if label >= 0:
            rows[a] ^= 1 << label
            columns[b] ^= 1 << label
        label += 1
        used = rows[a] | columns[b]
        while label < n and used >> label & 1:
            label += 1
        if label < n:
            square[a, b] = label
            rows[a] |= 1 << label
            columns[b] |= 1 << label
            if b < n - 1:
                b += 1
            elif a < n - 1:
                a, b = a + 1, 1
            else:
                return True
        else:
            square[a, b] = -1
            if b > 1:
                b -= 1
            elif a > 1:
                a, b = a - 1, n - 1
            else:
                return False


@njit(cache=True)
def _walked(square: Square, rows: Square, columns: Square, steps: int) -> int:
    """How many of so many squares there are; the last of them is left in ``square``."""
    for done in range(steps):
        if not _following(square, rows, columns, done > 0):
            return done
    return steps


@njit(cache=True)
def _met(square: Square, rows: Square, columns: Square, targets: Square, numbers: Square) -> None:
    """Writes the numbers of reduced squares in lexicographic order."""
    number, met = 0, 0
    while met < len(targets) and _following(square, rows, columns, number > 0):
        number += 1
        while met < len(targets) and (square == targets[met]).all():
            numbers[met] = number
            met += 1


def _start(n: int) -> tuple[Square, Square, Square]:
    square = np.full((n, n), -1, np.int64)
    square[0] = square[:, 0] = np.arange(n)
    used = 1 << np.arange(n)
    used[0] = (1 << n) - 1
    return square, used.copy(), used.copy()


def count_reduced(n: int) -> int:
    """The number of reduced Latin squares of order n from 2 on, by walking them: of order 7 in ten seconds."""
    return int(_walked(*_start(n), 1 << 62))


def reduced_with_number(n: int, number: int) -> Square | None:
    """The reduced Latin square with a number from 1 on, in lexicographic order; None if there are not so many."""
    square, rows, columns = _start(n)
    return square if _walked(square, rows, columns, number) == number else None


def numbers_of(squares: NDArray[np.integer]) -> list[int]:
    """The numbers of reduced Latin squares, shape (m, n, n).

    Raises:
        ValueError: for one that is no reduced Latin square.
    """
    found = np.asarray(squares, np.int64)
    labels = np.arange(found.shape[1])
    latin = all((np.sort(found, axis=axis) == (labels[:, None] if axis == 1 else labels)).all() for axis in (1, 2))
    if not latin or (found[:, 0] != labels).any() or (found[:, :, 0] != labels).any():
        raise ValueError("Numbers are those of Latin squares whose first row and column are in order: 0, ..., n - 1.")
    order = np.lexsort(found.reshape(len(found), -1).T[::-1])
    numbers = np.zeros(len(found), np.int64)
    _met(*_start(found.shape[1]), found[order], numbers)
    result = np.empty_like(numbers)
    result[order] = numbers
    return result.tolist()


@cache
def _orders(n: int) -> Square:
    return np.array(list(permutations(range(n))))


@njit(cache=True)
def _least(square: Square, orders: Square) -> tuple[Square, int]:
    """The least reduced square, and from how many orders of rows and columns it comes."""
    n, count = len(square), 0
    row_of, name = np.empty((n, n), np.int64), np.empty(n, np.int64)
    best, made = np.full((n, n), n), np.empty((n, n), np.int64)
    for a in range(n):
        for b in range(n):
            row_of[b, square[a, b]] = a
    for first in range(n):
        for order in orders:
            for j in range(n):
                name[square[first, order[j]]] = j
            sign = 0
            for i in range(1, n):
                a = row_of[order[0], square[first, order[i]]]
                for j in range(n):
                    made[i, j] = name[square[a, order[j]]]
                    if sign == 0 and made[i, j] != best[i, j]:
                        sign = -1 if made[i, j] < best[i, j] else 1
                if sign > 0:
                    break
            if sign < 0:
                best[1:], count = made[1:], 0
            if sign <= 0:
                count += 1
    best[0] = np.arange(n)
    return best, count


def least_reduced(square: NDArray[np.integer]) -> tuple[Square, int]:
    """The least reduced square that a Latin square becomes under other names, and how many symmetries it has.

    These are the autotopisms, without swaps: each takes the first row and the order of the columns to other ones that
    lead to the same reduced square.
    """
    return _least(np.ascontiguousarray(square, np.int64), _orders(len(square)))


def roles(square: NDArray[np.integer]) -> Iterator[Square]:
    """The six squares in which rows, columns and labels have other roles, the square itself first."""
    for one in (square, square.T):
        turned = np.asarray(one, np.int64)
        for _ in range(3):
            yield turned
            turned = np.argsort(turned, axis=0).T  # columns become rows, labels columns, rows labels


def switched_classes(starts: Iterable[NDArray[np.integer]]) -> dict[bytes, int]:
    """The classes up to names that squares of one order reach by changes of roles and switches of cycles.

    Returns:
        The bytes of the least reduced square of each class, and its number of symmetries as in `least_reduced`.
    """
    classes: dict[bytes, int] = {}
    waiting = [np.asarray(start, np.int64) for start in starts]
    while waiting:
        least, symmetries = least_reduced(waiting.pop())
        if least.tobytes() in classes:
            continue
        for turned in roles(least):
            classes[least_reduced(turned)[0].tobytes()] = symmetries
        for turned in list(roles(least))[:3]:
            waiting += _switched(turned)
    return classes


def _switched(square: Square) -> Iterator[Square]:
    """The squares in which two rows are exchanged in one of their cycles; of two cycles one is enough."""
    for a, b in zip(*np.triu_indices(len(square), 1), strict=True):
        back = np.argsort(square[a])[square[b]]  # from a column to the one where row a has what row b has in it
        cycle, count = np.full(len(square), -1), 0
        for start in range(len(square)):
            column = start
            while cycle[column] < 0:
                cycle[column] = count
                column = back[column]
            count = int(cycle.max()) + 1
        for number in range(count if count > 2 else count - 1):
            made, there = square.copy(), cycle == number
            made[a, there], made[b, there] = square[b, there], square[a, there]
            yield made
