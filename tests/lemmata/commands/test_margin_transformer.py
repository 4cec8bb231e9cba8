"""`lemmata margin` on transformers: their neurons beside the theory with --activation relu, and a refusal without."""

import json

import numpy as np
import pytest
import torch

from lemmata.certificates.saddle.effective_neurons import SILENCE, read_addition
from lemmata.commands.console import out
from lemmata.constructions.networks.pair_transformer import pair_transformer
from tests.constructions.networks.planted_pairs import aligned, planted, random_state
from tests.lemmata.commands.runner import run

N = 7
TASK = ("--group", f"Z{N}", "--activation", "relu")


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    """Two frequencies with masses 1 and 4, phases that are wrong by a twelfth of a turn for the second."""
    file = tmp_path_factory.mktemp("models") / "waves.pt"
    first, second = aligned(N)[:25], aligned(N, error=1 / 12)[25:50]
    louder = [(m, u, v, lambda c, w=w: 4 * w(c)) for m, u, v, w in second]
    torch.save({name: torch.tensor(part) for name, part in planted(N, [*first, *louder]).items()}, file)
    return file


def test_the_report_and_its_data_say_what_was_planted(waves, tmp_path):
    picture = tmp_path / "waves.svg"
    code, text, _ = run("margin", str(waves), *TASK, "--picture", str(picture))
    assert code == 0
    assert b"</svg>" in picture.read_bytes()
    summary = json.loads(run("margin", str(waves), *TASK, "--json")[1])
    table = [(line["neurons"], round(line["mass"], 12), line["optimal"]) for line in summary["frequencies"]]
    assert table == [(25, 0.2, 1 / 3), (25, 0.8, 1 / 3), (0, 0, 1 / 3)]
    first, second, third = (line["alignment"] for line in summary["frequencies"])
    assert (first, second, third) == (pytest.approx(1), pytest.approx(3**0.5 / 2), None)
    assert summary["effective"]["alignment"] == pytest.approx(0.2 + 0.8 * 3**0.5 / 2)
    assert summary["additive_share"] == pytest.approx(1)
    assert summary["units"] == {"switching": 50, "linear": 0, "silent": 0}
    state = {name: np.asarray(part) for name, part in torch.load(waves, weights_only=True).items()}
    r = read_addition(pair_transformer(state, N).tables())
    assert summary["logits"]["cosines"] == pytest.approx(r.explained)
    assert summary["right"] == r.right
    assert summary["theory"] == SILENCE
    for said in (
        "Z7: a one-layer transformer, 50 ReLUs (as told), scores divided by sqrt(7)",
        f"right on {round(49 * r.right)} of 49 cells; least margin of the logits {r.margins.min():.6g}",
        "additive 100 % of their energy",
        "50 units switch; 0 are positive on all pairs, so linear there, and 0 never are",
        "share of the strongest frequency 100 %",
        f"cosines {100 * r.explained:.4g} % of their energy",
        "The theory has no theorem for this network",
    ):
        assert said in text


def test_numbers_are_whole_in_forty_columns(waves, monkeypatch):
    monkeypatch.setattr(out, "width", 40)
    text = run("margin", str(waves), *TASK)[1]
    assert "2: neurons 25, mass 0.8000, optimal 0.3333, alignment 0.8660" in text
    assert "…" not in text


@pytest.mark.parametrize("seed", [0, 1])
def test_permuted_tokens_are_read_in_the_numbering_of_the_network(tmp_path, seed):
    """Of a network that is right: the numbering is found, and all that does not depend on it is the same."""
    state, order = planted(N, aligned(N)), np.random.default_rng(seed).permutation(N)
    moved = dict(state)
    moved["embed.W_E"] = state["embed.W_E"][[*order, N]]
    moved["unembed.W_U"] = state["unembed.W_U"][:, order]
    summaries = []
    for name, weights in (("plain", state), ("moved", moved)):
        np.savez(tmp_path / f"{name}.npz", **weights)
        summaries.append(json.loads(run("margin", str(tmp_path / f"{name}.npz"), *TASK, "--json")[1]))
    plain, found = summaries
    assert plain["numbering"] is None
    assert plain["right"] == found["right"] == 1
    rows, columns, labels = ([int(name) for name in found["numbering"][part]] for part in ("rows", "columns", "labels"))
    for a, b in np.ndindex(N, N):
        c = int(np.flatnonzero(order == (order[a] + order[b]) % N)[0])
        assert (rows[a] + columns[b]) % N == labels[c]
    for part in ("effective", "logits", "activations"):
        assert found[part] == pytest.approx(plain[part], abs=1e-9)
    assert "in a numbering of its own" in run("margin", str(tmp_path / "moved.npz"), *TASK)[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--group", "Z7"),
            "has attention, and a maximum is certified for f(a, b) = sum_i (u_i(a) + v_i(b))^2 w_i alone",
        ),
        (("--group", "Z7"), "are read with --activation relu --group Zn"),
        (("--operation", "op:add:7", "--activation", "relu"), "read for addition modulo n alone: give --group Zn"),
        (("--group", "S3", "--activation", "relu"), "read for addition modulo n alone: give --group Zn"),
        (("--group", "Z5", "--activation", "relu"), "has 8 tokens; those of addition modulo 5 are 0, ..., 4 and 5"),
        (("--group", "Z7", "--activation", "gelu"), "there is no deficit"),
    ],
)
def test_what_the_theory_has_no_word_for_is_refused(waves, arguments, said):
    code, text, error = run("margin", str(waves), *arguments)
    assert (code, text) == (2, "")
    assert said in error


def test_a_random_network_is_read_and_is_nothing(tmp_path):
    np.savez(tmp_path / "random.npz", **random_state(N, units=30))
    summary = json.loads(run("margin", str(tmp_path / "random.npz"), *TASK, "--json")[1])
    assert summary["right"] < 0.5
    assert summary["numbering"] is None
    assert summary["logits"]["cosines"] < 0.2
