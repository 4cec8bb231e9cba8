"""No fixed kernel fits all parities of k inputs with o(n^k) samples: dimension against the number of parities.

A kernel predictor trained on m inputs lies in the span of m functions, whatever the labels; the mean over S of the
squared distance of chi_S from a space of dimension d is at least 1 - d/C(n,k), and C(n,k) >= (n/k)^k.
"""

from __future__ import annotations

from fractions import Fraction as Q
from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from lemmata.certificates.duality.features import feature_table
from lemmata.certificates.duality.span_fit import rank, span_residuals
from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.theorems.evidence import check, proof_steps


def parity(n: int, S: tuple[int, ...]) -> np.ndarray:
    return sign_inputs(n)[:, list(S)].prod(axis=1)


@check(
    "pareto-frontiers:fact-kernel-lower-bound",
    grade="exact",
    target="printed",
    cases="kernels (2 + <x, x'>)^q, q = 1, ..., 4, ridge penalties 0.01 and 3, (n, k, m) = (5, 2, 4), (6, 3, 9), "
    "random inputs (seed 12): exact predictors of every parity",
)
@proof_steps("kernel-bound.md: 1")
@pytest.mark.parametrize(("n", "k", "m"), [(5, 2, 4), (6, 3, 9)])
@pytest.mark.parametrize("q", [1, 2, 3, 4])
def test_kernel_ridge_regression_on_every_parity(n: int, k: int, m: int, q: int) -> None:
    """f = sum_j a_j K(x_j, .), (K + penalty) a = y at the m inputs: its error is at least the distance of chi_S from
    the span, whose mean is at least 1 - m/C(n,k).
    """
    rng = np.random.default_rng([12, n, q])
    points = rng.choice(2**n, size=m, replace=False)
    kernel = (2 + sign_inputs(n) @ sign_inputs(n)[points].T) ** q  # (2^n, m)
    residuals = span_residuals(feature_table(kernel), k)
    assert rank(feature_table(kernel)) <= m
    assert sum(residuals, start=fmpq(0)) / comb(n, k) >= 1 - fmpq(m, comb(n, k))
    for penalty in (fmpq(1, 100), fmpq(3)):
        gram = fmpq_mat(m, m, [fmpq(int(x)) for x in kernel[points].ravel()])
        for i in range(m):
            gram[i, i] = gram[i, i] + penalty
        errors = []
        for S, least in zip(combinations(range(n), k), residuals, strict=True):
            y = parity(n, S)
            weights = gram.solve(fmpq_mat(m, 1, [fmpq(int(v)) for v in y[points]]))
            f = fmpq_mat(2**n, m, [fmpq(int(x)) for x in kernel.ravel()]) * weights
            errors.append(sum(((f[i, 0] - int(y[i])) ** 2 for i in range(2**n)), start=fmpq(0)) / 2**n)
            assert errors[-1] >= least
        assert sum(errors, start=fmpq(0)) / len(errors) >= 1 - fmpq(m, comb(n, k))
        assert len(set(errors)) > 1


@check(
    "pareto-frontiers:fact-kernel-lower-bound",
    grade="exact",
    target="printed",
    cases="(n, k) = (4, 2), (5, 2), (6, 3): spans of d = 1, ..., C(n,k) parities of size k",
)
@proof_steps("kernel-bound.md: 3")
@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 2), (6, 3)])
def test_parities_as_features_attain_the_bound(n: int, k: int) -> None:
    """Residual 0 for the d parities and 1 for the others: the mean is 1 - d/C(n,k). Doubled features do not count."""
    every = list(combinations(range(n), k))
    for d in range(1, len(every) + 1):
        columns = [parity(n, S) for S in every[:d]]
        table = feature_table(np.stack([*columns, columns[0] + 2 * columns[-1]], axis=1))
        assert rank(table) == d
        assert span_residuals(table, k) == [fmpq(0)] * d + [fmpq(1)] * (len(every) - d)


@check(
    "pareto-frontiers:fact-kernel-lower-bound",
    grade="numeric",
    target="printed",
    cases="n = 7, k = 3, d = 5, 20, random integer features (seed 3)",
)
@proof_steps("kernel-bound.md: 2")
@pytest.mark.parametrize("d", [5, 20])
def test_distances_as_least_squares(d: int) -> None:
    """The exact distances beside those of NumPy's least squares, to 1e-9 (condition below 10, 128 equations)."""
    n, k = 7, 3
    features = np.random.default_rng([3, d]).integers(-3, 4, size=(2**n, d))
    residuals = span_residuals(feature_table(features), k)
    assert np.linalg.cond(features) < 10
    for S, exact in zip(combinations(range(n), k), residuals, strict=True):
        weights = np.linalg.lstsq(features.astype(float), parity(n, S).astype(float), rcond=None)[0]
        assert abs(np.mean((features @ weights - parity(n, S)) ** 2) - float(as_fraction(exact))) < 1e-9
    assert sum(residuals, start=fmpq(0)) / comb(n, k) >= 1 - fmpq(d, comb(n, k))


@check("pareto-frontiers:fact-kernel-lower-bound", grade="exact", target="printed", supporting=True)
@proof_steps("kernel-bound.md: 5")
def test_the_number_of_parities_is_of_order_n_to_the_k() -> None:
    """C(n,k) = prod (n - j)/(k - j) >= (n/k)^k, as (n - j)/(k - j) >= n/k for 0 <= j < k <= n; n <= 40."""
    for n in range(1, 41):
        for k in range(1, n + 1):
            factors = [Q(n - j, k - j) for j in range(k)]
            assert prod(factors) == comb(n, k)
            assert min(factors) == Q(n, k)
