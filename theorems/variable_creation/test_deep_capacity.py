"""How many Transformers of several layers there are (4.4.3, 4.11, A.17): bounds with constants, and families.

Truth comes from heads of signs (`lemmata.certificates.capacity.shattering.SignFamily`) inside blocks with projections:
all patterns of signs on m contexts, so that log N >= m log 2. The proofs are in proofs/deep_capacity.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.capacity.blocks import AttentionBlock
from lemmata.certificates.capacity.norms import frobenius_norm, layer_norms, pq_norm, spectral_norm
from lemmata.certificates.capacity.shattering import SignFamily, largest_sign_family
from lemmata.constructions.networks.head import merged_head
from lemmata.constructions.networks.projection import BallProjection
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.attention_lipschitz import largest_row_norm
from lemmata.numerics.learning.deep_capacity import (
    LayerNorms,
    amplifications,
    contracted_amplifications,
    deep_capacity,
    layer_amplification,
    printed_deep_capacity,
    printed_short_deep_capacity,
    short_deep_capacity,
)
from lemmata.numerics.learning.linear_capacity import perceptron_steps, row_radii
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record
from lemmata.theorems.variable_creation.codes import covered_matrix, covered_row
from lemmata.theorems.variable_creation.written_out import map_factor, near

NAMES = ("value_columns", "value", "score_rows", "score", "output_columns", "output")
LN2 = math.log(2)


def fractions(rng: np.random.Generator, count: int, most: int = 12) -> list[fmpq]:
    return [fmpq(int(x), int(y)) for x, y in rng.integers(1, most, (count, 2))]


def fill(matrix: np.ndarray, entries: Mapping[tuple[int, int], Any]) -> np.ndarray:
    result = np.full(matrix.shape, fmpq(0), dtype=object)
    for place, entry in entries.items():
        result[place] = entry
    return result


# ---- definition 4.4.3


def row_norm(row: Sequence[arb]) -> arb:
    return sum((x**2 for x in row), start=arb(0)).sqrt()


def project(row: Sequence[arb]) -> list[arb]:
    """u/max(1, ||u||)."""
    size = row_norm(row).max(arb(1))
    return [x / size for x in row]


def block_by_definition(X: np.ndarray, parts: Mapping[str, np.ndarray]) -> list[list[arb]]:
    """Pi(sigma(Pi(RowSoftmax(X W_Q (X W_K)^T) X W_V)) W_C) with sigma = ReLU, entry by entry."""
    queries, keys, values = (X @ as_balls(parts[name]) for name in ("query", "key", "value"))
    result = []
    for q in queries:
        weights = [sum((a * b for a, b in zip(q, k, strict=True)), start=arb(0)).exp() for k in keys]
        mixed = [
            sum((w * v[j] for w, v in zip(weights, values, strict=True)), start=arb(0)) / sum(weights, start=arb(0))
            for j in range(values.shape[1])
        ]
        hidden = [x.max(arb(0)) for x in project(mixed)]
        W_C = as_balls(parts["mixing"])
        result.append(
            project([sum((h * W_C[i, j] for i, h in enumerate(hidden)), start=arb(0)) for j in range(W_C.shape[1])])
        )
    return result


@check(
    "variable-creation:definition-4.4.3",
    grade="sampled",
    target="corrected",
    cases="16 random rational networks (seeds 0, ..., 15) of 1 to 3 blocks with d = 3, k = 1, 2, T = 1, 2, 3 and ReLU",
)
@proof_steps("deep_capacity.md: 1")
@pytest.mark.parametrize("seed", range(16))
def test_blocks_are_the_definition_and_keep_tokens_in_the_ball(seed):
    """g^(i+1) by its definition, g^(1) = X outside of the ball, all rows of g^(i), i > 1, inside; six norms a layer."""
    rng = np.random.default_rng(seed)
    T, k, depth = 1 + seed % 3, 1 + seed % 2, 1 + seed % 3
    X = as_exact(rng.integers(-9, 10, (T, 3))) / 2
    with precision(128):
        found = expected = as_balls(X)
        for _ in range(depth):
            shapes = {"query": (3, k), "key": (3, k), "value": (3, 2), "mixing": (2, 3)}
            parts = {name: as_exact(rng.integers(-9, 10, shape)) / 4 for name, shape in shapes.items()}
            found = AttentionBlock(**parts)(found)
            expected = np.array(block_by_definition(expected, parts), dtype=object)
            assert all(near(x, y) for x, y in zip(found.ravel(), expected.ravel(), strict=True))
            assert all(row_norm(row) <= 1 + arb(2) ** -90 for row in found)
            W_KQ = parts["key"] @ parts["query"].T
            norms = layer_norms(parts["value"], W_KQ.T, parts["mixing"])
            sums = [sum((arb(c @ c).sqrt() for c in parts[name].T), start=arb(0)) for name in ("value", "mixing")]
            assert near(norms.value_columns, sums[0])
            assert near(norms.output_columns, sums[1])
            assert norms.score <= norms.score_rows + arb(2) ** -60
            for found_norm, matrix in (
                (norms.value, parts["value"]),
                (norms.score, W_KQ),
                (norms.output, parts["mixing"]),
            ):
                assert float(found_norm.mid()) == pytest.approx(np.linalg.norm(to_float(matrix), 2), rel=1e-6)
            assert near(norms.score_rows, frobenius_norm(W_KQ).min(pq_norm(W_KQ, 2, 1)))
        inside = as_exact([[3, 4], [0, 1], [-2, 2]]) / 5
        projected = BallProjection(2)(as_balls(inside))
        assert all(near(x, arb(y)) for x, y in zip(projected.ravel(), inside.ravel(), strict=True))


def sign_block(family: SignFamily, labels: Sequence[int], mixing: Any = 1) -> AttentionBlock:
    """The head of signs with one key dimension: W_Q = R e_d, W_K = (y, 0, 0), W_V and W_C of one entry."""
    d = family.width
    column, square = np.zeros((d, 1)), np.zeros((d, d))
    return AttentionBlock(
        fill(column, {(d - 1, 0): family.key_scale}),
        fill(column, {(i, 0): fmpq(y) for i, y in enumerate(labels)}),
        fill(square, {(d - 2, 0): family.value_norm}),
        fill(square, {(0, 0): mixing}),
        "identity",
    )


def sign_outputs(family: SignFamily, labels: Sequence[int], mixing: Any = 1) -> list[arb]:
    """What w = e_1 reads of the attending token behind one block, for every context."""
    block = sign_block(family, labels, mixing)
    return [block(family.sequence(i))[2, 0] for i in range(1, family.points + 1)]


@counterexample("variable-creation:definition-4.4.3", "variable-creation:theorem-A.17", grade="enclosed")
@proof_steps("deep_capacity.md: 2")
def test_the_printed_constraint_on_keys_and_queries_bounds_nothing(record: Record):
    """k = 1, W_Q = R e_d, W_K = (y, 0, 0): W_K^T W_Q = 0 for every R, yet all signs are realised on m contexts.

    With L = 1 nothing in the printed bound depends on R: it is of the order log(d m T), and truth is m log 2.
    """
    for R in (4, 40):
        family = SignFamily(4, R)
        for labels in product((1, -1), repeat=4):
            block = sign_block(family, labels)
            assert np.all(block.key.T @ block.query == 0)
            assert frobenius_norm(block.key @ block.query.T).contains(2 * R)
            assert all(y * x > fmpq(1, 2) for y, x in zip(labels, sign_outputs(family, labels), strict=True))
    assert the_printed_form_is_as_written()
    found = []
    for k in range(1, 30):
        m = 4**k
        layer = LayerNorms(1, 1, 0, 4 * 2**k, 1, 1)  # ||W_K^T W_Q||_(2,1) = 0
        printed = printed_deep_capacity([layer], readout=1, samples=m, length=3, width=m + 2, key_width=1)
        assert printed.constant < 10**3 * (k + 1)
        found.append(m * arb(2).log() / printed.bound(fmpq(1, 2)))
    assert all(later >= 2 * earlier for earlier, later in pairwise(found[1:]))
    assert found[-1] > 10**9
    block = sign_block(SignFamily(4, 40), (1, 1, -1, 1))
    of = "variable-creation:definition-4.4.3"
    record.hypothesis("||W_K^T W_Q||_(2,1) <= C_(2,1) = 1", pq_norm(block.key.T @ block.query, 2, 1), "<=", 1, of=of)
    scores = pq_norm(block.key @ block.query.T, 2, 1)
    record.violated("it bounds the scores: ||W_K W_Q^T||_(2,1) <= C_(2,1)", scores, "<=", 1, of=of)


# ---- theorem A.17


def drawn_layers(rng: np.random.Generator, depth: int) -> list[LayerNorms]:
    return [LayerNorms(**dict(zip(NAMES, fractions(rng, 6), strict=True))) for _ in range(depth)]


@check(
    "variable-creation:theorem-A.17",
    grade="sampled",
    target="corrected",
    cases="24 random tuples (seeds 0, ..., 23) of norms of 1 to 4 layers and all other numbers; 20 other divisions",
)
@proof_steps("deep_capacity.md: 4, 7")
@pytest.mark.parametrize("seed", range(24))
def test_the_deep_bound_is_the_best_division_along_the_recursion(seed):
    """Radii that make the recursion of errors end at eps exactly, with the log-sizes of all covers adding up to it.

    e_(i+1) = L C V (1 + 2 c Q) e_i + x_C + c L C V r_i x_QK + L C x_V, e_1 = 0, and B_w e_(D+1) + x_w = eps. Other
    divisions cost more. For some seeds Q + sqrt(1 + Q^2), of lemma A.14, stands for 1 + 2 c Q. For c = 1 the form with
    one logarithm holds with the constant 20.
    """
    rng = np.random.default_rng(seed)
    depth, c, sharp = 1 + seed % 4, 1 + seed % 2, seed % 6 == 2
    B_w, B_X, L, eps = fractions(rng, 4)
    m, T, d, k = (int(x) for x in rng.integers(1, 50, 4))
    with precision(128):
        layers = drawn_layers(rng, depth)
        found = deep_capacity(
            layers,
            readout=B_w,
            tokens=B_X,
            samples=m,
            length=T,
            width=d,
            key_width=k,
            lipschitz=L,
            softmax=c,
            sharp=sharp,
        )
        one, seen = layers[-1], arb(1)
        for bound in (L * one.output, L * one.output_columns):
            seen = seen.min(bound)
        costs = {"read-out": (B_w * seen) ** 2 * arb(2 * m + 1).log()}
        for i, one in enumerate(layers, start=1):
            r = B_X if i == 1 else fmpq(1)
            costs[f"layer {i}: output"] = (2 * L * one.output_columns) ** 2 * map_factor(d, m * T)
            costs[f"layer {i}: scores"] = (2 * one.score_rows * r**2) ** 2 * arb(2 * m * T**2 + 1).log()
            costs[f"layer {i}: values"] = (2 * one.value_columns * r) ** 2 * map_factor(k, m * T)

        def end(radii: Mapping[str, Any]) -> arb:
            error = arb(0)
            for i, one in enumerate(layers, start=1):
                scale = L * one.output * one.value
                r = B_X if i == 1 else fmpq(1)
                slope = one.score + (1 + one.score**2).sqrt() if sharp else 1 + 2 * c * one.score
                error = scale * slope * error + radii[f"layer {i}: output"]
                error += c * scale * r * radii[f"layer {i}: scores"] + L * one.output * radii[f"layer {i}: values"]
            return B_w * error + radii["read-out"]

        radii = found.radii(eps)
        assert set(radii) == set(costs)
        assert near(end(radii), arb(eps))
        assert near(sum((cost / radii[name] ** 2 for name, cost in costs.items()), arb(0)), found.bound(eps))  # type: ignore[operator]
        if c == 1:
            alphas = amplifications(layers, lipschitz=L, sharp=sharp)
            bracket = arb(1)
            for i, (one, alpha) in enumerate(zip(layers, alphas, strict=True), start=1):
                r = B_X if i == 1 else fmpq(1)
                scores = L * one.output * one.value * one.score_rows * r**3
                for term in (L * one.output_columns, scores, L * one.output * one.value_columns * r):
                    bracket += ((alpha * term) ** 2).root(3)
            largest = arb(max(d, k) + 1) * (2 * m * T**2 + 1)
            assert found.constant <= 20 * B_w**2 * bracket**3 * largest.log()
        for _ in range(20):
            other = {name: arb(x) for name, x in zip(costs, fractions(rng, len(costs), 30), strict=True)}
            factor = eps / end(other)
            cost = sum((cost / (factor * other[name]) ** 2 for name, cost in costs.items()), arb(0))
            assert found.bound(eps) <= cost


BASE: dict[str, Any] = {"readout": fmpq(2), "tokens": fmpq(3), "lipschitz": fmpq(1, 2), "eps": fmpq(1, 3)}
SIZES = {"samples": 10, "length": 4, "width": 6}
LAYERS = ((3, 2, 5, 4, 2, 1), (7, 3, 2, 1, 5, 4), (2, 1, 9, 8, 6, 3))


def with_layers(at: Mapping[str, Any], changes: Mapping[int, Mapping[str, Any]], function: Any, **more: Any) -> arb:
    """The bound of three layers, with norms multiplied."""
    layers = [LayerNorms(*numbers) for numbers in LAYERS]
    for place, factors in changes.items():
        one = layers[place]
        layers[place] = replace(one, **{name: getattr(one, name) * factor for name, factor in factors.items()})
    given = {name: value for name, value in at.items() if name != "eps"}
    return function(layers, **given, **SIZES, **more).bound(at["eps"])


def deep_symmetries(c: fmpq) -> dict[str, tuple[dict[str, Any], dict[int, dict[str, Any]]]]:
    """Changes of numbers and of layers that leave the class as it is."""
    outputs = {"output": 1 / c, "output_columns": 1 / c}
    return {
        "the read-out against eps": ({"readout": c, "eps": c}, {}),
        "the activation against the outputs": ({"lipschitz": c}, dict.fromkeys(range(3), outputs)),
        "tokens against the first layer": (
            {"tokens": c},
            {0: {"value": 1 / c, "value_columns": 1 / c, "score": 1 / c**2, "score_rows": 1 / c**2}},
        ),
    }


@check(
    "variable-creation:theorem-A.17",
    grade="enclosed",
    target="corrected",
    cases="three layers, three scalings that leave the class as it is, by c = 3 and c = 1/5",
)
@proof_steps("deep_capacity.md: 8")
@pytest.mark.parametrize("case", deep_symmetries(fmpq(3)))
def test_the_corrected_deep_bound_has_the_symmetries_of_the_class(case):
    with precision(128):
        for c in (fmpq(3), fmpq(1, 5)):
            numbers, layers = deep_symmetries(c)[case]
            moved = {name: value * numbers.get(name, 1) for name, value in BASE.items()}
            assert near(with_layers(moved, layers, deep_capacity), with_layers(BASE, {}, deep_capacity))


@check("variable-creation:theorem-A.17", grade="enclosed", target="corrected", supporting=True)
@proof_steps("deep_capacity.md: 8")
@pytest.mark.parametrize("case", deep_symmetries(fmpq(3)))
def test_the_printed_deep_bound_lacks_the_symmetries(case):
    """Scaling w and eps, or sigma and W_C, or X and the first layer, changes the printed bound of the same class."""
    numbers, layers = deep_symmetries(fmpq(3))[case]
    printed = {name: value for name, value in BASE.items() if name != "tokens"}
    moved = {name: value * numbers.get(name, 1) for name, value in printed.items()}
    with precision(128):
        before = with_layers(printed, {}, printed_deep_capacity)
        assert not near(with_layers(moved, layers, printed_deep_capacity), before)


def deep_truth(at: Mapping[str, Any]) -> int:
    """The signs that one layer realises at eps: outputs B_w C L V B_X h(s), h(s) >= s/3, s = 3 eps/(B_w C L V B_X)."""
    outer = at["readout"] * at["lipschitz"] * at["output"]
    assert at["value"] * at["tokens"] <= 1
    assert at["lipschitz"] * at["output"] <= 1
    share = at["eps"] / (outer * at["value"] * at["tokens"])
    family = largest_sign_family(at["scores"] ** 2, at["tokens"], score=3 * share, value_norm=at["value"])
    assert arb(outer) * family.margin > at["eps"]
    return family.points


def one_layer(at: Mapping[str, Any], m: int) -> arb:
    layer = LayerNorms(at["value"], at["value"], at["scores"], at["scores"], at["output"], at["output"])
    given = {name: at[name] for name in ("readout", "tokens", "lipschitz")}
    return deep_capacity([layer], samples=m, length=3, width=m + 2, **given).bound(at["eps"])


LEADING = {
    "readout": fmpq(2), "tokens": fmpq(3), "lipschitz": fmpq(1, 64), "output": fmpq(1, 64), "value": fmpq(1, 400),
    "scores": fmpq(2) ** 45, "eps": fmpq(1, 10**7),
}  # fmt: skip
SLOPES = {"readout": 2, "tokens": 6, "lipschitz": 2, "output": 2, "value": 2, "scores": 2, "eps": -2}
FACTORS = {"readout": 64, "tokens": 16, "lipschitz": 16, "output": 16, "value": 8, "scores": 64, "eps": fmpq(1, 16)}


@check(
    "variable-creation:theorem-A.17",
    "variable-creation:theorem-4.11",
    grade="numeric",
    target="corrected",
    cases="one layer where scores lead, every argument (B_w, B_X, L, ||W_C||, ||W_V||, ||W_QK||, eps) scaled",
)
@proof_steps("deep_capacity.md: 9, 14")
@pytest.mark.parametrize("name", SLOPES)
def test_every_argument_of_the_deep_bound_has_the_exponent_of_the_family(name):
    """Truth below the bounds before and after; the powers of bound and truth agree, in 4.11 for B_X, B_w, Q and eps."""
    after = LEADING | {name: LEADING[name] * FACTORS[name]}
    m = deep_truth(after)
    before = deep_truth(LEADING)
    scale = arb(FACTORS[name]).log()
    with precision(128):
        bounds = [one_layer(at, m) for at in (LEADING, after)]
        assert before * LN2 <= bounds[0]
        assert m * LN2 <= bounds[1]
        assert float(((arb(m) / before).log() / scale).mid()) == pytest.approx(SLOPES[name], abs=1e-2)
        assert float(((bounds[1] / bounds[0]).log() / scale).mid()) == pytest.approx(SLOPES[name], abs=2e-2)
        if name in ("readout", "tokens", "scores", "eps"):
            shorts = []
            for at in (LEADING, after):
                given = {key: at[key] for key in ("readout", "tokens", "lipschitz")}
                short = short_deep_capacity(
                    1, spectral=2**60, columns=at["scores"], samples=m, length=3, width=m, **given
                )
                shorts.append(short.bound(at["eps"]))
            assert float(((shorts[1] / shorts[0]).log() / scale).mid()) == pytest.approx(SLOPES[name], abs=1e-9)


@check(
    "variable-creation:theorem-A.17",
    grade="sampled",
    target="corrected",
    cases="6 random networks of 1 and 2 blocks (seeds 0, ..., 5), d = k = 2, m = 3, T = 2, sigma = identity and ReLU, "
    "eps = B_w/2; one block with larger weights and W_QK above the diagonal (seed 4), eps = B_w/5",
)
@proof_steps("deep_capacity.md: 5, 6")
@pytest.mark.parametrize(("seed", "part"), [*((seed, 2) for seed in range(6)), (4, 5)])
def test_networks_are_rebuilt_from_their_codes(seed, part):
    """Layer by layer, each matrix covered on the outputs of the rebuilt layers: error <= eps, length <= the bound.

    The network of the smaller eps is farther than eps from that with W_QK transposed.
    """
    by_hand = covered_row(np.array([0.75, 0.495]), 9.0, 2 * np.eye(2), 2.0, 1.0)  # errors 1.5 > eps and 0.99
    assert (by_hand[0].tolist(), by_hand[1]) == ([0.5, 0.0], 1)  # one step of length eps/R
    rng = np.random.default_rng(seed)
    depth, d, m, T = 1 + seed % 2, 2, 3, 2
    X = rng.normal(size=(m, T, d)) * 0.6
    B_X = float(np.linalg.norm(X, axis=-1).max())
    w = rng.normal(size=d)
    B_w = float(np.linalg.norm(w))
    activation = (lambda u: u) if seed % 3 else (lambda u: np.maximum(u, 0))
    sizes = {"Q": 0.3, "V": 0.4, "C": 0.4} if part == 2 else {"Q": 2.0, "V": 0.8, "C": 0.8}
    matrices = [{name: rng.normal(size=(d, d)) * size for name, size in sizes.items()} for _ in range(depth)]
    if part > 2:
        matrices = [one | {"Q": np.triu(one["Q"], 1)} for one in matrices]
    layers = [layer_norms(one["V"], one["Q"], one["C"]) for one in matrices]
    capacity = deep_capacity(layers, readout=B_w, tokens=B_X, samples=m, length=T, width=d)
    eps = B_w / part
    radii = {name: float(x.mid()) for name, x in capacity.radii(eps).items() if x is not None}

    def ball(Z: np.ndarray) -> np.ndarray:
        return Z / np.maximum(1, np.linalg.norm(Z, axis=-1, keepdims=True))

    def hidden(Z: np.ndarray, Q: np.ndarray, V: np.ndarray) -> np.ndarray:
        return activation(ball(merged_head(Q, V, causal=False)(Z)))

    def rebuilt_map(W: np.ndarray, points: np.ndarray, radius: float, half: float) -> tuple[np.ndarray, float]:
        columns = float(np.linalg.norm(W, axis=0).sum())
        first, second = (float(x.mid()) for x in row_radii(columns, radius, half, m * T, d))
        picks = perceptron_steps(columns, 1, first) + 1
        found, steps = covered_matrix(W.T, points.reshape(-1, d), radius, first, second, picks)
        return found.T, steps * math.log(2 * m * T + 1) + picks * math.log(d + 1)

    if part > 2:
        (one,) = matrices
        first, turned = (ball(hidden(X, Q, one["V"]) @ one["C"])[:, 0] @ w for Q in (one["Q"], one["Q"].T))
        assert abs(first - turned).max() > 1.5 * eps
    g, other, length = X, X, 0.0
    for i, (one, norms) in enumerate(zip(matrices, layers, strict=True), start=1):
        r = B_X if i == 1 else 1.0
        features = np.einsum("msi,mtj->mstij", other, other).reshape(-1, d * d)
        Q = float(norms.score_rows.mid())
        scores, steps = covered_row(one["Q"].ravel(), Q, features, r**2, radii[f"layer {i}: scores"])
        values, bits = rebuilt_map(one["V"], other, r, radii[f"layer {i}: values"] / 2)
        inner = hidden(other, scores.reshape(d, d), values)
        outputs, more = rebuilt_map(one["C"], inner, 1.0, radii[f"layer {i}: output"] / 2)
        g, other = ball(hidden(g, one["Q"], one["V"]) @ one["C"]), ball(inner @ outputs)
        length += steps * math.log(2 * m * T**2 + 1) + bits + more
    readout, steps = covered_row(w, B_w, other[:, 0], 1.0, radii["read-out"])
    assert abs(g[:, 0] @ w - other[:, 0] @ readout).max() <= eps * (1 + 1e-9)
    assert length + steps * math.log(2 * m + 1) <= float(capacity.bound(eps).mid())


def printed_by_hand(layers: Sequence[LayerNorms], B_w: int, L: int, m: int, T: int, d: int, k: int) -> arb:
    """Theorem A.17 as it is printed, term by term."""

    def power(x: Any) -> arb:
        return arb(x) ** (arb(2) / 3)

    total, alpha = power(B_w), arb(1)
    for one in layers:
        terms = power(one.output_columns) + power(d) * power(2 * L * one.output * one.value * one.score_rows)
        total += power(alpha) * (terms + power(k) * power(L * one.output * one.value_columns))
        alpha *= L * one.output * one.value * (1 + 4 * one.score)
    return total**3 * arb(d * m * T).log()


def the_printed_form_is_as_written() -> bool:
    """Whether the printed bound is what the document prints, for two layers of different norms."""
    with precision(128):
        layers = [LayerNorms(3, 2, 5, 4, 7, 6), LayerNorms(11, 9, 8, 13, 10, 12)]
        expected = printed_by_hand(layers, 17, 3, 10, 4, 6, 5)
        found = printed_deep_capacity(layers, readout=17, lipschitz=3, samples=10, length=4, width=6, key_width=5)
        return near(found.constant, expected)


def shattering_layer(m: int, B_X: Any = 1) -> LayerNorms:
    """The norms of the block of signs with outputs above 1/2, for m = 4^k: Q = 4 sqrt(m)/B_X^2, V = 1/B_X, C = 1."""
    family = SignFamily(m, fmpq(4) / fmpq(B_X) ** 2, B_X, 1 / fmpq(B_X))
    assert family.margin > fmpq(1, 2)
    Q = family.key_scale * math.isqrt(m)
    assert family.squared_key_norm == Q**2
    return LayerNorms(family.value_norm, family.value_norm, Q, Q, 1, 1)


def record_norms(record: Record, family: SignFamily, layer: LayerNorms) -> None:
    """The printed constraints on one block of signs: W_K W_Q^T has one column, and W_V and W_C one entry each.

    The sizes that are not those of the family are taken from its block on 4 contexts, with the same R, B_X and V.
    """
    block = sign_block(replace(family, points=4), (1, -1, 1, 1))
    record.hypothesis("||W_K W_Q^T||^2 <= B_QK^2, spectral and (2,1)", family.squared_key_norm, "<=", layer.score**2)
    keys = pq_norm(block.key.T @ block.query, 2, 1)
    record.hypothesis("||W_K^T W_Q||_(2,1) <= B_QK^(2,1), as printed", keys, "<=", layer.score_rows)
    record.hypothesis("||W_V||_2 <= ||W_V||_(2,1) <= B_V^(2,1) = B_V", family.value_norm, "<=", layer.value_columns)
    outputs = pq_norm(block.mixing, 2, 1)
    record.hypothesis("||W_C||_2 <= ||W_C||_(2,1) <= B_C^(2,1) = B_C", outputs, "<=", layer.output_columns)


@counterexample("variable-creation:theorem-A.17", grade="enclosed")
@proof_steps("deep_capacity.md: 10")
def test_the_readout_belongs_beside_the_whole_bracket(record: Record):
    """eps = B_w/2, m = 4^k, B_w = 16^k: log N >= m log 2 for every B_w, by the block of signs, run for m = 4.

    The printed bound stays within a constant of log(d m T): the quotient at least doubles with k. As corrected it
    does not depend on B_w.
    """
    family = SignFamily(4, 4)
    for labels in product((1, -1), repeat=4):
        assert all(y * x > fmpq(1, 2) for y, x in zip(labels, sign_outputs(family, labels), strict=True))
    assert the_printed_form_is_as_written()
    found = []
    for k in range(1, 26):
        m, B_w = 4**k, fmpq(2) ** (8 * k)
        layer, sizes = shattering_layer(m), {"samples": m, "length": 3, "width": m + 2}
        printed = printed_deep_capacity([layer], readout=B_w, key_width=1, **sizes).bound(B_w / 2)
        found.append(m * arb(2).log() / printed)
        corrected = deep_capacity([layer], readout=B_w, tokens=1, **sizes).bound(B_w / 2)
        assert m * LN2 <= corrected
        if k == 25:
            family = SignFamily(4**25, 4)
            record.hypothesis("||x_t|| <= 1", family.token_norm, "<=", 1)
            record_norms(record, family, layer)
            record.hypothesis("eps = B_w/2 is below B_w times all outputs at m = 4^25", fmpq(1, 2), "<", family.margin)
            record.violated(
                "log N <= 10^9 times the bound with B_w where it is printed, B_w = m^4 = 2^200",
                m * arb(2).log(),
                "<=",
                10**9 * printed,
            )
    assert all(later >= 2 * earlier for earlier, later in pairwise(found[1:]))
    assert found[-1] > 10**9


@counterexample("variable-creation:theorem-A.17", grade="enclosed")
@proof_steps("deep_capacity.md: 11")
def test_a_bound_on_the_tokens_is_needed(record: Record):
    """W_V = 1/B_X, W_QK = 4 sqrt(m)/B_X^2, tokens of norm B_X = 16^k for m = 4^k: all signs; no B_X is printed.

    B_w = 1, where its place does not matter, and the constraint is one on W_K W_Q^T.
    """
    family = SignFamily(4, 1, 2, fmpq(1, 2))
    for labels in product((1, -1), repeat=4):
        assert all(y * x > fmpq(1, 2) for y, x in zip(labels, sign_outputs(family, labels), strict=True))
    assert the_printed_form_is_as_written()
    found = []
    for k in range(1, 26):
        m, B_X = 4**k, fmpq(2) ** (4 * k)
        layer, sizes = shattering_layer(m, B_X), {"samples": m, "length": 3, "width": m + 2}
        printed = printed_deep_capacity([layer], readout=1, key_width=1, **sizes).bound(fmpq(1, 2))
        found.append(m * arb(2).log() / printed)
        assert m * LN2 <= deep_capacity([layer], readout=1, tokens=B_X, **sizes).bound(fmpq(1, 2))
        if k == 25:
            family = SignFamily(m, 4 / B_X**2, B_X, 1 / B_X)
            record_norms(record, family, layer)
            record.hypothesis("eps = 1/2 is below all outputs at m = 4^25, B_w = 1", fmpq(1, 2), "<", family.margin)
            record.violated(
                "log N <= 10^9 times the printed bound, for tokens of norm m^2 = 2^100",
                m * arb(2).log(),
                "<=",
                10**9 * printed,
            )
    assert all(later >= 2 * earlier for earlier, later in pairwise(found[1:]))
    assert found[-1] > 10**9


def amplified(m: int, eta: fmpq) -> tuple[list[AttentionBlock], list[np.ndarray], list[tuple[int, ...]]]:
    """Two layers: small signs by queries of other tokens, which the second layer averages and amplifies.

    Context i has two tokens (+-3/5 e_i, +-4/5), the token q_i that asks, and a class token of zeros. W_QK = 4 sum_i
    y_i q_i e_i^T has the spectral norm 4; the first W_V has the entry eta, the second one 4/(eta h).
    """
    d = 2 * m + 1
    contexts = []
    for i in range(m):
        X = np.zeros((4, d))
        contexts.append(
            fill(
                X,
                {
                    (0, i): fmpq(3, 5),
                    (1, i): fmpq(-3, 5),
                    (0, 2 * m): fmpq(4, 5),
                    (1, 2 * m): fmpq(-4, 5),
                    (2, m + i): fmpq(1),
                },
            )
        )
    labels: list[tuple[int, ...]] = list(product((1, -1), repeat=m))
    square, wide = np.zeros((d, d)), np.zeros((d, m))
    entry = fill(square, {(0, 0): fmpq(1)})
    queries = fill(wide, {(m + i, i): fmpq(4) for i in range(m)})
    blocks = [
        AttentionBlock(
            queries,
            fill(wide, {(i, i): fmpq(y) for i, y in enumerate(signs)}),
            fill(square, {(2 * m, 0): eta}),
            entry,
            "identity",
        )
        for signs in labels
    ]
    zero = np.full((d, 1), fmpq(0), dtype=object)
    second = AttentionBlock(zero, zero, fill(square, {(0, 0): 4 / eta}), entry, "identity")
    return [*blocks, second], contexts, labels


@counterexample("variable-creation:theorem-A.17", grade="enclosed", supporting=True)
@proof_steps("deep_capacity.md: 12")
def test_errors_are_amplified_by_later_layers_not_by_earlier_ones():
    """With B_w in front and without d, k, the product over the layers before i is wrong for different layers.

    Layer 1 writes signs of size eta, layer 2 amplifies by 4/eta: all signs at eps = 1/2, run for m = 2 and 3. The
    bracket with the printed product tends to a constant as eta -> 0; with the product over later layers it grows.
    """
    for m in (2, 3):
        *blocks, second = amplified(m, fmpq(1, 1000))[0]
        _, contexts, labels = amplified(m, fmpq(1, 1000))
        for block, signs in zip(blocks, labels, strict=True):
            for y, X in zip(signs, contexts, strict=True):
                assert y * second(block(X))[3, 0] > fmpq(1, 2)
        assert spectral_norm(blocks[0].score) <= 4 + arb(2) ** -20
        assert frobenius_norm(blocks[0].score).overlaps(4 * arb(m).sqrt())
    found = []
    for k in range(1, 31):
        m, eta = 4**k, fmpq(1, 4 ** (2 * k))
        layers = [LayerNorms(eta, eta, 4 * m, 4, 1, 1), LayerNorms(4 / eta, 4 / eta, 0, 0, 1, 1)]
        brackets = []
        for order in ("earlier", "later"):
            total = arb(1)
            for one, alpha in zip(layers, amplifications(layers, softmax=2, order=order), strict=True):  # type: ignore[arg-type]
                terms = (
                    one.output_columns,
                    2 * one.output * one.value * one.score_rows,
                    one.output * one.value_columns,
                )
                total += sum(((alpha * term) ** 2).root(3) if term > 0 else arb(0) for term in terms)
            brackets.append(total**3)
        log = (arb(2 * m + 1) * m * 4).log()
        found.append(m * arb(2).log() / (4 * log * brackets[0]))
        assert m * LN2 <= 4 * log * brackets[1]
        at = {"readout": 1, "tokens": 1, "samples": m, "length": 4, "width": 2 * m + 1}
        assert m * LN2 <= deep_capacity(layers, **at).bound(fmpq(1, 2))
    assert all(later >= 2 * earlier for earlier, later in pairwise(found[1:]))
    assert found[-1] > 10**9


# ---- theorem 4.11


@check(
    "variable-creation:theorem-4.11",
    grade="sampled",
    target="corrected",
    cases="40 random C_2, C_21, L, B_X, B_w (seeds 0, ..., 39) in [1/11, 11], ten down to 10^-6, D = 1, ..., 5",
)
@proof_steps("deep_capacity.md: 14")
@pytest.mark.parametrize("seed", range(40))
def test_the_short_deep_bound_is_above_the_long_one(seed):
    """800 D^3 ((1 + L)(1 + C_2)^4)^(2 D) max(1, B_X)^6 B_w^2 C_21^2 log((d + 1)(2 m T^2 + 1)), and its parts."""
    rng = np.random.default_rng(seed)
    C_2, C_21, L, B_X, B_w = fractions(rng, 5)
    if seed % 4 == 0:
        C_2, C_21, L = (x / 10 ** int(p) for x, p in zip((C_2, C_21, L), rng.integers(0, 7, 3), strict=True))
    depth = 1 + seed % 5
    m, T, d = (int(x) for x in rng.integers(1, 50, 3))
    with precision(128):
        layer = LayerNorms(C_21, C_2, C_21, C_2, C_21, C_2)
        given = {"readout": B_w, "tokens": B_X, "samples": m, "length": T, "width": d, "lipschitz": L}
        short = short_deep_capacity(depth, spectral=C_2, columns=C_21, **given)
        expected = 800 * depth**3 * ((1 + L) * (1 + C_2) ** 4) ** (2 * depth) * max(fmpq(1), B_X) ** 6
        expected *= (B_w * C_21) ** 2
        assert near(short.constant, expected * (arb(d + 1) * (2 * m * T**2 + 1)).log())
        assert deep_capacity([layer] * depth, **given).constant <= short.constant
        assert deep_capacity([layer] * depth, key_width=1, **given).constant <= short.constant


@counterexample("variable-creation:theorem-4.11", grade="enclosed")
@proof_steps("deep_capacity.md: 15")
def test_the_printed_power_of_the_tokens_fails_in_deep_networks(record: Record):
    """L = 1, C_2 = C_21 = 1, m = 16^k, B_X = 2^(k+1), W_QK of norm 1, W_V = 1/B_X, W_C = e_1 e_1^T: truth m log 2.

    Printed: a constant times B_X^2 log(d m T) = 4 sqrt(m) log(d m T). Four patterns are run for 16 contexts.
    """
    family = SignFamily(16, fmpq(1, 4), 4, fmpq(1, 4))
    for period in (1, 2, 5, 16):
        labels = [(-1) ** (i // period) for i in range(16)]
        assert all(y * x > fmpq(1, 2) for y, x in zip(labels, sign_outputs(family, labels), strict=True))
        block = sign_block(family, labels)
        norms = layer_norms(block.value, block.score, block.mixing)
        assert all(getattr(norms, name) <= 1 + arb(2) ** -20 for name in NAMES)
        assert pq_norm(block.key @ block.query.T, 2, 1).contains(1)
    generic: dict[str, Any] = {"readout": 3, "tokens": 5, "samples": 10, "length": 4, "width": 6, "lipschitz": 7}
    written = printed_short_deep_capacity(4, spectral=2, columns=11, **generic, exponent=3)
    assert written.constant.overlaps(arb(14) ** 12 * (5 * 3 * 11) ** 2 * arb(240).log())
    found = []
    for k in range(1, 31):
        m, B_X = 16**k, 2 ** (k + 1)
        given = {"readout": 1, "tokens": B_X, "samples": m, "length": 3, "width": m + 2}
        printed = printed_short_deep_capacity(1, spectral=1, columns=1, **given)
        found.append(m * arb(2).log() / printed.bound(fmpq(1, 2)))
        assert m * LN2 <= deep_capacity([LayerNorms(*[1] * 6)], **given).bound(fmpq(1, 2))
        assert m * LN2 <= short_deep_capacity(1, spectral=1, columns=1, **given).bound(fmpq(1, 2))
    assert all(later >= 2 * earlier for earlier, later in pairwise(found[1:]))
    assert found[-1] > 10**6
    family, found = wide_tokens(0), []
    labels = [(-1) ** (i // 2) for i in range(family.points)]
    head = sign_block(family, labels)
    for i in (1, 3, family.points):
        X = family.sequence(i)
        X[2] /= family.token_norm  # the class token asks, and has the norm 1
        assert labels[i - 1] * replace(head, query=head.query * family.token_norm)(X)[2, 0] > fmpq(1, 2)
    for k in range(1, 31):
        family = wide_tokens(k)
        given = {"readout": 1, "tokens": 2 * family.token_norm, "samples": family.points, "length": 3}
        printed = printed_short_deep_capacity(1, spectral=1, columns=1, width=family.width, **given)
        found.append(family.log_covering_number / printed.bound(fmpq(1, 2)))
        if k == 30:
            squared = family.squared_key_norm * family.token_norm**2
            record.hypothesis("||W_K W_Q^T||^2 <= 1 = C_2 = C_(2,1), one column", squared, "<=", 1)
            keys = pq_norm(head.key.T @ head.query, 2, 1)
            record.hypothesis("||W_K^T W_Q||_(2,1) <= C_(2,1) = 1, as printed", keys, "<=", 1)
            record.hypothesis("||W_V||_2 <= ||W_V||_(2,1) <= 1 = C_2 = C_(2,1)", family.value_norm, "<=", 1)
            outputs = pq_norm(head.mixing, 2, 1)
            record.hypothesis("||W_C||_2 <= ||W_C||_(2,1) <= 1 = C_2 = C_(2,1)", outputs, "<=", 1)
            columns = 2 * (fmpq(4, 5) * family.token_norm) ** 2
            record.hypothesis(
                "||X||_(2,inf)^2 <= B_X^2, with or without a transpose", columns, "<=", given["tokens"] ** 2
            )
            record.hypothesis("eps = 1/2 is below the size of all outputs", fmpq(1, 2), "<", family.margin)
            short = short_deep_capacity(2, spectral=3, columns=5, **generic)
            scale = 2**3 * (arb(8) * 4**4) ** 4 * 5**6 * (3 * 5) ** 2 * (arb(7) * (2 * 10 * 4**2 + 1)).log()
            record.number("800", short.constant / scale)
            largest = 10**9 * printed.bound(fmpq(1, 2))
            record.violated("log N <= 10^9 times the printed bound", family.log_covering_number, "<=", largest)
    assert all(later >= 2 * earlier for earlier, later in pairwise(found[1:]))


def wide_tokens(k: int) -> SignFamily:
    """m = 225 b^4 contexts, b = 2^k, tokens of norm 5 b, ||W_V|| = 1; ||W_QK|| = 1 if the class token has norm 1."""
    b = 2**k
    family = SignFamily(225 * b**4, fmpq(1, 75 * b**3), 5 * b, 1)
    assert family.squared_key_norm * family.token_norm**2 == 1
    return family


@counterexample("variable-creation:theorem-4.11", grade="enclosed", supporting=True)
@proof_steps("deep_capacity.md: 15")
def test_the_printed_prefactor_does_not_follow_from_the_long_form():
    """C_2 = L_sigma = 1: (C_2 L_sigma)^(O(L)) = 1 for every depth, while A.17 as printed grows like 25^(L-1)."""
    given: dict[str, Any] = {"readout": 1, "samples": 5, "length": 7, "width": 9}
    single = printed_short_deep_capacity(1, spectral=1, columns=1, tokens=1, **given).constant
    for depth in range(1, 20):
        for exponent in (1, 10):
            same = printed_short_deep_capacity(depth, spectral=1, columns=1, tokens=1, exponent=exponent, **given)
            assert same.constant.overlaps(single)
        assert printed_deep_capacity([LayerNorms(*[1] * 6)] * depth, **given).constant >= 25 ** (depth - 1)


@check("variable-creation:theorem-A.17", grade="enclosed", target="corrected", supporting=True)
@proof_steps("deep_capacity.md: 13")
def test_the_width_enters_by_its_logarithm():
    """Coordinates that are 0 change no function: the corrected bound grows like log d, the printed one like d^2."""
    layer = LayerNorms(*[1] * 6)
    given: dict[str, Any] = {"readout": 1, "samples": 5, "length": 7}
    widths = [2**k for k in range(10, 61, 10)]
    corrected = [deep_capacity([layer], tokens=1, width=d, **given).constant for d in widths]
    printed = [printed_deep_capacity([layer], width=d, **given).constant for d in widths]
    assert all(later < 2 * earlier for earlier, later in pairwise(corrected))
    assert corrected[-1] / arb(widths[-1]).log() < corrected[0] / arb(widths[0]).log()
    assert all(later > 2**20 * earlier for earlier, later in pairwise(printed))


# ---- remark 4.11b


@check(
    "variable-creation:remark-4.11b",
    grade="enclosed",
    target="printed",
    cases="D = 1, ..., 40; L C V (1 + 4 Q) = 1 with c = 2, L C V (1 + 2 Q) = 1 with c = 1, and a tenth less",
)
@proof_steps("deep_capacity.md: 17")
def test_small_amplifications_leave_a_cube_of_the_depth():
    """alpha_i <= 1: C/eps^2 with C at most D^3 times a number without D; with (2,1) norms to the second power."""
    sizes: dict[str, Any] = {"readout": 1, "tokens": 1, "samples": 5, "length": 7, "width": 9}
    with precision(128):
        for c, V in ((2, fmpq(1, 5)), (1, fmpq(1, 3)), (2, fmpq(9, 50)), (1, fmpq(3, 10))):
            layer = LayerNorms(2, V, 2, 1, 2, 1)
            assert near(layer_amplification(layer, softmax=c), arb(V * (1 + 2 * c)))
            single = deep_capacity([layer], softmax=c, **sizes).constant
            for depth in range(1, 41):
                alphas = amplifications([layer] * depth, softmax=c)
                assert all(near(x, arb((V * (1 + 2 * c)) ** (depth - i))) for i, x in enumerate(alphas, start=1))
                assert max(float(x.mid()) for x in alphas) == 1
                bound = deep_capacity([layer] * depth, softmax=c, **sizes).constant
                assert bound <= depth**3 * single * (1 + arb("1e-20"))
        large = [LayerNorms(s, 1, s, 1, s, 1) for s in (fmpq(2) ** 40, fmpq(2) ** 50)]
        before, after = (deep_capacity([one] * 3, **sizes).constant for one in large)
        assert abs(after / before / 2**20 - 1) < arb("1e-6")


@check("variable-creation:remark-4.11b", grade="exact", target="printed", supporting=True)
@proof_steps("deep_capacity.md: 16")
def test_the_remark_does_not_follow_from_theorem_a17():
    """C = V = Q = L_sigma = 1: alpha runs through 5^0, ..., 5^(D-1); 3 for 5 with c = 1, and 1 + sqrt(2) at best.

    The bound of A.17, printed or corrected, then grows at least like 25^(D-1) and 9^(D-1).
    """
    layer = LayerNorms(*[1] * 6)
    assert the_printed_form_is_as_written()
    for depth in range(1, 20):  # all numbers are below 2^53, hence exact
        for c, base in ((2, 5), (1, 3)):
            assert amplifications([layer] * depth, softmax=c) == [base ** (depth - i) for i in range(1, depth + 1)]
        assert amplifications([layer] * depth, softmax=2, order="earlier") == [5**i for i in range(depth)]
        best = amplifications([layer] * depth, sharp=True)
        assert all(x.overlaps((1 + arb(2).sqrt()) ** (depth - i)) for i, x in enumerate(best, start=1))
        sizes: dict[str, Any] = {"readout": 1, "samples": 5, "length": 7, "width": 9}
        assert printed_deep_capacity([layer] * depth, **sizes).constant >= 25 ** (depth - 1)
        assert deep_capacity([layer] * depth, tokens=1, **sizes).constant >= 9 ** (depth - 1)


def distances(tokens: np.ndarray, others: np.ndarray | None = None) -> arb:
    """The largest distance of two tokens of a sequence, or of two tokens at the same place in two sequences."""
    pairs = combinations(tokens, 2) if others is None else zip(tokens, others, strict=True)
    return largest_row_norm(np.array([x - y for x, y in pairs], dtype=object))


def contraction(layers: Sequence[tuple[float, float]]) -> list[float]:
    """alpha_1, ..., alpha_D for layers with Q and L C V, in floats: slopes and distances layer by layer."""
    distance, slopes = 2.0, []
    for Q, scale in layers[1:]:
        beta = Q * distance**2 / 4
        slopes.append(scale * (beta + math.sqrt(1 + Q**2 * distance**2 / 4)))
        distance = min(2.0, scale * distance * math.tanh(Q * distance**2 / 4))
    return [math.prod(slopes[i:]) for i in range(len(layers))]


@check(
    "variable-creation:remark-4.11b",
    grade="numeric",
    target="printed",
    cases="D = 1, ..., 60 equal layers, spectral norms and L_sigma 1; 20 times 9 with norms 1/k, 10 with k/4, k < 10",
)
@proof_steps("deep_capacity.md: 20")
def test_spectral_norms_of_one_avoid_the_exponential():
    """Tokens come near to one another: every alpha_i < 5.51, so that the bound is at most 31 D^3 times that of one."""
    sizes: dict[str, Any] = {"readout": 1, "tokens": 3, "samples": 5, "length": 7, "width": 9, "contracted": True}
    layer = LayerNorms(2, 1, 2, 1, 2, 1)
    single = deep_capacity([layer], **sizes).constant
    for depth in range(1, 61):
        alphas = contracted_amplifications([layer] * depth)
        assert [float(x.mid()) for x in alphas] == pytest.approx(contraction([(1, 1)] * depth), rel=1e-12)
        assert len(alphas) == depth
        assert all(x < fmpq(551, 100) for x in alphas)
        assert alphas[-1] == 1
        assert depth != 2 or alphas[0].overlaps(1 + arb(2).sqrt())
        assert depth < 5 or alphas[0] > fmpq(550, 100)
        capacity = deep_capacity([layer] * depth, **sizes)
        assert capacity.constant <= 31 * depth**3 * single
        for i, alpha in enumerate(alphas, start=1):
            assert capacity.parts[f"layer {i}: output"].rate.overlaps(alpha)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        L, *norms = (fmpq(1, int(k)) if seed % 3 else fmpq(int(k), 4) for k in rng.integers(1, 10, 28))
        triples = [norms[i : i + 3] for i in range(0, 27, 3)]
        alphas = contracted_amplifications([LayerNorms(2, V, 2, Q, 2, C) for Q, V, C in triples], lipschitz=L)
        expected = contraction([(float(Q), float(L * V * C)) for Q, V, C in triples])
        assert [float(x.mid()) for x in alphas] == pytest.approx(expected, rel=1e-12)
        assert seed % 3 == 0 or all(x < fmpq(551, 100) for x in alphas)


@check(
    "variable-creation:remark-4.11b",
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="d = 1, tokens 1 and -1, seven layers of ones",
)
@proof_steps("deep_capacity.md: 18")
def test_two_opposite_tokens_are_as_far_apart_as_tokens_can_be():
    """x and -x become x tanh(x^2) and its negative: the bound on distances is attained, layer by layer."""
    one = np.array([[1]])
    with precision(128):
        Z, distance = as_balls([[1], [-1]]), arb(2)
        for _ in range(7):
            Z, distance = AttentionBlock(one, one, one, one, "identity")(Z), distance * (distance**2 / 4).tanh()
            assert near(Z[0, 0] - Z[1, 0], distance)


@check(
    "variable-creation:remark-4.11b",
    grade="sampled",
    target="printed",
    cases="12 networks (seeds 0, ..., 11) of 5 layers, spectral norms 1, d = 1, 2, 3, T = 2, ..., 5, ReLU or identity",
)
@proof_steps("deep_capacity.md: 18, 19")
@pytest.mark.parametrize("seed", range(12))
def test_networks_of_norm_one_keep_to_the_contracted_slopes(seed):
    """Tokens of the ball, and others near them or not: distances within a layer, and of the two sequences behind it."""
    rng = np.random.default_rng(seed)
    d, T = 1 + seed % 3, 2 + seed % 4
    identity = np.eye(d)
    X = rng.normal(size=(T, d))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True)) if seed % 2 else np.linalg.norm(X, axis=1)[:, None]
    Y = X * 0.999 + rng.normal(size=(T, d)) * 0.0005 / d if seed % 4 else -X
    g, other = as_balls(X * 0.999), as_balls(Y * 0.999)
    start, within = distances(g, other), arb(2)
    layer = LayerNorms(*[1] * 6)
    assert start > fmpq(1, 10**5)
    for depth in range(1, 6):
        parts = [rng.normal(size=(d, d)) for _ in range(3)]
        Q, V, C = (part / (np.linalg.norm(part, 2) * (1 + 1e-12)) for part in parts)
        block = AttentionBlock(Q, identity, V, C, "identity" if seed % 3 else "relu")
        g, other = block(g), block(other)
        within = within * (within**2 / 4).tanh()
        assert distances(g) <= within + arb("1e-12")
        assert distances(g, other) <= contracted_amplifications([layer] * (depth + 1))[0] * start * (1 + arb("1e-12"))
