"""The search for the columns of a network of maximum margin: bundle steps of Newton's method in the multipliers."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import Columns, curvature, model_minimum, optimal_masses
from lemmata.certificates.operations.plane_moments import plane_neurons
from lemmata.certificates.operations.pricing import best_outputs, climb, distinct, polish, random_starts

__all__ = ["Search"]

Floats = NDArray[np.float64]


class Search:
    """The state of column generation: neurons at hand, the linear program over them, the best multipliers."""

    def __init__(self, columns: Columns, q: Floats, starts: int, rng: np.random.Generator) -> None:
        self.columns, self.starts, self.rng = columns, starts, rng
        N, C = columns.table.size, columns.table.label_count
        self.x, self.w, self.H = np.empty((0, N)), np.empty((0, C)), np.empty((0, len(q)))
        self.best_q, self.best_value = q, np.inf
        self.damping = 0.0
        self.gaps: list[float] = []
        self.p = np.empty(0)
        self.price(q, starts)
        if columns.table.label_count <= 3:
            with suppress(RuntimeError):  # a solver that fails leaves the search to itself
                x, w, q = plane_neurons(columns)
                self.add(x, w)
                self.price(q, starts)
        self.solve()

    def closed(self, tolerance: float) -> bool:
        """Whether the margin reaches the best value of the multipliers, and many more starts find nothing better."""
        if self.best_value - self.value > tolerance * self.best_value:
            return False
        found = self.price(self.best_q, self.starts)
        if found <= self.best_value * (1 + tolerance):
            return True
        self.best_value = found
        return False

    def stuck(self, rounds: int = 8, small: float = 1e-7) -> bool:
        """Whether a small gap has not become smaller by a half in so many rounds: what is left is rounding."""
        if len(self.gaps) <= rounds or self.gaps[-1] > small * self.best_value:
            return False
        return self.gaps[-1] > 0.5 * self.gaps[-1 - rounds]

    def price(self, q: Floats, starts: int) -> float:
        """The largest answer to q that is found; the neurons found become columns, and q the best if it is."""
        M = self.columns.forms(q)
        begin = [random_starts(M, starts, self.rng)]
        if len(self.x):
            begin.append(self.x[np.argsort(-(self.H @ q))[: self.starts]])
        x, values = climb(M, np.concatenate(begin), rounds=10, tolerance=1e-5)
        x = _best(x, values, 0.9, 1e-4)
        x, values = climb(M, x, rounds=30, tolerance=1e-9)
        x, values = polish(M, _best(x, values, 0.95, 1e-5))
        x = _best(x, values, 0.95, 1e-9)
        w, values = best_outputs(M, x)
        self.add(x, w)
        top = float(values[0])
        if top < self.best_value:
            self.best_q, self.best_value = q, top
        return top

    def add(self, x: Floats, w: Floats) -> None:
        """New columns, without mass, in front of the others."""
        self.x, self.w = np.concatenate([x, self.x]), np.concatenate([w, self.w])
        self.H = np.concatenate([self.columns.of(x, w), self.H])
        self.p = np.concatenate([np.zeros(len(x)), self.p])

    def solve(self) -> None:
        """The linear program over the columns: masses, value, multipliers."""
        self.p, self.value, self.q = optimal_masses(self.H, self.best_value)

    def step(self) -> None:
        """One Newton step from the best multipliers; where it gains little, one of plain column generation."""
        before = self.best_value
        predicted, q = self.newton()
        gain = before - self.price(q, self.starts // 4)
        if gain > 0.1 * (before - predicted):
            self.damping /= 10
        else:
            self.damping = max(10 * self.damping, 1e-3) if self.damping < 1 else 0.0
        self.solve()
        if gain < 0.5 * (before - self.value):
            self.price(self.q, self.starts // 4)
            self.solve()
        self.forget()
        self.gaps.append(self.best_value - self.value)

    def forget(self, keep: int = 400) -> None:
        """Drop old columns without mass that answer worst to the best multipliers."""
        if len(self.x) <= keep:
            return
        answers = self.H @ self.best_q + 10 * (self.p > 0)
        kept = np.sort(np.argsort(-answers)[:keep])
        self.x, self.w, self.H, self.p = self.x[kept], self.w[kept], self.H[kept], self.p[kept]

    def newton(self) -> tuple[float, Floats]:
        """The value that the model predicts, and its multipliers."""
        q0 = self.best_q
        M = self.columns.forms(q0)
        support = np.flatnonzero(self.p > 1e-12)
        x, values = climb(M, self.x[support], rounds=30, tolerance=1e-9)
        x, values = polish(M, x)
        w = best_outputs(M, x)[0]
        hessian = np.zeros((len(q0), len(q0)))
        for i, mass in enumerate(self.p[support]):
            if values[i] < 0.5 * self.best_value:
                continue  # far from a maximum that matters
            hessian += mass * curvature(self.columns, M, x[i], w[i], values[i])
        size = np.trace(hessian) / len(q0) if len(q0) else 1.0
        hessian += self.damping * max(size, 1e-6) * np.eye(len(q0))
        H = np.concatenate([self.H, self.columns.of(x, w)])
        return model_minimum(H, hessian, q0, self.best_value)

    def support(self) -> tuple[Floats, Floats, Floats]:
        """x, w and masses of the neurons of the solution."""
        kept = np.flatnonzero(self.p > 1e-14)
        return self.x[kept], self.w[kept], self.p[kept] / self.p[kept].sum()


def _best(x: Floats, values: Floats, share: float, apart: float) -> Floats:
    """The distinct vectors with at least this share of the largest value, the best first."""
    order = np.argsort(-values)
    order = order[values[order] >= share * values[order[0]]]
    return x[order][distinct(x[order], apart)]
