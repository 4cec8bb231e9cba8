"""Lemmas 8.4 and E.1, first step: what one step of gradient descent does to the minimal model.

Three routes meet: the printed closed forms (`printed_updates`), the tensor of
`lemmata.numerics.markov.minimal_gradient`, and the average over all sequences, one by one (`sequence_gradients`).
Averages over the flat prior are exact: q + r ln 2. Closed forms with t as a parameter are proved by telescoping: a
sequence is fixed by its first values and the recurrence of its increments, and with L = lambda^t as a symbol the
recurrence is an identity of rational functions.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.linear import rank
from lemmata.numerics.exact.log_two import LN2, LogTwo
from lemmata.numerics.markov.minimal_gradient import (
    chain_stationary_law,
    chain_tensor,
    flat_tensor,
    v_gradient,
    w_gradient,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.induction_heads import flat_prior, printed_updates, sequence_gradients
from lemmata.theorems.induction_heads.sequence_gradients import Chain, chain
from lemmata.theorems.records import Record

ONES = np.ones((2, 2), dtype=int)
CHAINS = [chain("1/3", "3/4"), chain("2/7", "1/5"), chain("9/10", "4/5")]
THREE_STATES = np.array([[fmpq(p, 12) for p in row] for row in ([3, 4, 5], [1, 1, 10], [6, 5, 1])], dtype=object)

B = (8 * LN2 - 5) / 12
A = (7 - 10 * LN2) / 6
D = fmpq(3, 2) - 2 * LN2


def constant(c: Any, *shape: int) -> NDArray[np.object_]:
    return np.full(shape, c, dtype=object)


def staying(P: Chain) -> tuple[fmpq, fmpq]:
    return P[0, 0], P[1, 1]


def vanishes(expression: Any) -> bool:
    return sympy.cancel(sympy.together(expression)) == 0


# ---- (E.14), (E.15): powers of the chain

a, b, t, lam, L = sympy.symbols("a b t lambda L")
EIGENVALUE = a + b - 1
TRANSITIONS = sympy.Matrix([[a, 1 - a], [1 - b, b]])


@check("induction-heads:lemma-E.1c", grade="symbolic", target="corrected")
@proof_steps("gradient.md: 7")
def test_powers_of_the_chain_and_the_stationary_law() -> None:
    """P^n has the printed form for all n: it holds at n = 0, and multiplying by P takes L = lambda^n to lambda L.

    pi = (b-1, a-1)/(lambda-1) is the left eigenvector of eigenvalue 1 that sums to one, and rows of P^n tend to it.
    """
    beta, gamma = (sympy.Matrix(x) for x in printed_updates.beta_gamma(a, b))

    def power(x: Any) -> sympy.Matrix:
        return (beta * x + gamma) / (EIGENVALUE - 1)

    assert all(vanishes(x) for x in power(1) - sympy.eye(2))
    assert all(vanishes(x) for x in power(L) * TRANSITIONS - power(EIGENVALUE * L))
    left = sympy.Matrix([[1, (1 - a) / (b - 1)], [1, 1]])
    right = sympy.Matrix([[b - 1, a - 1], [1 - b, b - 1]])
    assert all(vanishes(x) for x in left * sympy.diag(1, L) * right / (a + b - 2) - power(L))
    pi = sympy.Matrix([[b - 1, a - 1]]) / (EIGENVALUE - 1)
    assert all(vanishes(x) for x in pi * TRANSITIONS - pi)
    assert vanishes(sum(pi) - 1)
    assert power(0)[0, :] == pi == power(0)[1, :]


@counterexample("induction-heads:lemma-E.1c", grade="exact")
def test_stationary_law_is_no_eigenvector_of_lambda(record: Record) -> None:
    P = CHAINS[0]
    pi, eigenvalue = chain_stationary_law(P), P[0, 0] + P[1, 1] - 1
    assert pi.tolist() == [(P[1, 1] - 1) / (eigenvalue - 1), (P[0, 0] - 1) / (eigenvalue - 1)]
    assert (pi @ P != eigenvalue * pi).all()
    for name, entry in (("a", P[0, 0]), ("b", P[1, 1])):
        record.hypothesis(f"0 <= {name}", entry, ">=", 0)
        record.hypothesis(f"{name} <= 1", entry, "<=", 1)
    record.violated("pi P = lambda pi, in the first entry", (pi @ P)[0], "=", eigenvalue * pi[0])


# ---- (E.16) to (E.22): closed form of the gradient of W


@check("induction-heads:lemma-E.1d", grade="symbolic", target="printed", supporting=True)
@proof_steps("gradient.md: 8")
def test_printed_sums_are_the_triple_sums_for_all_lengths() -> None:
    """(A) to (D), without their coefficients, as sums over s <= t' <= p <= t of lambda^(p-s), lambda^(p-t'), ...

    S(0) = 0, S(1) = 1, and the increments d(t) = S(t+1) - S(t) = sum over s <= t' <= t+1 obey
    (A) d(t+1) = d(t) + (t+2) lambda^(t+1), (B) d(t+1) = lambda d(t) + t + 2,
    (C) d(t+1) = d(t) + (1-lambda^(t+2))/(1-lambda).
    """
    braces = printed_updates.sums(lam, t, L)
    A_, B_, C_, D_ = braces[0] / (lam - 1), braces[1] / (lam - 1) ** 2, braces[2] / (lam - 1), braces[3]

    def at(sum_: sympy.Expr, steps: int) -> sympy.Expr:
        return sum_.subs({t: t + steps, L: lam**steps * L}, simultaneous=True)

    def start(sum_: sympy.Expr, length: int) -> sympy.Expr:
        return sum_.subs({t: length, L: lam**length}, simultaneous=True)

    first, second = ({s: at(s, n + 1) - at(s, n) for s in (A_, B_, C_)} for n in (0, 1))
    assert vanishes(second[A_] - first[A_] - (t + 2) * lam * L)
    assert vanishes(second[B_] - lam * first[B_] - (t + 2))
    assert vanishes(second[C_] - first[C_] - (1 - lam**2 * L) / (1 - lam))
    assert vanishes(at(D_, 1) - D_ - (t + 1) * (t + 2) / 2)
    for sum_ in (A_, B_, C_, D_):
        assert vanishes(start(sum_, 0))
        assert vanishes(start(sum_, 1) - 1)
    assert vanishes(braces[1] - (lam - 1) * braces[2])  # (II) = (lambda - 1) (III): a simpler form


@check("induction-heads:lemma-E.1d", grade="symbolic", target="printed", supporting=True)
@proof_steps("gradient.md: 7, 9")
def test_printed_cases_have_the_coefficients_of_the_general_formula() -> None:
    """(E.16) to (E.22): P_m2 - 1/2 = -(P_m1 - 1/2), and the products of beta and gamma in the four cases."""
    I, II, III, IV = sympy.symbols("I II III IV")
    beta, gamma = printed_updates.beta_gamma(a, b)
    cases = printed_updates.w_update(a, b, I, II, III, IV)
    d = a + b - 2
    pi = [(b - 1) / d, (a - 1) / d]
    for m, l in product(range(2), repeat=2):
        total = 0
        for i in range(2):
            gain = TRANSITIONS[m, i] - sympy.Rational(1, 2)
            total += gain * (
                beta[i][m] * beta[l][i] * I / d
                + beta[i][m] * gamma[l][i] * II / d**2
                + beta[l][i] * gamma[i][m] * III / d
                + gamma[i][m] * gamma[l][i] * IV
            )
        assert vanishes(cases[m][l] - pi[l] / d**2 * total)
    # a and b are exchangeable, so that on average the diagonal is constant and W symmetric
    swap = {a: b, b: a}
    assert vanishes(cases[0][0].subs(swap, simultaneous=True) - cases[1][1])
    assert vanishes(cases[0][1].subs(swap, simultaneous=True) - cases[1][0])


@check(
    "induction-heads:lemma-E.1d", grade="exact", target="printed", cases="three chains, t = 1, ..., 5, all sequences"
)
@proof_steps("gradient.md: 8")
@pytest.mark.parametrize("length", range(1, 6))
@pytest.mark.parametrize("P", CHAINS)
def test_printed_w_gradient_is_the_average_over_all_sequences(P: Chain, length: int) -> None:
    p, q = staying(P)
    sums = printed_updates.sums(p + q - 1, length, (p + q - 1) ** length)
    ones = constant(fmpq(1), length)
    found = sequence_gradients.of_chain(
        P, chain_stationary_law(P), ones, constant(fmpq(1), 2, 2), fmpq(length * (length + 1))
    )
    printed = np.array(printed_updates.w_update(p, q, *sums), dtype=object) / fmpq(length)
    assert (printed == found.W).all()
    assert (printed == w_gradient(chain_tensor(P, length), ones)).all()
    assert (np.diag(found.W) != 0).all()
    wrong = (*sums[:3], fmpq(length * (length + 1) * (length + 3), 6))  # negative control: (IV) off by one
    assert (np.array(printed_updates.w_update(p, q, *wrong), dtype=object) / fmpq(length) != found.W).any()


POLES = (1, 2, 1, 0)
"""Orders at lambda = 1 of the printed sums: (I)/(lambda-1), (II)/(lambda-1)^2 and (III)/(lambda-1) are polynomials."""


@cache
def printed_w_coefficients() -> list[list[list[Any]]]:
    """The coefficients of (I)/(lambda-1), (II)/(lambda-1)^2, (III)/(lambda-1) and (IV) in (E.19) to (E.22)."""
    cases = [printed_updates.w_update(flat_prior.a, flat_prior.b, *(int(n == r) for r in range(4))) for n in range(4)]
    return [
        [[entry * (flat_prior.a + flat_prior.b - 2) ** order for entry in row] for row in case]
        for case, order in zip(cases, POLES, strict=True)
    ]


def printed_mean_w(length: int) -> list[list[LogTwo]]:
    """The average of (E.19) to (E.22) over a and b: the increments of W for c = eta = 1."""
    sums = printed_updates.sums(flat_prior.lam, length, flat_prior.lam**length)
    result = [[LogTwo()] * 2 for _ in range(2)]
    for brace, order, coefficients in zip(sums, POLES, printed_w_coefficients(), strict=True):
        polynomial = brace / (flat_prior.lam - 1) ** order
        for m, l in product(range(2), repeat=2):
            result[m][l] += flat_prior.average(coefficients[m][l], polynomial)
    return [[entry / length for entry in row] for row in result]


@check("induction-heads:lemma-E.1", grade="exact", target="printed", cases="t = 1, ..., 60")
@check("induction-heads:lemma-E.1d", grade="exact", target="printed", cases="t = 1, ..., 60, averaged")
@check("induction-heads:lemma-E.1f", grade="exact", target="printed", cases="t = 1, ..., 60, averaged")
@proof_steps("gradient.md: 9")
@pytest.mark.parametrize("length", range(1, 61))
def test_averaged_first_step_in_Q_plus_Q_ln2(length: int) -> None:
    """At every t <= 60: the printed closed forms, averaged, are the gradient by the tensor (enumeration is below).

    The averages are of the form q + r ln 2; W is symmetric with constant diagonal, biased towards it.
    """
    C = flat_tensor(length)
    W = w_gradient(C, constant(1, length))
    assert printed_mean_w(length) == W.tolist()
    assert W[0, 0] == W[1, 1]
    assert W[0, 1] == W[1, 0]
    assert W[0, 0].degree == 1
    assert W[0, 0] > W[0, 1] >= 0
    v = v_gradient(C, ONES)
    for j in range(1, length + 1):
        assert v[j - 1] == printed_mean_v(length - j + 1) / length
    steps = v[:-1] - v[1:]
    assert all(x > 0 for x in steps)  # decreasing in j, from v_1 on,
    assert all(x > y for x, y in pairwise(steps))  # and convex


@cache
def printed_mean_v(N: int) -> LogTwo:
    """The average of (E.28): t/(c eta) times the increment of v_j, N = t - j + 1."""
    a_, b_, x = flat_prior.a, flat_prior.b, flat_prior.lam
    quadratic = ((a_ - 1) ** 2 + (b_ - 1) ** 2) / (a_ + b_ - 2) ** 2 - a_**0 / 2
    geometric = 2 * (a_ - 1) * (b_ - 1) / (a_ + b_ - 2) ** 2
    inner = x * ((x - x ** (N + 1)) / (1 - x) - N) / (x - 1)
    return flat_prior.average(quadratic) * fmpq(N * (N + 1), 2) + flat_prior.average(geometric, inner)


@check("induction-heads:lemma-E.1", grade="exact", target="printed", cases="t = 1, ..., 7, all sequences")
@proof_steps("two_gradient_steps.md: 2")
@pytest.mark.parametrize("length", range(1, 8))
def test_averaged_first_step_is_the_average_over_all_sequences(length: int) -> None:
    c = fmpq(1, 3)
    found = sequence_gradients.of_flat_prior(constant(c, length), constant(c, 2, 2), c**2 * length * (length + 1))
    C = flat_tensor(length)
    assert (c * w_gradient(C, constant(1, length)) == found.W).all()
    assert (found.v == c * v_gradient(C, ONES)).all()


@check("induction-heads:lemma-E.1", grade="exact", target="printed", supporting=True)
def test_first_values_of_the_increments() -> None:
    def increments(length: int) -> tuple[LogTwo, LogTwo]:
        W = w_gradient(flat_tensor(length), constant(1, length))
        return W[0, 0], W[0, 1]

    assert increments(1) == (fmpq(-5, 12) + fmpq(2, 3) * LN2, 0)
    assert increments(2) == (fmpq(-25, 24) + fmpq(5, 3) * LN2, 0)
    assert increments(3) == (fmpq(-23, 10) + fmpq(18, 5) * LN2, fmpq(17, 90) - fmpq(4, 15) * LN2)
    assert increments(8) == (fmpq(-513589, 14400) + fmpq(527, 10) * LN2, fmpq(252629, 14400) - fmpq(126, 5) * LN2)


# ---- the leading order


@check("induction-heads:lemma-E.1e", grade="exact", target="printed", supporting=True)
@proof_steps("two_gradient_steps.md: 5")
def test_constants_of_the_diagonal_and_off_the_diagonal() -> None:
    """(E.24) and (E.25), for both rows: E[pi_m pi_l (b-a)/(lambda-1) (P_m1 - 1/2)]."""
    x, y = flat_prior.a, flat_prior.b
    d, h = x + y - 2, x**0 / 2
    pi, first = [(y - 1) / d, (x - 1) / d], [x, 1 - y]
    means = [[flat_prior.average(pi[m] * pi[l] * (y - x) / d * (first[m] - h)) for l in range(2)] for m in range(2)]
    assert means == [[B, A], [A, B]]
    assert A > 0
    assert fmpq(397, 100) < B.ball(64) / A.ball(64) < fmpq(398, 100)  # "about 4"


@check("induction-heads:lemma-E.1e", grade="exact", target="printed", cases="t = 1, 2, 3, 5, 8, 13, 20, 40, 80, 150")
@proof_steps("two_gradient_steps.md: 6")
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 13, 20, 40, 80, 150])
def test_rest_beyond_the_leading_order_of_w_is_linear_in_t(length: int) -> None:
    """|rest| <= 3(t+1)/2 + (t+1)^2/(2t) <= 5t, where rest = increment - constant (t+1)(t+2)/6.

    By (E.16) the rest is (1/t) E[pi_l sum_i (P_mi - 1/2)(x_i T2 + y_i T1)] with T2 = sum_n (t-n)(t-n+1)/2 lambda^n,
    T1 = sum_n (n+1)(t-n) lambda^n, n < t. There |P_mi - 1/2| <= 1/2, sum_i |x_i| <= 3 and sum_i |y_i| <= 2;
    T2 <= t(t+1)/2/(1-|lambda|), T1 <= (t+1)^2/4/(1-|lambda|) and E[1/(1-|lambda|)] = E[1/min(S, 2-S)] = 2.
    """
    W = w_gradient(flat_tensor(length), constant(1, length))
    bound = fmpq(3 * (length + 1), 2) + fmpq((length + 1) ** 2, 2 * length)
    assert bound <= 5 * length
    for entry, leading in ((W[0, 0], B), (W[0, 1], A)):
        assert abs(entry - leading * fmpq((length + 1) * (length + 2), 6)) <= bound
    # sharper, by the moments of `test_all_lengths`, where L_a < 9/100 and L_b > -3/100
    assert 0 <= W[0, 0] - B * fmpq((length + 1) * (length + 2), 6) <= fmpq(9, 200) * (length - 1)
    assert -A - fmpq(3, 200) * (length - 1) <= W[0, 1] - A * fmpq((length + 1) * (length + 2), 6) < 0


@check("induction-heads:lemma-E.1e", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize(("k", "ratio"), [(2, 3.978), (3, 2.55), (4, 2.04), (8, 1.36)])
def test_diagonal_bias_shrinks_with_the_number_of_states(k: int, ratio: float) -> None:
    """Leading constants E[pi_m pi_l (sum_i P_mi pi_i - 1/k)] for k states: the factor 4 is special to k = 2.

    Fixed seed, 60 000 chains, averaged over all m and all l != m; five standard errors of the ratio (delta method).
    The expected values are known to half a unit of their last digit.
    """
    rng = np.random.default_rng(20 + k)
    P = rng.dirichlet(np.ones(k), size=(60_000, k))
    system = np.concatenate([np.ones((len(P), 1, k)), (P.transpose(0, 2, 1) - np.eye(k))[:, 1:]], axis=1)
    pi = np.linalg.solve(system, np.broadcast_to(np.eye(k)[:, :1], (len(P), k, 1)))[..., 0]
    gain = (P * pi[:, None, :]).sum(axis=2) - 1 / k
    weighted = pi * gain
    diagonal = (weighted * pi).sum(axis=1) / k
    off = ((weighted.sum(axis=1)) - (weighted * pi).sum(axis=1)) / (k * (k - 1))
    found = diagonal.mean() / off.mean()
    error = (diagonal - found * off).std() / off.mean() / np.sqrt(len(P))
    assert error < 0.05 * found
    assert abs(found - ratio) < 5 * error + 0.005


# ---- (E.26) to (E.29): the gradient of v


@check("induction-heads:lemma-E.1f", grade="symbolic", target="printed", supporting=True)
@proof_steps("two_gradient_steps.md: 7")
def test_printed_v_gradient_is_the_double_sum_for_all_lengths() -> None:
    """(E.28) from sum over j <= t' <= p <= t of (sum_i pi_i (P^(p+1-t'))_ii - 1/2), by telescoping in N = t - j + 1.

    With n = p + 1 - t' there are N - n + 1 pairs, so that increments in N are sums over n <= N + 1 and their increments
    are single terms.
    """
    N = sympy.Symbol("N")
    brace = printed_updates.v_update(a, b, N, L)

    def at(steps: int) -> sympy.Expr:
        return brace.subs({N: N + steps, L: EIGENVALUE**steps * L}, simultaneous=True)

    d = a + b - 2
    pi = [(b - 1) / d, (a - 1) / d]
    beta, gamma = printed_updates.beta_gamma(a, b)
    single = sum(pi[i] * (beta[i][i] * EIGENVALUE**2 * L + gamma[i][i]) / d for i in range(2)) - sympy.Rational(1, 2)
    assert vanishes(at(2) - 2 * at(1) + at(0) - single)
    assert vanishes(brace.subs({N: 0, L: 1}, simultaneous=True))
    step = sum(pi[i] * TRANSITIONS[i, i] for i in range(2)) - sympy.Rational(1, 2)
    assert vanishes(brace.subs({N: 1, L: EIGENVALUE}, simultaneous=True) - step)


@check(
    "induction-heads:lemma-E.1f", grade="exact", target="printed", cases="three chains, t = 1, ..., 5, all sequences"
)
@proof_steps("two_gradient_steps.md: 7")
@pytest.mark.parametrize("length", range(1, 6))
@pytest.mark.parametrize("P", CHAINS)
def test_printed_v_gradient_is_the_average_over_all_sequences(P: Chain, length: int) -> None:
    p, q = staying(P)
    ones = constant(fmpq(1), length)
    found = sequence_gradients.of_chain(
        P, chain_stationary_law(P), ones, constant(fmpq(1), 2, 2), fmpq(length * (length + 1))
    )
    assert (found.v == v_gradient(chain_tensor(P, length), ONES)).all()
    for j in range(1, length + 1):
        N = length - j + 1
        assert found.v[j - 1] == printed_updates.v_update(p, q, N, (p + q - 1) ** N) / length
        assert found.v[j - 1] != printed_updates.v_update(p, q, N + 1, (p + q - 1) ** (N + 1)) / length


@check("induction-heads:lemma-E.1f", grade="exact", target="printed", cases="t = 1, 2, 3, 5, 8, 13, 20, 40, 80, 150")
@proof_steps("two_gradient_steps.md: 9")
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 13, 20, 40, 80, 150])
def test_rest_beyond_the_leading_order_of_v_is_bounded(length: int) -> None:
    """E[pi_1^2 + pi_2^2] - 1/2 = D = 3/2 - 2 ln 2 > 0, and the rest in (E.29) is below 1 for all t and j.

    It is (2/t) sum_{n=1}^N (N-n+1) E[pi_1 pi_2 lambda^n]: at most (2/t) N/4 E[1/(1-|lambda|)] = N/t <= 1.
    """
    x, y = flat_prior.a, flat_prior.b
    squares = flat_prior.average(((x - 1) ** 2 + (y - 1) ** 2) / (x + y - 2) ** 2)
    assert squares == 2 - 2 * LN2
    assert squares - fmpq(1, 2) == D > 0
    v = v_gradient(flat_tensor(length), ONES)
    for j in range(1, length + 1):
        N = length - j + 1
        assert abs(v[j - 1] - D * fmpq(N * (N + 1), 2 * length)) < 1


# ---- one sequence is not the population


@check("induction-heads:lemma-8.4", grade="exact", target="printed", supporting=True)
@proof_steps("two_gradient_steps.md: 10")
def test_single_sequence_moves_one_entry_only() -> None:
    """A stochastic step on a constant sequence: its gradient of W has one entry, no bias to the diagonal."""
    for length in (3, 6, 12):
        x = [0] * (length + 1)
        found = sequence_gradients.of_sequence(
            x, constant(fmpq(1), length), constant(fmpq(1), 2, 2), fmpq(length * (length + 1))
        )
        assert found.W[0, 0] > 0
        assert (found.W.ravel()[1:] == 0).all()
        assert rank(found.W) == 1


def first_step_of_samples(length: int, size: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Increments of W, shape (size, 2, 2), and v, shape (size, t), for sampled chains: (E.17), (E.28) as plain sums."""
    U, V = np.random.default_rng(seed).random((2, size))
    S = U + V
    P = np.array([[1 - U, U], [V, 1 - V]])
    pi = np.array([V, U]) / S
    decay = np.eye(2)[:, :, None] - pi[None]
    n = np.arange(length)
    powers = (1 - S) ** n[:, None]
    T1 = ((n + 1) * (length - n)) @ powers
    T2 = ((length - n) * (length - n + 1) / 2) @ powers
    T3 = length * (length + 1) * (length + 2) / 6
    W = np.zeros((size, 2, 2))
    for m, l, i in product(range(2), repeat=3):
        terms = pi[m] * pi[i] * T3 + (pi[m] * decay[l, i] + decay[i, m] * pi[i]) * T2 + decay[i, m] * decay[l, i] * T1
        W[:, m, l] += pi[l] * (P[m, i] - 0.5) * terms / length
    N = length - n[:, None]
    weights = np.clip(N - n[None, :], 0, None)  # (N - n + 1) at lambda^n, n = 1, ..., N
    v = N * (N + 1) / 2 * (pi**2 - 0.25).sum(axis=0) + 2 * pi[0] * pi[1] * (weights @ (powers * (1 - S)))
    return W, v.T / length


@check(
    "induction-heads:figure-E.1",
    grade="exact",
    target="printed",
    cases="c = 1/50, eta = 3/100, t = 100: W, and v at the positions 1, 2, 3, 50, 99, 100; the order of v at all 100",
)
def test_figure_of_the_first_step_shows_a_biased_diagonal_and_a_decay() -> None:
    """The averages of the printed (E.17) and (E.28) are the step of the library, and have what the figure shows."""
    c, eta, length = fmpq(1, 50), fmpq(3, 100), 100
    C = flat_tensor(length)
    W, v = c + w_gradient(C, constant(c, length)) * eta, c + v_gradient(C, c * ONES) * eta
    assert W.tolist() == [[c + c * eta * entry for entry in row] for row in printed_mean_w(length)]
    for j in (1, 2, 3, 50, 99, 100):
        assert v[j - 1] == c + c * eta * printed_mean_v(length - j + 1) / length
    assert W[0, 0] == W[1, 1] > 2 * W[0, 1]
    assert W[0, 1] == W[1, 0] > c
    assert all(x > y > c for x, y in pairwise(v))


@check(
    "induction-heads:figure-E.1",
    grade="sampled",
    target="printed",
    cases="c = 0.02, eta = 0.03, t = 100: 10,000 samples of one fixed seed",
)
def test_figure_of_the_first_step() -> None:
    """c = 0.02, eta = 0.03, t = 100: exact values, and 10 000 samples as in the figure, within five standard errors.

    The seed is fixed. With 104 quantities a false alarm would have a probability below 1e-4 for a random seed.
    """
    c, eta, length = 0.02, 0.03, 100
    C = flat_tensor(length)
    exact_w, exact_v = w_gradient(C, constant(1, length)).astype(float), v_gradient(C, ONES).astype(float)
    sampled_w, sampled_v = first_step_of_samples(length, 10_000, seed=1)
    for sampled, exact in ((sampled_w, exact_w), (sampled_v, exact_v)):
        error = sampled.std(axis=0) / 100
        assert (np.abs(sampled.mean(axis=0) - exact) < 5 * error).all()
    W, v = c + c * eta * exact_w, c + c * eta * exact_v
    # the values that a reader of the figure compares, rounded to eight digits
    assert np.round(W[0], 8).tolist() == [0.06902160, 0.03098407]
    assert np.round(v[[0, 1, 2, 3, 49, 99]], 8).tolist() == [
        0.02350599, 0.02343711, 0.02336890, 0.02330138, 0.02093322, 0.02000055
    ]  # fmt: skip


@check("induction-heads:observation-8.4", grade="exact", target="corrected", cases="t = 2, 3, 12, 60")
@pytest.mark.parametrize("length", [2, 3, 12, 60])
def test_second_layer_is_aligned_first(length: int) -> None:
    """After one step W is biased to the diagonal while v still peaks at the current token."""
    C = flat_tensor(length)
    W, v = w_gradient(C, constant(1, length)), v_gradient(C, ONES)
    assert W[0, 0] > W[0, 1]
    assert all(v[0] > x for x in v[1:])
