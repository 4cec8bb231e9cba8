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
from typing import Any

import numpy as np
from flint import fmpq

from constructions.descent.layout import PromptLayout
from constructions.networks.relu_attention import HeadFamily, ReluAttentionLayer
from constructions.networks.sparse_layers import MlpLayer, MultiplicationLayer
from numerics.exact.numbers import as_exact
from numerics.exact.systems import Array
from numerics.functions.relu_sums import ReluSum


def forward_layer(layout: PromptLayout, j: int, activation: ReluSum) -> ReluAttentionLayer:
    """Layer j = 1, ..., N of the block: writes p(j) = rbar(V_j p(j-1))."""
    return _apply_to_preactivations(layout, [j], activation, [layout.block(f"p{j}")])


def derivative_layer(layout: PromptLayout, derivative: ReluSum) -> ReluAttentionLayer:
    """Layer N+1: writes all r'(j-1) = rbar'(V_j p(j-1)), j = 1, ..., N."""
    layers = range(1, layout.depth + 1)
    return _apply_to_preactivations(layout, layers, derivative, [layout.block(f"r'{j - 1}") for j in layers])


def _apply_to_preactivations(
    layout: PromptLayout, layers: Sequence[int], function: ReluSum, targets: Sequence[Array]
) -> ReluAttentionLayer:
    """Heads that write function(<v_jk, p(j-1)>) into the coordinates `targets` of each layer j."""
    families = [
        HeadFamily(
            query=layout.output(j - 1),
            key=row,
            one=layout.one,
            source=np.array([layout.one]),
            target=coordinates[k : k + 1],
            slopes=function.directions[:, 0],
            offsets=function.directions[:, 1],
            coefficients=function.coefficients,
        )
        for j, coordinates in zip(layers, targets, strict=True)
        for k, row in enumerate(layout.weight_rows(j))
    ]
    return ReluAttentionLayer(tuple(families), layout.stream.width)


def loss_gradient_layer(layout: PromptLayout, loss_derivative: ReluSum, bound: Any) -> MlpLayer:
    """Layer N+2: writes g = ubar(p(N), y) at examples and 0 at the test token, if |p(N)|, |y|, 1 <= bound there."""
    output, label, target = layout.output(layout.depth), layout.block("y"), layout.block("g")
    t, M = int(layout.block("t")[0]), loss_derivative.units
    a = loss_derivative.directions
    masked = np.stack([a[:, 0], a[:, 1], a[:, 2] - bound, np.full(M, fmpq(bound), dtype=object)], axis=1)
    reads = [(output[k], label[k], layout.one, t) for k in range(len(target)) for _ in range(M)]
    return MlpLayer(
        np.array(reads),
        np.tile(masked, (len(target), 1)),
        np.repeat(target, M),
        np.tile(loss_derivative.coefficients, len(target)),
        layout.stream.width,
    )


def error_layer(layout: PromptLayout, j: int) -> MultiplicationLayer:
    """Layer 2N+3-j: writes s(j), for j = N from g, for j < N from column k of V_(j+1) and s(j+1)."""
    derivative, target = layout.block(f"r'{j - 1}"), layout.block(f"s{j}")
    if j == layout.depth:
        query = layout.block("g")[:, None]
        key = np.full_like(query, layout.one)
    else:
        query = layout.weight_rows(j + 1).T
        key = np.tile(layout.block(f"s{j + 1}"), (len(target), 1))
    return MultiplicationLayer(query, key, derivative, target, layout.stream.width)


def update_layer(layout: PromptLayout, step_size: fmpq, examples: int) -> ReluAttentionLayer:
    """Layer 2N+3: adds -(eta / 2n) sum_i s_i(j) p_i(j-1)^T to V_j for all j, in every token."""
    share = step_size * fmpq(examples + 1, 2 * examples)
    families = [
        HeadFamily(
            query=np.array([layout.one]),
            key=layout.block(f"s{j}")[k : k + 1],
            one=layout.one,
            source=layout.output(j - 1),
            target=row,
            slopes=as_exact([1, -1]),
            offsets=as_exact([0, 0]),
            coefficients=as_exact([-share, share]),
        )
        for j in range(1, layout.depth + 1)
        for k, row in enumerate(layout.weight_rows(j))
    ]
    return ReluAttentionLayer(tuple(families), layout.stream.width)


def projection_layer(layout: PromptLayout, lower: Array, upper: Array) -> MlpLayer:
    """Layer 2N+4: clips every weight to [lower, upper], arrays of shape (D_N,), and sets all scratch to 0."""
    every = np.arange(layout.stream.width)
    clipped, cleared = every[layout.all_weights], every[layout.scratch]
    zeros = as_exact(np.zeros(len(cleared), dtype=np.int64))
    ones = as_exact(np.ones(len(clipped), dtype=np.int64))
    weights = [(ones, -upper), (-ones, lower), (1 + zeros, zeros), (zeros - 1, zeros)]
    coordinates = np.concatenate([clipped, clipped, cleared, cleared])
    return MlpLayer(
        np.stack([coordinates, np.full_like(coordinates, layout.one)], axis=1),
        np.concatenate([np.stack(pair, axis=1) for pair in weights]),
        coordinates,
        np.concatenate([-ones, ones, zeros - 1, 1 + zeros]),
        layout.stream.width,
    )


def answer_layer(layout: PromptLayout, bound: Any) -> MlpLayer:
    """Copies p(N) into y at the test token only, if |p(N)| <= bound: relu(p - bound t) - relu(-p - bound t)."""
    output, label, t = layout.output(layout.depth), layout.block("y"), int(layout.block("t")[0])
    signs = as_exact([1, -1])
    weights = [[sign, fmpq(0) - bound] for _ in output for sign in signs]
    return MlpLayer(
        np.array([(p, t) for p in output for _ in signs]),
        np.array(weights, dtype=object),
        np.repeat(label, 2),
        np.tile(signs, len(output)),
        layout.stream.width,
    )
