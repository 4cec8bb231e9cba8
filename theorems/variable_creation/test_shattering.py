"""Classes that shatter many points with few parameters: sinusoids (section 4.4.2) and unbounded heads (4.8, A.1.3).

The general statements are proved in proofs/shattering.md.
"""

from __future__ import annotations

from itertools import product
from math import floor, log2

from flint import arb, fmpq

from lemmata.certificates.capacity.shattering import (
    CircleFamily,
    certify_sinusoids,
    sinusoid_parameter,
    sinusoid_points,
)
from lemmata.numerics.exact.precision import precision
from lemmata.theorems.evidence import check, proof_steps

SELF_WEIGHT = 1 / (1 + (arb.pi() / 8).sqrt())


@check(
    "variable-creation:remark-4.4.2a",
    grade="enclosed",
    target="printed",
    cases="all labellings of n = 1, ..., 8 points (10 at full effort), the sines as balls",
)
@proof_steps("shattering.md: 1")
def test_sinusoids_shatter_any_number_of_points(effort):
    with precision(128):
        for n in range(1, effort.pick(quick=9, full=11)):
            points = sinusoid_points(n).tolist()
            assert len(set(points)) == n
            for labels in product((1, -1), repeat=n):
                alpha = sinusoid_parameter(labels) * arb.pi()
                assert all(bool(y * (alpha * x).sin() > 0) for x, y in zip(points, labels, strict=True))
            assert certify_sinusoids(n) == 2**n


def weights_by_definition(T: int, s: int) -> list[arb]:
    """softmax(X w_QK) for the printed tokens and keys, without a shift."""
    angles = [2 * arb.pi() * t / T for t in range(T)]
    key = (T**2 * angles[s].cos(), T**2 * angles[s].sin())
    terms = [(key[0] * a.cos() + key[1] * a.sin()).exp() for a in angles]
    return [term / sum(terms, start=arb(0)) for term in terms]


def bits(T: int, t: int) -> list[int]:
    """The last floor(log2 T) bits of t, the most significant one first."""
    return [int(b) for b in format(t % 2 ** floor(log2(T)), "b").zfill(floor(log2(T)))]


@check(
    "variable-creation:proposition-4.8",
    grade="enclosed",
    target="printed",
    cases="T = 2, ..., 9 (16 at full effort): all heads s and sequences i by the forward pass of the attention layer",
)
@proof_steps("shattering.md: 5")
def test_unbounded_heads_shatter_by_their_forward_pass(effort):
    with precision(256):
        for T in range(2, effort.pick(quick=10, full=17)):
            family = CircleFamily(T)
            n = floor(log2(T))
            assert family.points == n
            margin = family.certify()
            assert margin >= SELF_WEIGHT - fmpq(1, 2)
            sequences = [family.sequence(i) for i in range(1, n + 1)]
            assert all(tuple(X[0]) == (1, 0, 0) for X in sequences)
            patterns = set()
            for s in range(T):
                head, weights = family.head(s), weights_by_definition(T, s)
                outputs = [head(X[:1], memory=X)[0, 0] for X in sequences]
                expected = [sum((w for t, w in enumerate(weights) if bits(T, t)[i]), start=arb(0)) for i in range(n)]
                assert all(abs(a - b) < arb("1e-30") for a, b in zip(outputs, expected, strict=True))
                signs = [1 if bit else -1 for bit in bits(T, s)]
                kept = [y * (f - fmpq(1, 2)) for y, f in zip(signs, outputs, strict=True)]
                assert all(bool(x >= SELF_WEIGHT - fmpq(1, 2)) and bool(x + arb("1e-30") > margin) for x in kept)
                patterns.add(tuple(signs))
            assert all(abs(head(X)[0, 0] - a) < arb("1e-30") for X, a in zip(sequences, outputs, strict=True))
            assert len(patterns) == 2**n


@check(
    "variable-creation:proposition-4.8",
    grade="enclosed",
    target="printed",
    cases="T = 17, 31, 32, 33, 63, 64: all heads s and sequences i; the self-weight for T = 2, ..., 64, 2^7, ..., 2^10",
)
@proof_steps("shattering.md: 3, 5")
def test_unbounded_heads_shatter_for_longer_sequences():
    for T in (17, 31, 32, 33, 63, 64):
        family = CircleFamily(T)
        for i, s in product(range(1, family.points + 1), range(T)):
            assert bool(family.output(s, i) > fmpq(1, 2)) == bool(bits(T, s)[i - 1])
            assert abs(family.output(s, i) - fmpq(1, 2)) >= SELF_WEIGHT - fmpq(1, 2)
    for T in [*range(2, 65), 128, 256, 512, 1024]:
        weights = CircleFamily(T).weights
        assert len(weights) == T
        assert weights[0] >= SELF_WEIGHT
        # T^2 (1 - cos(2 pi/T)) = 2 pi^2 - (2 pi)^4/(24 T^2) + ..., and 2 exp(-2 pi^2) (2 pi)^4/24 = 3.5e-7
        assert T < 16 or abs(weights[0] - 1 / limit_of_the_denominator()) < arb("1e-6") / T**2


def limit_of_the_denominator() -> arb:
    """The sum over all integers j of exp(-2 pi^2 j^2), to 1e-30: the limit of the denominators times exp(-T^2)."""
    return 1 + 2 * sum(((-2 * arb.pi() ** 2 * j * j).exp() for j in range(1, 4)), start=arb(0))


@check(
    "variable-creation:proposition-4.8",
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="T = 2, ..., 20: the denominator exceeds the printed bound for even T, by exp(-T^2)",
)
@proof_steps("shattering.md: 4")
def test_the_printed_proof_forgets_the_opposite_token():
    with precision(2000):
        for T in range(2, 21):
            terms = [(T**2 * (2 * arb.pi() * t / T).cos()).exp() for t in range(T)]
            printed = terms[0] + 2 * sum(terms[1 : (T - 1) // 2 + 1], start=arb(0))
            excess = sum(terms, start=arb(0)) - printed
            assert abs(excess - (arb(-(T**2)).exp() if T % 2 == 0 else 0)) < arb("1e-200")
            assert bool(excess > arb("1e-190")) == (T % 2 == 0)
