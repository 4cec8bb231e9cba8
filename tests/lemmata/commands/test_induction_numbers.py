"""`lemmata induction` prints the numbers that were measured and proved, and JSON the same ones."""

import json

import torch

import lemmata as lm
from lemmata.certificates.induction.losses import refine_losses
from tests.lemmata.commands.runner import run


def test_the_report_and_json_have_the_measured_and_the_proved_numbers(tmp_path):
    model, file = lm.markov.trained_head(1).model, tmp_path / "two-heads.pt"
    torch.save(model.to_torch().state_dict(), file)
    options = ("induction", str(file), "--length", "13", "--samples", "60", "--seed", "5")
    said, text = json.loads(run(*options, "--json")[1]), run(*options)[1]
    measured, proved = lm.markov.measure_model(model, 13, samples=60, seed=5), refine_losses(model, 13).proved
    assert [said["certified"]["at_least"], said["certified"]["at_most"]] == list(proved.loss)
    assert said["loss"] == measured.loss.as_dict()
    loss = measured.loss
    assert f"{loss.estimate:.4f} [{loss.low:.4f}, {loss.high:.4f}] nats" in text
    assert [said["alike"]["previous"], said["alike"]["induction"]] == list(measured.chance)
    alike = text.partition("alike")[2]  # a row of a table, or in a narrow terminal a sentence
    assert all(f"{one:.4f}" in alike for one in measured.chance)
