"""The maximum margin of a table with |t| or max(t, 0) in place of the square, from both sides and exactly.

A neuron omega = (x, w), x = (u, v), answers sigma(u_a + v_b) w_c, which has degree 2 in omega: networks with
sum |omega_i|^2 = 1 are probability measures on unit neurons. Against a tensor R of cells and labels the best unit
neuron reaches half of psi(R), the maximum over |x| = 1 of |sum_ab R_ab sigma(u_a + v_b)|. Where the signs of all
u_a + v_b are given, that is the length of a linear map of x. So psi(R) is the largest singular value on the span of one
of the `Faces` into which the hyperplanes u_a + v_b = 0 cut the space, at a vector of the face itself: there are
finitely many, all are looked at, and `Faces.at_most` decides psi(R)^2 <= s in integers. Multipliers and masses come
from column generation in floats and are rounded to integers; both bounds are then exact. The proofs are in
OPERATION_MARGIN.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import isqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.forms import residual
from lemmata.certificates.operations.unseen_networks import mass_program
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries

__all__ = [
    "Activation",
    "Faces",
    "KinkedMargin",
    "KinkedNetwork",
    "Leaning",
    "activated",
    "kinked_margin",
    "lean",
    "proved_bound",
    "triple_tensors",
]

Activation = Literal["abs", "relu"]
Floats = NDArray[np.float64]
Integers = NDArray[Any]

LARGEST = 7
"""Rows and columns together: (A + B)^(A + B) orders are listed."""
BITS = 29
"""The entries of a tensor of multipliers have this many bits together, so that products of two sums fit 64 bits."""
NEURON_BITS, MASS_BITS, QUOTIENT_BITS = 30, 40, 80
NEAR = 0.85
"""Maxima on faces become columns from this share of the largest on."""
KEPT = 250
"""Neurons without mass that are kept from the last rounds."""
STEP = 0.6
"""Of the way from the best multipliers so far to those of the linear program, where neurons are looked for."""
AIM, ROUNDS = 5e-7, 150


def activated(activation: Activation, sums: NDArray[Any]) -> NDArray[Any]:
    """|t| or max(t, 0) of all entries, floats or integers of any kind."""
    return abs(sums) if activation == "abs" else sums * (sums > 0)


@dataclass(frozen=True, eq=False)
class Faces:
    """The faces of the arrangement u_a + v_b = 0; for |t| one of every pair of opposite ones.

    Attributes:
        activation: of the neurons.
        rows, columns: |A| and |B|; N is their sum.
        signs: of u_a + v_b in the cells by rows, (F, A B), not all 0.
        bases: orthogonal bases of the spans, (F, N, N): for each class of rows and columns that are joined by zeros
            the vector with 1 at its rows and -1 at its columns; rows of zeros follow.
        sums: u_a + v_b in the cells for the vectors of the bases, (F, N, A B): -1, 0 or 1.
    """

    activation: Activation
    rows: int
    columns: int
    signs: NDArray[np.int64]
    bases: NDArray[np.int64]
    sums: NDArray[np.int64]

    @classmethod
    @lru_cache(maxsize=16)
    def of(cls, rows: int, columns: int, activation: Activation) -> Faces:
        """All faces for a shape; every order of the numbers u_a and -v_b, with ties, is one of numbers 0, ..., N - 1.

        Raises:
            ValueError: for another activation and shapes of more than `LARGEST` rows and columns.
        """
        size = rows + columns
        if activation not in ("abs", "relu"):
            raise ValueError(f"The activation is abs or relu, not {activation!r}.")
        if size > LARGEST:
            raise ValueError(f"Faces are listed for at most {LARGEST} rows and columns together, not {size}.")
        levels = np.array(list(product(range(size), repeat=size)))
        signs = np.sign(levels[:, :rows, None] - levels[:, None, rows:]).reshape(len(levels), -1)
        signs = np.unique(signs, axis=0)
        first = signs[np.arange(len(signs)), np.argmax(signs != 0, axis=1)]
        signs = signs[first > 0 if activation == "abs" else first != 0]
        bases = np.array([_basis(row.reshape(rows, columns)) for row in signs])
        sums = (bases[:, :, :rows, None] + bases[:, :, None, rows:]).reshape(len(signs), size, -1)
        return cls(activation, rows, columns, signs, bases, sums)

    def maps(self, tensor: NDArray[Any]) -> NDArray[Any]:
        """sum_ab R_ab sigma(u_a + v_b) on every face, for the vectors of its basis; shape (F, N, C)."""
        active = self.signs if self.activation == "abs" else self.signs > 0
        return (self.sums * active[:, None, :]) @ tensor.reshape(-1, tensor.shape[-1])

    @property
    def squares(self) -> NDArray[np.int64]:
        """|e|^2 of the vectors of the bases, 1 for the rows of zeros, (F, N)."""
        return np.maximum(np.abs(self.bases).sum(axis=2), 1)

    def peaks(self, tensor: Floats, least: float = 0.0) -> tuple[Floats, Floats]:
        """The maxima on faces of |sum_ab R_ab sigma(u_a + v_b)| over |x| = 1 that are at least a number, in floats.

        Returns:
            The values (m,), the largest of which is psi(R), and x, shape (m, N).
        """
        maps = self.maps(tensor) / np.sqrt(self.squares)[:, :, None]
        grams = maps @ maps.transpose(0, 2, 1)
        chosen = np.flatnonzero(((grams @ grams) ** 2).sum(axis=(1, 2)) >= least**8 * (1 - 1e-9))
        values, vectors = np.linalg.eigh(grams[chosen])
        y = vectors[:, :, -1] / np.sqrt(self.squares[chosen])
        moved = np.einsum("fn,fnc->fc", y, self.sums[chosen]) * self.signs[chosen]
        up, down = moved.min(axis=1) >= -1e-10, moved.max(axis=1) <= 1e-10
        x = np.einsum("fn,fni->fi", y, self.bases[chosen]) * np.where(up, 1.0, -1.0)[:, None]
        values = np.sqrt(np.maximum(values[:, -1], 0.0))
        kept = (up | down) & (values >= least)
        return values[kept], x[kept]

    def at_most(self, tensor: NDArray[np.int64], square: int) -> bool:
        """Whether psi(R)^2 <= square is shown in integers for an integer tensor; False if not.

        A face is done if the form square |x|^2 - |sum_ab R_ab sigma|^2 is positive definite on its span, or if some
        integer vector of the span, neither in the face nor in its negative, makes it negative.

        Raises:
            ValueError: for a tensor with entries of more than `BITS` bits together.
        """
        if sum(abs(int(entry)) for entry in tensor.flat) >> BITS:
            raise ValueError(f"The absolute values of the entries of a tensor add up to less than 2^{BITS}.")
        maps, squares = self.maps(tensor), self.squares
        scaled = maps / np.sqrt(squares)[:, :, None]
        _, vectors = np.linalg.eigh(scaled @ scaled.transpose(0, 2, 1))
        y = np.rint(vectors[:, :, -1] / np.sqrt(squares) * 2**12).astype(np.int64)
        y[(self.bases == 0).all(axis=2)] = 0
        moved = np.einsum("fn,fnc->fc", y, self.sums) * self.signs
        away = (moved.min(axis=1) < 0) & (moved.max(axis=1) > 0)
        lengths = (np.einsum("fn,fnk->fk", y, maps).astype(object) ** 2).sum(axis=1)
        beyond = (lengths > (y**2 * squares).sum(axis=1).astype(object) * square).astype(bool)
        left = ~(away & beyond)
        forms = (-(maps[left] @ maps[left].transpose(0, 2, 1))).astype(object)
        diagonal = np.arange(forms.shape[1])
        forms[:, diagonal, diagonal] += squares[left].astype(object) * square
        return _positive_definite(forms)


def _basis(signs: NDArray[np.int64]) -> NDArray[np.int64]:
    rows, columns = signs.shape
    classes = np.arange(rows + columns)
    for a, b in np.argwhere(signs == 0):
        classes[classes == classes[rows + b]] = classes[a]
    basis = np.zeros((rows + columns, rows + columns), np.int64)
    for place, number in enumerate(np.unique(classes)):
        basis[place] = (classes == number) * np.r_[np.ones(rows, int), -np.ones(columns, int)]
    return basis


def _positive_definite(matrices: Integers) -> bool:
    """Whether symmetric matrices of Python ints, (m, N, N), are all positive definite: leading minors (Bareiss)."""
    work, last = matrices.copy(), np.ones((len(matrices), 1, 1), object)
    for k in range(work.shape[1]):
        pivot = work[:, k : k + 1, k : k + 1]
        if not (pivot > 0).all():
            return False
        rest = work[:, k + 1 :, k + 1 :]
        work[:, k + 1 :, k + 1 :] = (pivot * rest - work[:, k + 1 :, k : k + 1] * work[:, k : k + 1, k + 1 :]) // last
        last = pivot.copy()
    return True


@dataclass(frozen=True, eq=False)
class KinkedNetwork:
    """Integer neurons with integer masses: the probability measure on the unit neurons of their directions.

    Attributes:
        activation: of the neurons.
        x, w: Python ints, (m, N) and (m, C).
        masses: Python ints, (m,), positive.
    """

    activation: Activation
    x: Integers
    w: Integers
    masses: Integers

    @classmethod
    def near(cls, activation: Activation, x: Floats, w: Floats, masses: Floats) -> KinkedNetwork:
        """Unit neurons and masses in floats, rounded."""
        whole = np.array([int(p) for p in np.rint(masses / masses.sum() * 2.0**MASS_BITS)], object)
        kept = whole > 0
        x, w = (np.rint(part[kept] * 2.0**NEURON_BITS).astype(np.int64).astype(object) for part in (x, w))
        return cls(activation, x, w, whole[kept])

    def means(self, tensors: Integers) -> list[Fraction]:
        """Sums of integer tensors, (K, A, B, C), times the outputs: proved lower bounds, 2^-`QUOTIENT_BITS` off."""
        rows = tensors.shape[1]
        sums = (self.x[:, :rows, None] + self.x[:, None, rows:]).reshape(len(self.x), -1)
        outputs = (activated(self.activation, sums)[:, :, None] * self.w[:, None, :]).reshape(len(self.x), -1)
        values = outputs @ tensors.reshape(len(tensors), -1).T.astype(object)
        lengths = (self.x**2).sum(axis=1) + (self.w**2).sum(axis=1)
        whole = self.masses @ ((values << QUOTIENT_BITS) // lengths[:, None])
        return [Fraction(value, int(self.masses.sum()) << QUOTIENT_BITS) for value in whole]

    def margin(self, table: Operation) -> Fraction:
        """A proved lower bound of the margin."""
        return min(self.means(triple_tensors(table)))


def triple_tensors(table: Operation) -> NDArray[np.int64]:
    """The tensor of every triple, (T, A, B, C)."""
    return np.array([residual(table, row) for row in np.eye(len(table.triples), dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class Leaning:
    """What column generation found: a network with margins of at least a floor whose least difference is large.

    Attributes:
        x, w, masses: unit neurons and their masses, some of them 0.
        dual: nonnegative multipliers with the least bound found, first of the margins, then of the differences.
        value, bound: of the least difference, in floats.
    """

    x: Floats
    w: Floats
    masses: Floats
    dual: Floats
    value: float
    bound: float


def lean(
    faces: Faces,
    margins: Integers,
    differences: Integers,
    *,
    floor: float = 1e-3,
    threshold: float = 0.0,
    start: tuple[Floats, Floats] | None = None,
    orbits: NDArray[np.int64] | None = None,
    enough: float = np.inf,
    aim: float = AIM,
) -> Leaning:
    """Maximise the least difference over networks with margins of at least a floor, in floats.

    Args:
        margins, differences: tensors, (K, A, B, C) and (D, A, B, C); without margins the floor is a scale alone.
        floor: the least margin.
        threshold: at most the floor; the bound is for all networks with margins of at least this.
        start: unit neurons, some convex combination of which has these margins.
        orbits: numbers of orbits of the tensors under symmetries, over which multipliers are averaged.
        enough: stop where the value is above this, or a bound below its negative.
        aim: stop where value and bound are so near, in units of the larger of the floor and the bound.

    Raises:
        ArithmeticError: when the linear solver fails.
    """
    rows, K = np.concatenate([margins, differences]), len(margins)
    x, w = (np.zeros((0, rows.shape[1] + rows.shape[2])), np.zeros((0, rows.shape[3]))) if start is None else start
    dual = best = np.r_[np.zeros(K), np.full(len(differences), 1 / len(differences))]
    masses, value, bound = np.zeros(len(x)), -np.inf, np.inf
    for _ in range(ROUNDS):
        columns = np.einsum("rabk,mabk->rm", rows, _outputs(faces, x, w), optimize=True)
        if len(x):
            masses, value, dual, _ = mass_program(columns, K, floor)
            if orbits is not None:
                dual = (np.bincount(orbits, dual) / np.bincount(orbits))[orbits]
        one = STEP * dual + (1 - STEP) * best if np.isfinite(bound) else dual
        tensor = np.tensordot(one, rows, 1)
        values, points = faces.peaks(tensor, 2 * NEAR * float((one @ columns).max(initial=0.0)))
        largest, paid = values.max() / 2, one[:K].sum()
        below = largest - threshold * paid < -enough
        if below or largest - floor * paid < bound:
            bound, best = largest - floor * paid, one
        if below or value > enough or bound - value <= aim * max(floor, bound):
            break
        points = points[values >= 2 * NEAR * largest]
        answers = _answers(faces, tensor, points)
        answers /= np.linalg.norm(answers, axis=1)[:, None]
        used, rest = masses > 1e-12, np.flatnonzero(masses <= 1e-12)[-KEPT:]
        x = np.concatenate([x[rest], x[used], points / np.sqrt(2)])
        w = np.concatenate([w[rest], w[used], answers / np.sqrt(2)])
        masses = np.concatenate([masses[rest], masses[used], np.zeros(len(points))])
    return Leaning(x, w, masses, best, value, bound)


def _hidden(faces: Faces, x: Floats) -> Floats:
    """sigma(u_a + v_b), (m, A, B)."""
    return activated(faces.activation, x[:, : faces.rows, None] + x[:, None, faces.rows :])


def _outputs(faces: Faces, x: Floats, w: Floats) -> Floats:
    return _hidden(faces, x)[:, :, :, None] * w[:, None, None, :]


def _answers(faces: Faces, tensor: Floats, x: Floats) -> Floats:
    """sum_ab R_ab sigma(u_a + v_b), (m, C): the directions of the best w."""
    return np.einsum("mab,abk->mk", _hidden(faces, x), tensor)


def proved_bound(
    faces: Faces, margins: Integers, differences: Integers, dual: Floats, threshold: Fraction = Fraction(0)
) -> Fraction:
    """What the least difference of a network with margins of at least a threshold never exceeds, exactly.

    Args:
        margins, differences: integer tensors, as in `lean`.
        dual: multipliers of all, rounded here; any of them give a true bound.
        threshold: of the margins.

    Raises:
        ArithmeticError: if no square near the largest one found is shown to be above all faces.
    """
    rows, K = np.concatenate([margins, differences]), len(margins)
    size = np.abs(np.tensordot(dual, rows, 1)).sum()
    whole = np.rint(np.maximum(dual, 0.0) / size * 2.0 ** (BITS - 1)).astype(np.int64)
    tensor = np.tensordot(whole, rows, 1)
    found = int(faces.peaks(tensor.astype(float))[0].max() ** 2)
    for bits in (40, 34, 28, 22):
        square = found + (found >> bits) + 1
        if faces.at_most(tensor, square):
            half = Fraction(isqrt(square << 60) + 1, 1 << 31)
            return (half - threshold * int(whole[:K].sum())) / int(whole[K:].sum())
    raise ArithmeticError("No square near the largest one that was found is shown to be above all faces.")


@dataclass(frozen=True, eq=False)
class KinkedMargin:
    """The maximum margin of a table among networks of sum |omega|^2 = 1 with an activation, from both sides.

    Attributes:
        table, activation: the question.
        lower, upper: proved in integers.
        network: of margin at least ``lower``.
        found: what they were rounded from.
    """

    table: Operation
    activation: Activation
    lower: Fraction
    upper: Fraction
    network: KinkedNetwork
    found: Leaning

    @property
    def gap(self) -> float:
        """(upper - lower) / upper."""
        return float(1 - self.lower / self.upper)


def kinked_margin(table: Operation, activation: Activation, *, aim: float = AIM) -> KinkedMargin:
    """The maximum margin of a table, whole or partial, enclosed to about ``aim`` of it.

    Raises:
        ValueError: as `Faces.of`.
        ArithmeticError: as `lean` and `proved_bound`.
    """
    faces, tensors = Faces.of(table.rows, table.columns, activation), triple_tensors(table)
    none = tensors[:0]
    found = lean(faces, none, tensors, orbits=operation_symmetries(table).triple_orbits(), aim=aim)
    network = KinkedNetwork.near(activation, found.x, found.w, found.masses)
    upper = proved_bound(faces, none, tensors, found.dual)
    return KinkedMargin(table, activation, network.margin(table), upper, network, found)
