"""How wide a network must be for the printed error of the comparator to say anything.

Lemma 5.4 bounds the error of the linearised network by

    p rho^11 (eps_e + C_s(Phi, 1) eps_x^(1/3) + C m^(-1/20)),    rho = 100 L d log m,
    C' = C_eps_e(Phi, sqrt L),    eps_x < 1/(rho^4 C'),    C = 4 C'^2/(eps_e eps_x),

taken here without the constant that O() hides. `feasibility` finds the least m at which the last of the three terms is
at most delta, for a given eps_e, or, without one, the least m at which each of the three is at most delta/3: then
eps_e = delta/(3 p rho^11) and eps_x is the smaller of 1/(rho^4 C') and (delta/(3 p rho^11 C_s))^3. The unknown is
x = log m, and balls show that the term is too large for every x below and small enough at the end: numbers such as
10^2211 need no more than their logarithm.

Source: rnn-sgd, lemma-5.2, definition-5.3, lemma-5.4 and theorem-1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from flint import arb, fmpq

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq
from lemmata.numerics.recurrent.complexities import (
    DEFAULT_CONSTANT,
    PowerSeries,
    accuracy_part,
    power_part,
    smooth_complexity,
)

__all__ = ["Feasibility", "feasibility"]

MAX_LOG = 10**9
"""The largest log m that is tried."""


@dataclass(frozen=True)
class Feasibility:
    """The least width, in logarithms to the base 10, and what it is made of; all enclosed.

    Attributes:
        width: log10 m.
        rho: log10 of 100 L d log m.
        epsilon: log10 eps_e.
        complexity: log10 C'.
        input_scale: log10 eps_x.
        window: log10 of eps_c = eps_e eps_x/(4 C').
        size: log10 C, the bound of H.
        terms: log10 of the three terms of the error, by name.
        shares: what log10 m is the sum of, by name: 20 times each logarithm in p rho^11 C/delta.
    """

    width: arb
    rho: arb
    epsilon: arb
    complexity: arb
    input_scale: arb
    window: arb
    size: arb
    terms: dict[str, arb]
    shares: dict[str, arb]

    @property
    def dominant(self) -> str:
        """The name of the largest share."""
        return max(self.shares, key=lambda name: float(self.shares[name]))

    def __str__(self) -> str:
        def line(name: str, value: arb) -> str:
            return f"  {name:<28}10^{float(value):.4g}"

        head = (
            ("rho = 100 L d log m", self.rho),
            ("eps_e", self.epsilon),
            ("C' = C_eps_e(Phi, sqrt L)", self.complexity),
            ("eps_x", self.input_scale),
            ("eps_c", self.window),
            ("C = 4 C'^2/(eps_e eps_x)", self.size),
        )
        parts = [f"width m of at least 10^{float(self.width):.6g}", *(line(name, value) for name, value in head)]
        parts += ["terms of the error:", *(line(name, value) for name, value in self.terms.items())]
        parts += ["log10 m is the sum of:"]
        parts += [f"  {name:<28}{float(value):.5g}" for name, value in self.shares.items()]
        return "\n".join([*parts, f"most of it from: {self.dominant}"])


@dataclass(frozen=True)
class _Problem:
    phi: PowerSeries
    length: int
    outputs: int
    parts: int
    delta: fmpq
    epsilon: fmpq | None
    constant: RationalLike

    @cached_property
    def powers(self) -> arb:
        """The part of C' that no epsilon changes: for a series such as the sine, most of its terms."""
        return power_part(self.phi, arb(self.length).sqrt(), self.constant)

    @cached_property
    def smooth(self) -> arb:
        """log C_s(Phi, 1)."""
        return smooth_complexity(self.phi, 1, self.constant).log()

    def at(self, x: arb) -> dict[str, arb]:
        """Natural logarithms of all quantities at log m = x."""
        rho = (100 * self.length * self.outputs * x).log()
        share = (arb(self.delta) / (3 * self.parts)).log() - 11 * rho
        epsilon = share if self.epsilon is None else arb(self.epsilon).log()
        # C_eps falls in eps, so that its values at the ends of a ball of log eps enclose it
        ends = (epsilon.lower().exp(), epsilon.upper().exp())
        first, last = (accuracy_part(self.phi, arb(self.length).sqrt(), end, self.constant) for end in ends)
        C, smooth = (self.powers + first.union(last)).log(), self.smooth
        scale = -4 * rho - C
        if self.epsilon is None:
            scale = scale.min(3 * (share - smooth))
        size = arb(4).log() + 2 * C - epsilon - scale
        front = arb(self.parts).log() + 11 * rho
        return {
            "rho": rho, "epsilon": epsilon, "complexity": C, "input_scale": scale, "size": size,
            "window": epsilon + scale - arb(4).log() - C,
            "p rho^11 eps_e": front + epsilon, "p rho^11 C_s eps_x^(1/3)": front + smooth + scale / 3,
            "p rho^11 C m^(-1/20)": front + size - x / 20,
        }  # fmt: skip

    def excess(self, x: arb) -> arb:
        """The logarithm of the last term over what it may be: positive where m is too small."""
        allowed = arb(self.delta) / (3 if self.epsilon is None else 1)
        return self.at(x)["p rho^11 C m^(-1/20)"] - allowed.log()


def feasibility(
    phi: PowerSeries,
    length: int,
    accuracy: RationalLike,
    epsilon: RationalLike | None = None,
    outputs: int = 1,
    parts: int = 1,
    constant: RationalLike = DEFAULT_CONSTANT,
) -> Feasibility:
    """The least width at which the printed error of lemma 5.4 is at most delta, and which of its factors it comes from.

    Args:
        phi: the function Phi, the most complex one of the target.
        length: L >= 3.
        accuracy: delta, exact, in (0, 1).
        epsilon: eps_e, exact, in (0, 1): then only the term with m has to be at most delta. None: all three terms have
            to be at most delta/3.
        outputs: d.
        parts: p, the number of functions for each pair of positions.
        constant: the constant K of the complexities.

    Raises:
        ValueError: for numbers out of range or not exact, or if the width is below 2 or above exp(10^9).
    """
    L, d = checked_integer("The length L", length, 3), checked_integer("The number of outputs d", outputs, 1)
    p, delta = checked_integer("The number of functions p", parts, 1), as_fmpq(accuracy)
    eps = None if epsilon is None else as_fmpq(epsilon)
    if delta is None or not 0 < delta < 1 or (epsilon is not None and (eps is None or not 0 < eps < 1)):
        raise ValueError(
            f"The accuracies delta and eps_e are exact and lie strictly between 0 and 1, not {accuracy} and {epsilon}."
        )
    problem = _Problem(phi, L, d, p, delta, eps, constant)
    low, high = _crossing(problem.excess)
    x = low.union(high)
    found, ten = problem.at(x), arb(10).log()
    log10 = {name: value / ten for name, value in found.items()}
    last = "p rho^11 C m^(-1/20)"
    allowed = delta / 3 if eps is None else delta
    shares = {
        "rho^11": 220 * log10["rho"],
        "C = 4 C'^2/(eps_e eps_x)": 20 * log10["size"],
        "p": 20 * arb(p).log() / ten,
        "1/delta": -20 * arb(allowed).log() / ten,
    }
    terms = {name: log10[name] for name in ("p rho^11 eps_e", "p rho^11 C_s eps_x^(1/3)", last)}
    rest = {name: log10[name] for name in ("rho", "epsilon", "complexity", "input_scale", "window", "size")}
    return Feasibility(width=x / ten, terms=terms, shares=shares, **rest)


def _crossing(excess: Callable[[arb], arb]) -> tuple[arb, arb]:
    """Two numbers close together: the excess is certainly positive up to the first, and negative at the second."""
    start = arb(2).log().mid()
    if not excess(start) > 0:
        raise ValueError("A width of 2 would be enough, or cannot be excluded: the inequality says nothing here.")
    high = start
    while not excess(high) < 0:
        high = 2 * high
        if high > MAX_LOG:
            raise ValueError(f"The width would be above exp({MAX_LOG}).")
    low = high / 2
    for _ in range(60):
        if high - low < high * arb(2) ** -31:
            break  # what is taken from the lower end below is more than that
        middle = ((low + high) / 2).mid()
        value = excess(middle)
        if value > 0:
            low = middle
        elif value < 0:
            high = middle
        else:
            break
    low = low.mid() * (1 - arb(2) ** -30)
    low = low.mid()
    if not _positive(excess, start, low, 200):
        raise ValueError("The excess is not certainly positive for all smaller widths; give other numbers.")
    return low, high


def _positive(excess: Callable[[arb], arb], start: arb, end: arb, depth: int) -> bool:
    """Whether balls show that the excess is positive on [start, end], by halving."""
    if excess(start.union(end)) > 0:
        return True
    if not depth:
        return False
    middle = ((start + end) / 2).mid()
    return _positive(excess, start, middle, depth - 1) and _positive(excess, middle, end, depth - 1)
