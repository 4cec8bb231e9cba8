"""The population gradient of the minimal model, as one tensor.

The minimal model f(x)_{p,i} = sum_{t'<=p} [x_t' = i] sum_{s<=t'} v_{t'-s+1} W_{x_p, x_s} is linear in v and in W. While
all terms of the multiclass margin loss are active, its population loss for chains of k states, t tokens and the next is

    L = Delta (k-1)/k - sum_{j,m,l} C_jml v_j W_ml,    hence  -dL/dv_j = <C_j, W>  and  -dL/dW = sum_j v_j C_j,

for all v and W, with, for a stationary chain of transition matrix P and N = t - j + 1,

    C_jml = (1/t) pi_l sum_i (P_mi - 1/k) (P^(j-1))_li sum_{A=0}^{N-1} (N-A) (P^A)_im.

Here are C for one chain, for the average over two-state chains with uniform transition probabilities (exact numbers of
Q + Q ln 2), and for the average over symmetric two-state chains with given moments of the eigenvalue (rationals).
In the arrays j, m and l start at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, product
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.linear import solve_unique
from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.exact.numbers import as_exact, is_exact
from lemmata.numerics.exact.rationals import RationalLike
from lemmata.numerics.markov import chains as markov_chains
from lemmata.numerics.markov.flat import Numerator, eigenvalue_averages

__all__ = [
    "chain_stationary_law",
    "chain_tensor",
    "flat_tensor",
    "spread_moments",
    "symmetric_tensor",
    "v_gradient",
    "w_gradient",
]

_HALF = fmpq(1, 2)


def chain_stationary_law(P: NDArray[Any]) -> NDArray[Any]:
    """The stationary law pi = pi P of a transition matrix, shape (k,); exact for exact entries, else float64.

    For batches of float64 chains, and n-gram chains, see `lemmata.numerics.markov.chains.stationary_law`, which serves
    the float64 case here too.

    Raises:
        ValueError: if P is not square, has negative entries or a row that does not sum to 1 (floats: up to rounding),
            or has several stationary laws.
    """
    matrix = _transition_matrix(P)
    if not is_exact(matrix):
        return markov_chains.stationary_law(matrix)
    k = len(matrix)
    rows = np.concatenate([np.ones((1, k), dtype=int).astype(object), matrix.T - np.eye(k, dtype=int)])
    return solve_unique(as_exact(rows), as_exact([1] + [0] * k))


def chain_tensor(P: NDArray[Any], t: int) -> NDArray[Any]:
    """The tensor C for one stationary chain, shape (t, k, k); exact (fmpq) for exact entries of P, else float64.

    Raises:
        ValueError: as for `stationary_law`, or if t is not at least 1.
    """
    t = checked_integer("The context length t", t, 1)
    matrix, pi = _transition_matrix(P), chain_stationary_law(P)
    k = len(matrix)
    one: Any = fmpq(1) if is_exact(matrix) else 1.0
    powers = [np.array([[one * int(i == j) for j in range(k)] for i in range(k)])]
    for _ in range(t):
        powers.append(powers[-1] @ matrix)
    sums = list(accumulate(accumulate(powers)))  # sums[n] = sum over A <= n of (n + 1 - A) P^A
    gain = matrix - one / k
    return np.array(
        [((gain * sums[t - j - 1].T) @ powers[j].T) * pi / (one * t) for j in range(t)],
        dtype=object if is_exact(matrix) else float,
    )


def flat_tensor(t: int) -> NDArray[np.object_]:
    """The average of C over two-state chains with independent uniform P_12 and P_21: LogTwo, shape (t, 2, 2).

    With (P^n)_ij = pi_j + lambda^n (delta_ij - pi_j) both powers in C split into a constant and an eigenvalue part; the
    four products need the averages of lambda^n times a fraction over (U+V)^3.

    Raises:
        ValueError: if t is not at least 1.
    """
    t = checked_integer("The context length t", t, 1)
    tensor = np.empty((t, 2, 2), dtype=object)
    for m, l in product(range(2), repeat=2):
        still, late, early, both = _split_averages(m, l, 32 * -(-int(t) // 32))  # shared by 32 lengths
        late_sums = list(accumulate(accumulate(late[:t])))
        tail = _ZERO
        for j in reversed(range(t)):
            tail = tail + both[j] * (t - j)  # sum over n >= j of (t - n) E[... lambda^n]
            triangle = fmpq((t - j) * (t - j + 1), 2)
            tensor[j, m, l] = ((still[0] + early[j]) * triangle + late_sums[t - j - 1] + tail) / t
    return tensor


def symmetric_tensor(t: int, moments: Sequence[RationalLike] | NDArray[np.object_]) -> NDArray[np.object_]:
    """The average of C over symmetric chains [[a, 1-a], [1-a, a]], given E[(2a-1)^n], n = 0, ..., t; shape (t, 2, 2).

    Then pi = (1/2, 1/2) and lambda = 2a - 1, and C_jml = (X_N +- N(N+1)/2 E[lambda^j]) / (8t), + on the diagonal, with
    X_N = sum_{n=1}^N (N-n+1) E[lambda^n].

    Raises:
        ValueError: if t is not at least 1, or there are fewer than t + 1 moments, or the moment of order 0 is not 1.
    """
    t = checked_integer("The context length t", t, 1)
    mu = as_exact(list(moments))
    if len(mu) < t + 1 or mu[0] != 1:
        raise ValueError(f"{len(mu)} moments are given: give those of order 0 (which is 1) to {t}.")
    sums = [fmpq(0), *accumulate(accumulate(mu[1 : t + 1]))]  # sums[N] = X_N
    tensor = np.empty((t, 2, 2), dtype=object)
    for j in range(1, t + 1):
        N = t - j + 1
        for m, l in product(range(2), repeat=2):
            sign = 1 if m == l else -1
            tensor[j - 1, m, l] = (sums[N] + sign * fmpq(N * (N + 1), 2) * mu[j]) / (8 * t)
    return tensor


def spread_moments(spread: RationalLike, count: int) -> NDArray[np.object_]:
    """The moments E[(2a-1)^n], n < count, for a uniform on [1/2 - spread, 1/2 + spread]: (2 spread)^n/(n+1) or 0.

    Raises:
        ValueError: if the spread is not in (0, 1/2].
    """
    width = as_exact([spread])[0]
    if not 0 < width <= _HALF:
        raise ValueError(f"The spread {spread} is not valid: a must stay in [0, 1], so give a number in (0, 1/2].")
    return as_exact([(2 * width) ** n / (n + 1) if n % 2 == 0 else 0 for n in range(count)])


def v_gradient(tensor: NDArray[Any], W: NDArray[Any]) -> NDArray[Any]:
    """The descent direction -dL/dv, shape (t,), at the second-layer matrix W, shape (k, k).

    Raises:
        ValueError: if W has another shape.
    """
    if np.shape(W) != tensor.shape[1:]:
        raise ValueError(f"W has shape {np.shape(W)}, but the tensor belongs to {tensor.shape[1:]}.")
    return (tensor * W).sum(axis=(1, 2))


def w_gradient(tensor: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """The descent direction -dL/dW, shape (k, k), at the position weights v, shape (t,).

    Raises:
        ValueError: if v has another shape.
    """
    if np.shape(v) != tensor.shape[:1]:
        raise ValueError(f"v has shape {np.shape(v)}, but the tensor belongs to {tensor.shape[:1]}.")
    return (tensor * np.asarray(v)[:, None, None]).sum(axis=0)


# ---- two-state chains: polynomials in U, V over U + V

_ZERO = LogTwo()
_PI: list[Numerator] = [{(0, 1): 1}, {(1, 0): 1}]
"""pi_i (U+V)."""
_DECAY: dict[tuple[int, int], Numerator] = {
    (0, 0): {(1, 0): 1},
    (0, 1): {(1, 0): -1},
    (1, 0): {(0, 1): -1},
    (1, 1): {(0, 1): 1},
}
"""(delta_ij - pi_j) (U+V)."""
_GAIN: dict[tuple[int, int], Numerator] = {
    (0, 0): {(0, 0): _HALF, (1, 0): -1},
    (0, 1): {(0, 0): -_HALF, (1, 0): 1},
    (1, 0): {(0, 0): -_HALF, (0, 1): 1},
    (1, 1): {(0, 0): _HALF, (0, 1): -1},
}
"""P_mi - 1/2."""


def _multiply(*factors: Numerator) -> Numerator:
    total: dict[tuple[int, int], Any] = {(0, 0): fmpq(1)}
    for factor in factors:
        next_total: dict[tuple[int, int], Any] = {}
        for ((p, q), x), ((r, s), y) in product(total.items(), factor.items()):
            next_total[p + r, q + s] = next_total.get((p + r, q + s), fmpq(0)) + x * y
        total = next_total
    return total


@cache
def _split_averages(m: int, l: int, count: int) -> tuple[list[LogTwo], ...]:
    """The averages E[lambda^n pi_l sum_i (P_mi - 1/2) x_i], n < count, for four products x_i.

    They are x_i = pi_i pi_m (n = 0 only), pi_i (delta_im - pi_m), (delta_li - pi_i) pi_m and
    (delta_li - pi_i)(delta_im - pi_m).
    """
    still, late, early, both = ({} for _ in range(4))
    for i in range(2):
        gain = _multiply(_GAIN[m, i], _PI[l])
        still = _added(still, _multiply(gain, _PI[i], _PI[m]))
        late = _added(late, _multiply(gain, _PI[i], _DECAY[i, m]))
        early = _added(early, _multiply(gain, _DECAY[l, i], _PI[m]))
        both = _added(both, _multiply(gain, _DECAY[l, i], _DECAY[i, m]))
    counts = (1, count, count, count)
    return tuple(eigenvalue_averages(f, 3, n) for f, n in zip((still, late, early, both), counts, strict=True))


def _added(one: dict[tuple[int, int], Any], other: Numerator) -> dict[tuple[int, int], Any]:
    total = dict(one)
    for powers, x in other.items():
        total[powers] = total.get(powers, fmpq(0)) + x
    return total


# ---- validation


def _transition_matrix(P: NDArray[Any]) -> NDArray[Any]:
    values = np.asarray(P)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not values.size:
        raise ValueError(f"A transition matrix has shape (k, k), not {values.shape}.")
    matrix = as_exact(values) if is_exact(values) else values.astype(float)
    negative = np.argwhere(matrix < 0)
    if len(negative):
        where = tuple(int(x) for x in negative[0])
        raise ValueError(f"Entry {where} of the transition matrix is {matrix[where]}: give numbers of at least 0.")
    slack: Any = 0 if is_exact(matrix) else 4 * len(matrix) * np.finfo(float).eps
    for i, row in enumerate(matrix):
        if not abs(row.sum() - 1) <= slack:
            raise ValueError(f"Row {i} of the transition matrix sums to {row.sum()}, but each row must sum to 1.")
    return matrix
