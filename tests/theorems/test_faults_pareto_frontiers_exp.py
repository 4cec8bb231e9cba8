"""Faults planted in the compiled training: the deciding checks of the experiments on success frontiers see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lemmata.numerics.parity import compiled_training
from lemmata.theorems.evidence import MARK
from lemmata.theorems.pareto_frontiers import test_experiments
from lemmata.theorems.pareto_frontiers.experiments import lottery
from lemmata.theorems.plugin import Effort

DESCEND, DRAW, START = compiled_training._descend, compiled_training._draw, lottery.initial_network


def uphill(*arguments: Any) -> None:
    """Steps against the gradient."""
    DESCEND(*arguments[:-2], -arguments[-2], arguments[-1])


def without_decay(*arguments: Any) -> None:
    """Steps without weight decay."""
    DESCEND(*arguments[:-1], np.float32(1))


def coin_labels(rng: np.random.Generator, n: int, k: int, count: int) -> tuple[Any, Any]:
    """Samples whose labels are coins."""
    codes, labels = DRAW(rng, n, k, count)
    return codes, rng.permutation(labels)


def dense_rows(*arguments: Any) -> Any:
    """A start whose neurons are all the same: none of them is luckier than another."""
    network = START(*arguments)
    network.hidden[:], network.bias[:], network.readout[:] = network.hidden[0], network.bias[0], network.readout[0]
    return network


FRONTIER = ("figure-6.1", "test_width_makes_up_for_samples_and_late_generalisation_is_seen")
TICKETS = ("experiment-lottery", "test_rewound_neurons_learn_alone_more_often_than_others")

FAULTS: dict[str, tuple[tuple[str, str], Any, str, Callable[..., Any]]] = {
    "frontier: steps uphill": (FRONTIER, compiled_training, "_descend", uphill),
    "frontier: no weight decay": (FRONTIER, compiled_training, "_descend", without_decay),
    "frontier: labels are coins": (FRONTIER, compiled_training, "_draw", coin_labels),
    "tickets: steps uphill": (TICKETS, compiled_training, "_descend", uphill),
    "tickets: all neurons start alike": (TICKETS, lottery, "initial_network", dense_rows),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_deciding_check_turns_red(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (statement, name), owner, attribute, faulty = FAULTS[fault]
    test = getattr(test_experiments, name)
    evidence = [mark.args[0] for mark in test.pytestmark if mark.name == MARK]
    assert any(e.statement == f"pareto-frontiers:{statement}" and not e.supporting for e in evidence)
    monkeypatch.setattr(owner, attribute, faulty)
    with np.errstate(over="ignore"), pytest.raises(AssertionError, match="not met"):
        test(Effort("quick"), lambda *_: None)


@pytest.mark.parametrize("case", [FRONTIER, TICKETS], ids=lambda case: case[0])
def test_the_same_call_passes_without_a_fault(case: tuple[str, str]) -> None:
    getattr(test_experiments, case[1])(Effort("quick"), lambda *_: None)
