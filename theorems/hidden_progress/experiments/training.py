"""One item of the experiments of this chapter: a few seeded runs of `lemmata.numerics.parity.training`, as JSON.

The settings name n, k, width, batch, rate, steps and seeds, and optionally the kind, the initialization, noise, sample,
decay, check_every, until_converged and "start" (a seed of the initialization, which is then common to all runs).

The steps go through BLAS in float32. A step rounds by some 2^-23 of the weights, otherwise on every processor, and
training amplifies this where a neuron or the loss passes a kink on one side or the other. How much was measured, with
starts that are moved by 2^-20 of every weight, eight times as far: within 100 steps the records of the slices move by
at most 1.5e-5 of their value, and single inputs of wide power networks by half a per cent. So `FIFTH_DIGIT` is the
rounding of experiments with courses; it is a measured tolerance, which the emulated processors keep. Where times are
kept the slice is of runs whose times such starts do not change, in six draws or eight; a run whose time they change, as
that of seed 1 in the widths and in the noise, is in none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lemmata.numerics.parity.training import TrainingRun, initial_network, train_parity

__all__ = ["coarse_power_law", "convergence_times", "courses"]

_KEEP = 40  # checks of a course that are kept


def _run(settings: dict[str, Any], seed: int) -> TrainingRun:
    samples = np.random.default_rng([seed, 1])
    start = np.random.default_rng([settings.get("start", seed), 0])
    network = initial_network(
        settings["n"],
        settings["k"],
        settings["width"],
        start,
        settings.get("kind", "relu"),
        settings.get("init", "uniform"),
    )
    with np.errstate(over="ignore", invalid="ignore"):  # a run may diverge; it then counts as not converged
        return train_parity(
            network,
            settings["steps"],
            settings["batch"],
            settings["rate"],
            samples,
            noise=settings.get("noise", 0.0),
            sample=settings.get("sample"),
            decay=settings.get("decay", 0.0),
            check_every=settings.get("check_every", 10),
            validation=settings.get("validation", 2**11),
            until_converged=settings.get("until_converged", True),
        )


def convergence_times(settings: dict[str, Any]) -> dict[str, Any]:
    """The convergence time of every seed, None where a run did not converge."""
    return {"times": [_run(settings, seed).converged for seed in settings["seeds"]]}


def courses(settings: dict[str, Any]) -> dict[str, Any]:
    """The records of every seed, thinned to at most 40 checks (the last one kept), five significant digits.

    With a list of checks in the place of the number of steps: the records at these alone, which are the beginning of a
    longer run, without the time at which it converges.
    """
    result, beginning = [], isinstance(settings["steps"], list)
    for seed in settings["seeds"]:
        record: dict[str, Any] = {}
        if beginning:
            run = _run({**settings, "steps": settings["steps"][-1]}, seed)
            kept = [run.steps.index(step) for step in settings["steps"]]
        else:
            run = _run(settings, seed)
            every = -(-len(run.steps) // _KEEP)
            kept = sorted({*range(0, len(run.steps), every), len(run.steps) - 1})
            record["converged"] = run.converged
        record["steps"] = [run.steps[i] for i in kept]
        for name in ("accuracy", "train_accuracy", "relevant_move", "irrelevant_move"):
            values = getattr(run, name)
            if values:
                record[name] = [float(f"{values[i]:.5g}") for i in kept]
        result.append(record)
    return {"runs": result}


def coarse_power_law(times: Mapping[int, Sequence[int | None]]) -> tuple[float, float] | None:
    """c and the smallest alpha >= 0 with t(n) <= c (n - n_0)^alpha, as in figure B.5; None if less than 10 % converge.

    Here t(n) is the 10th percentile of the times at n inputs (None: not converged) and n_0 the least n less 1, so that
    c is t at the least n.

    Raises:
        ValueError: if there are fewer than two sizes.
    """
    sizes = sorted(times)
    if len(sizes) < 2:
        raise ValueError(f"A power law needs convergence times at two or more sizes, not at {sizes}.")
    percentiles = []
    for n in sizes:
        ordered = sorted(math.inf if time is None else float(time) for time in times[n])
        percentiles.append(ordered[max(0, math.ceil(len(ordered) / 10) - 1)])
    if not all(map(math.isfinite, percentiles)):
        return None
    c, first = percentiles[0], sizes[0] - 1
    slopes = [math.log(t / c) / math.log(n - first) for n, t in zip(sizes[1:], percentiles[1:], strict=True)]
    return c, max(0.0, *slopes)
