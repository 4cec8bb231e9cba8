"""Triangles with midpoints, and addition without one cell (ext-T8 to ext-T10; proofs/triangles.md).

The weights are held against laws that are counted triple by triple in plain loops, the form against its discrete
Fourier transform, the constants against exact fractions, and the last step against the rank of a linear system.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import gcd, prod, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from lemmata.certificates.operations.triangles import SIX_POINTS, one_cell_weights, triangle_law, wave_bounds
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.ascents import ascents, mixed_norm

T8 = "feature-emergence:ext-T8"
T9 = "feature-emergence:ext-T9"
T10 = "feature-emergence:ext-T10"
Floats = NDArray[np.float64]


def _counted_laws(orders: tuple[int, ...], weights: NDArray[np.int64]) -> list[Counter[object]]:
    """The six laws and the three marginals with d, element by element."""
    elements = list(product(*map(range, orders)))
    half = {tuple(2 * x % m for x, m in zip(e, orders, strict=True)): e for e in elements}

    def plus(*terms: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sum(one) % m for one, m in zip(zip(*terms, strict=True), orders, strict=True))

    laws: list[Counter[object]] = [Counter() for _ in range(9)]
    for (i, a), (j, b), (k, d) in product(enumerate(elements), repeat=3):
        mass = int(weights[i, j, k])
        if k == 0 or mass == 0:
            continue
        h = half[d]
        points = ((a, b), (plus(a, d), b), (a, plus(b, d)), (plus(a, h), b), (a, plus(b, h)), (plus(a, h), plus(b, h)))
        for law, point in zip(laws, (*points, (a, d), (b, d), (plus(a, b, d), d)), strict=True):
            law[point] += mass
    return laws


@check(T9, grade="exact", target="printed", cases="Z_n, n = 7, 11, 13, 17; Z_5^2")
@proof_steps("triangles.md: 6, 9")
@pytest.mark.parametrize("orders", [(7,), (11,), (13,), (17,), (5, 5)], ids=str)
def test_weights_without_one_cell_by_counting(orders: tuple[int, ...]) -> None:
    """One law on six points without (0, 0), uniform marginals, the sum, and the least value of a counted triangle."""
    weights, scale = one_cell_weights(orders)
    n = prod(orders)
    assert scale == (5 * n - 12) * (n - 5)
    laws = _counted_laws(orders, weights)
    zero = (0,) * len(orders)
    assert all(law == laws[0] for law in laws[1:6])
    assert (zero, zero) not in laws[0]
    for law in laws[6:]:
        assert len(law) == n * (n - 1)
        assert set(law.values()) == {scale * n}
    assert weights.min() == 0
    assert weights.sum() == scale * n**2 * (n - 1)
    positive = np.count_nonzero(weights)
    assert n == 7 or positive == (n - 1) * (n * n - 6)
    assert n == 7 or weights[weights > 0].min() >= 5 * n * (n - 8)


def _sums(orders: tuple[int, ...]) -> NDArray[np.int64]:
    """The addition table of Z_m x Z_m' x ..., elements numbered as in the weights."""
    digits = np.array(np.unravel_index(np.arange(prod(orders)), orders))
    found = np.ravel_multi_index(tuple(digits[:, :, None] + digits[:, None, :]), orders, mode="wrap")
    return np.asarray(found, np.int64)


def _form(orders: tuple[int, ...]) -> Floats:
    """T(u, v, w) of Z_m x Z_m' x ..., as an array over (a, b, c)."""
    weights, plus = one_cell_weights(orders)[0], _sums(orders)
    a, b, d = np.indices(weights.shape)
    form = np.zeros(weights.shape)
    shares = 2 * weights / weights.sum()
    np.add.at(form, (a, b, plus[a, b]), shares)
    np.add.at(form, (a, b, plus[plus[a, b], d]), -shares)
    return form


@check(T9, grade="numeric", target="printed", cases="Z_n, n = 7, 11, 13; Z_5^2; all coefficients; floats to 1e-12 of W")
@proof_steps("triangles.md: 8, 9")
@pytest.mark.parametrize("orders", [(7,), (11,), (13,), (5, 5)], ids=str)
def test_the_form_by_frequencies(orders: tuple[int, ...]) -> None:
    """Coefficients: W at a wave, 0 for one or two pairs otherwise, and those of R for three pairs."""
    n = prod(orders)
    top = sqrt(2 / n) / (n - 1)
    spectrum = np.fft.fftn(_form(orders).reshape(orders * 3)).reshape(n, n, n) / n**1.5
    wave = top * sqrt(2)  # T = Re(UVW^-) of unit parts = 2 (1/sqrt 2)^3 times the coefficient
    N, scale = (n - 1) // 2, (5 * n - 12) * (n - 5)
    characters = list(product(*map(range, orders)))

    def combined(*terms: tuple[int, int]) -> tuple[int, ...]:
        """A combination of characters, given by factors and numbers."""
        return tuple(sum(f * characters[x][i] for f, x in terms) % m for i, m in enumerate(orders))

    one, turned = combined(), [combined((-1, x)) for x in range(n)]
    mixed = 0
    for k, l, m in product(range(n), repeat=3):
        pairs = {min(characters[x], turned[x]) for x in (k, l, m)}
        value = abs(spectrum[k, l, m]) / wave
        if one in pairs or len(pairs) == 2:
            assert value < 1e-12
        elif len(pairs) == 1:
            assert value == pytest.approx(float(k == l and characters[m] == turned[k]), abs=1e-12)
        else:  # a constant -20/D of real parts, eight terms; and -1/D of one relation, two terms
            patterns = ((1, 1, 2), (1, -2, -1), (-2, 1, -1))
            relations = sum(combined((x, k), (y, l), (z, m)) == one for x, y, z in patterns)
            assert value == pytest.approx((5 + relations) / scale, abs=1e-12)
            mixed += 1
    assert mixed == 8 * N * (N - 1) * (N - 2)


@check(T9, T10, grade="exact", target="printed", cases="n = 11, ..., 400 prime to 6, in fractions; 7 is refused")
@proof_steps("triangles.md: 12, 15")
def test_the_constants_of_the_bound() -> None:
    """Both inequalities of steps 12 and 15, and the crude ones that replace them from 17 on."""
    assert not wave_bounds(7).enough
    # each of both inequalities is asked for: 13/25 says XY >= 1/25, so t <= 2/3 < (5/6)^2
    good = wave_bounds(11)
    assert not replace(good, aligned=Fraction(13, 25) - Fraction(1, 10**9)).enough
    assert not replace(good, near=Fraction(2)).enough
    least = 2 * Fraction(13, 25) - 1
    assert least == Fraction(1, 5) ** 2
    assert (1 - Fraction(1, 5)) / (1 + Fraction(1, 5)) == Fraction(2, 3) < Fraction(5, 6) ** 2
    for n in range(11, 401):
        if gcd(n, 6) > 1:
            continue
        bounds, N, scale = wave_bounds(n), (n - 1) // 2, (5 * n - 12) * (n - 5)
        assert bounds.enough
        assert bounds.aligned >= Fraction(13, 25)
        assert bounds.near < 2
        # M - 1 for matrices of M coordinates, 2 for each of three relations
        assert bounds.mixed == Fraction(20 * ((N - 1) - 1) + 3 * 2, scale)
        assert bounds.rest == Fraction(20 * ((N - 2) - 1) + 3 * 2, scale)
        square = N * bounds.mixed**2 + 2 * bounds.mixed * (1 - bounds.mixed)
        assert square + (1 - bounds.mixed) ** 2 * bounds.aligned == 1
        kappa = 1 + (N - 2) * bounds.rest**2
        root = Fraction(kappa + 1, 2)  # at least sqrt(kappa)
        d = bounds.mixed
        assert bounds.near == 2 * d + 4 * d**2 + (d**2 + kappa - 1) * Fraction(2, 3) + 4 * root * d * Fraction(5, 6)
        if n >= 17:
            assert bounds.mixed < Fraction(2, n - 5)
            assert kappa - 1 < Fraction(2, n - 5)
            assert bounds.aligned > 1 - Fraction(2 * (n - 3), (n - 7) ** 2) >= Fraction(72, 100)


@check(
    T9, grade="numeric", target="printed", cases="n = 11, 13; all places and frequencies; 31 phases; singular values"
)
@proof_steps("triangles.md: 10")
@pytest.mark.parametrize("n", [11, 13])
def test_three_pairs_are_within_their_bound(n: int) -> None:
    """Step 10: with one part fixed the matrices of the other two have norms of at most delta_0, and nearly reach it."""
    N, top, bounds = (n - 1) // 2, sqrt(2 / n) / (n - 1), wave_bounds(n)
    angles = 2 * np.pi / n * np.outer(np.arange(1, N + 1), np.arange(n))
    basis = np.stack([np.cos(angles), np.sin(angles)], 1).reshape(2 * N, n) * sqrt(2 / n)
    parts = np.einsum("abc,ia,jb,kc->ijk", _form((n,)), basis, basis, basis, optimize=True) / top
    for left_out, bound in ((None, bounds.mixed), (0, bounds.rest)):
        assert 0.9 * float(bound) < mixed_norm(parts, np.arange(2 * N) // 2, left_out) <= float(bound)


@check(T9, grade="sampled", target="printed", cases="n = 11, 13; 30 ascents each, seed 4; 1e-9 of W")
@proof_steps("triangles.md: 15")
@pytest.mark.parametrize("n", [11, 13])
def test_ascents_end_at_waves(n: int) -> None:
    """No ascent is above W, some reach it, and those that do have one frequency in all parts."""
    top, reached = sqrt(2 / n) / (n - 1), 0
    for value, parts in ascents(_form((n,)), 30, 4):
        assert value <= top * (1 + 1e-9)
        if value > top * (1 - 1e-9):
            reached += 1
            powers = [np.abs(np.fft.rfft(x)) ** 2 * 2 / n for x in parts]
            assert np.prod(powers, axis=0).max() > 1 - 1e-6
    assert reached > 0


@check(T8, grade="numeric", target="printed", cases="n = 3, 5, 7: ranks of both systems, singular values cut at 1e-9")
@proof_steps("triangles.md: 4")
@pytest.mark.parametrize(("n", "rank"), [(3, 18), (5, 100), (7, 246)])
def test_gradients_at_waves_say_no_less_and_no_more(n: int, rank: int) -> None:
    """The gradient at random waves is 3 gamma times the wave for the same q, up to the sum of q, as the laws allow."""
    rng = np.random.default_rng(8)
    triples = [(a, b, d) for a in range(n) for b in range(n) for d in range(1, n)]
    a, b, d = np.array(triples).T
    unit = np.eye(n)
    gradients = []
    for k in range(1, (n - 1) // 2 + 1):
        for _ in range(30 if n < 7 else 45):
            f, g = rng.uniform(0, 2 * np.pi, 2)
            t = 2 * np.pi * k * np.arange(n) / n
            u, v, w = np.cos(t + f), np.cos(t + g), np.cos(t + f + g)
            y, c = (a + b) % n, (a + b + d) % n
            hidden, turned = u[a] + v[b], w[y] - w[c]
            rows = (2 * hidden * turned * unit[:, a], 2 * hidden * turned * unit[:, b])
            rows += (hidden**2 * (unit[:, y] - unit[:, c]),)
            # paid as by the uniform q: (1/n) n/(n - 1) times these waves, of amplitude 1
            gradients += [
                x - n / (n - 1) * np.outer(z, np.ones(len(a))) / n for x, z in zip(rows, (u, v, w), strict=True)
            ]
    laws = []
    for i in range(len(triples)):
        weights = np.zeros((n, n, n), np.int64)
        weights[triples[i]] = 1
        points = [triangle_law([n], weights, one).ravel() for one in SIX_POINTS]
        x, z, r = triples[i]
        margins = [unit[s % n] for s in (x, z, x + z + r)]
        flat = [np.outer(one, unit[r, :])[:, 1:].ravel() - 1 / (n * (n - 1)) for one in margins]
        laws.append(np.concatenate([*(one - points[0] for one in points[1:]), *flat]))
    first, second = np.concatenate(gradients), np.array(laws, float).T
    ranks = [
        np.linalg.matrix_rank(x, tol=1e-9 * np.linalg.norm(x, 2)) for x in (first, second, np.vstack([first, second]))
    ]
    # both systems are homogeneous; that q has the sum 1 is the last condition
    assert ranks == [rank - 1] * 3


@check(
    T10, grade="numeric", target="printed", cases="Z_11, Z_13, Z_5^2: the least singular value, relative, above 1e-3"
)
@proof_steps("triangles.md: 19")
@pytest.mark.parametrize("orders", [(11,), (13,), (5, 5)], ids=str)
def test_generic_cells_decide_all_others(orders: tuple[int, ...]) -> None:
    """A combination of the nine characters of (a, b) that vanishes where a, b and a - b are not 0 is zero."""
    n = prod(orders)
    a, b = np.indices((n, n))
    weights = one_cell_weights(orders)[0]
    full = np.all(weights[:, :, 1:] > 0, axis=2)  # the cells all of whose triples have a positive weight
    assert np.array_equal(full, (a != 0) & (b != 0) & (a != b))
    exponents = [(0, 0), (2, 0), (-2, 0), (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1)]
    digits = np.array(np.unravel_index(np.arange(n), orders))
    for k in digits.T[1:]:
        angles = 2 * np.pi * (k / np.array(orders)) @ digits
        columns = [np.exp(1j * (i * angles[a] + j * angles[b]))[full] for i, j in exponents]
        values = np.linalg.svd(np.stack(columns, 1), compute_uv=False)
        assert values[-1] > 1e-3 * values[0]
