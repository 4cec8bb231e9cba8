"""The Elman network of the document with its three matrices, what it computes on the way, and its linearisation in W.

    h_0 = 0,   g_l = W h_(l-1) + A x_l,   h_l = D_l g_l,   y_l = B h_l,      (D_l)_kk = 1{(g_l)_k >= 0},

so that relu has the slope 1 at 0. Moving W to W + W' changes y_j, to first order, by

    f_j(W') = sum_(i=2..j) Back_(i -> j) D_i W' h_(i-1),    Back_(l -> a) = B D_a W ... D_(l+1) W,  Back_(l -> l) = B,

which `linear_change` computes by a forward recursion, delta_l = D_l (W delta_(l-1) + W' h_(l-1)), f_j = B delta_j, in
time O(L m^2); `weighted_gradient` is its adjoint, the backward recursion. The forward pass is that of the shared
recurrent cell (`ElmanNetwork.layer`). Exact numbers, balls and floats alike; of a ball it must be certain on which side
of 0 it lies.

Source: rnn-sgd, definition-3.3, definition-4.1 and definition-pseudo-network (equation 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.recurrent import RecurrentLayer, elman_cell
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.systems import Array, in_one_system, matrix_product, number_system

__all__ = [
    "ElmanNetwork",
    "Trace",
    "UndecidedError",
    "back",
    "constant_patterns",
    "linear_change",
    "random_elman",
    "trace",
    "weighted_gradient",
]

MAX_WIDTH = 20_000  # a state matrix of 3.2 GB


@dataclass(frozen=True, eq=False)
class ElmanNetwork:
    """The matrices W (m, m), A (m, d_x + 1) and B (d, m), in one number system.

    Raises:
        ValueError: for shapes that do not fit, no row or column, or mixed number systems.
    """

    state: Array
    token: Array
    readout: Array

    def __post_init__(self) -> None:
        given = {"state": np.asarray(self.state), "token": np.asarray(self.token), "readout": np.asarray(self.readout)}
        shapes = [part.shape for part in given.values()]
        m = shapes[0][0] if given["state"].ndim == 2 else 0
        fits = all(len(shape) == 2 and 0 not in shape for shape in shapes) and shapes[0] == (m, m)
        if not fits or shapes[1][0] != m or shapes[2][1] != m:
            raise ValueError(
                "An Elman network has W of shape (m, m), A of shape (m, d_x + 1) and B of shape (d, m), not "
                f"{shapes[0]}, {shapes[1]} and {shapes[2]}."
            )
        arrays, _ = in_one_system(given)
        for name, part in arrays.items():
            object.__setattr__(self, name, part)

    @property
    def width(self) -> int:
        """m."""
        return self.state.shape[0]

    def layer(self) -> RecurrentLayer:
        """The same network in the shared vocabulary, from sequences of shape (..., L, d_x + 1) to (..., L, d)."""
        return RecurrentLayer(elman_cell(self.state.T, self.token.T), readout=Affine(self.readout.T))

    def moved(self, change: Array) -> ElmanNetwork:
        """The network with W + W'."""
        return replace(self, state=self.state + change)


@dataclass(frozen=True, eq=False)
class Trace:
    """What a network computes on one sequence.

    Attributes:
        states: h_0, ..., h_L, shape (L + 1, m).
        active: the diagonals of D_1, ..., D_L as booleans, shape (L, m).
        outputs: y_1, ..., y_L, shape (L, d).
    """

    states: Array
    active: NDArray[np.bool_]
    outputs: Array


def random_elman(width: int, tokens: int, outputs: int, rng: np.random.Generator) -> ElmanNetwork:
    """The random initialisation: entries of W and A of variance 2/m, those of B of variance 1/d, normal.

    Args:
        width: m, at most 20,000.
        tokens: d_x + 1, the width of the tokens.
        outputs: d.
        rng: the source of randomness.

    Raises:
        ValueError: for sizes below 1 or a width above 20,000, whose matrix would take more than 3.2 GB.
    """
    m = checked_integer("The width m", width, 1)
    if m > MAX_WIDTH:
        raise ValueError(f"A width of {m} takes {8 * m * m / 2**30:.0f} GiB for W alone; at most {MAX_WIDTH} is built.")
    d_x, d = checked_integer("The token width", tokens, 1), checked_integer("The number of outputs", outputs, 1)
    scale = np.sqrt(2 / m)
    state = rng.standard_normal((m, m))
    state *= scale
    return ElmanNetwork(state, rng.standard_normal((m, d_x)) * scale, rng.standard_normal((d, m)) / np.sqrt(d))


def trace(network: ElmanNetwork, tokens: Array) -> Trace:
    """States, patterns and outputs on x_1, ..., x_L, shape (L, d_x + 1).

    Raises:
        ValueError: for tokens of another shape, and for balls of which it is undecided whether they are at least 0.
    """
    x = np.asarray(tokens)
    if x.ndim != 2 or x.shape[1] != network.token.shape[1] or not len(x):
        raise ValueError(f"The network reads tokens of shape (L, {network.token.shape[1]}), L >= 1, not {x.shape}.")
    states = network.layer().forward.states(x)  # pyright: ignore[reportOptionalMemberAccess]
    before = matrix_product(states[:-1], network.state.T) + matrix_product(x, network.token.T)
    return Trace(states, _at_least_zero(before), matrix_product(states[1:], network.readout.T))


def back(network: ElmanNetwork, run: Trace, start: int, end: int) -> Array:
    """Back_(start -> end), shape (d, m), for 1 <= start <= end <= L.

    Raises:
        ValueError: for other positions.
    """
    if not 1 <= start <= end <= len(run.active):
        raise ValueError(f"Back goes from l to a with 1 <= l <= a <= {len(run.active)}, not from {start} to {end}.")
    result = network.readout
    for place in range(end, start, -1):
        result = matrix_product(result * run.active[place - 1], network.state)
    return result


def linear_change(network: ElmanNetwork, run: Trace, change: Array) -> Array:
    """f_1(W'), ..., f_L(W'), shape (L, d), for W' of shape (m, m).

    Raises:
        ValueError: for another shape of W'.
    """
    if np.shape(change) != network.state.shape:
        raise ValueError(f"W' has the shape {network.state.shape} of W, not {np.shape(change)}.")
    moved = matrix_product(run.states[:-1], np.asarray(change).T)
    delta, result = moved[0] * 0, []
    for active, step in zip(run.active, moved, strict=True):
        delta = (matrix_product(delta[None], network.state.T)[0] + step) * active
        result.append(delta)
    return matrix_product(np.stack(result), network.readout.T)


def weighted_gradient(network: ElmanNetwork, run: Trace, weights: Array) -> Array:
    """The gradient in W of sum_j <c_j, y_j>, shape (m, m), for c of shape (L, d): the adjoint of `linear_change`.

    It is sum_j sum_i (Back_(i -> j) D_i)^T c_j h_(i-1)^T, accumulated backwards in time O(L m^2).

    Raises:
        ValueError: for another shape of c.
    """
    if np.shape(weights) != run.outputs.shape:
        raise ValueError(f"There is one weight for each output, shape {run.outputs.shape}, not {np.shape(weights)}.")
    direct = matrix_product(np.asarray(weights), network.readout)
    rows, later = [], direct[0] * 0
    for place in range(len(run.active) - 1, -1, -1):
        at = (direct[place] + later) * run.active[place]
        rows.append(at)
        later = matrix_product(at[None], network.state)[0]
    return matrix_product(np.stack(rows[::-1]).T, run.states[:-1])


def constant_patterns(network: ElmanNetwork, tokens: Array, change: Array, end: object) -> bool:
    """Whether all D_l are certainly the same for W + t W' with all t in [0, end], by balls that contain the segment.

    False means that the balls do not decide it: take a smaller end.

    Raises:
        ValueError: for an end that is not positive, and as `trace`.
    """
    if not end > 0:  # pyright: ignore[reportOperatorIssue]
        raise ValueError(f"The segment has a positive end, not {end}.")
    segment = as_balls([end])[0].union(arb(0))
    balls = ElmanNetwork(as_balls(network.state), as_balls(network.token), as_balls(network.readout))
    moved = replace(balls, state=balls.state + segment * as_balls(np.asarray(change)))
    try:
        return bool((trace(moved, as_balls(np.asarray(tokens))).active == trace(network, tokens).active).all())
    except UndecidedError:
        return False


class UndecidedError(ValueError):
    """Of some ball it is undecided whether it is at least 0."""


def _at_least_zero(values: Array) -> NDArray[np.bool_]:
    """Where the values are at least 0."""
    if number_system([values]) != "ball":
        return np.asarray(values >= 0, dtype=bool)
    certain = np.vectorize(lambda v: bool(v >= 0 or v < 0), otypes=[bool])(values)
    if not certain.all():
        raise UndecidedError(
            "Of some ball it is undecided whether it is at least 0: compute with more bits, or exactly."
        )
    return np.vectorize(lambda v: bool(arb(v) >= 0), otypes=[bool])(values)
