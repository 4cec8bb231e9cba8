"""Logistic thresholds: recovered from simulated runs, beside SciPy's optimiser and closed forms."""

import math

import numpy as np
import pytest
from scipy import optimize

from lemmata.numerics.runs.thresholds import (
    Cell,
    ThresholdFit,
    bootstrap_cells,
    percentile_interval,
    threshold_fit,
    vuong_test,
)

LENGTHS, SIZES = (25, 50, 100, 200, 400), range(20, 100, 10)


def simulated(seed: int, linear: bool, trials: int = 200) -> tuple[list[Cell], list[Cell]]:
    """Runs with a threshold 10 + 10 log T, or 30 + T/10, with log T and with T as scores."""
    rng = np.random.default_rng(seed)
    by_log, by_length = [], []
    for T in LENGTHS:
        middle = 30 + T / 10 if linear else 10 + 10 * math.log(T)
        for m in SIZES:
            won = int(rng.binomial(trials, 1 / (1 + math.exp(-(m - middle) / 5))))
            by_log.append(Cell(math.log(T), m, won, trials))
            by_length.append(Cell(float(T), m, won, trials))
    return by_log, by_length


def test_a_known_model_is_recovered() -> None:
    """Without noise the maximum of the likelihood is the truth: shares enter as successes of a million runs."""
    cells = []
    for T in LENGTHS:
        for m in SIZES:
            share = 1 / (1 + math.exp(-(m - 10 - 10 * math.log(T)) / 5))
            cells.append(Cell(math.log(T), m, round(share * 10**6), 10**6))
    fit = threshold_fit(cells)
    assert fit.growth == pytest.approx(10, abs=1e-3)
    assert fit.slope == pytest.approx(0.2, abs=1e-4)
    assert fit.threshold(math.log(300), 0.8) == pytest.approx(10 + 10 * math.log(300) + 5 * math.log(4), abs=1e-2)
    assert fit.share(math.log(300), fit.threshold(math.log(300), 0.37)) == pytest.approx(0.37)


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_is_the_maximum_that_a_general_optimiser_finds(seed: int) -> None:
    cells, _ = simulated(seed, linear=False, trials=5)

    def loss(c: np.ndarray) -> float:
        logits = np.array([c[0] * cell.size + c[1] + c[2] * cell.score for cell in cells])
        won = np.array([cell.successes for cell in cells])
        spread = np.std([cell.size for cell in cells])
        return float(won @ np.logaddexp(0, -logits) + (5 - won) @ np.logaddexp(0, logits) + 1e-4 * (c[0] * spread) ** 2)

    fit = threshold_fit(cells)
    here = np.array([fit.slope, fit.start, fit.rise])
    best = optimize.minimize(loss, here + [0.02, 0.3, -0.2], method="Nelder-Mead",
                             options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 10_000})  # fmt: skip
    assert loss(here) <= best.fun + 1e-9
    np.testing.assert_allclose(here, best.x, rtol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_vuong_tells_which_growth_it_is(seed: int) -> None:
    by_log, by_length = simulated(seed, linear=False)
    assert vuong_test(by_log, by_length).z > 3
    by_log, by_length = simulated(seed, linear=True)
    assert vuong_test(by_length, by_log).z > 3
    assert vuong_test(by_log, by_length).p > 0.99


def test_vuong_by_hand() -> None:
    """z from the differences of the log-likelihoods, run by run, written out as a list."""
    first, second = simulated(7, linear=False, trials=6)
    fits = threshold_fit(first), threshold_fit(second)
    differences = []
    for a, b in zip(first, second, strict=True):
        p, q = fits[0].share(a.score, a.size), fits[1].share(b.score, b.size)
        differences += [math.log(p / q)] * a.successes + [math.log((1 - p) / (1 - q))] * (a.trials - a.successes)
    expected = math.sqrt(len(differences)) * np.mean(differences) / np.std(differences)
    test = vuong_test(first, second)
    assert test.z == pytest.approx(expected, rel=1e-6)
    assert test.p == pytest.approx(0.5 * math.erfc(expected / math.sqrt(2)), rel=1e-6)
    assert vuong_test(first, first).z == 0


def test_separated_runs_and_falling_ones() -> None:
    separated = [Cell(0.0, m, 10 if m > 45 else 0, 10) for m in SIZES]
    assert 40 < threshold_fit(separated).threshold(0.0) < 50
    falling = [Cell(0.0, m, 10 if m < 45 else 0, 10) for m in SIZES]
    assert threshold_fit(falling).threshold(0.0) == math.inf
    assert ThresholdFit(-1.0, 0.0, 1.0).growth == math.inf


def test_bootstrap_keeps_cells_and_covers() -> None:
    by_log, _ = simulated(0, linear=False, trials=30)
    draws = bootstrap_cells(by_log, 100, np.random.default_rng(0))
    assert all([(c.score, c.size, c.trials) for c in d] == [(c.score, c.size, c.trials) for c in by_log] for d in draws)
    interval = percentile_interval(threshold_fit(by_log).growth, [threshold_fit(d).growth for d in draws])
    assert interval.low < 10 < interval.high
    assert interval.high - interval.low < 4
    assert interval == percentile_interval(interval.estimate, sorted(threshold_fit(d).growth for d in draws))
    assert percentile_interval(0.0, list(range(101)), 0.5).as_dict() == {
        "estimate": 0.0, "low": 25.0, "high": 75.0, "level": 0.5,
    }  # fmt: skip


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="0 <= successes <= trials"):
        Cell(0.0, 1.0, 3, 2)
    with pytest.raises(ValueError, match="are finite"):
        Cell(math.nan, 1.0, 1, 2)
    with pytest.raises(ValueError, match="two sample sizes"):
        threshold_fit([Cell(0.0, 1.0, 1, 2)])
    with pytest.raises(ValueError, match="only the scores"):
        vuong_test([Cell(0.0, 1.0, 1, 2), Cell(0.0, 2.0, 1, 2)], [Cell(0.0, 1.0, 1, 2), Cell(0.0, 3.0, 1, 2)])
    with pytest.raises(ValueError, match="a draw or more"):
        bootstrap_cells([], 0, np.random.default_rng(0))
    for values, level in (([], 0.9), ([math.nan], 0.9), ([1.0], 1.0)):
        with pytest.raises(ValueError, match="percentile interval needs"):
            percentile_interval(0.0, values, level)
