"""Recurrent cells and layers against plain loops over indices, in three number systems and in torch; their training."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer, elman_cell
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.numbers import as_exact, to_float

SEEDS = st.integers(0, 10**6)
ONE = fmpq(1)


def times(row: Any, matrix: Any) -> list[Any]:
    """The row vector times the matrix, in plain Python."""
    return [sum(row[i] * matrix[i][j] for i in range(len(row))) for j in range(len(matrix[0]))]


def added(*rows: Any) -> list[Any]:
    return [sum(entries) for entries in zip(*rows, strict=True)]


def positive(row: Any) -> list[Any]:
    return [x if x > 0 else 0 * x for x in row]


def elman_by_loops(W: Any, A: Any, b: Any, B: Any, x: Any) -> list[Any]:
    """y_l = B h_l, h_l = relu(W h_{l-1} + A x_l + b), h_0 = 0, in the convention of the source (columns)."""
    h, outputs = [0] * len(W), []
    for token in x:
        g = [
            sum(W[i][j] * h[j] for j in range(len(h))) + sum(A[i][j] * token[j] for j in range(len(token))) + b[i]
            for i in range(len(W))
        ]
        h = positive(g)
        outputs.append([sum(row[j] * h[j] for j in range(len(h))) for row in B])
    return outputs


def network_by_loops(layers: Any, row: Any) -> list[Any]:
    """ReLU layers, the last one linear."""
    for number, (weight, bias) in enumerate(layers, start=1):
        row = added(times(row, weight), bias)
        row = row if number == len(layers) else positive(row)
    return row


def deep_by_loops(forward: Any, backward: Any, readout: Any, radius: Any, x: Any) -> list[Any]:
    """h_1^fw = h_N^bw = 0, h_{i+1}^fw = P(h_i^fw + f(h_i^fw, z_i)), h_{i-1}^bw = P(h_i^bw + f(h_i^bw, z_i)), f_y."""
    N, m = len(x), len(forward[-1][1])

    def bounded(h: list[Any]) -> list[Any]:
        norm = math.sqrt(sum(float(entry) ** 2 for entry in h))
        return h if norm <= radius else [entry * radius / norm for entry in h]

    fw: list[Any] = [None] * N
    bw: list[Any] = [None] * N
    fw[0] = bw[N - 1] = [0] * m
    for i in range(N - 1):
        fw[i + 1] = bounded(added(fw[i], network_by_loops(forward, [*fw[i], *x[i]])))
    for i in range(N - 1, 0, -1):
        bw[i - 1] = bounded(added(bw[i], network_by_loops(backward, [*bw[i], *x[i]])))
    return [network_by_loops(readout, [*fw[i], *bw[i], *x[i]]) for i in range(N)]


def rational(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return as_exact(rng.integers(-3, 4, size=shape)) / fmpq(2)


def random_elman(seed: int) -> tuple[RecurrentLayer, tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(seed)
    m, d, e = rng.integers(1, 4, size=3).tolist()
    W, A, b, B = rational(rng, m, m), rational(rng, m, d), rational(rng, m), rational(rng, e, m)
    return RecurrentLayer(elman_cell(W.T, A.T, b), readout=Affine(B.T)), (W, A, b, B)


def random_network(rng: np.random.Generator, widths: list[int], scale: fmpq) -> FeedForward:
    layers = tuple(Affine(rational(rng, a, b) * scale, rational(rng, b)) for a, b in pairwise(widths))
    return FeedForward(layers, activations=("relu",) * (len(layers) - 1) + ("identity",))


def random_deep(seed: int, radius: Any, scale: fmpq = ONE) -> RecurrentLayer:
    """Tokens of width 2, states of width 3, transitions of four layers and a read-out of two."""
    rng = np.random.default_rng(seed)
    cells = [
        RecurrentCell(random_network(rng, [5, 3, 4, 2, 3], scale), residual=True, bound=BallProjection(3, radius))
        for _ in range(2)
    ]
    readout = random_network(rng, [8, 3, 2], scale)
    return RecurrentLayer(*cells, moment="before", keep_token=True, readout=readout)


def networks(layer: RecurrentLayer, convert: Any = as_exact) -> list[list[tuple[Any, Any]]]:
    """The weights and biases of both transitions and the read-out, as lists."""
    assert layer.forward is not None
    assert layer.backward is not None
    maps: list[Any] = [layer.forward.transition, layer.backward.transition, layer.readout]
    return [[(convert(part.weight).tolist(), convert(part.bias).tolist()) for part in f.layers] for f in maps]


@given(seed=SEEDS, length=st.integers(1, 5))
def test_elman_network_in_three_number_systems(seed: int, length: int) -> None:
    """Float64: a step maps numbers below h to 9/2 h + 21/2, so that after 5 and the read-out all are below 3 * 10^4;
    with 8 roundings a step the error is below 48 * 2^-53 * 3 * 10^4 < 2e-10."""
    layer, matrices = random_elman(seed)
    x = np.random.default_rng(seed + 1).integers(-2, 3, size=(length, layer.inputs))
    W, A, b, B = (array.tolist() for array in matrices)
    expected = np.array(elman_by_loops(W, A, b, B, x.tolist()), dtype=object)
    assert layer.arithmetic == "exact"
    assert (layer(x) == expected).all()
    assert (layer(np.stack([x, 2 * x]))[0] == expected).all()
    values = layer.map(to_float)(x.astype(float))
    assert values.dtype == np.float64
    assert np.abs(values - to_float(expected)).max() <= 2e-10
    with precision(128):
        balls = layer.map(as_balls)(as_balls(x))
        for ball, value in zip(balls.ravel(), expected.ravel(), strict=True):
            assert ball.overlaps(arb(value))
            assert ball.rad() < 1e-25


@given(seed=SEEDS, length=st.integers(1, 6))
def test_deep_transitions_in_both_directions_exactly(seed: int, length: int) -> None:
    """The ball is so large that the projection leaves the rational states alone."""
    x = np.random.default_rng(seed + 1).integers(-1, 2, size=(2, length, 2))
    layer = random_deep(seed, 10**40)
    expected = [deep_by_loops(*networks(layer), 10**40, rows) for rows in x.tolist()]
    assert (layer(x) == np.array(expected, dtype=object)).all()


def test_deep_transitions_with_an_active_projection() -> None:
    """Float64 and balls. Matrices of at most 4 x 5 entries below 3/16 have norms below 0.84, so that an error at most
    doubles from step to step; numbers below 5, at most 60 roundings a step: 2^6 * 6 * 60 * 5 * 2^-53 < 2e-11.
    """
    active = 0
    for seed in range(12):
        x = np.random.default_rng(seed + 1).integers(-1, 2, size=(6, 2))
        layer = random_deep(seed, Fraction(3, 2), scale=fmpq(1, 8))
        expected = np.array(deep_by_loops(*networks(layer, to_float), 1.5, x.astype(float).tolist()))
        assert np.abs(layer.map(to_float)(x.astype(float)) - expected).max() <= 2e-11
        with precision(128):
            balls = layer.map(as_balls)(as_balls(x))
        for ball, value in zip(balls.ravel(), expected.ravel(), strict=True):
            assert abs(float(ball.mid()) - value) <= 2e-11
            assert ball.rad() < 1e-11
        states = np.concatenate(layer.map(to_float).states(x.astype(float)), axis=-2)
        active += int((np.abs(np.linalg.norm(states, axis=-1) - 1.5) < 1e-12).sum())
    assert active > 20


def test_which_tokens_a_state_knows() -> None:
    """Interventions: the token j changes exactly the states of which the direction and the moment say so."""
    cell = elman_cell(np.eye(1), np.ones((1, 1)))
    x = np.arange(1.0, 5.0)[:, None]
    for moment in ("after", "before"):
        layer = RecurrentLayer(cell, cell, moment=moment)
        before = layer(x)
        for j in range(4):
            changed = x.copy()
            changed[j] += 1
            moved = layer(changed) != before
            assert moved[:, 0].tolist() == [i > j or (i == j and moment == "after") for i in range(4)]
            assert moved[:, 1].tolist() == [i < j or (i == j and moment == "after") for i in range(4)]
    assert RecurrentLayer(backward=cell)(x).ravel().tolist() == [10, 9, 7, 4]
    assert RecurrentLayer(cell, moment="before")(x).ravel().tolist() == [0, 1, 3, 6]
    assert RecurrentLayer(cell, keep_token=True)(x).tolist() == [[1, 1], [3, 2], [6, 3], [10, 4]]


def test_initial_state_is_a_weight() -> None:
    cell = RecurrentCell(FeedForward((Affine(np.array([[1], [1]])),)), initial=np.array([5]))
    assert cell.states(np.array([[1], [2]])).tolist() == [[5], [6], [8]]
    assert (cell.count, cell.one_norm) == (3, 7)
    assert elman_cell([[1]], [[1]]).count == 2
    module: Any = RecurrentLayer(cell).to_torch()
    assert module(torch.tensor([[1.0], [2.0]], dtype=torch.float64)).tolist() == [[6], [8]]
    assert len(list(module.parameters())) == 3


def test_blocks_that_a_layer_reads_and_writes() -> None:
    tokens, states = ResidualStream({"x": 1, "code": 2}), ResidualStream({"memory": 1, "idle": 1})
    transition = FeedForward((Affine(np.array([[1, 0], [0, 0], [1, 0], [0, 0], [0, 0]])),))
    cell = RecurrentCell(transition)
    assert (cell.width, cell.tokens) == (2, 3)
    assert cell.reads(tokens) == ("x",)
    assert cell.writes(states) == ("memory",)
    layer = RecurrentLayer(cell, keep_token=True, readout=Affine(np.array([[0], [0], [0], [0], [1]])))
    assert layer.reads(tokens) == ("x", "code")
    assert RecurrentLayer(cell).reads(tokens) == ("x",)
    assert layer.write_mask().tolist() == [True]
    assert RecurrentLayer(cell, cell).write_mask().tolist() == [True, False] * 2


@given(seed=SEEDS, length=st.integers(1, 6))
def test_torch_modules_compute_the_same(seed: int, length: int) -> None:
    """Both sides err as in the tests above; Elman networks of 6 steps have numbers below 2 * 10^5."""
    rng = np.random.default_rng(seed)
    elman, _ = random_elman(seed)
    deep = random_deep(seed, Fraction(3, 2), scale=fmpq(1, 8))
    bounded = RecurrentLayer(
        backward=RecurrentCell(random_network(rng, [5, 3], fmpq(1, 8)), bound=Clipping(3, fmpq(-1, 2), 1))
    )
    for layer, tolerance in ((elman, 4e-9), (deep, 4e-11), (bounded, 4e-11)):
        x = np.random.default_rng(seed + 1).integers(-1, 2, size=(2, length, layer.inputs)).astype(float)
        output = layer.to_torch()(torch.tensor(x)).detach().numpy()
        assert np.abs(output - layer.map(to_float)(x)).max() <= tolerance


def test_torch_modules_train_all_weights_or_the_recurrent_matrix_alone() -> None:
    layer, (W, A, b, _) = random_elman(3)
    module: Any = layer.to_torch()
    first = module.forward_cell.transition.layers[0]
    assert first.state.tolist() == to_float(W.T).tolist()
    assert first.token.tolist() == to_float(A.T).tolist()
    assert first.bias.tolist() == to_float(b).tolist()
    module.requires_grad_(False)
    first.state.requires_grad_(True)
    x = torch.ones(1, 4, layer.inputs, dtype=torch.float64)
    module(x).sum().backward()
    assert [name for name, part in module.named_parameters() if part.grad is not None] == [
        "forward_cell.transition.layers.0.state"
    ]
    deep = random_deep(1, 1, scale=fmpq(1, 8)).to_torch(dtype=torch.float32)
    optimizer = torch.optim.SGD(deep.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (deep(torch.ones(1, 4, 2)) - 0.5).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert all(part.dtype == torch.float32 for part in deep.parameters())


def test_modules_are_read_back_after_training() -> None:
    """A step of gradient descent moves the weights; the layer that is read back computes what the module computes."""
    x = np.random.default_rng(0).integers(-1, 2, size=(4, 2)) / 2
    source = random_deep(1, Fraction(3, 2), scale=fmpq(1, 8))
    assert source.forward is not None
    start = np.array([fmpq(1, 4), fmpq(0), fmpq(-1, 4)])
    layer = replace(source, forward=replace(source.forward, initial=start))
    module: Any = layer.to_torch()
    module(torch.tensor(x)).square().sum().backward()
    with torch.no_grad():
        for part in module.parameters():
            part -= 0.1 * part.grad
    again = module.to_layer()
    assert (again.moment, again.keep_token, again.forward.residual) == ("before", True, True)
    assert again.forward.bound.radius == Fraction(3, 2)
    moved = [np.abs(a - to_float(b)).max() for a, b in zip(again.arrays(), layer.arrays(), strict=True) if a.size]
    assert sum(change > 1e-3 for change in moved) >= 10  # the others stand behind units that are off
    assert np.abs(module(torch.tensor(x)).detach().numpy() - again(x)).max() <= 4e-11
    clipped = RecurrentLayer(backward=RecurrentCell(FeedForward((Affine(np.ones((2, 1))),)), bound=Clipping(1, -1, 2)))
    assert clipped.to_torch().to_layer()(np.array([[3.0], [1.0]])).tolist() == [[2], [1]]  # type: ignore[operator]


def test_bad_layers_are_refused() -> None:
    cell = elman_cell(np.eye(2), np.ones((3, 2)))
    with pytest.raises(ValueError, match="reads 2 coordinates: no token"):
        RecurrentCell(FeedForward((Affine(np.eye(2)),)))
    with pytest.raises(ValueError, match="width 2 has the width 3"):
        RecurrentCell(cell.transition, bound=BallProjection(3, 1))
    with pytest.raises(ValueError, match="initial state of width 2"):
        RecurrentCell(cell.transition, initial=np.zeros(3))
    with pytest.raises(ValueError, match="0 cells and 'after'"):
        RecurrentLayer()
    with pytest.raises(ValueError, match="1 cells and 'during'"):
        RecurrentLayer(cell, moment="during")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"tokens of widths \[1, 3\]"):
        RecurrentLayer(cell, elman_cell(np.eye(2), np.ones((1, 2))))
    with pytest.raises(ValueError, match="reads 4 coordinates, but there are 5"):
        RecurrentLayer(cell, keep_token=True, readout=Affine(np.eye(4)))
    for shape in ((2, 4), (0, 3), (3,)):
        with pytest.raises(ValueError, match="takes tokens of shape"):
            RecurrentLayer(cell)(np.zeros(shape))
