"""The constants of the certificate of compiled machines, against a derivation of their own (proofs/theorem_4_1.md).

A step reads tokens that move by at most x <= sigma_h, with weights that move by at most t <= eta. A bound of a norm is
followed through the two heads and the first ReLU layer as a pair (coefficient of x, coefficient of t).
"""

from __future__ import annotations

from fractions import Fraction as Q

import pytest
from flint import arb

from lemmata.certificates.margins.turing import (
    HeadNorms,
    LayerNorms,
    layer_norms,
    machine_margin_bound,
    step_constants,
)
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.numerics.exact.balls import ball_max, ball_min
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.compiled_layers import compiled


def ball(x: Q | int) -> arb:
    return arb(Q(x).numerator) / Q(x).denominator


def head_of_digits(digits: int, value: int = 1) -> HeadNorms:
    """The norms of a head that compares so many digits: signs of norm 1 each, W = 2 on one bit each."""
    query, key = arb(digits + 1).sqrt(), arb(digits).sqrt()
    return HeadNorms(arb(2), arb(2), arb(value), query, key, arb(1), arb(digits - 1))


def derived(norms: LayerNorms, lam: arb, sigma_h: arb, eta: arb) -> tuple[arb, arb] | None:
    """(kappa_theta lambda, mu), or None where scores might meet."""
    memory = ((lam + sigma_h) ** 2 + 1).sqrt()  # |(token, 1)| of every token that is attended
    by_x, by_t, size = arb(1), arb(0), lam
    for head in norms.heads:
        if head is None:  # all weights 0, but they may move: the value moves by at most t |(token, 1)|
            by_t += memory
            continue
        moved = by_x * sigma_h + by_t * eta
        query = head.query * moved + eta * ((size + moved) ** 2 + 1).sqrt()
        key = head.key * sigma_h + eta * memory
        score = query * (head.largest_key + key) + head.largest_query * key
        null = query * (head.null_key + eta) + head.largest_query * eta
        if not (2 * score < 1 and score + null < 1):
            return None
        by_x, by_t, size = by_x + head.value, by_t + memory, size + head.largest_value
    moved = by_x * sigma_h + by_t * eta
    return norms.first_map * by_t + ((size + moved) ** 2 + 1).sqrt(), norms.first_map * by_x


@check(
    "turing:theorem-4.1",
    grade="numeric",
    target="printed",
    cases="steps without a head and with one of 1, 5, 12 digits in either place, lambda^2 = 11, 27, 3 pairs of radii",
)
@proof_steps("theorem_4_1.md: 5")
def test_the_joint_constants_of_a_step() -> None:
    """kappa_theta lambda and mu, and the refusal of radii for which a score might meet the null score or another."""
    kept = refused = 0
    for squared in (11, 27):
        lam = arb(squared).sqrt()
        for radii in ((Q(1, 300), Q(1, 2000)), (Q(1, 97), Q(1, 1111)), (Q(1, 10), Q(1, 100))):
            sigma_h, eta = (ball(x) for x in radii)
            heads = [None, *map(head_of_digits, (1, 5, 12))]
            for own, cross in [*((head, None) for head in heads), *((None, head) for head in heads[1:])]:
                norms = LayerNorms((own, cross), arb(7).sqrt())
                found, expected = step_constants(norms, lam, sigma_h, eta), derived(norms, lam, sigma_h, eta)
                assert (found is None) == (expected is None)
                if found is None or expected is None:
                    refused += 1
                    continue
                kept += 1
                assert all(abs(mine - ours) < 1e-12 for mine, ours in zip(found, expected, strict=True))
    assert min(kept, refused) > 4


@check(
    "turing:theorem-4.1",
    grade="numeric",
    target="printed",
    cases="(k, A, P) = (1, 1, 1), (2, 3, 3), (3, 2, 5), with the textbook rule at the left end",
)
@proof_steps("theorem_4_1.md: 8")
@pytest.mark.parametrize(("states", "symbols", "bits"), [(1, 1, 1), (2, 3, 3), (3, 2, 5)])
def test_the_certificate_uses_the_derived_constants(states: int, symbols: int, bits: int) -> None:
    """lambda^2 = max(4 P + 3, 3 P + 6); mu, kappa_theta lambda: the largest of all steps and the classifier; the terms.

    The value is the least of sigma_zeta/(2 kappa_theta lambda), sigma_h/(2 kappa_xi lambda), sigma_zeta/(4 lambda mu
    kappa_xi), sigma_zeta/(2 mu), sigma_theta, sigma_xi and sigma_h: the other terms of theorem D.6 are larger.
    """
    transformer: TuringTransformer = compiled(bits, states=states, symbols=symbols, left_end="stay")
    bound = machine_margin_bound(transformer)
    c = {name: _ball(value) for name, value in vars(bound.constants).items()}
    lam, sigma_h, eta, zeta = arb(max(4 * bits + 3, 3 * bits + 6)).sqrt(), c["sigma_h"], c["sigma_theta"], ball(Q(1, 3))
    steps = [derived(layer_norms(layer), lam, sigma_h, eta) for layer in transformer.layers]
    known = [step for step in steps if step is not None]
    assert len(known) == len(steps)
    classifier = arb(sum(int(x) ** 2 for x in transformer.classifier)).sqrt()
    kappa = ball_max([lam + sigma_h, *(step[0] for step in known)])
    mu = ball_max([classifier, *(step[1] for step in known)])
    kappa_xi = (36 + 2 * (1 + eta) ** 2 + 1).sqrt()
    expected = {"lam": lam, "mu": mu, "kappa_theta": kappa / lam, "kappa_xi": kappa_xi, "mu_0": 2 * kappa}
    expected |= {"sigma_xi": eta, "sigma_zeta": zeta}
    for name, value in expected.items():
        assert abs(c[name] - value) < 1e-9, name
    terms = (zeta / (2 * kappa), sigma_h / (2 * kappa_xi * lam), zeta / (4 * lam * mu * kappa_xi), zeta / (2 * mu))
    assert abs(ball(bound.value) / ball_min([*terms, eta, sigma_h]) - 1) < 1e-9


def _ball(value: object) -> arb:
    assert isinstance(value, arb)
    return value


@check(
    "turing:theorem-4.1",
    grade="numeric",
    target="printed",
    cases="all heads of compiled machines with P = 1, 2, 4, 7 and A = 1, 3",
)
@proof_steps("theorem_4_1.md: 6")
@pytest.mark.parametrize("bits", [1, 2, 4, 7])
def test_the_norms_of_heads_are_those_of_their_digits(bits: int) -> None:
    """D digits: ||W_Q|| = ||W_K|| = 2, |q| = sqrt(D + 1), |k| = sqrt D, |K_0| = D - 1; values are flags or symbols."""
    for symbols in (1, 3):
        transformer = compiled(bits, symbols=symbols)
        digits = {"C.4": bits, "C.6": 2 * bits, "C.7": bits, **{f"C.5 bit {j + 1}": bits + j + 1 for j in range(bits)}}
        for layer in transformer.layers:
            for head in layer_norms(layer).heads:
                if head is None:
                    continue
                D = digits[layer.name]
                expected = {
                    "query": arb(2),
                    "key": arb(2),
                    "value": arb(int(layer.name in ("C.6", "C.7"))),
                    "largest_query": arb(D + 1).sqrt(),
                    "largest_key": arb(D).sqrt(),
                    "null_key": arb(D - 1),
                    "largest_value": {"C.6": arb(symbols).sqrt(), "C.7": arb(symbols + 1).sqrt()}.get(
                        layer.name, arb(1)
                    ),
                }
                for name, value in expected.items():
                    assert abs(getattr(head, name) - value) < 1e-8, (layer.name, name)
