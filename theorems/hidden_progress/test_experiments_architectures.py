"""The fifteen architectures in training: committed runs, judged once more, and runs of today that say the same again.

Every check repeats a slice of the committed runs bit for bit with the compiled steps, which `tests/numerics/parity`
compares with autograd; judges all committed runs again; and makes small runs with other seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lemmata.numerics.parity.architecture_training import initial_architecture, train_architecture
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.runs.waiting_times import GeometricTest, geometric_test, group_share, with_infinity
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.experiments import (
    Experiment,
    assert_begins,
    assert_follows,
    committed_results,
    run_experiment,
    slice_again,
)
from lemmata.theorems.hidden_progress.experiments.grid import (
    GRID,
    LARGE_BATCHES,
    LARGEST_BATCHES,
    UNLUCKY,
    UNLUCKY_AGAIN,
)
from lemmata.theorems.hidden_progress.experiments.search import LAW, STARTS
from lemmata.theorems.hidden_progress.experiments.training import coarse_power_law
from lemmata.theorems.hidden_progress.standing import architectures_step_as_written
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

NAME = "hidden-progress:"


def judged_again(experiment: Experiment, effort: Effort, repeat: bool = True) -> dict[str, bool]:
    """Whether each criterion is met: by the committed runs, of which a slice comes out bit for bit; by its text."""
    summary = committed_results(experiment)
    if repeat:
        assert_begins(summary, *slice_again(summary))
    assert_follows(summary)
    if effort.name != "quick":
        assert run_experiment(experiment, "full")["criteria"] == summary["criteria"]
    return {criterion["text"]: criterion["met"] for criterion in summary["criteria"]}


def assert_repeated(experiment: Experiment, key: str, seeds: int) -> None:
    """The first seeds of an item of `cells`, run again at the rate that was chosen, take the same times."""
    item = committed_results(experiment)["items"][key]
    for one in item["result"]["tried"]:
        settings = {**item["settings"], "rate": one["rate"], "seeds": item["settings"]["seeds"][:seeds]}
        again = experiment.work(settings)
        assert again["tried"][0]["times"] == one["times"][:seeds]
        assert any(time is not None for time in one["times"][:seeds])


def fresh_times(
    setting: str, rate: float, seeds: Sequence[int], n: int, k: int, every: int = 5, batch: int = 32
) -> list[int | None]:
    """Convergence times of runs of today."""
    times = []
    for seed in seeds:
        network = initial_architecture(setting, n, k, np.random.default_rng([seed, 7]))
        run = train_architecture(
            setting, network, 20_000, np.random.default_rng([seed, 8]),
            batch=batch, rate=rate, check_every=every, held_out=2**11,
        )  # fmt: skip
        times.append(run.converged)
    return times


def assert_fitted(times: Sequence[int | None], cap: int, test: GeometricTest) -> None:
    """The rate of largest likelihood, and the distance to its law at every number of trials up to the cap."""
    x = np.array(with_infinity(times))
    rate = float((x <= cap).sum() / np.minimum(x, cap).sum())
    distance = max(abs(float(np.mean(x <= t)) - (1 - (1 - rate) ** t)) for t in range(cap + 1))
    assert abs(test.rate - rate) < 1e-12
    assert abs(test.distance - distance) < 1e-9


LAWS = "(i) and (xv) at rates 1 and 0.05, (viii) at 0.01: n = 20, k = 3, B = 32, 1500 runs each, seeds 1000 to 2499"
SIZES = "(ii), n = 10, 14, 20, 40, 60, 80, 25 runs each"
START = "(i), n = 20, k = 3, B = 128, rate 0.01: 14 starts with 6 runs each"


@check(NAME + "experiment-5.2", grade="sampled", target="corrected", cases=f"{LAWS}; {SIZES}; {START}")
@check(NAME + "unnumbered-random-search", grade="sampled", target="corrected", cases=f"(1), (2), (4): {LAWS}; {SIZES}")
def test_no_random_search_in_the_times(effort: Effort) -> None:
    """All criteria of the laws and of the exponents, but that no run of (viii) takes less than a quarter of the median.

    Runs of today, 30 each for (i) and (xv) at n = 14: none below a quarter of the median, and no geometric law.
    """
    met = judged_again(LAW, effort)
    assert [text for text, holds in met.items() if not holds] == [
        "(viii): (2) fewer than 1 % of the runs take less than a quarter of the median (95 %)"
    ]
    assert len(met) == 18
    assert_repeated(LAW, "law-i-0", 3)
    drawn: list[int] = np.random.default_rng(6).geometric(0.05, size=60).tolist()
    short = [t if t <= 30 else None for t in drawn]
    found = geometric_test(short, 30, np.random.default_rng(0), 199)
    assert found.p_value > 0.1  # a geometric law is not rejected
    assert_fitted(short, 30, found)
    for setting, rate in (("i", 1.0), ("xv", 0.05)):
        times = fresh_times(setting, rate, range(30), 14, 3)
        test = geometric_test([None if t is None else t // 5 for t in times], 4000, np.random.default_rng(0), 199)
        assert test.p_value < 0.01
        assert_fitted([None if t is None else t // 5 for t in times], 4000, test)
        assert min(with_infinity(times)) >= np.median(with_infinity(times)) / 4


@check(NAME + "experiment-5.2", grade="sampled", target="corrected", cases=START)
@check(NAME + "unnumbered-random-search", grade="sampled", target="corrected", cases=f"(3): {START}")
def test_the_start_explains_the_times(effort: Effort) -> None:
    """The share between starts of the ranks of the times is above 92 % at n = 20 (95 %); today 8 starts at n = 10."""
    met = judged_again(STARTS, effort)
    assert [holds for text, holds in met.items() if "variance of the ranks of the times" in text] == [True, True]
    numbers = committed_results(STARTS)["numbers"]
    assert numbers["share between starts, times"]["low"] > 0.9
    groups = []
    for start in range(8):
        runs = []
        for seed in range(3):
            network = initial_architecture("i", 10, 3, np.random.default_rng([start, 0]))
            run = train_architecture(
                "i", network, 9000, np.random.default_rng([seed, start]), batch=128, rate=0.1, held_out=2**11
            )
            runs.append(run.converged)
        groups.append(runs)
    share, p = group_share(groups, np.random.default_rng(1), draws=199)
    assert share.estimate > 0.5
    assert p <= 0.01


@counterexample(NAME + "experiment-5.2", grade="sampled")
@counterexample(NAME + "unnumbered-random-search", grade="sampled")
def test_the_curves_on_the_way_also_depend_on_the_samples(record: Record) -> None:
    """When the accuracy first is 75 %, at most 81 % of the variance of ranks lies between starts; of the times 96 %."""
    items = committed_results(STARTS)["items"]
    groups = [group for item in items.values() for group in item["result"]["three_quarters"]]
    share, _ = group_share(groups, np.random.default_rng(3))
    assert share.high < 0.85
    ranks = np.argsort(np.argsort(np.array([with_infinity(group) for group in groups]).ravel())).reshape(
        len(groups), -1
    )
    within = ranks.var(axis=1).mean() / ranks.var()
    assert 0.25 < within < 0.75
    settings = next(iter(items.values()))["settings"]
    record.hypothesis("B = 128", settings["batch"], "=", 128)
    record.hypothesis("rate 0.01", settings["rate"], "=", 0.01)
    says = "the curves depend on the start, not on the samples: 90 % of the variance at 75 % accuracy (95 %)"
    record.violated(says, share.high, ">=", 0.9)


@counterexample(NAME + "unnumbered-random-search", grade="sampled")
def test_a_single_neuron_is_sometimes_lucky() -> None:
    """36 of 1500 runs of (viii) take less than a quarter of the median; the three quickest again, bit for bit."""
    items = {key: item for key, item in committed_results(LAW)["items"].items() if key.startswith("law-viii")}
    times: dict[int, int | None] = {}
    for item in items.values():
        times |= dict(zip(item["settings"]["seeds"], item["result"]["tried"][0]["times"], strict=True))
    x = with_infinity(list(times.values()))
    median = float(np.median(x))
    assert sum(t < median / 4 for t in x) == 36
    quickest = sorted(times, key=lambda seed: times[seed] or math.inf)[:3]
    for seed in quickest:
        settings: dict[str, Any] = {**items["law-viii-0"]["settings"], "seeds": [seed]}
        assert LAW.work(settings)["tried"][0]["times"] == [times[seed]]
        assert (times[seed] or math.inf) < median / 4


def least_exponent(times: dict[int, list[int | None]]) -> float:
    """The smallest alpha >= 0 with t(n) <= t(10) (n - 9)^alpha for the 10th percentiles, by bisection."""
    tenth = {n: sorted(with_infinity(x))[math.ceil(len(x) / 10) - 1] for n, x in times.items()}
    low, high = 0.0, 8.0
    if all(tenth[n] <= tenth[10] for n in tenth):
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if all(tenth[n] <= tenth[10] * (n - 9) ** middle for n in tenth):
            high = middle
        else:
            low = middle
    return high


@check(
    NAME + "experiment-B.5",
    grade="sampled",
    target="printed",
    cases="(i) to (xv), n = 10, 20, 30, k = 2, 3, 4, B = 32: 15 runs each ((iii), (vi): 6); five fits at 15, 25, 90",
)
def test_coarse_power_laws_bound_and_do_not_extrapolate(effort: Effort) -> None:
    """All criteria of the fits; every exponent once more by bisection; and a fit to runs of today."""
    met = judged_again(GRID, effort)
    summary = committed_results(GRID)
    fits = [c["text"] for c in summary["criteria"] if c["statement"] == NAME + "experiment-B.5"]
    assert len(fits) == 3
    assert all(met[text] for text in fits)
    found = summary["numbers"]["fits of figure B.5"]
    assert len(found) == 45
    best: dict[tuple[str, int], dict[int, list[int | None]]] = {}
    for key, item in summary["items"].items():
        if key.startswith("base") and "least" not in key:
            cell, tried = item["settings"], item["result"]["tried"]
            times = max((one["times"] for one in tried), key=lambda x: sum(t is not None for t in x))
            best.setdefault((cell["setting"], cell["k"]), {})[cell["n"]] = times
    for (setting, k), times in best.items():
        law = found[f"({setting}) k = {k}: c, alpha"]
        assert law is not None
        assert abs(law[1] - least_exponent(times)) < 1e-3
    today = {n: fresh_times("xv", 0.1, range(10), n, 3, 10) for n in (10, 20, 30)}
    fit = coarse_power_law(today)
    assert fit is not None
    assert abs(fit[1] - least_exponent(today)) < 1e-9
    assert_repeated(GRID, "far-vii-n10", 2)


GRIDS = (
    "(i) to (xv), (*i), (*ii): n = 10, 20, 30, k = 2, 3, 4, B = 32, uniform start, hinge loss, 15 runs each "
    "((iii), (vi): 6), the best of four rates; 41 cells of other batches, losses and starts at random, 8 runs each"
)


@check(NAME + "empirical-finding-5.1", grade="sampled", target="corrected", cases=GRIDS)
@check(NAME + "experiment-5.1", grade="sampled", target="printed", supporting=True)
def test_architectures_learn_at_a_moderate_batch(effort: Effort, record: Record) -> None:
    """At B = 32 every cell reaches 20 %, with medians of c n^(alpha k); of 41 random cells all but three do."""
    architectures_step_as_written()
    met = judged_again(GRID, effort)
    for text in (
        "for each architecture the medians are <= c n^(alpha k) <= 10^5, alpha <= 1, c <= 100",
        "(*i) and (*ii): the same share at B = 32 for all n and k",
        "(*i) and (*ii): not at B = 1, in one of the cells at least",
    ):
        assert met[text]
    laws = committed_results(GRID)["numbers"]["exponent alpha and c of c n^(alpha k)"]
    assert len(laws) == 15
    assert all(alpha < 0.7 and c < 45 for alpha, c in laws.values())
    record.number("0.7", max(alpha for alpha, _ in laws.values()), rounded="up", of=NAME + "empirical-finding-5.1")
    shares = {}
    for key, item in committed_results(GRID)["items"].items():
        shares[key] = max(
            sum(t is not None for t in one["times"]) / len(one["times"]) for one in item["result"]["tried"]
        )
    base = {key: share for key, share in shares.items() if key.startswith("base")}
    assert len(base) == 153
    assert min(base.values()) >= 0.2
    assert sum(share >= 0.2 for key, share in shares.items() if key.startswith("random")) == 38
    assert_repeated(GRID, "base-i-n30-k3", 4)
    assert_repeated(GRID, "base-x-n10-k2", 2)
    assert_repeated(GRID, "base-iv-n10-k2", 2)
    for setting, rate in (("i", 1.0), ("iv", 0.01), ("vii", 0.1), ("x", 0.01), ("xv", 0.1)):
        times = fresh_times(setting, rate, range(5), 12, 2, 10)
        assert sum(t is not None for t in times) >= 1
        assert float(np.median(with_infinity(times))) <= 45 * 12 ** (0.7 * 2)


@counterexample(NAME + "empirical-finding-5.1", grade="sampled")
def test_a_cell_in_which_no_rate_works(record: Record) -> None:
    """(iv), n = 20, k = 4, B = 16, Gaussian start, square loss: z^4 starts far off, and the steps diverge.

    60 runs of up to 10^5 steps at each of the four rates; the share that converges is below 20 % with 95 %.
    """
    n, k, batch = 20, 4, 16
    record.hypothesis("n is 10, 20 or 30", n in (10, 20, 30), "=", True)
    record.hypothesis("k is 2, 3 or 4", k in (2, 3, 4), "=", True)
    record.hypothesis("B is a power of two, up to 1024", batch in [2**j for j in range(11)], "=", True)
    for rate in (1.0, 0.1, 0.01, 0.001):
        converged = 0
        for seed in range(60):
            network = initial_architecture("iv", n, k, np.random.default_rng([seed, 0]), "gaussian")
            run = train_architecture(
                "iv", network, 100_000, np.random.default_rng([seed, seed, 1]),
                batch=batch, rate=rate, loss="square", held_out=2**11,
            )  # fmt: skip
            converged += run.converged is not None
        high = proportion_interval(converged, 60).high
        assert high < 0.2
        record.violated(f"at rate {rate} a share of 20 % converges (95 %)", high, ">=", 0.2)


@check(NAME + "empirical-finding-5.1", grade="sampled", target="corrected", supporting=True)
def test_the_same_cell_learns_from_a_smaller_start() -> None:
    """With variance 1/fan-in in place of 2/fan-in of the Gaussian start: at least 5 of 10 runs at the rate 0.001."""
    converged = 0
    for seed in range(10):
        network = initial_architecture("iv", 20, 4, np.random.default_rng([seed, 0]), "gaussian")
        network.hidden[:] *= math.sqrt(0.5)
        network.readout[:] *= math.sqrt(0.5)
        run = train_architecture(
            "iv", network, 100_000, np.random.default_rng([seed, seed, 1]),
            batch=16, rate=0.001, loss="square", held_out=2**11,
        )  # fmt: skip
        converged += run.converged is not None
    assert converged >= 5


BATCHES = (
    "n = 30, k = 4, B = 512, all of (i) to (xv) but the widest: 20 runs each; B = 128, k = 2, 3, 4: 12 runs each; "
    "(ix), (x), (xiv) at B = 1024: 40 runs each"
)


def large_shares(experiment: Experiment) -> dict[str, tuple[int, int]]:
    """For each cell of a large batch the runs that converge at the chosen rate, and all."""
    found = {}
    for key, item in committed_results(experiment)["items"].items():
        if key.startswith(("large-", "largest-")):
            counts = [(sum(t is not None for t in one["times"]), len(one["times"])) for one in item["result"]["tried"]]
            found[key] = max(counts)
    return found


@check(NAME + "experiment-B.3-B.4", grade="sampled", target="printed", cases=BATCHES)
def test_large_batches_are_robust_in_most_settings(effort: Effort) -> None:
    """Nine of ten runs or more converge in 12 of 13 settings at B = 512; four of five in 40 of 41 cells at B = 128.

    Both attempts missed their criterion, four of five everywhere. A third one meets it at B = 1024 in the three
    settings that did not all converge at B = 512. Today 5 runs of four settings at n = 14 converge.
    """
    assert list(judged_again(LARGEST_BATCHES, effort, repeat=False).values()) == [True, True]
    assert large_shares(LARGEST_BATCHES) == {"largest-ix": (39, 40), "largest-x": (39, 40), "largest-xiv": (36, 40)}
    assert_repeated(LARGEST_BATCHES, "largest-xiv", 2)
    assert not any(judged_again(LARGE_BATCHES, effort, repeat=False).values())
    larger, large = large_shares(LARGE_BATCHES), large_shares(GRID)
    assert len(larger) == 13
    assert [key for key, (done, runs) in larger.items() if done < 0.9 * runs] == ["large-xiv"]
    assert len(large) == 41
    assert [key for key, (done, runs) in large.items() if done < 0.8 * runs] == ["large-xv-k4"]
    assert_repeated(LARGE_BATCHES, "large-xiv", 3)
    assert_repeated(GRID, "large-i-k3", 3)
    for setting, rate in (("i", 1.0), ("vii", 0.1), ("xii", 0.1), ("xv", 0.1)):
        assert None not in fresh_times(setting, rate, range(5), 14, 2, 10, batch=128)


@check(NAME + "experiment-B.3-B.4", grade="sampled", target="printed", supporting=True)
def test_a_sinusoidal_neuron_is_less_robust_at_its_fastest_rate() -> None:
    """(xiv), n = 30, k = 4, B = 512: at rate 0.1 14 of 20 runs converge, the share is below 90 % with 95 %. Of the six
    others two are run again at rate 0.01, and converge: the fastest rate is not the most robust one."""
    done, runs = large_shares(LARGE_BATCHES)["large-xiv"]
    assert (done, runs) == (14, 20)
    assert proportion_interval(done, runs).high < 0.9
    item = committed_results(LARGE_BATCHES)["items"]["large-xiv"]
    assert item["result"]["tried"][0]["rate"] == 0.1
    times = dict(zip(item["settings"]["seeds"], item["result"]["tried"][0]["times"], strict=True))
    failed = [seed for seed, time in times.items() if time is None][1:3]
    again = LARGE_BATCHES.work({**item["settings"], "rate": 0.01, "steps": 1500, "seeds": failed})
    assert None not in again["tried"][0]["times"]


@check(
    NAME + "experiment-B.3-B.4",
    grade="sampled",
    target="printed",
    cases="(viii), n = 30, k = 3: 40 starts, 5 runs each",
)
def test_some_settings_have_unlucky_starts(effort: Effort) -> None:
    """(viii): a factor 10 between the 10 % and the 90 % quantile, and 37 % or more of the variance between starts.

    This is the second attempt: with 15 starts the intervals began at 28 % and 30 %, and the criterion asks for 30 %.
    """
    assert all(judged_again(UNLUCKY_AGAIN, effort).values())
    assert not any(judged_again(UNLUCKY, effort).values())
    groups = committed_results(UNLUCKY_AGAIN)["items"]["viii"]["result"]["times"]
    x = np.sort(np.array(with_infinity([t for group in groups for t in group])))
    assert x[180] > 3 * x[19]
    assert group_share(groups, np.random.default_rng(8))[0].low > 0.3
