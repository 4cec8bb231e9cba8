"""Verdicts do not hang on rounding errors, and a change of a result that is larger than these is seen."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from lemmata.numerics.runs import comparison
from lemmata.theorems.experiments import (
    assert_begins,
    assert_follows,
    committed,
    committed_results,
    find_experiment,
    load_experiments,
    recomputed,
    slice_again,
)

NAMES = sorted(name for name in load_experiments() if committed(name) is not None)
KINDS = (
    "parity-progress",  # courses in float32 through BLAS
    "parity-null-model",  # times of the same steps
    "parity-sinusoid-gap",  # float64 through BLAS and sines
    "parity-width-times",  # compiled steps
    "parity-quadratic",
    "success-frontier-curves",
    "comparator-slopes",  # least squares
)
INFERRED = re.compile(r"\b9[059] %\)|\bp < |upper end|Bonferroni")
"""What the text of a criterion on an interval or a p-value says."""
INFINITE = "(viii): the 99 % quantile is over twice as far from the median as the 1 % quantile (95 %)"
"""Runs of (viii) do not converge, so that the quotient is infinite, which no rounding error makes doubtful."""


@pytest.mark.parametrize("name", NAMES)
def test_criteria_on_floats_are_undecided_where_rounding_errors_are_large(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a huge tolerance every comparison of floats is undecided, and counts alone decide: no criterion on an
    interval or a p-value stays met, and one that was not met does not become so."""
    kept = committed_results(find_experiment(name)[1])
    monkeypatch.setattr(comparison, "ROUNDING", 1e9)
    try:
        found = recomputed(kept)
    except ValueError:  # nothing decided is left to summarise
        return
    before = {(one["statement"], one["text"]) for one in kept["criteria"] if one["met"]}
    after = {(one["statement"], one["text"]) for one in found["criteria"] if one["met"]}
    assert after <= before
    assert "undecided" in found or after == before
    assert {text for _, text in after if INFERRED.search(text)} <= {INFINITE}


def _numbers(value: Any, kept: Any) -> Iterator[tuple[Any, Any]]:
    """The places in a committed result of the numbers that a slice repeats: containers with keys."""
    for key in value if isinstance(value, dict) else range(len(value)):
        if isinstance(value[key], dict | list):
            yield from _numbers(value[key], kept[key])
        elif isinstance(value[key], int | float) and value[key] != 0:
            yield kept, key


@pytest.mark.parametrize("name", KINDS)
def test_a_changed_result_a_criterion_and_a_setting_are_seen(name: str) -> None:
    """In the fourth digit of a float, or by 1 in an integer; a criterion that is turned; another seed."""
    summary = copy.deepcopy(committed_results(find_experiment(name)[1]))
    part, whole = slice_again(summary)
    assert_begins(summary, part, whole)
    places = list(_numbers(part, whole))
    assert places
    for container, key in (places[0], places[len(places) // 2], places[-1]):
        right = container[key]
        fourth = 10.0 ** (math.floor(math.log10(abs(right))) - 3)
        container[key] = right + fourth if isinstance(right, float) else right + 1
        with pytest.raises(AssertionError, match="a slice repeated"):
            assert_begins(summary, part, whole)
        container[key] = right
    assert_follows(summary)
    criterion = summary["criteria"][-1]
    criterion["met"] = not criterion["met"]
    with pytest.raises(AssertionError, match="'met'"):
        assert_follows(summary)
    criterion["met"] = not criterion["met"]
    settings = next(iter(summary["items"].values()))["settings"]
    settings[next(iter(settings))] = "other"
    with pytest.raises(ValueError, match="do not have the settings"):
        assert_follows(summary)


def test_runs_that_all_learn_from_single_samples_would_miss_the_criterion_that_they_do_not() -> None:
    """(*i) and (*ii) at B = 1: one cell below 20 % is enough, and none at half is not."""
    summary = copy.deepcopy(committed_results(find_experiment("parity-architectures")[1]))
    text = "(*i) and (*ii): not at B = 1, in one of the cells at least"
    single = [key for key in summary["items"] if key.startswith("single-least")]
    assert len(single) > 1

    def met() -> bool:
        return next(one["met"] for one in recomputed(summary)["criteria"] if one["text"] == text)

    assert met()
    for key in single:
        for tried in summary["items"][key]["result"]["tried"]:
            tried["times"] = [100 if place % 2 else None for place in range(len(tried["times"]))]
    assert not met()
    for tried in summary["items"][single[0]]["result"]["tried"]:
        tried["times"] = [None] * len(tried["times"])
    assert met()


def test_a_gap_that_doubles_in_fewer_than_half_of_the_runs_would_miss_its_criterion() -> None:
    """In exactly half of the runs is enough, while all grow by more than a quarter."""
    summary = copy.deepcopy(committed_results(find_experiment("parity-gap-growth")[1]))
    runs = [run for item in summary["items"].values() for run in item["result"]["runs"]]

    def met(doubled: int) -> bool:
        for place, run in enumerate(runs):
            run["relaxed"][1] = run["relaxed"][0] * (2.5 if place < doubled else 1.5)
        return recomputed(summary)["criteria"][-1]["met"]

    assert len(runs) % 2 == 0
    assert met(len(runs) // 2)
    assert not met(len(runs) // 2 - 1)


def test_a_spread_that_falls_with_the_width_by_chance_would_miss_its_criterion() -> None:
    """The same times at every width, but for one run of the narrowest: the correlation is negative, its p is not."""
    summary = copy.deepcopy(committed_results(find_experiment("parity-width-times")[1]))
    for key, item in summary["items"].items():
        times = item["result"]["times"]
        item["result"]["times"] = [1000 + 100 * (place % 5) for place in range(len(times))]
        if key == "n40-width-10":
            item["result"]["times"][0] = 4000
    found = recomputed(summary)
    assert found["numbers"]["rank correlation of width and deviation of log time"] < 0
    assert found["numbers"]["its p"] > 0.1
    assert [one["met"] for one in found["criteria"] if one["text"].startswith("less variance")] == [False]


def test_times_that_grow_with_the_root_of_the_width_would_miss_their_criterion() -> None:
    summary = copy.deepcopy(committed_results(find_experiment("recurrent-sgd")[1]))
    for item in summary["items"].values():
        runs = len(item["result"]["done"])
        item["result"]["done"] = [100 * math.isqrt(item["settings"]["width"])] * runs
    found = recomputed(summary)
    assert found["numbers"]["slope of their logarithm in log m"]["low"] > 0.49
    assert [one["met"] for one in found["criteria"] if "do not grow with the width" in one["text"]] == [False]
