"""Sections 3.1 to 3.3: a universal unary gate, classifiers from networks, losses, and unbiased mini-batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import floor, log, sqrt

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.circuits.arithmetic import Circuit, Gate
from lemmata.numerics.markov.minimal_gradient import chain_stationary_law, chain_tensor
from lemmata.numerics.markov.minimal_trajectory import linear_margin, trajectory
from lemmata.numerics.parity.polynet_sgd import train_polynet
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.induction_heads import sequence_gradients
from lemmata.theorems.records import Record

Function = Callable[[Fraction], Fraction]


# ---- the universal gate (footnote of section 3.1)


def _squash(x: Fraction) -> Fraction:
    """The unary gate x / (1 + |x|), an increasing bijection from Q onto (-1, 1)."""
    return x / (1 + abs(x))


def _stretch(y: Fraction) -> Fraction:
    """The inverse of `_squash` on (-1, 1)."""
    return y / (1 - abs(y))


def _universal_gate(functions: Callable[[int], Function]) -> Function:
    """One unary gate for the class {f_0, f_1, ...}: on (2n - 1, 2n + 1) it is f_n, squeezed into that interval."""

    def gate(z: Fraction) -> Fraction:
        n = floor((z + 1) / 2)
        return functions(n)(_stretch(z - 2 * n)) if n >= 0 and z != 2 * n - 1 else Fraction(0)

    return gate


def _polynomial(n: int) -> Function:
    """The polynomials of degree at most 5 with natural coefficients: exponents of the first six primes in n + 1."""
    coefficients = []
    for prime in (2, 3, 5, 7, 11, 13):
        exponent = 0
        while (n + 1) % prime ** (exponent + 1) == 0:
            exponent += 1
        coefficients.append(exponent)
    return lambda x: sum((c * x**i for i, c in enumerate(coefficients)), Fraction(0))


rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)


@given(st.integers(0, 10**4), rationals)
@check("induction-heads:claim-P.3", grade="sampled", target="printed", supporting=True)
@proof_steps("universal_gate.md: 2")
def test_one_gate_and_one_parameter_compute_every_function_of_the_class(n: int, x: Fraction) -> None:
    """The network gate(squash(x) + theta) with theta = 2n is f_n; only `gate` depends on the class."""
    gate = _universal_gate(_polynomial)
    assert gate(_squash(x) + 2 * n) == _polynomial(n)(x)


def _circuit(coefficients: Sequence[int]) -> Circuit:
    """The polynomial as a circuit of sums and products, by Horner's rule."""
    constants = tuple(reversed(coefficients))
    gates, last = [], 1
    for place in range(2, len(constants) + 1):
        gates += [Gate("*", (last, 0)), Gate("+", (len(constants) + len(gates) + 1, place))]
        last = len(constants) + len(gates)
    return Circuit(1, tuple(gates), (last,), constants)


@check("induction-heads:claim-P.3", grade="exact", target="printed", cases="364 polynomial circuits at 13 inputs each")
@proof_steps("universal_gate.md: 2")
def test_one_parameter_selects_any_of_countably_many_circuits() -> None:
    """The class of the circuits of all polynomials with natural coefficients: theta = 2n gives the values of f_n."""
    lists = [c for size in range(1, 7) for c in product(range(3), repeat=size) if size == 1 or c[-1]][:364]
    circuits = [_circuit(c) for c in lists]
    gate = _universal_gate(lambda n: lambda x: circuits[n]((x,))[0])
    for n, coefficients in enumerate(lists):
        for x in (Fraction(m, 5) for m in range(-6, 7)):
            value = sum((c * x**i for i, c in enumerate(coefficients)), Fraction(0))
            assert gate(_squash(x) + 2 * n) == value
    assert len({tuple(c) for c in lists}) == 364


@check("induction-heads:claim-P.3", grade="symbolic", target="printed", supporting=True)
@proof_steps("universal_gate.md: 1")
def test_squashed_inputs_stay_in_their_interval() -> None:
    """For every real x: |x/(1+|x|)| < 1, and x is recovered; so theta = 2n selects f_n, whatever the f_n are."""
    a, sign = sp.symbols("a", nonnegative=True), sp.symbols("epsilon")
    y = a / (1 + a)  # |y|; y has the sign of x
    assert sp.simplify(1 - y - 1 / (1 + a)) == 0
    assert sp.simplify(sign * y / (1 - y) - sign * a) == 0


@given(st.lists(st.integers(0, 2**20), min_size=3, max_size=3), st.integers(0, 40))
@check("induction-heads:claim-P.3", grade="sampled", target="printed", supporting=True)
@proof_steps("universal_gate.md: 5")
def test_several_discrete_inputs(x: list[int], n: int) -> None:
    """Inputs from N^3: unary gates spread the binary digits over disjoint places, and their sum encodes all inputs."""

    def spread(value: int, place: int) -> int:
        return sum(((value >> i) & 1) << (3 * i + place) for i in range(value.bit_length()))

    def gathered(code: int) -> tuple[int, ...]:
        return tuple(sum(((code >> (3 * i + p)) & 1) << i for i in range(code.bit_length())) for p in range(3))

    def member(m: int) -> Function:
        return lambda code: Fraction(np.dot(gathered(int(code)), (m % 3, m % 5, m**2)).item())

    code = Fraction(sum(spread(value, place) for place, value in enumerate(x)))
    assert _universal_gate(member)(_squash(code) + 2 * n) == x[0] * (n % 3) + x[1] * (n % 5) + x[2] * n**2


def _digits(x: Fraction, count: int) -> list[int]:
    """The first binary digits of x in [0, 1), greedily: the expansion that does not end in ones."""
    digits = []
    for _ in range(count):
        x *= 2
        digits.append(floor(x))
        x -= digits[-1]
    return digits


def _spread(x: Fraction, place: int, inputs: int, count: int = 16) -> Fraction:
    """A unary gate on the reals: binary digit i of (1 + squash(x))/2 becomes the digit i * inputs + place in base 3."""
    digits = _digits((1 + _squash(x)) / 2, count)
    return sum((Fraction(d, 3 ** (i * inputs + place + 1)) for i, d in enumerate(digits)), Fraction(0))


def _gathered(code: Fraction, inputs: int, count: int = 16) -> list[Fraction]:
    """The inputs, from the digits of their code in base 3."""
    values = [Fraction(0)] * inputs
    for n in range(inputs * count):
        code *= 3
        digit = floor(code)
        code -= digit
        values[n % inputs] += Fraction(digit, 2 ** (n // inputs + 1))
    return [_stretch(2 * y - 1) for y in values]


@check("induction-heads:claim-P.3", grade="symbolic", target="printed", supporting=True)
@proof_steps("universal_gate.md: 4")
def test_codes_of_several_real_inputs_are_different() -> None:
    """The code of x in R^m, a sum of m unary gates, is a number in [0, 1/2] with the digits 0 and 1 in base 3.

    Two such numbers with the first different digit at place q differ by at least 3^-q - sum_(n>q) 3^-n = 3^-q/2 > 0.
    So the code determines all digits, these determine (1 + squash(x_r))/2 in (0, 1), and squash is one to one: the map
    R^m -> R is injective. With psi its inverse on the image, the gate that is f_n(psi(z - 2n)) on [2n, 2n + 1/2] (and
    anything elsewhere) and theta = 2n compute f_n: R^m -> R, for every countable class {f_0, f_1, ...}.
    """
    n, q = sp.symbols("n q", integer=True, positive=True)
    tail = sp.summation(sp.Rational(1, 3) ** n, (n, q + 1, sp.oo))
    assert sp.simplify(sp.Rational(1, 3) ** q - tail - sp.Rational(1, 3) ** q / 2) == 0
    assert sp.summation(sp.Rational(1, 3) ** n, (n, 1, sp.oo)) == sp.Rational(1, 2)


@given(st.lists(st.tuples(*[st.integers(1, 2**16 - 1)] * 2), min_size=1, max_size=3))
@check("induction-heads:claim-P.3", grade="sampled", target="printed", supporting=True)
@proof_steps("universal_gate.md: 4")
def test_several_real_inputs_are_recovered_from_their_code(parts: list[tuple[int, int]]) -> None:
    """Inputs with (1 + squash(x))/2 = n/2^16: the sum of the gates gives all of them back, and differs with them."""
    codes, points = [], []
    for numerators in zip(*parts, strict=True):
        x = [_stretch(Fraction(2 * n, 2**16) - 1) for n in numerators]
        code = sum((_spread(value, place, len(x)) for place, value in enumerate(x)), Fraction(0))
        assert 0 <= code < Fraction(1, 2)
        assert _gathered(code, len(x)) == x
        codes.append(code)
        points.append(x)
    assert (codes[0] == codes[1]) == (points[0] == points[1])


@check("induction-heads:claim-P.3", grade="exact", target="printed", supporting=True)
@proof_steps("universal_gate.md: 2")
def test_intervals_that_overlap_are_noticed() -> None:
    """With theta = n instead of 2n the intervals overlap, and the gate computes another member of the class."""
    gate, x = _universal_gate(_polynomial), Fraction(3)
    assert gate(_squash(x) + 2 * 5) == _polynomial(5)(x)
    assert gate(_squash(x) + 5) != _polynomial(5)(x)


# ---- classifiers from networks


@check("induction-heads:definition-P.1", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize(("symbols", "d"), [(2, 5), (3, 4), (4, 3)])
def test_encoding_and_discretisation_round_trip(symbols: int, d: int) -> None:
    """encode: signs for two symbols, one-hot blocks otherwise; reading every coordinate back is the identity."""
    for x in product(range(symbols), repeat=d):
        if symbols == 2:
            code = np.array([2 * s - 1 for s in x])
            read = tuple(((np.sign(code) + 1) // 2).tolist())
        else:
            code = np.concatenate([np.eye(symbols, dtype=int)[s] for s in x])
            read = tuple(code.reshape(d, symbols).argmax(axis=1).tolist())
        assert len(code) == (d if symbols == 2 else d * symbols)
        assert read == x


# ---- losses and training


def _descend(slope: int, label: int, steps: int, rate: Fraction) -> Fraction:
    """Gradient descent from 0 on slope * y f for a network that is its parameter, f = theta."""
    theta = Fraction(0)
    for _ in range(steps):
        theta -= rate * slope * label
    return theta


@counterexample("induction-heads:definition-P.5", grade="exact")
@proof_steps("losses.md: 1")
@pytest.mark.parametrize("label", [1, -1])
def test_printed_correlation_loss_drives_the_output_away(label: int, record: Record) -> None:
    """l = y f: after any number of steps y f is negative, so that the sign of f is wrong."""
    if label > 0:
        rate = Fraction(1, 3)
        record.hypothesis("the label is 1 or -1", label**2, "=", 1)
        record.hypothesis("the step size is positive", rate, ">", 0)
        record.violated("steps on l = y f do not turn y f negative", label * _descend(1, label, 10, rate), ">=", 0)
    for steps in (1, 10):
        assert label * _descend(1, label, steps, Fraction(1, 3)) == -Fraction(steps, 3)


@check("induction-heads:definition-P.5", grade="exact", target="corrected", supporting=True)
@proof_steps("losses.md: 2")
@pytest.mark.parametrize("label", [1, -1])
def test_corrected_correlation_loss_agrees_with_the_label(label: int) -> None:
    assert label * _descend(-1, label, 10, Fraction(1, 3)) == Fraction(10, 3)


@check(
    "induction-heads:definition-P.5",
    grade="numeric",
    target="corrected",
    cases="SGD of the library on one weight with the corrected loss, T = 1, 10, batches of 1 and 3",
)
@proof_steps("losses.md: 2")
@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize("batch", [1, 3])
def test_training_with_the_corrected_correlation_loss_raises_the_agreement(steps: int, batch: int) -> None:
    """f(x) = w x_1 with the label x_1: the loss -y f = -w has the gradient -1, so that T steps of rate eta add T eta.

    At most 4 T roundings of numbers below 2; with the printed sign w would fall by as much.
    """
    eta = 1 / (2 * sqrt(2 * steps * log(2 * steps / 0.1)))
    run = train_polynet([[1.0]], steps, delta=0.1, seed=0, batch=batch)
    assert abs(run.weights[0, 0] - (1 + steps * eta)) < 8 * steps * 2.0**-52
    assert run.weights[0, 0] > 1


@check(
    "induction-heads:definition-P.5",
    grade="exact",
    target="corrected",
    cases="the minimal model, t = 3, one schedule of three",
)
@proof_steps("losses.md: 4")
def test_rates_of_a_descent_are_numbered_from_0_to_T_minus_1() -> None:
    """theta_(s+1) = theta_s - eta_s grad for s = 0, ..., T-1, without decay: T + 1 parameters from T rates.

    The gradient at each step is that of the margin loss over all sequences.
    """
    v, W = np.array([fmpq(j + 1, 3) for j in range(3)], dtype=object), np.array([[fmpq(1), fmpq(2)]] * 2, dtype=object)
    rates = [fmpq(1, 2), fmpq(3), fmpq(1, 7)]
    P = sequence_gradients.chain("1/3", "3/4")
    path = trajectory(chain_tensor(P, 3), v, W, rates)
    assert len(path) == len(rates) + 1
    for s, rate in enumerate(rates):
        old, new = path[s], path[s + 1]
        found = sequence_gradients.of_chain(P, chain_stationary_law(P), old.v, old.W, linear_margin(old.v, old.W) + 1)
        assert (new.v == old.v + rate * found.v).all()
        assert (old.W + found.W * rate == new.W).all()


@check("induction-heads:definition-P.5", grade="symbolic", target="corrected", supporting=True)
@proof_steps("losses.md: 3")
def test_losses_decrease_in_the_margin_only_with_the_corrected_sign() -> None:
    """m = y f. Logistic loss ln(1 + e^-m) and -m decrease for every m, (y - f)^2 = (1 - m)^2 and hinge for m < 1.

    The corrected correlation loss is the hinge loss of margins below 1, less the constant 1.
    """
    m, f = sp.symbols("m f", real=True)
    logistic = -sp.log(sp.exp(m) / (1 + sp.exp(m)))
    assert sp.simplify(sp.diff(logistic, m) - sp.diff(sp.log(1 + sp.exp(-m)), m)) == 0
    assert sp.simplify((logistic - sp.log(1 + sp.exp(-m))).subs(m, 0)) == 0
    assert sp.simplify(sp.diff(logistic, m) + 1 / (1 + sp.exp(m))) == 0
    for y in (1, -1):
        assert sp.expand((y - f) ** 2 - (1 - y * f) ** 2) == 0
    below_one = sp.symbols("epsilon", positive=True)
    assert sp.Max(0, 1 - (1 - below_one)) - 1 == -(1 - below_one)
    assert sp.diff(-m, m) < 0 < sp.diff(m, m)


@check("induction-heads:definition-P.5", grade="exact", target="corrected", supporting=True)
@proof_steps("losses.md: 5")
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_mini_batch_gradients_are_unbiased(batch: int) -> None:
    """A population of four examples, square loss of a linear network: all batches, with and without replacement."""
    population = [((1, 2), 1), ((0, -1), -1), ((3, 1), 1), ((-2, 5), -1)]
    theta = (Fraction(1, 3), Fraction(-2, 7))

    def gradient(examples: Sequence[tuple[tuple[int, int], int]]) -> tuple[Fraction, ...]:
        errors = [theta[0] * x[0] + theta[1] * x[1] - y for x, y in examples]
        weighted = list(zip(errors, examples, strict=True))
        return tuple(sum((2 * e * x[i] for e, (x, _) in weighted), Fraction(0)) / len(examples) for i in range(2))

    whole = gradient(population)
    for batches in (list(product(population, repeat=batch)), list(combinations(population, batch))):
        gradients = [gradient(chosen) for chosen in batches]
        assert tuple(sum(g[i] for g in gradients) / len(gradients) for i in range(2)) == whole
        assert len(set(gradients)) > 1
