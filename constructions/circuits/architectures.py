"""Attention and recurrent networks as circuits of sums, products and unary gates: architectures with their parameters.

The inputs are the tokens, then the parameters, row by row. Softmax needs two unary gates beside sums and products, the
exponential and the inverse: e^(s_t) times the inverse of the sum of all. A recurrent network is unrolled over its
tokens. What comes out are circuits like any other, of which `arithmetic.gradient` is the gradient.

Source: variable-creation, definition-3.1a.
"""

from __future__ import annotations

from collections.abc import Sequence

from lemmata.constructions.circuits.arithmetic import Circuit, Gate

__all__ = ["attention_circuit", "recurrent_circuit"]


class _Wires:
    """Gates in topological order behind a number of inputs."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.gates: list[Gate] = []

    def append(self, operation: str, *operands: int) -> int:
        """The new node."""
        self.gates.append(Gate(operation, operands))
        return self.inputs + len(self.gates) - 1

    def total(self, terms: Sequence[int]) -> int:
        """The sum of nodes."""
        result = terms[0]
        for term in terms[1:]:
            result = self.append("+", result, term)
        return result

    def dot(self, left: Sequence[int], right: Sequence[int]) -> int:
        """The inner product of two rows of nodes."""
        return self.total([self.append("*", a, b) for a, b in zip(left, right, strict=True)])


def _matrix(first: int, rows: int, columns: int) -> list[list[int]]:
    """The nodes of a matrix that is laid out row by row, as its columns."""
    return [[first + i * columns + j for i in range(rows)] for j in range(columns)]


def attention_circuit(T: int, d: int, k: int, e: int) -> Circuit:
    """Softmax self-attention read at the last of T tokens: sum_t p_t z_t W_V, p = softmax(z_t W_K . z_T W_Q).

    Inputs are the tokens z_1, ..., z_T of width d, then W_Q and W_K (d, k), then W_V (d, e); e outputs. Floats and
    balls; exponentials of exact numbers are refused.

    Raises:
        ValueError: for a size below 1.
    """
    if min(T, d, k, e) < 1:
        raise ValueError(f"All sizes must be at least 1, but T, d, k, e = {T}, {d}, {k}, {e}.")
    wires = _Wires(T * d + 2 * d * k + d * e)
    tokens = [list(range(t * d, (t + 1) * d)) for t in range(T)]
    W_Q, W_K, W_V = _matrix(T * d, d, k), _matrix(T * d + d * k, d, k), _matrix(T * d + 2 * d * k, d, e)
    query = [wires.dot(tokens[-1], column) for column in W_Q]
    keys = [[wires.dot(token, column) for column in W_K] for token in tokens]
    powers = [wires.append("exp", wires.dot(query, key)) for key in keys]
    inverse = wires.append("inverse", wires.total(powers))
    values = [[wires.dot(token, column) for token in tokens] for column in W_V]
    outputs = tuple(wires.append("*", inverse, wires.dot(powers, column)) for column in values)
    return Circuit(wires.inputs, tuple(wires.gates), outputs)


def recurrent_circuit(T: int, d: int, m: int) -> Circuit:
    """The last state h_T of h_t = relu(h_(t-1) W + z_t A), h_0 = 0, unrolled over T tokens.

    Inputs are the tokens z_1, ..., z_T of width d, then W (m, m), then A (d, m); m outputs.

    Raises:
        ValueError: for a size below 1.
    """
    if min(T, d, m) < 1:
        raise ValueError(f"All sizes must be at least 1, but T, d, m = {T}, {d}, {m}.")
    wires = _Wires(T * d + m * m + d * m)
    W, A = _matrix(T * d, m, m), _matrix(T * d + m * m, d, m)
    state: list[int] = []
    for t in range(T):
        token = list(range(t * d, (t + 1) * d))
        sums = [wires.dot(token, column) for column in A]
        if state:
            sums = [wires.append("+", a, wires.dot(state, column)) for a, column in zip(sums, W, strict=True)]
        state = [wires.append("relu", a) for a in sums]
    return Circuit(wires.inputs, tuple(wires.gates), tuple(state))
