"""Rounding as a ReLU network, and what the corrected network computes (proposition 3.4, definition D.1).

On each of the three intervals of its definition, round(z) and 3 relu(z - 1/3) - 3 relu(z - 2/3) are affine, with the
active ReLUs decided by the interval, so that equality is an identity of polynomials. The same identities with
thresholds a < b and slope 1/(b - a) give the general rounding.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from lemmata.constructions.circuits.boolean import BooleanGate, LayeredCircuit
from lemmata.constructions.circuits.relu import QUARTERS, THIRDS, circuit_network, rounding
from lemmata.constructions.circuits.verification import verify
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record
from lemmata.theorems.turing.circuit_families import identity_chain, random_layered, random_sizes

OTHERS = (Fraction(2, 7), Fraction(3, 5))


def printed_round(z: Fraction) -> Fraction:
    if z < Fraction(1, 3):
        return Fraction(0)
    return 3 * z - 1 if z < Fraction(2, 3) else Fraction(1)


def apply(values: list[Fraction], thresholds: tuple[Fraction, Fraction], **padding: int) -> list[Fraction]:
    result = rounding(len(values), *thresholds, **padding)(as_exact([values]))
    return [as_fraction(value) for value in result[0]]


def _units(z: sp.Symbol) -> tuple[list[sp.Expr], sp.Expr]:
    """The two units of the rounding with thirds, times their signed weights up to the sign, and the outer bias."""
    hidden, output = rounding(1, *THIRDS).layers
    numbers = [[sp.Rational(str(x)) for x in array.ravel()] for layer in (hidden, output) for array in layer.arrays()]
    weights, biases, slopes, (outer,) = numbers
    assert (slopes[0] > 0, slopes[1] < 0) == (True, True)
    return [abs(s) * (w * z + b) for s, w, b in zip(slopes, weights, biases, strict=True)], outer


@check("turing:proposition-3.4", grade="symbolic", target="printed")
@proof_steps("circuits.md: 5")
def test_round_is_a_difference_of_two_relus():
    """Both ReLUs are inactive below 1/3, the first is active up to 2/3, both are from there on."""
    z = sp.Symbol("z", real=True)
    (first, second), outer = _units(z)
    assert outer == 0
    assert sp.solve_univariate_inequality(first > 0, z, relational=False) == sp.Interval.open(sp.Rational(1, 3), sp.oo)
    assert sp.solve_univariate_inequality(second > 0, z, relational=False) == sp.Interval.open(sp.Rational(2, 3), sp.oo)
    assert sp.expand(first - (3 * z - 1)) == 0  # the middle piece of the definition
    assert sp.expand(first - second - 1) == 0  # the upper piece
    assert (3 * z - 1).subs(z, sp.Rational(1, 3)) == 0
    assert (3 * z - 1).subs(z, sp.Rational(2, 3)) == 1


@check("turing:proposition-3.4", grade="exact", target="printed")
def test_the_rounding_layers_compute_round():
    """At 300 points at once, each a coordinate of its own, with and without padding; the pieces are affine."""
    points = [Fraction(n, 60) for n in range(-120, 180)]
    assert apply(points, THIRDS) == [printed_round(z) for z in points]
    assert apply(points, THIRDS, width=2 * len(points) + 5)[: len(points)] == [printed_round(z) for z in points]
    assert apply(points, QUARTERS) != [printed_round(z) for z in points]  # control: other thresholds are seen


@check("turing:correction-elementwise", grade="symbolic", target="printed", supporting=True)
@proof_steps("circuits.md: 5")
@pytest.mark.parametrize("low_high", ["thirds", "general"])
def test_rounding_returns_to_the_bits_within_its_radius(low_high):
    """If ||h' - h||_2 <= 1/3 then every coordinate is within 1/3 of its bit, where round is constant and equal to it.

    With thresholds 0 < a < b < 1 and |e| <= min(a, 1 - b): around 0 both ReLUs get e - a <= 0 and e - b < 0, so the
    value is 0; around 1 they get 1 + e - a > 0 and 1 + e - b >= 0, so it is (b - a)/(b - a) = 1.
    """
    a, b = THIRDS if low_high == "thirds" else sp.symbols("a b", real=True)
    a, b = (sp.Rational(v.numerator, v.denominator) if isinstance(v, Fraction) else v for v in (a, b))
    e = sp.Symbol("e", real=True)
    around_one = (sp.Symbol("s") * (1 + e - a) - sp.Symbol("s") * (1 + e - b)).subs(sp.Symbol("s"), 1 / (b - a))
    assert sp.simplify(around_one - 1) == 0
    if low_high == "thirds":
        assert max(e_bound - a for e_bound in (-sp.Rational(1, 3), sp.Rational(1, 3))) == 0
        assert min(1 + e_bound - b for e_bound in (-sp.Rational(1, 3), sp.Rational(1, 3))) == 0


@check("turing:correction-elementwise", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 5")
@pytest.mark.parametrize("thresholds", [THIRDS, QUARTERS, OTHERS])
def test_the_radius_is_attained_and_not_larger(thresholds):
    """At distance exactly the radius, in one coordinate, the bits come back; beyond it on one side they do not."""
    network = circuit_network(identity_chain(2), "layers", thresholds)
    beyond = network.radius * Fraction(101, 100)
    for bits in product((0, 1), repeat=3):
        for place, sign in product(range(3), (-1, 1)):
            moved = [Fraction(bit) for bit in bits]
            moved[place] += sign * network.radius
            assert apply(moved, thresholds) == list(bits)
    assert any(apply([bit + s * beyond], thresholds) != [bit] for bit in (Fraction(0), Fraction(1)) for s in (-1, 1))


@check("turing:correction-elementwise", grade="exact", target="printed", supporting=True)
@proof_steps("circuits.md: 5")
def test_the_norm_is_nine_for_each_coordinate():
    for n in (1, 4, 9):
        for thresholds, norm in ((THIRDS, 9), (QUARTERS, 7)):
            arrays = rounding(n, *thresholds).arrays()
            assert sum(abs(x) for array in arrays for x in array.ravel()) == norm * n


@check(
    "turing:definition-D.1", grade="sampled", target="corrected", supporting=True, cases="30 random circuits, seed 5"
)
def test_the_corrected_network_computes_the_uncorrected_one(effort):
    """zeta_i(h_i) = h_i on all hidden bits, hence F(x, theta, xi) = h_d(x, theta): all inputs of random circuits.

    In general it follows by induction from zeta_i(h_i) = h_i, which is the definition of a correction at h^ = h_i.
    """
    random = np.random.default_rng(5)
    for _ in range(effort.pick(quick=30, full=200)):
        circuit = random_layered(random, *random_sizes(random, 5, 5, 5))
        for corrections in ("layers", "steps"):
            assert verify(circuit_network(circuit, corrections)).fault is None
        assert verify(circuit_network(circuit, "none")).fault is None


@counterexample("turing:definition-D.1", grade="exact")
@proof_steps("stability.md: 1")
def test_the_printed_recursion_corrects_the_wrong_layer(record: Record):
    """The chain (ID, NOT), x = 1, all corrections the rounding: h_0 = 1, h_1 = NOT h_0 = 0, F = h_2 = 2 h_1 - 1 = -1.

    As printed, h~_i = zeta_i(g_(i-1)). Then h~_0 needs g_(-1), which nothing defines; whatever h~_0 is, h~_1 =
    zeta_1(g_0) = 1 is the value of layer 0, so F = f_2(h~_1) = 2 * 1 - 1 = 1 instead of -1. With zeta_i(g_i) it is -1.
    """
    gates = ((BooleanGate("ID", (0,)),), (BooleanGate("NOT", (0,)),))
    network = circuit_network(LayeredCircuit(1, gates, 0), "layers")
    first, second = network.steps
    g0 = first(as_exact([[1]]))
    zeta0, zeta1 = network.roundings[:2]
    h1 = second(g0)
    h = as_fraction(network.head(h1)[0, 0])
    printed = as_fraction(network.head(zeta1(g0))[0, 0])
    corrected = as_fraction(network.head(zeta1(second(zeta0(g0))))[0, 0])
    assert (h, printed, corrected) == (-1, 1, -1)
    assert printed_round(as_fraction(g0[0, 0])) == as_fraction(zeta1(g0)[0, 0])
    off = max(abs(as_fraction(x)) for z, zeta in ((g0, zeta0), (h1, zeta1)) for x in (zeta(z) - z).ravel())
    record.hypothesis("zeta_i are corrections: the largest |zeta_i(h_i) - h_i|", off, "=", 0)
    record.violated("F(x, theta, xi) = h_2(x, theta), with h~_1 = zeta_1(g_0) as displayed", printed, "=", h)


@check("turing:definition-D.1", grade="exact", target="corrected", supporting=True)
def test_without_rounding_a_perturbed_value_stays_perturbed():
    """Negative control: the identity instead of the rounding does not return to the bits."""
    moved = [Fraction(1, 5), Fraction(5, 6)]
    assert apply(moved, THIRDS) == [0, 1]
    chain = circuit_network(LayeredCircuit(2, ((BooleanGate("ID", (0,)), BooleanGate("ID", (1,))),), 0), "none")
    assert [as_fraction(v) for v in chain.steps[0](as_exact([moved]))[0]] == moved
