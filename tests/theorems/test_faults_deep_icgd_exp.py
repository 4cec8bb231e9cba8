"""Faults planted in the small transformers and in how their runs are judged: checks of the committed runs see them."""

from __future__ import annotations

from typing import Any

import pytest

from lemmata.constructions.networks.torch_attention import HeadModule
from lemmata.theorems.deep_icgd import test_longer_runs
from lemmata.theorems.deep_icgd.experiments import longer, tasks
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

CHECKS = {
    "figure-1": "test_relu_transformers_match_training_on_the_prompt",
    "figure-3": "test_deeper_transformers_are_better",
}


def fault(name: str, statement: str, owner: Any, attribute: str, old: str, new: str) -> Fault:
    """A piece of the source of a function replaced."""
    faulty = rewritten(getattr(owner, attribute), old, new)
    return planted(name, statement, owner, attribute, faulty)


def planted(name: str, statement: str, owner: Any, attribute: str, faulty: Any) -> Fault:
    """An attribute replaced."""

    def arguments() -> dict[str, Any]:
        return {"record_property": lambda *_: None}

    return Fault(name, statement, test_longer_runs, CHECKS[statement], owner, attribute, faulty, arguments)


SEEN = "n if visible is None else visible.sum(dim=-1, keepdim=True)"
FAULTS = [
    fault("scores divided by all tokens", "figure-1", HeadModule, "weights", SEEN, "n"),
    fault(
        "scores 2 % too large", "figure-3", HeadModule, "weights", "torch.softmax(scores", "torch.softmax(1.02 * scores"
    ),
    planted("weights of tasks 2 % too large", "figure-3", tasks, "GAIN", 1.02 * tasks.GAIN),
    fault("inputs around 2 only", "figure-1", tasks, "sample_tasks", "2.0, -2.0", "2.0, 2.0"),
    fault("half of the gap", "figure-1", longer, "length_criteria", "gap[:-1].max()", "2 * gap[:-1].max()"),
    fault("sublayers counted as blocks", "figure-1", longer, "needed", "2 * blocks //", "12 * blocks //"),
]


@pytest.mark.parametrize("one", FAULTS, ids=fault_name)
def test_a_fault_is_seen(one: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(one, "deep-icgd", monkeypatch)
