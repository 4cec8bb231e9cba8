"""Runs of ReLU networks on flipped labels; the check is made as in `test_network_runs`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lemmata.numerics.runs.ranks import bootstrap_interval
from lemmata.numerics.runs.waiting_times import with_infinity
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.experiments import committed_results
from lemmata.theorems.hidden_progress.experiments.flips_again import FLIPS_AGAIN
from lemmata.theorems.hidden_progress.experiments.relu_networks import FLIPS
from lemmata.theorems.hidden_progress.standing import relu_networks_step_as_written, stands
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

FLIPPED = "hidden-progress:experiment-B.12"


def median_time(times: Sequence[int | None]) -> float:
    """The median of an odd number of times, infinity for None."""
    return sorted(with_infinity(times))[len(times) // 2]


@check(FLIPPED, grade="sampled", target="corrected")
def test_networks_learn_from_labels_that_are_almost_coins(effort: Effort) -> None:
    """5 runs for each of three batch sizes and five flip rates at (30, 3), up to 150 000 steps. Five were too few to
    tell B = 32 from 256 at p = 0.45; a second attempt has 20 fresh ones, which do not either,
    and two more comparisons, B = 8 at that rate and B = 32 at 0.49, which do. What else the corrected form says was
    seen in these runs, and is read off them here: no criterion asked for it before."""
    stands(FLIPS, FLIPPED, effort, ("at p = 0.45 it takes longer with B = 32 than with 256",))
    stands(FLIPS_AGAIN, FLIPPED, effort, ("smaller batches take longer in each of three comparisons",))
    p = committed_results(FLIPS_AGAIN)["numbers"]["p"]
    assert p["least B against 256 at that rate"] < 0.01
    assert p["B = 32 against 256 at the highest rate"] < 0.01
    reached = committed_results(FLIPS_AGAIN)["numbers"]["reached"]
    assert (reached["small-highest"], reached["large-highest"]) == ([0, 6], [6, 6])
    cells = {
        (item["settings"]["batch"], item["settings"]["noise"]): item["result"]["runs"]
        for item in committed_results(FLIPS)["items"].values()
    }
    assert all(run[1] is None for batch in (8, 32) for run in cells[batch, 0.49])
    assert all(run[3] is not None for run in cells[256, 0.49])
    for batch in (8, 32, 256):
        medians = [median_time([run[1] for run in cells[batch, noise]]) for noise in (0.0, 0.2, 0.4, 0.45, 0.49)]
        assert all(a < b for a, b in pairwise(medians))
    relu_networks_step_as_written(None, 0.4, 0.0)


@counterexample(FLIPPED, grade="sampled")
def test_a_batch_of_32_does_not_take_much_longer_at_the_flip_rate_45_percent(record: Record) -> None:
    """20 runs each to 90 % accuracy: the median with B = 32 over that with B = 256 is below 2 (bootstrap, 95 %), and
    the ranks do not differ (p > 0.01, the level fixed before the runs; the factor 2 was chosen after them)."""
    items = committed_results(FLIPS_AGAIN)["items"]
    small, large = ([run[1] for run in items[key]["result"]["runs"]] for key in ("small-high", "large-high"))
    assert len(small) == len(large) == 20
    ratio = bootstrap_interval(lambda a, b: float(np.median(a) / np.median(b)), (small, large))
    assert ratio.high < 2
    assert ratio.low > 0.5
    for experiment, name in (
        (FLIPS, "p, B = 32 slower than 256 at p = 0.45"),
        (FLIPS_AGAIN, "B = 32 against 256 at the higher rate"),
    ):
        numbers = committed_results(experiment)["numbers"]
        assert {**numbers, **numbers.get("p", {})}[name] > 0.01
    settings = committed_results(FLIPS_AGAIN)["items"]["small-high"]["settings"]
    record.hypothesis("a high flip rate", settings["noise"], ">=", 0.45)
    record.hypothesis("a small batch, against 256", settings["batch"], "<=", 32)
    record.violated("the median time to 90 % accuracy is at least twice as long (95 %)", ratio.high, ">=", 2)
