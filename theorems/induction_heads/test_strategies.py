"""The task and the strategies of chapter 8: stationary law, unigram, bigram, exact Bayes, and their losses.

Two states are treated exactly. The chain leaves state 1 with probability U and state 2 with probability V, uniform and
independent; pi = (V, U)/(U + V). Probabilities of sequences lie in Q + Q ln 2 and are computed by polynomial expansion
(`lemmata.numerics.markov.enumeration`), independently of the positive recursion behind the predictors
(`lemmata.numerics.markov.bayes`). Sampled checks name sample size, seed and confidence.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, sqrt

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.log_two import LN2, LogTwo
from lemmata.numerics.markov.bayes import stationary_bayes
from lemmata.numerics.markov.chains import dirichlet_chains, sample_sequences, stationary_law
from lemmata.numerics.markov.enumeration import (
    all_sequences,
    dirichlet_moment,
    independent_start_evidence,
    stationary_evidence,
    transitions,
    two_state_evidence,
)
from lemmata.numerics.markov.flat import flat_average
from lemmata.numerics.markov.losses import (
    reference_losses,
    stationary_entropy,
)
from lemmata.numerics.markov.predictors import bigram, ngram, unigram
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

Property = Callable[[str, object], None]


def _ball(x: LogTwo | fmpq | int) -> arb:
    return LogTwo(x).ball(200) if not isinstance(x, LogTwo) else x.ball(200)


# ---- the task


@check("induction-heads:definition-iclmc", grade="symbolic", target="printed", supporting=True)
@proof_steps("stationary.md: 2")
def test_two_state_chain_has_one_stationary_law() -> None:
    """For 0 < a, b < 1 the solutions of pi P = pi, sum pi = 1 are exactly pi = (1-b, 1-a)/(2-a-b)."""
    a, b, first, second = sp.symbols("a b pi_1 pi_2")
    P = sp.Matrix([[a, 1 - a], [1 - b, b]])
    balance = sp.Matrix([[first, second]]) * P - sp.Matrix([[first, second]])
    (solution,) = sp.solve([*balance, first + second - 1], [first, second], dict=True)
    assert sp.simplify(solution[first] - (1 - b) / (2 - a - b)) == 0
    assert sp.simplify(solution[second] - (1 - a) / (2 - a - b)) == 0


@check("induction-heads:definition-iclmc", grade="exact", target="printed", cases="k = 2, flat prior, t = 1, ..., 10")
@proof_steps("stationary.md: 2")
@pytest.mark.parametrize("t", range(1, 11))
def test_probabilities_of_all_sequences_add_up_to_one(t: int) -> None:
    assert sum((stationary_evidence(x) for x in all_sequences(2, t)), LogTwo(0)) == LogTwo(1)


@check(
    "induction-heads:definition-iclmc",
    grade="exact",
    target="printed",
    cases="k = 2, flat prior, words of three symbols at four places",
)
@proof_steps("stationary.md: 2")
def test_sequences_are_stationary() -> None:
    """The averaged law of (x_s, ..., x_{s+2}) is the same at s = 1, 2, 3 and 4."""
    laws = []
    for s in range(4):
        law = dict.fromkeys(all_sequences(2, 3), LogTwo(0))
        for x in all_sequences(2, 6):
            law[x[s : s + 3]] += stationary_evidence(x)
        laws.append(law)
    assert all(law == laws[0] for law in laws)
    assert laws[0][1, 1, 1] != laws[0][1, 2, 1]


@check("induction-heads:definition-iclmc", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_every_symbol_of_a_sampled_sequence_has_the_stationary_law(k: int) -> None:
    """One chain per k, 40000 sequences of 12 symbols, seed k: each frequency within 5.5 standard errors.

    At most 120 frequencies, each outside with probability 4e-8: confidence 1 - 5e-6. A start from the uniform law is
    found out by the same band.
    """
    rng, size = np.random.default_rng(k), 40000
    chain = dirichlet_chains(k, 1, rng)
    law = stationary_law(chain)[0]
    band = 5.5 * np.sqrt(law * (1 - law) / size)

    def frequencies(start: str) -> np.ndarray:
        x = sample_sequences(np.repeat(chain, size, axis=0), 12, rng, start)
        return np.stack([(x == j + 1).mean(axis=0) for j in range(k)], axis=1)

    assert np.all(np.abs(frequencies("stationary") - law) < band)
    assert np.any(np.abs(frequencies("uniform")[0] - law) > band)


# ---- the stationary law


def _density(s: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The density of pi_1 on [0, 1/2] and on [1/2, 1]."""
    return 1 / (2 * (1 - s) ** 2), 1 / (2 * s**2)


@check("induction-heads:claim-stationary", grade="symbolic", target="corrected", supporting=True)
@counterexample("induction-heads:claim-stationary", grade="symbolic")
@proof_steps("stationary.md: 3")
def test_two_states_have_a_simple_stationary_law(record: Record) -> None:
    """pi_1 = V/(U+V) <= s iff V <= sU/(1-s): integrate over the unit square, and differentiate."""
    U, V, s = sp.symbols("U V s", positive=True)
    below = sp.integrate(sp.integrate(1, (V, 0, s * U / (1 - s))), (U, 0, 1))  # s <= 1/2: the line leaves at U = 1
    above = 1 - sp.integrate(sp.integrate(1, (U, 0, V * (1 - s) / s)), (V, 0, 1))  # s >= 1/2: pi_1 > s
    left, right = _density(s)
    assert sp.simplify(sp.diff(below, s) - left) == 0
    assert sp.simplify(sp.diff(above, s) - right) == 0
    assert below.subs(s, 0) == 0
    assert sp.simplify((below - above).subs(s, sp.Rational(1, 2))) == 0
    assert above.subs(s, 1) == 1
    square = sp.integrate(sp.integrate(1, (V, 0, 1)), (U, 0, 1))
    record.hypothesis(
        "two states, with uniform rows that are independent: the mass of the unit square", int(square), "=", 1
    )
    for u, v in ((fmpq(1, 3), fmpq(3, 4)), (fmpq(1, 2), fmpq(1, 5)), (fmpq(1), fmpq(2, 3))):
        P, first = np.array([[1 - u, u], [v, 1 - v]]), v / (u + v)
        law = np.array([first, 1 - first])
        record.hypothesis(f"pi_1 = V/(U + V) is stationary at U = {u}, V = {v}", (law @ P)[0], "=", first)
    density = sp.integrate(left, (s, 0, sp.Rational(1, 2))) + sp.integrate(right, (s, sp.Rational(1, 2), 1))
    record.hypothesis("the line 1/(2 max(s, 1 - s)^2) is a density: its integral", int(density), "=", 1)
    away = max(
        abs(law.subs(s, at) - sp.integrate(one, (s, since, at)) - before)
        for law, one, since, before, places in (
            (below, left, 0, 0, ("1/10", "1/3", "1/2")),
            (above, right, sp.Rational(1, 2), sp.Rational(1, 2), ("3/5", "3/4", "1")),
        )
        for at in map(sp.Rational, places)
    )
    record.violated(
        "no line is its law: P(pi_1 <= s) is off by more than 0 at one of six s", fmpq(away.p, away.q), ">", 0
    )


@check(
    "induction-heads:claim-stationary",
    grade="exact",
    target="corrected",
    cases="k = 2, seven moments of order at most 4",
)
@proof_steps("stationary.md: 3")
def test_moments_of_the_density() -> None:
    """E[pi_1^i pi_2^j], i + j <= 4, from the density and as averages over U, V; E[pi_1^2 + pi_2^2] = 2 - 2 ln 2."""
    s = sp.symbols("s", positive=True)
    left, right = _density(s)
    half = sp.Rational(1, 2)
    for i, j in [(1, 0), (2, 0), (1, 1), (3, 0), (2, 1), (4, 0), (2, 2)]:
        power = s**i * (1 - s) ** j
        lower = sp.integrate(sp.apart(sp.cancel(power * left), s), (s, 0, half))
        upper = sp.integrate(sp.apart(sp.cancel(power * right), s), (s, half, 1))
        exact = flat_average({(j, i): 1}, i + j)
        rational, logarithm = (*exact.coefficients, fmpq(0), fmpq(0))[:2]
        expected = sp.Rational(str(rational)) + sp.Rational(str(logarithm)) * sp.log(2)
        assert sp.simplify(sp.expand_log(lower + upper, force=True) - expected) == 0
    squares = flat_average({(2, 0): 1, (0, 2): 1}, 2)
    assert squares == 2 - 2 * LN2
    assert squares != 2 - 2 * flat_average({(1, 1): 1}, 1)


@check("induction-heads:claim-stationary", grade="sampled", target="corrected", supporting=True)
@proof_steps("stationary.md: 7")
def test_stationary_law_tends_to_the_uniform_law(effort: Effort, record_property: Property) -> None:
    """sqrt(k) E||pi - uniform||_TV stays near 1/sqrt(2 pi): so the distance tends to 0 like 1/sqrt(k).

    Seed 8: 4000 chains with k = 8, 512 with 32, 128 with 128 and 32 with 256 states. Means within 5 standard errors of
    the band (0.37, 0.42), which was set after a first run (confidence 1 - 3e-6);
    the distance of the first to the last has to shrink fourfold at least.
    """
    rng, distances = np.random.default_rng(8), {}
    sizes = effort.pick(quick={8: 4000, 32: 512, 128: 128, 256: 32}, full={8: 40000, 32: 8000, 128: 1000, 256: 300})
    for k, size in sizes.items():
        distance = np.abs(stationary_law(dirichlet_chains(k, size, rng)) - 1 / k).sum(axis=1) / 2
        mean, error = distance.mean(), distance.std() / sqrt(size)
        record_property(f"sqrt(k) E TV at k = {k}", f"{sqrt(k) * mean:.4f} +- {sqrt(k) * error:.4f}")
        assert sqrt(k) * (mean + 5 * error) > 0.37
        assert sqrt(k) * (mean - 5 * error) < 0.42
        distances[k] = mean
    assert distances[256] < distances[8] / 4
    assert abs(sqrt(256) * distances[256] - 1 / sqrt(2 * pi)) < 0.03


# ---- unigrams


@check(
    "induction-heads:est-unigram",
    grade="exact",
    target="printed",
    cases="all sequences for (k, t) = (2, 7), (3, 5), (4, 4) with flat prior, (3, 4) with prior (1, 2, 3)",
)
@proof_steps("strategies.md: 2")
@pytest.mark.parametrize(("k", "t", "prior"), [(2, 7, (1, 1)), (3, 5, (1, 1, 1)), (3, 4, (1, 2, 3)), (4, 4, (1,) * 4)])
def test_add_one_frequencies_are_bayes_for_independent_symbols(k: int, t: int, prior: tuple[int, ...]) -> None:
    """All rows equal to one Dirichlet(prior) vector: posterior mean = (n_j + alpha_j)/(t + sum alpha)."""
    x = all_sequences(k, t)
    predicted = unigram(np.array(x), k, prior)[:, -1]
    for sequence, law in zip(x, predicted, strict=True):
        counts = [sequence.count(j) for j in range(1, k + 1)]
        before = dirichlet_moment(counts, prior)
        for j in range(k):
            after = dirichlet_moment([n + (i == j) for i, n in enumerate(counts)], prior)
            assert after / before == fmpq(counts[j] + prior[j], t + sum(prior))
            assert law[j] == (counts[j] + prior[j]) / (t + sum(prior))  # one correctly rounded division


@check("induction-heads:est-unigram", grade="enclosed", target="printed", supporting=True)
@proof_steps("strategies.md: 2")
@pytest.mark.parametrize("t", [1, 2, 4, 6])
def test_stationary_posterior_depends_on_the_frequencies_only(t: int) -> None:
    """Independent symbols with the law pi of a random chain (k = 2): Bayes is a quotient in Q + Q ln 2 of the counts.

    The quotients are laws, and beat the add-one frequencies in expected log loss, as this is their own model.
    """
    mass, own, add_one = LogTwo(0), arb(0), arb(0)
    for x in all_sequences(2, t):
        n1, n2 = x.count(1), x.count(2)
        before = flat_average({(n2, n1): 1}, t)
        after = [flat_average({(n2, n1 + 1): 1}, t + 1), flat_average({(n2 + 1, n1): 1}, t + 1)]
        assert after[0] + after[1] == before
        mass += before
        for n, part in zip((n1, n2), after, strict=True):
            own -= _ball(part) * (_ball(part) / _ball(before)).log()
            add_one -= _ball(part) * (arb(n + 1) / (t + 2)).log()
    assert mass == LogTwo(1)
    assert own < add_one


# ---- bigrams


@check(
    "induction-heads:est-bigram",
    grade="exact",
    target="corrected",
    cases="all sequences: (k, t) = (2, 7), (3, 5), (4, 4) with flat prior, (2, 6) with (2, 1), (3, 4) with (1, 2, 3)",
)
@proof_steps("stationary_start.md: 1", "strategies.md: 5")
@pytest.mark.parametrize(
    ("k", "t", "prior"), [(2, 7, (1, 1)), (3, 5, (1, 1, 1)), (2, 6, (2, 1)), (3, 4, (1, 2, 3)), (4, 4, (1,) * 4)]
)
def test_bigram_strategy_is_the_posterior_mean(k: int, t: int, prior: tuple[int, ...]) -> None:
    """Every sequence, x_1 independent of the chain: P(x, j)/P(x) = (c_ij + alpha_j)/(N_i + sum alpha), i = x_t."""
    x = all_sequences(k, t)
    predicted, mass = bigram(np.array(x), k, prior)[:, -1], fmpq(0)
    for sequence, law in zip(x, predicted, strict=True):
        before = independent_start_evidence(sequence, prior)
        mass += before / k
        counts = transitions(sequence, k)[sequence[-1] - 1]
        total = fmpq(0)
        for j in range(1, k + 1):
            posterior = independent_start_evidence((*sequence, j), prior) / before
            assert posterior == fmpq(counts[j - 1] + prior[j - 1], sum(counts) + sum(prior))
            assert law[j - 1] == (counts[j - 1] + prior[j - 1]) / (sum(counts) + sum(prior))
            total += posterior
        assert total == 1
    assert mass == 1


@counterexample("induction-heads:est-bigram", grade="exact")
@proof_steps("strategies.md: 5")
def test_printed_denominator_is_not_a_law(record: Record, prior: tuple[int, int] = (1, 1)) -> None:
    """x = (1, 2, 1), flat prior: N = 2 transitions, N_1 = 1. Over N + 2 = 4 row 1 is (1/4, 2/4); it is (1/3, 2/3)."""
    counts = transitions((1, 2, 1), 2)
    N = sum(map(sum, counts))
    printed = [fmpq(c + a, N + sum(prior)) for c, a in zip(counts[0], prior, strict=True)]
    assert (N, sum(counts[0])) == (2, 1)
    record.hypothesis("the parameters of the prior are positive", min(prior), ">", 0)
    record.hypothesis("state 1 has been left before", sum(counts[0]), ">=", 1)
    record.violated("(8.3) is a law: the row sums to 1", sum(printed), "=", 1)
    assert printed == [fmpq(1, 4), fmpq(1, 2)]
    before = independent_start_evidence((1, 2, 1), (1, 1))
    posterior = [independent_start_evidence((1, 2, 1, j), (1, 1)) / before for j in (1, 2)]
    assert posterior == [fmpq(1, 3), fmpq(2, 3)]


@check("induction-heads:est-bigram", grade="exact", target="corrected", supporting=True)
@proof_steps("strategies.md: 4")
def test_marginal_of_the_posterior_is_the_beta_law() -> None:
    """(8.2): k = 3, all moments up to order 4 of P_ij under Dirichlet(c + alpha) are those of the Beta law."""
    for counts, alpha in [((0, 2, 1), (1, 1, 1)), ((3, 0, 2), (1, 2, 3))]:
        posterior = [fmpq(c + a) for c, a in zip(counts, alpha, strict=True)]
        for j in range(3):
            rest = sum(counts) + sum(alpha) - alpha[j] - counts[j]
            p, A, B = sp.symbols("p"), counts[j] + alpha[j], rest
            weight = sp.expand(p ** (A - 1) * (1 - p) ** (B - 1))
            whole = sp.integrate(weight, (p, 0, 1))
            for m in range(5):
                powers = [m if i == j else 0 for i in range(3)]
                moment = sp.integrate(sp.expand(p**m * weight), (p, 0, 1)) / whole
                assert moment == sp.Rational(str(dirichlet_moment(powers, posterior)))


@check("induction-heads:est-bigram", grade="enclosed", target="corrected", supporting=True)
@proof_steps("strategies.md: 6")
def test_no_strategy_beats_the_posterior_mean() -> None:
    """Expected log loss for a uniform start, k = 2, t = 6: less than unigram, uniform, and the mean moved by 1/50."""
    losses = {"bigram": arb(0), "unigram": arb(0), "uniform": arb(0), "moved": arb(0)}
    for x in all_sequences(2, 6):
        counts = transitions(x, 2)[x[-1] - 1]
        for j in (1, 2):
            weight = independent_start_evidence((*x, j), (1, 1)) / 2
            mean = fmpq(counts[j - 1] + 1, sum(counts) + 2)
            laws = {"bigram": mean, "unigram": fmpq(x.count(j) + 1, 8), "uniform": fmpq(1, 2)}
            laws["moved"] = mean + fmpq(3 - 2 * j, 50)
            for name, law in laws.items():
                losses[name] -= arb(weight) * arb(law).log()
    assert all(losses["bigram"] < losses[name] for name in ("unigram", "uniform", "moved"))


# ---- remark 8.1: the start is stationary


@check("induction-heads:remark-8.1", grade="numeric", target="printed", supporting=True)
def test_bayes_with_stationary_start_after_one_symbol() -> None:
    """P(x_2 = 1 | x_1 = 1) = (4 ln 2 - 1)/3 = 0.5909, where the bigram strategy says 1/2."""
    assert two_state_evidence(0, 0, 0, 0, 1) == LogTwo(fmpq(1, 2))
    assert 2 * two_state_evidence(1, 0, 0, 0, 1) == (4 * LN2 - 1) / 3
    assert abs(stationary_bayes([1])[0, 0] - (4 * log(2) - 1) / 3) < 1e-14  # some additions of numbers below 1


@check("induction-heads:remark-8.1", grade="exact", target="printed", supporting=True)
@proof_steps("stationary_start.md: 2")
def test_bayes_predictor_is_the_exact_quotient() -> None:
    """Every sequence with t <= 7: the recursion against the quotient of polynomial expansions in Q + Q ln 2.

    The recursion adds positive numbers only, at most t + 8 roundings each for numerator and denominator.
    """
    for t in range(1, 8):
        x = all_sequences(2, t)
        for sequence, law in zip(x, stationary_bayes(np.array(x))[:, -1], strict=True):
            before = stationary_evidence(sequence)
            after = [stationary_evidence((*sequence, j)) for j in (1, 2)]
            assert after[0] + after[1] == before
            for j in range(2):
                exact = float(_ball(after[j]) / _ball(before))
                assert abs(law[j] - exact) <= 4 * (t + 8) * np.finfo(float).eps * exact


def _bayes_of_family(m: int) -> arb:
    """P(next = 1) after (1, 2, ..., 2, 1) with m twos, enclosed from two numbers of Q + Q ln 2."""
    with precision(4 * m + 200):  # the expansions cancel about 2.5 bits for each symbol
        bits = 4 * m + 200
        return two_state_evidence(1, 1, 1, m - 1, 1).ball(bits) / two_state_evidence(0, 1, 1, m - 1, 1).ball(bits)


@check("induction-heads:remark-8.1", grade="exact", target="printed", supporting=True)
@proof_steps("stationary_start.md: 6")
def test_the_difference_does_not_vanish_for_every_sequence() -> None:
    """x = (1, 2^m, 1): the bigram strategy says 1/3 for every m; Bayes is further away the longer the context is.

    Signs of numbers of Q + Q ln 2: Bayes > 40/100 at m = 5, 42/100 at 10, ..., 48/100 at 320. The next test bounds
    the difference for every m.
    """
    for m, percent in {5: 40, 10: 42, 20: 43, 40: 45, 80: 46, 160: 47, 320: 48}.items():
        after, before = two_state_evidence(1, 1, 1, m - 1, 1), two_state_evidence(0, 1, 1, m - 1, 1)
        assert after > before * fmpq(percent, 100)
        counts = transitions([1, *[2] * m, 1], 2)[0]
        assert fmpq(counts[0] + 1, sum(counts) + 2) == fmpq(1, 3)


@check("induction-heads:remark-8.1", grade="numeric", target="printed", supporting=True)
@proof_steps("stationary_start.md: 5")
def test_bayes_tends_to_one_half_along_the_family() -> None:
    """1/2 - sqrt(3/(m+3)) <= P(next = 1 | 1, 2^m, 1) <= 1/2 for every m, so the gap to 1/3 tends to 1/6.

    With w = U/(U+V) the value is E[(1-U) w V^2 b^(m-1)] / E[w V^2 b^(m-1)], b = 1 - V. Above: 1 - U decreases and w
    increases in U (Chebyshev). Below: the denominator is at most E[V^2 b^(m-1)] as w <= 1; in the numerator
    w = 1 - V/(U+V), and the integral of V/(U+V) over U is V ln(1 + 1/V) <= sqrt(V). The quotient is at least
    1/2 - E sqrt(V) for V ~ Beta(3, m), and E sqrt(V) <= sqrt(E V) = sqrt(3/(m+3)). Evaluated here for m <= 320.
    """
    x = sp.symbols("x", nonnegative=True)
    root = sp.diff(sp.sqrt(x) - sp.log(1 + x), x)  # ln(1+x) <= sqrt(x): equality at 0, and the difference increases
    assert sp.simplify(root - ((sp.sqrt(x) - 1) ** 2) / (2 * sp.sqrt(x) * (1 + x))) == 0
    values = {m: _bayes_of_family(m) for m in (5, 10, 20, 40, 80, 160, 320)}
    for m, value in values.items():
        assert value < fmpq(1, 2)
        assert value > arb(1) / 2 - (arb(3) / (m + 3)).sqrt()
        assert bigram([1, *[2] * m, 1], 2)[-1, 0] == 1 / 3
        # at most 4 (m + 10) roundings in the recursion for numerator and denominator
        assert abs(stationary_bayes([1, *[2] * m, 1])[-1, 0] - float(value)) < 4 * (m + 10) * np.finfo(float).eps
    assert all(values[m] < values[2 * m] for m in (5, 10, 20, 40, 80, 160))
    for m, digits in {5: 0.40673, 10: 0.42264, 20: 0.43966, 40: 0.45575, 80: 0.46934}.items():
        assert abs(float(values[m]) - digits) < 6e-6  # known to five digits


@check("induction-heads:remark-8.1", grade="numeric", target="printed", cases="k = 2, all sequences, t = 1, ..., 8")
@proof_steps("stationary_start.md: 2, 4")
def test_expected_differences_are_summable() -> None:
    """sum over all t of E KL(Bayes || bigram) <= E KL(pi || uniform) = pi^2/12 - ln 2 = 0.1293, so they tend to 0.

    Let Q be the law of sequences with stationary start and R with uniform start. By the chain rule the expected
    divergences at t = 1, ..., T-1 add up to KL(Q || R) on sequences of length T (the first symbols agree, both are
    uniform). Given the chain, Q and R differ in the first symbol only, so by data processing KL(Q || R) is at most
    E[sum_i pi_i ln(2 pi_i)] = ln 2 - E h(pi). Here the chain rule is checked up to T = 9 by enumeration.
    """
    bound = arb(2).log() - stationary_entropy()
    with precision(200):
        assert (bound - (arb.pi() ** 2 / 12 - arb(2).log())).contains(0)
        added = arb(0)
        for t in range(1, 9):
            expected, joint = arb(0), arb(0)
            for x in all_sequences(2, t):
                counts = transitions(x, 2)[x[-1] - 1]
                before = _ball(stationary_evidence(x))
                for j in (1, 2):
                    after = _ball(stationary_evidence((*x, j)))
                    strategy = arb(fmpq(counts[j - 1] + 1, sum(counts) + 2))
                    expected += after * (after / before / strategy).log()
                    joint += after * (after / (arb(independent_start_evidence((*x, j), (1, 1))) / 2)).log()
            added += expected
            assert expected > 0
            assert (added - joint).contains(0)
            assert (added - joint).rad() < 1e-40
            assert added < bound
            assert abs(float(expected) - reference_losses(t).excess) < 1e-12  # 2^t terms, rounded
        assert added > bound / 2


@check("induction-heads:remark-8.1", grade="numeric", target="printed", supporting=True)
def test_rate_of_the_expected_difference(record_property: Property) -> None:
    """E KL(Bayes || bigram), summed over counts without sampling: t^2 E KL rises slowly and stays below 1.

    The sums have positive terms, hence full precision. The quotient by ln t / t^2 falls from t = 50 on, so that rate
    is too large.
    """
    excess = {t: reference_losses(t).excess for t in (1, 2, 3, 6, 12, 25, 50, 100, 200, 400)}
    scaled = [t**2 * value for t, value in excess.items()]
    for t, value in excess.items():
        record_property(f"t^2 E KL at t = {t}", f"{t**2 * value:.6f}")
    assert all(np.diff(scaled) > 0)
    assert scaled[-1] < 1
    assert all(np.diff(scaled[-4:]) < np.diff(scaled[-5:-1]))
    quotients = [t**2 * excess[t] / log(t) for t in (50, 100, 200, 400)]
    assert all(np.diff(quotients) < 0)
    printed = {1: 0.016604, 2: 0.015822, 3: 0.011528, 6: 0.0058841, 12: 0.0024217}
    assert all(abs(excess[t] / value - 1) < 4e-5 for t, value in printed.items())


# ---- n-grams


@given(st.integers(0, 2**32))
@check("induction-heads:definition-ngram", grade="sampled", target="printed", supporting=True)
def test_trigram_strategy_is_bayes_for_an_independent_start(seed: int) -> None:
    """k = 2, n = 3: contexts have independent flat rows, so P(x, j)/P(x) = (c_uj + 1)/(N_u + 2)."""
    rng = np.random.default_rng(seed)
    x = tuple(int(s) for s in rng.integers(1, 3, size=9))

    def evidence(y: tuple[int, ...]) -> fmpq:
        rows: dict[tuple[int, ...], list[int]] = {}
        for s in range(2, len(y)):
            rows.setdefault(y[s - 2 : s], [0, 0])[y[s] - 1] += 1
        result = fmpq(1)
        for row in rows.values():
            result *= dirichlet_moment(row, (1, 1))
        return result

    for j in (1, 2):
        exact = evidence((*x, j)) / evidence(x)
        assert ngram(x, 2, 3)[-1, j - 1] == int(exact.p) / int(exact.q)
