"""Trainers that ignore their batch, or that are tested on what they were trained on, are red in every experiment.

A slice of the experiment sees the fault, or a test of its trainer does (`TESTS`). At quick effort each fault of a
trainer is planted once, at full effort in every experiment.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import lemmata.theorems.experiments
import tests.numerics.parity.test_architecture_training as on_architecture
import tests.numerics.parity.test_compiled_training as on_compiled
import tests.numerics.parity.test_quadratic_training as on_quadratic
import tests.numerics.parity.test_sinusoidal_neuron as on_neurons
from lemmata.numerics.runs.comparison import first_difference
from lemmata.theorems.deep_icgd.experiments import regression, tasks
from lemmata.theorems.experiments import committed, find_experiment, load_experiments, slice_again
from lemmata.theorems.plugin import Effort
from lemmata.theorems.variable_creation.experiments import curves, parities, sample_sizes, training
from tests.theorems.planted_trainers import FIRST_BATCH, OWN_TEST, trainers_of

FAULTS = {"first batch": FIRST_BATCH, "own test": OWN_TEST}
NOT_TRAINED = {"comparator-slopes": "It averages over networks at their start."}
WHOLE = {
    "modular-addition-31": "Its steps take all pairs.",
    "symmetric-groups-3-4": "Its steps take all pairs.",
}
"""Experiments without batches."""


def test_test_tasks_are_no_training_tasks() -> None:
    """No input of the test tasks is one of the first three batches of any of the seeds of a transformer."""
    item = {**regression.TRANSFORMER, "kind": "transformer", "attention": "relu", "layers": 3, "blocks": 1, "until": 3}
    seen: list[np.ndarray] = []

    def kept(sample: Callable, *given: object) -> tuple[np.ndarray, np.ndarray]:
        found = sample(*given)
        seen.append(found[0].reshape(-1, found[0].shape[-1]))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "sample_tasks", partial(kept, tasks.sample_tasks))
        models = [tasks.train_transformer({**item, "seed": seed}) for seed in range(3)]
        count = len(seen)
        patch.setattr(regression, "sample_tasks", partial(kept, regression.sample_tasks))
        regression.measured(models[0], {**item, "tests": 40})
    assert count == 9
    assert len(seen) == 13
    trained = {tuple(row) for part in seen[:count] for row in part}
    assert not any(tuple(row) in trained for part in seen[count:] for row in part)


def test_accuracies_of_readers_are_those_on_the_strings_held_out() -> None:
    """With all labels held out turned round, what was right is wrong."""
    rng = np.random.default_rng(1)
    settings = {"heads": 2, "iterations": 3, "check_every": 1}
    sample = training.unambiguous_sample(rng, 8, (1, 2, 5), 40)
    bits, labels = training.draw_conjunction(rng, 8, (1, 2, 5), 30)
    for module in (curves, sample_sizes):
        right, wrong = (
            module.train_reader(settings, sample, (bits, one), [7], stop=False).accuracy for one in (labels, 1 - labels)
        )
        assert np.add(right, wrong) == pytest.approx(1, abs=1e-12)


def test_parities_start_as_committed() -> None:
    """The first twenty batches of a run that takes too long for a slice at another seed."""
    summary = committed("attention-parities")
    assert summary is not None
    item = summary["items"]["T10-seed106"]
    found = parities.parity_courses({**item["settings"], "iterations": 20})
    assert first_difference(found["losses"], item["result"]["losses"], parities.PARITIES.rounding, begins=True) is None


def _steps_of_neurons() -> None:
    with pytest.MonkeyPatch.context() as patch:
        on_neurons.test_steps_are_those_of_autograd(2, 5, 0.0, patch)


TESTS: dict[tuple[str, str], Callable[[], None]] = {
    ("train_architecture", "first batch"): lambda: on_architecture.assert_steps_agree("vii", "hinge"),
    ("train_architecture", "own test"): lambda: on_architecture.test_the_accuracy_is_that_on_the_held_out_sample("vii"),
    ("train_compiled", "first batch"): lambda: on_compiled.test_steps_are_those_of_the_plain_form(
        10, 3, 5, 8, None, "uniform", 0.0
    ),
    ("train_compiled", "own test"): lambda: on_compiled.test_steps_are_those_of_the_plain_form(
        4, 2, 16, 32, 20, "uniform", 0.0
    ),
    ("train_quadratic", "first batch"): lambda: on_quadratic.test_steps_are_those_of_autograd(5, (2, 1), True),
    ("train_quadratic", "own test"): on_quadratic.test_the_accuracy_is_that_on_the_held_out_sample,
    ("train_neurons", "first batch"): _steps_of_neurons,
    ("train_reader", "own test"): test_accuracies_of_readers_are_those_on_the_strings_held_out,
    ("parity_courses", "first batch"): test_parities_start_as_committed,
    ("train_transformer", "own test"): test_test_tasks_are_no_training_tasks,
}
"""Tests of the trainers themselves, that see what slices do not, or see it in less time."""
SLICES = {
    "train_parity": "parity-progress",
    "single": "parity-sinusoid-gap",
    "train_neurons": "parity-gap-growth",
    "train_transformer": "in-context-regression-longer",
    "train_parity_transformer": "parity-transformer-curve",
    "train_on_group": "symmetric-group-5",
    "training_steps": "one-layer-transformers",
    "steps": "token-regression-samples",
    "elman_steps": "recurrent-sgd",
    "train_reader": "conjunction-attention",
}
"""An experiment of each other trainer, whose last slice sees its faults."""
PAIRS = [(fault, trainer) for fault, plants in FAULTS.items() for trainer in plants]


def seen_by_slices(name: str, fault: str) -> bool:
    """Whether a slice does not come out with the fault in all trainers of an experiment, the last one first."""
    chapter, experiment = find_experiment(name)
    summary = committed(name)
    assert summary is not None
    for one in experiment.slices[::-1]:
        with pytest.MonkeyPatch.context() as patch:
            for trainer in trainers_of(experiment):
                FAULTS[fault].get(trainer, lambda _: None)(patch)
            cut = replace(experiment, slice=one, others=())
            patch.setattr(lemmata.theorems.experiments, "load_experiments", lambda cut=cut: {name: (chapter, cut)})
            try:
                again, kept = slice_again(summary)
            except AssertionError:  # it has no number: it never converged
                return True
        if first_difference(again, kept, experiment.rounding, begins=True) is not None:
            return True
    return False


def seen_by_test(trainer: str, fault: str) -> bool:
    """Whether a test of a trainer is red with the fault."""
    if (trainer, fault) not in TESTS:
        return False
    TESTS[trainer, fault]()
    with pytest.MonkeyPatch.context() as patch:
        FAULTS[fault][trainer](patch)
        try:
            TESTS[trainer, fault]()
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize(("fault", "trainer"), PAIRS)
def test_a_fault_of_a_trainer_is_seen(fault: str, trainer: str) -> None:
    if (trainer, fault) in TESTS:
        assert seen_by_test(trainer, fault)
    else:
        assert seen_by_slices(SLICES[trainer], fault)


def test_every_experiment_has_a_trainer_whose_faults_are_planted() -> None:
    without = {name for name, (_, experiment) in load_experiments().items() if not trainers_of(experiment)}
    assert without == set(NOT_TRAINED)
    assert {trainer for _, trainer in PAIRS} == {trainer for trainer, _ in TESTS} | set(SLICES)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", sorted(load_experiments().keys() - NOT_TRAINED.keys()))
def test_a_fault_is_seen_in_every_experiment(name: str, fault: str, effort: Effort) -> None:
    """By a slice, or by the test of its trainer."""
    if effort.name == "quick":
        pytest.skip("Every trainer is tested above; every experiment at --effort full.")
    _, experiment = find_experiment(name)
    trainers = [one for one in trainers_of(experiment) if one in FAULTS[fault]]
    if not trainers or (fault == "first batch" and name in WHOLE):
        pytest.skip("It has no batches, or nothing is held out.")
    assert any(seen_by_test(trainer, fault) for trainer in trainers) or seen_by_slices(name, fault)
