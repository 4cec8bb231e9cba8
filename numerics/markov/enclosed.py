"""Enclosures of the evidences of two-state chains with uniform transition probabilities and stationary start.

The evidence of a sequence with x_1 = 1, n_11 and n_22 steps that stay and e changes is, as in
`lemmata.numerics.markov.bayes`,

    Z(n_11, e, n_22) = E[ (1-U)^n_11 U^ceil(e/2) V^(floor(e/2) + 1) (1-V)^n_22 / (U+V) ],

U, V independent and uniform on (0, 1). Without the factors 1-U, 1-V it is

    E[U^p V^q / (U+V)] = (K(p) + K(q)) / (p + q + 1),    K(n) = integral of r^n/(1+r) over (0, 1),
    K(0) = ln 2,  K(n) = 1/n - K(n-1)

(split the square at U = V), and each factor 1-U is a difference of neighbours in p, each factor 1-V one in q. The
differences cancel about two bits a step, which the working precision allows for; the balls say what is left.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array

__all__ = ["LONGEST_ENCLOSED", "enclosed_evidence", "enclosed_extensions"]

LONGEST_ENCLOSED = 128


@lru_cache(maxsize=4)
def enclosed_evidence(steps: int) -> Array:
    """The evidences Z[n_11, e] of all sequences with x_1 = 1 and so many steps, as balls, shape (steps+1, steps+1).

    n_22 = steps - n_11 - e; entries with n_11 + e > steps are zero.

    Raises:
        ValueError: if steps is not among 0, ..., 128.
    """
    if checked_integer("The number of steps", steps, 0) > LONGEST_ENCLOSED:
        raise ValueError(f"Evidences are enclosed for at most {LONGEST_ENCLOSED} steps, not {steps}.")
    Z = np.full((steps + 1, steps + 1), arb(0), dtype=object)
    with precision(4 * steps + 128):
        rays = [arb(2).log()]
        for n in range(1, steps + 2):
            rays.append(arb(1) / n - rays[-1])
        table = np.array(
            [[(rays[p] + rays[q]) / (p + q + 1) for q in range(steps + 2)] for p in range(steps + 1)], dtype=object
        )
        for n11 in range(steps + 1):
            for e in range(steps + 1 - n11):
                row = table[(e + 1) // 2, e // 2 + 1 : e // 2 + 2 + steps - n11 - e]
                Z[n11, e] = _difference(row)
            table = table[:-1] - table[1:]  # one more factor 1 - U
    Z.flags.writeable = False
    return Z


def enclosed_extensions(steps: int, first: int, n11: NDArray[np.int64], e: NDArray[np.int64]) -> tuple[Array, Array]:
    """The evidences of sequences that go on with the symbol 1, and of those that go on with 2, as balls.

    Args:
        steps: of the sequence that goes on.
        first: x_1, 1 or 2.
        n11, e: its counts of steps from 1 to 1 and of changes, arrays of one shape.
    """
    longer = enclosed_evidence(steps + 1)
    n22 = steps - n11 - e
    same = n11 if first == 1 else n22  # exchanging the symbols, the sequence begins with 1
    even = e % 2 == 0
    stay, change = longer[np.where(even, same + 1, same), e], longer[same, e + 1]
    ends_in_one = even == (first == 1)
    return np.where(ends_in_one, stay, change), np.where(ends_in_one, change, stay)


def _difference(row: Array) -> arb:
    """The last of the repeated differences a_i - a_(i+1) of a row."""
    while len(row) > 1:
        row = row[:-1] - row[1:]
    return row[0]
