"""Losses G(y, y*) of the class that the document asks for: convex and 1-Lipschitz in y, with |G(0, y*)| <= 1.

The Euclidean distance |y - y*| to a label of norm at most 1 is one. The cross-entropy log sum exp(y) - y_c is not: its
slope reaches sqrt 2, and it is log d at 0; divided by max(sqrt 2, log d) it is. The squared distance is Lipschitz on
bounded sets only; `clipped_square` continues half of it linearly with slope 1 from the distance 1 on.

Source: rnn-sgd, definition-loss.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["clipped_square", "cross_entropy", "distance", "scaled_cross_entropy"]

Floats = NDArray[np.float64]


def distance(y: Floats, label: Floats) -> tuple[float, Floats]:
    """|y - y*|_2 and its gradient in y (0 at y = y*), for vectors of one shape (d,)."""
    away = y - label
    value = float(np.linalg.norm(away))
    return value, away / value if value else 0 * away


def clipped_square(y: Floats, label: Floats) -> tuple[float, Floats]:
    """|y - y*|^2/2 up to the distance 1, |y - y*| - 1/2 beyond, and its gradient."""
    value, slope = distance(y, label)
    return (value * value / 2, value * slope) if value <= 1 else (value - 0.5, slope)


def cross_entropy(y: Floats, label: int) -> tuple[float, Floats]:
    """log sum_i exp(y_i) - y_label, and its gradient softmax(y) - e_label.

    Raises:
        ValueError: for a label that is no coordinate of y.
    """
    if not 0 <= label < len(y):
        raise ValueError(f"The label must be one of the {len(y)} coordinates 0, ..., {len(y) - 1}, not {label}.")
    top = float(y.max())
    weights = np.exp(y - top)
    gradient = weights / weights.sum()
    gradient[label] -= 1
    return top + math.log(float(weights.sum())) - float(y[label]), gradient


def scaled_cross_entropy(y: Floats, label: int) -> tuple[float, Floats]:
    """The cross-entropy divided by max(sqrt 2, log d), and its gradient: a loss of the class."""
    value, gradient = cross_entropy(y, label)
    scale = max(math.sqrt(2), math.log(len(y)))
    return value / scale, gradient / scale
