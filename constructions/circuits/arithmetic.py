"""Arithmetic circuits with unary gates, and the circuit of their gradient (Baur and Strassen; backpropagation).

A circuit lists its nodes in topological order: first the inputs, then the constants, then the gates "+" and "*" with
two operands each and the unary gates of `UNARY`. It is evaluated on anything that can be added and multiplied: floats,
fractions, polynomials.

`gradient` appends to a circuit with one output the gates of reverse-mode differentiation. Call a gate or input live if
the output depends on it; let M, A, U be the numbers of live products, sums and unary gates, and n that of live inputs.
Going backwards, a live product spends 2 multiplications on what it passes to its operands, a live unary gate one
evaluation of its derivative and 1 multiplication, and every live node adds up what it receives: one addition less than
the number of its edges to live gates. Without constants there are 2 M + 2 A + U edges and M + A + U - 1 + n receiving
nodes (all live ones except the output, which holds 1), so if the output is a gate, the gates added are exactly

    2 M + 2 U + (2 M + 2 A + U) - (M + A + U - 1 + n) = 3 M + A + 2 U + 1 - n   <=   3 (M + A + U).

An edge from a constant passes nothing on and only saves gates. The whole gradient costs at most 4 times the circuit,
whatever the number of inputs.

Source: induction-heads, definition-P.2, claim-P.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from flint import arb

from lemmata.constructions.networks.export import Translated

__all__ = ["UNARY", "Circuit", "Gate", "gradient", "two_layer_mlp", "universal_circuit"]


class Gate(NamedTuple):
    """An operation, "+", "*" or a name in `UNARY`, and the indices of the nodes that it is applied to."""

    operation: str
    operands: tuple[int, ...]


class Unary(NamedTuple):
    """A unary operation, and the name in `UNARY` of its derivative (None where no gradient is needed)."""

    function: Callable[[Any], Any]
    derivative: str | None


def _table(z: Any) -> Any:
    """Bit number v of theta, for the positive integer z = 2^v (2 theta + 1); 0 for every other number.

    Raises:
        ValueError: for a ball that is no number.
    """
    if isinstance(z, arb) and not z.is_exact():
        raise ValueError(f"Whether {z} is an integer is undecided: give exact numbers.")
    whole = floor(z) if z > 0 else 0
    if not whole or z != whole:
        return 0 * z
    number = int(whole)
    v = (number & -number).bit_length() - 1
    return (number >> (2 * v + 1) & 1) + 0 * z


def _exp(z: Any) -> Any:
    """e^z of a float or a ball.

    Raises:
        ValueError: for an exact number.
    """
    if isinstance(z, float):
        return exp(z)
    if isinstance(z, arb):
        return z.exp()
    raise ValueError(f"The exponential of the exact number {z} is not rational: give floats or balls.")


def _inverse(z: Any) -> Any:
    """1/z in the numbers of z, a rational number for an integer.

    Raises:
        ValueError: if z is 0, or a ball that holds it.
    """
    if z == 0 or (isinstance(z, arb) and z.contains(0)):
        raise ValueError(f"The number {z} has no inverse.")
    return Fraction(1, z) if isinstance(z, int) else 1 / z


def _inverse_slope(z: Any) -> Any:
    """-1/z^2, with the errors of `_inverse`."""
    inverse = _inverse(z)
    return -inverse * inverse


UNARY: Mapping[str, Unary] = MappingProxyType(
    {
        "relu": Unary(lambda z: z if z > 0 else 0 * z, "step"),
        "step": Unary(lambda z: 1 + 0 * z if z > 0 else 0 * z, None),  # 0 at 0, where ReLU has no derivative
        "square": Unary(lambda z: z * z, "double"),
        "double": Unary(lambda z: z + z, None),
        "exp": Unary(_exp, "exp"),
        "inverse": Unary(_inverse, "inverse_slope"),
        "inverse_slope": Unary(_inverse_slope, None),
        "table": Unary(_table, None),
    }
)


@dataclass(frozen=True)
class Circuit(Translated):
    """A circuit: nodes 0 .. inputs - 1, then the constants, then the gates; ``outputs`` are indices of nodes.

    Raises:
        ValueError: for a negative number of inputs, an unknown operation, a wrong number of operands, an operand that
            does not precede its gate, an output that is no node, and no output at all.
    """

    translator: ClassVar[str] = "circuits.torch"

    inputs: int
    gates: tuple[Gate, ...]
    outputs: tuple[int, ...]
    constants: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.inputs < 0:
            raise ValueError(f"A circuit cannot have {self.inputs} inputs.")
        for index, (operation, operands) in enumerate(self.gates, self.first_gate):
            if operation not in {"+", "*", *UNARY}:
                raise ValueError(f"Gate {index} has the operation {operation!r}; known are +, *, {', '.join(UNARY)}.")
            arity = 1 if operation in UNARY else 2
            if len(operands) != arity:
                raise ValueError(f"Gate {index} ({operation}) needs {arity} operands, but has {len(operands)}.")
            if not all(0 <= operand < index for operand in operands):
                raise ValueError(f"Gate {index} ({operation}) has operands {operands} that do not all precede it.")
        nodes = self.first_gate + len(self.gates)
        if not self.outputs or not all(0 <= output < nodes for output in self.outputs):
            raise ValueError(f"The outputs must be one or more of the {nodes} nodes, but are {self.outputs}.")

    @property
    def first_gate(self) -> int:
        """The index of the first node that is a gate."""
        return self.inputs + len(self.constants)

    @property
    def size(self) -> int:
        """The number of gates; inputs and constants are free."""
        return len(self.gates)

    def live(self) -> set[int]:
        """The nodes that some output depends on, the outputs included."""
        result = set(self.outputs)
        for index in range(self.first_gate + self.size - 1, self.first_gate - 1, -1):
            if index in result:
                result.update(self.gates[index - self.first_gate].operands)
        return result

    def counts(self) -> Counter[str]:
        """The number of live gates by operation."""
        return Counter(self.gates[i - self.first_gate].operation for i in self.live() if i >= self.first_gate)

    def __call__(self, x: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the outputs. Raises ``ValueError`` unless there is one entry of x for each input."""
        if len(x) != self.inputs:
            raise ValueError(f"The circuit has {self.inputs} inputs, but got {len(x)} values.")
        values = [*x, *self.constants]
        for operation, operands in self.gates:
            if operation in UNARY:
                values.append(UNARY[operation].function(values[operands[0]]))
            else:
                a, b = (values[i] for i in operands)
                values.append(a + b if operation == "+" else a * b)
        return tuple(values[i] for i in self.outputs)


def gradient(circuit: Circuit) -> Circuit:
    """The circuit whose outputs are the partial derivatives of the one output by the inputs, in their order.

    It starts with the gates of ``circuit``.

    Raises:
        ValueError: for a circuit with several outputs and for a live unary gate without a derivative.
    """
    if len(circuit.outputs) != 1:
        raise ValueError(f"Only a circuit with one output has a gradient; this one has {len(circuit.outputs)}.")
    constants = (*circuit.constants, 0, 1)
    zero, one = circuit.first_gate, circuit.first_gate + 1

    def moved(node: int) -> int:
        """The new index of an old node: two constants have been put in front of the gates."""
        return node if node < circuit.first_gate else node + 2

    gates = [Gate(operation, tuple(map(moved, operands))) for operation, operands in circuit.gates]

    def append(operation: str, *operands: int) -> int:
        gates.append(Gate(operation, operands))
        return one + len(gates)

    received = {circuit.outputs[0]: one}  # old node -> new node that holds the derivative by it, once all is received

    def send(node: int, contribution: int) -> None:
        """Add a contribution, a new node, to what an old node has received."""
        received[node] = append("+", received[node], contribution) if node in received else contribution

    for index in range(circuit.first_gate + circuit.size - 1, circuit.first_gate - 1, -1):
        if index not in received:
            continue
        adjoint = received[index]
        operation, operands = circuit.gates[index - circuit.first_gate]
        for place, operand in enumerate(operands):
            if circuit.inputs <= operand < circuit.first_gate:
                continue  # a constant
            if operation == "+":
                send(operand, adjoint)
            elif operation == "*":
                send(operand, append("*", adjoint, moved(operands[1 - place])))
            else:
                derivative = UNARY[operation].derivative
                if derivative is None:
                    raise ValueError(f"The unary gate {operation!r} (node {index}) has no derivative here.")
                send(operand, append("*", adjoint, append(derivative, moved(operand))))
    outputs = tuple(received.get(i, zero) for i in range(circuit.inputs))
    return Circuit(circuit.inputs, tuple(gates), outputs, constants)


def two_layer_mlp(d_in: int, d_hidden: int, activation: str | None = "relu") -> Circuit:
    """The circuit of f(x; (u, W)) = u . sigma(W x), an architecture: the inputs are x, then u, then W row by row.

    ``activation`` names a gate of `UNARY`, or None for none.

    Raises:
        ValueError: for a dimension below 1.
    """
    if min(d_in, d_hidden) < 1:
        raise ValueError(f"Both dimensions must be at least 1, but d_in = {d_in} and d_hidden = {d_hidden}.")
    inputs = d_in + d_hidden + d_hidden * d_in
    gates: list[Gate] = []

    def append(operation: str, *operands: int) -> int:
        gates.append(Gate(operation, operands))
        return inputs + len(gates) - 1

    def inner_product(left: Sequence[int], right: Sequence[int]) -> int:
        total = append("*", left[0], right[0])
        for a, b in zip(left[1:], right[1:], strict=True):
            total = append("+", total, append("*", a, b))
        return total

    x, u = range(d_in), range(d_in, d_in + d_hidden)
    rows = [range(first, first + d_in) for first in range(d_in + d_hidden, inputs, d_in)]
    neurons = [inner_product(row, x) for row in rows]
    if activation is not None:
        neurons = [append(activation, neuron) for neuron in neurons]
    output = inner_product(u, neurons)
    return Circuit(inputs, tuple(gates), (output,))


def universal_circuit(d: int) -> Circuit:
    """The circuit of theta and d bits that computes every Boolean function of them, for its truth table as theta.

    Bit number c of the integer 0 <= theta < 2^(2^d) is the value at the bits x_1, ..., x_d with c = sum_i 2^(i-1) x_i.
    Sums and products make z = 2^c (2 theta + 1), of which the gate "table", the same for all d, finds c and theta:

        2^c = prod_i (1 + (2^(2^(i-1)) - 1) x_i).

    Source: variable-creation, remark-3.1b.

    Raises:
        ValueError: for a negative number of bits.
    """
    if d < 0:
        raise ValueError(f"There cannot be {d} bits.")
    constants = (1, *(2 ** (2**i) - 1 for i in range(d)))
    gates: list[Gate] = []

    def append(operation: str, *operands: int) -> int:
        gates.append(Gate(operation, operands))
        return d + 1 + len(constants) + len(gates) - 1

    one = d + 1
    last = append("+", append("double", 0), one)
    for i in range(d):
        last = append("*", last, append("+", append("*", one + 1 + i, i + 1), one))
    output = append("table", last)
    return Circuit(d + 1, tuple(gates), (output,), constants)
