"""The steps (F.3) to (F.24) of the proof of universality: quantiser, self-attention bounds, the second map.

The printed formulas are written out here with rationals and compared with the corrected quantiser of the library.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.constructions.descent.quantiser import Quantizer
from lemmata.numerics.functions.relu_sums import ReluSum
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

PARAMETERS = [Quantizer(fmpq(B), D, fmpq(1, D * k)) for B, D, k in product((1, 2, 3), (1, 2, 3, 5), (1, 2, 7))]


SELF_ATTENTION = "deep-icgd:construction-selfattn-bounds"


def relu(x: fmpq) -> fmpq:
    return max(x, fmpq(0))


def printed_ramp(q: Quantizer, t: int, z: fmpq) -> fmpq:
    """The left side of (F.6)."""
    B, D, delta = q.bound, q.granularity, q.ramp
    return (relu(z / delta - t * B / (delta * D)) - relu(z / delta - B - t * B / (delta * D))) / D


def at(f: ReluSum, *z: fmpq) -> list[Any]:
    return f(np.array(z, dtype=object)).tolist()


def critical_points(q: Quantizer) -> list[fmpq]:
    """All kinks, the middles between them, and points beyond both ends: enough for a piecewise-linear function."""
    kinks = sorted({*q.boxed().breakpoints(), *q.penalty().breakpoints(), fmpq(0), q.bound})
    middles = [(a + b) / 2 for a, b in pairwise(kinks)]
    return sorted([*kinks, *middles, kinks[0] - 1, kinks[-1] + 1])


# ---- quantiser


@counterexample("deep-icgd:construction-quantizer", grade="exact")
def test_printed_middle_branch_of_the_ramp() -> None:
    """(F.6): B = 1, D = 2, delta = 1/100, t = 1, z = 101/200 is on the ramp: the left side is 1/4, the right 101/4."""
    q = Quantizer(fmpq(1), 2, fmpq(1, 100))
    z = fmpq(505, 1000)
    assert q.cell <= z < q.cell + q.ramp * q.bound
    printed_right_side = z / (q.ramp * q.granularity)
    assert printed_ramp(q, 1, z) == fmpq(1, 4)
    assert printed_right_side == fmpq(101, 4)


@counterexample("deep-icgd:construction-quantizer", grade="exact")
def test_printed_last_step_has_the_wrong_height() -> None:
    """(F.10) with B = 2, D = 4, z = 3: the result is 1, not the announced 0."""
    q = Quantizer(fmpq(2), 4, fmpq(1, 8))
    z, B, delta = fmpq(3), q.bound, q.ramp
    quantised = sum((printed_ramp(q, t, z) for t in range(4)), fmpq(0))
    assert quantised - (relu(z / delta - B / delta) - relu(z / delta - 1 - B / delta)) == 1
    assert at(q.boxed(), z) == [0]


@counterexample("deep-icgd:construction-quantizer", grade="exact")
def test_long_ramps_exceed_one_cell() -> None:
    """(F.9) with B = 2, D = 4, delta = 1/2: ramps overlap, and at z = 3/2 the error is 3/4 > B/D = 1/2."""
    B, D, delta = fmpq(2), 4, fmpq(1, 2)

    def quantised(z: fmpq) -> fmpq:
        return sum(
            ((relu(z / delta - t * B / (delta * D)) - relu(z / delta - B - t * B / (delta * D))) / D for t in range(D)),
            fmpq(0),
        )

    z = fmpq(3, 2)  # a jump of the step function: from 3/2 to 2
    assert 2 - quantised(z) == fmpq(3, 4) > B / D


@counterexample("deep-icgd:construction-quantizer", grade="exact")
def test_cells_leave_out_the_outer_faces() -> None:
    """(F.3): the cells L + [-B/D, 0) cover [0, B) only; for f = 1 the piecewise constant map is 0 at z = B: error 1."""
    B, D = fmpq(1), 4
    cells = [(fmpq(i, D) - B / D, fmpq(i, D)) for i in range(1, D + 1)]
    assert not any(low <= B < high for low, high in cells)
    assert all(any(low <= z < high for low, high in cells) for z in (fmpq(0), fmpq(1, 3), fmpq(99, 100)))


@counterexample("deep-icgd:construction-quantizer", grade="exact")
@counterexample("deep-icgd:construction-selfattn-bounds", grade="exact")
def test_entries_near_zero_are_quantised_to_zero(record: Record) -> None:
    """(F.21) and so (F.20): Z = 0 lies in the cube, F_1(0) = 0 < B/D, and attention maps 0 to 0, not above 3B/(4D)."""
    q = Quantizer(fmpq(1), 4, fmpq(1, 8))
    assert at(q.boxed(), fmpq(0)) == at(q.penalty(), fmpq(0)) == [0]
    attended = fmpq(0) + fmpq(1, 17) * 0  # z + W_OV (a convex combination of zeros)
    assert attended < 3 * q.cell / 4
    first = at(q.boxed(), fmpq(0))[0] + at(q.penalty(), fmpq(0))[0]
    record.hypothesis("Z = 0 lies in [0, B_x]^(d x n), and F_1 is that of (F.10) and (F.11)", fmpq(0), "<=", q.bound)
    record.hypothesis("(F.15): attention changes 0 by at most max |Z_k| = 0", attended - first, "=", 0)
    record.violated("(F.20): all outputs > 3 B_x/(4D)", attended, ">", 3 * q.cell / 4, of=SELF_ATTENTION)
    record.violated("(F.21): F_1(Z) >= B_x/D", first, ">=", q.cell)


@counterexample("deep-icgd:construction-quantizer", grade="symbolic")
def test_penalty_of_one_token_cannot_reach_another(record: Record) -> None:
    """(F.12) lowers all entries if one leaves the cube; column 1 of FF(Z) depends not on column 2 (definition-11).

    So of (1/2, 1/2) and (1/2, 2), where the first entries of (F.12) differ by B_x, every token-wise layer misses one by
    B_x/2 at least.
    """
    w1, w2, b1, b2, z1, z2, other = sp.symbols("w1 w2 b1 b2 z1 z2 other", real=True)

    def feed_forward(z: sp.Expr) -> sp.Expr:
        return z + w2 * sp.Max(w1 * z + b1, 0) + b2

    outputs = [feed_forward(z) for z in (z1, z2)]
    assert outputs[0].subs(z2, other) == outputs[0]
    assert z2 not in outputs[0].free_symbols
    q = Quantizer(fmpq(1), 4, fmpq(1, 8))
    wanted = [
        at(q.quantiser(), fmpq(1, 2))[0] + at(q.penalty(), fmpq(1, 2))[0] + at(q.penalty(), second)[0]
        for second in (fmpq(1, 2), fmpq(2))
    ]
    shared = outputs[0].free_symbols & outputs[1].free_symbols
    record.hypothesis("column 1 of FF(Z) shares with column 2 its weights alone (definition 11)", len(shared), "=", 4)
    record.hypothesis("both inputs have the same first token, in the cube", fmpq(1, 2), "<=", q.bound)
    record.violated("a token-wise layer is within B_x/4 of (F.12)", abs(wanted[0] - wanted[1]) / 2, "<=", q.bound / 4)


@check(
    "deep-icgd:construction-quantizer",
    grade="exact",
    target="corrected",
    cases="B = 1, 2, 3, D = 1, 2, 3, 5, delta = 1/D, 1/(2D), 1/(7D); all real z",
)
@proof_steps("quantiser.md: 1")
@pytest.mark.parametrize("q", PARAMETERS, ids=lambda q: f"B{q.bound}-D{q.granularity}-delta{q.ramp}")
def test_corrected_quantiser(q: Quantizer) -> None:
    """For 36 choices of (B, D, delta), at every real z: all functions are linear between the points that are tried.

    Ramps: (F.6) with (z - t B/D)/(delta D) in the middle, t = 0, ..., D-1. (F.9): the error against the step function
    is at most B/D, and 0 off the ramps (on a ramp it falls linearly from B/D, for delta <= 1/D ramps do not overlap).
    (F.10): 0 outside the cube beyond the last ramp. (F.11): penalty 0 on [0, B], -B beyond the ramps.
    """
    B, D, delta = q.bound, q.granularity, q.ramp
    before_jumps = [t * q.cell - q.cell / 64 for t in range(1, D + 1)]  # of the step function
    for z in [*critical_points(q), *before_jumps]:
        for t in range(D):
            low, high = t * q.cell, t * q.cell + delta * B
            branch = fmpq(0) if z < low else (z - low) / (delta * D) if z < high else q.cell
            assert at(q.ramp_sum(t), z) == [printed_ramp(q, t, z)] == [branch]
        value = at(q.quantiser(), z)[0]
        assert value == sum((printed_ramp(q, t, z) for t in range(D)), fmpq(0))
        assert 0 <= q.step_function(z) - value <= q.cell
        on_ramp = any(t * q.cell <= z < t * q.cell + delta * B for t in range(D))
        assert on_ramp or value == q.step_function(z)
        boxed = at(q.boxed(), z)[0]
        corrected = value - (relu(z / delta - B / delta) - relu(z / delta - B - B / delta))
        assert boxed == corrected
        assert 0 <= z <= (1 + delta) * B or boxed == 0
        penalty = at(q.penalty(), z)[0]
        assert -B <= penalty <= 0
        assert (penalty == 0) == (0 <= z <= B)
        assert -delta < z < B + delta or penalty == -B


@check("deep-icgd:construction-quantizer", grade="exact", target="corrected", supporting=True)
def test_wrong_heights_are_noticed() -> None:
    """Negative control: moving a ramp, or its height by 2 per cent, breaks the comparison with the step function."""
    q = Quantizer(fmpq(2), 4, fmpq(1, 8))
    f = q.quantiser()
    for h in range(f.units):
        c = f.coefficients.copy()
        c[h] *= fmpq(51, 50)
        off = ReluSum(c, f.directions)
        assert any(not 0 <= q.step_function(z) - at(off, z)[0] <= q.cell for z in [*critical_points(q), fmpq(50)])


# ---- self-attention bounds


@counterexample("deep-icgd:construction-selfattn-bounds", grade="exact")
@pytest.mark.parametrize("D", [1, 2, 5, 100])
def test_at_every_resolution_some_inputs_have_duplicate_tokens(D: int) -> None:
    """(F.14) omits sequences with equal tokens after quantisation: (z, z') in one cell, with z != z', for every D.

    The statement is about the supremum over all Z, so they may not be left out. (On them f can separate tokens only by
    the Lipschitz constant; the contextual mapping of lemma 17 does not apply.)
    """
    q = Quantizer(fmpq(1), D, fmpq(1, 8 * D))
    z, other = q.ramp, q.ramp + q.cell / 4
    assert z != other
    assert at(q.boxed(), z) == at(q.boxed(), other)


@check("deep-icgd:construction-selfattn-bounds", grade="symbolic", target="corrected", supporting=True)
@proof_steps("quantiser.md: 2, 3")
def test_proof_of_the_bounds_inside_the_cube() -> None:
    """Entries in [delta B, B], |W_OV| < 1 / (4 sqrt(d) D): every output entry exceeds 3B/(4D).

    1. SA(Z)_k - Z_k = W_OV times a convex combination of columns: at most |W_OV| max |Z_k'| < max|Z_k'|/(4 sqrt(d) D).
    2. F_1 in [B/D, B] on [delta B, B] (`test_corrected_quantiser`: the first ramp ends at delta B), so
       |Z_k| <= sqrt(d) B and the change is below B/(4D), entry by entry.
    3. B/D - B/(4D) = 3B/(4D).
    4. (Not used inside.) Where all entries are <= -B, from -B to B/(4D) is a change of B (1 + 1/(4D)), but the change
       is below d n B/(4D): impossible once 4D + 1 >= d n.
    """
    B, D, d, n, s = sp.symbols("B D d n s", positive=True)
    assert sp.simplify(sp.sqrt(d) * B / (4 * sp.sqrt(d) * D) - B / (4 * D)) == 0
    assert sp.simplify(B / D - B / (4 * D) - 3 * B / (4 * D)) == 0
    slack = B * (1 + 1 / (4 * D)) - d * n * B / (4 * D)
    assert sp.simplify(slack - B / (4 * D) * (4 * D + 1 - d * n)) == 0
    weights = sp.symbols("a0:3", nonnegative=True)
    values = [s - q for q in sp.symbols("q0:3", nonnegative=True)]  # entries at most s
    mean = sum(a * v for a, v in zip(weights, values, strict=True))
    rest = sp.expand(s * sum(weights) - mean)  # a convex combination is at most s: all terms are nonnegative
    assert all(c > 0 for c in sp.Poly(rest, *weights, *rest.free_symbols.difference(weights)).coeffs())


@check(
    "deep-icgd:construction-selfattn-bounds",
    grade="sampled",
    target="corrected",
    cases="d = 2, n = 3, B = 1, D = 4, delta = 1/8, 5 draws of inputs, scores and values; seeds 0, ..., 4",
)
@proof_steps("quantiser.md: 2")
@pytest.mark.parametrize("seed", range(5))
def test_attention_outputs_inside_the_cube(seed: int) -> None:
    """Random scores and a W_OV just inside the bound, d = 2, n = 3, D = 4: entries of SA(F_1(Z)) exceed 3B/(4D)."""
    rng = np.random.default_rng(seed)
    q = Quantizer(fmpq(1), 4, fmpq(1, 8))
    f = q.boxed()
    Z = [[fmpq(int(v), 80) for v in row] for row in rng.integers(10, 81, (2, 3))]  # entries in [delta B, B]
    F = [at(f, *row) for row in Z]
    assert all(q.cell <= v <= q.bound for row in F for v in row)
    assert at(f, q.bound, q.bound * (1 + q.ramp)) == [q.bound, 0]
    assert all(
        0 <= q.step_function(z) - v <= q.cell
        for row, out in zip(Z, F, strict=True)
        for z, v in zip(row, out, strict=True)
    )
    direction = rng.normal(size=(2, 2))
    direction /= np.linalg.norm(direction, 2) * (1 + 1e-9)
    W = [[arb(float(v)) / (4 * arb(2).sqrt() * 4) for v in row] for row in direction]
    A = rng.normal(size=(2, 2)) * 5
    for k in range(3):
        scores = [sum(F[a][l] * arb(float(A[a, b])) * F[b][k] for a in (0, 1) for b in (0, 1)) for l in range(3)]
        exponentials = [arb(score).exp() for score in scores]
        total = sum(exponentials, arb(0))
        mean = [sum((F[a][l] * e for l, e in enumerate(exponentials)), arb(0)) / total for a in (0, 1)]
        for a in (0, 1):
            output = arb(F[a][k]) + W[a][0] * mean[0] + W[a][1] * mean[1]
            assert output > arb(3 * q.cell / 4)


# ---- the second feed-forward map


@counterexample("deep-icgd:construction-F2", grade="exact")
def test_second_map_would_need_two_values_for_one_token(record: Record) -> None:
    """(F.24): F_2(L) = f(L) on the grid for token-wise F_2. f(a, b) = (b, a), cut off near the faces of the cube.

    With B_x = 1, D = 4 and c(t) = clip(4 min(t, 1 - t), 0, 1) the map c(a) c(b) (b, a) is equivariant, vanishes outside
    the cube and is Lipschitz: |c'| <= 4, so that its derivative has a norm below 10. On L = (1/4, 1/2) it sends token
    1/4 to 1/2, and on L' = (1/4, 3/4) to 3/4. No sequence here has equal tokens. If F_2 acts on the outputs of the
    attention instead, within B_x/(4D) of L and of L', the same token is asked for two values: (q(L)_1, c) has the
    nearest grid points (1/4, c) for every c.
    """
    grid = [fmpq(i, 4) for i in range(1, 5)]

    def cut(t: fmpq) -> fmpq:
        return max(fmpq(0), min(4 * t, 4 - 4 * t, fmpq(1)))

    def swap(a: fmpq, b: fmpq) -> tuple[fmpq, fmpq]:
        return (cut(a) * cut(b) * b, cut(a) * cut(b) * a)

    pairs = list(product(grid, repeat=2))
    assert all(swap(b, a) == swap(a, b)[::-1] for a, b in pairs)  # equivariant
    fine = [fmpq(i, 16) for i in range(-2, 19)]
    steps = [
        sum((x - y) ** 2 for x, y in zip(swap(a + h, b + k), swap(a, b), strict=True)) * 256
        for a, b in product(fine, repeat=2)
        for h, k in ((fmpq(1, 16), fmpq(0)), (fmpq(0), fmpq(1, 16)))
    ]
    outside = max(max(swap(a, b)) for a, b in product(fine, repeat=2) if not (0 < a < 1 and 0 < b < 1))
    needed = [swap(fmpq(1, 4), b)[0] for b in (fmpq(1, 2), fmpq(3, 4))]  # what F_2(1/4) would have to be
    assert needed == [fmpq(1, 2), fmpq(3, 4)]
    squared = 2 * ((4 * 1) ** 2 + (4 * 1 + 1) ** 2)  # of d_1 and d_2 of both entries, with |c'| <= 4, c, a, b <= 1
    record.hypothesis("f is L-Lipschitz with L = 10: squared norm of its derivative", squared, "<=", 10**2)
    record.hypothesis("difference quotients of f, squared, on a grid of 1/16", max(steps), "<=", squared)
    record.hypothesis("f vanishes outside (0, B_x)^(d x n), B_x = 1", outside, "=", 0)
    record.violated("one value F_2(1/4) is f(L)_1 and f(L')_1: their distance", needed[1] - needed[0], "=", 0)


@check("deep-icgd:construction-F2", grade="symbolic", target="printed", supporting=True)
def test_sum_of_the_two_errors() -> None:
    """Only the addition is right: L (6 sqrt(dn) + sqrt n) B/(2D) + L sqrt(dn) B/D = L (8 sqrt(dn) + sqrt n) B/(2D)."""
    L, B, D, d, n = sp.symbols("L B D d n", positive=True)
    left = L * (6 * sp.sqrt(d * n) + sp.sqrt(n)) * B / (2 * D) + L * sp.sqrt(d * n) * B / D
    assert sp.simplify(left - L * (8 * sp.sqrt(d * n) + sp.sqrt(n)) * B / (2 * D)) == 0
