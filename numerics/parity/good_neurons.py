"""How likely the good neurons of a sparse initialization are: one of them, and a number of them at every bias.

A neuron w in {0, 1}^n with s ones, drawn uniformly, is good for the parity of k inputs S if it contains S. Its gradient
is `lemmata.numerics.parity.sparse_neurons.over_sparse_values`.

An initialization of P pairs, each good with probability p and with one of K biases, has a multinomial number |I_j| of
good neurons at bias j, with the mean r' = P p/K. It is r'-good if r'/2 <= |I_j| <= 2r' for all j. By the bounds of
Chernoff exp(-r'/8) and exp(-r'/3) that has probability 1 - delta if r' >= 8 log(2K/delta).

Source: pareto-frontiers, lemmas C.2, C.3 (its constant kappa_k) and C.10 as its ledger entry repairs it.
"""

from __future__ import annotations

from math import comb, factorial
from typing import Any

from flint import arb, arb_poly, fmpq

from lemmata.numerics.exact.numbers import ceiling
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.fourier.boolean import majority_weight_limit

__all__ = ["balance_probability", "check_over_sparse", "good_pairs", "good_probability", "gradient_floor"]


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
            f"A neuron must have an odd number s of ones, not {s}: for even s its sum can be 0, where the bias decides "
            "whether it is active, and the closed form differs."
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


def balance_probability(pairs: int, hit: Any, levels: int, low: int, high: int) -> arb:
    """The probability that each of the levels is hit by low to high of the pairs, a ball around the exact sum.

    A pair hits level j with probability ``hit``, none with probability 1 - levels * hit: with P(x) = sum x^c/c! over
    low <= c <= high it is the sum over t of pairs!/(pairs - t)! [x^t] P^levels hit^t (1 - levels hit)^(pairs - t).

    Args:
        pairs: the number of pairs.
        hit: a rational number, 0 < levels * hit <= 1.
        levels: at least 1.
        low: at least 0.
        high: at least low.

    Raises:
        ValueError: for numbers out of range.
    """
    share = as_fmpq(hit)
    if pairs < 1 or levels < 1 or share is None or not 0 < levels * share <= 1:
        raise ValueError(
            f"Give at least one pair and one level, and a rational probability with 0 < levels * hit <= 1, not {pairs} "
            f"pairs, {levels} levels and the probability {hit}."
        )
    if not 0 <= low <= high:
        raise ValueError(f"The counts run from low >= 0 to high >= low, not from {low} to {high}.")
    first = levels * low
    if first > pairs:
        return arb(0)
    counts = arb_poly([arb(0)] * low + [1 / arb(factorial(c)) for c in range(low, min(high, pairs) + 1)]) ** levels
    missed, term, total = arb(1 - levels * share), arb(1), arb(0)
    for t in range(first):
        term *= arb(share) * (pairs - t)
    for t in range(first, min(levels * high, pairs) + 1):
        total += term * counts[t] * (missed ** (pairs - t) if pairs > t else 1)
        term *= arb(share) * (pairs - t)
    return total


def good_pairs(n: int, k: int, s: int, levels: int, delta: Any) -> int:
    """The least number P of pairs with P p/levels >= 8 log(2 levels/delta): then P p/levels-good but for delta.

    p is `good_probability`; the width of the network is 2P.

    Args:
        n: the number of inputs.
        k: the number of inputs of the parity, even.
        s: the odd number of ones of a neuron, above k.
        levels: the number K of biases, at least 1; the repaired grid has k/2.
        delta: a rational number in (0, 1).

    Raises:
        ValueError: as `check_over_sparse`, or for levels or delta out of range.
    """
    check_over_sparse(n, k, s)
    failure = as_fmpq(delta)
    if levels < 1 or failure is None or not 0 < failure < 1:
        raise ValueError(f"Give at least one level and a rational delta in (0, 1), not {levels} and {delta}.")
    needed = 8 * levels / good_probability(n, k, s) * arb(2 * levels / failure).log()
    return ceiling(needed)
