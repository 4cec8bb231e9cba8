"""Boolean circuits of AND, OR, NOT and ID gates: from truth tables and Python functions; layers.

A circuit lists its nodes in topological order, the input bits first. In a *layered* circuit every edge leads from one
layer to the next; any circuit becomes layered by adding ID gates (`layered`). Following the source, the depth q counts
the layers including that of the inputs, the width r is the largest number of gates in a layer (the inputs count), and
the size s is the number of all gates including the inputs. `lemmata.constructions.circuits.text` reads circuits from
text.

Truth tables list the values at x = 0...00, 0...01, 0...10, ..., so that x1 is the most significant bit.

Source: turing, definition-circuits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ARITY: Mapping[str, int] = MappingProxyType({"AND": 2, "OR": 2, "NOT": 1, "ID": 1})
LARGEST_TABLE = 12
"""The largest number of bits of a truth table or Python function that is compiled."""

Bits = NDArray[np.bool_]


class BooleanGate(NamedTuple):
    """An operation of `ARITY` and the indices of the nodes that it reads; a node may be read twice."""

    operation: str
    parents: tuple[int, ...]


@dataclass(frozen=True)
class BooleanCircuit:
    """A circuit with one output: nodes 0 .. inputs - 1 are the bits x1, x2, ..., and gates follow their parents.

    Attributes:
        inputs: m >= 1.
        gates: the gates, in topological order.
        output: the node whose value is the output; it may be an input.

    Raises:
        ValueError: for no inputs, an unknown operation, a wrong number of parents, a parent that does not precede its
            gate, or an output that is no node.
    """

    inputs: int
    gates: tuple[BooleanGate, ...]
    output: int

    def __post_init__(self) -> None:
        if self.inputs < 1:
            raise ValueError(f"A Boolean circuit needs at least one input, not {self.inputs}.")
        for node, gate in enumerate(self.gates, self.inputs):
            _check_gate(gate, f"Node {node}", node, "nodes before it")
        nodes = self.inputs + len(self.gates)
        if not 0 <= self.output < nodes:
            raise ValueError(f"The output must be one of the nodes 0 to {nodes - 1}, not {self.output}.")

    @property
    def size(self) -> int:
        """The number s of gates, inputs included."""
        return self.inputs + len(self.gates)

    def values(self, x: Bits) -> Bits:
        """The values of all nodes, shape (..., size), for inputs of shape (..., m)."""
        nodes = [*np.moveaxis(_as_bits(x, self.inputs), -1, 0)]
        for gate in self.gates:
            nodes.append(_apply(gate, nodes))
        return np.stack(nodes, axis=-1)

    def __call__(self, x: Bits) -> Bits:
        """The output, shape (...,), for inputs of shape (..., m)."""
        return self.values(x)[..., self.output]


@dataclass(frozen=True)
class LayeredCircuit:
    """A circuit whose gates read only the layer before: g_(q-1) o ... o g_1 in the source.

    Attributes:
        inputs: m >= 1, the size of the first layer.
        layers: the q - 1 >= 1 layers of gates; parents are places in the layer before.
        output: the place of the output in the last layer.

    Raises:
        ValueError: for no inputs, no layer, an empty layer, a wrong gate (named by layer and place) or output.
    """

    inputs: int
    layers: tuple[tuple[BooleanGate, ...], ...]
    output: int

    def __post_init__(self) -> None:
        if self.inputs < 1:
            raise ValueError(f"A Boolean circuit needs at least one input, not {self.inputs}.")
        if not self.layers or not all(self.layers):
            raise ValueError("A layered circuit needs at least one layer of gates after the inputs, and none empty.")
        before = self.inputs
        for number, layer in enumerate(self.layers, 1):
            for place, gate in enumerate(layer):
                _check_gate(gate, f"Gate {place} of layer {number}", before, "gates of the layer before")
            before = len(layer)
        if not 0 <= self.output < before:
            raise ValueError(f"The output must be one of the {before} gates of the last layer, not {self.output}.")

    @property
    def depth(self) -> int:
        """The number q of layers, that of the inputs included."""
        return 1 + len(self.layers)

    @property
    def width(self) -> int:
        """The size r of the largest layer."""
        return max(self.inputs, *map(len, self.layers))

    @property
    def size(self) -> int:
        """The number s of all gates, inputs included."""
        return self.inputs + sum(map(len, self.layers))

    def values(self, x: Bits) -> list[Bits]:
        """The values of every layer, the inputs first, each of shape (..., r_i), for inputs of shape (..., m)."""
        layers = [_as_bits(x, self.inputs)]
        for gates in self.layers:
            nodes = [*np.moveaxis(layers[-1], -1, 0)]
            layers.append(np.stack([_apply(gate, nodes) for gate in gates], axis=-1))
        return layers

    def __call__(self, x: Bits) -> Bits:
        """The output, shape (...,), for inputs of shape (..., m)."""
        return self.values(x)[-1][..., self.output]

    def deepened(self, depth: int) -> LayeredCircuit:
        """The circuit with ID gates after its output until it has the given depth.

        Raises:
            ValueError: if it is deeper already.
        """
        if depth < self.depth:
            raise ValueError(f"The circuit has depth {self.depth} already, more than the {depth} asked for.")
        if depth == self.depth:
            return self
        first = (BooleanGate("ID", (self.output,)),)
        more = ((BooleanGate("ID", (0,)),),) * (depth - self.depth - 1)
        return LayeredCircuit(self.inputs, (*self.layers, first, *more), 0)


def layered(circuit: BooleanCircuit) -> LayeredCircuit:
    """The layered circuit of the same function: gates on their longest path from the inputs, ID gates in between.

    Gates that the output does not depend on are dropped; all inputs stay. A node that is read from several later
    layers shares one ID gate in each layer, so that at most sum_g (last use - level of g - 1) gates are added. If the
    output is an input, one layer with an ID gate is added.
    """
    live = _live(circuit)
    level = dict.fromkeys(range(circuit.inputs), 0)
    last_use: dict[int, int] = {}
    for node, gate in enumerate(circuit.gates, circuit.inputs):
        if node in live:
            level[node] = 1 + max(level[parent] for parent in gate.parents)
            for parent in gate.parents:
                last_use[parent] = max(last_use.get(parent, 0), level[node] - 1)
    if level[circuit.output] == 0:
        return LayeredCircuit(circuit.inputs, ((BooleanGate("ID", (circuit.output,)),),), 0)

    place = {node: node for node in range(circuit.inputs)}  # of the nodes that are present in the layer before
    layers: list[tuple[BooleanGate, ...]] = []
    for height in range(1, level[circuit.output] + 1):
        gates: list[BooleanGate] = []
        places: dict[int, int] = {}
        for node in sorted(level):
            if level[node] == height:
                gate = circuit.gates[node - circuit.inputs]
                gates.append(BooleanGate(gate.operation, tuple(place[parent] for parent in gate.parents)))
            elif level[node] < height <= last_use.get(node, 0):
                gates.append(BooleanGate("ID", (place[node],)))
            else:
                continue
            places[node] = len(gates) - 1
        layers.append(tuple(gates))
        place = places
    return LayeredCircuit(circuit.inputs, tuple(layers), place[circuit.output])


def all_inputs(m: int) -> Bits:
    """All 2^m words of m bits in the order of truth tables, shape (2^m, m)."""
    return (np.arange(2**m)[:, None] >> np.arange(m - 1, -1, -1) & 1).astype(bool)


def from_truth_table(table: str | Sequence[int]) -> BooleanCircuit:
    """A circuit of a truth table of 2^m entries, 1 <= m <= 12, by the decision diagram of the function.

    Each node of the reduced ordered decision diagram becomes OR(AND(x, high), AND(NOT x, low)), shortened where a
    branch is constant. A constant function is x1 AND NOT x1, or its negation.

    Raises:
        ValueError: for an entry other than 0 and 1, or another length.
    """
    entries = tuple(table)
    for position, entry in enumerate(entries):
        if str(entry) not in {"0", "1"}:
            raise ValueError(f"A truth table consists of 0 and 1, but entry {position} is {entry!r}.")
    m = len(entries).bit_length() - 1
    if not 1 <= m <= LARGEST_TABLE or len(entries) != 2**m:
        raise ValueError(
            f"A truth table of m bits has 2^m entries, with 1 <= m <= {LARGEST_TABLE}; this one has {len(entries)}."
        )
    return _decision_diagram(tuple(int(entry) for entry in entries), m)


def _decision_diagram(table: tuple[int, ...], m: int) -> BooleanCircuit:
    gates: list[BooleanGate] = []
    nodes: dict[tuple[int, ...], int] = {}  # of the subfunctions that are not constant
    negations: dict[int, int] = {}

    def append(operation: str, *parents: int) -> int:
        gates.append(BooleanGate(operation, parents))
        return m + len(gates) - 1

    def negation(x: int) -> int:
        if x not in negations:
            negations[x] = append("NOT", x)
        return negations[x]

    def build(part: tuple[int, ...], x: int) -> int:
        """The node of a subfunction that is not constant, of the variables x, x + 1, ..., m - 1."""
        low, high = part[: len(part) // 2], part[len(part) // 2 :]
        if low == high:
            return build(low, x + 1)
        key = (x, *part)
        if key not in nodes:
            nodes[key] = branch(low, high, x)
        return nodes[key]

    def branch(low: tuple[int, ...], high: tuple[int, ...], x: int) -> int:
        if len(set(low)) == len(set(high)) == 1:
            return x if high[0] else negation(x)
        if len(set(low)) == 1:
            return append("OR", negation(x), build(high, x + 1)) if low[0] else append("AND", x, build(high, x + 1))
        if len(set(high)) == 1:
            return append("OR", x, build(low, x + 1)) if high[0] else append("AND", negation(x), build(low, x + 1))
        return append("OR", append("AND", x, build(high, x + 1)), append("AND", negation(x), build(low, x + 1)))

    constant = len(set(table)) == 1
    output = append("OR" if table[0] else "AND", 0, negation(0)) if constant else build(table, 0)
    return BooleanCircuit(m, tuple(gates), output)


def _check_gate(gate: BooleanGate, name: str, available: int, where: str) -> None:
    if gate.operation not in ARITY:
        raise ValueError(f"{name} has the operation {gate.operation!r}; known are {', '.join(ARITY)}.")
    if len(gate.parents) != ARITY[gate.operation]:
        raise ValueError(f"{name} ({gate.operation}) takes {ARITY[gate.operation]} parent(s), not {len(gate.parents)}.")
    if not all(0 <= parent < available for parent in gate.parents):
        raise ValueError(f"{name} ({gate.operation}) reads {gate.parents}, but there are {available} {where}.")


def _as_bits(x: Bits, inputs: int) -> Bits:
    bits = np.asarray(x)
    if bits.ndim < 1 or bits.shape[-1] != inputs:
        raise ValueError(f"The circuit has {inputs} inputs, but the array of inputs has shape {bits.shape}.")
    if not np.isin(bits, (0, 1)).all():
        raise ValueError("The inputs of a Boolean circuit are bits, 0 or 1.")
    return bits.astype(bool)


def _apply(gate: BooleanGate, nodes: Sequence[Bits]) -> Bits:
    values = [nodes[parent] for parent in gate.parents]
    if gate.operation == "AND":
        return values[0] & values[1]
    if gate.operation == "OR":
        return values[0] | values[1]
    return ~values[0] if gate.operation == "NOT" else values[0]


def _live(circuit: BooleanCircuit) -> set[int]:
    """The nodes that the output depends on, itself included."""
    live = {circuit.output}
    for node in range(circuit.size - 1, circuit.inputs - 1, -1):
        if node in live:
            live.update(circuit.gates[node - circuit.inputs].parents)
    return live


def operation_counts(layers: Iterable[Iterable[BooleanGate]]) -> dict[str, int]:
    """The number of gates of each operation in some layers."""
    counts = dict.fromkeys(ARITY, 0)
    for layer in layers:
        for gate in layer:
            counts[gate.operation] += 1
    return counts
