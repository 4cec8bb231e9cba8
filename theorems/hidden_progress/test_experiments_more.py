"""A sinusoidal neuron and disjoint PolyNets in training: committed runs, and smaller ones that say the same again."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.gaps import fourier_gap, sinusoid_gap
from lemmata.theorems.evidence import check
from lemmata.theorems.experiments import Experiment, committed, run_experiment
from lemmata.theorems.hidden_progress.experiments.single_models import POLYNETS, SINUSOIDS, sinusoid_gaps
from lemmata.theorems.hidden_progress.experiments.times import CELLS
from lemmata.theorems.hidden_progress.experiments.training import coarse_power_law
from lemmata.theorems.plugin import Effort


def _judge(experiment: Experiment, statement: str, effort: Effort) -> None:
    summary = committed(experiment.name)
    assert summary is not None
    assert summary["scale"] == "full"
    assert summary["verdicts"][statement] == "reproduced"
    again = run_experiment(experiment, effort.pick(quick="quick", full="full"))
    assert again["verdicts"][statement] == "reproduced"


@check("hidden-progress:experiment-B.8-right", grade="sampled", target="printed", supporting=True)
def test_the_gap_grows_along_sgd(effort: Effort) -> None:
    """n = 15, k = 2 and 4, 10 seeds each: positive at the start, mostly below majority's, and at least doubled.

    The text names neither n nor k. The criteria were fixed first; for k = 2 the gap is looked at every 10 steps, as
    runs end after a few hundred, and every 200 steps, as for k = 4, would miss most of the path.
    """
    _judge(SINUSOIDS, "hidden-progress:experiment-B.8-right", effort)


@check("hidden-progress:experiment-B.8-right", grade="numeric", target="printed", supporting=True)
@pytest.mark.parametrize("k", [2, 4])
def test_the_gap_is_that_of_the_derivative(k: int) -> None:
    """The product formula against the transform of the table of sin(a.x), and against balls; 0 at the solution.

    Each of n additive passes errs by 2^-53 of at most 2^n, and divided by 2^n this stays below n 2^-53.
    """
    rng = np.random.default_rng(k)
    n = 9
    x = sign_inputs(n).astype(float)
    for _ in range(5):
        a = rng.uniform(-0.6, 0.6, size=n)
        gap = sinusoid_gaps(a, k)
        assert abs(gap - fourier_gap(np.sin(x @ a), range(k)).gap) < 8 * n * 2.0**-53
        balls = sinusoid_gap(a, 0, range(k)).gap
        assert abs(gap - float(balls)) < 8 * n * 2.0**-53
        assert gap != pytest.approx(sinusoid_gaps(a[::-1].copy(), k))  # another support
    solution = np.where(np.arange(n) < k, np.pi / 2, 0.0)
    assert abs(sinusoid_gaps(solution, k)) < 1e-15


@check("hidden-progress:experiment-B.1", grade="sampled", target="printed")
def test_polynets_wait_and_drop(effort: Effort) -> None:
    """k = 3, n' = 20, Gaussian weights, 15 runs by the flow and 15 by SGD on single samples: a plateau, then a drop.

    The figure shows examples and names neither k nor n'. The relevant weights have a positive product at the start, as
    in the theorems, which for half of the starts is a change of one sign.
    """
    _judge(POLYNETS, "hidden-progress:experiment-B.1", effort)


@check("hidden-progress:experiment-B.1", grade="sampled", target="printed", supporting=True)
@check("hidden-progress:experiment-B.8-right", grade="sampled", target="printed", supporting=True)
def test_faulty_results_change_the_verdict() -> None:
    """Gaps that stay at their first value; curves that fall at once; a curve that does not end below 1 %."""
    for experiment, name, fault in (
        (SINUSOIDS, "gap", lambda gap: gap[:1] * len(gap)),
        (POLYNETS, "curves", lambda curves: [[0.3, 0.2, 0.0] for _ in curves]),
        (POLYNETS, "curves", lambda curves: [curves[0][:-1], *curves[1:]]),
    ):
        summary = committed(experiment.name)
        assert summary is not None
        results = {key: item["result"] for key, item in summary["items"].items()}
        settings = {key: item["settings"] for key, item in summary["items"].items()}
        assert all(criterion.met for criterion in experiment.summarise(settings, results).criteria)
        wrong = {key: {**result, name: fault(result[name])} for key, result in results.items()}
        assert not all(criterion.met for criterion in experiment.summarise(settings, wrong).criteria)


@check("hidden-progress:experiment-B.5", grade="sampled", target="printed", supporting=True)
def test_coarse_power_laws(record_property: Callable[[str, object], None]) -> None:
    """The fit of figure B.5 to the committed cells (3 architectures, one rate each): alpha grows with k in each.

    The fit itself: t(n) <= c (n - 9)^alpha at n = 10, 20, 30, with equality at one of the larger sizes. With less than
    a tenth of the runs converged at one size there is none.
    """
    summary = committed(CELLS.name)
    assert summary is not None
    cells = {(item["settings"]["kind"], item["settings"]["k"], item["settings"]["n"]): item["result"]["times"]
             for item in summary["items"].values()}  # fmt: skip
    for kind in ("relu", "power", "polynet"):
        exponents = []
        for k in (2, 3, 4):
            times = {n: cells[kind, k, n] for n in (10, 20, 30)}
            law = coarse_power_law(times)
            assert law is not None
            c, alpha = law
            ratios = [
                sorted(times[n])[2] / (c * (n - 9) ** alpha) for n in (10, 20, 30)
            ]  # third of 25: 10th percentile
            assert ratios[0] == 1
            assert max(ratios[1:]) == pytest.approx(1, abs=1e-12) or (alpha == 0 and max(ratios) <= 1)
            exponents.append(alpha)
        record_property(f"{kind}: alpha for k = 2, 3, 4", [round(alpha, 2) for alpha in exponents])
        assert exponents == sorted(exponents)
    few = {10: [5] * 20, 20: [9, *[None] * 19], 30: [7] * 20}
    assert coarse_power_law(few) is None
    assert coarse_power_law({**few, 20: [9, 9, *[None] * 18]}) == (5, math.log(9 / 5) / math.log(11))
    with pytest.raises(ValueError, match="two or more sizes"):
        coarse_power_law({10: [5]})
