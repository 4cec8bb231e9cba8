"""The two three-dimensional representations of A_5: rotations of the icosahedron.

A_5 is presented by x^2 = y^3 = (xy)^5 = 1. Let phi be a root of phi^2 = phi + 1 and a = (phi - 1, phi, 1)/2,
a unit vector because (phi - 1)^2 + phi^2 + 1 = 2 (phi^2 - phi) + 2 = 4. Then X = 2 a a^T - 1 is the half-turn
about a, the cyclic permutation Y of the coordinates a turn by a third about (1, 1, 1), and XY is a rotation
of trace 2 a . Ya = ((phi - 1) phi + phi + (phi - 1))/2 = phi, a turn by 2 pi/5 for phi = (1 + sqrt 5)/2 and
by 4 pi/5 for the conjugate root. So (XY)^5 = 1, and the two roots give the two representations.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from lemmata.numerics.groups.tables import FiniteGroup


def icosahedral_generators(conjugate: bool = False, exact: bool = False) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The orthogonal matrices X, Y (3, 3) with X^2 = Y^3 = (XY)^5 = 1 and tr XY = (1 + sqrt 5)/2.

    `conjugate` replaces sqrt 5 by -sqrt 5; `exact` gives Cyclotomic entries instead of float64.
    """
    one: Any = rational(1) if exact else 1.0
    root: Any = sqrt_rational(5) if exact else math.sqrt(5)
    phi = (one - root) / 2 if conjugate else (one + root) / 2
    a = np.array([phi - 1, phi, one])
    X = np.outer(a, a) / 2 - np.diag([one, one, one])
    Y = np.full((3, 3), one - one)
    Y[1, 0] = Y[2, 1] = Y[0, 2] = one
    return X, Y


def presentation_of_icosahedral(group: FiniteGroup) -> tuple[int, int]:
    """The first elements x, y != 1 of A_5 (in index order) with x^2 = y^3 = (xy)^5 = 1 and xy != 1.

    They generate: the relations present A_5, which is simple, so a nontrivial image is everything.

    Raises:
        ValueError: if the group has no such elements or not order 60.
    """
    e, table, squares = group.identity, group.table, group.squaring
    if group.order == 60:
        for x in np.flatnonzero(squares == e):
            for y in np.flatnonzero(table[squares, np.arange(group.order)] == e):
                z = table[x, y]
                if x != e and y != e and z != e and table[squares[squares[z]], z] == e:
                    return int(x), int(y)
    raise ValueError(f"{group.name} is not A_5: it has no x, y != 1 with x^2 = y^3 = (xy)^5 = 1 and order 60.")
