"""Appendix D in quantities of the library: the terms of the bound, the constants of layers, sharing, flips by blocks.

The induction of proofs/stability.md allows perturbations of norm r as long as, with M = min(lambda, sigma_zeta),

    mu_0 r <= M,   kappa_theta lambda r <= M/2,   2 lambda mu kappa_xi r <= M/2,   2 lambda kappa_xi r <= sigma_h,

and r <= sigma_theta, sigma_xi. The largest such r is computed here in fractions and compared with `margin_bound`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest
from flint import arb

from lemmata.certificates.margins.all_layer import (
    MarginBound,
    MarginConstants,
    circuit_constants,
    lower_end,
    margin_bound,
)
from lemmata.certificates.margins.attack import circuit_target, smallest_flip
from lemmata.constructions.circuits.boolean import BooleanGate, LayeredCircuit, all_inputs, layered
from lemmata.constructions.circuits.relu import QUARTERS, THIRDS, CircuitNetwork, circuit_network
from lemmata.constructions.circuits.verification import exact_values, verify
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.circuit_families import alternating_chain, identity_chain, small_circuits

TINY = Q(1, 10**12)  # ends of balls are rounded to 53 bits
CHOICES = {
    "mu_0": (Q(1, 2), Q(3)),
    "mu": (Q(1, 3), Q(5)),
    "kappa_theta": (Q(1, 2), Q(7)),
    "kappa_xi": (Q(2, 3), Q(6)),
    "lam": (Q(1), Q(4)),
    "sigma_theta": (Q(1, 300), Q(9)),
    "sigma_xi": (Q(1, 400), Q(8)),
    "sigma_zeta": (Q(1, 4), Q(2, 3)),
    "sigma_h": (Q(1, 50), Q(2)),
}
COVERED = "all 512 combinations of two values of each of the nine constants"


def constants() -> Iterator[tuple[dict[str, Q], MarginBound]]:
    """All combinations, with the bound of the library."""
    for values in itertools.product(*CHOICES.values()):
        c = dict(zip(CHOICES, values, strict=True))
        yield c, margin_bound(MarginConstants(**c))


def smallest(bound: MarginBound, *names: str) -> Q:
    """The least of these terms, exact up to the precision of the balls."""
    return min(lower_end(bound.terms[name]) for name in names)


def close(left: Q, right: Q) -> bool:
    return abs(left - right) < TINY


@check("turing:lemma-D.7", grade="enclosed", target="printed", cases=COVERED)
@proof_steps("stability.md: 7")
def test_the_base_case_is_closed_by_its_terms() -> None:
    """mu_0 times the radius (D.6) is min(lambda, sigma_zeta): not more, and not less."""
    for c, bound in constants():
        radius = smallest(bound, "lambda/mu_0", "sigma_zeta/mu_0")
        assert close(c["mu_0"] * radius, min(c["lam"], c["sigma_zeta"]))


@check("turing:lemma-D.8", grade="enclosed", target="printed", cases=COVERED)
@proof_steps("stability.md: 8")
def test_the_inductive_step_is_closed_by_its_terms() -> None:
    """Both summands are half of min(lambda, sigma_zeta) at the radii (D.7), (D.8), and |||H - H'||| is sigma_h."""
    for c, bound in constants():
        M = min(c["lam"], c["sigma_zeta"])
        by_weights = smallest(bound, "1/(2 kappa_theta)", "sigma_zeta/(2 kappa_theta lambda)")
        by_corrections = smallest(bound, "sigma_zeta/(4 lambda mu kappa_xi)", "1/(4 mu kappa_xi)")
        assert close(c["kappa_theta"] * c["lam"] * by_weights, M / 2)
        assert close(2 * c["lam"] * c["mu"] * c["kappa_xi"] * by_corrections, M / 2)
        assert close(2 * c["lam"] * c["kappa_xi"] * smallest(bound, "sigma_h/(2 kappa_xi lambda)"), c["sigma_h"])
        assert close(smallest(bound, "sigma_theta"), c["sigma_theta"])
        assert close(smallest(bound, "sigma_xi"), c["sigma_xi"])


@check("turing:theorem-D.6", grade="enclosed", target="printed", cases=COVERED)
@check("turing:lemma-D.8", grade="enclosed", target="printed", cases=COVERED)
@check("turing:lemma-D.9", grade="enclosed", target="printed", cases=COVERED)
@proof_steps("stability.md: 10")
def test_the_bound_is_the_largest_radius_that_the_induction_allows() -> None:
    """The nine printed terms; the least of them is the largest r for which all conditions of the induction hold."""
    binding = set()
    for c, bound in constants():
        M, lam, kappa_xi = min(c["lam"], c["sigma_zeta"]), c["lam"], c["kappa_xi"]
        allowed = {
            "base": M / c["mu_0"],
            "weights": M / (2 * c["kappa_theta"] * lam),
            "corrections": M / (4 * lam * c["mu"] * kappa_xi),
            "sigma_h": c["sigma_h"] / (2 * lam * kappa_xi),
            "sigma_theta": c["sigma_theta"],
            "sigma_xi": c["sigma_xi"],
        }
        printed = {
            "lambda/mu_0": lam / c["mu_0"],
            "sigma_zeta/mu_0": c["sigma_zeta"] / c["mu_0"],
            "sigma_theta": c["sigma_theta"],
            "sigma_xi": c["sigma_xi"],
            "1/(2 kappa_theta)": 1 / (2 * c["kappa_theta"]),
            "sigma_zeta/(2 kappa_theta lambda)": c["sigma_zeta"] / (2 * c["kappa_theta"] * lam),
            "sigma_h/(2 kappa_xi lambda)": c["sigma_h"] / (2 * kappa_xi * lam),
            "sigma_zeta/(4 lambda mu kappa_xi)": c["sigma_zeta"] / (4 * lam * c["mu"] * kappa_xi),
            "1/(4 mu kappa_xi)": 1 / (4 * c["mu"] * kappa_xi),
        }
        assert bound.terms.keys() == printed.keys()
        assert all(close(smallest(bound, name), value) for name, value in printed.items())
        assert bound.value <= min(allowed.values())
        assert close(bound.value, min(allowed.values()))
        binding.add(min(allowed, key=lambda name: allowed[name]))
    assert binding == {"base", "weights", "corrections", "sigma_h", "sigma_theta", "sigma_xi"}


# ---- what the constants are


def _radii(bound: MarginBound, name: str) -> Q:
    """How far the parameters of a block may move: (D.6) for f_0, (D.7) for the other steps, (D.8) for corrections."""
    if name == "f0":
        return smallest(bound, "lambda/mu_0", "sigma_zeta/mu_0", "sigma_theta")
    if name.startswith("zeta"):
        terms = ("sigma_xi", "sigma_zeta/(4 lambda mu kappa_xi)", "1/(4 mu kappa_xi)")
        return smallest(bound, *terms)
    return smallest(bound, "sigma_theta", "1/(2 kappa_theta)", "sigma_zeta/(2 kappa_theta lambda)")


@check(
    "turing:lemma-D.9",
    grade="exact",
    target="printed",
    cases="exact flips of three networks: the chain of ID gates with and without sharing, and the pair (AND, OR)",
)
@check(
    "turing:theorem-D.6",
    grade="exact",
    target="printed",
    cases="exact flips of three networks: the chain of ID gates with and without sharing, and the pair (AND, OR)",
)
@proof_steps("stability.md: 9, 10")
@pytest.mark.parametrize("shared", [False, True])
def test_every_flip_moves_some_block_beyond_its_radius(shared: bool) -> None:
    """A perturbation that flips the sign, found by search and replayed exactly, is longer than the certified bound.

    With the bounds a_i, b_i of lemma D.9, in exact arithmetic; with sharing the perturbation is that of theta'.
    """
    for circuit in (identity_chain(4),) if shared else (identity_chain(3), alternating_chain(2)):
        network = circuit_network(circuit)
        bound = margin_bound(circuit_constants(network, Q(1, 4), Q(1, 4)))
        theta = network.parameters
        places = chain_sharing(network) if shared else np.arange(len(theta))
        bits = np.ones(circuit.inputs, dtype=np.int64)
        target = circuit_target(network, bits, places, theta) if shared else circuit_target(network, bits)
        flip = smallest_flip(target, starts=4, steps=60)
        assert flip is not None
        assert flip.margin <= 0
        assert bound.value > 0
        assert flip.norm_squared >= bound.value**2
        own = flip.delta(len(theta))
        beyond = [
            name
            for name, block in network.blocks()
            if sum(own[place] ** 2 for place in places[block]) > _radii(bound, name) ** 2
        ]
        assert beyond


def chain_sharing(network: CircuitNetwork) -> np.ndarray:
    """The places of shared parameters of a chain: all steps equal f0, and all corrections zeta0."""
    blocks = dict(network.blocks())
    sharing = np.arange(len(network.parameters))
    for name, block in blocks.items():
        kind = name.rstrip("0123456789")
        if kind != "head":
            sharing[block] = sharing[blocks[f"{kind}0"]]
    return sharing


@check("turing:definition-D.5", grade="exact", target="printed")
@proof_steps("stability.md: 6")
def test_equal_parameters_may_be_shared_across_layers_and_not_within_one() -> None:
    """All pairs of equal parameters of a chain of two ID gates: refused exactly if both belong to one step.

    Where it is allowed, a step of the shared parameter moves no block by more than itself.
    """
    network = circuit_network(identity_chain(3), "none")
    theta = network.parameters
    owner = {place: name for name, block in network.blocks() for place in range(block.start, block.stop)}
    seen = {True: 0, False: 0}
    for i, j in itertools.combinations(range(len(theta)), 2):
        if theta[i] != theta[j]:
            continue
        sharing = np.arange(len(theta))
        sharing[j] = i
        seen[owner[i] == owner[j]] += 1
        if owner[i] == owner[j]:
            with pytest.raises(ValueError, match="repeats no parameter within a layer"):
                circuit_target(network, np.array([1]), sharing, theta)
            continue
        target = circuit_target(network, np.array([1]), sharing, theta)
        assert target.exact_margin([Q(0)] * len(theta)) == 1
        moved = (sharing == i).astype(int)
        assert all(moved[block].sum() <= 1 for _, block in network.blocks())
    assert min(seen.values()) > 0


@check("turing:condition-D.3", grade="numeric", target="corrected")
@check("turing:theorem-3.1", grade="numeric", target="printed", cases="the constants of ID and (AND, OR) chains")
@proof_steps("circuits.md: 6", "stability.md: 4")
@pytest.mark.parametrize("sigma", [Q(1, 4), Q(1, 7)])
def test_the_constants_of_networks_whose_norms_are_known(sigma: Q) -> None:
    """ID gates: all operator norms 1. (AND, OR): ||W_1|| = 2, ||W_2|| = 1. The head 2 z - 1 has norm 2.

    One ReLU layer a step: mu_0 = sqrt(m + 1), kappa_theta = sqrt 2, mu = the largest norm but the first plus sigma.
    Two ReLU layers a step: kappa_theta^2 = 2 ||W_2||^2 + (sqrt r + sqrt 2 sigma)^2 + 1, mu_0^2 the same with m + 1 for
    2, mu = the larger of 2 + sigma and (||W_1|| + sigma)(||W_2|| + sigma). kappa_xi^2 = 4 s^2 + 2 (1 + sigma)^2 + 1 for
    a rounding of slope s.
    """
    s = arb(sigma.numerator) / sigma.denominator
    root = arb(2).sqrt()
    for circuit, first in ((identity_chain(4), 1), (alternating_chain(4), 2)):
        m = r = circuit.inputs
        for thresholds, slope in ((THIRDS, 3), (QUARTERS, 2)):
            steps = circuit_constants(circuit_network(circuit, "steps", thresholds), sigma, sigma)
            layers = circuit_constants(circuit_network(circuit, "layers", thresholds), sigma, sigma)
            pairs = {
                "kappa_xi": (4 * slope**2 + 2 * (1 + s) ** 2 + 1).sqrt(),
                "lam": arb(r).sqrt(),
                "mu_0": arb(m + 1).sqrt(),
                "kappa_theta": root,
                "mu": 2 + s,
            }
            wide = {
                "kappa_xi": pairs["kappa_xi"],
                "lam": pairs["lam"],
                "mu_0": (m + 1 + (arb(r).sqrt() + arb(m + 1).sqrt() * s) ** 2 + 1).sqrt(),
                "kappa_theta": (2 + (arb(r).sqrt() + root * s) ** 2 + 1).sqrt(),
                "mu": max(2 + s, (first + s) * (1 + s)),
            }
            for found, expected in ((steps, pairs), (layers, wide)):
                for name, value in expected.items():
                    assert abs(getattr(found, name) - value) < 1e-8, (name, circuit.inputs)
                assert abs(float(found.sigma_zeta) - {3: 1 / 3, 2: 1 / 4}[slope]) < 1e-12
                assert found.sigma_h is None


# ---- corrected networks of all small circuits


@check("turing:definition-D.1", grade="numeric", target="corrected")
@check("turing:condition-D.4", grade="numeric", target="printed")
@check("turing:lemma-3.2", grade="numeric", target="printed")
@check("turing:lemma-B.1", grade="numeric", target="printed")
@check("turing:theorem-3.1", grade="numeric", target="printed")
@proof_steps("circuits.md: 4, 6, 9", "stability.md: 1, 5")
@pytest.mark.parametrize("corrections", ["none", "layers", "steps"])
def test_networks_of_all_circuits_of_two_gates(corrections) -> None:
    """All 190 circuits of one or two gates on two bits, all inputs, all hidden values: F = 2 G - 1 exactly, as without
    corrections, and no hidden vector has more ones than lambda^2 = the width.
    """
    count = 0
    for circuit in (c for size in (1, 2) for c in small_circuits(2, size)):
        straight = layered(circuit)
        network = circuit_network(straight, corrections)
        assert verify(network).fault is None
        *_, (_, output, denominator) = exact_values(network, all_inputs(2))
        assert denominator * (2 * circuit(all_inputs(2)).astype(int) - 1).tolist() == output[:, 0].tolist()
        if corrections != "none":
            widest = max(map(len, straight.layers))
            hidden = straight.values(all_inputs(2))[1:]
            assert all(set(np.unique(bits).tolist()) <= {0, 1} for bits in (*hidden, circuit.values(all_inputs(2))))
            assert max(int(bits.sum(1).max()) for bits in hidden) <= widest
            assert abs(float(circuit_constants(network, Q(1, 4), Q(1, 4)).lam) ** 2 - widest) < 1e-12
        count += 1
    assert count == 190
    # Control: the network of AND in the place of that of OR is noticed.
    wrong, right = (LayeredCircuit(2, ((BooleanGate(name, (0, 1)),),), 0) for name in ("AND", "OR"))
    assert verify(replace(circuit_network(wrong, corrections), circuit=right)).fault is not None
