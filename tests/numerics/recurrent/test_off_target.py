"""Odd extrapolation and the bound of lemma 5.2: an exact case, and what is refused."""

from __future__ import annotations

import pytest
from flint import arb, fmpq

from lemmata.numerics.recurrent.off_target import least_supremum_off_target, odd_extrapolation


def test_odd_polynomials_are_extrapolated() -> None:
    nodes = [fmpq(1, 3), fmpq(1, 2)]
    weights = odd_extrapolation(2, nodes)
    for power in (1, 3):
        assert sum((w * arb(v) ** power for w, v in zip(weights, nodes, strict=True)), arb(0)).overlaps(arb(2) ** power)


def test_errors_make_the_bound_smaller() -> None:
    without, with_errors = (least_supremum_off_target(1, ["1/4"], "1/2", e) for e in (0, "1/100"))
    assert without.overlaps(3 * arb.pi() / 2)
    assert 0 < with_errors < without


@pytest.mark.parametrize(
    ("nodes", "message"), [([], "certainly positive"), ([0], "certainly positive"), (["1/2", "1/2"], "told apart")]
)
def test_nodes_that_do_not_fit_are_refused(nodes: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        odd_extrapolation(1, nodes)


def test_nodes_lie_below_the_point() -> None:
    with pytest.raises(ValueError, match="below the point"):
        least_supremum_off_target(1, [2], 1, 0)
