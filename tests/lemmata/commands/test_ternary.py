"""`lemmata certify` with operations of three arguments."""

import json

import pytest

import lemmata as lm
from tests.lemmata.commands.runner import run


def test_a_table_of_three_arguments_is_certified_checked_and_explained(tmp_path):
    proof = tmp_path / "parity.json"
    code, output, error = run("certify", "ternary:01101001", "--out", str(proof))
    assert (code, error) == (0, "")
    assert "01101001: three arguments, 2 x 2 x 2 cells, 2 labels" in output
    assert "networks f(a, b, c) = sum_i (u_i(a) + v_i(b) + s_i(c))^3 w_i of any width" in output
    assert "valid: certificates/ternary_kernel.py has checked every line" in output
    margin = json.loads(proof.read_text())["margin"]
    assert margin["lower"] in output
    assert float(margin["lower"]) <= 3 / 16 <= float(margin["upper"])
    assert run("check", str(proof))[0] == 0
    code, output, _ = run("explain", str(proof))
    assert code == 0
    assert "valid: table of three arguments, 2 x 2 x 2" in output


def test_the_summary():
    code, output, _ = run("certify", "ternary:01101001", "--degree", "6", "--json")
    assert code == 0
    summary = json.loads(output)
    assert summary["proof"] == "degree 6"
    assert summary["table"]["labels"] == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("ternary:0",), "An operation of three arguments is ternary:01101001"),
        (("ternary:01101001", "--degree", "plane"), "degree 4 or 6, not plane"),
        (("ternary:01101001", "--factors", "4"), "has three factors, and no --cells or --network"),
        (("ternary:01101001", "--cells", "without:(0,0)"), "has three factors, and no --cells or --network"),
        (("ternary:01101001", "--starts", "3"), "--starts: for operations, not for operations of three arguments"),
    ],
)
def test_refusals(options, says):
    code, _, error = run("certify", *options)
    assert code == 2
    assert says in error


def test_the_library():
    found = lm.certify("ternary:01101001")
    assert lm.check(found)
    assert found.lower <= lm.certify("Z2", 3).gamma <= found.upper
    assert repr(found).startswith("TernaryCertificate(01101001, 0.1874999")
    with pytest.raises(ValueError, match="has three factors, not 4"):
        lm.certify("ternary:01101001", 4)
    assert lm.certify(lm.operations.parse_ternary("ternary:01101001")).document == found.document
