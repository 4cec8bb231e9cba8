"""Runs of ReLU networks: widths, and weight decay on finite samples.

`theorems/hidden_progress/results` holds the runs, whose criteria were fixed before them. A deciding check judges them
again, repeats a part bit for bit, and compares steps of the same networks with autograd.
"""

from __future__ import annotations

from lemmata.theorems.evidence import check
from lemmata.theorems.hidden_progress.experiments.relu_networks import DECAYS, WIDTH_TIMES
from lemmata.theorems.hidden_progress.standing import relu_networks_step_as_written, stands
from lemmata.theorems.plugin import Effort

WIDTH = "hidden-progress:experiment-5.4-left-B.10"
GROKKING = "hidden-progress:experiment-5.4-right-B.11"


@check(WIDTH, grade="sampled", target="printed")
def test_medians_level_off_and_upper_tails_shorten_with_the_width(effort: Effort) -> None:
    """15 to 60 runs at each of six widths from 10 to 3000 at (40, 3), and 15 at three widths at n = 30 and 50."""
    stands(WIDTH_TIMES, WIDTH, effort)
    relu_networks_step_as_written(None, 0.0, 0.0)


@check(GROKKING, grade="sampled", target="printed")
def test_weight_decay_widens_the_samples_that_suffice_until_it_is_too_large(effort: Effort) -> None:
    """10 runs for each of six sample sizes and six decays at (30, 3), up to 40 000 steps."""
    stands(DECAYS, GROKKING, effort)
    relu_networks_step_as_written(40, 0.0, 0.3)
