"""The committed results: they say which code made them, and a slice of each comes out bit for bit today."""

import copy

import pytest

from theorems.experiments import committed, find_experiment, load_experiments, recomputed, slice_again, starts

NAMES = sorted(load_experiments())


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_every_result_comes_out_bit_for_bit(name: str) -> None:
    summary = committed(name)
    assert summary is not None
    made = summary["origin"]
    assert made.keys() == {"lemmata", "commit", "date", "python", "code"}
    assert len(made["commit"]) == 40, "made by files that differ from every commit"
    assert len(made["code"]) == 16
    assert recomputed(summary) == summary
    assert starts(*slice_again(summary))


@pytest.mark.parametrize("name", ["parity-widths", "parity-sinusoid-gap", "trigrams"])
def test_a_slice_with_another_seed_is_not_the_same(name: str) -> None:
    summary = committed(name)
    assert summary is not None
    changed = copy.deepcopy(summary)
    _, experiment = find_experiment(name)
    settings = changed["items"][experiment.slice[0]]["settings"]
    if "seeds" in settings:
        object.__setattr__(experiment, "slice", (experiment.slice[0], {"seeds": [99]}))
    settings["seed"] = 99
    assert not starts(*slice_again(changed))
