"""The committed sets of missing cells: rows that are changed show nothing, and one is made again."""

from __future__ import annotations

from math import comb
from typing import Any

import pytest

from lemmata.certificates.operations.forced_survey import (
    checked_row,
    committed_forced,
    cyclic_kinds,
    settings,
    survey_row,
)


def rows() -> dict[tuple[Any, ...], dict[str, Any]]:
    return {(*row["orders"], *map(tuple, row["missing"])): row for row in committed_forced()["rows"]}


def test_all_rows_that_are_planned_are_there() -> None:
    planned = [(one["orders"], one["missing"]) for one in settings().values()]
    assert [(row["orders"], row["missing"]) for row in committed_forced()["rows"]] == planned


@pytest.mark.parametrize(("n", "count"), [(5, 1), (5, 2), (7, 2), (9, 2), (5, 3)])
def test_kinds_are_all_sets_once(n: int, count: int) -> None:
    assert sum(cyclic_kinds(n, count).values()) == comb(n * n, count)


@pytest.mark.parametrize("key", [(9, (0, 0), (1, 1)), (9, (0, 0), (0, 1)), (7, (0, 0), (1, 2)), (7, (0, 0), (1, 1))])
def test_a_row_made_again_says_the_same(key: tuple[Any, ...]) -> None:
    row = rows()[key]
    again = survey_row({"orders": row["orders"], "missing": row["missing"]})
    assert again["verdict"] == row["verdict"]
    assert checked_row(again) == row["verdict"]


def test_changed_rows_show_nothing() -> None:
    forced, larger = rows()[9, (0, 0), (1, 1)], rows()[9, (0, 0), (0, 1)]
    paid = rows()[7, (0, 0), (1, 1)]
    assert not larger["shares"]
    assert paid["shares"]
    weights = list(forced["weights"])
    weights[0] += 1
    wrong = [
        forced | {"weights": weights},
        forced | {"missing": [[0, 0], [2, 2]]},
        larger | {"combination": [0] * len(larger["combination"])},
        larger | {"missing": []},
        paid | {"shares": [0] * len(paid["shares"])},
    ]
    for row in wrong:
        with pytest.raises(ValueError, match=r"show|conditions"):
            checked_row(row)
