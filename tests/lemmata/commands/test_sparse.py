"""`lemmata sparse`."""

import json

import pytest

from tests.lemmata.commands.runner import run


def test_a_parity_is_compiled_and_proved():
    code, output, _ = run("sparse", "12", "2,5,7", "01101001")
    assert code == 0
    assert "Function of the positions 2, 5, 7 of strings of 12 symbols" in output
    assert "3 heads, deterministic map of width 15" in output
    assert "proved: equal to the function on all 2^12 strings" in output


@pytest.mark.parametrize("inputs", ["deterministic", "trainable", "bag"])
def test_json(inputs):
    code, output, _ = run("sparse", "50", "0,9", "1/2,0,3", "--map", inputs, "--json")
    document = json.loads(output)
    assert code == 0
    assert document["function"]["symmetric"]
    assert document["network"]["heads"] == 1
    assert document["proof"]["strings"] == "2^50"
    assert document["fault"] is None
    assert set(document["norms"]) == {"W_Q", "W_K", "W_V", "W_C", "W_1", "W_2", "w"}


def test_the_printed_key_is_not_proved():
    code, output, _ = run("sparse", "4000", "1,100,1700", "0,1,2,3", "--coherence", "1/8", "--key", "printed")
    assert code == 1
    assert "not proved" in output
    code, output, _ = run("sparse", "4000", "1,100,1700", "0,1,2,3", "--coherence", "1/8")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["4", "1,4", "0110"], "[4] lie outside"),
        (["4", "1,1", "0110"], "repeats [1]"),
        (["4", "one", "01"], "integers with commas between them"),
        (["4", "1,2", "01101"], "5 are given"),
        (["4", "1,2", "0110", "--gamma", "0"], "must be positive, not 0"),
        (["4", "1,2", "0110", "--map", "sorted"], "input maps are deterministic, trainable, bag"),
        (["4", "1,2", "0110", "--coherence", "1"], "below 1"),
        (["1000000", "1,2,3", "01101001"], "at most 4096 are built"),
    ],
)
def test_bad_input_exits_with_two(arguments, message):
    code, _, error = run("sparse", *arguments)
    assert code == 2
    assert message in error
