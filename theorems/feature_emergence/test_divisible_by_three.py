"""Addition without one cell where 3 divides the order (ext-T18; proofs/divisible-by-three.md).

The weights are held against the formula of the statement and against laws that are counted triple by triple in plain
loops, the form against all of its coefficients, the constants against exact fractions, the order 9 by balls, and the
last step against the rank of a linear system. Characters are powers of a root of unity modulo a prime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import sqrt

import numpy as np
import pytest
from flint import nmod_mat
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import one_cell_weights, wave_bounds
from lemmata.certificates.operations.wave_form import only_waves, wave_form
from lemmata.certificates.operations.wave_networks import margins_decide
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.abelian_groups import AbelianGroup, Element, Orders
from lemmata.theorems.feature_emergence.ascents import ascents, mixed_norm

T18 = "feature-emergence:ext-T18"
Floats = NDArray[np.float64]


@cache
def group_of(orders: Orders) -> AbelianGroup:
    return AbelianGroup(orders)


def _weight(group: AbelianGroup, a: Element, b: Element, d: Element) -> Fraction:
    """The weight of the statement, line by line."""
    n, zero = group.n, group.elements[0]
    r, scale = n // 3, (5 * n - 12) * (n - 5)
    if (zero, zero) in group.points(a, b, d):
        return Fraction(0)

    def hold(*lines: tuple[int, int, int]) -> int:
        return sum(group.sum((i, a), (j, b), (t, d)) == zero for i, j, t in lines)

    counted = 15 * hold((1, 0, 0), (0, 1, 0), (1, 1, 1)) + 10 * hold((2, 0, 1), (0, 2, 1), (2, 2, 1))
    counted += 5 * hold((1, 0, 1), (0, 1, 1), (1, 1, 0)) + 4 * hold((1, -1, 0), (2, 1, 1), (1, 2, 1))
    counted -= hold((1, -1, -1), (1, -1, 1), (2, -2, -1), (2, -2, 1))
    for i, j in ((2, 1), (1, 2)):
        counted -= hold((i, j, 0), (2 * i, 2 * j, 3), (2 * i, 2 * j, 1), (i, j, 2))
    share = Fraction(0)
    if group.sum((3, d)) == zero:
        subgroup = {zero, d, group.sum((-1, d))}
        within = sum(x in subgroup for x in (a, b, group.sum((1, a), (1, b))))
        share = {0: Fraction(2, (r - 1) * (r - 2)), 1: Fraction(-1, r - 1), 3: Fraction(1)}[within]
    return 1 - Fraction(60, scale) + Fraction(n, scale) * (counted + 2 * share)


@check(T18, grade="exact", target="printed", cases="Z_9, Z_3^2, Z_15, Z_21, Z_9 x Z_3, Z_3^3; all triples")
@proof_steps("divisible-by-three.md: 1, 2, 3, 4, 5")
@pytest.mark.parametrize("orders", [(9,), (3, 3), (15,), (21,), (9, 3), (3, 3, 3)], ids=str)
def test_weights_by_counting(orders: Orders) -> None:
    """The formula, one law on six points without (0, 0), uniform marginals, and the least positive value."""
    group, (weights, scale) = group_of(orders), one_cell_weights(orders)
    n, zero = group.n, group.elements[0]
    D, r = (5 * n - 12) * (n - 5), n // 3
    assert scale == D * (r - 1) * (r - 2)
    assert weights.shape == (n, n, n)
    assert not weights[:, :, 0].any()
    laws: list[Counter[tuple[Element, Element]]] = [Counter() for _ in range(9)]
    excluded = 0
    for (i, a), (j, b), (k, d) in product(enumerate(group.elements), repeat=3):
        if k == 0:
            continue
        mass = int(weights[i, j, k])
        assert mass == scale * _weight(group, a, b, d)
        assert mass == 0 or mass >= Fraction(scale * n * (5 * n - 44), D)
        excluded += mass == 0
        right = group.sum((1, a), (1, b), (1, d))
        for law, point in zip(laws, (*group.points(a, b, d), (a, d), (b, d), (right, d)), strict=True):
            law[point] += mass
    assert excluded == 6 * (n - 1)
    assert all(law == laws[0] for law in laws[1:6])
    assert laws[0][zero, zero] == 0
    assert laws[0].total() == scale * n**2 * (n - 1)
    for law in laws[6:]:
        assert law == dict.fromkeys(product(group.elements, group.elements[1:]), scale * n)


@cache
def _form(orders: Orders) -> NDArray[np.int64]:
    """The sum of the weights times u_a v_b (w_{a+b} - w_{a+b+d}) as an array over u, v, w."""
    group, (weights, _) = group_of(orders), one_cell_weights(orders)
    plus = np.array([[group.number[group.sum((1, a), (1, b))] for b in group.elements] for a in group.elements])
    a, b, d = np.nonzero(weights)
    form = np.zeros(weights.shape, np.int64)
    np.add.at(form, (a, b, plus[a, b]), weights[a, b, d])
    np.add.at(form, (a, b, plus[plus[a, b], d]), -weights[a, b, d])
    return form


def _payoff(orders: Orders) -> Floats:
    """T over a, b, c, rounded."""
    return 2 * _form(orders) / one_cell_weights(orders)[0].sum()


def _relations(group: AbelianGroup, k: Element, l: Element, m: Element) -> tuple[int, int, int]:
    """How many of the three relations hold, of the steps of order 3, and on how many subgroups k = l = -m, not 0."""
    zero = group.elements[0]
    thirds = [s for s in group.elements[1:] if group.sum((3, s)) == zero]
    lines = ((1, 1, 2), (1, -2, -1), (-2, 1, -1))
    relations = sum(group.sum((x, k), (y, l), (z, m)) == zero for x, y, z in lines)
    near = sum((k, l) == (group.sum((1, s), (-1, m)), group.sum((-1, s), (-1, m))) for s in thirds)
    alike = sum(group.turn(k, s) == group.turn(l, s) == -group.turn(m, s) % group.exponent != 0 for s in thirds)
    return relations, near, alike // 2  # each subgroup of order 3 has two generators


def _three_pairs(group: AbelianGroup) -> Iterator[tuple[Element, Element, Element]]:
    """Three characters of three different pairs, none of them 0."""
    for k, l, m in product(group.elements[1:], repeat=3):
        if len({min(x, group.sum((-1, x))) for x in (k, l, m)}) == 3:
            yield k, l, m


@check(T18, grade="exact", target="printed", cases="Z_9, Z_3^2, Z_15, Z_9 x Z_3: all coefficients, modulo a prime")
@proof_steps("divisible-by-three.md: 6")
@pytest.mark.parametrize("orders", [(9,), (3, 3), (15,), (9, 3)], ids=str)
def test_the_form_by_characters(orders: Orders) -> None:
    """As at a wave, 0 for one or two pairs otherwise and for constants, and those of step 6 for three pairs.

    A coefficient less what is expected is at most 2 sum |form| in absolute value, and so are its conjugates: the same
    at multiples of the three characters. Modulo a larger prime p, which splits, 0 at all of these says that it is p
    times an algebraic integer whose conjugates are below 1: it is 0.
    """
    group, form = group_of(orders), _form(orders)
    n, zero = group.n, group.elements[0]
    _, scale = one_cell_weights(orders)
    r, largest = n // 3, 2 * int(abs(form).sum())
    p, chi = group.characters_modulo(largest)
    transform, found = nmod_mat(n, n, [x for k in chi for x in k], p), [x % p for x in form.ravel().tolist()]
    for _ in range(3):  # each time the first index is transformed and becomes the last
        found = [int(x) for x in (transform * nmod_mat(n, n * n, found, p)).transpose().entries()]
    expected: Counter[tuple[Element, Element, Element]] = Counter()
    for k in group.elements[1:]:
        expected[k, k, group.sum((-1, k))] = scale * n**3
    for k, l, m in _three_pairs(group):
        relations, near, alike = _relations(group, k, l, m)
        assert near in (0, 1)
        assert near == 0 or relations == 3
        expected[k, l, m] = -(n**3) * ((r - 1) * (r - 2) * (5 + relations + 2 * near) - 6 * alike)
    assert largest > 2 * max(map(abs, expected.values())) > 0
    for (i, k), (j, l), (h, m) in product(enumerate(group.elements), repeat=3):
        assert found[(i * n + j) * n + h] == expected[k, l, m] % p
    assert not any(expected[k, l, m] for k, l, m in product(group.elements, repeat=3) if zero in (k, l, m))


@check(T18, grade="exact", target="printed", cases="Z_9, Z_3^2, Z_15: all characters")
@proof_steps("divisible-by-three.md: 7")
@pytest.mark.parametrize("orders", [(9,), (3, 3), (15,)], ids=str)
def test_relations_match_characters_one_to_one(orders: Orders) -> None:
    """With one place fixed: 3 + 2 relations of each other character at most, and subgroups over four choices of signs.

    The constant delta_0 of the library is not below what these numbers give.
    """
    group, bounds = group_of(orders), wave_bounds(group_of(orders).n)
    n, matched, subgroups = group.n, Counter[object](), Counter[object]()
    for one in _three_pairs(group):
        relations, near, alike = _relations(group, *one)
        for place, fixed in enumerate(one):
            others = [(i, x) for i, x in enumerate(one) if i != place]
            for other in others:
                matched[place, fixed, other] += relations + 2 * near
            pairs = [(i, min(x, group.sum((-1, x)))) for i, x in others]
            subgroups[place, fixed, *pairs] += alike
    N, D, r = (n - 1) // 2, (5 * n - 12) * (n - 5), n // 3
    most, shared = max(matched.values()), max(subgroups.values())
    assert most == 3 + 2
    assert 0 < shared <= r
    assert ((20 + Fraction(6 * shared, (r - 1) * (r - 2))) * (N - 2) + 2 * most) / D <= bounds.mixed


@check(T18, grade="exact", target="printed", cases="n = 15, 21, ..., 399, in fractions; 9 is refused")
@proof_steps("divisible-by-three.md: 7, 8")
def test_the_constants_of_the_bound() -> None:
    """The norms of step 7 and both inequalities of steps 12 and 15 of triangles.md, by the crude numbers of step 8."""
    assert not wave_bounds(9).enough
    good = wave_bounds(15)
    assert not replace(good, aligned=Fraction(13, 25) - Fraction(1, 10**9)).enough
    assert not replace(good, near=Fraction(2)).enough
    for n in range(15, 400, 6):
        bounds, N, D, r = wave_bounds(n), (n - 1) // 2, (5 * n - 12) * (n - 5), n // 3
        tau, e = Fraction(6 * r, (r - 1) * (r - 2)), Fraction(2, n - 5)
        # M - 1 for matrices of M coordinates, 2 for each matching: one of each relation, two of the steps of order 3
        assert bounds.mixed == ((20 + tau) * ((N - 1) - 1) + (3 + 2) * 2) / D < e
        assert bounds.rest == ((20 + tau) * ((N - 2) - 1) + (3 + 2) * 2) / D < bounds.mixed
        excess, d = (N - 2) * bounds.rest**2, bounds.mixed
        assert excess < e <= Fraction(1, 5)
        square = N * d**2 + 2 * d * (1 - d)
        assert square + (1 - d) ** 2 * bounds.aligned == 1
        assert bounds.aligned > 1 - Fraction(2 * (n - 3), (n - 7) ** 2) >= Fraction(5, 8) > Fraction(13, 25)
        near = 2 * d + 4 * d**2 + (d**2 + excess) * Fraction(2, 3) + 4 * (1 + excess / 2) * d * Fraction(5, 6)
        assert bounds.near == near < 2 * e + 4 * e**2 + (e + e**2) * Fraction(2, 3) + Fraction(10, 3) * (1 + e / 2) * e
        assert bounds.near < Fraction(3, 2)
        assert bounds.enough


@check(
    T18,
    grade="numeric",
    target="printed",
    supporting=True,
    cases="Z_15, Z_9 x Z_3; all places and pairs; 31 phases; singular values",
)
@proof_steps("divisible-by-three.md: 7")
@pytest.mark.parametrize("orders", [(15,), (9, 3)], ids=str)
def test_three_pairs_are_within_their_bound(orders: Orders) -> None:
    """With one part fixed the matrices of the other two have norms of at most delta_0, and come near."""
    group, chi = group_of(orders), group_of(orders).characters()
    n, bounds = group.n, wave_bounds(group.n)
    N, top = (n - 1) // 2, sqrt(2 / n) / (n - 1)
    chosen = [i for i, k in enumerate(group.elements) if 0 < i < group.number[group.sum((-1, k))]]
    basis = np.stack([chi[chosen].real, chi[chosen].imag], 1).reshape(2 * N, n) * sqrt(2 / n)
    parts = np.einsum("abc,ia,jb,kc->ijk", _payoff(orders), basis, basis, basis, optimize=True) / top
    for left_out, bound in ((None, bounds.mixed), (0, bounds.rest)):
        assert 0.8 * float(bound) < mixed_norm(parts, np.arange(2 * N) // 2, left_out) <= float(bound)


@check(
    T18,
    grade="sampled",
    target="printed",
    supporting=True,
    cases="Z_9, Z_3^2, Z_15: 30 ascents each, seed 4; 1e-9 of W",
)
@proof_steps("divisible-by-three.md: 8")
@pytest.mark.parametrize("orders", [(9,), (3, 3), (15,)], ids=str)
def test_ascents_end_at_waves(orders: Orders) -> None:
    """No ascent is above W, some reach it, and those that do have one pair in all parts."""
    chi, n = group_of(orders).characters(), group_of(orders).n
    top, reached = sqrt(2 / n) / (n - 1), 0
    for value, parts in ascents(_payoff(orders), 30, 4):
        assert value <= top * (1 + 1e-9)
        if value > top * (1 - 1e-9):
            reached += 1
            powers = [np.abs(chi @ x) ** 2 * 2 / n for x in parts]
            assert np.prod(powers, axis=0).max() > 1 - 1e-6
    assert reached > 0


@check(T18, grade="enclosed", target="printed", cases="Z_9, Z_3^2: the form by balls, the rank modulo a prime")
@proof_steps("divisible-by-three.md: 9")
@pytest.mark.parametrize("orders", [(9,), (3, 3)], ids=str)
def test_order_nine(orders: Orders) -> None:
    """The form of these weights is definite, and its least eigenvalue in floats says so too."""
    weights, _ = one_cell_weights(orders)
    assert only_waves(orders, weights)
    assert np.linalg.eigvalsh(wave_form(orders, weights))[0] > 0.01
    assert margins_decide(orders, weights)


@check(T18, grade="exact", target="printed", cases="Z_9, Z_3^2, Z_15, Z_9 x Z_3: the rank modulo a prime")
@proof_steps("divisible-by-three.md: 11")
@pytest.mark.parametrize("orders", [(9,), (3, 3), (15,), (9, 3)], ids=str)
def test_generic_cells_decide_all_others(orders: Orders) -> None:
    """A combination of the functions of a character that vanishes where a, b and a - b are not 0 is zero."""
    group, n = group_of(orders), group_of(orders).n
    full = [tuple(cell) for cell in np.argwhere(np.all(one_cell_weights(orders)[0][:, :, 1:] > 0, axis=2)).tolist()]
    assert full == [(a, b) for a, b in product(range(1, n), repeat=2) if a != b]
    p, chi = group.characters_modulo(1000)
    exponents = [(0, 0), (2, 0), (-2, 0), (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1)]
    for k in chi[1:]:
        values = [pow(k[a], i, p) * pow(k[b], j, p) % p for i, j in exponents for a, b in full]
        assert nmod_mat(9, len(full), values, p).rank() == 9
