"""How many samples a recurrent network of least norm needs: it interpolates a few of them too cheaply to generalise.

For n samples of one-sparse token regression, each read at one position, and states of width d_h >= n, some network with
U = 0 and a read-out of depth L interpolates, with probability at least 1/3, and its squared norm is at most

    C n^3 for L = 2,    sqrt(2) C n^3 + 2 (L - 2) for L >= 3,    C = 144 sqrt(2/pi) = 114.9,

whatever the number N of tokens is. A network of risk at most r has, by the arithmetic and geometric means of the
squared Frobenius norms of U, W_2, ..., W_L, a squared norm of at least L q^(1/L), where q = `least_squared_norm(N, r)`
grows like N. So the network of least norm has a larger risk while the former is less than the latter, which is so for n
up to the order of N^(1/(3 L)). If d_h < n, and the norm is at most exp(N^c/L), then L_f ||U||_op <= exp(N^c)/L^(L/2)
for the Lipschitz constant L_f of the read-out, and d_h >= `least_width`, of the order of N^(1 - c), so that n is.

This is for any encoding of positions. With the near-orthogonal codes that the document takes, one neuron answers one
index, and with layers that are balanced against each other the samples are interpolated with a squared norm of
L (5 2^(L - 2) S^2)^(1/L), S = n sqrt(2/pi) + 3 sqrt(n (1 - 2/pi)), with probability at least 9/10 - n (n - 1)/(2 N).
For every depth this is less than a network of risk 1/100 has, up to n of the order of sqrt(N) (`coded_samples`).

Source: qstr, theorem-9 and ext-coded-interpolation (proofs/minimum-norm.md of that chapter).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from lemmata.certificates.tokens.recurrent import Number, least_squared_norm, least_width
from lemmata.numerics.exact.integers import checked_integer, smallest_integer
from lemmata.numerics.exact.numbers import as_exact, exact_midpoint

__all__ = [
    "MinimumNormReport",
    "coded_chance",
    "coded_norm",
    "coded_samples",
    "generalising_norm",
    "interpolation_constant",
    "interpolation_norm",
    "minimum_norm_report",
    "narrow_samples",
    "wide_samples",
]


@dataclass(frozen=True)
class MinimumNormReport:
    """Up to which n the network of least norm has a risk above `risk`, with probability at least 1/3.

    Attributes:
        length: N.
        depth: L.
        risk: r.
        generalising: the least squared norm of a network with a risk of at most r.
        wide: the largest n of interpolation for states of width d_h >= n; 0 if there is none.
        narrow: the largest n for d_h < n, under the bound exp(N^c/L) of the norm; None without a c.
        coded: the largest n for d_h >= n where tokens carry near-orthogonal codes, with probability `coded_chance`.
    """

    length: int
    depth: int
    risk: Number
    generalising: arb
    wide: int
    narrow: int | None
    coded: int

    @property
    def samples(self) -> int:
        """The largest n for every width d_h (for d_h >= n alone if there is no c)."""
        return self.wide if self.narrow is None else min(self.wide, self.narrow)


def interpolation_constant() -> arb:
    """C = 144 sqrt(2/pi): 8 sqrt(3) times sqrt(6), sqrt(4) and 3/sqrt(pi)."""
    return 144 * (2 / arb.pi()).sqrt()


def interpolation_norm(samples: int, depth: int) -> arb:
    """The squared norm that is enough to interpolate n samples, with probability at least 1/3.

    Raises:
        ValueError: if n < 1 or L < 2.
    """
    n, L = checked_integer("The number of samples", samples, 1), checked_integer("The depth", depth, 2)
    first = interpolation_constant() * n**3
    return first if L == 2 else arb(2).sqrt() * first + 2 * (L - 2)


def coded_norm(samples: int, depth: int) -> arb:
    """L (5 2^(L - 2) S^2)^(1/L), enough to interpolate n samples by the codes of their indices, with `coded_chance`.

    S = n sqrt(2/pi) + 3 sqrt(n (1 - 2/pi)) is three deviations above the mean of the sum of n labels |y_i|.

    Raises:
        ValueError: as `interpolation_norm`.
    """
    n, L = checked_integer("The number of samples", samples, 1), checked_integer("The depth", depth, 2)
    mean = 2 / arb.pi()
    S = n * mean.sqrt() + 3 * (n * (1 - mean)).sqrt()
    return L * (5 * 2 ** (L - 2) * S * S).root(L)


def coded_chance(length: int, samples: int) -> fmpq:
    """9/10 - n (n - 1)/(2 N): at least the probability that n indices differ, and their labels sum to at most S.

    Raises:
        ValueError: if N < 1 or n < 1.
    """
    N, n = checked_integer("The number of tokens", length, 1), checked_integer("The number of samples", samples, 1)
    return fmpq(9, 10) - fmpq(n * (n - 1), 2 * N)


def coded_samples(length: int, depth: int, risk: Number) -> int:
    """The largest n whose interpolation by codes is shorter than any network of this risk; 0 if there is none.

    Raises:
        ValueError: as `generalising_norm`.
    """
    size = generalising_norm(length, depth, risk)
    return smallest_integer(1, lambda n: not coded_norm(n, depth) < size) - 1


def generalising_norm(length: int, depth: int, risk: Number) -> arb:
    """L q^(1/L), the least squared norm of U, W_2, ..., W_L for the risk.

    Raises:
        ValueError: if L < 2, N < 2, or the risk is not in [0, (N - 1)/N).
    """
    L = checked_integer("The depth", depth, 2)
    return L * least_squared_norm(length, risk).root(L)


def wide_samples(length: int, depth: int, risk: Number) -> int:
    """The largest n whose interpolation is shorter than any network of this risk; 0 if there is none.

    Raises:
        ValueError: as `generalising_norm`.
    """
    size = generalising_norm(length, depth, risk)
    return smallest_integer(1, lambda n: not interpolation_norm(n, depth) < size) - 1


def narrow_samples(length: int, depth: int, risk: Number, exponent: Fraction | fmpq | str | int) -> int:
    """The largest n for which d_h < n cannot have this risk, if the norm is at most exp(N^c/L).

    Args:
        length: N.
        depth: L.
        risk: r.
        exponent: c, with 0 <= c < 1.

    Raises:
        ValueError: as `generalising_norm`, or for another exponent.
    """
    [c] = as_exact([exponent]).tolist()
    L = checked_integer("The depth", depth, 2)
    if not 0 <= c < 1:
        raise ValueError(f"The norms are bounded by exp(N^c/L) with 0 <= c < 1, not c = {exponent}.")
    scale = (arb(length) ** arb(c)).exp() / arb(L) ** (arb(L) / 2)
    return int(exact_midpoint(least_width(length, scale, risk).lower()).floor())


def minimum_norm_report(
    length: int, depth: int, risk: Number = "1/100", exponent: Fraction | fmpq | str | int | None = None
) -> MinimumNormReport:
    """All numbers of the argument for N tokens and a read-out of depth L.

    Raises:
        ValueError: as `narrow_samples`.
    """
    narrow = None if exponent is None else narrow_samples(length, depth, risk, exponent)
    generalising = generalising_norm(length, depth, risk)
    wide, coded = wide_samples(length, depth, risk), coded_samples(length, depth, risk)
    return MinimumNormReport(length, depth, risk, generalising, wide, narrow, coded)
