"""Gradient descent ends on the exact global minimum of the regularised loss, and never goes below it.

The loss, the normalised margin, the norm and the mass of each representation at the end of training are compared with
the prediction of `lemmata.certificates.game.regularised`, which is proved for networks of any width. At a finite
penalty the margin is smaller than gamma*, and the masses are not those of the maximum margin, unless the class weights
are uniform (Z_7).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.regularised import regularised_optimum
from lemmata.certificates.saddle.pair import group_task
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks
from lemmata.numerics.margins.descent import Descent, descend
from lemmata.numerics.margins.evaluation import group_margins
from lemmata.theorems.evidence import check
from lemmata.theorems.feature_emergence.tabulated_groups import tabulated
from lemmata.theorems.plugin import Effort

trained_groups = pytest.mark.parametrize("name", ["Z4", "Z6", "Z7", "S3", "D4", "Q8"])


@cache
def _trained(name: str, penalty: float, width: int, steps: int, seed: int) -> Descent:
    """Gradient descent from normal weights of standard deviation 0.3; the rate doubles from 0.5 to 8."""
    group = tabulated(name).group
    task = group_task(group)
    rng = np.random.default_rng(seed)
    hidden, readout = 0.3 * rng.normal(size=(width, 2 * group.order)), 0.3 * rng.normal(size=(width, group.order))
    return descend(
        task.inputs.astype(float),
        task.labels,
        hidden,
        readout,
        2,
        penalty=penalty,
        steps=steps,
        rate=lambda step: min(8.0, 0.5 * 2.0 ** (8 * step // steps)),
        record_every=steps // 8,
        record=lambda _, u, w: tabulated(name).loss(u, w, penalty),
    )


@check("feature-emergence:ext-E6", grade="sampled", target="printed", supporting=True)
@trained_groups
def test_training_ends_at_the_minimum_and_never_below(
    name: str, effort: Effort, record_property: Callable[[str, object], None]
) -> None:
    """lambda = 1e-3: no run is ever below, and the best run has the predicted loss, normalised margin and norm.

    Not every run gets there: with 60 neurons one of three runs on Q_8 stays 1.3 per cent above.
    """
    group, table = tabulated(name).group, tabulated(name).table
    optimum = regularised_optimum(table, "1e-3")
    lowest = float(optimum.lower.lower()) * (1 - 1e-12)
    runs = [_trained(name, 1e-3, 60, 8000, seed) for seed in effort.pick(quick=(0,), full=(0, 1, 2))]
    for run in runs:
        assert run.records[0] > optimum.loss * (1 + 1e-5)
        assert min(*run.records, run.objective) >= lowest
    excess = [run.objective / optimum.loss - 1 for run in runs]
    record_property(f"relative_excess_{name}", excess)
    assert min(excess) <= 1e-6
    best = runs[int(np.argmin(excess))]
    network = HomogeneousNetwork.from_weights(best.hidden, best.readout, 2)
    u, v, w = group_blocks(network)
    margin = group_margins(u, v, w, group, network.masses).minimum / network.norm_power
    # the loss is flat at its minimum: an excess of 1e-6 allows first-order errors of the order of 1e-3
    assert margin == pytest.approx(optimum.normalised_margin, rel=1e-2)
    assert margin <= float(solve_table(table).gamma) * (1 + 1e-12)
    assert network.norm_power == pytest.approx(optimum.norm, rel=1e-2)


@check("feature-emergence:ext-E5", grade="sampled", target="printed", supporting=True)
@trained_groups
def test_mass_shares_of_trained_networks(name: str) -> None:
    """The masses of trained neurons, assigned by their energy in each R, against N_R of the same penalty."""
    group, table = tabulated(name).group, tabulated(name).table
    optimum = regularised_optimum(table, "1e-3")
    run = _trained(name, 1e-3, 60, 8000, 0)
    network = HomogeneousNetwork.from_weights(run.hidden, run.readout, 2)
    u, v, w = group_blocks(network)
    quotient = group.table[group.inverse]  # a^-1 b
    energies = []
    for R in optimum.game.rows:
        character = np.array([complex(table.values[R, C]).real for C in tabulated(name).class_of])
        projector = table.degrees[R] / group.order * character[quotient]
        projector *= 2 if table.indicators[R] == 0 else 1
        energies.append(sum(np.einsum("ia,ab,ib->i", block, projector, block) for block in (u, v, w)))
    shares = np.array(energies) / np.sum(energies, axis=0)
    masses = (shares * network.masses).sum(axis=1) / network.norm_power
    np.testing.assert_allclose(masses, optimum.masses / optimum.norm, atol=1e-2)
