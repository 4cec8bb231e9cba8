"""Records of counterexamples: what they refuse, what they keep, and when a run says that they differ."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq, fmpz

from lemmata.theorems.ledger import Chapter, Statement, load_ledger
from lemmata.theorems.records import Record, RecordError, as_text, decided, load_records, numerals, plain, record_errors

ENTRY = Statement(
    "knots:lemma-2", "lemma", "T", "C.", "W", "repaired", "cases",
    erratum="Theorem 7.9 and section 6.3 say 0.862 at n = 1,289; see knots:lemma-1.5.", printed="x >= 4.25",
    corrected="x >= 4e-10, and 12 more", fails="claim", sought="S.", defence="D.", attack="A.",
)  # fmt: skip


def recorded() -> Record:
    return Record("knots/test_x.py::test_y", {ENTRY.id: ENTRY}, (ENTRY.id,))


@pytest.mark.parametrize(
    ("left", "relation", "right", "holds"),
    [
        (1, "<=", 1, True),
        (fmpq(1, 3), "<", 0.3333, False),
        (fmpq(1, 3), "=", Fraction(1, 3), True),
        (fmpz(7), ">", np.float64(6.5), True),
        (np.bool_(True), "=", True, True),
        (arb(2).sqrt(), "<", fmpq(3, 2), True),
        (arb(2).sqrt(), ">=", 1.5, False),
        (math.inf, ">", 10**400, True),
    ],
)
def test_relations_are_decided(left: Any, relation: Any, right: Any, holds: bool) -> None:
    assert decided(left, relation, right) is holds


@pytest.mark.parametrize("sides", [(math.nan, 1), ("1", 1), (np.zeros(2), 1), (1j, 1), (arb(1, 0.5), arb(1, 0.5))])
def test_what_is_no_decided_number_is_refused(sides: tuple[Any, Any]) -> None:
    with pytest.raises(RecordError, match=r"no real number|not decided"):
        decided(sides[0], "<", sides[1])


def test_a_hypothesis_that_is_left_and_a_conclusion_that_holds_are_refused() -> None:
    record = recorded()
    with pytest.raises(RecordError, match="leaves the hypothesis"):
        record.hypothesis("1 <= q", 1, "<=", 0)
    with pytest.raises(RecordError, match="holds"):
        record.violated("q <= 1", 0, "<=", 1)
    with pytest.raises(RecordError, match="no such evidence"):
        record.violated("q <= 1", 2, "<=", 1, of="knots:lemma-3")
    with pytest.raises(RecordError, match="no relation"):
        record.hypothesis("q != 1", 2, "!=", 1)  # pyright: ignore[reportArgumentType]
    assert not record.facts


def test_a_record_is_whole() -> None:
    record = recorded()
    record.violated("q <= 1", 2, "<=", 1)
    with pytest.raises(RecordError, match="no hypotheses"):
        record.finish()
    record.no_hypotheses("It speaks of every q.")
    record.finish()
    alone = recorded()
    alone.hypothesis("1 <= q", 1, "<=", 2)
    with pytest.raises(RecordError, match="no violated conclusion"):
        alone.finish()


@pytest.mark.parametrize(
    ("numeral", "value", "rounded"),
    [
        ("0.862", 0.86249, "nearest"), ("0.862", 0.8615, "nearest"), ("4e-10", 3.6e-10, "nearest"),
        ("1,289", 1289, "nearest"), ("1,289", Fraction(2577, 2), "up"), ("0.862", 0.8629, "down"),
        ("0.862", arb("0.8618", "1e-5"), "nearest"),
    ],
)  # fmt: skip
def test_numerals_are_what_is_computed(numeral: str, value: Any, rounded: Any) -> None:
    record = recorded()
    record.number(numeral, value, rounded=rounded)
    assert record.facts[ENTRY.id]["numbers"] == [[numeral, plain(value)]]


@pytest.mark.parametrize(
    ("numeral", "value", "rounded"),
    [
        ("0.862", 0.8626, "nearest"), ("0.862", 0.8614, "nearest"), ("4e-10", 4.6e-10, "nearest"),
        ("1,289", 1290, "up"), ("1,289", 1288, "down"), ("0.862", math.inf, "nearest"), ("0.862", -0.862, "nearest"),
        ("0.862", arb("0.8618", "1e-3"), "nearest"), ("4.25", 4.25, "nearest"), ("7.9", 7.9, "nearest"),
        ("12", 12, "nearest"),
    ],
)  # fmt: skip
def test_other_numbers_and_numerals_that_do_not_stand_there_are_refused(numeral: str, value: Any, rounded: Any) -> None:
    with pytest.raises(RecordError):
        recorded().number(numeral, value, rounded=rounded)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("at n = 1,289 it is .378, not 1e-3 (figure 8.3, Lemmas C.11 and 6.4)", ("1,289", ".378", "1e-3")),
        ("$0.5^k$ of 100,100 in qstr:theorem-1.2, A.20b and step 3", ("0.5", "100,100")),
        ("x_100 and 12 and n^0.5", ()),
        ("0.2, 0.25. And 400", ("0.2", "0.25", "400")),
    ],
)
def test_numerals_of_a_text(text: str, found: tuple[str, ...]) -> None:
    assert numerals(text) == found


def chapter_in(folder: Path, made: dict[str, list[dict[str, Any]]]) -> Chapter:
    (folder / "counterexamples.json").write_text(as_text(made, [ENTRY.id]), encoding="utf-8")
    load_records.cache_clear()
    return Chapter("knots", "T", "D", (ENTRY,), folder)


def test_a_run_compares_what_is_committed(tmp_path: Path) -> None:
    record = recorded()
    record.hypothesis("1 <= q", 1, "<=", fmpq(4, 3))
    record.violated("error <= eps", 0.75, "<=", 0.5)
    for numeral, value in (("0.862", 0.8619), ("1,289", 1289), ("4e-10", 4e-10)):
        record.number(numeral, value)
    record.finish()
    made = {ENTRY.id: [{"test": record.test, **record.facts[ENTRY.id]}]}
    chapter = chapter_in(tmp_path, made)
    assert load_records(tmp_path) == json.loads(json.dumps(made))
    whole = {"ran": [record.test], "whole": True, "refuting": {ENTRY.id: [record.test]}}
    assert not list(record_errors(chapter, made, **whole))
    assert not list(record_errors(chapter, {}, [], whole=False, refuting={}))
    [lost, missing, free] = record_errors(chapter, {}, [], whole=True, refuting={})
    assert "did not pass here" in lost
    assert "has a record" in missing
    assert "no code computes 0.862, 1,289, 4e-10" in free
    for kind, place, fact in (
        ("violated", 0, ["error <= eps", 0.751, "<=", 0.5]),
        ("hypotheses", 0, ["1 <= q", 1, "<=", "5/3"]),
        ("numbers", 1, ["1,289", 1290]),
    ):
        other = json.loads(json.dumps(made))
        other[ENTRY.id][0][kind][place] = fact
        [error] = record_errors(chapter, other, **whole)
        assert kind in error


def test_committed_records_are_of_entries_that_fail() -> None:
    for chapter in load_ledger().chapters:
        if chapter.folder is not None:
            verdicts = {one.id: one.verdict for one in chapter.statements}
            for name, records in load_records(chapter.folder).items():
                assert all(not one["violated"] or verdicts[name] in ("repaired", "refuted", "open") for one in records)
