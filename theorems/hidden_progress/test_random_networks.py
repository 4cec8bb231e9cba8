"""Observation 1 of section 5.3.2: a random network is near no parity, except with probability 2^(-Omega(n)).

f(x) = u.relu(Wx + b) + c has width r; the entries of W are independent of each other and of u != 0 and b, symmetric, of
variance s^2, of size at most a s, with fourth moment at most 3 s^4; |b_i| <= B s. The correlation with chi_S is
|hat f(S)|/|f - Ef|_2, S nonempty.

1. Any law that permutations keep: the squared correlations over |S| = k add up to 1 at most, so that at most eps^-2 of
   them are eps or more, and each fixed S has one with probability at most eps^-2/C(n,k), whatever the architecture.
2. For j in S, hat f(S) = E chi_{S-j} (f(x_j = 1) - f(x_j = -1))/2, and relu is 1-Lipschitz: at most
   sum_i |u_i W_ij| <= |u| a s sqrt(r).
3. The odd part of relu(z + b) in z is z, 0 or (z + b sign z)/2, within |b|/2 of z/2. So the odd part of f, and with it
   f - Ef, has a norm of at least (|W^T u| - sum_i |u_i b_i|)/2, and sum_i |u_i b_i| <= |u| B s sqrt(r).
4. Given u, the numbers Y_j = (sum_i u_i W_ij)^2/(|u| s)^2 are independent, of mean 1 and E Y_j^2 <= 3. As e^-t is at
   most 1 - t + t^2/2, E e^(-Y_j/6) <= 1 - 1/6 + 1/24 <= e^(-1/8), and P(sum_j Y_j <= n/2) <= e^(n/12 - n/8).
5. So except with probability e^(-n/24) the correlations with all S at once are at most
   2 a sqrt(r)/(sqrt(n/2) - B sqrt(r)), below eps for r <= c eps^2 n: at a fixed width a random network has a
   correlation Omega(1) with some parity with probability 2^(-Omega(n)) at most.
   For Gaussian entries max_j |W_j| stands for a s sqrt(r), and P(|W_j|^2 >= s^2 t) <= 2^(r/2) e^(-t/4).
6. Not for every architecture: a softmax head with independent normal scores is near x_1 with a probability of at
   least e^(-O(log^2 n)), and with |z| - 1/2 behind it has the sign of x_1 x_2 at every input; see the last tests.
"""

from __future__ import annotations

import math
from math import comb
from typing import Literal

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from scipy.stats import norm

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.numerics.parity.random_networks import correlation_bound, correlation_limit, linear_tail
from lemmata.numerics.parity.training import initial_network
from lemmata.theorems.evidence import check, counterexample

SEARCH = "hidden-progress:unnumbered-random-search"
ROOT = math.sqrt(3)
Start = Literal["uniform", "gaussian", "bernoulli"]


@check(
    SEARCH,
    grade="numeric",
    target="printed",
    cases="n = 11, widths 1, 2, 3, 8 and 40, three starts, 5 seeds each: all 2^11 parities",
)
@pytest.mark.parametrize("init", ["uniform", "gaussian", "bernoulli"])
def test_no_parity_is_nearer_than_the_bound_for_a_network(init: Start) -> None:
    """All coefficients of the table against the bound for given weights; attained within a factor 3 at one neuron."""
    n, x = 11, sign_inputs(11).astype(float)
    nearest = 0.0
    for width in (1, 2, 3, 8, 40):
        for seed in range(5):
            network = initial_network(n, 3, width, np.random.default_rng([seed, width]), "relu", init)
            W, b, u = (np.asarray(part, dtype=float) for part in (network.hidden, network.bias, network.readout))
            table = np.maximum(x @ W.T + b, 0) @ u
            coefficients = np.abs(walsh_hadamard(table - table.mean())) / 2**n
            correlation = float(coefficients.max() / (table - table.mean()).std())
            bound = correlation_bound(W, b, u)
            column = max(sum(abs(u[i] * W[i, j]) for i in range(width)) for j in range(n))
            below = math.hypot(*(sum(u[i] * W[i, j] for i in range(width)) for j in range(n))) - sum(abs(u * b))
            assert coefficients.max() <= column * (1 + 1e-9)
            assert (table - table.mean()).std() >= below / 2 * (1 - 1e-9)
            assert bound == (pytest.approx(2 * column / below) if below > 0 else math.inf)
            assert correlation <= bound * (1 + 1e-9)
            if width == 1:
                nearest = max(nearest, correlation / bound)
    assert nearest > 1 / 3


@check(SEARCH, grade="sampled", target="printed", cases="n = 4000, width 5, uniform and sign starts, 60 seeds each")
@pytest.mark.parametrize("init", ["uniform", "bernoulli"])
def test_wide_inputs_leave_no_network_near_a_parity(init: Start) -> None:
    """n = 4000, width 5, 60 starts: all are below the limit 0.30 (uniform) or 0.16 (signs); P of a failure < 10^-70."""
    n, width = 4000, 5
    largest = ROOT if init == "uniform" else 1
    limit = correlation_limit(n, width, largest, ROOT)
    assert abs(limit - 2 * largest * math.sqrt(width) / (math.sqrt(n / 2) - math.sqrt(3 * width))) < 1e-9
    assert linear_tail(n) < arb("1e-70")
    assert linear_tail(n).overlaps((arb(n) / 12).exp() * (-arb(1) / 8).exp() ** n)  # step 4: e^(n/12) (e^(-1/8))^n
    for seed in range(60):
        network = initial_network(n, 3, width, np.random.default_rng([seed, 6]), "relu", init)
        assert correlation_bound(network.hidden, network.bias, network.readout) < float(limit)
    assert correlation_limit(100 * n, width, largest, ROOT) < float(limit) / 9


@check(SEARCH, grade="sampled", target="printed", cases="n = 4000, width 5, Gaussian starts, 60 seeds")
def test_wide_inputs_leave_no_gaussian_network_near_a_parity() -> None:
    """All |W_j|^2 < 160 s^2 but for n 2^(r/2) e^(-160/4) < 10^-12, |b| <= s/sqrt(2): correlations below 0.59."""
    n, width, square = 4000, 5, 160
    assert n * 2 ** (width / 2) * math.exp(-square / 4) < 1e-12
    limit = float(correlation_limit(n, width, math.sqrt(square / width), math.sqrt(0.5)))
    assert 0.55 < limit < 0.59
    for seed in range(60):
        network = initial_network(n, 3, width, np.random.default_rng([seed, 7]), "relu", "gaussian")
        assert (network.hidden**2).sum(axis=0).max() < square * 2 / n
        assert correlation_bound(network.hidden, network.bias, network.readout) < limit


@check(SEARCH, grade="exact", target="printed", cases="n = 6, 30, 120, 600: one neuron, entries 0 and +-sqrt(3)")
def test_the_tail_of_sparse_entries() -> None:
    """Y = 3 with probability 1/3 and 0 otherwise has E Y = 1, E Y^2 = 3: the exact tails are below the bound.

    They are above its square, exp(-n/12), at n = 600: the exponent cannot be doubled.
    """
    for n in (6, 30, 120, 600):
        tail = fmpq(sum(comb(n, j) * 2 ** (n - j) for j in range(n // 6 + 1)), 3**n)  # 3 j <= n/2
        assert tail <= linear_tail(n)
    assert tail > linear_tail(n) ** 2


@check(SEARCH, grade="numeric", target="printed", supporting=True)
def test_the_steps_for_all_sizes() -> None:
    """exp(-t) <= 1 - t + t^2/2 for t >= 0; 1 - l + 3 l^2/2 at l = 1/6; and the fourth moment of a sum."""
    t = sp.symbols("t", nonnegative=True)
    remainder = 1 - t + t**2 / 2 - sp.exp(-t)
    assert remainder.subs(t, 0) == sp.diff(remainder, t).subs(t, 0) == 0
    assert sp.simplify(sp.diff(remainder, t, 2) - (1 - sp.exp(-t))) == 0  # at least 0
    rate = sp.Rational(1, 6)
    assert -rate + sp.Rational(3, 2) * rate**2 + rate / 2 == -sp.Rational(1, 24)
    # E (sum u_i W_i)^4 = sum u_i^4 E W^4 + 3 sum_{i != j} u_i^2 u_j^2 s^4 <= 3 s^4 |u|^4 if E W^4 <= 3 s^4
    u, v, fourth = sp.symbols("u v m", real=True)
    two = sp.expand(u**4 * fourth + v**4 * fourth + 6 * u**2 * v**2)
    assert sp.expand(3 * (u**2 + v**2) ** 2 - two - (3 - fourth) * (u**4 + v**4)) == 0
    assert sp.Rational(9, 5) < 3  # of a uniform variable of variance 1
    # the odd part of relu(z + b) is within |b|/2 of z/2
    z, b = np.meshgrid(np.linspace(-3, 3, 121), np.linspace(-2, 2, 81))
    odd = (np.maximum(z + b, 0) - np.maximum(-z + b, 0)) / 2
    assert np.all(np.abs(odd - z / 2) <= np.abs(b) / 2 + 1e-12)


@counterexample(SEARCH, grade="numeric", supporting=True)
def test_a_softmax_head_is_not_that_far() -> None:
    """Not for every architecture: a head with independent normal scores is near x_1 with probability e^(-O(log^2 n)).

    sum_i softmax(s)_i x_i has the correlation p_1/|p| >= p_1 with x_1. By Markov's inequality sum_(i > 1) e^(s_i) is at
    most 2 n sqrt(e) < 4 n with probability 1/2, and then p_1 >= 1/2 if s_1 >= log(4n). For every c this is above
    2^(-c n) from some n on; c = 1/24/log(2), the rate above, is passed before n = 4000.
    """
    rng = np.random.default_rng(3)
    n, near, sums = 50, 0, 0
    for _ in range(2000):
        scores = rng.normal(size=n)
        sums += np.exp(scores[1:]).sum() <= 4 * n
        weights = np.exp(scores + (np.arange(n) == 0) * (math.log(4 * n) - scores[0]))
        near += weights[0] / weights.sum() >= 0.5
    assert sums >= 1000
    assert near >= 1000
    for n in (4000, 10**5):
        assert math.log(0.5) + norm.logsf(math.log(4 * n)) > -n / 24
    assert math.log(0.5) + norm.logsf(math.log(4 * 10**6)) > -(10**6) * math.log(2) / 1000


@counterexample(SEARCH, grade="numeric", supporting=True)
def test_a_softmax_head_and_two_neurons_are_a_parity_of_two() -> None:
    """|z| - 1/2 behind that head has the sign of x_1 x_2 everywhere with probability e^(-O(log^2 n)) at least.

    Let s_1, s_2 lie in [l, l + 1/10], l = log(16n), and the others have sum e^(s_i) <= 4n: then p_1 + p_2 >= 8/9 and
    |p_1 - p_2| < 1/18, so that |z| >= 7/9 where x_1 = x_2 and |z| < 1/18 + 1/9 where not.
    """
    rng = np.random.default_rng(11)
    n, seen = 12, 0
    x = sign_inputs(n)
    for _ in range(100):
        scores = rng.normal(size=n)
        scores[:2] = math.log(16 * n) + rng.uniform(0, 0.1, size=2)
        weights = np.exp(scores)
        if weights[2:].sum() > 4 * n:
            continue
        seen += 1
        size = np.abs(x @ (weights / weights.sum()))
        same = x[:, 0] == x[:, 1]
        assert size[same].min() >= 7 / 9
        assert size[~same].max() < 1 / 6
    assert seen >= 50
    for n in (4000, 10**5):
        least = math.log(16 * n)
        both = 2 * (math.log(0.1) + norm.logpdf(least + 0.1))  # the density falls
        assert math.log(0.5) + both > -n / 24
