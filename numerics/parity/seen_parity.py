"""At how many inputs a ReLU neuron sees a parity at all, when its relevant weights are not the largest.

Let phi(x) = max(w.x + b, 0), S a set of k inputs, and z the signs outside of S. The neuron *sees* the parity at z if
the mean of phi chi_S over the signs of S is not 0 there. Let a be the second smallest |w_i| over S, and N the number
of inputs outside of S with |w_i| >= a. With all signs but those two given, phi is affine in the two unless the rest of
the pre-activation lies in an open interval of length 4a, and an affine function has no part along their product. Two
half-open intervals of length 2a cover that one, and by Erdos's inequality each holds a sum of N such signed weights
with probability at most C(N, N//2)/2^N. So phi sees the parity at a share of the z that is at most

    2^(k-1) C(N, N//2)/2^N,

whatever b is; and a linear combination f of neurons with shares p_1, ..., p_M and a constant has E[f chi_S] = 0 over
the signs of S at all other z, so that |E[f chi_S]|^2 <= (p_1 + ... + p_M) E[f^2].

One truncated gradient step, w_i = e + c d_i where |d_i| > gamma and w_i = e elsewhere, leaves N inputs like that
whatever e, c and gamma are: those with d_i >= rho, or those with d_i <= -rho, rho being the second smallest |d_i| over
S.

Source: pareto-frontiers, ext-few-neurons (proofs/under-sparse-rate.md, steps 1 to 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flint import fmpq

from lemmata.numerics.fourier.boolean import half_coefficient
from lemmata.numerics.fourier.gaps import support_indices

__all__ = ["seen_share", "spread_share", "step_spread"]


def seen_share(weights: Sequence[Any], support: Iterable[int]) -> fmpq:
    """The bound 2^(k-1) C(N, N//2)/2^N of the share of the z at which a neuron sees the parity, at most 1.

    Args:
        weights: w, shape (n,), of numbers that can be compared.
        support: S, at least two different indices from 0 to n-1.

    Raises:
        ValueError: if the support is no set of inputs, or holds fewer than two.
    """
    S = _pair_or_more(len(weights), support)
    second = sorted(abs(weights[i]) for i in S)[1]
    outside = set(range(len(weights))) - set(S)
    return spread_share(len(S), sum(1 for i in outside if abs(weights[i]) >= second))


def spread_share(k: int, spread: int) -> fmpq:
    """The same for k inputs in S and N = spread."""
    # C(N, N//2)/2^N is that of N + 1 for odd N
    return min(fmpq(1), 2 ** (k - 1) * half_coefficient(spread + spread % 2, 0))


def step_spread(gradient: Sequence[Any], support: Iterable[int], ones: Iterable[int] = ()) -> int:
    """How many inputs outside of S have, after any truncated step, a weight of at least the second smallest in S.

    Args:
        gradient: d, shape (n,), the estimated gradient of one neuron up to a positive factor.
        support: S, as `seen_share`.
        ones: inputs that start with another weight than e; they count neither in S nor outside of it.

    Raises:
        ValueError: as `seen_share`, also if fewer than two inputs of S are left without the ones.
    """
    S, others = support_indices(len(gradient), support), set(ones)
    moved = _pair_or_more(len(gradient), set(S) - others)
    second = sorted(abs(gradient[i]) for i in moved)[1]
    outside = set(range(len(gradient))) - set(S) - others
    return min(sum(1 for i in outside if sign * gradient[i] >= second) for sign in (1, -1))


def _pair_or_more(n: int, support: Iterable[int]) -> tuple[int, ...]:
    S = support_indices(n, support)
    if len(S) < 2:
        raise ValueError(f"Two inputs of the parity have to be compared with the others; here are only {len(S)}.")
    return S
