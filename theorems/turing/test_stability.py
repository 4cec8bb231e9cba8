"""Appendix D: corrections make the margin independent of the depth (theorem D.6 and what it rests on).

The proof of theorem D.6, with the one inequality that the repaired definition of nice functions asks for, stands in
`lemmata.certificates.margins.all_layer`. Its estimates are inequalities between products of positive constants, checked
here for all values of the constants (`test_the_radii_of_the_theorem_close_the_induction`); the induction itself is
three lines, and every quantity in it is also measured along perturbed networks, where each of the three lines must
hold.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.certificates.margins.all_layer import MarginConstants, circuit_constants, lower_end, margin_bound
from lemmata.certificates.margins.attack import circuit_target, directions
from lemmata.constructions.circuits.boolean import BooleanGate, LayeredCircuit, all_inputs, layered
from lemmata.constructions.circuits.relu import QUARTERS, THIRDS, circuit_network
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.circuit_families import (
    alternating_chain,
    identity_chain,
    parity_circuit,
    random_layered,
    random_sizes,
)

ROUNDING = 1e-9  # of float64, far above the 1e-13 of networks with values below 10 and a few hundred terms


def spectral(weight) -> float:
    return float(np.linalg.norm(to_float(weight), 2))


def hard_attention(scores, values):
    """The mean of the values over the maximisers of the scores, exactly."""
    chosen = [value for score, value in zip(scores, values, strict=True) if score == max(scores)]
    return sum(chosen, Fraction(0)) / len(chosen)


def attention_layer(h, key_weight, value_weight):
    """Positions h_j = (score part, value part): scores key_weight * score part, values value_weight * value part."""
    return hard_attention([key_weight * s for s, _ in h], [value_weight * v for _, v in h])


def library_attention(h, key_weight, value_weight):
    """The same by the head of the library; the null pair scores -100 and is never attended."""
    one, nothing = as_exact([1]), as_exact(np.zeros((2, 1), dtype=int))
    key, value = as_exact([[key_weight], [0]]), as_exact([[0, 0], [0, value_weight]])
    null = (as_exact([-100]), as_exact([0, 0]))
    head = Head(Affine(nothing, one), Affine(key, as_exact([0])), Affine(value, null[1]), weigh="hardmax", null=null)
    return as_fraction(head(as_exact([[0, 0]]), as_exact([list(token) for token in h]))[0, 1])


TIED = ((Fraction(1), Fraction(1)), (Fraction(1), Fraction(0)))  # equal keys, and value parts that W_V = 0 ignores


@check("turing:definition-D.2", grade="exact", target="corrected", supporting=True, cases="a tie of two positions")
@check("turing:theorem-4.1", grade="exact", target="printed", supporting=True, cases="a tie of two positions")
@proof_steps("stability.md: 2")
def test_hard_attention_with_ties_is_not_nice():
    """W_V = 0 at the true parameter; at W_V = eps, breaking the tie by any t moves the output by eps/2.

    Inequality (ii) would need mu >= (eps/2)/t for all t > 0. The parameters are true weights of the construction: two
    visits of one cell tie, and their values differ in coordinates that W_V does not read.
    """
    eps = Fraction(1, 10)
    for k in (3, 6, 12, 30):
        t = Fraction(1, 10**k)
        broken = ((TIED[0][0] + t, TIED[0][1]), TIED[1])
        jump = abs(attention_layer(broken, 1, eps) - attention_layer(TIED, 1, eps))
        assert jump == eps / 2
        assert jump / t >= 10 ** (k - 2)
        # the two ends of the joint inequality: at the true parameter nothing moves, and the jump is at most eps * 1
        assert attention_layer(TIED, 1, Fraction(0)) == attention_layer(broken, 1, Fraction(0)) == 0
        assert abs(attention_layer(broken, 1, eps) - attention_layer(TIED, 1, Fraction(0))) <= eps


@check(
    "turing:definition-D.2",
    grade="exact",
    target="corrected",
    cases="two positions that tie and a third; moves -s, 0, s of the weights and tokens, s = 1/10, 1/100, 10^-6",
)
@proof_steps("stability.md: 3")
def test_the_joint_inequality_holds_for_hard_attention_with_ties():
    """Keys k_j = key_weight * s_j with gap 1 below the tied maximum, tied values equal: the jointly perturbed layer.

    If every score moves by less than 1/2, the chosen set can only shrink inside the tied set J. There the true values
    agree, so the output is within max_J |perturbed value - true value| <= |dW_V| |v| + |W_V + dW_V| |dv|, an inequality
    of the joint form with kappa_theta = 1 (|v| <= |||h|||) and mu = |W_V| + sigma_theta. All signs of all perturbations
    of three sizes, for two positions that tie and a third below.
    """
    true = ((Fraction(2), Fraction(1)), (Fraction(2), Fraction(1)), (Fraction(1), Fraction(5)))
    signs = (-1, 0, 1)
    seen, shrunk, attained = 0, 0, False
    unmoved = library_attention(true, 1, Fraction(1))
    assert unmoved == attention_layer(true, 1, Fraction(1)) == 1
    for size in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**6)):
        for a in signs:
            for b in signs:
                for pattern in np.ndindex(3, 3, 3, 3):
                    s = [signs[i] * size for i in pattern]
                    h = (
                        (true[0][0] + s[0], true[0][1] + s[1]),
                        (true[1][0] + s[2], true[1][1] + s[3]),
                        (true[2][0] - s[0], true[2][1]),
                    )
                    key, value = 1 + a * size, 1 + b * size
                    scores = [key * x for x, _ in h]
                    shrunk += scores[0] != scores[1]
                    assert max(scores) > scores[2]
                    moved = abs(library_attention(h, key, value) - unmoved)
                    dh = max(abs(x) for x in s)
                    assert moved <= 1 * abs(b * size) * 1 + (1 + size) * dh
                    attained |= moved == abs(b * size) + (1 + size) * dh > 0
                    seen += 1
    assert (seen, shrunk > 0, attained) == (3 * 9 * 81, True, True)


@check("turing:definition-D.2", grade="symbolic", target="corrected", supporting=True)
@proof_steps("stability.md: 2")
def test_the_two_printed_inequalities_imply_the_joint_one():
    """||f(h, t) - f(h', t')|| <= ||f(h, t) - f(h, t')|| + ||f(h, t') - f(h', t')||: ReLU layers need no new proof."""
    first, second, kappa, mu, dt, H, dh = sp.symbols("first second kappa mu dt H dh", nonnegative=True)
    joint = kappa * dt * H + mu * dh
    slack = (kappa * dt * H - first) + (mu * dh - second)
    assert sp.expand(joint - (first + second) - slack) == 0


@check("turing:theorem-D.6", grade="symbolic", target="printed", supporting=True)
@check("turing:lemma-D.8", grade="symbolic", target="printed", supporting=True)
@proof_steps("stability.md: 8")
@pytest.mark.parametrize("binding", ["lambda", "sigma_zeta"])
def test_the_radii_of_the_theorem_close_the_induction(binding):
    """(D.7) and (D.8) in the estimate of lemma D.8, for all constants; M = min(lambda, sigma_zeta) is one of the two.

    ||dt|| <= 1/(2 kappa) and <= sigma_zeta/(2 kappa lambda) give kappa lambda ||dt|| <= lambda/2 and <= sigma_zeta/2,
    so <= M/2; ||ds|| <= sigma_zeta/(4 lambda mu kappa_xi) and <= 1/(4 mu kappa_xi) give 2 lambda mu kappa_xi ||ds|| <=
    M/2; ||ds|| <= sigma_h/(2 kappa_xi lambda) gives |||H - H'||| <= kappa_xi (||h|| + M) ||ds|| <= 2 lambda kappa_xi
    ||ds|| <= sigma_h, since ||h|| <= lambda and M <= lambda.
    """
    kappa, kappa_xi, mu, lam, zeta, sigma_h = sp.symbols("kappa kappa_xi mu lambda zeta sigma_h", positive=True)
    M = lam if binding == "lambda" else zeta
    theta_radius = 1 / (2 * kappa) if binding == "lambda" else zeta / (2 * kappa * lam)
    xi_radius = 1 / (4 * mu * kappa_xi) if binding == "lambda" else zeta / (4 * lam * mu * kappa_xi)
    assert sp.simplify(kappa * lam * theta_radius - M / 2) == 0
    assert sp.simplify(2 * lam * mu * kappa_xi * xi_radius - M / 2) == 0
    assert sp.simplify(2 * lam * kappa_xi * sigma_h / (2 * kappa_xi * lam) - sigma_h) == 0
    assert sp.simplify(kappa * lam * theta_radius + 2 * lam * mu * kappa_xi * xi_radius - M) == 0


@check("turing:lemma-D.7", grade="symbolic", target="printed", supporting=True)
@proof_steps("stability.md: 7")
def test_the_base_case():
    """||g_0 - h_0|| <= mu_0 ||dt_0|| <= mu_0 min(lambda, sigma_zeta)/mu_0: the true correction zeta_0 returns h_0."""
    mu_0, lam, zeta = sp.symbols("mu_0 lambda zeta", positive=True)
    for M in (lam, zeta):
        assert sp.simplify(mu_0 * (M / mu_0) - M) == 0


@check("turing:lemma-D.9", grade="symbolic", target="printed", supporting=True)
@proof_steps("stability.md: 9")
def test_outputs_that_move_by_less_than_one_keep_their_sign():
    """F = 1 or -1 and |F' - F| < 1: then F F' > 0. And blocks of a vector of norm below min a_i are below their a_i.

    F F' = F^2 + F (F' - F) >= 1 - |F' - F| > 0. Hence a flip has norm at least min(a_i, b_i).
    """
    F, moved = sp.symbols("F moved", real=True)
    for value in (-1, 1):
        change = moved - F
        assert sp.expand((F * moved - (F**2 + F * change)).subs(F, value)) == 0
        assert (F**2).subs(F, value) == 1


@check("turing:definition-D.5", grade="exact", target="printed", supporting=True)
@proof_steps("stability.md: 6")
@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_sharing_across_layers_does_not_lengthen_the_perturbation_of_a_layer(repeats):
    """tau_i picks distinct entries of theta', so it picks distinct entries of delta: a sum over fewer squares.

    All selections of up to three of four places; with one place used c times in a layer the factor is sqrt(c).
    """
    delta = [Fraction(n) for n in (3, -1, 4, 2)]
    total = sum(x * x for x in delta)
    for places in np.ndindex(*(4,) * repeats):
        squared = sum(delta[place] ** 2 for place in places)
        if len(set(places)) == repeats:
            assert squared <= total
    only = [Fraction(0), Fraction(1), Fraction(0), Fraction(0)]
    assert sum(only[place] ** 2 for place in (1,) * repeats) == repeats * sum(x * x for x in only)


@check("turing:definition-D.5", grade="exact", target="printed", supporting=True)
def test_a_chain_with_shared_layers_and_a_sharing_within_a_layer():
    network = circuit_network(identity_chain(4))
    theta, blocks = network.parameters, dict(network.blocks())
    sharing = np.arange(len(theta))
    for number in range(1, 6):  # all steps equal f0, all roundings zeta0
        for kind in ("f", "zeta"):
            sharing[blocks[f"{kind}{number}"]] = sharing[blocks[f"{kind}0"]]
    target = circuit_target(network, np.array([1]), sharing, theta)
    assert target.label == 1
    assert target.exact_margin([Fraction(0)] * len(theta)) == 1
    within = np.arange(len(theta))
    rounding = blocks["zeta0"]
    within[rounding.start + 1] = rounding.start  # both first weights of a rounding are 1
    with pytest.raises(ValueError, match="repeats no parameter within a layer, but zeta0 does"):
        circuit_target(network, np.array([1]), within, theta)


def cases(effort):
    """Corrected networks of random circuits and the parity of three bits, with both kinds of corrections."""
    random = np.random.default_rng(6)
    circuits = [random_layered(random, *random_sizes(random, 4, 4, 4)) for _ in range(effort.pick(quick=4, full=12))]
    for circuit in [*circuits, layered(parity_circuit(3))]:
        yield circuit_network(circuit, "steps", THIRDS)
        yield circuit_network(circuit, "layers", QUARTERS)


@check("turing:condition-D.4", grade="sampled", target="printed", supporting=True, cases="4 random circuits, seed 6")
def test_hidden_values_of_circuits_are_at_most_the_root_of_the_width(effort):
    """lambda = sqrt r, as r bits have norm at most sqrt r; the ones are counted on all inputs of random circuits.

    The condition asks that some lambda exists, and for bits the root of the width is one.
    """
    attained = 0
    for network in cases(effort):
        widths = [len(layer) for layer in network.circuit.layers]
        ones = [bits.sum(1).max() for bits in network.circuit.values(all_inputs(network.circuit.inputs))[1:]]
        assert all(n <= r for n, r in zip(ones, widths, strict=True))
        constants = circuit_constants(network, Fraction(1), Fraction(1, 4))
        assert abs(float(constants.lam) ** 2 - max(widths)) < 1e-12
        attained += max(ones) == max(widths)
    assert attained > 0


def worst_ratios(network, random, sigma, trials):
    """The largest observed quotients of condition D.3: f_0, the f_i, and the corrections, by block of parameters."""
    theta, x = to_float(network.parameters), all_inputs(network.circuit.inputs).astype(float)
    truth = [x, *network.hidden(theta, x)]
    blocks = [block.layers for block in network.maps()] + [(network.head,)]
    worst = {"f0": 0.0, "f": 0.0, "zeta": 0.0, "mu": 0.0}
    for (name, places), layers, before in zip(network.blocks(), blocks, truth[:-1], strict=True):
        for _ in range(trials):
            step = sigma * random.uniform() * directions(random, 1, places.stop - places.start)[0]
            h, moved = before, theta[places] + step
            if name.startswith("zeta"):
                h = before + random.normal(size=before.shape) * random.choice([0.0, 0.3, 5.0])
            scale = np.maximum(np.linalg.norm(h, axis=1), 1) * np.linalg.norm(step)
            difference = np.linalg.norm(run(layers, moved, h, network) - run(layers, theta[places], h, network), axis=1)
            kind = "f0" if name == "f0" else name.rstrip("0123456789").replace("head", "f")
            worst[kind] = max(worst[kind], (difference / (np.linalg.norm(step) if kind == "f0" else scale)).max())
            if kind == "f":
                dh = random.normal(size=h.shape) * 10.0 ** random.uniform(-3, 1)
                change = np.linalg.norm(run(layers, moved, h + dh, network) - run(layers, moved, h, network), axis=1)
                worst["mu"] = max(worst["mu"], (change / np.linalg.norm(dh, axis=1)).max())
    return worst


def run(layers, theta, z, network):
    """One block with given parameters, written out again."""
    position = 0
    for layer in layers:
        d, e = layer.weight.shape
        weight, bias = theta[position : position + d * e].reshape(d, e), theta[position + d * e : position + d * e + e]
        z, position = z @ weight + bias, position + d * e + e
        z = z if layer is network.head else np.maximum(z, 0.0)
    return z


@check("turing:condition-D.3", grade="numeric", target="corrected")
@proof_steps("stability.md: 4")
def test_the_constants_of_relu_layers_and_roundings():
    """Each is Cauchy-Schwarz on the blocks of the perturbation, with M = max(||h||, 1) and relu 1-Lipschitz.

    One ReLU layer: ||h' W' + b' - h W - b|| <= ||W'|| ||h' - h|| + ||h|| ||dW|| + ||db||, and ||h||^2 + 1 <= 2 M^2, so
    kappa_theta = sqrt 2 and mu = ||W|| + sigma_theta. Rounding: the hidden layer u has ||u|| <= sqrt 2 ||h|| (as
    relu(z - c) <= |z|) and moves by at most sqrt 2 M d_2, so the output moves by at most s sqrt 2 (sqrt 2 M d_2) +
    sqrt 2 M (1 + sigma) d_3 + d_4, for perturbations d_2 (first layer), d_3, d_4 (weight and bias of the second).
    Two ReLU layers with hidden bits of norm at most U: ||W_2|| sqrt 2 M d_1 + (U + sqrt 2 M sigma) d_2 + d_3.
    Hard attention satisfies the joint inequality: `lemmata.certificates.margins.turing` and definition D.2.
    """
    a, b, c, x, y, z = sp.symbols("a b c x y z", nonnegative=True)
    squares = (a * y - b * x) ** 2 + (a * z - c * x) ** 2 + (b * z - c * y) ** 2
    assert sp.expand((a**2 + b**2 + c**2) * (x**2 + y**2 + z**2) - (a * x + b * y + c * z) ** 2 - squares) == 0
    s, sigma, norm, U, M = sp.symbols("s sigma norm U M", positive=True)
    rounding = (s * sp.sqrt(2) * sp.sqrt(2), sp.sqrt(2) * (1 + sigma), 1)
    assert sp.expand(sum(q**2 for q in rounding) - (4 * s**2 + 2 * (1 + sigma) ** 2 + 1)) == 0
    two_layers = (norm * sp.sqrt(2), U + sp.sqrt(2) * sigma, 1)
    assert sp.expand(sum(q**2 for q in two_layers) - (2 * norm**2 + (U + sp.sqrt(2) * sigma) ** 2 + 1)) == 0
    h = sp.Symbol("h", nonnegative=True)
    for larger in (1, h):  # M = max(h, 1): where h <= 1, and where h >= 1
        slack = sp.expand(2 * larger**2 - (h**2 + 1))
        assert slack in (1 - h**2, h**2 - 1)
    assert sp.expand(M * U - U - U * (M - 1)) == 0  # U <= M U as M >= 1
    c = circuit_constants(circuit_network(identity_chain(3)), Fraction(1), Fraction(1, 4))
    assert abs(float(c.kappa_xi) - 40.125**0.5) < 1e-12
    assert abs(float(c.mu) - 3) < 1e-8  # the head 2 z - 1 and sigma_theta = 1
    assert abs(float(c.mu_0) - 2**0.5) < 1e-12


@check("turing:condition-D.3", grade="sampled", target="corrected", supporting=True)
@proof_steps("stability.md: 4")
def test_no_sampled_quotient_exceeds_the_constants(effort, record_property):
    """Seeded perturbations up to the radii, at the true hidden values; the constants themselves are proved."""
    random = np.random.default_rng(7)
    sigma = Fraction(1, 4)
    tightest: dict[str, float] = dict.fromkeys(("f0", "f", "zeta", "mu"), 0.0)
    for network in cases(effort):
        c = circuit_constants(network, sigma, sigma)
        bounds = {"f0": float(c.mu_0), "f": float(c.kappa_theta), "zeta": float(c.kappa_xi), "mu": float(c.mu)}
        for kind, ratio in worst_ratios(network, random, float(sigma), effort.pick(quick=30, full=300)).items():
            assert ratio <= bounds[kind] + ROUNDING
            tightest[kind] = max(tightest[kind], ratio / bounds[kind])
    record_property(
        "largest quotient over constant", {kind: round(float(value), 3) for kind, value in tightest.items()}
    )
    assert min(tightest.values()) > 0.3  # control: constants 3.4 times smaller would all have been refuted


@check("turing:condition-D.3", grade="exact", target="corrected", supporting=True, cases="x = 1; t = 1, 10, 10^6")
@proof_steps("stability.md: 4")
def test_a_two_layer_first_step_has_no_lipschitz_constant_over_all_parameters():
    """f_0 = relu(W_2 relu(W_1 x)) at x = 1: from W_1 = t the step of W_2 from 0 to 1 moves the output by t.

    The condition asks for one mu_0 over all of Theta; the 1-norm bound alpha gives only mu_0 >= alpha - 1. The block is
    the first step of the library's network, with other weights.
    """
    network = circuit_network(identity_chain(2), "layers")
    for t in (1, 10, 10**6):
        ends = []
        for outer in (0, 1):
            first, second = network.steps[0].layers
            layers = (replace(first, weight=as_exact([[t]])), replace(second, weight=as_exact([[outer]])))
            ends.append(as_fraction(replace(network.steps[0], layers=layers)(as_exact([[1]]))[0, 0]))
        assert ends[1] - ends[0] == t


RELU_LAYERS = (
    "identity, (AND, OR) and NOT chains and the parity of 2 bits: every layer, all inputs; 20 perturbations each"
)


@check("turing:definition-D.2", grade="enclosed", target="printed", cases=RELU_LAYERS)
@check("turing:condition-D.3", grade="enclosed", target="printed", cases=RELU_LAYERS)
@proof_steps("stability.md: 2")
def test_relu_layers_satisfy_the_printed_inequalities():
    """Layers h -> relu(h W + b) at their true bits: (i) with kappa_theta, (ii) with mu at every perturbed parameter up
    to sigma_theta, and f_0 with mu_0 at perturbations of any size; exact squares against the library's constants.

    ID chains attain kappa_theta = mu_0 = sqrt 2 (h = 1, the direction (1, 1)) and mu (the head, at 2 + sigma_theta).
    """
    random, sigma = np.random.default_rng(17), Fraction(1, 4)
    best: dict[str, float] = dict.fromkeys(("mu_0", "kappa_theta", "mu"), 0.0)
    negations = LayeredCircuit(1, ((BooleanGate("NOT", (0,)),),) * 2, 0)
    for circuit in (identity_chain(3), alternating_chain(3), negations, layered(parity_circuit(2))):
        network = circuit_network(circuit, "steps")
        c = circuit_constants(network, sigma, sigma)
        h = as_exact(all_inputs(circuit.inputs).astype(int))
        for number, layer in enumerate([*(layer for step in network.steps for layer in step.layers), network.head]):
            is_head = layer is network.head
            for trial in range(20):
                scale = sigma if number else sigma * 40 ** int(random.integers(0, 2))
                dW, db, size = _step(random, layer, scale, extreme=trial < 2)
                moved = _apply(layer.weight + dW, layer.bias + db, h, is_head)
                gaps = _squares(moved - _apply(layer.weight, layer.bias, h, is_head))
                name = "kappa_theta" if number else "mu_0"
                norms = [max(value, 1) if number else 1 for value in _squares(h)]
                dh = as_exact(random.integers(-6, 7, size=h.shape)) / int(random.integers(1, 30))
                other = _squares(_apply(layer.weight + dW, layer.bias + db, h + dh, is_head) - moved)
                pairs = [(name, gap, size * norm) for gap, norm in zip(gaps, norms, strict=True)]
                if number:
                    pairs += [("mu", gap, square) for gap, square in zip(other, _squares(dh), strict=True)]
                for which, left, right in pairs:
                    assert arb(left) < getattr(c, which) ** 2 * arb(right) * (1 + arb(2) ** -40) + arb(2) ** -40
                    if right > 0:
                        best[which] = max(best[which], float(left / right) ** 0.5 / float(getattr(c, which)))
            h = _apply(layer.weight, layer.bias, h, is_head)
    assert min(best.values()) > 0.99


def _step(random, layer, size, *, extreme):
    """A rational perturbation of norm at most size, and its squared norm; extreme: the one that attains the bounds."""
    d, e = layer.weight.shape
    if extreme:
        parts = [np.ones((d, e), dtype=int), np.ones(e, dtype=int) * (1 if d == 1 and layer.weight[0, 0] != 2 else 0)]
    else:
        parts = [random.integers(-3, 4, size=(d, e)), random.integers(-3, 4, size=e)]
    square = int(sum((part**2).sum() for part in parts))
    root = math.isqrt(square * 10**8) + 1  # root/10^4 is above the norm
    scale = fmpq(size.numerator, size.denominator) * fmpq(10**4, root)
    return as_exact(parts[0]) * scale, as_exact(parts[1]) * scale, scale**2 * square


def _apply(weight, bias, h, is_head):
    """relu(h W + b), or h W + b for the head."""
    z = h @ weight + bias
    return z if is_head else np.where(z > 0, z, as_exact(np.zeros(1, dtype=int)))


def _squares(rows):
    return [row.dot(row) for row in rows]


@check("turing:lemma-D.7", grade="sampled", target="printed", supporting=True)
@check("turing:lemma-D.8", grade="sampled", target="printed", supporting=True)
@check("turing:theorem-D.6", grade="sampled", target="printed", supporting=True)
@proof_steps("stability.md: 8")
@pytest.mark.parametrize("factor", [1, 4])
def test_both_lemmas_along_perturbed_networks(factor, effort):
    """At the certified radius every g_i is within min(lambda, sigma_zeta) of h_i, and so is the output.

    The right-hand side of lemma D.8, kappa_theta ||dt_i|| lambda + mu |||H - H'|||, bounds each deviation, computed
    from the perturbation of that layer and the deviation of the rounded layer before. At 4 times the radius the same
    inequality still holds (it only needs ||dt|| <= sigma_theta), which shows that it is measured and not vacuous.
    """
    random = np.random.default_rng(8)
    largest = 0.0
    for network in cases(effort):
        c = circuit_constants(network, Fraction(1, 4), Fraction(1, 4))
        bound = margin_bound(c)
        theta, x = to_float(network.parameters), all_inputs(network.circuit.inputs).astype(float)
        true = network.hidden(theta, x)
        limit = min(float(c.lam), float(c.sigma_zeta))
        for step in factor * float(bound.value) * directions(random, effort.pick(quick=15, full=150), len(theta)):
            moved = network.hidden(theta + step, x)
            for i, (name, places) in enumerate(network.blocks()):
                deviation = np.linalg.norm(moved[i] - true[i], axis=1).max()
                if name == "f0":
                    assert deviation <= float(c.mu_0) * np.linalg.norm(step[places]) + ROUNDING
                elif not name.startswith("zeta"):
                    before = np.linalg.norm(moved[i - 1] - true[i - 1], axis=1).max()
                    estimate = float(c.kappa_theta) * np.linalg.norm(step[places]) * float(c.lam) + float(c.mu) * before
                    assert deviation <= estimate + ROUNDING
                if factor == 1 and not name.startswith("zeta"):
                    assert deviation <= limit + ROUNDING
                    largest = max(largest, deviation)
    assert factor == 4 or largest > 0


@check("turing:theorem-D.6", grade="exact", target="printed", supporting=True)
@proof_steps("stability.md: 10")
def test_margin_bound_is_the_smallest_term():
    """Each of the nine terms binds for some rational constants, and the bound is then that rational number."""
    base = dict.fromkeys(("mu_0", "mu", "kappa_theta", "kappa_xi", "lam", "sigma_theta", "sigma_xi"), Fraction(1))
    base |= {"sigma_zeta": Fraction(1, 2), "sigma_h": Fraction(1)}
    # constants that make one term the smallest, and its value
    table = {
        "sigma_zeta/mu_0": ({"mu_0": Fraction(8)}, Fraction(1, 16)),
        "sigma_theta": ({"sigma_theta": Fraction(1, 64)}, Fraction(1, 64)),
        "sigma_xi": ({"sigma_xi": Fraction(1, 64)}, Fraction(1, 64)),
        "sigma_zeta/(2 kappa_theta lambda)": ({"kappa_theta": Fraction(8)}, Fraction(1, 32)),
        "sigma_h/(2 kappa_xi lambda)": ({"sigma_h": Fraction(1, 32)}, Fraction(1, 64)),
        "sigma_zeta/(4 lambda mu kappa_xi)": ({"mu": Fraction(4)}, Fraction(1, 32)),
    }
    for binding, (changes, value) in table.items():
        bound = margin_bound(MarginConstants(**(base | changes)))
        assert bound.binding == binding
        assert 0 <= value - bound.value < Fraction(1, 10**30)
        assert bound.value <= min(lower_end(term) for term in bound.terms.values())
    # with sigma_zeta < 1 <= lambda the terms lambda/mu_0, 1/(2 kappa_theta), 1/(4 mu kappa_xi) never bind alone
    assert len(margin_bound(MarginConstants(**base)).terms) == 9
    for wrong in ({"sigma_zeta": Fraction(1)}, {"lam": Fraction(1, 2)}, {"mu": Fraction(0)}):
        with pytest.raises(ValueError, match=r"Theorem D\.6|theorem D\.6|Condition D\.4"):
            MarginConstants(**(base | wrong))


@check("turing:condition-D.3", grade="numeric", target="corrected", supporting=True)
def test_constants_three_percent_smaller_are_refuted():
    """Negative control: explicit witnesses reach mu_0, kappa_theta and mu of the ID chain within 1%.

    At h = x = 1 the direction (1, 1) of (W, b) moves a ReLU layer by sqrt 2 ||dt||, which is mu_0 and kappa_theta at
    once; at W' = W + sigma_theta the head moves by (2 + sigma_theta) ||dh||.
    """
    network = circuit_network(identity_chain(3))
    sigma = Fraction(1, 4)
    c = circuit_constants(network, sigma, sigma)
    (first,) = network.steps[0].layers
    step = 0.1 * np.array([1.0, 1.0]) / 2**0.5
    moved = run((first,), np.array([1.0, 0.0]) + step, np.ones((1, 1)), network).item() - 1.0
    assert moved / 0.1 > 0.99 * float(c.mu_0) == pytest.approx(0.99 * float(c.kappa_theta))
    ends = (
        run((network.head,), np.array([2.0 + float(sigma), -1.0]), np.array([[z]]), network).item() for z in (1.0, 1.5)
    )
    low, high = ends
    assert (high - low) / 0.5 > 0.99 * float(c.mu)
