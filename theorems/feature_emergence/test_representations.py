"""The setting of section 7.6.1 and the representations of appendix D.8 (definitions D.1, D.3, theorems D.2, D.4, D.5).

These are textbook statements about all finite groups; they are checked in exact arithmetic on the explicit matrices of
`small_groups`. Where "real representations" is too weak a hypothesis, Z_3 (complex type) and Q_8 (quaternionic type)
show it.
"""

from itertools import combinations, pairwise, product
from math import factorial

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpq_mat
from hypothesis import assume, given
from hypothesis import strategies as st

from lemmata.certificates.characters.families import symmetric_characters
from lemmata.constructions.representations.young import partitions, standard_tableaux
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, rational, root_of_unity
from lemmata.numerics.exact.linear import rank, solve_unique
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    dihedral,
    symmetric,
)
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.small_groups import (
    ALL,
    COMPLEX,
    REAL_TYPE,
    UNITS,
    action_on_subsets,
    adjoint,
    character,
    entry_vectors,
    equal,
    gram,
    hamilton,
    indicator,
    inner,
    intertwiners,
    irreps,
    irreps_are_homomorphisms_into_GL,
    irreps_span_all_matrices,
    is_homomorphism_into_GL,
    numbers,
    permuted_points,
    quaternion_signs,
    quaternion_space,
    regular_representation,
    rotations_of_Z_3,
    spans_all_matrices,
)

# ---- definition 7.6.1: the setting


@check(
    "feature-emergence:definition-7.6.1",
    grade="exact",
    target="printed",
    supporting=True,
    cases="Z_3, not of real type",
)
def test_Z_3_has_two_irreducible_real_representations_but_three_classes():
    """R[Z_3] = R[x]/(x^3 - 1), whose simple modules are the real irreducible factors of x^3 - 1.

    The 1 + 4 vectors of matrix entries are no orthogonal set either: R_11 = R_22 for the rotations.
    """
    x = sympy.symbols("x")
    line, plane = sympy.Poly(x - 1), sympy.Poly(x**2 + x + 1)
    assert line * plane == sympy.Poly(x**3 - 1)
    assert sympy.discriminant(plane) == -3  # no real root: irreducible over R, and different from the line
    group = irreps("Z_3").group
    irreducible_over_R = [line, plane]
    assert len(irreducible_over_R) == 2 < len(group.classes) == 3
    vectors = entry_vectors([irreps("Z_3").matrices[0], rotations_of_Z_3()])
    assert len(vectors) == 5 > group.order
    assert equal(vectors[1], vectors[4])


@check(
    "feature-emergence:definition-7.6.1",
    grade="exact",
    target="printed",
    supporting=True,
    cases="Q_8, not of real type",
)
def test_Q_8_has_real_characters_but_its_real_matrix_entries_are_no_basis():
    """Q_8 has 5 classes and 5 irreducible real representations, but of degrees 1, 1, 1, 1, 4: 20 vectors in R^8.

    The 4-dimensional one is irreducible over R: v, iv, jv, kv have the determinant |v|^4 > 0.
    """
    group, space = irreps("Q_8").group, quaternion_space()
    assert all(value.is_real() for R in irreps("Q_8").matrices for value in character(R))
    assert is_homomorphism_into_GL(group, space)
    v = sympy.symbols("a b c d", real=True)
    orbit = sympy.Matrix([hamilton(unit, v) for unit in UNITS[:4]])
    assert sympy.expand(orbit.det() - (v[0] ** 2 + v[1] ** 2 + v[2] ** 2 + v[3] ** 2) ** 2) == 0
    listed = [*quaternion_signs(), space]
    assert all(inner(character(R), character(S)) == 0 for R, S in combinations(listed, 2))
    assert len(listed) == len(group.classes) == 5
    vectors = entry_vectors(listed)
    assert len(vectors) == 20 > group.order == 8
    products = gram(vectors)
    assert any(products[i, j] != 0 for i, j in combinations(range(20), 2))


@check(
    "feature-emergence:definition-7.6.1",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5: all irreducible representations",
)
@proof_steps("representations.md: 9, 10")
@pytest.mark.parametrize("name", REAL_TYPE)
def test_indicator_one_gives_as_many_real_irreps_as_classes_and_a_basis(name):
    """With every indicator +1: K real irreps for K classes, n orthogonal vectors of entries, and no further irreps.

    Every irreducible real representation occurs in the real regular one, whose character is sum_R d_R chi_R.
    """
    group, matrices = irreps(name).group, irreps(name).matrices
    assert all(indicator(group, R) == 1 for R in matrices)
    assert irreps_are_homomorphisms_into_GL(name)
    assert irreps_span_all_matrices(name)  # irreducible over C, so over R
    for R in matrices:
        assert all(x.is_real() for x in R.flat)
        assert equal(R @ np.swapaxes(R, 1, 2), np.eye(R.shape[1], dtype=int))
    assert all(inner(character(R), character(S)) == 0 for R, S in combinations(matrices, 2))
    total = np.sum([R.shape[1] * character(R) for R in matrices], axis=0)
    assert equal(total, [group.order * int(g == group.identity) for g in range(group.order)])
    assert len(matrices) == len(group.classes)
    vectors = entry_vectors(matrices)
    assert equal(vectors[0], 1)  # rho_1 belongs to the trivial representation
    assert vectors.shape == (group.order, group.order)
    products = gram(vectors)
    assert all(products[i, j] == 0 for i, j in combinations(range(group.order), 2))
    assert all(products[i, i] > 0 for i in range(group.order))


@check(
    "feature-emergence:definition-7.6.1",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5: all irreducible representations",
)
@proof_steps("representations.md: 10")
@pytest.mark.parametrize("name", REAL_TYPE)
def test_character_logits_are_maximal_at_the_product(name):
    """tr(R(a) R(b) R(c^-1)) <= d with equality at c = ab; since R(a) R(b) = R(ab), all pairs (ab, c) are looked at.

    A representation that is not faithful attains d at other labels too (its kernel); all of them together do not.
    """
    group, matrices = irreps(name).group, irreps(name).matrices
    ties = np.ones((group.order, group.order), dtype=bool)
    for R in matrices:
        n, d, _ = R.shape
        rows = R.reshape(n, d * d)
        inverses = np.swapaxes(R[group.inverse], 1, 2).reshape(n, d * d)
        logits = exact_matmul(rows, inverses.T)  # [g, c] -> tr R(g) R(c^-1)
        assert equal(np.diagonal(logits), d)
        assert np.all(logits <= rational(d))
        ties &= logits == d
    assert np.array_equal(ties, np.eye(group.order, dtype=bool))


# ---- definitions D.1 and D.3


@check(
    "feature-emergence:definition-D.1",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@pytest.mark.parametrize("name", ALL)
def test_matrices_are_homomorphisms_into_GL(name):
    group, matrices = irreps(name).group, irreps(name).matrices
    assert irreps_are_homomorphisms_into_GL(name)
    for R in matrices:
        assert equal(R @ R[group.inverse], np.eye(R.shape[1], dtype=int))


@check("feature-emergence:definition-D.1", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("name", ["S_3", "S_4", "D_4", "D_5", "A_4", "Q_8"])
def test_maps_that_are_no_representations_are_told_apart(name):
    """The zero map is multiplicative but not into GL; transposes multiply backwards; one moved matrix is noticed."""
    group = irreps(name).group
    R = next(R for R in irreps(name).matrices if R.shape[1] > 1)
    assert not is_homomorphism_into_GL(group, 0 * R)
    assert not is_homomorphism_into_GL(group, np.swapaxes(R, 1, 2))
    assert not is_homomorphism_into_GL(group, -R)
    moved = R.copy()
    moved[-1] = -moved[-1]
    assert not is_homomorphism_into_GL(group, moved)


@check(
    "feature-emergence:definition-D.3",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@pytest.mark.parametrize("name", ALL)
def test_irreducible_means_character_norm_one(name):
    """No invariant subspace (Burnside's criterion, without characters) and <chi, chi> = 1 single out the same ones."""
    group, matrices = irreps(name).group, irreps(name).matrices
    assert irreps_span_all_matrices(name)
    assert all(inner(character(R), character(R)) == 1 for R in matrices)
    for R, S in pairwise(matrices[:3]):
        both = direct_sum([R, S])
        assert is_homomorphism_into_GL(group, both)
        assert not spans_all_matrices(both)
        assert inner(character(both), character(both)) == 2


@check(
    "feature-emergence:definition-D.3", grade="exact", target="printed", cases="S_3, S_4, A_4 on points; S_4 on pairs"
)
@pytest.mark.parametrize(("name", "size"), [("S_3", 1), ("S_4", 1), ("S_4", 2), ("A_4", 1)])
def test_permutation_representations_have_an_invariant_line(name, size):
    group = irreps(name).group
    V = action_on_subsets(group, size)
    assert is_homomorphism_into_GL(group, V)
    assert equal(V.sum(axis=2), 1)  # the line of (1, .., 1) is invariant, and it is proper:
    assert V.shape[1] > 1
    assert not spans_all_matrices(V)
    assert inner(character(V), character(V)) == (3 if size == 2 else 2)


@check("feature-emergence:definition-D.3", grade="exact", target="printed", supporting=True)
def test_irreducible_over_the_reals_is_weaker():
    """Rotations by thirds fix no real line, but the complex line of (1, -i); <chi, chi> = 2, and 4 for Q_8 on R^4."""
    R = rotations_of_Z_3()
    assert inner(character(R), character(R)) == 2
    assert all(character(R)[g] ** 2 < 4 for g in (1, 2))  # discriminant of the characteristic polynomial, det = 1
    line = numbers([1, -root_of_unity(1, 4)])
    for g in range(3):
        image = R[g] @ line
        assert image[0] * line[1] == image[1] * line[0]
    assert not spans_all_matrices(R)
    space = quaternion_space()
    assert inner(character(space), character(space)) == 4


def direct_sum(blocks: list[np.ndarray]) -> np.ndarray:
    """The block-diagonal representation."""
    n, size = len(blocks[0]), sum(R.shape[1] for R in blocks)
    result = np.full((n, size, size), rational(0))
    start = 0
    for R in blocks:
        result[:, start : start + R.shape[1], start : start + R.shape[1]] = R
        start += R.shape[1]
    return result


# ---- theorem D.2: every representation is unitarisable


def integral_matrices(name: str) -> list[fmpq_mat]:
    """Integer matrices, not orthogonal ones: S_n on e_x - e_(n-1), Z_3 as the companion matrix of x^2 + x + 1, ..."""
    if name == "Z_3":
        return [fmpq_mat(2, 2, m) for m in ([1, 0, 0, 1], [0, -1, 1, -1], [-1, 1, -1, 0])]
    if name == "Q_8 on R^4":
        return [fmpq_mat(4, 4, [int(x.to_fmpq().p) for x in M.flat]) for M in quaternion_space()]
    elements = permuted_points(symmetric(int(name.removeprefix("S_"))))
    last = len(elements[0]) - 1
    found = []
    for g in elements:
        M = fmpq_mat(last, last)
        for x in range(last):  # e_x - e_last -> (e_g(x) - e_last) - (e_g(last) - e_last)
            for point, sign in ((g[x], 1), (g[last], -1)):
                if point != last:
                    M[point, x] = M[point, x] + sign
        found.append(M)
    return found


def averaged_form(matrices: list[fmpq_mat]) -> fmpq_mat:
    """B = (1/n) sum_g R(g)^T R(g)."""
    total = fmpq_mat(matrices[0].nrows(), matrices[0].ncols())
    for R in matrices:
        total = total + R.transpose() * R
    return total * fmpq(1, len(matrices))


def is_scalar_product(B: fmpq_mat) -> bool:
    """Symmetric with positive leading principal minors (Sylvester)."""
    rows = B.tolist()
    minors = [fmpq_mat([row[:k] for row in rows[:k]]).det() for k in range(1, len(rows) + 1)]
    return B.transpose() == B and all(minor > 0 for minor in minors)


def is_orthogonal(R: fmpq_mat, B: fmpq_mat) -> bool:
    return R.transpose() * B * R == B


@check(
    "feature-emergence:theorem-D.2",
    grade="sampled",
    target="printed",
    cases="rational representations of Z_3, Q_8, S_3, S_4: 30 derandomised Hypothesis draws of bases each",
)
@proof_steps("representations.md: 1")
@pytest.mark.parametrize("name", ["Z_3", "Q_8 on R^4", "S_3", "S_4"])
@given(data=st.data())
def test_the_averaged_form_is_an_invariant_scalar_product(name, data):
    """B = (1/n) sum R^T R for rational representations P R P^-1 in a random skew basis P: exact, no square root."""
    matrices = integral_matrices(name)
    d = matrices[0].nrows()
    entries = st.lists(st.integers(-3, 3), min_size=d * d, max_size=d * d)
    P = fmpq_mat(d, d, data.draw(entries, label="basis"))
    assume(P.det() != 0)
    matrices = [P * R * P.inv() for R in matrices]
    identity = fmpq_mat([[int(i == j) for j in range(d)] for i in range(d)])
    assume(not all(is_orthogonal(R, identity) for R in matrices))  # else there is nothing to unitarise
    B = averaged_form(matrices)
    assert is_scalar_product(B)
    assert all(is_orthogonal(R, B) for R in matrices)


@check(
    "feature-emergence:theorem-D.2",
    grade="exact",
    target="printed",
    cases="one skewed sum of two representations of each of Z_3, Z_5, A_4, Q_8",
)
@proof_steps("representations.md: 1")
@pytest.mark.parametrize("name", COMPLEX)
def test_the_averaged_hermitian_form_is_an_invariant_scalar_product(name):
    """B = (1/n) sum R^* R for the sum of two complex irreps in a basis that mixes and skews them."""
    group, matrices = irreps(name).group, irreps(name).matrices
    V = direct_sum([matrices[1], matrices[-1]])
    d = V.shape[1]
    unit = root_of_unity(1, 4)
    skew = numbers(np.eye(d, dtype=int) + np.triu(np.ones((d, d), dtype=int), 1) * (1 + unit))
    back = np.stack([solve_unique(skew, column) for column in numbers(np.eye(d, dtype=int))], axis=1)
    V = skew @ V @ back
    assert is_homomorphism_into_GL(group, V)
    assert not equal(adjoint(V) @ V, np.eye(d, dtype=int))
    B = (adjoint(V) @ V).sum(axis=0) / fmpq(group.order)
    assert equal(B, adjoint(B))
    assert all(pivot.sign() > 0 for pivot in elimination_pivots(B))
    assert equal(adjoint(V) @ B @ V, B)


@check("feature-emergence:theorem-D.2", grade="exact", target="printed", supporting=True)
def test_forms_that_are_not_averaged_over_the_group_are_not_invariant():
    matrices = integral_matrices("S_4")
    identity = matrices[symmetric(4).identity]
    assert is_scalar_product(identity)
    assert not all(is_orthogonal(R, identity) for R in matrices)
    partial = averaged_form(matrices[:-1])
    assert is_scalar_product(partial)
    assert not all(is_orthogonal(R, partial) for R in matrices)


def elimination_pivots(B: np.ndarray) -> list:
    """The pivots of a Hermitian matrix; it is positive definite exactly when all of them are positive."""
    B, pivots = B.copy(), []
    for k in range(len(B)):
        pivots.append(B[k, k])
        B = B - np.outer(B[:, k], B[k]) / B[k, k]
    return pivots


# ---- theorem D.4: complete reducibility


def tensor_square(R: np.ndarray) -> np.ndarray:
    n, d, _ = R.shape
    return (R[:, :, None, :, None] * R[:, None, :, None, :]).reshape(n, d * d, d * d)


REDUCIBLE = {
    "S_3 on points": lambda: ("S_3", action_on_subsets(symmetric(3), 1)),
    "S_4 on pairs": lambda: ("S_4", action_on_subsets(symmetric(4), 2)),
    "S_4 on V tensor V": lambda: ("S_4", tensor_square(irreps("S_4").matrices[1])),
    "S_3 regular": lambda: ("S_3", regular_representation(symmetric(3))),
    "D_4 regular": lambda: ("D_4", regular_representation(dihedral(4))),
    "Q_8 regular": lambda: ("Q_8", regular_representation(irreps("Q_8").group)),
    "Q_8 on R^4": lambda: ("Q_8", quaternion_space()),
    "A_4 regular": lambda: ("A_4", regular_representation(alternating(4))),
    "Z_5 regular": lambda: ("Z_5", regular_representation(irreps("Z_5").group)),
}


def matrix_units(group: FiniteGroup, R: np.ndarray, V: np.ndarray) -> np.ndarray:
    """p_a = (d/n) sum_g R(g^-1)_1a V(g) for a = 1..d, shape (d, D, D): p_1 projects, p_a carries its image on."""
    n, d, _ = R.shape
    D = V.shape[1]
    weights = R[group.inverse][:, 0, :].T * fmpq(d, n)
    return exact_matmul(weights, V.reshape(n, D * D)).reshape(d, D, D)


def independent_columns(M: np.ndarray) -> list[int]:
    """The columns that are no combinations of earlier ones."""
    ranks = [0] + [rank(M[:, : k + 1]) for k in range(M.shape[1])]
    return [k for k in range(M.shape[1]) if ranks[k + 1] > ranks[k]]


@check(
    "feature-emergence:theorem-D.4",
    grade="exact",
    target="printed",
    cases="nine reducible representations of S_3, S_4, D_4, Q_8, A_4, Z_5",
)
@proof_steps("representations.md: 2")
@pytest.mark.parametrize("case", REDUCIBLE)
def test_a_basis_splits_the_representation_into_irreducible_blocks(case):
    """T = (p_a v) over R, a basis of vectors v of the image of p_1, and a = 1..d: V(g) T = T diag(R(g), ..) exactly."""
    name, V = REDUCIBLE[case]()
    group, matrices = irreps(name).group, irreps(name).matrices
    assert is_homomorphism_into_GL(group, V)
    assert not spans_all_matrices(V)  # there is something to split
    columns, blocks = [], []
    for R in matrices:
        units = matrix_units(group, R, V)
        chosen = independent_columns(units[0])
        assert inner(character(V), character(R)) == len(chosen)  # the multiplicity, by another route
        for k in chosen:
            columns += [(units[a] @ units[0])[:, k] for a in range(R.shape[1])]
            blocks.append(R)
    T = np.stack(columns, axis=1)
    assert T.shape == (V.shape[1], V.shape[1])
    assert rank(T) == len(T)
    split = direct_sum(blocks)
    for g in group.generators:
        assert equal(exact_matmul(V[g], T), exact_matmul(T, split[g]))
    assert len(blocks) > 1


@check(
    "feature-emergence:theorem-D.4",
    grade="exact",
    target="printed",
    cases="nine reducible representations of S_3, S_4, D_4, Q_8, A_4, Z_5",
)
@proof_steps("representations.md: 2")
@pytest.mark.parametrize("case", REDUCIBLE)
def test_isotypic_projectors_resolve_the_identity(case):
    """P_R = (d/n) sum_g conj(chi_R(g)) V(g): commuting projectors of trace d m_R that add up to 1."""
    name, V = REDUCIBLE[case]()
    group, matrices = irreps(name).group, irreps(name).matrices
    n, D = group.order, V.shape[1]
    weights = np.stack([R.shape[1] * np.conjugate(character(R)) for R in matrices]) / fmpq(n)
    projectors = exact_matmul(weights, V.reshape(n, D * D)).reshape(-1, D, D)
    assert equal(projectors.sum(axis=0), np.eye(D, dtype=int))
    for (i, P), (j, Q) in product(enumerate(projectors), repeat=2):
        assert equal(exact_matmul(P, Q), P if i == j else 0)
    for R, P in zip(matrices, projectors, strict=True):
        multiplicity = inner(character(V), character(R)).to_fmpq()
        assert multiplicity.q == 1
        assert multiplicity >= 0
        assert np.trace(P) == R.shape[1] * multiplicity
        assert all(equal(exact_matmul(V[s], P), exact_matmul(P, V[s])) for s in group.generators)


@check("feature-emergence:theorem-D.4", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("n", [3, 4])
def test_points_split_into_trivial_and_standard(n):
    """The example of D.8.1: the permutation representation of S_n is trivial + standard."""
    name = f"S_{n}"
    V = action_on_subsets(symmetric(n), 1)
    multiplicities = [inner(character(V), character(R)) for R in irreps(name).matrices]
    degrees = [R.shape[1] for R in irreps(name).matrices]
    assert [d for d, m in zip(degrees, multiplicities, strict=True) if m == 1] == [1, n - 1]
    assert sum(multiplicities, start=rational(0)) == 2


@check("feature-emergence:theorem-D.4", grade="exact", target="printed", supporting=True)
def test_an_infinite_group_need_not_be_reducible_completely():
    """Negative control: [[1, 1], [0, 1]] has one invariant line only; finiteness is what the averages use."""
    shear = sympy.Matrix([[1, 1], [0, 1]])
    assert shear.eigenvects()[0][1] == 2  # the only eigenvalue, twice
    assert len(shear.eigenvects()[0][2]) == 1  # but one eigenvector


# ---- theorem D.5: sum of squares


@check(
    "feature-emergence:theorem-D.5",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@proof_steps("representations.md: 6")
@pytest.mark.parametrize("name", ALL)
def test_squares_of_the_degrees_add_up_to_the_order(name):
    """The irreps are irreducible and inequivalent, and as many as the classes, so these are all: then n = sum d^2.

    Inequivalent: no nonzero matrix T has T R(s) = S(s) T; the number of classes is the dimension of the centre.
    """
    group, matrices = irreps(name).group, irreps(name).matrices
    assert irreps_are_homomorphisms_into_GL(name)
    assert irreps_span_all_matrices(name)
    assert all(intertwiners(group, R, S) == 0 for R, S in combinations(matrices, 2))
    assert len(matrices) == len(group.classes)
    assert sum(R.shape[1] ** 2 for R in matrices) == group.order


@check("feature-emergence:theorem-D.5", grade="exact", target="printed", cases="S_2, ..., S_8")
@proof_steps("representations.md: 6")
def test_squares_of_the_numbers_of_standard_tableaux_add_up_to_the_factorial():
    """S_n: degrees are numbers of standard tableaux (counted by listing them), classes are partitions."""
    for n in range(2, 9):
        degrees = [len(standard_tableaux(shape)) for shape in partitions(n)]
        assert sum(d * d for d in degrees) == factorial(n)
        assert sorted(degrees) == sorted(symmetric_characters(n).degrees)


@check("feature-emergence:theorem-D.5", grade="exact", target="printed", supporting=True)
def test_squares_of_real_degrees_need_the_dimension_of_the_commutant():
    """For a list of real irreps the sum is too large: Q_8 gives 20, Z_3 gives 5; d^2/dim End gives 8 and 3."""
    for name, listed in (
        ("Q_8", [*quaternion_signs(), quaternion_space()]),
        ("Z_3", [irreps("Z_3").matrices[0], rotations_of_Z_3()]),
    ):
        group = irreps(name).group
        squares = [(R.shape[1] ** 2, intertwiners(group, R, R)) for R in listed]
        assert sum(square for square, _ in squares) > group.order
        assert sum(fmpq(square, end) for square, end in squares) == group.order
