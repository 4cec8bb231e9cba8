"""Section 2 and appendix A in the quantities of the library: complexities, covers, bounds and margins, by exhaustion.

The general statements are proved in proofs/sample_size.md; every bound is computed here a second time from its parts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction as Q
from itertools import combinations, product
from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.certificates.margins.attack import MarginTarget, replay, smallest_flip
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.balls import ball_min
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning.covers import (
    chaining_bound,
    dudley_bound,
    log_cover_size,
    margin_error_bound,
    margin_sample_size,
    maurey_cover,
    sparse_average,
)
from lemmata.numerics.learning.generalisation import erm_bound, rademacher_complexity
from lemmata.theorems.evidence import check, proof_steps

MASSES = [Q(1, 3), Q(2, 3)]


def exact(x: Q) -> fmpq:
    return fmpq(x.numerator, x.denominator)


# ---- Rademacher complexity


def by_definition(table: list[tuple[Q, ...]], n: int) -> Q:
    """E over samples and signs of sup_F (1/n) sum xi_i F(x_i), on two points of the masses 1/3 and 2/3."""
    total = Q(0)
    for sample in product((0, 1), repeat=n):
        weight = Q(1)
        for point in sample:
            weight *= MASSES[point]
        for signs in product((-1, 1), repeat=n):
            best = max(sum(sign * row[point] for sign, point in zip(signs, sample, strict=True)) for row in table)
            total += weight * best / (n * 2**n)
    return total


@check(
    "turing:definition-approx",
    grade="exact",
    target="printed",
    cases="all 511 classes of functions from two points, of masses 1/3 and 2/3, to {-1, 0, 1}; n = 1, 2, 3",
)
@proof_steps("sample_size.md: 1")
def test_rademacher_complexity_of_all_small_classes() -> None:
    """The definition, summed over all samples and signs; it is >= 0, and 0 exactly for one function."""
    functions = list(product((Q(-1), Q(0), Q(1)), repeat=2))
    count = 0
    for size in range(1, 10):
        for table in combinations(functions, size):
            for n in (1, 2, 3) if size < 4 else (1, 2):
                value = rademacher_complexity([list(row) for row in table], MASSES, n)
                assert value == exact(by_definition(list(table), n))
                assert (value == 0) == (size == 1)
                assert value >= 0
            count += 1
    assert count == 511


@check(
    "turing:proposition-2.2",
    grade="exact",
    target="printed",
    cases="all 81 pairs of losses in {0, 1/2, 1} on two points; n = 1, 2, 3",
)
@proof_steps("sample_size.md: 1")
def test_suprema_of_all_small_problems_are_at_most_twice_the_complexity() -> None:
    """E sup (L - L^) and E sup (L^ - L) are at most 2 Rad, and one point of the sample moves the suprema by 1/n."""
    largest = Q(0)
    for values in product((Q(0), Q(1, 2), Q(1)), repeat=4):
        table = [values[:2], values[2:]]
        expected = [MASSES[0] * row[0] + MASSES[1] * row[1] for row in table]
        for n in (1, 2, 3):
            twice = 2 * rademacher_complexity([list(row) for row in table], MASSES, n)
            suprema, above, below = {}, Q(0), Q(0)
            for sample in product((0, 1), repeat=n):
                gaps = [
                    L - sum((row[i] for i in sample), start=Q(0)) / n for L, row in zip(expected, table, strict=True)
                ]
                weight = Q(1)
                for i in sample:
                    weight *= MASSES[i]
                suprema[sample] = max(gaps)
                above, below = above + weight * max(gaps), below + weight * max(-gap for gap in gaps)
            assert exact(max(above, below)) <= twice
            if twice:
                largest = max(largest, max(above, below) / Q(str(twice)))
            for sample, place in product(suprema, range(n)):
                other = (*sample[:place], 1 - sample[place], *sample[place + 1 :])
                assert abs(suprema[sample] - suprema[other]) <= Q(1, n)
    assert largest > Q(1, 2)  # control: once the complexity would not be enough


@check("turing:proposition-2.2", grade="numeric", target="printed")
@proof_steps("sample_size.md: 4")
def test_the_bound_of_the_minimiser_from_its_parts() -> None:
    """3 eps + 2 sqrt(ln(2/delta)/(2 n)), and as printed 5 eps + 2 sqrt(ln(2/delta)/n)."""
    for eps, delta, n in product((Q(0), Q(1, 7)), (Q(1, 100), Q(1, 5)), (1, 9, 10**5)):
        deviation = (arb(exact(2 / delta)).log() / n).sqrt()
        e = arb(exact(eps))
        assert abs(erm_bound(eps, n, delta=delta) - (3 * e + 2 * deviation / arb(2).sqrt())) < 1e-12
        assert abs(erm_bound(eps, n, delta=delta, constants="printed") - (5 * e + 2 * deviation)) < 1e-12


# ---- covers


@check(
    "turing:fact-covering",
    grade="exact",
    target="corrected",
    cases="all theta = z/4 with integers z and ||theta||_1 <= 1 in dimensions 1, 2, 3; k = 1, ..., 6",
)
@proof_steps("sample_size.md: 8")
def test_means_of_picks_are_near_every_point_of_a_grid() -> None:
    """The mean of k picks: a multiple of 1/k in the ball, at squared distance <= (||theta||_1 - |theta|^2)/k <= 1/k."""
    attained = 0
    for p in (1, 2, 3):
        for z in product(range(-4, 5), repeat=p):
            if sum(map(abs, z)) > 4:
                continue
            theta = as_exact([Q(x, 4) for x in z])
            slack = sum((abs(x) for x in theta), start=fmpq(0)) - theta.dot(theta)
            for k in range(1, 7):
                gap = sparse_average(theta, k) - theta
                assert all((k * x).q == 1 for x in sparse_average(theta, k))
                assert sum((abs(x) for x in sparse_average(theta, k)), start=fmpq(0)) <= 1
                assert gap.dot(gap) <= slack / k
                attained += 0 < gap.dot(gap) == slack / k
    assert attained > 0


@check("turing:fact-covering", grade="numeric", target="corrected")
@check("turing:lemma-2.3", grade="numeric", target="corrected")
@proof_steps("sample_size.md: 11")
def test_the_size_of_covers_and_the_chaining_bound_from_their_parts() -> None:
    """ln N_j = ceil(4^j (alpha/gamma)^2) ln(2 p + 1), or 0 for one ball; the best J of the chain; the closed form.

    The number of different means is at most (2 p + 1)^k at the radius alpha/sqrt(k).
    """
    for p, k in ((1, 2), (2, 3), (3, 3)):
        assert arb(len(maurey_cover(p, k))).log() <= k * arb(2 * p + 1).log()
        assert len(maurey_cover(p, k)) > 1
    for alpha, gamma, p, n in product((Q(1), Q(20), Q(1, 3)), (Q(1), Q(3, 2)), (1, 2, 1000), (2, 17, 4000)):
        ratio, L = (alpha / gamma) ** 2, arb(2 * p + 1).log()
        sizes = [
            0 * L if j == 0 or 4**j * ratio <= 1 else -(-(4**j) * ratio // 1) * L for j in range(n.bit_length() + 2)
        ]
        for j, size in enumerate(sizes):
            assert abs(log_cover_size(j, alpha, gamma, p) - size) < 1e-12 * (1 + size)
        sums = [arb(1)]
        for J in range(1, len(sizes)):
            links = (3 * (2 * (sizes[j] + sizes[j - 1]) / n).sqrt() / 2**j for j in range(1, J + 1))
            sums.append(sum(links, start=arb(0)) + arb(1) / 2**J)
        assert abs(chaining_bound(n, alpha, gamma, p) - ball_min(sums)) < 1e-9
        root = arb(exact(ratio)).sqrt()
        closed = arb(4) / n + 12 * arb(2).sqrt() * root * (L / n).sqrt() * arb(n).log()
        assert abs(dudley_bound(n, alpha, gamma, p) - closed) < 1e-9 * (1 + closed)
        assert chaining_bound(n, alpha, gamma, p) <= closed


@check("turing:lemma-2.3", grade="numeric", target="corrected")
@proof_steps("sample_size.md: 12")
def test_the_error_bound_of_the_margin_from_its_parts() -> None:
    """eps + 2 Rad + sqrt(2 ln 200/n); and the smallest sample size meets its target where one example less does not."""
    for alpha, p, n, eps in product((1, 30), (1, 100), (50, 10**6), (Q(0), Q(1, 9))):
        parts = arb(exact(eps)) + 2 * chaining_bound(n, alpha, 1, p) + (2 * arb(200).log() / n).sqrt()
        assert abs(margin_error_bound(n, alpha, 1, p, eps=eps) - parts) < 1e-12
    for alpha, gamma, p in ((1, 1, 1), (10, Q(1, 2), 100)):
        n = margin_sample_size(Q(1, 10), alpha, gamma, p)
        assert margin_error_bound(n, alpha, gamma, p) <= arb(exact(Q(1, 10)))
        assert margin_error_bound(n - 1, alpha, gamma, p) > arb(exact(Q(1, 10)))


# ---- margins


def linear(x: tuple[int, ...]) -> Callable[[Any], Any]:
    return lambda theta: theta[..., 0] * x[0] + theta[..., 1] * x[1]


@check("turing:definition-all-layer-margin", grade="exact", target="corrected")
@proof_steps("sample_size.md: 5")
def test_targets_have_a_margin_exactly_where_they_are_right() -> None:
    """F(x, theta) = <theta, x> for all theta, x in {-1, 0, 1}^2 and both labels: refused where the prediction is wrong.

    Where it is right the margin is |<theta, x>|/|x|: the exact flips that the search finds are not shorter, and at most
    0.1 per cent longer.
    """
    seen = {True: 0, False: 0}
    for theta, x, label in product(product((-1, 0, 1), repeat=2), product((-1, 0, 1), repeat=2), (0, 1)):
        inner = theta[0] * x[0] + theta[1] * x[1]
        right = (2 * label - 1) * inner > 0
        seen[right] += 1
        if not right:
            with pytest.raises(ValueError, match="its margin is 0"):
                MarginTarget(as_exact(theta), linear(x), label)
            continue
        flip = smallest_flip(MarginTarget(as_exact(theta), linear(x), label), starts=2, steps=40)
        assert flip is not None
        assert Q(inner**2, x[0] ** 2 + x[1] ** 2) <= flip.norm_squared
        assert flip.norm_squared <= Q(1002, 1000) * Q(inner**2, x[0] ** 2 + x[1] ** 2)
    assert min(seen.values()) > 10


@check("turing:definition-all-layer-margin", grade="exact", target="corrected")
@proof_steps("sample_size.md: 5")
def test_hard_attention_has_flips_of_every_length() -> None:
    """Scores (0, theta), values (-1, 2), with the head of the library: right at theta = 0, and -10^-k flips for all k.

    So the margin is an infimum, 0, that is not attained, although the prediction is right.
    """
    one, zero = as_exact([[1]]), as_exact([0])

    def output(theta: Any) -> Any:
        key = Affine(as_exact([[theta[..., 0].item()]]), zero)
        head = Head(
            Affine(0 * one, as_exact([1])), key, Affine(2 * one, zero), weigh="hardmax", null=(zero, as_exact([-1]))
        )
        return head(as_exact([[0]]), one)[..., 0]

    target = MarginTarget(as_exact([0]), output, 1)
    assert target.exact_margin([Q(0)]) == Q(1, 2)
    for k in range(0, 40, 3):
        flip = replay(target, json.loads(json.dumps({"denominator": str(10**k), "numerators": {"0": "-1"}})))
        assert flip.margin == -1
        assert flip.norm_squared == Q(1, 10 ** (2 * k))
    with pytest.raises(ValueError, match="does not flip"):
        replay(target, {"denominator": "1", "numerators": {"0": "1"}})
