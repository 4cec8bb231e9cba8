"""The fifteen architectures: which runs converge and how long they take, for figures B.3 to B.5 and finding 5.1.

Printed are 25 seeds for every architecture, k and batch size, at the best of four rates; here there are 15 or fewer,
and three other seeds choose the rate. Cells of other losses, starts and batch sizes are drawn at random from the grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from lemmata.numerics.parity.architecture_training import ARCHITECTURES
from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import median_interval, proportion_interval
from lemmata.numerics.runs.waiting_times import group_share, with_infinity
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.runs import cells, finite, starts
from lemmata.theorems.hidden_progress.experiments.training import coarse_power_law

__all__ = ["GRID", "LARGEST_BATCHES", "LARGE_BATCHES", "UNLUCKY", "UNLUCKY_AGAIN"]

_FINDING, _TIMES = "hidden-progress:empirical-finding-5.1", "hidden-progress:experiment-B.3-B.4"
_FIT, _RIGHT = "hidden-progress:experiment-B.5", "hidden-progress:experiment-5.1"
_FIFTEEN = tuple(name for name in ARCHITECTURES if not name.startswith("*"))
_WIDE, _NARROW = ("iii", "vi"), ("*i", "*ii")
_LOSSES, _STARTS = ("hinge", "square", "logistic"), ("uniform", "gaussian", "bernoulli")
_FAR = 90
"""The size at which a power law fitted up to n = 30 is tried, at the rate of n = 30."""


def _cell(setting: str, n: int, k: int, batch: int, seeds: int = 25, **changes: Any) -> dict[str, Any]:
    wide = setting in _WIDE
    steps = 100_000 if batch <= 8 else 6_000 if wide else 30_000 if batch <= 64 else 10_000
    return {"setting": setting, "n": n, "k": k, "batch": batch, "steps": steps, "pilot_steps": min(steps, 20_000),
            "seeds": list(range(min(seeds, 6) if wide else seeds)), **changes}  # fmt: skip


def _base(sizes: Iterable[int], ks: Iterable[int], settings: Iterable[str], seeds: int) -> dict[str, Any]:
    found = {}
    for setting, n, k in product(settings, sizes, ks):
        name = f"least-{setting.strip('*')}" if setting in _NARROW else setting
        found[f"base-{name}-n{n}-k{k}"] = _cell(setting, n, k, 32, seeds)
    return found


def _random_cells(count: int, wide: int) -> dict[str, Any]:
    """Cells drawn uniformly from the grid of the finding, so many per architecture; the wide ones with B <= 32."""
    rng = np.random.default_rng(51)
    found = {}
    for setting in _FIFTEEN:
        for i in range(wide if setting in _WIDE else count):
            n, k = int(rng.choice([10, 20, 30])), int(rng.choice([2, 3, 4]))
            batch = 2 ** int(rng.integers(0, 6 if setting in _WIDE else 11))
            loss, init = _LOSSES[rng.integers(3)], _STARTS[rng.integers(3)]
            found[f"random-{setting}-{i}"] = _cell(setting, n, k, batch, 8, loss=loss, init=init)
    return found


def _best(result: Mapping[str, Any]) -> list[float]:
    """The times at the rate with which most runs converge, infinity for None."""
    return max((with_infinity(one["times"]) for one in result["tried"]), key=lambda x: sum(map(math.isfinite, x)))


def _share(times: list[float]) -> float:
    return sum(map(math.isfinite, times)) / len(times)


def _laws(settings: Mapping[str, Any], times: Mapping[str, list[float]]) -> dict[str, tuple[float, float]]:
    """For each architecture the exponent alpha and c with t <= c n^(alpha k) for the medians of its base cells."""
    laws = {}
    for setting in _FIFTEEN:
        points = [(cell["k"] * math.log(cell["n"]), float(np.median(times[key]))) for key, cell in settings.items()
                  if key.startswith("base") and cell["setting"] == setting]  # fmt: skip
        if len(points) < 3 or not all(math.isfinite(t) for _, t in points):
            laws[setting] = (math.inf, math.inf)
            continue
        x, y = np.array([point[0] for point in points]), np.log([point[1] for point in points])
        alpha = max(0.0, float(np.polyfit(x, y, 1)[0]))
        laws[setting] = (alpha, float(np.exp((y - alpha * x).max())))
    return laws


def _fits(settings: Mapping[str, Any], times: Mapping[str, list[float]]) -> dict[str, Any]:
    """The fits of figure B.5: None where fewer than a tenth of the runs converged."""
    found: dict[str, Any] = {}
    for setting in _FIFTEEN:
        for k in (2, 3, 4):
            own = {cell["n"]: [None if math.isinf(t) else int(t) for t in times[key]] for key, cell in settings.items()
                   if key.startswith("base") and (cell["setting"], cell["k"]) == (setting, k)}  # fmt: skip
            if len(own) == 3:
                law = coarse_power_law(own)
                found[f"({setting}) k = {k}: c, alpha"] = None if law is None else [law[0], float(f"{law[1]:.4g}")]
    return found


def _beyond(settings: Mapping[str, Any], times: Mapping[str, list[float]]) -> dict[str, tuple[float, float]]:
    """For the cells at n = 90: the bound of the fit at the rate of n = 30, and the lower end of the 10th percentile.

    With 20 runs the least time of all is below the 10th percentile with probability 1 - 0.9^20 = 88 % only; the lower
    end used is the least time itself, so that exceeding the bound means that no run of all met it.
    """
    found = {}
    for key, cell in settings.items():
        if key.startswith("far") and cell["n"] == _FAR:
            own = {n: times[f"far-{cell['setting']}-n{n}"] for n in (10, 20, 30)}
            law = coarse_power_law({n: [None if math.isinf(t) else int(t) for t in x] for n, x in own.items()})
            if law is not None:
                found[cell["setting"]] = (law[0] * (_FAR - 9) ** law[1], min(times[key]))
    return found


def _between(settings: Mapping[str, Any], times: Mapping[str, list[float]]) -> dict[str, float]:
    """For the cells at n = 15 and 25 the 10th percentile, divided by the bound of the fit to n = 10, 20, 30."""
    found = {}
    for key, cell in settings.items():
        if key.startswith("far") and cell["n"] in (15, 25):
            own = {n: times[f"far-{cell['setting']}-n{n}"] for n in (10, 20, 30)}
            law = coarse_power_law({n: [None if math.isinf(t) else int(t) for t in x] for n, x in own.items()})
            if law is not None:
                tenth = sorted(times[key])[max(0, math.ceil(len(times[key]) / 10) - 1)]
                found[key] = tenth / (law[0] * (cell["n"] - 9) ** law[1])
    return found


def _summarise_grid(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    times = {key: _best(results[key]) for key in settings}
    shares = {key: _share(x) for key, x in times.items()}
    fifteen = [key for key in settings if key.startswith(("base", "random", "large")) and "least" not in key]
    clear = {name: [above(proportion_interval(round(shares[key] * len(times[key])), len(times[key])).low, 0.2)
                    for key in fifteen if settings[key]["setting"] == name] for name in _FIFTEEN}  # fmt: skip
    least = [key for key in settings if "least" in key and key.startswith("base")]
    single = [key for key in settings if key.startswith("single-least")]
    laws, fits, beyond = _laws(settings, times), _fits(settings, times), _beyond(settings, times)
    between = _between(settings, times)
    large = {key: shares[key] for key in settings if key.startswith("large")}
    tested = {key: round(_share(x) * len(x)) for key, x in times.items()}
    numbers = {
        "cells": len(settings), "runs at the chosen rates": sum(map(len, times.values())),
        "converged": {key: [tested[key], len(times[key])] for key in settings},
        "median times": {key: float(np.median(x)) for key, x in times.items()},
        "exponent alpha and c of c n^(alpha k)": {name: list(law) for name, law in laws.items()},
        "fits of figure B.5": fits,
        f"bound of the fit and least time at n = {_FAR}": {name: list(pair) for name, pair in beyond.items()},
        "10th percentile at n = 15, 25 by the fit": between,
        "share of cells clearly above 20 %": {name: sum(x) / max(len(x), 1) for name, x in clear.items()},
    }  # fmt: skip
    small = all(below(alpha, 1) and below(c, 100) and below(c * 30 ** (4 * alpha), 1e5) for alpha, c in laws.values())
    return Findings(
        finite(numbers),
        (
            Criterion(_FINDING, "(i) to (xv): in every cell 20 % of the runs or more reach 100 % accuracy at some rate",
                      min(shares[key] for key in fifteen) >= 0.2),
            Criterion(_FINDING, "robustly: in nine of ten cells of each architecture the share is above 20 % with 95 %",
                      all(x and sum(x) >= 0.9 * len(x) for x in clear.values())),
            Criterion(_FINDING, "for each architecture the medians are <= c n^(alpha k) <= 10^5, alpha <= 1, c <= 100",
                      small),
            Criterion(_FINDING, "(*i) and (*ii): the same share at B = 32 for all n and k",
                      bool(least) and min(shares[key] for key in least) >= 0.2),
            Criterion(_FINDING, "(*i) and (*ii): not at B = 1, in one of the cells at least",
                      bool(single) and min(shares[key] for key in single) < 0.2),
            Criterion(_RIGHT, "for each architecture the medians are <= c n^(alpha k) with alpha <= 1, c <= 100",
                      small),
            Criterion(_TIMES, "(i) to (xv), n = 30, B = 128: four of five runs converge for every architecture and k",
                      bool(large) and min(large.values()) >= 0.8),
            Criterion(_FIT, "order-of-magnitude upper bounds: at n = 15, 25 the 10th percentile is <= twice the fit",
                      bool(between) and below(max(between.values()), 2)),
            Criterion(_FIT, "the median of alpha over the architectures is larger for k = 4 than for k = 2",
                      above(_median_alpha(fits, 4), _median_alpha(fits, 2))),
            Criterion(_FIT, f"the fits do not extrapolate: for one or more every run at n = {_FAR} takes longer",
                      any(above(time, bound) for bound, time in beyond.values())),
        ),
    )  # fmt: skip


def _median_alpha(fits: Mapping[str, Any], k: int) -> float:
    return float(np.median([law[1] for name, law in fits.items() if f"k = {k}:" in name and law is not None] or [0.0]))


_SINGLE = {f"single-least-{setting.strip('*')}": _cell(setting, 30, 4, 1, 15, steps=100_000, pilot_steps=30_000)
           for setting in _NARROW}  # fmt: skip
_SIZES = (10, 15, 20, 25, 30, _FAR)
_FAR_RATES = {"i": 1.0, "ii": 1.0, "vii": 0.1, "xii": 0.1, "xv": 0.1}

GRID = Experiment(
    name="parity-architectures",
    statements=(_FINDING, _TIMES, _FIT, _RIGHT),
    title="Convergence of all fifteen architectures at the best of four rates: n to 30, k to 4, B to 1024",
    scales={
        "quick": {
            **_base((10, 14), (2,), ("i", "vii", "xii", "xv"), 8),
            **{f"far-xv-n{n}": _cell("xv", n, 2, 32, 6, rate=0.1) for n in _SIZES},
        },
        "full": {
            **_base((10, 20, 30), (2, 3, 4), (*_FIFTEEN, *_NARROW), 15),
            **{f"large-{setting}-k{k}": _cell(setting, 30, k, 128, 12) for setting in _FIFTEEN
               for k in ((3,) if setting in _WIDE else (2, 3, 4))},
            **_random_cells(3, 1),
            **_SINGLE,
            **{f"far-{setting}-n{n}": _cell(setting, n, 3, 32, 20, rate=rate)
               for setting, rate in _FAR_RATES.items() for n in _SIZES},
        },
    },
    work=cells,
    summarise=_summarise_grid,
    slice=("base-xii-n10-k2", {"seeds": [0, 1, 2]}),
    others=(("base-i-n10-k2", {"seeds": [10]}), ("far-vii-n25", {"seeds": [19]})),
)  # fmt: skip


def _summarise_unlucky(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers, met = {}, []
    for key in settings:
        groups = results[key]["times"]
        x = with_infinity([t for group in groups for t in group])
        low, high = np.quantile(x, (0.1, 0.9), method="higher")
        share, p = group_share(groups, np.random.default_rng(4))
        numbers[key] = {"median": median_interval(x).as_dict(), "10 % and 90 % quantile": [float(low), float(high)],
                        "share between starts": share.as_dict(), "p": p}  # fmt: skip
        met.append(bool(high >= 3 * low and above(share.low, 0.3) and p <= 0.001))
    return Findings(
        finite(numbers),
        (
            Criterion(_TIMES, "in one or more settings the 90 % quantile of the times is three times the 10 % one, "
                      "and starts explain over 30 % of the variance of ranks (95 %)", any(met)),
        ),
    )  # fmt: skip


def _unlucky(setting: str, rate: float, starts: int, seeds: int) -> dict[str, Any]:
    return {"setting": setting, "n": 30, "k": 3, "batch": 32, "rate": rate, "steps": 20_000,
            "starts": list(range(starts)), "seeds": list(range(seeds))}  # fmt: skip


_UNLUCKY_RATES = {"i": 1.0, "viii": 0.1, "xi": 0.1, "xv": 0.1}

UNLUCKY = Experiment(
    name="parity-unlucky-starts",
    statements=(_TIMES,),
    title="How far unlucky starts explain the spread of the times: four architectures, n = 30, k = 3, B = 32",
    scales={
        "quick": {"xv": _unlucky("xv", 0.1, 8, 3)},
        "full": {name: _unlucky(name, rate, 15, 5) for name, rate in _UNLUCKY_RATES.items()},
    },
    work=starts,
    summarise=_summarise_unlucky,
    slice=("xv", {"seeds": [0], "starts": [0, 1]}),
    others=(("viii", {"seeds": [2], "starts": [7]}), ("i", {"seeds": [4], "starts": [14]})),
)

UNLUCKY_AGAIN = Experiment(
    name="parity-unlucky-starts-again",
    statements=(_TIMES,),
    title="The same with 40 other starts of two single neurons, after 15 starts had been too few for the interval",
    scales={
        "quick": {"xi": {**_unlucky("xi", 0.1, 8, 3), "starts": list(range(100, 108))}},
        "full": {name: {**_unlucky(name, 0.1, 40, 5), "starts": list(range(100, 140))} for name in ("viii", "xi")},
    },
    work=starts,
    summarise=_summarise_unlucky,
    slice=("xi", {"seeds": [0], "starts": [100, 101]}),
    others=(("viii", {"seeds": [2], "starts": [120]}), ("xi", {"seeds": [4], "starts": [139]})),
)
"""The first attempt stays beside it, and missed its criterion: intervals from 28 and 30 % on, where 30 % was asked."""


def _summarise_large(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    times = {key: _best(results[key]) for key in settings}
    shares = {key: proportion_interval(sum(map(math.isfinite, x)), len(x)) for key, x in times.items()}
    return Findings(
        finite({key: {"converged": shares[key].as_dict(), "rate": results[key]["tried"][0]["rate"],
                      "median": float(np.median(times[key]))} for key in settings}),
        (
            Criterion(_TIMES, "n = 30, k = 4, B = 512: four of five runs converge for all but the widest architectures",
                      all(share.estimate >= 0.8 for share in shares.values())),
        ),
    )  # fmt: skip


LARGE_BATCHES = Experiment(
    name="parity-large-batches",
    statements=(_TIMES,),
    title="A larger batch, B = 512, at n = 30, k = 4: 20 runs of each architecture of width 100 or less",
    scales={
        "quick": {f"large-{setting}": _cell(setting, 12, 2, 128, 6) for setting in ("vii", "xii", "xv")},
        "full": {f"large-{setting}": _cell(setting, 30, 4, 512, 20, pilots=5)
                 for setting in _FIFTEEN if setting not in _WIDE},
    },
    work=cells,
    summarise=_summarise_large,
    slice=("large-vii", {"seeds": [0, 10, 19]}),
)  # fmt: skip
"""The first attempt, B = 128 in GRID, missed its criterion in one cell: 9 of 12 runs of the PolyNet at k = 4."""


def _summarise_largest(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    shares = {}
    for key in settings:
        times = _best(results[key])
        shares[key] = proportion_interval(sum(map(math.isfinite, times)), len(times))
    return Findings(
        {key: {"converged": share.as_dict(), "rate": results[key]["tried"][0]["rate"]}
         for key, share in shares.items()},
        (
            Criterion(_TIMES, "n = 30, k = 4, B = 1024: four of five runs converge in the settings that did not all "
                      "converge at B = 512", all(share.estimate >= 0.8 for share in shares.values())),
            Criterion(_TIMES, "and there the share of these settings together is above four fifths with 95 %",
                      above(proportion_interval(sum(round(share.estimate * len(settings[key]["seeds"]))
                                                    for key, share in shares.items()),
                                                sum(len(cell["seeds"]) for cell in settings.values())).low, 0.8)),
        ),
    )  # fmt: skip


LARGEST_BATCHES = Experiment(
    name="parity-largest-batches",
    statements=(_TIMES,),
    title="The largest printed batch, B = 1024, at n = 30, k = 4: 40 fresh runs of (ix), (x), (xiv)",
    scales={
        "quick": {"largest-xiv": {**_cell("xiv", 12, 2, 128, 6), "seeds": list(range(200, 206))}},
        "full": {
            f"largest-{setting}": {
                **_cell(setting, 30, 4, 1024, pilots=5, pilot_steps=5000),
                "seeds": list(range(200, 240)),
            }
            for setting in ("ix", "x", "xiv")
        },
    },
    work=cells,
    summarise=_summarise_largest,
    slice=("largest-xiv", {"seeds": [200, 220, 239]}),
)
"""The third attempt: B = 512 missed its criterion in one cell too, 14 of 20 runs of (xiv) at its fastest rate."""
