"""One gradient step of one neuron on a sparse parity, and the support that it reveals.

A neuron sigma(w.x + b) with read-out 1 and the correlation loss -y f(x), y = chi_S(x), has the population gradient

    g_i = -E[sigma'(w.x + b) chi_S(x) x_i] = -hat h(S xor i),    h(x) = sigma'(w.x + b),

a Fourier coefficient at S without i for i in S and at S with i outside. If the former are larger than all of the latter
by gamma (the Fourier gap), an estimate of g that is off by less than gamma/2 in every entry has its k largest entries
at S. By Hoeffding's inequality (8 C^2/gamma^2) log(2n/delta) samples give one with probability 1 - delta, where
|sigma'| <= C.

Tables are in the order of `lemmata.numerics.fourier.walsh`: bit i of the index is set where x_i = -1.

Source: hidden-progress, equation-B.4, lemma-B.3, proposition-B.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.fourier.boolean import majority_coefficient
from lemmata.numerics.fourier.gaps import support_indices
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.numerics.runs.memory import require_memory

__all__ = [
    "batch_gradient",
    "derivative_table",
    "largest_entries",
    "population_gradient",
    "recovery_samples",
    "sign_gradient",
]

Derivative = Callable[[NDArray[np.float64]], NDArray[Any]]
_CHUNK = 2**14


def derivative_table(derivative: Derivative, weights: ArrayLike, bias: float = 0.0) -> NDArray[np.float64]:
    """The table of sigma'(weights . x + bias) at all 2^n inputs, shape (2^n,).

    Args:
        derivative: sigma', a function of arrays.
        weights: (n,).
        bias: one number.

    Raises:
        ValueError: if the weights are no vector of finite numbers, the table does not fit in memory (saying how much
            it needs), or sigma' returns NaN or infinity (saying where).
    """
    w = _weights(weights)
    require_memory(24 * 2 ** len(w), f"The table of a neuron with {len(w)} inputs")
    before = np.full(1, float(bias))
    for weight in w:  # input i becomes bit i of the index
        before = np.concatenate([before + weight, before - weight])
    return _values(derivative, before)


def population_gradient(table: ArrayLike, support: Iterable[int]) -> NDArray[Any]:
    """The gradient g of a neuron with the given table of sigma', shape (n,), by one Walsh-Hadamard transform.

    Args:
        table: (2^n,). Integers and exact objects give fmpq, floats float64.
        support: S, as different indices from 0 to n-1.

    Raises:
        ValueError: if the length is no power of two, S no nonempty set of inputs, or as `walsh_hadamard`.
    """
    transform = walsh_hadamard(table)
    n = len(transform).bit_length() - 1
    code = sum(1 << i for i in support_indices(n, support))
    entries = transform[[code ^ (1 << i) for i in range(n)]]
    if transform.dtype == np.float64:
        return -entries / 2**n
    result = np.empty(n, dtype=object)
    result[:] = [-fmpq(int(e), 2**n) if isinstance(e, np.integer) else -e * fmpq(1, 2**n) for e in entries]
    return result


def sign_gradient(signs: ArrayLike, support: Iterable[int]) -> NDArray[np.object_]:
    """The gradient g of a ReLU neuron with weights +-1 and a bias of absolute value below 1, exactly, for any odd n.

    g_i = -(xi/2) prod of the signs over S xor i, with xi the coefficient of majority of that degree.

    Args:
        signs: (n,), entries 1 or -1, n odd.
        support: S with an even number of elements.

    Raises:
        ValueError: for other weights, even n (the sum can vanish, and the bias then decides), a support that is no set
            of inputs, or an odd number of elements (majority is odd, so that its coefficients of even degree, the only
            ones that occur, vanish, and the gradient shows nothing).
    """
    w = np.asarray(signs)
    if w.ndim != 1 or not w.size or not np.all((w == 1) | (w == -1)):
        raise ValueError(f"The weights must be a nonempty vector of signs 1 or -1, not of shape {w.shape}.")
    chosen = support_indices(len(w), support)
    if len(chosen) % 2:
        raise ValueError(
            f"The support must have an even number of indices, not {len(chosen)}: majority is odd, so its coefficients "
            "of even degree vanish, and the gradient at sign weights would be 0."
        )
    below = majority_coefficient(len(w), len(chosen) - 1) / 2
    above = majority_coefficient(len(w), len(chosen) + 1) / 2 if len(chosen) < len(w) else fmpq(0)
    sign = int(np.prod(w[list(chosen)]))  # of S; one more factor w_i gives that of S xor i
    result = np.empty(len(w), dtype=object)
    inside = set(chosen)
    result[:] = [-(below if i in inside else above) * sign * int(w[i]) for i in range(len(w))]
    return result


def batch_gradient(
    derivative: Derivative,
    weights: ArrayLike,
    bias: float,
    support: Iterable[int],
    samples: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """The same gradient averaged over random inputs, shape (n,). Args and errors as above, and ``samples`` >= 1."""
    w = _weights(weights)
    chosen = list(support_indices(len(w), support))
    if samples < 1:
        raise ValueError(f"A batch has at least one sample, not {samples}.")
    total = np.zeros(len(w))
    for start in range(0, samples, _CHUNK):
        x = rng.integers(0, 2, size=(min(_CHUNK, samples - start), len(w)), dtype=np.int8) * np.int8(2) - np.int8(1)
        labels = np.prod(x[:, chosen], axis=1, dtype=np.int8)
        x = x.astype(np.float64)
        total -= (labels * _values(derivative, x @ w + bias)) @ x
    return total / samples


def recovery_samples(n: int, gap: float, delta: float, bound: float = 1.0) -> int:
    """The number (8 C^2/gamma^2) log(2n/delta) of samples, rounded up, after which the largest entries are the support.

    Args:
        n: the number of inputs.
        gap: gamma.
        delta: the probability of failure.
        bound: C, at least max |sigma'|.

    Raises:
        ValueError: unless n >= 1, gap > 0, 0 < delta < 1 and bound > 0.
    """
    if n < 1 or not gap > 0 or not 0 < delta < 1 or not bound > 0:
        raise ValueError(
            f"Recovery needs n >= 1 inputs, a positive gap and bound, and delta in (0, 1), not n = {n}, gap = {gap}, "
            f"bound = {bound}, delta = {delta}. (Majority has no gap at supports with an odd number of elements.)"
        )
    return math.ceil(8 * bound**2 / gap**2 * math.log(2 * n / delta))


def largest_entries(gradient: ArrayLike, k: int) -> tuple[int, ...]:
    """The indices of the k entries of largest absolute value, in increasing order.

    Raises:
        ValueError: unless 1 <= k <= n, or if the k-th and the next entry tie.
    """
    g = np.abs(np.asarray(gradient))
    if g.ndim != 1 or not 1 <= k <= len(g):
        raise ValueError(f"A gradient with {len(g)} entries has 1 to {len(g)} largest ones, not {k}.")
    order = sorted(range(len(g)), key=lambda i: g[i], reverse=True)
    if k < len(g) and g[order[k - 1]] == g[order[k]]:
        raise ValueError(f"The entries {order[k - 1]} and {order[k]} tie: the {k} largest ones are not determined.")
    return tuple(sorted(order[:k]))


def _weights(weights: ArrayLike) -> NDArray[np.float64]:
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not w.size or not np.all(np.isfinite(w)):
        raise ValueError(f"The weights must be a nonempty vector of finite numbers, not of shape {w.shape}.")
    return w


def _values(derivative: Derivative, before: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):  # refused below
        after = np.asarray(derivative(before), dtype=np.float64)
    if after.shape != before.shape:
        raise ValueError(f"The derivative maps the shape {before.shape} to {after.shape}, but it must keep the shape.")
    wrong = ~np.isfinite(after)
    if np.any(wrong):
        raise ValueError(f"The derivative returned NaN or infinity at the pre-activation {before[wrong][0]}.")
    return after
