"""Section 3.1: networks as circuits, and gradients at a constant factor of the cost (Baur and Strassen, a footnote).

`lemmata.constructions.circuits.arithmetic` derives the number of gates that the gradient adds: 3 M + A + 2 U + 1 - n
for a circuit without constants with M products, A sums, U unary gates and n inputs that the output depends on. Since n
>= 1, value and gradient together cost at most 4 times the circuit. The proof of the count is an induction over gates;
here the circuits of the gradients are built and counted, and their values compared with the derivatives of polynomials:
for every circuit with two inputs and at most three gates (full: four), and for random larger ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import sympy as sp
from sympy import ZZ
from sympy.polys.rings import ring

from lemmata.constructions.circuits.arithmetic import Circuit, Gate, gradient, two_layer_mlp
from lemmata.theorems.evidence import check, proof_steps

OPERATIONS = ("+", "*", "square")


def added(circuit: Circuit) -> int:
    """Return the number of gates that the gradient adds to the circuit, counted one by one."""
    return gradient(circuit).size - circuit.size


def predicted(circuit: Circuit) -> int:
    counts, inputs = circuit.counts(), len([i for i in circuit.live() if i < circuit.inputs])
    return 3 * counts["*"] + counts["+"] + 2 * counts["square"] + 1 - inputs


def all_circuits(inputs: int, size: int) -> Iterator[Circuit]:
    """Yield every circuit of sums, products and squares with this number of gates whose last gate is the output."""
    choices = [
        [Gate(op, pair) for op in "+*" for pair in combinations_with_replacement(range(inputs + i), 2)]
        + [Gate("square", (operand,)) for operand in range(inputs + i)]
        for i in range(size)
    ]
    for gates in product(*choices):
        yield Circuit(inputs, gates, (inputs + size - 1,))


def random_circuit(rng: np.random.Generator, inputs: int, size: int, multiplications: int) -> Circuit:
    """Return a circuit with at most so many products and squares (to bound the degree).

    The first operand of a gate is a recent node, so that most gates are live; the second is any node.
    """
    gates: list[Gate] = []
    spent = 0
    for i in range(inputs, inputs + size):
        operation = OPERATIONS[rng.integers(3)] if spent < multiplications else "+"
        spent += operation != "+"
        recent, other = max(0, i - int(rng.geometric(0.6))), int(rng.integers(i))
        gates.append(Gate(operation, (recent,) if operation == "square" else (recent, other)))
    return Circuit(inputs, tuple(gates), (inputs + size - 1,))


def agrees_with_polynomials(circuit: Circuit, derivative: Circuit) -> bool:
    """Say whether the outputs of ``derivative`` are the partial derivatives, as polynomials over the integers."""
    polynomials, *variables = ring([f"x{i}" for i in range(circuit.inputs)], ZZ)
    (value,) = circuit(variables)
    partials = derivative(variables)
    return all(polynomials(value).diff(x) == polynomials(p) for x, p in zip(variables, partials, strict=True))


@check(
    "induction-heads:claim-P.4",
    grade="exact",
    target="printed",
    cases="all circuits of sums, products and squares with two inputs, at most three gates (full effort: four)",
)
@proof_steps("circuits.md: 3, 4")
def test_gradients_of_all_small_circuits_cost_at_most_three_more_gates_per_gate(effort):
    seen = 0
    for size in range(1, effort.pick(quick=3, full=4) + 1):
        for circuit in all_circuits(2, size):
            extra = added(circuit)
            assert extra == predicted(circuit) <= 3 * circuit.size
            assert agrees_with_polynomials(circuit, gradient(circuit))
            seen += 1
    assert seen >= 8 + 8 * 15 + 8 * 15 * 24


@check("induction-heads:claim-P.4", grade="sampled", target="printed", supporting=True)
@proof_steps("circuits.md: 4")
@pytest.mark.parametrize("seed", range(8))
def test_gradients_of_random_circuits_with_unary_gates(seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        circuit = random_circuit(rng, inputs=4, size=25, multiplications=5)
        assert added(circuit) == predicted(circuit) <= 3 * circuit.size
        assert agrees_with_polynomials(circuit, gradient(circuit))
    large = random_circuit(rng, inputs=300, size=3000, multiplications=3000)
    assert min(large.counts().values()) > 500
    assert len(large.live() & set(range(300))) > 100
    assert added(large) == predicted(large) <= 3 * large.size


@check("induction-heads:claim-P.4", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 5")
@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_the_factor_does_not_grow_with_the_number_of_inputs(n):
    """A product of n variables: n - 1 gates, and 2 n - 2 more for all n derivatives; one by one they need (n - 2) n."""
    gates = tuple(Gate("*", (0 if i == n else i - 1, i - n + 1)) for i in range(n, 2 * n - 1))
    circuit = Circuit(n, gates, (2 * n - 2,))
    assert added(circuit) == 2 * n - 2
    x = [Fraction(i + 2, 3) for i in range(n)]
    (value,) = circuit(x)
    assert list(gradient(circuit)(x)) == [value / entry for entry in x]


@check("induction-heads:claim-P.4", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 4")
def test_the_factor_three_is_attained():
    """Repeated multiplication by one input."""
    power = Circuit(1, tuple(Gate("*", (i, 0)) for i in range(50)), (50,))
    assert power([Fraction(2)]) == (Fraction(2) ** 51,)
    assert gradient(power)([Fraction(2)]) == (51 * Fraction(2) ** 50,)
    assert added(power) == 3 * power.size


@check("induction-heads:claim-P.4", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 3")
def test_a_gradient_with_one_gate_changed_is_noticed():
    """The comparison with polynomials rejects the exchange of + and * in any gate that the gradient uses."""
    circuit = Circuit(2, (Gate("*", (0, 1)), Gate("*", (2, 2)), Gate("+", (2, 3))), (4,))
    derivative = gradient(circuit)
    assert agrees_with_polynomials(circuit, derivative)
    used = derivative.live()
    changed = 0
    for i, (operation, operands) in enumerate(derivative.gates):
        if derivative.first_gate + i not in used:
            continue
        gates = list(derivative.gates)
        gates[i] = Gate("*" if operation == "+" else "+", operands)
        wrong = Circuit(derivative.inputs, tuple(gates), derivative.outputs, derivative.constants)
        assert not agrees_with_polynomials(circuit, wrong)
        changed += 1
    assert changed >= 6


@check(
    "induction-heads:definition-P.2",
    grade="exact",
    target="printed",
    cases="(d_in, d_hidden) = (1, 1), (2, 3), (5, 2), (4, 16), one choice of the numbers each",
)
@check("induction-heads:claim-P.4", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 1, 5")
@pytest.mark.parametrize(("d_in", "d_hidden"), [(1, 1), (2, 3), (5, 2), (4, 16)])
def test_the_two_layer_network_is_a_circuit_with_the_stated_parameters(d_in, d_hidden):
    """Its value is u . sigma(W x), and its gradient by (u, W) is backpropagation, at no more than 4 times the gates."""
    circuit = two_layer_mlp(d_in, d_hidden)
    assert circuit.inputs - d_in == d_hidden + d_hidden * d_in
    x, u = 3 - 2 * np.arange(d_in), (np.arange(d_hidden) + 2) * (-1) ** np.arange(d_hidden)
    W = (7 * np.arange(d_hidden * d_in) + 4).reshape(d_hidden, d_in) % 11 - 5
    inputs = [Fraction(int(entry)) for entry in np.concatenate([x, u, W.ravel()])]
    active = W @ x > 0
    assert circuit(inputs) == (u @ np.maximum(W @ x, 0),)
    derivative = gradient(circuit)
    by_W = (u * active)[:, None] * x[None, :]
    assert list(derivative(inputs)) == [*((u * active) @ W), *np.maximum(W @ x, 0), *by_W.ravel()]
    assert derivative.size <= 4 * circuit.size


@check(
    "induction-heads:definition-P.2",
    grade="symbolic",
    target="printed",
    cases="(d_in, d_hidden) = (1, 1), (3, 2), (2, 4), all numbers",
)
@proof_steps("circuits.md: 2")
@pytest.mark.parametrize(("d_in", "d_hidden"), [(1, 1), (3, 2), (2, 4)])
def test_without_activation_the_network_is_linear_in_the_input(d_in, d_hidden):
    circuit = two_layer_mlp(d_in, d_hidden, activation=None)
    theta = sp.symbols(f"theta:{d_hidden + d_hidden * d_in}")
    x, y, (s,) = sp.symbols(f"x:{d_in}"), sp.symbols(f"y:{d_in}"), sp.symbols("s:1")
    (together,) = circuit([*(s * a + b for a, b in zip(x, y, strict=True)), *theta])
    (of_x,), (of_y,) = circuit([*x, *theta]), circuit([*y, *theta])
    assert sp.expand(together - s * of_x - of_y) == 0
    assert sp.expand(of_x) != 0


@check("induction-heads:definition-P.2", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 2")
def test_with_relu_the_network_is_not_linear():
    """The absolute value: u = (1, 1), W = (1, -1)."""
    circuit = two_layer_mlp(1, 2)
    values = {x: circuit([x, 1, 1, 1, -1])[0] for x in (-1, 0, 1)}
    assert values == {-1: 1, 0: 0, 1: 1}
    assert values[1] + values[-1] != values[0]
