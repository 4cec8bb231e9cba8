"""The update, the projection with the clean-up, and the norms of the attention layers: each layer alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.layers import (
    derivative_layer,
    forward_layer,
    projection_layer,
    update_layer,
)
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.constructions.descent.norms import column_norm
from lemmata.numerics.functions.relu_sums import (
    constant,
    identity,
    piecewise_linear,
    squared_loss_derivative,
)
from lemmata.theorems.deep_icgd.instances import rationals
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

CLIP_CASES = "widths (2,3), (1,2,3); 5 draws each of a box and of 3 tokens; seed 9"

UPDATE_CASES = "widths (2,3), (2,3,4), (1,2,3,2), n = 1, 2, 3, eta = 3/7, one draw each of the tokens; seed 8"

KNOTS = [fmpq(i, 2) for i in range(-4, 5)]


# ---- update and projection


@check("deep-icgd:construction-update", grade="sampled", target="corrected", cases=UPDATE_CASES)
@proof_steps("block.md: 5")
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (1, 2, 3, 2)], ids=str)
def test_update_layer_adds_the_outer_products(shape: tuple[int, ...], effort: Any) -> None:
    """-(eta/2n) sum_i s_i(j) p_i(j-1)^T to V_j, k up to K_j, in all tokens, for any slots with s = 0 in the last.

    The norm is eta (n+1)/n (K_1 + ... + K_N) + 1 <= 2 eta (K_1 + ... + K_N) + 1, the 1 from the queries and keys.
    """
    rng = np.random.default_rng(8)
    for n in range(1, effort.pick(quick=4, full=10)):
        layout, eta = PromptLayout(shape), fmpq(3, 7)
        z = rationals(rng, n + 1, layout.stream.width)
        z[:, layout.stream["1"]] = fmpq(1)
        for j in range(1, layout.depth + 1):
            z[-1, layout.stream[f"s{j}"]] = fmpq(0)
        layer = update_layer(layout, eta, n)
        moved = layout.all_weights.of(layer(z) - z)
        parts = [
            sum(np.outer(row[layout.stream[f"s{j}"]], layout.output(j - 1).of(row)) for row in z[:-1])
            for j in range(1, layout.depth + 1)
        ]
        expected = layout.flatten(parts) * (-eta / (2 * n))
        assert all((row == expected).all() for row in moved)
        assert (expected != 0).any()
        assert column_norm(layer) == 1 + eta * fmpq(n + 1, n) * layout.units <= 1 + 2 * eta * layout.units
        assert layer.head_count == 2 * layout.units


@counterexample("deep-icgd:construction-update", grade="exact")
def test_printed_norm_of_the_update_layer_fails_for_wide_outputs(record: Record) -> None:
    """N = 2, K = 1, d = 5, n = 1, eta = 1: the values sum to 2 (1 + 5) = 12, more than 2 eta N K = 4."""
    layer = update_layer(PromptLayout((5, 1, 5)), fmpq(1), 1)
    values = column_norm(layer) - 1
    assert values == 12 > 2 * 1 * 2 * 1
    record.hypothesis("d > K", 5, ">", layer.families[0].key.stream.sizes["p1"])
    record.violated("the norms of the values of (D.16) sum to at most 2 eta N K", values, "<=", 2 * 1 * 2 * 1)


@check("deep-icgd:construction-proj", grade="sampled", target="printed", cases=CLIP_CASES)
@proof_steps("block.md: 6")
def test_projection_layer_clips_to_a_box_and_clears_the_scratch(effort: Any) -> None:
    """For all w: w - relu(w - b) + relu(a - w) is b, w, a in the three cases; z - relu(z) + relu(-z) = 0 in both."""
    w, a, b = sp.symbols("w a b", real=True)
    cases = {"above": (w - (w - b) + 0, b), "inside": (w - 0 + 0, w), "below": (w - 0 + (a - w), a)}
    assert all(sp.simplify(value - target) == 0 for value, target in cases.values())
    rng = np.random.default_rng(9)
    for shape in ((2, 3), (1, 2, 3)):
        layout = PromptLayout(shape)
        assert layout.scratch.shape == (3 * sum(shape[1:]) + shape[-1],)  # p, r', s and g
        for _ in range(effort.pick(quick=5, full=40)):
            ends = np.sort(rationals(rng, 2, layout.weight_count), axis=0)
            z, w = rationals(rng, 3, layout.stream.width) * 2, layout.all_weights
            z[:, layout.stream["1"]] = fmpq(1)
            after = projection_layer(layout, *ends)(z)
            expected = z.copy()
            expected[:, layout.scratch.coordinates] = fmpq(0)
            expected[:, w.coordinates] = np.minimum(np.maximum(w.of(z), ends[0]), ends[1])
            assert (after == expected).all()
            assert (w.of(expected) != w.of(z)).any()


@check("deep-icgd:construction-proj", "deep-icgd:theorem-1", grade="symbolic", target="printed", supporting=True)
def test_projection_on_a_ball_is_no_relu_network() -> None:
    """The hypothesis that Proj_W is an MLP excludes balls of dimension 2 or more, which (3.4) may suggest for W.

    Along (2, t) the second coordinate on the unit ball is t / sqrt(4 + t^2), whose second derivative is 0 at 0 only.

    A finite ReLU network is affine on some interval of every line, where the second derivative would vanish.
    """
    t = sp.symbols("t", real=True)
    curve = t / sp.sqrt(4 + t**2)
    second = sp.simplify(sp.diff(curve, t, 2) + 12 * t / (4 + t**2) ** sp.Rational(5, 2))
    assert second == 0
    assert sp.solveset(sp.diff(curve, t, 2), t, sp.S.Reals) == sp.FiniteSet(0)


@check("deep-icgd:lemma-2", grade="exact", target="corrected", supporting=True)
@check("deep-icgd:lemma-3", grade="exact", target="corrected", supporting=True)
@proof_steps("block.md: 1, 2")
@pytest.mark.parametrize("shape", [(5, 2, 5), (1, 3, 2, 4), (2, 2)], ids=str)
def test_norms_and_heads_of_the_attention_layers(shape: tuple[int, ...]) -> None:
    """1 + K_j C_1 with K_j M_1 heads, and 1 + (K_1 + ... + K_N) C_2: the largest is 1 + max(K, d) C_1."""
    layout, f = PromptLayout(shape), piecewise_linear(KNOTS, [Fraction(i * i, 7) for i in range(len(KNOTS))])
    for j in range(1, layout.depth + 1):
        layer = forward_layer(layout, j, f)
        assert layer.head_count == shape[j] * f.units
        assert column_norm(layer) == 1 + shape[j] * f.weight
    layer = derivative_layer(layout, f)
    assert layer.head_count == layout.units * f.units
    assert column_norm(layer) == 1 + layout.units * f.weight


@counterexample("deep-icgd:lemma-2", grade="exact", supporting=True)
@counterexample("deep-icgd:lemma-3", grade="exact", supporting=True)
def test_printed_norms_of_the_attention_layers_fail() -> None:
    """Layer N has d outputs: d = 5 > K = 2 gives 1 + 5 C_1 > 1 + 2 C_1; r' has 5 + 2 rows, not K(N-1) = 2."""
    layout, f = PromptLayout((5, 2, 5)), constant(1)
    assert column_norm(forward_layer(layout, 2, f)) == 6 > 1 + 2 * f.weight
    assert column_norm(derivative_layer(layout, f)) == 8 > 1 + 2 * 1 * f.weight
    block = gradient_descent_block((5, 2, 5), 1, 1, identity(), f, squared_loss_derivative(), (-1, 1), 1, 1)
    assert block.table().rows[1].norm == 1 + 5 * 2
