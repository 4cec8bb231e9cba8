"""Tables of at most three labels: the plane program is exact, and 2N - 2 neurons suffice (ext-T2; proofs/tables.md).

The bound comes from the program and is rounded to a proof in integers; the network is read off its dual, rounded to
integers, and its margin enclosed. Where a margin is known in closed form, both are held against it.
"""

from __future__ import annotations

from fractions import Fraction
from math import cos, pi

import numpy as np
import pytest
import sympy as sp

from lemmata.certificates.operations.forms import form_matrices, plane_matrices
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.plane_networks import plane_network, product_decomposition
from lemmata.certificates.operations.programs import relaxed_margin, relaxed_phi
from lemmata.certificates.operations.rounding import rounded_bound
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.exact_weights import in_units
from lemmata.theorems.plugin import Effort

T2 = "feature-emergence:ext-T2"


@check(T2, grade="symbolic", target="printed", supporting=True)
@proof_steps("tables.md: 8")
def test_the_plane_of_three_labels() -> None:
    """Step 8: with a and b of the library's matrices 2 |M(x)|^2 = a^2 + 3 b^2, for two labels as well."""
    first, second = sp.symbols("first second")
    for values in ([first, second, -first - second], [first, -first]):
        a, b = plane_matrices(np.array([[[value]] for value in values], object))
        assert sp.expand(2 * sum(value**2 for value in values) - a[0, 0] ** 2 - 3 * b[0, 0] ** 2) == 0


@check(T2, grade="symbolic", target="printed", supporting=True)
@proof_steps("tables.md: 9, 10")
def test_the_determinant_of_the_plane() -> None:
    """Steps 9 and 10: p p' - r^2 = 3 (tau^2 |x|^4 - a^2 - 3 b^2), and Lagrange's identity for vectors of 4 entries."""
    tau, length, a, b = sp.symbols("tau length a b")
    p, r, last = tau * length + a, 3 * b, 3 * (tau * length - a)
    assert sp.expand(p * last - r**2 - 3 * (tau**2 * length**2 - a**2 - 3 * b**2)) == 0
    v, w = sp.symbols("v:4"), sp.symbols("w:4")
    minors = sum((v[i] * w[j] - v[j] * w[i]) ** 2 for i in range(4) for j in range(i))
    dot = sum(x * y for x, y in zip(v, w, strict=True))
    assert sp.expand(sum(x**2 for x in v) * sum(y**2 for y in w) - dot**2 - minors) == 0
    z, M, t = sp.symbols("z M t")
    assert sp.expand(t * length**2 - 2 * z * M + t * z**2 - t * (z - M / t) ** 2 - (t**2 * length**2 - M**2) / t) == 0


@check(T2, grade="symbolic", target="printed", supporting=True)
@proof_steps("tables.md: 12")
def test_the_double_angle() -> None:
    """Step 12: a product contributes -rho^2 (a cos 2t + sqrt 3 b sin 2t), of square at most rho^4 (a^2 + 3 b^2).

    With alpha = rho c, sqrt 3 beta = rho s, cos 2t = c^2 - s^2 and sin 2t = 2 c s for c = cos t and s = sin t.
    """
    rho, c, s, a, b = sp.symbols("rho c s a b", real=True)
    alpha, beta = rho * c, rho * s / sp.sqrt(3)
    cosine, sine = c**2 - s**2, 2 * c * s
    share = a * cosine + sp.sqrt(3) * b * sine
    assert sp.expand(-(alpha**2) * a - 6 * alpha * beta * b + 3 * beta**2 * a + rho**2 * share) == 0
    rest = (a * sine - sp.sqrt(3) * b * cosine) ** 2
    assert sp.expand((a**2 + 3 * b**2) * (c**2 + s**2) ** 2 - share**2 - rest) == 0


@check(T2, grade="numeric", target="printed", cases="2 and 4 products for N = 3, 20 for N = 4; drawn")
@proof_steps("tables.md: 11")
@pytest.mark.parametrize(("size", "terms"), [(3, 2), (3, 4), (4, 20)])
def test_sums_of_products(size: int, terms: int) -> None:
    """Step 11, for sums of products of fewer and of more terms than 2N."""
    rng = np.random.default_rng(size + terms)
    e, x = rng.standard_normal((terms, 2)), rng.standard_normal((terms, size))
    Y = np.einsum("ra,rb,ri,rj->aibj", e, e, x, x).reshape(2 * size, 2 * size)
    found, points = product_decomposition(Y)
    assert len(found) == min(terms, 2 * size)
    again = np.einsum("ra,rb,ri,rj->aibj", found, found, points, points).reshape(2 * size, 2 * size)
    np.testing.assert_allclose(again, Y, rtol=0, atol=1e-7 * np.abs(Y).max())


@check(
    T2, grade="numeric", target="printed", cases="6 random residual tensors of 2 x 2 to 4 x 5, 2 and 3 labels, seed 11"
)
@proof_steps("tables.md: 12")
def test_the_plane_program_is_the_largest_length() -> None:
    """Step 12: sqrt 2 phi is the largest eigenvalue of cos t A + sqrt 3 sin t B over t.

    On a grid of step d the largest is at least cos(d/2) of it, so that the two sides enclose phi; 1e-7 is the solver's.
    """
    rng, steps = np.random.default_rng(11), 600
    for rows, columns, labels in ((2, 2, 3), (2, 2, 2), (2, 3, 3), (3, 3, 3), (3, 4, 2), (4, 5, 3)):
        tensor = rng.standard_normal((rows, columns, labels))
        tensor -= tensor.mean(axis=2, keepdims=True)
        A, B = plane_matrices(form_matrices(tensor))
        angles = 2 * pi * np.arange(steps) / steps
        turned = np.cos(angles)[:, None, None] * A + np.sqrt(3) * np.sin(angles)[:, None, None] * B
        largest = float(np.linalg.eigvalsh(turned)[:, -1].max())
        phi = relaxed_phi(tensor, kind="plane").phi
        assert largest * (1 - 1e-7) <= np.sqrt(2) * phi <= largest / cos(pi / steps) * (1 + 1e-7)


XOR, ADDITION = named_operation("a+b", 2), named_operation("a+b", 3)
KNOWN = {"Z_2": (XOR, Fraction(4, 54)), "Z_3": (ADDITION, Fraction(2, 27 * 3 * 4))}
"""The squares of 2/(3 sqrt(3n) S'), S' = 1 for n = 2 and sqrt 2 (n - 1) for odd n (ext-E3)."""


def _drawn(count: int, sides: tuple[int, int], labels: int, seed: int) -> list[Operation]:
    rng = np.random.default_rng(seed)
    return [Operation.of(rng.integers(0, labels, sides).tolist(), labels=labels) for _ in range(count)]


def _small(effort: Effort) -> list[Operation]:
    """All tables on 2 x 2 with at most three labels that stand in a cell, the first being 0; and drawn ones."""
    values = [(0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)]  # two labels
    values += [(0, 1, 2), (1, 0, 2), (1, 2, 0), (1, 1, 2), (1, 2, 1), (1, 2, 2)]  # three
    whole = [Operation.of([[0, i], [j, k]]) for i, j, k in values]
    drawn = _drawn(effort.pick(quick=4, full=40), (3, 4), 3, 17)
    partial = [Operation.of([[0, MISSING, 2], [1, 2, MISSING], [MISSING, 0, 1]]), Operation.of([[0, 1, 1]])]
    return [*whole, *drawn, *partial, *(table for table, _ in KNOWN.values())]


@check(
    T2,
    grade="numeric",
    target="printed",
    cases="all 2 x 2; 4 random 3 x 4, seed 17 (full effort: 40); 1 x 3; a partial 3 x 3; Z_2, Z_3; to 2e-6",
)
@proof_steps("tables.md: 13")
def test_networks_of_few_neurons_meet_the_bound(effort: Effort) -> None:
    """Step 13: an exact network of at most 2N - 2 neurons comes within 2e-6 of a bound that is proved in integers."""
    for table in _small(effort):
        relaxation = relaxed_margin(table, kind="plane")
        square = rounded_bound(table, relaxation).proof.square
        found = plane_network(table, relaxation)
        assert found.size <= 2 * table.size - 2
        margin = _integers(found).lower_margin(table)
        assert margin > 0
        assert (1 - Fraction(4, 10**6)) * square < margin**2 <= square
        assert _payoffs(found, table).min() == pytest.approx(float(margin), rel=1e-6)


@check(T2, grade="numeric", target="printed", cases="Z_2, Z_3; to 1e-6")
@pytest.mark.parametrize("name", KNOWN)
def test_known_margins_are_between_the_bounds(name: str) -> None:
    table, known = KNOWN[name]
    relaxation = relaxed_margin(table, kind="plane")
    above = rounded_bound(table, relaxation).proof.square
    below = _integers(plane_network(table, relaxation)).lower_margin(table) ** 2
    assert below <= known <= above < below * (1 + Fraction(1, 10**6))
    fourth = relaxed_margin(table, kind=4).bound
    assert fourth**2 == pytest.approx(float(known), rel=2e-6)


def _payoffs(network: OperationNetwork, table: Operation) -> np.ndarray:
    """The margins by definition, in floats."""
    lengths = np.sqrt((network.u**2).sum(axis=1) + (network.v**2).sum(axis=1) + (network.w**2).sum(axis=1))
    shares = network.masses / network.masses.sum() / lengths**3
    hidden = (network.u[:, :, None] + network.v[:, None, :]) ** 2
    outputs = np.einsum("i,iab,ic->abc", shares, hidden, network.w)
    return np.array([outputs[a, b, table.values[a][b]] - outputs[a, b, c] for a, b, c in table.triples])


def _integers(network: OperationNetwork) -> OperationNetwork:
    """The exact network of these weights in units of 2^-30."""
    return in_units(network.u, network.v, network.w, network.masses, 30)
