"""Lemmas D.11, D.12 and D.9.1: the expected margin and the norm of a neuron in representation coordinates.

The setting is a group of order n all of whose irreducible representations R (degree d, orthogonal matrices) are of
real type, and class weights tau with sum 1 over the elements; t_C = |C| tau_C. The coordinates alpha, beta, gamma of
u, v, w are one d x d matrix for each R. All statements here are trilinear or quadratic in u, v, w; so the tensors in
the basis rho decide them for all neurons at once, exactly, group by group: S_3, D_4, D_5, Z_2^3 and S_4. A_5 and S_5
are sampled in floating point. The bound that follows (lemma D.13) is in `test_group_neuron_bound`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.certificates.saddle.groups import certify_real_type
from lemmata.constructions.networks.inputs import group_blocks, group_inputs
from lemmata.constructions.representations.orthogonal import Representation
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, sqrt_rational
from lemmata.numerics.groups.tables import FiniteGroup, alternating, dihedral, symmetric
from lemmata.numerics.margins.evaluation import expected_class_margins, group_margins
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.feature_emergence.group_coordinates import (
    EPS,
    GROUPS,
    LARGE,
    basis_of,
    certificate_of,
    class_function,
    coordinates_of,
    expected_margin,
    expected_margin_by_targets,
    irreps_of,
    margin_rounding,
    rank_one_neuron,
    unit_neurons,
    unit_vectors,
)
from lemmata.theorems.records import Record

exact_groups = pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
large_groups = pytest.mark.parametrize("group", LARGE.values(), ids=LARGE)


# ---- lemmas D.11 and D.12: coordinates


@check(
    "feature-emergence:lemma-D.11",
    grade="exact",
    target="corrected",
    cases="S_3, D_4, D_5, Z_2^3, S_4: all neurons (full tensors), every class",
)
@check(
    "feature-emergence:lemma-D.13",
    grade="exact",
    target="corrected",
    cases="S_3, D_4, D_5, Z_2^3, S_4: all neurons (full tensors), every class",
)
@check(
    "feature-emergence:theorem-7.9",
    grade="exact",
    target="printed",
    cases="S_3, D_4, D_5, Z_2^3, S_4: all neurons (full tensors), every class",
)
@proof_steps("group-networks.md: 2")
@exact_groups
def test_cross_term_has_blocks(group: FiniteGroup) -> None:
    """sum_(c in C) E u(a) v(b) w(abc) = sum_R |C| chi_R(C)/d . tr(alpha beta gamma^T)/d^2 for all u, v, w, every C.

    Both sides are trilinear, so that their tensors in the basis rho decide; and linear in the class function tau.
    """
    irreps, n = irreps_of(group), group.order
    basis, indices = basis_of(irreps)
    position = {index: i for i, index in enumerate(indices)}
    quotient = group.table[group.inverse]  # [x, y] -> x^-1 y
    for members in group.classes:
        values = np.array([fmpq(0), fmpq(1, n * n)], dtype=object)
        targets = exact_matmul(values[np.isin(quotient, members).astype(int)], basis)  # sum_(c in C) w(xc), w in rho
        tensor = targets[group.table]  # at x = ab
        for axis in range(2):
            moved = np.moveaxis(tensor, axis, 2)
            tensor = np.moveaxis(exact_matmul(moved.reshape(n * n, n), basis).reshape(n, n, n), 2, axis)
        expected = np.full((n, n, n), fmpq(0), dtype=object)
        for r, R in enumerate(irreps):
            value = R.character[members[0]] * fmpq(len(members), R.degree**3)
            for p, q, s in product(range(R.degree), repeat=3):
                expected[position[r, p, q], position[r, q, s], position[r, p, s]] = value
        assert np.all(tensor == expected)


@check(
    "feature-emergence:lemma-D.11",
    grade="exact",
    target="corrected",
    cases="S_3, D_4, D_5, Z_2^3, S_4; the value for one integer neuron (seed n) of each group of order at most 10",
)
@proof_steps("group-networks.md: 1, 2")
@exact_groups
def test_squares_cancel_and_the_cross_term_counts_twice(group: FiniteGroup) -> None:
    """E u(a)^2 w(abc) = mean(u^2) mean(w) whatever c is: for all a, c the product abc runs once through the group.

    So the squares cancel in h(e) - sum tau_c h(c) because sum tau_c = 1, and 2 u(a) v(b) remains: the factor 2 and
    no other. Checked once more on integer vectors with a constant part, from the definition.
    """
    n = group.order
    for c in range(n):
        products = group.table[group.table, c]
        everything = np.arange(n)
        assert np.array_equal(np.sort(products, axis=1), np.broadcast_to(everything, (n, n)))
        assert np.array_equal(np.sort(products, axis=0), np.broadcast_to(everything[:, None], (n, n)))
    if n > 10:
        return  # the definition costs n^3 exact products
    rng = np.random.default_rng(n)
    u, v, w = (np.array([fmpq(int(x)) for x in rng.integers(-5, 6, n)], dtype=object) for _ in range(3))
    shares = [fmpq(int(k)) for k in rng.integers(0, 9, len(group.classes) - 1)]
    totals = [share / sum(shares) for share in shares]
    corrected = 2 * _printed_d11(group, u, v, w, totals)
    assert corrected != 0
    assert expected_margin(group, u, v, w, class_function(group, totals)) == corrected


def _printed_d11(group: FiniteGroup, u: np.ndarray, v: np.ndarray, w: np.ndarray, totals: list[fmpq]) -> Any:
    """The printed right-hand side of lemma D.11."""
    irreps = irreps_of(group)
    alphas, betas, gammas = (coordinates_of(irreps, x) for x in (u, v, w))
    value = 0
    for R, alpha, beta, gamma in list(zip(irreps, alphas, betas, gammas, strict=True))[1:]:
        classes = zip(totals, group.classes[1:], strict=True)
        factor = 1 - sum(total * R.character[C[0]] for total, C in classes) / R.degree
        value = value + factor * np.trace(alpha @ beta @ gamma.T) / fmpq(R.degree**2)
    return value


@counterexample("feature-emergence:lemma-D.11", grade="exact")
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4)], ids=["S_3", "D_4"])
def test_lemma_D11_misses_a_factor_two(group: FiniteGroup, record: Record) -> None:
    """One coordinate function in u, v, w: the weighted margin (D.7) is twice the printed value, in every irrep."""
    count = len(group.classes) - 1
    totals = [fmpq(2 * k + 1, count * count) for k in range(count)]  # 1 + 3 + .. = count^2
    tau = class_function(group, totals)
    printed, defined, found = fmpq(0), fmpq(0), []
    for R in irreps_of(group)[1:]:
        u = v = w = R.matrices[:, 0, 0]
        printed, defined = _printed_d11(group, u, v, w, totals), expected_margin(group, u, v, w, tau)
        found.append((printed, defined))
    if group.name == symmetric(3).name:
        apart = max(abs(tau[g] - tau[h]) for C in group.classes for g, h in product(C, C))
        record.hypothesis("S_3: tau is constant on classes (largest difference)", apart, "=", 0)
        record.hypothesis("the weights of the wrong elements add up to 1", sum(tau), "=", 1)
        record.violated("(D.7) at u = v = w is the printed sum", float(defined), "=", float(printed))
    assert all(defined == 2 * printed > 0 for printed, defined in found)


@check("feature-emergence:lemma-D.11", grade="numeric", target="corrected", supporting=True)
@large_groups
def test_lemma_D11_on_larger_groups(group: FiniteGroup) -> None:
    """A_5 and S_5: random neurons with a constant part, random class weights, definition against twice the formula.

    `margin_rounding` covers the definition for unit neurons. By lemma D.13 the terms of the formula add up to at most
    4 (3n)^(-3/2) < 4/n^2 in absolute value (kappa <= 2), relative errors of at most 3 tolerances < 12 n^2 eps in the
    matrices make 48 eps of that, and its sums are shorter than n.
    """
    rng = np.random.default_rng(group.order)
    irreps = irreps_of(group, False)[1:]
    totals = rng.dirichlet(np.ones(len(group.classes) - 1))
    tau = class_function(group, totals)
    neurons = unit_neurons(rng.normal(size=(20, 3, group.order)) + 0.5)
    u, v, w = neurons.transpose(1, 0, 2)
    for neuron, value in zip(neurons, expected_class_margins(u, v, w, group, tau), strict=True):
        formula = 0.0
        for R in irreps:
            alpha, beta, gamma = (R.degree / group.order * np.tensordot(x, R.matrices, axes=1) for x in neuron)
            formula += 2 * (1 - tau @ R.character / R.degree) * np.trace(alpha @ beta @ gamma.T) / R.degree**2
        assert abs(value - formula) <= margin_rounding(group.order) + 50 * EPS


@check("feature-emergence:lemma-D.12", grade="exact", target="printed", cases="S_3, D_4, D_5, Z_2^3, S_4: all neurons")
@check(
    "feature-emergence:lemma-D.13", grade="exact", target="corrected", cases="S_3, D_4, D_5, Z_2^3, S_4: all neurons"
)
@proof_steps("group-networks.md: 3")
@exact_groups
def test_norm_identity(group: FiniteGroup) -> None:
    """The basis is orthogonal with squared lengths n/d, and it has n members: Parseval's identity."""
    basis, indices = basis_of(irreps_of(group))
    lengths = np.array([fmpq(group.order, irreps_of(group)[r].degree) for r, _, _ in indices], dtype=object)
    assert len(indices) == group.order
    assert np.all(exact_matmul(basis.T, basis) == np.eye(group.order, dtype=int) * lengths)


@check("feature-emergence:lemma-D.12", grade="exact", target="printed", supporting=True)
def test_norm_identity_needs_the_trivial_and_orthogonal_representations() -> None:
    """Negative control on S_3: the sum without m = 1 misses n mean(u)^2; matrices that are not orthogonal miss more."""
    group, irreps = symmetric(3), irreps_of(symmetric(3))
    u = np.array([fmpq(x) for x in (3, 1, 4, 1, 5, 9)], dtype=object)
    squares = [sum((a * a).flat) * fmpq(6, R.degree) for a, R in zip(coordinates_of(irreps, u), irreps, strict=True)]
    assert sum(squares) == sum(u * u)
    assert sum(squares) - sum(squares[1:]) == fmpq(sum(u) ** 2, 6) != 0
    sheared = irreps[1].matrices.copy()
    sheared[:, 0, 1], sheared[:, 1, 0] = 2 * sheared[:, 0, 1], sheared[:, 1, 0] / 2
    conjugate = Representation(group, sheared, "sheared")
    assert conjugate.is_homomorphism()
    assert sum(sheared[:, 0, 1] ** 2) == 12 != fmpq(6, 2)


@check("feature-emergence:lemma-D.12", grade="numeric", target="printed", supporting=True)
@large_groups
def test_norm_identity_on_larger_groups(group: FiniteGroup) -> None:
    basis, indices = basis_of(irreps_of(group, False))
    lengths = np.diag([group.order / irreps_of(group, False)[r].degree for r, _, _ in indices])
    # Entries of orthogonal matrices are at most 1 and carry the tolerance of their representation; so n products.
    tolerance = 3 * group.order * max(R.tolerance for R in irreps_of(group, False))
    assert np.abs(basis.T @ basis - lengths).max() <= tolerance


# ---- remark before D.14: uniform weights


def _uniform_kappas(irreps: tuple[Representation, ...]) -> dict[str, Any]:
    """kappa_R for tau = 1/(n-1) on every element but e, exactly."""
    n = irreps[0].group.order
    kappas = {}
    for R in irreps[1:]:
        off_identity = sum(R.character) - R.character[R.group.identity]
        kappas[R.name] = (1 - off_identity / fmpq((n - 1) * R.degree)) / sqrt_rational(R.degree)
    return kappas


@check(
    "feature-emergence:remark-D.9-uniform", grade="exact", target="corrected", cases="S_3, D_4, D_5, Z_2^3, S_4, A_5"
)
@proof_steps("group-networks.md: 7")
@pytest.mark.parametrize("group", [*GROUPS.values(), alternating(5)], ids=[*GROUPS, "A_5"])
def test_uniform_weights_select_the_smallest_degrees(group: FiniteGroup) -> None:
    """tau = 1/(n-1): kappa_R = d^(-1/2) n/(n-1), largest exactly for the nontrivial irreps of smallest degree."""
    irreps, n = irreps_of(group), group.order
    kappas = _uniform_kappas(irreps)
    for R in irreps[1:]:
        assert kappas[R.name] == fmpq(n, n - 1) / sqrt_rational(R.degree)
    winners = {name for name, kappa in kappas.items() if kappa == max(kappas.values())}
    least = min(R.degree for R in irreps[1:])
    assert winners == {R.name for R in irreps[1:] if R.degree == least}


@counterexample("feature-emergence:remark-D.9-uniform", grade="exact")
def test_uniform_weights_on_a_group_without_sign(record: Record, weight: fmpq = fmpq(1, 59)) -> None:
    """A_5 has no nontrivial representation of degree 1; with uniform weights 3 and 3' win, 4 and 5 lose.

    Exact values by the definition of the margin, of the neurons sqrt(3) (R_00, R_00, R_00) and their like.
    """
    group = alternating(5)
    irreps = irreps_of(group)
    assert [R.degree for R in irreps] == [1, 3, 3, 4, 5]
    tau = np.array([weight * int(g != group.identity) for g in range(60)], dtype=object)
    values = []
    for R in irreps[1:]:
        x = np.array([fmpq(int(i == 0)) for i in range(R.degree)], dtype=object)
        u, v, w = rank_one_neuron(R, (x, x, x))
        assert sum(u * u) == group.order
        values.append(expected_margin_by_targets(group, u, v, w, tau))
    real = sum(all(x == x.conjugate() for x in np.ravel(R.matrices)) for R in irreps)
    record.hypothesis("all representations of A_5 are real: their number is that of the classes", real, "=", 5)
    record.hypothesis("the uniform weights add up to 1", sum(tau), "=", 1)
    degrees = [R.degree for R, value in zip(irreps[1:], values, strict=True) if value == max(values)]
    record.violated("only a representation of degree 1 attains the maximum", max(degrees), "=", 1)
    assert values == [fmpq(120, 59) / sqrt_rational(R.degree) for R in irreps[1:]]
    assert values[0] == values[1] > values[2] > values[3]


@check("feature-emergence:remark-D.9-uniform", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize(
    ("group", "winners"),
    [(symmetric(3), {"[1, 1, 1]"}), (symmetric(4), {"[1, 1, 1, 1]"}), (alternating(5), {"3", "3'"})],
    ids=["S_3", "S_4", "A_5"],
)
def test_the_other_reading_of_uniform(group: FiniteGroup, winners: set[str]) -> None:
    """Equal total weights of the classes, instead of the elements: the sign wins in S_3 and S_4, 3 and 3' in A_5."""
    tau = class_function(group, [fmpq(1, len(group.classes) - 1)] * (len(group.classes) - 1))
    kappas = {R.name: (1 - sum(tau * R.character) / R.degree) / sqrt_rational(R.degree) for R in irreps_of(group)[1:]}
    assert {name for name, kappa in kappas.items() if kappa == max(kappas.values())} == winners


@check("feature-emergence:remark-D.9-uniform", grade="exact", target="corrected", supporting=True)
def test_the_selected_irreps_cannot_classify() -> None:
    """S_3 with uniform weights selects the sign, and any network in the sign has margin 0: 3-cycles look like e.

    The logits tr R(ab c^-1) of the sign alone are equal at c = ab and at the wrong labels c with abc^-1 a 3-cycle.
    """
    group = symmetric(3)
    kappas = _uniform_kappas(irreps_of(group))
    sign = next(R for R in irreps_of(group)[1:] if R.degree == 1)
    assert kappas[sign.name] == fmpq(6, 5)
    assert all(kappas[sign.name] > kappa for name, kappa in kappas.items() if name != sign.name)
    assert [sign.character[C[0]] for C in group.classes] == [1, 1, -1]


# ---- lemma D.9.1: every representation is used


def _transform(group: FiniteGroup, f: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """f^(j, k, l) = sum rho_j(a) rho_k(b) rho_l(c) f(a, b, c) for an exact f of shape (n, n, n)."""
    n = group.order
    basis, indices = basis_of(irreps_of(group))
    for axis in range(3):
        moved = np.moveaxis(f, axis, 2)
        f = np.moveaxis(exact_matmul(moved.reshape(n * n, n), basis).reshape(n, n, n), 2, axis)
    return f, indices


def _indicator(group: FiniteGroup) -> np.ndarray:
    """1[ab = c] as an exact array (n, n, n)."""
    values = np.array([fmpq(0), fmpq(1)], dtype=object)
    return values[(group.table[:, :, None] == np.arange(group.order)).astype(int)]


@check(
    "feature-emergence:lemma-D.9.1",
    grade="exact",
    target="corrected",
    cases="S_3, D_4, D_5, Z_2^3, S_4: all coefficients",
)
@proof_steps("group-networks.md: 14")
@exact_groups
def test_transform_of_the_margin(group: FiniteGroup) -> None:
    """1[ab = c] has the coefficient n^2/d^2 at ((l1, m), (m, l2), (l1, l2)) of each R, and 0 everywhere else."""
    coefficients, indices = _transform(group, _indicator(group))
    for (i, j), (k, m) in product(enumerate(indices), repeat=2):
        d = irreps_of(group)[j[0]].degree
        for p, q in enumerate(indices):
            fits = j[0] == m[0] == q[0] and j[2] == m[1] and (q[1], q[2]) == (j[1], m[2])
            assert coefficients[i, k, p] == (fmpq(group.order**2, d * d) if fits else 0)


@counterexample("feature-emergence:lemma-D.9.1", grade="exact")
def test_the_exchanged_indices_do_not_occur(record: Record) -> None:
    """S_3, R of degree 2, l = (0, 1): rho_l(ab) = sum_m rho_(0,m)(a) rho_(m,1)(b). At j' = (0, m), k' = (m, 1) the
    coefficient is 36/4 = 9; with j and k exchanged, j = k' and k = j', it is 0, where the lemma has it nonzero."""
    group = symmetric(3)
    coefficients, indices = _transform(group, _indicator(group))
    at = indices.index
    R = next(r for r, irrep in enumerate(irreps_of(group)) if irrep.degree == 2)
    label = at((R, 0, 1))
    for m in (0, 1):
        first, second = at((R, 0, m)), at((R, m, 1))
        assert coefficients[first, second, label] == 9
        assert coefficients[second, first, label] == 0
    first, second = at((R, 0, 0)), at((R, 0, 1))  # m = 0: j' = (0, 0), k' = (0, 1)
    record.hypothesis(
        "the coefficient at j = j' and k = k' is lambda n^2/d^2",
        coefficients[first, second, label].to_fmpq(),
        "=",
        fmpq(36, 4),
    )
    record.violated("it is not 0 at j = k' and k = j'", abs(coefficients[second, first, label].to_fmpq()), ">", 0)


@check(
    "feature-emergence:lemma-D.9.1",
    grade="exact",
    target="corrected",
    cases="S_3, D_4: one neuron x, y, z for each representation",
)
@proof_steps("group-networks.md: 13")
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4)], ids=["S_3", "D_4"])
def test_a_neuron_of_one_irrep_stays_in_it(group: FiniteGroup) -> None:
    """u, v, w in R: the transform of (u(a) + v(b))^2 w(c) vanishes unless j or k is trivial or j, k, l all are in R.

    For an optimal neuron the sum over ((l1, m), (m, l2), (l1, l2)) in R is 2 d^(3/2) (n/d)^3 |x|^2 |y|^2 |z|^2, hence
    never zero, and the same for all of them.
    """
    n = group.order
    for r, R in enumerate(irreps_of(group)):
        if r == 0:
            continue
        u, v, w = rank_one_neuron(R, unit_vectors(R.degree))
        f = (u[:, None, None] + v[None, :, None]) ** 2 * w[None, None, :]
        coefficients, indices = _transform(group, f)
        for (i, j), (k, m), (p, q) in product(enumerate(indices), repeat=3):
            if j[0] != 0 and m[0] != 0 and not j[0] == m[0] == q[0] == r:
                assert coefficients[i, k, p] == 0
        at, d = indices.index, R.degree
        total = sum(
            coefficients[at((r, l1, m)), at((r, m, l2)), at((r, l1, l2))] for l1, m, l2 in product(range(d), repeat=3)
        )
        assert total == 2 * d * sqrt_rational(d) * fmpq(n, d) ** 3 > 0


@check("feature-emergence:lemma-D.9.1", grade="symbolic", target="corrected", supporting=True)
@check("feature-emergence:theorem-7.9", grade="symbolic", target="printed", supporting=True)
def test_mass_of_every_representation() -> None:
    """Conclusion 2, sharpened: a max-margin network has total mass exactly d^(5/2)/S > 0 in R.

    By lemma 7.6 its output is F(a, b) + gamma* 1[ab = c]. Sum the coefficients at the d^3 places ((l1, m), (m, l2),
    (l1, l2)) of R. The indicator gives gamma* n^2/d^2 for each; a unit neuron of R gives 2 s^3 (n/d)^3
    |x|^2 |y|^2 |z|^2 in all; neurons of other irreps, F and the squares give nothing. The two agree.
    """
    n, d, S, mass = sp.symbols("n d S mass", positive=True)
    gamma = 2 / (3 * sp.sqrt(3 * n) * S)
    s = sp.sqrt(d / (3 * n))
    (solution,) = sp.solve(sp.Eq(mass * 2 * s**3 * (n / d) ** 3, gamma * n**2 / d**2 * d**3), mass)
    assert sp.simplify(solution - d ** sp.Rational(5, 2) / S) == 0


@check(
    "feature-emergence:lemma-D.9.1",
    grade="exact",
    target="corrected",
    cases="S_3, D_4: the explicit network on all triples",
)
@check("feature-emergence:theorem-7.9", grade="exact", target="printed", supporting=True)
@proof_steps("group-networks.md: 15")
@pytest.mark.parametrize("group", [symmetric(3), dihedral(4)], ids=["S_3", "D_4"])
def test_the_explicit_network_uses_every_representation(group: FiniteGroup) -> None:
    """The transform of the network's output, evaluated on all triples, is gamma n^2/d^2 in every nontrivial R."""
    certificate = certificate_of(group)
    n, network = group.order, certificate.network
    output = network.raw(group_inputs(n)).reshape(n, n, n)
    coefficients, indices = _transform(group, output)
    at = indices.index
    scale = sqrt_rational(3 * n) * (3 * n)  # the raw output is (3n)^(3/2) times that of the network
    assert len(irreps_of(group)) == len(group.classes) > 2
    for r, R in enumerate(irreps_of(group)[1:], start=1):
        for l1, m, l2 in product(range(R.degree), repeat=3):
            value = coefficients[at((r, l1, m)), at((r, m, l2)), at((r, l1, l2))]
            assert value == certificate.gamma * scale * fmpq(n * n, R.degree**2) != 0


@check("feature-emergence:lemma-D.9.1", grade="numeric", target="corrected", supporting=True)
@exact_groups
def test_leaving_a_representation_out_loses_margin(group: FiniteGroup) -> None:
    """Negative control: without the neurons of any one irrep the normalised margin is smaller by a visible part."""
    network = certify_real_type(group, exact=False).network
    u, v, w = group_blocks(network)
    masses = network.masses
    best = group_margins(u, v, w, group, masses).minimum
    start = 0
    for R in irreps_of(group)[1:]:
        stop = start + 2 * R.degree**3
        kept = masses.copy()
        kept[start:stop] = 0
        assert group_margins(u, v, w, group, kept).minimum / kept.sum() < 0.99 * best
        start = stop
    assert start == len(masses)
