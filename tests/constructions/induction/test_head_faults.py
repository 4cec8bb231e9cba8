"""Faults planted in the bound on the error of a head, in the scales that it certifies, and in floats of Q[ln 2]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flint import arb, fmpq

from lemmata.constructions.induction.head import CountingHead, scales_for
from lemmata.numerics.exact.log_two import LogTwo
from tests.constructions.induction import test_head
from tests.numerics.exact import test_log_two
from tests.theorems.planted_faults import changed, given_otherwise, scaled

BOUNDS, SCALES = test_head.TestErrorBound(), test_head.TestScales()
FLOATS = test_log_two.test_floats_are_right_to_the_last_bits_however_much_cancels
BOUND, BALL, FLOAT = CountingHead.error_bound, LogTwo.ball, LogTwo.__float__


def scales_for_more_matches(more: int) -> Callable[..., Any]:
    """The scales that are certified for another number of matches than the fewest."""

    def wrong(*given: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CountingHead, "error_bound", lambda head, p, matches: BOUND(head, p, matches + more))
            return scales_for(*given)

    return wrong


Fault = tuple[Any, str, Callable[..., Any], Callable[..., None], tuple[Any, ...]]
FAULTS: dict[str, Fault] = {
    **{
        name: (test_head, "scales_for", wrong, SCALES.test_the_fewest_matches_decide, case)
        for name, wrong, case in (
            ("one match more with a prior", scales_for_more_matches(1), (60, 0.44, (1, 1))),
            ("no match without a prior", scales_for_more_matches(-1), (100, 0.34, None)),
            ("twice the first scale", changed(scales_for, lambda found: (2 * found[0], found[1])), (60, 0.44, (1, 1))),
            ("half the first scale", changed(scales_for, lambda found: (found[0] // 2, found[1])), (60, 0.44, (1, 1))),
        )
    },
    **{
        name: (CountingHead, "error_bound", wrong, BOUNDS.test_closed_form_for_trigrams, ())
        for name, wrong in (
            ("a bound 2 % larger", scaled(BOUND, arb(51) / 50)),
            ("a position further", given_otherwise(BOUND, lambda head, p, matches: (head, p + 1, matches))),
            ("a match more", given_otherwise(BOUND, lambda head, p, matches: (head, p, matches + 1))),
            ("the bound for bigrams", given_otherwise(BOUND, lambda head, *rest: (replace(head, n=2), *rest))),
            (
                "the scales exchanged",
                given_otherwise(
                    BOUND,
                    lambda head, *rest: (
                        replace(head, previous_scale=head.match_scale, match_scale=head.previous_scale),
                        *rest,
                    ),
                ),
            ),
            (
                "a match of the prior",
                given_otherwise(BOUND, lambda head, *rest: (replace(head, pseudo_counts=(1, 0)), *rest)),
            ),
        )
    },
    **{
        name: (LogTwo, attribute, wrong, FLOATS, (digits,))
        for name, attribute, wrong, digits in (
            ("always 128 bits", "__float__", lambda x: float(BALL(x, 128).mid()), 36),
            ("always 64 bits", "__float__", lambda x: float(BALL(x, 64).mid()), 10),
            ("the upper end", "__float__", lambda x: float(BALL(x, 128).upper()), 30),
            ("rational numbers are 0", "__float__", lambda x: 0.0 if x.degree < 1 else FLOAT(x), 10),
            ("no sign", "__float__", changed(FLOAT, abs), 10),
            ("four units in the last place", "__float__", scaled(FLOAT, 1 + 2**-50), 10),
            ("balls 2 % larger", "ball", lambda x, bits: BALL(x * fmpq(51, 50), bits), 10),
            ("another number", "ball", lambda _, bits: BALL(LogTwo(0, 1), bits), 10),
        )
    },
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_test_sees_the_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, wrong, check, arguments = FAULTS[name]
    check(*arguments)
    monkeypatch.setattr(owner, attribute, wrong)
    with pytest.raises(AssertionError):
        check(*arguments)
