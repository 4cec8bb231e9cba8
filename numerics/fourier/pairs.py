"""Exact orthogonal splittings of tables over Z_n x Z_n, in floats: into sums, into lines of frequencies, into answers.

additive_part   t(a, b) = m + u(a) + v(b) + r(a, b), where u, v and every row and column of r have the mean 0
line_energies   the squared norm of t - m on the frequencies (j, j), (j, -j), (j, 0) and (0, j), and on all others
answer_waves    L(a, b)[c] = sum_j A_j cos(2 pi j (a + b - c)/n) + B_j sin(2 pi j (a + b - c)/n) + r(a, b)[c], where the
                mean over c is left out and r has the mean 0 over each of the n sets of cells with one a + b - c

The parts are orthogonal to each other under the uniform law, so that the shares of a squared norm have the sum 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["AdditivePart", "AnswerWaves", "LineEnergies", "additive_part", "answer_waves", "line_energies"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AdditivePart:
    """m + u(a) + v(b) nearest to each of k tables in the mean square.

    Attributes:
        mean: m, shape (k,).
        u: shape (n, k), of mean 0.
        v: shape (n, k), of mean 0.
        energy: the mean of (u(a) + v(b))^2, shape (k,).
        rest: the mean of r(a, b)^2, shape (k,).
    """

    mean: Floats
    u: Floats
    v: Floats
    energy: Floats
    rest: Floats

    def table(self) -> Floats:
        """m + u(a) + v(b), shape (n, n, k)."""
        return self.mean + self.u[:, None] + self.v[None]


@dataclass(frozen=True, eq=False)
class LineEnergies:
    """The mean of the square of t - m by frequencies (i, j) of (a, b), shape (k,) each.

    Attributes:
        total: i = j, the functions of a + b; for even n with i = j = n/2.
        difference: i = -j otherwise, the functions of a - b.
        single: i = 0 or j = 0, the functions of one of both.
        others: all that is left.
    """

    total: Floats
    difference: Floats
    single: Floats
    others: Floats


@dataclass(frozen=True, eq=False)
class AnswerWaves:
    """Logits as waves of a + b - c; entry j - 1 belongs to the frequency j = 1, ..., floor(n/2).

    Attributes:
        cosines: A_j.
        sines: B_j; 0 for j = n/2.
        cosine_shares: of the mean square of the logits without their mean over c.
        sine_shares: likewise.
        rest: the share of r.
    """

    cosines: Floats
    sines: Floats
    cosine_shares: Floats
    sine_shares: Floats
    rest: float

    def cosine_values(self, n: int) -> Floats:
        """g(d) = sum_j A_j cos(2 pi j d/n), d = a + b - c = 0, ..., n - 1."""
        return np.cos(2 * np.pi * np.outer(np.arange(n), np.arange(1, n // 2 + 1)) / n) @ self.cosines


def additive_part(tables: ArrayLike) -> AdditivePart:
    """The additive parts of k tables, shape (n, n, k).

    Raises:
        ValueError: for another shape.
    """
    t = _checked(tables)
    mean = t.mean(axis=(0, 1))
    u, v = t.mean(axis=1) - mean, t.mean(axis=0) - mean
    rest = t - (mean + u[:, None] + v[None])
    return AdditivePart(mean, u, v, (u**2).mean(axis=0) + (v**2).mean(axis=0), (rest**2).mean(axis=(0, 1)))


def line_energies(tables: ArrayLike) -> LineEnergies:
    """The energies of k tables, shape (n, n, k), on lines of frequencies.

    Raises:
        ValueError: for another shape.
    """
    t = _checked(tables)
    n = len(t)
    power = np.abs(np.fft.fft2(t - t.mean(axis=(0, 1)), axes=(0, 1))) ** 2 / n**4
    i, j = np.ogrid[:n, :n]
    single = (i == 0) | (j == 0)
    total = (i == j) & ~single
    difference = ((i + j) % n == 0) & ~single & ~total
    others = ~(single | total | difference)
    return LineEnergies(*(power[kept].sum(axis=0) for kept in (total, difference, single, others)))


def answer_waves(logits: ArrayLike) -> AnswerWaves:
    """The waves of a + b - c in logits L(a, b)[c], shape (n, n, n).

    Raises:
        ValueError: for another shape, and logits that do not depend on c, so that no share is defined.
    """
    L = _checked(logits)
    n = len(L)
    if L.shape != (n, n, n):
        raise ValueError(f"Logits of addition modulo {n} have the shape {(n, n, n)}, not {L.shape}.")
    scale = float(np.abs(L).max()) or 1.0  # so that no square under- or overflows
    L = L / scale
    L = L - L.mean(axis=2, keepdims=True)
    energy = float((L**2).mean())
    if energy <= 1e-28:  # a constant in floats leaves rounding errors of 1e-16 behind
        raise ValueError("The logits do not depend on the label c, so that nothing is answered.")
    a, b, d = np.ogrid[:n, :n, :n]
    by_difference = L[a, b, (a + b - d) % n]
    g = by_difference.mean(axis=(0, 1))
    transform = np.fft.rfft(g)[1:] / n
    twice = np.where(np.arange(1, n // 2 + 1) * 2 == n, 1.0, 2.0)  # j and -j, which are one for n/2
    A, B = twice * transform.real, -twice * transform.imag
    B[twice == 1] = 0
    rest = float(((by_difference - g) ** 2).mean() / energy)
    shares = [part**2 / twice / energy for part in (A, B)]
    return AnswerWaves(scale * A, scale * B, shares[0], shares[1], rest)


def _checked(tables: ArrayLike) -> Floats:
    t = np.asarray(tables, dtype=np.float64)
    if t.ndim != 3 or t.shape[0] != t.shape[1] or not len(t):
        raise ValueError(f"Tables over Z_n x Z_n have the shape (n, n, k), not {t.shape}.")
    return t
