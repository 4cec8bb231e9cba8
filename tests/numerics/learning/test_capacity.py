"""Capacity formulas: bounds by hand, monotony, and input that is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.exact.balls import checked_bound
from lemmata.numerics.learning.attention_capacity import (
    HeadNorms,
    head_capacity,
    head_radii,
    multi_head_capacity,
    positional_capacity,
    printed_head_capacity,
    short_head_capacity,
)
from lemmata.numerics.learning.budgets import Capacity, CoverPart, exact_bound, optimal_split
from lemmata.numerics.learning.deep_capacity import (
    LayerNorms,
    amplifications,
    contracted_amplifications,
    deep_capacity,
    printed_short_deep_capacity,
    short_deep_capacity,
)
from lemmata.numerics.learning.linear_capacity import (
    linear_capacity,
    linear_map_capacity,
    perceptron_steps,
    row_radii,
    two_stage_capacity,
)

AT = {"tokens": 2, "samples": 3, "length": 5, "width": 4}
DEEP = {"readout": 1, "tokens": 1, "samples": 3, "length": 5, "width": 4}
BAD = (-1, math.nan, math.inf, "x", None, True, arb("nan"), 1j)


def layer(**changes: object) -> LayerNorms:
    names = ("value_columns", "value", "score_rows", "score", "output_columns", "output")
    return LayerNorms(**dict.fromkeys(names, 1) | changes)


def test_a_split_of_cubes_is_rational() -> None:
    split = optimal_split([8, 27], [1, 1], 5)
    assert split.cost.contains(5)
    assert [part.contains(x) for part, x in zip(split.radii, (2, 3), strict=True)] == [True] * 2
    assert all(share.contains(fmpq(k, 5)) for share, k in zip(split.shares, (2, 3), strict=True))


@pytest.mark.parametrize("bad", [*BAD, 0])
def test_splits_refuse_what_is_not_positive(bad: object) -> None:
    with pytest.raises(ValueError, match="must be a positive finite number, not"):
        optimal_split([1, bad], [1, 1])
    with pytest.raises(ValueError, match=r"The budget must be a positive finite number, not"):
        optimal_split([1], [1], bad)


def test_splits_refuse_sizes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="as many costs as rates, at least one, not 0 and 0"):
        optimal_split([], [])
    with pytest.raises(ValueError, match="not 1 and 2"):
        optimal_split([1], [1, 2])


@pytest.mark.parametrize("bad", BAD)
def test_norms_are_finite_and_not_negative(bad: object) -> None:
    for name in ("value_columns", "value", "scores"):
        with pytest.raises(ValueError, match=r"The bound on .* must be a finite number >= 0, not"):
            HeadNorms(**{"value_columns": 1, "value": 1, "scores": 1} | {name: bad})
    with pytest.raises(ValueError, match="The bound score_rows of a layer must be"):
        layer(score_rows=bad)
    with pytest.raises(ValueError, match="The bound B_X on the norms of tokens"):
        head_capacity(HeadNorms(1, 1, 1), **AT | {"tokens": bad})
    with pytest.raises(ValueError, match="The bound B_w on the read-out"):
        deep_capacity([layer()], **DEEP | {"readout": bad})
    with pytest.raises(ValueError, match="The bound C_2 on the spectral norms"):
        short_deep_capacity(1, spectral=bad, columns=1, **DEEP)
    with pytest.raises(ValueError, match="The norm B"):
        linear_map_capacity(bad, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="The norm B"):
        perceptron_steps(bad, 1, 1)


@pytest.mark.parametrize("eps", [0, -1, math.nan, math.inf, "x"])
def test_radii_are_positive(eps: object) -> None:
    with pytest.raises(ValueError, match=r"The radius eps must be a positive finite number, not"):
        head_capacity(HeadNorms(1, 1, 1), **AT).bound(eps)
    with pytest.raises(ValueError, match="eps must be"):
        head_radii(eps, Fraction(1, 2), tokens=1, value=1)
    with pytest.raises(ValueError, match="eps"):
        linear_capacity(1, 1, eps, 3)
    with pytest.raises(ValueError, match="The error eps must be a positive"):
        linear_map_capacity(1, 1, eps, 3, 2)


def test_shares_of_theorem_4_6_lie_between_0_and_1() -> None:
    with pytest.raises(ValueError, match=r"alpha must lie in \[0, 1\], not 2"):
        head_radii(1, 2, tokens=1, value=1)


@pytest.mark.parametrize("name", ["samples", "length", "width"])
@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "3"])
def test_counts_are_integers_of_at_least_one(name: str, bad: object) -> None:
    with pytest.raises(ValueError, match="must be an integer >= 1, not"):
        head_capacity(HeadNorms(1, 1, 1), **AT | {name: bad})
    with pytest.raises(ValueError, match="must be an integer >= 1, not"):
        deep_capacity([layer()], **DEEP | {name: bad})


def test_other_refusals() -> None:
    with pytest.raises(ValueError, match="at least one head"):
        multi_head_capacity([], **AT)
    with pytest.raises(ValueError, match="Lipschitz constant of the softmax must be a positive"):
        head_capacity(HeadNorms(1, 1, 1), **AT, softmax=0)
    with pytest.raises(ValueError, match="at least one layer, and the order later or earlier"):
        amplifications([])
    with pytest.raises(ValueError, match="not 'middle'"):
        amplifications([layer()], order="middle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one layer"):
        contracted_amplifications([])
    with pytest.raises(ValueError, match="Lipschitz constant of the activation"):
        contracted_amplifications([layer()], lipschitz=-1)
    with pytest.raises(ValueError, match="The printed form is the statement or the proof, not 'x'"):
        printed_head_capacity(HeadNorms(1, 1, 1), **AT, form="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="The constant in the exponent"):
        printed_short_deep_capacity(1, spectral=1, columns=1, **DEEP, exponent=0)
    with pytest.raises(ValueError, match="must be a finite rational number or float >= 0, not '1/0'"):
        exact_bound("The norm", "1/0")


def test_parts_of_a_head_grow_with_the_norm_of_the_tokens_as_they_should() -> None:
    """Scores cost (Q B^2)^2 at rate B: B^6 alone, and values B^2."""
    for norms, factor in ((HeadNorms(0, 1, 1), 64), (HeadNorms(1, 1, 0), 4)):
        once, twice = (head_capacity(norms, **AT | {"tokens": B}).constant for B in (1, 2))
        assert once > 0
        assert (twice / once).overlaps(arb(factor))


@pytest.mark.parametrize(("name", "factor"), [("readout", 4), ("tokens", 4), ("columns", 4), ("spectral", 2**6)])
def test_the_printed_form_for_deep_networks_grows_as_printed(name: str, factor: int) -> None:
    """Depth 3, the exponent 2 in the place of O(L)."""
    arguments = DEEP | {"spectral": 3, "columns": 1}
    once, twice = (
        printed_short_deep_capacity(3, **arguments | {name: scale * arguments[name]}).constant for scale in (1, 2)
    )
    assert once > 0
    assert (twice / once).overlaps(arb(factor))


def test_numbers_of_all_kinds_are_taken() -> None:
    values = [1, 1.0, "1", Fraction(1), fmpq(1), arb(1), np.float64(1), np.float32(1), np.int64(1)]
    assert all(checked_bound("It", value) == 1 for value in values)
    assert all(exact_bound("It", value) == 1 for value in values if not isinstance(value, arb))


def test_parts_without_cost_or_influence_take_no_share() -> None:
    free = Capacity({"a": CoverPart(arb(0), arb(1)), "b": CoverPart(arb(1), arb(0)), "c": CoverPart(arb(8), arb(1))})
    assert free.constant.contains(8)
    assert free.dominant() == "c"
    assert [name for name, radius in free.radii(1).items() if radius is None] == ["a", "b"]
    nothing = Capacity({"a": CoverPart(arb(0), arb(1))})
    assert nothing.constant == 0
    assert nothing.shares() == {"a": 0}
    assert head_capacity(HeadNorms(0, 0, 5), **AT).constant == 0


def test_radii_use_up_the_error_and_shares_add_up_to_one() -> None:
    capacity = head_capacity(HeadNorms(3, 2, 5), **AT, lipschitz="1/2")
    radii = capacity.radii(Fraction(1, 7))
    spent = sum((capacity.parts[name].rate * x for name, x in radii.items() if x is not None), start=arb(0))
    assert spent.contains(fmpq(1, 7))
    assert sum(capacity.shares().values(), start=arb(0)).contains(1)
    assert float(capacity.bound(Fraction(1, 7)).mid()) == pytest.approx(49 * float(capacity.constant.mid()))


def test_no_cover_is_needed_where_zero_is_near_enough() -> None:
    assert linear_capacity(2, 3, 6, 10) == linear_map_capacity(2, 3, 6, 10, 4) == 0
    assert two_stage_capacity(0, 1, 1, 1, 5, 5) == 0
    assert perceptron_steps(2, 3, 2) == 8


def test_row_radii_share_the_error() -> None:
    first, second = row_radii(3, 2, "1/2", 10, 4)
    assert (second + 2 * first).contains(fmpq(1, 2))


def test_parts_are_named_by_their_head() -> None:
    one = HeadNorms(1, 1, 1)
    assert list(multi_head_capacity([one], **AT).parts) == ["scores", "values"]
    assert list(multi_head_capacity([one, one], **AT).parts) == ["scores 1", "values 1", "scores 2", "values 2"]


def test_bounds_grow_with_every_norm() -> None:
    small = head_capacity(HeadNorms(1, 1, 1), **AT).constant
    for norms in (HeadNorms(2, 1, 1), HeadNorms(1, 2, 1), HeadNorms(1, 1, 2)):
        assert small < head_capacity(norms, **AT).constant < short_head_capacity(norms, **AT).constant
    assert small < positional_capacity(HeadNorms(1, 1, 1), positions=1, **AT).constant


def test_the_best_slopes_are_smaller() -> None:
    layers = [layer(score=score) for score in (0, "1/3", 5)]
    plain, sharp = (amplifications(layers, sharp=best) for best in (False, True))
    assert all(a.overlaps(b) or a < b for a, b in zip(sharp, plain, strict=True))
    assert sharp[0] < plain[0]
    assert deep_capacity(layers, **DEEP, sharp=True).constant < deep_capacity(layers, **DEEP).constant
