"""The layers of one block of in-context gradient descent, each as a function from the layout to weights.

With rbar, rbar' and ubar the sums of ReLUs for the activation, its derivative and the derivative of the loss, and
v_jk row k of V_j, token i computes

    forward        p(j)[k]     = rbar(<v_jk, p(j-1)>)                       ReLU attention, K_j M_1 heads,
    derivatives    r'(j-1)[k]  = rbar'(<v_jk, p(j-1)>), all j at once       ReLU attention, (K_1 + ... + K_N) M_2 heads,
    loss gradient  g[k]        = ubar(p(N)[k], y[k]) t                      MLP, d_y M_3 units,
    errors         s(N)        = r'(N-1) * g,                               N layers of element-wise multiplication,
                   s(j)        = r'(j-1) * (V_(j+1)^T s(j+1))
    update         v_jk       -= eta/(2n) sum_i s_i(j)[k] p_i(j-1)          ReLU attention, 2 (K_1 + ... + K_N) heads,
    projection     w           = clip(w, lower, upper), scratch = 0         MLP, 2 units per coordinate.

Why they are right. Forward and derivatives: the key v_jk is the same in all T tokens, so the average over tokens of
c_h relu(a_h <p_i(j-1), v_jk> + b_h) is that term, and the sum over h is rbar. Loss gradient: the argument of a unit is
a . [p; y; 1] - R (1 - t), where |p|, |y|, 1 <= R and ||a||_1 <= 1, so it is <= 0 at the test token, t = 0. Update:
relu(s) - relu(-s) = s, the values carry the factor (n+1)/(2n) against the average over n+1 tokens, and the test token
has s = 0; run on n' examples the same weights make the step eta n' (n+1) / (n (n'+1)). Projection: w - relu(w - upper)
+ relu(lower - w) is the clipped w, and z - relu(z) + relu(-z) = 0.

Source: deep-icgd, lemma-2 to lemma-5, construction-update, construction-proj.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.descent.layout import PromptLayout, TokenLayout
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.stream import Directions
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.relu_sums import ReluSum


def forward_layer(layout: PromptLayout, j: int, activation: ReluSum) -> StoredAttention:
    """Layer j = 1, ..., N of the block: writes p(j) = rbar(V_j p(j-1))."""
    return StoredAttention(_applied_to_arguments(layout, j, activation, layout.block(f"p{j}")))


def derivative_layer(layout: PromptLayout, derivative: ReluSum) -> StoredAttention:
    """Layer N+1: writes all r'(j-1) = rbar'(V_j p(j-1)), j = 1, ..., N."""
    targets = {j: layout.block(f"r'{j - 1}") for j in range(1, layout.depth + 1)}
    families = (_applied_to_arguments(layout, j, derivative, target) for j, target in targets.items())
    return StoredAttention(tuple(chain.from_iterable(families)))


def _applied_to_arguments(
    layout: PromptLayout, j: int, function: ReluSum, target: Directions
) -> tuple[HeadFamily, ...]:
    """Heads that write function(<v_jk, p(j-1)>) into direction k of the target, k = 1, ..., K_j."""
    before = layout.output(j - 1)
    return tuple(
        HeadFamily(
            query=before,
            key=row,
            one=layout.one,
            source=layout.one,
            target=unit,
            slopes=function.directions[:, 0],
            offsets=function.directions[:, 1],
            coefficients=function.coefficients,
        )
        for row, unit in zip(layout.weight_rows(j), target.reshape(-1, 1), strict=True)
    )


def applied_units(
    coefficients: Array, weights: Array, sources: Sequence[Directions], target: Directions
) -> StoredFeedForward:
    """Units that add sum_h c_h relu(sum_b a_hb source_b[k]) to target[k] for all k, within each token.

    Args:
        coefficients: c, shape (M,).
        weights: a, shape (M, m).
        sources: m directions of shape (K,), or (1,) for one that all k share.
        target: shape (K,).
    """
    return StoredFeedForward(
        Directions.stack(sources, axis=-1).repeat(len(coefficients)),
        np.tile(weights, (len(target), 1)),
        target.repeat(len(coefficients)),
        np.tile(coefficients, len(target)),
    )


def loss_gradient_layer(layout: PromptLayout, loss_derivative: ReluSum, bound: Any) -> StoredFeedForward:
    """Layer N+2: writes g = ubar(p(N), y) at examples and 0 at the test token, if |p(N)|, |y|, 1 <= bound there."""
    mask, a = np.full(loss_derivative.units, fmpq(bound), dtype=object), loss_derivative.directions
    masked = np.stack([a[:, 0], a[:, 1], a[:, 2] - mask, mask], axis=1)
    sources = [layout.output(layout.depth), layout.block("y"), layout.one, layout.block("t")]
    return applied_units(loss_derivative.coefficients, masked, sources, layout.block("g"))


def error_layer(layout: PromptLayout, j: int) -> StoredMultiplication:
    """Layer 2N+3-j: writes s(j), for j = N from g, for j < N from column k of V_(j+1) and s(j+1)."""
    if j == layout.depth:
        query, key = layout.block("g").reshape(-1, 1), layout.one
    else:
        query, key = layout.weight_rows(j + 1).T, layout.block(f"s{j + 1}")
    derivative, target = layout.block(f"r'{j - 1}"), layout.block(f"s{j}")
    return StoredMultiplication(query, key.broadcast(*query.shape), derivative, target)


def update_layer(layout: PromptLayout, step_size: fmpq, examples: int) -> StoredAttention:
    """Layer 2N+3: adds -(eta / 2n) sum_i s_i(j) p_i(j-1)^T to V_j for all j, in every token."""
    share = step_size * fmpq(examples + 1, 2 * examples)
    numbers = {"slopes": as_exact([1, -1]), "offsets": as_exact([0, 0]), "coefficients": as_exact([-share, share])}
    return StoredAttention(
        tuple(
            HeadFamily(query=layout.one, key=error, one=layout.one, source=before, target=row, **numbers)
            for j, before in enumerate(map(layout.output, range(layout.depth)), start=1)
            for error, row in zip(layout.block(f"s{j}").reshape(-1, 1), layout.weight_rows(j), strict=True)
        )
    )


def projection_layer(layout: TokenLayout, lower: Array, upper: Array) -> StoredFeedForward:
    """Layer 2N+4: clips every weight to [lower, upper], arrays of shape (D_N,), and sets all scratch to 0."""
    return clipping_layer(layout, lower, upper).beside(clearing_layer(layout))


def clipping_layer(layout: TokenLayout, lower: Array, upper: Array) -> StoredFeedForward:
    """An MLP that clips every weight to [lower, upper], arrays with one number for each weight."""
    w, ones = layout.all_weights, np.full(layout.weight_count, fmpq(1), dtype=object)
    and_one = Directions.stack([w, layout.one], axis=-1)
    above = StoredFeedForward(and_one, np.stack([ones, -upper], axis=1), w, -ones)
    return above.beside(StoredFeedForward(and_one, np.stack([-ones, lower], axis=1), w, ones))


def clearing_layer(layout: TokenLayout) -> StoredFeedForward:
    """An MLP that sets all scratch to 0."""
    signs, scratch = as_exact([1, -1]), layout.scratch
    return applied_units(-signs, np.stack([signs, 0 * signs], axis=1), [scratch, layout.one], scratch)


def answer_layer(layout: PromptLayout, bound: Any) -> StoredFeedForward:
    """The copy of p(N) into y at the test token only, if |p(N)| <= bound: relu(p - bound t) - relu(-p - bound t)."""
    signs, mask = as_exact([1, -1]), np.full(2, -fmpq(bound), dtype=object)
    sources = [layout.output(layout.depth), layout.block("t")]
    return applied_units(signs, np.stack([signs, mask], axis=1), sources, layout.block("y"))
