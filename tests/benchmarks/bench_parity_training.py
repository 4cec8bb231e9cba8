"""Speed of SGD on a two-layer ReLU network that learns a parity: compiled, in NumPy, and in PyTorch, on one thread."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.numerics.parity.compiled_training import train_compiled
from lemmata.numerics.parity.training import initial_network, train_parity

N, K, WIDTH, BATCH, STEPS = 50, 3, 100, 32, 100_000


def in_torch(steps: int) -> torch.nn.Module:
    """The same run as a user of PyTorch writes it, with its optimiser."""
    network = torch.nn.Sequential(torch.nn.Linear(N, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, weight_decay=0.01)
    for _ in range(steps):
        x = torch.randint(0, 2, (BATCH, N), dtype=torch.float32) * 2 - 1
        loss = torch.relu(1 - x[:, :K].prod(dim=1) * network(x)[:, 0]).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network


def seconds(steps: int, how: str) -> float:
    """The processor time of so many steps, all on one thread."""
    network = initial_network(N, K, WIDTH, np.random.default_rng(0))
    start = process_time()
    if how == "compiled":
        train_compiled(network, steps, np.random.default_rng(1), held_out=1, check_every=steps, until_success=False)
    elif how == "NumPy":
        train_parity(network, steps, BATCH, 0.1, np.random.default_rng(1), decay=0.01, check_every=steps, validation=1)
    else:
        in_torch(steps)
    return process_time() - start


def test_steps_beside_torch(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """10^5 steps compiled; a fiftieth of them in NumPy and in PyTorch, in turn with as many compiled ones."""
    seconds(10, "compiled")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rounds = [{how: seconds(STEPS // 50, how) for how in ("compiled", "NumPy", "PyTorch")} for _ in range(5)]
    finally:
        torch.set_num_threads(threads)
    whole = benchmark.pedantic(seconds, args=(STEPS, "compiled"), rounds=3)
    best = {how: min(times[how] for times in rounds) for how in rounds[0]}
    with capsys.disabled():
        print(
            f"\n{STEPS} steps at n={N}, k={K}, width {WIDTH}, batch {BATCH}: {whole:.2f} s compiled; per step "
            f"{1e6 * best['compiled'] / (STEPS // 50):.1f} us, NumPy {best['NumPy'] / best['compiled']:.1f} times, "
            f"PyTorch {best['PyTorch'] / best['compiled']:.1f} times as long"
        )
