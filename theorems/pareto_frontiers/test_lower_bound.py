"""Section 6.3.1: gradient descent with adversarial noise does not see most parities.

Repaired proposition 6.3: where the gradient estimates for the target itself are within tau/2 of their means and
r T/(tau^2 delta) <= C(n,k)/4, some parity stays hidden with probability 1 - delta over theta_0: noise in [-tau, tau]
keeps the iterates on the target-free trajectory theta*. The constant 1/4 is sharp, and the printed 1/2 is not enough:
a model that guesses a parity (`guessing_model`) is exposed by it. With the printed assumption, on the target 0, even
one sample would do (`test_the_printed_assumption_hides_nothing`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as Q
from itertools import combinations, product
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch
from flint import fmpq

from lemmata.certificates.duality.tangent_model import flat_parameters, tangent_model
from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.groups.codes import near_orthogonal_codes
from lemmata.numerics.parity.lower_bound import (
    NoisyDescent,
    ParityView,
    class_bound,
    class_deviations,
    parity_view,
    relu_tables,
    run_hidden,
    view_bound,
)
from lemmata.numerics.parity.queries import empirical_answers, gradient_samples, query_samples, query_search
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


def parity(n: int, S: tuple[int, ...]) -> np.ndarray:
    return sign_inputs(n)[:, list(S)].prod(axis=1)


def sets(n: int, k: int) -> list[tuple[int, ...]]:
    """In the order of the bit masks, as in a view."""
    return sorted(combinations(range(n), k), key=lambda S: sum(1 << i for i in S))


def start(n: int, width: int, seed: int) -> np.ndarray:
    """Weights with |w|_1 + |b| = 0.9 and |u| = 0.9: all derivatives stay at most 1 for small steps."""
    rng = np.random.default_rng([13, seed])
    rows = rng.exponential(size=(width, n + 1)) ** 2 * rng.choice([-1, 1], size=(width, n + 1))
    rows *= 0.9 / np.abs(rows).sum(axis=1, keepdims=True)
    return np.concatenate([rows[:, :n].ravel(), rows[:, n], 0.9 * rng.choice([-1, 1], size=width), [0]])


def torch_gradient(n: int, width: int, theta: np.ndarray, target: np.ndarray, decay: float) -> np.ndarray:
    """The gradient of E (h - target)^2/2 + decay/2 |theta|^2 over the cube, by autograd in float64."""
    p = torch.tensor(theta, requires_grad=True)
    w, b, u, c = torch.split(p, [width * n, width, width, 1])
    h = torch.relu(torch.tensor(sign_inputs(n), dtype=torch.float64) @ w.reshape(width, n).T + b) @ u + c
    loss = ((h - torch.tensor(target)) ** 2).mean() / 2 + decay / 2 * (p**2).sum()
    loss.backward()
    assert p.grad is not None
    return p.grad.numpy()


# ---- the setting


@check(
    "pareto-frontiers:definition-sq-sgd",
    grade="numeric",
    target="printed",
    cases="ReLU networks, n = 6, width 3, decay 0 and 1/10, 5 steps, 2 seeds; noisy runs on 3 targets each",
)
@proof_steps("lower-bound.md: 1")
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_two_trajectories_are_those_of_the_definition(seed: int, decay: float) -> None:
    """theta* descends on the population loss of the target 0, and a noisy run on that of chi_S plus the noise.

    Autograd takes the gradients. Both sides add at most 2^6 numbers of size 2 in float64, and round to 2^-40.
    """
    n, width, rate = 6, 3, 0.05
    descent = NoisyDescent(relu_tables(n, width), rate, decay)
    tau, clipped = 0.02, 0
    view = parity_view(descent, start(n, width, seed), 5, 3, tau)
    for now, after in zip(view.trajectory, view.trajectory[1:], strict=False):
        step = torch_gradient(n, width, now, np.zeros(2**n), decay)
        assert np.abs(now - rate * step - after).max() < 2.0**-38
        assert np.abs(step).max() > 1e-3
    for S in sets(n, 3)[::7]:
        run = run_hidden(descent, view, S, [np.arange(2**n)] * 5)
        for t, noise in enumerate(run.noise):
            step = torch_gradient(n, width, run.trajectory[t], parity(n, S).astype(float), decay)
            assert np.abs(run.trajectory[t] - rate * (step + noise) - run.trajectory[t + 1]).max() < 2.0**-38
            assert np.abs(noise).max() <= tau
            clipped += np.abs(noise).max() == tau
    assert clipped > 0  # the noise is at its limit somewhere


@check("pareto-frontiers:definition-sq-sgd", grade="symbolic", target="printed", supporting=True)
@proof_steps("lower-bound.md: 1")
def test_the_derivatives_of_two_losses() -> None:
    """The square loss has l_0(h) = h. The hinge loss has l_0 = 0 where y h < 1, and is of another form beyond."""
    h, y = sp.symbols("h y", real=True)
    assert sp.expand(sp.diff((y - h) ** 2 / 2, h) - (-y + h)) == 0
    hinge = sp.Piecewise((1 - y * h, y * h < 1), (0, True))
    assert sp.diff(hinge, h).subs({h: 0}).simplify() == -y
    assert [sp.diff(hinge, h).subs({y: 1, h: 2}), sp.diff(hinge, h).subs({y: -1, h: 2})] == [
        0,
        1,
    ]  # -y + l_0: l_0 = 1, 0


# ---- lemma C.1


def table_model(h: np.ndarray, slopes: np.ndarray) -> Callable[[Any], tuple[Any, Any]]:
    """A model with these tables at every theta."""
    return lambda theta: (h, slopes)


def fractions_of(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Random rationals in [-1, 1]."""
    return as_exact([Q(int(a), 7) for a in rng.integers(-7, 8, size=np.prod(shape))]).reshape(shape)


@check(
    "pareto-frontiers:lemma-C.1",
    grade="exact",
    target="printed",
    cases="rational tables of h and two derivatives, n = 3, ..., 6, all k, 3 seeds each",
)
@proof_steps("lower-bound.md: 2")
@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_mean_squared_correlation(n: int, seed: int) -> None:
    """g_i(chi_S) = E[(h - chi_S) d_i h] by the definition, for every S; the view takes Walsh-Hadamard transforms."""
    rng = np.random.default_rng([1, n, seed])
    h, slopes = 3 * fractions_of(rng, (2**n,)), fractions_of(rng, (2**n, 2))
    descent = NoisyDescent(table_model(h, slopes), 1)
    for k in range(1, n + 1):
        view = parity_view(descent, as_exact([0, 0]), 1, k, 1)
        squares = as_exact(np.zeros((len(sets(n, k)), 2), dtype=int))
        for row, S in enumerate(sets(n, k)):
            gradient = ((h - parity(n, S))[:, None] * slopes).sum(axis=0) * fmpq(1, 2**n)
            free = (h[:, None] * slopes).sum(axis=0) * fmpq(1, 2**n)
            squares[row] = (gradient - free) ** 2
            assert view.deviations[row] ** 2 == max(squares[row])
        assert (view.visible_mass[0] == squares.sum(axis=0)).all()
        assert all(mean <= fmpq(1, comb(n, k)) for mean in squares.sum(axis=0) / comb(n, k))
        assert all(mass > 0 for mass in view.visible_mass[0])
    table = rng.integers(-8, 9, (2**n, 2)) / 8  # dyadic, so that float64 is exact
    for k in range(1, n + 1):
        view = parity_view(NoisyDescent(table_model(table[:, 0], table), 1), np.zeros(2), 1, k, 1)
        sizes = [np.abs(parity(n, S) @ table / 2**n).max() for S in sets(n, k)]
        assert view.deviations.tolist() == sizes


@check(
    "pareto-frontiers:lemma-C.1",
    grade="exact",
    target="printed",
    cases="derivative chi_S0, n = 3, ..., 6, all k",
)
@proof_steps("lower-bound.md: 2")
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_a_parity_as_derivative_attains_the_bound(n: int) -> None:
    """The mean is then 1/C(n,k) exactly; a derivative 8/7 times as large is refused."""
    for k in range(1, n + 1):
        chi = parity(n, sets(n, k)[-1])
        model = table_model(as_exact(0 * chi), as_exact(chi)[:, None])
        view = parity_view(NoisyDescent(model, 1), as_exact([0]), 1, k, 1)
        assert view.visible_mass[0, 0] / comb(n, k) == fmpq(1, comb(n, k))
        assert view.deviations.tolist() == [0] * (comb(n, k) - 1) + [1]
        larger = table_model(as_exact(0 * chi), as_exact(chi)[:, None] * fmpq(8, 7))
        with pytest.raises(ValueError, match=r"the derivative in parameter 0 reaches 1\.14"):
            parity_view(NoisyDescent(larger, 1), as_exact([0]), 1, k, 1)


# ---- proposition 6.3


@check(
    "pareto-frontiers:proposition-6.3",
    grade="numeric",
    target="corrected",
    cases="ReLU networks, (n, k, width) = (8, 3, 2), (10, 4, 1), (12, 6, 1), 3 steps, 2 seeds each",
)
@proof_steps("lower-bound.md: 3, 4, 5")
@pytest.mark.parametrize(("n", "k", "width"), [(8, 3, 2), (10, 4, 1), (12, 6, 1)])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_hidden_parities_of_networks(n: int, k: int, width: int, seed: int, record_property: Any) -> None:
    """Deviations as sums over the cube; the count; and bitwise equal runs for the hidden parities, on the whole cube
    and on batches that meet the assumption. tau is the median of twice the deviations: there are both kinds.

    Rounding: the sums of 2^12 numbers of size 1 in float64 err by at most 2^-40.
    """
    descent = NoisyDescent(relu_tables(n, width), 0.02)
    first = start(n, width, seed)
    tau = 2 * float(np.median(parity_view(descent, first, 3, k, 1.0).deviations))
    view = parity_view(descent, first, 3, k, tau)
    tables = [relu_tables(n, width)(theta)[1] for theta in view.trajectory[:-1]]
    parities = (parity(n, S) for S in sets(n, k))
    brute = [max(np.abs(chi @ slopes / 2**n).max() for slopes in tables) for chi in parities]
    assert np.abs(np.array(brute) - view.deviations).max() < 2.0**-40
    assert view.visible_mass.max() <= 1
    assert len(view.exposed) <= 4 * len(first) * 3 / tau**2
    assert len(view.hidden) + len(view.exposed) == comb(n, k)
    assert min(len(view.hidden), len(view.exposed)) > comb(n, k) // 20
    rng = np.random.default_rng([63, n, seed])
    whole = [np.arange(2**n)] * 3
    for S in view.hidden[:: len(view.hidden) // 5]:
        run = run_hidden(descent, view, S, whole)
        assert run.hidden
        assert run.needed <= tau / 2 + 2.0**-38
        batches, copies = [], 1
        while len(batches) < 3:  # some random inputs more than the cube, as often as the assumption needs it
            batch = np.concatenate([np.tile(whole[0], copies), rng.integers(2**n, size=2**n // 4)])
            if _error(descent, view, S, len(batches), batch) <= tau / 2:
                batches.append(batch)
            copies += 1
        run = run_hidden(descent, view, S, batches)
        assert run.hidden
        assert (run.trajectory == view.trajectory).all()
        assert np.abs(run.noise).max() <= tau
    worst = max(zip(view.deviations, sets(n, k), strict=True))
    assert not run_hidden(descent, parity_view(descent, first, 3, k, 0.9 * worst[0]), worst[1], whole).hidden
    record_property(f"n = {n}, k = {k}, r = {len(first)}: largest deviation", round(float(worst[0]), 4))


def _error(descent: NoisyDescent, view: ParityView, S: tuple[int, ...], t: int, batch: np.ndarray) -> float:
    """The largest distance of the gradient of a batch from its mean, on the target chi_S at theta*_t."""
    h, slopes = descent.model(view.trajectory[t])
    terms = (h - parity(view.inputs, S))[:, None] * slopes
    return float(np.abs(terms[batch].mean(axis=0) - terms.mean(axis=0)).max())


class Scaled(torch.nn.Module):
    """Half of the output of a network with two hidden layers, tanh and GELU."""

    def __init__(self, n: int) -> None:
        super().__init__()
        first, second = torch.nn.Linear(n, 4), torch.nn.Linear(4, 3)
        self.layers = torch.nn.Sequential(first, torch.nn.Tanh(), second, torch.nn.GELU(), torch.nn.Linear(3, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x) / 2


@check(
    "pareto-frontiers:proposition-6.3",
    grade="numeric",
    target="corrected",
    cases="a torch network with two hidden layers, n = 6, k = 3, 47 parameters, 3 steps, on the whole cube (seed 0)",
)
@proof_steps("lower-bound.md: 5")
def test_the_hidden_parities_of_a_deep_network() -> None:
    """The same for a network whose derivatives come from autograd: deviations, count, equal and unequal runs."""
    n, k = 6, 3
    torch.manual_seed(0)
    network = Scaled(n)
    model, first = tangent_model(network, n), flat_parameters(network)
    descent = NoisyDescent(model, 0.1)
    tau = 2 * float(np.median(parity_view(descent, first, 3, k, 1.0).deviations))
    view = parity_view(descent, first, 3, k, tau)
    tables = [model(theta)[1] for theta in view.trajectory[:-1]]
    parities = (parity(n, S) for S in sets(n, k))
    brute = [max(np.abs(chi @ slopes / 2**n).max() for slopes in tables) for chi in parities]
    assert np.abs(np.array(brute) - view.deviations).max() < 2.0**-40
    assert 0 < len(view.exposed) <= 4 * len(first) * 3 / tau**2
    whole = [np.arange(2**n)] * 3
    assert all(run_hidden(descent, view, S, whole).hidden for S in view.hidden[::4])
    worst = max(zip(view.deviations, sets(n, k), strict=True))
    assert not run_hidden(descent, parity_view(descent, first, 3, k, 0.9 * worst[0]), worst[1], whole).hidden


@check(
    "pareto-frontiers:proposition-6.3",
    grade="exact",
    target="corrected",
    cases="(n, k, r, T) = (5, 2, 2, 1), (5, 2, 1, 2), (6, 3, 3, 2), random rational tables at 6 equally likely starts",
)
@proof_steps("lower-bound.md: 6")
@pytest.mark.parametrize(("n", "k", "r", "T"), [(5, 2, 2, 1), (5, 2, 1, 2), (6, 3, 3, 2)])
def test_the_step_of_markov(n: int, k: int, r: int, T: int) -> None:
    """For every tau, with delta as small as the hypothesis allows: some S is hidden with probability 1 - delta.

    A table is a parity of size k, half of one plus half of another, or random; the views count starts exactly.
    """
    rng = np.random.default_rng([64, n, k, r])
    largest = []
    for _ in range(6):
        steps = iter([np.stack([_slope(rng, n, k) for _ in range(r)], axis=1) for _ in range(T)])
        model = lambda theta, steps=steps: (as_exact(np.zeros(2**n, dtype=int)), next(steps))  # noqa: E731
        largest.append(parity_view(NoisyDescent(model, 1), as_exact([0] * r), T, k, 1).deviations)
    decided = 0
    for tau in (Q(1, 2), Q(4, 5), Q(1), Q(3, 2), Q(19, 10)):
        share = 1 - as_fraction(view_bound(n, k, r, T, tau))  # the least delta: r T/(tau^2 delta) = C(n,k)/4
        assert r * T / (tau**2 * share) == Q(comb(n, k), 4)
        likely = max(sum(2 * as_fraction(one[i]) <= tau for one in largest) for i in range(comb(n, k)))
        assert Q(likely, 6) >= 1 - share
        decided += share < 1
    assert decided >= 2
    assert max(max(one) for one in largest) > fmpq(1, 2)


def _slope(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """A derivative with values in [-1, 1] that sees one, two or many parities of size k."""
    kind = rng.integers(3)
    if kind == 2:
        return fractions_of(rng, (2**n,))
    first, second = rng.choice(len(sets(n, k)), size=2, replace=False)
    one, other = as_exact(parity(n, sets(n, k)[first])), as_exact(parity(n, sets(n, k)[second]))
    return one if kind == 0 else (one + other) / 2


GAP, N5 = 6, sets(5, 2)
"""Distance of the starts of `guessing_model`, and the sets S_0, ..., S_9 that it guesses."""


def guessing_model(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One parameter, n = 5, h differentiable: h = -(3/4) chi_[5] chi_(S_j) and h' = chi_(S_j) at theta = 6 j.

    With t = theta - 6 j in [-3, 3]: h = t (1 - t^2)^2 chi_(S_j) - (3/4) chi_[5] chi_(S_j) for |t| <= 1; beyond, the
    first term is 0 and the second falls to 0 at |t| = 3 like q(s) = 1 - 3 s^2 + 2 s^3, s = (|t| - 1)/2.
    """
    j = min(max(int((theta[0] / GAP + fmpq(1, 2)).floor()), 0), len(N5) - 1)
    t = theta[0] - GAP * j
    chi, all_five = as_exact(parity(5, N5[j])), as_exact(parity(5, (0, 1, 2, 3, 4)))
    base = all_five * chi * fmpq(-3, 4)
    if abs(t) <= 1:
        return base + t * (1 - t**2) ** 2 * chi, ((1 - t**2) * (1 - 5 * t**2) * chi)[:, None]
    s = min((abs(t) - 1) / 2, fmpq(1))
    fall = (6 * s**2 - 6 * s) / 2 * (1 if t > 0 else -1)
    return base * (1 - 3 * s**2 + 2 * s**3), (base * fall)[:, None]


ODD = [x for x in range(32) if parity(5, (0, 1, 2, 3, 4))[x] == 1]
"""The sample: the 16 inputs with chi_[5] = 1. It has the mean 0 of every chi_T, 0 < |T| < 5."""


@counterexample("pareto-frontiers:proposition-6.3", grade="exact")
@proof_steps("lower-bound.md: 7")
def test_half_is_not_enough() -> None:
    """n = 5, k = 2, r = T = 1, tau = 3/2, delta = 9/100: r T/(tau^2 delta) = 400/81 <= 5 = C(5,2)/2. theta_0 is uniform
    on 0, 6, ..., 54, and every gradient is at distance 3/4 = tau/2 from its mean, for the target 0 and every parity.

    Every S needs the noise 7/4 > tau at the start 6 j with S_j = S: it stays on theta* with probability 9/10 < 91/100.
    """
    tau, delta = Q(3, 2), Q(9, 100)
    assert Q(comb(5, 2), 4) < 1 / (tau**2 * delta) <= Q(comb(5, 2), 2)
    descent = NoisyDescent(guessing_model, 1)
    hidden = dict.fromkeys(N5, 0)
    for j in range(len(N5)):
        view = parity_view(descent, as_exact([GAP * j]), 1, 2, tau)
        h, slopes = guessing_model(view.trajectory[0])
        for S in N5:
            for target in (parity(5, S), 0 * h):
                terms = (h - target) * slopes[:, 0]
                assert abs(sum(terms[ODD]) / 16 - sum(terms) / 32) == fmpq(3, 4)
            run = run_hidden(descent, view, S, [ODD])
            assert run.needed == (fmpq(7, 4) if N5[j] == S else fmpq(3, 4))
            hidden[S] += run.hidden
    assert set(hidden.values()) == {9}
    assert Q(9, 10) < 1 - delta


@check("pareto-frontiers:proposition-6.3", grade="exact", target="corrected", supporting=True)
@proof_steps("lower-bound.md: 7")
def test_the_guessing_model_is_normalised_and_smooth() -> None:
    """On a grid of 1/16 around the first three starts: |h'| <= 1, and h changes as h' says where pieces meet."""
    for step in range(-48, 16 * 15):
        _, slopes = guessing_model(as_exact([fmpq(step, 16)]))
        assert max(abs(slopes[:, 0])) <= 1
    for t in (fmpq(-1), fmpq(1), fmpq(3), fmpq(9)):
        assert all(size == 0 for size in abs(guessing_model(as_exact([t]))[1][:, 0]))
        tiny = fmpq(1, 10**6)
        left, right = (guessing_model(as_exact([t + d]))[0] for d in (-tiny, tiny))
        assert max(abs(right - left)) < fmpq(1, 10**10)


def linear_model(n: int) -> Callable[[Any], tuple[Any, Any]]:
    """h = <theta, x>."""
    x = sign_inputs(n).astype(float)
    return lambda theta: (x @ theta, x)


@counterexample("pareto-frontiers:proposition-6.3", "pareto-frontiers:assumption-6.2", grade="exact")
def test_the_printed_assumption_hides_nothing(record: Record, tau: float = 0.2) -> None:
    """h = <theta, x>, theta_0 = 0, one sample, T = 1, n = 13, k = 7, tau = 1/5, delta = 1/2: the printed assumption
    holds with 0, r T/(tau^2 delta) = 650 <= 858 = C(13,7)/2, but every parity needs the noise 1, and theta_1 shows
    chi_S at the sample, whatever the noise: its signs are chi_S(x) x, where chi_S is 1, as k is odd. So the law of
    theta_1 over random samples depends on S. (For even k the law of its signs is uniform for every S.)
    """
    n, k = 13, 7
    descent = NoisyDescent(linear_model(n), 1.0)
    view = parity_view(descent, np.zeros(n), 1, k, tau)
    assert (view.gradients == 0).all()
    h, _ = linear_model(n)(np.zeros(n))
    sample = 2**n - 1234
    assert h[sample] == 0  # the gradient for the target 0, on the sample and in the mean
    budget, exposed = n / (Q(str(tau)) ** 2 * Q(1, 2)), 0
    run = run_hidden(descent, view, sets(n, k)[0], [[sample]])
    for S in sets(n, k)[::100]:
        run = run_hidden(descent, view, S, [[sample]])
        exposed += np.sign(run.trajectory[1])[list(S)].prod() == 1
        assert run.needed == 1
        assert not run.hidden
        assert (np.abs(run.noise) == tau).all()
        least = 1 - tau  # of chi_S(x) x_i theta_1,i over all noise
        assert (run.trajectory[1] * sign_inputs(n)[sample] * parity(n, S)[sample] >= least - 2.0**-50).all()
    assert exposed == len(sets(n, k)[::100])
    below = [np.sign(run.trajectory[1])[list(S)].prod() for S in sets(n, k)]  # of one parity alone
    assert sum(below) < comb(n, k) / 2
    for name in ("pareto-frontiers:proposition-6.3", "pareto-frontiers:assumption-6.2"):
        error = np.abs((h * sign_inputs(n).T)[:, sample] - (h * sign_inputs(n).T).mean(axis=1)).max()
        record.hypothesis("the error of the gradient for the target 0 is at most tau/2", error, "<=", tau / 2, of=name)
        record.hypothesis("r T/(tau^2 delta) <= C(n,k)/2", budget, "<=", Q(comb(n, k), 2), of=name)
        record.hypothesis("derivatives are at most 1", np.abs(linear_model(n)(np.zeros(n))[1]).max(), "<=", 1, of=name)
    record.violated(
        "noise of at most tau keeps a parity on theta*: the noise needed",
        run.needed,
        "<=",
        tau,
        of="pareto-frontiers:proposition-6.3",
    )
    record.violated(
        "gradients for the target 0 that are accurate hide a parity: the noise needed",
        run.needed,
        "<=",
        tau,
        of="pareto-frontiers:assumption-6.2",
    )


@counterexample("pareto-frontiers:assumption-6.2", grade="exact")
def test_the_printed_assumption_in_integers() -> None:
    """The same at n = 20, k = 10, tau = 1/10, delta = 1/2, for every value of chi_S(x): the gradient is -chi_S(x) x."""
    n, tau = 20, Q(1, 10)
    assert n / (tau**2 * Q(1, 2)) == 4000 <= comb(n, 10) // 2
    x = np.array([1, -1] * 10)
    theta = np.zeros(n, dtype=int)
    assert (theta @ x) * x.max() == 0  # l_0(h) x on the target 0
    for target in (1, -1):
        gradient = (theta @ x - target) * x
        assert np.abs(gradient).max() == 1 > tau


def _deviation_law(m: int) -> dict[tuple[int, int], Q]:
    """The law of (sum of x_0, sum of x_1) over m uniform samples of {-1, 1}^2."""
    law: dict[tuple[int, int], Q] = {}
    for a, b, c in product(range(m + 1), repeat=3):
        if (d := m - a - b - c) >= 0:
            ways = factorial(m) // (factorial(a) * factorial(b) * factorial(c) * factorial(d))
            key = (a + b - c - d, a + c - b - d)
            law[key] = law.get(key, Q(0)) + Q(ways, 4**m)
    return law


@check(
    "pareto-frontiers:assumption-6.2",
    grade="exact",
    target="corrected",
    cases="h = <theta, x> at 0, n = 2, S = {0, 1}, L = 0, (tau, delta) = (1, 1/4), (1, 1/2), (3/2, 1/10): all samples",
)
@proof_steps("lower-bound.md: 8")
@pytest.mark.parametrize(("tau", "delta"), [(Q(1), Q(1, 4)), (Q(1), Q(1, 2)), (Q(3, 2), Q(1, 10))])
def test_the_number_of_samples_of_the_remark(tau: Q, delta: Q) -> None:
    """The probability that an empirical gradient, -(mean of x_1, mean of x_0), is off by more than tau/2, exactly: at
    most delta for 8 (1 + L)^2 log(2 r T/delta)/tau^2 samples, and above delta for a twelfth of them.
    """
    m = gradient_samples(2, 1, delta, tau, 0)
    assert m - 1 < 8 * np.log(4 / float(delta)) / float(tau) ** 2 <= m
    single, double = (gradient_samples(2, 3, delta, tau, size) for size in (0, 1))
    assert 4 * (single - 1) < double <= 4 * single  # summands in an interval of twice the length
    for count, enough in ((m, True), (max(m // 12, 1), False)):
        failure = sum(
            (p for sums, p in _deviation_law(count).items() if max(map(abs, sums)) > count * tau / 2), start=Q(0)
        )
        assert (failure <= delta) == enough


@check(
    "pareto-frontiers:assumption-6.2",
    grade="sampled",
    target="corrected",
    cases="ReLU network, n = 6, k = 3, width 2, 4 steps, delta = 1/10, tau = 1: fresh samples, one sample, batches of "
    "a sample without replacement, 200 runs each (seed 62)",
)
@proof_steps("lower-bound.md: 8")
@pytest.mark.parametrize("regime", ["online", "offline", "batches"])
def test_the_assumption_is_met_along_the_trajectory(regime: str, record_property: Any) -> None:
    """At most 20 + 5 sqrt(18) = 41 failures of 200 in the three regimes of the remark (there are far fewer)."""
    n, k, width, steps, tau = 6, 3, 2, 4, 1.0
    descent = NoisyDescent(relu_tables(n, width), 0.05)
    view = parity_view(descent, start(n, width, 7), steps, k, tau)
    bound = Q(max(float(np.abs(descent.model(theta)[0]).max()) for theta in view.trajectory)).limit_denominator(100)
    m = gradient_samples(view.trajectory.shape[1], steps, Q(1, 10), 1, bound + Q(1, 100))
    rng, failures, largest = np.random.default_rng([62, len(regime)]), 0, 0.0
    for _ in range(200):
        pool = rng.integers(2**n, size=3 * m)
        batches = {
            "online": lambda: [rng.integers(2**n, size=m) for _ in range(steps)],
            "offline": lambda pool=pool: [pool[:m]] * steps,
            "batches": lambda pool=pool: [rng.choice(pool, size=m, replace=False) for _ in range(steps)],
        }[regime]()
        errors = [_error(descent, view, (0, 2, 5), t, batch) for t, batch in enumerate(batches)]
        failures += max(errors) > tau / 2
        largest = max(largest, max(errors))
    assert failures <= 41
    assert largest > 0.02
    record_property(f"{regime}, m = {m}: largest error", round(largest, 4))


# ---- ways past the bound


def _oracle(S: tuple[int, ...], errors: Any) -> Callable[[Any], list[fmpq]]:
    """Answers with the given errors, one after the other."""
    return lambda asked: [(fmpq(1) if T == S else fmpq(0)) + next(errors) for T in asked]


@check(
    "pareto-frontiers:fact-escapes",
    grade="exact",
    target="printed",
    cases="(n, k) = (5, 2), (6, 3), (8, 4), every S, parallel = 1, 3, C(n,k), errors +-499/1000 against the search",
)
@proof_steps("lower-bound.md: 9")
@pytest.mark.parametrize(("n", "k"), [(5, 2), (6, 3), (8, 4)])
def test_exhaustive_search_with_constant_precision(n: int, k: int) -> None:
    """The worst errors below 1/2 leave one answer above 1/2; rounds = ceil(C(n,k)/r). At 1/2 nothing is left."""
    every = sets(n, k)
    for S in every:
        for r in (1, 3, len(every)):
            worst = iter([fmpq(-499, 1000) if T == S else fmpq(499, 1000) for T in every])
            search = query_search(_oracle(S, worst), every, r)
            assert search.found == S
            assert search.rounds == -(-comb(n, k) // r)
    blind = query_search(_oracle(every[0], iter([fmpq(-1, 2), *[fmpq(1, 2)] * (len(every) - 1)])), every)
    assert blind.found is None


@check(
    "pareto-frontiers:fact-escapes",
    grade="exact",
    target="printed",
    cases="(n, k) = (4, 2): all subsets of the queries, every S",
)
@proof_steps("lower-bound.md: 11")
def test_a_part_of_the_queries_succeeds_in_its_share() -> None:
    """Over all subsets of q of the 6 queries the search finds S in the share q/6 of them."""
    every = sets(4, 2)
    for S in every:
        for q in range(1, 7):
            asked = list(combinations(every, q))
            found = [query_search(_oracle(S, iter([fmpq(0)] * q)), list(part)).found for part in asked]
            assert set(found) <= {S, None}
            assert Q(found.count(S), len(asked)) == Q(q, 6)


@check(
    "pareto-frontiers:fact-escapes",
    grade="sampled",
    target="printed",
    cases="(n, k) = (12, 3), (10, 5), delta = 1/10, 40 samples each (seed 61)",
)
@proof_steps("lower-bound.md: 10")
@pytest.mark.parametrize(("n", "k"), [(12, 3), (10, 5)])
def test_a_logarithmic_number_of_samples_finds_the_parity(n: int, k: int) -> None:
    """2 log(2 C(n,k)/delta)/tau^2 samples, tau = 1/2 (62 and 69): at most 4 + 5 sqrt(3.6) = 13 failures of 40."""
    rng, every, failures = np.random.default_rng([61, n]), sets(n, k), 0
    m = query_samples(n, k, Q(1, 10))
    assert m - 1 < 8 * np.log(20 * comb(n, k)) <= m
    for _ in range(40):
        S = every[rng.integers(len(every))]
        x = rng.choice([-1, 1], size=(m, n))
        try:
            failures += query_search(empirical_answers(x, x[:, list(S)].prod(axis=1)), every).found != S
        except ValueError:
            failures += 1
    assert failures <= 13
    assert m <= 8 * (k * np.log(n) + np.log(20)) + 1


# ---- other classes


@check(
    "pareto-frontiers:remark-sq-dimension",
    grade="exact",
    target="printed",
    cases="16 functions on 256 inputs with correlations of 0 and 1/16; r = 1, 2, T = 2, rational tables, 4 seeds",
)
@proof_steps("lower-bound.md: 13")
@pytest.mark.parametrize("seed", range(4))
def test_a_class_of_nearly_orthogonal_functions_stays_hidden(seed: int) -> None:
    """The Gram matrix, the sums of squares and the counts against sums over all inputs."""
    D, n = 16, 8
    targets = as_exact(near_orthogonal_codes(256, 16, 2)[np.random.default_rng(seed).choice(256, D, replace=False)])
    gram = targets @ targets.T / 2**n
    off = [gram[i, j] for i in range(D) for j in range(i)]
    assert all(0 <= abs(x) <= fmpq(1, D) for x in off)
    assert any(off)
    rng = np.random.default_rng([65, seed])
    r, T, rate = 1 + seed % 2, 2, fmpq(1, 8)
    tables = {}
    for step in range(T):
        mixed = [targets[rng.integers(D, size=3)].sum(axis=0) / 3, targets[rng.integers(D)]]
        tables[step] = (as_exact(rng.integers(-2, 3, 2**n)) / 2, np.stack([mixed[i] for i in range(r)], axis=1))
    order = iter(tables.values())
    found = class_deviations(NoisyDescent(lambda theta: next(order), rate), as_exact([0] * r), T, targets)
    squares = fmpq(0)
    by_hand = [fmpq(0)] * D
    for _, slopes in tables.values():
        for column in slopes.T:
            correlations = [sum((a * b for a, b in zip(f, column, strict=True)), fmpq(0)) / 2**n for f in targets]
            total = sum((c * c for c in correlations), fmpq(0))
            assert 0 < total <= 2 * sum((x * x for x in column), fmpq(0)) / 2**n <= 2
            squares += total
            by_hand = [max(now, abs(c)) for now, c in zip(by_hand, correlations, strict=True)]
    assert found.tolist() == by_hand
    decided = 0
    for tau in (2 * x for x in sorted(set(by_hand)) if x):
        exposed = sum(2 * x >= tau for x in by_hand)  # of a slightly smaller tau
        assert exposed * tau * tau <= 4 * squares <= 8 * r * T
        assert fmpq(D - exposed, D) >= class_bound(D, r, T, tau)
        decided += class_bound(D, r, T, tau) > 0
    assert decided
