"""The trained head that comes with the library: where it comes from, and files that hold none."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lemmata.certificates.induction.trained import SOURCE, read_trained, write_trained
from tests.certificates.induction.test_losses import random_model


def test_the_training_begins_as_it_is_said_to():
    """Fifty of the 4,000 steps, with the arguments of the file."""
    from lemmata import train_induction_head

    provenance = read_trained().provenance
    arguments = dict(provenance["arguments"]) | {"steps": 50}
    assert provenance["arguments"]["steps"] == provenance["measured"]["steps"][-1] == 4000
    run = train_induction_head(**arguments)
    assert run.loss[0] == pytest.approx(provenance["measured"]["loss"][0], rel=1e-5)
    assert run.loss[1] == pytest.approx(provenance["step_50"]["loss"], rel=1e-5)
    assert run.previous[1] == pytest.approx(provenance["step_50"]["previous"], rel=1e-5)
    assert abs(run.loss[1] / run.loss[0] - 1) > 0.1


def test_the_weights_have_the_loss_that_was_measured_at_the_end():
    """The test sequences of the training, drawn again."""
    from lemmata.theorems.induction_heads.experiments.measures import TestSet

    trained = read_trained()
    arguments, measured = trained.provenance["arguments"], trained.provenance["measured"]
    test = TestSet.sample("flat", 2, 2, arguments["context"], arguments["test_sequences"], arguments["seed"])
    found = test.measure(replace(trained.model, alphabet=(0, 1)).to_torch())
    assert found["loss"] == pytest.approx(measured["loss"][-1], rel=1e-4)


def test_a_model_is_read_back_as_it_was_written(tmp_path):
    trained = read_trained()
    again = read_trained(write_trained(trained.model, {"made_by": "a test"}, tmp_path / "head.json"))
    for one, two in zip(trained.model.arrays(), again.model.arrays(), strict=True):
        assert np.array_equal(one, two)
    assert again.provenance["made_by"] == "a test"
    with pytest.raises(ValueError, match="no float32 number"):
        write_trained(replace(trained.model, readout=trained.model.readout * 1.1), {}, tmp_path / "other.json")
    with pytest.raises(ValueError, match="no biases"):
        write_trained(random_model(1), {}, tmp_path / "other.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="another"), "its format must be"),
        (lambda d: d["weights"].pop("readout"), "'readout' is missing"),
        (lambda d: d["weights"]["embedding"].append("1 2"), "rows of one length"),
        (lambda d: d["weights"]["embedding"].__setitem__(0, "nan " * 8), "finite numbers"),
        (lambda d: d["weights"]["heads"][0].pop("query"), "'query' is missing"),
    ],
)
def test_files_that_hold_no_head_are_refused(tmp_path, change, message):
    document = json.loads(SOURCE.read_text())
    change(document)
    path = tmp_path / "head.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        read_trained(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="no JSON file"):
        read_trained(path)
