"""The product of d weights: its all-layer margin is sqrt(d) (1 - 2^(-1/d)) exactly, and rounding lifts it above 1/3.

Let f(x, W) = (W_1 ... W_d) x - 1/2 at W = (1, ..., 1), x = 1, label 1. The margin is the least ||delta|| with
prod (1 - delta_i) <= 1/2.

Upper bound: delta_i = 1 - 2^(-1/d) for all i gives the product 1/2 exactly. Lower bound: if some delta_i >= 1 then
||delta|| >= 1, and the claimed value is below ln 2 / sqrt d < 1, because 1 - e^(-u) < u for u > 0. Otherwise put
t_i = -ln(1 - delta_i), so that sum t_i >= ln 2 is to be shown to cost at least the claimed value with the cost
g(t) = (1 - e^(-t))^2 a coordinate. Replacing negative t_i by 0 keeps the constraint and lowers the cost; if some
t_i >= ln 2, then t_i = ln 2 and 0 elsewhere is no dearer. So all t_i lie in [0, ln 2], where g is increasing
(g' = 2 e^(-t) (1 - e^(-t)) >= 0) and convex (g'' = 2 e^(-t) (2 e^(-t) - 1) >= 0, since e^(-t) >= 1/2), and Jensen's
inequality gives sum g(t_i) >= d g(mean t) >= d g(ln 2 / d) = d (1 - 2^(-1/d))^2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from scipy.optimize import minimize, minimize_scalar

from lemmata.certificates.margins.attack import MarginTarget, replay, smallest_flip
from lemmata.constructions.circuits.relu import THIRDS, circuit_network, rounding
from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.circuit_families import identity_chain

TRUE_VALUES = {1: 0.5, 2: 0.41421, 3: 0.35732, 4: 0.31821, 8: 0.23475, 16: 0.16959, 64: 0.08618}


def product_margin(d: int) -> arb:
    """sqrt(d) (1 - 2^(-1/d)) as a ball."""
    with precision(128):
        return arb(d).sqrt() * (1 - (-arb(2).log() / d).exp())


def round_thirds(z: float) -> float:
    return min(max(3.0 * z - 1.0, 0.0), 1.0)


@check("turing:toy-product", grade="symbolic", target="printed", supporting=True)
@proof_steps("toy_product.md: 1")
def test_the_printed_perturbation_flips_the_product_at_every_depth():
    """(1 - 3/d)^d < 1/2: d = 1, 2 directly; for d >= 3, 0 <= 1 - u <= e^(-u) with u = 3/d gives at most e^-3 < 1/2.

    e^(-u) - 1 + u is convex with minimum 0 at u = 0. The norm is sqrt(d (3/d)^2) = 3/sqrt(d).
    """
    u = sp.Symbol("u", real=True)
    gap = sp.exp(-u) - 1 + u
    assert gap.subs(u, 0) == sp.diff(gap, u).subs(u, 0) == 0
    assert sp.diff(gap, u, 2).is_positive
    for d in (1, 2):
        assert (1 - Fraction(3, d)) ** d < Fraction(1, 2)
    assert sp.exp(-3) < sp.Rational(1, 2)
    d = sp.Symbol("d", positive=True)
    assert sp.simplify(sp.sqrt(d * (3 / d) ** 2) - 3 / sp.sqrt(d)) == 0


@check("turing:toy-product", grade="symbolic", target="printed", supporting=True)
@proof_steps("toy_product.md: 2")
def test_the_steps_of_the_proof_of_the_exact_margin():
    t, d = sp.symbols("t d", positive=True)
    cost = (1 - sp.exp(-t)) ** 2
    assert sp.simplify(sp.diff(cost, t) - 2 * sp.exp(-t) * (1 - sp.exp(-t))) == 0
    assert sp.simplify(sp.diff(cost, t, 2) - 2 * sp.exp(-t) * (2 * sp.exp(-t) - 1)) == 0
    step = 1 - 2 ** (-1 / d)
    assert sp.simplify(d * cost.subs(t, sp.log(2) / d) - d * step**2) == 0
    assert sp.simplify((1 - step) ** d - sp.Rational(1, 2)) == 0
    # 1 - e^(-u) < u for u > 0 puts the margin below ln 2 / sqrt d
    assert sp.log(2) < 1


@check("turing:toy-product", grade="numeric", target="printed", supporting=True)
@proof_steps("toy_product.md: 2")
def test_the_exact_margin_lies_below_the_printed_bound():
    for d, value in TRUE_VALUES.items():
        assert abs(float(product_margin(d).mid()) - value) < 5.1e-6  # five printed digits
    for d in (1, 2, 3, 10, 100, 10**4, 10**8):
        margin = product_margin(d)
        assert margin < arb(2).log() / arb(d).sqrt() < 3 / arb(d).sqrt()
        assert margin < 1


@check("turing:toy-product", grade="numeric", target="printed", supporting=True)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 8])
def test_a_constrained_minimiser_finds_no_shorter_flip(d):
    """SLSQP from 20 random starts: the best flip is the formula, to the 1e-6 of its stopping rule."""
    random = np.random.default_rng(d)
    found = []
    for _ in range(20):
        result = minimize(
            lambda w: w @ w,
            random.uniform(0, 1, d),
            jac=lambda w: 2 * w,
            constraints={"type": "ineq", "fun": lambda w: 0.5 - math.prod((1 - w).tolist())},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        if result.success and math.prod((1 - result.x).tolist()) <= 0.5 + 1e-9:
            found.append(math.sqrt(result.fun))
    assert len(found) >= 10
    assert abs(min(found) - float(product_margin(d).mid())) < 1e-6


@check("turing:claim-3.5", grade="exact", target="printed", supporting=True)
@proof_steps("toy_product.md: 3")
def test_rounding_between_the_factors_gives_margin_one_third():
    """If all |delta_i| <= 1/3 then W_i * 1 >= 2/3 and round gives 1 again, so that f stays 1/2: for every d.

    The induction step is one interval: for delta in [-1/3, 1/3] both ReLUs of round get (1 + delta) - 1/3 >= 0 and
    (1 + delta) - 2/3 >= 0, the ends included, and 3 (1 + delta - 1/3) - 3 (1 + delta - 2/3) = 1 does not depend on
    delta. A perturbation of norm at most 1/3 has all |delta_i| <= 1/3, so the margin is above 1/3.
    """
    delta = sp.Symbol("delta", real=True)
    assert sp.expand(3 * (1 + delta - sp.Rational(1, 3)) - 3 * (1 + delta - sp.Rational(2, 3))) == 1
    for end in (Fraction(-1, 3), Fraction(1, 3)):
        assert 1 + end - Fraction(1, 3) >= 0
        assert 1 + end - Fraction(2, 3) >= 0
    assert 1 - Fraction(1, 2) == Fraction(1, 2)  # f~ = f = 1/2 at W = (1, ..., 1)


@check("turing:claim-3.5", grade="numeric", target="printed", supporting=True)
@proof_steps("toy_product.md: 3")
def test_flips_of_the_rounded_product_lie_between_one_third_and_one_half(record_property):
    """Two layers: the first weight 1 - a leads to h = 3 (1 - a) - 1, the second must bring h down to 1/2.

    That costs a^2 + (1 - 1/(2 h))^2; the best a gives the norm .49176. (For d = 1 the margin is 1/2: delta = 1/2.)
    """
    best: Any = minimize_scalar(
        lambda a: a**2 + max(0.0, 1 - 0.5 / max(round_thirds(1 - a), 1e-9)) ** 2, bounds=(0.34, 0.5), method="bounded"
    )
    value = math.sqrt(best.fun)
    record_property("least flip found at d = 2", value)
    assert 1 / 3 < value < 0.5
    assert abs(value - 0.49176) < 1e-4
    # control: without rounding the margin at d = 2 is smaller, and at d = 4 below 1/3
    assert float(product_margin(2).mid()) < value
    assert product_margin(4) < arb(1) / 3


# ---- the library: targets, flips and the rounding


def product_target(d: int) -> MarginTarget:
    """f(1, W) = W_1 ... W_d - 1/2 at W = (1, ..., 1) with the label 1."""

    def output(theta: Any) -> Any:
        value = theta[..., 0]
        for i in range(1, d):
            value = value * theta[..., i]
        return value - (fmpq(1, 2) if isinstance(theta, np.ndarray) and theta.dtype == object else 0.5)

    return MarginTarget(as_exact([1] * d), output, 1)


@check("turing:toy-product", grade="exact", target="printed", cases="d = 1, ..., 60")
@proof_steps("toy_product.md: 1")
def test_the_printed_perturbation_is_an_exact_flip():
    """delta_i = -3/d of the weights, replayed in exact arithmetic: a flip of squared norm 9/d; -3/(7 d) is none."""
    for d in range(1, 61):
        target = product_target(d)
        flip = replay(target, {"denominator": str(d), "numerators": {str(i): "-3" for i in range(d)}})
        assert flip.norm_squared == Fraction(9, d)
        assert flip.margin == (1 - Fraction(3, d)) ** d - Fraction(1, 2) < 0
        with pytest.raises(ValueError, match="does not flip"):
            replay(target, {"denominator": str(7 * d), "numerators": {str(i): "-3" for i in range(d)}})


@check("turing:toy-product", grade="enclosed", target="printed", cases="exact flips found at d = 1, 2, 3, 8, 16")
@proof_steps("toy_product.md: 2")
def test_the_search_for_flips_meets_the_exact_margin():
    """The exact flips of the search are not shorter than sqrt(d) (1 - 2^(-1/d)), and at most 0.1 per cent longer."""
    for d in (1, 2, 3, 8, 16):
        flip = smallest_flip(product_target(d), starts=4, steps=80)
        assert flip is not None
        squared = arb(fmpq(flip.norm_squared.numerator, flip.norm_squared.denominator))
        assert squared.sqrt() > product_margin(d) * (1 - arb(2) ** -40)
        assert squared.sqrt() < product_margin(d) * arb("1.001")


@check("turing:claim-3.5", grade="exact", target="printed")
@proof_steps("toy_product.md: 3")
def test_the_rounding_of_the_library_is_one_from_two_thirds_on():
    """On [2/3, 4/3] both units are active at the ends, so affine in between, and the value is 1 at both ends.

    From 2/3 on nothing changes; just below, at 2/3 - 1/100, it is less. At 1, where W = (1, ..., 1) leads, it is 1.
    """
    zeta = rounding(1, *THIRDS)
    first = zeta.layers[0]
    for end in (Fraction(2, 3), Fraction(4, 3)):
        assert min((as_exact([[end]]) @ first.weight + first.bias)[0]) >= 0
        assert zeta(as_exact([[end]])).item() == 1
    assert zeta(as_exact([[1]])).item() == 1
    assert zeta(as_exact([[Fraction(2, 3) - Fraction(1, 100)]])).item() < 1


@check("turing:claim-3.5", grade="exact", target="printed", cases="exact flips found at d = 1, 2, 3")
@proof_steps("toy_product.md: 3")
def test_exact_flips_of_the_rounded_product_are_longer_than_one_third():
    """f~ with the rounding of the library is 1/2 at W = (1, ..., 1), and no flip of the search is shorter than 1/3."""
    zeta = circuit_network(identity_chain(2), "layers").roundings[0]

    def rounded(z: Any) -> Any:
        for layer in zeta.layers:
            if isinstance(z, np.ndarray):
                weight, bias = layer.weight, layer.bias
                weight, bias = (weight, bias) if z.dtype == object else (to_float(weight), to_float(bias))
                z = z @ weight + bias
                z = np.where(z > 0, z, 0 * z)
            else:
                z = (z @ z.new_tensor(to_float(layer.weight)) + z.new_tensor(to_float(layer.bias))).clamp(min=0)
        return z

    for d in (1, 2, 3):

        def output(theta: Any, d: int = d) -> Any:
            value = rounded(theta[..., :1])
            for i in range(1, d):
                value = rounded(theta[..., i : i + 1] * value)
            return value[..., 0] - (fmpq(1, 2) if isinstance(theta, np.ndarray) and theta.dtype == object else 0.5)

        target = MarginTarget(as_exact([1] * d), output, 1)
        assert target.exact_margin([Fraction(0)] * d) == Fraction(1, 2)
        flip = smallest_flip(target, starts=6, steps=80)
        assert flip is not None
        assert Fraction(1, 9) < flip.norm_squared <= Fraction(1, 4) + Fraction(1, 1000)
