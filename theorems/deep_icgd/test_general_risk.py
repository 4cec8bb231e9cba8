"""Four layers per step for a general risk: theorem 6 on losses that are no functions of sums.

Over the rationals the block is compared with plain projected gradient descent, every token and slot; for smooth losses
with torch's autograd, within the bounds that the block states of itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmata.constructions.descent.risk import RiskDescentBlock, risk_descent_block
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stored import StoredFeedForward
from lemmata.constructions.networks.stream import Directions
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions import waves
from lemmata.numerics.functions.relu_sums import ReluSum, piecewise_linear, ridge
from lemmata.numerics.functions.smooth import SmoothFunction, identity
from lemmata.numerics.functions.waves import WaveSum
from lemmata.theorems.deep_icgd.instances import interpolate, rationals
from lemmata.theorems.evidence import check, proof_steps

# ---- over the rationals: losses sum_j Phi_j(v_j . (w, x, y)) with piecewise linear Phi_j'


@dataclass(frozen=True)
class Ridges:
    """Profiles phi_j = Phi_j' as knots with values, and directions v_j."""

    knots: list[fmpq]
    values: list[list[fmpq]]
    directions: list[list[fmpq]]

    def entry(self, k: int) -> ReluSum:
        """d l/d w_k = sum_j v_jk phi_j(v_j . z) as a sum of ReLUs."""
        parts = [
            ridge(piecewise_linear(self.knots, [v[k] * t for t in values]), v)
            for values, v in zip(self.values, self.directions, strict=True)
            if v[k]
        ]
        c, a = (np.concatenate([getattr(part, name) for part in parts]) for name in ("coefficients", "directions"))
        return ReluSum(c, a)

    def gradient(self, z: list[fmpq], count: int) -> list[fmpq]:
        """The gradient in the first `count` variables, by the definition."""
        total = [fmpq(0)] * count
        for values, v in zip(self.values, self.directions, strict=True):
            slope = interpolate(self.knots, values)(sum((s * t for s, t in zip(v, z, strict=True)), fmpq(0)))
            total = [old + v[k] * slope for k, old in enumerate(total)]
        return total


def random_ridges(rng: np.random.Generator, arity: int) -> Ridges:
    knots = [fmpq(i, 2) for i in range(-3, 4)]
    values = [[fmpq(int(v), 4) for v in rng.integers(-6, 7, len(knots))] for _ in range(3)]
    return Ridges(knots, values, [[fmpq(int(v), 2) for v in rng.choice([-2, -1, 1, 2], arity)] for _ in range(3)])


def rational_softmax(block: RiskDescentBlock) -> RiskDescentBlock:
    """The block with hard attention: all scores are 0, so that ties average, as the softmax does, but over Q."""
    attention = block.layers[1]
    assert isinstance(attention, AttentionLayer)
    assert all(not head.query.count and not head.key.count and head.weigh == "softmax" for head in attention.heads)
    hard = AttentionLayer(tuple(replace(head, weigh="hardmax") for head in attention.heads))
    return replace(block, layers=(block.layers[0], hard, *block.layers[2:]))


def plain_step(
    ridges: Ridges, w: list[fmpq], x: list[list[fmpq]], y: list[list[fmpq]], eta: fmpq
) -> tuple[list[fmpq], list[fmpq]]:
    """w - eta grad L_n(w), and clipped to [-1, 1]."""
    gradients = [ridges.gradient([*w, *a, *b], len(w)) for a, b in zip(x, y, strict=True)]
    free = [v - eta * sum((g[k] for g in gradients), fmpq(0)) / len(x) for k, v in enumerate(w)]
    return free, [max(fmpq(-1), min(fmpq(1), v)) for v in free]


def moving_instance(
    rng: np.random.Generator, sizes: tuple[int, int, int, int], eta: fmpq
) -> tuple[Ridges, Array, Array, Array]:
    """A loss, data and a start from which plain descent moves in four steps and is clipped in one of them at least."""
    count, d_x, d_y, n = sizes
    while True:
        ridges = random_ridges(rng, count + d_x + d_y)
        x, y, w = rationals(rng, n + 1, d_x), rationals(rng, n, d_y), rationals(rng, count)
        run = [(w.tolist(), w.tolist())]
        for _ in range(4):
            run.append(plain_step(ridges, run[-1][1], x[:-1].tolist(), y.tolist(), eta))
        if all(a[1] != b[1] for a, b in pairwise(run)) and any(free != after for free, after in run):
            return ridges, x, y, w


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="sampled",
    target="printed",
    cases="(D_w, d_x, d_y, n) = (1, 1, 1, 1), (2, 1, 1, 3), (2, 2, 1, 2), (3, 1, 2, 4), one draw, 4 steps",
)
@proof_steps("risk.md: 1, 2, 3")
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 1, 1, 3), (2, 2, 1, 2), (3, 1, 2, 4)])
def test_four_layers_are_projected_descent_over_the_rationals(sizes: tuple[int, int, int, int]) -> None:
    """Every token and slot after every step; the test token takes no part; steps are clipped, none stands still."""
    (count, d_x, d_y, n), eta = sizes, fmpq(3, 4)
    ridges, x, y, w = moving_instance(np.random.default_rng(sum(sizes)), sizes, eta)
    sums = [ridges.entry(k) for k in range(count)]
    block = risk_descent_block((d_x, d_y), n, eta, sums, (-1, 1), 1, 1)
    assert len(block.layers) == 4
    assert float(block.gradient_error) == 0
    exact = rational_softmax(block)
    z, expected, clipped = block.prompt(x, y, w), w.tolist(), 0
    for _ in range(4):
        before = expected
        stages = list(exact.stages(z))
        free, expected = plain_step(ridges, before, x[:-1].tolist(), y.tolist(), eta)
        assert expected != before
        clipped += free != expected
        stream = block.layout.stream
        assert (stages[0][-1, stream["G"]] == 0).all()
        assert (stages[1][..., stream["w"]] == np.array(free, dtype=object)).all()
        z = stages[3]
        assert (z == block.layout.encode(x, y, np.array(expected, dtype=object))).all()
    assert clipped > 0


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="numeric",
    target="printed",
    cases="(D_w, d_x, d_y, n) = (2, 2, 1, 2), one draw, one step with the softmax itself",
)
@proof_steps("risk.md: 2")
def test_softmax_step_encloses_the_rational_one() -> None:
    """The softmax attention in balls, dense as well: every slot contains the step over Q, to 1e-20."""
    rng = np.random.default_rng(3)
    ridges = random_ridges(rng, 5)
    block = risk_descent_block((2, 1), 2, "1/2", [ridges.entry(k) for k in range(2)], (-1, 1), 1, 1)
    x, y, w = rationals(rng, 3, 2), rationals(rng, 2, 1), rationals(rng, 2)
    _, expected = plain_step(ridges, w.tolist(), x[:-1].tolist(), y.tolist(), fmpq(1, 2))
    target = as_balls(block.layout.encode(x, y, np.array(expected, dtype=object)))
    for form in (block, block.dense()):
        found = form.to_balls()(as_balls(block.prompt(x, y, w)))
        assert all(abs(a - b) < 1e-12 for a, b in zip(found.ravel(), target.ravel(), strict=True))


# ---- smooth losses that are no functions of sums


@dataclass(frozen=True)
class Smooth:
    """A loss for torch, the entries of its gradient as sums of waves of (w, x, y), and a bound of its Hessian."""

    loss: Callable[..., torch.Tensor]
    entries: list[WaveSum]
    sums: list[ReluSum]
    lipschitz: fmpq
    radius: fmpq


@cache
def sine_of_a_product() -> Smooth:
    """l = (sin(3 w x) - y)^2 / 2 for |w|, |x|, |y| <= 1/2: 3 w x = (3/4)(u^2 - v^2) with u = w + x, v = w - x.

    l' = (3/2) x sin(6 w x) - 3 x y cos(3 w x), and |l''| = |9 x^2 cos(6 w x) + 9 x^2 y sin(3 w x)| <= 9/4 + 9/8.
    """
    R = fmpq(1, 2)

    def parts(a: fmpq) -> list[WaveSum]:
        formulas: list[tuple[Callable[[Any], Any], int]] = [
            (lambda t: (a * t * t).sin(), 0),
            (lambda t: (a * t * t).cos(), 0),
            (lambda t: t * (a * t * t).sin(), 1),
            (lambda t: t * (a * t * t).cos(), 1),
        ]
        return [waves.fitted_waves(SmoothFunction("part", f), 1, "3/2", 3, parity) for f, parity in formulas]

    def joined(a: fmpq, signs: tuple[int, ...], pairs: tuple[tuple[int, int], ...]) -> WaveSum:
        f, order = parts(a), zip(signs, pairs, strict=True)
        terms = [(f[i].along([1, 1, 0], R) * f[j].along([1, -1, 0], R)).scaled(s) for s, (i, j) in order]
        return terms[0] + terms[1] + terms[2] + terms[3]

    # x = (u - v)/2, sin(a - b) = sin a cos b - cos a sin b, cos(a - b) = cos a cos b + sin a sin b
    with_sine = joined(fmpq(3, 2), (1, -1, -1, 1), ((2, 1), (3, 0), (0, 3), (1, 2)))
    with_cosine = joined(fmpq(3, 4), (1, 1, -1, -1), ((3, 1), (2, 0), (1, 3), (0, 2)))
    y = waves.fitted_waves(identity, R, 2, 2, 1).along([0, 0, 1], R)
    entry = with_sine.scaled("3/4") + (with_cosine * y).scaled("-3/2")

    def loss(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (torch.sin(3 * w[0] * x[:, 0]) - y[:, 0]) ** 2 / 2

    return Smooth(loss, [entry], [entry.relu_sum("1/4")], fmpq(27, 8), R)


@cache
def amplitude_and_phase() -> Smooth:
    """l = (w_2 sin(3 (w_1 + x)) - y)^2 / 2 for |w_k|, |x|, |y| <= 1, s = 3 (w_1 + x).

    d_1 l = (3/2) w_2^2 sin 2s - 3 w_2 y cos s and d_2 l = w_2 (1 - cos 2s)/2 - y sin s. Of the second derivatives
    |d_11| <= 18, |d_12| <= 6, |d_22| <= 1, so that the norm of the Hessian is at most sqrt(324 + 72 + 1) < 20.
    """
    one = fmpq(1)
    t = waves.fitted_waves(identity, 1, "5/4", 2, 1)
    w, y = t.along([0, 1, 0, 0], 1), t.along([0, 0, 0, 1], 1)
    square = waves.fitted_waves(SmoothFunction("t^2", lambda t: t * t), 1, "5/4", 2, 0).along([0, 1, 0, 0], 1)

    def along_s(m: int, cosine: object, sine: object) -> WaveSum:
        return waves.wave([3 * m, 0, 3 * m, 0], cosine, sine, 1)

    entries = [
        square * along_s(2, 0, "3/2") + w * y * along_s(1, -3, 0),
        w * (waves.wave([0, 0, 0, 0], "1/2", 0, 1) + along_s(2, "-1/2", 0)) + y * along_s(1, 0, -1),
    ]

    def loss(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (w[1] * torch.sin(3 * (w[0] + x[:, 0])) - y[:, 0]) ** 2 / 2

    return Smooth(loss, entries, [entry.relu_sum("1/8") for entry in entries], fmpq(20), one)


SMOOTH: dict[str, Callable[[], Smooth]] = {"sin 3wx": sine_of_a_product, "amplitude and phase": amplitude_and_phase}


def autograd(loss: Callable[..., torch.Tensor], w: Any, x: Any, y: Any) -> np.ndarray:
    """The gradient of (1/n) sum_i l(w, x_i, y_i)."""
    weights = torch.tensor(w, requires_grad=True)
    risk = loss(weights, torch.tensor(x), torch.tensor(y)).mean()
    return torch.autograd.grad(risk, weights)[0].numpy()


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="numeric",
    target="printed",
    cases="(sin 3wx - y)^2/2 with one weight, (w_2 sin(3(w_1 + x)) - y)^2/2 with two; n = 6, 4 starts, 5 steps; seed 0",
)
@proof_steps("risk.md: 4, 10")
@pytest.mark.parametrize("name", SMOOTH)
def test_steps_and_trajectories_stay_within_their_bounds(name: str, record_property: Any) -> None:
    """Each step against autograd at the block's own iterate, and the run against plain projected gradient descent.

    The bounds are those that the block states (`gradient_error`, `trajectory_error`), plus 1e-9 for float64. The error
    of a step is also a twentieth of the largest gradient at most.
    """
    case = SMOOTH[name]()
    R, n, eta, rng = float(case.radius), 6, 0.25 / float(case.lipschitz), np.random.default_rng(0)
    count = len(case.sums)
    step = fmpq(1, 4) / case.lipschitz
    block = risk_descent_block((1, 1), n, step, case.sums, (-case.radius, case.radius), case.radius, case.radius)
    eps, run = float(block.gradient_error), block.to_float()
    bounds = [0.0, *(float(block.trajectory_error(s, case.lipschitz)) for s in range(1, 6))]
    errors, sizes, distances, clipped = [], [], [], 0
    for _ in range(4):
        x, y, w = (rng.uniform(-R, R, shape) for shape in ((n + 1, 1), (n, 1), count))
        found = run.trajectory(run.prompt(x, y, w), 5)
        truth = w
        for l, (before, after) in enumerate(pairwise(found)):
            gradient = autograd(case.loss, before, x[:-1], y)
            free = before - eta * gradient
            inside = (np.abs(after) < R) & (np.abs(free) < R)
            clipped += not inside.all()
            errors.append(float(np.linalg.norm((after - np.clip(free, -R, R)) / eta)))
            sizes.append(float(np.linalg.norm(gradient)))
            truth = np.clip(truth - eta * autograd(case.loss, truth, x[:-1], y), -R, R)
            distances.append(float(np.linalg.norm(found[l + 1] - truth)))
            assert errors[-1] <= eps + 1e-9
            assert distances[-1] <= bounds[l + 1] + 1e-9
    record_property("certified_gradient_error", round(eps, 4))
    record_property("largest_error", round(max(errors), 4))
    record_property("largest_gradient", round(max(sizes), 2))
    record_property("largest_distance", f"{max(distances):.1e} <= {bounds[-1]:.1e}")
    record_property("clipped_steps", clipped)
    assert max(errors) <= 0.05 * max(sizes)
    assert bounds[-1] < 2 * R


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="numeric",
    target="printed",
    cases="all parts of the two smooth losses, 600 random points of the cube each; seed 2",
)
@proof_steps("risk.md: 10")
@pytest.mark.parametrize("name", SMOOTH)
def test_sums_of_the_smooth_losses_keep_their_errors(name: str, record_property: Any) -> None:
    """The sums of ReLUs against autograd of a single loss, within the errors that they state."""
    case, rng = SMOOTH[name](), np.random.default_rng(2)
    R = float(case.radius)
    z = rng.uniform(-R, R, (600, case.sums[0].arity))
    count = len(case.sums)
    w = torch.tensor(z[:, :count], requires_grad=True)
    x, y = torch.tensor(z[:, count : count + 1]), torch.tensor(z[:, count + 1 :])
    gradient = torch.autograd.grad(case.loss(w.T, x, y).sum(), w)[0].numpy()
    for k, sums in enumerate(case.sums):
        off = float(np.abs(sums(*z.T) - gradient[:, k]).max())
        record_property(f"entry_{k}", f"{off:.4f} <= {float(sums.error):.4f}, {sums.units} units")
        assert off <= float(sums.error)
        assert off < 0.05 * np.abs(gradient[:, k]).max()
    for count, parity in ((0, 1), (2, 2)):
        with pytest.raises(ValueError, match="parity"):
            waves.fitted_waves(identity, 1, "5/4", count, parity)
    assert waves.fitted_waves(identity, 1, "5/4", 1, 1).terms
    fit = waves.fitted_waves(identity, 1, "5/4", 2, 1)
    t = np.linspace(-1, 1, 2001)
    seen = np.abs(sum(float(b) * np.sin(float(w[0]) * t) for w, (_, b) in fit.terms.items()) - t).max()
    assert seen <= float(fit.error) <= 17 / 16 * seen + 2**-11


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="numeric",
    target="printed",
    cases="errors 3/10 and 4/10, eta = 1/3, L = 5, four steps",
)
def test_bounds_of_the_block_are_those_of_the_proof() -> None:
    """eps = (9/100 + 16/100)^(1/2) = 1/2, and d_(s+1) = (1 + eta L) d_s + eta eps from d_0 = 0."""
    sums = [replace(ridge(piecewise_linear([-1, 1], [-1, 1]), [1, 1, 1, 1]), error=fmpq(k, 10)) for k in (3, 4)]
    block = risk_descent_block((1, 1), 2, "1/3", sums, (-1, 1), 1, 1)
    assert abs(block.gradient_error - fmpq(1, 2)) < 1e-12
    distance = fmpq(0)
    for steps in range(1, 5):
        distance = (1 + fmpq(5, 3)) * distance + fmpq(1, 6)
        assert abs(block.trajectory_error(steps, 5) - distance) < 1e-10


# ---- other bounds, boxes and domains


BOUNDS: dict[str, tuple[tuple[Any, Any], Any, Any]] = {
    "weights largest": ((["-1/2", -3], [4, "1/4"]), 1, 1),
    "inputs largest": ((["-1/4", -1], [1, "1/2"]), 4, 1),
    "all below 1": ((["-1/8", "-1/4"], ["1/4", "1/8"]), "1/4", "1/4"),
}


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="sampled",
    target="printed",
    cases="(D_w, d_x, d_y, n) = (2, 1, 1, 2), three boxes with four different ends, two losses, all corners; seed 6",
)
@proof_steps("risk.md: 1, 3")
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_of_any_size_keep_the_test_token_out(name: str) -> None:
    """Starts and test inputs at the ends of their ranges: the test token writes 0, and the step ends in the box."""
    box, bound, label = BOUNDS[name]
    lower, upper = (as_exact(end).tolist() for end in box)
    rng, beyond = np.random.default_rng(6), 0
    for _ in range(2):
        ridges = random_ridges(rng, 4)
        sums = [ridges.entry(k) for k in range(2)]
        block = risk_descent_block((1, 1), 2, "3/4", sums, box, bound, label)
        exact, stream = rational_softmax(block), block.layout.stream
        x, y = (rationals(rng, 2, 1) * fmpq(str(size)) for size in (bound, label))
        for w in product(*zip(lower, upper, strict=True)):
            for last in (fmpq(str(bound)), -fmpq(str(bound))):
                data = np.concatenate([x, np.array([[last]], dtype=object)])
                stages = list(exact.stages(block.prompt(data, y, np.array(w, dtype=object))))
                assert (stages[0][-1, stream["G"]] == 0).all()
                free, _ = plain_step(ridges, list(w), x.tolist(), y.tolist(), fmpq(3, 4))
                after = [max(lo, min(hi, v)) for v, lo, hi in zip(free, lower, upper, strict=True)]
                beyond += after != free
                assert (stages[3] == block.layout.encode(data, y, np.array(after, dtype=object))).all()
    assert beyond > 4


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="exact",
    target="printed",
    cases="sums certified for sizes up to 1/8; one of the weights, the inputs, the labels up to 1/4, and none",
)
def test_sums_are_refused_where_they_are_not_certified() -> None:
    """The cube of a sum must hold the weights, the inputs and the labels: the errors of step 4 are claimed there."""
    small, large = fmpq(1, 16), fmpq(1, 4)
    ridges = random_ridges(np.random.default_rng(6), 3)
    narrow = [replace(ridges.entry(0), radius=fmpq(1, 8))]

    def accepted(weight: fmpq, bound: fmpq, label: fmpq) -> bool:
        try:
            risk_descent_block((1, 1), 2, "3/4", narrow, (0, weight), bound, label)
        except ValueError as error:
            return "on which the sum of ReLUs is certified" not in str(error)
        return True

    assert accepted(small, small, small)
    assert not any(accepted(*sizes) for sizes in ((large, small, small), (small, large, small), (small, small, large)))


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="sampled",
    target="printed",
    cases="W = {|w_1 + w_2| <= 1, |w_1 - w_2| <= 1/2}, (d_x, d_y, n) = (1, 1, 2), ten draws, one step; seed 7",
)
@proof_steps("risk.md: 3")
def test_any_projection_that_is_an_mlp_may_stand_in_the_fourth_layer() -> None:
    """A domain that is no box: the step lands in W, and w - w' has no positive product with v - w', v a corner of W."""
    rng, moved = np.random.default_rng(7), 0
    corners = [(fmpq(s) / 2 + fmpq(t) / 4, fmpq(s) / 2 - fmpq(t) / 4) for s in (1, -1) for t in (1, -1)]
    for _ in range(10):
        ridges = random_ridges(rng, 4)
        block = risk_descent_block((1, 1), 2, "1/4", [ridges.entry(k) for k in range(2)], (-1, 1), 1, 1)
        one = block.layout.one.broadcast(2)
        w = block.layout.all_weights
        layers: list[StoredFeedForward] = []
        for normal, end in (((1, 1), fmpq(1)), ((1, -1), fmpq(1, 2))):
            for sign in (1, -1):  # minus the normal / 2 times relu(sign normal . w - end), with the sign
                source = Directions.stack([w[[0, 0]], w[[1, 1]], one], axis=-1)
                row = [fmpq(sign * normal[0]), fmpq(sign * normal[1]), -end]
                target = np.array([fmpq(-sign * n, 2) for n in normal], dtype=object)
                layers.append(StoredFeedForward(source, np.array([row, row], dtype=object), w, target))
        projection = layers[0].beside(layers[1]).beside(layers[2]).beside(layers[3])
        exact = rational_softmax(replace(block, layers=(*block.layers[:3], projection)))
        x, y = rationals(rng, 3, 1), rationals(rng, 2, 1)
        start = np.array(corners[int(rng.integers(4))], dtype=object)
        free, _ = plain_step(ridges, start.tolist(), x[:-1].tolist(), y.tolist(), fmpq(1, 4))
        (after,) = {tuple(row) for row in block.weights(exact(block.prompt(x, y, start))).reshape(-1, 2).tolist()}
        assert abs(after[0] + after[1]) <= 1
        assert abs(after[0] - after[1]) <= fmpq(1, 2)
        away = [a - b for a, b in zip(free, after, strict=True)]
        assert all(sum((a * (c - b) for a, b, c in zip(away, after, v, strict=True)), fmpq(0)) <= 0 for v in corners)
        moved += any(away)
    assert moved >= 3


# ---- what "Lipschitz gradient" has to mean


@check("deep-icgd:theorem-6", "deep-icgd:theorem-3", grade="exact", target="printed", supporting=True)
@proof_steps("risk.md: 11")
def test_no_transformer_follows_a_gradient_that_jumps_with_the_data() -> None:
    """The gradient has to be Lipschitz in (w, x, y) jointly, as the printed proof uses it, not in w alone.

    l(w, x, y) = w sgn(x), n = 1: its gradient in w does not depend on w, so it is L-Lipschitz in w for every L. With
    eta = 1/2, W = [-1, 1] and the start 0 the step is -eta (sgn(x) + e), so that errors e(x) below 1/2 for x > 0 and
    x < 0 would make w jump from above 1/4 to below -1/4 at x = 0. A transformer is continuous in x, and cannot: on
    x = +-d the outputs approach each other and one error approaches 1 at least. Run on three blocks that follow the
    jump more and more steeply, clip(K x, -1, 1) for sgn(x): they miss it by 7/8 at x = 1/(8K), whatever K is.
    """
    for K in (1, 8, 512):
        steep = ridge(
            piecewise_linear([-1, fmpq(-1, K), fmpq(1, K), 1], [-1, -1, 1, 1]) if K > 1 else _line(), (0, 1, 0)
        )
        block = rational_softmax(risk_descent_block((1, 1), 1, "1/2", [steep], (-1, 1), 1, 1))
        outputs = []
        for x in (fmpq(1, 8 * K), fmpq(-1, 8 * K), fmpq(1), fmpq(-1)):
            z = block.prompt(as_exact([[x], [0]]), as_exact([[0]]), as_exact([0]))
            outputs.append(block.weights(block(z))[0])
        errors = [-2 * w - sign for w, sign in zip(outputs, (1, -1, 1, -1), strict=True)]
        assert errors == [-fmpq(7, 8), fmpq(7, 8), 0, 0]
        assert outputs[1] - outputs[0] == fmpq(1, 8)  # less than the 1/2 that errors below 1/2 would need


def _line() -> ReluSum:
    return piecewise_linear([-1, 1], [-1, 1])
