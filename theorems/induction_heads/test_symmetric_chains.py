"""Corollary E.2: the first step on symmetric chains a = b, where the unigram strategy is worth nothing.

With a uniform on (0, 1) the eigenvalue lambda = 2a - 1 has the moments 1/(n+1) for even n and 0 for odd n. In
(c eta) units, exactly and for every t: W grows by S_t I with S_t = (1/(8t)) sum over even n <= t of
(t-n+1)(t-n+2)/(n+1), and v_j by (1/(2t)) sum over even n <= N of (N-n+1)/(n+1), N = t - j + 1 (n >= 2).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.numerics.markov.minimal_gradient import spread_moments, symmetric_tensor, v_gradient, w_gradient
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.induction_heads import printed_updates, sequence_gradients
from lemmata.theorems.records import Record

ONES = np.ones((2, 2), dtype=int)


def diagonal_growth(t: int) -> fmpq:
    return sum((fmpq((t - n + 1) * (t - n + 2), n + 1) for n in range(2, t + 1, 2)), fmpq(0)) / (8 * t)


def position_growth(t: int) -> list[fmpq]:
    lengths = [t - j + 1 for j in range(1, t + 1)]
    return [sum((fmpq(N - n + 1, n + 1) for n in range(2, N + 1, 2)), fmpq(0)) / (2 * t) for N in lengths]


def constant(c: fmpq, *shape: int) -> NDArray[np.object_]:
    return np.full(shape, c, dtype=object)


@check("induction-heads:corollary-E.2", grade="exact", target="corrected", cases="t = 1, ..., 8, all sequences")
@proof_steps("symmetric_chains.md: 2")
@pytest.mark.parametrize("t", range(1, 9))
def test_first_step_on_symmetric_chains_over_all_sequences(t: int) -> None:
    """All 2^(t+1) sequences, whose probabilities under a ~ Unif(0, 1) are reciprocals of integers."""
    c = fmpq(2, 7)
    found = sequence_gradients.of_symmetric_prior(constant(c, t), constant(c, 2, 2), c**2 * t * (t + 1))
    S = diagonal_growth(t)
    assert found.loss == c**2 * (fmpq(t * (t + 1), 2) - 2 * S)  # half the margin, minus <-dL/dW, W>
    assert found.W.tolist() == [[c * S, 0], [0, c * S]]
    assert found.v.tolist() == [c * x for x in position_growth(t)]
    C = symmetric_tensor(t, spread_moments(fmpq(1, 2), t + 1))
    assert (c * w_gradient(C, constant(fmpq(1), t)) == found.W).all()
    assert (c * v_gradient(C, ONES) == found.v).all()


@check("induction-heads:corollary-E.2", grade="sampled", target="corrected", supporting=True)
@proof_steps("symmetric_chains.md: 2")
@pytest.mark.parametrize("t", range(1, 6))
@pytest.mark.parametrize("seed", range(3))
def test_symmetric_tensor_at_other_weights(t: int, seed: int) -> None:
    """Not only at constant weights: the tensor of symmetric chains against all sequences."""
    rng = np.random.default_rng(seed)
    v = np.array([fmpq(int(x), 3) for x in rng.integers(-6, 7, size=t)], dtype=object)
    W = np.array([[fmpq(int(x), 2) for x in row] for row in rng.integers(-6, 7, size=(2, 2))], dtype=object)
    found = sequence_gradients.of_symmetric_prior(v, W, fmpq(10**4))
    C = symmetric_tensor(t, spread_moments(fmpq(1, 2), t + 1))
    assert (w_gradient(C, v) == found.W).all()
    assert (v_gradient(C, W) == found.v).all()


@check("induction-heads:corollary-E.2", grade="symbolic", target="corrected", supporting=True)
@proof_steps("symmetric_chains.md: 1")
def test_closed_forms_at_equal_rows_for_all_lengths() -> None:
    """For each a, before the average: (E.19) to (E.22) at a = b are sum_n (t-n+1)(t-n+2) lambda^n / 8 on the diagonal
    and 0 off it, and (E.28) is sum_n (N-n+1) lambda^n / 2, n >= 1.

    A sum of (t-n+1)(t-n+2) x_n has third difference 2 x_(t+3), a sum of (N-n+1) x_n second difference x_(N+2).
    """
    a, t, L = sympy.symbols("a t L")
    lam = 2 * a - 1
    W = printed_updates.w_update(a, a, *printed_updates.sums(lam, t, L))
    v = printed_updates.v_update(a, a, t, L)

    def at(form: Any, steps: int) -> Any:
        return form.subs({t: t + steps, L: lam**steps * L}, simultaneous=True)

    def start(form: Any, length: int) -> Any:
        return sympy.cancel(form.subs({t: length, L: lam**length}, simultaneous=True))

    assert sympy.cancel(W[0][1]) == 0
    assert sympy.cancel(W[1][0]) == 0
    for entry in (W[0][0], W[1][1]):
        third = at(entry, 3) - 3 * at(entry, 2) + 3 * at(entry, 1) - entry
        assert sympy.cancel(sympy.together(third - lam**3 * L / 4)) == 0
        for length, sum_ in enumerate([0, 2 * lam, 6 * lam + 2 * lam**2]):
            assert sympy.expand(start(entry, length) - sympy.Rational(1, 8) * sum_) == 0
    second = at(v, 2) - 2 * at(v, 1) + v
    assert sympy.cancel(sympy.together(second - lam**2 * L / 2)) == 0
    assert start(v, 0) == 0
    assert sympy.expand(start(v, 1) - lam / 2) == 0


@check("induction-heads:corollary-E.2", grade="numeric", target="corrected", supporting=True)
@proof_steps("symmetric_chains.md: 4")
@pytest.mark.parametrize("t", [10**3, 10**4, 10**5])
def test_orders_of_growth(t: int) -> None:
    """S_t = (t ln t)/16 + ((gamma + ln 2)/16 - 7/32) t + O(ln t), v_1: (ln t)/4 + (gamma + ln 2)/4 - 3/4 + o(1).

    The next terms of the harmonic sums are at most 2 ln t and 2 ln t/t; float64 sums of t terms are exact to 1e-9.
    """
    n = np.arange(2, t + 1, 2, dtype=float)
    S = ((t - n + 1) * (t - n + 2) / (n + 1)).sum() / (8 * t)
    first = ((t - n + 1) / (n + 1)).sum() / (2 * t)
    shift = np.euler_gamma + np.log(2)
    assert abs(S - (t * np.log(t) / 16 + (shift / 16 - 7 / 32) * t)) < 2 * np.log(t)
    assert abs(first - (np.log(t) / 4 + shift / 4 - 3 / 4)) < 2 * np.log(t) / t


@counterexample("induction-heads:corollary-E.2", grade="exact")
@proof_steps("symmetric_chains.md: 3")
def test_positions_grow_and_do_not_shrink(record: Record, margin: int = 20) -> None:
    """Printed: v_j - c = -(c eta/(2t))(t-j+1) + O(1/t). At t = 4 it is (3/20, 1/12, 1/24, 0) c eta by all sequences.

    And for every t the growth is at least 0, so that the printed loss of c eta/2 at j = 1 is no O(1/t) away.
    """
    ones = constant(fmpq(1), 4)
    found = sequence_gradients.of_symmetric_prior(ones, constant(fmpq(1), 2, 2), fmpq(margin))
    for t in (10, 100, 400):
        assert all(x >= 0 for x in position_growth(t))
        assert t * (position_growth(t)[0] + fmpq(t, 2 * t)) > fmpq(t, 2)  # t times the error is unbounded
    t, hidden = 400, 100
    largest = fmpq(int((ones**2).sum()) * (len(ones) + 1), 2)
    record.hypothesis("the margin 20 is at least c^2 t(t+1)/2, c = 1, t = 4", margin, ">=", largest)
    record.hypothesis("c > 0", ones[0], ">", 0)
    printed = fmpq(-1, 2) + fmpq(hidden, t)
    record.violated("(v_1 - c)/(c eta) <= -1/2 + 1/t at t = 4", found.v[0], "<=", fmpq(-1, 2) + fmpq(1, 4))
    record.violated("(v_1 - c)/(c eta) <= -1/2 + 100/t at t = 400", arb(position_growth(t)[0]), "<=", printed)
    assert found.v.tolist() == [fmpq(3, 20), fmpq(1, 12), fmpq(1, 24), 0]
    printed = [fmpq(-(4 - j + 1), 8) for j in range(1, 5)]
    assert all(x - y >= fmpq(1, 8) for x, y in zip(found.v, printed, strict=True))


@counterexample("induction-heads:corollary-E.2", grade="exact")
@proof_steps("symmetric_chains.md: 3")
def test_diagonal_is_finite_and_not_of_order_t() -> None:
    """S_2 = 1/24, not infinite: that refutes the claim. And S_t/t grows by over 1/32 at each doubling up to 1024."""
    ones = constant(fmpq(1), 2)
    found = sequence_gradients.of_symmetric_prior(ones, constant(fmpq(1), 2, 2), fmpq(6))
    assert found.W.tolist() == [[fmpq(1, 24), 0], [0, fmpq(1, 24)]]
    ratios = [diagonal_growth(t) / t for t in (64, 128, 256, 512, 1024)]
    assert all(y - x > fmpq(1, 32) for x, y in pairwise(ratios))  # (ln 2)/16 = 0.0433
