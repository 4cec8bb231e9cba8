"""Lemma 5.1: a function H of a Gaussian vector whose mean over a blurred half-space is a given function.

The construction is exact for every polynomial and every noise level, zero included; clipped, it is bounded by
S C_eps(Phi, S), S = sqrt(1 + sigma^2). Printed is the bound C_eps(Phi, sigma), which no H meets for z^2 and large
sigma, and an error off target with log(gamma sigma)/(gamma sigma), which no H meets near gamma sigma = 1; the true one
is an arcus tangens. The proofs are in `proofs/indicator.md`; oracles are moments of Gaussian variables, quadratures,
and integrals in balls, which know nothing of Hermite expansions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import acb, arb, fmpq
from scipy.optimize import linprog
from scipy.sparse import bmat, csr_matrix, identity
from scipy.special import ndtr

from lemmata.certificates.duality.indicator_size import least_supremum
from lemmata.constructions.recurrent.indicator import (
    IndicatorFunction,
    clipping_error,
    clipping_level,
    indicator_function,
)
from lemmata.numerics.recurrent.complexities import complexity, polynomial, smooth_complexity
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

LEMMA = "rnn-sgd:lemma-5.1"
POLYNOMIALS = [[0, 1], [0, 0, 1], [1, 2, -3, 4, 5, -6, 7], [0, 0, 0, 0, 1, 0, 0, 1]]
VARIANCES = [fmpq(0), fmpq(1, 100), fmpq(2), fmpq(9)]


def _hermite_coefficients(degree: int) -> dict[int, Fraction]:
    """The coefficients of He_degree by power, from their closed form."""
    return {
        degree - 2 * j: Fraction(
            (-1) ** j * math.factorial(degree), math.factorial(j) * math.factorial(degree - 2 * j) * 2**j
        )
        for j in range(degree // 2 + 1)
    }


def _moment(power: int) -> int:
    """E Z^power."""
    return 0 if power % 2 else math.prod(range(1, power, 2))


def _half_space_mean(degree: int, paired: bool) -> tuple[sp.Expr, sp.Expr]:
    """E[1{G >= 0} He_degree(alpha) beta^paired] = first + second/sqrt(2 pi), polynomials in the two correlations.

    alpha = p G + u and beta = q G + v, where (u, v) is independent of G, with variances 1 - p^2, 1 - q^2 and covariance
    -pq, as alpha and beta are independent. E[u^j v] = j E[u^(j-1)] (-pq). E[1{G>=0} G^k] is half a moment for even k
    and (k - 1)!!/sqrt(2 pi) for odd k.
    """
    p, q = sp.symbols("p q")
    parts = [sp.Integer(0), sp.Integer(0)]
    for power, coefficient in _hermite_coefficients(degree).items():
        for j in range(power + 1):  # u^j (pG)^(power - j)
            ways = (
                sp.binomial(power, j) * p ** (power - j) * sp.Rational(coefficient.numerator, coefficient.denominator)
            )
            alone = _moment(j) * (1 - p**2) ** (j // 2) if j % 2 == 0 else sp.Integer(0)
            mixed = j * _moment(j - 1) * (1 - p**2) ** ((j - 1) // 2) * (-p * q) if j % 2 else sp.Integer(0)
            pieces = [(power - j + 1, q * alone), (power - j, mixed)] if paired else [(power - j, alone)]
            for k, factor in pieces:
                if k % 2:
                    parts[1] += ways * factor * math.prod(range(2, k, 2))
                else:
                    parts[0] += ways * factor * sp.Rational(_moment(k), 2)
    return sp.expand(parts[0]), sp.expand(parts[1])


@check(LEMMA, grade="symbolic", target="corrected", cases="powers z^1, ..., z^12, all t and sigma >= 0")
@proof_steps("indicator.md: 2")
@pytest.mark.parametrize("degree", range(1, 13))
def test_the_mean_is_the_polynomial(degree: int) -> None:
    """weight * E[1{G >= 0} He_i(alpha) g(beta)] = t^i as polynomials in t and S, with p = t/S and q = 1/(2S)."""
    t, S, p, q = sp.symbols("t S p q")
    function = indicator_function([0] * degree + [1], 1)
    (term,) = function.terms
    rational, root_part = _half_space_mean(term.degree, term.paired)
    assert rational == 0
    value = root_part.subs({p: t / S, q: 1 / (2 * S)}) * sp.Rational(int(term.rational.p), int(term.rational.q))
    assert sp.expand(value * S**term.power - t**degree) == 0  # sqrt(2 pi) of the weight cancels


@check(
    LEMMA, grade="symbolic", target="corrected", supporting=True, cases="even degrees 2, ..., 12, all t and sigma >= 0"
)
def test_even_powers_need_a_second_coordinate() -> None:
    """E[1{G >= 0} He_i(alpha)] = 0 for even i: a function of <w, a> alone gives no even part in t; H takes a vector."""
    for degree in range(2, 13, 2):
        assert _half_space_mean(degree, paired=False) == (0, 0)
        assert _half_space_mean(degree, paired=True)[1] != 0


@cache
def _nodes() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nodes and weights for alpha on [-14, 14] and, split at 0, for beta; both with the normal density."""
    points, weights = np.polynomial.legendre.leggauss(300)
    alpha = 14 * points
    half = 6.5 * (points + 1)
    beta = np.concatenate([half, -half])
    density = [np.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in (alpha, beta)]
    return alpha, 14 * weights * density[0], beta, np.tile(6.5 * weights, 2) * density[1]


def _mean(function: IndicatorFunction, t: float, variance: float) -> float:
    """E[1{<a, x> + n >= 0} H(a)] by quadrature: the indicator has the mean N((t alpha + beta/2)/tau) given both."""
    alpha, first, beta, second = _nodes()
    tau = math.sqrt(0.75 - t * t + variance)
    grid = np.meshgrid(alpha, beta, indexing="ij")
    values = function(*grid) * ndtr((t * grid[0] + grid[1] / 2) / tau)
    return float(first @ values @ second)


@check(
    LEMMA,
    grade="numeric",
    target="corrected",
    cases="4 polynomials of degree at most 7, 4 noise levels from 0 to 3, t = -0.8, 0.1, 0.85",
)
@proof_steps("indicator.md: 2, 3")
@pytest.mark.parametrize("partner", ["linear", "sign"])
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("coefficients", POLYNOMIALS, ids=str)
def test_quadrature_gives_the_polynomial(coefficients: list[int], variance: fmpq, partner: str) -> None:
    """To 1e-10 of sup |H| e^{-a^2/2}, with 300 nodes in each direction; the values lie between -20 and 20."""
    function = indicator_function(coefficients, variance, partner)  # pyright: ignore[reportArgumentType]
    noise = int(variance.p) / int(variance.q)
    scale = 1 + float(sum((abs(w) for w in function.weights()), arb(0))) * 100
    for t in (-0.8, 0.1, 0.85):
        expected = sum(c * t**i for i, c in enumerate(coefficients))
        assert abs(_mean(function, t, noise) - expected) < 1e-13 * scale + 1e-12


@check(
    LEMMA,
    grade="numeric",
    target="corrected",
    supporting=True,
    cases="4 polynomials, sigma^2 = 2, gamma = 2, 5, t = -0.8, 0.85",
)
@proof_steps("indicator.md: 8")
@pytest.mark.parametrize("gamma", [2, 5])
@pytest.mark.parametrize("coefficients", POLYNOMIALS, ids=str)
def test_the_value_off_target(coefficients: list[int], gamma: int) -> None:
    """c_0 + sum c_i t^i (S/S_gamma)^i, with one more factor for even i, from the quadrature with the larger noise."""
    function = indicator_function(coefficients, 2)
    ratio = math.sqrt(3 / (1 + 2 * gamma**2))
    for t in (-0.8, 0.85):
        expected = sum(c * (t * ratio) ** i * (ratio if i and i % 2 == 0 else 1) for i, c in enumerate(coefficients))
        assert abs(_mean(function, t, 2 * gamma**2) - expected) < 1e-9


@check(
    LEMMA,
    grade="numeric",
    target="corrected",
    cases="z, z^2 and a polynomial of degree 6, clipped at 2 and 3",
)
@proof_steps("indicator.md: 4")
@pytest.mark.parametrize("coefficients", POLYNOMIALS[:3], ids=str)
@pytest.mark.parametrize("level", [2.0, 3.0])
def test_clipping_keeps_the_mean(coefficients: list[int], level: float) -> None:
    """E H = 2 Phi(0), and clipping moves the mean over the half-space, by at most what `clipping_error` says.

    The nodes are symmetric, so that the mean of what is odd is 0 but for rounding. Beyond the level the constant is
    left; for z the supremum is attained at the level; and the error is compared with its formula in floats.
    """
    full = indicator_function(coefficients, 1, "sign")
    cut = full.clipped([level] * len(full.terms))
    alpha, first, beta, second = _nodes()
    grid = np.meshgrid(alpha, beta, indexing="ij")
    assert abs(first @ cut(*grid) @ second - 2 * coefficients[0]) < 1e-9 * float(cut.supremum())
    moved = abs(_mean(cut, 0.7, 1.0) - _mean(full, 0.7, 1.0))
    assert 1e-4 < moved < float(clipping_error(cut))
    assert np.abs(cut(*grid)).max() <= float(cut.supremum())
    assert cut(np.array([1.001 * level, -1.001 * level]), np.array([1.0, -1.0])).tolist() == [2 * coefficients[0]] * 2
    if coefficients == [0, 1]:
        assert abs(cut(np.array([level]), np.array([0.0]))[0] - float(cut.supremum())) < 1e-12
    outside = 2 * ndtr(-level)
    formula = [
        abs(float(w)) * math.sqrt(math.factorial(term.degree) * outside)
        for w, term in zip(cut.weights(), cut.terms, strict=True)
    ]
    assert abs(float(clipping_error(cut)) / math.fsum(formula) - 1) < 1e-12


@check(
    LEMMA,
    grade="enclosed",
    target="corrected",
    cases="4 polynomials, 4 noise levels from 0 to 3, constants 25 and 10^4, eps at the limit and 10^-12 of it",
)
@proof_steps("indicator.md: 5, 6")
@pytest.mark.parametrize("constant", [25, 10**4])
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("coefficients", POLYNOMIALS, ids=str)
def test_the_clipped_function_is_bounded_and_near(coefficients: list[int], variance: fmpq, constant: int) -> None:
    """With the levels of the proof sup |H| <= S C_eps(Phi, S), and what is clipped has mean at most eps/K."""
    phi, S = polynomial(coefficients), (1 + arb(variance)).sqrt()
    for share in (fmpq(1), fmpq(1, 10**12)):
        epsilon = (1 / (S * smooth_complexity(phi, S, constant))).lower() * arb(share)
        full = indicator_function(coefficients, variance, "sign")
        function = full.clipped([clipping_level(term.degree, epsilon) for term in full.terms])
        assert function.supremum() <= S * complexity(phi, S, epsilon, constant)
        assert clipping_error(function) <= epsilon / constant


@check(LEMMA, grade="enclosed", target="corrected", supporting=True)
@proof_steps("indicator.md: 6")
def test_constants_of_the_size() -> None:
    """Steps 5 and 6: both sequences decrease from i = 2 on, so that the first terms decide."""
    base = 2 * arb(8).sqrt() * (arb(9) / 16).exp()
    assert base < arb("9.93")
    for i in range(1, 60):
        factor = arb.pi() if i % 2 == 0 else (2 * arb.pi()).sqrt() / 2
        assert base * (factor * i) ** (arb(1) / i) <= 25
        assert 2 * arb.pi() * i * arb(-2 * i).exp() <= arb(i + 1) ** fmpq(7, 4)


def _mean_distance(s: arb) -> arb:
    """E|N(Z/s) - 1/2| = 2 int_0^20 (N(z/s) - 1/2) phi(z) dz, enclosed; the rest is below phi(20)."""
    root = arb(2).sqrt()

    def integrand(z: acb, _: bool) -> acb:
        return (z / (s * root)).erf() / 2 * (-z * z / 2).exp()

    inside = acb.integral(integrand, 0, 20).real * 2 / (2 * arb.pi()).sqrt()
    return inside + arb(0, (arb(-200)).exp())


@check(
    LEMMA,
    grade="enclosed",
    target="corrected",
    cases="gamma sigma = 1/10, 1, 10; bounded H of z, z^2 and a polynomial of degree 6",
)
@proof_steps("indicator.md: 7")
@pytest.mark.parametrize("s", [fmpq(1, 10), fmpq(1), fmpq(10)])
def test_the_bound_off_target_is_sharp(s: fmpq) -> None:
    """H = C' sign<a, x> attains (C'/pi) arctan(1/s); the constructed functions stay below it, on a known side of 0."""
    bound = (1 / arb(s)).atan() / arb.pi()
    value = _mean_distance(arb(s))
    assert value.overlaps(bound)
    assert value.rad() < arb("1e-10")
    gamma_sigma = int(s.p) / int(s.q)
    for coefficients in POLYNOMIALS[:3]:
        function = indicator_function(coefficients, 1, "sign")
        cut = function.clipped([3.0] * len(function.terms))
        off = abs(_mean(cut, 0.7, gamma_sigma**2) - coefficients[0])
        assert off < float(bound * cut.supremum())


LEAST = [  # the power of Phi, the variance of the noise, and between which numbers the least sup|H| lies
    (1, 0, 3.01, 3.05),
    (1, 4, 6.67, 6.75),
    (2, 0, 8.27, 8.41),
    (2, 4, 122.3, 124.5),
]


@check(
    LEMMA,
    grade="numeric",
    target="corrected",
    supporting=True,
    cases="z and z^2, sigma^2 = 0, 4; |t| <= 0.85, eps = 0.02",
)
@pytest.mark.parametrize(("power", "variance", "low", "high"), LEAST)
def test_the_least_supremum(power: int, variance: int, low: float, high: float) -> None:
    """A proved lower bound and the optimum on a grid; the clipped H of the proof is larger than both, as it must be.

    For z^2 the least supremum grows by a factor of 14.8 from S = 1 to S = sqrt 5, more than S^3 = 11.2 and far more
    than the S^2 = 5 of C_eps. (It is 8.4 at sigma = 0 where 9.85 was noted.)
    """
    coefficients = [0] * power + [1]
    found = least_supremum(coefficients, variance, fmpq(1, 50), fmpq(17, 20))
    assert low < found.lower < found.optimum < high
    full = indicator_function(coefficients, variance, "sign")
    cut = full.clipped([clipping_level(term.degree, fmpq(1, 50)) for term in full.terms])
    assert cut.supremum() > found.lower


def _step_function(coefficients: list[float], variance: float, epsilon: float) -> float:
    """sup|H| of a function H that is constant on cells, with its error at 301 values of t checked to be below 0.02.

    The cells crowd near 0, and the mean over each is a sum over Gauss-Legendre nodes: nothing of this is shared with
    `least_supremum`, whose program has one value of the normal density for each cell of an even grid.
    """
    count, order = 36, 8
    edges = np.concatenate([[-8.5], 6 * np.tan(np.linspace(-1, 1, count - 1)) / math.tan(1), [8.5]])

    def means(ts: np.ndarray, order: int) -> np.ndarray:
        points, weights = np.polynomial.legendre.leggauss(order)
        half = np.diff(edges)[:, None] / 2
        z = ((edges[1:] + edges[:-1])[:, None] / 2 + half * points).ravel()
        mass = (half * weights).ravel() * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        rows = []
        for t in ts:
            value = ndtr((t * z[:, None] + z / 2) / math.sqrt(0.75 - t * t + variance)) * np.outer(mass, mass)
            rows.append(value.reshape(count, order, count, order).sum(axis=(1, 3)).ravel())
        return np.array(rows)

    ts = 0.85 * np.cos(np.linspace(0, np.pi, 45))
    rows, size = csr_matrix(means(ts, order)), count**2
    cells, column = identity(size), csr_matrix(np.ones((size, 1)))
    matrix = bmat([[rows, None], [-rows, None], [cells, -column], [-cells, -column]], format="csr")
    values = np.polynomial.polynomial.polyval(ts, coefficients)
    right = np.concatenate([values + epsilon, epsilon - values, np.zeros(2 * size)])
    free = [(None, None)] * size + [(0, None)]
    found: Any = linprog(np.eye(size + 1)[-1], A_ub=matrix, b_ub=right, bounds=free, method="highs")
    fine = np.linspace(-0.85, 0.85, 301)
    error = means(fine, 6) @ found.x[:-1] - np.polynomial.polynomial.polyval(fine, coefficients)
    assert np.abs(error).max() < 0.02
    return float(np.abs(found.x[:-1]).max())


SINE = [fmpq((0, 1, 0, -1)[i % 4] * 2**i, math.factorial(i)) for i in range(16)]
BRACKETS = [  # Phi, the variance of the noise, and between which numbers the least sup|H| lies
    ([0, 0, 1], 0, 8.27, 8.75),
    ([0, 0, 1], 2, 53.5, 56.0),
    (SINE, 0, 14.19, 15.0),
    (SINE, 2, 68.3, 71.5),
]


@check(
    LEMMA,
    grade="numeric",
    target="corrected",
    supporting=True,
    cases="z^2 with sigma^2 = 2 (full: also sigma^2 = 0, and sin 2z to degree 15 with both); |t| <= 0.85, eps = 0.02",
)
def test_the_least_supremum_lies_between_two_programs(effort: Effort) -> None:
    """A proved lower bound and a function that is there: 53.5 to 56 for z^2, where 60.2 was noted (8.3 to 8.8: 9.85).

    And 14.2 to 15 for sin 2z, where 13.6 was noted. The step function has an error below eps at 301 values of t.
    """
    for coefficients, variance, low, high in effort.pick(quick=BRACKETS[1:2], full=BRACKETS):
        found = least_supremum(coefficients, variance, fmpq(1, 50), fmpq(17, 20))
        above = _step_function([float(arb(c)) for c in coefficients], variance, 0.0195)
        assert low < found.lower < above < high


@counterexample(LEMMA, grade="enclosed", cases="Phi = z, sigma = 1, hidden constants 1, 10^3, 10^6")
@proof_steps("indicator.md: 12")
@pytest.mark.parametrize("hidden", [1, 10**3, 10**6])
def test_the_printed_bound_off_target_fails(hidden: int, record: Record, t: fmpq = fmpq(4, 5)) -> None:
    """Steps 11 and 12: for any H bounded by C' = C_eps(z, 1), (a) contradicts the printed (b) at t = 4/5."""
    phi = polynomial([0, 1])
    epsilon = 1 / (2 * smooth_complexity(phi, 1))
    bound = complexity(phi, 1, epsilon)
    gamma = 1 + arb("0.8") / (2 * bound * (hidden + 1 / arb.pi()))
    printed = hidden * bound * gamma.log() / gamma
    change = bound * (arb(1).atan() - (1 / gamma).atan()) / arb.pi()
    assert gamma > 1
    assert 2 * epsilon + printed + change < arb("0.8")
    if hidden == 10**6:
        sigma = fmpq(1)
        record.hypothesis("sigma >= 0.1", sigma, ">=", fmpq(1, 10))
        record.hypothesis("gamma > 1", gamma, ">", 1)
        record.hypothesis("0 < eps_e", epsilon, ">", 0)
        record.hypothesis("eps_e < 1/C_s(Phi, sigma), Phi = z", epsilon, "<", 1 / smooth_complexity(phi, arb(sigma)))
        record.hypothesis("t = <w*, x*> is possible: |t| <= sqrt(3)/2", t * t, "<=", fmpq(3, 4))
        record.violated(
            "(a) and (b) together, for any H with |H| <= C' and 10^6 in the O: Phi(t) - Phi(0) is at most 2 eps_e, the "
            "O of (b) and the largest change of the mean from sigma to gamma sigma",
            t, "<=", 2 * epsilon + printed + change,
        )  # fmt: skip
    smaller = arb("0.99")  # below 1 the printed right side is negative, and no modulus is
    assert epsilon + hidden * bound * smaller.log() / smaller < 0


@counterexample(
    LEMMA,
    grade="enclosed",
    cases="Phi = z^2, sigma = 10^10 and 10^14, the constant 10^4, eps = 1/(2 C_s(Phi, q sigma)) with q = 1, 10^3, 10^6",
)
@proof_steps("indicator.md: 9")
@pytest.mark.parametrize("hidden", [1, 10**3, 10**6])
@pytest.mark.parametrize("exponent", [10, 14])
def test_large_noise_needs_a_larger_function(exponent: int, hidden: int, record: Record) -> None:
    """Steps 9 and 10: every H with (a) for z^2 has sup |H| >= 3 pi (3/8 - eps) sigma^3, more than the printed C_eps.

    The number q stands for the constant that the printed range of eps, below 1/C_s(Phi, O(sigma)), leaves open.
    """
    sigma, phi = arb(10) ** exponent, polynomial([0, 0, 1])
    epsilon = 1 / (2 * smooth_complexity(phi, hidden * sigma))
    needed = 3 * arb.pi() * (arb(3) / 8 - epsilon) * sigma**3
    assert needed > complexity(phi, sigma, epsilon)
    S = (1 + sigma**2).sqrt()
    assert needed < S * complexity(phi, S, epsilon)  # the corrected size
    if (exponent, hidden) == (10, 10**6):
        record.hypothesis("sigma >= 0.1", sigma, ">=", fmpq(1, 10))
        record.hypothesis("0 < eps_e", epsilon, ">", 0)
        limit = 1 / smooth_complexity(phi, hidden * sigma)
        record.hypothesis("eps_e < 1/C_s(Phi, O(sigma)), with 10^6 in the O", epsilon, "<", limit)
        printed = complexity(phi, sigma, epsilon)
        record.violated("the size that every H with (a) needs is at most C' = C_eps(Phi, sigma)", needed, "<=", printed)


@check(LEMMA, grade="enclosed", target="corrected", supporting=True)
def test_the_third_moment_of_the_remainder() -> None:
    """phi(0) E|Z|^3/6 = 1/(3 pi), and |N(z) - 1/2 - phi(0) z| <= phi(0) |z|^3/6 on a grid."""
    density = 1 / (2 * arb.pi()).sqrt()
    third = 2 * (2 / arb.pi()).sqrt()
    assert (density * third / 6).overlaps(1 / (3 * arb.pi()))
    for z in (arb(k) / 8 for k in range(1, 80)):
        assert (z / arb(2).sqrt()).erf() / 2 - density * z <= 0
        assert density * z - (z / arb(2).sqrt()).erf() / 2 <= density * z**3 / 6
