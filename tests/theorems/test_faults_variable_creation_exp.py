"""Faults planted in the training of attention networks and in the learners beside it: the deciding checks see them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.learning import attention_training, sparse_learners
from lemmata.numerics.runs import thresholds
from lemmata.theorems.evidence import MARK
from lemmata.theorems.experiments import assert_begins, committed_results
from lemmata.theorems.plugin import Effort
from lemmata.theorems.variable_creation import test_experiments
from lemmata.theorems.variable_creation.experiments import curves, sample_sizes, training
from tests.theorems.planted_faults import Fault, fault_name, passes_without_fault

ARGUMENTS = {"effort": Effort("quick"), "record_property": lambda *_: None}

GELU: Any = attention_training.gelu
ADAM: Any = attention_training.adam_step
SEEN: Any = attention_training._seen
MIX: Any = attention_training.mix
GRADIENT: Any = attention_training.loss_and_gradient
WEIGHTS: Any = curves.attention_weights
ELIMINATION: Any = sample_sizes.elimination_probability
AGREEMENT: Any = sparse_learners.agreement_probability
BOUND: Any = sample_sizes.ambiguity_bound
FIT: Any = sample_sizes.threshold_fit
VUONG: Any = sample_sizes.vuong_test
PREDICTIONS: Any = attention_training.predictions
INITIAL: Any = attention_training.initial_reader
FISHER: Any = curves.stats.fisher_exact


def steep(a: Any, value: Any, slope: Any) -> None:
    """A GeLU whose slope is 2 % too large."""
    GELU(a, value, slope)
    slope *= np.float32(1.02)


def slow_adam(*arguments: Any) -> None:
    """Adam with 0.9 as the second decay as well."""
    ADAM(*arguments[:-1], np.float32(0.9))


def unscaled(reader: Any, query: Any, keys: Any) -> Any:
    """Scores that are not divided by the root of the dimension of a head."""
    return SEEN(reader, query, keys) * np.float32(math.sqrt(reader.width // reader.heads))


def slightly_scaled(reader: Any, query: Any, keys: Any) -> Any:
    """Scores that are 2 % too large."""
    return SEEN(reader, query, keys) * np.float32(1.02)


def without_class(U: Any, codes: Any, T: int, N: Any) -> None:
    """Sums over the positions alone."""
    MIX(U, codes, T, N)
    N -= U[2 * T]


def shifted_weights(reader: Any, bits: Any) -> Any:
    """Weights of the next position."""
    return np.roll(WEIGHTS(reader, bits), 1, axis=2)


def uphill(reader: Any, codes: Any, labels: Any) -> Any:
    """The gradient with the other sign."""
    loss, wrong, gradient = GRADIENT(reader, codes, labels)
    return loss, wrong, -gradient


def one_bit_less(length: int, sparsity: int, samples: int, p: Any) -> Any:
    """Elimination among T bits that are wrong, in place of T - s."""
    return ELIMINATION(length + sparsity, sparsity, samples, p)


def wrong_agreement(sparsity: int, shared: int, p: Any) -> Any:
    """The factor 2 as 2.04."""
    return 1 - (1 - AGREEMENT(sparsity, shared, p)) * fmpq(51, 50)


def large_union(*arguments: Any) -> Any:
    """2 % more rivals."""
    return BOUND(*arguments) * fmpq(51, 50)


def high_fit(cells: Any) -> Any:
    """Thresholds that are 2 % too large."""
    fit = FIT(cells)
    return thresholds.ThresholdFit(fit.slope / 1.02, fit.start, fit.rise)


def turned_vuong(first: Any, second: Any) -> Any:
    """The test with its two models exchanged."""
    return VUONG(second, first)


def exchanged(reader: Any, codes: Any) -> Any:
    """The logits of the two labels exchanged."""
    return PREDICTIONS(reader, codes)[:, ::-1]


def wide_start(*arguments: Any, **options: Any) -> Any:
    """Weights that start 2 % too large."""
    return INITIAL(*arguments, **options, deviation=0.0204)


def two_sided(table: Any, **_: Any) -> Any:
    """Fisher's test on both sides."""
    return FISHER(table)


SIZES = ("experiment-fig4.2", "test_the_sample_that_is_needed_grows_with_the_logarithm")
RIGHT = ("experiment-fig4.3-right", "test_a_trained_head_looks_at_the_relevant_bits")

LEFT = ("experiment-fig4.3-left", "test_fewer_replicates_understand_the_small_sample")


BEGINNING = {"starts": 1, "iterations": 100}
"""What is repeated of the slice of figure 4.3, left: the curve that is committed is that of its first start."""


def curves_begin(summary: Any) -> tuple[Any, Any]:
    """What `slice_again` gives for figure 4.3, left, for the beginning of its slice alone."""
    key, changes = curves.THIRD.slice
    item = summary["items"][key]
    again = curves.best_curves({**item["settings"], **changes, **BEGINNING})
    return {"curves": again["curves"]}, item["result"]


def _fault(name: str, about: tuple[str, str], owner: Any, attribute: str, faulty: Any) -> Fault:
    return Fault(name, about[0], test_experiments, about[1], owner, attribute, faulty, ARGUMENTS)


TRAINING: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a slope of GeLU 2 % too large": (attention_training, "gelu", steep),
    "scores 2 % too large": (attention_training, "_seen", slightly_scaled),
    "steps uphill": (attention_training, "loss_and_gradient", uphill),
    "another second moment": (attention_training, "adam_step", slow_adam),
}
FAULTS = [
    *(_fault(name, about, *parts) for about in (RIGHT, LEFT) for name, parts in TRAINING.items()),
    _fault("bits that are fair coins", LEFT, training, "PROBABILITY", 0.5),
    _fault("logits exchanged", LEFT, training, "predictions", exchanged),
    _fault("weights that start 2 % too large", LEFT, training, "initial_reader", wide_start),
    _fault("a test on both sides", LEFT, curves.stats, "fisher_exact", two_sided),
    _fault("scores 2 % too large", SIZES, attention_training, "_seen", slightly_scaled),
    _fault("bits that are fair coins", SIZES, training, "PROBABILITY", 0.5),
    _fault("the wrong exponent of elimination", SIZES, sample_sizes, "elimination_probability", one_bit_less),
    _fault("agreement with 2 % too large a factor", SIZES, sparse_learners, "agreement_probability", wrong_agreement),
    _fault("ambiguous samples", SIZES, training, "consistent_conjunctions", lambda *_: [()]),
    _fault("the union bound 2 % too large", SIZES, sample_sizes, "ambiguity_bound", large_union),
    _fault("thresholds 2 % too large", SIZES, sample_sizes, "threshold_fit", high_fit),
    _fault("Vuong's test turned around", SIZES, sample_sizes, "vuong_test", turned_vuong),
    _fault("one bootstrap for all", SIZES, sample_sizes, "bootstrap_cells", lambda cells, draws, _: [cells] * draws),
    _fault("scores without the root", RIGHT, attention_training, "_seen", unscaled),
    _fault("weights of the next position", RIGHT, curves, "attention_weights", shifted_weights),
    _fault("no token of the class", RIGHT, attention_training, "mix", without_class),
]  # fmt: skip


@pytest.mark.parametrize("about", [SIZES, LEFT, RIGHT], ids=lambda about: about[0])
def test_the_check_decides_and_passes_without_a_fault(about: tuple[str, str]) -> None:
    check = getattr(test_experiments, about[1])
    marks = [mark.args[0] for mark in check.pytestmark if mark.name == MARK]
    assert f"variable-creation:{about[0]}" in {one.statement for one in marks if not one.supporting}
    passes_without_fault(check, ARGUMENTS)


def test_the_shorter_slice_comes_out_again() -> None:
    """Its curve has five points and has left the plateau."""
    summary = committed_results(curves.THIRD)
    again, kept = curves_begin(summary)
    assert_begins(summary, again, kept)
    assert [len(curve) for curve in again["curves"]] == [5]
    assert again["curves"][0][0] < 0.5 < 0.8 < again["curves"][0][-1]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_deciding_check_turns_red(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the check repeats the slice of figure 4.3, left, with many starts, its beginning is enough."""
    if fault.check == LEFT[1]:
        monkeypatch.setattr(test_experiments, "slice_again", curves_begin)
    monkeypatch.setattr(fault.owner, fault.attribute, fault.faulty)
    with np.errstate(all="ignore"), pytest.raises(AssertionError):
        getattr(fault.module, fault.check)(**ARGUMENTS)
