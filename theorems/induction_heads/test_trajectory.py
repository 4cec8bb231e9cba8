"""Beyond two steps: gradient descent on the minimal model in the linear regime, exactly, for the flat prior.

Every step takes the population gradient at the weights of the step before, in both layers, exactly in Q[ln 2]
(`lemmata.numerics.markov.minimal_trajectory`). The oracle differentiates the margin loss of every single sequence at
those weights.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.numerics.markov.minimal_gradient import flat_tensor
from lemmata.numerics.markov.minimal_trajectory import linear_margin, nth_step, trajectory
from lemmata.theorems.evidence import check
from lemmata.theorems.induction_heads import sequence_gradients


@check("induction-heads:lemma-8.4", grade="exact", target="printed", supporting=True)
@check("induction-heads:definition-minimal", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("t", [1, 2, 3])
def test_every_step_is_a_gradient_step_over_all_sequences(t: int) -> None:
    """Four steps with changing rates and weight decay; the weights are polynomials in ln 2 of the degree of the step.

    Every step has its own margin, above the bound on the gaps, so that all hinges are active.
    """
    v = np.array([fmpq(n - 1, n + 2) for n in range(t)], dtype=object)
    W = np.array([[fmpq(1, 2), fmpq(-1, 3)], [fmpq(2), fmpq(1, 5)]], dtype=object)
    rates, decays = [fmpq(3, 2), fmpq(1, 4), fmpq(5, 3), fmpq(2)], [fmpq(0), fmpq(1, 3), fmpq(0), fmpq(1)]
    path = trajectory(flat_tensor(t), v, W, rates, decays)
    for (before, after), rate, decay in zip(pairwise(path), rates, decays, strict=True):
        delta = LogTwo(2) * (linear_margin(before.v, before.W) + 1)
        found = sequence_gradients.of_flat_prior(before.v, before.W, delta)
        assert (after.v == before.v * (1 - decay) + found.v * rate).all()
        assert (before.W * (1 - decay) + found.W * rate == after.W).all()
        assert (found.v != 0).all()
    # negative control: a margin that is too small leaves hinges inactive, and the gradient is another
    small = sequence_gradients.of_flat_prior(v, W, fmpq(1, 10))
    large = sequence_gradients.of_flat_prior(v, W, linear_margin(v, W) + 1)
    assert (small.v != large.v).any()


@check(
    "induction-heads:observation-8.4", grade="exact", target="corrected", cases="t = 12, 60, one rate each, four steps"
)
@pytest.mark.parametrize(("t", "rate"), [(12, fmpq(8)), (60, fmpq(1))])
def test_second_layer_first_then_a_comb_of_even_positions(t: int, rate: fmpq) -> None:
    """Four steps from W = 11^T, v = 1, above eta*(t): exact comparisons of all weights at every step.

    After the first step v_1 is the largest and W is biased to its diagonal; from the second on v_2 is, and W keeps its
    bias. At t = 60, far above eta*(60) = 0.017, positions 2, 4, 6 stand above both neighbours, v_2 > v_4 > v_6; at
    t = 12, close to the threshold 6.85, they do not: v_4 < v_3.
    """
    path = trajectory(flat_tensor(t), np.full(t, fmpq(1)), np.full((2, 2), fmpq(1)), [rate] * 4)
    assert all(x > y for x, y in pairwise(path[1].v))
    for step, weights in enumerate(path[1:], start=1):
        v, W = weights.v, weights.W
        assert W[0, 0] == W[1, 1] > W[0, 1] == W[1, 0]
        if step >= 2:
            assert all(v[1] > x for n, x in enumerate(v) if n != 1)
            comb = all(v[m - 1] > v[m] and v[m - 1] > v[m - 2] for m in (2, 4, 6))
            assert comb == (t == 60)
            assert v[1] > v[3] > v[5]


@check("induction-heads:observation-8.4", grade="numeric", target="corrected", supporting=True)
@pytest.mark.parametrize("t", [30, 100])
def test_many_steps_end_in_the_top_singular_pair_and_not_in_the_bigram_solution(t: int) -> None:
    """The linear regime without decay: (v, W) turns to the largest singular pair of C, v_2 largest, but not alone.

    Of a ratio s_2/s_1 of singular values, (1 + eta s_2)^n/(1 + eta s_1)^n is left after n steps.
    """
    C = flat_tensor(t).astype(float)
    left, s, right = np.linalg.svd(C.reshape(t, 4), full_matrices=False)
    steps, rate = 40, 5.0
    found = nth_step(C, np.ones(t), np.ones((2, 2)), rate, steps)
    rest = ((1 + rate * s[1]) / (1 + rate * s[0])) ** steps
    assert rest < 1e-6
    v = found.v / np.linalg.norm(found.v)
    # the start has the norm sqrt(t) + 2, its part along the top pair is at least 1
    assert np.abs(v - np.abs(left[:, 0])).max() < 4 * (np.sqrt(t) + 2) * rest + 1e-13
    assert v.argmax() == 1
    assert v[1] < 0.5  # a bigram solution has v_2 = 1
    top = np.abs(right[0]).reshape(2, 2)
    assert top[0, 0] > top[0, 1] > 0.1
    if t == 100:
        assert np.round(v[:6], 3).tolist() == [0.232, 0.268, 0.202, 0.224, 0.195, 0.205]
        assert np.round(top, 3).tolist() == [[0.693, 0.141], [0.141, 0.693]]
