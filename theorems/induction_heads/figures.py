"""Figures E.1 and E.2 of the dissertation from exact formulas, the printed second step beside the corrected one.

Increments of the first and second gradient step of the minimal model at W = c 11^T, v = c 1 for two states and the flat
prior. With the moments tau_n = E[UV(U+V-4UV) lambda^n/S^4] and m_n = E[UV lambda^n/S^2], N = t - j + 1, the printed
(E.38), whose second inner fraction has the denominator lambda - 1, averages to (1/t)(t d_j + 2 sum_(n=1)^N tau_n), and
the printed (E.37) to (1/t)(sum_(n=1)^t (m_n - m_0) + kappa_1 t(t-1)/2).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.log_two import LN2, LogTwo
from lemmata.numerics.markov.minimal_gradient import flat_tensor, v_gradient, w_gradient
from lemmata.theorems.induction_heads.segments import S, U, V, moments

__all__ = ["StepFigures", "draw_first_step", "draw_second_step", "step_figures"]


@dataclass(frozen=True, eq=False)
class StepFigures:
    """Exact increments for c = eta = 1; entries are `LogTwo`.

    Attributes:
        W: the increment of W after step one, shape (2, 2).
        g: that of v, shape (t,).
        corrected: d_j, the part of the second v-gradient that comes from the diagonal of W, shape (t,).
        printed: the averages of (E.37), for j = 1, and (E.38) as they are printed, shape (t,).
    """

    W: NDArray[np.object_]
    g: NDArray[np.object_]
    corrected: NDArray[np.object_]
    printed: NDArray[np.object_]

    def first(self, c: float, eta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """W and v after the first step (Figure E.1)."""
        return c + c * eta * self.W.astype(float), c + c * eta * self.g.astype(float)

    def contributions(self, c: float, eta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """eta (rho - c') d_j (Figure E.2): by the corrected and by the printed formulas."""
        scale = eta * c * eta * float(self.W[0, 0] - self.W[0, 1])
        return scale * self.corrected.astype(float), scale * self.printed.astype(float)


def step_figures(t: int) -> StepFigures:
    """The data of both figures for one context length.

    Raises:
        ValueError: if t is not at least 1.
    """
    C = flat_tensor(t)
    d = v_gradient(C, np.eye(2, dtype=int))
    tails = list(accumulate(moments(U * V * (U + V - 4 * U * V) / S**4, t + 1)[1:], initial=LogTwo()))
    printed = np.array([d[j - 1] + 2 * tails[t - j + 1] / t for j in range(1, t + 1)], dtype=object)
    products = moments(U * V / S**2, t + 1)
    kappa = (1 - LN2) / 3
    printed[0] = (sum(products[1:], LogTwo()) - t * products[0] + kappa * fmpq(t * (t - 1), 2)) / t
    return StepFigures(w_gradient(C, np.ones(t, dtype=int)), v_gradient(C, np.ones((2, 2), dtype=int)), d, printed)


def draw_first_step(figures: StepFigures, axes: tuple[Any, Any], c: float = 0.02, eta: float = 0.03) -> None:
    """Draw Figure E.1 on two Matplotlib axes: W as a heat map, v over the positions."""
    W, v = figures.first(c, eta)
    left, right = axes
    left.imshow(W, cmap="viridis")
    for m, l in np.ndindex(W.shape):
        left.text(l, m, f"{W[m, l]:.4f}", ha="center", va="center", color="white" if W[m, l] < W.mean() else "black")
    left.set_xticks([0, 1], ["1", "2"])
    left.set_yticks([0, 1], ["1", "2"])
    left.set_title("$W^{(1)}$")
    right.plot(np.arange(1, len(v) + 1), v)
    right.set_xlabel("position $j$")
    right.set_title("$v^{(1)}_j$")


def draw_second_step(figures: StepFigures, axes: Any, c: float = 0.02, eta: float = 0.03, shown: int = 30) -> None:
    """Draw Figure E.2 on one Matplotlib axes, the first `shown` positions: corrected and printed contributions."""
    corrected, printed = figures.contributions(c, eta)
    j = np.arange(1, min(shown, len(corrected)) + 1)
    axes.plot(j, corrected[: len(j)], "o-", label="corrected")
    axes.plot(j, printed[: len(j)], "x--", label="as printed")
    axes.set_xlabel("position $j$")
    axes.set_title("contribution of the diagonal of $W$ to $v^{(2)}_j$")
    axes.legend()
