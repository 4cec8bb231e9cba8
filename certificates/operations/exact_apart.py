"""Exact optima whose neurons lie in one real quadratic field, where the multipliers are simple fractions.

Let gamma^2 be rational, and so phi^2 = 27/4 gamma^2. For rational multipliers and a neuron with integer outputs W the
matrix M_W = sum_k W_k M_k is rational, and x is an eigenvector of the eigenvalue phi |W|, the square root of a rational
number: its coordinates lie in the field of that root. They are found exactly as a nullspace. The share of each neuron
follows from linear equations: in the triples that bind all margins are gamma, with its coefficients for every root.
What comes out is an `ApartNetwork` and the multipliers; whether they prove anything is for the kernel to say.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import gcd, isqrt, lcm, sqrt

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from lemmata.certificates import kernel
from lemmata.certificates.operation_kernel import radical
from lemmata.certificates.operations.apart import ApartNetwork
from lemmata.certificates.operations.column_program import Columns, optimal_masses
from lemmata.certificates.operations.columns import FoundNetwork
from lemmata.certificates.operations.exact_equations import solved_near
from lemmata.certificates.operations.forms import form_matrices, form_values, residual
from lemmata.numerics.operations.operation import Operation

__all__ = ["apart_solution"]

SIMPLE = (64, 1000)
"""The largest denominators that are tried for a multiplier times the number of triples."""
CLOSE = 1e-5
"""How far a multiplier, relative to their mean, and an output, relative to the largest, may be from its float."""
OUTPUT = 60
"""The largest denominator of outputs."""
COORDINATE, MOST_DIMENSIONS = 2, 6
"""The largest coordinate that is tried in an eigenspace of more dimensions, of up to so many over the rationals."""
BINDING = 1e-6
"""A triple binds if its multiplier, relative to their mean, is above this."""

Point = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""x_0, x_1 and W of a neuron."""


def apart_solution(found: FoundNetwork, square: Fraction) -> tuple[ApartNetwork, tuple[int, ...]] | None:
    """The exact network near a found one whose margin has a given square, and multipliers; None where this fails.

    Args:
        found: a network that is optimal up to rounding, and its multipliers.
        square: of the margin, a fraction.
    """
    for largest in SIMPLE:
        multipliers = _multipliers(found, largest)
        if multipliers is None:
            continue
        points = _points(found, multipliers, square)
        if points is not None:
            network = _with_numbers(found, points[0], points[1], square)
            return None if network is None else (network, multipliers)
    return None


def _multipliers(found: FoundNetwork, largest: int) -> tuple[int, ...] | None:
    """Simple fractions near the multipliers, as integers; None if they are not near."""
    count = len(found.q)
    simple = [Fraction(float(q) * count).limit_denominator(largest) for q in found.q]
    if any(abs(float(one) - float(q) * count) > CLOSE for one, q in zip(simple, found.q, strict=True)):
        return None
    unit = lcm(*(one.denominator for one in simple))
    return tuple(int(one * unit) for one in simple)


def _points(found: FoundNetwork, multipliers: tuple[int, ...], square: Fraction) -> tuple[int, list[Point]] | None:
    """The root of the field, and the exact neurons near the found ones."""
    total = sum(multipliers)
    matrices = form_matrices(residual(found.table, np.array(multipliers, object)))
    field = 1
    points = []
    for w in found.w:
        outputs = _outputs(w)
        if outputs is None:
            return None
        eigenvalue = Fraction(27, 4) * square * sum(z * z for z in outputs) * total**2  # its square
        whole = eigenvalue.numerator * eigenvalue.denominator
        root = whole // kernel.square_part(whole) ** 2
        if root != 1 and field not in (1, root):
            return None  # two fields
        field = max(field, root)
        rational = Fraction(isqrt(whole // root), eigenvalue.denominator)  # the eigenvalue is rational * sqrt(root)
        matrix = np.tensordot(np.array(outputs, object), matrices, 1)
        vectors = [v for v in _eigenvectors(matrix, rational, root) if _answers_along(matrices, v, root, outputs)]
        if not vectors:
            return None
        points += [(*vector, outputs) for vector in vectors]
    return field, list(dict.fromkeys(points))


def _outputs(w: NDArray[np.float64]) -> tuple[int, ...] | None:
    """The smallest integers on the ray of a vector, if they are small."""
    scaled = w / np.abs(w).max()
    ratios = [Fraction(float(z)).limit_denominator(OUTPUT) for z in scaled]
    if max(abs(float(ratio) - z) for ratio, z in zip(ratios, scaled, strict=True)) > CLOSE:
        return None
    common = lcm(*(ratio.denominator for ratio in ratios))
    outputs = [int(ratio * common) for ratio in ratios]
    divisor = gcd(*outputs)
    return tuple(z // divisor for z in outputs)


def _eigenvectors(matrix: NDArray, rational: Fraction, root: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """x_0 and x_1 of eigenvectors x of the eigenvalue rational * sqrt(root).

    In a space of one dimension it is one vector; in others all with small coordinates.
    """
    N = len(matrix)
    one = np.array([[int(i == j) for j in range(N)] for i in range(N)], object) * rational.numerator
    matrix = matrix * rational.denominator
    system = matrix - one if root == 1 else np.block([[matrix, -root * one], [-one, matrix]])
    null, count = fmpz_mat([[int(z) for z in row] for row in system.tolist()]).nullspace()
    basis = np.array([[int(null[i, j]) for j in range(count)] for i in range(null.nrows())], object)
    if count == 0:
        return []
    basis = basis // np.gcd.reduce(basis, axis=0)
    if count == (1 if root == 1 else 2):
        found = [basis[:, 0]]
    elif count <= MOST_DIMENSIONS:
        coordinates = product(range(-COORDINATE, COORDINATE + 1), repeat=count)
        found = [basis @ np.array(c, object) for c in coordinates if next((z for z in c if z), 0) > 0]
    else:
        return []
    vectors = []
    for vector in found:
        whole = vector // gcd(*(int(z) for z in vector))
        vectors.append((tuple(map(int, whole[:N])), tuple(map(int, whole[N:])) if root != 1 else (0,) * N))
    return vectors


def _answers_along(
    matrices: NDArray, vector: tuple[tuple[int, ...], tuple[int, ...]], root: int, outputs: tuple[int, ...]
) -> bool:
    """Whether (x'M_k x)_k is a positive multiple of the outputs, exactly."""
    x, beside = (np.array(part, object) for part in vector)
    one = form_values(matrices, x) + root * form_values(matrices, beside)
    other = [2 * int(np.dot(x, matrix @ beside)) for matrix in matrices]
    k = next(i for i, z in enumerate(outputs) if z)
    parallel = all(part[i] * outputs[k] == part[k] * outputs[i] for part in (one, other) for i in range(len(outputs)))
    return bool(parallel and (float(one[k]) + sqrt(root) * other[k]) * outputs[k] > 0)


def _with_numbers(found: FoundNetwork, root: int, points: list[Point], square: Fraction) -> ApartNetwork | None:
    """The network of images of some points whose margins in the triples that bind are all the root of ``square``."""
    table, symmetries = found.table, found.symmetries
    number = np.arange(len(found.q)) if symmetries is None else np.asarray(symmetries.triple_orbits())
    permutations = (
        np.arange(table.size + table.label_count)[None]
        if symmetries is None
        else np.asarray(symmetries.elements(), np.int64)
    )
    orbits: list[list[Point]] = []
    for point in points:
        images = _images(point, root, permutations, table)
        if not any(images[0] in orbit for orbit in orbits):
            orbits.append(images)
    x = np.array([_floats(orbit[0], root) for orbit in orbits])
    w = np.array([orbit[0][2] for orbit in orbits], float)
    lengths = np.linalg.norm(x, axis=1)
    answers = Columns(table, number).of(x / lengths[:, None], w / np.linalg.norm(w, axis=1)[:, None])
    shares = optimal_masses(answers, sqrt(27 / 4 * square))[0]
    kept = [i for i, share in enumerate(shares) if share > 1e-9]
    near = [float(shares[i]) / len(orbits[i]) / lengths[i] ** 2 for i in kept]
    binding = {int(orbit): i for i, orbit in enumerate(number) if found.q[i] * len(found.q) > BINDING}
    numbers = _numbers(
        [orbits[i] for i in kept], near, root, [table.triples[i] for i in binding.values()], table, square
    )
    if numbers is None:
        return None
    whole = [(point, p) for i, p in zip(kept, numbers, strict=True) if any(p) for point in orbits[i]]
    x_0, x_1, outputs = (np.array([point[part] for point, _ in whole], object) for part in range(3))
    return ApartNetwork(root, table.rows, x_0, x_1, outputs, np.array([p for _, p in whole], object))


def _numbers(
    orbits: list[list[Point]],
    near: list[float],
    root: int,
    triples: list[tuple[int, int, int]],
    table: Operation,
    square: Fraction,
) -> list[tuple[Fraction, Fraction]] | None:
    """p_0 and p_1 for each orbit, near given floats p, with which all triples have the margin; None without them."""
    whole = square.numerator * square.denominator
    m = whole // kernel.square_part(whole) ** 2
    gamma = {m: Fraction(isqrt(whole // m), square.denominator)}
    rows: list[list[Fraction]] = []
    for triple in triples:
        slacks: list[kernel.Radicals] = []
        for orbit in orbits:
            slack = _slack(table, orbit, root, triple, gamma)
            slacks += [slack, kernel.times_root(slack, root)] if root != 1 else [slack]
        for key in {key for slack in slacks for key in slack}:
            rows.append([*(slack.get(key, Fraction(0)) for slack in slacks), Fraction(0)])
    sizes = [Fraction(len(orbit) * float(_floats(orbit[0], root) @ _floats(orbit[0], root))) for orbit in orbits]
    parts = [1.0] if root == 1 else [1.0, sqrt(root)]
    rows.append([*(size.limit_denominator(1000) * Fraction(part) for size in sizes for part in parts), Fraction(1)])
    common = lcm(*(entry.denominator for row in rows for entry in row))
    simple = [Fraction(one).limit_denominator(10_000) * (part == 1) for one in near for part in parts]
    solved = solved_near([[int(entry * common) for entry in row] for row in rows], simple)
    if solved is None:
        return None
    pairs = list(zip(*[iter(solved)] * len(parts), strict=True))
    if min(float(sum(float(p) * part for p, part in zip(pair, parts, strict=True))) for pair in pairs) < 0:
        return None
    return [(pair[0], pair[1] if root != 1 else Fraction(0)) for pair in pairs]


def _images(point: Point, root: int, permutations: NDArray[np.int64], table: Operation) -> list[Point]:
    """The images of a neuron, each once; of x and -x one."""
    N = table.size
    found: dict[Point, None] = {}
    for g in permutations:
        x, beside, w = [0] * N, [0] * N, [0] * table.label_count
        for i in range(N):
            x[g[i]], beside[g[i]] = point[0][i], point[1][i]
        for k in range(table.label_count):
            w[g[N + k] - N] = point[2][k]
        first = next(a + sqrt(root) * b for a, b in zip(x, beside, strict=True) if a or b)
        if first < 0:
            x, beside = [-z for z in x], [-z for z in beside]
        found[tuple(x), tuple(beside), tuple(w)] = None
    return list(found)


def _slack(
    table: Operation, orbit: list[Point], root: int, triple: tuple[int, int, int], gamma: kernel.Radicals
) -> kernel.Radicals:
    """The sum over neurons of |x|^2 times the difference of their margin in a triple and gamma."""
    a, b, c = triple
    y = table.values[a][b]
    total: kernel.Radicals = {}
    for x, beside, w in orbit:
        s, t = x[a] + x[table.rows + b], beside[a] + beside[table.rows + b]
        W = sum(z * z for z in w)
        answer = kernel.times_root(radical(s * s + root * t * t, 2 * s * t, root), 3 * W)
        total = kernel.plus(total, answer, Fraction(2 * (w[y] - w[c]), 9 * W))
        one = sum(z * z for z in x) + root * sum(z * z for z in beside)
        size = radical(one, 2 * sum(p * q for p, q in zip(x, beside, strict=True)), root)
        for m, factor in gamma.items():
            total = kernel.plus(total, kernel.times_root(size, m), -factor)
    return total


def _floats(point: Point, root: int) -> NDArray[np.float64]:
    """x in floats."""
    return np.array(point[0], float) + sqrt(root) * np.array(point[1], float)
