"""Faults planted in the bound on the error of a head, in the scales that it certifies, and in floats of Q[ln 2]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lemmata.constructions.induction.head import CountingHead, scales_for
from lemmata.numerics.exact.log_two import LogTwo
from tests.constructions.induction import test_head
from tests.numerics.exact import test_log_two
from tests.theorems.planted_faults import rewritten

BOUNDS, SCALES = test_head.TestErrorBound(), test_head.TestScales()
FLOATS = test_log_two.test_floats_are_right_to_the_last_bits_however_much_cancels
FAULTS: list[tuple[Any, str, Callable[..., Any], str, str, Callable[..., None], tuple[Any, ...]]] = [
    *(
        (test_head, "scales_for", scales_for, old, new, SCALES.test_the_fewest_matches_decide, case)
        for old, new, case in (
            ("else 0  # without", "else 1  # without", (60, 0.44, (1, 1))),
            ("fewest = 1 if", "fewest = 0 if", (100, 0.34, None)),
            ("c1 *= 2", "c1 *= 4", (60, 0.44, (1, 1))),
        )
    ),
    *(
        (CountingHead, "error_bound", CountingHead.error_bound, old, new, BOUNDS.test_closed_form_for_trigrams, ())
        for old, new in (
            ("E = 1 - (1 - eps) ** 2", "E = eps"),
            ("(E if m else eps)", "eps"),
            ("(s * (eps + m * E) / 4)", "(s * eps / 4)"),
            ("arb(rows - hits) / hits", "arb(rows) / hits"),
            ("return (s * (eps + m * E) / 4).tanh() + leaked", "return (s * (eps + m * E) / 4).tanh() + leaked * 1.02"),
        )
    ),
    *(
        (LogTwo, "__float__", LogTwo.__float__, old, new, FLOATS, (digits,))
        for old, new, digits in (
            ("rel_accuracy_bits() < 60", "rel_accuracy_bits() < 20", 30),
            ("rel_accuracy_bits() < 60", "rel_accuracy_bits() < 2", 36),
            ("float(ball.mid())", "float(ball.upper())", 30),
            ("self.degree < 0", "self.degree < 1", 10),
            ("float(ball.mid())", "abs(float(ball.mid()))", 10),
            ("float(ball.mid())", "float(ball.mid()) * (1 + 2**-50)", 10),
        )
    ),
]


@pytest.mark.parametrize(("owner", "name", "function", "old", "new", "check", "arguments"), FAULTS)
def test_the_test_sees_the_fault(
    owner: Any,
    name: str,
    function: Any,
    old: str,
    new: str,
    check: Any,
    arguments: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check(*arguments)
    monkeypatch.setattr(owner, name, rewritten(function, old, new))
    with pytest.raises(AssertionError):
        check(*arguments)
