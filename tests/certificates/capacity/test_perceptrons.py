"""Heads with a ReLU perceptron: the class is that of the module, no norm hides, and no bound is below what is found."""

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
from lemmata.numerics.learning.entropy import deviation_bound
from lemmata.numerics.learning.perceptron_capacity import perceptron_norm, perceptron_rademacher
from tests.certificates.capacity.test_trained import BITS, HEADS, SIZES, WIDTH, Reader
from tests.constructions.networks.test_attention_checkpoints import hooked

UNITS = 7


class Network(Reader):
    """The same with a ReLU perceptron in front of the readout, with or without a residual connection around it."""

    def __init__(self, bias: bool = True, residual: bool = True, added: bool = True) -> None:
        super().__init__(bias, residual)
        self.added = added
        self.linear1 = torch.nn.Linear(WIDTH, UNITS, bias=bias)
        self.act = torch.nn.ReLU()
        self.linear2 = torch.nn.Linear(UNITS, WIDTH, bias=bias)

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        y = self.stream(bits)
        u = self.linear2(self.act(self.linear1(y)))
        return self.readout(u + (y if self.added else 0)).squeeze(-1)


def drawn(seed: int, **options: Any) -> Network:
    torch.manual_seed(seed)
    return Network(**options).double()


def paths_of(source: Any, **options: Any) -> float:
    named = {key: options.pop(key) for key in ("heads", "roles", "logit", "activation") if key in options}
    measured = measured_reader(read_trained(source, **named), **options)
    assert measured.paths is not None
    return float(measured.paths.mid())


def plain_paths(module: Network) -> float:
    """W by NumPy from the module's tensors, for tokens (one-hot symbol, one-hot position, 1)."""
    state = {name: value.numpy() for name, value in module.state_dict().items()}
    F = np.concatenate([state["emb.weight"], state["pos"], np.zeros((1, WIDTH))])
    one = np.zeros(len(F))
    one[-1] = 1
    k = WIDTH // HEADS
    parts: list[Any] = [F] if module.residual else []
    for h in range(HEADS):
        rows = slice(2 * WIDTH + h * k, 2 * WIDTH + (h + 1) * k)
        v = F @ state["attn.in_proj_weight"][rows].T + np.outer(one, state["attn.in_proj_bias"][rows])
        parts.append(v @ state["attn.out_proj.weight"][:, h * k : (h + 1) * k].T)
    parts[-HEADS] = parts[-HEADS] + np.outer(one, state["attn.out_proj.bias"])
    w, out = state["readout.weight"][0], state["linear2.weight"]
    hidden = [part @ state["linear1.weight"].T for part in parts]
    hidden[-HEADS] = hidden[-HEADS] + np.outer(one, state["linear1.bias"])
    linear = [part @ w * module.added for part in parts]
    linear[-HEADS] = linear[-HEADS] + one * (state["linear2.bias"] @ w + state["readout.bias"][0])
    a = w @ out
    straight = max(float(np.linalg.norm(g + H @ a / 2)) for g, H in zip(linear, hidden, strict=True))
    sizes = [max(float(np.linalg.norm(H[:, j])) for H in hidden) for j in range(UNITS)]
    return straight + float(np.abs(a) @ sizes)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("added", [False, True])
def test_the_measured_paths_are_those_of_the_module(residual: bool, added: bool) -> None:
    module = drawn(1, residual=residual, added=added)
    reader = read_trained(module)
    assert reader.perceptron is not None
    object.__setattr__(reader.perceptron, "residual", added)
    measured = measured_reader(reader, residual=residual)
    assert measured.paths is not None
    assert float(measured.paths.mid()) == pytest.approx(plain_paths(module))
    report, norms = trained_report(measured, **SIZES)
    assert [one.name for one in norms] == ["paths to the output", "head 1: scores", "head 2: scores"]
    outputs = module(torch.tensor(list(product([0, 1], repeat=BITS))))
    assert float(abs(outputs.detach()).max()) < report.largest
    assert report.largest >= measured.paths * (HEADS + residual) * arb(3).sqrt()
    W, *scores = [one.counted for one in norms]
    at: dict[str, Any] = {"tokens": measured.tokens, "samples": SIZES["samples"], "length": SIZES["length"]}
    rad = perceptron_rademacher(scores, W, residual=residual, kinds=measured.kinds, **at)
    delta = SIZES["delta"] * peeled(measured.named())[1]
    assert abs(report.risk - deviation_bound(rad, SIZES["samples"], delta, form="sharp")) < arb("1e-9") * report.risk
    both = paths_of(module)
    assert both >= float(measured.paths.mid())


def test_both_are_covered_where_nothing_says_whether_something_is_added() -> None:
    module = drawn(2)
    each = [plain_paths(one) for one in (drawn(2, residual=r, added=a) for r, a in product([False, True], repeat=2))]
    assert paths_of(module) == pytest.approx(max(each))
    lines = measured_reader(read_trained(module)).assumed
    assert "a perceptron that is added to the stream or not: both are covered" in lines
    assert "the perceptron is behind the heads, with ReLUs between its two maps" in lines
    assert any("a normalisation that has none of its own" in line for line in lines)


def changed(module: Network, **factors: float) -> dict[str, torch.Tensor]:
    state = {name: value.clone() for name, value in module.state_dict().items()}
    for name, factor in factors.items():
        if name == "value":
            state["attn.in_proj_weight"][2 * WIDTH :] *= factor
            state["attn.in_proj_bias"][2 * WIDTH :] *= factor
        else:
            state[name.replace("__", ".")] *= factor
    return state


@pytest.mark.parametrize(
    "factors",
    [
        {"linear1__weight": 2.0**30, "linear1__bias": 2.0**30, "linear2__weight": 2.0**-30},
        {"linear2__weight": 2.0**-9, "linear2__bias": 2.0**-9, "readout__weight": 2.0**9},
        {"value": 2.0**-20, "attn__out_proj__weight": 2.0**20},
        {
            "value": 2.0**12, "attn__out_proj__bias": 2.0**12, "linear1__weight": 2.0**-12, "linear2__weight": 2.0**12,
            "linear1__bias": 1.0, "readout__weight": 2.0**-12, "linear2__bias": 2.0**12,
        },
    ],
)  # fmt: skip
def test_a_norm_that_is_moved_to_another_tensor_changes_nothing(factors: dict[str, float]) -> None:
    module = drawn(3, residual=False, added=False)
    bits = torch.randint(0, 2, (20, BITS))
    expected, reader = module(bits), read_trained(module)
    assert reader.perceptron is not None
    object.__setattr__(reader.perceptron, "residual", False)
    before = measured_reader(reader, residual=False).paths
    module.load_state_dict(changed(module, **factors))
    assert torch.allclose(module(bits), expected)  # the same function, by torch
    after = read_trained(module)
    assert after.perceptron is not None
    object.__setattr__(after.perceptron, "residual", False)
    found = measured_reader(after, residual=False).paths
    assert before is not None
    assert found is not None
    assert float(found.mid()) == pytest.approx(float(before.mid()), rel=1e-9)


@pytest.mark.parametrize(
    "name",
    ["pos", "emb.weight", "attn.out_proj.weight", "linear1.weight", "linear2.weight", "readout.weight", "linear1.bias",
     "linear2.bias", "readout.bias", "attn.out_proj.bias"],
)  # fmt: skip
def test_every_tensor_counts(name: str) -> None:
    module = drawn(4)
    before, state = paths_of(module), module.state_dict()
    state[name] *= 2.0**30
    assert paths_of(state, heads=HEADS, activation="relu") > 2.0**10 * before


def test_heads_and_units_of_zeros_are_paid_for() -> None:
    module = drawn(5)
    state = {name: torch.zeros_like(value) for name, value in module.state_dict().items()}
    measured = measured_reader(read_trained(state, heads=HEADS, activation="relu"))
    report, norms = trained_report(measured, **SIZES)
    assert {one.exponent for one in norms} == {-240}
    assert report.risk > 0
    state = module.state_dict()
    state["linear2.weight"][:, 3:] = 0
    fewer = {**state, **{n: state[n][:3] for n in ("linear1.weight", "linear1.bias")}}
    fewer["linear2.weight"] = state["linear2.weight"][:, :3]
    told: dict[str, Any] = {"heads": HEADS, "activation": "relu"}
    assert paths_of(state, **told) == pytest.approx(paths_of(fewer, **told), rel=1e-12)


def test_tied_weights_count_as_often_as_they_are_used() -> None:
    module = drawn(6)
    module.linear2.weight = torch.nn.Parameter(module.linear1.weight.T)
    free = {name: value.clone() for name, value in module.state_dict().items()}
    assert paths_of(module) == paths_of(free, heads=HEADS, activation="relu")
    free["linear2.weight"] *= 2
    assert paths_of(free, heads=HEADS, activation="relu") > paths_of(module)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"activation": None}, r"There is an MLP \(linear1.bias, .*do not say its activation: .*--activation relu"),
        ({}, {"activation": "gelu"}, "perceptron is for ReLUs"),
        ({"linear2.weight": torch.ones(WIDTH, UNITS + 1)}, {}, "first map has 7 outputs, the second 8 inputs"),
        ({"linear1.weight": torch.ones(UNITS, WIDTH + 1)}, {}, r"linear1.weight must have the shape \(any, 6\)"),
        ({"linear1.bias": torch.full((UNITS,), math.nan)}, {}, "linear1.bias holds numbers that are not finite"),
        ({"linear2.weight": torch.full((WIDTH, UNITS), math.inf)}, {}, "linear2.weight holds numbers that are not"),
        ({"mlp.0.weight": torch.ones(UNITS, WIDTH)}, {}, "one hidden layer, a map from the stream and one back"),
        ({"linear3.weight": torch.ones(WIDTH, WIDTH)}, {}, r"more tensors: an MLP \(linear3.weight\)"),
        ({"norm2.weight": torch.ones(WIDTH)}, {}, r"more tensors: LayerNorm \(norm2.weight\)"),
        ({"linear2.weight": None}, {}, "one hidden layer, a map from the stream and one back. There are linear1.bias"),
    ],
)  # fmt: skip
def test_perceptrons_without_a_bound_are_refused(change: dict[str, Any], options: Any, message: str) -> None:
    state = {n: v for n, v in {**drawn(7).state_dict(), **change}.items() if v is not None}
    with pytest.raises(ValueError, match=message):
        read_trained(state, **{"heads": HEADS, "activation": "relu", **options})


def test_a_readout_is_needed_and_two_activations_are_not_told_apart() -> None:
    module = drawn(8)
    state = {name: value for name, value in module.state_dict().items() if not name.startswith("readout")}
    with pytest.raises(ValueError, match="Behind a perceptron the readout must be among the weights"):
        measured_reader(read_trained(state, heads=HEADS, activation="relu"))
    module.more = torch.nn.ReLU()
    with pytest.raises(ValueError, match=r"not act \(ReLU\), more \(ReLU\)"):
        read_trained(module)
    module.more = torch.nn.LayerNorm(WIDTH, elementwise_affine=False)
    with pytest.raises(ValueError, match=r"more \(LayerNorm\)"):
        read_trained(module)


def test_the_perceptron_of_a_hooked_transformer_is_added_to_the_stream() -> None:
    rng = np.random.default_rng(9)
    state = hooked(1, rng)
    width = state["embed.W_E"].shape[1]
    state |= {"blocks.0.mlp.W_in": rng.normal(size=(width, 5)), "blocks.0.mlp.W_out": rng.normal(size=(5, width))}
    state |= {"blocks.0.mlp.b_in": rng.normal(size=5), "blocks.0.mlp.b_out": rng.normal(size=width)}
    with pytest.raises(ValueError, match=r"There is an MLP \(W_in, W_out, b_in, b_out\)"):
        read_trained(state, logit="0")
    reader = read_trained(state, logit="0", activation="relu")
    assert reader.perceptron is not None
    assert reader.perceptron.residual is True
    assert np.array_equal(reader.perceptron.inward.weight, state["blocks.0.mlp.W_in"])
    assert np.array_equal(reader.perceptron.outward.offset, state["blocks.0.mlp.b_out"])
    for name in ("W_in", "b_in", "W_out", "b_out"):
        more = {**state, f"blocks.0.mlp.{name}": 2.0**30 * state[f"blocks.0.mlp.{name}"]}
        assert paths_of(more, logit="0", activation="relu") > 2.0**10 * paths_of(state, logit="0", activation="relu")


def test_norms_of_perceptrons_by_hand() -> None:
    """f = x + 3 relu(z) for one number x and one head: g_0 + 3/2 g = (1, 3/2), and 3 for the unit."""
    assert perceptron_norm([[1], [0]], [[[0]], [[1]]], [3]) == fmpq(9, 2)
    assert perceptron_norm([[3, 4]], [np.zeros((2, 0))], []) == 5
    with pytest.raises(ValueError, match=r"as many matrices \(d_i, h\), and h outputs"):
        perceptron_norm([[1]], [[[1]], [[1]]], [3])


@pytest.mark.parametrize("seed", range(2))
def test_no_bound_is_below_what_ascent_finds(seed: int, record_property: Any) -> None:
    """The largest correlation with random signs, over networks with this norm of paths and of scores, by gradients.

    Tokens are sums of two one-hot vectors; M is scaled to norm Q, and the correlation is divided by W, in which it is
    homogeneous. What is found has to be a good part of the best linear reader of these heads, so that it is no trifle.
    """
    rng = np.random.default_rng(seed)
    m, d, h, Q = 60, 3 + BITS + 1, 6, 2.0
    bits = rng.integers(0, 2, (m, BITS))
    X = np.zeros((m, BITS + 1, d))
    for i, row in enumerate(bits):
        X[i, np.arange(BITS + 1), [2, *row]] = X[i, np.arange(BITS + 1), 3 + np.arange(BITS + 1)] = 1
    tokens = torch.tensor(X)
    found, linear = [], []
    for number in range(3):
        torch.manual_seed(100 * seed + number)
        signs = torch.tensor(rng.choice([-1.0, 1.0], m))
        weights = [torch.randn(d, d), torch.randn(2, d) * 0.1, torch.randn(2, d, h), torch.randn(h)]
        weights = [one.double().requires_grad_() for one in weights]
        step, best, zeta = torch.optim.Adam(weights, lr=0.1), 0.0, torch.zeros(())
        for _ in range(80):
            M, g0, g, a = weights
            scores = torch.einsum("mtd,de,me->mt", tokens, Q * M / M.norm(), tokens[:, 0])
            zeta = torch.stack([tokens[:, 0], torch.einsum("mt,mtd->md", scores.softmax(1), tokens)])
            f = torch.einsum("pmd,pd->m", zeta, g0) + torch.einsum("pmd,pdh->mh", zeta, g).relu() @ a
            W = (g0 + g @ a / 2).norm(dim=1).max() + (a.abs() * g.norm(dim=1).max(dim=0).values).sum()
            value = (signs @ f) / m / W
            best = max(best, float(value.detach()))
            step.zero_grad()
            (-value).backward()
            step.step()
        found.append(best)
        linear.append(float(torch.einsum("m,pmd->pd", signs, zeta.detach()).norm(dim=1).sum() / m))
    bound = perceptron_rademacher([fmpq(2)], 1, tokens=arb(2).sqrt(), samples=m, length=BITS + 1)
    record_property("found", float(np.mean(found) / float(bound.mid())))
    assert np.mean(found) > 0.3 * np.mean(linear)
    assert np.mean(found) <= bound
    for W in (fmpq(1, 1000), 1000):
        other = perceptron_rademacher([2], W, tokens=arb(2).sqrt(), samples=m, length=BITS + 1)
        assert abs(other / W - bound) < arb("1e-10")
    assert perceptron_rademacher([2], 0, tokens=1, samples=m, length=3) == 0
    less = perceptron_rademacher([2], 1, tokens=1, samples=10**6, length=3, residual=False)
    assert less < perceptron_rademacher([2], 1, tokens=1, samples=10**6, length=3)


def test_the_whole_report_is_above_what_a_network_does() -> None:
    """|risk - empirical risk| is at least that of the sign class {f, -f}: the mean size of f over the root of m."""
    for factor in (2.0**-6, 1.0, 2.0**10):
        module = drawn(10)
        with torch.no_grad():
            module.linear2.weight *= factor
        outputs = module(torch.tensor(list(product([0, 1], repeat=BITS)))).detach().numpy()
        report = trained_report(measured_reader(read_trained(module)), **{**SIZES, "loss_bound": 10**9})[0]
        assert float(report.risk.lower()) > np.sqrt(np.mean(outputs**2) / SIZES["samples"])
