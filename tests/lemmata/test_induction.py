"""`lm.train_induction_head`."""

import numpy as np

import lemmata as lm


def test_a_short_run_is_measured_and_repeats_itself():
    runs = [lm.train_induction_head(2, 12, steps=20, every=5, keep=(0, 7), test_sequences=50, seed=3) for _ in "ab"]
    for run in runs:
        assert run.steps.tolist() == [0, 5, 10, 15, 20]
        assert set(run.distances) == set(run.lines) == {"uniform", "unigram", "bigram"}
        assert run.loss.shape == run.previous.shape == run.distances["bigram"].shape == (5,)
        assert run.phases[0] == "uniform"
        assert set(run.models) == {0, 7}
    assert (runs[0].loss == runs[1].loss).all()
    first, later = (runs[0].models[step]([1, 2, 2, 1]) for step in (0, 7))
    assert np.abs(first - later).max() > 1e-4
    assert runs[0].loss[-1] < runs[0].loss[0]
