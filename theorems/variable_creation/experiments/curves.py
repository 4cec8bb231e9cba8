"""Training curves above and below the threshold, and where a trained head looks.

With 20 replicates the difference of the two sample sizes has p = 0.0016, above the level of 0.001 set before, which was
meant for the printed number of 40. So 40 others, with seeds of their own, are judged by the same criteria. They are
better still at the small sample (32 of 40 against 12 of 20), and have p = 0.0027: the criterion is missed twice.

A third run, of 100 replicates on each side with seeds of their own, is judged by itself, and meets it. That number was
chosen from the first two: with a rate of 80 % at the small sample about 20 fail, and from 12 on the criterion is met.
Since it is the third attempt, it is judged at a third of the level: p < 0.00033.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from lemmata.numerics.learning.attention_training import attention_weights
from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.variable_creation.experiments.training import draw_conjunction, train_reader, unambiguous_sample

__all__ = ["ATTENTION", "CURVES", "REPLICATES", "THIRD", "best_curves", "trained_heads"]

_LEFT, _RIGHT = "variable-creation:experiment-fig4.3-left", "variable-creation:experiment-fig4.3-right"
RELEVANT = (4, 19, 29)
"""The bits 5, 20 and 30, counted from 1."""


def best_curves(settings: dict[str, Any]) -> dict[str, Any]:
    """For every replicate the accuracies held out of its best run, and the errors on the training sample at its end.

    Runs start anew until one is above 0.99, at most ``starts`` times.
    """
    T, m = settings["length"], settings["samples"]
    result: dict[str, Any] = {"curves": [], "train_errors": []}
    for trial in settings["trials"]:
        rng = np.random.default_rng([trial, T, m])
        chosen = sorted(rng.choice(T, 3, replace=False).tolist())
        sample = unambiguous_sample(rng, T, chosen, m)
        held_out = draw_conjunction(rng, T, chosen, settings["held_out"])
        courses = []
        for start in range(settings["starts"]):
            courses.append(train_reader(settings, sample, held_out, [trial, T, m, start], stop=False))
            if courses[-1].best > 0.99:
                break
        best = max(courses, key=lambda course: course.best)
        result["curves"].append([float(f"{accuracy:.5g}") for accuracy in best.accuracy])
        result["train_errors"].append(best.train_errors)
    return result


def trained_heads(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed the errors held out, and the mean weights of [CLS] on the bits and on itself at the end.

    ``largest`` is the largest weight of an irrelevant bit for any of the strings that are looked at.
    """
    T = settings["length"]
    result: dict[str, Any] = {"errors": [], "weights": [], "largest": []}
    for seed in settings["trials"]:
        rng = np.random.default_rng([seed, T])
        sample = unambiguous_sample(rng, T, RELEVANT, settings["samples"])
        held_out = draw_conjunction(rng, T, RELEVANT, settings["held_out"])
        checks = {**settings, "check_every": settings["iterations"]}
        course = train_reader(checks, sample, held_out, [seed, T, 1], stop=False)
        weights = attention_weights(course.network, held_out[0][: settings["shown"]])[:, 0]
        others = np.delete(weights[:, :T], RELEVANT, axis=1)
        result["errors"].append(round((1 - course.accuracy[-1]) * settings["held_out"]))
        result["weights"].append([float(f"{x:.3g}") for x in weights.mean(axis=0)])
        result["largest"].append(float(f"{others.max():.3g}"))
    return result


def _replicates(settings: Mapping[str, Any], results: Mapping[str, Any], name: str) -> list[Any]:
    return [value for key in settings if key.split("-")[0] == name for value in results[key]["train_errors"]]


def _bests(settings: Mapping[str, Any], results: Mapping[str, Any], name: str) -> list[float]:
    return [max(curve) for key in settings if key.split("-")[0] == name for curve in results[key]["curves"]]


def _summarise_curves(settings: Mapping[str, Any], results: Mapping[str, Any], level: float = 0.001) -> Findings:
    names = sorted({key.split("-")[0] for key in settings}, key=lambda name: int(name[1:]))
    few, many = (_bests(settings, results, name) for name in (names[0], names[-1]))
    won_few, won_many = (sum(best > 0.99 for best in bests) for bests in (few, many))
    failed = sorted(best for best in few if best <= 0.99)
    fisher: Any = stats.fisher_exact(
        [[won_many, len(many) - won_many], [won_few, len(few) - won_few]], alternative="greater"
    )
    unfit = sum(errors > 0 for name in names for errors in _replicates(settings, results, name))
    return Findings(
        {
            "above 99 % with the large sample": proportion_interval(won_many, len(many)).as_dict(),
            "above 99 % with the small sample": proportion_interval(won_few, len(few)).as_dict(),
            "p": float(f"{fisher.pvalue:.4g}"),
            "least, median and largest best accuracy of those that overfit":
                [failed[0], float(f"{np.median(failed):.5g}"), failed[-1]] if failed else [],
            "replicates with an error on the training sample": unfit,
        },
        (
            Criterion(_LEFT, "every best run ends without an error on its training sample", unfit == 0),
            Criterion(_LEFT, "with the large sample at least 95 % of the replicates are above 99 % held out",
                      20 * won_many >= 19 * len(many)),
            Criterion(_LEFT, f"with the small sample fewer replicates are, p < {level}", below(fisher.pvalue, level)),
            Criterion(_LEFT, "the best accuracies of those that overfit span 0.1 or more",
                      len(failed) > 1 and above(failed[-1] - failed[0], 0.1)),
        ),
    )  # fmt: skip


def _nearly_all(holds: Iterable[bool]) -> bool:
    """Whether nine of ten hold, or more."""
    found = list(holds)
    return 10 * sum(found) >= 9 * len(found)


def _summarise_heads(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    errors = [e for key in settings for e in results[key]["errors"]]
    held_out = next(iter(settings.values()))["held_out"]
    weights = np.array([w for key in settings for w in results[key]["weights"]])
    largest = [x for key in settings for x in results[key]["largest"]]
    bits, relevant = weights[:, :-1], list(RELEVANT)
    top = [sorted(np.argsort(-row)[:3].tolist()) == relevant for row in bits]
    off = np.delete(bits, relevant, axis=1).sum(axis=1)
    return Findings(
        {
            "networks": len(errors),
            "errors held out": errors,
            "weight on the three bits": [float(f"{x:.3g}") for x in bits[:, relevant].sum(axis=1)],
            "weight on all other bits": [float(f"{x:.3g}") for x in off],
            "weight of [CLS] on itself": [float(x) for x in weights[:, -1]],
            "largest weight of another bit for any string": largest,
        },
        (
            Criterion(_RIGHT, "9 of 10 networks are right on 99.9 % of the strings held out",
                      _nearly_all(1000 * e <= held_out for e in errors)),
            Criterion(_RIGHT, "a network makes no error on them", min(errors) == 0),
            Criterion(_RIGHT, "for 9 of 10 the three bits of largest mean weight are the relevant ones",
                      _nearly_all(top)),
            Criterion(_RIGHT, "for 9 of 10 the other bits together have a mean weight below 0.1",
                      _nearly_all(below(x, 0.1) for x in off)),
        ),
    )  # fmt: skip


def _curve(length: int, samples: int, trials: range, **changes: Any) -> dict[str, Any]:
    return {
        "length": length, "samples": samples, "heads": 16, "iterations": 300, "check_every": 20, "held_out": 2000,
        "starts": 5, "trials": list(trials), **changes,
    }  # fmt: skip


def _attempt(
    name: str, title: str, quick: int, first: int, parts: int, slices: dict[str, int], level: float = 0.001
) -> Experiment:
    """Curves at m = 50, 200: the replicates from `first` on, five in each part; from `quick` on at quick scale.

    A slice is one replicate of an item.
    """
    one, *others = ((key, {"trials": [trial]}) for key, trial in slices.items())
    return Experiment(
        name=name,
        statements=(_LEFT,),
        title=title,
        scales={
            "quick": {
                f"m{m}": _curve(40, m, range(quick, quick + 8), iterations=120, starts=1, held_out=1000)
                for m in (25, 100)
            },
            "full": {
                f"m{m}-{part}": _curve(300, m, range(first + 5 * part, first + 5 * part + 5))
                for m in (50, 200)
                for part in range(parts)
            },
        },
        work=best_curves,
        summarise=partial(_summarise_curves, level=level),
        slice=one,
        others=tuple(others),
    )


CURVES = _attempt(
    "conjunction-curves",
    "Accuracy held out while a network learns a conjunction of 3 of 300 bits from 50 and from 200 samples",
    quick=500, first=100, parts=4, slices={"m200-0": 100, "m200-2": 112, "m200-3": 119},
)  # fmt: skip
REPLICATES = _attempt(
    "conjunction-curves-40", "The same with 40 other replicates, as many as printed",
    quick=510, first=200, parts=8, slices={"m200-0": 200, "m200-4": 222, "m50-7": 239},
)  # fmt: skip
THIRD = _attempt(
    "conjunction-curves-100",
    "The same once more, with 100 other replicates: the third attempt, at a third of the level",
    quick=520, first=300, parts=20, slices={"m50-9": 345, "m200-0": 300, "m200-19": 399}, level=0.00033,
)  # fmt: skip


def _heads(trials: range, **changes: Any) -> dict[str, Any]:
    return {
        "length": 50, "samples": 300, "heads": 1, "iterations": 500, "held_out": 10_000, "shown": 100,
        "trials": list(trials), **changes,
    }  # fmt: skip


ATTENTION = Experiment(
    name="conjunction-attention",
    statements=(_RIGHT,),
    title="Where one trained head looks: a conjunction of 3 of 50 bits, 300 samples, ten networks",
    scales={
        "quick": {"seeds": _heads(range(500, 504), iterations=150, held_out=2000)},
        "full": {f"seed-{seed}": _heads(range(seed, seed + 1)) for seed in range(100, 110)},
    },
    work=trained_heads,
    summarise=_summarise_heads,
    slice=("seed-100", {"held_out": 10_000}),
    others=(("seed-105", {"held_out": 10_000}), ("seed-109", {"held_out": 10_000})),
    rounding=0.01,  # a unit of the last of the three digits that weights have; see the comment in `parities`
)
