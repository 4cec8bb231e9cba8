"""Networks that hold their weights in one number system, and the inputs that they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.systems import (
    Arithmetic,
    Array,
    common_system,
    conversion,
    in_one_system,
    listing,
    number_system,
    require_finite,
)


def held_weights(parts: dict[str, Any]) -> dict[str, Any]:
    """Copies of the named weights, all float64 or all fmpq; read-only, scalars as numbers.

    Raises:
        ValueError: as `in_one_system`; for balls, and exact numbers that are not rational.
    """
    held, system = in_one_system(parts)
    for name, part in held.items():
        foreign = [] if system == "float" else [x for x in part.flat if not isinstance(x, fmpq)]
        if foreign:
            raise ValueError(f"Weights are floats or rational numbers, but {name} holds {listing(foreign)}.")
    return {name: part if part.ndim else part.item() for name, part in held.items()}


def hold_weights(network: Any, names: Sequence[str]) -> None:
    """Replace the named attributes of a frozen network by their `held_weights`."""
    for name, held in held_weights({name: getattr(network, name) for name in names}).items():
        object.__setattr__(network, name, held)


def checked_inputs(x: ArrayLike, width: int, system: Arithmetic) -> Array:
    """x as an array of shape (..., width) in the number system of a network.

    Raises:
        ValueError: for another width, numbers of no system or that are not finite; for exact numbers or balls in a
            float64 network, floats in another one, and balls in an exact one. Integers are always taken.
    """
    inputs = np.asarray(x)
    if inputs.ndim < 1 or inputs.shape[-1] != width:
        raise ValueError(f"Inputs must have shape (..., {width}), not {inputs.shape}.")
    given = common_system({"The array of inputs": inputs})
    if system == "float" and inputs.dtype == object:
        raise ValueError("A float64 network takes real numbers, not object arrays; convert the inputs first.")
    if system != "float" and given == "float":
        raise ValueError(
            "Networks in exact or ball arithmetic take integers or exact numbers, not floats: a float is not exact. "
            "Convert the inputs, or the network to floats."
        )
    if system == "exact" and given == "ball":
        raise ValueError("An exact network does not take balls; build the network from balls as well.")
    require_finite("the array of inputs", inputs)
    return conversion(system)(inputs)


def rational_inputs(x: ArrayLike, weights: Array) -> Array:
    """x as an array that fits `held_weights` of shape (r, n).

    Raises:
        ValueError: as `checked_inputs`, and for irrational numbers.
    """
    inputs = checked_inputs(x, weights.shape[1], number_system([weights]))
    foreign = [number for number in inputs.flat if not isinstance(number, fmpq)] if inputs.dtype == object else []
    if foreign:
        raise ValueError(f"Exact inputs must be rational numbers, but they hold {listing(foreign)}.")
    return inputs
