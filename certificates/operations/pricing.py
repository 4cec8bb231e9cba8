"""The best neurons against multipliers q: local maxima of |(x^T M_k x)_k| on the unit sphere, from many starts.

For x = (u, v) of length 1 the best output direction is w = (x^T M_k x)_k / norm, and for a given w the best x is a top
eigenvector of sum_k w_k M_k. Alternating the two never decreases the value and ends at a local maximum; one of many
starts finds the global one, as a rule. What comes out is a neuron that anyone can evaluate, never a bound.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["best_outputs", "climb", "distinct", "polish", "random_starts"]

Floats = NDArray[np.float64]


def climb(forms: Floats, starts: Floats, *, rounds: int = 200, tolerance: float = 1e-13) -> tuple[Floats, Floats]:
    """Local maxima of |(x^T M_k x)_k| over unit vectors x, reached from the given vectors.

    Args:
        forms: M, shape (C, N, N), symmetric.
        starts: (m, N), none of them 0.
        rounds: alternations at most, for each start.
        tolerance: the relative gain of an alternation below which it ends.

    Returns:
        The unit vectors (m, N) and their values (m,).

    Raises:
        ValueError: for shapes that do not fit, entries that are not finite, and a start that is 0.
    """
    M, x = np.ascontiguousarray(forms, np.float64), np.ascontiguousarray(starts, np.float64)
    if M.ndim != 3 or x.ndim != 2 or M.shape[1:] != (x.shape[1], x.shape[1]):
        raise ValueError(f"Pricing needs forms (C, N, N) and starts (m, N), not {M.shape} and {x.shape}.")
    if not (np.isfinite(M).all() and np.isfinite(x).all()):
        raise ValueError("The forms and the starts of pricing must be finite.")
    if not np.any(x, axis=1).all():
        raise ValueError("A start of pricing is 0, which has no direction.")
    return _climb(M, x, rounds, tolerance)


@njit(cache=True)
def _climb(M: Floats, starts: Floats, rounds: int, tolerance: float) -> tuple[Floats, Floats]:
    C, N = M.shape[0], M.shape[1]
    found, values = np.empty_like(starts), np.empty(len(starts))
    g, H, x = np.empty(C), np.empty((N, N)), np.empty(N)
    for s in range(len(starts)):
        length = np.sqrt(np.sum(starts[s] ** 2))
        for i in range(N):
            x[i] = starts[s, i] / length
        last = -1.0
        value = 0.0
        for _ in range(rounds):
            value = 0.0
            for k in range(C):
                total = 0.0
                for i in range(N):
                    row = 0.0
                    for j in range(N):
                        row += M[k, i, j] * x[j]
                    total += row * x[i]
                g[k] = total
                value += total * total
            value = np.sqrt(value)
            if value == 0.0 or value - last <= tolerance * value:
                break
            last = value
            for i in range(N):
                for j in range(N):
                    total = 0.0
                    for k in range(C):
                        total += g[k] * M[k, i, j]
                    H[i, j] = total / value
            vectors = np.linalg.eigh(H)[1]
            for i in range(N):
                x[i] = vectors[i, N - 1]
        for i in range(N):  # a slice would compile its error messages, which takes a second
            found[s, i] = x[i]
        values[s] = value
    return found, values


def best_outputs(forms: Floats, x: Floats) -> tuple[Floats, Floats]:
    """The best unit output directions w (m, C) of vectors x (m, N), and the values |(x^T M_k x)_k| (m,)."""
    g = np.einsum("mkj,mj->mk", np.einsum("mi,kij->mkj", x, forms, optimize=True), x)
    values = np.linalg.norm(g, axis=1)
    return g / np.where(values > 0, values, 1.0)[:, None], values


def polish(forms: Floats, x: Floats, *, steps: int = 4) -> tuple[Floats, Floats]:
    """Unit vectors (m, N) near local maxima after Newton steps on the sphere, and their values (m,).

    With w = (x^T M_k x)_k / value, the gradient along the sphere is 2 (M(w) x - value x), and the Hessian
    2 (M(w) - value) + 4 / value * G^T (1 - w w^T) G with the rows x^T M_k of G. A step that does not gain is not taken.
    """
    identity = np.eye(x.shape[1])
    w, values = best_outputs(forms, x)
    for _ in range(steps):
        M = np.tensordot(w, forms, 1)
        G = np.einsum("mi,kij->mkj", x, forms, optimize=True)
        gradient = np.einsum("mij,mj->mi", M, x) - values[:, None] * x
        turned = G - w[:, :, None] * np.einsum("mk,mkj->mj", w, G)[:, None, :]
        scale = np.where(values > 0, values, 1.0)[:, None, None]
        hessian = M - scale * identity + 2 / scale * np.einsum("mki,mkj->mij", turned, turned)
        project = identity - x[:, :, None] * x[:, None, :]
        # the direction of x itself is made definite; flat directions of a continuum of maxima take no step
        hessian = project @ hessian @ project - scale * (x[:, :, None] * x[:, None, :] + 1e-9 * identity)
        step = np.linalg.solve(hessian, -gradient[:, :, None])[:, :, 0]
        trial = x + step
        trial /= np.linalg.norm(trial, axis=1)[:, None]
        new_w, new_values = best_outputs(forms, trial)
        better = new_values > values
        if not better.any():
            break
        x, w, values = (
            np.where(better[:, None], trial, x),
            np.where(better[:, None], new_w, w),
            np.where(better, new_values, values),
        )
    return x, values


def random_starts(forms: Floats, count: int, rng: np.random.Generator) -> Floats:
    """``count`` unit vectors, (count, N): half of them random, half the best ones for random output directions."""
    C, N = forms.shape[:2]
    half = count // 2
    x = rng.normal(size=(count - half, N))
    w = rng.normal(size=(half, C))
    best = np.linalg.eigh(np.tensordot(w, forms, 1))[1][:, :, -1]
    starts = np.concatenate([x, best])
    return starts / np.linalg.norm(starts, axis=1)[:, None]


def distinct(vectors: Floats, apart: float = 1e-7) -> NDArray[np.int64]:
    """The indices of vectors, in their order, that no earlier kept one equals up to sign, within 1 - |cos| of apart."""
    kept: list[int] = []
    for i in range(len(vectors)):
        if not kept or np.abs(vectors[kept] @ vectors[i]).max() < 1 - apart:
            kept.append(i)
    return np.array(kept, np.int64)
