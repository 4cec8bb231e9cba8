"""Five targets at once on one comparator: the committed runs up to width 4000, and a small run beside the exact mean.

Each of 36 slopes is compared with that of the mean over fresh rows, which knows attenuation and cross terms. The
literal parameters of lemma 5.4 are out of reach: the widths that they ask for are computed here as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb
from scipy import stats

from lemmata.constructions.recurrent.comparator import comparator, window_probability
from lemmata.constructions.recurrent.concepts import input_sequence, null_sequence
from lemmata.constructions.recurrent.elman import back, random_elman, trace
from lemmata.numerics.recurrent.complexities import polynomial
from lemmata.numerics.recurrent.feasibility import feasibility
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.experiments import assert_begins, assert_follows, committed_results, slice_again
from lemmata.theorems.plugin import Effort
from lemmata.theorems.rnn_sgd.experiments.comparator import COMPARATORS, five_targets, on_target, over_networks
from lemmata.theorems.rnn_sgd.written_out import bounded_function, of_part

EXISTENCE = "rnn-sgd:lemma-5.4"
NORM = "rnn-sgd:claim-G.1"
THEOREM = "rnn-sgd:theorem-1"
FIT = "rnn-sgd:lemma-5.2"
RUNS = "410 committed networks of widths 500 to 4000, L = 5, five parts, eps_x = 0.1, eps_c = 0.03, 0.06, 0.12"
Record = Callable[[str, object], None]


@check(NORM, grade="sampled", target="printed", supporting=True, cases=RUNS)
@check(
    EXISTENCE,
    grade="sampled",
    target="corrected",
    cases=RUNS + "; a slice again, to the fifth digit (full: all of width 500); 40 networks of width 150 besides",
)
def test_five_targets_at_once(effort: Effort, record_property: Record) -> None:
    """All slopes are those of the mean over fresh rows within Bonferroni limits, and those off target 0 within theirs.

    One criterion is not met, and nothing is tuned until it is: some slopes on target do not differ from 0 at 1 % in
    all, the half of z_2 at widths 500 to 2000 above all. The exponent of the deviation in m eps_c is -0.52 with the
    interval [-0.59, -0.44], within the limits that were set; in a first run, whose H was not bounded, it was -0.54 with
    [-0.64, -0.44]. The norm is below a two hundredth of its bound.
    """
    summary = committed_results(COMPARATORS)
    assert_follows(summary)
    assert_begins(summary, *slice_again(summary))
    for criterion in summary["criteria"]:
        record_property(criterion["text"], criterion["met"])
    met = [c["met"] for c in summary["criteria"] if c["statement"] == EXISTENCE]
    assert met == [True, True, True, False, True]
    law = summary["numbers"]["exponent of the deviation between networks in m eps_c"]
    assert law["low"] < -0.5 < law["high"] < -0.4
    wide, on = summary["items"]["m4000-c0.06"], on_target()
    own, sd = (np.array(wide["result"]["own"][name])[on] for name in ("mean", "sd"))
    assert (own * np.array([1, -1, 1, 1, 1]) * math.sqrt(wide["settings"]["networks"]) > 3.5 * sd).all()
    if effort.name != "quick":
        whole = summary["items"]["m500-c0.06"]
        assert_begins(summary, over_networks(whole["settings"]), whole["result"])
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


@check(
    FIT,
    grade="enclosed",
    target="corrected",
    supporting=True,
    cases="the states hz_1, ..., hz_5 of one network of width 500 (seed 0), eps_c = 10^-1, 10^-3, 10^-6",
)
def test_the_range_of_the_function_has_another_factor() -> None:
    """1/P lies between sqrt(pi) |hz|/eps_c and exp(z^2) times that, z = eps_c/(2 |hz|): above the printed 1/eps_c."""
    states = trace(random_elman(500, 5, 1, np.random.default_rng(0)), null_sequence(6, 4, 0.1)).states
    for h in states[1:6]:
        norm = float(np.linalg.norm(h))
        for window in (1e-1, 1e-3, 1e-6):
            z = arb(window) / (2 * arb(norm))
            lower = arb.pi().sqrt() * arb(norm) / arb(window)
            found = 1 / arb(window_probability(window, norm))
            assert lower * (1 - arb("1e-12")) < found < lower * (z * z).exp() * (1 + arb("1e-12"))
            assert found > arb("1.5") / arb(window)


def _expansion(m: int, normaliser_of: str) -> tuple[np.ndarray, np.ndarray]:
    """f(W#) of a small network by the recursion, and by the sum (5.3) over i, i', j, r, s, k; both of shape (L, d)."""
    rng, epsilon, window = np.random.default_rng(0), 0.3, 1.0
    network, target = random_elman(m, 5, 2, rng), five_targets()
    z = rng.standard_normal((3, 3))
    z *= math.sqrt(0.75) / np.linalg.norm(z, axis=1, keepdims=True)
    x = np.concatenate([z, np.full((3, 1), 0.5)], axis=1)
    run, null = (trace(network, s) for s in (input_sequence(x, epsilon), null_sequence(5, 4, epsilon)))
    found, total = comparator(network, target, epsilon, window), np.zeros((5, 2))
    for weight in found.weights:
        part = weight.part
        hz = null.states[part.source - 1]
        first = back(network, null, part.source, part.target)[part.output]
        values = bounded_function(*of_part(part), *(math.sqrt(m / 2) * network.token[:, [0, 3]]).T)
        values *= (np.abs(network.state @ hz) <= window / math.sqrt(m)) / math.erf(window / (2 * np.linalg.norm(hz)))
        for end in range(2, 6):
            # as printed the normaliser has the index of the output at hand; with it i -> j' needs i <= j'
            place = part.target if normaliser_of == "j" else max(end, part.source)
            row = back(network, null, part.source, place)[part.output]
            scale = m * float((row @ row) * (hz @ hz)) / m
            for between in range(2, end + 1):
                matrix = back(network, run, between, end)
                inner = float(run.states[between - 1] @ hz)
                for k in range(m):
                    active = run.active[between - 1, k]
                    total[end - 1] += matrix[:, k] * first[k] * active * values[k] * inner / scale
    return found.change(network, run), total


@check(EXISTENCE, grade="numeric", target="corrected", cases="m = 25, L = 5, d = 2, five parts (seed 0)")
def test_the_expansion() -> None:
    """The sum over i, i', j with 1/(m C_(i -> j, s)) is f(W#) to 1e-10; with the printed C_(i -> j', s) it is not."""
    wanted, corrected = _expansion(25, "j")
    assert np.abs(corrected - wanted).max() < 1e-10 * np.abs(wanted).max()
    assert np.abs(wanted).max() > 0.1


@counterexample(EXISTENCE, grade="numeric", cases="m = 25, L = 5, d = 2, five parts (seed 0)")
def test_the_printed_normaliser_gives_another_sum() -> None:
    """With C_(i -> j', s) in the place of C_(i -> j, s), j' the output at hand, the sum is off by more than a tenth."""
    wanted, printed = _expansion(25, "j'")
    assert np.abs(printed - wanted).max() > 0.1 * np.abs(wanted).max()
