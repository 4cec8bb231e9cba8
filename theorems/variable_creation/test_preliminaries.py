"""Chapter 3: classifiers, circuits and their gradients, one gate for all functions, losses and descent.

The general statements are proved in proofs/preliminaries.md and proofs/training.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import floor, prod
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, fmpq
from sympy import QQ
from sympy.polys.rings import ring

from lemmata.constructions.circuits.architectures import attention_circuit, recurrent_circuit
from lemmata.constructions.circuits.arithmetic import Circuit, Gate, gradient, two_layer_mlp, universal_circuit
from lemmata.constructions.circuits.training import Batch, chunks, descend, epochs, mean_gradient, mean_loss
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.classification import accuracy, discretize, encode
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.recurrent import RecurrentLayer, elman_cell
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.losses import LOSSES, PRINTED_CORRELATION
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


def rationals(rng: np.random.Generator, n: int) -> list[Fraction]:
    return [Fraction(int(a), int(b)) for a, b in zip(rng.integers(-9, 10, n), rng.integers(1, 8, n), strict=True)]


# ---- definition 3.0


@check(
    "variable-creation:definition-3.0",
    grade="exact",
    target="printed",
    cases="the first bit for the majority of three, bits of probability p = 1/2, 1/3, 9/10; random labels of 16, "
    "60 draws; samples of size 1, 2, 3 from 4 points, all of them",
)
@proof_steps("preliminaries.md: 1")
def test_accuracies_are_probabilities_and_samples_estimate_them():
    """acc + err = 1, closed forms, and the mean of the accuracy on fresh samples, over all samples."""
    for p in (Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)):
        points = list(product((0, 1), repeat=3))
        law = [p ** sum(x) * (1 - p) ** (3 - sum(x)) for x in points]
        right, wrong = accuracy([x[0] for x in points], [int(sum(x) >= 2) for x in points], law)
        assert wrong == p * (1 - p) ** 2 + (1 - p) * p**2 == 1 - right
    for seed in range(60):
        rng = np.random.default_rng([30, seed])
        y, h, masses = rng.integers(0, 3, 16), rng.integers(0, 3, 16), [int(x) for x in rng.integers(0, 9, 16)]
        law = [Fraction(x, sum(masses)) for x in masses]
        right, wrong = accuracy(h, y, law)
        assert right == sum((x for x, a, b in zip(law, h, y, strict=True) if a == b), Fraction(0))
        assert right + wrong == 1
    law, y, h = [Fraction(k, 10) for k in (1, 2, 3, 4)], [0, 1, 1, 0], [0, 1, 0, 1]
    for m in (1, 2, 3):
        mean = Fraction(0)
        for sample in product(range(4), repeat=m):
            found, _ = accuracy([h[i] for i in sample], [y[i] for i in sample], [Fraction(1, m)] * m)
            mean += found * prod((law[i] for i in sample), start=Fraction(1))
        assert mean == accuracy(h, y, law)[0] == Fraction(3, 10)


# ---- definition 3.1a


def reordered(circuit: Circuit, rng: np.random.Generator) -> Circuit:
    """The same circuit with its gates in another topological order, a random one."""
    first, waiting = circuit.first_gate, set(range(circuit.size))
    place = {node: node for node in range(first)}
    gates: list[Gate] = []
    while waiting:
        ready = [i for i in sorted(waiting) if all(node in place for node in circuit.gates[i].operands)]
        chosen = int(rng.choice(ready))
        waiting.remove(chosen)
        gate = circuit.gates[chosen]
        place[first + chosen] = first + len(gates)
        gates.append(Gate(gate.operation, tuple(place[node] for node in gate.operands)))
    return Circuit(circuit.inputs, tuple(gates), tuple(place[node] for node in circuit.outputs), circuit.constants)


@check(
    "variable-creation:definition-3.1a",
    grade="enclosed",
    target="printed",
    cases="softmax attention with T = 1, ..., 4, d = 1, 2, 3, k = e = 1, 2, 12 random rational choices, in balls",
)
@proof_steps("preliminaries.md: 2")
@pytest.mark.parametrize("seed", range(12))
def test_attention_is_a_circuit_of_sums_products_exponentials_and_one_inverse(seed):
    """Against the head of the library; its gradient against differences of the head, and at most 4 times its gates."""
    T, d, k = 1 + seed % 4, 1 + seed % 3, 1 + seed % 2
    circuit, rng = attention_circuit(T, d, k, k), np.random.default_rng([311, seed])
    assert circuit.inputs == T * d + 3 * d * k
    assert circuit.counts()["exp"] == T
    assert circuit.counts()["inverse"] == 1
    assert set(circuit.counts()) <= {"+", "*", "exp", "inverse"}
    Z, W_Q, W_K, W_V = (as_exact(rng.integers(-4, 5, shape)) / 4 for shape in ((T, d), (d, k), (d, k), (d, k)))
    with precision(256):

        def head(tokens: Any) -> Any:
            attend = Head(Affine(W_Q), Affine(W_K), Affine(W_V), causal=False).map(as_balls)
            return attend(as_balls(tokens)[-1:], memory=as_balls(tokens))[0]

        weights = [*W_Q.ravel(), *W_K.ravel(), *W_V.ravel()]
        found = circuit(as_balls([*Z.ravel(), *weights]).tolist())
        assert all(abs(a - b) < arb("1e-60") for a, b in zip(found, head(Z), strict=True))
        again = reordered(circuit, rng)
        assert again.gates != circuit.gates or circuit.size < 6
        values = again(as_balls([*Z.ravel(), *weights]).tolist())
        assert all(abs(a - b) < arb("1e-60") for a, b in zip(found, values, strict=True))
        first = Circuit(circuit.inputs, circuit.gates, circuit.outputs[:1])
        backward = gradient(first)
        assert backward.size <= 4 * first.size
        partials, h = backward(as_balls([*Z.ravel(), *weights]).tolist()), fmpq(1, 10**15)
        for t, i in product(range(T), range(d)):
            step = as_exact(np.zeros((T, d), dtype=int))
            step[t, i] = h
            slope = (head(Z + step)[0] - head(Z - step)[0]) / (2 * h)
            assert abs(partials[t * d + i] - slope) < arb("1e-25")


@check(
    "variable-creation:definition-3.1a",
    grade="exact",
    target="printed",
    cases="recurrent networks over T = 1, ..., 5 tokens, d = 1, 2, m = 1, 2, 3, 12 random choices; random orders",
)
@proof_steps("preliminaries.md: 2")
@pytest.mark.parametrize("seed", range(12))
def test_recurrent_networks_are_circuits_once_they_are_unrolled(seed):
    """Against the recurrent layer of the library, and h_t = relu(h_(t-1) W + z_t A) written out."""
    T, d, m = 1 + seed % 5, 1 + seed % 2, 1 + seed % 3
    circuit, rng = recurrent_circuit(T, d, m), np.random.default_rng([312, seed])
    Z, W, A = (as_exact(rng.integers(-3, 6, shape)) / 3 for shape in ((T, d), (m, m), (d, m)))
    inputs = [*Z.ravel(), *W.ravel(), *A.ravel()]
    assert circuit.inputs == len(inputs)
    assert set(circuit.counts()) <= {"+", "*", "relu"}
    state = as_exact(np.zeros(m, dtype=int))
    for z in Z:
        sums = [sum((h * W[i, j] for i, h in enumerate(state)), fmpq(0)) + sum(z * A[:, j]) for j in range(m)]
        state = as_exact([a if a > 0 else fmpq(0) for a in sums])
    assert list(circuit(inputs)) == state.tolist() == list(reordered(circuit, rng)(inputs))
    assert RecurrentLayer(elman_cell(W, A))(Z)[-1].tolist() == state.tolist()


# ---- remark 3.1b


@check(
    "variable-creation:remark-3.1b",
    grade="exact",
    target="printed",
    cases="all 2^(2^d) functions of d = 0, 1, 2, 3 bits; 100 random functions of 4, 5 and 6 bits each",
)
@proof_steps("preliminaries.md: 3")
def test_one_gate_and_one_parameter_compute_all_functions_of_bits():
    """The truth table is the parameter; the gate "table" is one function of one number, for all d."""
    rng = np.random.default_rng(31)
    for d in range(7):
        circuit, points = universal_circuit(d), list(product((0, 1), repeat=d))
        assert circuit.counts()["table"] == 1
        assert set(circuit.counts()) <= {"+", "*", "double", "table"}
        assert circuit.inputs == d + 1
        size = 2**d
        tables = range(2**size) if d < 4 else [int.from_bytes(rng.bytes(size // 8), "big") for _ in range(100)]
        found = set()
        for theta in tables:
            values = tuple(circuit([theta, *x])[0] for x in points)
            assert values == tuple(theta >> sum(bit << i for i, bit in enumerate(x)) & 1 for x in points)
            found.add(values)
        assert len(found) == (2**size if d < 4 else len(set(tables)))


def _squash(x: Fraction) -> Fraction:
    return x / (1 + abs(x))


def _spread(x: Fraction, place: int, inputs: int, count: int = 12) -> Fraction:
    """Binary digit i of (1 + squash(x))/2 as digit number i * inputs + place in base 3: a unary gate."""
    rest, total = (1 + _squash(x)) / 2, Fraction(0)
    for i in range(count):
        rest *= 2
        total += Fraction(floor(rest), 3 ** (i * inputs + place + 1))
        rest -= floor(rest)
    return total


@check("variable-creation:remark-3.1b", grade="exact", target="printed", supporting=True)
@proof_steps("preliminaries.md: 4")
def test_codes_of_several_inputs_determine_them():
    """Inputs with (1 + squash(x))/2 = n/64: sums of the gates are below 1/2, and half a digit apart."""
    points = [Fraction(n, 64) for n in range(1, 64, 3)]
    inputs = [(2 * y - 1) / (1 - abs(2 * y - 1)) for y in points]
    codes = sorted(_spread(a, 0, 2) + _spread(b, 1, 2) for a, b in product(inputs, repeat=2))
    assert len(set(codes)) == len(codes) == len(inputs) ** 2
    assert codes[-1] < Fraction(1, 2)
    assert min(b - a for a, b in pairwise(codes)) > Fraction(1, 2 * 3**12)


# ---- fact 3.1c


OPERATIONS = ("+", "*", "square")


def all_circuits(inputs: int, size: int) -> Iterator[Circuit]:
    """Every circuit with this number of gates of which the last one is the output."""
    choices = [
        [Gate(op, pair) for op in "+*" for pair in combinations_with_replacement(range(inputs + i), 2)]
        + [Gate("square", (operand,)) for operand in range(inputs + i)]
        for i in range(size)
    ]
    for gates in product(*choices):
        yield Circuit(inputs, gates, (inputs + size - 1,))


def random_circuit(rng: np.random.Generator, inputs: int, size: int, products: int) -> Circuit:
    """A circuit in which few gates multiply, to bound the degree, with constants -2 and 3."""
    gates: list[Gate] = []
    for i in range(size):
        nodes, spent = inputs + 2 + i, sum(gate.operation != "+" for gate in gates)
        operation = OPERATIONS[rng.integers(3)] if spent < products else "+"
        recent, other = max(0, nodes - int(rng.geometric(0.5))), int(rng.integers(nodes))
        gates.append(Gate(operation, (recent,) if operation == "square" else (recent, other)))
    return Circuit(inputs, tuple(gates), (inputs + 1 + size,), constants=(-2, 3))


def gates_added(circuit: Circuit) -> int:
    """By the proof, for circuits without constants."""
    counts, inputs = circuit.counts(), len([i for i in circuit.live() if i < circuit.inputs])
    return 3 * counts["*"] + counts["+"] + 2 * counts["square"] + 1 - inputs


def has_its_derivatives(circuit: Circuit) -> bool:
    polynomials, *variables = ring([f"x{i}" for i in range(circuit.inputs)], QQ)
    (value,) = circuit(variables)
    partials = gradient(circuit)(variables)
    return all(polynomials(value).diff(x) == polynomials(p) for x, p in zip(variables, partials, strict=True))


@check(
    "variable-creation:fact-3.1c",
    grade="exact",
    target="printed",
    cases="all circuits of sums, products and squares with 2 inputs and 1 or 2 gates (full effort: 3); 40 random ones "
    "with 4 inputs, 2 constants, 30 gates, as polynomials over the rationals; products of up to 200 inputs",
)
@proof_steps("preliminaries.md: 5")
def test_gradients_cost_at_most_four_times_the_circuit(effort):
    for size in range(1, effort.pick(quick=2, full=3) + 1):
        for circuit in all_circuits(2, size):
            assert gradient(circuit).size - circuit.size == gates_added(circuit) <= 3 * circuit.size
            assert has_its_derivatives(circuit)
    for seed in range(40):
        circuit = random_circuit(np.random.default_rng([31, seed]), 4, 30, 4)
        live = sum(circuit.counts().values())
        assert live > 5
        assert gradient(circuit).size <= circuit.size + 3 * live <= 4 * circuit.size < 5 * circuit.size
        assert has_its_derivatives(circuit)
    for n in (2, 20, 200):
        chain = Circuit(
            n, tuple(Gate("*", (0 if i == n else i - 1, i - n + 1)) for i in range(n, 2 * n - 1)), (2 * n - 2,)
        )
        assert gradient(chain).size - chain.size == 2 * n - 2
        x = [Fraction(i + 2, 3) for i in range(n)]
        assert list(gradient(chain)(x)) == [chain(x)[0] / entry for entry in x]
    power = Circuit(1, tuple(Gate("*", (i, 0)) for i in range(30)), (30,))
    assert gradient(power).size == 4 * power.size
    unused = Circuit(2, (Gate("*", (0, 1)), Gate("*", (2, 0))), (1,))  # the output is an input, and no gate is live
    assert gradient(unused).size - unused.size == sum(unused.counts().values()) == 0


# ---- definition 3.1d


@check(
    "variable-creation:definition-3.1d",
    grade="exact",
    target="printed",
    cases="(d_in, d_hidden) = (1, 1), (2, 3), (5, 2), (4, 8), 10 random rational choices each; linear for all numbers, "
    "without sigma, at (2, 3)",
)
@proof_steps("preliminaries.md: 2, 6")
@pytest.mark.parametrize(("d_in", "d_hidden"), [(1, 1), (2, 3), (5, 2), (4, 8)])
def test_two_layer_perceptrons_as_circuits_and_as_layers(d_in, d_hidden):
    """u sigma(W x) entry by entry; the number of parameters; scaling of rows; the layers of the library agree."""
    circuit = two_layer_mlp(d_in, d_hidden)
    assert circuit.inputs == d_in + d_hidden + d_hidden * d_in
    bent = 0
    for seed in range(10):
        rng = np.random.default_rng([d_in, d_hidden, seed])
        x, u, W = rationals(rng, d_in), rationals(rng, d_hidden), [rationals(rng, d_in) for _ in range(d_hidden)]

        def value(x: Sequence[Fraction], u: Sequence[Fraction], W: Sequence[Sequence[Fraction]]) -> Any:
            return circuit([*x, *u, *(w for row in W for w in row)])[0]

        neurons = [max(sum((w * a for w, a in zip(row, x, strict=True)), Fraction(0)), Fraction(0)) for row in W]
        expected = sum((a * b for a, b in zip(u, neurons, strict=True)), Fraction(0))
        assert value(x, u, W) == expected
        layers = FeedForward((Affine(as_exact(W).T), Affine(as_exact(u)[:, None])), activations=("relu", "identity"))
        point = as_exact([x])
        assert layers(point)[0, 0] == as_exact([expected])[0]
        assert layers.hidden(point)[0][0].tolist() == as_exact(neurons).tolist()
        c = Fraction(seed + 1, 3)
        assert value(x, u, [[c * w for w in row] for row in W]) == c * expected
        assert value(x, [a / c for a in u], [[c * w for w in row] for row in W]) == expected
        assert value([Fraction(0)] * d_in, u, W) == 0
        bent += value(x, u, W) + value([-a for a in x], u, W) != 0
    assert bent > 3
    if (d_in, d_hidden) == (2, 3):
        linear = two_layer_mlp(d_in, d_hidden, activation=None)
        theta, x, y, s = sp.symbols("t:9"), sp.symbols("x:2"), sp.symbols("y:2"), sp.Symbol("s")
        together = linear([s * a + b for a, b in zip(x, y, strict=True)] + list(theta))[0]
        assert sp.expand(together - s * linear([*x, *theta])[0] - linear([*y, *theta])[0]) == 0


# ---- definition 3.2


@check(
    "variable-creation:definition-3.2",
    grade="exact",
    target="corrected",
    cases="all words for (|S|, d) = (2, 6), (3, 4), (5, 3); classifiers: the parity of two bits, sums of "
    "two digits modulo 3 by a table",
)
@proof_steps("preliminaries.md: 7")
def test_codes_of_words_and_labels_of_outputs():
    """Codes as the definition says, symbol by symbol; |code|^2 = d; classifiers of two and of three labels."""
    for size, d in ((2, 6), (3, 4), (5, 3)):
        words = list(product(range(size), repeat=d))
        codes = encode(words, size)
        assert codes.shape == (len(words), d if size == 2 else d * size)
        for word, code in zip(words, codes.tolist(), strict=True):
            blocks = [[-1, 1][s : s + 1] if size == 2 else [int(j == s) for j in range(size)] for s in word]
            assert code == [entry for block in blocks for entry in block]
            assert sum(entry * entry for entry in code) == d
        if size > 2:
            assert discretize(codes.reshape(len(words), d, size), size).tolist() == [list(word) for word in words]
        else:
            assert discretize(codes[:, :, None], 2).tolist() == [list(word) for word in words]
    W = as_exact([[1, -1, 1, -1], [1, -1, -1, 1]])
    xor = FeedForward((Affine(W), Affine(as_exact([[-1], [-1], [1], [1]]))), activations=("relu", "identity"))
    pairs = list(product((0, 1), repeat=2))
    assert discretize(xor(as_exact(encode(pairs, 2))), 2).tolist() == [a ^ b for a, b in pairs]
    products = [[int((a + b) % 3 == c) for c in range(3)] for a, b in product(range(3), repeat=2)]
    assert discretize(products, 3).tolist() == [(a + b) % 3 for a, b in product(range(3), repeat=2)]
    assert discretize(as_exact([["1/3", "1/2", -5]]), 3).tolist() == [1]
    assert discretize(as_exact([Fraction(-1, 10**30)]), 2) == 0


@counterexample("variable-creation:definition-3.2", grade="exact")
@proof_steps("preliminaries.md: 7")
def test_ties_have_no_label(record: Record):
    """The network 0 has sign 0, which is none of the two labels, and two largest outputs of three: both are refused."""
    zero = FeedForward((Affine(as_exact([[0, 0, 0]])),), activations=("identity",))
    outputs = zero(as_exact(encode([[1]], 2)))
    assert sp.sign(0) not in (-1, 1)
    largest = sum(int(x == max(outputs[0].tolist())) for x in outputs[0].tolist())
    record.hypothesis("two labels take d_out = 1", outputs[:, :1].shape[1], "=", 1)
    record.violated("sign f is one of the two labels, of size 1", abs(int(sp.sign(0))), "=", 1)
    record.hypothesis("three labels take d_out = 3", outputs.shape[1], "=", 3)
    record.violated("argmax f is one label", largest, "=", 1)
    assert [i for i, x in enumerate(outputs[0].tolist()) if x == max(outputs[0].tolist())] == [0, 1, 2]
    with pytest.raises(ValueError, match="no label"):
        discretize(outputs[:, :1], 2)
    with pytest.raises(ValueError, match="no label"):
        discretize(outputs, 3)
    for tied, labels in (([0.0], 2), ([0.5, 0.5, -1.0], 3), ([-1.0, 0.5, 0.5], 3)):
        with pytest.raises(ValueError, match="no label"):
            discretize([tied], labels)


# ---- definition 3.3a


MARGINS = [Fraction(n, 4) for n in range(-16, 17)]


@check(
    "variable-creation:definition-3.3a",
    grade="enclosed",
    target="corrected",
    cases="y = 1, -1 and f = -4, -15/4, ..., 4; derivatives there, of the hinge loss off its kink",
)
@proof_steps("training.md: 1")
@pytest.mark.parametrize("y", [1, -1])
def test_losses_and_their_slopes(y):
    """Each by its formula; slopes by differences, which are exact for quadratics and pieces of lines."""
    h = Fraction(1, 64)
    with precision(128):
        for f in MARGINS:
            ball = arb(fmpq(f.numerator, f.denominator))
            power = (y * ball).exp()
            assert abs(LOSSES["cross_entropy"].value(y, ball) + (power / (1 + power)).log()) < arb("1e-30")
            assert abs(LOSSES["cross_entropy"].slope(y, ball) + y / (1 + power)) < arb("1e-30")
            expected = {"square": (y - f) ** 2, "hinge": max(Fraction(0), 1 - y * f), "correlation": -y * f}
            for name, value in expected.items():
                loss = LOSSES[name]
                assert loss.value(y, f) == value
                if name != "hinge" or y * f != 1:
                    assert loss.slope(y, f) == (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
            wrong = int(y * f <= 0)
            assert LOSSES["hinge"].value(y, f) >= wrong
            assert LOSSES["square"].value(y, f) == 1 + 2 * LOSSES["correlation"].value(y, f) + f * f >= wrong
            assert LOSSES["cross_entropy"].value(y, ball) / arb(2).log() >= wrong - arb("1e-30")


PARAMETER = Circuit(1, (), (0,))
"""The network f = theta."""
LINE = Circuit(2, (Gate("*", (0, 1)),), (2,))
"""The network f(x) = theta x."""
COPY: Batch = [([Fraction(x)], x, Fraction(1, 2)) for x in (1, -1)]
"""The label of x = 1, -1 is x."""


def errors(theta: Fraction) -> Fraction:
    """The population error of the sign of theta x on `COPY`."""
    outputs = [[LINE([*x, theta])[0]] for x, _, _ in COPY]
    return accuracy(2 * discretize(outputs, 2) - 1, [y for _, y, _ in COPY], [w for _, _, w in COPY])[1]


@counterexample("variable-creation:definition-3.3a", grade="exact")
@proof_steps("training.md: 2")
@pytest.mark.parametrize("y", [1, -1])
def test_the_printed_correlation_loss_leads_away(record: Record, y):
    """f = theta: the first step of descent on +y f takes theta to -y eta, and so on; the error of theta x becomes 1."""
    if y > 0:
        (step,) = descend(PARAMETER, [Fraction(0)], [[([], y, Fraction(1))]], [Fraction(1, 3)], PRINTED_CORRELATION)[-1]
        record.hypothesis("the label is 1 or -1", abs(y), "=", 1)
        record.violated("a step of descent on y f takes f = theta towards y", y * step, ">", 0)
    for steps in (1, 7):
        batch: Batch = [([], y, Fraction(1))]
        path = descend(PARAMETER, [Fraction(0)], [batch] * steps, [Fraction(1, 3)] * steps, PRINTED_CORRELATION)
        assert path[-1] == [Fraction(-y * steps, 3)]
        path = descend(LINE, [Fraction(0)], [COPY] * steps, [Fraction(1, 3)] * steps, PRINTED_CORRELATION)
        assert errors(path[-1][0]) == 1


@check(
    "variable-creation:definition-3.3a",
    grade="enclosed",
    target="corrected",
    cases="f = theta with y = 1, -1, and f(x) = theta x with the label x; 7 steps of descent from 0, logistic loss on "
    "the first in balls, the others on both exactly",
)
@proof_steps("training.md: 2")
@pytest.mark.parametrize("y", [1, -1])
def test_descent_on_every_loss_leads_to_the_label(y):
    rates = [Fraction(1, 8)] * 7
    for name in ("square", "hinge", "correlation"):
        batch: Batch = [([], y, Fraction(1))]
        path = descend(PARAMETER, [Fraction(0)], [batch] * 7, rates, LOSSES[name])
        assert all(y * (b[0] - a[0]) > 0 for a, b in pairwise(path))
        path = descend(LINE, [Fraction(0)], [COPY] * 7, rates, LOSSES[name])
        assert errors(path[-1][0]) == 0
        losses = [mean_loss(LINE, theta, COPY, LOSSES[name]) for theta in path]
        assert losses == [LOSSES[name].value(1, theta) for (theta,) in path]
        assert all(b < a for a, b in pairwise(losses))
    with precision(64):
        batch = [([], y, arb(1))]
        path = descend(PARAMETER, [arb(0)], [batch] * 7, [arb(1) / 8] * 7, LOSSES["cross_entropy"])
        assert all(y * (b[0] - a[0]) > 0 for a, b in pairwise(path))
    corrected = descend(
        PARAMETER, [Fraction(0)], [[([], y, Fraction(1))]] * 3, [Fraction(1, 3)] * 3, LOSSES["correlation"]
    )
    assert corrected[-1] == [Fraction(y)]


# ---- definition 3.3b


MLP = two_layer_mlp(2, 2)
LAW: Batch = [
    ([Fraction(1), Fraction(2)], 1, Fraction(1, 2)),
    ([Fraction(-3), Fraction(1)], -1, Fraction(1, 3)),
    ([Fraction(2), Fraction(-1)], 1, Fraction(1, 6)),
]
START = [Fraction(n, 7) for n in (3, -2, 5, 1, -4, 6)]
"""u_1, u_2 and the rows of W: no neuron is at its kink on an example."""


def backpropagated(theta: Sequence[Fraction], batch: Batch) -> list[Fraction]:
    """The gradient of the mean square loss of the perceptron by (u, W), written out."""
    u, W = theta[:2], [theta[2:4], theta[4:6]]
    total = [Fraction(0)] * 6
    for x, y, weight in batch:
        z = [row[0] * x[0] + row[1] * x[1] for row in W]
        slope = 2 * weight * (sum(a * max(b, Fraction(0)) for a, b in zip(u, z, strict=True)) - y)
        for i in range(2):
            total[i] += slope * max(z[i], Fraction(0))
            for j in range(2):
                total[2 + 2 * i + j] += slope * u[i] * x[j] * (z[i] > 0)
    return total


def shared(size: int) -> Fraction:
    return Fraction(1, size)


@check(
    "variable-creation:definition-3.3b",
    grade="exact",
    target="corrected",
    cases="a perceptron with 2 inputs and 2 neurons on 3 examples of different probabilities: square loss against the "
    "gradient written out, batches of 1, 2, 3, all of them; square, hinge and correlation loss",
)
@proof_steps("training.md: 3")
def test_batch_gradients_are_unbiased():
    """The mean over all |X|^B batches, with their probabilities, is the population gradient."""
    assert mean_gradient(MLP, START, LAW, LOSSES["square"]) == backpropagated(START, LAW)
    for name in ("square", "hinge", "correlation"):
        population = mean_gradient(MLP, START, LAW, LOSSES[name])
        assert any(population)
        for B in (1, 2, 3):
            mean = [Fraction(0)] * 6
            seen = set()
            for drawn in product(LAW, repeat=B):
                probability = Fraction(1)
                for _, _, p in drawn:
                    probability *= p
                found = mean_gradient(MLP, START, [(x, y, shared(B)) for x, y, _ in drawn], LOSSES[name])
                mean = [a + probability * b for a, b in zip(mean, found, strict=True)]
                seen.add(tuple(found))
            assert mean == population
            assert len(seen) > 1


@check(
    "variable-creation:definition-3.3b",
    grade="exact",
    target="corrected",
    cases="the same perceptron: 3 steps with 3 rates, of the population, chunks of 6 examples and the whole sample; "
    "with the penalty |theta|^2/2",
)
@proof_steps("training.md: 4")
def test_iterates_of_descent():
    """theta_(t+1) = theta_t - eta_t gradient, t = 0, 1, 2, step by step with the gradient written out."""
    rates = [Fraction(1, 9), Fraction(1, 50), Fraction(2, 11)]
    sample = [LAW[i][:2] for i in (0, 1, 1, 2, 0, 2)]
    whole: Batch = [(x, y, shared(6)) for x, y in sample]
    online = chunks(sample, 2, shared)
    assert online == [[(x, y, Fraction(1, 2)) for x, y in sample[i : i + 2]] for i in (0, 2, 4)]
    for batches in ([LAW] * 3, online, [whole] * 3):
        for penalty in (None, lambda theta: theta):
            path = descend(MLP, START, batches, rates, LOSSES["square"], penalty)
            theta = START
            assert path[0] == START
            assert len(path) == 4
            for t in range(3):
                step = backpropagated(theta, batches[t])
                step = step if penalty is None else [a + b for a, b in zip(step, theta, strict=True)]
                theta = [a - rates[t] * b for a, b in zip(theta, step, strict=True)]
                assert path[t + 1] == theta
    order = [5, 0, 3, 1, 4, 2]
    offline = epochs(sample, 3, [range(6), order], shared)
    assert offline == chunks(sample, 3, shared) + chunks([sample[i] for i in order], 3, shared)


@check(
    "variable-creation:definition-3.3b",
    grade="numeric",
    target="corrected",
    supporting=True,
    cases="the same perceptron, logistic loss, 20 steps in float64",
)
@proof_steps("training.md: 4")
def test_iterates_are_those_of_torch():
    floats: Batch = [([float(a) for a in x], float(y), float(p)) for x, y, p in LAW]
    path = descend(MLP, [float(a) for a in START], [floats] * 20, [0.05] * 20, LOSSES["cross_entropy"])
    parameters = torch.tensor([float(a) for a in START], dtype=torch.float64, requires_grad=True)
    x, y, p = (torch.tensor(part, dtype=torch.float64) for part in zip(*floats, strict=True))
    optimiser = torch.optim.SGD([parameters], lr=0.05)
    for _ in range(20):
        optimiser.zero_grad()
        outputs = torch.relu(x @ parameters[2:].reshape(2, 2).T) @ parameters[:2]
        (p * torch.nn.functional.softplus(-y * outputs)).sum().backward()
        optimiser.step()
    # 20 steps of some 50 roundings each of numbers of a few units, and no neuron near its kink
    assert np.abs(parameters.detach().numpy() - np.array(path[-1])).max() < 1e-12
    assert np.abs(np.array(path[-1]) - np.array(path[0])).max() > 0.1


@check(
    "variable-creation:definition-3.3b",
    grade="exact",
    target="corrected",
    cases="samples of size 4 from 3 examples, cut into two batches of 2: all 81; all orders of 4 examples",
)
@proof_steps("training.md: 5")
def test_one_pass_is_online_and_a_second_pass_is_not():
    """Batches of one pass over an i.i.d. sample have the law of fresh draws; those of a shuffled sample do not."""
    names = {id(x): i for i, (x, _, _) in enumerate(LAW)}
    cut: defaultdict[Any, Fraction] = defaultdict(Fraction)
    fresh: defaultdict[Any, Fraction] = defaultdict(Fraction)

    def numbers(batches: Sequence[Batch]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(names[id(x)] for x, _, _ in batch) for batch in batches)

    for drawn in product(range(3), repeat=4):
        cut[numbers(chunks([LAW[i][:2] for i in drawn], 2, shared))] += prod(
            (LAW[i][2] for i in drawn), start=Fraction(1)
        )
    pairs = [((i, j), LAW[i][2] * LAW[j][2]) for i, j in product(range(3), repeat=2)]
    for (a, p), (b, q) in product(pairs, repeat=2):
        fresh[a, b] += p * q
    assert cut == fresh
    sample = [LAW[i][:2] for i in (0, 0, 1, 2)]
    shuffled: defaultdict[Any, Fraction] = defaultdict(Fraction)
    for order in permutations(range(4)):
        shuffled[numbers(epochs(sample, 2, [order], shared))] += Fraction(1, 24)
    both = shuffled[(1, 2), (1, 2)]
    alone = sum(p for (a, _), p in shuffled.items() if a == (1, 2))
    assert both == 0 < alone


@counterexample("variable-creation:definition-3.3b", grade="exact")
@proof_steps("training.md: 4")
def test_the_printed_schedule_has_no_first_rate(record: Record):
    """Rates eta_1, ..., eta_T for updates t = 0, 1, ...: the first update asks for eta_0, and eta_T is never used."""
    T = 3
    printed = {t: Fraction(1, t + 1) for t in range(1, T + 1)}
    updates = range(T)
    assert [t for t in updates if t not in printed] == [0]
    assert [t for t in printed if t not in updates] == [T]
    record.hypothesis("there are as many updates as rates", len(updates), "=", len(printed))
    record.violated("each update t has the rate eta_t", sum(int(t in printed) for t in updates), "=", T)
    with pytest.raises(ValueError, match="one rate for each batch"):
        descend(MLP, START, [LAW] * T, [printed[t] for t in updates if t in printed], LOSSES["square"])
