"""Recurrent networks of two directions with any transitions: the class that the lower bounds are about.

    h_fw(i + 1) = proj(f_fw(h_fw(i), x_i, t_i, i)),    h_bw(i - 1) = proj(f_bw(h_bw(i), x_i, t_i, i)),
    yhat_i = f_y(U_fw h_fw(i), U_bw h_bw(i), x_i, t_i, i),

with |proj(.)| <= r_h and both first states 0. So the state at a position knows the strict past, or the strict future; a
network whose states have read their own token, such as a GRU or an LSTM, puts the last step into f_y.

Source: qstr, definition-rnn-lower (proofs/recurrent-class.md of that chapter).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.systems import Array

__all__ = ["GeneralRecurrence"]

Transition = Callable[[Array, Array, Array, int], Array]
ReadOut = Callable[[Array, Array, Array, Array, int], Any]


@dataclass(frozen=True, eq=False)
class GeneralRecurrence:
    """A network of the class.

    Attributes:
        forward: f_fw, from (h, x_i, t_i, i) to R^(d_h).
        backward: f_bw, likewise.
        project: proj, from R^(d_h) to its ball of radius r_h.
        radius: r_h > 0.
        forward_map: U_fw, shape (d_h, d_h); acts on column vectors.
        backward_map: U_bw, likewise.
        readout: f_y, from (u_fw, u_bw, x_i, t_i, i) to a number.

    Raises:
        ValueError: for maps that are not square or of unequal width, or a radius that is not positive.
    """

    forward: Transition
    backward: Transition
    project: Callable[[Array], Array]
    radius: Any
    forward_map: Array
    backward_map: Array
    readout: ReadOut

    def __post_init__(self) -> None:
        shapes = [np.shape(part) for part in (self.forward_map, self.backward_map)]
        if len(shapes[0]) != 2 or shapes[0][0] != shapes[0][1] or shapes[0] != shapes[1] or not shapes[0][0]:
            raise ValueError(f"U_fw and U_bw are square matrices of one width, not of the shapes {shapes}.")
        if not 0 < self.radius < float("inf"):
            raise ValueError(f"The states lie in a ball of positive radius, not {self.radius!r}.")

    @property
    def width(self) -> int:
        """d_h."""
        return len(self.forward_map)

    def states(self, tokens: ArrayLike, indices: ArrayLike) -> tuple[Array, Array]:
        """The forward and the backward states at all positions, shape (N, d_h) each.

        Args:
            tokens: x, shape (N, d).
            indices: t, shape (N, q).

        Raises:
            ValueError: for shapes that do not fit, or if proj leaves the ball.
        """
        x, t = np.asarray(tokens), np.asarray(indices)
        if x.ndim != 2 or t.ndim != 2 or len(x) != len(t) or not len(x):
            raise ValueError(f"A prompt has tokens (N, d) and indices (N, q), not the shapes {x.shape} and {t.shape}.")
        there = self._run(self.forward, x, t, range(len(x)))
        return there, self._run(self.backward, x, t, range(len(x) - 1, -1, -1))[::-1]

    def __call__(self, tokens: ArrayLike, indices: ArrayLike) -> Array:
        """The predictions at all positions, shape (N,).

        Raises:
            ValueError: as `states`.
        """
        x, t = np.asarray(tokens), np.asarray(indices)
        there, back = self.states(x, t)
        outputs = [
            self.readout(self.forward_map @ there[i], self.backward_map @ back[i], x[i], t[i], i) for i in range(len(x))
        ]
        return np.array(outputs)

    def _run(self, step: Transition, x: Array, t: Array, order: Iterable[int]) -> Array:
        """The states before the positions, in the order of the run."""
        states = [0 * np.asarray(self.forward_map)[0]]
        for i in order:
            state = self.project(step(states[-1], x[i], t[i], i))
            square = sum(entry * entry for entry in as_balls(state).tolist())
            if square > self.radius * self.radius * (1 + 1e-9):
                raise ValueError(f"The projection left the ball of radius {self.radius} after position {i}.")
            states.append(state)
        return np.stack(states[:-1])
