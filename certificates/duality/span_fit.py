"""How far the parities are from the span of given features: what no fixed kernel fits.

A kernel predictor trained on m points is a combination of the m functions K(x_j, .), whatever the labels. For a table
of features Psi on all inputs (`lemmata.certificates.duality.features`) of rank d, and P the orthogonal projection on
its span,

    min over w of E (chi_S - <w, Psi>)^2 = 1 - |P chi_S|^2,    sum over all S of |P chi_S|^2 = trace P = d,

so that the mean over the C(n,k) sets of size k is at least 1 - d/C(n,k). All numbers are exact.

Source: pareto-frontiers, section 6.3.2, paragraph on the kernel regime.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from flint import fmpq, fmpz_mat

from lemmata.certificates.duality.features import FeatureTable, parity_labels

__all__ = ["rank", "span_residuals"]


def rank(table: FeatureTable) -> int:
    """The dimension of the span of the features."""
    return table.numerators.rank()


def span_residuals(table: FeatureTable, k: int) -> list[fmpq]:
    """The least mean squared error of a linear predictor for each parity of k inputs, in the order of `combinations`.

    Raises:
        ValueError: unless 0 <= k <= n.
    """
    n = table.inputs
    if not 0 <= k <= n:
        raise ValueError(f"The size k of the sets must be in 0, ..., {n}, not {k}.")
    labels = np.stack([parity_labels(S, n) for S in combinations(range(n), k)], axis=1)
    targets = fmpz_mat(2**n, labels.shape[1], labels.ravel().tolist())
    if not rank(table):
        return [fmpq(1)] * labels.shape[1]
    basis = _independent_columns(table)
    correlations = basis.transpose() * targets
    weights = (basis.transpose() * basis).solve(correlations)
    fitted = [
        sum((correlations[i, S] * weights[i, S] for i in range(correlations.nrows())), start=fmpq(0))
        for S in range(labels.shape[1])
    ]
    return [1 - size / 2**n for size in fitted]


def _independent_columns(table: FeatureTable) -> fmpz_mat:
    """Columns of the table that form a basis of its span."""
    reduced, _, dimension = table.numerators.rref()
    rows = reduced.tolist()
    pivots = [next(j for j, entry in enumerate(row) if entry != 0) for row in rows[:dimension]]
    columns = table.numerators.transpose().tolist()
    return fmpz_mat([columns[j] for j in pivots]).transpose()
