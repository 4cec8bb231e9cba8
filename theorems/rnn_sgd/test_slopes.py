"""Five targets at once on one comparator: the committed runs up to width 4000, and a small run beside the exact mean.

Each of 36 slopes is compared with that of the mean over fresh rows, which knows attenuation and cross terms. The
literal parameters of lemma 5.4 are out of reach: the widths that they ask for are computed here as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import stats

from numerics.recurrent.complexities import polynomial
from numerics.recurrent.feasibility import feasibility
from theorems.evidence import check
from theorems.experiments import Summary, committed, recomputed, run_experiment, slice_again, starts
from theorems.plugin import Effort
from theorems.rnn_sgd.experiments.comparator import COMPARATORS, on_target, over_networks

EXISTENCE = "rnn-sgd:lemma-5.4"
NORM = "rnn-sgd:claim-G.1"
THEOREM = "rnn-sgd:theorem-1"
RUNS = "410 committed networks of widths 500 to 4000, L = 5, five parts, eps_x = 0.1, eps_c = 0.03, 0.06, 0.12"
Record = Callable[[str, object], None]


def _results() -> Summary:
    summary = committed(COMPARATORS.name)
    assert summary is not None
    return summary


@check(
    EXISTENCE,
    NORM,
    grade="sampled",
    target="corrected",
    supporting=True,
    cases=RUNS + "; a slice again, bit for bit; quick: 40 networks of width 150 besides",
)
def test_five_targets_at_once(effort: Effort, record_property: Record) -> None:
    """All slopes are those of the mean over fresh rows within Bonferroni limits, and those off target 0 within theirs.

    Two criteria are not met, and nothing is tuned until they are: some slopes on target do not differ from 0 at 1 % in
    all, the half of z_2 at widths 500 to 2000 above all; and the exponent of the deviation in m eps_c is -0.54 with the
    interval [-0.64, -0.44], which contains -1/2 but is wider than the limits that were set.
    """
    summary = _results()
    assert recomputed(summary) == summary
    assert starts(*slice_again(summary))
    for criterion in summary["criteria"]:
        record_property(criterion["text"], criterion["met"])
    met = [c["met"] for c in summary["criteria"] if c["statement"] == EXISTENCE]
    assert met == [True, True, True, False, False]
    law = summary["numbers"]["exponent of the deviation between networks in m eps_c"]
    assert law["low"] < -0.5 < law["high"] < -0.4
    wide, on = summary["items"]["m4000-c0.06"], on_target()
    own, sd = (np.array(wide["result"]["own"][name])[on] for name in ("mean", "sd"))
    assert (own * np.array([1, -1, 1, 1, 1]) * math.sqrt(wide["settings"]["networks"]) > 3.5 * sd).all()
    if effort.name != "quick":
        run_experiment(COMPARATORS, "full")
        return
    networks = 40
    found = over_networks({**COMPARATORS.scales["quick"]["m200-c0.06"], "width": 150, "networks": networks})
    limit = float(stats.t.isf(0.001 / 2 / 36, networks - 1))
    scores = np.array(found["difference"]["mean"]) / np.array(found["difference"]["sd"]) * math.sqrt(networks)
    assert np.abs(scores).max() < limit
    predicted = np.array(found["fresh"]["mean"])[on_target()] / np.array([1, -1, 0.5, 1, 1])
    assert ((predicted > 0.6) & (predicted < 1)).all()


@check(
    EXISTENCE,
    THEOREM,
    grade="enclosed",
    target="corrected",
    supporting=True,
    cases="Phi = z, z^2, L = 3, 5, 10, d = p = 1, error 1/10, eps_e = 1/100 or free",
)
def test_the_literal_width_is_out_of_reach() -> None:
    """At least 10^2211 for the term with m alone, 10^8067 for all three terms: from p rho^11 C m^(-1/20) <= 1/10."""
    tenth, hundredth = Fraction(1, 10), Fraction(1, 100)
    widths = [feasibility(polynomial([0] * power + [1]), length, tenth, hundredth).width
              for power in (1, 2) for length in (3, 5, 10)]  # fmt: skip
    assert widths == sorted(widths, key=float)
    for found, epsilon in ((widths[0], hundredth), (feasibility(polynomial([0, 1]), 3, tenth).width, None)):
        assert found > (2211 if epsilon else 8067)
        log_m = float(found) * math.log(10)
        log_rho = math.log(300 * log_m)
        log_epsilon = math.log(0.01) if epsilon else math.log(0.1 / 3) - 11 * log_rho
        log_size = math.log(1e4 * math.sqrt(3)) + math.log(1 + math.sqrt(-log_epsilon))
        log_scale = -4 * log_rho - log_size
        if not epsilon:  # C_s(z, 1) = 10^4 2^1.75
            log_scale = min(log_scale, 3 * (math.log(0.1 / 3) - 11 * log_rho - math.log(1e4 * 2**1.75)))
        log_C = math.log(4) + 2 * log_size - log_epsilon - log_scale
        allowed = math.log(0.1 if epsilon else 0.1 / 3)
        assert abs(11 * log_rho + log_C - log_m / 20 - allowed) < 1e-3
