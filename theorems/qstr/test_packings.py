"""Lemma 41: packings of the Euclidean ball, the ball of the 1-norm, and ellipsoids; `proofs/packings.md`."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, pairwise, product
from typing import Any, Literal

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, fmpq

from lemmata.numerics.groups.codes import near_orthogonal_codes
from lemmata.numerics.learning.covers import sparse_average
from lemmata.numerics.learning.packings import (
    ellipsoid_bound,
    ellipsoid_estimate,
    greedy_packing,
    least_squared_distance,
    minimal_vectors,
    sparse_bound,
    sparse_estimate,
    volume_bound,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

LEMMA = "qstr:lemma-41"


def _mp(x: fmpq) -> Any:
    return mpmath.mpf(int(x.p)) / int(x.q)


@counterexample(LEMMA, grade="exact")
@proof_steps("packings.md: 8")
@pytest.mark.parametrize(("lattice", "d", "count"), [("D4", 4, 25), ("E8", 8, 241)])
def test_shortest_vectors_exceed_the_plain_bound(lattice: Literal["D4", "E8"], d: int, count: int) -> None:
    """With the origin, scaled to norm 1: pairwise distances >= 1 > 0.999, and more points than the bound at 0.999."""
    vectors = minimal_vectors(lattice)
    points = np.concatenate([vectors, np.zeros((1, d), dtype=np.int64)])
    squares = (vectors**2).sum(axis=1)
    assert len({tuple(row) for row in points.tolist()}) == len(points) == count
    assert set(squares.tolist()) == {int(least_squared_distance(points))}
    bound = sparse_estimate(d, "999/1000").exp()
    assert arb(count) > bound
    assert abs(sparse_estimate(d, 1).exp() - {4: arb("24.465"), 8: arb("46.211")}[d]) < arb("0.001")
    assert volume_bound(d, 1) == 3**d  # the first estimate is not touched


@counterexample(LEMMA, grade="exact", cases="Q = 4, 8, 16: all pairs for Q = 4, all words of weight for Q = 8")
@proof_steps("packings.md: 8")
def test_no_constant_saves_the_second_estimate(record: Record) -> None:
    """Reed-Solomon words over F_Q with Q/2 terms, with Hadamard words: Q^(Q/2) unit vectors in Q^2 dimensions at
    pairwise distance >= 1, while the estimate at 1 is 1 + ln(1 + 2 Q^2): the quotient grows like Q/4."""
    quotients, words = [], []
    for order in (4, 8, 16, 64, 256):
        terms = order // 2
        if order <= 8:  # linear over F_2, so that all distances are those from the word of 0
            codes = near_orthogonal_codes(order**terms, order, terms)
            products = codes @ codes[0]
            if order == 4:
                assert least_squared_distance(codes) >= order**2
            else:
                assert len(codes) == 4096 > sparse_estimate(order**2, 1).exp()
                square = fmpq(int((codes[0] ** 2).sum()), order**2)
                distance = 2 * square - fmpq(2 * int(max(products[1:].tolist())), order**2)
                record.hypothesis(
                    "the words, over Q, lie in the unit ball: the squared norm, at Q = 8", square, "<=", 1
                )
                record.hypothesis("they are a packing at eps = 1: the least squared distance", distance, ">=", 1)
            words.append((order, codes, products))
        quotients.append(terms * arb(order).log() / sparse_estimate(order**2, 1))
    assert all(8 * after > 9 * before for before, after in pairwise(quotients))
    assert quotients[-1] > 50
    order = 2**20
    size, estimate = order // 2 * arb(order).log(), sparse_estimate(order**2, 1)
    record.violated("ln P <= 10^4 (1 + ln(1 + 2 d eps^2))/eps^2, at Q = 2^20, d = Q^2", size, "<=", 10**4 * estimate)
    for order, codes, products in words:
        assert set((codes**2).sum(axis=1).tolist()) == {order**2}
        assert 2 * max(products[1:].tolist()) <= order**2


@check(LEMMA, grade="exact", target="corrected", supporting=True)
@proof_steps("packings.md: 5")
@pytest.mark.parametrize("d", [50, 100, 400])
def test_the_constant_one_is_too_small_for_the_ball_of_the_one_norm(d: int) -> None:
    """The 2 d vertices are at distance >= sqrt 2 > 1.414, and ln(2 d) is above the estimate there, below 8 times it."""
    size = arb(2 * d).log()
    estimate = sparse_estimate(d, "1414/1000")
    some = np.eye(min(d, 20), dtype=np.int64)  # the others are at the same distances
    vertices = np.concatenate([some, -some])
    assert least_squared_distance(vertices) == 2
    assert estimate < size < 8 * estimate
    assert sparse_bound(d, "1414/1000") >= 2 * d


@check(LEMMA, grade="exact", target="corrected")
@proof_steps("packings.md: 1")
@pytest.mark.parametrize("pieces", [1, 2, 3, 7, 50])
def test_volumes_are_sharp_on_a_line(pieces: int) -> None:
    """2/eps + 1 points on [-1, 1] at distance eps: the bound; and on a line the ellipsoid is an interval."""
    eps = fmpq(2, pieces)
    points = [[-1 + eps * i] for i in range(pieces + 1)]
    assert least_squared_distance(points) == eps**2
    assert volume_bound(1, eps) == len(points)
    assert volume_bound(3, eps) == fmpq(pieces + 1) ** 3
    if pieces > 1:  # the 1-norm is the same on a line
        assert sparse_bound(1, eps) >= len(points)
    for half in (fmpq(1, 100), fmpq(1, 3), fmpq(5)):  # semi-axis
        assert ellipsoid_bound([half**2, 0], eps) >= arb((2 * half / eps).floor() + 1).log() - arb("1e-30")


@check(LEMMA, grade="exact", target="corrected")
@proof_steps("packings.md: 3")
def test_means_are_counted() -> None:
    """C(2 d + k, k) is the number of multisets of k of the 2 d + 1 vectors, counted one by one."""
    for d, eps, k in [(1, 1, 4), (2, 1, 4), (3, fmpq(3, 2), 2), (2, fmpq(4, 5), 7), (4, 2, 1), (1, "2/3", 9)]:
        multisets = sum(1 for _ in combinations_with_replacement(range(2 * d + 1), k))
        assert sparse_bound(d, eps) == multisets


@check(LEMMA, grade="exact", target="corrected", cases="d = 1, ..., 4, eps = 1/2, 2/3, 1, 7/5; grids of step 1/4")
@proof_steps("packings.md: 2, 3")
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_points_of_a_packing_have_different_means(d: int, effort: Effort) -> None:
    """Greedy packings of a grid in the ball of the 1-norm: each point is closer than eps/2 to a mean of k vectors, no
    two to the same one, and there are no more points than means."""
    step = effort.pick(quick=2 if d > 3 else 4, full=4)
    whole = [row for row in product(range(-step, step + 1), repeat=d) if sum(map(abs, row)) <= step]
    grid = [[fmpq(x, step) for x in row] for row in sorted(whole, key=lambda row: -sum(x * x for x in row))]
    for eps in (fmpq(1, 2), fmpq(2, 3), fmpq(1), fmpq(7, 5)):
        chosen = [grid[i] for i in greedy_packing(grid, eps)]
        assert least_squared_distance(chosen) >= eps**2
        assert len(chosen) >= 2 * d
        if d == 1 and (1 / eps).q == 1:
            assert len(chosen) == 2 / eps + 1
        k = int((4 / eps**2).ceil())
        means = [tuple(sparse_average(row, k).tolist()) for row in chosen]
        for row, mean in zip(chosen, means, strict=True):
            assert 4 * sum((x - y) ** 2 for x, y in zip(row, mean, strict=True)) < eps**2
        assert len(set(means)) == len(chosen) <= sparse_bound(d, eps)


@check(LEMMA, grade="numeric", target="corrected", cases="d = 1, ..., 10^6 and eps from 1/100 to 2")
@proof_steps("packings.md: 4")
def test_the_estimate_of_the_number_of_means() -> None:
    """ln C(2 d + k, k) <= 8 (1 + ln(1 + 2 d eps^2))/eps^2 (step 4), and the estimate is the formula."""
    for d in (1, 2, 10, 300, 10**6):
        for eps in (fmpq(1, 100), fmpq(1, 7), fmpq(1, 2), fmpq(1), fmpq(7, 5), fmpq(2)):
            estimate = sparse_estimate(d, eps)
            expected = float((1 + mpmath.log(1 + 2 * d * _mp(eps**2))) / _mp(eps**2))
            assert abs(float(estimate) - expected) < 1e-9 * expected
            assert arb(sparse_bound(d, eps)).log() <= 8 * estimate


@check(LEMMA, grade="symbolic", target="corrected", supporting=True)
@proof_steps("packings.md: 4, 6, 7")
def test_steps_of_the_estimates() -> None:
    """k (1 + ln(1 + n/k)) increases in k; ln(t)/t^2 decreases from sqrt e on; the numbers of step 6."""
    t = sympy.symbols("t", positive=True)
    slope = sympy.diff(sympy.log(t) / t**2, t)
    assert sympy.simplify(slope - (1 - 2 * sympy.log(t)) / t**3) == 0
    assert fmpq(7, 3) ** 2 > 3  # above e, so that 7/3 > sqrt e
    n, k = sympy.symbols("n k", positive=True)
    slope = sympy.diff(k * (1 + sympy.log(1 + n / k)), k)
    x = n / k
    assert sympy.simplify(slope - (1 + sympy.log(1 + x) - x / (1 + x))) == 0  # x/(1 + x) < 1
    cut = fmpq(2, 5)
    kept = fmpq(3, 5)
    assert kept**2 + 4 * cut**2 == 1
    radius = kept / 2
    assert (1 + radius / cut) / radius == fmpq(35, 6)
    assert fmpq(35, 6) * cut == fmpq(7, 3)
    assert (fmpq(35, 6) / fmpq(7, 3)) ** 2 == fmpq(25, 4)


@check(LEMMA, grade="numeric", target="corrected", cases="axes from 1/1000 to 1000 times eps, 1 to 5 of them")
@proof_steps("packings.md: 6, 7")
def test_the_bounds_of_ellipsoids_are_their_formulas(record: Record) -> None:
    """The product over the long axes by mpmath, below the sum over all of them, and equal to it at s = 2 eps/5."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        exponents = rng.integers(-1000, 1000, size=rng.integers(1, 6))
        axes = [fmpq(max(1, round(1000 * 10 ** (int(x) / 333))), 1000) for x in exponents]
        eps = fmpq(int(rng.integers(1, 20)), 10)
        bound, estimate = ellipsoid_bound([s**2 for s in axes], eps), ellipsoid_estimate([s**2 for s in axes], eps)
        long = [_mp(s) for s in axes if s >= fmpq(2, 5) * eps]
        expected = sum((mpmath.log(35 * s / (6 * _mp(eps))) for s in long), start=mpmath.mpf(0))
        assert abs(float(bound) - float(expected)) < 1e-12 * (1 + abs(float(expected)))
        assert bound <= estimate
        whole = (
            mpmath.mpf(25)
            / 4
            * mpmath.log(mpmath.mpf(7) / 3)
            * sum((_mp(s / eps) ** 2 for s in axes), start=mpmath.mpf(0))
        )
        assert abs(float(estimate) - float(whole)) < 1e-9 * float(estimate)
    both = [function([fmpq(4, 25)], 1) for function in (ellipsoid_bound, ellipsoid_estimate)]
    assert both[0].overlaps(both[1])
    assert both[0] > arb("0.847")
    assert ellipsoid_bound([fmpq(15, 100)], 1) == 0
    record.number("5.3", ellipsoid_estimate([fmpq(1)], 1), rounded="up")


@check(
    LEMMA,
    grade="numeric",
    target="corrected",
    cases="the supremum over semi-axes on a grid of 1/1000, the cut 2/5; 1, 2 and 7 equal axes",
)
@proof_steps("packings.md: 6")
def test_the_constant_of_ellipsoids_is_the_supremum_of_the_volumes() -> None:
    """Steps 5 and 6 by geometry: what is left of the distance 1 when axes below the cut are dropped, then volumes.

    Two points of the ellipsoid at distance 1 that differ as much as they can in the axes dropped, by twice the cut in
    the norm, are that far apart in the others; balls of half of it about the points of a packing fit into the ellipsoid
    blown up by 1 + radius/cut. The logarithm of the ratio of volumes over s^2 is largest for s >= cut at the cut.
    """
    cut = 0.4
    left = min(math.sqrt(1 - x * x) for x in np.linspace(0, 2 * cut, 2001).tolist())
    radius = left / 2

    def points(s: float, k: int) -> float:
        return k * math.log((1 + radius / cut) * s / radius)  # ratio of the volumes of k axes s

    worst = max((points(cut + i / 1000, 1) / (cut + i / 1000) ** 2, cut + i / 1000) for i in range(5000))
    assert worst[1] == cut
    assert abs(float(ellipsoid_estimate([fmpq(1)], 1)) / worst[0] - 1) < 1e-9
    for k in (1, 2, 7):
        for s in (fmpq(2, 5), fmpq(1), fmpq(9, 2)):
            assert abs(float(ellipsoid_bound([s**2] * k, 1)) / points(float(_mp(s)), k) - 1) < 1e-9
        assert ellipsoid_bound([fmpq(399, 1000) ** 2] * k, 1) == 0


@check(
    LEMMA, grade="sampled", target="corrected", supporting=True, cases="12 ellipsoids, 150 random points each, seed 1"
)
@proof_steps("packings.md: 6")
def test_packings_of_ellipsoids_are_smaller() -> None:
    """Greedy packings of 150 random points; the largest has more than a few points, so that this says something."""
    rng, largest = np.random.default_rng(1), 0
    for _ in range(12):
        d = int(rng.integers(1, 6))
        axes = [fmpq(int(a), 8) for a in rng.integers(1, 17, size=d)]
        points = []
        while len(points) < 150:
            row = [fmpq(int(a), 32) for a in rng.integers(-32, 33, size=d)]
            if sum((a * a for a in row), start=fmpq(0)) <= 1:
                points.append([a * s for a, s in zip(row, axes, strict=True)])
        size = len(greedy_packing(points, 1))
        largest = max(largest, size)
        assert arb(size).log() <= ellipsoid_bound([s**2 for s in axes], 1) + arb("1e-30")
    assert largest > 10
