"""How many samples three architectures need on token regression, as prompts get longer.

A prompt has N standard Gaussian tokens of dimension d and a linear link; see `training`. All three get the embedding of
attention. Every check is made on fresh test prompts of the same kind as the training prompts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from scipy import stats

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import mean_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.qstr.experiments.training import (
    LAST_DIGIT,
    admissible_codes,
    attention_network,
    one_thread,
    steps,
)

__all__ = ["SAMPLES", "feed_forward_network", "recurrent_network", "samples_needed"]

_FIGURE = "qstr:figure-1"
MODELS = ("attention", "recurrent", "feed-forward")


def recurrent_network(width: int, hidden: int) -> Any:
    """A gated recurrent network in both directions, read out at each token by a linear map."""
    import torch

    class Recurrent(torch.nn.Module):
        """The ``cell`` and the ``readout``."""

        def __init__(self) -> None:
            super().__init__()
            self.cell = torch.nn.GRU(width, hidden, batch_first=True, bidirectional=True)
            self.readout = torch.nn.Linear(2 * hidden, 1)

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            return self.readout(self.cell(z)[0])[..., 0]

    return Recurrent()


def feed_forward_network(length: int, width: int, first: int, second: int) -> Any:
    """Two layers of ReLUs on the whole prompt, read out to all positions at once."""
    import torch

    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(length * width, first), torch.nn.ReLU(), torch.nn.Linear(first, second),
        torch.nn.ReLU(), torch.nn.Linear(second, length),
    )  # fmt: skip


def samples_needed(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed the number of training prompts at the first check with a small error; None without one."""
    import torch

    N, d, de = settings["length"], settings["dimension"], settings["codes"]
    result: dict[str, Any] = {"samples": [], "errors": []}
    for seed in settings["seeds"]:
        codes = admissible_codes(N, de, settings["largest"], seed)
        errors: list[float] = []
        found: list[int] = []

        def check(step: int, error: float, errors: list[float] = errors, found: list[int] = found) -> bool:
            errors.append(error)
            if error <= settings["threshold"]:
                found.append(step * settings["batch"])
            return bool(found)

        with one_thread():
            torch.manual_seed(seed)
            width = d + 2 * de
            if settings["model"] == "attention":
                model = attention_network(width)
            elif settings["model"] == "recurrent":
                model = recurrent_network(width, settings["hidden"])
            else:
                model = feed_forward_network(N, width, N * d, settings["second"])
            steps(settings, model, codes, seed, check)
        result["samples"].append(found[0] if found else None)
        result["errors"].append(float(f"{errors[-1]:.4g}"))
    return result


def _row(settings: Mapping[str, Any], results: Mapping[str, Any], simple: bool, model: str) -> dict[int, list[float]]:
    return {
        s["length"]: [math.inf if n is None else float(n) for n in results[key]["samples"]]
        for key, s in settings.items() if s["simple"] is simple and s["model"] == model
    }  # fmt: skip


def _growth(row: Mapping[int, Sequence[float]]) -> float:
    """The ratio of the means at the longest and at the shortest prompts."""
    means = [sum(row[N]) / len(row[N]) for N in (max(row), min(row))]
    return means[0] / means[1]


def _less(some: Sequence[float], others: Sequence[float]) -> float:
    """The p-value of the one-sided test of Mann and Whitney that the first samples are smaller."""
    return float(stats.mannwhitneyu(list(some), list(others), alternative="less").pvalue)


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    rows = {(simple, model): _row(settings, results, simple, model) for simple in (False, True) for model in MODELS}
    growth = {key: _growth(row) for key, row in rows.items()}
    longest = {model: rows[False, model][max(rows[False, model])] for model in MODELS}
    names = {False: "1STR", True: "simple 1STR"}
    p = {model: _less(longest["attention"], longest[model]) for model in MODELS[1:]}
    return Findings(
        {
            **{f"{names[simple]}, {model}, N = {N}": mean_interval(values).as_dict()
               for (simple, model), row in rows.items() for N, values in row.items() if max(values) < math.inf},
            **{f"{names[simple]}, {model}, growth": float(f"{ratio:.4g}") if math.isfinite(ratio) else None
               for (simple, model), ratio in growth.items()},
            **{f"1STR, p that attention needs fewer than {model}": float(f"{x:.4g}") for model, x in p.items()},
            "runs that do not get there": sum(n is None for key in settings for n in results[key]["samples"]),
        },
        (
            Criterion(_FIGURE, "(a) at the longest prompts attention needs fewer samples than either other, p < 0.01",
                      below(max(p.values()), 0.01)),
            Criterion(_FIGURE, "(a) from the shortest to the longest prompts the samples of recurrent and feed-forward "
                      "networks grow by a larger factor than those of attention",
                      above(min(growth[False, model] for model in MODELS[1:]), growth[False, "attention"])),
            Criterion(_FIGURE, "(b) the samples of feed-forward networks grow by a larger factor than those of "
                      "recurrent networks and of attention",
                      above(growth[True, "feed-forward"], max(growth[True, model] for model in MODELS[:2]))),
            Criterion(_FIGURE, "(b) the factor of recurrent networks is closer to that of attention than to that of "
                      "feed-forward networks, as ratios",
                      below(growth[True, "recurrent"] ** 2, growth[True, "attention"] * growth[True, "feed-forward"])),
        ),
    )  # fmt: skip


def _setting(simple: bool, model: str, length: int, seeds: range, **changes: Any) -> dict[str, Any]:
    return {
        "model": model, "simple": simple, "length": length, "dimension": 10, "codes": math.floor(5 * math.log(length)),
        "largest": 0.99, "hidden": 64, "second": 300, "batch": 64, "rate": 1e-3, "decay": 0.01, "steps": 4000,
        "check_every": 20, "test": 500, "threshold": 0.1 if simple else 0.7, "seeds": list(seeds), **changes,
    }  # fmt: skip


def _grid(lengths: Mapping[bool, Sequence[int]], seeds: range, **changes: Any) -> dict[str, dict[str, Any]]:
    return {
        f"{'simple' if simple else 'each'}-{model}-N{N}": _setting(simple, model, N, seeds, **changes)
        for simple in (False, True)
        for N in lengths[simple]
        for model in MODELS
    }


SAMPLES = Experiment(
    name="token-regression-samples",
    statements=(_FIGURE,),
    title="Samples that attention, a recurrent and a feed-forward network need: 1STR, N = 2 to 8; simple, N = 4 to 12",
    scales={
        "quick": _grid({False: (2, 3), True: (3, 4)}, range(500, 502), hidden=16, second=50, steps=200, test=100),
        "full": _grid({False: (2, 4, 8), True: (4, 12)}, range(100, 105)),
    },
    work=samples_needed,
    summarise=_summarise,
    slice=("each-feed-forward-N4", {"seeds": [100]}),
    others=(("each-attention-N2", {"seeds": [104]}), ("each-feed-forward-N2", {"seeds": [102]})),
    rounding=LAST_DIGIT,
)
