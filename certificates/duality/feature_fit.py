"""How well a linear predictor of bounded norm on fixed features fits a parity, with certificates from both sides.

For a table of features Psi on all inputs of {-1, 1}^n (`certificates.duality.features`), the best hinge loss of a
parity chi_S under ||w|| <= R,

    v(S) = min_(||w|| <= R) E (1 - chi_S <w, Psi>)_+ = max_(0 <= alpha <= 1) E alpha - R ||E alpha chi_S Psi||,

with one alpha(x) for each input, is a second-order cone program. It is solved in floating point; its two solutions are
rounded, and what is returned is exact: `FitCertificate` holds a w within the ball and an alpha, hence an upper and a
lower bound, and `verify` checks both in integer arithmetic, without a root, whatever the solver did.

At alpha = 1 the lower bound is 1 - R |a_S|, a_S = E chi_S Psi. The a_S over all S have squares of sum E |Psi|^2, so
over the C(n,k) sets of size k the largest v(S), and even the average, is at least

    1 - R sqrt(E |Psi|^2 / C(n,k))        (`theorem_bound`),

whatever the dimension D: if |Psi| <= 1 and R^2 < eps^2 C(n,k), it exceeds 1 - eps.

Source: hidden-progress, theorem 5.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, isqrt, lcm

import numpy as np
from flint import arb, fmpq, fmpz_mat

from certificates.duality.features import FeatureTable, parity_labels, sorted_support

__all__ = ["FitCertificate", "best_fit", "certify", "fit_all_parities", "theorem_bound", "verify"]

_GRID = 2**30
"""Solutions of the solver are rounded to multiples of 1/_GRID."""


@dataclass(frozen=True)
class FitCertificate:
    """An exact bracket of the best hinge loss v(S) of one parity under ||w|| <= R.

    Attributes:
        support: S, increasing.
        radius: R.
        weights: w, with ||w|| <= R and E (1 - chi_S <w, Psi>)_+ <= upper.
        dual: alpha in [0, 1]^(2^n), with E alpha - R ||E alpha chi_S Psi|| >= lower.
        lower: a lower bound on v(S).
        upper: an upper bound on v(S).
    """

    support: tuple[int, ...]
    radius: Fraction
    weights: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]
    lower: Fraction
    upper: Fraction


def theorem_bound(table: FeatureTable, k: int, radius: Fraction | int | str) -> arb:
    """1 - R sqrt(E |Psi|^2 / C(n,k)): below the average, hence the largest, v(S) over all S of size k.

    Raises:
        ValueError: if k is not in 0, ..., n, or the radius is negative.
    """
    if not 0 <= k <= table.inputs:
        raise ValueError(f"The size k of the sets must be in 0, ..., {table.inputs}, not {k}.")
    norms = table.squared_norms()
    mean = sum(norms, start=fmpq(0)) / len(norms)
    R = _radius(radius)
    return 1 - fmpq(R.numerator, R.denominator) * arb(mean / comb(table.inputs, k)).sqrt()


def best_fit(table: FeatureTable, support: Iterable[int], radius: Fraction | int | str) -> FitCertificate:
    """A verified bracket of v(S), from the solutions of the solver.

    Raises:
        ValueError: if the support is no set of inputs, the radius is negative, or the solver returns no solution.
    """
    import cvxpy  # slow to import

    S, R = sorted_support(support, table.inputs), _radius(radius)
    psi, labels = table.floats(), parity_labels(S, table.inputs)
    rows = len(psi)
    w, slack = cvxpy.Variable(table.dimension), cvxpy.Variable(rows, nonneg=True)
    margins = slack >= 1 - cvxpy.multiply(labels, psi @ w)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(slack) / rows), [margins, cvxpy.norm(w, 2) <= float(R)])
    problem.solve(solver=cvxpy.CLARABEL)
    if w.value is None or margins.dual_value is None:
        raise ValueError(
            f"The solver found no solution for the parity of {S}: {problem.status}. Scale the features down "
            "(certificates.duality.features.normalised) and the radius up: the solver works in floating point."
        )
    multipliers = rows * np.asarray(margins.dual_value, dtype=np.float64)
    dual = tuple(_rounded(x) for x in np.clip(multipliers, 0, 1).tolist())
    return certify(table, S, R, w.value.tolist(), dual)


def certify(
    table: FeatureTable,
    support: Iterable[int],
    radius: Fraction | int | str,
    weights: Sequence[float],
    dual: Sequence[Fraction],
) -> FitCertificate:
    """The certificate with the best bounds that these weights (shrunk into the ball) and this dual vector prove.

    Raises:
        ValueError: as `verify`.
    """
    S, R = sorted_support(support, table.inputs), _radius(radius)
    w = [_rounded(x) for x in weights]
    norm = _root_above(sum((x * x for x in w), start=Fraction(0)))
    shrunk = tuple(x * R / norm if norm > R else x for x in w)
    alpha = tuple(Fraction(x) for x in dual)
    _check_sizes(table, alpha, w)
    mean = sum(alpha, start=Fraction(0)) / len(alpha)
    lower = max(Fraction(0), mean - R * _root_above(_squared_correlation(table, S, alpha)))
    certificate = FitCertificate(S, R, shrunk, alpha, lower, _hinge_loss(table, S, shrunk))
    verify(table, certificate)
    return certificate


def verify(table: FeatureTable, certificate: FitCertificate) -> None:
    """The check that a certificate proves lower <= v(S) <= upper for these features, in integer arithmetic.

    Raises:
        ValueError: naming what fails: the sizes, a dual entry outside [0, 1], the norm of the weights, a bound.
    """
    S, R = sorted_support(certificate.support, table.inputs), _radius(certificate.radius)
    alpha, w = certificate.dual, certificate.weights
    _check_sizes(table, alpha, w)
    outside = [i for i, x in enumerate(alpha) if not 0 <= x <= 1]
    if outside:
        raise ValueError(f"Entry {outside[0]} of the dual vector is {alpha[outside[0]]}, outside [0, 1].")
    if sum((x * x for x in w), start=Fraction(0)) > R * R:
        raise ValueError(f"The weights have a norm above the radius {R}.")
    gap = sum(alpha, start=Fraction(0)) / len(alpha) - certificate.lower
    proved = gap >= 0 and gap * gap >= R * R * _squared_correlation(table, S, alpha)
    if not proved and certificate.lower > 0:  # a loss is never negative
        raise ValueError(f"The dual vector does not prove the lower bound {float(certificate.lower)}.")
    if _hinge_loss(table, S, w) > certificate.upper:
        raise ValueError(f"The weights do not prove the upper bound {float(certificate.upper)}.")


def fit_all_parities(table: FeatureTable, k: int, radius: Fraction | int | str) -> list[FitCertificate]:
    """The certificates of all S of size k; their largest and their average loss are bounded by `theorem_bound`.

    Raises:
        ValueError: as `best_fit` and `theorem_bound`.
    """
    if not 0 <= k <= table.inputs:
        raise ValueError(f"The size k of the sets must be in 0, ..., {table.inputs}, not {k}.")
    return [best_fit(table, S, radius) for S in combinations(range(table.inputs), k)]


def _check_sizes(table: FeatureTable, alpha: Sequence[Fraction], w: Sequence[Fraction]) -> None:
    if len(alpha) != 2**table.inputs or len(w) != table.dimension:
        raise ValueError(
            f"The certificate must have {2**table.inputs} dual entries and {table.dimension} weights, "
            f"not {len(alpha)} and {len(w)}."
        )


def _radius(radius: Fraction | int | str) -> Fraction:
    R = Fraction(radius)
    if R < 0:
        raise ValueError(f"The radius must not be negative, but it is {radius}.")
    return R


def _rounded(x: float) -> Fraction:
    return Fraction(round(x * _GRID), _GRID)


def _root_above(x: Fraction) -> Fraction:
    """A rational upper bound of the square root, within 2^-60 of it."""
    scaled = x * 4**60
    return Fraction(isqrt(-(-scaled.numerator // scaled.denominator)) + 1, 2**60) if x else Fraction(0)


def _squared_correlation(table: FeatureTable, support: tuple[int, ...], alpha: Sequence[Fraction]) -> Fraction:
    """|E alpha chi_S Psi|^2, exactly."""
    numerators, common = _integers(alpha)
    signs = parity_labels(support, table.inputs).tolist()
    row = fmpz_mat(1, len(signs), [s * a for s, a in zip(signs, numerators, strict=True)])
    total = sum(int(x) ** 2 for x in (row * table.numerators).entries())
    return Fraction(total, (common * table.denominator * len(signs)) ** 2)


def _hinge_loss(table: FeatureTable, support: tuple[int, ...], weights: Sequence[Fraction]) -> Fraction:
    """E (1 - chi_S <w, Psi>)_+, exactly."""
    numerators, common = _integers(weights)
    column = table.numerators * fmpz_mat(len(numerators), 1, numerators)
    one = common * table.denominator
    signs = parity_labels(support, table.inputs).tolist()
    losses = (max(0, one - s * int(f)) for s, f in zip(signs, column.entries(), strict=True))
    return Fraction(sum(losses), one * len(signs))


def _integers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """(numerators, common denominator)."""
    common = lcm(*(x.denominator for x in values))
    return [int(x * common) for x in values], common
