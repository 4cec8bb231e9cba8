"""Weights that are held in one number system, and checked inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from numerics.exact.numbers import as_exact, to_float
from numerics.exact.systems import Array

if TYPE_CHECKING:
    import torch


def held_weights(parts: dict[str, Any]) -> dict[str, Any]:
    """Copies of the named weights, all float64 or, if one is an object array, all fmpq; read-only, scalars as numbers.

    Raises:
        ValueError: for numbers that are not real, not finite, or not of one kind.
    """
    arrays = {name: np.asarray(part) for name, part in parts.items()}
    exact = any(part.dtype == object for part in arrays.values())
    result = {}
    for name, part in arrays.items():
        try:
            held = _rationals(part) if exact and part.dtype.kind in "iuO" else to_float(part)
        except ValueError as error:
            raise ValueError(f"{name} must hold real numbers. {error}") from None
        if held.dtype != object and (exact or not np.all(np.isfinite(held))):
            reason = "floats, but other weights are exact" if exact else "NaN or infinity"
            raise ValueError(f"All weights must be finite floats or all exact, but {name} holds {reason}.")
        held.flags.writeable = False
        result[name] = held if held.ndim else held.item()
    return result


def hold_weights(network: Any, names: tuple[str, ...]) -> None:
    """Replace the named attributes of a frozen network by their `held_weights`."""
    for name, held in held_weights({name: getattr(network, name) for name in names}).items():
        object.__setattr__(network, name, held)


def _rationals(array: Array) -> NDArray[np.object_]:
    """The array as fmpq; ValueError for floats and for numbers of a larger field."""
    result = as_exact(array)
    foreign = next((number for number in result.flat if not isinstance(number, fmpq)), None)
    if foreign is not None:
        raise ValueError(f"Exact weights and inputs must be rational numbers, but {foreign!r} is none.")
    return result


def checked_inputs(x: ArrayLike, weights: Array) -> Array:
    """x as an array that fits weights of shape (r, n), or ValueError."""
    inputs = np.asarray(x)
    n = weights.shape[1]
    if inputs.ndim < 1 or inputs.shape[-1] != n:
        raise ValueError(f"Inputs must have shape (..., {n}), not {inputs.shape}.")
    if weights.dtype == object:
        return _rationals(inputs)
    inputs = to_float(inputs)
    if not np.all(np.isfinite(inputs)):
        raise ValueError("Inputs must be finite, but they hold NaN or infinity.")
    return inputs


def torch_module(parts: dict[str, Any], forward: Callable[[Any, Any], Any]) -> torch.nn.Module:
    """A torch module whose parameters are the parts in float64, with the given forward pass."""
    import torch  # slow to import, and not needed to build or verify a network

    class TorchNetwork(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights_by_name = torch.nn.ParameterDict(
                {name: torch.nn.Parameter(torch.as_tensor(to_float(np.asarray(part)))) for name, part in parts.items()}
            )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return forward(self.weights_by_name, x)

    return TorchNetwork()
