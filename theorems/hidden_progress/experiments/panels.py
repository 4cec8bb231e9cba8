"""Families of curves and of exponents: figures 5.1 (left), B.2 and B.6 for all settings but the transformer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import Interval, median_interval, proportion_interval
from lemmata.numerics.runs.waiting_times import exponent_interval, with_infinity
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.runs import cells, curves, finite

__all__ = ["EXPONENTS", "LEFT", "ROWS", "curve_numbers", "summarise_left"]

_LEFT, _ROWS, _SCALING = (f"hidden-progress:experiment-{name}" for name in ("5.1", "B.2", "B.6"))


def _curve(
    setting: str, batch: int, rate: float, seeds: int, n: int = 50, k: int = 3, **changes: Any
) -> dict[str, Any]:
    return {"setting": setting, "n": n, "k": k, "batch": batch, "rate": rate, "steps": 100_000, "recorded": 1024,
            "seeds": list(range(seeds)), **changes}  # fmt: skip


def _times(result: Mapping[str, Any]) -> list[float]:
    return with_infinity([run["converged"] for run in result["runs"]])


def _flat(result: Mapping[str, Any]) -> list[float]:
    """The share of its time that each converged run spends below 55 % accuracy."""
    return [run["below 55"] / run["converged"] for run in result["runs"] if run["converged"] is not None]


def _sudden(result: Mapping[str, Any]) -> bool:
    """Whether the median converged run is longer below 60 % accuracy than it then takes to 90 %."""
    ratios = [(run["from 90"] - run["below 60"]) / max(run["below 60"], 1) for run in result["runs"]
              if run["converged"] is not None and run["from 90"] is not None]  # fmt: skip
    return bool(ratios) and below(float(np.median(ratios)), 1)


def curve_numbers(result: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of the runs of one setting: the share that converges, the median time, the plateau and the drop."""
    times, flat = _times(result), _flat(result)
    done = sum(map(math.isfinite, times))
    return {
        "converged": proportion_interval(done, len(times)).as_dict(), "median": float(np.median(times)),
        "share of the time below 55 %": float(f"{np.median(flat):.3g}") if flat else None, "sudden": _sudden(result),
    }  # fmt: skip


_EIGHT = {"i-b32": ("i", 32, 0.5), "i-b1024": ("i", 1024, 0.05), "ii-b1": ("ii", 1, 0.05), "iv": ("iv", 32, 0.05),
          "vii": ("vii", 32, 0.2), "x": ("x", 32, 0.05), "xv": ("xv", 32, 0.07)}  # fmt: skip


def summarise_left(
    settings: Mapping[str, Any], results: Mapping[str, Any], which: str = "each of the seven settings"
) -> Findings:
    """Times and plateaus of curves at (50, 3), and the two criteria of figure 5.1 on the left, for settings named."""
    done = {key: sum(map(math.isfinite, _times(results[key]))) for key in settings}
    return Findings(
        finite({key: curve_numbers(results[key]) for key in settings}),
        (
            Criterion(_LEFT, f"{which} solves (50, 3): the share of runs is above 20 % with 95 %",
                      all(above(proportion_interval(done[key], len(_times(results[key]))).low, 0.2)
                          for key in settings)),
            Criterion(_LEFT, "phase transitions: in each the median run is longer below 60 % accuracy than it then "
                      "takes to 90 %", all(_sudden(results[key]) for key in settings)),
        ),
    )  # fmt: skip


LEFT = Experiment(
    name="parity-eight-curves",
    statements=(_LEFT,),
    title="Training curves at n = 50, k = 3 in the settings of figure 5.1, the transformer left out",
    scales={
        "quick": {
            "vii": _curve("vii", 32, 0.1, 7, 12, recorded=256),
            "xv": _curve("xv", 32, 0.07, 7, 12, recorded=256),
        },
        "full": {key: _curve(*values, 10) for key, values in _EIGHT.items()},
    },
    work=curves,
    summarise=summarise_left,
    slice=("xv", {"seeds": [0, 1]}),
    others=(("i-b32", {"seeds": [5]}), ("xv", {"seeds": [9]})),
)


def _spread(times: list[float]) -> float:
    """The quotient of the 90 % and the 10 % quantile; infinity if a tenth of the runs did not converge."""
    low, high = np.quantile(times, (0.1, 0.9), method="higher")
    return float(high / low) if math.isfinite(low) else math.inf


def _all(results: Mapping[str, Any], keys: list[str]) -> bool:
    return bool(keys) and all(math.isfinite(t) for key in keys for t in _times(results[key]))


def _summarise_rows(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    rows = {row: [key for key in settings if key.startswith(f"row-{row}")] for row in (1, 2, 3, 4)}
    numbers = {key: curve_numbers(results[key]) for key in settings}
    medians = {key: numbers[key]["median"] for key in settings}
    chains = [[f"row-1-n{n}-k3" for n in (30, 60, 90)], [f"row-1-n30-k{k}" for k in (3, 4, 5, 6)]]
    adapts = all(key in medians for chain in chains for key in chain) and all(
        medians[a] < medians[b] for chain in chains for a, b in pairwise(chain)
    )
    spreads = {settings[key]["batch"]: _spread(_times(results[key])) for key in rows[2]}
    middle = [spreads[batch] for batch in spreads if batch not in (1, 1024)]
    shares = {key: proportion_interval(sum(map(math.isfinite, _times(results[key]))), len(_times(results[key])))
              for key in (*rows[2], *rows[3])}  # fmt: skip
    wide, steep = "row-4-iii-b1024", "row-4-vi-b1024"
    sharp = {key: numbers[key]["share of the time below 55 %"] for key in (wide, steep) if key in numbers}
    return Findings(
        finite(numbers | {"row 2: 90 % by 10 % quantile": {str(batch): x for batch, x in spreads.items()}}),
        (
            Criterion(_ROWS, "row 1: every run converges, and the median grows with n at k = 3 and with k at n = 30",
                      _all(results, rows[1]) and adapts),
            Criterion(_ROWS, "row 2: at every batch size the share of runs that converge is above 20 % with 95 %",
                      bool(rows[2]) and all(above(shares[key].low, 0.2) for key in rows[2])),
            Criterion(_ROWS, "row 2: the times spread more (90 % by 10 % quantile) at B = 1 than at B = 4 to 256",
                      bool(middle) and spreads.get(1, 0) > max(middle)),
            Criterion(_ROWS, "row 2: the times spread more (90 % by 10 % quantile) at B = 1024 than at B = 4 to 256",
                      bool(middle) and spreads.get(1024, 0) > max(middle)),
            Criterion(_ROWS, "row 3: in each setting the share of runs that converge is above 20 % with 95 %",
                      bool(rows[3]) and all(above(shares[key].low, 0.2) for key in rows[3])),
            Criterion(_ROWS, "row 3: in one or more settings some runs fail",
                      any(shares[key].estimate < 1 for key in rows[3])),
            Criterion(_ROWS, "row 4: (iii) and (vi) converge in every run at B = 1 and at B = 1024",
                      _all(results, rows[4])),
            Criterion(_ROWS, "row 4: at B = 1024 (vi) is below 55 % for under 10 % of its time, (iii) for over 30 %",
                      len(sharp) == 2 and None not in sharp.values() and below(sharp[steep], 0.1)
                      and above(sharp[wide], 0.3)),
        ),
    )  # fmt: skip


_ROW_1 = ((30, 3), (60, 3), (90, 3), (30, 4), (30, 5), (30, 6))
_ROW_2 = ((1, 0.005), (4, 0.01), (16, 0.1), (64, 0.1), (256, 0.1), (1024, 0.1))
_ROW_3 = (("*i", 0.1), ("*ii", 0.01), ("vii", 0.1), ("viii", 0.1), ("xi", 0.1), ("xii", 0.1))
_ROW_4 = (("iii", 1, 0.1), ("iii", 1024, 0.1), ("vi", 1, 0.001), ("vi", 1024, 0.01))

ROWS = Experiment(
    name="parity-four-rows",
    statements=(_ROWS,),
    title="The four rows of figure B.2, the transformer left out",
    scales={
        "quick": {
            "row-2-b16": _curve("xv", 16, 0.1, 6, 12, recorded=256),
            "row-3-vii": _curve("vii", 1, 0.1, 6, 8, 2, recorded=256, steps=5000),
        },
        "full": {
            **{f"row-1-n{n}-k{k}": _curve("ii", 32, 0.1, 5, n, k, check_every=50) for n, k in _ROW_1},
            **{f"row-2-b{batch}": _curve("xv", batch, rate, 25) for batch, rate in _ROW_2},
            **{f"row-3-{name.replace('*', 'least-')}": _curve(name, 1, rate, 40, check_every=50)
               for name, rate in _ROW_3},
            **{f"row-4-{name}-b{batch}": _curve(name, batch, rate, 3, check_every=20) for name, batch, rate in _ROW_4},
        },
    },
    work=curves,
    summarise=_summarise_rows,
    slice=("row-2-b16", {"seeds": [0, 1]}),
    others=(("row-2-b64", {"seeds": [20]}), ("row-3-xi", {"seeds": [39]})),
)  # fmt: skip


_PANELS = {"i": 1.0, "ii": 1.0, "iii": 1.0, "iv": 0.01, "v": 0.01, "vi": 0.01, "viii": 0.01, "xiv": 0.01, "xv": 0.05}
_SMALL, _LARGE = (10, 14, 20), (40, 60, 80)
_WIDE = ("iii", "vi")


def _sized(setting: str, n: int, k: int, seeds: int) -> dict[str, Any]:
    return {"setting": setting, "n": n, "k": k, "batch": 32, "rate": _PANELS[setting], "steps": 100_000,
            "seeds": list(range(seeds))}  # fmt: skip


def _exponent(settings: Mapping[str, Any], results: Mapping[str, Any], setting: str, k: int,
              sizes: tuple[int, ...]) -> Interval | None:  # fmt: skip
    """The exponent of the medians over some sizes, with an interval over runs; None where half of the runs fail."""
    runs: dict[float, Any] = {
        n: results[key]["tried"][0]["times"] for n in sizes if (key := f"{setting}-k{k}-n{n}") in settings
    }
    if len(runs) < len(sizes) or any(not math.isfinite(sorted(with_infinity(x))[len(x) // 2]) for x in runs.values()):
        return None
    return exponent_interval(runs, np.random.default_rng(5))


def _summarise_exponents(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    small = {(name, k): found for name in _PANELS for k in (2, 3, 4)
             if (found := _exponent(settings, results, name, k, _SMALL))}  # fmt: skip
    large = {(name, k): found for name in ("ii", "v") for k in (2, 3)
             if (found := _exponent(settings, results, name, k, _LARGE))}  # fmt: skip
    names = sorted({cell["setting"] for cell in settings.values()})
    stopped = [key for key in settings if not math.isfinite(float(np.median(_cell_times(results, key))))]
    growing = [
        all(
            (name, k) in small
            and (name, k + 1) in small
            and below(small[name, k].estimate, small[name, k + 1].estimate)
            for k in (2, 3)
        )
        for name in names
    ]
    return Findings(
        finite({
            **{f"({name}) k = {k}: exponent, n = 10 to 20": found.as_dict() for (name, k), found in small.items()},
            **{f"({name}) k = {k}: exponent, n = 40 to 80": found.as_dict() for (name, k), found in large.items()},
            "median times": {key: _median(_cell_times(results, key)) for key in settings},
            "half of the runs fail": stopped,
        }),
        (
            Criterion(_SCALING, "alpha is small: the exponent of n is below k with 95 % in every setting, n = 10 to 20",
                      all((name, k) in small and below(small[name, k].high, k) for name in names for k in (2, 3, 4))),
            Criterion(_SCALING, "the exponent grows with k = 2, 3, 4 in every setting", all(growing)),
            Criterion(_SCALING, "a power law: the median at n = 14 is within a factor 1.5 of the line from 10 to 20",
                      all(_straight(settings, results, name, k) for name in names for k in (2, 3, 4))),
            Criterion(_SCALING, "(ii), (v), k = 2, 3: the exponent for n = 40 to 80 is larger, with disjoint intervals",
                      len(large) == 4
                      and all(above(large[case].low, small[case].high) for case in large if case in small)),
        ),
    )  # fmt: skip


def _cell_times(results: Mapping[str, Any], key: str) -> list[float]:
    return with_infinity(results[key]["tried"][0]["times"])


def _median(times: list[float]) -> dict[str, Any]:
    return median_interval(times).as_dict() if len(times) >= 6 else {"estimate": float(np.median(times))}


def _straight(settings: Mapping[str, Any], results: Mapping[str, Any], name: str, k: int) -> bool:
    keys = [f"{name}-k{k}-n{n}" for n in _SMALL]
    if not all(key in settings for key in keys):
        return False
    first, middle, last = (float(np.median(_cell_times(results, key))) for key in keys)
    if not math.isfinite(first + middle + last):
        return False
    line = math.log(first) + math.log(last / first) * math.log(_SMALL[1] / _SMALL[0]) / math.log(_SMALL[2] / _SMALL[0])
    return below(abs(math.log(middle) - line), math.log(1.5))


EXPONENTS = Experiment(
    name="parity-exponents",
    statements=(_SCALING,),
    title="Exponents of the median times in n for nine settings of figure B.6, k = 2, 3, 4, and for larger n in two",
    scales={
        "quick": {f"{name}-k{k}-n{n}": _sized(name, n, k, 9) for name in ("xv",) for k in (2, 3) for n in _SMALL},
        "full": {
            **{f"{name}-k{k}-n{n}": _sized(name, n, k, 7 if name in _WIDE else 21)
               for name in _PANELS for k in (2, 3, 4) for n in _SMALL},
            **{f"{name}-k{k}-n{n}": _sized(name, n, k, 15) for name in ("ii", "v") for k in (2, 3) for n in _LARGE},
        },
    },
    work=cells,
    summarise=_summarise_exponents,
    slice=("xv-k2-n10", {"seeds": [0, 1, 2]}),
    others=(("ii-k2-n40", {"seeds": [10]}), ("i-k2-n10", {"seeds": [20]})),
)  # fmt: skip
