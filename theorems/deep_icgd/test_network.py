"""Definitions: sizes of the network and of the prompt, the layers of the transformer, the order of composition."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stored import StoredMultiplication
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.functions.relu_sums import constant, identity, squared_loss_derivative
from lemmata.theorems.deep_icgd.instances import random_instance, rationals, reference_step
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

# ---- sizes


N, d, K, d_x, d_y = sp.symbols("N d K d_x d_y", integer=True, positive=True)


def weight_count(depth: Any, inputs: Any, outputs: Any, width: Any) -> Any:
    """The entries of V_1, ..., V_N, summed over the layers, N >= 2."""
    j = sp.symbols("j", integer=True)
    return width * inputs + sp.summation(width * width, (j, 2, depth - 1)) + outputs * width


def blocks_of(widths: tuple[int, ...]) -> dict[str, int]:
    """The blocks of a prompt by hand, for d_x, K_1, ..., d_y."""
    layers = range(1, len(widths))
    sizes = {"x": widths[0], "y": widths[-1]} | {f"w{j}": widths[j] * widths[j - 1] for j in layers}
    sizes |= {f"p{j}": widths[j] for j in layers} | {f"r'{j - 1}": widths[j] for j in layers} | {"g": widths[-1]}
    return sizes | {f"s{j}": widths[j] for j in reversed(layers)} | {"1": 1, "t": 1}


def assert_blocks() -> None:
    """All blocks, in order, for widths that all differ; and what is no network of widths >= 1 is refused."""
    for widths in ((3, 5), (3, 5, 2), (2, 6, 4, 3), (5, 2, 3, 4, 6)):
        layout = PromptLayout(widths)
        assert list(layout.stream.sizes.items()) == list(blocks_of(widths).items())
        assert layout.depth == len(widths) - 1
        assert layout.data_sizes == (widths[0], widths[-1])
        assert layout.units == sum(widths[1:])
        assert [V.shape for V in layout.matrices(np.zeros(layout.weight_count))] == [
            (b, a) for a, b in pairwise(widths)
        ]
    for wrong in ((3,), (3, 0), (3, True), (3, 1.5, 2), (-1, 2)):
        with pytest.raises(ValueError, match="widths"):
            PromptLayout(wrong)  # type: ignore[arg-type]


@check("deep-icgd:definition-1", grade="symbolic", target="printed")
def test_number_of_weights() -> None:
    """2dK + (N-2)K^2 for all N >= 2, d, K; and the layout's numbers are those of the sum."""
    assert sp.expand(weight_count(N, d, d, K) - (2 * d * K + (N - 2) * K**2)) == 0
    for n in range(2, 6):
        assert PromptLayout((3, *(4,) * (n - 1), 3)).weight_count == weight_count(n, 3, 3, 4)
    assert PromptLayout((3, 3)).weight_count == 9 != 2 * 3 * 4 - 4**2  # N = 1 is another case
    assert_blocks()


@check("deep-icgd:definition-10", grade="symbolic", target="printed")
def test_number_of_weights_with_other_dimensions() -> None:
    assert sp.expand(weight_count(N, d_x, d_y, K) - ((d_x + d_y) * K + (N - 2) * K**2)) == 0
    for n in range(2, 6):
        layout = PromptLayout((3, *(4,) * (n - 1), 2))
        assert layout.weight_count == weight_count(n, 3, 2, 4)
        assert [V.shape for V in layout.matrices(np.zeros(layout.weight_count))] == [
            (4, 3),
            *[(4, 4)] * (n - 2),
            (2, 4),
        ]
    assert_blocks()


@check("deep-icgd:equation-2.1", grade="symbolic", target="corrected")
@proof_steps("block.md: 18")
def test_width_of_the_prompt() -> None:
    """D = D_N + 3(N-1)K + 6d + 2 for all N >= 2, d, K, as the sum of the blocks; 28 for N = d = K = 2."""
    units = sp.summation(K, (sp.symbols("j"), 1, N - 1)) + d  # p, r' and s have one entry per unit
    width = 2 * d + weight_count(N, d, d, K) + 3 * units + d + 2
    formula = 2 * d * K + (N - 2) * K**2 + 3 * (N - 1) * K + 6 * d + 2
    assert sp.expand(width - formula) == 0
    for n in range(2, 6):
        layout = PromptLayout((3, *(2,) * (n - 1), 3))
        assert layout.stream.width == formula.subs({N: n, d: 3, K: 2})
        blocks = [layout.stream[name] for name in layout.stream.sizes]
        assert sorted(c for block in blocks for c in range(block.start, block.stop)) == list(range(layout.stream.width))
    assert [PromptLayout((2, *(2,) * (n - 1), 2)).stream.width for n in (2, 3, 4)] == [28, 38, 48]
    assert_blocks()


@counterexample("deep-icgd:equation-2.1", grade="exact")
def test_width_is_not_of_the_order_of_d(record: Record) -> None:
    """With d = 1, D is unbounded in K (and in N), since w alone has 2K entries; and r' has N - 1 blocks of length K."""
    widths = [PromptLayout((1, K, 1)).stream.width for K in (1, 10, 100, 1000)]
    assert all(width >= 2 * K for width, K in zip(widths, (1, 10, 100, 1000), strict=True))
    layout = PromptLayout((2, 3, 3, 2))
    stored = sum(layout.stream.sizes[f"r'{j}"] for j in range(3))
    assert stored == 2 * 3 + 2 != 1 * 3 + 2
    _, hidden, _, outputs = layout.widths
    record.hypothesis("N >= 2 layers", layout.depth, ">=", 2)
    record.violated("dim r'_i = (N-2)K + d", stored, "=", (layout.depth - 2) * hidden + outputs)


# ---- layers


def symbolic_head(tokens: int, size: int) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix, sp.Matrix]:
    return tuple(
        sp.Matrix(rows, columns, lambda a, b, name=name: sp.Symbol(f"{name}{a}{b}"))
        for name, rows, columns in (("h", size, tokens), ("q", size, size), ("k", size, size), ("v", size, size))
    )  # type: ignore[return-value]


@check("deep-icgd:definition-7", grade="symbolic", target="corrected", supporting=True)
@proof_steps("forms.md: 1, 3")
@pytest.mark.parametrize(("tokens", "size"), [(1, 1), (2, 2), (3, 2)])
def test_matrix_form_of_relu_attention(tokens: int, size: int) -> None:
    """(V H) s((K H)^T (Q H)) has as column i the sum over j of s(<Q h_i, K h_j>) V h_j, for every function s.

    For all sizes: entry (j, i) of (K H)^T (Q H) is <K h_j, Q h_i>.
    """
    H, Q, W, V = symbolic_head(tokens, size)
    score = sp.Function("s")
    matrix = (V * H) * ((W * H).T * (Q * H)).applyfunc(lambda t: score(sp.expand(t)))
    for i in range(tokens):
        vector = sp.zeros(size, 1)
        for j in range(tokens):
            vector += score(sp.expand((Q * H[:, i]).dot(W * H[:, j]))) * (V * H[:, j])
        assert (matrix[:, i] - vector).applyfunc(sp.expand) == sp.zeros(size, 1)


@check(
    "deep-icgd:definition-7", grade="exact", target="corrected", cases="D = 1, 2, 3, n = 1, ..., 4, one H, Q, K, V each"
)
@proof_steps("forms.md: 3")
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("tokens", [1, 2, 3, 4])
def test_heads_of_the_library_have_the_corrected_matrix_form(tokens: int, size: int) -> None:
    """(V H) relu((K H)^T (Q H)) / n, transposed, against the head, which has rows for tokens and W_Q = Q^T."""
    H, Q, W, V = (
        as_exact([[(a * (7 * i + 3) + b * (5 * k + 2)) % 11 - 4 for k in range(columns)] for i in range(size)])
        for a, b, columns in ((2, 5, tokens), (3, 4, size), (5, 3, size), (1, 7, size))
    )
    if not ((W @ H).T @ (Q @ H) > 0).any():
        Q = -Q
    scores = (W @ H).T @ (Q @ H)
    active = np.where((scores > 0).astype(bool), scores, 0 * scores)
    assert (active != 0).any()
    head = Head(Affine(Q.T), Affine(W.T), Affine(V.T), weigh="relu", causal=False)
    expected = ((V @ H) @ active).T / tokens
    assert (head(H.T) == expected).all()
    floats = Head(*(Affine(to_float(M.T)) for M in (Q, W, V)), weigh="relu", causal=False)(to_float(H.T))
    # integers below 2^53 until the last division, which rounds
    assert np.abs(floats - to_float(expected)).max() <= 2.0**-52 * max(1.0, np.abs(to_float(expected)).max())


@counterexample("deep-icgd:definition-7", grade="exact")
def test_printed_matrix_form_interchanges_queries_and_keys(record: Record) -> None:
    """D = 2, h_1 = (1, 1), h_2 = (2, 1), Q and K different: the printed form is the vector form with these swapped."""
    z = as_exact([[1, 1], [2, 1]])
    query, key, value = (as_exact(one) for one in ([[1, 0], [0, 0]], [[0, 0], [1, 0]], [[1, 0], [0, 0]]))
    maps = Affine(query), Affine(key), Affine(value)
    vector = Head(*maps, weigh="relu", causal=False)(z)
    H, Q, W, V = z.T, query.T, key.T, value.T
    scores = (Q @ H).T @ (W @ H)  # all positive, so the ReLU does nothing
    printed = ((V @ H) @ scores).T / 2
    shapes = {one.shape for one in (Q, W, V)}
    record.hypothesis("Q, K and V are in R^(D x D): their shapes, with (2, 2)", len(shapes | {(2, 2)}), "=", 1)
    record.hypothesis("H is in R^(D x n): its rows", H.shape[0], "=", Q.shape[1])
    record.violated("both forms agree in the first entry of the first token", printed[0, 0], "=", vector[0, 0])
    assert (printed == Head(maps[1], maps[0], maps[2], weigh="relu", causal=False)(z)).all()


@check("deep-icgd:definition-6", grade="symbolic", target="printed", supporting=True)
@proof_steps("forms.md: 2")
@pytest.mark.parametrize(("tokens", "size"), [(1, 1), (2, 2), (3, 2)])
def test_element_wise_multiplication_is_token_wise(tokens: int, size: int) -> None:
    """(V H) gamma((Q H)^T (K H)) has the columns <Q h_i, K h_i> V h_i: a diagonal matrix multiplies columns."""
    H, Q, W, V = symbolic_head(tokens, size)
    scores = (Q * H).T * (W * H)
    matrix = (V * H) * sp.diag(*[scores[i, i] for i in range(tokens)])
    for i in range(tokens):
        assert (matrix[:, i] - (Q * H[:, i]).dot(W * H[:, i]) * (V * H[:, i])).applyfunc(sp.expand) == sp.zeros(size, 1)


@check(
    "deep-icgd:definition-6",
    grade="sampled",
    target="printed",
    cases="two heads on a stream of width 5, one draw of 3 tokens; seed 0",
)
@proof_steps("forms.md: 2")
def test_multiplication_layer_is_its_dense_heads() -> None:
    rng = np.random.default_rng(0)
    every = ResidualStream({"z": 5}).directions("z")
    layer = StoredMultiplication(every[[[0, 1], [2, 2]]], every[[[3, 4], [0, 1]]], every[[1, 4]], every[[2, 2]])
    z = rationals(rng, 3, 5)
    expected = z.copy()
    for matrices in zip(*layer.dense().arrays(), strict=True):
        Q, W, V = (matrix.astype(object) for matrix in matrices)
        expected = expected + ((z @ Q) * (z @ W)).sum(axis=1)[:, None] * (z @ V)
    assert (layer(z) == expected).all()


@check(
    "deep-icgd:definition-9",
    grade="sampled",
    target="corrected",
    cases="N = 1, ..., 4, one affine network each; seeded by N",
)
@counterexample("deep-icgd:definition-9", grade="exact")
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_block_runs_in_the_order_of_application(depth: int, record: Record) -> None:
    """Layer 1 first is a gradient step; layer 2N+4 first, as definition 9 reads the printed composition, is none.

    Backwards the first layer clips, the gradient step sees empty slots s(j) = 0, and w stays.
    """
    instance = random_instance(np.random.default_rng(depth), "affine", depth, clip=False)
    after, nonzero, _ = reference_step(instance, instance.start)
    block = instance.block
    assert all(nonzero)
    assert (block.weights(block(instance.prompt)) == after).all()
    backwards = replace(block, layers=block.layers[::-1])
    assert (backwards.weights(backwards(instance.prompt)) == instance.start).all()
    assert (after != instance.start).any()
    if depth == 2:
        found, turned = (one.weights(one(instance.prompt)) for one in (block, backwards))
        most = int(np.argmax(abs(after - instance.start)))
        record.hypothesis("Theorem 1 composes (N + 2) + N + 2 layers", len(block.layers), "=", 2 * depth + 4)
        record.hypothesis("the step moves w: the largest change", abs(after - instance.start)[most], ">", 0)
        record.hypothesis("applied in the order in which they are written they make it", found[most], "=", after[most])
        record.violated("with the rightmost first, as here, they do: that weight", turned[most], "=", after[most])


@check("deep-icgd:claim-comparison", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("depth", range(1, 8))
def test_layers_per_step(depth: int) -> None:
    """2N+4 layers: linear in N. How many layers earlier constructions need is not in the document."""
    widths = (2, *(1,) * (depth - 1), 1)
    sums = identity(), constant(1), squared_loss_derivative()
    block = gradient_descent_block(widths, 2, 1, *sums, (-1, 1), 1, 1)
    kinds = [summary.kind for summary in block.table()]
    assert kinds == ["attention"] * (depth + 1) + ["MLP"] + ["multiplication"] * depth + ["attention", "MLP"]
    assert len(kinds) == 2 * depth + 4
