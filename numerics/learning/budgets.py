"""How a budget of errors is divided among parts at the least cost, and bounds C/eps^2 that come from such a division.

Parts i = 1, ..., n have costs alpha_i/x_i^2 for radii x_i > 0, and the budget is sum_i beta_i x_i = C. By Hoelder

    gamma^3 <= (sum_i alpha_i/x_i^2) (sum_i beta_i x_i)^2,      gamma = sum_i (alpha_i beta_i^2)^(1/3),

with equality for x_i = (C/gamma) (alpha_i/beta_i)^(1/3): the least cost is gamma^3/C^2. Part i then has the same share
(alpha_i beta_i^2)^(1/3)/gamma of the cost and of the budget.

A class of functions with weights in n parts, each with covers of radius x_i and log-size <= alpha_i/x_i^2, and an
output error of at most sum_i beta_i x_i, has covers of every radius eps with log-size <= gamma^3/eps^2: a `Capacity`.
Parts without cost or without influence (alpha_i = 0 or beta_i = 0) take no share.

Source: variable-creation, lemma-A.8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.numerics.exact.balls import checked_bound

__all__ = ["BudgetSplit", "Capacity", "CoverPart", "cube_root", "exact_bound", "optimal_split"]


def cube_root(x: arb) -> arb:
    """The cube root of a ball >= 0, exactly 0 for 0."""
    return arb(0) if x.is_zero() else x.root(3)


@dataclass(frozen=True)
class BudgetSplit:
    """The cheapest division of a budget.

    Attributes:
        cost: gamma^3/C^2, the least sum of alpha_i/x_i^2, a ball.
        radii: the x_i that attain it, balls.
        shares: of each part in the cost, and in the budget; balls of sum 1.
    """

    cost: arb
    radii: tuple[arb, ...]
    shares: tuple[arb, ...]


def optimal_split(costs: Sequence[Any], rates: Sequence[Any], budget: Any = 1) -> BudgetSplit:
    """The least sum of alpha_i/x_i^2 over x_i > 0 with sum beta_i x_i = C, and where it is attained.

    Args:
        costs: alpha_i > 0, exact numbers, floats or balls.
        rates: beta_i > 0, as many.
        budget: C > 0.

    Raises:
        ValueError: unless there is at least one part, as many costs as rates, and all numbers are positive and finite.

    Source: variable-creation, lemma-A.8, for positive numbers.
    """
    if not len(costs) or len(costs) != len(rates):
        raise ValueError(f"There must be as many costs as rates, at least one, not {len(costs)} and {len(rates)}.")
    alphas = [checked_bound("A cost", cost, positive=True) for cost in costs]
    betas = [checked_bound("A rate", rate, positive=True) for rate in rates]
    total = checked_bound("The budget", budget, positive=True)
    bases = [cube_root(a * b**2) for a, b in zip(alphas, betas, strict=True)]
    gamma = sum(bases, start=arb(0))
    radii = tuple(total / gamma * cube_root(a / b) for a, b in zip(alphas, betas, strict=True))
    return BudgetSplit(gamma**3 / total**2, radii, tuple(base / gamma for base in bases))


@dataclass(frozen=True)
class CoverPart:
    """One part of the weights: covers of radius x have log-size <= cost/x^2, and move the output by at most rate x.

    Attributes:
        cost: alpha >= 0, a ball.
        rate: beta >= 0, a ball.
    """

    cost: arb
    rate: arb

    @property
    def base(self) -> arb:
        """(alpha beta^2)^(1/3), what the part adds to gamma."""
        return cube_root(self.cost * self.rate**2)


@dataclass(frozen=True)
class Capacity:
    """A bound log N <= C/eps^2 on the covering numbers of a class, for every eps > 0, as parts that share the error.

    Attributes:
        parts: each part of the weights by its name.
    """

    parts: Mapping[str, CoverPart]

    @property
    def gamma(self) -> arb:
        """The sum of the bases of the parts."""
        return sum((part.base for part in self.parts.values()), start=arb(0))

    @property
    def constant(self) -> arb:
        """C = gamma^3, a ball."""
        return self.gamma**3

    def bound(self, eps: object) -> arb:
        """C/eps^2, a ball.

        Raises:
            ValueError: unless eps is positive and finite.
        """
        return self.constant / checked_bound("The radius eps", eps, positive=True) ** 2

    def shares(self) -> dict[str, arb]:
        """The share of each part in gamma, hence in the bound and in the error; all 0 if the bound is 0."""
        gamma = self.gamma
        return {name: arb(0) if gamma.is_zero() else part.base / gamma for name, part in self.parts.items()}

    def dominant(self) -> str:
        """The part with the largest share, the first of those whose midpoints tie."""
        return max(self.parts, key=lambda name: float(self.parts[name].base.mid()))

    def radii(self, eps: object) -> dict[str, arb | None]:
        """The radius of the cover of each part, for the error eps in all; None for a part that takes no share.

        Raises:
            ValueError: unless eps is positive and finite.
        """
        radius, gamma = checked_bound("The radius eps", eps, positive=True), self.gamma
        return {
            name: None
            if part.cost.is_zero() or part.rate.is_zero()
            else radius / gamma * cube_root(part.cost / part.rate)
            for name, part in self.parts.items()
        }


def exact_bound(name: str, value: object) -> fmpq:
    """A number >= 0 as an exact rational: exact numbers, strings such as "1/3", finite floats (their binary value).

    Raises:
        ValueError: for anything else, balls included.
    """
    shown = value.item() if isinstance(value, np.generic) else value
    if isinstance(shown, float) and math.isfinite(shown):
        numerator, denominator = shown.as_integer_ratio()
        result = fmpq(numerator, denominator)
    else:
        try:
            if isinstance(shown, bool):
                raise TypeError
            fraction = Fraction(int(shown.p), int(shown.q)) if isinstance(shown, fmpq) else Fraction(shown)  # type: ignore[arg-type]
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            raise ValueError(f"{name} must be a finite rational number or float >= 0, not {shown!r}.") from None
        result = fmpq(fraction.numerator, fraction.denominator)
    if result < 0:
        raise ValueError(f"{name} must be a finite rational number or float >= 0, not {shown!r}.")
    return result
