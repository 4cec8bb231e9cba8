"""A second attempt at one claim of figure B.12: that small batches with much label noise take much longer.

The first, `parity-label-noise`, compared 5 runs with B = 32 to 5 with B = 256 at the flip rate 0.45: the medians
differed as claimed, but not the ranks (p = 0.19). Here are 20 fresh runs of each, and the cells with less signal: B = 8
at that rate, and B = 32 at 0.49.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import below
from lemmata.numerics.runs.ranks import rank_correlation
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.relu_networks import flipped_labels, noisy_runs

__all__ = ["FLIPS_AGAIN"]

_NOISE = "hidden-progress:experiment-B.12"


def _times(results: Mapping[str, Any], key: str) -> list[float]:
    """The first checks with an accuracy of 90 %, infinity where there is none."""
    return [math.inf if run[1] is None else float(run[1]) for run in results[key]["runs"]]


def _slower(small: list[float], large: list[float]) -> float:
    """The probability of ranks that speak so clearly for a longer time of the first runs, if the batch is no matter."""
    return rank_correlation([0.0] * len(small) + [1.0] * len(large), small + large).falling


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    times = {key: _times(results, key) for key in settings}
    tests = {
        "B = 32 against 256 at the higher rate": _slower(times["small-high"], times["large-high"]),
        "least B against 256 at that rate": _slower(times["least-high"], times["large-high"]),
        "B = 32 against 256 at the highest rate": _slower(times["small-highest"], times["large-highest"]),
    }
    medians = {key: float(np.sort(x)[(len(x) - 1) // 2]) for key, x in times.items()}
    return Findings(
        {
            "median time to 90 % accuracy": {k: None if math.isinf(m) else m for k, m in medians.items()},
            "reached": {key: [sum(map(math.isfinite, x)), len(x)] for key, x in times.items()}, "p": tests,
        },
        (
            Criterion(_NOISE, "smaller batches take longer in each of three comparisons (ranks, p < 0.01)",
                      all(below(p, 0.01) for p in tests.values())),
            Criterion(_NOISE, "without convergence counted as the longest, the least B with the higher rate takes ten "
                      "times as long as B = 256 without noise", medians["least-high"] >= 10 * medians["large-none"]),
        ),
    )  # fmt: skip


def _cells(high: float, highest: float, seeds: int, fewer: int, **changes: Any) -> dict[str, Any]:
    cells = {
        "large-none": (0.0, 256, seeds), "least-high": (high, 8, seeds), "small-high": (high, 32, seeds),
        "large-high": (high, 256, seeds), "small-highest": (highest, 32, fewer), "large-highest": (highest, 256, fewer),
    }  # fmt: skip
    return {
        key: {**flipped_labels(p, b, **changes), "seeds": list(range(7100, 7100 + n))}
        for key, (p, b, n) in cells.items()
    }


FLIPS_AGAIN = Experiment(
    name="parity-label-noise-again",
    statements=(_NOISE,),
    title="Label noise with small batches, a second attempt: B = 8, 32, 256 at flip rates 0.45 and 0.49, (30, 3)",
    scales={"quick": _cells(0.4, 0.45, 6, 6, n=12, width=30, steps=20_000), "full": _cells(0.45, 0.49, 20, 6)},
    work=noisy_runs,
    summarise=_summarise,
    slice=("small-high", {"seeds": [7100]}),
    others=(("large-none", {"seeds": [7110]}), ("small-high", {"seeds": [7119]})),
)
