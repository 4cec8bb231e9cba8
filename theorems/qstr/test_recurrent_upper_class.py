"""The class of recurrent networks of the upper bound: its recursion, the factor that bounds the slope, radius one.

Oracles are loops over positions in rational numbers; the states of width 1 have rational norms, so that the projection
is exact where it acts. The proofs are in `proofs/recurrent-upper-class.md`.
"""

from __future__ import annotations

import itertools
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.constructions.tokens.recurrent_class import state_lipschitz, with_state_lipschitz, with_unit_radius
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

CLASS = "qstr:definition-rnn-upper"
UNIT = "qstr:construction-homogeneity"


def random_network(rng: np.random.Generator, radius: Any, depth: int = 3) -> RecurrentLayer:
    """Two cells with states of width 1 that leave the ball, tokens of width 2, and a read-out of `depth` layers."""
    cells = []
    for _ in range(2):
        parts = Affine(_quarters(rng, 3, 4), _quarters(rng, 4)), Affine(_quarters(rng, 4, 1))
        transition = FeedForward(parts, activations=("relu", "identity"))
        cells.append(RecurrentCell(transition, residual=True, bound=BallProjection(1, radius)))
    widths = [4, *[3] * (depth - 1), 1]
    layers = [Affine(_quarters(rng, a, b), _quarters(rng, b)) for a, b in itertools.pairwise(widths)]
    layers[-1] = Affine(layers[-1].weight)
    readout = FeedForward(tuple(layers), activations=(*["relu"] * (depth - 1), "identity"))  # type: ignore[arg-type]
    return RecurrentLayer(cells[0], cells[1], "before", True, readout)


def _quarters(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return as_exact(rng.integers(-6, 7, shape)) / 4


def net(network: FeedForward, z: list[Q]) -> list[Q]:
    """The network by loops, in fractions."""
    for layer, activation in zip(network.layers, network.activations, strict=True):
        z = [
            sum((v * as_fraction(w) for v, w in zip(z, column, strict=True)), as_fraction(b))
            for column, b in zip(layer.weight.T.tolist(), as_exact(layer.offset).tolist(), strict=True)
        ]
        z = [max(v, Q(0)) for v in z] if activation == "relu" else z
    return z


def by_loops(network: RecurrentLayer, z: list[list[Q]], radius: Q) -> tuple[list[Q], int]:
    """The outputs of the recursion for states of width 1, and how often the projection acted."""
    N, acted = len(z), 0
    past, future = [Q(0)] * N, [Q(0)] * N
    for order, states, cell in ((range(N - 1), past, network.forward), (range(N - 1, 0, -1), future, network.backward)):
        assert cell is not None
        assert isinstance(cell.transition, FeedForward)
        for i in order:
            h = states[i] + net(cell.transition, [states[i], *z[i]])[0]
            acted += abs(h) > radius
            states[i + (1 if states is past else -1)] = min(Q(1), radius / abs(h)) * h if h else h
    assert isinstance(network.readout, FeedForward)
    return [net(network.readout, [past[i], future[i], *z[i]])[0] for i in range(N)], acted


@check(
    CLASS, grade="sampled", target="corrected", cases="40 random networks, N = 5, L_h = 2, L_y = 2, 3, 4, r_h = 3/2, 4"
)
@proof_steps("recurrent-upper-class.md: 1")
def test_the_network_is_the_recursion_of_the_definition() -> None:
    rng, total = np.random.default_rng(0), 0
    for number in range(40):
        radius = (Q(3, 2), Q(4))[number % 2]
        network = random_network(rng, radius, 2 + number % 3)
        z = _quarters(rng, 5, 2)
        expected, acted = by_loops(network, [[as_fraction(v) for v in row] for row in z.tolist()], radius)
        assert network(z)[:, 0].tolist() == as_exact(expected).tolist()
        total += acted
    assert total > 40


def orthogonal(a: int, b: int) -> np.ndarray:
    """A rational rotation of the plane."""
    return np.array([[a * a - b * b, 2 * a * b], [-2 * a * b, a * a - b * b]]) / (a * a + b * b)


def transition_with_norms(norms: tuple[float, float, float]) -> FeedForward:
    """States and tokens of width 2; the largest singular values of W_(1,h), W_2, W_3 are known, and their axes align.

    On states in the first quadrant along the axis the Lipschitz constant is attained.
    """
    first = np.concatenate([np.diag([norms[0], norms[0] / 3]), orthogonal(3, 1) * 7])
    weights = [first, np.diag([norms[1], norms[1] / 2]), np.diag([norms[2], norms[2] / 5]) @ orthogonal(2, 1)]
    return FeedForward(tuple(Affine(w) for w in weights), activations=("relu", "relu", "identity"))


NORMS = [(2.0, 3.0, 0.5), (9.3537, 1.25, 4.0), (0.5, 0.25, 8.0)]


@check(
    CLASS,
    grade="numeric",
    target="corrected",
    cases="3 transitions of 3 layers, alpha = 1/4, 1/50; 400 pairs of states",
)
@proof_steps("recurrent-upper-class.md: 2, 3")
@pytest.mark.parametrize("norms", NORMS)
@pytest.mark.parametrize("alpha", [0.25, 0.02])
def test_the_rescaled_transition_has_the_constant(norms: tuple[float, float, float], alpha: float) -> None:
    """The product of the norms is alpha, and so is the Lipschitz constant, which a pair attains; errors of rounding."""
    transition = transition_with_norms(norms)
    assert abs(state_lipschitz(transition, 2) - norms[0] * norms[1] * norms[2]) < 1e-12 * 40
    scaled = with_state_lipschitz(transition, 2, alpha)
    first, *others = [layer.weight for layer in scaled.layers]
    product = np.prod([np.linalg.svd(w, compute_uv=False)[0] for w in (first[:2], *others)])
    assert abs(product - alpha) < 1e-12
    assert (first[2:] == transition.layers[0].weight[2:]).all()
    rng = np.random.default_rng(1)
    h, k, z = rng.standard_normal((400, 2)), rng.standard_normal((400, 2)), rng.standard_normal((400, 2))
    h[0], k[0], z[0] = (5, 0), (2, 0), (0, 0)
    change = np.linalg.norm(scaled(np.hstack([h, z])) - scaled(np.hstack([k, z])), axis=1)
    ratios = change / np.linalg.norm(h - k, axis=1)
    assert ratios.max() <= alpha * (1 + 1e-12)
    assert abs(ratios[0] - alpha) < 1e-12
    assert with_state_lipschitz(scaled, 2, 1.0).layers[0].weight.tolist() == first.tolist()


@counterexample(CLASS, grade="exact")
@proof_steps("recurrent-upper-class.md: 3")
def test_the_printed_factor_leaves_the_norm_of_the_first_layer(record: Record) -> None:
    """W_(1,h) = 3, W_2 = 2, alpha = 1/4: the factor alpha/2 leaves the product 3/4, and two states that far apart."""
    alpha, first, second = Q(1, 4), Q(3), Q(2)
    printed = first * (alpha / second)
    layers = Affine(as_exact([[printed], [0]])), Affine(as_exact([[second]]))
    f = FeedForward(layers, activations=("relu", "identity"))
    slope = (f(as_exact([[2, 0]])) - f(as_exact([[1, 0]])))[0, 0]
    assert as_fraction(slope) == 3 * alpha
    record.hypothesis("alpha_N is positive", alpha, ">", 0)
    record.violated("the product of the norms is at most alpha_N after the factor", printed * second, "<=", alpha)
    record.violated("the transition is alpha_N-Lipschitz in the state", slope, "<=", alpha)


@check(UNIT, grade="sampled", target="corrected", cases="30 random networks, N = 5, L_y = 2, 3, 4, r_h = 3, 3/2, 1/4")
@proof_steps("recurrent-upper-class.md: 4, 5")
def test_states_in_the_unit_ball_give_the_same_function() -> None:
    rng = np.random.default_rng(2)
    for number in range(30):
        radius = (Q(3), Q(3, 2), Q(1, 4))[number % 3]
        network = random_network(rng, radius, 2 + number // 3 % 3)
        unit, z = with_unit_radius(network), _quarters(rng, 5, 2)
        assert unit.forward is not None
        assert unit.backward is not None
        assert unit.forward.bound.radius == unit.backward.bound.radius == 1  # type: ignore[union-attr]
        expected, _ = by_loops(network, [[as_fraction(v) for v in row] for row in z.tolist()], radius)
        assert unit(z)[:, 0].tolist() == as_exact(expected).tolist()
        for before, after in zip(network.states(z), unit.states(z), strict=True):
            assert (before == after * as_exact([radius])[0]).all()


@counterexample(UNIT, grade="exact")
@proof_steps("recurrent-upper-class.md: 6")
def test_the_printed_second_weight_changes_the_function(record: Record, h: Q = Q(3)) -> None:
    """One hidden unit: W_2 relu(h) at h = 3 with r = 3 is 3 W_2; with W_2/r and hbar = 1 it is W_2/3."""
    r, second = Q(3), Q(5)

    def net_with(weight: Q) -> FeedForward:
        return FeedForward((Affine(as_exact([[1]])), Affine(as_exact([[weight]]))), activations=("relu", "identity"))

    value = net_with(second)(as_exact([[h]]))[0, 0]
    record.hypothesis("the state lies in the ball of radius r_h", h, "<=", r)
    record.violated(
        "the prediction with W_2/r_h is as before", net_with(second / r)(as_exact([[h / r]]))[0, 0], "=", value
    )
    assert value == net_with(r * second)(as_exact([[h / r]]))[0, 0] == 15
