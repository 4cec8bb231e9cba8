"""Experiments on hidden progress in single sinusoidal neurons and in narrow networks (figures 5.3, B.8 right and B.9).

A neuron is sin(scale (w.x + b) + shift) of `lemmata.numerics.parity.sinusoidal_neuron`; at scale pi/2 its solution is w
= 1_S. For the gaps the scale is 1, so that the angles are uniform in +-1/sqrt(n), as in the left part of figure B.8.

Of a run are kept: the step until which its accuracy is below 55 %, the first with 60 % and with 95 %, the first at
which the relevant weights exceed all others (all of them for a neuron, the largest of them for a network), and, on a
grid of steps, its movement max |w - w(0)| and the size of its relevant weights (the least for a neuron, the largest for
a network).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lemmata.numerics.fourier.gaps import majority_gap, sinusoid_gap
from lemmata.numerics.parity.compiled_training import train_compiled
from lemmata.numerics.parity.sinusoidal_neuron import initial_neurons, train_neurons
from lemmata.numerics.parity.training import initial_network, network_output
from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import median_interval
from lemmata.numerics.runs.ranks import rank_correlation
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["GAP_GROWTH", "HIDDEN_PROGRESS", "gap_paths", "progress_courses"]

_HIDDEN, _MEASURE = "hidden-progress:experiment-5.3", "hidden-progress:definition-progress-measure"
_GROWTH = "hidden-progress:experiment-B.8-right"


def _course(
    steps: Sequence[int], accuracy: Any, ahead: Any, movement: Any, relevant: Any, grid: int, signal: bool
) -> dict[str, Any]:
    """What is kept of one run; of a run on noise only its movement."""
    kept = [i for i, step in enumerate(steps) if step % grid == 0]
    record: dict[str, Any] = {"movement": _short(movement[i] for i in kept)}
    if not signal:
        return record

    def first(met: Any) -> int | None:
        return next((step for step, true in zip(steps, met, strict=True) if true), None)

    converged = first(accuracy == 1)
    last = max(i for i, a in enumerate(accuracy) if a < 0.55 and steps[i] < (converged or math.inf))
    end = -1 if converged is None else list(steps).index(converged)
    return {
        "flat until": steps[last], "60 %": first(accuracy >= 0.6), "95 %": first(accuracy >= 0.95),
        "converged": converged, "ahead": first(ahead), **record, "relevant": _short(relevant[i] for i in kept),
        "moved": _short((movement[last], movement[end])),
    }  # fmt: skip


def _short(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def _neurons(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Sinusoidal neurons that are trained side by side."""
    rng, noise = np.random.default_rng([settings["seed"], settings["batch"]]), settings["noise"]
    neurons = initial_neurons(settings["runs"], settings["n"], settings["k"], rng, math.pi / 2)
    found = train_neurons(
        neurons, settings["k"], rng, steps=settings["steps"], batch=settings["batch"], rate=settings["rate"],
        noise=noise, check_every=settings["check_every"],
    )  # fmt: skip
    accuracy, relevant, others, movement = map(
        np.array, (found.accuracy, found.least_relevant, found.largest_irrelevant, found.movement)
    )
    return [
        _course(found.steps, accuracy[:, r], relevant[:, r] > others[:, r], movement[:, r], relevant[:, r],
                settings["grid"], noise < 0.5)
        for r in range(settings["runs"])
    ]  # fmt: skip


def _network(settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """One ReLU network of width 10, trained by `train_compiled` from check to check."""
    n, k, every = settings["n"], settings["k"], settings["check_every"]
    network = initial_network(n, k, 10, np.random.default_rng([seed, 0]))
    rng, start = np.random.default_rng([seed, settings["batch"]]), network.hidden.copy()
    x = (2.0 * rng.integers(0, 2, size=(2**11, n)) - 1).astype(np.float32)
    y = np.prod(x[:, :k], axis=1)
    records: list[tuple[Any, ...]] = []
    for step in range(0, settings["steps"] + 1, every):
        if step:
            train_compiled(network, every, rng, batch=settings["batch"], rate=settings["rate"], decay=0.0,
                           noise=settings["noise"], check_every=every, held_out=1)  # fmt: skip
        sizes = np.abs(network.hidden).max(axis=0)
        accuracy, relevant = np.mean(network_output(network, x) * y > 0), sizes[:k].max()
        records.append((step, accuracy, relevant > sizes[k:].max(), np.abs(network.hidden - start).max(), relevant))
        if accuracy == 1:
            break
    steps, accuracies, ahead, movement, relevants = map(np.array, zip(*records, strict=True))
    return _course(steps.tolist(), accuracies, ahead, movement, relevants, settings["grid"], settings["noise"] < 0.5)


def progress_courses(settings: dict[str, Any]) -> dict[str, Any]:
    """The courses of one kind of model at one batch size."""
    if settings["model"] == "neuron":
        return {"runs": _neurons(settings)}
    return {"runs": [_network(settings, seed) for seed in range(settings["seed"], settings["seed"] + settings["runs"])]}


def _rank_on_noise(run: Mapping[str, Any], noise: Sequence[Mapping[str, Any]], grid: int) -> float:
    """The share of the runs on noise that have moved less than a run at the end of its plateau.

    Their movement is taken at the next step of the grid, not before that end; 0 where they were not followed so far.
    """
    at = -(-run["flat until"] // grid)
    if any(at >= len(other["movement"]) for other in noise):
        return 0.0
    return float(np.mean([other["movement"][at] < run["moved"][0] for other in noise]))


def _predicts(runs: Sequence[Mapping[str, Any]], grid: int, name: str) -> dict[str, float]:
    """The rank correlation of a measure at half of the median time with the time that is left, over live runs."""
    times = sorted(run["converged"] or math.inf for run in runs)
    index = int(times[(len(times) - 1) // 2] / 2) // grid
    live = [run for run in runs if (run["converged"] or math.inf) > index * grid]
    found = rank_correlation([run[name][index] for run in live], [run["converged"] or math.inf for run in live])
    return {"step": index * grid, "runs": len(live), "correlation": round(found.correlation, 4), "p": found.falling}


def _judged(runs: list[dict[str, Any]], noise: list[dict[str, Any]], grid: int) -> dict[str, Any]:
    """The numbers of one model and batch size. A run without convergence counts as one that shows nothing."""
    done = [run for run in runs if run["converged"] is not None]
    shown = [_rank_on_noise(run, noise, grid) for run in done]
    return {
        "runs": len(runs), "converged": len(done),
        "median time": median_interval([run["converged"] for run in done]).as_dict(),
        "plateau": median_interval([run["flat until"] / run["converged"] for run in done]).as_dict(),
        "drop": median_interval([(run["95 %"] - run["flat until"]) / run["converged"] for run in done]).as_dict(),
        "moved": median_interval([run["moved"][0] / run["moved"][1] for run in done]).as_dict(),
        "above noise": sum(share >= 0.95 for share in shown),
        "ahead first": sum(run["ahead"] is not None and run["ahead"] <= run["60 %"] for run in done),
        "movement": _predicts(runs, grid, "movement"), "relevant": _predicts(runs, grid, "relevant"),
    }  # fmt: skip


def _summarise_progress(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    cells = {
        key: _judged(results[key]["runs"], results[f"noise-{key}"]["runs"], cell["grid"])
        for key, cell in settings.items() if not key.startswith("noise")
    }  # fmt: skip
    neurons = [cell for key, cell in cells.items() if key.startswith("neuron")]
    networks = [cell for key, cell in cells.items() if key.startswith("network")]
    every = [*neurons, *networks]
    return Findings(
        cells,
        (
            Criterion(_HIDDEN, "neurons: the median share of the time below 55 % accuracy is above a half (95 %)",
                      all(above(cell["plateau"]["low"], 0.5) for cell in neurons)),
            Criterion(_HIDDEN, "neurons: the way from there to 95 % takes less than a third of the time (median, 95 %)",
                      all(below(cell["drop"]["high"], 1 / 3) for cell in neurons)),
            Criterion(_HIDDEN, "networks: the median share of the time below 55 % is above a quarter (95 %)",
                      all(above(cell["plateau"]["low"], 0.25) for cell in networks)),
            *(
                criterion
                for name, group in (("neurons", neurons), ("networks", networks))
                for criterion in (
                    Criterion(_HIDDEN, f"{name}: at the end of the plateau |w - w(0)|_inf is above a quarter of its "
                              "value at convergence (median, 95 %)",
                              all(above(cell["moved"]["low"], 0.25) for cell in group)),
                    Criterion(_HIDDEN, f"{name}: and above that of 95 % of the runs on random labels at that step, in "
                              "80 % of the runs", all(cell["above noise"] >= 0.8 * cell["runs"] for cell in group)),
                )
            ),
            Criterion(_MEASURE, "the relevant weights exceed all others before the accuracy is 60 %, in 90 % of the "
                      "runs that converge", all(cell["ahead first"] >= 0.9 * cell["converged"] for cell in every)),
            Criterion(_MEASURE, "neurons: at half of the median time both measures predict the time left (rank "
                      "correlation below 0, p < 0.01)",
                      all(below(cell[name]["p"], 0.01) for cell in neurons for name in ("movement", "relevant"))),
            Criterion(_MEASURE, "networks: one of them does, p < 0.005",
                      all(below(min(cell[name]["p"] for name in ("movement", "relevant")), 0.005)
                          for cell in networks)),
        ),
    )  # fmt: skip


def _cell(model: str, batch: int, rate: float, steps: int, check_every: int, grid: int, noise: float = 0.0,
          **changes: Any) -> dict[str, Any]:  # fmt: skip
    return {"model": model, "n": 50, "k": 3, "runs": 30, "seed": 9000 if noise else 4000, "batch": batch, "rate": rate,
            "steps": steps, "check_every": check_every, "grid": grid, "noise": noise, **changes}  # fmt: skip


def _both(model: str, batch: int, rate: float, steps: int, check_every: int, grid: int, followed: int,
          **changes: Any) -> dict[str, Any]:  # fmt: skip
    """A cell with right labels and one with random labels, which is followed for so many steps."""
    key = f"{model}-b{batch}"
    return {
        key: _cell(model, batch, rate, steps, check_every, grid, **changes),
        f"noise-{key}": _cell(model, batch, rate, followed, check_every, grid, 0.5, **changes),
    }


HIDDEN_PROGRESS = Experiment(
    name="parity-hidden-progress",
    statements=(_HIDDEN, _MEASURE),
    title="Movement of the weights before progress: sinusoidal neurons and ReLU networks of width 10 at (50, 3)",
    scales={
        "quick": {
            **_both("neuron", 32, 0.01, 2000, 10, 50, 800, n=20),
            **_both("network", 32, 0.5, 4000, 20, 100, 1000, n=20),
        },
        "full": {
            **_both("neuron", 1, 0.0005, 80_000, 100, 2000, 40_000),
            **_both("neuron", 4, 0.002, 40_000, 50, 500, 16_000),
            **_both("neuron", 32, 0.01, 10_000, 10, 100, 3000),
            **_both("neuron", 128, 0.01, 5000, 10, 100, 2500),
            **_both("network", 4, 0.1, 60_000, 100, 1000, 16_000),
            **_both("network", 32, 0.5, 10_000, 50, 100, 3000),
            **_both("network", 128, 0.5, 10_000, 50, 100, 3000),
        },
    },
    work=progress_courses,
    summarise=_summarise_progress,
    slice=("network-b32", {"runs": 2}),  # compiled steps; BLAS in the signs of the outputs only
    others=(("network-b128", {"seed": 4029, "runs": 1}), ("noise-network-b32", {"runs": 1})),
)


def gap_paths(settings: dict[str, Any]) -> dict[str, Any]:
    """The gaps of neurons along SGD, relaxed and strict, every so many steps until all have converged."""
    n, k, every = settings["n"], settings["k"], settings["every"]
    rng = np.random.default_rng([settings["seed"], k])
    neurons = initial_neurons(settings["runs"], n, k, rng, 1.0)
    converged: list[int | None] = [None] * settings["runs"]
    relaxed: list[list[float]] = [[] for _ in converged]
    strict: list[list[float]] = [[] for _ in converged]
    for step in range(0, settings["steps"] + 1, every):
        for r, (w, b) in enumerate(zip(neurons.weights, neurons.biases, strict=True)):
            if converged[r] is None:  # the derivative of sin is a sine with a quarter turn more
                found = sinusoid_gap(w, b + neurons.shift + math.pi / 2, range(k))
                relaxed[r].append(float(found.relaxed_gap))
                strict[r].append(float(found.gap))
        if None not in converged:
            break
        chunk = train_neurons(neurons, k, rng, steps=every, batch=settings["batch"], rate=settings["rate"],
                              check_every=every, validation=2**10)  # fmt: skip
        for r in np.flatnonzero(chunk.accuracy[-1] == 1):
            converged[r] = converged[r] or step + every
    return {"runs": [
        {"converged": time, "relaxed": _path(a), "strict": _path(b)}
        for time, a, b in zip(converged, relaxed, strict, strict=True)
    ]}  # fmt: skip


def _path(values: list[float]) -> list[float]:
    """The first, the largest and the last value, and eleven at equal distances."""
    return _short([values[0], max(values), values[-1], *(values[round(i * (len(values) - 1) / 10)] for i in range(11))])


def _summarise_growth(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers: dict[str, Any] = {}
    starts, lower, grown, comparable = [], [], [], []
    for key, cell in settings.items():
        gap = majority_gap(cell["n"], cell["k"]).relaxed_gap
        majority = float(int(gap.p) / int(gap.q))
        runs = results[key]["runs"]
        first = [run["relaxed"][0] for run in runs]
        growth = [run["relaxed"][1] / run["relaxed"][0] for run in runs]
        starts += first
        lower += [below(start, majority) for start in first]
        grown += growth
        comparable.append(above(float(np.median(first)), majority / 10))
        numbers[key] = {
            "gap of majority": majority, "gap at the start": median_interval(first).as_dict(),
            "largest gap over the first": median_interval(growth).as_dict(),
            "strict gaps that are positive at the start": sum(run["strict"][0] > 0 for run in runs),
            "largest strict gap over the first": median_interval(
                [run["strict"][1] / run["strict"][0] for run in runs]).as_dict(),
            "converged": sum(run["converged"] is not None for run in runs), "runs": len(runs),
        }  # fmt: skip
    return Findings(
        numbers,
        (
            Criterion(_GROWTH, "the relaxed gap is positive at the start of every run", above(min(starts), 0)),
            Criterion(_GROWTH, "it is below majority's at the start of 80 % of the runs, its median above a tenth",
                      sum(lower) >= 0.8 * len(lower) and all(comparable)),
            Criterion(_GROWTH, "it grows by a quarter before convergence in 90 % of the runs, and doubles in half",
                      sum(above(factor, 1.25) for factor in grown) >= 0.9 * len(grown)
                      and sum(above(factor, 2) for factor in grown) >= len(grown) / 2),
        ),
    )  # fmt: skip


def _path_of(k: int, steps: int = 40_000, **changes: Any) -> dict[str, Any]:
    return {"n": 15, "k": k, "runs": 10, "seed": 3000, "batch": 32, "rate": 0.02, "steps": steps, "every": 20,
            **changes}  # fmt: skip


GAP_GROWTH = Experiment(
    name="parity-gap-growth",
    statements=(_GROWTH,),
    title="Relaxed Fourier gaps of sinusoidal neurons along SGD, every 20 steps: n = 15, k = 2 and 4, B = 32",
    scales={
        "quick": {"k2": _path_of(2, 2000, n=9)},
        "full": {f"k{k}": _path_of(k) for k in (2, 4)},
    },
    work=gap_paths,
    summarise=_summarise_growth,
    # Float64 through BLAS, errors near 10^-12 of what is kept with four digits: one of 300 numbers lies that close to
    # the boundary of two roundings with probability 10^-5.
    slice=("k2", {"seed": 3000}),
)
