"""Theorem 7.1 for every norm, every exponent r and every homogeneous model: proofs/vanishing-penalty.md.

The steps of the proof are inequalities between the loss and the smallest margin, which are equalities for some outputs,
and a comparison of the minimiser with multiples of the best parameters. The bound that they give,
gamma_lambda >= gamma* T(s(lambda)), is compared with minimisers that are known otherwise: diagonal networks of degree
1 and 2 (norms L_1 and L_2, r = 1/2, 1, 2, 3), and quadratic networks for groups (norm L_{2,3}, r = nu = 3).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import torch
from flint import arb
from scipy.optimize import brentq, minimize_scalar

from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.certificates.game.regularised import regularised_optimum
from lemmata.certificates.saddle.groups import certify_cyclic
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.margins.vanishing_penalty import (
    least_size,
    loss_of_best_multiple,
    loss_range,
    margin_share,
    margin_share_bound,
)
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.tabulated_groups import tabulated
from lemmata.theorems.plugin import Effort

THEOREM = "feature-emergence:theorem-7.1"
EPS, TINY = np.finfo(float).eps, mp.mpf(10) ** -40


def mean_cross_entropy(margins: np.ndarray) -> Any:
    """Of outputs with the given margins (N, K - 1), by the definition, with 50 digits."""
    with mp.workdps(50):
        losses = [-mp.log(1 / mp.fsum([1, *(mp.exp(-mp.mpf(float(z))) for z in row)])) for row in margins]
        return mp.fsum(losses) / len(losses)


def decimal(ball: arb) -> Any:
    """The middle of a ball, with 50 digits."""
    with mp.workdps(50):
        return mp.mpf(ball.mid().str(60, radius=False))


@check(
    THEOREM,
    grade="numeric",
    target="printed",
    cases="100 draws of margins (seed 0), N <= 6, K <= 6: the two inequalities, and equality where they are attained",
)
@proof_steps("vanishing-penalty.md: 2")
def test_the_loss_lies_between_its_bounds_which_are_attained() -> None:
    """Step 2: equality where one wrong label of one example counts, and where all margins are equal."""
    random = np.random.default_rng(0)
    for _ in range(100):
        N, K = int(random.integers(1, 7)), int(random.integers(2, 7))
        margins = random.normal(size=(N, K - 1)) * 10 ** random.uniform(-1, 1.5)
        least = float(margins.min())
        low, high = (decimal(bound) for bound in loss_range(arb(least), N, K))
        loss = mean_cross_entropy(margins)
        alone = np.full((N, K - 1), 200.0)
        alone[0, 0] = least
        with mp.workdps(50):
            assert low * (1 - TINY) <= loss <= high * (1 + TINY)
            assert abs(mean_cross_entropy(np.full((N, K - 1), least)) - high) <= TINY * high
            assert abs(mean_cross_entropy(alone) - low) <= TINY * low


@check(THEOREM, grade="numeric", target="printed", cases="N <= 50, K <= 9, s = 1/2, 3, 20, 30: equality in every case")
@proof_steps("vanishing-penalty.md: 3")
@pytest.mark.parametrize(("N", "K"), [(1, 2), (1, 5), (3, 2), (4, 9), (50, 3)])
@pytest.mark.parametrize("size", [0.5, 3.0, 20.0, 30.0])
def test_the_share_of_the_margin_is_the_least_that_the_comparison_allows(N: int, K: int, size: float) -> None:
    """Step 3. The best parameters of the same norm have all margins s: loss log(1 + (K - 1) e^-s). Outputs with one
    finite margin h, of a single wrong label, have the same loss for h = s T(s), and a larger one for a smaller h.
    """
    share = float(margin_share(arb(size), N, K))
    comparison = mean_cross_entropy(np.full((N, K - 1), size))

    def alone(h: float) -> Any:
        margins = np.full((N, K - 1), 200.0)
        margins[0, 0] = h
        return mean_cross_entropy(margins)

    h = size * share  # rounded by some units of 2^-53
    assert alone(h) == pytest.approx(comparison, rel=1e-12)
    assert alone(h - 0.01) > comparison > alone(h + 0.01)


@check(THEOREM, grade="enclosed", target="printed", supporting=True, cases="a grid of s, N, K")
@proof_steps("vanishing-penalty.md: 5")
def test_the_share_increases_to_one() -> None:
    """Step 5, and its rate: T(s) = 1 - log(N (K - 1))/s + O(e^-s)."""
    with precision(256):
        _check_shares()


def _check_shares() -> None:
    for N, K in product((1, 2, 40), (2, 3, 30)):
        grid = [arb(k) / 4 for k in range(1, 240)] + [arb(10) ** k for k in range(2, 6)]
        values = [margin_share(size, N, K) for size in grid]
        if N * (K - 1) > 1:
            assert all(a < b for a, b in pairwise(values))
        for size, value in zip(grid[40:], values[40:], strict=True):
            expected = 1 - (N * (K - 1) * arb(1)).log() / size
            assert abs(value - expected) < N * K * (-size).exp() + arb("1e-60")


@check(THEOREM, grade="numeric", target="printed", cases="Z_3, Z_5, Z_7; lambda = 1e-2 to 1e-6; r = 1, 2, 3, 9/2")
@proof_steps("vanishing-penalty.md: 4")
@pytest.mark.parametrize("n", [3, 5, 7])
@pytest.mark.parametrize("r", [Fraction(1), Fraction(2), Fraction(3), Fraction(9, 2)])
def test_the_loss_of_the_multiple_is_that_of_the_max_margin_network(n: int, r: Fraction) -> None:
    """Step 4. At a max-margin network for Z_n all wrong labels tie, so that B is its loss exactly, once its norm to the
    power nu is log(1/lambda)/gamma*. The loss is evaluated by the code that users train with.
    """
    certificate = certify_cyclic(n, per_frequency=6, exact=False)
    network, gamma = certificate.network, float(certificate.gamma)
    points = np.hstack([np.repeat(np.eye(n), n, axis=0), np.tile(np.eye(n), (n, 1))])
    labels = torch.tensor((np.arange(n)[:, None] + np.arange(n)).ravel() % n)
    for exponent in (2, 4, 6):
        penalty = Fraction(1, 10**exponent)
        mass = exponent * math.log(10) / gamma
        larger = HomogeneousNetwork(network.hidden, network.readout, mass * network.masses, 2, network.norm_squared)
        loss = torch.nn.functional.cross_entropy(torch.tensor(larger(points).astype(float)), labels).item()
        loss += float(penalty) * float(larger.norm_power) ** float(r / 3)
        bound = float(loss_of_best_multiple(n, arb(gamma), penalty, r, 3))
        assert loss == pytest.approx(bound, rel=1e-9)
        size = least_size(n * n, n, arb(gamma), penalty, r, 3)
        oracle = mp.expm1(n * n * mp.mpf(loss))
        assert (size is None) == (oracle >= 1)
        if size is not None:  # the single example of smallest margin has all of the loss B, in the worst case
            assert math.log1p(math.exp(-float(size))) == pytest.approx(n * n * loss, rel=1e-8)


@check(
    THEOREM,
    grade="numeric",
    target="printed",
    cases="(N, K) = (1, 2), (4, 9), (50, 3); gamma* = 10^-3, 7; r = 1/2, 3; nu = 1, 3; lambda = 10^-2 to 10^-300",
)
@proof_steps("vanishing-penalty.md: 6")
def test_the_bound_from_its_parts() -> None:
    """Step 6: B, s(lambda) and T once more, in another arithmetic, together."""
    voids = 0
    cases = product(((1, 2), (4, 9), (50, 3)), (Fraction(1, 1000), Fraction(7)), (Fraction(1, 2), Fraction(3)), (1, 3))
    for ((N, K), gamma, r, nu), exponent in product(cases, (2, 20, 300)):
        with mp.workdps(400):
            size = mp.mpf(10) ** -exponent
            norm = -mp.log(size) * gamma.denominator / gamma.numerator
            power = norm ** (mp.mpf(r.numerator) / (r.denominator * nu))
            excess = (1 + (K - 1) * size) ** N * mp.exp(N * size * power) - 1
            bound = margin_share_bound(N, K, gamma, Fraction(1, 10**exponent), r, nu)
            assert (bound is None) == (excess >= 1)
            voids += bound is None
            if bound is not None:
                tail = (1 + (K - 1) * excess) ** N - 1
                assert float(bound) == pytest.approx(float(mp.log(tail) / mp.log(excess)), rel=1e-12, abs=1e-14)
    assert 0 < voids < 36


def diagonal_minimiser(a: np.ndarray, penalty: float, r: float) -> tuple[float, float]:
    """gamma_lambda and t = ||theta||_1 for f(theta, x_i) = a_i theta_i, two labels, the L_1 norm.

    The least value over t of mean log(1 + exp(-a_i theta_i)) + penalty t^r, where theta is the best one of norm t, for
    which a_i/(1 + exp(a_i theta_i)) = c or theta_i = 0, by convexity.
    """

    def parameters(log_c: float) -> np.ndarray:
        x = np.maximum(np.log(a) - log_c, math.log(2))
        return (x + np.log1p(-np.exp(-x))) / a

    def with_norm(t: float) -> np.ndarray:
        high, low = math.log(a.max() / 2), math.log(a.min() / 2) - (t + 1) * a.max()
        root: Any = brentq(lambda log_c: parameters(log_c).sum() - t, low, high, xtol=1e-13)
        return parameters(root)

    def objective(log_t: float) -> float:
        t = math.exp(log_t)
        return float(np.logaddexp(0, -a * with_norm(t)).mean()) + penalty * t**r

    grid = np.linspace(-3, 5, 81)
    start = int(np.argmin([objective(x) for x in grid]))
    ends = (grid[max(start - 1, 0)], grid[min(start + 1, 80)])
    t = math.exp(minimize_scalar(objective, bounds=ends, method="bounded", options={"xatol": 1e-12}).x)
    theta = with_norm(t)
    return float((a * theta).min()) / t, t


@check(
    THEOREM,
    grade="numeric",
    target="printed",
    cases="a = (1, 2, 4) (full: and (1, 1, 3, 9), (5, 7)); r = 1/2, 1, 2, 3; lambda = 10^-3, 10^-5, 10^-8, 10^-12; "
    "nu = 1 with L_1, nu = 2 with L_2",
)
@proof_steps("vanishing-penalty.md: 6")
@pytest.mark.parametrize("r", [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)])
def test_diagonal_networks_of_degree_one_and_two(r: Fraction, effort: Effort) -> None:
    """f = a_i theta_i with ||theta||_1, gamma* = 1/sum(1/a_i); and f = a_i x_i y_i with ||(x, y)||_2, of half that
    gamma*: the best (x, y) for given products theta has ||(x, y)||_2^2 = 2 ||theta||_1, so that the penalty with the
    exponent 2 r is 2^r times that of theta. The ratios rise and lie above the bound, which rises, too, and is not void.
    """
    for a in effort.pick(quick=((1, 2, 4),), full=((1, 2, 4), (1, 1, 3, 9), (5, 7))):
        _check_diagonal(a, r)


def _check_diagonal(a: tuple[int, ...], r: Fraction) -> None:
    values = np.array(a, dtype=float)
    gamma = 1 / sum((Fraction(1, x) for x in a), start=Fraction(0))
    last, proved = 0.0, -math.inf
    for exponent in (3, 5, 8, 12):
        penalty = Fraction(1, 10**exponent)
        margin, t = diagonal_minimiser(values, float(penalty), float(r))
        ratio = margin / float(gamma)
        bound = margin_share_bound(len(a), 2, gamma, penalty, r, 1)
        size = least_size(len(a), 2, gamma, penalty, r, 1)
        assert last - 1e-6 < ratio <= 1 + 1e-9
        if bound is not None and size is not None:
            assert float(size) <= float(gamma) * t
            assert proved < float(bound) <= ratio + 1e-9
            proved = float(bound)
        last = ratio
        product_margin, product_t = diagonal_minimiser(values, 2 ** float(r) * float(penalty), float(r))
        product_ratio = (product_margin / 2) / (float(gamma) / 2)
        product_bound = margin_share_bound(len(a), 2, gamma / 2, penalty, 2 * r, 2)
        if product_bound is not None:
            assert float(product_bound) <= product_ratio + 1e-9
            assert float(least_size(len(a), 2, gamma / 2, penalty, 2 * r, 2) or 0) <= float(gamma) * product_t
    assert proved > 0.85


@check(
    THEOREM,
    grade="numeric",
    target="printed",
    cases="S_3, D_4, Q_8, Z_4, A_4 with the L_{2,3} norm, r = nu = 3; lambda = 10^-20, 10^-60, 10^-200",
)
@proof_steps("vanishing-penalty.md: 6")
@pytest.mark.parametrize("name", ["S3", "D4", "Q8", "Z4", "A4"])
def test_quadratic_networks_for_groups(name: str) -> None:
    """The exact minimiser (ext-E6, proved otherwise) lies above the bound, and both tend to 1."""
    game, n = tabulated(name).game, tabulated(name).game.table.order
    gamma = float(closed_form_margin(game))
    last = 0.0
    for exponent in (20, 60, 200):
        penalty = Fraction(1, 10**exponent)
        optimum = regularised_optimum(game.table, penalty)
        ratio = optimum.normalised_margin / gamma
        bound = margin_share_bound(n * n, n, arb(gamma), penalty, 3, 3)
        size = least_size(n * n, n, arb(gamma), penalty, 3, 3)
        assert bound is not None
        assert size is not None
        assert float(size) <= optimum.norm * gamma
        assert last < float(bound) <= ratio <= 1 + 8 * EPS
        last = float(bound)
    assert last > 0.98
