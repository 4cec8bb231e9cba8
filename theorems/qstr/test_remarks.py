"""Remarks beside the theorems: averaged risks, the limit q d, the search over widths, and clipped outputs.

The general statements are proved in proofs/remarks.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.tokens.feed_forward import out_of_span
from lemmata.certificates.tokens.minimum_norm import generalising_norm, interpolation_norm, wide_samples
from lemmata.constructions.tokens.interpolation import (
    interpolating_readout,
    interpolating_recurrence,
    separating_direction,
    squared_norm,
)
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.tokens.clipped_bounds import clipped_excess_risk, clipping_level, fast_excess_risk
from lemmata.numerics.tokens.links import linear_link, max_link, mean_link
from lemmata.numerics.tokens.prompts import Prompts, averaged_risk, draw_prompts, pointwise_risk, population_risk
from lemmata.numerics.tokens.transformer_bounds import TokenTask, TransformerClass, excess_risk, truncation_level
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.qstr.test_transformer_risks import rademacher_by_hand

# ---- from points to averages


@check("qstr:remark-averaged-risk", grade="exact", target="printed", cases="N = 4, n = 3, all 64 choices; 3 predictors")
@proof_steps("remarks.md: 1")
def test_averages_deviate_no_more_than_points() -> None:
    """The averaged risk is the mean over all positions, and the largest deviation in a class at most its mean."""
    prompts = draw_prompts(9, 4, 2, 2, law="rational", seed=3)
    first, second = ([[1, 2], [-1, 0]], [[0, 1], [3, -2]])
    labels = prompts.labels(max_link(first, second))
    sums = [(prompts.selected() * as_exact(part)).sum(axis=(-2, -1)) for part in (first, second)]
    assert (labels == np.maximum(*sums)).all()
    links = (linear_link([[1, 0], [0, 1]]), mean_link(2, [2, -1]), max_link([[0, 1], [1, 1]], [[1, 0], [-2, 1]]))
    law = [fmpq(1, 9)] * 9
    sampled = [0, 4, 7]
    found, means = [], []
    deviations = []
    for link in links:
        guesses = prompts.labels(link)
        risk = population_risk(guesses, labels, law)
        points = [pointwise_risk(guesses[sampled], labels[sampled], j) for j in product(range(4), repeat=3)]
        averaged = averaged_risk(guesses[sampled], labels[sampled])
        assert averaged == ((guesses[sampled] - labels[sampled]) ** 2).sum() / 12
        assert risk == ((guesses - labels) ** 2).sum() / 36
        assert sum(points) / len(points) == averaged
        assert len(set(points)) > 1
        found.append(risk - averaged)
        deviations.append([risk - x for x in points])
    means = [max(one) for one in zip(*deviations, strict=True)]
    mean = sum(means) / len(means)
    assert max(found) < mean
    for level in (max(found) - 1, max(found), max(found) + 1, mean):
        truncated = sum(max(x - level, fmpq(0)) for x in means) / len(means)
        assert max(max(found) - level, fmpq(0)) <= truncated


# ---- the limit q d


def features(prompts: Prompts) -> Array:
    """The tokens that are asked for, one after the other, shape (n, N, q d)."""
    chosen = prompts.selected()
    return chosen.reshape(*chosen.shape[:2], -1)


@check(
    "qstr:remark-information-limit",
    grade="exact",
    target="printed",
    cases="(q, d) = (1, 3), (2, 2), (3, 2), n <= qd",
)
@proof_steps("remarks.md: 3, 4")
@pytest.mark.parametrize(("q", "d"), [(1, 3), (2, 2), (3, 2)])
def test_labels_at_fewer_points_have_two_explanations(q: int, d: int) -> None:
    """w and 2 P w - w give all labels that were seen; over a basis |w - P w|^2 has the mean 1 - n/(q d)."""
    prompts = draw_prompts(q * d, 6, d, q, law="rational", distinct=True, seed=q + d)
    positions = np.random.default_rng(d).integers(0, 6, q * d)
    assert all(len(set(t)) == q for t in prompts.indices.reshape(-1, q).tolist())
    for n in range(1, q * d + 1):
        rows = features(prompts)[np.arange(n), positions[:n]]
        basis = as_exact(np.eye(q * d, dtype=np.int64))
        outside = out_of_span(basis, rows)
        assert (outside * outside).sum() / (q * d) == 1 - fmpq(n, q * d)
        for w, out in zip(basis, outside, strict=True):
            twin = w - 2 * out
            assert (twin * twin).sum() == 1
            some, other = (prompts.labels(linear_link(x.reshape(q, d)))[:n] for x in (w, twin))
            assert (some[np.arange(n), positions[:n]] == other[np.arange(n), positions[:n]]).all()
            assert ((w - twin) ** 2).sum() == 4 * (out * out).sum()
            if n < q * d and (out * out).sum():
                assert (some != other).any()


@check("qstr:remark-information-limit", grade="exact", target="printed", cases="N = 6, q = d = 2: one prompt")
@proof_steps("remarks.md: 5")
def test_one_prompt_with_all_labels_can_be_enough() -> None:
    """The six features of one prompt span R^4, so that its labels determine a linear link."""
    prompts = draw_prompts(1, 6, 2, 2, law="rational", distinct=True, seed=1)
    outside = out_of_span(as_exact(np.eye(4, dtype=np.int64)), _independent_rows(features(prompts)[0]))
    assert not (outside != 0).any()


def _independent_rows(rows: Array) -> Array:
    """A largest set of independent rows, by elimination over the rationals."""
    kept: list[int] = []
    reduced: list[list[Fraction]] = []
    for number, row in enumerate(rows.tolist()):
        rest = [Fraction(int(x.p), int(x.q)) for x in row]
        for other in reduced:
            pivot = next(i for i, x in enumerate(other) if x)
            factor = rest[pivot] / other[pivot]
            rest = [a - factor * b for a, b in zip(rest, other, strict=True)]
        if any(rest):
            kept.append(number)
            reduced.append(rest)
    return rows[kept]


# ---- the search over d_h


@check(
    "qstr:remark-width-search",
    grade="enclosed",
    target="printed",
    cases="n = 4 samples, L = 2, 3, widths 4, 5, 9; (N, L) = (10^12, 2), (10^30, 3), r = 1/100",
)
@proof_steps("remarks.md: 6")
@pytest.mark.parametrize(("N", "L"), [(10**12, 2), (10**30, 3)])
def test_the_search_finds_networks_that_are_too_short(N: int, L: int) -> None:
    """Every width from n on interpolates, U = 0, at the same norm, below what any width needs for the risk 1/100."""
    n, length, d, encoding = 4, 3, 2, 3
    rng = np.random.default_rng(L)
    prompts = as_exact(np.rint(rng.standard_normal((n, length, d + encoding)) * 64).astype(np.int64)) / fmpq(64)
    position, t = rng.integers(0, length, n), rng.integers(0, length, n)
    X = prompts[np.arange(n), position, :d]
    y = prompts[np.arange(n), t, :d] @ as_exact(["3/5", "4/5"])
    vector = separating_direction(X, rng).vector
    norms = []
    for width in (n, n + 1, n + 5):
        network = interpolating_recurrence(interpolating_readout(X, y, vector, L, width), width, encoding)
        assert (network(prompts)[..., 0][np.arange(n), position] == y).all()
        norms.append(squared_norm(network))
    assert len(set(norms)) == 1
    assert norms[0] <= interpolation_norm(n, L)
    most = wide_samples(N, L, "1/100")
    assert most >= n
    needed = generalising_norm(N, L, "1/100")
    assert interpolation_norm(n, L) <= interpolation_norm(most, L) < needed
    assert interpolation_norm(most + 1, L) >= needed


# ---- clipping


TASKS = (TokenTask(100, 4, 2, 111), TokenTask(32768, 8, 4, 64, 2, 3, 2))


@check("qstr:remark-clipping", grade="enclosed", target="printed", cases="Gaussian labels; n = 10, 10^3, 10^6, 10^9")
@proof_steps("remarks.md: 7, 9")
@pytest.mark.parametrize("n", [10, 10**3, 10**6, 10**9])
def test_what_lies_beyond_the_clipping(n: int) -> None:
    """For y of N(0, 1), C_y = s = 1: E (|y| + B)^2 beyond B in closed form, at most n^(-1/2); the labels within B."""
    B = clipping_level(TASKS[0], n)
    density = (-(B**2) / 2).exp() / (2 * arb.pi()).sqrt()
    tail = (B / arb(2).sqrt()).erfc() / 2
    beyond = 2 * ((1 + B**2) * tail + 3 * B * density)
    assert beyond < 1 / arb(n).sqrt()
    assert 2 * n * tail < 1 / arb(n)
    assert 0 < 2 * ((1 + B**2) * tail - B * density) < 1 / arb(n).sqrt()  # the risk of y clipped to [-B, B]
    two = arb(2)
    fixed = 5 * two.sqrt().erfc() - 4 * (-two).exp() / (2 * arb.pi()).sqrt()  # the same for B = 2, at every n
    assert (fixed > 1 / arb(n).sqrt()) == (n >= 10**6)
    u = B**2 / arb(2).exp()
    assert u.exp() > n**2
    assert u.exp() > 8 * n * (16 + B**4)
    assert u < 8 * math.log(n) + 20


@check(
    "qstr:remark-clipping",
    grade="numeric",
    target="printed",
    cases="2 tasks, n = 10^12 and 10^16; weights up to 10^6 times as large",
)
@proof_steps("remarks.md: 8")
def test_with_clipping_the_norms_enter_by_their_logarithms() -> None:
    """The bound against step 8 in floats; weights 10^3 and 10^6 times as large cost the roots of logarithms.

    Where the cover of the matrices by volume is the smaller one, its logarithm ln(1 + c G/e) at a gain G of 10^12 is
    less than 4 times that at 1 with these e, and so the root less than twice.
    """
    for task, n in product(TASKS, (10**12, 10**16)):
        networks = TransformerClass(
            task.sparsity, 8, task.embedding_dimension, arb(1), arb(1), arb(10), task.embedding_norm(n)
        )
        clip = float(clipping_level(task, n))
        scale = float(str(task.label_scale))
        u = (clip**2 / (math.e**2 * scale)) ** (1 / task.label_power)
        assert abs(u - round(u)) < 1e-9
        assert math.exp(u) > max(n**2, 8 * n * (16**task.label_power * scale**2 + clip**4))
        bounds, free = [], []
        for factor in (1, 10**3, 10**6):
            large = replace(networks, outer=arb(factor), inner=arb(factor))
            found = float(clipped_excess_risk(task, large, n, fmpq(1, 10)))
            complexity, _ = rademacher_by_hand(large, 4 * clip**2, n)
            chance = 12 * clip**2 * math.sqrt(math.log(20) / (2 * n))
            assert abs(found / (2 * complexity + chance + n**-0.5) - 1) < 1e-9
            bounds.append(found)
            free.append(float(excess_risk(task, large, n, fmpq(1, 10))))
        assert bounds[0] < bounds[1] < bounds[2] < 2 * bounds[0]
        assert free[1] > 10**9 * free[0]  # of the order of the fourth power
        # N = d = q = H = A B = 1: 8 (4^2 + 2 * 4^2 + 2 * 3^2) = 528 bounds the fourth moment
        ones = TransformerClass(1, 1, 3, arb(1), arb(1), arb(1), arb(1))
        level, log = float(truncation_level(TokenTask(1, 1, 1, 1), ones, n)), math.log(2 * n * 528)
        assert level == pytest.approx(4 * max(math.e**2 * log, 2 * math.e * log + 3), rel=1e-12)


@check("qstr:remark-clipping", grade="enclosed", target="printed", cases="the task of the notebook; n = 10^9 to 10^16")
@proof_steps("remarks.md: 10")
def test_with_clipping_small_risks_are_found_at_a_fast_rate() -> None:
    """The bound of step 10; 10^10 prompts in place of 10^16; 1/n until n^(-1/2) is what remains."""
    task, found = TokenTask(1000, 4, 2, 64), {}
    for n in (10**9, 10**10, 10**11, 10**12, 10**16):
        networks = TransformerClass(2, 16, 196, arb(1), arb(1), arb(200), task.embedding_norm(n))
        found[n] = fast_excess_risk(task, networks, n, fmpq(1, 100))
        r, clip = networks.embedding_norm, clipping_level(task, n)
        reach, risks = (2 * r * r + 1).sqrt(), []
        for j in range(1, 60):
            rho = clip / 2**j
            readouts = (16 + 16 * 393) * (1 + 2 * reach / (rho / 4)).log()
            matrices = 2 * 196**2 * (1 + 2 * arb(2).sqrt() * 200 * r * 2 * r**2 / rho).log()
            risks.append((2 * rho + clip * (8 * (readouts + matrices + arb(100).log()) / n).sqrt()) ** 2)
        best = min(risks, key=to_float)
        assert found[n].overlaps(best + 1 / arb(n).sqrt() + 4 * clip**2 / (arb(1000) * n**3).sqrt())
        assert fast_excess_risk(task, networks, n, fmpq(1, 100), fmpq(1, 4)) > found[n] + 1
    assert found[10**9] > 1
    assert found[10**10] < fmpq(52, 100)
    assert found[10**10] > 8 * found[10**11]
    assert found[10**11] > 8 * found[10**12]
    networks = TransformerClass(2, 16, 196, arb(1), arb(1), arb(200), task.embedding_norm(10**16))
    assert excess_risk(task, networks, 10**16, fmpq(1, 100)) > 1
    assert clipped_excess_risk(task, networks, 10**16, fmpq(1, 100)) > 10**5 * found[10**16]


@check("qstr:remark-clipping", grade="exact", target="printed", supporting=True, cases="binomial laws, n = 5, 40, 300")
@proof_steps("remarks.md: 10")
def test_means_of_bounded_numbers_are_seldom_far_below() -> None:
    """P(sqrt(mean) < sqrt(mu) - sqrt(2 t/n)) <= e^-t for coins with mean mu, exactly; without the 2 it fails."""
    failed = False
    for n, mu in product((5, 40, 300), (fmpq(1, 50), fmpq(1, 5), fmpq(1, 2))):
        masses = [math.comb(n, k) * mu**k * (1 - mu) ** (n - k) for k in range(n + 1)]
        for k in range(int(n * mu) + 1):
            below = arb(sum(masses[: k + 1], start=fmpq(0)))
            b = arb(mu).sqrt() - arb(fmpq(k, n)).sqrt()
            assert below <= (-n * b * b / 2).exp()
            failed |= bool(below > (-n * b * b * 4).exp())
    assert failed
