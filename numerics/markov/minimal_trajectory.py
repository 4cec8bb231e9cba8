"""Gradient descent on the minimal model, step by step, while its margin loss is in the linear regime.

There the population loss is Delta (k-1)/k - sum_jml C_jml v_j W_ml (`lemmata.numerics.markov.minimal_gradient`), so
that a step

    v <- (1 - decay) v + eta <C, W>,    W <- (1 - decay) W + eta sum_j v_j C_j    (both from the old weights)

is a linear map of the pair (v, W). The same code runs on float64, on exact numbers (`fmpq`, `LogTwo`) and on balls.
After n steps of a constant rate without decay, (v, W) = (1 + eta K)^n (v, W) with K = [[0, C], [C^T, 0]] for C as a
t x k^2 matrix: `nth_step` takes the power by a singular value decomposition, whatever n is. `dominance_threshold` is
the step size from which on the weight of the previous token is the largest after two steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.markov.minimal_gradient import flat_tensor, v_gradient, w_gradient

__all__ = [
    "Weights",
    "dominance_threshold",
    "linear_margin",
    "nth_step",
    "trajectory",
]


@dataclass(frozen=True, eq=False)
class Weights:
    """The position weights v, shape (t,), and the state weights W, shape (k, k)."""

    v: NDArray[Any]
    W: NDArray[Any]


def trajectory(
    tensor: NDArray[Any], v: NDArray[Any], W: NDArray[Any], rates: Sequence[Any], decays: Sequence[Any] | None = None
) -> list[Weights]:
    """The weights before the first and after every step, len(rates) + 1 of them.

    Exact numbers grow: the entries after n steps are polynomials of degree n in ln 2 for the tensor of the flat prior.

    Args:
        tensor: C, shape (t, k, k).
        v: start, shape (t,).
        W: start, shape (k, k).
        rates: eta of every step, in the number system of the tensor.
        decays: weight decay of every step (1 erases the old weights); none by default.

    Raises:
        ValueError: if the shapes do not fit, or the numbers of decays and rates differ.
    """
    _check_shapes(tensor, v, W)
    if decays is not None and len(decays) != len(rates):
        raise ValueError(f"{len(decays)} decays are given for {len(rates)} rates: give one for each step.")
    path = [Weights(np.asarray(v), np.asarray(W))]
    for step, eta in enumerate(rates):
        keep = 1 if decays is None else 1 - decays[step]
        old = path[-1]
        path.append(
            Weights(old.v * keep + v_gradient(tensor, old.W) * eta, old.W * keep + w_gradient(tensor, old.v) * eta)
        )
    return path


def nth_step(tensor: NDArray[np.float64], v: NDArray[Any], W: NDArray[Any], rate: float, steps: int) -> Weights:
    """The weights after so many steps of one rate without decay, float64, in a time that does not depend on `steps`.

    With singular triples (s, a, b) of C, the parts a.v + b.W and a.v - b.W are multiplied by (1 + eta s)^n and
    (1 - eta s)^n; what is orthogonal to all triples stays.

    Raises:
        ValueError: if the shapes do not fit, `steps` is no integer of at least 0, or the powers overflow.
    """
    _check_shapes(tensor, v, W)
    steps = checked_integer("The number of steps", steps, 0)
    left, s, right = np.linalg.svd(tensor.reshape(len(tensor), -1).astype(float), full_matrices=False)
    start_v, start_w = np.asarray(v, dtype=float), np.asarray(W, dtype=float).ravel()
    along, across = left.T @ start_v, right @ start_w
    with np.errstate(over="ignore", invalid="ignore"):
        growing = (along + across) * (1 + rate * s) ** steps / 2
        shrinking = (along - across) * (1 - rate * s) ** steps / 2
        found = Weights(
            start_v + left @ (growing + shrinking - along),
            (start_w + right.T @ (growing - shrinking - across)).reshape(np.shape(W)),
        )
    if not (np.isfinite(found.v).all() and np.isfinite(found.W).all()):
        raise ValueError(f"The weights overflow within {steps} steps of rate {rate}: take fewer or smaller steps.")
    return found


def dominance_threshold(t: int, bits: int = 64) -> arb | None:
    """The step size eta*(t) above which the second position weight exceeds the first after two steps; None for t <= 9.

    After two steps of rate eta from W = c 11^T, v = c 1, for two states and the flat prior, the second weight exceeds
    the first iff eta > eta*(t); None if it does not for any eta > 0.

    By bilinearity v_2 - v_1 = c eta (2 (g_2 - g_1) + eta (off (g_2 - g_1) + (diag - off)(d_2 - d_1))) with g and d the
    v-gradients at W = 11^T and W = I, and diag, off the entries of the W-gradient at v = 1: signs are decided exactly.

    Returns:
        A ball with about `bits` correct bits.

    Raises:
        ValueError: if t is not an integer of at least 2.

    Source: induction-heads, lemma-E.1h.
    """
    t = checked_integer("The context length t", t, 2)
    C = flat_tensor(t)
    W = w_gradient(C, np.ones(t, dtype=int))
    g, d = v_gradient(C, np.ones((2, 2), dtype=int)), v_gradient(C, np.eye(2, dtype=int))
    linear = (g[1] - g[0]) * 2
    quadratic = W[0, 1] * (g[1] - g[0]) + (W[0, 0] - W[0, 1]) * (d[1] - d[0])
    if quadratic <= 0:  # and linear < 0
        return None
    with precision(bits + 8):
        return -_accurate(linear, bits + 8) / _accurate(quadratic, bits + 8)


def _accurate(x: LogTwo, bits: int) -> arb:
    """A ball around a number that is not zero with so many correct bits: the coefficients of `LogTwo` cancel."""
    working = bits
    while (ball := x.ball(working)).rel_accuracy_bits() < bits:
        working *= 2
    return ball


def linear_margin(v: NDArray[Any], W: NDArray[Any]) -> Any:
    """A margin Delta above which all hinges are active at these weights: 2 max|W| sum_j (t-j+1)|v_j|.

    A logit is a sum of at most t - j + 1 products v_j W_ml for every j, and a gap a difference of two logits. Every
    step of a trajectory needs its own, larger margin.
    """
    lengths = np.arange(len(v), 0, -1)
    return 2 * max(abs(x) for x in np.ravel(W)) * sum(abs(x) * int(n) for x, n in zip(v, lengths, strict=True))


def _check_shapes(tensor: NDArray[Any], v: NDArray[Any], W: NDArray[Any]) -> None:
    if np.ndim(tensor) != 3 or np.shape(v) != tensor.shape[:1] or np.shape(W) != tensor.shape[1:]:
        raise ValueError(
            f"The tensor has shape {np.shape(tensor)}, v {np.shape(v)} and W {np.shape(W)}: "
            "give (t, k, k), (t,) and (k, k)."
        )
