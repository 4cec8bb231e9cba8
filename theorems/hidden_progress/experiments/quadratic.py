"""Experiment on deep networks with the activation z^2, trained from end to end (appendix B.3.7).

Rate 0.01, batches of 32 and the uniform start, the inputs, degrees, widths and numbers of steps as printed, with an
output bias, without which a last width of 1 has outputs of one sign. Printed are 10 seeds; the runs with k <= 6 have
20. "Converged" is an accuracy of 1 at a check, every 1000 steps: on all inputs for n = 10, on 8192 held-out ones for
n = 20 and 30, where an error of 4 in 10^4 would show with probability 0.96.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lemmata.numerics.parity.quadratic_training import initial_quadratic, train_quadratic
from lemmata.numerics.runs.confidence import median_interval, proportion_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["QUADRATIC", "train_cell"]

_STATEMENT = "hidden-progress:construction-layerwise"
_CHANCE = 0.75  # an accuracy that a network without the parity does not reach


def train_cell(settings: dict[str, Any]) -> dict[str, Any]:
    """The convergence times of all seeds of a cell (None: not converged), and their best accuracies."""
    runs = []
    for seed in settings["seeds"]:
        start, samples = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
        network = initial_quadratic(
            settings["n"], settings["widths"], start, output_bias=settings.get("output_bias", True)
        )
        runs.append(train_quadratic(network, settings["k"], settings["steps"], samples))
    return {"times": [run.converged for run in runs], "best": [float(f"{run.best:.5g}") for run in runs]}


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers: dict[str, Any] = {}
    shares: dict[str, list[float]] = {"three": [], "four": [], "long": [], "beyond": []}
    best = []
    for key, cell in settings.items():
        times = [time for time in results[key]["times"] if time is not None]
        share = len(times) / len(cell["seeds"])
        numbers[key] = {
            "converged": proportion_interval(len(times), len(cell["seeds"])).as_dict(),
            "median time": median_interval(times).as_dict() if len(times) > 5 else None,
            "best accuracy of the others": max(
                (b for b, t in zip(results[key]["best"], results[key]["times"], strict=True) if t is None), default=None
            ),
        }
        group = key.partition("-")[0]
        shares[group].append(share)
        if group == "beyond":
            best += results[key]["best"]
    names = {"three": "L = 3, k <= 4", "four": "L = 4, k <= 6", "long": "L = 4, (10, 7), (20, 7), (30, 7) and (10, 8)"}
    return Findings(
        numbers,
        (
            *(
                Criterion(_STATEMENT, f"{name}: in every cell all runs converge within the printed time",
                          bool(shares[group]) and min(shares[group]) == 1)
                for group, name in names.items()
            ),
            *(
                Criterion(_STATEMENT, f"{name}: in every cell at least half of the runs converge",
                          bool(shares[group]) and min(shares[group]) >= 0.5)
                for group, name in names.items()
            ),
            Criterion(_STATEMENT, "k > 2^(L-1): no run converges", max(shares["beyond"]) == 0),
            Criterion(_STATEMENT, f"k > 2^(L-1): no run has an accuracy above {_CHANCE} at any check",
                      max(best) <= _CHANCE),
        ),
    )  # fmt: skip


def _cell(n: int, k: int, widths: tuple[int, ...], steps: int, seeds: int) -> dict[str, Any]:
    return {"n": n, "k": k, "widths": list(widths), "steps": steps, "seeds": list(range(seeds))}


_SIZES = (10, 20, 30)
_LARGE = ((10, 7), (20, 7), (30, 7), (10, 8))

QUADRATIC = Experiment(
    name="parity-quadratic",
    statements=(_STATEMENT,),
    title="Deep networks with the activation z^2 from end to end: L = 2, 3, 4, n = 10, 20, 30, B = 32",
    scales={
        "quick": {
            "three-n10-k2": _cell(10, 2, (2, 1), 20_000, 10),
            "four-n10-k2": _cell(10, 2, (10, 10, 1), 50_000, 6),
            "long-n10-k7": _cell(10, 7, (10, 10, 1), 20_000, 2),
            "beyond-two-n10-k3": _cell(10, 3, (10,), 10_000, 5),
            "beyond-three-n10-k5": _cell(10, 5, (2, 1), 10_000, 5),
        },
        "full": {
            **{f"three-n{n}-k{k}": _cell(n, k, (2, 1), 20_000, 20) for n in _SIZES for k in (1, 2, 3, 4)},
            **{f"four-n{n}-k{k}": _cell(n, k, (10, 10, 1), 50_000, 20) for n in _SIZES for k in range(1, 7)},
            **{f"long-n{n}-k{k}": _cell(n, k, (10, 10, 1), 500_000, 10) for n, k in _LARGE},
            **{f"beyond-two-n{n}-k{k}": _cell(n, k, (10,), 50_000, 10) for n in _SIZES for k in (3, 4)},
            **{f"beyond-three-n{n}-k{k}": _cell(n, k, (2, 1), 50_000, 10) for n in _SIZES for k in (5, 6)},
            **{f"beyond-wide-n{n}-k{k}": _cell(n, k, (10, 1), 50_000, 10) for n in _SIZES for k in (5, 6)},
        },
    },
    work=train_cell,
    summarise=_summarise,
    slice=("three-n10-k2", {"seeds": [0, 1, 2, 3]}),
    others=(("three-n20-k2", {"seeds": [10]}), ("four-n10-k4", {"seeds": [19]})),
)
