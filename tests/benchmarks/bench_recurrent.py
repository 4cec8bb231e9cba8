"""Speed of an Elman network, forward and backward in its recurrent matrix, beside PyTorch, all on one thread."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.constructions.recurrent.elman import random_elman, trace, weighted_gradient
from lemmata.numerics.recurrent.training import elman_columns, elman_gradient, elman_steps
from tests.benchmarks.timing import best_time

WIDTH, LENGTH, TOKEN, OUTPUTS = 4000, 7, 4, 2


def in_torch(W: torch.Tensor, A: torch.Tensor, B: torch.Tensor, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The gradient by autograd, one sequence."""
    W.grad = None
    h, total = torch.zeros(len(W), dtype=W.dtype), torch.zeros((), dtype=W.dtype)
    for tokens, row in zip(x, weights, strict=True):
        h = torch.relu(W @ h + A @ tokens)
        total = total + row @ (B @ h)
    total.backward()
    assert W.grad is not None
    return W.grad


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_forward_and_backward_beside_torch(
    dtype: type, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sequence, m = 4000, L = 7: compiled, in NumPy by the plain form, and by autograd; the gradients agree."""
    rng = np.random.default_rng(0)
    network = random_elman(WIDTH, TOKEN, OUTPUTS, rng)
    x, weights = rng.standard_normal((LENGTH, TOKEN)) / 2, rng.standard_normal((LENGTH, OUTPUTS))
    columns = elman_columns(network.state, network.token, network.readout, dtype)
    kind = torch.float32 if dtype is np.float32 else torch.float64
    W = torch.tensor(network.state, dtype=kind, requires_grad=True)
    rest = [torch.tensor(part, dtype=kind) for part in (network.token, network.readout, x, weights)]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        theirs = in_torch(W, *rest).numpy()
        ours = elman_gradient(columns, x, weights)[1].T
        assert np.abs(ours - theirs).max() < 1e-4 * np.abs(theirs).max()
        compiled = best_time(lambda: elman_gradient(columns, x, weights))
        autograd = best_time(lambda: in_torch(W, *rest))
        plain = best_time(lambda: weighted_gradient(network, trace(network, x), weights), 2)
        labels = rng.standard_normal((1, LENGTH, OUTPUTS))
        step = best_time(lambda: elman_steps(columns, x[None], labels, 1e-9))
    finally:
        torch.set_num_threads(threads)
    benchmark.pedantic(elman_gradient, args=(columns, x, weights), rounds=3)
    with capsys.disabled():
        print(
            f"\nm = {WIDTH}, L = {LENGTH}, {np.dtype(dtype).name}: compiled {1e3 * compiled:.0f} ms, PyTorch "
            f"{autograd / compiled:.2f} times, NumPy in float64 {plain / compiled:.2f} times as long; a step of SGD in "
            f"place {1e3 * step:.0f} ms"
        )
