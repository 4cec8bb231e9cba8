"""How likely the good neurons of a sparse initialization are: one of them, and a number of them at every bias.

A neuron w in {0, 1}^n with s ones, drawn uniformly, is good for the parity of k inputs S if it contains S. Its gradient
is `numerics.parity.sparse_neurons.over_sparse_values`.

Source: pareto-frontiers, lemmas C.2, C.3 (its constant kappa_k).
"""

from __future__ import annotations

from math import comb

from flint import arb, fmpq

from numerics.fourier.boolean import majority_weight_limit

__all__ = ["check_over_sparse", "good_probability", "gradient_floor"]


def check_over_sparse(n: int, k: int, s: int) -> None:
    """Refuse sizes to which the over-sparse argument does not apply.

    Raises:
        ValueError: unless k >= 2 is even, s is odd, and k < s <= n.
    """
    if k < 2 or k % 2:
        raise ValueError(
            f"The parity must have an even number k >= 2 of inputs, not {k}: for odd k the coefficients of majority at "
            "the even degrees k - 1 and k + 1 vanish, and the gradient shows nothing."
        )
    if s % 2 == 0:
        raise ValueError(
            f"A neuron must have an odd number s of ones, not {s}: for even s its sum can be 0, where the bias decides."
        )
    if not k < s <= n:
        raise ValueError(f"An over-sparse neuron on {n} inputs has k < s <= n ones, but k = {k} and s = {s}.")


def good_probability(n: int, k: int, s: int) -> fmpq:
    """The probability C(n-k, s-k)/C(n, s) that s of n inputs, drawn uniformly, contain k given ones.

    It is at most (s/n)^k, and at least (s/(2n))^k if s >= 2(k-1).

    Raises:
        ValueError: unless 0 <= k <= s <= n.
    """
    if not 0 <= k <= s <= n:
        raise ValueError(f"Draw s of n inputs with 0 <= k <= s <= n, not n = {n}, k = {k}, s = {s}.")
    return fmpq(comb(n - k, s - k), comb(n, s))


def gradient_floor(k: int) -> arb:
    """The largest constant kappa_k with |C| > kappa_k C(s, k-1)^(-1/2) for all odd s > k: half the root of rho(k-1).

    C = hat Maj_s(k-1)/2 is the gradient of a good neuron with s ones on S. The Fourier weight of majority at the degree
    k - 1 decreases in s to its limit rho(k-1), so kappa_k is an infimum that no s attains.

    Raises:
        ValueError: unless k >= 2 is even.
    """
    if k < 2 or k % 2:
        raise ValueError(f"The parity must have an even number k >= 2 of inputs, not {k}.")
    return majority_weight_limit(k - 1).sqrt() / 2
