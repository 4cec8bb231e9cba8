"""Experiments on when SGD learns a parity: sample cells of the grid, the null model, widths, label noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import median_interval, proportion_interval
from lemmata.numerics.runs.waiting_times import with_infinity
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.runs import finite
from lemmata.theorems.hidden_progress.experiments.training import convergence_times

__all__ = ["CELLS", "NOISE", "NULL_MODEL", "WIDTHS"]

_FINDING, _CURVES = "hidden-progress:empirical-finding-5.1", "hidden-progress:experiment-5.1"
_TIMES, _SEARCH = "hidden-progress:experiment-5.2", "hidden-progress:unnumbered-random-search"
_WIDTH, _NOISE = "hidden-progress:experiment-5.4-left-B.10", "hidden-progress:experiment-B.12"

_RATES = {"relu": 0.5, "power": 0.01, "polynet": 0.05}


def _times(results: Mapping[str, Any], key: str) -> list[float]:
    """The times of all runs; one that did not converge counts as longer than every other."""
    return with_infinity(results[key]["times"])


def _ninth_tenth(times: list[float]) -> float:
    """The 90 % quantile; between two times and no convergence it is infinite."""
    return float(np.quantile(times, 0.9, method="linear" if all(map(math.isfinite, times)) else "higher"))


def _whole(time: float) -> float:
    """A time as the integer that it is, infinity as it is."""
    return int(time) if math.isfinite(time) else time


def _converged(times: list[float]) -> int:
    return sum(map(math.isfinite, times))


def _cell(kind: str, n: int, k: int, seeds: int) -> dict[str, Any]:
    steps = 20_000
    return {
        "kind": kind, "n": n, "k": k, "width": 100, "batch": 32, "rate": _RATES[kind], "steps": steps,
        "seeds": list(range(seeds)),
    }  # fmt: skip


def _summarise_cells(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers, shares, growing = {}, [], True
    medians: dict[tuple[str, int, int], float] = {}
    for key, cell in settings.items():
        trials, times = len(cell["seeds"]), _times(results, key)
        share = proportion_interval(_converged(times), trials)
        shares.append(share)
        numbers[key] = {"converged": share.as_dict(), "median": float(np.median(times))}
        medians[cell["kind"], cell["n"], cell["k"]] = float(np.median(times))
    for (kind, n, k), median in medians.items():
        for larger in ((kind, n + 10, k), (kind, n, k + 1)):
            growing &= medians.get(larger, math.inf) >= median
    return Findings(
        finite(numbers),
        (
            Criterion(
                _FINDING,
                "in every cell at least 20 % of the trials reach 100 % validation accuracy, with confidence 95 %",
                all(above(share.low, 0.2) for share in shares),
            ),
            Criterion(_CURVES, "the median time grows with n and with k in every architecture", growing),
        ),
    )


CELLS = Experiment(
    name="parity-cells",
    statements=(_FINDING, _CURVES),
    title="Convergence of SGD in sample cells: ReLU and power MLPs of width 100 and PolyNets, B = 32",
    scales={
        "quick": {f"{kind}-n{n}-k2": _cell(kind, n, 2, 12) for kind in _RATES for n in (10, 20)},
        "full": {
            f"{kind}-n{n}-k{k}": _cell(kind, n, k, 25) for kind in _RATES for n in (10, 20, 30) for k in (2, 3, 4)
        },
    },
    work=convergence_times,
    summarise=_summarise_cells,
    slice=("relu-n10-k2", {"seeds": [0, 1, 2]}),
    others=(("power-n20-k2", {"seeds": [12]}), ("polynet-n10-k4", {"seeds": [24]})),
)


def _null(seeds: range, **changes: Any) -> dict[str, Any]:
    return {"n": 30, "k": 3, "width": 100, "batch": 32, "rate": 0.5, "steps": 20_000, "seeds": list(seeds), **changes}


def _summarise_null(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    times = [time for key in settings if key.startswith("free") for time in _times(results, key)]
    runs = sum(len(cell["seeds"]) for key, cell in settings.items() if key.startswith("free"))
    fixed = [np.log(_times(results, key)) for key in settings if key.startswith("start")]
    choices = math.comb(30, 3)
    rejection = stats.kstest(np.array(times) / choices, "expon").pvalue
    every = all(np.isfinite(group).all() for group in fixed)  # the F test cannot hold runs that did not converge
    between = stats.f_oneway(*fixed).pvalue if every else 1.0
    elbow = {cell["n"]: float(np.median(_times(results, key))) for key, cell in settings.items() if "size" in key}
    sizes = sorted(elbow)
    slopes = [math.log(elbow[b] / elbow[a]) / math.log(b / a) if elbow[a] < math.inf else math.nan
              for a, b in pairwise(sizes)]  # fmt: skip
    early = min(times) >= np.median(times) / 2
    return Findings(
        finite({
            "runs": runs, "median time": median_interval(times).as_dict(), "earliest": _whole(min(times)),
            "latest": _whole(max(times)),
            "5 % quantile of random search": -math.log(0.95) * choices, "p, geometric law": float(rejection),
            "p, start does not matter": float(between), "slopes of log time in log n": slopes,
        }),
        (
            Criterion(_TIMES, "no run converges in less than half of the median time", bool(early)),
            Criterion(_TIMES, "the start explains the times (F test over starts, p < 0.001)",
                      below(float(between), 1e-3)),
            Criterion(_TIMES, "the exponent in n is larger at the largest n than at the least",
                      above(slopes[-1], slopes[0])),
            Criterion(_SEARCH, "the geometric law of random search is rejected, p < 10^-6",
                      below(float(rejection), 1e-6)),
            Criterion(_SEARCH, "no run converges in less than half of the median time", bool(early)),
        ),
    )  # fmt: skip


_STARTS = {f"start-{start}": _null(range(5), start=start, width=10, batch=128, rate=0.1) for start in range(6)}

NULL_MODEL = Experiment(
    name="parity-null-model",
    statements=(_TIMES, _SEARCH),
    title="Convergence times at n = 30, k = 3 against random search, and what they depend on",
    scales={
        "quick": {
            "free-0": _null(range(20)),
            **{f"start-{start}": _null(range(4), start=start, width=10, batch=128) for start in range(4)},
            **{f"size-{n}": _null(range(3), n=n) for n in (10, 20, 40)},
        },
        "full": {
            **{f"free-{i}": _null(range(20 * i, 20 * i + 20)) for i in range(10)},
            **_STARTS,
            **{f"size-{n}": _null(range(15), n=n) for n in (10, 20, 40, 80)},
        },
    },
    work=convergence_times,
    summarise=_summarise_null,
    slice=("free-0", {"seeds": [0]}),
    others=(("free-5", {"seeds": [104]}), ("free-9", {"seeds": [199]})),
)


def _wide(width: int, seeds: int, **changes: Any) -> dict[str, Any]:
    return {"n": 30, "k": 3, "width": width, "batch": 128, "rate": 0.1, "steps": 20_000, "seeds": list(range(seeds)),
            **changes}  # fmt: skip


def _summarise_widths(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    times = {cell["width"]: _times(results, key) for key, cell in settings.items()}
    narrow, middle, wide = sorted(times)
    ratio = float(np.median(times[wide])) / float(np.median(times[middle]))
    tails = {width: _ninth_tenth(x) for width, x in times.items()}
    return Findings(
        finite({
            **{f"median at width {width}": median_interval(x).as_dict() for width, x in times.items()},
            "90 % quantiles": {str(width): tail for width, tail in tails.items()},
            "converged": {str(width): _converged(x) for width, x in times.items()},
            "ratio of medians, widest to middle": ratio,
        }),
        (
            Criterion(_WIDTH, "ten times the width at most halves the median (parallel search: a tenth)",
                      above(ratio, 0.5)),
            Criterion(_WIDTH, "the 90 % quantile falls from least to middle width",
                      above(tails[narrow], tails[middle])),
        ),
    )  # fmt: skip


WIDTHS = Experiment(
    name="parity-widths",
    statements=(_WIDTH,),
    title="Width gives no parallel speed-up: n = 30, k = 3, B = 128, widths 10, 100 and 1000",
    scales={
        "quick": {f"width-{width}": _wide(width, 8, rate=0.5, batch=32) for width in (10, 50, 500)},
        "full": {f"width-{width}": _wide(width, 25) for width in (10, 100, 1000)},
    },
    work=convergence_times,
    summarise=_summarise_widths,
    slice=("width-10", {"seeds": [0]}),
    others=(("width-10", {"seeds": [14]}), ("width-100", {"seeds": [24]})),
)


def _noisy(noise: float, seeds: int, n: int, **changes: Any) -> dict[str, Any]:
    return {"n": n, "k": 3, "width": 100, "batch": 128, "rate": 0.1, "steps": 60_000, "noise": noise,
            "seeds": list(range(seeds)), **changes}  # fmt: skip


def _summarise_noise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    rates = sorted(cell["noise"] for cell in settings.values())
    times = {cell["noise"]: _times(results, key) for key, cell in settings.items()}
    medians = [float(np.median(times[rate])) for rate in rates]
    learned = all(map(math.isfinite, (t for x in times.values() for t in x)))
    return Findings(
        finite(
            {
                f"flip rate {rate}": {
                    "median": median,
                    "times (1-2p)": median * (1 - 2 * rate),
                    "runs": _converged(times[rate]),
                }
                for rate, median in zip(rates, medians, strict=True)
            }
        ),
        (
            Criterion(_NOISE, "every run at every flip rate reaches 100 % accuracy on right labels", learned),
            Criterion(_NOISE, "the median time grows with the flip rate", medians == sorted(medians)),
        ),
    )


NOISE = Experiment(
    name="parity-noise",
    statements=(_NOISE,),
    title="Learning from labels that are flipped with probability up to 0.45: n = 30, k = 3, B = 128",
    scales={
        "quick": {f"flips-{p}": _noisy(p, 4, 12, rate=0.5) for p in (0.0, 0.2, 0.4)},
        "full": {f"flips-{p}": _noisy(p, 10, 30) for p in (0.0, 0.1, 0.2, 0.3, 0.4, 0.45)},
    },
    work=convergence_times,
    summarise=_summarise_noise,
    slice=("flips-0.1", {"seeds": [0]}),
    others=(("flips-0.0", {"seeds": [3]}), ("flips-0.2", {"seeds": [9]})),
)
