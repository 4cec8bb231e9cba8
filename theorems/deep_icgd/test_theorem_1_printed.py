"""Theorems 1, 4 and 5 as printed: the start 0, bounds of the examples alone, and norms of at most O(eta) + C_w + 1.

The printed weights have larger norms; the same layers with their intermediate values in small units
(`lemmata.constructions.descent.scales`) do not. The printed hypotheses bound the examples and not the test input: an
rbar that is constant outside its interval keeps the test token silent whatever its input is. Steps 19 to 22 of
`proofs/block.md`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.certificates.descent import certify_step
from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation, largest_value, preactivation_bounds
from lemmata.constructions.descent.layers import clipping_layer
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.constructions.descent.norms import column_norm
from lemmata.constructions.descent.scales import rescaled, small_scales
from lemmata.constructions.networks.stream import Directions
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import (
    ReluSum,
    affine,
    constant,
    identity,
    piecewise_linear,
    ridge,
    squared_loss_derivative,
)
from lemmata.numerics.functions.smooth import SmoothFunction
from lemmata.theorems.deep_icgd.instances import Instance, Scalars, random_instance, reference_step
from lemmata.theorems.deep_icgd.test_theorem_1_block import (
    PROFILE,
    flat_gradient,
    loss_slope,
    smallest_error,
    spread,
)
from lemmata.theorems.evidence import check, proof_steps

BOX = (fmpq(-1, 2), fmpq(1, 2))
SHAPES = [(1, 1, 1), (2, 1, 2), (2, 2, 1), (1, 1, 1, 1)]
CASES = (
    "N = 2, 3, the widths (1,1,1), (2,1,2), (2,2,1), (1,1,1,1), n = 2, r(t) = 1/2 + t - t^3/6, phi'(s) = s + "
    "s^3/12, W = [-1/2, 1/2]^D, one set of examples, test inputs 0 and 10^9, N + 1 steps from 0, eta = 1/10, 1/20 and "
    "8 pieces, eta = 1/10 and 32 pieces, eps = the certified error"
)


def shifted(t: Any) -> Any:
    return (t - t * t * t / 6) + fmpq(1, 2)


def shifted_slope(t: Any) -> Any:
    return 1 - t * t / 2


R0 = SmoothFunction("1/2 + t - t^3/6", shifted)


def flat_outside(f: ReluSum) -> ReluSum:
    """f on [-R, R], and constant beyond: two more units, and no larger values."""
    R = f.radius
    assert R is not None
    inner = sorted({-R, R, *(t for t in f.breakpoints() if abs(t) < R)})
    values = f(as_exact(inner)).tolist()
    flat = piecewise_linear([-R - 1, *inner, R + 1], [values[0], *values, values[-1]])
    return replace(flat, radius=R, error=f.error)


@cache
def sums(widths: tuple[int, ...], pieces: int) -> tuple[ReluSum, ReluSum, ReluSum]:
    r, slope = approximate_activation(widths, R0, BOX, 1, pieces=pieces)
    return flat_outside(r), slope, ridge(interpolant(PROFILE, 6, 2 * pieces), (1, -1))


def constants(widths: tuple[int, ...]) -> tuple[fmpq, fmpq, fmpq]:
    """Bounds of C_1, C_2, C_3 for any number of pieces, from the functions alone: construction-1d, and step 20."""
    coarse = sums(widths, 8)
    radius = max(f.radius or fmpq(0) for f in coarse[:2])  # it falls with the number of pieces

    def weight(f: SmoothFunction, R: fmpq) -> fmpq:
        L = [f.bound(-R, R, i) for i in range(3)]
        return L[0] + 2 * L[1] + L[2] * (2 * R + R * R) + fmpq(1, 100)  # the roundings of the values at the knots

    return (
        weight(R0, radius) + 2 * (1 + radius) * R0.bound(-radius, radius, 1),
        weight(R0.derivative(), radius),
        2 * weight(PROFILE, fmpq(6)),
    )


def largest_output(widths: tuple[int, ...], r: ReluSum) -> fmpq:
    """A bound of |pbar(N)| for every test input, r being constant beyond its interval."""
    return preactivation_bounds(PromptLayout(widths), BOX, 10**12, largest_value(r))[1][-1]


def instance(widths: tuple[int, ...], pieces: int, step_size: object, test_input: int) -> Instance:
    bound = max(fmpq(1), min(fmpq(2), largest_output(widths, sums(widths, pieces)[0])))  # of labels (<= 1), and so R_3
    block = gradient_descent_block(widths, 2, step_size, *sums(widths, pieces), BOX, 1, bound)
    examples = np.array(spread(2 * widths[0], 5, 13), dtype=object).reshape(2, -1)
    inputs = np.concatenate([examples, as_exact([[test_input] * widths[0]])])
    labels = -np.array(spread(2 * widths[-1], 7, 11), dtype=object).reshape(2, -1)
    start = as_exact([0] * block.layout.weight_count)
    return Instance(block, Scalars(sums(widths, pieces), (shifted, shifted_slope, loss_slope)), inputs, labels, start)


def steps_of(case: Instance, machine: DescentBlock, steps: int) -> list[Array]:
    """The weights before and after each step of a machine that starts at 0, seen in all tokens and slots."""
    layout, found = case.block.layout, [case.start]
    z = layout.encode(case.inputs, case.labels, case.start)
    for _ in range(steps):
        z = machine(z)
        found.append(machine.weights(z))
        assert (z == layout.encode(case.inputs, case.labels, found[-1])).all()
    return found


@check(
    "deep-icgd:theorem-1", "deep-icgd:theorem-4", "deep-icgd:theorem-5", grade="exact", target="printed", cases=CASES
)
@proof_steps("block.md: 20, 22")
@pytest.mark.parametrize("widths", SHAPES, ids=str)
def test_printed_bounds_hold_from_the_printed_start(widths: tuple[int, ...], record_property: Any) -> None:
    """Over Q, for the block in small units: outputs as printed, errors, layers, heads and norms.

    The norm is compared with c eta + C_w + 1 with one c for both step sizes and both eps: c comes from the functions r,
    r', phi' and the sizes, C_w is the norm of the projection's MLP. The examples are within B_x = 1, the test input is
    not: it changes nothing.
    """
    weights, heads, bounds = constants(widths), [], []
    for step_size, pieces in (("1/10", 8), ("1/20", 8), ("1/10", 32)):
        case = instance(widths, pieces, step_size, 10**9)
        block, layout = case.block, case.block.layout
        assert all(f.weight <= C for f, C in zip(case.scalars.sums, weights, strict=True))
        scales = small_scales(widths, weights, max(fmpq(2), block.mask_bound))
        machine, eps = rescaled(block, scales), certify_step(block, R0, PROFILE).gradient_error
        C_w = column_norm(clipping_layer(layout, block.lower, block.upper))
        table = machine.table()
        assert largest_output(widths, block.activation) <= block.mask_bound <= 2  # so for every test input
        assert len(table.rows) == 2 * (len(widths) - 1) + 4
        assert max(row.norm for row in table.rows) <= scales.growth * block.step_size + C_w + 1
        assert max(row.norm for row in table.rows[:-2]) <= 2
        assert table.rows[-1].norm <= C_w
        path = steps_of(case, machine, layout.depth + 1)
        assert all(
            (a == b).all() for a, b in zip(path, steps_of(replace_test(case, 0), block, layout.depth + 1), strict=True)
        )
        moved = np.zeros(layout.weight_count, dtype=bool)
        for w, after in pairwise(path):
            slopes = flat_gradient(case, w)
            e = smallest_error(w, after, slopes, block.step_size)
            assert (e * e).sum() <= fmpq(*eps.as_integer_ratio()) ** 2
            moved |= (after != w).astype(bool)
        assert all(V.any() for V in layout.matrices(moved))  # every layer: the start 0 is not a fixed point here
        heads.append(max(row.heads or 0 for row in table.rows))
        bounds.append(eps)
    assert heads[0] == heads[1]
    assert heads[2] * bounds[2] ** 2 < heads[0] * bounds[0] ** 2 / 4  # far below the order eps^-2
    record_property("c", f"{float(scales.growth):.1e}")
    record_property("eps", [f"{eps:.1e}" for eps in bounds])


def replace_test(case: Instance, value: int) -> Instance:
    inputs = case.inputs.copy()
    inputs[-1] = fmpq(value)
    return replace(case, inputs=inputs)


@check("deep-icgd:theorem-1", "deep-icgd:theorem-5", grade="sampled", target="printed", supporting=True)
@proof_steps("block.md: 20")
@pytest.mark.parametrize("kind", ["linear", "affine", "huber", "piecewise"])
def test_small_units_change_no_step(kind: str) -> None:
    """Random shapes, sums, data and starts: the two blocks agree, and each scratch slot holds its multiple."""
    rng = np.random.default_rng([1, len(kind)])
    for depth in (1, 2, 3, 4):
        case = random_instance(rng, kind, depth)
        block, layout = case.block, case.block.layout
        weights = block.activation.weight, block.derivative.weight, block.loss_derivative.weight
        scales, machine = small_scales(layout.widths, weights, block.mask_bound), rescaled(block)
        factors = {f"p{j}": scales.outputs[j] for j in range(1, depth + 1)} | {"g": scales.loss}
        factors |= {f"r'{j}": scales.derivatives[j] for j in range(depth)}
        factors |= {f"s{j}": scales.errors[j - 1] for j in range(1, depth + 1)}
        for plain, small in zip(block.stages(case.prompt), machine.stages(case.prompt), strict=True):
            expected = plain.copy()
            for name, factor in factors.items():
                expected[:, layout.stream[name]] = factor * plain[:, layout.stream[name]]
            assert (small == expected).all()
        assert (
            machine(case.prompt) == layout.encode(case.inputs, case.labels, reference_step(case, case.start)[0])
        ).all()
        norms = [row.norm for row in machine.table().rows]
        assert max(norms[:-2]) <= 2
        assert norms[-2] <= 1 + block.step_size * scales.growth


@check("deep-icgd:theorem-1", "deep-icgd:theorem-5", grade="exact", target="printed", supporting=True)
@proof_steps("block.md: 20")
@pytest.mark.parametrize("widths", SHAPES, ids=str)
def test_repeated_heads_multiply_the_error_signal_at_no_norm(widths: tuple[int, ...]) -> None:
    """Step 20: 7 copies of each head of s(N), all s(j) in units 7 times as large: the norm stays 1, the step the same.

    The update divides by the larger units, so that its growth is a seventh.
    """
    M, case = 7, instance(widths, 8, "1/10", 3)
    block, layout = case.block, case.block.layout
    plain = small_scales(widths, constants(widths), max(fmpq(2), block.mask_bound))
    scales = replace(plain, errors=tuple(M * sigma for sigma in plain.errors))
    machine, place = rescaled(block, scales), layout.depth + 2
    once: Any = machine.layers[place]
    parts = {name: getattr(once, name) for name in ("query", "key", "source", "target")}
    copies = {name: Directions.stack([part] * M).reshape(-1, *part.shape[1:]) for name, part in parts.items()}
    again = replace(once, **copies)
    assert again.head_count == M * widths[-1]
    assert column_norm(again) == column_norm(once) == 1
    assert 7 * scales.growth == plain.growth
    louder = replace(machine, layers=(*machine.layers[:place], again, *machine.layers[place + 1 :]))
    assert louder.table().rows[-2].norm <= 1 + block.step_size * scales.growth
    paths = [steps_of(case, one, layout.depth + 1) for one in (rescaled(block, plain), louder)]
    assert all((a == b).all() for a, b in zip(*paths, strict=True))
    assert (paths[0][-1] != 0).any()
    assert (steps_of(case, machine, 1)[1] != paths[0][1]).any()  # the larger units without the copies


@check("deep-icgd:theorem-1", grade="exact", target="printed", supporting=True)
def test_norms_of_the_printed_weights() -> None:
    """r(t) = 100 t, N = 2, K = d = 1: layer 1 of the printed weights has the norm 201 for every eta, in small units 2.

    C_w is below 40, and the update has at most 1 + 4 eta: the printed weights do not have the printed norms.
    """
    for power in range(4):
        eta = fmpq(1, 10**power)
        block = gradient_descent_block(
            (1, 1, 1), 1, eta, affine(100), constant(100), squared_loss_derivative(), (-1, 1), 1, 1
        )
        norms, small = ([row.norm for row in one.table().rows] for one in (block, rescaled(block)))
        assert norms[0] == 201
        assert norms[-2] <= 1 + 4 * eta
        assert norms[-1] == small[-1] < 40
        assert norms[0] > norms[-2] + norms[-1] + 1
        assert max(small[:-2]) <= 2


@check("deep-icgd:theorem-1", "deep-icgd:theorem-5", grade="symbolic", target="printed", supporting=True)
@proof_steps("block.md: 21")
def test_width_against_the_hidden_units_of_the_projection() -> None:
    """D <= D_w + 4 N K^2 for K >= 3, as D_w >= 2 D_N (step 21); for K = 1 and 2 it is 4d and 2d more, up to O(1).

    With d_x inputs and d_y outputs in the same way: d_x + 2 d_y + 3 d_y - K (d_x + d_y) <= 0 for K >= 5 only, so that
    the constant is larger.
    """
    N, K, d, q, m = sp.symbols("N K d q m", nonnegative=True)
    weights = 2 * d * K + (N - 2) * K**2
    width = weights + 3 * (N - 1) * K + 6 * d + 2
    slack = sp.expand((2 * weights + 4 * N * K**2 - width).subs({K: 3 + q, N: 2 + m}))
    assert all(c > 0 for c in sp.Poly(slack, d, q, m).coeffs())
    for k, rest in ((1, 4), (2, 2)):
        assert sp.expand((width - 2 * weights).subs(K, k)).coeff(d) == rest
    for n, inner, size in ((2, 1, 3), (3, 2, 4), (4, 3, 5)):
        layout = PromptLayout((size, *(inner,) * (n - 1), size))
        assert layout.stream.width == width.subs({N: n, K: inner, d: size})
        clip = clipping_layer(layout, *([as_exact([end] * layout.weight_count) for end in (-1, 1)]))
        assert clip.unit_count == 2 * layout.weight_count


@check("deep-icgd:construction-proj", "deep-icgd:theorem-1", grade="exact", target="printed", supporting=True)
@proof_steps("block.md: 21")
@pytest.mark.parametrize("unit", ["1/10", 1, 10])
def test_clean_up_in_the_units_of_the_projection_adds_nothing_to_its_norm(unit: Any) -> None:
    """Steps 20 and 21 for |w_1 + w_2|, |w_1 - w_2| <= 1, an MLP with 4 units of any size, and three scratch slots.

    The printed layer clears as well; its norm is C_w = |W_1|_1 + |W_2|_1 of the MLP alone. With units of size 1 for the
    clean-up it would be larger for the other two.
    """
    size = as_exact([unit])[0]
    signs = as_exact([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    W_1, W_2 = size * np.concatenate([signs, as_exact([[-1]] * 4)], axis=1), (signs / (-2 * size)).T
    assert (W_2 @ W_1[:, :2] == as_exact([[-2, 0], [0, -2]])).all()
    first, b = (max(abs(W).sum(axis=0)) for W in (W_1, W_2))
    assert first * b >= 2

    def with_clean_up(b: fmpq) -> tuple[Array, Array]:
        """W_1 on (w, 1, z) and W_2 to (w, 1, z), z the scratch, with units of size 1/b for it."""
        ones = as_exact(np.eye(3, dtype=np.int64))
        inner, outer = (as_exact(np.zeros(shape, dtype=np.int64)) for shape in ((10, 6), (6, 10)))
        inner[:4, :3], outer[:2, :4] = W_1, W_2
        inner[4:, 3:] = np.concatenate([ones, -ones]) / b
        outer[3:, 4:] = np.concatenate([-b * ones, b * ones], axis=1)
        return inner, outer

    inner, outer = with_clean_up(b)
    assert max(abs(inner).sum(axis=0)) + max(abs(outer).sum(axis=0)) == first + b
    others = [max(abs(W).sum(axis=0)) for W in with_clean_up(fmpq(1))]
    assert (sum(others) > first + b) == (size != 1)
    for u, v in product(as_exact([-3, -1, "-1/2", 0, "2/3", 1, 5]), repeat=2):
        h = as_exact([(u + v) / 2, (u - v) / 2, 1, 7, -5, 0])
        after = h + outer @ np.maximum(inner @ h, as_exact([0]))
        along, across = (max(fmpq(-1), min(t, fmpq(1))) for t in (u, v))
        assert after.tolist() == [(along + across) / 2, (along - across) / 2, 1, 0, 0, 0]


@check("deep-icgd:theorem-1", grade="exact", target="printed", supporting=True)
@proof_steps("block.md: 22")
def test_sums_that_are_constant_outside_silence_any_test_input() -> None:
    """Step 22: the same sum on the interval, bounded beyond it; without this a large test input leaks into the step."""
    f = sums((1, 1, 1), 8)[0]
    R = f.radius
    assert R is not None
    inner = [R * k / 9 for k in range(-9, 10)]
    plain = approximate_activation((1, 1, 1), R0, BOX, 1, pieces=8)[0]
    assert (f(as_exact(inner)) == plain(as_exact(inner))).all()
    beyond = f(as_exact([-1000, -R, R, R + 1, 10**9])).tolist()
    assert beyond[0] == beyond[1]
    assert beyond[2] == beyond[3] == beyond[4]
    case = instance((1, 1, 1), 8, "1/10", 1000)
    leaky = gradient_descent_block((1, 1, 1), 2, "1/10", plain, *case.scalars.sums[1:], BOX, 1, 1)
    w = as_exact(["1/2", "1/2"])
    steps = {}
    for name, machine in (("flat", case.block), ("linear", leaky)):
        for x in (0, 1000):
            inputs = replace_test(case, x).inputs
            steps[name, x] = machine.weights(machine(machine.layout.encode(inputs, case.labels, w))).tolist()
    assert steps["flat", 0] == steps["flat", 1000] == steps["linear", 0] != steps["linear", 1000]


@check("deep-icgd:theorem-1", grade="exact", target="printed", supporting=True)
def test_scales_for_other_widths_are_refused() -> None:
    sums_of = identity(), constant(1), squared_loss_derivative()
    block = gradient_descent_block((1, 2, 1), 1, 1, *sums_of, (-1, 1), 1, 1)
    with pytest.raises(ValueError, match="for the widths"):
        rescaled(block, small_scales((1, 1, 1), (2, 1, 4), 2))
    assert piecewise_linear([-1, 1], [-1, 1]).weight > 0
