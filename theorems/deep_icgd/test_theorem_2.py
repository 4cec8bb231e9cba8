"""Theorem 2: losses that are not separable, and why the projection has to be an MLP, as theorem 1 assumes.

The loss is l(t, y) = |t - y|^4 / 4 in two variables, u = |t - y|^2 (t - y), whose entries are no sums of functions of
one entry each. As in step 16 of `proofs/block.md` they are sums of cubes of linear forms, and the cubes are
interpolated. The oracle of the gradient is a polynomial in one variable over Q; it knows no chain rule.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import factorial
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq, fmpq_poly

from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation, largest_value
from lemmata.constructions.networks.stored import StoredFeedForward
from lemmata.constructions.networks.stream import Directions
from lemmata.numerics.descent.errors import LayerBounds, LossBounds, gradient_error
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import ReluSum, squared_loss_derivative
from lemmata.numerics.functions.smooth import SmoothFunction
from lemmata.theorems.deep_icgd.test_theorem_1_block import R, assert_bounds, cubic, smallest_error, spread, value
from lemmata.theorems.evidence import check, proof_steps

CUBE = SmoothFunction("s^3", lambda s: s * s * s)
FORMS = (  # u_k = sum of e (a . (t - y))^3 over the triples (k, e, a)
    *((k, fmpq(2, 3), tuple(int(i == k) for i in range(2))) for k in range(2)),
    *((k, fmpq(1 if k == 0 else sign, 6), (1, sign)) for k in range(2) for sign in (1, -1)),
)
CASES = (
    "N = 1, 2, the widths (2,2), (1,2,2), n = 2, r(t) = t - t^3/6, l(t, y) = |t - y|^4 / 4, W = [-1, 1]^D, one prompt "
    "and start each, eps = the certified error of 128 pieces (below the norm of the gradient), one step with eta = 1/2 "
    "and one with eta = 100"
)


@check("deep-icgd:theorem-2", grade="symbolic", target="printed", supporting=True)
@check("deep-icgd:theorem-1", grade="symbolic", target="printed", supporting=True)
@proof_steps("block.md: 16")
@pytest.mark.parametrize("s", [1, 2, 3, 4, 5])
def test_products_are_sums_of_powers_of_linear_forms(s: int) -> None:
    """Polarisation. For all s: in the sum only monomials with an odd power of z_2, ..., z_s survive, and each of these
    has degree s, so that it is z_1 ... z_s, with the coefficient s! from each of the 2^(s-1) powers."""
    z = sp.symbols(f"z1:{s + 1}")
    total = sum(
        sp.prod(b) * sum(c * x for c, x in zip((1, *b), z, strict=True)) ** s for b in product((1, -1), repeat=s - 1)
    )
    assert sp.expand(total - 2 ** (s - 1) * factorial(s) * sp.prod(z)) == 0


@check("deep-icgd:theorem-2", grade="symbolic", target="printed", supporting=True)
def test_the_loss_of_the_check_in_cubes() -> None:
    t, y = sp.symbols("t0:2"), sp.symbols("y0:2")
    e = [a - b for a, b in zip(t, y, strict=True)]
    loss = sum(x**2 for x in e) ** 2 / 4
    for k in range(2):
        cubes = sum(
            sp.Rational(int(c.p), int(c.q)) * sum(a * x for a, x in zip(form, e, strict=True)) ** 3
            for i, c, form in FORMS
            if i == k
        )
        assert sp.expand(cubes - sp.diff(loss, t[k])) == 0
    assert sp.diff(loss, t[0], t[1]) != 0  # not separable


def loss_layer(block: DescentBlock, cube: ReluSum) -> StoredFeedForward:
    """The layer of lemma 4 for `FORMS`: units c relu(a s + b) of the cube at s = form . (t - y), scaled and masked."""
    layout, rows, targets, coefficients = block.layout, [], [], []
    for k, factor, form in FORMS:
        for c, (a, b) in zip(cube.coefficients.tolist(), cube.directions.tolist(), strict=True):
            row = [a * f for f in form] + [-a * f for f in form] + [b]
            scale = max(sum(map(abs, row)), fmpq(1))
            rows.append([x / scale for x in row])
            targets.append(layout.block("g")[k])
            coefficients.append(factor * c * scale)
    directions = as_exact(rows)
    assert max(abs(directions).sum(axis=1).tolist()) <= 1
    mask = np.array([[-block.mask_bound, block.mask_bound]] * len(rows), dtype=object)
    weights = np.concatenate([directions[:, :4], directions[:, 4:] + mask[:, :1], mask[:, 1:]], axis=1)
    source = layout.output(layout.depth) + layout.block("y", "1", "t")
    return StoredFeedForward(source.broadcast(len(rows), 6), weights, Directions.stack(targets), as_exact(coefficients))


def risk_gradient_by_polynomials(block: DescentBlock, w: Array, inputs: Array, labels: Array) -> Array:
    """The linear coefficients of t -> L_n(w + t e) for all unit vectors e."""
    result = []
    for position in range(len(w)):
        moved, total = w.copy(), fmpq_poly([0])
        moved[position] = fmpq_poly([w[position], 1])
        for x, y in zip(inputs, labels, strict=True):
            p: list[Any] = list(x)
            for V in block.layout.matrices(moved):
                p = [cubic(sum((v * b for v, b in zip(row, p, strict=True)), fmpq_poly([0]))) for row in V.tolist()]
            square = sum(((a - b) * (a - b) for a, b in zip(p, y, strict=True)), fmpq_poly([0]))
            total = total + square * square / 4
        result.append((total / (2 * len(labels)))[1])
    return np.array(result, dtype=object)


def gradient_with_the_sums(block: DescentBlock, cube: ReluSum, w: Array, inputs: Array, labels: Array) -> Array:
    """Back-propagation with the sums in place of r, r' and the cubes, by outer products."""
    matrices = block.layout.matrices(w)
    total: list[Any] = [0] * len(matrices)
    for x, y in zip(inputs, labels, strict=True):
        p = [x]
        for V in matrices:
            p.append(block.activation(V @ p[-1]))
        e = p[-1] - y
        u = [sum(c * value(cube, sum(a * e)) for i, c, a in FORMS if i == k) for k in range(2)]
        s = np.array(u, dtype=object)
        for j in range(len(matrices), 0, -1):
            s = block.derivative(matrices[j - 1] @ p[j - 1]) * s
            total[j - 1] = total[j - 1] + np.outer(s, p[j - 1])
            s = matrices[j - 1].T @ s
    return block.layout.flatten(total) / (2 * len(labels))


def certified_error(block: DescentBlock, cube: ReluSum) -> fmpq:
    """The recursion of lemma 6, corrected, for all weights of the box [-1, 1]^D and entries of the data at most 1."""
    radius = max(block.preactivations)
    top = R.bound(-radius, radius) + block.activation.error
    layers = [
        LayerBounds(
            k,
            norm=arb(k * before).sqrt(),
            row=arb(before).sqrt(),
            activation=arb(k).sqrt() * top,
            lipschitz=arb(R.bound(-radius, radius, 1)),
            slope=arb(R.bound(-radius, radius, 1) + block.derivative.error),
            slope_lipschitz=arb(R.bound(-radius, radius, 2)),
            error=arb(block.activation.error),
            slope_error=arb(block.derivative.error),
        )
        for before, k in pairwise(block.layout.widths)
    ]
    eps_l = cube.error  # the coefficients of an entry of u sum to 2/3 + 2/6 = 1
    length = arb(2).sqrt() * (top + 1)  # of t - y
    loss = LossBounds(length**3 + arb(2).sqrt() * eps_l, 3 * length**2, arb(eps_l))
    bound = gradient_error(layers, loss, arb(block.layout.widths[0]).sqrt()).gradient.upper()
    return fmpq((bound * 2**40).ceil().unique_fmpz() or 0, 2**40)


@check("deep-icgd:theorem-2", grade="exact", target="printed", cases=CASES)
@check("deep-icgd:theorem-1", grade="exact", target="printed", supporting=True)
@proof_steps("block.md: 16")
@pytest.mark.parametrize("widths", [(2, 2), (1, 2, 2)], ids=str)
def test_block_for_a_loss_that_is_not_separable(widths: tuple[int, ...], record_property: Any) -> None:
    """Over Q, all tokens and slots: the block is exactly the step with the sums, so that a wrong rate is seen; and
    that step is clip(w - eta (grad L_n + e)) with |e| <= eps."""
    box, largest, clipped = (-1, 1), fmpq(0), 0
    r, slope = approximate_activation(widths, R, box, 1, pieces=128)
    for step_size in ("1/2", 100):
        block = gradient_descent_block(widths, 2, step_size, r, slope, squared_loss_derivative(), box, 1, 1)
        layout, at = block.layout, block.layout.depth + 1
        top = largest_value(r)(max(block.preactivations))
        cube = interpolant(CUBE, 2 * (top + 1), 128)  # |t - y| <= top + 1, and sums of two entries
        layers = (*block.layers[:at], loss_layer(block, cube), *block.layers[at + 1 :])
        eps = certified_error(block, cube)
        assert_bounds(max(block.preactivations))
        inputs = np.array(spread(3 * widths[0], 5, 13), dtype=object).reshape(3, -1)
        labels = -np.array(spread(2 * widths[-1], 7, 11), dtype=object).reshape(2, -1)
        w = as_exact([fmpq((7 * i) % 5 + 4, 8) * (-1) ** (i * i // 2) for i in range(layout.weight_count)])
        slopes = risk_gradient_by_polynomials(block, w, inputs[:-1], labels)
        assert all((V != 0).any() for V in layout.matrices(slopes))
        z = layout.encode(inputs, labels, w)
        for layer in layers:
            z = layer(z)
        moved = w - block.step_size * gradient_with_the_sums(block, cube, w, inputs[:-1], labels)
        after = np.array([min(max(t, fmpq(-1)), fmpq(1)) for t in moved.tolist()], dtype=object)
        assert (z == layout.encode(inputs, labels, after)).all()
        e = smallest_error(w, after, slopes, block.step_size)
        assert (e * e).sum() <= eps**2 < (slopes * slopes).sum()
        largest = max(largest, (e * e).sum() / eps**2)
        clipped += int(np.count_nonzero(abs(w - block.step_size * slopes) > 1))
    record_property("largest error over eps", round(float(largest) ** 0.5, 4))
    assert clipped > 0
    assert largest > 0


@check("deep-icgd:theorem-2", grade="symbolic", target="printed", supporting=True)
def test_no_transformer_stays_on_a_sphere() -> None:
    """Why theorem 2 needs the hypothesis of theorem 1 on Proj_W: without it, for W a product of balls, it fails.

    The balls have dimension >= 2. There are prompts whose steps leave a ball by more than eta eps. There the new row
    Proj_W(...) lies on the sphere, exactly. All layers, ReLU attention, MLP and element-wise multiplication, are
    continuous and piecewise polynomial in the prompt, so that on each piece the entries of the row are polynomials a_i
    with sum a_i^2 = 1. Along a line the sum of the squares of their top coefficients is 0 (below), so all a_i are
    constant, and on a connected open set of prompts the transformer writes one row. But the row of exact descent turns
    with the data (for r(0), r'(0) != 0, N = 2 and the start 0 the rows of V_1 do in the second step, which moves them
    along a combination of the x_i): along (2, t) it is (2, t) / sqrt(4 + t^2). As the projection is nonexpansive, the
    two rows differ by at most eta eps, which fails for small eps.
    """
    x, t = sp.symbols("x t", real=True)
    for degree in range(1, 5):
        a, b = (sp.symbols(f"{name}0:{degree + 1}", real=True) for name in "ab")
        squares = sum((sum(c * x**i for i, c in enumerate(row)) ** 2 for row in (a, b)), sp.Integer(0))
        top = sp.Poly(sp.expand(squares - 1), x).coeff_monomial(x ** (2 * degree))
        assert sp.expand(top - a[-1] ** 2 - b[-1] ** 2) == 0
    curve = sp.Matrix([2, t]) / sp.sqrt(4 + t**2)
    assert sp.simplify(curve.dot(curve)) == 1
    assert curve.subs(t, -1) != curve.subs(t, 1)
