"""Covers of the single-layer transformer: readout, query-key matrices, composition; each constant by another route.

The printed forms hide constants, so they are refuted along sequences: bounded by volume from below, the size of every
cover exceeds each multiple of the printed bound. The proofs are in `proofs/transformer-generalisation.md`.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import merged_head
from lemmata.numerics.exact.balls import as_balls, ball_max, decided_less_equal
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.tokens.query_key_code import decode_query_key, encode_query_key
from lemmata.numerics.tokens.transformer_bounds import (
    TransformerClass,
    log_cover,
    query_key_cover,
    readout_cover,
    volumetric_cover,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

CLASSES = (
    TransformerClass(1, 1, 1, arb(1), arb(2), arb(3), arb(1)),
    TransformerClass(2, 3, 5, arb(2), arb("0.5"), arb(4), arb("1.5")),
    TransformerClass(4, 7, 30, arb(3), arb(5), arb(40), arb(6)),
)
RADII = (fmpq(1, 100), fmpq(1, 3), fmpq(2))
GRID = "3 classes of networks, eps = 1/100, 1/3, 2, 1 to 10^6 queries"


def _readout(outer: NDArray[np.object_], hidden: NDArray[np.object_]) -> FeedForward:
    """The readout a^T relu(W h + b); `hidden` is (W, b), shape (m, HD + 1)."""
    return FeedForward(
        (Affine(hidden[:, :-1].T, hidden[:, -1]), Affine(outer[:, None])), activations=("relu", "identity")
    )


def _norm(values: NDArray[np.object_]) -> arb:
    return arb(sum((x * x for x in values.ravel()), fmpq(0))).sqrt()


def _near(a: arb, b: float) -> bool:
    """Equal up to the rounding of a few operations on floats."""
    return abs(float(a.mid()) - b) <= 1e-12 * max(1.0, abs(b))


@check(
    "qstr:lemma-14",
    grade="sampled",
    target="corrected",
    cases="40 random pairs of readouts, seed 1, and one extremal pair; in balls",
)
@proof_steps("transformer-generalisation.md: 1")
def test_sensitivity_of_the_readout() -> None:
    """Step 1: |f - f'| <= B s |a - a'| + A s |(W, b) - (W', b')|, and it is attained in both parts."""
    rng = np.random.default_rng(1)
    tightest = arb(0)
    for _ in range(40):
        a, c = as_exact(rng.integers(-9, 10, (2, 3)))
        hidden, other = as_exact(rng.integers(-9, 10, (2, 3, 5)))
        h = as_exact(rng.integers(-5, 6, (1, 4)))
        networks = TransformerClass(1, 3, 4, _largest(a, c), _largest(hidden, other), arb(1), _norm(h) + arb(1) / 10)
        change = abs(arb(_readout(a, hidden)(h)[0, 0] - _readout(c, other)(h)[0, 0]))
        bound = networks.reach * (networks.inner * _norm(a - c) + networks.outer * _norm(hidden - other))
        assert change <= bound
        tightest = ball_max([tightest, change / bound])
    assert tightest > 0.1
    h = as_exact([["3/4"]])
    networks = TransformerClass(1, 1, 1, arb(2), arb(5), arb(1), arb(3) / 4)
    along = as_exact([[3, 4]])  # (W, b) in the direction of (h; 1), of norm 5
    full, less = as_exact([2]), as_exact([1])
    outer = arb((_readout(full, along)(h) - _readout(less, along)(h))[0, 0])
    assert outer.overlaps(networks.inner * networks.reach)
    assert outer > 0
    inner = arb((_readout(full, along)(h) - _readout(full, along / 2)(h))[0, 0])
    assert inner.overlaps(networks.outer * networks.reach * fmpq(5, 2))
    assert inner > 0


@check(
    "qstr:lemma-14",
    grade="enclosed",
    target="corrected",
    cases="H = 1, 2, 3, 5 heads on a prompt of one token of norm 7/2, D = 2: the extremal readouts",
)
@proof_steps("transformer-generalisation.md: 1")
def test_heads_add_up_in_the_reach_of_the_readout() -> None:
    """Step 1: H heads that show the same token of norm r have outputs of norm sqrt(H) r, and the bound is attained."""
    token = as_exact([["21/10", "14/5"]])  # of norm 7/2
    for H in (1, 2, 3, 5):
        heads = tuple(merged_head(as_exact([[k, 1], [0, k]]), causal=False) for k in range(H))
        shown = AttentionLayer(heads, "concatenate")(as_balls(token))
        networks = TransformerClass(H, 1, 2, arb(2), arb(5), arb(1), arb(fmpq(7, 2)))
        direction = np.array([*shown[0], arb(1)])  # (W, b) in the direction of (h; 1), of norm 5
        hidden = 5 * direction / sum((x * x for x in direction), arb(0)).sqrt()
        readouts = [
            FeedForward((Affine(w[:-1, None], w[-1:]), Affine(np.array([[a]]))), activations=("relu", "identity"))
            for a, w in ((arb(2), hidden), (arb(1), hidden), (arb(2), hidden / 2))
        ]
        full, less, half = (readout(shown)[0, 0] for readout in readouts)
        for change, bound in (
            (full - less, networks.inner * networks.reach),
            (full - half, networks.outer * networks.reach * fmpq(5, 2)),
        ):
            assert change.overlaps(bound)
            assert abs(change / bound - 1) < fmpq(1, 10**6)


def _largest(*arrays: NDArray[np.object_]) -> arb:
    return ball_max([_norm(one) for one in arrays] + [arb(1)])


@check("qstr:lemma-14", grade="exact", target="corrected", supporting=True, cases="2R/eps = 1, ..., 50 on a line")
@proof_steps("transformer-generalisation.md: 2")
def test_volumetric_cover_of_an_interval() -> None:
    """Step 2: on a line the number 1 + 2R/eps of the bound is attained by points at distances eps."""
    for parts in range(1, 51):
        radius, eps = fmpq(3, 2), 3 / fmpq(parts)
        points = [-radius + k * eps for k in range(parts + 1)]
        assert points[-1] == radius
        assert all(y - x >= eps for x, y in pairwise(points))
        assert volumetric_cover(1, radius, eps).exp().overlaps(arb(len(points)))
        assert volumetric_cover(7, radius, eps).overlaps(7 * volumetric_cover(1, radius, eps))


@check("qstr:lemma-14", grade="numeric", target="corrected", cases=GRID)
@proof_steps("transformer-generalisation.md: 2")
def test_cover_of_the_readout() -> None:
    """Step 2: the size is that of two balls at half the radius, with as many dimensions as the readout has weights."""
    for networks, eps in product(CLASSES, RADII):
        weights = _readout(
            as_exact(np.ones(networks.neurons, dtype=int)),
            as_exact(np.ones((networks.neurons, networks.heads * networks.dimension + 1), dtype=int)),
        ).count
        A, B, r = (float(x.mid()) for x in (networks.outer, networks.inner, networks.embedding_norm))
        s = math.sqrt(networks.heads * r * r + 1)
        expected = weights * math.log(1 + 2 * A / (float(eps) / 2 / (B * s)))
        assert _near(readout_cover(networks, eps), expected)
        R = max(A, B, r)
        explicit = 3 * networks.neurons * networks.heads * networks.dimension
        assert expected <= explicit * math.log(
            1 + 4 * math.sqrt(networks.heads + 1) * R * R * max(R, 1) / float(eps)
        ) * (1 + 1e-12)


@counterexample("qstr:lemma-14", grade="enclosed")
@proof_steps("transformer-generalisation.md: 2")
def test_the_number_of_heads_enters_the_logarithm(record: Record, output: int = 1) -> None:
    """Step 2: covers have log-size at least HD ln(AB sqrt(H) r/(4 eps)), more than C HD ln(1 + K/eps) for large H.

    Here A = B = r = 1, m = D = 1 and eps = 1/100; the step that half the distance of the weights is seen is exact.
    """
    rng = np.random.default_rng(2)
    for _ in range(20):
        w, v, h = as_exact(rng.integers(-9, 10, (3, 1, 4)))
        zero = as_exact([[0]])
        f, g = (_readout(as_exact([1]), np.hstack([row, zero])) for row in (w, v))
        seen = [(f(x) - g(x))[0, 0] for x in (h, -h)]
        assert max(abs(x) for x in seen) >= abs(((w - v) @ h.T)[0, 0]) / 2
    eps, A, B, r = arb(1) / 100, arb(output), arb(1), arb(1)
    below = printed = arb(0)
    for constant, polynomial in product((1, 100, 10**4), (1, 10**3, 10**6)):
        printed = constant * (1 + polynomial / eps).log()
        heads = arb(10) ** (60 * constant)
        below = (A * B * heads.sqrt() * r / (4 * eps)).log()  # over H D
        assert below > printed
        # the bound with sqrt(H) beside the polynomial is above it, for m (HD + 2) <= 3 HD
        assert 3 * (1 + 4 * A * B * (heads * r**2 + 1).sqrt() / eps).log() > below
    record.hypothesis("all parameters of the readout have a norm of at most R = 3/2", (A**2 + B**2).sqrt(), "<=", 1.5)
    record.hypothesis("the embeddings have a norm of at most R", r, "<=", 1.5)
    record.violated("ln C/(m H D) <= 10^4 ln(1 + 10^6/eps), at H = 10^600000 heads", below, "<=", printed)


@check(
    "qstr:lemma-16",
    grade="sampled",
    target="corrected",
    cases="24 random matrices, seed 3, D = 3, 4, 8 columns at most, 3 accuracies; exact numbers",
)
@proof_steps("transformer-generalisation.md: 4")
def test_codes_of_matrices() -> None:
    """Step 4: the matrix rebuilt from the symbols alone errs by at most eps, and there are few enough symbols."""
    rng = np.random.default_rng(3)
    for D, columns, seed in product((3, 4), (1, 3, 8), range(4)):
        queries = as_exact(rng.integers(-6, 7, (9, D))) / 12
        matrix = as_exact(rng.integers(-9, 10, (D, columns))) / 10 ** (seed % 2 + 1)
        norm = fmpq(int(10**6 * sum(math.sqrt(float(c @ c)) for c in matrix.T)) + 1, 10**6)
        for eps in (fmpq(2), fmpq(1, 2), fmpq(1, 8)):
            code = encode_query_key(matrix, queries, eps, norm=norm, query_norm=1)
            error = (matrix - decode_query_key(code, queries)).T @ queries.T
            assert max(sum(x * x for x in column) for column in error.T) <= eps**2
            budget = 4 * (norm / eps) ** 2
            assert len(code.moves) <= budget
            assert all(4**move.level <= budget for move in code.moves)
            networks = TransformerClass(1, 1, columns, arb(1), arb(1), arb(norm), arb(1))
            symbols = 2 * len(queries) * columns * (1 + max((m.level for m in code.moves), default=0)) + 1
            assert len(code.moves) * math.log(symbols) <= float(query_key_cover(networks, eps, len(queries))[0]) + 1e-9


@check("qstr:lemma-16", grade="exact", target="corrected", cases="n = 4, 16, 64 orthogonal queries")
@proof_steps("transformer-generalisation.md: 4")
def test_the_longest_code() -> None:
    """Step 4: n orthogonal queries, each missed by hardly more than the accuracy, take n symbols of at most 1.03 n."""
    for n in (4, 16, 64):
        root = math.isqrt(n)
        matrix = as_exact([["1/" + str(root)]] * n)  # one column of norm 1
        queries = as_exact(np.eye(n, dtype=int))
        eps = fmpq(2, root) * fmpq(99, 100)
        code = encode_query_key(matrix, queries, eps, norm=1, query_norm=1)
        assert len(code.moves) == n
        assert (decode_query_key(code, queries) == fmpq(99, 100) * matrix).all()  # one symbol each, and no rest
        assert n <= 4 * (1 / eps) ** 2 <= fmpq(103, 100) * n


@check("qstr:lemma-16", grade="numeric", target="corrected", cases=GRID)
@proof_steps("transformer-generalisation.md: 3, 4")
def test_covers_of_the_query_key_matrices() -> None:
    """Steps 3 and 4: the count of the codes and of the volume, and both at least the size of packings of a segment."""
    for networks, eps, n in product(CLASSES, RADII, (1, 50, 10**6)):
        codes, volume = query_key_cover(networks, eps, n)
        H, D = networks.heads, networks.dimension
        reach = float((networks.query_key * networks.embedding_norm).mid()) / float(eps)
        x = 4 * H * H * reach * reach
        alphabet = 2 * n * H * D * (1 + math.log(x) / math.log(4)) + 1
        assert _near(codes, x * math.log(alphabet) if x >= 1 else 0.0)
        assert _near(volume, H * D * D * math.log(1 + 2 * math.sqrt(H) * reach))
    line = TransformerClass(1, 1, 1, arb(1), arb(1), arb(3), arb(2))
    for parts in (2, 4, 12, 60):  # matrices of one entry theta, |theta| <= 3, at one query z = 2
        assert query_key_cover(line, fmpq(12, parts), 1)[1].exp().overlaps(arb(parts + 1))
    small = TransformerClass(1, 1, 1, arb(1), arb(1), arb(1) / 3, arb(1))
    assert query_key_cover(small, 1, 10)[0] == 0  # zero alone is a cover, as |theta z| < 1


@counterexample("qstr:lemma-16", grade="enclosed")
@proof_steps("transformer-generalisation.md: 4")
def test_no_cover_without_the_number_of_queries(record: Record, stretch: int = 1) -> None:
    """Step 4: with an eta-net of queries every cover has log-size D ln((1 - eta) R r/eps), not O(ln D) at R r/eps = 2.

    The quotient of the two exceeds every constant as D grows; the step from net to norm is checked in the plane.
    """
    net = [(3 * s, 4 * t) for s, t in product((-1, 1), repeat=2)] + [
        (4 * s, 3 * t) for s, t in product((-1, 1), repeat=2)
    ]
    net += [(5, 0), (-5, 0), (0, 5), (0, -5)]
    queries = as_exact(net) / 5  # neighbours differ by at most 2 sin(36.87 deg/2) = 0.6325, so that eta = 0.3204 does
    eta = fmpq(801, 2500)
    rng = np.random.default_rng(4)
    for v in as_exact(rng.integers(-99, 100, (50, 2))):
        if v @ v:
            assert max(abs(x) for x in queries @ v) ** 2 >= (1 - eta) ** 2 * (v @ v)
    quotients, below, first = [], arb(0), arb(0)
    R, r, eps = arb(2), arb(1), arb(1)
    for exponent in range(2, 13):
        D = arb(10) ** exponent
        below = D * ((1 - arb(1) / 100) * R * r / eps).log()
        first, second = (r * R / eps) ** 2 * (2 * D**2).log(), D**2 * (1 + R * r / eps).log()
        assert first < second  # so the first term is the minimum
        quotients.append(below / first)
    assert all(y > 5 * x for x, y in pairwise(quotients))
    # The same for encodings: tokens on the sphere of radius sqrt(2 d), q + 1 = 2 codes times sqrt(d), N = d_e = 2
    d, tokens, reach = arb(10) ** 12, stretch * (2 * arb(10) ** 12).sqrt(), 2 * arb(10) ** 6
    D, eps = d + 4, tokens  # the column meets the token only
    below = d * ((1 - arb(1) / 100) * R * tokens / eps).log()
    first, second = (reach * R / eps) ** 2 * (2 * D**2).log(), D**2 * (1 + R * reach / eps).log()
    assert first < second
    record.hypothesis("the (2, 1) norm of a matrix with one column of norm 2 is at most R_21", R, "<=", 2)
    record.hypothesis("its Frobenius norm is at most R_F", R, "<=", 2)
    squared = stretch**2 * 2 * 10**12 + 2 * 10**12  # |x|^2 and |enc|^2 = (d/q)(q + 1)
    record.hypothesis("|z|^2 of the encodings, at d = 10^12, is at most r_z^2", squared, "<=", reach**2)
    record.violated("ln C <= 10^8 times the printed minimum, at d = 10^12", below, "<=", 10**8 * first)


def _least_cover(distances: NDArray[np.object_], eps: object) -> int:
    """The size of a smallest set of rows within eps of every row, by trying all."""
    near = [[bool(decided_less_equal(d, eps)) for d in row] for row in distances]
    n = len(near)
    for size in range(1, n + 1):
        if any(all(any(near[i][j] for j in chosen) for i in range(n)) for chosen in combinations(range(n), size)):
            return size
    raise AssertionError("every row covers itself")


def _distances(values: NDArray[np.object_]) -> NDArray[np.object_]:
    """The supremum over the last axis of the absolute differences of the rows, as balls."""
    return np.array([[ball_max([abs(x - y) for x, y in zip(f, g, strict=True)]) for g in values] for f in values])


@check(
    "qstr:lemma-13",
    grade="enclosed",
    target="printed",
    cases="7 query-key matrices x 6 readouts on 3 prompts (seed 5), 16 radii",
)
@proof_steps("transformer-generalisation.md: 6")
def test_composed_covers_of_finite_classes() -> None:
    """Step 6: covers of readouts and of heads give one of the networks; the Lipschitz constant is that of the class.

    The readouts c relu(w h + b) differ by |c - c'| times the largest neuron: their distance over the ball is exact.
    """
    rng = np.random.default_rng(5)
    prompts = as_balls(as_exact(rng.integers(-4, 5, (3, 4, 2))) / 8)
    gains = [fmpq(k, 3) for k in (0, 1, 2, 4, 5, 9)]
    matrices = [as_balls(as_exact([[k, 0], [0, -k]])) for k in (0, 1, 2, 3, 6, 12, 30)]
    outputs = np.array([[merged_head(W, causal=False)(prompt)[0] for prompt in prompts] for W in matrices])
    radius = ball_max([_ball_norm(h) for h in outputs.reshape(-1, 2)])
    hidden = as_exact([["3/5", "4/5", "1/2"]])
    networks = TransformerClass(1, 1, 2, arb(gains[-1]), arb(1), arb(1), radius)  # the weights of h have norm 1
    largest = radius + fmpq(1, 2)
    readouts = np.array([[abs(a - b) * largest for b in gains] for a in gains])
    rows = [_readout(as_exact([gain]), hidden)(h)[:, 0] for gain in gains for h in outputs]
    composed = _distances(np.array(rows))
    heads = np.array(
        [[ball_max([_ball_norm(x - y) for x, y in zip(f, g, strict=True)]) for g in outputs] for f in outputs]
    )
    for first, second in product(
        (fmpq(1, 7), fmpq(1, 2), fmpq(1), fmpq(3)), (fmpq(1, 50), fmpq(1, 9), fmpq(1, 4), fmpq(1))
    ):
        reach = first + networks.lipschitz * second
        sizes = _least_cover(readouts, first) * _least_cover(heads, second)
        assert _cover_of_product(composed, len(gains), len(outputs), reach) <= sizes
    line = as_balls(as_exact([[0], [1], [2], [3]]))  # tight: one readout relu(h) and these outputs
    steep = TransformerClass(1, 1, 1, arb(1), arb(1), arb(1), arb(3))
    values = as_balls(_readout(as_exact([1]), as_exact([[1, 0]]))(line))
    assert _least_cover(_distances(line), arb(1)) == 2
    assert _least_cover(_distances(values), steep.lipschitz) == 2


def _cover_of_product(distances: NDArray[np.object_], readouts: int, heads: int, eps: object) -> int:
    """A bound on the covering number: the least number of pairs of centres from a product set that covers."""
    near = np.array([[bool(decided_less_equal(d, eps)) for d in row] for row in distances])
    best = readouts * heads
    for a in range(1, readouts + 1):
        for b in range(1, heads + 1):
            if a * b < best and any(
                near[:, [i * heads + j for i, j in product(first, second)]].any(axis=1).all()
                for first in combinations(range(readouts), a)
                for second in combinations(range(heads), b)
            ):
                best = a * b
    return best


def _ball_norm(vector: NDArray[np.object_]) -> arb:
    return sum((x * x for x in vector), arb(0)).nonnegative_part().sqrt()


@check("qstr:proposition-17", grade="numeric", target="corrected", cases=GRID)
@proof_steps("transformer-generalisation.md: 6")
def test_cover_of_the_class() -> None:
    """Step 6: half of eps for the readout and eps/(2 A B r^2) for the matrices; the smaller of volume and codes."""
    for networks, eps, n in product(CLASSES, RADII, (1, 50, 10**6)):
        readout, codes, volume = cover_by_hand(networks, float(eps), n)
        assert _near(log_cover(networks, eps, n), readout + min(codes, volume))


def cover_by_hand(networks: TransformerClass, e: float, n: int) -> tuple[float, float, float]:
    """Step 6 in floats: the log-sizes for the readout, and for the matrices by codes and by volume."""
    H, D, m = networks.heads, networks.dimension, networks.neurons
    A, B, rho, r = (
        float(x.mid()) for x in (networks.outer, networks.inner, networks.query_key, networks.embedding_norm)
    )
    x = 16 * H**2 * rho**2 * r**6 * A**2 * B**2 / e**2
    codes = x * math.log(2 * n * H * D * (1 + math.log(x, 4)) + 1) if x >= 1 else 0.0
    volume = H * D * D * math.log(1 + 4 * math.sqrt(H) * rho * r**3 * A * B / e)
    return m * (H * D + 2) * math.log(1 + 8 * A * B * math.sqrt(H * r * r + 1) / e), codes, volume


@check("qstr:proposition-17", grade="sampled", target="corrected", cases="60 random pairs of networks, seed 6")
@proof_steps("transformer-generalisation.md: 6")
def test_networks_that_are_near() -> None:
    """Step 6: two networks differ by no more than the radii that are added up, with the constants of the class."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        H, D, N, m = 2, 4, 5, 3
        z = rng.normal(size=(N, D))
        r = float(np.linalg.norm(z, axis=1).max())
        matrices = rng.normal(size=(2, H, D, D)) * rng.choice([0.1, 1.0, 3.0])
        matrices[1] = matrices[0] + rng.normal(size=(H, D, D)) * rng.choice([0.01, 1.0])
        outer, hidden = rng.normal(size=(2, m)), rng.normal(size=(2, m, H * D + 1))
        A, B = float(np.linalg.norm(outer, axis=1).max()), float(np.linalg.norm(hidden, axis=(1, 2)).max())
        networks = TransformerClass(H, m, D, arb(A), arb(B), arb(1), arb(r))
        values = [
            _readout(a, w)(AttentionLayer(tuple(merged_head(W, causal=False) for W in Ws), "concatenate")(z))[:, 0]
            for a, w, Ws in zip(outer, hidden, matrices, strict=True)
        ]
        for value, a, w, Ws in zip(values, outer, hidden, matrices, strict=True):
            scores = np.exp([z @ W @ z.T for W in Ws])
            h = np.concatenate(list(scores / scores.sum(axis=-1, keepdims=True) @ z), axis=-1)
            apart = np.abs(value - np.maximum(h @ w[:, :-1].T + w[:, -1], 0) @ a).max()
            assert apart < 1e-9  # a score of size s is off by s 2^-52, and a share by as much of itself
        seen = np.sqrt(sum(np.linalg.norm(z @ (V - W), axis=1) ** 2 for V, W in zip(*matrices, strict=True)))
        readouts = B * np.linalg.norm(outer[0] - outer[1]) + A * np.linalg.norm(hidden[0] - hidden[1])
        bound = float(networks.reach) * readouts + float(networks.lipschitz) * r * r * seen
        assert np.all(np.abs(values[0] - values[1]) <= bound * (1 + 1e-12))


@counterexample("qstr:proposition-17", grade="enclosed")
@proof_steps("transformer-generalisation.md: 6")
def test_products_of_norms_enter_the_logarithm(
    record: Record,
    weights: tuple[int, int, int] = (3, 4, 5),
    readout: int = 1,
    points: tuple[str, str] = ("3/5", "4/5"),
) -> None:
    """Step 6: at A = B = eps covers have log-size d ln((1 - eta) A/(2 sqrt 2)); printed is a multiple of (d + 2) ln 2.

    The readouts A(<w, x> + b) with |w| <= b = B/sqrt 2 are linear on the unit ball, and in the class, exactly.
    """
    gain, share, embeddings = fmpq(0), fmpq(0), as_exact([points, ["-3/5", "-4/5"], ["1", "0"]])
    for A in (5, 500, 5 * 10**8):
        hidden = as_exact([[A * one for one in weights]]) / 10  # (w, b), |w| = b = A/2
        share, output = (hidden * hidden).sum() / A**2, as_exact([readout * A])
        gain = max(abs(output)) / A
        for x in embeddings:
            assert _readout(output, hidden)(x[None])[0, 0] == output[0] * (hidden[0, :2] @ x + hidden[0, 2])
    d, quotients, below = 98, [], arb(0)
    for exponent in range(1, 9):
        A = arb(10) ** (4**exponent)
        below = d * (A * fmpq(99, 100) / (2 * arb(2).sqrt())).log()
        quotients.append(below / ((d + 2) * arb(2).log()))
        assert below < (d + 4) * (1 + 8 * A * A * arb(2).sqrt() / A).log()  # with the products, D = d + 2, it does
    assert all(y > 3 * x for x, y in pairwise(quotients))
    assert quotients[-1] > 10**5
    record.hypothesis("|(W, b)|^2 over A^2 = R_mw^2, of the readouts that are built", share, "<=", 1)
    record.hypothesis("|a| over A = r_ma", gain, "<=", 1)
    record.hypothesis("embeddings: the norm 1 is at most r_z = 1", max(x @ x for x in embeddings), "<=", 1)
    printed = 10**5 * (d + 2) * arb(2).log()  # eps = R = A: ln(1 + R/eps) = ln 2
    record.violated("ln C <= 10^5 m_g H D ln(1 + R/eps), at eps = R", below, "<=", printed)
