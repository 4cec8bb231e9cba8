"""The program of degree 4 on groups: its exact value, and the groups where it is above the maximum margin (ext-T3).

certificates/operations/OPERATION_MARGIN.md, steps 15 to 19. A representation of quaternionic type and degree d = 2m >=
4 counts as one of dimension d + 3 instead of 2d. Above: Gram matrices in integers, and multipliers of a linear program
for all m. Below: pseudo-moments in integers, which are carried onto the group of order 32 in full.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
import sympy as sp
from flint import arb

from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.characters.families import dicyclic_characters, dihedral_characters, symmetric_characters
from lemmata.certificates.game.margin_game import MarginGame, solve
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.certificates.operations.relaxed_groups import (
    QuaternionicMatrices,
    RelaxedGame,
    quaternionic_gram,
    quaternionic_moments,
    relaxed_dimension,
)
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.small_groups import UNITS, hamilton
from lemmata.theorems.plugin import Effort

T3 = "feature-emergence:ext-T3"
Matrix = np.ndarray

# ---- quaternionic matrices: the sum of squares above and the pseudo-moments below


def _is_psd_with(matrix: Matrix, eigenvalues: tuple[int, ...]) -> bool:
    """Whether a symmetric integer matrix has no eigenvalues but these: the product of the shifts is 0.

    Products in float64 are exact, because all numbers stay below 2^53, which is asserted.
    """
    assert np.array_equal(matrix, matrix.T)
    assert min(eigenvalues) >= 0
    result, whole = np.eye(len(matrix)), matrix.astype(float)
    for value in eigenvalues:
        factor = whole - value * np.eye(len(matrix))
        assert np.abs(result).sum(axis=1).max() * np.abs(factor).max() < 2.0**53
        result = result @ factor
    return not result.any()


def _product_forms(m: int) -> Matrix:
    """The coordinates of UV as bilinear forms, by the multiplication of quaternions, shape (4m^2, D, D)."""
    result = np.zeros((m, m, 4, m, m, 4, m, m, 4), np.int64)
    for i, j in product(range(4), repeat=2):
        unit = hamilton(UNITS[i], UNITS[j])
        k = next(place for place in range(4) if unit[place])
        for r, s, c in product(range(m), repeat=3):
            result[r, c, k, r, s, i, s, c, j] = unit[k]
    return result.reshape(4 * m * m, 4 * m * m, 4 * m * m)


MOMENTS = {2: ((0, 8, 16, 32, 112), (0, 4, 8)), 3: ((0, 8, 24, 48, 216), (0, 4, 12))}
GRAMS = {2: ((0, 32, 256), (0, 8)), 3: ((0, 72, 720), (0, 72))}


@check(T3, grade="exact", target="printed", cases="m = 2; at full effort m = 2, 3")
@proof_steps("table-groups.md: 7")
def test_quaternionic_pseudo_moments_reach_the_dimension(effort: Effort) -> None:
    """No s^2 is smaller: E is nonnegative on squares, E(|U|^2 + |V|^2)^2 = 1 and 4 E|UV|^2 = d/(d + 3)."""
    for m in effort.pick(quick=(2,), full=(2, 3)):
        found = quaternionic_moments(m)
        assert all(map(_is_psd_with, (found.even, found.mixed), MOMENTS[m]))
        _is_one_functional(found)
        D = found.dimension
        squares = [i * D + i for i in range(D)] + [D * D + i * D + i for i in range(D)]
        assert 4 * int(found.even[np.ix_(squares, squares)].sum()) * found.unit == 1
        forms = _product_forms(m).reshape(D, D * D)
        second = 2 * int(np.einsum("ka,ab,kb->", forms, found.mixed, forms, optimize=True)) * found.unit
        assert 4 * second == Fraction(2 * m, relaxed_dimension(2 * m, -1))
        assert 4 * second > Fraction(1, 2)  # which is all that true matrices reach


def _is_one_functional(found: QuaternionicMatrices) -> None:
    """The entries of u u by u u are symmetric in all four, and those of u u by v v are those of u v by u v."""
    D = found.dimension
    even, mixed = found.even.reshape(2, D, D, 2, D, D), found.mixed.reshape(D, D, D, D)
    for kind in (0, 1):
        fourth = even[kind, :, :, kind]
        for order in ((1, 0, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2)):
            assert np.array_equal(fourth, fourth.transpose(order))
    assert np.array_equal(even[0, :, :, 1], mixed.transpose(0, 2, 1, 3))
    assert np.array_equal(even[0, :, :, 1], even[0, :, :, 1].transpose(1, 0, 2, 3))


@check(T3, grade="exact", target="printed", cases="m = 2; at full effort m = 2, 3")
@proof_steps("table-groups.md: 7")
def test_quaternionic_sum_of_squares_reaches_the_dimension(effort: Effort) -> None:
    """d/(d + 3) (|U|^2 + |V|^2)^2/4 - |UV|^2 has a positive semidefinite Gram matrix, coefficient by coefficient."""
    for m in effort.pick(quick=(2,), full=(2, 3)):
        gram = quaternionic_gram(m)
        assert all(map(_is_psd_with, (gram.even, gram.mixed), GRAMS[m]))
        D, s = gram.dimension, Fraction(2 * m, relaxed_dimension(2 * m, -1))
        even, mixed = gram.even.reshape(2, D, D, 2, D, D), gram.mixed.reshape(D, D, D, D)
        delta = np.einsum("ij,kl->ijkl", np.eye(D, dtype=np.int64), np.eye(D, dtype=np.int64))
        for kind in (0, 1):  # the form s (2 |u|^2)^2/4 = s |u|^4
            assert _same_form(even[kind, :, :, kind], gram.unit, delta, s, quartic=True)
        forms = _product_forms(m)  # 2 s |u|^2 |v|^2 - 2 sum of squares of forms
        products = np.einsum("kia,kjb->ijab", forms, forms, optimize=True)
        crossed = 2 * even[0, :, :, 1] + mixed.transpose(0, 2, 1, 3)
        target = 2 * s.numerator * delta - 2 * s.denominator * products
        assert _same_form(crossed, gram.unit, target, Fraction(1, s.denominator), quartic=False)


def _same_form(first: Matrix, unit: Fraction, second: Matrix, factor: Fraction, *, quartic: bool) -> bool:
    """Whether unit * first and factor * second are one form in u u u u (quartic) or in u u v v."""
    orders = list(permutations(range(4))) if quartic else [(0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2), (1, 0, 3, 2)]
    sums = [np.sum([tensor.transpose(order) for order in orders], axis=0) for tensor in (first, second)]
    ratio = factor / unit
    return np.array_equal(sums[0] * ratio.denominator, sums[1] * ratio.numerator)


M, A, T, F, K = sp.symbols("m A T F K", positive=True)


@check(T3, grade="symbolic", target="printed", supporting=True)
@proof_steps("table-groups.md: 6")
def test_multipliers_of_the_linear_program_are_positive_and_cancel() -> None:
    """Step 18: 4K plus three nonnegative multiples of nonnegative terms is 2m/(2m + 3) (2A + 2F), for all m >= 2."""
    c = (M - 1) * (2 * M + 1) * (2 * M + 3)
    first, second = 4 * (M + 1) * (2 * M**2 - 2 * M - 3) / c, 8 * M**2 * (M + 2) / c
    terms = (F * M / (M + 1) - K, F / (2 * M) + T - A / (2 * M) - K, A * (2 * M**2 + 1) / (2 * M * (M + 2)) - T)
    total = 4 * K + first * terms[0] + second * terms[1] + second * terms[2]
    assert sp.simplify(total - 2 * M / (2 * M + 3) * (2 * A + 2 * F)) == 0
    assert _coefficients_from_two(first)[0] > 0
    assert _coefficients_from_two(second)[0] > 0


@check(T3, grade="symbolic", target="printed", supporting=True)
@proof_steps("table-groups.md: 6")
def test_the_point_of_the_linear_program_satisfies_all_conditions() -> None:
    """Steps 17 and 18: all conditions hold at the point for m >= 2, and 4K = 2m/(2m + 3) = d/(d + 3)."""
    point = {
        A: (M + 2) / (2 * (2 * M + 3)),
        F: (M + 1) / (2 * (2 * M + 3)),
        K: M / (2 * (2 * M + 3)),
        T: (2 * M**2 + 1) / (4 * M * (2 * M + 3)),
    }
    assert sp.simplify((2 * A + 2 * F).subs(point) - 1) == 0
    gap, cross = T - A / (2 * M), K - F / (2 * M)
    for condition in (A - F, gap - cross, gap + cross, A * (2 * M**2 + 1) - 2 * M * (M + 2) * T, F * M - K * (M + 1)):
        assert _coefficients_from_two(condition.subs(point))[0] >= 0


def _coefficients_from_two(quotient: sp.Expr) -> list[sp.Expr]:
    """The coefficients of the numerator in m - 2, least first, for a denominator whose own are all positive."""
    above, below = sp.fraction(sp.cancel(sp.together(quotient.subs(M, M + 2))))
    first = sp.Poly(below, M).coeffs()
    sign = 1 if first[0] > 0 else -1
    assert all(sign * entry > 0 for entry in first)
    return sorted(sign * entry for entry in sp.Poly(above, M).coeffs())


# ---- the group of order 32, in full


@cache
def _group_of_order_32() -> tuple[Matrix, Matrix]:
    """Its elements q P, q a unit quaternion and P in D_4 within the integer matrices, and its table.

    The first of the two has the coordinates of the 2 x 2 quaternionic matrix, shape (32, 2, 2, 4).
    """
    flat = [np.eye(2, dtype=int), np.diag([1, -1]), np.array([[0, 1], [1, 0]]), np.array([[0, 1], [-1, 0]])]
    found = {}
    for P, unit, sign in product(flat, UNITS, (1, -1)):
        element = sign * P[:, :, None] * np.array(unit)
        found.setdefault(element.tobytes(), element)
    elements = np.array(list(found.values()))
    positions = {key: place for place, key in enumerate(found)}
    table = np.zeros((len(elements), len(elements)), np.int64)
    for (i, g), (j, h) in product(enumerate(elements), repeat=2):
        entries = [[sum(np.array(hamilton(g[r, s], h[s, c])) for s in (0, 1)) for c in (0, 1)] for r in (0, 1)]
        table[i, j] = positions[np.array(entries).tobytes()]
    return elements, table


@check(T3, grade="exact", target="printed", cases="2-^(1+4), all 32^3 triples of its faithful representation")
@proof_steps("table-groups.md: 8")
def test_pseudo_moments_on_the_group_of_order_32() -> None:
    """Steps 19 and 20: the pseudo-margins at all triples are those of dimension 7 instead of 8. Integers.

    With z = u * v and E|x|^4 = E|z|^2 = 1 they are n^(-3/2) (1 - chi/chi(e))/sqrt 7 at a label of character chi.
    """
    elements, table = _group_of_order_32()
    n, moments = len(elements), quaternionic_moments(2)
    assert n == 32
    rows = elements.reshape(n, -1)  # u(g) = <x, rows[g]>
    D = moments.dimension
    division = np.argsort(table, axis=1)  # division[h, k] = h^-1 k
    convolution = np.einsum("hi,hkj->kij", rows, rows[division])
    mixed = moments.mixed.reshape(D, D, D, D)
    image = np.einsum("ijab,kab->ijk", mixed, convolution, optimize=True)
    outputs = np.einsum("ai,bj,ijk->abk", rows, rows, image, optimize=True)  # E u_a v_b z_k; E u_a^2 z_k = 0
    right = np.take_along_axis(outputs, table[:, :, None], axis=2)
    margins = 2 * (right - outputs)
    identity = next(g for g in range(n) if (table[g] == np.arange(n)).all())
    quotient = table[:, division[:, identity]][table]  # (a b) c^-1
    trace = 2 * rows.reshape(n, 2, 2, 4)[:, (0, 1), (0, 1), 0].sum(axis=1)  # chi, 4 at e
    assert trace[identity] == 4
    assert set(trace.tolist()) == {4, 0, -4}
    # |u|^2 = 4 |x|^2, so E|x|^4 as the network sees it
    assert np.array_equal(rows.T @ rows, 4 * np.eye(D, dtype=np.int64))
    squares = [i * D + i for i in range(D)] + [D * D + i * D + i for i in range(D)]
    fourth = 16 * int(moments.even[np.ix_(squares, squares)].sum())
    second = int(np.einsum("kij,ijk->", convolution, image))
    dimension = relaxed_dimension(4, -1)
    # (2/(3 sqrt 3) margin)^2 / (fourth second) = (2 (3n)^(-3/2))^2 (1 - chi/4)^2 / dimension
    left = margins.astype(object) ** 2 * (16 * n**3 * dimension)
    assert np.array_equal(left, (4 - trace[quotient]).astype(object) ** 2 * (fourth * second))
    assert margins.min() == 0 < margins.max()


# ---- values


@check(T3, grade="numeric", target="printed", cases="2-^(1+2k) for k = 2, 3; at full effort k = 4 also")
@proof_steps("table-groups.md: 11")
def test_gaps_of_extraspecial_groups(effort: Effort) -> None:
    """2 4^k / (4^k - 1 + 4^k sqrt nu), nu = 2^(k + 1) for the margin and 2^k + 3 for the program of degree 4."""
    for k in effort.pick(quick=(2, 3), full=(2, 3, 4)):
        group = parse_group(f"2-^(1+{2 * k})")
        certificate = certify_group(group)
        relaxed = solve(RelaxedGame(certificate.table)).value
        for value, dimension in ((certificate.value, 2 ** (k + 1)), (relaxed, 2**k + 3)):
            closed = arb(2 * 4**k) / (4**k - 1 + 4**k * arb(dimension).sqrt())
            assert abs(float(value) - float(closed.mid())) < 1e-13
            square = (2 * 4**k / value - (4**k - 1)) / 4**k
            assert square * square == dimension
        assert float(relaxed) > 1.05 * float(certificate.value)


@check(
    T3, grade="exact", target="printed", cases="D_n, Dic_n for n <= 8, S_3 to S_6; A_4, A_5, Q_16, 2+^(1+4), SL(2,3)"
)
@proof_steps("table-groups.md: 10")
def test_the_program_is_exact_without_quaternionic_degree_four() -> None:
    tables = [dihedral_characters(n) for n in range(3, 9)] + [dicyclic_characters(n) for n in range(2, 9)]
    tables += [symmetric_characters(n) for n in range(3, 7)]
    tables += [character_table(parse_group(name)) for name in ("A4", "A5", "Q16", "2+^(1+4)", "SL(2,3)")]
    for table in tables:
        assert all(d < 4 for d, kind in zip(table.degrees, table.indicators, strict=True) if kind == -1)
        game, relaxed = MarginGame(table), RelaxedGame(table)
        assert np.array_equal(game.dimensions, relaxed.dimensions)
        assert np.array_equal(game.squared_weights, relaxed.squared_weights)


@check(T3, grade="numeric", target="printed", cases="Z_2, Z_3, Z_4; at full effort S_3, Q_8 also")
@proof_steps("table-groups.md: 9")
def test_the_solver_finds_the_value_of_the_game(effort: Effort) -> None:
    """The program of degree 4 on the tables themselves, solved in floats to the solver's 1e-6."""
    for name in effort.pick(quick=("Z2", "Z3", "Z4"), full=("Z2", "Z3", "Z4", "S3", "Q8")):
        group = parse_group(name)
        table = Operation.of(group.to_finite_group().table.tolist())
        bound = relaxed_margin(table, kind=4, symmetries=operation_symmetries(table)).bound
        value = float(solve(RelaxedGame(character_table(group))).value)
        assert bound == pytest.approx(2 * (3 * group.order) ** -1.5 * value, rel=1e-6)
