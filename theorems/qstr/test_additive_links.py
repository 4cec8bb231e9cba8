"""Additive links (after Assumption 2): their summands take P times what one takes, and the printed rates are too small.

Sums of bumps in many directions are far apart, and networks with few neurons are not that many; the proof is in
`proofs/additive-links.md`. Oracles are counts of residues, means over grids and interpolation written out.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.learning.additive_links import (
    RidgeSum,
    directions,
    least_neurons,
    most_bumps,
    squared_distance,
)
from lemmata.numerics.tokens.links import additive_link
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

RATES = "qstr:remark-assumption-2-rates"


@check(
    RATES,
    grade="exact",
    target="corrected",
    cases="k = 1, q = d = 2; P = 1, 3, 6 zigzags, distances and lines of random directions; R = 1, 2; R P/sqrt(eps) = "
    "6 P, 20 P; 30 points each",
)
@proof_steps("additive-links.md: 1")
@pytest.mark.parametrize("count", [1, 3, 6])
def test_summands_side_by_side(count: int) -> None:
    """Step 1: the error is at most sqrt(eps) with P (R P/sqrt(eps) + 2) neurons at most and the radii of the proof."""
    rng = np.random.default_rng(count)
    sides = ((3, 4, 0, 0), (1, 2, 2, 0), (2, 1, 4, 2), (1, 1, 1, 1), (-5, 3, 1, 1), (0, 0, 4, -3))
    lengths = (5, 3, 5, 2, 6, 5)
    shapes = (lambda s: abs(s - fmpq(1, 3)), lambda s: s, lambda s: abs(5 * s - 2 * ((5 * s + 1) / 2).floor()) / 5)
    for R, ratio in itertools.product((1, 2), (6, 20)):
        root, pieces = fmpq(R, ratio), ratio * count
        unit = [[fmpq(a, lengths[l % 6]) for a in sides[l % 6]] for l in range(count)]
        knots = [-R + fmpq(2 * R * k, pieces) for k in range(pieces + 1)]
        values = [[shapes[l % 3](t) for t in knots] for l in range(count)]
        link = additive_link(values, np.array(unit, dtype=object).reshape(count, 2, 2), R)
        for _ in range(30):
            x = [fmpq(int(a), 40) * R for a in rng.integers(-20, 21, 4)]
            projected = [sum((a * b for a, b in zip(u, x, strict=True)), fmpq(0)) for u in unit]
            wanted = sum((shapes[l % 3](s) for l, s in enumerate(projected)), fmpq(0))
            found = link(np.array(x, dtype=object).reshape(1, 2, 2))[0]
            assert abs(found - wanted) <= root
        assert link.width <= count * (R * count / root + 2)
        assert link.width * (link.output**2).sum() <= (6 * R * R * count * count / root) ** 2
        assert (link.weight**2).sum() + (link.bias**2).sum() <= 2 * link.width


@check(RATES, grade="exact", target="printed", supporting=True, cases="D = 3, r = 1 and 2: all residues modulo 7")
@proof_steps("additive-links.md: 2")
@pytest.mark.parametrize("reach", [1, 2])
def test_two_directions_are_independent(reach: int) -> None:
    """Step 2 on the grid of residues: every two of the directions take every pair of values equally often."""
    vectors = directions(3, reach)
    assert len(vectors) == (2 * reach + 1) ** 2
    grid = np.array(list(itertools.product(range(7), repeat=3)))
    values = grid @ vectors.T % 7
    for first, second in itertools.combinations(range(len(vectors)), 2):
        counts = np.bincount(7 * values[:, first] + values[:, second], minlength=49)
        assert (counts == 7).all()


@check(
    RATES,
    grade="numeric",
    target="printed",
    supporting=True,
    cases="D = 2, r = 1, K = 3; D = 3, r = 1, K = 2; random signs, grids of 301^2 and 61^3 points",
)
@proof_steps("additive-links.md: 3")
@pytest.mark.parametrize(("dimension", "bumps", "points"), [(2, 3, 301), (3, 2, 61)])
def test_the_distance_of_two_sums_of_bumps(dimension: int, bumps: int, points: int) -> None:
    """Step 3: the mean square of a difference over a grid is H/(12 K^3 R^2), and the largest is not below its root.

    All summands have slopes of at most 1 along their projections, and some reach it.
    """
    rng, vectors = np.random.default_rng(0), directions(dimension, 1)
    first, second = (rng.choice((-1, 1), size=(len(vectors), bumps)) for _ in range(2))
    # an odd number of midpoints on each side: two directions, whose minors are 1 and 2, stay independent on the grid
    axis = (np.arange(points) + 0.5) / points
    grid = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    g, h = RidgeSum(vectors, first), RidgeSum(vectors, second)
    away, wanted = g(grid) - h(grid), math.sqrt(squared_distance(int((first != second).sum()), bumps, dimension))
    # one direction of zigzags is integrated to (K/points)^2 of its mean square, and its mean to K/points^2
    assert abs(math.sqrt(np.mean(away**2)) / wanted - 1) < 4 * (bumps / points) * len(vectors)
    assert np.abs(away).max() > wanted > 0
    step = 1e-6
    for number, v in enumerate(vectors):
        moved = rng.random((1000, dimension))
        change = g.summands(moved + step * v / (v @ v))[:, number] - g.summands(moved)[:, number]
        slopes = np.abs(change) / (step / math.sqrt(v @ v))
        assert slopes.max() < 1 + 1e-6
        assert slopes.max() > math.sqrt(v @ v) / math.sqrt(dimension) * (1 - 1e-6)


@check(RATES, grade="exact", target="printed", supporting=True, cases="8 and 13 places, greedily")
@proof_steps("additive-links.md: 4")
@pytest.mark.parametrize("places", [8, 13])
def test_signs_that_differ_at_a_quarter_of_the_places(places: int) -> None:
    """Step 4: taken greedily there are at least 2^(0.188 n) signs, pairwise different at n/4 places or more."""
    taken: list[int] = []
    for word in range(2**places):
        if all(4 * (word ^ other).bit_count() >= places for other in taken):
            taken.append(word)
    assert len(taken) ** 4 * 2 ** (4 * places) >= 3 ** (3 * places)


def assert_signs_and_centres(denominator: int) -> None:
    """Steps 4 and 5: (1 + 2/eta)^(m (D + 2)) reaches all signs over a ball of a quarter of the places, exactly counted.

    The estimate of the ball by its entropy costs at most a multiple of the logarithm of the number n of places, which
    is 0.4 % of n at most.
    """
    eps, size = fmpq(1, denominator), 0.05 / math.sqrt(denominator)
    K, count = most_bumps(8, 1, eps), 3**7
    places = count * K
    quarter = -(-places // 4)
    ball, term = 0, 1
    for i in range(quarter):
        ball += term
        term = term * (places - i) // (i + 1)
    signs = math.log(2**places // ball)
    eta = 1 / math.sqrt(denominator) / (2 * size * 3)
    found = float(least_neurons(8, 1, eps, size)) * 10 * math.log1p(2 / eta)
    assert 0.996 * signs < found < signs


@counterexample(RATES, grade="enclosed", cases="k = 1, D = qd = 8, r = 10^20, eps = 1/100")
@proof_steps("additive-links.md: 5, 6")
def test_the_printed_rate_is_too_small(record: Record) -> None:
    """Step 6: more than P/sqrt(eps) neurons, times 10^6 and the tenth power of a logarithm, with as much for r_a.

    The bound is compared with exact counts of signs first.
    """
    for denominator in (100, 2500):
        assert_signs_and_centres(denominator)
    for denominator in range(50, 2500, 7):
        most, count, squared = most_bumps(8, 1, fmpq(1, denominator)), 3**7, fmpq(16, denominator)
        assert squared_distance(-(-count * most // 4), most, 8) > squared
        assert squared_distance(count * (most + 1) // 4, most + 1, 8) <= squared
    dimension, reach, eps = 8, 10**20, fmpq(1, 100)
    count = (2 * reach + 1) ** (dimension - 1)
    rate = arb(count) / arb(eps).sqrt()
    hidden = 10**6 * rate.log() ** 10
    needed = least_neurons(dimension, reach, eps, hidden * rate)
    K = most_bumps(dimension, reach, eps)
    longest = 1 + (dimension - 1) * reach**2
    far = squared_distance(-(-count * K // 4), K, longest)
    record.hypothesis("k = 1: every summand is a function of one projection, P of them", count, ">", 1)
    record.hypothesis("the summands are not constant: K >= 1 bumps each", K, ">=", 1)
    record.hypothesis("0 < eps_2NN", eps, ">", 0)
    record.hypothesis("two of the links are further than 4 sqrt(eps_2NN) apart, squared", far, ">", 16 * eps)
    record.violated(
        "m_g = P/sqrt(eps), times 10^6 ln(P/sqrt(eps))^10, is enough for all of them", needed, "<=", hidden * rate
    )
