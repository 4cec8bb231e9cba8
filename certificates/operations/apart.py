"""Exact networks whose neurons have x = (u, v) and w normalised apart, with coordinates in one real quadratic field.

Of all neurons (s x, t w) of length 1 that answers most which has |s x|^2 = 2/3 and |t w|^2 = 1/3: it answers
2/(3 sqrt 3) (u_a + v_b)^2 (w_y - w_c) / (|x|^2 |w|). A neuron (x, w) with the number p stands for that one, with the
share of p |x|^2 in the sum of all; so no root but that of |w|^2 is left in the sums over neurons, and only one sum of
p |x|^2 below them. This is what documents of version 2 hold (OPERATION_FORMAT.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.neurons import OperationNetwork

__all__ = ["ApartNetwork"]


@dataclass(frozen=True, eq=False)
class ApartNetwork:
    """A network of m neurons x = x_0 + x_1 sqrt(root), w.

    Attributes:
        root: a positive integer.
        rows: |A|; the others of the N coordinates of x are those of v.
        x, x_root: x_0 and x_1, shape (m, N), Python ints in object arrays.
        w: shape (m, C), the same.
        numbers: p = p_0 + p_1 sqrt(root) > 0, shape (m, 2), Fractions in an object array.
    """

    root: int
    rows: int
    x: NDArray
    x_root: NDArray
    w: NDArray
    numbers: NDArray

    @property
    def size(self) -> int:
        """The number of neurons."""
        return len(self.numbers)

    def floats(self) -> OperationNetwork:
        """The network in floats, each neuron with |x|^2 = 2/3 and |w|^2 = 1/3, and its masses of sum 1."""
        x = self.x.astype(float) + sqrt(self.root) * self.x_root.astype(float)
        w = self.w.astype(float)
        squares = (x * x).sum(axis=1)
        masses = self.numbers.astype(float) @ np.array([1.0, sqrt(self.root)]) * squares
        x *= np.sqrt(2 / (3 * squares))[:, None]
        w *= np.sqrt(1 / (3 * (w * w).sum(axis=1)))[:, None]
        return OperationNetwork(x[:, : self.rows], x[:, self.rows :], w, masses / masses.sum())

    def document(self) -> dict[str, Any]:
        """The network as it stands in documents, the numbers as integers without a common factor."""
        common = lcm(*(p.denominator for p in self.numbers.flat))
        masses = [[int(p * common) for p in pair] for pair in self.numbers]
        divisor = gcd(*(p for pair in masses for p in pair))
        neurons = [[list(map(int, part)) for part in parts] for parts in zip(self.x, self.x_root, self.w, strict=True)]
        return {"root": self.root, "neurons": neurons, "masses": [[p // divisor for p in pair] for pair in masses]}
