"""Experiments on the course of training: progress that the loss hides, late generalisation, and no plateau."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from lemmata.numerics.runs.comparison import FIFTH_DIGIT, above, below
from lemmata.numerics.runs.confidence import mean_interval, median_interval, proportion_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.training import courses

__all__ = ["GROKKING", "NO_PLATEAU", "PROGRESS"]

_HIDDEN, _MEASURE = "hidden-progress:experiment-5.3", "hidden-progress:definition-progress-measure"
_GROKKING, _POWERS = "hidden-progress:experiment-5.4-right-B.11", "hidden-progress:experiment-B.13"


def _runs(settings: Mapping[str, Any], results: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    return [run for key in settings if key.startswith(kind) for run in results[key]["runs"]]


def _at(run: Mapping[str, Any], step: float, name: str) -> float:
    """The record at the last kept check not after ``step`` (the first one if there is none)."""
    index = max(0, int(np.searchsorted(run["steps"], step, side="right")) - 1)
    return float(run[name][index])


def _course(seeds: range, **changes: Any) -> dict[str, Any]:
    return {"n": 50, "k": 3, "width": 100, "batch": 32, "rate": 0.5, "steps": 5000, "seeds": list(seeds), **changes}


def _summarise_progress(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    signal = [run for run in _runs(settings, results, "signal") if run["converged"] is not None]
    noise = _runs(settings, results, "noise")
    median = float(np.median([run["converged"] for run in signal]))
    flat, moved = [], []
    for run in signal:
        before = [i for i, accuracy in enumerate(run["accuracy"]) if accuracy < 0.55]
        last = before[-1] if before else 0
        flat.append(run["steps"][last] / run["converged"])
        moved.append(run["relevant_move"][last] / run["irrelevant_move"][last])
    early = 0.6 * median
    early_runs = [run for run in signal if run["converged"] > early]
    rank, rank_p = _spearman(
        [_at(run, early, "relevant_move") for run in early_runs], [run["converged"] - early for run in early_runs]
    )
    norms = [
        [max(_at(run, early, "relevant_move"), _at(run, early, "irrelevant_move")) for run in runs]
        for runs in (signal, noise)
    ]
    apart = float(stats.mannwhitneyu(norms[0], norms[1], alternative="greater").pvalue)
    ratio = median_interval(moved)
    return Findings(
        {
            "runs": len(signal), "runs on noise": len(noise), "median time": median,
            "share of the time below 55 % accuracy": median_interval(flat).as_dict(),
            "relevant to irrelevant move at the end of the plateau": ratio.as_dict(),
            "rank correlation of the relevant move with the remaining time": rank,
            "p of the rank correlation": rank_p, "p, movement on signal against noise": apart,
        },
        (
            Criterion(_HIDDEN, "below 55 % accuracy for 60 % of its time (median)",
                      above(float(np.median(flat)), 0.6)),
            Criterion(_HIDDEN, "when it leaves, the relevant weights have moved further (median, 95 %)",
                      above(ratio.low, 1)),
            Criterion(_HIDDEN, "at 60 % of the time |W_t - W_0|_inf is larger on signal than on noise, p < 0.001",
                      below(apart, 1e-3)),
            Criterion(_MEASURE, "at 60 % of the median time the relevant move predicts the time left, p < 0.01",
                      below(rank_p, 0.01) and below(rank, 0)),
        ),
    )  # fmt: skip


def _spearman(x: list[float], y: list[float]) -> tuple[float, float]:
    """The rank correlation and its p-value."""
    result: Any = stats.spearmanr(x, y)
    return float(result.statistic), float(result.pvalue)


PROGRESS = Experiment(
    name="parity-progress",
    statements=(_HIDDEN, _MEASURE),
    title="Hidden progress: weights move while the accuracy is flat, n = 50, k = 3, width 100, B = 32",
    scales={
        "quick": {"signal-0": _course(range(16), n=30), "noise-0": _course(range(8), n=30, noise=0.5, steps=600)},
        "full": {
            **{f"signal-{i}": _course(range(10 * i, 10 * i + 10)) for i in range(4)},
            **{f"noise-{i}": _course(range(10 * i, 10 * i + 10), noise=0.5, steps=1000) for i in range(2)},
        },
    },
    work=courses,
    summarise=_summarise_progress,
    slice=("signal-0", {"seeds": [0], "steps": [10, 40, 70, 100]}),
    others=(
        ("noise-1", {"seeds": [14], "steps": [10, 40, 70, 100]}),
        ("signal-3", {"seeds": [39], "steps": [10, 30, 50, 70]}),
    ),
    rounding=FIFTH_DIGIT,  # the beginning of a course: see the head of `training`
)


def _finite(sample: int, seeds: int, **changes: Any) -> dict[str, Any]:
    return {
        "n": 30, "k": 3, "width": 100, "batch": 32, "rate": 0.1, "steps": 30_000, "sample": sample, "decay": 0.003,
        "check_every": 100, "seeds": list(range(seeds)), **changes,
    }  # fmt: skip


def _first(run: Mapping[str, Any], name: str, level: float) -> float:
    reached = [step for step, value in zip(run["steps"], run[name], strict=True) if value >= level]
    return float(reached[0]) if reached else float("inf")


def _summarise_grokking(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers, shares = {}, {}
    for key, cell in settings.items():
        runs = results[key]["runs"]
        train = [_first(run, "train_accuracy", 0.99) for run in runs]
        test = [_first(run, "accuracy", 0.99) for run in runs]
        gaps = [b / a for a, b in zip(train, test, strict=True)]
        shares[cell["sample"]] = {
            "generalises": sum(np.isfinite(test)), "late": sum(np.isfinite(gap) and gap >= 2 for gap in gaps),
            "fits": sum(np.isfinite(train)), "runs": len(runs),
        }  # fmt: skip
        numbers[key] = {
            "fits the sample": proportion_interval(int(shares[cell["sample"]]["fits"]), len(runs)).as_dict(),
            "generalises": proportion_interval(int(shares[cell["sample"]]["generalises"]), len(runs)).as_dict(),
            "test time over training time": [float(gap) if np.isfinite(gap) else None for gap in gaps],
        }
    small, middle, large = (shares[size] for size in sorted(shares))
    return Findings(
        numbers,
        (
            Criterion(_GROKKING, "the smallest sample is fitted in every run and generalises in none",
                      small["fits"] == small["runs"] and small["generalises"] == 0),
            Criterion(_GROKKING, "from the middle sample most runs generalise, at twice the training time or later",
                      middle["late"] > middle["runs"] / 2),
            Criterion(_GROKKING, "from the largest sample every run generalises, none of them that late",
                      large["generalises"] == large["runs"] and large["late"] == 0),
        ),
    )  # fmt: skip


GROKKING = Experiment(
    name="parity-grokking",
    statements=(_GROKKING,),
    title="Finite samples: overfitting, late generalisation and learning, n = 30, k = 3, weight decay 0.003",
    scales={
        "quick": {f"sample-{m}": _finite(m, 4, n=20, k=2, steps=8000, width=50, decay=0.01) for m in (30, 110, 1000)},
        "full": {f"sample-{m}": _finite(m, 10) for m in (300, 700, 4000)},
    },
    work=courses,
    summarise=_summarise_grokking,
    slice=("sample-4000", {"seeds": [0], "steps": [100]}),
    others=(("sample-700", {"seeds": [5], "steps": [100]}), ("sample-300", {"seeds": [9], "steps": [100]})),
    rounding=FIFTH_DIGIT,  # the beginning of a course: see the head of `training`
)


def _summarise_powers(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    """Intervals over networks: the validation inputs of one network are no independent trials of networks."""
    early = {
        kind: [_at(run, settings[f"{kind}-0"]["steps"] / 2, "accuracy") for run in _runs(settings, results, kind)]
        for kind in ("power", "relu")
    }
    power, relu = (mean_interval(early[kind]) for kind in ("power", "relu"))
    return Findings(
        {"power, half-way": power.as_dict(), "relu, half-way": relu.as_dict(), "networks of each": len(early["power"])},
        (
            Criterion(_POWERS, "half-way the power network is above 51 % accuracy (95 %)", above(power.low, 0.51)),
            Criterion(_POWERS, "and above the ReLU network, whose interval holds 50 % or lies below 51 %",
                      below(relu.low, 0.51) and above(power.low, relu.high)),
        ),
    )  # fmt: skip


def _steep(kind: str, width: int, batch: int, n: int, steps: int, seeds: int) -> dict[str, Any]:
    return {
        "kind": kind, "n": n, "k": 3, "width": width, "batch": batch, "rate": 0.01 if kind == "power" else 0.1,
        "steps": steps, "seeds": list(range(seeds)), "validation": 2**13,
    }  # fmt: skip


NO_PLATEAU = Experiment(
    name="parity-no-plateau",
    statements=(_POWERS,),
    title="Wide networks with activation z^k improve from the start: n = 50, k = 3, width 1000, B = 1024",
    scales={
        "quick": {f"{kind}-0": _steep(kind, 200, 256, 20, 200, 5) for kind in ("power", "relu")},
        "full": {f"{kind}-0": _steep(kind, 1000, 1024, 50, 300, 5) for kind in ("power", "relu")},
    },
    work=courses,
    summarise=_summarise_powers,
    slice=("relu-0", {"seeds": [0, 2, 4], "steps": 20}),
    rounding=FIFTH_DIGIT,  # the beginning of a course: see the head of `training`
)
