"""Networks for a table, in mass form: neurons of any length with nonnegative masses, in floats or exactly.

A neuron omega = (u, v, w) in R^A x R^B x R^C answers h_abc(omega) = (u_a + v_b)^2 (w_y - w_c) at a triple (a, b, c)
with the right label y. Only its direction counts: a network of neurons omega_i and masses p_i has the normalised
margins

    sum_i p_i h_abc(omega_i) / |omega_i|^3 / sum_i p_i,

which are those of the network of weights s_i omega_i with s_i^3 |omega_i|^3 = p_i / sum p: its norm is 1. With integer
neurons and rational masses each margin is a sum of rationals times square roots of integers, and is enclosed here with
the integer square root alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.operations.operation import Operation

__all__ = ["OperationNetwork"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OperationNetwork:
    """A network of m neurons for tables of |A| rows, |B| columns and C labels.

    Attributes:
        u, v, w: shapes (m, |A|), (m, |B|), (m, C): float64, or Python ints in object arrays (then it is exact).
        masses: (m,), nonnegative, not all 0: float64, or Fractions in an object array.

    Raises:
        ValueError: for shapes that do not fit, no neuron, a neuron that is 0, masses that are negative, not finite or
            all 0, and exact weights beside masses in floats or the other way round.
    """

    u: NDArray
    v: NDArray
    w: NDArray
    masses: NDArray

    def __post_init__(self) -> None:
        parts = (self.u, self.v, self.w)
        m = len(self.masses)
        if m == 0 or self.masses.ndim != 1 or any(part.ndim != 2 or len(part) != m for part in parts):
            raise ValueError(
                f"A network needs at least one neuron and shapes (m, |A|), (m, |B|), (m, C), (m,), not {self.u.shape}, "
                f"{self.v.shape}, {self.w.shape} and {self.masses.shape}."
            )
        exact = [part.dtype == object for part in (*parts, self.masses)]
        if any(exact) and not all(exact):
            raise ValueError("Weights and masses are either all exact (ints and Fractions) or all floats.")
        if all(exact):
            bad = next((x for part in parts for x in part.flat if type(x) is not int), None)
            if bad is not None or any(type(p) is not Fraction for p in self.masses):
                raise ValueError("Exact neurons are of Python ints and exact masses are Fractions.")
        elif not all(np.isfinite(part).all() for part in (*parts, self.masses)):
            raise ValueError("Weights and masses must be finite.")
        if min(self.masses) < 0 or not max(self.masses) > 0:
            raise ValueError("Masses must be nonnegative, and one of them positive; signs belong to w.")
        if any(square == 0 for square in self.squares()):
            raise ValueError("A neuron that is 0 has no direction; leave it out.")

    @classmethod
    def of_weights(cls, u: Floats, v: Floats, w: Floats) -> OperationNetwork:
        """The network of float weights, each neuron with the mass |omega|^3; neurons that are 0 are left out.

        Raises:
            ValueError: as the class.
        """
        lengths = np.linalg.norm(np.concatenate([u, v, w], axis=1), axis=1)
        kept = lengths > 0
        return cls(u[kept], v[kept], w[kept], lengths[kept] ** 3)

    @property
    def is_exact(self) -> bool:
        """Whether neurons are integers and masses rationals."""
        return self.masses.dtype == object

    @property
    def size(self) -> int:
        """The number of neurons."""
        return len(self.masses)

    def squares(self) -> NDArray:
        """The squared lengths |omega_i|^2, shape (m,)."""
        return (self.u * self.u).sum(axis=1) + (self.v * self.v).sum(axis=1) + (self.w * self.w).sum(axis=1)

    def floats(self) -> OperationNetwork:
        """The same network in floats, its neurons of length 1 and its masses of sum 1."""
        if not self.is_exact:
            lengths = np.sqrt(self.squares())[:, None]
            return OperationNetwork(
                self.u / lengths, self.v / lengths, self.w / lengths, self.masses / float(self.masses.sum())
            )
        total = sum(self.masses)
        # a common shift keeps integers of any number of bits within the range of floats, and their directions
        shift = max(0, max(int(square).bit_length() for square in self.squares()) // 2 - 256)
        u, v, w = (
            np.array([[float(Fraction(x, 1 << shift)) for x in row] for row in part])
            for part in (self.u, self.v, self.w)
        )
        return OperationNetwork(u, v, w, np.array([float(p / total) for p in self.masses])).floats()

    def weights(self) -> tuple[Floats, Floats, Floats]:
        """The float weights (u, v, w) of the network of norm 1 that takes this form; masses are in the lengths."""
        unit = self.floats()
        factor = np.cbrt(unit.masses)[:, None]
        return unit.u * factor, unit.v * factor, unit.w * factor

    def outputs(self) -> Floats:
        """The outputs f(a, b) of the network of norm 1 in all cells, shape (|A|, |B|, C), in floats."""
        unit = self.floats()
        hidden = (unit.u[:, :, None] + unit.v[:, None, :]) ** 2
        return np.einsum("iab,ic->abc", hidden * unit.masses[:, None, None], unit.w)

    def margins(self, table: Operation) -> Floats:
        """The normalised margins at the triples of a table in their order, in floats.

        Raises:
            ValueError: for a table of another shape.
        """
        self._refuse_other_shapes(table)
        outputs = self.outputs()
        return np.array([outputs[a, b, table.values[a][b]] - outputs[a, b, c] for a, b, c in table.triples])

    def margin(self, table: Operation) -> float:
        """The smallest margin, in floats."""
        return float(self.margins(table).min())

    def exact_margins(self, table: Operation) -> tuple[dict[int, Fraction], ...]:
        """The margins of an exact network at the triples: r -> c means that c sqrt(r) is a summand.

        The r are the different |omega_i|^2 and need not be free of squares; the c are not 0.

        Raises:
            ValueError: for a network in floats or a table of another shape.
        """
        self._refuse_other_shapes(table)
        if not self.is_exact:
            raise ValueError("Only integer neurons with rational masses have exact margins; this network is in floats.")
        total = sum(self.masses)
        by_square: dict[int, list[int]] = {}
        for i, square in enumerate(self.squares()):
            by_square.setdefault(square, []).append(i)
        margins: list[dict[int, Fraction]] = []
        for a, b, c in table.triples:
            y = table.values[a][b]
            sums = {}
            for square, neurons in by_square.items():
                terms = (
                    self.masses[i] * ((self.u[i, a] + self.v[i, b]) ** 2 * (self.w[i, y] - self.w[i, c]))
                    for i in neurons
                )
                value = sum(terms, Fraction(0)) / (total * square * square)
                if value:
                    sums[square] = value
            margins.append(sums)
        return tuple(margins)

    def lower_margin(self, table: Operation, bits: int = 128) -> Fraction:
        """A proved lower bound of the smallest margin of an exact network, its square roots to ``bits`` bits.

        Raises:
            ValueError: as `exact_margins`.
        """
        return min(
            sum((_below(square, coefficient, bits) for square, coefficient in sums.items()), Fraction(0))
            for sums in self.exact_margins(table)
        )

    def _refuse_other_shapes(self, table: Operation) -> None:
        shape = self.u.shape[1], self.v.shape[1], self.w.shape[1]
        wanted = table.rows, table.columns, table.label_count
        if shape != wanted:
            raise ValueError(f"The network is for rows, columns and labels {shape}, the table has {wanted}.")


def _below(square: int, coefficient: Fraction, bits: int) -> Fraction:
    """A rational at most coefficient * sqrt(square), the root to so many bits after the point."""
    root = isqrt(square << (2 * bits))
    if coefficient < 0 and root * root != square << (2 * bits):
        root += 1
    return coefficient * Fraction(root, 1 << bits)
