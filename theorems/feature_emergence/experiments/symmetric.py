"""Composition of permutations, D.2.3: S_3 and S_4 as printed, with several seeds, and S_5 smaller and as printed.

The criteria were written after trial runs on S_3 and S_4, and before any run on S_5 of more than 200 steps. Where the
printed claim speaks of the largest margin, the exact minimum of the regularised objective (ext-E6) says what a perfect
run shows: a criterion for either. Those for S_5 as printed are the same, and one more; they were written after the
smaller run, whose margin ended at 0.70 gamma* and rose, and before any run at the printed size of more than 20 steps.
Claim (a) is seen for S_5 if the margin ends within 5 % of that at the exact minimum; a margin that only rises leaves it
undecided.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from lemmata.certificates.characters.families import symmetric_characters
from lemmata.certificates.game.regularised import regularised_optimum
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.runs.comparison import above, below
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.feature_emergence.experiments.training import (
    LAST_DIGIT,
    group_named,
    largest_margin,
    trained_group,
)

__all__ = ["SYMMETRIC_3_4", "SYMMETRIC_5", "SYMMETRIC_5_PRINTED"]

_STATEMENT = "feature-emergence:experiment-D.2.3"


@cache
def _minimum(k: int, penalty: str) -> tuple[float, frozenset[int]]:
    """gamma_lambda/gamma* at the exact minimum of the objective, and the degrees without mass there."""
    optimum = regularised_optimum(symmetric_characters(k), penalty)
    degrees = [optimum.game.table.degrees[row] for row in optimum.game.rows]
    unused = frozenset(degrees[row] for row in optimum.unused)
    return optimum.normalised_margin / largest_margin(f"S{k}"), unused


def _ordered(counts: Mapping[int, Sequence[int]]) -> bool:
    """Whether every representation has more neurons than every one of smaller degree."""
    degrees = sorted(counts)
    return all(max(counts[low]) < min(counts[high]) for low, high in itertools.pairwise(degrees))


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers: dict[str, Any] = {}
    met: dict[str, list[bool]] = {}
    for key, item in settings.items():
        k = int(item["group"][1:])
        first, last = results[key]["records"][0], results[key]["records"][-1]
        best, unused = _minimum(k, f"{item['penalty'][1]:.0e}")
        counts: dict[int, list[int]] = {}
        for representation, count in zip(real_irreps(group_named(item["group"]))[1:], last["neurons"][1:], strict=True):
            counts.setdefault(representation.degree, []).append(count)
        used = {degree: found for degree, found in counts.items() if degree not in unused}
        numbers[key] = {
            "margin / gamma*": [record["margin"] for record in results[key]["records"]],
            "at the exact minimum": float(f"{best:.5g}"),
            "objective": last["objective"],
            "neurons by degree": {str(degree): counts[degree] for degree in sorted(counts)},
            "shares of the mass": last["shares"],
            "power at the start": first["all"],
            "power at the end (least, 10th percentile, median)": last["power"],
            "least power of u, v, w": last["least"],
        }
        claims = {
            "all pairs are answered rightly at the end": last["right"] == 1,
            "the margin ends at 0.99 gamma* or more": above(last["margin"], 0.99),
            "the margin ends between 0.95 and 1.01 of that at the exact minimum, below gamma*": (
                above(last["margin"] / best, 0.95)
                and below(last["margin"] / best, 1.01)
                and below(last["margin"], 1.00001)
            ),
            "representations of larger degree have more neurons, among all": _ordered(counts),
            "representations of larger degree have more neurons, among those that the exact minimum uses": (
                _ordered(used)
            ),
            "the median of the largest power is below 0.8 at the start": below(first["all"], 0.8),
            "u, v and w of every neuron with mass end with power 0.95 or more in one representation": (
                above(last["least"], 0.95)
            ),
            "no neuron with mass is in the trivial representation at the end": last["neurons"][0] == 0,
        }
        for text, holds in claims.items():
            met.setdefault(text, []).append(bool(holds))
    return Findings(numbers, tuple(Criterion(_STATEMENT, text, all(found)) for text, found in met.items()))


def _item(group: str, width: int, seed: int, **changes: Any) -> dict[str, Any]:
    return {
        "group": group, "activation": "square", "width": width, "seed": seed, "steps": 50_000,
        "penalty": ["cubic", 1e-7], "scale": 0.3, "batch": None, "rate": 0.05,
        "doublings": [*range(200, 2601, 200), 5000, 10_000], "precision": "double",
        "record_at": [0, 10, 1000, 5000, 20_000, 50_000], **changes,
    }  # fmt: skip


SYMMETRIC_3_4 = Experiment(
    name="symmetric-groups-3-4",
    statements=(_STATEMENT,),
    title="Composition in S_3 (width 30, three seeds) and S_4 (width 200, two seeds), with the printed schedule",
    scales={
        "quick": {"S3-seed0": _item("S3", 30, 0, steps=5000)},
        "full": {
            **{f"S3-seed{seed}": _item("S3", 30, seed) for seed in range(3)},
            **{f"S4-seed{seed}": _item("S4", 200, seed) for seed in range(2)},
        },
    },
    work=trained_group,
    summarise=_summarise,
    slice=("S4-seed0", {"steps": 10}),
    others=(("S3-seed1", {"steps": 10}), ("S3-seed2", {"steps": 10})),
    rounding=LAST_DIGIT,
)

_SCHEDULE = {"penalty": ["cubic", 1e-5], "precision": "single", "record_at": [0, 10, 3000, 12_000, 24_000, 45_000]}

SYMMETRIC_5 = Experiment(
    name="symmetric-group-5",
    statements=(_STATEMENT,),
    title="Composition in S_5: width 600, batches of 500, 45000 steps (printed: 2000, 1000, 75000), the printed rates",
    scales={
        "quick": {
            "S5-seed0": _item("S5", 50, 0, steps=200, batch=100, doublings=[], **{**_SCHEDULE, "record_at": [0, 200]})
        },
        "full": {
            "S5-seed0": _item(
                "S5", 600, 0, steps=45_000, batch=500, doublings=list(range(1500, 12_001, 1500)), **_SCHEDULE
            )
        },
    },
    work=trained_group,
    summarise=_summarise,
    slice=("S5-seed0", {"steps": 10}),
    rounding=LAST_DIGIT,
)


def _summarise_printed(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    found = _summarise(settings, results)
    margins = [[one["margin"] for one in result["records"] if one["step"] >= 3000] for result in results.values()]
    rising = all(below(low, high) for run in margins for low, high in itertools.pairwise(run))
    text = "from step 3000 on the margin rises from each record to the next"
    return Findings(found.numbers, (*found.criteria, Criterion(_STATEMENT, text, rising)))


_PRINTED_SCHEDULE = {
    "penalty": ["cubic", 1e-5],
    "precision": "single",
    "record_at": [0, 10, 3000, 12_000, 24_000, 36_000, 48_000, 60_000, 75_000],
}

SYMMETRIC_5_PRINTED = Experiment(
    name="symmetric-group-5-printed",
    statements=(_STATEMENT,),
    title="Composition in S_5 as printed: width 2000, batches of 1000, 75000 steps, lambda = 1e-5, the printed rates",
    scales={
        "quick": SYMMETRIC_5.scales["quick"],
        "full": {
            "S5-seed1": _item(
                "S5", 2000, 1, steps=75_000, batch=1000, doublings=list(range(3000, 24_001, 3000)), **_PRINTED_SCHEDULE
            )
        },
    },
    work=trained_group,
    summarise=_summarise_printed,
    slice=("S5-seed1", {"steps": 10}),
    rounding=LAST_DIGIT,
)
