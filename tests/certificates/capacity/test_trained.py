"""Norms of trained heads: the class is that of the module, and nobody hides a norm in another tensor."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.certificates.capacity.reading import read_trained
from lemmata.certificates.capacity.report import trained_report
from lemmata.certificates.capacity.trained import measured_reader, peeled
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.learning.attention_capacity import HeadNorms, ReadNorms

SIZES: dict[str, Any] = {"samples": 10**9, "length": 6, "delta": fmpq(1, 100)}
WIDTH, HEADS, BITS = 6, 2, 5


class Reader(torch.nn.Module):
    """A class token in front of bits, heads and a linear readout; all of it is drawn at random."""

    def __init__(self, bias: bool = True, residual: bool = False, heads: int = HEADS) -> None:
        super().__init__()
        self.residual = residual
        self.emb = torch.nn.Embedding(3, WIDTH)
        self.pos = torch.nn.Parameter(torch.randn(BITS + 1, WIDTH))
        self.attn = torch.nn.MultiheadAttention(WIDTH, heads, bias=bias, batch_first=True)
        self.readout = torch.nn.Linear(WIDTH, 1, bias=bias)
        if bias:
            torch.nn.init.normal_(self.attn.in_proj_bias)
            torch.nn.init.normal_(self.attn.out_proj.bias)

    def stream(self, bits: torch.Tensor) -> torch.Tensor:
        x = self.emb(torch.cat([torch.full((len(bits), 1), 2), bits], 1)) + self.pos
        y, _ = self.attn(x[:, :1], x, x)
        return y[:, 0] + (x[:, 0] if self.residual else 0)

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        return self.readout(self.stream(bits)).squeeze(-1)


def drawn(seed: int, **options: Any) -> Reader:
    torch.manual_seed(seed)
    return Reader(**options).double()


def middle(ball: arb) -> float:
    return float(ball.mid())


def risk_of(source: Any, **options: Any) -> dict[str, float]:
    named = {key: options.pop(key) for key in ("heads", "roles", "logit") if key in options}
    measured = measured_reader(read_trained(source, **named), **options)
    found = trained_report(measured, **SIZES)[0].as_dict()
    return {name: found[name] for name in ("corrected", "largest_value", "risk")}


def plain_weights(module: Reader) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """v_h, M_h and u for tokens (one-hot symbol, one-hot position, 1), by NumPy from the module's own tensors."""
    state = {name: value.numpy() for name, value in module.state_dict().items()}
    F = np.concatenate([state["emb.weight"], state["pos"], np.zeros((1, WIDTH))])
    one = np.zeros(len(F))
    one[-1] = 1
    w, k = state["readout.weight"][0], WIDTH // module.attn.num_heads
    values, scores = [], []
    for h in range(module.attn.num_heads):
        rows = [slice(i * WIDTH + h * k, i * WIDTH + (h + 1) * k) for i in range(3)]
        q, _, v = (F @ state["attn.in_proj_weight"][r].T + np.outer(one, state["attn.in_proj_bias"][r]) for r in rows)
        out = state["attn.out_proj.weight"][:, h * k : (h + 1) * k]
        values.append(v @ out.T @ w)
        scores.append(q @ (F @ state["attn.in_proj_weight"][rows[1]].T).T / math.sqrt(k))
    values[0] = values[0] + one * (state["attn.out_proj.bias"] @ w + state["readout.bias"][0])
    return values, scores, F @ w


@pytest.mark.parametrize("residual", [False, True])
def test_the_measured_class_holds_the_module(residual: bool) -> None:
    """The weights with these norms, on one-hot tokens, are the function that torch computes."""
    module = drawn(1, residual=residual)
    values, scores, u = plain_weights(module)
    bits = torch.tensor(list(product([0, 1], repeat=BITS)))
    expected = module(bits).detach().numpy()
    for row, target in zip(bits.tolist(), expected, strict=True):
        X = np.zeros((BITS + 1, 3 + BITS + 2))
        X[np.arange(BITS + 1), [2, *row]] = X[np.arange(BITS + 1), 3 + np.arange(BITS + 1)] = X[:, -1] = 1
        found = u @ X[0] if residual else 0.0
        for v, M in zip(values, scores, strict=True):
            p = np.exp(X[0] @ M @ X.T)
            found += p / p.sum() @ X @ v
        assert found == pytest.approx(target, rel=1e-9)
    measured = measured_reader(read_trained(module), residual=residual)
    assert middle(measured.tokens) == pytest.approx(math.sqrt(3))
    assert middle(measured.residual or arb(0)) == pytest.approx(np.linalg.norm(u) if residual else 0)
    for one, v, M in zip(measured.norms, values, scores, strict=True):
        assert isinstance(one, ReadNorms)
        assert middle(one.value) == pytest.approx(np.linalg.norm(v))
        assert middle(one.scores) == pytest.approx(np.linalg.norm(M))
    report, norms = trained_report(measured, **SIZES)
    assert all(x.norm <= x.counted <= x.norm * arb(2) ** arb(fmpq(1, 4)) for x in norms)
    assert abs(expected).max() < report.largest


def scaled(module: Reader, **factors: float) -> dict[str, torch.Tensor]:
    """The state dict with some tensors multiplied; query, key and value are the parts of in_proj."""
    state = {name: value.clone() for name, value in module.state_dict().items()}
    for i, part in enumerate(("query", "key", "value")):
        factor = factors.pop(part, 1)
        state["attn.in_proj_weight"][i * WIDTH : (i + 1) * WIDTH] *= factor
        state["attn.in_proj_bias"][i * WIDTH : (i + 1) * WIDTH] *= factor
    for name, factor in factors.items():
        state[name.replace("__", ".")] *= factor
    return state


@pytest.mark.parametrize(
    "factors",
    [
        {"query": 2.0**9, "key": 2.0**-9},
        {"value": 2.0**-20, "attn__out_proj__weight": 2.0**20},
        {"attn__out_proj__weight": 2.0**-9, "attn__out_proj__bias": 2.0**-9, "readout__weight": 2.0**9},
    ],
)
def test_a_norm_that_is_moved_to_another_tensor_changes_nothing(factors: dict[str, float]) -> None:
    module = drawn(2)
    state = scaled(module, **factors)
    bits = torch.randint(0, 2, (20, BITS))
    expected = module(bits)
    before = risk_of(module, residual=False)
    module.load_state_dict(state)
    assert torch.allclose(module(bits), expected)  # the same function, by torch
    assert risk_of(module, residual=False) == pytest.approx(before, rel=1e-9)


def test_a_norm_hidden_in_the_embedding_changes_nothing() -> None:
    module = drawn(3, bias=False)
    before, state = risk_of(module, residual=False), module.state_dict()
    for name in ("emb.weight", "pos"):
        state[name] *= 2.0**-30
    state["attn.in_proj_weight"] *= 2.0**30
    assert risk_of(state, heads=HEADS, residual=False) == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("name", ["pos", "emb.weight", "attn.in_proj_weight", "attn.out_proj.weight", "readout.weight"])
def test_every_tensor_counts(name: str) -> None:
    module = drawn(4)
    before, state = risk_of(module), module.state_dict()
    state[name] *= 4
    after = risk_of(state, heads=HEADS)
    assert after["corrected"] > 2 * before["corrected"]
    assert after["risk"] > before["risk"]


@pytest.mark.parametrize("name", ["attn.in_proj_bias", "attn.out_proj.bias", "readout.bias"])
def test_every_bias_counts(name: str) -> None:
    module = drawn(5)
    before, state = risk_of(module), module.state_dict()
    state[name] *= 2.0**10
    assert risk_of(state, heads=HEADS)["corrected"] > 100 * before["corrected"]


def test_the_bias_of_keys_adds_the_same_to_all_scores() -> None:
    module = drawn(6)
    before, state = risk_of(module), module.state_dict()
    state["attn.in_proj_bias"][WIDTH : 2 * WIDTH] *= 2.0**20
    assert risk_of(state, heads=HEADS) == before


def test_heads_of_zeros_are_paid_for() -> None:
    """A head of zeros is a part of the class, of the least norms, with its share of the failure."""
    module = drawn(7, bias=False)
    state = module.state_dict()
    k = WIDTH // HEADS
    state["attn.in_proj_weight"][2 * WIDTH + k :] = 0
    measured = measured_reader(read_trained(state, heads=HEADS), residual=False)
    report, norms = trained_report(measured, **SIZES)
    assert [x.exponent for x in norms if x.name == "head 2: values as they are read"] == [-240]
    one = trained_report(measured_reader(read_trained(drawn(7, bias=False)), residual=False), **SIZES)[0]
    assert report.risk < one.risk
    state["attn.in_proj_weight"] *= 0
    assert trained_report(measured_reader(read_trained(state, heads=HEADS)), **SIZES)[0].risk > 0


def test_tied_weights_count_as_often_as_they_are_used() -> None:
    module = drawn(8, bias=False)
    tied = torch.nn.Linear(WIDTH, 3, bias=False).double()
    tied.weight = module.emb.weight
    module.readout = tied
    free = {name: value.clone() for name, value in module.state_dict().items()}
    assert "readout.weight" in free
    tied_risk = risk_of(module, logit="1-0")
    assert tied_risk == risk_of(free, heads=HEADS, logit="1-0")
    free["readout.weight"] *= 2
    assert risk_of(free, heads=HEADS, logit="1-0")["corrected"] > tied_risk["corrected"]


def test_more_is_covered_where_the_residual_connection_is_not_known() -> None:
    module = drawn(9)
    without, both = risk_of(module, residual=False), risk_of(module)
    assert both["corrected"] > without["corrected"]
    assert both == risk_of(module, residual=True)


def test_a_fixed_embedding_is_no_weight() -> None:
    module = drawn(10, bias=False)
    measured = measured_reader(read_trained(module), frozen=True)
    tokens = module.emb.weight[:, None] + module.pos
    assert middle(measured.tokens) == pytest.approx(float(tokens.detach().norm(dim=-1).max()))
    w = module.readout.weight[0].detach().numpy()
    assert middle(measured.residual or arb(0)) == pytest.approx(np.linalg.norm(w))
    assert any("fixed before the sample" in line for line in measured.assumed)


def test_heads_alone_need_the_norms_of_tokens_and_of_the_readout() -> None:
    torch.manual_seed(11)
    module = torch.nn.MultiheadAttention(WIDTH, HEADS).double()
    reader = read_trained(module)
    with pytest.raises(ValueError, match="no embedding among the weights: give the largest norm of a token"):
        measured_reader(reader)
    measured = measured_reader(reader, tokens=2)
    with pytest.raises(ValueError, match="no readout among the weights: give its norm"):
        trained_report(measured, **SIZES)
    report, norms = trained_report(measured, readout=3, **SIZES)
    assert len(norms) == 3 * HEADS
    assert isinstance(measured.norms[0], HeadNorms)
    double = trained_report(measured_reader(reader, tokens=4), readout=3, **SIZES)[0]
    assert report.corrected.constant < double.corrected.constant
    with pytest.raises(ValueError, match="no embedding among the weights that could be fixed"):
        measured_reader(reader, tokens=2, frozen=True)
    full = measured_reader(read_trained(drawn(1)))
    with pytest.raises(ValueError, match="have their own readout"):
        trained_report(full, readout=1, **SIZES)
    with pytest.raises(ValueError, match="have their own embedding"):
        measured_reader(read_trained(drawn(1)), tokens=1)


def test_norms_are_rounded_up_with_shares() -> None:
    norms, share = peeled({"a": arb(18).sqrt(), "b": arb(0), "c": arb(8)})
    assert [x.exponent for x in norms] == [9, -240, 12]
    assert share == fmpq(1, 4 * 10**2) * fmpq(1, 4 * 241**2) * fmpq(1, 4 * 13**2)
    assert 1 + 2 * sum(1 / (j + 1) ** 2 for j in range(1, 10**5)) < 4


def test_heads_that_the_bounds_do_not_treat() -> None:
    parts = {name: Affine(np.ones((2, 2))) for name in ("query", "key", "value")}
    reader = read_trained({f"{name}.weight": np.ones((2, 2)) for name in ("query", "key", "value")}, heads=1, scale=1)
    for change in ({"weigh": "hardmax"}, {"null": (np.zeros(2), np.zeros(2))}, {"relative_keys": np.ones((2, 2))}):
        object.__setattr__(reader, "heads", (Head(**parts | change),))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="softmax heads without relative keys and without a null pair"):
            measured_reader(reader, tokens=1)
