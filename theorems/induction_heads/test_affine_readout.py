"""The footnote on log-probabilities: the affine read-out of the induction head, and what it costs.

A softmax of a y + b, y the conditional frequencies, is no frequency; the expected loss of the best a, even if y is the
true row, is enclosed by ball integration.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import acb, arb, fmpq

from lemmata.constructions.induction.head import ngram_head, with_affine_readout
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


@counterexample("induction-heads:claim-8.2b", grade="exact")
@proof_steps("induction_head.md: 7")
def test_printed_block_does_not_shift_all_outputs_alike(record: Record) -> None:
    """b 1^T 1 is the number b k; read as that multiple of I it adds b k to the logit of the current token alone."""
    k, a, b, x = 2, 3, 5, [1, 2, 1]
    head = ngram_head(2, k).hard()
    block = head.stream.readout(k, {"token": b * k * np.eye(k, dtype=int), "answer": a * np.eye(k, dtype=int)})
    shift = replace(head.transformer, readout=block)(x)[-1] - a * head(x)[-1]
    assert shift.tolist() == [b * k, 0]
    record.no_hypotheses("a and b are any numbers")
    record.violated("x becomes a x + b: both logits are shifted by b", shift[0], "=", b)


@check(
    "induction-heads:claim-8.2b",
    grade="exact",
    target="corrected",
    cases="k = 2, 3, all sequences of length 5, slope 7/3, shift -5/2",
)
@proof_steps("induction_head.md: 7")
@pytest.mark.parametrize("k", [2, 3])
def test_block_of_ones_turns_y_into_a_y_plus_b(k: int) -> None:
    sequences, head = np.array(list(product(range(1, k + 1), repeat=5))), ngram_head(2, k).hard()
    affine = with_affine_readout(head, fmpq(7, 3), fmpq(-5, 2))
    assert np.all(affine(sequences) == head(sequences) * fmpq(7, 3) - fmpq(5, 2))


@check("induction-heads:claim-8.2b", grade="symbolic", target="corrected", supporting=True)
@proof_steps("induction_head.md: 7")
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_shift_has_no_effect_under_the_softmax(k: int) -> None:
    a, b, *y = sp.symbols(f"a b y:{k}", real=True)
    shifted = [sp.exp(a * y_i + b) for y_i in y]
    plain = [sp.exp(a * y_i) for y_i in y]
    assert all(sp.expand(shifted[i] * sum(plain) - plain[i] * sum(shifted)) == 0 for i in range(k))


def _integral_over_rows(function: Any) -> arb:
    """E of function(u) for a row (1 - u, u) of the flat prior with k = 2, weighted by the stationary law.

    By symmetry it is int_0^1 2 E_V[V/(u + V)] function(u) du, with E_V[V/(u + V)] = 1 - u ln((1 + u)/u). Functions
    with values in [-3, 3] only: on [0, 1e-8], where the logarithm is singular, the density is in [0, 2].
    """
    cut = arb("1e-8")

    def integrand(u: acb, analytic: bool) -> acb:
        return 2 * (1 - u * ((1 + u).log(analytic) - u.log(analytic))) * function(u, analytic)

    return acb.integral(integrand, acb(cut), acb(1) - acb(cut)).real + 2 * arb(0, 6) * cut


def _excess(a: arb) -> arb:
    """E KL(p || softmax(a p)) over the rows p = (1 - u, u); the softmax has normaliser e^(a/2) 2 cosh(a (u - 1/2))."""

    def divergence(u: acb, analytic: bool) -> acb:
        entropy = u * u.log(analytic) + (1 - u) * (1 - u).log(analytic)
        return entropy - a * (u**2 + (1 - u) ** 2) + a / 2 + (2 * (a * (u - acb("0.5"))).cosh()).log(analytic)

    return _integral_over_rows(divergence)


def _slope(a: arb) -> arb:
    """The derivative of `_excess`: E[sum_i softmax_i p_i - sum_i p_i^2] = E[(v/2) (tanh(a v/2) - v)], v = 2u - 1."""

    def derivative(u: acb, analytic: bool) -> acb:
        v = 2 * u - 1
        return v / 2 * ((a * v / 2).tanh() - v)

    return _integral_over_rows(derivative)


@check("induction-heads:claim-8.2b", grade="numeric", target="corrected", supporting=True)
@proof_steps("induction_head.md: 8")
def test_best_slope_loses_0_0056_nats_even_if_the_row_is_known() -> None:
    """The expected divergence is convex in a (log-sum-exp), so that two slopes and a tangent enclose its minimum."""
    left, right = arb("2.64"), arb("2.65")
    density = _integral_over_rows(lambda u, analytic: acb(1))
    assert abs(density - 1) < 1e-6
    slope = _slope(left)
    assert slope < 0 < _slope(right)  # the minimiser is between
    at_left = _excess(left)
    assert at_left + slope * (right - left) > arb("0.00561")
    assert at_left < arb("0.00563")
    assert _excess(arb(4)) > arb("0.033")  # another slope is much worse
