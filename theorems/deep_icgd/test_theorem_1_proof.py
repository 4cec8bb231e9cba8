"""Theorems 1 and 5 for all N, widths, n, eta, L and eps: the proof, with each of its steps checked.

What is shown. W is a box; r and r' are C^2, here with a loss sum_k phi(t_k - y_k), phi' in C^2, for which all
three sums have rates (any other loss: step 16 of `proofs/block.md` and `test_theorem_2`); inputs, the test input
included, and labels are bounded in advance. For every eps > 0 there are 2N+4 layers which map every prompt with any w
in W to the prompt with clip(w - eta (grad L_n(w) + e)), |e|_2 <= eps, n examples.

1. Ranges. Let rho_1 = m B_x, top_j = sup_{|t| <= rho_j} |r| + 1 and rho_(j+1) = m top_j (m: the largest row sum of
   max(|lower|, |upper|)), R = max rho_j. If |rbar - r| <= eps_0 <= 1 on [-R, R], all arguments of both networks lie in
   [-R, R], layer by layer. R does not depend on eps_0.
2. Sums. On [-R, R] the interpolant with p pieces per side has error <= sup |g''| (R/p)^2 / 8 and 1 + 2p units at most
   (construction-1d, proved in `test_relu_sums`), so p = ceil(R (sup |g''| / (8 eps_0))^(1/2)) is enough for r and r';
   the same for phi' on |t - y| <= top_N + B_y.
3. The block with these sums is w -> clip(w - eta gradbar), all tokens and slots (construction-block: the identities of
   the layers hold for any sizes and any sums, by the docstring of `lemmata.constructions.descent.layers`; they are
   checked in `test_layers` and `test_block`).
4. Error. |gradbar - grad L_n| <= B(eps_r, eps_r', eps_l), the recursion of lemma 6, corrected (proved in
   `test_error_recursion`), with constants from step 1. 4 B^2 is a sum of squares of polynomials with coefficients >= 0
   and no constant term: true of e_p(0) = 0 and of each error itself, and kept by sums and by products with polynomials
   with coefficients >= 0, which is all that the recursion does (N = 1..4 are expanded below). So for s <= 1
   B(s, s, s) <= s B(1, 1, 1), and eps_0 = min(1, eps / B(1, 1, 1)) is enough.
5. Sizes. p is of the order of eps^(-1/2), so there are max(K_1 + ... + K_N) (1 + 2p) heads at most, below the order
   eps^(-2) that is claimed; the norms are those of `test_norms_of_all_layers`, the width is equation-2.1's.
6. L steps. The block returns a prompt, with w in W, so that it can be applied again: the errors are those of the
   gradients at the transformer's own iterates.

If instead of a box W is any set whose projection is an MLP layer, as the theorem assumes, the last layer has the units
of that MLP beside the two for each scratch coordinate, and m bounds the rows of all w in W
(`test_projection_on_a_rotated_square`). Polyhedra need not have one (`test_projection_on_a_wedge_is_no_mlp`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.certificates.descent import certify_step
from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.bounds import preactivation_bounds
from lemmata.constructions.descent.layers import applied_units, projection_layer
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.constructions.descent.norms import unit_norms
from lemmata.constructions.networks.stored import StoredFeedForward
from lemmata.constructions.networks.stream import Directions
from lemmata.numerics.descent.errors import LayerBounds, LossBounds, gradient_error
from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import ReluSum, ridge, squared_loss_derivative
from lemmata.numerics.functions.smooth import SmoothFunction, log_cosh, sigmoid, softplus, tanh
from lemmata.numerics.functions.smooth import identity as linear
from lemmata.theorems.deep_icgd.instances import Instance, gradient, random_instance, random_scalars, rationals
from lemmata.theorems.evidence import check, proof_steps

# ---- step 4: the bound has no constant term


def symbolic_recursion(N: int) -> tuple[list[Any], list[Any], list[Any]]:
    """(the terms e_s(j) pi_(j-1) + S_j e_p(j-1), the errors, all symbols): B = sqrt(sum of squares) / 2."""
    errors = list(sp.symbols("eps_r eps_s eps_l", positive=True))
    constants: list[Any] = []

    def symbols(name: str) -> list[Any]:
        new = list(sp.symbols(f"{name}1:{N + 1}", positive=True))
        constants.extend(new)
        return new

    root, nu, row, L_r, L_s, pi, sup = (symbols(name) for name in ("k", "nu", "v", "Lr", "Ls", "pi", "sup"))
    size, L_u = sp.symbols("phi Lu", positive=True)
    slope = [s + errors[1] for s in sup]  # sup |r'| + eps_r'
    G = root[-1] * (size + errors[2])
    e_p: list[Any] = [sp.Integer(0)]
    for j in range(N):
        e_p.append(root[j] * errors[0] + L_r[j] * nu[j] * e_p[-1])
    e_slope = [errors[1] + L_s[j] * row[j] * e_p[j] for j in range(N)]
    S, e_s = [slope[-1] * G], [e_slope[-1] * G + slope[-1] * (root[-1] * errors[2] + L_u * e_p[-1])]
    for j in range(N - 2, -1, -1):
        e_s.insert(0, nu[j + 1] * (e_slope[j] * S[0] + slope[j] * e_s[0]))
        S.insert(0, slope[j] * nu[j + 1] * S[0])
    return [e_s[j] * pi[j] + S[j] * e_p[j] for j in range(N)], errors, [*constants, size, L_u]


@check("deep-icgd:theorem-1", grade="symbolic", target="printed", supporting=True)
@check("deep-icgd:theorem-4", grade="symbolic", target="printed", supporting=True)
@check("deep-icgd:theorem-5", grade="symbolic", target="printed", supporting=True)
@proof_steps("block.md: 14")
@pytest.mark.parametrize("N", [1, 2, 3, 4])
def test_error_of_the_gradient_vanishes_with_the_errors_of_the_sums(N: int) -> None:
    """Steps 2 and 4 of the proof above; the others are checked where it says.

    All coefficients are > 0 and every monomial contains an error; so the bound with all errors s <= 1 is at most s
    times that with all errors 1: s^a <= s for every a >= 1.
    """
    terms, errors, constants = symbolic_recursion(N)
    for term in terms:
        polynomial = sp.Poly(sp.expand(term), *errors, *constants)
        assert all(c > 0 for c in polynomial.coeffs())
        assert all(sum(powers[:3]) >= 1 for powers in polynomial.monoms())
    R, L, p, eps = sp.symbols("R L p eps", positive=True)  # step 2: p^2 >= R^2 L / (8 eps) makes L (R/p)^2 / 8 <= eps
    slack = eps - L * (R / p) ** 2 / 8
    assert sp.simplify(slack - eps / p**2 * (p**2 - R**2 * L / (8 * eps))) == 0


def _ball(rational: Any) -> arb:
    """A SymPy rational as a ball."""
    return arb(fmpq(int(rational.p), int(rational.q)))


@check("deep-icgd:theorem-1", grade="numeric", target="printed", supporting=True)
@proof_steps("block.md: 13")
def test_the_recursion_of_the_library_is_the_symbolic_one() -> None:
    """`gradient_error` in balls at random constants against the polynomials; and a constant term would be seen."""
    rng = np.random.default_rng(1)
    for N in (1, 2, 3):
        terms, errors, constants = symbolic_recursion(N)
        values = {s: sp.Rational(int(v), 7) for s, v in zip(constants, rng.integers(1, 9, len(constants)), strict=True)}
        for k in constants[:N]:
            values[k] = sp.Integer(int(rng.integers(1, 4)))  # the roots of the widths
        eps = [sp.Rational(int(v), 11) for v in rng.integers(1, 9, 3)]
        expected = sp.sqrt(sum(t.subs({**values, **dict(zip(errors, eps, strict=True))}) ** 2 for t in terms)) / 2
        get = [_ball(v) for v in values.values()]
        e_r, e_s, e_l = (_ball(e) for e in eps)
        root, nu, row, L_r, L_s, pi, sup = (get[N * i : N * (i + 1)] for i in range(7))
        layers = [
            LayerBounds(
                int(values[constants[j]]) ** 2,
                nu[j],
                row[j],
                pi[min(j + 1, N - 1)],
                L_r[j],
                sup[j] + e_s,
                L_s[j],
                e_r,
                e_s,
            )
            for j in range(N)
        ]
        loss = LossBounds(root[-1] * (get[-2] + e_l), get[-1], e_l)
        found = gradient_error(layers, loss, pi[0]).gradient
        assert abs(float(found) / float(expected) - 1) < 1e-12
        constant = sp.Poly(sp.expand(terms[0] + constants[0]), *errors, *constants)
        assert not all(sum(powers[:3]) >= 1 for powers in constant.monoms())


# ---- the recipe at work


def pieces_for(function: SmoothFunction, radius: fmpq, eps: fmpq) -> int:
    """Step 2, with 9/8 for the accuracy of the bounds and the rounding of the values."""
    needed = function.bound(-radius, radius, 2) * fmpq(9, 8) * radius**2 / (8 * eps)
    return int(needed.ceil().sqrtrem()[0]) + 1


def sums_by_the_recipe(
    widths: tuple[int, ...], function: SmoothFunction, profile: SmoothFunction, box: Any, eps: fmpq
) -> tuple[ReluSum, ReluSum, ReluSum, fmpq]:
    """rbar, rbar', ubar and eps_0, without any search: steps 1, 4 and 2; |x|, |y| <= 1."""
    layout = PromptLayout(widths)
    radii, tops = preactivation_bounds(layout, box, 1, lambda rho: function.bound(-rho, rho) + 1)
    R, distance, size = max(radii), tops[-1] + 1, max(abs(end) for end in box)
    with precision(96):
        layers = [
            LayerBounds(
                k,
                norm=arb(k * before).sqrt() * size,
                row=arb(before).sqrt() * size,
                activation=arb(k).sqrt() * top,
                lipschitz=arb(function.bound(-R, R, 1)),
                slope=arb(function.bound(-R, R, 1) + 1),
                slope_lipschitz=arb(function.bound(-R, R, 2)),
                error=arb(1),
                slope_error=arb(1),
            )
            for (before, k), top in zip(pairwise(widths), tops[1:], strict=True)
        ]
        largest = arb(widths[-1]).sqrt() * (profile.bound(-distance, distance) + 1)
        loss = LossBounds(largest, arb(profile.bound(-distance, distance, 1)), arb(1))
        at_one = gradient_error(layers, loss, arb(widths[0]).sqrt()).gradient.upper()
    eps_0 = min(fmpq(1), eps / (at_one.ceil().unique_fmpz() or 1))
    r, slope = (interpolant(g, R, pieces_for(g, R, eps_0)) for g in (function, function.derivative()))
    if profile is linear:
        return r, slope, squared_loss_derivative(), eps_0
    return r, slope, ridge(interpolant(profile, 2 * distance, pieces_for(profile, 2 * distance, eps_0)), (1, -1)), eps_0


@check("deep-icgd:theorem-1", grade="enclosed", target="printed", supporting=True)
@check("deep-icgd:theorem-5", grade="enclosed", target="printed", supporting=True)
@proof_steps("block.md: 15")
@pytest.mark.parametrize(
    ("widths", "function", "profile"),
    [
        ((2, 1), tanh, linear),
        ((2, 2, 1), tanh, linear),
        ((1, 2, 2), softplus, linear),
        ((2, 1, 3), sigmoid, log_cosh.derivative()),
        ((1, 2, 1, 2), sigmoid, linear),
    ],
    ids=["N1-tanh", "N2-tanh", "N2-softplus", "N2-sigmoid", "N3-sigmoid"],
)
def test_number_of_knots_in_closed_form(
    widths: tuple[int, ...], function: SmoothFunction, profile: SmoothFunction, effort: Any, record_property: Any
) -> None:
    """The eps_0 of step 4 gives a certificate <= eps, from the constants of the problem alone; units as in step 5."""
    box, counts = (fmpq(-1, 4), fmpq(1, 4)), []
    decades = effort.pick(quick=2, full=4)
    for power in range(1, decades + 1):
        eps = fmpq(1, 10**power)
        r, slope, u, eps_0 = sums_by_the_recipe(widths, function, profile, box, eps)
        assert max(r.error, slope.error, u.error) <= eps_0
        block = gradient_descent_block(widths, 2, 1, r, slope, u, box, 1, 1)
        assert certify_step(block, function, profile).recursion.gradient <= arb(eps)
        counts.append(max(r.units, slope.units))
        assert len(block.layers) == 2 * (len(widths) - 1) + 4
    record_property("units", counts)
    assert all(b <= 3.2 * a + 8 for a, b in pairwise(counts))  # sqrt(10) < 3.2 per decade, and the roundings up


# ---- step 5: norms


@check("deep-icgd:theorem-1", grade="exact", target="printed", supporting=True)
@check("deep-icgd:theorem-5", grade="exact", target="printed", supporting=True)
@proof_steps("block.md: 6, 18")
@pytest.mark.parametrize("kind", ["linear", "affine", "huber", "piecewise"])
def test_norms_of_all_layers(kind: str) -> None:
    """B_theta is at most the largest of 1 + max(K, d_y) C_1, 1 + ((N-1)K + d_y) C_2, d_y M_3 (R_3 + 1) + C_3, 1 (the
    multiplications), 1 + 2 eta ((N-1)K + d_y) and C_w + 3: layer by layer, for random shapes. These are the printed
    weights; O(eta) + C_w + 1 takes small units (`test_theorem_1_printed`).
    """
    rng = np.random.default_rng(len(kind))
    for depth in (1, 2, 3, 4):
        block = random_instance(rng, kind, depth).block
        layout, (r, slope, u) = block.layout, (block.activation, block.derivative, block.loss_derivative)
        norms = [summary.norm for summary in block.table()]
        d_y = layout.widths[-1]
        clip = projection_layer(layout, block.lower, block.upper)
        units = 2 * layout.weight_count
        source, weights, target = clip.source[:units], clip.weights[:units], clip.target[:units]
        first, second, _ = unit_norms(StoredFeedForward(source, weights, target, clip.coefficients[:units]))
        bounds = [1 + max(layout.widths[1:]) * r.weight] * depth + [1 + layout.units * slope.weight]
        bounds += [d_y * u.units * (block.mask_bound + 1) + u.weight] + [fmpq(1)] * depth
        bounds += [1 + 2 * block.step_size * layout.units, first + second + 3]
        assert len(norms) == len(bounds)
        assert all(norm <= bound for norm, bound in zip(norms, bounds, strict=True))


# ---- other domains


def rotated_square(layout: PromptLayout) -> StoredFeedForward:
    """Projection of (w_1, w_2) on |w_1 + w_2|, |w_1 - w_2| <= 1, w - sum_a (relu(<a,w> - 1) - relu(-<a,w> - 1)) a / 2,
    beside the clean-up of the scratch; a unit of the document's MLP is two units here, one per coordinate it writes."""
    w, units = layout.block("w1"), [(sign, a) for a in ((1, 1), (1, -1)) for sign in (1, -1)]
    square = StoredFeedForward(
        (w + layout.one).broadcast(2 * len(units), 3),
        as_exact([[sign * a[0], sign * a[1], -1] for sign, a in units for _ in a]),
        Directions.stack([w] * len(units)).reshape(-1),
        as_exact([-sign * entry * fmpq(1, 2) for sign, a in units for entry in a]),
    )
    scratch, one = layout.scratch, layout.one
    cleared = applied_units(as_exact([-1, 1]), as_exact([[1, 0, 0], [-1, 0, 0]]), [scratch, one, one], scratch)
    return square.beside(cleared)


@check("deep-icgd:construction-proj", grade="sampled", target="printed", supporting=True)
@check("deep-icgd:theorem-1", grade="sampled", target="printed", supporting=True)
@proof_steps("block.md: 6")
def test_projection_on_a_rotated_square() -> None:
    """The theorem for a W that is no box but has an MLP: N = 1, W in [-1, 1]^2, exact over Q, all faces and corners."""
    rng, met = np.random.default_rng(3), set()
    scalars = random_scalars("affine", rng)
    for _ in range(40):
        box = gradient_descent_block((2, 1), 2, 4, *scalars.sums, (-1, 1), 1, 1)
        layers = (*box.layers[:-1], rotated_square(box.layout))
        start = rationals(rng, 2) / fmpq(2)
        instance = Instance(box, scalars, rationals(rng, 3, 2), rationals(rng, 2, 1), start)
        slopes = gradient(instance, start)[0][0]
        u, v = (w - 4 * g for w, g in zip(start.tolist(), slopes, strict=True))
        along, across = (max(fmpq(-1), min(x, fmpq(1))) for x in (u + v, u - v))
        met.add((along != u + v, across != u - v))
        z = instance.prompt
        for layer in layers:
            z = layer(z)
        expected = instance.prompt
        expected[:, box.layout.all_weights.coordinates] = as_exact([(along + across) / 2, (along - across) / 2])
        assert (z == expected).all()
    assert met == {(False, False), (True, False), (False, True), (True, True)}


@check("deep-icgd:construction-proj", grade="exact", target="printed", supporting=True)
def test_projection_on_a_wedge_is_no_mlp() -> None:
    """W = {0 <= w_2 <= w_1}, a polyhedron whose projection is no MLP, so that the theorem does not speak of it.

    An MLP w + W_2 relu(W_1 [w; 1]) has, on the line w_2 = 0, the jump of slopes g(t, h) - 2 g(t, 0) + g(t, -h) = h c
    for small h, where c is the sum over the units with just this kink line: the same c for all t but finitely many. The
    projection's second coordinate has c = 1 for t > 0 (identity above, 0 below) and c = 0 for t < 0 (all goes to 0). So
    right angles are needed; cutting the wedge off at w_1 <= 9 changes nothing near 0.
    """

    def project(a: fmpq, b: fmpq) -> tuple[fmpq, fmpq]:
        """The nearest of all candidates: the point itself, its feet on the two rays, the vertex."""
        feet = [(max(a, fmpq(0)), fmpq(0)), (max(a + b, fmpq(0)) / 2,) * 2]
        inside = [(a, b)] if 0 <= b <= a else []
        return min([*inside, *feet, (fmpq(0), fmpq(0))], key=lambda p: (p[0] - a) ** 2 + (p[1] - b) ** 2)

    h = fmpq(1, 1000)
    for k in range(1, 9):
        for side, jump in ((fmpq(k), 1), (fmpq(-k), 0)):
            values = [project(side, b)[1] for b in (h, fmpq(0), -h)]
            assert values[0] - 2 * values[1] + values[2] == h * jump
    layout = PromptLayout((2, 1))  # the box: the same jump on both sides
    z = as_exact(np.zeros((1, layout.stream.width), dtype=np.int64))
    z[:, layout.stream["1"]] = fmpq(1)
    clip = projection_layer(layout, as_exact([0, 0]), as_exact([9, 9]))
    for t in (fmpq(-3), fmpq(2)):
        values = []
        for b in (h, fmpq(0), -h):
            z[0, layout.all_weights.coordinates] = as_exact([t, b])
            values.append(layout.block("w1").of(clip(z)[0])[1])
        assert values[0] - 2 * values[1] + values[2] == h
