"""The margin of given weights on every cell of a table, what it falls short by, and where its mass lies.

The network is f(a, b)[c] = sum_i (u_i(a) + v_i(b))^2 w_i(c); its normalised margin is the smallest difference between
the output of the right label and that of a wrong one, over all given cells, divided by sum_i ||(u_i, v_i, w_i)||^3. It
is evaluated in floating point with a bound on the rounding error: an output of m neurons carries at most m + 5
roundings relative to the sum of the absolute values of its terms, and the norm of m neurons of s weights 3/2 s + m + 8
relative to itself; roundings are counted as 2^-52, which is twice their size and covers the higher orders. Weights are
divided by a power of two first, so that nothing overflows, and what may underflow is added.

A representation R has in a neuron the share of its squared norm that the projection d/n sum_h chi_R(g h^-1) x(h) of its
three parts has, and in a network the mean of these shares weighted by the masses ||(u_i, v_i, w_i)||^3. In the networks
of UNIVERSAL_MARGIN.md every neuron belongs to one representation, and these are its masses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import frexp, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.certificates.characters.tables import CharacterTable
from lemmata.constructions.networks.checkpoints import OperationWeights
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.operations.operation import MISSING

__all__ = ["MeasuredMargin", "RepresentationShare", "measured_margin", "predicted_labels", "representation_shares"]

EPS = float(np.finfo(np.float64).eps)
UNDERFLOW = 1e-300
"""More than a term of weights below 1 loses when it underflows."""
BALANCED = 1.5 * sqrt(3)
"""min_c (c^2 h^2 + c^-4 r^2)^(3/2) = BALANCED h^2 r, at c^6 = 2 r^2 / h^2."""


@dataclass(frozen=True, eq=False)
class MeasuredMargin:
    """What the weights of a network give on all given cells of a table.

    Attributes:
        margin: the normalised margin.
        rounding: a bound on its rounding error.
        worst: a cell and a wrong label (a, b, c) where it is attained.
        balanced: the normalised margin of the same function with every neuron scaled to its least norm: (u, v) times
            c and w times c^-2.
        cell_margins: the normalised margin of each cell, (rows, columns), NaN where a cell is not given.
        right: the share of the given cells with a positive margin.
        width: the number of neurons.
    """

    margin: float
    rounding: float
    worst: tuple[int, int, int]
    balanced: float
    cell_margins: NDArray[np.float64] = field(repr=False)
    right: float
    width: int

    def deficit(self, lower: float, upper: float) -> tuple[float, float]:
        """The least and the largest 1 - margin/maximum, for a maximum in [lower, upper], all rounding errors included.

        Raises:
            ValueError: unless 0 < lower <= upper, and for a margin that is certainly above the upper bound, so that
                it is none for this table.
        """
        if not 0 < lower <= upper:
            raise ValueError(f"The bounds of the maximum must be positive and in order, not {lower} and {upper}.")
        least, largest = self.margin - self.rounding, self.margin + self.rounding
        if least > upper * (1 + 4 * EPS):
            raise ValueError(f"The margin {self.margin} exceeds {upper}, which is no bound for this table.")
        ratios = [value / bound for value in (least, largest) for bound in (lower, upper)]
        slack = 4 * EPS * max(1.0, *(abs(ratio) for ratio in ratios))  # of the bounds as floats, and of these lines
        return 1 - max(ratios) - slack, 1 - min(ratios) + slack


@dataclass(frozen=True)
class RepresentationShare:
    """The share of a network in a real representation; ``rows`` are those of the table that it consists of."""

    rows: tuple[int, ...]
    degree: int
    share: float


def measured_margin(weights: OperationWeights, values: ArrayLike) -> MeasuredMargin:
    """The normalised margin of a network on all given cells of a table, from its weights alone.

    Args:
        weights: of the network.
        values: the labels of the cells, (rows, columns), `lemmata.numerics.operations.operation.MISSING` where a cell
            is not given.

    Raises:
        ValueError: for values that do not fit the weights, and fewer than two labels.
    """
    labels = np.asarray(values)
    shape, label_count = (len(weights.u), len(weights.v)), len(weights.w)
    if labels.shape != shape or labels.dtype.kind not in "iu" or label_count < 2:
        raise ValueError(
            f"The weights are for integer labels of shape {shape} and at least two labels, not for shape "
            f"{labels.shape} of {labels.dtype} with {label_count} labels."
        )
    if labels.min() < MISSING or labels.max() >= label_count or (labels == MISSING).all():
        raise ValueError(f"The labels must be 0..{label_count - 1}, or {MISSING} where not given; some must be given.")
    u, v, w = _scaled(weights)
    margins = np.full(shape, np.nan)
    rivals = np.zeros(shape, np.int64)
    for a, row in enumerate(u):
        given = np.flatnonzero(labels[a] != MISSING)
        outputs = (row + v[given]) ** 2 @ w.T
        right = labels[a, given]
        places = np.arange(len(given))
        correct = outputs[places, right]
        outputs[places, right] = -np.inf
        rivals[a, given] = outputs.argmax(axis=1)
        margins[a, given] = correct - outputs.max(axis=1, initial=-np.inf)
    inner, outer = (u**2).sum(axis=0) + (v**2).sum(axis=0), (w**2).sum(axis=0)
    norm = float(((inner + outer) ** 1.5).sum())
    least_norm = float(BALANCED * (inner * np.sqrt(outer)).sum())
    a, b = np.unravel_index(int(np.nanargmin(margins)), shape)
    smallest = float(margins[a, b])
    reach = ((np.abs(u).max(axis=0) + np.abs(v).max(axis=0)) ** 2 * np.abs(w).max(axis=0)).sum()
    m, s = weights.width, sum(shape) + label_count
    error = EPS * (2 * (m + 5) * float(reach) + (1.5 * s + m + 8) * abs(smallest)) + m * UNDERFLOW
    given = margins[~np.isnan(margins)]
    return MeasuredMargin(
        smallest / norm,
        error / norm,
        (int(a), int(b), int(rivals[a, b])),
        smallest / least_norm if least_norm > 0 else 0.0,
        margins / norm,
        float((given > 0).mean()),
        m,
    )


def predicted_labels(weights: OperationWeights, *, relu: bool = False) -> NDArray[np.int64]:
    """The label of the largest output for every row and column, shape (rows, columns), the first of those that tie.

    Args:
        weights: of the network.
        relu: whether max(0, u_i(a) + v_i(b)) stands for the square.
    """
    u, v, w = _scaled(weights)
    sums = (row + v for row in u)
    return np.array([((np.maximum(x, 0) if relu else x**2) @ w.T).argmax(axis=1) for x in sums])


def representation_shares(
    weights: OperationWeights, group: PermutationGroup, table: CharacterTable
) -> tuple[RepresentationShare, ...]:
    """The share of every real representation in a network, that of the trivial one first; they add up to 1.

    Args:
        weights: of the network, whose elements are numbered as ``group.elements``.
        group: the group.
        table: its characters, with columns as ``group.classes``.

    Raises:
        ValueError: for weights of another size than the group.
    """
    n = group.order
    if {len(part) for part in weights.parts} != {n}:
        raise ValueError(
            f"The weights are for {[len(part) for part in weights.parts]} elements, and the group has {n}."
        )
    finite = group.to_finite_group()
    quotients = group.classes.class_of[finite.table[:, finite.inverse]]  # the class of g h^-1
    parts = _scaled(weights)
    squares = sum((part**2).sum(axis=0) for part in parts)
    masses = squares**1.5
    values = np.array([[complex(value) for value in row] for row in table.values])
    shares = []
    for rows in _real_rows(values):
        degree = table.degrees[rows[0]]
        projection = degree / n * values[list(rows)].sum(axis=0).real[quotients]
        energy = sum(((projection @ part) ** 2).sum(axis=0) for part in parts)
        fractions = np.divide(energy, squares, out=np.zeros_like(squares), where=squares > 0)
        shares.append(RepresentationShare(rows, degree, float(fractions @ masses / masses.sum())))
    return tuple(shares)


def _real_rows(values: NDArray[np.complex128]) -> list[tuple[int, ...]]:
    """The rows of the characters, those of a conjugate pair together; different characters differ by 1 somewhere."""
    found = []
    for row, character in enumerate(values):
        conjugate = int(np.abs(values - character.conj()).max(axis=1).argmin())
        if conjugate >= row:
            found.append((row,) if conjugate == row else (row, conjugate))
    return found


def _scaled(weights: OperationWeights) -> tuple[NDArray[np.float64], ...]:
    """u, v and w divided by the power of two that brings the largest entry into [1/2, 1)."""
    _, exponent = frexp(max(float(np.abs(part).max()) for part in weights.parts))
    return tuple(np.ldexp(part, -exponent) for part in weights.parts)
