"""Propositions 8.5 and E.3: two steps of gradient descent with a curriculum, and where they end.

At fixed p, as (E.50) is read, the model tends to the bigram counts (plus even lags of higher order in eps). At
p = tau t it does not: every position weight keeps a residual of order 1/t, and t of them add up to a unigram part of
the same order eps^4. Exact numbers of Q + Q ln 2 up to t = 150; float64 for the limits, with the first step at its
limit (an error of O(1/t)). The limits are proved, with bounds for every t, in `test_two_step_limits`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.constructions.induction.curriculum import first_step_limit, last_logits, long_second_step, two_step_models
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.induction_heads import sequence_gradients
from lemmata.theorems.records import Record


def constant(c: Any, *shape: int) -> NDArray[np.object_]:
    return np.full(shape, c, dtype=object)


def lag_counts(x: NDArray[np.integer], j: int) -> NDArray[np.integer]:
    """#{t' : x_t' = i, x_(t'-j+1) = x_p} for both states i."""
    return np.array([sum(x[s] == i and x[s - j + 1] == x[-1] for s in range(j - 1, len(x))) for i in (0, 1)])


def bigram_coefficient(spread: float, W: NDArray[np.float64], v0: float, h2: float, lag: int = 2) -> float:
    """C_j, j = lag even: the limit of v_j times the limit of the diagonal of W after the second step."""
    moment = np.arctanh(2 * spread) / (2 * spread) - 1
    return h2**2 * v0 * moment / 8 * (W[0, 0] - W[0, 1]) * (2 * spread) ** lag / (8 * (lag + 1))


@check(
    "induction-heads:proposition-E.3", grade="exact", target="printed", cases="t = 1, ..., 5, one choice of the rates"
)
@check(
    "induction-heads:proposition-8.5", grade="exact", target="corrected", cases="t = 1, ..., 5, one choice of the rates"
)
@proof_steps("curriculum.md: 2")
@pytest.mark.parametrize("t", range(1, 6))
def test_two_steps_are_two_gradient_steps_over_all_sequences(t: int) -> None:
    """Both layers of the second step are evaluated at the weights of the first, and the old weights are erased."""
    spread, w, v0, h1, h2 = fmpq(1, 5), fmpq(1, 3), fmpq(2), fmpq(7), fmpq(3, 2)
    v, W = constant(v0, t), constant(w, 2, 2)
    first = sequence_gradients.of_flat_prior(v, W, fmpq(1000))
    v, W = v + first.v * (h1 / t**2), W + first.W * (h1 / t**2)
    second = sequence_gradients.of_symmetric_prior(v, W, fmpq(1000), spread)
    models = two_step_models(t, spread, w, v0, h1, h2)
    assert (models[0].v == v).all()
    assert (models[0].W == W).all()
    assert (models[1].v == second.v * (h2 / t)).all()
    assert (second.W * (h2 / t) == models[1].W).all()


@check("induction-heads:proposition-E.3", grade="numeric", target="printed", cases="t = 100, one choice of the rates")
@proof_steps("curriculum.md: 2")
def test_long_form_agrees_with_the_exact_weights() -> None:
    """The float64 recipe at the exact weights of the first step; rounding of sums of 100 terms stays below 1e-12."""
    t = 100
    first, second = two_step_models(t, fmpq(1, 10), fmpq(1, 3), 1, 50, 1)
    found = long_second_step(t, 0.1, first.W.astype(float), 1.0, 1.0)
    assert np.abs(found.v / second.v.astype(float) - 1).max() < 1e-12
    # here v is taken to be v0 after the first step; it is v0 + w h1/t^2 g_j, with 0 <= g_j <= t/9 + 1
    assert abs(found.W[0, 0] / float(second.W[0, 0]) - 1) < 50 / 3 / t**2 * (t / 9 + 1)
    assert np.abs(first.W.astype(float) - first_step_limit(1 / 3, 1.0, 50.0)).max() < 5 * 50 / t  # |rest| <= 5t


@check("induction-heads:proposition-E.3", grade="sampled", target="printed", supporting=True)
@proof_steps("curriculum.md: 5")
@pytest.mark.parametrize("seed", range(3))
def test_bigram_counts_at_a_fixed_position(seed: int) -> None:
    """t = 10^2 .. 10^6: f_{p,i} -> sum over even j of C_j #{t' : x_t' = i, x_(t'-j+1) = x_p}, C_4/C_2 = O(eps^2).

    The error is of order 1/t: it falls by at least 8 per factor of 10, and is below C_2/100 at the end. The part of
    the limit from lags above 2 is within C_4/C_2 <= 3 eps^2 times the other counts.
    """
    p, spread = 20, 0.1
    x = np.random.default_rng(seed).integers(0, 2, size=p)
    W = first_step_limit(0.01, 1.0, 100.0)
    lags = range(2, p + 1, 2)
    counts = {j: lag_counts(x, j) for j in lags}
    limit = sum(bigram_coefficient(spread, W, 1.0, 1.0, j) * counts[j] for j in lags)
    leading = bigram_coefficient(spread, W, 1.0, 1.0)
    errors = []
    for t in (10**2, 10**3, 10**4, 10**5, 10**6):
        f = last_logits(long_second_step(t, spread, W, 1.0, 1.0), x)
        errors.append(np.abs(f - limit).max() / leading)
    assert all(after < before / 8 for before, after in pairwise(errors[1:]))
    assert errors[-1] < 0.01
    assert counts[2].max() >= 3
    other = sum(counts[j] for j in lags if j > 2)
    assert (np.abs(limit / leading - counts[2]) <= 3 * spread**2 * other).all()
    assert ((limit / leading - counts[2])[other > 0] > 0).all()


@check("induction-heads:proposition-E.3", grade="numeric", target="printed", supporting=True)
@proof_steps("curriculum.md: 6")
def test_orders_of_the_weights_in_the_spread() -> None:
    """W: diagonal Theta(eps^2) and positive, off the diagonal smaller; v_2 = Theta(eps^2), v_4 = Theta(eps^4)."""
    t, values = 10**5, []
    W = first_step_limit(0.01, 1.0, 100.0)
    for spread in (0.08, 0.04, 0.02):
        model = long_second_step(t, spread, W, 1.0, 1.0)
        assert model.W[0, 0] > 0
        assert abs(model.W[0, 1]) < 1e-4 * model.W[0, 0]
        odd = model.v[0]  # the residual of order 1/t that all positions share up to a factor
        values.append(
            [model.W[0, 0] / spread**2, (model.v[1] - odd) / spread**2, bigram_coefficient(spread, W, 1.0, 1.0)]
        )
    first, second, third = (np.array(x) for x in values)
    # moment = 4 eps^2/3 (1 + 12 eps^2/5 + ...): ratios of constants are within 2 % at these spreads
    assert np.abs(first[:2] / third[:2] - 1).max() < 0.02
    assert np.abs(second[:2] / third[:2] - 1).max() < 0.02
    assert third[0] == pytest.approx(4 / 3 / 8, rel=0.01)
    assert first[2] / second[2] == pytest.approx(16, rel=0.02)
    assert second[2] / third[2] == pytest.approx(16, rel=0.02)
    start, scale = W[0, 0] - W[0, 1], (2 * 0.02) ** 2
    assert third[1] * 0.02**2 == pytest.approx(start / 8 * scale / 3, rel=0.01)


@check(
    "induction-heads:proposition-E.3", grade="exact", target="printed", supporting=True, cases="p = t - 1, not fixed"
)
@proof_steps("curriculum.md: 10")
@pytest.mark.parametrize("t", [50, 100])
def test_alternating_sequence_sees_the_unigram_part(t: int) -> None:
    """x = 2, 1, 2, 1, ..., 2 at p = t - 1: state 2 never follows 2, so that at a fixed p f_{p,2}/f_{p,1} is O(eps^2).

    Here it tends to a positive number as eps falls; exactly, it is above 0.3 at eps = 1/10 and at eps = 1/80 alike.
    """
    p = t - 1
    x = [(s + 1) % 2 for s in range(p)]
    assert x[0] == x[-1] == 1
    ratios = []
    for denominator in (10, 80):
        _, model = two_step_models(t, fmpq(1, denominator), fmpq(1, 100), 1, 100, 1)
        f = model(x)[-1]
        assert f[0] > 0
        assert f[1] > f[0] * fmpq(3, 10)
        ratios.append(float(f[1]) / float(f[0]))
    assert ratios[1] > 0.95 * ratios[0]  # O(eps^2) would divide it by 64
    assert lag_counts(np.array(x), 2)[1] == 0  # the bigram 2 2 never occurs


def mixture_weight(spread: float, W: NDArray[np.float64]) -> float:
    """kappa = (rho + c')/(rho - c') M/(4 eps^2/3), M = artanh(2 eps)/(2 eps) - 1; at least 1 for w, v0, h1 >= 0."""
    moment = np.arctanh(2 * spread) / (2 * spread) - 1
    return (W[0, 0] + W[0, 1]) / (W[0, 0] - W[0, 1]) * moment / (4 * spread**2 / 3)


@check("induction-heads:proposition-E.3", grade="numeric", target="printed", supporting=True)
@proof_steps("curriculum.md: 9")
@pytest.mark.parametrize("w", [0.01, 1.0])
@pytest.mark.parametrize("tau", [0.25, 0.5, 1.0])
def test_mixture_of_bigram_and_unigram_at_a_proportional_position(w: float, tau: float) -> None:
    """On average f_{p,i} is proportional to P_{x_p,i} + kappa (tau - tau^2/3) pi_i, plus even lags of higher order.

    The bigram part of f_{p,i} is about p v_2 pi_m P_mi (times the diagonal of W), m = x_p; the residuals
    r_j = (h2/t)(1-j/t)(rho+c') M/4 meet pairs of tokens that are far apart, of frequency pi_m pi_i, and give
    pi_m pi_i sum_j (p-j+1) r_j = p pi_m pi_i h2 (rho+c')(M/4)(tau/2 - tau^2/6); with v_2 = (h2/8)(rho-c') 4 eps^2/3 the
    quotient of the two is kappa (tau - tau^2/3) pi_i/P_mi. Here the sum over j is taken from the actual weights.
    """
    t, spread = 10**5, 0.1
    W = first_step_limit(w, 1.0, 100.0)
    model = long_second_step(t, spread, W, 1.0, 1.0)
    n = np.arange(1, t + 1)
    target = np.where(n % 2 == 0, (2 * spread) ** n / (n + 1), 0) * (W[0, 0] - W[0, 1]) / 8
    residual = model.v - target
    p = int(tau * t)
    total = (residual[:p] * (p - n[:p] + 1)).sum() / p / target[1]
    kappa = mixture_weight(spread, W)
    assert kappa > 1
    # corrections of relative order 1/t times t-independent sums, at most 100/t each
    assert total == pytest.approx(kappa * (tau - tau**2 / 3), rel=1e-2)


@check(
    "induction-heads:proposition-E.3", grade="sampled", target="printed", supporting=True, cases="p near t, not fixed"
)
@proof_steps("curriculum.md: 10")
def test_model_prefers_the_wrong_state_in_a_long_context() -> None:
    """a = 0.95, b = 0.6, eps = 0.1, p = t = 20000, current state 2: the next is state 1 with probability 0.4.

    The share of state 1 in the logits is that of the mixture, above 1/2, and not 0.4. Fixed seeds; the frequencies of
    the chain have standard errors below 0.01, its correlation time 1/(1 - 0.55) being short: 0.03 covers three.
    """
    t, a, b, spread = 20_000, 0.95, 0.6, 0.1
    for w, seed in ((0.01, 0), (1.0, 1)):
        rng = np.random.default_rng(seed)
        draws, x = rng.random(t), np.zeros(t, dtype=int)
        for s in range(1, t):
            stay = b if x[s - 1] else a
            x[s] = x[s - 1] if draws[s] < stay else 1 - x[s - 1]
        p = int(np.flatnonzero(x == 1)[-1]) + 1
        assert p > t - 200
        W = first_step_limit(w, 1.0, 100.0)
        f = last_logits(long_second_step(t, spread, W, 1.0, 1.0), x[:p])
        bigrams = np.bincount(x[1:p][x[: p - 1] == 1], minlength=2)
        pi = np.array([1 - b, 1 - a]) / (2 - a - b)
        mixture = np.array([1 - b, b]) + mixture_weight(spread, W) * (2 / 3) * pi
        assert bigrams[0] / bigrams.sum() == pytest.approx(0.4, abs=0.03)
        assert f[0] / f.sum() == pytest.approx(mixture[0] / mixture.sum(), abs=0.03)
        assert f[0] > f[1]


@check(
    "induction-heads:proposition-E.3", grade="enclosed", target="printed", supporting=True, cases="(E.53), in the proof"
)
@proof_steps("curriculum.md: 6")
def test_printed_diagonal_of_the_second_step_has_the_wrong_sign() -> None:
    """(E.53): 2 eps + (1/2) ln((1/2 - eps)/(1/2 + eps)) is negative and O(eps^3); the diagonal of W is positive."""
    for denominator in (4, 10, 100):
        spread = arb(1) / denominator
        printed = 2 * spread + ((arb(1) / 2 - spread) / (arb(1) / 2 + spread)).log() / 2
        assert printed < 0
        assert abs(printed) < 4 * spread**3
        _, model = two_step_models(30, fmpq(1, denominator), 1, 1, 1, 1)
        assert model.W[0, 0] > 0
        assert abs(model.W[0, 1]) < model.W[0, 0] / 100


@check("induction-heads:proposition-E.3", grade="exact", target="printed", supporting=True, cases="eta_1 = 0")
@proof_steps("curriculum.md: 6")
def test_first_step_of_rate_zero_leaves_no_bigram_part() -> None:
    """eta_1 = 0 is O(1/t^2), but not Theta: rho = c', and v_j has the residual alone, decreasing in j: no peak at 2."""
    for t in (10, 60):
        _, model = two_step_models(t, fmpq(1, 10), 1, 1, 0, 1)
        assert all(x >= y for x, y in pairwise(model.v))
        _, bigram = two_step_models(t, fmpq(1, 10), fmpq(1, 100), 1, 100, 1)
        assert bigram.v[1] > bigram.v[0]


# ---- the informal version


@check("induction-heads:proposition-8.5", grade="exact", target="corrected", supporting=True)
@proof_steps("curriculum.md: 7")
@pytest.mark.parametrize("t", [50, 150])
def test_decay_in_the_second_layer_alone_keeps_the_first_layer_flat(t: int) -> None:
    """At these rates, without decay v^(2) = v^(1) + O(eps^2): for eps = 1/10 all v_j are within 1 % of one."""
    first, second = two_step_models(t, fmpq(1, 10), fmpq(1, 100), 1, 100, 1)
    v = first.v + second.v  # decay 1 in W only
    assert all(abs(x - 1) < fmpq(1, 100) for x in v)
    assert second.v[1] > second.v[0] * 10  # with decay in both layers the second position stands out


@counterexample("induction-heads:proposition-8.5", grade="numeric")
@check("induction-heads:proposition-8.5", grade="numeric", target="corrected", supporting=True)
@proof_steps("curriculum.md: 7")
def test_second_rate_is_the_larger_one(record: Record) -> None:
    """Rates h1/t^2 and h2/t, so eta_1/eta_2 = 100/t -> 0, reach the bigram counts: the first need not be the larger.

    p = 20, as in the check at a fixed position; the relative distance to the bigram counts is O(eps^2) + O(1/t).
    """
    t, spread, h1, h2 = 10**6, 0.02, 100.0, 1.0
    assert h1 / t**2 < 1e-3 * h2 / t
    x = np.array([int(symbol) for symbol in "01101000110101110010"])
    W = first_step_limit(0.01, 1.0, h1)
    model: MinimalModel = long_second_step(t, spread, W, 1.0, h2)
    f = last_logits(model, x) / bigram_coefficient(spread, W, 1.0, h2)
    counts = lag_counts(x, 2)
    assert counts.min() >= 1
    reached = bool((np.round(f) == counts).all())
    record.hypothesis("two steps reach the bigram counts: the rounded logits are the counts", reached, "=", True)
    first, second = fmpq(int(h1), t**2), fmpq(int(h2), t)
    record.violated("the first rate is an order of magnitude larger than the second", first, ">=", 10 * second)
    assert np.abs(f - counts).max() < 0.1
