"""Both sides of an exact margin over a number field: a network, and a proof of degree 4.

Given are exact multipliers of sum 1, with forms M_k, s = phi^2, and directions w of best outputs. The best neurons with
outputs along w are the vectors of the eigenspace of w.M for the eigenvalue |w| sqrt(s): a linear space. Their shares
and products are a positive definite matrix Y on it, for which the equations of optimality are linear; L D L' makes
neurons of it. Above, the matrix P of the proof solves linear equations too: the identity, and that the monomials of all
best neurons are in its kernel. In both systems a semidefinite program finds an inner solution in floats, simple
fractions near its free entries are chosen, and the others follow exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import scipy.linalg
from flint import fmpq, fmpq_poly
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import Columns, optimal_masses
from lemmata.certificates.operations.exact_equations import rational_kernel
from lemmata.certificates.operations.forms import monomials
from lemmata.certificates.operations.number_field import Element, NumberField
from lemmata.certificates.operations.sharp_optimum import SharpOptimum

__all__ = ["BestNeurons", "exact_matrix", "exact_neurons", "few_neurons"]

Floats = NDArray[np.float64]
Vector = list[Element]
ZERO, ONE = fmpq_poly([0]), fmpq_poly([1])

DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 256, 1024, 4096, 2**16, 2**24)
"""That are tried for the free entries, in turn."""
FACES = 2
"""A kernel beyond the monomials of best neurons is looked for once."""
INNER = 1e-7
"""The least eigenvalue of an inner solution is above this."""
CLOSE = 1e-9
"""How close a network of few neurons comes to the margin, relative to it."""
KEPT = 0.03
"""The share of it that has to be left after the free entries were chosen."""


@dataclass(frozen=True)
class BestNeurons:
    """The best neurons whose outputs are along w: their x are the linear space with this basis.

    Attributes:
        w: (C,).
        factor: M(x) = factor |x|^2 w.
        basis: vectors (N,).
    """

    w: Vector
    factor: Element
    basis: list[Vector]


def _pinned(
    field: NumberField,
    system: list[Vector],
    right: Vector,
    near: Floats,
    fits: Callable[[Floats], bool],
) -> Vector | None:
    """The exact solution of linear equations near a float one, whose free unknowns are simple fractions; or None."""
    A = np.array([[field.to_float(a) for a in row] for row in system])
    b = np.array([field.to_float(c) for c in right])
    sizes = np.where(np.abs(A).max(axis=1) > 0, np.abs(A).max(axis=1), 1.0)
    A, b = A / sizes[:, None], b / sizes
    rank = int(np.linalg.matrix_rank(A, tol=1e-8))
    bound = _pivots(A, rank)
    rows = _pivots(A[:, bound].T, rank)
    free = [j for j in range(len(near)) if j not in set(bound)]
    for denominator in DENOMINATORS:
        simple = [Fraction(round(float(near[j]) * denominator), denominator) for j in free]
        x = np.zeros(len(near))
        x[free] = [float(value) for value in simple]
        x[bound] = np.linalg.lstsq(A[:, bound], b - A[:, free] @ x[free], rcond=None)[0]
        if not fits(x):
            continue
        values = dict(zip(free, (fmpq(one.numerator, one.denominator) for one in simple), strict=True))
        rest = [right[i] - sum((system[i][j] * value for j, value in values.items()), ZERO) for i in rows]
        solved = field.solve([[system[i][j] for j in bound] for i in rows], rest)
        if solved is None:
            return None
        solution = [ZERO] * len(near)
        for j, value in (*values.items(), *zip(bound, solved, strict=True)):
            solution[j] = value + ZERO
        exact = all(field.dot(row, solution) == c % field.modulus for row, c in zip(system, right, strict=True))
        return solution if exact else None
    return None


def _pivots(A: Floats, rank: int) -> list[int]:
    """So many columns that are far from dependent."""
    *_, order = scipy.linalg.qr(A, pivoting=True, mode="economic")
    return sorted(int(j) for j in order[:rank])


def _inner(constant: Sequence[Floats], linear: Sequence[Floats]) -> tuple[Floats, float]:
    """The coefficients t for which the least eigenvalue of all blocks constant + sum t_i linear_i is largest, and it.

    Blocks are symmetric: constant (e, e), linear (count, e, e).
    """
    count = len(linear[0])
    t = np.zeros(count)
    least = min(float(np.linalg.eigvalsh(block).min()) for block in constant)
    if count == 0:
        return t, least
    moves = [np.concatenate([parts, -np.eye(len(block))[None]]) for block, parts in zip(constant, linear, strict=True)]
    z = np.append(t, least - 1)
    for weight in 4.0 ** np.arange(0, 16):  # of the least eigenvalue, against the logarithmic barrier of all blocks
        for _ in range(50):
            gradient, curvature = np.append(np.zeros(count), -weight), 1e-12 * np.eye(count + 1)
            for block, parts in zip(constant, moves, strict=True):
                inverse = np.linalg.inv(block + np.tensordot(z, parts, 1))
                steps = inverse @ parts
                gradient -= np.einsum("iaa->i", steps)
                curvature += np.einsum("iab,jba->ij", steps, steps)
            step = -np.linalg.lstsq(curvature, gradient, rcond=None)[0]
            decrement = float(np.sqrt(max(-gradient @ step, 0.0)))
            z = z + step / (1 + decrement)  # stays inside: the barrier is self-concordant
            if decrement < 1e-6:
                break
    found = min(
        float(np.linalg.eigvalsh(block + np.tensordot(z[:-1], parts, 1)).min())
        for block, parts in zip(constant, linear, strict=True)
    )
    return np.asarray(z[:-1], np.float64), found


def _affine(A: Floats, b: Floats) -> tuple[Floats, Floats] | None:
    """A solution of A z = b and a basis (k, n) of those of A z = 0, or None where there is none."""
    z = np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], np.float64)
    if np.abs(A @ z - b).max() > 1e-6:
        return None
    _, sizes, rows = np.linalg.svd(A)
    return z, np.asarray(rows[int(np.sum(sizes > 1e-9 * sizes[0])) :], np.float64)


# ---- below


def exact_neurons(
    field: NumberField, optimum: SharpOptimum, square: Element, spaces: Sequence[BestNeurons]
) -> tuple[list[Vector], Vector] | None:
    """Neurons x and numbers p of an optimal network, spread over the symmetries; None where none is found.

    The share of a neuron is that of p|x|^4 in the sum of all.
    """
    unknowns = [
        (g, a, b) for g, one in enumerate(spaces) for a, b in combinations_with_replacement(range(len(one.basis)), 2)
    ]
    twice = [1 if a == b else 2 for _, a, b in unknowns]
    dots = [field.dot(spaces[g].basis[a], spaces[g].basis[b]) for g, a, b in unknowns]
    system = []
    for count, forms in zip(optimum.counts, optimum.forms, strict=True):
        row = []
        for (g, a, b), times, dot in zip(unknowns, twice, dots, strict=True):
            one = spaces[g]
            form = _combination(one.w, forms)
            answer = field.times(one.factor, field.dot(one.basis[a], _image(field, form, one.basis[b])))
            row.append((answer - field.times(square, dot) * int(count)) * times)
        system.append(row)
    system.append([dot * times for dot, times in zip(dots, twice, strict=True)])
    right = [ZERO] * len(optimum.counts) + [ONE]
    affine = _affine(_floats(field, system), _floats(field, [right])[0])
    if affine is None:
        return None
    roots = []
    for g, one in enumerate(spaces):
        of_space = {(a, b): dot for (h, a, b), dot in zip(unknowns, dots, strict=True) if h == g}
        e = range(len(one.basis))
        gram = [[field.to_float(of_space[min(a, b), max(a, b)]) for a in e] for b in e]
        roots.append(np.linalg.cholesky(np.array(gram)))

    def blocks(y: Floats) -> list[Floats]:
        result = [np.zeros((len(root), len(root))) for root in roots]
        for (g, a, b), value in zip(unknowns, y, strict=True):
            result[g][a, b] = result[g][b, a] = value
        return [root.T @ block @ root for block, root in zip(result, roots, strict=True)]

    start, directions = affine
    parts = [blocks(direction) for direction in directions]
    linear = [np.array([part[g] for part in parts]).reshape(-1, len(r), len(r)) for g, r in enumerate(roots)]
    inner = _inner(blocks(start), linear)
    if inner[1] < INNER:
        return None
    near, least = start + inner[0] @ directions, inner[1]

    def fits(y: Floats) -> bool:
        return min(float(np.linalg.eigvalsh(block).min()) for block in blocks(y)) > KEPT * least

    solved = _pinned(field, system, right, near, fits)
    if solved is None:
        return None
    neurons: list[Vector] = []
    masses: Vector = []
    permutations = np.asarray(optimum.symmetries.elements(), np.int64)
    for g, one in enumerate(spaces):
        e = len(one.basis)
        entries = {(a, b): value for (h, a, b), value in zip(unknowns, solved, strict=True) if h == g}
        Y = [[entries[min(a, b), max(a, b)] for b in range(e)] for a in range(e)]
        for coordinates, share in _decomposed(field, Y):
            x = [field.dot(coordinates, column) for column in zip(*one.basis, strict=True)]
            images = _images(x, permutations)
            neurons += images
            masses += [field.times(share, field.inverse(field.dot(x, x))) / len(images)] * len(images)
    return neurons, masses


def few_neurons(field: NumberField, optimum: SharpOptimum, spaces: Sequence[BestNeurons]) -> list[BestNeurons] | None:
    """Single neurons of some spaces that make an optimal network, where combinations of small integers do; else None.

    They are a vertex of a linear program: no more than there are equations.
    """
    columns = Columns(optimum.table, np.asarray(optimum.symmetries.triple_orbits(), np.int64))
    neurons = [
        BestNeurons(
            one.w, one.factor, [[field.dot([z * ONE for z in c], column) for column in zip(*one.basis, strict=True)]]
        )
        for one in spaces
        for c in product((0, 1, -1), repeat=len(one.basis))
        if next((z for z in c if z), 0) > 0
    ]
    x, w = _floats(field, [one.basis[0] for one in neurons]), _floats(field, [one.w for one in neurons])
    best = optimum.floats()[1] ** 0.5
    answers = columns.of(x / np.linalg.norm(x, axis=1)[:, None], w / np.linalg.norm(w, axis=1)[:, None])
    shares, value, _ = optimal_masses(answers, best)
    if value < (1 - CLOSE) * best:
        return None
    return [neurons[i] for i in np.flatnonzero(shares > 1e-7)]


def _decomposed(field: NumberField, Y: list[Vector]) -> list[tuple[Vector, Element]]:
    """Vectors l and numbers d > 0 with Y = sum d l l', by elimination."""
    parts = []
    for k in range(len(Y)):
        pivot = Y[k][k]
        if pivot == 0:
            continue
        inverse = field.inverse(pivot)
        column = [field.times(row[k], inverse) for row in Y]
        parts.append((column, pivot))
        Y = [[y - field.times(column[i], column[j], pivot) for j, y in enumerate(row)] for i, row in enumerate(Y)]
    return parts


def _images(x: Vector, permutations: NDArray[np.int64]) -> list[Vector]:
    """The images of x, each once; of x and -x one."""
    found: dict[tuple[str, ...], Vector] = {}
    for g in permutations:
        image = _permuted(x, g[: len(x)])
        key, opposite = (tuple(str(sign * z) for z in image) for sign in (1, -1))
        if key not in found and opposite not in found:
            found[key] = image
    return list(found.values())


def _permuted(x: Vector, g: NDArray[np.int64]) -> Vector:
    image = list(x)
    for i, z in zip(g, x, strict=True):
        image[i] = z
    return image


# ---- above


def exact_matrix(
    field: NumberField,
    optimum: SharpOptimum,
    square: Element,
    matrices: list[list[Vector]],
    spaces: Sequence[BestNeurons],
) -> tuple[list[Vector], list[Vector]] | None:
    """P (n, n) of the proof with t = s and t' = 1, and a basis of its kernel; None where none is found."""
    N, C = optimum.table.size, optimum.table.label_count
    pairs = monomials(N, 2)
    vector = [*pairs, *((N + k,) for k in range(C))]
    place = {m: i for i, m in enumerate(vector)}
    n = len(vector)
    permutations = np.asarray(optimum.symmetries.elements(), np.int64)
    moves = np.array([[place[tuple(sorted(int(g[i]) for i in m))] for m in vector] for g in permutations])
    orbit = _pair_orbits(moves)
    count = int(orbit.max()) + 1

    equations: dict[tuple[int, ...], dict[int, int]] = {}
    for i in range(n):
        for j in range(i + 1):
            row = equations.setdefault(tuple(sorted(vector[i] + vector[j])), {})
            row[orbit[i, j]] = row.get(orbit[i, j], 0) + (1 if i == j else 2)
    right = dict.fromkeys(equations, ZERO)
    for i, j in pairs:
        right[i, i, j, j] = square * (1 if i == j else 2)
        for k in range(C):
            right[i, j, N + k] = matrices[k][i][j] * (-2 if i == j else -4)
    for k in range(C):
        right[N + k, N + k] = ONE
    different = {tuple(sorted(row.items())): right[m] for m, row in equations.items()}
    system = [[dict(row).get(c, 0) * ONE for c in range(count)] for row in different]
    values = list(different.values())

    kernel = [
        [field.times(x[i], y[j]) + field.times(x[j], y[i]) for i, j in pairs]
        + [2 * field.dot(x, _image(field, matrix, y)) for matrix in matrices]
        for one in spaces
        for x, y in combinations_with_replacement(one.basis, 2)
    ]
    for _ in range(FACES):
        equations_of_kernel = [_orbit_sums(row, v, count) for v in kernel for row in orbit]
        whole, right_side = [*system, *equations_of_kernel], [*values, *(ZERO for _ in equations_of_kernel)]
        A, b = _floats(field, whole), _floats(field, [right_side])[0]
        sizes = np.where(np.abs(A).max(axis=1) > 0, np.abs(A).max(axis=1), 1.0)
        affine = _affine(A / sizes[:, None], b / sizes)
        if affine is None:
            return None
        independent = _independent(field, kernel, moves)
        known = _floats(field, independent) if independent else np.zeros((0, n))
        outside = scipy.linalg.null_space(known / np.linalg.norm(known, axis=1)[:, None]) if len(known) else np.eye(n)
        start, directions = affine
        linear = np.array([outside.T @ one[orbit] @ outside for one in directions])
        shape = (-1, outside.shape[1], outside.shape[1])
        near, least = _inner([outside.T @ start[orbit] @ outside], [linear.reshape(shape)])
        near = start + near @ directions
        if least >= INNER:
            break
        hidden = rational_kernel(outside, outside.T @ near[orbit] @ outside)
        if not hidden:
            return None
        kernel += [[fmpq(z.numerator, z.denominator) * ONE for z in v] for v in hidden]
    else:
        return None

    def fits(z: Floats) -> bool:
        return float(np.linalg.eigvalsh(outside.T @ z[orbit] @ outside).min()) > KEPT * least

    solved = _pinned(field, whole, right_side, near, fits)
    return None if solved is None else ([[solved[c] for c in row] for row in orbit], independent)


def _orbit_sums(orbits: NDArray[np.int64], v: Vector, count: int) -> Vector:
    """The coefficients of the unknowns, one for each orbit, in the product of a row of the matrix with v."""
    row = [ZERO] * count
    for j, entry in zip(orbits, v, strict=True):
        row[j] = row[j] + entry
    return row


def _pair_orbits(moves: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the orbit of each unordered pair of indices, (n, n)."""
    n = moves.shape[1]
    orbit = np.full((n, n), -1, np.int64)
    count = 0
    for i in range(n):
        for j in range(i + 1):
            if orbit[i, j] < 0:
                orbit[moves[:, i], moves[:, j]] = orbit[moves[:, j], moves[:, i]] = count
                count += 1
    return orbit


def _independent(field: NumberField, vectors: list[Vector], moves: NDArray[np.int64]) -> list[Vector]:
    """Images of vectors that are a basis of what all images span."""
    chosen: list[Vector] = []
    spanned = np.zeros((0, moves.shape[1]))
    for v in vectors:
        floats = _floats(field, [v])[0]
        floats /= np.linalg.norm(floats)
        for g in moves:
            image = np.zeros_like(floats)
            image[g] = floats
            for _ in range(2):
                image = image - spanned.T @ (spanned @ image)
            if (length := np.linalg.norm(image)) > 1e-8:
                spanned = np.concatenate([spanned, image[None] / length])
                chosen.append(_permuted(v, g))
    return chosen


# ---- vectors and forms


def _combination(w: Vector, forms: NDArray[np.int64]) -> list[Vector]:
    """sum_k w_k forms_k, for integer forms (C, N, N)."""
    N = forms.shape[1]
    return [[sum((z * int(forms[k, i, j]) for k, z in enumerate(w)), ZERO) for j in range(N)] for i in range(N)]


def _image(field: NumberField, matrix: list[Vector], x: Vector) -> Vector:
    return [field.dot(row, x) for row in matrix]


def _floats(field: NumberField, rows: list[Vector]) -> Floats:
    return np.array([[field.to_float(a) for a in row] for row in rows])
