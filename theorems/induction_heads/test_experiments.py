"""The figures that show training: what the committed runs say, and runs of this session that say it again.

`theorems/induction_heads/results` holds the results of all items at full scale; here they are judged once more by the
criteria of the code. With full effort the runs at full scale are repeated; otherwise one run of each model on shorter
sequences (the phases), or none (ten seeds, one layer, more symbols: there the verdict rests on the committed runs). A
statement of the form "in 9 of 10 runs" that was met by 10 of 10 has a share of at least 0.69 among all seeds, at 95%
(Clopper and Pearson).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.markov.minimal_gradient import chain_stationary_law
from lemmata.numerics.runs.confidence import mean_interval, proportion_interval
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.experiments import Experiment, assert_follows, committed, recomputed, run_experiment
from lemmata.theorems.induction_heads.experiments import EXPERIMENTS
from lemmata.theorems.induction_heads.experiments.phases import PHASES
from lemmata.theorems.induction_heads.experiments.sizes import (
    TRIGRAMS_200,
    TRIGRAMS_LONGER,
    UNIGRAM_SIGNAL_100,
    UNIGRAM_SIGNAL_LONGER,
    rests_at,
)
from lemmata.theorems.induction_heads.experiments.variants import MORE_SYMBOLS, ONE_LAYER, TRIGRAMS, UNIGRAM_SIGNAL
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

Property = Callable[[str, object], None]
FIGURE = "induction-heads:figure-"
FIGURES = (
    "induction-heads:observation-8.4", FIGURE + "8.1", FIGURE + "8.2", FIGURE + "8.3", FIGURE + "8.4a", FIGURE + "8.4b",
    FIGURE + "8.5", FIGURE + "E.3", FIGURE + "E.4", FIGURE + "E.5", FIGURE + "E.6", FIGURE + "E.7", FIGURE + "E.8",
)  # fmt: skip


def results(experiment: Experiment) -> dict[str, Any]:
    summary = committed(experiment.name)
    assert summary is not None
    assert summary["scale"] == "full"
    return summary


@pytest.fixture(scope="module")
def phases(effort: Effort) -> dict[str, Any]:
    """A run of this session: one seed and 48 symbols, or with full effort all runs at full scale."""
    return run_experiment(PHASES, effort.pick(quick="quick", full="full"))


@check(*FIGURES, grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_committed_results_follow_from_their_runs(experiment: Experiment, record_property: Property) -> None:
    summary = results(experiment)
    assert_follows(summary)
    for statement, verdict in summary["verdicts"].items():
        record_property(f"{statement}: {len(summary['items'])} runs", verdict)


TEN = "ten seeds (committed), one more with t = 64 in this session (full effort: all ten)"


@check(FIGURE + "8.1", grade="sampled", target="printed", cases=TEN)
@check(FIGURE + "8.2", grade="sampled", target="printed", cases=TEN)
@check(FIGURE + "E.5", grade="sampled", target="printed", cases=TEN)
@check(FIGURE + "E.6", grade="sampled", target="corrected", cases=TEN)
@check(FIGURE + "E.7", grade="sampled", target="printed", cases=TEN)
@check("induction-heads:observation-8.4", grade="sampled", target="corrected", cases=TEN)
def test_phases_attention_and_comb(phases: dict[str, Any], record_property: Property) -> None:
    """Ten seeds of each model for t = 100 in the committed runs, and the runs of this session."""
    summary = results(PHASES)
    assert len(summary["items"]) == 20
    for statement in (*(FIGURE + n for n in ("8.1", "8.2", "E.5", "E.6", "E.7")), "induction-heads:observation-8.4"):
        assert summary["verdicts"][statement] == "reproduced"
        assert phases["verdicts"][statement] == "reproduced"
    for name in ("transformers with the phases in order", "minimal models with the phases in order"):
        record_property(name, summary["numbers"][name])


@check(
    FIGURE + "8.4b",
    grade="sampled",
    target="printed",
    cases="k = 2, t = 100, batch 64, rate 2e-3, v = 1/t, W = 0: ten seeds (committed), seed 0 again in this session",
)
def test_weights_of_the_minimal_model_before_convergence() -> None:
    """The printed protocol. One run takes seconds: that of seed 0 is repeated, and is the committed one up to rounding.

    The results have four digits; the gradients of the float32 model are sums whose order may differ between machines.
    """
    summary = results(PHASES)
    items = {key: item["settings"] for key, item in summary["items"].items() if item["settings"]["model"] == "minimal"}
    assert len(items) == 10
    for item in items.values():
        assert (item["k"], item["context"], item["batch"], item["rate"]) == (2, 100, 64, 2e-3)
    assert summary["verdicts"][FIGURE + "8.4b"] == "reproduced"
    again = PHASES.work(items["minimal-0"])
    committed_run = summary["items"]["minimal-0"]["result"]
    for name in ("W", "positions"):
        assert np.abs(np.array(again[name]) - np.array(committed_run[name])).max() < 1e-3
    text = "when bigram has become the closest strategy"
    changed = copy.deepcopy(summary)
    changed["items"]["minimal-0"]["result"] = again
    judged = [c["met"] for c in recomputed(changed)["criteria"] if c["statement"] == FIGURE + "8.4b"]
    assert judged == [True, True]
    assert any(text in c["text"] for c in summary["criteria"])


@check(FIGURE + "E.3", grade="sampled", target="printed", cases="seeds 0, ..., 9 (committed; full effort: repeated)")
def test_ten_seeds_have_the_same_phases_at_different_times(effort: Effort, request: pytest.FixtureRequest) -> None:
    summary = results(PHASES)
    assert sum(key.startswith("transformer") for key in summary["items"]) == 10
    assert summary["verdicts"][FIGURE + "E.3"] == "reproduced"
    if effort.name != "quick":
        assert request.getfixturevalue("phases")["verdicts"][FIGURE + "E.3"] == "reproduced"


@check(FIGURE + "8.3", grade="sampled", target="printed", cases=TEN + "; six runs with one layer (committed)")
def test_both_models_learn_bigrams_but_only_the_transformer_is_near_bayes(phases: dict[str, Any]) -> None:
    """Plateau and drops of the transformer, and the minimal model above all transformers; both end at bigrams.

    With one layer there is no second drop: at no time is the loss below half of the unigram line.
    """
    summary = results(PHASES)
    assert summary["verdicts"][FIGURE + "8.3"] == phases["verdicts"][FIGURE + "8.3"] == "reproduced"
    single = [item["result"] for item in results(ONE_LAYER)["items"].values()]
    assert len(single) == 6
    assert all(min(run["loss"]) > run["lines"]["unigram"] / 2 > 2.5 * run["lines"]["bigram"] for run in single)
    double = runs(summary, "transformer")
    assert all(min(run["loss"]) < run["lines"]["flat"]["unigram"] / 2 for run in double)


@check(FIGURE + "8.3", grade="sampled", target="printed", supporting=True)
def test_trained_minimal_models_do_not_come_near_bayes(record_property: Property) -> None:
    """Never below 2.5 times the loss of bigrams, in ten runs; all ten transformers end below that.

    For all weights at once, trained or not, see `test_minimal_floor`.
    """
    summary = results(PHASES)
    ratios = [
        [min(run["loss"]) / run["lines"]["flat"]["bigram"] for run in runs(summary, name)]
        for name in ("minimal", "transformer")
    ]
    record_property("least loss over the bigram line: minimal models, transformers", [min(ratios[0]), max(ratios[1])])
    assert min(ratios[0]) > 2.5 > max(ratios[1])


@counterexample(FIGURE + "E.6", grade="exact")
def test_the_stationary_law_of_a_doubly_stochastic_matrix_is_uniform(record: Record) -> None:
    """It is a vector and no identity; and for this matrix it is the only one, with equal entries."""
    P = np.array([[fmpq(n, 10) for n in row] for row in ((1, 2, 7), (6, 3, 1), (3, 5, 2))])
    assert P.sum(axis=0).tolist() == P.sum(axis=1).tolist() == [1, 1, 1]
    law = chain_stationary_law(P)
    assert law.tolist() == [fmpq(1, 3)] * 3
    record.hypothesis("the columns add up to 1: the least sum", min(P.sum(axis=0)), "=", 1)
    record.hypothesis("the rows add up to 1: the least sum", min(P.sum(axis=1)), "=", 1)
    record.violated("the stationary law is the identity, with an entry 1", max(law), "=", 1)


@check(
    FIGURE + "E.8",
    grade="sampled",
    target="printed",
    cases="relative positions two seeds, absolute one, each without and with an MLP (committed; full effort: repeated)",
)
def test_one_layer_stays_at_the_unigram_line(effort: Effort, record_property: Property) -> None:
    """Relative positions (two seeds each, without and with an MLP) and absolute ones (one seed each).

    Judged by the committed runs, unless the effort is full; two layers are near bigrams after 300 steps. For one head
    without an MLP the failure is a theorem (`test_one_layer`).
    """
    summary = results(ONE_LAYER)
    for name, value in summary["numbers"].items():
        record_property(name, str(value))
    assert {key.rpartition("-")[0] for key in summary["items"]} == {
        "relative", "relative-mlp", "absolute", "absolute-mlp",
    }  # fmt: skip
    assert summary["verdicts"][FIGURE + "E.8"] == "reproduced"
    for run in runs(results(PHASES), "transformer"):
        assert run["loss"][run["steps"].index(300)] < 2.5 * run["lines"]["flat"]["bigram"]
    if effort.name != "quick":
        assert run_experiment(ONE_LAYER, "full")["verdicts"][FIGURE + "E.8"] == "reproduced"


@check(
    FIGURE + "E.4",
    grade="sampled",
    target="printed",
    cases="k = 4, 5 with t = 100, 200, two seeds each (committed; full effort: repeated)",
)
def test_four_and_five_states_have_the_same_phases_on_long_sequences(effort: Effort, record_property: Property) -> None:
    """t = 200: four of four in order, so that at 95% the share among all seeds is at least 0.39. t = 100: one of four.

    A plateau before the last drop in all eight. Judged by the committed runs, unless the effort is full.
    """
    summary = results(MORE_SYMBOLS)
    settings = [item["settings"] for item in summary["items"].values()]
    assert {(item["k"], item["context"]) for item in settings} == {(4, 100), (4, 200), (5, 100), (5, 200)}
    assert summary["verdicts"][FIGURE + "E.4"] == "reproduced"
    record_property("runs in order for t = 200: share", str(proportion_interval(4, 4)))
    if effort.name != "quick":
        assert run_experiment(MORE_SYMBOLS, "full")["verdicts"][FIGURE + "E.4"] == "reproduced"


def straight(run: dict[str, Any]) -> None:
    """A loss that falls evenly from the first value to the last."""
    steps = np.array(run["steps"])
    run["loss"] = (run["loss"][0] + (run["loss"][-1] - run["loss"][0]) * steps / steps[-1]).tolist()


def without_unigrams(run: dict[str, Any]) -> None:
    run["unigram"] = [1.0] * len(run["unigram"])


@check(FIGURE + "E.4", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize("change", [straight, without_unigrams])
def test_faulty_runs_with_more_symbols_change_the_verdict(change: Callable[[dict[str, Any]], None]) -> None:
    summary = copy.deepcopy(results(MORE_SYMBOLS))
    for key in ("states-4-length-200-0", "states-5-length-200-1"):
        change(summary["items"][key]["result"])
    assert recomputed(summary)["verdicts"][FIGURE + "E.4"] == "partly"


@check(FIGURE + "8.4a", grade="sampled", target="printed", supporting=True)
def test_the_head_forms_earlier_without_free_unigrams_but_the_loss_does_not_drop_earlier() -> None:
    """k = 4, t = 64, six seeds; sign tests at 5%. The second mixture takes twice as many steps for as many samples."""
    summary = results(UNIGRAM_SIGNAL)
    assert summary["verdicts"][FIGURE + "8.4a"] == "partly"
    numbers = summary["numbers"]
    assert numbers["seeds with previous token earlier without unigrams than with free-unigrams"] == "6 of 6"
    ratio = numbers["samples to drop: free-unigrams over doubly-stochastic, geometric mean"]
    assert ratio["low"] < 1 < ratio["high"]


@check(FIGURE + "8.5", grade="sampled", target="printed", supporting=True)
def test_three_heads_learn_trigrams_and_one_head_stays_at_bigrams() -> None:
    """k = 2, t = 64, three seeds each; two of three pass the four stages in order, one goes back to uniform once."""
    summary = results(TRIGRAMS)
    assert summary["verdicts"][FIGURE + "8.5"] == "partly"
    assert sum(not criterion["met"] for criterion in summary["criteria"]) == 1
    assert [p[-3:] for p in summary["numbers"]["heads-3: phases"]] == [["unigram", "bigram", "trigram"]] * 3


def factor(event: str) -> tuple[float, float]:
    """95% interval of the geometric mean over seeds: samples with free unigrams over samples without; t = 100.

    The run that ended before its events is judged by the one that goes on.
    """
    numbers, late = (recomputed(results(e))["numbers"] for e in (UNIGRAM_SIGNAL_100, UNIGRAM_SIGNAL_LONGER))
    without, free = (numbers[f"{arm}: samples to the {event}"] for arm in ("doubly-stochastic", "free-unigrams"))
    assert free.count(None) == 1
    assert goes_on(results(UNIGRAM_SIGNAL_100), results(UNIGRAM_SIGNAL_LONGER))
    free = [late[f"free-unigrams-21: samples to the {event}"] if value is None else value for value in free]
    interval = mean_interval([math.log(b / a) for a, b in zip(without, free, strict=True)])
    return math.exp(interval.low), math.exp(interval.high)


@check(
    FIGURE + "8.4a",
    grade="sampled",
    target="printed",
    supporting=True,
    cases="k = 4, rate 3e-3: t = 100, seeds 20, ..., 25, free unigrams; t = 64, seeds 10, ..., 15, both mixtures",
)
def test_without_unigrams_no_unigram_plateau_and_an_earlier_head_but_no_much_earlier_loss(
    record_property: Property,
) -> None:
    """At 100 times the printed rate; the intervals are those of the ledger."""
    numbers = recomputed(results(UNIGRAM_SIGNAL_100))["numbers"]
    assert numbers["doubly-stochastic: samples with unigram closest"] == [0.0] * 6
    assert min(numbers["free-unigrams: samples with unigram closest"]) > 20_000
    for event, expected in {"loss": (0.86, 1.24), "head": (1.13, 1.62)}.items():
        found = factor(event)
        record_property(f"samples with free unigrams over samples without, {event}", str(found))
        assert tuple(round(end, 2) for end in found) == expected
    shorter = recomputed(results(UNIGRAM_SIGNAL))["numbers"]
    assert shorter["seeds with previous token earlier without unigrams than with free-unigrams"] == "6 of 6"
    for arm, expected in {"free-unigrams": (0.89, 1.27), "half-unigrams": (0.58, 0.81)}.items():
        interval = shorter[f"samples to drop: {arm} over doubly-stochastic, geometric mean"]
        assert (round(interval["low"], 2), round(interval["high"], 2)) == expected


FOUR_STAGES = (
    "three heads: the closest strategy is uniform, unigram, bigram, trigram, in this order, but for interruptions "
    "of one measurement"
)


@check(
    FIGURE + "8.5",
    grade="sampled",
    target="corrected",
    cases="k = 2, t = 200, rate 3e-2, batch 64: three heads, seeds 10, ..., 13; one head, seeds 10, 11, 12 (committed)",
)
def test_four_stages_at_the_printed_sizes_and_single_heads_below_bigrams(record_property: Property) -> None:
    """Seed 12 was still falling after 240 steps and is judged at its end by the run that goes on to 480.

    A claim that models "could not" do something is refuted by one that does: two of three single heads end below the
    bigram line by a quarter or more, far above the trigram line. The numbers are those of the ledger.
    """
    summary, longer = results(TRIGRAMS_200), results(TRIGRAMS_LONGER)
    claims = recomputed(summary)["numbers"]["claims"]
    assert claims[FOUR_STAGES] == "met"
    assert claims["three heads: the loss has a plateau at the unigram line"] == "met"
    three, one = runs(summary, "heads-3"), runs(summary, "heads-1")
    assert [rests_at(r, "bigram") for r in three] == [False, True, True, False]
    ends = {key: final(item["result"], "trigram") for key, item in summary["items"].items()}
    (again,) = longer["items"].items()
    assert goes_on(summary, longer)
    assert again[1]["result"]["steps"][-1] == 2 * summary["items"][again[0]]["result"]["steps"][-1]
    assert again[0] == max((key for key in ends if key.startswith("heads-3")), key=lambda key: ends[key])
    ends[again[0]] = final(again[1]["result"], "trigram")
    assert all(end < 2.1 for key, end in ends.items() if key.startswith("heads-3"))
    record_property("final loss over the trigram line", str(ends))
    assert [round(final(r, "bigram"), 2) for r in one] == [0.66, 0.75, 1.03]
    assert all(final(r, "trigram") > 6 for r in one)


def goes_on(summary: dict[str, Any], longer: dict[str, Any]) -> bool:
    """Whether the only run of the one is a run of the other that goes on: the same losses where both were measured."""
    ((key, item),) = longer["items"].items()
    first, second = (
        dict(zip(r["steps"], r["loss"], strict=True)) for r in (summary["items"][key]["result"], item["result"])
    )
    both = first.keys() & second.keys()
    return len(both) > 20 and max(second) > max(first) and all(first[step] == second[step] for step in both)


def final(run: dict[str, Any], strategy: str) -> float:
    """The mean of the last five losses over a line."""
    return float(np.mean(run["loss"][-5:])) / run["lines"][strategy]


STAGE_FAULTS: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "bigram and trigram exchanged": (FOUR_STAGES, lambda run: run.update(bigram=run["trigram"], trigram=run["bigram"])),
    "uniform forgotten": (FOUR_STAGES, lambda run: run.update(uniform=[1.0] * len(run["uniform"]))),
    "a straight loss": ("three heads: the loss has a plateau at the unigram line", lambda run: straight(run)),
}


@check(FIGURE + "8.5", grade="sampled", target="corrected", supporting=True)
@pytest.mark.parametrize("fault", STAGE_FAULTS)
def test_one_faulty_run_of_3_grams_changes_the_verdict(fault: str) -> None:
    claim, change = STAGE_FAULTS[fault]
    summary = copy.deepcopy(results(TRIGRAMS_200))
    assert summary["numbers"]["claims"][claim] == "met"
    change(summary["items"]["heads-3-11"]["result"])
    assert recomputed(summary)["numbers"]["claims"][claim] != "met"


def runs(summary: dict[str, Any], model: str) -> list[dict[str, Any]]:
    found = [item["result"] for key, item in summary["items"].items() if key.startswith(model)]
    assert found
    return found


def exchanged(a: str, b: str) -> Callable[[dict[str, Any]], None]:
    def change(run: dict[str, Any]) -> None:
        run[a], run[b] = run[b], run[a]

    return change


def scaled(name: str, factor: float) -> Callable[[dict[str, Any]], None]:
    def change(run: dict[str, Any]) -> None:
        run[name] = [factor * value for value in run[name]]

    return change


def no_comb(run: dict[str, Any]) -> None:
    run["positions"] = [[*row[:3], min(row[2], row[4]), *row[4:]] for row in run["positions"]]


def faint_comb(run: dict[str, Any]) -> None:
    """v_4 and v_6 exceed the means of their neighbours by 1 %."""
    for row in run["positions"]:
        for i in (3, 5):
            row[i] = 1.01 * (row[i - 1] + row[i + 1]) / 2


@check(FIGURE + "8.4b", FIGURE + "E.7", grade="sampled", target="printed", supporting=True)
def test_a_faint_comb_is_a_comb() -> None:
    summary = copy.deepcopy(results(PHASES))
    for run in (*runs(summary, "minimal"), *runs(summary, "transformer")):
        faint_comb(run)
    verdicts = recomputed(summary)["verdicts"]
    assert verdicts[FIGURE + "8.4b"] == verdicts[FIGURE + "E.7"] == "reproduced"


FAULTS = {
    "unigram and uniform exchanged": ("8.1", "transformer", exchanged("unigram", "uniform")),
    "unigram and bigram exchanged": ("E.3", "transformer", exchanged("unigram", "bigram")),
    "less weight on the previous token": ("8.2", "transformer", scaled("previous", 0.9)),
    "less weight on the matches": ("E.5", "transformer", scaled("matches", 0.9)),
    "loss of the transformer too large": ("8.3", "transformer", scaled("loss", 1.6)),
    "loss of the minimal model too small": ("8.3", "minimal", scaled("loss", 0.5)),
    "v_4 no larger than its neighbours in the minimal model": ("8.4b", "minimal", no_comb),
    "v_4 no larger than its neighbours in the transformer": ("E.7", "transformer", no_comb),
    "bigram never the closest strategy": (
        "8.4b",
        "minimal",
        lambda run: run.update(bigram=[9.0] * len(run["bigram"])),
    ),
    "W less diagonal": ("8.4b", "minimal", lambda run: run.update(W=[[a, a, a, a] for a, *_ in run["W"]])),
    "the encodings of both symbols too different": (
        "observation-8.4",
        "transformer",
        lambda run: run.update(symbols=[0.2] * len(run["symbols"])),
    ),
    "no plateau": ("E.3", "transformer", straight),
    "unigram level reached late": ("E.6", "minimal", lambda run: run["loss"].__setitem__(slice(0, 15), [0.21] * 15)),
}


@pytest.mark.parametrize("fault", FAULTS)
@check(*FIGURES, grade="sampled", target="printed", supporting=True)
def test_two_faulty_runs_of_ten_change_the_verdict(fault: str) -> None:
    figure, model, change = FAULTS[fault]
    summary = copy.deepcopy(results(PHASES))
    for run in runs(summary, model)[:2]:
        change(run)
    statement = f"induction-heads:{figure}" if figure.startswith("obs") else FIGURE + figure
    assert recomputed(summary)["verdicts"][statement] != "reproduced"
