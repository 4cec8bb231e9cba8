"""Experiments on families of training curves: rows 1 and 2 of figure B.2, and times against n for figure B.6."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import FIFTH_DIGIT, above, below
from lemmata.numerics.runs.confidence import median_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.training import convergence_times, courses

__all__ = ["CURVES", "SCALING"]

_CURVES, _SCALING = "hidden-progress:experiment-B.2", "hidden-progress:experiment-B.6"


def _mlp(n: int, k: int, seeds: int, **changes: Any) -> dict[str, Any]:
    return {"n": n, "k": k, "width": 100, "batch": 32, "rate": 0.1, "steps": 60_000, "check_every": 50,
            "seeds": list(range(seeds)), **changes}  # fmt: skip


def _product(batch: int, rate: float, seeds: int) -> dict[str, Any]:
    return {"kind": "polynet", "n": 50, "k": 3, "width": 3, "batch": batch, "rate": rate, "steps": 60_000,
            "seeds": list(range(seeds))}  # fmt: skip


def _summarise_curves(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers, converged, flat = {}, [], []
    for key in settings:
        runs = results[key]["runs"]
        done = [run for run in runs if run["converged"] is not None]
        shares = []
        for run in done:
            below = [step for step, a in zip(run["steps"], run["accuracy"], strict=True) if a < 0.55]
            shares.append(max(below, default=0) / run["converged"])
        converged.append(len(done) == len(runs))
        flat.append(bool(shares) and above(float(np.median(shares)), 0.4))
        numbers[key] = {
            "times": [run["converged"] for run in runs],
            "share of the time below 55 %": float(f"{np.median(shares):.3g}") if shares else None,
        }
    return Findings(
        numbers,
        (
            Criterion(_CURVES, "rows 1 and 2: every run reaches 100 % accuracy", all(converged)),
            Criterion(_CURVES, "rows 1 and 2: the median run of each is below 55 % for 40 % of its time", all(flat)),
            Criterion(_CURVES, "rows 3 and 4 were run as well", any("row-3" in key for key in settings)),
        ),
    )


_ROW_1 = ((30, 3), (60, 3), (90, 3), (30, 4), (30, 5), (30, 6))
_ROW_2 = ((1, 0.005), (4, 0.01), (16, 0.1), (64, 0.1), (256, 0.1), (1024, 0.1))

CURVES = Experiment(
    name="parity-curves",
    statements=(_CURVES,),
    title="Training curves: ReLU MLPs of width 100 at six (n, k), PolyNets (n = 50, k = 3) at six batch sizes",
    scales={
        "quick": {"row-1-n20-k2": _mlp(20, 2, 2, rate=0.5, check_every=10), "row-2-b16": _product(16, 0.1, 2)},
        "full": {
            **{f"row-1-n{n}-k{k}": _mlp(n, k, 3) for n, k in _ROW_1},
            **{f"row-2-b{batch}": _product(batch, rate, 3) for batch, rate in _ROW_2},
        },
    },
    work=courses,
    summarise=_summarise_curves,
    slice=("row-1-n30-k3", {"seeds": [0], "steps": [50, 100]}),
    others=(("row-2-b16", {"seeds": [1], "steps": [10, 20]}), ("row-1-n30-k4", {"seeds": [2], "steps": [50, 100]})),
    rounding=FIFTH_DIGIT,  # the beginning of a course: see the head of `training`
)


def _scaled(kind: str, n: int, k: int, seeds: int) -> dict[str, Any]:
    rate = {"relu": 1.0, "power": 0.01, "polynet": 0.05}[kind]
    return {"kind": kind, "n": n, "k": k, "width": 100, "batch": 32, "rate": rate, "steps": 30_000,
            "seeds": list(range(seeds))}  # fmt: skip


def _summarise_scaling(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    medians: dict[tuple[str, int], list[tuple[int, float]]] = {}
    numbers: dict[str, Any] = {}
    for key, cell in settings.items():
        times = [math.inf if time is None else float(time) for time in results[key]["times"]]
        median = float(np.median(times))
        medians.setdefault((cell["kind"], cell["k"]), []).append((cell["n"], median))
        finite = all(math.isfinite(time) for time in times)
        numbers[key] = median_interval(times).as_dict() if finite else {"converged": sum(map(math.isfinite, times))}
    growing, exponents = True, {}
    for (kind, k), points in medians.items():
        points.sort()
        growing &= all(a[1] <= b[1] for a, b in pairwise(points))
        (n0, t0), (n1, t1) = points[0], points[-1]
        exponents[kind, k] = math.log(t1 / t0) / math.log(n1 / n0) if math.isfinite(t1) else None
        numbers[f"{kind}-k{k}: exponent from n = {n0} to {n1}"] = exponents[kind, k]
    known = {case: value for case, value in exponents.items() if value is not None}
    ordered = all(below(value, known.get((kind, k + 1), math.inf)) for (kind, k), value in known.items())
    return Findings(
        numbers,
        (
            Criterion(_SCALING, "the median time grows with n for every architecture and k", growing),
            Criterion(_SCALING, "the exponent of n grows with k for every architecture", ordered),
            Criterion(_SCALING, "all architectures of the figure were run", len({kind for kind, _ in medians}) >= 8),
        ),
    )


SCALING = Experiment(
    name="parity-scaling",
    statements=(_SCALING,),
    title="Median convergence times for n = 10 to 40, k = 2 to 4: ReLU and z^k MLPs of width 100, PolyNets, B = 32",
    scales={
        "quick": {f"relu-n{n}-k2": _scaled("relu", n, 2, 7) for n in (10, 20)},
        "full": {
            f"{kind}-n{n}-k{k}": _scaled(kind, n, k, 11)
            for kind in ("relu", "power", "polynet")
            for n in (10, 20, 40)
            for k in (2, 3, 4)
        },
    },
    work=convergence_times,
    summarise=_summarise_scaling,
    slice=("relu-n10-k2", {"seeds": [0, 1, 2]}),
    others=(("power-n20-k2", {"seeds": [5]}), ("polynet-n10-k4", {"seeds": [10]})),
)
