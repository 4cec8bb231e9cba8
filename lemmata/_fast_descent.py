"""Gradient descent in context by compiled loops; apart from the blocks, because Numba is slow to import."""

from lemmata.constructions.descent.fast import fast_trajectory

__all__ = ["fast_trajectory"]
