"""How many random cells can be missing: the committed experiment, one order again, and the definitions."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from matplotlib.figure import Figure

from lemmata.certificates.operations import triangle_threshold as module
from lemmata.certificates.operations.triangle_threshold import (
    ascents_beyond,
    last_true,
    necessary_share,
    threshold_row,
    triangle_threshold,
)
from lemmata.reports.triangle_threshold import draw_triangle_threshold, plot_triangle_threshold
from lemmata.theorems.plugin import Effort


def test_committed_points_are_those_of_the_criteria() -> None:
    points = triangle_threshold()
    assert {point.n: point.orders for point in points} == module.ORDERS
    for point in points:
        assert point.interval[0] < point.last < point.interval[1] < point.necessary
        assert 0 <= point.waves <= point.last
    rows = ascents_beyond()
    assert len(rows) == len(module.ASCENDED) * len(module.EIGHTHS)
    assert all(row["right"] + row["wrong"] + row["both"] == pytest.approx(1) for row in rows)


def test_an_order_again(effort: Effort) -> None:
    """Quick: one of the smallest size; full: one of each."""
    rows = {tuple(row["seed"]): row for row in module._committed()["rows"]}
    for n in effort.pick(quick=(7,), full=module.ORDERS):
        kept = rows[module.SEED, n, 1]
        assert threshold_row({"n": n, "seed": [module.SEED, n, 1]}) == kept


def test_the_interval_is_that_of_student() -> None:
    rows = [{"n": 7, "last": last, "waves": 0, "undecided": 1} for last in (1, 2, 3)]
    (point,) = module._points(rows)
    assert point.last == 2
    assert point.undecided == 3
    assert np.subtract(point.interval, 2) * np.sqrt(3) == pytest.approx([-4.30265, 4.30265], rel=1e-5)  # t, 2 degrees


@pytest.mark.parametrize("last", range(12))
def test_bisection_finds_the_last_one(last: int) -> None:
    asked = []

    def holds(count: int) -> bool:
        asked.append(count)
        return count <= last

    assert last_true(holds, 0, 2) == last
    assert len(asked) == len(set(asked))


def test_the_necessary_share() -> None:
    x = 1 - necessary_share(31)
    assert 31 * x**6 == pytest.approx(2 * log(31))
    with pytest.raises(ValueError, match="two rows"):
        necessary_share(1)


def test_the_picture(tmp_path) -> None:
    axes = Figure().add_subplot()
    plot_triangle_threshold(axes, triangle_threshold(), ascents_beyond())
    assert len(axes.get_legend_handles_labels()[1]) == 3
    draw_triangle_threshold(triangle_threshold(), tmp_path / "threshold.png")
    assert (tmp_path / "threshold.png").stat().st_size > 1000
    with pytest.raises(ValueError, match="no points"):
        plot_triangle_threshold(axes, ())
