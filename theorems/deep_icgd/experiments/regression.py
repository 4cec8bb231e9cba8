"""Figures 1 to 3 at a small scale: transformers trained on in-context regression, beside training on the prompt.

The document trains 12 blocks of width 256 for 500 000 steps on prompts of 50 pairs in 20 dimensions; here it is 3
blocks of width 32, 1000 steps, 12 pairs, 2 dimensions, three seeds each. Prompts grow by half at the test, as there.
The criteria were fixed before the runs that are reported, after trials with another seed and N = 3.

Source: deep-icgd, experiment-setup and figure-1 to figure-3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import mean_interval
from lemmata.theorems.deep_icgd.experiments.tasks import (
    best_trained,
    descent_r_squared,
    label_mean_r_squared,
    predictions,
    r_squared,
    sample_tasks,
    train_transformer,
)
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = [
    "BASELINE",
    "LAST_DIGIT",
    "LENGTHS",
    "REGRESSION",
    "TRANSFORMER",
    "depth_criteria",
    "judge",
    "length_criteria",
    "measured",
    "needed",
    "work",
]

Json = Mapping[str, Any]

MIXTURES = (0.0, 0.1, 0.3, 0.5)  # the shares w_2 of inputs around +2; trained on 0
LENGTHS = (1, 2, 3, 4, 6, 8, 10, 11, 12, 14, 16, 18)  # examples in the prompt
WITHIN, BEYOND = (3, 6, 12), 18
DEPTH_LENGTHS = (4, 8, 11)
COMPARABLE = 0.1
# Results have five digits. Rounding errors far below a unit of the last one change a number by at most this unit, which
# is at most 1e-4 of it.
LAST_DIGIT = 1e-4

TRANSFORMER = {
    "trained": 12, "longest": 18, "width": 32, "heads": 4, "batch": 32, "steps": 1000, "rate": 3e-3, "tests": 640
}  # fmt: skip
BASELINE = {"longest": 18, "tests": 640, "rates": [0.03, 0.1], "epochs": 100, "step sizes": [1, 2, 4]}


def _tests(item: Json, mixture: int) -> tuple[Any, Any]:
    """The same tasks for all models and baselines of one N."""
    rng = np.random.default_rng([7, item["layers"], mixture])
    return sample_tasks(item["layers"], item["tests"], item["longest"] + 1, MIXTURES[mixture], rng)


def _rounded(values: Iterable[float]) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def work(item: Json) -> dict[str, Any]:
    """One transformer, or all baselines of one N."""
    return _baselines(item) if item["kind"] == "baseline" else _transformer(item)


def _transformer(item: Json) -> dict[str, Any]:
    return {"R2": measured(train_transformer(item), item)}


def measured(model: Any, item: Json) -> list[list[float]]:
    """R^2 of a trained transformer at the lengths, for each mixture."""
    import torch

    result = []
    for mixture in range(len(MIXTURES)):
        x, y = _tests(item, mixture)
        with torch.no_grad():
            predicted = predictions(model, *(torch.tensor(part, dtype=torch.float32) for part in (x, y)))
        result.append(_rounded(r_squared(predicted.double().numpy(), y)[list(LENGTHS)]))
    return result


def _baselines(item: Json) -> dict[str, Any]:
    """R^2 by mixture and length of training on the prompt and of the mean label; descent by step size and step."""
    trained, means, lengths = [], [], (*WITHIN, BEYOND)
    for mixture in range(len(MIXTURES)):
        x, y = _tests(item, mixture)
        trained.append(
            _rounded(best_trained(item["layers"], x, y, k, item["rates"], item["epochs"], seed=1) for k in lengths)
        )
        means.append(_rounded(label_mean_r_squared(y, lengths)))
    x, y = _tests(item, 0)
    descent = [
        _rounded(descent_r_squared(item["layers"], x, y, WITHIN[-1], eta, item["epochs"], 5, seed=1))
        for eta in item["step sizes"]
    ]
    return {"trained": trained, "means": means, "descent": descent}


def _scale(
    layers: Iterable[int], blocks: Iterable[int], seeds: int, trained: Json, baseline: Json
) -> dict[str, dict[str, Any]]:
    """Every attention, N and seed with the most blocks, and the other numbers of blocks for the first N."""
    blocks = tuple(blocks)
    first, *others = layers = tuple(layers)
    sizes = [(first, B) for B in (blocks[-1], *blocks[:-1])] + [(N, blocks[-1]) for N in others]
    items: dict[str, dict[str, Any]] = {
        f"{attention}-N{N}-blocks{B}-{seed}": {
            "kind": "transformer", "attention": attention, "layers": N, "blocks": B, "seed": seed, **trained
        }
        for N, B in sizes
        for attention in ("relu", "softmax")
        for seed in range(seeds)
    }  # fmt: skip
    return {f"baseline-N{N}": {"kind": "baseline", "layers": N, **baseline} for N in layers} | items


def _groups(items: Mapping[str, Json], results: Mapping[str, Json]) -> dict[tuple[str, int, int], np.ndarray]:
    """R^2 by attention, N and blocks, with the axes seed, mixture and length."""
    groups: dict[tuple[str, int, int], list[Any]] = {}
    for key, item in items.items():
        if item["kind"] == "transformer":
            name = (item["attention"], item["layers"], item["blocks"])
            groups.setdefault(name, []).append(results[key]["R2"])
    return {name: np.array(values) for name, values in groups.items()}


def _at(*lengths: int) -> list[int]:
    return [LENGTHS.index(k) for k in lengths]


def judge(items: Mapping[str, Json], results: Mapping[str, Json]) -> Findings:
    """Numbers and criteria of all three figures."""
    groups = _groups(items, results)
    baselines = {item["layers"]: results[key] for key, item in items.items() if item["kind"] == "baseline"}
    depths = sorted({blocks for _, _, blocks in groups})
    numbers: dict[str, Any] = {}
    for N, baseline in baselines.items():
        for name, source in (("training on the prompt", "trained"), ("the mean label", "means")):
            numbers[f"N = {N}: R2 of {name}, by mixture, with 3, 6, 12, 18 examples"] = baseline[source]
        numbers[f"N = {N}: R2 of descent by the block with 12 examples after 0, 5, 10, ... steps, best step size"] = (
            max(baseline["descent"], key=max)
        )
    for (attention, N, blocks), values in groups.items():
        for mixture, share in enumerate(MIXTURES):
            for k in (WITHIN[-1], BEYOND):
                numbers[f"{attention}, N = {N}, {blocks} blocks: R2 with {k} examples, {share:.0%} of inputs at +2"] = (
                    mean_interval(values[:, mixture, LENGTHS.index(k)].tolist()).as_dict()
                )
        if blocks == depths[-1]:
            target = float(values[:, 0, LENGTHS.index(WITHIN[-1])].mean())
            numbers[f"{attention}, N = {N}: what the construction needs for the same R2"] = needed(
                N, blocks, target, max(baselines[N]["descent"], key=max)
            )
    widest = {name: values for name, values in groups.items() if name[2] == depths[-1]}
    criteria = [
        criterion
        for statement, attention in (("deep-icgd:figure-1", "relu"), ("deep-icgd:figure-2", "softmax"))
        for criterion in length_criteria(
            statement, {N: values for (name, N, _), values in widest.items() if name == attention}, baselines
        )
    ]
    first = min(baselines)
    for attention in ("relu", "softmax"):
        criteria += depth_criteria(attention, [groups[attention, first, blocks] for blocks in depths])
    return Findings(numbers, tuple(criteria))


def needed(N: int, blocks: int, target: float, curve: list[float]) -> dict[str, Any]:
    """Steps of the construction that fit into so many blocks, and steps and layers until it is as good."""
    reached = [5 * i for i, value in enumerate(curve) if above(value, target)]
    return {
        "steps in as many sublayers": 2 * blocks // (2 * N + 4),
        "steps until as good": reached[0] if reached else None,
        "layers until as good": reached[0] * (2 * N + 4) if reached else None,
    }


def length_criteria(statement: str, runs: Mapping[int, np.ndarray], baselines: Mapping[int, Json]) -> list[Criterion]:
    """Of figures 1 and 2; ``runs`` are of one attention, by N."""
    names = ", ".join(map(str, runs))
    gaps = {
        N: np.array(baselines[N]["trained"][0]) - values[:, 0, _at(*WITHIN, BEYOND)].mean(axis=0)
        for N, values in runs.items()
    }
    means = {N: baselines[N]["means"][0][WITHIN.index(WITHIN[-1])] for N in runs}
    by_mixture = [values[:, :, _at(*WITHIN)].mean(axis=(0, 2)) for values in runs.values()]
    criteria = [
        Criterion(
            statement,
            f"N = {names}: with 12 examples every run has a larger R2 than the mean label",
            all(above(values[:, 0, _at(WITHIN[-1])].min(), means[N]) for N, values in runs.items()),
        ),
        Criterion(
            statement,
            f"N = {names}: with 3, 6 and 12 examples R2, averaged over seeds, is at most {COMPARABLE} below "
            "training on the prompt",
            all(below(gap[:-1].max(), COMPARABLE) for gap in gaps.values()),
        ),
        Criterion(
            statement,
            f"N = {names}: with 18 examples, beyond the trained length, it is at most {COMPARABLE} below as well",
            all(below(gap[-1], COMPARABLE) for gap in gaps.values()),
        ),
        Criterion(
            statement,
            f"N = {names}: R2, averaged over seeds and over 3, 6 and 12 examples, falls with every larger share at +2",
            all(above(a, b) for row in by_mixture for a, b in pairwise(row)),
        ),
    ]
    if statement == "deep-icgd:figure-2":
        last = [values[:, 0, _at(WITHIN[-1], BEYOND)].mean(axis=0) for values in runs.values()]
        criteria.append(
            Criterion(
                statement,
                f"N = {names}: R2, averaged over seeds, is smaller with 18 examples than with 12",
                all(above(within, beyond) for within, beyond in last),
            )
        )
    return criteria


def depth_criteria(attention: str, runs: list[np.ndarray]) -> list[Criterion]:
    """Of figure 3: ``runs`` by the number of blocks."""
    lengths = _at(*DEPTH_LENGTHS)
    means = [values[:, 0, lengths].mean() for values in runs]
    gains = (runs[-1] - runs[0])[:, 0, lengths].T
    return [
        Criterion(
            "deep-icgd:figure-3",
            f"{attention}: R2, averaged over seeds and over 4, 8 and 11 examples, grows with every larger depth",
            all(below(a, b) for a, b in pairwise(means)),
        ),
        Criterion(
            "deep-icgd:figure-3",
            f"{attention}: with 4, 8 and 11 examples the gain from the least to the largest depth is positive (95%)",
            all(above(gain.estimate, gain.high - gain.estimate) for gain in map(mean_interval, gains.tolist())),
        ),
    ]


REGRESSION = Experiment(
    name="in-context-regression",
    statements=("deep-icgd:figure-1", "deep-icgd:figure-2", "deep-icgd:figure-3"),
    title="Small transformers trained to regress random tanh networks, beside training on the prompt",
    scales={
        "quick": _scale(
            (3,),
            (1, 2),
            2,
            {**TRANSFORMER, "steps": 10, "tests": 16},
            {**BASELINE, "tests": 16, "rates": [0.03], "epochs": 5, "step sizes": [2]},
        ),
        "full": _scale((3, 4, 6), (1, 2, 3), 3, TRANSFORMER, BASELINE),
    },
    work=work,
    # A transformer has numbers only after 1000 steps, which amplify the errors of float32 to 0.15 of R^2; the training
    # of transformers, with the same code, is repeated for 100 steps by the slice of `longer`. The baselines are
    # computed in float64: after 100 epochs they differ by 2e-9 between processors with and without AVX.
    slice=("baseline-N3", {"step sizes": [1]}),
    unrepeated="all seeds: a transformer has numbers only after 1000 steps; `LONGER` repeats their training",
    rounding=LAST_DIGIT,
    summarise=judge,
)
