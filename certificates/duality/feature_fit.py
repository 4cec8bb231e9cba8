"""How well a linear predictor of bounded norm on fixed features fits a parity, with certificates from both sides.

For a table of features Psi on all inputs of {-1, 1}^n (`lemmata.certificates.duality.features`), the best hinge loss of
a parity chi_S under ||w|| <= R,

    v(S) = min_(||w|| <= R) E (1 - chi_S <w, Psi>)_+ = max_(0 <= alpha <= 1) E alpha - R ||E alpha chi_S Psi||,

with one alpha(x) for each input, is a second-order cone program. It is solved in floating point for features scaled to
norms near 1, so that only R max |Psi| matters; its two solutions are rounded, and what is returned is exact:
`FitCertificate` holds a w within the ball and an alpha, hence an upper and a lower bound, and `verify` checks both in
integer arithmetic, without a root, whatever the solver did.

At alpha = 1 the lower bound is 1 - R |a_S|, a_S = E chi_S Psi. The a_S over all S have squares of sum E |Psi|^2, so
over the C(n,k) sets of size k the largest v(S), and even the average, is at least

    1 - R sqrt(E |Psi|^2 / C(n,k))        (`theorem_bound`),

whatever the dimension D: if |Psi| <= 1 and R^2 < eps^2 C(n,k), it exceeds 1 - eps.

Source: hidden-progress, theorem 5.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, isqrt, lcm

import numpy as np
from flint import arb, fmpq, fmpz_mat
from numpy.typing import NDArray

from lemmata.certificates.duality.features import FeatureTable, parity_labels, sorted_support
from lemmata.numerics.exact.linear import pivot_columns, solve_unique
from lemmata.numerics.exact.rationals import as_fraction

__all__ = ["FitCertificate", "best_fit", "certify", "fit_all_parities", "theorem_bound", "verify"]

_GRID = 2**30
"""Solutions of the solver, for features of norm at most 1, are rounded to multiples of 1/_GRID."""

_INSIDE = Fraction(1, 10**6)
"""Weights shorter than (1 - _INSIDE) R count as inside of the ball when a dual vector is proposed."""


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
    """A verified bracket of v(S), from the solutions of the solver for features of norm at most 1.

    Where R |Psi| <= 1 no loss is cut off: alpha = 1 and w parallel to a_S are optimal, and no solver is asked. Where
    the solver's w lies inside of the ball, the dual vector is moved until it annihilates the features exactly, so that
    a large radius does not enlarge its error.

    Raises:
        ValueError: if the support is no set of inputs, the radius is negative, or the solver returns no solution.
    """
    S, R = sorted_support(support, table.inputs), _radius(radius)
    largest = as_fraction(max(table.squared_norms()))
    if R * R * largest <= 1:
        dual = (Fraction(1),) * 2**table.inputs
        correlation = _correlation(table, S, dual)
        size = _root_above(sum((x * x for x in correlation), start=Fraction(0)))
        direction = [_rounded(x / size) if size else Fraction(0) for x in correlation]
        return certify(table, S, R, [2 * R * x for x in direction], dual)  # shrunk to the sphere
    unit = _power_of_two(largest)
    points, multipliers = _solved(table, S, R, unit)
    norm = float(np.linalg.norm(points))
    dual = tuple(_rounded(x) for x in np.clip(multipliers, 0, 1).tolist())
    if norm < (1 - _INSIDE) * R * unit:
        dual = _annihilating(table, S, dual) or dual
    return certify(table, S, R, [_rounded(x) / unit for x in points.tolist()], dual)


def _solved(
    table: FeatureTable, support: tuple[int, ...], radius: Fraction, unit: Fraction
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(unit w, alpha) for the features divided by ``unit``, in floating point, for radius * unit > 1."""
    import cvxpy  # slow to import

    psi, labels = table.floats(unit), parity_labels(support, table.inputs)
    rows = len(psi)
    w, slack = cvxpy.Variable(table.dimension), cvxpy.Variable(rows, nonneg=True)
    margins = slack >= 1 - cvxpy.multiply(labels, psi @ w)
    # a longer w is of no use to floats: its outputs would be lost in rounding
    ball = cvxpy.norm(w, 2) <= float(min(radius * unit, Fraction(_GRID)))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(slack) / rows), [margins, ball])
    with suppress(cvxpy.SolverError):  # which leaves no solution, too
        problem.solve(solver=cvxpy.CLARABEL)
    if w.value is None or margins.dual_value is None:
        raise ValueError(
            f"The solver found no solution for the parity of {support}: {problem.status}. It works in floating point: "
            "take a smaller radius, or features that are farther from dependent."
        )
    return np.asarray(w.value, dtype=np.float64), rows * np.asarray(margins.dual_value, dtype=np.float64)


def _power_of_two(square: Fraction) -> Fraction:
    """A power of 2 between once and four times the square root of ``square`` > 0."""
    bits = square.numerator.bit_length() - square.denominator.bit_length()  # 2^(bits - 1) < square < 2^(bits + 1)
    return Fraction(2) ** (bits // 2 + 1)


def _annihilating(
    table: FeatureTable, support: tuple[int, ...], dual: Sequence[Fraction]
) -> tuple[Fraction, ...] | None:
    """A dual vector near this one with E alpha chi_S Psi = 0, changed at entries inside of [0, 1]; None if none is.

    As many entries are changed as the features there have rank; those farthest from 0 and 1 come first.
    """
    inner = sorted((i for i, x in enumerate(dual) if 0 < x < 1), key=lambda i: -min(dual[i], 1 - dual[i]))
    if not inner:
        return None
    labels = parity_labels(support, table.inputs)
    entries = np.array(table.numerators.tolist(), dtype=object)
    signed = np.array([[fmpq(int(labels[i]) * int(x)) for x in entries[i]] for i in inner], dtype=object)
    excess = np.array([fmpq(x.numerator, x.denominator) for x in _correlation(table, support, dual)], dtype=object)
    chosen = pivot_columns(signed.T)
    right = excess * (table.denominator * len(dual))
    try:
        change = solve_unique(signed[chosen].T, right)
    except ValueError:  # the features at these entries do not generate the excess
        return None
    moved = list(dual)
    for i, x in zip(chosen, change, strict=True):
        moved[inner[i]] -= as_fraction(x)
    return tuple(moved) if all(0 <= x <= 1 for x in moved) else None


def certify(
    table: FeatureTable,
    support: Iterable[int],
    radius: Fraction | int | str,
    weights: Sequence[float | Fraction],
    dual: Sequence[Fraction],
) -> FitCertificate:
    """The certificate with the best bounds that these weights (shrunk into the ball) and this dual vector prove.

    Floats count as the binary fractions that they are.

    Raises:
        ValueError: as `verify`.
    """
    S, R = sorted_support(support, table.inputs), _radius(radius)
    w = [Fraction(x) for x in weights]
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
        ValueError: naming what fails: a number that is not exact, the sizes, a dual entry outside [0, 1], the norm of
            the weights, a bound.
    """
    _refuse_inexact_numbers(certificate)
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


def _refuse_inexact_numbers(certificate: FitCertificate) -> None:
    """Refuse floats above all: no comparison with nan holds, so that nan would pass for any bound."""
    numbers = {
        "radius": (certificate.radius,),
        "lower bound": (certificate.lower,),
        "upper bound": (certificate.upper,),
        "weights": certificate.weights,
        "dual vector": certificate.dual,
    }
    for part, values in numbers.items():
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | Fraction):
                raise ValueError(f"The {part} of a certificate must hold integers or Fractions, not {value!r}.")


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


def _rounded(x: float | Fraction) -> Fraction:
    return Fraction(round(x * _GRID), _GRID)


def _root_above(x: Fraction) -> Fraction:
    """A rational upper bound of the square root, too large by less than 2^-60 of it."""
    if not x:
        return Fraction(0)
    shift = 61 + max(0, x.denominator.bit_length() - x.numerator.bit_length() + 1) // 2  # x 4^shift >= 4^60
    scaled = x * 4**shift
    return Fraction(isqrt(-(-scaled.numerator // scaled.denominator)) + 1, 2**shift)


def _correlation(table: FeatureTable, support: tuple[int, ...], alpha: Sequence[Fraction]) -> list[Fraction]:
    """E alpha chi_S Psi, exactly."""
    numerators, common = _integers(alpha)
    signs = parity_labels(support, table.inputs).tolist()
    row = fmpz_mat(1, len(signs), [s * a for s, a in zip(signs, numerators, strict=True)])
    total = common * table.denominator * len(signs)
    return [Fraction(int(x), total) for x in (row * table.numerators).entries()]


def _squared_correlation(table: FeatureTable, support: tuple[int, ...], alpha: Sequence[Fraction]) -> Fraction:
    """|E alpha chi_S Psi|^2, exactly."""
    return sum((x * x for x in _correlation(table, support, alpha)), start=Fraction(0))


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
