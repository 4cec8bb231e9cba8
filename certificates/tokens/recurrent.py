"""What a recurrent network must have to compute one-sparse token regression: norms, width, or else an error.

A network of two directions with states in the ball of radius r_h reads its states through U = (U_fw, U_bw), and its
prediction is an (L/r_h)-Lipschitz function of (U_fw h_fw, U_bw h_bw). The labels are <u, x_(t_j)> for standard normal x
and uniform indices t_j. If the mean squared error is at most r at some position, or on average over all N >= 2, put
e = sqrt(r N/(N - 1)). Then for every beta > 0 with beta + e < 1

    norm:    L^2 ||U||_F^2/(e_0 beta^2)                 >=  (N - 1) ln(1/(beta + e)),      e_0 = 2.718...,
    width:   d_h ln(1 + 2 L^2 ||U||_op^2/beta^2)        >=  (N - 1) ln(1/(beta + e)),

so that r <= 1/100 needs L^2 ||U||_F^2 >= 3 (N - 1)/10 and d_h >= (N - 1)/(19 ln(1 + L^2 ||U||_op^2)). The proof adds
noise of the size beta r_h/L to what the read-out sees: what is left tells less about N - 1 Gaussian numbers than a
prediction of them must know. With the operator norm the first bound is false: see
`lemmata.constructions.tokens.codebook`.

Source: qstr, proposition-8 and proposition-35 (proofs/recurrent-lower-bound.md of that chapter).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer

__all__ = [
    "RecurrentReport",
    "check_recurrent",
    "least_recurrent_risk",
    "least_squared_norm",
    "least_width",
    "printed_bounds",
]

Number = int | str | float | Fraction | fmpq | arb
_GRID = 64
"""The values of beta that are tried are the multiples of (1 - e)/64."""
_PRECISE = 40
"""Halvings of the interval of the risk."""


@dataclass(frozen=True)
class RecurrentReport:
    """The two bounds for one network.

    Attributes:
        length: N.
        norm: L^2 ||U||_F^2.
        least_norm: what it must be at least for the risk; 0 if the bounds say nothing.
        width: d_h.
        least_width: what it must be at least; 0 if the bounds say nothing.
        least_risk: no network with this N and norm has a smaller risk.
        failures: the hypotheses that fail, and the bounds that the network violates, as sentences; a violation means
            that a number of the network is wrong.
    """

    length: int
    norm: arb
    least_norm: arb
    width: int
    least_width: arb
    least_risk: arb
    failures: tuple[str, ...]


def check_recurrent(
    length: int,
    width: int,
    lipschitz: Number,
    frobenius_squared: Number,
    operator_norm: Number,
    risk: Number,
) -> RecurrentReport:
    """The bounds for a network with the radius r_h = 1, and which of its numbers cannot be true.

    Args:
        length: N.
        width: d_h.
        lipschitz: L, of the read-out in (U_fw h_fw, U_bw h_bw).
        frobenius_squared: ||U||_F^2.
        operator_norm: ||U||_op.
        risk: the mean squared error at a position, or on average over the positions.

    Raises:
        ValueError: for N, d_h < 1, or other numbers that are negative or not finite.
    """
    N, d_h = checked_integer("The number of tokens", length, 1), checked_integer("The width", width, 1)
    L, square, norm, r = _nonnegative(lipschitz, frobenius_squared, operator_norm, risk)
    size = L * L * square
    failures = []
    if N == 1:
        failures.append("A prompt of one token has no other token to remember: the bounds need N >= 2.")
    elif not r * N < N - 1:
        failures.append("The risk is not certainly below (N - 1)/N, which the network 0 has: the bounds say nothing.")
    needed = arb(0) if failures else least_squared_norm(N, r)
    wide = arb(0) if failures else least_width(N, L * norm, r)
    if size < needed:
        failures.append("L^2 ||U||_F^2 is too small for the risk: no network has these numbers.")
    if d_h < wide:
        failures.append("The width is too small for the risk and the norms: no network has these numbers.")
    if square > norm * norm * d_h:
        failures.append("||U||_F^2 exceeds d_h ||U||_op^2, which no matrix with d_h rows allows.")
    return RecurrentReport(
        N, size, needed, d_h, wide, least_recurrent_risk(N, size) if N > 1 else arb(0), tuple(failures)
    )


def least_squared_norm(length: int, risk: Number) -> arb:
    """The least L^2 ||U||_F^2 that the risk needs: the largest of the bounds at several beta; a lower bound, as a ball.

    Raises:
        ValueError: if N < 2, or unless 0 <= risk < (N - 1)/N.
    """
    return _best(length, risk, lambda beta, nats: nats * beta * beta * arb(1).exp())


def least_width(length: int, scale: Number, risk: Number) -> arb:
    """The least width d_h that the risk needs, for scale = L ||U||_op: a lower bound, as a ball.

    Raises:
        ValueError: as `least_squared_norm`, or for a negative scale.
    """
    [s] = _nonnegative(scale)
    if s == 0:
        raise ValueError("For U = 0 or L = 0 no width is enough: give a positive L ||U||_op.")
    return _best(length, risk, lambda beta, nats: nats / (1 + 2 * (s / beta) ** 2).log())


def least_recurrent_risk(length: int, norm: Number) -> arb:
    """A lower bound of the risk of every network with N tokens and L^2 ||U||_F^2 = norm, as a ball.

    The largest r for which `least_squared_norm` exceeds the norm, by bisection: 0 if there is none.

    Raises:
        ValueError: if N < 2, or for a negative norm.
    """
    N = _tokens(length)
    [size] = _nonnegative(norm)
    if not size < least_squared_norm(N, 0):
        return arb(0)
    low, high = fmpq(0), fmpq(N - 1, N)
    for _ in range(_PRECISE):
        middle = (low + high) / 2
        low, high = (middle, high) if size < least_squared_norm(N, middle) else (low, middle)
    return arb(low)


def printed_bounds(length: int, width: int, lipschitz: Number, operator_norm: Number) -> tuple[arb, arb]:
    """The printed sizes without their constants: N/ln(1 + L^2 ||U||_op^2) for d_h, N/(L^2 ln(1 + d_h)) for ||U||_op^2.

    The second one is no bound for any constant.

    Raises:
        ValueError: as `check_recurrent`, or if L ||U||_op is 0, where the first one is infinite.
    """
    N, d_h = checked_integer("The number of tokens", length, 1), checked_integer("The width", width, 1)
    L, norm = _nonnegative(lipschitz, operator_norm)
    if L * norm == 0:
        raise ValueError("For L ||U||_op = 0 the printed bound of the width is infinite.")
    return N / (1 + (L * norm) ** 2).log(), N / (L * L * arb(1 + d_h).log())


def _best(length: int, risk: Number, bound: Callable[[arb, arb], arb]) -> arb:
    """The largest lower end of the bounds bound(beta, (N - 1) ln(1/(beta + e))) over the grid of beta."""
    N = _tokens(length)
    [r] = _nonnegative(risk)
    if not r * N < N - 1:
        raise ValueError(f"The bounds are for risks below (N - 1)/N = {N - 1}/{N}, not for {risk}.")
    excess = (r * N / (N - 1)).sqrt()
    best = arb(0)
    for k in range(1, _GRID):
        beta = (1 - excess) * k / _GRID
        value = bound(beta, (N - 1) * -(beta + excess).log())
        if value.lower() > best.lower():
            best = value
    return best


def _tokens(length: int) -> int:
    return checked_integer("The number of tokens that are to be remembered", length, 2)


def _nonnegative(*numbers: Number) -> list[arb]:
    result: list[Any] = as_balls(list(numbers)).tolist()
    for number, ball in zip(numbers, result, strict=True):
        if not ball.is_finite() or not ball >= 0:
            raise ValueError(f"Norms, constants and risks are finite numbers >= 0, not {number}.")
    return result
