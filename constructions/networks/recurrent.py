"""Recurrent networks: a cell that carries a state from token to token, and a layer of one or two of them.

Rows are tokens and states (row-vector convention). A cell with the transition f on the pair (state, token) maps

    h  ->  P(f(h, z)),   or with a residual   h  ->  P(h + f(h, z)),

where P, the identity if there is none, keeps the state bounded. A layer runs one cell from the first token to the last,
another one from the last to the first, or both. At token i the state of a direction is taken either "after" the token
has been read, or "before", so that it knows only the strict past (from the right: the strict future). What is read out
are the states, forward before backward, and behind them the token itself if it is kept.

- The Elman network h_l = relu(W h_{l-1} + A x_l + b), y_l = B h_l is `elman_cell(W^T, A^T, b)` in a forward layer with
  the read-out `Affine(B^T)`.
- The network with deep transitions h_{i+1} = P_r(h_i + f(h_i, z_i)) and the read-out f_y(h_i^fw, h_i^bw, z_i) has
  residual cells with a `BallProjection`, the states "before", and keeps the token.

One forward pass serves float64, exact numbers and balls, as far as the parts of the cells do.

Source: rnn-sgd, definition-3.3; qstr, definition-rnn-upper and definition-rnn-lower.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import ActivationName, FeedForward
from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.numerics.exact.systems import Array, conversion, number_system

Moment = Literal["after", "before"]
TokenMap = Affine | FeedForward | BallProjection | Clipping
"""The layers that map every token by itself."""


@dataclass(frozen=True, eq=False)
class RecurrentCell(Layer):
    """One step of a recurrent network, with states of width m and tokens of width d.

    Attributes:
        transition: f, from the pair (state, token) of width m + d to the width m; any token-wise layer.
        residual: whether the state is added to the output of the transition.
        bound: P, applied last, of width m; a `BallProjection`, a `Clipping`, or None.
        initial: h_0, shape (m,), a weight; if it is not given, h_0 = 0 and no weight.

    Raises:
        ValueError: for widths that do not fit.
    """

    transition: TokenMap
    residual: bool = False
    bound: TokenMap | None = None
    initial: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial", np.asarray(self.initial))
        m = self.width
        if self.tokens < 1:
            raise ValueError(
                f"A transition to states of width {m} reads {self.transition.inputs} coordinates: no token."
            )
        if self.bound is not None and not self.bound.inputs == self.bound.outputs == m:
            raise ValueError(f"The map that bounds states of width {m} has the width {self.bound.inputs}.")
        if self.initial.shape not in ((0,), (m,)):
            raise ValueError(f"The initial state of width {m} has the shape {self.initial.shape}.")

    @property
    def width(self) -> int:
        """The width m of the state."""
        return self.transition.outputs

    @property
    def tokens(self) -> int:
        """The width d of the tokens."""
        return self.transition.inputs - self.width

    def __call__(self, h: Array, z: Array) -> Array:
        """The next state, shape (..., m), for the state h of shape (..., m) and the token z of shape (..., d)."""
        result = self.transition(np.concatenate([h, z], axis=-1))
        if self.residual:
            result = h + result
        return result if self.bound is None else self.bound(result)

    def states(self, z: Array) -> Array:
        """The states h_0, ..., h_T before the first token and after each, shape (..., T + 1, m), for z (..., T, d)."""
        start = self.initial if self.initial.size else np.zeros(self.width, dtype=np.int64)
        start = conversion(number_system([z, *self.arrays()]))(start)
        result = [np.broadcast_to(start, (*z.shape[:-2], self.width))]
        for place in range(z.shape[-2]):
            result.append(self(result[-1], z[..., place, :]))
        return np.stack(result, axis=-2)

    def read_mask(self) -> Array:
        """The coordinates of the token that the transition reads, shape (d,)."""
        return self.transition.read_mask()[self.width :]

    def write_mask(self) -> Array:
        """The coordinates of the state that the transition or the initial state writes, shape (m,)."""
        written = self.transition.write_mask()
        return written | (self.initial != 0) if self.initial.size else written


@dataclass(frozen=True, eq=False)
class RecurrentLayer(Layer):
    """Cells that run over a sequence; see the docstring of this module.

    Attributes:
        forward: the cell that runs from the first token to the last, or None.
        backward: the cell that runs from the last token to the first, or None.
        moment: whether the states are those "after" or "before" the token is read.
        keep_token: whether the token stands behind the states in what is read out.
        readout: a token-wise layer on the states (and the token), or None, so that they are the output.

    Raises:
        ValueError: without a cell, for another moment, or for widths that do not fit.
    """

    kind: ClassVar[str] = "recurrent"

    forward: RecurrentCell | None = None
    backward: RecurrentCell | None = None
    moment: Moment = "after"
    keep_token: bool = False
    readout: TokenMap | None = None

    def __post_init__(self) -> None:
        if not self._cells() or self.moment not in get_args(Moment):
            raise ValueError(
                "A recurrent layer needs a forward cell, a backward cell or both, and states after or before a token, "
                f"not {len(self._cells())} cells and {self.moment!r}."
            )
        widths = {cell.tokens for cell in self._cells()}
        if len(widths) > 1:
            raise ValueError(f"The cells of a layer read one stream, but read tokens of widths {sorted(widths)}.")
        if self.readout is not None and self.readout.inputs != self._collected():
            raise ValueError(
                f"The read-out reads {self.readout.inputs} coordinates, but there are {self._collected()}."
            )

    @property
    def inputs(self) -> int:
        """The width d of the tokens."""
        return self._cells()[0].tokens

    @property
    def outputs(self) -> int:
        """The width of the output."""
        return self._collected() if self.readout is None else self.readout.outputs

    def states(self, z: Array) -> tuple[Array, ...]:
        """The states at the moment of each token, (..., T, m), forward before backward, for z of shape (..., T, d)."""
        chosen = slice(1, None) if self.moment == "after" else slice(None, -1)
        result = []
        if self.forward is not None:
            result.append(self.forward.states(z)[..., chosen, :])
        if self.backward is not None:
            result.append(self.backward.states(z[..., ::-1, :])[..., chosen, :][..., ::-1, :])
        return tuple(result)

    def __call__(self, z: Array) -> Array:
        """The output at every token, shape (..., T, e), for z of shape (..., T, d).

        Raises:
            ValueError: if z has another width, or no token.
        """
        if z.ndim < 2 or z.shape[-1] != self.inputs or not z.shape[-2]:
            raise ValueError(f"A recurrent layer takes tokens of shape (..., T, {self.inputs}), T >= 1, not {z.shape}.")
        parts = [*self.states(z), z] if self.keep_token else self.states(z)
        collected = np.concatenate(parts, axis=-1)
        return collected if self.readout is None else self.readout(collected)

    def read_mask(self) -> Array:
        """The coordinates of the token that some cell reads, or the read-out."""
        result = np.any([cell.read_mask() for cell in self._cells()], axis=0)
        if self.keep_token:
            result |= True if self.readout is None else self.readout.read_mask()[-self.inputs :]
        return result

    def write_mask(self) -> Array:
        """What the read-out writes; without one the states, direction by direction, and the token if it is kept."""
        if self.readout is not None:
            return self.readout.write_mask()
        kept = [np.ones(self.inputs, dtype=bool)] if self.keep_token else []
        return np.concatenate([*(cell.write_mask() for cell in self._cells()), *kept])

    @property
    def unit_count(self) -> int:
        """The number of coordinates of the states, and of hidden units of transitions and read-out."""
        parts = [*(cell.transition for cell in self._cells()), self.readout]
        return sum(cell.width for cell in self._cells()) + sum(getattr(part, "unit_count", 0) for part in parts)

    def drop_mask(self) -> Array:
        """The outputs that nothing writes: no residual carries them."""
        return ~self.write_mask()

    def _cells(self) -> tuple[RecurrentCell, ...]:
        return tuple(cell for cell in (self.forward, self.backward) if cell is not None)

    def _collected(self) -> int:
        """The width of what is read out."""
        return sum(cell.width for cell in self._cells()) + (self.inputs if self.keep_token else 0)


def elman_cell(
    state: ArrayLike, token: ArrayLike, bias: ArrayLike | None = None, activation: ActivationName = "relu"
) -> RecurrentCell:
    """The cell h -> relu(h W + z A + b) with the initial state 0.

    Args:
        state: W, shape (m, m); acts on row vectors, the transpose of the W of h -> relu(W h + A x + b).
        token: A, shape (d, m).
        bias: b, shape (m,), or None.
        activation: in place of the ReLU.

    Source: rnn-sgd, definition-3.3.
    """
    weight = np.concatenate([np.asarray(state), np.asarray(token)])
    affine = Affine(weight) if bias is None else Affine(weight, np.asarray(bias))
    return RecurrentCell(FeedForward((affine,), activations=(activation,)))
