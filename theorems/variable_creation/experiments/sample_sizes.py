"""How many samples an attention network needs for a conjunction of three bits, as strings get longer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lemmata.numerics.learning.sparse_learners import (
    ambiguity_bound,
    balanced_probability,
    elimination_probability,
    surviving_bits,
)
from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.runs.thresholds import Cell, bootstrap_cells, percentile_interval, threshold_fit, vuong_test
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.variable_creation.experiments.training import draw_conjunction, train_reader, unambiguous_sample

__all__ = ["SAMPLE_SIZES", "successes", "trials"]

_FIGURE = "variable-creation:experiment-fig4.2"
SHARE = 0.8
DRAWS = 200


def trials(settings: dict[str, Any]) -> dict[str, Any]:
    """For every trial the best accuracy over all runs, the iteration of success, and what simple learners do.

    ``best`` is the largest accuracy held out, ``at`` the first checked iteration with one above 0.99 in the last run
    (None without one), ``train_errors`` those at the end of the last run; ``found`` says whether the elimination
    learner names the three bits, and ``draws`` how many samples were drawn until one was unambiguous.
    """
    T, m = settings["length"], settings["samples"]
    result: dict[str, Any] = {"best": [], "at": [], "train_errors": [], "found": [], "draws": []}
    for trial in settings["trials"]:
        rng = np.random.default_rng([trial, T, m])
        chosen = sorted(rng.choice(T, 3, replace=False).tolist())
        sample = unambiguous_sample(rng, T, chosen, m)
        held_out = draw_conjunction(rng, T, chosen, settings["held_out"])
        best, course = 0.0, None
        for start in range(settings["starts"]):
            course = train_reader(settings, sample, held_out, [trial, T, m, start])
            best = max(best, course.best)
            if best > 0.99:
                break
        assert course is not None
        result["best"].append(float(f"{best:.5g}"))
        result["at"].append(course.steps[-1] if best > 0.99 else None)
        result["train_errors"].append(course.train_errors)
        result["found"].append(int(surviving_bits(sample.bits, sample.labels) == chosen))
        result["draws"].append(sample.draws)
    return result


def successes(result: Mapping[str, Any]) -> int:
    """The number of trials with an accuracy above 0.99."""
    return sum(best > 0.99 for best in result["best"])


def _cells(settings: Mapping[str, Any], results: Mapping[str, Any], name: str, linear: bool) -> list[Cell]:
    """The cells with log T or T as score, for the network ("best") or for the elimination learner ("found")."""
    return [
        Cell(float(s["length"]) if linear else math.log(s["length"]), s["samples"],
             successes(results[key]) if name == "best" else sum(results[key]["found"]), len(results[key]["best"]))
        for key, s in settings.items()
    ]  # fmt: skip


def _exact_threshold(length: int) -> int:
    """The smallest sample with which the elimination learner succeeds with probability 0.8 or more."""
    p, m = balanced_probability(3), 1
    while not elimination_probability(length, 3, m, p) > SHARE:
        m += 1
    return m


def _identified(length: int) -> int:
    """The smallest sample with which the union bound says that it is unambiguous with probability 0.8 or more."""
    p, m = balanced_probability(3), 1
    while not ambiguity_bound(length, 3, m, p) < 1 - SHARE:
        m += 1
    return m


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    by_log = _cells(settings, results, "best", linear=False)
    lengths = sorted({s["length"] for s in settings.values()})
    fit, again = (
        threshold_fit(by_log),
        [threshold_fit(c) for c in bootstrap_cells(by_log, DRAWS, np.random.default_rng(1))],
    )
    growth = percentile_interval(_rounded(fit.growth), [_rounded(f.growth) for f in again])
    at_300 = percentile_interval(
        _rounded(fit.threshold(math.log(300), SHARE)), [_rounded(f.threshold(math.log(300), SHARE)) for f in again]
    )
    test = vuong_test(by_log, _cells(settings, results, "best", linear=True))
    unfit = sum(errors > 0 for key in settings for errors, best in
                zip(results[key]["train_errors"], results[key]["best"], strict=True) if best <= 0.99)  # fmt: skip
    return Findings(
        {
            "runs": sum(cell.trials for cell in by_log),
            "samples for 80 %, by length": {str(T): _single(by_log, T) for T in lengths},
            "samples for 80 %, elimination learner, exact": {str(T): _exact_threshold(T) for T in lengths},
            "samples for 80 % to be unambiguous, union bound": {str(T): _identified(T) for T in lengths},
            "success of the elimination learner on 50 samples, exact": {
                str(T): _rounded(float(elimination_probability(T, 3, 50, balanced_probability(3)))) for T in lengths},
            "expected number of other conjunctions that fit 50 samples": {
                str(T): _rounded(float(ambiguity_bound(T, 3, 50, balanced_probability(3)))) for T in lengths},
            "growth with log T": growth.as_dict(),
            "growth with log T, elimination learner in these trials":
                _rounded(threshold_fit(_cells(settings, results, "found", linear=False)).growth),
            "samples for 80 % at T = 300, fitted": at_300.as_dict(),
            "Vuong's z for log T against T": _rounded(test.z),
            "p": _rounded(test.p),
            "trials that fail with an error on the training sample": unfit,
            "success": {key: proportion_interval(successes(results[key]), len(results[key]["best"])).as_dict()
                        for key in settings},
        },
        (
            Criterion(_FIGURE, "the sample for 80 % success grows with log T (95 % bootstrap interval above 0)",
                      above(growth.low, 0)),
            Criterion(_FIGURE, "a threshold linear in log T explains the trials better than one linear in T "
                      "(Vuong's test, p < 0.05)", below(test.p, 0.05)),
            Criterion(_FIGURE, "the fitted sample for 80 % success at T = 300 is within 20 % of 70",
                      above(at_300.estimate, 56) and below(at_300.estimate, 84)),
            Criterion(_FIGURE, "every trial that fails ends without an error on its training sample", unfit == 0),
        ),
    )  # fmt: skip


def _single(cells: Sequence[Cell], length: int) -> dict[str, float]:
    """The fitted sample for 80 % at one length alone, with a bootstrap interval; at most ten times the largest."""
    own = [cell for cell in cells if cell.score == math.log(length)]
    most = 10 * max(cell.size for cell in own)

    def threshold(chosen: Sequence[Cell]) -> float:
        return _rounded(min(threshold_fit(chosen).threshold(math.log(length), SHARE), most))

    draws = bootstrap_cells(own, DRAWS, np.random.default_rng([2, length]))
    return percentile_interval(threshold(own), [threshold(chosen) for chosen in draws]).as_dict()


def _setting(length: int, samples: int, count: int, first: int, **changes: Any) -> dict[str, Any]:
    return {
        "length": length, "samples": samples, "heads": 16, "iterations": 300, "check_every": 20, "held_out": 2000,
        "starts": 5, "trials": list(range(first, first + count)), **changes,
    }  # fmt: skip


def _grid(counts: Mapping[int, int], sizes: Sequence[int], first: int, **changes: Any) -> dict[str, dict[str, Any]]:
    return {f"T{T}-m{m}": _setting(T, m, count, first, **changes) for T, count in counts.items() for m in sizes}


SAMPLE_SIZES = Experiment(
    name="conjunction-sample-sizes",
    statements=(_FIGURE,),
    title="Samples that a one-layer attention network needs for a conjunction of 3 of T bits: T = 25 to 400",
    scales={
        "quick": _grid({16: 6, 128: 6}, (20, 50, 80), 500, iterations=100, starts=1, held_out=1000),
        "full": {
            **_grid({25: 20, 50: 20, 100: 20}, range(20, 91, 10), 100),
            **_grid({200: 20}, range(30, 101, 10), 100),
            **_grid({400: 20}, range(50, 91, 10), 100),
        },
    },
    work=trials,
    summarise=_summarise,
    slice=("T50-m50", {"trials": [110]}),
    others=(("T25-m30", {"trials": [119]}), ("T25-m20", {"trials": [100, 101]})),
)
