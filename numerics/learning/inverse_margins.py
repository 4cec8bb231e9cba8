"""Generalisation from the root mean square of inverse all-layer margins, with constants and a remainder of order 1/n.

theta has p coordinates and ||theta||_1 <= alpha; rho(theta, x, y) is 1-Lipschitz in theta and 0 where the prediction is
wrong. At gamma_k = 2 alpha 2^(-k/2), k = 0, 1, ..., every theta is within gamma_k/2 of one of the centres, means of 2^k
vectors among 0 and +-alpha e_j, N_k <= (2 p + 1)^(2^k) in number; for k = 0 the centre 0 suffices. At each of them the
multiplicative inequality of Chernoff holds, so that with probability 1 - delta, for all theta and all k at once,

    error <= 2 (share of the sample with rho <= gamma_k) + 2 (ln N_k + ln((k + 1)(k + 2)/delta))/n.

The share is at most gamma_k^2 S^2 with S^2 = (1/n) sum 1/rho_i^2, and the best k gives, for n >= 2,

    error <= 6 sqrt(2) alpha sqrt(ln(2 p + 1)/n) S + 2 (ln(1/delta) + 2 ln(1 + log2 n))/n.

Source: turing, corollary-A.1; proved in proofs/inverse-margins.md there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpq

from lemmata.numerics.exact.balls import ball_min
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, positive_number
from lemmata.numerics.learning.generalisation import Exact

__all__ = ["inverse_margin_bound", "log_centres", "margin_scale_bound", "margins_bound", "relative_deviation"]


def relative_deviation(share: Exact, log_size: arb | int, n: int, delta: Exact) -> arb:
    """2 share + 2 (ln N + ln(1/delta))/n: bounds the probabilities of N events at once, from their shares of a sample.

    Raises:
        ValueError: if the share is not in [0, 1], n < 1, or delta is not in (0, 1).
    """
    part, rest = as_exact([share, delta])
    size = checked_integer("The sample size", n, 1)
    if not 0 <= part <= 1 or not 0 < rest < 1:
        raise ValueError(f"The share must lie in [0, 1] and delta in (0, 1), not {share} and {delta}.")
    return 2 * part + 2 * (log_size - arb(rest).log()) / size


def log_centres(k: int, p: int) -> arb:
    """ln N_k: 0 for k = 0, else 2^k ln(2 p + 1).

    Raises:
        ValueError: if k < 0 or p < 1.
    """
    scale, size = checked_integer("The scale k", k, 0), checked_integer("The number of parameters", p, 1)
    return arb(0) if scale == 0 else 2**scale * arb(2 * size + 1).log()


def margin_scale_bound(margins: Sequence[Exact | None], alpha: Exact, p: int, k: int, delta: Exact) -> arb:
    """The bound at gamma_k on the error of every theta, from its margins on the sample.

    Args:
        margins: rho_i >= 0, exact lower bounds of the margins; None where no parameter is wrong (infinite).
        alpha: the radius of the parameters in the 1-norm, positive.
        p: the number of parameters.
        k: the scale.
        delta: the failure probability, of all scales together.

    Raises:
        ValueError: as `relative_deviation` and `log_centres`, for negative margins, or an alpha that is not positive.
    """
    return _scale_bound(_squares(margins), len(margins), positive_number("radius alpha", alpha), p, k, delta)


def _scale_bound(squares: list[fmpq], n: int, radius: fmpq, p: int, k: int, delta: Exact) -> arb:
    low = sum(1 for square in squares if square * 2**k <= 4 * radius**2)
    size = log_centres(k, p) + arb((k + 1) * (k + 2)).log()
    return relative_deviation(Fraction(low, n), size, n, delta)


def margins_bound(margins: Sequence[Exact | None], alpha: Exact, p: int, delta: Exact = Fraction(1, 100)) -> arb:
    """The least of `margin_scale_bound` over all k that can matter, with probability 1 - delta for all theta at once.

    Raises:
        ValueError: as `margin_scale_bound`.
    """
    squares, radius, n = _squares(margins), positive_number("radius alpha", alpha), len(margins)
    return ball_min([_scale_bound(squares, n, radius, p, k, delta) for k in range(n.bit_length() + 1)])


def inverse_margin_bound(
    n: int, alpha: Exact, p: int, mean_inverse_square: Exact, delta: Exact = Fraction(1, 100)
) -> arb:
    """6 sqrt(2) alpha sqrt(ln(2 p + 1)/n) S + 2 (ln(1/delta) + 2 ln(1 + log2 n))/n, at least `margins_bound` or 1.

    Args:
        n: the sample size, at least 2.
        alpha: the radius of the parameters in the 1-norm.
        p: the number of parameters.
        mean_inverse_square: S^2, the mean of 1/rho^2 over the sample.
        delta: the failure probability.

    Raises:
        ValueError: for numbers out of range.
    """
    size, radius = checked_integer("The sample size", n, 2), positive_number("radius alpha", alpha)
    square, rest = as_exact([mean_inverse_square, delta])
    if square < 0 or not 0 < rest < 1:
        raise ValueError(f"S^2 must not be negative and delta lie in (0, 1), not {mean_inverse_square} and {delta}.")
    main = 6 * (log_centres(1, p) * arb(square) / size).sqrt() * arb(radius)  # log_centres(1, p) = 2 ln(2 p + 1)
    return main + 2 * (2 * (1 + arb(size).log() / arb(2).log()).log() - arb(rest).log()) / size


def _squares(margins: Sequence[Exact | None]) -> list[fmpq]:
    """The squares of the finite margins; an infinite one counts as larger than all gamma."""
    values = as_exact([rho for rho in margins if rho is not None]).tolist()
    if not margins or any(rho < 0 for rho in values):
        raise ValueError("There must be margins of a sample, none of them negative.")
    return [rho**2 for rho in values]
