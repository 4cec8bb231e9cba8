"""What the layer-by-layer certificates of margins share: a rounding whose weights move, and the largest radius.

The estimate of the rounding is section 6 of TURING_MARGIN.md.

Source: turing, theorem-D.6, proposition-3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from lemmata.numerics.exact.balls import as_balls

__all__ = ["DirectBound", "MovedRounding", "Squares", "largest_radius", "moved_rounding", "token_radius"]


@dataclass(frozen=True)
class DirectBound:
    """A certified lower bound of an all-layer margin.

    Attributes:
        value: rho, the bound.
        sigma_h: how far hidden bits may be off after a rounding whose weights have moved, in 2-norm.
        binding: the condition that decides the bound.
        loads: all conditions, by name: the largest deviation in units of what is allowed, all below 1.
    """

    value: Fraction
    sigma_h: Fraction
    binding: str
    loads: Mapping[str, arb] = field(repr=False)


@dataclass(frozen=True)
class Squares:
    """The squared norm of a functional, and the largest one of its part on the ones of a token."""

    on_ones: int
    whole: int


@dataclass(frozen=True)
class MovedRounding:
    """How far a rounding with moved weights is off: sqrt(on_ones A^2 + whole B^2) t along a functional.

    Attributes:
        on_ones: A^2, for the first of its two ReLU layers.
        whole: B^2, for the second one.
    """

    on_ones: arb
    whole: arb

    def along(self, squares: Squares) -> arb:
        """The coefficient along a functional."""
        return (self.on_ones * squares.on_ones + self.whole * squares.whole).sqrt()

    @property
    def norm(self) -> arb:
        """The coefficient of the 2-norm."""
        return (self.on_ones + self.whole).sqrt()


def moved_rounding(low: Fraction, high: Fraction, size: arb, moved: arb, rho: arb) -> MovedRounding:
    """The coefficients of s relu(z - low) - s relu(z - high), s = 1/(high - low), near a vector of bits.

    Args:
        low, high: the thresholds.
        size: the largest norm of the bits.
        moved: how far z may be from them, in 2-norm.
        rho: how far the weights may be off.
    """
    slope, ends = 1 / ball(high - low), (ball(1 - low) ** 2 + ball(1 - high) ** 2).sqrt()
    extended = ((size + moved) ** 2 + 1).sqrt()
    hidden = ends * size + arb(2).sqrt() * moved + extended * rho
    return MovedRounding(2 * slope**2 * extended**2, hidden**2 + 1)


def largest_radius(
    conditions: Callable[[Fraction], tuple[Fraction, dict[str, arb]]],
) -> DirectBound:
    """The largest rho, to one part in 500, at which all conditions are below 1.

    Args:
        conditions: of rho, the radius sigma_h that is assumed and all conditions; those whose names end in ": tokens"
            only say that sigma_h is large enough.

    Raises:
        ValueError: if no rho down to 2^-40 meets them.
    """
    low, high = Fraction(0), Fraction(1)
    found: tuple[Fraction, dict[str, arb]] | None = None
    while found is None or high - low > low / 500:
        middle = (low + high) / 2 if low else high / 2
        if middle < Fraction(1, 2**40):
            raise ValueError("No radius down to 2^-40 meets the conditions: there is no bound for this network.")
        met = conditions(middle)
        if all(load < 1 for load in met[1].values()):
            low, found = middle, met
        else:
            high = middle
    sigma_h, loads = found
    decided = [name for name in loads if not name.endswith(": tokens")]
    binding = max(decided, key=lambda name: float(loads[name].mid()))
    return DirectBound(low, sigma_h, binding, loads)


def token_radius(norm: Callable[[arb], arb], rho: Fraction) -> Fraction:
    """A radius sigma_h with norm(sigma_h) rho < sigma_h, if the iteration finds one; the conditions decide.

    Args:
        norm: the largest coefficient of a rounding in 2-norm, of sigma_h.
        rho: how far the weights may be off.
    """
    sigma = 0.0
    for _ in range(12):
        sigma = min(float(norm(ball(Fraction(sigma))).mid()) * float(rho) * 1.0001, 1e6)
    return Fraction(sigma)


def ball(x: Fraction) -> arb:
    """A rational number as a ball."""
    return as_balls([x])[0]
