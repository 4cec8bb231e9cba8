"""The committed verdicts on unseen cells: what they say, and a sample made again."""

from fractions import Fraction

import pytest

from lemmata.certificates.operations.unseen_survey import committed_verdicts, shares, survey_row

ONE = {
    "op:add:2": ["right"],
    "op:add:3": ["wrong"],
    "op:add:4": ["wrong"],
    "op:add:5": ["right"],
    "op:add:6": ["right"],
    "op:add:7": ["right"],
    "Z2xZ2": ["right"],
    "D4": ["right"],
    "Q8": ["wrong"],
    "S3": ["wrong"],
    "op:mul:3": ["wrong", "right", "both"],
    "op:mul:5": ["both", "right", "wrong"],
    "op:mul:7": ["both", "right", "right"],
    "op:add:8": ["right"],
}
"""One cell is missing, one verdict for each kind of cell; of products (0, 0), (0, 1), (1, 1)."""

NEARER = [("op:add:6", [[0, 0], [1, 1]])]
"""The gap of 1.9e-4 is above what decides: proved of all networks from a threshold on, that of a network shown."""


def rows():
    return committed_verdicts()["rows"]


@pytest.mark.parametrize("name", ONE)
def test_one_missing_cell(name):
    found = [row["cells"][0]["verdict"] for row in rows() if row["table"] == name and len(row["missing"]) == 1]
    assert found == ONE[name]


def test_every_row_is_coherent():
    for row in rows():
        gap = 1 - row["lower"] / row["upper"]
        assert 0 <= gap < Fraction(row["epsilon"])
        assert [cell["cell"] for cell in row["cells"]] == row["missing"]
        for cell in row["cells"]:
            margin, verdict = cell["margin"], cell["verdict"]
            assert {"right": margin is not None and margin > 0, "open": margin is None}.get(
                verdict, margin is not None and margin < 0
            )
            assert (cell["bytes"] > 0) == (verdict != "open")
            assert (cell["reason"] is not None) == (verdict == "open")
            least, most = cell["seen"]
            if verdict == "right":
                assert margin <= least <= most + 1e-6
            if verdict == "wrong":
                assert most <= margin + 1e-6
            if verdict == "both":
                assert least < 0 < most
            assert (cell["epsilon"] != row["epsilon"]) == ((row["table"], row["missing"]) in NEARER)
            assert Fraction(cell["epsilon"]) <= Fraction(row["epsilon"])
            assert float(cell["threshold"]) <= row["lower"]


def test_degree_6_closes_the_gap_of_the_symmetric_group_without_a_cell():
    """Degree 4 alone leaves 1.4e-4, more than the epsilon that decides."""
    (row,) = [row for row in rows() if row["table"] == "S3"]
    assert 1 - row["lower"] / row["upper"] < 1e-7
    assert row["epsilon"] == "1/1000000"
    assert row["cells"][0]["margin"] == pytest.approx(-0.05745, abs=1e-4)


def test_pairs_of_cells_of_small_cyclic_groups_are_filled_in_wrongly_and_of_the_klein_group_rightly():
    assert shares(rows(), "op:add:3", 2) == {"right": 0, "wrong": 1, "both": 0, "open": 0}
    assert shares(rows(), "op:add:4", 2) == {"right": 0, "wrong": 1, "both": 0, "open": 0}
    assert shares(rows(), "op:add:5", 2) == {"right": 0, "wrong": 1, "both": 0, "open": 0}
    klein = shares(rows(), "Z2xZ2", 2)
    assert klein is not None
    assert klein["right"] == 1
    assert shares(rows(), "Z2xZ2", 3) == {"right": 1, "wrong": 0, "both": 0, "open": 0}
    assert shares(rows(), "op:add:9", 1) is None


@pytest.mark.parametrize(
    ("name", "missing"),
    [("op:add:2", [[0, 0]]), ("op:add:3", [[0, 0], [1, 1]]), ("op:mul:3", [[0, 1]]), ("Z2xZ2", [[0, 0]])],
)
def test_a_sample_is_made_again(name, missing):
    """The kernel accepts a certificate for every verdict before it is returned."""
    (row,) = [row for row in rows() if (row["table"], row["missing"]) == (name, missing)]
    again = survey_row({"table": name, "missing": missing, "seed": 0})
    assert set(again) == set(row)
    for key in ("table", "missing", "epsilon"):
        assert again[key] == row[key]
    assert again["lower"] == pytest.approx(row["lower"], rel=1e-8)
    for old, new in zip(row["cells"], again["cells"], strict=True):
        assert (new["verdict"], new["label"]) == (old["verdict"], old["label"])
        assert new["margin"] == pytest.approx(old["margin"], abs=1e-3)
