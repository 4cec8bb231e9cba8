"""Lottery tickets: do the neurons that a wide network ends up with learn alone, from where they started?"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lemmata.numerics.parity.compiled_training import CompiledRun, train_compiled
from lemmata.numerics.parity.training import Network, initial_network
from lemmata.numerics.runs.comparison import below
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["LOTTERY", "subnetwork", "tickets"]

_LOTTERY = "pareto-frontiers:experiment-lottery"
_LEVELS = (0.1, 0.3)


def subnetwork(network: Network, neurons: NDArray[np.int64]) -> Network:
    """The network of some of the neurons, with the weights and biases that they have, in fresh arrays."""
    return Network(
        network.kind,
        network.degree,
        network.hidden[neurons].copy(),
        network.bias[neurons].copy(),
        network.readout[neurons].copy(),
        network.output_bias.copy(),
    )


def tickets(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed the wide network, its largest neurons rewound and trained alone, and as many of another start.

    The neurons of the other start are those of a fresh wide network, so that the two sides differ in the choice only.
    """
    keep = settings["keep"]
    result: dict[str, Any] = {"wide": [], "ticket": [], "other": [], "relevant": []}
    for seed in settings["seeds"]:
        network = _start(settings, [seed, 0])
        start = copy.deepcopy(network)
        wide = _train(settings, network, [seed, 1])
        top = np.argsort(-np.linalg.norm(network.hidden, axis=1), kind="stable")[:keep]
        other = subnetwork(_start(settings, [seed, 3]), np.arange(keep))
        result["wide"].append(_times(wide))
        result["ticket"].append(_times(_train(settings, subnetwork(start, top), [seed, 2])))
        result["other"].append(_times(_train(settings, other, [seed, 2])))
        result["relevant"].append([int(row[: settings["k"]].sum()) for row in start.hidden[top]])
    return result


def _start(settings: Mapping[str, Any], seed: Sequence[int]) -> Network:
    rng = np.random.default_rng(seed)
    return initial_network(settings["n"], settings["k"], settings["width"], rng, "relu", "sparse")


def _train(settings: Mapping[str, Any], network: Network, seed: Sequence[int]) -> CompiledRun:
    return train_compiled(
        network,
        settings["steps"],
        np.random.default_rng(seed),
        batch=settings["batch"],
        rate=settings["rate"],
        decay=settings["decay"],
        check_every=settings["check_every"],
        held_out=settings["held_out"],
        until_success=False,
    )


def _times(run: CompiledRun) -> dict[str, Any]:
    """The first checks with an error of at most 10 and 30 %, the first error and the least."""
    first = {f"{level}": next((t for t, e in zip(run.steps, run.test_error, strict=True) if e <= level), None)
             for level in _LEVELS}  # fmt: skip
    return {"times": first, "first": run.test_error[0], "least": min(run.test_error)}


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    sides = {side: [run for key in settings for run in results[key][side]] for side in ("wide", "ticket", "other")}
    runs = len(sides["wide"])
    done = {
        side: {level: sum(run["times"][str(level)] is not None for run in found) for level in _LEVELS}
        for side, found in sides.items()
    }
    fisher = {level: _more(done["ticket"][level], done["other"][level], runs) for level in _LEVELS}
    waits = {side: [1e9 if run["times"]["0.3"] is None else float(run["times"]["0.3"]) for run in sides[side]]
             for side in ("ticket", "other")}  # fmt: skip
    sooner = float(stats.mannwhitneyu(waits["ticket"], waits["other"], alternative="less").pvalue)
    relevant = [sum(row) for key in settings for row in results[key]["relevant"]]
    return Findings(
        {
            "networks": runs,
            **{f"{side}, error of {level:.0%} reached": proportion_interval(count, runs).as_dict()
               for side, levels in done.items() for level, count in levels.items()},
            "p, more tickets reach 10 %": fisher[0.1],
            "p, more tickets reach 30 %": fisher[0.3],
            "p, tickets reach 30 % sooner": sooner,
            "relevant inputs among those of a ticket, mean": float(f"{np.mean(relevant):.4g}"),
            "the same for any neurons": float(f"{_expected(settings):.4g}"),
            "median of the least error": {
                side: float(f"{np.median([run['least'] for run in found]):.4g}") for side, found in sides.items()
            },
        },
        (
            Criterion(_LOTTERY, "most wide networks reach a test error of 10 %", 2 * done["wide"][0.1] > runs),
            Criterion(_LOTTERY, "the error of every ticket is above 40 % at its first check",
                      min(run["first"] for run in sides["ticket"]) > 0.4),
            Criterion(_LOTTERY, "most tickets reach 30 %, and most other networks of their size do not",
                      done["other"][0.3] * 2 < runs < done["ticket"][0.3] * 2),
            Criterion(_LOTTERY, "more tickets than others reach 30 %, p < 0.05", below(fisher[0.3], 0.05)),
            Criterion(_LOTTERY, "more tickets than others reach 10 %, p < 0.05", below(fisher[0.1], 0.05)),
            Criterion(_LOTTERY, "tickets reach 30 % sooner, p < 0.05", below(sooner, 0.05)),
        ),
    )  # fmt: skip


def _more(some: int, others: int, runs: int) -> float:
    """The p-value of Fisher's exact test that the first side succeeds more often, with as many runs on either side."""
    table = [[some, runs - some], [others, runs - others]]
    result: Any = stats.fisher_exact(table, alternative="greater")
    return float(result.pvalue)


def _expected(settings: Mapping[str, Any]) -> float:
    """The mean number of relevant inputs that as many random rows of two ones have."""
    return float(np.mean([2 * s["keep"] * s["k"] / s["n"] for s in settings.values()])) if settings else math.nan


def _setting(seeds: range, **changes: Any) -> dict[str, Any]:
    return {
        "n": 50, "k": 5, "width": 100, "keep": 5, "batch": 32, "rate": 0.1, "decay": 0.0, "steps": 60_000,
        "check_every": 1000, "held_out": 2000, "seeds": list(seeds), **changes,
    }  # fmt: skip


LOTTERY = Experiment(
    name="lottery-tickets",
    statements=(_LOTTERY,),
    title="Five neurons of a wide network, rewound and trained alone: n = 50, k = 5, fresh samples, 2-sparse rows",
    scales={
        "quick": {"seeds-0": _setting(range(100, 108), n=20, k=3, keep=4, steps=8000, check_every=200)},
        "full": {f"seeds-{i}": _setting(range(100 + 4 * i, 104 + 4 * i)) for i in range(8)},
    },
    work=tickets,
    summarise=_summarise,
    slice=("seeds-0", {"seeds": [100]}),
    others=(("seeds-7", {"seeds": [131]}),),
    unrepeated="a seed in between, which takes a second and a half",
)
