"""`lemmata capacity`."""

import json
from pathlib import Path

import pytest
import torch
from flint import fmpq

from lemmata.certificates.capacity.report import head_report, heads_of_state, measured_heads
from tests.lemmata.commands.runner import run

SIZES = ("--samples", "1000000000", "--length", "50")
NORMS = ("--value-columns", "2", "--value", "1", "--scores", "3")


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    path = tmp_path / "heads.pt"
    torch.save(torch.nn.MultiheadAttention(8, 2).state_dict(), path)
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


def test_a_printed_bound_that_is_refused():
    code, output, _ = run("capacity", "--samples", "10", "--length", "50", "--width", "8", *NORMS)
    assert code == 0
    assert "printed bound refused: The printed bound needs 0 < C <= A^2 m" in output
    assert "says nothing for 10 samples" in output


def test_trained_heads(trained):
    code, output, _ = run("capacity", *SIZES, "--state-dict", str(trained), "--heads", "2")
    assert code == 0
    assert "Capacity of 2 trained heads" in output
    assert "norms rounded up to powers of two" in output
    assert "scores 2" in output


def test_trained_heads_share_the_probability_of_failure(trained):
    """Norms that training chose are rounded up, and each of the powers of two has a share of delta."""
    code, output, _ = run(
        "capacity", *SIZES, "--state-dict", str(trained), "--heads", "2", "--delta", "0.05", "--tokens", "3", "--json"
    )
    assert code == 0
    measured = measured_heads(heads_of_state(torch.load(trained, weights_only=True), heads=2))
    norms, share = measured.rounded()
    assert share < fmpq(1, 4**6)
    expected = head_report(
        norms, tokens=measured.token_bound(3), samples=10**9, length=50, width=8, delta=share / 20
    ).as_dict()
    found = json.loads(output)
    assert found["risk"] == pytest.approx(expected["risk"], rel=1e-12)
    assert found["corrected"] == pytest.approx(expected["corrected"], rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--width", "8", "--value", "1"), "Give --value-columns, --scores, or --state-dict FILE"),
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
    assert (code, "is no file of tensors alone" in error) == (2, True)
    single = tmp_path / "single.pt"
    torch.save(torch.ones(3), single)
    code, _, error = run("capacity", *SIZES, "--state-dict", str(single))
    assert (code, "holds a Tensor, not a state dict" in error) == (2, True)
    code, _, error = run("capacity", *SIZES, "--state-dict", str(trained), "--heads", "3")
    assert (code, "3 heads do not divide the width 8." in error) == (2, True)
    code, _, error = run("capacity", *SIZES, "--state-dict", str(trained), *NORMS)
    assert (code, "Give either --state-dict or the norms and layers, not both." in error) == (2, True)
