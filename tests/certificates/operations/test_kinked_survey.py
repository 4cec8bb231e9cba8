"""The committed margins and verdicts with kinked neurons: what they say, and a sample made again."""

from __future__ import annotations

from collections import Counter

import pytest

from lemmata.certificates.operations.kinked_survey import (
    COMMITTED,
    committed_kinked,
    settings,
    survey_row,
    verdict_counts,
)
from lemmata.certificates.operations.unseen_survey import committed_verdicts

ACTIVATIONS = ("abs", "relu")


def rows():
    return {row["values"]: row for row in committed_kinked()["rows"]}


def test_all_classes_are_there_and_enclosed():
    planned = ["/".join("".join(map(str, row)) for row in one["values"]) for one in settings().values()]
    assert [row["values"] for row in committed_kinked()["rows"]] == planned
    assert len(planned) == 6 + 36 + 441
    for row in rows().values():
        for activation in ACTIVATIONS:
            lower, upper = map(float, row[activation])
            assert 0 < lower <= upper <= lower * (1 + 2e-6)
        assert float(row["relu"][1]) >= float(row["abs"][0]) / 2  # two rectifiers make one absolute value
        assert ("cells" in row) == (len(set(row["values"]) - {"/"}) <= 3)


def test_every_verdict_is_coherent():
    for row in rows().values():
        for cell in row.get("cells", []):
            for activation in ("square", *ACTIVATIONS):
                verdict, share = cell[activation]
                assert (share is None) == (verdict == "open")
                assert share is None or (share > 0 if verdict == "right" else share <= 0)


def test_verdicts_of_squares_are_those_of_the_other_survey():
    """Two ways to a table, of which the second one has a name: one cell of addition modulo 2 and 3."""
    verdicts = {
        row["table"]: row["cells"][0]["verdict"] for row in committed_verdicts()["rows"] if len(row["missing"]) == 1
    }
    for name, values in (("op:add:2", "01/10"), ("op:add:3", "012/120/201")):
        assert [cell["square"][0] for cell in rows()[values]["cells"]] == [verdicts[name]]


@pytest.mark.parametrize("values", ["00/01", "01/23", "001/023/450"])
def test_a_sample_is_made_again(values):
    (known,) = [row for key, row in rows().items() if key == values]
    again = survey_row({"values": [[int(label) for label in row] for row in values.split("/")]})
    for activation in ACTIVATIONS:
        assert [float(x) for x in again[activation]] == pytest.approx([float(x) for x in known[activation]], rel=4e-6)
    assert len(again.get("cells", [])) == len(known.get("cells", []))
    for new, old in zip(again.get("cells", []), known.get("cells", []), strict=True):
        assert new["cell"] == old["cell"]
        assert [new[one][0] for one in ("square", *ACTIVATIONS)] == [old[one][0] for one in ("square", *ACTIVATIONS)]


def test_counts_of_verdicts():
    assert verdict_counts([{}, {"cells": [{"square": ["right", 1], "abs": ["both", 0], "relu": ["wrong", -1]}]}]) == {
        ("square", "abs"): Counter({("right", "both"): 1}),
        ("square", "relu"): Counter({("right", "wrong"): 1}),
        ("abs", "relu"): Counter({("both", "wrong"): 1}),
    }


def test_the_table_in_the_text_counts_the_committed_verdicts():
    text = (COMMITTED.parents[1] / "OPERATION_MARGIN.md").read_text(encoding="utf-8")
    counts = verdict_counts(committed_kinked()["rows"])
    verdicts = ("right", "wrong", "both")
    for one in (*verdicts, "open"):
        numbers = [counts["square", other][one, verdict] for other in ACTIVATIONS for verdict in verdicts]
        assert f"| {one}, {sum(numbers) // 2} | {' | '.join(map(str, numbers))} |" in text
    assert all(verdict != "open" for pair in counts["abs", "relu"] for verdict in pair)


def test_the_examples_of_the_text():
    found = {
        values: [rows()[values]["cells"][0][one][0] for one in ("square", *ACTIVATIONS)]
        for values in ("01/10", "00/01", "012/120/201")
    }
    assert found == {
        "01/10": ["right", "right", "wrong"],
        "00/01": ["wrong", "wrong", "right"],
        "012/120/201": ["wrong", "right", "wrong"],
    }
    ratios = {values: sum(map(float, row["relu"])) / sum(map(float, row["abs"])) for values, row in rows().items()}
    assert {values for values, ratio in ratios.items() if ratio < 0.5 + 1e-6} == {
        "01/10", "001/110", "001/001/110", "012/120/201"
    }  # fmt: skip
    lines = {values: values.split("/") for values in ratios}
    alone = {values for values, of in lines.items() if len(set(of)) == 1 or {len(set(line)) for line in of} == {1}}
    assert {values for values, ratio in ratios.items() if ratio > 1 - 1e-6} == alone | {"000/011/011"}
    assert len(alone) == 6
