"""Losses by running a model in balls: against the tables of another route, plain loops, and drawn chains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lemmata.certificates.induction.evaluated import evaluate_losses
from lemmata.certificates.induction.losses import enumerate_losses
from lemmata.certificates.induction.measured import certified_loss, measure_model
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.attention_checkpoints import attention_only
from lemmata.constructions.networks.head import Head
from tests.constructions.networks.test_attention_checkpoints import HEADS, KEY, hooked


def biased() -> dict[str, np.ndarray]:
    """A HookedTransformer of two layers of three heads, with absolute positions and all biases, of moderate logits."""
    rng = np.random.default_rng(1)
    state = hooked(2, rng)
    for name, array in state.items():
        if ".b_" in name:
            state[name] = rng.normal(size=array.shape)
    return state | {"unembed.W_U": state["unembed.W_U"] / 50, "unembed.b_U": state["unembed.b_U"] / 10}


def logits(state: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """The outputs at the last token by the equations of a HookedTransformer, shape (N, 4)."""
    stream = state["embed.W_E"][x] + state["pos_embed.W_pos"][: x.shape[1]]
    hidden = np.triu(np.full((x.shape[1], x.shape[1]), -np.inf), 1)
    for n in range(2):
        part = {name[-3:]: array for name, array in state.items() if name.startswith(f"blocks.{n}.attn.")}
        added = np.zeros_like(stream) + part["b_O"]
        for h in range(HEADS):
            q, k, v = (stream @ part[f"W_{c}"][h] + part[f"b_{c}"][h] for c in "QKV")
            scores = q @ k.swapaxes(-1, -2) / np.sqrt(KEY) + hidden
            p = np.exp(scores - scores.max(axis=-1, keepdims=True))
            added += p / p.sum(-1, keepdims=True) @ v @ part["W_O"][h]
        stream = stream + added
    return stream[:, -1] @ state["unembed.W_U"] + state["unembed.b_U"]


def biased_head(head: Head, rng: np.random.Generator) -> Head:
    """The head with a random bias in every map."""
    maps = {name: getattr(head, name) for name in ("query", "key", "value")}
    return replace(
        head, **{name: Affine(part.weight, rng.normal(size=part.outputs) / 4) for name, part in maps.items()}
    )


@pytest.mark.parametrize("shifted", [False, True])
def test_the_tables_of_two_heads_give_the_same(shifted):
    model = trained_head(1).model
    if shifted:  # biases of both heads, which the tables carry along
        rng = np.random.default_rng(2)
        model = replace(
            model, layers=tuple(AttentionLayer((biased_head(layer.heads[0], rng),)) for layer in model.layers)
        )
    for t in (3, 6):
        run, tables = evaluate_losses(model, t, "stationary").proved, enumerate_losses(model, t).proved
        for name in ("loss", "bayes", "bigram", "gap", "mean_distance", "largest_distance"):
            one, other = getattr(run, name), getattr(tables, name)
            assert one[0] <= other[1]
            assert other[0] <= one[1]
            assert one[1] - one[0] < 1e-9


@pytest.mark.parametrize(("k", "t"), [(2, 6), (3, 4), (4, 3)])
def test_positions_biases_and_more_heads_and_symbols(k, t):
    """The measured loss of all sequences in floats lies in the proven interval, and a change of one bias leaves it."""
    state = biased()
    model = attention_only(state, symbols=k).model
    proved, measured = certified_loss(model, t).proved, measure_model(model, t)
    references = measured.references
    for pair, value in (
        (proved.loss, measured.loss),
        (proved.gap, measured.excess),
        (proved.bayes, references["Bayes"]),
        (proved.bigram, references["bigram"]),
    ):
        assert pair[0] - 1e-12 <= value.estimate <= pair[1] + 1e-12
        assert pair[1] - pair[0] < 1e-9
    assert proved.gap[0] > 0
    state["unembed.b_U"] = state["unembed.b_U"] + np.array([0.01, 0, 0, 0])
    other = certified_loss(attention_only(state, symbols=k).model, t).proved.loss
    assert other[0] > proved.loss[1] or other[1] < proved.loss[0]


def test_drawn_chains_have_the_proven_loss():
    """KL(row || softmax of the plain outputs), rows and sequences drawn by NumPy; five standard errors."""
    state, t, N = biased(), 5, 20_000
    rng = np.random.default_rng(3)
    rows, x = rng.dirichlet(np.ones(3), size=(N, 3)), rng.integers(3, size=(N, 1))
    for _ in range(t - 1):
        law = rows[np.arange(N), x[:, -1]].cumsum(axis=1)
        x = np.concatenate([x, (rng.random((N, 1)) > law[:, :2]).sum(axis=1, keepdims=True)], axis=1)
    out = logits(state, x)[:, :3]
    q = np.exp(out) / np.exp(out).sum(axis=1, keepdims=True)
    row = rows[np.arange(N), x[:, -1]]
    losses = (row * np.log(row / q)).sum(axis=1)
    low, high = evaluate_losses(attention_only(state, symbols=3).model, t, "uniform").proved.loss
    assert abs(losses.mean() - (low + high) / 2) < 5 * losses.std() / np.sqrt(N)
    assert losses.std() / np.sqrt(N) < 0.02 * low


def test_what_is_too_long_says_how_long_it_may_be():
    model = attention_only(biased(), symbols=3).model
    with pytest.raises(ValueError, match=r"over 3 as t\^6\. All 3\^7 sequences .* ask for a length of at most 6\."):
        certified_loss(model, 7)
