"""How well nonnegative combinations of features can correlate with a target, exactly, with a certificate.

Let phi_1, ..., phi_d and t be functions on finitely many points with masses, and <f, g> their covariance. Over all
c >= 0 with f = sum c_j phi_j not constant the correlation <f, t>/(|f| |t|) is at most |p|/|t|, where p = sum c_j phi_j
is the projection of t on the cone. For

    c_j >= 0,    <phi_j, p> >= <phi_j, t>,    <p, p> = <p, t>

give <f, t> <= <f, p> <= |f| |p| for every f in the cone, with equality at f = p. The converse, that the projection has
these properties, is the condition of optimality of a convex program; it is found by an active set (Lawson and Hanson),
here in rational numbers, which cannot cycle. Where no feature has a positive covariance with t, p = 0.

Source: Lawson and Hanson, Solving Least Squares Problems, chapter 23; pareto-frontiers, theorem C.16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.linear import solve_unique
from lemmata.numerics.exact.numbers import as_exact

__all__ = ["ConeCorrelation", "best_correlation", "verify_correlation"]


@dataclass(frozen=True)
class ConeCorrelation:
    """The largest correlation and the combination that has it.

    Attributes:
        coefficients: c, shape (d,), fmpq, nonnegative; all 0 where no combination correlates positively.
        squared: the square of the largest correlation.
    """

    coefficients: tuple[fmpq, ...]
    squared: fmpq

    @property
    def value(self) -> arb:
        """An enclosure of the largest correlation."""
        return arb(self.squared).sqrt()


def best_correlation(
    features: ArrayLike, target: ArrayLike | Sequence[Any], masses: ArrayLike | Sequence[Any] | None = None
) -> ConeCorrelation:
    """The largest correlation of the target with a nonnegative combination of the features.

    Args:
        features: shape (N, d), rational.
        target: shape (N,), rational, not constant.
        masses: shape (N,), rational and positive; all equal if None.

    Raises:
        ValueError: if the shapes do not fit, a number is not rational, a mass is not positive or the target constant.
    """
    gram, right, size = _covariances(features, target, masses)
    coefficients = _projection(gram, right)
    squared = sum((c * h for c, h in zip(coefficients, right, strict=True)), fmpq(0)) / size
    return ConeCorrelation(tuple(coefficients), squared)


def verify_correlation(
    certificate: ConeCorrelation,
    features: ArrayLike,
    target: ArrayLike | Sequence[Any],
    masses: ArrayLike | Sequence[Any] | None = None,
) -> None:
    """The check that the largest correlation is what the certificate says, by the three conditions above.

    Raises:
        ValueError: naming the condition that fails, or as `best_correlation`.
    """
    gram, right, size = _covariances(features, target, masses)
    c = np.array(certificate.coefficients, dtype=object)
    if c.shape != right.shape or any(not isinstance(x, fmpq) for x in c):
        raise ValueError(f"The certificate needs {len(right)} rational coefficients, one for each feature.")
    if any(x < 0 for x in c):
        raise ValueError("A coefficient of the certificate is negative.")
    covariances = gram @ c
    low = [j for j, (a, b) in enumerate(zip(covariances, right, strict=True)) if a < b]
    if low:
        raise ValueError(f"Feature {low[0]} would raise the correlation: it covaries more with the target than with p.")
    if covariances @ c != right @ c:
        raise ValueError("The combination is not the projection: <p, p> differs from <p, t>.")
    if certificate.squared * size != right @ c:
        raise ValueError(f"The squared correlation is {right @ c / size}, not {certificate.squared}.")


def _covariances(
    features: ArrayLike, target: ArrayLike | Sequence[Any], masses: ArrayLike | Sequence[Any] | None
) -> tuple[NDArray[np.object_], NDArray[np.object_], fmpq]:
    """<phi_i, phi_j>, <phi_j, t> and <t, t>; errors as `best_correlation`."""
    phi, t = as_exact(features), as_exact(target)
    weights = as_exact(np.ones(len(t), dtype=np.int64) if masses is None else masses)
    if phi.ndim != 2 or 0 in phi.shape or not t.shape == weights.shape == phi.shape[:1]:
        raise ValueError(
            "The shapes must be features (N, d), target (N,) and masses (N,) with N, d >= 1, not "
            f"{phi.shape}, {t.shape} and {weights.shape}."
        )
    if any(not isinstance(x, fmpq) for part in (phi, t, weights) for x in part.flat):
        raise ValueError("Features, target and masses must be rational numbers.")
    if any(x <= 0 for x in weights):
        raise ValueError("The masses must be positive.")
    weights = weights / weights.sum()
    phi, t = phi - weights @ phi, t - weights @ t
    size = weights @ (t * t)
    if size == 0:
        raise ValueError("The target is constant, so that nothing correlates with it.")
    weighted = phi * weights[:, None]
    return phi.T @ weighted, weighted.T @ t, size


def _projection(gram: NDArray[np.object_], right: NDArray[np.object_]) -> list[fmpq]:
    """The c >= 0 that minimises c.gram c - 2 right.c."""
    d = len(right)
    c = np.full(d, fmpq(0), dtype=object)
    active: list[int] = []
    while True:
        slopes = right - gram @ c
        best = max((j for j in range(d) if j not in active), key=lambda j: slopes[j], default=None)
        if best is None or slopes[best] <= 0:
            return c.tolist()
        active.append(best)
        while True:
            solution = solve_unique(gram[np.ix_(active, active)], right[active])
            if all(x > 0 for x in solution):
                c[active] = solution
                break
            share = min(c[j] / (c[j] - x) for j, x in zip(active, solution, strict=True) if x <= 0)
            for j, x in zip(active, solution, strict=True):
                c[j] += share * (x - c[j])
            active = [j for j in active if c[j] > 0]
