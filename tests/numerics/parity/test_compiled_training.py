"""`lemmata.numerics.parity.compiled_training`: its steps against plain ones, generator, records, bad input."""

import copy
import math
from typing import Any

import numpy as np
import pytest

from lemmata.numerics.parity import compiled_training
from lemmata.numerics.parity.compiled_training import train_compiled
from lemmata.numerics.parity.training import Network, initial_network, network_gradient, network_output

MASK = 2**64 - 1


class SplitMix:
    """The published generator, in Python's integers."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def __call__(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def signs(codes: np.ndarray, n: int) -> np.ndarray:
    bits = np.unpackbits(codes[:, :, None], axis=2, bitorder="little")[:, :, :4].reshape(len(codes), -1)
    return 2.0 * bits[:, :n] - 1


def fresh(draw: SplitMix, batch: int, n: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rows, flips = [], []
    for _ in range(batch):
        bits: list[int] = []
        while len(bits) < n:
            word = draw()
            bits += [word >> i & 1 for i in range(64)]
        rows.append(bits[:n])
        flips.append(noise > 0 and (draw() >> 11) / 2**53 < noise)
    return 2.0 * np.array(rows) - 1, np.where(flips, -1.0, 1.0)


def plain(network: Network, steps: int, rng: np.random.Generator, batch: int, rate: float, decay: float,
          sample: int | None, held_out: int, noise: float = 0.0) -> float:  # fmt: skip
    """The same run by `network_gradient` in float64; the error on the held-out sample."""
    n, k = network.hidden.shape[1], network.degree
    for name in ("hidden", "bias", "readout", "output_bias"):
        setattr(network, name, getattr(network, name).astype(np.float64))

    def labelled(count: int) -> np.ndarray:
        return signs(rng.integers(0, 16, size=(count, -(-n // 4)), dtype=np.uint8), n)

    held = labelled(held_out)
    fixed = None if sample is None else labelled(sample)
    draw = SplitMix(int(rng.integers(0, 2**64, dtype=np.uint64)))
    for _ in range(steps):
        chosen = [] if fixed is None else [(draw() >> 32) * len(fixed) >> 32 for _ in range(batch)]
        x, flips = fresh(draw, batch, n, noise) if fixed is None else (fixed[chosen], np.ones(batch))
        _, gradient = network_gradient(network, x, flips * np.prod(x[:, :k], axis=1))  # type: ignore[arg-type]
        for parameter, g in zip(network.parameters(), gradient, strict=True):
            parameter *= 1 - rate * decay
            parameter -= rate * g
    return float(np.mean(network_output(network, held) * np.prod(held[:, :k], axis=1) <= 0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("n", "k", "width", "batch", "sample", "init", "noise"),
    [
        (10, 3, 5, 8, None, "uniform", 0.0),
        (4, 2, 16, 32, 20, "uniform", 0.0),
        (13, 3, 130, 7, 50, "sparse", 0.0),
        (70, 4, 40, 5, None, "sparse", 0.0),
        (9, 1, 300, 1, 3, "bernoulli", 0.0),
        (10, 3, 5, 8, None, "uniform", 0.3),
        (70, 4, 40, 5, None, "sparse", 0.49),
    ],
)
def test_steps_are_those_of_the_plain_form(
    n: int, k: int, width: int, batch: int, sample: int | None, init: str, noise: float
) -> None:
    """40 steps; rounding of float32 is 6e-8, and a step adds up fewer than 400 terms of size 1."""
    network = initial_network(n, k, width, np.random.default_rng(1), "relu", init)  # type: ignore[arg-type]
    start, other = copy.deepcopy(network), copy.deepcopy(network)
    options = {"batch": batch, "rate": 0.1, "decay": 0.01, "sample": sample, "held_out": 300, "noise": noise}
    run = train_compiled(
        network,
        40,
        np.random.default_rng(2),
        check_every=40,
        until_success=False,
        **options,  # type: ignore[arg-type]
    )
    error = plain(other, 40, np.random.default_rng(2), **options)  # type: ignore[arg-type]
    for part, expected, before in zip(network.parameters(), other.parameters(), start.parameters(), strict=True):
        assert np.abs(part - expected).max() < 1e-4
        assert np.abs(part - before).max() > 1e-2 or part.size == 1
    assert abs(run.test_error[-1] - error) <= 3 / 300
    assert run.steps == [40]


def test_a_fault_in_a_step_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the decay of the biases, which a plain reading of the defaults might forget, the two forms differ."""
    real: Any = compiled_training.descend

    def without_decay(*arguments: object) -> None:
        *others, _, readout = arguments
        real(*others, np.float32(1), readout)

    monkeypatch.setattr(compiled_training, "descend", without_decay)
    with pytest.raises(AssertionError):
        test_steps_are_those_of_the_plain_form(10, 3, 5, 8, None, "uniform", 0.0)


@pytest.mark.parametrize("sample", [None, 60])
def test_checks_do_not_change_the_course(sample: int | None) -> None:
    ends = []
    for every in (1, 7, 20):
        network = initial_network(8, 2, 20, np.random.default_rng(0))
        run = train_compiled(
            network, 20, np.random.default_rng(3), sample=sample, check_every=every, until_success=False, held_out=50
        )
        assert run.steps == [*range(every, 20, every), 20]
        assert len(run.test_error) == len(run.steps)
        assert len(run.train_error) == (0 if sample is None else len(run.steps))
        ends.append(network.hidden.tobytes())
    assert ends[0] == ends[1] == ends[2]


def test_runs_learn_repeat_and_stop_at_success() -> None:
    def go(seed: int) -> tuple[int | None, list[float]]:
        rng = np.random.default_rng(seed)
        run = train_compiled(initial_network(12, 2, 60, rng), 4000, rng, check_every=20)
        return run.test_time, run.test_error

    time, errors = go(1)
    assert time is not None
    assert errors[-1] <= 0.1 < min(errors[:-1])
    assert len(errors) == time // 20
    assert go(1) == (time, errors)
    assert go(2)[1] != errors


def test_a_small_sample_is_fitted_without_being_understood() -> None:
    rng = np.random.default_rng(0)
    network = initial_network(30, 3, 100, rng)
    run = train_compiled(network, 4000, rng, sample=40, decay=0.0, held_out=2000)
    assert run.train_time is not None
    assert run.train_error[-1] == 0
    assert run.test_time is None
    assert run.test_error[-1] > 0.3
    assert len(run.steps) == 40


def test_a_run_that_diverges_counts_as_wrong() -> None:
    rng = np.random.default_rng(0)
    network = initial_network(8, 4, 50, rng)
    run = train_compiled(network, 2000, rng, rate=1e9, decay=0.0, held_out=100)
    assert not np.isfinite(network.hidden).all()
    assert run.test_error[-1] == 1.0
    assert run.test_time is None


def test_sparse_rows_have_the_stated_number_of_ones_everywhere() -> None:
    """9000 rows of 3 ones among 12: each place has 2250 in expectation, and a standard deviation of 41."""
    network = initial_network(12, 3, 9000, np.random.default_rng(0), "relu", "sparse", 3)
    assert set(np.unique(network.hidden)) == {0, 1}
    assert (network.hidden.sum(axis=1) == 3).all()
    assert np.abs(network.hidden.sum(axis=0) - 2250).max() < 5 * 41.1
    assert len(np.unique(network.hidden, axis=0)) == math.comb(12, 3)


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="between 1 and 5 ones, not 6"):
        initial_network(5, 2, 4, rng, "relu", "sparse", 6)
    with pytest.raises(ValueError, match="not of the kind 'power'"):
        train_compiled(initial_network(5, 2, 4, rng, "power"), 10, rng)
    network = initial_network(5, 2, 4, rng)
    for name in ("batch", "sample", "check_every", "held_out"):
        with pytest.raises(ValueError, match="must be at least 1"):
            train_compiled(network, 10, rng, **{name: 0})  # type: ignore[arg-type]
    for options in ({"rate": math.nan}, {"rate": math.inf}, {"rate": 0.0}, {"decay": 11.0}, {"decay": -1.0},
                    {"decay": math.nan}, {"threshold": 0.5}):  # fmt: skip
        with pytest.raises(ValueError, match="finite rate > 0"):
            train_compiled(network, 10, rng, **options)  # type: ignore[arg-type]
    for options in ({"noise": 0.6}, {"noise": -0.1}, {"noise": math.nan}, {"noise": 0.1, "sample": 5}):
        with pytest.raises(ValueError, match="noise from 0 to 1/2, and 0 with a fixed sample"):
            train_compiled(network, 10, rng, **options)  # type: ignore[arg-type]
