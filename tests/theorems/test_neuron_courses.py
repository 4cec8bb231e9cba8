"""What is kept of a run of `lemmata.theorems.hidden_progress.experiments.neurons`: thresholds, values beside each."""

from types import SimpleNamespace

import numpy as np
import pytest

from lemmata.theorems.hidden_progress.experiments import neurons
from lemmata.theorems.hidden_progress.experiments.neurons import _course, progress_courses


def _of(accuracy: list[float]) -> dict[str, object]:
    """The course of a run with one step for each value."""
    values = np.array(accuracy)
    steps = list(range(len(values)))
    return _course(steps, values, values > 2, values, values, 1, signal=True)


def test_each_threshold_is_met_at_its_value_and_not_below() -> None:
    course = _of([0.5, 0.549, 0.55, 0.599, 0.6, 0.949, 0.95, 0.999, 1.0, 0.5])
    assert course["flat until"] == 1  # the last one below 0.55 before convergence
    assert course["60 %"] == 4
    assert course["95 %"] == 6
    assert course["converged"] == 8
    assert course["ahead"] is None


def test_a_run_without_convergence_is_flat_to_its_last_low_value() -> None:
    course = _of([0.5, 0.7, 0.54, 0.56])
    assert course["flat until"] == 2
    assert course["95 %"] is None
    assert course["converged"] is None


def test_every_run_of_several_has_a_course_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three steps of three runs, in which each value tells its run and its step."""
    told = {
        "steps": [0, 1, 2],
        "accuracy": [[0.5, 0.5, 0.5], [0.7, 0.5, 0.5], [1.0, 1.0, 0.5]],
        "least_relevant": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]],
        "largest_irrelevant": [[0.2, 0.3, 0.4], [0.3, 0.6, 0.7], [0.1, 0.1, 1.0]],
        "movement": [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
    }
    monkeypatch.setattr(neurons, "train_neurons", lambda *_, **__: SimpleNamespace(**told))
    settings = {"model": "neuron", "n": 5, "k": 2, "runs": 3, "seed": 1, "batch": 4, "rate": 0.1, "steps": 2,
                "check_every": 1, "grid": 1, "noise": 0.0}  # fmt: skip
    courses = progress_courses(settings)["runs"]
    assert [one["ahead"] for one in courses] == [1, 2, None]
    assert [one["95 %"] for one in courses] == [2, 2, None]
    assert [one["movement"] for one in courses] == [[0.0, 1.0, 4.0], [0.0, 2.0, 5.0], [0.0, 3.0, 6.0]]
    assert [one["relevant"] for one in courses] == [[0.1, 0.4, 0.7], [0.2, 0.5, 0.8], [0.3, 0.6, 0.9]]
    unsignalled = progress_courses(settings | {"noise": 0.5})["runs"]
    assert unsignalled == [{"movement": one["movement"]} for one in courses]
