"""One attention layer with a single head cannot tell bigrams apart: a certificate of four sequences.

Two layers suffice (proposition 8.2); figure E.8 shows that training one layer fails. For a single head this is a
theorem. Two states, c_ab = number of transitions a -> b in x_1 .. x_t, and x_t = 1 the current token: no network
(Attn + I) P with one head, of any width, with any embedding, absolute or relative positions and read-out, satisfies

    logit 1 > logit 2  where c_11 > c_12,   logit 1 < logit 2  where c_11 < c_12,   for all x in {1, 2}^6 with x_6 = 1.

Reduction. With x_t fixed, the score s_j(x_j) of token j and its value g_j(x_j), read out as logit 1 minus logit 2,
depend on j and x_j alone, because nothing mixes the tokens below the only layer. With r the same read-out of the
residual x_t, and Z = sum_j exp s_j(x_j) > 0,

    Z (logit 1 - logit 2) = sum_j phi_j(x_j),   phi_j(a) = exp(s_j(a)) (r + g_j(a)):

a linear threshold function of the tokens. The sequences 111221, 222111 with c_11 > c_12 and 121211, 212121 with
c_11 < c_12 hold the same tokens at every position, so the sums over the two pairs are equal: they cannot be positive
and negative. For longer contexts put 2s in front, for more states ignore them.

So a head fails one of the 25 demands at t = 6, and need not fail more: some head meets all but the one on 121211. One
head with relative positions meets all demands at every t <= 5. Several heads (sums of quotients) are not covered.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
import sympy as sp
from flint import arb

from lemmata.certificates.duality.farkas import (
    Constraint,
    FarkasCertificate,
    FeasiblePoint,
    decide,
    find,
    find_point,
    verify,
    verify_point,
)
from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.theorems.evidence import check, proof_steps

Tokens = tuple[int, ...]

MORE_11: tuple[Tokens, ...] = ((1, 1, 1, 2, 2, 1), (2, 2, 2, 1, 1, 1))
MORE_12: tuple[Tokens, ...] = ((1, 2, 1, 2, 1, 1), (2, 1, 2, 1, 2, 1))
CERTIFICATE = FarkasCertificate({"111221": 1, "222111": 1, "121211": 1, "212121": 1})


def bigram_excess(x: Tokens) -> int:
    """Return c_11 - c_12, the transitions 1 -> 1 less the transitions 1 -> 2."""
    return sum(1 if b == 1 else -1 for a, b in pairwise(x) if a == 1)


def unigram_excess(x: Tokens) -> int:
    """Return the number of 1s less the number of 2s."""
    return x.count(1) - x.count(2)


def contexts(t: int) -> list[Tokens]:
    """Return all sequences of t tokens that end in 1."""
    return [(*head, 1) for head in product((1, 2), repeat=t - 1)]


def demand(x: Tokens, sign: int) -> Constraint:
    """Return the constraint sign * sum_j phi_j(x_j) > 0, named after the sequence."""
    return Constraint("".join(map(str, x)), {f"phi_{j}({a})": sign for j, a in enumerate(x, 1)}, ">")


def demands(sequences: list[Tokens], excess: Callable[[Tokens], int] = bigram_excess) -> list[Constraint]:
    """Return the demand that the sign of the excess be right, for each sequence on which it is not 0."""
    return [demand(x, 1 if excess(x) > 0 else -1) for x in sequences if excess(x) != 0]


@check("induction-heads:claim-8.2d", grade="exact", target="printed", cases="the four sequences of the certificate")
@check("induction-heads:figure-E.8", grade="exact", target="printed", supporting=True)
@proof_steps("one_layer.md: 2")
def test_no_single_head_decides_the_bigrams_of_six_tokens():
    assert [bigram_excess(x) for x in MORE_11] == [1, 2]
    assert [bigram_excess(x) for x in MORE_12] == [-1, -2]
    for j in range(6):
        assert sorted(x[j] for x in MORE_11) == sorted(x[j] for x in MORE_12)
    verify(demands(contexts(6)), CERTIFICATE)


@check("induction-heads:claim-8.2d", grade="symbolic", target="printed", supporting=True)
@proof_steps("one_layer.md: 1")
def test_the_normaliser_makes_the_logit_difference_additive():
    """For any scores and values the two pairs of the certificate have equal sums, as rational functions."""
    weight = {(j, a): sp.Symbol(f"w_{j}{a}", positive=True) for j in range(6) for a in (1, 2)}  # exp s_j(a)
    value = {(j, a): sp.Symbol(f"g_{j}{a}", real=True) for j in range(6) for a in (1, 2)}
    residual = sp.Symbol("r", real=True)

    def cleared(x: Tokens) -> sp.Expr:
        normaliser = sum(weight[j, a] for j, a in enumerate(x))
        attended = sum(weight[j, a] / normaliser * value[j, a] for j, a in enumerate(x))
        return sp.cancel(normaliser * (residual + attended))

    for x in contexts(6):
        phi = sum(weight[j, a] * (residual + value[j, a]) for j, a in enumerate(x))
        assert sp.expand(cleared(x) - phi) == 0
    assert sp.expand(sum(map(cleared, MORE_11)) - sum(map(cleared, MORE_12))) == 0


@check("induction-heads:claim-8.2d", grade="sampled", target="printed", supporting=True)
@proof_steps("one_layer.md: 1")
@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("absolute", [False, True])
def test_equations_8_4_and_8_5_fall_under_the_reduction(width, absolute):
    """Random weights of the layer as it is printed: the two sums agree to 150 bits, while their terms do not vanish."""
    rng = np.random.default_rng([8, width, absolute])

    def draw(*shape: int) -> np.ndarray:
        return as_balls(rng.integers(-9, 10, shape)) / arb(8)

    def cleared(x: Tokens) -> arb:
        z = embedding[list(x)] + position
        scores = (z @ W_K + relative[::-1]) @ (z[-1] @ W_Q) / arb(width).sqrt()  # row j has the offset 6 - j
        weights = np.exp(scores)
        output = (z[-1] + weights @ (z @ W_V) / weights.sum()) @ readout
        return weights.sum() * (output[0] - output[1])

    with precision(256):
        W_Q, W_K, W_V, readout = draw(width, width), draw(width, width), draw(width, width), draw(width, 2)
        embedding, relative = draw(3, width), draw(6, width)
        position = draw(6, width) if absolute else np.array([[arb(0)] * width] * 6)
        plus, minus = [cleared(x) for x in MORE_11], [cleared(x) for x in MORE_12]
        difference, size = sum(plus, arb(0)) - sum(minus, arb(0)), sum(map(abs, plus + minus), arb(0))
        assert all(not term.contains(0) for term in plus + minus)
        assert difference.contains(0)
        # that the balls are small is no part of the proof, but without it the line above would say little
        assert abs(difference) < size / arb(2) ** 150


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
def test_linear_programming_finds_a_certificate_of_its_own():
    system = demands(contexts(6))
    assert len(system) == 25
    certificate = find(system)
    verify(system, certificate)
    assert "121211" in certificate.multipliers  # as it must: the other 24 demands can be met, see below


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("t", range(7, 31))
def test_longer_contexts_are_no_easier(t):
    """Transitions out of 2 count for neither side, so 2s in front change no demand."""
    sequences = [(2,) * (t - 6) + x for x in MORE_11 + MORE_12]
    assert [bigram_excess(x) for x in sequences] == [1, 2, -1, -2]
    system = demands(sequences)
    verify(system, FarkasCertificate({constraint.name: 1 for constraint in system}))


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
def test_so_every_single_head_is_far_from_the_bigram_strategy():
    """One of the four outputs errs by at least 1/10 in total variation from the posterior mean (c + 1)/(N + 2).

    Some sign is wrong (or the two logits are equal), so the output probabilities differ by the wrong sign from a
    posterior whose two entries differ by at least 1/5; total variation is half of the sum of both errors.
    """
    gaps = []
    for x in MORE_11 + MORE_12:
        departures = x[:-1].count(1)
        gaps.append(abs(Fraction(bigram_excess(x), departures + 2)))
    assert min(gaps) / 2 == Fraction(1, 10)


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
def test_one_head_with_relative_positions_decides_up_to_five_tokens():
    """Six is the first impossible length: weights 4, 3, 1, 1, 1 by offset, values 1 for token 1 and -2 for token 2."""
    by_offset = (4, 3, 1, 1, 1)
    decided = 0
    for t in range(1, 6):
        for x in contexts(t):
            weights = by_offset[:t][::-1]
            output = Fraction(sum(w * (1 if a == 1 else -2) for w, a in zip(weights, x, strict=True)), sum(weights))
            assert output * bigram_excess(x) > 0 or bigram_excess(x) == 0
            decided += bigram_excess(x) != 0
    assert decided == 1 + 3 + 5 + 11


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
def test_some_head_meets_the_24_other_demands():
    """Dropping the demand on 121211 makes the system solvable, and no other single one does."""
    system = demands(contexts(6))
    outcomes = {c.name: decide([other for other in system if other is not c]) for c in system}
    assert [name for name, outcome in outcomes.items() if isinstance(outcome, FeasiblePoint)] == ["121211"]
    phi = outcomes["121211"]
    assert isinstance(phi, FeasiblePoint)
    # a head has exactly this logit difference: uniform attention, absolute positions, and the values 6 phi_j(a)
    for x in contexts(6):
        output = sum(phi.values.get(f"phi_{j}({a})", Fraction(0)) for j, a in enumerate(x, 1))
        assert output * bigram_excess(x) > 0 or bigram_excess(x) == 0 or x == (1, 2, 1, 2, 1, 1)


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("dropped", MORE_11 + MORE_12)
def test_the_four_sequences_are_all_needed(dropped):
    three = [x for x in MORE_11 + MORE_12 if x != dropped]
    verify_point(demands(three), find_point(demands(three)))
    with pytest.raises(ValueError, match=r"which the system does not have"):
        verify(demands(three), CERTIFICATE)


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
@proof_steps("one_layer.md: 2")
def test_edited_certificates_are_rejected():
    system = demands(contexts(6))
    names = list(CERTIFICATE.multipliers)
    for name in names:
        for change in (-2, -1, 1):
            with pytest.raises(ValueError, match=r"does not cancel|negative multiplier"):
                verify(system, FarkasCertificate({**CERTIFICATE.multipliers, name: 1 + change}))
    for name in names:  # another sequence in its place
        kept = {other: 1 for other in names if other != name}
        for constraint in system:
            if constraint.name not in names:
                with pytest.raises(ValueError, match=r"does not cancel"):
                    verify(system, FarkasCertificate({**kept, constraint.name: 1}))
    with pytest.raises(ValueError, match=r"no contradiction"):
        verify(system, FarkasCertificate())


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
@proof_steps("one_layer.md: 3")
def test_the_certificate_needs_the_labels_of_bigrams():
    """The same sequences, labelled by their unigrams, are no contradiction, and one head meets that demand."""
    system = demands(contexts(6), unigram_excess)
    assert len(system) == 22
    with pytest.raises(ValueError, match=r"does not have|does not cancel"):
        verify(system, CERTIFICATE)
    verify_point(system, find_point(system))
    counting = {f"phi_{j}({a})": Fraction(3 - 2 * a) for j in range(1, 7) for a in (1, 2)}
    verify_point(system, FeasiblePoint(counting))


@check("induction-heads:claim-8.2d", grade="exact", target="printed", supporting=True)
@proof_steps("one_layer.md: 3")
def test_two_layers_meet_all_25_demands():
    """The two-layer head with a beginning-of-sequence token, in exact hard attention, has the right sign every time.

    So the demands do not contradict each other; only additivity contradicts them.
    """
    head = ngram_head(2, 2).hard()
    outputs = {x: head(x)[-1] for x in contexts(6)}
    differences = {x: y[0] - y[1] for x, y in outputs.items() if bigram_excess(x) != 0}
    assert len(differences) == 25
    assert all(difference * bigram_excess(x) > 0 for x, difference in differences.items())
    # its outputs are not additive, whatever positive weights they get: both of one pair exceed both of the other
    assert min(differences[x] for x in MORE_11) > 0 > max(differences[x] for x in MORE_12)


@check("induction-heads:claim-8.2d", grade="enclosed", target="printed", supporting=True)
def test_two_layers_with_softmax_meet_all_25_demands():
    """Not an effect of infinite scales: two softmax layers of width 8 with the flat prior, enclosed by balls."""
    head = bayesian_ngram_head(2, 2, 20, 5).to_balls()
    for x in contexts(6):
        y = head(x)[-1]
        assert (y[0] - y[1]) * bigram_excess(x) > 0 or bigram_excess(x) == 0
