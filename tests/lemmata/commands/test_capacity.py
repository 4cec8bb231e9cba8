"""`lemmata capacity`."""

import json
from pathlib import Path

import pytest
import torch
from flint import arb, fmpq

from lemmata.certificates.capacity.reading import read_trained
from lemmata.certificates.capacity.report import trained_report
from lemmata.certificates.capacity.trained import measured_reader
from tests.lemmata.commands.runner import run

SIZES = ("--samples", "1000000000", "--length", "50")
NORMS = ("--value-columns", "2", "--value", "1", "--scores", "3")


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    path = tmp_path / "heads.pt"
    state = {f"attn.{name}": value for name, value in torch.nn.MultiheadAttention(8, 2).state_dict().items()}
    state |= {"emb.weight": torch.randn(3, 8), "pos": torch.randn(5, 8), "readout.weight": torch.randn(2, 8)}
    torch.save(state, path)
    return path


def test_the_tables_of_one_head():
    code, output, _ = run("capacity", *SIZES, "--width", "8", *NORMS)
    assert code == 0
    assert "Capacity of 1 head" in output
    assert "values <- leads" in output
    assert "printed corrected" in output
    assert "a class that is fixed before the sample is drawn" in output


def test_json_of_layers():
    code, output, _ = run("capacity", *SIZES, "--width", "8", "--layers", "3", *NORMS, "--json")
    report = json.loads(output)
    assert code == 0
    assert sum(report["shares"].values()) == pytest.approx(1)
    assert report["dominant"] == "layer 1: values"
    assert report["corrected"] > 0


def test_json_has_null_for_numbers_beyond_floats():
    huge = ("--value-columns", "1e308", "--value", "1e308", "--scores", "1e308")
    _, output, _ = run("capacity", "--samples", "1000", "--length", "50", "--width", "8", *huge, "--json")
    assert "Infinity" not in output
    assert json.loads(output)["risk"] is None
    assert json.loads(output)["largest_value"] > 1e307


def test_a_printed_bound_that_is_refused():
    code, output, _ = run("capacity", "--samples", "10", "--length", "50", "--width", "8", *NORMS)
    assert code == 0
    assert "printed bound refused: The printed bound needs 0 < C <= A^2 m" in output
    assert "says nothing for 10 samples" in output


def test_trained_heads(trained):
    code, output, _ = run("capacity", *SIZES, "--state-dict", str(trained), "--heads", "2", "--logit", "1-0")
    assert code == 0
    assert "Capacity of 2 trained heads" in output
    assert "rounded up to powers 2^(j/4)" in output
    assert "head 2: scores" in output
    assert "read as embedding: emb.weight" in output
    assert "assumed: 2 heads side by side, with scores divided by sqrt(4)" in output


def test_a_perceptron_behind_the_heads(trained):
    """Its activation is told, W stands for all values, and the report says what the class is."""
    state = torch.load(trained, weights_only=True)
    state |= {"linear1.weight": torch.randn(5, 8), "linear2.weight": torch.randn(8, 5)}
    torch.save(state, trained)
    file = ("--state-dict", str(trained), "--heads", "2", "--logit", "1-0")
    code, _, error = run("capacity", *SIZES, *file)
    assert (code, "if it has one hidden layer of ReLUs, say so (--activation relu)" in error) == (2, True)
    code, output, _ = run("capacity", *SIZES, *file, "--activation", "relu")
    assert code == 0
    for line in (
        "Capacity of 2 trained heads and a perceptron of 5 ReLUs",
        "read as perceptron: linear1.weight, linear2.weight",
        "paths to the output",
        "with twice the norm of all paths to the output: the Rademacher complexity of the perceptron is no larger",
        "assumed: a perceptron that is added to the stream or not: both are covered",
    ):
        assert line in output
    found = json.loads(run("capacity", *SIZES, *file, "--activation", "relu", "--json")[1])
    measured = measured_reader(read_trained(state, heads=2, logit="1-0", activation="relu"))
    expected = trained_report(measured, samples=10**9, length=50, delta=fmpq(1, 100))[0].as_dict()
    assert found["risk"] == pytest.approx(expected["risk"], rel=1e-12)
    assert len(found["norms"]) == 3
    for one in (measured, measured.rounded()[0]):
        assert one.paths is not None
        assert one.residual is not None
        for norm in (*(each.value for each in one.norms), one.residual):
            assert abs(norm - 2 * one.paths) < arb("1e-10") * norm


def test_trained_heads_share_the_probability_of_failure(trained):
    """Norms that training chose are rounded up, and each power has a share of delta; the library says the same."""
    state = {
        name: value for name, value in torch.load(trained, weights_only=True).items() if name == "pos" or "attn" in name
    }
    torch.save(state, trained)
    options = ("--heads", "2", "--delta", "0.05", "--tokens", "3", "--readout", "2", "--role", "pos=unused")
    code, output, _ = run("capacity", *SIZES, "--state-dict", str(trained), *options, "--json")
    assert code == 0
    found = json.loads(output)
    reader = read_trained(state, heads=2, roles={"pos": "unused"})
    measured = measured_reader(reader, tokens=3)
    report, norms = trained_report(measured, readout=2, samples=10**9, length=50, delta=fmpq(1, 20))
    expected = report.as_dict()
    assert found["risk"] == pytest.approx(expected["risk"], rel=1e-12)
    assert found["corrected"] == pytest.approx(expected["corrected"], rel=1e-12)
    assert [one["share"] for one in found["norms"]] == [str(one.share) for one in norms]
    assert len(norms) == 6
    assert {"assumed: a readout of norm at most 2, as told, whatever the sample", "read as unused: pos"} <= set(
        found["notes"]
    )


def test_every_number_that_is_assumed_stands_in_the_report():
    code, output, _ = run("capacity", *SIZES, "--width", "8", *NORMS)
    assert code == 0
    for line in (
        "assumed: the largest norm of a token is 1 (--tokens)",
        "assumed: the norm of the readout is 1 (--readout)",
        "assumed: the Lipschitz constant of the activation is 1 (--lipschitz)",
    ):
        assert line in output
    told = ("--tokens", "1", "--readout", "1", "--lipschitz", "1", "--loss-lipschitz", "1", "--loss-bound", "1")
    assert "assumed" not in run("capacity", *SIZES, "--width", "8", *NORMS, *told)[1]


def test_a_spectral_norm_is_at_most_the_norm_beside_it():
    """Norms that are not given are taken as the larger ones that are."""
    layers = ("--width", "8", "--layers", "4", "--value-columns", "2", "--scores", "5", "--output-columns", "3")
    told = (*layers, "--value", "2", "--score", "5", "--output", "3")
    low = (*layers, "--value", "2", "--score", "1", "--output", "3")
    found = [json.loads(run("capacity", *SIZES, *options, "--json")[1]) for options in (layers, told, low)]
    assert found[0]["corrected"] == found[1]["corrected"] > found[2]["corrected"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--width", "8", "--value", "1"), "Give --value-columns, --scores, or --state-dict FILE"),
        (("--width", "8", *NORMS, "--output", "2"), "--output is for layers with projections: give --layers."),
        (("--width", "8", *NORMS, "--layers", "2", "--heads", "2"), "has one head in each, so give no --heads"),
        (NORMS, "Give --width, the number of outputs of a head."),
        (("--width", "8", *NORMS[:-1], "nan"), "--scores needs a finite number >= 0"),
        (("--width", "8", *NORMS[:-1], "-1"), "--scores needs a finite number >= 0"),
        (("--width", "8", *NORMS, "--delta", "1"), "delta must lie in (0, 1)"),
        (("--width", "8", *NORMS, "--tokens", "inf"), "--tokens needs a finite number >= 0"),
        (("--width", "0", *NORMS), "The width must be an integer >= 1, not 0."),
    ],
)
def test_bad_numbers_are_refused(arguments, message):
    code, _, error = run("capacity", *SIZES, *arguments)
    assert code == 2
    assert message in error


def test_bad_files_are_refused(trained, tmp_path):
    code, _, error = run("capacity", *SIZES, "--state-dict", str(tmp_path / "none.pt"))
    assert (code, "No such file" in error) == (2, True)
    text = tmp_path / "text.pt"
    text.write_text("hello")
    code, _, error = run("capacity", *SIZES, "--state-dict", str(text))
    assert (code, "is no file of weights that torch reads safely" in error) == (2, True)
    single = tmp_path / "single.pt"
    torch.save(torch.ones(3), single)
    code, _, error = run("capacity", *SIZES, "--state-dict", str(single))
    assert (code, "holds no state dict" in error) == (2, True)
    file = ("--state-dict", str(trained))
    for options, message in (
        (("--heads", "3", "--logit", "0"), "in_proj_weight cannot be cut into 3 heads"),
        (("--logit", "0"), "give it (--heads)."),
        (("--heads", "2"), "readout has 2 outputs, and the theory is for one number"),
        (("--heads", "2", "--logit", "0", "--tokens", "1"), "their own embedding"),
        (("--heads", "2", "--logit", "0", "--readout", "1"), "their own readout"),
        (("--heads", "2", "--role", "pos"), "A role is given as NAME=ROLE"),
        (NORMS, "Give either --state-dict or --value-columns, --value, --scores, not both."),
        (("--lipschitz", "1"), "Give either --state-dict or --lipschitz, not both."),
    ):
        code, _, error = run("capacity", *SIZES, *file, *options)
        assert (code, message in error) == (2, True), error
