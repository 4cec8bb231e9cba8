"""Families of layered circuits that the statements on circuits are checked on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np

from lemmata.constructions.circuits.boolean import BooleanCircuit, BooleanGate, LayeredCircuit

OPERATIONS = ("AND", "OR", "NOT", "ID")


def identity_chain(q: int) -> LayeredCircuit:
    """One input bit, handed on by q - 1 ID gates."""
    return LayeredCircuit(1, ((BooleanGate("ID", (0,)),),) * (q - 1), 0)


def alternating_chain(q: int) -> LayeredCircuit:
    """Two bits, (AND, OR) of the two bits before in every layer: the product of operator norms grows with the depth."""
    layer = (BooleanGate("AND", (0, 1)), BooleanGate("OR", (0, 1)))
    return LayeredCircuit(2, (layer,) * (q - 1), 0)


def prefix_conjunction(m: int) -> BooleanCircuit:
    """x1 AND x2 AND ... AND xm, one input at a time: layering it takes (m - 1)(m - 2)/2 ID gates."""
    gates = [BooleanGate("AND", (0, 1))] + [BooleanGate("AND", (m + i - 2, i)) for i in range(2, m)]
    return BooleanCircuit(m, tuple(gates), 2 * m - 2)


def parity_circuit(m: int) -> BooleanCircuit:
    """The parity of m bits, x XOR y = (x OR y) AND NOT (x AND y) one bit after the other."""
    gates: list[BooleanGate] = []
    total = 0
    for x in range(1, m):
        node = m + len(gates)
        gates += [BooleanGate("OR", (total, x)), BooleanGate("AND", (total, x))]
        gates += [BooleanGate("NOT", (node + 1,)), BooleanGate("AND", (node, node + 2))]
        total = node + 3
    return BooleanCircuit(m, tuple(gates), total)


def random_layered(random: np.random.Generator, inputs: int, widths: tuple[int, ...]) -> LayeredCircuit:
    """Gates and parents uniform; a gate may read a node twice."""
    layers, before = [], inputs
    for width in widths:
        gates = []
        for _ in range(width):
            operation = OPERATIONS[random.integers(4)]
            parents = random.integers(0, before, 2 if operation in {"AND", "OR"} else 1)
            gates.append(BooleanGate(operation, tuple(int(parent) for parent in parents)))
        layers.append(tuple(gates))
        before = width
    return LayeredCircuit(inputs, tuple(layers), int(random.integers(before)))


def random_sizes(random: np.random.Generator, bits: int, width: int, depth: int) -> tuple[int, tuple[int, ...]]:
    """A random number of inputs and random widths of 1 to ``depth`` layers."""
    layers = int(random.integers(1, depth + 1))
    return int(random.integers(1, bits + 1)), tuple(int(w) for w in random.integers(1, width + 1, layers))


def small_circuits(inputs: int, size: int) -> Iterator[BooleanCircuit]:
    """Every circuit with this many gates whose last gate is the output."""
    choices = []
    for node in range(inputs, inputs + size):
        pairs = list(combinations_with_replacement(range(node), 2))
        binary = [BooleanGate(op, pair) for op in ("AND", "OR") for pair in pairs]
        choices.append(binary + [BooleanGate(op, (parent,)) for op in ("NOT", "ID") for parent in range(node)])
    for gates in product(*choices):
        yield BooleanCircuit(inputs, gates, inputs + size - 1)
