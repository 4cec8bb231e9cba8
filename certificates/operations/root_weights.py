"""Weights of triples with the square root of 2, for abelian groups of even order: x + y sqrt(2), x and y integers.

A wave of a real character is paid as much as one of a pair of characters only if the steps d in 2G have other weights
than the rest, and their ratio is irrational (ext-T15 of the chapter feature_emergence, proofs/even-orders.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.certificates.operations.triangle_weights import (
    TriangleConditions,
    inner_weights,
    rational_solutions,
)
from lemmata.numerics.exact.precision import precision

__all__ = ["RootWeights", "exact_root_weights"]


@dataclass(frozen=True, eq=False)
class RootWeights:
    """Weights x + y sqrt(2) of the orbits of triples.

    Attributes:
        conditions: which orbits.
        whole, root: x and y, integers of any size (dtype object), one for each orbit.
    """

    conditions: TriangleConditions
    whole: NDArray[Any]
    root: NDArray[Any]

    def signs(self) -> NDArray[np.int64]:
        """Those of the weights, exactly."""
        return np.array([_sign(int(x), int(y)) for x, y in zip(self.whole, self.root, strict=True)], np.int64)

    def met(self) -> bool:
        """Whether no weight is negative and the conditions of ext-T15 hold up to a positive factor, exactly."""
        matrix = self.conditions.matrix.toarray().astype(object)
        right, root = self.conditions.right.astype(object), self.conditions.root.astype(object)
        whole, other = matrix @ self.whole, matrix @ self.root
        place = np.flatnonzero((right > 0) & (root == 0))[0]
        unit, factor = right[place], whole[place]
        return bool(
            (self.signs() >= 0).all()
            and factor > 0
            and np.array_equal(whole * unit, right * factor)
            and np.array_equal(other * unit, root * factor)
        )

    def balls(self, bits: int = 64) -> NDArray[Any]:
        """The weights of the triples, shape (n, n, n), as balls."""
        with precision(bits):
            root = arb(2).sqrt()
            found = [arb(int(x)) + int(y) * root for x, y in zip(self.whole, self.root, strict=True)]
        return self.conditions.spread(np.array(found, object))

    def values(self) -> NDArray[np.float64]:
        """The weights of the triples, shape (n, n, n), rounded."""
        return self.conditions.spread(self.whole.astype(float) + np.sqrt(2) * self.root.astype(float))

    def support(self) -> NDArray[np.int64]:
        """1 where the weight of a triple is positive, shape (n, n, n)."""
        return self.conditions.spread((self.signs() > 0).astype(np.int64))


def exact_root_weights(conditions: TriangleConditions) -> RootWeights | None:
    """Weights near those nearest to the uniform ones that meet the conditions exactly; None where none were found.

    Raises:
        TriangleProgramError: as `near_weights`.
    """
    target = inner_weights(conditions)
    if target is None:
        return None
    support = np.flatnonzero(target)
    _, _, d, orbit = conditions.triples()
    doubled = np.zeros(len(target), bool)
    doubled[orbit] = conditions.doubled[d]
    r = len(conditions.doubled) / conditions.doubled.sum()
    root = np.where(doubled, target * r / (1 + (np.sqrt(2) - 1) * r), 0.0)
    near = np.stack([target - np.sqrt(2) * root, root], axis=1)[support]
    sides = np.stack([conditions.right, conditions.root], axis=1)
    solved = rational_solutions(conditions.matrix[:, support].toarray(), sides, near)
    if solved is None:
        return None
    whole = np.zeros((2, len(target)), object)
    whole[:, support] = solved.T // gcd(*solved.ravel())
    found = RootWeights(conditions, *whole)
    return found if found.met() else None


def _sign(x: int, y: int) -> int:
    """Of x + y sqrt(2)."""
    size = x * x - 2 * y * y  # not 0 but for x = y = 0
    return ((x > 0) - (x < 0)) if size > 0 else ((y > 0) - (y < 0))
