"""A torch network as tables over all inputs: its outputs and their derivatives in every parameter.

This is the form in which `lemmata.numerics.parity.lower_bound` follows a network of any architecture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.inputs import sign_inputs

if TYPE_CHECKING:
    import torch

__all__ = ["flat_parameters", "tangent_model"]

Array = NDArray[np.float64]
LARGEST_INPUTS = 12
"""The largest number n of inputs: every table has 2^n rows."""


def flat_parameters(network: torch.nn.Module) -> Array:
    """All parameters in one vector of float64, in the order of ``named_parameters``."""
    return np.concatenate([p.detach().double().numpy().ravel() for p in network.parameters()] or [np.zeros(0)])


def tangent_model(network: torch.nn.Module, n: int) -> Callable[[Array], tuple[Array, Array]]:
    """The map from parameters, shape (r,), to the outputs, (2^n,), and their derivatives, (2^n, r), by autograd.

    Rows are in the order of `lemmata.numerics.fourier.walsh`. The network gets a batch (2^n, n) in float64, is run with
    the given parameters in float64, and is not changed itself.

    Raises:
        ValueError: if n is not in 1, ..., 12, or the network has no parameter; on use, for another number of
            parameters, or if the network does not return one number for each input.
    """
    import torch  # slow to import

    if not 1 <= n <= LARGEST_INPUTS:
        raise ValueError(f"Networks are tabulated for 1 <= n <= {LARGEST_INPUTS} inputs, not {n}.")
    shapes = {name: p.shape for name, p in network.named_parameters()}
    sizes = [shape.numel() for shape in shapes.values()]
    if not sizes:
        raise ValueError("The network has no parameter, hence nothing that descent could move.")
    points = torch.tensor(sign_inputs(n), dtype=torch.float64)

    def outputs(theta: torch.Tensor) -> torch.Tensor:
        parts = torch.split(theta, sizes)
        weights = {name: part.reshape(shape) for part, (name, shape) in zip(parts, shapes.items(), strict=True)}
        return torch.func.functional_call(network, weights, (points,)).reshape(-1)

    def tables(theta: Array) -> tuple[Array, Array]:
        if np.shape(theta) != (sum(sizes),):
            raise ValueError(f"The network has {sum(sizes)} parameters, but got the shape {np.shape(theta)}.")
        now = torch.tensor(np.asarray(theta, dtype=np.float64))
        h = outputs(now).detach()
        if h.shape != (2**n,):
            raise ValueError(f"The network must return one number for each of the {2**n} inputs.")
        slopes = torch.func.jacrev(outputs)(now)
        return h.numpy(), np.ascontiguousarray(slopes.detach().numpy())

    return tables
