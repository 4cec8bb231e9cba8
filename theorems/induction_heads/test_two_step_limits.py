"""Propositions 8.5 and E.3 in the limit of long contexts: explicit error bounds for all t, and their proof.

For w, v0, h1, h2 >= 0 and y = 2 eps < 1, with mu_n = y^n/(n+1) for even n >= 2 and 0 for odd n, M = sum mu_n,
M1 = sum n mu_n <= y^2/(1-y^2), N = t - j + 1, T(n) = n(n+1)/2, X_N = sum_(n<=N) (N-n+1) mu_n, the second step gives

    v_j   = beta mu_j 2 T(N)/t^2 + (alpha/t^2) X_N,       alpha = h2 (rho+c')/4,  beta = h2 (rho-c')/8,
    W_on, W_off = (h2/(8 t^2)) sum_j v_j^(1) (X_N +- mu_j T(N)),

where rho, c' and v^(1) are the weights after the first step. Everything rests on four inequalities:
(1) 0 <= X_N <= N M and N M - X_N <= M1, since N - n + 1 <= N and N M - X_N = sum_(n<=N) (n-1) mu_n + N sum_(n>N) mu_n;
(2) 1 - 2j/t <= 2 T(N)/t^2 <= 1 for j >= 2 (mu_1 = 0), since 2 T(N)/t^2 = (1 - (j-1)/t)(1 - (j-2)/t);
(3) sum_j X_N = sum_j mu_j T(N) = Y with M/2 - M1/t <= Y/t^2 <= M/2, by (2) and the order of summation;
(4) |rho - rho_limit|, |c' - c'_limit| <= v0 h1/(10 t) and 0 <= v_j^(1) - v0 <= 2 h1 w D/t, by `test_all_lengths`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import sympy
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.induction.curriculum import first_step_limit, last_logits, long_second_step, two_step_models
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.numerics.exact.log_two import LN2
from lemmata.numerics.markov.minimal_gradient import (
    flat_tensor,
    spread_moments,
    symmetric_tensor,
    v_gradient,
    w_gradient,
)
from lemmata.numerics.markov.minimal_trajectory import trajectory
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.induction_heads.segments import S, U, V, mean

B, A, D = (8 * LN2 - 5) / 12, (7 - 10 * LN2) / 6, fmpq(3, 2) - 2 * LN2


@dataclass(frozen=True)
class Sizes:
    """The constants of the module for rates and start, with rho and c' after the first step."""

    spread: float
    rho: float
    low: float
    v0: float
    h2: float

    @property
    def alpha(self) -> float:
        return self.h2 * (self.rho + self.low) / 4

    @property
    def beta(self) -> float:
        return self.h2 * (self.rho - self.low) / 8

    @property
    def total(self) -> float:
        """M = artanh(y)/y - 1."""
        return float(np.arctanh(2 * self.spread) / (2 * self.spread) - 1)

    @property
    def slope(self) -> float:
        """M1, at most y^2/(1 - y^2); here that bound."""
        return 4 * self.spread**2 / (1 - 4 * self.spread**2)

    def moments(self, count: int) -> NDArray[np.float64]:
        """mu_1, ..., mu_count."""
        n = np.arange(1, count + 1)
        return np.where(n % 2 == 0, (2 * self.spread) ** n / (n + 1), 0.0)


# ---- the weights after the second step


@check("induction-heads:proposition-E.3", grade="symbolic", target="printed", supporting=True)
@proof_steps("curriculum.md: 2")
def test_second_step_on_symmetric_chains_for_all_lengths() -> None:
    """One term of t C_jml for P = [[a, 1-a], [1-a, a]], where (P^n)_ij = (1 + lambda^n sigma_ij)/2, sigma = 2I - 11^T.

    pi_l sum_i (P_mi - 1/2)(P^(j-1))_li (P^A)_im = (lambda^(A+1) + sigma_ml lambda^j)/8: weighted with N - A, A < N,
    and averaged, it sums to (X_N + sigma_ml mu_j T(N))/8.
    """
    late, early, lam = sympy.symbols("late early lambda")  # lambda^A, lambda^(j-1)
    sigma = sympy.Matrix([[1, -1], [-1, 1]])
    for m in range(2):
        for l in range(2):
            term = sum(
                sympy.Rational(1, 2) * (lam * sigma[m, i] / 2) * (1 + early * sigma[l, i]) / 2
                * (1 + late * sigma[i, m]) / 2
                for i in range(2)
            )  # fmt: skip
            assert sympy.expand(term - lam * (late + sigma[m, l] * early) / 8) == 0
    # -dL/dv at W = c' 11^T + (rho - c') I: sum over m, l of W_ml (X + sigma_ml mu T)/8
    X, T, rho, low, mu = sympy.symbols("X T rho c mu")
    total = 2 * rho * (X + mu * T) / 8 + 2 * low * (X - mu * T) / 8
    assert sympy.expand(total - ((rho + low) / 4 * X + (rho - low) / 4 * mu * T)) == 0


@check("induction-heads:proposition-E.3", grade="symbolic", target="printed", supporting=True)
@proof_steps("curriculum.md: 1, 3")
def test_inequalities_of_the_proof() -> None:
    """(1) to (4) of the module, for all t: identities in t, j and n; the constants in Q + Q ln 2."""
    t, j, n, p, N = sympy.symbols("t j n p N", positive=True)
    # (1): N - (N - n + 1) = n - 1
    assert sympy.expand(N - (N - n + 1) - (n - 1)) == 0
    # (2): (1 - (j-1)/t)(1 - (j-2)/t) - (1 - 2j/t) = (3t + (j-1)(j-2))/t^2 > 0; each factor is at most 1 for j >= 2
    N_j = t - j + 1
    assert sympy.expand(N_j * (N_j + 1) - (t - (j - 1)) * (t - (j - 2))) == 0
    assert sympy.expand((t - j + 1) * (t - j + 2) - t * (t - 2 * j) - (3 * t + (j - 1) * (j - 2))) == 0
    # (3): sum over N <= t of (N - n + 1)_+ is T(t - n + 1)
    steps = sympy.Symbol("s", integer=True, positive=True)
    assert sympy.expand(sympy.summation(steps, (steps, 1, t - n + 1)) - (t - n + 1) * (t - n + 2) / 2) == 0
    # (4): (t+1)(t+2)/6 - t^2/6 = (3t+2)/6 <= 5t/6, the rests are at most L_a t/2 and A + |L_b| t/2
    limit_a = mean(U * V * (U + V - 4 * U * V) / S**4)
    limit_b = mean(-U * V * (U - V) ** 2 / S**4)
    assert B * fmpq(5, 6) + limit_a / 2 < fmpq(1, 10)
    assert A * fmpq(5, 6) + A - limit_b / 2 < fmpq(1, 10)
    # t g_j <= D N(N+3)/2 <= D t(t+3)/2 <= 2 D t^2
    assert sympy.expand(2 * t**2 - t * (t + 3) / 2 - 3 * t * (t - 1) / 2) == 0
    # the sum of the residuals in the mixture: (1/(p t^2)) sum_j (p-j+1)(t-j+1) is tau/2 - tau^2/6 + (3t+1)/(6t^2)
    i = sympy.Symbol("i", integer=True, positive=True)
    whole = sympy.summation(sympy.expand((p - i + 1) * (t - i + 1)), (i, 1, p)) / (p * t**2)
    tau = p / t
    assert sympy.simplify(whole - (tau / 2 - tau**2 / 6) - (3 * t + 1) / (6 * t**2)) == 0


@check("induction-heads:proposition-E.3", grade="exact", target="printed", supporting=True)
@proof_steps("curriculum.md: 1")
@pytest.mark.parametrize("t", [1, 2, 5, 20, 60])
def test_first_step_is_within_its_bound(t: int) -> None:
    C = flat_tensor(t)
    W = w_gradient(C, np.ones(t, dtype=int))
    assert abs(W[0, 0] / t**2 - B / 6) <= fmpq(1, 10 * t)
    assert abs(W[0, 1] / t**2 - A / 6) <= fmpq(1, 10 * t)
    g = v_gradient(C, np.ones((2, 2), dtype=int))
    assert all(0 <= x / t**2 <= 2 * D / t for x in g)


@check("induction-heads:proposition-E.3", grade="numeric", target="printed", cases="w = 1/4, v0 = 3, h1 = 2")
@proof_steps("curriculum.md: 1")
def test_limit_of_the_first_step_has_the_leading_constants() -> None:
    """w + v0 h1 B/6 on the diagonal, w + v0 h1 A/6 off it; B, A are averages over the flat prior. Five roundings."""
    gain = ((1 - U) * V + U * U) / S - sympy.Rational(1, 2)  # sum_i P_1i pi_i - 1/2
    leading = [mean(V / S * law * gain) for law in (V / S, U / S)]
    assert leading == [B, A]
    expected = 0.25 + 3.0 * 2.0 / 6 * np.array([[float(B), float(A)], [float(A), float(B)]])
    assert np.abs(first_step_limit(0.25, 3.0, 2.0) / expected - 1).max() < 5 * 2.0**-52


def deviations(model: MinimalModel, sizes: Sizes, h1w: float) -> list[tuple[float, float]]:
    """Pairs (deviation, bound) of the weights after the second step."""
    t = model.context
    mu = sizes.moments(t)
    v_bound = (sizes.alpha * sizes.total + 2 * sizes.beta * sizes.slope) / t
    on = sizes.h2 * sizes.v0 * sizes.total / 8
    grown = 2 * h1w * float(D) / t
    return [
        (float(np.abs(model.v - sizes.beta * mu).max()), v_bound),
        (on - model.W[0, 0], sizes.h2 * sizes.v0 * sizes.slope / (4 * t)),
        (model.W[0, 0] - on, sizes.h2 * grown * sizes.total / 8),
        (abs(model.W[0, 1]), sizes.h2 * grown * sizes.total / 8),
    ]


@check("induction-heads:proposition-E.3", grade="numeric", target="printed", cases="t = 10, 40, 100, eps = 1/10, 2/5")
@proof_steps("curriculum.md: 4")
@pytest.mark.parametrize("t", [10, 40, 100])
@pytest.mark.parametrize("spread", [Fraction(1, 10), Fraction(2, 5)])
def test_exact_weights_are_within_the_bounds(t: int, spread: Fraction) -> None:
    """|v_j - beta mu_j| <= (alpha M + 2 beta M1)/t by (1), (2); W by (3), (4): its v0 parts cancel off the diagonal.

    On the diagonal (h2 v0/(4t^2)) Y <= W_on <= that with v0 + 2 h1 w D/t. Bounds are compared with 1e-12 to spare.
    """
    w, v0, h1, h2 = fmpq(1, 3), fmpq(2), fmpq(30), fmpq(3, 2)
    first, second = two_step_models(t, fmpq(spread.numerator, spread.denominator), w, v0, h1, h2)
    sizes = Sizes(float(spread), float(first.W[0, 0]), float(first.W[0, 1]), 2.0, 1.5)
    found = MinimalModel(second.v.astype(float), second.W.astype(float))
    pairs = deviations(found, sizes, 10.0)
    assert all(deviation <= bound + 1e-12 for deviation, bound in pairs)
    assert pairs[0][0] > 0.1 * pairs[0][1]  # the bound of v is of the right order
    moved = MinimalModel(found.v * np.where(np.arange(t) == 1, 1.5, 1) + 0.2, found.W)  # negative control
    assert deviations(moved, sizes, 10.0)[0][0] > pairs[0][1]


# ---- fixed position


@check("induction-heads:proposition-E.3", grade="symbolic", target="printed", supporting=True)
@check("induction-heads:proposition-8.5", grade="symbolic", target="corrected", supporting=True)
@proof_steps("curriculum.md: 6")
def test_orders_of_the_limit_in_the_spread() -> None:
    """C_2 = Theta(eps^4) and the sum of the other C_j is O(eps^6), C_j = K M mu_j, K = h2^2 v0^2 h1 (B-A)/384.

    With y = 2 eps: M = sum y^(2k)/(2k+1) lies between y^2/3 and y^2/(3(1-y^2)), mu_2 = y^2/3, and the sum over even
    j >= 4 of mu_j is at most y^4/(5(1-y^2)).
    """
    assert B - A > 0
    y, k = sympy.symbols("y k", positive=True)
    # term by term: y^(2k)/(2k+1) <= y^(2k)/3 for k >= 1 and <= y^(2k)/5 for k >= 2; geometric series
    assert sympy.simplify(sympy.Rational(1, 3) - 1 / (2 * k + 1) - 2 * (k - 1) / (3 * (2 * k + 1))) == 0
    assert sympy.simplify(sympy.Rational(1, 5) - 1 / (2 * k + 1) - 2 * (k - 2) / (5 * (2 * k + 1))) == 0
    assert sympy.series(sympy.atanh(y) / y - 1, y, 0, 6).removeO() == y**2 / 3 + y**4 / 5
    # K M mu_j is the limit of W_on, h2 v0 M/8, times that of v_j, beta mu_j with rho - c' -> v0 h1 (B-A)/6
    h1, h2, v0, gap, M, mu = sympy.symbols("h1 h2 v0 gap M mu")
    assert (
        sympy.expand(h2 * v0 * M / 8 * (h2 / 8 * v0 * h1 * gap / 6) * mu - h2**2 * v0**2 * h1 * gap / 384 * M * mu) == 0
    )


def limit_at_a_fixed_position(x: Sequence[int], spread: float, v0: float, h1: float, h2: float) -> NDArray[np.float64]:
    """sum over even j <= p of C_j #{t' : x_t' = i, x_(t'-j+1) = x_p}, C_j = h2^2 v0^2 h1 (B-A)/384 M mu_j."""
    y, p = 2 * spread, len(x)
    K = h2**2 * v0**2 * h1 * float(B - A) / 384 * (np.arctanh(y) / y - 1)
    limit = np.zeros(2)
    for j in range(2, p + 1, 2):
        for s in range(j - 1, p):
            limit[x[s]] += K * y**j / (j + 1) * (x[s - j + 1] == x[-1])
    return limit


FIXED = "exact weights, t = 20, 60, 120 (w = 0, h1 = 30), all 64 sequences of length 6, eps = 1/10 and 1/4"


@check("induction-heads:proposition-E.3", grade="numeric", target="printed", cases=FIXED)
@check("induction-heads:proposition-8.5", grade="numeric", target="corrected", cases=FIXED)
@proof_steps("curriculum.md: 5")
@pytest.mark.parametrize("spread", [Fraction(1, 10), Fraction(1, 4)])
def test_exact_logits_at_a_fixed_position_approach_the_limit(spread: Fraction) -> None:
    """`trajectory` with rates h1/t^2, h2/t and decay 1 in both layers gives `two_step_models`, which tend to the limit.

    |f - limit| <= p(p+1)/2 times the largest |v_j W_ml - limit|, by the bounds of the module; every logit differs from
    its limit by less than a third of the largest limit at t = 120, so that rates or constants off by a factor fail.
    Rounding: the exact logits are compared as floats, 1e-12 is to spare.
    """
    w, v0, h1, h2, p = fmpq(0), fmpq(2), fmpq(30), fmpq(3, 2), 6
    eps = fmpq(spread.numerator, spread.denominator)
    distances = []
    for t in (20, 60, 120):
        start = np.full(t, v0, dtype=object), np.full((2, 2), w, dtype=object)
        first = trajectory(flat_tensor(t), *start, [h1 / t**2])[-1]
        symmetric = symmetric_tensor(t, spread_moments(eps, t + 1))
        second = trajectory(symmetric, first.v, first.W, [h2 / t], [fmpq(1)])[-1]
        models = two_step_models(t, eps, w, v0, h1, h2)
        for found, expected in zip(models, (first, second), strict=True):
            assert (found.v == expected.v).all()
            assert (found.W == expected.W).all()
        model = MinimalModel(models[1].v.astype(float), models[1].W.astype(float))
        rho, low = (float(v0 * h1) * float(c) / 6 for c in (B, A))  # limits; the weights are v0 h1/(10 t) from them
        sizes = Sizes(float(spread), rho, low, float(v0), float(h2))
        off = float(v0 * h1) / (10 * t)
        v_bound = (sizes.alpha * sizes.total + 2 * sizes.beta * sizes.slope) / t
        v_bound += float(h2) * off / 4 * (sizes.moments(2)[1] + 2 * sizes.total / t)  # rho, c' in alpha and beta
        on, w_bound = float(h2 * v0) * sizes.total / 8, float(h2 * v0) * sizes.slope / (4 * t)
        size = sizes.beta * sizes.moments(2)[1]
        bound = p * (p + 1) / 2 * (v_bound * (on + w_bound) + size * w_bound) + 1e-12
        largest, limits = 0.0, 0.0
        for x in np.ndindex(*(2,) * p):
            limit = limit_at_a_fixed_position(x, float(spread), float(v0), float(h1), float(h2))
            distance = np.abs(model(x)[-1] - limit).max()
            assert distance <= bound
            largest, limits = max(largest, distance), max(limits, limit.max())
        distances.append(largest / limits)
    assert distances[0] > 2 * distances[1] > 3 * distances[2]
    assert distances[2] < 1 / 3


@check("induction-heads:proposition-E.3", grade="numeric", target="printed", cases="t = 10^4, 10^6, one sequence of 20")
@check(
    "induction-heads:proposition-8.5", grade="numeric", target="corrected", cases="t = 10^4, 10^6, one sequence of 20"
)
@proof_steps("curriculum.md: 5")
def test_logits_at_a_fixed_position_approach_the_limit() -> None:
    """|f - limit| <= p^2/2 times the largest deviation of v_j W: by the bounds below K/t, at t = 10^4 and 10^6."""
    spread, w, h1 = 0.1, 0.01, 100.0
    W = first_step_limit(w, 1.0, h1)
    sizes = Sizes(spread, w + h1 * float(B) / 6, w + h1 * float(A) / 6, 1.0, 1.0)
    x = np.array([int(symbol) for symbol in "01101000110101110010"])
    p, mu, on = len(x), sizes.moments(20), sizes.total / 8
    limit = limit_at_a_fixed_position(x.tolist(), spread, 1.0, h1, 1.0)
    for t in (10**4, 10**6):
        model = long_second_step(t, spread, W, 1.0, 1.0)  # v^(1) = v0, so that W_off = 0 up to rounding
        (v_off, v_bound), (low, low_bound), *_ = deviations(model, sizes, 0.0)
        assert v_off <= v_bound
        assert low <= low_bound
        product = v_bound * (on + low_bound) + sizes.beta * mu.max() * low_bound
        assert np.abs(last_logits(model, x) - limit).max() <= p * (p + 1) / 2 * product + 1e-12
    assert p * (p + 1) / 2 * product < 0.05 * limit.max()  # not vacuous at t = 10^6


# ---- a position proportional to the length


def expected_logits(model: MinimalModel, P: NDArray[np.float64], p: int, m: int) -> NDArray[np.float64]:
    """E[f_p | x_p = m] for a stationary two-state chain; it is reversible: backwards it has the same matrix."""
    lam = P[0, 0] + P[1, 1] - 1
    pi = np.array([P[1, 0], P[0, 1]]) / (1 - lam)
    j = np.arange(1, p + 1)
    powers = lam ** np.arange(p + 1.0)
    total = np.zeros(2)
    for i in range(2):
        same = pi[m] + powers[:-1] * (float(i == m) - pi[m])  # (P^(j-1))_im
        reached = (p - j + 1) * pi[i] + (float(i == m) - pi[i]) * (1 - powers[:0:-1]) / (1 - lam)  # lam^(p-j+1)
        total[i] = (model.v[:p] * (model.W[m, m] * same + model.W[m, 1 - m] * (1 - same)) * reached).sum()
    return total


@check("induction-heads:proposition-E.3", grade="sampled", target="printed", supporting=True)
@proof_steps("curriculum.md: 8")
@pytest.mark.parametrize("m", [0, 1])
def test_expected_logits_are_averages_over_all_sequences(m: int) -> None:
    """p = 7, against the probabilities of 128 sequences; agreement to rounding of at most 10^4 operations."""
    P, p = np.array([[0.95, 0.05], [0.4, 0.6]]), 7
    rng = np.random.default_rng(3)
    model = MinimalModel(rng.standard_normal(9), rng.standard_normal((2, 2)))
    pi = np.array([P[1, 0], P[0, 1]]) / (P[1, 0] + P[0, 1])
    total, mass = np.zeros(2), 0.0
    for x in np.ndindex(*(2,) * p):
        if x[-1] == m:
            weight = pi[x[0]] * np.prod([P[x[s], x[s + 1]] for s in range(p - 1)])
            total, mass = total + weight * model(x)[-1], mass + weight
    assert mass == pytest.approx(pi[m], rel=1e-13)
    assert np.abs(total / mass - expected_logits(model, P, p, m)).max() < 1e-11


@cache
def long_model(t: int, w: float) -> MinimalModel:
    """Two steps at the length t, with v0 = h2 = 1, h1 = 100 and eps = 1/10."""
    return long_second_step(t, 0.1, first_step_limit(w, 1.0, 100.0), 1.0, 1.0)


def mixture(sizes: Sizes, P: NDArray[np.float64], m: int, tau: float, lags: int = 60) -> NDArray[np.float64]:
    """The limit of E[f_p | x_p = m]/(p W_on): pi_m (sum_j beta mu_j (P^(j-1))_m. + alpha M (tau/2 - tau^2/6) pi)."""
    lam = P[0, 0] + P[1, 1] - 1
    pi = np.array([P[1, 0], P[0, 1]]) / (1 - lam)
    mu = sizes.moments(lags)
    powers = pi + lam ** np.arange(lags)[:, None] * (np.eye(2)[m] - pi)
    return pi[m] * (sizes.beta * mu @ powers + sizes.alpha * sizes.total * (tau / 2 - tau**2 / 6) * pi)


@check(
    "induction-heads:proposition-E.3",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="p = tau t: a = 0.95, b = 0.6, eps = 0.1, t = 10^4, 10^6, tau = 0.01, 1/2, 1, w = 0.01, 1, both states",
)
@proof_steps("curriculum.md: 9")
@pytest.mark.parametrize("tau", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("w", [0.01, 1.0])
def test_expected_logits_at_a_proportional_position(w: float, tau: float) -> None:
    """E[f_p | x_p = m]/(p W_on) is within K/p of the mixture of bigram (and even lags) and unigram, for all t, p <= t.

    Proof: in E[f_p | x_p = m] = sum_j v_j (W (P^(j-1)))_(m i) ((p-j+1) pi_i + edge), |edge| <= 1/(1-|lambda|), and
    sum_j v_j <= (alpha + beta) M; so the edges cost (alpha+beta) M/(p (1-|lambda|)), and W_off (alpha+beta) M
    |W_off|/W_on. Write v_j = beta mu_j + r_j. In the first part (p-j+1)/p may be replaced by 1 and j > p added:
    2 beta M1/p. In the second (P^(j-1))_im by pi_m: alpha M/(t(1-|lambda|)) + 2 beta M1/t; X_N by N M: alpha M1/t;
    the sum over j by tau/2 - tau^2/6: alpha M (3t+1)/(6t^2), and the rest of r_j costs 2 beta M1/t.
    The tail of the lags beyond 60 is below 1e-40. For tau -> 0, p -> infinity, p = o(t), the bigram part alone is left.
    """
    P, spread = np.array([[0.95, 0.05], [0.4, 0.6]]), 0.1
    W = first_step_limit(w, 1.0, 100.0)
    sizes = Sizes(spread, w + 100 * float(B) / 6, w + 100 * float(A) / 6, 1.0, 1.0)
    lam, alpha, beta, M, M1 = 0.55, sizes.alpha, sizes.beta, sizes.total, sizes.slope
    for t in (10**4, 10**6):
        p = int(tau * t)
        model = long_model(t, w)
        off = abs(model.W[0, 1]) / model.W[0, 0]
        bound = (alpha + beta) * M * (1 / (p * (1 - lam)) + off) + 2 * beta * M1 / p
        bound += alpha * M / (t * (1 - lam)) + 4 * beta * M1 / t + alpha * (M1 + 2 * M / 3) / t
        for m in range(2):
            found = expected_logits(model, P, p, m) / (p * model.W[0, 0])
            assert np.abs(found - mixture(sizes, P, m, p / t)).max() <= bound + 1e-12
    assert bound < 0.1 * mixture(sizes, P, 1, tau).max()  # not vacuous at t = 10^6, p >= 10^4
    # the unigram part is of the order of the bigram part, as kappa >= 1, and not of a higher order in eps
    shares = []
    for width in (0.1, 0.01):
        parts = Sizes(width, W[0, 0], W[0, 1], 1.0, 1.0)
        shares.append(parts.alpha * parts.total * (tau - tau**2 / 3) / 2 / (parts.beta * parts.moments(2)[1]))
    assert shares[1] > 0.9 * shares[0]
    assert shares[1] >= tau - tau**2 / 3


@check("induction-heads:proposition-E.3", grade="symbolic", target="printed", supporting=True, cases="p = tau t")
@proof_steps("curriculum.md: 10")
def test_unigram_part_is_of_the_order_of_the_bigram_part_for_all_spreads() -> None:
    """alpha M (tau/2 - tau^2/6) over beta mu_2 is at least tau - tau^2/3 > 0 for every eps, so not O(eps^2).

    (alpha M/2)/(beta mu_2) = ((rho+c')/(rho-c')) (M/mu_2) >= 1, as c' >= 0 and M >= mu_2. Hence at p = tau t the
    limit of E[f_p | x_p = m]/p has a term proportional to pi beside the counts of bigrams, which at a fixed p it has
    not.
    """
    rho, low, h2, M, mu = sympy.symbols("rho c h2 M mu", positive=True)
    ratio = (h2 * (rho + low) / 4 * M / 2) / (h2 * (rho - low) / 8 * mu)
    assert sympy.simplify(ratio - (rho + low) / (rho - low) * M / mu) == 0
    assert sympy.expand((rho + low) - (rho - low) - 2 * low) == 0
