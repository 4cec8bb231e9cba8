"""Random tokens as the chapter has them."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["unit_tokens"]


def unit_tokens(rng: np.random.Generator, length: int = 5) -> np.ndarray:
    """Random unit vectors of width 4 with last coordinate 1/2, shape (length - 2, 4)."""
    z = rng.standard_normal((length - 2, 3))
    z *= math.sqrt(0.75) / np.linalg.norm(z, axis=1, keepdims=True)
    return np.concatenate([z, np.full((length - 2, 1), 0.5)], axis=1)
