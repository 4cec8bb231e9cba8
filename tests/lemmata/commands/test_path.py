"""`lemmata path`."""

import json

import pytest

from tests.lemmata.commands.runner import run


def test_path():
    code, output, _ = run("path", "S3", "--lambda", "1e-7", "--lambda", "1/20")
    assert code == 0
    assert "1e-07 6.327456636e-05" in output
    assert "0.98048531 2 of 2" in output
    assert "0.05 1.791759469" in output  # log 6: the zero network
    assert "0 - 0 of 2" in output
    assert "||theta||^3, networks of any width" in output
    assert run("path", "Z3", "--factors", "3", "--lambda", "1/20")[1].count("||theta||^4") == 2
    code, output, error = run("path", "S3", "--lambda", "many")
    assert (code, output) == (2, "")
    assert "'many'" in error
    assert run("path", "S3", "--lambda", "-1")[0] == 2


def test_path_as_json():
    code, output, _ = run("path", "S3", "--lambda", "1e-7", "--lambda", "1/20", "--json")
    data = json.loads(output)
    assert code == 0
    assert [one["lambda"] for one in data["optima"]] == [1e-7, 0.05]
    assert data["optima"][0]["normalised_margin"] / data["maximum_margin"] == pytest.approx(0.98048531, abs=1e-8)
    assert data["optima"][1]["normalised_margin"] is None
    assert data["zero_network_from"] < 0.05
