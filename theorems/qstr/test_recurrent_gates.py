"""Lemmas 22 to 25: networks with one hidden layer for inner products and gated copies, with explicit constants.

The document takes them from an existence theorem. The printed bounds hold log(d_e/eps) and log(R/eps) without a 1. For
lemma 22 that makes no difference, as d_e >= 2; the others reach 0 where weights are still needed: at eps = d_e for
lemma 23, at eps = R for lemma 24, along a sequence for lemma 25. With 1 + log they hold, by explicit networks that are
far smaller (`proofs/gates.md`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.tokens.budgeted import copies_network, products_network
from lemmata.constructions.tokens.gates import gated_copy, inner_product, pieces_for, sign_inner_product
from lemmata.numerics.exact.balls import decided_less
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.functions.relu_sums import piecewise_linear
from lemmata.numerics.tokens.codes import PositionCodes, orthonormal_codes
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

PRODUCT = "qstr:lemma-22"
FIRST = "qstr:lemma-23"
COPY = "qstr:lemma-24"
SECOND = "qstr:lemma-25"
LIPSCHITZ = "qstr:lemma-42"
DELTA = fmpq(1, 8)
"""How far outside of [-1, 1] the inner products may lie where lemma 25 is used."""


def sphere(rng: np.random.Generator, n: int) -> list[fmpq]:
    """A random rational point of the unit sphere, by stereographic projection; +-1 for n = 1."""
    u = [fmpq(int(a), 4) for a in rng.integers(-9, 10, n - 1)]
    square = sum((a * a for a in u), fmpq(0))
    sign = int(rng.choice([-1, 1]))
    return [2 * a / (1 + square) for a in u] + [sign * (1 - square) / (1 + square)]


def rows_of(network: FeedForward) -> Iterator[tuple[fmpq, fmpq]]:
    """Of every hidden unit the 1-norm of its weights, and the size of its bias."""
    first = network.layers[0]
    for row, bias in zip(first.weight.T.tolist(), first.offset.tolist(), strict=True):
        yield sum((abs(fmpq(w)) for w in row), fmpq(0)), abs(fmpq(bias))


def readout_of(network: FeedForward) -> list[fmpq]:
    """|a_k| of the hidden units of a network with one output."""
    return [abs(fmpq(a)) for a in network.layers[1].weight[:, 0].tolist()]


@check(PRODUCT, grade="exact", target="printed", cases="d_e = 1, 2, 4, 9 and 7 eps from d_e to 1/50: error, norms")
@proof_steps("exact-recurrence.md: 4", "gates.md: 3, 4, 5")
@pytest.mark.parametrize("n", [1, 2, 4, 9])
def test_inner_products_with_the_least_number_of_pieces(n: int) -> None:
    """The error d_e/(4 K^2) is attained on the cube, and K is the least with d_e/(4 K^2) <= eps."""
    rng = np.random.default_rng(n)
    attained = fmpq(n, 36)  # by three pieces; a little less needs four
    assert [pieces_for(n, part * attained) for part in (1, fmpq(999, 1000))] == [3, 4]
    for eps in (
        fmpq(n),
        min(fmpq(n), fmpq(1)),
        fmpq(1, 2),
        fmpq(1, 7),
        fmpq(1, 50),
        attained,
        attained * fmpq(99, 100),
    ):
        K = pieces_for(n, eps)
        assert fmpq(n, 4 * K * K) <= eps
        assert K == 1 or fmpq(n, 4 * (K - 1) ** 2) > eps
        network, a = inner_product(n, K), fmpq(1, 2 * K)
        assert network.unit_count == 4 * K * n
        assert network.unit_count**2 <= 36 * fmpq(n) ** 3 / eps  # m <= 6 d_e^(3/2) eps^(-1/2)
        assert all(row <= 1 and bias <= 1 for row, bias in rows_of(network))
        assert max(readout_of(network)) <= fmpq(4, K)
        assert network.unit_count * sum(x * x for x in readout_of(network)) <= (16 * n) ** 2  # sqrt(m) |a| <= 16 d_e
        if n > 1 and eps <= 1:  # the printed bounds, with constants
            log = (n / arb(eps)).log()
            assert network.unit_count <= 13 * n**3 * (log / arb(eps)) ** 2
            assert 16 * n <= 28 * arb(n) ** fmpq(5, 2) * (log / arb(eps)) ** fmpq(3, 2)
        extreme = as_exact([[a] * (2 * n), [a] * n + [-a] * n])
        assert network(extreme)[:, 0].tolist() == [n * a * a + fmpq(n, 4 * K * K), -n * a * a - fmpq(n, 4 * K * K)]
        pairs = [(sphere(rng, n), sphere(rng, n)) for _ in range(20)]
        found = network(as_exact([w + v for w, v in pairs]))[:, 0].tolist()
        for (w, v), p in zip(pairs, found, strict=True):
            inner = sum((x * y for x, y in zip(w, v, strict=True)), fmpq(0))
            assert abs(p - inner) <= eps
            assert abs(inner) <= 1  # so that for eps >= 1 no unit is needed


@check(
    PRODUCT,
    grade="exact",
    target="printed",
    supporting=True,
    cases="all pairs of sign codes, d_e = 1, 4, and random 16",
)
@proof_steps("exact-recurrence.md: 3")
def test_inner_products_of_sign_codes_without_error() -> None:
    for n in (1, 4, 16):
        words = (
            list(itertools.product((1, -1), repeat=n)) if n < 16 else np.random.default_rng(0).choice([-1, 1], (30, 16))
        )
        pairs = np.array(list(itertools.product(np.asarray(words).tolist(), repeat=2))).reshape(-1, 2 * n)
        found = sign_inner_product(n)(as_exact(pairs) / round(n**0.5))[:, 0]
        assert (found == as_exact((pairs[:, :n] * pairs[:, n:]).sum(axis=1)) / n).all()
        assert sign_inner_product(n).unit_count == 2 * n


@check(PRODUCT, grade="enclosed", target="printed", supporting=True, cases="d_e = 1, which assumption 3 excludes")
@proof_steps("gates.md: 5")
def test_one_dimensional_codes_need_a_unit_where_the_logarithm_vanishes() -> None:
    """d_e = 1 and eps = 1 - 1/k: without units the output is 0 and the error 1 > eps, for every constant in the O.

    Two codes in one dimension have the correlation 1 or -1, against assumption 3.
    """
    for constant in (10**3, 10**6, 10**12):
        k = 10 * constant
        eps = 1 - fmpq(1, k)
        printed = constant * ((1 / arb(eps)).log() / arb(eps)) ** 2
        assert decided_less(printed, 1)
        assert abs(1 - 0) > eps
    assert PositionCodes(np.array([[1], [-1]]), 1).violations() == [(0, 1, fmpq(-1))]
    assert all(not PositionCodes(np.array([[1], [s]]), 1).coherence <= fmpq(1, 2) for s in (1, -1))


@counterexample(FIRST, grade="enclosed", cases="d_e = eps = 2, d = q = 1")
@proof_steps("gates.md: 5")
def test_the_printed_norm_of_the_first_layer_vanishes_where_x_is_copied(record: Record) -> None:
    """At eps = d_e the bound on A_1 is 0: the part for x is then 0 and not x, whatever W_1 and b_1 are."""
    eps, n, x = fmpq(2), 2, fmpq(1)
    network = products_network(1, 1, n, eps)
    codes = orthonormal_codes(n)
    row = np.concatenate([as_exact([0]), as_exact([x]), *as_exact(codes.vectors[:2])])
    bound = 10**9 * arb(n) ** fmpq(5, 2) * ((arb(n) / arb(eps)).log() / arb(eps)) ** 2  # 2 for 3/2: 0 either way
    assert bound == 0
    zero = np.zeros_like(network.layers[1].weight)
    nothing = FeedForward((network.layers[0], Affine(zero)), activations=("relu", "identity"))
    record.hypothesis("eps is positive", eps, ">", 0)
    record.hypothesis("assumption 3: correlations of the codes", codes.coherence, "<=", fmpq(1, 2))
    record.violated("the printed norm of A_1 is enough for chi^x = x, at x = 1", nothing(row[None])[0, 0], "=", x)
    assert network(row[None])[0, 0] == x


@check(
    FIRST,
    grade="sampled",
    target="corrected",
    cases="4 choices of (d, q, d_e, eps), 25 random inputs each; exact numbers",
)
@proof_steps("budgeted-recurrence.md: 1", "gates.md: 6")
@pytest.mark.parametrize(("d", "q", "n", "eps"), [(1, 1, 1, "1/3"), (3, 1, 4, "1/5"), (2, 3, 2, "1/9"), (1, 2, 4, 4)])
def test_the_first_layer_keeps_x_and_finds_all_products(d: int, q: int, n: int, eps: Any) -> None:
    rng, eps = np.random.default_rng([d, q, n]), fmpq(1) * as_exact([eps])[0]
    network, K = products_network(d, q, n, eps), pieces_for(n, eps)
    assert network.unit_count == 2 * d + q * 4 * K * n
    assert all(row <= 1 and bias <= 1 for row, bias in rows_of(network))
    sums = [sum((abs(fmpq(a)) for a in column), fmpq(0)) for column in network.layers[1].weight.T.tolist()]
    assert max(sums[:d]) == 2
    assert max(sums[d:]) <= 16 * n
    largest = fmpq(0)
    for number in range(25):
        h, x = (as_exact(rng.integers(-9, 10, size)) / 4 for size in (q * d, d))
        codes = [sphere(rng, n) for _ in range(q + 1)]
        if number == 0:
            a = fmpq(1, 2 * K)
            codes = [[a] * n] * (q + 1)  # in the cube, where the error is largest
        found = network(np.concatenate([h, x, *as_exact(codes)])[None])[0]
        assert (found[:d] == x).all()
        for l in range(q):
            gap = abs(found[d + l] - sum(u * v for u, v in zip(codes[0], codes[l + 1], strict=True)))
            largest = max(largest, gap)
            assert gap <= eps
    assert largest == fmpq(n, 4 * K * K)


GRID = [fmpq(i, 24) for i in range(-24, 25)]


def copied(x: Any, z: Any) -> fmpq:
    return 2 * x * max(z - fmpq(1, 2), fmpq(0))


@check(
    COPY, grade="exact", target="corrected", cases="9 choices of (r, eps, |h|), grids of 49 x 49 and the extreme points"
)
@proof_steps("gates.md: 9, 10, 11")
@pytest.mark.parametrize(
    ("r", "eps", "h"),
    [
        (1, "1/2", None),
        (1, "1/16", None),
        (3, 3, None),
        (3, "1/4", 2),
        ("1/5", "1/9", 0),
        (2, 1, 5),
        ("7/2", "1/3", "1/2"),
        (1, 1, None),
        (1, 1, 1),
    ],
)
def test_gated_copies_attain_their_error(r: Any, eps: Any, h: Any) -> None:
    """The error eps is attained at x = +-r, z = 1/2; units and norms are those of the proof, and as few as claimed."""
    network = gated_copy(r, eps, carried=h)
    r, eps, carried = as_exact([r, eps, 0 if h is None else h]).tolist()
    points = [(x * r, z) for x in GRID for z in GRID]
    held = [] if h is None else [carried if k % 2 else -carried for k in range(len(points))]
    inputs = as_exact([[held[k], *p] if held else list(p) for k, p in enumerate(points)])
    found = network(inputs)[:, 0].tolist()
    for k, ((x, z), value) in enumerate(zip(points, found, strict=True)):
        assert abs(value - copied(x, z) - (held[k] if held else 0)) <= eps
        if z <= fmpq(1, 2) - eps / r**2 * abs(x):
            assert value == (held[k] if held else 0)
    ends = as_exact([[0] * bool(held) + [x, fmpq(1, 2)] for x in (r, -r)])
    assert network(ends)[:, 0].tolist() == [eps, -eps]
    m, R2 = network.unit_count, 1 + r**2 + carried**2
    assert m <= r / (2 * eps) + 3 + 2 * bool(held)
    largest, top = max(readout_of(network)), sum(x * x for x in readout_of(network))
    for row, bias in rows_of(network):
        assert row * row * R2 <= 1
        assert bias <= 1
    assert largest <= (1 + r + carried) * (r + 1) * max(2, 1 / r)
    log = 1 + (arb(R2).sqrt() / arb(eps)).log()
    R = arb(R2).sqrt()
    powers = (6, 3, 6, 2) if held else (4, 2, 5, arb(3) / 2)
    assert arb(m) <= 55 * R ** powers[0] * (log / arb(eps)) ** powers[1]
    assert arb(m * top).sqrt() <= 128 * R ** powers[2] * (log / arb(eps)) ** powers[3]


@counterexample(COPY, grade="exact")
@proof_steps("gates.md: 12")
def test_the_printed_number_of_units_for_copies_is_zero_at_the_radius(record: Record, z: fmpq = fmpq(1)) -> None:
    """r_h = r_x = 3, eps = R = sqrt(19): log(R/eps) = 0 leaves no unit, and then the error is 6 at (3, 3, 1)."""
    h = x = fmpq(3)
    value, square = h + copied(x, z), 1 + h**2 + x**2
    record.hypothesis("R^2 = 1 + r_x^2 + r_h^2", square, "=", 19)
    record.hypothesis("|z| <= 1", z, "<=", 1)
    record.violated("no unit is enough at eps = R: |h + 2 x relu(z - 1/2)|^2 <= R^2", value**2, "<=", square)
    network = gated_copy(3, 3, carried=3)
    assert abs(network(as_exact([[h, x, z]]))[0, 0] - value) <= 3


@counterexample(COPY, grade="exact", supporting=True)
@proof_steps("gates.md: 12")
def test_the_function_exceeds_the_bound_of_the_printed_proof() -> None:
    """|h + 2 x relu(z - 1/2)| <= R fails; sqrt(2) R is right, since (h + x)^2 <= 2 (h^2 + x^2)."""
    for a, b in itertools.product(range(1, 9), repeat=2):
        assert (a + copied(fmpq(b), fmpq(1))) ** 2 <= 2 * (1 + a * a + b * b)
    assert (3 + copied(fmpq(3), fmpq(1))) ** 2 > 19


@check(
    SECOND,
    grade="sampled",
    target="corrected",
    cases="6 choices of (d, q, r, eps), 60 random inputs and the extreme ones",
)
@proof_steps("budgeted-recurrence.md: 1", "gates.md: 13")
@pytest.mark.parametrize(
    ("d", "q", "r", "eps"),
    [(1, 1, 1, "1/8"), (2, 1, 2, "1/2"), (1, 3, 3, 1), (3, 2, 1, 1), (2, 2, 4, "1/3"), (1, 1, 1, "1/40")],
)
def test_gated_copies_of_all_coordinates(d: int, q: int, r: int, eps: Any) -> None:
    """|p| up to 1 + 1/8, as the lemma is used; widths and norms with the printed exponents and 1 + log."""
    rng, eps = np.random.default_rng([d, q]), as_exact([eps])[0]
    network = copies_network(d, q, r, eps)
    x = as_exact(rng.integers(-8, 9, (60, d))) * r / 8
    p = as_exact(rng.integers(-18, 19, (60, q))) / 16
    x[0], p[0] = fmpq(r), fmpq(1, 2)
    x[1], p[1] = fmpq(-r), 1 + DELTA
    found = network(np.concatenate([x, p], axis=1)).reshape(60, q, d)
    for k, l, j in np.ndindex(60, q, d):
        assert abs(found[k, l, j] - copied(x[k, j], p[k, l])) <= eps
    assert (found[0] == eps).all()
    units = fmpq(network.unit_count, q * d)
    assert units <= (fmpq(1, 2) + DELTA) * r / eps + 3
    first, last = network.layers
    assert all(row <= 1 and bias <= 1 for row, bias in rows_of(network))
    assert ((first.weight != 0).sum(axis=0) == 2).all()
    assert ((last.weight != 0).sum(axis=1) == 1).all()
    top = max(sum((abs(fmpq(a)) for a in column), fmpq(0)) for column in last.weight.T.tolist())
    R = arb(1 + r * r).sqrt()
    growth = ((1 + (R / arb(eps)).log()) / arb(eps)) ** (arb(3) / 2)
    assert arb(units) <= arb("4.5") * R**4 * growth
    assert arb(top) <= 27 * R**4 * growth


@counterexample(SECOND, grade="enclosed")
@proof_steps("gates.md: 14")
def test_the_printed_number_of_units_for_gates_vanishes_where_one_is_needed(record: Record, chi: int = 1) -> None:
    """eps = r (1 - 1/r^2) < r, so that 0 does not serve at x = r, p = 1; with either exponent the bound tends to 0."""
    for constant in (10**2, 10**4, 10**6):
        r = 100 * constant**2
        eps = r * (1 - fmpq(1, r * r))
        assert copied(fmpq(r), fmpq(1)) > eps
        with precision(256):
            R = arb(1 + r * r).sqrt()
            printed = [
                constant * R**4 * ((R / arb(eps)).log() / arb(eps)) ** arb(exponent)
                for exponent in (fmpq(3, 2), fmpq(2))
            ]
            assert all(decided_less(one, 1) for one in printed)
    inputs = as_exact([[r, chi]])
    record.hypothesis("|x| <= r_x, at x = r_x = 10^14", inputs[0, 0], "<=", r)
    record.hypothesis("|chi^omega| <= 1", inputs[0, 1], "<=", 1)
    record.hypothesis("fewer than one unit: 10^6 times the printed number", printed[0], "<", 1)
    record.violated("no unit is enough: |2 x relu(1 - 1/2)| <= eps", copied(inputs[0, 0], inputs[0, 1]), "<=", eps)
    assert abs(copies_network(1, 1, r, eps)(inputs)[0, 0] - r) <= eps


# ---- lemma 42, which the document cites


@check(
    LIPSCHITZ,
    grade="exact",
    target="corrected",
    supporting=True,
    cases="d = 1: 3 functions, R = 1, 2, LR/eps = 1, ..., 20",
)
def test_lipschitz_functions_on_an_interval_by_interpolation() -> None:
    """Knots at distances 2 eps/L: error eps, at most LR/eps + 2 units relu((x - t)/R) with the constant; norms too."""

    def zigzag(x: fmpq) -> fmpq:
        return abs((5 * x) - 2 * ((5 * x + 1) / 2).floor()) / 5

    for R, ratio in itertools.product((1, 2), (1, 3, 8, 20)):
        for f in (lambda x: x, lambda x: abs(x - fmpq(1, 3)), zigzag):
            eps = fmpq(R, ratio)
            knots = [-R + 2 * eps * k for k in range(ratio + 1)]
            values = [f(fmpq(t)) for t in knots]
            sums = piecewise_linear(knots, values)
            for x in (fmpq(R * k, 60) for k in range(-60, 61)):
                assert abs(sums(as_exact([x]))[0] - f(x)) <= eps
            slopes = [(v - u) / (2 * eps) for u, v in itertools.pairwise(values)]
            a = [values[0], slopes[0] * R, *((v - u) * R for u, v in itertools.pairwise(slopes))]
            for x in (fmpq(R * k, 7) for k in range(-7, 8)):
                units = [fmpq(1), *(max((x - t) / R, fmpq(0)) for t in knots[:-1])]
                assert sum((c * u for c, u in zip(a, units, strict=True)), fmpq(0)) == sums(as_exact([x]))[0]
            m = len(a)
            assert m <= ratio + 2
            assert m * sum(c * c for c in a) <= (6 * R * ratio) ** 2


@counterexample(LIPSCHITZ, grade="enclosed", cases="L = R = 1, d = 1, 2, 3, C_d = 100 and 10^6, eps = 100 C_d")
@proof_steps("lipschitz.md: 5")
def test_large_errors_leave_no_number_of_units(record: Record) -> None:
    """For eps -> infinity the printed bound on the positive integer m tends to 0; in odd dimensions it is negative."""
    for d, constant in itertools.product((1, 2, 3), (10**2, 10**6)):
        eps = 100 * constant
        printed = constant * ((1 + (1 / arb(eps)).log()) / arb(eps)) ** d
        assert decided_less(printed, 1)
        assert d % 2 == 0 or decided_less(printed, 0)
        if (d, constant) == (3, 10**6):
            record.hypothesis("L R > 0, and f = 0 is L-Lipschitz with |f| <= L R = 1", 0, "<=", 1)
            record.hypothesis("eps > 0, eps = 100 C_d, d = 3, C_d = 10^6", eps, ">", 0)
            record.violated("some integer m, were it 0, is at most the printed bound", 0, "<=", printed)
