"""`lemmata.numerics.parity.polynet_sgd`: the kernel against plain NumPy, planted faults of the input."""

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike

from lemmata.numerics.parity import polynet_sgd
from lemmata.numerics.parity.polynet_sgd import train_polynet


@pytest.mark.parametrize(("k", "block", "batch"), [(2, 3, 1), (3, 2, 4), (1, 3, 2)])
def test_the_kernel_is_the_plain_update(k: int, block: int, batch: int) -> None:
    start = np.random.default_rng(1).normal(size=(k, block))
    steps, delta, w = 50, 0.2, start.copy()
    rate = 1 / (2 * math.sqrt(2 * steps * math.log(2 * k * block * steps / delta)))
    signs = np.random.default_rng(7).integers(0, 2, size=(steps, batch, k, block), dtype=np.int8) * 2 - 1
    for x in signs.astype(np.int64):
        inner = np.einsum("kj,bkj->bk", w, x)
        label = np.prod(x[:, :, 0], axis=1)
        norms = np.abs(w).sum(axis=1)
        change = np.empty_like(w)
        for i in range(k):
            others = label * np.prod(np.delete(inner, i, axis=1), axis=1)
            change[i] = rate / np.prod(np.delete(norms, i)) * np.mean(others[:, None] * x[:, i], axis=0)
        w += change
    run = train_polynet(start, steps, delta, 7, batch)
    assert np.allclose(run.weights, w, rtol=1e-12, atol=1e-12)
    assert run.mismatch < 1e-12
    assert not np.allclose(train_polynet(start, steps, delta, 8, batch).weights, w)


@pytest.mark.parametrize(("k", "block", "seed"), [(2, 3, 0), (3, 2, 0), (1, 3, 0), (4, 3, 0), (2, 4, 4)])
def test_the_records_are_those_of_a_plain_run(k: int, block: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise, slack and irrelevant weights, followed apart over all times and chunks, with weights of either sign.

    In the last case the slack is smallest within a later chunk, and in the one before at the end.
    """
    chunk, steps, delta = 64, 300, 0.2
    monkeypatch.setattr(polynet_sgd, "_CHUNK", chunk)
    start = np.random.default_rng([2, k, block]).normal(size=(k, block)) + 0.1
    if seed:  # relevant weights that grow about as fast as the bound at first, so that the noise decides
        start = np.where(np.arange(block) == 0, 0.3, np.ones((k, 1)))
    rng, w, drift = np.random.default_rng(seed), start.copy(), np.zeros(k)
    rate = 1 / (2 * math.sqrt(2 * steps * math.log(2 * k * block * steps / delta)))
    sizes = [min(chunk, steps - first) for first in range(0, steps, chunk)]
    draws = [rng.integers(0, 2, size=(size, 1, k, block), dtype=np.int8).astype(int) * 2 - 1 for size in sizes]
    noise, irrelevant, slacks = 0.0, np.abs(start[:, 1:]).max(), []
    for t, x in enumerate([*np.concatenate(draws)[:, 0], None]):
        bound = 0.5 + t * rate * (3 * block - 2.0) ** (1 - k)
        slacks.append((np.sign(start[:, 0]) * w[:, 0] - bound).min())
        if x is None:
            break
        inner, norms = (w * x).sum(axis=1), np.abs(w).sum(axis=1)
        scale = [rate / np.prod(np.delete(norms, i)) for i in range(k)]
        drift += [scale[i] * np.prod(np.delete(w[:, 0], i)) for i in range(k)]
        gradient = [scale[i] * x[:, 0].prod() * np.prod(np.delete(inner, i)) for i in range(k)]
        w = w + np.array(gradient)[:, None] * x
        moved = w - start
        moved[:, 0] -= drift
        noise, irrelevant = max(noise, np.abs(moved).max()), max(irrelevant, np.abs(w[:, 1:]).max())
    run = train_polynet(start, steps, delta, seed)
    assert np.allclose(run.weights, w, rtol=1e-10, atol=1e-10)
    found = [run.largest_noise, run.largest_irrelevant, run.smallest_slack]
    assert np.allclose(found, [noise, irrelevant, min(slacks)], rtol=1e-10, atol=1e-10)
    assert run.largest_noise > 0.01
    at = int(np.argmin(slacks))
    assert seed == 0 or (at > chunk and at % chunk and at < steps)
    assert k < 4 or at == steps


def test_the_last_step_of_the_last_block_is_recorded() -> None:
    """In a single step from 1/10 and 1, where the irrelevant weight of the last block is the larger one."""
    runs = [train_polynet([[1.0, 0.1], [1.0, 1.0]], 1, 0.2, seed) for seed in range(6)]
    largest = [run.largest_irrelevant for run in runs]
    assert largest == [max(1.0, run.weights[1, 1]) for run in runs]
    assert max(largest) > 1.01


def test_the_slack_is_that_of_the_growth_claim() -> None:
    """n' = 1: w_i = 1 + t eta for all t, exactly the bound plus 1/2; for k = 2, n' = 2 the bound grows by eta/4."""
    assert train_polynet([[1.0], [1.0]], 300, 0.1, 0).smallest_slack == pytest.approx(0.5, abs=1e-12)
    falling = train_polynet([[-1.0, 0.0], [1.0, 0.0]], 300, 0.1, 0)  # no noise: each weight loses eta in each step
    rate = 1 / (2 * math.sqrt(600 * math.log(2 * 4 * 300 / 0.1)))
    assert falling.smallest_slack < 0.5 - 300 * rate


def test_runs_longer_than_a_chunk_report_progress_and_repeat() -> None:
    seen: list[int] = []
    first = train_polynet(np.ones((2, 2)), 10_000, 0.1, 3, on_progress=seen.append)
    assert seen == [4096, 8192, 10_000]
    assert np.array_equal(first.weights, train_polynet(np.ones((2, 2)), 10_000, 0.1, 3).weights)


@pytest.mark.parametrize("weights", [[1.0, 2.0], [[]], [[0.0, 0.0], [1.0, 1.0]], [[np.nan, 1.0]]])
def test_bad_weights(weights: ArrayLike) -> None:
    with pytest.raises(ValueError, match="nonzero rows"):
        train_polynet(weights, 10, 0.1, 0)


def test_weights_that_overflow_and_batches_beyond_the_memory() -> None:
    with pytest.raises(ValueError, match="overflowed float64"):
        train_polynet(np.full((3, 2), 1e200), 10, 0.1, 0)
    with pytest.raises(ValueError, match=r"batches of 10{12} needs .* GiB"):
        train_polynet(np.ones((2, 2)), 10, 0.1, 0, batch=10**12)


def test_bad_steps() -> None:
    with pytest.raises(ValueError, match="steps and batch"):
        train_polynet(np.ones((2, 2)), 0, 0.1, 0)
    with pytest.raises(ValueError, match="steps and batch"):
        train_polynet(np.ones((2, 2)), 5, 0.1, 0, batch=0)
