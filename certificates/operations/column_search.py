"""The search for the columns of a network of maximum margin: bundle steps of Newton's method in the multipliers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.column_program import model_minimum, optimal_masses
from lemmata.certificates.operations.pricing import distinct

__all__ = ["Answers", "Prices", "Search"]

Floats = NDArray[np.float64]


class Prices(Protocol):
    """The value of a neuron against fixed multipliers, x and w of length 1: w is the best for x."""

    def starts(self, count: int, rng: np.random.Generator) -> Floats:
        """So many x to begin with, (count, N)."""
        ...

    def climb(self, x: Floats, *, rounds: int, tolerance: float) -> tuple[Floats, Floats]:
        """Where ascents from x (m, N) come in so many rounds, or until they gain less, and the values (m,)."""
        ...

    def polish(self, x: Floats) -> tuple[Floats, Floats]:
        """The same after steps of Newton's method."""
        ...

    def outputs(self, x: Floats) -> tuple[Floats, Floats]:
        """The best w (m, C) of x, and the values (m,)."""
        ...

    def curvature(self, x: Floats, w: Floats, value: float) -> Floats:
        """The Hessian, in the multipliers, of the value of the local maximum (x, w)."""
        ...


class Answers(Protocol):
    """What the columns of neurons are."""

    def of(self, x: Floats, w: Floats) -> Floats:
        """The columns (m, multipliers) of neurons with unit x (m, N) and unit w (m, C)."""
        ...

    def prices(self, masses: Floats) -> Prices:
        """Those of multipliers."""
        ...


class Search:
    """The state of column generation: neurons at hand, the linear program over them, the best multipliers."""

    def __init__(
        self, columns: Answers, sizes: tuple[int, int], q: Floats, starts: int, rng: np.random.Generator
    ) -> None:
        self.columns, self.starts, self.rng = columns, starts, rng
        self.x, self.w, self.H = np.empty((0, sizes[0])), np.empty((0, sizes[1])), np.empty((0, len(q)))
        self.best_q, self.best_value = q, np.inf
        self.damping = 0.0
        self.gaps: list[float] = []
        self.p = np.empty(0)
        self.price(q, starts)
        self.solve()

    def begin(self, x: Floats, w: Floats, q: Floats) -> None:
        """Neurons and multipliers of another origin join."""
        self.add(x, w)
        self.price(q, self.starts)
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
        prices = self.columns.prices(q)
        begin = [prices.starts(starts, self.rng)]
        if len(self.x):
            begin.append(self.x[np.argsort(-(self.H @ q))[: self.starts]])
        x, values = prices.climb(np.concatenate(begin), rounds=10, tolerance=1e-5)
        x = _best(x, values, 0.9, 1e-4)
        x, values = prices.climb(x, rounds=30, tolerance=1e-9)
        x, values = prices.polish(_best(x, values, 0.95, 1e-5))
        x = _best(x, values, 0.95, 1e-9)
        w, values = prices.outputs(x)
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
        prices = self.columns.prices(q0)
        support = np.flatnonzero(self.p > 1e-12)
        x, values = prices.climb(self.x[support], rounds=30, tolerance=1e-9)
        x, values = prices.polish(x)
        w = prices.outputs(x)[0]
        hessian = np.zeros((len(q0), len(q0)))
        for i, mass in enumerate(self.p[support]):
            if values[i] < 0.5 * self.best_value:
                continue  # far from a maximum that matters
            hessian += mass * prices.curvature(x[i], w[i], values[i])
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
