"""Reports of capacity: the classes of scalars, and input that is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.certificates.capacity.report import deep_report, head_report
from lemmata.certificates.capacity.shattering import SignFamily
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
    ones = dict.fromkeys(("readout", "lipschitz", "loss_lipschitz", "loss_bound"), 1)
    plain = head_report(norms, **AT, delta="1/100")
    assert plain.as_dict() == head_report(norms, **AT, delta="1/100", **ones).as_dict()
    found = report.as_dict()
    assert found["dominant"] == max(found["shares"], key=lambda name: found["shares"][name])
    assert sum(found["shares"].values()) == pytest.approx(1)
    assert found["vacuous"] == (found["risk"] >= 5)


def test_corrected_bounds_in_floats_are_not_below_them() -> None:
    for samples in (10**8, 10**9, 3 * 10**9 + 7):
        report = head_report([HeadNorms(3, 2, 1)], tokens=1, samples=samples, length=50, width=8, delta="0.01")
        found = report.as_dict()
        for name, ball in (("corrected", report.corrected.constant), ("largest_value", report.largest)):
            assert ball <= arb(found[name])
        assert report.risk <= arb(found["risk"]) <= report.risk.upper() * (1 + arb(2) ** -50)


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


@pytest.mark.parametrize("bad", [0, 1, -1, 2, math.nan, math.inf])
def test_delta_lies_between_0_and_1(bad: float) -> None:
    with pytest.raises(ValueError, match=r"delta|float|finite"):
        head_report([HeadNorms(1, 1, 1)], **AT, delta=bad)
    with pytest.raises(ValueError, match="samples must be an integer >= 1"):
        head_report([HeadNorms(1, 1, 1)], **AT | {"samples": 0}, delta="0.1")
