"""Lemmas 7.2 to 7.6 on networks of the library: `judge` against the listing of all vertices.

The proofs are in proofs/saddle-pairs.md. Here the library's networks and its verdict are compared with an oracle that
knows neither: pairs of unit neurons (u, w)/3 of two inputs with integer entries and squared norm 9, degree 2, on the
two points (1, 0) and (1, 1) with labels 0, 1 or 0, 0. Logits are sums of Python integers; gamma*, all max-margin
networks and all hardest weights come from listing vertices (`finite_games`).
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.saddle.pair import ClassWeights, Task, judge
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.cyclotomic.numbers import rational
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.finite_games import FiniteGame, expectation, simplex_grid, tau_grid

POINTS = np.array([[1, 0], [1, 1]])
LABELS = (0, 1)
SQUARE = 9
BINARY = "two labels, two points: all 1176 pairs of the 49 different neurons of squared norm 9"
TERNARY = "three labels, two points: every fifth of the 5886 pairs of the 109 different neurons of squared norm 9"
SPARSE = "three labels, two points: every 50th of the 5886 pairs of the 109 different neurons of squared norm 9"


@cache
def _logits(vector: tuple[int, ...]) -> list[list[fmpq]]:
    """(u . x)^2 w / 27 at both points: the logits of the unit neuron (u, w)/3, in integers divided by 27."""
    u, w = vector[:2], vector[2:]
    return [[fmpq(entry * (u[0] * x + u[1] * y) ** 2, 27) for entry in w] for x, y in POINTS.tolist()]


@cache
def units(labels: int) -> list[tuple[int, ...]]:
    """One integer vector of squared norm 9 for each table of logits that occurs."""
    found: dict[Any, tuple[int, ...]] = {}
    for vector in product(range(-3, 4), repeat=2 + labels):
        if sum(entry * entry for entry in vector) == SQUARE:
            found.setdefault(str(_logits(vector)), vector)
    return list(found.values())


def games(labels: int, step: int = 1, correct: tuple[int, int] = LABELS) -> list[tuple[np.ndarray, FiniteGame]]:
    """Every ``step``-th pair of neurons: their integer vectors (2, 2 + labels), and the oracle's game."""
    return [
        (
            np.array(pair, dtype=object),
            FiniteGame(np.array([_logits(vector) for vector in pair], dtype=object), correct),
        )
        for pair in list(combinations(units(labels), 2))[::step]
    ]


def network_of(vectors: np.ndarray, masses: np.ndarray) -> HomogeneousNetwork:
    """The library's network with these directions and masses."""
    return HomogeneousNetwork(vectors[:, :2], vectors[:, 2:], masses, 2, SQUARE)


def _class_weights(game: FiniteGame, q: np.ndarray, tau: np.ndarray) -> ClassWeights:
    return ClassWeights(Task("two points", POINTS, np.array(game.labels), tau.shape[1]), q, tau)


def assert_verdicts_agree(labels: int, step: int) -> None:
    """The verdict, against hardest (q, tau) and gamma*, accepts exactly the max-margin networks.

    Acceptance includes (7.1) and C.1; so every max-margin network has the support of q on the margin and the weighted
    labels among the largest wrong ones, and its neurons are optimal.
    """
    seen: Counter[str] = Counter()
    for (vectors, one), (_, other) in zip(games(labels, step), games(labels, step, (0, 0)), strict=True):
        network = cache(lambda *masses, vectors=vectors: network_of(vectors, np.array(masses, dtype=object)))
        for game in (one, other):
            gamma, optimal = game.max_margin
            if gamma == 0:
                continue
            choices = list(dict.fromkeys(map(tuple, [*optimal, *simplex_grid(2, 4, full=True)])))
            outcomes = [(masses, game.margins(np.array(masses, dtype=object))) for masses in choices]
            for Q in game.hardest[1]:
                q, tau = game.split(Q)
                values, weights = game.neuron_values(q, tau), _class_weights(game, q, tau)
                for masses, margins in outcomes:
                    verdict = judge(network(*masses), weights, rational(gamma))
                    assert verdict.primal == min(margins)
                    assert verdict.accepted == (min(margins) == gamma)
                    if verdict.accepted:
                        assert all(value == gamma for value, mass in zip(values, masses, strict=True) if mass > 0)
                        assert all(g == gamma for g, weight in zip(margins, q, strict=True) if weight > 0)
                    seen["accepted" if verdict.accepted else "refused"] += 1
                    seen["a point off the margin"] += verdict.accepted and max(margins) > gamma
                    seen["several labels"] += verdict.accepted and bool(((tau > 0).sum(axis=1) > 1).any())
    assert seen["accepted"] > 0, seen
    assert seen["refused"] > 0, seen
    assert seen["a point off the margin"] > 0, seen
    assert labels == 2 or seen["several labels"] > 0, seen


@check("feature-emergence:lemma-7.2", grade="exact", target="printed", cases=BINARY)
@check("feature-emergence:lemma-7.4", grade="exact", target="printed", cases=BINARY)
@proof_steps("saddle-pairs.md: 9")
def test_the_verdict_accepts_exactly_the_max_margin_networks_of_two_labels() -> None:
    assert len(units(2)) == 49
    assert_verdicts_agree(2, 1)


@check("feature-emergence:lemma-7.2", grade="exact", target="printed", cases=TERNARY)
@check("feature-emergence:lemma-7.6", grade="exact", target="corrected", cases=TERNARY)
@proof_steps("saddle-pairs.md: 2")
def test_the_verdict_accepts_exactly_the_max_margin_networks_of_three_labels() -> None:
    assert len(units(3)) == 109
    assert_verdicts_agree(3, 5)


@check(
    "feature-emergence:definition-7.3.2",
    grade="exact",
    target="printed",
    cases=SPARSE + "; q, tau in halves",
)
@proof_steps("homogeneous-networks.md: 5")
def test_the_verdict_names_exactly_the_broken_conditions() -> None:
    """min g <= E_q g <= E_q g', and both are equalities iff the verdict reports neither (7.1) nor C.1."""
    seen: Counter[bool] = Counter()
    for vectors, game in games(3, 50):
        networks = [
            (masses, network_of(vectors, masses), game.margins(masses)) for masses in simplex_grid(2, 2, full=True)
        ]
        for q in simplex_grid(2, 2, full=True):
            for tau in tau_grid(game, 2 if q[0] == q[1] else 1):
                weights = _class_weights(game, q, tau)
                for masses, network, margins in networks:
                    verdict = judge(network, weights, rational(1))
                    smallest = min(margins)
                    averages = expectation(q, margins), expectation(q, game.weighted_margins(masses, tau))
                    assert smallest <= averages[0] <= averages[1]
                    slack = not any(text.startswith(("(7.1)", "(C.1)")) for text in verdict.violations)
                    assert slack == (averages[1] == smallest)
                    seen[slack] += 1
    assert min(seen[True], seen[False]) > 0


@check("feature-emergence:lemma-7.3", grade="numeric", target="printed", cases=BINARY + "; q in quarters")
@check("feature-emergence:lemma-7.5", grade="numeric", target="printed", cases=SPARSE + "; q, tau in halves")
@proof_steps("saddle-pairs.md: 6")
@pytest.mark.parametrize("labels", [2, 3])
def test_networks_that_maximise_the_expected_margin_use_optimal_neurons(labels: int) -> None:
    """E_q g' of the library's outputs is largest, at mass 1, exactly for masses on the optimal neurons.

    The optimal neurons come from the integers of the oracle; the exported weights lambda_i omega_i have the L_{2,3}
    norm 1 and the outputs of the masses lambda_i^3.
    """
    seen: Counter[bool] = Counter()
    steps = 4 if labels == 2 else 2
    for vectors, game in games(labels, 1 if labels == 2 else 50):
        pairs = [
            (q, tau, values := game.neuron_values(q, tau), max(values))
            for q in simplex_grid(2, steps, full=True)
            for tau in tau_grid(game, 2 if q[0] == q[1] else 1)
        ]
        for masses in simplex_grid(2, 4, full=True):
            network = network_of(vectors, masses)
            outputs = network.raw(POINTS) * fmpq(1, 27)
            assert network.norm_power == 1
            hidden, readout = network.weights()
            assert np.sum(np.sum(np.c_[hidden, readout] ** 2, axis=1) ** 1.5) == pytest.approx(1, rel=1e-14)
            np.testing.assert_allclose((POINTS @ hidden.T) ** 2 @ readout, outputs.astype(float), atol=1e-15)
            for q, tau, values, largest in pairs:
                weighted = [outputs[x, y] - tau[x] @ outputs[x] for x, y in enumerate(LABELS)]
                best = all(value == largest for value, mass in zip(values, masses, strict=True) if mass > 0)
                assert (expectation(q, weighted) == largest) == best
                seen[best] += 1
    assert min(seen[True], seen[False]) > 0
