"""Losses of binary classification with labels y = 1 and -1, and their derivatives in the output f of a network.

    cross_entropy  ln(1 + e^(-y f))      square  (y - f)^2      hinge  max(0, 1 - y f)      correlation  -y f

All but the first run in exact numbers; all run in floats and balls. The correlation loss is that of the later chapters
of the document; its list of losses prints +y f, which drives f away from y (`PRINTED_CORRELATION`).

Source: variable-creation, definition-3.3a.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import arb

from lemmata.numerics.exact.numbers import sign_of

__all__ = ["LOSSES", "PRINTED_CORRELATION", "Loss"]


@dataclass(frozen=True)
class Loss:
    """A loss l(y, f), and its derivative by f.

    Attributes:
        value: l.
        slope: its derivative; of the hinge loss at its kink y f = 1, where it has none, the one from the right, 0.
    """

    value: Callable[[Any, Any], Any]
    slope: Callable[[Any, Any], Any]


def _cross_entropy(y: Any, f: Any) -> Any:
    if isinstance(f, arb):
        return (1 + (-y * f).exp()).log()
    margin = float(y * f)
    return math.log1p(math.exp(-margin)) if margin > 0 else math.log1p(math.exp(margin)) - margin


def _cross_entropy_slope(y: Any, f: Any) -> Any:
    if isinstance(f, arb):
        return -y / (1 + (y * f).exp())
    margin = float(y * f)
    return -y / (1 + math.exp(margin)) if margin < 0 else -y * math.exp(-margin) / (1 + math.exp(-margin))


def _sign(number: Any) -> int:
    return (number > 0) - (number < 0) if isinstance(number, float) else sign_of(number)


LOSSES: dict[str, Loss] = {
    "cross_entropy": Loss(_cross_entropy, _cross_entropy_slope),
    "square": Loss(lambda y, f: (y - f) * (y - f), lambda y, f: 2 * (f - y)),
    "hinge": Loss(
        lambda y, f: 1 - y * f if _sign(1 - y * f) > 0 else 0 * f,
        lambda y, f: -y + 0 * f if _sign(1 - y * f) > 0 else 0 * f,
    ),
    "correlation": Loss(lambda y, f: -y * f, lambda y, f: -y + 0 * f),
}
"""The losses, by name."""

PRINTED_CORRELATION = Loss(lambda y, f: y * f, lambda y, f: y + 0 * f)
"""What the list of losses prints: descent on it lowers the agreement of outputs and labels."""
