"""Faults in the training of the fifteen architectures and in the tests of its times: the deciding checks see them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import lemmata.numerics.parity.architecture_training as training
import lemmata.numerics.runs.waiting_times as waiting_times
import lemmata.theorems.hidden_progress.experiments.grid as grid
import lemmata.theorems.hidden_progress.experiments.runs as runs
import lemmata.theorems.hidden_progress.experiments.search as search
import lemmata.theorems.hidden_progress.experiments.training as courses
import lemmata.theorems.hidden_progress.test_experiments_architectures as checks
from lemmata.numerics.parity.training import initial_network
from lemmata.theorems.experiments import committed_results, recomputed
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

QUICK = {"effort": Effort("quick")}


def law(name: str, owner: Any, attribute: str, faulty: Any) -> Fault:
    """A fault that the check of the law of the times has to see."""
    return Fault(name, "experiment-5.2", checks, "test_no_random_search_in_the_times", owner, attribute, faulty, QUICK)


def start(name: str, owner: Any, attribute: str, faulty: Any) -> Fault:
    """A fault that the check of the starts has to see."""
    return Fault(name, "experiment-5.2", checks, "test_the_start_explains_the_times", owner, attribute, faulty, QUICK)


def fit(name: str, attribute: str, faulty: Any) -> Fault:
    """A fault that the check of the coarse power laws has to see, in both places where the fit is named."""
    check = "test_coarse_power_laws_bound_and_do_not_extrapolate"
    return Fault(name, "experiment-B.5", checks, check, grid, attribute, faulty, QUICK)


def large(name: str, owner: Any, attribute: str, faulty: Any) -> Fault:
    """A fault that the check of large batches has to see."""
    check = "test_large_batches_are_robust_in_most_settings"
    return Fault(name, "experiment-B.3-B.4", checks, check, owner, attribute, faulty, QUICK)


def learn(name: str, attribute: str, faulty: Any) -> Fault:
    """A fault that the check of the finding has to see."""
    check = "test_architectures_learn_at_a_moderate_batch"
    return Fault(name, "empirical-finding-5.1", checks, check, runs, attribute, faulty, QUICK)


def in_training(old: str, new: str) -> Any:
    """The training of an architecture with one piece of its source replaced."""
    return rewritten(training.train_architecture, old, new)


FAULTS = [
    law("steps 2 % too long", runs, "train_architecture", in_training("batch, rate, get", "batch, 1.02 * rate, get")),
    law("one sample too many", runs, "train_architecture", in_training("count, batch, rate", "count, batch + 1, rate")),
    law("the readout is not trained", runs, "train_architecture", in_training("setting.second_layer)", "False)")),
    law("one step too many", runs, "train_architecture", in_training("seed, count, batch", "seed, count + 1, batch")),
    law("times one check late", runs, "train_architecture",
        in_training("run.converged = done + count", "run.converged = done + 2 * count")),
    law("starts 2 % too large", training, "initial_network",
        rewritten(training.initial_network, "1 / math.sqrt(fan_in)", "1.02 / math.sqrt(fan_in)")),
    law("the other loss", runs, "train_architecture", in_training(".index(loss)", ".index(loss) + 1")),
    law("no fit of the rate", waiting_times, "_rates", lambda samples, cap: np.full(len(samples), 0.02)),
    law("failures dropped from the rate", waiting_times, "_rates",
        lambda samples, cap: (samples <= cap).sum(axis=1) / np.where(samples <= cap, samples, 0).sum(axis=1)),
    law("distances without those before a jump", waiting_times, "_distances",
        rewritten(waiting_times._distances, "done - 1 / runs", "done")),
    law("distances beyond the cap", waiting_times, "_distances",
        rewritten(waiting_times._distances, "after[ties | (ordered > cap)] = 0", "after[ties] = 0")),
    law("samples twice as far", checks, "geometric_test",
        rewritten(waiting_times.geometric_test, ">= distance", ">= 2 * distance")),
    law("lower medians", waiting_times, "_medians",
        lambda samples: np.sort(samples, axis=1)[:, (samples.shape[1] - 1) // 2 - 1]),
    law("exponents of another size", search, "exponent_interval",
        lambda times, rng: waiting_times.exponent_interval({n + 1: x for n, x in times.items()}, rng)),
    Fault("times one check late in the law", "unnumbered-random-search", checks, "test_no_random_search_in_the_times",
          runs, "train_architecture", in_training("run.converged = done + count", "run.converged = done + 2 * count"),
          QUICK),
    fit("one off in the least size", "coarse_power_law",
        rewritten(courses.coarse_power_law, "sizes[0] - 1", "sizes[0] - 2")),
    fit("the least slope", "coarse_power_law", rewritten(courses.coarse_power_law, "max(0.0, *slopes)", "min(slopes)")),
    fit("a later percentile", "coarse_power_law",
        rewritten(courses.coarse_power_law, "math.ceil(len(ordered) / 10) - 1", "math.ceil(len(ordered) / 5)")),
    learn("steps 2 % too long", "train_architecture", in_training("batch, rate, get", "batch, 1.02 * rate, get")),
    learn("one sample too many", "train_architecture", in_training("count, batch, rate", "count, batch + 1, rate")),
    learn("the readout is not trained", "train_architecture", in_training("setting.second_layer)", "False)")),
    learn("activations of the next setting", "train_architecture",
          in_training("index(setting.activation)", "index(setting.activation) // 2 * 2")),
    large("one sample too many", runs, "train_architecture",
          in_training("count, batch, rate", "count, batch + 1, rate")),
    large("steps 10 % too long", runs, "train_architecture", in_training("batch, rate, get", "batch, 1.1 * rate, get")),
    large("other held-out samples", runs, "train_architecture",
          in_training("rng, n, k, held_out)", "rng, n, k, held_out + 1)")),
    Fault("correlation without the mean square within", "experiment-B.3-B.4", checks,
          "test_some_settings_have_unlucky_starts", waiting_times, "_correlation",
          rewritten(waiting_times._correlation, "(between - within) /", "between /"), QUICK),
    start("correlation without the mean square within", waiting_times, "_correlation",
          rewritten(waiting_times._correlation, "(between - within) /", "between /")),
    start("every run with a start of its own", training, "initial_network",
          lambda n, k, width, rng, *rest: initial_network(n, k, width, np.random.default_rng(), *rest)),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_deciding_check_sees_the_fault(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch)


@pytest.mark.parametrize("fault", ["early", "geometric", "no upper tail", "never"])
def test_other_times_change_the_verdict(fault: str) -> None:
    """Runs that fail count as the longest, so that some of them make the upper tail heavier and change no verdict."""
    summary = copy.deepcopy(committed_results(search.LAW))
    rng = np.random.default_rng(0)
    for key, item in summary["items"].items():
        if key.startswith("law-i-"):
            times = item["result"]["tried"][0]["times"]
            item["result"]["tried"][0]["times"] = {
                "early": [20 if i % 50 == 0 else t for i, t in enumerate(times)],
                "geometric": [5 * int(t) for t in rng.geometric(0.02, size=len(times))],
                "no upper tail": [min(t, 300) for t in times],
                "never": [None] * 40 + times[40:],
            }[fault]
    criteria = recomputed(summary)["criteria"]
    met = [c["met"] for c in criteria if c["text"].startswith("(i):") and c["statement"].endswith("5.2")]
    assert all(met) == (fault == "never")
