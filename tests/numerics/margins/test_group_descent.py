"""Gradients against the dense code and automatic differentiation; batches; penalties; bad input."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lemmata.numerics.groups.tables import cyclic, symmetric
from lemmata.numerics.margins.descent import objective_and_gradient
from lemmata.numerics.margins.group_descent import GroupWeights, group_gradient, train_on_group


def weights(n: int, m: int, seed: int = 0, dtype: type = np.float64) -> GroupWeights:
    random = np.random.default_rng(seed)
    return GroupWeights(*(random.normal(size=(n, m)).astype(dtype) for _ in range(3)))


def by_torch(
    given: GroupWeights, pairs: np.ndarray, labels: np.ndarray, activation: str
) -> tuple[float, list[torch.Tensor]]:
    u, v, w = (torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in given.parts)
    pre = u[pairs[:, 0]] + v[pairs[:, 1]]
    hidden = torch.relu(pre) if activation == "relu" else pre**2
    loss = torch.nn.functional.cross_entropy(hidden @ w.T, torch.tensor(labels))
    return loss.item(), list(torch.autograd.grad(loss, (u, v, w)))


@pytest.mark.parametrize("activation", ["square", "relu"])
@pytest.mark.parametrize("batch", [None, 40])
def test_gradients_are_those_of_automatic_differentiation(activation, batch) -> None:
    table = np.asarray(symmetric(3).table)
    given = weights(6, 5)
    pairs = np.argwhere(table >= 0) if batch is None else np.random.default_rng(3).integers(6, size=(batch, 2))
    loss, slopes = group_gradient(given, table, activation, None if batch is None else pairs)
    expected, gradients = by_torch(given, pairs, table[pairs[:, 0], pairs[:, 1]], activation)
    assert loss == pytest.approx(expected, rel=1e-12)
    for slope, gradient in zip(slopes.parts, gradients, strict=True):
        np.testing.assert_allclose(slope, gradient.numpy(), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_gradients_are_those_of_the_dense_code(n) -> None:
    table = np.asarray(cyclic(n).table)
    given = weights(n, 4)
    pairs = np.argwhere(table >= 0)
    inputs = np.hstack([np.eye(n)[pairs[:, 0]], np.eye(n)[pairs[:, 1]]])
    hidden = np.hstack([given.u.T, given.v.T])
    dense = objective_and_gradient(inputs, table.ravel(), hidden, given.w.T.copy(), 2, 0.0)
    loss, slopes = group_gradient(given, table, "square")
    assert loss == pytest.approx(dense[0], rel=1e-12)
    np.testing.assert_allclose(np.hstack([slopes.u.T, slopes.v.T]), dense[1], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(slopes.w.T, dense[2], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("kind", ["cubic", "square"])
def test_a_step_subtracts_the_gradient_with_its_penalty(kind) -> None:
    table = np.asarray(cyclic(5).table)
    given = weights(5, 3)
    (end, records) = train_on_group(
        given,
        table,
        "relu",
        penalty=(kind, 0.1),
        rate=lambda step: 0.5,
        steps=1,
        record=lambda step, now: (step, float(now.u[0, 0])),
        record_at=(0, 1),
    )
    parts = [torch.tensor(part, requires_grad=True) for part in given.parts]
    squares = torch.stack([(part**2).sum(dim=0) for part in parts]).sum(dim=0)
    penalties = torch.autograd.grad(0.1 * (squares ** (1.5 if kind == "cubic" else 1.0)).sum(), parts)
    _, slopes = group_gradient(given, table, "relu")
    for after, before, slope, part in zip(end.parts, given.parts, slopes.parts, penalties, strict=True):
        np.testing.assert_allclose(after, before - 0.5 * (slope + part.numpy()), rtol=1e-12)
    assert records == [(0, given.u[0, 0]), (1, end.u[0, 0])]


def test_batches_come_from_the_generator_and_single_precision_stays() -> None:
    table = np.asarray(cyclic(4).table)
    given = weights(4, 3, dtype=np.float32)

    def run() -> GroupWeights:
        random = np.random.default_rng(5)
        return train_on_group(
            given,
            table,
            "square",
            penalty=("cubic", 1e-3),
            rate=lambda step: 0.01,
            steps=3,
            batch_size=6,
            random=random,
        )[0]

    one, other = run(), run()
    assert one.u.dtype == np.float32
    assert np.array_equal(one.u, other.u)
    batch = np.random.default_rng(5).integers(4, size=(6, 2))
    _, slopes = group_gradient(given, table, "square", batch)
    assert not np.array_equal(slopes.u, group_gradient(given, table, "square")[1].u)


def test_bad_input_is_refused() -> None:
    table = np.asarray(cyclic(4).table)
    given = weights(4, 3)
    with pytest.raises(ValueError, match="one shape"):
        GroupWeights(given.u, given.v, given.w[:2])
    with pytest.raises(ValueError, match="one floating-point type"):
        GroupWeights(given.u, given.v, given.w.astype(np.float32))
    with pytest.raises(ValueError, match="must have the shape"):
        group_gradient(given, table[:3, :3], "square")
    with pytest.raises(ValueError, match="activation"):
        group_gradient(given, table, "cube")  # type: ignore[arg-type]
    options = {"rate": lambda step: 0.1, "steps": 2}
    with pytest.raises(ValueError, match="penalty must be"):
        train_on_group(given, table, "square", penalty=("none", 0.1), **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="random generator"):
        train_on_group(given, table, "square", penalty=("cubic", 0.1), batch_size=3, **options)
    with pytest.raises(ValueError, match="not finite at step"), np.errstate(all="ignore"):
        train_on_group(given, table, "square", penalty=("cubic", 0.1), rate=lambda step: 1e200, steps=4)
