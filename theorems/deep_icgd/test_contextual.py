"""Softmax attention as a contextual mapping: lemma 17, with the condition on token sets as well.

The attention of the library runs in balls on families of sequences, and definition 13 is tested on its outputs pair by
pair, by loops; the weights and the bound are computed again from their definitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.descent.contextual import ContextualMapping, contextual_attention, separating_direction
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.theorems.evidence import check, proof_steps

Token = tuple[fmpq, ...]


@dataclass(frozen=True)
class Family:
    """Sequences of n different tokens, with r_min < |z| < r_max and |z - z'| > epsilon for different tokens."""

    sequences: list[list[Token]]
    r_min: fmpq
    r_max: fmpq
    epsilon: fmpq

    @property
    def tokens(self) -> list[Token]:
        return sorted({z for Z in self.sequences for z in Z})

    def mapping(self) -> ContextualMapping:
        return contextual_attention([np.array(Z, dtype=object) for Z in self.sequences], self.epsilon)


def dot(a: Token, b: Token) -> fmpq:
    return sum((s * t for s, t in zip(a, b, strict=True)), fmpq(0))


def below_root(square: fmpq) -> fmpq:
    """A rational a little below the root of a positive rational, off by a factor of about 1 - 2^-40."""
    scale = fmpq(4) ** 80
    return fmpq(int((square * scale).floor().isqrt()), 2**80) * (1 - fmpq(1, 2**40))


def family(tokens: list[Token], sets: list[tuple[int, ...]]) -> Family:
    """The sequences with these tokens, with bounds that are sharp up to 2^-40."""
    squares = [dot(z, z) for z in tokens]
    gaps = [dot(c, c) for c in (tuple(s - t for s, t in zip(a, b, strict=True)) for a, b in combinations(tokens, 2))]
    r_max = 1 / below_root(1 / max(squares))
    return Family(
        [[tokens[i] for i in one] for one in sets],
        below_root(min(squares)),
        r_max,
        below_root(min(gaps)) if gaps else r_max,
    )


def random_family(seed: int, most: int) -> Family:
    """d, n, v and the tokens at random, all sets of n tokens in random order."""
    rng = np.random.default_rng([17, seed])
    d, v = int(rng.integers(1, 4)), int(rng.integers(3, most + 1))
    n = int(rng.integers(1, v))
    scale = 2 ** int(rng.integers(0, 8))
    drawn: set[Token] = set()
    while len(drawn) < v:
        z = tuple(fmpq(int(k), scale) for k in rng.integers(-6, 7, d))
        drawn |= {z} if any(z) else set()
    tokens = sorted(drawn)
    return family(tokens, [tuple(int(i) for i in rng.permutation(one)) for one in combinations(range(v), n)])


def on_a_line(places: list[Any], n: int) -> Family:
    tokens = [(fmpq(place),) for place in places]
    return family(tokens, list(combinations(range(len(tokens)), n)))


EXTREME = {
    "last of five tokens": on_a_line([1, 2, 3, 4, 5, 6], 5),
    "both signs": on_a_line([-2, -1, 1, 2], 3),
    "near tokens": on_a_line([fmpq(7, 8), 1, fmpq(9, 8)], 2),
    "a token near 0": on_a_line([fmpq(1, 16), 1, 2], 2),
    "single tokens": on_a_line([-1, 1, 2], 1),
    "one set": on_a_line([1, 2, 3], 3),
    "a square": family([(fmpq(a), fmpq(b)) for a, b in product((-1, 1), repeat=2)], list(combinations(range(4), 2))),
}


def log_printed(one: Family) -> arb:
    """The logarithm of the delta of the lemma, n > 1."""
    n, d, v = len(one.sequences[0]), len(one.tokens[0]), len(one.tokens)
    L, r, R, e = arb(n).log(), arb(one.r_min), arb(one.r_max), arb(one.epsilon)
    many = (v + 1) ** 4 * (2 * L + 3) * arb.pi() * d
    return (2 * L**2 * e**2 * r / (R**2 * many)).log() - many * R**2 / (4 * e * r)


def norm(z: Any) -> arb:
    return sum((t * t for t in z), arb(0)).sqrt()


def assert_contextual(one: Family) -> int:
    """Definition 13 for both conditions with our delta, which exceeds the printed one; how many pairs share a token."""
    mapping = one.mapping()
    (head,) = mapping.layer.heads
    u, c, tokens = tuple(mapping.direction.tolist()), mapping.sharpness, one.tokens
    places = [dot(u, z) for z in tokens]
    gap = min((abs(s - t) for s, t in combinations(places, 2)), default=fmpq(1))
    least, A, S = min(map(abs, places)), max(map(abs, places)), max(places) - min(places)
    # one head of softmax attention, all matrices of rank 1, with the scores and values of the statement
    assert head.weigh == "softmax"
    assert not head.causal
    assert head.query.weight.shape == head.key.weight.shape == head.value.weight.shape == (len(u), 1)
    assert [t[0] for t in head.key.weight.tolist()] == list(u) == [t[0] for t in head.value.weight.tolist()]
    assert [t[0] for t in head.query.weight.tolist()] == [3 / (gap * least) * t for t in u]
    assert head.output is not None
    moves = head.output.weight.ravel().tolist()
    assert dot(tuple(moves), tuple(moves)) == (one.epsilon / (4 * A)) ** 2
    bits = 128 + 3 * int((c * A * S).ceil())
    with precision(bits):
        delta = mapping.separation
        T = 3 * A / (gap * least)
        expected = arb(2 * one.epsilon / (4 * A * T)) * arb(-T * S).exp()
        assert abs(delta / expected - 1) < 1e-30
        if len(one.sequences[0]) > 1:
            assert delta.log() > log_printed(one)
        images = [mapping.layer.map(as_balls)(as_balls(np.array(Z, dtype=object))).tolist() for Z in one.sequences]
        assert all(norm(z) < arb(one.r_max + one.epsilon / 4) for image in images for z in image)
        shared = 0
        for (Z, image), (Y, other) in product(zip(one.sequences, images, strict=True), repeat=2):
            for (z, a), (y, b) in product(zip(Z, image, strict=True), zip(Y, other, strict=True)):
                if z != y or set(Z) != set(Y):
                    assert norm([s - t for s, t in zip(a, b, strict=True)]) > delta
                    shared += z == y
    return shared


@check(
    "deep-icgd:lemma-17",
    grade="enclosed",
    target="printed",
    cases="seven families: 3 to 6 tokens in one dimension, 4 in two, all sets of n = 1, 2, 3, 5",
)
@proof_steps("contextual.md: 2, 6, 7")
@pytest.mark.parametrize("name", EXTREME)
def test_attention_is_a_contextual_mapping_on_extreme_families(name: str) -> None:
    """Sets that differ in the token of least weight alone, tokens near to each other and to 0, n = 1, a single set."""
    shared = assert_contextual(EXTREME[name])
    assert (shared > 0) == (name not in ("single tokens", "one set"))


@check(
    "deep-icgd:lemma-17",
    grade="sampled",
    target="printed",
    cases="24 random families (full: 120) of 3, 4 (full: 5) tokens in 1 to 3 dimensions, all sets of n; seeds 0, ...",
)
@proof_steps("contextual.md: 2, 6, 7")
def test_attention_is_a_contextual_mapping_on_random_families(effort: Any) -> None:
    """Random tokens; the sets that share a token are told apart too, which the printed condition does not ask."""
    most = effort.pick(quick=4, full=5)
    shared = [assert_contextual(random_family(seed, most)) for seed in range(effort.pick(quick=24, full=120))]
    assert sum(number > 0 for number in shared) >= 8


@check("deep-icgd:lemma-17", grade="enclosed", target="printed", supporting=True)
@proof_steps("contextual.md: 4, 5")
def test_proof_constants_of_the_mean() -> None:
    """Steps 4 and 5: with q = exp(-3), p = q/(1-q)^2, both 3 ((1-p)(1-q-q/(1-q)) - p) and 3 (1-p) exceed 2.

    The factors decrease with q, so that larger gaps only help; for q = 1/10 the first falls below 2.
    """
    q = arb(-3).exp()
    p = q / (1 - q) ** 2
    assert 3 * ((1 - p) * (1 - q - q / (1 - q)) - p) > 2.37
    assert 3 * (1 - p) > 2.83
    larger = arb(1) / 10
    p = larger / (1 - larger) ** 2
    assert 3 * ((1 - p) * (1 - larger - larger / (1 - larger)) - p) < 2


@check(
    "deep-icgd:lemma-17",
    grade="exact",
    target="printed",
    cases="v = 4, 6, 8, 10, 12 tokens in 2 and 3 dimensions, 12 seeds each",
)
@proof_steps("contextual.md: 1")
@pytest.mark.parametrize("d", [2, 3])
def test_direction_separates_as_the_proof_needs(d: int) -> None:
    """|<u, x>| >= kappa |u| |x| for all tokens and differences, kappa = 2/((v+1)^2 sqrt d), over Q; not by accident.

    The first draws do not all have the property: a direction that is not examined fails for some of the seeds.
    """
    for v in (4, 6, 8, 10, 12):
        tokens = [(fmpq(k + 1), *(fmpq(k * k * i % 7) for i in range(1, d))) for k in range(v)]
        vectors = tokens + [tuple(s - t for s, t in zip(a, b, strict=True)) for a, b in combinations(tokens, 2)]
        for seed in range(12):
            u = tuple(separating_direction(np.array(tokens, dtype=object), seed).tolist())
            assert any(u)
            assert all(dot(u, x) ** 2 * (v + 1) ** 4 * d >= 4 * dot(u, u) * dot(x, x) for x in vectors)


def mean(places: list[arb]) -> arb:
    weights = [place.exp() for place in places]
    return sum((w * t for w, t in zip(weights, places, strict=True)), arb(0)) / sum(weights, arb(0))


@check("deep-icgd:lemma-17", grade="enclosed", target="printed", supporting=True)
@proof_steps("contextual.md: 3, 5")
def test_means_of_sets_at_the_least_gaps() -> None:
    """Step 3: all pairs of sets of n among 6 places with gaps 3, or 3 and 4 mixed; the bound is met within 20 %."""
    smallest = arb(10)
    for gaps in ([3, 3, 3, 3, 3], [3, 4, 3, 3, 4]):
        places = [sum(gaps[:i]) for i in range(6)]
        with precision(256):
            for n in range(1, 6):
                sets = [sorted(one, reverse=True) for one in combinations(places, n)]
                means = [mean([arb(t) for t in one]) for one in sets]
                for (a, x), (b, y) in combinations(zip(sets, means, strict=True), 2):
                    j = next(i for i in range(n) if a[i] != b[i])
                    assert abs(x - y) > 2 * arb(-(a[0] - max(a[j], b[j]) if j else 0)).exp()
                    scaled = abs(x - y) * arb(a[0] - max(a[j], b[j]) if j else 0).exp()
                    smallest = min(smallest, scaled, key=lambda t: float(t))
    assert smallest < 2.6


@check("deep-icgd:lemma-17", grade="numeric", target="printed", supporting=True)
@proof_steps("contextual.md: 1")
@pytest.mark.parametrize("d", [2, 3, 4, 8, 50])
def test_share_of_directions_that_are_nearly_orthogonal(d: int) -> None:
    """Step 1: P(|<u, e>| < s) <= s sqrt d for u uniform on the sphere, by integration; d = 1 is trivial."""
    total = integral(d, 1.0)
    for s in (0.01, 0.1, 0.3, 0.6, 0.9, 0.99):
        assert integral(d, s) / total <= s * np.sqrt(d)


def integral(d: int, s: float) -> float:
    """The integral of (1 - x^2)^((d-3)/2) on [0, s], with x = sin a: of cos(a)^(d-2) on [0, arcsin s], midpoints."""
    width = np.arcsin(s) / 20000
    return float((np.cos(width * (np.arange(20000) + 0.5)) ** (d - 2)).sum() * width)
