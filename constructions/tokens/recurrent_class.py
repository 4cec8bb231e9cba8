"""Two operations on recurrent networks with deep transitions: bounding how they depend on the state, and radius one.

A transition f with the layers W_1 = (W_(1,h), W_(1,z)), W_2, ..., W_L is Lipschitz in the state with the constant
||W_L|| ... ||W_2|| ||W_(1,h)||. To make this product alpha, W_(1,h) is multiplied by

    alpha / (||W_(1,h)|| ||W_2|| ... ||W_L||);

without ||W_(1,h)|| in the denominator, as the document has it, the product is alpha ||W_(1,h)||.

A network whose states are kept in the ball of radius r is the same function as one whose states hbar = h/r are kept in
the ball of radius 1: the transition becomes f(r hbar, z)/r, and in the read-out

    W_2 sigma(U h + W_y z + b_y) = (r W_2) sigma(U hbar + (W_y/r) z + b_y/r),

with r W_2, where the document prints W_2/r.

Source: qstr, definition-rnn-upper and construction-homogeneity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.numerics.exact.systems import Array, conversion

__all__ = ["state_lipschitz", "with_state_lipschitz", "with_unit_radius"]


def state_lipschitz(transition: FeedForward, width: int) -> float:
    """||W_L|| ... ||W_2|| ||W_(1,h)||, in float64: a Lipschitz constant of a transition in its state.

    Args:
        transition: f, without a residual, on pairs of a state and a token.
        width: of the state.

    Raises:
        ValueError: for a width that leaves no token, a residual, or an activation that is no ReLU or identity.
    """
    if not 0 < width < transition.inputs or transition.residual or "gelu" in transition.activations:
        raise ValueError(
            "A transition here reads a state and a token by ReLU layers without a residual, but it has "
            f"{transition.inputs} inputs, {width} of them the state, and the activations {transition.activations}."
        )
    first = Affine(transition.layers[0].weight[:width])
    return float(np.prod([first.operator_norm, *transition.operator_norms[1:]]))


def with_state_lipschitz(transition: FeedForward, width: int, constant: float) -> FeedForward:
    """The transition in float64 with W_(1,h) shrunk so that `state_lipschitz` is at most the constant.

    It stays as it is if that is so already; else the product is the constant.

    Raises:
        ValueError: as `state_lipschitz`, or for a constant that is negative or not finite.
    """
    if not 0 <= constant < float("inf"):
        raise ValueError(f"A Lipschitz constant is a finite number >= 0, not {constant}.")
    present, result = state_lipschitz(transition, width), transition.to_float()
    if present <= constant:
        return result
    return _layer_changed(
        result, 0, lambda layer: Affine(_rows(layer.weight, width, constant / present, 1), layer.bias)
    )


def with_unit_radius(network: RecurrentLayer) -> RecurrentLayer:
    """The same function with states in the ball of radius 1.

    Args:
        network: its cells end with a `BallProjection` of one radius r, its read-out is a `FeedForward` of at least two
            layers, the first with a ReLU.

    Raises:
        ValueError: for any other network.
    """
    cells = [cell for cell in (network.forward, network.backward) if cell is not None]
    readout = network.readout
    radii = [cell.bound.radius for cell in cells if isinstance(cell.bound, BallProjection)]
    if len(radii) < len(cells) or any(radius != radii[0] for radius in radii):
        raise ValueError("The states of the network must be kept in balls of one radius.")
    if not isinstance(readout, FeedForward) or len(readout.layers) < 2 or readout.activations[0] != "relu":
        raise ValueError("The read-out must be token-wise with at least two layers, a ReLU after the first.")
    convert = conversion(network.arithmetic)
    r, scaled = convert([radii[0]])[0], network.map(convert)
    cells = tuple(None if cell is None else _unit_cell(cell, r) for cell in (scaled.forward, scaled.backward))
    assert isinstance(scaled.readout, FeedForward)
    states = scaled.readout.inputs - (scaled.inputs if scaled.keep_token else 0)
    first = _layer_changed(
        scaled.readout, 0, lambda layer: Affine(_rows(layer.weight, states, 1, 1 / r), layer.bias / r)
    )
    second = _layer_changed(first, 1, lambda layer: Affine(layer.weight * r, layer.bias))
    return replace(scaled, forward=cells[0], backward=cells[1], readout=second)


def _unit_cell(cell: RecurrentCell, r: Any) -> RecurrentCell:
    """The cell of h/r: the transition f(r hbar, z)/r, the initial state over r."""
    f = cell.transition
    if not isinstance(f, FeedForward) or f.residual or f.activations[-1] == "gelu":
        raise ValueError("The transition must have affine layers, no residual of its own, and no GeLU at its end.")
    inner = _layer_changed(f, 0, lambda layer: Affine(_rows(layer.weight, cell.width, r, 1), layer.bias))
    last = len(inner.layers) - 1
    outer = _layer_changed(inner, last, lambda layer: Affine(layer.weight / r, layer.bias / r))
    return replace(cell, transition=outer, bound=BallProjection(cell.width, 1), initial=cell.initial / r)


def _rows(weight: Array, count: int, above: Any, below: Any) -> Array:
    """The weight with its first rows, and the others, multiplied."""
    return np.concatenate([weight[:count] * above, weight[count:] * below])


def _layer_changed(network: FeedForward, number: int, change: Callable[[Affine], Affine]) -> FeedForward:
    layers = list(network.layers)
    layers[number] = change(layers[number])
    return replace(network, layers=tuple(layers))
