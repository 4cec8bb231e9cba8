"""The criteria that judge the runs of this chapter, on curves made by hand, and faults planted in the criteria.

Every table holds curves on both sides of each condition; a criterion with a fault misjudges one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

import pytest

from lemmata.numerics.runs.comparison import above, below
from lemmata.theorems.experiments import Experiment
from lemmata.theorems.induction_heads.experiments import measures, phases, sizes, variants
from lemmata.theorems.induction_heads.experiments.measures import first_below
from lemmata.theorems.induction_heads.experiments.sizes import lasting_phases, rests_at
from tests.theorems.planted_faults import changed, given_otherwise

Curve = dict[str, Any]
BASE = [0.2, 0.4, 0.1, 0.2, 0.1, 0.15, 0.1]


def falling(*parts: tuple[int, float], start: float = 0.21, every: int = 20, extra: bool = False) -> Curve:
    """A loss that falls by so much for so many intervals, part after part, then rests; lines at 0.09 and 0.01.

    With `extra` there are measurements in between, with losses that are no part of the curve.
    """
    losses = list(accumulate((-fall for count, fall in (*parts, (6, 0.0)) for _ in range(count)), initial=start))
    steps = [every * i for i in range(len(losses))]
    if extra:
        pairs = sorted([*zip(steps, losses, strict=True), *((step + 4, 0.15) for step in steps[2:5])])
        steps, losses = [step for step, _ in pairs], [loss for _, loss in pairs]
    lines = {"unigram": 0.09, "bigram": 0.01}
    return {"steps": steps, "loss": losses, "lines": {"flat": lines, **lines}}


PLATEAUS = [
    (falling((2, 0.055), (3, 0.0097), (3, 0.02)), True),
    (falling((2, 0.055), (3, 0.0097), (3, 0.02), extra=True), True),
    (falling((2, 0.055), (3, 0.0103), (3, 0.0195), extra=True), False),
    (falling((2, 0.055), (3, 0.0103), (3, 0.0195)), False),  # more than half as fast as the second drop
    (falling((5, 0.0195), (3, 0.0096), (3, 0.024)), True),
    (falling((5, 0.0195), (3, 0.0099), (3, 0.024)), False),  # more than half as fast as the first drop
    (falling((2, 0.055), (3, 0.0097), (2, 0.02)), False),  # ends at 0.03, more than 2.5 times the bigram line
    (falling((10, 0.0195)), False),  # one drop, and the rest after it is no plateau
    (falling((2, 0.035), (3, 0.002), (7, 0.018)), False),  # rests at 0.14, above the unigram line
]
RESTS = [
    (falling((2, 0.055), (3, 0.0097), (3, 0.02), start=0.22), True),
    (falling((2, 0.055), (3, 0.0103), (3, 0.02), start=0.22), False),
    (falling((3, 0.0195), (3, 0.0097), (2, 0.035), start=0.16), True),
    (falling((3, 0.0195), (3, 0.0099), (2, 0.035), start=0.16), False),
    (falling((2, 0.03), (3, 0.001), (7, 0.018)), False),  # rests at 0.15, above the line
    (falling((10, 0.0195)), False),
]
COMBS = [
    (BASE, True),
    ([0.41, *BASE[1:]], False),  # v_1 larger
    ([*BASE[:3], 0.41, *BASE[4:]], False),  # v_4 larger
    ([*BASE[:3], 0.11, 0.13, *BASE[5:]], False),  # v_4 below the mean of v_3 and v_5, but above v_3
    ([*BASE[:2], 0.21, 0.2, 0.1, *BASE[5:]], True),  # v_4 above the mean, but below v_3
    ([*BASE[:2], 0.3, 0.19, *BASE[4:]], False),  # v_4 below the mean, but above v_5
    ([*BASE[:3], 0.1, *BASE[4:]], False),  # v_4 equal to the mean
    ([*BASE[:5], 0.1, 0.1], False),  # v_6 equal to the mean
    ([*BASE[:5], 0.15, 0.21], False),  # v_6 above v_5, below the mean
    ([*BASE[:5], 0.15, 0.16], True),  # v_6 above the mean, below v_7
]
LOSSES = {name: [0.0] for name in ("uniform", "unigram", "bigram", "trigram")}


def visits(*names: str) -> Curve:
    """A run that is closest to these strategies, one measurement after the other."""
    return {"steps": list(range(len(names))), **{own: [float(name != own) for name in names] for own in LOSSES}}


PHASES = [
    (visits("uniform", "unigram", "unigram", "bigram", "trigram"), ["uniform", "unigram", "bigram", "trigram"]),
    (visits("uniform", "unigram", "uniform", "unigram"), ["uniform", "unigram"]),
    (visits("uniform", "unigram", "uniform", "uniform", "unigram"), ["uniform", "unigram"]),
    (
        visits("unigram", "unigram", "uniform", "uniform", "unigram", "unigram"),
        ["unigram", "uniform", "unigram"],
    ),
    (visits("uniform", "uniform", "bigram", "unigram", "unigram"), ["uniform", "bigram", "unigram"]),
    (visits("uniform", "trigram", "unigram", "bigram"), ["uniform", "trigram", "unigram", "bigram"]),
    (visits("unigram", "bigram", "unigram", "unigram"), ["unigram"]),
    (visits("unigram", "unigram", "bigram"), ["unigram", "bigram"]),
]


FALLS = [
    (falling((3, 0.019), (3, 0.0094), (3, 0.03)), True),
    (falling((3, 0.019), (3, 0.0097), (3, 0.03)), False),  # more than half as fast as once before
    (falling((3, 0.019), (3, 0.0097), (3, 0.03), extra=True), False),
    (falling((3, 0.019), (3, 0.0094), (3, 0.03), extra=True), True),
    (falling((3, 0.019), (3, 0.015), (3, 0.03), extra=True), False),
    (falling((6, 0.03)), False),  # one drop, and then a rest
    (falling((2, 0.05), (3, 0.009), (3, 0.02)), False),  # the fastest drop comes first
]


def met(experiment: Experiment, items: Mapping[str, Any], result: Curve, begin: str) -> bool:
    """What the experiment says of runs with this result: the criterion whose text begins so."""
    criteria = experiment.summarise(items, dict.fromkeys(items, result)).criteria
    return next(criterion.met for criterion in criteria if criterion.text.startswith(begin))


def run_of(curve: Curve, positions: list[float]) -> Curve:
    """A run with this curve: what the other criteria ask for is constant."""
    count = len(curve["steps"])
    same = {name: [0.0] * count for name in (*LOSSES, "previous", "matches", "symbols")}
    others = {"loss, iid": [0.0], "loss, doubly stochastic": [0.0]}
    return {**same, **others, "positions": [positions] * count, "W": [[1.0, 0.0, 0.0, 1.0]] * count, **curve}


MODELS = {model: {"model": model, "context": 100} for model in ("transformer", "minimal")}
LENGTHS = {f"length-{context}": {"context": context} for context in (24, 48)}


def plateau(curve: Curve) -> bool:
    return met(phases.PHASES, MODELS, run_of(curve, BASE), "transformers: the loss falls less than half as fast")


def comb(positions: list[float]) -> bool:
    return met(
        phases.PHASES, MODELS, run_of(falling((2, 0.08)), positions), "minimal models: after 64,000 examples v_2"
    )


def before_the_fall(curve: Curve) -> bool:
    return met(variants.MORE_SYMBOLS, LENGTHS, run_of(curve, BASE), "both lengths: before the loss falls fastest")


def at_line(curve: Curve) -> bool:
    return sizes.rests_at(curve, "unigram")


def lasting(curve: Curve) -> list[str]:
    return sizes.lasting_phases(curve)


Criterion = tuple[Callable[[Any], Any], list[tuple[Any, Any]]]
PLATEAU: Criterion = plateau, PLATEAUS
COMB: Criterion = comb, COMBS
FALL: Criterion = before_the_fall, FALLS
REST: Criterion = at_line, RESTS
LASTING: Criterion = lasting, PHASES


def assert_judged(criterion: Callable[[Any], Any], table: list[tuple[Any, Any]]) -> None:
    for index, (curve, expected) in enumerate(table):
        assert criterion(curve) == expected, f"curve {index}"


@pytest.mark.parametrize("criterion", [PLATEAU, COMB, FALL, REST, LASTING], ids=lambda pair: pair[0].__name__)
def test_criteria_judge_curves_made_by_hand(criterion: Criterion) -> None:
    assert_judged(*criterion)


def factor(comparison: Callable[..., bool], by: float) -> Callable[..., bool]:
    """The comparison with a threshold that is so many times as large."""
    return given_otherwise(comparison, lambda value, threshold: (value, by * threshold))


def always(answer: Any) -> Callable[..., Any]:
    return lambda *_: answer


COMPARISONS: dict[str, Callable[..., bool]] = {
    "as fast": factor(below, 2),
    "a tenth more": factor(below, 1.1),
    "a tenth less": factor(below, 1 / 1.1),
    "above for below": above,
    "always below": always(True),
    "never below": always(False),
}
FAULTS: list[tuple[str, Any, str, Any, Criterion]] = [
    *((name, phases, "below", wrong, PLATEAU) for name, wrong in COMPARISONS.items()),
    *((name, variants, "below", wrong, FALL) for name, wrong in COMPARISONS.items()),
    *((name, sizes, "below", wrong, REST) for name, wrong in COMPARISONS.items()),
    *(
        (name, phases, "first_below", wrong, PLATEAU)
        for name, wrong in (
            ("a line too high", given_otherwise(first_below, lambda *given: (*given[:2], 1.6 * given[2]))),
            ("from the beginning", lambda steps, *_: steps[0]),
            ("never at the line", always(None)),
        )
    ),
    *(
        (name, phases, "above", wrong, COMB)
        for name, wrong in (
            ("equal is above", lambda value, threshold: value >= threshold),
            ("a fifth more", factor(above, 1.2)),
            ("a tenth less", factor(above, 1 / 1.1)),
            ("below for above", below),
            ("always above", always(True)),
            ("twice as much", factor(above, 2)),
        )
    ),
    *(
        (name, sizes, "rests_at", wrong, REST)
        for name, wrong in (
            ("another line", lambda result, _: rests_at(result, "bigram")),
            ("no for yes", changed(rests_at, lambda found: not found)),
        )
    ),
    *(
        (name, sizes, "lasting_phases", wrong, LASTING)
        for name, wrong in (
            ("interruptions count", measures.phases),
            ("no phase comes twice", changed(lasting_phases, lambda found: list(dict.fromkeys(found)))),
            ("the last phase is left out", changed(lasting_phases, lambda found: found[:-1])),
            ("every measurement counts", measures.closest),
        )
    ),
    *(
        (name, sizes, "closest", changed(measures.closest, change), LASTING)
        for name, change in (
            ("from the end", lambda found: found[::-1]),
            ("without the first", lambda found: found[1:]),
            ("every other measurement", lambda found: found[::2]),
        )
    ),
]


@pytest.mark.parametrize(
    ("owner", "attribute", "wrong", "criterion"),
    [pytest.param(*fault, id=f"{fault[-1][0].__name__}: {name}") for name, *fault in FAULTS],
)
def test_a_fault_misjudges_a_curve(
    owner: Any, attribute: str, wrong: Any, criterion: Criterion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, attribute, wrong)
    with pytest.raises(AssertionError):
        assert_judged(*criterion)
