"""Sparse against dense starts of wide networks at the frontier: more runs than a cell of the sweep has, fresh seeds.

The sweep (`sweep`) leaves the effect of 2-sparse rows undecided at its level (p = 0.001 over its widths, 10 to 300).
The text claims it for wide networks; this experiment asks for these alone, and was written down after the sweep.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import below
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.runs.trends import trend_test
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.pareto_frontiers.experiments.sweep import Cell, cell_settings, cells, times

__all__ = ["SPARSE_STARTS"]

_ZOOM = "pareto-frontiers:figure-6.2"


def _early(pair: Sequence[Cell]) -> list[tuple[float, int, int]]:
    """The two starts of a stratum with the numbers of runs that are done before the median time of both."""
    middle = float(np.median([time for cell in pair for time in cell.test]))
    return [
        (float(cell.sparse), sum(time < middle and math.isfinite(time) for time in cell.test), len(cell.test))
        for cell in pair
    ]


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    found = cells(settings, results)
    strata: dict[tuple[int, int], list[Cell]] = {}
    for cell in found:
        strata.setdefault((cell.n, cell.width), []).append(cell)
    success = trend_test([(float(c.sparse), c.successes, len(c.test)) for c in pair] for pair in strata.values())
    early = trend_test(map(_early, strata.values()))
    return Findings(
        {
            "z, success": float(f"{success.z:.4g}"),
            "z, times": float(f"{early.z:.4g}"),
            "success": {key: proportion_interval(cell.successes, len(cell.test)).as_dict()
                        for key, cell in zip(settings, found, strict=True)},
        },
        (
            Criterion(_ZOOM, "success rises with 2-sparse rows, over the strata (n, width), p < 0.001",
                      below(success.rising, 1e-3)),
            Criterion(_ZOOM, "more of the runs with 2-sparse rows are done before the median time of their stratum, "
                      "p < 0.001", below(early.rising, 1e-3)),
        ),
    )  # fmt: skip


SPARSE_STARTS = Experiment(
    name="sparse-starts",
    statements=(_ZOOM,),
    title="2-sparse against uniform starts at the frontier: k = 3, (n, m) = (20, 200) and (50, 1000), widths 100, 300",
    scales={
        "quick": {
            f"n20-r{width}-{init}": cell_settings(20, 200, width, init, range(200, 208), 12_000)
            for width in (100,)
            for init in ("uniform", "sparse")
        },
        "full": {
            f"n{n}-r{width}-{init}": cell_settings(n, sample, width, init, range(200, 240), steps)
            for n, sample, steps in ((20, 200, 30_000), (50, 1000, 50_000))
            for width in (100, 300)
            for init in ("uniform", "sparse")
        },
    },
    work=times,
    summarise=_summarise,
    slice=("n20-r100-sparse", {"seeds": [200, 201]}),
    others=(("n20-r100-uniform", {"seeds": [220]}), ("n20-r300-sparse", {"seeds": [239]})),
)
