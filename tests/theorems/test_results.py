"""The committed results: they say which code made them, and a slice of each comes out bit for bit today."""

from dataclasses import replace
from typing import Any

import pytest

import theorems.experiments
from theorems.experiments import assert_follows, committed, find_experiment, load_experiments, slice_again, starts

NAMES = sorted(load_experiments())


def numbers(value: Any) -> list[float]:
    """All numbers in a result."""
    if isinstance(value, dict | list):
        return [x for part in (value.values() if isinstance(value, dict) else value) for x in numbers(part)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_every_result_comes_out_bit_for_bit(name: str) -> None:
    summary = committed(name)
    assert summary is not None
    made = summary["origin"]
    assert made.keys() == {"lemmata", "commit", "date", "python", "code"}
    assert len(made["commit"]) == 40, "made by files that differ from every commit"
    assert len(made["code"]) == 16
    assert_follows(summary)
    again, kept = slice_again(summary)
    assert numbers(again), "a slice without numbers begins every result"
    assert starts(again, kept)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("parity-widths", {"seeds": [99]}),
        ("parity-sinusoid-gap", {"seed": 99}),
        ("trigrams", {"seed": 99, "steps": 50}),
    ],
)
def test_a_slice_with_another_seed_is_not_the_same(name: str, changes: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    chapter, experiment = find_experiment(name)
    other = replace(experiment, slice=(experiment.slice[0], {**experiment.slice[1], **changes}))
    monkeypatch.setattr(theorems.experiments, "load_experiments", lambda: {name: (chapter, other)})
    summary = committed(name)
    assert summary is not None
    again, kept = slice_again(summary)
    assert numbers(again)
    assert not starts(again, kept)
