"""Sample sizes of sparse functions: what is refused, and numbers that are known otherwise."""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.numerics.learning.sparse_sample_sizes import (
    ReaderClass,
    arc_count,
    ball_log_cover,
    circle_scores,
    norm_sample_size,
    occam_sample_size,
    part_count,
    sparse_sample_size,
    word_count,
)

RISK: dict[str, Any] = {"error": fmpq(1, 10), "delta": fmpq(1, 10)}


def test_the_scores_of_two_of_four_positions() -> None:
    """u_1 = 1 and c_2 = 1 on a square, so that K = S + log 2."""
    found = circle_scores(2, 4)
    assert float(found.gap.mid()) == pytest.approx(math.log(96))
    assert float(found.factor.mid()) == pytest.approx(math.log(96) + math.log(2))
    assert (found.slope, found.margin) == (3, fmpq(15, 16))
    ones = circle_scores(2, 4, symmetric=True)
    assert float(ones.factor.mid()) == pytest.approx(math.log(96))
    assert ones.slope == 2


def test_a_division_is_the_best_of_all_of_its_kind() -> None:
    for by_position in (True, False):
        readers = ReaderClass(20, 2, fmpq(3), fmpq(9, 10), by_position)
        found = sum(readers.divided().values(), start=arb(0))
        tried = [sum(readers.log_covers(*one).values(), start=arb(0)) for one in ((1, 1), (31, 15), (16, 8), (9, 12))]
        assert all(found <= one + arb("1e-9") for one in tried)
        assert set(readers.divided()) == {"scores", "values", "perceptron"}
    assert ball_log_cover(0, 5) == 0
    assert (word_count(0, 1), word_count(1, 3), part_count(5, 0), arc_count(4, 0)) == (1, 3, 1, 2)


def test_sample_sizes_fall_with_the_risk_that_is_allowed() -> None:
    sizes = [occam_sample_size(10, fmpq(1, k), fmpq(1, 10)) for k in (2, 10, 100)]
    assert sizes == sorted(sizes)
    assert occam_sample_size(0, fmpq(99, 100), fmpq(99, 100)) == 1
    tiny = occam_sample_size(10, fmpq(1, 10**60), fmpq(1, 10)) / 10**60
    assert tiny == pytest.approx(10 + math.log(10))
    less = sparse_sample_size(2, 20, **RISK)
    assert sparse_sample_size(2, 20, symmetric=True, **RISK).samples < less.samples
    assert sparse_sample_size(2, 20, error=fmpq(1, 10), delta=fmpq(1, 1000)).samples > less.samples
    assert norm_sample_size(2, 20, **RISK) > 1000 * less.samples


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: circle_scores(0, 4), "number s of positions that are read must be an integer >= 1"),
        (lambda: circle_scores(3, 3), "length T must be an integer >= 4, not 3"),
        (lambda: sparse_sample_size(2, 5, error=1, delta=fmpq(1, 2)), r"The error must lie in \(0, 1\), not 1"),
        (lambda: sparse_sample_size(2, 5, error=fmpq(1, 2), delta=0), "delta"),
        (lambda: norm_sample_size(2, 5, error=2, delta=fmpq(1, 2)), r"The error must lie in \(0, 1\), not 2"),
        (lambda: norm_sample_size(2, 5, error=fmpq(1, 10**60), delta=fmpq(1, 2)), r"takes more than 2\^400 strings"),
        (lambda: occam_sample_size(-1, fmpq(1, 2), fmpq(1, 2)), "log-size of the cover"),
        (lambda: occam_sample_size(math.nan, fmpq(1, 2), fmpq(1, 2)), "log-size of the cover"),
        (lambda: ball_log_cover(-1, 2), "dimension must be an integer >= 0"),
        (lambda: ball_log_cover(2, math.inf), "quotient of the radii"),
        (lambda: part_count(-1, 1), "number of hyperplanes"),
        (lambda: arc_count(0, 1), "length T"),
        (lambda: word_count(3, 0), "number of zeros"),
        (lambda: ReaderClass(0, 1, fmpq(1), fmpq(1)), "length T must be an integer >= 1"),
        (lambda: ReaderClass(1, 0, fmpq(1), fmpq(1)), "harmonics must be an integer >= 1"),
        (lambda: ReaderClass(1, 1, fmpq(0), fmpq(1)), "slope Lambda must be positive"),
        (lambda: ReaderClass(1, 1, fmpq(1), fmpq(0)), "margin gamma must be positive"),
        (lambda: ReaderClass(1, 1, fmpq(1), fmpq(1)).log_covers(32, 1), "Nothing is left"),
        (lambda: ReaderClass(1, 1, fmpq(1), fmpq(1)).log_covers(1, 16), "Nothing is left"),
        (lambda: ReaderClass(1, 1, fmpq(1), fmpq(1)).log_covers(0, 1), "The part must be an integer >= 1"),
    ],
)
def test_numbers_out_of_range_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
