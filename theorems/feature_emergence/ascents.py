"""Alternating ascents of a trilinear form over unit vectors, from random starts: what some neuron is paid at least.

The checks of upper bounds on what neurons are paid hold these ends against the bounds; nothing here knows of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ascents"]

Floats = NDArray[np.float64]


def ascents(form: Floats, runs: int, seed: int, steps: int = 400) -> list[tuple[float, tuple[Floats, Floats, Floats]]]:
    """The values at the ends and the unit vectors (u, v, w) there; ``form`` has shape (n, n, n), indices u, v, w."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(runs):
        v, w = rng.normal(size=(2, len(form)))
        u, value = v, 0.0
        for _ in range(steps):
            u = np.einsum("abc,b,c->a", form, v, w)
            u /= np.linalg.norm(u)
            v = np.einsum("abc,a,c->b", form, u, w)
            v /= np.linalg.norm(v)
            w = np.einsum("abc,a,b->c", form, u, v)
            value = float(np.linalg.norm(w))
            w /= value
        found.append((value, (u, v, w)))
    return found
