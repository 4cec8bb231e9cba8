"""Simple token regression at the printed threshold, up to the longest printed prompts, for the three architectures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scipy import stats

from lemmata.numerics.runs.comparison import above, below
from lemmata.numerics.runs.confidence import mean_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.qstr.experiments.samples import MODELS, SAMPLES, samples_needed

__all__ = ["LONG_PROMPTS"]

_FIGURE = "qstr:figure-1"


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    rows = {
        (s["model"], s["length"]): [math.inf if n is None else float(n) for n in results[key]["samples"]]
        for key, s in settings.items()
    }
    shortest, longest = (pick(length for _, length in rows) for pick in (min, max))
    means = {key: sum(row) / len(row) for key, row in rows.items()}
    growth = {model: means[model, longest] / means[model, shortest] for model in MODELS}
    p = {
        model: float(stats.mannwhitneyu(rows[model, longest], rows["feed-forward", longest], alternative="less").pvalue)
        for model in MODELS[:2]
    }
    attention, recurrent, feed_forward = (means[model, longest] for model in MODELS)
    return Findings(
        {
            **{f"{model}, N = {N}": mean_interval(row).as_dict()
               for (model, N), row in rows.items() if max(row) < math.inf},
            **{f"{model}, growth": float(f"{x:.4g}") if math.isfinite(x) else None for model, x in growth.items()},
            **{f"p that {model} needs fewer than feed-forward": float(f"{x:.4g}") for model, x in p.items()},
            "runs that do not get there": sum(n is None for key in settings for n in results[key]["samples"]),
        },
        (
            Criterion(_FIGURE, "(b) at the longest prompts attention and recurrent networks need fewer samples than "
                      "feed-forward networks, p < 0.01", below(max(p.values()), 0.01)),
            Criterion(_FIGURE, "(b) there recurrent networks are closer to attention than to feed-forward networks, as "
                      "ratios", below(recurrent**2, attention * feed_forward)),
            Criterion(_FIGURE, "(b) from the shortest to the longest prompts the samples of feed-forward networks grow "
                      "by a larger factor than those of recurrent networks and of attention",
                      above(growth["feed-forward"], max(growth["recurrent"], growth["attention"]))),
        ),
    )  # fmt: skip


def _grid(lengths: tuple[int, ...], seeds: range, **changes: Any) -> dict[str, dict[str, Any]]:
    template = SAMPLES.scales["full"]["simple-attention-N4"]
    return {
        f"{model}-N{N}": template
        | {"model": model, "length": N, "codes": math.floor(5 * math.log(N)), "seeds": list(seeds)}
        | {"threshold": 0.02, "steps": 6000, "check_every": 50}
        | changes
        for N in lengths
        for model in MODELS
    }


LONG_PROMPTS = Experiment(
    name="token-regression-long-prompts",
    statements=(_FIGURE,),
    title="Samples of the three architectures on simple token regression at N = 12 and the printed N = 33",
    scales={
        "quick": _grid((3, 4), range(500, 502), hidden=16, second=50, steps=200, test=100),
        "full": _grid((12, 33), range(200, 205)),
    },
    work=samples_needed,
    summarise=_summarise,
    # The error at the end of a run is the only float, and no item begins with a shorter run than these 450 steps. They
    # amplify the errors of float32 to 6e-4 of it, as measured between processors with and without AVX (the 650 steps of
    # feed-forward networks to 0.14). Ten times that, and a unit of the fourth digit, is below 0.01.
    slice=("attention-N12", {"seeds": [200]}),
    others=(("attention-N12", {"seeds": [204]}),),
    unrepeated="a seed in between, which takes a second and a half",
    rounding=0.01,
)
