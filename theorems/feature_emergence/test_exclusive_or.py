"""The exclusive or without one cell (ext-T14; proofs/exclusive-or.md).

The weights are counted triple by triple in plain loops, the form is held against all of its coefficients in integers,
the constants against fractions, and the last step against the rank of a linear system in integers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from flint import fmpz_mat
from numpy.typing import NDArray

from lemmata.certificates.operations.exclusive_or import exclusive_or_bounds, exclusive_or_weights
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.ascents import ascents

T14 = "feature-emergence:ext-T14"


@check(T14, grade="exact", target="printed", cases="n = 8, 16, 32")
@proof_steps("exclusive-or.md: 1")
@pytest.mark.parametrize("n", [8, 16, 32])
def test_weights_without_one_cell_by_counting(n: int) -> None:
    """One law of the three corners, without (0, 0), uniform marginals, and where the weights are positive."""
    weights = exclusive_or_weights(n).tolist()
    laws: list[Counter[tuple[int, int]]] = [Counter() for _ in range(6)]
    zero = 0
    for a, b, d in product(range(n), range(n), range(1, n)):
        mass = weights[a][b][d]
        assert mass >= n - 5 or mass == 0
        zero += mass == 0
        for law, place in zip(laws, ((a, b), (a ^ d, b), (a, b ^ d), (a, d), (b, d), (a ^ b ^ d, d)), strict=True):
            law[place] += mass
    assert laws[0] == laws[1] == laws[2]
    assert laws[0][0, 0] == 0
    assert zero == 3 * (n - 1)
    assert not any(weights[a][b][0] for a, b in product(range(n), repeat=2))
    for law in laws[3:]:
        assert law == dict.fromkeys(product(range(n), range(1, n)), (n - 2) * (n - 3))


def _characters(n: int) -> NDArray[np.int64]:
    """All characters of Z_2^k, a row each: products of the two of Z_2."""
    found = np.ones((1, 1), np.int64)
    while len(found) < n:
        found = np.block([[found, found], [found, -found]])
    return found


def _form(n: int) -> NDArray[np.int64]:
    """The sum of the weights times u_a v_b (w_{a+b} - w_{a+b+d}) as an array over u, v, w."""
    weights = exclusive_or_weights(n)
    form = np.zeros((n, n, n), np.int64)
    a, b, d = np.nonzero(weights)
    np.add.at(form, (a, b, a ^ b), weights[a, b, d])
    np.add.at(form, (a, b, a ^ b ^ d), -weights[a, b, d])
    return form


@check(T14, grade="exact", target="printed", cases="n = 8, 16: all coefficients, in integers")
@proof_steps("exclusive-or.md: 2, 3")
@pytest.mark.parametrize("n", [8, 16])
def test_the_form_by_characters(n: int) -> None:
    """(n - 2)(n - 3) at one character, -1 at three different ones, else 0, also where one of them is 1: times n^2."""
    characters, spectrum = _characters(n), _form(n)
    for _ in range(3):
        spectrum = np.moveaxis(np.tensordot(characters, spectrum, axes=(1, 0)), 0, -1)
    k, l, m = np.indices((n, n, n))
    expected = np.where((k == l) & (l == m), (n - 2) * (n - 3), 0)
    expected = np.where((k != l) & (l != m) & (k != m), -1, expected)
    expected = np.where((k == 0) | (l == 0) | (m == 0), 0, expected)
    assert np.array_equal(spectrum, n**2 * expected)
    assert exclusive_or_weights(n).sum() == n * (n - 1) * (n - 2) * (n - 3)


@check(T14, grade="exact", target="printed", cases="n = 8, 16, ..., 2^40, in fractions")
@proof_steps("exclusive-or.md: 4")
def test_the_constants_of_the_bound() -> None:
    """Norms of the matrices of step 4, and both inequalities, by the crude numbers that cover every n."""
    good = exclusive_or_bounds(8)
    assert not replace(good, aligned=Fraction(13, 25) - Fraction(1, 10**9)).enough
    assert not replace(good, near=Fraction(2)).enough
    for n in (2**k for k in range(3, 41)):
        found, kappa = exclusive_or_bounds(n), Fraction(1, (n - 2) * (n - 3))
        # all ones but the diagonal, of order M: the largest eigenvalue is M - 1
        assert found.mixed == kappa * ((n - 2) - 1)
        assert found.rest == kappa * ((n - 3) - 1)
        assert found.aligned == 1 - Fraction(n - 2, (n - 3) ** 2) >= Fraction(19, 25)
        assert found.mixed <= Fraction(1, 6)
        excess = (n - 3) * found.rest**2
        assert excess < Fraction(1, 6)
        bound = 2 * found.mixed + 4 * found.mixed**2 + (found.mixed**2 + excess) * Fraction(2, 3)
        bound += 4 * (1 + excess / 2) * found.mixed * Fraction(5, 6)
        assert found.near == bound < Fraction(6, 5)
        assert found.enough
    unit = np.eye(6, dtype=np.int64)
    ones = 1 - unit  # with the eigenvalues 5, of all ones, and -1
    assert np.array_equal(ones @ ones, 4 * ones + 5 * unit)


@check(T14, grade="sampled", target="printed", supporting=True, cases="n = 8, 16; 40 ascents each, seed 4; 1e-9 of W")
@proof_steps("exclusive-or.md: 4")
@pytest.mark.parametrize("n", [8, 16])
def test_ascents_end_at_waves(n: int) -> None:
    """No ascent is above W, some reach it, and those that do have one character in all parts."""
    form, top = 2 * _form(n) / exclusive_or_weights(n).sum(), 2 / (sqrt(n) * (n - 1))
    reached = 0
    for value, parts in ascents(form, 40, 4):
        assert value <= top * (1 + 1e-9)
        if value > top * (1 - 1e-9):
            reached += 1
            powers = [(_characters(n) @ x) ** 2 / n for x in parts]
            assert np.prod(powers, axis=0).max() > 1 - 1e-6
    assert reached > 0


@check(T14, grade="exact", target="printed", cases="n = 8, 16: ranks of integers")
@proof_steps("exclusive-or.md: 6")
@pytest.mark.parametrize("n", [8, 16])
def test_margins_where_a_and_b_are_not_0_decide_all_others(n: int) -> None:
    """Differences of the labels c and a + b of a sum of chi(c) and chi(a + b + c) vanish there only if all do."""
    characters = _characters(n)[1:]
    a, b, d = np.nonzero(exclusive_or_weights(n))
    decides, fewer = (a != 0) & (b != 0), (a != 0) & (b == a)
    assert set(zip(a[decides], b[decides], d[decides], strict=True)) == set(product(range(1, n), repeat=3))
    for chosen, rank in ((decides, 2 * (n - 1)), (fewer, n - 1)):
        x, y = (a ^ b)[chosen], d[chosen]
        change = characters[:, x] - characters[:, x ^ y]
        rows = np.unique(np.concatenate([change, characters[:, x] * change]).T, axis=0)
        assert fmpz_mat(rows.tolist()).rank() == rank
