"""Tables from representations: traces of matrices, the names of conjugacy classes, and what is refused."""

from dataclasses import replace

import pytest

from lemmata.certificates.characters.traces import characters_of
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import cosine
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    dihedral,
    direct_product,
    elementary_abelian,
    relabel,
    symmetric,
)


def class_names(group: FiniteGroup) -> tuple[str, ...]:
    return characters_of(group, real_irreps(group, exact=True)).class_names


@pytest.mark.parametrize(
    ("group", "names"),
    [
        (symmetric(4), ("e", "(1 2)(3 4)", "(3 4)", "(1 2 3 4)", "(2 3 4)")),
        (alternating(5), ("e", "(1 2 3 4 5)", "(1 2 3 5 4)", "(2 3)(4 5)", "(3 4 5)")),
        (dihedral(4), ("e", "r^2", "r", "t", "r t")),
        (elementary_abelian(2), ("00", "10", "01", "11")),
        (direct_product(elementary_abelian(1), symmetric(3)),
         ("(0, e)", "(1, e)", "(0, (1 2 3))", "(1, (1 2 3))", "(0, (2 3))", "(1, (2 3))")),
    ],
)  # fmt: skip
def test_classes_are_named_as_a_mathematician_would(group, names):
    assert class_names(group) == names


def test_classes_of_a_group_of_unknown_family_keep_their_labels():
    irreps = real_irreps(symmetric(3), exact=True)
    group = relabel(symmetric(3), range(6))
    moved = [replace(irrep, group=group) for irrep in irreps]
    assert characters_of(group, moved).class_names == ("(0, 1, 2)", "(1, 2, 0)", "(0, 2, 1)")


@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_dihedral_tables_from_matrices(n):
    """Classes and characters 2 cos(2 pi j k/n) of D_n, read off the elements r^k t^s."""
    group = dihedral(n)
    table = characters_of(group, real_irreps(group, exact=True))
    assert table.order == 2 * n
    assert table.class_sizes == tuple(len(C) for C in group.classes)
    assert table.degrees.count(2) == (n - 1) // 2
    planes = {
        tuple(2 * cosine(j * k, n) if s == 0 else 0 for s, k in (divmod(int(C[0]), n) for C in group.classes))
        for j in range(1, (n + 1) // 2)
    }
    assert {tuple(row) for row, d in zip(table.values, table.degrees, strict=True) if d == 2} == planes


def test_the_trivial_character_moves_to_the_front():
    group = symmetric(3)
    irreps = real_irreps(group, exact=True)
    table = characters_of(group, irreps[::-1])
    assert all(value == 1 for value in table.values[0])
    assert sorted(table.irrep_names) == sorted(irrep.name for irrep in irreps)


def test_characters_of_refuses_what_is_no_complete_exact_list():
    group = elementary_abelian(2)
    irreps = real_irreps(group, exact=True)
    with pytest.raises(ValueError, match="floating-point"):
        characters_of(group, real_irreps(group, exact=False))
    with pytest.raises(ValueError, match="4 x 4 values"):
        characters_of(group, irreps[:-1])
    with pytest.raises(ValueError, match="violate orthogonality"):
        characters_of(group, [*irreps[:-1], irreps[1]])
    with pytest.raises(ValueError, match="multiplication table is not that of"):
        characters_of(dihedral(4), irreps)
    shuffled = relabel(dihedral(4), [0, 4, 1, 5, 2, 6, 3, 7])
    with pytest.raises(ValueError, match="multiplication table is not that of"):
        characters_of(shuffled, real_irreps(dihedral(4), exact=True))
