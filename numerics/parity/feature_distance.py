"""How far the features of a neuron after one gradient step are from the ideal ones, in terms of n, k and the accuracy.

Setting of lemma B.4: n is odd, k even, the neuron has signs w_j = u sign(xi_{k-1}) on the support and a bias |b| < 1,
and every entry of its gradient is known up to tau. With q = tau/|xi_{k-1}|, after a step of rate 1/(k |xi_{k-1}|),

    |w_j - 1/(2k)| <= q/k (j <= k),   |w_j| <= D = (k-1)/(2k(n-k)) + q/k (j > k),   |b' - b| <= q/k.

The ideal feature is h = relu(sum_{j<=k} x_j/(2k) + b). As relu is 1-Lipschitz, the learned one differs from it by at
most |sum_j e_j x_j| + q/k, where all n numbers |e_j| are at most D: by Hoeffding's inequality by less than D t + q/k,
but for the probability 2 exp(-t^2/(2n)). With t = sqrt(2 n log(2k/eps)) this is eps/k.

Source: hidden-progress, claim-B.4.4 as its ledger entry repairs it.
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from lemmata.numerics.parity.sgd_sizes import check_sizes

__all__ = ["feature_distance", "feature_range", "irrelevant_weight", "largest_ratio", "noise_threshold"]


def irrelevant_weight(n: int, k: int, ratio: Any) -> Any:
    """D = (k-1)/(2k(n-k)) + ratio/k, the largest weight of an irrelevant input after the step.

    Args:
        n: the number of inputs, odd.
        k: the size of the parity, even.
        ratio: q = tau/|xi_{k-1}|, at least 0.

    Raises:
        ValueError: unless k >= 2 is even, n > k is odd and ratio >= 0.
    """
    check_sizes(n, k)
    if not ratio >= 0:
        raise ValueError(f"The accuracy tau/|xi| of the gradient must be at least 0, not {ratio}.")
    return fmpq(k - 1, 2 * k * (n - k)) + ratio / k


def noise_threshold(n: int, k: int, epsilon: Any) -> arb:
    """t = sqrt(2 n log(2k/epsilon)): a sum of n terms in [-1, 1] reaches it with probability at most epsilon/k.

    Raises:
        ValueError: unless k >= 2 is even, n > k is odd and 0 < epsilon < 1.
    """
    check_sizes(n, k)
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon must lie between 0 and 1, not at {epsilon}.")
    return (2 * n * (2 * k / arb(epsilon)).log()).sqrt()


def largest_ratio(n: int, k: int, epsilon: Any, delta: Any) -> arb:
    """The largest tau/|xi_{k-1}| that the claim allows for the distance delta, (delta/2) k/t.

    Raises:
        ValueError: as `noise_threshold`, or unless delta > 0.
    """
    if not delta > 0:
        raise ValueError(f"delta must be positive, not {delta}.")
    return arb(delta) * k / (2 * noise_threshold(n, k, epsilon))


def feature_distance(n: int, k: int, ratio: Any, threshold: Any) -> Any:
    """D threshold + ratio/k: the features are closer but for the probability 2 exp(-threshold^2/(2n)).

    Raises:
        ValueError: as `irrelevant_weight`.
    """
    return irrelevant_weight(n, k, ratio) * threshold + ratio / k


def feature_range(n: int, k: int, ratio: Any, bias: Any) -> Any:
    """The largest value of a learned feature, k (1/(2k) + ratio/k) + (n-k) D + |bias| + ratio/k.

    Raises:
        ValueError: as `irrelevant_weight`.
    """
    inputs = fmpq(1, 2) + ratio + (n - k) * irrelevant_weight(n, k, ratio)
    return inputs + abs(bias) + ratio / k
