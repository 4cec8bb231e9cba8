"""Lemma D.13 for every finite group: the neuron-wise bound with complex and quaternionic representations.

For a group of order n and class weights tau >= 0 (sum 1, constant on classes and on inverses) no neuron exceeds

    E psi'(u, v, w) <= 2 (3n)^(-3/2) max_R kappa_R (||u||^2 + ||v||^2 + ||w||^2)^(3/2),

kappa_R = s_R d^(-1/2) (1 - sum_g tau(g) chi_R(g)/d), s_R = 1 for real type, else 1/sqrt 2. With U = sum_a u(a) R(a) and
V, W likewise for unitary R, the chain is

    E psi' = 2 n^(-3) sum_R k_R d tr(U V W*),  k_R = 1 - sum_g tau(g) chi_R(g)/d      (exact, element by element)
    sum_R d ||U||^2 = n ||u||^2                                                       (Parseval: exact)
    |tr(U V W*)| <= ||U V|| ||W||,  ||U V|| <= ||U|| ||V||                            (symbolic, sums of squares)
    ||U V|| <= ||U|| ||V|| / sqrt 2 for quaternionic matrices                         (symbolic, a sum of squares)
    27 A B C <= (A + B + C)^3 and sum x^(3/2) <= (sum x)^(3/2)                        (test_group_neuron_bound)

with Frobenius norms. For complex type R and its conjugate share the energy of a real u, which brings the factor
2 (1/2)^(3/2) = 1/sqrt 2. Real type is in test_group_neuron_bound. All bounds are then attacked by random and by climbed
neurons in groups that mix the types.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.game.margin_game import margin_scale
from lemmata.certificates.saddle.pair import class_function_weights
from lemmata.certificates.saddle.pricing import climb, pricing_tensor
from lemmata.constructions.representations.unitary import unitary_irreps
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, rational
from lemmata.numerics.margins.evaluation import expected_class_margins
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.group_coordinates import expected_margin, margin_rounding, unit_neurons
from lemmata.theorems.feature_emergence.small_groups import adjoint, character, hamilton, irreps, numbers
from lemmata.theorems.feature_emergence.tabulated_groups import tabulated

MIXED = ("Z5", "Z6", "Q8", "A4", "Dic3", "C7:C3", "SL(2,3)")
"""Groups with complex type (Z5, Z6, A4, Dic3, C7:C3, SL(2,3)) and with quaternionic type (Q8, Dic3, SL(2,3))."""


# ---- the block form


@check("feature-emergence:ext-E7", grade="exact", target="printed", cases="Z_3, Z_5, A_4, Q_8, S_3, D_4: every class")
@proof_steps("all-types.md: 1")
@pytest.mark.parametrize("name", ["Z_3", "Z_5", "A_4", "Q_8", "S_3", "D_4"])
def test_expected_margin_is_a_sum_over_representations(name: str) -> None:
    """delta_e - tau = (1/n) sum_R k_R d chi_R for the uniform tau of each class with its inverse: linear in tau, this
    covers all tau. And chi_R(a b c^-1) = tr(R(a) R(b) R(c)*), so that the average over (a, b) takes the block form."""
    group, matrices = irreps(name).group, irreps(name).matrices
    n = group.order
    characters = [character(R) for R in matrices]
    for members in group.classes[1:]:
        support = np.union1d(members, group.inverse[members])
        tau = np.array([fmpq(0)] * n, dtype=object)
        tau[support] = fmpq(1, len(support))
        total = numbers(np.zeros(n, dtype=int))
        for R, chi in zip(matrices, characters, strict=True):
            k = 1 - (tau * chi).sum() / R.shape[1]
            assert k.is_real()
            assert k >= 0
            assert (k == 0) == all(value == R.shape[1] for value in chi[support])
            total = total + k * R.shape[1] * chi / fmpq(n)
        delta = np.array([int(g == group.identity) for g in range(n)], dtype=object)
        assert np.all(total == delta - tau)
    for R, chi in zip(matrices, characters, strict=True):
        products = np.einsum("aij,bjk->abik", R, R)
        assert np.all(products == R[group.table])
        assert np.all(adjoint(R) == R[group.inverse])
        assert chi[group.identity] == R.shape[1]


@check(
    "feature-emergence:ext-E7", grade="exact", target="printed", cases="Z_3, A_4, Q_8: one integer neuron each (seed 7)"
)
@proof_steps("all-types.md: 1, 2")
@pytest.mark.parametrize("name", ["Z_3", "A_4", "Q_8"])
def test_block_form_of_a_neuron_and_parseval(name: str) -> None:
    """A neuron with integer entries: E psi' by its definition is 2 n^(-3) sum k_R d tr(U V W*), and Parseval."""
    group, matrices = irreps(name).group, irreps(name).matrices
    n, rng = group.order, np.random.default_rng(7)
    u, v, w = (np.array([fmpq(int(x)) for x in rng.integers(-5, 6, size=n)], dtype=object) for _ in range(3))
    tau = np.array([fmpq(1, n - 1)] * n, dtype=object)
    tau[group.identity] = fmpq(0)
    blocks, energies = rational(0), [rational(0)] * 3
    for R in matrices:
        d = R.shape[1]
        U, V, W = (np.tensordot(x, R, axes=1) for x in (u, v, w))
        k = 1 - (tau * character(R)).sum() / d
        blocks = blocks + k * d * np.trace(exact_matmul(exact_matmul(U, V), adjoint(W)))
        energies = [e + d * (M * np.conjugate(M)).sum() for e, M in zip(energies, (U, V, W), strict=True)]
    value = expected_margin(group, u, v, w, tau)
    assert blocks * fmpq(2, n**3) == value != 0
    assert energies == [n * (x * x).sum() for x in (u, v, w)]


# ---- the inequalities


@check("feature-emergence:ext-E7", grade="symbolic", target="printed", supporting=True)
@proof_steps("all-types.md: 3", "table-groups.md: 3")
def test_products_and_traces_of_complex_matrices_are_bounded() -> None:
    """||x||^2 ||y||^2 - |sum x_l y_l|^2 = sum_(l < m) |x_l conj(y_m) - x_m conj(y_l)|^2 for complex x, y.

    Pairs l < m alone occur; expanded for lengths 1, 2, 3. Rows and columns give ||U V|| <= ||U|| ||V||, entries the
    trace.
    """
    for length in (1, 2, 3):
        parts = [sp.symbols(f"{name}1:{length + 1}", real=True) for name in ("a", "b", "c", "e")]
        x = [p + sp.I * q for p, q in zip(parts[0], parts[1], strict=True)]
        y = [p + sp.I * q for p, q in zip(parts[2], parts[3], strict=True)]
        lengths = [sum(p**2 + q**2 for p, q in zip(*pair, strict=True)) for pair in (parts[:2], parts[2:])]
        inner = sp.Add(*(p * q for p, q in zip(x, y, strict=True)))
        pairs = [(k, m) for k in range(length) for m in range(k)]
        squares = sum(_modulus(x[k] * sp.conjugate(y[m]) - x[m] * sp.conjugate(y[k])) for k, m in pairs)
        assert sp.expand(lengths[0] * lengths[1] - _modulus(inner) - squares) == 0


def _modulus(z: sp.Expr) -> sp.Expr:
    """|z|^2 for an expression in real symbols."""
    return sp.expand(sp.expand(z) * sp.expand(sp.conjugate(sp.expand(z))))


@check("feature-emergence:ext-E7", grade="symbolic", target="printed", supporting=True)
@proof_steps("all-types.md: 3")
def test_products_of_quaternionic_matrices_are_bounded_twice_as_sharply() -> None:
    """For x, y in H^e: |x|^2 (|x|^2 |y|^2 - |sum x_l y_l|^2) = | |x|^2 y - L^T L y |^2, L y = sum x_l y_l on R^(4e).

    The identity follows from L L^T = |x|^2 1, and that from L_q L_q^T = |q|^2 1 for the 4 x 4 matrix of y -> q y.
    As complex matrices of degree 2e, U and V have ||U||^2 = 2 sum |x_il|^2, so the sums over rows i and columns k say
    ||U V||^2 <= ||U||^2 ||V||^2 / 2: half of what complex matrices allow.
    """
    q = sp.symbols("q:4", real=True)
    unit = np.eye(4, dtype=int)
    left = sp.Matrix([[hamilton(q, unit[j])[i] for j in range(4)] for i in range(4)])
    assert (left * left.T - sum(x**2 for x in q) * sp.eye(4)).expand() == sp.zeros(4)
    r, y2, z2 = sp.symbols("r y2 z2", nonnegative=True)  # |x|^2, |y|^2 and |L y|^2 = y^T L^T L y
    # | r y - L^T L y |^2 = r^2 |y|^2 - 2 r |L y|^2 + (L y)^T L L^T (L y), and the last term is r |L y|^2
    assert sp.expand(r**2 * y2 - 2 * r * z2 + r * z2 - r * (r * y2 - z2)) == 0
    # the norm of the complex 2 x 2 matrix of a quaternion is 2 |q|^2
    z, w = q[0] + sp.I * q[1], q[2] + sp.I * q[3]
    matrix = [z, w, -sp.conjugate(w), sp.conjugate(z)]
    assert sp.expand(sum(_modulus(entry) for entry in matrix) - 2 * sum(x**2 for x in q)) == 0


@check("feature-emergence:ext-E7", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("name", ["Q_8"])
def test_real_functions_have_quaternionic_coefficients(name: str) -> None:
    """R(g) = [[z, w], [-conj w, conj z]] for all g, so that U = sum u(g) R(g) has this form for every real u."""
    R = irreps(name).matrices[-1]
    assert R.shape[1:] == (2, 2)
    assert np.all(R[:, 1, 1] == np.conjugate(R[:, 0, 0]))
    assert np.all(R[:, 1, 0] == -np.conjugate(R[:, 0, 1]))


@check("feature-emergence:ext-E7", grade="numeric", target="printed", supporting=True)
@pytest.mark.parametrize("name", ["Q8", "Dic3", "Q16", "SL(2,3)", "SL(2,5)"])
def test_quaternionic_representations_halve_products(name: str) -> None:
    """Random real u, v in the representations of indicator -1, of degrees 2, 4, 6: ||U V||^2 <= ||U||^2 ||V||^2 / 2,
    with equality for degree 2; the singular values come in pairs. In the others products exceed it (control)."""
    rng = np.random.default_rng(0)
    found = 0
    for irrep in unitary_irreps(tabulated(name).group):
        R = irrep.matrices
        u, v = rng.normal(size=(2, len(R)))
        U, V = np.tensordot(u, R, axes=1), np.tensordot(v, R, axes=1)
        ratio = np.linalg.norm(U @ V) ** 2 / (np.linalg.norm(U) * np.linalg.norm(V)) ** 2
        if irrep.indicator == -1:
            found += 1
            singular = np.linalg.svd(U, compute_uv=False)
            np.testing.assert_allclose(singular[::2], singular[1::2], rtol=1e-9)
            assert ratio <= 0.5 + 1e-9
            assert irrep.degree > 2 or ratio == pytest.approx(0.5, rel=1e-9)
        elif irrep.degree == 1:
            assert ratio == pytest.approx(1)
    assert found


@check("feature-emergence:ext-E7", grade="symbolic", target="printed", supporting=True)
@proof_steps("all-types.md: 4")
def test_value_of_the_bound_by_type() -> None:
    """A = B = C = eps/3 of the energy (d/n)(||U||^2 + ..) of a row; the bound is 2 (3n)^(-3/2) eps^(3/2) kappa_R.

    Real: one term. Complex: two terms, each with half of the energy. Quaternionic: one term, product norm / sqrt 2.
    """
    n, d, k, eps = sp.symbols("n d k epsilon", positive=True)
    power = sp.Rational(3, 2)
    for terms, share, product_norm, s in (
        (1, 1, 1, 1),
        (2, sp.Rational(1, 2), 1, 1 / sp.sqrt(2)),
        (1, 1, 1 / sp.sqrt(2), 1 / sp.sqrt(2)),
    ):
        norms = (n / d * share * eps / 3) ** power  # ||U|| ||V|| ||W||
        value = terms * 2 * n**-3 * k * d * product_norm * norms
        kappa = s * k / sp.sqrt(d)
        assert sp.simplify(value - 2 * (3 * n) ** -power * eps**power * kappa) == 0


# ---- attack


@check("feature-emergence:ext-E7", grade="sampled", target="printed", supporting=True)
@given(
    name=st.sampled_from(MIXED),
    concentration=st.sampled_from([0.2, 1.0, 10.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_class_weights_bound_random_and_climbed_neurons(name: str, concentration: float, seed: int) -> None:
    """By the definition of the margin; the neurons of the explicit network in the best R are on the bound."""
    case, rng = tabulated(name), np.random.default_rng(seed)
    n = case.group.order
    totals = rng.dirichlet(np.full(len(case.game.columns), concentration))
    tau = case.class_function(totals)
    tau /= tau.sum()
    bound = case.neuron_bound(totals)
    neurons = rng.normal(size=(100, 3, n))
    tensor = pricing_tensor(class_function_weights(case.group, tau))
    neurons = np.concatenate([neurons, np.stack(climb(tensor, 5, 10, rng), axis=1)])
    best = np.eye(len(case.game.rows))[int(np.argmax(case.game.payoff() @ totals))]
    hidden, readout = case.network(best).weights()
    explicit = np.stack([hidden[:5, :n], hidden[:5, n:], readout[:5]], axis=1)
    u, v, w = unit_neurons(np.concatenate([neurons, explicit])).transpose(1, 0, 2)
    values = expected_class_margins(u, v, w, case.group, tau)
    assert values.max() <= bound + margin_rounding(n)
    # attained by each neuron of the network; its directions are accurate to about 1e-13
    assert values[-len(explicit) :].min() >= bound * (1 - 1e-10)


@check("feature-emergence:ext-E7", grade="sampled", target="printed", supporting=True)
def test_without_the_type_factor_the_bound_is_not_attained() -> None:
    """Negative control: climbed neurons reach the bound with s = 1/sqrt 2, and so miss the one with s = 1 by sqrt 2.

    Q_8 with tau on -1, where only the quaternionic representation is worth anything, and Z_5.
    """
    for name, seed in (("Q8", 1), ("Z5", 2)):
        case, rng = tabulated(name), np.random.default_rng(seed)
        sizes = [case.table.class_sizes[C] for C in case.game.columns]
        totals = np.array([float(size == min(sizes)) for size in sizes])
        totals /= totals.sum()
        tau = case.class_function(totals)
        u, v, w = climb(pricing_tensor(class_function_weights(case.group, tau)), 300, 200, rng)
        best = expected_class_margins(u, v, w, case.group, tau).max()
        degrees = np.array([case.table.degrees[R] for R in case.game.rows], dtype=float)
        plain = float(margin_scale(case.group.order)) * (case.game.defects.astype(float) @ totals / degrees**1.5).max()
        assert best == pytest.approx(case.neuron_bound(totals), rel=1e-9)
        assert best == pytest.approx(plain / np.sqrt(2), rel=1e-9)
