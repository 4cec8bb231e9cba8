"""How fast wide networks descend from the start (figure B.13): activation z^k against ReLU, widths and batch sizes.

The rate of descent is the slope of a line through the validation accuracy over the first 500 steps, which leaves out
what happens once a network has learned. Runs of one seed and width start alike, whatever their batch size.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import FIFTH_DIGIT, above, below
from lemmata.numerics.runs.confidence import mean_interval, median_interval
from lemmata.numerics.runs.ranks import rank_correlation
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.hidden_progress.experiments.training import courses

__all__ = ["DESCENT"]

_POWERS = "hidden-progress:experiment-B.13"


def _early(kind: str, width: int, batch: int, seeds: int = 6, **changes: Any) -> dict[str, Any]:
    return {
        "kind": kind, "n": 50, "k": 3, "width": width, "batch": batch, "rate": 0.01 if kind == "power" else 0.1,
        "steps": 500, "check_every": 50, "seeds": list(range(8000, 8000 + seeds)), "validation": 2**13, **changes,
    }  # fmt: skip


def _slope(run: Mapping[str, Any], until: int) -> float:
    """The accuracy gained in 100 steps, by a line through the checks up to a step and the value 1/2 at the start."""
    checks = [(step, a) for step, a in zip(run["steps"], run["accuracy"], strict=True) if step <= until]
    steps, accuracy = np.array([(0, 0.5), *checks]).T
    centred = steps - steps.mean()
    return 100 * float(centred @ accuracy / (centred @ centred))


def _at(run: Mapping[str, Any], step: int) -> float:
    return float(run["accuracy"][run["steps"].index(step)])


def _flat_share(run: Mapping[str, Any]) -> float:
    """The share of the time to an accuracy of 99 % (or to the end) before it is above 55 % for good."""
    done = next((step for step, a in zip(run["steps"], run["accuracy"], strict=True) if a >= 0.99), run["steps"][-1])
    below = [step for step, a in zip(run["steps"], run["accuracy"], strict=True) if a < 0.55 and step < done]
    return max(below, default=0) / done


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    early = {(cell["kind"], cell["width"], cell["batch"]): results[key]["runs"]
             for key, cell in settings.items() if not key.startswith("course")}  # fmt: skip
    until = max(cell["steps"] for key, cell in settings.items() if not key.startswith("course"))
    whole = {cell["kind"]: results[key]["runs"] for key, cell in settings.items() if key.startswith("course")}
    power = {(width, batch): runs for (kind, width, batch), runs in early.items() if kind == "power"}
    widths, batches = sorted({width for width, _ in power}), sorted({batch for _, batch in power})
    wide, large = widths[-1], batches[-1]
    power[wide, large] = whole["power"]
    slopes = {case: [_slope(run, until) for run in runs] for case, runs in power.items()}
    by_width = rank_correlation([w for w in widths for _ in slopes[w, large]],
                                [s for w in widths for s in slopes[w, large]])  # fmt: skip
    pairs = list(zip(slopes[wide, batches[0]], slopes[wide, large], strict=True))
    blocks = [
        mean_interval([_at(run, b) - (_at(run, a) if a else 0.5) for run in power[wide, large]])
        for a, b in pairwise(range(0, until + 1, until // 5))
    ]
    ends = mean_interval([_at(run, until) for run in power[wide, large]])
    relu = {f"{width}, {batch}": mean_interval([_at(run, until) for run in runs])
            for (kind, width, batch), runs in early.items() if kind == "relu"}  # fmt: skip
    relu[f"{wide}, {large}"] = mean_interval([_at(run, until) for run in whole["relu"]])
    shares = {kind: median_interval([_flat_share(run) for run in runs], 0.9) for kind, runs in whole.items()}
    return Findings(
        {
            **{f"accuracy gained in 100 steps, width {w}, B = {b}": mean_interval(x).as_dict()
               for (w, b), x in sorted(slopes.items())},
            "rank correlation of width and slope": by_width.correlation, "its p": by_width.rising,
            "pairs in which the largest batch is faster": [sum(a < b for a, b in pairs), len(pairs)],
            "gains of five parts": [block.as_dict() for block in blocks],
            f"accuracy of z^k after {until} steps": ends.as_dict(),
            **{f"accuracy of ReLU after {until} steps, width and B {case}": i.as_dict() for case, i in relu.items()},
            "share of the time below 55 %, z^k": shares["power"].as_dict(),
            "share of the time below 55 %, ReLU": shares["relu"].as_dict(),
            "networks of the courses": [len(whole[kind]) for kind in ("power", "relu")],
        },
        (
            Criterion(_POWERS, "no plateau: with the largest width and batch the mean accuracy of z^k grows in each "
                      "fifth of the first steps (95 %)", all(above(block.low, 0) for block in blocks)),
            Criterion(_POWERS, "and the median share of the time to 99 % that it spends below 55 % is below 0.4 for "
                      "z^k, above 0.6 for ReLU (90 %)",
                      below(shares["power"].high, 0.4) and above(shares["relu"].low, 0.6)),
            Criterion(_POWERS, "with the largest batch the slope grows with the width (ranks, p < 0.01), and its mean "
                      "from each width to the next",
                      by_width.rising < 0.01
                      and all(below(float(np.mean(slopes[a, large])), float(np.mean(slopes[b, large])))
                              for a, b in pairwise(widths))),
            Criterion(_POWERS, "with the largest width the slope is larger for the largest batch than for the least "
                      "in each of six pairs, and its mean grows from each batch size to the next",
                      all(below(a, b) for a, b in pairs)
                      and all(below(float(np.mean(slopes[wide, a])), float(np.mean(slopes[wide, b])))
                              for a, b in pairwise(batches))),
            Criterion(_POWERS, "ReLU is below 52 % after these steps at every width and batch, z^k with the largest "
                      "ones above 55 % (95 %)", above(ends.low, 0.55)
                      and all(below(i.high, 0.52) for i in relu.values())),
        ),
    )  # fmt: skip


def _cells(widths: tuple[int, ...], batches: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    wide, large = widths[-1], batches[-1]
    power = [*((width, large) for width in widths[:-1]), *((wide, batch) for batch in batches[:-1])]
    return {
        **{f"power-w{width}-b{batch}": _early("power", width, batch, **changes) for width, batch in power},
        **{f"relu-w{w}-b{b}": _early("relu", w, b, **changes) for w, b in ((widths[0], large), (wide, batches[0]))},
    }


DESCENT = Experiment(
    name="parity-descent",
    statements=(_POWERS,),
    title="The rate of descent of z^3 and ReLU networks at (50, 3): widths 10, 100, 1000 and B = 16, 128, 512",
    scales={
        "quick": {
            **_cells((10, 30, 100), (8, 32, 128), n=12, k=2, seeds=5, steps=50, check_every=5),
            "course-power": _early("power", 100, 128, n=12, k=2, seeds=5, steps=200, check_every=5),
            "course-relu": _early("relu", 100, 128, n=12, k=2, seeds=5, steps=200, check_every=5),
        },
        "full": {
            **_cells((10, 100, 1000), (16, 128, 512)),
            "course-power": _early("power", 1000, 512, steps=2000),
            "course-relu": _early("relu", 1000, 512, steps=4000, check_every=100),
        },
    },
    work=courses,
    summarise=_summarise,
    slice=("power-w10-b512", {"seeds": [8000], "steps": 100}),
    others=(("relu-w10-b512", {"seeds": [8003], "steps": 100}), ("power-w10-b512", {"seeds": [8005], "steps": 100})),
    rounding=FIFTH_DIGIT,  # the beginning of a course: see the head of `training`
)
