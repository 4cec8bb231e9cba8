"""Claim 4 of lemma B.4 for every delta: after one step a feature is close to its ideal with high probability.

The bound of `lemmata.numerics.parity.feature_distance` is held against neurons whose gradient is added up over all 2^n
inputs and whose errors have the largest size, and against exact tails of the largest deviations at n up to thousands.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.two_layer import TwoLayerNetwork, post_step_network
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.parity.feature_distance import (
    feature_distance,
    feature_range,
    irrelevant_weight,
    largest_ratio,
    noise_threshold,
)
from lemmata.theorems.evidence import check, proof_steps

CLAIM = "hidden-progress:claim-B.4.4"
SIZES = [(7, 2), (9, 4)]
EPSILONS = [fmpq(99, 100), fmpq(1, 10)]
DELTAS = [fmpq(1, 7), fmpq(1), fmpq(5, 2), fmpq(1000)]


def _rational(x: arb) -> Fraction:
    """The midpoint of a ball, exactly."""
    numerator, exponent = x.mid().man_exp()
    return Fraction(int(numerator)) * Fraction(2) ** int(exponent)


def _below(x: arb) -> fmpq:
    """A multiple of 2^-40 at most x, and closer than 2^-39 to it."""
    return fmpq(math.floor(_rational(x.lower()) * 2**40), 2**40)


def _least_inputs(k: int, epsilon: fmpq, delta: fmpq) -> int:
    """The least odd n >= 2k with n >= 16 log(2k/epsilon)/delta^2."""
    needed = (16 * (2 * k / arb(epsilon)).log() / arb(delta) ** 2).upper()
    return max(2 * k, math.ceil(_rational(needed))) | 1


def _step(n: int, k: int, u: int, bias: fmpq, irrelevant: np.ndarray) -> tuple[np.ndarray, fmpq, fmpq]:
    """Minus rate times gradient of the weights and of the bias, added up over all 2^n inputs, and the rate."""
    x = sign_inputs(n)
    y = np.prod(x[:, :k], axis=1)
    xi = fmpq(int(np.sign(x.sum(axis=1)) @ np.prod(x[:, : k - 1], axis=1)), 2**n)
    w = np.concatenate([np.full(k, u if xi > 0 else -u), irrelevant])
    active = np.array([z + bias > 0 for z in range(-n, n + 1)])[x @ w + n]
    rate = 1 / (k * abs(xi))
    weights = np.array([rate * fmpq(int(u * (y * active) @ x[:, j]), 2**n) for j in range(n)], dtype=object)
    return weights, rate * fmpq(int(u * (y * active).sum()), 2**n), rate


@check(
    CLAIM,
    grade="enclosed",
    target="printed",
    cases="(n, k) = (7, 2), (9, 4), epsilon = 99/100 and 1/10, the least delta and twice it,"
    " all k + 1 biases in (-1, 1), one vector of irrelevant signs each, errors of the largest size; all inputs",
)
@proof_steps("learned-features.md: 1, 2, 4")
@pytest.mark.parametrize(("n", "k"), SIZES)
def test_features_after_the_step(n: int, k: int) -> None:
    """P(|h - hhat| >= delta) <= epsilon/k by enumeration, weights and largest value as stated, and attained; also the
    largest value at the tau of lemma B.4, whatever delta is.

    The errors have the sign of the weights; those of the relevant inputs the sign +. At these n the probability is at
    most 2^-n; but the features are no further apart than their pre-activations, whose law is that of the exact tails.
    """
    rng = np.random.default_rng([n, k])
    x = sign_inputs(n)
    ideal = post_step_network(k, k, exact=True)
    features = ideal.features(x[:, :k])
    for i, bias in enumerate(ideal.bias):
        if not abs(bias) < 1:
            continue
        u = int(rng.choice([-1, 1]))
        weights, shift, _ = _step(n, k, u, bias, rng.choice([-1, 1], size=n - k))
        assert shift == 0
        for epsilon in EPSILONS:
            least = _below((16 * (2 * k / arb(epsilon)).log() / n).sqrt()) + fmpq(1, 2**30)
            for delta in (least, 2 * least):
                assert n >= 2 * k
                assert delta <= noise_threshold(n, k, epsilon)
                assert n >= 16 * (2 * k / arb(epsilon)).log() / arb(delta) ** 2
                ratio = _below(largest_ratio(n, k, epsilon, delta))
                learned = weights + np.where(weights > 0, 1, -1) * (ratio / k)
                assert max(abs(v) for v in learned[k:]) == irrelevant_weight(n, k, ratio)
                neuron = TwoLayerNetwork(
                    as_exact(learned)[None], as_exact([bias + ratio / k]), as_exact([1]), Ramp()
                )  # its features are those of the ReLU
                values = neuron.features(x)[:, 0]
                apart = np.abs(values - features[:, i])
                assert fmpq(int(np.sum(apart >= delta)), 2**n) <= epsilon / k
                errors = learned - np.array([*ideal.hidden[i], *[fmpq(0)] * (n - k)], dtype=object)
                before = np.abs(x @ errors + ratio / k)  # without the ReLU, whose law the largest tails are
                assert np.all(apart <= before)
                for part in (delta / 4, delta / 2, 3 * delta / 4):
                    assert fmpq(int(np.sum(before >= part)), 2**n) == _largest_tail(n, k, ratio, part)
                assert np.any(apart >= delta / 4)
                largest = max(values)
                assert largest == feature_range(n, k, ratio, bias) - abs(bias) + bias
                assert largest <= n + 1
            # (2) for every delta, by the bound of the lemma on tau
            ratio = _below(1 / (16 * k * noise_threshold(n, k, epsilon)))
            learned = weights + np.where(weights > 0, 1, -1) * (ratio / k)
            neuron = TwoLayerNetwork(as_exact(learned)[None], as_exact([bias + ratio / k]), as_exact([1]), Ramp())
            largest = max(neuron.features(x)[:, 0])
            assert largest == feature_range(n, k, ratio, bias) - abs(bias) + bias
            assert largest <= 2 + fmpq(n + 1, 16 * k**2) <= n + 1


def _upper_tails(n: int) -> list[int]:
    """At j the number of sign vectors of length n with at least j entries +1."""
    tails, term = [0] * (n + 2), 1
    for j in range(n, -1, -1):
        tails[j] = tails[j + 1] + term
        term = term * j // (n - j + 1)
    return tails


def _largest_tail(n: int, k: int, ratio: fmpq, delta: fmpq) -> fmpq:
    """P(|sum_{j<=k} x_j ratio/k + sum_{j>k} D x_j + ratio/k| >= delta), D from the gradient of the construction."""
    error = ratio / k
    weight = post_step_network(n, k, exact=True).hidden[0][-1] + error
    tails, count = _upper_tails(n - k), 0
    for plus in range(k + 1):
        for sign in (1, -1):
            rest = delta - sign * (error + (2 * plus - k) * error)  # sign * weight * sum must reach this
            first = ((rest / weight + (n - k)) / 2).ceil()  # of the entries with this sign
            count += comb(k, plus) * tails[min(max(int(first), 0), n - k + 1)]
    return fmpq(count, 2**n)


@check(
    CLAIM,
    grade="enclosed",
    target="printed",
    cases="k = 2, 4, 6; delta = 1/7, 1, 5/2, 1000; epsilon = 99/100, 1/10; the least n, the largest tau",
)
@proof_steps("learned-features.md: 2, 3")
@pytest.mark.parametrize("k", [2, 4, 6])
@pytest.mark.parametrize("epsilon", EPSILONS, ids=["0.99", "0.1"])
def test_tails_of_the_largest_deviations(k: int, epsilon: fmpq) -> None:
    """At the least n: P <= epsilon/k at delta; and at the distance of the library, which lies below delta.

    That distance is D t + ratio/k with D from the construction and t^2 = 2 n log(2k/epsilon).
    """
    with precision(128):
        _check_tails(k, epsilon)


def _check_tails(k: int, epsilon: fmpq) -> None:
    for delta in DELTAS:
        n = _least_inputs(k, epsilon, delta)
        ratio = _below(largest_ratio(n, k, epsilon, delta))
        assert ratio < delta * k / 2 / noise_threshold(n, k, epsilon)
        distance = feature_distance(n, k, ratio, noise_threshold(n, k, epsilon))
        assert distance < delta
        weight = post_step_network(n, k, exact=True).hidden[0][-1] + ratio / k
        square = ((distance - ratio / k) / weight) ** 2
        assert square.overlaps(2 * n * (2 * k / arb(epsilon)).log())
        assert arb(ratio * 2 / delta / k) ** 2 * square < 1
        assert arb(ratio * 2 / delta / k) ** 2 * square > arb("0.999999")
        assert _largest_tail(n, k, ratio, delta) <= _largest_tail(n, k, ratio, _below(distance)) <= epsilon / k


@check(CLAIM, grade="exact", target="printed", supporting=True)
def test_the_tails_are_those_of_enumeration() -> None:
    for n, k in ((5, 2), (7, 2), (9, 4)):
        x = sign_inputs(n)
        for ratio in (fmpq(1, 3), fmpq(2)):
            weight = fmpq(k - 1, 2 * k * (n - k)) + ratio / k
            sums = [int(r[:k].sum()) * ratio / k + int(r[k:].sum()) * weight + ratio / k for r in x]
            for delta in (fmpq(1, 10), fmpq(1, 2), fmpq(2), *sums[:3]):
                delta = abs(delta)
                assert _largest_tail(n, k, ratio, delta) == fmpq(sum(abs(s) >= delta for s in sums), 2**n)


@check(CLAIM, grade="exact", target="printed", supporting=True)
@proof_steps("learned-features.md: 5")
def test_fewer_than_2k_inputs_are_too_few() -> None:
    """n = 1001, k = 1000, epsilon = 0.99, delta = 0.36, tau = 0: n >= 16 log(2k/epsilon)/delta^2, but not n >= 2k.

    At the bias 1/2 the features are m/k and (m/k +- 999/2000)_+: further apart than delta wherever the irrelevant input
    is +1, with probability 1/2 at least.
    """
    n, k, epsilon, delta = 1001, 1000, fmpq(99, 100), fmpq(9, 25)
    assert n >= 16 * (2 * k / arb(epsilon)).log() / arb(delta) ** 2
    weight = irrelevant_weight(n, k, fmpq(0))
    assert weight == fmpq(999, 2000) > delta
    x = np.stack([np.repeat([1, -1, 1], [m, k - m, 1]) for m in (0, 1, 250, 500, 999, 1000)])
    rows = np.array([[fmpq(1, 2 * k)] * k + [last] for last in (weight, fmpq(0))], dtype=object)
    features = TwoLayerNetwork(rows, as_exact([fmpq(1, 2)] * 2), as_exact([1, -1]), Ramp()).features(x)
    assert list(features[:, 1]) == [fmpq(m, k) for m in (0, 1, 250, 500, 999, 1000)]
    assert np.all(features[:, 0] - features[:, 1] == weight)


@check(CLAIM, grade="symbolic", target="printed", supporting=True)
@proof_steps("learned-features.md: 3, 4")
def test_the_distance_for_all_parameters() -> None:
    """n >= 2k, n >= 16 L/delta^2, ratio <= delta k/(2t): distance/delta < 1/2 + 1/(2 sqrt(10 log 4)) + 1/sqrt(8) < 1.

    At the largest ratio the distance is delta/2 + delta/(2t) + (k-1) t/(2k(n-k)), and t/delta <= n/sqrt(8).
    """
    n, k, delta, t, L = sp.symbols("n k delta t L", positive=True)
    ratio = delta * k / (2 * t)
    weight = (k - 1) / (2 * k * (n - k)) + ratio / k
    assert sp.simplify(weight * t + ratio / k - (delta / 2 + delta / (2 * t) + (k - 1) * t / (2 * k * (n - k)))) == 0
    assert sp.simplify(sp.sqrt(2 * n * L).subs(L, n * delta**2 / 16) - delta * n / sp.sqrt(8)) == 0
    assert sp.simplify(2 * (n - k) - n - (n - 2 * k)) == 0  # n/(n-k) <= 2
    assert fmpq(1, 2) + 1 / (2 * (10 * arb(4).log()).sqrt()) + 1 / arb(8).sqrt() < 1
    # the largest value at ratio/k = 1/2 and |b| = 1 is (n + 1)/2 + 2 - 1/(2k), at most n + 1 for n >= 3
    half = sp.Rational(1, 2)
    largest = half + k * half + (n - k) * ((k - 1) / (2 * k * (n - k)) + half) + 1 + half
    assert sp.simplify(largest - ((n + 1) / 2 + 2 - 1 / (2 * k))) == 0


@check(CLAIM, grade="exact", target="printed", supporting=True)
@proof_steps("learned-features.md: 4")
def test_beyond_the_tau_of_the_lemma_features_exceed_n_plus_one_at_every_size() -> None:
    """delta = 3t allows q/k = 3/2: at n where Lemma B.4 itself has them, too. So (2) needs the lemma's bound on tau."""
    for n, k, epsilon in ((5, 2, fmpq(1, 2)), (160 * 4**4 * 5 + 1, 4, fmpq(1, 10)), (10**9 + 1, 8, fmpq(1, 10**6))):
        t = noise_threshold(n, k, epsilon)
        assert abs(largest_ratio(n, k, epsilon, 3 * t) - fmpq(3 * k, 2)) < arb("1e-9")
        assert feature_range(n, k, fmpq(3 * k, 2) - fmpq(1, 10**9), 0) > n + 1


@check(CLAIM, grade="exact", target="printed", supporting=True)
@proof_steps("learned-features.md: 4")
def test_beyond_the_tau_of_the_lemma_a_feature_exceeds_n_plus_one() -> None:
    """n = 33, k = 4, epsilon = 1/2, delta = 40: a tau that the claim alone allows and the lemma does not, and a feature
    of 48.475, above n + 1 = 34.

    n >= 2k^2, and n is above 32 c_2^2 log(2k/epsilon)/(c_1 delta)^2 unless c_2/c_1 > 24.
    """
    n, k, epsilon, delta, ratio = 33, 4, fmpq(1, 2), fmpq(40), fmpq(28, 5)
    log = (2 * k / arb(epsilon)).log()
    assert arb(ratio) <= arb(delta) / 2 * k / (2 * n * log).sqrt()
    assert arb(ratio) > 1 / (16 * k * (2 * n * log).sqrt())  # the lemma's bound
    assert n > 32 * 24**2 * log / arb(delta) ** 2
    built = post_step_network(n, k, exact=True)
    assert built.bias[1] == 0
    hidden = built.hidden[1] + ratio / k
    neuron = TwoLayerNetwork(hidden[None], as_exact([ratio / k]), as_exact([1]), Ramp())
    value = neuron.features(np.ones((1, n), dtype=np.int64))[0, 0]
    assert value == feature_range(n, k, ratio, 0) == fmpq(1, 2) + fmpq(3, 8) + 34 * ratio / 4
    assert value > n + 1
