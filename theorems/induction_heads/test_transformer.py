"""The definitions (8.4)-(8.7): the attention-only transformer, and the in-context loss with its margin loss.

The layers of the library are compared with loops over every index of the printed formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import log, log1p, prod
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.induction.losses import enumerate_losses
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.markov.minimal_gradient import chain_stationary_law, chain_tensor, w_gradient
from lemmata.theorems.evidence import check, proof_steps

# ---- the transformer (8.4)-(8.5)


def _random_transformer(seed: int, k: int = 2, d: int = 3) -> Transformer:
    """Two layers of one head each, (8.5), with rational weights and a table of four relative keys."""
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> np.ndarray:
        return as_exact(rng.integers(-4, 5, size=shape)) / fmpq(3)

    def head() -> Head:
        query, key, value = (Affine(weights(d, d)) for _ in range(3))
        return Head(query, key, value, relative_keys=weights(4, d), temperature_squared=d)

    layers = [AttentionLayer((head(),)) for _ in range(2)]
    return Transformer(weights(k, d), weights(0, d), tuple(layers), weights(d, k))


def _row_times(row: Any, matrix: Any) -> list[Any]:
    return [sum((row[a] * matrix[a][b] for a in range(len(row))), start=fmpq(0)) for b in range(len(matrix[0]))]


def _score_by_loops(head: Head, z: Any, i: int, j: int) -> Any:
    """(z_i W_Q)(z_j W_K + v_(i-j+1))^T with the row i - j of the table (v_1 is its row 0)."""
    query, key = _row_times(z[i], head.query.weight), _row_times(z[j], head.key.weight)
    relative = head.relative_keys[i - j] if i - j < len(head.relative_keys) else [0] * len(key)
    return sum((q * (a + b) for q, a, b in zip(query, key, relative, strict=True)), start=fmpq(0))


def _forward_by_loops(transformer: Transformer, x: Sequence[int]) -> list[list[arb]]:
    """(8.4)-(8.5) with a loop over every index, in balls; written without the layers."""
    z = [[arb(entry) for entry in transformer.embedding[symbol - 1]] for symbol in x]
    for layer in transformer.layers:
        head, after = layer.heads[0], []
        for i in range(len(x)):
            weights = [(arb(_score_by_loops(head, z, i, j)) / arb(len(z[0])).sqrt()).exp() for j in range(i + 1)]
            total = sum(weights, start=arb(0))
            values = [_row_times(z[j], head.value.weight) for j in range(i + 1)]
            mean = [
                sum((w / total * v[b] for w, v in zip(weights, values, strict=True)), arb(0)) for b in range(len(z[0]))
            ]
            after.append([old + new for old, new in zip(z[i], mean, strict=True)])
        z = after
    return [_row_times(row, transformer.readout) for row in z]


@check(
    "induction-heads:definition-transformer",
    grade="sampled",
    target="printed",
    cases="Hypothesis: 30 derandomised draws at quick effort: two layers, d = 3, k = 2, t <= 6",
)
@given(seed=st.integers(0, 10**6), x=st.lists(st.integers(1, 2), min_size=1, max_size=6))
def test_forward_pass_is_that_of_8_4_and_8_5(seed: int, x: list[int]) -> None:
    transformer = _random_transformer(seed)
    outputs = transformer.to_balls()(x)
    for row, expected in zip(outputs, _forward_by_loops(transformer, x), strict=True):
        for value, oracle in zip(row, expected, strict=True):
            # Both enclose the same number; at 53 bits and a few hundred operations the balls stay narrow.
            assert value.overlaps(oracle)
            assert value.rad() + oracle.rad() < 1e-9 * (1 + abs(oracle))


@check(
    "induction-heads:definition-transformer",
    grade="sampled",
    target="printed",
    cases="Hypothesis: 30 derandomised draws at quick effort: two layers, d = 3, k = 2, t <= 7",
)
@given(seed=st.integers(0, 10**6), x=st.lists(st.integers(1, 2), min_size=2, max_size=7))
def test_scores_depend_on_positions_through_their_difference_only(seed: int, x: list[int]) -> None:
    transformer = _random_transformer(seed)
    head = transformer.layers[0].heads[0]
    stream = transformer.embed(x)
    scores = head.scores(stream, head.key(stream))
    z = transformer.embedding[np.array(x) - 1]
    assert all(scores[i, j] == _score_by_loops(head, z, i, j) for i in range(len(x)) for j in range(i + 1))
    stream = transformer.embed([1, 2, *x])
    later = head.scores(stream, head.key(stream))[2:, 2:]
    assert all(later[i, j] == scores[i, j] for i in range(len(x)) for j in range(i + 1))


@check(
    "induction-heads:definition-transformer",
    grade="sampled",
    target="printed",
    cases="Hypothesis: 30 derandomised draws at quick effort: two layers, hard attention, d = 3, k = 2, t <= 7",
)
@given(seed=st.integers(0, 10**6), x=st.lists(st.integers(1, 2), min_size=2, max_size=7))
def test_outputs_do_not_depend_on_later_tokens(seed: int, x: list[int]) -> None:
    transformer = _random_transformer(seed).hard()
    outputs = transformer(x)
    changed = transformer([*x[:-1], 3 - x[-1]])
    assert np.array_equal(outputs[:-1], changed[:-1])
    assert np.array_equal(outputs[:-1], transformer(x[:-1]))


# ---- the losses (8.6)-(8.7)


def _margin_loss(f: Sequence[Any], y: int, delta: Any) -> Any:
    """(8.7) for the logits f and the label y = 0, ..., k - 1."""
    terms = [max(fmpq(0), delta + f_i - f[y]) for i, f_i in enumerate(f) if i != y]
    return sum(terms, start=fmpq(0)) / len(f)


@check("induction-heads:definition-loss", grade="symbolic", target="printed", supporting=True)
@proof_steps("gradient.md: 4")
def test_margin_loss_is_linear_while_all_terms_are_active() -> None:
    """l = Delta (k-1)/k + (1/k) sum_i f_i - f_y for all k; `rest` is the sum of the other k - 1 logits."""
    k, delta, own, rest = sp.symbols("k Delta f_y rest")
    active = ((k - 1) * delta + rest - (k - 1) * own) / k
    assert sp.simplify(active - (delta * (k - 1) / k + (rest + own) / k - own)) == 0


@check(
    "induction-heads:definition-loss",
    grade="exact",
    target="printed",
    cases="one chain of two states with t = 1, ..., 5 and one of three with t = 1, 2, 3: one v, W and Delta each",
)
@proof_steps("gradient.md: 4")
@pytest.mark.parametrize(("k", "t"), [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (3, 1), (3, 2), (3, 3)])
def test_population_loss_of_the_minimal_model_by_its_definition_and_by_the_tensor(k: int, t: int) -> None:
    """(8.6) with (8.7), which is (E.3) averaged to (E.4), over all sequences: Delta (k-1)/k - <C, v W>.

    The positions enter as a mean, as in (8.6); with their sum the loss would be t times as large.
    """
    rows = {2: [[3, 1], [2, 2]], 3: [[3, 0, 1], [1, 2, 1], [1, 1, 2]]}[k]
    P = np.array([[fmpq(x, 4) for x in row] for row in rows], dtype=object)
    v = np.array([fmpq(2 * j - 3, 3) for j in range(t)], dtype=object)
    W = np.array([[fmpq(m + 2 * l - 1, 2) for l in range(k)] for m in range(k)], dtype=object)
    model, pi, delta, total = MinimalModel(v, W), chain_stationary_law(P), fmpq(200), fmpq(0)
    for x in product(range(k), repeat=t + 1):
        weight = pi[x[0]]
        for here, after in pairwise(x):
            weight = weight * P[here, after]
        logits = model(x[:-1]).tolist()
        total += weight * sum((_margin_loss(f, y, delta) for f, y in zip(logits, x[1:], strict=True)), fmpq(0)) / t
    linear = (w_gradient(chain_tensor(P, t), v) * W).sum()
    assert linear != 0
    assert total == delta * fmpq(k - 1, k) - linear


def _chain_nodes(count: int) -> list[tuple[float, float, float]]:
    """Nodes (a, b, weight) for integrals over two uniform transition probabilities a of 1 -> 2 and b of 2 -> 1.

    With a + b = r and the shares s and 1 - s, s up to 1/2, the stationary law is that of the shares, and r goes up to
    1/(1 - s): integrals over r of polynomials are exact, and what is left is smooth in s. The other half is a mirror.
    """
    points, weights = np.polynomial.legendre.leggauss(count)
    points, weights = (points + 1) / 2, weights / 2
    nodes = []
    for s, first in zip(points / 2, weights / 2, strict=True):
        for r, second in zip(points / (1 - s), weights / (1 - s), strict=True):
            nodes += [(r * s, r * (1 - s), first * second * r), (r * (1 - s), r * s, first * second * r)]
    return nodes


@check(
    "induction-heads:definition-loss",
    grade="numeric",
    target="printed",
    cases="(8.6) with the cross-entropy, k = 2, alpha = 1, a trained head, t = 1 and 3: all sequences, quadrature",
)
@pytest.mark.parametrize("t", [1, 3])
def test_certified_losses_add_up_to_the_loss_of_the_definition(t: int) -> None:
    """The mean of the certified losses of all lengths p <= t is (8.6), less the loss of one who knows the chain.

    (8.6) is added up as printed: chains by quadrature with 24 nodes for r and for s, whose error is below 1e-12 here,
    sequences one by one, the transformer in balls by loops. The entropies of the rows are not smooth at the edges: with
    100 nodes they are off by 2e-9, with 200 by a fourth power less, 1.2e-10.
    """
    model = trained_head().model
    total = entropy = 0.0
    nodes = _chain_nodes(24)
    assert abs(sum(weight for *_, weight in nodes) - 1) < 1e-12
    for x in product((1, 2), repeat=t + 1):
        logits = [[float(one) for one in row] for row in _forward_by_loops(model, x[:t])]
        cost = sum(np.logaddexp(*row) - row[y - 1] for row, y in zip(logits, x[1:], strict=True)) / t
        for a, b, weight in nodes:
            rows = {(1, 1): 1 - a, (1, 2): a, (2, 1): b, (2, 2): 1 - b}
            start = b / (a + b) if x[0] == 1 else a / (a + b)
            total += cost * weight * start * prod(rows[step] for step in pairwise(x))
    for a, b, weight in _chain_nodes(100):
        for share, one in ((b, a), (a, b)):
            entropy -= weight * share / (a + b) * (one * log(one) + (1 - one) * log1p(-one))
    certified = [enumerate_losses(model, p).proved.loss for p in range(1, t + 1)]
    for end, side in ((0, -1), (1, 1)):
        assert side * (sum(one[end] for one in certified) / t - (total - entropy)) > -1e-8
    assert all(high - low < 1e-10 for low, high in certified)


@check("induction-heads:definition-loss", grade="sampled", target="printed", supporting=True)
@given(st.data())
def test_margin_loss_is_half_the_hinge_loss_for_two_classes_and_linear_near_equal_logits(data: st.DataObject) -> None:
    numbers = st.integers(-30, 30).map(lambda a: fmpq(a, 7))
    f = data.draw(st.lists(numbers, min_size=2, max_size=5))
    y, delta = data.draw(st.integers(0, len(f) - 1)), data.draw(st.integers(1, 60).map(lambda a: fmpq(a, 7)))
    k, loss = len(f), _margin_loss(f, y, delta)
    assert (loss == 0) == all(f[y] >= delta + f[i] for i in range(k) if i != y)
    if k == 2:
        assert loss == max(fmpq(0), delta - (f[y] - f[1 - y])) / 2
    linear = delta * fmpq(k - 1, k) + sum(f, start=fmpq(0)) / k - f[y]
    assert loss >= linear  # max{0, u} >= u
    if all(delta + f_i - f[y] >= 0 for f_i in f):
        assert loss == linear


@check("induction-heads:definition-loss", grade="numeric", target="printed", supporting=True)
@pytest.mark.parametrize("k", [2, 3, 8])
def test_cross_entropy_at_zero_logits_has_the_gradient_of_the_margin_loss(k: int) -> None:
    """Both are 1/k - [i = y]. The softmax of zeros and the difference are rounded: at most 4 units of 2^-53."""
    for y in range(k):
        logits = torch.zeros(1, k, dtype=torch.float64, requires_grad=True)
        torch.nn.functional.cross_entropy(logits, torch.tensor([y])).backward()
        assert logits.grad is not None
        expected = torch.full((k,), 1 / k, dtype=torch.float64)
        expected[y] -= 1
        assert torch.all((logits.grad[0] - expected).abs() <= 4 * 2.0**-53)
