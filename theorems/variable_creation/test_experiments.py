"""The training runs of this chapter: what the committed results say, and smaller runs that say it again.

`theorems/variable_creation/results` holds the runs at full scale, which are judged here once more by the criteria of
the code, and a slice of those that decide is repeated (of the others by `tests/theorems/test_results.py`); with full
effort all are repeated. At quick effort smaller runs must meet the criteria that are named here: the others need more
runs than a few seconds allow.

The learners that the networks are compared with are counted exactly, over all samples of small problems.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq
from scipy import stats

from lemmata.numerics.learning.attention_training import (
    AttentionReader,
    initial_reader,
    loss_and_gradient,
    parameters,
    string_codes,
)
from lemmata.numerics.learning.sparse_learners import (
    agreement_probability,
    balanced_probability,
    consistent_conjunctions,
    elimination_probability,
    parity_of,
    spanning_probability,
    surviving_bits,
)
from lemmata.theorems.evidence import check
from lemmata.theorems.experiments import (
    Experiment,
    Summary,
    assert_begins,
    assert_follows,
    assert_met,
    committed_results,
    recomputed,
    run_experiment,
    slice_again,
)
from lemmata.theorems.plugin import Effort
from lemmata.theorems.variable_creation.experiments.curves import ATTENTION, CURVES, REPLICATES, THIRD
from lemmata.theorems.variable_creation.experiments.parities import LASTING, PARITIES
from lemmata.theorems.variable_creation.experiments.parities_third import LEARNED
from lemmata.theorems.variable_creation.experiments.sample_sizes import SAMPLE_SIZES

NAME = "variable-creation:experiment-"
Record = Callable[[str, object], None]


def _again(experiment: Experiment, effort: Effort, *beginnings: str) -> None:
    """The committed runs reproduce the figure, their slice comes out again, and so do the named criteria."""
    summary = committed_results(experiment)
    assert set(summary["verdicts"].values()) == {"reproduced"}
    assert_follows(summary)
    assert_begins(summary, *slice_again(summary))
    if effort.name == "quick":
        assert_met(run_experiment(experiment, "quick"), *beginnings)
    else:
        assert set(run_experiment(experiment, "full")["verdicts"].values()) == {"reproduced"}


@check(
    NAME + "fig4.2",
    grade="sampled",
    target="printed",
    cases="T = 25, 50, 100, 200 with 20 trials at each of 8 sample sizes, T = 400 with 20 at each of 5, 740 trials; "
    "quick: T = 16, 128, 36 trials",
)
def test_the_sample_that_is_needed_grows_with_the_logarithm(effort: Effort, record_property: Record) -> None:
    """740 committed trials: a threshold in log T, which beats one in T; beside it the elimination learner, exactly."""
    numbers = committed_results(SAMPLE_SIZES)["numbers"]
    for name in ("samples for 80 %, by length", "growth with log T", "Vuong's z for log T against T", "p"):
        record_property(name, numbers[name])
    p = 0.5 ** (1 / 3)
    for length, samples in numbers["samples for 80 %, elimination learner, exact"].items():
        success = [
            float(stats.binom(m, 0.5).expect(lambda k, T=int(length): (1 - p**k) ** (T - 3)))
            for m in (samples - 1, samples)
        ]
        assert success[0] < 0.8 < success[1]
    test_the_gradient_is_that_of_automatic_differentiation(16)  # Adam does not see a factor on a part of it
    _again(SAMPLE_SIZES, effort, "the sample for 80 % success grows")


@check(NAME + "fig4.3-left", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize(("experiment", "above", "least", "largest"),
                         [(CURVES, 12, 1e-3, 2e-3), (REPLICATES, 32, 2e-3, 3e-3)], ids=["20", "40"])  # fmt: skip
def test_small_samples_are_fitted_without_being_understood(
    experiment: Experiment, above: int, least: float, largest: float, record_property: Record
) -> None:
    """The first two attempts: all criteria are met but one, 12 of 20 and 32 of 40 against all, p = 0.0016 and 0.0027.

    Both are above 0.001. They are not pooled with the third attempt, which decides.
    """
    summary = committed_results(experiment)
    for name, value in summary["numbers"].items():
        record_property(name, value)
    assert [c["met"] for c in summary["criteria"]] == [True, True, False, True]
    assert_follows(summary)
    assert least < summary["numbers"]["p"] < largest
    bests = {m: [max(curve) for item in summary["items"].values() if item["settings"]["samples"] == m
                 for curve in item["result"]["curves"]] for m in (50, 200)}  # fmt: skip
    assert sum(best > 0.99 for best in bests[50]) == above
    assert min(bests[200]) > 0.99


@check(
    NAME + "fig4.3-left",
    grade="sampled",
    target="printed",
    cases="T = 300, m = 50 and 200, 100 replicates each; quick: T = 40, m = 25 and 100, 8 replicates each",
)
def test_fewer_replicates_understand_the_small_sample(effort: Effort, record_property: Record) -> None:
    """The third attempt, by itself; p is the probability that all failures fall on the small sample by chance.

    In general that of as many wins of the large sample: counted for other runs, with 40 wins against 20.
    """
    summary = committed_results(THIRD)
    for name, value in summary["numbers"].items():
        record_property(name, value)
    bests = {m: [max(curve) for item in summary["items"].values() if item["settings"]["samples"] == m
                 for curve in item["result"]["curves"]] for m in (50, 200)}  # fmt: skip
    assert len(bests[50]) == len(bests[200]) == 100
    assert min(bests[200]) > 0.99
    failures = sum(best <= 0.99 for best in bests[50])
    chance = math.comb(100, failures) / math.comb(200, failures)
    assert summary["numbers"]["p"] == pytest.approx(chance, rel=1e-3)
    assert chance < 0.001 / 3
    other = _change(THIRD, _wins({200: 2, 50: 1}))["numbers"]["p"]
    ways = sum(math.comb(100, won) * math.comb(100, 60 - won) for won in range(40, 61))
    assert other == pytest.approx(ways / math.comb(200, 60), rel=1e-3)
    test_the_gradient_is_that_of_automatic_differentiation(16)
    _again(THIRD, effort, "every best run ends", "with the large sample", "the best accuracies")


@check(NAME + "fig4.3-left", grade="numeric", target="printed", supporting=True)
def test_both_attempts_together() -> None:
    """The first two, 60 of 60 against 44 of 60: the chance that all 16 failures fall on one side; no level was set."""
    assert 1e-6 < math.comb(60, 16) / math.comb(120, 16) < 2e-5


@check(NAME + "fig4.3-left", grade="sampled", target="printed", supporting=True)
def test_quick_runs_overfit_small_samples(effort: Effort) -> None:
    """T = 40, m = 25 and 100, 8 networks each."""
    summary = run_experiment(CURVES, effort.pick(quick="quick", full="full"))
    assert_met(summary, "every best run ends", "with the large sample", "the best accuracies")


@check(
    NAME + "fig4.3-right",
    grade="sampled",
    target="printed",
    cases="T = 50, m = 300, bits 5, 20, 30, ten networks with one head; quick: four networks, 150 iterations",
)
def test_a_trained_head_looks_at_the_relevant_bits(effort: Effort, record_property: Record) -> None:
    """The weights are those of the softmax that the network uses: they add up to 1 with that of [CLS]."""
    summary = committed_results(ATTENTION)
    for name, value in summary["numbers"].items():
        record_property(name, value)
    for item in summary["items"].values():
        for row in item["result"]["weights"]:
            assert sum(row) == pytest.approx(1, abs=51 * 0.0005)
    test_the_gradient_is_that_of_automatic_differentiation(1)
    _again(ATTENTION, effort, "9 of 10 networks are right", "for 9 of 10 the three bits", "for 9 of 10 the other bits")


@check(NAME + "fig4.4", grade="sampled", target="printed", supporting=True)
def test_parities_are_learned_all_at_once(effort: Effort, record_property: Record) -> None:
    """The first 20 committed runs, each tried on all 2^T strings in the end; the quick ones have T = 6.

    All are on a plateau at first, and 19 fall at once. One criterion is not met: runs stop at the first batch without
    an error, and then only 14 networks are right on all strings.
    """
    summary = committed_results(PARITIES)
    for name, value in summary["numbers"].items():
        record_property(name, value)
    assert [c["met"] for c in summary["criteria"]] == [True, False, True]
    errors = [count for item in summary["items"].values() for count in item["result"]["errors"]]
    assert sorted(errors)[13:] == [0, 1, 1, 2, 72, 77, 2**14]
    assert_follows(summary)
    assert_met(run_experiment(PARITIES, effort.pick(quick="quick", full="full")), "at the iterations 51", "for each T")


@check(NAME + "fig4.4", grade="sampled", target="printed", supporting=True)
def test_parities_are_learned_without_an_error(effort: Effort, record_property: Record) -> None:
    """20 other runs, which go on past the fall: 19 end without an error on all 2^T strings, one stays on the plateau.

    So the same criterion is missed once more. The curves are read here themselves, at every tenth iteration.
    """
    summary = committed_results(LASTING)
    for name, value in summary["numbers"].items():
        record_property(name, value)
    assert [c["met"] for c in summary["criteria"]] == [True, False, True]
    for T in (10, 15):
        spans = math.prod(1 - 2.0**-k for k in range(6, T + 6))
        number = summary["numbers"][f"T = {T}, probability that T + 5 samples determine the parity"]
        assert number == pytest.approx(spans, abs=1e-4)
    stuck = []
    for key, item in summary["items"].items():
        result, (losses,) = item["result"], item["result"]["losses"]
        assert all(abs(loss - math.log(2)) < 0.02 for loss in losses[5:10])
        if result["errors"] != [0]:
            assert all(abs(loss - math.log(2)) < 0.02 for loss in losses[5:])
            stuck.append((key, len(losses), result["errors"]))
            continue
        assert all(loss < 0.01 for loss in losses[-9:])
        assert min(losses[: (result["leaves"][0] - 1) // 10]) >= 0.6
        assert min(losses[: (result["lands"][0] - 1) // 10]) >= 0.1
    assert len(summary["items"]) == 20
    assert stuck == [("T10-seed200", 1200, [2**9])]
    assert_follows(summary)
    if effort.name != "quick":
        assert_met(run_experiment(LASTING, "full"), "at the iterations 51", "for each T")


@check(NAME + "fig4.4", grade="sampled", target="printed")
def test_parities_can_be_learned_to_the_last_string(effort: Effort, record_property: Record) -> None:
    """20 runs of a third attempt: most learn, beyond chance, and every loss that leaves the plateau goes to no error.

    The shares and the curves, at every tenth iteration, are read here themselves.
    """
    summary = committed_results(LEARNED)
    for name, value in summary["numbers"].items():
        record_property(name, value)
    assert_met(summary, "")
    learned = dict.fromkeys((10, 15), 0)
    for item in summary["items"].values():
        result, (losses,) = item["result"], item["result"]["losses"]
        assert all(abs(loss - math.log(2)) < 0.02 for loss in losses[5:10])
        if min(losses) < 0.6:
            assert all(loss < 0.01 for loss in losses[-9:])
            assert result["errors"] == [0]
            high = sum(loss >= 0.6 for loss in losses)
            assert 2 * (sum(loss >= 0.1 for loss in losses) - high - 2) <= high
        learned[item["settings"]["length"]] += result["errors"] == [0]
    assert len(summary["items"]) == 20
    for count in learned.values():
        assert sum(math.comb(10, k) for k in range(count, 11)) < 0.025 * 2**10
    assert_follows(summary)
    if effort.name != "quick":
        assert_met(run_experiment(LEARNED, "full"), "")


# ---- exact learners beside the networks


@check(NAME + "fig4.2", grade="exact", target="printed", supporting=True)
def test_the_printed_probability_balances_the_classes() -> None:
    """p = (1/2)^(1/3): conjunctions that share 0, 1, 2 bits agree with probability 1/2, 0.63, 0.7937."""
    p = balanced_probability(3)
    assert (p**3).overlaps(fmpq(1, 2))
    assert [round(float(agreement_probability(3, o, p)), 4) for o in (0, 1, 2)] == [0.5, 0.63, 0.7937]


@check(NAME + "fig4.2", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize(("T", "s", "m", "p"), [(3, 1, 3, fmpq(1, 3)), (3, 2, 4, fmpq(1, 2)), (4, 2, 3, fmpq(3, 4))])
def test_success_of_the_elimination_learner_over_all_samples(T: int, s: int, m: int, p: fmpq) -> None:
    """It succeeds as often as the formula says, and only where no other conjunction fits."""
    found = fmpq(0)
    for rows in product(product((0, 1), repeat=T), repeat=m):
        x = np.array(rows)
        y = x[:, :s].all(axis=1)
        if surviving_bits(x, y) == list(range(s)):
            found += p ** int(x.sum()) * (1 - p) ** int((1 - x).sum())
            assert consistent_conjunctions(x, y, s) == [tuple(range(s))]
    assert found == elimination_probability(T, s, m, p)


@check(NAME + "fig4.2", grade="sampled", target="printed", supporting=True)
def test_elimination_succeeds_as_often_in_the_trials_as_it_should() -> None:
    """Over all samples drawn, rejected ones included, which it never solves: within 4 standard deviations."""
    p, excess, variance = balanced_probability(3), 0.0, 0.0
    for item in committed_results(SAMPLE_SIZES)["items"].values():
        settings, result = item["settings"], item["result"]
        chance = float(elimination_probability(settings["length"], 3, settings["samples"], p))
        excess += sum(result["found"]) - chance * sum(result["draws"])
        variance += chance * (1 - chance) * sum(result["draws"])
    assert variance > 50
    assert abs(excess) < 4 * math.sqrt(variance)


@check(NAME + "fig4.4", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("T", [4, 6])
def test_two_parities_agree_on_half_of_the_strings(T: int) -> None:
    """So each of the others survives m samples with probability 2^-m; and linear equations find the right one."""
    strings = np.array(list(product((0, 1), repeat=T)))
    signs = np.array([(-1) ** strings[:, np.flatnonzero(strings[c])].sum(axis=1) for c in range(2**T)])
    assert (signs @ signs.T == 2**T * np.eye(2**T)).all()
    for c in range(2**T):
        assert parity_of(strings, (signs[c] < 0).astype(int)) == np.flatnonzero(strings[c]).tolist()
    assert spanning_probability(T, T + 10) > 1 - fmpq(1, 2**10)


# ---- the network itself


@check(NAME + "fig4.2", NAME + "fig4.3-left", NAME + "fig4.3-right", NAME + "fig4.4",
       grade="numeric", target="printed", supporting=True)  # fmt: skip
@pytest.mark.parametrize("heads", [1, 16])
def test_the_gradient_is_that_of_automatic_differentiation(heads: int) -> None:
    """The layers of torch in float64 on all T + 1 tokens; float32 is right to about 1e-5 at these sizes."""
    T, d, rng = 9, 64, np.random.default_rng(heads)
    reader = initial_reader(T, rng, heads=heads, deviation=0.2)
    reader.theta[:] += np.asarray(0.1 * rng.standard_normal(len(reader.theta)), np.float32)
    bits, labels = rng.integers(0, 2, (20, T)), rng.integers(0, 2, 20)
    p = {name: torch.tensor(part.astype(np.float64), requires_grad=True) for name, part in parameters(reader).items()}
    functional = torch.nn.functional
    x = p["E"][torch.tensor(np.column_stack([bits, np.full(20, 2)]))] + p["P"]
    u = functional.layer_norm(x, (d,), p["scale1"], p["shift1"])
    q, k, v = ((u @ p[W] + b).reshape(20, T + 1, heads, -1).transpose(1, 2)
               for W, b in (("WQ", p["bQ"]), ("WK", 0), ("WV", p["bV"])))  # fmt: skip
    mixed = functional.scaled_dot_product_attention(q, k, v)[:, :, -1].reshape(20, d)
    y = x[:, -1] + mixed @ p["WO"] + p["bO"]
    z = functional.layer_norm(y, (d,), p["scale2"], p["shift2"])
    w = y + functional.gelu(z @ p["W1"] + p["b1"], approximate="tanh") @ p["W2"] + p["b2"]
    logits = functional.layer_norm(w, (d,), p["scale_out"], p["shift_out"]) @ p["W_out"]
    expected = functional.cross_entropy(logits, torch.tensor(labels))
    expected.backward()
    loss, _, gradient = loss_and_gradient(reader, string_codes(bits), labels)
    assert loss == pytest.approx(expected.item(), abs=1e-5)
    for name, part in parameters(AttentionReader(T, d, heads, gradient)).items():
        grad = p[name].grad
        assert grad is not None
        assert grad.abs().max() > 1e-4, name
        np.testing.assert_allclose(part, grad.numpy(), atol=1e-5 * max(1.0, float(grad.abs().max())), err_msg=name)


# ---- criteria that can be missed


def _change(experiment: Experiment, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Summary:
    summary = copy.deepcopy(committed_results(experiment))
    for item in summary["items"].values():
        change(item["settings"], item["result"])
    return recomputed(summary)


def _threshold(middle: Callable[[int], float]) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    """Trials that succeed as if the threshold were another function of T."""

    def change(settings: dict[str, Any], result: dict[str, Any]) -> None:
        share = 1 / (1 + math.exp(-(settings["samples"] - middle(settings["length"])) / 5))
        count = len(result["best"])
        result["best"] = [1.0 if (i + 0.5) / count < share else 0.7 for i in range(count)]

    return change


def _set(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(_: dict[str, Any], result: dict[str, Any]) -> None:
        result[name] = [value for _ in result[name]]

    return change


def _wins(of_five: dict[int, int]) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    """Of every five replicates as many above 99 % as this, by the size of the sample."""

    def change(settings: dict[str, Any], result: dict[str, Any]) -> None:
        result["curves"] = [[1.0 if i < of_five[settings["samples"]] else 0.7] for i in range(len(result["curves"]))]

    return change


def _slow(_: dict[str, Any], result: dict[str, Any]) -> None:
    """Falls that take as long as the plateau."""
    result["lands"] = [None if step is None else 2 * step for step in result["leaves"]]


FAULTS: dict[str, tuple[Experiment, Callable[[dict[str, Any], dict[str, Any]], None], str]] = {
    "a threshold linear in T": (SAMPLE_SIZES, _threshold(lambda T: 40 + T / 12), "a threshold linear in log T"),
    "the same threshold for all T": (SAMPLE_SIZES, _threshold(lambda _: 55), "the sample for 80 % success grows"),
    "twice as many samples": (SAMPLE_SIZES, _threshold(lambda T: 16 * math.log(T)), "the fitted sample for 80 %"),
    "samples are not fitted": (SAMPLE_SIZES, _set("train_errors", 1), "every trial that fails"),
    "both samples do as well": (THIRD, _set("curves", [0.7, 1.0]), "with the small sample"),
    "many samples do as badly": (REPLICATES, _set("curves", [0.7, 0.8]), "with the large sample"),
    "all overfit alike": (REPLICATES, _set("curves", [0.7, 0.8]), "the best accuracies"),
    "curves end with training errors": (REPLICATES, _set("train_errors", 1), "every best run ends"),
    "heads look everywhere": (ATTENTION, _set("weights", [1 / 51] * 51), "for 9 of 10 the other bits"),
    "heads look elsewhere": (ATTENTION, _set("weights", [0.3, 0.3, 0.4] + [0.0] * 48), "for 9 of 10 the three bits"),
    "one string in a hundred is wrong": (ATTENTION, _set("errors", 100), "9 of 10 networks are right"),
    "the later runs have no plateau": (LASTING, _set("plateau", 0.1), "at the iterations 51 to 100"),
    "the third runs have no plateau": (LEARNED, _set("plateau", 0.1), "at the iterations 51 to 100"),
    "the third runs err at a string": (LEARNED, _set("errors", 1), "for each T runs end without an error"),
    "their falls end at a string": (LEARNED, _set("errors", 1), "every run whose loss falls"),
    "their falls are slow": (LEARNED, _slow, "every loss below 0.6"),
    "there is no plateau": (PARITIES, _set("plateau", 0.1), "at the iterations 51 to 100"),
    "the fall is slow": (PARITIES, _slow, "for each T in 9 of 10 runs"),
}  # fmt: skip


@check(NAME + "fig4.2", NAME + "fig4.3-left", NAME + "fig4.3-right", NAME + "fig4.4",
       grade="exact", target="printed", supporting=True)  # fmt: skip
@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_outcomes_miss_the_criterion(fault: str) -> None:
    experiment, change, beginning = FAULTS[fault]
    assert_met(committed_results(experiment), beginning)
    with pytest.raises(AssertionError, match="not met"):
        assert_met(_change(experiment, change), beginning)
