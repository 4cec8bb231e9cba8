"""Experiments on ReLU networks in compiled steps: widths (figure B.10), weight decay (B.11), label noise (B.12).

A run that does not converge within its steps has the time infinity in medians, quantiles and ranks, and the last step
in spreads, which makes the spread of slow runs smaller than it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from lemmata.numerics.parity.compiled_training import CompiledRun, train_compiled
from lemmata.numerics.parity.training import initial_network
from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.runs.ranks import bootstrap_interval, rank_correlation
from lemmata.numerics.runs.trends import trend_test
from lemmata.numerics.runs.waiting_times import with_infinity
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["DECAYS", "FLIPS", "WIDTH_TIMES", "compiled_run", "flipped_labels", "noisy_runs"]

_WIDTH, _NOISE = "hidden-progress:experiment-5.4-left-B.10", "hidden-progress:experiment-B.12"
_GROKKING = "hidden-progress:experiment-5.4-right-B.11"
_HELD_OUT = 2**11


def compiled_run(settings: Mapping[str, Any], seed: int) -> CompiledRun:
    """The run of one seed, from the start of `lemmata.numerics.parity.training.initial_network`."""
    network = initial_network(settings["n"], settings["k"], settings["width"], np.random.default_rng([seed, 0]))
    return train_compiled(
        network,
        settings["steps"],
        np.random.default_rng([seed, 1]),
        batch=settings["batch"],
        rate=0.1,
        decay=settings.get("decay", 0.0),
        noise=settings.get("noise", 0.0),
        sample=settings.get("sample"),
        check_every=settings["check_every"],
        held_out=_HELD_OUT,
        threshold=settings["threshold"],
    )


def _times(settings: dict[str, Any]) -> dict[str, Any]:
    """The first check of every seed with an error of at most the threshold, None where there is none."""
    return {"times": [compiled_run(settings, seed).test_time for seed in settings["seeds"]]}


def _wide(width: int, seeds: int, n: int = 40, **changes: Any) -> dict[str, Any]:
    return {"n": n, "k": 3, "width": width, "batch": 128, "steps": 60_000, "check_every": 20,
            "threshold": 0.0, "seeds": list(range(5000, 5000 + seeds)), **changes}  # fmt: skip


def _median(x: Any) -> float:
    """The lower median, which is one of the values, so that infinity is no matter."""
    return float(np.sort(x)[(len(x) - 1) // 2])


def _high(x: Any) -> float:
    """The 90 % quantile, one of the values."""
    return float(np.sort(x)[math.ceil(0.9 * len(x)) - 1])


def _summarise_widths(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    times = {(cell["n"], cell["width"]): with_infinity(results[key]["times"]) for key, cell in settings.items()}
    last = {(cell["n"], cell["width"]): cell["steps"] for cell in settings.values()}
    n = max((sum(case[0] == n for case in times), n) for n, _ in times)[1]  # the length with the most widths
    large = sorted(width for length, width in times if length == n and width >= 10)
    level = [bootstrap_interval(lambda a, b: _median(b) / _median(a), (times[n, 100], times[n, width]))
             for width in large if width > 100]  # fmt: skip
    falls = {
        (length, a, b): bootstrap_interval(lambda x, y: _median(x) / _median(y), (times[length, a], times[length, b]))
        for length in sorted({length for length, _ in times})
        for a, b in pairwise(sorted(width for other, width in times if other == length and width >= 10))
    }
    deviations, widths = [], []
    for width in large:
        logs = np.log(np.minimum(times[n, width], last[n, width]))
        deviations += list(np.abs(logs - np.median(logs)))
        widths += [width] * len(logs)
    spread = rank_correlation(widths, deviations)
    tail = bootstrap_interval(
        lambda a, b: (_high(a) / _median(a)) / (_high(b) / _median(b)), (times[n, 10], times[n, 1000])
    )
    quantile = bootstrap_interval(lambda a, b: _high(a) / _high(b), (times[n, 10], times[n, 1000]))
    return Findings(
        {
            **{
                f"n = {length}, width {width}": {
                    "median": None if math.isinf(_median(x)) else _median(x),
                    "90 % quantile": None if math.isinf(_high(x)) else _high(x),
                    "converged": sum(map(math.isfinite, x)), "runs": len(x),
                }
                for (length, width), x in sorted(times.items())
            },
            "medians over that of width 100": {str(w): i.as_dict() for w, i in
                                               zip([w for w in large if w > 100], level, strict=True)},
            "falls of the median": {f"n = {length}, width {a} to {b}": i.as_dict()
                                    for (length, a, b), i in falls.items()},
            "rank correlation of width and deviation of log time": spread.correlation, "its p": spread.falling,
            "90 % quantile over median, width 10 over 1000": tail.as_dict(),
            "90 % quantile, width 10 over 1000": quantile.as_dict(),
        },
        (
            Criterion(_WIDTH, "the medians level off: above width 100 they are between half and twice that of width "
                      "100 (95 %)", all(above(i.low, 0.5) and below(i.high, 2) for i in level) and bool(level)),
            Criterion(_WIDTH, "no parallel speed-up: from each width from 10 on to the next, at each n, the median "
                      "falls by less than the factor of the widths (95 %)",
                      all(below(i.high, b / a) for (_, a, b), i in falls.items())),
            Criterion(_WIDTH, "less variance: the deviation of log time from its median falls with the width, p < "
                      "0.001", below(spread.falling, 1e-3) and below(spread.correlation, 0)),
            Criterion(_WIDTH, "a shorter upper tail: 90 % quantile over median, and the quantile itself, are larger "
                      "at width 10 than at 1000 (95 %)", above(tail.low, 1) and above(quantile.low, 1)),
        ),
    )  # fmt: skip


WIDTH_TIMES = Experiment(
    name="parity-width-times",
    statements=(_WIDTH,),
    title="Convergence times for widths from 10 to 3000 at (40, 3), and three widths at n = 30 and 50, B = 128",
    scales={
        "quick": {f"n12-width-{width}": _wide(width, 20, n=12, batch=32, steps=20_000) for width in (10, 100, 1000)},
        "full": {
            **{
                f"n40-width-{width}": _wide(width, seeds)
                for width, seeds in ((10, 60), (30, 60), (100, 60), (300, 40), (1000, 30), (3000, 15))
            },
            **{f"n{n}-width-{width}": _wide(width, 15, n=n) for n in (30, 50) for width in (10, 100, 1000)},
        },
    },
    work=_times,
    summarise=_summarise_widths,
    slice=("n40-width-100", {"seeds": [5000, 5001]}),
    others=(("n30-width-100", {"seeds": [5007]}), ("n40-width-10", {"seeds": [5059]})),
)  # fmt: skip


def _late_runs(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed: the first checks with a training error and a test error of at most 1 %, and the last errors."""
    runs = []
    for seed in settings["seeds"]:
        run = compiled_run(settings, seed)
        fitted = run.train_time if run.test_time is None else min(run.test_time, run.train_time or run.test_time)
        runs.append([fitted, run.test_time, round(run.train_error[-1], 4), round(run.test_error[-1], 4)])
    return {"runs": runs}


def _finite(sample: int, decay: float, seeds: int, **changes: Any) -> dict[str, Any]:
    return {"n": 30, "k": 3, "width": 100, "batch": 32, "steps": 40_000, "check_every": 100, "threshold": 0.01,
            "sample": sample, "decay": decay, "seeds": list(range(6000, 6000 + seeds)), **changes}  # fmt: skip


def _general(runs: list[list[Any]]) -> int:
    return sum(run[1] is not None for run in runs)


def _summarise_decays(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    cells = {(cell["sample"], cell["decay"]): results[key]["runs"] for key, cell in settings.items()}
    sizes, decays = sorted({m for m, _ in cells}), sorted({decay for _, decay in cells})
    least, largest, strongest, n = sizes[0], sizes[-1], decays[-1], next(iter(settings.values()))["n"]
    moderate = [decay for decay in decays if decay <= 0.01]
    late = {case: sum(run[0] is not None and run[1] is not None and run[1] >= 5 * run[0] for run in runs)
            for case, runs in cells.items()}  # fmt: skip
    trend = trend_test([(rank, _general(cells[m, decay]), len(cells[m, decay])) for rank, decay in enumerate(moderate)]
                       for m in sizes)  # fmt: skip
    enough = {decay: next((m for m in sizes if _general(cells[m, decay]) >= len(cells[m, decay]) / 2), math.inf)
              for decay in moderate}  # fmt: skip
    best = max(late, key=lambda case: (late[case] / len(cells[case]) if case[0] < n**3 / 25 else -1.0, -case[0]))
    middle = moderate[len(moderate) // 2]
    return Findings(
        {
            "generalise, of fitted, of runs": {
                f"m = {m}, decay {decay}": [_general(runs), sum(run[0] is not None for run in runs), len(runs)]
                for (m, decay), runs in cells.items()
            },
            "least sample from which half of the runs generalise": {
                str(decay): None if math.isinf(size) else size for decay, size in enough.items()
            },
            "trend with the decay, z": trend.z, "its p": trend.rising,
            "most late runs": {"sample": best[0], "decay": best[1],
                               **proportion_interval(late[best], len(cells[best])).as_dict()},
            "test time over training time there": [run[1] / run[0] for run in cells[best] if run[0] and run[1]],
        },
        (
            Criterion(_GROKKING, f"from the largest sample, with decay {middle}, every run has a test error of at "
                      "most 1 %, none later than at 1.5 times the time for the sample",
                      all(run[1] is not None and run[1] <= 1.5 * run[0] for run in cells[largest, middle])),
            Criterion(_GROKKING, "from the smallest sample no run generalises with any decay, though without decay "
                      "all fit it",
                      sum(_general(cells[least, decay]) for decay in decays) == 0
                      and all(run[0] is not None for run in cells[least, decays[0]])),
            Criterion(_GROKKING, "for some sample below n^k/25 and some decay, 80 % of the runs generalise at five "
                      "times the time for the sample or later",
                      best[0] < n**3 / 25 and late[best] >= 0.8 * len(cells[best])),
            Criterion(_GROKKING, "up to 0.01 more decay makes more runs generalise (trend over all samples, p < "
                      "0.001), and the least sample from which half of them do is smaller with 0.01 than without",
                      below(trend.rising, 1e-3) and enough[moderate[-1]] < enough[0.0]),
            Criterion(_GROKKING, f"with decay {strongest} optimisation fails: from the largest sample every run ends "
                      "with a training error above 40 %",
                      all(run[2] > 0.4 for run in cells[largest, strongest])),
        ),
    )  # fmt: skip


DECAYS = Experiment(
    name="parity-weight-decay",
    statements=(_GROKKING,),
    title="Finite samples and weight decay: 6 sizes and 6 decays, n = 30, k = 3, width 100, B = 32",
    scales={
        "quick": {
            f"m{m}-decay-{decay}": _finite(m, decay, 6, n=12, k=2, steps=6000, width=30)
            for m in (8, 40, 1000)
            for decay in (0.0, 0.003, 0.01, 1.0)
        },
        "full": {
            f"m{m}-decay-{decay}": _finite(m, decay, 10)
            for m in (150, 300, 500, 700, 1000, 4000)
            for decay in (0.0, 0.001, 0.003, 0.01, 0.03, 0.3)
        },
    },
    work=_late_runs,
    summarise=_summarise_decays,
    slice=("m4000-decay-0.003", {"seeds": [6000, 6001]}),
    others=(("m4000-decay-0.0", {"seeds": [6005]}), ("m1000-decay-0.003", {"seeds": [6009]})),
)

_LEVELS = (0.4, 0.1, 0.01, 0.0)


def noisy_runs(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed: the first checks with test errors of at most 40 %, 10 %, 1 %, 0; the least and the last error."""
    runs = []
    for seed in settings["seeds"]:
        run = compiled_run(settings, seed)
        times = [next((t for t, e in zip(run.steps, run.test_error, strict=True) if e <= level), None)
                 for level in _LEVELS]  # fmt: skip
        runs.append([*times, round(min(run.test_error), 5), round(run.test_error[-1], 5)])
    return {"runs": runs}


def flipped_labels(noise: float, batch: int, seeds: int = 5, **changes: Any) -> dict[str, Any]:
    """The settings of runs with a flip rate and a batch size."""
    return {"n": 30, "k": 3, "width": 100, "batch": batch, "noise": noise, "steps": 150_000, "check_every": 100,
            "threshold": 0.0, "seeds": list(range(7000, 7000 + seeds)), **changes}  # fmt: skip


def _summarise_flips(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    cells = {(cell["batch"], cell["noise"]): results[key]["runs"] for key, cell in settings.items()}
    batches, rates = sorted({b for b, _ in cells}), sorted({p for _, p in cells})
    learned = {case: with_infinity([run[1] for run in runs]) for case, runs in cells.items()}
    usual = [batch for batch in batches if batch >= 32]
    growing = all(_median(learned[b, p]) < _median(learned[b, q]) for b in usual for p, q in pairwise(rates[:-1]))
    small, large, high = usual[0], usual[-1], rates[-2]
    slower = rank_correlation(
        [0.0] * len(learned[small, high]) + [1.0] * len(learned[large, high]),
        learned[small, high] + learned[large, high],
    )
    noisy = [run for (_, p), runs in cells.items() if p > 0 for run in runs]
    perfect = sum(run[3] is not None for run in noisy)
    short = sum(run[1] is not None and run[3] is None for run in noisy)
    return Findings(
        {
            **{
                f"B = {b}, p = {p}": {
                    "median time to 90 % accuracy": None if math.isinf(_median(x)) else _median(x),
                    "reach 60 %, 90 %, 99 %, 100 % accuracy": [sum(run[i] is not None for run in cells[b, p])
                                                                for i in range(4)],
                    "runs": len(x), "largest last error": max(run[5] for run in cells[b, p]),
                }
                for (b, p), x in sorted(learned.items())
            },
            "noisy runs that reach 100 %": perfect, "noisy runs that reach 90 % and not 100 %": short,
            "noisy runs": len(noisy), f"p, B = {small} slower than {large} at p = {high}": slower.falling,
        },
        (
            Criterion(_NOISE, f"for p <= {high} and B >= 32 every run reaches an accuracy of 90 % on right labels",
                      all(math.isfinite(max(learned[b, p])) for b in usual for p in rates[:-1])),
            Criterion(_NOISE, f"at p = {rates[-1]} every run with the largest B does",
                      math.isfinite(max(learned[large, rates[-1]]))),
            Criterion(_NOISE, "some noisy runs reach 100 %, and some reach 90 % but not 100 % within their steps",
                      perfect > 0 and short > 0),
            Criterion(_NOISE, f"the median time to 90 % grows with p at each B >= 32, up to p = {high}", growing),
            Criterion(_NOISE, f"at p = {high} it takes longer with B = {small} than with {large} (ranks, p < 0.01), "
                      f"and at least five times as long as without noise and B = {large}",
                      below(slower.falling, 0.01)
                      and _median(learned[small, high]) >= 5 * _median(learned[large, rates[0]])),
        ),
    )  # fmt: skip


FLIPS = Experiment(
    name="parity-label-noise",
    statements=(_NOISE,),
    title="Labels flipped with probability up to 0.49 at three batch sizes: (30, 3), width 100, rate 0.1",
    scales={
        "quick": {
            f"b{batch}-p{noise}": flipped_labels(noise, batch, n=12, width=30, steps=20_000)
            for batch in (32, 256)
            for noise in (0.0, 0.3, 0.4)
        },
        "full": {
            f"b{batch}-p{noise}": flipped_labels(noise, batch)
            for batch in (8, 32, 256)
            for noise in (0.0, 0.2, 0.4, 0.45, 0.49)
        },
    },
    work=noisy_runs,
    summarise=_summarise_flips,
    slice=("b32-p0.2", {"seeds": [7000]}),
    others=(("b8-p0.0", {"seeds": [7002]}), ("b256-p0.0", {"seeds": [7004]})),
)
