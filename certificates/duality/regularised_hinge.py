"""The least regularised hinge loss of a linear read-out, bracketed exactly from both sides.

For features phi(j), labels y_j = +-1, a law p on finitely many inputs and a penalty lambda > 0,

    F(w) = sum_j p_j (1 - y_j w.phi(j))_+ + (lambda/2) |w|^2  >=  sum_j a_j - |sum_j a_j y_j phi(j)|^2/(2 lambda)

for all multipliers 0 <= a_j <= p_j, since (1 - m)_+ p >= a (1 - m) and the rest is minimised by
w = sum_j a_j y_j phi(j)/lambda. Both sides are rational for rational w and a, and meet at the optimum. CVXPY solves the
problem in floating point; its multipliers are rounded, and, where the inputs of margin 1 that it suggests determine
them, replaced by the exact optimum, which closes the gap to 0. `verify` trusts none of this.

Floats count as the binary fractions that they are.

Source: pareto-frontiers, lemma C.9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.linear import solve_unique
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction

__all__ = ["RegularisedCertificate", "least_regularised_loss", "regularised_loss", "verify"]

_GRID = 2**60
_ACTIVE = (1e-4, 1e-6, 1e-8)
"""Multipliers farther than such a share of p_j from 0 and p_j are taken to belong to inputs of margin 1."""

Problem = tuple[list[list[Fraction]], list[Fraction], Fraction]


@dataclass(frozen=True)
class RegularisedCertificate:
    """An exact bracket of the least value of F.

    Attributes:
        weights: w, with F(w) <= upper.
        multipliers: a, with 0 <= a_j <= p_j and sum a - |sum a y phi|^2/(2 lambda) >= lower.
        lower: a lower bound on min F.
        upper: an upper bound on min F.
    """

    weights: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]
    lower: Fraction
    upper: Fraction

    @property
    def gap(self) -> Fraction:
        """The difference of the bounds: 0 if w is the minimiser."""
        return self.upper - self.lower


def regularised_loss(
    features: ArrayLike, labels: Sequence[int], law: Sequence[Any], penalty: object, weights: Iterable[Any]
) -> Fraction:
    """F(w), exactly; the plain hinge loss for the penalty 0.

    Raises:
        ValueError: as `least_regularised_loss`, or for another number of weights.
    """
    rows, p, decay = _problem(features, labels, law, penalty)
    w = [_fraction(x) for x in weights]
    if len(w) != len(rows[0]):
        raise ValueError(f"There must be {len(rows[0])} weights, one for each feature, not {len(w)}.")
    return _primal(rows, p, decay, w)


def least_regularised_loss(
    features: ArrayLike, labels: Sequence[int], law: Sequence[Any], penalty: object
) -> RegularisedCertificate:
    """The least value of F, with a verified certificate.

    Args:
        features: shape (inputs, D), finite floats or exact rational numbers.
        labels: +-1 for each input.
        law: probabilities (or any nonnegative weights) of the inputs.
        penalty: lambda > 0.

    Raises:
        ValueError: for shapes that do not fit, other labels, negative weights, numbers that are not finite or not
            rational, lambda <= 0, or if the solver finds no solution (take features and a penalty of similar size).
    """
    rows, p, decay = _problem(features, labels, law, penalty)
    if not decay:
        raise ValueError("The penalty must be positive: without it, use least_hinge_loss.")
    guess = _solved(rows, p, decay)
    best = _certificate(rows, p, decay, [min(max(_rounded(a), Fraction(0)), q) for a, q in zip(guess, p, strict=True)])
    for share in _ACTIVE:
        exact = _polished(rows, p, decay, guess, share)
        if exact is not None:
            best = min(best, _certificate(rows, p, decay, exact), key=lambda one: one.gap)
    verify(features, labels, law, penalty, best)
    return best


def verify(
    features: ArrayLike,
    labels: Sequence[int],
    law: Sequence[Any],
    penalty: object,
    certificate: RegularisedCertificate,
) -> None:
    """The check that a certificate proves lower <= min F <= upper, in fractions.

    Raises:
        ValueError: naming what fails: a number that is not exact, the sizes, the range of a multiplier, a bound; or as
            `least_regularised_loss` for the problem.
    """
    rows, p, decay = _problem(features, labels, law, penalty)
    if not decay:
        raise ValueError("The penalty must be positive: without it, use least_hinge_loss.")
    w, a = certificate.weights, certificate.multipliers
    for value in (*w, *a, certificate.lower, certificate.upper):
        if isinstance(value, bool) or not isinstance(value, int | Fraction):
            raise ValueError(f"A certificate must hold integers or Fractions, not {value!r}.")
    if len(w) != len(rows[0]) or len(a) != len(rows):
        raise ValueError(
            f"The certificate must have {len(rows[0])} weights and {len(rows)} multipliers, not {len(w)} and {len(a)}."
        )
    for j, (multiplier, weight) in enumerate(zip(a, p, strict=True)):
        if not 0 <= multiplier <= weight:
            raise ValueError(f"Multiplier {j} is {multiplier}, outside of [0, {weight}].")
    if _dual(rows, decay, a) < certificate.lower:
        raise ValueError(f"The multipliers prove the lower bound {_dual(rows, decay, a)} only.")
    if _primal(rows, p, decay, w) > certificate.upper:
        raise ValueError(f"The weights prove the upper bound {_primal(rows, p, decay, w)} only.")


def _problem(features: ArrayLike, labels: Sequence[int], law: Sequence[Any], penalty: object) -> Problem:
    """The rows y_j phi(j), the law and the penalty, checked, as fractions."""
    table = np.asarray(features)
    if table.ndim != 2 or 0 in table.shape or not len(table) == len(labels) == len(law):
        raise ValueError(
            f"The features must have the shape (inputs, D), with a label and a weight for each input, not "
            f"{table.shape}, {len(labels)} and {len(law)}."
        )
    p, decay = [_fraction(x) for x in law], _fraction(penalty)
    if any(y not in (1, -1) for y in labels) or any(q < 0 for q in p):
        raise ValueError("The labels must be 1 or -1, and the weights of the law at least 0.")
    if decay < 0:
        raise ValueError(f"The penalty must not be negative, but it is {penalty}.")
    rows = [[int(y) * _fraction(x) for x in row] for y, row in zip(labels, table.tolist(), strict=True)]
    return rows, p, decay


def _fraction(value: object) -> Fraction:
    if isinstance(value, float):
        if not np.isfinite(value):
            raise ValueError(f"The numbers must be finite, not {value}.")
        return Fraction(value)
    number = as_exact([value])[0]
    if not isinstance(number, fmpq):
        raise ValueError(f"The numbers must be rational, not {value!r}.")
    return as_fraction(number)


def _primal(rows: list[list[Fraction]], p: list[Fraction], decay: Fraction, w: Sequence[Fraction]) -> Fraction:
    margins = [sum((x * u for x, u in zip(row, w, strict=True)), start=Fraction(0)) for row in rows]
    loss = sum((q * max(1 - m, Fraction(0)) for q, m in zip(p, margins, strict=True)), start=Fraction(0))
    return loss + decay / 2 * sum((u * u for u in w), start=Fraction(0))


def _dual(rows: list[list[Fraction]], decay: Fraction, a: Sequence[Fraction]) -> Fraction:
    combined = _combination(rows, a)
    return sum(a, start=Fraction(0)) - sum((x * x for x in combined), start=Fraction(0)) / (2 * decay)


def _combination(rows: list[list[Fraction]], a: Sequence[Fraction]) -> list[Fraction]:
    return [sum((q * row[i] for q, row in zip(a, rows, strict=True)), start=Fraction(0)) for i in range(len(rows[0]))]


def _certificate(
    rows: list[list[Fraction]], p: list[Fraction], decay: Fraction, a: Sequence[Fraction]
) -> RegularisedCertificate:
    """The bracket that feasible multipliers give, with the weights that they determine."""
    w = [x / decay for x in _combination(rows, a)]
    return RegularisedCertificate(tuple(w), tuple(a), _dual(rows, decay, a), _primal(rows, p, decay, w))


def _solved(rows: list[list[Fraction]], p: list[Fraction], decay: Fraction) -> list[float]:
    """The multipliers in floating point."""
    import cvxpy  # slow to import

    table, law = np.array(rows, dtype=np.float64), np.array(p, dtype=np.float64)
    unit = float(np.sqrt(float(decay)))
    w, slack = cvxpy.Variable(table.shape[1]), cvxpy.Variable(len(law), nonneg=True)  # w in units of 1/sqrt(lambda)
    margins = slack >= 1 - (table / unit) @ w
    problem = cvxpy.Problem(cvxpy.Minimize(law @ slack + cvxpy.sum_squares(w) / 2), [margins])
    with suppress(cvxpy.SolverError):  # which leaves no solution, too
        problem.solve(solver=cvxpy.CLARABEL)
    if margins.dual_value is None:
        raise ValueError(
            f"The solver found no solution: {problem.status}. It works in floating point: take features, a law and a "
            "penalty of similar sizes."
        )
    return np.asarray(margins.dual_value, dtype=np.float64).tolist()


def _polished(
    rows: list[list[Fraction]], p: list[Fraction], decay: Fraction, guess: Sequence[float], least: float
) -> list[Fraction] | None:
    """Multipliers with those near 0 and p_j put there, and margins of exactly 1 elsewhere; None if there are none."""
    share = [a / float(q) if q else 0.0 for a, q in zip(guess, p, strict=True)]
    a = [q if s > 1 - least else Fraction(0) for s, q in zip(share, p, strict=True)]
    inner = [j for j, s in enumerate(share) if least <= s <= 1 - least]
    if inner:
        fixed = _combination(rows, a)
        gram = as_exact([[sum(x * y for x, y in zip(rows[i], rows[j], strict=True)) for j in inner] for i in inner])
        right = as_exact([decay - sum(x * y for x, y in zip(rows[i], fixed, strict=True)) for i in inner])
        try:
            solution = solve_unique(gram, right)
        except ValueError:  # dependent features
            return None
        for j, x in zip(inner, solution, strict=True):
            a[j] = as_fraction(x)
    return a if all(0 <= x <= q for x, q in zip(a, p, strict=True)) else None


def _rounded(x: float) -> Fraction:
    return Fraction(round(x * _GRID), _GRID)
