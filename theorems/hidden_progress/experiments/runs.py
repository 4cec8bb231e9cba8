"""One item of the experiments on the architectures (i) to (xv): seeded runs of `train_architecture`, as JSON.

The settings name the architecture ("setting"), n, k, batch, steps and seeds, and optionally rate, init, loss,
check_every, "recorded" (held-out samples for the accuracy), "starts" (seeds of the initialization, each with every seed
of the samples). Without a rate the best of 1, 0.1, 0.01, 0.001 is chosen by runs with other seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lemmata.numerics.parity.architecture_training import ArchitectureRun, initial_architecture, train_architecture

__all__ = ["RATES", "cells", "curve_points", "curves", "finite", "starts"]

RATES = (0.1, 1.0, 0.01, 0.001)
_PILOT = 10_000
"""The seeds of the runs that choose a rate are those from here on."""
_ENOUGH = 0.2
"""The share of runs that have to converge at one of the rates (empirical finding 5.1)."""


def _run(settings: Mapping[str, Any], rate: float, start: int, seed: int, steps: int) -> ArchitectureRun:
    network = initial_architecture(
        settings["setting"], settings["n"], settings["k"], np.random.default_rng([start, 0]),
        settings.get("init", "uniform"),
    )  # fmt: skip
    return train_architecture(
        settings["setting"],
        network,
        steps,
        np.random.default_rng([seed, start, 1]),
        batch=settings["batch"],
        rate=rate,
        loss=settings.get("loss", "hinge"),
        check_every=settings.get("check_every", 10),
        recorded=settings.get("recorded", 0),
    )


def _ordered_rates(settings: Mapping[str, Any], pilots: int) -> list[float]:
    """The rates, best first: most pilot runs converged, then the least median time.

    Once all pilot runs have converged at a rate, the runs at the next ones end at the longest of their times.
    """
    found: list[tuple[int, float, float]] = []
    limit = settings.get("pilot_steps", settings["steps"])
    for rate in RATES:
        times = [_run(settings, rate, seed, seed, limit).converged for seed in range(_PILOT, _PILOT + pilots)]
        done = sorted(time for time in times if time is not None)
        found.append((-len(done), float(np.median(done)) if done else math.inf, rate))
        if len(done) == pilots:
            limit = min(limit, done[-1])
    return [rate for _, _, rate in sorted(found)]


def cells(settings: dict[str, Any]) -> dict[str, Any]:
    """The times of all seeds (None: not converged) at the best rate, or at the next best ones if too few converge."""
    rates = [settings["rate"]] if "rate" in settings else _ordered_rates(settings, settings.get("pilots", 3))
    tried = []
    for rate in rates:
        times = [_run(settings, rate, seed, seed, settings["steps"]).converged for seed in settings["seeds"]]
        tried.append({"rate": rate, "times": times})
        if sum(time is not None for time in times) >= _ENOUGH * len(times):
            break
    return {"tried": tried}


def starts(settings: dict[str, Any]) -> dict[str, Any]:
    """For every start the times of all seeds of the samples, and when the accuracy first is 75 % if it is recorded."""
    times, quarters = [], []
    for start in settings["starts"]:
        runs = [_run(settings, settings["rate"], start, seed, settings["steps"]) for seed in settings["seeds"]]
        times.append([run.converged for run in runs])
        quarters.append([_reached(run, 0.75, settings.get("check_every", 10)) for run in runs])
    return {"times": times, "three_quarters": quarters}


def _reached(run: ArchitectureRun, level: float, every: int) -> int | None:
    for index, accuracy in enumerate(run.accuracy):
        if accuracy >= level:
            return every * (index + 1)
    return None


def curves(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed the time, and the points of the curve that `curve_points` names."""
    every = settings.get("check_every", 10)
    runs = [_run(settings, settings["rate"], seed, seed, settings["steps"]) for seed in settings["seeds"]]
    return {"runs": [{"converged": run.converged, **curve_points(run.accuracy, every)} for run in runs]}


def curve_points(accuracy: list[float], every: int) -> dict[str, int | None]:
    """The last checked steps with an accuracy below 55 % and below 60 %, and the first one of 90 % from there on."""
    below = {level: [i for i, a in enumerate(accuracy) if a < level] for level in (0.55, 0.6)}
    last = {level: every * (found[-1] + 1) if found else 0 for level, found in below.items()}
    high = [every * (i + 1) for i, a in enumerate(accuracy) if a >= 0.9 and every * (i + 1) > last[0.6]]
    return {"below 55": last[0.55], "below 60": last[0.6], "from 90": high[0] if high else None}


def finite(value: Any) -> Any:
    """A JSON value with None in the place of infinity, which stands for runs that did not converge."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
