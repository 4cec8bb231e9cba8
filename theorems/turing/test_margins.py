"""All-layer margins of circuit networks: certified from below, attacked from above, naive against corrected.

The certified bound of theorem D.6 is proved for all circuits (`lemmata.certificates.margins.all_layer`); here
perturbations of exactly that norm are tried, random and optimised, and attacks give upper bounds that are exact
rationals. The bound of lemma 3.3 in terms of the width is derived in
`test_the_certified_margin_is_a_polynomial_in_the_inverse_width`.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
import sympy as sp

from lemmata.certificates.margins.all_layer import circuit_constants, circuit_margin_bound, margin_bound, operator_norm
from lemmata.certificates.margins.attack import circuit_target, directions, largest_change, replay, smallest_flip
from lemmata.constructions.circuits.boolean import all_inputs, layered
from lemmata.constructions.circuits.relu import QUARTERS, THIRDS, circuit_network
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.learning.covers import ramp_loss
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record
from lemmata.theorems.turing.circuit_families import (
    alternating_chain,
    identity_chain,
    parity_circuit,
    prefix_conjunction,
    random_layered,
    random_sizes,
)

SEARCHED = {2: 0.2540, 3: 0.1892, 5: 0.1376, 9: 0.0987, 17: 0.0703, 33: 0.0499}
GEODESIC = math.asinh(1.0) - math.asinh(0.5)


def networks(effort):
    """Corrected networks: named circuits and random ones, with corrections after layers and after steps."""
    random = np.random.default_rng(11)
    circuits = [identity_chain(9), alternating_chain(4), layered(prefix_conjunction(4)), layered(parity_circuit(3))]
    circuits += [random_layered(random, *random_sizes(random, 4, 4, 4)) for _ in range(effort.pick(quick=4, full=12))]
    for number, circuit in enumerate(circuits):
        yield circuit_network(circuit, "steps" if number % 3 else "layers", QUARTERS if number % 4 == 3 else THIRDS)


def flips(network, perturbations):
    """How many perturbations flip the prediction on some input, and the largest change of the output."""
    theta, x = to_float(network.parameters), all_inputs(network.circuit.inputs).astype(float)
    true = network.output(theta, x)
    moved = network.output(theta + perturbations, x)
    return int(np.any(moved * true <= 0, axis=1).sum()), float(np.abs(moved - true).max())


@counterexample("turing:definition-all-layer-margin", grade="exact")
@proof_steps("sample_size.md: 5")
def test_a_correct_discontinuous_network_has_margin_zero(record: Record, values: tuple[int, int] = (-1, 2)):
    """Attention scores (0, theta), values (-1, 2): F(0) = 1/2 predicts 1, but F(-t) = -1 for every t > 0.

    A head of the library with a key weight theta; its null pair is never attended. Only the sign of theta matters, as
    a positive factor of all scores leaves the maximum where it is: the wrong parameters are theta < 0, at distance 0.
    """

    def F(theta: Fraction) -> Fraction:
        one, nothing = as_exact([1]), as_exact(np.zeros((2, 1), dtype=int))
        key, value = (
            Affine(as_exact([[theta], [0]]), as_exact([0])),
            Affine(as_exact([[0, 0], [0, 1]]), as_exact([0, 0])),
        )
        null = (as_exact([-100]), as_exact([0, 0]))
        head = Head(Affine(nothing, one), key, value, weigh="hardmax", null=null)
        return as_fraction(head(as_exact([[0, 0]]), as_exact([[0, values[0]], [1, values[1]]]))[0, 1])

    theta = Fraction(0)
    wrong = [sign for sign in (-1, 0, 1) if F(Fraction(sign)) <= 0]  # as classes of parameters with this sign
    rho = 0 if wrong else math.inf  # both open half-lines have distance 0 from 0
    record.hypothesis("theta = 0 lies in the ball of radius alpha = 1 of the 1-norm", abs(theta), "<=", 1)
    record.hypothesis("F(x, theta) predicts the label y = 1: (y - 1/2) F > 0", F(theta) / 2, ">", 0)
    record.violated("a correct prediction has a positive margin", rho, ">", 0)
    assert F(Fraction(0)) == Fraction(1, 2) > 0
    assert all(F(-Fraction(1, 10**k)) == -1 for k in range(1, 40))
    assert all(F(Fraction(1, 10**k)) == 2 for k in range(1, 40))


@check("turing:definition-all-layer-margin", grade="exact", target="corrected", supporting=True)
@proof_steps("sample_size.md: 5")
@pytest.mark.parametrize("continuous", [True, False])
def test_positive_margins_predict_correctly_and_conversely_where_f_is_continuous(continuous):
    """Piecewise linear F and step functions F of one parameter, where the infimum is a distance to a closed interval.

    In general: a wrong prediction makes delta = 0 feasible, so rho = 0. If F is continuous and right, F keeps its sign
    in a ball around theta, so rho > 0. All F with values in {-1, 1/2, 1} at the knots 0, 1, 2, 3; steps take the value
    at the left end of each interval; both labels, theta at every half-integer.
    """
    levels = (Fraction(-1), Fraction(1, 2), Fraction(1))
    converse_fails = 0
    for values in np.ndindex(3, 3, 3, 3):
        F = [levels[i] for i in values]
        for sign in (-1, 1):
            for twice in range(7):
                theta = Fraction(twice, 2)
                rho = margin_of(F, sign, theta, continuous)
                right = sign * value_of(F, theta, continuous) > 0
                assert right or rho == 0
                if continuous:
                    assert (rho is None or rho > 0) == right
                converse_fails += right and rho == 0
    assert (converse_fails > 0) == (not continuous)


def value_of(F, theta, continuous):
    i = min(int(theta), 2) if continuous else int(theta)
    return F[i] + (theta - i) * (F[i + 1] - F[i]) if continuous else F[i]


def margin_of(F, sign, theta, continuous):
    """The exact distance from theta to where sign * F <= 0 on [0, 3]; None if it is nowhere."""
    closed = []  # closures of the intervals where the prediction is wrong
    for i in range(3):
        a, b = sign * F[i], sign * (F[i + 1] if continuous else F[i])
        if max(a, b) <= 0:
            closed.append((Fraction(i), Fraction(i + 1)))
        elif min(a, b) <= 0:
            root = i + a / (a - b)
            closed.append((Fraction(i), root) if a <= 0 else (root, Fraction(i + 1)))
    if not continuous and sign * F[3] <= 0:
        closed.append((Fraction(3), Fraction(3)))
    return min((max(low - theta, theta - high, Fraction(0)) for low, high in closed), default=None)


@check("turing:definition-all-layer-margin", grade="symbolic", target="corrected", supporting=True)
def test_the_margin_of_a_linear_network_is_the_distance_to_the_hyperplane():
    """F(x, theta) = <theta, x>: delta = -(<theta, x>/|x|^2) x flips, of norm |<theta, x>|/|x|; else Cauchy-Schwarz."""
    t, x = sp.symbols("t1:4", real=True), sp.symbols("x1:4", real=True)
    inner, square = sum(a * b for a, b in zip(t, x, strict=True)), sum(b * b for b in x)
    moved = [a - inner / square * b for a, b in zip(t, x, strict=True)]
    assert sp.simplify(sp.Add(*(a * b for a, b in zip(moved, x, strict=True)))) == 0
    d = sp.symbols("d1:4", real=True)
    lagrange = sum((d[i] * x[j] - d[j] * x[i]) ** 2 for i in range(3) for j in range(i))
    assert (
        sp.expand(sum(a * a for a in d) * square - sum(a * b for a, b in zip(d, x, strict=True)) ** 2 - lagrange) == 0
    )


@check("turing:definition-ramp-loss", grade="symbolic", target="printed")
@proof_steps("sample_size.md: 6")
def test_the_ramp_loss_in_all_its_pieces():
    """For all gamma > 0 and rho >= 0: rho = 0, rho = gamma t with 0 < t <= 1, and rho = gamma (1 + s) with s >= 0.

    The loss is 1, 1 - t and 0. (a) A wrong prediction makes delta = 0 feasible, so that rho = 0 and the loss is 1, the
    0-1 loss; a right one has 0-1 loss 0 and the loss is >= 0 in every piece. (b) In the third piece, rho >= gamma, it
    is 0. (c) In each pair of pieces |loss - loss'| <= |rho - rho'|/gamma, and at the two knots the pieces agree.
    """
    gamma, t, s = sp.symbols("gamma t s", nonnegative=True)
    u = sp.Symbol("u", nonnegative=True)  # t = 1 - u <= 1
    pieces = {
        "zero": (sp.Integer(0), sp.Integer(1)),
        "ramp": (gamma * t, 1 - t),
        "flat": (gamma * (1 + s), sp.Integer(0)),
    }
    assert [loss.subs(t, 1 - u) for _, loss in pieces.values()] == [1, u, 0]  # all >= 0
    # rho - rho' - gamma (loss' - loss) for rho >= rho' in different pieces, and within the ramp, is >= 0
    assert sp.expand(gamma * t - gamma * (1 - (1 - t))) == 0  # ramp against zero: equality
    assert sp.expand(gamma * (1 + s) - gamma * t - gamma * (1 - t)) == gamma * s  # flat against ramp
    assert sp.expand(gamma * (1 + s) - gamma * 1) == gamma * s  # flat against zero
    other = sp.Symbol("other", nonnegative=True)
    assert sp.expand((gamma * t - gamma * other) - gamma * ((1 - other) - (1 - t))) == 0  # within the ramp
    assert (1 - t).subs(t, 0) == 1  # the knots
    assert (1 - t).subs(t, 1) == 0
    # the loss of the library lies in these pieces, for right and wrong predictions, and is at least the 0-1 loss
    for width, twelfth in product((Fraction(1, 3), Fraction(1), Fraction(7, 2)), range(25)):
        part = Fraction(twelfth, 12)
        piece = "zero" if part == 0 else "ramp" if part <= 1 else "flat"
        rho, loss = (sp.nsimplify(one.subs({gamma: width, t: part, s: part - 1})) for one in pieces[piece])
        found = as_fraction(ramp_loss(Fraction(int(rho.p), int(rho.q)), width))
        assert found == Fraction(int(loss.p), int(loss.q)) >= int(part == 0)
        assert (found == 0) == (part >= 1)
    assert ramp_loss(None, Fraction(1, 3)) == 0
    for margin, width in ((-1, 1), (0, 0), (1, -1)):
        with pytest.raises(ValueError, match=r"not negative|must be positive"):
            ramp_loss(margin, width)


@check("turing:definition-ramp-loss", grade="exact", target="printed", supporting=True)
def test_the_ramp_loss_lies_between_the_two_zero_one_losses():
    """ell_gamma = clip(1 - rho/gamma, 0, 1): (a) >= the 0-1 loss, (b) <= 1(rho < gamma), (c) 1/gamma-Lipschitz in rho.

    (a) a wrong prediction has rho = 0 and loss 1; (b) rho >= gamma has loss 0; (c) a clip is 1-Lipschitz. Each is
    decided by the piece in which rho lies, so a rational grid with points in all pieces and both knots goes through all
    cases; scaling rho and gamma together changes nothing. Lipschitz in theta follows, rho being a distance.
    """

    def loss(rho: Fraction, gamma: Fraction) -> Fraction:
        if rho <= 0:
            return Fraction(1)
        return 1 - rho / gamma if rho <= gamma else Fraction(0)

    grid = [Fraction(n, 12) for n in range(37)]
    for gamma in (Fraction(1, 3), Fraction(1), Fraction(2)):
        assert loss(Fraction(0), gamma) == 1
        assert loss(gamma, gamma) == 0
        for rho in grid:
            value = loss(rho, gamma)
            assert value == max(Fraction(0), min(Fraction(1), 1 - rho / gamma))
            assert value >= int(rho == 0)  # the prediction is right where rho > 0
            assert value <= int(rho < gamma)
            assert all(abs(value - loss(other, gamma)) <= abs(rho - other) / gamma for other in grid)
        assert loss(Fraction(1, 12), gamma) - loss(Fraction(2, 12), gamma) == Fraction(1, 12) / gamma  # attained


@check("turing:theorem-3.1", grade="symbolic", target="printed", supporting=True)
@proof_steps("circuits.md: 9")
def test_alpha_over_gamma_is_polynomial_in_the_size():
    """n = poly(s) O~(log(wd)/eps^2): lemma 2.3 with alpha <= 23 s + 20 (d - q) + 3 and the margin of lemma 3.3.

    F = 2 G - 1 on all inputs (lemma 3.2 and the rounding), so (2.3) holds with eps = 0 and every larger eps; the
    repaired lemma 2.3, applied with eps/3, gives eps-SM approximation with n = O~(alpha^2 log p/(gamma eps)^2). With
    depth d <= c q, q <= s, the norm is at most (26 + 20 c) s; with gamma >= 1/(168 sqrt r (sqrt r + 1)) >= 1/(336 r)
    the factor alpha^2/gamma^2 is at most (336 (26 + 20 c))^2 s^2 r^2 <= C s^4. And p = w m + (d - 1) w^2 + (d + 1) w
    + 1 <= 4 d w^2 for m <= w, so log p = O(log(wd)).
    """
    s, t, c = sp.symbols("s t c", nonnegative=True)  # size s + 1 >= 1, sqrt r = 1 + t, depth at most c times the size
    root = 1 + t
    assert sp.Poly(sp.expand(336 * root**2 - 168 * root * (root + 1)), t).coeffs() == [168, 168]
    size = s + 1
    slack = sp.expand((26 + 20 * c) * size - (23 * size + 20 * c * size + 3))
    assert slack == 3 * s  # at least 0; the depth c q - q is at most c times the size
    d, w = sp.symbols("d w", nonnegative=True)
    width, depth = w + 1, d + 1
    largest = width * width + (depth - 1) * width**2 + (depth + 1) * width + 1  # m = w
    assert all(x >= 0 for x in sp.Poly(sp.expand(4 * depth * width**2 - largest), d, w).coeffs())


@check("turing:lemma-3.3", grade="sampled", target="corrected", supporting=True, cases="25 random circuits, seed 12")
@check("turing:theorem-3.1", grade="sampled", target="printed", supporting=True, cases="25 random circuits, seed 12")
@proof_steps("circuits.md: 7")
def test_the_certified_margin_is_a_polynomial_in_the_inverse_width(effort):
    """gamma >= 1/(84 sqrt r (sqrt(2 F) + 2)) >= 1/(168 sqrt r (sqrt r + 1)), for all circuits by their constants.

    With sigma_theta = 1/2, sigma_xi = 1/4 and thirds after every step: lambda <= sqrt r, kappa_xi < 7, and mu <=
    max(sqrt(2 F), 2) + 1/2 for the largest fan-out F (a parent read twice counts twice), because ||W||^2 <= ||W||_1
    ||W||_inf <= 2 F; F <= 2 r, the number of edges between two layers. So sigma_zeta/(4 lambda mu kappa_xi) is at least
    the bound, and the other terms, 1/(3 sqrt(m + 1)) with m <= r among them, are larger. Checked on wide circuits.
    """
    random = np.random.default_rng(12)
    for _ in range(effort.pick(quick=25, full=150)):
        circuit = random_layered(random, *random_sizes(random, 8, 12, 6))
        network = circuit_network(circuit)
        constants = circuit_constants(network, Fraction(1, 2), Fraction(1, 4))
        fan_out = max(int(abs(step.layers[0].weight).sum(1).max()) for step in network.steps)
        r = circuit.width
        assert constants.kappa_xi < 7
        assert float(constants.mu) < math.sqrt(2 * fan_out) + 2 + 1e-6
        assert fan_out <= 2 * r
        lower = 1 / (84 * math.sqrt(r) * (math.sqrt(2 * fan_out) + 2))
        assert float(margin_bound(constants).value) >= lower >= 1 / (168 * math.sqrt(r) * (math.sqrt(r) + 1))
        assert circuit_margin_bound(network).value >= margin_bound(constants).value
    chain = {q: circuit_margin_bound(circuit_network(identity_chain(q))).value for q in (2, 9, 33)}
    assert len(set(chain.values())) == 1  # no depth enters


@check("turing:lemma-3.3", grade="sampled", target="corrected", supporting=True)
@check("turing:theorem-3.1", grade="sampled", target="printed", supporting=True)
@check("turing:theorem-D.6", grade="sampled", target="printed", supporting=True)
@proof_steps("circuits.md: 7")
def test_no_random_perturbation_at_the_certified_bound_flips(effort, record_property):
    """At least 5,000 perturbations (full) of norm exactly the bound, all inputs: no flip, and |dF| <= the radius."""
    random = np.random.default_rng(13)
    tried, largest, each = 0, 0.0, effort.pick(quick=60, full=400)
    for network in networks(effort):
        bound = float(circuit_margin_bound(network).value)
        perturbations = bound * directions(random, each, len(network.parameters))
        count, change = flips(network, perturbations)
        assert count == 0
        assert change <= float(network.radius)
        tried, largest = tried + each, max(largest, change)
    record_property("random perturbations", tried)
    record_property("largest change of the output", largest)
    assert tried >= effort.pick(quick=480, full=5000)
    assert largest > 0


@check("turing:lemma-3.3", grade="numeric", target="corrected", supporting=True)
@check("turing:theorem-D.6", grade="numeric", target="printed", supporting=True)
@proof_steps("circuits.md: 7")
def test_no_optimised_perturbation_at_the_certified_bound_flips(effort, record_property):
    """Projected gradient ascent of the error inside the ball, at least 100 optimised perturbations (full), no flip."""
    random = np.random.default_rng(14)
    tried, largest, starts = 0, 0.0, effort.pick(quick=3, full=12)
    for number, network in enumerate(networks(effort)):
        bound = float(circuit_margin_bound(network).value)
        for x in random.integers(0, 2, (effort.pick(quick=1, full=2), network.circuit.inputs)):
            target = circuit_target(network, x)
            margins, found = largest_change(target, bound, starts, effort.pick(quick=15, full=100), seed=number)
            assert np.linalg.norm(found, axis=1).max() <= bound * (1 + 1e-12)
            assert margins.min() >= 1 - float(network.radius)
            tried, largest = tried + starts, max(largest, 1 - margins.min())
    record_property("optimised perturbations", tried)
    record_property("largest change of the output", float(largest))
    assert tried >= effort.pick(quick=24, full=100)


@check("turing:lemma-3.3", grade="exact", target="corrected", supporting=True)
def test_certified_and_attacked_margins(effort, record_property):
    """The table of both bounds; every upper bound is an exact rational, replayed from its JSON document.

    Negative controls: at 1.02 times the attack's norm the counter of flips does see a flip, and a perturbation that is
    halved, or aimed at the other label, is refused.
    """
    table = []
    for network in networks(effort):
        bound = circuit_margin_bound(network).value
        target = circuit_target(network, np.ones(network.circuit.inputs, dtype=np.int64))
        flip = smallest_flip(target, starts=8, steps=effort.pick(quick=40, full=300))
        assert flip is not None
        again = replay(target, json.loads(json.dumps(flip.document())))
        assert again == flip
        assert again.margin <= 0
        assert bound**2 <= flip.norm_squared
        table.append((float(bound), flip.norm))
        count, _ = flips(network, 1.02 * np.array([to_float_list(flip.delta(len(network.parameters)))]))
        assert count == 1
        halved = {"denominator": str(2 * flip.denominator), "numerators": flip.document()["numerators"]}
        with pytest.raises(ValueError, match="does not flip the prediction"):
            replay(target, halved)
    record_property("certified, attacked", [(f"{low:.4f}", f"{high:.4f}") for low, high in table])
    assert all(low > 0 for low, _ in table)


def to_float_list(values):
    return [float(value) for value in values]


@check("turing:lemma-3.3", grade="exact", target="corrected", supporting=True)
def test_naive_and_corrected_margins_over_depth(effort, record_property):
    """The chain of q - 1 ID gates at x = 1: the naive margin falls like .4002/sqrt(2 (q - 1)), the corrected stays.

    Upper bounds from attacks, exact; the naive ones agree with the table that an independent search gave, and the
    corrected certified bound is the same at every depth. The naive network wins while it is shallow.
    """
    depths = effort.pick(quick=(2, 3, 5), full=(2, 3, 5, 9, 17, 33))
    rows = []
    for q in depths:
        search = {"starts": 8, "steps": effort.pick(quick=80, full=300)}
        naive = smallest_flip(circuit_target(circuit_network(identity_chain(q), "none"), np.array([1])), **search)
        corrected = smallest_flip(circuit_target(circuit_network(identity_chain(q)), np.array([1])), **search)
        assert naive is not None
        assert corrected is not None
        assert naive.norm < SEARCHED[q] + 5.1e-5
        assert corrected.norm < 0.0791
        rows.append((q, naive.norm, corrected.norm))
    certified = float(circuit_margin_bound(circuit_network(identity_chain(max(depths)))).value)
    record_property("q, naive, corrected (upper bounds)", [(q, f"{a:.4f}", f"{b:.4f}") for q, a, b in rows])
    record_property("corrected, certified", certified)
    assert 0.0066 < certified < min(b for _, _, b in rows)
    assert rows[0][1] > 3 * rows[0][2]
    assert all(later < earlier for (_, earlier, _), (_, later, _) in pairwise(rows))


@check("turing:lemma-3.3", grade="exact", target="corrected", supporting=True)
def test_without_rounding_a_deep_chain_flips_below_the_certified_bound_of_the_corrected_one():
    """Negative control: rounding removed. Each of L layers is w z + b with (w, b) = (1, 0) - c (z, 1)/sqrt(z^2 + 1).

    The direction (z, 1) lowers z w + b fastest, by c sqrt(z^2 + 1), so in the limit of many layers L c is the length of
    the interval from 1 to 1/2 in the metric dz/sqrt(1 + z^2), asinh 1 - asinh 1/2 = .4002, and the norm .4002/sqrt(L).
    The perturbation is rational and its norm exact; the values are rounded up, so the flip is proved.
    """
    L = 8000
    z, total, unit = Fraction(1), Fraction(0), 2**40
    rate = GEODESIC * 1.001 / L
    for _ in range(L):
        length = math.hypot(float(z), 1.0)
        dw, db = (Fraction(round(rate * part / length * unit), unit) for part in (float(z), 1.0))
        total += dw**2 + db**2
        z = max((1 - dw) * z - db, Fraction(0))
        z = Fraction(math.ceil(z * unit), unit)  # an upper bound of the value keeps the numerators short
    assert 2 * z - 1 <= 0
    corrected = circuit_margin_bound(circuit_network(identity_chain(50))).value  # the same at every depth
    assert total < corrected**2
    assert abs(math.sqrt(float(total)) * math.sqrt(L) - GEODESIC) < 2e-3 * GEODESIC


@check("turing:remark-comparison", grade="numeric", target="printed", supporting=True)
def test_padding_with_zeros_does_not_change_the_certified_margin():
    """The width enters neither the bound nor the 1-norm: only log p sees it."""
    circuit = layered(parity_circuit(2))
    narrow, wide = circuit_network(circuit), circuit_network(circuit, width=16 * circuit.width)
    assert circuit_margin_bound(narrow).value == circuit_margin_bound(wide).value
    assert narrow.one_norm == wide.one_norm
    assert len(wide.parameters) > 20 * len(narrow.parameters)
    assert operator_norm(wide.steps[0].layers[0].weight) < 3
    random = np.random.default_rng(15)
    bound = float(circuit_margin_bound(wide).value)
    assert flips(wide, bound * directions(random, 30, len(wide.parameters)))[0] == 0
