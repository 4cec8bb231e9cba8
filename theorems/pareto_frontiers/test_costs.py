"""Section C.3.4: the costs of the experiments, as far as the figures speak of one another."""

from __future__ import annotations

from lemmata.theorems.evidence import check


@check("pareto-frontiers:fact-compute", grade="exact", target="printed", supporting=True)
def test_runs_times_seconds_are_the_hours() -> None:
    """2 * 10^5 runs of 10 s are 555 5/9 hours: 600 to one digit."""
    runs, seconds = 2 * 10**5, 10
    assert 555 * 3600 < runs * seconds < 556 * 3600
    assert round(runs * seconds / 3600, -2) == 600
