"""The rate of descent of z^k networks beside that of ReLU networks; the check is made as in `test_network_runs`."""

from __future__ import annotations

from lemmata.theorems.evidence import check
from lemmata.theorems.hidden_progress.experiments.descent import DESCENT
from lemmata.theorems.hidden_progress.standing import power_networks_step_as_written, stands
from lemmata.theorems.plugin import Effort

POWERS = "hidden-progress:experiment-B.13"


@check(POWERS, grade="sampled", target="printed")
def test_the_rate_of_descent_grows_with_width_and_batch(effort: Effort) -> None:
    """6 networks in each of five cells of widths and batch sizes with z^3, and in three with ReLU, at (50, 3)."""
    stands(DESCENT, POWERS, effort)
    power_networks_step_as_written("power")
    power_networks_step_as_written("relu")
