"""The minimal model after the two-step curriculum of proposition E.3 of the dissertation: exact weights.

Two-state chains, all weights of a layer equal at the start (W = w 11^T, v = v0 1). Step 1, rate h1/t^2: gradient
descent on chains with independent uniform transition probabilities. Step 2, rate h2/t, weight decay 1 (the old weights
are erased): symmetric chains [[a, 1-a], [1-a, a]] with a uniform on [1/2 - spread, 1/2 + spread]. In both steps the
margin of the loss is large enough for all its terms to be active, so that the gradients are those of
`lemmata.numerics.markov.minimal_gradient`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.log_two import LN2
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import RationalLike
from lemmata.numerics.markov.minimal_gradient import (
    flat_tensor,
    spread_moments,
    symmetric_tensor,
    v_gradient,
    w_gradient,
)

__all__ = ["first_step_limit", "last_logits", "long_second_step", "two_step_models"]


def two_step_models(
    t: int,
    spread: RationalLike,
    w: RationalLike = 1,
    v0: RationalLike = 1,
    h1: RationalLike = 1,
    h2: RationalLike = 1,
) -> tuple[MinimalModel, MinimalModel]:
    """The models after the first and after the second step, with weights in Q + Q ln 2 (`LogTwo`).

    Raises:
        ValueError: if t is not at least 1, the spread is not in (0, 1/2], or a parameter is not exact.
    """
    start_w, start_v, scale1, scale2 = as_exact([w, v0, h1, h2])
    flat = flat_tensor(t)
    ones = np.full((2, 2), fmpq(1), dtype=object)
    first = MinimalModel(
        start_v + v_gradient(flat, ones) * (start_w * scale1 / t**2),
        start_w + w_gradient(flat, np.full(t, fmpq(1), dtype=object)) * (start_v * scale1 / t**2),
    )
    symmetric = symmetric_tensor(t, spread_moments(spread, t + 1))
    rate = scale2 / t
    return first, MinimalModel(v_gradient(symmetric, first.W) * rate, w_gradient(symmetric, first.v) * rate)


def first_step_limit(w: float, v0: float, h1: float) -> NDArray[np.float64]:
    """The limit of W after the first step as t grows, shape (2, 2); v tends to v0. Both errors are O(1/t)."""
    diagonal, off = float((8 * LN2 - 5) / 12), float((7 - 10 * LN2) / 6)
    return w + h1 * v0 / 6 * np.array([[diagonal, off], [off, diagonal]])


def long_second_step(t: int, spread: float, W: NDArray[np.float64], v0: float, h2: float) -> MinimalModel:
    """The second step in float64, in time O(t), from the weights W, shape (2, 2), and v = v0 1.

    With mu_n = E[lambda^n], N = t - j + 1 and
    X_N = sum_{n=1}^N (N-n+1) mu_n, the descent direction of v is (c'/(2t)) X_N + ((rho-c')/(4t))(X_N + mu_j N(N+1)/2),
    and that of W is (1/(8t)) sum_j v_j (X_N +- mu_j N(N+1)/2).

    Raises:
        ValueError: if t is no integer >= 1, the spread is not in (0, 1/2], or W not of the form [[rho, c], [c, rho]].
    """
    t = checked_integer("The context length t", t, 1)
    if not 0 < spread <= 0.5:
        raise ValueError(f"The spread {spread} is not valid: a must stay in [0, 1], so give a number in (0, 1/2].")
    if np.shape(W) != (2, 2) or not (W[0, 0] == W[1, 1] and W[0, 1] == W[1, 0]):
        raise ValueError(f"W must be a 2 x 2 matrix with equal diagonal and equal off-diagonal entries, not {W}.")
    n = np.arange(t + 1)
    mu = np.where(n % 2 == 0, (2 * spread) ** n / (n + 1), 0.0)
    lengths = t - n[1:] + 1
    X = np.cumsum(np.cumsum(mu[1:]))[lengths - 1]
    peak = mu[1:] * lengths * (lengths + 1) / 2
    low, bias = W[0, 1], W[0, 0] - W[0, 1]
    v = h2 / t * (low / (2 * t) * X + bias / (4 * t) * (X + peak))
    on, off = (v0 * h2 / (8 * t**2) * (X + sign * peak).sum() for sign in (1, -1))
    return MinimalModel(v, np.array([[on, off], [off, on]]))


def last_logits(model: MinimalModel, x: Sequence[int] | NDArray[np.integer]) -> NDArray[Any]:
    """The last row of `model(x)` in float64, shape (k,), by one fast convolution: time O(p log p), no p x p matrix.

    The rounding error is of the order of 2^-53 times the sum of all absolute terms, times log p.

    Raises:
        ValueError: as for a call of the model.
    """
    tokens = model.checked_tokens(x)
    scores = fftconvolve(model.v[: len(tokens)], model.W[tokens[-1], tokens])[: len(tokens)]
    return np.bincount(tokens, weights=scores, minlength=model.states)
