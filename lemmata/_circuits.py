"""Boolean circuits as ReLU networks."""

from __future__ import annotations

from fractions import Fraction

from lemmata.constructions.circuits.boolean import BooleanCircuit, LayeredCircuit, from_truth_table, layered
from lemmata.constructions.circuits.relu import THIRDS, CircuitNetwork, Corrections
from lemmata.constructions.circuits.relu import circuit_network as network_of_layers
from lemmata.constructions.circuits.text import parse_circuit

__all__ = ["circuit_network"]


def circuit_network(
    circuit: str | BooleanCircuit | LayeredCircuit,
    corrections: Corrections = "steps",
    thresholds: tuple[Fraction, Fraction] = THIRDS,
    *,
    width: int | None = None,
) -> CircuitNetwork:
    """The ReLU network of a Boolean circuit: 1 where the circuit gives 1, -1 where it gives 0; exact weights.

        lm.circuit_network("0110")                                       # by its truth table
        lm.circuit_network("inputs x1, x2\\ny = AND(x1, NOT(x2))")        # gate by gate, a line each

    Args:
        circuit: 2^m values at x = 0..00, 0..01, ..., a text that `lemmata circuit` reads, or a circuit of
            `lemmata.constructions.circuits.boolean`.
        corrections: "steps" (rounding after every ReLU layer, so that the margin does not shrink with the depth),
            "layers" or "none".
        thresholds: between which the rounding is linear.
        width: of all hidden layers, padded with zeros; as narrow as possible if None.

    Returns:
        The network, for calls, `to_torch`, `margin_bound` and `smallest_flip`.

    Raises:
        ValueError: naming the line of the text that is wrong, or the argument that is out of range.
    """
    if isinstance(circuit, str):
        circuit = from_truth_table(circuit) if set(circuit) <= {"0", "1"} else parse_circuit(circuit)
    if isinstance(circuit, BooleanCircuit):
        circuit = layered(circuit)
    return network_of_layers(circuit, corrections, thresholds, width)
