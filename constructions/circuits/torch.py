"""Circuits as torch modules: networks of Boolean ones, and arithmetic ones, which autograd differentiates.

Kept apart because torch is slow to import; use `Circuit.to_torch` and `CircuitNetwork.to_torch`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from lemmata.constructions.circuits.arithmetic import Circuit
from lemmata.constructions.circuits.relu import CircuitNetwork
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch import ShownModule, module_of, to_torch

__all__ = ["UNARY", "CircuitModule", "to_torch"]


def _table(z: torch.Tensor) -> torch.Tensor:
    """As in `arithmetic`, for integers below 2^53 in float64."""
    number = torch.where((z > 0) & (z == z.floor()), z, 0).to(torch.int64)
    lowest = number & -number
    v = torch.log2(lowest.clamp(min=1).to(torch.float64)).round().to(torch.int64)
    return ((number >> (2 * v + 1)) & 1).to(z.dtype)


UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": torch.relu,
    "step": lambda z: (z > 0).to(z.dtype),
    "square": torch.square,
    "double": lambda z: z + z,
    "exp": torch.exp,
    "inverse": torch.reciprocal,
    "inverse_slope": lambda z: -(torch.reciprocal(z) ** 2),
    "table": _table,
}
"""The unary gates of `lemmata.constructions.circuits.arithmetic.UNARY`, on tensors."""


@module_of(Circuit)
class CircuitModule(ShownModule):
    """The outputs of a circuit, entry by entry of a batch; a circuit has no weights but those among its inputs."""

    constants: torch.Tensor

    def __init__(self, circuit: Circuit, dtype: torch.dtype | None, stream: ResidualStream | None = None) -> None:
        super().__init__()
        self.circuit = circuit
        number = torch.float64 if dtype is None else dtype
        self.register_buffer("constants", torch.tensor(circuit.constants, dtype=number))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs, shape (..., outputs), for x of shape (..., inputs).

        Raises:
            ValueError: if x has another number of inputs.
        """
        if x.shape[-1] != self.circuit.inputs:
            raise ValueError(f"The circuit has {self.circuit.inputs} inputs, but got {x.shape[-1]} values.")
        values = [*x.unbind(dim=-1), *(constant.expand(x.shape[:-1]) for constant in self.constants)]
        for operation, operands in self.circuit.gates:
            if operation in UNARY:
                values.append(UNARY[operation](values[operands[0]]))
            else:
                a, b = (values[i] for i in operands)
                values.append(a + b if operation == "+" else a * b)
        return torch.stack([values[i] for i in self.circuit.outputs], dim=-1)


@module_of(CircuitNetwork)
def _network(network: CircuitNetwork, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    return to_torch((*network.maps(), network.head), dtype=dtype, stream=stream)
