"""Subgradient descent on a linear read-out with the hinge loss and weight decay, and what it is sure to reach.

For features phi(j) of norm at most R, labels y_j = +-1 and a law p on finitely many inputs,

    F(w) = sum_j p_j (1 - y_j w.phi(j))_+ + (lambda/2) |w|^2

is lambda-strongly convex. From w_1 = 0 the steps w_(t+1) = w_t - (lambda w_t - v_t)/(lambda t), with v_t = sum of
p_j y_j phi(j) over the inputs of margin below 1, make w_(t+1) the mean of v_1/lambda, ..., v_t/lambda: |w| <= R/lambda,
and subgradients have norms of at most G = 2 R. After T steps the *last* iterate satisfies

    F(w_(T+1)) - min F <= (G^2/lambda) (1 + 1/2 + ... + 1/T + 1/2)/(T + 1)              (`last_iterate_bound`),

by the argument in the written proof. `lemmata.certificates.duality.regularised_hinge` finds the minimum, with a
certificate.

Without weight decay, steps of linearly falling size w (1 - t/T) lose no logarithm: the last of T iterates from 0 has a
loss of at most that of any u plus |u|^2/(2wT) + w R^2/2 (`falling_rate_bound`), which is |u| R/sqrt(T) for the best w.

Numbers are float64 (compiled, for millions of steps) or exact (object arrays of `fmpq`, for tens of them).

Source: pareto-frontiers, lemmas C.7 to C.9; for falling rates theorem 6.4.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.balls import decided_less_equal
from lemmata.numerics.exact.integers import smallest_integer
from lemmata.numerics.exact.numbers import as_exact

__all__ = [
    "falling_rate_bound",
    "falling_rate_descent",
    "last_iterate_bound",
    "second_layer_sizes",
    "subgradient_descent",
    "uniform_deviation",
]

Array = NDArray[Any]


@numba.njit(cache=True)
def _descend(rows: np.ndarray, law: np.ndarray, penalty: float, steps: int) -> np.ndarray:
    """The last iterate for rows y_j phi(j)."""
    count, width = rows.shape
    w, v = np.zeros(width), np.zeros(width)
    for t in range(1, steps + 1):
        v[:] = 0.0
        for j in range(count):
            margin = 0.0
            for i in range(width):
                margin += w[i] * rows[j, i]
            if margin < 1.0:
                for i in range(width):
                    v[i] += law[j] * rows[j, i]
        for i in range(width):
            w[i] += (v[i] / penalty - w[i]) / t
    return w


def subgradient_descent(features: ArrayLike, labels: ArrayLike, law: ArrayLike, penalty: Any, steps: int) -> Array:
    """The iterate after so many steps of size 1/(lambda t) from 0, shape (D,).

    Args:
        features: phi, shape (inputs, D), floats or exact rational numbers.
        labels: +-1, shape (inputs,).
        law: probabilities, shape (inputs,); the weights 1/m for a sample.
        penalty: lambda.
        steps: T.

    Raises:
        ValueError: for shapes that do not fit, other labels, negative weights, lambda <= 0 or T < 0, NaN or infinity.
    """
    rows, p, exact = _checked(features, labels, law, penalty)
    if not penalty > 0 or steps < 0:
        raise ValueError(f"The penalty must be positive and the number of steps at least 0, not {penalty} and {steps}.")
    if exact:
        return _exact_descent(rows, p, as_exact([penalty])[0], steps)
    return _descend(rows, p, float(penalty), steps)


def falling_rate_descent(features: ArrayLike, labels: ArrayLike, law: ArrayLike, rate: Any, steps: int) -> Array:
    """The last of T iterates w_1 = 0, w_(t+1) = w_t + rate (1 - t/T) v_t, without weight decay, shape (D,).

    Args:
        features: as in `subgradient_descent`, and so are the labels and the law.
        labels: +-1.
        law: probabilities.
        rate: the first step is (1 - 1/T) times as large, above 0.
        steps: T >= 1.

    Raises:
        ValueError: as `subgradient_descent`.
    """
    rows, p, exact = _checked(features, labels, law, rate)
    if not rate > 0 or steps < 1:
        raise ValueError(f"The rate must be positive and the number of iterates at least 1, not {rate} and {steps}.")
    w: Array = as_exact(np.zeros(rows.shape[1], dtype=int)) if exact else np.zeros(rows.shape[1])
    first: Any = as_exact([rate])[0] if exact else float(rate)
    for t in range(1, steps):
        active = np.asarray((rows @ w < 1) & (p > 0), dtype=bool)
        if not active.any():  # the subgradient is 0, and stays so
            break
        w = w + first * (steps - t) / steps * ((p * active) @ rows)
    return w


def falling_rate_bound(norm_squared: object, radius_squared: object, rate: object, steps: int) -> fmpq:
    """B^2/(2wT) + w R^2/2: how far the last iterate of `falling_rate_descent` is above the loss of a u, |u| <= B.

    Args:
        norm_squared: B^2, an exact rational number, as are the next two.
        radius_squared: R^2, at least the largest squared norm of the features.
        rate: w.
        steps: T.

    Raises:
        ValueError: unless B^2, R^2 >= 0, w > 0 and T >= 1.
    """
    squared, radius, first = as_exact([norm_squared, radius_squared, rate])
    if squared < 0 or radius < 0 or not first > 0 or steps < 1:
        raise ValueError(
            f"The bound needs B^2 >= 0, R^2 >= 0, w > 0 and T >= 1, not {norm_squared}, {radius_squared}, {rate}, "
            f"{steps}."
        )
    return squared / (2 * first * steps) + first * radius / 2


def _checked(features: ArrayLike, labels: ArrayLike, law: ArrayLike, size: Any) -> tuple[Array, Array, bool]:
    """The rows y_j phi(j) and the law, and whether they are exact; ``size`` is a penalty or a rate."""
    table = np.asarray(features)
    exact = table.dtype == object
    phi, p = (as_exact(part) if exact else np.asarray(part, dtype=np.float64) for part in (table, law))
    y = np.asarray(labels)
    if phi.ndim != 2 or 0 in phi.shape or not y.shape == p.shape == phi.shape[:1]:
        raise ValueError(
            f"The shapes must be features (inputs, D), labels and law (inputs,), not {phi.shape}, {y.shape}, {p.shape}."
        )
    if not np.all(np.abs(y) == 1) or any(x < 0 for x in p):
        raise ValueError("The labels must be 1 or -1, and the weights of the law at least 0.")
    if not exact and not (np.all(np.isfinite(phi)) and np.all(np.isfinite(p)) and math.isfinite(size)):
        raise ValueError("The features, the law and the penalty or rate must be finite numbers.")
    return np.ascontiguousarray(y[:, None] * phi), p, exact


def _exact_descent(rows: Array, law: Array, penalty: fmpq, steps: int) -> Array:
    w = as_exact(np.zeros(rows.shape[1], dtype=int))
    for t in range(1, steps + 1):
        active = np.asarray(rows @ w < 1, dtype=bool)
        v = (law * active) @ rows
        w = w + (v / penalty - w) * fmpq(1, t)
    return w


def last_iterate_bound(radius: object, penalty: object, steps: int) -> arb:
    """(4 R^2/lambda) (1 + 1/2 + ... + 1/T + 1/2)/(T + 1): above F - min F at the last of T steps.

    Args:
        radius: R, at least the largest norm of the features, an exact rational number.
        penalty: lambda, likewise.
        steps: T.

    Raises:
        ValueError: unless R >= 0, lambda > 0 and T >= 0.
    """
    norm, decay = as_exact([radius, penalty])
    if norm < 0 or not decay > 0 or steps < 0:
        raise ValueError(f"The bound needs R >= 0, lambda > 0 and T >= 0, not {radius}, {penalty}, {steps}.")
    harmonic = arb(steps + 1).digamma() + arb.const_euler()
    return 4 * norm**2 / decay * (harmonic + fmpq(1, 2)) / (steps + 1)


def uniform_deviation(norm: object, samples: int, delta: object, *, sharp: bool = False) -> arb:
    """A bound on L_D(h) - L_S(h) for all read-outs of norm B of fixed features of norm R at once, with BR = ``norm``.

    With probability 1 - delta over m samples. (2 BR + 1) sqrt(2 log(2/delta))/sqrt(m) as in lemma C.8, or, ``sharp``,
    (2 BR + (1 + BR) sqrt(log(1/delta)/2))/sqrt(m) by McDiarmid's inequality, which is smaller for every delta < 1.

    Raises:
        ValueError: unless BR >= 0 and 0 < delta < 1 are exact rational numbers and m >= 1.
    """
    size, failure = _exact_sizes(norm, delta)
    if samples < 1:
        raise ValueError(f"A sample has at least one element, not {samples}.")
    if sharp:
        slope = (arb(1 / failure).log() / 2).sqrt()
        return (2 * size + (1 + size) * slope) / arb(samples).sqrt()
    return (2 * size + 1) * (2 * arb(2 / failure).log()).sqrt() / arb(samples).sqrt()


def second_layer_sizes(norm: object, eps: object, delta: object) -> tuple[int, int]:
    """The least sample size m and number of steps T of the repaired lemma C.9.

    m >= (4 sqrt(2) BR + 1)^2 log(2/delta)/eps^2 and T/log T >= 100 (BR + 1)^2/eps^2 (for this and all larger T).

    Args:
        norm: BR, the norm of the read-out times that of the features; at least 1 - eps, as the hinge loss is <= eps.
        eps: of the lemma.
        delta: of the lemma.

    Raises:
        ValueError: unless the numbers are exact and rational, BR >= 1 - eps, and 0 < eps, delta < 1/2.
    """
    size, failure = _exact_sizes(norm, delta)
    error = as_exact([eps])[0]
    if not 0 < error < fmpq(1, 2) or not failure < fmpq(1, 2) or size < 1 - error:
        raise ValueError(
            f"The lemma needs eps and delta in (0, 1/2) and B R >= 1 - eps, not eps = {eps}, delta = {delta}, "
            f"B R = {norm}: a smaller read-out has a hinge loss above eps."
        )
    samples = (4 * arb(2).sqrt() * size + 1) ** 2 * arb(2 / failure).log() / error**2
    ratio = 100 * (size + 1) ** 2 / error**2
    least = smallest_integer(1, lambda m: decided_less_equal(samples, m))
    steps = smallest_integer(3, lambda t: decided_less_equal(ratio * arb(t).log(), t))
    return least, steps


def _exact_sizes(norm: object, delta: object) -> tuple[fmpq, fmpq]:
    size, failure = as_exact([norm, delta])
    if size < 0 or not 0 < failure < 1:
        raise ValueError(f"The norm must be at least 0 and delta in (0, 1), not {norm} and {delta}.")
    return size, failure
