"""The sweep over sample sizes and widths: when SGD learns a parity from a fixed sample, and from which start."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from lemmata.numerics.parity.compiled_training import CompiledRun, train_compiled
from lemmata.numerics.parity.training import initial_network
from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.runs.trends import Trend, trend_test
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["CURVES", "SWEEP", "Cell", "cells", "curves", "times"]

_SWEEP, _LEFT, _ZOOM = (f"pareto-frontiers:{name}" for name in ("experiment-sweep", "figure-6.1", "figure-6.2"))

WIDTHS, STARTS = (10, 30, 100, 300), ("uniform", "sparse")
SAMPLES: dict[int, tuple[int | None, ...]] = {20: (150, 200, 300, 600, 2000), 50: (1000, 1500, 3000, 10_000, None)}
STEPS = {20: 30_000, 50: 50_000}
SEEDS = tuple(range(100, 120))


def _train(settings: Mapping[str, Any], seed: int) -> CompiledRun:
    network = initial_network(
        settings["n"], settings["k"], settings["width"], np.random.default_rng([seed, 0]), "relu", settings["init"]
    )
    return train_compiled(
        network,
        settings["steps"],
        np.random.default_rng([seed, 1]),
        batch=settings["batch"],
        rate=settings["rate"],
        decay=settings["decay"],
        sample=settings["sample"],
        check_every=settings["check_every"],
        held_out=settings["held_out"],
        until_success=settings.get("until_success", True),
    )


def times(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed the times at which the test and the training error fall to 10 %, None where they do not."""
    runs = [_train(settings, seed) for seed in settings["seeds"]]
    return {"test": [run.test_time for run in runs], "train": [run.train_time for run in runs]}


def curves(settings: dict[str, Any]) -> dict[str, Any]:
    """The two errors of every seed at every check."""
    runs = [_train(settings, seed) for seed in settings["seeds"]]
    return {
        "steps": runs[0].steps,
        "runs": [{"test_error": run.test_error, "train_error": run.train_error} for run in runs],
    }


def cell_settings(
    n: int, sample: int | None, width: int, init: str, seeds: Sequence[int], steps: int
) -> dict[str, Any]:
    """The settings of a cell, with those of the document where they are not given."""
    return {
        "n": n, "k": 3, "width": width, "init": init, "sample": sample, "batch": 32, "rate": 0.1, "decay": 0.01,
        "steps": steps, "check_every": 100, "held_out": 2000, "seeds": list(seeds),
    }  # fmt: skip


def _grid(
    samples: Mapping[int, Sequence[int | None]], widths: Sequence[int], seeds: Sequence[int], steps: Mapping[int, int]
) -> dict[str, dict[str, Any]]:
    return {
        f"n{n}-m{'online' if m is None else m}-r{width}-{init}": cell_settings(n, m, width, init, seeds, steps[n])
        for n in samples
        for m in samples[n]
        for width in widths
        for init in STARTS
    }


@dataclass(frozen=True)
class Cell:
    """A cell with its outcomes; a sample of fresh inputs counts as infinite, and so does a time that never came."""

    n: int
    sample: float
    width: int
    sparse: bool
    test: tuple[float, ...]
    train: tuple[float, ...]

    @property
    def successes(self) -> int:
        """The number of runs whose test error falls to 10 %."""
        return sum(map(math.isfinite, self.test))

    @property
    def half(self) -> bool:
        """Whether at least half of the runs succeed."""
        return 2 * self.successes >= len(self.test)

    @property
    def late(self) -> float:
        """The median of test time over training time, infinite where most runs fail."""
        return float(
            np.median([a / b if math.isfinite(b) else 1.0 for a, b in zip(self.test, self.train, strict=True)])
        )


def cells(settings: Mapping[str, Any], results: Mapping[str, Any]) -> list[Cell]:
    """All cells of a sweep."""

    def numbers(values: Iterable[int | None]) -> tuple[float, ...]:
        return tuple(math.inf if value is None else float(value) for value in values)

    return [
        Cell(s["n"], math.inf if s["sample"] is None else s["sample"], s["width"], s["init"] == "sparse",
             numbers(results[key]["test"]), numbers(results[key]["train"]))
        for key, s in settings.items()
    ]  # fmt: skip


def _strata(found: Sequence[Cell], stratum: Callable[[Cell], Any], score: Callable[[Cell], float]) -> dict[Any, Any]:
    groups: dict[Any, list[tuple[float, int, int]]] = {}
    for cell in found:
        groups.setdefault(stratum(cell), []).append((score(cell), cell.successes, len(cell.test)))
    return groups


def _later(slow: Cell, fast: Cell) -> float:
    """The p-value of the claim that the times of the first cell are longer, runs that never succeed the longest."""
    longest = 1e9
    values = [[min(time, longest) for time in cell.test] for cell in (slow, fast)]
    return float(stats.mannwhitneyu(values[0], values[1], alternative="greater").pvalue)


def _frontier(found: Sequence[Cell], n: int, width: int, sparse: bool) -> float:
    """The least sample size from which at least half of the runs succeed."""
    row = [cell.sample for cell in found if (cell.n, cell.width, cell.sparse) == (n, width, sparse) and cell.half]
    return min(row, default=math.inf)


def _pick(found: Sequence[Cell], n: int, sample: float, width: int, sparse: bool) -> Cell:
    return next(c for c in found if (c.n, c.sample, c.width, c.sparse) == (n, sample, width, sparse))


def _second_fall(found: Sequence[Cell], n: int, width: int) -> float:
    """The p-value of the claim that success falls from the second largest sample size to the largest."""
    two = sorted({cell.sample for cell in found if cell.n == n})[-2:]
    pair = [cell for cell in found if (cell.n, cell.width) == (n, width) and cell.sample in two]
    return trend_test(_strata(pair, lambda c: c.sparse, lambda c: two.index(c.sample)).values()).falling


def _grokking(found: Sequence[Cell], wide: int) -> list[tuple[float, float]]:
    """For every n and start, at the largest width: how late tests follow at the frontier and at the largest sample."""
    pairs = []
    for n in sorted({cell.n for cell in found}):
        for sparse in (False, True):
            edge = _frontier(found, n, wide, sparse)
            most = max(cell.sample for cell in found if cell.n == n and math.isfinite(cell.sample))
            if math.isfinite(edge):
                pairs.append((_pick(found, n, edge, wide, sparse).late, _pick(found, n, most, wide, sparse).late))
    return pairs


def _waiting(found: Sequence[Cell], wide: int) -> list[tuple[float, float]]:
    """For every n and start, at the largest width: the median times at the frontier and at the largest fixed sample."""
    pairs = []
    for n in sorted({cell.n for cell in found}):
        most = max(cell.sample for cell in found if cell.n == n and math.isfinite(cell.sample))
        for sparse in (False, True):
            edge = _frontier(found, n, wide, sparse)
            if math.isfinite(edge):
                two = (_pick(found, n, size, wide, sparse).test for size in (edge, most))
                pairs.append(tuple(float(np.median(times)) for times in two))
    return pairs


def _trends(found: Sequence[Cell]) -> tuple[dict[str, Trend], float]:
    """The three trends, and the smallest p-value of a fall with the width in one stratum, times their number."""
    by_width = _strata(found, lambda c: (c.n, c.sample, c.sparse), lambda c: math.log(c.width))
    ranks = {n: sorted({c.sample for c in found if c.n == n}) for n in {c.n for c in found}}
    trends = {
        "width": trend_test(by_width.values()),
        "sample": trend_test(
            _strata(found, lambda c: (c.n, c.width, c.sparse), lambda c: ranks[c.n].index(c.sample)).values()
        ),
        "sparse rows": trend_test(_strata(found, lambda c: (c.n, c.sample, c.width), lambda c: c.sparse).values()),
    }
    return trends, len(by_width) * min(trend_test([groups]).falling for groups in by_width.values())


def _summarise_sweep(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    found = cells(settings, results)
    trends, fall = _trends(found)
    narrow, wide = min(c.width for c in found), max(c.width for c in found)
    sizes = sorted({c.n for c in found})
    frontier = {
        (n, sparse): [_frontier(found, n, width, sparse) for width in (narrow, wide)]
        for n in sizes
        for sparse in (False, True)
    }
    late = _grokking(found, wide)
    n = sizes[-1]
    middle = 3000.0 if n == 50 else 300.0
    second = {width: _second_fall(found, n, width) for width in (narrow, wide)}
    quick = {
        "wide before narrow": _later(_pick(found, n, middle, narrow, False), _pick(found, n, middle, wide, False)),
        "sparse before dense": _later(_pick(found, n, middle, wide, False), _pick(found, n, middle, wide, True)),
    }
    width_criterion = "success rises with the width, over all strata (n, m, start), p < 0.001"
    sample_criterion = "success rises with the sample size, over all strata (n, width, start), p < 0.001"
    return Findings(
        {
            **{f"z, {name}": float(f"{trend.z:.4g}") for name, trend in trends.items()},
            "least corrected p of a fall with the width": fall,
            "frontier": {f"n={n}{', sparse' if s else ''}": [m if math.isfinite(m) else None for m in pair]
                         for (n, s), pair in frontier.items()},
            "test time over training time, at the frontier and at the largest sample": [
                [ratio if math.isfinite(ratio) else None for ratio in pair] for pair in late
            ],
            "p of a fall of success to the largest sample": {str(width): p for width, p in second.items()},
            "p of times": quick,
            "success": {key: proportion_interval(cell.successes, len(cell.test)).as_dict()
                        for key, cell in zip(settings, found, strict=True)},
        },
        (
            Criterion(_SWEEP, width_criterion, below(trends["width"].rising, 1e-3)),
            Criterion(_SWEEP, "in no stratum does it fall with the width, p < 0.05 (Bonferroni)", above(fall, 0.05)),
            Criterion(_SWEEP, sample_criterion, below(trends["sample"].rising, 1e-3)),
            Criterion(_SWEEP, "success rises with 2-sparse rows, over all strata (n, m, width), p < 0.001",
                      below(trends["sparse rows"].rising, 1e-3)),
            Criterion(_SWEEP, "at the largest n wide networks learn sooner, and sparse ones sooner, p < 0.01",
                      below(max(quick.values()), 0.01)),
            Criterion(_SWEEP, "at the widest frontier tests follow training at twice its time or later (medians)",
                      all(edge >= 2 for edge, _ in late)),
            Criterion(_SWEEP, "success of the narrowest networks falls from the second largest to the largest sample "
                      "(at full scale from 10,000 to fresh samples), p < 0.01", below(second[narrow], 0.01)),
            Criterion(_LEFT, "the sample from which half of the runs succeed is smaller for the widest networks than "
                      "for the narrowest, for every n and start", all(a > b for a, b in frontier.values())),
            Criterion(_ZOOM, width_criterion, below(trends["width"].rising, 1e-3)),
            Criterion(_ZOOM, sample_criterion, below(trends["sample"].rising, 1e-3)),
            Criterion(_ZOOM, "success rises with 2-sparse rows, over all strata (n, m, width), p < 0.001",
                      below(trends["sparse rows"].rising, 1e-3)),
            Criterion(_ZOOM, "success of the narrowest networks falls from the second largest to the largest sample, "
                      "p < 0.01, and that of the widest does not, p > 0.05",
                      below(second[narrow], 0.01) and above(second[wide], 0.05)),
            Criterion(_ZOOM, "at the widest frontier runs take longer than at the largest fixed sample (medians)",
                      all(edge > most for edge, most in _waiting(found, wide))),
        ),
    )  # fmt: skip


SWEEP = Experiment(
    name="success-frontier",
    statements=(_SWEEP, _LEFT, _ZOOM),
    title="Success of SGD on fixed samples: k = 3, n = 20 and 50, widths 10 to 300, uniform and 2-sparse starts",
    scales={
        "quick": _grid({20: (200, 300)}, (10, 100), SEEDS[:10], {20: 8000}),
        "full": _grid(SAMPLES, WIDTHS, SEEDS, STEPS),
    },
    work=times,
    summarise=_summarise_sweep,
    slice=("n20-m600-r10-uniform", {"seeds": list(SEEDS[:3])}),
    others=(("n20-m200-r30-sparse", {"seeds": [110]}), ("n20-m2000-r10-uniform", {"seeds": [119]})),
)


def _course(sample: int, width: int, seeds: Sequence[int], steps: int) -> dict[str, Any]:
    cell = cell_settings(20, sample, width, "uniform", seeds, steps)
    return {**cell, "check_every": steps // 30, "until_success": False}


def _summarise_curves(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers, grokked, shares = {}, 0, {}
    for key in settings:
        late = 0
        for run in results[key]["runs"]:
            train, test = (next((i for i, e in enumerate(run[name]) if e <= 0.1), math.inf)
                           for name in ("train_error", "test_error"))  # fmt: skip
            late += math.isfinite(test) and test >= 2 * train + 2
        grokked += late
        done = sum(run["test_error"][-1] <= 0.1 for run in results[key]["runs"])
        shares[key] = done / len(results[key]["runs"])
        numbers[key] = {"runs": len(results[key]["runs"]), "succeed at the end": done, "long after training": late}
    names = list(settings)
    return Findings(
        numbers,
        (
            Criterion(_LEFT, "in some runs the test error falls to 10 % at twice the time of the training error or "
                      "later", grokked > 0),
            Criterion(_LEFT, "in the boxed cells more samples at one width, and more neurons at one sample size, give "
                      "more runs that succeed", shares[names[0]] < min(shares[names[1]], shares[names[2]])),
        ),
    )  # fmt: skip


CURVES = Experiment(
    name="success-frontier-curves",
    statements=(_LEFT,),
    title="Training curves at three cells, n = 20, k = 3: (m, width) = (200, 10), (600, 10), (200, 300)",
    scales={
        "quick": {
            f"m{m}-r{width}": _course(m, width, SEEDS[:5], 12_000) for m, width in ((150, 10), (600, 10), (300, 100))
        },
        "full": {
            f"m{m}-r{width}": _course(m, width, SEEDS[:10], 30_000) for m, width in ((200, 10), (600, 10), (200, 300))
        },
    },
    work=curves,
    summarise=_summarise_curves,
    slice=("m200-r10", {"seeds": [SEEDS[0]]}),
    others=(("m600-r10", {"seeds": [105]}), ("m200-r10", {"seeds": [109]})),
)
