"""The all-layer margin of compiled Turing machines: certified below, attacked above, over the number of position bits.

The certificate of theorem D.6 and its proof stand in `lemmata.certificates.margins.turing`; it uses the joint
inequality, since hard attention with ties is not nice as printed. Here its hypotheses are checked on runs,
perturbations of exactly the norm of the sharper certificate (`lemmata.certificates.margins.turing_direct`) are tried,
and the sparse attack on the null pair of layer C.6 gives exact upper bounds; test_direct_margin has a sharper attack.
The palindrome machine decides the words below within 12 steps.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from lemmata.certificates.margins.turing import machine_margin_bound, run_facts
from lemmata.certificates.margins.turing_attack import (
    null_key_flip,
    predictions,
    random_perturbations,
    worst_prediction,
)
from lemmata.certificates.margins.turing_direct import direct_margin_bound
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.evaluators.registry import DENSE
from lemmata.constructions.turing.machine import busy_beaver, machine_from_table, palindrome_machine
from lemmata.theorems.evidence import check, proof_steps

WORDS = [(1, 2, 1), (1, 2), (), (1, 1), (2, 2), (1,)]
STEPS = 12


def compiled(bits):
    return compile_turing_machine(palindrome_machine(), STEPS, bits=bits)


@check("turing:condition-D.4", grade="exact", target="printed", supporting=True)
@check("turing:theorem-4.1", grade="exact", target="printed", supporting=True)
def test_tokens_are_bits_with_at_most_four_p_plus_three_ones(effort):
    """lambda^2 = 4 P + 3 for P >= 3: P bits each in pos1, pos2, pos3 and scr3, a state, a symbol and a flag.

    Also the other hypotheses of the certificate: score gaps of at least 1, tied values equal.
    """
    for bits in effort.pick(quick=(4,), full=(4, 6, 8)):
        facts = run_facts(compiled(bits), WORDS if bits == 4 else WORDS[:2])
        assert facts.binary
        assert 4 <= facts.most_ones <= 4 * bits + 3
        assert (facts.smallest_gap, facts.tie_spread) == (1.0, 0.0)


@check("turing:theorem-4.1", grade="enclosed", target="printed", supporting=True)
def test_the_certified_margin_over_the_number_of_bits(effort, record_property):
    """gamma P^(3/2) stays between .0015 (known beforehand for coarser radii, .0017 at P = 4) and the bias attack."""
    rows = []
    for bits in effort.pick(quick=(4, 8), full=(4, 6, 8, 12, 16, 24)):
        bound = machine_margin_bound(compiled(bits))
        assert float(bound.value) * bits**1.5 > 0.0015
        assert bound.value < Fraction(1, 2 * bits - 1)
        rows.append((bits, f"{float(bound.value):.3g}", f"{float(bound.value) * bits**1.5:.4f}", bound.binding))
    record_property("P, gamma, gamma P^1.5, binding", rows)


@check("turing:theorem-4.1", grade="exact", target="printed", supporting=True)
@check("turing:claim-C.6", grade="exact", target="printed", supporting=True)
@proof_steps("theorem_4_1.md: 9")
@pytest.mark.parametrize("weights", [False, True])
def test_the_null_pair_of_the_copy_layer_flips_above_its_threshold(weights, effort, record_property):
    """b_Q alone flips just above 1/(2 P - 1), not at 0.99 times that; with n entries of W_Q, sqrt(n + 1) times less.

    The table has the certified lower bound, the exact flip above it, and their quotient.
    """
    rows = []
    for bits in effort.pick(quick=(4,), full=(4, 6, 8, 12)):
        transformer = compiled(bits)
        flip = null_key_flip(transformer, (1, 2, 1), weights=weights)
        assert flip.prediction <= 0
        norm, certified = float(flip.norm_squared) ** 0.5, machine_margin_bound(transformer).value
        assert certified**2 < flip.norm_squared
        if weights:
            assert norm < 0.5 / (2 * bits - 1)
        else:
            assert 0.99 / (2 * bits - 1) < norm < 1.01 / (2 * bits - 1)
        rows.append((bits, f"{float(certified):.3g}", f"{norm:.4f}", f"{norm / float(certified):.0f}"))
    record_property("P, certified, attacked, quotient", rows)


def first_letter_machine():
    """Accepts the words that begin with 1, in one step."""
    rules = {("start", a): ("yes" if a == "1" else "no", a, 1) for a in "_12"}
    return machine_from_table(rules, start="start", blank="_", accept=["yes"], reject=["no"])


TARGETS = {
    "first letter, T = 4": (first_letter_machine(), 4, [(1, 2), (2, 1), (), (1, 1, 1)]),
    "two-state busy beaver, T = 6": (busy_beaver(2), 6, [()]),
    "palindromes, T = 12": (palindrome_machine(), STEPS, WORDS),
}


@cache
def target(name):
    """The compiled machine of TARGETS, its words, and its certified bound."""
    machine, T, words = TARGETS[name]
    transformer = compile_turing_machine(machine, T)
    return transformer, words, float(direct_margin_bound(transformer).value)


@check("turing:theorem-4.1", grade="sampled", target="printed", supporting=True)
@check("turing:theorem-D.6", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize(
    ("name", "quick", "full"), list(zip(TARGETS, (40, 20, 6), (3000, 1500, 1000), strict=True)), ids=list(TARGETS)
)
def test_no_random_perturbation_of_all_layers_at_the_certified_bound_flips(name, quick, full, effort, record_property):
    """Dense, sparse and one-layer perturbations of all weights of the layers, zero attentions included.

    5,500 in all (full), each on all words of its machine; their norm is exactly the certified bound.
    """
    transformer, words, radius = target(name)
    count = effort.pick(quick=quick, full=full)
    answers = np.rint(DENSE.run(transformer, words).predictions)
    assert set(np.abs(answers)) == {1}
    largest = 0.0
    for delta in random_perturbations(transformer, radius, count, seed=3):
        change = abs(predictions(transformer, words, delta) - answers).max()
        assert change <= 1 / 3
        largest = max(largest, change)
    record_property(f"random perturbations, {name}, {len(words)} words", count)
    record_property(f"largest change of the output, {name}", float(largest))
    assert largest > 0
    # control: 10^4 times the radius destroys a run
    (huge,) = random_perturbations(transformer, 1e4 * radius, 1, seed=3)
    assert abs(predictions(transformer, words, huge) - answers).max() > 1 / 3


@check("turing:theorem-4.1", grade="numeric", target="printed", supporting=True)
@pytest.mark.parametrize(("name", "full"), list(zip(TARGETS, (50, 40, 20), strict=True)), ids=list(TARGETS))
def test_no_optimised_perturbation_at_the_certified_bound_flips(name, full, effort, record_property):
    """110 searches (full) inside the ball, all weights moving: no flip, and the output moves by less than 1/3."""
    transformer, words, radius = target(name)
    margins = []
    for seed in range(effort.pick(quick=1, full=full)):
        word = words[seed % len(words)]
        margin, norm = worst_prediction(transformer, word, radius, effort.pick(quick=1, full=4), seed)
        assert norm <= radius * (1 + 1e-9)
        margins.append(margin)
    record_property(f"optimised perturbations, {name}", len(margins))
    record_property(f"smallest margin, {name}", min(margins))
    assert 1 > min(margins) >= 2 / 3
