"""Sparse functions are learnt from few strings: one head and a ReLU perceptron with a residual connection.

Neither statement is in the document; they make proposition 4.12 and the capacity bounds one theorem with numbers.
Proofs: proofs/sparse_learning.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.sparse.circle import circle_nodes, circle_positions, compile_on_circle
from lemmata.constructions.sparse.functions import SparseFunction, sparse_function
from lemmata.numerics.exact.balls import ball_max, ball_min
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.perceptron_capacity import perceptron_norm, perceptron_rademacher
from lemmata.numerics.learning.sparse_sample_sizes import (
    BITS,
    ball_log_cover,
    circle_scores,
    lipschitz_cover,
    norm_sample_size,
    occam_sample_size,
    sparse_sample_size,
)
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.variable_creation.instances import strings

MARGIN = fmpq(15, 16)
EPS = fmpq(1, 10**20)


def value_at(values: list[int], word: list[int], symmetric: bool) -> int:
    """The table at the word, by counting."""
    return values[sum(word)] if symmetric else values[int("".join(map(str, word)), 2)]


def token_scores(network: Transformer) -> list[arb]:
    """The scores of the class token for itself, and for each position with the symbols 0 and 1."""
    (head,) = network.layers[0].heads
    asks = network.prefix[0]
    q = [sum((a * b for a, b in zip(asks, column, strict=True)), arb(0)) for column in head.query.weight.T]
    tokens = [network.prefix[0], *(p + e for p in network.positions for e in network.embedding)]
    keys = head.key.weight
    return [
        sum(
            (q[k] * sum((x * w for x, w in zip(token, keys[:, k], strict=True)), arb(0)) for k in range(len(q))), arb(0)
        )
        for token in tokens
    ]


def steepest(network: Transformer) -> arb:
    """The largest slope of the perceptron with its readout, from its outputs at the kinks and at -1 and 1."""
    n = sum(layer.layers[0].outputs for layer in network.layers[1:]) + 2
    z = np.array([[arb(fmpq(2 * i - n + 1, n - 1)), arb(0)] for i in range(n)], dtype=object)
    for layer in network.layers[1:]:
        z = layer(z)
    heights = network.readout(z)[:, 0].tolist()
    return ball_max(abs(b - a) * (n - 1) / 2 for a, b in pairwise(heights))


CASES: list[Any] = [
    *((4, I, values) for I in permutations(range(4), 1) for values in product([1, -1], repeat=2)),
    *((5, I, values) for I in permutations(range(5), 2) for values in product([1, -1], repeat=4)),
    *((6, I, values) for I in ((0, 1, 2), (5, 2, 3)) for values in product([1, -1], repeat=4)),
    *((6, (4, 0, 2), [1 - 2 * (code >> i & 1) for i in range(8)]) for code in range(5, 256, 23)),
]  # fmt: skip


@check(
    "variable-creation:ext-learning",
    grade="enclosed",
    target="printed",
    cases="all functions of 1 and 2 bits at all positions in all orders, T = 4 and 5; T = 6, s = 3, all functions of "
    "the number of ones and 11 others; all strings, in balls",
)
@proof_steps("sparse_learning.md: 9, 10, 11")
def test_one_head_has_a_margin_for_every_function_and_belongs_to_the_class():
    for T, read, values in CASES:
        network = compile_on_circle(sparse_function(T, read, list(values)))
        s, symmetric = len(read), len(values) == len(read) + 1
        found = circle_scores(s, T, symmetric=symmetric)
        x = strings(T)
        signs = [value_at(list(values), row, symmetric) for row in x[:, list(read)].tolist()]
        margins = [y * f for y, f in zip(signs, network(x)[:, 0].tolist(), strict=True)]
        assert all(margin >= MARGIN for margin in margins)
        with precision(BITS):
            assert steepest(network) <= found.slope + EPS
            scores = token_scores(network)
            assert all(abs(a - b) <= 2 * found.half_range * (1 + EPS) for a in scores for b in scores)
            rows = network.prefix @ network.layers[0].heads[0].value.weight
            assert rows[0, 0] == 0


@check(
    "variable-creation:ext-learning",
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="T = 100, s = 1, 2, 3, 4, the closest positions around another, the farthest, 6 random sets; all tokens",
)
@proof_steps("sparse_learning.md: 9")
@pytest.mark.parametrize("symmetric", [True, False])
def test_scores_on_a_circle(symmetric, record_property):
    """i log 2 at the positions that are read, at most -S elsewhere; the product is least in the middle of near ones."""
    rng = np.random.default_rng(0)
    for s in (1, 2, 3, 4):
        near = [50 + (1 if k % 2 else -1) * (k // 2 + 1) for k in range(s)]
        sets = [near, [25 * k for k in range(s)], *(rng.permutation(100)[:s].tolist() for _ in range(6))]
        found = circle_scores(s, 100, symmetric=symmetric)
        for read in sets:
            values = [(-1) ** k for k in range(s + 1 if symmetric else 2**s)]
            if not symmetric and s == 1:
                continue
            with precision(BITS):
                scores = token_scores(compile_on_circle(sparse_function(100, read, values)))
                tops = {t: arb(0) if symmetric else (s - 1 - i) * arb(2).log() for i, t in enumerate(read)}
                shift = scores[1 + 2 * read[-1]]  # the same for all scores
                scores = [q - shift for q in scores]
                assert abs(scores[0] + found.gap) < EPS
                for t in range(100):
                    both = scores[1 + 2 * t : 3 + 2 * t]
                    assert all(abs(q - tops[t]) < EPS if t in tops else q <= -found.gap + EPS for q in both)
                assert all(
                    -2 * found.half_range <= q - (0 if symmetric else (s - 1) * arb(2).log()) + EPS for q in scores
                )
                if symmetric and read is near:
                    assert abs(scores[101] + found.gap) < EPS


@check(
    "variable-creation:ext-learning",
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="grids in 1, 2, 3, 8 dimensions with 2, 3, 10 intervals",
)
@proof_steps("sparse_learning.md: 5")
def test_grids_fill_a_cube():
    """(k + 1)^D points of a cube of radius 1 are 2/k apart: at slightly smaller radii the bound is hardly more."""
    for D, k in product((1, 2, 3, 8), (2, 3, 10)):
        points = (k + 1) ** D
        with precision(BITS):
            bound = ball_log_cover(D, arb(k) / 2 * (1 + EPS)).exp()
            assert points <= bound <= points * (1 + arb(10) ** -12)


@check(
    "variable-creation:ext-learning",
    grade="exact",
    target="printed",
    supporting=True,
    cases="slopes 1 and 3/2, radii 3/8, 1/2, 5/8; 300 functions with random kinks and the steepest, all zigzags",
)
@proof_steps("sparse_learning.md: 6")
@pytest.mark.parametrize("slope", [Fraction(1), Fraction(3, 2)])
@pytest.mark.parametrize("radius", [Fraction(3, 8), Fraction(1, 2), Fraction(5, 8)])
def test_every_lipschitz_function_is_near_a_zigzag(slope, radius):
    """All zigzags are listed; functions and zigzags are compared at common multiples of their kinks, in integers."""
    steps, starts = lipschitz_cover(
        fmpq(slope.numerator, slope.denominator), fmpq(radius.numerator, radius.denominator)
    )
    assert steps * radius >= 2 * slope > (steps - 1) * radius
    fine, unit = 12, radius / 12  # 12 pieces on every interval of length r/Lambda, in which values change by r/12
    signs = np.array(list(product([-1, 1], repeat=steps)))
    paths = np.concatenate([np.zeros((len(signs), 1), int), np.repeat(signs, fine, axis=1).cumsum(axis=1)], axis=1)
    first = [-1 / unit + (2 * j + 1) * fine for j in range(starts)]
    scale = math.lcm(*(x.denominator for x in first))
    zigzags = np.concatenate([int(x * scale) + paths * scale for x in first])
    length = int(2 * slope / unit)  # pieces up to 1, and perhaps a part of one more
    top = int(scale / unit)
    rng = np.random.default_rng(int(10 * slope))
    for trial in range(300):
        turns = (
            rng.choice([-1, 0, 1], length)
            if trial % 3
            else np.repeat(rng.choice([-1, 1], length), 1 + trial % 7)[:length]
        )
        start = rng.choice([-top, top, 0, int(rng.integers(-top, top + 1))])
        f = [int(start)]
        for turn in turns.tolist():
            f.append(min(top, max(-top, f[-1] + turn * scale)))
        gaps = abs(zigzags[:, : length + 1] - np.array(f)).max(axis=1)
        assert gaps.min() <= fine * scale


@check(
    "variable-creation:ext-learning",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="T = 6, s = 2, a reader on a circle, its scores and values changed in 200 random directions, seed 0",
)
@proof_steps("sparse_learning.md: 7")
def test_readers_move_by_no_more_than_the_radii(record_property):
    """Changes of half range x/Lambda, of size y/Lambda and of size z move outputs by at most x + y + z: up to a third.

    A sum of floats of this size is off by less than 1e-12, which is allowed for.
    """
    function = sparse_function(6, (1, 4), [1, -1, 1, -1])
    slope, x, y, z = circle_scores(2, 6).slope, 0.1, 0.1, 0.1
    tokens = np.array(to_float(circle_positions(6, 2)), dtype=float)
    network = compile_on_circle(function)
    q = np.array([float(one.mid()) for one in token_scores(network)])
    rng, largest = np.random.default_rng(0), 0.0
    nodes, heights = [float(fmpq_to(node)) for node in circle_nodes(function)], [1.0, -1.0, 1.0, -1.0]
    for trial in range(200):
        dq = np.concatenate(
            [[rng.normal()], np.repeat(tokens @ rng.normal(size=4), 2) + np.tile(rng.normal(size=2), 6)]
        )
        dv = np.concatenate(
            [[rng.normal()], np.repeat(tokens @ rng.normal(size=4), 2) + np.tile(rng.normal(size=2), 6)]
        )
        dq *= 2 * x / slope / np.ptp(dq)
        v = np.array([0.0, *[-1.0, 1.0] * 6]) * (1 - y / slope)
        dv *= y / slope / abs(dv).max()
        for word in strings(6)[::5]:
            seen = [0, *(1 + 2 * np.arange(6) + word)]
            outputs = []
            for scores, values, shift in ((q, v, 0.0), (q + dq, v + dv, z * (-1) ** trial)):
                p = np.exp(scores[seen] - scores[seen].max())
                outputs.append(np.interp(p / p.sum() @ values[seen], nodes, heights) + shift)
            largest = max(largest, abs(outputs[0] - outputs[1]))
    record_property("largest", largest)
    assert (x + y + z) / 3 < largest <= x + y + z + 1e-12


def fmpq_to(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))


@check(
    "variable-creation:ext-learning",
    grade="exact",
    target="printed",
    cases="N = 2, 10, 50 functions with disjoint errors of mass 1/60 or 1/100, delta = 1/5, 1/100; by inclusion and "
    "exclusion, in fractions",
)
@proof_steps("sparse_learning.md: 8")
def test_consistent_functions_with_errors_are_rare():
    """m is the least number with N (1 - e)^m <= delta, and hardly more than is needed where errors exclude another."""
    for N, parts, odds in product((2, 10, 50), (60, 100), (5, 100)):
        e, delta = Fraction(1, parts), Fraction(1, odds)
        m = occam_sample_size(arb(N).log(), fmpq(1, parts), fmpq(1, odds))
        assert N * (1 - e) ** m <= delta < N * (1 - e) ** (m - 1)

        def failing(sample: int, N: int = N, e: Fraction = e) -> Fraction:
            """The probability that one of N functions is right on the sample, each with an own set of errors."""
            return -sum(
                (Fraction(math.comb(N, k) * (-1) ** k) * (1 - k * e) ** sample for k in range(1, N + 1)), Fraction(0)
            )

        assert failing(m) <= delta
        assert failing(m * 9 // 10) > delta


@check(
    "variable-creation:ext-learning",
    grade="enclosed",
    target="printed",
    cases="s = 1, ..., 5, T = 10, 100, 10^4, 10^6 (T > s), functions of ones and all; e = 1/100, delta = 1/5",
)
@proof_steps("sparse_learning.md: 12")
def test_strings_that_are_enough(record_property):
    """The division of the radius is at least as good as the written one, and the order in T and s is as claimed."""
    sizes = {}
    for s, T, symmetric in product(range(1, 6), (10, 100, 10**4, 10**6), (True, False)):
        found = sparse_sample_size(s, T, error=fmpq(1, 100), delta=fmpq(1, 5), symmetric=symmetric)
        sizes[s, T, symmetric] = found.samples
        slope = s if symmetric else 2**s - 1
        with precision(BITS):
            R = arb(T * T) ** s / 4**s * (arb(32 * T).log() + s * s)
            assert found.readers.half_range <= R
            written = (2 * s + 2) * (1 + 16 * found.readers.half_range * slope).log()
            written += (2 * s + 3) * arb(1 + 16 * slope).log() + 16 * slope * arb(2).log() + arb(8).log()
            assert found.log_cover <= written
            assert found.samples <= (written + arb(5).log()) * 100
            assert found.log_cover >= (2 * s + 2) * found.readers.half_range.log()
        assert found.margin == MARGIN
    for s, symmetric in product(range(1, 6), (True, False)):
        per_log = [
            (sizes[s, 10**6, symmetric] - sizes[s, 10**4, symmetric]) / math.log(100),
            (sizes[s, 10**4, symmetric] - sizes[s, 100, symmetric]) / math.log(100),
        ]
        assert all(abs(one - 100 * (2 * s + 2) * 2 * s) < 5 * (2 * s + 2) * 2 * s for one in per_log)
    record_property("samples", {f"s={s} T={T} {'ones' if one else 'all'}": m for (s, T, one), m in sizes.items()})
    assert sizes[3, 100, True] == 25_359
    assert sizes[3, 100, False] == 29_359
    finite = occam_sample_size(arb(math.comb(100, 3) * 2**8).log(), fmpq(1, 100), fmpq(1, 5))
    assert finite == 1_906


@check(
    "variable-creation:ext-learning",
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="s = 3, T = 100, e = 1/100, delta = 1/5, by norms; norms of the perceptron of every function of 1 and 2 bits "
    "and of 20 of 3 bits",
)
@proof_steps("sparse_learning.md: 13")
def test_chaining_of_norms_needs_many_more():
    assert norm_sample_size(3, 100, error=fmpq(1, 100), delta=fmpq(1, 5), symmetric=True) == 2**61
    assert norm_sample_size(3, 100, error=fmpq(1, 100), delta=fmpq(1, 5)) == 2**67
    rng = np.random.default_rng(0)
    tables = [*product([1, -1], repeat=2), *product([1, -1], repeat=4), *rng.choice([1, -1], (20, 8)).tolist()]
    for values in tables:
        n = len(values)
        function = SparseFunction(9, tuple(range(n.bit_length() - 1)), 2, np.array([fmpq(v) for v in values]), False)
        network = compile_on_circle(function)
        with precision(BITS):
            alpha, beta = network.readout.weight[0, 0], network.readout.offset[0]
            linear, path = [-alpha, alpha, beta], arb(0)
            for layer in network.layers[1:]:
                first, last = layer.layers
                for kink, turn in zip(first.offset.tolist(), last.weight[:, 1].tolist(), strict=True):
                    linear = [x + turn * g / 2 for x, g in zip(linear, (-1, 1, kink), strict=True)]
                    path += abs(turn) * (2 + kink * kink).sqrt()
            left = arb(3).sqrt() * (n - 1) * (2 * n - 2) - path
            assert left > 0
            assert sum((x * x for x in linear), start=arb(0)) <= left * left


# ---- a perceptron behind heads


def averages(X: np.ndarray, M: np.ndarray) -> np.ndarray:
    """X^T softmax(X M^T x_0) of each context, shape (m, d)."""
    scores = np.einsum("mtd,ed,me->mt", X, M, X[:, 0])
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.einsum("mt,mtd->md", p / p.sum(axis=1, keepdims=True), X)


@check(
    "variable-creation:ext-perceptron",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="60 random networks with 1 to 3 heads, 0 to 5 units, 6 contexts of 4 tokens, 3 dimensions, seeds 0, ..., 59",
)
@proof_steps("sparse_learning.md: 1, 4")
@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_a_perceptron_is_a_linear_reader_and_sizes_of_linear_readers(seed):
    """The stream, its hidden units and its readout, one after another, against the two sums of step 1.

    The norm of paths is that of the two sums, and does not change if units, or the stream, are scaled. Floats of this
    size are off by less than 1e-9.
    """
    for one in range(seed, seed + 20):
        rng = np.random.default_rng(one)
        H, h, d = 1 + one % 3, one % 6, 3
        X, V = rng.normal(size=(6, 4, d)), rng.normal(size=(H, d, d))
        z = [averages(X, rng.normal(size=(d, d))) for _ in range(H)]
        A, C, w = rng.normal(size=(d, h)), rng.normal(size=(h, d)), rng.normal(size=d)
        y = X[:, 0] + sum(part @ matrix for part, matrix in zip(z, V, strict=True))
        expected = (y + np.maximum(y @ A, 0) @ C) @ w
        parts = [X[:, 0], *z]
        first, units, a = [B @ w for B in (np.eye(d), *V)], [B @ A for B in (np.eye(d), *V)], C @ w
        linear = [g + unit @ a / 2 for g, unit in zip(first, units, strict=True)]
        sizes = abs(sum(part @ unit for part, unit in zip(parts, units, strict=True))) @ a / 2
        assert abs(sum(part @ g for part, g in zip(parts, linear, strict=True)) + sizes - expected).max() < 1e-9
        norm = max(np.linalg.norm(g) for g in linear)
        norm += sum(abs(a[j]) * max(np.linalg.norm(unit[:, j]) for unit in units) for j in range(h))
        scale = 2.0 ** rng.integers(-20, 20, h)
        for other in (perceptron_norm(first, units, a), perceptron_norm(first, [u * scale for u in units], a / scale)):
            assert abs(other - norm) < 1e-9 * norm
        assert abs(expected).max() <= norm * sum(np.linalg.norm(part, axis=1).max() for part in parts) + 1e-9


@check(
    "variable-creation:ext-perceptron",
    grade="numeric",
    target="printed",
    cases="m = 2, 6 contexts of 3 tokens in 2 dimensions, one head of 4 score matrices, all signs, seeds 0, ..., 7; "
    "units in 720 directions, and pairs of opposite ones",
)
@proof_steps("sparse_learning.md: 2")
@pytest.mark.parametrize("seed", range(8))
def test_units_correlate_at_most_twice_as_much_as_linear_readers(seed, record_property):
    """At most twice as much: a unit counts 3/2 by its norm of paths, two opposite ones of the same sign 2, a reader 1.

    The supremum of linear readers is exact, a sum of two lengths; what 720 directions find is below that of units. A
    pair of opposite units is the size of a linear reader. The mean of each over all signs is compared, and that of the
    best of both, which on two opposite contexts is half as large again as that of readers: the factor is not 1.
    """
    rng = np.random.default_rng(seed)
    m = 2 if seed < 2 else 6
    X = rng.normal(size=(m, 3, 2)) * (rng.random((m, 3, 1)) < 0.8)
    if seed < 2:
        X[1] = -X[0]
    z = [averages(X, 2 * rng.normal(size=(2, 2))) for _ in range(4)]
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    products = [(X[:, 0] @ circle.T)[:, :, None] + (one @ circle[::5].T)[:, None, :] for one in z]
    units = {
        1: [np.maximum(one, 0).reshape(m, -1) for one in products],
        2: [abs(one).reshape(m, -1) for one in products],
    }
    found: dict[int, list[float]] = {0: [], 1: [], 2: []}
    best = []
    for xi in product([-1, 1], repeat=m):
        signs = np.array(xi)
        found[0].append(max(np.linalg.norm(signs @ X[:, 0]) + np.linalg.norm(signs @ one) for one in z))
        for number, each in units.items():
            found[number].append(max(abs(signs @ one).max() for one in each))
        best.append(max(found[0][-1], found[2][-1] / 2))
    line = float(np.mean(found[0]))
    pair = [[[1, -1], [0, 0]], [[0, 0], [1, -1]]]
    norms = {
        1: perceptron_norm([[0, 0]] * 2, [[[1], [0]], [[0], [1]]], [1]),
        2: perceptron_norm([[0, 0]] * 2, pair, [1, 1]),
    }
    record_property(
        "shares", {number: float(np.mean(found[number]) / line / norm.mid()) for number, norm in norms.items()}
    )
    assert (norms[1], norms[2]) == (fmpq(3, 2), 2)
    assert line <= np.mean(best) <= 2 * line
    if seed < 2:
        assert 1.45 * line < np.mean(best) < 1.5 * line + 1e-12
    for number, norm in norms.items():
        assert 0.4 * norm * line < np.mean(found[number]) <= norm * line
    assert perceptron_norm([[1, 0], [0, 1]], [np.zeros((2, 0))] * 2, []) == 1


@check(
    "variable-creation:ext-perceptron",
    grade="enclosed",
    target="printed",
    cases="1 to 3 heads, norms W = 1/2, 3, 40, scores 2, tokens of norm 3/2, m = 10^4, 10^8, T = 5",
)
@proof_steps("sparse_learning.md: 3")
def test_the_bound_is_twice_that_of_linear_readers():
    """Covers of C/eps^2 written out, one logarithm for each part; the integral at its best start, or the size A."""
    B = arb(fmpq(3, 2))
    for H, m in product((1, 2, 3), (10**4, 10**8)):
        logs = [arb(2 * m + 1).log(), *[arb(10 * m + 1).log()] * 2 * H]
        costs = [B**2, *[(2 * B**2) ** 2] * H, *[B**2] * H]
        rates = [arb(1), *[B] * H, *[arb(1)] * H]
        parts = zip(costs, logs, rates, strict=True)
        C = sum(((cost * log * rate**2).root(3) for cost, log, rate in parts), start=arb(0)) ** 3
        K, A = (C / m).sqrt(), (H + 1) * B
        expected = ball_min([A, 24 * K + 24 * K * (A / (6 * K)).log()]) if A > 6 * K else A
        for W in (fmpq(1, 2), fmpq(3), fmpq(40)):
            found = perceptron_rademacher([2] * H, W, tokens=B, samples=m, length=5)
            assert abs(found - W * expected) < arb("1e-10") * found
