"""What neurons are paid at least: ascents of a trilinear form over unit vectors, and norms with one vector fixed.

The checks of upper bounds on what neurons are paid hold these ends against the bounds; nothing here knows of them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

__all__ = ["ascents", "mixed_norm"]

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


def mixed_norm(form: Floats, lines: NDArray[np.int64], left_out: int | None = None, phases: int = 31) -> float:
    """The largest norm of the form in two places, with a unit part of one line fixed in the third.

    Args:
        form: shape (m, m, m), in an orthonormal basis.
        lines: which line or plane each vector of the basis belongs to, from 0 on, at most two to each; the three
            places take vectors of three different ones.
        left_out: one that no place takes.
        phases: of the fixed part in a plane, from 0 to pi.
    """
    largest = 0.0
    for place, line in product(range(3), range(int(lines.max()) + 1)):
        if line == left_out:
            continue
        keep = (lines != line) & (lines != left_out)
        two = np.moveaxis(form, place, 0)[lines == line] * (np.outer(keep, keep) & (lines[:, None] != lines))
        for phase in np.linspace(0, np.pi, phases):
            matrix = np.tensordot([np.cos(phase), np.sin(phase)][: len(two)], two, 1)
            largest = max(largest, float(np.linalg.norm(matrix, 2)))
    return largest
