"""A bound on the expected loss of SGD on a ReLU network that learns a sparse parity, for any sizes and any rate.

The first step, from pairs of neurons and with the second layer set to 0, makes all gradients tau-accurate but for the
probability 2 r (n + 1) exp(-B tau^2/2), and leaves some class of signs complete but for `no_class_bound`. Then a second
layer u with |u|^2 <= 64 k^3 has the expected hinge loss 16 k^2 n eps', eps' = eps/(64 k^2 n), if the learned features
are closer than 1/(8 k^2) to the ideal ones (for k = 2 four neurons may be off, with 4/3 of the probability, but then
|u|_1 <= 20 in place of 32), and T - 1 steps of SGD on the second layer, of rate eta and from 0, have the regret

    64 k^3/(2 eta (T - 1)) + eta G^2/2,        G^2 = r max E feature^2,

with second moments of features that do not grow with n (`feature_moment`). At failure the loss of the first network,
u = 0, is 1. So E min_t loss is at most the sum of the four.

Source: hidden-progress, theorem-5.5-full as its ledger entry repairs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from lemmata.numerics.exact.precision import precision
from lemmata.numerics.parity.sign_classes import no_class_bound, no_readout_probability_for_two

__all__ = ["SgdLossBound", "check_sizes", "feature_moment", "regret_bound", "sgd_loss_bound", "top_coefficient"]

_BITS = 512


@dataclass(frozen=True)
class SgdLossBound:
    """The four parts of a bound on the expected hinge loss of a run, the least one or the mean.

    Attributes:
        width: the probability that no class of signs is complete.
        batch: the probability that some entry of the first gradient is off by more than tau.
        fit: the loss of the second layer of the proof.
        regret: that of SGD against it.
    """

    width: arb
    batch: arb
    fit: arb
    regret: arb

    @property
    def total(self) -> arb:
        """The bound."""
        return self.width + self.batch + self.fit + self.regret


def check_sizes(n: int, k: int) -> None:
    """Refuse n and k for which the gradient at signs shows nothing.

    Raises:
        ValueError: unless k >= 2 is even and n > k is odd.
    """
    if k < 2 or k % 2:
        raise ValueError(f"k must be even, not {k}: the coefficients of majority of the even orders k -+ 1 are 0.")
    if n <= k or n % 2 == 0:
        raise ValueError(f"The number of inputs must be odd and above k = {k}, not {n}.")


def top_coefficient(n: int, k: int) -> arb:
    """|xi_{k-1}|, the size of the Fourier coefficients of order k-1 of the majority of n inputs, n odd and k even.

    Raises:
        ValueError: unless k >= 2 is even and n > k is odd.
    """
    check_sizes(n, k)
    with precision(_BITS):
        half = arb((n - 1) // 2)
        central = (arb(n).lgamma() - 2 * (half + 1).lgamma() - (n - 1) * arb(2).log()).exp()
    ratio = arb(1)
    for i in range((k - 2) // 2):  # C((n-1)/2, (k-2)/2) / C(n-1, k-2), factor by factor
        ratio *= arb(fmpq(2 * i + 1, n - 2 - 2 * i))
    return central * ratio


def feature_moment(n: int, k: int, ratio: Any) -> Any:
    """A bound on E (w.x + b)^2 for every neuron after the step, if all gradients are tau-accurate, ratio = tau/|xi|.

    k (1/(2k) + ratio/k)^2 + (n-k) ((k-1)/(2k(n-k)) + ratio/k)^2 + (1 - 1/k + ratio/k)^2, the squares of the largest
    weights and of the largest bias.

    Raises:
        ValueError: unless k >= 2 is even and n > k is odd.
    """
    check_sizes(n, k)
    error = ratio / k
    relevant, irrelevant = fmpq(1, 2 * k) + error, fmpq(k - 1, 2 * k * (n - k)) + error
    return k * relevant**2 + (n - k) * irrelevant**2 + (fmpq(k - 1, k) + error) ** 2


def regret_bound(norm_squared: Any, moment: Any, rate: Any, steps: Any) -> Any:
    """|u|^2/(2 eta T) + eta G^2/2: how far the mean loss of T steps of SGD from 0 is above that of u.

    Args:
        norm_squared: |u|^2.
        moment: G^2, at least the second moment of the gradients.
        rate: eta > 0.
        steps: T > 0.
    """
    return norm_squared / (2 * rate * steps) + rate * moment / 2


def sgd_loss_bound(n: int, k: int, epsilon: Any, width: int, batch: int, steps: int, rate: Any = None) -> SgdLossBound:
    """The four parts of the bound on E min_t loss, as balls.

    Args:
        n: the number of inputs, odd.
        k: the size of the parity, even.
        epsilon: a rational number; eps' of the proof is epsilon/(64 k^2 n).
        width: r, even.
        batch: B of the first step.
        steps: T, including the first step.
        rate: eta of the second layer; the best one, |u|/(G sqrt(T - 1)), if None.

    Raises:
        ValueError: for sizes out of range, or with which the features are not proved to be close enough.
    """
    check_sizes(n, k)
    if width % 2 or width < 2 * (k + 1) or batch < 1 or steps < 2 or not epsilon > 0:
        raise ValueError("Give an even width of at least 2(k + 1), a batch, two steps and a positive epsilon.")
    with precision(_BITS):
        root = (2 * n * (128 * (k + 1) * k**2 * n / arb(epsilon)).log()).sqrt()
        ratio = 1 / (16 * k * root)
        distance = ratio * (1 + arb(1) / k + root / k) + arb(fmpq(k - 1, 2 * k * (n - k))) * root
        if not distance < fmpq(1, 8 * k**2):
            raise ValueError(f"{n} inputs are too few: the learned features are not proved to be within 1/(8k^2).")
        moment = width * feature_moment(n, k, ratio)
        if rate is None:
            rate = (64 * k**3 / (moment * (steps - 1))).sqrt()
        tau = ratio * top_coefficient(n, k)
        pairs = width // 2
        two = k == 2
        return SgdLossBound(
            width=arb(no_readout_probability_for_two(pairs))
            if two
            else no_class_bound(2 ** (k - 1), 2 * k - 1, k + 1, pairs),
            batch=2 * width * (n + 1) * (-batch * tau**2 / 2).exp(),
            fit=arb(epsilon) / 4,
            regret=regret_bound(arb(64 * k**3), moment, rate, steps - 1),
        )
