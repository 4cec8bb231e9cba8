"""Which biases let ramps of the sum over the support compute a parity: features, grids and read-outs, exactly.

After one step the good neurons of a parity of k inputs, k even, are the ramps sigma(+-z/(2k) + b) of the sum z =
sum_S x, whose values are z = -k, -k+2, ..., k, with chi_S = (-1)^((k-z)/2). A bias b has its kinks at z = -+2kb, so
that a grid of biases is a set of kinks. A parity is even in z, so only a constant v_0 and the sums a_j of the two
weights of a bias matter: on z >= 0, for b_j < 0,

    f(z) = v_0 + sum_j a_j (z - kink_j)_+/(2k).

With one kink 2q - c_q in each interval [2q - 2, 2q), q = 1, ..., k/2, the slope after kink q is P_q/(2k), P_q = a_1 +
... + a_q, and f(2q) - f(2q-2) = (c_q P_q + (2 - c_q) P_(q-1))/(2k) = +-2 determines P_1, P_2, ... in turn: the square
system of k + 1 values and 1 + 2 (k/2) features is invertible. Without the kink below k the last two differences have
the sign of the same P, but a parity alternates: no read-out exists, and none has a small hinge loss.

For odd k (ours; the theorems are for even k) a parity is odd in z, so that the constant vanishes and the two weights of
a bias are opposite: f(z) = sum_j a_j ((z - kink_j)_+ - (-z - kink_j)_+)/(2k), determined by its values at z = 1, 3,
..., k: one kink in [0, 1), and one in each interval [2q - 1, 2q + 1).

Source: pareto-frontiers, lemma C.6 and its claims (the printed grid is `offset_grid(k, 1/16, first=1)`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array

__all__ = [
    "AlternatingReadout",
    "averaged_ramp_features",
    "even_kink_grid",
    "odd_kink_grid",
    "offset_grid",
    "ramp_features",
    "ramp_labels",
    "ramp_law",
    "solve_readout",
]


@dataclass(frozen=True)
class AlternatingReadout:
    """A read-out of ramps: f(z) = v_0 + sum_j (plus_j sigma(z/(2k) + b_j) + minus_j sigma(-z/(2k) + b_j)).

    Attributes:
        k: the number of inputs of the parity.
        biases: b_j.
        constant: v_0.
        plus, minus: the weights of the ramps that rise and fall with z.
    """

    k: int
    biases: tuple[fmpq, ...]
    constant: fmpq
    plus: tuple[fmpq, ...]
    minus: tuple[fmpq, ...]

    @property
    def norm_squared(self) -> fmpq:
        """B_k^2: the squared norm if every bias has one neuron (and its twin)."""
        return sum((v * v for v in (*self.plus, *self.minus)), self.constant**2)

    @property
    def one_norm(self) -> fmpq:
        """A_k: the sum of the absolute weights without the constant, the Lipschitz constant of f in the features."""
        return sum((abs(v) for v in (*self.plus, *self.minus)), fmpq(0))

    def __call__(self, z: object) -> fmpq:
        """The value at the sum z, any rational number."""
        at = as_exact([z])[0] / (2 * self.k)
        ramps = zip(self.biases, self.plus, self.minus, strict=True)
        return sum((p * max(at + b, fmpq(0)) + m * max(b - at, fmpq(0)) for b, p, m in ramps), self.constant)


def offset_grid(k: int, offset: object = fmpq(1, 16), *, first: int = 0) -> tuple[fmpq, ...]:
    """The biases beta_j = (-k + 2j + offset)/(2k), j = first, ..., k/2 - 1, whose kinks lie ``offset`` below k - 2j.

    Args:
        k: even.
        offset: c, the distance of the kinks from the even numbers above them, 0 < c <= 2.
        first: 1 for the grid as printed, which lacks the kink below k; 0 for its repair.

    Raises:
        ValueError: unless k >= 2 is even, 0 < offset <= 2 is rational, and first is 0 or more.
    """
    _check_degree(k)
    c = _checked_offset(offset)
    if first < 0:
        raise ValueError(f"The biases are numbered from 0, so the first one cannot be number {first}.")
    return tuple((2 * j - k + c) / (2 * k) for j in range(first, k // 2))


def even_kink_grid(k: int, offset: object = fmpq(1, 2)) -> tuple[fmpq, ...]:
    """The biases with kinks at k-2, ..., 4, 2 and 2 - offset: k/2 of them, in increasing order.

    Only the smallest kink must stay clear of the sums 0 and +-1 that silence demands, so only it needs an offset: the
    slopes P_q are then +-2k from the second on, where those of `offset_grid` grow like ((2-c)/c)^q.

    Raises:
        ValueError: unless k >= 2 is even and 0 < offset <= 2 is rational.
    """
    _check_degree(k)
    c = _checked_offset(offset)
    return (*(fmpq(-2 * q, 2 * k) for q in range(k // 2 - 1, 0, -1)), (c - 2) / (2 * k))


def odd_kink_grid(k: int) -> tuple[fmpq, ...]:
    """The biases with kinks at k-2, ..., 3, 1 and 0, for odd k: (k+1)/2 of them, in increasing order, slopes +-2k.

    Raises:
        ValueError: unless k is odd and positive.
    """
    if k < 1 or k % 2 == 0:
        raise ValueError(f"The grid for odd parities needs an odd number k of inputs, not {k}.")
    return (*(fmpq(-z, 2 * k) for z in range(k - 2, 0, -2)), fmpq(0))


def ramp_features(k: int, biases: Sequence[object]) -> Array:
    """The features (1, sigma(z/(2k) + b_j), sigma(-z/(2k) + b_j)) at z = -k, -k+2, ..., k: shape (k+1, 1 + 2 biases).

    Raises:
        ValueError: unless k >= 2 is even and the biases are rational.
    """
    _check_degree(k)
    grid = _checked_biases(biases)
    table = np.empty((k + 1, 1 + 2 * len(grid)), dtype=object)
    for row, z in enumerate(range(-k, k + 1, 2)):
        at = fmpq(z, 2 * k)
        table[row] = [fmpq(1), *(max(at + b, fmpq(0)) for b in grid), *(max(b - at, fmpq(0)) for b in grid)]
    return table


def averaged_ramp_features(k: int, biases: Sequence[object], s: int) -> Array:
    """The same features of a good neuron with s ones after a step without truncation, averaged over its other inputs.

    The neuron is sigma(+-(z + rho t)/(2k) + b_j), t the sum of the s - k other signs, rho = c/C = -(k-1)/(s-k). Given
    z, its mean is that of every other good neuron with the same bias, wherever its ones lie outside of S.

    Raises:
        ValueError: as `ramp_features`, and unless s is odd and above k.
    """
    _check_degree(k)
    grid = _checked_biases(biases)
    if s % 2 == 0 or s <= k:
        raise ValueError(f"A good neuron has an odd number s > k = {k} of ones, not {s}.")
    rest = s - k
    law = [(fmpq((1 - k) * (2 * m - rest), 2 * k * rest), comb(rest, m)) for m in range(rest + 1)]

    def mean(before: fmpq) -> fmpq:
        total = sum(((before + noise) * count for noise, count in law if before + noise > 0), fmpq(0))
        return total / 2**rest

    table = np.empty((k + 1, 1 + 2 * len(grid)), dtype=object)
    for row, z in enumerate(range(-k, k + 1, 2)):
        at = fmpq(z, 2 * k)
        table[row] = [fmpq(1), *(mean(at + b) for b in grid), *(mean(b - at) for b in grid)]
    return table


def ramp_labels(k: int) -> list[int]:
    """The parity (-1)^((k-z)/2) at z = -k, -k+2, ..., k."""
    return [(-1) ** (k - m) for m in range(k + 1)]


def ramp_law(k: int) -> list[fmpq]:
    """The probabilities C(k, (k+z)/2)/2^k of z = -k, -k+2, ..., k for uniform signs."""
    return [fmpq(comb(k, m), 2**k) for m in range(k + 1)]


def solve_readout(k: int, biases: Sequence[object]) -> AlternatingReadout:
    """The read-out of k/2 pairs of ramps, (k+1)/2 for odd k, that equals the parity, by solving the square system.

    Raises:
        ValueError: unless k is positive, there are so many rational biases, and the system is invertible;
            `lemmata.certificates.duality.readouts.decide` decides every other grid for even k.
    """
    grid = _checked_biases(biases)
    if k % 2 == 0:
        table, labels = ramp_features(k, grid), ramp_labels(k)
    elif k > 0:
        at = [fmpq(z, 2 * k) for z in range(1, k + 1, 2)]
        rows = [[max(x + b, fmpq(0)) - max(b - x, fmpq(0)) for b in grid] for x in at]
        table, labels = np.array(rows, dtype=object).reshape(len(at), len(grid)), ramp_labels(k)[(k + 1) // 2 :]
    else:
        raise ValueError(f"The parity must have k >= 1 inputs, not {k}.")
    if table.shape[0] != table.shape[1]:
        raise ValueError(
            f"The parity of {k} inputs takes values at {len(labels)} sums, but {len(grid)} biases give "
            f"{table.shape[1]} features: {(k + 1) // 2} biases make the system square."
        )
    try:
        size = len(labels)
        solution = fmpq_mat(size, size, table.ravel().tolist()).solve(fmpq_mat(size, 1, labels)).entries()
    except ZeroDivisionError as error:
        raise ValueError("The features of these biases are linearly dependent: every interval needs a kink.") from error
    half = len(grid)
    if k % 2:
        return AlternatingReadout(k, grid, fmpq(0), tuple(solution), tuple(-v for v in solution))
    return AlternatingReadout(k, grid, solution[0], tuple(solution[1 : half + 1]), tuple(solution[half + 1 :]))


def _check_degree(k: int) -> None:
    if k < 2 or k % 2:
        raise ValueError(
            f"The parity must have an even number k >= 2 of inputs, not {k}: the step shows nothing for odd k."
        )


def _checked_offset(offset: object) -> fmpq:
    c = as_exact([offset])[0]
    if not isinstance(c, fmpq) or not 0 < c <= 2:
        raise ValueError(f"The offset of the kinks must be a rational number with 0 < offset <= 2, not {offset!r}.")
    return c


def _checked_biases(biases: Sequence[object]) -> tuple[Any, ...]:
    grid = tuple(as_exact(list(biases))) if len(biases) else ()
    if not all(isinstance(b, fmpq) for b in grid):
        raise ValueError("The biases must be exact rational numbers.")
    return grid
