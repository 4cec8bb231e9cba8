"""Planted faults that the checks of machines and margins must see, and constants computed once more in plain floats."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from certificates.margins.all_layer import BITS, circuit_constants, lower_end
from certificates.margins.turing import _layer_norms, _step_constants, machine_margin_bound
from constructions.circuits.boolean import BooleanGate, LayeredCircuit
from constructions.circuits.relu import THIRDS, circuit_network, verify
from constructions.networks.affine import Affine
from constructions.turing.compiler import TuringTransformer, compile_turing_machine
from constructions.turing.evaluators import sessions as turing_runs
from constructions.turing.evaluators.indexed import advance_indexed, run_indexed, start_indexed
from constructions.turing.evaluators.indexed_checks import Configuration, broken_layers
from constructions.turing.evaluators.sessions import VerificationError, indexed_session
from constructions.turing.machine import busy_beaver, palindrome_machine, random_machine
from numerics.exact.balls import as_balls, precision
from numerics.exact.numbers import to_float
from numerics.learning.covers import chaining_bound, margin_error_bound, margin_free_bound
from numerics.learning.generalisation import erm_bound

# ---- the indexed evaluator


def with_map(transformer: TuringTransformer, name: str, number: int, weight, bias) -> TuringTransformer:
    """The transformer with one ReLU layer of one layer changed; both changes add to what is there."""
    layers = list(transformer.layers)
    place = next(n for n, layer in enumerate(layers) if layer.name == name)
    parts = list(layers[place].feed_forward.layers)
    parts[number] = Affine(parts[number].weight + weight, parts[number].bias + bias)
    layers[place] = replace(layers[place], feed_forward=replace(layers[place].feed_forward, layers=tuple(parts)))
    return replace(transformer, layers=tuple(layers))


def unit(size: int, *index: int) -> np.ndarray:
    result = np.zeros((size,) * len(index), dtype=np.int64)
    result[index] = 1
    return result


def test_a_time_that_is_not_cleared_is_refused():
    """The last layer turns the highest digit of the time on, and the next position adds another 1 there."""
    transformer = compile_turing_machine(busy_beaver(2), 6)
    d, place = transformer.layout.width, transformer.layout.stream["pos1"].stop - 1
    with pytest.raises(ValueError, match=r"Time 1, .*block pos1.*the positional encoding meets"):
        run_indexed(with_map(transformer, "C.8c", 0, np.zeros((d, d), int), unit(d, place)))


def test_an_output_that_is_always_a_half_is_refused():
    transformer = compile_turing_machine(busy_beaver(2), 6)
    d = transformer.layout.width
    bias = unit(d, transformer.layout.stream["q"].start).astype(object) * fmpq(1, 2)
    zero = np.zeros((2 * d, d), int)
    with pytest.raises(ValueError, match="token-wise map puts out a number"):
        run_indexed(with_map(transformer, "C.8c", 2, zero, bias))


def test_keys_that_skip_a_digit_of_the_time_are_refused():
    transformer = compile_turing_machine(busy_beaver(3), 9)
    layers = list(transformer.layers)
    place = next(n for n, layer in enumerate(layers) if layer.name == "C.5 bit 3")
    head = layers[place].self_attention
    assert head is not None
    weight = head.key.weight.copy()
    weight[transformer.layout.stream["pos1"].start] = 0
    layers[place] = replace(layers[place], self_attention=replace(head, key=replace(head.key, weight=weight)))
    with pytest.raises(ValueError, match=r"C\.5 bit 3: its keys read digits of the time that are not the leading ones"):
        run_indexed(replace(transformer, layers=tuple(layers)))


def test_input_symbols_with_one_code_are_refused():
    transformer = compile_turing_machine(palindrome_machine(), 2, bits=2, wrap=True)
    with pytest.raises(ValueError, match="Two of the 5 input symbols have the same key"):
        run_indexed(transformer, (1, 2, 1, 2, 1))


@pytest.mark.parametrize("time", [1, 5, 9])
def test_a_wrong_bit_after_every_group_of_layers_is_seen(time):
    """Each layer that ends a lemma, each of its coordinates: `broken_layers` names that layer and no other."""
    machine, word = palindrome_machine(), (1, 2, 1)
    transformer = compile_turing_machine(machine, 12)
    run = start_indexed(transformer, word)
    before, step = advance_indexed(run, time), advance_indexed(run, 1, trace=True)
    codes = [
        Configuration(int(part.states[-1]), int(part.symbols[-1]), int(part.heads[-1]) - transformer.start_cell)
        for part in (before, step)
    ]
    trace, visit = step.trace[0], int(step.last_visits[0])
    names = [layer.name for layer in transformer.layers]
    groups = {"C.1b", "C.2c", "C.4", "C.6", "C.7", "C.8c", *(name for name in names if name.startswith("C.5"))}
    assert broken_layers(transformer, word, time, *codes, visit, trace) == []
    for number, name in enumerate(names):
        if name in groups:
            for coordinate in range(transformer.layout.width):
                trace[number, 1, coordinate] ^= 1
                assert broken_layers(transformer, word, time, *codes, visit, trace) == [name]
                trace[number, 1, coordinate] ^= 1


@pytest.mark.parametrize("check", ["broken_layers", "wrong_answers"])
def test_verification_heeds_both_checks_of_the_layers(check, monkeypatch):
    monkeypatch.setattr(turing_runs, check, lambda *arguments: ["C.6"])
    session = indexed_session(compile_turing_machine(busy_beaver(3), 9), (), None, verify=True)
    with pytest.raises(VerificationError, match=r"invariants fail in step 1, in the layers C\.6"):
        session.finish(lambda done: None)


def test_the_tape_is_what_the_attention_stored():
    """The symbol last written in every cell, as the values of layer C.6 hold it, is the tape of the report."""
    machine = busy_beaver(4)
    transformer = compile_turing_machine(machine, 107)
    session = indexed_session(transformer, (), None, verify=False)
    session.finish(lambda done: None)
    last, payload = session.run.index.last, session.run.index.payload
    visited = np.flatnonzero(last)
    stored = {int(c) - transformer.start_cell: int(payload[last[c]]).bit_length() - 1 for c in visited}
    tape = dict(enumerate(map(int, session.outcome.tape()), session.outcome.left))
    assert tape == {session.outcome.head: tape[session.outcome.head]} | stored


def test_weights_that_would_not_fit_are_refused_before_they_are_built():
    """2^600 steps need 601 bits of position; the thousand states of the other machine fill the width."""
    with pytest.raises(ValueError, match=r"612 layers of width .* GiB of weights"):
        compile_turing_machine(palindrome_machine(), 2**600)
    machine = random_machine(np.random.default_rng(0), 1000, 10)
    with pytest.raises(ValueError, match="GiB of weights, and 16 GiB are allowed"):
        compile_turing_machine(machine, 10)


# ---- the constants of theorem D.6


def fanned(copies: int) -> LayeredCircuit:
    """One bit that many gates read, and their conjunction down to one."""
    layers = [(BooleanGate("ID", (0,)),) * copies, (BooleanGate("AND", (0, copies - 1)), BooleanGate("NOT", (1,)))]
    return LayeredCircuit(1, (*layers, (BooleanGate("OR", (0, 1)),)), 0)


@pytest.mark.parametrize(("theta", "xi"), [(Fraction(1), Fraction(1, 4)), (Fraction(1, 8), Fraction(1, 2))])
def test_constants_of_circuits_in_plain_floats(theta, xi):
    """Formulas of the module's head, written out again; the first circuit has inner norms above that of its head."""
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


def step_constants(layer, lam: float, x: float, t: float) -> tuple[float, float, float]:
    """The largest move of scores, kappa_theta lambda and mu of a step, by the head of `certificates.margins.turing`."""
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
        lam = math.sqrt(4 * transformer.layout.bits + 7)
        layers = [step_constants(layer, lam, x, t) for layer in loud.layers]
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
    lam, radii = math.sqrt(4 * transformer.layout.bits + 7), []
    for layer in transformer.layers:
        if loud > 1 and layer.self_attention is not None:
            head = layer.self_attention
            layer = replace(layer, self_attention=replace(head, null_key=loud * head.null_key))
        norms = _layer_norms(layer)
        for x in (1e-6, 1e-3, 5e-3):
            low, high = 0.0, 0.5
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (middle, high) if step_constants(layer, lam, x, middle)[0] < 1 else (low, middle)
            for t in (0.999 * low, 1.001 * high):
                with precision(BITS):
                    found = _step_constants(norms, *(as_balls([Fraction(value)])[0] for value in (lam, x, t)))
                assert (found is not None) == (t < low or not layer.attentions())
                if found is not None:
                    constants = step_constants(layer, lam, x, t)[1:]
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


# ---- circuits


@pytest.mark.parametrize("amount", [-1, 1])
def test_values_too_small_and_too_large_are_seen(amount):
    """The bias of the first gate is moved down, up, and that of a padded coordinate up, where a 0 must stay."""
    circuit = LayeredCircuit(2, ((BooleanGate("ID", (0,)), BooleanGate("OR", (0, 1))), (BooleanGate("ID", (0,)),)), 0)
    network = circuit_network(circuit, "none", width=3)
    for place in (0, 2) if amount > 0 else (0,):
        (first, second), *others = (step.layers for step in network.steps)
        bias = second.bias.copy()
        bias[place] += amount
        steps = [(first, replace(second, bias=bias)), *others]
        blocks = tuple(replace(step, layers=new) for step, new in zip(network.steps, steps, strict=True))
        fault = verify(replace(network, steps=blocks)).fault
        assert fault is not None
        assert fault.startswith("f0 differs from the circuit")
    assert verify(network).fault is None


# ---- sample sizes


@pytest.mark.parametrize(("alpha", "gamma"), [("3", "1/4"), ("7/5", "1"), ("1", "3/2"), ("11/10", "5")])
def test_chaining_in_plain_floats_where_it_is_not_trivial(alpha, gamma):
    """Covers of (4^j kappa^2 rounded up) ln(2 p + 1) nats, of one element where 2^j kappa <= 1; below the trivial 1."""
    n, p, kappa = 10**7, 12, Fraction(alpha) / Fraction(gamma)

    def nats(j: int) -> float:
        return 0.0 if j == 0 or 4**j * kappa**2 <= 1 else math.ceil(4**j * kappa**2) * math.log(2 * p + 1)

    sums = np.cumsum([0.0, *(3 * 2.0**-j * math.sqrt(2 * (nats(j) + nats(j - 1)) / n) for j in range(1, 26))])
    expected = min(total + 2.0**-J for J, total in enumerate(sums))
    assert expected < 0.7
    assert float(chaining_bound(n, Fraction(alpha), Fraction(gamma), p)) == pytest.approx(expected, rel=1e-12)


def test_bounds_on_errors_in_plain_floats():
    n, p = 10**7, 12
    chaining = float(chaining_bound(n, 3, Fraction(1, 4), p))
    ends = math.sqrt(2 * math.log(200) / n)
    for constants, factor, scale in (("sharp", 3, 2), ("printed", 5, 4)):
        found = float(erm_bound(Fraction(1, 7), 50, delta=Fraction(1, 20), constants=constants))
        assert found == pytest.approx(factor / 7 + math.sqrt(scale * math.log(40) / 50), rel=1e-12)
    assert float(margin_error_bound(n, 3, Fraction(1, 4), p)) == pytest.approx(2 * chaining + ends, rel=1e-12)
    free = margin_free_bound(n, 3, 2, p, empirical=Fraction(1, 8), delta=Fraction(1, 50))
    assert float(free) == pytest.approx(1 / 8 + 2 * chaining + math.sqrt(math.log(600) / (2 * n)), rel=1e-12)
