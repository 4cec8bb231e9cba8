"""Characters and orthogonality: appendix D.8 (definition D.6 to theorem D.9), table D.1 and lemma D.10.

Orthogonality is checked on the traces and entries of explicit matrices that are known to be irreducible by Burnside's
criterion (`small_groups`), in the exact field of their entries; the table of S_5 is counted from permutations.
"""

from collections import Counter
from functools import cache
from itertools import combinations, product
from math import comb, factorial

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.families import symmetric_characters
from lemmata.constructions.representations.young import partitions
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, root_of_unity
from lemmata.numerics.exact.linear import rank, solve_unique
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    is_even,
    symmetric,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.feature_emergence.small_groups import (
    ALL,
    COMPLEX,
    REAL_TYPE,
    action_on_subsets,
    adjoint,
    character,
    entry_vectors,
    equal,
    gram,
    indicator,
    inner,
    intertwiners,
    irreps,
    irreps_span_all_matrices,
    is_homomorphism_into_GL,
    numbers,
    permuted_points,
    quaternion_signs,
    quaternion_space,
    rotations_of_Z_3,
)
from lemmata.theorems.records import Record

# ---- definition D.6: characters


@check("feature-emergence:definition-D.6", grade="exact", target="printed", supporting=True, cases="Z_3, not real")
def test_characters_of_Z_3_are_not_real():
    group, matrices = irreps("Z_3").group, irreps("Z_3").matrices
    rotation = matrices[1]
    assert is_homomorphism_into_GL(group, rotation)
    assert character(rotation)[1] == root_of_unity(1, 3)
    assert not character(rotation)[1].is_real()


@check(
    "feature-emergence:definition-D.6",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@proof_steps("representations.md: 8")
@pytest.mark.parametrize("name", ALL)
def test_characters_are_complex_class_functions_and_the_table_is_square(name):
    """chi is constant on classes, chi(g^-1) = conj chi(g); real for real matrices; the table separates classes."""
    group, matrices = irreps(name).group, irreps(name).matrices
    for R in matrices:
        chi = character(R)
        assert all(equal(chi[C], chi[C[0]]) for C in group.classes)
        assert equal(chi[group.inverse], np.conjugate(chi))
        assert chi[group.identity] == R.shape[1]
        if all(x.is_real() for x in R.flat):
            assert all(x.is_real() for x in chi)
    table = class_table(group, matrices)
    assert table.shape == (len(group.classes), len(group.classes))
    assert len({tuple(column) for column in table.T}) == len(group.classes)


@check("feature-emergence:definition-D.6", grade="exact", target="printed", supporting=True)
def test_D_4_and_Q_8_have_the_same_table_but_different_indicators():
    """Real characters do not imply real type: the indicator of the plane is +1 for D_4 and -1 for Q_8."""
    tables, indicators = [], []
    for name in ("D_4", "Q_8"):
        group, matrices = irreps(name).group, irreps(name).matrices
        table = class_table(group, matrices)
        sizes = [len(C) for C in group.classes]
        tables.append(Counter((size, *sorted(column)) for size, column in zip(sizes, integers(table).T, strict=True)))
        assert sizes == [1, 1, 2, 2, 2]
        assert sorted(map(tuple, integers(table))) == sorted(D_4_ROWS)
        indicators.append([indicator(group, R) for R in matrices])
    assert tables[0] == tables[1]
    assert indicators == [[1, 1, 1, 1, 1], [1, 1, 1, 1, -1]]


D_4_ROWS = [(1, 1, 1, 1, 1), (1, 1, 1, -1, -1), (1, 1, -1, 1, -1), (1, 1, -1, -1, 1), (2, -2, 0, 0, 0)]


def class_table(group: FiniteGroup, matrices: list[np.ndarray]) -> np.ndarray:
    """The character table from traces, rows as in `matrices`, columns as in `group.classes`."""
    return np.array([[character(R)[C[0]] for C in group.classes] for R in matrices], dtype=object)


def integers(table: np.ndarray) -> np.ndarray:
    """A table of rational integers as int64."""
    assert all(x.to_fmpq().q == 1 for x in table.flat)
    return np.array([[int(x.to_fmpq().p) for x in row] for row in table])


# ---- proposition D.7, theorems D.8 and D.9: orthogonality


def expected_gram(matrices: list[np.ndarray]) -> np.ndarray:
    """diag(1/d_R) over all entries (i, j) of all R."""
    diagonal = [fmpq(1, R.shape[1]) for R in matrices for _ in range(R.shape[1] ** 2)]
    result = np.full((len(diagonal), len(diagonal)), fmpq(0))
    np.fill_diagonal(result, diagonal)
    return result


@check(
    "feature-emergence:proposition-D.7",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@proof_steps("representations.md: 4")
@pytest.mark.parametrize("name", ALL)
def test_matrix_entries_are_orthogonal_with_squared_norm_one_over_d(name):
    matrices = irreps(name).matrices
    for R in matrices:  # the hypothesis: unitary in an orthonormal basis
        assert equal(R @ adjoint(R), np.eye(R.shape[1], dtype=int))
    for listed in (matrices, matrices[1:]):  # as many vectors as elements, and fewer
        assert equal(gram(entry_vectors(listed)), expected_gram(listed))


@check("feature-emergence:proposition-D.7", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("name", ["S_3", "S_4", "D_4", "A_4", "Q_8"])
def test_entries_in_a_skew_basis_are_not_orthogonal(name):
    """Negative controls: without an orthonormal basis, or without the conjugate for complex entries, it fails."""
    matrices = irreps(name).matrices
    R = next(R for R in matrices if R.shape[1] > 1)
    stretch = numbers([1 + i for i in range(R.shape[1])])
    skewed = R * stretch[:, None] / stretch
    assert is_homomorphism_into_GL(irreps(name).group, skewed)
    assert not equal(gram(entry_vectors([skewed])), expected_gram([skewed]))
    vectors = entry_vectors(matrices)
    bilinear = exact_matmul(vectors, vectors.T) / fmpq(vectors.shape[1])
    assert equal(bilinear, expected_gram(matrices)) == (name not in COMPLEX)


@check(
    "feature-emergence:theorem-D.8",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@proof_steps("representations.md: 5")
@pytest.mark.parametrize("name", ALL)
def test_irreducible_characters_are_orthonormal(name):
    """X diag(|C|) X^* = n 1, with X the traces of matrices that are irreducible and inequivalent."""
    group, matrices = irreps(name).group, irreps(name).matrices
    assert irreps_span_all_matrices(name)
    assert all(intertwiners(group, R, S) == 0 for R, S in combinations(matrices, 2))
    X = class_table(group, matrices)
    sizes = numbers([len(C) for C in group.classes])
    assert equal(exact_matmul(X * sizes, adjoint(X)), group.order * np.eye(len(X), dtype=int))


@check("feature-emergence:theorem-D.8", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_characters_of_larger_symmetric_groups_are_orthonormal(n):
    table = symmetric_characters(n)
    X, sizes = integers(table.values), np.array(table.class_sizes)
    assert np.array_equal((X * sizes) @ X.T, factorial(n) * np.eye(len(X), dtype=int))


@check("feature-emergence:theorem-D.8", grade="exact", target="printed", supporting=True)
def test_reducible_or_equivalent_characters_are_not_orthonormal():
    """Negative controls: the points of S_4 have norm 2; a rotated copy of an irrep has the same character."""
    group, matrices = irreps("S_4").group, irreps("S_4").matrices
    points = character(action_on_subsets(group, 1))
    assert inner(points, points) == 2
    assert inner(points, character(matrices[1])) == 1
    turned = matrices[1][:, ::-1, ::-1]
    assert not equal(turned, matrices[1])
    assert intertwiners(group, matrices[1], turned) == 1
    assert inner(character(turned), character(matrices[1])) == 1


@check(
    "feature-emergence:theorem-D.9",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@proof_steps("representations.md: 7")
@pytest.mark.parametrize("name", ALL)
def test_characters_are_a_basis_of_the_class_functions(name):
    """Every indicator of a class is a unique combination of characters; its coefficients are the inner products."""
    group, matrices = irreps(name).group, irreps(name).matrices
    X = class_table(group, matrices)
    assert X.shape[0] == X.shape[1] == len(group.classes)  # the dimension of the space of class functions
    assert rank(X) == len(X)
    for column, C in enumerate(group.classes):
        on_classes = numbers([int(c == column) for c in range(len(X))])
        coefficients = solve_unique(X.T, on_classes)  # elimination, which knows nothing of orthogonality
        on_elements = numbers([int(g in C) for g in range(group.order)])
        assert list(coefficients) == [inner(on_elements, character(R)) for R in matrices]


@check(
    "feature-emergence:theorem-D.9",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5, Z_3, Z_5, A_4, Q_8: all irreducible representations",
)
@proof_steps("group-networks.md: 8", "representations.md: 7")
@pytest.mark.parametrize("name", ALL)
def test_columns_of_the_table_are_orthogonal(name):
    """sum_R chi_R(C) conj(chi_R(D)) = [C = D] n/|C|; with D = {e}: sum_(R != 1) d_R chi_R(C) = -1."""
    group, matrices = irreps(name).group, irreps(name).matrices
    X = class_table(group, matrices)
    expected = np.diag([group.order // len(C) for C in group.classes])
    assert equal(exact_matmul(X.T, np.conjugate(X)), expected)
    degrees = numbers([R.shape[1] for R in matrices])
    assert equal((degrees[1:, None] * X[1:, 1:]).sum(axis=0), -1)


# ---- table D.1

CLASSES_OF_S_5 = {
    (1, 1, 1, 1, 1): 1,
    (2, 1, 1, 1): 10,
    (2, 2, 1): 15,
    (3, 1, 1): 20,
    (4, 1): 30,
    (5,): 24,
    (3, 2): 20,
}
"""The cycle types of e, (12), (12)(34), (123), (1234), (12345), (12)(345) with the printed sizes."""

PRINTED_STANDARD, PRINTED_TIMES_SIGN = (4, -2, 0, 1, 0, -1, 1), (4, 2, 0, 1, 0, -1, -1)
CORRECTED = {
    "trivial": (1, 1, 1, 1, 1, 1, 1),
    "sign": (1, -1, 1, 1, -1, 1, -1),
    "standard": PRINTED_TIMES_SIGN,
    "standard x sign": PRINTED_STANDARD,
    "5d_a": (5, 1, 1, -1, -1, 0, 1),
    "5d_b": (5, -1, 1, -1, 1, 0, -1),
    "6d": (6, 0, -2, 0, 0, 1, 0),
}


def cycle_type(permutation) -> tuple[int, ...]:
    """The lengths of the cycles in decreasing order."""
    lengths, seen = [], set()
    for start in range(len(permutation)):
        length = 0
        while start not in seen:
            seen.add(start)
            length, start = length + 1, permutation[start]
        lengths += [length] if length else []
    return tuple(sorted(lengths, reverse=True))


@cache
def permutations_of_S_5() -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """The elements of S_5 by cycle type."""
    found = {kind: [] for kind in CLASSES_OF_S_5}
    for g in permuted_points(symmetric(5)):
        found[cycle_type(g)].append(g)
    return found


def fixed_points(g) -> int:
    return sum(image == x for x, image in enumerate(g))


def fixed_pairs(g) -> int:
    return sum({g[x], g[y]} == {x, y} for x, y in combinations(range(len(g)), 2))


@counterexample("feature-emergence:table-D.1", grade="exact")
def test_printed_standard_row_is_not_the_number_of_fixed_points_minus_one(record: Record):
    """A transposition of five points fixes three of them: the standard character is 3 - 1 = 2 there, not -2."""
    counted = tuple(fixed_points(kind[0]) - 1 for kind in permutations_of_S_5().values())
    assert counted != PRINTED_STANDARD
    assert counted == PRINTED_TIMES_SIGN
    assert counted[1] == 2
    record.hypothesis(
        "the standard representation has dimension 5 - 1, as the row", counted[0], "=", PRINTED_STANDARD[0]
    )
    record.violated("its printed character at a transposition", PRINTED_STANDARD[1], "=", counted[1])


@check("feature-emergence:table-D.1", grade="exact", target="corrected")
def test_corrected_table_of_S_5_from_permutations():
    """All rows from counting: fixed points, fixed pairs, signs, and the exterior square of the standard character."""
    rows = {name: [] for name in CORRECTED}
    for (kind, size), members in zip(CLASSES_OF_S_5.items(), permutations_of_S_5().values(), strict=True):
        assert len(members) == size
        values = set()
        for g in members:
            sign = 1 if is_even(g) else -1
            square = tuple(g[g[x]] for x in range(5))
            standard = fixed_points(g) - 1
            pairs = fixed_pairs(g) - fixed_points(g)  # pairs = trivial + standard + 5d_a
            exterior, odd = divmod(standard**2 - (fixed_points(square) - 1), 2)
            assert odd == 0
            values.add((1, sign, standard, standard * sign, pairs, pairs * sign, exterior))
        assert len(values) == 1, kind  # class functions
        for row, value in zip(rows.values(), values.pop(), strict=True):
            row.append(value)
    assert {name: tuple(row) for name, row in rows.items()} == CORRECTED


@check("feature-emergence:table-D.1", grade="exact", target="corrected")
def test_corrected_table_of_S_5_is_orthonormal_and_complete():
    X, sizes = np.array(list(CORRECTED.values())), np.array(list(CLASSES_OF_S_5.values()))
    assert np.array_equal((X * sizes) @ X.T, 120 * np.eye(7, dtype=int))
    table = symmetric_characters(5)
    assert sorted(table.class_sizes) == sorted(sizes)
    types = list(partitions(5))[::-1]
    order = [types.index(kind) for kind in CLASSES_OF_S_5]
    shapes = dict(zip(partitions(5), integers(table.values)[:, order], strict=True))
    names = {
        (5,): "trivial",
        (4, 1): "standard",
        (3, 2): "5d_a",
        (3, 1, 1): "6d",
        (2, 2, 1): "5d_b",
        (2, 1, 1, 1): "standard x sign",
        (1, 1, 1, 1, 1): "sign",
    }
    assert {names[shape]: tuple(row.tolist()) for shape, row in shapes.items()} == CORRECTED


# ---- lemma D.10: properties of the basis vectors


def violated_properties(group: FiniteGroup, matrices: list[np.ndarray]) -> set[int]:
    """The numbers of the four properties of lemma D.10 that fail, exactly."""
    n = group.order
    vectors = entry_vectors(matrices)
    degrees = [R.shape[1] for R in matrices for _ in range(R.shape[1] ** 2)]
    products = exact_matmul(vectors, vectors.T)
    failed = set()
    if any(products[i, j] != 0 for i, j in combinations(range(len(vectors)), 2)):
        failed.add(1)
    if any(products[i, i] != fmpq(n, d) for i, d in enumerate(degrees)):
        failed.add(2)
    for R, C in product(matrices, group.classes):
        total = R[C].sum(axis=0)
        if any(total[i, j] != 0 for i, j in product(range(len(total)), repeat=2) if i != j):
            failed.add(3)
        if any(total[i, i] != total[0, 0] for i in range(len(total))):
            failed.add(4)
    return failed


@check(
    "feature-emergence:lemma-D.10",
    grade="exact",
    target="printed",
    cases="Z_2, Z_2^3, S_3, S_4, S_5, A_5, D_4, D_5: all irreducible representations",
)
@proof_steps("representations.md: 11")
@pytest.mark.parametrize("name", REAL_TYPE)
def test_basis_vectors_have_the_four_properties(name):
    """In the field of the matrices; and as many vectors as elements, so that they are a basis."""
    group, matrices = irreps(name).group, irreps(name).matrices
    assert len(entry_vectors(matrices)) == group.order
    assert violated_properties(group, matrices) == set()
    for R, C in product(matrices, group.classes):  # the sum of property 4 is |C| chi(C)/d
        d = R.shape[1]
        assert equal(R[C].sum(axis=0), np.eye(d, dtype=int) * (len(C) * character(R)[C[0]] / d))


@check(
    "feature-emergence:lemma-D.10",
    grade="sampled",
    target="printed",
    cases="S_3, S_4, D_4, D_5: 30 derandomised Hypothesis draws of rational orthonormal bases each",
)
@proof_steps("representations.md: 11")
@pytest.mark.parametrize("name", ["S_3", "S_4", "D_4", "D_5"])
@given(data=st.data())
def test_four_properties_hold_in_every_rational_orthonormal_basis(name, data):
    """Cayley: Q = (1 - A)(1 + A)^-1 is orthogonal for skew A; the lemma holds for Q R Q^T as for R."""
    group, matrices = irreps(name).group, irreps(name).matrices
    turned = []
    for R in matrices:
        d = R.shape[1]
        entries = data.draw(st.lists(st.integers(-3, 3), min_size=comb(d, 2), max_size=comb(d, 2)))
        Q = cayley(d, entries)
        turned.append(Q @ R @ Q.T)
    assert violated_properties(group, turned) == set()


def cayley(d: int, entries: list[int]) -> np.ndarray:
    """The rational orthogonal matrix (1 - A)(1 + A)^-1 of the skew matrix A with the given upper triangle."""
    A = fmpq_mat(d, d)
    for (i, j), value in zip(combinations(range(d), 2), entries, strict=True):
        A[i, j], A[j, i] = value, -value
    one = fmpq_mat([[int(i == j) for j in range(d)] for i in range(d)])
    Q = (one - A) * (one + A).inv()
    assert Q * Q.transpose() == one
    return numbers(Q.tolist())


@check("feature-emergence:lemma-D.10", grade="exact", target="printed", supporting=True)
def test_the_lemma_needs_real_type_and_orthonormal_bases():
    """Negative controls, by the property that breaks.

    Rotations of Z_3: R_11 = R_22 (1) and classes of one element (3). Q_8 on R^4: (1) only. A stretched basis: (2)
    only, a skew one: (1) and (2), while the class sums stay scalar. A moved sign breaks the class sums.
    """
    third = irreps("Z_3")
    assert violated_properties(third.group, [third.matrices[0], rotations_of_Z_3()]) == {1, 3}
    quaternion = irreps("Q_8").group
    assert violated_properties(quaternion, [*quaternion_signs(), quaternion_space()]) == {1}
    group, matrices = irreps("S_3").group, irreps("S_3").matrices
    k = next(i for i, R in enumerate(matrices) if R.shape[1] == 2)

    def replaced(R: np.ndarray) -> list[np.ndarray]:
        return [*matrices[:k], R, *matrices[k + 1 :]]

    R = matrices[k]
    stretch = numbers([1, 2])
    assert violated_properties(group, replaced(R * stretch[:, None] / stretch)) == {2}
    shear, back = numbers([[1, 1], [0, 1]]), numbers([[1, -1], [0, 1]])
    assert violated_properties(group, replaced(shear @ R @ back)) == {1, 2}
    moved = R.copy()
    moved[-1] = -moved[-1]
    assert {3, 4} & violated_properties(group, replaced(moved))
