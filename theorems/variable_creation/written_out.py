"""Numbers written out as they are defined, in balls: what tests of this chapter compare the library with."""

from __future__ import annotations

from flint import arb

__all__ = ["map_factor", "near", "softmax"]


def near(found: arb, expected: arb) -> bool:
    """Whether two balls of 128 bits agree to 20 digits."""
    return bool(abs(found - expected) <= abs(expected) * arb("1e-20") + arb("1e-30"))


def softmax(scores: list[arb]) -> list[arb]:
    """The definition, without a shift."""
    weights = [score.exp() for score in scores]
    return [weight / sum(weights, start=arb(0)) for weight in weights]


def map_factor(d: int, N: int) -> arb:
    """(a^(1/3) + b^(1/3))^3 + a with a = log(d + 1) and b = log(2 N + 1)."""
    a, b = arb(d + 1).log(), arb(2 * N + 1).log()
    return (a.root(3) + b.root(3)) ** 3 + a
