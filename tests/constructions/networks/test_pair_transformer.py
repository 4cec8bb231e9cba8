"""One-layer transformers on all pairs: the tables are those of the definition, and files are read or refused."""

from typing import Any

import numpy as np
import pytest

from lemmata.constructions.networks.pair_transformer import PairTables, load_pair_transformer, pair_transformer
from tests.constructions.networks.planted_pairs import aligned, loops, planted, random_state

N = 4


@pytest.mark.parametrize("state", [random_state(N), planted(N, aligned(N))], ids=["random", "planted"])
def test_the_tables_are_those_of_the_definition(state):
    tables = pair_transformer(state, N).tables()
    for a, b in np.ndindex(N, N):
        z, logits = loops(state, a, b)
        scale = max(map(abs, [*z, *logits]))
        assert np.abs(tables.preactivations[a, b] - z).max() < 1e-12 * scale
        assert np.abs(tables.logits[a, b] - logits[:N]).max() < 1e-12 * scale
    neurons = np.maximum(tables.preactivations, 0) @ tables.directions
    assert np.allclose(tables.logits - neurons, tables.straight)


def test_a_factor_on_the_scores_counts():
    state = random_state(N)
    plain, told, same = (pair_transformer(state, N, scale=s).tables().logits for s in (None, 2.0, 3**-0.5))
    assert np.abs(plain - told).max() > 0.01
    assert np.allclose(plain, same)
    for factor in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="factor on the scores must be positive and finite"):
            pair_transformer(state, N, scale=factor)


def test_a_planted_network_is_additive_and_has_no_straight_path():
    tables = pair_transformer(planted(5, aligned(5)), 5).tables()
    z = tables.preactivations
    assert np.abs(z - z[:1] - z[:, :1] + z[:1, :1]).max() < 1e-14
    assert np.abs(z - z.mean(axis=(0, 1))).max() > 1
    assert not tables.straight.any()


def test_positions_may_be_missing_and_a_front_may_stand_before_all_names():
    state = {name: value for name, value in random_state(N).items() if name != "pos_embed.W_pos"}
    found = pair_transformer({f"model.{name}": value for name, value in state.items()}, N).tables()
    expected = pair_transformer({**state, "pos_embed.W_pos": np.zeros((3, 5))}, N).tables()
    assert np.array_equal(found.logits, expected.logits)


def test_renumbered_tables_are_those_of_renumbered_weights():
    state, rng = random_state(N), np.random.default_rng(1)
    order = rng.permutation(N)
    moved = dict(state)
    moved["embed.W_E"] = state["embed.W_E"][[*order, N]]
    moved["unembed.W_U"] = state["unembed.W_U"][:, [*order, N]]
    moved["unembed.b_U"] = state["unembed.b_U"][[*order, N]]
    found = pair_transformer(state, N).tables().renumbered(order, order, order)
    assert np.allclose(found.logits, pair_transformer(moved, N).tables().logits)


def without(*names):
    return dict.fromkeys(names)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            without("blocks.0.mlp.W_in", "blocks.0.mlp.b_in", "blocks.0.mlp.W_out", "blocks.0.mlp.b_out"),
            "no tensor blocks.0.mlp.W_in",
        ),
        (without("blocks.0.mlp.W_out"), "The MLP has no tensor W_out; it has W_in, b_in, b_out"),
        (without("embed.W_E"), "no weights of an attention-only transformer"),
        ({"blocks.0.mlp.W_in": np.zeros((4, 4))}, r"W_in of the MLP must have the shape \(5, 4\), not \(4, 4\)"),
        ({"blocks.0.mlp.W_in": np.zeros(4)}, r"W_in of the MLP must have the shape \(5, 4\), not \(4,\)"),
        ({"blocks.0.mlp.b_in": np.zeros(3)}, r"b_in of the MLP must have the shape \(4,\), not \(3,\)"),
        ({"blocks.0.mlp.W_out": np.full((4, 5), np.nan)}, "W_out of the MLP holds what is no finite real number"),
        ({"blocks.0.mlp.b_out": np.zeros(5, dtype=int)}, "b_out of the MLP holds what is no finite real number"),
        ({"blocks.0.attn.b_O": np.full(5, np.inf)}, "b_O holds numbers that are not finite"),
        ({"embed.W_E": np.zeros((N, 5))}, "has 4 tokens; those of addition modulo 4 are 0, ..., 3 and 4, which is ="),
        ({"embed.W_E": np.zeros((N + 3, 5))}, "has 7 tokens"),
        (
            {"unembed.W_U": np.zeros((5, 3)), "unembed.b_U": np.zeros(3)},
            "4 outputs are needed, not 3 and 3",
        ),
        ({"pos_embed.W_pos": np.zeros((2, 5))}, "three positions and 4 outputs are needed, not 2"),
        ({"pos_embed.W_pos": np.zeros((3, 6))}, r"needs positions \(3, 5\)"),
        ({"ln_final.w": np.ones(5)}, r"it has LayerNorm \(ln_final.w\)"),
        ({"blocks.0.ln1.w": np.ones(5)}, r"it has LayerNorm \(blocks.0.ln1.w\)"),
        ({"blocks.1.mlp.W_in": np.ones((5, 4))}, r"it has an MLP \(blocks.1.mlp.W_in\)"),
        ({f"blocks.1.attn.W_{p}": np.ones((1, 5, 3) if p != "O" else (1, 3, 5)) for p in "QKVO"}, "There are 2 blocks"),
        ({"blocks.0.attn.rotary_sin": np.ones((3, 3))}, "rotary positions"),
        ({"blocks.0.attn.W_V": np.ones((3, 5, 3))}, "different numbers of heads"),
        ({"extra": np.ones(2)}, "Beside the parts of an attention-only transformer there are others"),
    ],
)
def test_what_is_no_such_transformer_is_refused(change: dict[str, Any], said):
    state = {name: value for name, value in {**random_state(N), **change}.items() if value is not None}
    with pytest.raises(ValueError, match=said):
        pair_transformer(state, N)


def test_numbers_that_overflow_are_refused(tmp_path):
    state = random_state(N)
    state["blocks.0.mlp.W_out"] *= 1e200
    state["blocks.0.mlp.W_in"] *= 1e200
    np.savez(tmp_path / "large.npz", **state)
    with pytest.raises(ValueError, match="weights are too large for floats"):
        load_pair_transformer(tmp_path / "large.npz", N).tables()
    np.savez(tmp_path / "none.npz", x=np.ones(2))
    with pytest.raises(ValueError, match=r"none\.npz: There is no tensor blocks"):
        load_pair_transformer(tmp_path / "none.npz", N)
    with pytest.raises(ValueError, match="modulus"):
        pair_transformer(random_state(N), 1)


def test_tables_have_shapes_that_fit():
    with pytest.raises(ValueError, match=r"have shapes \(n, n, m\)"):
        PairTables(np.zeros((3, 3, 2)), np.zeros((2, 4)), np.zeros((3, 3, 3)))
