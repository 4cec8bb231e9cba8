"""Latin squares: at random, all reduced ones of small order by number, isotopy classes, and projective spaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import factorial
from random import Random

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.operations.operation import Operation

__all__ = [
    "MAX_NUMBERED",
    "MAX_RANDOM",
    "SquareClass",
    "latin_square_classes",
    "random_latin_square",
    "reduced_latin_square",
    "reduced_latin_squares",
    "steiner_square",
]

MAX_RANDOM = 60
MAX_NUMBERED = 7  # 16,942,080 reduced squares
MAX_RENAMED = 6  # 9,408 reduced squares, all of which are renamed to find their classes
MAX_STEINER = 2**10 - 1


def random_latin_square(n: int, seed: int) -> Operation:
    """A Latin square of order n: every label once in each row and each column.

    The chain of Jacobson and Matthews visits n^3 proper squares, from the cyclic one. Visits are counted, not steps:
    watched at proper squares alone the chain is reversible and its stationary distribution uniform, while the first
    proper square after a number of steps is not uniform.

    Source: M. Jacobson, P. Matthews, Generating uniformly distributed random Latin squares, J. Combin. Des. 4 (1996).

    Raises:
        ValueError: for an order below 2 or above `MAX_RANDOM`.
    """
    if not 2 <= n <= MAX_RANDOM:
        raise ValueError(f"Random Latin squares have orders 2 to {MAX_RANDOM}; got {n}.")
    random = Random(seed)
    cube = [[[int((a + b) % n == c) for c in range(n)] for b in range(n)] for a in range(n)]
    improper: tuple[int, int, int] | None = None
    visits = 0
    while visits < n**3:
        if improper is not None:
            a, b, c = improper
        else:
            a, b, c = (random.randrange(n) for _ in range(3))
            while cube[a][b][c]:
                a, b, c = (random.randrange(n) for _ in range(3))
        x = random.choice([i for i in range(n) if cube[i][b][c] == 1])
        y = random.choice([j for j in range(n) if cube[a][j][c] == 1])
        z = random.choice([k for k in range(n) if cube[a][b][k] == 1])
        for i, j, k in ((a, b, c), (a, y, z), (x, b, z), (x, y, c)):
            cube[i][j][k] += 1
        for i, j, k in ((x, b, c), (a, y, c), (a, b, z), (x, y, z)):
            cube[i][j][k] -= 1
        improper = (x, y, z) if cube[x][y][z] < 0 else None
        visits += improper is None
    return Operation.of([[line.index(1) for line in row] for row in cube], name=f"latin:{n}:{seed}")


def reduced_latin_squares(n: int) -> Iterator[Operation]:
    """The Latin squares of order n whose first row and first column are 0, ..., n - 1, in lexicographic order.

    Every Latin square is isotopic to one of them.
    """
    square = [list(range(n))] + [[a] + [-1] * (n - 1) for a in range(1, n)]
    in_row = [{a} if a else set(range(n)) for a in range(n)]
    in_column = [{b} if b else set(range(n)) for b in range(n)]

    def completions(place: int) -> Iterator[Operation]:
        if place == n * n:
            yield Operation.of(square)
            return
        a, b = divmod(place, n)
        if b == 0:
            yield from completions(place + 1)
            return
        for label in range(n):
            if label not in in_row[a] and label not in in_column[b]:
                square[a][b] = label
                in_row[a].add(label)
                in_column[b].add(label)
                yield from completions(place + 1)
                in_row[a].remove(label)
                in_column[b].remove(label)

    return completions(n)


def reduced_latin_square(n: int, number: int) -> Operation:
    """The reduced Latin square of order n with a number from 1 on, in lexicographic order.

    Raises:
        ValueError: for an order below 2 or above `MAX_NUMBERED`, and a number beyond the squares that there are.
    """
    from lemmata.numerics.operations.reduced_squares import count_reduced, reduced_with_number  # a compiler

    _refuse_unnumbered(n)
    found = reduced_with_number(n, number) if number >= 1 else None
    if found is None:
        raise ValueError(
            f"There are {count_reduced(n)} reduced Latin squares of order {n}, numbered from 1; got {number}."
        )
    return Operation.of(found.tolist(), name=f"latin:{n}:reduced:{number}")


def _refuse_unnumbered(n: int) -> None:
    if not 2 <= n <= MAX_NUMBERED:
        raise ValueError(f"Reduced Latin squares are numbered for the orders 2 to {MAX_NUMBERED}; got {n}.")


@dataclass(frozen=True)
class SquareClass:
    """The Latin squares that become one another when rows, columns and labels are renamed.

    Attributes:
        number: the least number of a reduced square in it, as in `reduced_latin_square`.
        reduced: how many reduced squares are in it.
        swapped: the number of the class of the transposed squares.
        turned: the number of the class of the squares whose rows are the columns here, columns the labels, labels the
            rows.
    """

    number: int
    reduced: int
    swapped: int
    turned: int


@cache
def latin_square_classes(n: int) -> tuple[SquareClass, ...]:
    """The isotopy classes of Latin squares of order n, by their numbers: 1, 1, 2, 2, 22, 564 for n = 2, ..., 7.

    Up to order 6 all reduced squares are renamed in all ways. Those of order 7 are found in ten seconds by switches
    from the cyclic square and that of the projective plane; that no class is missing shows in the members, which add
    up to the number of reduced squares.

    Raises:
        ValueError: for an order below 2 or above `MAX_NUMBERED`.
    """
    _refuse_unnumbered(n)
    if n > MAX_RENAMED:
        return _switched_classes(n)
    squares = [square.array().astype(np.int8) for square in reduced_latin_squares(n)]
    orders = np.array(list(permutations(range(n))))
    place: dict[bytes, int] = {}
    found: list[tuple[int, int]] = []
    for number, square in enumerate(squares, 1):
        if square.tobytes() not in place:
            images = {image.tobytes() for image in _reduced(square, orders)}
            place.update(dict.fromkeys(images, number))
            found.append((number, len(images)))
    first = orders[:1]

    def class_of(square: NDArray[np.int8]) -> int:
        return place[_reduced(square, first)[0].tobytes()]

    classes = []
    for number, reduced in found:
        square = squares[number - 1]
        turned = np.argsort(square, axis=0).T.astype(np.int8)  # the row of a label in a column
        classes.append(SquareClass(number, reduced, class_of(square.T), class_of(turned)))
    return tuple(classes)


def _switched_classes(n: int) -> tuple[SquareClass, ...]:
    """The classes that switches reach from the cyclic square and that of the projective space of this order."""
    from lemmata.numerics.operations.reduced_squares import least_reduced, numbers_of, roles, switched_classes

    cyclic = np.add.outer(np.arange(n), np.arange(n)) % n
    found = switched_classes([cyclic, steiner_square(n).array()])
    squares = [np.frombuffer(key, np.int64).reshape(n, n) for key in found]
    number = dict(zip(found, numbers_of(np.array(squares)), strict=True))
    classes = []
    for square, (key, symmetries) in zip(squares, found.items(), strict=True):
        _, turned, _, transposed, _, _ = (number[least_reduced(role)[0].tobytes()] for role in roles(square))
        classes.append(SquareClass(number[key], n * factorial(n) // symmetries, transposed, turned))
    return tuple(sorted(classes, key=lambda one: one.number))


def _reduced(square: NDArray[np.int8], orders: NDArray[np.int64]) -> NDArray[np.int8]:
    """The reduced squares that one becomes with any row as the first and its columns in any of these orders.

    Their shape is (n m, n, n) for m orders.
    """
    moved = square[:, orders].transpose(1, 0, 2)  # [order, row, column]
    which = np.arange(len(orders))
    images = []
    for first in range(len(square)):
        names = np.argsort(moved[:, first], axis=1).astype(np.int8)  # of the labels, from now on
        renamed = names[which[:, None, None], moved]
        images.append(renamed[which[:, None], np.argsort(renamed[:, :, 0], axis=1)])
    return np.concatenate(images)


def steiner_square(n: int) -> Operation:
    """The Latin square of the projective space over F_2 with n = 2^k - 1 points.

    Its elements are the nonzero vectors of F_2^k, element a the binary number a + 1; a a = a, and a b is the third
    point a + b of the line through a and b.

    Raises:
        ValueError: unless n is 3, 7, 15, 31, ..., up to `MAX_STEINER`.
    """
    if not 3 <= n <= MAX_STEINER or n & (n + 1):
        raise ValueError(f"Projective spaces over F_2 have 3, 7, 15, ... points, here up to {MAX_STEINER}; got {n}.")
    values = [[a if a == b else ((a + 1) ^ (b + 1)) - 1 for b in range(n)] for a in range(n)]
    return Operation.of(values, name=f"latin:{n}:steiner")
