"""What is kept of a run of `lemmata.theorems.hidden_progress.experiments.neurons`: thresholds, values beside each."""

import numpy as np

from lemmata.theorems.hidden_progress.experiments.neurons import _course


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
