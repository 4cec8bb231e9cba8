"""Is it random search? The law of the times, what they depend on, and how they grow: figure 5.2 at a smaller scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import median_interval, proportion_interval
from lemmata.numerics.runs.waiting_times import exponent_interval, geometric_test, group_share, with_infinity
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.runs import cells, finite, starts

__all__ = ["LAW", "STARTS"]

_TIMES, _SEARCH = "hidden-progress:experiment-5.2", "hidden-progress:unnumbered-random-search"
_LAWS = {"i": 1.0, "viii": 0.01, "xv": 0.05}
"""The settings whose times are collected at n = 20, k = 3, B = 32, with the rates of figure B.6."""
_EVERY = 5
_CAP = 20_000


def _many(setting: str, seeds: range) -> dict[str, Any]:
    return {"setting": setting, "n": 20, "k": 3, "batch": 32, "rate": _LAWS[setting], "steps": _CAP,
            "check_every": _EVERY, "seeds": list(seeds)}  # fmt: skip


def _sized(n: int, k: int, seeds: int) -> dict[str, Any]:
    return {"setting": "ii", "n": n, "k": k, "batch": 32, "rate": 1.0, "steps": _CAP, "seeds": list(range(seeds))}


def _times(settings: Mapping[str, Any], results: Mapping[str, Any], kind: str) -> list[int | None]:
    return [t for key in settings if key.startswith(kind) for t in results[key]["tried"][0]["times"]]


def _tail_ratio(times: list[int | None]) -> tuple[float, float]:
    """(q99 - q50)/(q50 - q1) and the lower end of its 95 % bootstrap interval over runs; infinity counts."""
    x = np.array(with_infinity(times))
    rng = np.random.default_rng(0)

    def ratio(sample: np.ndarray) -> np.ndarray:
        low, mid, high = np.quantile(sample, (0.01, 0.5, 0.99), axis=-1, method="higher")
        return (high - mid) / np.maximum(mid - low, 1)

    draws = ratio(x[rng.integers(0, len(x), size=(400, len(x)))])
    return float(ratio(x)), float(np.quantile(draws, 0.025, method="lower"))


def _law(setting: str, times: list[int | None]) -> tuple[dict[str, Any], tuple[Criterion, ...]]:
    """The numbers of one setting, and its criteria."""
    rng = np.random.default_rng(1)
    trials = [None if t is None else t // _EVERY for t in times]
    test = geometric_test(trials, _CAP // _EVERY, rng, draws=199)
    x = with_infinity(times)
    median = float(np.median(x))
    quarter, tenth = (proportion_interval(sum(t < median / part for t in x), len(x)) for part in (4, 10))
    ratio, least = _tail_ratio(times)
    numbers = {
        "runs": len(x), "converged": sum(map(math.isfinite, x)), "median": median_interval(x).as_dict(),
        "earliest": min(x), "latest that converged": max(t for t in x if math.isfinite(t)),
        "fitted rate per check": test.rate, "distance to the geometric law": test.distance, "p": test.p_value,
        "share below a quarter of the median": quarter.as_dict(),
        "share below a tenth of the median": tenth.as_dict(), "upper to lower tail": [ratio, least],
    }  # fmt: skip
    of = f"({setting}):"
    return {f"({setting}) {name}": value for name, value in numbers.items()}, (
        Criterion(_TIMES, f"{of} not geometric with any rate (fitted, p < 0.01)", below(test.p_value, 0.01)),
        Criterion(_TIMES, f"{of} fewer than 1 % of the runs take less than a tenth of the median (95 %)",
                  below(tenth.high, 0.01)),
        Criterion(_TIMES, f"{of} the 99 % quantile is over twice as far from the median as the 1 % quantile (95 %)",
                  above(least, 2)),
        Criterion(_SEARCH, f"{of} (2) fewer than 1 % of the runs take less than a quarter of the median (95 %)",
                  below(quarter.high, 0.01)),
        Criterion(_SEARCH, f"{of} (2) not geometric with any rate (fitted, p < 0.01)", below(test.p_value, 0.01)),
    )  # fmt: skip


def _summarise_law(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers: dict[str, Any] = {}
    criteria: tuple[Criterion, ...] = ()
    for setting in _LAWS:
        found, judged = _law(setting, _times(settings, results, f"law-{setting}-"))
        numbers, criteria = numbers | found, criteria + judged
    rng = np.random.default_rng(2)
    exponents = {}
    for name, sizes, ks in (("small", (10, 14, 20), (2, 3, 4)), ("large", (40, 60, 80), (2, 3))):
        for k in ks:
            runs: dict[float, Any] = {
                n: results[key]["tried"][0]["times"] for n in sizes if (key := f"size-k{k}-n{n}") in settings
            }
            if len(runs) == len(sizes):
                exponents[name, k] = exponent_interval(runs, rng)
                numbers[f"exponent, k = {k}, {name} n"] = exponents[name, k].as_dict()
    small = [exponents["small", k] for k in (2, 3, 4) if ("small", k) in exponents]
    adapts = all(above(b.low, a.high) for a, b in pairwise(small)) and len(small) > 1
    elbow = [above(exponents["large", k].low, exponents["small", k].high) for k in (2, 3) if ("large", k) in exponents]
    worse = bool(elbow) and all(elbow)
    return Findings(
        finite(numbers),
        (
            *criteria,
            Criterion(_TIMES, "the exponent of n is larger for n = 40 to 80 than for 10 to 20 (disjoint intervals)",
                      worse),
            Criterion(_SEARCH, "(1) the exponent of n grows with k = 2, 3, 4 (disjoint intervals)", adapts),
            Criterion(_SEARCH, "(4) the exponent of n is larger for n = 40 to 80 than for n = 10 to 20", worse),
        ),
    )  # fmt: skip


LAW = Experiment(
    name="parity-search",
    statements=(_TIMES, _SEARCH),
    title="The law of convergence times at n = 20, k = 3 against geometric laws of any rate, and exponents in n",
    scales={
        "quick": {
            **{f"law-{setting}-0": _many(setting, range(60)) for setting in _LAWS},
            **{f"size-k{k}-n{n}": _sized(n, k, 12) for k in (2, 3) for n in (10, 14, 20)},
        },
        "full": {
            **{f"law-{setting}-{i}": _many(setting, range(500 * i + 1000, 500 * i + 1500)) for setting in _LAWS
               for i in range(3)},
            **{f"size-k{k}-n{n}": _sized(n, k, 25) for k in (2, 3, 4) for n in (10, 14, 20)},
            **{f"size-k{k}-n{n}": _sized(n, k, 25) for k in (2, 3) for n in (40, 60, 80)},
        },
    },
    work=cells,
    summarise=_summarise_law,
    slice=("law-xv-0", {"seeds": [1000, 1001, 1002]}),
    others=(("size-k3-n14", {"seeds": [0]}), ("law-i-2", {"seeds": [2499]})),
)  # fmt: skip


def _summarise_starts(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers, met = {}, []
    for name in ("times", "three_quarters"):
        groups = [group for key in settings for group in results[key][name]]
        share, p = group_share(groups, np.random.default_rng(3))
        numbers[f"share between starts, {name}"] = share.as_dict()
        numbers[f"p, {name}"] = p
        met.append(above(share.low, 0.5) and p <= 0.001)
    numbers["converged"] = sum(t is not None for key in settings for group in results[key]["times"] for t in group)
    return Findings(
        finite(numbers),
        (
            Criterion(_TIMES, "more than half of the variance of the ranks of the times lies between starts (95 %), "
                      "and p <= 0.001 for none", met[0]),
            Criterion(_TIMES, "the same for the step at which the curves reach 75 % accuracy", met[1]),
            Criterion(_SEARCH, "(3) more than half of the variance of the ranks of the times lies between starts, 95 %",
                      met[0]),
        ),
    )  # fmt: skip


def _started(first: int, count: int, seeds: int, **changes: Any) -> dict[str, Any]:
    return {"setting": "i", "n": 20, "k": 3, "batch": 128, "rate": 0.01, "steps": 50_000, "recorded": 512,
            "check_every": 50, "starts": list(range(first, first + count)), "seeds": list(range(seeds)),
            **changes}  # fmt: skip


STARTS = Experiment(
    name="parity-starts",
    statements=(_TIMES, _SEARCH),
    title="Convergence times from 14 starts with 6 runs each: ReLU of width 10, n = 20, k = 3, B = 128, rate 0.01",
    scales={
        "quick": {"starts-0": _started(0, 6, 3, rate=0.3, batch=32, n=10, check_every=10)},
        "full": {f"starts-{i}": _started(2 * i, 2, 6) for i in range(7)},
    },
    work=starts,
    summarise=_summarise_starts,
    slice=("starts-0", {"seeds": [0], "starts": [0]}),
    others=(("starts-3", {"seeds": [3], "starts": [6]}), ("starts-6", {"seeds": [5], "starts": [13]})),
)
