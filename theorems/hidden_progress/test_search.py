"""Search among parities: the lower bound for statistical queries, and the way from a weak classifier to S.

Lower bound, for tau in (0, 1]. Write a query as q(x, y) = q_0(x) + y q_1(x), |q_1| <= 1 (one that does not use y, as
printed, tells nothing about S). Its expectation for S is E q_0 + hat q_1(S).
- Parseval: sum_S hat q_1(S)^2 <= 1, so fewer than 1/tau^2 sets (a number, not a fraction) have |hat q_1(S)| > tau.
- The oracle answers E q_0 as long as that is valid. Each query rules out fewer than 1/tau^2 sets; a deterministic
  learner that is always right leaves at most one set, so T/tau^2 >= C(n,k) - 1. With random coins and success
  probability p: for each outcome of the coins at most T/tau^2 + 1 sets succeed, so T/tau^2 >= p C(n,k) - 1.
- C(n,k) >= (n/k)^k, so that this is Omega(n^k) for fixed k; in general n^k has to be replaced by C(n,k).

From weak to strong: a classifier h = +-1 of accuracy 1/2 + eps on D_S has hat h(S) = 2 eps; by Parseval at most
1/(4 eps^2) sets have a coefficient of this size; the bucket search (lemmata.numerics.fourier.heavy) lists all of them
from O(n log(n/(eps delta))/eps^4) values of h, with probability 1 - delta; and fresh labels single out S, since each
noiseless example agrees with a wrong set with probability 1/2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from itertools import combinations
from math import comb

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.heavy import heavy_coefficients, samples_needed
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

SEEDS = st.integers(0, 2**32)


def _codes(n: int, k: int) -> list[int]:
    return [sum(1 << i for i in S) for S in combinations(range(n), k)]


@check(
    "hidden-progress:unnumbered-SQ",
    grade="sampled",
    target="corrected",
    cases="n <= 8, Hypothesis draws of queries and tau",
)
@proof_steps("sample-sizes.md: 8")
@given(SEEDS, st.integers(2, 8), st.fractions(Q(1, 40), 1))
def test_few_parities_correlate_with_a_query(seed, n, tau):
    """Random tables q(x, +-1) with values in {-M, ..., M}/M: E_(D_S) q = E q_0 + hat q_1(S); the count is < 1/tau^2."""
    rng = np.random.default_rng(seed)
    M = int(rng.integers(1, 20))
    plus, minus = rng.integers(-M, M + 1, size=(2, 2**n))
    transform = walsh_hadamard(plus - minus)  # 2^(n+1) M hat q_1
    scale = 2 ** (n + 1) * M
    X = sign_inputs(n)
    for code in rng.integers(2**n, size=3).tolist():
        y = X[:, [i for i in range(n) if code >> i & 1]].prod(axis=1)
        expectation = Q(int(np.where(y == 1, plus, minus).sum()), 2**n * M)
        assert expectation == Q(int((plus + minus).sum()) + int(transform[code]), scale)
    assert int((transform.astype(object) ** 2).sum()) <= scale**2
    count = sum(abs(Q(int(c), scale)) > tau for c in transform)
    assert count * tau**2 < 1


@check("hidden-progress:unnumbered-SQ", grade="exact", target="corrected", supporting=True)
@proof_steps("sample-sizes.md: 8")
@pytest.mark.parametrize("n", [2, 4, 6, 8])
def test_a_bent_function_correlates_with_as_many_as_possible(n):
    """y (x_1 * x_2 bent): all 2^n coefficients are +-2^(-n/2), so that 2^n = 1/tau^2 sets exceed every smaller tau."""
    bits = (1 - sign_inputs(n)) // 2
    q1 = 1 - 2 * ((bits[:, ::2] * bits[:, 1::2]).sum(axis=1) % 2)
    assert (np.abs(walsh_hadamard(q1)) == 2 ** (n // 2)).all()


def _survivors(n: int, k: int, tau: Q, queries: Iterator[tuple[np.ndarray, np.ndarray]]) -> Iterator[int]:
    """How many sets are left after each query, when the oracle answers E q_0; the tables are integers 100 q."""
    left = set(_codes(n, k))
    for plus, minus in queries:
        transform = walsh_hadamard(plus - minus)
        left -= {code for code in left if abs(Q(int(transform[code]), 2 ** (n + 1) * 100)) > tau}
        yield len(left)


def _one_set_at_a_time(n: int, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for S in combinations(range(n), k):
        chi = 100 * sign_inputs(n)[:, list(S)].prod(axis=1)
        yield chi, -chi


def _random_queries(n: int, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(n + k)
    for _ in range(40):
        yield 100 * rng.choice([-1, 1], size=2**n), 100 * rng.choice([-1, 1], size=2**n)


def _sums_of_parities(n: int, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """sign(sum of several chi_S) correlates with all of them."""
    X, sets = sign_inputs(n), list(combinations(range(n), k))
    for start in range(0, len(sets), 5):
        total = sum(X[:, list(S)].prod(axis=1) for S in sets[start : start + 5])
        yield 100 * np.where(total >= 0, 1, -1), 100 * np.where(total >= 0, -1, 1)


@check(
    "hidden-progress:unnumbered-SQ",
    grade="exact",
    target="corrected",
    cases="(n, k, tau) = (6, 2, 1/3), (7, 3, 1/4), (8, 2, 1/10), three strategies",
)
@proof_steps("sample-sizes.md: 9")
@pytest.mark.parametrize("strategy", [_one_set_at_a_time, _random_queries, _sums_of_parities])
@pytest.mark.parametrize(("n", "k", "tau"), [(6, 2, Q(1, 3)), (7, 3, Q(1, 4)), (8, 2, Q(1, 10))])
def test_the_oracle_leaves_as_many_sets_as_stated(strategy: Callable, n, k, tau):
    """Three strategies against the oracle: after t queries at least C(n,k) - t/tau^2 sets are left.

    One set at a time needs exactly C(n,k) - 1 queries; queries for sums of parities rule out more than one at a time.
    """
    counts = list(_survivors(n, k, tau, strategy(n, k)))
    for t, left in enumerate(counts, start=1):
        assert left >= comb(n, k) - t / tau**2
    if strategy is _one_set_at_a_time:
        assert counts == [comb(n, k) - t for t in range(1, comb(n, k) + 1)]
    if strategy is _sums_of_parities:
        assert counts[0] < comb(n, k) - 1


@counterexample("hidden-progress:unnumbered-SQ", grade="exact")
def test_a_fraction_and_a_query_of_x_alone_are_slips(record: Record) -> None:
    """1/tau^2 >= 1 is no fraction of the parities, let alone a small one; and a query of x alone has one and the same
    expectation under every D_S, so that no number of such queries singles out S. n = 5, tau = 1/3, |S| = 2."""
    n, tau = 5, Q(1, 3)
    X = sign_inputs(n)
    q = np.where(X.sum(axis=1) > 0, 1, -1)
    laws = set()
    for code in _codes(n, 2):
        y = X[:, [i for i in range(n) if code >> i & 1]].prod(axis=1)
        laws.add(sum(int(q[y == label].sum()) for label in (1, -1)))  # 2^n E_(D_S) q
    record.hypothesis("0 < tau", 0, "<", tau)
    record.hypothesis("tau <= 1", tau, "<=", 1)
    record.hypothesis("|q| <= 1", int(np.abs(q).max()), "<=", 1)
    record.violated("1/tau^2 is a small fraction of the parities", 1 / tau**2, "<", 1)
    record.violated("queries of x alone tell sets apart: values of E q over all S", len(laws), ">", 1)


@check("hidden-progress:unnumbered-SQ", grade="symbolic", target="corrected", supporting=True)
@proof_steps("sample-sizes.md: 9")
def test_the_bound_is_of_order_n_to_the_k():
    """C(n,k) - 1 >= (n/k)^k/2 for n >= 2 k: each factor (n-i)/(k-i) >= n/k, and (n/k)^k >= 2^k >= 2.

    So T/tau^2 >= (2 k^k)^-1 n^k for all n >= 2 k. Not so for k close to n: C(n,n) = 1.
    """
    n, k, i, a = sp.symbols("n k i a", nonnegative=True)
    assert sp.simplify((n - i) / (k - i) - n / k - i * (n - k) / (k * (k - i))) == 0
    assert sp.expand(((2 + a) - 1) - (2 + a) / 2 - a / 2) == 0  # t - 1 >= t/2 for t = 2 + a
    for size in range(1, 9):
        for inputs in range(2 * size, 60):
            assert comb(inputs, size) - 1 >= Q(inputs, size) ** size / 2
    assert comb(9, 9) - 1 == 0


# ---- from weak to strong


def _weak(S: tuple[int, ...], x: np.ndarray) -> np.ndarray:
    """chi_S with the wrong sign where x_0 = x_1 = -1: accuracy 3/4, coefficients +-1/2 at four sets."""
    return x[:, list(S)].prod(axis=1) * np.where((x[:, 0] == -1) & (x[:, 1] == -1), -1, 1)


@check(
    "hidden-progress:unnumbered-weak-to-strong",
    grade="sampled",
    target="printed",
    cases="n <= 9, Hypothesis draws of classifiers",
)
@proof_steps("sample-sizes.md: 10")
@given(SEEDS, st.integers(2, 9))
def test_a_weak_classifier_has_a_short_list_of_candidates(seed, n):
    """hat h(S) = 2 eps for accuracy 1/2 + eps, and at most 1/(4 eps^2) sets have coefficients of this size, exactly.

    h is chi_S with some signs flipped at random.
    """
    rng = np.random.default_rng(seed)
    code = int(rng.integers(1, 2**n))
    S = [i for i in range(n) if code >> i & 1]
    labels = sign_inputs(n)[:, S].prod(axis=1)
    h = labels * np.where(rng.random(2**n) < rng.uniform(0, 0.5), -1, 1)
    eps = Q(int((h == labels).sum()), 2**n) - Q(1, 2)
    transform = walsh_hadamard(h)
    assert Q(int(transform[code]), 2**n) == 2 * eps
    if eps > 0:
        count = sum(abs(Q(int(c), 2**n)) >= 2 * eps for c in transform)
        assert 1 <= count <= 1 / (4 * eps**2)


@check(
    "hidden-progress:unnumbered-weak-to-strong",
    grade="sampled",
    target="printed",
    cases="n <= 6, Hypothesis draws of classifiers, all buckets",
)
@proof_steps("sample-sizes.md: 11")
@given(SEEDS, st.integers(2, 6))
def test_bucket_weights_are_means_of_products(seed, n):
    """sum over T = a on the first j coordinates of hat h(T)^2 = E_z (E_u h(u, z) chi_a(u))^2, for all j and a, exactly.

    The weights of one level add up to E h^2 = 1, so that at most 4/t^2 buckets have weight t^2/4.
    """
    rng = np.random.default_rng(seed)
    h = rng.choice([-1, 1], size=2**n)
    squares = walsh_hadamard(h).astype(object) ** 2  # 4^n hat h^2
    for j in range(n + 1):
        rows = h.reshape(2 ** (n - j), 2**j)  # bit i of the index is coordinate i: u varies fastest
        inner = np.stack([walsh_hadamard(row) for row in rows])  # 2^j E_u h(u, z) chi_a(u)
        for a in range(2**j):
            weight = sum(squares[a :: 2**j])
            assert Q(int(weight), 4**n) == Q(int((inner[:, a] ** 2).sum()), 2 ** (n - j) * 4**j)
        assert int(squares.sum()) == 4**n


@check("hidden-progress:unnumbered-weak-to-strong", grade="symbolic", target="printed")
@proof_steps("sample-sizes.md: 12")
def test_the_number_of_values_is_polynomial():
    """Hoeffding for m products in [-1, 1]: P(error > t^2/4) <= 2 exp(-m t^4/32); over n levels of 8/t^2 buckets.

    At m = 32 ln(16 n/(t^2 delta))/t^4 the sum of the probabilities is delta. Kept buckets then have weight >= t^2/4,
    and those of weight >= t^2 are kept. N labels leave a wrong candidate with probability at most (list) 2^-N.
    """
    n, t, delta = sp.symbols("n t delta", positive=True)
    m = 32 / t**4 * sp.log(16 * n / (t**2 * delta))
    hoeffding = 2 * sp.exp(-m * (t**2 / 4) ** 2 / 2)  # 2 exp(-2 m s^2/(range 2)^2) at s = t^2/4
    assert sp.simplify(hoeffding * n * 8 / t**2 - delta) == 0
    assert (
        samples_needed(30, 0.5, 0.01)
        == 32 * 16 * sp.log(16 * 30 / (sp.Rational(1, 4) * sp.Rational(1, 100))).n() // 1 + 1
    )


@check(
    "hidden-progress:unnumbered-weak-to-strong",
    grade="sampled",
    target="printed",
    cases="(n, k) = (12, 3), (30, 4), (50, 3), accuracy 3/4, delta = 1/100, one search each (seed n)",
)
@proof_steps("sample-sizes.md: 12, 13")
@pytest.mark.parametrize(("n", "S"), [(12, (2, 5, 7)), (30, (0, 3, 11, 29)), (50, (4, 20, 21))])
def test_the_search_finds_the_support(n, S, record_property):
    """Accuracy 3/4 at n = 30 or 50, far beyond tables; delta = 0.01, seed n: the four sets, and labels single out S.

    The list has the largest possible length 1/(4 eps^2) = 4: coefficients +-1/2 at S, S + {0}, S + {1}, S + {0, 1}
    (symmetric differences). With labels of another set none of the four is left: it can fail.
    """
    rng = np.random.default_rng(n)
    found = heavy_coefficients(lambda x: _weak(S, x), n, 0.5, rng=rng)
    code = sum(1 << i for i in S)
    assert found == sorted(code ^ extra for extra in (0, 1, 2, 3))
    X = rng.choice([-1, 1], size=(40, n))

    def consistent(labels: np.ndarray) -> list[int]:
        return [T for T in found if (X[:, [i for i in range(n) if T >> i & 1]].prod(axis=1) == labels).all()]

    assert consistent(X[:, list(S)].prod(axis=1)) == [code]
    assert consistent(X[:, [2, 6]].prod(axis=1)) == []
    record_property(f"values of h, n = {n}", 2 * n * samples_needed(n, 0.5, 0.01))
