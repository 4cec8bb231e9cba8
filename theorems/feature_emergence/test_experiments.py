"""The experiments of section D.2: committed results of runs, their criteria, and slices that are repeated.

The runs are those of `lemmata experiment run`; the criteria were written down before them. The numbers of the results
follow from their items, and the beginning of an item comes out again with the code of today.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from lemmata.numerics.groups.tables import cyclic
from lemmata.numerics.margins.group_descent import Activation, GroupWeights, Penalty, train_on_group
from lemmata.theorems.evidence import check
from lemmata.theorems.experiments import assert_begins, assert_follows, assert_met, committed_results, slice_again
from lemmata.theorems.feature_emergence.experiments.modular import MODULAR_31
from lemmata.theorems.feature_emergence.experiments.symmetric import SYMMETRIC_3_4, SYMMETRIC_5
from lemmata.theorems.feature_emergence.experiments.training import trained_group


@check("feature-emergence:experiment-D.2.1", grade="sampled", target="corrected", cases="p = 31, seeds 0, 1, 2")
def test_modular_addition_31(record_property: Callable[[str, object], None]) -> None:
    """Figures 7.1, 7.4 and D.1. Quadratic networks: margin gamma*, one frequency in every neuron, equal masses. ReLUs:
    power near 0.93 at one frequency. The power of a frequency is that of j and -j together.
    """
    summary = committed_results(MODULAR_31)
    assert_follows(summary)
    assert_begins(summary, *slice_again(summary))
    quadratic = summary["items"]["quadratic-p31-seed0"]
    assert_begins(summary, trained_group({**quadratic["settings"], "steps": 10}), quadratic["result"])
    record_property("numbers", summary["numbers"])
    assert_met(
        summary,
        "all pairs are answered rightly",
        "quadratic: the margin ends between 0.999 and 1.00001",
        "the median of the largest power is below 0.5 at the start",
        "quadratic: u, v and w of every neuron",
        "ReLU: the largest power of u ends with a median from 0.85 to 0.97",
        "ReLU: nine of ten neurons",
        "every frequency has neurons",
        "the distribution over the frequencies ends within 0.2",
        "quadratic: the mass of every frequency",
    )


@check("feature-emergence:experiment-D.2.1", grade="exact", target="corrected", cases="p = 31: the committed results")
@pytest.mark.parametrize(
    ("kind", "place", "value", "criterion"),
    [
        ("relu", ("right",), 0.999, "all pairs"),
        ("quadratic", ("margin",), 0.998, "the margin ends"),
        ("quadratic", ("margin",), 1.001, "the margin ends"),
        ("quadratic", ("least",), 0.98, "u, v and w"),
        ("relu", ("power", 2), 0.84, "a median from 0.85 to 0.97"),
        ("relu", ("power", 2), 0.98, "a median from 0.85 to 0.97"),
        ("relu", ("power", 1), 0.79, "nine of ten"),
        ("relu", ("neurons", 1), 0, "every frequency"),
        ("quadratic", ("neurons", 1), 10_000, "total variation"),
        ("quadratic", ("shares", 1), 0.09, "an equal share"),
    ],
)
def test_a_result_that_misses_a_criterion_is_noticed(
    kind: str, place: tuple[str | int, ...], value: float, criterion: str
) -> None:
    """Negative controls: one number at the end of one run is moved beyond one bound, and that criterion is not met."""
    items = committed_results(MODULAR_31)["items"]
    results = {key: copy.deepcopy(item["result"]) for key, item in items.items()}
    *path, last = ("records", -1, *place)
    target: Any = results[f"{kind}-p31-seed1"]
    for step in path:
        target = target[step]
    target[last] = value
    findings = MODULAR_31.summarise({key: item["settings"] for key, item in items.items()}, results)
    missed = [one.text for one in findings.criteria if not one.met]
    assert [criterion in text for text in missed].count(True) == 1
    assert len(missed) == 1 or place == ("neurons", 1)  # a frequency without neurons is far from uniform, too


@check("feature-emergence:experiment-D.2.1", grade="numeric", target="corrected", cases="Z_4, 3 neurons (seed 5)")
@pytest.mark.parametrize(("activation", "kind"), [("square", "cubic"), ("relu", "square")])
def test_a_step_of_training_descends_the_printed_objective(activation: Activation, kind: Penalty) -> None:
    """Mean cross-entropy + lambda sum ||omega||^3 (or ^2), written out pair by pair, lambda = 1/10, differentiated by
    central differences of 1e-5: their error is below 1e-9 for numbers and derivatives below 10.
    """
    n, m, size, h = 4, 3, 0.1, 1e-5
    random = np.random.default_rng(5)
    start = random.normal(size=(3, n, m))

    def objective(omega: np.ndarray) -> float:
        u, v, w = omega
        loss = 0.0
        for a, b in product(range(n), repeat=2):
            pre = u[a] + v[b]
            logits = w @ (pre**2 if activation == "square" else np.maximum(pre, 0))
            loss += np.log(np.exp(logits - logits[(a + b) % n]).sum())
        norms = np.sqrt((omega**2).sum(axis=(0, 1)))
        return float(loss / n**2 + size * (norms ** (3 if kind == "cubic" else 2)).sum())

    slope = np.empty_like(start)
    for place in np.ndindex(start.shape):
        step = np.zeros_like(start)
        step[place] = h
        slope[place] = (objective(start + step) - objective(start - step)) / (2 * h)
    table = np.asarray(cyclic(n).table)
    end, _ = train_on_group(
        GroupWeights(*start), table, activation, penalty=(kind, size), rate=lambda step: 0.5 + step, steps=1
    )
    np.testing.assert_allclose(np.array(end.parts), start - 0.5 * slope, rtol=0, atol=1e-8)


@check("feature-emergence:experiment-D.2.3", grade="sampled", target="printed", supporting=True)
def test_symmetric_groups_3_and_4(record_property: Callable[[str, object], None]) -> None:
    """The printed schedule: margins near those of the exact minima, 0.980 and 0.946 gamma*, so below 0.99 gamma*; one
    representation in every neuron; more neurons for larger degrees. The spread of powers at the start was judged by a
    median below 0.8, which a run on S_3 with three representations missed by 0.01: not met.
    """
    summary = committed_results(SYMMETRIC_3_4)
    assert_follows(summary)
    record_property("numbers", summary["numbers"])
    assert_met(
        summary,
        "all pairs are answered rightly",
        "the margin ends between 0.95 and 1.01 of that at the exact minimum",
        "representations of larger degree have more neurons, among all",
        "u, v and w of every neuron with mass end with power 0.95",
        "no neuron with mass is in the trivial representation",
    )
    failed = [criterion["text"] for criterion in summary["criteria"] if not criterion["met"]]
    assert failed == [
        "the margin ends at 0.99 gamma* or more",
        "the median of the largest power is below 0.8 at the start",
    ]


@check("feature-emergence:experiment-D.2.3", grade="sampled", target="printed", supporting=True)
def test_symmetric_group_5(record_property: Callable[[str, object], None]) -> None:
    """Width 600, 45000 steps: one representation in every neuron, more neurons for larger degrees; the 160 neurons of
    degree 6 have 1.5 % of the mass. The margin is at 0.70 gamma* and rises, far from the 0.932 of the exact minimum.
    """
    summary = committed_results(SYMMETRIC_5)
    assert_follows(summary)
    record_property("numbers", summary["numbers"])
    assert_met(
        summary,
        "all pairs are answered rightly",
        "representations of larger degree have more neurons, among all",
        "the median of the largest power is below 0.8 at the start",
        "u, v and w of every neuron with mass end with power 0.95",
    )
    failed = [criterion["text"] for criterion in summary["criteria"] if not criterion["met"]]
    assert [text[:15] for text in failed] == ["the margin ends", "the margin ends"]
    margins = summary["numbers"]["S5-seed0"]["margin / gamma*"]
    assert margins[-2] < margins[-1] < 0.75
