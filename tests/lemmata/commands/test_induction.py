"""`lemmata induction`."""

import json

import numpy as np
import pytest
import torch

import lemmata as lm
from lemmata.commands.console import out
from lemmata.constructions.networks.transformer_lens import lens_weights
from tests.lemmata.commands.runner import run

MODEL = lm.markov.trained_head(1).model
THREE = lm.ngram_head(2, 3, *map(float, lm.scales_for(2, 3, 8, 1e-6))).transformer


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "two-heads.pt"
    torch.save(MODEL.to_torch().state_dict(), file)
    return file


@pytest.fixture(scope="module")
def counting(tmp_path_factory):
    """A head that counts bigrams with plus one, as a TransformerBridge has it: a row in front for each symbol."""
    scales = map(float, lm.scales_for(2, 2, 30, 1e-6, (1, 1)))
    file = tmp_path_factory.mktemp("models") / "counting.npz"
    np.savez(file, **lens_weights(lm.bayesian_ngram_head(2, 2, *scales).transformer, 30).parameters)
    return file


def report(file, *arguments):
    code, output, _ = run("induction", str(file), *arguments, "--json")
    assert code == 0
    return json.loads(output)


def test_a_trained_head_with_its_proof(trained, tmp_path):
    picture = tmp_path / "heads.svg"
    code, output, _ = run("induction", str(trained), "--length", "8", "--picture", str(picture))
    assert code == 0
    proved = lm.markov.enumerate_losses(MODEL, 8).proved.loss
    assert "two-heads.pt: 1 + 1 heads over 2 symbols, width 8" in output
    assert "all 256 sequences, with their probabilities" in output
    assert "loss 0.078603 nats" in output
    assert "proved: from 0.078602899092 to 0.078602899093, by 256 sequences" in output
    assert 0.078602899092 <= proved[0] <= proved[1] <= 0.078602899093
    assert "bigram 0.075960" in output
    assert "closest to: Bayes" in output
    assert f"picture in {picture}" in output
    assert picture.read_text().startswith("<?xml")


def test_the_first_symbol_has_the_law_that_is_asked_for(trained, tmp_path):
    uniform = report(trained, "--length", "6", "--start", "uniform")
    assert uniform["data"]["start"] == "uniform"
    assert uniform["certified"]["at_least"] - 1e-12 <= uniform["loss"]["estimate"]
    assert uniform["loss"]["estimate"] <= uniform["certified"]["at_most"] + 1e-12
    assert uniform["loss"] != report(trained, "--length", "6")["loss"]
    file = tmp_path / "three.pt"
    torch.save(THREE.to_torch().state_dict(), file)
    words = ("--length", "4", "--samples", "100")
    code, output, _ = run("induction", str(file), *words, "--start", "stationary")
    assert code == 0
    assert "chains of 3 states with uniform rows, stationary start" in output
    assert "above Bayes by an unknown amount: with a stationary start over 3 symbols it has no closed form" in output
    assert "no proven loss: With a stationary start losses are proved over two symbols, not 3." in output
    assert report(file, *words, "--start", "stationary")["excess"] is None
    assert "uniform start" in run("induction", str(file), *words)[1]
    code, _, error = run("induction", str(file), *words, "--start", "first")
    assert code == 2
    assert "The start is stationary or uniform, not 'first'." in error


def test_samples_have_a_size_a_seed_and_intervals(trained):
    first = report(trained, "--samples", "200", "--seed", "3")
    assert first["data"] == {
        "prior": "uniform rows",
        "start": "stationary",
        "length": 48,
        "sequences": 200,
        "all": False,
        "seed": 3,
    }
    assert first["loss"]["level"] == 0.95
    assert first["loss"]["low"] < first["loss"]["estimate"] < first["loss"]["high"]
    assert first["certified"]["method"] == "classes"
    assert first["certified"]["at_least"] < first["loss"]["high"]
    assert first["loss"]["low"] < first["certified"]["at_most"]
    assert {first["closest"], *first["as_close"]} == {"Bayes", "bigram"}
    assert first == report(trained, "--samples", "200", "--seed", "3")
    assert first["loss"] != report(trained, "--samples", "200", "--seed", "4")["loss"]
    output = run("induction", str(trained), "--samples", "200", "--seed", "3")[1]
    assert "200 sequences drawn with the seed 3; [intervals of level 95 %]" in output
    assert "previous token" in output


def test_a_constructed_head_counts_bigrams(counting):
    found = report(counting, "--heads", "1", "--bos", "2,3", "--outputs", "probabilities")
    assert (found["closest"], found["as_close"]) == ("bigram", [])
    assert found["predictors"]["bigram"]["distance"]["estimate"] < 1e-9
    assert found["data"]["length"] == 30
    assert found["rows_in_front"] == 2
    assert found["heads"][0]["previous"]["low"] > 0.999
    assert found["heads"][1]["induction"]["estimate"] > 0.85  # two rows of the prior have the rest
    assert found["excess"]["high"] < 0.002
    assert "logits" in found["certified"]["refused"]
    task = ("induction", str(counting), "--heads", "1", "--bos", "2,3", "--length")
    said = run(*task, "5")[1]
    assert "are they to be read so? (--outputs probabilities)" in said
    assert "by 32 sequences" in said
    assert "proved: above Bayes by" in run(*task, "11")[1]


def test_an_infinite_loss_is_said(tmp_path):
    state = {name: tensor.clone() for name, tensor in MODEL.to_torch().state_dict().items()}
    state["embedding"] = torch.nn.functional.pad(torch.eye(2, dtype=torch.float64), (0, 6))
    state["readout"] = state["embedding"].T.contiguous()
    for layer in (0, 1):
        state[f"layers.{layer}.heads.0.value.weight"] *= 0
    torch.save(state, tmp_path / "copy.pt")
    found = report(tmp_path / "copy.pt", "--length", "3", "--outputs", "probabilities")
    assert found["loss"]["estimate"] == found["excess"]["estimate"] == "infinite"
    picture = tmp_path / "copy.png"
    code, output, _ = run(
        "induction", str(tmp_path / "copy.pt"), "--length", "3", "--outputs", "probabilities", "--picture", str(picture)
    )
    assert code == 0
    assert "loss infinite nats" in output
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    "name", ["embedding", "readout", "layers.0.heads.0.relative_keys", "layers.1.heads.0.value.weight"]
)
def test_a_perturbed_weight_changes_the_report(trained, tmp_path, name):
    state = torch.load(trained, weights_only=True)
    before = report(trained, "--length", "7")
    state[name][1, 1] += 0.2
    torch.save(state, tmp_path / "perturbed.pt")
    after = report(tmp_path / "perturbed.pt", "--length", "7")
    assert abs(after["loss"]["estimate"] - before["loss"]["estimate"]) > 1e-8  # rounding is below 1e-14
    assert after["certified"]["at_most"] != before["certified"]["at_most"]
    assert after["predictors"]["bigram"]["loss"] == before["predictors"]["bigram"]["loss"]
    if name != "readout":
        assert (after["heads"] != before["heads"]) == (name != "layers.1.heads.0.value.weight")


def test_numbers_are_whole_in_forty_columns(trained, monkeypatch):
    monkeypatch.setattr(out, "width", 40)
    output = run("induction", str(trained), "--samples", "100", "--length", "13")[1]
    assert "bigram: its loss" in output
    assert "2.1: previous token 0." in output
    assert "…" not in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--picture", "heads.txt"), "end in .png, .pdf, .svg"),
        (("--picture", "nowhere/heads.png"), "does not exist"),
        (("--outputs", "numbers"), "Outputs are logits or probabilities, not 'numbers'"),
        (("--outputs", "probabilities"), "The outputs are no probabilities"),
        (("--bos", "first"), "Tokens are numbers, separated by commas"),
        (("--bos", "7"), "The embedding has the tokens 0, ..., 1, not 7"),
        (("--symbols", "3"), "at least 2 symbols are needed, not 3"),
        (("--heads", "4"), "layers.0 has 1 heads, not 4"),
        (("--scale", "-1"), "must be positive and finite"),
        (("--length", "1"), "The length"),
        (("--length", "500"), "up to 400 symbols"),
        (("--samples", "1"), "The number of samples"),
    ],
)
def test_input_is_refused(trained, tmp_path, arguments, said):
    code, output, error = run("induction", str(trained), *arguments)
    assert (code, output) == (2, "")
    assert said in error


def test_other_files_are_refused(tmp_path):
    assert "No such file" in run("induction", str(tmp_path / "missing.pt"))[2]
    (tmp_path / "text.pt").write_text("weights")
    assert "no file of weights that torch reads safely" in run("induction", str(tmp_path / "text.pt"))[2]
    torch.save(torch.nn.Linear(2, 2).state_dict(), tmp_path / "linear.pt")
    assert (
        "These are no weights of an attention-only transformer. Found: weight"
        in run("induction", str(tmp_path / "linear.pt"))[2]
    )
    torch.save({"w": torch.ones(2, 2)}, tmp_path / "other.pt")
    assert "Found: w (2, 2). Accepted: names of lm.to_torch" in run("induction", str(tmp_path / "other.pt"))[2]
