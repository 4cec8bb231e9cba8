"""Thirty checkpoints of six kinds: what each command that reads weights says, as a page of the documentation has it."""

import json
import re
from itertools import product
from pathlib import Path

import pytest
import torch

from lemmata.site import build
from tests.lemmata.commands.checkpoints import PLACES, Made, checkpoints
from tests.lemmata.commands.runner import run

PAGE = Path(build.__file__).parent / "pages" / "checkpoints.md"
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in PAGE.read_text("utf-8").splitlines()
    if line.startswith("| ")
][2:]
CAPACITY = ("--samples", "1000000000", "--length", str(PLACES))
MADE = checkpoints()
NUMBERS = [row[0] for row in ROWS if row[2].startswith("Capacity")]


def said_of(one: Made, file: Path) -> dict[str, tuple[int, str]]:
    """The exit status and the words of each command."""
    torch.save(one.state, file)
    relu = ("--activation", "relu") if "relu" in one.told else ()
    calls = {
        "capacity": (*CAPACITY, "--state-dict", str(file), *one.told),
        "margin": (str(file), "--group", "Z3", *relu),
        "induction": (str(file), "--length", "2"),
    }
    answers = {name: run(name, *arguments) for name, arguments in calls.items()}
    return {name: (code, error if code else text) for name, (code, text, error) in answers.items()}


def test_the_page_has_all_thirty():
    assert [row[0] for row in ROWS] == [*MADE]
    assert len(ROWS) == 30


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_command_says_what_the_page_says(row, tmp_path):
    name, told, *cells = row
    one = MADE[name]
    assert told == (f"`{' '.join(one.told)}`" if one.told else "")
    for cell, (code, text) in zip(cells, said_of(one, tmp_path / "model.pt").values(), strict=True):
        assert cell in text
        assert code == (0 if cell.startswith(("Capacity", "right on", "above Bayes")) else 2)


@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_is_below_what_the_module_does(name, tmp_path):
    """On all contexts: outputs are at most the largest value of the class, and scores differ by what they may.

    Of one-hot tokens and positions, and perhaps a constant, x has at most the norm sqrt(3), and x_i - x_j at most 2: so
    log p_i - log p_j <= 2 sqrt(3) |M| for the attention weights p of a head, which the module itself gives.
    """
    one = MADE[name]
    assert one.forward is not None
    torch.save(one.state, tmp_path / "model.pt")
    found = json.loads(run("capacity", *CAPACITY, "--state-dict", str(tmp_path / "model.pt"), *one.told, "--json")[1])
    tokens = next(
        len(value) for key, value in one.state.items() if re.search(r"emb|embed|^w$", key) and value.ndim == 2
    )
    with torch.no_grad():
        outputs, weights = one.forward(torch.tensor([*product(range(tokens), repeat=PLACES)]))
    assert outputs.abs().max() <= found["largest_value"]
    assert outputs.std() > 0
    scores = [norm["norm"] for norm in found["norms"] if norm["name"].endswith("scores")]
    assert len(scores) == len(weights)
    for norm, p in zip(scores, weights, strict=True):
        logs = p.clamp_min(1e-300).log()  # of a weight that is no float, less than the truth
        spread = (logs.amax(dim=1) - logs.amin(dim=1)).max()
        assert spread <= 2 * 3**0.5 * norm + 1e-9


def test_the_same_function_has_the_same_number_or_a_larger_one(tmp_path):
    """Other names change nothing, and a factor that is moved from the heads to the readout does not help."""
    numbers = {}
    for name in ("MultiheadAttention, one head", "an embedding called w, and told", "a norm hidden in the readout"):
        torch.save(MADE[name].state, tmp_path / "model.pt")
        told = ("--state-dict", str(tmp_path / "model.pt"), *MADE[name].told, "--json")
        numbers[name] = {n["name"]: n["norm"] for n in json.loads(run("capacity", *CAPACITY, *told)[1])["norms"]}
    plain, renamed, hidden = numbers.values()
    assert renamed == plain
    assert hidden["scores"] == pytest.approx(plain["scores"])
    assert hidden["values as they are read"] >= plain["values as they are read"] * (1 - 1e-9)
    assert hidden["residual readout"] > 100 * plain["residual readout"]
