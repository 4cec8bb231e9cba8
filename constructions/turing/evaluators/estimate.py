"""How long a run in an evaluator that looks back at all steps will take, estimated from its first steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.run import Evaluator

__all__ = ["estimated_seconds"]

PILOT = 240  # steps that are run to be timed


def estimated_seconds(
    evaluator: Evaluator, transformer: TuringTransformer, word: Sequence[int], *, hidden: bool = False
) -> float:
    """About the seconds that a run of all T steps takes: the cost of step t is fitted by a + b t, b >= 0.

    The same weights run for the first `PILOT` steps, or T if these are fewer, and the medians of both halves make the
    line. The machine is assumed to keep the pace; a tape with ever longer tokens costs the exact evaluator more.

    Raises:
        ValueError: as `Evaluator.run`.
    """
    steps, times = min(PILOT, transformer.steps), [time.perf_counter()]
    pilot = replace(transformer, steps=steps)
    evaluator.run(pilot, [word], hidden=hidden, progress=lambda _: times.append(time.perf_counter()))
    each = np.diff(times)[1:]  # the first includes the set-up
    half = len(each) // 2
    if not half:
        return float(times[-1] - times[0]) * (transformer.steps + 1)
    early, late = float(np.median(each[:half])), float(np.median(each[half:]))
    slope = max(0.0, (late - early) / (len(each) - half))
    start = early - slope * half / 2
    return max(0.0, start) * (transformer.steps + 1) + slope * transformer.steps * (transformer.steps + 1) / 2
