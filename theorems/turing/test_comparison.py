"""The remark after theorem 3.1: what width and depth do to the sample sizes. (The VC bound: test_sign_patterns.)

Zero rows and columns change no operator norm and no 1-norm, so that padding a circuit network to any width w leaves
the 1-norm alpha and the certified margin gamma alone, and the sample size of lemma 2.3 sees w in ln(2 p + 1) only. The
product of operator norms, on which bounds by norms depend, grows exponentially with the depth wherever a layer has a
gate with two inputs, but it is 1 for chains of identity gates.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from lemmata.certificates.margins.all_layer import circuit_margin_bound, operator_norm
from lemmata.constructions.circuits.boolean import layered
from lemmata.constructions.circuits.relu import circuit_network
from lemmata.numerics.learning.covers import margin_sample_size
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.circuit_families import (
    alternating_chain,
    identity_chain,
    parity_circuit,
    prefix_conjunction,
    random_layered,
    random_sizes,
)


def parameter_count(m: int, w: int, d: int) -> int:
    """Of networks with m inputs, width w and d hidden layers: w m + (d - 1) w^2 + (d + 1) w + 1."""
    return w * m + (d - 1) * w**2 + (d + 1) * w + 1


@check("turing:remark-comparison", grade="enclosed", target="printed", supporting=True)
@proof_steps("vc-bounds.md: 1")
def test_padding_changes_no_norm_and_no_margin(effort) -> None:
    """Random circuits at 1, 2 and 5 times their width: 1-norm and certificate are equal, not only close."""
    random = np.random.default_rng(61)
    for _ in range(effort.pick(quick=6, full=60)):
        circuit = random_layered(random, *random_sizes(random, 4, 4, 4))
        narrow = circuit_network(circuit)
        bound, w = circuit_margin_bound(narrow), narrow.width
        for factor in (2, 5):
            wide = circuit_network(circuit, width=factor * w)
            assert wide.width == factor * w
            assert wide.one_norm == narrow.one_norm
            assert circuit_margin_bound(wide).value == bound.value
            p = parameter_count(circuit.inputs, factor * w, wide.depth)
            assert len(narrow.parameters) < len(wide.parameters) <= p


@check("turing:remark-comparison", grade="numeric", target="printed", supporting=True)
@proof_steps("vc-bounds.md: 1")
def test_the_sample_size_is_logarithmic_in_the_width(record_property) -> None:
    """n at width r 2^j, j = 0, ..., 20, for error 1/10: at most proportional to ln(2 p + 1), though p grows 10^11-fold.

    The chaining bound of lemma 2.3 is linear in sqrt(ln(2 p + 1)/n). The control: an alpha that grew with w would show.
    """
    for circuit in (layered(parity_circuit(3)), layered(prefix_conjunction(4))):
        network = circuit_network(circuit)
        alpha, gamma = network.one_norm, circuit_margin_bound(network).value
        m, r, d = circuit.inputs, circuit.width, network.depth
        rows = []
        for j in (0, 1, 10, 20):
            w = 2 * r * 2**j
            p = parameter_count(m, w, d)
            rows.append((w, p, margin_sample_size(Fraction(1, 10), alpha, gamma, p)))
        _, first_p, first = rows[0]
        for _, p, n in rows[1:]:
            ratio = float(arb(2 * p + 1).log() / arb(2 * first_p + 1).log())
            assert first < n <= ratio * first * (1 + 1e-9) + 1
        assert rows[-1][1] > 10**11 * first_p
        assert rows[-1][2] < 8 * first
        assert margin_sample_size(Fraction(1, 10), 2 * alpha, gamma, first_p) > 3 * first
        record_property("w, p, n", [(w, f"{p:.2e}", f"{n:.3e}") for w, p, n in rows])


@check("turing:remark-comparison", grade="exact", target="printed", supporting=True)
@proof_steps("vc-bounds.md: 6")
def test_every_layer_with_a_gate_of_two_inputs_multiplies_the_norms_by_root_two(effort) -> None:
    """Its row of W_1 has squared norm 2 (4 if both inputs are one node), and W_2 has an entry +-1: factor >= sqrt 2.

    So the product is at least 2^((q - 1)/2) if all layers have one, such as in any chain of AND and OR gates.
    """
    random = np.random.default_rng(62)
    for _ in range(effort.pick(quick=30, full=300)):
        circuit = random_layered(random, *random_sizes(random, 4, 4, 5))
        steps = circuit_network(circuit, "none").steps
        for gates, (first, second) in zip(
            circuit.layers, ((steps[i].layers[0], steps[i].layers[1]) for i in range(len(steps))), strict=True
        ):
            if any(gate.operation in ("AND", "OR") for gate in gates):
                assert max(int(x) for x in (first.weight**2).sum(axis=0)) >= 2
                assert int(np.abs(second.weight).max()) >= 1


@check(
    "turing:remark-comparison",
    grade="numeric",
    target="printed",
    cases="q = 2, 9, 33: chains of (AND, OR) and of identities",
)
@proof_steps("vc-bounds.md: 6")
def test_products_of_operator_norms_over_depth(record_property) -> None:
    """The (AND, OR) chain has product 2^(q - 1), beyond 10^9 at q = 33; its certified margin stays above 1/500.

    The chain of identity gates has product 1: the naive construction is not exponential for every circuit.
    """
    rows = []
    for q in (2, 9, 33):
        products = []
        for chain in (alternating_chain(q), identity_chain(q)):
            norms = [operator_norm(layer.weight) for s in circuit_network(chain, "none").steps for layer in s.layers]
            products.append(float(math.prod(norms, start=arb(1)).mid()))
        margin = float(circuit_margin_bound(circuit_network(alternating_chain(q))).value)
        rows.append((q, f"{products[0]:.3g}", f"{products[1]:.3g}", f"{margin:.4f}"))
        assert products[0] > 0.999 * 2 ** (q - 1)
        assert abs(products[1] - 1) < 1e-6
        assert margin > 1 / 500
    assert float(rows[-1][1]) > 10**9
    record_property("q, product for AND/OR, for identities, certified margin", rows)
