"""Figures 8.5 and 8.4a once more, at the printed lengths, batch and (8.5) rate, after the smaller runs of `variants`.

Claims, thresholds, sizes and seeds were fixed before the runs, after one run of each arm, and of three heads, with a
seed (100) that is not among those reported. The comparison of 8.4a at a tenth of the rate was added later, after one
run of each arm with that seed at that rate, in which free unigrams took more samples.

A claim that a figure makes of every run is met if it is seen in 9 of 10 runs or more (in all, if there are fewer), and
contradicted if it is seen in at most 1 of 10 (in none, if there are fewer); otherwise it is undecided. A claim on how
much faster one kind of data is taught than another is decided by the 95% interval of the geometric mean of the factor
over the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import mean_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.induction_heads.experiments.measures import LAST_DIGIT, closest, first_below, phases, rounded
from lemmata.theorems.induction_heads.experiments.phases import most, over_seeds
from lemmata.theorems.induction_heads.experiments.variants import ARMS, BASE, work

__all__ = ["TRIGRAMS_200", "TRIGRAMS_LONGER", "UNIGRAM_SIGNAL_100", "UNIGRAM_SIGNAL_LONGER", "UNIGRAM_SIGNAL_SLOWER"]

Result = Mapping[str, Any]

ORDER = ["uniform", "unigram", "bigram", "trigram"]
MUCH = 1.5
"""Training is much faster if it takes this factor fewer samples."""


def decided(runs: Sequence[Result], holds: Callable[[Result], bool]) -> str:
    """Whether a claim on every run is met, contradicted or undecided."""
    if most(runs, holds):
        return "met"
    return "contradicted" if most(runs, lambda r: not holds(r)) else "undecided"


# ---- 3-grams


def lasting_phases(result: Result) -> list[str]:
    """The strategies that the model is closest to, one after the other, but for interruptions of one measurement.

    Such an interruption lies between two phases of one strategy.
    """
    lengths = [(name, len(list(group))) for name, group in groupby(closest(result))]
    kept = [
        name
        for i, (name, length) in enumerate(lengths)
        if length > 1 or not 0 < i < len(lengths) - 1 or lengths[i - 1][0] != lengths[i + 1][0]
    ]
    return [name for name, _ in groupby(kept)]


def rests_at(result: Result, strategy: str) -> bool:
    """Whether the loss has a plateau within 25% of the line of a strategy.

    That is: around some measurement with such a loss it falls less than half as fast as at some time before and as at
    some time after. Rates are over two intervals between measurements.
    """
    steps, losses, line = np.array(result["steps"]), np.array(result["loss"]), result["lines"][strategy]
    even = steps % (steps[-1] - steps[-2]) == 0
    steps, losses = steps[even], losses[even]
    rates = (losses[:-2] - losses[2:]) / (steps[2:] - steps[:-2])
    return any(
        below(2 * rates[i], min(rates[:i].max(), rates[i + 1 :].max()))
        for i in range(1, len(rates) - 1)
        if below(abs(losses[i + 1] - line), line / 4)
    )


def _final(result: Result) -> float:
    return float(np.mean(result["loss"][-5:]))


def judge_trigrams(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Judge the claims of Figure 8.5, one by one."""
    groups = {
        heads: [results[key] for key, item in items.items() if item["heads"] == heads]
        for heads in sorted({item["heads"] for item in items.values()})
    }
    numbers: dict[str, Any] = {}
    for heads, runs in groups.items():
        numbers[f"{heads} heads: phases"] = [phases(r) for r in runs]
        numbers[f"{heads} heads: share of the measurements closest to bigram"] = over_seeds(
            [float(np.mean([name == "bigram" for name in closest(r)])) for r in runs]
        )
        for strategy in ("bigram", "trigram"):
            ratios = [_final(r) / r["lines"][strategy] for r in runs]
            numbers[f"{heads} heads: final loss over the {strategy} line"] = over_seeds(ratios)
    three, one = groups[3], groups[1]
    claims = {
        "three heads: the closest strategy is uniform, unigram, bigram, trigram, in this order, but for interruptions "
        "of one measurement": decided(three, lambda r: lasting_phases(r) == ORDER),
        "three heads: the loss has a plateau at the unigram line": decided(three, lambda r: rests_at(r, "unigram")),
        "three heads: the loss has a plateau at the bigram line": decided(three, lambda r: rests_at(r, "bigram")),
        "three heads end below 2.5 times the trigram line": decided(
            three, lambda r: below(_final(r), 2.5 * r["lines"]["trigram"])
        ),
        "one head never gets below 3/4 of the bigram line": decided(
            one, lambda r: above(min(r["loss"]), 0.75 * r["lines"]["bigram"])
        ),
    }
    numbers["claims"] = claims
    statement = "induction-heads:figure-8.5"
    return Findings(numbers, tuple(Criterion(statement, text, how == "met") for text, how in claims.items()))


def _trigrams(seeds: Mapping[int, Sequence[int]], steps: Mapping[int, int], **changes: Any) -> dict[str, Any]:
    return {
        f"heads-{h}-{seed}": {**BASE, "n": 3, "heads": h, "rate": 3e-2, "seed": seed, "steps": steps[h], **changes}
        for h, own in seeds.items()
        for seed in own
    }


TRIGRAMS_200 = Experiment(
    name="trigrams-200",
    statements=("induction-heads:figure-8.5",),
    title="Phases in learning 3-grams with three heads per layer, and with one, at the printed length, batch and rate",
    scales={
        "quick": _trigrams({3: [0], 1: [0]}, {3: 100, 1: 100}, every=10, context=32, tests=300, data={"flat": 16}),
        "full": _trigrams({3: range(10, 14), 1: range(10, 13)}, {3: 240, 1: 400}, every=10, context=200, tests=500),
    },
    work=work,
    summarise=judge_trigrams,
    slice=("heads-1-10", {"steps": 10}),
    others=(("heads-1-11", {"steps": 10}), ("heads-3-13", {"steps": 4})),
    rounding=LAST_DIGIT,
)


def judge_longer(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Judge the end of runs with three heads."""
    runs = list(results.values())
    numbers = {
        "phases": [phases(r) for r in runs],
        "final loss over the trigram line": over_seeds([_final(r) / r["lines"]["trigram"] for r in runs]),
    }
    text = "three heads end below 2.5 times the trigram line"
    near = most(runs, lambda r: below(_final(r), 2.5 * r["lines"]["trigram"]))
    return Findings(numbers, (Criterion("induction-heads:figure-8.5", text, near),))


TRIGRAMS_LONGER = Experiment(
    name="trigrams-200-longer",
    statements=("induction-heads:figure-8.5",),
    title="The run of trigrams-200 that was still falling when it ended, twice as long",
    scales={
        "quick": _trigrams({3: [0]}, {3: 200}, every=20, context=32, tests=300, data={"flat": 16}),
        "full": _trigrams({3: [12]}, {3: 480}, every=20, context=200, tests=500),
    },
    work=work,
    summarise=judge_longer,
    slice=("heads-3-12", {"steps": 4}),
    rounding=LAST_DIGIT,
)


# ---- no unigram signal


def _samples_to(result: Result, item: Mapping[str, Any], event: str) -> float:
    """Doubly stochastic samples until the loss is below 3/4 of the unigram line, or layer 1 looks back by over 1/2.

    Infinite if the run ends before.
    """
    values = result["loss"] if event == "loss" else [-p for p in result["previous"]]
    level = 0.75 * result["lines"]["unigram"] if event == "loss" else -0.5
    step = first_below(result["steps"], values, level)
    return math.inf if step is None else step * item["data"]["doubly stochastic"]


def _samples_at_unigram(result: Result, item: Mapping[str, Any]) -> float:
    """Doubly stochastic samples seen while unigram is the closest strategy."""
    lengths = np.diff(result["steps"])
    near = [name == "unigram" for name in closest(result)[:-1]]
    return float((lengths * near).sum() * item["data"]["doubly stochastic"])


def judge_signal(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Judge the claims of Figure 8.4a for each mixture among the items, on the loss and on the head of layer 1."""
    seeds = sorted({item["seed"] for item in items.values()})
    arms = list(dict.fromkeys(key.rpartition("-")[0] for key in items))

    def over(arm: str, quantity: Callable[[Result, Any], float]) -> list[float]:
        return [quantity(results[f"{arm}-{seed}"], items[f"{arm}-{seed}"]) for seed in seeds]

    numbers: dict[str, Any] = {}
    claims: dict[str, str] = {}
    for event in ("loss", "head"):
        times = {arm: over(arm, lambda r, item, event=event: _samples_to(r, item, event)) for arm in arms}
        for arm, values in times.items():
            numbers[f"{arm}: samples to the {event}"] = [None if math.isinf(v) else v for v in values]
        for arm in arms[1:]:
            ratios = [math.log(b / a) for a, b in zip(times["doubly-stochastic"], times[arm], strict=True)]
            low, high = -math.inf, math.inf
            if len(ratios) > 1 and all(map(math.isfinite, ratios)):
                interval = mean_interval(ratios)
                low, high = math.exp(interval.low), math.exp(interval.high)
                numbers[f"samples to the {event}: {arm} over doubly-stochastic"] = {
                    "estimate": rounded(math.exp(interval.estimate)), "low": rounded(low), "high": rounded(high)
                }  # fmt: skip
            claims[f"{event}: at least {MUCH} times as many samples with {arm} as without unigrams"] = _side(
                low, high, MUCH
            )
            claims[f"{event}: more samples with {arm} than without unigrams"] = _side(low, high, 1.0)
    stays = {arm: over(arm, _samples_at_unigram) for arm in arms}
    for arm, values in stays.items():
        numbers[f"{arm}: samples with unigram closest"] = values
        numbers[f"{arm}: final loss"] = over_seeds(over(arm, lambda r, _: _final(r)))
    for arm in arms[1:]:
        pairs = [{"less": a < b} for a, b in zip(stays["doubly-stochastic"], stays[arm], strict=True)]
        claims[f"unigram is closest for fewer samples than with {arm}"] = decided(pairs, lambda pair: pair["less"])
    numbers["claims"] = claims
    statement = "induction-heads:figure-8.4a"
    return Findings(numbers, tuple(Criterion(statement, text, how == "met") for text, how in claims.items()))


def _side(low: float, high: float, factor: float) -> str:
    """Whether an interval lies above a factor (met), below it (contradicted), or contains it."""
    if above(low, factor):
        return "met"
    return "contradicted" if below(high, factor) else "undecided"


def _signal(seeds: Sequence[int], samples: int, every: int, **changes: Any) -> dict[str, Any]:
    """Both arms see equally many doubly stochastic samples, and are measured after every so many of them.

    The other reading of the mixture, unigrams as half of each batch, is decided by the runs of `variants`: the loss
    falls after fewer samples with them in six of six.
    """
    items = {}
    for arm in ("doubly-stochastic", "free-unigrams"):
        data = ARMS[arm]
        per_step = data["doubly stochastic"]
        own = {"k": 4, "data": data, "steps": samples // per_step, "every": every // per_step}
        items.update({f"{arm}-{seed}": {**BASE, **own, "seed": seed, **changes} for seed in seeds})
    return items


UNIGRAM_SIGNAL_100 = Experiment(
    name="no-unigram-signal-100",
    statements=("induction-heads:figure-8.4a",),
    title="Doubly stochastic chains of four states, alone or mixed with chains of equal rows, at the printed length",
    scales={
        "quick": _signal([0], 6400, 1280, context=32, tests=300),
        "full": _signal(range(20, 26), 25_600, 640, tests=500),
    },
    work=work,
    summarise=judge_signal,
    slice=("doubly-stochastic-20", {"steps": 10}),
    others=(("free-unigrams-22", {"steps": 10}), ("free-unigrams-25", {"steps": 10})),
    rounding=LAST_DIGIT,
)


def judge_late(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """When the runs that had not come to their events come to them."""
    numbers = {
        f"{key}: samples to the {event}": _samples_to(results[key], item, event)
        for key, item in items.items()
        for event in ("loss", "head")
    }
    done = all(map(math.isfinite, numbers.values()))
    numbers = {key: value if math.isfinite(value) else None for key, value in numbers.items()}
    text = "both events come within one and a half times as many samples"
    return Findings(numbers, (Criterion("induction-heads:figure-8.4a", text, done),))


UNIGRAM_SIGNAL_LONGER = Experiment(
    name="no-unigram-signal-100-longer",
    statements=("induction-heads:figure-8.4a",),
    title="The run of no-unigram-signal-100 that ended before its loss fell, one and a half times as long",
    scales={
        "quick": {key: item for key, item in _signal([0], 6400, 1280, context=32, tests=300).items() if "free" in key},
        "full": {key: item for key, item in _signal([21], 38_400, 640, tests=500).items() if "free" in key},
    },
    work=work,
    summarise=judge_late,
    slice=("free-unigrams-21", {"steps": 10}),
    rounding=LAST_DIGIT,
)


def _slower(seeds: Sequence[int], samples: Mapping[str, int], every: int, **changes: Any) -> dict[str, Any]:
    """Arms see as many samples as they need: free unigrams took more in the run before."""
    return {
        key: item
        for arm, seen in samples.items()
        for key, item in _signal(seeds, seen, every, rate=3e-4, **changes).items()
        if key.startswith(arm)
    }


UNIGRAM_SIGNAL_SLOWER = Experiment(
    name="no-unigram-signal-slower",
    statements=("induction-heads:figure-8.4a",),
    title="The comparison of no-unigram-signal-100 at a tenth of its rate: ten times the printed one",
    scales={
        "quick": _slower([0], {"doubly-stochastic": 6400, "free-unigrams": 6400}, 1280, context=32, tests=300),
        "full": _slower(range(30, 33), {"doubly-stochastic": 192_000, "free-unigrams": 256_000}, 6400, tests=500),
    },
    work=work,
    summarise=judge_signal,
    slice=("doubly-stochastic-30", {"steps": 20}),
    rounding=LAST_DIGIT,
)
"""Stated, not run: it joins the experiments of the chapter with its results."""
