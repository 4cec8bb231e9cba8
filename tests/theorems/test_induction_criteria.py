"""The criteria that judge the runs of this chapter, on curves made by hand, and faults planted in the criteria.

Every table holds curves on both sides of each condition; a criterion with a fault misjudges one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import pytest

from lemmata.theorems.induction_heads.experiments import phases, sizes, variants
from tests.theorems.planted_faults import rewritten

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


def at_lines(result: Curve) -> bool:
    return sizes.rests_at(result, "unigram")


def assert_judged(criterion: Callable[[Any], Any], table: list[tuple[Any, Any]]) -> None:
    for index, (curve, expected) in enumerate(table):
        assert criterion(curve) == expected, f"curve {index}"


CRITERIA: dict[str, tuple[Callable[[Any], Any], list[tuple[Any, Any]]]] = {
    "plateau": (phases._plateau, PLATEAUS),
    "comb": (phases._comb, COMBS),
    "plateau at a line": (at_lines, RESTS),
    "lasting phases": (sizes.lasting_phases, PHASES),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_criteria_judge_curves_made_by_hand(name: str) -> None:
    assert_judged(*CRITERIA[name])


FALLS = [
    (falling((3, 0.019), (3, 0.0094), (3, 0.03)), True),
    (falling((3, 0.019), (3, 0.0097), (3, 0.03)), False),  # more than half as fast as once before
    (falling((3, 0.019), (3, 0.0097), (3, 0.03), extra=True), False),
    (falling((3, 0.019), (3, 0.0094), (3, 0.03), extra=True), True),
    (falling((3, 0.019), (3, 0.015), (3, 0.03), extra=True), False),
    (falling((6, 0.03)), False),  # one drop, and then a rest
    (falling((2, 0.05), (3, 0.009), (3, 0.02)), False),  # the fastest drop comes first
]


def test_a_plateau_before_the_fastest_fall() -> None:
    assert_judged(variants._has_plateau, FALLS)


FAULTS: list[tuple[Any, str, str, list[tuple[Any, Any]]]] = [
    *(
        (phases._plateau, old, new, PLATEAUS)
        for old, new in (
            ("2 * slowest, after[fastest]", "slowest, after[fastest]"),
            ("2 * slowest, before.max()", "slowest, before.max()"),
            (", after[fastest]) and", ", after[fastest]) or"),
            ("after[: fastest + 1].min()", "after.min()"),
            ("or not _near_bayes(result)", ""),
            ("1.25 * _line", "2 * _line"),
            ("steps % 20 == 0", "steps % 4 == 0"),
            ("steps % 20 == 0", "steps % 40 == 0"),
            ("losses[:-2] - losses[2:]", "losses[2:] - losses[:-2]"),
            ("steps[:-2] >= start", "steps[:-2] >= 0"),
        )
    ),
    *(
        (phases._comb, old, new, COMBS)
        for old, new in (
            ("max(v) == v[1]", "v[1] > v[0]"),
            ("max(v) == v[1]", "v[1] > v[3]"),
            ("above(v[3], (v[2] + v[4]) / 2)", "v[3] > v[2]"),
            ("above(v[3], (v[2] + v[4]) / 2)", "v[3] > v[4]"),
            ("above(v[3], (v[2] + v[4]) / 2)", "v[3] >= (v[2] + v[4]) / 2"),
            ("above(v[3], (v[2] + v[4]) / 2)", "True"),
            ("above(v[5], (v[4] + v[6]) / 2)", "v[5] >= (v[4] + v[6]) / 2"),
            ("above(v[5], (v[4] + v[6]) / 2)", "v[5] > v[4]"),
            ("above(v[5], (v[4] + v[6]) / 2)", "v[5] > v[6]"),
            ("above(v[5], (v[4] + v[6]) / 2)", "True"),
        )
    ),
    *(
        (variants._has_plateau, old, new, FALLS)
        for old, new in (
            ("2 * rates[slowest]", "rates[slowest]"),
            ("rates[: slowest + 1].max()", "rates[fastest]"),
            ("np.argmin(rates[: fastest + 1])", "np.argmin(rates)"),
            ("steps % (steps[-1] - steps[-2]) == 0", "steps >= 0"),
            ("losses[:-2] - losses[2:]", "losses[2:] - losses[:-2]"),
        )
    ),
    *(
        (sizes.lasting_phases, old, new, PHASES)
        for old, new in (
            ("length > 1 or ", "length > 2 or "),
            ("not 0 < i < len(lengths) - 1 or ", ""),
            ("lengths[i - 1][0] != lengths[i + 1][0]", "False"),
            ("groupby(kept)", "zip(kept, kept)"),
        )
    ),
]


@pytest.mark.parametrize(("criterion", "old", "new", "table"), FAULTS, ids=lambda x: x if isinstance(x, str) else "")
def test_a_fault_in_a_criterion_misjudges_a_curve(criterion: Any, old: str, new: str, table: Any) -> None:
    with pytest.raises((AssertionError, IndexError)):
        assert_judged(rewritten(criterion, old, new), table)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2 * rates[i]", "rates[i]"),
        ("min(rates[:i].max(), rates[i + 1 :].max())", "rates[:i].max()"),
        ("min(rates[:i].max(), rates[i + 1 :].max())", "rates[i + 1 :].max()"),
        ("line / 4", "line"),
        ("losses[:-2] - losses[2:]", "losses[2:] - losses[:-2]"),
    ],
)
def test_a_fault_in_the_plateau_at_a_line_misjudges_a_curve(old: str, new: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(sizes, "rests_at", rewritten(sizes.rests_at, old, new))
    with pytest.raises(AssertionError):
        assert_judged(at_lines, RESTS)
