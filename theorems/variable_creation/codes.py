"""Codes of vectors and matrices in float64, for the checks of capacity bounds: Maurey's averages and the perceptron."""

from __future__ import annotations

import numpy as np


def averaged(norms: np.ndarray, total: float, picks: int) -> np.ndarray:
    """Maurey's average of coordinate vectors for the row norms, greedily."""
    chosen = np.zeros_like(norms)
    for k in range(1, picks + 1):
        rest = chosen - k * norms
        gains = 2 * total * rest + total**2
        if gains.min() < 0:
            chosen[gains.argmin()] += total
    return chosen / picks


def covered_row(row: np.ndarray, norm: float, points: np.ndarray, radius: float, eps: float) -> tuple[np.ndarray, int]:
    """The projected perceptron for one row, and how many steps it takes."""
    current, steps = np.zeros_like(row), 0
    while True:
        errors = points @ (current - row)
        worst = int(abs(errors).argmax())
        if abs(errors[worst]) <= eps:
            return current, steps
        current = current - eps / radius**2 * np.sign(errors[worst]) * points[worst]
        current *= min(1.0, norm / max(np.linalg.norm(current), 1e-300))
        steps += 1


def covered_matrix(
    W: np.ndarray, points: np.ndarray, radius: float, first: float, second: float, picks: int
) -> tuple[np.ndarray, int]:
    """The matrix that the two codes of W stand for, and the steps of all its rows.

    Args:
        W: shape (rows, inputs).
        points: shape (N, inputs), of norm at most `radius`.
        radius: R.
        first, second: the radii e_1 and e_2 of both stages.
        picks: how many vectors the average of row norms is of.
    """
    norms = np.linalg.norm(W, axis=1)
    means = averaged(norms, float(norms.sum()), picks)
    assert np.linalg.norm(means - norms) <= first * (1 + 1e-9)
    assert means.sum() <= norms.sum() * (1 + 1e-9)
    rebuilt, steps = np.zeros_like(W), 0
    for j, (row, norm) in enumerate(zip(W, means, strict=True)):
        if norm > 0:
            part = second * np.sqrt(norm / means.sum())
            rebuilt[j], taken = covered_row(row / norms[j] * norm, norm, points, radius, part)
            steps += taken
    return rebuilt, steps
