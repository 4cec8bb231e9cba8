"""The constants of theorem D.6, of circuits and of compiled machines, computed once more in plain floats."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from lemmata.certificates.margins.all_layer import BITS, circuit_constants, lower_end, margin_bound
from lemmata.certificates.margins.turing import layer_norms, machine_margin_bound, step_constants
from lemmata.constructions.circuits.boolean import BooleanGate, LayeredCircuit
from lemmata.constructions.circuits.relu import THIRDS, circuit_network
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import palindrome_machine
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.numbers import to_float


def fanned(copies: int) -> LayeredCircuit:
    """One bit that many gates read, and their conjunction down to one."""
    layers = [(BooleanGate("ID", (0,)),) * copies, (BooleanGate("AND", (0, copies - 1)), BooleanGate("NOT", (1,)))]
    return LayeredCircuit(1, (*layers, (BooleanGate("OR", (0, 1)),)), 0)


@pytest.mark.parametrize(("theta", "xi"), [(Fraction(1), Fraction(1, 4)), (Fraction(1, 8), Fraction(1, 2))])
def test_constants_of_circuits_in_plain_floats(theta, xi):
    """The formulas of ALL_LAYER_MARGIN.md, section 5, once more; the inner norms of `wide` exceed that of its head."""
    s, t = float(theta), float(xi)
    wide = LayeredCircuit(
        1, ((BooleanGate("ID", (0,)),), (BooleanGate("ID", (0,)),) * 9, (BooleanGate("ID", (0,)),)), 0
    )
    for circuit in (wide, fanned(5)):
        norm = math.sqrt(max(map(len, circuit.layers)))
        for corrections in ("steps", "layers"):
            network = circuit_network(circuit, corrections)
            c = circuit_constants(network, theta, xi)
            norms = [[np.linalg.norm(to_float(layer.weight), 2) for layer in step.layers] for step in network.steps]
            head = 2 + s
            if corrections == "steps":
                expected = (math.sqrt(2), math.sqrt(2), max(head, *(first + s for (first,) in norms[1:])))
            else:
                outer = max(second for _, second in norms)
                expected = (
                    math.sqrt(2 * outer**2 + (norm + math.sqrt(2) * s) ** 2 + 1),
                    math.sqrt(2 * outer**2 + (norm + math.sqrt(2) * s) ** 2 + 1),
                    max(head, *((a + s) * (b + s) for a, b in norms[1:])),
                )
            found = [float(x) for x in (c.mu_0, c.kappa_theta, c.mu, c.kappa_xi, c.lam)]
            assert found == pytest.approx([*expected, math.sqrt(18 + 18 + 2 * (1 + t) ** 2 + 1), norm], rel=1e-8)
    steps = circuit_constants(circuit_network(wide, "steps"), theta, xi)
    assert float(steps.mu) == pytest.approx(3 + s, rel=1e-8)  # nine gates read one bit: norm 3


def plain_step_constants(layer, lam: float, x: float, t: float) -> tuple[float, float, float]:
    """The largest move of scores, kappa_theta lambda and mu of a step, by TURING_MARGIN.md, sections 3 and 4."""
    S = math.hypot(lam + x, 1)
    factor, added, size, closest = 1.0, 0.0, lam, 0.0
    for head in (layer.self_attention, layer.cross_attention):
        if head is not None:
            moved, length = factor * x + added * t, math.sqrt(head.key.weight.shape[1])  # +-1 codes
            query, key, value = (
                np.linalg.norm(part.weight.astype(float), 2) for part in (head.query, head.key, head.value)
            )
            digits = head.key.weight.shape[1] - 1
            dq, dk = query * moved + t * math.hypot(size + moved, 1), key * x + t * S
            scores = dq * math.sqrt(digits) + length * dk + dq * dk
            null = dq * np.linalg.norm(head.null_key) + length * t + dq * t
            closest = max(closest, 2 * scores, scores + null)
            factor += value
            size += np.linalg.norm(np.abs(head.value.weight).sum(axis=0) + head.value.bias)
        added += S
    first = np.linalg.norm(layer.feed_forward.layers[0].weight.astype(float), 2)
    return closest, first * added + math.hypot(size + factor * x + added * t, 1), first * factor


@pytest.mark.parametrize("steps", [5, 100])
def test_margin_of_a_machine_in_plain_floats(steps):
    """The certificate at its own radii: scores that stay apart, the constants of every layer, and the smallest term."""
    transformer = compile_turing_machine(palindrome_machine(), steps)
    for loud in (transformer, replace(transformer, classifier=100 * transformer.classifier)):
        bound = machine_margin_bound(loud)
        c = {name: float(value) for name, value in vars(bound.constants).items() if value is not None}
        x, t = c["sigma_h"], c["sigma_theta"]
        lam = math.sqrt(4 * transformer.layout.bits + 3)
        layers = [plain_step_constants(layer, lam, x, t) for layer in loud.layers]
        assert max(closest for closest, _, _ in layers) < 1
        kappa = max(lam + x, *(kappa for _, kappa, _ in layers))
        mu = max(np.linalg.norm(loud.classifier), *(mu for _, _, mu in layers))
        kappa_xi = math.sqrt(36 + 2 * (1 + t) ** 2 + 1)
        assert (c["lam"], c["mu"], c["kappa_theta"], c["kappa_xi"]) == pytest.approx((lam, mu, kappa / lam, kappa_xi))
        third = float(THIRDS[0])
        terms = [third / (2 * kappa), third / (4 * lam * mu * kappa_xi), x / (2 * kappa_xi * lam), third / (2 * mu)]
        assert float(bound.value) == pytest.approx(min(t, x, *terms))
        assert {"sigma_h", "sigma_zeta/(2 mu)"} <= set(bound.terms)  # for the encoder's weights and the first token


@pytest.mark.parametrize("loud", [1, 3])
def test_every_step_refuses_the_radii_that_let_scores_meet(loud):
    """Layer by layer, the largest radius of the weights to one part in a thousand, for three radii of the tokens.

    With its own null key two tokens come closest, with one that is three times larger a token and the null pair.
    """
    transformer = compile_turing_machine(palindrome_machine(), 10)
    lam, radii = math.sqrt(4 * transformer.layout.bits + 3), []
    for layer in transformer.layers:
        if loud > 1 and layer.self_attention is not None:
            head = layer.self_attention
            layer = replace(layer, self_attention=replace(head, null=(loud * head.null_key, head.null_value)))
        norms = layer_norms(layer)
        for x in (1e-6, 1e-3, 5e-3):
            low, high = 0.0, 0.5
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (middle, high) if plain_step_constants(layer, lam, x, middle)[0] < 1 else (low, middle)
            for t in (0.999 * low, 1.001 * high):
                with precision(BITS):
                    found = step_constants(norms, *(as_balls([Fraction(value)])[0] for value in (lam, x, t)))
                assert (found is not None) == (t < low or not layer.attentions())
                if found is not None:
                    constants = plain_step_constants(layer, lam, x, t)[1:]
                    assert (float(found[0]), float(found[1])) == pytest.approx(constants)
            radii += [low] if layer.attentions() else []
    assert len(radii) == 3 * (transformer.layout.bits + 3)
    assert 0 < min(radii) < max(radii) < 0.1


def test_certified_values_are_rounded_down():
    for number in (2, 3, 5, 7):
        with precision(BITS):
            end = lower_end(arb(number).sqrt())
        assert end**2 < number
        assert number - end**2 < Fraction(1, 10**30)
    assert lower_end(arb(3)) == 3


def test_terms_of_the_bound_in_plain_floats():
    """The terms of ALL_LAYER_MARGIN.md, section 3, once more, and the smallest of them is the bound."""
    network = circuit_network(fanned(5), "layers")
    bound = margin_bound(circuit_constants(network, Fraction(1, 4), Fraction(1, 8)), {"another": Fraction(9)})
    c = {name: float(as_balls([x])[0]) for name, x in vars(bound.constants).items() if x is not None}
    lam, radius, mu, xi = c["lam"], c["sigma_zeta"], c["mu"], c["kappa_xi"]
    expected = {
        "lambda/mu_0": lam / c["mu_0"],
        "sigma_zeta/mu_0": radius / c["mu_0"],
        "sigma_theta": 1 / 4,
        "sigma_xi": 1 / 8,
        "1/(2 kappa_theta)": 1 / (2 * c["kappa_theta"]),
        "sigma_zeta/(2 kappa_theta lambda)": radius / (2 * c["kappa_theta"] * lam),
        "sigma_zeta/(4 lambda mu kappa_xi)": radius / (4 * lam * mu * xi),
        "1/(4 mu kappa_xi)": 1 / (4 * mu * xi),
        "another": 9,
    }
    assert {name: float(term) for name, term in bound.terms.items()} == pytest.approx(expected, rel=1e-12)
    assert float(bound.value) == pytest.approx(min(expected.values()), rel=1e-9)
    assert bound.binding == min(expected, key=expected.__getitem__)


@pytest.mark.parametrize("place", [1, 2])
def test_the_widest_step_decides_wherever_it_is(place):
    """Nine gates read one bit: norm 3, once in the step in the middle and once in the last."""
    identity = BooleanGate("ID", (0,))
    layers = [(identity,), (identity,), (identity,)]
    layers[place] = (identity,) * 9
    network = circuit_network(LayeredCircuit(1, tuple(layers), 0), "layers")
    norms = [[np.linalg.norm(to_float(layer.weight), 2) for layer in step.layers] for step in network.steps]
    products = [(a + 0.5) * (b + 0.5) for a, b in norms[1:]]
    assert max(products) == products[place - 1] > 2.5  # above the head
    assert products[0] != products[1]
    c = circuit_constants(network, Fraction(1, 2), Fraction(1, 2))
    assert float(c.mu) == pytest.approx(max(products), rel=1e-8)
