"""Score matching: the two losses differ by a constant, and output activations cannot approximate a score.

Source: appendix H of the document.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import as_exact
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.records import Record


@check("deep-icgd:equation-H.1", grade="symbolic", target="printed")
def test_denoising_loss_differs_by_a_constant() -> None:
    """(H.2) - (H.1) does not depend on s_W, for every density q of P_0 and every transition density k(x, x_0) > 0.

    At one t and x, in one coordinate of the score: the integrand of the difference is the integral over x_0 of
    q k ((s - a)^2 - (s - b)^2), a = d log k/dx, b = d log p/dx, p(x) = integral of q k. It is c_1 s + c_0, where the
    integral c_1 is 0 for all functions q and k, so that it is the same for all s. Sums over the coordinates and
    integrals over x and t, with gamma(t), keep that. The densities are such that p may be differentiated under the
    integral and all integrals are finite, which the document assumes throughout.
    """
    x, x_0, s = sp.symbols("x x_0 s", real=True)
    q, k = sp.Function("q")(x_0), sp.Function("k", positive=True)(x, x_0)
    p = sp.Integral(q * k, (x_0, -sp.oo, sp.oo))
    a, slope = sp.diff(sp.log(k), x), sp.diff(p, x)
    b = sp.symbols("b", real=True)  # slope / p, which does not depend on x_0
    in_s = sp.Poly(sp.expand((s - a) ** 2 - (s - b) ** 2), s)
    assert in_s.degree() == 1
    assert sp.expand(in_s.coeff_monomial(s) - 2 * (b - a)) == 0
    with_a = sp.Integral(sp.simplify(q * k * a), (x_0, -sp.oo, sp.oo))
    c_1 = 2 * (slope / p) * p - 2 * with_a
    assert sp.simplify(c_1) == 0
    assert slope != 0 != with_a
    wrong = sp.Integral(sp.simplify(q * a), (x_0, -sp.oo, sp.oo))  # without the weight k
    assert sp.simplify(slope - wrong) != 0


@check("deep-icgd:equation-H.1", grade="symbolic", target="printed", supporting=True)
def test_gaussian_data_in_closed_form() -> None:
    """x_0 ~ N(0, v), x_t = m x_0 + sqrt(u) z, s(x) = alpha x^3 + beta x + c: the difference is 1/u - 1/(m^2 v + u)."""
    v, m, u = sp.symbols("v m u", positive=True)
    alpha, beta, c, x, x_0 = sp.symbols("alpha beta c x x_0", real=True)
    s, variance = alpha * x**3 + beta * x + c, m**2 * v + u

    def moment(n: int, size: sp.Expr) -> sp.Expr:
        return sp.Integer(0) if n % 2 else sp.factorial2(n - 1) * size ** (n // 2) if n else sp.Integer(1)

    def expect(expression: sp.Expr) -> sp.Expr:
        """Over x_0 ~ N(0, v) and z ~ N(0, u), with x = m x_0 + z."""
        z = sp.symbols("z", real=True)
        terms = sp.Poly(sp.expand(expression.subs(x, m * x_0 + z)), x_0, z).terms()
        return sum((k * moment(i, v) * moment(j, u) for (i, j), k in terms), sp.Integer(0))

    marginal = expect((s + x / variance) ** 2)
    denoising = expect((s + (x - m * x_0) / u) ** 2)
    assert sp.simplify(denoising - marginal - (1 / u - 1 / variance)) == 0
    assert sp.diff(marginal, alpha) != 0  # both losses do depend on s


@counterexample("deep-icgd:lemma-19", grade="symbolic")
def test_nonnegative_outputs_miss_the_score_of_a_gaussian(record: Record, law: int = 1) -> None:
    """The reduction to Problem 2: its networks end with the activation, so f >= 0 for ReLU. P_t = N(0, 1), score -x.

    Pointwise, for f >= 0 and x > 0: (f + x)^2 = f^2 + 2 f x + x^2 >= x^2; so |f + x|^2 in L^2(P_t) is at least
    E[max(x, 0)^2] = 1/2, and the error at least sqrt(1/2) > 0.7, for every width, depth and weight.
    """
    f, x = sp.symbols("f x", nonnegative=True)
    assert all(k > 0 for k in sp.Poly(sp.expand((f + x) ** 2 - x**2), f, x).coeffs())
    t = sp.symbols("t", real=True)
    density = sp.exp(-(t**2) / (2 * law)) / sp.sqrt(2 * sp.pi * law)
    squared = sp.integrate(t**2 * density, (t, 0, sp.oo))
    least, variance = arb(fmpq(int(squared.p), int(squared.q))).sqrt(), sp.integrate(t**2 * density, (t, -sp.oo, sp.oo))
    record.hypothesis("the law of x_t is N(0, 1): its variance", int(variance), "=", 1)
    layers = tuple(Affine(as_exact(matrix)) for matrix in ([[1, -1]], [[1], [-2]]))
    outputs = FeedForward(layers, activations=("relu", "relu"))(as_exact([[i] for i in range(-3, 4)]))
    record.hypothesis(
        "outputs of definition 1 with r = ReLU, as of V_1 = (1, -1), V_2 = (1, -2)", min(outputs[:, 0]), ">=", 0
    )
    record.violated("an L2 error of at most eps = 1/2 by a network of problem 2 with ReLU", least, "<=", fmpq(1, 2))
    record.number("0.707", least)
    assert squared == sp.Rational(1, 2)


@counterexample("deep-icgd:lemma-19", grade="enclosed", supporting=True)
@pytest.mark.parametrize("seed", range(4))
def test_random_networks_with_output_relu_stay_above_the_bound(seed: int, record_property: Any) -> None:
    """One-hidden-layer networks with the ReLU at the output, as problem 2 has them; integral in balls on [-8, 8]."""
    rng = np.random.default_rng(seed)
    hidden, offsets, outputs = rng.normal(size=(3, 5))

    def integrand(t: arb) -> arb:
        units = [(t * w + b).max(arb(0)) * c for w, b, c in zip(hidden, offsets, outputs, strict=True)]
        f = sum(units, arb(0)).max(arb(0))
        return (f + t) ** 2 * (-t * t / 2).exp() / (2 * arb.pi()).sqrt()

    cells = 4096
    width = arb(16) / cells
    total = sum(
        (integrand(arb(-8) + width * (i + arb(0.5)) + arb(0, 1) * width / 2) for i in range(cells)),
        arb(0),
    )
    lower = (total * width).lower()  # the tails beyond +-8 only add to the norm
    record_property("squared_error_at_least", round(float(lower), 4))
    assert lower > arb(0.48)


@check("deep-icgd:lemma-19", grade="exact", target="corrected", supporting=True)
def test_linear_output_layer_has_no_such_obstruction() -> None:
    """-x = relu(-x) - relu(x): with a linear output two hidden units give the score of N(0, 1) exactly."""
    for k in range(-12, 13):
        x = fmpq(k, 5)
        assert max(-x, fmpq(0)) - max(x, fmpq(0)) == -x
