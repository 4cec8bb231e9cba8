"""Figures 8.1-8.3, 8.4b, E.3, E.5-E.7: the phases of a two-layer transformer and of the minimal model, for two states.

With them the last of the remarks that follow lemma 8.4: what the positional encodings of a transformer depend on.
Thresholds were fixed after one run of each model with a seed that is not among those reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import mean_interval, median_interval, proportion_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.induction_heads.experiments.measures import (
    LAST_DIGIT,
    TestSet,
    attention_to,
    closest,
    curves,
    first_below,
    phases,
    positional_weights,
    rounded,
    symbol_distance,
)
from lemmata.theorems.induction_heads.experiments.training import PRIORS, minimal_model, training_steps, transformer

__all__ = ["PHASES", "in_order", "most", "over_seeds"]

Result = Mapping[str, Any]

ORDER = ["uniform", "unigram", "bigram"]
COMMON = {"k": 2, "context": 100, "batch": 64, "tests": 2000, "every": 20}


def settings(model: str, seeds: Sequence[int], **changes: Any) -> dict[str, dict[str, Any]]:
    """The items of one model; the document has rate 3e-5 for transformers, which takes far longer."""
    own: dict[str, Any] = (
        {"width": 16, "rate": 3e-3, "steps": 600} if model == "transformer" else {"rate": 2e-3, "steps": 1200}
    )
    return {f"{model}-{seed}": {"model": model, "seed": seed, **COMMON, **own, **changes} for seed in seeds}


def work(item: Mapping[str, Any]) -> dict[str, Any]:
    """Train one model; the loss on three priors, the distance to the strategies, attention and positional weights."""
    import torch

    torch.set_num_threads(1)
    k, context, seed = item["k"], item["context"], item["seed"]
    tests = {prior: TestSet.sample(prior, k, 2, context, item["tests"], seed) for prior in PRIORS}
    small = item["model"] == "minimal"
    if small:
        model = minimal_model(k, context)
        optimiser: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), item["rate"])
    else:
        model = transformer(k, context, 2, 1, item["width"], seed)
        optimiser = torch.optim.AdamW(model.parameters(), item["rate"], weight_decay=0.0)

    def measure() -> dict[str, Any]:
        found: dict[str, Any] = tests["flat"].measure(model)
        for prior in PRIORS[1:]:
            found[f"loss, {prior}"] = tests[prior].measure(model)["loss"]
        found["positions"] = positional_weights(model, 7)
        if small:
            found["W"] = model.W.detach().numpy().ravel().astype(float)
        else:
            found["symbols"] = symbol_distance(model)
            found["previous"], found["matches"] = attention_to(model, tests["flat"].tokens[:50])
        return found

    steps = training_steps(model, optimiser, {"flat": item["batch"]}, k, 2, seed)
    found = curves(steps, item["steps"], item["every"] * (5 if small else 1), measure)
    lines = {prior: {name: rounded(loss) for name, loss in test.lines().items()} for prior, test in tests.items()}
    return {"lines": lines, **found}


def summarise(items: Mapping[str, Any], results: Mapping[str, Result]) -> Findings:
    """Judge the phases."""
    by_model = {
        model: [results[key] for key, item in items.items() if item["model"] == model]
        for model in ("transformer", "minimal")
    }
    large, small = by_model["transformer"], by_model["minimal"]
    context = next(iter(items.values()))["context"]
    numbers = {**_numbers("transformer", large), **_numbers("minimal model", small)}
    numbers["transformer: final weight of layer 1 on the previous token"] = over_seeds(
        [r["previous"][-1] for r in large]
    )
    numbers["transformer: final weight of layer 2 on matches"] = over_seeds([r["matches"][-1] for r in large])
    numbers["transformer: largest distance between the encodings of both symbols"] = over_seeds(
        [max(r["symbols"]) for r in large]
    )
    numbers["transformers with the phases in order"] = _share(large, in_order)
    numbers["minimal models with the phases in order"] = _share(small, in_order)
    return Findings(numbers, (*_transformer_criteria(large, context), *_minimal_criteria(small, large)))


def _transformer_criteria(large: Sequence[Result], context: int) -> tuple[Criterion, ...]:
    uniform = sum(1 / i for i in range(2, context + 1)) / (context - 1)

    def induction_head(r: Result) -> bool:
        return above(r["previous"][-1], 0.9) and above(r["matches"][-1], 0.9)

    def starts_uniform(r: Result) -> bool:
        first = r["previous"][0]
        return above(first, uniform / 2) and below(first, 2 * uniform) and below(r["matches"][0], 0.75)

    drops = [_drop(r) for r in large]
    figure = "induction-heads:figure-"
    order = "the strategy closest to the model is uniform, then unigram, then bigram, in 9 of 10 runs"
    head = "layer 1 puts > 0.9 on the previous token and layer 2 > 0.9 on the matches at the end, in 9 of 10 runs"
    start = "the attention starts uniform: within a factor of 2 on the previous token, < 0.75 on the matches"
    return (
        Criterion(figure + "8.1", order, most(large, in_order)),
        Criterion(figure + "8.2", start, most(large, starts_uniform)),
        Criterion(figure + "8.2", head, most(large, induction_head)),
        Criterion(figure + "E.5", start, most(large, starts_uniform)),
        Criterion(figure + "E.5", head, most(large, induction_head)),
        Criterion(
            figure + "8.3",
            "transformers: at some time the loss is within 25% of the unigram line and KL(model || unigram) < 0.02",
            most(large, _at_unigram),
        ),
        Criterion(
            figure + "8.3",
            "transformers: the loss falls less than half as fast on the plateau as in the drops on both sides of it",
            most(large, _plateau),
        ),
        Criterion(figure + "8.3", "transformers end below 2.5 times the bigram line", most(large, _near_bayes)),
        Criterion(
            figure + "E.3",
            "every run has the phases in order, a plateau as in Figure 8.3, and ends below 2.5 times the bigram line",
            all(in_order(r) and _plateau(r) and _near_bayes(r) for r in large),
        ),
        Criterion(
            figure + "E.3",
            "the runs do not all have the second drop (below half of the unigram line) at the same measurement",
            len({*drops}) > 1 or len(drops) == 1,
        ),
    )


def _minimal_criteria(small: Sequence[Result], large: Sequence[Result]) -> tuple[Criterion, ...]:
    figure = "induction-heads:figure-"
    comb = "v_2 is the largest entry, and v_4 and v_6 exceed the means of their neighbours"
    shares = [float(np.median([_time_at_unigram(r) for r in runs])) for runs in (small, large)]
    quick = "the loss is within 25% of the unigram line in a third of the time that the bigram strategy takes"
    return (
        Criterion(
            figure + "8.3", "minimal models end closest to bigram", most(small, lambda r: closest(r)[-1] == "bigram")
        ),
        Criterion(
            figure + "8.3",
            "minimal models spend a smaller share of the time before that near unigram (KL < 0.02) than transformers",
            below(shares[0], shares[1]),
        ),
        Criterion(
            figure + "8.3",
            "no minimal model ever gets as low as the worst transformer ends",
            above(min(min(r["loss"]) for r in small), max(float(np.mean(r["loss"][-5:])) for r in large)),
        ),
        Criterion(
            figure + "8.4b",
            f"when bigram has become the closest strategy, before convergence, {comb}",
            most(small, lambda r: _comb(r["positions"][_turn(r)]) and _unconverged(r)),
        ),
        Criterion(
            figure + "8.4b",
            "at that time the diagonal of W exceeds twice the modulus of the other entries",
            most(small, lambda r: _diagonal(r["W"][_turn(r)])),
        ),
        Criterion(
            figure + "E.7",
            f"minimal models: after 64,000 examples {comb}",
            most(small, lambda r: _comb(r["positions"][_index(r, 1000)])),
        ),
        Criterion(
            figure + "E.7",
            f"transformers: at the last measurement above 3/4 of the unigram line {comb}",
            most(large, lambda r: _comb(r["positions"][_before_drop(r)])),
        ),
        Criterion(
            "induction-heads:observation-8.4",
            f"transformers: at the last measurement above 3/4 of the unigram line {comb}",
            most(large, lambda r: _comb(r["positions"][_before_drop(r)])),
        ),
        Criterion(
            "induction-heads:observation-8.4",
            "the encodings of both symbols differ by < 0.1 in total variation at 9 of 10 measurements, in 9 of 10 runs",
            most(large, _same_for_both_symbols),
        ),
        Criterion(figure + "E.6", f"transformers: {quick}", most(large, _quickly_unigram)),
        Criterion(figure + "E.6", f"minimal models: {quick}", most(small, _quickly_unigram)),
    )


def in_order(result: Result) -> bool:
    """Whether the model was closest to uniform, then to unigram, then to bigram, without going back."""
    return phases(result) == ORDER


def most(runs: Sequence[Result], holds: Callable[[Result], bool]) -> bool:
    """Whether something holds in 9 of 10 runs or more (in all, if there are fewer)."""
    return 10 * sum(holds(r) for r in runs) >= 9 * len(runs)


def over_seeds(values: Sequence[float], median: bool = False) -> Any:
    """The mean or the median with its interval at 95%; the values themselves if there are too few for it."""
    if len(values) < 6:
        return rounded(list(values))
    interval = median_interval(values) if median else mean_interval(values)
    return {name: rounded(value) for name, value in interval.as_dict().items()}


def _share(runs: Sequence[Result], holds: Callable[[Result], bool]) -> dict[str, float]:
    interval = proportion_interval(sum(holds(r) for r in runs), len(runs))
    return {name: rounded(value) for name, value in interval.as_dict().items()}


def _numbers(name: str, runs: Sequence[Result]) -> dict[str, Any]:
    found = {
        f"{name}: final loss": [float(np.mean(r["loss"][-5:])) for r in runs],
        f"{name}: least loss": [min(r["loss"]) for r in runs],
        f"{name}: least KL(model || unigram)": [min(r["unigram"]) for r in runs],
        f"{name}: share of the time before bigram near unigram": [_time_at_unigram(r) for r in runs],
        f"{name}: final loss, iid": [r["loss, iid"][-1] for r in runs],
        f"{name}: final loss, doubly stochastic": [r["loss, doubly stochastic"][-1] for r in runs],
    }
    numbers = {key: over_seeds(values) for key, values in found.items()}
    numbers[f"{name}: step at which bigram becomes closest"] = over_seeds(
        [r["steps"][_turn(r)] for r in runs], median=True
    )
    return numbers


def _line(result: Result, strategy: str) -> float:
    return result["lines"]["flat"][strategy]


def _turn(result: Result) -> int:
    """The index of the first measurement with bigram closest; the last one if there is none."""
    names = closest(result)
    return names.index("bigram") if "bigram" in names else len(names) - 1


def _index(result: Result, step: int) -> int:
    """The index of the last measurement up to a step."""
    return max(i for i, s in enumerate(result["steps"]) if s <= step)


def _drop(result: Result) -> int | None:
    return first_below(result["steps"], result["loss"], _line(result, "unigram") / 2)


def _before_drop(result: Result) -> int:
    return max(i for i, loss in enumerate(result["loss"]) if above(loss, 0.75 * _line(result, "unigram")))


def _at_unigram(result: Result) -> bool:
    line = _line(result, "unigram")
    pairs = zip(result["loss"], result["unigram"], strict=True)
    return any(below(abs(loss - line), line / 4) and below(distance, 0.02) for loss, distance in pairs)


def _time_at_unigram(result: Result) -> float:
    """The share of the measured intervals before the turn to bigram at whose beginning KL(model || unigram) < 0.02."""
    steps, distances = result["steps"][: _turn(result) + 1], result["unigram"]
    lengths = np.diff(steps)
    near = np.array([below(distance, 0.02) for distance in distances[: len(lengths)]], dtype=bool)
    return float((lengths * near).sum() / max(1, lengths.sum()))


def _plateau(result: Result) -> bool:
    """Compare rates of descent over at least 40 steps: first drop, slowest before the fastest of the second drop."""
    steps, losses = np.array(result["steps"]), np.array(result["loss"])
    start = first_below(result["steps"], result["loss"], 1.25 * _line(result, "unigram"))
    if start is None or not _near_bayes(result):
        return False
    fine = steps % 20 == 0
    steps, losses = steps[fine], losses[fine]
    rates = (losses[:-2] - losses[2:]) / (steps[2:] - steps[:-2])
    before, after = rates[steps[:-2] < start], rates[steps[:-2] >= start]
    fastest = int(np.argmax(after))
    slowest = after[: fastest + 1].min()
    return below(2 * slowest, after[fastest]) and below(2 * slowest, before.max())


def _near_bayes(result: Result) -> bool:
    return below(float(np.mean(result["loss"][-5:])), 2.5 * _line(result, "bigram"))


def _quickly_unigram(result: Result) -> bool:
    reached = first_below(result["steps"], result["loss"], 1.25 * _line(result, "unigram"))
    return reached is not None and "bigram" in closest(result) and 3 * reached <= result["steps"][_turn(result)]


def _comb(v: Sequence[float]) -> bool:
    return max(v) == v[1] and above(v[3], (v[2] + v[4]) / 2) and above(v[5], (v[4] + v[6]) / 2)


def _unconverged(result: Result) -> bool:
    return "bigram" in closest(result) and above(result["loss"][_turn(result)], 1.25 * result["loss"][-1])


def _same_for_both_symbols(result: Result) -> bool:
    return 10 * sum(below(distance, 0.1) for distance in result["symbols"]) >= 9 * len(result["symbols"])


def _diagonal(W: Sequence[float]) -> bool:
    a, b, c, d = W
    return above(min(a, d), 2 * max(abs(b), abs(c)))


_SHORT = {"context": 64, "tests": 1000}
PHASES = Experiment(
    name="induction-head-phases",
    statements=(
        *(f"induction-heads:figure-{n}" for n in ("8.1", "8.2", "8.3", "8.4b", "E.3", "E.5", "E.6", "E.7")),
        "induction-heads:observation-8.4",
    ),
    title="Phases of a two-layer transformer and of the minimal model in learning two-state chains in context",
    scales={
        "quick": {
            **settings("transformer", [0], **_SHORT, steps=480),
            **settings("minimal", [0], **_SHORT, steps=1600),
        },
        "full": {**settings("transformer", range(10)), **settings("minimal", range(10))},
    },
    work=work,
    summarise=summarise,
    slice=("transformer-0", {"steps": 12}),
    others=(("transformer-5", {"steps": 12}), ("minimal-9", {"steps": 20})),
    rounding=LAST_DIGIT,
)
