"""Parities: the definition, orthogonality (B.1), the expansion (B.2), sample sizes, linear algebra and label noise.

An input x in {-1, 1}^n is also the bit vector of its entries -1, so that chi_S(x) = (-1)^(number of these bits in S),
and a noiseless example is a linear equation over the field of two elements. What is said about all n and k is proved by
identities; finite cases are enumerated.

- Orthogonality: E[chi_S chi_T] is a product over the coordinates, of 1 where S and T agree and of E[x_i] = 0 elsewhere.
- (n/k)^k <= C(n,k) <= n^k, because (n-i)/(k-i) - n/k = i(n-k)/(k(k-i)) >= 0. So c k log n <= log C(n,k) <= k log n for
  1 <= k <= n^(1-c), but not for k of the order of n: log C(n,n) = 0.
- With N examples every learner succeeds with probability at most 2^N/C(n,k), and the exhaustive one fails with
  probability at most C(n,k) 2^-N. Labels flipped with probability p = 1/2 - eps: the exhaustive one fails with
  probability at most C(n,k) (1 - eps^2)^N, and a label carries at most 4 eps^2 bits.
- Label noise multiplies every correlation E[y f] by 1 - 2p = 2 eps.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, factorial, prod
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from flint import arb, fmpq, nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.parity.polynet import PolyNet
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.fourier.gaps import fourier_gap, majority_gap
from lemmata.numerics.fourier.walsh import inverse_walsh_hadamard, walsh_hadamard, walsh_hadamard_inplace
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record


def _inputs(n: int) -> np.ndarray:
    return 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


def _parity(X: np.ndarray, members: Any) -> np.ndarray:
    """chi_S at the rows of X, as a product of inputs."""
    return X[:, list(members)].prod(axis=1)


def _set_of(code: int) -> list[int]:
    return [i for i in range(code.bit_length()) if code >> i & 1]


# ---- the definition and (B.1)


@check("hidden-progress:definition-parity", grade="exact", target="printed", cases="n = 1, ..., 10, all S and x")
@proof_steps("parities.md: 1")
@pytest.mark.parametrize("n", range(1, 11))
def test_parity_counts_the_relevant_minus_ones(n: int) -> None:
    """chi_S(x) = +1 exactly if an even number of relevant inputs is -1, for all S and x; half of the x have each label.

    The labels are the table that the transform draws from a single coefficient. Different S have different parities,
    so that S is determined by the distribution of (x, y).
    """
    X = _inputs(n)
    tables = set()
    for code in range(1, 2**n):
        labels = walsh_hadamard(np.arange(2**n) == code)
        assert (labels == _parity(X, _set_of(code))).all()
        minus_ones = (X[:, _set_of(code)] == -1).sum(axis=1)
        assert (labels == np.where(minus_ones % 2 == 0, 1, -1)).all()
        assert labels.sum() == 0
        tables.add(labels.tobytes())
    assert len(tables) == 2**n - 1


@check("hidden-progress:equation-B.1", grade="exact", target="printed", cases="n = 1, ..., 8, all pairs of sets")
@proof_steps("parities.md: 2")
@pytest.mark.parametrize("n", range(1, 9))
def test_parities_are_orthonormal(n: int) -> None:
    """All pairs of sets, the empty one included: H H^T = 2^n I, and chi_S chi_T is chi of the symmetric difference.

    The transform of chi_S, all 2^n E[chi_S chi_T] at once, is 2^n at S and 0 elsewhere.
    """
    X = _inputs(n)
    H = np.stack([_parity(X, _set_of(code)) for code in range(2**n)])
    assert (scipy.linalg.hadamard(2**n) == H).all()
    assert (2**n * np.eye(2**n, dtype=int) == H @ H.T).all()
    assert all((walsh_hadamard(row) == 2**n * (np.arange(2**n) == code)).all() for code, row in enumerate(H))
    for S in range(0, 2**n, 5):
        assert (H[S] * H == H[np.arange(2**n) ^ S]).all()
    H[-1, 0] = -H[-1, 0]
    assert (2**n * np.eye(2**n, dtype=int) != H @ H.T).any()  # one wrong entry is seen


@check("hidden-progress:equation-B.1", grade="symbolic", target="printed", supporting=True)
@proof_steps("parities.md: 2")
def test_correlation_factorises_over_the_coordinates() -> None:
    """E[prod_i (1 + s_i x_i)(1 + t_i x_i)] = prod_i (1 + s_i t_i): the coefficient of s^S t^T is [S = T], for every n.

    The coordinates are independent, so one factor is the whole proof: the average over x = 1 and x = -1.
    """
    s, t, x = sp.symbols("s t x")
    factor = (1 + s * x) * (1 + t * x)
    average = sp.expand((factor.subs(x, 1) + factor.subs(x, -1)) / 2)
    assert average == 1 + s * t
    coefficients = {(a, b): sp.Poly(average, s, t).coeff_monomial(s**a * t**b) for a, b in product((0, 1), repeat=2)}
    assert coefficients == {(0, 0): 1, (1, 1): 1, (0, 1): 0, (1, 0): 0}


@check("hidden-progress:equation-B.1", grade="exact", target="printed", supporting=True)
@proof_steps("parities.md: 3")
@pytest.mark.parametrize(("n", "k"), [(6, 3), (8, 2), (9, 4)])
def test_all_wrong_hypotheses_look_alike(n: int, k: int) -> None:
    """Each of the C(n,k) - 1 wrong sets of size k has accuracy 1/2, however many of its members are right."""
    X = _inputs(n)
    y = _parity(X, range(k))
    accuracies = [fmpq(int((_parity(X, S) == y).sum()), 2**n) for S in combinations(range(n), k)]
    assert accuracies[0] == 1
    assert set(accuracies[1:]) == {fmpq(1, 2)}
    assert len(accuracies) == comb(n, k)


# ---- (B.2)


@check(
    "hidden-progress:equation-B.2",
    grade="sampled",
    target="printed",
    cases="n <= 5, Hypothesis draws of rational tables",
)
@proof_steps("parities.md: 4")
@given(st.integers(0, 5), st.data())
def test_every_function_has_a_unique_expansion(n: int, data: Any) -> None:
    """In rationals: f = sum hat f(S) chi_S with the printed coefficients, Parseval; other coefficients, another f."""
    f = data.draw(st.lists(st.fractions(max_denominator=30), min_size=2**n, max_size=2**n))
    X = _inputs(n)
    parities = [_parity(X, _set_of(code)).tolist() for code in range(2**n)]
    hat = [sum(v * c for v, c in zip(f, chi, strict=True)) / 2**n for chi in parities]
    assert [sum(h * chi[x] for h, chi in zip(hat, parities, strict=True)) for x in range(2**n)] == f
    assert sum(h * h for h in hat) == sum(v * v for v in f) / 2**n
    transform = walsh_hadamard(np.array(f, dtype=object))
    assert [t / 2**n for t in transform] == [fmpq(h.numerator, h.denominator) for h in hat]
    changed = transform.copy()
    changed[data.draw(st.integers(0, 2**n - 1))] += 1
    assert inverse_walsh_hadamard(transform).tolist() == [fmpq(v.numerator, v.denominator) for v in f]
    assert (inverse_walsh_hadamard(changed) != inverse_walsh_hadamard(transform)).all()


@check(
    "hidden-progress:equation-B.2",
    grade="sampled",
    target="printed",
    cases="n = 0, ..., 16, one integer table each (seed 0)",
)
@proof_steps("parities.md: 4")
def test_expansion_of_integer_tables_up_to_sixteen_inputs() -> None:
    rng = np.random.default_rng(0)
    for n in range(17):
        f = rng.integers(-1000, 1001, size=2**n)
        transform = walsh_hadamard(f)
        assert (inverse_walsh_hadamard(transform) == f).all()
        assert sum(int(t) ** 2 for t in transform) == 2**n * int(f @ f)
        assert transform[0] == f.sum()


# ---- the number of samples


@check("hidden-progress:unnumbered-statistical-limit", grade="symbolic", target="corrected", supporting=True)
@proof_steps("sample-sizes.md: 1")
def test_logarithm_of_the_binomial_is_of_order_k_log_n() -> None:
    """(n/k)^k <= C(n,k) <= n^k, factor by factor; so c <= log C(n,k)/(k log n) <= 1 for 1 <= k <= n^(1-c)."""
    n, k, i = sp.symbols("n k i", positive=True)
    assert sp.simplify((n - i) / (k - i) - n / k - i * (n - k) / (k * (k - i))) == 0
    for size in range(2, 60):
        for degree in range(1, size + 1):
            factors = prod((fmpq(size - j, degree - j) for j in range(degree)), start=fmpq(1))
            assert fmpq(size, degree) ** degree <= factors == comb(size, degree) <= size**degree
    for exponent in range(2, 9):  # c = 1/2: k = n^(1/2)
        size, degree = 4**exponent, 2**exponent
        assert size**degree <= comb(size, degree) ** 2 <= size ** (2 * degree)


@counterexample("hidden-progress:unnumbered-statistical-limit", grade="enclosed")
@proof_steps("sample-sizes.md: 1")
def test_logarithm_of_the_binomial_is_smaller_for_large_k(record: Record) -> None:
    """k = n: log C(n,n) = 0, and k log n is not. k = n/2, n = 2^e: C(n,k)^e <= 2^(ne) = n^n, a ratio of at most 2/e.

    Nor is k << n enough: at k = n/e with n = 2^(2^e) the ratio of 1 + log(n/k) to log n, which C(n,k) <= (e n/k)^k
    bounds it by, tends to 0.
    """
    for n in (2, 10, 1000):
        assert comb(n, n) == 1 < n**n
    for e in range(1, 13):
        n = 2**e
        assert 2 ** (n * e) == n**n
        assert comb(n, n // 2) <= 2**n
    ratios = [arb(comb(1000, k)).log() / (k * arb(1000).log()) for k in (3, 30, 500, 999)]
    assert [round(float(r), 3) for r in ratios] == [0.913, 0.638, 0.2, 0.001]
    few = [(1 + arb(e).log()) / (2**e * arb(2).log()) for e in (4, 8, 16, 32)]  # k = n/e: k/n = 1/e tends to 0
    assert all(later < earlier / 4 for earlier, later in pairwise(few))
    n, k = 1000, 999
    record.hypothesis("0 <= k", 0, "<=", k)
    record.hypothesis("k <= n", k, "<=", n)
    # whatever the constant of Theta is, k = n leaves nothing: the logarithm is 0
    record.violated("log C(n,k) >= c k log n, c > 0, at k = n", arb(comb(n, n)).log(), ">", 0)
    record.number("1000", n)
    record.number("0.001", ratios[3])
    record.number("999", k)


def _label_vectors(n: int, k: int, samples: int) -> Any:
    """For every sample matrix: the label vectors of all sets S of size k, as integers (a set of bits per S)."""
    sets = list(combinations(range(n), k))
    for columns in product(range(2**samples), repeat=n):  # column i holds the bits of input i over the samples
        yield [_xor(columns[i] for i in S) for S in sets]


def _xor(values: Any) -> int:
    result = 0
    for v in values:
        result ^= v
    return result


@check("hidden-progress:unnumbered-statistical-limit", grade="exact", target="corrected", supporting=True)
@proof_steps("sample-sizes.md: 2")
@pytest.mark.parametrize(("n", "k", "samples"), [(3, 1, 2), (3, 2, 4), (4, 2, 1), (4, 2, 3), (4, 3, 3), (5, 2, 2)])
def test_noiseless_sample_size_by_enumeration_of_all_samples(n: int, k: int, samples: int) -> None:
    """The best learner's success is at most 2^N/C(n,k); the exhaustive one misses S with probability <= (C - 1) 2^-N.

    For N samples x, the labels can take 2^N values and a learner answers one set for each of them; S being uniform, its
    best success probability is the mean number of different label vectors over C(n,k).
    """
    count, different, ambiguous = comb(n, k), 0, 0
    for labels in _label_vectors(n, k, samples):
        different += len(set(labels))
        ambiguous += sum(labels.count(v) > 1 for v in labels)
    total = 2 ** (n * samples) * count
    assert fmpq(different, total) <= fmpq(2**samples, count)
    assert fmpq(ambiguous, total) <= fmpq(count - 1, 2**samples)
    assert fmpq(different, total) > fmpq(1, count)
    assert ambiguous > 0


def _fits(samples: tuple[int, ...], labels: list[int], n: int) -> np.ndarray:
    """For every set T the number of samples that chi_T labels as given: (N + sum_t y_t chi_T(x_t))/2."""
    table = np.zeros(2**n, dtype=np.int64)
    np.add.at(table, list(samples), labels)
    walsh_hadamard_inplace(table)
    return (len(samples) + table) // 2


@check(
    "hidden-progress:unnumbered-statistical-limit",
    grade="exact",
    target="corrected",
    cases="(n, k, N) = (3, 1, 2), (3, 2, 3), (4, 2, 2), all samples; flip probabilities 0, 1/10, 1/4",
)
@proof_steps("sample-sizes.md: 2, 3, 4")
@pytest.mark.parametrize(("n", "k", "N"), [(3, 1, 2), (3, 2, 3), (4, 2, 2)])
def test_the_exhaustive_learner_by_transforms(n: int, k: int, N: int) -> None:
    """All samples and all flips of labels: the learner that takes the set of best fit fails (ties count as failures)
    with probability at most (C(n,k) - 1)(1 - eps^2)^N, and for eps = 1/2, without noise, at most (C(n,k) - 1) 2^-N.

    No learner fails with a smaller probability than 1 - 2^N/C(n,k) without noise, which the count of ties obeys too.
    """
    X, S = _inputs(n), (1 << k) - 1
    y = _parity(X, range(k))
    sets = [sum(1 << i for i in T) for T in combinations(range(n), k)]
    rivals = [T for T in sets if T != S]
    characters = np.stack([_parity(X, _set_of(T)) for T in range(2**n)])
    failures = dict.fromkeys(range(N + 1), 0)
    for samples in product(range(2**n), repeat=N):
        for flipped in product((1, -1), repeat=N):
            labels = [int(y[x]) * f for x, f in zip(samples, flipped, strict=True)]
            fits = _fits(samples, labels, n)
            agree = np.equal(characters[:, list(samples)], labels).sum(axis=1)  # sample by sample
            assert np.array_equal(fits, agree)
            failures[flipped.count(-1)] += int(max(fits[rivals]) >= fits[S])
    for p in (Fraction(0), Fraction(1, 10), Fraction(1, 4)):
        eps = Fraction(1, 2) - p
        risk = sum((count * p**f * (1 - p) ** (N - f) for f, count in failures.items()), start=Fraction(0))
        risk /= 2 ** (n * N)
        union = len(rivals) * (Fraction(1, 2**N) if p == 0 else (1 - eps**2) ** N)
        assert 0 < risk <= union
        assert p or 1 - risk <= Fraction(2**N, len(sets))


@check("hidden-progress:unnumbered-statistical-limit", grade="symbolic", target="corrected", supporting=True)
@proof_steps("sample-sizes.md: 4")
def test_noisy_labels_cost_a_factor_of_eps_to_minus_two() -> None:
    """A wrong set T fits N noisy labels at least as well as S with probability at most (1 - eps^2)^N.

    Where chi_S = chi_T both fit alike; elsewhere (probability 1/2 per sample) T gains with probability p = 1/2 - eps
    and loses otherwise. By Chernoff's bound, with t = sqrt((1-p)/p), the probability that T gains as often or more
    is at most (1/2 + (p t + (1-p)/t)/2)^N = ((1 + sqrt(1 - 4 eps^2))/2)^N. A union over C(n,k) sets:
    N = log(C(n,k)/delta)/eps^2 samples are enough. Exact binomial sums agree.
    """
    q, e = sp.symbols("q e", positive=True)
    t = sp.sqrt((1 - q) / q)
    mean = q * t + (1 - q) / t
    assert sp.simplify(mean**2 - 4 * q * (1 - q)) == 0
    assert sp.expand((4 * q * (1 - q)).subs(q, sp.Rational(1, 2) - e) - (1 - 4 * e**2)) == 0
    assert sp.expand((1 - 2 * e**2) ** 2 - (1 - 4 * e**2) - 4 * e**4) == 0  # so sqrt(1 - 4 e^2) <= 1 - 2 e^2
    for eps in (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)):
        p = Fraction(1, 2) - eps
        for N in (1, 5, 20, 60):
            worse = Fraction(0)
            for apart in range(N + 1):
                gains = sum(comb(apart, g) * p**g * (1 - p) ** (apart - g) for g in range(apart + 1) if 2 * g >= apart)
                worse += Fraction(comb(N, apart), 2**N) * gains
            assert 0 < worse <= (1 - eps**2) ** N
            if N == 60 and eps == Fraction(1, 10):
                assert worse > (1 - 4 * eps**2) ** N  # so the power of eps is right


@check("hidden-progress:unnumbered-statistical-limit", grade="symbolic", target="corrected", supporting=True)
@proof_steps("sample-sizes.md: 5")
def test_a_noisy_label_carries_at_most_four_eps_squared_bits() -> None:
    """1 - H(1/2 - eps) = sum_{m>=1} (2 eps)^(2m)/(2m (2m-1) ln 2), and sum 1/(2m (2m-1)) = ln 2: at most (2 eps)^2.

    By Fano's inequality N >= ((1 - delta) log2 C(n,k) - 1)/(4 eps^2) samples are needed. The series is compared through
    its second derivative, 1/(ln 2 (1 - v^2)) with v = 2 eps, value and slope at 0 being 0.
    """
    v = sp.symbols("v", positive=True)
    entropy = -((1 - v) / 2 * sp.log((1 - v) / 2) + (1 + v) / 2 * sp.log((1 + v) / 2))
    information = sp.log(2) - entropy  # in nats
    assert sp.simplify(sp.diff(information, v, 2) - 1 / (1 - v**2)) == 0
    assert sp.simplify(information.subs(v, 0)) == 0
    assert sp.simplify(sp.diff(information, v).subs(v, 0)) == 0
    m = sp.symbols("m", integer=True, positive=True)
    # 1/(1 - v^2) = sum v^(2m-2), integrated twice
    assert sp.simplify(sp.diff(v ** (2 * m) / (2 * m * (2 * m - 1)), v, 2) - v ** (2 * m - 2)) == 0
    assert sp.limit(information, v, 1, "-") == sp.log(2)  # all coefficients are positive: their sum is ln 2
    for eps in (Fraction(1, 100), Fraction(1, 5), Fraction(49, 100)):
        value = float(information.subs(v, sp.Rational(2 * eps.numerator, eps.denominator)) / sp.log(2))
        assert 2 * float(eps) ** 2 < value < 4 * float(eps) ** 2


# ---- Gaussian elimination


def _eliminate(rows: list[int], labels: list[int], n: int) -> tuple[list[int] | None, int]:
    """The unique solution of B s = z over the field of two elements (None if there is none), and the row additions.

    Row i of B is the integer rows[i]; an addition of rows costs n + 1 additions of bits.
    """
    system = [row | label << n for row, label in zip(rows, labels, strict=True)]
    additions = 0
    for column in range(n):
        pivot = next((r for r in range(column, len(system)) if system[r] >> column & 1), None)
        if pivot is None:
            return None, additions
        system[column], system[pivot] = system[pivot], system[column]
        for r in range(len(system)):
            if r != column and system[r] >> column & 1:
                system[r] ^= system[column]
                additions += 1
    if any(row >> n for row in system[n:]):
        return None, additions
    return [i for i in range(n) if system[i] >> n & 1], additions


@check("hidden-progress:unnumbered-gaussian-elimination", grade="exact", target="printed", supporting=True)
@proof_steps("sample-sizes.md: 6")
@pytest.mark.parametrize(("n", "samples"), [(1, 1), (2, 2), (2, 4), (3, 2), (3, 3), (3, 5), (4, 4)])
def test_probability_of_full_rank_and_of_recovery(n: int, samples: int) -> None:
    """Over all sample matrices: recovery of S for exactly a fraction prod_{i<n} (1 - 2^(i-N)), at least 1 - 2^(n-N).

    So N = n + t noiseless samples do with probability at least 1 - 2^-t; fewer than n never do, as 2^n sets compete.
    """
    secret = (1 << n) - 2 if n > 1 else 1
    recovered = 0
    for rows in product(range(2**n), repeat=samples):
        found, additions = _eliminate(list(rows), [(row & secret).bit_count() % 2 for row in rows], n)
        assert found is None or found == _set_of(secret)
        assert additions <= n * (samples - 1)  # each of n + 1 bits: O(n^3) for N of order n
        recovered += found is not None
    expected = prod((1 - fmpq(1, 2 ** (samples - i)) for i in range(n)), start=fmpq(1))
    assert fmpq(recovered, 2 ** (n * samples)) == expected
    assert expected >= 1 - fmpq(2**n, 2**samples)
    assert (expected > 0) == (samples >= n)


@check(
    "hidden-progress:unnumbered-gaussian-elimination",
    grade="exact",
    target="printed",
    cases="(n, N) = (2, 3), (3, 3), (3, 4), (4, 3), all samples, all S",
)
@proof_steps("sample-sizes.md: 6")
@pytest.mark.parametrize(("n", "samples"), [(2, 3), (3, 3), (3, 4), (4, 3)])
def test_elimination_finds_the_one_parity_that_fits(n: int, samples: int) -> None:
    """The bits of x are those of its entries -1: elimination returns S if no other parity, of the 2^n that the
    transform compares with the labels, fits all samples, and nothing otherwise. A flipped label never gives S."""
    H = scipy.linalg.hadamard(2**n)
    unique = 0
    for rows in product(range(2**n), repeat=samples):
        for S in range(0, 2**n, 3):
            labels = [int(H[S, row]) for row in rows]
            fitting = np.flatnonzero(_fits(rows, labels, n) == samples)
            found, _ = _eliminate(list(rows), [(1 - y) // 2 for y in labels], n)
            assert found == (_set_of(S) if fitting.tolist() == [S] else None)
            unique += found is not None
            wrong, _ = _eliminate(list(rows), [(1 + labels[0]) // 2, *((1 - y) // 2 for y in labels[1:])], n)
            assert wrong is None or wrong != _set_of(S)
    assert (unique > 0) == (samples >= n)


@check("hidden-progress:unnumbered-gaussian-elimination", grade="symbolic", target="printed", supporting=True)
@proof_steps("sample-sizes.md: 6")
def test_a_constant_number_of_extra_samples_is_enough_for_every_n() -> None:
    """prod_{i<n} (1 - a_i) >= 1 - sum a_i for a_i = 2^(i-N) in [0, 1], by induction; and sum 2^(i-N) < 2^(n-N)."""
    P, total, a = sp.symbols("P total a")
    # from P >= 1 - total: (1 - a) P - (1 - total - a) = (1 - a) (P - (1 - total)) + a total, two terms >= 0
    assert sp.expand((1 - a) * P - (1 - total - a) - (1 - a) * (P - (1 - total)) - a * total) == 0
    n = sp.symbols("n", integer=True, positive=True)
    i = sp.symbols("i", integer=True)
    assert sp.simplify(sp.summation(2**i, (i, 0, n - 1)) - (2**n - 1)) == 0
    formula = [prod((1 - fmpq(1, 2 ** (N - j)) for j in range(20)), start=fmpq(1)) for N in (20, 25, 30)]
    assert [round(int(q.p) / int(q.q), 5) for q in formula] == [0.28879, 0.96907, 0.99902]


@check("hidden-progress:unnumbered-gaussian-elimination", grade="exact", target="printed", supporting=True)
def test_large_systems_are_solved_and_one_flipped_label_breaks_them(effort: Effort) -> None:
    """n + 30 samples: failures of probability below 2^-30. FLINT's rank and solver over F_2 agree."""
    rng = np.random.default_rng(7)
    for n in (20, 50, effort.pick(quick=80, full=200)):
        B = rng.integers(0, 2, size=(n + 30, n))
        S = sorted(rng.permutation(n)[:3].tolist())
        z = B[:, S].sum(axis=1) % 2
        rows = [sum(int(bit) << i for i, bit in enumerate(row)) for row in B]
        found, additions = _eliminate(rows, z.tolist(), n)
        assert found == S
        assert n * n / 8 < additions < n * (n + 30)
        matrix = nmod_mat(n + 30, n + 1, np.column_stack([B, z]).ravel().tolist(), 2)
        reduced, rank = matrix.rref()
        assert rank == n
        assert [i for i in range(n) if int(reduced[i, n])] == S
        z[0] ^= 1
        assert _eliminate(rows, z.tolist(), n)[0] is None


# ---- disjoint parities


@check("hidden-progress:unnumbered-disjoint-fraction", grade="enclosed", target="printed", supporting=True)
@proof_steps("sample-sizes.md: 7")
def test_printed_approximation_of_the_binomial_is_right_up_to_a_factor_of_k() -> None:
    """C(n,k) <= n^k/k!, so (ne/k)^k exceeds C(n,k) at least by k! e^k/k^k > sqrt(2 pi k) > 2.5, for every n >= k; and
    for n >= k^2 by no more than e times that, which is a constant for fixed k."""
    for k in range(1, 41):
        excess = factorial(k) * arb(k).exp() / k**k
        assert excess > (2 * arb.pi() * k).sqrt()
        assert excess > 2.5
        for n in (k, 2 * k, 100 * k, 10**6 * k):
            assert (n * arb(1).exp() / k) ** k > excess * comb(n, k) * (1 - arb(2) ** -40)
            if n >= k * k:  # prod n/(n - i) <= (1 - (k-1)/n)^-k <= e
                assert (n * arb(1).exp() / k) ** k < excess * comb(n, k) * arb("2.72")


@check("hidden-progress:unnumbered-disjoint-fraction", grade="symbolic", target="printed", supporting=True)
@proof_steps("sample-sizes.md: 7")
def test_disjoint_parities_are_a_constant_fraction() -> None:
    """(n/k)^k/C(n,k) = (k!/k^k) prod_{i<k} n/(n-i): each factor decreases in n to 1, so it is at least k!/k^k.

    And k! / k^k is (n/k)^k over n^k/k!, which C(n,k) approaches.
    """
    n, i = sp.symbols("n i", positive=True)
    assert sp.simplify(sp.diff(n / (n - i), n) + i / (n - i) ** 2) == 0
    assert sp.limit(n / (n - i), n, sp.oo) == 1
    for k in range(1, 9):
        limit = fmpq(factorial(k), k**k)
        fractions = [fmpq((n // k) ** k, comb(n, k)) for n in range(k, 40 * k, k)]
        assert fractions == [
            limit * prod((fmpq(n, n - j) for j in range(k)), start=fmpq(1)) for n in range(k, 40 * k, k)
        ]
        assert all(later < earlier for earlier, later in pairwise(fractions)) or k == 1
        assert all(f >= limit for f in fractions)
        last = 10**6 * k
        assert limit <= fmpq((last // k) ** k, comb(last, k)) < limit * fmpq(10001, 10000)


@check(
    "hidden-progress:unnumbered-disjoint-fraction",
    grade="exact",
    target="printed",
    cases="(n, k) = (4, 1), (6, 2), (9, 3), (12, 3), (12, 4), (10, 5), all sets",
)
@proof_steps("sample-sizes.md: 7")
@pytest.mark.parametrize(("n", "k"), [(4, 1), (6, 2), (9, 3), (12, 3), (12, 4), (10, 5)])
def test_number_of_disjoint_sets(n: int, k: int) -> None:
    """Sets with one member in each of k blocks of n/k inputs, among all sets of size k.

    They are the coefficients of the disjoint PolyNet with all weights 1: each is 1, and all others are 0.
    """
    block = n // k
    weights = np.kron(np.eye(k, dtype=np.int64), np.ones(block, dtype=np.int64))
    transform = walsh_hadamard(PolyNet(weights, np.zeros(k, dtype=np.int64))(_inputs(n)).astype(np.int64))
    assert set(transform.tolist()) == {0, 2**n}
    members = {sum(1 << i for i in S) for S in combinations(range(n), k) if {i // block for i in S} == set(range(k))}
    assert set(np.flatnonzero(transform).tolist()) == members
    disjoint = [S for S in combinations(range(n), k) if sorted(i // block for i in S) == list(range(k))]
    assert len(disjoint) == block**k <= comb(n, k)
    assert fmpq(len(disjoint), comb(n, k)) >= fmpq(factorial(k), k**k)  # the constant, whatever n is


# ---- label noise


def _noisy_correlation(f: list[Fraction], S: Any, n: int, p: Fraction) -> Fraction:
    """E[y f(x)] where y = chi_S(x) is flipped with probability p: a sum over x and over the flip."""
    chi = _parity(_inputs(n), S).tolist()
    outcomes = ((1, 1 - p), (-1, p))
    return sum(
        (weight * sign * c * v for c, v in zip(chi, f, strict=True) for sign, weight in outcomes), start=Fraction(0)
    ) / Fraction(2**n)


@counterexample("hidden-progress:unnumbered-noisy-parity", grade="exact")
def test_printed_noise_factor_is_half_the_true_one(record: Record, eps: Fraction = Fraction(1, 4)) -> None:
    """f = chi_S: without noise, eps = 1/2, the correlation is 1 and not 1/2; eps = 1/4 and 1/10 give 1/2 and 1/5."""
    chi = [Fraction(c) for c in _parity(_inputs(3), (0, 2)).tolist()]
    for one, correlation in ((Fraction(1, 2), 1), (Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 10), Fraction(1, 5))):
        assert _noisy_correlation(chi, (0, 2), 3, Fraction(1, 2) - one) == correlation != one * 1
    # the caption's convention eps = 1 - 2p contradicts its example: p = 0.49 gives 0.02, not 0.01
    assert 1 - 2 * Fraction(49, 100) == Fraction(2, 100)
    assert Fraction(1, 2) - Fraction(49, 100) == Fraction(1, 100)
    noiseless = _noisy_correlation(chi, (0, 2), 3, Fraction(0))
    record.hypothesis("0 < eps", 0, "<", eps)
    record.hypothesis("eps <= 1/2", eps, "<=", Fraction(1, 2))
    noisy = _noisy_correlation(chi, (0, 2), 3, Fraction(1, 2) - eps)
    record.violated("E_noisy[y f] = eps E[y f], f = chi_S", noisy, "=", eps * noiseless)


@check("hidden-progress:unnumbered-noisy-parity", grade="symbolic", target="corrected", supporting=True)
@proof_steps("parities.md: 6")
def test_noise_multiplies_by_one_minus_twice_the_flip_probability() -> None:
    """Given x, the flip is independent: E[y f | x] = ((1 - p) - p) chi_S(x) f(x), whatever f is; p = 1/2 - eps."""
    p, eps, chi, f = sp.symbols("p eps chi f")
    given_x = (1 - p) * chi * f + p * (-chi) * f
    assert sp.expand(given_x - (1 - 2 * p) * chi * f) == 0
    assert sp.expand(given_x.subs(p, sp.Rational(1, 2) - eps) - 2 * eps * chi * f) == 0


@check("hidden-progress:unnumbered-noisy-parity", grade="sampled", target="corrected", supporting=True)
@given(st.integers(1, 4), st.fractions(0, Fraction(1, 2), max_denominator=50), st.data())
def test_noise_scales_correlations_of_any_function(n: int, eps: Fraction, data: Any) -> None:
    f = data.draw(st.lists(st.fractions(max_denominator=20), min_size=2**n, max_size=2**n))
    S = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    noiseless = _noisy_correlation(f, S, n, Fraction(0))
    assert _noisy_correlation(f, S, n, Fraction(1, 2) - eps) == 2 * eps * noiseless


@check(
    "hidden-progress:unnumbered-noisy-parity",
    grade="exact",
    target="corrected",
    cases="(n, k) = (7, 2), (9, 2), (9, 4); eps = 0, 1/10, 1/2",
)
@proof_steps("parities.md: 6")
@pytest.mark.parametrize(("n", "k"), [(7, 2), (9, 2), (9, 4)])
def test_noise_scales_a_fourier_gap(n: int, k: int) -> None:
    """The gap in the correlations E[y x_j Maj(x)] with noisy labels is 2 eps times that of majority."""
    X = _inputs(n)
    majority = np.sign(X.sum(axis=1))
    assert fourier_gap(majority, range(k)).gap == majority_gap(n, k).gap > 0
    for eps in (Fraction(1, 2), Fraction(1, 10), Fraction(0)):
        correlations = []
        for j in range(n):
            table = [Fraction(v) for v in (majority * X[:, j]).tolist()]
            correlations.append(abs(_noisy_correlation(table, range(k), n, Fraction(1, 2) - eps)))
        gap = min(correlations[:k]) - max(correlations[k:])
        exact = majority_gap(n, k).gap
        assert gap == 2 * eps * as_fraction(exact)
