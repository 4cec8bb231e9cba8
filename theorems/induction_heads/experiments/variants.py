"""Figures E.8, E.4, 8.5 and 8.4a: one layer, more symbols, 3-grams, and data without a unigram signal.

All train transformers and watch the loss on chains with independent uniform rows, at the last position. Thresholds were
fixed before the runs that are reported: after runs with other seeds for Figures 8.4a and 8.5, and without any for the
others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import mean_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.induction_heads.experiments.measures import (
    LAST_DIGIT,
    TestSet,
    attention_to,
    closest,
    curves,
    first_below,
    phases,
    rounded,
)
from lemmata.theorems.induction_heads.experiments.phases import in_order, most, over_seeds
from lemmata.theorems.induction_heads.experiments.training import training_steps, transformer

__all__ = ["MORE_SYMBOLS", "ONE_LAYER", "TRIGRAMS", "UNIGRAM_SIGNAL"]

Result = Mapping[str, Any]

BASE = {
    "k": 2,
    "n": 2,
    "context": 100,
    "layers": 2,
    "heads": 1,
    "width": 16,
    "hidden": 0,
    "positions": "relative",
    "rate": 3e-3,
    "data": {"flat": 64},
    "tests": 2000,
}


def work(item: Mapping[str, Any]) -> dict[str, Any]:
    """Train one transformer; loss and distance to the strategies, and the attention of the first head of layer 1."""
    import torch

    torch.set_num_threads(1)
    k, n, context, seed = item["k"], item["n"], item["context"], item["seed"]
    test = TestSet.sample("flat", k, n, context, item["tests"], seed)
    absolute = item["positions"] == "absolute"
    model = transformer(k, context, item["layers"], item["heads"], item["width"], seed, item["hidden"], absolute)
    optimiser = torch.optim.AdamW(model.parameters(), item["rate"], weight_decay=0.0)
    watch = n == 2 and item["layers"] == 2

    def measure() -> dict[str, Any]:
        found: dict[str, Any] = test.measure(model)
        if watch:
            found["previous"], _ = attention_to(model, test.tokens[:50])
        return found

    steps = training_steps(model, optimiser, item["data"], k, n, seed)
    found = curves(steps, item["steps"], item["every"], measure)
    return {"lines": {name: rounded(loss) for name, loss in test.lines().items()}, **found}


def _final(result: Result) -> float:
    return float(np.mean(result["loss"][-5:]))


def _groups(items: Mapping[str, Any], results: Mapping[str, Result]) -> dict[str, list[Result]]:
    """The results by the part of the key before the seed."""
    groups: dict[str, list[Result]] = {}
    for key in items:
        groups.setdefault(key.rpartition("-")[0], []).append(results[key])
    return groups


# ---- one layer


def _one_layer(relative: int, absolute: int, **changes: Any) -> dict[str, dict[str, Any]]:
    """So many runs with relative positions, and with absolute ones, which take longer; each without and with an MLP."""
    return {
        f"{positions}{'-mlp' if hidden else ''}-{seed}": {
            **BASE, "layers": 1, "positions": positions, "hidden": hidden, "seed": seed, **changes
        }
        for positions, runs in (("absolute", absolute), ("relative", relative))
        for hidden in (0, 64)
        for seed in range(runs)
    }  # fmt: skip


def judge_one_layer(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Compare what one layer reaches with the lines of the strategies."""
    numbers = {
        f"{name}: final loss over the unigram line": over_seeds([_final(r) / r["lines"]["unigram"] for r in runs])
        for name, runs in _groups(items, results).items()
    }
    runs = list(results.values())
    statement = "induction-heads:figure-E.8"
    criteria = (
        Criterion(
            statement,
            "no run with one layer gets below 5 times the bigram line",
            all(above(min(r["loss"]), 5 * r["lines"]["bigram"]) for r in runs),
        ),
        Criterion(
            statement,
            "no run with one layer ends below 3/4 of the unigram line",
            all(above(_final(r), 0.75 * r["lines"]["unigram"]) for r in runs),
        ),
        Criterion(
            statement,
            "every run gets within 25% of the unigram line",
            all(below(min(r["loss"]), 1.25 * r["lines"]["unigram"]) for r in runs),
        ),
    )
    return Findings(numbers, criteria)


ONE_LAYER = Experiment(
    name="one-layer-transformers",
    statements=("induction-heads:figure-E.8",),
    title="Transformers with one layer, trained eight times as long as two layers take for the second drop (300 steps)",
    scales={
        "quick": _one_layer(1, 1, steps=400, every=50, context=32, tests=1000),
        "full": _one_layer(2, 1, steps=2400, every=200),
    },
    work=work,
    summarise=judge_one_layer,
    slice=("absolute-0", {"steps": 40}),
    others=(("relative-mlp-1", {"steps": 40}),),
    rounding=LAST_DIGIT,
)


# ---- more symbols


def _more_symbols(
    symbols: Sequence[int], contexts: Sequence[int], seeds: Sequence[int], **changes: Any
) -> dict[str, dict[str, Any]]:
    return {
        f"states-{k}-length-{t}-{seed}": {**BASE, "k": k, "context": t, "seed": seed, **changes}
        for k in symbols
        for t in contexts
        for seed in seeds
    }


def _has_plateau(result: Result) -> bool:
    """Whether the loss, before it falls fastest, falls less than half as fast as at some time before (and so as then).

    Over pairs of measurements that are two apart. The criterion of Figure 8.3 asks when the loss is first within 25% of
    the unigram line, which it is from the beginning where the lines are close.
    """
    steps, losses = np.array(result["steps"]), np.array(result["loss"])
    even = steps % (steps[-1] - steps[-2]) == 0
    steps, losses = steps[even], losses[even]
    rates = (losses[:-2] - losses[2:]) / (steps[2:] - steps[:-2])
    fastest = int(np.argmax(rates))
    slowest = int(np.argmin(rates[: fastest + 1]))
    return below(2 * rates[slowest], rates[: slowest + 1].max())


def judge_more_symbols(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Look for the three phases with more than three states, on long sequences and on shorter ones."""
    numbers: dict[str, Any] = {}
    for name, runs in _groups(items, results).items():
        numbers[f"{name}: phases"] = [phases(r) for r in runs]
        numbers[f"{name}: final loss over the bigram line"] = over_seeds(
            [_final(r) / r["lines"]["bigram"] for r in runs]
        )
        numbers[f"{name}: share of the steps closest to unigram"] = over_seeds(
            [float(np.mean([s == "unigram" for s in closest(r)])) for r in runs]
        )
    longest = max(item["context"] for item in items.values())
    long, short = ([results[key] for key in items if (items[key]["context"] == longest) == x] for x in (True, False))
    statement = "induction-heads:figure-E.4"
    order = "the strategy closest to the model is uniform, then unigram, then bigram, in 9 of 10 runs"
    fewer = "shorter sequences: fewer than 9 of 10 runs have these phases (a unigram phase needs the longer ones)"
    criteria = (
        Criterion(statement, f"longest sequences: {order}", most(long, in_order)),
        Criterion(statement, fewer, not most(short, in_order)),
        Criterion(
            statement,
            "both lengths: before the loss falls fastest, it falls less than half as fast as then and as once before",
            most(long, _has_plateau) and most(short, _has_plateau),
        ),
    )
    return Findings(numbers, criteria)


MORE_SYMBOLS = Experiment(
    name="more-symbols",
    statements=("induction-heads:figure-E.4",),
    title="Phases of a two-layer transformer for four and five states",
    scales={
        "quick": _more_symbols([4], [24, 48], [0], steps=300, every=50, tests=500, data={"flat": 32}),
        "full": _more_symbols(
            [4, 5], [100, 200], range(2), rate=5e-3, steps=400, every=20, data={"flat": 32}, tests=1000
        ),
    },
    work=work,
    summarise=judge_more_symbols,
    slice=("states-4-length-100-0", {"steps": 16}),
    others=(("states-5-length-100-1", {"steps": 16}),),
    rounding=LAST_DIGIT,
)


# ---- 3-grams


def _trigrams(heads: Sequence[int], seeds: Sequence[int], **changes: Any) -> dict[str, dict[str, Any]]:
    return {
        f"heads-{h}-{seed}": {**BASE, "n": 3, "heads": h, "rate": 1e-2, "seed": seed, **changes}
        for h in heads
        for seed in seeds
    }


def judge_trigrams(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Look for the four phases with three heads, and for the end at bigrams with one head."""
    groups = _groups(items, results)
    numbers: dict[str, Any] = {}
    for name, runs in groups.items():
        numbers[f"{name}: phases"] = [phases(r) for r in runs]
        for strategy in ("bigram", "trigram"):
            ratios = [_final(r) / r["lines"][strategy] for r in runs]
            numbers[f"{name}: final loss over the {strategy} line"] = over_seeds(ratios)
    statement = "induction-heads:figure-8.5"
    three, one = groups["heads-3"], groups.get("heads-1", [])
    order = ["uniform", "unigram", "bigram", "trigram"]
    criteria = (
        Criterion(
            statement,
            "three heads: the closest strategy is uniform, unigram, bigram, trigram, in this order",
            most(three, lambda r: phases(r) == order),
        ),
        Criterion(
            statement,
            "three heads: the last phase is the trigram phase",
            most(three, lambda r: phases(r)[-1] == "trigram"),
        ),
        Criterion(
            statement,
            "three heads end below 2.5 times the trigram line",
            most(three, lambda r: below(_final(r), 2.5 * r["lines"]["trigram"])),
        ),
        Criterion(
            statement,
            "one head never gets below 3/4 of the bigram line",
            all(above(min(r["loss"]), 0.75 * r["lines"]["bigram"]) for r in one),
        ),
    )
    return Findings(numbers, criteria)


TRIGRAMS = Experiment(
    name="trigrams",
    statements=("induction-heads:figure-8.5",),
    title="Phases in learning 3-grams with three heads per layer, and with one",
    scales={
        "quick": _trigrams([3, 1], [0], steps=200, every=50, context=32, tests=500, data={"flat": 16}),
        "full": _trigrams([3, 1], range(1, 4), steps=800, every=50, context=64, data={"flat": 32}, tests=1000),
    },
    work=work,
    summarise=judge_trigrams,
    slice=("heads-3-1", {"steps": 20}),
    others=(("heads-1-2", {"steps": 20}), ("heads-3-3", {"steps": 20})),
    rounding=LAST_DIGIT,
)


# ---- no unigram signal

ARMS = {
    "doubly-stochastic": {"doubly stochastic": 64},
    "free-unigrams": {"doubly stochastic": 64, "iid": 64},  # the same steps, each with 64 further sequences
    "half-unigrams": {"doubly stochastic": 32, "iid": 32},  # twice as many steps for as many samples
}


def _unigram_signal(seeds: Sequence[int], samples: int, every: int, **changes: Any) -> dict[str, dict[str, Any]]:
    """All arms see equally many doubly stochastic samples, and are measured after every so many of them."""
    items = {}
    for arm, data in ARMS.items():
        per_step = data["doubly stochastic"]
        own = {"k": 4, "data": data, "steps": samples // per_step, "every": every // per_step}
        items.update({f"{arm}-{seed}": {**BASE, **own, "seed": seed, **changes} for seed in seeds})
    return items


def _samples_to(result: Result, item: Mapping[str, Any], name: str) -> float:
    """Doubly stochastic samples until the loss is below 3/4 of the unigram line, or layer 1 looks back by over 1/2."""
    values, level = (
        (result["loss"], 0.75 * result["lines"]["unigram"])
        if name == "drop"
        else ([-p for p in result["previous"]], -0.5)
    )
    step = first_below(result["steps"], values, level)
    return math.inf if step is None else step * item["data"]["doubly stochastic"]


def judge_unigram_signal(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Compare the arms seed by seed: a one-sided sign test, at 5%."""
    seeds = sorted({item["seed"] for item in items.values()})
    numbers: dict[str, Any] = {}
    faster: dict[tuple[str, str], bool] = {}
    for name in ("drop", "previous token"):
        times = {arm: [_samples_to(results[f"{arm}-{s}"], items[f"{arm}-{s}"], name) for s in seeds] for arm in ARMS}
        for arm, values in times.items():
            numbers[f"{arm}: samples to {name}"] = [None if math.isinf(v) else v for v in values]
        for arm in list(ARMS)[1:]:
            wins = sum(a < b for a, b in zip(times["doubly-stochastic"], times[arm], strict=True))
            numbers[f"seeds with {name} earlier without unigrams than with {arm}"] = f"{wins} of {len(seeds)}"
            faster[name, arm] = below(float(stats.binomtest(wins, len(seeds), 0.5, "greater").pvalue), 0.05)
            pairs = zip(times[arm], times["doubly-stochastic"], strict=True)
            ratios = [math.log(b / a) for b, a in pairs if math.isfinite(a) and math.isfinite(b)]
            if len(ratios) > 1:
                interval = mean_interval(ratios).as_dict()
                numbers[f"samples to {name}: {arm} over doubly-stochastic, geometric mean"] = {
                    key: rounded(value if key == "level" else math.exp(value)) for key, value in interval.items()
                }
    for arm in ARMS:
        numbers[f"{arm}: final loss on the full distribution"] = over_seeds(
            [_final(results[f"{arm}-{s}"]) for s in seeds]
        )
    statement = "induction-heads:figure-8.4a"
    reading = {
        "free-unigrams": "64 free unigram samples in each step",
        "half-unigrams": "unigrams as half of each batch",
    }
    events = {"drop": "the drop of the loss on the full distribution", "previous token": "the head in layer 1"}
    later = "comes after fewer doubly stochastic samples than with"
    criteria = [
        Criterion(statement, f"{what} {later} {how}", faster[name, arm])
        for name, what in events.items()
        for arm, how in reading.items()
    ]
    final = {arm: float(np.mean([_final(results[f"{arm}-{s}"]) for s in seeds])) for arm in ARMS}
    alone, *mixed = final.values()
    text = "the loss on the full distribution is also lowest at the end without unigrams"
    criteria.append(Criterion(statement, text, all(below(alone, loss) for loss in mixed)))
    return Findings(numbers, tuple(criteria))


UNIGRAM_SIGNAL = Experiment(
    name="no-unigram-signal",
    statements=("induction-heads:figure-8.4a",),
    title="Doubly stochastic chains of four states, alone or mixed with chains of equal rows",
    scales={
        "quick": _unigram_signal([0], 6400, 1280, context=32, tests=500),
        "full": _unigram_signal(range(10, 16), 32_000, 1280, context=64, tests=1000),
    },
    work=work,
    summarise=judge_unigram_signal,
    slice=("doubly-stochastic-10", {"steps": 20}),
    others=(("free-unigrams-12", {"steps": 20}), ("half-unigrams-15", {"steps": 20})),
    rounding=LAST_DIGIT,
)
