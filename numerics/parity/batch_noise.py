"""The noise of a batch gradient in l_2, and the sizes of theorem 5.5 without a logarithm for every entry.

Let Z be the error of the gradient of one neuron, its n weights and its bias, on B samples: the mean of B independent
vectors s (x, 1) less their mean, with |s| <= 1 a function of x. For fixed g in R^(n+1) and X = s g.(x, 1), an
independent copy X' and Jensen's inequality, and then |X| <= |g.(x, 1)|,

    E exp(t (X - EX)) <= E cosh(t (X - X')) <= E cosh(2t X) <= E cosh(2t g.(x, 1)) <= exp(2 t^2 |g|^2).

With a Gaussian g, exp(l^2 |Z|^2/2) = E exp(l g.Z), so that E exp(l^2 |Z|^2/2) <= (1 - 4 l^2/B)^(-(n+1)/2); l^2 = B/8:

    E exp(B |Z|^2/16) <= 2^((n+1)/2),        P(|Z| >= z) <= 2^((n+1)/2) exp(-B z^2/16).

The proof of theorem 5.5 needs this for max(k + 1, 4) neurons, and of the others second moments alone, so that no union
over all r (n + 1) entries is left.

Source: hidden-progress, theorem-5.5.
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from lemmata.numerics.exact.precision import precision
from lemmata.numerics.parity.sgd_sizes import SgdLossBound, check_sizes, regret_bound, top_coefficient
from lemmata.numerics.parity.sign_classes import no_class_bound

__all__ = ["noise_tail", "noisy_moment", "short_batch", "short_logarithm", "short_loss_bound"]

_BITS = 512


def noise_tail(n: int, batch: Any, square: Any) -> arb:
    """2^((n+1)/2) exp(-B square/16), a bound on P(|Z|^2 >= square) for one neuron with n inputs and a bias."""
    return arb(2) ** fmpq(n + 1, 2) * (-arb(batch) * square / 16).exp()


def noisy_moment(n: int, k: int, batch: Any, bias: Any) -> Any:
    """A bound on E (w.x + b)^2 over the batch of the first step and over x, for a neuron that started with a bias.

    1/(4k) + (k-1)^2/(4k^2(n-k)) + bias^2 for the mean weights, and (n+1)/(k^2 xi_{k-1}^2 B) for the noise.

    Raises:
        ValueError: unless k >= 2 is even, n > k is odd and the batch has a sample.
    """
    check_sizes(n, k)
    if batch < 1:
        raise ValueError(f"A batch has at least one sample, not {batch}.")
    mean = fmpq(1, 4 * k) + fmpq((k - 1) ** 2, 4 * k**2 * (n - k)) + bias**2
    return mean + (n + 1) / (k**2 * top_coefficient(n, k) ** 2 * batch)


def short_logarithm(n: int, k: int, epsilon: Any) -> arb:
    """L = log(128 K k^2 n/epsilon) with K = max(k + 1, 4) the number of neurons that the second layer uses."""
    return (128 * max(k + 1, 4) * k**2 * n / arb(epsilon)).log()


def short_batch(n: int, k: int, epsilon: Any) -> arb:
    """2^12 k^2 n L/xi_{k-1}^2, a batch that suffices.

    Raises:
        ValueError: unless k >= 2 is even and n > k is odd.
    """
    return 2**12 * k**2 * n * short_logarithm(n, k, epsilon) / top_coefficient(n, k) ** 2


def short_loss_bound(n: int, k: int, epsilon: Any, width: int, batch: int, steps: int) -> SgdLossBound:
    """The four parts of the bound on the mean of E loss over the run, with the noise of the first gradient in l_2.

    The rate is the best one. The mean is over the T - 1 second layers after the first step, from 0 on: where the first
    step fails it is compared with 0, at which the loss is 1.

    Args:
        n: the number of inputs, odd.
        k: the size of the parity, even.
        epsilon: a rational number in (0, 1/2).
        width: r, even.
        batch: B of the first step.
        steps: T, including the first step.

    Raises:
        ValueError: for sizes out of range, or with which the features are not proved to be close enough.
    """
    check_sizes(n, k)
    if width % 2 or width < 2 * (k + 1) or batch < 1 or steps < 2 or not 0 < epsilon < fmpq(1, 2):
        raise ValueError("Give an even width of at least 2(k + 1), a batch, two steps and an epsilon below 1/2.")
    with precision(_BITS):
        root = (2 * short_logarithm(n, k, epsilon)).sqrt()
        # |e| root + |noise| < 1/(8k^2) for |e| = (k-1)/(2k sqrt(n-k)) + |noise|
        noise = (arb(fmpq(1, 8 * k**2)) - (k - 1) * root / (2 * k * arb(n - k).sqrt())) / (root + 1)
        if not noise > 0:
            raise ValueError(f"{n} inputs are too few: the learned features are not proved to be within 1/(8k^2).")
        rate = 1 / (k * top_coefficient(n, k))
        pairs = width // 2
        missing = 2 * arb(fmpq(5, 6)) ** pairs if k == 2 else no_class_bound(2 ** (k - 1), 2 * k - 1, k + 1, pairs)
        moment = width * noisy_moment(n, k, batch, fmpq(k - 1, k))
        best = (64 * k**3 / (moment * (steps - 1))).sqrt()
        return SgdLossBound(
            width=missing,
            batch=max(k + 1, 4) * noise_tail(n, batch, (noise / rate) ** 2),
            fit=arb(epsilon) / 4,
            regret=regret_bound(arb(64 * k**3), moment, best, steps - 1),
        )
