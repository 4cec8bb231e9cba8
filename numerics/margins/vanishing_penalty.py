"""How near the normalised margin of a regularised minimiser is to the largest one, for every homogeneous model.

N examples, K labels, f(theta, x) positively homogeneous of degree nu in theta, any norm; gamma* > 0 the largest
normalised margin, gamma_lambda that of a global minimiser of (mean cross-entropy) + lambda ||theta||^r. Then

    gamma_lambda / gamma* >= T(s),      T(s) = -log((1 + (K - 1) e^-s)^N - 1) / s,

for every s <= gamma* ||theta_lambda||^nu, and one such s is

    s(lambda) = -log(e^(N B) - 1),      B = log(1 + (K - 1) lambda) + lambda (log(1/lambda)/gamma*)^(r/nu),

if N B < log 2. B bounds the loss at the multiple of the best parameters whose margin is log(1/lambda). As lambda falls
to 0, so does B, and s(lambda) grows without bound, and T(s) = 1 - log(N (K - 1))/s + o(1/s).

Source: feature-emergence, theorem-7.1; proved in proofs/vanishing-penalty.md there.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, fmpq

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision

__all__ = ["least_size", "loss_of_best_multiple", "loss_range", "margin_share", "margin_share_bound"]

Exact = int | str | Fraction | fmpq

BITS = 256
"""Of the balls."""


def loss_range(margin: arb, examples: int, labels: int) -> tuple[arb, arb]:
    """Bounds on the mean cross-entropy over N examples with K labels whose smallest margin is given.

    log(1 + e^-h)/N, where a single wrong label of a single example counts, and log(1 + (K - 1) e^-h), where all do.

    Raises:
        ValueError: if there are no examples or fewer than two labels.
    """
    N, K = _sizes(examples, labels)
    with precision(BITS):
        tail = (-arb(margin)).exp()
        return tail.log1p() / N, ((K - 1) * tail).log1p()


def loss_of_best_multiple(labels: int, gamma: Exact | arb, penalty: Exact, power: Exact, degree: Exact) -> arb:
    """B: a bound on the least regularised loss, from the multiple of the best parameters of margin log(1/lambda).

    Args:
        labels: K.
        gamma: gamma*, positive.
        penalty: lambda, in (0, 1), exact.
        power: r, positive and exact.
        degree: nu, positive and exact.

    Raises:
        ValueError: for numbers out of range.
    """
    _, K = _sizes(1, labels)
    size, r, nu = as_exact([penalty, power, degree])
    if not 0 < size < 1 or r <= 0 or nu <= 0:
        raise ValueError(
            f"The penalty must lie between 0 and 1 and the power and the degree be positive, not {penalty}, {power} "
            f"and {degree}."
        )
    with precision(BITS):
        best = gamma if isinstance(gamma, arb) else arb(as_exact([gamma])[0])
        if not best > 0:
            raise ValueError(f"The largest normalised margin must be positive, not {gamma}.")
        weight = arb(size)
        return ((K - 1) * weight).log1p() + weight * (-weight.log() / best) ** arb(r / nu)


def least_size(
    examples: int, labels: int, gamma: Exact | arb, penalty: Exact, power: Exact, degree: Exact
) -> arb | None:
    """s(lambda), a lower bound on gamma* ||theta_lambda||^nu; None if the penalty is too large for one.

    Raises:
        ValueError: as `loss_of_best_multiple`, or if there are no examples.
    """
    N, _ = _sizes(examples, labels)
    with precision(BITS):
        excess = (N * loss_of_best_multiple(labels, gamma, penalty, power, degree)).expm1()
        return -excess.log() if excess < 1 else None


def margin_share(size: arb, examples: int, labels: int) -> arb:
    """T(s), which increases with s > 0: a lower bound on gamma_lambda / gamma* if s <= gamma* ||theta_lambda||^nu.

    Raises:
        ValueError: if s is not positive, or for numbers of examples and labels out of range.
    """
    N, K = _sizes(examples, labels)
    if not size > 0:
        raise ValueError(f"The size must be positive, not {size}.")
    with precision(BITS):
        return -(N * ((K - 1) * (-arb(size)).exp()).log1p()).expm1().log() / size


def margin_share_bound(
    examples: int, labels: int, gamma: Exact | arb, penalty: Exact, power: Exact, degree: Exact
) -> arb | None:
    """A lower bound on gamma_lambda / gamma* for every homogeneous model and norm; it tends to 1 as lambda falls.

    None where there is none, at penalties that are not small.

    Raises:
        ValueError: as `least_size`.
    """
    size = least_size(examples, labels, gamma, penalty, power, degree)
    return None if size is None else margin_share(size, examples, labels)


def _sizes(examples: int, labels: int) -> tuple[int, int]:
    return checked_integer("The number of examples", examples, 1), checked_integer("The number of labels", labels, 2)
