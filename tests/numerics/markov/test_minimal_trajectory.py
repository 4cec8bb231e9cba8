"""Trajectories of the minimal model against automatic differentiation, powers, balls and averages."""

from itertools import product

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.numerics.exact.balls import precision
from lemmata.numerics.markov.chains import dirichlet_chains
from lemmata.numerics.markov.minimal_gradient import chain_stationary_law, chain_tensor, flat_tensor
from lemmata.numerics.markov.minimal_trajectory import (
    dominance_threshold,
    linear_margin,
    nth_step,
    trajectory,
)


@pytest.mark.parametrize(("k", "t"), [(2, 4), (3, 3)])
def test_every_step_is_a_step_of_torch_on_the_enumerated_loss(k, t):
    """Five steps of SGD with weight decay on the margin loss of all k^(t+1) sequences; Delta above every gap."""
    rng = np.random.default_rng(10 * k + t)
    P = rng.dirichlet(np.ones(k), size=k)
    sequences = np.array(list(product(range(k), repeat=t + 1)))
    weights = torch.tensor(
        chain_stationary_law(P)[sequences[:, 0]] * np.prod(P[sequences[:, :-1], sequences[:, 1:]], axis=1)
    )
    start = MinimalModel(rng.normal(size=t), rng.normal(size=(k, k)))
    rates, decays = [0.7, 0.1, 1.3, 0.4, 0.9], [0.0, 0.25, 1.0, 0.0, 0.5]
    path = trajectory(chain_tensor(P, t), start.v, start.W, rates, decays)
    assert len(path) == 6
    model = start.to_torch()
    v, W = model.get_parameter("v"), model.get_parameter("W")
    for eta, decay, before, after in zip(rates, decays, path[:-1], path[1:], strict=True):
        delta = 1.01 * linear_margin(before.v, before.W)
        gaps = delta + model(torch.tensor(sequences[:, :-1]))
        gaps = gaps - (gaps - delta).gather(2, torch.tensor(sequences[:, 1:])[..., None])
        assert (gaps > 0).all()
        loss = (weights * ((gaps.clamp(min=0).sum(dim=2) - delta) / k).mean(dim=1)).sum()
        gradients = torch.autograd.grad(loss, [v, W])
        with torch.no_grad():
            for parameter, gradient in zip((v, W), gradients, strict=True):
                parameter.mul_(1 - decay).sub_(eta * gradient)
        # sums of at most 81 * 9 * 6 terms of size below 100: rounding below 1e-10
        assert np.abs(v.detach().numpy() - after.v).max() < 1e-10
        assert np.abs(W.detach().numpy() - after.W).max() < 1e-10
        assert np.abs(after.v - before.v).max() > 1e-3


def test_weights_are_updated_at_once_and_not_one_after_the_other():
    """Negative control: with the new v in the gradient of W the second entry differs."""
    C = flat_tensor(5)
    ones, W = np.full(5, fmpq(1)), np.full((2, 2), fmpq(1))
    after = trajectory(C, ones, W, [fmpq(1, 2)])[1]
    wrong = W + (C * after.v[:, None, None]).sum(axis=0) * fmpq(1, 2)
    assert all(x != y for x, y in zip(after.W.ravel(), wrong.ravel(), strict=True))


def test_powers_balls_and_exact_numbers_agree():
    t, steps, rate = 12, 6, fmpq(1, 10)
    C = flat_tensor(t)
    v, W = np.full(t, fmpq(1, 3)), np.full((2, 2), fmpq(1, 2))
    exact = trajectory(C, v, W, [rate] * steps)[-1]
    assert max(x.degree for x in exact.v) == steps
    found = nth_step(C.astype(float), v, W, 0.1, steps)
    # 1 + eta s < 2, and about 100 operations on numbers below 100
    assert np.abs(found.v / exact.v.astype(float) - 1).max() < 1e-12
    assert np.abs(found.W / exact.W.astype(float) - 1).max() < 1e-12
    with precision(200):
        start = [np.array([arb(x) for x in a.ravel()], dtype=object).reshape(a.shape) for a in (v, W)]
        tensor = np.array([x.ball(200) for x in C.ravel()], dtype=object).reshape(C.shape)
        balls = trajectory(tensor, start[0], start[1], [arb(rate)] * steps)[-1]
    for ball, number in zip([*balls.v, *balls.W.ravel()], [*exact.v, *exact.W.ravel()], strict=True):
        assert ball.contains(number.ball(400).mid())
        assert ball.rel_accuracy_bits() > 80
    assert np.abs(nth_step(C.astype(float), v, W, 0.1, 0).v - v.astype(float)).max() < 1e-15


def test_margin_bounds_every_gap():
    """All sequences of 6 symbols at signed weights; equality is approached at equal weights of one sign, up to 2."""
    rng = np.random.default_rng(0)
    for v, W in [(rng.normal(size=6), rng.normal(size=(2, 2))), (np.ones(6), np.ones((2, 2)))]:
        model = MinimalModel(v, W)
        gap = max(np.ptp(model(x), axis=1).max() for x in product(range(2), repeat=6))
        assert gap <= linear_margin(v, W)
    assert gap == linear_margin(v, W) / 2


@pytest.mark.parametrize("t", [2, 9, 10, 14, 40])
def test_two_exact_steps_below_and_above_the_threshold(t):
    """v_2 against v_1 after two steps, for c = 1 and c = 2/3, a per mille on either side of eta*(t)."""
    threshold = dominance_threshold(t)
    assert (threshold is None) == (t <= 9)
    centre = fmpq(100) if threshold is None else fmpq(round(float(threshold.mid()) * 10**9), 10**9)
    for c in (fmpq(1), fmpq(2, 3)):
        for factor, larger in ((fmpq(999, 1000), False), (fmpq(1001, 1000), t >= 10)):
            start = np.full(t, c), np.full((2, 2), c)
            v = trajectory(flat_tensor(t), *start, [centre * factor] * 2)[-1].v
            assert (v[1] > v[0]) == larger


def test_threshold_has_the_accuracy_that_is_asked_for():
    """At t = 60, where the coefficients cancel about 150 bits."""
    rough, fine = dominance_threshold(60), dominance_threshold(60, 300)
    assert rough is not None
    assert fine is not None
    assert rough.overlaps(fine)
    assert 50 < rough.rel_accuracy_bits() < 80
    assert fine.rel_accuracy_bits() > 290
    for t in (1, 0, 2.0, True):
        with pytest.raises(ValueError, match="context length t must be an integer >= 2"):
            dominance_threshold(t)


def test_mean_over_chains():
    """4000 flat chains, within five standard errors."""
    tensors = np.array([chain_tensor(P, 8) for P in dirichlet_chains(2, 4000, np.random.default_rng(1))])
    error, exact = tensors.std(axis=0, ddof=1) / np.sqrt(len(tensors)), flat_tensor(8).astype(float)
    assert (np.abs(tensors.mean(axis=0) - exact) < 5 * error + 1e-14).all()
    assert error.max() < 0.1 * np.abs(exact).max()


def test_bad_input():
    C = np.zeros((4, 2, 2))
    with pytest.raises(ValueError, match=r"v \(3,\)"):
        trajectory(C, np.ones(3), np.ones((2, 2)), [1.0])
    with pytest.raises(ValueError, match=r"W \(3, 3\)"):
        nth_step(C, np.ones(4), np.ones((3, 3)), 0.1, 2)
    with pytest.raises(ValueError, match="2 decays are given for 1 rates"):
        trajectory(C, np.ones(4), np.ones((2, 2)), [1.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="number of steps must be an integer >= 0, not -1"):
        nth_step(C, np.ones(4), np.ones((2, 2)), 0.1, -1)
    with pytest.raises(ValueError, match="overflow within 100000 steps"):
        nth_step(C + 1, np.ones(4), np.ones((2, 2)), 1.0, 100_000)
