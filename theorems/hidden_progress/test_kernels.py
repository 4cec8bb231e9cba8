"""Theorem 5.6: bounded linear predictors on fixed features fit no k-parity on average; and what it says about size.

Corrected (hinge loss, any dimension): let |Psi(x)| <= 1 and a_S = E chi_S Psi.
1. Parseval for each coordinate of Psi, summed: sum_S |a_S|^2 = E |Psi|^2 <= 1, so some S of size k, and the root mean
   square over them, has |a_S| <= C(n,k)^(-1/2).
2. (1 - y f)_+ >= 1 - y f, so that E (1 - chi_S <w, Psi>)_+ >= 1 - <w, a_S> >= 1 - R |a_S| for |w| <= R.
3. If R^2 < eps^2 C(n,k), this is above 1 - eps. No D; it is attained by the features chi_S, |S| = k, themselves.

Printed for the 0-1 loss too, which ignores the scale of w: the same features have error 0 for every S at every R > 0.

The hypothesis bounds R, not D: theorem 5.6 says nothing about the size of a model without a bound on the weights. What
holds without one: the span of D features contains at most D parities, and the mean square distance of the k-parities
from it is at least 1 - D/C(n,k).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as Q
from itertools import combinations
from math import comb

import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.duality.feature_fit import best_fit, fit_all_parities, theorem_bound, verify
from lemmata.certificates.duality.features import feature_table, normalised, tabulate, tangent_features
from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

SEEDS = st.integers(0, 2**32)


def _parity(X: np.ndarray, S: tuple[int, ...]) -> np.ndarray:
    return X[:, list(S)].prod(axis=1)


def _sets(n: int, k: int) -> list[tuple[int, ...]]:
    return list(combinations(range(n), k))


@counterexample("hidden-progress:theorem-5.6", grade="exact")
def test_zero_one_loss_is_zero_for_all_parities_at_once(record: Record, R: Q = Q(1, 20)):
    """n = 4, k = 2, D = 6, R = 1/20, eps = 1/10: D R^2 = .015 < .06 = eps^2 C(4,2), but every error is 0, not > 0.9.

    Psi = (chi_S)_(|S|=2)/sqrt(6), |Psi| = 1, and w = R e_S: the sign of <w, Psi> = R chi_S/sqrt(6) is the label.
    """
    n, k, eps = 4, 2, Q(1, 10)
    X, sets = sign_inputs(n), _sets(4, 2)
    scaled = np.stack([_parity(X, S) for S in sets], axis=1)  # sqrt(6) Psi
    assert ((scaled**2).sum(axis=1) == len(sets)).all()
    errors = []
    for column, S in enumerate(sets):
        w = np.zeros(len(sets), dtype=int)
        w[column] = 1  # any positive multiple has the same signs
        assert (np.sign(scaled @ w) == _parity(X, S)).all()
        errors.append(Q(int(np.sum((scaled @ w) * _parity(X, S) <= 0)), 2**n))
    record.hypothesis("|Psi(x)|^2 <= 1 for all x", Q(int((scaled**2).sum(axis=1).max()), len(sets)), "<=", 1)
    record.hypothesis("0 < R", 0, "<", R)
    record.hypothesis("0 < eps", 0, "<", eps)
    record.hypothesis("D R^2 < eps^2 C(n,k)", len(sets) * R**2, "<", eps**2 * comb(n, k))
    record.violated("for some S the 0-1 loss of every |w| <= R is above 1 - eps", max(errors), ">", 1 - eps)
    # nor is a fair coin's error, which is as much as any w or -w has, the smallest one
    record.violated("for some S it is above 1/2 - eps", max(errors), ">", Q(1, 2) - eps)


@check(
    "hidden-progress:theorem-5.6",
    grade="sampled",
    target="corrected",
    cases="n <= 5, D <= 6, Hypothesis draws of integer features",
)
@proof_steps("kernels.md: 1, 2")
@given(SEEDS, st.integers(2, 5), st.integers(1, 6))
def test_the_steps_of_the_proof_on_integer_features(seed, n, dimension):
    """Parseval for vectors, the pigeonhole for every k, and the bound 1 - R |a_S| for weights in the ball, exactly."""
    rng = np.random.default_rng(seed)
    psi = rng.integers(-9, 10, size=(2**n, dimension))
    X = sign_inputs(n)
    sums = np.stack([walsh_hadamard(column) for column in psi.T])  # 2^n a_S
    squares = (sums**2).sum(axis=0)
    assert int(squares.sum()) == 2**n * int((psi**2).sum())
    mean_norm = Q(int((psi**2).sum()), 2**n)
    for k in range(n + 1):
        sizes = [Q(int(squares[sum(1 << i for i in S)]), 4**n) for S in _sets(n, k)]
        assert min(sizes) <= sum(sizes) / len(sizes) <= mean_norm / comb(n, k)
    w = rng.integers(-5, 6, size=dimension)
    for S in _sets(n, n // 2):
        y = _parity(X, S)
        loss = Q(int(np.maximum(0, 20 - y * (psi @ w)).sum()), 20 * 2**n)  # weights w/20
        gain = 1 - loss
        code = sum(1 << i for i in S)
        assert gain <= Q(int(sums[:, code] @ w), 20 * 2**n)
        assert gain <= 0 or gain**2 <= Q(int(w @ w), 400) * Q(int(squares[code]), 4**n)


@check("hidden-progress:theorem-5.6", grade="symbolic", target="corrected", supporting=True)
@proof_steps("kernels.md: 3")
def test_the_conclusion_for_all_parameters():
    """R^2 < eps^2 C implies 1 - R/sqrt(C) > 1 - eps: with R = t eps sqrt(C), 0 <= t < 1, the difference is (1 - t) eps.

    And max(0, m) >= m for m = 1 - y f, as max(0, m) - m = (|m| - m)/2.
    """
    eps, C, t, gap = sp.symbols("eps C t gap", positive=True)
    R = t * eps * sp.sqrt(C)
    difference = sp.simplify((1 - R / sp.sqrt(C)) - (1 - eps))
    assert sp.expand(difference - eps * (1 - t)) == 0
    assert difference.subs(t, 1 / (1 + gap)).simplify().is_positive
    m = sp.symbols("m", real=True)
    assert sp.simplify(sp.Max(0, m).rewrite(sp.Piecewise) - m - (sp.Abs(m) - m).rewrite(sp.Piecewise) / 2) == 0


@check(
    "hidden-progress:theorem-5.6",
    grade="numeric",
    target="corrected",
    cases="n = 4, k = 2, R = 1/20, 1/2, 99/100, the features chi_S",
)
@proof_steps("kernels.md: 3")
@pytest.mark.parametrize("radius", [Q(1, 20), Q(1, 2), Q(99, 100)])
def test_the_bound_is_attained(radius):
    """Features chi_S, |S| = 2, n = 4 (norm sqrt(6)): v(S) = 1 - R for all S, with R sqrt(6) for normalised features."""
    X = sign_inputs(4)
    table = tabulate([lambda x, S=S: _parity(x, S) for S in _sets(4, 2)], 4)
    for S in _sets(4, 2):
        fit = best_fit(table, S, radius)
        assert fit.lower <= 1 - radius <= fit.upper
        assert fit.upper - fit.lower < Q(1, 10**6)
        with pytest.raises(ValueError, match="does not prove the lower bound"):
            verify(table, replace(fit, lower=fit.lower + Q(1, 10**5)))  # above the loss
        losses = np.maximum(0, 1 - float(radius) * _parity(X, S) ** 2)
        assert losses.mean() == pytest.approx(1 - float(radius))
    assert theorem_bound(table, 2, radius).contains(arb(fmpq(1) - fmpq(radius.numerator, radius.denominator)))


@check("hidden-progress:theorem-5.6", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize(("n", "k", "dimension", "radius"), [(5, 2, 3, 1), (6, 3, 8, 1), (6, 2, 12, 4)])
def test_random_features_with_certified_losses(n, k, dimension, radius, record_property):
    """ReLU features, all S: the average certified loss is above the bound, and the brackets are narrow.

    The smallest loss is below 1, so that the features are not blind to the parities.
    """
    rng = np.random.default_rng(n * 100 + dimension)
    hidden = sign_inputs(n) @ rng.normal(size=(n, dimension)) + rng.normal(size=dimension)
    table = feature_table(normalised(np.maximum(hidden, 0)))
    assert max(table.squared_norms()) <= 1
    fits = fit_all_parities(table, k, radius)
    average = sum((fit.lower for fit in fits), start=Q(0)) / len(fits)
    bound = theorem_bound(table, k, radius)
    assert arb(fmpq(average.numerator, average.denominator)) > bound
    assert max(fit.upper - fit.lower for fit in fits) < Q(1, 10**6)
    assert min(fit.upper for fit in fits) < 1
    record_property(f"n = {n}, k = {k}, D = {dimension}, R = {radius}: bound", round(float(bound), 4))
    record_property("average and largest certified loss", f"{float(average):.4f}, {max(map(_lower, fits)):.4f}")


def _lower(fit) -> float:
    return float(fit.lower)


@check("hidden-progress:theorem-5.6", grade="exact", target="corrected", supporting=True)
@check("hidden-progress:unnumbered-NTK-size", grade="exact", target="printed", supporting=True)
def test_the_tangent_kernel_of_a_torch_network(effort, record_property):
    """A ReLU network of width 6 (n = 6; full: width 20, n = 10), seed 0; k = 3, R = 2, normalised to |Psi| <= 1.

    The features are the float64 table that autograd returns. All 20 parities at n = 6, the first 8 at n = 10.
    """
    torch.manual_seed(0)
    n, width = effort.pick(quick=(6, 6), full=(10, 20))
    network = torch.nn.Sequential(torch.nn.Linear(n, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)).double()
    table = feature_table(normalised(tangent_features(network, n)))
    assert table.dimension == (n + 2) * width + 1
    fits = [best_fit(table, S, 2) for S in _sets(n, 3)[: 20 if n == 6 else 8]]
    bound = theorem_bound(table, 3, 2)
    largest = max(fit.lower for fit in fits)
    assert 0 < bound < 1
    assert max(fit.upper - fit.lower for fit in fits) < Q(1, 10**6)
    if n == 6:
        average = sum((fit.lower for fit in fits), start=Q(0)) / len(fits)
        assert arb(fmpq(average.numerator, average.denominator)) > bound
    assert float(largest) > float(bound)
    assert min(fit.upper for fit in fits) < 1
    record_property(f"n = {n}, width {width}, {table.dimension} parameters: bound", round(float(bound), 4))
    record_property("largest certified loss", round(float(largest), 4))


@check("hidden-progress:unnumbered-NTK-size", grade="sampled", target="printed", supporting=True)
@given(SEEDS, st.integers(2, 4), st.integers(1, 6))
def test_squared_loss_without_a_bound_on_the_weights(seed, n, dimension):
    """Sum over |S| = k of the squared distance of chi_S from the span of D features >= C(n,k) - D, for every k.

    The sum of |P chi_S|^2 over an orthonormal set is at most the trace of the projection P, its rank <= D.
    """
    rng = np.random.default_rng(seed)
    X = sign_inputs(n)
    psi = rng.integers(-3, 4, size=(2**n, dimension))
    reduced, rank = fmpq_mat(dimension, 2**n, psi.T.ravel().tolist()).rref()
    assert rank <= dimension
    A = fmpq_mat(rank, 2**n, reduced.entries()[: rank * 2**n]).transpose()
    projection = A * (A.transpose() * A).inv() * A.transpose() if rank else fmpq_mat(2**n, 2**n)
    assert sum((projection[i, i] for i in range(2**n)), start=fmpq(0)) == rank
    for k in range(n + 1):
        fitted = fmpq(0)
        for S in _sets(n, k):
            chi = fmpq_mat(2**n, 1, _parity(X, S).tolist())
            fitted += (chi.transpose() * projection * chi)[0, 0] / 2**n
        assert fitted <= rank
        assert comb(n, k) - fitted >= comb(n, k) - dimension
