"""Representations: exact and float64 properties, known characters, and refusals of what is none."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.constructions.representations.icosahedral import icosahedral_generators, presentation_of_icosahedral
from lemmata.constructions.representations.orthogonal import (
    Representation,
    matrices_from_generators,
    outer_product,
    real_irreps,
    specht,
)
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, rational, root_of_unity, sqrt_rational
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    cyclic,
    dihedral,
    direct_product,
    elementary_abelian,
    relabel,
    symmetric,
)

EXACT = [
    cyclic(2),
    elementary_abelian(3),
    dihedral(2),
    dihedral(3),
    dihedral(4),
    dihedral(5),
    symmetric(3),
    symmetric(4),
    alternating(5),
    direct_product(dihedral(4), symmetric(3)),
]
FLOAT = [*EXACT, dihedral(12), dihedral(17), symmetric(5), direct_product(alternating(5), cyclic(2))]


@cache
def irreps_of(group: FiniteGroup, exact: bool) -> list[Representation]:
    return real_irreps(group, exact)


def broken(R: Representation, element: int, factor: object) -> Representation:
    matrices = R.matrices.copy()
    matrices[element] = matrices[element] * factor
    return Representation(R.group, matrices, R.name)


@pytest.mark.parametrize(
    ("group", "exact"), [(g, False) for g in FLOAT] + [(g, True) for g in EXACT], ids=lambda x: str(x)
)
def test_complete_list_of_orthogonal_irreps_of_real_type(group: FiniteGroup, exact: bool) -> None:
    irreps = irreps_of(group, exact)
    assert len(irreps) == len(group.classes)
    assert sum(R.degree**2 for R in irreps) == group.order
    assert len({R.name for R in irreps}) == len(irreps)
    assert np.all(irreps[0].matrices == 1)
    for R in irreps:
        assert R.group is group
        assert R.exact is exact
        assert R.is_homomorphism()
        assert R.is_orthogonal()
        assert R.is_absolutely_irreducible()
        assert R.frobenius_schur() == 1


@pytest.mark.parametrize("group", [g for g in FLOAT if g.order <= 60], ids=str)
def test_homomorphism_over_all_pairs(group: FiniteGroup) -> None:
    for R in irreps_of(group, False):
        products = np.einsum("aij,bjk->abik", R.matrices, R.matrices)
        assert np.all(abs(products - R.matrices[group.table]) <= R.tolerance)


@pytest.mark.parametrize("group", FLOAT, ids=str)
def test_schur_orthogonality(group: FiniteGroup) -> None:
    """The n functions sqrt(d) R_ij are orthonormal for the mean over the group (proposition D.7)."""
    irreps = irreps_of(group, False)
    n = group.order
    functions = np.concatenate([R.matrices.reshape(n, -1) * np.sqrt(R.degree) for R in irreps], axis=1)
    assert functions.shape == (n, n)
    largest = max(R.degree for R in irreps)
    # entries of size at most sqrt(d), off by sqrt(d) tolerance each, in a mean of products
    allowed = 3 * largest * max(R.tolerance for R in irreps)
    assert np.all(abs(functions.T @ functions / n - np.eye(n)) <= allowed)


@pytest.mark.parametrize("group", [g for g in EXACT if g.order <= 24] + [alternating(5)], ids=str)
def test_schur_orthogonality_exact(group: FiniteGroup) -> None:
    irreps = irreps_of(group, True)
    n = group.order
    functions = np.concatenate([R.matrices.reshape(n, -1) for R in irreps], axis=1)
    gram = exact_matmul(functions.T, functions)
    norms = [fmpq(n, R.degree) for R in irreps for _ in range(R.degree**2)]
    assert all(gram[i, j] == (norms[i] if i == j else 0) for i in range(n) for j in range(n))


@pytest.mark.parametrize("group", EXACT, ids=str)
def test_exact_and_float_agree(group: FiniteGroup) -> None:
    for R, S in zip(irreps_of(group, True), irreps_of(group, False), strict=True):
        assert R.name == S.name
        assert np.all(abs(R.to_float().matrices - S.matrices) <= S.tolerance)


@pytest.mark.parametrize("group", EXACT, ids=str)
def test_characters_are_class_functions(group: FiniteGroup) -> None:
    for R in irreps_of(group, True):
        for members in group.classes:
            assert len(set(R.character[members].tolist())) == 1
        assert R.character[group.identity] == R.degree


def test_characters_of_s5() -> None:
    """Columns e, (12), (12)(34), (123), (1234), (12345), (12)(345) of the published table; rows by partition."""
    group = symmetric(5)
    columns = [
        group.elements.index(p)
        for p in [
            (0, 1, 2, 3, 4),
            (1, 0, 2, 3, 4),
            (1, 0, 3, 2, 4),
            (1, 2, 0, 3, 4),
            (1, 2, 3, 0, 4),
            (1, 2, 3, 4, 0),
            (1, 0, 3, 4, 2),
        ]
    ]
    table = {R.name: np.rint(R.character[columns]).astype(int).tolist() for R in irreps_of(group, False)}
    assert table == {
        "[5]": [1, 1, 1, 1, 1, 1, 1],
        "[4, 1]": [4, 2, 0, 1, 0, -1, -1],
        "[3, 2]": [5, 1, 1, -1, -1, 0, 1],
        "[3, 1, 1]": [6, 0, -2, 0, 0, 1, 0],
        "[2, 2, 1]": [5, -1, 1, -1, 1, 0, -1],
        "[2, 1, 1, 1]": [4, -2, 0, 1, 0, -1, 1],
        "[1, 1, 1, 1, 1]": [1, -1, 1, 1, -1, 1, -1],
    }


def test_standard_representation_counts_fixed_points() -> None:
    R = specht((3, 1), exact=True)
    for g, p in enumerate(R.group.elements):
        assert isinstance(p, tuple)
        assert R.character[g] == sum(i == x for i, x in enumerate(p)) - 1


def test_characters_of_a5() -> None:
    """Degrees 3 and 3' take the two golden ratios on the two classes of 5-cycles."""
    group = alternating(5)
    phi, psi = (1 + sqrt_rational(5)) / 2, (1 - sqrt_rational(5)) / 2
    fives = [i for i, size in enumerate(group.class_sizes) if size == 12]
    representatives = [int(c[0]) for c in group.classes]
    rows = {R.name: R.character[representatives].tolist() for R in irreps_of(group, True)}
    first, second = [rows["3"][i] for i in fives], [rows["3'"][i] for i in fives]
    assert set(first) == {phi, psi}
    assert first == second[::-1]
    for name, others in {"3": [3, -1, 0], "3'": [3, -1, 0], "4": [4, 0, 1], "5": [5, 1, -1]}.items():
        by_size = dict(zip(group.class_sizes.tolist(), rows[name], strict=True))
        assert [by_size[size] for size in (1, 15, 20)] == others


@settings(deadline=None, max_examples=25)
@given(st.sampled_from([g for g in FLOAT if g.order <= 24]), st.data())
def test_orthogonal_change_of_basis_keeps_everything(group: FiniteGroup, data: st.DataObject) -> None:
    R = data.draw(st.sampled_from(irreps_of(group, False)))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    Q, _ = np.linalg.qr(rng.standard_normal((R.degree, R.degree)))
    turned = Representation(group, Q @ R.matrices @ Q.T)
    assert turned.is_homomorphism()
    assert turned.is_orthogonal()
    assert turned.is_absolutely_irreducible()
    assert turned.frobenius_schur() == 1


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([g for g in EXACT if g.order <= 24]), st.booleans(), st.data())
def test_one_negated_matrix_is_noticed(group: FiniteGroup, exact: bool, data: st.DataObject) -> None:
    """For n > 2 the element g is a product of others; for n = 2 negation may give the other character."""
    R = data.draw(st.sampled_from(irreps_of(group, exact)))
    g = data.draw(st.integers(0, group.order - 1))
    if group.order > 2 or g == group.identity:
        assert not broken(R, g, -1).is_homomorphism()


@pytest.mark.parametrize("group", [dihedral(4), symmetric(4), alternating(5)], ids=str)
def test_errors_beyond_the_tolerance_are_noticed(group: FiniteGroup) -> None:
    """4 n (d + 2) eps in one entry: a tenth of it is granted, three times as much is not."""
    for R in irreps_of(group, False):
        tolerance = 4 * group.order * (R.degree + 2) * 2.0**-52
        for error in (0.1 * tolerance, 3 * tolerance, 1e3 * tolerance, 1e6 * tolerance):
            matrices = R.matrices.copy()
            g = group.order - 1
            row, column = np.unravel_index(np.argmax(abs(matrices[g])), matrices[g].shape)
            matrices[g, row, column] += error
            moved = Representation(group, matrices, R.name)
            assert moved.is_homomorphism() == moved.is_orthogonal() == (error < tolerance)


def test_small_perturbations_are_noticed() -> None:
    R = irreps_of(symmetric(4), False)[1]
    for g in (0, 5, 23):
        assert not broken(R, g, 1 + 1e-9).is_homomorphism()
        assert not broken(R, g, 1 + 1e-9).is_orthogonal()
    exact = irreps_of(symmetric(3), True)[1]
    assert not broken(exact, 2, fmpq(10**30 + 1, 10**30)).is_homomorphism()
    assert not broken(exact, 2, fmpq(10**30 + 1, 10**30)).is_orthogonal()


def test_seminormal_form_is_not_orthogonal() -> None:
    R = irreps_of(symmetric(3), True)[1]
    scale, inverse = np.array([[1, 0], [0, 2]]), np.array([[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1, 2)]])
    matrices = [exact_matmul(exact_matmul(scale, M), inverse) for M in R.matrices]
    S = Representation(R.group, np.array(matrices))
    assert S.is_homomorphism()
    assert not S.is_orthogonal()
    assert S.is_absolutely_irreducible()


def test_rotations_of_z3_are_irreducible_over_the_reals_only() -> None:
    rotation = irreps_of(dihedral(3), True)[2].matrices[1]
    group = cyclic(3)
    R = Representation(group, matrices_from_generators(group, {1: rotation}))
    for S in (R, R.to_float()):
        assert S.is_homomorphism()
        assert S.is_orthogonal()
        assert not S.is_absolutely_irreducible()
        assert S.frobenius_schur() == 0


def test_quaternions_have_indicator_minus_one_twice() -> None:
    """Q_8 acting on R^4 from the left: chi = 2 times the quaternionic character, <chi, chi> = 4, indicator -2."""
    i = np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1], [0, 0, 1, 0]])
    j = np.array([[0, 0, -1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, -1, 0, 0]])
    one = np.eye(4, dtype=int)
    members = [sign * M for sign in (1, -1) for M in (one, i, j, i @ j)]
    table = [[next(c for c, M in enumerate(members) if np.array_equal(a @ b, M)) for b in members] for a in members]
    R = Representation(FiniteGroup(np.array(table)), np.array(members, dtype=object))
    assert R.is_homomorphism()
    assert not R.is_absolutely_irreducible()
    assert R.frobenius_schur() == -2


def test_reducible_representation_is_noticed() -> None:
    group = symmetric(3)
    permutations = np.zeros((6, 3, 3))
    for g, p in enumerate(group.elements):
        assert isinstance(p, tuple)
        permutations[g, list(p), [0, 1, 2]] = 1
    R = Representation(group, permutations)
    assert R.is_homomorphism()
    assert not R.is_absolutely_irreducible()


def test_outer_product_is_the_kronecker_product() -> None:
    R, S = irreps_of(dihedral(4), False)[4], irreps_of(symmetric(3), False)[1]
    T = outer_product(R, S)
    for g in range(8):
        for h in range(6):
            assert np.array_equal(T.matrices[6 * g + h], np.kron(R.matrices[g], S.matrices[h]))
    assert T.name == "E1 x [2, 1]"


ONE = np.ones((3, 1, 1))


def test_the_conjugate_rotations_of_the_icosahedron_have_the_other_trace() -> None:
    for conjugate, sign in ((False, 1), (True, -1)):
        X, Y = icosahedral_generators(conjugate, exact=True)
        assert 2 * np.trace(exact_matmul(X, Y)) == 1 + sign * sqrt_rational(5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: real_irreps(cyclic(3)), "Z_3.*not available; supported are"),
        (lambda: real_irreps(alternating(4)), "A_4.*not available"),
        (lambda: real_irreps(direct_product(cyclic(3), cyclic(2))), "not available"),
        (lambda: real_irreps(relabel(symmetric(3), range(6))), "family None"),
        (lambda: real_irreps(FiniteGroup(cyclic(6).table, family=("symmetric", 3))), "not that of its family"),
        (lambda: Representation(cyclic(3), ONE[:2]), r"shape \(3, d, d\)"),
        (lambda: Representation(cyclic(3), np.ones((3, 1, 2))), r"shape \(3, d, d\)"),
        (lambda: Representation(cyclic(3), np.ones((3, 0, 0))), "d >= 1"),
        (lambda: Representation(cyclic(3), ONE * np.nan), "finite real numbers"),
        (lambda: Representation(cyclic(3), ONE * 1j), "finite real numbers"),
        (lambda: Representation(cyclic(3), ONE.astype(object)), "int, fmpq or real Cyclotomic"),
        (
            lambda: Representation(cyclic(3), np.array([root_of_unity(a, 3) for a in range(3)])[:, None, None]),
            "real Cyclotomic",
        ),
        (lambda: outer_product(real_irreps(cyclic(2))[0], real_irreps(cyclic(2), True)[0]), "both"),
        (lambda: matrices_from_generators(cyclic(4), {2: -np.eye(1)}), "only 2 of the 4 elements of Z_4"),
        (lambda: presentation_of_icosahedral(direct_product(alternating(4), cyclic(5))), "is not A_5"),
        (lambda: presentation_of_icosahedral(symmetric(5)), "is not A_5"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_indicator_of_a_non_representation_is_refused() -> None:
    values = np.array([1, 0, 0, 0], dtype=object)[:, None, None]
    for matrices in (values, to_float(values)):
        with pytest.raises(ValueError, match="not an integer"):
            Representation(cyclic(4), matrices).frobenius_schur()
    assert Representation(cyclic(2), np.array([rational(1), rational(-1)])[:, None, None]).frobenius_schur() == 1
