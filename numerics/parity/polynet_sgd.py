"""Online SGD on a disjoint PolyNet with the adaptive rate of theorem 5.8, and the quantities of its proof.

The network is f(x) = prod_i <w_i, x_i> over k blocks of n' signs, the label is the product of the first sign of every
block, the loss is the correlation loss. Step t moves w_i by eta_i/B times the sum over the batch of
y prod_{l != i} <w_l, x_l> x_i, where

    eta_i = 1/(2 sqrt(2 T log(2 n T/delta)) prod_{l != i} |w_l|_1),    n = k n'.

Beside the weights a run keeps the martingale s, what the noise has added to each weight: w - w(1) minus the sum of the
population steps eta_i prod_{l != i} w_{l,1} e_1.

Source: hidden-progress, theorem-5.8-full, claims B.11 and B.12.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.runs.memory import require_memory

__all__ = ["PolynetRun", "train_polynet"]

_CHUNK = 4096  # steps whose inputs are drawn at once


@dataclass(frozen=True)
class PolynetRun:
    """The outcome of a run of T steps.

    Attributes:
        weights: the last weights, shape (k, n').
        largest_noise: max |s_ij| over all times and weights.
        largest_irrelevant: max |w_ij| over all times and j > 1.
        smallest_slack: min over times t and blocks of xi_i w_{i,1} - 1/2 - (t-1) eta_0 (3n'-2)^(1-k), where xi_i is the
            initial sign and eta_0 = 1/(2 sqrt(2 T log(2nT/delta))): how far the corrected claim B.12 is from failing.
        mismatch: max |w - w(1) - drift - s| over the last weights, the drift summed apart: zero up to rounding.
    """

    weights: NDArray[np.float64]
    largest_noise: float
    largest_irrelevant: float
    smallest_slack: float
    mismatch: float


def train_polynet(
    initial: ArrayLike,
    steps: int,
    delta: float,
    seed: int,
    batch: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> PolynetRun:
    """The outcome of SGD for T = ``steps`` steps from the given weights, shape (k, n').

    Args:
        initial: the initial weights, none of the rows zero.
        delta: the failure probability in the rate.
        seed: of the inputs (NumPy's default generator).
        batch: samples per step, B >= 1.
        on_progress: called with the number of steps done.

    Raises:
        ValueError: for weights that are not a (k, n') array of finite numbers with nonzero rows, for steps or batch
            below 1, delta outside (0, 1), batches that do not fit in memory, or weights that overflow.
    """
    w = np.array(initial, dtype=np.float64)
    if w.ndim != 2 or not w.size or not np.all(np.isfinite(w)) or not np.all(np.abs(w).sum(axis=1) > 0):
        raise ValueError(f"The weights must be a (k, n') array of finite numbers with nonzero rows, not {initial!r}.")
    if steps < 1 or batch < 1 or not 0 < delta < 1:
        raise ValueError(f"steps and batch must be >= 1 and delta in (0, 1), not {steps}, {batch} and {delta}.")
    k, block = w.shape
    require_memory(3 * min(steps, _CHUNK) * batch * w.size, f"The inputs of a chunk of steps with batches of {batch}")
    rate = 1 / (2 * math.sqrt(2 * steps * math.log(2 * k * block * steps / delta)))
    start, drift, noise = w.copy(), np.zeros(k), np.zeros_like(w)
    extremes = np.array([0.0, np.abs(w[:, 1:]).max(initial=0.0), np.inf])
    rng = np.random.default_rng(seed)
    for done in range(0, steps, _CHUNK):
        count = min(_CHUNK, steps - done)
        signs = rng.integers(0, 2, size=(count, batch, k, block), dtype=np.int8) * np.int8(2) - np.int8(1)
        _steps(w, np.sign(start[:, 0]), drift, noise, signs, rate, done, extremes)
        if not np.all(np.isfinite(w)):
            raise ValueError(
                f"The weights have overflowed float64 within {done + count} steps: start from smaller ones."
            )
        if on_progress is not None:
            on_progress(done + count)
    rebuilt = start + noise
    rebuilt[:, 0] += drift
    mismatch = float(np.abs(w - rebuilt).max())
    return PolynetRun(w, float(extremes[0]), float(extremes[1]), float(extremes[2]), mismatch)


@njit(cache=True)
def _steps(
    w: NDArray[np.float64],
    initial_signs: NDArray[np.float64],
    drift: NDArray[np.float64],
    noise: NDArray[np.float64],
    signs: NDArray[np.int8],
    rate: float,
    done: int,
    extremes: NDArray[np.float64],
) -> None:
    """Make steps on the inputs ``signs``, shape (steps, B, k, n'), and update all float arrays in place.

    ``extremes`` holds the largest noise, the largest irrelevant weight and the smallest slack so far.
    """
    count, batch, k, block = signs.shape
    linear = rate / (3.0 * block - 2.0) ** (k - 1)
    gradient = np.zeros((k, block))
    inner, norms = np.zeros(k), np.zeros(k)
    for t in range(count):
        for i in range(k):
            norms[i] = np.abs(w[i]).sum()
            extremes[2] = min(extremes[2], initial_signs[i] * w[i, 0] - 0.5 - (done + t) * linear)
        gradient[:] = 0.0
        for b in range(batch):
            label = 1.0
            for i in range(k):
                label *= signs[t, b, i, 0]
                inner[i] = 0.0
                for j in range(block):
                    inner[i] += w[i, j] * signs[t, b, i, j]
            for i in range(k):
                others = label
                for other in range(k):
                    if other != i:
                        others *= inner[other]
                for j in range(block):
                    gradient[i, j] += others * signs[t, b, i, j] / batch
        for i in range(k):
            inner[i] = w[i, 0]  # the relevant weights before the step
        for i in range(k):
            eta, population = rate, 1.0
            for other in range(k):
                if other != i:
                    eta /= norms[other]
                    population *= inner[other]
            drift[i] += eta * population
            for j in range(block):
                step = eta * gradient[i, j]
                w[i, j] += step
                noise[i, j] += step - (eta * population if j == 0 else 0.0)
                extremes[0] = max(extremes[0], abs(noise[i, j]))
                if j > 0:
                    extremes[1] = max(extremes[1], abs(w[i, j]))
    for i in range(k):
        extremes[2] = min(extremes[2], initial_signs[i] * w[i, 0] - 0.5 - (done + count) * linear)
