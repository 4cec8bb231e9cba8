"""Softmax: the block FF-Attn-FF is not universal in the sup-norm, contextual mappings, and an explicit gradient step.

Lemma 16 and 18 are refuted by one function of two scalar tokens; the proof is checked step by step, and a certificate
for single networks (`edge_crossing_bound`) is run beside it. The explicit block is compared with an independent
rational back-propagation and with torch's autograd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.constructions.descent.softmax import SoftmaxDescentBlock, softmax_descent_block
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stored import StoredFeedForward
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.functions import smooth as functions
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import piecewise_linear, squared_loss_derivative
from lemmata.theorems.deep_icgd.instances import rationals
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

Matrix = list[list[fmpq]]


# ---- the block FF-Attn-FF


def symbolic_attention(H: sp.Matrix, value: sp.Matrix, key: sp.Matrix, query: sp.Matrix) -> sp.Matrix:
    """H + (W_O V) H softmax[(K H)^T (Q H)], column-wise, (F.1)."""
    n = H.shape[1]
    scores = (key * H).T * (query * H)
    weights = sp.Matrix(n, n, lambda l, k: sp.exp(scores[l, k]) / sum(sp.exp(scores[m, k]) for m in range(n)))
    return H + value * H * weights


@check("deep-icgd:definition-11", grade="symbolic", target="printed", supporting=True)
@proof_steps("forms.md: 4")
@pytest.mark.parametrize(("d", "n"), [(1, 2), (2, 2), (1, 3)])
def test_block_is_permutation_equivariant(d: int, n: int) -> None:
    """For all weights and inputs; every swap of two tokens, which generate all permutations.

    The softmax of column k sums over all columns, so it depends on the others as a set only; FF acts on each column
    alone. The sizes (d, n) show the identity with every entry of H and all matrices as symbols.
    """
    H = sp.Matrix(d, n, sp.symbols(f"h0:{d * n}", real=True))
    V, K, Q = (sp.Matrix(d, d, sp.symbols(f"{name}0:{d * d}", real=True)) for name in "vkq")
    W1, W2 = (sp.Matrix(d, d, sp.symbols(f"{name}0:{d * d}", real=True)) for name in ("a", "b"))
    b1 = sp.Matrix(d, 1, sp.symbols(f"c0:{d}", real=True))

    def feed_forward(Z: sp.Matrix) -> sp.Matrix:
        hidden = (W1 * Z + b1 * sp.ones(1, n)).applyfunc(lambda x: sp.Max(x, 0))
        return Z + W2 * hidden

    for k in range(n - 1):
        order = list(range(n))
        order[k], order[k + 1] = order[k + 1], order[k]
        swapped = H.extract(list(range(d)), order)
        for layer in (lambda Z: symbolic_attention(Z, V, K, Q), feed_forward):
            difference = layer(swapped) - layer(H).extract(list(range(d)), order)
            assert all(sp.simplify(entry) == 0 for entry in difference)


def block_by_loops(H: Any, attention: tuple[Any, ...], *maps: tuple[Any, ...]) -> Any:
    """FF(Attn(FF(H))) by definition 11 and (F.1), in balls, columns for tokens; `maps` are (W_1, b_1, W_2, b_2)."""

    def feed_forward(Z: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
        return Z + W2 @ np.vectorize(lambda t: t.max(arb(0)), otypes=[object])(W1 @ Z + b1[:, None]) + b2[:, None]

    V, K, Q = attention
    Z = feed_forward(H, *maps[0])
    raised = np.vectorize(lambda t: t.exp(), otypes=[object])((K @ Z).T @ (Q @ Z))
    return feed_forward(Z + V @ Z @ (raised / raised.sum(axis=0)), *maps[1])


@check(
    "deep-icgd:definition-11",
    grade="sampled",
    target="printed",
    cases="(d, d', n) = (1, 1, 2), (2, 3, 3), (3, 2, 4), one network and input each, all swaps of neighbours; seed 0",
)
@proof_steps("forms.md: 4")
@pytest.mark.parametrize(("d", "hidden", "n"), [(1, 1, 2), (2, 3, 3), (3, 2, 4)])
def test_layers_of_the_library_make_the_block(d: int, hidden: int, n: int) -> None:
    """The library's FF, softmax attention and FF against the definition, and with two tokens exchanged, to 1e-30."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return as_balls(rationals(rng, *shape))

    H, attention = draw(d, n), tuple(draw(d, d) for _ in range(3))
    maps = [(draw(hidden, d), draw(hidden), draw(d, hidden), draw(d)) for _ in range(2)]
    V, K, Q = (Affine(matrix.T) for matrix in attention)
    first, last = (
        FeedForward((Affine(W1.T, b1), Affine(W2.T, b2)), residual=True, activations=("relu", "identity"))
        for W1, b1, W2, b2 in maps
    )
    block = (first, AttentionLayer((Head(Q, K, V, causal=False),)), last)

    def run(tokens: Any) -> Any:
        for layer in block:
            tokens = layer(tokens)
        return tokens

    with precision(128):
        found, expected = run(H.T), block_by_loops(H, attention, *maps).T
        assert all(abs(t) < 1e-30 for t in (found - expected).ravel().tolist())
        for k in range(n - 1):
            order = [*range(k), k + 1, k, *range(k + 2, n)]
            assert all(abs(t) < 1e-30 for t in (run(H.T[order]) - found[order]).ravel().tolist())
            assert any(abs(t) > 1e-3 for t in (found[order] - found).ravel().tolist())


# ---- lemma 16 and 18


def target(z_1: Any, z_2: Any) -> Any:
    """The first coordinate of f; the second is target(z_2, z_1)."""
    return z_1 + abs(z_1 - z_2)


def chi(t: fmpq) -> fmpq:
    """1 on [1, 2], 0 outside (0, 3), linear between."""
    return max(fmpq(0), min(t, 3 - t, fmpq(1)))


def cut(u: fmpq, v: fmpq) -> tuple[fmpq, fmpq]:
    """f on [1, 2]^2, shifted, and 0 outside (0, 3)^2: for readers to whom "supported on the cube" means that."""
    scale = chi(u) * chi(v)
    return scale * target(u - 1, v - 1), scale * target(v - 1, u - 1)


@counterexample("deep-icgd:lemma-16", grade="symbolic")
@counterexample("deep-icgd:lemma-18", grade="symbolic")
@proof_steps("universality.md: 2, 3, 4, 5, 6, 7, 8")
def test_every_network_misses_the_function_by_a_quarter(record: Record) -> None:
    """d = 1, n = 2, B_x = 1, f(z) = (z_1 + |z_1 - z_2|, z_2 + |z_1 - z_2|): sup error e >= 1/4 for all weights.

    With d = 1 all of W_O V = c and K^T Q = kappa are numbers, phi and F_2 (the feed-forward maps) are continuous, and
    token 1 becomes F_2(A(phi(z_1), phi(z_2))), A(x, y) = x + c (x + (y - x) S) with S = 1/(1 + exp(-kappa x (y - x)))
    in (0, 1) (step 1 below). Suppose |output - f| <= e everywhere.
    - c = 0: the output does not depend on z_2, but f_1(1/2, 1/2) = 1/2 and f_1(1/2, 1) = 1. So 2 e >= 1/2.
    - c = -1: A(x, x) = 0, so the diagonal has one output, for f_1 = 0 and f_1 = 1. So 2 e >= 1.
    - Else let h(t) = F_2((1 + c) t). On the diagonal |h(phi(p)) - p| <= e. If e < 1/4, phi(p) = phi(p') forces
      |p - p'| <= 2 e < 1/2, so phi(0), phi(1/2), phi(1) differ, and phi(1/2) lies strictly between the others: if
      phi(0) were between, say, phi would take the value phi(0) again on [1/2, 1]. By symmetry (to -phi and F_2(-.)) let
      phi(0) < phi(1/2) < phi(1). Put a(q) = A(phi(1/2), phi(q))/(1 + c); then
      a(q) - phi(1/2) = (c/(1 + c)) (phi(q) - phi(1/2)) S (step 2), and q* in {0, 1} makes it negative. Along q from 1/2
      to q*, a runs through all of [a(q*), phi(1/2)], and h(a(q)) >= f_1(1/2, q) - e = 1/2 + |q - 1/2| - e >= 1/2 - e;
      at the end h(a(q*)) >= 1 - e. If a(q*) <= phi(0), then h(phi(0)) >= 1/2 - e, but h(phi(0)) <= e. Otherwise
      a(q*) = phi(p') with 0 < p' < 1/2, and 1 - e <= h <= p' + e. Both give 2 e >= 1/2 (step 3).
    """
    x, y, c, kappa = sp.symbols("x y c kappa", real=True)
    # 1. column 1 of (F.1) for d = 1, n = 2, with W_O V = c and K^T Q = kappa
    H = sp.Matrix([[x, y]])
    A = symbolic_attention(H, sp.Matrix([[c]]), sp.Matrix([[kappa]]), sp.Matrix([[1]]))[0, 0]
    S = 1 / (1 + sp.exp(-kappa * x * (y - x)))
    assert sp.simplify(A - (x + c * (x + (y - x) * S))) == 0
    # 2. and the diagonal
    share = sp.symbols("S", positive=True)
    a = (x + c * (x + (y - x) * share)) / (1 + c)
    assert sp.simplify(a - x - c / (1 + c) * (y - x) * share) == 0
    assert sp.simplify((x + c * (x + (y - x) * share)).subs(y, x) - (1 + c) * x) == 0
    # 3. sums of inequalities "left >= 0": each sum has no unknown but e, so it is >= 0 only for e >= 1/4
    e, h, p, q = sp.symbols("e h p q", real=True)
    half = sp.Rational(1, 2)
    contradictions = [
        (h - (1 - e)) + (half + e - h),  # c = 0: output h for f_1 = 1 and 1/2
        (h - (half - e)) + (e - h),  # a(q*) <= phi(0)
        (h - (1 - e)) + (p + e - h) + (half - p),  # a(q*) = phi(p'), p' < 1/2
    ]
    assert all(sp.expand(total - (2 * e - half)) == 0 for total in contradictions)
    assert sp.expand((h - (1 - e)) + (e - h) - (2 * e - 1)) == 0  # c = -1
    assert sp.expand((h - (p - e)) + (q + e - h) - (2 * e - (p - q))) == 0  # equal phi
    assert [target(half, v) for v in (0, half, 1)] == [1, half, 1]
    # the claimed error L (8 sqrt 2 + sqrt 2) / (2 D), L = 1 + sqrt 2, falls below 1/4 for D >= 62
    L = sp.sqrt(5 + 2 * sp.sqrt(2) - 2)  # |[[2, -1], [1, 0]]|_2, see the next test
    assert sp.N(L * 9 * sp.sqrt(2) / (2 * 62)) < 0.25
    # the same with the function that vanishes outside the cube (0, 3)^2, whose constant is below 14
    least = fmpq(*map(int, sp.fraction(sp.solve(2 * e - half, e)[0])))
    grid = [fmpq(i, 4) for i in range(-2, 15)]
    outside = max(abs(cut(u, v)[0]) for u, v in product(grid, repeat=2) if not (0 < u < 3 and 0 < v < 3))
    largest = max(abs(target(u - 1, v - 1)) for u, v in product((fmpq(0), fmpq(3)), repeat=2))  # convex: at a corner
    squared = 2 * ((largest + 2) ** 2 + (largest + 1) ** 2)  # |chi'| <= 1, |f_1|, |d_1 f_1| <= 2, |d_2 f_1| <= 1
    mirrored = max(abs(cut(u, v)[0] - cut(v, u)[1]) for u, v in product(grid, repeat=2))
    claimed = 14 * 9 * arb(2).sqrt() * 3 / (2 * 1070)
    record.hypothesis("f is permutation equivariant: largest deviation", mirrored, "=", 0)
    record.hypothesis("f is supported on the cube, B_x = 3: largest value outside", outside, "=", 0)
    record.hypothesis("f is L-Lipschitz with L = 14: squared norm of its derivative", squared, "<=", 14**2)
    record.violated("error <= L (8 sqrt(dn) + sqrt(n)) B_x/(2D), D = 1070, for some network", least, "<=", claimed)


@counterexample("deep-icgd:lemma-16", grade="exact", supporting=True)
@counterexample("deep-icgd:lemma-18", grade="exact", supporting=True)
@proof_steps("universality.md: 1")
def test_function_is_equivariant_lipschitz_and_may_vanish_outside() -> None:
    """f satisfies the hypotheses, also if "supported on the cube" asks for f = 0 outside of it.

    On z_1 > z_2 the derivative is [[2, -1], [1, 0]], of norm 1 + sqrt 2 (mirrored on the other side; the square is
    convex). With B_x = 3 and chi(t) = clip(min(t, 3 - t), 0, 1), the function chi(z_1) chi(z_2) f(z_1 - 1, z_2 - 1)
    vanishes outside (0, 3)^2, is equivariant and Lipschitz, and equals f, shifted, on [1, 2]^2: since phi is any
    continuous function, the proof applies on [1, 2]^2 unchanged.
    """
    J = sp.Matrix([[2, -1], [1, 0]])
    assert max(sp.Matrix(J.T * J).eigenvals()) == 3 + 2 * sp.sqrt(2)
    assert sp.expand((1 + sp.sqrt(2)) ** 2) == 3 + 2 * sp.sqrt(2)

    grid = [fmpq(i, 4) for i in range(-2, 15)]
    largest = fmpq(0)
    for u, v in product(grid, repeat=2):
        assert cut(v, u) == cut(u, v)[::-1]
        inside = 0 < u < 3 and 0 < v < 3
        assert inside or cut(u, v) == (0, 0)
        if 1 <= u <= 2 and 1 <= v <= 2:
            assert cut(u, v) == (target(u - 1, v - 1), target(v - 1, u - 1))
        for step in ((fmpq(1, 4), fmpq(0)), (fmpq(0), fmpq(1, 4))):
            change = [a - b for a, b in zip(cut(u + step[0], v + step[1]), cut(u, v), strict=True)]
            largest = max(largest, sum((x * x for x in change), fmpq(0)) * 16)
    assert 0 < largest < 100  # difference quotients below 10 on the grid: Lipschitz, not an accident of scale


def edge_crossing_bound(A: NDArray[np.float64], f: NDArray[np.float64]) -> float:
    """A lower bound of sup |F_2(A) - f| over all continuous F_2, from values on a grid.

    A level v between the values of A at the ends of an edge of the grid is taken on that edge, where f lies between its
    values at the ends (f is linear on edges here). So F_2(v) must be within e of all these intervals.
    """
    ends = [(A[:-1], A[1:], f[:-1], f[1:]), (A[:, :-1], A[:, 1:], f[:, :-1], f[:, 1:])]
    a, b, f_a, f_b = (np.concatenate([group[i].ravel() for group in ends]) for i in range(4))
    below, above = np.minimum(a, b), np.maximum(a, b)
    low, high = np.minimum(f_a, f_b), np.maximum(f_a, f_b)
    values = np.unique(np.concatenate([below, above]))
    values = values[:: max(1, len(values) // 500)]
    best = 0.0
    for v in (values[:-1] + values[1:]) / 2:
        crossing = (below < v) & (v < above)
        if crossing.any():
            best = max(best, float(low[crossing].max() - high[crossing].min()) / 2)
    return best


@counterexample("deep-icgd:lemma-16", grade="numeric", supporting=True)
@counterexample("deep-icgd:lemma-18", grade="numeric", supporting=True)
def test_certificate_of_failure_for_single_networks(effort: Any, record_property: Any) -> None:
    """Random phi (smooth, quantising, not monotone), c and kappa: the certificate is at least 1/4, as it has to be.

    A is evaluated in float64; levels lie between its values, and a rounding of 1e-12 can move a level across the end of
    an edge only, which changes a target by the step 1/40 of the grid. The diagonal is part of the grid.
    """
    grid = np.linspace(0, 1, 41)
    z_1, z_2 = np.meshgrid(grid, grid, indexing="ij")
    rng = np.random.default_rng(5)
    smallest = np.inf
    for number in range(effort.pick(quick=45, full=400)):
        phi = random_map(rng, number % 3)
        c, kappa = rng.normal() * 2, rng.normal() * 5
        x, y = phi(z_1), phi(z_2)
        S = 1 / (1 + np.exp(np.clip(-kappa * x * (y - x), -700, 700)))
        bound = edge_crossing_bound(x + c * (x + (y - x) * S), target(z_1, z_2))
        smallest = min(smallest, bound)
    record_property("smallest_certificate", round(smallest, 3))
    assert smallest >= 0.25


@counterexample("deep-icgd:lemma-16", grade="numeric", supporting=True)
def test_certificate_does_not_reject_what_can_be_computed() -> None:
    """Negative control: for f = F_2(A) with F_2 = arctan, monotone, every edge that crosses v allows F_2(v)."""
    grid = np.linspace(0, 1, 41)
    z_1, z_2 = np.meshgrid(grid, grid, indexing="ij")
    rng = np.random.default_rng(6)
    for number in range(9):
        phi = random_map(rng, number % 3)
        x, y = phi(z_1), phi(z_2)
        A = x + rng.normal() * (x + (y - x) / (1 + np.exp(np.clip(-3 * x * (y - x), -700, 700))))
        assert edge_crossing_bound(A, np.arctan(A)) <= 0.0
        assert edge_crossing_bound(A, np.arctan(A) + 0.3 * abs(z_1 - z_2)) > 0.01  # and it does see what is missed


def random_map(rng: np.random.Generator, kind: int) -> Callable[[NDArray[np.float64]], Any]:
    if kind == 0:
        weights, shifts, outputs = rng.normal(size=(3, 8)) * 2
        return lambda z: sum(
            (o * np.maximum(w * z + s, 0) for w, s, o in zip(weights, shifts, outputs, strict=True)), 0 * z
        )
    if kind == 1:
        D, slope = int(rng.integers(2, 9)), float(rng.uniform(20, 80))
        return lambda z: sum(np.clip((z - t / D) * slope, 0, 1) for t in range(D)) / D
    amplitude, frequency, phase = rng.uniform(0.5, 2), rng.uniform(1, 9), rng.uniform(0, 6)
    return lambda z: z + amplitude * np.sin(frequency * z + phase)


# ---- contextual mappings


FAMILY = [(fmpq(1, 4), fmpq(1, 2)), (fmpq(1, 4), fmpq(3, 4)), (fmpq(1, 2), fmpq(3, 4))]


def separates(images: list[tuple[Any, Any]], delta: Any, contexts: bool) -> bool:
    """Definition 13 on FAMILY: printed (tokens differ), or corrected (tokens or token sets differ)."""
    for i, j in product(range(len(FAMILY)), repeat=2):
        for k, l in product(range(2), repeat=2):
            different = FAMILY[i][k] != FAMILY[j][l] or (contexts and set(FAMILY[i]) != set(FAMILY[j]))
            if different and not abs(arb(images[i][k]) - arb(images[j][l])) > delta:
                return False
    return True


def attend(z: tuple[fmpq, fmpq], value: fmpq, score: fmpq) -> tuple[arb, arb]:
    """Single-head softmax attention on scalars with W_O V = value, K^T Q = score, by the layer of the library."""
    query, key, values = (Affine(as_balls([[entry]])) for entry in (score, fmpq(1), value))
    layer = AttentionLayer((Head(query, key, values, causal=False),))
    first, second = layer(as_balls([[t] for t in z])).ravel().tolist()
    return first, second


@counterexample("deep-icgd:definition-13", grade="exact")
def test_identity_is_a_contextual_mapping_as_printed(record: Record) -> None:
    """It satisfies the printed condition on a separated family, and does not tell (a, b) from (a, c) at a."""
    delta = fmpq(1, 5)
    assert separates(FAMILY, delta, contexts=False)
    assert FAMILY[0][0] == FAMILY[1][0]
    assert set(FAMILY[0]) != set(FAMILY[1])
    tokens = {t for z in FAMILY for t in z}
    gaps = [abs(a - b) for a in tokens for b in tokens if a != b]
    record.hypothesis("different tokens have images more than delta apart (q = identity)", min(gaps), ">", delta)
    record.hypothesis("all images are below r = 1", max(tokens), "<", 1)
    different = len(set(FAMILY[0]) ^ set(FAMILY[1]))
    record.hypothesis("(a, b) and (a, c) are two sequences: tokens of one alone", different, ">=", 1)
    apart = abs(FAMILY[0][0] - FAMILY[1][0])
    record.violated("each has an id of its own: at a they are more than delta apart", apart, ">", delta)


@check(
    "deep-icgd:definition-13",
    grade="enclosed",
    target="corrected",
    cases="one family of three sequences of two numbers, W_O V = 1/20, K^T Q = 3, delta = 1/1000",
)
def test_corrected_condition_rejects_the_identity_and_accepts_attention() -> None:
    """The corrected definition is what lemma 16 needs: it excludes the identity, and softmax attention can meet it."""
    assert not separates(FAMILY, fmpq(1, 10**6), contexts=True)
    images = [attend(z, fmpq(1, 20), fmpq(3)) for z in FAMILY]
    assert separates(images, fmpq(1, 1000), contexts=True)
    assert separates(images, fmpq(1, 1000), contexts=False)


@check("deep-icgd:lemma-17", grade="enclosed", target="printed", supporting=True)
def test_attention_separates_one_family_by_more_than_claimed(record_property: Any) -> None:
    """One family, d = 1, n = 2, |V| = 3, rank-1 weights: separation far above the claimed delta, |q| < r_max + eps/4.

    r_min = 1/5, r_max = 1, eps = 1/5; the exponent of delta is evaluated in balls, as delta underflows float64.
    """
    r_min, r_max, eps, size = fmpq(1, 5), fmpq(1), fmpq(1, 5), 3
    images = [attend(z, fmpq(1, 20), fmpq(3)) for z in FAMILY]
    log_n = arb(2).log()
    common = arb(size + 1) ** 4 * (2 * log_n + 3) * arb.pi()
    log_delta = (2 * log_n**2 * eps**2 * r_min / (r_max**2 * common)).log() - common * r_max**2 / (4 * eps * r_min)
    record_property("log_of_claimed_delta", round(float(log_delta), 1))
    assert separates(images, fmpq(1, 1000), contexts=True)
    assert log_delta < arb(fmpq(1, 1000)).log()
    assert all(abs(value) < arb(r_max + eps / 4) for image in images for value in image)


# ---- the explicit softmax step


def hard_tanh(t: fmpq) -> fmpq:
    return max(fmpq(-1), min(fmpq(1), t))


def bump(t: fmpq) -> fmpq:
    return max(fmpq(0), 1 - abs(t) / 2)


def rational_block(widths: tuple[int, ...], pieces: int = 3) -> SoftmaxDescentBlock:
    clipped = piecewise_linear([-2, -1, 1, 2], [-1, -1, 1, 1])
    hat = piecewise_linear([-3, -2, 0, 2, 3], [0, 0, 1, 0, 0])
    u = squared_loss_derivative()
    return softmax_descent_block(widths, 2, 20, clipped, hat, u, (-1, 1), 1, 1, pieces)


def uniform(block: SoftmaxDescentBlock) -> SoftmaxDescentBlock:
    """The block with the hard maximum, ties averaged: on equal scores the same as the softmax, but rational."""
    attention = block.layers[-2]
    assert isinstance(attention, AttentionLayer)
    assert all(not head.query.count and not head.key.count for head in attention.heads)
    heads = tuple(replace(head, weigh="hardmax") for head in attention.heads)
    return replace(block, layers=(*block.layers[:-2], AttentionLayer(heads), block.layers[-1]))


def knot_distances(block: SoftmaxDescentBlock) -> list[fmpq]:
    """h of every product layer: the first unit of a product has coefficient times slope h/4."""
    layers = [layer for layer in block.layers if isinstance(layer, StoredFeedForward) and layer.source.shape[1] == 3]
    return [4 * layer.coefficients[0] * layer.weights[0, 0] for layer in layers]


def multiply(x: fmpq, y: fmpq, h: fmpq) -> fmpq:
    """(S(x+y) - S(x-y)) / 4, S the chord of z^2 on each [i h, (i+1) h]."""

    def S(z: fmpq) -> fmpq:
        a = abs(z)
        low = h * (a / h).floor()
        return low * low + (2 * low + h) * (a - low)

    return (S(x + y) - S(x - y)) / 4


def substituted_step(
    widths: tuple[int, ...], h: list[fmpq], w: list[fmpq], x: Matrix, y: Matrix
) -> tuple[list[fmpq], int]:
    """One step of back-propagation with approximate products and clipped functions; how many weights are projected."""
    V, start = [], 0
    for a, b in pairwise(widths):
        V.append([w[start + a * k : start + a * (k + 1)] for k in range(b)])
        start += a * b
    N, gradient = len(V), [fmpq(0)] * len(w)
    for example, label in zip(x, y, strict=True):
        steps = iter(h)
        p, z = [example], []
        for W in V:
            d = next(steps)
            z.append([sum((multiply(v, t, d) for v, t in zip(row, p[-1], strict=True)), fmpq(0)) for row in W])
            p.append([hard_tanh(t) for t in z[-1]])
        back = [t - v for t, v in zip(p[-1], label, strict=True)]
        s: list[list[fmpq]] = [[] for _ in V]
        for j in range(N - 1, -1, -1):
            d = next(steps)
            s[j] = [multiply(bump(t), v, d) for t, v in zip(z[j], back, strict=True)]
            if j > 0:
                d = next(steps)
                back = [
                    sum((multiply(V[j][k][b], s[j][k], d) for k in range(len(V[j]))), fmpq(0)) for b in range(widths[j])
                ]
        d = next(steps)
        outer = [multiply(s_k, t, d) for j in range(N) for s_k in s[j] for t in p[j]]
        gradient = [g + o for g, o in zip(gradient, outer, strict=True)]
    moved = [v - 20 * g / (2 * len(x)) for v, g in zip(w, gradient, strict=True)]
    return [max(fmpq(-1), min(fmpq(1), v)) for v in moved], sum(abs(v) > 1 for v in moved)


@check(
    "deep-icgd:construction-softmax-explicit",
    grade="sampled",
    target="printed",
    cases="widths (2,1), (2,3,1), (1,2,2), (2,2,2,1), n = 2, 3 pieces, one draw each of start and data, two steps",
)
@pytest.mark.parametrize("widths", [(2, 1), (2, 3, 1), (1, 2, 2), (2, 2, 2, 1)])
def test_block_is_back_propagation_with_approximate_products(widths: tuple[int, ...]) -> None:
    """Every token, every slot, two steps, over Q, with the projection active; N = 1, 2, 3 and d_x != d_y.

    The scores are all 0, so the softmax weights are 1/(n+1) exactly (exp(0) = 1 in each place); over Q the maximum that
    averages ties gives the same. The test token's gradient slot is exactly 0 before the attention.
    """
    rng = np.random.default_rng(len(widths))
    block = rational_block(widths)
    exact, h = uniform(block), knot_distances(block)
    assert len(block.layers) == 4 * (len(widths) - 1) + 3
    w = [fmpq(int(v), 8) for v in rng.choice([-8, -7, -5, 5, 7, 8], block.lower.size)]
    x, y = ([[fmpq(int(v), 4) for v in row] for row in rng.integers(-4, 5, (rows, k))] for rows, k in _shapes(widths))
    z = block.prompt(np.array(x, dtype=object), np.array(y, dtype=object), np.array(w, dtype=object))
    expected, clipped = w, 0
    for _ in range(2):
        stages = list(exact.stages(z))
        scratch = stages[-3][-1]  # the test token after the outer products
        assert all(v == 0 for j in range(1, len(widths)) for v in scratch[block.layout.stream[f"G{j}"]])
        before, z = expected, stages[-1]
        expected, projected = substituted_step(widths, h, before, x[:-1], y)
        assert expected != before
        clipped += projected
        prompt = block.layout.encode(
            np.array(x, dtype=object), np.array(y, dtype=object), np.array(expected, dtype=object)
        )
        assert (z == prompt).all()
    assert clipped > 0


def _shapes(widths: tuple[int, ...]) -> tuple[tuple[int, int], tuple[int, int]]:
    return (3, widths[0]), (2, widths[-1])


@check("deep-icgd:construction-softmax-explicit", grade="numeric", target="printed", supporting=True)
@pytest.mark.parametrize("widths", [(2, 3, 2), (2, 2, 2, 1)])
def test_gradient_error_falls_with_the_square_of_the_pieces(
    widths: tuple[int, ...], effort: Any, record_property: Any
) -> None:
    """tanh, squared loss: errors against autograd for m = 8, 16, 32 (full: to 256), averaged over starts.

    Every sum of ReLUs and product in the block has an error of order m^-2; single errors depend on where arguments fall
    between knots, so only a slope below -1.5 is asked of the mean.
    """
    rng = np.random.default_rng(1)
    count = sum(a * b for a, b in pairwise(widths))
    cases = [
        (rng.uniform(-0.8, 0.8, count), rng.uniform(-1, 1, (5, widths[0])), rng.uniform(-1, 1, (4, widths[-1])))
        for _ in range(effort.pick(quick=6, full=30))
    ]
    pieces = effort.pick(quick=(8, 16, 32), full=(8, 16, 32, 64, 128, 256))
    errors = []
    for m in pieces:
        r, slope = (interpolant(g, 5, m) for g in (functions.tanh, functions.tanh.derivative()))
        u = squared_loss_derivative()
        block = softmax_descent_block(widths, 4, "1/10", r, slope, u, (-1, 1), 1, 1, m).to_float()
        found = []
        for w, x, y in cases:
            after = block.weights(block(block.prompt(x, y, w)))
            assert np.all(np.abs(after) < 1)
            truth = autograd(widths, w, x[:-1], y)
            assert np.linalg.norm(truth) > 1e-3
            found.append(np.linalg.norm((w - after) / 0.1 - truth))
        errors.append(float(np.mean(found)))
    fit = np.polyfit(np.log(pieces), np.log(errors), 1)[0]
    record_property("slope", round(float(fit), 2))
    record_property("error_at_largest_m", f"{errors[-1]:.1e}")
    assert fit < -1.5


@check("deep-icgd:construction-softmax-explicit", grade="numeric", target="printed", supporting=True)
def test_training_by_the_softmax_block_follows_projected_descent(record_property: Any) -> None:
    """12 steps of size 2 in the box [-1/2, 1/2] with active projection, beside autograd and clipping."""
    widths, eta, rng = (2, 3, 1), 2.0, np.random.default_rng(2)
    w = rng.uniform(-0.5, 0.5, 9)
    x, y = rng.uniform(-1, 1, (5, 2)), rng.choice([-1.0, 1.0], (4, 1))
    r, slope = (interpolant(g, 3, 64) for g in (functions.tanh, functions.tanh.derivative()))
    box = ("-1/2", "1/2")
    block = softmax_descent_block(widths, 4, 2, r, slope, squared_loss_derivative(), box, 1, 1, 64).to_float()
    found = block.trajectory(block.prompt(x, y, w), 12)
    truth = [w]
    for _ in range(12):
        truth.append(np.clip(truth[-1] - eta * autograd(widths, truth[-1], x[:-1], y), -0.5, 0.5))
    distance = max(float(np.linalg.norm(a - b)) for a, b in zip(found, truth, strict=True))
    moved = float(np.linalg.norm(truth[-1] - w))
    record_property("largest_distance", f"{distance:.1e}")
    record_property("moved", round(moved, 2))
    assert (np.abs(truth[-1]) == 0.5).any()
    assert distance < moved / 50


def autograd(widths: tuple[int, ...], w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    weights, start = torch.tensor(w, requires_grad=True), 0
    p = torch.tensor(x)
    for a, b in pairwise(widths):
        p = torch.tanh(p @ weights[start : start + a * b].reshape(b, a).T)
        start += a * b
    loss = ((p - torch.tensor(y)) ** 2).sum() / (4 * len(x))
    return torch.autograd.grad(loss, weights)[0].numpy()
