"""Documents of gaps: those that are kept are what `find_gap` makes, and edited ones are refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from lemmata.certificates.kernel import ViolatedError
from lemmata.certificates.operations.gaps import checked_gap, find_gap, known_gaps
from lemmata.certificates.operations.pseudo_moments import PseudoMomentError
from lemmata.numerics.operations.operation import Operation

SMALL = known_gaps()[0]


def test_a_gap_is_found_again() -> None:
    kept = checked_gap(SMALL)
    again = checked_gap(find_gap(kept.table))
    assert again.ratio == pytest.approx(kept.ratio, rel=1e-2)
    assert kept.ratio > 4e-5


def test_a_table_without_a_gap_gives_no_document_of_one() -> None:
    with pytest.raises(ValueError, match="there is no gap"):
        checked_gap(find_gap(Operation.of([[0, 1], [1, 0]])))


def _edited(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    document = copy.deepcopy(SMALL)
    change(document)
    return document


def _lower_t(document: dict[str, Any]) -> None:
    document["proof"]["t"] = str(Fraction(document["proof"]["t"]) * Fraction(999_999, 1_000_000))


def _other_moment(document: dict[str, Any]) -> None:
    document["pseudo_moments"][5][0] += 1


def _other_label(document: dict[str, Any]) -> None:
    document["table"]["values"][0][1] = 1


def _other_multiplier(document: dict[str, Any]) -> None:
    document["multipliers"][0] += 2**20


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (_lower_t, (ViolatedError,)),
        (_other_moment, (PseudoMomentError,)),
        (_other_label, (ViolatedError, PseudoMomentError)),
        (_other_multiplier, (ViolatedError,)),
    ],
)
def test_edited_documents_are_refused(
    change: Callable[[dict[str, Any]], None], error: tuple[type[Exception], ...]
) -> None:
    with pytest.raises(error):
        checked_gap(_edited(change))
