"""How much x -> relu(W x) can stretch a vector.

sup |relu(W x)|/|x| = sup of |W^T y| over unit vectors y >= 0, because |relu(z)| = sup <y, z> over these y. Any vector
is a certificate from below: `stretch` in balls, for a matrix of floats as well, which are exact binary numbers.

Source: rnn-sgd, footnote-2.
"""

from __future__ import annotations

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer

__all__ = ["first_column_vector", "stretch", "stretched_vector"]

Floats = NDArray[np.float64]


def stretch(W: Floats, x: Floats) -> arb:
    """|relu(W x)|/|x|, enclosed, for W of shape (k, m) and x of shape (m,).

    Raises:
        ValueError: for shapes that do not fit, or x = 0.
    """
    if W.ndim != 2 or x.shape != (W.shape[1],) or not x.any():
        raise ValueError(f"A matrix (k, m) stretches a vector (m,) other than 0, not {W.shape} one of shape {x.shape}.")
    balls = as_balls(x)
    images = [sum((w * v for w, v in zip(as_balls(row), balls, strict=True)), arb(0)) for row in W]
    above = sum((value.max(arb(0)) ** 2 for value in images), arb(0))
    return (above / sum((v * v for v in balls), arb(0))).sqrt()


def first_column_vector(W: Floats) -> Floats:
    """x = W^T relu(W e_1), whose stretch tends to at least sqrt 3 for entries of variance 2/m."""
    return W.T @ np.maximum(W[:, 0], 0)


def stretched_vector(W: Floats, steps: int) -> Floats:
    """A unit vector after some iterations of x <- W^T relu(W x), from `first_column_vector`: the stretch never falls.

    Raises:
        ValueError: for a negative number of steps.
    """
    x = first_column_vector(W)
    for _ in range(checked_integer("The number of steps", steps, 0)):
        x = W.T @ np.maximum(W @ x, 0)
        x = x / np.linalg.norm(x)
    return x / np.linalg.norm(x)
