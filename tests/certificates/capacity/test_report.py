"""Reports of capacity: the classes of scalars, heads from state dicts, and input that is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.certificates.capacity.report import deep_report, head_report, heads_of_state, measured_heads
from lemmata.certificates.capacity.shattering import SignFamily
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.torch import to_torch
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.attention_capacity import HeadNorms, multi_head_capacity, scalar_head_capacity
from lemmata.numerics.learning.deep_capacity import LayerNorms, deep_capacity
from lemmata.numerics.learning.entropy import generalisation_bound
from lemmata.numerics.learning.linear_capacity import sign_packing

AT: dict[str, Any] = {"tokens": 2, "samples": 10**6, "length": 7, "width": 4}


def middle(ball: arb) -> float:
    return float(ball.mid())


def test_scalars_have_the_parts_of_the_heads_and_one_for_the_readout() -> None:
    with precision(128):
        heads = [HeadNorms(3, 2, 1), HeadNorms(1, 1, 5)]
        found = scalar_head_capacity(heads, readout="3/2", **AT, lipschitz=2)
        inner = multi_head_capacity(heads, **AT, lipschitz=2)
        for name, part in inner.parts.items():
            assert abs(found.parts[name].base ** 3 / (part.base**3 * fmpq(9, 4)) - 1) < arb("1e-30")
        largest = 2 * 2 * (2 + 1) * fmpq(3, 2)
        expected = arb(largest**2) * arb(2 * 10**6 + 1).log()
        assert abs(found.parts["read-out"].base ** 3 / expected - 1) < arb("1e-30")
        doubled = scalar_head_capacity(heads, readout=3, **AT, lipschitz=2)
        assert abs(doubled.bound(2) / found.bound(1) - 1) < arb("1e-30")


def test_scalars_are_above_families_of_signs() -> None:
    for k in range(1, 12):
        m = 4**k
        family = SignFamily(m, fmpq(4))
        norms = HeadNorms(1, 1, arb(family.squared_key_norm).sqrt())
        bound = scalar_head_capacity([norms], readout=2, tokens=1, samples=m, length=3, width=m + 2).bound(1)
        assert m * math.log(2) <= bound  # outputs +-2 of more than 1
        linear = scalar_head_capacity([HeadNorms(1, 1, 0)], readout=2**k, tokens=1, samples=m, length=1, width=m)
        assert sign_packing(2**k, 1, fmpq(1, 2)) * math.log(2) <= linear.bound(fmpq(1, 2))


def test_the_report_of_heads_is_the_bound_of_lemma_a5() -> None:
    norms = [HeadNorms(3, 2, 1), HeadNorms(1, 1, 5)]
    report = head_report(norms, **AT, delta="1/100", readout=3, lipschitz="1/2", loss_lipschitz=2, loss_bound=5)
    assert report.largest == fmpq(1, 2) * 2 * 3 * 3
    capacity = scalar_head_capacity(norms, readout=3, **AT, lipschitz="1/2")
    expected = generalisation_bound(
        capacity.constant, report.largest, 10**6, "1/100", form="sharp", lipschitz=2, loss_bound=5
    )
    assert middle(report.risk) == pytest.approx(middle(expected))
    found = report.as_dict()
    assert found["dominant"] == max(found["shares"], key=lambda name: found["shares"][name])
    assert sum(found["shares"].values()) == pytest.approx(1)
    assert found["vacuous"] == (found["risk"] >= 5)


def test_the_printed_bound_is_refused_where_it_would_be_negative() -> None:
    small = head_report([HeadNorms(30, 30, 30)], **AT | {"samples": 10}, delta="0.01")
    assert small.printed_risk is None
    assert "C <= A^2 m" in small.refusal
    assert small.vacuous
    large = head_report([HeadNorms(1, 1, 1)], **AT | {"samples": 10**12}, delta="0.01")
    assert large.printed_risk is not None
    assert not large.vacuous
    nothing = head_report([HeadNorms(0, 0, 5)], **AT, delta="0.01")
    assert nothing.corrected.constant == 0
    assert not nothing.vacuous


def test_the_report_of_layers() -> None:
    layer = LayerNorms(1, 1, 1, 1, "1/2", "1/4")
    report = deep_report([layer, layer], **AT, delta="0.01", readout=3, lipschitz=2)
    assert report.largest == fmpq(3, 2)
    assert set(report.corrected.shares()) == set(report.printed.shares())


def test_the_report_of_layers_has_the_least_errors_behind_them() -> None:
    ones = [LayerNorms(*[1] * 6)] * 4
    found = deep_report(ones, **AT, delta="0.01", readout=3, lipschitz=1).corrected
    plain, sharp, least = (
        deep_capacity(ones, **AT, readout=3, **more) for more in ({}, {"sharp": True}, {"contracted": True})
    )
    assert found.constant.overlaps(least.constant)
    assert least.constant < sharp.constant < plain.constant
    assert found.parts["layer 1: output"].rate < 3 * fmpq(551, 100)


def torch_heads(heads: int, bias: bool) -> tuple[torch.nn.MultiheadAttention, list[Head]]:
    torch.manual_seed(heads)
    module = torch.nn.MultiheadAttention(6, heads, bias=bias, batch_first=True).double()
    if bias:
        torch.nn.init.normal_(module.in_proj_bias)
        torch.nn.init.normal_(module.out_proj.bias)
    return module, heads_of_state(module.state_dict(), heads=heads)


@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("bias", [False, True])
def test_heads_of_torch_are_the_module(heads: int, bias: bool) -> None:
    module, found = torch_heads(heads, bias)
    X = np.random.default_rng(0).normal(size=(5, 6))
    tensor = torch.tensor(X[None])
    expected = module(tensor, tensor, tensor)[0][0].detach().numpy()
    assert np.allclose(AttentionLayer(tuple(found), "sum")(X), expected)
    measured = measured_heads(found)
    assert measured.biased == bias
    assert measured.width == 6
    assert middle(measured.token_bound(2)) == pytest.approx(math.sqrt(5) if bias else 2)


def test_our_modules_are_read_too() -> None:
    rng = np.random.default_rng(1)
    parts = [Affine(rng.normal(size=(5, 2))) for _ in range(2)]
    head = Head(parts[0], parts[1], Affine(rng.normal(size=(5, 3))), sharpness=3, causal=False)
    state = {f"model.1.{name}": value for name, value in to_torch(head).state_dict().items()}
    [found] = heads_of_state(state, scale=3)
    X = rng.normal(size=(4, 5))
    assert np.allclose(found(X), head(X))
    layer = AttentionLayer((head, head), "sum")
    state = dict(to_torch(layer).state_dict())
    pair = heads_of_state(state, heads=2, scale=3)
    assert np.allclose(AttentionLayer(tuple(pair), "sum")(X), layer(X))


def test_biases_are_weights_of_a_constant_coordinate() -> None:
    rng = np.random.default_rng(2)

    def drawn(*shape: int) -> Affine:
        return Affine(rng.normal(size=shape), rng.normal(size=shape[1]))

    head = Head(drawn(4, 2), drawn(4, 2), drawn(4, 3), sharpness=2, output=drawn(3, 5), causal=False)
    measured = measured_heads([head])
    X = rng.normal(size=(6, 4))
    Z = np.concatenate([X, np.ones((6, 1))], axis=1)
    query, key, value = (np.concatenate([p.weight, p.bias[None]]) for p in (head.query, head.key, head.value))
    assert head.output is not None
    value = value @ head.output.weight
    value[-1] += head.output.bias
    scores = 2 * query @ key.T
    weights = np.exp(Z @ scores @ Z.T)
    assert np.allclose(weights / weights.sum(axis=1, keepdims=True) @ Z @ value, head(X))
    assert middle(measured.norms[0].scores) == pytest.approx(np.linalg.norm(scores))
    assert middle(measured.norms[0].value_columns) == pytest.approx(np.linalg.norm(value, axis=0).sum())


def test_rounded_norms_are_powers_of_two_with_shares() -> None:
    head = Head(Affine(np.eye(2) * 3), Affine(np.eye(2)), Affine(np.zeros((2, 2))), causal=False)
    [norms], share = measured_heads([head]).rounded()
    assert norms.scores == 8  # sqrt(18)
    assert norms.value == arb(2) ** -60
    assert share == fmpq(1, 4 * 16) * fmpq(1, 4 * 61**2) ** 2
    assert 1 + 2 * sum(1 / (j + 1) ** 2 for j in range(1, 10**5)) < 4


GOOD = torch.nn.MultiheadAttention(4, 2).state_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"in_proj_weight": torch.ones(11, 4)}, r"in_proj_weight must have the shape \(12, 4\), not \(11, 4\)"),
        ({"in_proj_weight": torch.ones(12)}, r"must have the shape \(any, any\), not \(12,\)"),
        ({"out_proj.weight": torch.ones(4, 3)}, r"out_proj.weight must have the shape \(4, 4\), not \(4, 3\)"),
        ({"in_proj_bias": torch.ones(4)}, r"in_proj_bias must have the shape \(12,\)"),
        ({"in_proj_bias": torch.full((12,), math.nan)}, "in_proj_bias holds numbers that are not finite"),
        ({"in_proj_bias": "text"}, "The entry in_proj_bias of the state dict is no tensor of real numbers"),
        ({"b.query.weight": torch.ones(2, 2)}, r"the prefixes found are \['', 'b.'\]"),
    ],
)
def test_state_dicts_of_odd_shapes_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        heads_of_state({**GOOD, **change}, heads=2)


def test_state_dicts_without_tensors_are_refused() -> None:
    with pytest.raises(ValueError, match="the prefixes found are none, among the tensors none"):
        heads_of_state({})
    with pytest.raises(ValueError, match=r"no tensor out_proj.weight; it has in_proj_bias, in_proj_weight"):
        heads_of_state({name: value for name, value in GOOD.items() if name.startswith("in")})
    with pytest.raises(ValueError, match=r"no tensor key.weight; it has query.weight"):
        heads_of_state({"query.weight": np.ones((2, 2))})
    with pytest.raises(ValueError, match=r"behind the prefix 'x', but the prefixes found are \[''\]"):
        heads_of_state(GOOD, prefix="x")
    with pytest.raises(ValueError, match="3 heads do not divide the width 4"):
        heads_of_state(GOOD, heads=3)
    ours = {name: np.ones((3, 4)) for name in ("query.weight", "key.weight", "value.weight")}
    with pytest.raises(ValueError, match="3 heads do not divide the 4 columns of the keys"):
        heads_of_state(ours, heads=3)
    with pytest.raises(ValueError, match=r"value.weight must have the shape \(3, any\), not \(2, 4\)"):
        heads_of_state({**ours, "value.weight": np.ones((2, 4))})


def test_heads_that_the_bounds_do_not_treat() -> None:
    parts = {name: Affine(np.ones((2, 2))) for name in ("query", "key", "value")}
    for change in ({"weigh": "hardmax"}, {"null": (np.zeros(2), np.zeros(2))}, {"relative_keys": np.ones((2, 2))}):
        with pytest.raises(ValueError, match="softmax heads without relative keys and without a null pair"):
            measured_heads([Head(**parts | change)])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one head"):
        measured_heads([])


@pytest.mark.parametrize("bad", [0, 1, -1, 2, math.nan, math.inf])
def test_delta_lies_between_0_and_1(bad: float) -> None:
    with pytest.raises(ValueError, match=r"delta|float|finite"):
        head_report([HeadNorms(1, 1, 1)], **AT, delta=bad)
    with pytest.raises(ValueError, match="samples must be an integer >= 1"):
        head_report([HeadNorms(1, 1, 1)], **AT | {"samples": 0}, delta="0.1")
